//! A row for each value: bars from the left, or markers on a track, with the number behind them.

use std::collections::BTreeMap;

use super::legend;
use super::row::{Ink, Row};
use super::{Style, axis_label, figure_text};
use crate::report::charts::{AxisSpan, Chart, ChartPoint, ChartSeries, SeriesLook};
use crate::report::text::{shorten, shorten_names, uncertainty, width};

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

/// A row of the chart.
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
    let groups = groups(chart, style);
    let has_heads = groups.iter().any(|group| group.entries.len() > 1);
    let groups = if has_heads { groups } else { flat(groups) };
    let names = short_names(&groups, style);
    let sheet = Sheet {
        chart,
        style,
        span: span(chart),
        indent: if has_heads { INDENT } else { "" },
        name: names.values().map(|name| width(name)).max().unwrap_or_default(),
    };
    let layout = sheet.layout(&groups);
    let mut rows: Vec<Row> = head(chart, style).into_iter().collect();
    rows.extend(sheet.column_heads(&layout));
    for group in &groups {
        if has_heads {
            rows.push(Row::of(&shorten(&group.name, style.columns), Ink::Plain));
        }
        for entry in &group.entries {
            let name = names.get(&entry.name).unwrap_or(&entry.name);
            rows.push(sheet.row(entry, name, &layout));
        }
    }
    rows.extend(legend::marks(chart, style));
    rows.extend(legend::disturbed(chart, style));
    rows
}

/// What the numbers are, where the title does not say it.
fn head(chart: &Chart, style: &Style) -> Option<Row> {
    let label = axis_label(&chart.y);
    let is_told = chart.title.to_lowercase() == label.to_lowercase();
    let text = format!("{label}, by {}", chart.x.label);
    (!is_told).then(|| Row::of(&shorten(&text, style.columns), Ink::Faint))
}

/// From the left end of a bar to the right one of the longest.
fn span(chart: &Chart) -> AxisSpan<'_> {
    let bars = chart.series.iter().filter(|series| series.look == SeriesLook::Bars);
    let high = bars.flat_map(|series| &series.points).map(|point| point.y).fold(0.0, f64::max);
    let span = chart.y_span();
    if high > 0.0 { AxisSpan { low: 0.0, high, ..span } } else { span }
}

/// The rows by their places on the x axis.
fn groups<'a>(chart: &'a Chart, style: &Style) -> Vec<Group<'a>> {
    let mut places: Vec<f64> =
        chart.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let group = |x: f64| {
        let name = figure_text(&chart.x.text(x), style);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for series in chart.series.iter().filter(|series| series.look != SeriesLook::Raw) {
            for point in series.points.iter().filter(|point| point.x == x) {
                add(&mut entries, series, point);
            }
        }
        Group { name, entries }
    };
    places.into_iter().map(group).collect()
}

/// Markers of one name share a row; each bar has its own.
fn add<'a>(entries: &mut Vec<Entry<'a>>, series: &'a ChartSeries, point: &'a ChartPoint) {
    let known = entries.iter_mut().find(|entry| entry.name == series.name);
    match known {
        Some(entry) if series.look != SeriesLook::Bars => entry.points.push((series, point)),
        Some(_) => {
            let name = format!("{} {}", series.name, series.what);
            entries.push(Entry { name, colour: series.colour, points: vec![(series, point)] });
        }
        None => {
            let (name, colour) = (series.name.clone(), series.colour);
            entries.push(Entry { name, colour, points: vec![(series, point)] });
        }
    }
}

/// Groups of one row each, which is called as the group is.
fn flat(mut groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    for group in &mut groups {
        group.entries.iter_mut().for_each(|entry| entry.name.clone_from(&group.name));
    }
    groups
}

/// Names of rows as they are shown, each different.
fn short_names(groups: &[Group<'_>], style: &Style) -> BTreeMap<String, String> {
    let most = (style.columns / 3).max(NAME_MIN);
    let mut names: Vec<(&str, usize)> = Vec::new();
    for entry in groups.iter().flat_map(|group| &group.entries) {
        if !names.iter().any(|(name, _)| *name == entry.name) {
            names.push((&entry.name, most));
        }
    }
    let short = shorten_names(&names);
    names.iter().map(|(name, _)| name.to_string()).zip(short).collect()
}

/// What all rows share.
struct Sheet<'a> {
    chart: &'a Chart,
    style: &'a Style,
    span: AxisSpan<'a>,
    indent: &'static str,
    /// Columns of the names.
    name: usize,
}

/// Columns right of the names.
struct Layout<'a> {
    track: usize,
    numbers: Vec<Numbers<'a>>,
    /// None if there is no room for intervals.
    interval: usize,
}

/// A column of numbers.
struct Numbers<'a> {
    /// Which of a row's values; none if it has only one.
    what: Option<&'a str>,
    columns: usize,
}

impl Sheet<'_> {
    fn layout<'a>(&self, groups: &[Group<'a>]) -> Layout<'a> {
        let entries: Vec<&Entry<'a>> = groups.iter().flat_map(|group| &group.entries).collect();
        let mut whats: Vec<Option<&str>> = Vec::new();
        if entries.iter().any(|entry| entry.points.len() > 1) {
            for (series, _) in entries.iter().flat_map(|entry| &entry.points) {
                if !whats.contains(&Some(&series.what)) {
                    whats.push(Some(&series.what));
                }
            }
        } else {
            whats.push(None);
        }
        let column = |what: Option<&'a str>| {
            let texts = entries.iter().map(|entry| width(&self.number(entry, what)));
            let columns = texts.chain(what.map(width)).max().unwrap_or_default();
            Numbers { what, columns }
        };
        let mut numbers: Vec<Numbers<'a>> = whats.into_iter().map(column).collect();
        let rest = self.style.columns.saturating_sub(self.indent.len() + self.name + 2);
        let room = rest.saturating_sub(BAR_MIN);
        while numbers.len() > 1 && taken(&numbers) > room {
            numbers.pop();
        }
        if let [only] = numbers.as_mut_slice() {
            only.columns = only.columns.min(room);
        }
        let intervals = entries.iter().map(|entry| width(&self.interval(entry)));
        let interval = intervals.max().filter(|columns| taken(&numbers) + columns <= room);
        let interval = interval.unwrap_or_default();
        Layout { track: rest - taken(&numbers) - interval, numbers, interval }
    }

    /// Which number is which, above them.
    fn column_heads(&self, layout: &Layout<'_>) -> Option<Row> {
        layout.numbers.iter().find(|numbers| numbers.what.is_some())?;
        let mut row = Row::default();
        row.pad(self.indent.len() + self.name + 1 + layout.track + 1);
        for (at, numbers) in layout.numbers.iter().enumerate() {
            let gap = if at > 0 { GAP } else { 0 };
            let what = shorten(numbers.what.unwrap_or_default(), numbers.columns);
            row.right(&what, row.columns() + gap + numbers.columns, Ink::Faint);
        }
        Some(row)
    }

    fn row(&self, entry: &Entry<'_>, name: &str, layout: &Layout<'_>) -> Row {
        let mut row = Row::of(self.indent, Ink::Plain);
        row.text(name, Ink::Plain);
        row.pad(self.indent.len() + self.name + 1);
        match entry.points.as_slice() {
            [(series, point)] if series.look == SeriesLook::Bars => {
                let bar = bar(self.span.share(point.y), layout.track, self.style.ascii);
                row.text(&bar, Ink::Series(entry.colour));
            }
            points => row.append(track(points, layout.track, &self.span, self.style)),
        }
        row.pad(self.indent.len() + self.name + 1 + layout.track + 1);
        for (at, numbers) in layout.numbers.iter().enumerate() {
            let gap = if at > 0 { GAP } else { 0 };
            let number = shorten(&self.number(entry, numbers.what), numbers.columns);
            row.right(&number, row.columns() + gap + numbers.columns, Ink::Plain);
        }
        row.text(&shorten(&self.interval(entry), layout.interval), Ink::Plain);
        row
    }

    /// A number of a row; empty if it has none of that kind.
    fn number(&self, entry: &Entry<'_>, what: Option<&str>) -> String {
        let is_it = |series: &ChartSeries| what.is_none_or(|what| what == series.what);
        let found = entry.points.iter().find(|(series, _)| is_it(series));
        let text = |(_, point): &(&ChartSeries, &ChartPoint)| {
            figure_text(&self.chart.y.height(point), self.style)
        };
        found.map(text).unwrap_or_default()
    }

    /// How far off the number of a row may be, and whether it was measured under background load. Of several
    /// numbers the intervals are seen on the track.
    fn interval(&self, entry: &Entry<'_>) -> String {
        let half = match entry.points.as_slice() {
            [(_, point)] => half_text(point, self.style),
            _ => String::new(),
        };
        let is_disturbed = entry.points.iter().any(|(_, point)| point.disturbed);
        format!("{half}{}", if is_disturbed { "*" } else { "" })
    }
}

/// Columns that numbers take with the blanks between them.
fn taken(numbers: &[Numbers<'_>]) -> usize {
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
fn track(
    points: &[(&ChartSeries, &ChartPoint)],
    columns: usize,
    span: &AxisSpan<'_>,
    style: &Style,
) -> Row {
    let ascii = usize::from(style.ascii);
    let mut cells = vec![(['·', '.'][ascii], Ink::Faint); columns.max(1)];
    let last = cells.len() - 1;
    let at = |value: f64| (span.share(value) * last as f64).round() as usize;
    for (series, point) in points {
        if let Some([low, high]) = point.interval {
            cells[at(low)..=at(high).max(at(low))]
                .fill((['─', '-'][ascii], Ink::Series(series.colour)));
        }
    }
    for (series, point) in points {
        cells[at(point.y)] = (['●', 'o'][ascii], Ink::Series(series.colour));
    }
    let mut row = Row::default();
    cells.into_iter().for_each(|(symbol, ink)| row.push(symbol, ink));
    row
}

/// The wider side of the interval as a share: ` ±3%`.
fn half_text(point: &ChartPoint, style: &Style) -> String {
    let Some([low, high]) = point.interval else { return String::new() };
    let half = (point.y - low).max(high - point.y);
    let share = Some(half / point.y).filter(|share| share.is_finite() && *share >= 0.0);
    match uncertainty(share) {
        text if text.is_empty() => text,
        text => figure_text(&format!(" {text}"), style),
    }
}
