//! Where the numbers of an axis lie in a picture.

use crate::report::charts::AxisSpan;

/// Where the numbers of an axis lie, in pixels.
#[derive(Clone, Copy)]
pub(super) struct AxisPixels<'a> {
    pub(super) span: AxisSpan<'a>,
    /// Its low and its high end.
    pub(super) pixels: [f64; 2],
}

impl AxisPixels<'_> {
    /// The pixel of a number; that of the nearest end if it lies outside.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.pixels[0] + self.span.share(value) * (self.pixels[1] - self.pixels[0])
    }

    /// Pixels from end to end.
    pub(super) fn length(&self) -> f64 {
        (self.pixels[1] - self.pixels[0]).abs()
    }

    /// Pixels of a distance between numbers, on an axis that is not logarithmic.
    pub(super) fn part(&self, distance: f64) -> f64 {
        self.span.part(distance) * (self.pixels[1] - self.pixels[0])
    }
}
