//! Writes scripts for gnuplot, each with its data beside it, so that a chart can be changed by hand.

use std::fmt::Write;

use super::format::{ExportFormat, ExportText, no_figures, safe};
use crate::analysis::Analysis;
use crate::base::failure::shown;
use crate::report::charts::{
    AxisScale, AxisSpan, Chart, ChartMark, ChartPoint, ChartSeries, HEAT, SeriesLook, SeriesSlot,
    aside, charts, colour, shorten_ticks,
};
use crate::report::text::{shorten, shorten_names, width};

pub(super) const GNUPLOT: ExportFormat = ExportFormat {
    name: "gnuplot",
    about: "scripts with their data, each of which gives a PNG",
    has_phases: false,
    texts: scripts,
};

fn scripts(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let all = charts(&[analysis]);
    if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().flat_map(texts).collect()) }
}

pub(super) fn texts(chart: &Chart) -> [ExportText; 2] {
    let key = safe(&chart.key);
    let blocks = blocks(chart);
    let file = |ending, text| ExportText { name: format!("{key}.{ending}"), text };
    [file("gp", script(chart, &key, &blocks)), file("dat", data_text(chart, &blocks))]
}

const POINTS: &str = "place x value low high n disturbed";
const CELLS: &str = "left right low high shade n";

/// The rows of a series: a block of the data, two empty lines from the next, as gnuplot's `index`
/// counts them.
struct DataBlock<'a> {
    series: &'a ChartSeries,
    slot: SeriesSlot,
    rows: Vec<String>,
}

fn blocks(chart: &Chart) -> Vec<DataBlock<'_>> {
    let all = chart.series.iter().zip(chart.slots());
    all.map(|(series, slot)| DataBlock { series, slot, rows: rows(series, slot) }).collect()
}

fn rows(series: &ChartSeries, slot: SeriesSlot) -> Vec<String> {
    let mut rows = Vec::new();
    for (at, point) in series.points.iter().enumerate() {
        if let Some(cell) = point.cell {
            let ends = [point.x, cell.end, point.y - 0.5, point.y + 0.5, cell.shade].map(number);
            rows.push(format!("{} {}", ends.join(" "), point.n));
            continue;
        }
        let aside = if series.look == SeriesLook::Raw { aside(at) * slot.width } else { 0.0 };
        let [low, high] = point.interval.unwrap_or([f64::NAN; 2]);
        let numbers = [point.x + slot.shift + aside, point.x, point.y, low, high].map(number);
        rows.push(format!("{} {} {}", numbers.join(" "), point.n, u8::from(point.disturbed)));
    }
    rows
}

/// The file of the data. What is not known is NaN.
fn data_text(chart: &Chart, blocks: &[DataBlock<'_>]) -> String {
    let [title, y, x] = [&chart.title, &chart.y.label, &chart.x.label].map(shown);
    let mut text = format!("# {title}: {y} by {x}, in bytes, seconds, percent or counts\n");
    chart.all_notes().iter().for_each(|note| text += &format!("# {}\n", shown(note)));
    for block in blocks {
        let ChartSeries { name, what, look, .. } = block.series;
        let columns = if *look == SeriesLook::Cells { CELLS } else { POINTS };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {}, {}\n# {columns}", shown(name), shown(what));
        block.rows.iter().for_each(|row| text.extend([row, "\n"]));
        text.push_str("\n\n");
    }
    text
}

/// In single quotes nothing has a meaning to gnuplot, neither backslashes nor backquotes, but for the
/// quote itself, which is written twice (gnuplot's manual, "Quote marks").
fn quoted(text: &str) -> String {
    format!("'{}'", shown(text).replace('\'', "''"))
}

/// The same beside a tick, where `%` begins a number's format.
fn tick(text: &str) -> String {
    quoted(&text.replace('%', "%%"))
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "NaN".into() }
}

// --- the script, with all ranges and ticks, so that it shows what the other renderings show -------

const TITLE_COLUMNS: usize = 100;
const LABEL_COLUMNS: usize = 90;
const KEY_COLUMNS: usize = 40;
const TICK_COLUMNS: usize = 24;

/// Columns that texts along the x axis may take before they are turned.
const LEVEL_COLUMNS: usize = 90;

const DARK: &str = "#1d2939";

/// Markers and dashes by their turn among those drawn alike.
const MARKERS: [u8; 4] = [7, 5, 9, 13];
const DASHES: [&str; 4] = ["1", "3", "4", "5"];
const HATCHED: [u8; 4] = [4, 5, 1, 2];

const HEAD: &str = "\
set encoding utf8
set datafile missing 'NaN'
set border 3 lc rgb '#98a2b3'
set tics out nomirror textcolor rgb '#475467'
set key outside right top vertical Left reverse samplen 2
";

/// The script; it reads `KEY.dat` and writes `KEY.png` beside itself.
fn script(chart: &Chart, key: &str, blocks: &[DataBlock<'_>]) -> String {
    let mut lines = vec![format!("# gnuplot {key}.gp reads {key}.dat and writes {key}.png")];
    // Several scripts may be run at once; one must not take over what another has set.
    lines.push("reset session".into());
    lines.push(terminal(chart));
    lines.push(HEAD.trim_end().into());
    lines.push(format!("set output '{key}.png'"));
    // What a picture lacks stands in it.
    let head = [&chart.title, &chart.question].into_iter().cloned().chain(chart.all_notes());
    let head = head.map(|text| quoted(&shorten(&text, TITLE_COLUMNS))).collect::<Vec<_>>();
    lines.push(format!("set title {}", head.join(".\"\\n\".")));
    let across = if chart.x.is_named() { "" } else { "xtics " };
    let along = if chart.y.is_named() { "" } else { "ytics " };
    if !(across.is_empty() && along.is_empty()) {
        lines.push(format!("set grid {across}{along}lt 1 lc rgb '#e4e7ec'"));
    }
    lines.extend(axis("x", &chart.x_span(), 9));
    lines.extend(axis("y", &chart.y_span(), 8));
    if let Some(span) = chart.shade_span() {
        lines.extend(axis("cb", &span, 6));
        lines.push(format!("set palette defined ({})", palette()));
    }
    lines.extend(chart.marks.iter().enumerate().flat_map(|(at, mark)| self::mark(at + 1, mark)));
    lines.push(format!("plot {}", plots(chart, key, blocks).join(", \\\n     ")));
    lines.join("\n") + "\n"
}

/// Names beside the picture have a line each.
fn terminal(chart: &Chart) -> String {
    let height = (240 + 24 * chart.y.names().len()).clamp(720, 1800);
    format!(
        "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {{\n    \
         set terminal pngcairo noenhanced size 1200,{height} font 'sans,12'\n}} else {{\n    \
         set terminal png noenhanced size 1200,{height}\n}}"
    )
}

fn axis(name: &str, span: &AxisSpan<'_>, wanted: usize) -> Vec<String> {
    let axis = span.axis;
    let label = quoted(&shorten(&axis.label, LABEL_COLUMNS));
    let mut lines = vec![format!("set {name}label {label}")];
    if axis.scale == AxisScale::Logarithmic {
        lines.push(format!("set logscale {name}"));
    }
    lines.push(format!("set {name}range [{}:{}]", number(span.low), number(span.high)));
    let ticks = shorten_ticks(span.ticks(wanted), TICK_COLUMNS);
    let columns: usize = ticks.iter().map(|tick| width(&tick.text) + 2).sum();
    let turned = if name == "x" && columns > LEVEL_COLUMNS { " rotate by 30 right" } else { "" };
    let places = ticks.iter().map(|one| format!("{} {}", tick(&one.text), number(one.at)));
    let places = places.collect::<Vec<_>>().join(", ");
    // An empty list would be taken for no list.
    if !places.is_empty() {
        let bare = if axis.is_named() { " scale 0" } else { "" };
        lines.push(format!("set {name}tics{bare}{turned} ({places})"));
    }
    lines
}

fn palette() -> String {
    let colour = |(at, [r, g, b]): (usize, &[u8; 3])| format!("{at} '#{r:02x}{g:02x}{b:02x}'");
    HEAT.iter().enumerate().map(colour).collect::<Vec<_>>().join(", ")
}

/// A line with its words along it, and its interval behind.
fn mark(number_of: usize, mark: &ChartMark) -> Vec<String> {
    let shade = mark.colour.map_or(DARK, |number| colour(number).light);
    let x = number(mark.x);
    let mut lines = Vec::new();
    if let Some([low, high]) = mark.interval {
        lines.push(format!(
            "set object {number_of} rectangle from {}, graph 0 to {}, graph 1 behind \
             fillcolor rgb '{shade}' fillstyle transparent solid 0.1 noborder",
            number(low),
            number(high)
        ));
    }
    lines.push(format!(
        "set arrow {number_of} from {x}, graph 0 to {x}, graph 1 nohead dashtype 2 lc rgb '{shade}'"
    ));
    lines.push(format!(
        "set label {number_of} {} at {x}, graph 0.98 rotate by 90 right offset 0.9,0 \
         textcolor rgb '{shade}' front",
        quoted(&shorten(&mark.label, KEY_COLUMNS))
    ));
    lines
}

fn plots(chart: &Chart, key: &str, blocks: &[DataBlock<'_>]) -> Vec<String> {
    let names: Vec<String> = (0..blocks.len()).map(|at| title(chart, blocks, at)).collect();
    let names: Vec<_> = names.iter().map(|name| (&**name, KEY_COLUMNS)).collect();
    let titles = shorten_names(&names);
    let order = chart.back_to_front().into_iter();
    let plot = |at: usize| {
        let from = format!("'{key}.dat' index {at} using");
        parts(chart, &blocks[at], &from, &titles[at])
    };
    order.flat_map(|(at, ..)| plot(at)).collect()
}

/// The name, with what its points are where there is more than one thing; dark dots are all alike.
fn title(chart: &Chart, blocks: &[DataBlock<'_>], at: usize) -> String {
    let series = blocks[at].series;
    if series.look == SeriesLook::Raw && chart.has(SeriesLook::Bars) {
        let is_first = blocks[..at].iter().all(|block| block.series.look != SeriesLook::Raw);
        return if is_first { series.what.clone() } else { String::new() };
    }
    if chart.whats().len() > 1 {
        return format!("{}: {}", series.name, series.what);
    }
    series.name.clone()
}

fn parts(chart: &Chart, block: &DataBlock<'_>, from: &str, title: &str) -> Vec<String> {
    let series = block.series;
    let shade = format!("lc rgb '{}'", colour(series.colour).light);
    let pattern = block.slot.pattern;
    let (point, dash) = (MARKERS[pattern % MARKERS.len()], DASHES[pattern % DASHES.len()]);
    let title =
        if title.is_empty() { "notitle".into() } else { format!("title {}", quoted(title)) };
    let mut parts = match series.look {
        SeriesLook::Cells => vec![format!(
            "{from} (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror fillstyle solid noborder \
             fillcolor palette notitle"
        )],
        SeriesLook::Band => vec![format!(
            "{from} 1:({}):5 with filledcurves fillstyle transparent solid 0.18 noborder {shade} {title}",
            low(chart)
        )],
        SeriesLook::Bars => vec![bars(block, from, &shade, &title)],
        SeriesLook::Law => vec![format!("{from} 1:3 with lines {shade} lw 1.6 dashtype 2 {title}")],
        SeriesLook::Curve => {
            vec![format!("{from} 1:3 with lines {shade} lw 2 dashtype {dash} {title}")]
        }
        SeriesLook::Line => vec![format!(
            "{from} 1:3 with linespoints {shade} lw 2 dashtype {dash} pt {point} {title}"
        )],
        SeriesLook::Markers => vec![format!("{from} 1:3 with points {shade} pt {point} {title}")],
        // Single values are dark where they stand on bars.
        SeriesLook::Raw if chart.has(SeriesLook::Bars) => {
            vec![format!("{from} 1:3 with points lc rgb '{DARK}' pt 7 ps 0.5 {title}")]
        }
        SeriesLook::Raw => vec![format!("{from} 1:3 with points {shade} pt 7 ps 0.5 {title}")],
    };
    parts.extend(beside(chart, block, from, &shade));
    parts
}

fn bars(block: &DataBlock<'_>, from: &str, shade: &str, title: &str) -> String {
    let SeriesSlot { width, pattern, .. } = block.slot;
    let place = format!("1:3:({})", number(width));
    let fill = match pattern {
        0 => "solid 0.85 noborder".into(),
        hatched => format!("pattern {} border {shade}", HATCHED[(hatched - 1) % HATCHED.len()]),
    };
    format!("{from} {place} with boxes fillstyle {fill} {shade} {title}")
}

/// Whiskers, and the white heart of what was disturbed.
fn beside(chart: &Chart, block: &DataBlock<'_>, from: &str, shade: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let look = block.series.look;
    let has = |is: fn(&ChartPoint) -> bool| block.series.points.iter().any(is);
    if block.series.has_whiskers() && has(|point| point.interval.is_some()) {
        let shade =
            if look == SeriesLook::Bars { format!("lc rgb '{DARK}'") } else { shade.to_string() };
        let is_logarithmic = chart.y.scale == AxisScale::Logarithmic;
        let low = if is_logarithmic { "($4 > 0 ? $4 : NaN)" } else { "$4" };
        // Error bars of gnuplot's own wipe out what is beneath their middle.
        parts.push(format!(
            "{from} 1:({low}):(0):($5 - {low}) with vectors heads size screen 0.004,90 fixed \
             nofilled lw 1.4 {shade} notitle"
        ));
    }
    if has(|point| point.disturbed)
        && matches!(look, SeriesLook::Markers | SeriesLook::Line | SeriesLook::Raw)
    {
        let size = if look == SeriesLook::Raw { "0.25" } else { "0.6" };
        parts.push(format!(
            "{from} 1:($7 > 0 ? $3 : NaN) with points pt 7 ps {size} lc rgb 'white' notitle"
        ));
    }
    parts
}

/// The lower end of a band; one without a logarithm goes to the end of the axis.
fn low(chart: &Chart) -> String {
    match chart.y.scale {
        AxisScale::Logarithmic => format!("($4 > 0 ? $4 : {})", number(chart.y_span().low)),
        _ => "$4".into(),
    }
}

#[cfg(test)]
mod tests;
