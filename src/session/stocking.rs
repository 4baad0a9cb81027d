//! Makes the ballast of a scenario and leaves it there, for `fill` and `age`.

use std::os::fd::AsFd;
use std::path::Path;

use super::{new_id, room};
use crate::base::failure::{Failure, Result, shown};
use crate::host::layout::{LayoutScore, ScoreLimits, score_below};
use crate::host::mounts::Mount;
use crate::host::space::Space;
use crate::plan::space::Need;
use crate::plan::{BallastGoal, FillMethod, Prepare};
use crate::run::ballast::{Headway, HeadwayListener};
use crate::run::clock::RealClock;
use crate::run::interrupt::Interrupt;
use crate::run::kept_ballast::{BallastNote, NUMBER, leave_note};
use crate::run::remove::remove_run_directory;
use crate::run::run_directory::{RunDirectory, open_parent};
use crate::run::site::DiskBallast;

/// Most files whose places on the device are asked for in the end.
const LAYOUT_FILES_MAX: u64 = 100_000;

/// The directory and ballast that were made.
#[derive(Clone, Debug)]
pub struct FilledDirectory {
    /// The marked directory's name.
    pub name: String,
    /// Files that are there.
    pub files: u64,
    /// Bytes of their contents.
    pub bytes: u64,
    /// Files made and deleted on the way.
    pub deleted: u64,
    /// How long the files took, in seconds.
    pub seconds: f64,
    /// How long it took to write them out, in seconds.
    pub sync_seconds: f64,
    /// The room afterwards.
    pub space: Space,
    /// How the files lie; none if the file system does not say.
    pub layout: Option<LayoutScore>,
}

/// Brings a directory to the goal; `listener` hears how far it is.
///
/// # Errors
/// If there is no room, or the goal cannot be reached; then nothing is left. An interrupt is one.
pub fn stock(
    directory: &Path,
    prepare: &Prepare,
    interrupt: &Interrupt,
    listener: HeadwayListener<'_>,
) -> Result<FilledDirectory> {
    let clock = RealClock::new();
    let parent = open_parent(directory)?;
    let space = Space::left(parent.as_fd())?;
    check_room(prepare, &space, directory)?;
    let wanted = match prepare.goal {
        BallastGoal::Files(_) => Need::of_ballast(prepare, space.block_bytes).bytes,
        BallastGoal::Used(percent) => room::bytes_to_fill(&space, percent),
    };
    room::check_memory(&Mount::of(parent.as_fd())?.kind, wanted, directory)?;
    let id = new_id()?;
    let run_directory = RunDirectory::make(parent, directory, &id)?;
    listener(&Headway::Share(0.0));
    fill(&run_directory, prepare, interrupt, &clock, listener).map_err(|failure| {
        listener(&Headway::CleaningUp);
        let removed = remove_run_directory(run_directory.parent(), run_directory.name().as_ref());
        let left = match removed {
            Ok(removal) => removal.left.join(", "),
            Err(failure) => failure.sentence,
        };
        let end = match left.is_empty() {
            true => "What was made is removed".into(),
            false => format!("Not all that was made could be removed: {left}"),
        };
        Failure { sentence: format!("{}. {end}", failure.sentence), ..failure }
    })
}

fn fill(
    run_directory: &RunDirectory,
    prepare: &Prepare,
    interrupt: &Interrupt,
    clock: &RealClock,
    listener: HeadwayListener<'_>,
) -> Result<FilledDirectory> {
    let law = prepare.ballast.clone();
    let mut ballast = DiskBallast::make(run_directory.directory(), NUMBER, law, clock.clone())?;
    let (reached, seconds) = clock.time(|| ballast.reach(prepare.goal, interrupt.flag(), listener));
    if interrupt.is_set() {
        return Err(Failure::interrupted("interrupted"));
    }
    reached?;
    let live = ballast.state().live();
    let (files, length) = (live.count(), live.length());
    let tree = &prepare.ballast.tree;
    let there = (0..length).filter(|number| live.contains(*number));
    let bytes = there.map(|number| tree.size(number, 0)).sum();
    let aged = prepare.ballast.method != FillMethod::Fill || files < length;
    leave_note(run_directory.directory(), &BallastNote { files, aged })
        .map_err(|error| Failure::from_system("note what was made", error))?;
    let go_on = || !interrupt.is_set();
    let bound = ScoreLimits { files_most: LAYOUT_FILES_MAX, go_on: &go_on };
    Ok(FilledDirectory {
        name: run_directory.name().to_string(),
        files,
        bytes,
        deleted: length - files,
        seconds: (seconds - ballast.sync_seconds()).max(0.0),
        sync_seconds: ballast.sync_seconds(),
        space: Space::left(run_directory.directory())?,
        layout: score_below(ballast.directory(), bound).ok(),
    })
}

fn check_room(prepare: &Prepare, space: &Space, directory: &Path) -> Result<()> {
    match prepare.goal {
        BallastGoal::Files(_) => {
            let need = Need::of_ballast(prepare, space.block_bytes);
            space.shortfall(need, space.reserve_bytes(), directory).map_or(Ok(()), Err)
        }
        BallastGoal::Used(percent) if space.used_fraction() * 100.0 > percent => {
            Err(Failure::failed(format!(
                "the file system of {} is {:.1}% full already. Nothing was written",
                shown(directory),
                space.used_fraction() * 100.0
            )))
        }
        BallastGoal::Used(_) => Ok(()),
    }
}
