//! Gathers in which directories the calls of a trace took their time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::book::TracedDirectory;
use boatload_base::failure::shown;
use boatload_host::tracing::{CallSum, DirectoryCalls, DirectoryKey, TracedOperation};

/// Directories that are kept during a trace. Where there are more, those whose calls took least time until now are
/// forgotten, half of them at a time.
const DIRECTORIES_MAX: usize = 4_096;
/// Directories of an operation that are named: those whose calls took most time.
const NAMED_MAX: usize = 12;

/// Calls by directory, then by the number of their operation.
#[derive(Debug, Default)]
pub(super) struct DirectoryTally {
    directories: BTreeMap<DirectoryKey, BTreeMap<u64, CallSum>>,
}

impl DirectoryTally {
    /// Adds what was counted.
    pub(super) fn add(&mut self, all: &[DirectoryCalls]) {
        for DirectoryCalls { directory, operation, sum } in all {
            let own = self.directories.entry(*directory).or_default();
            own.entry(*operation).or_default().add(*sum);
        }
        if self.directories.len() > DIRECTORIES_MAX {
            self.forget_least();
        }
    }

    fn forget_least(&mut self) {
        let time = |own: &BTreeMap<u64, CallSum>| {
            own.values().fold(0, |time: u64, sum| time.saturating_add(sum.total_ns))
        };
        let mut times: Vec<(u64, DirectoryKey)> =
            self.directories.iter().map(|(directory, own)| (time(own), *directory)).collect();
        times.sort_unstable();
        for (_, directory) in times.into_iter().take(DIRECTORIES_MAX / 2) {
            self.directories.remove(&directory);
        }
    }

    /// For each operation the place of most of its time, then the directories whose calls took most time, the longest time
    /// first. Those with the same path are one; what has no path is left out.
    pub(super) fn named(
        self,
        path_of: &mut dyn FnMut(DirectoryKey) -> Option<PathBuf>,
    ) -> Vec<TracedDirectory> {
        let mut by_path: BTreeMap<TracedOperation, PathSums> = BTreeMap::new();
        for (directory, own) in self.directories {
            let Some(path) = path_of(directory) else { continue };
            for (number, sum) in own {
                let Some(operation) = TracedOperation::of_number(number) else { continue };
                by_path.entry(operation).or_default().entry(path.clone()).or_default().add(sum);
            }
        }
        let mut all = Vec::new();
        for (operation, paths) in by_path {
            let named = |(path, sum, with_below): (&PathBuf, &CallSum, bool)| TracedDirectory {
                operation,
                path: shown(path),
                with_below,
                calls: sum.calls,
                total_ns: sum.total_ns,
            };
            let mut own: Vec<(&PathBuf, &CallSum)> = paths.iter().collect();
            own.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.total_ns));
            if let Some((path, sum)) = place_of_most(&paths) {
                all.push(named((&path, &sum, true)));
            }
            all.extend(
                own.into_iter().take(NAMED_MAX).map(|(path, sum)| named((path, sum, false))),
            );
        }
        all
    }
}

/// Calls by the path of their directory.
type PathSums = BTreeMap<PathBuf, CallSum>;

/// The lowest directory that has, with those below it, at least half of the time; `None` where that is the root, or one
/// directory alone.
fn place_of_most(paths: &PathSums) -> Option<(PathBuf, CallSum)> {
    let mut trees: BTreeMap<&Path, CallSum> = BTreeMap::new();
    for (path, sum) in paths {
        path.ancestors().for_each(|above| trees.entry(above).or_default().add(*sum));
    }
    let time = paths.values().fold(0u64, |time, sum| time.saturating_add(sum.total_ns));
    let has_most = |(_, sum): &(&Path, CallSum)| sum.total_ns >= time.div_ceil(2);
    let depth = |(path, _): &(&Path, CallSum)| path.components().count();
    let (path, sum) = trees.into_iter().filter(has_most).max_by_key(depth)?;
    let is_alone = paths.get(path) == Some(&sum);
    (path.parent().is_some() && !is_alone).then(|| (path.to_path_buf(), sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: u64 = 1;

    fn key(number: u64) -> DirectoryKey {
        DirectoryKey { number, ..DirectoryKey::default() }
    }

    /// So many calls in a directory that take this long together.
    fn calls(number: u64, calls: u64, total_ns: u64) -> DirectoryCalls {
        let sum = CallSum { calls, total_ns };
        DirectoryCalls { directory: key(number), operation: CREATE, sum }
    }

    fn by_number(directory: DirectoryKey) -> Option<PathBuf> {
        (directory.number != 0).then(|| format!("/d{}", directory.number / 2).into())
    }

    #[test]
    fn directories_with_one_path_are_one_and_those_without_are_left_out() {
        let mut tally = DirectoryTally::default();
        tally.add(&[calls(0, 1, 500), calls(2, 10, 100), calls(3, 20, 200), calls(4, 50, 400)]);
        tally.add(&[calls(4, 1, 5)]);
        let named = tally.named(&mut by_number);
        let told: Vec<_> = named.iter().map(|one| (&*one.path, one.calls, one.total_ns)).collect();
        assert_eq!(told, [("/d2", 51, 405), ("/d1", 30, 300)]);
        assert_eq!(named[0].operation, TracedOperation::Create);
    }

    #[test]
    fn the_directories_with_most_time_are_named() {
        let mut tally = DirectoryTally::default();
        tally.add(&(1..=40).map(|number| calls(2 * number, 1, number)).collect::<Vec<_>>());
        let named = tally.named(&mut by_number);
        let paths: Vec<&str> = named.iter().map(|one| one.path.as_str()).collect();
        assert_eq!((paths.len(), paths[0], paths[11]), (NAMED_MAX, "/d40", "/d29"));
    }

    #[test]
    fn the_place_of_most_time_is_the_lowest_directory_that_has_half_of_it_with_those_below() {
        let place = |all: &[(&str, u64)]| {
            let sum = |(path, total_ns): &(&str, u64)| {
                (PathBuf::from(path), CallSum { calls: 1, total_ns: *total_ns })
            };
            place_of_most(&all.iter().map(sum).collect())
                .map(|(path, sum)| (shown(path), sum.total_ns))
        };
        let objects = [("/r/.git/objects/1a", 30), ("/r/.git/objects/2b", 30), ("/r", 39)];
        assert_eq!(place(&objects), Some(("/r/.git/objects".into(), 60)));
        assert_eq!(place(&[("/r/a", 60), ("/r/b", 30)]), None, "one directory has most");
        assert_eq!(place(&[("/a", 30), ("/b", 30), ("/c", 30)]), None, "only the root has");
        assert_eq!(place(&[]), None);
    }

    #[test]
    fn of_very_many_directories_the_ones_with_least_time_are_forgotten_meanwhile() {
        let mut tally = DirectoryTally::default();
        let number = DIRECTORIES_MAX as u64 + 1;
        (0..number).for_each(|at| tally.add(&[calls(at, 1, 10 + at)]));
        assert_eq!(tally.directories.len() as u64, number - DIRECTORIES_MAX as u64 / 2);
        assert!(tally.directories.contains_key(&key(number - 1)));
        assert!(!tally.directories.contains_key(&key(0)));
    }
}
