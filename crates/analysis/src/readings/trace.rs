//! Where the time of a traced program went: the share that it spent in file calls, and each operation's part of that.

use super::answer_draft::{AnswerDraft, Lack};
use super::reading::{ChartFamily, Picture, Reading, RunView};
use super::table::{AnswerCell, AnswerNote, AnswerRow, AnswerTable};
use crate::findings::say::{self, listed};
use crate::statement::{Part, Sentence, Statement, parts};
use boatload_base::units::{counted, figures, grouped, span, time_step};
use boatload_results::book::{Book, Measurement, TraceFacts, TracedDirectory};

/// With a smaller share of its time in file calls a program gets hardly faster, whatever a file system does.
const SMALL_SHARE: f64 = 0.1;
/// A larger share is nearly all.
const LARGE_SHARE: f64 = 0.915;
/// An operation with this share and number of failed calls is named with them.
const FAILED_SHARE_MIN: f64 = 0.1;
const FAILED_MIN: u64 = 10;
/// Operations that are named so.
const FAILED_NAMED_MAX: usize = 3;
/// A directory has a row from this share of the time on.
const DIRECTORY_SHARE_MIN: f64 = 0.001;
/// Calls of several threads at once, or what tracing takes, are named from this share of the time on.
const NAMED_SHARE_MIN: f64 = 0.01;
/// From this share on, tracing changes the share in calls enough to say so.
const TRACING_SHARE_MAX: f64 = 0.05;

/// What a slash at the end of a path says.
const WITH_BELOW: &str = "with / at its end: with the directories below it";

/// The reading.
#[derive(Debug)]
pub(super) struct FileTime;

impl Reading for FileTime {
    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let traced = TracedTime::of(run.book)?;
        Some(AnswerDraft::measured(Statement::new(traced.sentence()), Lack::Nothing))
    }

    /// A row for each operation, the one with most time first.
    fn table(&self, run: &RunView<'_>) -> Option<AnswerTable> {
        let traced = TracedTime::of(run.book)?;
        let all = traced.by_time();
        let mut table = AnswerTable { corner: "operation".into(), ..AnswerTable::default() };
        let row = |m: &&Measurement| AnswerRow {
            name: m.phase.clone(),
            about: parts![Part::Phase(m.phase.clone())],
        };
        table.rows = all.iter().map(row).collect();
        let cells = |cell: &dyn Fn(&Measurement) -> AnswerCell| {
            all.iter().map(|m| cell(m)).collect::<Vec<_>>()
        };
        let time = |ns: u64| AnswerCell::Name(short_time(ns as f64));
        table.add("calls", cells(&|m| AnswerCell::Name(grouped(calls(m)))));
        table.add("in calls", cells(&|m| AnswerCell::Name(short_time(seconds(m) * 1e9))));
        table.add("of all", cells(&|m| AnswerCell::Name(share_text(traced.share(seconds(m))))));
        for (head, of) in [("p50", 0), ("p99", 1), ("max", 2)] {
            let tail = |m: &Measurement| m.latency.map(|l| [l.p50, l.p99, l.max][of]);
            table.add(head, cells(&|m| tail(m).map_or(AnswerCell::Missing, time)));
        }
        table.add("mostly in", cells(&|m| traced.place(m)));
        table.notes.extend(traced.failures().map(AnswerNote::new));
        if traced.facts.directories.iter().any(|one| one.with_below) {
            table.notes.push(AnswerNote::new(WITH_BELOW));
        }
        Some(table)
    }

    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        Some(Picture::new(ChartFamily::Percentiles))
    }
}

/// What was traced, beside its calls.
struct TracedTime<'a> {
    book: &'a Book,
    facts: &'a TraceFacts,
}

/// All calls of an operation, failed ones too.
fn calls(m: &Measurement) -> u64 {
    failed(m).saturating_add(m.operations)
}

fn failed(m: &Measurement) -> u64 {
    m.errors.values().fold(0, |sum, count| sum.saturating_add(*count))
}

fn seconds(m: &Measurement) -> f64 {
    m.seconds.unwrap_or_default()
}

/// Two figures, or all those before the point: `14 us`, `2.1 ms`, `125 ms`.
fn short_time(ns: f64) -> String {
    let (word, size) = time_step(ns);
    let value = ns / size;
    let wanted = if value < 99.5 { 2 } else { 3 };
    format!("{} {word}", figures(value, wanted))
}

/// `1.03 s`, `12 min`
fn long_time(seconds: f64) -> String {
    match seconds {
        ..100.0 => {
            let (word, size) = time_step((seconds * 1e9).max(1.0));
            format!("{} {word}", figures(seconds * 1e9 / size, 3))
        }
        _ => span(seconds),
    }
}

/// A part of a time, in seconds too where that has two decimals: `0.35 s` beside `1.03 s`.
fn time_beside(part: f64, all: f64) -> String {
    match (0.9995..100.0).contains(&all) && (0.0995..1.0).contains(&part) {
        true => format!("{} s", figures(part, 2)),
        false => long_time(part),
    }
}

/// `34%`, `0.4%`
fn share_text(share: f64) -> String {
    match share {
        s if s > 0.0 && s < 0.0005 => "<0.1%".into(),
        s => say::percent(s),
    }
}

impl<'a> TracedTime<'a> {
    /// Of a trace; `None` of another run, and of one whose time is not known.
    fn of(book: &'a Book) -> Option<Self> {
        let facts = book.run.traced.as_ref()?;
        let is_known = facts.seconds > 0.0 && facts.in_calls_seconds.is_finite();
        (is_known && !book.measurements.is_empty()).then_some(Self { book, facts })
    }

    /// A time as a share of all.
    fn share(&self, seconds: f64) -> f64 {
        seconds / self.facts.seconds
    }

    /// What tracing took, in seconds: all threads together.
    fn tracing_seconds(&self) -> f64 {
        self.book.run.overhead_ns.unwrap_or_default() * self.calls() as f64 / 1e9
    }

    /// The most that the share in calls can be without a tracer: all that it takes was outside of the calls.
    fn share_untraced(&self) -> f64 {
        let TraceFacts { seconds, in_calls_seconds: inside, .. } = *self.facts;
        inside / (seconds - self.tracing_seconds()).max(inside).max(f64::MIN_POSITIVE)
    }

    fn by_time(&self) -> Vec<&'a Measurement> {
        let mut all: Vec<&Measurement> = self.book.measurements.iter().collect();
        all.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
        all
    }

    fn calls(&self) -> u64 {
        self.book.measurements.iter().fold(0, |sum, m| sum.saturating_add(calls(m)))
    }

    /// `git clone took 1.03 s: 0.35 s of it (34%) in 12,400 file calls, so a faster file system saves at most 35%`
    fn sentence(&self) -> Sentence {
        let TraceFacts { seconds, in_calls_seconds, is_whole, target, path, .. } = self.facts;
        let share = self.share(*in_calls_seconds);
        let all = Part::Figure(long_time(*seconds));
        let inside = Part::Figure(time_beside(*in_calls_seconds, *seconds));
        let share_of = parts![" (", Part::Figure(share_text(share)), ")"];
        let below = path.as_ref().map(|path| format!(" below {path}"));
        let operations: Vec<String> =
            self.facts.operations.iter().map(ToString::to_string).collect();
        let what = match operations.as_slice() {
            [] => "file call".to_string(),
            some => format!("{} call", crate::statement::text_of(&alternatives_of(some))),
        };
        let what = parts![Part::Count(counted(self.calls(), &what)), below];
        let so = (operations.is_empty() && path.is_none())
            .then(|| saving(self.share_untraced(), *is_whole));
        match is_whole {
            true => {
                let name = self.book.variants.first().cloned().unwrap_or_default();
                let lead = parts![Part::Variant(name), " took ", all, ": ", inside, " of it"];
                Sentence::new(parts![lead, share_of, " in ", what, so])
            }
            false => {
                let lead = parts!["in ", all, ", ", target.clone(), " spent ", inside, share_of];
                Sentence::new(parts![lead, " in ", what, so])
            }
        }
    }

    /// The directory in which most of an operation's time went, with its share of that.
    fn place(&self, m: &Measurement) -> AnswerCell {
        let own = |one: &&TracedDirectory| one.operation.as_str() == m.phase;
        let Some(most) = self.facts.directories.iter().find(own) else {
            return AnswerCell::Missing;
        };
        let share = most.total_ns as f64 / 1e9 / seconds(m).max(f64::MIN_POSITIVE);
        AnswerCell::Place { path: self.short_path(most), about: share_text(share.min(1.0)) }
    }

    /// A path as it is named from the directory of the trace; with a slash at its end where those below it count too.
    fn short_path(&self, one: &TracedDirectory) -> String {
        let from = self.facts.path.as_deref().unwrap_or(&self.facts.directory);
        let short = match one.path.strip_prefix(from) {
            Some("") => ".",
            Some(rest) if from.len() > 1 => rest.strip_prefix('/').unwrap_or(&one.path),
            _ => &one.path,
        };
        format!("{short}{}", if one.with_below { "/" } else { "" })
    }

    /// `3,200 calls of stat failed, and 410 of open`
    fn failures(&self) -> Option<String> {
        let mut all: Vec<&Measurement> = self.book.measurements.iter().collect();
        all.retain(|m| {
            failed(m) >= FAILED_MIN && failed(m) as f64 >= FAILED_SHARE_MIN * calls(m) as f64
        });
        all.sort_by_key(|m| std::cmp::Reverse(failed(m)));
        let text = |m: &&Measurement| format!("{} of {}", grouped(failed(m)), m.phase);
        let named: Vec<String> = all.iter().take(FAILED_NAMED_MAX).map(text).collect();
        (!named.is_empty()).then(|| format!("failed: {}", listed(&named)))
    }

    /// What else is to be known, in sentences.
    fn remarks(&self) -> Vec<String> {
        let TraceFacts { seconds, in_calls_seconds, disk, lost, io_uring_calls, .. } = self.facts;
        let mut all = Vec::new();
        let together: f64 = self.book.measurements.iter().map(self::seconds).sum();
        let over = together - in_calls_seconds;
        if over >= NAMED_SHARE_MIN * seconds {
            let [together, once] = [together, *in_calls_seconds].map(long_time);
            all.push(format!(
                "Several threads were in calls at once: their calls took {together} together, {once} counted once."
            ));
        }
        if let Some(disk) = disk.as_ref().filter(|disk| disk.busy_seconds <= 0.0) {
            all.push(format!("The disk ({}) was idle meanwhile.", disk.name));
        } else if let Some(disk) = disk {
            let [busy, share] =
                [short_time(disk.busy_seconds * 1e9), share_text(self.share(disk.busy_seconds))];
            all.push(format!("The disk ({}) was busy for {busy} meanwhile ({share}).", disk.name));
        }
        let cost = self.share(self.tracing_seconds());
        if cost >= NAMED_SHARE_MIN {
            let [time, share] = [short_time(self.tracing_seconds() * 1e9), share_text(cost)];
            let untraced = (cost >= TRACING_SHARE_MAX).then(|| share_text(self.share_untraced()));
            let without = untraced.map_or_else(String::new, |most| {
                format!(": without it, file calls are up to {most}")
            });
            all.push(format!("Tracing itself took about {time} of the time ({share}){without}."));
        }
        if *lost > 0 {
            all.push(format!("Calls that were counted, but not timed: {}.", grouped(*lost)));
        }
        if *io_uring_calls > 0 {
            let calls = counted(*io_uring_calls, "call");
            all.push(format!("io_uring was used ({calls}): what it did is missing here."));
        }
        let end = self.facts.program_end.as_ref().filter(|end| !end.ends_with("status 0"));
        all.extend(end.map(|end| format!("The program {end}.")));
        all
    }
}

fn alternatives_of(names: &[String]) -> Vec<Part> {
    crate::statement::alternatives(names.iter().map(|name| parts![name.clone()]).collect())
}

/// What a faster file system could do about such a share.
fn saving(share: f64, is_whole: bool) -> String {
    match (is_whole, share) {
        (false, _) => ", so a faster file system saves at most that".into(),
        (true, ..SMALL_SHARE) => {
            ", so no file system makes it much faster: its time goes elsewhere".into()
        }
        (true, LARGE_SHARE..) => ", so how fast it is depends on the file system".into(),
        (true, _) => format!(", so a faster file system saves at most {}", share_text(share)),
    }
}

/// What is to be known of a trace beside its answer and its table; nothing of another run.
pub fn trace_remarks(book: &Book) -> Vec<String> {
    TracedTime::of(book).map(|traced| traced.remarks()).unwrap_or_default()
}

/// A row for each directory in which calls took most time, of the operation with most time first; none of another run.
pub fn trace_directories(book: &Book) -> Option<AnswerTable> {
    let traced = TracedTime::of(book)?;
    let share = |one: &TracedDirectory| traced.share(one.total_ns as f64 / 1e9);
    let own = |m: &Measurement| {
        let phase = m.phase.clone();
        traced.facts.directories.iter().filter(move |one| one.operation.as_str() == phase)
    };
    let is_shown = |one: &&TracedDirectory| share(one) >= DIRECTORY_SHARE_MIN;
    let all = traced.by_time().into_iter().flat_map(own).filter(is_shown);
    let all: Vec<&TracedDirectory> = all.collect();
    let mut table = AnswerTable { corner: "operation".into(), ..AnswerTable::default() };
    let row = |one: &&TracedDirectory| AnswerRow {
        name: one.operation.as_str().into(),
        about: Vec::new(),
    };
    table.rows = all.iter().map(row).collect();
    table.add("calls", all.iter().map(|one| AnswerCell::Name(grouped(one.calls))));
    let time = |ns: f64| AnswerCell::Name(short_time(ns));
    table.add("in calls", all.iter().map(|one| time(one.total_ns as f64)));
    table.add("of all", all.iter().map(|one| AnswerCell::Name(share_text(share(one)))));
    table.add("mean", all.iter().map(|one| time(one.total_ns as f64 / one.calls.max(1) as f64)));
    let place = |one: &&TracedDirectory| AnswerCell::Place {
        path: traced.short_path(one),
        about: String::new(),
    };
    table.add("directory", all.iter().map(place));
    if all.iter().any(|one| one.with_below) {
        table.notes.push(AnswerNote::new(WITH_BELOW));
    }
    (!all.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use boatload_host::tracing::TracedOperation;
    use boatload_results::fixture::traced::traced;

    fn sentence(change: impl FnOnce(&mut TraceFacts)) -> String {
        let mut book = traced();
        change(book.run.traced.as_mut().unwrap());
        Analysis::of(&book).answer().unwrap().sentence()
    }

    #[test]
    fn the_answer_is_the_share_of_file_calls_and_what_it_means() {
        let whole = sentence(|_| ());
        let expected = "git clone took 1.03 s: 0.35 s of it (34%) in 7,000 file calls, so a faster file system saves \
                        at most 35%.";
        assert_eq!(whole, expected);
        for (in_calls, end) in [
            (
                0.0002,
                "it (<0.1%) in 7,000 file calls, so no file system makes it much faster: its time goes elsewhere.",
            ),
            (0.515, "so a faster file system saves at most 51%."),
            (1.03, "so how fast it is depends on the file system."),
        ] {
            let text = sentence(|facts| facts.in_calls_seconds = in_calls);
            assert!(text.ends_with(end), "{text}");
        }
    }

    #[test]
    fn what_was_watched_has_its_share_of_that_time_and_chosen_calls_save_nothing() {
        let watched = sentence(|facts| {
            facts.is_whole = false;
            facts.target = "processes named git".into();
        });
        let expected = "In 1.03 s, processes named git spent 0.35 s (34%) in 7,000 file calls, so a faster file \
                        system saves at most that.";
        assert_eq!(watched, expected);
        let chosen = sentence(|facts| {
            facts.operations = vec![TracedOperation::Stat, TracedOperation::Open];
            facts.path = Some("/srv".into());
        });
        let expected =
            "git clone took 1.03 s: 0.35 s of it (34%) in 7,000 stat or open calls below /srv.";
        assert_eq!(chosen, expected);
    }

    #[test]
    fn operations_stand_by_their_time_with_the_place_of_most_of_it() {
        let book = traced();
        let table = Analysis::of(&book).answer_table();
        let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["stat", "open", "create"]);
        let places = &table.columns.last().unwrap().cells;
        let place =
            |path: &str, about: &str| AnswerCell::Place { path: path.into(), about: about.into() };
        assert_eq!(places[0], place(".git/objects/", "75%"));
        assert_eq!((&places[1], &places[2]), (&place("/etc", "31%"), &AnswerCell::Missing));
        assert_eq!(
            table.notes_of(&[0, 1, 2], 7),
            "failed: 3,200 of stat; with / at its end: with the directories below it"
        );
    }

    #[test]
    fn what_else_is_to_be_known_is_said_once_it_matters() {
        let mut book = traced();
        let disk = "The disk (vda) was busy for 120 ms meanwhile (12%).";
        let tracing = "Tracing itself took about 21 ms of the time (2.0%).";
        assert_eq!(trace_remarks(&book), [disk, tracing]);
        let mut slow = book.clone();
        slow.run.overhead_ns = slow.run.overhead_ns.map(|ns| ns * 10.0);
        let half = "Tracing itself took about 210 ms of the time (20%): without it, file calls are up to 43%.";
        assert_eq!(trace_remarks(&slow)[1], half);
        let bound = "so a faster file system saves at most 43%.";
        assert!(Analysis::of(&slow).answer().unwrap().sentence().ends_with(bound));
        let facts = book.run.traced.as_mut().unwrap();
        (facts.disk, facts.lost, facts.io_uring_calls) = (None, 1, 12);
        facts.in_calls_seconds = 0.2;
        facts.program_end = Some("ended with status 3".into());
        book.run.overhead_ns = None;
        let expected = [
            "Several threads were in calls at once: their calls took 350 ms together, 200 ms counted once.",
            "Calls that were counted, but not timed: 1.",
            "io_uring was used (12 calls): what it did is missing here.",
            "The program ended with status 3.",
        ];
        assert_eq!(trace_remarks(&book), expected);
    }

    #[test]
    fn a_run_that_was_not_traced_has_nothing_of_it() {
        let book = boatload_results::fixture::book();
        assert!(trace_remarks(&book).is_empty() && trace_directories(&book).is_none());
    }
}
