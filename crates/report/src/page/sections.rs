//! Makes the sections of the page: findings and warnings, tables, how the run was measured, and how to
//! repeat it.

use super::super::answer_table::{whole_notes, whole_table};
use super::super::comparison::comparison_sentences;
use super::super::first_screen::about_reliability;
use super::super::head::{
    about_cost, about_lack, about_machine, about_place, about_resumptions, about_stopping,
    published_facts,
};
use super::super::host::host_lines;
use super::super::phases::{figures_table, phase_notes};
use super::super::terminal::other_tables;
use super::blocks::{PageBlock, PageSentence};
use boatload_analysis::Analysis;
use boatload_analysis::compare::Comparison;
use boatload_analysis::compare::differences::letter;
use boatload_analysis::finding::Finding;
use boatload_base::distinct::each_once;
use boatload_base::units::counted;
use boatload_plan::EngineName;
use boatload_results::book::{Book, ClockSource};

/// What was asked and found: the comparison of two runs, the answer of each run, the chart that shows it best, and the
/// table of a single run.
pub(super) fn answer(
    analyses: &[&Analysis<'_>],
    comparisons: &[Comparison],
    best: Option<PageBlock>,
) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    if let [comparison] = comparisons {
        let all = comparison_sentences(comparison).into_iter().map(PageSentence::plain).collect();
        blocks.extend(PageBlock::sentences("findings", all));
    }
    for (at, analysis) in analyses.iter().enumerate() {
        if analyses.len() > 1 {
            let heading = format!("{}: {}", letter(at), analysis.book.run.id);
            blocks.push(PageBlock::Heading(heading));
        }
        blocks.extend(answer_of(analysis));
    }
    blocks.extend(best);
    if let [analysis] = analyses {
        if analysis.book.run.reference.is_none() {
            let table = analysis.answer_table();
            blocks.extend(PageBlock::table("", whole_table(&table)));
            blocks.extend(PageBlock::note(whole_notes(&table)));
        }
        if let Some(command) = analysis.answer().and_then(|answer| answer.next.clone()) {
            blocks.push(PageBlock::Heading("Next".into()));
            blocks.push(PageBlock::Command(command));
        }
    }
    blocks
}

fn answer_of(analysis: &Analysis<'_>) -> Vec<PageBlock> {
    let Some(answer) = analysis.answer() else { return Vec::new() };
    let (text, reliability) = (answer.statement.to_string(), about_reliability(answer));
    vec![PageBlock::Answer { text, reliability }]
}

/// All findings, and all warnings with what to do, folded away.
pub(super) fn findings(analysis: &Analysis<'_>) -> Vec<PageBlock> {
    let warnings = analysis.findings().iter().filter(|finding| finding.is_warning());
    let others = analysis.statements().into_iter().map(PageSentence::plain);
    let notes = analysis.book.run.reference.iter().flat_map(|reference| &reference.notes);
    let notes =
        notes.map(|note| PageSentence { lead: "note", ..PageSentence::plain(note.clone()) });
    let warned: Vec<PageSentence> = warnings.map(warning).chain(notes).collect();
    let warnings = (!warned.is_empty())
        .then(|| format!("Warnings and notes, with what to do ({})", warned.len()));
    let found: Vec<PageSentence> = others.collect();
    let title = format!("All findings ({})", found.len());
    let fold = |title: String, class, all| {
        PageBlock::folded(title, PageBlock::sentences(class, all).into_iter().collect())
    };
    let found = fold(title, "findings", found);
    let warned = warnings.and_then(|title| fold(title, "warnings", warned));
    found.into_iter().chain(warned).collect()
}

fn warning(finding: &Finding) -> PageSentence {
    PageSentence { lead: "warning", text: finding.sentence(), hint: finding.hint().to_string() }
}

/// The summary: every phase with its interval and its tail.
pub(super) fn tables(analysis: &Analysis<'_>) -> Vec<PageBlock> {
    let Some(table) = figures_table(analysis) else {
        return vec![PageBlock::Empty("Nothing was measured.".into())];
    };
    let mut blocks = Vec::new();
    blocks.extend(PageBlock::table("all phases", table));
    blocks.extend(phase_notes(analysis.summary()).into_iter().filter_map(PageBlock::note));
    blocks.extend(other_tables(analysis).into_iter().filter_map(PageBlock::titled));
    blocks
}

/// What made a run, on what, and how often; each fact with its name.
pub(crate) fn run_facts(analysis: &Analysis<'_>) -> Vec<(String, String)> {
    let book = analysis.book;
    if let Some(reference) = &book.run.reference {
        let mut facts = vec![("origin", reference.origin().to_string())];
        facts.extend(published_facts(reference, &book.host));
        return named(facts);
    }
    let run = &book.run;
    let finished = run.finished.as_deref().unwrap_or("nobody knows when");
    let mut all = vec![
        ("place", about_place(book)),
        ("machine", about_machine(&book.host)),
        ("time", format!("{} to {finished}", run.started)),
        ("done", done(book)),
        (
            "cost",
            format!(
                "{}, read from the clock {}",
                about_cost(run),
                run.clock.map_or("", ClockSource::as_str)
            ),
        ),
    ];
    all.extend(about_resumptions(run).map(|when| ("resumed", when)));
    all.extend(about_lack(run).map(|why| ("incomplete", why)));
    all.extend(about_stopping(analysis).map(|text| ("repeats", text)));
    all.extend(host_lines(&book.host));
    named(all)
}

fn named(all: Vec<(&str, String)>) -> Vec<(String, String)> {
    all.into_iter().map(|(name, text)| (name.trim_end_matches(':').to_string(), text)).collect()
}

fn done(book: &Book) -> String {
    let all = book.measurements.len() as u64;
    let valid = book.measurements.iter().filter(|m| m.valid()).count() as u64;
    let engines =
        each_once(book.measurements.iter().map(|m| m.engine.map_or("", EngineName::as_str)))
            .join(", ");
    let threads =
        each_once(book.measurements.iter().filter_map(|m| Some(m.threads?.to_string()))).join(", ");
    let verdict = match all - valid {
        0 => "all valid".to_string(),
        invalid => format!("{invalid} invalid"),
    };
    format!(
        "{}, {verdict}; {}; engine {engines}; threads {threads}",
        counted(all, "measurement"),
        counted(u64::from(book.run.repeats), "repeat"),
    )
}

/// The command, the parameters and the job file of a run. Nothing of the kind is known of published
/// figures.
pub(super) fn repeat(analysis: &Analysis<'_>) -> Vec<PageBlock> {
    let run = &analysis.book.run;
    if run.reference.is_some() {
        let none = "Published figures; what made them is not at hand.";
        return vec![PageBlock::Empty(none.into())];
    }
    let mut blocks = vec![PageBlock::Command(run.command.clone())];
    let parameters = run.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        let seed = run.seed.map_or(String::new(), |seed| format!("; seed {seed}"));
        let with = format!("with {}{seed}", parameters.join(", "));
        blocks.push(PageBlock::Note(with));
    }
    blocks.extend((!run.job.is_empty()).then(|| PageBlock::JobFile(run.job.replace("\r\n", "\n"))));
    blocks
}
