//! Records and encodes histograms of latencies, in nanoseconds.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Three significant digits: every figure is within 0.1%.
pub(crate) const DIGITS: u8 = 3;

/// The longest latency that is distinguished from longer ones: an hour, in nanoseconds.
pub const LATENCY_MAX_NS: u64 = 3_600_000_000_000;

/// Two significant digits, where there are many histograms at a time: every figure is within 1%.
pub(crate) const COARSE_DIGITS: u8 = 2;

/// An empty histogram of latencies in nanoseconds.
pub fn new_histogram() -> Histogram<u64> {
    empty(DIGITS)
}

/// The same with two significant digits, an eighth of the size.
pub fn coarse_histogram() -> Histogram<u64> {
    empty(COARSE_DIGITS)
}

/// A worker's histogram begins with room for latencies up to this, in nanoseconds.
const GROWS_ABOVE_NS: u64 = 1_000_000;

/// An empty histogram for one worker, which grows with longer latencies: there may be hundreds of workers.
pub(crate) fn growing_histogram(digits: u8) -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_max(GROWS_ABOVE_NS, digits).unwrap_or_else(|_| empty(digits));
    histogram.auto(true);
    histogram
}

/// With these digits.
pub(crate) fn empty(digits: u8) -> Histogram<u64> {
    // The bounds and the digits are constants that the library accepts.
    #[expect(clippy::expect_used, reason = "constants, tried by every test")]
    Histogram::new_with_bounds(1, LATENCY_MAX_NS, digits).expect("constant bounds are valid")
}

/// A histogram in HdrHistogram's V2 encoding.
pub fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to a vector cannot fail.
    let _ = V2Serializer::new().serialize(histogram, &mut bytes);
    bytes
}

/// What a compressed V2 histogram begins with, before its length.
const COMPRESSED: u32 = 0x1c84_9314;

/// No histogram of these bounds is longer in V2 encoding.
const ENCODED_BYTES_MAX: u64 = 1 << 20;

/// No histogram has more values: the library computes quantiles of them as f64, which is exact up to here.
const COUNT_MAX: u64 = 1 << 53;

/// What stands before the counts in V2 encoding: a mark, the length of the rest, an offset, the
/// digits, and three numbers of eight bytes.
const HEAD_BYTES: usize = 40;

/// A histogram in V2 encoding as text: compressed and in base64, as the lines of HdrHistogram's
/// logs have it. None for no histogram.
pub fn to_text(encoded: &[u8]) -> Option<String> {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(encoded).ok()?;
    let compressed = zlib.finish().ok()?;
    let mut bytes = COMPRESSED.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(compressed.len()).ok()?.to_be_bytes());
    bytes.extend(compressed);
    (!encoded.is_empty()).then(|| STANDARD.encode(bytes))
}

/// The histogram that a text stands for, in V2 encoding; `None` if it is no histogram of latencies.
pub fn from_text(text: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (head, compressed) = bytes.split_at_checked(8)?;
    let length = u32::try_from(compressed.len()).ok()?;
    if head != [COMPRESSED.to_be_bytes(), length.to_be_bytes()].concat() {
        return None;
    }
    let mut encoded = Vec::new();
    ZlibDecoder::new(compressed).take(ENCODED_BYTES_MAX + 1).read_to_end(&mut encoded).ok()?;
    let small = encoded.len() as u64 <= ENCODED_BYTES_MAX;
    (small && decoded(&encoded).is_some()).then_some(encoded)
}

/// The histogram of these bytes in V2 encoding; `None` if they are none with three digits, or with two.
pub fn decoded(mut encoded: &[u8]) -> Option<Histogram<u64>> {
    // The claims of the head are checked first: the reader makes room for all of it at once.
    let word = |at: usize| Some(u32::from_be_bytes(*encoded.get(at..)?.first_chunk()?));
    let payload = encoded.len().checked_sub(HEAD_BYTES)?;
    let has_digits = [DIGITS, COARSE_DIGITS].map(u32::from).contains(&word(12)?);
    if word(4)? as usize != payload || !has_digits {
        return None;
    }
    // The least number of all, as nine bytes stand for it: the library negates it.
    if encoded[HEAD_BYTES..].windows(9).any(|bytes| *bytes == [0xff; 9]) {
        return None;
    }
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut encoded).ok()?;
    (histogram.len() <= COUNT_MAX).then_some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::random::{Stream, below, draw};

    #[test]
    fn the_text_is_the_one_that_readers_of_histogram_logs_know() {
        let mut histogram = new_histogram();
        (1..=10_000).for_each(|ns| histogram.record(ns * 100).unwrap());
        let bytes = encoded(&histogram);
        let text = to_text(&bytes).unwrap();
        assert!(text.starts_with("HISTFAAA"), "{text}");
        let raw = STANDARD.decode(&text).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut raw.as_slice()).unwrap();
        assert_eq!(read, histogram, "as HdrHistogram reads it");
        assert_eq!(from_text(&text), Some(bytes));
        assert_eq!(to_text(&[]), None);
    }

    #[test]
    fn a_coarse_histogram_is_read_again() {
        let mut histogram = coarse_histogram();
        (1..=10_000).for_each(|ns| histogram.record(ns * 100).unwrap());
        let text = to_text(&encoded(&histogram)).unwrap();
        assert_eq!(decoded(&from_text(&text).unwrap()), Some(histogram));
    }

    #[test]
    fn a_text_that_is_no_histogram_is_refused() {
        let text = to_text(&encoded(&new_histogram())).unwrap();
        let bomb = to_text(&vec![0; 1 << 21]).unwrap();
        let cut = &text[..text.len() - 4];
        for bad in ["", "HISTFAAA", "no base64!", cut, &bomb, &to_text(&[1, 2, 3]).unwrap()] {
            assert_eq!(from_text(bad), None, "{bad:.40}");
        }
    }

    #[test]
    fn a_histogram_of_more_values_than_quantiles_are_exact_for_is_refused() {
        let with = |count: u64| {
            let mut histogram = new_histogram();
            histogram.record_n(1_000, count).unwrap();
            decoded(&encoded(&histogram)).map(|read| read.value_at_quantile(1.0))
        };
        assert_eq!(with(COUNT_MAX), Some(1_000));
        assert_eq!(with(COUNT_MAX + 2), None);
    }

    #[test]
    fn a_count_that_cannot_be_negated_is_refused() {
        let mut bytes = encoded(&new_histogram())[..HEAD_BYTES].to_vec();
        bytes.extend([0xff; 9]);
        bytes[4..8].copy_from_slice(&9u32.to_be_bytes());
        assert_eq!(decoded(&bytes), None);
    }

    #[test]
    fn no_bytes_that_are_taken_for_a_histogram_make_its_readers_panic() {
        let mut histogram = Histogram::<u64>::new(DIGITS).unwrap();
        (1..=200).for_each(|ns| histogram.record(ns * 719).unwrap());
        let good = encoded(&histogram);
        let mut drawn = 0;
        let mut random = |bound: usize| {
            drawn += 1;
            below(draw(3, Stream::Noise, drawn), bound as u64) as usize
        };
        let mut taken = 0;
        for _ in 0..300 {
            let mut bad = good.clone();
            for _ in 0..=random(3) {
                // Half of the changes are in the head, which says how large all is.
                let within = if random(2) == 0 { 40 } else { bad.len() };
                let (at, any) = (random(within), random(256) as u8);
                bad[at] = [0, 0xff, 0x7f, any][random(4)];
            }
            let Some(read) = from_text(&to_text(&bad).unwrap()) else { continue };
            let read = decoded(&read).unwrap();
            let mut sum = histogram.clone();
            sum.auto(true);
            let _ = sum.add(&read);
            let _ = (sum.value_at_quantile(0.99), sum.mean(), sum.stdev());
            taken += sum.iter_quantiles(5).take(10_000).count().min(1);
        }
        assert!(taken > 20, "only {taken} were taken: the readers were hardly tried");
    }
}
