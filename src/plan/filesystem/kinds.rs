//! The kinds of file systems that boatload can make: one row for each.

/// One kind of file system.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name in the kernel: `ext4`.
    pub name: &'static str,
    /// How it is made; none if mounting is all it takes.
    pub maker: Option<Maker>,
    /// The least room its mkfs and its log need to be of use, in bytes.
    pub least_bytes: u64,
    /// The release of Linux that no longer has it.
    pub gone_since: Option<&'static str>,
    /// Whether it gives nothing back of what was overwritten or deleted while it is measured.
    pub keeps_all: bool,
}

/// The program that makes a file system.
#[derive(Debug, PartialEq, Eq)]
pub struct Maker {
    /// Its name: `mkfs.ext4`.
    pub program: &'static str,
    /// Words it always gets: to be quiet, not to ask, to do all of its work before it ends.
    pub always: &'static [&'static str],
    /// The option that sets the number of inodes; none where there are as many as needed.
    pub inodes: Option<&'static str>,
    /// The package that brings it in Debian.
    pub debian: &'static str,
    /// The package that brings it in Fedora.
    pub fedora: &'static str,
}

const MIB: u64 = 1 << 20;

const EXT: Maker = Maker {
    program: "",
    // Lazy initialisation would write inode tables while a phase is timed.
    always: &["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
    inodes: Some("-N"),
    debian: "e2fsprogs",
    fedora: "e2fsprogs",
};

const fn kind(name: &'static str, least_bytes: u64, maker: Maker) -> Kind {
    Kind { name, maker: Some(maker), least_bytes, gone_since: None, keeps_all: false }
}

const fn maker(
    program: &'static str,
    always: &'static [&'static str],
    (debian, fedora): (&'static str, &'static str),
) -> Maker {
    Maker { program, always, inodes: None, debian, fedora }
}

/// All of them, in the order they are told.
pub static KINDS: [Kind; 11] = [
    kind("ext2", 64 * MIB, Maker { program: "mkfs.ext2", ..EXT }),
    kind("ext3", 64 * MIB, Maker { program: "mkfs.ext3", ..EXT }),
    kind("ext4", 64 * MIB, Maker { program: "mkfs.ext4", ..EXT }),
    kind("xfs", 320 * MIB, maker("mkfs.xfs", &["-q", "-f", "-K"], ("xfsprogs", "xfsprogs"))),
    kind(
        "btrfs",
        256 * MIB,
        maker("mkfs.btrfs", &["-q", "-f", "-K"], ("btrfs-progs", "btrfs-progs")),
    ),
    // With -q it would not say why it fails.
    kind("f2fs", 128 * MIB, maker("mkfs.f2fs", &["-f", "-t", "0"], ("f2fs-tools", "f2fs-tools"))),
    Kind {
        gone_since: Some("6.13"),
        ..kind(
            "reiserfs",
            128 * MIB,
            maker("mkfs.reiserfs", &["-q", "-ff"], ("reiserfsprogs", "reiserfs-utils")),
        )
    },
    kind("jfs", 64 * MIB, maker("mkfs.jfs", &["-q"], ("jfsutils", "jfsutils"))),
    // Its cleaner is a program of its own, which would be at work while a phase is timed.
    Kind {
        keeps_all: true,
        ..kind(
            "nilfs2",
            256 * MIB,
            maker("mkfs.nilfs2", &["-q", "-f", "-K"], ("nilfs-tools", "nilfs-utils")),
        )
    },
    Kind {
        gone_since: Some("6.18"),
        ..kind(
            "bcachefs",
            256 * MIB,
            maker("mkfs.bcachefs", &["-q", "-f"], ("bcachefs-tools", "bcachefs-tools")),
        )
    },
    Kind { name: "tmpfs", maker: None, least_bytes: MIB, gone_since: None, keeps_all: false },
];

/// The kind with this name; none if boatload cannot make it.
pub fn find_kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
