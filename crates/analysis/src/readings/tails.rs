//! Whether the slowest operations take longer on one variant than on another: the latency that 99 in 100 stay below (p99).

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{ChartFamily, Picture, Reading, RunView};
use super::table::{AnswerCell, AnswerNote, AnswerRow, AnswerTable};
use crate::answer::Verdict;
use crate::effect_finding::{ComparedRatio, EffectFinding};
use crate::effects::decide::Decision;
use crate::findings::say;
use crate::observations::{Observations, log_by_repeat};
use crate::run_effects::between_variants;
use crate::statement::{Part, Sentence, Statement, parts, text_of};
use crate::tails::Quantile;
use boatload_base::distinct::each_once;
use boatload_plan::Conclusion;
use boatload_results::book::{Level, Measurement};

/// The reading.
#[derive(Debug)]
pub(super) struct Tails;

impl Reading for Tails {
    fn effects(&self, all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
        let log = |m: &Measurement| Quantile::P99.of(m).map(|ns| (ns as f64 / 1e9).ln());
        let mut tables = all.tables();
        for table in &mut tables {
            for row in &mut table.rows {
                let cell = all.cell(table.phase.unwrap_or_default(), row.variant, table.level);
                row.times = log_by_repeat(&cell, log);
            }
        }
        let mut effects = between_variants(Conclusion::Tails, &tables, alpha);
        effects.iter_mut().for_each(|one| one.text = text_of(&about(one, one.stated())));
        effects
    }

    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let all = run.effects_of(Conclusion::Tails);
        let mut pairs: Vec<&EffectFinding> = all.iter().map(|one| one.effect).collect();
        pairs.sort_by(|a, b| b.size().total_cmp(&a.size()));
        let first = pairs.first()?;
        let proven: Vec<&&EffectFinding> =
            pairs.iter().filter(|one| one.headline.decision.is_difference()).collect();
        let high = |one: &EffectFinding| seen(one.headline()).interval.map_or(0.0, |i| i.high);
        let sentence = |one: &EffectFinding| Sentence::new(about(one, one.headline()));
        let draft = match proven.as_slice() {
            [most, others @ ..] => {
                let others = others.iter().take(2).map(|one| sentence(one).demoted(1));
                AnswerDraft::proven(Verdict::Yes, Statement::new(sentence(most)).and(others))
            }
            [] if pairs.iter().all(|one| one.headline.decision == Decision::Within) => {
                let text = parts!["no p99 is more than 10% longer on one variant than on another"];
                AnswerDraft::proven(Verdict::No, Statement::new(Sentence::new(text)))
            }
            [] if pairs.iter().all(|one| one.headline.interval.is_none()) => {
                AnswerDraft::open(Lack::Repeats, Statement::new(sentence(first)))
            }
            [] => {
                let widest = pairs.iter().max_by(|a, b| high(a).total_cmp(&high(b)))?;
                let excluded = parts!["; ", seen(widest.headline()).not_excluded()];
                let statement = Statement::new(sentence(widest).with(1, excluded));
                AnswerDraft::open(Lack::Precision, statement)
            }
        };
        Some(draft.made_of(all.iter().map(|one| one.place).collect()))
    }

    /// A row for each phase at each level: the p99 of each variant, and the largest ratio.
    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        let all = run.effects_of(Conclusion::Tails);
        let pairs: Vec<&EffectFinding> = all.iter().map(|one| one.effect).collect();
        let rows = each_once(pairs.iter().map(|one| place_of(one)));
        let mut table = AnswerTable { corner: "p99".into(), ..AnswerTable::default() };
        for (phase, level) in &rows {
            let phase = Part::Phase(phase.clone()?);
            let name = text_of(&parts![phase.clone(), say::behind_at(level.as_ref())]);
            table.rows.push(AnswerRow { name, about: vec![phase] });
        }
        let own = |row: &PhasePlace| -> Vec<&EffectFinding> {
            pairs.iter().copied().filter(|one| place_of(one) == *row).collect()
        };
        for variant in run.summary.variants() {
            let ns = |row: &PhasePlace| {
                let mut cells = own(row).into_iter().flat_map(|one| [&one.from, &one.to]);
                cells.find(|cell| cell.variant.as_deref() == Some(variant)).and_then(|cell| cell.ns)
            };
            table.add(
                variant,
                rows.iter().map(|row| ns(row).map_or(AnswerCell::Missing, AnswerCell::Time)),
            );
        }
        let most =
            |row: &PhasePlace| own(row).into_iter().max_by(|a, b| a.size().total_cmp(&b.size()));
        let most: Vec<Option<ComparedRatio>> =
            rows.iter().map(|row| most(row).map(|one| seen(one.headline()))).collect();
        table.notes.push(AnswerNote::new("99 of 100 operations take at most this time"));
        table.add_ratios(&most);
        Some(table)
    }

    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        Some(Picture::new(ChartFamily::Percentiles))
    }
}

/// A phase at a level.
type PhasePlace = (Option<String>, Option<Level>);

fn place_of(one: &EffectFinding) -> PhasePlace {
    (one.phase.clone(), one.to.level.clone())
}

/// From the side on which it takes longer.
fn seen(one: ComparedRatio) -> ComparedRatio {
    if one.ratio < 1.0 { one.reversed() } else { one }
}

/// `p99 of rewrite: 3.20 times as long on btrfs as on ext4 (2.1 to 4.8)`
fn about(one: &EffectFinding, stated: ComparedRatio) -> Vec<Part> {
    let [mut slow, mut fast] =
        [&one.to, &one.from].map(|cell| Part::Variant(cell.variant.clone().unwrap_or_default()));
    if stated.ratio < 1.0 {
        std::mem::swap(&mut slow, &mut fast);
    }
    let phase = Part::Phase(one.phase.clone().unwrap_or_default());
    let place = parts![phase, say::behind_at(one.to.level.as_ref()), ": "];
    parts!["p99 of ", place, seen(stated).as_long(parts![" on ", slow, " as on ", fast])]
}
