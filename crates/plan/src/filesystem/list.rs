//! Parses file systems as the command line names them: `ext4:disk=hdd-7200,xfs:mount=noatime`.

use std::path::Path;

use super::{FileSystem, FileSystemKind, KINDS, disk_named, find_kind};
use boatload_base::problem::nearest;
use boatload_base::shell::words;

/// Options of a file system in a list.
const OPTIONS: [&str; 4] = ["mkfs", "mount", "disk", "name"];

/// Reads a list of `TYPE[:mkfs=WORDS][:mount=OPTIONS][:disk=MODEL|FILE][:name=NAME]`, separated by commas.
/// A comma inside options belongs to them, unless a known type begins after it. Paths begin in the
/// working directory.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn read_list(text: &str) -> Result<Vec<FileSystem>, String> {
    if text.trim().is_empty() {
        return Err(format!("an empty list; name some of {}", known()));
    }
    entries(text).into_iter().map(|entry| read_entry(entry.trim())).collect()
}

/// The parts of a list: cut at the commas that a known type follows, and at all commas where no
/// options are that they could belong to.
fn entries(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices(',') {
        let has_options = text[begin..at].contains(':');
        if !has_options || begins_with_kind(&text[at + 1..]) {
            entries.push(&text[begin..at]);
            begin = at + 1;
        }
    }
    entries.push(&text[begin..]);
    entries
}

fn begins_with_kind(rest: &str) -> bool {
    let end = rest.find([':', ',']).unwrap_or(rest.len());
    find_kind(rest[..end].trim()).is_some()
}

fn read_entry(entry: &str) -> Result<FileSystem, String> {
    let (kind, rest) = match entry.split_once(':') {
        Some((kind, rest)) => (kind, Some(rest)),
        None => (entry, None),
    };
    let mut made = FileSystem::plain(kind_named(kind.trim())?);
    let Some(rest) = rest else { return Ok(made) };
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in options(rest) {
        if seen.contains(&key) {
            return Err(format!("`{entry}` has `{key}=` twice; give it once"));
        }
        seen.push(key);
        match key {
            "mkfs" => {
                let broken = || format!("a quote without its end in `mkfs={value}`");
                made.mkfs = words(value).ok_or_else(broken)?;
            }
            "mount" => made.mount = value.to_string(),
            "disk" => {
                let disk = disk_named(value, Path::new(""));
                made.disk =
                    Some(disk.map_err(|problem| format!("`{key}=`: {}", problem.sentence()))?);
            }
            "name" if value.is_empty() => return Err(format!("`{entry}` has an empty `name=`")),
            "name" => made.name = Some(value.to_string()),
            _ => return Err(unknown_option(entry, key)),
        }
    }
    Ok(made)
}

/// The options of a file system: a colon ends one only if the word after it has a `=`, as those
/// within values (`utf8:strict`) have not.
fn options(text: &str) -> Vec<(&str, &str)> {
    let mut begins = vec![0];
    begins.extend(
        text.match_indices(':').map(|(at, _)| at + 1).filter(|at| key(&text[*at..]).is_some()),
    );
    let ends = begins.iter().skip(1).map(|begin| begin - 1).chain([text.len()]);
    let option = |(begin, end): (&usize, usize)| {
        let part = &text[*begin..end];
        let key = key(part).unwrap_or(part);
        (key, part.get(key.len() + 1..).unwrap_or_default().trim())
    };
    begins.iter().zip(ends).map(option).collect()
}

/// The word before the `=` that a text begins with.
fn key(text: &str) -> Option<&str> {
    let (key, _) = text.split_once('=')?;
    (!key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic())).then_some(key)
}

fn kind_named(name: &str) -> Result<&'static FileSystemKind, String> {
    if let Some(kind) = find_kind(name) {
        return Ok(kind);
    }
    let what = match name {
        "" => "a place in the list is empty".to_string(),
        _ => format!("boatload cannot make `{name}`"),
    };
    let hint = nearest(name, KINDS.iter().map(|kind| kind.name));
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("{what}: it makes {}{hint}", known()))
}

fn unknown_option(entry: &str, key: &str) -> String {
    let hint =
        nearest(key, OPTIONS).map_or_else(String::new, |near| format!("; did you mean `{near}=`?"));
    format!("`{key}` in `{entry}` is none of `mkfs=`, `mount=`, `disk=`, `name=`{hint}")
}

fn known() -> String {
    KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<FileSystem> {
        read_list(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn labels(text: &str) -> Vec<String> {
        read(text).iter().map(FileSystem::label).collect()
    }

    #[test]
    fn types_are_separated_by_commas() {
        assert_eq!(labels("ext4"), ["ext4"]);
        assert_eq!(labels("ext4, xfs,btrfs"), ["ext4", "xfs", "btrfs"]);
    }

    #[test]
    fn a_comma_inside_options_belongs_to_them() {
        let list = read("ext3:mkfs=-O ^dir_index,^resize_inode,ext3,xfs:mount=noatime,nodiratime");
        assert_eq!(list.len(), 3, "{list:?}");
        assert_eq!(list[0].mkfs, ["-O", "^dir_index,^resize_inode"]);
        assert_eq!(list[1], FileSystem::plain(list[0].kind));
        assert_eq!(list[2].mount, "noatime,nodiratime");
    }

    #[test]
    fn options_come_in_any_order_and_colons_may_stand_in_them() {
        let list = read("f2fs:mount=noatime:name=folded:mkfs=-C utf8:strict -O casefold");
        assert_eq!(list[0].mkfs, ["-C", "utf8:strict", "-O", "casefold"]);
        assert_eq!((list[0].mount.as_str(), list[0].label().as_str()), ("noatime", "folded"));
    }

    #[test]
    fn a_disk_is_one_of_the_options_and_stands_in_the_label_only_beside_another() {
        let list = read("ext4:disk=hdd-7200:mount=noatime,ext4:disk=nvme:name=fast");
        let disks: Vec<_> = list.iter().filter_map(|one| one.disk.as_ref()).collect();
        assert_eq!(
            disks.iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(),
            ["hdd-7200", "nvme"]
        );
        assert_eq!((list[0].label(), list[1].label()), ("ext4 noatime".into(), "fast".into()));
        assert_eq!(list[0].label_with_disk(), "ext4 noatime hdd-7200");
        assert_eq!(list[1].label_with_disk(), "fast");
        let error = read_list("ext4:disk=hdd-7000").unwrap_err();
        assert!(error.contains("did you mean `hdd-7200`?"), "{error}");
    }

    #[test]
    fn blanks_in_quotes_do_not_end_a_word() {
        assert_eq!(read("ext4:mkfs=-L 'two words'")[0].mkfs, ["-L", "two words"]);
        assert!(read_list("ext4:mkfs=-L 'two").is_err_and(|error| error.contains("quote")));
    }

    #[test]
    fn a_type_that_is_not_known_is_told_with_those_that_are_and_the_nearest() {
        for text in ["ext5", "xfs,ext5", "ext5:mkfs=-q", "ext4,ext5,xfs"] {
            let error = read_list(text).err().unwrap_or_default();
            assert!(error.contains("`ext5`") && error.contains("ext2, ext3"), "{text}: {error}");
            assert!(error.contains("did you mean `ext"), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_not_written_as_it_should_be_is_refused() {
        for (text, part) in [
            ("", "empty list"),
            ("  ", "empty list"),
            ("ext4,,xfs", "place in the list is empty"),
            ("ext4,", "place in the list is empty"),
            ("ext4:", "none of `mkfs=`"),
            ("ext4:noatime", "none of `mkfs=`"),
            ("ext4:mount=noatime:mout=x", "did you mean `mount=`?"),
            ("ext4:mkfs=-q:mkfs=-v", "twice"),
            ("ext4:name=", "empty `name=`"),
        ] {
            let error = read_list(text).err().unwrap_or_default();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
