//! Parses and formats quantities with their units.

use std::fmt;

use serde::Serialize;

crate::named_enum! {
    /// What a number counts.
    #[derive(Default)]
    pub enum Unit {
        /// A plain number.
        #[default]
        Count = "count",
        /// Bytes.
        Bytes = "bytes",
        /// Hundredths.
        Percent = "percent",
        /// Nanoseconds.
        Nanoseconds = "nanoseconds",
    }
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// The number, in the unit's base (bytes, percent, nanoseconds, or one).
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
}

/// Suffixes and what they stand for. Powers of 1024 carry the `i` of IEC 80000-13, as fio and dd
/// do not: the bare letters are powers of 1000.
const SUFFIXES: &[(&str, f64, Unit)] = &[
    ("B", 1.0, Unit::Bytes),
    ("kB", 1e3, Unit::Bytes),
    ("KB", 1e3, Unit::Bytes),
    ("MB", 1e6, Unit::Bytes),
    ("GB", 1e9, Unit::Bytes),
    ("TB", 1e12, Unit::Bytes),
    ("KiB", 1024.0, Unit::Bytes),
    ("MiB", 1_048_576.0, Unit::Bytes),
    ("GiB", 1_073_741_824.0, Unit::Bytes),
    ("TiB", 1_099_511_627_776.0, Unit::Bytes),
    ("k", 1e3, Unit::Count),
    ("M", 1e6, Unit::Count),
    ("G", 1e9, Unit::Count),
    ("%", 1.0, Unit::Percent),
    ("ns", 1.0, Unit::Nanoseconds),
    ("us", 1e3, Unit::Nanoseconds),
    ("µs", 1e3, Unit::Nanoseconds),
    ("ms", 1e6, Unit::Nanoseconds),
    ("s", 1e9, Unit::Nanoseconds),
    ("m", 60e9, Unit::Nanoseconds),
    ("min", 60e9, Unit::Nanoseconds),
    ("h", 3_600e9, Unit::Nanoseconds),
];

impl Quantity {
    /// A plain number.
    pub fn count(value: f64) -> Self {
        Self { value, unit: Unit::Count }
    }

    /// Reads `16MiB`, `1_000_000`, `80%`, `20us`, `1.5 GiB`; `None` if it is not a quantity.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let split = text
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(split);
        let value: f64 = number.replace('_', "").parse().ok()?;
        let suffix = suffix.trim();
        if suffix.is_empty() {
            return Some(Self::count(value));
        }
        let (_, factor, unit) = SUFFIXES.iter().find(|(s, _, _)| *s == suffix)?;
        Some(Self { value: unbent(value * factor), unit: *unit })
    }

    /// The value as a whole number that is not negative; `None` if it is neither.
    pub fn whole(self) -> Option<u64> {
        // Beyond 2^53 a double no longer holds every whole number.
        (self.value >= 0.0 && self.value.fract() == 0.0 && self.value <= 9_007_199_254_740_992.0)
            .then_some(self.value as u64)
    }
}

/// Reads `150MB/s`: bytes in a second; `None` if it is not such a rate.
pub fn bytes_per_second(text: &str) -> Option<f64> {
    let bytes = Quantity::parse(text.trim().strip_suffix("/s")?)?;
    (bytes.unit == Unit::Bytes).then_some(bytes.value)
}

/// The whole number that a product misses by a rounding error, as 2.3 * 1e6 may.
fn unbent(value: f64) -> f64 {
    let whole = value.round();
    if (value - whole).abs() <= 4.0 * f64::EPSILON * whole.abs() { whole } else { value }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Count if self.value.fract() == 0.0 && self.value >= 0.0 => {
                f.write_str(&grouped(self.value as u64))
            }
            Unit::Count => write!(f, "{}", self.value),
            Unit::Bytes if self.value < 0.0 => write!(f, "{}B", self.value),
            Unit::Bytes => f.write_str(&exact_bytes(self.value as u64)),
            Unit::Percent => write!(f, "{}%", self.value),
            Unit::Nanoseconds => f.write_str(&duration(self.value)),
        }
    }
}

/// A whole number with commas between its thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 file", "2 files": a count with its noun; `noun` is the singular.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        _ if number == 1 => noun.to_string(),
        _ if noun.ends_with('y') => format!("{}ies", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", grouped(number))
}

/// One of what a word counts: `file` of `files`, `directory` of `directories`, `pass` of `passes`.
pub fn singular(plural: &str) -> String {
    const WITH_E: [&str; 4] = ["ses", "xes", "ches", "shes"];
    if let Some(stem) = plural.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let ending = if WITH_E.iter().any(|end| plural.ends_with(end)) { "es" } else { "s" };
    plural.strip_suffix(ending).unwrap_or(plural).to_string()
}

/// Bytes for people, in powers of 1024, three figures: `1.46 MiB`.
pub fn bytes(number: u64) -> String {
    match byte_step(number as f64) {
        (_, "B") => format!("{number} B"),
        (size, word) => format!("{} {word}", figures(number as f64 / size, 3)),
    }
}

const BYTE_STEPS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// The power of 1024 that `number` bytes are written in, and its word.
pub fn byte_step(number: f64) -> (f64, &'static str) {
    let (mut value, mut size, mut step) = (number, 1.0, 0);
    // 1023.6 KiB would be written 1024 KiB: step up where three figures would round that way.
    while value >= 999.5 && step + 1 < BYTE_STEPS.len() {
        value /= 1024.0;
        size *= 1024.0;
        step += 1;
    }
    (size, BYTE_STEPS[step])
}

/// Bytes as somebody wrote them, without rounding: `16 MiB`, `1,000 KiB`, `1,500 B`.
fn exact_bytes(number: u64) -> String {
    let (mut value, mut step) = (number, 0);
    while value > 0 && value.is_multiple_of(1024) && step + 1 < BYTE_STEPS.len() {
        value /= 1024;
        step += 1;
    }
    format!("{} {}", grouped(value), BYTE_STEPS[step])
}

/// The unit that times of about `ns` nanoseconds are written in: its word and its nanoseconds.
pub fn time_step(ns: f64) -> (&'static str, f64) {
    const STEPS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
    STEPS.into_iter().find(|(_, size)| ns >= *size * 0.9995).unwrap_or(("ns", 1.0))
}

/// A time for people, three figures: `2.31 us`, `45.0 ms`, `1.20 s`. `ns` are nanoseconds.
pub fn duration(ns: f64) -> String {
    let (word, size) = time_step(ns);
    if word == "ns" {
        return format!("{ns:.0} ns");
    }
    format!("{} {word}", figures(ns / size, 3))
}

/// A time that is waited for, with no more figures than a plan has: `0.4 s`, `48 s`, `12 min`, `2.5 h`.
pub fn span(seconds: f64) -> String {
    const STEPS: [(&str, f64); 3] = [("s", 1.0), ("min", 60.0), ("h", 3600.0)];
    // A whole number of the smaller unit says more than a fraction of the larger one.
    let fits = |(_, size): &&(&str, f64)| seconds < size * 99.5;
    let (word, size) = STEPS.iter().find(fits).unwrap_or(&STEPS[2]);
    let value = seconds / size;
    let digits = usize::from(value < 9.95 && (value.round() - value).abs() > 0.049);
    format!("{value:.digits$} {word}")
}

/// The power of ten of the first figure.
fn order(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// A number other than 0 rounded to `wanted` significant figures, at least one.
pub fn rounded(value: f64, wanted: u32) -> f64 {
    let decimals = wanted as i32 - 1 - order(value);
    // Powers of ten below one are not exact: always scale by a whole one.
    let scale = 10f64.powi(decimals.abs());
    match decimals > 0 {
        true => (value * scale).round() / scale,
        false => (value / scale).round() * scale,
    }
}

/// A number with `wanted` significant figures, at least one, in plain notation with commas.
pub fn figures(value: f64, wanted: u32) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let (order, decimals) = (order(value), wanted as i32 - 1 - order(value));
    let rounded = rounded(value, wanted);
    if decimals > 0 {
        // Rounding 9.996 to three figures gives 10.0, not 10.00.
        let carried = self::order(rounded) > order;
        let digits = (decimals - i32::from(carried)).max(0) as usize;
        let text = format!("{rounded:.digits$}");
        return match text.split_once('.') {
            Some((whole, rest)) if rounded >= 1000.0 => {
                format!("{}.{rest}", grouped(whole.parse().unwrap_or(rounded as u64)))
            }
            _ => text,
        };
    }
    let sign = if rounded < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(rounded.abs() as u64))
}

/// A share as percent with the figures it was asked with: `3%`, `0.5%`.
pub fn percent_text(share: f64) -> String {
    let hundredths = (share * 1e4).round() / 100.0;
    format!("{hundredths}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_job_files_write_them() {
        let read = |text| Quantity::parse(text).map(|q| (q.value, q.unit));
        assert_eq!(read("16MiB"), Some((16_777_216.0, Unit::Bytes)));
        assert_eq!(read("16 MB"), Some((16e6, Unit::Bytes)));
        assert_eq!(read("1_000_000"), Some((1e6, Unit::Count)));
        assert_eq!(read("80%"), Some((80.0, Unit::Percent)));
        assert_eq!(read("20us"), Some((20_000.0, Unit::Nanoseconds)));
        for wrong in ["", "MiB", "12 apples", "1..2", "--3"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_decimal_fraction_of_a_unit_is_whole_where_it_says_so() {
        for tenths in 1..10_000u64 {
            let text = format!("{}.{}MB", tenths / 10, tenths % 10);
            let whole = Quantity::parse(&text).and_then(Quantity::whole);
            assert_eq!(whole, Some(tenths * 100_000), "{text}");
            let text = format!("{}.{}us", tenths / 10, tenths % 10);
            assert_eq!(
                Quantity::parse(&text).and_then(Quantity::whole),
                Some(tenths * 100),
                "{text}"
            );
        }
    }

    #[test]
    fn a_whole_number_is_whole_and_not_negative() {
        assert_eq!(Quantity::count(3.0).whole(), Some(3));
        assert_eq!(Quantity::count(3.5).whole(), None);
        assert_eq!(Quantity::count(-1.0).whole(), None);
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "directory"), "1 directory");
        assert_eq!(counted(2_000, "directory"), "2,000 directories");
        assert_eq!(bytes(1_048_575), "1.00 MiB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(duration(2_310.0), "2.31 us");
        assert_eq!(duration(999_900.0), "1.00 ms");
        assert_eq!(duration(12.0), "12 ns");
        let spans = [0.0, 0.44, 3.0, 48.2, 99.6, 1_800.0, 9_000.0].map(span);
        assert_eq!(spans, ["0 s", "0.4 s", "3 s", "48 s", "1.7 min", "30 min", "2.5 h"]);
        let exact = [1_024, 1_024_000, 16 << 20, 1_500, 0].map(exact_bytes);
        assert_eq!(exact, ["1 KiB", "1,000 KiB", "16 MiB", "1,500 B", "0 B"]);
        assert_eq!(figures(9.996, 3), "10.0");
        assert_eq!(figures(5_044.83, 5), "5,044.8");
        assert_eq!(figures(123_456.0, 2), "120,000");
        assert_eq!(figures(203_456.0, 1), "200,000");
        assert_eq!(figures(0.001234, 2), "0.0012");
    }

    #[test]
    fn a_share_is_written_as_it_was_asked() {
        assert_eq!([0.03, 0.005, 0.125, 0.5].map(percent_text), ["3%", "0.5%", "12.5%", "50%"]);
    }
}
