//! Computes the effects (ratios of times) within one run: between variants, between levels, and from the start of a phase to its
//! end. Claims of one kind are tested together: docs/statistics.md, "Families".

use std::collections::BTreeSet;

use super::effect_finding::{
    Conclusion, EffectCell, EffectFinding, LevelStep, PhaseTenth, StatedRatio,
};
use super::effects::contrast::Contrast;
use super::effects::decide::{Control, Decision, decide};
use super::effects::moderation::moderated;
use super::effects::rates::rates;
use super::findings::device_load::differs_by_device_itself;
use super::findings::growth::{MeasuredGrowth, measured_growths};
use super::observations::{LogTimes, Observations, TimeRow, TimeSeries, TimeTable};
use super::statistics::describe::mean;
use boatload_base::distinct::each_once;
use boatload_results::book::Measurement;

/// All pairs of variants: of the whole job, and of each phase at each level.
pub(super) fn ranking(all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
    let tables: Vec<TimeTable<'_>> = all.jobs().into_iter().chain(all.tables()).collect();
    between_variants(Conclusion::Ranking, &tables, alpha)
}

/// All pairs of variants of these times.
pub(super) fn between_variants(
    reading: Conclusion,
    tables: &[TimeTable<'_>],
    alpha: f64,
) -> Vec<EffectFinding> {
    let phases = each_once(tables.iter().map(|table| table.phase));
    let (mut effects, mut groups) = (Vec::new(), Vec::new());
    let mut independent = vec![0; phases.len()];
    for table in tables {
        let group = phases.iter().position(|phase| *phase == table.phase).unwrap_or(0);
        let mut compared = BTreeSet::new();
        for (at, a) in table.rows.iter().enumerate() {
            for b in &table.rows[at + 1..] {
                let Some(pair) = Pair::new(a, b) else { continue };
                if pair.ratios.len() > 1 {
                    compared.extend([a.variant, b.variant]);
                }
                effects.push(pair.effect(reading, table));
                groups.push((group, pair.ratios));
            }
        }
        independent[group] += compared.len().saturating_sub(1);
    }
    with_contrasts(&mut effects, groups, |ratios, groups| moderated(ratios, groups, &independent));
    decide_apart(&mut effects, alpha);
    effects
}

/// Two variants in the same repeats.
struct Pair<'a> {
    a: &'a str,
    b: &'a str,
    ratios: Vec<f64>,
    /// The geometric mean of each over these repeats, in nanoseconds.
    ns: [Option<f64>; 2],
}

impl<'a> Pair<'a> {
    /// None without a repeat that both have.
    fn new(a: &TimeRow<'a>, b: &TimeRow<'a>) -> Option<Self> {
        let ratios = ratios_of(&a.times, &b.times);
        let common = |own: &LogTimes, other: &LogTimes| -> Vec<f64> {
            own.iter().filter(|(repeat, _)| other.contains_key(repeat)).map(|one| *one.1).collect()
        };
        let ns = [common(&a.times, &b.times), common(&b.times, &a.times)].map(|logs| ns_of(&logs));
        (!ratios.is_empty()).then_some(Self { a: a.variant, b: b.variant, ratios, ns })
    }

    fn effect(&self, reading: Conclusion, table: &TimeTable<'_>) -> EffectFinding {
        let cell = |variant: &str, ns| EffectCell {
            variant: Some(variant.into()),
            level: table.level.cloned(),
            part: None,
            ns,
        };
        let [a, b] = self.ns;
        EffectFinding {
            phase: table.phase.map(String::from),
            ..undecided(reading, [cell(self.b, b), cell(self.a, a)], &self.ratios)
        }
    }
}

/// The geometric mean in nanoseconds of times in seconds, from their logarithms.
fn ns_of(logs: &[f64]) -> Option<f64> {
    (!logs.is_empty()).then(|| mean(logs).exp() * 1e9)
}

/// The log ratios of the repeats that both have.
fn ratios_of(a: &LogTimes, b: &LogTimes) -> Vec<f64> {
    a.iter().filter_map(|(repeat, a)| Some(a - b.get(repeat)?)).collect()
}

/// The highest level against the lowest, of each phase and variant, and from which level on. Then all together.
pub(super) fn levels(all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
    let series = all.series();
    let phases = each_once(series.iter().map(|one| one.phase));
    let mut effects: Vec<EffectFinding> = series.iter().map(of_series).collect();
    // From the highest level down.
    let steps = 1..series.iter().map(|one| one.levels.len()).max().unwrap_or(1);
    let steps: Vec<Vec<Option<Contrast>>> =
        steps.map(|below| step_contrasts(&series, &phases, below)).collect();
    for (at, effect) in effects.iter_mut().enumerate() {
        effect.contrast = steps.first().and_then(|step| step[at]);
    }
    decide_family(&mut effects.iter_mut().collect::<Vec<_>>(), alpha);
    for (at, (effect, one)) in effects.iter_mut().zip(&series).enumerate() {
        let own: Vec<Option<Contrast>> =
            steps.iter().map_while(|step| step.get(at).copied()).collect();
        effect.stated.since = since(&effect.stated, one, &own);
        effect.headline.since = since(&effect.headline, one, &own);
        effect.steps = level_steps(&effect.stated, one, &own);
        effect.device_itself =
            effect.stated.decision.is_difference() && differs_by_device_itself(&cells_of(all, one));
    }
    let mut together: Vec<EffectFinding> = together(&series).into_iter().collect();
    decide_family(&mut together.iter_mut().collect::<Vec<_>>(), alpha);
    effects.extend(together);
    effects
}

fn cells_of<'a>(all: &Observations<'a>, one: &TimeSeries<'_>) -> Vec<Vec<&'a Measurement>> {
    one.levels.iter().map(|level| all.cell(one.phase, one.variant, Some(level))).collect()
}

fn of_series(one: &TimeSeries<'_>) -> EffectFinding {
    let cell = |at: usize| EffectCell {
        variant: Some(one.variant.into()),
        level: one.levels.get(at).map(|level| (*level).clone()),
        part: None,
        ns: ns_of(&one.repeats.values().map(|times| times[at]).collect::<Vec<_>>()),
    };
    let ends = [cell(0), cell(one.levels.len() - 1)];
    let ratios = one.ratios(one.levels.len() - 1);
    EffectFinding { phase: Some(one.phase.into()), ..undecided(Conclusion::Levels, ends, &ratios) }
}

/// The contrasts of the level that lies so many below the end of each series, 1 for the highest; none of a series that has
/// no such level above its lowest, or one repeat.
fn step_contrasts(
    series: &[TimeSeries<'_>],
    phases: &[&str],
    below: usize,
) -> Vec<Option<Contrast>> {
    let has = |one: &&TimeSeries<'_>| one.levels.len() > below && one.repeats.len() > 1;
    let some: Vec<&TimeSeries<'_>> = series.iter().filter(has).collect();
    let ratios: Vec<Vec<f64>> =
        some.iter().map(|one| one.ratios(one.levels.len() - below)).collect();
    let place = |phase: &str| phases.iter().position(|one| *one == phase).unwrap_or(0);
    let groups: Vec<usize> = some.iter().map(|one| place(one.phase)).collect();
    let mut contrasts = rates(&ratios, &groups).into_iter();
    series.iter().map(|one| if has(&one) { contrasts.next() } else { None }).collect()
}

/// The lowest level from which on upwards each is proven the same way as the highest (fixed sequence: Hsu and Berger, JASA 94,
/// 1999).
fn since(stated: &StatedRatio, one: &TimeSeries<'_>, steps: &[Option<Contrast>]) -> Option<f64> {
    let alpha = 1.0 - stated.level?;
    let is_proven = |step: &Option<Contrast>| {
        let interval = step.map(|step| step.interval(alpha));
        interval.is_some_and(|interval| match stated.decision {
            Decision::Longer => interval.low > 1.0,
            Decision::Shorter => interval.high < 1.0,
            Decision::Within | Decision::Open => false,
        })
    };
    let proven = steps.iter().take(one.levels.len() - 1).take_while(|step| is_proven(step)).count();
    (proven > 0).then(|| one.levels[one.levels.len() - proven].value)
}

fn level_steps(
    stated: &StatedRatio,
    one: &TimeSeries<'_>,
    steps: &[Option<Contrast>],
) -> Vec<LevelStep> {
    let alpha = stated.level.map(|level| 1.0 - level);
    let step = |at: usize| {
        let contrast = steps.get(one.levels.len() - 1 - at).copied().flatten();
        LevelStep {
            value: one.levels[at].value,
            ratio: mean(&one.ratios(at)).exp(),
            interval: contrast.zip(alpha).map(|(contrast, alpha)| contrast.interval(alpha)),
        }
    };
    (1..one.levels.len()).map(step).collect()
}

/// All phases of all variants together: the mean of their log ratios, by the repeats that all have. None of a single series,
/// and without two such repeats.
fn together(series: &[TimeSeries<'_>]) -> Option<EffectFinding> {
    let [first, _, ..] = series else { return None };
    let has_all = |repeat: &&u32| series.iter().all(|one| one.repeats.contains_key(repeat));
    let common: Vec<&u32> = first.repeats.keys().filter(has_all).collect();
    let ratio = |repeat: &&u32| {
        let all = series.iter().filter_map(|one| {
            let times = one.repeats.get(repeat)?;
            Some(times.last()? - times.first()?)
        });
        mean(&all.collect::<Vec<_>>())
    };
    let ratios: Vec<f64> = common.iter().map(ratio).collect();
    let contrast = Contrast::plain(&ratios)?;
    let ends = [EffectCell::default(), EffectCell::default()];
    Some(EffectFinding { contrast: Some(contrast), ..undecided(Conclusion::Levels, ends, &ratios) })
}

/// The last tenth of each phase with windows against its second.
pub(super) fn growth(all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
    let (mut effects, mut groups) = (Vec::new(), Vec::new());
    for MeasuredGrowth { phase, variant, level, by_repeat, course } in measured_growths(all) {
        let cell = |part, ns| EffectCell {
            variant: Some(variant.into()),
            level: level.cloned(),
            part: Some(part),
            ns: Some(ns),
        };
        let ends =
            [cell(PhaseTenth::Second, course.second_ns), cell(PhaseTenth::Last, course.last_ns)];
        let ratios: Vec<f64> = by_repeat.values().copied().collect();
        effects.push(EffectFinding {
            phase: Some(phase.into()),
            course: Some(course),
            ..undecided(Conclusion::Growth, ends, &ratios)
        });
        groups.push((0, ratios));
    }
    with_contrasts(&mut effects, groups, rates);
    decide_family(&mut effects.iter_mut().collect::<Vec<_>>(), alpha);
    for effect in &mut effects {
        let decision = effect.stated.decision;
        effect.course = effect.course.take().map(|course| course.decided(decision));
    }
    effects
}

fn undecided(reading: Conclusion, [from, to]: [EffectCell; 2], ratios: &[f64]) -> EffectFinding {
    EffectFinding {
        reading,
        phase: None,
        from,
        to,
        ratio: mean(ratios).exp(),
        stated: StatedRatio::UNDECIDED,
        headline: StatedRatio::UNDECIDED,
        repeats: ratios.len(),
        steps: Vec::new(),
        device_itself: false,
        course: None,
        contrast: None,
        text: String::new(),
    }
}

/// Gives each effect of several repeats its contrast, made of the group and the log ratios of each.
fn with_contrasts(
    effects: &mut [EffectFinding],
    groups: Vec<(usize, Vec<f64>)>,
    contrasts: impl Fn(&[Vec<f64>], &[usize]) -> Vec<Contrast>,
) {
    let repeated = effects.iter_mut().zip(groups).filter(|(_, (_, ratios))| ratios.len() > 1);
    let (repeated, groups): (Vec<_>, Vec<_>) = repeated.unzip();
    let (groups, ratios): (Vec<usize>, Vec<Vec<f64>>) = groups.into_iter().unzip();
    for (effect, contrast) in repeated.into_iter().zip(contrasts(&ratios, &groups)) {
        effect.contrast = Some(contrast);
    }
}

/// Whole jobs are a family of their own.
fn decide_apart(effects: &mut [EffectFinding], alpha: f64) {
    let (mut jobs, mut others): (Vec<_>, Vec<_>) =
        effects.iter_mut().partition(|effect| effect.phase.is_none());
    decide_family(&mut jobs, alpha);
    decide_family(&mut others, alpha);
}

fn decide_family(effects: &mut [&mut EffectFinding], alpha: f64) {
    let contrasts: Vec<Contrast> = effects.iter().filter_map(|effect| effect.contrast).collect();
    let mut stated = decide(&contrasts, alpha, Control::FalseDiscovery).into_iter();
    let mut headlines = decide(&contrasts, alpha, Control::Holm).into_iter();
    for effect in effects.iter_mut() {
        let Some(contrast) = effect.contrast else { continue };
        let of = |decided: Option<super::effects::decide::Decided>| {
            decided.map_or(StatedRatio::UNDECIDED, |one| StatedRatio {
                decision: one.decision,
                interval: Some(contrast.interval(one.alpha)),
                level: Some(1.0 - one.alpha),
                since: None,
            })
        };
        (effect.stated, effect.headline) = (of(stated.next()), of(headlines.next()));
    }
}
