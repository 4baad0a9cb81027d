//! Carries the error that ends a command: a sentence for the user and the exit code.

use std::fmt;

use super::errno::Errno;

/// The exit codes of the command line, in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything that was asked was done.
    Good = 0,
    /// The command could not do what was asked.
    Failed = 1,
    /// The command line or the job file is wrong.
    Usage = 2,
    /// A check found a regression.
    Regression = 3,
    /// The run finished, but some measurements are invalid.
    Invalid = 4,
    /// The user interrupted the run.
    Interrupted = 130,
}

/// Why a command ended: what happened, on which path, why it matters, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code the process ends with.
    pub exit: Exit,
    /// The text for the user, without a trailing newline.
    pub sentence: String,
}

/// The result of anything that can end a command.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of the work itself (exit code 1).
    pub fn failed(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, sentence: sentence.into() }
    }

    /// A mistake in what was asked (exit code 2).
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, sentence: sentence.into() }
    }

    /// The user wanted it to end (exit code 130).
    pub fn interrupted(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Interrupted, sentence: sentence.into() }
    }

    /// The same with what else went wrong after it.
    pub fn then(self, other: &Self) -> Self {
        let first = self.sentence.trim_end_matches('.');
        Self { sentence: format!("{first}. Then: {}", other.sentence), ..self }
    }

    /// Puts what was being done in front of an error of the operating system and what it means.
    pub fn from_system(doing: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::failed(format!("cannot {doing}: {}", Errno::explained(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Failure {}

/// A path or name as it may be shown: control characters, line breaks, what turns the direction of
/// writing and bytes that are not UTF-8 are escaped, so that no file name can forge or garble a line
/// of output.
pub fn shown(path: impl AsRef<std::ffi::OsStr>) -> String {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_ref().as_bytes();
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if garbles(c) {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Whether a character would break a line, change what a terminal does, or turn the direction of
/// what follows, without being seen itself (Unicode, UAX #9 and #14).
pub fn garbles(c: char) -> bool {
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || breaks || turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_path_with_a_newline_and_raw_bytes_stays_on_one_line() {
        let path = OsStr::from_bytes(b"a b\n\xffc\x1b[31m");
        assert_eq!(shown(path), "a b\\n\\xffc\\u{1b}[31m");
    }

    #[test]
    fn what_turns_the_direction_or_breaks_a_line_unseen_is_told_by_its_number() {
        let marks = "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        let told = shown(format!("a{marks}b"));
        assert!(told.is_ascii() && told.starts_with("a\\u{61c}\\u{200e}"), "{told}");
        assert_eq!(told.matches("\\u{").count(), marks.chars().count());
        assert_eq!(shown("目录 é שלום\u{200d}"), "目录 é שלום\u{200d}");
    }
}
