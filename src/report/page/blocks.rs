//! What the sections of the page are made of: plain data, which `block.html` writes as elements.

use askama::Template;

use super::super::export::svg::PageChart;
use super::super::figures::{Figure, FigureTable};
use super::super::grid::Grid;
use super::super::table::{Align, Line, Table};
use crate::base::units::counted;

/// Longer tables are folded away.
const ROWS_OPEN_MAX: usize = 40;

/// More sentences are folded away.
const SENTENCES_OPEN_MAX: usize = 12;

/// A part of a section.
#[derive(Template)]
#[template(path = "block.html")]
pub(super) enum PageBlock {
    /// That there is nothing, and why.
    Empty(String),
    Heading(String),
    Note(String),
    Sentences(SentenceList),
    Table(PageTable),
    /// Names and texts, in two columns.
    Facts(Vec<(String, String)>),
    /// A command to be copied.
    Command(String),
    /// A job file to be copied, folded away.
    JobFile(String),
    /// The parts of one run of several, folded away under its letter.
    Run(RunBlocks),
    Chart(ChartBlock),
}

pub(super) struct RunBlocks {
    pub(super) letter: char,
    pub(super) id: String,
    pub(super) blocks: Vec<PageBlock>,
}

/// A list, of which the rest is folded away when it is long.
pub(super) struct SentenceList {
    class: &'static str,
    open: Vec<PageSentence>,
    folded: Vec<PageSentence>,
}

/// A sentence; `lead` stands before it in bold type, `hint` after it.
#[derive(Default)]
pub(super) struct PageSentence {
    pub(super) lead: &'static str,
    pub(super) text: String,
    pub(super) hint: String,
}

/// A table in a box of its own that scrolls; folded if it is long.
pub(super) struct PageTable {
    title: String,
    heads: Vec<Vec<PageCell>>,
    rows: Vec<Vec<PageCell>>,
}

struct PageCell {
    tag: &'static str,
    scope: &'static str,
    class: &'static str,
    span: usize,
    text: String,
}

/// A chart with the table of its values, from which the script reads them.
pub(super) struct ChartBlock {
    figure: Figure,
    drawn: PageChart,
    table: FigureTable,
}

impl PageSentence {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl PageBlock {
    /// A note; nothing without a text.
    pub(super) fn note(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then_some(Self::Note(text))
    }

    /// A list of sentences; nothing without any.
    pub(super) fn sentences(class: &'static str, all: Vec<PageSentence>) -> Option<Self> {
        let mut open = all;
        let folded = open.split_off(open.len().min(SENTENCES_OPEN_MAX));
        (!open.is_empty()).then_some(Self::Sentences(SentenceList { class, open, folded }))
    }

    /// A table; nothing without rows.
    pub(super) fn table(title: &str, table: &Table) -> Option<Self> {
        let heads = table.heads();
        let head = heads.iter().map(|(head, align)| PageCell::head("col", *align, head)).collect();
        let rows: Vec<_> = table.lines().iter().map(|line| row(line, heads)).collect();
        let page_table = PageTable { title: title.into(), heads: vec![head], rows };
        (!page_table.rows.is_empty()).then_some(Self::Table(page_table))
    }

    /// A grid, as a table.
    pub(super) fn grid(title: &str, grid: &Grid) -> Self {
        let columns = || grid.groups.iter().flat_map(|group| &group.columns);
        let corner = || PageCell::head("col", grid.align, &grid.corner);
        let group_head = |title: &str| PageCell::head("col", Align::Right, title);
        let heads = if grid.groups.iter().all(|group| group.is_plain()) {
            let groups = grid.groups.iter().map(|group| group_head(&group.title));
            vec![[corner()].into_iter().chain(groups).collect()]
        } else {
            let own = columns().map(|column| group_head(&column.head));
            let own = [corner()].into_iter().chain(own).collect();
            let over = grid.groups.iter().map(|group| PageCell {
                class: "over",
                span: group.columns.len(),
                ..PageCell::head("colgroup", Align::Left, &group.title)
            });
            let over = [PageCell::plain(Align::Left, "")].into_iter().chain(over).collect();
            let has_titles = grid.groups.iter().any(|group| !group.title.is_empty());
            if has_titles { vec![over, own] } else { vec![own] }
        };
        let rows = grid.names.iter().enumerate().map(|(at, name)| {
            let text = |cells: &[String]| cells.get(at).cloned().unwrap_or_default();
            let cells = columns().map(|one| PageCell::plain(Align::Right, &text(&one.cells)));
            [PageCell::head("row", grid.align, name)].into_iter().chain(cells).collect()
        });
        Self::Table(PageTable { title: title.into(), heads, rows: rows.collect() })
    }

    pub(super) fn chart(figure: Figure) -> Self {
        let (drawn, table) = (PageChart::new(&figure), figure.table());
        Self::Chart(ChartBlock { figure, drawn, table })
    }
}

fn row(line: &Line, heads: &[(String, Align)]) -> Vec<PageCell> {
    match line {
        Line::Cells(cells) => {
            let align = |at: usize| heads.get(at).map_or(Align::Left, |(_, align)| *align);
            let cells = cells.iter().enumerate();
            let cell = |(at, text): (usize, &String)| match at {
                0 => PageCell::head("row", align(0), text),
                _ => PageCell::plain(align(at), text),
            };
            cells.map(cell).collect()
        }
        Line::Heading(text) => {
            let text = text.trim_end_matches(':');
            let head = PageCell::head("", Align::Left, text);
            vec![PageCell { class: "group", span: heads.len(), ..head }]
        }
        Line::Note(first, text) => {
            let span = heads.len().saturating_sub(1).max(1);
            let text = PageCell { span, ..PageCell::plain(Align::Left, text) };
            vec![PageCell::head("row", Align::Left, first), text]
        }
    }
}

impl PageCell {
    fn head(scope: &'static str, align: Align, text: &str) -> Self {
        Self { tag: "th", scope, ..Self::plain(align, text) }
    }

    fn plain(align: Align, text: &str) -> Self {
        let class = if align == Align::Right { "number" } else { "" };
        Self { tag: "td", scope: "", class, span: 1, text: text.into() }
    }
}

impl PageTable {
    fn is_long(&self) -> bool {
        self.rows.len() > ROWS_OPEN_MAX
    }
}

impl ChartBlock {
    /// `12 values`.
    fn values(&self) -> String {
        counted(self.table.rows.len() as u64, "value")
    }
}
