//! Twins: two variants of a run that do the same under two names. Where findings tell them apart, a
//! claim is false; where one of them was slowed down, telling them apart is right.

use std::cmp::Ordering;

use super::effect::Reading;
use super::effects::decide::Decision;
use super::finding::Finding;
use super::statistics::Interval;
use super::trials::Tally;
use crate::base::distinct::{counter, each_once};
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
        let all: Vec<Claim<'_>> = findings.iter().filter_map(Claim::of).collect();
        for kind in each_once(all.iter().map(|claim| claim.kind)) {
            let own: Vec<&Claim<'_>> = all.iter().filter(|claim| claim.kind == kind).collect();
            self.count_kind(kind, &own, pairs);
        }
        let rankings = || all.iter().filter(|claim| claim.is_ranking);
        let mut of_all = Vec::new();
        for phase in each_once(rankings().map(|claim| claim.phase)) {
            let of_phase = rankings().filter(|claim| claim.phase == phase);
            let orders =
                of_phase.flat_map(|claim| pairs.iter().filter_map(|pair| claim.order(pair)));
            let orders: Vec<Ordering> = orders.collect();
            if !orders.is_empty() {
                let (phase, runs) = (phase.map(String::from), FoundRuns::default());
                let is_it = |one: &FoundDifference| one.phase == phase;
                let new = || FoundDifference { phase: phase.clone(), runs };
                counter(&mut self.differences, is_it, new).runs.count(&orders);
            }
            of_all.extend(orders);
        }
        self.any_difference.count(&of_all);
    }

    fn count_kind(&mut self, kind: ClaimKind, own: &[&Claim<'_>], pairs: &[[String; 2]]) {
        let told = pairs.iter().flat_map(|pair| false_claims(own, pair)).collect::<Vec<_>>();
        let new = || KindClaims { kind, claims: 0, false_claims: 0, runs: Tally::default() };
        let counted = counter(&mut self.kinds, |one| one.kind == kind, new);
        counted.claims += own.iter().filter(|claim| claim.decision.is_difference()).count() as u64;
        counted.false_claims += told.len() as u64;
        counted.runs.count(!told.is_empty());
        for claims in told {
            let sentences = claims.iter().map(|claim| claim.finding.sentence()).collect();
            self.told_apart.push(ToldApart { run: self.runs, kind, sentences });
        }
    }

    /// The kinds that told twins apart in more than this share of runs, beyond chance. The intervals
    /// of all kinds hold together with 95% (Bonferroni).
    #[must_use]
    pub fn kinds_above(&self, share: f64) -> Vec<ClaimKind> {
        let alpha = 0.05 / self.kinds.len().max(1) as f64;
        let above = self.kinds.iter().filter(|of| of.runs.is_above(share, alpha));
        above.map(|of| of.kind).collect()
    }

    /// Whether the ranking of some phase found a slowed twin faster in more than this share of runs,
    /// beyond chance.
    #[must_use]
    pub fn is_wrong_way_above(&self, share: f64) -> bool {
        let alpha = 0.05 / self.differences.len().max(1) as f64;
        self.differences.iter().any(|of| of.runs.faster.is_above(share, alpha))
    }
}

/// What a finding claims in a headline about one variant, or about two.
struct Claim<'a> {
    finding: &'a Finding,
    kind: ClaimKind,
    is_ranking: bool,
    /// What is compared, and with what it is compared: the same where one variant changes.
    to: Option<&'a str>,
    from: Option<&'a str>,
    phase: Option<&'a str>,
    level: Option<&'a Level>,
    decision: Decision,
    interval: Option<Interval>,
}

impl<'a> Claim<'a> {
    fn of(finding: &'a Finding) -> Option<Self> {
        match finding {
            Finding::Effect(effect) => {
                let [to, from] = [&effect.to, &effect.from].map(|cell| cell.variant.as_deref());
                let is_job = effect.phase.is_none() && to != from;
                Some(Self {
                    finding,
                    kind: if is_job { "whole-job" } else { effect.reading.as_str() },
                    is_ranking: effect.reading == Reading::Ranking,
                    to,
                    from,
                    phase: effect.phase.as_deref(),
                    level: effect.to.level.as_ref(),
                    decision: effect.headline.decision,
                    interval: effect.headline.interval,
                })
            }
            Finding::LowerCache(found) => {
                let is_cache = found.interval.is_some_and(|one| !one.contains(1.0));
                Some(Self {
                    finding,
                    kind: "lower-cache",
                    is_ranking: false,
                    to: Some(&found.variant),
                    from: Some(&found.variant),
                    phase: Some(&found.phase),
                    level: found.level.as_ref(),
                    decision: if is_cache { Decision::Shorter } else { Decision::Open },
                    interval: found.interval,
                })
            }
            _ => None,
        }
    }

    /// The order of a twin and its original in an effect between them: less if the original is claimed to take less time, equal
    /// where nothing is claimed. `None` of another effect.
    fn order(&self, [one, twin]: &[String; 2]) -> Option<Ordering> {
        let order = match self.decision {
            Decision::Longer => Ordering::Greater,
            Decision::Shorter => Ordering::Less,
            Decision::Within | Decision::Open => Ordering::Equal,
        };
        match (self.to? == one && self.from? == twin, self.to? == twin && self.from? == one) {
            (true, _) => Some(order),
            (_, true) => Some(order.reverse()),
            _ => None,
        }
    }

    /// Whether one is about a variant alone, the other about its twin alone, and what is stated of one excludes what is stated
    /// of the other: one of them changes, or both are caches, and the intervals have nothing in common.
    fn contradicts(&self, of_twin: &Self, [one, twin]: &[String; 2]) -> bool {
        let is_about = |claim: &Self, name: &str| [claim.to, claim.from] == [Some(name); 2];
        let is_same = (self.phase, self.level) == (of_twin.phase, of_twin.level);
        let changes = self.decision.is_difference() || of_twin.decision.is_difference();
        let are_apart = |(a, b): (Interval, Interval)| a.high < b.low || b.high < a.low;
        is_about(self, one)
            && is_about(of_twin, twin)
            && is_same
            && changes
            && self.interval.zip(of_twin.interval).is_some_and(are_apart)
    }
}

/// The claims of one kind that tell twins apart: one between them, or two that contradict each other.
fn false_claims<'a, 'b>(all: &[&'b Claim<'a>], pair: &[String; 2]) -> Vec<Vec<&'b Claim<'a>>> {
    let is_between =
        |claim: &&&Claim<'_>| claim.order(pair).is_some_and(|order| order != Ordering::Equal);
    let mut told: Vec<_> = all.iter().filter(is_between).map(|claim| vec![*claim]).collect();
    for one in all {
        let twin = all.iter().find(|twin| one.contradicts(twin, pair));
        told.extend(twin.map(|twin| vec![*one, *twin]));
    }
    told
}
