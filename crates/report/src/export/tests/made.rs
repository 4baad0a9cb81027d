//! Made-up pictures for tests: every look, every scale, and what nobody would draw.

use crate::charts::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartFamily, ChartPoint, ChartSeries, Picture,
    SeriesLook, charts,
};
use crate::tests::kept_runs::kept_runs;
use boatload_analysis::Analysis;
use boatload_results::book::Book;
use boatload_results::fixture::{self, growing, ranked};
use boatload_results::reference::references;

/// A name that means something to XML, to gnuplot, to a shell and to a terminal.
pub(crate) const EVIL: &str = "</text><script>alert(1)</script> & \"q\" 'a' `touch hacked` $(id) a_{b}^c@d 50%s \\\n\u{1b}[31m\u{202e}\u{2028}";

fn axis(label: &str, quantity: AxisQuantity, scale: AxisScale) -> ChartAxis {
    ChartAxis { label: label.into(), quantity, scale }
}

fn with_interval(x: f64, y: f64, share: f64) -> ChartPoint {
    ChartPoint {
        interval: Some([y * (1.0 - share), y * (1.0 + share)]),
        n: 5,
        ..ChartPoint::at(x, y)
    }
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

/// Bars of these variants over these phases, with the values behind them.
pub(crate) fn bars(variants: &[&str], phases: &[&str]) -> Chart {
    let value = |variant: usize, phase: usize| 1_000.0 * (1.0 + variant as f64 + phase as f64);
    let places = || 0..phases.len();
    let all = variants.iter().enumerate().flat_map(|(at, name)| {
        let mean = places().map(|x| with_interval(x as f64, value(at, x), 0.1)).collect();
        let raw = places().flat_map(|x| {
            [0.95, 1.0, 1.05].map(|share| ChartPoint::at(x as f64, value(at, x) * share))
        });
        let raw = raw.collect();
        [
            series(name, at, SeriesLook::Bars, "mean", mean),
            series(name, at, SeriesLook::Raw, "repeat", raw),
        ]
    });
    let series = all.collect();
    let names = AxisScale::Named(phases.iter().map(|name| name.to_string()).collect());
    Chart {
        key: "rates".into(),
        shows: Picture::new(ChartFamily::Rates),
        title: "Operations per second".into(),
        x: axis("phase", AxisQuantity::Count, names),
        y: axis("operations per second", AxisQuantity::Operations, AxisScale::Linear),
        series,
        notes: vec!["Without the sync at the end of a phase. Higher is faster.".into()],
        from_zero: false,
    }
}

/// Lines with intervals and laws.
pub(crate) fn course() -> Chart {
    let places = [30.0, 50.0, 70.0, 80.0, 90.0, 98.0];
    let of = |number: usize, name: &str| {
        let height = move |x: f64| 2e-5 * (1.0 + number as f64) * (1.0 + (x / 98.0).powi(6));
        let all = |share: f64| places.map(|x| with_interval(x, height(x), share)).to_vec();
        let mut line = all(0.05);
        line[2].disturbed = true;
        [
            series(name, number, SeriesLook::Line, "p50", line),
            series(
                name,
                number,
                SeriesLook::Line,
                "p99",
                places.map(|x| ChartPoint::at(x, height(x) * 4.0)).to_vec(),
            ),
            series(
                name,
                number,
                SeriesLook::Law,
                "fitted law",
                places.map(|x| ChartPoint::at(x, height(x) * 1.1)).to_vec(),
            ),
            series(
                name,
                number,
                SeriesLook::Curve,
                "limit",
                places.map(|x| ChartPoint::at(x, height(x) * 3.0)).to_vec(),
            ),
            series(
                name,
                number,
                SeriesLook::Markers,
                "max",
                places.map(|x| ChartPoint::at(x, height(x) * 5.0)).to_vec(),
            ),
        ]
    };
    Chart {
        key: "levels-create".into(),
        shows: Picture::of_phase(ChartFamily::Levels, "create"),
        title: "Latency by space used".into(),
        x: axis("space used", AxisQuantity::Percent, AxisScale::Linear),
        y: axis("latency", AxisQuantity::Seconds, AxisScale::Logarithmic),
        series: [of(0, "ext4"), of(1, "xfs")].concat(),
        notes: vec!["Lower is faster.".into()],
        from_zero: false,
    }
}

/// The same picture in which every text is evil and long.
pub(crate) fn evil(mut chart: Chart) -> Chart {
    let long = |text: &mut String| *text = EVIL.repeat(3) + text;
    long(&mut chart.title);
    for axis in [&mut chart.x, &mut chart.y] {
        long(&mut axis.label);
        if let AxisScale::Named(names) = &mut axis.scale {
            names.iter_mut().for_each(long);
        }
    }
    for series in &mut chart.series {
        long(&mut series.name);
        long(&mut series.what);
    }
    chart.notes.iter_mut().for_each(long);
    chart
}

/// Pictures that no run gives.
fn odd() -> Vec<Chart> {
    let numbers = [0.0, -1.0, 1e-320, 1e300, f64::NAN, f64::INFINITY, f64::MAX];
    let looks = [
        SeriesLook::Bars,
        SeriesLook::Markers,
        SeriesLook::Line,
        SeriesLook::Curve,
        SeriesLook::Law,
        SeriesLook::Raw,
    ];
    let scales = [
        AxisScale::Linear,
        AxisScale::Logarithmic,
        AxisScale::Named(vec!["a".into(); 3]),
        AxisScale::Named(Vec::new()),
    ];
    let mut all = Vec::new();
    for look in looks {
        for (x, y) in scales.iter().zip(scales.iter().cycle().skip(all.len() % 3)) {
            let point = |at: &f64| ChartPoint {
                interval: Some([*at, -*at]),
                ..ChartPoint::at(*at, numbers[all.len() % numbers.len()])
            };
            let mut chart = course();
            chart.key = format!("odd-{}", all.len());
            (chart.x.scale, chart.y.scale) = (x.clone(), y.clone());
            if look == SeriesLook::Bars {
                chart.x.scale = scales[2].clone();
            }
            chart.series = vec![
                series("a", 0, look, "some", numbers.iter().map(point).collect()),
                series("", 9, look, "", Vec::new()),
            ];
            all.push(chart);
        }
    }
    all.into_iter().filter_map(Chart::checked).collect()
}

/// All of these, and the charts of known and published runs.
pub(crate) fn all() -> Vec<Chart> {
    let names: Vec<String> = (0..30).map(|at| format!("a phase with a long name {at}")).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let mut all = vec![
        bars(&["ext4"], &["create", "read"]),
        bars(
            &["ext4", "xfs", "btrfs", "a variant with quite a long name"],
            &["create", "read", "delete"],
        ),
        bars(&names[..9], &names[..5]),
        bars(&["ext4"], &names),
        course(),
    ];
    all.extend([bars(&["a", "b"], &["c", "d"]), course()].map(evil));
    all.extend(odd());
    all.extend(books().iter().flat_map(|book| charts(&[&Analysis::of(book)])));
    all
}

/// Runs of all kinds.
pub(crate) fn books() -> Vec<Book> {
    let mut books = vec![
        fixture::book(),
        growing::directory(),
        growing::chunks(),
        growing::fullness(&["ext4", "xfs"]),
        growing::clutter(),
        growing::sequential(),
        ranked::book(),
    ];
    books.extend(references());
    books.extend((0..20).map(|seed| fixture::Odd::new(seed).book()));
    books.extend(kept_runs().iter().map(|(_, book)| book.clone()));
    books
}
