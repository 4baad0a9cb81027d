//! Runs `boatload runs`: lists stored and published runs, removes some, and notes something of one. Finds the
//! run that a RUN on the command line names, and stored runs of the same job on the same machine and place.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::StorePlace;
use super::out::{print_and_keep, written};
use super::{completion, out};
use boatload_analysis::compare::{Comparison, compare_beside};
use boatload_analysis::figures::RunFigures;
use boatload_analysis::history::{HISTORY_RUNS, same_target};
use boatload_base::distinct::each_once;
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_report::{write_references, write_runs, write_runs_json};
use boatload_results::book::Book;
use boatload_results::reference::{PREFIX, find_reference, nearest_reference, references};
use boatload_results::store::{FinishedCell, RunList, RunOrigin, Store};

const EXAMPLES: &str = "\
Examples:
  boatload runs
  boatload runs --store results.db
  boatload runs --references       published figures that stand in for a run
  boatload runs note k7m 'before the new kernel'
  boatload runs rm k7m nightly";

const LONG: &str = "\
A run is named by its id, a unique prefix of it, its tag (`boatload run --tag NAME`), `last` for the one that was stored \
last, or `last~1` for the one before.

`rm` does not ask. It removes all that are named or, if one is unknown or still running, none. The file of the store \
does not get smaller: the next runs fill what is free.

A run that this boatload cannot read, because another version wrote it, is named below the list with the reason. `rm` \
removes it too.";

/// List the stored runs, the one that was stored last first
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Runs {
    #[command(subcommand)]
    change: Option<RunsChange>,
    /// List the published figures instead, by the name that takes the place of a run
    #[arg(long)]
    references: bool,
    /// Also write the list of stored runs (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE", conflicts_with = "references")]
    json: Option<PathBuf>,
}

#[derive(Subcommand)]
enum RunsChange {
    /// Remove runs from the store, with all they measured
    Rm {
        /// The runs
        #[arg(value_name = "RUN", required = true, add = completion::runs())]
        runs: Vec<String>,
    },
    /// Note a text of a run, which `boatload runs` shows; an empty one takes it away
    Note {
        /// The run
        #[arg(value_name = "RUN", add = completion::runs())]
        run: String,
        /// The text
        #[arg(value_name = "TEXT")]
        text: String,
    },
}

impl Runs {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        if let Some(change) = &self.change {
            if self.references || self.json.is_some() {
                return Err(Failure::usage(
                    "--references and --json are of the list, and go without another command",
                ));
            }
            return change.make(store);
        }
        if self.references {
            let list = |out: &mut dyn Write| write_references(&references(), out);
            out::print(&written("list the published figures", list)?)?;
            return Ok(Exit::Good);
        }
        let store = store.open_to_read()?;
        let runs = store.map_or_else(|| Ok(RunList::default()), |store| store.runs())?;
        let text = written("list the runs", |out| write_runs(&runs, out))?;
        print_and_keep(&text, self.json.as_deref(), || {
            written("list the runs", |out| write_runs_json(&runs, out))
        })?;
        Ok(Exit::Good)
    }
}

impl RunsChange {
    fn make(&self, place: &StorePlace) -> Result<Exit> {
        match self {
            Self::Rm { runs } => remove(runs, place),
            Self::Note { run, text } => {
                let (_, id) = open_run(run, place)?;
                let text = Some(text.trim()).filter(|text| !text.is_empty());
                place.open()?.note(&id, text)?;
                Ok(Exit::Good)
            }
        }
    }
}

fn remove(words: &[String], place: &StorePlace) -> Result<Exit> {
    let (mut ids, mut lines) = (Vec::new(), String::new());
    for word in words {
        let (store, id) = open_run(word, place)?;
        // What cannot be read can be removed all the same.
        let origin = store.origin_of(&id).ok().flatten().map(|(origin, _)| origin);
        if let Some(origin) = origin.filter(|origin| origin.process.is_running_elsewhere()) {
            let process = origin.process.process;
            return Err(Failure::usage(format!(
                "run {id} is still running, in process {process}. Nothing was removed"
            )));
        }
        if !ids.contains(&id) {
            lines += &format!("removed {id}\n");
            ids.push(id);
        }
    }
    place.open()?.remove_runs(&ids)?;
    out::print(&lines)?;
    Ok(Exit::Good)
}

/// The help of every RUN argument.
pub(super) const RUN_HELP: &str = "An id, a unique prefix of one, a tag, `last`, `last~1`, or reference:NAME for \
                                   published figures";

/// The run that a word stands for.
///
/// # Errors
/// As [`find_runs`].
pub(super) fn find_run(word: &str, place: &StorePlace) -> Result<Book> {
    let found = find_runs(&[word.to_string()], place)?.pop();
    found.ok_or_else(|| Failure::usage(format!("no run is named {}", shown(word))))
}

/// The runs that the words stand for, in their order. The store is opened only for runs in it.
///
/// # Errors
/// If a word stands for no run or for more than one, or the store cannot be read.
pub(super) fn find_runs(words: &[String], place: &StorePlace) -> Result<Vec<Book>> {
    let mut store: Option<Store> = None;
    let mut books = Vec::new();
    for word in words {
        if let Some(name) = word.strip_prefix(PREFIX) {
            books.push(find_reference(name).ok_or_else(|| unknown(name))?);
            continue;
        }
        let (opened, id) = match store.take() {
            Some(opened) => found_in(opened, word)?,
            None => open_run(word, place)?,
        };
        books.push(opened.load(&id)?);
        store = Some(opened);
    }
    Ok(books)
}

/// The store, and the id of the run in it that a word stands for.
///
/// # Errors
/// If it stands for none or for more than one, or the store cannot be read.
pub(super) fn open_run(word: &str, place: &StorePlace) -> Result<(Store, String)> {
    match place.open_to_read()? {
        Some(store) => found_in(store, word),
        None => Err(unmeant(word).unwrap_or_else(nothing_stored)),
    }
}

fn found_in(store: Store, word: &str) -> Result<(Store, String)> {
    match store.find_run(word) {
        Ok(id) => Ok((store, id)),
        Err(failure) => Err(unmeant(word).unwrap_or(failure)),
    }
}

/// How a run was begun, and its cells that are done. What a document says of a run proves nothing: only a run that this
/// machine began with this store is done here.
///
/// # Errors
/// If it was not begun with this store: then it cannot be `done`, such as "resumed".
pub(super) fn known_origin(
    store: &Store,
    id: &str,
    done: &str,
) -> Result<(RunOrigin, Vec<FinishedCell>)> {
    store.origin_of(id)?.ok_or_else(|| {
        Failure::usage(format!(
            "run {id} cannot be {done}: it was imported or not begun with this store, or a path of its command has \
             line breaks or bytes that are no UTF-8, which the store does not keep"
        ))
    })
}

/// Why a word names no run that was to name published figures but lacks the prefix.
fn unmeant(word: &str) -> Option<Failure> {
    let hint = meant_reference(word)?;
    let word = shown(word);
    Some(Failure::usage(format!("no run is named \"{word}\"; {hint}")))
}

/// Refuses a run beside itself, which would look like two that agree.
pub(super) fn check_each_once(words: &[String], books: &[Book]) -> Result<()> {
    for (at, book) in books.iter().enumerate() {
        if let Some(first) = books[..at].iter().position(|one| one.run.id == book.run.id) {
            let (first, again) = (&words[first], &words[at]);
            return Err(Failure::usage(format!(
                "{first} and {again} are the same run; `boatload runs` lists the others"
            )));
        }
    }
    Ok(())
}

fn nothing_stored() -> Failure {
    Failure::failed(
        "no run is stored there yet: `boatload run` makes the first, and --store names another store",
    )
}

/// What to type instead, for a word that was to name published figures but lacks the prefix.
fn meant_reference(word: &str) -> Option<String> {
    // No id holds a colon or a hyphen, and no tag a colon.
    let name = word.split_once(':').map(|(_, name)| name);
    name.or_else(|| word.contains('-').then_some(word)).map(hint)
}

fn unknown(name: &str) -> Failure {
    let (hint, name) = (hint(name), shown(name));
    Failure::usage(format!("there are no published figures named \"{name}\"; {hint}"))
}

fn hint(name: &str) -> String {
    match nearest_reference(name) {
        Some(near) => format!("did you mean {PREFIX}{near}?"),
        None => "`boatload runs` lists the runs, with --references the published figures".into(),
    }
}

/// Runs of the same job.
#[derive(Default)]
pub(super) struct EqualRuns {
    /// Oldest first.
    pub(super) runs: Vec<Book>,
    /// The newest complete run of the scenario that is of another job, machine or place.
    pub(super) unlike: Option<Book>,
    /// The ids of runs of the scenario that cannot be read.
    unreadable: BTreeSet<String>,
}

impl EqualRuns {
    /// Says which runs cannot be read.
    pub(super) fn note_unreadable(&self) {
        let ids: Vec<String> = self.unreadable.iter().map(shown).collect();
        if !ids.is_empty() {
            let ids = ids.join(", ");
            out::note(&format!(
                "runs that cannot be read do not count: {ids}; `boatload show RUN` says why"
            ));
        }
    }
}

/// The newest `most` complete runs of what `run` did, without those that are `left_out`; only those that began before a
/// run, if there is one.
///
/// # Errors
/// If the store cannot be read.
fn equal_runs(
    run: &Book,
    place: &StorePlace,
    most: u32,
    left_out: &[&Book],
    before: Option<&Book>,
) -> Result<EqualRuns> {
    let mut found = EqualRuns::default();
    if run.run.reference.is_some() {
        return Ok(found);
    }
    let Some(store) = place.open_to_read()? else { return Ok(found) };
    let RunList { mut runs, unreadable } = store.runs()?;
    // An imported run was stored last and may have begun first. Of one second, the order of storing is the best known.
    runs.sort_by(|a, b| b.book.run.started.cmp(&a.book.run.started));
    let unreadable = unreadable.into_iter().filter(|other| other.scenario == run.run.scenario);
    found.unreadable = unreadable.map(|other| other.id).collect();
    let ids = runs.iter().map(|other| &other.book.run.id);
    let began = before.map_or(0, |before| ids.take_while(|id| **id != before.run.id).count() + 1);
    for facts in runs.iter().skip(began).map(|other| &other.book.run) {
        let same = (&facts.scenario, &facts.scale) == (&run.run.scenario, &run.run.scale);
        if !same || !facts.complete || left_out.iter().any(|one| one.run.id == facts.id) {
            continue;
        }
        match store.load(&facts.id) {
            Ok(book) if same_target(run, &book) => found.runs.push(book),
            Ok(book) => found.unlike = found.unlike.or(Some(book)),
            Err(_) => {
                found.unreadable.insert(facts.id.clone());
            }
        }
        if found.runs.len() == most as usize {
            break;
        }
    }
    found.runs.reverse();
    Ok(found)
}

/// The newest `most` complete runs of what `run` did that began before it.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn earlier_runs(run: &Book, place: &StorePlace, most: u32) -> Result<EqualRuns> {
    equal_runs(run, place, most, &[], Some(run))
}

/// Compares each other run with the first, with the between-run variance of other stored runs of what they did.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn compare_stored(books: &[Book], place: &StorePlace) -> Result<Vec<Comparison>> {
    let figures: Vec<RunFigures<'_>> = books.iter().map(RunFigures::of).collect();
    let shown: Vec<&RunFigures<'_>> = figures.iter().collect();
    let mut comparisons = Vec::new();
    for (at, book) in books.iter().enumerate().skip(1) {
        let others = other_runs([&books[0], book], place, HISTORY_RUNS, None)?;
        let others: Vec<RunFigures<'_>> = others.iter().map(RunFigures::of).collect();
        comparisons.push(compare_beside(shown[0], shown[at], &others, &shown));
    }
    Ok(comparisons)
}

/// Why two runs cannot be compared that share no row: what each of them has.
pub(super) fn nothing_in_common(a: &Book, b: &Book) -> Failure {
    let has = |book: &Book| {
        let valid = book.measurements.iter().filter(|m| m.valid());
        let phases = each_once(valid.map(|m| m.phase.as_str()));
        let phases = if phases.is_empty() { "nothing valid".into() } else { phases.join(", ") };
        format!("{} has {}", shown(&book.run.id), shown(phases))
    };
    Failure::failed(format!(
        "nothing to compare: {}; {}. `boatload runs` lists other runs",
        has(a),
        has(b)
    ))
}

/// Other stored runs of what these two did, the newest `most` of each, in the order in which they began;
/// only those that began before a run, if there is one.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn other_runs(
    pair: [&Book; 2],
    place: &StorePlace,
    most: u32,
    before: Option<&Book>,
) -> Result<Vec<Book>> {
    let [a, b] = pair;
    let mut found = equal_runs(a, place, most, &pair, before)?;
    if !same_target(a, b) {
        let of_b = equal_runs(b, place, most, &pair, before)?;
        // What is not known of an older run may make it the same as either.
        let known: BTreeSet<String> = found.runs.iter().map(|one| one.run.id.clone()).collect();
        found.runs.extend(of_b.runs.into_iter().filter(|one| !known.contains(&one.run.id)));
        found.unreadable.extend(of_b.unreadable);
    }
    found.note_unreadable();
    let mut all = found.runs;
    all.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    Ok(all)
}
