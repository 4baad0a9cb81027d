//! Splits and quotes words as a shell does.

use std::ffi::OsString;

use super::failure::shown;

/// A word as a shell needs it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command line of boatload, whatever path it was called by, as a shell needs it.
pub fn command_line(words: impl IntoIterator<Item = OsString>) -> String {
    let words = words.into_iter().enumerate().map(|(at, word)| {
        let word = if at == 0 { "boatload".into() } else { word };
        quoted(&shown(word))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The command of this process as root, for messages.
pub fn as_root() -> String {
    match is_command_text() {
        true => format!("`sudo {}`", command_line(std::env::args_os())),
        false => "`sudo boatload ...`".into(),
    }
}

/// Whether a text keeps the command line of this process: a path may have bytes or line breaks that are only shown.
pub fn is_command_text() -> bool {
    std::env::args_os().all(|word| word.to_str().is_some_and(|text| shown(text) == text))
}

/// The words of a text, split at blanks but for those in quotes; `None` if a quote has no end.
pub fn words(text: &str) -> Option<Vec<String>> {
    shlex::split(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_a_space_is_quoted() {
        assert_eq!(quoted("--dir=/mnt/x"), "--dir=/mnt/x");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn words_that_were_quoted_are_read_back() {
        let all = ["-O", "^dir_index", "a b", "it's", ""].map(String::from);
        let text = all.each_ref().map(|word| quoted(word)).join(" ");
        assert_eq!(words(&text).as_deref(), Some(&all[..]));
        assert_eq!(words("'a"), None);
    }
}
