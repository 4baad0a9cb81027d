//! Every reader of what the kernel and other programs say, and texts of their kinds, for fuzzing.

use std::path::Path;

use super::block_device::{DeviceCounters, chosen};
use super::disturbance::processes::{bytes_of, parent_of};
use super::disturbance::{ProcessorTimes, some_seconds};
use super::kernel_log::KernelRecord;
use super::{
    block_trace, control_group, erase, facts, idle, journal, loop_device, making, memory, mounts,
    settings, signatures, sysfs,
};

/// Files whose texts are read on this machine.
const FILES: [&str; 16] = [
    "/proc/self/mountinfo",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/status",
    "/proc/self/cgroup",
    "/proc/self/stat",
    "/proc/self/io",
    "/proc/stat",
    "/proc/swaps",
    "/proc/vmstat",
    "/proc/pressure/io",
    "/proc/filesystems",
    "/sys/block/vda/stat",
    "/sys/block/vda/inflight",
    "/sys/block/vda/queue/scheduler",
    "/sys/devices/system/cpu/online",
];

/// Texts like those of a machine that has everything.
const KINDS: [&str; 16] = [
    "36 35 98:0 /a\\040b /mnt/x rw,noatime master:1 - ext4 /dev/root rw,errors=continue\n",
    "30 20 0:5 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup rw,nsdelegate\n",
    "31 20 0:6 /c /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    "9:name=systemd:/a\n4:cpu,memory:/c/d\n0::/user.slice/e\n",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 total=1\n",
    "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
    "1 (a ) b) S 7 1 1 0 -1 4194560 5\n",
    "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
    "Filename\tType\tSize\tUsed\tPriority\n/swap\\040file file 8 0 -2\n",
    "nr_dirty 1\nnr_writeback 2\nnr_dirty_background_threshold 3\nnr_throttled 4\n",
    "0x438,uuid,label,ext4\nTYPE=ext4\nPTTYPE=gpt\nDEVNAME=/dev/x\n",
    "6,339,5140900,-;EXT4-fs (loop3): mounted\n SUBSYSTEM=block\n",
    "MemAvailable:    2048 kB\nVmSize: 7 kB\nflags\t\t: fpu hypervisor\nmodel name : A\n",
    "none [mq-deadline] kyber bfq\n0-3,8,10-11\n6.18.44-rc1+\n",
    "name: block_rq_issue\nformat:\n\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:unsigned int \
     nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n",
];

/// Texts to begin with: of all kinds, and those of this machine.
pub(crate) fn examples() -> Vec<Vec<u8>> {
    let here = FILES.iter().filter_map(|path| std::fs::read(path).ok());
    let kinds = KINDS.iter().map(|text| text.as_bytes().to_vec());
    // The first lines of long ones say all there is to say.
    here.map(|text| text[..text.len().min(4096)].to_vec()).chain(kinds).collect()
}

/// Reads bytes in every way there is.
pub(crate) fn read_all(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    let mounts = mounts::parse(bytes);
    memory::groups_of(text, &mounts);
    control_group::OwnGroup::of(text, Path::new("/nonexistent"));
    for name in ["MemAvailable:", "VmSize:", "VmData:"] {
        memory::kilobytes(text, name);
    }
    for mount in &mounts {
        mounts::split(&mount.options);
        facts::impersonal(&mount.options);
    }
    mounts::split(text);
    facts::cpu_model(text);
    facts::impersonal(text);
    idle::in_flight(text);
    idle::unrest(7, text);
    journal::journal_of(bytes);
    loop_device::without_end(Some(text));
    making::numbers(text);
    let _ = signatures::described(&signatures::of_wipefs(bytes));
    let _ = signatures::described(&signatures::of_blkid(bytes));
    settings::processors_listed(text);
    settings::virtual_machine(text);
    erase::swap_paths(text);
    chosen(text);
    sysfs::number_after(text, "some ");
    some_seconds(text);
    parent_of(text);
    bytes_of(text);
    block_trace::read_bytes_of_trace(bytes);
    if let Some(record) = KernelRecord::parse(bytes) {
        record.is_about("loop3", "ext4");
    }
    let times = [1.0, 100.0].map(|ticks| ProcessorTimes::parse(text, ticks));
    let _ = times[0].zip(times[1]).and_then(|(now, earlier)| now.since(earlier));
    let counters = DeviceCounters::parse(text);
    let _ = counters.and_then(|counters| counters.plus(counters).since(counters));
}
