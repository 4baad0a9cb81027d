//! Where a number lies on the picture.

use crate::report::figures::{Axis, Scale};

/// Numbers of an axis as pixels.
pub(super) struct Ruler<'a> {
    pub(super) axis: &'a Axis,
    /// The ends in numbers.
    pub(super) range: [f64; 2],
    /// The same ends in pixels.
    pub(super) pixels: [f64; 2],
}

impl Ruler<'_> {
    /// The pixel of a number; that of the nearest end if it lies outside.
    pub(super) fn at(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let share = match self.axis.scale {
            // Quotients of ends that lie far apart are beyond all numbers.
            Scale::Logarithmic if value > 0.0 => (value.ln() - low.ln()) / (high.ln() - low.ln()),
            Scale::Logarithmic => 0.0,
            _ => (value - low) / (high - low),
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let [from, to] = self.pixels;
        from + share * (to - from)
    }

    /// Pixels from end to end.
    pub(super) fn length(&self) -> f64 {
        (self.pixels[1] - self.pixels[0]).abs()
    }

    /// Pixels of a distance between numbers that lie evenly.
    pub(super) fn span(&self, distance: f64) -> f64 {
        let [low, high] = self.range;
        distance / (high - low) * (self.pixels[1] - self.pixels[0])
    }
}
