//! Merges the latencies of each phase over all valid repeats into a distribution, and lists latencies of
//! single operations.

use std::collections::BTreeSet;

use super::summary::Summary;
use super::tails::merge;
use boatload_results::book::{Book, Level, Measurement};

/// Latencies of one phase of a variant at a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// From the shortest latency to the longest.
    pub steps: Vec<DistributionStep>,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// How many operations it is of.
    pub operations: u64,
}

impl Distribution {
    /// What one in a number of operations exceeds, in nanoseconds, up to one in all of them, which is the
    /// longest latency: for a picture.
    pub fn curve(&self) -> Vec<(f64, u64)> {
        let all = self.operations as f64;
        let place = |step: &DistributionStep| (1.0 / (1.0 - step.quantile), step.value_ns);
        let places = self.steps.iter().map(place).filter(|(one_in, _)| *one_in < all);
        places.chain([(all, self.max_ns)]).collect()
    }
}

/// How many operations were no slower than a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DistributionStep {
    /// The latency, in nanoseconds.
    pub value_ns: u64,
    /// Which share was to be no slower: 0 to 1, where the last step is.
    pub quantile: f64,
    /// How many operations were no slower.
    pub operations: u64,
}

/// Steps on each half of the way that is left to 100%, as HdrHistogram's own programs take.
const STEPS_EACH_HALF: u32 = 5;

/// One for each phase of each variant at each level whose latencies were kept, in the order of the summary.
pub(super) fn distributions(book: &Book, summary: &Summary) -> Vec<Distribution> {
    let mut all = Vec::new();
    for group in &summary.groups {
        for row in &group.rows {
            let of_row = book.measurements.iter().filter(|m| {
                let cell = &m.cell;
                m.valid()
                    && m.operations > 0
                    && (&cell.variant, &cell.level) == (&group.variant, &group.level)
                    && m.phase == row.phase
            });
            let max_ns = of_row.clone().filter_map(|m| Some(m.latency?.max)).max();
            let merged = merge(of_row.map(|m| m.histogram.as_slice()));
            let Some((histogram, max_ns)) = merged.zip(max_ns) else { continue };
            let mut operations = 0u64;
            let steps = histogram.iter_quantiles(STEPS_EACH_HALF).map(|step| {
                operations = operations.saturating_add(step.count_since_last_iteration());
                // A histogram rounds up; the longest of each measurement was kept exactly.
                let value_ns = step.value_iterated_to().min(max_ns);
                DistributionStep { value_ns, quantile: step.quantile_iterated_to(), operations }
            });
            all.push(Distribution {
                variant: group.variant.clone(),
                level: group.level.clone(),
                phase: row.phase.clone(),
                steps: steps.collect(),
                max_ns,
                operations: histogram.len(),
            });
        }
    }
    all
}

/// Whether the run has latencies of single operations and no rate.
pub fn is_latencies_only(book: &Book, summary: &Summary) -> bool {
    let mut windows = book.measurements.iter().flat_map(|m| &m.windows).peekable();
    windows.peek().is_some()
        && windows.all(|window| window.operations == 1)
        && summary.rows().all(|row| row.rate.is_none() && row.invalid.is_empty())
}

/// Numbers, from 1, of the operations that have windows of their own.
pub fn single_operations<'a>(all: impl Iterator<Item = &'a Measurement>) -> Vec<u64> {
    let windows = all.flat_map(|m| &m.windows).filter(|window| window.operations == 1);
    windows
        .map(|window| window.first.saturating_add(1))
        .collect::<BTreeSet<u64>>()
        .into_iter()
        .collect()
}

/// Latency of the operation with this number, in nanoseconds; `None` if it has no window of its own.
pub fn single_latency_ns(m: &Measurement, operation: u64) -> Option<f64> {
    let mut windows = m.windows.iter();
    windows.find(|window| window.first.saturating_add(1) == operation).map(|w| w.mean_ns)
}

#[cfg(test)]
mod tests {
    use crate::Analysis;
    use boatload_results::fixture;

    #[test]
    fn steps_go_on_to_the_longest_latency_and_agree_with_the_summary() {
        let book = fixture::book();
        let analysis = Analysis::of(&book);
        let all = analysis.distributions();
        let rows: Vec<_> = analysis.summary().rows().collect();
        assert_eq!(all.len(), rows.len());
        for (one, row) in all.iter().zip(&rows) {
            let tail = row.tail.unwrap();
            let last = one.steps.last().unwrap();
            let end = (last.value_ns, last.quantile, last.operations);
            assert_eq!(end, (tail.max_ns, 1.0, one.operations));
            assert!(one.steps.windows(2).all(|pair| pair[0].value_ns <= pair[1].value_ns));
            for (quantile, ns) in [(0.5, tail.p50_ns), (0.99, tail.p99_ns)] {
                let step = one.steps.iter().find(|step| step.quantile >= quantile).unwrap();
                assert!(step.value_ns >= ns.unwrap(), "{}: {step:?} {ns:?}", one.phase);
            }
        }
        let rewrite = all.iter().find(|one| one.phase == "rewrite").unwrap();
        assert_eq!(rewrite.operations, 3_000, "the invalid repeat is not among them");
    }

    #[test]
    fn a_curve_goes_up_to_one_in_all_operations() {
        let book = fixture::book();
        let analysis = Analysis::of(&book);
        let all = analysis.distributions();
        let create = all.iter().find(|one| one.phase == "create").unwrap();
        let curve = create.curve();
        assert_eq!(curve.last(), Some(&(60_000.0, create.max_ns)));
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        let near = curve.iter().find(|(one_in, _)| *one_in >= 100.0).unwrap();
        assert!(near.1 > 180_000, "one in fifty is ten times slower: {near:?}");
    }

    #[test]
    fn latencies_that_were_not_kept_have_no_distribution() {
        let mut book = fixture::book();
        book.measurements.iter_mut().for_each(|m| m.histogram.clear());
        assert!(Analysis::of(&book).distributions().is_empty());
    }
}
