//! The single values behind a mean.

use super::book::{Level, Measurement, ResultBook};
use super::summary::PhaseSummary;
use super::uncertainty::{IntervalBasis, per_second};
use super::warnings::is_disturbed;

/// One of the values that a rate is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Single {
    /// Its repeat, or its pass where there is one repeat, from 1.
    pub number: u32,
    /// Operations or bytes per second, as the row's rate.
    pub rate: f64,
    /// How many measurements it is the mean of.
    pub n: u64,
    /// Whether something disturbed one of them.
    pub disturbed: bool,
}

/// What the rate of a row is averaged from, of the measurements of its variant: a value for each repeat, the mean of its passes, or of
/// a single repeat one for each pass. Empty where there is only one measurement.
pub fn singles(
    book: &ResultBook,
    (of_variant, level): (&[&Measurement], Option<&Level>),
    row: &PhaseSummary,
) -> Vec<Single> {
    let here = |m: &&Measurement| m.phase == row.phase && m.cell.level.as_ref() == level;
    let counts = |m: &&Measurement| m.valid() && !m.seconds.is_nan();
    let all: Vec<&Measurement> = of_variant.iter().copied().filter(here).filter(counts).collect();
    let number = |m: &Measurement| match row.rate.map(|rate| rate.basis) {
        Some(IntervalBasis::Repeats) => Some(m.cell.repeat),
        Some(IntervalBasis::Passes) => Some(m.pass),
        _ => None,
    };
    let mut numbers: Vec<u32> = all.iter().filter_map(|m| number(m)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let single = |wanted: u32| {
        let own = || all.iter().filter(|m| number(m) == Some(wanted));
        let n = own().count() as u64;
        let rate = own().map(|m| per_second(m, row.rate_unit, 0.0)).sum::<f64>() / n as f64;
        let disturbed = own().any(|m| is_disturbed(book, m));
        rate.is_finite().then_some(Single { number: wanted, rate, n, disturbed })
    };
    numbers.into_iter().filter_map(single).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::fixture::{self, measurement};
    use crate::measure::summary::summarize;

    fn of(measurements: Vec<Measurement>) -> (Vec<Single>, f64) {
        let book = ResultBook { measurements, ..ResultBook::default() };
        let summary = summarize(&book);
        let row = summary.rows().next().unwrap();
        let all: Vec<&Measurement> = book.measurements.iter().collect();
        (singles(&book, (&all, None), row), row.rate.map_or(f64::NAN, |rate| rate.mean))
    }

    #[test]
    fn the_mean_of_the_values_is_the_rate_and_a_pass_is_no_repeat() {
        let mut all = Vec::new();
        for (repeat, pass, ns) in [(1, 1, 10_000), (1, 2, 30_000), (2, 1, 20_000)] {
            all.push(Measurement { pass, ..measurement("read", repeat, 1_000, ns) });
        }
        let (values, mean) = of(all);
        let told: Vec<(u32, u64)> = values.iter().map(|value| (value.number, value.n)).collect();
        assert_eq!(told, [(1, 2), (2, 1)]);
        assert!((mean / (values.iter().map(|v| v.rate).sum::<f64>() / 2.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn passes_of_the_only_repeat_stand_for_themselves() {
        let pass = |pass| Measurement { pass, ..measurement("read", 1, 1_000, 10_000) };
        let (values, mean) = of(vec![pass(1), pass(2)]);
        assert_eq!(values.iter().map(|value| value.number).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(values[0].rate, mean);
    }

    #[test]
    fn a_single_measurement_and_an_invalid_one_give_none() {
        assert_eq!(of(vec![measurement("read", 1, 1_000, 10_000)]).0, []);
        let book = fixture::book();
        let summary = summarize(&book);
        let rewrite = summary.rows().find(|row| row.phase == "rewrite").unwrap();
        let all: Vec<&Measurement> = book.measurements.iter().collect();
        assert_eq!(singles(&book, (&all, None), rewrite), []);
    }
}
