//! What is missing to make the file systems of a plan, told before anything is written.

use std::path::Path;

use super::room;
use crate::base::failure::Failure;
use crate::base::units::bytes as in_bytes;
use crate::host::erase::check_erasable;
use crate::host::facts::{HostFacts, IN_MEMORY, memory_available_bytes};
use crate::host::making::probe_all;
use crate::host::space::Space;
use crate::plan::Plan;
use crate::plan::filesystem::{
    self, FileSystemKind, Volume, VolumeSize, check_size, volume_size_at,
};
use crate::plan::space::Need;

/// Kinds of file systems that a plan wants made, each once.
pub(crate) fn kinds(plan: &Plan) -> Vec<&'static FileSystemKind> {
    let mut kinds: Vec<&'static FileSystemKind> = Vec::new();
    for filesystem in plan.cells.iter().filter_map(|cell| cell.filesystem.as_ref()) {
        if !kinds.contains(&filesystem.kind) {
            kinds.push(filesystem.kind);
        }
    }
    kinds
}

/// The room that the file systems of a plan have on the place that is asked for: as much as it has
/// or is to have, or else what the plan needs. None if it makes none.
pub(crate) fn room_asked(plan: &Plan, asked: &Volume) -> (Option<VolumeSize>, Option<Failure>) {
    let Some(needed) = filesystem::volume_size(plan) else { return (None, None) };
    let (bytes, lack) = match asked {
        Volume::Image { bytes } | Volume::Memory { bytes } => (*bytes, None),
        Volume::Device { path, erase } => match check_erasable(path, erase) {
            Ok(erasable) => (Some(erasable.total_bytes), None),
            Err(failure) => (None, Some(failure)),
        },
    };
    let room = bytes.and_then(|bytes| volume_size_at(plan, bytes)).unwrap_or(needed);
    (Some(room), lack)
}

/// All that keeps the file systems of a plan from being made here, one sentence for each; nothing is
/// written for it. Whether the user may make and mount them is not looked at.
pub(crate) fn lacks(
    plan: &Plan,
    asked: &Volume,
    host: &HostFacts,
    space: &Space,
    directory: &Path,
) -> Vec<Failure> {
    let (room, unusable) = room_asked(plan, asked);
    let Some(room) = room else { return not_wanted(asked).into_iter().collect() };
    let kinds = kinds(plan);
    let mut lacks: Vec<Failure> = probe_all(&kinds).err().into_iter().collect();
    match unusable {
        Some(failure) => lacks.push(failure),
        None => lacks.extend(check_size(plan, room.bytes).err()),
    }
    lacks.extend(no_disk(&kinds, asked, room.bytes, space, directory));
    lacks.extend(no_memory(&kinds, asked, room.bytes, &host.filesystem.kind, directory));
    lacks
}

/// Words for a place where nothing is made.
fn not_wanted(asked: &Volume) -> Option<Failure> {
    (*asked != Volume::default()).then(|| {
        Failure::usage(
            "--device, --in-memory and --size say where file systems are made, and this job makes none. \
             Nothing was written. Add --filesystem ext4,xfs",
        )
    })
}

/// Whether any of them takes a device, and so an image where no device is named.
fn makes(kinds: &[&'static FileSystemKind]) -> bool {
    kinds.iter().any(|kind| kind.maker.is_some())
}

/// An image lies in the directory where something is made on it.
pub(super) fn has_image(kinds: &[&'static FileSystemKind], asked: &Volume) -> bool {
    matches!(asked, Volume::Image { .. }) && makes(kinds)
}

fn no_disk(
    kinds: &[&'static FileSystemKind],
    asked: &Volume,
    bytes: u64,
    space: &Space,
    directory: &Path,
) -> Option<Failure> {
    let lack = || space.shortfall(Need::of_image(bytes), space.reserve_bytes(), directory);
    has_image(kinds, asked).then(lack).flatten()
}

/// Memory is what file systems without a mkfs live in, an image that is asked for there, and one in
/// a directory that lies there.
fn no_memory(
    kinds: &[&'static FileSystemKind],
    asked: &Volume,
    bytes: u64,
    kind_there: &str,
    directory: &Path,
) -> Option<Failure> {
    let bare = kinds.iter().find(|kind| kind.maker.is_none()).map(|kind| kind.name);
    let image = matches!(asked, Volume::Memory { .. }) && makes(kinds);
    let image_there = has_image(kinds, asked) && IN_MEMORY.contains(&kind_there);
    // An image stays as full as it got beside a file system that lives in memory itself.
    let both = bare.is_some() && (image || image_there);
    let bytes = bytes.saturating_mul(if both { 2 } else { 1 });
    if image_there {
        return room::check_memory(kind_there, bytes, directory).err();
    }
    let what = match (asked, bare) {
        (Volume::Memory { .. }, _) => "the image for file systems",
        (_, Some(name)) => name,
        _ => return None,
    };
    room::check_memory(IN_MEMORY[0], bytes, directory).err()?;
    Some(too_little(what, bytes, memory_available_bytes().unwrap_or_default()))
}

fn too_little(what: &str, bytes: u64, free: u64) -> Failure {
    let (wanted, free) = (in_bytes(bytes), in_bytes(free));
    Failure::failed(format!(
        "{what} may take {wanted} of memory, of which {free} are free, and a fifth of that must stay free. \
         Nothing was written. Give it a smaller --size or take less, or name a directory or a device on \
         a disk"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::failure::Exit;
    use crate::plan::filesystem::{find_kind, read_list};
    use crate::plan::{Settings, read_job};

    const JOB: &str = "name = 'x'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n";
    const ALL: u64 = 1 << 50;

    fn plan(list: &str) -> Plan {
        let filesystems = read_list(list).unwrap();
        let settings = Settings { filesystems, ..Settings::default() };
        read_job(JOB, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    fn kind(name: &str) -> &'static FileSystemKind {
        find_kind(name).unwrap()
    }

    fn space(available_bytes: u64) -> Space {
        Space {
            block_bytes: 4096,
            total_bytes: available_bytes,
            available_bytes,
            ..Space::default()
        }
    }

    #[test]
    fn disk_is_needed_only_by_an_image_with_something_made_on_it() {
        let (image, memory) = (Volume::default(), Volume::Memory { bytes: None });
        let lack = |name, asked| {
            no_disk(&[kind(name)], asked, 1 << 30, &space(1 << 20), Path::new("/x")).is_some()
        };
        assert!(lack("ext4", &image));
        assert!(!lack("tmpfs", &image) && !lack("ext4", &memory));
    }

    #[test]
    fn memory_is_needed_by_what_lives_there_and_by_images_there() {
        let (image, memory) = (Volume::default(), Volume::Memory { bytes: None });
        let device = Volume::Device { path: "/dev/x".into(), erase: "/dev/x".into() };
        let lack = |names: &[&str], asked, there| {
            let kinds: Vec<_> = names.iter().map(|name| kind(name)).collect();
            no_memory(&kinds, asked, ALL, there, Path::new("/x")).map(|lack| lack.sentence)
        };
        let said = |names, asked, there| lack(names, asked, there).unwrap_or_default();
        assert!(said(&["ext4", "tmpfs"], &image, "ext4").starts_with("tmpfs may take"));
        assert!(said(&["tmpfs"], &device, "ext4").starts_with("tmpfs may take"));
        assert!(said(&["ext4"], &memory, "ext4").starts_with("the image"));
        assert!(said(&["ext4"], &image, "tmpfs").starts_with("/x lies in memory (tmpfs)"));
        assert_eq!(lack(&["ext4"], &image, "ext4"), None);
        assert_eq!(lack(&["ext4"], &device, "tmpfs"), None);
    }

    #[test]
    fn an_image_in_memory_and_a_file_system_that_lives_there_need_room_side_by_side() {
        let Some(free) = memory_available_bytes() else { return };
        let bytes = free / 10 * 6;
        let lack = |names: &[&str], asked: &Volume, there| {
            let kinds: Vec<_> = names.iter().map(|name| kind(name)).collect();
            no_memory(&kinds, asked, bytes, there, Path::new("/x")).is_some()
        };
        let (image, memory) = (Volume::default(), Volume::Memory { bytes: None });
        for (asked, there) in [(&memory, "ext4"), (&image, "tmpfs")] {
            assert!(!lack(&["ext4", "xfs"], asked, there), "one after the other");
            assert!(lack(&["ext4", "tmpfs"], asked, there));
        }
        assert!(!lack(&["ext4", "tmpfs"], &image, "ext4"), "the image lies on a disk");
    }

    #[test]
    fn the_room_is_that_of_the_place_that_is_asked_for() {
        let bytes = |asked| room_asked(&plan("ext4"), &asked).0.map(|room| room.bytes);
        assert_eq!(bytes(Volume::default()), Some(1 << 30));
        assert_eq!(bytes(Volume::Memory { bytes: Some(3 << 30) }), Some(3 << 30));
        let missing = Volume::Device { path: "/dev/a".into(), erase: "/dev/b".into() };
        let (room, lack) = room_asked(&plan("ext4"), &missing);
        assert!(room.is_some() && lack.is_some(), "{room:?} {lack:?}");
    }

    #[test]
    fn a_place_for_nothing_is_wrong_usage() {
        let there = read_job(JOB, &Settings::default()).unwrap_or_else(|_| panic!("a good job"));
        let (image, memory) = (Volume::default(), Volume::Memory { bytes: None });
        let host = HostFacts::default();
        let said = |asked| lacks(&there, asked, &host, &space(ALL), Path::new("/x"));
        assert_eq!(said(&image), []);
        let exits: Vec<Exit> = said(&memory).iter().map(|lack| lack.exit).collect();
        assert_eq!(exits, [Exit::Usage]);
    }
}
