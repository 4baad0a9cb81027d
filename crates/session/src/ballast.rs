//! Makes ballast in a directory and keeps it there, for the commands `fill` and `age`.

use std::os::fd::AsFd;
use std::path::Path;

use super::{new_id, room};
use boatload_base::failure::{Failure, Result, shown};
use boatload_host::layout::{ScoreLimits, score_below};
use boatload_host::memory::MemoryRoom;
use boatload_host::mounts::Mount;
use boatload_host::space::Space;
use boatload_plan::space::Need;
use boatload_plan::{BallastGoal, FillMethod, Prepare};
use boatload_run::ballast::{Headway, HeadwayListener};
use boatload_run::clock::RealClock;
use boatload_run::interrupt::Interrupt;
use boatload_run::kept_ballast::{BallastNote, NUMBER, leave_note};
use boatload_run::remove::remove_own;
use boatload_run::run_directory::{RunDirectory, open_parent};
use boatload_run::site::{BallastFiles, LAYOUT_FILES_MAX};

/// The ballast that was made, with the directory that it is in.
#[derive(Clone, Debug)]
pub struct MadeBallast {
    /// The name of the run directory, which has boatload's marker.
    pub name: String,
    /// Files that it has in the end.
    pub files: u64,
    /// Bytes of their content.
    pub bytes: u64,
    /// Files made and deleted on the way.
    pub deleted: u64,
    /// Time to make and delete files, without the sync, in seconds.
    pub seconds: f64,
    /// Time of the sync, in seconds.
    pub sync_seconds: f64,
    /// Space on the file system afterwards.
    pub space: Space,
    /// Rounds in which part of the space was freed and filled again.
    pub rounds: u32,
    /// Layout score of the files; `None` when the file system does not tell where they lie.
    pub layout_score: Option<f64>,
}

/// Makes the ballast below `directory` until its goal is reached; `listener` hears how far it is.
///
/// # Errors
/// On an interrupt, or if there is no room or the goal is out of reach; what was made is removed.
pub fn make_ballast(
    directory: &Path,
    prepare: &Prepare,
    interrupt: &Interrupt,
    listener: HeadwayListener<'_>,
) -> Result<MadeBallast> {
    let clock = RealClock::new();
    let parent = open_parent(directory)?;
    let space = Space::read(parent.as_fd())?;
    check_room(prepare, &space, directory)?;
    let wanted = match prepare.goal {
        BallastGoal::Files(_) => Need::of_ballast(prepare, space.block_bytes).bytes,
        BallastGoal::Used(percent) => room::bytes_to_fill(&space, percent),
    };
    let kind = Mount::of(parent.as_fd())?.kind;
    let memory_free = MemoryRoom::available().map(|room| room.bytes);
    room::check_memory(&kind, wanted, memory_free, directory)?;
    let id = new_id()?;
    let run_directory = RunDirectory::make(parent, directory, &id, interrupt.flag())?;
    listener(&Headway::Share(0.0));
    reach_goal(&run_directory, prepare, interrupt, &clock, listener).map_err(|failure| {
        listener(&Headway::CleaningUp);
        let left = match remove_own(&run_directory) {
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

fn reach_goal(
    run_directory: &RunDirectory,
    prepare: &Prepare,
    interrupt: &Interrupt,
    clock: &RealClock,
    listener: HeadwayListener<'_>,
) -> Result<MadeBallast> {
    let asked = prepare.ballast.clone();
    let mut ballast = BallastFiles::make(run_directory.directory(), NUMBER, asked, clock.clone())?;
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
    let limits = ScoreLimits { files_most: LAYOUT_FILES_MAX, go_on: &go_on };
    Ok(MadeBallast {
        name: run_directory.name().to_string(),
        files,
        bytes,
        deleted: length - files,
        seconds: (seconds - ballast.sync_seconds()).max(0.0),
        sync_seconds: ballast.sync_seconds(),
        space: Space::read(run_directory.directory())?,
        rounds: ballast.state().rounds(),
        layout_score: score_below(ballast.directory(), limits).ok().and_then(|s| s.score()),
    })
}

fn check_room(prepare: &Prepare, space: &Space, directory: &Path) -> Result<()> {
    match prepare.goal {
        BallastGoal::Files(_) => {
            let need = Need::of_ballast(prepare, space.block_bytes);
            space.shortfall(need, space.reserve_bytes(), directory).map_or(Ok(()), Err)
        }
        BallastGoal::Used(percent) => match space.used_percent(directory)? {
            used if used > percent => Err(Failure::failed(format!(
                "the file system of {} is {used:.1}% full already. Nothing was written",
                shown(directory)
            ))),
            _ => Ok(()),
        },
    }
}
