pub(crate) mod made;

use boatload_results::book::Book;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::tests::kept_runs::kept_run;
use boatload_base::fixture::golden::assert_golden;
use boatload_results::fixture::{self, growing};
use boatload_results::reference::references;
use boatload_run::cache::Doubt;

fn texts(format: &str, book: &Book) -> Vec<ExportText> {
    (find_export(format).unwrap().texts)(&Analysis::of(book)).unwrap()
}

fn only_text(format: &str, book: &Book) -> String {
    let [only] = texts(format, book).try_into().unwrap();
    only.text
}

/// The common book with a name that means something to every format.
fn odd_names() -> Book {
    let mut book = fixture::book();
    for m in &mut book.measurements {
        m.cell.variant = "=cmd|'/c \"calc\"'!A1, \\x\n@who <b>#1".into();
    }
    book
}

#[test]
fn exports_are_the_ones_that_were_agreed_on() {
    let book = fixture::book();
    assert_golden("export.csv", &only_text("csv", &book));
    assert_golden("export-windows.csv", &only_text("csv-windows", &book));
    assert_golden("export.prom", &only_text("openmetrics", &book));
    assert_golden("export.md", &only_text("markdown", &book));
    assert_golden("export-create.hgrm", &texts("hgrm", &book)[0].text);
    assert_golden("export-rates.svg", &texts("svg", &book)[0].text);
    assert_golden("export-rates.gp", &texts("gnuplot", &book)[0].text);
    assert_golden("export-rates.dat", &texts("gnuplot", &book)[1].text);
    let mut levels = growing::fullness(&["ext4", "xfs"]);
    levels.measurements.retain(|m| m.cell.level.as_ref().is_some_and(|l| l.value < 50.0));
    assert_golden("export-levels.md", &only_text("markdown", &levels));
}

#[test]
fn the_pictures_of_the_readme_are_those_of_the_kept_runs() {
    let readme = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for (run, key) in [("smallfiles-filesystems", "rates"), ("chunks", "levels-write-chunk")] {
        let all = texts("svg", kept_run(run));
        let picture = all.iter().find(|text| text.name == format!("{key}.svg")).unwrap();
        let path = format!("docs/pictures/{run}-{key}.svg");
        assert_golden(&format!("../../{path}"), &picture.text);
        assert!(readme.contains(&format!("({path})")), "{path}");
    }
}

#[test]
fn formats_have_names_of_their_own_and_say_what_they_are() {
    let names: Vec<_> = EXPORTS.iter().map(|export| export.name).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    assert!(EXPORTS.iter().all(|export| !export.about.is_empty()));
    assert!(find_export("no-such-format").is_none());
}

/// Splits one table as RFC 4180 says.
fn cells(table: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (vec![], vec![], String::new(), false);
    let mut chars = table.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && cell.is_empty(), "the table ends within a row");
    rows
}

#[test]
fn every_row_has_a_cell_for_every_column_whatever_is_in_the_book() {
    for seed in 0..50 {
        let book = fixture::Odd::new(seed).book();
        for format in ["csv", "csv-windows"] {
            let rows = cells(&only_text(format, &book));
            assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{format}, seed {seed}");
            let heads: BTreeSet<_> = rows[0].iter().collect();
            // A window has operations of its own.
            assert_eq!(heads.len(), rows[0].len(), "{format}: {:?}", rows[0]);
        }
        assert_eq!(cells(&only_text("csv", &book)).len(), book.measurements.len() + 1);
    }
    let book = odd_names();
    let rows = cells(&only_text("csv", &book));
    assert_eq!(rows[1][3], book.measurements[0].cell.variant, "a name stays as it is");
}

#[test]
fn every_column_is_a_place_in_the_run_document() {
    let mut book = growing::fullness(&["ext4"]);
    let m = &mut book.measurements[0];
    m.disturbance = Some(fixture::quiet(1.0));
    m.cache.reason = Some(Doubt::NoRights);
    m.disk = Some(Default::default());
    m.time_shares = Some(Default::default());
    // What a work has and what its mix has, both in one.
    (m.part_of, m.service) = (Some("serve".into()), m.latency);
    (m.duration_seconds, m.turns_per_second_asked, m.evictions) = (Some(1.0), Some(9.0), Some(7));
    m.gone = Some(3);
    let value = crate::json::measurement_value(m, &book.host);
    for place in csv::places() {
        assert!(value.pointer(&place).is_some(), "{place}");
    }
}

#[test]
fn what_was_not_published_is_empty_and_never_zero() {
    for book in references() {
        let rows = cells(&only_text("csv", &book));
        for (name, at) in rows[0].iter().zip(0..) {
            // These were published as 0.
            if ["first", "level_value", "cpu_user_seconds"].contains(&name.as_str()) {
                continue;
            }
            let zeros = rows[1..].iter().filter(|row| ["0", "0.0"].contains(&row[at].as_str()));
            assert_eq!(zeros.count(), 0, "{name} of {}", book.run.id);
        }
        let metrics = only_text("openmetrics", &book);
        check_metrics(&metrics);
        for line in metrics.lines().filter(|line| !line.contains("_lower_")) {
            assert!(!line.ends_with(" 0.0"), "{line}");
        }
        assert!(
            (find_export("hgrm").unwrap().texts)(&Analysis::of(&book)).is_err(),
            "{}",
            book.run.id
        );
        let text = only_text("markdown", &book);
        for claim in ["boatload 0", "seed", "0 processors", "NaN", " 0 B", "To repeat"] {
            assert!(!text.contains(claim), "{claim} in\n{text}");
        }
    }
}

/// What promtool would complain of, by the grammar of the text format.
fn complaints(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut types = BTreeMap::new();
    let mut series = BTreeSet::new();
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| c.is_ascii_lowercase())
            && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let mut last = "";
    for line in text.lines() {
        let mut complain = |what: &str| found.push(format!("{what}: {line}"));
        if let Some(about) = line.strip_prefix("# ") {
            let words: Vec<&str> = about.splitn(3, ' ').collect();
            match words.as_slice() {
                ["TYPE", name, "gauge"] if types.insert(*name, false).is_none() => last = name,
                ["HELP", name, help] if is_name(name) && !help.is_empty() => {}
                ["EOF"] => {}
                _ => complain("odd comment"),
            }
            continue;
        }
        let Some((name, rest)) = line.split_once('{') else {
            complain("no labels");
            continue;
        };
        if !is_name(name) || name != last || types.insert(name, true).is_none() {
            complain("no TYPE before it");
        }
        let Some((labels, value)) = labels_of(rest) else {
            complain("labels");
            continue;
        };
        if !labels.iter().all(|(label, _)| is_name(label)) {
            complain("name of a label");
        }
        if !value.trim().parse::<f64>().is_ok_and(f64::is_finite) {
            complain("value");
        }
        if !series.insert(format!("{name}{labels:?}")) {
            complain("twice");
        }
    }
    if !text.ends_with("# EOF\n") {
        found.push("no end".into());
    }
    found.extend(types.iter().filter(|(_, used)| !**used).map(|(name, _)| format!("empty {name}")));
    found
}

/// The labels up to the closing brace, and what follows it.
fn labels_of(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        if let Some(value) = rest.strip_prefix("} ") {
            return Some((labels, value));
        }
        let (name, after) = rest.split_once("=\"")?;
        let (mut value, mut end) = (String::new(), None);
        let mut chars = after.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => value.push(match chars.next()?.1 {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    _ => return None,
                }),
                '"' => {
                    end = Some(at + 1);
                    break;
                }
                c => value.push(c),
            }
        }
        labels.insert(name.to_string(), value).is_none().then_some(())?;
        rest = &after[end?..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

#[track_caller]
fn check_metrics(text: &str) {
    assert_eq!(complaints(text), [""; 0], "{text}");
}

#[test]
fn the_check_of_metrics_sees_what_is_wrong() {
    let head = "# HELP a_b x\n# TYPE a_b gauge\n";
    check_metrics(&format!("{head}a_b{{x=\"1\"}} 2\n# EOF\n"));
    for bad in [
        "a_b{x=\"1\"} 2\na_b{x=\"1\"} 3\n# EOF\n",
        "a_b{x=\"1\"} NaN\n# EOF\n",
        "a_b{x=\"\"1\"} 2\n# EOF\n",
        "a_b{x=\"\\q\"} 2\n# EOF\n",
        "a_c{x=\"1\"} 2\n# EOF\n",
        "a_b{x=\"1\n\"} 2\n# EOF\n",
        "a_b{x=\"1\"} 2\n",
        "# EOF\n",
    ] {
        assert_ne!(complaints(&format!("{head}{bad}")), [""; 0], "{bad}");
    }
}

#[test]
fn metrics_are_well_formed_whatever_is_in_the_book() {
    let book = odd_names();
    let text = only_text("openmetrics", &book);
    check_metrics(&text);
    let sample = text.lines().find(|line| line.starts_with("boatload_phase_seconds{")).unwrap();
    let (labels, value) = labels_of(sample.split_once('{').unwrap().1).unwrap();
    assert_eq!(labels["variant"], book.measurements[0].cell.variant);
    let row = Analysis::of(&book).summary().groups[0].rows[0].clone();
    assert_eq!(value.parse(), Ok(row.seconds.unwrap()));
    for seed in 0..60 {
        check_metrics(&only_text("openmetrics", &fixture::Odd::new(seed).book()));
    }
    check_metrics(&only_text("openmetrics", &growing::clutter()));
}

/// The four columns of each line that the plotter takes, and the number of lines.
fn plotted(text: &str) -> Vec<[f64; 4]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let four = fields.filter_map(|words| <[&str; 4]>::try_from(words).ok());
    four.filter_map(|words| {
        let numbers = words.map(|word| word.parse::<f64>().unwrap_or(f64::NAN));
        numbers.iter().all(|number| number.is_finite()).then_some(numbers)
    })
    .collect()
}

#[test]
fn percentiles_in_a_file_are_those_of_the_latencies() {
    let mut book = fixture::book();
    book.measurements = vec![fixture::measurement("read", 1, 10_000, 1_000)];
    let (histogram, latency) = fixture::latencies((1..=10_000).map(|n| n * 100));
    (book.measurements[0].histogram, book.measurements[0].latency) = (histogram, Some(latency));
    let text = only_text("hgrm", &book);
    let lines = plotted(&text);
    assert!(lines.len() > 40, "{text}");
    for [value, quantile, total, odds] in lines {
        let truth = quantile * 1_000.0;
        assert!((value - truth).abs() <= 0.1 + truth * 0.001, "{value} at {quantile}");
        assert!((total / 10_000.0 - quantile).abs() < 0.002, "{total} at {quantile}");
        assert!((odds * (1.0 - quantile) - 1.0).abs() < 0.01, "{odds} at {quantile}");
    }
    let last = "\n    1000.000 1.000000000000      10000\n# microseconds; ";
    assert!(text.contains(last), "{text}");
}

#[test]
fn files_have_safe_names_of_their_own_whatever_the_phases_are_called() {
    let mut book = odd_names();
    book.measurements[0].phase = "../../etc/passwd".into();
    book.measurements[1].phase = ".._.._etc_passwd".into();
    for seed in 0..30 {
        let books = [book.clone(), fixture::Odd::new(seed).book()];
        for book in books {
            let files =
                (find_export("hgrm").unwrap().texts)(&Analysis::of(&book)).unwrap_or_default();
            let names: BTreeSet<_> = files.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names.len(), files.len());
            for name in names {
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                assert!(name.chars().all(plain) && name.len() < 250, "{name}");
                assert!(!name.starts_with(['.', '-']), "{name}");
            }
        }
    }
    let mut levels = growing::fullness(&["ext4", "xfs"]);
    let (histogram, _) = fixture::latencies([1_000]);
    levels.measurements.iter_mut().for_each(|m| m.histogram = histogram.clone());
    assert_eq!(texts("hgrm", &levels)[0].name, "mkdir-ext4-30percent.hgrm");
}

#[test]
fn a_table_in_markdown_has_its_columns_whatever_the_names_are() {
    let text = only_text("markdown", &odd_names());
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let tables: Vec<&str> = text.split("\n\n").filter(|block| block.starts_with('|')).collect();
    for table in &tables {
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines.len() > 2 && lines.iter().all(|line| bars(line) == bars(lines[0])), "{text}");
    }
    assert_eq!(tables.len(), 2, "the answer's and the table of all phases: {text}");
    assert!(!text.contains("<b>") && !text.contains("@who") && !text.contains("#1"), "{text}");
    let mut fenced = fixture::book();
    fenced.run.command = "boatload run '```'\n# x".into();
    let text = only_text("markdown", &fenced);
    assert!(text.ends_with("````\nboatload run '```'\\n# x\n````\n"), "{text}");
    for seed in 0..50 {
        let text = only_text("markdown", &fixture::Odd::new(seed).book());
        assert!(!text.contains("NaN") && !text.contains("| inf"), "seed {seed}:\n{text}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "seed {seed}:\n{text}");
    }
}
