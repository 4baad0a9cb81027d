//! Defines the parts of a chart.

use crate::table::{Align, Table};
use crate::text::ABOUT_SCATTERED;
use boatload_analysis::readings::{ChartFamily, Picture};
use boatload_analysis::statement::begun;
use boatload_base::units::grouped;

/// A chart: its title, its axes, and what is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// Its name in a report: lower-case letters, digits and `-`, fit for a file's name; empty until all
    /// charts are known.
    pub key: String,
    pub shows: Picture,
    pub title: String,
    /// From left to right.
    pub x: ChartAxis,
    /// From bottom to top.
    pub y: ChartAxis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<ChartSeries>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
    /// Whether the vertical axis begins at 0 whatever is drawn, if it is linear.
    pub(crate) from_zero: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChartAxis {
    /// What it shows: `files created`, `latency`. Units are with the numbers.
    pub label: String,
    pub quantity: AxisQuantity,
    pub scale: AxisScale,
}

/// How numbers lie on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AxisScale {
    /// Evenly, and from 0 if there are [`SeriesLook::Bars`].
    Linear,
    /// By their logarithm to base 10; every number is above 0.
    Logarithmic,
    /// Each is the index of one of these names.
    Named(Vec<String>),
}

/// What a number is, in the unit's base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisQuantity {
    Count,
    Bytes,
    /// Hundredths: 50 for a half.
    Percent,
    Seconds,
    Operations,
    ByteRate,
    Times,
    /// One in this many operations takes longer: 100 for p99.
    OneIn,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChartSeries {
    /// What the legend says; series of one name are shown and hidden together.
    pub name: String,
    /// Which colour of [`super::colour`]; the same for the same variant in all charts.
    pub colour: usize,
    pub look: SeriesLook,
    /// What a point is, in a few words for a table: `mean`, `p99`, `repeat`.
    pub what: String,
    /// From left to right, unless they are single values.
    pub points: Vec<ChartPoint>,
}

/// How points are drawn, from back to front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SeriesLook {
    /// Bars from 0 over names, side by side over one name, with the interval as a whisker.
    Bars,
    /// Small markers: single values behind a mean.
    Raw,
    /// A dashed line: what a law says, not what was measured.
    Law,
    /// A line alone.
    Curve,
    /// A line through markers, with the interval as a whisker.
    Line,
    /// A marker each, with the interval as a whisker.
    Markers,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChartPoint {
    pub x: f64,
    pub y: f64,
    /// The ends of its interval; `None` if it is unknown or the extremes stand for it.
    pub interval: Option<[f64; 2]>,
    /// The smallest and the largest of its values, where these say more than the interval; none elsewhere.
    pub extremes: Option<[f64; 2]>,
    /// Significant figures of `y` that its error allows; `None` where it is unknown.
    pub figures: Option<u32>,
    /// How many values it is made of.
    pub n: u64,
    /// Whether a measurement in it was made under background load.
    pub disturbed: bool,
}

impl Chart {
    /// A chart in which nothing is drawn yet.
    pub(super) fn new(shows: Picture, title: String, x: ChartAxis, y: ChartAxis) -> Self {
        Self {
            key: String::new(),
            shows,
            title,
            x,
            y,
            series: Vec::new(),
            notes: Vec::new(),
            from_zero: false,
        }
    }

    /// The chart without points and intervals that have no place on its axes, so that renderers
    /// need not look; `None` if nothing is left of what was measured.
    pub(crate) fn checked(mut self) -> Option<Self> {
        let Self { x, y, series, .. } = &mut self;
        for one in series.iter_mut() {
            one.points.retain(|point| x.has(point.x) && y.has(point.y));
            for point in &mut one.points {
                let fits = |[low, high]: &[f64; 2]| low.is_finite() && y.has(*high) && low <= high;
                point.interval = point.interval.filter(fits);
            }
            if one.look != SeriesLook::Raw {
                one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            }
        }
        series.retain(|one| !one.points.is_empty());
        self.series.iter().any(|one| one.look != SeriesLook::Law).then_some(self)
    }

    pub(crate) fn has(&self, look: SeriesLook) -> bool {
        self.series.iter().any(|series| series.look == look)
    }

    /// What its intervals are called: a note has the level of those that are not at 95%.
    pub(crate) fn interval_name(&self) -> &'static str {
        if self.shows.family == ChartFamily::Ranking { "interval" } else { "95% interval" }
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &ChartPoint> + Clone {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// The notes, with what only the drawn axis shows.
    pub(crate) fn all_notes(&self) -> Vec<String> {
        let is_cut = self.y.scale == AxisScale::Linear && self.y_span().low > 0.0;
        let cut = is_cut.then(|| "The vertical axis does not begin at 0.".to_string());
        let has_extremes = self.points().any(|point| point.extremes.is_some());
        let scattered = has_extremes.then(|| ABOUT_SCATTERED.to_string());
        let notes = self.notes.iter().cloned().chain(scattered);
        notes.chain(cut).chain(self.about_marks()).collect()
    }

    /// How points and lines are drawn; `None` where that says itself.
    fn about_marks(&self) -> Option<String> {
        let has_intervals = self.points().any(|point| point.interval.is_some());
        let is_disturbed = self.points().any(|point| point.disturbed);
        let parts = [
            has_intervals.then(|| format!("whiskers: {}", self.interval_name())),
            self.has(SeriesLook::Raw).then(|| "dots: single values".into()),
            self.has(SeriesLook::Law).then(|| "dashed: the fitted law".into()),
            is_disturbed.then(|| "hollow or pale: measured under background load".into()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{}.", begun(&parts.join("; "))))
    }

    /// Its points in rows below the names of their series, for readers who cannot see it.
    pub(crate) fn table(&self) -> Table {
        let has_interval =
            |point: &ChartPoint| point.interval.is_some() || point.extremes.is_some();
        let has_intervals = self.points().any(has_interval);
        let mut heads = vec![self.x.label.as_str(), &self.y.label];
        heads.extend(has_intervals.then_some(self.interval_name()));
        heads.push("n");
        let mut table =
            Table::new(&heads.iter().map(|head| (head, Align::Right)).collect::<Vec<_>>());
        for series in &self.series {
            table.heading(&format!("{}, {}", series.name, series.what));
            for point in &series.points {
                let mut row = vec![self.x.text(point.x), self.y.height(point)];
                row.extend(has_intervals.then(|| self.y.interval(point)));
                // A law is made of no values.
                let is_law = series.look == SeriesLook::Law;
                row.push(if is_law { String::new() } else { grouped(point.n) });
                table.row(row);
            }
        }
        table
    }
}

impl ChartAxis {
    pub(crate) fn new(label: impl Into<String>, quantity: AxisQuantity, scale: AxisScale) -> Self {
        Self { label: label.into(), quantity, scale }
    }

    pub(crate) fn named(label: &str, names: Vec<String>) -> Self {
        Self::new(label, AxisQuantity::Count, AxisScale::Named(names))
    }

    pub(super) fn latency(scale: AxisScale) -> Self {
        Self::new("latency", AxisQuantity::Seconds, scale)
    }

    pub(crate) fn is_named(&self) -> bool {
        matches!(self.scale, AxisScale::Named(_))
    }

    /// Whether a number has a place on it.
    pub(crate) fn has(&self, value: f64) -> bool {
        match &self.scale {
            AxisScale::Linear => value.is_finite(),
            AxisScale::Logarithmic => value.is_finite() && value > 0.0,
            AxisScale::Named(names) => value >= 0.0 && value < names.len() as f64,
        }
    }
}

impl ChartPoint {
    /// One value without an interval.
    pub(crate) fn at(x: f64, y: f64) -> Self {
        Self { x, y, interval: None, extremes: None, figures: None, n: 1, disturbed: false }
    }
}
