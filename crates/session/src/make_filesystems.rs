//! Checks that the file systems of a run can be made (programs, root, room) before anything is written; then makes their image
//! or opens their device, and makes and mounts each once as a trial.

use std::path::Path;

use super::{HostSurvey, RunOrder, Watcher, room};
use boatload_base::distinct::each_once;
use boatload_base::failure::{Failure, Result};
use boatload_base::shell::as_root;
use boatload_base::units::bytes as in_bytes;
use boatload_host::erase::check_erasable;
use boatload_host::facts::{FilesystemFacts, HostFacts};
use boatload_host::fuse;
use boatload_host::making::probe_all;
use boatload_host::memory::MemoryRoom;
use boatload_host::mounts::{enter_private_mounts, is_in_memory};
use boatload_host::process::is_root;
use boatload_host::space::Space;
use boatload_plan::filesystem::{
    FileSystemKind, Volume, VolumeSize, check_size, fair_volume_size, mount_options, shown_command,
    volume_size_at, written_at_most,
};
use boatload_plan::space::Need;
use boatload_plan::{CellPlan, FileSystem, Plan};
use boatload_results::book::{DiskFacts, MadeFileSystem};
use boatload_run::backing::{Backing, DiskOrder};
use boatload_run::clock::RealClock;
use boatload_run::interrupt::Interrupt;
use boatload_run::run_directory::RunDirectory;
use boatload_run::site::{MadeFacts, MadeSite, MkfsTools};

/// The programs to make file systems with, and the size of their volume.
pub(super) struct Toolset {
    tools: MkfsTools,
    place: Volume,
    room: VolumeSize,
    /// What the images of prepared file systems may take in addition, in bytes.
    kept_bytes: u64,
}

/// Kinds of file systems that a plan wants made, each once.
fn kinds(plan: &Plan) -> Vec<&'static FileSystemKind> {
    let filesystems = plan.cells.iter().filter_map(|cell| cell.filesystem.as_ref());
    each_once(filesystems.map(|filesystem| filesystem.kind))
}

/// The room that the file systems of a plan have on the place that is asked for: as much as it has
/// or is to have, or else what the plan needs; on modelled disks as much as is fair, as of an image in memory
/// only what is written takes any. `None` when it makes none.
pub fn room_asked(survey: &HostSurvey, asked: &Volume) -> (Option<VolumeSize>, Option<Failure>) {
    let HostSurvey { host, space, plan, .. } = survey;
    let all_on_image =
        has_image(&kinds(plan), asked) && kinds(plan).iter().all(|kind| kind.maker.is_some());
    let on_disk = all_on_image && !is_in_memory(&host.filesystem.kind);
    let spare_bytes = space.available_bytes.saturating_sub(space.reserve_bytes());
    let spare_bytes = match asked {
        Volume::Memory { .. } if !plan.disks().is_empty() => u64::MAX,
        _ if on_disk => spare_bytes,
        _ => 0,
    };
    let fair = fair_volume_size(plan, spare_bytes);
    let Some(fair) = fair else { return (None, None) };
    let (bytes, lack) = match asked {
        Volume::Image { bytes } | Volume::Memory { bytes } => (*bytes, None),
        Volume::Device { path, erase } => match check_erasable(path, erase) {
            Ok(erasable) => (Some(erasable.total_bytes), None),
            Err(failure) => (None, Some(failure)),
        },
    };
    let room = bytes.and_then(|bytes| volume_size_at(plan, bytes)).unwrap_or(fair);
    (Some(room), lack)
}

/// All that keeps the file systems of a plan from being made here, one sentence for each; nothing is
/// written for it. Whether the user may make and mount them is not looked at.
pub fn lacks(survey: &HostSurvey, asked: &Volume, directory: &Path) -> Vec<Failure> {
    let plan = &survey.plan;
    let (room, unusable) = room_asked(survey, asked);
    let Some(room) = room else {
        let nothing = "--device, --in-memory and --size say where file systems are made, and this job \
                       makes none. Nothing was written. Add --filesystem ext4,xfs";
        return match *asked == Volume::default() {
            true => Vec::new(),
            false => vec![Failure::usage(nothing)],
        };
    };
    let kinds = kinds(plan);
    let mut lacks: Vec<Failure> = probe_all(&kinds).err().into_iter().collect();
    match unusable {
        Some(failure) => lacks.push(failure),
        None => lacks.extend(check_size(plan, room.bytes).err()),
    }
    lacks.extend(no_room(survey, asked, &room, directory));
    lacks.extend(no_fuse(plan));
    lacks
}

/// Why a volume of this size does not fit into its place.
pub(super) fn no_room(
    HostSurvey { host, space, memory_free, plan, .. }: &HostSurvey,
    asked: &Volume,
    room: &VolumeSize,
    directory: &Path,
) -> Vec<Failure> {
    let (kinds, in_memory) = (kinds(plan), memory_of_image(plan, room));
    let lacks = [
        no_disk(&kinds, asked, room.bytes, space, directory),
        no_memory(&kinds, asked, in_memory, *memory_free, &host.filesystem.kind, directory),
    ];
    lacks.into_iter().flatten().collect()
}

/// What an image in memory may take there, in bytes: all of it, or, of one behind a modelled disk, what is
/// written to it.
pub(super) fn memory_of_image(plan: &Plan, room: &VolumeSize) -> u64 {
    if plan.disks().is_empty() { room.bytes } else { written_at_most(plan, room) }
}

/// Why modelled disks cannot be served here.
fn no_fuse(plan: &Plan) -> Option<Failure> {
    let failure = if plan.disks().is_empty() { None } else { fuse::open().err() }?;
    let sentence = format!("{}. Nothing was written", failure.sentence);
    Some(Failure { sentence, ..failure })
}

/// Whether any of them takes a device, and so an image where no device is named.
fn makes(kinds: &[&'static FileSystemKind]) -> bool {
    kinds.iter().any(|kind| kind.maker.is_some())
}

/// An image lies in the directory where something is made on it.
fn has_image(kinds: &[&'static FileSystemKind], asked: &Volume) -> bool {
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
    memory_free: Option<u64>,
    kind_there: &str,
    directory: &Path,
) -> Option<Failure> {
    let bare = kinds.iter().find(|kind| kind.maker.is_none()).map(|kind| kind.name);
    let image = matches!(asked, Volume::Memory { .. }) && makes(kinds);
    let image_there = has_image(kinds, asked) && is_in_memory(kind_there);
    // An image stays as full as it got beside a file system that lives in memory itself.
    let both = bare.is_some() && (image || image_there);
    let bytes = bytes.saturating_mul(if both { 2 } else { 1 });
    if image_there {
        return room::check_memory(kind_there, bytes, memory_free, directory).err();
    }
    let what = match (asked, bare) {
        (Volume::Memory { .. }, _) => "the image for file systems",
        (_, Some(name)) => name,
        _ => return None,
    };
    if room::fits_memory(bytes, memory_free) {
        return None;
    }
    let (wanted, free) = (in_bytes(bytes), in_bytes(memory_free.unwrap_or_default()));
    Some(Failure::failed(format!(
        "{what} may take {wanted} of memory; {free} are free, and a fifth of the free memory must stay free. \
         Nothing was written. Give it a smaller --size or take less, or name a directory or a device on \
         a disk"
    )))
}

/// All that is missing as one failure, a line for each.
pub fn together(lacks: impl IntoIterator<Item = Failure>) -> Option<Failure> {
    lacks.into_iter().reduce(|first, next| Failure {
        exit: first.exit,
        sentence: format!("{}\n{}", first.sentence, next.sentence),
    })
}

/// What is mounted from now on is seen by this process alone, and goes with it however it ends.
/// Where the kernel refuses that, mounts are visible to all, and `clean` finds the mounts of a killed run.
pub(super) fn enter_own_mounts(plan: &Plan, watcher: &dyn Watcher) {
    let entered = if plan.makes_filesystems() { enter_private_mounts() } else { Ok(()) };
    let is_root = rustix::process::geteuid().is_root();
    if let Some(refused) = entered.err().filter(|_| is_root) {
        watcher.notice(&format!(
            "all processes see what this run mounts, for the kernel refuses it a view of the mounts of its own ({}). If it is \
             killed, the mounts stay until `boatload clean` removes them",
            refused.about()
        ));
    }
}

impl Toolset {
    /// Looks whether the file systems of a plan can be made, and touches nothing. `None` when it wants
    /// none.
    pub(super) fn find(survey: &HostSurvey, order: &RunOrder<'_>) -> Result<Option<Self>> {
        let plan = &survey.plan;
        if plan.makes_filesystems() && !is_root() {
            return Err(Failure::failed(format!(
                "making and mounting file systems takes root. Nothing was written. Without root `boatload run --dir DIR` \
                 measures the file system of a directory; as root: {}",
                as_root()
            )));
        }
        let place = survey.place.clone();
        if let Some(lack) = together(lacks(survey, &place, &order.directory)) {
            return Err(lack);
        }
        let (Some(room), _) = room_asked(survey, &place) else { return Ok(None) };
        let kept_bytes = survey.kept_bytes();
        Ok(Some(Self { tools: probe_all(&kinds(plan))?, place, room, kept_bytes }))
    }

    /// What an image in the directory may grow to, with the images that are kept, in bytes; 0 without one.
    pub(super) fn image_bytes(&self) -> u64 {
        let kinds: Vec<_> = self.tools.iter().map(|(kind, _)| *kind).collect();
        if has_image(&kinds, &self.place) {
            self.room.bytes.saturating_add(self.kept_bytes)
        } else {
            0
        }
    }

    /// The place, in the marked directory `run_directory`.
    ///
    /// # Errors
    /// If it cannot be made; then nothing is left of it.
    pub(super) fn site(
        self,
        run_directory: RunDirectory,
        order: &RunOrder<'_>,
        host: HostFacts,
        clock: RealClock,
        interrupt: &Interrupt,
    ) -> Result<MadeSite> {
        // What is made with a mkfs takes a device.
        let takes_device = self.tools.iter().any(|(_, tool)| tool.is_some());
        let asked = takes_device.then_some(&self.place);
        let seed = order.plan.seed;
        let disks = order.plan.disks();
        let memory_bytes = MemoryRoom::available().map(|room| room::memory_at_most(room.bytes));
        let disk = disks.first().map(|model| DiskOrder { model, seed, memory_bytes });
        let place = Backing::make(
            run_directory, &order.directory, asked, self.room, self.kept_bytes, disk,
        )?;
        Ok(MadeSite::new(place, self.tools, host, clock, interrupt.clone()))
    }
}

/// Makes and mounts the file system of each variant once, so that what cannot be made is known before
/// anything is measured; gives what they are like, in the plan's order.
pub(super) fn try_out(
    plan: &Plan,
    site: &mut MadeSite,
    watcher: &dyn Watcher,
) -> Result<Vec<MadeFileSystem>> {
    let mut made: Vec<(&FileSystem, MadeFileSystem)> = Vec::new();
    for cell in &plan.cells {
        let Some(filesystem) = &cell.filesystem else { continue };
        if made.last().is_some_and(|(_, last)| last.variant == cell.variant) {
            continue;
        }
        if let Some((_, same)) = made.iter().find(|(known, _)| *known == filesystem) {
            made.push((
                filesystem,
                MadeFileSystem { variant: cell.variant.clone(), ..same.clone() },
            ));
            continue;
        }
        watcher.status(&format!("trying to make {}", filesystem.label()));
        site.make_fresh(cell)?;
        made.extend(record(cell, site).map(|record| (filesystem, record)));
    }
    Ok(made.into_iter().map(|(_, record)| record).collect())
}

/// What is kept of a file system that was made for a cell.
fn record(cell: &CellPlan, site: &MadeSite) -> Option<MadeFileSystem> {
    let (made, MadeFacts { version, mount, space, device, trimmed, .. }) = site.made()?;
    let facts = FilesystemFacts::new(mount, *space);
    Some(MadeFileSystem {
        variant: cell.variant.clone(),
        kind: made.kind.name.into(),
        mkfs: shown_command(made, site.room()?),
        mkfs_version: version.clone(),
        mount_asked: mount_options(made, site.room()?),
        options: facts.options,
        place: site.made_on(made.kind).unwrap_or_default(),
        disk: made
            .disk
            .as_ref()
            .map(|disk| DiskFacts { name: disk.name.clone(), model: disk.text.clone() }),
        device_bytes: site.room()?.bytes,
        device: device.as_ref().map(|device| device.facts.clone()),
        block_bytes: facts.block_bytes,
        total_bytes: facts.total_bytes,
        available_bytes: facts.available_bytes,
        inodes: facts.available_inodes,
        trimmed: *trimmed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::failure::Exit;
    use boatload_plan::filesystem::{find_kind, read_list};
    use boatload_plan::{Settings, read_job};

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
            let lack = no_memory(&kinds, asked, ALL, Some(1 << 30), there, Path::new("/x"));
            lack.map(|lack| lack.sentence)
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
        let free = 10 << 30;
        let bytes = free / 10 * 6;
        let lack = |names: &[&str], asked: &Volume, there| {
            let kinds: Vec<_> = names.iter().map(|name| kind(name)).collect();
            no_memory(&kinds, asked, bytes, Some(free), there, Path::new("/x")).is_some()
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
        let mut survey = HostSurvey::new(&plan("ext4"), Path::new("/")).unwrap();
        survey.host.filesystem.kind = "ext4".into();
        survey.space = Space { available_bytes: 99 << 30, ..survey.space };
        let bytes =
            |survey: &HostSurvey, asked| room_asked(survey, &asked).0.map(|room| room.bytes);
        assert_eq!(bytes(&survey, Volume::default()), Some(10 << 30));
        assert_eq!(bytes(&survey, Volume::Memory { bytes: Some(3 << 30) }), Some(3 << 30));
        assert_eq!(bytes(&survey, Volume::Memory { bytes: None }), Some(1 << 30));
        survey.space.available_bytes = 9 << 30;
        assert_eq!(bytes(&survey, Volume::default()), Some(1 << 30), "no room for more");
        let missing = Volume::Device { path: "/dev/a".into(), erase: "/dev/b".into() };
        let (room, lack) = room_asked(&survey, &missing);
        assert!(room.is_some() && lack.is_some(), "{room:?} {lack:?}");
    }

    #[test]
    fn a_place_for_nothing_is_wrong_usage() {
        let there = read_job(JOB, &Settings::default()).unwrap_or_else(|_| panic!("a good job"));
        let (image, memory) = (Volume::default(), Volume::Memory { bytes: None });
        let survey = HostSurvey::new(&there, Path::new("/")).unwrap();
        let said = |asked| lacks(&survey, asked, Path::new("/"));
        assert_eq!(said(&image), []);
        let exits: Vec<Exit> = said(&memory).iter().map(|lack| lack.exit).collect();
        assert_eq!(exits, [Exit::Usage]);
    }
}
