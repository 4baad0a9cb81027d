//! Finds the class of a trace in which an operation takes longest: a directory, a size of files, a depth of paths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::say;
use crate::effects::contrast::Contrast;
use crate::statistics::{Interval, slices};
use crate::thresholds::{INTERVAL_ALPHA, SLOWER_MARGIN};
use boatload_base::distinct::each_once;
use boatload_base::units::{duration, grouped};
use boatload_host::tracing::OTHER_DIRECTORIES;
use boatload_results::book::{Book, Measurement, TraceBy};
use boatload_run::site::ConditionName;

/// A class with fewer slices has no interval: a slice has at least 32 calls.
const SLICES_MIN: usize = 8;
/// Slices are joined to at most twice so many batches, whose means hardly depend on each other (Schmeiser, "Batch
/// size effects in the analysis of simulation output", Operations Research 30, 1982).
const BATCHES: usize = 16;

/// Where an operation takes longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowClassFinding {
    /// What calls are told apart by.
    pub by: TraceBy,
    /// The phase's name.
    pub phase: String,
    /// The class with the longest mean latency.
    pub slowest: ClassLatency,
    /// The one in the middle of the others by mean latency; the longer of two in the middle.
    pub median: ClassLatency,
    /// How many classes were compared: those with enough calls.
    pub classes: usize,
    /// The ratio of the two means.
    pub ratio: f64,
    /// Its interval; those of all phases and classes hold together in 95% of cases.
    pub interval: Interval,
}

/// The latency of an operation in a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassLatency {
    /// The class's name.
    pub variant: String,
    /// Entries of the directory when the trace ended; none of other classes, or where they are not known.
    pub entries: Option<u64>,
    /// Calls that succeeded.
    pub operations: u64,
    /// Their mean latency.
    pub mean_ns: f64,
}

impl SlowClassFinding {
    /// Whether the difference is proven, and worth stating.
    pub(crate) fn is_slower(&self) -> bool {
        self.interval.low > 1.0 && self.ratio >= 1.0 + SLOWER_MARGIN
    }

    /// Whether it is proven that there is none worth stating.
    pub fn is_alike(&self) -> bool {
        self.interval.high <= 1.0 + SLOWER_MARGIN
    }

    /// What the calls of the slowest class took longer than as many of the median one, in nanoseconds.
    pub(crate) fn excess_ns(&self) -> f64 {
        (self.slowest.mean_ns - self.median.mean_ns) * self.slowest.operations as f64
    }

    /// `in /srv/mail (120,000 entries)`
    pub fn place(&self) -> String {
        self.slowest.place()
    }

    /// `in the median directory`
    pub fn reference(&self) -> String {
        match self.classes {
            ..=2 => self.median.place(),
            _ => "in the median directory".into(),
        }
    }

    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let (phase, place, reference) = (&self.phase, self.place(), self.reference());
        let [slow, median] = [&self.slowest, &self.median].map(|one| duration(one.mean_ns));
        let span = say::span(self.interval);
        match (self.is_slower(), self.is_alike()) {
            (true, _) => format!(
                "{phase} takes longer {place}: {} times ({span}) as long as {reference}, {slow} against {median}.",
                say::times(self.ratio)
            ),
            (_, true) => format!(
                "{phase} takes at most {} times as long {place}, where its mean is longest, as {reference}.",
                say::times(self.interval.high)
            ),
            _ => format!(
                "Cannot tell where {phase} takes longest: {place} it may take {span} times as long as {reference}."
            ),
        }
    }
}

impl ClassLatency {
    fn place(&self) -> String {
        let name = &self.variant;
        match self.entries {
            Some(1) => format!("in {name} (1 entry)"),
            Some(entries) => format!("in {name} ({} entries)", grouped(entries)),
            None => format!("in {name}"),
        }
    }
}

/// A class with the means of its batches.
struct ClassBatches<'a> {
    measurement: &'a Measurement,
    means: Vec<f64>,
    mean_ns: f64,
}

impl<'a> ClassBatches<'a> {
    fn new(measurement: &'a Measurement) -> Option<Self> {
        let all = &measurement.slices_ns;
        let usable = all.len() >= SLICES_MIN && all.iter().all(|ns| ns.is_finite() && *ns > 0.0);
        let means = slices(all, (all.len() / BATCHES).max(1));
        let mean_ns = means.iter().sum::<f64>() / means.len() as f64;
        usable.then_some(Self { measurement, means, mean_ns })
    }

    fn latency(&self, book: &Book) -> ClassLatency {
        let variant = &self.measurement.cell.variant;
        let entries = book.conditions.iter().find(|one| {
            one.cell.variant == *variant && one.name == ConditionName::DirectoryEntries
        });
        ClassLatency {
            variant: variant.clone(),
            entries: entries.map(|one| one.value as u64),
            operations: self.measurement.operations,
            mean_ns: self.mean_ns,
        }
    }
}

/// One for each phase of a trace by class in which at least two classes have enough calls.
pub(crate) fn slow_classes(book: &Book) -> Vec<SlowClassFinding> {
    let Some(by) = book.run.traced.as_ref().and_then(|traced| traced.by) else { return Vec::new() };
    let usable =
        book.measurements.iter().filter(|m| m.valid() && m.cell.variant != OTHER_DIRECTORIES);
    let phases = each_once(usable.clone().map(|m| m.phase.as_str()));
    let of_phase = |phase: &&str| {
        let own = usable.clone().filter(|m| m.phase == *phase);
        own.filter_map(ClassBatches::new).collect::<Vec<_>>()
    };
    let all: Vec<Vec<ClassBatches<'_>>> =
        phases.iter().map(of_phase).filter(|classes| classes.len() > 1).collect();
    // The slowest is picked out of all of them: each comparison gets its part of what may be wrong (Bonferroni).
    let compared: usize = all.iter().map(|classes| classes.len() - 1).sum();
    let alpha = INTERVAL_ALPHA / compared.max(1) as f64;
    all.into_iter().filter_map(|classes| slowest(book, by, classes, alpha)).collect()
}

fn slowest(
    book: &Book,
    by: TraceBy,
    mut classes: Vec<ClassBatches<'_>>,
    alpha: f64,
) -> Option<SlowClassFinding> {
    classes.sort_by(|a, b| a.mean_ns.total_cmp(&b.mean_ns));
    let slowest = classes.pop()?;
    let median = classes.get(classes.len() / 2)?;
    let compared = contrast(&slowest, median)?;
    Some(SlowClassFinding {
        by,
        phase: slowest.measurement.phase.clone(),
        slowest: slowest.latency(book),
        median: median.latency(book),
        classes: classes.len() + 1,
        ratio: compared.estimate.exp(),
        interval: compared.interval(alpha),
    })
}

/// How many times as long one class takes as another, by the logarithms of its slices' means: each has an error of its own, and
/// the fewer slices give the degrees of freedom.
fn contrast(above: &ClassBatches<'_>, below: &ClassBatches<'_>) -> Option<Contrast> {
    let own = |one: &ClassBatches<'_>| {
        Contrast::plain(&one.means.iter().map(|ns| ns.ln()).collect::<Vec<_>>())
    };
    let (a, b) = (own(above)?, own(below)?);
    Some(Contrast {
        estimate: a.estimate - b.estimate,
        error: a.error.hypot(b.error),
        df: a.df.min(b.df),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::answer::Verdict;
    use boatload_base::random::{Stream, draw, unit};
    use boatload_base::units::Unit;
    use boatload_results::book::{CellKey, Condition, RunFacts, TraceFacts};
    use boatload_results::operation::MeasuredOperation;

    /// A trace of creates in directories with these mean latencies, in 64 slices that differ by a tenth.
    fn book(means_us: &[(&str, f64)], seed: u64) -> Book {
        let noisy =
            |at: u64, mean: f64| mean * 1e3 * (0.9 + 0.2 * unit(draw(seed, Stream::Noise, at)));
        let mut measurements = Vec::new();
        for (at, (variant, mean)) in means_us.iter().enumerate() {
            let cell = CellKey { variant: (*variant).into(), level: None, repeat: 1 };
            let slices = (0..64).map(|slice| noisy(at as u64 * 64 + slice, *mean)).collect();
            measurements.push(Measurement {
                cell,
                phase: "create".into(),
                operation: MeasuredOperation::find("create"),
                operations: 2048,
                operations_asked: Some(2048),
                slices_ns: slices,
                ..Measurement::default()
            });
        }
        let entries = Condition {
            cell: measurements[0].cell.clone(),
            name: ConditionName::DirectoryEntries,
            value: 120_000.0,
            unit: Unit::Count,
        };
        let traced = Some(TraceFacts { by: Some(TraceBy::Directory), ..TraceFacts::default() });
        let run = RunFacts { traced, complete: true, repeats: 1, ..RunFacts::default() };
        Book { run, measurements, conditions: vec![entries], ..Book::default() }
            .ordered_as_measured()
    }

    const DIRECTORIES: [(&str, f64); 4] =
        [("/srv/new", 310.0), ("/srv/a", 100.0), ("/srv/b", 99.0), ("other directories", 900.0)];

    #[test]
    fn the_slow_directory_is_named_with_its_entries_and_how_many_times_as_long() {
        let book = book(&DIRECTORIES, 1);
        let analysis = Analysis::of(&book);
        let answer = analysis.answer().unwrap();
        let text = answer.sentence();
        assert!(text.starts_with("create takes 3."), "{text}");
        assert!(
            text.contains(
                " times as long in /srv/new (120,000 entries) as in the median directory ("
            ),
            "{text}"
        );
        let [found] = &slow_classes(&book)[..] else { panic!("one") };
        assert!(found.interval.contains(310.0 / 99.0) && found.interval.width() < 0.5, "{found:?}");
        assert_eq!((found.classes, found.median.variant.as_str()), (3, "/srv/a"));
    }

    #[test]
    fn directories_that_are_alike_are_seldom_told_apart() {
        let alike = DIRECTORIES.map(|(name, _)| (name, 100.0));
        let book = |seed| book(&alike, seed);
        let wrong =
            (0..100).filter(|seed| slow_classes(&book(*seed))[0].interval.low > 1.0).count();
        assert!(wrong <= 8, "{wrong} of 100");
        let answer = Analysis::of(&book(1)).answer().unwrap().clone();
        assert_eq!(answer.verdict, Verdict::LikelyNo, "a single run: {answer:?}");
    }

    #[test]
    fn the_interval_of_a_ratio_stays_above_zero_however_its_slices_vary() {
        let mut wild = book(&[("/a", 100.0), ("/b", 100.0)], 1);
        for m in &mut wild.measurements {
            m.slices_ns.truncate(SLICES_MIN);
            m.slices_ns[3] *= 1e9;
        }
        let [found] = &slow_classes(&wild)[..] else { panic!("one") };
        let Interval { low, high } = found.interval;
        assert!(low > 0.0 && low < found.ratio && found.ratio < high, "{found:?}");
    }

    #[test]
    fn few_calls_tell_nothing() {
        let mut few = book(&DIRECTORIES, 1);
        few.measurements.iter_mut().for_each(|m| m.slices_ns.truncate(SLICES_MIN - 1));
        assert_eq!(slow_classes(&few), Vec::new());
        let answer = Analysis::of(&few).answer().unwrap().clone();
        assert_eq!(answer.verdict, Verdict::CannotTell);
        assert!(
            answer.sentence().contains("no two directories have 256 successful calls"),
            "{}",
            answer.sentence()
        );
        let mut noisy = book(&[("/a", 105.0), ("/b", 100.0)], 1);
        noisy.measurements.iter_mut().for_each(|m| m.slices_ns.truncate(9));
        noisy.measurements[0].slices_ns[3] *= 9.0;
        let answer = Analysis::of(&noisy).answer().unwrap().clone();
        assert_eq!(answer.verdict, Verdict::CannotTell, "{}", answer.sentence());
    }
}
