//! Finds the modelled disk that a file system is to lie on: a built-in one by its name, or one from a file.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{BUILT_IN_DISKS, DiskModel, read_disk_model};
use crate::report::short;
use boatload_base::problem::{Problem, nearest};

/// Most bytes of a model's file, which is a page of text: what is longer, or has no end, is none.
const MODEL_BYTES_MAX: usize = 64 << 10;

/// The modelled disk that a word names, as `disk_text` finds it.
///
/// # Errors
/// What is wrong with it, without a place: the first problem of a file that has several.
pub fn disk_named(word: &str, directory: &Path) -> Result<Arc<DiskModel>, Problem> {
    let text = disk_text(word, directory)?;
    read_disk_model(&text).map(Arc::new).map_err(|problems| {
        let all = problems.sorted();
        let first = all.first().map(Problem::to_string).unwrap_or_default();
        match all.len() {
            0 | 1 => no_model(word, "which has a problem", first),
            many => {
                let path = directory.join(word);
                let command = format!("`boatload disks show {}` lists all {many}", path.display());
                no_model(word, &format!("which has {many} problems"), format!("{first}; {command}"))
            }
        }
    })
}

/// The text of a modelled disk: of a built-in one by its name, or of a file, whose path has a `/` or ends
/// in `.toml` and begins in `directory`.
///
/// # Errors
/// If there is none, without a place.
pub fn disk_text(word: &str, directory: &Path) -> Result<String, Problem> {
    if word.contains('/') || word.ends_with(".toml") {
        return text_of_file(word, &directory.join(word));
    }
    if let Some(disk) = BUILT_IN_DISKS.iter().find(|disk| disk.name == word) {
        return Ok(disk.text.to_string());
    }
    let near = nearest(word, BUILT_IN_DISKS.iter().map(|disk| disk.name));
    let hint = match near {
        _ if directory.join(word).is_file() => format!("the file of this name is `./{word}`"),
        Some(near) => format!("did you mean `{near}`? `boatload disks` lists them"),
        None => "`boatload disks` lists them".into(),
    };
    Err(Problem {
        found: format!("`{}`", short(word)),
        expected: "the name of a modelled disk, or the path of a file with one".into(),
        hint: Some(hint),
        ..Problem::default()
    })
}

fn text_of_file(word: &str, path: &Path) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MODEL_BYTES_MAX as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| no_model(word, "which cannot be read", error.to_string()))?;
    if bytes.len() > MODEL_BYTES_MAX {
        let hint = "a model has up to 64 KiB".to_string();
        return Err(no_model(word, "which is longer than 64 KiB", hint));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|error| no_model(word, "which is no text", error.to_string()))
}

fn no_model(word: &str, found: &str, hint: String) -> Problem {
    Problem {
        found: format!("`{}`, {found}", short(word)),
        expected: "a file with a modelled disk, as `boatload disks show NAME` prints one".into(),
        hint: Some(hint),
        ..Problem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(word: &str, directory: &Path) -> Result<String, Problem> {
        disk_named(word, directory).map(|disk| disk.name.clone())
    }

    #[test]
    fn a_word_is_a_built_in_disk_and_a_path_is_a_file_beside_the_job() {
        let directory = tempfile::tempdir().unwrap();
        let text = BUILT_IN_DISKS.iter().find(|disk| disk.name == "nvme").unwrap().text;
        std::fs::write(directory.path().join("mine.toml"), text).unwrap();
        assert_eq!(named("hdd-7200", directory.path()), Ok("hdd-7200".into()));
        for path in ["mine.toml", "./mine.toml"] {
            assert_eq!(named(path, directory.path()), Ok("nvme".into()), "{path}");
        }
        assert!(named("./mine.toml", Path::new("/nowhere")).is_err());
        std::fs::write(directory.path().join("mine"), text).unwrap();
        let hint = named("mine", directory.path()).unwrap_err().hint;
        assert!(hint.is_some_and(|hint| hint.contains("`./mine`")));
    }

    #[test]
    fn a_word_that_is_no_disk_is_told_with_the_nearest_and_where_they_are_listed() {
        let problem = named("hdd-7000", Path::new("")).unwrap_err();
        assert_eq!(problem.found, "`hdd-7000`");
        let hint = problem.hint.unwrap();
        assert!(hint.contains("`hdd-7200`") && hint.contains("`boatload disks`"), "{hint}");
        assert!(
            named("quantum", Path::new("")).unwrap_err().hint.unwrap().starts_with("`boatload")
        );
    }

    #[test]
    fn a_file_that_is_no_disk_or_cannot_be_read_is_told_with_what_is_wrong_first() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("mine.toml"), "nmae = 'x'\n").unwrap();
        let problem = named("./mine.toml", directory.path()).unwrap_err();
        let hint = problem.hint.unwrap();
        assert!(problem.found.ends_with("which has 4 problems"), "{}", problem.found);
        assert!(hint.contains("nmae") && !hint.contains('\n'), "{hint}");
        assert!(hint.ends_with("/mine.toml` lists all 4"), "{hint}");
        std::fs::write(directory.path().join("long.toml"), "#".repeat(70_000)).unwrap();
        let long = named("long.toml", directory.path()).unwrap_err();
        assert!(long.found.contains("longer than 64 KiB"), "{long}");
        let missing = named("./other.toml", directory.path()).unwrap_err();
        assert!(missing.found.contains("cannot be read"), "{missing}");
    }
}
