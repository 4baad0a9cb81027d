//! Rankings: the order of the variants, over the whole job by the time of all phases, and in each
//! phase by rate; where growth is asked about, by latency at the end.

mod chain;
pub(in crate::analysis) mod whole;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::distinct::each_once;
use crate::base::units::{Unit, grouped};
use crate::results::book::{Book, Level, Measurement, Window};

use super::course::tellable;
use super::fit::scale;
use super::growth::{CountedThing, middle_ns};
use super::ratio::{Family, Rate, Ratio};
use super::sample::{Sample, Values, log_rate};
use super::say;
use crate::analysis::statistics::Interval;

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
    /// What they are ranked by.
    pub by: RankedBy,
    /// The number of operations at which latencies are compared, where they are ranked by that.
    pub at: Option<u64>,
    /// What there are so many of then.
    pub counted: Option<CountedThing>,
    /// The axis's name; none without an axis.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub axis: Option<String>,
    /// The unit of its values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<Unit>,
    /// The levels that have this order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<f64>,
    /// Variants that cannot take part.
    pub left_out: Vec<LeftOutVariant>,
    /// What was found of the caches, where that differs between variants.
    pub caches: Vec<CacheDifference>,
    /// Whether content was left that the device had not when a phase ended.
    pub unwritten: bool,
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
    /// measurements.
    pub interval: Option<Interval>,
    /// Whether there is no significant difference.
    pub tie: bool,
}

impl From<Ratio> for ComparedRatio {
    fn from(ratio: Ratio) -> Self {
        let interval = ratio.interval().map(Interval::from);
        Self { ratio: ratio.times(), interval, tie: ratio.tie() }
    }
}

/// What variants are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    /// Time of all phases with their syncs.
    TimeOfAllPhases,
    /// Operations per second.
    Rate,
    /// Latency at the end of the phase.
    LatencyAtTheEnd,
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

const UNWRITTEN: &str = "What was not yet on the device when a phase ended is in none of these times: \
                         ask for a sync with `durability`.";

impl RankingFinding {
    /// The finding in one sentence, or a few.
    pub fn sentence(&self) -> String {
        let what = self.phase.as_deref().unwrap_or("over all phases");
        let mut sentence = format!("{what}{}: {}.", self.place(), chain::about_order(&self.steps));
        let left_out = self.left_out.iter().map(|one| format!("{} ({})", one.variant, one.reason));
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            sentence += &format!(" Left out: {}.", left_out.join(", "));
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

    /// At which levels, and at how many operations.
    fn place(&self) -> String {
        let unit = self.unit.unwrap_or_default();
        let place = match self.levels.as_slice() {
            [] => String::new(),
            [one] => format!(" at {}", say::quantity(*one, unit)),
            [first, .., last] => {
                format!(" from {} to {}", say::quantity(*first, unit), say::quantity(*last, unit))
            }
        };
        match self.at.zip(self.counted) {
            Some((operations, counted)) => {
                format!("{place} at {} {}", grouped(operations), counted.noun())
            }
            None => place,
        }
    }
}

/// First the whole job, if it has two phases or more; then one for each phase that two variants or
/// more have. With an axis, one for all neighbouring levels that have the same order.
pub(super) fn ranking(
    book: &Book,
    sample: &Sample<'_>,
    variants: &[&str],
    at_the_end: bool,
) -> Vec<RankingFinding> {
    let mut findings = ranked(None, &whole::fields(book, variants), 1);
    let phases = sample.phases();
    for phase in &phases {
        findings.extend(ranked(Some(phase), &fields(sample, phase, at_the_end), phases.len()));
    }
    findings
}

/// Each variant over several levels, repeat by repeat: what a variant's turn was like is common to all
/// levels of it, so these are no independent measurements.
struct OverLevels<'a> {
    runners: Vec<(&'a str, Values, Rate)>,
    family: Family,
}

impl<'a> OverLevels<'a> {
    /// None unless all levels have the same repeats of the same variants.
    fn of(fields: &[Field<'a>]) -> Option<Self> {
        let first = fields.first()?;
        let in_turns = first.in_turns;
        let one = |runner: &Runner<'a>| -> Option<(&'a str, Values)> {
            let of_field = |field: &Field<'a>| -> Option<Values> {
                let found = field.runners.iter().find(|other| other.variant == runner.variant)?;
                Some(found.values.clone())
            };
            let all: Vec<Values> = fields.iter().map(of_field).collect::<Option<_>>()?;
            let repeats = |values: &Values| values.all.iter().map(|(r, _)| *r).collect::<Vec<_>>();
            let same =
                |values: &Values| values.repeated && repeats(values) == repeats(&runner.values);
            let mean = |at: usize| {
                all.iter().map(|values| values.all[at].1).sum::<f64>() / all.len() as f64
            };
            all.iter().all(same).then(|| {
                let merged =
                    runner.values.all.iter().enumerate().map(|(at, (r, _))| (*r, mean(at)));
                (runner.variant, Values { all: merged.collect(), ..runner.values.clone() })
            })
        };
        let all: Vec<_> = first.runners.iter().map(one).collect::<Option<_>>()?;
        let rates = rates(&all.iter().map(|(_, values)| values).collect::<Vec<_>>(), in_turns);
        let family = Family::of(&rates);
        let runners = all.into_iter().zip(rates).map(|((name, values), rate)| (name, values, rate));
        Some(Self { runners: runners.collect(), family })
    }

    fn ratio(&self, faster: &str, slower: &str, comparisons: usize) -> Ratio {
        let of = |name: &str| self.runners.iter().find(|(variant, ..)| *variant == name);
        match of(faster).zip(of(slower)) {
            Some(((_, a, of_a), (_, b, of_b))) => {
                self.family.ratio_in_turns([*of_a, *of_b], [a, b], comparisons)
            }
            None => self.family.ratio(&[], comparisons),
        }
    }
}

/// How many times as fast the second of two variants of a run was as the first: the whole job, if it
/// has two phases or more, then each phase, at each level. Each interval holds for itself.
pub(in crate::analysis) fn between<'a>(
    book: &'a Book,
    [a, b]: [&'a str; 2],
) -> Vec<(Option<&'a str>, Option<&'a Level>, Ratio)> {
    let sample = Sample::of(book, &[a, b]);
    let phases = sample.phases();
    let of_phases = phases.iter().map(|phase| (Some(*phase), fields(&sample, phase, false)));
    let all = [(None, whole::fields(book, &[a, b]))].into_iter().chain(of_phases);
    let mut found = Vec::new();
    for (phase, fields) in all {
        let family = Family::of(fields.iter().flat_map(|f| f.runners.iter().map(|r| &r.rate)));
        for field in &fields {
            let of = |name| field.runners.iter().find(|r| r.variant == name);
            if let Some((b, a)) = of(b).zip(of(a)) {
                let values = [&b.values, &a.values];
                let ratio = family.ratio_in_turns([b.rate, a.rate], values, 1);
                found.push((phase, field.level, ratio));
            }
        }
    }
    found
}

/// The findings of a phase, or of all; `rankings` is how many there are beside each other.
fn ranked(phase: Option<&str>, fields: &[Field<'_>], rankings: usize) -> Vec<RankingFinding> {
    let Some(most) = fields.iter().map(|field| field.runners.len() - 1).max() else {
        return Vec::new();
    };
    let family = Family::of(fields.iter().flat_map(|f| f.runners.iter().map(|r| &r.rate)));
    // Each is held against the one before it and against the first, which for one is the same.
    let judge = Judge { family, comparisons: (2 * most - 1) * fields.len() * rankings };
    let (mut findings, mut from) = (Vec::new(), 0);
    while from < fields.len() {
        let order = judge.order(&fields[from..=from]);
        let alike = fields[from + 1..].iter().take_while(|field| judge.same(&order, field)).count();
        findings.push(judge.finding(phase, &fields[from..=from + alike]));
        from += alike + 1;
    }
    findings
}

/// All variants at one level.
struct Field<'a> {
    level: Option<&'a Level>,
    /// Whether its runners took turns, repeat by repeat.
    in_turns: bool,
    runners: Vec<Runner<'a>>,
    /// Operations done and what they add, where the latency at the end decides.
    end: Option<(u64, CountedThing)>,
    /// Variants that cannot take part.
    left_out: Vec<LeftOutVariant>,
    /// Whether content was left that the device had not when a phase ended.
    unwritten: bool,
}

#[derive(Clone)]
struct Runner<'a> {
    variant: &'a str,
    rate: Rate,
    values: Values,
    /// What was found of the caches, each once.
    caches: Vec<&'a str>,
}

impl<'a> Runner<'a> {
    /// All that a rate can be made of, each with its measurements and their values.
    fn all(of: Vec<(&'a str, Vec<&'a Measurement>, Values)>, in_turns: bool) -> Vec<Self> {
        let all: Vec<_> = of.into_iter().filter(|(.., values)| !values.all.is_empty()).collect();
        let rates = rates(&all.iter().map(|(.., values)| values).collect::<Vec<_>>(), in_turns);
        let one = |((variant, cell, values), rate): ((&'a str, Vec<&'a Measurement>, _), Rate)| {
            let mut caches = each_once(cell.iter().map(|m| m.cache.found.word()));
            caches.sort_unstable();
            Self { variant, rate, values, caches }
        };
        all.into_iter().zip(rates).map(one).collect()
    }
}

fn rates(values: &[&Values], in_turns: bool) -> Vec<Rate> {
    if in_turns {
        return Rate::of_turns(values);
    }
    values.iter().filter_map(|values| Rate::of(values)).collect()
}

/// Two neighbours of the order.
struct Step<'a> {
    faster: &'a str,
    slower: &'a str,
    ratio: Ratio,
    /// How many times faster the first of the order is than the slower.
    behind_first: Ratio,
}

struct Judge {
    family: Family,
    comparisons: usize,
}

fn fields<'a>(sample: &Sample<'a>, phase: &str, at_the_end: bool) -> Vec<Field<'a>> {
    let field = |level: Option<&'a Level>| {
        let cell = |variant: &&'a str| (*variant, sample.cell(phase, variant, level));
        let cells: Vec<_> =
            sample.variants().iter().map(cell).filter(|(_, cell)| !cell.is_empty()).collect();
        let all = cells.iter().flat_map(|(_, cell)| cell.iter());
        let windows = at_the_end && all.clone().all(|m| tellable(m));
        let operations = all.clone().map(|m| m.operations).max();
        let noun = all.clone().next().map(|m| CountedThing::by(m));
        let with_values = |(variant, cell): (&'a str, Vec<&'a Measurement>)| {
            let values = if windows { values_at_the_end(&cell) } else { values(&cell) };
            (variant, cell, values)
        };
        let cells: Vec<_> = cells.into_iter().map(with_values).collect();
        let runners = Runner::all(cells, sample.in_turns());
        let end = operations.zip(noun).filter(|_| windows);
        let (in_turns, left_out) = (sample.in_turns(), Vec::new());
        let field = Field { level, in_turns, runners, end, left_out, unwritten: false };
        (field.runners.len() > 1).then_some(field)
    };
    sample.levels(phase).into_iter().filter_map(field).collect()
}

fn values(cell: &[&Measurement]) -> Values {
    Values::of(cell, |m| log_rate(m, false))
}

/// The last tenth of the windows, by its middle latency.
fn values_at_the_end(cell: &[&Measurement]) -> Values {
    let last = |m: &Measurement| -> Vec<Window> {
        let number = (m.windows.len() / 10).max(5).min(m.windows.len());
        m.windows[m.windows.len() - number..].to_vec()
    };
    let mut values = Values::of(cell, |m| Some(-middle_ns(&last(m)).ln()));
    // A median's standard error is 1.2533 times a mean's.
    values.own_error = cell.first().filter(|_| values.all.len() == 1).map(|m| {
        let (windows, middle) = (last(m), middle_ns(&last(m)).ln());
        let off: Vec<f64> = windows.iter().map(|w| (w.p50_ns as f64).ln() - middle).collect();
        1.2533 * scale(&off) / (off.len() as f64).sqrt()
    });
    values
}

impl Judge {
    /// The variants from the fastest, and the steps between neighbours, over all these levels.
    fn order<'a>(&self, fields: &[Field<'a>]) -> Vec<Step<'a>> {
        let of = |variant: &str| -> Vec<&Runner<'a>> {
            let runner = |field: &'_ Field<'a>| -> Option<usize> {
                field.runners.iter().position(|r| r.variant == variant)
            };
            fields.iter().filter_map(|field| Some(&field.runners[runner(field)?])).collect()
        };
        let Some(first) = fields.first() else { return Vec::new() };
        let mean = |variant: &str| of(variant).iter().map(|r| r.rate.log).sum::<f64>();
        let mut names: Vec<&str> = first.runners.iter().map(|runner| runner.variant).collect();
        names.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let over_levels = if fields.len() > 1 { OverLevels::of(fields) } else { None };
        let ratio = |faster: &str, slower: &str| match (&over_levels, of(faster), of(slower)) {
            (Some(over), ..) => over.ratio(faster, slower, self.comparisons),
            (None, a, b) if a.len() == 1 && b.len() == 1 => {
                let (rates, values) = ([a[0].rate, b[0].rate], [&a[0].values, &b[0].values]);
                self.family.ratio_in_turns(rates, values, self.comparisons)
            }
            (None, a, b) => {
                let pairs: Vec<_> = a.into_iter().zip(b).map(|(a, b)| (a.rate, b.rate)).collect();
                self.family.ratio(&pairs, self.comparisons)
            }
        };
        let step = |pair: &[&'a str]| {
            let (faster, slower) = (pair[0], pair[1]);
            let behind_first = ratio(names[0], slower);
            Step { faster, slower, ratio: ratio(faster, slower), behind_first }
        };
        names.windows(2).map(step).collect()
    }

    /// Whether a level has the same order, but for those that tie.
    fn same(&self, order: &[Step<'_>], field: &Field<'_>) -> bool {
        groups(order) == groups(&self.order(std::slice::from_ref(field)))
    }

    fn finding(&self, phase: Option<&str>, fields: &[Field<'_>]) -> RankingFinding {
        let steps = self.order(fields);
        let levels: Vec<&Level> = fields.iter().filter_map(|field| field.level).collect();
        let end = fields.first().and_then(|field| field.end);
        let first = steps.first().map(|step| step.faster);
        let order = first.into_iter().chain(steps.iter().map(|step| step.slower));
        RankingFinding {
            phase: phase.map(String::from),
            order: order.map(String::from).collect(),
            steps: steps.iter().map(Step::finding).collect(),
            by: match (phase, end) {
                (None, _) => RankedBy::TimeOfAllPhases,
                (Some(_), Some(_)) => RankedBy::LatencyAtTheEnd,
                (Some(_), None) => RankedBy::Rate,
            },
            at: end.map(|(operations, _)| operations),
            counted: end.map(|(_, counted)| counted),
            axis: levels.first().map(|level| level.axis.clone()),
            unit: levels.first().map(|level| level.unit),
            levels: levels.iter().map(|level| level.value).collect(),
            left_out: each_once(fields.iter().flat_map(|field| field.left_out.iter().cloned())),
            caches: cache_differences(fields),
            unwritten: fields.iter().any(|field| field.unwritten),
        }
    }
}

impl Step<'_> {
    fn finding(&self) -> RankingStep {
        RankingStep {
            faster: self.faster.into(),
            slower: self.slower.into(),
            compared: self.ratio.into(),
            behind_first: self.behind_first.into(),
        }
    }
}

/// What was found of the caches, where that is not the same for all; else nothing.
fn cache_differences(fields: &[Field<'_>]) -> Vec<CacheDifference> {
    let of = |runner: &Runner<'_>| runner.caches.join(" and ");
    let all = || fields.iter().flat_map(|field| &field.runners);
    let states = each_once(all().map(of));
    if states.len() < 2 {
        return Vec::new();
    }
    let difference = |found: String| {
        let names = each_once(all().filter(|r| of(r) == found).map(|runner| runner.variant));
        CacheDifference { variants: names.into_iter().map(String::from).collect(), found }
    };
    states.into_iter().map(difference).collect()
}

/// The order with those that tie together, sorted by name.
fn groups<'a>(steps: &[Step<'a>]) -> Vec<Vec<&'a str>> {
    let mut groups: Vec<Vec<&str>> =
        steps.first().map(|step| vec![step.faster]).into_iter().collect();
    for step in steps {
        match groups.last_mut() {
            Some(last) if step.ratio.tie() => last.push(step.slower),
            _ => groups.push(vec![step.slower]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}
