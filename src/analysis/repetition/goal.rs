//! Determines what is to be precise in a run: the figures that decide its answer, or its rates, where these are the answer.

use std::collections::BTreeMap;

use super::forecast::{PassPart, PrecisionForecast};
use super::precision::{nested, rate_precisions};
use crate::analysis::Analysis;
use crate::analysis::answer::figures::{AnswerFigure, FigureMeasure};
use crate::analysis::power::RunDesign;
use crate::base::distinct::each_once;
use crate::plan::Conclusion;
use crate::plan::repetition::Passes;
use crate::results::book::Measurement;

/// What is to be precise, of what was measured so far.
pub fn precision_goals(analysis: &Analysis<'_>, free: &Passes) -> Vec<PrecisionForecast> {
    match precision_is_of_answer(analysis) {
        true => figure_forecasts(analysis, free),
        false => {
            let all: Vec<&Measurement> = analysis.book.measurements.iter().collect();
            rate_forecasts(&all, free)
        }
    }
}

/// Whether that are the figures of the answer.
pub(in crate::analysis) fn precision_is_of_answer(analysis: &Analysis<'_>) -> bool {
    has_rounds(analysis) && !answer_is_rates(analysis)
}

/// Every rate of these measurements.
pub fn rate_forecasts(measurements: &[&Measurement], free: &Passes) -> Vec<PrecisionForecast> {
    rate_precisions(measurements, free).iter().map(|row| row.forecast()).collect()
}

/// Whether all cells were measured once before any was measured again. Where they were not, the figures of the answer are not
/// known before the last cell.
fn has_rounds(analysis: &Analysis<'_>) -> bool {
    analysis.book.measurements.is_sorted_by_key(|m| m.cell.repeat)
}

/// Whether the answer says how fast something is and compares nothing, or does not exist yet.
fn answer_is_rates(analysis: &Analysis<'_>) -> bool {
    analysis.draft().figures.iter().all(AnswerFigure::is_rate)
}

/// The figures of the answer, each with what repeats and passes left of its error.
fn figure_forecasts(analysis: &Analysis<'_>, free: &Passes) -> Vec<PrecisionForecast> {
    let draft = analysis.draft();
    let all = analysis.book.measurements.iter();
    let valid: Vec<&Measurement> = all.filter(|m| m.valid() && !m.is_settle()).collect();
    let repeats = each_once(valid.iter().map(|m| m.cell.repeat)).len() as u32;
    let design = RunDesign::of_book(analysis.book, repeats as usize).answered_by(draft.kind);
    let shares = TimeShares::of(&valid);
    let passes = PassVariances::of(&valid, free);
    let forecast = |figure: &AnswerFigure| {
        let mut forecast = PrecisionForecast {
            name: figure.name.clone(),
            phase: figure.phase.clone(),
            half_width: figure.half_width(),
            half_width_min: figure.half_width_min(),
            is_ratio: figure.measure == FigureMeasure::Ratio,
            design: design.clone(),
            repeats,
            repeat: 0.0,
            parts: passes.parts(figure, draft.kind, &shares),
        };
        forecast.explain_half_width();
        forecast
    };
    draft.figures.iter().map(forecast).collect()
}

impl PrecisionForecast {
    /// What its interval shows of a repeat's variance, and passes do not explain, is the repeats' own; passes explain no more
    /// than there is.
    fn explain_half_width(&mut self) {
        let Some(half) = self.half_width else { return };
        let variance = self.variance_of(half);
        let n = f64::from(self.repeats.max(1));
        let of_passes = self.parts.iter().map(|part| part.so_far).sum::<f64>() / n;
        if of_passes > variance {
            let share = variance / of_passes;
            for part in &mut self.parts {
                (part.variance, part.so_far) = (part.variance * share, part.so_far * share);
            }
        }
        self.repeat = (variance - of_passes).max(0.0);
    }
}

/// The seconds of each phase of each variant, in the mean of its measurements.
struct TimeShares<'a> {
    seconds: BTreeMap<(&'a str, &'a str), (f64, f64)>,
}

impl<'a> TimeShares<'a> {
    fn of(measurements: &[&'a Measurement]) -> Self {
        let mut seconds: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
        for m in measurements {
            let known = seconds.entry((&m.cell.variant, &m.phase)).or_default();
            *known = (known.0 + m.durable_seconds(), known.1 + 1.0);
        }
        Self { seconds }
    }

    /// Of the time of a variant's whole job, the share of a phase.
    fn of_job(&self, variant: &str, phase: &str) -> f64 {
        let mean = |(seconds, number): &(f64, f64)| seconds / number;
        let all = self.seconds.iter().filter(|((other, _), _)| *other == variant);
        let job: f64 = all.map(|(_, of)| mean(of)).sum();
        self.seconds.get(&(variant, phase)).map_or(0.0, |of| mean(of) / job)
    }
}

/// What passes leave of the variance of each phase of a variant whose number of passes is free.
struct PassVariances {
    parts: Vec<PassPart>,
}

impl PassVariances {
    fn of(measurements: &[&Measurement], free: &Passes) -> Self {
        let variances = nested(measurements.iter().copied());
        let part = |key: &(String, String)| {
            let (_, nested) = variances.iter().find(|(phase, _)| *phase == key.1)?;
            let variance = nested.pass?;
            let mut passes: BTreeMap<u32, u32> = BTreeMap::new();
            let own = measurements.iter().filter(|m| m.cell.variant == key.0 && m.phase == key.1);
            own.for_each(|m| {
                let most = passes.entry(m.cell.repeat).or_default();
                *most = m.pass.max(*most);
            });
            let so_far = passes.values().map(|m| variance / f64::from((*m).max(1))).sum();
            let usual = passes.values().last().copied().unwrap_or(1).max(1);
            Some(PassPart { key: key.clone(), variance, so_far, usual, free: true })
        };
        Self { parts: free.keys().filter_map(part).collect() }
    }

    /// Their parts in the variance of a figure.
    fn parts(
        &self,
        figure: &AnswerFigure,
        kind: Option<Conclusion>,
        shares: &TimeShares<'_>,
    ) -> Vec<PassPart> {
        let tasks = shares.seconds.len().max(1) as f64;
        let weight = |(variant, phase): &(String, String)| {
            let is_own = figure.variants.is_empty() || figure.variants.contains(variant);
            // The design's error is that of a difference, of which each variant has one half.
            let of_variant = 1.0 / figure.variants.len().max(1) as f64;
            match &figure.phase {
                _ if !is_own => 0.0,
                Some(own) => {
                    if own == phase {
                        of_variant
                    } else {
                        0.0
                    }
                }
                None if kind == Some(Conclusion::Ranking) => {
                    of_variant * shares.of_job(variant, phase).powi(2)
                }
                None => 1.0 / (tasks * tasks),
            }
        };
        let part = |part: &PassPart| {
            let weight = weight(&part.key);
            let (variance, so_far) = (weight * part.variance, weight * part.so_far);
            (weight > 0.0).then(|| PassPart { variance, so_far, ..part.clone() })
        };
        self.parts.iter().filter_map(part).collect()
    }
}

/// A number that is less precise than requested.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpreciseNumber {
    /// What it is of: a phase, or a figure of the answer.
    pub name: String,
    /// The phase that it is of; none for several.
    pub phase: Option<String>,
    /// How far its interval reaches, as a share; the furthest of all rates of a phase. None if one of them has none.
    pub half_width: Option<f64>,
}

/// What is less precise than requested, in the order it was measured; none if no precision was requested.
pub fn imprecise_numbers(analysis: &Analysis<'_>) -> Option<Vec<ImpreciseNumber>> {
    let precision = analysis.book.run.precision?;
    let goals = precision_goals(analysis, &Passes::new());
    let mut found = Vec::new();
    for name in each_once(goals.iter().map(|goal| &goal.name)) {
        let own = || goals.iter().filter(|goal| goal.name == *name);
        let half_width =
            own().map(|goal| goal.half_width).reduce(|a, b| Some(a?.max(b?))).flatten();
        if !own().all(|goal| goal.is_precise(precision)) {
            let phase = own().next().and_then(|goal| goal.phase.clone());
            found.push(ImpreciseNumber { name: name.clone(), phase, half_width });
        }
    }
    let measured = || analysis.book.measurements.iter();
    // A phase without a valid measurement has no precision at all.
    for phase in each_once(measured().map(|m| &m.phase)) {
        if !measured().any(|m| m.phase == *phase && m.valid()) {
            let (name, phase) = (phase.clone(), Some(phase.clone()));
            found.push(ImpreciseNumber { name, phase, half_width: None });
        }
    }
    Some(found)
}
