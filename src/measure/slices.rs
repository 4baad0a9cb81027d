//! Latency over the course of a phase: the slices of its measurements in rows.

use std::collections::BTreeMap;

use super::book::{Level, Measurement, ResultBook};
use super::order::{each_once, levels_of, variants};
use super::warnings::is_disturbed;

/// A phase in slices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sliced<'a> {
    /// The last level that the phase was measured at by any variant; none without an axis.
    pub level: Option<Level>,
    /// Whether the phase was measured at other levels too.
    pub other_levels: bool,
    /// In the job file's order of variants, then by repeat and pass.
    pub rows: Vec<SlicedRow<'a>>,
    /// How many rows there are beyond these.
    pub left_out: usize,
}

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicedRow<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Its pass, from 1; none if the phase has only one.
    pub pass: Option<u32>,
    /// Mean latency of equal numbers of operations, one after the other, in nanoseconds.
    pub slices_ns: &'a [f64],
    /// Whether something disturbed it.
    pub disturbed: bool,
}

/// Fewer slices are no course.
const SLICES_MIN: usize = 2;

/// The phases that have slices in a valid measurement.
pub fn sliced_phases(book: &ResultBook) -> Vec<&str> {
    each_once(book.measurements.iter().filter(|m| counts(m)).map(|m| m.phase.as_str()))
}

fn counts(m: &Measurement) -> bool {
    let known = |ns: &f64| ns.is_finite() && *ns > 0.0;
    m.valid() && m.slices_ns.len() >= SLICES_MIN && m.slices_ns.iter().all(known)
}

/// At most `most` rows of a phase at its last level, as many of each variant as of the others, and
/// of each at least one.
pub fn sliced<'a>(book: &'a ResultBook, phase: &str, most: usize) -> Sliced<'a> {
    let levels = levels_of(book, phase);
    let level = levels.last().copied().flatten();
    let own = |m: &&Measurement| m.phase == phase && m.cell.level.as_ref() == level && counts(m);
    let here: Vec<&Measurement> = book.measurements.iter().filter(own).collect();
    let passes = here.iter().any(|m| m.pass > 1);
    let mut by_variant: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
    for m in here.iter().copied() {
        by_variant.entry(&m.cell.variant).or_default().push(m);
    }
    let each = (most / by_variant.len().max(1)).max(1);
    let row = |m: &&'a Measurement| SlicedRow {
        variant: &m.cell.variant,
        repeat: m.cell.repeat,
        pass: passes.then_some(m.pass),
        slices_ns: &m.slices_ns,
        disturbed: is_disturbed(book, m),
    };
    let of_variant = |name: &&str| -> Vec<&'a Measurement> {
        let mut own = by_variant.get(name).cloned().unwrap_or_default();
        own.sort_by_key(|m| (m.cell.repeat, m.pass));
        own.truncate(each);
        own
    };
    let names = variants(book);
    let rows: Vec<SlicedRow<'a>> = names.iter().flat_map(of_variant).map(|m| row(&m)).collect();
    let left_out = here.len() - rows.len();
    Sliced { level: level.cloned(), other_levels: levels.len() > 1, rows, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::fixture::measurement;

    fn measured(variant: &str, repeat: u32, slices_ns: Vec<f64>) -> Measurement {
        let mut m = Measurement { slices_ns, ..measurement("read", repeat, 100, 1_000) };
        m.cell.variant = variant.into();
        m
    }

    fn told(one: &Sliced<'_>) -> Vec<(String, u32)> {
        one.rows.iter().map(|row| (row.variant.to_string(), row.repeat)).collect()
    }

    #[test]
    fn rows_stand_by_variant_and_repeat_and_each_variant_keeps_as_many() {
        let mut measurements = Vec::new();
        for repeat in [3, 1, 2] {
            for variant in ["b", "a"] {
                measurements.push(measured(variant, repeat, vec![1.0, 2.0]));
            }
        }
        let book = ResultBook { measurements, ..ResultBook::default() };
        let all = sliced(&book, "read", 40);
        let order = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)];
        assert_eq!(told(&all), order.map(|(name, repeat)| (name.to_string(), repeat)));
        assert_eq!((all.left_out, all.rows[0].pass), (0, None));
        let few = sliced(&book, "read", 2);
        assert_eq!((told(&few).len(), few.left_out), (2, 4));
        assert_eq!(sliced_phases(&book), ["read"]);
    }

    #[test]
    fn of_several_levels_the_last_is_told_and_odd_slices_are_none() {
        let level = |value| Some(Level { value, ..Level::default() });
        let mut measurements =
            vec![measured("a", 1, vec![1.0, 2.0]), measured("a", 1, vec![5.0; 9])];
        measurements[0].cell.level = level(1.0);
        measurements[1].cell.level = level(2.0);
        measurements[1].pass = 2;
        measurements.push(measured("a", 2, vec![1.0, f64::NAN]));
        measurements.push(measured("a", 2, vec![1.0]));
        measurements[2..].iter_mut().for_each(|m| m.cell.level = level(2.0));
        let book = ResultBook { measurements, ..ResultBook::default() };
        let all = sliced(&book, "read", 40);
        assert_eq!((all.level, all.other_levels), (level(2.0), true));
        assert_eq!(
            (all.rows.len(), all.rows[0].slices_ns.len(), all.rows[0].pass),
            (1, 9, Some(2))
        );
        assert_eq!(sliced(&book, "write", 40).rows, []);
        let mut book = book;
        book.measurements[1].invalid = vec!["EIO x 1".into()];
        let none = sliced(&book, "read", 40);
        assert_eq!((none.level, none.rows), (level(2.0), vec![]), "the level of another is none");
    }
}
