//! Making, mounting and erasing on real loop devices, as root. Each test has an image of its own
//! and a private view of the mounts, so that nothing it does is seen by others.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use boatload::base::errno::Errno;
use boatload::host::block::{discard, flush_buffers, wipe};
use boatload::host::block_device::BlockDevice;
use boatload::host::erase::{check_erasable, recheck, recheck_empty};
use boatload::host::idle;
use boatload::host::loop_device::LoopDevice;
use boatload::host::making::{CheckedState, Tool, check, make, probe_all};
use boatload::host::mounts::enter_private_mounts;
use boatload::host::mounts::{is_unused, mount, mounts_below, unmount, unmount_lazily};
use boatload::host::page_cache::CacheProbe;
use boatload::host::signatures::signatures;
use boatload::plan::filesystem::{FileSystemKind, find_kind};
use common::{output, skip};

/// Set for the process that a test starts to be killed: where it finds its image.
const CHILD: &str = "BOATLOAD_TEST_CHILD";

const MIB: u64 = 1 << 20;

/// An image file on a loop device, and a place to mount it.
struct Bench {
    device: LoopDevice,
    directory: tempfile::TempDir,
}

impl Bench {
    /// None, with the reason spoken, where there are no loop devices for this process.
    fn new(what: &str, megabytes: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip(what, "needs root for loop devices");
            return None;
        }
        if let Err(error) = enter_private_mounts() {
            skip(what, &format!("no private mounts: {error}"));
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let image = new_image(directory.path(), megabytes);
        std::fs::create_dir(directory.path().join("mounted")).unwrap();
        match LoopDevice::attach(image.as_fd(), true) {
            Ok(device) => Some(Self { device, directory }),
            Err(failure) => {
                skip(what, &failure.sentence);
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.device.path()
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("image")
    }

    fn mount_point(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(self.path()).unwrap()
    }

    /// Makes a file system of a kind on it; `None` if its program is not installed.
    fn make(&self, kind: &str) -> Option<Result<(), String>> {
        let row = find_kind(kind).unwrap();
        let tool = match probe(row) {
            Ok(tool) => tool.expect("a kind with a program"),
            Err(failure) => {
                skip(&format!("making {kind}"), &failure.sentence);
                return None;
            }
        };
        let always = row.maker.as_ref().unwrap().always.iter().map(OsString::from);
        let arguments: Vec<_> = always.chain([self.path().into()]).collect();
        Some(
            make(&tool, &arguments, Path::new("/"), &AtomicBool::new(false))
                .map_err(|failure| failure.sentence),
        )
    }

    fn refusal(&self) -> String {
        check_erasable(self.path(), self.path()).expect_err("it holds something").sentence
    }
}

fn new_image(directory: &Path, megabytes: u64) -> File {
    let path = directory.join("image");
    let image = File::options().read(true).write(true).create_new(true).open(path).unwrap();
    image.set_len(megabytes * MIB).unwrap();
    image
}

/// What losetup shows for an image, for other tests have loop devices too.
fn attached(image: &Path) -> String {
    output("losetup", &["-j", image.to_str().unwrap()]).expect("losetup lists")
}

/// The program that makes this kind; `None` if mounting is all it takes.
fn probe(kind: &'static FileSystemKind) -> boatload::base::failure::Result<Option<Tool>> {
    probe_all(&[kind]).map(|mut all| all.pop().and_then(|(_, tool)| tool))
}

#[test]
fn an_image_is_attached_around_the_cache_and_free_again_after() {
    let Some(bench) = Bench::new("attaching an image", 16) else { return };
    let (path, image) = (bench.path().to_path_buf(), bench.image());
    let listed = attached(&image);
    assert!(listed.starts_with(path.to_str().unwrap()), "{listed}");
    assert!(listed.contains(image.to_str().unwrap()), "{listed}");
    assert_eq!(bench.device.number().0, 7);
    assert_eq!(bench.open().seek(SeekFrom::End(0)).unwrap(), 16 * MIB);
    let dio = path.file_name().unwrap().to_str().unwrap();
    let dio = std::fs::read_to_string(format!("/sys/block/{dio}/loop/dio")).unwrap();
    assert_eq!(bench.device.direct_io(), dio.trim() == "1");
    let below = output("stat", &["-f", "-c", "%T", bench.directory.path().to_str().unwrap()]);
    if below.as_deref() == Some("ext2/ext3") {
        assert!(bench.device.direct_io(), "ext4 does direct I/O");
    }
    bench.device.detach().unwrap();
    assert_eq!(attached(&image), "");
}

#[test]
fn without_direct_io_asked_for_there_is_none_and_a_drop_frees_the_device() {
    let Some(bench) = Bench::new("attaching an image through the cache", 16) else { return };
    let directory = tempfile::tempdir().unwrap();
    let image = new_image(directory.path(), 16);
    let device = LoopDevice::attach(image.as_fd(), false).unwrap();
    assert!(!device.direct_io());
    assert_ne!(device.number(), bench.device.number());
    drop(device);
    comes_true("it is free", || attached(&directory.path().join("image")).is_empty());
}

/// A setting of a loop device stays when its user goes.
#[test]
fn a_device_that_somebody_left_uncounted_counts_while_it_is_attached_and_not_after() {
    let Some(bench) = Bench::new("a loop device that counts nothing", 16) else { return };
    let directory = tempfile::tempdir().unwrap();
    let image = new_image(directory.path(), 16);
    for _ in 0..20 {
        // Others take loop devices too: the one that is free now may not be the one that is attached.
        let Some(free) = output("losetup", &["-f"]) else { return skip("losetup", "it fails") };
        let name = free.strip_prefix("/dev/").unwrap();
        let setting = PathBuf::from(format!("/sys/block/{name}/queue/iostats"));
        if std::fs::write(&setting, "0").is_err() {
            continue;
        }
        let counts = || std::fs::read_to_string(&setting).unwrap().trim() == "1";
        let device = LoopDevice::attach(image.as_fd(), true).unwrap();
        let is_it = device.path() == Path::new(&free);
        let attached = counts();
        device.detach().unwrap();
        let after = counts();
        std::fs::write(&setting, "1").unwrap();
        if is_it {
            assert_eq!((attached, after), (true, false), "{free}");
            let (major, minor) = bench.device.number();
            let device = BlockDevice::numbered(Path::new("/sys"), (major, minor)).unwrap();
            assert!(device.counters().is_some());
            return;
        }
    }
    skip("a loop device that counts nothing", "others took each one first");
}

#[test]
fn a_device_that_is_held_says_so_and_is_freed_when_it_is_let_go() {
    let Some(bench) = Bench::new("a loop device that is held", 16) else { return };
    let (image, held) = (bench.image(), bench.open());
    let told = bench.device.detach().expect_err("it is held").sentence;
    assert!(told.contains("still in use"), "{told}");
    drop(held);
    comes_true("it is free", || attached(&image).is_empty());
}

#[test]
fn on_a_disk_with_large_blocks_the_device_gets_large_ones_to_have_direct_io() {
    let Some(bench) = Bench::new("a disk with blocks of 4096 bytes", 64) else { return };
    let disk = bench.path().to_str().unwrap();
    // util-linux has it since 2.30.
    if !runs(Command::new("losetup").args(["--sector-size", "4096", disk])) {
        return;
    }
    let Some(made) = bench.make("ext4") else { return };
    made.unwrap();
    let point = bench.mount_point();
    mount(bench.path(), "ext4", &point, "").unwrap();
    let image = new_image(&point, 16);
    let device = LoopDevice::attach(image.as_fd(), true).unwrap();
    let (major, minor) = device.number();
    let facts = BlockDevice::numbered(Path::new("/sys"), (major, minor)).unwrap().facts;
    assert_eq!((device.direct_io(), facts.sector_bytes), (true, Some(4096)));
    device.detach().unwrap();
    drop(image);
    unmount(&point).unwrap();
}

fn comes_true(what: &str, mut condition: impl FnMut() -> bool) {
    let came = (0..500).any(|_| {
        let now = condition();
        if !now {
            std::thread::sleep(Duration::from_millis(20));
        }
        now
    });
    assert!(came, "ten seconds have gone, and not: {what}");
}

#[test]
fn every_kind_this_kernel_has_is_made_mounted_and_unmounted() {
    for kind in ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2"] {
        let row = find_kind(kind).unwrap();
        let Some(bench) = Bench::new(kind, row.least_bytes / MIB) else { return };
        let Some(made) = bench.make(kind) else { continue };
        assert_eq!(made, Ok(()), "{kind}");
        let point = bench.mount_point();
        mount(bench.path(), kind, &point, "noatime").unwrap();
        let below = mounts_below(bench.directory.path());
        let [seen] = below.as_slice() else { panic!("{below:?}") };
        assert_eq!((seen.kind.as_str(), seen.mount_point.as_path()), (kind, point.as_path()));
        for word in ["noatime", "nosuid", "nodev"] {
            assert!(seen.options.split(',').any(|option| option == word), "{}", seen.options);
        }
        assert!(mounts_below(&point).is_empty(), "at it is not below it");
        assert!(!visible_outside(&point), "{kind} is seen by others");
        assert_eq!(is_unused(bench.path()), Ok(false));
        std::fs::write(point.join("file"), "x").unwrap();
        unmount(&point).unwrap();
        assert_eq!(is_unused(bench.path()), Ok(true));
        assert_eq!(unmount(&point), Err(Errno::EINVAL));
        bench.device.detach().unwrap();
    }
}

/// Whether the main thread, which has the view of everybody, sees this mount point.
fn visible_outside(point: &Path) -> bool {
    let text = std::fs::read_to_string("/proc/self/mounts").unwrap();
    text.contains(point.to_str().unwrap())
}

#[test]
fn a_mount_in_use_is_unmounted_lazily_and_holds_its_device_until_it_is_let_go() {
    let Some(bench) = Bench::new("a mount in use", 64) else { return };
    let Some(made) = bench.make("ext2") else { return };
    made.unwrap();
    let point = bench.mount_point();
    mount(bench.path(), "ext2", &point, "").unwrap();
    let open = File::create(point.join("open")).unwrap();
    assert_eq!(unmount(&point), Err(Errno::EBUSY));
    unmount_lazily(&point).unwrap();
    assert!(mounts_below(bench.directory.path()).is_empty());
    assert_eq!(is_unused(bench.path()), Ok(false), "out of sight, but there");
    drop(open);
    comes_true("nothing holds it", || is_unused(bench.path()) == Ok(true));
}

#[test]
fn a_file_system_in_memory_is_mounted_with_its_options() {
    let Some(bench) = Bench::new("tmpfs", 16) else { return };
    assert_eq!(probe(find_kind("tmpfs").unwrap()), Ok(None));
    let point = bench.mount_point();
    mount(Path::new("tmpfs"), "tmpfs", &point, "size=1m,noexec").unwrap();
    let seen = &mounts_below(bench.directory.path())[0];
    assert!(seen.options.contains("size=1024k") && seen.options.contains("noexec"));
    unmount(&point).unwrap();
}

#[test]
fn a_refused_mount_is_told_in_the_words_of_the_kernel() {
    let Some(bench) = Bench::new("a refused mount", 64) else { return };
    let Some(made) = bench.make("ext4") else { return };
    made.unwrap();
    let point = bench.mount_point();
    let refused = |kind: &str, options: &str| {
        mount(bench.path(), kind, &point, options).expect_err("it cannot be mounted").sentence
    };
    let told = refused("ext4", "noatime,bogus=7");
    assert!(told.contains("with the options noatime,bogus=7: Invalid argument"), "{told}");
    assert!(told.contains("`dmesg` may tell why"), "{told}");
    let told = refused("nosuchfs", "");
    assert!(told.contains("this kernel does not know nosuchfs"), "{told}");
    assert!(mounts_below(bench.directory.path()).is_empty());
}

#[test]
fn a_device_that_is_too_small_is_told_in_the_words_of_mkfs() {
    let words = [
        ("xfs", "too small"),
        ("btrfs", "too small"),
        ("f2fs", "not sufficient"),
        ("reiserfs", "cannot create a journal"),
        ("jfs", "at least 16 megabytes"),
        ("nilfs2", "too small device"),
    ];
    for (kind, words) in words {
        let Some(bench) = Bench::new(kind, if kind == "f2fs" { 40 } else { 8 }) else { return };
        let maker = find_kind(kind).unwrap().maker.as_ref().unwrap();
        // The kernel need not know what is only made.
        let program = Path::new("/usr/sbin").join(maker.program);
        if !program.exists() {
            skip(maker.program, "it is not installed");
            continue;
        }
        let arguments = maker.always.iter().map(OsString::from).chain([bench.path().into()]);
        let tool = Tool { program, version: None };
        let told =
            make(&tool, &arguments.collect::<Vec<_>>(), Path::new("/"), &AtomicBool::new(false))
                .expect_err("it is too small");
        let told = told.sentence;
        let start = format!("{} failed with exit code ", maker.program);
        assert!(told.starts_with(&start) && told.contains(words), "{told}");
        assert!(told.ends_with(&format!("{}`", bench.path().display())), "{told}");
        assert_eq!(told.lines().count(), 1);
    }
}

#[test]
fn a_check_that_could_not_be_done_is_no_damage() {
    let Some(bench) = Bench::new("checks", 16) else { return };
    let ext4 = find_kind("ext4").unwrap();
    let checked = || check(ext4, bench.path(), Path::new("/"), &AtomicBool::new(false));
    let told = checked().expect_err("there is no file system").sentence;
    assert!(told.starts_with("e2fsck failed with exit code 8: "), "{told}");
    let Some(made) = bench.make("ext4") else { return };
    made.unwrap();
    assert_eq!(checked().unwrap(), CheckedState::Clean);
    // The first bitmaps and inodes, behind the superblock and the descriptors of groups.
    let mut device = bench.open();
    device.seek(SeekFrom::Start(64 << 10)).unwrap();
    device.write_all(&vec![0xff; 256 << 10]).unwrap();
    device.sync_all().unwrap();
    assert!(matches!(checked().unwrap(), CheckedState::Damaged(_)));
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let kernel = std::fs::read_to_string("/proc/filesystems").unwrap();
    let absent = ["reiserfs", "bcachefs", "jfs", "nilfs2"].map(|name| find_kind(name).unwrap());
    let absent: Vec<_> = absent.into_iter().filter(|kind| !kernel.contains(kind.name)).collect();
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    if absent.is_empty() || Path::new("/lib/modules").join(release).exists() {
        return skip("missing kinds", "this kernel may have them all");
    }
    let told = probe_all(&absent).expect_err("this kernel lacks them").sentence;
    for kind in &absent {
        assert!(told.contains(&format!("cannot mount {}: ", kind.name)), "{told}");
    }
    let tmpfs = find_kind("tmpfs").unwrap();
    assert_eq!(probe_all(&[tmpfs]), Ok(vec![(tmpfs, None)]));
}

#[test]
fn the_version_of_a_program_is_what_it_says_itself() {
    let ext4 = find_kind("ext4").unwrap();
    match probe(ext4) {
        Ok(Some(Tool { program, version: Some(version) })) => {
            assert!(program.ends_with("mkfs.ext4") && program.is_absolute());
            assert!(version.starts_with("mke2fs 1."), "{version}");
        }
        Ok(other) => panic!("{other:?}"),
        Err(failure) => skip("mkfs.ext4", &failure.sentence),
    }
}

// --- the device as a whole ---------------------------------------------------------------------

#[test]
fn what_was_read_of_a_device_is_in_memory_until_its_buffers_are_flushed() {
    let Some(bench) = Bench::new("the cache of a device", 16) else { return };
    let device = bench.open();
    let mut found = Vec::new();
    for probe in [CacheProbe::Cachestat, CacheProbe::Mincore] {
        let pages = |len| probe.resident(device.as_fd(), len).map(|found| found.resident_pages);
        if pages(1) == Err(Errno::ENOSYS) {
            continue;
        }
        let flushed = || {
            flush_buffers(device.as_fd()).unwrap();
            probe.resident_fraction(&[(&device, MIB)]) == Some(0.0)
        };
        comes_true("nothing is in memory", flushed);
        let mut buffer = vec![1; MIB as usize];
        rustix::io::pread(&device, &mut buffer, 0).unwrap();
        assert_eq!(probe.resident_fraction(&[(&device, MIB)]), Some(1.0), "{probe:?}");
        comes_true("nothing is in memory again", flushed);
        found.push(probe);
    }
    assert!(found.contains(&CacheProbe::Mincore), "every kernel has it");
}

#[test]
fn a_discarded_device_gives_the_room_of_its_image_back() {
    use std::os::unix::fs::MetadataExt;
    let Some(bench) = Bench::new("discarding", 16) else { return };
    let device = bench.open();
    rustix::io::pwrite(&device, &vec![7; MIB as usize], 0).unwrap();
    device.sync_all().unwrap();
    assert!(std::fs::metadata(bench.image()).unwrap().blocks() >= MIB / 512);
    match discard(device.as_fd(), 16 * MIB) {
        Ok(true) => assert_eq!(std::fs::metadata(bench.image()).unwrap().blocks(), 0),
        Ok(false) => skip("discarding", "the file system below cannot"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_at_rest_has_no_requests() {
    let Some(bench) = Bench::new("rest", 16) else { return };
    let (major, minor) = bench.device.number();
    let device = BlockDevice::numbered(Path::new("/sys"), (major, minor)).unwrap();
    comes_true("no request is in flight", || {
        let seen = idle::look(&device).expect("the kernel shows it");
        seen.requests == 0
    });
}

#[test]
fn a_wiped_device_has_nothing_that_is_recognised() {
    for kind in ["ext4", "xfs", "btrfs", "f2fs", "nilfs2", "swap", "gpt"] {
        let Some(bench) = Bench::new("wiping", 512) else { return };
        if !mark(&bench, kind) {
            continue;
        }
        assert_ne!(signatures(bench.path()), Ok(Vec::new()), "{kind} is seen");
        wipe(bench.open().as_fd(), 512 * MIB).unwrap();
        assert_eq!(signatures(bench.path()), Ok(Vec::new()), "{kind}");
    }
}

#[test]
fn a_device_that_cannot_be_written_is_not_called_wiped() {
    let Some(bench) = Bench::new("wiping without writing", 64) else { return };
    let reading = File::open(bench.path()).unwrap();
    let told = wipe(reading.as_fd(), 64 * MIB).expect_err("it is open for reading only");
    assert!(told.sentence.starts_with("cannot wipe the device: "), "{told}");
}

// --- what may be erased ------------------------------------------------------------------------

/// Puts a mark of this kind on the device; `false` if no program here can.
fn mark(bench: &Bench, kind: &str) -> bool {
    match kind {
        "swap" => runs(Command::new("mkswap").arg(bench.path())),
        "gpt" | "dos" => partition_table(bench, kind),
        // Some of them can be made but not mounted here.
        _ => {
            let always = find_kind(kind).unwrap().maker.as_ref().unwrap().always;
            runs(Command::new(format!("mkfs.{kind}")).args(always).arg(bench.path()))
        }
    }
}

fn runs(command: &mut Command) -> bool {
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let ran = done.is_ok_and(|status| status.success());
    if !ran {
        skip(&format!("{:?}", command.get_program()), "it is missing or failed");
    }
    ran
}

/// The first bytes of an empty table: no program for it need be installed.
fn partition_table(bench: &Bench, kind: &str) -> bool {
    let device = bench.open();
    let mut start = vec![0; 512];
    start[510..].copy_from_slice(&[0x55, 0xaa]);
    let (status, kind_of_partition) = (446, 450);
    start[status] = 0;
    start[kind_of_partition] = if kind == "gpt" { 0xee } else { 0x83 };
    // One partition of one MiB from sector 2048.
    start[454..458].copy_from_slice(&2048_u32.to_le_bytes());
    start[458..462].copy_from_slice(&2048_u32.to_le_bytes());
    rustix::io::pwrite(&device, &start, 0).unwrap();
    device.sync_all().unwrap();
    true
}

#[test]
fn an_empty_device_may_be_erased_and_is_known_again() {
    let Some(bench) = Bench::new("an empty device", 64) else { return };
    let found = check_erasable(bench.path(), bench.path()).unwrap();
    assert_eq!((found.number, found.total_bytes), (bench.device.number(), 64 * MIB));
    assert_eq!(recheck(&found), Ok(()));
}

#[test]
fn a_name_that_leads_to_another_device_by_now_is_refused() {
    let Some(bench) = Bench::new("two empty devices", 64) else { return };
    let Some(other) = Bench::new("two empty devices", 64) else { return };
    let place = tempfile::tempdir().unwrap();
    let name = place.path().join("disk");
    std::os::unix::fs::symlink(bench.path(), &name).unwrap();
    let found = check_erasable(&name, &name).unwrap();
    assert!(found.open_alone().is_ok());
    std::fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink(other.path(), &name).unwrap();
    assert!(recheck(&found).expect_err("another device").sentence.contains("at first"));
    assert!(found.open_alone().is_err());
}

#[test]
fn a_device_is_one_boatloads_alone_and_not_opened_once_something_uses_it() {
    let Some(bench) = Bench::new("an empty device", 512) else { return };
    let found = check_erasable(bench.path(), bench.path()).unwrap();
    assert!(bench.refusal().contains("locked by another program"));
    assert!(mark(&bench, "ext4"), "mkfs.ext4 is there");
    assert!(recheck_empty(&found).expect_err("it has a mark").sentence.contains("ext4"));
    let place = tempfile::tempdir().unwrap();
    mount(bench.path(), "ext4", place.path(), "").unwrap();
    let said = found.open_alone().expect_err("it is mounted").sentence;
    unmount(place.path()).unwrap();
    assert!(said.contains("is in use now"), "{said}");
}

#[test]
fn a_device_with_anything_on_it_is_refused_with_what_it_is_and_left_as_it_was() {
    let words = [
        ("ext4", "an ext4 file system"),
        ("xfs", "an xfs file system"),
        ("btrfs", "a btrfs file system"),
        ("swap", "swap space"),
        ("dos", "a partition table (dos)"),
        ("gpt", "a partition table (PMBR)"),
    ];
    for (kind, words) in words {
        let Some(bench) = Bench::new("a device with a mark", 512) else { return };
        if !mark(&bench, kind) {
            continue;
        }
        let before = signatures(bench.path()).unwrap();
        let told = bench.refusal();
        let advice = format!("`wipefs -a {}`", bench.path().display());
        assert!(told.contains(words) && told.contains(&advice), "{kind}: {told}");
        assert_eq!(signatures(bench.path()).unwrap(), before);
    }
}

#[test]
fn a_mounted_device_is_refused_with_the_place_and_so_is_one_mounted_out_of_sight() {
    for kind in ["ext4", "btrfs"] {
        let Some(bench) = Bench::new("a mounted device", 256) else { return };
        let Some(made) = bench.make(kind) else { continue };
        made.unwrap();
        let point = bench.mount_point();
        mount(bench.path(), kind, &point, "").unwrap();
        let told = bench.refusal();
        assert!(told.contains(&format!("is mounted at {}", point.display())), "{told}");
        let device = bench.path().to_path_buf();
        let elsewhere = std::thread::spawn(move || {
            // The view of this thread loses the mount; the first one keeps it.
            enter_private_mounts().unwrap();
            unmount(&point).unwrap();
            check_erasable(&device, &device).expect_err("it is mounted elsewhere").sentence
        });
        let told = elsewhere.join().unwrap();
        assert!(told.contains("is in use"), "{told}");
        unmount(&bench.mount_point()).unwrap();
    }
}

#[test]
fn a_device_that_a_loop_device_shows_is_refused_although_the_kernel_does_not_count_that() {
    let Some(bench) = Bench::new("a loop device on a loop device", 16) else { return };
    let above = LoopDevice::attach(bench.open().as_fd(), false).unwrap();
    let told = bench.refusal();
    let name = above.path().file_name().unwrap().to_str().unwrap();
    assert!(told.contains(&format!("is what the loop device {name} shows")), "{told}");
    assert!(check_erasable(above.path(), above.path()).is_ok());
}

#[test]
fn a_device_that_somebody_has_to_himself_is_refused() {
    use std::os::unix::fs::OpenOptionsExt;
    let Some(bench) = Bench::new("a device that is held", 16) else { return };
    let held = File::options().read(true).custom_flags(libc::O_EXCL).open(bench.path()).unwrap();
    assert!(bench.refusal().contains("is in use"));
    drop(held);
    assert!(check_erasable(bench.path(), bench.path()).is_ok());
}

#[test]
fn a_device_that_another_process_has_open_is_refused() {
    let Some(bench) = Bench::new("a device that is open", 16) else { return };
    let mut child = Command::new("sleep").arg("600").stdin(bench.open()).spawn().unwrap();
    let told = check_erasable(bench.path(), bench.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let expected = format!("is open in another process ({})", child.id());
    assert!(told.expect_err("it is open").sentence.contains(&expected));
    assert!(check_erasable(bench.path(), bench.path()).is_ok());
}

#[test]
fn what_is_no_device_or_read_only_is_refused() {
    let refusal = |path: &Path| check_erasable(path, path).expect_err("no device").sentence;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    assert!(refusal(&file).contains("is not a block device"));
    assert!(refusal(directory.path()).contains("is not a block device"));
    assert!(refusal(Path::new("/dev/null")).contains("is not a block device"));
    let missing = refusal(&directory.path().join("missing"));
    assert!(missing.contains("No such file or directory"), "{missing}");
    let Some(bench) = Bench::new("a read-only device", 16) else { return };
    assert!(runs(Command::new("blockdev").arg("--setro").arg(bench.path())));
    assert!(bench.refusal().contains("is read-only"));
    assert!(runs(Command::new("blockdev").arg("--setrw").arg(bench.path())));
    let other_words = Path::new("/dev/../").join(bench.path().strip_prefix("/").unwrap());
    let told = check_erasable(bench.path(), &other_words).expect_err("other words").sentence;
    assert!(told.contains("name the same device in the same words twice"), "{told}");
}

// --- an end without any cleaning up ------------------------------------------------------------

/// Not a test of its own: the process that the next one kills.
#[test]
fn a_process_that_waits_to_be_killed() {
    let Some(directory) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    enter_private_mounts().unwrap();
    let image = new_image(&directory, 64);
    let device = LoopDevice::attach(image.as_fd(), true).unwrap();
    let tool = probe(find_kind("ext4").unwrap()).unwrap().unwrap();
    make(
        &tool,
        &["-q".into(), "-F".into(), device.path().into()],
        Path::new("/"),
        &AtomicBool::new(false),
    )
    .unwrap();
    mount(device.path(), "ext4", &directory.join("mounted"), "").unwrap();
    println!("\nmounted {}", device.path().display());
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_killed_process_leaves_no_mount_and_no_loop_device() {
    if Bench::new("a killed process", 16).is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (image, point) = (directory.path().join("image"), directory.path().join("mounted"));
    std::fs::create_dir(&point).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host_making::a_process_that_waits_to_be_killed", "--nocapture"])
        .env(CHILD, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let device = lines.filter_map(|line| Some(line.strip_prefix("mounted ")?.to_string())).next();
    let device = PathBuf::from(device.expect("it mounts"));
    let (seen, listed) = (visible_outside(&point), attached(&image));
    let unused = is_unused(&device);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!seen, "others saw the mount");
    assert!(listed.starts_with(device.to_str().unwrap()), "{listed}");
    assert_eq!(unused, Ok(false), "the mount held the device");
    comes_true("the loop device is free", || attached(&image).is_empty());
    assert!(!visible_outside(&point));
    assert!(std::fs::read_dir(&point).unwrap().next().is_none());
}
