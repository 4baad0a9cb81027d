//! Twins: two variants of a run that do the same under two names. Where findings tell them apart, a
//! claim is false; where one of them was slowed down, telling them apart is right.

use std::cmp::Ordering;

use super::finding::Finding;
use super::findings::crossover::{CrossoverFinding, LevelWinner};
use super::findings::curve::{ChangeShape, Law};
use super::findings::growth::{GrowthFinding, GrowthShape};
use super::findings::knee::KneeFinding;
use super::findings::ranking::RankingFinding;
use super::findings::scaling::{LevelTime, ScaledPhase, ScalingFinding};
use super::statistics::Interval;
use super::trials::Tally;
use crate::base::distinct::each_once;
use crate::base::named_enum::named_enum;
use crate::results::book::Level;

named_enum! {
    /// Kinds of finding that can tell twins apart. Sources, destinations and warnings state what was
    /// counted in a run, which may differ.
    pub enum ClaimKind {
        /// The order of the variants.
        Ranking = "ranking",
        /// Which of two variants is faster at which level.
        Crossover = "crossover",
        /// From which level on operations take longer.
        Knee = "knee",
        /// Up to which level operations take hardly longer.
        Scaling = "scaling",
        /// How much a rate changes with the level.
        Slope = "slope",
        /// How latency grows while a phase runs.
        Growth = "growth",
        /// Whether something below the kernel caches.
        LowerCache = "lower-cache",
    }
}

/// What the findings of one kind claimed in all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindClaims {
    /// The kind.
    pub kind: ClaimKind,
    /// Differences and changes that they state.
    pub claims: u64,
    /// Times that they told twins apart.
    pub false_claims: u64,
    /// Runs in which they did, of those with a finding of the kind.
    pub runs: Tally,
}

/// How often the rankings of a phase told a slowed twin from its original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDifference {
    /// The phase; none for the whole job.
    pub phase: Option<String>,
    /// Runs in which they did.
    pub runs: FoundRuns,
}

/// Runs in which rankings told a slowed twin from its original, at all levels or at some: levels of one
/// run are no runs of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundRuns {
    /// Those in which the twin was slower.
    pub slower: Tally,
    /// Those in which it was faster.
    pub faster: Tally,
}

impl FoundRuns {
    /// Counts a run by the orders that its rankings state of twins.
    fn count(&mut self, orders: &[Ordering]) {
        self.slower.count(orders.contains(&Ordering::Less));
        self.faster.count(orders.contains(&Ordering::Greater));
    }
}

/// Runs in which variants have twins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TwinTrials {
    /// Runs.
    pub runs: u64,
    /// Each kind of finding that the runs have.
    pub kinds: Vec<KindClaims>,
    /// The whole job and each phase that they rank.
    pub differences: Vec<FoundDifference>,
    /// All of these together: runs in which at least one of them told them apart.
    pub any_difference: FoundRuns,
    /// What told twins apart, in order.
    pub told_apart: Vec<ToldApart>,
}

/// Findings that tell twins apart: one that compares them, or one of each that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldApart {
    /// The run, counted from 1.
    pub run: u64,
    /// Their kind.
    pub kind: ClaimKind,
    /// What they say.
    pub sentences: Vec<String>,
}

impl TwinTrials {
    /// Counts a run by its findings. Of each pair the second is the twin.
    pub fn add(&mut self, findings: &[Finding], pairs: &[[String; 2]]) {
        self.runs += 1;
        for kind in ClaimKind::ALL {
            let of_kind: Vec<&Finding> =
                findings.iter().filter(|finding| kind_of(finding) == Some(kind)).collect();
            if !of_kind.is_empty() {
                let told: Vec<FalseClaims> =
                    pairs.iter().flat_map(|pair| false_claims(&of_kind, pair)).collect();
                let false_claims = told.iter().map(|one| one.claims).sum();
                self.count(kind, of_kind.iter().map(|finding| claims(finding)).sum(), false_claims);
                self.told_apart.extend(told.iter().map(|one| {
                    let sentences = one.by.iter().map(|finding| finding.sentence()).collect();
                    ToldApart { run: self.runs, kind, sentences }
                }));
            }
        }
        let rankings = || {
            findings.iter().filter_map(|finding| match finding {
                Finding::Ranking(found) => Some(found),
                _ => None,
            })
        };
        let mut all = Vec::new();
        for phase in each_once(rankings().map(|found| &found.phase)) {
            let of_phase = rankings().filter(|found| found.phase == *phase);
            let orders = of_phase.flat_map(|found| {
                pairs.iter().filter_map(|[one, twin]| pair_order(found, one, twin))
            });
            let orders: Vec<Ordering> = orders.collect();
            if !orders.is_empty() {
                self.of_phase(phase.as_deref()).count(&orders);
            }
            all.extend(orders);
        }
        self.any_difference.count(&all);
    }

    fn count(&mut self, kind: ClaimKind, claims: u64, false_claims: u64) {
        let at = self.kinds.iter().position(|of| of.kind == kind).unwrap_or_else(|| {
            let runs = Tally::default();
            self.kinds.push(KindClaims { kind, claims: 0, false_claims: 0, runs });
            self.kinds.len() - 1
        });
        let counted = &mut self.kinds[at];
        counted.claims += claims;
        counted.false_claims += false_claims;
        counted.runs.count(false_claims > 0);
    }

    fn of_phase(&mut self, phase: Option<&str>) -> &mut FoundRuns {
        let at = self.differences.iter().position(|of| of.phase.as_deref() == phase);
        let at = at.unwrap_or_else(|| {
            let phase = phase.map(String::from);
            self.differences.push(FoundDifference { phase, runs: FoundRuns::default() });
            self.differences.len() - 1
        });
        &mut self.differences[at].runs
    }

    /// The kinds that told twins apart in more than this share of runs, beyond chance. The intervals
    /// of all kinds hold together with 95% (Bonferroni).
    #[must_use]
    pub fn kinds_above(&self, share: f64) -> Vec<ClaimKind> {
        let alpha = 0.05 / self.kinds.len().max(1) as f64;
        let is_above = |of: &&KindClaims| {
            of.runs.interval_at(alpha).is_some_and(|interval| interval.low > share)
        };
        self.kinds.iter().filter(is_above).map(|of| of.kind).collect()
    }

    /// Whether the ranking of some phase found a slowed twin faster in more than this share of runs,
    /// beyond chance.
    #[must_use]
    pub fn is_wrong_way_above(&self, share: f64) -> bool {
        let alpha = 0.05 / self.differences.len().max(1) as f64;
        let interval = |of: &FoundDifference| of.runs.faster.interval_at(alpha);
        self.differences.iter().filter_map(interval).any(|interval| interval.low > share)
    }
}

fn kind_of(finding: &Finding) -> Option<ClaimKind> {
    match finding {
        Finding::Ranking(_) => Some(ClaimKind::Ranking),
        Finding::Crossover(_) => Some(ClaimKind::Crossover),
        Finding::Knee(_) => Some(ClaimKind::Knee),
        Finding::Scaling(_) => Some(ClaimKind::Scaling),
        Finding::Slope(_) => Some(ClaimKind::Slope),
        Finding::Growth(_) => Some(ClaimKind::Growth),
        Finding::LowerCache(_) => Some(ClaimKind::LowerCache),
        _ => None,
    }
}

/// How many differences between variants, or changes of one, a finding states.
fn claims(finding: &Finding) -> u64 {
    match finding {
        Finding::Ranking(found) => {
            found.steps.iter().filter(|step| !step.compared.tie).count() as u64
        }
        Finding::Crossover(found) => winners(found),
        Finding::Knee(found) => u64::from(found.at.or(found.gradual_ratio).is_some()),
        Finding::Scaling(found) => {
            found.phases.iter().filter(|phase| phase.longer_from.is_some()).count() as u64
        }
        Finding::Slope(found) => u64::from(found.effect),
        Finding::Growth(found) => u64::from(is_stated(found) && !is_constant(found)),
        Finding::LowerCache(found) => {
            u64::from(found.interval.is_some_and(|interval| !interval.contains(1.0)))
        }
        _ => 0,
    }
}

/// What tells twins apart.
struct FalseClaims<'a> {
    claims: u64,
    by: Vec<&'a Finding>,
}

/// The findings of one kind that tell twins apart.
///
/// - A ranking: where it compares them, if they do not tie; where it compares both with the first
///   only, if the intervals of these ratios have nothing in common.
/// - A crossover between them: each level that one of them wins.
/// - Any other two findings that differ only in the twin: if they contradict each other.
fn false_claims<'a>(findings: &[&'a Finding], [one, twin]: &[String; 2]) -> Vec<FalseClaims<'a>> {
    let between = findings.iter().filter_map(|finding| {
        let claims = match finding {
            Finding::Ranking(found) => u64::from(ranking_tells_apart(found, one, twin)),
            Finding::Crossover(found)
                if [one, twin].iter().all(|name| found.variants.contains(name)) =>
            {
                winners(found)
            }
            _ => 0,
        };
        (claims > 0).then(|| FalseClaims { claims, by: vec![*finding] })
    });
    let of_variant = |name: &str| -> Vec<(ClaimSubject<'a>, &'a Finding)> {
        let all =
            findings.iter().filter_map(|finding| Some((ClaimSubject::of(finding)?, *finding)));
        all.filter(|(subject, _)| subject.variant == name).collect()
    };
    let twins = of_variant(twin);
    let of_both = of_variant(one).into_iter().filter_map(|(subject, finding)| {
        let is_same =
            |other: &ClaimSubject<'_>| *other == ClaimSubject { variant: twin, ..subject };
        let (_, of_twin) =
            twins.iter().find(|(other, of_twin)| is_same(other) && contradict(finding, of_twin))?;
        Some(FalseClaims { claims: 1, by: vec![finding, of_twin] })
    });
    between.chain(of_both).collect()
}

/// What a finding about one variant is about.
#[derive(Clone, Copy, PartialEq)]
struct ClaimSubject<'a> {
    variant: &'a str,
    phase: &'a str,
    level: Option<&'a Level>,
}

impl<'a> ClaimSubject<'a> {
    /// None if it is about several variants, or all. A crossover is about its second one, which it
    /// compares with the first of the job.
    fn of(finding: &'a Finding) -> Option<Self> {
        let subject = |variant, phase| Self { variant, phase, level: None };
        Some(match finding {
            Finding::Crossover(found) => subject(&found.variants[1], &found.phase),
            Finding::Knee(found) => subject(found.variant.as_ref()?, found.phase.as_ref()?),
            Finding::Scaling(found) => subject(&found.variant, ""),
            Finding::Slope(found) => subject(&found.variant, &found.phase),
            Finding::Growth(found) => {
                Self { level: found.level.as_ref(), ..subject(&found.variant, &found.phase) }
            }
            Finding::LowerCache(found) => {
                Self { level: found.level.as_ref(), ..subject(&found.variant, &found.phase) }
            }
            _ => return None,
        })
    }
}

/// Whether what is stated of one twin excludes what is stated of the other.
///
/// - Knees: both have one, and the intervals of its place or of its factor have nothing in common; or
///   one has one, and the other would have found a smaller one; or both change gradually, and the
///   intervals have nothing in common; or one takes longer, by a step or gradually, than the other
///   does at most.
/// - Scalings: of some phase one is slower from a level on up to which the other is not; or one takes
///   longer at a level, and the intervals there have nothing in common.
/// - Slopes: one has an effect, and the intervals have nothing in common.
/// - Growths: both are clear, and the intervals of the ratio have nothing in common; or both follow a
///   law that is not constant, and those of its exponent have nothing in common.
/// - Crossovers with the same variant: at some level the intervals have nothing in common.
/// - Caches below the kernel: the intervals have nothing in common.
fn contradict(a: &Finding, b: &Finding) -> bool {
    match (a, b) {
        (Finding::Knee(a), Finding::Knee(b)) => knees_contradict(a, b),
        (Finding::Scaling(a), Finding::Scaling(b)) => {
            scaling_excludes(a, b) || scaling_excludes(b, a)
        }
        (Finding::Slope(a), Finding::Slope(b)) => {
            (a.effect || b.effect) && are_apart(Some(a.interval), Some(b.interval))
        }
        (Finding::Growth(a), Finding::Growth(b)) => growths_contradict(a, b),
        (Finding::Crossover(a), Finding::Crossover(b)) => {
            let at_level = |level: &LevelWinner| {
                b.levels.iter().any(|other| {
                    other.value == level.value && are_apart(level.interval, other.interval)
                })
            };
            a.variants[0] == b.variants[0] && a.levels.iter().any(at_level)
        }
        (Finding::LowerCache(a), Finding::LowerCache(b)) => are_apart(a.interval, b.interval),
        _ => false,
    }
}

fn knees_contradict(a: &KneeFinding, b: &KneeFinding) -> bool {
    let excludes = |found: &KneeFinding, none: &KneeFinding| {
        let largest_missed = none.smallest_detectable.filter(|_| none.at.is_none());
        found.factor.zip(largest_missed).is_some_and(|(factor, missed)| factor > 1.0 + missed)
    };
    // What a hinge comes to at the last level is no mean of levels.
    let longer = |found: &KneeFinding| {
        let step = found.factor_interval.filter(|_| found.shape == Some(ChangeShape::Step));
        step.or(found.gradual_interval)
    };
    let exceeds = |found: &KneeFinding, none: &KneeFinding| {
        let most = none.slower_at_most.filter(|_| none.is_bounded());
        longer(found).zip(most).is_some_and(|(interval, most)| interval.low > 1.0 + most)
    };
    are_apart(a.interval, b.interval)
        || are_apart(a.factor_interval, b.factor_interval)
        || are_apart(a.gradual_interval, b.gradual_interval)
        || [(a, b), (b, a)].into_iter().any(|(a, b)| excludes(a, b) || exceeds(a, b))
}

fn scaling_excludes(slower: &ScalingFinding, within: &ScalingFinding) -> bool {
    let is_apart = |longer: &LevelTime, other: &ScaledPhase| {
        let mut same = other.levels.iter().filter(|level| level.value == longer.value);
        same.any(|level| are_apart(longer.interval, level.interval))
    };
    let excludes = |phase: &ScaledPhase, other: &ScaledPhase| {
        let levels = phase.slower_from.zip(other.up_to);
        let from = phase.longer_from.unwrap_or(f64::INFINITY);
        let mut longer = phase.levels.iter().filter(|level| level.value >= from);
        phase.phase == other.phase
            && (levels.is_some_and(|(from, up_to)| from <= up_to)
                || longer.any(|level| is_apart(level, other)))
    };
    let of_phase = |phase| within.phases.iter().any(|other| excludes(phase, other));
    slower.phases.iter().any(of_phase)
}

fn growths_contradict(a: &GrowthFinding, b: &GrowthFinding) -> bool {
    if !is_stated(a) || !is_stated(b) {
        return false;
    }
    let ratio = |found: &GrowthFinding| found.figures.as_ref().map(|figures| figures.interval);
    let exponent = |found: &GrowthFinding| {
        let figures = found.figures.as_ref().filter(|_| found.shape == GrowthShape::Law)?;
        figures.exponent_interval
    };
    are_apart(ratio(a), ratio(b)) || are_apart(exponent(a), exponent(b))
}

/// Whether a growth says how the latency changes.
fn is_stated(found: &GrowthFinding) -> bool {
    found.figures.is_some() && found.shape != GrowthShape::Unclear
}

fn is_constant(found: &GrowthFinding) -> bool {
    let law = found.figures.as_ref().map(|figures| figures.law);
    found.shape == GrowthShape::Law && law == Some(Law::Constant)
}

/// The order of a twin and its original: less if the original stands before a twin that is told from it,
/// equal if they are not told apart. None if one of them is not ranked.
fn pair_order(ranking: &RankingFinding, one: &str, twin: &str) -> Option<Ordering> {
    let place = |name: &str| ranking.order.iter().position(|other| other == name);
    let order = place(one)?.cmp(&place(twin)?);
    Some(if ranking_tells_apart(ranking, one, twin) { order } else { Ordering::Equal })
}

fn ranking_tells_apart(ranking: &RankingFinding, one: &str, twin: &str) -> bool {
    let behind = |name: &str| ranking.steps.iter().find(|step| step.slower == name);
    let is_between = |faster: &str, slower: &str| {
        let step = behind(slower)?;
        if step.faster == faster {
            return Some(!step.compared.tie);
        }
        let is_first = ranking.order.first().is_some_and(|first| first == faster);
        is_first.then_some(!step.behind_first.tie)
    };
    is_between(one, twin).or_else(|| is_between(twin, one)).unwrap_or_else(|| {
        let to_first = |name| behind(name).and_then(|step| step.behind_first.interval);
        are_apart(to_first(one), to_first(twin))
    })
}

/// Levels that one of both variants wins.
fn winners(found: &CrossoverFinding) -> u64 {
    found.levels.iter().filter(|level| level.winner.is_some()).count() as u64
}

/// Whether both are known and have no value in common.
fn are_apart(a: Option<Interval>, b: Option<Interval>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.high < b.low || b.high < a.low)
}
