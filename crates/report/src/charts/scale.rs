//! Computes the scale of an axis: its range, its ticks, the place of a number, and the texts of numbers.

use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, SeriesLook};
use crate::text::{byte_rate, number, time};
use boatload_base::units;
use boatload_base::units::{byte_step, grouped, time_step};

/// An axis with its ends.
#[derive(Clone, Copy)]
pub(crate) struct AxisSpan<'a> {
    pub axis: &'a ChartAxis,
    pub low: f64,
    pub high: f64,
}

/// A value of an axis with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    /// A short text: `20k`, `10 us`, `64 KiB`, `p99`, a name.
    pub text: String,
}

/// What the ends of an axis depend on beside its numbers.
struct SpanRule {
    /// Bars stand on 0.
    from_zero: bool,
    /// An axis whose lowest number is below this share of its highest goes from 0.
    zero_share: f64,
}

/// Numbers beyond this are drawn at it.
const NUMBER_MAX: f64 = 1e300;
/// A span below this share of its numbers is none.
const SPAN_MIN: f64 = 1e-9;
/// How much of the span is left free at each end.
const FREE_SHARE: f64 = 0.04;

/// Significant figures of a number whose error is unknown, and of bytes per second.
const FIGURES: u32 = 4;
const BYTE_FIGURES: u32 = 3;
const FIGURES_MAX: u32 = 6;
/// Significant figures of a tick, without zeros at its end: neighbours must not look the same.
const TICK_FIGURES: u32 = 7;

/// Steps within ten.
const NICE: [f64; 3] = [1.0, 2.0, 5.0];

const DECIMAL: f64 = 10.0;

/// Steps from one power to the next tick; ten powers of two are a unit of bytes.
const COARSE_STEPS: [i32; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/// A share of a step that counts as none.
const ROUNDING: f64 = 1e-9;

// --- from where to where -----------------------------------------------------------------------

impl Chart {
    /// The x axis from end to end, with every point in sight.
    pub(crate) fn x_span(&self) -> AxisSpan<'_> {
        let points = self.points().map(|point| point.x);
        let rule = SpanRule { from_zero: false, zero_share: 0.1 };
        self.x.spanning(points, &rule)
    }

    /// The y axis from end to end, with every point and interval in sight.
    pub(crate) fn y_span(&self) -> AxisSpan<'_> {
        let ends = self.points().filter_map(|point| point.interval).flatten();
        let numbers = self.points().map(|point| point.y).chain(ends.filter(|end| self.y.has(*end)));
        let from_zero = self.from_zero || self.has(SeriesLook::Bars);
        self.y.spanning(numbers, &SpanRule { from_zero, zero_share: 0.65 })
    }
}

/// The least and the largest.
fn ends(numbers: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    numbers.fold(None, |ends, number| {
        let [low, high]: [f64; 2] = ends.unwrap_or([number; 2]);
        Some([low.min(number), high.max(number)])
    })
}

impl ChartAxis {
    fn spanning(&self, numbers: impl Iterator<Item = f64>, rule: &SpanRule) -> AxisSpan<'_> {
        if let AxisScale::Named(names) = &self.scale {
            return AxisSpan { axis: self, low: -0.5, high: names.len().max(1) as f64 - 0.5 };
        }
        let [low, high] = ends(numbers).unwrap_or([1.0, 10.0]);
        if self.scale == AxisScale::Logarithmic {
            let span = self.widened(low, high);
            let factor = (span.high / span.low).powf(FREE_SHARE).clamp(1.05, 2.0);
            return AxisSpan { low: span.low / factor, high: span.high * factor, ..span };
        }
        // A course that is low beside its height is seen as such only from 0.
        let is_near_zero = low > 0.0 && low < high * rule.zero_share;
        let low = if (rule.from_zero && low > 0.0) || is_near_zero { 0.0 } else { low };
        let span = self.widened(low, if rule.from_zero { high.max(0.0) } else { high });
        let free = (span.high - span.low) * FREE_SHARE;
        // No room for what cannot be: below nothing, above all.
        let low = if span.low >= 0.0 { (span.low - free).max(0.0) } else { span.low - free };
        let is_share = self.quantity == AxisQuantity::Percent && high <= 100.0;
        let most = if is_share { 100.0 } else { f64::INFINITY };
        AxisSpan { low, high: (span.high + free).min(most), ..span }
    }

    /// From end to end, with something between them even if both are one number.
    fn widened(&self, low: f64, high: f64) -> AxisSpan<'_> {
        let [low, high] = [low, high].map(|end| end.clamp(-NUMBER_MAX, NUMBER_MAX));
        let size = low.abs().max(high.abs());
        let least = 1.0 / NUMBER_MAX;
        let [low, high] = match self.scale {
            _ if high - low > size * SPAN_MIN && size > least => [low, high],
            AxisScale::Logarithmic => [low.max(least) / 2.0, high.max(least) * 2.0],
            _ if size <= least => [0.0, 1.0],
            _ => [low - size / 2.0, high + size / 2.0],
        };
        AxisSpan { axis: self, low, high }
    }
}

impl AxisSpan<'_> {
    /// Where a number lies, from 0 to 1; at the nearest end if it is outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.axis.scale {
            // Quotients of ends that lie far apart are beyond all numbers.
            AxisScale::Logarithmic if value > 0.0 => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
            AxisScale::Logarithmic => 0.0,
            _ => (value - self.low) / (self.high - self.low),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The share of a distance between numbers, on an axis that is not logarithmic.
    pub(crate) fn part(&self, distance: f64) -> f64 {
        distance / (self.high - self.low)
    }

    /// About `wanted` ticks and never none; names have one each.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let Self { axis, low, high } = *self;
        if let AxisScale::Named(names) = &axis.scale {
            let numbered = names.iter().enumerate();
            return numbered.map(|(at, name)| Tick { at: at as f64, text: name.clone() }).collect();
        }
        let wanted = wanted.max(2);
        let is_logarithmic = axis.scale == AxisScale::Logarithmic;
        let (base, unit) = match axis.quantity {
            AxisQuantity::Bytes | AxisQuantity::ByteRate => {
                (2.0, byte_step(low.abs().max(high.abs())).0)
            }
            _ => (DECIMAL, 1.0),
        };
        let places = match axis.quantity {
            AxisQuantity::OneIn => percentiles(low, high, wanted),
            _ if is_logarithmic => powers(base, low, high, wanted, unit),
            _ => even(low, high, wanted, unit),
        };
        let most = places.iter().fold(0.0, |most: f64, at| most.max(at.abs()));
        // By logarithms each has its own unit, for they lie far apart.
        let text = |at: f64| tick_text(axis.quantity, at, if is_logarithmic { at } else { most });
        places.iter().map(|at| Tick { at: *at, text: text(*at) }).collect()
    }
}

// --- ticks -------------------------------------------------------------------------------------

/// Multiples of a step of 1, 2 or 5 times a power of ten of the unit.
fn even(low: f64, high: f64, wanted: usize, unit: f64) -> Vec<f64> {
    let (low, high) = (low / unit, high / unit);
    let order = ((high - low) / wanted as f64).log10().floor() as i32;
    let steps = (order - 1..order + 3).flat_map(|power| NICE.map(|nice| nice * 10f64.powi(power)));
    let multiples = |step: f64| -> Vec<f64> {
        let first = (low / step - ROUNDING).ceil();
        let count = (high / step + ROUNDING).floor() - first + 1.0;
        let places = (0..count.clamp(0.0, 1e3) as usize).map(|number| first + number as f64);
        places.map(|place| place * step * unit + 0.0).collect()
    };
    fitting(steps.map(multiples), wanted)
}

/// The first that is short enough; the one before where only one would be left.
fn fitting(choices: impl Iterator<Item = Vec<f64>>, wanted: usize) -> Vec<f64> {
    let mut before = Vec::new();
    for places in choices {
        if places.len() < 2 && before.len() > 1 {
            return before;
        }
        if (1..=wanted).contains(&places.len()) {
            return places;
        }
        before = places;
    }
    before
}

/// Powers of the base; of ten with 2 and 5 times them where they are few; even steps of `unit` within less.
fn powers(base: f64, low: f64, high: f64, wanted: usize, unit: f64) -> Vec<f64> {
    let order = |at: f64| (at.ln() / base.ln()).floor() as i32;
    let orders = order(low) - 1..=order(high) + 2;
    let inside = |step: i32, factors: &[f64]| -> Vec<f64> {
        let orders = orders.clone().filter(|order| order.rem_euclid(step) == 0);
        let all = orders.flat_map(|order| factors.iter().map(move |one| one * base.powi(order)));
        all.filter(|at| (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(at)).collect()
    };
    let factors: &[f64] = if base == DECIMAL { &NICE } else { &NICE[..1] };
    let fine = inside(1, factors);
    if fine.len() < 1 + factors.len().min(2) {
        return even(low, high, wanted, unit);
    }
    let coarse = COARSE_STEPS.map(|step| inside(step, &NICE[..1]));
    fitting([fine].into_iter().chain(coarse), wanted)
}

/// p50, p90, p99, p99.9 and on.
fn percentiles(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let known = [2.0].into_iter().chain((1..=18).map(|order| 10f64.powi(order)));
    let inside: Vec<f64> = known.filter(|at| *at >= low && *at <= high).collect();
    if inside.is_empty() {
        return vec![high];
    }
    let every = inside.len().div_ceil(wanted);
    inside.into_iter().step_by(every).collect()
}

/// The text of a tick, in the unit that fits the largest: `20k`, `10 us`, `64 KiB/s`, `p99`.
fn tick_text(quantity: AxisQuantity, at: f64, largest: f64) -> String {
    let (size, word) = match quantity {
        AxisQuantity::OneIn => return quantity.text(at),
        _ if at == 0.0 => return "0".into(),
        AxisQuantity::Percent => (1.0, "%"),
        AxisQuantity::Times => (1.0, "x"),
        AxisQuantity::Seconds => {
            let (word, ns) = time_step(largest * 1e9);
            (ns / 1e9, word)
        }
        AxisQuantity::Bytes | AxisQuantity::ByteRate => byte_step(largest),
        AxisQuantity::Count | AxisQuantity::Operations => match largest {
            1e15.. => (1.0, ""),
            1e9.. => (1e9, "G"),
            1e6.. => (1e6, "M"),
            1e4.. => (1e3, "k"),
            _ => (1.0, ""),
        },
    };
    let number = trimmed(&number(at / size, TICK_FIGURES));
    match quantity {
        AxisQuantity::Bytes | AxisQuantity::Seconds => format!("{number} {word}"),
        AxisQuantity::ByteRate => format!("{number} {word}/s"),
        _ => format!("{number}{word}"),
    }
}

// --- numbers as text ---------------------------------------------------------------------------

impl AxisQuantity {
    /// A number for people, with its unit: `17,810/s`, `2.31 us`, `p99`.
    pub(crate) fn text(self, value: f64) -> String {
        self.rounded(value, None)
    }

    /// The same with this many significant figures. Times always have three.
    fn rounded(self, value: f64, figures: Option<u32>) -> String {
        let figures = figures.map(|figures| figures.clamp(1, FIGURES_MAX));
        let plain = |value| number(value, figures.unwrap_or(FIGURES));
        match self {
            // All its digits: levels that differ must not look the same.
            Self::Count if is_whole(value) => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", grouped(value.abs() as u64))
            }
            Self::Count => trimmed(&plain(value)),
            Self::Bytes => units::bytes(value.max(0.0) as u64),
            Self::Percent => format!("{}%", trimmed(&plain(value))),
            Self::Seconds => time(Some(value * 1e9)),
            Self::Operations => format!("{}/s", plain(value)),
            Self::ByteRate => byte_rate(value, figures.unwrap_or(BYTE_FIGURES)),
            // Counters of devices, with what else moved: more figures would mean nothing.
            Self::Times => format!("{}x", number(value, figures.unwrap_or(FIGURES).min(FIGURES))),
            Self::OneIn => percentile(value),
        }
    }
}

/// Whether it is a whole number that a double holds exactly and people can read.
fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 1e15
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

impl ChartAxis {
    /// A number on it for people.
    pub(crate) fn text(&self, value: f64) -> String {
        match &self.scale {
            AxisScale::Named(names) => names.get(value as usize).cloned().unwrap_or_default(),
            _ => self.quantity.text(value),
        }
    }

    /// The height of a point on it, with no more figures than its error allows.
    pub(crate) fn height(&self, point: &ChartPoint) -> String {
        self.text_as(point, point.y)
    }

    /// The ends of its interval with as many figures, `17,280/s to 18,340/s`, or the smallest and the largest value,
    /// `~1,600/s to 29,000/s`; empty without either.
    pub(crate) fn interval(&self, point: &ChartPoint) -> String {
        let (mark, ends) = match (point.extremes, point.interval) {
            (Some(ends), _) => ("~", ends),
            (None, Some(ends)) => ("", ends),
            (None, None) => return String::new(),
        };
        let [low, high] = ends.map(|end| self.text_as(point, end));
        format!("{mark}{low} to {high}")
    }

    /// A number with as many figures as the height of the point.
    fn text_as(&self, point: &ChartPoint, value: f64) -> String {
        match self.is_named() {
            true => self.text(value),
            false => self.quantity.rounded(value, point.figures),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ChartFamily, ChartSeries, Picture};
    use super::*;

    fn texts(
        quantity: AxisQuantity,
        scale: AxisScale,
        low: f64,
        high: f64,
        wanted: usize,
    ) -> Vec<String> {
        let axis = ChartAxis { label: "a".into(), quantity, scale };
        AxisSpan { axis: &axis, low, high }
            .ticks(wanted)
            .into_iter()
            .map(|tick| tick.text)
            .collect()
    }

    fn linear(quantity: AxisQuantity, high: f64) -> Vec<String> {
        texts(quantity, AxisScale::Linear, 0.0, high, 6)
    }

    fn logarithmic(quantity: AxisQuantity, low: f64, high: f64) -> Vec<String> {
        texts(quantity, AxisScale::Logarithmic, low, high, 7)
    }

    #[test]
    fn even_ticks_are_round_numbers() {
        assert_eq!(linear(AxisQuantity::Count, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(
            linear(AxisQuantity::Operations, 2_300.0),
            ["0", "500", "1,000", "1,500", "2,000"]
        );
        assert_eq!(linear(AxisQuantity::Operations, 21_000.0), ["0", "5k", "10k", "15k", "20k"]);
        assert_eq!(linear(AxisQuantity::Count, 1.1e6), ["0", "0.2M", "0.4M", "0.6M", "0.8M", "1M"]);
        assert_eq!(linear(AxisQuantity::Percent, 100.0), ["0", "20%", "40%", "60%", "80%", "100%"]);
        assert_eq!(linear(AxisQuantity::Times, 2.1), ["0", "0.5x", "1x", "1.5x", "2x"]);
        assert_eq!(
            linear(AxisQuantity::Seconds, 4.4e-5),
            ["0", "10 us", "20 us", "30 us", "40 us"]
        );
        let rates = linear(AxisQuantity::ByteRate, 450.0 * 1_048_576.0);
        assert_eq!(rates, ["0", "100 MiB/s", "200 MiB/s", "300 MiB/s", "400 MiB/s"]);
        let below = texts(AxisQuantity::Count, AxisScale::Linear, -1.0, 1.0, 5);
        assert_eq!(below, ["-1", "-0.5", "0", "0.5", "1"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_each_in_its_unit() {
        let texts = logarithmic(AxisQuantity::Seconds, 8e-7, 3.0);
        assert_eq!(texts, ["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"]);
        let few = logarithmic(AxisQuantity::Seconds, 1e-5, 6e-4);
        assert_eq!(few, ["10 us", "20 us", "50 us", "100 us", "200 us", "500 us"]);
        let within = logarithmic(AxisQuantity::Seconds, 1.1e-3, 1.6e-3);
        assert_eq!(within, ["1.1 ms", "1.2 ms", "1.3 ms", "1.4 ms", "1.5 ms", "1.6 ms"]);
        let counts = logarithmic(AxisQuantity::Count, 1.0, 1e7);
        assert_eq!(counts, ["1", "100", "10k", "1M"]);
        let times = logarithmic(AxisQuantity::Times, 0.2, 5.0);
        assert_eq!(times, ["0.2x", "0.5x", "1x", "2x", "5x"]);
    }

    #[test]
    fn bytes_go_by_powers_of_two() {
        let sizes = logarithmic(AxisQuantity::Bytes, 1024.0, 65_536.0);
        assert_eq!(sizes, ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"]);
        let far = logarithmic(AxisQuantity::Bytes, 512.0, 4.0 * 1024f64.powi(4));
        assert_eq!(far, ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"]);
        let near = logarithmic(AxisQuantity::ByteRate, 110.0 * 1_048_576.0, 127.0 * 1_048_576.0);
        assert_eq!(near, ["110 MiB/s", "115 MiB/s", "120 MiB/s", "125 MiB/s"]);
    }

    #[test]
    fn percentiles_and_names_have_their_own_ticks() {
        let tail = logarithmic(AxisQuantity::OneIn, 1.0, 20_000.0);
        assert_eq!(tail, ["p50", "p90", "p99", "p99.9", "p99.99"]);
        let names = AxisScale::Named(vec!["create".into(), "read".into()]);
        assert_eq!(texts(AxisQuantity::Count, names, -0.5, 1.5, 1), ["create", "read"]);
    }

    #[test]
    fn whatever_the_ends_are_ticks_are_few_finite_and_in_order() {
        let ends = [0.0, 1.0, 5.0, -3.0, 1e-320, 1e-12, 1e12, 1e300, f64::MAX];
        let quantities = [
            AxisQuantity::Count,
            AxisQuantity::Bytes,
            AxisQuantity::Percent,
            AxisQuantity::Seconds,
            AxisQuantity::Operations,
            AxisQuantity::ByteRate,
            AxisQuantity::Times,
            AxisQuantity::OneIn,
        ];
        for quantity in quantities {
            for scale in [AxisScale::Linear, AxisScale::Logarithmic] {
                let axis = ChartAxis { label: "a".into(), quantity, scale };
                for low in ends.into_iter().filter(|low| axis.has(*low)) {
                    for high in ends.into_iter().filter(|high| axis.has(*high)) {
                        let ticks = axis.widened(low.min(high), high.max(low)).ticks(5);
                        assert!(
                            (1..=12).contains(&ticks.len()),
                            "{axis:?} {low} {high}: {ticks:?}"
                        );
                        assert!(
                            ticks.iter().all(|tick| tick.at.is_finite() && !tick.text.is_empty())
                        );
                        assert!(ticks.windows(2).all(|two| two[0].at < two[1].at), "{ticks:?}");
                    }
                }
            }
        }
    }

    fn axis(quantity: AxisQuantity, scale: AxisScale) -> ChartAxis {
        ChartAxis { label: "a".into(), quantity, scale }
    }

    fn chart(look: SeriesLook, y: ChartAxis, points: &[(f64, f64)]) -> Chart {
        let points = points.iter().map(|(x, y)| ChartPoint::at(*x, *y)).collect();
        let series =
            vec![ChartSeries { name: "s".into(), colour: 0, look, what: "mean".into(), points }];
        let x = axis(AxisQuantity::Count, AxisScale::Linear);
        Chart { series, ..Chart::new(Picture::new(ChartFamily::Rates), "t".into(), x, y) }
    }

    fn rate() -> ChartAxis {
        axis(AxisQuantity::Operations, AxisScale::Linear)
    }

    #[test]
    fn bars_stand_on_zero_and_leave_room_above() {
        let chart = chart(SeriesLook::Bars, rate(), &[(0.0, 90.0), (1.0, 100.0)]);
        let AxisSpan { low, high, .. } = chart.y_span();
        assert_eq!(low, 0.0);
        assert!(high > 100.0 && high < 110.0, "{high}");
    }

    #[test]
    fn an_interval_is_in_sight() {
        let mut chart = chart(SeriesLook::Line, rate(), &[(10.0, 90.0), (20.0, 100.0)]);
        chart.series[0].points[0].interval = Some([80.0, 120.0]);
        let AxisSpan { low, high, .. } = chart.y_span();
        assert!(low <= 80.0 && low > 0.0 && high >= 120.0, "{low} {high}");
    }

    #[test]
    fn an_axis_goes_somewhere_whatever_is_drawn() {
        let odd: [&[(f64, f64)]; 4] = [
            &[(0.0, 0.0)],
            &[(5.0, 5.0), (5.0, 5.0)],
            &[(-3.0, -3.0)],
            &[(1e308, 1e308), (-1e308, 1e-320)],
        ];
        for scale in [AxisScale::Linear, AxisScale::Logarithmic] {
            for look in [SeriesLook::Bars, SeriesLook::Line] {
                for points in odd {
                    let y = axis(AxisQuantity::Count, scale.clone());
                    let Some(chart) = chart(look, y, points).checked() else { continue };
                    for AxisSpan { low, high, .. } in [chart.x_span(), chart.y_span()] {
                        assert!(low < high && (high - low).is_finite(), "{low} {high}: {points:?}");
                    }
                    let has_logarithm = chart.y_span().low > 0.0;
                    assert!(has_logarithm || scale == AxisScale::Linear, "{points:?}");
                }
            }
        }
    }

    #[test]
    fn a_percentage_does_not_go_above_all() {
        let percent = axis(AxisQuantity::Percent, AxisScale::Linear);
        let chart = chart(SeriesLook::Line, percent, &[(0.0, 30.0), (1.0, 98.0)]);
        assert_eq!((chart.y_span().low, chart.y_span().high), (0.0, 100.0));
    }

    #[track_caller]
    fn assert_texts(quantity: AxisQuantity, point: ChartPoint, height: &str, interval: &str) {
        let axis = ChartAxis { label: "a".into(), quantity, scale: AxisScale::Linear };
        assert_eq!(
            (axis.height(&point).as_str(), axis.interval(&point).as_str()),
            (height, interval)
        );
    }

    fn point(y: f64, half: f64, figures: u32) -> ChartPoint {
        ChartPoint {
            interval: Some([y - half, y + half]),
            figures: Some(figures),
            ..ChartPoint::at(0.0, y)
        }
    }

    #[test]
    fn the_ends_of_an_interval_have_as_many_figures_as_their_number() {
        use AxisQuantity::{ByteRate, Operations, Times};
        assert_texts(Operations, point(17_812.3, 534.0, 4), "17,810/s", "17,280/s to 18,350/s");
        assert_texts(Operations, point(9_987.0, 400.0, 3), "9,990/s", "9,590/s to 10,400/s");
        assert_texts(Operations, point(1_234.0, 1_100.0, 2), "1,200/s", "130/s to 2,300/s");
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
        let alone = ChartPoint { figures: None, ..point(17_812.3, 534.0, 0) };
        assert_texts(AxisQuantity::Operations, alone, "17,810/s", "17,280/s to 18,350/s");
        assert_texts(
            AxisQuantity::Seconds,
            point(2.314e-6, 1e-6, 1),
            "2.31 us",
            "1.31 us to 3.31 us",
        );
        assert_texts(AxisQuantity::Operations, ChartPoint::at(0.0, 12.0), "12.00/s", "");
    }

    #[test]
    fn whatever_the_numbers_are_their_texts_stay_short() {
        let numbers = [0.0, 1e-320, -1.0, 1e300, f64::NAN, f64::INFINITY, f64::MAX];
        for y in numbers {
            for end in numbers {
                for figures in [0, 1, 5, u32::MAX] {
                    let point = ChartPoint { interval: Some([end; 2]), ..point(y, 0.0, figures) };
                    let axis = |scale| ChartAxis {
                        label: "a".into(),
                        quantity: AxisQuantity::Operations,
                        scale,
                    };
                    for scale in [AxisScale::Linear, AxisScale::Named(Vec::new())] {
                        let axis = axis(scale);
                        let text = axis.height(&point) + &axis.interval(&point);
                        assert!(text.len() < 80, "{y} {end} {figures}: {text}");
                    }
                }
            }
        }
    }
}
