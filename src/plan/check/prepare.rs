//! How the place is prepared for a level, checked.

use super::phases::{CheckedVariant, THREADS};
use super::scope::Scope;
use super::tree;
use crate::base::units::{Quantity, Unit, grouped};
use crate::plan::prepare::{Ballast, BallastGoal, FillMethod, Prepare};
use crate::plan::report::{ProblemList, below};
use crate::plan::tree::{DirectoryLayout, FilesEach, Filling, Tree};
use crate::plan::wire::{
    WireAge, WireContent, WireFilesEach, WireFill, WirePrepare, WireQuantity, WireSize,
};

const FILES_EACH_DEFAULT: u64 = 1_000;
const DELETE_EVERY_DEFAULT: u64 = 10;

/// Where the space decides how many files there will be: more than any file system holds, and as
/// many as directories of a drawn number of files are laid out for.
const FILES_UNKNOWN: u64 = 1 << 32;
const FILES_UNKNOWN_DRAWN: u64 = 10_000_000;

/// What filling and ageing have in common.
struct PrepareKeys<'a> {
    place: String,
    sizes: Option<&'a WireSize>,
    files_each: Option<&'a WireFilesEach>,
    content: Option<&'a WireContent>,
    threads: Option<&'a WireQuantity>,
}

impl<'a> PrepareKeys<'a> {
    fn of_fill(fill: &'a WireFill, place: String) -> Self {
        let WireFill { sizes, files_each, content, threads } = fill;
        Self {
            place,
            sizes: sizes.as_ref(),
            files_each: files_each.as_ref(),
            content: content.as_ref(),
            threads: threads.as_ref(),
        }
    }

    fn of_age(age: &'a WireAge, place: String) -> Self {
        let WireAge { sizes, files_each, content, threads, .. } = age;
        Self {
            place,
            sizes: sizes.as_ref(),
            files_each: files_each.as_ref(),
            content: content.as_ref(),
            threads: threads.as_ref(),
        }
    }
}

impl CheckedVariant<'_> {
    /// How the place is prepared for a level; the outer none if anything is wrong with it.
    pub(super) fn prepare(
        &self,
        (level, highest): (Option<Quantity>, f64),
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<Option<Prepare>> {
        let own = below(&self.place, "prepare");
        let of_axis = self.job.axis.as_ref().and_then(|axis| axis.prepare.as_ref());
        let (wire, place) = match (&self.wire.prepare, of_axis) {
            (Some(wire), _) => (wire, own),
            (None, Some(wire)) => (wire, "axis.prepare".to_string()),
            (None, None) => return Some(None),
        };
        let Some(level) = level else {
            if self.job.axis.is_none() && !report.is_broken("axis") {
                let hint = "add `[axis]` with the levels to prepare for".to_string();
                report.add(&place, "`prepare` without an axis", "an `[axis]`", Some(hint));
            }
            return None;
        };
        let (keys, way) = match wire {
            WirePrepare::Fill(fill) => {
                (PrepareKeys::of_fill(fill, below(&place, "fill")), FillMethod::Fill)
            }
            WirePrepare::Age(age) => {
                let place = below(&place, "age");
                (PrepareKeys::of_age(age, place.clone()), way(age, &place, highest, scope, report)?)
            }
        };
        let goal = goal(way, level, &keys.place, report)?;
        let ballast = self.ballast(&keys, way, goal, scope, report)?;
        Some(Some(Prepare { ballast, goal }))
    }

    fn ballast(
        &self,
        keys: &PrepareKeys<'_>,
        way: FillMethod,
        goal: BallastGoal,
        scope: &Scope,
        report: &mut ProblemList,
    ) -> Option<Ballast> {
        let place = |key| below(&keys.place, key);
        let sizes = tree::sizes(Some(keys.sizes?), &place("sizes"), scope, report);
        let content = tree::content(keys.content, &place("content"), scope, report);
        let threads = match keys.threads {
            Some(wire) => scope.whole(wire, &place("threads"), (Unit::Count, THREADS), report),
            None => Some(1),
        };
        let files = match (goal, keys.files_each) {
            (BallastGoal::Files(files), _) => files,
            (BallastGoal::Used(_), Some(WireFilesEach::Law(_))) => FILES_UNKNOWN_DRAWN,
            (BallastGoal::Used(_), _) => FILES_UNKNOWN,
        };
        let files_each = match keys.files_each {
            Some(wire) => {
                tree::files_each(wire, &place("files_each"), (files, self.seed), scope, report)
            }
            None => Some(FilesEach::Fixed(FILES_EACH_DEFAULT)),
        };
        let (sizes, content, threads, files_each) = (sizes?, content?, threads?, files_each?);
        let layout = DirectoryLayout { fan_out: files_each.directories(files)?.max(1), depth: 1 };
        let seed = self.seed;
        let filling = Filling::Fill;
        let tree = Tree {
            files,
            layout,
            filling,
            files_each,
            roots: 1,
            sizes,
            chunks: None,
            content,
            seed,
        };
        Some(Ballast { tree, way, threads: u32::try_from(threads).ok()? })
    }
}

fn way(
    age: &WireAge,
    place: &str,
    highest: f64,
    scope: &Scope,
    report: &mut ProblemList,
) -> Option<FillMethod> {
    let delete_every = match &age.delete_every {
        Some(wire) => {
            let some = (Unit::Count, 1..=1 << 32);
            scope.whole(wire, &below(place, "delete_every"), some, report)
        }
        None => Some(DELETE_EVERY_DEFAULT),
    };
    Some(FillMethod::Age {
        delete_every: delete_every?,
        empty_from: age.emptied.then_some(highest),
    })
}

/// What the level means for the files beside.
fn goal(
    way: FillMethod,
    level: Quantity,
    place: &str,
    report: &mut ProblemList,
) -> Option<BallastGoal> {
    match (level.unit, way) {
        (Unit::Percent, _) if (0.0..=100.0).contains(&level.value) => {
            Some(BallastGoal::Used(level.value))
        }
        (Unit::Count, FillMethod::Fill) if level.whole().is_some_and(|n| n <= tree::FILES_MAX) => {
            level.whole().map(BallastGoal::Files)
        }
        _ => {
            let expected = match way {
                FillMethod::Fill => format!(
                    "levels that are percents of the space, or counts of files up to {}",
                    grouped(tree::FILES_MAX)
                ),
                FillMethod::Age { .. } => "levels that are percents of the space".into(),
            };
            report.add(place, format!("the level {level}"), expected, None);
            None
        }
    }
}
