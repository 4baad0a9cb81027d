//! `boatload check`: whether a run is slower than it may be, as an exit code.

use std::path::{Path, PathBuf};

use clap::Args;

use super::files::write_file;
use super::history::{alike, others};
use super::runs_named::find_runs;
use super::{StorePlace, out};
use crate::base::failure::{Exit, Failure, Result};
use crate::base::units::{Quantity, Unit, counted};
use crate::measure::book::Book;
use crate::measure::check::{Check as Checked, Outcome, check_among};
use crate::measure::history::HISTORY_RUNS;
use crate::report::{Against, write_check, write_check_json};

/// Stands for all earlier runs of the same on the same. No id has seven characters.
const HISTORY: &str = "history";

const EXAMPLES: &str = "\
Examples:
  boatload check last --baseline k7m2n8p4         fails if more than 5% slower
  boatload check last --baseline history          than the runs before it
  boatload check last --baseline history --show   with a table of those runs
  boatload run smallfiles --dir /mnt/x && boatload check last --baseline history --fail-on 10%";

const LONG: &str = "\
There is a line for each phase, and for the whole job if all did the same work: `ok`; `REGRESSION` \
if the run took longer by more than --fail-on and the whole interval lies beyond that; `unsure` if \
the interval reaches below it, or the error is unknown. The intervals hold together over all lines \
at 95% (Bonferroni). Against one run they are at least as wide as two runs lie apart, if the store \
has 6 or more earlier ones of the same; an odd one among them does not count.

The history is the earlier complete runs of the same scenario, scale, parameters and job on a \
machine, file system (with or without a journal) and device like this run's; kernels and versions \
of boatload may differ. Of each phase the baseline is the runs since the last step of its figures, \
so that a change that stays for three runs is the new baseline. No id of a run has seven characters, so `history` is never one.

Exit code 3 if a line is a regression; else 4 if all that the run measured of a line is invalid or \
the run ended before it; else 0, also if there is no history yet.";

/// Tell by the exit code whether a run is slower than a baseline
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Check {
    /// The run that is checked: an id, a unique prefix of one, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// What it is held against: a run, or `history` for the earlier ones of the same on the same
    #[arg(long, value_name = "RUN|history")]
    baseline: String,
    /// How much longer it may take
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    fail_on: f64,
    /// Use at most so many of the newest runs of the history
    ///
    /// Beside a single baseline, so many of the other runs of the same; fewer than 6 of these tell
    /// nothing of the spread between runs.
    #[arg(long, value_name = "N", default_value_t = HISTORY_RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    last: u32,
    /// Show the history of each line, with its steps
    #[arg(long)]
    show: bool,
    /// Also write the check (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Check {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let run = measured(&self.run, store)?;
        if self.baseline == HISTORY {
            let mut is_earlier = false;
            let earlier = alike(&run, store, self.last, |other| {
                let wanted = is_earlier;
                is_earlier |= other.id == run.run.id;
                wanted
            })?;
            if earlier.runs.is_empty() {
                let text = nothing_earlier(&run, earlier.unlike);
                let nothing = Checked { fail_on: self.fail_on, ..Checked::default() };
                self.deliver(&run, Against::History(&[]), &nothing, &text)?;
                return Ok(Exit::Good);
            }
            let books: Vec<&Book> = earlier.runs.iter().collect();
            return self.judge(&run, Against::History(&books), &[]);
        }
        let baseline = measured(&self.baseline, store)?;
        if baseline.run.id == run.run.id {
            return Err(Failure::usage(format!(
                "{} and {} are the same run; name another, or --baseline {HISTORY}",
                self.run, self.baseline
            )));
        }
        // Later ones may be the same regression once more.
        let others = others([&baseline, &run], store, self.last, Some(&run.run.started))?;
        self.judge(&run, Against::Run(&baseline), &others.iter().collect::<Vec<_>>())
    }

    fn judge(&self, run: &Book, against: Against<'_>, others: &[&Book]) -> Result<Exit> {
        let checked = check_among(run, &against.books(), others, self.fail_on);
        if checked.rows.is_empty() {
            return Err(Failure::usage(format!(
                "{} and {} have no phase in common, so there is nothing to check",
                self.run, self.baseline
            )));
        }
        let mut text = Vec::new();
        write_check(run, against, &checked, self.show, &mut text)
            .map_err(|error| Failure::from_system("write the check", error))?;
        self.deliver(run, against, &checked, &String::from_utf8_lossy(&text))?;
        Ok(exit(&checked))
    }

    /// Gives the text, the document, or both to the user.
    fn deliver(
        &self,
        run: &Book,
        against: Against<'_>,
        checked: &Checked,
        text: &str,
    ) -> Result<()> {
        let mut document = Vec::new();
        write_check_json(run, against, checked, &mut document)
            .map_err(|error| Failure::from_system("write the check", error))?;
        let document = String::from_utf8_lossy(&document);
        if self.json.as_deref() == Some(Path::new("-")) {
            return out::print(&document);
        }
        out::print(text)?;
        self.json.as_deref().map_or(Ok(()), |path| write_file(path, &document))
    }
}

fn nothing_earlier(run: &Book, unlike: u64) -> String {
    let (scenario, id) = (&run.run.scenario, &run.run.id);
    let unlike = match unlike {
        0 => String::new(),
        n => format!(
            "Left out: {}, with another job, other parameters, machine or place;\n\
             `boatload compare` says which.\n",
            counted(n, "earlier run")
        ),
    };
    format!(
        "Nothing was checked: no earlier complete run of {scenario} is like {id}.\n{unlike}\
         The next run will be held against this one.\n"
    )
}

fn exit(checked: &Checked) -> Exit {
    let any = |outcome| checked.with(outcome).next().is_some();
    if any(Outcome::Regression) {
        Exit::Regression
    } else if any(Outcome::Invalid) || any(Outcome::Missing) {
        Exit::Invalid
    } else {
        Exit::Good
    }
}

/// A run that boatload measured.
fn measured(word: &str, store: &StorePlace) -> Result<Book> {
    let found = find_runs(&[word.to_string()], store)?.pop();
    match found {
        Some(book) if book.run.reference.is_some() => Err(Failure::usage(format!(
            "{word} was published, not measured here: another machine's figures are no bound for \
             this one. `boatload compare` puts them against a run"
        ))),
        Some(book) => Ok(book),
        None => Err(Failure::usage(format!("no run is named {word}"))),
    }
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Percent }) if value > 0.0 && value < 1e4 => {
            Ok(value / 100.0)
        }
        _ => Err("it takes a percentage above zero, such as 5%".into()),
    }
}
