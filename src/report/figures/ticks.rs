//! Where an axis has its ticks, and what stands beside them.

use super::{Axis, Quantity, Scale};
use crate::base::units::{byte_step, grouped, time_step};

/// A place on an axis with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, in the axis's numbers.
    pub(crate) at: f64,
    /// A short text: `20k`, `10 us`, `64 KiB`, `p99`, a name.
    pub(crate) text: String,
}

/// Steps within ten.
const NICE: [f64; 3] = [1.0, 2.0, 5.0];

/// Steps of dates, in seconds: a minute to ten years.
const DATE_STEPS: [f64; 16] = [
    60.0,
    300.0,
    900.0,
    1_800.0,
    3_600.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
    1_209_600.0,
    2_592_000.0,
    7_776_000.0,
    31_536_000.0,
    315_360_000.0,
];

const DAY_SECONDS: f64 = 86_400.0;

/// A share of a step that counts as none.
const ROUNDING: f64 = 1e-9;

/// More decimals than this are written with an exponent.
const DECIMALS_MAX: usize = 6;

impl Axis {
    /// Ticks between two ends, about `wanted` of them and never none; names have one each.
    pub(crate) fn ticks(&self, low: f64, high: f64, wanted: usize) -> Vec<Tick> {
        if let Scale::Named(names) = &self.scale {
            let tick = |(at, name): (usize, &String)| Tick { at: at as f64, text: name.clone() };
            return names.iter().enumerate().map(tick).collect();
        }
        let [low, high] = self.widened(low, high);
        let wanted = wanted.max(2);
        let is_logarithmic = self.scale == Scale::Logarithmic;
        let places = match self.quantity {
            Quantity::OneIn => percentiles(low, high, wanted),
            Quantity::Date => dates(low, high, wanted),
            Quantity::Bytes | Quantity::ByteRate if is_logarithmic => binary(low, high, wanted),
            _ if is_logarithmic => decades(low, high, wanted),
            quantity => even(low, high, wanted, unit(quantity, low.abs().max(high.abs())).0),
        };
        self.written(&places)
    }

    fn written(&self, places: &[f64]) -> Vec<Tick> {
        let text = |at: f64| match self.quantity {
            Quantity::OneIn => self.quantity.text(at),
            Quantity::Date => date(at, places),
            // Each in its own unit, for they lie far apart.
            quantity if self.scale == Scale::Logarithmic => in_unit(quantity, at, &[at], at),
            quantity => {
                let largest = places.iter().fold(0.0, |most: f64, at| most.max(at.abs()));
                in_unit(quantity, at, places, largest)
            }
        };
        places.iter().map(|at| Tick { at: *at, text: text(*at) }).collect()
    }
}

/// Multiples of a step of 1, 2 or 5 times a power of ten of the unit.
fn even(low: f64, high: f64, wanted: usize, unit: f64) -> Vec<f64> {
    let (low, high) = (low / unit, high / unit);
    let order = ((high - low) / wanted as f64).log10().floor() as i32;
    let steps = (order - 1..order + 3).flat_map(|power| NICE.map(|nice| (nice, power)));
    let multiples = |(nice, power): (f64, i32)| {
        // Powers of ten below one are not exact: divide by a whole one.
        let scale = 10f64.powi(power.abs());
        let step = if power < 0 { nice / scale } else { nice * scale };
        let first = (low / step - ROUNDING).ceil();
        let count = (high / step + ROUNDING).floor() - first + 1.0;
        let place = move |number: f64| {
            if power < 0 { number * nice / scale } else { number * nice * scale }
        };
        (0..count.clamp(0.0, 1e3) as usize)
            .map(|number| (place(first + number as f64) + 0.0) * unit)
            .collect::<Vec<f64>>()
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

/// Powers of ten, with 2 and 5 times them where they are few; even steps within less.
fn decades(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let [first, last] = [low.log10().floor() as i32 - 1, high.log10().ceil() as i32 + 1];
    let is_inside = |at: &f64| (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(at);
    let power = |power: i32| {
        if power < 0 { 1.0 / 10f64.powi(-power) } else { 10f64.powi(power) }
    };
    let fine: Vec<f64> = (first..=last)
        .flat_map(|order| {
            NICE.map(|nice| if order < 0 { nice / power(-order) } else { nice * power(order) })
        })
        .filter(is_inside)
        .collect();
    if fine.len() < 3 {
        return even(low, high, wanted, 1.0);
    }
    let coarse = (1..=1_000).map(|step: i32| {
        let orders = (first..=last).filter(move |order| order.rem_euclid(step) == 0);
        orders.map(power).filter(is_inside).collect()
    });
    fitting([fine].into_iter().chain(coarse), wanted)
}

/// Powers of two; even steps within less.
fn binary(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let [first, last] = [low.log2(), high.log2()];
    let powers = |step: i32| {
        let orders = (first - ROUNDING).ceil() as i32..=(last + ROUNDING).floor() as i32;
        let orders = orders.filter(|order| order.rem_euclid(step) == 0);
        orders.map(|order| 2f64.powi(order)).collect::<Vec<f64>>()
    };
    if powers(1).len() < 2 {
        return even(low, high, wanted, byte_step(high).0);
    }
    // Ten of them are a unit.
    let steps = [1, 2, 5].into_iter().chain((1..=300).map(|units| units * 10));
    fitting(steps.map(powers), wanted)
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

fn dates(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let multiples = |step: f64| {
        let first = (low / step).ceil();
        let count = (high / step).floor() - first + 1.0;
        (0..count.clamp(0.0, 1e3) as usize).map(|n| (first + n as f64) * step).collect()
    };
    let places: Vec<f64> = fitting(DATE_STEPS.into_iter().map(multiples), wanted);
    if (1..=wanted).contains(&places.len()) { places } else { vec![low, high] }
}

/// The day, or the hour of the day where not all are at its beginning.
fn date(at: f64, places: &[f64]) -> String {
    let text = Quantity::Date.text(at);
    let is_day = places.iter().all(|at| at.rem_euclid(DAY_SECONDS) == 0.0);
    let part = if is_day { text.get(..10) } else { text.get(5..) };
    part.unwrap_or(&text).to_string()
}

/// The unit that numbers up to this one are written in, and what stands behind them.
fn unit(quantity: Quantity, largest: f64) -> (f64, &'static str) {
    let thousands = [(1e9, "G"), (1e6, "M"), (1e4, "k")];
    match quantity {
        Quantity::Count | Quantity::Operations if largest < 1e15 => {
            let fit = thousands.into_iter().find(|(size, _)| largest >= *size);
            fit.map_or((1.0, ""), |(size, word)| (if word == "k" { 1e3 } else { size }, word))
        }
        Quantity::Bytes | Quantity::ByteRate => byte_step(largest),
        Quantity::Seconds => {
            let (word, ns) = time_step(largest * 1e9);
            (ns / 1e9, word)
        }
        Quantity::Percent => (1.0, "%"),
        Quantity::Times => (1.0, "x"),
        _ => (1.0, ""),
    }
}

/// A number in the unit of the largest, with as many decimals as all of them need.
fn in_unit(quantity: Quantity, at: f64, all: &[f64], largest: f64) -> String {
    let (size, word) = unit(quantity, largest);
    if at == 0.0 && word != "%" && word != "x" {
        return "0".into();
    }
    let digits = all.iter().map(|at| decimals(at / size)).max().unwrap_or_default();
    let number = decimal(at / size, digits);
    let blank = if matches!(quantity, Quantity::Bytes | Quantity::ByteRate | Quantity::Seconds) {
        " "
    } else {
        ""
    };
    let per = if quantity == Quantity::ByteRate { "/s" } else { "" };
    format!("{number}{blank}{word}{per}")
}

/// How many decimals a number needs.
fn decimals(value: f64) -> usize {
    let is_whole = |digits: &usize| {
        let scaled = value * 10f64.powi(*digits as i32);
        (scaled - scaled.round()).abs() <= ROUNDING * scaled.abs()
    };
    (0..=DECIMALS_MAX).find(is_whole).unwrap_or(DECIMALS_MAX + 1)
}

fn decimal(value: f64, digits: usize) -> String {
    if value.abs() >= 1e15 || (digits > DECIMALS_MAX && value.abs() < 1e-3) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let digits = digits.min(DECIMALS_MAX);
    let text = format!("{:.digits$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let whole = whole.parse().map_or_else(|_| whole.to_string(), grouped);
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{whole}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(quantity: Quantity, scale: Scale, low: f64, high: f64, wanted: usize) -> Vec<String> {
        let axis = Axis { label: "a".into(), quantity, scale };
        axis.ticks(low, high, wanted).into_iter().map(|tick| tick.text).collect()
    }

    fn linear(quantity: Quantity, high: f64) -> Vec<String> {
        texts(quantity, Scale::Linear, 0.0, high, 6)
    }

    fn logarithmic(quantity: Quantity, low: f64, high: f64) -> Vec<String> {
        texts(quantity, Scale::Logarithmic, low, high, 7)
    }

    #[test]
    fn even_ticks_are_round_numbers_in_one_unit() {
        assert_eq!(linear(Quantity::Count, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(linear(Quantity::Operations, 2_300.0), ["0", "500", "1,000", "1,500", "2,000"]);
        assert_eq!(linear(Quantity::Operations, 21_000.0), ["0", "5k", "10k", "15k", "20k"]);
        assert_eq!(linear(Quantity::Count, 1.1e6), ["0", "0.2M", "0.4M", "0.6M", "0.8M", "1.0M"]);
        assert_eq!(linear(Quantity::Percent, 100.0), ["0%", "20%", "40%", "60%", "80%", "100%"]);
        assert_eq!(linear(Quantity::Times, 2.1), ["0.0x", "0.5x", "1.0x", "1.5x", "2.0x"]);
        assert_eq!(linear(Quantity::Seconds, 4.4e-5), ["0", "10 us", "20 us", "30 us", "40 us"]);
        let rates = linear(Quantity::ByteRate, 450.0 * 1_048_576.0);
        assert_eq!(rates, ["0", "100 MiB/s", "200 MiB/s", "300 MiB/s", "400 MiB/s"]);
        let below = texts(Quantity::Count, Scale::Linear, -1.0, 1.0, 5);
        assert_eq!(below, ["-1.0", "-0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_each_in_its_unit() {
        let texts = logarithmic(Quantity::Seconds, 8e-7, 3.0);
        assert_eq!(texts, ["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"]);
        let few = logarithmic(Quantity::Seconds, 1e-5, 6e-4);
        assert_eq!(few, ["10 us", "20 us", "50 us", "100 us", "200 us", "500 us"]);
        let within = logarithmic(Quantity::Seconds, 1.1e-3, 1.6e-3);
        assert_eq!(within, ["1.1 ms", "1.2 ms", "1.3 ms", "1.4 ms", "1.5 ms", "1.6 ms"]);
        let counts = logarithmic(Quantity::Count, 1.0, 1e7);
        assert_eq!(counts, ["1", "100", "10k", "1M"]);
        let times = logarithmic(Quantity::Times, 0.2, 5.0);
        assert_eq!(times, ["0.2x", "0.5x", "1x", "2x", "5x"]);
    }

    #[test]
    fn bytes_go_by_powers_of_two() {
        let sizes = logarithmic(Quantity::Bytes, 1024.0, 65_536.0);
        assert_eq!(sizes, ["1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"]);
        let far = logarithmic(Quantity::Bytes, 512.0, 4.0 * 1024f64.powi(4));
        assert_eq!(far, ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB", "32 GiB", "1 TiB"]);
        let near = logarithmic(Quantity::ByteRate, 110.0 * 1_048_576.0, 127.0 * 1_048_576.0);
        assert_eq!(near, ["110 MiB/s", "115 MiB/s", "120 MiB/s", "125 MiB/s"]);
    }

    #[test]
    fn percentiles_names_and_dates_have_their_own_ticks() {
        let tail = logarithmic(Quantity::OneIn, 1.0, 20_000.0);
        assert_eq!(tail, ["p50", "p90", "p99", "p99.9", "p99.99"]);
        let names = Scale::Named(vec!["create".into(), "read".into()]);
        assert_eq!(texts(Quantity::Count, names, -0.5, 1.5, 1), ["create", "read"]);
        let start = 1_772_323_200.0;
        let date = |seconds| texts(Quantity::Date, Scale::Linear, start, start + seconds, 4);
        assert_eq!(date(2.0 * 86_400.0), ["2026-03-01", "2026-03-02", "2026-03-03"]);
        assert_eq!(
            date(3_600.0 * 3.0),
            ["03-01 00:00", "03-01 01:00", "03-01 02:00", "03-01 03:00"]
        );
    }

    #[test]
    fn whatever_the_ends_are_ticks_are_few_finite_and_in_order() {
        let ends =
            [0.0, 1.0, 5.0, -3.0, 1e-320, 1e-12, 1e12, 1e300, f64::MAX, f64::NAN, f64::INFINITY];
        let quantities = [
            Quantity::Count,
            Quantity::Bytes,
            Quantity::Percent,
            Quantity::Seconds,
            Quantity::Operations,
            Quantity::ByteRate,
            Quantity::Times,
            Quantity::OneIn,
            Quantity::Date,
        ];
        for quantity in quantities {
            for scale in [Scale::Linear, Scale::Logarithmic] {
                let axis = Axis { label: "a".into(), quantity, scale };
                for low in ends {
                    for high in ends {
                        let ticks = axis.ticks(low, high, 5);
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
}
