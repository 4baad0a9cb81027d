//! The host's facts against tools that others wrote, on file systems made for the purpose.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use boatload::host::block_device::BlockDevice;
use boatload::host::facts::HostFacts;
use boatload::host::mounts::Mount;
use boatload::host::page_cache::{self, CacheProbe, Residency};
use boatload::host::space::Space;

use common::{LoopMount, output, skip};

/// Each with enough MiB for its mkfs.
const FILESYSTEMS: [(&str, u64); 3] = [("ext4", 64), ("xfs", 320), ("btrfs", 128)];

const FILE_BYTES: u64 = 8 << 20;

fn probes() -> impl Iterator<Item = CacheProbe> {
    [CacheProbe::Cachestat, CacheProbe::Mincore].into_iter().filter(|probe| {
        let file = tempfile::tempfile().unwrap();
        let works = probe.resident(file.as_fd(), 1).is_ok();
        if !works {
            skip(probe.as_str(), "not in this kernel");
        }
        works
    })
}

/// As df(1) prints it: rounded up, but for what binary fractions are off.
fn percent_used(space: &Space) -> u64 {
    (space.used_fraction().unwrap() * 100.0 - 1e-9).ceil() as u64
}

/// Other processes may fill or drop caches in between: a state that should hold is waited for.
fn eventually(what: &str, mut holds: impl FnMut() -> Result<(), String>) {
    let mut last = String::new();
    for _ in 0..10 {
        match holds() {
            Ok(()) => return,
            Err(why) => last = why,
        }
    }
    panic!("{what}: {last}");
}

fn expect(found: Residency, resident: std::ops::RangeInclusive<u64>) -> Result<(), String> {
    let right = resident.contains(&found.resident_pages);
    if right { Ok(()) } else { Err(format!("{found:?}, expected {resident:?} resident")) }
}

fn written(path: &Path) -> File {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(true).open(path).unwrap();
    let content: Vec<u8> = (0..FILE_BYTES).map(|at| (at % 251) as u8).collect();
    file.write_all(&content).unwrap();
    file
}

#[test]
fn space_and_mount_are_what_stat_df_and_findmnt_show() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mounted) = LoopMount::new(fs, megabytes) else { continue };
        let path = mounted.path().to_str().unwrap();
        let dir = File::open(path).unwrap();

        let space = Space::of(dir.as_fd()).unwrap();
        let inodes = space.available_inodes.unwrap_or(0);
        let ours = format!(
            "{} {} {} {} {inodes}",
            space.block_bytes,
            space.total_bytes / space.block_bytes,
            space.free_bytes / space.block_bytes,
            space.available_bytes / space.block_bytes,
        );
        assert_eq!(output("stat", &["-fc", "%S %b %f %a %d", path]).unwrap(), ours, "{fs}");
        let df = output("df", &["-B1", "--output=size,avail,pcent", path]).unwrap();
        let figures: Vec<&str> = df.lines().nth(1).unwrap().split_whitespace().collect();
        let percent = format!("{}%", percent_used(&space));
        let ours = [space.total_bytes.to_string(), space.available_bytes.to_string(), percent];
        assert_eq!(figures, ours, "{fs}");
        assert_eq!(space.available_inodes.is_none(), fs == "btrfs");

        let mount = Mount::of(dir.as_fd()).unwrap();
        let columns = "TARGET,SOURCE,FSTYPE,OPTIONS";
        let shown = output("findmnt", &["-nrvo", columns, "--mountpoint", path]).unwrap();
        let source = mount.source.to_str().unwrap();
        let ours = format!("{path} {source} {} {}", mount.kind, mount.options);
        assert_eq!(shown, ours, "{fs}");
    }
}

#[test]
fn whether_there_is_a_journal_is_known_of_ext4() {
    let all: [(&str, &[&str], Option<bool>); 4] = [
        ("ext4", &[], Some(true)),
        ("ext4", &["-O", "^has_journal"], Some(false)),
        ("ext3", &[], Some(true)),
        ("xfs", &[], None),
    ];
    for (fs, mkfs, journal) in all {
        let megabytes = if fs == "xfs" { 320 } else { 16 };
        let Some(mounted) = LoopMount::with(fs, megabytes, mkfs, "loop") else { continue };
        let dir = File::open(mounted.path()).unwrap();
        let host = HostFacts::gather(dir.as_fd()).unwrap();
        assert_eq!(host.filesystem.journal, journal, "{fs} {mkfs:?}");
    }
}

#[test]
fn how_full_it_is_in_percent_is_what_df_prints_at_every_level() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mounted) = LoopMount::new(fs, megabytes) else { continue };
        let path = mounted.path().to_str().unwrap();
        let dir = File::open(path).unwrap();
        let filler = File::create(mounted.path().join("filler")).unwrap();
        let mut levels = Vec::new();
        // The last step is too large on purpose: it goes as far as there is room.
        for tenths in [0, 1, 3, 4, 6, 8, 10] {
            let odd_bytes = (megabytes << 20) * tenths / 10 + 4097 * tenths;
            let chunk = vec![b'x'; 1 << 20];
            let mut end = filler.metadata().unwrap().len();
            while end < odd_bytes {
                let step = (odd_bytes - end).min(chunk.len() as u64) as usize;
                let Ok(written) = filler.write_at(&chunk[..step], end) else { break };
                end += written as u64;
            }
            // Background work may free or take a block between the two questions.
            eventually(&format!("{fs} at {tenths} tenths"), || {
                rustix::fs::syncfs(&dir).unwrap();
                let ours = format!("{}%", percent_used(&Space::of(dir.as_fd()).unwrap()));
                let df = output("df", &["--output=pcent", path]).unwrap();
                let theirs = df.lines().nth(1).unwrap().trim();
                levels.push(ours.clone());
                if ours == theirs { Ok(()) } else { Err(format!("{ours}, df says {theirs}")) }
            });
        }
        levels.dedup();
        // btrfs keeps more than half of so small a device for metadata, and is full early.
        assert!(levels.len() >= 4, "{fs} was never filled: {levels:?}");
    }
}

#[test]
fn the_device_is_the_one_lsblk_shows() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mounted) = LoopMount::new(fs, megabytes) else { continue };
        let dir = File::open(mounted.path()).unwrap();
        let facts = HostFacts::gather(dir.as_fd()).unwrap();
        let device = facts.device.expect("a loop device is a device");
        let columns = "NAME,SIZE,ROTA,SCHED,LOG-SEC";
        let shown = output("lsblk", &["-ndbro", columns, &mounted.device()]).unwrap();
        let ours = format!(
            "{} {} {} {} {}",
            device.name,
            device.total_bytes.unwrap(),
            u8::from(device.rotational.unwrap()),
            device.scheduler.unwrap(),
            device.sector_bytes.unwrap(),
        );
        assert_eq!(shown, ours, "{fs}");
        assert_eq!(device.total_bytes, Some(megabytes << 20));
        let direct = output("losetup", &["-nO", "DIO", &mounted.device()]).unwrap();
        assert_eq!(device.loop_direct_io, Some(direct == "1"), "{fs}");
        assert_eq!((facts.filesystem.kind.as_str(), facts.rights.root), (fs, true));
    }
}

#[test]
fn a_bind_mount_and_a_subvolume_lie_on_the_same_device() {
    let Some(mounted) = LoopMount::new("btrfs", 128) else { return };
    let subvolume = mounted.path().join("sub");
    let name = subvolume.to_str().unwrap();
    if output("btrfs", &["subvolume", "create", name]).is_none() {
        return skip("a btrfs subvolume", "no btrfs program");
    }
    let device = |path: &Path| {
        let mount = Mount::of(File::open(path).unwrap().as_fd()).unwrap();
        BlockDevice::under(&mount).unwrap().facts.name
    };
    let whole = device(mounted.path());
    assert_eq!(device(&subvolume), whole);

    let bound = tempfile::Builder::new().prefix("with space\tand tab").tempdir().unwrap();
    let target = bound.path().to_str().unwrap();
    output("mount", &["--bind", name, target]).expect("bind mounts work where mounts do");
    let found = device(bound.path());
    let mount = Mount::of(File::open(bound.path()).unwrap().as_fd()).unwrap();
    output("umount", &[target]).expect("the bind mount goes");
    assert_eq!(found, whole);
    assert_eq!(
        (mount.mount_point.as_path(), mount.root.as_path()),
        (bound.path(), "/sub".as_ref())
    );
}

#[test]
fn memory_and_stacked_file_systems_have_no_device() {
    let proc = Mount::of(File::open("/proc").unwrap().as_fd()).unwrap();
    assert_eq!((proc.kind.as_str(), BlockDevice::under(&proc)), ("proc", None));
    let Some(overlay) = Overlay::new() else { return };
    let mount = Mount::of(File::open(overlay.merged()).unwrap().as_fd()).unwrap();
    assert_eq!((mount.kind.as_str(), BlockDevice::under(&mount)), ("overlay", None));
}

#[test]
fn residency_follows_a_file_through_writing_dropping_and_reading_half() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mounted) = LoopMount::new(fs, megabytes) else { continue };
        for probe in probes() {
            let what = format!("{} on {fs}", probe.as_str());
            let path = mounted.path().join("file");
            let pages = FILE_BYTES / rustix::param::page_size() as u64;

            eventually(&format!("written, {what}"), || {
                let file = written(&path);
                let seeing = CacheProbe::seeing(file.as_fd(), FILE_BYTES);
                if seeing != CacheProbe::Cachestat {
                    return Err(format!("{} sees it", seeing.as_str()));
                }
                expect(probe.resident(file.as_fd(), FILE_BYTES).unwrap(), pages..=pages)
            });
            eventually(&format!("dropped, {what}"), || {
                let file = File::open(&path).unwrap();
                page_cache::drop_all().unwrap();
                let sample = [(&file, FILE_BYTES)];
                let fraction = probe.resident_fraction(&sample).unwrap();
                page_cache::drop_names().unwrap();
                if fraction == 0.0 { Ok(()) } else { Err(format!("{fraction} resident")) }
            });
            eventually(&format!("half read, {what}"), || {
                let mut file = File::open(&path).unwrap();
                page_cache::drop_all().unwrap();
                rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
                file.read_exact(&mut vec![0; FILE_BYTES as usize / 2]).unwrap();
                // Without read-ahead (random advice) at most a large folio more than was read.
                let found = probe.resident(file.as_fd(), FILE_BYTES).unwrap();
                expect(found, pages / 2..=pages * 5 / 8)
            });
        }
    }
}

#[test]
fn an_evicted_file_is_gone_without_any_right_to_drop_caches() {
    for (fs, megabytes) in FILESYSTEMS {
        let Some(mounted) = LoopMount::new(fs, megabytes) else { continue };
        eventually(&format!("evicted on {fs}"), || {
            let file = written(&mounted.path().join("file"));
            page_cache::evict(file.as_fd()).unwrap();
            expect(CacheProbe::detect().resident(file.as_fd(), FILE_BYTES).unwrap(), 0..=0)
        });
    }
}

/// On overlayfs the pages belong to the file below: cachestat(2) of Linux 6.18 counts none of them
/// and so would call all cold, mincore(2) sees them. A probe chosen by its canary must not be blind.
#[test]
fn a_probe_chosen_on_an_overlay_is_not_blind_there() {
    let Some(overlay) = Overlay::new() else { return };
    let path = overlay.merged().join("file");
    eventually("overlay", || {
        let file = written(&path);
        let probe = CacheProbe::seeing(file.as_fd(), FILE_BYTES);
        let before = probe.resident_fraction(&[(&file, FILE_BYTES)]);
        page_cache::drop_all().unwrap();
        let after = probe.resident_fraction(&[(&file, FILE_BYTES)]);
        match (probe, before, after) {
            (CacheProbe::Cachestat | CacheProbe::Mincore, Some(1.0), Some(0.0)) => Ok(()),
            (CacheProbe::None, None, None) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

#[test]
fn device_counters_see_what_dd_reads_and_writes() {
    const MEGABYTES: u64 = 16;
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    let mount = Mount::of(File::open(mounted.path()).unwrap().as_fd()).unwrap();
    let device = BlockDevice::under(&mount).unwrap();
    let dd = |arguments: &[String]| {
        let fixed = ["bs=1M".to_string(), format!("count={MEGABYTES}"), "status=none".into()];
        let done = Command::new("dd").args(arguments).args(fixed).status().unwrap();
        assert!(done.success(), "dd {arguments:?}");
    };

    rustix::fs::sync();
    let before = device.counters().unwrap();
    dd(&[format!("if={}", mounted.device()), "of=/dev/null".into(), "iflag=direct".into()]);
    let read = device.counters().unwrap().since(before).unwrap();
    let asked = MEGABYTES << 20;
    assert!((asked..asked + asked / 4).contains(&read.read_bytes), "{read:?}");

    let before = device.counters().unwrap();
    let target = mounted.path().join("file");
    dd(&["if=/dev/zero".into(), format!("of={}", target.display()), "oflag=direct".into()]);
    let wrote = device.counters().unwrap().since(before).unwrap();
    assert!((asked..asked + asked / 4).contains(&wrote.write_bytes), "{wrote:?}");
    assert!(wrote.read_bytes < asked / 4, "{wrote:?}");
}

#[test]
fn the_machine_is_what_uname_nproc_and_proc_say() {
    let facts = HostFacts::gather(File::open("/").unwrap().as_fd()).unwrap();
    assert_eq!(facts.kernel, output("uname", &["-sr"]).unwrap());
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = format!("MemTotal: {} kB", facts.memory_bytes / 1024);
    let line = meminfo.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(line, total);
    if std::env::var_os("OMP_NUM_THREADS").is_none() {
        assert_eq!(facts.cpus.to_string(), output("nproc", &[]).unwrap());
    }
    if let Some(shown) = output("sh", &["-c", "lscpu | sed -n 's/^Model name: *//p'"]) {
        assert!(shown.is_empty() || shown == facts.cpu, "{shown} is {}", facts.cpu);
    }
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(!facts.kernel.contains(name.trim()) || name.trim().len() < 3, "no node name");
}

/// An overlay whose upper layer lies on an ext4 of its own.
struct Overlay {
    // Fields are dropped in order, after `drop` has unmounted the overlay.
    base: LoopMount,
}

impl Overlay {
    fn new() -> Option<Self> {
        let overlay = Self { base: LoopMount::new("ext4", 64)? };
        let base = overlay.base.path().to_str().unwrap();
        for name in ["lower", "upper", "work", "merged"] {
            std::fs::create_dir(overlay.base.path().join(name)).unwrap();
        }
        let layers = format!("lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work");
        let merged = format!("{base}/merged");
        if output("mount", &["-t", "overlay", "overlay", "-o", &layers, &merged]).is_none() {
            skip("overlay", "this kernel does not mount it");
            return None;
        }
        Some(overlay)
    }

    fn merged(&self) -> std::path::PathBuf {
        self.base.path().join("merged")
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _ = output("umount", &[self.merged().to_str().unwrap()]);
    }
}
