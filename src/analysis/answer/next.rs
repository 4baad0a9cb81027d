//! Names the one command that would make an answer surer, or complete it.

use super::draft::{AnswerDraft, Lack};
use super::needed::{REPEATS_MOST, RepeatsNeeded};
use super::reliability::Trust;
use super::{Reliability, Verdict};
use crate::base::shell;
use crate::plan::Conclusion;
use crate::results::book::{Book, Measurement};

/// Repeats that most questions need.
const REPEATS_USUAL: u32 = 10;

/// The option that has a run on a disk whose own speed does not change.
const MODELLED_DISK: [&str; 2] = ["--disk", "hdd-7200"];

/// Options that it takes the place of, with one value and without.
const VALUES_OF_PLACE: [&str; 2] = ["--device", "--erase"];
const WORD_OF_PLACE: &str = "--in-memory";

/// Options of a run that are not taken over with one value, and those without: where results go, and
/// what the advice sets.
const VALUES_LEFT_OUT: [&str; 6] =
    ["--json", "--report", "--store", "--tag", "--repeats", "--time-limit"];
const WORDS_LEFT_OUT: [&str; 2] = ["--live", "--quiet"];

/// None where nothing would: it is proven and reliable, or repeats will not tell.
pub(super) fn next(
    book: &Book,
    draft: &AnswerDraft,
    trust: &Trust,
    needed: RepeatsNeeded,
) -> Option<String> {
    if !book.run.complete {
        return match book.run.hosts.is_empty() {
            true => Some(book.run.resume_command()),
            false => again(book, &[]),
        };
    }
    // More of what failed would fail, and what was traced is no job.
    if book.run.traced.is_some() || !book.measurements.iter().any(Measurement::valid) {
        return None;
    }
    let is_root = book.host.rights.root;
    let is_alone = book.run.hosts.is_empty();
    let journal = is_alone && trust.has_no_journal && draft.verdict == Verdict::CannotTell;
    let (can_make, has_made) = (is_alone && is_root, !book.filesystems.is_empty());
    let sudo = is_alone && !is_root && (trust.wants_root || journal);
    let so_many = |repeats: u32| again(book, &[["--repeats", &repeats.to_string()]]);
    // Some may be invalid.
    let done = book.measurements.iter().map(|m| m.cell.repeat).max().unwrap_or(0);
    let more_repeats = || {
        let advised = done.saturating_mul(2).clamp(REPEATS_USUAL, REPEATS_MOST);
        // What was done with as many is not done again.
        if advised > done { so_many(advised) } else { None }
    };
    let command = match draft.lacks {
        Lack::Variants => others(book, is_alone && (is_root || journal)),
        // Neither repeats nor a journal make a phase end before its limit.
        Lack::CountedLevels => None,
        Lack::Design if !trust.is_disturbed => None,
        _ if journal => again(book, &[["--filesystem", "ext4"]]),
        Lack::Repeats => more_repeats(),
        _ if trust.repeats < 2 || trust.is_disturbed => more_repeats(),
        Lack::Precision if is_disk_to_model(book) => {
            again(book, &[["--filesystem", "ext4"], MODELLED_DISK])
        }
        Lack::SteadyDevice if can_make && has_made => again(book, &[MODELLED_DISK]),
        Lack::SteadyDevice if can_make => again(book, &[["--filesystem", "ext4"], MODELLED_DISK]),
        Lack::SteadyDevice | Lack::Design => more_repeats(),
        Lack::Precision => match needed {
            RepeatsNeeded::Few(repeats) => so_many(repeats.max(done.saturating_add(1))),
            RepeatsNeeded::TooMany => None,
            RepeatsNeeded::Unknown => more_repeats(),
        },
        Lack::Nothing if trust.reliability == Reliability::High => None,
        Lack::Nothing if trust.has_levels_in_order && can_make && !has_made => {
            again(book, &[["--filesystem", "ext4"]])
        }
        // A device is as large as it is.
        Lack::Nothing if trust.is_small && !book.is_on_device() => {
            again(book, &[["--size", "10GiB"]])
        }
        Lack::Nothing if sudo => again(book, &[]),
        Lack::Nothing if done < REPEATS_USUAL && !book.run.stopping.is_decided() => more_repeats(),
        Lack::Nothing => None,
    }?;
    Some(if sudo { format!("sudo {command}") } else { command })
}

/// Whether the noise of a disk, which a modelled one has not, may be what hides an effect: large
/// files are written and read on a real one, and this process may make file systems.
fn is_disk_to_model(book: &Book) -> bool {
    let is_alone = book.run.hosts.is_empty();
    let is_real = !book.measurements.iter().any(Measurement::is_simulated);
    let on_disk = is_alone && is_real && book.filesystems.is_empty() && book.host.device.is_some();
    book.host.rights.root && on_disk && book.run.conclude.first() == Some(&Conclusion::Levels)
}

/// The same scenario on several file systems; where none can be made, in another directory.
fn others(book: &Book, can_make: bool) -> Option<String> {
    match can_make {
        true => again(book, &[["--filesystem", "ext4,xfs,btrfs"]]),
        false => again(book, &[["--dir", "/another/file-system"]]),
    }
}

/// The command that made the run, with options of it set anew; none if it does not run a scenario.
fn again(book: &Book, set: &[[&str; 2]]) -> Option<String> {
    let words = shell::words(&book.run.command)?;
    let at = words.iter().position(|word| word == "run")?;
    let mut kept = match book.run.hosts.len() {
        0 => vec!["boatload".to_string()],
        ranks => ["mpirun", "-n", &ranks.to_string(), "boatload-mpi"].map(String::from).to_vec(),
    };
    kept.push("run".into());
    let has_new_place = set.contains(&MODELLED_DISK);
    let mut rest = words[at + 1..].iter();
    while let Some(word) = rest.next() {
        let (name, has_value) =
            word.split_once('=').map_or((&word[..], false), |one| (one.0, true));
        let is_set = set.iter().any(|[set, _]| *set == name);
        let is_of_old_place = has_new_place && VALUES_OF_PLACE.contains(&name);
        if is_set || is_of_old_place || VALUES_LEFT_OUT.contains(&name) {
            if !has_value {
                rest.next();
            }
        } else if !(WORDS_LEFT_OUT.contains(&name) || has_new_place && name == WORD_OF_PLACE) {
            kept.push(shell::quoted(word));
        }
    }
    kept.extend(set.iter().flatten().map(|word| shell::quoted(word)));
    Some(kept.join(" "))
}
