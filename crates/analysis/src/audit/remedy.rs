//! Names the run of boatload that measures what another benchmark did not.

use super::case::AuditCase;
use boatload_base::shell::quoted;
use boatload_results::tools::{ToolMeasurement, ToolWork};

/// A job that is longer than this is left at its default size.
const BYTES_MAX: u64 = 1 << 40;
const FILES_MAX: u64 = 10_000_000;
/// What a job takes as the size of a block, and of a small file.
const BLOCK_BYTES_MAX: u64 = 16 << 20;
const SMALL_BYTES_MAX: u64 = 1 << 20;
const MIB: u64 = 1 << 20;

/// The command. It measures the same kind of work, with caches that are proven cold, the sync included, and repeats.
pub(super) fn command(case: &AuditCase<'_>) -> String {
    let directory = case.bounds.directory.as_deref().map_or("DIR".into(), quoted);
    let one = case.one;
    let words = match one.work {
        // Of files of one block, which no cache and no read-ahead serves.
        ToolWork::Read if one.random => {
            let size = one.block_bytes.filter(|size| (1..=SMALL_BYTES_MAX).contains(size));
            let size = size.unwrap_or(4096);
            format!("smallfiles --cache cold --set size_min={size} --set size_max={size}")
        }
        ToolWork::Read if one.bytes.is_none() && one.operations.is_some() => small_files(one),
        ToolWork::Read | ToolWork::Write | ToolWork::Unknown => sequential(one),
        ToolWork::Create | ToolWork::Remove => small_files(one),
        ToolWork::Stat => "directory".into(),
    };
    format!("boatload run {words} --dir {directory}")
}

fn sequential(one: &ToolMeasurement) -> String {
    let bytes = one.file_bytes.or(one.bytes).and_then(|bytes| bytes.checked_next_multiple_of(MIB));
    let bytes = bytes.filter(|bytes| (MIB..=BYTES_MAX).contains(bytes));
    let block = one.block_bytes.filter(|block| (512..=BLOCK_BYTES_MAX).contains(block));
    let sizes = [("bytes", bytes), ("block", block)].into_iter();
    let set = |(name, size): (&str, Option<u64>)| {
        size.map_or_else(String::new, |size| format!(" --set {name}={}", bytes_text(size)))
    };
    format!("sequential --repeats 5{}", sizes.map(set).collect::<String>())
}

fn small_files(one: &ToolMeasurement) -> String {
    let files = one.operations.filter(|files| (1_000..=FILES_MAX).contains(files));
    let set = files.map_or_else(String::new, |files| format!(" --set files={files}"));
    format!("smallfiles --cache cold{set}")
}

/// Bytes as a job takes them.
fn bytes_text(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(MIB) => format!("{}MiB", bytes / MIB),
        bytes if bytes.is_multiple_of(1024) => format!("{}KiB", bytes / 1024),
        bytes => format!("{bytes}B"),
    }
}
