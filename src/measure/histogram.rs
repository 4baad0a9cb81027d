//! Histograms of latencies, in nanoseconds.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

/// Three significant digits: every figure is within 0.1%.
const DIGITS: u8 = 3;

/// The longest latency told apart from longer ones: an hour, in nanoseconds.
pub const LATENCY_MAX_NS: u64 = 3_600_000_000_000;

/// An empty histogram of latencies in nanoseconds.
pub fn new_histogram() -> Histogram<u64> {
    // The bounds and the digits are constants that the library accepts.
    #[expect(clippy::expect_used, reason = "constants, tried by every test")]
    Histogram::new_with_bounds(1, LATENCY_MAX_NS, DIGITS).expect("constant bounds are valid")
}

/// A histogram in HdrHistogram's V2 encoding.
pub fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a vector cannot fail.
    let _ = V2Serializer::new().serialize(histogram, &mut bytes);
    bytes
}
