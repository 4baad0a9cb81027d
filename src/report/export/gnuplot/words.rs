//! Text of users in a script.

use crate::base::failure::shown;

/// In single quotes nothing has a meaning to gnuplot, neither backslashes nor backquotes, but for the
/// quote itself, which is written twice (gnuplot's manual, "Quote marks").
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", shown(text).replace('\'', "''"))
}

/// The same beside a tick, where `%` begins a number's format.
pub(super) fn tick(text: &str) -> String {
    quoted(&text.replace('%', "%%"))
}

/// A number as gnuplot reads it.
pub(super) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "NaN".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_command_stays_a_name() {
        assert_eq!(quoted("it's `id` \"x\"\n\\"), "'it''s `id` \"x\"\\n\\'");
        assert_eq!(tick("50%"), "'50%%'");
    }

    #[test]
    fn numbers_keep_all_their_figures() {
        let texts = [0.1, 1e300, 400_000.0, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(texts, ["0.1", "1e300", "400000.0", "NaN", "NaN"]);
    }
}
