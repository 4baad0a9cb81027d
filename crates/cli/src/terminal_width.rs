//! Finds how many columns a line may have on a stream: `COLUMNS`, else the width of its terminal, else 80.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Columns where nobody says how many there are.
const COLUMNS: usize = 80;

/// Columns of lines on a stream: what the environment wants, or the columns of its terminal.
pub(super) fn columns(stream: &(impl AsFd + IsTerminal)) -> usize {
    let size = stream.is_terminal().then(|| rustix::termios::tcgetwinsize(stream).ok()).flatten();
    let asked = std::env::var("COLUMNS").unwrap_or_default();
    columns_of(size.map(|size| size.ws_col.into()), &asked)
}

/// A terminal that does not say how wide it is has 0 columns.
fn columns_of(terminal: Option<usize>, asked: &str) -> usize {
    let known = |columns: &usize| *columns > 0;
    let asked = asked.trim().parse().ok().filter(known);
    asked.or(terminal.filter(known)).unwrap_or(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_what_columns_says_or_the_terminal_or_80() {
        assert_eq!(columns_of(Some(123), ""), 123);
        assert_eq!(columns_of(Some(123), "60"), 60);
        assert_eq!(columns_of(None, "60"), 60);
        for odd in ["", "0", "-1", "many", "99999999999999999999"] {
            assert_eq!(columns_of(Some(123), odd), 123, "{odd}");
        }
        assert_eq!(columns_of(Some(0), ""), 80);
        assert_eq!(columns_of(None, ""), 80);
    }
}
