//! File systems that were made for a run: where, and how.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{shorten_names, write_wrapped};
use crate::base::units::{self, counted, grouped};
use crate::host::facts::{DeviceFacts, HostFacts};
use crate::measure::book::MadeOn;
use crate::measure::book::{Book, MadeFileSystem};
use crate::measure::order::made;

/// Longer names of variants are shortened.
const NAME_MAX: usize = 24;

/// What stands for the place of a run that made its file systems.
pub(super) fn about_made(book: &Book) -> String {
    let mut grounds: Vec<(String, u64)> = Vec::new();
    for made in made(book) {
        let ground = ground(made, &book.filesystems, &book.host);
        match grounds.iter_mut().find(|(known, _)| *known == ground) {
            Some((_, count)) => *count += 1,
            None => grounds.push((ground, 1)),
        }
    }
    let many = counted(book.filesystems.len() as u64, "file system");
    if let [(ground, _)] = grounds.as_slice() {
        return format!("{many} made {ground}");
    }
    let each = grounds.iter().map(|(ground, count)| format!("{count} {ground}"));
    format!("{many} made: {}", each.collect::<Vec<_>>().join(", "))
}

/// Whether it has no device: what takes no mkfs lives in memory, wherever others are made.
fn is_bare(made: &MadeFileSystem) -> bool {
    made.mkfs.is_none()
}

/// What one was made on. A device is named where all that share the ground have the same.
fn ground(made: &MadeFileSystem, all: &[MadeFileSystem], host: &HostFacts) -> String {
    let size = units::bytes(made.device_bytes);
    let name = |of: &MadeFileSystem| of.device.as_ref().map(|device| device.name.clone());
    let mut alike = all.iter().filter(|other| other.place == made.place && !is_bare(other));
    let same = alike.all(|other| name(other) == name(made));
    let device = made.device.as_ref();
    let direct = device.and_then(|device| device.loop_direct_io).map(about_loop);
    let facts = [name(made).filter(|_| same), direct.map(str::to_string)];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    match made.place {
        _ if is_bare(made) => format!("in memory ({size})"),
        MadeOn::Memory => format!("on an image of {size} in memory"),
        MadeOn::Device => format!("on a device of {size}{facts}"),
        MadeOn::Image => format!("on an image of {size}{facts} in a directory of {}", below(host)),
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

/// The title of how they were made.
const MADE: &str =
    "file systems, made anew for each cell, or for all levels of a variant that are prepared";

/// Their title and a table of how each was made and mounted.
pub(super) fn made_table(book: &Book) -> (&'static str, Table) {
    let mut table = Table::new(&[("variant", Align::Left), ("made by", Align::Left)]);
    made(book)
        .into_iter()
        .for_each(|made| table.row(vec![made.variant.clone(), about(made, false)]));
    (MADE, table)
}

/// Writes how each was made and mounted. Fails only if `out` does.
pub(super) fn write_filesystems(book: &Book, out: &mut dyn Write) -> io::Result<()> {
    write_wrapped("", &format!("{MADE}:"), out)?;
    let mut table = Table::new(&[("variant", Align::Left), ("made by", Align::Left)]);
    let all = made(book);
    let names: Vec<_> = all.iter().map(|made| (made.variant.as_str(), NAME_MAX)).collect();
    for (made, name) in all.iter().zip(shorten_names(&names)) {
        table.note(&name, &about(made, name != made.variant));
    }
    table.write(out)
}

/// All about one, with its name where that was cut.
fn about(made: &MadeFileSystem, is_cut: bool) -> String {
    let name = is_cut.then(|| made.variant.clone());
    let kind = (made.kind != made.variant).then(|| made.kind.clone());
    let mkfs = made.mkfs.clone().unwrap_or_else(|| "no mkfs".into());
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
    let name_of_device = made.device.as_ref().map(|device| format!(" ({})", device.name));
    let place = match made.place {
        _ if is_bare(made) => "in memory".into(),
        MadeOn::Memory => "on an image in memory".into(),
        MadeOn::Device => format!("on the device{}", name_of_device.unwrap_or_default()),
        MadeOn::Image => format!("on an image{}", name_of_device.unwrap_or_default()),
    };
    let size = format!("{room} of {total} free {place}, {inodes}");
    // Where nothing was made there was nothing to trim for it.
    let full = !is_bare(made) && !made.trimmed;
    let stale = full.then(|| "the device cannot be trimmed".to_string());
    let parts = [name, kind, Some(mkfs), made.mkfs_version.clone(), Some(shown), Some(size), stale];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::fixture::made::filesystem;

    #[test]
    fn what_has_no_device_is_in_memory_wherever_the_others_are() {
        let mut bare = filesystem("tmpfs", "tmpfs");
        (bare.mkfs, bare.device, bare.place) = (None, None, MadeOn::Image);
        let filesystems = vec![filesystem("ext4", "ext4"), bare.clone(), filesystem("xfs", "xfs")];
        let said = about_made(&Book { filesystems, ..Book::default() });
        assert!(said.starts_with("3 file systems made: 2 on an image of"), "{said}");
        assert!(said.contains("loop0") && said.contains(", 1 in memory ("), "{said}");
        assert!(about(&bare, false).contains("free in memory, "), "{}", about(&bare, false));
    }

    #[test]
    fn names_that_are_cut_stand_in_full_beside_what_is_told_of_them() {
        let names =
            ["ext4 -O ^has_journal,^dir_index -m 0", "ext4 -O ^has_journal,^dir_index -m 5"];
        let filesystems = names.iter().map(|name| filesystem(name, "ext4")).collect();
        let mut out = Vec::new();
        write_filesystems(&Book { filesystems, ..Book::default() }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (name, short) in
            names.iter().zip(["ext4 -O ^has…_index -m 0", "ext4 -O ^has…_index -m 5"])
        {
            assert!(words.contains(name) && text.contains(short), "{short}: {text}");
        }
    }
}
