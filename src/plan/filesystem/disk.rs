//! Finds the modelled disk that a file system is to lie on: a built-in one by its name, or that of a file.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::base::problem::{Problem, nearest};
use crate::plan::disk::{BUILT_IN_DISKS, DiskModel, find_disk, read_disk_model};
use crate::plan::report::short;

/// Most bytes of a model's file: what is larger, or has no end, is none.
const MODEL_BYTES_MAX: u64 = 1 << 20;

/// The modelled disk that a word names: a built-in one, or one in a file, whose path has a `/` or ends in
/// `.toml` and begins in `directory`.
///
/// # Errors
/// What is wrong with it, without a place.
pub fn disk_named(word: &str, directory: &Path) -> Result<Arc<DiskModel>, Problem> {
    if word.contains('/') || word.ends_with(".toml") {
        return disk_of_file(word, &directory.join(word));
    }
    let model = find_disk(word).map(Arc::new);
    model.ok_or_else(|| {
        let names = BUILT_IN_DISKS.iter().map(|disk| disk.name);
        let near = nearest(word, names).map(|near| format!("did you mean `{near}`? "));
        Problem {
            found: format!("`{}`", short(word)),
            expected: "the name of a modelled disk, or the path of a file with one".into(),
            hint: Some(format!("{}`boatload disks` lists them", near.unwrap_or_default())),
            ..Problem::default()
        }
    })
}

fn disk_of_file(word: &str, path: &Path) -> Result<Arc<DiskModel>, Problem> {
    let problem = |found: String, hint: String| Problem {
        found: format!("`{}`, {found}", short(word)),
        expected: "a file with a modelled disk, as `boatload disks show NAME` prints one".into(),
        hint: Some(hint),
        ..Problem::default()
    };
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MODEL_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| problem("which cannot be read".into(), error.to_string()))?;
    read_disk_model(&text).map(Arc::new).map_err(|problems| {
        let all = problems.sorted();
        let lines: Vec<String> = all.iter().map(Problem::to_string).collect();
        let many =
            if all.len() == 1 { "a problem".into() } else { format!("{} problems", all.len()) };
        problem(format!("which has {many}"), lines.join("; "))
    })
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
    fn a_file_that_is_no_disk_or_cannot_be_read_is_told_with_all_that_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("mine.toml"), "nmae = 'x'\n").unwrap();
        let problem = named("./mine.toml", directory.path()).unwrap_err();
        assert!(problem.found.contains("problem"), "{problem}");
        assert!(problem.hint.unwrap().contains("nmae"));
        let missing = named("./other.toml", directory.path()).unwrap_err();
        assert!(missing.found.contains("cannot be read"), "{missing}");
    }
}
