//! The law by which a latency follows the operations done, from blocks of a phase.

use super::curve::{Block, Curve, Fit, Law};

/// The chance of a change as sure without any law, at most: of three laws the best is taken.
pub(super) const CHANCE_MAX: f64 = 0.01;
/// A power needs this much more evidence than a simpler law: twice the logarithm of the
/// likelihood ratio, "strong" in Kass and Raftery, "Bayes factors", JASA 90, 1995.
pub(super) const EVIDENCE_MIN: f64 = 6.0;
/// A simpler law that misses by less than this is good enough.
const MISS_MIN: f64 = 0.01;
/// Blocks at the start that are slower than this over what the rest leads to are a warm-up.
const WARM_UP_MIN: f64 = 0.05;

/// What was found of a phase's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    /// The law.
    pub(super) law: Law,
    /// The law that fits best of those that are not constant, whether it holds or not.
    pub(super) fit: Fit,
    /// Blocks at the start that were left out as a warm-up.
    pub(super) warm_up: usize,
}

/// The law of the blocks; none if no law can be fitted to so few.
pub(super) fn judge(blocks: &[Block]) -> Option<Verdict> {
    let warm_up = warm_up(blocks);
    let blocks = &blocks[warm_up..];
    let laws = [Law::Linear, Law::Logarithmic, Law::Power];
    let fits: Vec<Fit> =
        laws.into_iter().filter_map(|law| Fit::of(Curve::Law(law), blocks)).collect();
    let deviation = fits.iter().map(|fit| fit.deviation).fold(f64::INFINITY, f64::min);
    let misfit = |fit: &Fit| fit.misfit(blocks, deviation);
    let best_of = |power: bool| {
        let fits = fits.iter().filter(|fit| (fit.curve == Curve::Law(Law::Power)) == power);
        fits.min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
    };
    let fit = match (best_of(false), best_of(true)) {
        (Some(simple), Some(power)) => {
            let independent = blocks.len() as f64 / power.dependence.min(2.0);
            let evidence = independent * (misfit(simple) / misfit(power)).ln();
            if evidence > EVIDENCE_MIN && simple.deviation > MISS_MIN { power } else { simple }
        }
        (simple, power) => simple.or(power)?,
    };
    let law = match fit.curve {
        Curve::Law(law) if fit.holds(blocks, CHANCE_MAX) => law,
        _ => Law::Constant,
    };
    Some(Verdict { law, fit: *fit, warm_up })
}

/// How many blocks at the start, of the first eighth, are slower than a line through the others
/// leads to. A law that grows never looks like this.
fn warm_up(blocks: &[Block]) -> usize {
    let most = blocks.len() / 8;
    let Some(fit) = Fit::of(Curve::Law(Law::Linear), &blocks[most..]) else { return 0 };
    let slower = |block: &Block| fit.residual(block) > (5.0 * fit.deviation).max(WARM_UP_MIN);
    (0..most).rev().find(|at| slower(&blocks[*at])).map_or(0, |last| last + 1)
}
