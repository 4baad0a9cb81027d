//! Following the requests of a block device through the kernel's tracepoints.
#![allow(clippy::unwrap_used, reason = "a test panics when it cannot continue")]

use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use boatload::host::block_device::BlockDevice;
use boatload::host::block_trace::BlockTrace;
use boatload::host::loop_device::LoopDevice;

use crate::common::skip;

const BLOCK: usize = 4_096;

/// Memory on the border of a block, as direct I/O wants it.
#[repr(align(4096))]
struct Aligned([u8; BLOCK]);

#[test]
fn every_request_of_a_device_is_seen_with_its_place_and_size() {
    let what = "requests of a device";
    if !rustix::process::geteuid().is_root() {
        return skip(what, "loop devices and tracepoints need root");
    }
    let image = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    image.as_file().set_len(64 << 20).unwrap();
    let device = match LoopDevice::attach(image.as_file().as_fd(), false) {
        Ok(device) => device,
        Err(failure) => return skip(what, &failure.sentence),
    };
    let facts = BlockDevice::numbered(Path::new("/sys"), device.number()).unwrap();
    let trace = match BlockTrace::of(&facts) {
        Ok(trace) => trace,
        Err(failure) => return skip(what, &failure.sentence),
    };
    let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(direct).open(device.path()).unwrap();
    // udev may look at a new device: only what comes from now on is counted.
    std::thread::sleep(std::time::Duration::from_millis(300));
    file.write_all_at(&Aligned([1; BLOCK]).0, 0).unwrap();
    trace.begin();
    let counted = facts.counters().unwrap();
    let mut block = Aligned([7; BLOCK]);
    for at in [5u64, 6, 7, 100, 3] {
        file.write_all_at(&block.0, at * BLOCK as u64).unwrap();
    }
    for at in [100u64, 101] {
        file.read_exact_at(&mut block.0, at * BLOCK as u64).unwrap();
    }
    file.sync_all().unwrap();
    let (seen, moved) = (trace.end(), facts.counters().unwrap().since(counted).unwrap());
    file.write_all_at(&block.0, 0).unwrap();
    assert_eq!((seen.writes, seen.write_bytes), (5, 5 * BLOCK as u64), "{seen:?}");
    assert_eq!((seen.reads, seen.read_bytes), (2, 2 * BLOCK as u64), "{seen:?}");
    let bytes = (moved.read_bytes, moved.write_bytes);
    assert_eq!((seen.read_bytes, seen.write_bytes), bytes, "as the device counts them");
    assert!(seen.flushes >= Some(1), "{seen:?}");
    assert_eq!(seen.sequential, 3, "6 after 5, 7 after 6, 101 after 100: {seen:?}");
    assert_eq!(seen.distance_bytes, (92 + 98 + 96) * BLOCK as u64, "{seen:?}");
    assert_eq!((seen.queue_sum, seen.missed), (seen.requests(), 0), "one at a time: {seen:?}");
    assert!(seen.seek_seconds.is_none(), "a real device does not tell");
    trace.begin();
    file.read_exact_at(&mut block.0, 0).unwrap();
    assert_eq!(trace.end().requests(), 1, "what came between is not seen");
    drop((trace, file));
    device.detach().unwrap();
}
