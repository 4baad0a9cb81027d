//! A source file as the rules of `tidy` look at it: without comments, without the insides of
//! literals, and, where a rule is not about tests, without tests. Lengths and lines stay the same.

use std::ops::Range;

/// One Rust file.
pub(crate) struct Source {
    /// Its path from the repository's root.
    pub(crate) path: String,
    /// As it stands.
    pub(crate) text: String,
    /// With comments and literals blanked.
    pub(crate) code: String,
    /// With items under `#[cfg(test)]` blanked too.
    pub(crate) live: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = without_literals(text);
        let live = without_tests(&code);
        Self { path: path.into(), text: text.into(), code, live }
    }

    /// The names of its module, from its stage: `["op", "read"]`; none for the root.
    pub(crate) fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_end_matches(".rs");
        let (stage, inner) =
            match inner.strip_prefix("crates/").and_then(|in_| in_.split_once("/src/")) {
                Some((stage, inner)) => (Some(stage), inner),
                None => (None, inner.trim_start_matches("src/")),
            };
        let mut names: Vec<&str> = stage.into_iter().chain(inner.split('/')).collect();
        if matches!(names.last(), Some(&("lib" | "main" | "mod"))) {
            names.pop();
        }
        names
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// A complaint about a byte of it.
    pub(crate) fn complain(&self, at: usize, what: &str) -> String {
        format!("{}:{}: {what}", self.path, self.line(at))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where a word stands in code, whole.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let bytes = code.as_bytes();
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + word.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The word that code begins with, after blanks; empty if it begins otherwise.
pub(crate) fn first_word(code: &str) -> &str {
    let code = code.trim_start();
    let end = code.bytes().position(|byte| !is_word(byte)).unwrap_or(code.len());
    &code[..end]
}

/// The brace that closes the one at `open`.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len() - 1
}

fn erase(text: &mut [u8], range: Range<usize>) {
    text[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

fn without_literals(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match hidden(&bytes[at..]) {
            Some(length) => {
                let end = (at + length).min(bytes.len());
                erase(&mut code, at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The length of the comment or literal that begins here; `None` if none does.
fn hidden(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'/', b'/', ..] => Some(find(bytes, b"\n")),
        [b'/', b'*', ..] => Some(block_comment(bytes)),
        [b'"', ..] => Some(quoted(bytes, b'"')),
        [b'r', b'"' | b'#', ..] => raw_string(bytes),
        [b'\'', b'\\', ..] => Some(quoted(bytes, b'\'')),
        [b'\'', first, ..] => {
            // A lifetime has no quote behind its first letter.
            let length = first.leading_ones().max(1) as usize;
            (bytes.get(1 + length) == Some(&b'\'')).then_some(length + 2)
        }
        _ => None,
    }
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|part| part == what).unwrap_or(bytes.len())
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    bytes.len()
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string(bytes: &[u8]) -> Option<usize> {
    let hashes = bytes[1..].iter().take_while(|byte| **byte == b'#').count();
    let open = 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let end = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    Some(open + 1 + find(&bytes[open + 1..], &end) + end.len())
}

fn without_tests(code: &str) -> String {
    let mut live = code.as_bytes().to_vec();
    let for_tests = ["#[cfg(test)]", "#[cfg(any(test,"];
    for (at, _) in for_tests.iter().flat_map(|mark| code.match_indices(mark)) {
        let Some(end) = code[at..].find(['{', ';']).map(|offset| at + offset) else { continue };
        let end = if code.as_bytes()[end] == b'{' { closing(code, end) } else { end };
        erase(&mut live, at..end + 1);
    }
    String::from_utf8_lossy(&live).into_owned()
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = r##"a /* b /* c */ d */ e "f\"g" h r#"i "j" k"# l 'm' n '\'' o<'p>(q) // r
s"##;
    let code = Source::new("src/x.rs", text).code;
    assert_eq!(code.split_whitespace().collect::<String>(), "aehlno<'p>(q)s");
    assert_eq!(code.len(), text.len());
}

#[test]
fn items_under_cfg_test_are_not_live() {
    let text = "a #[cfg(test)] mod tests { b { c } } d #[cfg(any(test, feature = \"fixtures\"))] mod fixture; e";
    let live = Source::new("src/x.rs", text).live;
    assert_eq!(live.split_whitespace().collect::<String>(), "ade");
}
