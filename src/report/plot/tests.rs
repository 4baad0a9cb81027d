//! Pictures of every look as charts, kept as text; and whatever there is fits the terminal.

use super::*;
use crate::base::fixture::golden::assert_golden;
use crate::report::charts::ChartAxis;
use crate::report::charts::{
    AxisQuantity, AxisScale, ChartMark, ChartPoint, ChartSeries, HeatCell,
};
use crate::report::kept_runs::kept_runs;
use crate::report::text::width;
use crate::results::book::Book;
use crate::results::fixture::{self, growing, ranked};

const PLAIN: Style = Style { columns: 80, ascii: false, colours: Colours::None };

fn drawn(charts: &[Chart], style: &Style) -> String {
    let mut out = Vec::new();
    write_charts(charts, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn axis(label: &str, quantity: AxisQuantity, scale: AxisScale) -> ChartAxis {
    ChartAxis { label: label.into(), quantity, scale }
}

fn named(label: &str, names: &[&str]) -> ChartAxis {
    let names = names.iter().map(|name| name.to_string()).collect();
    axis(label, AxisQuantity::Count, AxisScale::Named(names))
}

fn series(
    name: &str,
    colour: usize,
    look: SeriesLook,
    what: &str,
    points: Vec<ChartPoint>,
) -> ChartSeries {
    ChartSeries { name: name.into(), colour, look, what: what.into(), points }
}

fn between(x: f64, y: f64, half: f64) -> ChartPoint {
    ChartPoint { interval: Some([y - half, y + half]), n: 5, ..ChartPoint::at(x, y) }
}

fn chart(title: &str, x: ChartAxis, y: ChartAxis, series: Vec<ChartSeries>) -> Chart {
    Chart {
        key: "k".into(),
        title: title.into(),
        question: "What does it look like, and does that fit?".into(),
        x,
        y,
        shade: None,
        series,
        marks: Vec::new(),
        notes: Vec::new(),
        from_zero: false,
    }
}

/// Two file systems, three phases; one value is disturbed, one unknown, one nearly nothing.
fn bars() -> Chart {
    let y = axis("operations per second", AxisQuantity::Operations, AxisScale::Linear);
    let mut ext4 = vec![between(0.0, 17_810.0, 534.0), between(1.0, 120_400.0, 2_000.0)];
    ext4.push(ChartPoint::at(2.0, 30.0));
    let disturbed = ChartPoint { disturbed: true, ..between(1.0, 63_000.0, 9_000.0) };
    let xfs = vec![between(0.0, 44_100.0, 1_000.0), disturbed];
    let series = vec![
        series("ext4", 0, SeriesLook::Bars, "mean", ext4),
        series("xfs", 1, SeriesLook::Bars, "mean", xfs),
    ];
    let x = named("phase", &["create", "read", "delete"]);
    Chart { notes: vec!["Higher is faster.".into()], ..chart("Rates", x, y, series) }
}

/// Three percentiles of each phase.
fn markers() -> Chart {
    let y = axis("latency", AxisQuantity::Seconds, AxisScale::Logarithmic);
    let of = |what, factor: f64| {
        let points = [1e-5, 4e-6].iter().enumerate();
        let points = points.map(|(x, base)| ChartPoint::at(x as f64, base * factor)).collect();
        series("ext4", 0, SeriesLook::Markers, what, points)
    };
    let series = vec![of("p50", 1.0), of("p99", 12.0), of("max", 900.0)];
    chart("Latency", named("phase", &["create", "read"]), y, series)
}

/// Latency against the files created, with a band, a law and a knee.
fn growth() -> Chart {
    let x = axis("files created", AxisQuantity::Count, AxisScale::Linear);
    let y = axis("latency", AxisQuantity::Seconds, AxisScale::Logarithmic);
    let points = |of: fn(f64) -> f64| -> Vec<ChartPoint> {
        let at = |n: u32| f64::from(n) * 10_000.0;
        (0..=40)
            .map(|n| ChartPoint {
                interval: Some([of(at(n)) * 0.7, of(at(n)) * 2.0]),
                ..ChartPoint::at(at(n), of(at(n)))
            })
            .collect()
    };
    let linear = |x: f64| 1e-5 + x * 2e-10;
    let constant = |_: f64| 1.2e-5;
    let series = vec![
        series("single", 0, SeriesLook::Band, "p50 to p99", points(linear)),
        series("single", 0, SeriesLook::Curve, "mean", points(linear)),
        series("single", 0, SeriesLook::Law, "linear law", points(|x| 8e-6 + x * 2.2e-10)),
        series("multiple", 1, SeriesLook::Curve, "mean", points(constant)),
    ];
    let mark = |x, label: &str, colour| ChartMark {
        x,
        interval: Some([x * 0.9, x * 1.1]),
        label: label.into(),
        colour,
    };
    Chart {
        marks: vec![mark(2e5, "knee of single", Some(0)), mark(3.1e5, "crossover", None)],
        ..chart("Growth", x, y, series)
    }
}

/// Rates by how full the place is, with the values behind each.
fn levels() -> Chart {
    let x = axis("space used", AxisQuantity::Percent, AxisScale::Linear);
    let y = axis("bytes per second", AxisQuantity::ByteRate, AxisScale::Linear);
    let rate = |at: f64| if at < 80.0 { 4e8 } else { 4e8 - (at - 80.0) * 1.5e7 };
    let levels = [30.0, 50.0, 65.0, 80.0, 90.0, 98.0];
    let line = levels.iter().map(|at| between(*at, rate(*at), 3e7)).collect();
    let raw =
        levels.iter().flat_map(|at| [0.9, 1.05].map(|by| ChartPoint::at(*at, rate(*at) * by)));
    let series = vec![
        series("aged", 2, SeriesLook::Line, "mean", line),
        series("aged", 2, SeriesLook::Raw, "repeat", raw.collect()),
        series("fresh", 3, SeriesLook::Markers, "mean", vec![between(30.0, 4.4e8, 1e7)]),
    ];
    chart("By level", x, y, series)
}

/// Latency over the course of four repeats.
fn heat() -> Chart {
    let x = axis("operations done", AxisQuantity::Percent, AxisScale::Linear);
    let rows: Vec<String> = (1..=4).map(|repeat| format!("ext4 repeat {repeat}")).collect();
    let names: Vec<&str> = rows.iter().map(String::as_str).collect();
    let y = named("variant and repeat", &names);
    let cell = |n: i32| {
        let (at, row) = (n % 20, n / 20);
        let shade = 1e-6 * 10f64.powi(((at / 4 + 2 * row) % 5).max(1));
        let x = f64::from(at) * 5.0;
        let cell = HeatCell { end: x + 5.0, shade };
        let place = ChartPoint::at(x, f64::from(row));
        ChartPoint { cell: Some(cell).filter(|_| (at + row) % 7 > 0), ..place }
    };
    let cells = (0..80).map(cell).collect();
    let series = vec![series("ext4", 0, SeriesLook::Cells, "slice", cells)];
    Chart {
        shade: Some(axis("mean latency", AxisQuantity::Seconds, AxisScale::Logarithmic)),
        ..chart("Over time", x, y, series)
    }
}

fn all() -> Vec<Chart> {
    vec![bars(), markers(), growth(), levels(), heat()]
}

#[track_caller]
fn assert_fits(text: &str, style: &Style, what: &str) {
    for line in text.lines() {
        let columns = style.columns.clamp(40, 160);
        assert!(width(line) <= columns, "{what}: {} of {columns}: {line}", width(line));
        assert!(!line.contains(char::is_control), "{what}: {line:?}");
        assert!(!style.ascii || line.is_ascii(), "{what}: {line}");
    }
}

#[test]
fn charts_are_those_that_were_agreed_on() {
    for columns in [40, 80, 120] {
        let style = Style { columns, ..PLAIN };
        let text = drawn(&all(), &style);
        assert_fits(&text, &style, "charts");
        assert_golden(&format!("plot-{columns}.txt"), &text);
        let style = Style { ascii: true, ..style };
        let text = drawn(&all(), &style);
        assert_fits(&text, &style, "charts in ASCII");
        assert_golden(&format!("plot-{columns}-ascii.txt"), &text);
    }
}

#[test]
fn a_run_is_drawn_as_was_agreed_on() {
    for (name, style) in [
        ("plot-run.txt", PLAIN),
        ("plot-run-40.txt", Style { columns: 40, ..PLAIN }),
        ("plot-run-ascii.txt", Style { ascii: true, ..PLAIN }),
        ("plot-run-40-ascii.txt", Style { columns: 40, ascii: true, ..PLAIN }),
    ] {
        let mut out = Vec::new();
        assert!(
            write_plots(&[&Analysis::of(&fixture::book())], &style, usize::MAX, &mut out).unwrap()
        );
        let text = String::from_utf8(out).unwrap();
        assert_fits(&text, &style, name);
        assert_golden(name, &text);
    }
    let charts = charts(&[&Analysis::of(&ranked::book())]);
    let of_ranks = charts.into_iter().filter(|chart| chart.key.starts_with("ranks"));
    assert_golden("plot-ranks.txt", &drawn(&of_ranks.collect::<Vec<_>>(), &PLAIN));
}

/// The figures of every kept result, of runs in which something grows, and of runs beside each other.
fn known() -> Vec<(String, Vec<Chart>)> {
    let mut books = kept_runs().to_vec();
    books.push(("directory".into(), growing::directory()));
    books.push(("fullness".into(), growing::fullness(&["ext4", "xfs", "btrfs"])));
    let two = [Analysis::of(&books[0].1), Analysis::of(&books[1].1)];
    let beside = ("two runs".to_string(), charts(&two.each_ref()));
    let one = |(name, book): &(String, Book)| (name.clone(), charts(&[&Analysis::of(book)]));
    books.iter().map(one).chain([beside]).collect()
}

#[test]
fn whatever_was_measured_fits_a_terminal_of_40_to_160_columns() {
    for (name, figures) in known() {
        for columns in (40..=160).step_by(5) {
            let style = Style { columns, ascii: columns % 4 == 0, ..PLAIN };
            assert_fits(&drawn(&figures, &style), &style, &name);
        }
    }
}

#[test]
fn a_tiny_terminal_gets_40_columns_and_a_vast_one_160() {
    let at = |columns| drawn(&all(), &Style { columns, ..PLAIN });
    for columns in [0, 1, 7, 20, 39] {
        assert_eq!(at(columns), at(40), "{columns}");
    }
    for columns in [161, 100_000, usize::MAX] {
        assert_eq!(at(columns), at(160), "{columns}");
    }
}

#[test]
fn odd_figures_are_drawn_without_a_complaint() {
    let values = [0.0, -1.0, 1.0, 1e-320, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let looks = [
        SeriesLook::Bars,
        SeriesLook::Markers,
        SeriesLook::Line,
        SeriesLook::Curve,
        SeriesLook::Band,
        SeriesLook::Law,
        SeriesLook::Raw,
        SeriesLook::Cells,
    ];
    let scales = [
        AxisScale::Linear,
        AxisScale::Logarithmic,
        AxisScale::Named(Vec::new()),
        AxisScale::Named(vec!["目录".repeat(40), "\u{1b}[31mred\nline".into()]),
    ];
    let points = |n: usize| -> Vec<ChartPoint> {
        let at = |(at, x): (usize, &f64)| ChartPoint {
            interval: Some([values[(at + 2) % 8], values[(at + 5) % 8]]),
            cell: Some(HeatCell { end: x + 1.0, shade: values[(at + 3) % 8] }),
            disturbed: true,
            ..ChartPoint::at(*x, values[(at + n) % 8])
        };
        values.iter().enumerate().map(at).take(n).collect()
    };
    for look in looks {
        for x in &scales {
            for y in &scales {
                for n in [0, 1, 2, 8] {
                    let one = series("\u{7}bell\r\n目录", n, look, "\u{9b}what", points(n));
                    let other = series(&"x".repeat(300), 99, look, "", points(n));
                    let axis =
                        |scale: &AxisScale| axis("\tlabel", AxisQuantity::Seconds, scale.clone());
                    let mark =
                        ChartMark { x: f64::NAN, interval: None, label: "\n".into(), colour: None };
                    let chart = Chart {
                        marks: vec![mark],
                        shade: (n != 1).then(|| axis(y)),
                        ..chart("\u{1b}]0;title\u{7}", axis(x), axis(y), vec![one, other])
                    };
                    let Some(chart) = chart.checked() else { continue };
                    let is_bars_over_numbers = look == SeriesLook::Bars && !chart.x.is_named();
                    let is_cells_over_names =
                        look == SeriesLook::Cells && (chart.x.is_named() || !chart.y.is_named());
                    if is_bars_over_numbers || is_cells_over_names {
                        continue;
                    }
                    for (columns, ascii) in [(20, false), (40, true), (93, false)] {
                        let style = Style { columns, ascii, ..PLAIN };
                        let text = drawn(std::slice::from_ref(&chart), &style);
                        assert_fits(&text, &style, &format!("{look:?} {x:?} {y:?} {n}"));
                    }
                }
            }
        }
    }
}

#[test]
fn colours_change_no_character_and_come_only_when_asked_for() {
    let plain = drawn(&all(), &PLAIN);
    for (colours, expected) in [(Colours::Sixteen, "\u{1b}[34m"), (Colours::Many, "\u{1b}[38;5;")] {
        let coloured = drawn(&all(), &Style { colours, ..PLAIN });
        assert!(coloured.contains(expected), "{coloured:?}");
        assert_eq!(without_colours(&coloured), plain);
    }
}

/// A text without the sequences that choose colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').expect("it ends in m").1)
}

#[test]
fn series_are_told_apart_without_colours() {
    let text = drawn(&[growth()], &PLAIN);
    for letter in ["a single", "b multiple"] {
        assert!(text.contains(letter), "{text}");
    }
    let ends = text.lines().filter(|line| line.ends_with(['a', 'b']));
    assert_eq!(ends.count(), 2, "a letter at the end of each line:\n{text}");
    let text = drawn(&[growth()], &Style { ascii: true, ..PLAIN });
    assert!(text.contains("aaaa") && text.contains("bbbb"), "{text}");
}

/// Lines of these names through the same points with the same intervals.
fn alike(names: &[&str], levels: u32) -> Chart {
    let x = axis("space used", AxisQuantity::Percent, AxisScale::Linear);
    let y = axis("operations per second", AxisQuantity::Operations, AxisScale::Linear);
    let points = || (1..=levels).map(|at| between(f64::from(at) * 10.0, 500.0, 400.0)).collect();
    let all = names.iter().enumerate();
    let all = all.map(|(at, name)| series(name, at, SeriesLook::Line, "mean", points())).collect();
    chart("Alike", x, y, all)
}

/// How many rows of a chart in ASCII have so many intervals that stand together like this.
fn rows_with(text: &str, together: &str, number: usize) -> usize {
    let has = |line: &&str| line.split(' ').filter(|word| *word == together).count() == number;
    text.lines().filter(has).count()
}

#[test]
fn intervals_of_several_series_at_one_level_stand_beside_each_other() {
    let ascii = Style { ascii: true, ..PLAIN };
    for (names, together) in [(&["a", "b"][..], "||"), (&["a", "b", "c"], "|||")] {
        let text = drawn(&[alike(names, 4)], &ascii);
        assert!(rows_with(&text, together, 4) > 5, "{text}");
    }
    let text = drawn(&[alike(&["a", "b"], 4)], &Style { colours: Colours::Sixteen, ..PLAIN });
    let both = |line: &&str| line.matches("[34m").count() == 4 && line.matches("[31m").count() == 4;
    assert!(text.lines().filter(both).count() > 5, "each in its colour:\n{text}");
}

#[test]
fn intervals_lie_on_each_other_where_levels_are_too_near() {
    let ascii = Style { ascii: true, columns: 40, ..PLAIN };
    let text = drawn(&[alike(&["a", "b", "c"], 10)], &ascii);
    assert!(rows_with(&text, "|", 11) > 3, "the edge and one for each level:\n{text}");
}
