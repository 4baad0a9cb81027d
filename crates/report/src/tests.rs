use std::io::{self, Write};

use boatload_analysis::Analysis;
use boatload_analysis::compare::compare_beside;
use boatload_analysis::figures::RunFigures;
use boatload_base::errno::Errno;
use boatload_results::book::InvalidReason;
use boatload_results::fixture::failing;
use serde_json::Value;

use super::*;
use boatload_base::fixture::golden;
use boatload_host::facts::DeviceFacts;
use boatload_host::tracing::TracedOperation;
use boatload_plan::Conclusion;
use boatload_plan::Scale;
use boatload_results::book::{Book, CellKey, Level, MadeFileSystem, Measurement, RunFacts};
use boatload_results::book::{MadeOn, TracedDirectory};
use boatload_results::fixture::{self, growing};
use boatload_results::reference::{find_reference, references};
use boatload_results::store::{RunList, RunSummary, UnreadableRun};
use text::{WIDTH, width};

#[cfg(test)]
mod against;
pub(crate) mod kept_runs;
#[cfg(test)]
mod vectors;

fn rendered(name: &str, book: &Book) -> String {
    let mut out = Vec::new();
    (find_report(name).unwrap().render)(&Analysis::of(book), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// What one of the writers of the details writes.
fn part(write: fn(&Analysis<'_>, &mut dyn Write) -> io::Result<()>, book: &Book) -> String {
    let mut out = Vec::new();
    write(&Analysis::of(book), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn runs_text(runs: &[RunSummary]) -> String {
    let mut out = Vec::new();
    let all = RunList { runs: runs.to_vec(), ..RunList::default() };
    write_runs(&all, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Compares with the kept text, which fits a terminal.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    golden::assert_golden(name, text);
    assert_fits(text, name);
}

fn assert_fits(text: &str, what: &str) {
    // A command of the first screen stands in one line, however long.
    let lines = text.lines().filter(|line| !line.starts_with("Next: "));
    for line in lines {
        assert!(width(line) <= WIDTH, "{what}: {} columns: {line}", width(line));
        assert!(!line.contains(char::is_control), "{what}: {line:?}");
    }
}

/// Two layouts at two levels, one repeat.
fn grouped_book() -> Book {
    let mut book = fixture::book();
    book.measurements.clear();
    book.run.repeats = 1;
    for (variant, slower) in [("single", 0), ("multiple", 5_000)] {
        for value in [20_000.0, 40_000.0] {
            let mut m = fixture::measurement("create", 1, 2_000, 18_000 + slower);
            let level = Level { axis: "files".into(), value, unit: Default::default() };
            m.cell = CellKey { variant: variant.into(), level: Some(level), repeat: 1 };
            book.measurements.push(m);
        }
    }
    book
}

/// The phases of the common book on two file systems.
fn compared_book() -> Book {
    let mut book = fixture::book();
    book.variants = ["xfs", "ext4"].map(String::from).to_vec();
    for (at, measurement) in book.measurements.iter_mut().enumerate() {
        let (variant, repeat) = if at < 5 { ("ext4", 1) } else { ("xfs", 1) };
        measurement.cell = CellKey { variant: variant.into(), level: None, repeat };
        measurement.windows.clear();
    }
    book
}

fn killed_book() -> Book {
    let mut book = fixture::book();
    (book.run.complete, book.run.finished) = (false, None);
    book.measurements.clear();
    book
}

fn all_failed_book() -> Book {
    let mut book = fixture::book();
    for measurement in &mut book.measurements {
        measurement.operations = 0;
        measurement.invalid = vec![
            failing(Errno::EACCES, 30_000),
            InvalidReason::Entries { found: 0, expected: 30_000, of_all_ranks: false },
        ];
    }
    book
}

/// Two phases of two variants at two levels; at one level three repeats scatter widely.
fn scattered_book(scattered: f64) -> Book {
    let mut book = fixture::book();
    book.measurements.clear();
    for (repeat, slower) in [(1, 1.0), (2, 4.0), (3, 30.0)] {
        for value in [1.0, 2.0] {
            for (variant, phase) in [("a", "create"), ("a", "stat"), ("b", "create"), ("b", "stat")]
            {
                let level = Level { axis: "files".into(), value, unit: Default::default() };
                let cell = CellKey { variant: variant.into(), level: Some(level), repeat };
                let seconds = if value == scattered { slower } else { 1.0 + slower / 1e3 };
                book.measurements.push(growing::lasting(cell, phase, 1_000, seconds));
            }
        }
    }
    book
}

#[test]
fn a_trace_fits_each_terminal_and_says_first_where_the_time_went() {
    let book = fixture::traced::traced();
    assert_golden("terminal-trace.txt", &rendered("terminal", &book));
    assert_golden("details-trace.txt", &rendered("details", &book));
    let mut many = book;
    // As many operations as there are, with places of all lengths.
    let place = many.run.traced.as_ref().unwrap().directories[0].clone();
    many.measurements = TracedOperation::ALL
        .map(|operation| Measurement {
            phase: operation.as_str().into(),
            operation: Some(operation.into()),
            ..many.measurements[1].clone()
        })
        .to_vec();
    let traced = many.run.traced.as_mut().unwrap();
    traced.directories = TracedOperation::ALL
        .map(|operation| TracedDirectory {
            operation,
            path: format!("{}/{}", place.path, "目录\n".repeat(operation as usize)),
            ..place.clone()
        })
        .to_vec();
    traced.lost = 3;
    let many = many.ordered_as_measured();
    for columns in [1, 40, 41, 50, 60, 70, 80, 100, 120, 500] {
        let mut out = Vec::new();
        write_screen(&Analysis::of(&many), columns, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let broken = text.lines().filter(|line| !line.starts_with("More: "));
        let widest = broken.map(width).max().unwrap();
        assert!(widest <= columns.clamp(40, 120), "{columns}: {widest}\n{text}");
        assert!(text.lines().count() <= first_screen::LINES_MAX, "{columns}: {text}");
    }
}

#[test]
fn how_a_range_is_to_be_read_is_said_just_where_one_stands() {
    for (scattered, is_shown) in [(3.0, false), (2.0, true)] {
        let text = rendered("details", &scattered_book(scattered));
        assert_eq!(text.contains(" ~"), is_shown, "{text}");
        assert_eq!(text.contains("~ slowest to fastest repeat"), is_shown, "{text}");
    }
}

#[test]
fn what_findings_count_of_lists_stands_below_their_rates() {
    let book = |bytes: u64| {
        let mut book = fixture::book();
        book.measurements.clear();
        book.run.conclude = vec![Conclusion::Ranking];
        for repeat in 1..=3 {
            for (variant, seconds) in [("a", 1.0), ("b", 1.5)] {
                let cell = CellKey { variant: variant.into(), level: None, repeat };
                let m = growing::lasting(cell, "list", 40, seconds + f64::from(repeat) / 100.0);
                book.measurements.push(Measurement { bytes: Some(bytes), ..m });
            }
        }
        // One that failed has listed nothing.
        book.measurements[0].bytes = Some(0);
        book.measurements[0].invalid = vec![failing(Errno::EIO, 1)];
        book
    };
    let text = |bytes: u64| rendered("terminal", &book(bytes)).replace('\n', " ");
    assert!(text(40 << 10).contains("list: directories a second"), "{}", text(40 << 10));
    assert!(!text(40 << 21).contains("directories a second"), "{}", text(40 << 21));
}

#[test]
fn the_terminal_report_is_the_one_that_was_agreed_on() {
    assert_golden("terminal.txt", &rendered("terminal", &fixture::book()));
    assert_golden("details-phases.txt", &rendered("details", &fixture::book()));
    assert_golden("terminal-groups.txt", &rendered("terminal", &grouped_book()));
    assert_golden("details-variants.txt", &rendered("details", &compared_book()));
    assert_golden("terminal-variants.txt", &rendered("terminal", &compared_book()));
    assert_golden("terminal-killed.txt", &rendered("terminal", &killed_book()));
    assert_golden("terminal-all-invalid.txt", &rendered("terminal", &all_failed_book()));
}

#[test]
fn the_rates_of_all_eight_phases_of_four_file_systems_stand_on_the_first_screen() {
    let mut book = made_book();
    let like = book.measurements.clone();
    for phase in ["create", "read-sequential", "delete"] {
        let new = format!("{}-typical", phase.split('-').next().unwrap_or_default());
        let own = like.iter().filter(|m| m.phase == phase).cloned();
        book.measurements.extend(own.map(|m| Measurement { phase: new.clone(), ..m }));
    }
    let text = rendered("terminal", &book);
    assert!(text.lines().count() <= first_screen::LINES_MAX, "{text}");
    assert_golden("terminal-made-eight.txt", &text);
    for (variant, long) in [("xfs", "xfs-without-its-features"), ("btrfs", "btrfs-with-duplicates")]
    {
        book.variants.iter_mut().filter(|one| *one == variant).for_each(|one| *one = long.into());
        let made = book.filesystems.iter_mut().filter(|made| made.variant == variant);
        made.for_each(|made| made.variant = long.into());
        let of = book.measurements.iter_mut().filter(|m| m.cell.variant == variant);
        of.for_each(|m| m.cell.variant = long.into());
    }
    assert_golden("terminal-made-long.txt", &rendered("terminal", &book));
}

#[test]
fn the_host_is_told_as_was_agreed_on() {
    let mut book = fixture::book();
    assert_golden("host.txt", &part(host::write_host, &book));
    book.host = Default::default();
    assert_eq!(part(host::write_host, &book), "host:\nnothing more is known of it\n");
}

#[test]
fn runs_in_which_something_grows_read_as_was_agreed_on() {
    let three = growing::fullness(&["ext4", "xfs", "btrfs"]);
    for (name, book) in [
        ("directory", growing::directory()),
        ("chunks", growing::chunks()),
        ("fullness", growing::fullness(&["default"])),
        ("fullness-three", three),
        ("clutter", growing::clutter()),
        ("sequential", growing::sequential()),
    ] {
        assert_golden(&format!("terminal-{name}.txt"), &rendered("terminal", &book));
    }
    assert_golden("details.txt", &rendered("details", &growing::clutter()));
    assert_golden("details-fullness.txt", &rendered("details", &growing::fullness(&["default"])));
    assert_golden("details-directory.txt", &rendered("details", &growing::directory()));
}

/// Four file systems made for a run, with all that is concluded of them.
fn made_book() -> Book {
    let mut book = fixture::made::book();
    book.run.conclude = vec![Conclusion::Ranking];
    book
}

#[test]
fn a_run_on_file_systems_made_for_it_reads_as_was_agreed_on() {
    assert_golden("terminal-made.txt", &rendered("terminal", &made_book()));
    assert_golden("details-made.txt", &rendered("details", &made_book()));
    let mut book = made_book();
    book.filesystems[1].mount_asked.clear();
    for made in &mut book.filesystems[..3] {
        made.variant = format!("{}-{}", made.kind, "plain");
        made.device.as_mut().unwrap().loop_direct_io = Some(false);
    }
    let memory = MadeFileSystem {
        mkfs: None,
        mkfs_version: None,
        device: None,
        ..book.filesystems[3].clone()
    };
    book.filesystems[3] = MadeFileSystem {
        variant: "memory".into(),
        kind: "tmpfs".into(),
        place: MadeOn::Memory,
        ..memory
    };
    book.run.conclude.clear();
    for m in &mut book.measurements {
        (m.device_read_bytes, m.device_write_bytes, m.inodes) = (None, None, None);
    }
    assert_golden("details-made-mixed.txt", &rendered("details", &book));
}

#[test]
fn rates_of_bytes_and_of_operations_stand_beside_each_other_each_with_its_unit() {
    let mut book = made_book();
    for m in book.measurements.iter_mut().filter(|m| m.phase == "create") {
        m.bytes = Some(m.operations << 20);
    }
    let text = rendered("terminal", &book);
    let rates: Vec<&str> = text.lines().filter(|line| line.contains(" GiB")).collect();
    assert_eq!(rates.len(), 1, "{text}");
    assert!(rates.iter().all(|line| line.matches(" GiB").count() == 4), "{text}");
    assert!(text.contains("syncs included"), "{text}");
    assert_fits(&text, "rates with their units");
}

#[test]
fn variants_that_scale_over_unlike_levels_each_name_their_own() {
    let mut book = grouped_book();
    book.run.conclude = vec![Conclusion::Levels];
    let of_single = book.measurements[1].clone();
    assert_eq!(of_single.cell.variant, "single");
    let mut higher = of_single.clone();
    higher.cell.level.as_mut().unwrap().value = 80_000.0;
    higher.bytes = Some(higher.operations << 20);
    book.measurements.iter_mut().for_each(|m| m.bytes = Some(m.operations << 20));
    book.measurements.push(higher);
    let text = rendered("terminal", &book.ordered_as_measured());
    assert!(text.contains(" lowest  highest  times"), "{text}");
    assert!(text.contains("\ncreate: times of 1 MiB"), "{text}");
    assert_fits(&text, "levels of each variant");
}

#[test]
fn phases_that_do_as_many_operations_at_each_level_are_named_with_their_number() {
    let mut book = grouped_book();
    book.run.conclude = vec![Conclusion::Levels];
    let one = book.measurements[1].clone();
    let cells =
        [20_000, 80_000].map(|files| [("create", files), ("delete", 500)].map(|of| (files, of)));
    let measured = cells.into_iter().flatten().map(|(files, (phase, operations))| {
        let mut m = Measurement { phase: phase.into(), operations, ..one.clone() };
        m.cell.level.as_mut().unwrap().value = files as f64;
        m
    });
    book.measurements = measured.collect();
    let caption = "; delete: 500 files at each level";
    let text = rendered("terminal", &book);
    assert!(text.contains(caption), "{text}");
    book.measurements.retain(|m| m.phase == "delete");
    let text = rendered("terminal", &book.ordered_as_measured());
    assert!(!text.contains("at each level"), "{text}");
}

#[test]
fn a_run_on_a_modelled_disk_names_it() {
    let mut book = fixture::made::modelled_book();
    book.run.conclude = vec![Conclusion::Ranking];
    assert_golden("terminal-modelled.txt", &rendered("terminal", &book));
}

#[test]
fn what_is_concluded_stands_before_the_figures_and_warnings_behind_them() {
    let mut book = growing::fullness(&["ext4"]);
    book.host.settings.as_mut().unwrap().governor = Some("powersave".into());
    let text = rendered("details", &book);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(at("takes 2.") < at("98%  ") && at("98%  ") < at("frequency governor is"));
}

#[test]
fn the_list_of_runs_is_the_one_that_was_agreed_on() {
    let run = |id: &str, complete, finished, invalid| {
        let mut book = Book::default();
        book.run.id = id.into();
        book.run.scenario = "smallfiles".into();
        book.run.scale = Scale::Quick;
        book.run.started = "2026-10-05T08:00:00Z".into();
        book.run.finished = Option::map(finished, str::to_string);
        book.run.complete = complete;
        book.host.filesystem.kind = "ext4".into();
        book.host.device = Some(DeviceFacts { name: "nvme0n1p2".into(), ..Default::default() });
        RunSummary { book, measurements: 15, invalid, ..RunSummary::default() }
    };
    let end = Some("2026-10-05T08:00:41Z");
    let made = |id: &str, made: &[&str]| {
        let mut run = run(id, true, end, 0);
        run.book.filesystems =
            made.iter().map(|kind| fixture::made::filesystem(kind, kind)).collect();
        run
    };
    let runs = [
        made("ccc9x2ab", &["ext4", "ext3", "xfs", "btrfs"]),
        made("ddd9x2ab", &["ext4", "ext3", "xfs", "btrfs", "nilfs2"]),
        run("k3j9x2ab", true, end, 0),
        RunSummary { simulated: 15, ..run("yyy9x2ab", true, end, 0) },
        RunSummary { simulated: 14, ..run("xxx9x2ab", true, end, 0) },
        run("zzz9x2ab", true, end, 3),
        run("aaa9x2ab", false, end, 0),
        run("bbb9x2ab", false, None, 1),
    ];
    assert_golden("runs.txt", &runs_text(&runs));
    assert_golden("runs-none.txt", &runs_text(&[]));
}

#[test]
fn runs_that_cannot_be_read_are_listed_with_the_reason() {
    let why = "unknown variant `huge`, expected `quick` or `original` at line 1 column 312 ";
    let unreadable = ["k3j9x2ab", "\u{1b}[31m"].map(|id| UnreadableRun {
        id: id.into(),
        why: why.repeat(2),
        ..Default::default()
    });
    let mut out = Vec::new();
    write_runs(&RunList { unreadable: unreadable.into(), ..RunList::default() }, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.starts_with("This boatload cannot read:\nk3j9x2ab: unknown variant `huge`"),
        "{text}"
    );
    assert_fits(&text, "runs");
}

#[test]
fn parts_of_phases_that_did_not_do_as_much_are_named_in_each_row() {
    let mut book = growing::directory();
    for m in book.measurements.iter_mut().filter(|m| m.cell.variant == "multiple") {
        m.windows.truncate(200);
    }
    let text = rendered("terminal", &book);
    assert!(text.contains(" second tenth  last tenth  times"), "{text}");
}

#[test]
fn what_grows_is_without_the_sync_and_says_so_where_there_is_one() {
    let mut book = growing::directory();
    book.measurements.iter_mut().for_each(|m| m.sync_seconds = Some(0.5));
    assert!(rendered("terminal", &book).contains("; without syncs"));
    book.measurements.iter_mut().for_each(|m| m.sync_seconds = Some(0.0));
    assert!(!rendered("terminal", &book).contains("without sync"));
}

fn side_by_side_text(books: &[&Book]) -> String {
    let figures: Vec<RunFigures<'_>> = books.iter().map(|book| RunFigures::of(book)).collect();
    let shown: Vec<&RunFigures<'_>> = figures.iter().collect();
    let others = shown.iter().skip(1);
    let comparisons: Vec<_> =
        others.map(|other| compare_beside(shown[0], other, &[], &shown)).collect();
    let mut out = Vec::new();
    write_comparison(books, &comparisons, false, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn published_figures_are_shown_as_was_agreed_on() {
    for name in [
        "chunks-ozone",
        "clutter-xen",
        "directory-ufs",
        "sequential-debian8-ext4",
        "smallfiles-debian8-ext4",
    ] {
        let book = find_reference(name).unwrap();
        assert_golden(&format!("reference-{name}.txt"), &rendered("terminal", &book));
    }
    let mut out = Vec::new();
    write_references(&references(), &mut out).unwrap();
    let list = String::from_utf8(out).unwrap();
    assert_golden("references.txt", &list);
    assert!(!list.contains('…'), "a name that is cut off cannot be typed:\n{list}");
}

#[test]
fn published_figures_claim_nothing_of_boatload_and_fit_every_report() {
    for book in references() {
        let text = rendered("terminal", &book);
        assert_fits(&text, &book.run.id);
        for claim in
            ["boatload 0", "seed", "measurement overhead", " free", "processor", "p50", "NaN"]
        {
            assert!(!text.contains(claim), "{claim} in\n{text}");
        }
        let document: Value = serde_json::from_str(&rendered("json", &book)).unwrap();
        let run = &document["run"];
        for key in ["seed", "started", "command", "boatload", "overhead_ns", "clock", "job"] {
            assert_eq!(run[key], Value::Null, "{key}");
        }
        assert!(run["reference"]["title"].is_string());
        assert_eq!(document["host"]["rights"], Value::Null);
        for m in document["measurements"].as_array().unwrap() {
            for key in ["latency_ns", "engine", "entries_found", "device_read_bytes"] {
                assert_eq!(m[key], Value::Null, "{key} of {}", book.run.id);
            }
            assert_ne!(m["operations_per_second"], 0.0, "an unknown rate is not zero");
        }
    }
}

#[test]
fn runs_beside_each_other_are_shown_as_was_agreed_on() {
    let own = fixture::book();
    let debian = find_reference("smallfiles-debian8-ext4").unwrap();
    assert_golden("beside.txt", &side_by_side_text(&[&own, &debian]));
    let others = ["smallfiles-debian8-ext3", "smallfiles-centos7-xfs", "smallfiles-suse12-btrfs"]
        .map(|name| find_reference(name).unwrap());
    let [ext3, xfs, btrfs] = &others;
    assert_golden("beside-four.txt", &side_by_side_text(&[&debian, ext3, xfs, btrfs]));
    let made = made_book();
    let old = ["ext4", "xfs", "reiserfs"].map(|kind| format!("smallfiles-linux3.1.7-{kind}"));
    let [ext4, xfs, reiserfs] = old.map(|name| find_reference(&name).unwrap());
    assert_golden("beside-made.txt", &side_by_side_text(&[&made, &ext4, &xfs, &reiserfs]));
    let mut directory = fixture::book();
    directory.measurements.truncate(1);
    let ufs = find_reference("directory-ufs").unwrap();
    directory.measurements[0].cell = ufs.measurements[0].cell.clone();
    assert_golden("beside-latency.txt", &side_by_side_text(&[&ufs, &directory]));
}

#[test]
fn runs_beside_each_other_fit_whatever_is_in_them() {
    for seed in 0..30 {
        let books: Vec<_> =
            (0..2 + seed % 5).map(|at| fixture::Odd::new(seed * 10 + at).book()).collect();
        let text = side_by_side_text(&books.iter().collect::<Vec<_>>());
        assert_fits(&text, &format!("seed {seed}"));
        assert!(!text.contains("NaN"), "seed {seed}:\n{text}");
    }
}

#[test]
fn the_run_document_is_the_one_that_was_agreed_on() {
    let mut book = fixture::book();
    book.measurements.truncate(1);
    let document: Value = serde_json::from_str(&rendered("json", &book)).unwrap();
    let pretty = serde_json::to_string_pretty(&document).unwrap();
    golden::assert_golden("run.json", &pretty);
}

/// Keys of the object that follows `head` in the document's text, in their order.
fn keys_in_order(document: &str, expected: &str) {
    let mut rest = document;
    for key in expected.split_whitespace() {
        let quoted = format!("\"{key}\":");
        let at = rest.find(&quoted);
        assert!(at.is_some(), "{key} is missing or too early in {document}");
        rest = &rest[at.unwrap() + quoted.len()..];
    }
}

#[test]
fn the_run_document_has_its_binding_keys_first_and_in_their_order() {
    let text = rendered("json", &grouped_book());
    keys_in_order(
        &text,
        "format version run host variants phases levels measurements findings conditions filesystems",
    );
    keys_in_order(
        &text,
        "run id scenario scale seed started finished command boatload complete host kernel cpu \
         memory_bytes filesystem type device rights measurements variant level axis value repeat \
         phase pass operation engine threads valid operations errors bytes seconds sync_seconds \
         operations_per_second cpu_user_seconds cpu_system_seconds latency_ns mean min p50 p90 \
         p99 p99_9 max cache asked found resident_fraction device_read_bytes device_write_bytes \
         windows operations_asked invalid rate_error entries_expected entries_found space_bytes \
         inodes idle",
    );
    let text = rendered("json", &fixture::book());
    keys_in_order(&text, "windows first operations mean_ns p50_ns p99_ns max_ns");
    keys_in_order(&text, "findings kind sentence code hint phases");
    keys_in_order(&text, "conditions variant level repeat name value unit");
    let made = rendered("json", &fixture::made::book());
    keys_in_order(
        &made,
        "filesystems variant type mkfs mkfs_version mount_asked options place device name model \
         rotational device_bytes block_bytes total_bytes available_bytes inodes",
    );
    let document: Value = serde_json::from_str(&made).unwrap();
    let [ext4, btrfs] = [0, 3].map(|at| &document["filesystems"][at]);
    assert_eq!((&ext4["inodes"], &btrfs["inodes"]), (&65_536.into(), &Value::Null));
    assert_eq!(document["measurements"][0]["inodes"], 30_000);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["run"]["seed"], u64::MAX);
    assert_eq!(document["measurements"][0]["level"], Value::Null);
    assert_eq!(document["measurements"][6]["valid"], false);
    assert_eq!(document["measurements"][6]["errors"]["ENOSPC"], 120);
}

#[test]
fn no_report_fails_or_is_too_wide_or_says_nan_whatever_is_in_the_book() {
    for seed in 0..400 {
        let book = fixture::Odd::new(seed).book();
        for report in ["details", "terminal"] {
            let text = rendered(report, &book);
            assert_fits(&text, &format!("{report}, seed {seed}"));
            assert!(!text.contains("NaN") && !text.contains("inf "), "seed {seed}:\n{text}");
        }
        let text = rendered("json", &book);
        assert!(serde_json::from_str::<Value>(&text).is_ok() && text.lines().count() == 1);
    }
}

#[test]
fn the_list_of_runs_fits_whatever_is_in_it() {
    let long = "x".repeat(90);
    let mut book = Book::default();
    book.run.id = "\u{1b}[31m".into();
    book.run.scenario = long.clone();
    book.run.started = "not a time, 目录".into();
    book.run.complete = true;
    book.host.filesystem.kind = long.clone();
    book.host.device = Some(DeviceFacts { name: long.clone(), ..Default::default() });
    let run =
        RunSummary { book, measurements: u64::MAX, invalid: u64::MAX, ..RunSummary::default() };
    let mut made = run.clone();
    made.book.filesystems = vec![fixture::made::filesystem("a", &long); 3];
    assert_fits(&runs_text(&[run, made, RunSummary::default()]), "runs");
}

#[test]
fn an_empty_book_is_still_a_report() {
    let book = Book { run: RunFacts::default(), ..Book::default() };
    let text = rendered("terminal", &book);
    assert!(text.contains("Nothing was measured."), "{text}");
    assert!(text.contains("\nNext: boatload resume ") && text.contains("# measures it"), "{text}");
    assert!(rendered("json", &book).starts_with("{\"format\":\"boatload-run\",\"version\":1,"));
}

#[test]
fn a_failed_measurement_has_a_row_of_its_own_with_its_reason() {
    let text = rendered("details", &fixture::book());
    let row = text.lines().find(|line| line.contains("invalid (")).unwrap();
    assert_eq!(row, "rewrite      invalid (repeat 2): ENOSPC x 120");
}

#[test]
fn reports_have_names_of_their_own() {
    let names: Vec<_> = REPORTS.iter().map(|report| report.name).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    assert!(find_report("no-such-report").is_none());
}

#[test]
fn a_row_of_disturbed_measurements_bears_a_mark() {
    let mut book = fixture::book();
    assert!(!rendered("details", &book).contains("read*"));
    for m in book.measurements.iter_mut().filter(|m| m.phase == "read") {
        m.disturbance.as_mut().unwrap().clock_changed = Some(true);
    }
    let text = rendered("details", &book);
    assert!(text.contains("\nread* ") && !text.contains("create*"), "{text}");
    assert!(text.contains("* measured under background load"), "{text}");
}

/// Something disturbed the first phase of a run.
fn disturb(book: &mut Book) {
    let phase = book.measurements[0].phase.clone();
    for m in book.measurements.iter_mut().filter(|m| m.phase == phase) {
        let quiet = fixture::quiet(m.seconds.unwrap());
        m.disturbance.get_or_insert(quiet).clock_changed = Some(true);
    }
}

#[test]
fn disturbed_figures_bear_a_mark_by_level_and_beside_other_runs_too() {
    let mut leveled = growing::fullness(&["ext4", "xfs"]);
    let mut plain = fixture::book();
    let texts = |leveled: &Book, plain: &Book| {
        let side_by_side = side_by_side_text(&[plain, &fixture::book()]);
        let compared = against::compared_text(plain, &fixture::book(), false);
        [rendered("details", leveled), side_by_side, compared]
    };
    for text in texts(&leveled, &plain) {
        assert!(!text.contains("background load"), "{text}");
    }
    disturb(&mut leveled);
    disturb(&mut plain);
    for (text, mark) in texts(&leveled, &plain).into_iter().zip(["\nmkdir* ", " *", " *"]) {
        assert!(text.contains(mark), "a figure or its name bears a mark: {text}");
        assert!(text.contains("\n* measured under background load"), "{text}");
        assert_fits(&text, "marks");
    }
}
