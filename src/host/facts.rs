//! What a reader needs to know of the machine to make sense of a result, and nothing personal.

use serde::{Deserialize, Serialize};

/// The machine and the place a run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Kernel name and release: `Linux 6.18.44`.
    pub kernel: String,
    /// Model name of the first processor.
    pub cpu: String,
    /// Processors this process may run on.
    pub cpus: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// The file system measured.
    pub filesystem: FilesystemFacts,
    /// The block device under it; none for tmpfs, overlay and network file systems.
    pub device: Option<DeviceFacts>,
    /// What this process may do.
    pub rights: Rights,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesystemFacts {
    /// Its type as the kernel names it: `ext4`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is mounted: `/dev/vda`, `tmpfs`.
    pub source: String,
    /// Mount and superblock options, as the kernel shows them.
    pub options: String,
    /// Size of an allocation block, in bytes.
    pub block_bytes: u64,
    /// Its size, in bytes.
    pub total_bytes: u64,
    /// Bytes an ordinary user may still use when the run began.
    pub available_bytes: u64,
    /// Inodes left; none where the file system makes them as needed.
    pub available_inodes: Option<u64>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The kernel's name: `vda`, `nvme0n1p2`, `loop3`.
    pub name: String,
    /// The maker's name for it, where the kernel knows one.
    pub model: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Whether writes may wait in a volatile cache of the device.
    pub write_cache: Option<String>,
    /// Logical sector size, in bytes.
    pub sector_bytes: Option<u64>,
    /// Its size, in bytes.
    pub total_bytes: Option<u64>,
    /// For a loop device, whether it goes around the cache of the file system below it.
    pub loop_direct_io: Option<bool>,
}

/// What this process may do, as tried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rights {
    /// It is root.
    pub root: bool,
    /// It may drop the kernel's caches.
    pub drop_caches: bool,
    /// How the cache can be looked into: `cachestat`, `mincore` or `none`.
    pub cache_probe: String,
}
