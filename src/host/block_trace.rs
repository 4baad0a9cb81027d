//! Follows the requests of a block device through the kernel's tracepoints (perf_event_open(2),
//! Documentation/trace/events.rst of Linux): what was asked of the device, request by request.
#![expect(unsafe_code, reason = "perf events have no safe wrapper")]

use std::ffi::{CString, c_int, c_ulong, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use crate::base::failed_calls::{keep, note};
use crate::base::failure::{Failure, Result};
use crate::base::files::read_all;
use crate::host::block_device::{BlockDevice, SECTOR_BYTES};
use crate::host::disk_activity::DiskActivity;
use crate::host::errno;

/// Of each processor: about 4,000 requests with their answers from one look to the next.
const RING_BYTES: usize = 512 << 10;
const PAUSE: Duration = Duration::from_millis(20);

// From include/uapi/linux/perf_event.h.
const PERF_TYPE_TRACEPOINT: u32 = 2;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
const PERF_FLAG_FD_CLOEXEC: c_ulong = 1 << 3;
const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;
const PERF_ATTR_DISABLED: u64 = 1;
const PERF_ATTR_USE_CLOCKID: u64 = 1 << 25;
const PERF_EVENT_IOC_ENABLE: c_ulong = 0x2400;
const PERF_EVENT_IOC_DISABLE: c_ulong = 0x2401;
const PERF_EVENT_IOC_SET_OUTPUT: c_ulong = 0x2405;
const PERF_EVENT_IOC_SET_FILTER: c_ulong = 0x4008_2406;
/// Where `struct perf_event_mmap_page` has `data_head` and `data_tail`, in words of eight bytes.
const DATA_HEAD: usize = 128;
const DATA_TAIL: usize = 129;

/// The requests of one device, followed from time to time, until it is dropped.
pub struct BlockTrace {
    counts_flushes: bool,
    follower: Arc<Mutex<Follower>>,
    is_on: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BlockTrace {
    /// Makes everything ready to follow a device.
    ///
    /// # Errors
    /// If its requests do not pass through the kernel's queue, if it lies in memory, or if the tracepoints
    /// cannot be read.
    pub fn of(device: &BlockDevice) -> Result<Self> {
        let trace = Self::opened(device);
        // Where it never can be, the run's rights say why.
        trace.inspect_err(|failure| {
            if Self::obstacle(Some(device)).is_none() {
                keep(format!("of /dev/{}: {}", device.facts.name, failure.sentence));
            }
        })
    }

    fn opened(device: &BlockDevice) -> Result<Self> {
        let follower = Arc::new(Mutex::new(Follower::open(&filter_of(device)?)?));
        let [is_on, is_over] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let thread = {
            let (follower, is_on, is_over) = (follower.clone(), is_on.clone(), is_over.clone());
            let drain = move || {
                while !is_over.load(Ordering::Relaxed) {
                    if is_on.load(Ordering::Relaxed) {
                        lock(&follower).look();
                        std::thread::park_timeout(PAUSE);
                    } else {
                        std::thread::park();
                    }
                }
            };
            std::thread::Builder::new().name("block-trace".into()).spawn(drain)
        };
        let thread = thread.map_err(|error| Failure::from_system("start a thread", error))?;
        let counts_flushes = device.counts_flushes();
        Ok(Self { counts_flushes, follower, is_on, is_over, thread: Some(thread) })
    }

    /// Why a device, or any where none is given, cannot be followed; `None` if it can.
    pub fn obstacle(device: Option<&BlockDevice>) -> Option<String> {
        // No device has this number: nothing is seen.
        let filter = device.map_or_else(|| Ok("dev == 0".into()), filter_of);
        let opened = filter.and_then(|filter| Follower::open(&filter));
        opened.err().map(|failure| failure.sentence)
    }

    /// Follows the device from now on.
    pub fn begin(&self) {
        let mut follower = lock(&self.follower);
        follower.drain();
        follower.seen = SeenRequests::default();
        if !self.counts_flushes {
            follower.seen.activity.flushes = None;
        }
        follower.switch(PERF_EVENT_IOC_ENABLE);
        self.is_on.store(true, Ordering::Relaxed);
        self.unpark();
    }

    /// Follows it no longer; what it was asked for since then.
    pub fn end(&self) -> DiskActivity {
        self.is_on.store(false, Ordering::Relaxed);
        let mut follower = lock(&self.follower);
        follower.switch(PERF_EVENT_IOC_DISABLE);
        follower.drain();
        follower.seen.activity.clone()
    }

    fn unpark(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for BlockTrace {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.unpark();
        // It ends in any case; if it panicked, nothing depends on it any more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn lock(follower: &Mutex<Follower>) -> MutexGuard<'_, Follower> {
    follower.lock().unwrap_or_else(PoisonError::into_inner)
}

fn filter_of(device: &BlockDevice) -> Result<String> {
    device.trace_filter().ok_or_else(|| {
        let name = &device.facts.name;
        Failure::failed(format!(
            "{name} lies in memory, or its requests pass no queue of the kernel"
        ))
    })
}

/// The open events with their rings, and what was seen in them.
struct Follower {
    rings: Vec<EventRing>,
    issued: EventFormat,
    /// Taken, and not added yet.
    events: Vec<BlockEvent>,
    seen: SeenRequests,
}

impl Follower {
    fn open(filter: &str) -> Result<Self> {
        let tracing = Tracing::open()?;
        let [issued, answered] = ["block_rq_issue", "block_rq_complete"]
            .map(|name| tracing.format(name).ok_or_else(|| cannot_read(name)));
        let (issued, answered) = (issued?, answered?);
        let given_back = tracing.format("block_rq_requeue").map(|event| event.id);
        let events: Vec<u64> = [issued.id, answered.id].into_iter().chain(given_back).collect();
        let filter = CString::new(filter).map_err(|error| Failure::from_system("filter", error))?;
        // SAFETY: it takes a number and touches no memory.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        let mut rings = Vec::new();
        for processor in 0..c_int::try_from(processors).unwrap_or(1) {
            match EventRing::open(processor, &events, &filter) {
                // A processor that is switched off.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                opened => rings.push(opened.map_err(|error| {
                    Failure::from_system("follow the device's requests (perf_event_open)", error)
                })?),
            }
        }
        Ok(Self { rings, issued, events: Vec::new(), seen: SeenRequests::default() })
    }

    /// Switches all events on or off. A ring that cannot be switched stays as it is, and its events count.
    fn switch(&self, request: c_ulong) {
        for event in self.rings.iter().flat_map(|ring| &ring.events) {
            // SAFETY: the request takes a number and touches no memory.
            if unsafe { libc::ioctl(event.as_raw_fd(), request as _, 0) } < 0 {
                let error = errno(&std::io::Error::last_os_error());
                note("ioctl", || "a tracepoint, for the requests of the device".into(), error);
            }
        }
    }

    /// Takes what the kernel has written since the last look, and adds what happened until that: all of it is there.
    fn look(&mut self) {
        let until_ns = self.events.iter().map(|event| event.at_ns).max().unwrap_or(0);
        self.take();
        self.seen.add_until(until_ns, &mut self.events);
    }

    /// Takes and adds all there is.
    fn drain(&mut self) {
        self.take();
        self.seen.add_until(u64::MAX, &mut self.events);
    }

    fn take(&mut self) {
        for ring in &mut self.rings {
            ring.drain(&self.issued, &mut self.events, &mut self.seen.activity.missed);
        }
    }
}

fn cannot_read(name: &str) -> Failure {
    Failure::failed(format!("the kernel has no tracepoint {name} that can be read"))
}

/// One event of the device's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockEvent {
    at_ns: u64,
    what: BlockEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockEventKind {
    Issued {
        operation: u8,
        offset: u64,
        bytes: u64,
    },
    /// Answered, or given back by the driver, which issues it again.
    Ended,
}

/// The requests that were seen.
#[derive(Default)]
struct SeenRequests {
    activity: DiskActivity,
    /// How many are at the disk. It stays 0 at the answer to one that was there before, or to a further
    /// part of one.
    at_disk: u64,
    /// Where the last read or write ended; none before the first.
    last_end: Option<u64>,
}

impl SeenRequests {
    /// Adds events up to a time in the order they happened. Later ones stay: what lies before them may be in a ring that
    /// was looked at already, and an answer that comes before its request would leave that at the disk for ever.
    fn add_until(&mut self, until_ns: u64, events: &mut Vec<BlockEvent>) {
        events.sort_by_key(|event| event.at_ns);
        let ready = events.partition_point(|event| event.at_ns <= until_ns);
        events.drain(..ready).for_each(|event| self.add(&event));
    }

    fn add(&mut self, event: &BlockEvent) {
        let BlockEventKind::Issued { operation, offset, bytes } = event.what else {
            self.at_disk = self.at_disk.saturating_sub(1);
            return;
        };
        self.at_disk += 1;
        let activity = &mut self.activity;
        activity.queue_sum += self.at_disk;
        match operation {
            b'R' => {
                activity.reads += 1;
                activity.read_bytes += bytes;
            }
            b'W' => {
                activity.writes += 1;
                activity.write_bytes += bytes;
            }
            b'F' => activity.count_flush(),
            b'D' => activity.discards += 1,
            _ => {}
        }
        if matches!(operation, b'R' | b'W') {
            if let Some(last_end) = self.last_end {
                activity.count_distance(offset.abs_diff(last_end));
            }
            self.last_end = Some(offset.saturating_add(bytes));
        }
    }
}

// --- tracefs -------------------------------------------------------------------------------------

/// tracefs, mounted nowhere: it is gone with its descriptor.
struct Tracing {
    root: OwnedFd,
}

/// A tracepoint: its number, and where its fields are in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EventFormat {
    id: u64,
    sector: usize,
    /// Where the number of sectors is, of four bytes.
    sectors: usize,
    /// Where the letters are that say what is asked.
    operation: usize,
}

impl Tracing {
    fn open() -> Result<Self> {
        let flags = MountAttrFlags::MOUNT_ATTR_RDONLY;
        let opened = rustix::mount::fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).and_then(|fs| {
            rustix::mount::fsconfig_create(&fs)?;
            rustix::mount::fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, flags)
        });
        let root = opened.map_err(|error| Failure::from_system("read the tracepoints", error))?;
        Ok(Self { root })
    }

    fn read(&self, path: &str) -> Option<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.root, path, flags, Mode::empty()).ok()?;
        String::from_utf8(read_all(&file).ok()?).ok()
    }

    fn format(&self, name: &str) -> Option<EventFormat> {
        let id = self.read(&format!("events/block/{name}/id"))?;
        let format = self.read(&format!("events/block/{name}/format"))?;
        EventFormat::parse(id.trim().parse().ok()?, &format)
    }
}

impl EventFormat {
    fn parse(id: u64, format: &str) -> Option<Self> {
        let offset = |field: &str| {
            let line = format.lines().find(|line| line.contains(field))?;
            line.split_once("offset:")?.1.split_once(';')?.0.parse::<u16>().ok().map(usize::from)
        };
        let (sector, sectors) = (offset(" sector;")?, offset(" nr_sector;")?);
        Some(Self { id, sector, sectors, operation: offset(" rwbs[")? })
    }

    /// What a request asks: `R`, `W`, `F` for a flush, `D` for a discard. An `F` in front of another
    /// letter says that the cache is flushed before (`blk_fill_rwbs` of Linux).
    fn event(&self, raw: &[u8], ends: &[u64]) -> Option<BlockEventKind> {
        let id = u64::from(u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?));
        if id != self.id {
            return ends.contains(&id).then_some(BlockEventKind::Ended);
        }
        let sector = u64::from_ne_bytes(raw.get(self.sector..self.sector + 8)?.try_into().ok()?);
        let sectors = u32::from_ne_bytes(raw.get(self.sectors..self.sectors + 4)?.try_into().ok()?);
        let operation = match raw.get(self.operation..self.operation + 2)? {
            [b'F', second @ (b'R' | b'W' | b'D' | b'F')] => *second,
            letters => letters[0],
        };
        let (offset, bytes) =
            (sector.wrapping_mul(SECTOR_BYTES), u64::from(sectors) * SECTOR_BYTES);
        Some(BlockEventKind::Issued { operation, offset, bytes })
    }
}

// --- perf events ---------------------------------------------------------------------------------

/// `struct perf_event_attr` as of Linux 4.1.
#[repr(C)]
#[derive(Default)]
struct PerfEventAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    configs: [u64; 2],
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
}

/// The events of one processor, in the memory that the kernel writes them to.
struct EventRing {
    events: Vec<OwnedFd>,
    memory: NonNull<c_void>,
    page: usize,
    /// Tracepoints that end a request: it was answered, or given back by the driver.
    ends: Vec<u64>,
}

// SAFETY: the memory is mapped until the ring is dropped, and belongs to it alone; the kernel's part of
// it is only read and written through atomics, or copied before it is given back.
unsafe impl Send for EventRing {}

impl EventRing {
    /// `ids` are tracepoints: first the one of what is issued.
    fn open(processor: c_int, ids: &[u64], filter: &CString) -> std::io::Result<Self> {
        let mut events = Vec::with_capacity(ids.len());
        for id in ids {
            let event = open_event(processor, *id)?;
            let words = filter.as_ptr();
            // SAFETY: the request reads a text that ends with a zero, which `filter` keeps alive.
            check(unsafe {
                libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_FILTER as _, words)
            })?;
            events.push(event);
        }
        let page = rustix::param::page_size();
        let (length, flags) = (page + RING_BYTES, MapFlags::SHARED);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let memory = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), length, protection, flags, &events[0], 0)?
        };
        let memory = NonNull::new(memory).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let ring = Self { events, memory, page, ends: ids[1..].to_vec() };
        let first = ring.events[0].as_raw_fd();
        for event in &ring.events[1..] {
            // SAFETY: the request takes a descriptor and touches no memory.
            check(unsafe {
                libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_OUTPUT as _, first)
            })?;
        }
        Ok(ring)
    }

    /// A word of the page that the ring begins with.
    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the first page of the mapping, aligned to a page, holds more words than the two
        // that are asked for, and both sides only access them as whole words.
        unsafe { &*self.memory.cast::<AtomicU64>().as_ptr().add(at) }
    }

    /// Copies bytes out of the ring, around its end.
    fn copy(&self, from: u64, bytes: &mut [u8]) {
        // SAFETY: the data begin a page after the mapping.
        let data = unsafe { self.memory.cast::<u8>().as_ptr().add(self.page) };
        let start = (from % RING_BYTES as u64) as usize;
        let first = bytes.len().min(RING_BYTES - start);
        let (head, rest) = bytes.split_at_mut(first);
        // SAFETY: both parts lie in the ring, and the kernel does not write between tail and head.
        unsafe {
            std::ptr::copy_nonoverlapping(data.add(start), head.as_mut_ptr(), head.len());
            std::ptr::copy_nonoverlapping(data, rest.as_mut_ptr(), rest.len());
        }
    }

    /// Takes all records that are there.
    fn drain(&mut self, issued: &EventFormat, into: &mut Vec<BlockEvent>, missed: &mut u64) {
        const HEADER: u64 = 8;
        let (head, mut tail) = (
            self.word(DATA_HEAD).load(Ordering::Acquire),
            self.word(DATA_TAIL).load(Ordering::Relaxed),
        );
        let mut record = [0; 512];
        while head.wrapping_sub(tail) >= HEADER {
            let mut header = [0; HEADER as usize];
            self.copy(tail, &mut header);
            let size = u16::from_ne_bytes([header[6], header[7]]);
            let length = usize::from(size).min(record.len());
            if u64::from(size) < HEADER || u64::from(size) > head.wrapping_sub(tail) {
                // Nothing that the kernel writes; what follows cannot be read either.
                tail = head;
                break;
            }
            self.copy(tail, &mut record[..length]);
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            match parse(kind, &record[HEADER as usize..length], issued, &self.ends) {
                Some(TraceRecord::Event(event)) => into.push(event),
                Some(TraceRecord::Lost(count)) => *missed += count,
                None => {}
            }
            tail = tail.wrapping_add(u64::from(size));
        }
        self.word(DATA_TAIL).store(tail, Ordering::Release);
    }
}

impl Drop for EventRing {
    fn drop(&mut self) {
        // SAFETY: the mapping is the ring's own, of this length, and nothing refers to it any more. If it
        // fails the memory stays mapped until the process ends.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr(), self.page + RING_BYTES) };
    }
}

fn open_event(processor: c_int, id: u64) -> std::io::Result<OwnedFd> {
    let attributes = PerfEventAttr {
        kind: PERF_TYPE_TRACEPOINT,
        size: size_of::<PerfEventAttr>() as u32,
        config: id,
        sample_period: 1,
        sample_type: PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        // By default each processor has a clock of its own, which others run ahead of or behind.
        flags: PERF_ATTR_DISABLED | PERF_ATTR_USE_CLOCKID,
        clock: libc::CLOCK_MONOTONIC,
        // Nobody is woken up: the thread polls. The kernel takes it for a signed number.
        wakeup: i32::MAX.cast_unsigned(),
        ..PerfEventAttr::default()
    };
    let (every_process, no_group): (c_int, c_int) = (-1, -1);
    // SAFETY: the kernel reads the attributes, whose size they tell, and gives a new descriptor.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(&attributes),
            every_process,
            processor,
            no_group,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    let event = c_int::try_from(event).unwrap_or(-1);
    check(event)?;
    // SAFETY: the descriptor is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(event) })
}

fn check(code: c_int) -> std::io::Result<()> {
    if code < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// A record of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceRecord {
    Event(BlockEvent),
    /// So many events found no room.
    Lost(u64),
}

/// Reads bytes as the description of a tracepoint, and then as a record of it.
#[cfg(test)]
pub(super) fn read_bytes_of_trace(bytes: &[u8]) {
    let (description, record) = bytes.split_at(bytes.len() / 2);
    for format in
        [bytes, description].map(|text| EventFormat::parse(1, &String::from_utf8_lossy(text)))
    {
        for kind in [PERF_RECORD_LOST, PERF_RECORD_SAMPLE] {
            format.as_ref().and_then(|format| parse(kind, record, format, &[7]));
        }
    }
}

/// What a record says behind its header; `None` if it is of another kind.
fn parse(kind: u32, body: &[u8], issued: &EventFormat, ends: &[u64]) -> Option<TraceRecord> {
    let word = |at: usize| Some(u64::from_ne_bytes(body.get(at..at + 8)?.try_into().ok()?));
    match kind {
        PERF_RECORD_LOST => Some(TraceRecord::Lost(word(8)?)),
        // The time, the length of what follows, and the tracepoint's own record.
        PERF_RECORD_SAMPLE => {
            let what = issued.event(body.get(12..)?, ends)?;
            Some(TraceRecord::Event(BlockEvent { at_ns: word(0)?, what }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue\nID: 1234\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";

    fn raw(id: u16, sector: u64, sectors: u32, letters: &[u8]) -> Vec<u8> {
        let mut raw = vec![0; 64];
        raw[..2].copy_from_slice(&id.to_ne_bytes());
        raw[16..24].copy_from_slice(&sector.to_ne_bytes());
        raw[24..28].copy_from_slice(&sectors.to_ne_bytes());
        raw[34..34 + letters.len()].copy_from_slice(letters);
        raw
    }

    #[test]
    fn records_are_read_where_the_kernel_says_their_fields_are() {
        let format = EventFormat::parse(1234, FORMAT).unwrap();
        let event = |letters: &[u8]| format.event(&raw(1234, 8, 16, letters), &[7]);
        let issued =
            |operation| Some(BlockEventKind::Issued { operation, offset: 4_096, bytes: 8_192 });
        assert_eq!(event(b"RA"), issued(b'R'));
        assert_eq!([event(b"WS"), event(b"FWFS")], [issued(b'W'); 2]);
        assert_eq!([event(b"FF"), event(b"F")], [issued(b'F'); 2]);
        assert_eq!(event(b"D"), issued(b'D'));
        let ends = [7, 9].map(|id| format.event(&raw(id, 0, 0, b""), &[7, 9]));
        assert_eq!(ends, [Some(BlockEventKind::Ended); 2]);
        assert_eq!(format.event(&raw(8, 0, 0, b""), &[7]), None);
        assert_eq!(format.event(&[0], &[7]), None, "a record that is cut off");
        assert_eq!(EventFormat::parse(1, "nothing"), None);
    }

    #[test]
    fn lost_events_are_counted_and_other_records_passed_over() {
        let format = EventFormat::parse(1234, FORMAT).unwrap();
        let lost = [5u64.to_ne_bytes(), 3u64.to_ne_bytes()].concat();
        assert_eq!(parse(PERF_RECORD_LOST, &lost, &format, &[7]), Some(TraceRecord::Lost(3)));
        assert_eq!(parse(3, &lost, &format, &[7]), None);
        let mut sample = [9u64.to_ne_bytes().to_vec(), 64u32.to_ne_bytes().to_vec()].concat();
        sample.extend(raw(7, 0, 0, b""));
        let event = BlockEvent { at_ns: 9, what: BlockEventKind::Ended };
        assert_eq!(
            parse(PERF_RECORD_SAMPLE, &sample, &format, &[7]),
            Some(TraceRecord::Event(event))
        );
    }

    #[test]
    fn requests_are_counted_with_their_order_and_the_depth_of_the_queue() {
        let mut seen = SeenRequests::default();
        let issue = |operation, offset, bytes| BlockEvent {
            at_ns: 0,
            what: BlockEventKind::Issued { operation, offset, bytes },
        };
        let answered = BlockEvent { at_ns: 0, what: BlockEventKind::Ended };
        let events = [
            answered,
            issue(b'R', 0, 4_096),
            issue(b'W', 4_096, 512),
            answered,
            issue(b'R', 0, 512),
            issue(b'F', 0, 0),
            answered,
            answered,
            answered,
            issue(b'D', 0, 1 << 20),
        ];
        events.iter().for_each(|event| seen.add(event));
        let expected = DiskActivity {
            reads: 2,
            writes: 1,
            flushes: Some(1),
            discards: 1,
            read_bytes: 4_608,
            write_bytes: 512,
            sequential: 1,
            distance_bytes: 4_608,
            queue_sum: 1 + 2 + 2 + 3 + 1,
            ..DiskActivity::default()
        };
        assert_eq!(seen.activity, expected);
    }

    #[test]
    fn an_answer_in_a_ring_that_was_looked_at_after_that_of_its_request_waits_for_it() {
        let mut seen = SeenRequests::default();
        let read = BlockEventKind::Issued { operation: b'R', offset: 0, bytes: 512 };
        let at = |at_ns, what| BlockEvent { at_ns, what };
        let mut events = vec![at(20, BlockEventKind::Ended)];
        seen.add_until(15, &mut events);
        assert_eq!(events.len(), 1);
        events.extend([at(10, read), at(30, read)]);
        seen.add_until(25, &mut events);
        assert_eq!((seen.at_disk, seen.activity.reads, events.len()), (0, 1, 1));
        seen.add_until(u64::MAX, &mut events);
        assert_eq!((seen.at_disk, seen.activity.queue_sum, events.len()), (1, 2, 0));
    }
}
