//! How fast a phase is at each level of an axis, with the knees and crossovers that were found.

use super::cast::{Cast, CastRun, Member};
use super::keys::Keys;
use super::rates::{Placed, rate_axis, rate_series};
use super::whole::{
    Lost, about_disturbed, about_intervals, about_invalid, about_lost, scale_for, whole,
};
use super::{Axis, Figure, Look, Mark, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::measure::conclusions::crossover::CrossoverFinding;
use crate::measure::conclusions::knee::KneeFinding;
use crate::measure::conclusions::slope::{LevelRate, RateBasis};
use crate::measure::finding::Finding;
use crate::measure::order::each_once;
use crate::measure::summary::{PhaseSummary, VariantSummary};
use crate::report::names::level_value;

/// What one picture shows.
#[derive(PartialEq)]
struct Subject<'a> {
    phase: &'a str,
    axis: &'a str,
    level_unit: Unit,
    rate_unit: Unit,
}

/// One picture for each phase that was measured over an axis.
pub(super) fn levels(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let all = || cast.runs.iter().flat_map(|run| run.rows());
    let measured = each_once(all().filter(|(_, row)| row.rate.is_some()).filter_map(subject));
    // In the order of the run, also where the first that was measured is not the first that is valid.
    let subjects = each_once(all().filter_map(subject));
    subjects
        .iter()
        .filter(|subject| measured.contains(subject))
        .filter_map(|subject| subject.figure(cast, keys))
        .collect()
}

fn subject<'a>((group, row): (&'a VariantSummary, &'a PhaseSummary)) -> Option<Subject<'a>> {
    let level = group.level.as_ref()?;
    let (axis, level_unit) = (level.axis.as_str(), level.unit);
    Some(Subject { phase: &row.phase, axis, level_unit, rate_unit: row.rate_unit })
}

impl Subject<'_> {
    fn figure(&self, cast: &Cast<'_>, keys: &mut Keys) -> Option<Figure> {
        let series: Vec<Series> =
            cast.members().flat_map(|(run, member)| self.series(run, member)).collect();
        let measured = || series.iter().filter(|one| one.look != Look::Law);
        let measured = || measured().flat_map(|one| &one.points);
        let scale = level_scale(measured().map(|point| point.x));
        let y = rate_axis(self.rate_unit, scale_for(measured().map(|point| point.y)));
        let left_out = cast.runs.iter().flat_map(|run| run.rows()).filter(|one| self.is_of(one));
        let left_out = left_out.map(|(_, row)| row.invalid.len() as u64).sum();
        let notes = [
            about_disturbed(&series),
            about_invalid(left_out),
            about_lost(cast.members().flat_map(|(run, member)| self.lost(run, member))),
            about_intervals(&y.scale, &series),
        ];
        let about = "Without the sync at the end of a phase. More is faster.".to_string();
        let nameless = self.axis.trim().is_empty();
        let (phase, axis) = (shown(self.phase), shown(if nameless { "level" } else { self.axis }));
        whole(Figure {
            key: keys.of("levels", self.phase),
            title: format!("{phase} by {axis}"),
            question: format!("How fast is {phase} as {axis} grows?"),
            x: Axis { label: axis, quantity: level_quantity(self.level_unit), scale },
            y,
            shade: None,
            series,
            marks: self.marks(cast),
            notes: [about].into_iter().chain(notes.into_iter().flatten()).collect(),
        })
    }

    fn is_of(&self, (group, row): &(&VariantSummary, &PhaseSummary)) -> bool {
        subject((group, row)).is_some_and(|other| other == *self)
    }

    /// What nothing is valid of: a variant at a level, or at all levels.
    fn lost(&self, run: &CastRun<'_>, member: &Member<'_>) -> Vec<Lost> {
        let rows = run.rows_of(member.variant).filter(|one| self.is_of(one));
        let (rated, unrated): (Vec<_>, Vec<_>) = rows.partition(|(_, row)| row.rate.is_some());
        let invalid = |(_, row): &(&VariantSummary, &PhaseSummary)| row.invalid.len() as u64;
        if rated.is_empty() {
            let measurements = unrated.iter().map(invalid).sum();
            return vec![Lost { what: member.name.clone(), measurements }];
        }
        let at_level = |one: &(&VariantSummary, &PhaseSummary)| {
            let level = level_value(one.0.level.as_ref()?);
            Some(Lost { what: format!("{} at {level}", member.name), measurements: invalid(one) })
        };
        unrated.iter().filter_map(at_level).collect()
    }

    /// Means from the lowest level on, single values, and the line of a slope.
    fn series(&self, run: &CastRun<'_>, member: &Member<'_>) -> Vec<Series> {
        let rows = run.rows_of(member.variant).filter(|one| self.is_of(one));
        let mut placed: Vec<Placed<'_>> = rows
            .filter_map(|(group, row)| {
                Some((Some(group), row, self.place(group.level.as_ref()?.value)))
            })
            .collect();
        placed.sort_by(|a, b| a.2.total_cmp(&b.2));
        let rates = placed.iter().filter_map(|(group, row, _)| {
            let (level, rate) = (group.as_ref()?.level.as_ref()?.value, row.rate?);
            Some(LevelRate { level, mean: rate.mean, n: rate.n })
        });
        let rates: Vec<LevelRate> = rates.collect();
        let basis = match self.rate_unit {
            Unit::Bytes => RateBasis::Bytes,
            _ => RateBasis::Operations,
        };
        let slope = run.analysis.book.findings.iter().find_map(|finding| match finding {
            Finding::Slope(slope)
                if (
                    slope.variant.as_str(),
                    slope.phase.as_str(),
                    slope.axis.as_str(),
                    slope.rate,
                ) == (member.variant, self.phase, self.axis, basis) =>
            {
                Some(slope)
            }
            _ => None,
        });
        let line = slope.map_or(Vec::new(), |slope| slope.line(&rates));
        let at = |(level, height): (f64, f64)| Point::at(self.place(level), height);
        let law = Series {
            name: member.name.clone(),
            colour: member.colour,
            look: Look::Law,
            what: "slope".into(),
            points: line.into_iter().map(at).collect(),
        };
        rate_series((run, member), Look::Line, &placed).into_iter().chain([law]).collect()
    }

    /// A value of the axis as it is drawn.
    fn place(&self, value: f64) -> f64 {
        if self.level_unit == Unit::Nanoseconds { value / 1e9 } else { value }
    }

    fn marks(&self, cast: &Cast<'_>) -> Vec<Mark> {
        let of_run = |run: &CastRun<'_>| -> Vec<Mark> {
            let mark = |finding: &Finding| match finding {
                Finding::Knee(knee) => self.knee(run, knee),
                Finding::Crossover(crossover) => self.crossover(run, crossover),
                _ => None,
            };
            run.analysis.book.findings.iter().filter_map(mark).collect()
        };
        cast.runs.iter().flat_map(of_run).collect()
    }

    fn knee(&self, run: &CastRun<'_>, knee: &KneeFinding) -> Option<Mark> {
        let (variant, at) = (knee.variant.as_ref()?, knee.at?);
        (knee.phase.as_deref() == Some(self.phase) && knee.axis == self.axis).then(|| Mark {
            x: self.place(at),
            interval: knee.interval.map(|ends| [self.place(ends.low), self.place(ends.high)]),
            label: format!("knee of {}", run.name_of(variant)),
            colour: run.member(variant).map(|member| member.colour),
        })
    }

    /// Where two variants are equally fast without their syncs, which the rates do not have either.
    fn crossover(&self, run: &CastRun<'_>, found: &CrossoverFinding) -> Option<Mark> {
        let at = found.at?;
        let [one, other] = found.variants.each_ref().map(|variant| run.name_of(variant));
        (found.phase == self.phase && found.axis == self.axis && !found.sync).then(|| Mark {
            x: self.place(at),
            interval: found.interval.map(|ends| [self.place(ends.low), self.place(ends.high)]),
            label: format!("{one} and {other} meet"),
            colour: None,
        })
    }
}

/// What the values of levels are.
pub(super) fn level_quantity(unit: Unit) -> Quantity {
    match unit {
        Unit::Count => Quantity::Count,
        Unit::Bytes => Quantity::Bytes,
        Unit::Percent => Quantity::Percent,
        Unit::Nanoseconds => Quantity::Seconds,
    }
}

/// From this span on the lowest levels would lie on each other.
const SPAN_MAX: f64 = 100.0;
/// Fewer levels show no rule.
const MULTIPLES_MIN: usize = 4;
/// Levels that are each at least so many times the one before,
const MULTIPLE_MIN: f64 = 1.5;
/// and about as many times each, go up by multiples.
const MULTIPLES_APART_MAX: f64 = 2.0;

/// By logarithms, if levels go up by multiples.
fn level_scale(values: impl Iterator<Item = f64>) -> Scale {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return Scale::Linear };
    if *least <= 0.0 {
        return Scale::Linear;
    }
    let steps = values.windows(2).map(|pair| pair[1] / pair[0]);
    let (low, high) = (steps.clone().fold(f64::INFINITY, f64::min), steps.fold(0.0, f64::max));
    let multiples =
        values.len() >= MULTIPLES_MIN && low >= MULTIPLE_MIN && high / low <= MULTIPLES_APART_MAX;
    if multiples || most / least > SPAN_MAX { Scale::Logarithmic } else { Scale::Linear }
}
