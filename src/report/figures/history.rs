//! Rates of the runs of a scenario, one after the other.

use super::cast::{Cast, Member};
use super::keys::Keys;
use super::rates::{estimated, rate_axis};
use super::whole::{about_disturbed, about_intervals, about_last_level, points, scale_for, whole};
use super::{Axis, Figure, Look, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::order::each_once;
use crate::measure::timeline::{Dated, Timeline, timelines};

/// One picture for each phase that three runs or more of one scenario measured.
pub(super) fn histories(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let all: Vec<_> = cast.runs.iter().map(|run| (run.book, &run.summary)).collect();
    timelines(&all).iter().filter_map(|timeline| figure(cast, timeline, keys)).collect()
}

fn figure(cast: &Cast<'_>, timeline: &Timeline<'_>, keys: &mut Keys) -> Option<Figure> {
    let unit = timeline.rows.first()?.row.rate_unit;
    let member = |dated: &Dated<'_>| cast.runs.get(dated.run)?.member(dated.variant);
    let own = |dated: &Dated<'_>| member(dated).map(|member: &Member<'_>| member.own.as_str());
    // As the latest run has them: each has the colour that it has in a report of that run alone.
    let names = each_once(timeline.rows.iter().rev().filter_map(own));
    let latest = timeline.rows.last().and_then(|dated| cast.runs.get(dated.run))?;
    let place = |name: &str| latest.members.iter().position(|member| member.own == name);
    let mut names: Vec<(usize, &str)> =
        names.into_iter().map(|name| (place(name).unwrap_or(usize::MAX), name)).collect();
    names.sort_unstable();
    let point = |dated: &Dated<'_>| {
        Some(estimated(dated.seconds, dated.row.rate?, dated.row.disturbed > 0))
    };
    let series = |(colour, (_, name)): (usize, &(usize, &str))| Series {
        name: name.to_string(),
        colour,
        look: Look::Line,
        what: "mean of a run".into(),
        points: timeline
            .rows
            .iter()
            .filter(|dated| own(dated) == Some(name))
            .filter_map(point)
            .collect(),
    };
    let series: Vec<Series> = names.iter().enumerate().map(series).collect();
    let y = rate_axis(unit, scale_for(points(&series).map(|point| point.y)));
    let levels: Vec<_> = timeline.level.into_iter().collect();
    let differ = (!timeline.same_target).then(|| {
        "The runs are not all of the same job on the same machine, file system and device.".into()
    });
    let notes = [
        about_last_level(&levels),
        differ,
        about_intervals(&y.scale, &series),
        about_disturbed(&series),
    ];
    let (phase, scenario) = (shown(timeline.phase), shown(timeline.scenario));
    let about = "A point is a run, without the sync at the end of a phase. More is faster.";
    whole(Figure {
        key: keys.of("history", timeline.phase),
        title: format!("{phase} from run to run"),
        question: format!("Did {phase} of {scenario} become faster or slower with time?"),
        x: Axis {
            label: "begin of the run".into(),
            quantity: Quantity::Date,
            scale: Scale::Linear,
        },
        y,
        shade: None,
        series,
        marks: Vec::new(),
        notes: [about.to_string()].into_iter().chain(notes.into_iter().flatten()).collect(),
    })
}
