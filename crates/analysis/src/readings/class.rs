//! In which class of a trace operations take longest: in which directory.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{Reading, RunView};
use crate::answer::Verdict;
use crate::findings::say;
use crate::findings::slow_class::{SlowClassFinding, slow_classes};
use crate::statement::{Part, Sentence, Statement, parts};

/// The reading.
#[derive(Debug)]
pub(super) struct Class;

impl Reading for Class {
    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        run.book.run.traced.as_ref()?.by?;
        let mut all = slow_classes(run.book);
        all.sort_by(|a, b| b.excess_ns().total_cmp(&a.excess_ns()));
        Some(answer(&all))
    }
}

/// From what was found of all phases, those with the most time to save first.
fn answer(all: &[SlowClassFinding]) -> AnswerDraft {
    if let Some(most) = all.iter().find(|one| one.is_slower()) {
        let times = parts![Part::Figure(say::times(most.ratio)), " times as long"];
        let interval = parts![" (", Part::Interval(say::span(most.interval)), ")"];
        let takes = parts![Part::Phase(most.phase.clone()), " takes ", times, " ", most.place()];
        let first = Sentence::new(parts![takes, " as ", most.reference(), interval]);
        let statement = Statement::new(first).and(others(all, &most.phase));
        return AnswerDraft::measured(statement, Lack::Nothing);
    }
    let widest = all.iter().max_by(|a, b| a.interval.high.total_cmp(&b.interval.high));
    let Some(widest) = widest else {
        let text = "no two directories have 256 successful calls of one operation each";
        return AnswerDraft::open(Lack::Design, Statement::new(Sentence::new(parts![text])));
    };
    let high = parts![Part::Figure(say::times(widest.interval.high)), " times as long"];
    let phase = Part::Phase(widest.phase.clone());
    if all.iter().all(SlowClassFinding::is_alike) {
        let where_longest =
            parts!["where an operation takes longest on average, it takes at most "];
        let than = parts![" as in the median of the directories compared"];
        let first = Sentence::new(parts![where_longest, high, than]);
        return AnswerDraft::proven(Verdict::No, Statement::new(first).and(others(all, "")));
    }
    let may = parts![phase, " may take up to ", high, " ", widest.place()];
    let first = Sentence::new(parts![may, " as ", widest.reference()]);
    AnswerDraft::open(Lack::Precision, Statement::new(first).and(others(all, &widest.phase)))
}

fn others(all: &[SlowClassFinding], but: &str) -> Vec<Sentence> {
    let others = all.iter().filter(|one| one.phase != but);
    others.map(|one| Sentence::ranked(2, parts![one.sentence()])).collect()
}
