//! `boatload inspect`: what a run would find in a directory.

use std::fmt::Write;
use std::os::fd::AsFd;
use std::path::PathBuf;

use clap::Args;

use super::{out, space_of};
use crate::base::failure::{Exit, Result, shown};
use crate::base::units::{bytes, counted, grouped};
use crate::host::facts::{DeviceFacts, HostFacts};
use crate::host::space::Space;
use crate::run::clock::RealClock;
use crate::run::ground::open_parent;

const EXAMPLES: &str = "\
Examples:
  boatload inspect
  boatload inspect /mnt/x";

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
        let space = space_of(parent.as_fd())?;
        let mut text = format!("directory    {}\n", shown(&self.dir));
        text.push_str(&filesystem_lines(&host, &space));
        text.push_str(&match &host.device {
            Some(device) => device_lines(device),
            None => "device       none known: reads cannot be counted\n".into(),
        });
        text.push_str(&machine_lines(&host));
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
        shown(&fs.kind),
        shown(&fs.source),
        bytes(fs.block_bytes),
        shown(&fs.options),
        bytes(space.available_bytes),
        bytes(space.total_bytes),
        bytes(space.reserve_bytes()),
    )
}

fn device_lines(device: &DeviceFacts) -> String {
    let mut facts = vec![shown(&device.name)];
    facts.extend(device.model.as_deref().map(shown));
    facts.extend(device.total_bytes.map(bytes));
    facts.extend(
        device.rotational.map(|turns| if turns { "rotating" } else { "not rotating" }.into()),
    );
    facts.extend(device.scheduler.as_deref().map(|name| format!("scheduler {}", shown(name))));
    facts.extend(device.write_cache.as_deref().map(|kind| format!("cache {}", shown(kind))));
    facts.extend(device.loop_direct_io.map(|direct| {
        if direct { "direct I/O" } else { "through the cache of the file system beneath" }.into()
    }));
    format!("device       {}\n", facts.join(", "))
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
