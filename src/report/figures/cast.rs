//! Who is in a picture: the variants of a run, or those of several runs, each with its name and its
//! colour. They are the same in all pictures of a report.

use std::collections::{BTreeMap, BTreeSet};

use super::whole::Lost;
use crate::base::failure::shown;
use crate::measure::analysis::Analysis;
use crate::measure::book::{Book, Level, Measurement};
use crate::measure::order::{each_once, variants};
use crate::measure::summary::{PhaseSummary, Summary, VariantSummary};
use crate::plan::DEFAULT_VARIANT;

/// The runs of a report.
pub(super) struct Cast<'a> {
    pub(super) runs: Vec<CastRun<'a>>,
}

/// A run with its figures.
pub(super) struct CastRun<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) summary: &'a Summary,
    /// In the job file's order.
    pub(super) members: Vec<Member<'a>>,
    /// Where each variant stands among them.
    places: BTreeMap<&'a str, usize>,
    /// Where groups of each variant stand in the summary.
    groups: BTreeMap<String, Vec<usize>>,
    measurements: BTreeMap<&'a str, Vec<&'a Measurement>>,
    last_level: Option<Level>,
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
    pub(super) fn of(analyses: &[&'a Analysis<'a>]) -> Self {
        let (mut colour, mut taken) = (0, BTreeSet::new());
        let several = analyses.len() > 1;
        let mut member = |book: &'a Book, variant: &'a str, colour: usize| {
            let own = own_name(book, variant);
            let name = if several { format!("{} {own}", run_name(book)) } else { own.clone() };
            Member { variant, name: unused(&name, &mut taken), own, colour }
        };
        let run = |analysis: &&'a Analysis<'a>| {
            let book = analysis.book;
            let names = variants(book);
            let from = colour;
            colour += names.len();
            let members = names.iter().enumerate();
            let members = members.map(|(at, variant)| member(book, variant, from + at)).collect();
            CastRun::of(analysis, members)
        };
        Self { runs: analyses.iter().map(run).collect() }
    }

    /// Phases of all runs, in the order they were measured.
    pub(super) fn phases(&self) -> Vec<&str> {
        each_once(self.runs.iter().flat_map(|run| run.summary.phases()))
    }

    /// Variants of whose last level nothing of a phase is valid.
    pub(super) fn lost(&self, phase: &str) -> impl Iterator<Item = Lost> {
        self.members().filter_map(move |(run, member)| {
            let row = run.last_row(member.variant, phase).filter(|row| row.rate.is_none())?;
            Some(Lost { what: member.name.clone(), measurements: row.invalid.len() as u64 })
        })
    }

    /// All variants of all runs.
    pub(super) fn members(&self) -> impl Iterator<Item = (&CastRun<'a>, &Member<'a>)> {
        self.runs.iter().flat_map(|run| run.members.iter().map(move |member| (run, member)))
    }
}

impl<'a> CastRun<'a> {
    fn of(analysis: &'a Analysis<'a>, members: Vec<Member<'a>>) -> Self {
        let (book, summary) = (analysis.book, analysis.summary());
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, group) in summary.groups.iter().enumerate() {
            groups.entry(group.variant.clone()).or_default().push(at);
        }
        let places = members.iter().enumerate().map(|(at, member)| (member.variant, at)).collect();
        let last_level = summary.levels().last().copied().cloned();
        let mut measurements: BTreeMap<&str, Vec<&Measurement>> = BTreeMap::new();
        for m in &book.measurements {
            measurements.entry(&m.cell.variant).or_default().push(m);
        }
        Self { analysis, summary, members, places, groups, measurements, last_level }
    }

    /// All measurements of one variant.
    pub(super) fn measurements_of(&self, variant: &str) -> &[&'a Measurement] {
        self.measurements.get(variant).map_or(&[], Vec::as_slice)
    }

    /// Rows of one variant, with their groups.
    pub(super) fn rows_of(
        &self,
        variant: &str,
    ) -> impl Iterator<Item = (&VariantSummary, &PhaseSummary)> {
        let places = self.groups.get(variant).into_iter().flatten();
        let groups = places.filter_map(|at| self.summary.groups.get(*at));
        groups.flat_map(|group| group.rows.iter().map(move |row| (group, row)))
    }

    /// All rows, with their groups.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&VariantSummary, &PhaseSummary)> {
        self.summary.groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)))
    }

    /// The level that was measured last; none without an axis.
    pub(super) fn last_level(&self) -> Option<&Level> {
        self.last_level.as_ref()
    }

    /// The row of a phase of a variant at the last level.
    pub(super) fn last_row(&self, variant: &str, phase: &str) -> Option<&PhaseSummary> {
        let last = self.last_level();
        let here = |(group, row): &(&VariantSummary, &PhaseSummary)| {
            group.level.as_ref() == last && row.phase == phase
        };
        self.rows_of(variant).find(here).map(|(_, row)| row)
    }

    /// What a legend calls a variant.
    pub(super) fn name_of(&self, variant: &str) -> String {
        self.member(variant).map_or_else(|| shown(variant), |member| member.name.clone())
    }

    /// The member that is this variant.
    pub(super) fn member(&self, variant: &str) -> Option<&Member<'a>> {
        self.members.get(*self.places.get(variant)?)
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
fn own_name(book: &Book, variant: &str) -> String {
    let name = if variant == DEFAULT_VARIANT {
        book.filesystem_of(variant).unwrap_or(variant)
    } else {
        variant
    };
    shown(name)
}

fn run_name(book: &Book) -> String {
    shown(book.run.reference.as_ref().map_or(&book.run.id, |reference| &reference.name))
}
