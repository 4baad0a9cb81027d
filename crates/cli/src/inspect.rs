//! Runs `boatload inspect`: shows the file system, device, caches and rights that a run would find.

use std::fmt::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DIRECTORY_VARIABLE;
use super::out;
use boatload_base::errno::Errno;
use boatload_base::failure::{Exit, Result, shown};
use boatload_base::units::{bytes, counted, grouped};
use boatload_host::facts::HostFacts;
use boatload_host::layout::{LayoutScore, ScoreLimits, score_below};
use boatload_host::space::Space;
use boatload_report::host_lines;
use boatload_run::clock::{Clock, RealClock};
use boatload_run::run_directory::open_parent;

const EXAMPLES: &str = "\
Examples:
  boatload inspect
  boatload inspect /mnt/x";

/// Most files that the layout score looks at.
const SCORE_FILES_MAX: u64 = 10_000;

/// Most time that it takes: on a turning disk each inode that is not cached costs a seek.
const LAYOUT_NS_MAX: u64 = 1_000_000_000;

/// Show the file system, device, caches and rights of a directory
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Inspect {
    /// Directory to look at
    #[arg(default_value = ".", value_name = "DIR", env = DIRECTORY_VARIABLE, hide_env_values = true)]
    dir: PathBuf,
    /// Also write the facts (JSON) to FILE; - writes them instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Inspect {
    pub(super) fn run(&self) -> Result<Exit> {
        let parent = open_parent(&self.dir)?;
        let host = HostFacts::gather(parent.as_fd())?;
        let space = Space::read(parent.as_fd())?;
        let mut rows = vec![("directory", shown(&self.dir))];
        rows.extend(filesystem_rows(&host, &space));
        let settings = host_lines(&host);
        let (devices, settings): (Vec<_>, Vec<_>) =
            settings.iter().partition(|(name, _)| *name == "device");
        match host.device {
            Some(_) => rows.extend(devices.into_iter().cloned()),
            None => rows.push(("device", "none known: reads cannot be counted".into())),
        }
        let layout = found_layout(parent.as_fd());
        rows.push(("layout", layout_text(&layout)));
        rows.extend(machine_rows(&host));
        // The file system has its own rows.
        rows.extend(settings.into_iter().filter(|(name, _)| *name != "mounted").cloned());
        let lines = rows.into_iter().map(|(name, text)| format!("{name:13}{text}\n"));
        out::print_and_keep(&lines.collect::<String>(), self.json.as_deref(), || {
            let layout = layout.as_ref().ok();
            let document = InspectDocument::new(shown(&self.dir), &host, &space, layout);
            out::json_line("write the facts", &document)
        })?;
        Ok(Exit::Good)
    }
}

/// The document of `boatload inspect --json`.
#[derive(Serialize, JsonSchema)]
struct InspectDocument<'a> {
    /// `boatload-inspect`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// The directory, as it was named.
    directory: String,
    /// The machine, the file system and the device, as the run document has them.
    host: &'a HostFacts,
    /// Bytes that a run keeps free; null where the file system does not state its size.
    reserve_bytes: Option<u64>,
    /// The share of a file's blocks that follow the one before, from 0 to 1; null where it is not known.
    layout_score: Option<f64>,
    /// Files that the score is of.
    layout_files: u64,
}

impl<'a> InspectDocument<'a> {
    fn new(
        directory: String,
        host: &'a HostFacts,
        space: &Space,
        layout: Option<&LayoutScore>,
    ) -> Self {
        Self {
            format: "boatload-inspect",
            version: 1,
            directory,
            host,
            reserve_bytes: space.is_stated().then(|| space.reserve_bytes()),
            layout_score: layout.and_then(LayoutScore::score),
            layout_files: layout.map_or(0, |layout| layout.files),
        }
    }
}

fn filesystem_rows(host: &HostFacts, space: &Space) -> [(&'static str, String); 3] {
    let fs = &host.filesystem;
    let inodes = match space.available_inodes {
        Some(free) => format!("{} inodes free", grouped(free)),
        None => "inodes made as needed".into(),
    };
    let (about, source) = (shown(fs.about()), shown(&fs.source));
    let free = space.words();
    let kept = match space.is_stated() {
        true => format!("; {} are kept free", bytes(space.reserve_bytes())),
        false => String::new(),
    };
    let blocks = fs.block_bytes.map(|size| format!(", blocks of {}", bytes(size)));
    [
        ("file system", format!("{about} on {source}{}", blocks.unwrap_or_default())),
        ("options", shown(&fs.options)),
        ("space", format!("{free}, {inodes}{kept}")),
    ]
}

fn found_layout(directory: BorrowedFd<'_>) -> std::result::Result<LayoutScore, Errno> {
    let clock = RealClock::new();
    let begun = clock.now();
    let go_on = || clock.nanoseconds(begun, clock.now()) < LAYOUT_NS_MAX;
    let limits = ScoreLimits { files_most: SCORE_FILES_MAX, go_on: &go_on };
    score_below(directory, limits)
}

fn layout_text(found: &std::result::Result<LayoutScore, Errno>) -> String {
    match found {
        Ok(score) => score_text(score),
        Err(Errno::EOPNOTSUPP) => "not known: this file system does not say where files lie".into(),
        Err(error) => format!("not known: {}", error.about()),
    }
}

fn score_text(layout: &LayoutScore) -> String {
    let mut text = match layout.score() {
        Some(score) => format!("score {score:.2} over {}", counted(layout.files, "file")),
        None => "no score: no file of two blocks or more".into(),
    };
    for (files, what) in [(layout.left_out, "left out"), (layout.encoded, "compressed")] {
        if files > 0 {
            let _ = write!(text, ", {} {what}", grouped(files));
        }
    }
    if layout.cut {
        let _ = write!(text, "; looked at the first {}", grouped(layout.seen()));
    }
    text
}

fn machine_rows(host: &HostFacts) -> [(&'static str, String); 4] {
    let caches = match (host.rights.drop_caches, host.rights.root) {
        (true, _) => "may be dropped: cold phases can be verified",
        (false, true) => "cannot be dropped, although this is root",
        (false, false) => "cannot be dropped without root: cold phases stay unverified",
    };
    let (kernel, cpu) = (shown(&host.kernel), shown(&host.cpu));
    let (cpus, memory) = (counted(u64::from(host.cpus), "processor"), bytes(host.memory_bytes));
    [
        ("caches", format!("{caches}; looked into by {}", host.rights.cache_probe)),
        ("rights", if host.rights.root { "root" } else { "not root" }.into()),
        ("machine", format!("{kernel}, {cpu}, {cpus}, {memory}")),
        ("clock", RealClock::new().source().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::fixture::published::assert_published;

    #[test]
    fn the_schema_of_the_facts_is_the_one_that_is_published() {
        assert_published::<InspectDocument<'_>>("inspect.schema.json");
    }

    #[test]
    fn the_layout_says_over_what_it_is_and_what_it_leaves_out() {
        let mut layout = LayoutScore::default();
        assert_eq!(score_text(&layout), "no score: no file of two blocks or more");
        layout = LayoutScore { followed: 97, pairs: 100, files: 1_234, ..layout };
        assert_eq!(score_text(&layout), "score 0.97 over 1,234 files");
        layout.left_out = 15;
        layout.encoded = 7;
        layout.cut = true;
        assert_eq!(
            score_text(&layout),
            "score 0.97 over 1,234 files, 15 left out, 7 compressed; looked at the first 1,249"
        );
    }
}
