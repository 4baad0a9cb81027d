//! Compares texts with those kept in tests/golden.

use std::path::Path;

/// Compares with the kept text; BOATLOAD_BLESS=1 keeps the new one.
#[track_caller]
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == kept,
        "{name} differs; BOATLOAD_BLESS=1 keeps the new text\n{}",
        changed_lines(&kept, text)
    );
}

/// Most lines of each text that are shown.
const LINES_MAX: usize = 20;

/// The lines between the first and the last that differ: what was kept with `-`, what is new with
/// `+`.
fn changed_lines(kept: &str, new: &str) -> String {
    let (kept, new): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), new.lines().collect());
    let same = |(kept, new): &(&&str, &&str)| kept == new;
    let before = kept.iter().zip(&new).take_while(same).count();
    let (kept, new) = (&kept[before..], &new[before..]);
    let after = kept.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let lines = |sign: &str, all: &[&str]| {
        let differing = &all[..all.len() - after];
        let shown = differing.iter().take(LINES_MAX).map(|line| format!("{sign} {line}\n"));
        let left_out = differing.len().saturating_sub(LINES_MAX);
        let rest = (left_out > 0).then(|| format!("{sign} ... {left_out} more lines\n"));
        shown.chain(rest).collect::<String>()
    };
    format!("from line {}:\n{}{}", before + 1, lines("-", kept), lines("+", new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_between_the_first_and_the_last_difference_are_shown() {
        let (kept, new) = ("a\nb\nc\nd\n", "a\nB\nC\nC\nd\n");
        assert_eq!(changed_lines(kept, new), "from line 2:\n- b\n- c\n+ B\n+ C\n+ C\n");
        let many: String = (0..30).map(|at| format!("{at}\n")).collect();
        let shown = changed_lines("", &many);
        assert_eq!((shown.lines().count(), shown.ends_with("+ ... 10 more lines\n")), (22, true));
    }
}
