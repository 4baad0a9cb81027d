//! Runs `boatload clean`: removes what a killed run left, and nothing else.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Args;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::out;
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::units::counted;
use boatload_run::kept_ballast::{BallastNote, read_note};
use boatload_run::leftover::remove_leftover;
use boatload_run::run_directory::{
    CANARY, MOUNT_POINT, OtherHost, PREFIX, in_use, is_locked, is_unmarked, may_be_run_directory,
    open_directory, open_parent, prove, prove_renamed,
};

const EXAMPLES: &str = "\
Examples:
  boatload clean            shows what a killed run left here, and asks
  boatload clean /mnt/x --yes";

const EFFECTS: &str = "\
Only directories named boatload-RUN are removed, and only those whose marker proves that \
boatload made them: the same directory (device and inode), not in use by a running boatload, your \
own unless you are root; and your own empty directories with the id of a run that are closed to other users. One of your own that somebody has renamed stays and is named. Inside, only names that boatload gives \
are removed, and files that were deleted while they were open, which NFS and FUSE keep as .nfs... and \
.fuse_hidden...; anything else stays, \
with the directories above it, and is named. A file system that a killed run made there on its own image is unmounted \
first, and its image removed. Nothing is followed out of the directory, neither by link nor by mount.";

/// Remove what a killed run left, and nothing else
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = EFFECTS)]
pub(super) struct Clean {
    /// Directory the run was made in
    #[arg(default_value = ".", value_name = "DIR")]
    dir: PathBuf,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Remove what `fill` and `age` made as well
    #[arg(long)]
    ballast: bool,
    /// Remove what runs of other hosts left, too
    #[arg(long)]
    other_hosts: bool,
}

impl Clean {
    pub(super) fn run(&self) -> Result<Exit> {
        let parent = open_parent(&self.dir)?;
        let Survey { ours, ballasts, mut refused } = self.survey(parent.as_fd())?;
        for FoundDirectory { name, what } in &ballasts {
            let place = shown(self.dir.join(name));
            out::note(&format!("{place} stays: {what}; --ballast removes it"));
        }
        if ours.is_empty() && refused.is_empty() {
            let nothing = if ballasts.is_empty() { "nothing" } else { "nothing else" };
            out::print(&format!("{nothing} of boatload's is in {}\n", shown(&self.dir)))?;
            return Ok(Exit::Good);
        }
        for FoundDirectory { name, what } in &ours {
            out::print(&format!("{}: {what}\n", shown(self.dir.join(name))))?;
        }
        if !ours.is_empty() && !self.agreed(ours.len())? {
            return Err(Failure::failed("nothing was removed"));
        }
        for FoundDirectory { name, .. } in &ours {
            refused.extend(self.remove(parent.as_fd(), name)?);
        }
        for why in &refused {
            out::complain(why);
        }
        Ok(if refused.is_empty() { Exit::Good } else { Exit::Failed })
    }

    /// Removes one directory; gives what was left in it.
    fn remove(&self, parent: BorrowedFd<'_>, name: &OsStr) -> Result<Option<String>> {
        let removal = match remove_leftover(parent, name) {
            Ok(removal) => removal,
            Err(failure) => return Ok(Some(failure.sentence)),
        };
        out::print(&format!(
            "removed {} and {} of {}\n",
            counted(removal.files, "file"),
            counted(removal.directories, "directory"),
            shown(self.dir.join(name))
        ))?;
        let left = removal.left.join(", ");
        Ok((!left.is_empty()).then(|| format!("left alone: {left}")))
    }

    /// What a directory is.
    ///
    /// # Errors
    /// Why it is not known to be boatload's.
    fn state(
        &self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
    ) -> std::result::Result<DirectoryState, String> {
        let marker = match prove(directory, name) {
            Ok(marker) => marker,
            Err(why) => {
                if !is_unmarked(directory, name).unwrap_or(false) {
                    return Err(why);
                }
                let user = is_locked(directory).then(|| "a run has just begun in it".to_string());
                let user = user.or_else(|| {
                    self.elsewhere(OtherHost::beginning(directory), "may have made it")
                });
                let what = "empty, left by a run that had just begun or was about to end".into();
                return Ok(DirectoryState { what, is_ballast: false, user });
            }
        };
        let note = read_note(directory);
        let note = note.map_err(|error| format!("what is noted in it cannot be read: {error}"))?;
        let is_ballast = note.is_some();
        let user = in_use(directory, &marker).then(|| match is_ballast {
            true => "a run is using it".to_string(),
            false => format!("process {} is still running it", marker.process),
        });
        let user = user.or_else(|| {
            self.elsewhere(OtherHost::at_work(directory, &marker), "gave a sign in it")
        });
        let what = note.as_ref().map_or_else(|| unfinished(directory), of_note);
        Ok(DirectoryState { what, is_ballast, user })
    }

    /// The other host that may be at work in a directory, in words, with what shows it; `None` when what other hosts left is to
    /// be removed.
    fn elsewhere(&self, host: Option<OtherHost>, sign: &str) -> Option<String> {
        let host = host.filter(|_| !self.other_hosts)?;
        Some(format!("{}; if it is not, --other-hosts removes it", host.may_be_at_work(sign)))
    }

    /// What there is of boatload's in the directory.
    fn survey(&self, parent: BorrowedFd<'_>) -> Result<Survey> {
        let (mut ours, mut ballasts, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let unreadable = |error| Failure::from_system("read the directory", error);
        for entry in rustix::fs::Dir::read_from(parent).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if !may_be_run_directory(name) {
                refused.extend(renamed(parent, name, entry.file_type()));
                continue;
            }
            let state = match open_directory(parent, name) {
                // A run that ended meanwhile has removed it.
                Err(Errno::NOENT) => continue,
                Err(error) => Err(error.to_string()),
                Ok(directory) => self.state(directory.as_fd(), name),
            };
            let found = |what| FoundDirectory { name: name.to_owned(), what };
            let refuse = |why: &str| format!("{} is left alone: {why}", shown(name));
            match state {
                Ok(DirectoryState { is_ballast: true, what, .. }) if !self.ballast => {
                    ballasts.push(found(what));
                }
                Ok(DirectoryState { user: Some(user), .. }) => refused.push(refuse(&user)),
                Ok(DirectoryState { what, .. }) => ours.push(found(what)),
                Err(why) => refused.push(refuse(&why)),
            }
        }
        ours.sort();
        ballasts.sort();
        Ok(Survey { ours, ballasts, refused })
    }

    fn agreed(&self, number: usize) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let input = std::io::stdin();
        if !input.is_terminal() {
            return Err(Failure::failed("nothing was removed: pass --yes to remove it unasked"));
        }
        let what = if number == 1 { "it" } else { "them" };
        out::note(&format!("Remove {what}? [y/N]"));
        let mut answer = String::new();
        input
            .lock()
            .read_line(&mut answer)
            .map_err(|error| Failure::from_system("read the answer", error))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

/// What to say of a run's directory that has another name by now; none of anything else.
fn renamed(parent: BorrowedFd<'_>, name: &OsStr, listed: FileType) -> Option<String> {
    if name == "." || name == ".." || !matches!(listed, FileType::Directory | FileType::Unknown) {
        return None;
    }
    let directory = open_directory(parent, name).ok()?;
    let marker = prove_renamed(directory.as_fd()).ok()?;
    let owner = rustix::fs::fstat(&directory).ok()?.st_uid;
    if owner != rustix::process::geteuid().as_raw() || in_use(directory.as_fd(), &marker) {
        return None;
    }
    let (name, own) = (shown(name), shown(format!("{PREFIX}{}", marker.run)));
    Some(format!(
        "{name} is left alone: it was {own} and has been renamed. Name it so again, and this command removes it"
    ))
}

/// What there is of boatload's in a directory.
struct Survey {
    /// Directories that are proved to be boatload's, and may go.
    ours: Vec<FoundDirectory>,
    /// What was made to stay.
    ballasts: Vec<FoundDirectory>,
    /// Sentences about the others.
    refused: Vec<String>,
}

/// A directory of boatload's.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FoundDirectory {
    name: OsString,
    what: String,
}

/// What a directory is in which `fill` or `age` left its note.
fn of_note(note: &BallastNote) -> String {
    let command = if note.aged { "age" } else { "fill" };
    format!("{} of `{command}`", counted(note.files, "file"))
}

/// What a directory without a note is: only runs have a canary.
fn unfinished(directory: BorrowedFd<'_>) -> String {
    let has = |name| rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let by = match has(CANARY) || has(MOUNT_POINT) {
        true => "a run",
        false => "`fill` or `age`, or by a run that had just begun",
    };
    format!("left unfinished by {by}")
}

/// What is known of a directory that is boatload's.
struct DirectoryState {
    /// What it is, in words.
    what: String,
    /// Whether it was made to stay.
    is_ballast: bool,
    /// Who uses it, in words; `None` when nobody does.
    user: Option<String>,
}
