//! Makes a man page of each command: what `--help` says, in the order of man-pages(7).

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// Writes `boatload.1`, `boatload-run.1` and so on, with this date, into a directory.
///
/// # Errors
/// If it cannot be written there.
pub(crate) fn write(directory: &Path, date: &str) -> io::Result<()> {
    let mut command = described(boatload::cli::command()).disable_help_subcommand(true);
    command.build();
    write_all(&command, directory, date)
}

/// The command with a description of each option, also of those that short help leaves out.
fn described(command: Command) -> Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(described)
}

fn write_all(command: &Command, directory: &Path, date: &str) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_all(below, directory, date)?;
    }
    let source = format!("boatload {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).date(date).source(source).manual("boatload");
    let mut page = Vec::new();
    render(&man, command, &mut page)?;
    File::create(directory.join(man.get_filename()))?.write_all(&page)
}

fn render(man: &Man, command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let is_main = command.get_name() == "boatload";
    let long = command.get_before_long_help().map(ToString::to_string);
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    match is_main {
        true => paragraphs(&long.unwrap_or_default(), page)?,
        false => paragraphs(&after, page)?,
    }
    if command.get_arguments().next().is_some() {
        man.render_options_section(page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    if let Some(examples) = command.get_before_help() {
        let examples = examples.to_string();
        section("EXAMPLES", page)?;
        as_it_stands(examples.trim_start_matches("Examples:\n"), page)?;
    }
    if is_main {
        section("EXIT STATUS", page)?;
        paragraphs(&after, page)?;
        section("ENVIRONMENT", page)?;
        paragraphs(ENVIRONMENT, page)?;
    } else {
        section("SEE ALSO", page)?;
        paragraphs("boatload(1)", page)?;
    }
    Ok(())
}

const ENVIRONMENT: &str = "\
BOATLOAD_STORE names the store of results, as --store does.

BOATLOAD_DIR names the directory to work in, as --dir does, and the one that inspect looks at.

BOATLOAD_COMPLETE=bash boatload, or zsh or fish, prints the script with which that shell completes its commands.

NO_COLOR, CLICOLOR and CLICOLOR_FORCE decide about colours where --color does not.";

fn section(name: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [name]);
    roff.to_writer(page)
}

/// A text in which an empty line ends a paragraph; lines that begin with a blank or a dash are kept apart.
fn paragraphs(text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        roff.control("PP", []);
        for line in paragraph.lines() {
            if line.starts_with([' ', '-']) {
                roff.control("br", []);
            }
            roff.text([roman(line.trim_start())]);
        }
    }
    roff.to_writer(page)
}

fn as_it_stands(text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}
