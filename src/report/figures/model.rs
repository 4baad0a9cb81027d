//! What a picture is made of.

use crate::base::{dates, units};
use crate::measure::order::each_of_many_once;
use crate::report::text::{byte_rate, number, time};

/// A picture: what it asks, its axes, and what is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// Its name among those of a report: lower-case letters, digits and `-`, fit for a file's name.
    pub(crate) key: String,
    /// A few words.
    pub(crate) title: String,
    /// The question it answers, in a sentence.
    pub(crate) question: String,
    /// From left to right.
    pub(crate) x: Axis,
    /// From bottom to top.
    pub(crate) y: Axis,
    /// What the colour of [`Look::Cells`] tells; none without cells.
    pub(crate) shade: Option<Axis>,
    /// What is drawn, in the order of the legend.
    pub(crate) series: Vec<Series>,
    /// Places on the x axis that a finding tells of.
    pub(crate) marks: Vec<Mark>,
    /// What a reader must know, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// One direction of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// What it tells, with the unit if ticks do not have it: `files created`, `latency`.
    pub(crate) label: String,
    /// What its numbers are.
    pub(crate) quantity: Quantity,
    /// How they are spread.
    pub(crate) scale: Scale,
}

/// How numbers lie on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Evenly, and from 0 if there are [`Look::Bars`].
    Linear,
    /// By their logarithm to base 10; every number is above 0.
    Logarithmic,
    /// They are places among these names, from 0.
    Named(Vec<String>),
}

/// What a number is, in the unit's base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// A plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Hundredths: 50 for a half.
    Percent,
    /// Seconds.
    Seconds,
    /// Operations per second.
    Operations,
    /// Bytes per second.
    ByteRate,
    /// How many times as much.
    Times,
    /// One in so many operations takes longer: 100 for p99.
    OneIn,
    /// Seconds since 1970, UTC.
    Date,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// What the legend says; series of one name are shown and hidden together.
    pub(crate) name: String,
    /// Which colour of [`super::colour`]; the same for the same variant in all pictures.
    pub(crate) colour: usize,
    /// How it is drawn.
    pub(crate) look: Look,
    /// What a point is, in a few words for a table: `mean`, `p99`, `repeat`.
    pub(crate) what: String,
    /// From left to right, unless they are raw points.
    pub(crate) points: Vec<Point>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// Bars from 0, those of one place beside each other, with the interval as a whisker.
    Bars,
    /// A marker each, with the interval as a whisker.
    Markers,
    /// A line through markers, with the interval as a whisker.
    Line,
    /// A line alone.
    Curve,
    /// The ground between the ends of the intervals.
    Band,
    /// A dashed line: what a law says, not what was measured.
    Law,
    /// Small markers: single values behind a mean.
    Raw,
    /// A rectangle each, from its x to that of the next in its row, coloured by `shade`.
    Cells,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Its place from left to right.
    pub(crate) x: f64,
    /// Its place from bottom to top.
    pub(crate) y: f64,
    /// The ends of its 95% interval, or of a band; none if unknown.
    pub(crate) interval: Option<[f64; 2]>,
    /// Significant figures of `y` that its error allows; none where nothing tells.
    pub(crate) figures: Option<u32>,
    /// How many values it is made of.
    pub(crate) n: u64,
    /// What its colour tells, in [`Look::Cells`].
    pub(crate) shade: Option<f64>,
    /// Whether a measurement in it was made under background load.
    pub(crate) disturbed: bool,
}

/// A place on the x axis that a finding tells of: a knee, a crossover, a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Where.
    pub(crate) x: f64,
    /// The ends of its 95% interval; none if unknown.
    pub(crate) interval: Option<[f64; 2]>,
    /// A few words: `knee of ext4`.
    pub(crate) label: String,
    /// The colour of the series it belongs to; none if it belongs to all.
    pub(crate) colour: Option<usize>,
}

/// The figures of a picture as text, for readers who cannot see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FigureTable {
    /// Names of the columns.
    pub(crate) head: Vec<String>,
    /// A row for each point.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Figures of a number where no error tells how many, and of bytes per second.
const FIGURES: u32 = 4;
const BYTE_FIGURES: u32 = 3;
/// No interval has more figures, however far its ends lie from the mean.
const FIGURES_MAX: i64 = 6;

impl Point {
    /// One value without an interval.
    pub(crate) fn at(x: f64, y: f64) -> Self {
        Self { x, y, interval: None, figures: None, n: 1, shade: None, disturbed: false }
    }
}

impl Quantity {
    /// A number for people, with its unit: `17,810/s`, `2.31 us`, `p99`.
    pub(crate) fn text(self, value: f64) -> String {
        self.rounded(value, None)
    }

    /// The same with so many significant figures. Times always have three.
    fn rounded(self, value: f64, figures: Option<u32>) -> String {
        let plain = |value| number(value, figures.unwrap_or(FIGURES));
        match self {
            Self::Count if is_whole(value) => whole(value),
            Self::Count => trimmed(&plain(value)),
            Self::Bytes => units::bytes(value.max(0.0) as u64),
            Self::Percent => format!("{}%", trimmed(&plain(value))),
            Self::Seconds => time(Some(value * 1e9)),
            Self::Operations => format!("{}/s", plain(value)),
            Self::ByteRate => byte_rate(value, figures.unwrap_or(BYTE_FIGURES)),
            // Counters of devices, with what else moved: more figures would mean nothing.
            Self::Times => format!("{}x", number(value, figures.unwrap_or(FIGURES).min(FIGURES))),
            Self::OneIn => percentile(value),
            Self::Date => dates::minute_text(value).unwrap_or_else(|| "-".into()),
        }
    }
}

/// Whether it is a whole number that a double holds exactly and people can read.
fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 1e15
}

/// All its digits: levels that differ must not look the same.
fn whole(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", units::grouped(value.abs() as u64))
}

/// A number without zeros at its end: levels are as exact as they are written.
fn trimmed(number: &str) -> String {
    if number.contains('e') || !number.contains('.') {
        return number.to_string();
    }
    number.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `p99.9` of 1,000.
fn percentile(one_in: f64) -> String {
    if one_in.is_infinite() {
        return "max".into();
    }
    let places = (one_in.max(1.0).log10() - 2.0).ceil().max(0.0) as usize;
    format!("p{:.*}", places, 100.0 - 100.0 / one_in)
}

impl Axis {
    /// A number on it for people.
    pub(crate) fn text(&self, value: f64) -> String {
        match &self.scale {
            Scale::Named(names) => names.get(value as usize).cloned().unwrap_or_default(),
            _ => self.quantity.text(value),
        }
    }

    /// The height of a point on it, with no more figures than its error allows.
    pub(crate) fn height(&self, point: &Point) -> String {
        self.text_as(point, point.y)
    }

    /// The ends of its interval down to the same place, `17,280/s to 18,340/s`; empty without one.
    pub(crate) fn interval(&self, point: &Point) -> String {
        let [low, high] = match point.interval {
            Some(ends) => ends.map(|end| self.text_as(point, end)),
            None => return String::new(),
        };
        format!("{low} to {high}")
    }

    /// A number with its last figure where the height of the point has it.
    fn text_as(&self, point: &Point, value: f64) -> String {
        match (&self.scale, point.figures) {
            (Scale::Linear | Scale::Logarithmic, Some(figures)) if point.y != 0.0 => {
                let order = |value: f64| value.abs().log10().floor() as i64;
                let more = order(value).saturating_sub(order(point.y));
                let figures = more.saturating_add(figures.into()).clamp(1, FIGURES_MAX);
                self.quantity.rounded(value, Some(figures as u32))
            }
            _ => self.text(value),
        }
    }
}

/// What the ends of a point's interval are, if it is drawn in the way that the first tells.
type Span = (fn(Look) -> bool, String);

impl Figure {
    /// The columns for the ends of intervals: what a band lies between is no interval of an error.
    fn spans(&self) -> Vec<Span> {
        let has = |one: &&Series| one.points.iter().any(|point| point.interval.is_some());
        let (bands, others): (Vec<_>, Vec<_>) =
            self.series.iter().filter(has).partition(|one| one.look == Look::Band);
        let mut spans: Vec<Span> = Vec::new();
        if !others.is_empty() {
            spans.push((|look| look != Look::Band, "95% interval".into()));
        }
        if !bands.is_empty() {
            let names = each_of_many_once(bands.iter().map(|one| one.what.as_str()));
            spans.push((|look| look == Look::Band, names.join(", ")));
        }
        spans
    }

    /// Its points in rows.
    pub(crate) fn table(&self) -> FigureTable {
        let spans = self.spans();
        let mut head = vec!["series".to_string(), "what".into(), self.x.label.clone()];
        head.push(self.y.label.clone());
        head.extend(self.shade.iter().map(|shade| shade.label.clone()));
        head.extend(spans.iter().map(|(_, name)| name.clone()));
        head.push("n".into());
        let row = |series: &Series, point: &Point| {
            let mut cells = vec![series.name.clone(), series.what.clone()];
            cells.extend([self.x.text(point.x), self.y.height(point)]);
            if let Some(axis) = &self.shade {
                cells.push(point.shade.map(|value| axis.text(value)).unwrap_or_default());
            }
            for (is_of, _) in &spans {
                cells.push(if is_of(series.look) { self.y.interval(point) } else { String::new() });
            }
            // A law is made of no values.
            let is_law = series.look == Look::Law;
            cells.push(if is_law { String::new() } else { units::grouped(point.n) });
            cells
        };
        let rows = self.series.iter();
        let rows = rows.flat_map(|series| series.points.iter().map(move |point| (series, point)));
        FigureTable { head, rows: rows.map(|(series, point)| row(series, point)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_texts(quantity: Quantity, point: Point, height: &str, interval: &str) {
        let axis = Axis { label: "a".into(), quantity, scale: Scale::Linear };
        assert_eq!(
            (axis.height(&point).as_str(), axis.interval(&point).as_str()),
            (height, interval)
        );
    }

    fn point(y: f64, half: f64, figures: u32) -> Point {
        Point { interval: Some([y - half, y + half]), figures: Some(figures), ..Point::at(0.0, y) }
    }

    #[test]
    fn an_interval_ends_at_the_same_place_as_the_number_that_it_allows() {
        use Quantity::{ByteRate, Operations, Times};
        assert_texts(Operations, point(17_812.3, 534.0, 4), "17,810/s", "17,280/s to 18,350/s");
        assert_texts(Operations, point(9_987.0, 400.0, 3), "9,990/s", "9,590/s to 10,390/s");
        assert_texts(Operations, point(1_234.0, 1_100.0, 2), "1,200/s", "100/s to 2,300/s");
        assert_texts(
            ByteRate,
            point(400.0 * 1_048_576.0, 3e7, 2),
            "400 MiB/s",
            "370 MiB/s to 430 MiB/s",
        );
        assert_texts(Times, point(1.52, 0.3, 2), "1.5x", "1.2x to 1.8x");
    }

    #[test]
    fn what_no_error_rounds_is_written_as_before() {
        let alone = Point { figures: None, ..point(17_812.3, 534.0, 0) };
        assert_texts(Quantity::Operations, alone, "17,810/s", "17,280/s to 18,350/s");
        assert_texts(Quantity::Seconds, point(2.314e-6, 1e-6, 1), "2.31 us", "1.31 us to 3.31 us");
        assert_texts(Quantity::Operations, Point::at(0.0, 12.0), "12.00/s", "");
    }

    #[test]
    fn whatever_the_numbers_are_their_texts_stay_short() {
        let numbers = [0.0, 1e-320, -1.0, 1e300, f64::NAN, f64::INFINITY, f64::MAX];
        for y in numbers {
            for end in numbers {
                for figures in [0, 1, 5, u32::MAX] {
                    let point = Point { interval: Some([end; 2]), ..point(y, 0.0, figures) };
                    let axis =
                        |scale| Axis { label: "a".into(), quantity: Quantity::Operations, scale };
                    for scale in [Scale::Linear, Scale::Named(Vec::new())] {
                        let axis = axis(scale);
                        let text = axis.height(&point) + &axis.interval(&point);
                        assert!(text.len() < 80, "{y} {end} {figures}: {text}");
                    }
                }
            }
        }
    }
}
