//! Decides whether a run that repeats until its answer is decided can end.

use super::effect::{EffectFinding, Reading};
use super::effects::decide::Decision;
use super::figures::{RunFigures, conclude};
use super::finding::Finding;
use crate::plan::Conclusion;
use crate::results::book::Book;

/// A rate that is known to within this share is precise enough where nothing is compared.
const RATE_WITHIN: f64 = 0.10;

/// Whether what was measured decides the first of the questions that a job asks, if each family of claims may have a false one
/// with a chance of `alpha`, from 0 to 1.
pub fn is_decided(book: &Book, alpha: f64) -> bool {
    let Some(first) = book.run.conclude.first().filter(|kind| **kind != Conclusion::Source) else {
        return are_rates_known(book);
    };
    let findings = conclude(book, &[*first], alpha);
    let effects = findings.iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(&**effect),
        _ => None,
    });
    let asked = asked(*first, effects.collect());
    !asked.is_empty() && asked.iter().all(|one| one.headline.decision != Decision::Open)
}

/// The effects that must be decided: all pairs of the whole job, or of the only phase; all phases together, and the one that
/// changes most; each growth; all pairs at both end levels.
fn asked(kind: Conclusion, all: Vec<&EffectFinding>) -> Vec<&EffectFinding> {
    let with = |is: &dyn Fn(&EffectFinding) -> bool| -> Vec<&EffectFinding> {
        all.iter().copied().filter(|one| is(one)).collect()
    };
    match kind {
        Conclusion::Ranking => {
            let jobs = with(&|one| one.phase.is_none());
            if jobs.is_empty() { all } else { jobs }
        }
        Conclusion::Levels => {
            let size = |one: &&EffectFinding| one.ratio.ln().abs();
            let phases = with(&|one| one.phase.is_some());
            let most = phases.into_iter().max_by(|a, b| size(a).total_cmp(&size(b)));
            let mut asked = with(&|one| one.phase.is_none() && one.reading == Reading::Levels);
            asked.extend(most);
            asked
        }
        Conclusion::Crossing => {
            let value = |one: &EffectFinding| one.to.level.as_ref().map(|level| level.value);
            let values = || all.iter().filter_map(|one| value(one));
            let ends = [values().fold(f64::INFINITY, f64::min), values().fold(f64::MIN, f64::max)];
            with(&|one| value(one).is_some_and(|value| ends.contains(&value)))
        }
        Conclusion::Growth | Conclusion::Source => all,
    }
}

fn are_rates_known(book: &Book) -> bool {
    let analysis = RunFigures::of(book);
    let mut rates = analysis.summary().rows().filter_map(|row| row.rate).peekable();
    let is_known = rates.peek().is_some();
    is_known && rates.all(|rate| rate.relative().is_some_and(|share| share <= RATE_WITHIN))
}
