//! Runs `boatload export`: writes a run in a format for another program.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::common::StorePlace;
use super::runs::{RUN_HELP, find_run};
use super::{completion, out};
use boatload_analysis::Analysis;
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_report::{EXPORTS, ExportFormat, ExportText, find_export};

const EXAMPLES: &str = "\
Examples:
  boatload export last --format csv -o last.csv
  boatload export last --format csv-windows | head
  boatload export last --format hgrm -o percentiles/      a file for each phase
  boatload export last --format openmetrics -o smallfiles-srv.prom
  boatload export last --format json -o run.json          for `boatload import`
  boatload export last --format markdown                  for an issue
  boatload export last --format svg -o pictures/          for a paper or a page
  boatload export last --format gnuplot -o pictures/      then: cd pictures && gnuplot *.gp";

const LONG: &str = "\
csv has a row for each measurement, csv-windows one for each window; columns are named as in the \
run document, and what is not known is empty. hgrm has the percentiles of all latencies of a \
phase, in microseconds, as HdrHistogram's plotter reads them. openmetrics has gauges in seconds \
and bytes; the file is put in its place in one step. svg has a file for each chart, complete in \
itself. gnuplot has the data of each chart and a short script, and `gnuplot NAME.gp` in their directory makes \
NAME.png. docs/EXPORTS.md has every column and name.";

/// Write a run as another program reads it
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct ExportCommand {
    #[arg(value_name = "RUN", help = RUN_HELP, add = completion::runs())]
    run: String,
    /// What to write
    #[arg(long, value_name = "NAME", value_parser = formats())]
    format: String,
    /// Where to write it; - is standard output. Several files need a directory
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

fn formats() -> PossibleValuesParser {
    let value =
        |export: &ExportFormat| clap::builder::PossibleValue::new(export.name).help(export.about);
    EXPORTS.iter().map(value).collect::<Vec<_>>().into()
}

impl ExportCommand {
    pub(super) fn run(self, store: &StorePlace) -> Result<Exit> {
        let format = find_export(&self.format)
            .ok_or_else(|| Failure::usage(format!("there is no format {}", self.format)))?;
        let book = find_run(&self.run, store)?;
        let texts = (format.texts)(&Analysis::of(&book)).map_err(|why| {
            Failure::from_system(format!("write {} as {}", book.run.id, self.format), why)
        })?;
        deliver(&texts, &self.output)?;
        Ok(Exit::Good)
    }
}

/// Gives texts to the user: to standard output, to a file, or to files in a directory.
///
/// # Errors
/// If they cannot be written there, or are too many for one place.
pub(super) fn deliver(texts: &[ExportText], output: &Path) -> Result<()> {
    match texts {
        [only] if output == Path::new("-") => out::give(&only.text),
        [only] if !is_directory(output) => out::write_file(output, &only.text),
        _ if output == Path::new("-") => Err(Failure::usage(format!(
            "that takes {} files: name a directory for them with -o DIR",
            texts.len()
        ))),
        _ if !output.is_dir()
            && texts.iter().any(|text| ends_alike(Path::new(&text.name), output)) =>
        {
            let (number, name) = (texts.len(), shown(output));
            Err(Failure::usage(format!(
                "that makes {number} files and {name} is the name of one. Nothing was written. Name a directory for them: -o DIR/"
            )))
        }
        _ => {
            std::fs::create_dir_all(output).map_err(|error| {
                Failure::from_system(format!("make the directory {}", shown(output)), error)
            })?;
            texts.iter().try_for_each(|text| out::write_file(&output.join(&text.name), &text.text))
        }
    }
}

fn ends_alike(one: &Path, other: &Path) -> bool {
    one.extension().is_some() && one.extension() == other.extension() && !is_directory(other)
}

/// One that is there, or a name that can be no other.
pub(super) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_bytes().ends_with(b"/")
}
