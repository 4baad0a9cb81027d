//! Writes the data of each chart for gnuplot, with a short script that can be changed by hand.

use super::format::{ExportFormat, ExportText, no_figures, safe};
use crate::charts::{AxisScale, Chart, ChartAxis, ChartSeries, SeriesLook, SeriesSlot, charts};
use boatload_analysis::Analysis;
use boatload_base::failure::shown;

pub(super) const GNUPLOT: ExportFormat = ExportFormat {
    name: "gnuplot",
    about: "the data of each chart, with a script that gives a PNG",
    texts: scripts,
};

fn scripts(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let all = charts(&[analysis]);
    if all.is_empty() { Err(no_figures()) } else { Ok(all.iter().flat_map(texts).collect()) }
}

pub(super) fn texts(chart: &Chart) -> [ExportText; 2] {
    let key = safe(&chart.key);
    let file = |ending, text| ExportText { name: format!("{key}.{ending}"), text };
    [file("gp", script(chart, &key)), file("dat", data_text(chart))]
}

/// A block for each series, two empty lines from the next, as gnuplot's `index` counts them. What is not known is
/// NaN.
fn data_text(chart: &Chart) -> String {
    let [title, y, x] = [&chart.title, &chart.y.label, &chart.x.label].map(shown);
    let mut lines = vec![format!("# {title}: {y} by {x}, in bytes, seconds, percent or counts")];
    lines.extend(chart.all_notes().iter().map(|note| format!("# {}", shown(note))));
    for (series, slot) in chart.series.iter().zip(chart.slots()) {
        lines.push(format!("# {}, {}", shown(&series.name), shown(&series.what)));
        lines.push("# place x value low high n disturbed".into());
        lines.extend(rows(series, slot));
        lines.extend([String::new(), String::new()]);
    }
    lines.join("\n") + "\n"
}

fn rows(series: &ChartSeries, slot: SeriesSlot) -> impl Iterator<Item = String> {
    series.points.iter().map(move |point| {
        let [low, high] = point.interval.unwrap_or([f64::NAN; 2]);
        let numbers = [point.x + slot.shift, point.x, point.y, low, high].map(number);
        format!("{} {} {}", numbers.join(" "), point.n, u8::from(point.disturbed))
    })
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "NaN".into() }
}

/// In single quotes nothing has a meaning to gnuplot, neither backslashes nor backquotes, but for the
/// quote itself, which is written twice (gnuplot's manual, "Quote marks").
fn quoted(text: &str) -> String {
    format!("'{}'", shown(text).replace('\'', "''"))
}

/// Several scripts may be run at once; one must not take over what another has set.
const HEAD: &str = "\
reset session
set terminal png noenhanced size 1200,720
set encoding utf8
set datafile missing 'NaN'
set key outside right top vertical
set boxwidth 0.8
set style fill solid 0.85 noborder
set grid";

/// The script, which reads `KEY.dat` and writes `KEY.png` beside itself. gnuplot chooses ranges, ticks and colours.
fn script(chart: &Chart, key: &str) -> String {
    let mut lines = vec![
        format!("# gnuplot {key}.gp reads {key}.dat and writes {key}.png"),
        HEAD.into(),
        format!("set output '{key}.png'"),
        format!("set title {}", quoted(&chart.title)),
    ];
    lines.extend(axis("x", &chart.x));
    lines.extend(axis("y", &chart.y));
    let slots = chart.series.iter().zip(chart.slots());
    let places =
        slots.flat_map(|(one, slot)| one.points.iter().map(move |point| point.x + slot.shift));
    lines.extend(range_of_one("x", places));
    let points = chart.series.iter().flat_map(|one| &one.points);
    let values = points.flat_map(|point| point.interval.into_iter().flatten().chain([point.y]));
    lines.extend(range_of_one("y", values));
    lines.extend(chart.has(SeriesLook::Bars).then(|| "set yrange [0:*]".into()));
    let plots =
        chart.series.iter().zip(chart.slots()).enumerate().flat_map(|(at, (one, slot))| {
            drawn(one, slot, &format!("'{key}.dat' index {at} using"))
        });
    lines.push(format!("plot {}", plots.collect::<Vec<_>>().join(", \\\n     ")));
    lines.join("\n") + "\n"
}

/// gnuplot warns of a range that is one place, and makes a wider one.
fn range_of_one(name: &str, mut places: impl Iterator<Item = f64>) -> Option<String> {
    let first = places.next().filter(|first| *first > 0.0)?;
    let is_one = places.all(|place| place == first);
    is_one.then(|| format!("set {name}range [{}:{}]", number(first * 0.9), number(first * 1.1)))
}

fn axis(name: &str, axis: &ChartAxis) -> Vec<String> {
    let scale = match &axis.scale {
        AxisScale::Linear => None,
        AxisScale::Logarithmic => Some(format!("set logscale {name}")),
        AxisScale::Named(names) => {
            // A `%` beside a tick begins the format of a number.
            let tick =
                |(at, name): (usize, &String)| format!("{} {at}", quoted(&name.replace('%', "%%")));
            let ticks: Vec<String> = names.iter().enumerate().map(tick).collect();
            Some(format!("set {name}tics rotate by 30 right ({})", ticks.join(", ")))
        }
    };
    [format!("set {name}label {}", quoted(&axis.label))].into_iter().chain(scale).collect()
}

fn drawn(series: &ChartSeries, slot: SeriesSlot, from: &str) -> Vec<String> {
    let colour = series.colour + 1;
    let title = quoted(&format!("{}: {}", series.name, series.what));
    let how = match series.look {
        SeriesLook::Bars => format!("1:3:({}) with boxes", number(slot.width)),
        SeriesLook::Line => "1:3 with linespoints pt 7".into(),
        SeriesLook::Law | SeriesLook::Curve => "1:3 with lines".into(),
        SeriesLook::Raw | SeriesLook::Markers => "1:3 with points pt 7".into(),
    };
    let mut plots = vec![format!("{from} {how} lc {colour} title {title}")];
    if series.points.iter().any(|point| point.interval.is_some()) {
        plots.push(format!("{from} 1:3:4:5 with yerrorbars pt -1 lc 'black' notitle"));
    }
    plots
}

#[cfg(test)]
mod tests;
