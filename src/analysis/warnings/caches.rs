//! Caches that were not found as asked: which phases, of which variants, why, and what to do.

use super::{WarningFinding, about_phases, add_once};
use crate::analysis::finding::WarningCode;
use crate::base::distinct::each_once;
use crate::plan::CacheAsked;
use crate::results::book::Measurement;
use crate::run::cache::{CacheState, Doubt};

/// One for each doubt.
pub(super) fn caches(measurements: &[Measurement]) -> Vec<WarningFinding> {
    let mut all: Vec<(Doubt, Vec<String>, Vec<String>)> = Vec::new();
    for m in measurements {
        let as_asked = match m.cache.asked {
            CacheAsked::Cold => CacheState::ColdVerified,
            CacheAsked::Warm => CacheState::Warm,
            _ => continue,
        };
        if m.cache.found == as_asked {
            continue;
        }
        let Some(doubt) = m.cache.reason else { continue };
        match all.iter_mut().find(|(known, ..)| *known == doubt) {
            Some((_, phases, variants)) => {
                add_once(phases, &m.phase);
                add_once(variants, &m.cell.variant);
            }
            None => all.push((doubt, vec![m.phase.clone()], vec![m.cell.variant.clone()])),
        }
    }
    let variants_all = each_once(measurements.iter().map(|m| m.cell.variant.as_str())).len();
    let mut warnings = Vec::new();
    for (doubt, phases, variants) in all {
        let some = variants.len() < variants_all;
        let of = if some { format!(" of {}", variants.join(", ")) } else { String::new() };
        let sentence = format!("{}{of}: {}.", phases.join(", "), about(doubt));
        let one = about_phases(WarningCode::CacheNotAsAsked, phases, sentence, remedy(doubt));
        warnings.push(WarningFinding { reason: Some(doubt), ..one });
    }
    warnings
}

/// What a doubt means, to stand behind the names of phases.
fn about(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NoRights => {
            "cold caches are unverified, because /proc/sys/vm/drop_caches needs root. File data \
             was evicted file by file; names and inodes stayed in memory"
        }
        Doubt::DropFailed => "cold caches are unverified: dropping the caches failed",
        Doubt::StillCached => {
            "not cold: pages or names were in memory when it began, although the caches had been \
             dropped"
        }
        Doubt::MemoryFileSystem => "not cold: the file system lives in memory",
        Doubt::NoDevice => {
            "cold caches are unverified: no block device is known here whose reads could be counted"
        }
        Doubt::DeviceReadTooLittle => {
            "not called cold: the device delivered less than was read, so something had it cached"
        }
        Doubt::ReadByOthers => {
            "not called cold: other processes had part of it read, so it was in memory by then"
        }
        Doubt::OwnReadsUnknown => {
            "cold caches are unverified: this kernel does not count what a process has disks read, so \
             others may have read it before"
        }
        Doubt::NoProbe => {
            "cold caches are unverified: this kernel does not let them be looked into"
        }
        Doubt::NotResident => "not called warm: pages were gone although they had just been read",
        Doubt::NoSimulatedCache => {
            "nothing is cold or warm: the simulated file system has no cache"
        }
        Doubt::CachedLoop => {
            "cold caches are unverified: a loop device below reads its file through the page cache, \
             which takes root to drop"
        }
        Doubt::LowerCache => {
            "not called cold: a loop device below reads its file through the page cache, and no disk \
             beneath is known to have delivered what was read"
        }
        Doubt::StillMounted => {
            "not called cold: it was unmounted, but another mount namespace keeps it in memory"
        }
    }
}

/// What to do about a doubt.
fn remedy(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NoRights => "Run as root, or pass --cache warm.",
        Doubt::DropFailed => "Raise the limit of open files, or pass --cache as-is.",
        Doubt::StillCached | Doubt::ReadByOthers => {
            "Stop what else uses these files, or pass --cache as-is."
        }
        Doubt::MemoryFileSystem => {
            "Only a file system on a disk can be cold: pass --cache warm, or leave it out."
        }
        Doubt::NoDevice => "Run on a file system with a block device of its own.",
        Doubt::DeviceReadTooLittle => {
            "Look for a cache beneath: a loop device without direct I/O, a hypervisor, inline data, \
             a journal that is not yet written to its place."
        }
        Doubt::OwnReadsUnknown => "A kernel with task I/O accounting has /proc/self/io.",
        Doubt::NoProbe => "A kernel of 6.5 or later has cachestat(2).",
        Doubt::NotResident => "Take fewer files than memory holds.",
        Doubt::NoSimulatedCache => "Give [sim] a `cold` time.",
        Doubt::StillMounted => {
            "Find who has it mounted (findmnt in other namespaces), and run again."
        }
        Doubt::LowerCache => {
            "Switch it: losetup --direct-io=on DEVICE. A file in memory or with holes is never cold."
        }
        Doubt::CachedLoop => "Run as root, or switch it: losetup --direct-io=on DEVICE.",
    }
}
