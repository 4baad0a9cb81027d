//! Builds the command lines of mkfs programs, and the mount options of file systems.

use std::ffi::OsString;
use std::path::Path;

use super::{FileSystem, VolumeSize};
use boatload_base::shell::quoted;

const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// Options of mke2fs that decide how many inodes there are (mke2fs(8)).
const INODE_OPTIONS: [&str; 3] = ["-N", "-i", "-T"];

/// Option of mke2fs for extended options, joined by commas; of several mke2fs takes only the last.
pub(super) const EXTENDED: &str = "-E";

/// The arguments of mkfs, without the program's name, that make the file system on a device of this
/// size; empty if it has no mkfs.
pub fn mkfs_arguments(filesystem: &FileSystem, room: &VolumeSize, device: &Path) -> Vec<OsString> {
    if filesystem.kind.maker.is_none() {
        return Vec::new();
    }
    let words = options(filesystem, room).into_iter().map(OsString::from);
    words.chain([device.as_os_str().to_os_string()]).collect()
}

/// The mkfs command quoted for a shell, with `DEVICE` for the device; `None` if it has no mkfs.
pub fn shown_command(filesystem: &FileSystem, room: &VolumeSize) -> Option<String> {
    let program = filesystem.kind.maker.as_ref()?.program.to_string();
    let words = std::iter::once(program).chain(options(filesystem, room));
    let words = words.chain(["DEVICE".to_string()]).map(|word| quoted(&word));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// The options that a file system is mounted with; for tmpfs they include its size and inodes.
pub fn mount_options(filesystem: &FileSystem, room: &VolumeSize) -> String {
    let mut options: Vec<String> = Vec::new();
    if filesystem.kind.maker.is_none() {
        let given = |names: &[&str]| {
            let name = |option: &str| option.split('=').next().unwrap_or_default().to_string();
            filesystem.mount.split(',').any(|option| names.contains(&name(option).as_str()))
        };
        if !given(&["size", "nr_blocks"]) {
            options.push(format!("size={}", room.bytes));
        }
        if !given(&["nr_inodes"]) {
            options.push(format!("nr_inodes={}", with_spare(room.inodes)));
        }
    }
    if !filesystem.mount.is_empty() {
        options.push(filesystem.mount.clone());
    }
    if filesystem.noatime {
        options.push("noatime".into());
    }
    options.join(",")
}

/// The arguments of mkfs before the device.
fn options(filesystem: &FileSystem, room: &VolumeSize) -> Vec<String> {
    let Some(maker) = &filesystem.kind.maker else { return Vec::new() };
    let mut words: Vec<String> = maker.always.iter().map(ToString::to_string).collect();
    if let Some(option) = maker.inodes {
        let decides = |word: &String| INODE_OPTIONS.iter().any(|option| word.starts_with(option));
        let wanted = with_spare(room.inodes);
        if wanted > inodes_by_default(room.bytes) && !filesystem.mkfs.iter().any(decides) {
            words.extend([option.to_string(), wanted.to_string()]);
        }
    }
    with_given(words, &filesystem.mkfs)
}

/// The arguments with those that the user gave after them. Where both have extended options, they
/// become one argument, in which the user's come last and so count.
fn with_given(mut words: Vec<String>, given: &[String]) -> Vec<String> {
    let ours = words.iter().position(|word| word == EXTENDED).map(|at| at + 1);
    let mut given = given.iter();
    while let Some(word) = given.next() {
        match (ours, word.strip_prefix(EXTENDED)) {
            (Some(at), Some(attached)) if at < words.len() => {
                let value = if attached.is_empty() {
                    given.next().map(String::as_str)
                } else {
                    Some(attached)
                };
                let joined = format!("{},{}", words[at], value.unwrap_or_default());
                words[at] = joined.trim_end_matches(',').to_string();
            }
            _ => words.push(word.clone()),
        }
    }
    words
}

/// A tenth more inodes, and 16 for the file system itself.
fn with_spare(inodes: u64) -> u64 {
    inodes.saturating_add(inodes / 10).saturating_add(16)
}

/// How many inodes mke2fs makes by default on so many bytes (mke2fs.conf(5)): the larger the file
/// system, the more bytes for each inode.
fn inodes_by_default(bytes: u64) -> u64 {
    let each = match bytes {
        small if small < 512 * MIB => 4_096,
        common if common < 4 * TIB => 16_384,
        big if big < 16 * TIB => 32_768,
        _ => 65_536,
    };
    bytes / each
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::{KINDS, read_list};

    const GIB: u64 = 1 << 30;
    const FEW: VolumeSize = VolumeSize { bytes: GIB, inodes: 20_000 };
    const MANY: VolumeSize = VolumeSize { bytes: 4 * GIB, inodes: 300_000 };

    fn one(text: &str) -> FileSystem {
        let list = read_list(text).unwrap_or_else(|error| panic!("{error}"));
        list.into_iter().next().unwrap_or_else(|| panic!("{text} is empty"))
    }

    fn shown(text: &str, room: &VolumeSize) -> String {
        shown_command(&one(text), room).unwrap_or_default()
    }

    #[test]
    fn a_file_system_with_too_few_inodes_by_default_gets_as_many_as_are_needed() {
        assert!(!shown("ext3", &FEW).contains("-N"), "{}", shown("ext3", &FEW));
        assert!(shown("ext3", &MANY).contains(" -N 330016 "), "{}", shown("ext3", &MANY));
        assert!(!shown("xfs", &MANY).contains("-N"), "{}", shown("xfs", &MANY));
    }

    #[test]
    fn the_users_word_on_inodes_counts() {
        for own in ["-N 1000", "-i 4096", "-i8192", "-T news"] {
            let shown = shown(&format!("ext4:mkfs={own}"), &MANY);
            assert!(
                shown.ends_with(&format!(" {own} DEVICE")) && !shown.contains("330016"),
                "{shown}"
            );
        }
    }

    #[test]
    fn extended_options_are_joined_for_only_the_last_would_count() {
        for own in ["-E stride=4", "-Estride=4"] {
            let shown = shown(&format!("ext4:mkfs={own} -m 0"), &FEW);
            assert_eq!(shown.matches("-E").count(), 1, "{shown}");
            assert!(shown.contains(",stride=4 ") && shown.ends_with(" -m 0 DEVICE"), "{shown}");
        }
        let shown = shown("xfs:mkfs=-E x", &FEW);
        assert!(shown.ends_with(" -E x DEVICE"), "{shown}");
    }

    #[test]
    fn every_mkfs_gets_its_device_last_and_the_users_words_before_it() {
        for kind in KINDS.iter().filter(|kind| kind.maker.is_some()) {
            let made = one(&format!("{}:mkfs=-L 'a b'", kind.name));
            let words = mkfs_arguments(&made, &FEW, Path::new("/dev/loop7"));
            let end = ["-L", "a b", "/dev/loop7"].map(OsString::from);
            assert!(words.ends_with(&end), "{words:?}");
            let shown = shown_command(&made, &FEW).unwrap_or_default();
            assert!(shown.starts_with(&format!("mkfs.{} ", kind.name)), "{shown}");
            assert!(shown.ends_with(" -L 'a b' DEVICE"), "{shown}");
        }
    }

    #[test]
    fn one_in_memory_is_sized_by_its_mount_and_has_no_mkfs() {
        let plain = one("tmpfs");
        assert_eq!(mount_options(&plain, &FEW), format!("size={GIB},nr_inodes=22016"));
        assert!(mkfs_arguments(&plain, &FEW, Path::new("x")).is_empty());
        assert_eq!(shown_command(&plain, &FEW), None);
        let own = one("tmpfs:mount=huge=never,size=5G,nr_inodes=9");
        assert_eq!(mount_options(&own, &FEW), "huge=never,size=5G,nr_inodes=9");
    }

    #[test]
    fn one_on_a_device_is_mounted_as_asked_and_no_other_way() {
        assert_eq!(mount_options(&one("ext4"), &FEW), "");
        assert_eq!(
            mount_options(&one("ext4:mount=data=journal,noatime"), &FEW),
            "data=journal,noatime"
        );
    }
}
