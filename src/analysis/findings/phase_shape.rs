//! Chooses the shape of a phase's latency over the operations done: a growth law, a threshold (a step or
//! a bend, only with clearly more evidence than any law and gradual curves), or a steady rise or fall
//! without a law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::curve::{Block, ChangeShape, CurveFit, LatencyCurve, Law, median_log, scale};
use super::phase_parts::{WINDOWS_MIN, has_enough_windows, in_windows, mean_ns, windows_of};
use crate::analysis::statistics::describe::{mean, median, squares};
use crate::analysis::statistics::student::student_t;
use crate::analysis::statistics::{Interval, rising, trend};
use crate::analysis::thresholds::{
    CHANGE_MIN, EVIDENCE_OVER_LAWS_MIN, FINDING_ALPHA, INTERVAL_ALPHA, POWER_EVIDENCE_MIN,
};
use crate::base::distinct::each_once;
use crate::results::book::{Measurement, Window};

/// Fewer windows than this show no start-up.
const START_UP_WINDOWS_MIN: usize = 20;
/// Nor is there one where a line through the rest leads to so many times less than anything measured.
const LINE_BELOW_MAX: f64 = 4.0;
/// A phase is judged by at most so many blocks of windows.
const BLOCKS_MAX: usize = 20;
/// Thresholds are located among at most so many.
const FINE_BLOCKS_MAX: usize = 200;
/// Windows in a block, so that an outlier does not carry it, where there are enough.
const BLOCK_WINDOWS: usize = 3;

/// The windows of all repeats and passes of a phase after its start-up, gathered in blocks.
pub(super) struct PhaseBlocks<'a> {
    /// Of each measurement.
    windows: Vec<&'a [Window]>,
    /// All repeats together, each over its own median.
    pub(super) blocks: Vec<Block>,
    /// Mean latency of each block over all repeats, in nanoseconds.
    pub(super) means_ns: Vec<f64>,
}

impl<'a> PhaseBlocks<'a> {
    /// Of a phase that begins with a start-up of this share. None without enough windows for a law.
    pub(super) fn new(cell: &[&'a Measurement], start_up: f64) -> Option<Self> {
        let measurements = in_windows(cell).into_iter().filter(|m| has_enough_windows(m));
        let windows: Vec<&[Window]> =
            measurements.map(|m| &m.windows[windows_of(start_up, m.windows.len())..]).collect();
        let mut phase = Self { windows, blocks: Vec::new(), means_ns: Vec::new() };
        phase.windows.first()?;
        let number = (phase.number() / BLOCK_WINDOWS).clamp(WINDOWS_MIN, BLOCKS_MAX);
        phase.blocks = joined(&phase.divided(number, 0, 1));
        let mean_of = |at: usize| {
            let of_each = phase.windows.iter().map(|all| mean_ns(part(all, at, number)));
            mean(&of_each.collect::<Vec<_>>())
        };
        phase.means_ns = (0..number).map(mean_of).collect();
        Some(phase)
    }

    /// Each repeat for itself; of a single one, each pass.
    pub(super) fn of_repeats(cell: &[&'a Measurement], start_up: f64) -> Vec<Self> {
        let repeats = each_once(cell.iter().map(|m| m.cell.repeat));
        let part = |m: &Measurement| if repeats.len() > 1 { m.cell.repeat } else { m.pass };
        let own = |wanted: u32| {
            let cell = cell.iter().filter(|m| part(m) == wanted).copied().collect::<Vec<_>>();
            Self::new(&cell, start_up)
        };
        each_once(cell.iter().map(|m| part(m))).into_iter().filter_map(own).collect()
    }

    /// Windows of each measurement.
    fn number(&self) -> usize {
        self.windows.iter().map(|windows| windows.len()).min().unwrap_or(0)
    }

    /// The blocks of each repeat for itself.
    fn of_each(&self) -> Vec<Vec<Block>> {
        self.divided(self.blocks.len(), 0, 1)
    }

    /// Each repeat in `number` blocks, of every `step`th window from `first` on.
    fn divided(&self, number: usize, first: usize, step: usize) -> Vec<Vec<Block>> {
        self.windows.iter().map(|windows| blocks(windows, number, first, step)).collect()
    }

    /// Smaller blocks.
    fn fine(&self) -> Vec<Block> {
        joined(&self.divided(self.number().min(FINE_BLOCKS_MAX), 0, 1))
    }

    /// A curve as it fits the smaller blocks: larger ones bend a steep law.
    pub(super) fn fine_fit(&self, curve: LatencyCurve) -> Option<CurveFit> {
        CurveFit::new(curve, &self.fine())
    }

    /// The blocks of every second window, and of the others; none where there are too few.
    fn halves(&self) -> Option<[Vec<Block>; 2]> {
        let number = (self.number() / (2 * BLOCK_WINDOWS)).min(BLOCKS_MAX);
        (number >= WINDOWS_MIN).then(|| [0, 1].map(|first| joined(&self.divided(number, first, 2))))
    }

    /// The share of the phase, an eighth at most, that is slower at its start than a line through the
    /// rest leads to, and suddenly no more. No law does that.
    pub(super) fn start_up(&self) -> f64 {
        let blocks = self.fine();
        let most = if blocks.len() < START_UP_WINDOWS_MIN { 0 } else { blocks.len() / 8 };
        let Some(fit) = CurveFit::new(LatencyCurve::Law(Law::Linear), &blocks[most..]) else {
            return 0.0;
        };
        let least = blocks.iter().map(|block| block.log).fold(f64::INFINITY, f64::min);
        // Through a bend that opens upwards a line leads to nothing at the start.
        if fit.height(blocks[0].x) < least - LINE_BELOW_MAX.ln() {
            return 0.0;
        }
        let needed = (5.0 * fit.deviation).max(CHANGE_MIN.ln_1p());
        let off: Vec<f64> = blocks.iter().map(|block| fit.residual(block)).collect();
        let number = off[..most].iter().take_while(|off| **off > needed).count();
        let falls_by = median(&off[..number]) - median(&off[number..2 * number]);
        if falls_by > needed { number as f64 / blocks.len() as f64 } else { 0.0 }
    }
}

/// The share of a phase that is its start-up, the same for all variants so that what they do after it
/// is comparable: the longest of theirs. `cells` are those of one phase and level.
pub(in crate::analysis) fn start_up_share(cells: &[Vec<&Measurement>]) -> f64 {
    let own = |cell: &Vec<&Measurement>| PhaseBlocks::new(cell, 0.0).map(|phase| phase.start_up());
    cells.iter().filter_map(own).fold(0.0, f64::max)
}

/// Repeats as a whole may be faster or slower; that is no growth.
fn joined(all: &[Vec<Block>]) -> Vec<Block> {
    let middles: Vec<f64> = all.iter().map(|blocks| median_log(blocks)).collect();
    let at = |n: usize| {
        let logs: Vec<f64> =
            all.iter().zip(&middles).map(|(b, middle)| b[n].log - middle).collect();
        Block { x: all[0][n].x, log: if logs.len() > 2 { median(&logs) } else { mean(&logs) } }
    };
    (0..all.first().map_or(0, Vec::len)).map(at).collect()
}

/// One of so many equal parts.
fn part(windows: &[Window], at: usize, number: usize) -> &[Window] {
    &windows[at * windows.len() / number..(at + 1) * windows.len() / number]
}

/// Medians of the means of equal numbers of windows, of every `step`th from `first` on: a stall does
/// not change the shape.
fn blocks(windows: &[Window], number: usize, first: usize, step: usize) -> Vec<Block> {
    let block = |at: usize| {
        let part = || part(windows, at, number).iter().skip(first).step_by(step);
        let logs: Vec<f64> = part().map(|w| w.mean_ns.ln()).collect();
        let middles: Vec<f64> =
            part().map(|w| w.first as f64 + w.operations as f64 / 2.0).collect();
        Block { x: mean(&middles), log: median(&logs) }
    };
    (0..number).map(block).collect()
}

/// The shape of a phase's latency over its blocks.
#[derive(Clone, Debug)]
pub(super) struct PhaseShape {
    /// The law that holds; constant if no fitted law is significant.
    pub(super) law: Law,
    /// The fitted curve of the best law that is not constant, even if `law` is constant.
    pub(super) fit: CurveFit,
    /// What describes the phase better than the law, if anything does.
    pub(super) beyond_law: BeyondLaw,
}

/// A shape that describes a phase better than a law does.
#[derive(Clone, Debug)]
pub(super) enum BeyondLaw {
    /// Nothing does.
    Nothing,
    /// From some number of operations on they take longer, or shorter: the step or hinge.
    Threshold(CurveFit, GrowthThreshold),
    /// One way throughout, as no law goes.
    Monotone(MonotoneFit),
}

impl PhaseShape {
    /// None if no law can be fitted to so few blocks. Whether a phase without a law goes up and down
    /// follows from its ends, which are not compared here.
    pub(super) fn new(phase: &PhaseBlocks<'_>) -> Option<Self> {
        let fit = best_law(&phase.blocks)?;
        let law = match fit.curve {
            LatencyCurve::Law(law) if fit.is_significant(&phase.blocks, FINDING_ALPHA) => law,
            _ => Law::Constant,
        };
        let threshold = threshold(&phase.blocks, &phase.fine(), &phase.of_each());
        let curve = threshold.as_ref().map_or(fit.curve, |(found, _)| found.curve);
        let halves = phase.halves();
        let monotone = halves.and_then(|halves| monotone(&phase.blocks, &halves, curve));
        let beyond_law = match (monotone, threshold) {
            (Some(found), _) => BeyondLaw::Monotone(found),
            (None, Some((fit, figures))) => BeyondLaw::Threshold(fit, figures),
            (None, None) => BeyondLaw::Nothing,
        };
        Some(Self { law, fit, beyond_law })
    }

    /// The latency that it leads to at `x`, where no law holds that of the best; only ratios count.
    pub(super) fn latency(&self, x: f64) -> f64 {
        match &self.beyond_law {
            BeyondLaw::Monotone(found) => found.height(x).exp(),
            BeyondLaw::Threshold(fit, _) => fit.height(x).exp(),
            BeyondLaw::Nothing => self.fit.height(x).exp(),
        }
    }

    /// How many numbers were fitted. A course that goes one way is pooled to fewer values than blocks.
    pub(super) fn parameters(&self) -> f64 {
        match &self.beyond_law {
            BeyondLaw::Monotone(found) => found.blocks.len() as f64 / 2.0,
            BeyondLaw::Threshold(..) => 3.0,
            BeyondLaw::Nothing => 2.0,
        }
    }
}

/// Largest standard deviation of a block from the best simple law, as a share, with which no power is
/// considered.
const SIMPLE_DEVIATION_MAX: f64 = 0.01;
/// Evidence counts neighbours that depend on each other no more than this; the test of chance counts
/// them in full.
const DEPENDENCE_MAX: f64 = 2.0;

/// The laws that are no constant.
const LAWS: [LatencyCurve; 3] =
    [LatencyCurve::Law(Law::Linear), LatencyCurve::Law(Law::Logarithmic), LatencyCurve::POWER];

/// The law that fits best; a power only where it has more evidence than the others.
fn best_law(blocks: &[Block]) -> Option<CurveFit> {
    let all = fits(blocks, &LAWS);
    let deviation = least_deviation(all.iter());
    let (powers, simple): (Vec<CurveFit>, Vec<CurveFit>) =
        all.into_iter().partition(|fit| fit.curve == LatencyCurve::POWER);
    let best = |fits: &[CurveFit]| best_fit(blocks, fits, deviation);
    match (best(&simple), best(&powers)) {
        (Some(simple), Some(power)) => {
            let misfits = [simple, power].map(|fit| fit.misfit(blocks, deviation));
            let is_power = evidence(blocks, &power, misfits) > POWER_EVIDENCE_MIN
                && simple.deviation > SIMPLE_DEVIATION_MAX;
            Some(if is_power { power } else { simple })
        }
        (simple, power) => simple.or(power),
    }
}

fn fits(blocks: &[Block], curves: &[LatencyCurve]) -> Vec<CurveFit> {
    curves.iter().filter_map(|curve| CurveFit::new(*curve, blocks)).collect()
}

fn least_deviation<'a>(fits: impl Iterator<Item = &'a CurveFit>) -> f64 {
    fits.map(|fit| fit.deviation).fold(f64::INFINITY, f64::min)
}

fn best_fit(blocks: &[Block], fits: &[CurveFit], deviation: f64) -> Option<CurveFit> {
    let misfit = |fit: &CurveFit| fit.misfit(blocks, deviation);
    fits.iter().min_by(|a, b| misfit(a).total_cmp(&misfit(b))).copied()
}

/// The evidence for a fit, from the misfit of another one and its own: twice the logarithm of the
/// likelihood ratio.
fn evidence(blocks: &[Block], fit: &CurveFit, [other, own]: [f64; 2]) -> f64 {
    let independent = blocks.len() as f64 / fit.dependence.min(DEPENDENCE_MAX);
    independent * (other / own).ln()
}

/// The number of operations from which on they take longer or shorter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthThreshold {
    /// All at once, or more with every operation.
    pub shape: ChangeShape,
    /// From so many operations on.
    pub at: f64,
    /// The 95% interval of that number, by repeats and windows; of a single repeat by its windows alone.
    pub interval: Interval,
}

/// So many blocks lie before a place, and from it on.
const BEFORE_MIN: usize = 3;
const BEYOND_MIN: usize = 2;
/// Gradual curves that a place is compared with: a + b x^c.
const POWERS: [f64; 13] = [-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0];
/// So much of the change must most repeats show by themselves.
const SHARE_OF_CHANGE: f64 = 0.5;

/// The best step or hinge of the blocks of a phase, if there is one; `fine` are smaller blocks, among
/// which it is located, and `repeats` the blocks of each repeat.
fn threshold(
    blocks: &[Block],
    fine: &[Block],
    repeats: &[Vec<Block>],
) -> Option<(CurveFit, GrowthThreshold)> {
    let rough = best_change(blocks)?;
    let LatencyCurve::Change(shape, from) = rough.curve else { return None };
    let agreed = repeats.iter().filter(|repeat| agrees(&rough, shape, from, repeat)).count();
    if agreed * 3 < repeats.len() * 2 {
        return None;
    }
    located(shape, from, blocks, fine)
}

/// Where a repeat changes in the way of `all`, the fit to all repeats, by its own windows; none if it
/// does not.
pub(super) fn own_place(all: &CurveFit, repeat: &PhaseBlocks<'_>) -> Option<f64> {
    let LatencyCurve::Change(shape, _) = all.curve else { return None };
    let blocks = &repeat.blocks;
    let fits = fits(blocks, &changes(blocks, &[shape]));
    let rough = best_fit(blocks, &fits, least_deviation(fits.iter()))?;
    let LatencyCurve::Change(_, from) = rough.curve else { return None };
    let (_, found) = located(shape, from, blocks, &repeat.fine())?;
    agrees(all, shape, found.at, blocks).then_some(found.at)
}

/// The best of all places between blocks, if it is significant, and better than laws and gradual curves.
fn best_change(blocks: &[Block]) -> Option<CurveFit> {
    let n = blocks.len() as f64;
    let curves = changes(blocks, &[ChangeShape::Step, ChangeShape::Hinge]);
    let (fit, over_laws) = best_over(blocks, &fits(blocks, &curves), &fits(blocks, &LAWS))?;
    let alpha = FINDING_ALPHA / curves.len() as f64;
    if over_laws <= EVIDENCE_OVER_LAWS_MIN + n.ln() || !fit.is_significant(blocks, alpha) {
        return None;
    }
    let gradual = fits(blocks, &POWERS.map(LatencyCurve::Gradual));
    let (_, over_gradual) = best_over(blocks, &[fit], &gradual)?;
    (over_gradual > POWER_EVIDENCE_MIN).then_some(fit)
}

/// Changes at all places between blocks.
fn changes(blocks: &[Block], shapes: &[ChangeShape]) -> Vec<LatencyCurve> {
    let between = |at: usize| f64::midpoint(blocks[at - 1].x, blocks[at].x);
    let places = BEFORE_MIN..(blocks.len() + 1).saturating_sub(BEYOND_MIN);
    let at_place = |at| shapes.iter().map(move |shape| LatencyCurve::Change(*shape, between(at)));
    places.flat_map(at_place).collect()
}

/// The best of some fits, and the evidence for it over the best of others.
fn best_over(blocks: &[Block], some: &[CurveFit], others: &[CurveFit]) -> Option<(CurveFit, f64)> {
    let deviation = least_deviation(some.iter().chain(others));
    let fit = best_fit(blocks, some, deviation)?;
    let misfits = others.iter().map(|other| other.misfit(blocks, deviation));
    let least = misfits.fold(f64::INFINITY, f64::min);
    Some((fit, evidence(blocks, &fit, [least, fit.misfit(blocks, deviation)])))
}

/// Whether a repeat by itself shows at least half of the change, the same way.
fn agrees(fit: &CurveFit, shape: ChangeShape, from: f64, blocks: &[Block]) -> bool {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return false };
    let (before, beyond): (Vec<Block>, Vec<Block>) =
        blocks.iter().copied().partition(|block| block.x <= from);
    let whole = fit.height(last.x) - fit.height(first.x);
    let end = if shape == ChangeShape::Step { median_log(&beyond) } else { last.log };
    (end - median_log(&before)) * whole.signum() >= SHARE_OF_CHANGE * whole.abs()
}

/// A change with its place among smaller blocks, not further than three of the larger ones from
/// `middle`: the best one, and all that fit nearly as well (profile likelihood).
fn located(
    shape: ChangeShape,
    middle: f64,
    blocks: &[Block],
    fine: &[Block],
) -> Option<(CurveFit, GrowthThreshold)> {
    let near = 3.0 * (blocks.get(1)?.x - blocks.first()?.x);
    let between = |pair: &[Block]| f64::midpoint(pair[0].x, pair[1].x);
    let places = fine.windows(2).map(between).filter(|at| (at - middle).abs() <= near);
    let fits: Vec<(f64, CurveFit)> = places
        .filter_map(|at| Some((at, CurveFit::new(LatencyCurve::Change(shape, at), fine)?)))
        .collect();
    let deviation = least_deviation(fits.iter().map(|(_, fit)| fit));
    let misfit = |fit: &CurveFit| fit.misfit(fine, deviation);
    let (at, fit) = fits.iter().min_by(|a, b| misfit(&a.1).total_cmp(&misfit(&b.1)))?;
    let t = student_t(INTERVAL_ALPHA, fit.degrees)?;
    let variance = misfit(fit) / (fine.len() as f64 - 3.0) * fit.dependence;
    let is_as_good = |one: &&(f64, CurveFit)| misfit(&one.1) - misfit(fit) <= t * t * variance;
    // What happens within a block moves its median or not.
    let half = fine.windows(2).map(|pair| pair[1].x - pair[0].x).fold(0.0, f64::max) / 2.0;
    let [mut low, mut high] = [*at - half, *at + half];
    for (place, _) in fits.iter().filter(is_as_good) {
        (low, high) = (low.min(place - half), high.max(place + half));
    }
    let interval = Interval { low: low.max(0.0).round(), high: high.round() };
    Some((*fit, GrowthThreshold { shape, at: at.round(), interval }))
}

/// The share of what blocks differ by that a monotone fit must explain.
const EXPLAINED_MIN: f64 = 0.9;
/// A curve that is off by less than this share, or from the other half of the windows, is good enough.
const CURVE_DEVIATION_MAX: f64 = 0.05;
/// The monotone fit itself must predict that half so many times better.
const BETTER_MIN: f64 = 2.0;

/// A fit that goes one way throughout.
#[derive(Clone, Debug)]
pub(super) struct MonotoneFit {
    /// The blocks with the logarithms that it gives them.
    blocks: Vec<Block>,
}

impl MonotoneFit {
    /// That of the nearest block.
    fn height(&self, x: f64) -> f64 {
        let distance = |block: &&Block| (block.x - x).abs();
        let nearest = self.blocks.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(f64::NAN, |block| block.log)
    }
}

/// The monotone fit of blocks that change by enough, if that of one half of the windows predicts the
/// other half much better than the best curve so taken. For that no parameters are counted: what fits
/// chance predicts nothing.
fn monotone(blocks: &[Block], halves: &[Vec<Block>; 2], best: LatencyCurve) -> Option<MonotoneFit> {
    let all: Vec<f64> = blocks.iter().map(|block| block.log).collect();
    if CurveFit::new(best, blocks)?.deviation < CURVE_DEVIATION_MAX {
        return None;
    }
    let tau = trend(&all)?.tau;
    let logs = one_way(blocks, tau);
    let change = logs.last()? - logs.first()?;
    let off: Vec<f64> = all.iter().zip(&logs).map(|(seen, log)| seen - log).collect();
    let explained = 1.0 - squares(&off) / squares(&all);
    if explained < EXPLAINED_MIN || change.abs() < CHANGE_MIN.ln_1p() {
        return None;
    }
    let (mut of_curve, mut of_monotone) = (Vec::new(), Vec::new());
    for [from, to] in [[&halves[0], &halves[1]], [&halves[1], &halves[0]]] {
        let fit = CurveFit::new(best, from)?;
        of_curve.extend(to.iter().map(|block| fit.residual(block)));
        of_monotone.extend(to.iter().zip(one_way(from, tau)).map(|(block, log)| block.log - log));
    }
    let (curve, own) = (scale(&of_curve), scale(&of_monotone));
    let is_better = curve >= CURVE_DEVIATION_MAX && curve >= BETTER_MIN * own;
    let fitted = blocks.iter().zip(logs).map(|(block, log)| Block { log, ..*block });
    is_better.then(|| MonotoneFit { blocks: fitted.collect() })
}

/// The nearest that only rises, or with a `tau` below zero only falls.
fn one_way(blocks: &[Block], tau: f64) -> Vec<f64> {
    let turned: Vec<f64> = blocks.iter().map(|block| tau.signum() * block.log).collect();
    rising(&turned).into_iter().map(|log| tau.signum() * log).collect()
}
