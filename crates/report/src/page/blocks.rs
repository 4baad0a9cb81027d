//! Defines the blocks of the page's sections as plain data, which `block.html` writes as elements.

use askama::Template;

use super::super::charts::Chart;
use super::super::export::svg::PageChart;
use super::super::table::{Align, Table, TableLine, TitledTable};
use boatload_base::units::counted;

/// Longer tables are folded away.
const ROWS_OPEN_MAX: usize = 40;

#[derive(Template)]
#[template(path = "block.html")]
pub(super) enum PageBlock {
    /// That there is nothing, and why.
    Empty(String),
    Heading(String),
    Note(String),
    /// The answer, and how reliable it is.
    Answer {
        text: String,
        reliability: String,
    },
    /// Parts that are folded away under a title.
    Folded {
        title: String,
        blocks: Vec<PageBlock>,
    },
    Sentences {
        class: &'static str,
        all: Vec<PageSentence>,
    },
    /// A table in a box of its own that scrolls; folded away if it is long.
    Table(TitledTable),
    /// Names and texts, in two columns.
    Facts(Vec<(String, String)>),
    Command(String),
    JobFile(String),
    /// A chart with the table of its values, from which the script reads them.
    Chart(Box<PageChart>),
}

/// A sentence; `lead` stands before it in bold type, `hint` after it.
#[derive(Default)]
pub(super) struct PageSentence {
    pub(super) lead: &'static str,
    pub(super) text: String,
    pub(super) hint: String,
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
        (!all.is_empty()).then_some(Self::Sentences { class, all })
    }

    /// Parts under a title; nothing without any.
    pub(super) fn folded(title: impl Into<String>, blocks: Vec<Self>) -> Option<Self> {
        (!blocks.is_empty()).then(|| Self::Folded { title: title.into(), blocks })
    }

    pub(super) fn chart(chart: Chart) -> Self {
        Self::Chart(Box::new(PageChart::new(chart)))
    }

    /// A chart under its title.
    pub(super) fn folded_chart(self) -> Option<Self> {
        let Self::Chart(chart) = &self else { return Some(self) };
        Self::folded(chart.chart.title.clone(), vec![self])
    }

    /// A table; nothing without lines.
    pub(super) fn table(title: &str, table: Table) -> Option<Self> {
        Self::titled(TitledTable { title: title.into(), table })
    }

    pub(super) fn titled(titled: TitledTable) -> Option<Self> {
        (!titled.table.lines.is_empty()).then_some(Self::Table(titled))
    }
}

impl Table {
    /// Whether what stands in a column is aligned as words are.
    fn is_words(&self, column: &usize) -> bool {
        self.heads.get(*column).is_none_or(|head| head.align == Align::Left)
    }
}

/// `12 values`.
fn counted_rows(table: &Table) -> String {
    counted(table.rows() as u64, "value")
}
