//! Earlier runs of the same on the same: which they are, and where their figures took a step.

use std::collections::BTreeSet;

use super::change::{ChangePoint, Sensitivity, level_changes};
use super::compare::differences::job_lines;
use super::statistics::describe::mean;
use super::thresholds::{RUN_STEP_ALPHA, RUN_STEP_MIN};
use crate::results::book::{Book, CacheAsked, EngineName};

/// Places in a row of so many fewer than values: three lie on each side of a step.
const NO_PLACES: usize = 5;

/// Of so many runs a history is made, unless another number is asked for.
pub const HISTORY_RUNS: u32 = 30;

/// The steps in a row of logarithms, in their order.
pub fn steps(values: &[f64]) -> Vec<ChangePoint> {
    let places = values.len().saturating_sub(NO_PLACES).max(1);
    let alpha = RUN_STEP_ALPHA / places as f64;
    level_changes(values, &Sensitivity { alpha, smallest: RUN_STEP_MIN, level: mean })
}

/// Memory that differs by less is the same: how much of it the kernel manages changes with it.
const MEMORY_SAME: f64 = 0.02;

/// Whether a run is of the same job on the same machine, file system and device as another. The
/// kernel, mount options that nobody asked for and boatload itself may differ: a history is there
/// to show what they change.
pub fn same_target(a: &Book, b: &Book) -> bool {
    let (memory, other) = (a.host.memory_bytes as f64, b.host.memory_bytes as f64);
    let same_memory = (memory - other).abs() <= MEMORY_SAME * memory.max(other);
    let asked =
        |book: &Book| (book.run.scenario.clone(), book.run.scale, book.run.parameters.clone());
    let machine = |book: &Book| (book.host.cpu.clone(), book.host.cpus);
    same_memory
        && asked(a) == asked(b)
        && machine(a) == machine(b)
        && a.host.filesystem.kind == b.host.filesystem.kind
        && same_journal(a, b)
        && device(a) == device(b)
        && made(a) == made(b)
        && how(a) == how(b)
        && job_lines(a) == job_lines(b)
}

/// Earlier versions did not look.
fn same_journal(a: &Book, b: &Book) -> bool {
    let known = a.host.filesystem.journal.zip(b.host.filesystem.journal);
    known.is_none_or(|(a, b)| a == b)
}

/// The block device, which may have another name after a restart if it has a model.
fn device(book: &Book) -> Option<(String, Option<u64>)> {
    let device = book.host.device.as_ref()?;
    Some((device.model.clone().unwrap_or_else(|| device.name.clone()), device.total_bytes))
}

/// The file systems that were made, in whatever order.
fn made(book: &Book) -> BTreeSet<[&str; 4]> {
    let all = book.filesystems.iter();
    all.map(|made| {
        let mkfs = made.mkfs.as_deref().unwrap_or_default();
        [made.variant.as_str(), made.kind.as_str(), mkfs, made.mount_asked.as_str()]
    })
    .collect()
}

/// What the command line may have changed.
fn how(book: &Book) -> BTreeSet<(&str, Option<EngineName>, u32, CacheAsked)> {
    let all = book.measurements.iter();
    all.map(|m| (m.phase.as_str(), m.engine, m.threads, m.cache.asked)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, draw};
    use crate::plan::Scale;
    use crate::results::fixture;

    /// About one percent of noise around zero.
    fn noise(seed: u64, n: usize) -> Vec<f64> {
        let one = |at: usize| {
            let uniform = |part: u64| {
                draw(seed, Stream::Order, at as u64 * 4 + part) as f64 / u64::MAX as f64
            };
            (0..4).map(uniform).sum::<f64>() / 4.0 - 0.5
        };
        (0..n).map(|at| one(at) * 0.07).collect()
    }

    #[test]
    fn noise_without_a_step_has_hardly_ever_one() {
        let false_alarms: usize = (0..200).map(|seed| steps(&noise(seed, 30)).len()).sum();
        assert!(false_alarms <= 6, "{false_alarms} of 200");
    }

    #[test]
    fn a_step_is_found_where_it_is_with_what_lies_on_both_sides() {
        let (mut only, mut exact) = (0, 0);
        for seed in 0..50 {
            let mut values = noise(seed, 30);
            values[20..].iter_mut().for_each(|value| *value += 0.10);
            let found = steps(&values);
            let nearest = found.iter().min_by_key(|step| step.index.abs_diff(20)).unwrap();
            assert!((nearest.after - nearest.before - 0.1).abs() < 0.03, "{found:?}");
            exact += usize::from(nearest.index == 20);
            only += usize::from(found.len() == 1);
        }
        assert!(exact >= 45, "{exact} of 50 at its very place");
        assert!(only >= 47, "{only} of 50 with nothing else");
    }

    #[test]
    fn a_step_three_runs_ago_is_found_as_well() {
        for seed in 0..50 {
            let mut values = noise(seed, 30);
            values[27..].iter_mut().for_each(|value| *value -= 0.10);
            let found = steps(&values);
            assert!(found.iter().any(|step| step.index == 27), "{seed}: {found:?}");
        }
    }

    #[test]
    fn two_steps_come_in_their_order_and_two_runs_make_none() {
        let values = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
        let at: Vec<_> = steps(&values).iter().map(|step| step.index).collect();
        assert_eq!(at, [3, 6]);
        assert_eq!(steps(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0]), []);
        assert_eq!((steps(&[]), steps(&[f64::NAN; 9])), (vec![], vec![]));
    }

    #[test]
    fn another_kernel_is_the_same_target_and_another_disk_or_job_is_not() {
        let a = fixture::book();
        let with = |change: fn(&mut Book)| {
            let mut b = fixture::book();
            change(&mut b);
            same_target(&a, &b)
        };
        assert!(with(|_| ()));
        assert!(with(|b| b.host.kernel = "Linux 7.0".into()));
        assert!(with(|b| b.run.seed = 3));
        assert!(with(|b| b.run.job += "# a word\n"));
        assert!(with(|b| b.host.memory_bytes -= 4_000_000));
        assert!(!with(|b| b.host.memory_bytes /= 2));
        assert!(!with(|b| b.host.filesystem.kind = "xfs".into()));
        assert!(with(|b| b.host.filesystem.journal = None), "nobody looked");
        assert!(!with(|b| b.host.filesystem.journal = Some(false)));
        assert!(!with(|b| b.host.device = None));
        assert!(!with(|b| b.run.job += "threads = 2\n"));
        assert!(!with(|b| b.run.parameters.clear()));
        assert!(!with(|b| b.run.scale = Scale::Standard));
        assert!(!with(|b| b.measurements[0].threads = 7));
        assert!(!with(|b| b.filesystems.push(fixture::made::filesystem("ext4", "ext4"))));
    }
}
