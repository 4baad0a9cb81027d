//! Rates of the runs of a scenario, one after the other.

use std::collections::BTreeMap;

use super::cast::{Cast, Member};
use super::keys::Keys;
use super::rates::{estimated, rate_axis};
use super::whole::{about_disturbed, about_intervals, about_last_level, points, scale_for, whole};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::timeline::{DatedRate, PhaseHistory, phase_histories};

/// One picture for each phase that three runs or more of one scenario measured.
pub(super) fn histories(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let all: Vec<_> = cast.runs.iter().map(|run| run.analysis).collect();
    let all = phase_histories(&all);
    let colours = colours(cast, &all);
    all.iter().filter_map(|history| figure(cast, history, &colours, keys)).collect()
}

fn member<'a>(cast: &'a Cast<'_>, dated: &DatedRate<'_>) -> Option<&'a Member<'a>> {
    cast.runs.get(dated.run)?.member(dated.variant)
}

/// The colour of each name: that of the latest run that has it, as in the other pictures.
fn colours<'a>(cast: &'a Cast<'_>, all: &[PhaseHistory<'_>]) -> BTreeMap<&'a str, usize> {
    let mut rows: Vec<&DatedRate<'_>> = all.iter().flat_map(|history| &history.rates).collect();
    rows.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.run.cmp(&b.run)));
    let members = rows.into_iter().filter_map(|dated| member(cast, dated));
    members.map(|member| (member.own.as_str(), member.colour)).collect()
}

fn figure(
    cast: &Cast<'_>,
    history: &PhaseHistory<'_>,
    colours: &BTreeMap<&str, usize>,
    keys: &mut Keys,
) -> Option<Figure> {
    let unit = history.rates.first()?.row.rate_unit;
    let mut points_of: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for dated in &history.rates {
        let Some((member, rate)) = member(cast, dated).zip(dated.row.rate) else { continue };
        let point = estimated(dated.seconds, rate, dated.row.disturbed > 0);
        points_of.entry(&member.own).or_default().push(point);
    }
    let latest = history.rates.last().and_then(|dated| cast.runs.get(dated.run))?;
    let places = latest.members.iter().enumerate();
    let places: BTreeMap<&str, usize> =
        places.map(|(at, member)| (member.own.as_str(), at)).collect();
    let mut all: Vec<(&str, Vec<Point>)> = points_of.into_iter().collect();
    all.sort_by_key(|(name, _)| places.get(name).copied().unwrap_or(usize::MAX));
    let series = |(name, points): (&str, Vec<Point>)| Series {
        name: name.to_string(),
        colour: colours.get(name).copied().unwrap_or_default(),
        look: Look::Line,
        what: "mean of a run".into(),
        points,
    };
    let series: Vec<Series> = all.into_iter().map(series).collect();
    let y = rate_axis(unit, scale_for(points(&series).map(|point| point.y)));
    let levels: Vec<_> = history.level.into_iter().collect();
    let differ = (!history.same_target).then(|| {
        "The runs are not all of the same job on the same machine, file system and device.".into()
    });
    let notes = [
        about_last_level(&levels),
        differ,
        about_intervals(&y.scale, &series),
        about_disturbed(&series),
    ];
    let (phase, scenario) = (shown(history.phase), shown(history.scenario));
    let about = "A point is a run, without the sync at the end of a phase. More is faster.";
    whole(Figure {
        key: keys.of("history", history.phase),
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
