//! Writes the report for a browser: one file that needs nothing else and asks the network for nothing.
//! The answer comes first, then the charts, the tables, how it was measured, and how to do it again.
//!
//! What it says is plain data; the templates beside this file write it, and escape every text.

mod blocks;
mod sections;

use std::io;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::charts::charts;
use super::comparison::{
    ABOUT_DIFFERENCES, about_run, comparison_reading, comparison_table, differences_table,
};
use super::export::svg::dark_rules;
use super::export::{ExportText, safe};
use super::head::about_lack;
use super::phases::about_n;
use blocks::PageBlock;
use boatload_analysis::Analysis;
use boatload_analysis::compare::Comparison;
use boatload_analysis::compare::differences::letter;
use boatload_base::distinct::each_once;
use boatload_results::book::Book;
pub(super) use sections::run_facts;

/// More runs than these have no letter.
pub const PAGE_RUNS_MAX: usize = 26;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
struct PageRun {
    /// Among several.
    letter: Option<char>,
    title: String,
    place: String,
    /// How often it was repeated.
    repeats: Option<String>,
    /// Why it is not complete.
    incomplete: Option<String>,
}

struct PageSection {
    /// Its name in addresses.
    id: &'static str,
    title: &'static str,
    blocks: Vec<PageBlock>,
}

/// The page of one run or of several, at most [`PAGE_RUNS_MAX`], in a file that is named after them.
/// `comparisons` compare each other run with the first.
///
/// # Errors
/// None that can be thought of: it is written to memory.
pub fn page_text(analyses: &[&Analysis<'_>], comparisons: &[Comparison]) -> io::Result<ExportText> {
    let ids: Vec<&str> = analyses.iter().map(|one| one.book.run.id.as_str()).collect();
    let books = analyses.iter().map(|one| one.book).collect();
    let page = Page { analyses, books, comparisons, style: format!("{STYLE}{}", dark_rules()) };
    let text = page.render().map_err(io::Error::other)?;
    Ok(ExportText { name: format!("{}.html", safe(&ids.join("-"))), text: text + "\n" })
}

/// The runs, and the comparisons of the others with the first.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    analyses: &'a [&'a Analysis<'a>],
    books: Vec<&'a Book>,
    comparisons: &'a [Comparison],
    style: String,
}

/// SHA-256 of a script that the browser may run, or of style rules that it may apply.
fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

impl Page<'_> {
    fn title(&self) -> String {
        let ids: Vec<&str> = self.books.iter().map(|book| book.run.id.as_str()).collect();
        let scenario = self.books.first().map_or("", |book| book.run.scenario.as_str());
        format!("{scenario}: {} - boatload", ids.join(", "))
    }

    fn footer(&self) -> String {
        let mut versions: Vec<&str> =
            self.books.iter().map(|book| book.run.boatload.as_str()).collect();
        versions.retain(|version| !version.is_empty());
        versions.sort_unstable();
        versions.dedup();
        match versions.as_slice() {
            [] => String::new(),
            versions => format!("Measured with boatload {}.", versions.join(", ")),
        }
    }

    /// Scenarios, each with its question.
    fn questions(&self) -> Vec<[&str; 2]> {
        each_once(self.books.iter().map(|book| [&*book.run.scenario, &*book.run.question]))
    }

    fn runs(&self) -> Vec<PageRun> {
        let run = |(at, analysis): (usize, &&Analysis<'_>)| {
            let book = analysis.book;
            let [title, place] = about_run(book);
            let is_own = book.run.reference.is_none();
            PageRun {
                letter: (self.books.len() > 1).then(|| letter(at)),
                title,
                place,
                repeats: about_n(analysis.summary()).filter(|_| is_own),
                incomplete: about_lack(&book.run).filter(|_| is_own),
            }
        };
        self.analyses.iter().enumerate().map(run).collect()
    }

    fn sections(&self) -> [PageSection; 5] {
        let mut charts = charts(self.analyses).into_iter().map(PageBlock::chart);
        let mut answer = sections::answer(self.analyses, self.comparisons, charts.next());
        let [mut tables, mut measured] = [self.side_by_side(), self.differences()];
        tables.extend(self.each(sections::tables));
        measured.extend(self.each(|analysis| vec![PageBlock::Facts(run_facts(analysis))]));
        answer.extend(self.each(sections::findings));
        let figures = charts.filter_map(PageBlock::folded_chart).collect();
        let section = |id, title, blocks| PageSection { id, title, blocks };
        let fold = |title, blocks| PageBlock::folded(title, blocks).into_iter().collect();
        [
            section("answer", "Answer", answer),
            section("figures", "More figures", figures),
            section("tables", "Tables", fold("All tables", tables)),
            section("measured", "How it was measured", fold("Place and machine", measured)),
            section("repeat", "To repeat it", self.each(sections::repeat)),
        ]
    }

    /// The same of every run, under its letter if there are several.
    fn each(&self, part: fn(&Analysis<'_>) -> Vec<PageBlock>) -> Vec<PageBlock> {
        if let [analysis] = self.analyses {
            return part(analysis);
        }
        let one = |(at, analysis): (usize, &&Analysis<'_>)| {
            let title = format!("{}: {}", letter(at), analysis.book.run.id);
            PageBlock::folded(title, part(analysis))
        };
        self.analyses.iter().enumerate().filter_map(one).collect()
    }

    /// The runs side by side, each held against the first.
    fn side_by_side(&self) -> Vec<PageBlock> {
        let table = PageBlock::table("side by side", comparison_table(self.comparisons));
        let reading =
            |one: &Comparison| comparison_reading(one, &one.rows.iter().collect::<Vec<_>>());
        let notes = self.comparisons.first().map(reading).into_iter().flatten();
        let notes = notes.filter_map(PageBlock::note);
        table.into_iter().chain(notes).collect()
    }

    fn differences(&self) -> Vec<PageBlock> {
        let table = differences_table(&self.books);
        if self.books.len() < 2 || !table.has_rows() {
            return Vec::new();
        }
        let table = PageBlock::table("in what the runs differ", table);
        table.into_iter().chain(PageBlock::note(ABOUT_DIFFERENCES)).collect()
    }
}
