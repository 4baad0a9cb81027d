//! Gives up, for all of this process and its children, what root may do and boatload never does (capabilities(7)).

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

/// What a command does that takes more than a user's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivilegedWork {
    /// It reads and writes files that may be somebody else's.
    Files,
    /// It removes directories, and unmounts what a killed run left there.
    Clean,
    /// It lets the kernel trace other programs.
    Trace,
    /// It measures.
    Measure,
}

impl PrivilegedWork {
    /// What it takes, each for a reason.
    const fn needed(self) -> CapabilitySet {
        // The store, documents, and run directories below a directory of another user.
        let files = CapabilitySet::DAC_OVERRIDE
            // A file that is replaced keeps its owner and permissions.
            .union(CapabilitySet::CHOWN)
            .union(CapabilitySet::FSETID)
            // Access times of another user's files are left alone; names in sticky directories are removed.
            .union(CapabilitySet::FOWNER);
        // mount(2), umount(2), mount namespaces.
        let mounts = CapabilitySet::SYS_ADMIN;
        match self {
            Self::Files => files,
            Self::Clean => files.union(mounts),
            // Loading programs into the kernel, tracefs, and a view of the mounts of its own.
            Self::Trace => files.union(mounts),
            Self::Measure => files
                // Also loop devices, tracepoints, and writing out what a block device has in its cache.
                .union(mounts)
                // What other processes read and write, in /proc/PID/io.
                .union(CapabilitySet::SYS_PTRACE)
                // The server of a modelled disk takes memory without writing to its own disk (PR_SET_IO_FLUSHER).
                .union(CapabilitySet::SYS_RESOURCE)
                // That server goes before other processes.
                .union(CapabilitySet::SYS_NICE)
                // Requests of the device, by perf events of all processes, and memory that stays.
                .union(CapabilitySet::PERFMON)
                .union(CapabilitySet::IPC_LOCK)
                // What the kernel says of a mount that fails, in /dev/kmsg.
                .union(CapabilitySet::SYSLOG),
        }
    }
}

/// Gives up all else. It is called before there is a second thread, for the kernel keeps capabilities for each.
/// What cannot be given up stays: whoever lacks the right to do so has little to give.
pub(crate) fn keep_only(work: PrivilegedWork) {
    let needed = work.needed();
    for (_, capability) in CapabilitySet::all().difference(needed).iter_names() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    if let Ok(now) = capabilities(None) {
        let (effective, permitted) = (now.effective & needed, now.permitted & needed);
        let sets = CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() };
        let _ = set_capabilities(None, sets);
    }
    // No program that it starts gains anything by an owner or by capabilities of its file.
    let _ = set_no_new_privs(true);
}
