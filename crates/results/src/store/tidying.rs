//! Keeps a store in order: tags and notes of runs, and runs that are removed.

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreProblem};
use boatload_base::failure::Result;
use boatload_run::run_directory::is_id;

/// Most bytes of a tag.
const TAG_BYTES_MAX: usize = 32;

/// Words that stand for something else where a run is named.
const TAKEN: [&str; 2] = ["last", "history"];

/// What a tag must be like, for people.
pub const TAG_RULE: &str = "take up to 32 letters, digits, `-`, `_` and `.`, beginning with a letter; not `last`, \
                            `history`, or eight letters and digits that could be an id";

/// Whether a word can be a tag: it cannot be mistaken for anything else that names a run.
pub fn is_tag(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins_well = word.starts_with(|c: char| c.is_ascii_alphabetic());
    begins_well
        && word.len() <= TAG_BYTES_MAX
        && word.chars().all(is_plain)
        && !is_id(word.as_bytes())
        && !TAKEN.contains(&word)
}

impl Store {
    /// Gives a run a tag, which another may have had; the id of that one. Fails if the store has no run with this id.
    pub fn tag(&mut self, id: &str, tag: &str) -> Result<Option<String>> {
        self.commit("tag a run in", |connection| {
            let holder = "SELECT id FROM runs WHERE tag = ?1 AND id <> ?2";
            let before = connection.query_row(holder, params![tag, id], |row| row.get(0));
            connection.execute("UPDATE runs SET tag = NULL WHERE tag = ?1", (tag,))?;
            match connection.execute("UPDATE runs SET tag = ?2 WHERE id = ?1", params![id, tag])? {
                1 => Ok(before.optional()?),
                _ => Err(no_run(id)),
            }
        })
    }

    /// Notes a text of a run in place of the one before; none takes it away.
    pub fn note(&mut self, id: &str, text: Option<&str>) -> Result<()> {
        self.commit("note something in", |connection| {
            connection.execute("UPDATE runs SET note = ?2 WHERE id = ?1", params![id, text])?;
            Ok(())
        })
    }

    /// Removes runs with all they gave, all of them or none.
    pub fn remove_runs(&mut self, ids: &[String]) -> Result<()> {
        self.commit("remove runs from", |connection| {
            for id in ids {
                match connection.execute("DELETE FROM runs WHERE id = ?1", (id,))? {
                    1 => {}
                    _ => return Err(no_run(id)),
                }
            }
            Ok(())
        })
    }
}

fn no_run(id: &str) -> StoreProblem {
    StoreProblem::Stated(format!("it has no run {id}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_plain_word_that_names_nothing_else() {
        let long = "a".repeat(33);
        for good in ["nightly", "before-6.12", "Base", "v1", "baseline", "kernel_6", "abcdefghi"] {
            assert!(is_tag(good), "{good}");
        }
        for bad in [
            "", "last", "last~1", "history", "reference:x", "k7m2n8p4", "1st", "-x", "a b", "é",
            &long,
        ] {
            assert!(!is_tag(bad), "{bad}");
        }
    }
}
