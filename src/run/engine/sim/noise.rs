//! Random deviation of simulated times.

use crate::base::random::{Stream, draw, unit};
use crate::plan::sim::SimNoise;

/// Requests from one draw of drifting noise to the next.
const REQUESTS_BETWEEN: u64 = 100;

/// How much longer than the law a request takes: the same for the same seed and number.
pub(super) fn factor(noise: SimNoise, seed: u64, request: u64) -> f64 {
    let chance = || unit(draw(seed, Stream::Noise, request));
    match noise {
        SimNoise::None => 1.0,
        SimNoise::Uniform => 0.5 + chance(),
        SimNoise::Bimodal if chance() < 0.1 => 5.0,
        SimNoise::Bimodal => 1.0,
        SimNoise::Skewed => -(1.0 - chance()).ln(),
        SimNoise::Drifting => 0.5 + wandering(seed, request),
    }
}

/// A number in 0..1 that lies on a line between two that are drawn.
fn wandering(seed: u64, request: u64) -> f64 {
    // Far from the draws of single requests.
    let drawn = |at: u64| unit(draw(!seed, Stream::Noise, at));
    let at = request / REQUESTS_BETWEEN;
    let share = (request % REQUESTS_BETWEEN) as f64 / REQUESTS_BETWEEN as f64;
    drawn(at) * (1.0 - share) + drawn(at + 1) * share
}
