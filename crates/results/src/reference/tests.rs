use std::collections::BTreeSet;

use super::*;
use boatload_plan::find_scenario;

/// What a number of a table is in the book.
fn same(published: f64, kept: f64) -> bool {
    (published - kept).abs() <= published.abs() * 1e-12
}

fn measurement_of<'a>(book: &'a Book, line: &PublishedRow) -> &'a Measurement {
    let is = |m: &&Measurement| {
        m.phase == line.text("phase").unwrap()
            && m.cell.variant == line.text("variant").unwrap_or("default")
            && m.cell.repeat == line.text("repeat").map_or(1, |text| text.parse().unwrap())
            && m.pass == line.text("pass").map_or(1, |text| text.parse().unwrap())
            && line.text("level").is_none_or(|level| {
                m.cell.level.as_ref().is_some_and(|l| same(level.parse().unwrap(), l.value))
            })
    };
    let found: Vec<_> = book.measurements.iter().filter(is).collect();
    assert_eq!(found.len(), 1, "{:?}", line.0);
    found[0]
}

#[test]
fn every_line_of_every_table_stands_in_a_book_with_its_figures() {
    for (file, table) in TABLES {
        for line in lines(table) {
            let name = line.text("reference").unwrap();
            let book = find_reference(name).unwrap_or_else(|| panic!("{file}: no {name}"));
            let m = measurement_of(&book, &line);
            assert_eq!(
                m.operation.map(MeasuredOperation::name),
                line.text("operation"),
                "{file}: {name}"
            );
            for (column, kept) in [
                ("operations", Some(m.operations as f64)),
                ("bytes", m.bytes.map(|bytes| bytes as f64)),
                ("sync_seconds", m.sync_seconds),
                ("cpu_user_seconds", m.cpu_user_seconds),
                ("cpu_system_seconds", m.cpu_system_seconds),
            ] {
                assert_eq!(line.number(column), kept, "{file}: {column} of {:?}", line.0);
            }
            if let Some(published) = line.number("seconds") {
                assert_eq!(Some(published), m.seconds, "{:?}", line.0);
            }
            if let Some(rate) = line.number("operations_per_second") {
                assert!(same(rate, m.operations_per_second_before_sync()), "{:?}", line.0);
            }
            if let Some(number) = line.text("operation_number") {
                let first = number.parse::<u64>().unwrap() - 1;
                let windows: Vec<_> = m.windows.iter().filter(|w| w.first == first).collect();
                assert_eq!(windows.len(), 1, "{:?}", line.0);
                assert!(same(line.number("latency_us").unwrap() * 1e3, windows[0].mean_ns));
                assert_eq!((windows[0].operations, windows[0].p50_ns), (1, windows[0].max_ns));
            }
        }
    }
}

#[test]
fn the_books_hold_as_many_figures_as_were_published_and_their_sums() {
    let of = |scenario: &str| {
        let by_others = |book: &Book| {
            book.run.scenario == scenario
                && book.run.reference.as_ref().is_some_and(|own| own.publisher != "boatload")
        };
        references().into_iter().filter(by_others).collect::<Vec<_>>()
    };
    let all = |books: &[Book], figure: fn(&Measurement) -> Option<f64>| {
        books
            .iter()
            .flat_map(|book| &book.measurements)
            .filter_map(figure)
            .fold((0, 0.0), |(n, sum), x| (n + 1, sum + x))
    };
    for (scenario, books, figure, expected) in [
        ("smallfiles", 12, (|m| m.seconds) as fn(&Measurement) -> Option<f64>, SMALLFILES_SECONDS),
        ("clutter", 1, |m| m.seconds, CLUTTER_SECONDS),
        ("sequential", 5, |m| m.seconds, SEQUENTIAL_SECONDS),
        ("chunks", 1, |m| m.sync_seconds, CHUNKS_SYNC_SECONDS),
    ] {
        let found = of(scenario);
        assert_eq!(found.len(), books, "{scenario}");
        let (n, sum) = all(&found, figure);
        assert_eq!(n, expected.0, "{scenario}");
        assert!((sum - expected.1).abs() < 1e-6, "{scenario}: {sum}");
    }
    let windows: Vec<Window> =
        of("directory")[0].measurements.iter().flat_map(|m| m.windows.clone()).collect();
    let sum: f64 = windows.iter().map(|window| window.mean_ns / 1e3).sum();
    assert_eq!((windows.len(), sum), DIRECTORY_MICROSECONDS);
}

// How many figures the write-ups print, and their sum.
const SMALLFILES_SECONDS: (usize, f64) = (74, 10912.747670652);
const CLUTTER_SECONDS: (usize, f64) = (30, 291.26238);
const SEQUENTIAL_SECONDS: (usize, f64) = (9, 55.405505);
const CHUNKS_SYNC_SECONDS: (usize, f64) = (60, 1237.258);
const DIRECTORY_MICROSECONDS: (usize, f64) = (63, 4646.0);

#[test]
fn names_are_sorted_and_each_leads_to_its_book() {
    let names: Vec<String> = references()
        .iter()
        .filter_map(|book| Some(book.run.reference.as_ref()?.name.clone()))
        .collect();
    assert_eq!(names.len(), sources().reference.len(), "each has a scenario, a write-up and data");
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    assert!(names.len() >= 20 && names.contains(&"smallfiles-debian8-ext4".to_string()));
    for name in &names {
        let book = find_reference(name).unwrap();
        assert_eq!(book.run.id, format!("reference:{name}"));
        assert!(!book.run.reference.unwrap().notes.is_empty(), "{name}");
        let scenario = book.run.scenario;
        assert!(name.starts_with(&format!("{scenario}-")), "{name} is of {scenario}");
        if let Some(known) = find_scenario(&scenario) {
            assert_eq!(book.run.question, known.question(), "{name} asks as its scenario does");
        }
    }
    assert!(find_reference("no-such-figures").is_none());
}

#[test]
fn every_table_is_in_the_list() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference");
    let names = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // The kinds of disk are no published figures: the reading of profiles has them.
    names.retain(|name| name.ends_with(".csv") && name != "disk-kinds.csv");
    names.sort();
    assert_eq!(names, TABLES.map(|(file, _)| file));
}

#[test]
fn every_column_is_one_that_is_read() {
    // A slip in a column's name would make its figures absent.
    let known = [
        "reference variant level repeat pass phase operation operations bytes seconds",
        "operations_per_second sync_seconds cpu_user_seconds cpu_system_seconds",
        "operation_number latency_us program_seconds",
    ];
    let known: Vec<&str> = known.iter().flat_map(|names| names.split(' ')).collect();
    for (file, table) in TABLES {
        let heads: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        assert!(heads.iter().all(|head| known.contains(head)), "{file}: {heads:?}");
        for line in table.lines() {
            assert_eq!(line.split(',').count(), heads.len(), "{file}: {line}");
        }
    }
}

#[test]
fn every_line_belongs_to_a_name() {
    let names: BTreeSet<String> = sources().reference.into_iter().map(|r| r.name).collect();
    for (file, table) in TABLES {
        for line in lines(table) {
            let name = line.text("reference").unwrap_or_default();
            assert!(names.contains(name), "{file}: {name:?} has no provenance");
        }
    }
}

#[test]
fn a_slip_in_a_name_finds_the_nearest() {
    assert_eq!(nearest_reference("clutter-xne").as_deref(), Some("clutter-xen"));
    assert_eq!(
        nearest_reference("smallfiles-debian-ext4").as_deref(),
        Some("smallfiles-debian8-ext4")
    );
    assert_eq!(nearest_reference("zzz"), None);
}

#[test]
fn what_was_not_published_is_absent() {
    for book in references() {
        for m in &book.measurements {
            assert!(m.histogram.is_empty() && m.latency.is_none());
            assert_eq!(
                (m.rate_error, m.device_read_bytes, m.device_write_bytes),
                (None, None, None)
            );
            assert_eq!((m.cache.found, m.cache.reason), (CacheState::Unverified, None));
            assert!(m.valid() && m.windows.iter().all(|window| window.operations == 1));
        }
        assert!(book.host.device.is_none() && !book.host.rights.root);
        assert!(book.conditions.is_empty());
    }
    let directory = find_reference("directory-ufs").unwrap();
    assert!(
        directory.measurements.iter().all(|m| m.seconds.is_none()),
        "no total time was published"
    );
}

#[test]
fn a_program_that_took_whole_seconds_took_no_less_than_its_rate_says() {
    let (_, table) = TABLES[0];
    for line in lines(table) {
        let slack = line.number("program_seconds").unwrap() - seconds(&line).unwrap();
        assert!((1.5..4.0).contains(&slack), "{slack} in {:?}", line.0);
    }
}
