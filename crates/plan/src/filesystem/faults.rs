//! Refuses options of mkfs and mount that would break them, or use anything but the device.

use super::command::EXTENDED;
use super::{FileSystem, Maker};
use crate::report::element;

/// Something wrong with a file system that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key it concerns: `mkfs[2]`.
    pub key: String,
    /// What was found there.
    pub found: String,
    /// What may stand there.
    pub expected: String,
}

/// What names something beside the device, where a value or a part of it begins.
const ELSEWHERE: [&str; 8] =
    ["name=", "logdev", "rtdev", "device=", "LABEL=", "UUID=", "PARTUUID=", "PARTLABEL="];

/// The value of mkfs.xfs that makes files of what are devices otherwise.
const FILE: &str = "file";

/// Mount options that name something beside the device.
const DEVICES: [&str; 8] = [
    "journal_path", "journal_dev", "jdev", "logdev", "rtdev", "device", "journal_device",
    "log_device",
];

/// Mount options that make something else of a mount than a file system on the device.
const NO_MOUNT: [&str; 5] = ["remount", "bind", "rbind", "move", "loop"];

const NO_VALUE: &str = "a value after it: it would take the device for one";
const NO_BARE_WORD: &str = "an option of mkfs, or the value of one that takes the next word: this \
                            would be another device, or its size";
const NO_PATH: &str = "no path: boatload adds the device, and mkfs touches nothing else";
const NO_END: &str = "an option: after this all words would be devices";
const NOT_APART: &str = "no option that reaches beyond the device: boatload adds it, and mkfs \
                         touches nothing else";
const NOT_BEHIND: &str =
    "`-E` as a word of its own: boatload has extended options too, and joins them";
const NOT_ELSEWHERE: &str = "nothing that names a file or another device: boatload adds the device, \
                             and mkfs touches nothing else";

/// What a word of mkfs is, as getopt takes it.
enum Word<'a> {
    /// Options with the value they have in the same word, if any.
    Plain(Option<&'a str>),
    /// Options; the last of them takes the next word.
    WantsValue,
    /// Wrong, with what may stand there.
    Wrong(&'static str),
}

impl FileSystem {
    /// What would break its mkfs or its mount, or reach something beside its device.
    pub fn faults(&self) -> Vec<Fault> {
        let fault = |key: String, found: &str, expected: &str| Fault {
            key,
            found: format!("`{}`", found.escape_default()),
            expected: expected.into(),
        };
        let mut faults: Vec<Fault> = match &self.kind.maker {
            Some(maker) => word_faults(maker, &self.mkfs)
                .map(|(at, why)| fault(element("mkfs", at), &self.mkfs[at], why))
                .collect(),
            None if self.mkfs.is_empty() => Vec::new(),
            None => vec![Fault {
                key: "mkfs".into(),
                found: format!("words for a mkfs of `{}`", self.kind.name),
                expected: "none: it has no mkfs, and takes all its options with `mount`".into(),
            }],
        };
        if let (Some(disk), None) = (&self.disk, &self.kind.maker) {
            faults.push(Fault {
                key: "disk".into(),
                found: format!("`{}` for `{}`", disk.name, self.kind.name),
                expected: "none: it lies in memory, and has no device".into(),
            });
        }
        faults.extend(mount_faults(&self.mount).map(|(o, why)| fault("mount".into(), o, why)));
        faults
    }
}

/// Words that must not be there, by their place, and what may.
fn word_faults(maker: &Maker, words: &[String]) -> impl Iterator<Item = (usize, &'static str)> {
    let mut faults = Vec::new();
    let mut wants_value = None;
    for (at, word) in words.iter().enumerate() {
        let wanted = wants_value.take().is_some();
        if let Some(why) = unprintable(word) {
            faults.push((at, why));
            continue;
        }
        let read = if wanted { Word::Plain(Some(word)) } else { read(maker, word) };
        match read {
            Word::Wrong(why) => faults.push((at, why)),
            _ if word.contains('/') => faults.push((at, NO_PATH)),
            Word::Plain(Some(value)) if names_other(maker, value) => {
                faults.push((at, NOT_ELSEWHERE));
            }
            Word::Plain(_) => {}
            Word::WantsValue => wants_value = Some(at),
        }
    }
    faults.extend(wants_value.map(|at| (at, NO_VALUE)));
    faults.into_iter()
}

fn unprintable(word: &str) -> Option<&'static str> {
    let is_bad = word.is_empty() || word.chars().any(char::is_control);
    is_bad.then_some("a word of mkfs, not empty, on one line")
}

fn read<'a>(maker: &Maker, word: &'a str) -> Word<'a> {
    if word == "--" {
        return Word::Wrong(NO_END);
    }
    if let Some(long) = word.strip_prefix("--") {
        return read_long(maker, long);
    }
    match word.strip_prefix('-') {
        Some(letters) if !letters.is_empty() => read_short(maker, letters),
        _ => Word::Wrong(if word.contains('/') { NO_PATH } else { NO_BARE_WORD }),
    }
}

/// A long option, which may be written with the beginning of its name alone.
fn read_long<'a>(maker: &Maker, text: &'a str) -> Word<'a> {
    let (name, value) = text.split_once('=').map_or((text, None), |(n, value)| (n, Some(value)));
    // Some programs take the one for the other.
    let name = format!("--{}", name.replace('_', "-"));
    let reaches =
        |option: &str| option.starts_with("--") && option.replace('_', "-").starts_with(&name);
    if maker.apart.split(' ').any(reaches) && !is_valued(maker, &name) {
        return Word::Wrong(NOT_APART);
    }
    match value {
        None if is_valued(maker, &name) => Word::WantsValue,
        value => Word::Plain(value),
    }
}

fn is_valued(maker: &Maker, name: &str) -> bool {
    maker.valued.split(' ').any(|option| option.replace('_', "-") == name)
}

/// Letters after one `-`: each an option, up to one that takes the rest for its value.
fn read_short<'a>(maker: &Maker, letters: &'a str) -> Word<'a> {
    for (at, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        if maker.apart.split(' ').any(|other| other == option) {
            return Word::Wrong(NOT_APART);
        }
        if at > 0 && maker.always.contains(&EXTENDED) && option == EXTENDED {
            return Word::Wrong(NOT_BEHIND);
        }
        if maker.valued.split(' ').any(|other| other == option) {
            let value = &letters[at + letter.len_utf8()..];
            return if value.is_empty() { Word::WantsValue } else { Word::Plain(Some(value)) };
        }
    }
    Word::Plain(None)
}

/// Whether a value names something beside the device, at its start or after a `,` or `=`.
fn names_other(maker: &Maker, value: &str) -> bool {
    let starts = value.match_indices([',', '=']).map(|(at, _)| at + 1).chain([0]);
    let mut parts = starts.map(|at| value[at..].trim_start());
    parts.any(|part| {
        let is_file = maker.program == "mkfs.xfs" && part.split([',', '=']).next() == Some(FILE);
        is_file || ELSEWHERE.iter().any(|name| part.starts_with(name))
    })
}

/// Mount options that must not be there, and what may.
fn mount_faults(options: &str) -> impl Iterator<Item = (&str, &'static str)> {
    let all = options.split(',').map(str::trim);
    all.filter_map(|option| mount_fault(option).map(|expected| (option, expected)))
}

fn mount_fault(option: &str) -> Option<&'static str> {
    let key = option.split('=').next().unwrap_or_default().trim();
    if option.chars().any(char::is_control) {
        return Some("mount options on one line, separated by commas");
    }
    if key == "ro" {
        return Some("no `ro`: boatload writes to it");
    }
    if NO_MOUNT.contains(&key) {
        return Some(
            "options of a file system: boatload mounts what it made, once, on a directory",
        );
    }
    let elsewhere = DEVICES.contains(&key) || option.contains('/');
    elsewhere.then_some("nothing that names a path or another device: it has the one device alone")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::read_list;

    fn faults(text: &str) -> Vec<Fault> {
        let list = read_list(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        list.first().unwrap_or_else(|| panic!("{text} is empty")).faults()
    }

    #[track_caller]
    fn refused(kind: &str, key: &str, options: &[&str]) {
        for option in options {
            let text = format!("{kind}:{key}={option}");
            assert_eq!(faults(&text).len(), 1, "{text}: {:?}", faults(&text));
        }
    }

    #[track_caller]
    fn taken(kind: &str, key: &str, options: &[&str]) {
        for option in options {
            let text = format!("{kind}:{key}={option}");
            assert_eq!(faults(&text), [], "{text}");
        }
    }

    #[test]
    fn a_word_that_is_no_value_would_be_another_device() {
        refused("btrfs", "mkfs", &["keep.img", "-K keep.img", "-L x keep.img", "-M 5", "-", "--"]);
        refused("ext4", "mkfs", &["keep.img", "-m 0 100000", "-F 10", "-q -v 1"]);
        refused("bcachefs", "mkfs", &["keep.img", "--encrypted keep.img"]);
        refused("nilfs2", "mkfs", &["keep.img", "-c keep.img"]);
        taken("ext4", "mkfs", &["-m 0", "-qm 0", "-m0", "-L -", "-O ^has_journal -b 1024"]);
        taken("btrfs", "mkfs", &["--label x", "--csum=blake2 -d dup", "-M -n 4096"]);
        taken("bcachefs", "mkfs", &["--compression=lz4 -L x", "--fs_label x"]);
    }

    #[test]
    fn options_that_reach_beyond_the_device_are_refused_however_they_are_written() {
        refused("ext4", "mkfs", &["-zundo", "-qz", "-qzundo", "-dhome", "-lbad", "-Fl"]);
        refused("xfs", "mkfs", &["-pproto", "-cx", "-qp", "-fKc"]);
        refused("btrfs", "mkfs", &["-rhome", "-Kr", "--rootdir=x", "--root=x", "--r", "-u=x"]);
        refused("f2fs", "mkfs", &["-cx", "-fc", "-S"]);
        refused("ext4", "mkfs", &["-qEstride=4"]);
        refused("jfs", "mkfs", &["-jx", "-qj", "-JLABEL"]);
        refused("reiserfs", "mkfs", &["-jx", "--journal-d=x", "--badblocks=x", "--bad=x", "-Bx"]);
        refused("bcachefs", "mkfs", &["--source=x", "--sou=x", "--passphrase-file=x"]);
        taken("reiserfs", "mkfs", &["--journal-size 513", "-h r5 --label x", "-l x"]);
        taken("xfs", "mkfs", &["-L c", "-m reflink=0,crc=1", "-L file1"]);
        taken("f2fs", "mkfs", &["-l c -O extra_attr", "-i"]);
    }

    #[test]
    fn an_option_apart_and_its_value_are_two_faults_and_each_has_its_word() {
        let both = faults("ext4:mkfs=-z undofile");
        let keys: Vec<&str> = both.iter().map(|fault| fault.key.as_str()).collect();
        assert_eq!(keys, ["mkfs[1]", "mkfs[2]"]);
        assert!(both[0].expected.contains("beyond the device"), "{both:?}");
    }

    #[test]
    fn values_that_name_files_or_devices_are_refused_wherever_they_begin() {
        let xfs = ["-l name=keep.img", "-lname=x", "-l size=64m,name=x,file=1", "-r name=x"];
        refused("xfs", "mkfs", &xfs);
        refused("xfs", "mkfs", &["-l logdev=x", "-r rtdev=x", "-d file", "-d size=1g,file=1"]);
        refused("ext4", "mkfs", &["-J device=LABEL=x", "-J size=4,device=UUID=x", "-JLABEL=x"]);
        taken("ext4", "mkfs", &["-J size=4", "-E stride=4,packed_meta_blocks=1", "-L file"]);
        taken("xfs", "mkfs", &["-l size=64m,lazy-count=1", "-d agcount=2", "-n size=8192"]);
    }

    #[test]
    fn an_option_that_lacks_its_value_would_take_the_device_for_it() {
        refused("ext4", "mkfs", &["-L", "-m 0 -L", "-qL"]);
        refused("btrfs", "mkfs", &["--label"]);
    }

    #[test]
    fn mount_options_keep_to_the_device_and_leave_it_writable() {
        let beside = ["journal_path=x", "jdev=x", "logdev=x", "rtdev=x", "device=x", "noatime,ro"];
        refused("ext4", "mount", &beside);
        refused("xfs", "mount", &["remount", "bind", "rbind", "move", "loop", "loop=x", "a=/x"]);
        refused("tmpfs", "mount", &["mpol=/x", "size=1G, ro"]);
        taken(
            "ext4",
            "mount",
            &["data=journal,noatime", "errors=remount-ro", "rw,journal_checksum"],
        );
        let why = faults("ext4:mount=ro");
        assert!(why[0].expected.contains("boatload writes to it"), "{why:?}");
    }

    #[test]
    fn every_word_that_mkfs_always_gets_would_be_taken_from_a_user_too() {
        for kind in &crate::filesystem::KINDS {
            let Some(maker) = &kind.maker else { continue };
            let words: Vec<String> = maker.always.iter().map(ToString::to_string).collect();
            assert_eq!(word_faults(maker, &words).next(), None, "{}", kind.name);
        }
    }
}
