//! What the sections of the page are made of: plain data, which `block.html` writes as elements.

use askama::Template;

use super::super::charts::Chart;
use super::super::export::svg::PageChart;
use super::super::table::{Align, Table, TableLine, TitledTable};
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
    /// A table in a box of its own that scrolls; folded away if it is long.
    Table(TitledTable),
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

/// A chart with the table of its values, from which the script reads them.
pub(super) struct ChartBlock {
    model: Chart,
    drawn: PageChart,
    table: Table,
    /// `12 values`.
    values: String,
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

    /// A table; nothing without lines.
    pub(super) fn table(title: &str, table: Table) -> Option<Self> {
        Self::titled(TitledTable { title: title.into(), table })
    }

    /// A table with its own title.
    pub(super) fn titled(titled: TitledTable) -> Option<Self> {
        (!titled.table.lines.is_empty()).then_some(Self::Table(titled))
    }

    pub(super) fn chart(chart: Chart) -> Self {
        let (drawn, table) = (PageChart::new(&chart), chart.table());
        let values = counted(table.rows() as u64, "value");
        Self::Chart(Box::new(ChartBlock { model: chart, drawn, table, values }))
    }
}

impl Table {
    /// Whether what stands in a column is aligned as words are.
    fn is_words(&self, column: &usize) -> bool {
        self.heads.get(*column).is_none_or(|head| head.align == Align::Left)
    }
}
