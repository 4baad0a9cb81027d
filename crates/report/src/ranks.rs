//! Makes the table of the ranks of a run: what each phase lost by waiting for the last.

use super::names::cell_name;
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::{known, number};
use boatload_analysis::Analysis;
use boatload_analysis::ranks::RankRates;
use boatload_base::units::{duration, percent_text};
use boatload_plan::DEFAULT_VARIANT;

/// Significant figures of a rate.
const FIGURES: u32 = 3;

type RankColumn = TableColumn<RankRates>;

const COLUMNS: [RankColumn; 5] = [
    RankColumn::numbers("ops/s", |one| number(one.rate, FIGURES)),
    RankColumn::numbers("stonewall", |one| known(one.stonewall_rate, |rate| number(rate, FIGURES))),
    RankColumn::numbers("stragglers", |one| known(one.straggler_share, percent_text)),
    RankColumn::numbers("slowest", |one| {
        known(one.slowest(), |(rank, ratio)| format!("rank {rank}: {}", percent_text(ratio)))
    }),
    RankColumn::numbers("clock error", |one| duration(one.clock_error_seconds * 1e9)),
];

/// What they show.
const ABOUT_RANKS: &str = "ranks together; ops/s is all work over the time until the last rank ended, without the sync; stonewall is the \
     rate until the first ended, an estimate as if each rank had continued evenly; stragglers is the time from the end of the \
     rank in the middle to the last end, as a share; slowest is its rate over the rate of the rank in the middle";

/// The table; none for a run of one process.
pub(super) fn rank_table(analysis: &Analysis<'_>) -> Option<TitledTable> {
    let all = analysis.rank_rates();
    let names = all.iter().map(title);
    let mut table = Table::of_names("phase", Align::Left, names);
    for column in &COLUMNS {
        table.column(column.head, all.iter().map(column.cell));
    }
    table.has_rows().then_some(TitledTable { title: ABOUT_RANKS.into(), table })
}

fn title(one: &RankRates) -> String {
    match (one.variant.as_str(), &one.level) {
        (DEFAULT_VARIANT, None) => one.phase.clone(),
        (variant, level) => format!("{} of {}", one.phase, cell_name(variant, level.as_ref())),
    }
}
