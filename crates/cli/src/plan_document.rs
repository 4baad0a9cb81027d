//! The document of `boatload plan --json`: what would run, as data.

use schemars::JsonSchema;
use serde::Serialize;

use boatload_analysis::forecast::RunForecast;
use boatload_host::space::Space;
use boatload_plan::mix::{Work, WorkShare};
use boatload_plan::repetition::{REPEATS_MAX, REPEATS_MIN, Repetition};
use boatload_plan::space::Need;
use boatload_plan::{CellPlan, Phase, Plan};

/// What `boatload plan` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlanDocument {
    /// `boatload-plan`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// The name of the scenario or job.
    scenario: String,
    /// The question that it answers.
    question: String,
    /// `quick`, `standard` or `original`.
    scale: &'static str,
    /// The seed of everything drawn at random; `--seed` repeats it.
    seed: u64,
    /// The fewest repeats; all of them, where their number is fixed.
    repeats_min: u32,
    /// The most repeats.
    repeats_max: u32,
    /// Time after which no repeat begins, in seconds; null where the number of repeats is fixed.
    time_limit_seconds: Option<f64>,
    /// What grows, and its levels; null without an axis.
    axis: Option<PlannedAxis>,
    /// What is compared, in the job's order.
    variants: Vec<PlannedVariant>,
    /// What the files of a repeat need in the directory; null where none are made there.
    pub(super) need: Option<PlannedNeed>,
    /// Size of each file system that is made, in bytes; null where none is.
    pub(super) made_bytes: Option<u64>,
    /// Memory that the run takes at most, in bytes.
    pub(super) memory_bytes: u64,
    /// How long it may take; null where no earlier run tells.
    pub(super) estimate: Option<PlannedTime>,
    /// Why it could not run here; null if it could.
    pub(super) obstacle: Option<String>,
}

/// What grows from cell to cell.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedAxis {
    /// Its name.
    name: String,
    /// Its levels, from the lowest to the highest, with their units.
    levels: Vec<String>,
}

/// One of the things that are compared.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedVariant {
    /// Its name.
    name: String,
    /// The type of the file system that is made for it; null where it runs on the one that is there.
    filesystem: Option<&'static str>,
    /// What is done at the first level, in order.
    phases: Vec<PlannedPhase>,
}

/// A phase of a variant.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedPhase {
    /// Its name.
    name: String,
    /// The operation.
    operation: &'static str,
    /// How many operations; null where time ends the phase, or the files are known only then.
    operations: Option<u64>,
    /// When it ends, in seconds; null where all operations are done.
    seconds: Option<f64>,
    /// Workers.
    threads: u32,
    /// Requested state of the caches before it: `cold`, `warm` or `as-is`.
    cache: &'static str,
    /// Which of its passes this is, from 1.
    pass: u32,
    /// The works of a mix; empty of one operation.
    works: Vec<PlannedWork>,
    /// Turns in each second that a mix is to keep; null where each begins when the one before has ended.
    turns_per_second: Option<f64>,
}

/// A work of a mix.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedWork {
    /// The name of its measurements.
    phase: String,
    /// The operation, or `chain`.
    operation: &'static str,
    /// The steps of a chain; absent of one operation.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    chain: Vec<String>,
    /// Its part of all turns, in parts of all weights; null where it has workers of its own.
    weight: Option<u32>,
    /// Workers that do nothing else; null where it has a weight.
    threads: Option<u32>,
    /// Which file it takes: `random` or `oldest`.
    order: &'static str,
}

/// Room that the files need, and that there is.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlannedNeed {
    /// Bytes that they take.
    bytes: u64,
    /// Files and directories.
    inodes: u64,
    /// Bytes that are free; null where the file system does not state its size.
    available_bytes: Option<u64>,
    /// Inodes that are free; null where they are made as needed.
    available_inodes: Option<u64>,
}

/// How long the run may take, by an earlier one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlannedTime {
    /// Seconds with the fewest repeats.
    seconds_min: f64,
    /// Seconds with the most repeats.
    seconds_max: f64,
    /// The earlier run of the same job; null where only the rates of its phases are known.
    run: Option<String>,
}

impl PlanDocument {
    /// What is to be done. What is known of the place is filled in by the caller.
    pub(super) fn of(plan: &Plan) -> Self {
        let (repeats_min, repeats_max, time_limit_seconds) = match plan.repetition() {
            Repetition::Fixed(repeats) => (repeats, repeats, None),
            Repetition::UntilDecided(limit) => (REPEATS_MIN, REPEATS_MAX, Some(limit.seconds)),
        };
        let axis = plan.axis.as_ref().map(|axis| PlannedAxis {
            name: axis.name.clone(),
            levels: axis.levels.iter().map(ToString::to_string).collect(),
        });
        let first = |name: &&str| plan.cells.iter().find(|cell| cell.variant == **name);
        let variants = plan.variants();
        Self {
            format: "boatload-plan",
            version: 1,
            scenario: plan.name.clone(),
            question: plan.question.clone(),
            scale: plan.scale.as_str(),
            seed: plan.seed,
            repeats_min,
            repeats_max,
            time_limit_seconds,
            axis,
            variants: variants.iter().filter_map(first).map(PlannedVariant::of).collect(),
            need: None,
            made_bytes: None,
            memory_bytes: 0,
            estimate: None,
            obstacle: None,
        }
    }
}

impl PlannedVariant {
    fn of(cell: &CellPlan) -> Self {
        Self {
            name: cell.variant.clone(),
            filesystem: cell.filesystem.as_ref().map(|made| made.kind.name),
            phases: cell.phases.iter().map(PlannedPhase::of).collect(),
        }
    }
}

impl PlannedPhase {
    fn of(phase: &Phase) -> Self {
        let operations = phase.operations().filter(|_| phase.on_ballast.is_none());
        let works = phase.mix.iter().flat_map(|mix| &mix.works);
        Self {
            name: phase.name.clone(),
            operation: phase.operation.name,
            operations,
            seconds: phase.duration_seconds(),
            threads: phase.threads,
            cache: phase.cache.as_str(),
            pass: phase.pass,
            works: works.map(|work| PlannedWork::of(phase, work)).collect(),
            turns_per_second: phase.mix.as_ref().and_then(|mix| Some(mix.pace?.turns_per_second)),
        }
    }
}

impl PlannedWork {
    fn of(phase: &Phase, work: &Work) -> Self {
        let (weight, threads) = match work.share {
            WorkShare::Weight(weight) => (Some(weight), None),
            WorkShare::Threads(threads) => (None, Some(threads)),
        };
        Self {
            phase: phase.work_name(work),
            operation: work.operation().name,
            chain: work
                .steps
                .iter()
                .filter(|_| work.is_chain())
                .map(|step| step.name.clone())
                .collect(),
            weight,
            threads,
            order: work.order.as_str(),
        }
    }
}

impl PlannedNeed {
    pub(super) fn new(need: Need, space: &Space) -> Self {
        Self {
            bytes: need.bytes,
            inodes: need.inodes,
            available_bytes: space.is_stated().then_some(space.available_bytes),
            available_inodes: space.available_inodes,
        }
    }
}

impl PlannedTime {
    pub(super) fn new(forecast: &RunForecast, plan: &PlanDocument, run: Option<String>) -> Self {
        Self {
            seconds_min: forecast.seconds(plan.repeats_min),
            seconds_max: forecast.seconds(plan.repeats_max),
            run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PlanDocument;
    use boatload_base::fixture::published::assert_published;

    #[test]
    fn the_schema_of_a_plan_is_the_one_that_is_published() {
        assert_published::<PlanDocument>("plan.schema.json");
    }
}
