//! A number of operations from which on they take longer, or shorter: a step or a bend in the course
//! of a phase. Told only where it has clearly more evidence than any law, and than what bends evenly.

use super::curve::{Block, CHANGE_MIN, Curve, Fit, Law};
use super::fit::median;
use super::laws::{CHANCE_MAX, EVIDENCE_MIN};
use crate::analysis::statistics::student::student_t;

/// The evidence that a place needs over a law, "very strong" in Kass and Raftery, beside what the
/// parameter more costs by BIC (Schwarz, Annals of Statistics 6, 1978).
const EVIDENCE_OVER_LAWS_MIN: f64 = 10.0;
/// As for powers: evidence counts neighbours that are alike no more than this; the test of chance
/// counts them in full.
const DEPENDENCE_MAX: f64 = 2.0;
/// Medians of windows have two digits: both sides of a place together are sure to this share.
const RESOLUTION: f64 = 0.008;
/// So many blocks lie before a place, and from it on.
const BEFORE_MIN: usize = 3;
const BEYOND_MIN: usize = 2;
/// Even bends that a place is held against: a + b x^c.
const POWERS: [f64; 13] = [-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0];
/// So much of the change must most repeats show by themselves.
const SHARE_OF_CHANGE: f64 = 0.5;

/// A threshold that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    /// A step or a hinge.
    pub(super) fit: Fit,
    /// From so many operations on.
    pub(super) at: f64,
    /// The 95% interval of that place.
    pub(super) interval: [f64; 2],
    /// How many times as long operations take, at the end as before the place.
    pub(super) ratio: f64,
    /// Its 95% interval.
    pub(super) ratio_interval: [f64; 2],
}

impl Threshold {
    /// The best step or hinge of the blocks of a phase, if there is one; `fine` are smaller blocks,
    /// which tell the place, and `repeats` the blocks of each repeat.
    pub(super) fn of(blocks: &[Block], fine: &[Block], repeats: &[Vec<Block>]) -> Option<Self> {
        let rough = best(blocks)?;
        let agreed = repeats.iter().filter(|repeat| agrees(&rough, repeat)).count();
        let enough = agreed * 3 >= repeats.len() * 2;
        let placed = enough.then(|| placed(&rough, blocks, fine)).flatten()?;
        let (_, [low, high]) = (placed.ratio, placed.ratio_interval);
        (low > 1.0 || high < 1.0).then_some(placed)
    }

    pub(super) fn is_step(&self) -> bool {
        matches!(self.fit.curve, Curve::Step(_))
    }
}

/// The best of all places between blocks, if it holds, and better than laws and even bends do.
fn best(blocks: &[Block]) -> Option<Fit> {
    let n = blocks.len() as f64;
    let between = |at: usize| f64::midpoint(blocks[at - 1].x, blocks[at].x);
    let places = BEFORE_MIN..(blocks.len() + 1).saturating_sub(BEYOND_MIN);
    let curves: Vec<Curve> =
        places.flat_map(|at| [Curve::Step(between(at)), Curve::Hinge(between(at))]).collect();
    let fitted = |curves: &[Curve]| -> Vec<Fit> {
        curves.iter().filter_map(|curve| Fit::of(*curve, blocks)).collect()
    };
    let (found, laws) =
        (fitted(&curves), fitted(&[Law::Linear, Law::Logarithmic, Law::Power].map(Curve::Law)));
    let (fit, over_laws) = evidence(blocks, &found, &laws)?;
    let chance = CHANCE_MAX / curves.len() as f64;
    if over_laws <= EVIDENCE_OVER_LAWS_MIN + n.ln() || !fit.holds(blocks, chance) {
        return None;
    }
    let (_, over_bends) = evidence(blocks, &[fit], &fitted(&POWERS.map(Curve::Bent)))?;
    (over_bends > EVIDENCE_MIN).then_some(fit)
}

/// The best of some fits, and the evidence for it over the best of others: twice the logarithm of the
/// likelihood ratio.
fn evidence(blocks: &[Block], some: &[Fit], others: &[Fit]) -> Option<(Fit, f64)> {
    let every = some.iter().chain(others);
    let deviation = every.map(|fit| fit.deviation).fold(f64::INFINITY, f64::min);
    let misfit = |fit: &Fit| fit.misfit(blocks, deviation);
    let fit = some.iter().min_by(|a, b| misfit(a).total_cmp(&misfit(b)))?;
    let least = others.iter().map(misfit).fold(f64::INFINITY, f64::min);
    let independent = blocks.len() as f64 / fit.dependence.min(DEPENDENCE_MAX);
    Some((*fit, independent * (least / misfit(fit)).ln()))
}

/// Whether a repeat by itself shows at least half of the change, the same way.
fn agrees(fit: &Fit, blocks: &[Block]) -> bool {
    let (Curve::Step(from) | Curve::Hinge(from)) = fit.curve else { return false };
    let logs = |beyond: bool| -> Vec<f64> {
        blocks.iter().filter(|block| (block.x > from) == beyond).map(|block| block.log).collect()
    };
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return false };
    let whole = fit.height(last.x) - fit.height(first.x);
    let change = match fit.curve {
        Curve::Step(_) => median(&logs(true)) - median(&logs(false)),
        _ => last.log - median(&logs(false)),
    };
    change * whole.signum() >= SHARE_OF_CHANGE * whole.abs()
}

/// The same with its place among smaller blocks: the best one, and all that fit nearly as well
/// (profile likelihood).
fn placed(rough: &Fit, blocks: &[Block], fine: &[Block]) -> Option<Threshold> {
    let near = 3.0 * (blocks.get(1)?.x - blocks.first()?.x);
    let (Curve::Step(middle) | Curve::Hinge(middle)) = rough.curve else { return None };
    let between = |pair: &[Block]| f64::midpoint(pair[0].x, pair[1].x);
    let curve = |at: f64| match rough.curve {
        Curve::Step(_) => Curve::Step(at),
        _ => Curve::Hinge(at),
    };
    let places = fine.windows(2).map(between).filter(|at| (at - middle).abs() <= near);
    let fits: Vec<(f64, Fit)> =
        places.filter_map(|at| Some((at, Fit::of(curve(at), fine)?))).collect();
    let deviation = fits.iter().map(|(_, fit)| fit.deviation).fold(f64::INFINITY, f64::min);
    let misfit = |fit: &Fit| fit.misfit(fine, deviation);
    let (at, fit) = fits.iter().min_by(|a, b| misfit(&a.1).total_cmp(&misfit(&b.1)))?;
    let t = student_t(0.05, fit.degrees)?;
    let variance = misfit(fit) / (fine.len() as f64 - 3.0) * fit.dependence;
    let as_good = |one: &&(f64, Fit)| misfit(&one.1) - misfit(fit) <= t * t * variance;
    // What happens within a block moves its median or not.
    let half = fine.windows(2).map(|pair| pair[1].x - pair[0].x).fold(0.0, f64::max) / 2.0;
    let [mut low, mut high] = [*at - half, *at + half];
    let end = fine.last()?.x;
    let (rise, rise_half) = fit.rise(end);
    let [mut least, mut most] = [rise - rise_half, rise + rise_half];
    for (place, one) in fits.iter().filter(as_good) {
        (low, high) = (low.min(place - half), high.max(place + half));
        let other = one.rise(end).0;
        (least, most) = (least.min(other), most.max(other));
    }
    let ratio_interval = [(least - RESOLUTION).exp(), (most + RESOLUTION).exp()];
    let whole = ratio_interval.iter().all(|end| end.is_finite());
    (whole && rise.abs() >= CHANGE_MIN.ln_1p()).then_some(Threshold {
        fit: *fit,
        at: *at,
        interval: [low.max(0.0), high],
        ratio: rise.exp(),
        ratio_interval,
    })
}
