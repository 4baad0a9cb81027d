//! Defines the result of a comparison of two sets of runs: the rows and document fields of `boatload
//! compare` and `check`.

use schemars::JsonSchema;
use serde::Serialize;

use super::baseline::BaselineMark;
use super::decisions::RowEffect;
use super::differences::Difference;
use super::matching::PhaseKey;
use crate::effects::decide::Decision;
use crate::tails::Quantile;
use crate::uncertainty::Estimate;
use boatload_base::units::Unit;
use boatload_results::book::Book;

/// Run B against set A, which is one run or a history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The runs of A, oldest first.
    pub a: Vec<RunLabel>,
    /// The run that is compared with them.
    pub b: RunLabel,
    /// Runs that did the same again and count with it, to confirm what it showed.
    pub b_again: Vec<RunLabel>,
    /// How many other runs of the same jobs show how much equal runs differ; none of a history, which shows it itself.
    pub other_runs: usize,
    /// For each variant and level the whole job, if both did the same work, and then its phases.
    pub rows: Vec<ComparedRow>,
    /// The facts in which the newest run of A and B differ.
    pub differences: Vec<Difference>,
}

/// Which run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunLabel {
    /// Its id.
    pub id: String,
    /// Its scenario.
    pub scenario: String,
    /// Whether all of its cells were done.
    pub complete: bool,
    /// When it began.
    pub started: Option<String>,
    /// Whether its figures were published, not measured by boatload.
    pub published: bool,
}

/// A phase or the whole job in A and B.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparedRow {
    /// Which phase.
    #[serde(flatten)]
    pub key: PhaseKey,
    /// What `a` and `b` are.
    pub metric: Metric,
    /// The value of A; `None` if it has no valid one.
    pub a: Option<Estimate>,
    /// The value of B; `None` if it has no valid one.
    pub b: Option<Estimate>,
    /// Why a side has no value.
    pub absence: Option<Absence>,
    /// How many times as long B took.
    #[serde(flatten)]
    pub effect: RowEffect,
    /// The work of A and B, if it was not the same.
    pub work: Option<[PhaseWork; 2]>,
    /// What was found of the caches of A and B, if it was not the same; of the whole job what was
    /// found in the first such phase.
    pub caches: Option<[String; 2]>,
    /// Whether background load disturbed measurements of A and B that count; of a history the measurements of the baseline's runs.
    pub disturbed: [bool; 2],
    /// How many measurements of A and B do not count, because background load disturbed their repeats.
    pub left_out: [usize; 2],
    /// Quantiles of the latencies of the measurements that count, compared; empty for the whole job.
    pub latency_ratios: Vec<LatencyRatio>,
    /// What A's history is made of; `None` if A is one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<BaselineHistory>,
    /// What a check makes of it; none in a plain comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CheckOutcome>,
}

/// What a check says of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Proven to be slower by less than the limit.
    Ok,
    /// Proven to be slower by more.
    Regression,
    /// Neither is proven.
    Unsure,
    /// The run and the baseline did different work.
    OtherWork,
    /// All that the run measured of it is invalid, or some of it reached its limit.
    Invalid,
    /// The run ended before it.
    Missing,
    /// A measurement of the baseline reached its limit.
    NoBaseline,
    /// Only the run or only the baseline has it.
    NotInBoth,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// More is faster.
    #[default]
    OperationsPerSecond,
    /// More is faster.
    BytesPerSecond,
    /// Seconds of a whole job.
    Seconds,
    /// How long one operation took. Of a run with windows, the mean of the window with that operation.
    Nanoseconds,
}

impl Metric {
    /// Of a rate in this unit.
    pub(super) fn of_rate(unit: Unit) -> Self {
        if unit == Unit::Bytes { Self::BytesPerSecond } else { Self::OperationsPerSecond }
    }
}

/// A quantile of the latencies of A and B.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyRatio {
    /// Which.
    pub quantile: Quantile,
    /// Of A and B in nanoseconds, the geometric mean of the repeats' own; `None` where it is not known.
    pub ns: [Option<f64>; 2],
    /// How many times as long B's is: B is slower if it takes longer.
    #[serde(flatten)]
    pub effect: RowEffect,
}

/// Why a run has no value of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Absence {
    /// It did not measure the phase.
    NotMeasured,
    /// What it measured is invalid.
    Invalid,
    /// A measurement took as long as a phase may: the others are the quick ones.
    ReachedLimit,
    /// No rate can be made of what it measured.
    NoRate,
    /// A mix of A and B was asked for different numbers of turns a second, which decide its times.
    OtherPace,
}

/// How much a phase did, in the mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseWork {
    /// Operations.
    pub operations: f64,
    /// Bytes of content that each moved.
    pub bytes_each: f64,
}

/// The values of a history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BaselineHistory {
    /// How many runs make the baseline.
    pub runs: usize,
    /// The first of these, as an index of `points`.
    pub since: usize,
    /// The runs that have a value, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// A run of the history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryPoint {
    /// Its id.
    pub run: String,
    /// When it began.
    pub started: String,
    /// Its value.
    pub value: f64,
    /// What it is to the baseline.
    pub mark: BaselineMark,
}

impl RunLabel {
    pub(super) fn of_run(book: &Book) -> Self {
        let run = &book.run;
        let started = Some(run.started.clone()).filter(|text| !text.is_empty());
        let published = run.reference.is_some();
        let (id, scenario) = (run.id.clone(), run.scenario.clone());
        Self { id, scenario, complete: run.complete, started, published }
    }
}

impl Comparison {
    /// Whether the figures of A and of B were published.
    pub fn is_published(&self) -> [bool; 2] {
        [self.a.iter().any(|run| run.published), self.b.published]
    }

    /// How many runs show how much equal ones differ: others of the same jobs, or those of a history since its last step.
    pub fn known_runs(&self) -> usize {
        let of_history = self.rows.iter().filter_map(|row| Some(row.history.as_ref()?.runs)).max();
        of_history.unwrap_or(self.other_runs)
    }

    /// Rows that both sides have.
    pub fn in_both(&self) -> impl Iterator<Item = &ComparedRow> {
        self.rows.iter().filter(|row| row.is_in_both())
    }

    /// Rows of both sides with this decision about B's time.
    pub fn with(&self, decision: Decision) -> Vec<&ComparedRow> {
        self.in_both().filter(|row| row.effect.decision == decision).collect()
    }
}

impl ComparedRow {
    /// Whether both sides have a value.
    pub fn is_in_both(&self) -> bool {
        self.a.is_some() && self.b.is_some()
    }
}
