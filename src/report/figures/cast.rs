//! Who is in a picture: the variants of a run, or those of several runs, each with its name and its
//! colour. They are the same in all pictures of a report.

use std::collections::BTreeSet;

use crate::base::failure::shown;
use crate::measure::book::{Level, ResultBook};
use crate::measure::order::{each_once, variants};
use crate::measure::summary::{Group, Row, Summary, summarize};
use crate::plan::DEFAULT_VARIANT;

/// The runs of a report.
pub(super) struct Cast<'a> {
    pub(super) runs: Vec<CastRun<'a>>,
}

/// A run with its figures.
pub(super) struct CastRun<'a> {
    pub(super) book: &'a ResultBook,
    pub(super) summary: Summary,
    /// In the job file's order.
    pub(super) members: Vec<Member<'a>>,
}

/// A variant of a run.
pub(super) struct Member<'a> {
    pub(super) variant: &'a str,
    /// What a legend calls it.
    pub(super) name: String,
    /// The same without the name of its run.
    pub(super) own: String,
    /// The number of its colour.
    pub(super) colour: usize,
}

impl<'a> Cast<'a> {
    pub(super) fn of(books: &[&'a ResultBook]) -> Self {
        let (mut colour, mut taken) = (0, BTreeSet::new());
        let several = books.len() > 1;
        let mut member = |book: &'a ResultBook, variant: &'a str, colour: usize| {
            let own = own_name(book, variant);
            let name = if several { format!("{} {own}", run_name(book)) } else { own.clone() };
            Member { variant, name: unused(&name, &mut taken), own, colour }
        };
        let run = |book: &&'a ResultBook| {
            let names = variants(book);
            let from = colour;
            colour += names.len();
            let members = names.iter().enumerate();
            let members = members.map(|(at, variant)| member(book, variant, from + at)).collect();
            CastRun { book, summary: summarize(book), members }
        };
        Self { runs: books.iter().map(run).collect() }
    }

    /// Phases of all runs, in the order they were measured.
    pub(super) fn phases(&self) -> Vec<&str> {
        each_once(self.runs.iter().flat_map(|run| run.summary.phases()))
    }

    /// All variants of all runs.
    pub(super) fn members(&self) -> impl Iterator<Item = (&CastRun<'a>, &Member<'a>)> {
        self.runs.iter().flat_map(|run| run.members.iter().map(move |member| (run, member)))
    }
}

impl<'a> CastRun<'a> {
    /// Rows of one variant, with their groups.
    pub(super) fn rows_of(&self, variant: &str) -> impl Iterator<Item = (&Group, &Row)> {
        let groups = self.summary.groups.iter().filter(move |group| group.variant == variant);
        groups.flat_map(|group| group.rows.iter().map(move |row| (group, row)))
    }

    /// All rows, with their groups.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Group, &Row)> {
        self.summary.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)))
    }

    /// The level that was measured last; none without an axis.
    pub(super) fn last_level(&self) -> Option<&Level> {
        self.summary.levels().last().copied()
    }

    /// The row of a phase of a variant at the last level.
    pub(super) fn last_row(&self, variant: &str, phase: &str) -> Option<&Row> {
        let last = self.last_level();
        let here =
            |(group, row): &(&Group, &Row)| group.level.as_ref() == last && row.phase == phase;
        self.rows_of(variant).find(here).map(|(_, row)| row)
    }

    /// What a legend calls a variant.
    pub(super) fn name_of(&self, variant: &str) -> String {
        self.member(variant).map_or_else(|| shown(variant), |member| member.name.clone())
    }

    /// The member that is this variant.
    pub(super) fn member(&self, variant: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.variant == variant)
    }
}

/// The name, with a number if another member has it: a run may be named twice.
fn unused(name: &str, taken: &mut BTreeSet<String>) -> String {
    let others = (2..).map(|number| format!("{name} ({number})"));
    let mut free = [name.to_string()].into_iter().chain(others);
    let name = free.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(name.clone());
    name
}

/// A run that nobody gave variants is named after its file system.
fn own_name(book: &ResultBook, variant: &str) -> String {
    let name = if variant == DEFAULT_VARIANT {
        book.filesystem_of(variant).unwrap_or(variant)
    } else {
        variant
    };
    shown(name)
}

fn run_name(book: &ResultBook) -> String {
    shown(book.run.reference.as_ref().map_or(&book.run.id, |reference| &reference.name))
}
