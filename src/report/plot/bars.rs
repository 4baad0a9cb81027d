//! Draws a row for each value: bars from the left, or markers on a track, with the number behind them.

use std::collections::BTreeMap;

use super::canvas::{Ink, Row};
use super::frame;
use super::style::Style;
use super::words::axis_label;
use crate::base::distinct::each_of_many_once;
use crate::report::charts::{AxisSpan, Chart, ChartPoint, ChartSeries, SeriesLook};
use crate::report::phases::mark;
use crate::report::text::{half_as_share, shorten, shorten_names, width};

/// Parts of a cell, from the left.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Columns that a bar has at least, where there is any room.
const BAR_MIN: usize = 6;

/// Columns that a name keeps.
const NAME_MIN: usize = 8;

/// Blanks between two numbers.
const GAP: usize = 2;

/// What stands before the rows of a group.
const INDENT: &str = "  ";

struct Entry<'a> {
    name: String,
    colour: usize,
    points: Vec<(&'a ChartSeries, &'a ChartPoint)>,
}

/// Rows that belong to one place on the x axis.
struct Group<'a> {
    name: String,
    entries: Vec<Entry<'a>>,
}

/// The picture, with what its rows are.
pub(super) fn rows(chart: &Chart, style: &Style) -> Vec<Row> {
    let mut groups = groups(chart);
    let has_heads = groups.iter().any(|group| group.entries.len() > 1);
    for group in groups.iter_mut().filter(|_| !has_heads) {
        group.entries.iter_mut().for_each(|entry| entry.name.clone_from(&group.name));
    }
    let most = (style.columns / 3).max(NAME_MIN);
    let names = groups.iter().flat_map(|group| &group.entries);
    let names = each_of_many_once(names.map(|entry| (entry.name.as_str(), most)));
    let short: BTreeMap<&str, String> =
        names.iter().map(|(name, _)| *name).zip(shorten_names(&names)).collect();
    let indent = if has_heads { INDENT } else { "" };
    let widest = short.values().map(|name| width(name)).max().unwrap_or_default();
    let sheet = Sheet::new(chart, style, &groups, indent.len() + widest + 1);
    let mut rows: Vec<Row> = head(chart, style).into_iter().collect();
    rows.extend(sheet.column_heads());
    for group in &groups {
        if has_heads {
            rows.push(Row::of(&shorten(&group.name, style.columns), Ink::Plain));
        }
        for entry in &group.entries {
            let name = short.get(entry.name.as_str()).unwrap_or(&entry.name);
            rows.push(sheet.row(entry, &format!("{indent}{name}")));
        }
    }
    rows.extend(frame::mark_rows(chart, style));
    rows.extend(frame::about_disturbed(chart, style));
    rows
}

/// What the numbers are, where the title does not say it.
fn head(chart: &Chart, style: &Style) -> Option<Row> {
    let label = axis_label(&chart.y);
    let is_title = chart.title.to_lowercase() == label.to_lowercase();
    let text = format!("{label}, by {}", chart.x.label);
    (!is_title).then(|| Row::of(&shorten(&text, style.columns), Ink::Faint))
}

/// From the left end of a bar to the right one of the longest.
fn span(chart: &Chart) -> AxisSpan<'_> {
    let bars = chart.series.iter().filter(|series| series.look == SeriesLook::Bars);
    let high = bars.flat_map(|series| &series.points).map(|point| point.y).fold(0.0, f64::max);
    let span = chart.y_span();
    if high > 0.0 { AxisSpan { low: 0.0, high, ..span } } else { span }
}

/// The rows by their places on the x axis.
fn groups(chart: &Chart) -> Vec<Group<'_>> {
    let mut places: Vec<f64> = chart.points().map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let group = |x: f64| {
        let mut entries = Vec::new();
        for series in chart.series.iter().filter(|series| series.look != SeriesLook::Raw) {
            for point in series.points.iter().filter(|point| point.x == x) {
                add(&mut entries, series, point);
            }
        }
        Group { name: chart.x.text(x), entries }
    };
    places.into_iter().map(group).collect()
}

/// Markers of one name share a row; each bar has its own.
fn add<'a>(entries: &mut Vec<Entry<'a>>, series: &'a ChartSeries, point: &'a ChartPoint) {
    let name = match entries.iter_mut().find(|entry| entry.name == series.name) {
        Some(entry) if series.look != SeriesLook::Bars => {
            return entry.points.push((series, point));
        }
        Some(_) => format!("{} {}", series.name, series.what),
        None => series.name.clone(),
    };
    entries.push(Entry { name, colour: series.colour, points: vec![(series, point)] });
}

struct Sheet<'a> {
    chart: &'a Chart,
    style: &'a Style,
    span: AxisSpan<'a>,
    /// Columns of the names, with the blanks beside them.
    lead: usize,
    /// Columns of the bars.
    track: usize,
    numbers: Vec<NumberColumn<'a>>,
    /// Columns of the intervals; none if there is no room for them.
    interval: usize,
}

struct NumberColumn<'a> {
    /// Which of a row's values; none if it has only one.
    what: Option<&'a str>,
    columns: usize,
}

impl<'a> Sheet<'a> {
    fn new(chart: &'a Chart, style: &'a Style, groups: &[Group<'a>], lead: usize) -> Self {
        let entries = || groups.iter().flat_map(|group| &group.entries);
        let whats = match entries().any(|entry| entry.points.len() > 1) {
            true => {
                let points = entries().flat_map(|entry| &entry.points);
                each_of_many_once(points.map(|(series, _)| Some(series.what.as_str())))
            }
            false => vec![None],
        };
        let column = |what: Option<&'a str>| {
            let texts = entries().map(|entry| width(&number(chart, entry, what)));
            let columns = texts.chain(what.map(width)).max().unwrap_or_default();
            NumberColumn { what, columns }
        };
        let mut numbers: Vec<NumberColumn<'a>> = whats.into_iter().map(column).collect();
        let rest = style.columns.saturating_sub(lead + 1);
        let room = rest.saturating_sub(BAR_MIN);
        while numbers.len() > 1 && taken(&numbers) > room {
            numbers.pop();
        }
        if let [only] = numbers.as_mut_slice() {
            only.columns = only.columns.min(room);
        }
        let intervals = entries().map(|entry| width(&interval(chart, entry)));
        let interval = intervals.filter(|columns| taken(&numbers) + columns <= room).max();
        let interval = interval.unwrap_or_default();
        let track = rest - taken(&numbers) - interval;
        Self { chart, style, span: span(chart), lead, track, numbers, interval }
    }

    /// Adds a text for each column of numbers.
    fn add_numbers(&self, row: &mut Row, ink: Ink, text: impl Fn(Option<&str>) -> String) {
        row.pad(self.lead + self.track + 1);
        for (at, NumberColumn { what, columns }) in self.numbers.iter().enumerate() {
            let gap = if at > 0 { GAP } else { 0 };
            row.right(&shorten(&text(*what), *columns), row.columns() + gap + columns, ink);
        }
    }

    /// Which number is which, above them.
    fn column_heads(&self) -> Option<Row> {
        self.numbers.iter().find(|numbers| numbers.what.is_some())?;
        let mut row = Row::default();
        self.add_numbers(&mut row, Ink::Faint, |what| what.unwrap_or_default().into());
        Some(row)
    }

    fn row(&self, entry: &Entry<'_>, name: &str) -> Row {
        let mut row = Row::of(name, Ink::Plain);
        row.pad(self.lead);
        match entry.points.as_slice() {
            [(series, point)] if series.look == SeriesLook::Bars => {
                let bar = bar(self.span.share(point.y), self.track, self.style.ascii);
                row.text(&bar, Ink::Series(entry.colour));
            }
            points => row.append(track(points, self.track, &self.span)),
        }
        self.add_numbers(&mut row, Ink::Plain, |what| number(self.chart, entry, what));
        let fits = |text: &String| width(text) <= self.interval;
        let texts = [interval(self.chart, entry), disturbed_mark(entry).to_string()];
        row.text(&texts.into_iter().find(fits).unwrap_or_default(), Ink::Plain);
        row
    }
}

/// A number of a row; empty if it has none of that kind.
fn number(chart: &Chart, entry: &Entry<'_>, what: Option<&str>) -> String {
    let mut points = entry.points.iter();
    let found = points.find(|(series, _)| what.is_none_or(|what| what == series.what));
    found.map(|(_, point)| chart.y.height(point)).unwrap_or_default()
}

/// How far off the number of a row may be, and whether it was measured under background load. Of several
/// numbers the intervals are seen on the track.
fn interval(chart: &Chart, entry: &Entry<'_>) -> String {
    let half = match entry.points.as_slice() {
        [(_, point)] => interval_text(chart, point),
        _ => String::new(),
    };
    half + disturbed_mark(entry)
}

fn disturbed_mark(entry: &Entry<'_>) -> &'static str {
    mark(entry.points.iter().any(|(_, point)| point.disturbed))
}

/// Columns that numbers take with the blanks between them.
fn taken(numbers: &[NumberColumn<'_>]) -> usize {
    let gaps = GAP * numbers.len().saturating_sub(1);
    numbers.iter().map(|numbers| numbers.columns).sum::<usize>() + gaps
}

/// A bar of a share of so many columns; what is above nothing shows.
pub(super) fn bar(share: f64, columns: usize, ascii: bool) -> String {
    let parts = if ascii { 2 } else { EIGHTHS.len() };
    let whole = columns * parts;
    let filled = (share.clamp(0.0, 1.0) * whole as f64).round() as usize;
    let filled = if share > 0.0 { filled.max(1) } else { 0 };
    let (full, rest) = (filled / parts, filled % parts);
    if ascii {
        return "#".repeat(full) + if rest > 0 { "-" } else { "" };
    }
    "█".repeat(full) + EIGHTHS[rest]
}

/// Markers where the values lie, with their intervals.
fn track(points: &[(&ChartSeries, &ChartPoint)], columns: usize, span: &AxisSpan<'_>) -> Row {
    let mut cells = vec![('·', Ink::Faint); columns.max(1)];
    let last = cells.len() - 1;
    let at = |value: f64| (span.share(value) * last as f64).round() as usize;
    for (series, point) in points {
        if let Some([low, high]) = point.interval {
            cells[at(low)..=at(high).max(at(low))].fill(('─', Ink::Series(series.colour)));
        }
    }
    for (series, point) in points {
        cells[at(point.y)] = ('●', Ink::Series(series.colour));
    }
    let mut row = Row::default();
    cells.into_iter().for_each(|(symbol, ink)| row.push(symbol, ink));
    row
}

/// The longer side of an interval may be so many times as long as the shorter one to be written as `±`.
const SIDES_ALIKE_MAX: f64 = 1.25;

/// Half the interval as a share, ` ±3%`; its ends where it is wide or its sides differ. Empty if it is not known.
fn interval_text(chart: &Chart, point: &ChartPoint) -> String {
    let Some([low, high]) = point.interval else { return String::new() };
    let [below, above] = [point.y - low, high - point.y];
    let half = below.max(above);
    let is_even = half <= SIDES_ALIKE_MAX * below.min(above) && point.extremes.is_none();
    let share = Some(half / point.y).filter(|share| share.is_finite() && *share >= 0.0 && is_even);
    half_as_share(share)
        .map_or_else(|| format!(" ({})", chart.y.interval(point)), |share| format!(" {share}"))
}
