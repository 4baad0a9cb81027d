//! Makes the tables of the ranks of a run: what each phase lost by waiting for the last, and the rate of each rank.

use super::names::cell_name;
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::number;
use crate::analysis::Analysis;
use crate::analysis::ranks::RankRates;
use crate::base::failure::shown;
use crate::base::units::{duration, percent_text};
use crate::plan::DEFAULT_VARIANT;

/// Ranks that have a row; of more the slowest in some phase have one.
const ROWS_MAX: usize = 32;

/// Significant figures of a rate.
const FIGURES: u32 = 3;

type RankColumn = TableColumn<RankRates>;

const COLUMNS: [RankColumn; 5] = [
    RankColumn::numbers("ops/s", |one| number(one.rate, FIGURES)),
    RankColumn::numbers("stonewall", |one| {
        one.stonewall_rate.map_or_else(|| "-".into(), |rate| number(rate, FIGURES))
    }),
    RankColumn::numbers("stragglers", |one| {
        one.straggler_share.map_or_else(|| "-".into(), percent_text)
    }),
    RankColumn::numbers("slowest", |one| {
        one.slowest().map_or_else(
            || "-".into(),
            |(rank, ratio)| format!("rank {rank}: {}", percent_text(ratio)),
        )
    }),
    RankColumn::numbers("clock error", |one| duration(one.clock_error_seconds * 1e9)),
];

/// What they show.
const ABOUT_RANKS: &str = "ranks together; ops/s is all work over the time until the last rank ended, without the sync; stonewall is the \
     rate until the first ended, an estimate as if each rank had continued evenly; stragglers is the time from the end of the \
     rank in the middle to the last end, as a share; slowest is its rate over the rate of the rank in the middle";

/// The tables; none for a run of one process.
pub(super) fn rank_tables(analysis: &Analysis<'_>) -> Vec<TitledTable> {
    let all = analysis.rank_rates();
    if all.is_empty() {
        return Vec::new();
    }
    let heads = COLUMNS.iter().map(|column| (column.head, column.align));
    let mut table =
        Table::new(&[("phase", Align::Left)].into_iter().chain(heads).collect::<Vec<_>>());
    for one in all {
        let cells = COLUMNS.iter().map(|column| (column.cell)(one));
        table.row([title(one)].into_iter().chain(cells).collect());
    }
    let phases = TitledTable { title: ABOUT_RANKS.into(), table };
    vec![phases, each_rank(analysis, all)]
}

fn title(one: &RankRates) -> String {
    match (one.variant.as_str(), &one.level) {
        (DEFAULT_VARIANT, None) => shown(&one.phase),
        (variant, level) => {
            format!("{} of {}", shown(&one.phase), cell_name(variant, level.as_ref()))
        }
    }
}

/// A row for each rank, a column for each phase.
fn each_rank(analysis: &Analysis<'_>, all: &[RankRates]) -> TitledTable {
    let hosts = &analysis.book.run.hosts;
    let slowness = |rank: usize| {
        let ratio = |one: &RankRates| one.share_of_median(rank);
        all.iter().filter_map(ratio).fold(f64::INFINITY, f64::min)
    };
    let mut ranks: Vec<usize> = (0..hosts.len()).collect();
    let title = match hosts.len() > ROWS_MAX {
        false => "operations per second of each rank".to_string(),
        true => format!("operations per second of the {ROWS_MAX} slowest of {} ranks", hosts.len()),
    };
    if ranks.len() > ROWS_MAX {
        ranks.sort_by(|a, b| slowness(*a).total_cmp(&slowness(*b)));
        ranks.truncate(ROWS_MAX);
        ranks.sort_unstable();
    }
    let titles: Vec<String> = all.iter().map(self::title).collect();
    let heads = [("rank", Align::Right), ("host", Align::Left)].into_iter();
    let heads = heads.chain(titles.iter().map(|title| (title.as_str(), Align::Right)));
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    for rank in ranks {
        let rate = |one: &RankRates| {
            let rate = one.rates.get(rank).copied().flatten();
            rate.map_or_else(|| "-".into(), |rate| number(rate, FIGURES))
        };
        let named = [rank.to_string(), shown(&hosts[rank])].into_iter();
        table.row(named.chain(all.iter().map(rate)).collect());
    }
    TitledTable { title, table }
}
