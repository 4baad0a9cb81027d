//! Draws the rate of each rank: a strip for each phase, and a heat map of one measurement over its time.

use super::rates::rate_axis;
use super::runs::{ChartKeys, ChartRuns, ChartVariant, about_last_level, notes};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, HeatCell, SeriesLook,
};
use crate::analysis::ranks::{RankCourse, RankCourseRow, RankRates, rank_course};
use crate::base::failure::shown;
use crate::base::units::{Unit, counted};

/// One chart for each phase that ranks did together.
pub(super) fn ranks(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    runs.phases().into_iter().filter_map(|phase| chart(runs, phase, keys)).collect()
}

fn chart(runs: &ChartRuns<'_>, phase: &str, keys: &mut ChartKeys) -> Option<Chart> {
    let series: Vec<ChartSeries> =
        runs.variants.iter().flat_map(|variant| strip(variant, phase)).collect();
    if series.iter().all(|one| one.points.is_empty()) {
        return None;
    }
    let about = "Each rank over its own time, without the sync. A rank that stands apart from the others is slow.";
    let x = ChartAxis::new("rank", AxisQuantity::Count, AxisScale::Linear);
    Chart {
        question: "Did all ranks work at the same rate?".into(),
        notes: notes(about, [about_last_level(&runs.last_levels())]),
        series,
        from_zero: true,
        ..Chart::new(
            keys.unused("ranks", phase),
            format!("{} by rank", shown(phase)),
            x,
            rate_axis(Unit::Count, AxisScale::Linear),
        )
    }
    .checked()
}

/// Each measurement of a rank, and their mean.
fn strip(variant: &ChartVariant<'_>, phase: &str) -> [ChartSeries; 2] {
    let own = |one: &&RankRates| {
        one.variant == variant.variant
            && one.phase == phase
            && one.level.as_ref() == variant.last_level
    };
    let mut means = Vec::new();
    for rates in variant.analysis.rank_rates().iter().filter(own) {
        let known =
            rates.rates.iter().enumerate().filter_map(|(rank, rate)| Some((rank, (*rate)?)));
        means.extend(known.map(|(rank, rate)| ChartPoint {
            n: rates.measurements(),
            ..ChartPoint::at(rank as f64, rate)
        }));
    }
    let shares = variant
        .last_measurements(phase)
        .filter_map(|m| m.ranks.as_ref())
        .flat_map(|all| &all.ranks);
    let raw = shares.filter_map(|one| Some(ChartPoint::at(f64::from(one.rank), one.rate()?)));
    let raw = raw.collect();
    [
        variant.series(SeriesLook::Markers, "mean", means),
        variant.series(SeriesLook::Raw, "repeat", raw),
    ]
}

/// One chart for each phase and variant of which it is known when ranks did their operations.
pub(super) fn heats(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let mut all = Vec::new();
    for phase in runs.phases() {
        for variant in &runs.variants {
            let of = if runs.variants.len() > 1 { variant.name.as_str() } else { "" };
            let course = rank_course(variant.last_measurements(phase));
            all.extend(course.and_then(|course| heat(variant, of, phase, &course, keys)));
        }
    }
    all
}

fn heat(
    variant: &ChartVariant<'_>,
    of: &str,
    phase: &str,
    course: &RankCourse<'_>,
    keys: &mut ChartKeys,
) -> Option<Chart> {
    let hosts = &variant.analysis.book.run.hosts;
    // From bottom to top: the first stands at the top.
    let rows = || course.rows.iter().rev();
    let names = rows().map(|row| row_name(row, hosts)).collect();
    let cells = rows().enumerate().flat_map(|(place, row)| cells(row, place, course));
    let series = vec![variant.series(SeriesLook::Cells, "slice", cells.collect())];
    let name = shown(phase);
    let title = if of.is_empty() { name.clone() } else { format!("{name} of {of}") };
    let levels: Vec<_> = variant.last_level.into_iter().collect();
    let x = ChartAxis::new("time of the phase", AxisQuantity::Seconds, AxisScale::Linear);
    Chart {
        question: format!("Did a rank stand still for a while during {name}?"),
        shade: Some(ChartAxis::new(
            "share of the mean rate",
            AxisQuantity::Percent,
            AxisScale::Linear,
        )),
        series,
        notes: notes(
            ABOUT_HEAT,
            [about_several(course), about_choice(course), about_last_level(&levels)],
        ),
        ..Chart::new(
            keys.unused("ranks-over-time", phase),
            format!("{title} by rank over time"),
            x,
            ChartAxis::named("rank", names),
        )
    }
    .checked()
}

const ABOUT_HEAT: &str = "Each cell is the rate of a rank in a slice of the time, as a share of the mean rate of all ranks; before a rank begins \
     and after it has ended there is none.";

/// `rank 3 on node7`, or `ranks 4 to 7`.
fn row_name(row: &RankCourseRow, hosts: &[String]) -> String {
    match hosts.get(row.first) {
        _ if row.last > row.first => format!("ranks {} to {}", row.first, row.last),
        Some(host) => format!("rank {} on {}", row.first, shown(host)),
        None => format!("rank {}", row.first),
    }
}

/// That a row is of several ranks, if so.
fn about_several(course: &RankCourse<'_>) -> Option<String> {
    let most = course.rows.iter().map(|row| row.last - row.first + 1).max()?;
    (most > 1).then(|| {
        format!(
            "A row is of up to {most} ranks, and each cell of the one that was slowest in that slice."
        )
    })
}

/// Which measurement it is, of several.
fn about_choice(course: &RankCourse<'_>) -> Option<String> {
    let m = course.measurement;
    let pass = if m.pass > 1 { format!(", pass {}", m.pass) } else { String::new() };
    (course.chosen_from > 1).then(|| {
        let all = counted(course.chosen_from, "measurement");
        format!("Of {all} it is the one with the slowest cell: repeat {}{pass}.", m.cell.repeat)
    })
}

fn cells(row: &RankCourseRow, place: usize, course: &RankCourse<'_>) -> Vec<ChartPoint> {
    let seconds = |at: usize| at as f64 * course.slice_seconds;
    let cell = |(at, percent): (usize, &Option<f64>)| {
        let cell = Some(HeatCell { end: seconds(at + 1), shade: (*percent)? });
        Some(ChartPoint { cell, ..ChartPoint::at(seconds(at), place as f64) })
    };
    row.percents.iter().enumerate().filter_map(cell).collect()
}
