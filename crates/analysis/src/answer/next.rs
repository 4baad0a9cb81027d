//! Names the one command worth running next: it completes the run, makes its answer surer, or measures what to compare it with;
//! none where nothing would help.

use super::needed::{REPEATS_MOST, RepeatsNeeded};
use super::reliability::Trust;
use super::{Reliability, Verdict};
use crate::readings::answer_draft::{AnswerDraft, Lack};
use boatload_base::dates::seconds_of;
use boatload_base::shell;
use boatload_base::units::span;
use boatload_plan::repetition::REPEATS_MAX;
use boatload_results::book::{Book, Measurement, Stopping};

/// A time limit leaves room for so many times the repeats that are forecast.
const LIMIT_ROOM: f64 = 1.5;

/// Repeats that most questions need.
const REPEATS_USUAL: u32 = 10;

/// The option that has a run on a disk whose own speed does not change.
const MODELLED_DISK: [&str; 2] = ["--disk", "hdd-7200"];

/// The option that has a file system with a journal made for a run.
const EXT4: [&str; 2] = ["--filesystem", "ext4"];

/// Options that a modelled disk takes the place of, with one value and without.
const VALUES_OF_PLACE: [&str; 2] = ["--device", "--erase"];
const WORD_OF_PLACE: &str = "--in-memory";

/// Options of a run that are not taken over with one value, and the one without: where results go, and
/// what the advice sets.
const VALUES_LEFT_OUT: [&str; 6] =
    ["--json", "--report", "--store", "--tag", "--repeats", "--time-limit"];
const WORD_LEFT_OUT: &str = "--quiet";

/// A command, and what it is for.
struct NextStep {
    command: String,
    why: &'static str,
    /// Its repeats over those of this run; none where its time is not known from this one.
    share: Option<f64>,
}

/// One line: the command, and behind `#` what it is for and how long it takes. None where nothing would help: it is proven and
/// reliable, or repeats will not decide it.
pub(super) fn next(
    book: &Book,
    draft: &AnswerDraft,
    trust: &Trust,
    needed: RepeatsNeeded,
) -> Option<String> {
    let NextStep { command, why, share } = step(book, draft, trust, needed)?;
    let seconds = share.zip(run_seconds(book)).map(|(share, seconds)| share * seconds);
    let time = seconds.map(|seconds| format!(" ({})", span(seconds))).unwrap_or_default();
    Some(format!("{command}   # {why}{time}"))
}

/// How long the run took; none where it was resumed.
fn run_seconds(book: &Book) -> Option<f64> {
    let ended = seconds_of(book.run.finished.as_ref()?)?;
    let seconds = ended - seconds_of(&book.run.started)?;
    Some(seconds).filter(|seconds| *seconds >= 1.0 && book.run.resumed.is_empty())
}

fn step(
    book: &Book,
    draft: &AnswerDraft,
    trust: &Trust,
    needed: RepeatsNeeded,
) -> Option<NextStep> {
    let step = |command: Option<String>, why, share: Option<f64>| {
        command.map(|command| NextStep { command, why, share })
    };
    if !book.run.complete {
        return match book.run.hosts.is_empty() {
            true => step(Some(book.run.resume_command()), "completes it", None),
            false => step(again(book, &[]), "measures all of it", None),
        };
    }
    // More of what failed would fail, and what was traced is no job.
    if book.run.traced.is_some() || !book.measurements.iter().any(Measurement::valid) {
        return None;
    }
    let is_root = book.host.rights.root;
    // No file system or disk changes what was simulated.
    let is_real = !book.measurements.iter().any(Measurement::is_simulated);
    let is_alone = book.run.hosts.is_empty() && is_real;
    let journal = is_alone && trust.has_no_journal && draft.verdict == Verdict::CannotTell;
    let (can_make, has_made) = (is_alone && is_root, !book.filesystems.is_empty());
    let is_baseline = draft.lacks == Lack::Nothing && other_baseline(book).is_some();
    let wants_root = trust.wants_root || journal || is_baseline && book.run.scenario == FILE;
    let sudo = is_alone && !is_root && wants_root;
    // Some may be invalid.
    let done = book.measurements.iter().map(|m| m.cell.repeat).max().unwrap_or(0);
    let so_many = |repeats: u32, why| {
        let share = f64::from(repeats) / f64::from(done.max(1));
        step(again(book, &[["--repeats", &repeats.to_string()]]), why, Some(share))
    };
    let more_repeats = |why| {
        let advised = done.saturating_mul(2).clamp(REPEATS_USUAL, REPEATS_MOST);
        // What was done with as many is not done again.
        if advised > done { so_many(advised, why) } else { None }
    };
    let mut next = match draft.lacks {
        Lack::Variants if !is_real => None,
        Lack::Variants => others(book, is_alone && (is_root || journal)),
        Lack::Measurements => None,
        Lack::Design if !trust.is_disturbed => None,
        _ if journal => step(again(book, &[EXT4]), "with a journal repeats differ less", Some(1.0)),
        Lack::Repeats => more_repeats("repeats give it an interval"),
        _ if trust.repeats < 2 => more_repeats("repeats give it an interval"),
        _ if trust.is_disturbed => more_repeats("best while nothing else runs"),
        Lack::SteadyDevice if can_make => on_model(book),
        Lack::SteadyDevice | Lack::Design => more_repeats("more repeats"),
        Lack::Precision => match needed {
            RepeatsNeeded::Few(repeats) => {
                let repeats = repeats.max(done.saturating_add(1));
                let limit = minutes_of(book, repeats).filter(|_| ended_by_limit(book, done));
                limit.map_or_else(
                    || so_many(repeats, "would decide it"),
                    |minutes| longer(book, minutes, f64::from(repeats) / f64::from(done.max(1))),
                )
            }
            RepeatsNeeded::TooMany if can_make && is_on_disk(book) => on_model(book),
            RepeatsNeeded::TooMany => None,
            RepeatsNeeded::Unknown => more_repeats("more repeats"),
        },
        Lack::Nothing if is_alone && is_baseline => other_baseline(book),
        Lack::Nothing if trust.reliability == Reliability::High => None,
        Lack::Nothing if trust.has_levels_in_order && can_make && !has_made => {
            step(again(book, &[EXT4]), "levels in random order", Some(1.0))
        }
        // A device is as large as it is.
        Lack::Nothing if trust.is_small && is_real && !book.is_on_device() => {
            step(again(book, &[["--size", "10GiB"]]), "a small file system may decide", None)
        }
        Lack::Nothing if sudo => step(again(book, &[]), "root proves caches cold", Some(1.0)),
        // What is proven, and disturbed by little, stays so.
        Lack::Nothing => None,
    }?;
    if sudo {
        next.command = format!("sudo {}", next.command);
    }
    Some(next)
}

/// The same with a longer time limit, in minutes, for so many times the repeats.
fn longer(book: &Book, minutes: u64, share: f64) -> Option<NextStep> {
    let command = again(book, &[["--time-limit", &format!("{minutes}m")]])?;
    Some(NextStep { command, why: "long enough to decide it", share: Some(share) })
}

/// Whether the run looked at its answer and ended undecided, since another repeat would have ended after its limit.
fn ended_by_limit(book: &Book, done: u32) -> bool {
    matches!(book.run.stopping, Stopping::Looks { decided: false, .. }) && done < REPEATS_MAX
}

/// A time limit that leaves room for so many repeats and for some more, in minutes.
fn minutes_of(book: &Book, repeats: u32) -> Option<u64> {
    let seconds = run_seconds(book)? / f64::from(book.run.repeats.max(1));
    Some((LIMIT_ROOM * seconds * f64::from(repeats) / 60.0).ceil() as u64)
}

/// The same on a modelled disk, on a file system that is made there.
fn on_model(book: &Book) -> Option<NextStep> {
    let command = match book.filesystems.is_empty() {
        true => again(book, &[EXT4, MODELLED_DISK]),
        false => again(book, &[MODELLED_DISK]),
    };
    let why = "on a disk whose own speed does not change";
    command.map(|command| NextStep { command, why, share: None })
}

/// Whether a real disk, whose noise a modelled one has not, was measured.
fn is_on_disk(book: &Book) -> bool {
    let is_modelled = book.measurements.iter().any(|m| book.is_on_model(m));
    book.host.device.is_some() && !is_modelled
}

/// The scenarios that measure one large file, and the device below it.
const FILE: &str = "sequential";
const DEVICE: &str = "device";

/// What a rate of the device, or of a large file on it, is to be compared with: the other one in the same directory.
fn other_baseline(book: &Book) -> Option<NextStep> {
    let (scenario, why) = match book.run.scenario.as_str() {
        DEVICE => (FILE, "the same through the file system, which also reads ahead"),
        FILE if book.filesystems.is_empty() => {
            (DEVICE, "the same without the file system and its read-ahead")
        }
        _ => return None,
    };
    let words = shell::words(&book.run.command)?;
    let at = words.iter().position(|word| word == "--dir");
    let dir =
        at.and_then(|at| words.get(at + 1)).map(|dir| format!(" --dir {}", shell::quoted(dir)));
    let command = format!("boatload run {scenario}{}", dir.unwrap_or_default());
    Some(NextStep { command, why, share: None })
}

/// The same scenario on several file systems; where none can be made, in another directory.
fn others(book: &Book, can_make: bool) -> Option<NextStep> {
    let (set, why, share) = match can_make {
        true => (["--filesystem", "ext4,xfs,btrfs"], "which file system is best here", Some(3.0)),
        false => (["--dir", "/another/file-system"], "the same elsewhere", Some(1.0)),
    };
    again(book, &[set]).map(|command| NextStep { command, why, share })
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
        } else if name != WORD_LEFT_OUT && !(has_new_place && name == WORD_OF_PLACE) {
            kept.push(shell::quoted(word));
        }
    }
    kept.extend(set.iter().flatten().map(|word| shell::quoted(word)));
    Some(kept.join(" "))
}
