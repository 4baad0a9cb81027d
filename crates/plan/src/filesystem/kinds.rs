//! Lists the kinds of file systems that boatload can make: one row for each.

use serde::Serialize;

/// One kind of file system.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FileSystemKind {
    /// Its name in the kernel: `ext4`.
    pub name: &'static str,
    /// How it is made; `None` if mounting is all it takes.
    pub maker: Option<Maker>,
    /// The least room its mkfs and its log need to be of use, in bytes.
    pub least_bytes: u64,
    /// The release of Linux that no longer has it.
    pub gone_since: Option<&'static str>,
    /// Whether it frees no blocks of overwritten or deleted files during a measurement.
    pub keeps_all: bool,
    /// Whether what FIEMAP calls physical is an offset on its device. btrfs, which may lie on several,
    /// reports addresses of its own.
    pub fiemap_is_device_offset: bool,
}

/// The program that makes a file system.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Maker {
    /// Its name: `mkfs.ext4`.
    pub program: &'static str,
    /// Words it always gets: to be quiet, not to ask, to do all of its work before it ends.
    pub always: &'static [&'static str],
    /// The option that sets the number of inodes; `None` where there are as many as needed.
    pub inodes: Option<&'static str>,
    /// Options that take the next word for their value, with blanks between them. After any other, a
    /// word that does not begin with `-` would be another device, or its size.
    pub valued: &'static str,
    /// Options that reach beyond the device, with blanks between them: they read or write files or
    /// other devices.
    pub apart: &'static str,
    /// The program that checks such a file system, and the words for it to change nothing; empty if it is
    /// not checked.
    pub check: &'static [&'static str],
    /// The package that has it in Debian.
    pub debian: &'static str,
    /// The package that has it in Fedora.
    pub fedora: &'static str,
}

const MIB: u64 = 1 << 20;

const EXT: Maker = Maker {
    program: "",
    // Lazy initialisation would write inode tables while a phase is timed. Blocks kept back for root
    // would be free for boatload as root, and full for anyone else. The seed of the hash of names decides
    // where directories lie, and would be another in each run.
    always: &[
        "-q",
        "-F",
        "-m",
        "0",
        "-E",
        "nodiscard,lazy_itable_init=0,lazy_journal_init=0,\
         hash_seed=00000000-0000-4000-8000-000000000001",
    ],
    inodes: Some("-N"),
    valued: "-b -C -e -E -g -G -i -I -J -L -m -M -N -o -O -r -t -T -U",
    apart: "-d -l -z",
    check: &["e2fsck", "-f", "-n"],
    debian: "e2fsprogs",
    fedora: "e2fsprogs",
};

const XFS: Maker = Maker {
    valued: "-b -d -i -l -L -m -n -r -s",
    apart: "-c -p",
    check: &["xfs_repair", "-n"],
    ..maker("mkfs.xfs", &["-q", "-f", "-K"], "xfsprogs", "xfsprogs")
};

const BTRFS: Maker = Maker {
    valued: "-b --byte-count --checksum --compress --csum -d --data -L --label -m --metadata \
             -n --nodesize -O --features -R --runtime-features -s --sectorsize -U --uuid",
    apart: "-r --rootdir -u --subvol --inode-flags",
    check: &["btrfs", "check", "--readonly"],
    ..maker("mkfs.btrfs", &["-q", "-f", "-K"], "btrfs-progs", "btrfs-progs")
};

const F2FS: Maker = Maker {
    valued: "-a -C -d -e -E -g -l -o -O -R -s -t -T -U -w -z",
    // -S writes an image of its own form.
    apart: "-c -S",
    // With -q it would not say why it fails.
    ..maker("mkfs.f2fs", &["-f", "-t", "0"], "f2fs-tools", "f2fs-tools")
};

const REISERFS: Maker = Maker {
    valued: "-b --block-size --format -h --hash -l --label -s --journal-size -t \
             --transaction-max-size -u --uuid",
    apart: "-B --badblocks --bad-blocks -j --journal-device -o --journal-offset",
    ..maker("mkfs.reiserfs", &["-q", "-ff"], "reiserfsprogs", "reiserfs-utils")
};

const JFS: Maker =
    Maker { valued: "-L -s", apart: "-j -J", ..maker("mkfs.jfs", &["-q"], "jfsutils", "jfsutils") };

const NILFS2: Maker = Maker {
    valued: "-b -B -L -m -O",
    ..maker("mkfs.nilfs2", &["-q", "-f", "-K"], "nilfs-tools", "nilfs-utils")
};

// Most of its options are long ones, which take `--option=value` as well.
const BCACHEFS: Maker = Maker {
    valued: "-L --fs_label -U --uuid",
    apart: "--source --passphrase_file",
    ..maker("mkfs.bcachefs", &["-q", "-f"], "bcachefs-tools", "bcachefs-tools")
};

const fn kind(name: &'static str, least_bytes: u64, maker: Option<Maker>) -> FileSystemKind {
    let (gone_since, keeps_all, fiemap_is_device_offset) = (None, false, false);
    FileSystemKind { name, maker, least_bytes, gone_since, keeps_all, fiemap_is_device_offset }
}

/// A kind for which FIEMAP reports offsets on its device.
const fn with_device_offsets(name: &'static str, least_bytes: u64, maker: Maker) -> FileSystemKind {
    FileSystemKind { fiemap_is_device_offset: true, ..kind(name, least_bytes, Some(maker)) }
}

const fn maker(
    program: &'static str,
    always: &'static [&'static str],
    debian: &'static str,
    fedora: &'static str,
) -> Maker {
    Maker { program, always, inodes: None, valued: "", apart: "", check: &[], debian, fedora }
}

/// All of them, in the order they are listed.
pub static KINDS: [FileSystemKind; 11] = [
    with_device_offsets("ext2", 64 * MIB, Maker { program: "mkfs.ext2", ..EXT }),
    with_device_offsets("ext3", 64 * MIB, Maker { program: "mkfs.ext3", ..EXT }),
    with_device_offsets("ext4", 64 * MIB, Maker { program: "mkfs.ext4", ..EXT }),
    with_device_offsets("xfs", 320 * MIB, XFS),
    kind("btrfs", 256 * MIB, Some(BTRFS)),
    kind("f2fs", 128 * MIB, Some(F2FS)),
    FileSystemKind { gone_since: Some("6.13"), ..kind("reiserfs", 128 * MIB, Some(REISERFS)) },
    kind("jfs", 64 * MIB, Some(JFS)),
    // Its cleaner is a program of its own, which would be at work while a phase is timed.
    FileSystemKind { keeps_all: true, ..kind("nilfs2", 256 * MIB, Some(NILFS2)) },
    FileSystemKind { gone_since: Some("6.18"), ..kind("bcachefs", 256 * MIB, Some(BCACHEFS)) },
    kind("tmpfs", MIB, None),
];

/// The kind with this name; `None` if boatload cannot make it.
pub fn find_kind(name: &str) -> Option<&'static FileSystemKind> {
    KINDS.iter().find(|kind| kind.name == name)
}
