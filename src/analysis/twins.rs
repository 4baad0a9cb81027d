//! Twins: two variants of a run that do the same under two names. Where findings tell them apart, a
//! claim is false; where one of them was slowed down, telling them apart is right.

use std::cmp::Ordering;

use super::effect::{EffectFinding, Reading};
use super::effects::decide::Decision;
use super::finding::Finding;
use super::statistics::Interval;
use super::trials::Tally;
use crate::base::distinct::each_once;
use crate::results::book::Level;

/// A kind of finding that can tell twins apart: a reading, the whole job, or caches below the kernel. Sources, destinations and
/// warnings state what was counted in a run, which may differ.
#[expect(unreachable_pub, reason = "the command names it")]
pub type ClaimKind = &'static str;

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
        for kind in each_once(findings.iter().filter_map(kind_of)) {
            let of_kind: Vec<&Finding> =
                findings.iter().filter(|finding| kind_of(finding) == Some(kind)).collect();
            {
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
        let rankings = || effects(findings).filter(|effect| effect.reading == Reading::Ranking);
        let mut all = Vec::new();
        for phase in each_once(rankings().map(|found| &found.phase)) {
            let of_phase = rankings().filter(|found| found.phase == *phase);
            let orders =
                of_phase.flat_map(|found| pairs.iter().filter_map(|pair| pair_order(found, pair)));
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

fn effects(findings: &[Finding]) -> impl Iterator<Item = &EffectFinding> {
    findings.iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(&**effect),
        _ => None,
    })
}

fn kind_of(finding: &Finding) -> Option<ClaimKind> {
    match finding {
        Finding::Effect(effect) if effect.phase.is_none() && is_between_variants(effect) => {
            Some("whole-job")
        }
        Finding::Effect(effect) => Some(effect.reading.as_str()),
        Finding::LowerCache(_) => Some("lower-cache"),
        _ => None,
    }
}

fn is_between_variants(effect: &EffectFinding) -> bool {
    effect.from.variant != effect.to.variant
}

/// How many differences between variants, or changes of one, a finding claims in a headline.
fn claims(finding: &Finding) -> u64 {
    u64::from(match finding {
        Finding::Effect(effect) => effect.headline.decision.is_difference(),
        Finding::LowerCache(found) => found.interval.is_some_and(|one| !one.contains(1.0)),
        _ => false,
    })
}

/// What tells twins apart.
struct FalseClaims<'a> {
    claims: u64,
    by: Vec<&'a Finding>,
}

/// The findings of one kind that tell twins apart: an effect between them that is claimed, or two findings that differ only in
/// the twin and contradict each other.
fn false_claims<'a>(findings: &[&'a Finding], pair: &[String; 2]) -> Vec<FalseClaims<'a>> {
    let between = findings.iter().filter_map(|finding| {
        let Finding::Effect(effect) = finding else { return None };
        let order = pair_order(effect, pair).filter(|order| *order != Ordering::Equal);
        order.map(|_| FalseClaims { claims: 1, by: vec![*finding] })
    });
    let [one, twin] = pair;
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
    /// `None` when it is about several variants, or all.
    fn of(finding: &'a Finding) -> Option<Self> {
        match finding {
            Finding::Effect(effect) if effect.to.variant == effect.from.variant => Some(Self {
                variant: effect.to.variant.as_deref()?,
                phase: effect.phase.as_deref()?,
                level: effect.to.level.as_ref(),
            }),
            Finding::LowerCache(found) => Some(Self {
                variant: &found.variant,
                phase: &found.phase,
                level: found.level.as_ref(),
            }),
            _ => None,
        }
    }
}

/// Whether what is stated of one twin excludes what is stated of the other: one of them changes, or both are caches, and the
/// intervals have nothing in common.
fn contradict(a: &Finding, b: &Finding) -> bool {
    match (a, b) {
        (Finding::Effect(a), Finding::Effect(b)) => {
            let [one, other] = [a, b].map(|effect| effect.headline);
            let changes = one.decision.is_difference() || other.decision.is_difference();
            changes && are_apart(one.interval, other.interval)
        }
        (Finding::LowerCache(a), Finding::LowerCache(b)) => are_apart(a.interval, b.interval),
        _ => false,
    }
}

/// The order of a twin and its original in an effect between them: less if the original is claimed to take less time, equal
/// where nothing is claimed. None of another effect.
fn pair_order(effect: &EffectFinding, [one, twin]: &[String; 2]) -> Option<Ordering> {
    let (to, from) = (effect.to.variant.as_ref()?, effect.from.variant.as_ref()?);
    let order = match effect.headline.decision {
        Decision::Longer => Ordering::Greater,
        Decision::Shorter => Ordering::Less,
        Decision::Within | Decision::Open => Ordering::Equal,
    };
    match (to == one && from == twin, to == twin && from == one) {
        (true, _) => Some(order),
        (_, true) => Some(order.reverse()),
        _ => None,
    }
}

/// Whether both are known and have no value in common.
fn are_apart(a: Option<Interval>, b: Option<Interval>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.high < b.low || b.high < a.low)
}
