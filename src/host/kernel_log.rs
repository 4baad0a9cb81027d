//! Reads the kernel's messages during an action from `/dev/kmsg` (Documentation/ABI/testing/dev-kmsg of
//! Linux).

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno as OsErrno;

/// Longer records do not exist (`CONSOLE_EXT_LOG_MAX`).
const RECORD_BYTES_MAX: usize = 8192;

/// The kernel may talk faster than it is listened to.
const RECORDS_MAX: usize = 1000;

/// Warnings and worse; what is above is talk.
const WARNING: u32 = 4;

/// A place in the kernel's log: what comes after it is new.
pub(super) struct KernelLog(OwnedFd);

impl KernelLog {
    /// Its present end; `None` where this process may not read it.
    pub(super) fn end() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let log = rustix::fs::open("/dev/kmsg", flags, Mode::empty()).ok()?;
        rustix::fs::seek(&log, SeekFrom::End(0)).ok()?;
        Some(Self(log))
    }

    /// What it said since then about a device (`loop3`) or a kind of file system, without
    /// repetitions: warnings and worse, or all of it if there are none.
    pub(super) fn said_about(&self, device: &str, kind: &str) -> Vec<String> {
        let all = self.records();
        let about: Vec<_> = all.iter().filter(|record| record.is_about(device, kind)).collect();
        let serious = about.iter().any(|record| record.level <= WARNING);
        let mut said: Vec<String> = Vec::new();
        for record in about.into_iter().filter(|record| !serious || record.level <= WARNING) {
            if !said.contains(&record.text) {
                said.push(record.text.clone());
            }
        }
        said
    }

    fn records(&self) -> Vec<KernelRecord> {
        let mut buffer = [0; RECORD_BYTES_MAX];
        let mut records = Vec::new();
        for _ in 0..RECORDS_MAX {
            match rustix::io::read(&self.0, &mut buffer) {
                Ok(0) => break,
                Ok(bytes) => records.extend(KernelRecord::parse(&buffer[..bytes])),
                // Some were overwritten before they were read.
                Err(OsErrno::PIPE | OsErrno::INTR) => {}
                Err(_) => break,
            }
        }
        records
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct KernelRecord {
    level: u32,
    text: String,
}

impl KernelRecord {
    /// `6,339,5140900,-;text`, then lines of details. None for what programs wrote there.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, text) = text.lines().next()?.split_once(';')?;
        let priority: u32 = head.split(',').next()?.parse().ok()?;
        (priority >> 3 == 0).then(|| Self { level: priority & 7, text: text.trim().to_string() })
    }

    pub(super) fn is_about(&self, device: &str, kind: &str) -> bool {
        let outside = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '-');
        let names_device = self.text.match_indices(device).any(|(at, _)| {
            outside(self.text[..at].chars().next_back())
                && outside(self.text[at + device.len()..].chars().next())
        });
        // "ext4: Unknown parameter" names no device; what names another is not ours.
        let names_kind = self.text.to_lowercase().starts_with(kind) && !self.text.contains('(');
        names_device || names_kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Option<KernelRecord> {
        KernelRecord::parse(text.as_bytes())
    }

    #[test]
    fn a_record_has_a_level_and_a_text_and_its_details_are_left_out() {
        let found = record("3,1217,5318,-;EXT4-fs (loop3): bad\n SUBSYSTEM=block\n").unwrap();
        assert_eq!(found, KernelRecord { level: 3, text: "EXT4-fs (loop3): bad".into() });
        assert_eq!(record("30,1,2,-;systemd: hello"), None, "a program wrote it");
        assert_eq!((record(""), record("x,1;y"), record("3,1")), (None, None, None));
    }

    #[test]
    fn a_record_is_about_the_device_or_the_kind_it_names() {
        let about =
            |text: &str| record(&format!("3,1,1,-;{text}")).unwrap().is_about("loop3", "ext4");
        for ours in ["EXT4-fs (loop3): x", "I/O error, dev loop3, sector 0", "ext4: Unknown param"]
        {
            assert!(about(ours), "{ours}");
        }
        for other in ["EXT4-fs (loop33): x", "EXT4-fs (loop1): x", "xfs: Unknown", "x-loop3: y"] {
            assert!(!about(other), "{other}");
        }
    }
}
