//! Dates without a clock: seconds since 1970 and what people write for them, both in UTC.

const DAY_SECONDS: i64 = 86_400;

/// Days before each month in a year without a leap day.
const DAYS_BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from 1970 to the beginning of a year.
fn days_to_year(year: i64) -> i64 {
    let before = year - 1;
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    (year - 1970) * 365 + leap_days(before) - leap_days(1969)
}

fn days_to_month(year: i64, month: usize) -> i64 {
    let leap = i64::from(month > 1 && is_leap(year));
    days_to_year(year) + DAYS_BEFORE.get(month).copied().unwrap_or_default() + leap
}

/// Seconds since 1970 of a time as RFC 3339 writes it in UTC, to the second; none if it is none.
pub fn seconds_of(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let marked = marks.iter().all(|(at, mark)| bytes.get(*at) == Some(mark));
    let rest = text.get(19..)?;
    if !marked || !rest.ends_with('Z') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let whole = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 0;
    let days = days_to_month(year, (month - 1) as usize) + day - 1;
    let seconds = days * DAY_SECONDS + hour * 3_600 + minute * 60 + second;
    (whole && hour < 24 && minute < 60 && second <= 60).then_some(seconds as f64)
}

/// `2026-03-01 10:00`; none for what is no date of the years 1970 to 9999.
pub fn minute_text(seconds: f64) -> Option<String> {
    let last = days_to_year(10_000) * DAY_SECONDS;
    if !(seconds >= 0.0 && seconds < last as f64) {
        return None;
    }
    let (day, second) = ((seconds as i64) / DAY_SECONDS, (seconds as i64) % DAY_SECONDS);
    let mut year = 1970 + day / 366;
    while days_to_year(year + 1) <= day {
        year += 1;
    }
    let month = (0..12).rev().find(|month| days_to_month(year, *month) <= day)?;
    let day = day - days_to_month(year, month) + 1;
    let (hour, minute) = (second / 3_600, second % 3_600 / 60);
    Some(format!("{year:04}-{:02}-{day:02} {hour:02}:{minute:02}", month + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates_are_read_and_written() {
        // As `date -u -d ... +%s` has them.
        for (text, seconds, minute) in [
            ("1970-01-01T00:00:00Z", 0.0, "1970-01-01 00:00"),
            ("2000-02-29T23:59:59Z", 951_868_799.0, "2000-02-29 23:59"),
            ("2026-03-01T10:00:07.25Z", 1_772_359_207.0, "2026-03-01 10:00"),
            ("2100-03-01T00:00:00Z", 4_107_542_400.0, "2100-03-01 00:00"),
        ] {
            assert_eq!(seconds_of(text), Some(seconds), "{text}");
            assert_eq!(minute_text(seconds).as_deref(), Some(minute));
        }
    }

    #[test]
    fn each_day_of_a_century_is_read_back_as_it_was_written() {
        for day in 0..40_000 {
            let seconds = (day * DAY_SECONDS + 3_660) as f64;
            let text = minute_text(seconds).unwrap();
            let back = format!("{}:00Z", text.replace(' ', "T"));
            assert_eq!(seconds_of(&back), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        let bad = ["", "soon", "2026-03-01", "2026-13-01T00:00:00Z", "2026-03-01T24:00:00Z"];
        let odd = ["2026-03-01T10:00:00+01:00", "2026-+3-01T10:00:00Z", "目录目录目录目录Z"];
        for text in bad.iter().chain(&odd) {
            assert_eq!(seconds_of(text), None, "{text}");
        }
        for seconds in [-1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(minute_text(seconds), None, "{seconds}");
        }
    }
}
