//! The report for a browser: one file that needs nothing else and asks the network for nothing. The
//! answer comes first, then the figures, the tables, how it was measured, and how to do it again.

mod answer;
mod escape;
mod evidence;
mod pictures;
mod repeat;
mod tables;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::beside::{ABOUT_DIFFERENCES, differences_table, figures as beside_table, reading};
use super::compare;
use super::export::svg::dark_rules;
use super::export::{ExportText, safe};
use super::figures::figures;
use super::phases::about_n;
use super::terminal::about_lack;
use crate::measure::analysis::Analysis;
use crate::measure::beside::beside;
use crate::measure::book::Book;
use crate::measure::compare::Comparison;
use crate::measure::differences::letter;
use escape::escape;
use evidence::note;

/// More runs than these have no letter.
pub const PAGE_RUNS_MAX: usize = 26;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the browser may do with the page: run the script that has this digest, show what is in it, and
/// ask nobody for anything.
fn policy(script: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; \
         img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
}

/// The page in a file that is named after its runs. `comparison` is what the second of two is to the
/// first.
///
/// # Errors
/// None that can be thought of: it is written to memory.
pub fn page_text(
    analyses: &[&Analysis<'_>],
    comparison: Option<&Comparison>,
) -> io::Result<ExportText> {
    let ids: Vec<&str> = analyses.iter().map(|one| one.book.run.id.as_str()).collect();
    let mut bytes = Vec::new();
    write_page(analyses, comparison, &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(ExportText { name: format!("{}.html", safe(&ids.join("-"))), text })
}

/// Writes the report of one run or of several, at most [`PAGE_RUNS_MAX`]. Fails only if `out` does.
fn write_page(
    analyses: &[&Analysis<'_>],
    comparison: Option<&Comparison>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let books = analyses.iter().map(|one| one.book).collect();
    let page = Page { analyses, books, comparison };
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy(SCRIPT))?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    writeln!(out, "<link rel=\"icon\" href=\"data:,\">")?;
    writeln!(out, "<title>{}</title>", escape(&page.title()))?;
    writeln!(out, "<style>\n{STYLE}{}</style>\n</head>\n<body>", dark_rules())?;
    page.write_head(out)?;
    writeln!(out, "<main>")?;
    let figures = figures(analyses);
    page.write_sections(&pictures::charts(&figures), out)?;
    writeln!(out, "</main>\n<footer>{}</footer>", escape(&page.footer()))?;
    writeln!(out, "<script>{SCRIPT}</script>")?;
    writeln!(out, "</body>\n</html>")
}

/// The runs, and the comparison of two.
struct Page<'a> {
    analyses: &'a [&'a Analysis<'a>],
    books: Vec<&'a Book>,
    comparison: Option<&'a Comparison>,
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

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n<header>")?;
        writeln!(out, "<div class=\"top\"><nav aria-label=\"Parts of the report\">")?;
        for (id, title) in SECTIONS {
            writeln!(out, "<a href=\"#{id}\">{title}</a>")?;
        }
        writeln!(out, "</nav><button type=\"button\" id=\"theme\" hidden>Dark</button></div>")?;
        let mut told: Vec<[&str; 2]> = Vec::new();
        for book in &self.books {
            let own = [book.run.scenario.as_str(), book.run.question.as_str()];
            if !told.contains(&own) {
                told.push(own);
                writeln!(out, "<h1>{}</h1>", escape(own[0]))?;
                writeln!(out, "<p class=\"lead\">{}</p>", escape(own[1]))?;
            }
        }
        self.write_runs(out)?;
        writeln!(out, "</header>")
    }

    /// Which runs these are.
    fn write_runs(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<ul class=\"runs\">")?;
        for (at, analysis) in self.analyses.iter().enumerate() {
            let book = analysis.book;
            let several = self.books.len() > 1;
            let lead = if several { format!("<b>{}</b> ", letter(at)) } else { String::new() };
            let [title, place] = evidence::run_facts(book).map(|text| escape(&text));
            write!(out, "<li>{lead}{title}<br><span>{place}</span>")?;
            let own = book.run.reference.is_none();
            if let Some(n) = about_n(analysis.summary()).filter(|_| own) {
                write!(out, "<br><span>{}</span>", escape(&n))?;
            }
            if let Some(why) = about_lack(&book.run).filter(|_| own) {
                write!(out, "<br><b>INCOMPLETE:</b> {}", escape(&why))?;
            }
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ul>")
    }

    fn write_sections(&self, charts: &str, out: &mut dyn Write) -> io::Result<()> {
        let none = "<p class=\"none\">There is nothing to draw.</p>\n";
        let figures = if charts.is_empty() { none } else { charts };
        let contents = [
            answer::answer(self.analyses, self.comparison),
            figures.to_string(),
            self.beside() + &self.each(evidence::tables),
            self.differences() + &self.each(evidence::measured),
            self.each(repeat::repeat),
        ];
        for ((id, title), content) in SECTIONS.iter().zip(contents) {
            let heading = format!("<h2 id=\"{id}-title\">{title}</h2>");
            writeln!(out, "<section id=\"{id}\" aria-labelledby=\"{id}-title\">{heading}")?;
            writeln!(out, "{content}</section>")?;
        }
        Ok(())
    }

    /// The same of every run, under its letter if there are several.
    fn each(&self, part: fn(&Analysis<'_>) -> String) -> String {
        if let [analysis] = self.analyses {
            return part(analysis);
        }
        let one = |(at, analysis): (usize, &&Analysis<'_>)| {
            let (letter, id) = (letter(at), escape(&analysis.book.run.id));
            format!("<details><summary>{letter}: {id}</summary>\n{}</details>\n", part(analysis))
        };
        self.analyses.iter().enumerate().map(one).collect()
    }

    /// The runs beside each other; of two, what the second is to the first.
    fn beside(&self) -> String {
        if self.books.len() < 2 {
            return String::new();
        }
        let rows = beside(&self.books);
        let others: Vec<usize> = (1..self.books.len()).collect();
        let mut html = String::new();
        if let Some(comparison) = self.comparison.filter(|all| !all.rows.is_empty()) {
            html += &tables::table("B against A", &compare::table(comparison));
            let texts = compare::reading(comparison).into_iter();
            for (lead, text) in texts.chain(compare::about_marks(&comparison.rows)) {
                html += &note(&format!("{lead}{text}"));
            }
        }
        html += &tables::table("beside each other", &beside_table(&rows, &others));
        reading(&rows).iter().for_each(|text| html += &note(text));
        html
    }

    fn differences(&self) -> String {
        let table = differences_table(&self.books);
        if self.books.len() < 2 || !table.has_rows() {
            return String::new();
        }
        tables::table("in what the runs differ", &table) + &note(ABOUT_DIFFERENCES)
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
