//! Ranks the variants: by the time of the whole job, and by the rate of each phase, syncs included.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::crossover::CrossoverFinding;
use super::ratio::{PooledVariance, Rate, Ratio, rates};
use super::sample::{Sample, Values, in_turns, is_counted, lowest_first};
use super::say::{self, listed, span, times};
use crate::analysis::statistics::Interval;
use crate::analysis::thresholds::WORK_SAME;
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::{Book, Level, Measurement, REACHED_LIMIT};
use crate::results::content::{bulk_phases, is_listing, leaves_unwritten};

/// The order of the variants of a phase, or of the whole job, at neighbouring levels that have the
/// same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankingFinding {
    /// The phase's name; none for the whole job.
    pub phase: Option<String>,
    /// The variants from the fastest on.
    pub order: Vec<String>,
    /// Each variant but the first, compared with the one before it.
    pub steps: Vec<RankingStep>,
    /// The axis's name; none without an axis.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub axis: Option<String>,
    /// The unit of its values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<Unit>,
    /// The levels that have this order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<f64>,
    /// For each of them its fastest variant, and those that are as fast.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fastest: Vec<FastestVariants>,
    /// Variants that cannot take part.
    pub left_out: Vec<LeftOutVariant>,
    /// What was found of the caches, where that differs between variants.
    pub caches: Vec<CacheDifference>,
    /// Whether content was left that the device had not when a phase ended.
    pub unwritten: bool,
}

/// The variants that come first at a level, without those that a crossover tells from the fastest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FastestVariants {
    /// The fastest, and behind it those that do not differ significantly from it and take at most 1.25 times as long.
    pub alike: Vec<String>,
    /// Those that do not differ significantly from it, and may take longer than that.
    pub unclear: Vec<String>,
}

/// A variant, compared with the one before it in the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankingStep {
    /// The one before it.
    pub faster: String,
    /// The variant.
    pub slower: String,
    /// How many times as fast the faster one is.
    #[serde(flatten)]
    pub compared: ComparedRatio,
    /// How many times as fast the first of the order is.
    pub behind_first: ComparedRatio,
}

/// How many times as fast one variant is as another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRatio {
    /// The ratio.
    pub ratio: f64,
    /// Its interval, such that all of a run's rankings hold together with 95%; none for too few
    /// measurements, or such as vary too much.
    pub interval: Option<Interval>,
    /// Whether there is no significant difference.
    pub tie: bool,
}

impl ComparedRatio {
    /// Whether the two are as good as alike.
    pub(crate) fn is_alike(&self) -> bool {
        ComparisonResult::new(self) == ComparisonResult::Tie
    }
}

impl From<Ratio> for ComparedRatio {
    fn from(ratio: Ratio) -> Self {
        Self { ratio: ratio.times(), interval: ratio.interval(), tie: ratio.tie() }
    }
}

/// A variant that cannot take part in a ranking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutVariant {
    /// Its name.
    pub variant: String,
    /// Why.
    pub reason: String,
}

/// What was found of the caches of some variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheDifference {
    /// The variants.
    pub variants: Vec<String>,
    /// What was found: `warm`.
    pub found: String,
}

/// Stands before several levels of an order: its ratios are the (geometric) means of theirs.
pub(in crate::analysis) const ON_AVERAGE: &str = "on average";

const UNWRITTEN: &str = "What was not yet on the device when a phase ended is in none of these times: \
                         ask for a sync with `durability`.";

impl RankingFinding {
    /// The finding in one sentence, or a few.
    pub fn sentence(&self) -> String {
        let what = self.phase.as_deref().unwrap_or("over all phases");
        let mut sentence = format!("{what}{}: {}.", self.place(), about_order(&self.steps));
        if let Some(left_out) = self.about_left_out() {
            sentence += &format!(" {left_out}");
        }
        let caches =
            self.caches.iter().map(|one| format!("{} {}", one.variants.join(", "), one.found));
        let caches: Vec<String> = caches.collect();
        if !caches.is_empty() {
            sentence += &format!(" Their caches differed: {}.", caches.join("; "));
        }
        if self.unwritten {
            sentence += &format!(" {UNWRITTEN}");
        }
        sentence
    }

    /// A sentence on the variants that cannot take part; none where all do.
    pub(in crate::analysis) fn about_left_out(&self) -> Option<String> {
        let each = self.left_out.iter().map(|one| format!("{} ({})", one.variant, one.reason));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("Left out: {}.", each.join(", ")))
    }

    /// Takes out what a crossover tells from the fastest of a level: it compares these two alone, so it is sharper than
    /// the ranking of all pairs.
    fn without_told_apart(&mut self, crossovers: &[&CrossoverFinding]) {
        for (value, fastest) in self.levels.iter().zip(&mut self.fastest) {
            let Some(first) = fastest.alike.first().cloned() else { continue };
            let is_told_apart = |other: &String| {
                let pair = [first.as_str(), other.as_str()];
                let mut compared = crossovers.iter().filter_map(|one| one.at(*value, pair));
                *other != first && compared.any(|level| level.winner.is_some())
            };
            fastest.alike.retain(|name| !is_told_apart(name));
            fastest.unclear.retain(|name| !is_told_apart(name));
        }
    }

    /// At which levels.
    fn place(&self) -> String {
        let unit = self.unit.unwrap_or_default();
        let noun = self.axis.as_deref().and_then(|axis| say::axis_noun(axis, unit));
        let level = |level: &f64| say::quantity(*level, unit);
        match (self.levels.as_slice(), noun) {
            ([], _) => String::new(),
            ([one], Some(noun)) => format!(" with {} {noun}", level(one)),
            ([first, .., last], Some(noun)) => {
                format!(" {ON_AVERAGE} with {} to {} {noun}", level(first), level(last))
            }
            ([one], None) => format!(" at {}", level(one)),
            ([first, .., last], None) => {
                format!(" {ON_AVERAGE} from {} to {}", level(first), level(last))
            }
        }
    }
}

/// First the whole job, if it has two phases or more; then one for each phase that two variants or
/// more have. With an axis, one for all neighbouring levels that have the same order.
pub(super) fn ranking(
    book: &Book,
    sample: &Sample<'_>,
    variants: &[&str],
    crossovers: &[CrossoverFinding],
) -> Vec<RankingFinding> {
    // Of the 5% one half is for the whole job, which users wait for, and the other for all phases.
    let mut findings = ranked(None, &job_levels(book, variants), 2);
    let phases = sample.phases();
    let rankings = if findings.is_empty() { phases.len() } else { 2 * phases.len() };
    for phase in &phases {
        let levels = phase_levels(sample, phase);
        let of_phase: Vec<_> = crossovers.iter().filter(|one| one.phase == *phase).collect();
        for mut finding in ranked(Some(phase), &levels, rankings) {
            finding.without_told_apart(&of_phase);
            findings.push(finding);
        }
    }
    findings
}

/// How many times as fast the second of two variants of a run was as the first: the whole job, if it
/// has two phases or more, then each phase, at each level. Each interval holds for itself.
pub(in crate::analysis) fn ratios_between<'a>(
    book: &'a Book,
    pair: [&'a str; 2],
) -> Vec<(Option<&'a str>, Option<&'a Level>, Ratio)> {
    let sample = Sample::new(book, &pair);
    let phases = sample.phases();
    let of_phases = phases.iter().map(|phase| (Some(*phase), phase_levels(&sample, phase)));
    let all = [(None, job_levels(book, &pair))].into_iter().chain(of_phases);
    let mut found = Vec::new();
    for (phase, levels) in all {
        let pooled = pooled_over(&levels);
        for level in &levels {
            let ratio = ratio_between(&pooled, &level.variants, [pair[1], pair[0]], 1);
            found.extend(ratio.map(|ratio| (phase, level.level, ratio)));
        }
    }
    found
}

/// All variants at one level.
struct RankedLevel<'a> {
    level: Option<&'a Level>,
    /// Whether its variants took turns, repeat by repeat.
    in_turns: bool,
    variants: Vec<RankedVariant<'a>>,
    /// Variants that cannot take part.
    left_out: Vec<LeftOutVariant>,
    /// Whether content was left that the device had not when a phase ended.
    unwritten: bool,
}

struct RankedVariant<'a> {
    name: &'a str,
    values: Values,
    rate: Rate,
    /// What was found of the caches, each once.
    caches: Vec<&'a str>,
}

/// Those of which a rate can be made, each with its measurements and their values.
fn ranked_variants<'a>(
    mut all: Vec<(&'a str, Vec<&'a Measurement>, Values)>,
    in_turns: bool,
) -> Vec<RankedVariant<'a>> {
    all.retain(|(.., values)| !values.all.is_empty());
    let rates = rates(&all.iter().map(|(.., values)| values).collect::<Vec<_>>(), in_turns);
    let mut variants = Vec::new();
    for ((name, cell, values), rate) in all.into_iter().zip(rates) {
        let mut caches = each_once(cell.iter().map(|m| m.cache.found.as_str()));
        caches.sort_unstable();
        variants.push(RankedVariant { name, values, rate, caches });
    }
    variants
}

fn phase_levels<'a>(sample: &Sample<'a>, phase: &str) -> Vec<RankedLevel<'a>> {
    let in_turns = sample.in_turns();
    let ranked_level = |level: Option<&'a Level>| {
        let cells = sample.variants().iter().map(|name| (*name, sample.cell(phase, name, level)));
        let cells: Vec<_> = cells.filter(|(_, cell)| !cell.is_empty()).collect();
        let unwritten = cells.iter().any(|(_, cell)| cell.iter().any(|m| leaves_unwritten(m)));
        let with_values = |(name, cell): (_, Vec<&'a Measurement>)| {
            let values = sample.log_rates(&cell);
            (name, cell, values)
        };
        let cells = cells.into_iter().map(with_values).collect();
        let variants = ranked_variants(cells, in_turns);
        let left_out = sample.uncounted(phase, level).into_iter().map(|variant| LeftOutVariant {
            variant: variant.into(),
            reason: sample.why_uncounted(phase, variant, level).into(),
        });
        let left_out = left_out.collect();
        RankedLevel { level, in_turns, variants, left_out, unwritten }
    };
    let levels = sample.levels(phase).into_iter().map(ranked_level);
    levels.filter(|level| level.variants.len() > 1).collect()
}

fn pooled_over(levels: &[RankedLevel<'_>]) -> PooledVariance {
    PooledVariance::new(levels.iter().flat_map(|level| level.variants.iter().map(|v| &v.rate)))
}

/// How many times as fast the first of two is as the second; none if one of them has no rate.
fn ratio_between(
    pooled: &PooledVariance,
    variants: &[RankedVariant<'_>],
    pair: [&str; 2],
    comparisons: usize,
) -> Option<Ratio> {
    let [a, b] = pair.map(|name| variants.iter().find(|variant| variant.name == name));
    let (a, b) = a.zip(b)?;
    Some(pooled.ratio_in_turns([a.rate, b.rate], [&a.values, &b.values], comparisons))
}

/// Each variant over several levels, repeat by repeat: what a variant's turn was like is common to all
/// levels of it, so these are no independent measurements. None unless all levels have the same repeats
/// of the same variants.
fn over_levels<'a>(levels: &[RankedLevel<'a>]) -> Option<Vec<RankedVariant<'a>>> {
    let first = levels.first()?;
    let over_all = |variant: &RankedVariant<'a>| {
        let same = |other: &&RankedVariant<'_>| other.name == variant.name;
        let at_level = |level: &'_ RankedLevel<'a>| {
            level.variants.iter().find(same).map(|found| found.values.clone())
        };
        let all: Vec<Values> = levels.iter().map(at_level).collect::<Option<_>>()?;
        let repeats = variant.values.repeats();
        if !all.iter().all(|values| values.repeated && values.repeats() == repeats) {
            return None;
        }
        let mean =
            |at: usize| all.iter().map(|values| values.all[at].1).sum::<f64>() / all.len() as f64;
        let merged = repeats.into_iter().enumerate().map(|(at, repeat)| (repeat, mean(at)));
        Some((variant.name, Vec::new(), Values { all: merged.collect(), ..variant.values.clone() }))
    };
    let all = first.variants.iter().map(over_all).collect::<Option<_>>()?;
    Some(ranked_variants(all, first.in_turns))
}

/// The findings of a phase, or of all; `rankings` is how many there are beside each other.
fn ranked(phase: Option<&str>, levels: &[RankedLevel<'_>], rankings: usize) -> Vec<RankingFinding> {
    let Some(most) = levels.iter().map(|level| level.variants.len()).max() else {
        return Vec::new();
    };
    let comparisons = comparisons(most, levels.len()) * rankings;
    let ranker = Ranker { pooled: pooled_over(levels), comparisons };
    let (mut findings, mut from) = (Vec::new(), 0);
    while from < levels.len() {
        let order = groups_of_ties(&ranker.order(&levels[from..=from]));
        let is_same = |level: &&RankedLevel<'_>| {
            order == groups_of_ties(&ranker.order(std::slice::from_ref(*level)))
        };
        let alike = levels[from + 1..].iter().take_while(is_same).count();
        let alike = &levels[from..=from + alike];
        findings.push(finding(phase, alike, &ranker));
        from += alike.len();
    }
    findings
}

/// Comparisons of one ranking: of each pair of variants at each level. Fewer are told, but which ones follow from
/// what was measured: of many alike variants the fastest and the slowest differ by chance.
pub(in crate::analysis) fn comparisons(variants: usize, levels: usize) -> usize {
    variants * variants.saturating_sub(1) / 2 * levels.max(1)
}

struct Ranker {
    pooled: PooledVariance,
    comparisons: usize,
}

impl Ranker {
    /// The variants from the fastest, each compared with the one before it, over all these levels.
    fn order(&self, levels: &[RankedLevel<'_>]) -> Vec<RankingStep> {
        let Some(first) = levels.first() else { return Vec::new() };
        let rates = |name: &str| -> Vec<Rate> {
            let all = levels.iter().flat_map(|level| &level.variants);
            all.filter(|variant| variant.name == name).map(|variant| variant.rate).collect()
        };
        let sum = |name: &str| rates(name).iter().map(|rate| rate.log).sum::<f64>();
        let mut names: Vec<&str> = first.variants.iter().map(|variant| variant.name).collect();
        names.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
        let merged = if levels.len() > 1 { over_levels(levels) } else { None };
        let merged = merged.map(|all| (PooledVariance::new(all.iter().map(|v| &v.rate)), all));
        let ratio = |faster: &str, slower: &str| {
            let (pooled, variants) = match (&merged, levels) {
                (Some((pooled, variants)), _) => (pooled, variants),
                (None, [only]) => (&self.pooled, &only.variants),
                (None, _) => {
                    let pairs: Vec<_> = rates(faster).into_iter().zip(rates(slower)).collect();
                    return Some(self.pooled.ratio(&pairs, self.comparisons));
                }
            };
            ratio_between(pooled, variants, [faster, slower], self.comparisons)
        };
        let step = |pair: &[&str]| {
            Some(RankingStep {
                faster: pair[0].into(),
                slower: pair[1].into(),
                compared: ratio(pair[0], pair[1])?.into(),
                behind_first: ratio(names[0], pair[1])?.into(),
            })
        };
        names.windows(2).filter_map(step).collect()
    }
}

fn finding(phase: Option<&str>, ranked: &[RankedLevel<'_>], ranker: &Ranker) -> RankingFinding {
    let steps = ranker.order(ranked);
    let at_levels = ranked.iter().filter(|one| one.level.is_some());
    let fastest = at_levels.map(|one| fastest_of(&ranker.order(std::slice::from_ref(one))));
    let levels: Vec<&Level> = ranked.iter().filter_map(|one| one.level).collect();
    let first = steps.first().map(|step| step.faster.clone());
    RankingFinding {
        phase: phase.map(String::from),
        order: first.into_iter().chain(steps.iter().map(|step| step.slower.clone())).collect(),
        steps,
        axis: levels.first().map(|level| level.axis.clone()),
        unit: levels.first().map(|level| level.unit),
        levels: levels.iter().map(|level| level.value).collect(),
        fastest: fastest.collect(),
        left_out: each_once(ranked.iter().flat_map(|one| one.left_out.iter().cloned())),
        caches: cache_differences(ranked),
        unwritten: ranked.iter().any(|one| one.unwritten),
    }
}

/// The fastest of an order, and those that do not differ from it. One that is slow and unsteady may not differ either.
fn fastest_of(steps: &[RankingStep]) -> FastestVariants {
    let is_alike =
        |step: &&RankingStep| step.behind_first.tie && step.behind_first.interval.is_some();
    let first = steps.first().map(|step| step.faster.clone());
    let mut fastest = FastestVariants { alike: first.into_iter().collect(), unclear: Vec::new() };
    for step in steps.iter().take_while(is_alike) {
        let names = match step.behind_first.is_alike() {
            true => &mut fastest.alike,
            false => &mut fastest.unclear,
        };
        names.push(step.slower.clone());
    }
    fastest
}

/// What was found of the caches, where that is not the same of all variants.
fn cache_differences(levels: &[RankedLevel<'_>]) -> Vec<CacheDifference> {
    let found = |variant: &RankedVariant<'_>| variant.caches.join(" and ");
    let differs = |level: &&RankedLevel<'_>| each_once(level.variants.iter().map(found)).len() > 1;
    let all = || levels.iter().filter(differs).flat_map(|level| &level.variants);
    let states = each_once(all().map(found));
    let difference = |state: String| {
        let own = all().filter(|variant| found(variant) == state);
        let variants = each_once(own.map(|variant| variant.name.to_string()));
        CacheDifference { variants, found: state }
    };
    states.into_iter().map(difference).collect()
}

/// The order with those that tie together, sorted by name.
fn groups_of_ties(steps: &[RankingStep]) -> Vec<Vec<String>> {
    let first = steps.first().map(|step| vec![step.faster.clone()]);
    let mut groups: Vec<Vec<String>> = first.into_iter().collect();
    for step in steps {
        match groups.last_mut() {
            Some(last) if step.compared.tie => last.push(step.slower.clone()),
            _ => groups.push(vec![step.slower.clone()]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// One repeat of a variant with all its phases valid: the time of all of them with their syncs, which
/// is what a user waits for.
pub(in crate::analysis) struct WholeJob {
    repeat: u32,
    pub(in crate::analysis) seconds: f64,
    /// Operations of each phase, in the mean of its passes.
    pub(in crate::analysis) operations: Vec<u64>,
}

/// One for each level, lowest first, at which two variants or more did the same work in two phases
/// or more.
fn job_levels<'a>(book: &'a Book, variants: &[&'a str]) -> Vec<RankedLevel<'a>> {
    let is_known = |m: &&'a Measurement| m.cell.level.as_ref().is_none_or(|l| l.value.is_finite());
    let all: Vec<&Measurement> = book.measurements.iter().filter(is_known).collect();
    let levels = lowest_first(all.iter().map(|m| m.cell.level.as_ref()));
    let ranked = |level| job_level(&all, variants, level, in_turns(book));
    levels.into_iter().filter_map(ranked).collect()
}

fn job_level<'a>(
    all: &[&'a Measurement],
    variants: &[&'a str],
    level: Option<&'a Level>,
    in_turns: bool,
) -> Option<RankedLevel<'a>> {
    let here: Vec<&Measurement> =
        all.iter().copied().filter(|m| m.cell.level.as_ref() == level).collect();
    let phases = each_once(here.iter().map(|m| m.phase.as_str()));
    if phases.len() < 2 {
        return None;
    }
    let (mut cells, mut left_out, mut work) = (Vec::new(), Vec::new(), Vec::new());
    for variant in each_once(variants.iter().copied()) {
        let of_variant: Vec<_> =
            here.iter().copied().filter(|m| m.cell.variant == variant).collect();
        let jobs = whole_jobs(&of_variant, &phases);
        if jobs.is_empty() {
            let reason = why_left_out(&of_variant);
            left_out.push(LeftOutVariant { variant: variant.into(), reason });
        } else {
            cells.push((variant, of_variant, job_values(&jobs)));
        }
        work.extend(jobs.into_iter().map(|job| job.operations));
    }
    // In phases that end after a time, or on what a history left, a slow one has less to do.
    let is_same_work = each_once(work.into_iter()).len() == 1 && move_alike(&cells);
    let variants = ranked_variants(cells, in_turns);
    // What is written until the unmount is part of the job then.
    let has_settle = here.iter().any(|m| m.is_settle());
    let unwritten = !has_settle && here.iter().any(|m| leaves_unwritten(m));
    let is_ranked = variants.len() > 1 && is_same_work;
    is_ranked.then_some(RankedLevel { level, in_turns, variants, left_out, unwritten })
}

/// Whether an operation moves as many bytes in each of these variants, of the phases whose rates count bytes.
fn move_alike(cells: &[(&str, Vec<&Measurement>, Values)]) -> bool {
    let all = || cells.iter().flat_map(|(_, own, _)| own).copied().filter(|m| is_counted(m));
    let bulk = bulk_phases(all());
    bulk.into_iter().all(|phase| {
        let own = all().filter(|m| m.phase == phase && !is_listing(m));
        let bytes = own.map(|m| m.bytes as f64 / m.operations as f64);
        let ends = bytes.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| {
            (least.min(one), most.max(one))
        });
        ends.1 <= ends.0 * (1.0 + WORK_SAME) || ends.0.is_infinite()
    })
}

/// The repeats of a cell of which every phase is valid; none if one took as long as a phase may, for the others are
/// the quick ones.
pub(in crate::analysis) fn whole_jobs(cell: &[&Measurement], phases: &[&str]) -> Vec<WholeJob> {
    if cell.iter().any(|m| m.reached_limit()) {
        return Vec::new();
    }
    let repeats = each_once(cell.iter().map(|m| m.cell.repeat));
    repeats.into_iter().filter_map(|repeat| whole_job(cell, phases, repeat)).collect()
}

/// Each phase by the mean of its passes, of which repeats may have unlike numbers; none unless all
/// are valid.
fn whole_job(cell: &[&Measurement], phases: &[&str], repeat: u32) -> Option<WholeJob> {
    let (mut seconds, mut operations) = (0.0, Vec::new());
    for phase in phases {
        let is = |m: &&&Measurement| m.cell.repeat == repeat && m.phase == *phase;
        let passes: Vec<&Measurement> = cell.iter().filter(is).copied().collect();
        if passes.is_empty() || !passes.iter().all(|m| is_counted(m)) {
            return None;
        }
        let n = passes.len() as f64;
        seconds += passes.iter().map(|m| m.durable_seconds()).sum::<f64>() / n;
        operations.push(passes.iter().map(|m| m.operations).sum::<u64>() / passes.len() as u64);
    }
    Some(WholeJob { repeat, seconds, operations })
}

/// Logarithms of jobs per second.
pub(in crate::analysis) fn job_values(jobs: &[WholeJob]) -> Values {
    Values {
        all: jobs.iter().map(|job| (job.repeat, -job.seconds.ln())).collect(),
        repeated: jobs.len() > 1,
    }
}

/// Why a variant has no whole repeat.
fn why_left_out(cell: &[&Measurement]) -> String {
    if let Some(limited) = cell.iter().find(|m| m.reached_limit()) {
        return format!("{} {REACHED_LIMIT}", limited.phase);
    }
    let invalid = cell.iter().filter(|m| !m.valid()).map(|m| m.phase.as_str());
    let invalid = each_once(invalid);
    match invalid.as_slice() {
        [] => "not all phases were measured".into(),
        [one] => format!("{one} is invalid"),
        many => format!("{} are invalid", many.join(", ")),
    }
}

/// The steps of an order in words.
pub(super) fn about_order(steps: &[RankingStep]) -> String {
    match steps {
        [only] => about_pair(only),
        [first, others @ ..] if steps.iter().all(|step| step.compared.interval.is_none()) => {
            let next = others
                .iter()
                .map(|step| format!("{} ({})", step.slower, times(step.behind_first.ratio)));
            format!(
                "too few or too variable measurements to compare; {} came first, then {} ({} times as long), {}",
                first.faster,
                first.slower,
                times(first.behind_first.ratio),
                next.collect::<Vec<_>>().join(", ")
            )
        }
        steps => about_many(steps),
    }
}

/// A step by itself.
fn about_pair(step: &RankingStep) -> String {
    let RankingStep { faster, slower, compared, .. } = step;
    let ratio = times(compared.ratio);
    match compared.interval {
        None => format!(
            "too few or too variable measurements to compare {faster} and {slower} ({ratio} times)"
        ),
        Some(interval) if compared.tie => {
            let span = span(interval);
            format!(
                "no significant difference between {faster} and {slower} ({ratio} times, {span})"
            )
        }
        Some(interval) => {
            format!("{faster} is {ratio} times as fast as {slower} ({})", span(interval))
        }
    }
}

/// Many: each compared with the first, and those behind it with the one before where these do not
/// differ significantly.
fn about_many(steps: &[RankingStep]) -> String {
    let Some(first) = steps.first().map(|step| &step.faster) else { return String::new() };
    let ahead = steps.iter().all(|step| !step.behind_first.tie);
    let mut parts =
        vec![format!("{first} {}", if ahead { "is the fastest" } else { "came first" })];
    let result = |step: &RankingStep| ComparisonResult::new(&step.behind_first);
    for alike in steps.chunk_by(|a, b| result(a) == result(b)) {
        let behind: Vec<_> =
            alike.iter().map(|step| (step.slower.as_str(), &step.behind_first)).collect();
        parts.push(against(&behind, "it"));
    }
    for step in &steps[1..] {
        // Two that the first is not ahead of are stated as such already.
        if step.compared.tie && !step.behind_first.tie {
            parts.push(against(&[(step.slower.as_str(), &step.compared)], &step.faster));
        }
    }
    parts.join("; ")
}

/// Within this, two that do not differ significantly are as good as alike.
pub(crate) const ALIKE_TIMES: f64 = 1.25;

/// What a comparison came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparisonResult {
    NotComparable,
    Tie,
    NoSignificantDifference,
    Slower,
}

impl ComparisonResult {
    fn new(compared: &ComparedRatio) -> Self {
        match compared.interval {
            None => Self::NotComparable,
            Some(interval) if compared.tie && interval.high <= ALIKE_TIMES => Self::Tie,
            Some(_) if compared.tie => Self::NoSignificantDifference,
            Some(_) => Self::Slower,
        }
    }
}

/// Some of the same result, compared with another that came before them.
fn against(slower: &[(&str, &ComparedRatio)], other: &str) -> String {
    let Some((_, compared)) = slower.first() else { return String::new() };
    let (result, one) = (ComparisonResult::new(compared), slower.len() == 1);
    if result == ComparisonResult::Slower {
        let takes = slower.iter().map(|(name, compared)| {
            let span = compared.interval.map_or_else(String::new, span);
            format!("{name} takes {} times as long ({span})", times(compared.ratio))
        });
        return takes.collect::<Vec<_>>().join("; ");
    }
    let named = slower.iter().map(|(name, compared)| {
        let span = compared.interval.map(|interval| format!(", {}", span(interval)));
        format!("{name} ({} times{})", times(compared.ratio), span.unwrap_or_default())
    });
    let does = match (result, one) {
        (ComparisonResult::NotComparable, true) => {
            "has too few or too variable measurements to compare with"
        }
        (ComparisonResult::NotComparable, false) => {
            "have too few or too variable measurements to compare with"
        }
        (ComparisonResult::Tie, true) => "ties with",
        (ComparisonResult::Tie, false) => "tie with",
        (_, true) => "does not differ significantly from",
        (_, false) => "do not differ significantly from",
    };
    format!("{} {does} {other}", listed(&named.collect::<Vec<_>>()))
}
