//! What the sections of the page are made of: plain data, which `block.html` writes as elements.

use askama::Template;

use super::super::charts::{Chart, ChartTable};
use super::super::export::svg::PageChart;
use super::super::table::{Align, ColumnGroup, Table, TableHead, TableLine, TitledTable};
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
    Chart(Box<ChartBlock>),
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
    model: Chart,
    drawn: PageChart,
    table: ChartTable,
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
        let head = |head: &TableHead| PageCell::head("col", head.align, &head.text);
        let mut heads = vec![table.heads.iter().map(head).collect()];
        if table.groups.iter().any(|group| !group.title.is_empty()) {
            let over = |group: &ColumnGroup| PageCell {
                class: "over",
                span: group.columns.len(),
                ..PageCell::head("colgroup", Align::Left, &group.title)
            };
            let corner = PageCell::plain(Align::Left, "");
            heads.insert(0, [corner].into_iter().chain(table.groups.iter().map(over)).collect());
        }
        let rows: Vec<_> = table.lines.iter().map(|line| row(line, &table.heads)).collect();
        (!rows.is_empty()).then(|| Self::Table(PageTable { title: title.into(), heads, rows }))
    }

    /// A table with its own title.
    pub(super) fn titled(titled: &TitledTable) -> Option<Self> {
        Self::table(&titled.title, &titled.table)
    }

    pub(super) fn chart(chart: Chart) -> Self {
        let (drawn, table) = (PageChart::new(&chart), chart.table());
        Self::Chart(Box::new(ChartBlock { model: chart, drawn, table }))
    }
}

fn row(line: &TableLine, heads: &[TableHead]) -> Vec<PageCell> {
    match line {
        TableLine::Cells(cells) => {
            let align = |at: usize| heads.get(at).map_or(Align::Left, |head| head.align);
            let cells = cells.iter().enumerate();
            let cell = |(at, text): (usize, &String)| match at {
                0 => PageCell::head("row", align(0), text),
                _ => PageCell::plain(align(at), text),
            };
            cells.map(cell).collect()
        }
        TableLine::Heading(text) => {
            let text = text.trim_end_matches(':');
            let head = PageCell::head("", Align::Left, text);
            vec![PageCell { class: "group", span: heads.len(), ..head }]
        }
        TableLine::Note(first, text) => {
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
