//! A row for each value: bars from the left, or markers on a track, with the number behind them.

use std::collections::BTreeMap;

use super::frame::Span;
use super::legend;
use super::row::{Ink, Row};
use super::{Style, axis_label, figure_text};
use crate::report::figures::{Figure, Look, Point, Scale, Series};
use crate::report::text::{shorten, shorten_names, uncertainty, width};

/// Parts of a cell, from the left.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Columns that a bar has at least, where there is any room.
const BAR_MIN: usize = 6;

/// Columns that a name keeps.
const NAME_MIN: usize = 8;

/// What stands before the rows of a group.
const INDENT: &str = "  ";

/// A row of the chart.
struct Entry<'a> {
    name: String,
    colour: usize,
    points: Vec<(&'a Series, &'a Point)>,
}

/// Rows that belong to one place on the x axis.
struct Group<'a> {
    name: String,
    entries: Vec<Entry<'a>>,
}

/// Columns of the parts of a row.
struct Layout {
    indent: &'static str,
    name: usize,
    track: usize,
    value: usize,
    /// None if there is no room for intervals.
    interval: usize,
    /// Whether there is room to say which value is which.
    is_long: bool,
}

/// The picture, with what its rows are.
pub(super) fn rows(figure: &Figure, style: &Style) -> Vec<Row> {
    let groups = groups(figure, style);
    let has_heads = groups.len() > 1 && groups.iter().any(|group| group.entries.len() > 1);
    let groups = if has_heads { groups } else { flat(groups) };
    let span = span(figure);
    let names = short_names(&groups, style);
    let layout = layout(&groups, &names, figure, style, has_heads);
    let mut rows: Vec<Row> = head(figure, style).into_iter().collect();
    for group in &groups {
        if has_heads {
            rows.push(Row::of(&shorten(&group.name, style.columns), Ink::Plain));
        }
        for entry in &group.entries {
            let name = names.get(&entry.name).unwrap_or(&entry.name);
            rows.push(row(entry, name, &layout, &span, figure, style));
        }
    }
    rows.extend(legend::marks(figure, style));
    rows.extend(legend::disturbed(figure, style));
    rows
}

/// What the numbers are, where the title does not say it.
fn head(figure: &Figure, style: &Style) -> Option<Row> {
    let label = axis_label(&figure.y);
    let is_told = figure.title.to_lowercase() == label.to_lowercase();
    let text = format!("{label}, by {}", figure.x.label);
    (!is_told).then(|| Row::of(&shorten(&text, style.columns), Ink::Faint))
}

/// From the left end of a bar to the right one of the longest.
fn span(figure: &Figure) -> Span<'_> {
    let has_bars = figure.series.iter().any(|series| series.look == Look::Bars);
    let values = figure.series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let is_from_zero = has_bars && figure.y.scale == Scale::Linear && largest > 0.0;
    Span::new(&figure.y, if is_from_zero { [0.0, largest] } else { figure.range_y() })
}

/// The rows by their places on the x axis.
fn groups<'a>(figure: &'a Figure, style: &Style) -> Vec<Group<'a>> {
    let mut places: Vec<f64> =
        figure.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let group = |x: f64| {
        let name = figure_text(&figure.x.text(x), style);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for series in figure.series.iter().filter(|series| series.look != Look::Raw) {
            for point in series.points.iter().filter(|point| point.x == x) {
                add(&mut entries, series, point);
            }
        }
        Group { name, entries }
    };
    places.into_iter().map(group).collect()
}

/// Markers of one name share a row; each bar has its own.
fn add<'a>(entries: &mut Vec<Entry<'a>>, series: &'a Series, point: &'a Point) {
    let known = entries.iter_mut().find(|entry| entry.name == series.name);
    match known {
        Some(entry) if series.look != Look::Bars => entry.points.push((series, point)),
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

/// Groups of one row each, which is called as the group is; or one group without a name.
fn flat(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    if groups.len() == 1 {
        return groups;
    }
    let rows = groups.into_iter().map(|mut group| {
        group.entries.iter_mut().for_each(|entry| entry.name.clone_from(&group.name));
        group
    });
    rows.collect()
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

fn layout(
    groups: &[Group<'_>],
    names: &BTreeMap<String, String>,
    figure: &Figure,
    style: &Style,
    has_heads: bool,
) -> Layout {
    let entries = || groups.iter().flat_map(|group| &group.entries);
    let indent = if has_heads { INDENT } else { "" };
    let name = names.values().map(|name| width(name)).max().unwrap_or_default();
    let widest = |text: &dyn Fn(&Entry<'_>) -> String| {
        entries().map(|entry| width(&text(entry))).max().unwrap_or_default()
    };
    let value = |is_long: bool| widest(&|entry| value_text(entry, is_long, figure, style));
    let is_long = value(true) <= style.columns / 2;
    let rest = style.columns.saturating_sub(indent.len() + name + 2);
    let room = rest.saturating_sub(BAR_MIN);
    let value = value(is_long).min(room);
    let interval = Some(widest(&|entry| interval_text(entry, style)));
    let interval = interval.filter(|interval| value + interval <= room).unwrap_or_default();
    Layout { indent, name, track: rest - value - interval, value, interval, is_long }
}

fn row(
    entry: &Entry<'_>,
    name: &str,
    layout: &Layout,
    span: &Span<'_>,
    figure: &Figure,
    style: &Style,
) -> Row {
    let mut row = Row::of(layout.indent, Ink::Plain);
    row.text(name, Ink::Plain);
    row.pad(layout.indent.len() + layout.name);
    row.push(' ', Ink::Plain);
    match entry.points.as_slice() {
        [(series, point)] if series.look == Look::Bars => {
            let bar = bar(span.share_or_low(point.y), layout.track, style.ascii);
            row.text(&bar, Ink::Series(entry.colour));
        }
        points => row.append(track(points, layout.track, span, style)),
    }
    row.pad(layout.indent.len() + layout.name + 1 + layout.track + 1);
    let value = value_text(entry, layout.is_long, figure, style);
    row.right(&shorten(&value, layout.value), row.columns() + layout.value, Ink::Plain);
    row.text(&shorten(&interval_text(entry, style), layout.interval), Ink::Plain);
    row
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
fn track(points: &[(&Series, &Point)], columns: usize, span: &Span<'_>, style: &Style) -> Row {
    let ascii = usize::from(style.ascii);
    let mut cells = vec![(['·', '.'][ascii], Ink::Faint); columns.max(1)];
    let last = cells.len() - 1;
    let at = |value: f64| (span.share_or_low(value) * last as f64).round() as usize;
    for (series, point) in points {
        if let Some([low, high]) = point.interval {
            cells[at(low)..=at(high).max(at(low))]
                .fill((['─', '-'][ascii], Ink::Series(series.colour)));
        }
    }
    for (series, point) in points.iter().filter(|(_, point)| span.share(point.y).is_some()) {
        cells[at(point.y)] = (['●', 'o'][ascii], Ink::Series(series.colour));
    }
    let mut row = Row::default();
    cells.into_iter().for_each(|(symbol, ink)| row.push(symbol, ink));
    row
}

/// The numbers of a row.
fn value_text(entry: &Entry<'_>, is_long: bool, figure: &Figure, style: &Style) -> String {
    let number = |point: &Point| figure_text(&figure.y.text(point.y), style);
    match entry.points.as_slice() {
        [(_, point)] => number(point),
        points => {
            let text = |(series, point): &(&Series, &Point)| {
                let what = if is_long { format!("{} ", series.what) } else { String::new() };
                format!("{what}{}{}", number(point), asterisk(point))
            };
            let texts: Vec<String> = points.iter().map(text).collect();
            texts.join(if is_long { "  " } else { " " })
        }
    }
}

/// How far off the number of a row may be; of several they are seen alone.
fn interval_text(entry: &Entry<'_>, style: &Style) -> String {
    match entry.points.as_slice() {
        [(_, point)] => format!("{}{}", half_text(point, style), asterisk(point)),
        _ => String::new(),
    }
}

fn asterisk(point: &Point) -> &'static str {
    if point.disturbed { "*" } else { "" }
}

/// The wider side of the interval as a share: ` ±3%`.
fn half_text(point: &Point, style: &Style) -> String {
    let Some([low, high]) = point.interval else { return String::new() };
    let half = (point.y - low).max(high - point.y);
    let share = Some(half / point.y).filter(|share| share.is_finite() && *share >= 0.0);
    match uncertainty(share) {
        text if text.is_empty() => text,
        text => figure_text(&format!(" {text}"), style),
    }
}
