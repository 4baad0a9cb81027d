//! Twins: two variants of a run that do the same under two names. Where findings tell them apart, a claim is false.

use super::effects::decide::Decision;
use super::finding::Finding;
use super::statistics::Interval;
use super::trials::Tally;
use boatload_base::distinct::{counter, each_once};
use boatload_results::book::Level;

/// A kind of finding that can tell twins apart: a reading, the whole job, or caches below the kernel. Sources, destinations and
/// warnings state what was counted in a run, which may differ.
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

/// Runs in which variants have twins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TwinTrials {
    /// Runs.
    pub runs: u64,
    /// Each kind of finding that the runs have.
    pub kinds: Vec<KindClaims>,
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
}

/// What a finding claims in a headline about one variant, or about two.
struct Claim<'a> {
    finding: &'a Finding,
    kind: ClaimKind,
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

    /// Whether it is an effect between a variant and its twin that claims a difference.
    fn is_between(&self, [one, twin]: &[String; 2]) -> bool {
        let sides = [self.to, self.from];
        let are_twins = [one, twin].iter().all(|name| sides.contains(&Some(name.as_str())));
        are_twins && self.decision.is_difference()
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
    let between = all.iter().filter(|claim| claim.is_between(pair));
    let mut told: Vec<_> = between.map(|claim| vec![*claim]).collect();
    for one in all {
        let twin = all.iter().find(|twin| one.contradicts(twin, pair));
        told.extend(twin.map(|twin| vec![*one, *twin]));
    }
    told
}
