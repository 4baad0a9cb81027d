//! Recognises what a block device holds by its signatures, as wipefs(8) and blkid(8) do.

use std::path::Path;
use std::process::Output;

use boatload_base::failure::{Failure, Result, shown};

use super::programs::{command, find_program, output};

/// Words of blkid for a partition table.
const TABLES: [&str; 9] =
    ["dos", "gpt", "PMBR", "bsd", "mac", "sun", "sgi", "atari", "solaris-x86"];

/// What of a mark's name is spoken with a vowel first.
const SPOKEN_WITH_A_VOWEL: [&str; 10] =
    ["a", "e", "i", "o", "f2", "hfs", "ntfs", "nss", "x", "mpool"];

/// The marks on a device: `ext4`, `gpt`, `LVM2_member`; each once.
///
/// # Errors
/// If neither program is there, or none can read the device.
pub fn signatures(device: &Path) -> Result<Vec<String>> {
    let by_wipefs = asked("wipefs", &["--parsable"], device, |done| {
        done.status.success().then(|| of_wipefs(&done.stdout))
    });
    // It ends with 2 if it finds nothing, and with 8 if it finds several.
    let by_blkid = asked("blkid", &["--probe", "--output", "export"], device, |done| {
        match done.status.code() {
            Some(0) => Some(of_blkid(&done.stdout)),
            Some(2) => Some(Vec::new()),
            Some(8) => Some(vec!["several".to_string()]),
            _ => None,
        }
    });
    let mut found = match (by_wipefs, by_blkid) {
        (None, None) => return Err(no_program(device)),
        // One that fails, as the programs of busybox do, takes nothing from what the other says.
        (Some(Ok(by_wipefs)), Some(Ok(by_blkid))) if by_wipefs.is_empty() => by_blkid,
        (Some(Ok(found)), _) | (_, Some(Ok(found))) => found,
        (Some(Err(failure)), _) | (None, Some(Err(failure))) => return Err(failure),
    };
    found.sort();
    found.dedup();
    Ok(found)
}

/// What a program says; `None` if it is not there.
fn asked(
    name: &str,
    arguments: &[&str],
    device: &Path,
    read: impl Fn(&Output) -> Option<Vec<String>>,
) -> Option<Result<Vec<String>>> {
    let program = find_program(name)?;
    let mut command = command(&program);
    command.args(arguments).arg(device);
    let doing = format!("tell with {name} what lies on {}", shown(device));
    Some(match output(&mut command) {
        Err(error) => Err(Failure::from_system(doing, error)),
        Ok(done) => read(&done).ok_or_else(|| {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.lines().next().unwrap_or("it failed").trim();
            Failure::from_system(doing, shown(said))
        }),
    })
}

/// `0x438,uuid,label,ext4`; its fields have no commas.
pub(super) fn of_wipefs(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter(|line| line.starts_with("0x"));
    lines.filter_map(|line| line.rsplit(',').next()).map(shown).collect()
}

pub(super) fn of_blkid(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let value = |line| ["TYPE=", "PTTYPE="].iter().find_map(|key| str::strip_prefix(line, key));
    text.lines().filter_map(value).map(shown).collect()
}

fn no_program(device: &Path) -> Failure {
    Failure::failed(format!(
        "cannot tell whether anything lies on {}: neither wipefs nor blkid is installed. They are \
         in the package util-linux",
        shown(device)
    ))
}

/// Marks in words: `an ext4 file system and a partition table (gpt)`.
pub(super) fn described(marks: &[String]) -> String {
    let each: Vec<_> = marks.iter().map(|mark| description(mark)).collect();
    each.join(" and ")
}

fn description(mark: &str) -> String {
    let a =
        if SPOKEN_WITH_A_VOWEL.iter().any(|start| mark.starts_with(start)) { "an" } else { "a" };
    match mark {
        "several" => "several things at once".into(),
        "swap" | "swsuspend" => "swap space".into(),
        "crypto_LUKS" => "an encrypted volume (LUKS)".into(),
        table if TABLES.contains(&table) => format!("a partition table ({table})"),
        part if part.ends_with("_member") => format!("a part of something larger ({part})"),
        _ => format!("{a} {mark} file system"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_field_of_wipefs_is_the_mark() {
        let text = b"# offset,uuid,label,type\n0x1fe,,,dos\n0x438,1234,a\\x2cb,ext4\n";
        assert_eq!(of_wipefs(text), ["dos", "ext4"]);
        assert_eq!(of_wipefs(b"# offset,uuid,label,type\n"), [""; 0]);
    }

    #[test]
    fn blkid_names_a_type_or_a_table_and_other_lines_are_no_mark() {
        let text = b"DEVNAME=/dev/x\nUUID=1\nTYPE=xfs\nUSAGE=filesystem\nPTTYPE=gpt\n";
        assert_eq!(of_blkid(text), ["xfs", "gpt"]);
        assert_eq!(of_blkid(b"PART_ENTRY_SCHEME=gpt\nPART_ENTRY_TYPE=83\n"), [""; 0]);
    }

    #[test]
    fn marks_are_told_in_words() {
        let told =
            |marks: &[&str]| described(&marks.iter().map(|m| (*m).into()).collect::<Vec<_>>());
        assert_eq!(told(&["ext4", "gpt"]), "an ext4 file system and a partition table (gpt)");
        assert_eq!(told(&["xfs"]), "an xfs file system");
        assert_eq!(told(&["btrfs"]), "a btrfs file system");
        assert_eq!(told(&["LVM2_member"]), "a part of something larger (LVM2_member)");
        assert_eq!(told(&["swap"]), "swap space");
    }
}
