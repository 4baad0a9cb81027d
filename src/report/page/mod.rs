//! The report for a browser: one file that needs nothing else and asks the network for nothing. The
//! answer comes first, then the charts, the tables, how it was measured, and how to do it again.
//!
//! What it says is plain data; the templates beside this file write it, and escape every text.

mod answer;
mod blocks;
mod evidence;
mod repeat;

use std::io;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::charts::charts;
use super::comparison::{
    ABOUT_DIFFERENCES, about_marks, comparison_reading, comparison_table, differences_table,
    side_by_side_reading, side_by_side_table,
};
use super::export::svg::dark_rules;
use super::export::{ExportText, safe};
use super::head::about_lack;
use super::phases::about_n;
use crate::analysis::Analysis;
use crate::analysis::compare::differences::letter;
use crate::analysis::compare::{Comparison, side_by_side};
use crate::results::book::Book;
use blocks::{PageBlock, RunBlocks};

/// More runs than these have no letter.
pub const PAGE_RUNS_MAX: usize = 26;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
#[derive(Template)]
#[template(path = "page.html")]
struct PageView<'a> {
    /// SHA-256 of the one script that the browser may run, and of the style rules that it may apply.
    script_digest: String,
    style_digest: String,
    title: String,
    style: String,
    questions: Vec<PageQuestion<'a>>,
    runs: Vec<PageRun>,
    sections: Vec<PageSection>,
    footer: String,
    script: &'static str,
}

/// A scenario and its question.
#[derive(PartialEq)]
struct PageQuestion<'a> {
    scenario: &'a str,
    text: &'a str,
}

/// Which run it is.
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
/// `comparison` is what the second of two is to the first.
///
/// # Errors
/// None that can be thought of: it is written to memory.
pub fn page_text(
    analyses: &[&Analysis<'_>],
    comparison: Option<&Comparison>,
) -> io::Result<ExportText> {
    let ids: Vec<&str> = analyses.iter().map(|one| one.book.run.id.as_str()).collect();
    let books = analyses.iter().map(|one| one.book).collect();
    let page = Page { analyses, books, comparison };
    let text = page.view().render().map_err(io::Error::other)?;
    Ok(ExportText { name: format!("{}.html", safe(&ids.join("-"))), text: text + "\n" })
}

/// The runs, and the comparison of two.
struct Page<'a> {
    analyses: &'a [&'a Analysis<'a>],
    books: Vec<&'a Book>,
    comparison: Option<&'a Comparison>,
}

impl Page<'_> {
    fn view(&self) -> PageView<'_> {
        let style = format!("{STYLE}{}", dark_rules());
        PageView {
            script_digest: STANDARD.encode(Sha256::digest(SCRIPT)),
            style_digest: STANDARD.encode(Sha256::digest(&style)),
            title: self.title(),
            style,
            questions: self.questions(),
            runs: self.runs(),
            sections: self.sections(),
            footer: self.footer(),
            script: SCRIPT,
        }
    }

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

    fn questions(&self) -> Vec<PageQuestion<'_>> {
        let mut questions = Vec::new();
        for book in &self.books {
            let own = PageQuestion { scenario: &book.run.scenario, text: &book.run.question };
            if !questions.contains(&own) {
                questions.push(own);
            }
        }
        questions
    }

    fn runs(&self) -> Vec<PageRun> {
        let run = |(at, analysis): (usize, &&Analysis<'_>)| {
            let book = analysis.book;
            let [title, place] = evidence::run_facts(book);
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

    fn sections(&self) -> Vec<PageSection> {
        let mut charts: Vec<_> = charts(self.analyses).into_iter().map(PageBlock::chart).collect();
        if charts.is_empty() {
            charts.push(PageBlock::Empty("There is nothing to draw.".into()));
        }
        let [mut tables, mut measured] = [self.side_by_side(), self.differences()];
        tables.extend(self.each(evidence::tables));
        measured.extend(self.each(evidence::measured));
        let answer = answer::answer(self.analyses, self.comparison);
        let contents = [answer, charts, tables, measured, self.each(repeat::repeat)];
        let section = |((id, title), blocks)| PageSection { id, title, blocks };
        SECTIONS.into_iter().zip(contents).map(section).collect()
    }

    /// The same of every run, under its letter if there are several.
    fn each(&self, part: fn(&Analysis<'_>) -> Vec<PageBlock>) -> Vec<PageBlock> {
        if let [analysis] = self.analyses {
            return part(analysis);
        }
        let one = |(at, analysis): (usize, &&Analysis<'_>)| {
            let id = analysis.book.run.id.clone();
            PageBlock::Run(RunBlocks { letter: letter(at), id, blocks: part(analysis) })
        };
        self.analyses.iter().enumerate().map(one).collect()
    }

    /// The runs side by side; of two, what the second is to the first.
    fn side_by_side(&self) -> Vec<PageBlock> {
        let mut blocks = Vec::new();
        if self.books.len() < 2 {
            return blocks;
        }
        let rows = side_by_side(self.analyses);
        let others: Vec<usize> = (1..self.books.len()).collect();
        if let Some(comparison) = self.comparison.filter(|all| all.in_both().next().is_some()) {
            blocks.extend(PageBlock::table("B against A", comparison_table(comparison)));
            let texts = comparison_reading(comparison).into_iter();
            for (lead, text) in texts.chain(about_marks(comparison)) {
                blocks.extend(PageBlock::note(format!("{lead}{text}")));
            }
        }
        blocks.extend(PageBlock::table("side by side", side_by_side_table(&rows, &others)));
        blocks.extend(side_by_side_reading(&rows).into_iter().filter_map(PageBlock::note));
        blocks
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

/// The parts of the page, in order: their names in addresses, and their titles.
const SECTIONS: [(&str, &str); 5] = [
    ("answer", "Answer"),
    ("figures", "Figures"),
    ("tables", "Tables"),
    ("measured", "How it was measured"),
    ("repeat", "To repeat it"),
];
