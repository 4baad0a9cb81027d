//! File systems that were made for a run: where, and how.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{shorten_name, write_wrapped};
use crate::base::units::{self, counted, grouped};
use crate::host::facts::{DeviceFacts, HostFacts};
use crate::measure::book::{MadeFileSystem, ResultBook};
use crate::measure::order::made;

/// Longer names of variants are shortened.
const NAME_MAX: usize = 24;

/// What stands for the place of a run that made its file systems.
pub(super) fn about_made(book: &ResultBook) -> String {
    let mut grounds: Vec<String> = Vec::new();
    for made in made(book) {
        let ground = ground(made, &book.filesystems, &book.host);
        if !grounds.contains(&ground) {
            grounds.push(ground);
        }
    }
    let many = counted(book.filesystems.len() as u64, "file system");
    format!("{many} made {}", grounds.join(" and "))
}

/// What one was made on. A device is named where all that share the ground have the same.
fn ground(made: &MadeFileSystem, all: &[MadeFileSystem], host: &HostFacts) -> String {
    let size = units::bytes(made.device_bytes);
    let name = |of: &MadeFileSystem| of.device.as_ref().map(|device| device.name.clone());
    let alike = all.iter().filter(|other| other.place == made.place);
    let same = alike.clone().all(|other| name(other) == name(made));
    let device = made.device.as_ref();
    let direct = device.and_then(|device| device.loop_direct_io).map(about_loop);
    let facts = [name(made).filter(|_| same), direct.map(str::to_string)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    match made.place.as_str() {
        "memory" => format!("in memory ({size})"),
        "device" => format!("on a device of {size}{facts}"),
        _ => format!("on an image of {size}{facts} in a directory of {}", below(host)),
    }
}

fn about_loop(direct: bool) -> &'static str {
    if direct { "direct I/O" } else { "through the host's cache" }
}

fn below(host: &HostFacts) -> String {
    let on = host.device.as_ref().map_or_else(|| host.filesystem.source.clone(), device_name);
    format!("{} on {on}", host.filesystem.kind)
}

/// A device with its maker's name for it.
pub(super) fn device_name(device: &DeviceFacts) -> String {
    match &device.model {
        Some(model) => format!("{} ({model})", device.name),
        None => device.name.clone(),
    }
}

/// Writes how each was made and mounted. Fails only if `out` does.
pub(super) fn write_filesystems(book: &ResultBook, out: &mut dyn Write) -> io::Result<()> {
    write_wrapped("", "file systems, made anew for each of the variant's cells:", out)?;
    let mut table = Table::new(&[("variant", Align::Left), ("made by", Align::Left)]);
    for made in made(book) {
        table.note(&shorten_name(&made.variant, NAME_MAX), &about(made));
    }
    table.write(out)
}

fn about(made: &MadeFileSystem) -> String {
    let kind = (made.kind != made.variant).then(|| made.kind.clone());
    let mkfs = made.mkfs.clone().unwrap_or_else(|| "mount alone".into());
    let asked = match made.mount_asked.as_str() {
        "" => "mounted with the defaults".into(),
        asked => format!("mounted with {asked}"),
    };
    let shown = format!("{asked}, which the kernel shows as {}", made.options);
    let inodes = match made.inodes {
        Some(inodes) => format!("{} inodes", grouped(inodes)),
        None => "inodes as needed".into(),
    };
    let (room, total) = (units::bytes(made.available_bytes), units::bytes(made.device_bytes));
    let place = match made.place.as_str() {
        "memory" => "memory".to_string(),
        place => {
            let name = made.device.as_ref().map(|device| format!(" {}", device.name));
            format!("{place}{}", name.unwrap_or_default())
        }
    };
    let size = format!("{room} of {total} free on {place}, {inodes}");
    // Where nothing was made there was nothing to trim for it.
    let full = made.mkfs.is_some() && !made.trimmed;
    let stale = full.then(|| "the device cannot be trimmed".to_string());
    let parts = [kind, Some(mkfs), made.mkfs_version.clone(), Some(shown), Some(size), stale];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}
