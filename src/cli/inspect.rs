//! `boatload inspect`: what a run would find in a directory.

use std::fmt::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use clap::Args;

use super::out;
use crate::base::errno::Errno;
use crate::base::failure::{Exit, Result, shown};
use crate::base::units::{bytes, counted, grouped};
use crate::host::facts::HostFacts;
use crate::host::layout::{LayoutScore, ScoreLimits, score_below};
use crate::host::space::Space;
use crate::report::host_lines;
use crate::run::clock::{Clock, RealClock};
use crate::run::run_directory::open_parent;

const EXAMPLES: &str = "\
Examples:
  boatload inspect
  boatload inspect /mnt/x";

/// Files whose layout is looked at, at most.
const LAYOUT_FILES_MOST: u64 = 10_000;

/// And for at most so long: cold inodes on a turning disk come one by one.
const LAYOUT_NS_MOST: u64 = 1_000_000_000;

/// Show the file system, device, caches and rights of a directory
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Inspect {
    /// Directory to look at
    #[arg(default_value = ".", value_name = "DIR")]
    dir: PathBuf,
}

impl Inspect {
    pub(super) fn run(&self) -> Result<Exit> {
        let parent = open_parent(&self.dir)?;
        let host = HostFacts::gather(parent.as_fd())?;
        let space = Space::left(parent.as_fd())?;
        let mut text = format!("directory    {}\n", shown(&self.dir));
        text.push_str(&filesystem_lines(&host, &space));
        let (devices, settings) = setting_lines(&host);
        text.push_str(&match &host.device {
            Some(_) => devices,
            None => "device       none known: reads cannot be counted\n".into(),
        });
        text.push_str(&layout_line(parent.as_fd()));
        text.push_str(&machine_lines(&host));
        text.push_str(&settings);
        out::print(&text)?;
        Ok(Exit::Good)
    }
}

fn filesystem_lines(host: &HostFacts, space: &Space) -> String {
    let fs = &host.filesystem;
    let inodes = match space.available_inodes {
        Some(free) => format!("{} inodes free", grouped(free)),
        None => "inodes made as needed".into(),
    };
    format!(
        "file system  {} on {}, blocks of {}\n\
         options      {}\n\
         space        {} of {} free, {inodes}; {} are kept free\n",
        shown(fs.about()),
        shown(&fs.source),
        bytes(fs.block_bytes),
        shown(&fs.options),
        bytes(space.available_bytes),
        bytes(space.total_bytes),
        bytes(space.reserve_bytes()),
    )
}

fn layout_line(directory: BorrowedFd<'_>) -> String {
    let clock = RealClock::new();
    let begun = clock.now();
    let go_on = || clock.nanoseconds(begun, clock.now()) < LAYOUT_NS_MOST;
    let found = match score_below(
        directory,
        ScoreLimits { files_most: LAYOUT_FILES_MOST, go_on: &go_on },
    ) {
        Ok(score) => layout_words(&score),
        Err(Errno::EOPNOTSUPP) => "not known: this file system does not say where files lie".into(),
        Err(error) => format!("not known: {}", error.about()),
    };
    format!("layout       {found}\n")
}

fn layout_words(layout: &LayoutScore) -> String {
    let mut text = match layout.score() {
        Some(score) => format!("score {score:.2} over {}", counted(layout.files, "file")),
        None => "no score: no file of two blocks or more".into(),
    };
    let mut aside: Vec<_> = layout
        .skipped
        .iter()
        .map(|(reason, files)| format!("{} {}", grouped(*files), reason.words()))
        .collect();
    if let Some(last) = aside.last_mut() {
        last.push_str(" left out");
    }
    if layout.encoded > 0 {
        aside.push(format!("{} compressed", grouped(layout.encoded)));
    }
    if !aside.is_empty() {
        let _ = write!(text, " ({})", aside.join(", "));
    }
    if layout.cut {
        let _ = write!(text, "; looked at the first {}", grouped(layout.seen()));
    }
    text
}

/// The devices, and how the machine is set, as runs keep it; the file system has its own lines.
fn setting_lines(host: &HostFacts) -> (String, String) {
    let (mut devices, mut settings) = (String::new(), String::new());
    for (name, text) in host_lines(host) {
        let part = if name == "device" { &mut devices } else { &mut settings };
        if name != "mounted" {
            let _ = writeln!(part, "{name:13}{text}");
        }
    }
    (devices, settings)
}

fn machine_lines(host: &HostFacts) -> String {
    let mut text = String::new();
    let caches = match (host.rights.drop_caches, host.rights.root) {
        (true, _) => "may be dropped: cold phases can be verified".to_string(),
        (false, true) => "cannot be dropped, although this is root".into(),
        (false, false) => "cannot be dropped without root: cold phases stay unverified".into(),
    };
    let _ = writeln!(text, "caches       {caches}; looked into by {}", host.rights.cache_probe);
    let _ = writeln!(text, "rights       {}", if host.rights.root { "root" } else { "not root" });
    let _ = writeln!(
        text,
        "machine      {}, {}, {}, {}",
        shown(&host.kernel),
        shown(&host.cpu),
        counted(u64::from(host.cpus), "processor"),
        bytes(host.memory_bytes)
    );
    let _ = writeln!(text, "clock        {}", RealClock::new().source());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::layout::LeftOut;

    #[test]
    fn the_layout_says_over_what_it_is_and_what_it_leaves_out() {
        let mut layout = LayoutScore::default();
        assert_eq!(layout_words(&layout), "no score: no file of two blocks or more");
        layout = LayoutScore { followed: 97, pairs: 100, files: 1_234, ..layout };
        assert_eq!(layout_words(&layout), "score 0.97 over 1,234 files");
        layout.skipped = [(LeftOut::Inline, 12), (LeftOut::Delayed, 3)].into();
        layout.encoded = 7;
        layout.cut = true;
        assert_eq!(
            layout_words(&layout),
            "score 0.97 over 1,234 files (12 inline, 3 delayed left out, 7 compressed); \
             looked at the first 1,249"
        );
    }
}
