use roxmltree::{Document, Node};

use super::*;
use crate::charts::{ChartSeries, SeriesLook};
use crate::export::tests::made;
use boatload_base::failure::{garbles, shown};

/// A text with the room it takes: left, right, top, bottom.
struct Box {
    text: String,
    ends: [f64; 4],
}

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// An attribute of an element or of the nearest group around it that has it.
fn inherited<'a>(node: &Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.ancestors().find_map(|one| one.attribute(name))
}

/// Where a text lies, whichever way it is turned.
fn boxed(node: &Node<'_, '_>) -> Box {
    let text = node.text().unwrap_or_default().to_string();
    let size: f64 = inherited(node, "font-size").unwrap().parse().unwrap();
    let bold = if inherited(node, "font-weight").is_some() { 1.05 } else { 1.0 };
    let width = fit_text::width(&text, size) * bold;
    let share = match inherited(node, "text-anchor") {
        Some("start") => 0.0,
        Some("middle") => 0.5,
        Some("end") => 1.0,
        other => panic!("{text}: {other:?}"),
    };
    let (x, y, turn) = match node.attribute("transform") {
        None => (number(node, "x"), number(node, "y"), 0.0),
        Some(moved) => {
            let numbers = moved.split(['(', ')', ' ']).filter_map(|word| word.parse().ok());
            let [x, y, turn] = numbers.collect::<Vec<f64>>().try_into().unwrap();
            (x, y, turn.to_radians())
        }
    };
    let corner = |along: f64, up: f64| {
        [x + along * turn.cos() + up * turn.sin(), y + along * turn.sin() - up * turn.cos()]
    };
    let (start, end) = (-share * width, (1.0 - share) * width);
    let corners = [(start, 0.0), (end, 0.0), (start, size * 0.8), (end, size * 0.8)];
    let corners = corners.map(|(along, up)| corner(along, up));
    let least = |at: usize| corners.iter().map(|one| one[at]).fold(f64::INFINITY, f64::min);
    let most = |at: usize| corners.iter().map(|one| one[at]).fold(f64::NEG_INFINITY, f64::max);
    Box { text, ends: [least(0), most(0), least(1), most(1)] }
}

fn of_class<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let all = document.descendants();
    all.filter(|node| node.attribute("class") == Some(class)).collect()
}

fn subpaths(nodes: &[Node<'_, '_>]) -> usize {
    nodes.iter().map(|node| node.attribute("d").unwrap().matches('M').count()).sum()
}

fn corners(nodes: &[Node<'_, '_>]) -> usize {
    nodes.iter().map(|node| node.attribute("d").unwrap().matches(['M', 'L']).count()).sum()
}

/// Points of series of these looks that have a place.
fn placed(chart: &Chart, looks: &[SeriesLook], is_whole: impl Fn(&ChartSeries) -> usize) -> usize {
    chart.series.iter().filter(|series| looks.contains(&series.look)).map(is_whole).sum()
}

fn check(chart: &Chart) {
    let text = svg(chart);
    let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = document.root_element();
    let titles = root.children().filter(|node| node.has_tag_name("title"));
    assert_eq!(titles.map(|node| node.text().unwrap()).collect::<Vec<_>>(), [shown(&chart.title)]);
    assert!(root.children().any(|node| node.has_tag_name("desc")));

    let labels = of_class(&document, "label").into_iter().flat_map(|group| group.children());
    let labels = labels.filter_map(|node| node.text().map(str::trim));
    let labels: Vec<&str> = labels.filter(|text| !text.is_empty()).collect();
    for (label, axis) in labels.iter().zip([&chart.y, &chart.x]) {
        let start: String = label.trim_end_matches('…').into();
        assert!(!start.is_empty() && shown(&axis.label).starts_with(&start), "{label}");
    }
    assert_eq!(labels.len(), 2, "{text}");

    let drawn = |series: &ChartSeries| series.points.len();
    let single = [SeriesLook::Bars, SeriesLook::Markers, SeriesLook::Line, SeriesLook::Raw];
    let points = of_class(&document, "point").len() + subpaths(&of_class(&document, "points"));
    assert_eq!(points, placed(chart, &single, drawn), "{}", chart.key);
    let lines = placed(chart, &[SeriesLook::Line, SeriesLook::Curve, SeriesLook::Law], drawn);
    assert_eq!(corners(&of_class(&document, "line")), lines, "{}", chart.key);
    check_texts(chart, &document);
}

fn check_texts(chart: &Chart, document: &Document<'_>) {
    let root = document.root_element();
    let [width, height] = ["width", "height"].map(|name| number(&root, name));
    assert_eq!(root.attribute("viewBox").unwrap(), format!("0 0 {width} {height}"));
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let boxes: Vec<Box> = texts.map(|node| boxed(&node)).collect();
    for Box { text, ends } in &boxes {
        assert!(!text.contains(garbles), "{text:?}");
        let [left, right, top, bottom] = *ends;
        let inside = left >= 0.0 && right <= width && top >= 0.0 && bottom <= height;
        assert!(inside, "{}: {text} at {ends:?} of {width} x {height}", chart.key);
    }
    for (at, one) in boxes.iter().enumerate() {
        for other in &boxes[at + 1..] {
            let apart = |low: usize| {
                one.ends[low + 1] <= other.ends[low] || other.ends[low + 1] <= one.ends[low]
            };
            let turned = chart.x.is_named();
            assert!(
                turned || apart(0) || apart(2),
                "{}: {} {:?} over {} {:?}",
                chart.key,
                one.text,
                one.ends,
                other.text,
                other.ends
            );
        }
    }
}

#[test]
fn every_picture_is_whole_and_no_text_leaves_it_or_covers_another() {
    let all = made::all();
    assert!(all.len() > 60, "{}", all.len());
    // To look at them: BOATLOAD_PICTURES=DIR.
    if let Some(folder) = std::env::var_os("BOATLOAD_PICTURES") {
        for (at, chart) in all.iter().enumerate() {
            let name = format!("{at:03}-{}.svg", chart.key);
            std::fs::write(std::path::Path::new(&folder).join(name), svg(chart)).unwrap();
        }
    }
    all.iter().for_each(check);
}

#[test]
fn a_name_that_is_markup_is_shown_as_text() {
    let text = svg(&made::evil(made::bars(&["a"], &["b"])));
    assert!(!text.contains("<script") && text.contains("&lt;script&gt;"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !garbles(c)));
}

#[test]
fn the_same_picture_is_the_same_file_and_asks_for_nothing_from_elsewhere() {
    let text = svg(&made::course());
    assert_eq!(text, svg(&made::course()));
    let links = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in ["http", "href", "url(", "@import", "<style", "<image"] {
        assert!(!links.contains(word), "{word}");
    }
}

#[test]
fn raw_values_stand_on_their_bar() {
    let chart = made::bars(&["ext4", "xfs"], &["create", "read"]);
    let text = svg(&chart);
    let document = Document::parse(&text).unwrap();
    let points = of_class(&document, "point");
    let bars = points.iter().filter(|node| node.has_tag_name("rect"));
    let bars: Vec<[f64; 2]> =
        bars.map(|bar| [number(bar, "x"), number(bar, "x") + number(bar, "width")]).collect();
    let dots = of_class(&document, "points").into_iter().flat_map(|path| path.attribute("d"));
    let dots: Vec<f64> = dots
        .flat_map(|path| path.split('M').skip(1))
        .map(|dot| dot.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!((bars.len(), dots.len()), (4, 12));
    for [left, right] in bars {
        assert_eq!(dots.iter().filter(|x| **x > left && **x < right).count(), 3);
    }
}

#[test]
fn a_legend_tells_each_name_and_a_note_how_points_are_drawn() {
    let text = svg(&made::course());
    for word in ["ext4", "xfs"] {
        assert_eq!(text.matches(&format!(">{word}</text>")).count(), 1, "{word}");
    }
    assert!(text.contains("Whiskers: 95% interval; dashed: the fitted law; hollow"), "{text}");
}
