//! Converts between seconds since 1970 and dates in UTC, without reading a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The year 10,000, which RFC 3339 cannot write, in seconds since 1970.
const YEAR_10_000: f64 = 253_402_300_800.0;

/// Seconds since 1970 of a time as RFC 3339 writes it in UTC, to the second; `None` if it is none.
pub fn seconds_of(text: &str) -> Option<f64> {
    let time = humantime::parse_rfc3339(text).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs() as f64)
}

/// A time as RFC 3339 writes it in UTC, to the second. What a clock says that is set before 1970 or after 9999 is the
/// first or the last of what can be written.
pub fn rfc3339(time: SystemTime) -> String {
    let last = UNIX_EPOCH + Duration::from_secs(YEAR_10_000 as u64 - 1);
    humantime::format_rfc3339_seconds(time.clamp(UNIX_EPOCH, last)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates_are_read() {
        // As `date -u -d ... +%s` has them.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T23:59:59Z", 951_868_799.0),
            ("2026-03-01T10:00:07.25Z", 1_772_359_207.0),
            ("2100-03-01T00:00:00Z", 4_107_542_400.0),
        ] {
            assert_eq!(seconds_of(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn each_day_of_a_century_is_read_back_as_it_was_written() {
        for day in 0..40_000_u64 {
            let seconds = (day * 86_400 + 3_660) as f64;
            let text = rfc3339(UNIX_EPOCH + Duration::from_secs(day * 86_400 + 3_660));
            assert_eq!(seconds_of(&text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn a_clock_that_is_set_before_1970_or_after_9999_gives_a_date_all_the_same() {
        let day = Duration::from_secs(86_400);
        assert_eq!(rfc3339(UNIX_EPOCH + day), "1970-01-02T00:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH - 366 * day), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH + 3_652_425 * day), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn what_is_no_date_is_none() {
        let bad = ["", "soon", "2026-03-01", "2026-13-01T00:00:00Z", "2026-03-01T24:00:00Z"];
        let unusual = ["2026-03-01T10:00:00+01:00", "2026-+3-01T10:00:00Z", "目录目录目录目录Z"];
        for text in bad.iter().chain(&unusual) {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }
}
