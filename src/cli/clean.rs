//! `boatload clean`: removes what a killed run left, and nothing else.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Args;

use super::out;
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::base::units::counted;
use crate::run::ground::{in_use, may_be_ground, open_directory, open_parent, prove};
use crate::run::kept::read_note;
use crate::run::remove::remove_ground;

const EXAMPLES: &str = "\
Examples:
  boatload clean            shows what a killed run left here, and asks
  boatload clean /mnt/x --yes";

const EFFECTS: &str = "\
Only directories named boatload-RUN are looked at, and only those removed whose marker proves that \
boatload made them: the same directory (device and inode), not in use by a running boatload, your \
own unless you are root. Inside, only names that boatload gives are removed; anything else stays, \
with the directories above it, and is named. Nothing is followed out of the directory, neither by \
link nor by mount.";

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
}

impl Clean {
    pub(super) fn run(&self) -> Result<Exit> {
        let parent = open_parent(&self.dir)?;
        let Survey { ours, ballasts, mut refused } = survey(parent.as_fd(), self.ballast)?;
        for name in &ballasts {
            let place = shown(self.dir.join(name));
            out::note(&format!("{place} stays: `fill` or `age` made it; --ballast removes it"));
        }
        if ours.is_empty() && refused.is_empty() {
            out::print(&format!("nothing of boatload's is in {}\n", shown(&self.dir)))?;
            return Ok(Exit::Good);
        }
        for name in &ours {
            out::print(&format!("{} was left by a run\n", shown(self.dir.join(name))))?;
        }
        if !ours.is_empty() && !self.agreed(ours.len())? {
            return Err(Failure::failed("nothing was removed"));
        }
        for name in &ours {
            refused.extend(self.remove(parent.as_fd(), name)?);
        }
        for why in &refused {
            out::complain(why);
        }
        Ok(if refused.is_empty() { Exit::Good } else { Exit::Failed })
    }

    /// Removes one directory; gives what was left in it.
    fn remove(&self, parent: BorrowedFd<'_>, name: &OsStr) -> Result<Option<String>> {
        let removal = match remove_ground(parent, name) {
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

/// What there is of boatload's in a directory.
struct Survey {
    /// Directories that are proved to be left over.
    ours: Vec<OsString>,
    /// What was made to stay.
    ballasts: Vec<OsString>,
    /// Sentences about the others.
    refused: Vec<String>,
}

fn survey(parent: BorrowedFd<'_>, with_ballasts: bool) -> Result<Survey> {
    let (mut ours, mut ballasts, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let unreadable = |error| Failure::from_system("read the directory", error);
    for entry in rustix::fs::Dir::read_from(parent).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !may_be_ground(name) {
            continue;
        }
        let proved =
            open_directory(parent, name).map_err(|error| error.to_string()).and_then(|directory| {
                let marker = prove(directory.as_fd(), name)?;
                let stays = !with_ballasts && read_note(directory.as_fd()).is_some();
                Ok((in_use(directory.as_fd(), &marker), marker.process, stays))
            });
        match proved {
            Ok((true, process, _)) => refused.push(format!(
                "{} is left alone: process {process} is still running it",
                shown(name)
            )),
            Ok((_, _, true)) => ballasts.push(name.to_owned()),
            Ok(_) => ours.push(name.to_owned()),
            Err(why) => refused.push(format!("{} is left alone: {why}", shown(name))),
        }
    }
    ours.sort();
    ballasts.sort();
    Ok(Survey { ours, ballasts, refused })
}
