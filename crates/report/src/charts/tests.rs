use boatload_base::errno::Errno;
use boatload_results::fixture::failing;
use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::table::TableLine;
use crate::tests::kept_runs::{kept_run, kept_runs};
use boatload_results::book::{Book, Measurement};
use boatload_results::fixture::{self, Odd, growing, made, measurement, ranked};
use boatload_results::reference::references;

fn charts_of(books: &[&Book]) -> Vec<Chart> {
    let analyses: Vec<Analysis<'_>> = books.iter().map(|book| Analysis::of(book)).collect();
    charts(&analyses.iter().collect::<Vec<_>>())
}

#[track_caller]
fn is_well_formed(all: &[Chart], of: &str) {
    let keys: BTreeSet<&str> = all.iter().map(|chart| chart.key.as_str()).collect();
    assert_eq!(keys.len(), all.len(), "{of}: {keys:?}");
    let mut colours = BTreeMap::new();
    for chart in all {
        let key = &chart.key;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!key.is_empty() && key.len() < 80 && key.chars().all(plain), "{of}: {key}");
        for text in [&chart.x, &chart.y].into_iter().map(|axis| &axis.label).chain(&chart.notes) {
            assert!(!text.is_empty() && !text.contains(char::is_control), "{of}, {key}: {text:?}");
        }
        assert!(chart.title.len() > 3, "{of}, {key}");
        assert!(!chart.series.is_empty(), "{of}, {key} shows nothing");
        for series in &chart.series {
            assert!(!series.points.is_empty() && !series.what.is_empty(), "{of}, {key}");
            series.points.iter().for_each(|point| is_on(chart, point, of));
            let ordered = series.points.windows(2).all(|pair| pair[0].x <= pair[1].x);
            let free = series.look == SeriesLook::Raw;
            assert!(ordered || free, "{of}, {key}: {} goes back", series.name);
            let colour = *colours.entry(series.name.clone()).or_insert(series.colour);
            assert_eq!(colour, series.colour, "{of}, {key}: {}", series.name);
        }
        let table = chart.table();
        for line in &table.lines {
            let is_whole = |cells: &Vec<String>| cells.len() == table.heads.len();
            assert!(!matches!(line, TableLine::Cells(cells) if !is_whole(cells)), "{of}, {key}");
        }
    }
}

#[track_caller]
fn is_on(chart: &Chart, point: &ChartPoint, of: &str) {
    is_in(point.x, &chart.x, of);
    is_in(point.y, &chart.y, of);
    if let Some([low, high]) = point.interval {
        is_in(high, &chart.y, of);
        // It may reach beyond the axis, where it is clipped.
        assert!(low.is_finite() && low <= high, "{of}, {}: {point:?}", chart.key);
    }
}

#[track_caller]
fn is_in(value: f64, axis: &ChartAxis, of: &str) {
    let fits = match &axis.scale {
        AxisScale::Linear => value.is_finite(),
        AxisScale::Logarithmic => value.is_finite() && value > 0.0,
        AxisScale::Named(names) => {
            (0.0..names.len() as f64).contains(&value) && value.fract() == 0.0
        }
    };
    assert!(fits, "{of}: {value} on {axis:?}");
}

fn chart<'a>(all: &'a [Chart], key: &str) -> &'a Chart {
    let keys: Vec<&str> = all.iter().map(|chart| chart.key.as_str()).collect();
    all.iter().find(|chart| chart.key == key).unwrap_or_else(|| panic!("{key} in {keys:?}"))
}

fn looks(chart: &Chart, look: SeriesLook) -> Vec<&ChartSeries> {
    chart.series.iter().filter(|series| series.look == look).collect()
}

fn fixtures() -> Vec<Book> {
    vec![
        fixture::book(),
        made::book(),
        growing::directory(),
        growing::chunks(),
        growing::fullness(&["ext4"]),
        growing::fullness(&["ext4", "xfs", "btrfs"]),
        growing::clutter(),
        growing::sequential(),
        ranked::book(),
    ]
}

#[test]
fn every_kept_run_and_every_fixture_gives_whole_pictures() {
    for (name, book) in kept_runs() {
        let all = charts_of(&[book]);
        assert!(!all.is_empty(), "{name}");
        is_well_formed(&all, name);
    }
    for book in fixtures() {
        is_well_formed(&charts_of(&[&book]), &book.run.scenario);
    }
}

#[test]
fn published_figures_give_whole_pictures_alone_and_beside_a_run() {
    let own = growing::directory();
    for book in references() {
        is_well_formed(&charts_of(&[&book]), &book.run.id);
        is_well_formed(&charts_of(&[&own, &book]), &book.run.id);
    }
}

#[test]
fn odd_books_give_whole_pictures_or_none() {
    for seed in 0..400 {
        let mut odd = Odd::new(seed);
        let (one, other) = (odd.book(), odd.book());
        is_well_formed(&charts_of(&[&one]), &format!("odd {seed}"));
        is_well_formed(&charts_of(&[&one, &other, &one]), &format!("odd {seed} twice"));
    }
    assert_eq!(charts_of(&[&Book::default()]), []);
    assert_eq!(charts_of(&[]), []);
}

#[test]
fn the_values_of_three_repeats_stand_behind_their_mean() {
    let all = charts_of(&[&made::book()]);
    let rates = chart(&all, "rates");
    let (means, raw) = (looks(rates, SeriesLook::Bars), looks(rates, SeriesLook::Raw));
    assert_eq!((means.len(), raw.len()), (4, 4));
    for (mean, raw) in means.iter().zip(raw) {
        assert_eq!((&mean.name, mean.colour, raw.what.as_str()), (&raw.name, raw.colour, "repeat"));
        for point in &mean.points {
            let own: Vec<f64> = raw.points.iter().filter(|r| r.x == point.x).map(|r| r.y).collect();
            assert_eq!(own.len(), 3);
            assert!((own.iter().product::<f64>().cbrt() / point.y - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_run_over_levels_has_a_line_for_each_variant_and_no_bars() {
    let book = growing::fullness(&["ext4", "xfs"]);
    let all = charts_of(&[&book]);
    assert!(all.iter().all(|chart| chart.key != "rates" && chart.key != "bytes"));
    let read = chart(&all, "levels-read");
    let lines = looks(read, SeriesLook::Line);
    assert_eq!(lines.iter().map(|line| line.points.len()).collect::<Vec<_>>(), [12, 12]);
    assert_eq!((&read.x.scale, read.x.quantity), (&AxisScale::Linear, AxisQuantity::Percent));
    assert_eq!(read.y.quantity, AxisQuantity::ByteRate, "each moves half a gibibyte");
    assert_eq!(looks(read, SeriesLook::Raw)[0].points.len(), 48);
}

#[test]
fn sizes_that_go_up_tenfold_lie_on_a_logarithmic_scale_and_percents_do_not() {
    let all = charts_of(&[&growing::chunks()]);
    let write = chart(&all, "levels-write");
    assert_eq!((&write.x.scale, write.x.quantity), (&AxisScale::Logarithmic, AxisQuantity::Bytes));
    assert_eq!(write.y.scale, AxisScale::Logarithmic, "rates lie far apart");
}

#[test]
fn curves_of_percentiles_go_from_the_shortest_to_the_longest() {
    let all = charts_of(&[&fixture::book()]);
    let create = chart(&all, "percentiles-create");
    let points = &create.series[0].points;
    assert_eq!((points[0].x, points[points.len() - 1].x), (1.0, 60_000.0));
    assert!(points.windows(2).all(|pair| pair[0].y <= pair[1].y));
}

#[test]
fn a_run_that_is_named_twice_has_two_names_and_two_colours() {
    let book = fixture::book();
    let all = charts_of(&[&book, &book]);
    let bars = looks(chart(&all, "rates"), SeriesLook::Bars);
    let names: Vec<_> = bars.iter().map(|one| (one.name.as_str(), one.colour)).collect();
    assert_eq!(names, [("k3j9x2ab ext4", 0), ("k3j9x2ab ext4 (2)", 1)]);
}

#[test]
fn invalid_measurements_are_left_out_and_what_is_disturbed_throughout_says_so() {
    let told = |book: &Book| chart(&charts_of(&[book]), "rates").notes.join(" ");
    let mut book = fixture::book();
    assert!(told(&book).contains("1 invalid measurement left out."), "{}", told(&book));
    assert!(!told(&book).contains("disturbed"));
    for m in &mut book.measurements {
        let found = m.disturbance.as_mut().unwrap();
        found.steal_seconds = found.cpu_seconds;
    }
    assert!(
        told(&book).contains("Every value here was measured under background load"),
        "{}",
        told(&book)
    );
}

/// Makes all measurements of a phase of a variant invalid.
fn lost(mut book: Book, variant: &str, phase: &str) -> Book {
    let own = book.measurements.iter_mut();
    own.filter(|m| m.cell.variant == variant && m.phase == phase)
        .for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    book
}

#[test]
fn invalid_measurements_are_counted_and_phases_stay_in_the_order_of_the_run() {
    let book = made::book();
    let whole = charts_of(&[&book]);
    let all = charts_of(&[&lost(book, "ext4", "create")]);
    let rates = chart(&all, "rates");
    assert_eq!(rates.x.scale, chart(&whole, "rates").x.scale);
    assert!(rates.notes.contains(&"3 invalid measurements left out.".to_string()));
}

#[test]
fn a_phase_keeps_its_chart_where_a_level_or_a_variant_is_invalid() {
    let mut book = lost(growing::fullness(&["ext4", "xfs"]), "xfs", "read");
    let at = |m: &&mut Measurement| m.cell.level.as_ref().is_some_and(|level| level.value == 50.0);
    let own = book.measurements.iter_mut().filter(at);
    own.filter(|m| m.phase == "read" && m.cell.variant == "ext4")
        .for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    let all = charts_of(&[&book]);
    let notes = chart(&all, "levels-read").notes.join(" ");
    assert!(notes.contains("52 invalid measurements left out."), "{notes}");
    let keys: Vec<&str> = all.iter().map(|chart| chart.key.as_str()).collect();
    let whole = charts_of(&[&growing::fullness(&["ext4", "xfs"])]);
    let levels = |all: &[Chart]| -> Vec<String> {
        let keys = all.iter().map(|chart| chart.key.clone());
        let mut keys: Vec<String> = keys.filter(|key| key.starts_with("levels")).collect();
        keys.sort();
        keys
    };
    assert_eq!(levels(&all), levels(&whole), "{keys:?}");
}

#[test]
fn two_thousand_variants_have_their_pictures() {
    let of = |at: usize| {
        let mut m = measurement("create", 1, 10, 1_000);
        m.cell.variant = format!("v{at}");
        m
    };
    let measurements = (0..2_000).map(of).collect();
    let all = charts_of(&[&Book { measurements, ..Book::default() }]);
    let rates = chart(&all, "rates");
    assert_eq!((rates.names().len(), rates.slots().len()), (2_000, rates.series.len()));
    assert_eq!(rates.table().rows(), 2_000);
}

#[test]
fn levels_are_written_as_people_write_them() {
    let texts =
        [75.0, 1.25, 0.5, 1_000_000.0, 0.0, 1e300].map(|value| AxisQuantity::Count.text(value));
    assert_eq!(texts, ["75", "1.25", "0.5", "1,000,000", "0", "1.000e300"]);
    let near = [12_345.0, 12_347.0, 999_999_999_999_999.0, -12_345.0, 1e15];
    let near = near.map(|value| AxisQuantity::Count.text(value));
    assert_eq!(near, ["12,345", "12,347", "999,999,999,999,999", "-12,345", "1.000e15"]);
    assert_eq!(
        (AxisQuantity::Percent.text(75.0), AxisQuantity::OneIn.text(1e3)),
        ("75%".into(), "p99.9".into())
    );
}

#[test]
fn a_law_is_made_of_no_values_and_its_chart_says_so_in_its_table() {
    let all = charts_of(&[kept_run("directory-hdd-7200")]);
    let growth = chart(&all, "growth-create");
    assert!(!looks(growth, SeriesLook::Law).is_empty(), "of those that follow one");
    let mut series = "";
    for line in &growth.table().lines {
        match line {
            TableLine::Cells(row) => {
                assert_eq!(row[2].is_empty(), series.contains("law"), "{series}: {row:?}");
            }
            TableLine::Heading(text) | TableLine::Note(text, _) => series = text,
        }
    }
}

#[test]
fn the_chart_that_shows_the_answer_comes_first() {
    let of = |book: &Book| charts_of(&[book]).remove(0).shows;
    let first = |name| of(kept_run(name));
    assert_eq!(of(&growing::directory()).family, ChartFamily::Growth);
    assert_eq!(first("clutter").family, ChartFamily::Levels);
    assert_eq!(first("sequential").family, ChartFamily::Bytes);
    assert_eq!(first("smallfiles-filesystems").family, ChartFamily::Ranking);
    let chunks = first("chunks");
    assert_eq!(chunks, Picture::of_phase(ChartFamily::Levels, "write-chunk"));
}
