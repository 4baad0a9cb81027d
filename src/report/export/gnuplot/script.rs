//! The script of a picture. It holds all ranges and ticks, so that it shows what the other renderings
//! show.

use super::data::Block;
use super::words::{number, quoted, tick};
use crate::report::figures::{Axis, Figure, HEAT, Look, Mark, Scale, Series, Slot, colour};
use crate::report::text::{shorten, shorten_names, width};

const TITLE_COLUMNS: usize = 100;
const LABEL_COLUMNS: usize = 90;
const KEY_COLUMNS: usize = 40;
const TICK_COLUMNS: usize = 24;

/// Columns that texts along the x axis may take before they are turned.
const LEVEL_COLUMNS: usize = 90;

const DARK: &str = "#1d2939";

/// Markers and dashes by their turn among those drawn alike.
const POINTS: [u8; 4] = [7, 5, 9, 13];
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
pub(super) fn script(figure: &Figure, key: &str, blocks: &[Block<'_>]) -> String {
    let mut lines = vec![format!("# gnuplot {key}.gp reads {key}.dat and writes {key}.png")];
    // Several scripts may be run at once; one must not take over what another has set.
    lines.push("reset session".into());
    lines.push(terminal(figure));
    lines.push(HEAD.trim_end().into());
    lines.push(format!("set output '{key}.png'"));
    let short = |text: &str, columns| quoted(&shorten(text, columns));
    let title = short(&figure.title, TITLE_COLUMNS);
    let question = short(&figure.question, TITLE_COLUMNS);
    lines.push(format!("set title {title}.\"\\n\".{question}"));
    let across = if figure.x.is_named() { "" } else { "xtics " };
    let along = if figure.y.is_named() { "" } else { "ytics " };
    if !(across.is_empty() && along.is_empty()) {
        lines.push(format!("set grid {across}{along}lt 1 lc rgb '#e4e7ec'"));
    }
    lines.extend(axis("x", &figure.x, figure.range_x(), 9));
    lines.extend(axis("y", &figure.y, figure.range_y(), 8));
    if let Some((shade, range)) = figure.shades() {
        lines.extend(axis("cb", shade, range, 6));
        lines.push(format!("set palette defined ({})", palette()));
    }
    let marks = figure.marks.iter().filter(|mark| figure.x.has(mark.x));
    lines.extend(marks.enumerate().flat_map(|(at, mark)| self::mark(at + 1, mark)));
    let plots = plots(figure, key, blocks);
    let nothing = || vec!["NaN notitle".to_string()];
    let plots = if plots.is_empty() { nothing() } else { plots };
    lines.push(format!("plot {}", plots.join(", \\\n     ")));
    lines.join("\n") + "\n"
}

/// Names beside the picture have a line each.
fn terminal(figure: &Figure) -> String {
    let rows = match &figure.y.scale {
        Scale::Named(names) => names.len(),
        _ => 0,
    };
    let height = (240 + 24 * rows).clamp(720, 1800);
    format!(
        "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {{\n    \
         set terminal pngcairo noenhanced size 1200,{height} font 'sans,12'\n}} else {{\n    \
         set terminal png noenhanced size 1200,{height}\n}}"
    )
}

/// Label, range, scale and ticks.
fn axis(name: &str, axis: &Axis, [low, high]: [f64; 2], wanted: usize) -> Vec<String> {
    let label = quoted(&shorten(&axis.label, LABEL_COLUMNS));
    let mut lines = vec![format!("set {name}label {label}")];
    if axis.scale == Scale::Logarithmic {
        lines.push(format!("set logscale {name}"));
    }
    lines.push(format!("set {name}range [{}:{}]", number(low), number(high)));
    let ticks = axis.ticks(low, high, wanted);
    let texts: Vec<_> = ticks.iter().map(|tick| (&*tick.text, TICK_COLUMNS)).collect();
    let texts = shorten_names(&texts);
    let columns: usize = texts.iter().map(|text| width(text) + 2).sum();
    let turned = if name == "x" && columns > LEVEL_COLUMNS { " rotate by 30 right" } else { "" };
    let places = ticks.iter().zip(&texts);
    let places = places.map(|(at, text)| format!("{} {}", tick(text), number(at.at)));
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
fn mark(number_of: usize, mark: &Mark) -> Vec<String> {
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

/// What is plotted, from behind to before.
fn plots(figure: &Figure, key: &str, blocks: &[Block<'_>]) -> Vec<String> {
    let names: Vec<String> = (0..blocks.len()).map(|at| title(figure, blocks, at)).collect();
    let names: Vec<_> = names.iter().map(|name| (&**name, KEY_COLUMNS)).collect();
    let titles = shorten_names(&names);
    let depth = |look: Look| match look {
        Look::Cells => 0,
        Look::Band => 1,
        Look::Bars => 2,
        Look::Law | Look::Curve => 3,
        Look::Line | Look::Markers => 4,
        Look::Raw => 5,
    };
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|at| depth(blocks[*at].series.look));
    let plot = |at: usize| {
        let from = format!("'{key}.dat' index {at} using");
        parts(figure, &blocks[at], &from, &titles[at])
    };
    order.into_iter().flat_map(plot).collect()
}

/// The name, with what its points are where there is more than one thing; dark dots are all alike.
fn title(figure: &Figure, blocks: &[Block<'_>], at: usize) -> String {
    let series = blocks[at].series;
    if series.look == Look::Raw && has_bars(figure) {
        let is_first = blocks[..at].iter().all(|block| block.series.look != Look::Raw);
        return if is_first { series.what.clone() } else { String::new() };
    }
    if figure.whats().len() > 1 {
        return format!("{}: {}", series.name, series.what);
    }
    series.name.clone()
}

fn has_bars(figure: &Figure) -> bool {
    figure.series.iter().any(|one| one.look == Look::Bars)
}

fn parts(figure: &Figure, block: &Block<'_>, from: &str, title: &str) -> Vec<String> {
    let series = block.series;
    let shade = format!("lc rgb '{}'", colour(series.colour).light);
    let pattern = block.slot.pattern;
    let (point, dash) = (POINTS[pattern % POINTS.len()], DASHES[pattern % DASHES.len()]);
    let title =
        if title.is_empty() { "notitle".into() } else { format!("title {}", quoted(title)) };
    let mut parts = match series.look {
        Look::Cells => vec![format!(
            "{from} (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror fillstyle solid noborder \
             fillcolor palette notitle"
        )],
        Look::Band => vec![format!(
            "{from} 1:({}):5 with filledcurves fillstyle transparent solid 0.18 noborder {shade} {title}",
            low(figure)
        )],
        Look::Bars => vec![bars(block, from, &shade, &title)],
        Look::Law => vec![format!("{from} 1:3 with lines {shade} lw 1.6 dashtype 2 {title}")],
        Look::Curve => vec![format!("{from} 1:3 with lines {shade} lw 2 dashtype {dash} {title}")],
        Look::Line => vec![format!(
            "{from} 1:3 with linespoints {shade} lw 2 dashtype {dash} pt {point} {title}"
        )],
        Look::Markers => vec![format!("{from} 1:3 with points {shade} pt {point} {title}")],
        Look::Raw => vec![format!(
            "{from} 1:3 with points lc rgb '{}' pt 7 ps 0.5 {title}",
            raw(figure, series)
        )],
    };
    parts.extend(beside(figure, block, from, &shade));
    parts
}

fn bars(block: &Block<'_>, from: &str, shade: &str, title: &str) -> String {
    let Slot { width, pattern, .. } = block.slot;
    let place = if width > 0.0 { format!("1:3:({})", number(width)) } else { "1:3".into() };
    let fill = match pattern {
        0 => "solid 0.85 noborder".into(),
        hatched => format!("pattern {} border {shade}", HATCHED[(hatched - 1) % HATCHED.len()]),
    };
    format!("{from} {place} with boxes fillstyle {fill} {shade} {title}")
}

/// Single values are dark where they stand on bars.
fn raw(figure: &Figure, series: &Series) -> &'static str {
    if has_bars(figure) { DARK } else { colour(series.colour).light }
}

/// Whiskers, and the white heart of what was disturbed.
fn beside(figure: &Figure, block: &Block<'_>, from: &str, shade: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let look = block.series.look;
    if block.has_intervals && matches!(look, Look::Bars | Look::Markers | Look::Line) {
        let shade = if look == Look::Bars { format!("lc rgb '{DARK}'") } else { shade.to_string() };
        let is_logarithmic = figure.y.scale == Scale::Logarithmic;
        let low = if is_logarithmic { "($4 > 0 ? $4 : NaN)" } else { "$4" };
        // Error bars of gnuplot's own wipe out what is beneath their middle.
        parts.push(format!(
            "{from} 1:({low}):(0):($5 - {low}) with vectors heads size screen 0.004,90 fixed \
             nofilled lw 1.4 {shade} notitle"
        ));
    }
    if block.has_disturbed && matches!(look, Look::Markers | Look::Line | Look::Raw) {
        let size = if look == Look::Raw { "0.25" } else { "0.6" };
        parts.push(format!(
            "{from} 1:($7 ? $3 : NaN) with points pt 7 ps {size} lc rgb 'white' notitle"
        ));
    }
    parts
}

/// The lower end of a band; one without a logarithm goes to the end of the axis.
fn low(figure: &Figure) -> String {
    match figure.y.scale {
        Scale::Logarithmic => format!("($4 > 0 ? $4 : {})", number(figure.range_y()[0])),
        _ => "$4".into(),
    }
}
