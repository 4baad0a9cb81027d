//! Gives up, for all of this process and its children, what root may do and boatload never does (capabilities(7)), and for
//! each program that it starts what that program never does. docs/GUIDE.md has the table.

use std::path::Path;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::mounts::root_is_mount_point;

/// What a command does that takes more than a user's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivilegedWork {
    /// It reads and writes files that may be somebody else's.
    Files,
    /// It removes directories, and unmounts what a killed run left there.
    Clean,
    /// It lets the kernel trace other programs.
    Trace,
    /// It serves a modelled disk to the boatload that started it.
    ServeDisk,
    /// It measures.
    Measure,
}

impl PrivilegedWork {
    /// What it takes, each for a reason.
    fn needed(self) -> CapabilitySet {
        // The store, documents, and run directories below a directory of another user.
        let files = CapabilitySet::DAC_OVERRIDE
            // A file that is replaced keeps its owner and permissions.
            .union(CapabilitySet::CHOWN)
            .union(CapabilitySet::FSETID)
            // Access times of another user's files are left alone; names in sticky directories are removed.
            .union(CapabilitySet::FOWNER);
        // mount(2), umount(2), mount namespaces.
        let mounts = CapabilitySet::SYS_ADMIN;
        // A view of the mounts of its own in a chroot.
        let view =
            if root_is_mount_point() { mounts } else { mounts.union(CapabilitySet::SYS_CHROOT) };
        match self {
            Self::Files => files,
            Self::Clean => files.union(mounts),
            // Loading programs into the kernel, tracefs, and a view of the mounts of its own.
            Self::Trace => files.union(view),
            // Mounts of its own.
            Self::ServeDisk => view
                // It takes memory without writing to its own disk (PR_SET_IO_FLUSHER).
                .union(CapabilitySet::SYS_RESOURCE)
                // It goes before other processes.
                .union(CapabilitySet::SYS_NICE)
                // Its memory stays.
                .union(CapabilitySet::IPC_LOCK),
            // Also loop devices, and writing out what a block device has in its cache; and what the server of
            // a modelled disk keeps.
            Self::Measure => files
                .union(Self::ServeDisk.needed())
                // What other processes read and write, in /proc/PID/io.
                .union(CapabilitySet::SYS_PTRACE),
        }
    }
}

/// Gives up every other capability. It is called before there is a second thread, for the kernel keeps capabilities for each.
/// What cannot be given up stays: whoever lacks the right to do so has little to give.
pub fn keep_only(work: PrivilegedWork) {
    let needed = work.needed();
    for (_, capability) in CapabilitySet::all().difference(needed).iter_names() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    keep(needed);
}

/// Programs that take more than [`OPENING`], by their names.
const PROGRAMS: [(&str, CapabilitySet); 5] = [
    // They set the block size of the device.
    ("mkfs.xfs", CapabilitySet::SYS_ADMIN),
    ("xfs_repair", CapabilitySet::SYS_ADMIN),
    // It tells the kernel of the device.
    ("mkfs.btrfs", CapabilitySet::SYS_ADMIN),
    // It was not tried without.
    ("mkfs.bcachefs", CapabilitySet::SYS_ADMIN),
    // It loads programs into the kernel.
    ("bpftrace", CapabilitySet::SYS_ADMIN),
];

/// What any program that is started may do: open a device or directory of another user.
const OPENING: CapabilitySet = CapabilitySet::DAC_OVERRIDE;

/// What a program needs that is started, of what this process may do.
pub(super) fn needed_by(program: &Path) -> CapabilitySet {
    let name = program.file_name().and_then(std::ffi::OsStr::to_str);
    let own = PROGRAMS.iter().find(|(program, _)| Some(*program) == name);
    own.map_or(OPENING, |(_, more)| OPENING.union(*more))
}

/// Gives up every other capability for this thread and what it starts. To be called between fork and exec: it makes three system calls
/// and allocates nothing.
pub(super) fn keep(needed: CapabilitySet) {
    if let Ok(now) = capabilities(None) {
        let (effective, permitted) = (now.effective & needed, now.permitted & needed);
        let sets = CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() };
        let _ = set_capabilities(None, sets);
    }
    // No program that it starts gains anything by an owner or by capabilities of its file.
    let _ = set_no_new_privs(true);
}
