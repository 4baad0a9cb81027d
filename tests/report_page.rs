//! The report for a browser, opened in one: what it asks for, whether what is drawn is what its tables
//! say, and whether it can be read in the dark, on a phone, without a mouse, and whatever it tells of.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

mod common;

#[path = "report_page/charts.rs"]
mod charts;

#[path = "common/browser.rs"]
mod browser;

#[path = "common/command.rs"]
mod command;

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use browser::Browser;
use command::Bench;
use common::skip;

/// Kept runs of every scenario at its original scale.
const KEPT: [&str; 8] = [
    "chunks", "clutter", "device", "directory", "fullness", "sequential", "smallfiles",
    "smallfiles-filesystems",
];

const EVIL: &str = "<script>alert(1)</script>";

fn browser() -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => Some(browser),
        Err(why) => {
            skip("the report in a browser", &why);
            None
        }
    }
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/results/{name}.json.gz"))
}

/// The id of a run that is taken in.
fn imported(bench: &Bench, document: &Path) -> String {
    let ran = bench.run([Path::new("import"), document]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.split([' ', ':']).nth(1).unwrap().to_string()
}

/// The page of these runs.
fn page(bench: &Bench, runs: &[&str]) -> PathBuf {
    let path = bench.beside(&format!("{}.html", runs.join("-").replace(':', "-")));
    let ran = bench.run([&["report"], runs, &["-o", path.to_str().unwrap()]].concat());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    path
}

// --- without a browser -------------------------------------------------------------------------

/// Names from outside, wherever a job may have them.
fn evil_job() -> String {
    let evil = EVIL.replace('"', "\\\"");
    format!(
        "name = \"x\"\nquestion = \"{evil}?\"\nengine = \"sim\"\nrepeats = 3\n# {evil}\n\
         [sim]\nmetadata = \"20us\"\nspread = {{ repeats = 5 }}\n\
         [[variant]]\nname = \"{evil}\"\ntree = {{ files = 200, size = 0 }}\n\
         [[variant]]\nname = \"a & b <i>\"\ntree = {{ files = 200, size = 10 }}\n\
         [[phase]]\noperation = \"create\"\nwindows = 4\n\
         [[phase]]\noperation = \"read\"\n"
    )
}

fn evil_run(bench: &Bench) -> String {
    let job = bench.write("job.toml", evil_job());
    let directory = bench.work().join(EVIL.replace('/', "_"));
    std::fs::create_dir(&directory).unwrap();
    let arguments = [Path::new("run"), &job, Path::new("--dir"), &directory];
    let document = bench.document(arguments);
    document["run"]["id"].as_str().unwrap().to_string()
}

#[test]
fn an_imported_run_gives_the_same_page() {
    let bench = Bench::default();
    let id = evil_run(&bench);
    let document = bench.beside("run.json");
    bench.run(["export", &id, "--format", "json", "-o", document.to_str().unwrap()]);
    let other = Bench::default();
    assert_eq!(imported(&other, &document), id);
    let [mine, theirs] = [&bench, &other].map(|of| std::fs::read(page(of, &[&id])).unwrap());
    assert!(mine == theirs, "the pages differ");
}

#[test]
fn a_page_holds_no_address_but_those_it_shows_and_no_element_from_outside() {
    let bench = Bench::default();
    let id = evil_run(&bench);
    let text = std::fs::read_to_string(page(&bench, &[&id])).unwrap();
    let own = text.split("<script>").next().unwrap();
    assert!(!own.contains(EVIL) && !own.contains("<i>"), "an element from outside");
    assert!(own.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(text.matches("<script").count(), text.matches("</script>").count());
    for attribute in ["src=", "href=\"http", "url(", "@import"] {
        assert!(!own.contains(attribute), "{attribute}");
    }
}

#[test]
fn a_run_leaves_its_page_and_so_does_one_that_is_interrupted() {
    let bench = Bench::default();
    let job = bench.write("job.toml", evil_job());
    let path = bench.beside("run.html");
    let ran = bench.run([Path::new("run"), &job, Path::new("--report"), &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read(&path).unwrap();
    assert!(text == std::fs::read(page(&bench, &["last"])).unwrap(), "it is another page");
    let ran = bench.run([Path::new("run"), &job, Path::new("--report"), Path::new("-")]);
    assert!(ran.refuses(2).contains("--report takes a file"), "{}", ran.stderr);
}

#[test]
fn a_page_goes_where_it_is_sent() {
    let bench = Bench::default();
    let reference = "reference:chunks-ozone";
    let ran = bench.run(["report", reference, "-o", "-"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("<!doctype html>") && ran.stdout.ends_with("</html>\n"));
    let folder = bench.beside("pages");
    let ran = bench.run(["report", reference, "-o", &format!("{}/", folder.display())]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(command::names_in(&folder), ["reference_chunks-ozone.html"]);
    let ran = bench.run(["report", reference, "-o", "/nowhere/at/all.html"]);
    ran.refuses(1);
    assert_eq!(bench.run(["report", reference]).code, Some(2));
}

#[test]
fn a_run_counts_once_in_a_page() {
    let bench = Bench::default();
    let id = imported(&bench, &kept("chunks"));
    let path = bench.beside("page.html");
    for runs in [[id.as_str(), "last"], ["reference:chunks-ozone"; 2]] {
        let ran = bench.run(["report", runs[0], runs[1], "-o", path.to_str().unwrap()]);
        let said = format!("{} and {} are the same run", runs[0], runs[1]);
        assert!(ran.refuses(2).contains(&said), "{}", ran.stderr);
        assert!(!path.exists());
    }
}

#[test]
fn a_run_does_not_begin_where_its_page_has_no_place() {
    let bench = Bench::default();
    let job = bench.write("job.toml", evil_job());
    let file = bench.write("file", "");
    let nowhere = [bench.beside("missing/run.html"), file.join("run.html"), file.join("pages/")];
    for path in nowhere {
        let ran = bench.run([Path::new("run"), &job, Path::new("--report"), &path]);
        let said = ran.refuses(1);
        assert!(said.contains("nothing was measured"), "{said}");
    }
    assert!(!bench.store().exists(), "a run was begun");
    let folder = bench.beside("pages/");
    let ran = bench.run([Path::new("run"), &job, Path::new("--report"), &folder]);
    assert_eq!((ran.code, command::names_in(&folder).len()), (Some(0), 1), "{}", ran.stderr);
    let again = bench.run([Path::new("run"), &job, Path::new("--report"), &folder]);
    assert_eq!((again.code, command::names_in(&folder).len()), (Some(0), 2), "{}", again.stderr);
}

#[test]
fn a_page_that_cannot_be_written_does_not_hide_how_the_run_ended() {
    let bench = Bench::default();
    let failing =
        evil_job().replace("[sim]\n", "[sim]\nfault = { operation = 3, outcome = \"EIO\" }\n");
    for (job, code) in [(evil_job(), 1), (failing, 4)] {
        let job = bench.write("job.toml", job);
        let ran =
            bench.run([Path::new("run"), &job, Path::new("--report"), Path::new("/dev/full")]);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert!(ran.stdout.contains("read"), "the results are gone: {}", ran.stdout);
        let told = "cannot write /dev/full: No space left on device; `boatload report";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn every_value_of_a_chart_stands_in_the_page_without_a_script() {
    let bench = Bench::default();
    let mut most = 0;
    for name in KEPT {
        let id = imported(&bench, &kept(name));
        let text = std::fs::read_to_string(page(&bench, &[&id])).unwrap();
        let charts = text.split("<summary>The ").filter_map(|part| {
            let (count, rest) = part.split_once(" value")?;
            let body = rest.split("</tbody>").next()?;
            Some((count.replace(',', "").parse::<usize>().ok()?, body.matches("<tr><td>").count()))
        });
        let told: Vec<_> = charts.collect();
        assert_eq!(told.len(), text.matches("<details class=\"figures\">").count(), "{name}");
        assert!(told.iter().all(|(count, rows)| count == rows), "{name}: {told:?}");
        most = told.iter().map(|(count, _)| *count).fold(most, usize::max);
    }
    assert!(most > 500, "no chart has many values: {most}");
}

#[test]
fn an_interrupted_run_leaves_its_page() {
    let bench = Bench::default();
    let path = bench.beside("run.html");
    let work = bench.work();
    let mut command = bench.command(["run", "--cache", "as-is", "--set", "files=3M"]);
    command.args(["--set", "selected=10", "--set", "size_min=0", "--set", "size_max=0"]);
    command.arg("--report").arg(&path).arg("--dir").arg(&work);
    let running = command::Running::start(command, &work);
    running.signal(Signal::INT);
    let ran = running.ended();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("INCOMPLETE"), "it does not say that it was cut short");
}

// --- in a browser ------------------------------------------------------------------------------

/// The number at the front of a text, in its unit's base.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_start_matches('p').replace(',', "");
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".-e".contains(c))).unwrap_or(text.len());
    let (value, unit) = text.split_at(end);
    let size = match unit.trim().trim_end_matches("/s") {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => 1.0,
    };
    Some(value.parse::<f64>().ok()? * size)
}

#[test]
fn numbers_are_read_from_texts() {
    assert_eq!(number("17,810/s"), Some(17_810.0));
    assert_eq!(number("2.31 us"), Some(2.31 * 1e-6));
    assert_eq!(number("1.50 GiB/s"), Some(1.5 * 1_073_741_824.0));
    assert_eq!((number("create"), number("-")), (None, None));
}

/// Where each chart has its points, beside the rows of its table as they stand in the page.
const DRAWN: &str = "
    document.querySelectorAll('details').forEach((one) => { one.open = true; });
    return charts.map((chart) => ({
        key: chart.key,
        points: chart.points.map(({ row, x, y, width, height }) => ({ row, x, y, width, height })),
        rows: chart.rows.map((_, at) => chart.row(at)),
        plot: chart.wide.svg.dataset.plot.split(' ').map(Number),
        label: chart.place.getAttribute('aria-label'),
        axes: chart.seen.svg.querySelectorAll('.label text').length,
    }));";

/// Each chart has a point for each row of its table, the higher the more.
#[track_caller]
fn drawn_as_told(browser: &Browser, name: &str) {
    let charts = browser.script(DRAWN, json!([]));
    let charts = charts.as_array().unwrap();
    assert!(!charts.is_empty(), "{name}: nothing is drawn");
    for chart in charts {
        let key = format!("{name}: {}", chart["key"]);
        assert!(chart["label"].as_str().unwrap().len() > 20, "{key}");
        assert_eq!(chart["axes"], 2, "{key}: an axis without a name");
        let (points, rows) =
            (chart["points"].as_array().unwrap(), chart["rows"].as_array().unwrap());
        let mut drawn: Vec<u64> = points.iter().map(|one| one["row"].as_u64().unwrap()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), points.len(), "{key}: a row is drawn twice");
        assert_eq!(points.len(), rows.len(), "{key}");
        inside(&key, chart, points);
        higher_is_more(&key, points, rows);
    }
}

#[track_caller]
fn inside(key: &str, chart: &Value, points: &[Value]) {
    let plot: Vec<f64> =
        chart["plot"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    for point in points {
        let of = |name: &str| point[name].as_f64().unwrap();
        let across = of("x") >= plot[0] - 0.2 && of("x") + of("width") <= plot[2] + 0.2;
        let down = of("y") >= plot[1] - 0.2 && of("y") + of("height") <= plot[3] + 0.2;
        assert!(across && down, "{key}: {point} is outside of {plot:?}");
    }
}

/// Points lie in the order of their numbers, but for what the rounding of texts hides.
#[track_caller]
fn higher_is_more(key: &str, points: &[Value], rows: &[Value]) {
    let told = |point: &Value| {
        let row = &rows[point["row"].as_u64().unwrap() as usize];
        Some((number(row[2].as_str()?)?, point["y"].as_f64()?))
    };
    let mut all: Vec<(f64, f64)> = points.iter().filter_map(told).collect();
    assert!(!all.is_empty(), "{key}: no number");
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut lowest = f64::INFINITY;
    for (value, y) in all {
        assert!(y <= lowest + 4.0, "{key}: {value} at {y}, below {lowest}");
        lowest = lowest.min(y);
    }
}

/// Nothing came to the console, and nothing but the page itself was asked for.
#[track_caller]
fn quiet(browser: &Browser, name: &str, path: &Path) {
    assert_eq!(browser.console(), [""; 0], "{name}: the console");
    let asked = browser.requests();
    let file = path.file_name().unwrap().to_str().unwrap();
    let own = |address: &&String| address.starts_with("file:") && address.contains(file);
    let others: Vec<_> = asked.iter().filter(|address| !own(address)).collect();
    assert!(others.is_empty() && !asked.is_empty(), "{name}: asked for {others:?}");
}

#[track_caller]
fn fits(browser: &Browser, name: &str, width: u32) {
    browser.resize(width, 800);
    browser.wait("charts.every(({ seen }) => seen.svg.clientWidth <= innerWidth && seen.svg.clientWidth > 0)");
    let wide = "return [...document.querySelectorAll('body *')]
        .filter((one) => !one.closest('.box, pre, svg') && one.getBoundingClientRect().right > innerWidth + 1)
        .map((one) => one.outerHTML.slice(0, 80));";
    let scroll = browser.script("return document.documentElement.scrollWidth", json!([]));
    let wide = browser.script(wide, json!([]));
    assert!(scroll.as_u64().unwrap() <= u64::from(width), "{name}: {scroll} of {width}: {wide}");
}

/// The colours of the page and of the first chart's ground.
fn ground(browser: &Browser) -> Value {
    let script = "return [getComputedStyle(document.body).backgroundColor,
                          getComputedStyle(document.querySelector('.chart .ground')).fill]";
    browser.script(script, json!([]))
}

#[test]
fn every_scenario_s_page_draws_what_its_tables_say_and_asks_for_nothing() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    for name in KEPT {
        let id = imported(&bench, &kept(name));
        let path = page(&bench, &[&id]);
        browser.resize(1600, 1000);
        browser.prefer("light");
        browser.open(&path);
        drawn_as_told(&browser, name);
        browser.script(
            "document.querySelectorAll('details').forEach((one) => { one.open = false; })",
            json!([]),
        );
        browser.picture(&format!("{name}-light-1600"));
        browser.prefer("dark");
        assert_eq!(ground(&browser), json!(["rgb(21, 24, 27)", "rgb(21, 24, 27)"]), "{name}");
        browser.picture(&format!("{name}-dark-1600"));
        fits(&browser, name, 400);
        browser.picture(&format!("{name}-dark-400"));
        browser.prefer("light");
        browser.picture(&format!("{name}-light-400"));
        quiet(&browser, name, &path);
    }
}

#[test]
fn several_runs_stand_in_one_page() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let ids = ["smallfiles", "smallfiles-filesystems"].map(|name| imported(&bench, &kept(name)));
    let compared = bench.run(["compare", &ids[0], &ids[1], "--json", "-"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    let sentences = compared["sentences"].as_array().unwrap();
    assert!(!sentences.is_empty(), "nothing is compared");
    let runs = [&*ids[0], &*ids[1], "reference:smallfiles-debian8-ext4"];
    for (name, runs) in [("several-two", &runs[..2]), ("several-three", &runs[..])] {
        let path = page(&bench, runs);
        browser.resize(1600, 1000);
        browser.open(&path);
        drawn_as_told(&browser, name);
        browser.picture(name);
        fits(&browser, name, 400);
        quiet(&browser, name, &path);
        let text = browser.script("return document.body.textContent", json!([]));
        let text = text.as_str().unwrap();
        let headings =
            [("A", &ids[0]), ("B", &ids[1])].map(|(letter, id)| format!("{letter}: {id}"));
        for told in headings.iter().map(String::as_str).chain(["B/A", "in what the runs differ"]) {
            assert!(text.contains(told), "{told}");
        }
        // Two runs are compared in sentences, more only in a table.
        for sentence in sentences {
            let sentence = sentence.as_str().unwrap();
            assert_eq!(text.contains(sentence), runs.len() == 2, "{name}: {sentence}");
        }
        assert_eq!(text.contains("C/A"), runs.len() == 3, "{name}");
    }
}

/// Everything that can be reached with the keyboard and is seen, in the order of the page.
const REACHABLE: &str = "
    window.reachable = [...document.querySelectorAll('a[href], button, summary, [tabindex=\"0\"]')]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }));
    return reachable.length;";

#[test]
fn the_page_is_used_without_a_mouse_and_in_the_dark_and_printed() {
    const TAB: char = '\u{e004}';
    const SPACE: char = ' ';
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let id = imported(&bench, &kept("smallfiles-filesystems"));
    let path = page(&bench, &[&id]);
    browser.resize(1600, 1000);
    browser.prefer("dark");
    browser.open(&path);
    let count = browser.script(REACHABLE, json!([])).as_u64().unwrap();
    assert!(count > 15, "{count}");
    for expected in 0..count {
        browser.press(TAB);
        let at = browser.script("return reachable.indexOf(document.activeElement)", json!([]));
        assert_eq!(at.as_u64(), Some(expected), "the keyboard follows the order of the page");
    }
    // The theme's button, and a name of a legend, pressed with the keyboard.
    let ground = "return getComputedStyle(document.body).backgroundColor";
    let dark = browser.script(ground, json!([]));
    browser.script("themeButton.focus()", json!([]));
    browser.press(SPACE);
    assert_ne!(browser.script(ground, json!([])), dark, "the theme stays");
    // The names of the second chart: the first is the ranking.
    browser.script(
        "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
        json!([]),
    );
    browser.script("document.querySelector('.legend button').focus()", json!([]));
    browser.press(SPACE);
    let hidden = "const { hidden, wide } = charts[1];
        return [document.activeElement.getAttribute('aria-pressed'), hidden.size > 0,
                wide.svg.querySelectorAll('.series[display=none]').length === hidden.size]";
    assert_eq!(browser.script(hidden, json!([])), json!(["false", true, true]));
    read_by_arrow_keys(&browser);
    let pdf = browser.command("Page.printToPDF", json!({ "printBackground": true }));
    assert!(pdf["data"].as_str().unwrap().len() > 20_000, "an empty print");
    quiet(&browser, "by hand", &path);
    let path = page(&bench, &[&imported(&bench, &kept("fullness"))]);
    browser.open(&path);
    zoomed_and_reset(&browser);
    quiet(&browser, "zoomed by hand", &path);
}

/// The arrow keys go from value to value.
#[track_caller]
fn read_by_arrow_keys(browser: &Browser) {
    const RIGHT: char = '\u{e014}';
    const LEFT: char = '\u{e012}';
    let tip = "return charts[0].tip.hidden ? '' : charts[0].tip.textContent";
    browser.script("charts[0].place.focus()", json!([]));
    let mut read = Vec::new();
    for key in [RIGHT, RIGHT, LEFT] {
        browser.press(key);
        read.push(browser.script(tip, json!([])).as_str().unwrap().to_string());
    }
    assert!(read[0].contains("times as long: "), "{read:?}");
    assert!(read[0] != read[1] && read[0] == read[2], "{read:?}");
}

/// Ticks stand at measured places of what is in view, and everything comes back.
#[track_caller]
fn zoomed_and_reset(browser: &Browser) {
    let texts = "const { seen } = charts.find(({ zoomable }) => zoomable);
        return [...seen.svg.querySelectorAll('.ticks-x text')].map((text) => text.textContent)";
    let whole = browser.script(texts, json!([]));
    let press = |name: &str| {
        let script =
            "document.querySelector(`.controls button[aria-label^='${arguments[0]}']`).click()";
        browser.script(script, json!([name]));
    };
    press("Zoom in");
    assert_ne!(browser.script(texts, json!([])), whole, "the ticks stay");
    press("Reset");
    assert_eq!(browser.script(texts, json!([])), whole);
}

#[test]
fn what_looks_like_an_element_is_shown_as_it_is_written() {
    let Some(browser) = browser() else { return };
    let bench = Bench::default();
    let id = evil_run(&bench);
    let path = page(&bench, &[&id]);
    browser.open(&path);
    // A dialog would end every command after it with an error.
    drawn_as_told(&browser, "evil");
    let shown = "const texts = (where) => [...document.querySelectorAll(where)].map((one) => one.textContent).join(' ');
        return ['.lead', '.legend', 'pre', 'td, th', 'figure'].map((where) => texts(where).includes(arguments[0]));";
    assert_eq!(browser.script(shown, json!([EVIL])), json!([true, true, true, true, true]));
    let pointed = "charts[1].tell(charts[1].points[0]); return charts[1].tip.textContent";
    let pointed = browser.script(pointed, json!([]));
    assert!(pointed.as_str().unwrap().contains(EVIL), "{pointed}");
    assert_eq!(browser.script("return document.scripts.length", json!([])), json!(1));
    browser.picture("evil");
    quiet(&browser, "evil", &path);
}
