//! Keys of pictures: fit for the name of a file, and each only once.

use std::collections::BTreeSet;

/// Longest part of a key that comes from a name, in bytes.
const PART_MAX: usize = 40;

/// The keys that are taken.
#[derive(Default)]
pub(super) struct Keys(BTreeSet<String>);

impl Keys {
    /// `kind` with a name, and with a number if that is taken: `levels-create`, `levels-create-2`.
    pub(super) fn of(&mut self, kind: &str, name: &str) -> String {
        let stem = [kind, &safe(name)].join("-");
        let stem = stem.trim_end_matches('-').to_string();
        let mut key = stem.clone();
        let mut number = 2u64;
        while !self.0.insert(key.clone()) {
            key = format!("{stem}-{number}");
            number += 1;
        }
        key
    }
}

/// Lower-case letters, digits and single `-`; empty if the name has neither.
fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            safe.push(c.to_ascii_lowercase());
        } else if !safe.is_empty() && !safe.ends_with('-') {
            safe.push('-');
        }
    }
    safe.truncate(PART_MAX);
    safe.trim_end_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_kind_make_keys_that_differ() {
        let mut keys = Keys::default();
        let names = ["Create", "create", "create-2", "a b\n\u{1b}[31m", "目录", "", "../../etc"];
        let made: Vec<String> = names.iter().map(|name| keys.of("levels", name)).collect();
        assert_eq!(
            made,
            [
                "levels-create",
                "levels-create-2",
                "levels-create-2-2",
                "levels-a-b-31m",
                "levels",
                "levels-2",
                "levels-etc"
            ]
        );
        assert_eq!(keys.of("levels", &"x".repeat(900)).len(), "levels-".len() + PART_MAX);
    }
}
