use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::book::{Book, Level, Measurement};
use crate::fixture;
use crate::histogram::decoded;
use boatload_base::fixture::skip::skip;
use boatload_plan::EngineName;
use boatload_run::cache::Doubt;

fn empty() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("boatload.db")).unwrap();
    (directory, store)
}

/// Saves a book as a run does, without its end.
fn save_measured(store: &mut Store, book: &Book) {
    let mut begun = book.without_measurements();
    (begun.run.finished, begun.run.complete) = (None, false);
    store.begin_run(&begun, None).unwrap();
    let growth = RunGrowth { measurements: &book.measurements, ..RunGrowth::default() };
    store.extend_run(&book.run.id, growth).unwrap();
}

fn save(store: &mut Store, book: &Book) {
    save_measured(store, book);
    store.extend_run(&book.run.id, RunGrowth { head: Some(book), ..RunGrowth::default() }).unwrap();
}

fn book_with_id(id: &str) -> Book {
    Book { run: fixture::run(id), ..fixture::book() }
}

/// What is no histogram is not saved.
fn without_broken_histogram(m: &mut Measurement) {
    if decoded(&m.histogram).is_none() {
        m.histogram.clear();
    }
}

fn sentence<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().sentence
}

#[test]
fn a_run_reads_back_exactly_as_it_was_saved() {
    let (directory, mut store) = empty();
    let mut book = fixture::book();
    book.measurements[3].cell.level =
        Some(Level { axis: "files".into(), value: 0.1 + 0.2, unit: Default::default() });
    book.measurements[4].cache.reason = Some(Doubt::NoRights);
    (book.measurements[1].space_bytes, book.measurements[2].inodes) = (Some(-4_096), Some(3_000));
    (book.measurements[1].idle, book.measurements[2].idle) = (Some(true), Some(false));
    book.filesystems = fixture::made::book().filesystems;
    book.filesystems[1].device = None;
    book.host.device = None;
    save(&mut store, &book);
    assert_eq!(store.load(&book.run.id).unwrap(), book);
    drop(store);
    let again = Store::open(directory.path().join("boatload.db")).unwrap();
    assert_eq!(again.load(&book.run.id).unwrap(), book, "after closing and opening");
}

#[test]
fn odd_runs_read_back_exactly_too() {
    for seed in 0..60 {
        let (_directory, mut store) = empty();
        let mut book = fixture::Odd::new(seed).book();
        book.measurements.iter_mut().for_each(without_broken_histogram);
        book.run.finished = Some("2026-10-05T08:00:41Z".into());
        save(&mut store, &book);
        let read = store.load(&book.run.id).unwrap();
        // NaN is no equal of itself; its text is. What is no finite number is saved as unknown.
        let text = |book: &Book| {
            let text = format!("{book:?}").replace("-inf", "NaN").replace("inf", "NaN");
            text.replace("Some(NaN)", "None")
        };
        assert_eq!(text(&read), text(&book), "seed {seed}");
    }
}

#[test]
fn a_run_that_was_killed_stays_readable() {
    let (directory, mut store) = empty();
    let book = fixture::book();
    save_measured(&mut store, &book);
    let after_kill = tempfile::tempdir().unwrap();
    for name in ["boatload.db", "boatload.db-wal"] {
        fs::copy(directory.path().join(name), after_kill.path().join(name)).unwrap();
    }
    let read = Store::open(after_kill.path().join("boatload.db")).unwrap();
    let killed = read.load(&read.find_run("last").unwrap()).unwrap();
    assert_eq!((killed.run.complete, killed.run.finished), (false, None));
    assert_eq!(killed.measurements, book.measurements);
}

#[test]
fn a_run_is_found_by_its_id_by_a_prefix_and_as_the_last() {
    let (_directory, mut store) = empty();
    assert!(sentence(store.find_run("last")).contains("has no runs yet"));
    for id in ["abc11111", "abc22222", "xyz33333"] {
        save(&mut store, &book_with_id(id));
    }
    assert_eq!(store.find_run("abc22222").unwrap(), "abc22222");
    assert_eq!(store.find_run("x").unwrap(), "xyz33333");
    assert_eq!(store.find_run("last").unwrap(), "xyz33333");
    let many = sentence(store.find_run("abc"));
    assert!(many.contains("abc22222, abc11111"), "{many}");
    for unknown in ["q", "", "%", "a_c", "abc11111x"] {
        let none = sentence(store.find_run(unknown));
        assert!(none.contains("`boatload runs` lists them"), "{unknown}: {none}");
    }
}

#[test]
fn runs_are_listed_newest_first_with_their_counts() {
    let (_directory, mut store) = empty();
    save(&mut store, &book_with_id("older000"));
    store.begin_run(&book_with_id("newer000"), None).unwrap();
    let mut simulated = book_with_id("newest00");
    simulated.measurements.truncate(3);
    simulated.measurements[1].engine = Some(EngineName::Sim);
    save(&mut store, &simulated);
    let mut runs = store.runs().unwrap().runs;
    let newest = runs.remove(0);
    assert_eq!((newest.measurements, newest.simulated), (3, 1));
    assert_eq!(
        runs.iter().map(|r| r.book.run.id.as_str()).collect::<Vec<_>>(),
        ["newer000", "older000"]
    );
    assert!(runs.iter().all(|run| run.simulated == 0));
    assert_eq!((runs[0].measurements, runs[0].invalid), (0, 0));
    assert_eq!((runs[1].measurements, runs[1].invalid), (10, 1));
    assert_eq!(runs[1].book, book_with_id("older000").without_measurements());
}

#[test]
fn a_run_that_cannot_be_read_takes_no_other_with_it() {
    let (_directory, mut store) = empty();
    for id in ["good0000", "head0000", "rows0000"] {
        let mut book = book_with_id(id);
        book.measurements.iter_mut().for_each(|m| m.engine = Some(EngineName::Sync));
        save(&mut store, &book);
    }
    let rates = || store.phase_rates("smallfiles", "ext4", Some("vda")).unwrap();
    let (listed, known) = (store.runs().unwrap(), rates());
    assert!(listed.unreadable.is_empty() && !known.is_empty());
    let breaks = "UPDATE runs SET document = json_set(document, '$.run.scale', 'huge') WHERE id = 'head0000';
        UPDATE measurement_documents SET document = json_set(document, '$.seconds', 'long') WHERE run_id = 'rows0000'";
    store.connection.execute_batch(breaks).unwrap();
    let all = store.runs().unwrap();
    let ids: Vec<&str> = all.runs.iter().map(|run| run.book.run.id.as_str()).collect();
    assert_eq!(ids, ["rows0000", "good0000"]);
    let [UnreadableRun { id, scenario, why }] = &all.unreadable[..] else { panic!("{all:?}") };
    assert_eq!((id.as_str(), scenario.as_str()), ("head0000", "smallfiles"));
    assert!(why.contains("huge"), "{why}");
    assert_eq!(rates(), known);
    for (id, why) in [("head0000", "huge"), ("rows0000", "long")] {
        let told = sentence(store.load(id));
        assert!(told.contains("a document in it is none that this boatload reads"), "{told}");
        assert!(told.contains(why), "{told}");
    }
    assert!(sentence(store.find_run("q")).contains("no run has the tag"));
    assert!(sentence(store.find_run("last~3")).contains("the store has 3 runs"));
}

#[test]
fn a_run_is_listed_with_the_file_systems_that_were_made_for_it() {
    let (_directory, mut store) = empty();
    save(&mut store, &book_with_id("plain000"));
    let mut book = book_with_id("made0000");
    let made = fixture::made::filesystem;
    book.filesystems = vec![made("b", "xfs"), made("a", "ext4"), made("c", "xfs")];
    save(&mut store, &book);
    let runs = store.runs().unwrap().runs;
    let made: Vec<&str> = runs[0].book.filesystems.iter().map(|m| m.kind.as_str()).collect();
    assert_eq!((made, runs[1].book.filesystems.len()), (vec!["xfs", "ext4", "xfs"], 0));
}

#[test]
fn rates_come_from_the_newest_complete_real_run_of_the_same_place() {
    let (_directory, mut store) = empty();
    let with_rate = |id, ns, complete, engine| {
        let mut book = book_with_id(id);
        book.run.complete = complete;
        book.measurements = vec![fixture::measurement("create", 1, 1000, ns)];
        book.measurements[0].engine = Some(engine);
        book
    };
    save(&mut store, &with_rate("old", 1_000, true, EngineName::Sync));
    save(&mut store, &with_rate("good", 2_000, true, EngineName::Sync));
    save(&mut store, &with_rate("simulated", 3, true, EngineName::Sim));
    save(&mut store, &with_rate("cut", 5_000, false, EngineName::Sync));
    let rates = store.phase_rates("smallfiles", "ext4", Some("vda")).unwrap();
    let expected =
        with_rate("good", 2_000, true, EngineName::Sync).measurements[0].operations_per_second();
    assert_eq!(rates.into_iter().collect::<Vec<_>>(), [("create".into(), expected)]);
    let mut made = with_rate("made", 7_000, true, EngineName::Sync);
    made.filesystems = vec![fixture::made::filesystem("default", "ext4")];
    save(&mut store, &made);
    let rates = store.phase_rates("smallfiles", "ext4", Some("vda")).unwrap();
    assert_eq!(rates["create"], expected, "one made for the run is another place");
    for (scenario, kind, device) in [
        ("smallfiles", "xfs", Some("vda")),
        ("smallfiles", "ext4", None),
        ("x", "ext4", Some("vda")),
    ] {
        assert!(store.phase_rates(scenario, kind, device).unwrap().is_empty());
    }
}

#[test]
fn a_store_without_tables_as_a_kill_may_leave_it_is_read_as_one_without_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("boatload.db");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let reader = Store::open_to_read(&path).unwrap();
    assert_eq!(reader.runs().unwrap(), RunList::default());
    assert_eq!(reader.path(), Some(path.as_path()));
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    assert!(Store::open(&path).is_ok());
}

#[test]
fn a_store_opened_to_read_writes_and_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("odd name?#%41.db");
    assert!(Store::open_to_read(&path).is_err(), "there is none yet");
    let files = || {
        let entries = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap());
        let stamp = |entry: fs::DirEntry| {
            (entry.file_name(), entry.metadata().unwrap().modified().unwrap())
        };
        let mut all: Vec<_> = entries.map(stamp).collect();
        all.sort();
        all
    };
    assert_eq!(files(), [], "a reader makes no store");
    let mut writer = Some(Store::open(&path).unwrap());
    save(writer.as_mut().unwrap(), &book_with_id("older000"));
    for writing in [true, false] {
        writer = writer.filter(|_| writing);
        let before = files();
        let mut reader = Store::open_to_read(&path).unwrap();
        assert_eq!(reader.find_run("last").unwrap(), "older000", "with a writer: {writing}");
        assert!(reader.begin_run(&book_with_id("newer000"), None).is_err());
        assert_eq!(files().len(), before.len(), "{:?}", files());
        drop(reader);
        assert_eq!(files(), before, "with a writer: {writing}");
    }
}

#[test]
fn missing_directories_are_made_for_their_owner_only() {
    let directory = tempfile::tempdir().unwrap();
    Store::open(directory.path().join("a/b/boatload.db")).unwrap();
    for made in ["a", "a/b"] {
        let mode = fs::metadata(directory.path().join(made)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}

#[test]
fn a_store_behind_a_link_shows_what_is_being_written() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("real.db"), directory.path().join("link.db"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut writer = Store::open(&path).unwrap();
    save(&mut writer, &book_with_id("older000"));
    assert_eq!(Store::open_to_read(&link).unwrap().find_run("last").unwrap(), "older000");
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    let text = "these are notes and certainly no database. ".repeat(100);
    fs::write(&path, &text).unwrap();
    let told = sentence(Store::open(&path));
    assert!(told.contains("notes.txt: it is not a database"), "{told}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bookmarks.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = fs::read(&path).unwrap();
    let told = sentence(Store::open(&path));
    assert!(told.contains("another program"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_store_of_another_schema_is_refused() {
    let (directory, store) = empty();
    store.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let told = sentence(Store::open(directory.path().join("boatload.db")));
    assert!(told.contains("schema 99 of another boatload"), "{told}");
}

#[test]
fn a_place_that_cannot_be_written_is_one_sentence_with_a_way_out() {
    for place in ["/proc/boatload.db", "/proc/boatload/boatload.db"] {
        let told = sentence(Store::open(place));
        assert!(told.contains("/proc/boatload"), "{told}");
        assert!(told.ends_with("--store FILE keeps results elsewhere."), "{told}");
    }
    let directory = tempfile::tempdir().unwrap();
    let told = sentence(Store::open(directory.path()));
    assert!(told.contains("Is a directory"), "{told}");
}

#[test]
fn two_commands_can_open_a_new_store_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("boatload.db");
    std::thread::scope(|scope| {
        let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(&path).map(drop))).collect();
        for one in opened {
            assert_eq!(one.join().unwrap(), Ok(()));
        }
    });
}

#[test]
fn a_store_says_whose_it_is_and_which_schema_it_has() {
    let (_directory, store) = empty();
    let number = |name: &str| -> i64 {
        store.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    };
    assert_eq!(number("application_id"), i64::from(u32::from_be_bytes(*b"boat")));
    assert_eq!(number("user_version"), VERSION);
    assert_eq!(number("foreign_keys"), 1);
    let mode: String =
        store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// The SQL of docs/STORE.md, each with the sentence before it.
fn documented_queries() -> Vec<&'static str> {
    let text = include_str!("../../../../docs/STORE.md");
    text.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_documented_queries_answer_in_plain_sqlite3() {
    let (directory, mut store) = empty();
    save(&mut store, &fixture::book());
    let file = directory.path().join("boatload.db");
    let ask = |query: &str| std::process::Command::new("sqlite3").arg(&file).arg(query).output();
    if let Err(error) = ask("SELECT 1") {
        return skip("docs/STORE.md in sqlite3", &error.to_string());
    }
    let starts = [
        "create|2|31926.0\nrewrite|1|40164.0\n",
        "ext4|vda|2|31926.0|0.182|default\n",
        "k3j9x2ab|2026-10-05T08:00:00Z|default|2|rewrite|ENOSPC|120\n",
        "k3j9x2ab|default|1|create|8192|61444096|0.01\n",
    ];
    assert_eq!(documented_queries().len(), starts.len());
    for (query, start) in documented_queries().into_iter().zip(starts) {
        let output = ask(query).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{query}{told}");
        let answer = String::from_utf8_lossy(&output.stdout);
        assert!(answer.starts_with(start), "{query}{answer}");
    }
    let mut made = fixture::made::book();
    made.run.id = "made0000".into();
    save(&mut store, &made);
    let output = ask(documented_queries()[1]).unwrap();
    let answer = String::from_utf8_lossy(&output.stdout);
    let places: Vec<String> =
        answer.lines().map(|line| line.split('|').take(3).collect::<Vec<_>>().join(" ")).collect();
    let each = ["ext4 image 3", "ext4 vda 2", "ext3 image 3", "xfs image 3", "btrfs image 3"];
    assert_eq!(places, each, "{answer}");
}

#[test]
fn a_run_that_is_imported_is_the_run_or_nothing() {
    let (_directory, mut store) = empty();
    let mut book = fixture::made::book();
    book.conditions = fixture::book().conditions;
    store.import(&book).unwrap();
    assert_eq!(store.load(&book.run.id).unwrap(), book);
    assert!(store.has_run(&book.run.id).unwrap() && !store.has_run("k3j").unwrap());
    let said = sentence(store.import(&book));
    assert!(said.starts_with("cannot save a run in the store"), "{said}");
    assert_eq!(store.load(&book.run.id).unwrap(), book, "nothing was added to it");
    for seed in 0..20 {
        let mut odd = fixture::Odd::new(seed).book();
        odd.measurements.iter_mut().for_each(without_broken_histogram);
        odd.run.id = format!("odd{seed:05}");
        store.import(&odd).unwrap();
        let read = store.load(&odd.run.id).unwrap();
        let cells = |book: &Book| {
            let measured = book.measurements.iter().map(|m| format!("{:?} {}", m.cell, m.phase));
            let looked_at = book.conditions.iter().map(|c| format!("{:?} {}", c.cell, c.name));
            let all = measured.chain(looked_at);
            all.map(|text| text.replace("inf", "NaN")).collect::<Vec<_>>()
        };
        assert_eq!(cells(&read), cells(&odd), "seed {seed}");
    }
}

#[test]
fn the_last_run_is_the_one_that_was_stored_last_whatever_its_clock_said() {
    let (_directory, mut store) = empty();
    let mut earlier = book_with_id("earlier1");
    earlier.run.started = "2020-01-01T00:00:00Z".into();
    store.import(&book_with_id("newest22")).unwrap();
    store.import(&earlier).unwrap();
    for (word, id) in [("last", "earlier1"), ("last~0", "earlier1"), ("last~1", "newest22")] {
        assert_eq!(store.find_run(word).unwrap(), id, "{word}");
    }
    assert!(sentence(store.find_run("last~2")).contains("the store has 2 runs"));
    assert_eq!(store.runs().unwrap().runs[0].book.run.id, "earlier1");
}

#[test]
fn the_largest_whole_numbers_survive() {
    let (_directory, mut store) = empty();
    let mut book = fixture::book();
    (book.measurements[0].bytes, book.measurements[0].windows[2].max_ns) =
        (Some(u64::MAX), u64::MAX - 1);
    store.import(&book).unwrap();
    assert_eq!(store.load(&book.run.id).unwrap(), book);
}

#[test]
fn every_table_and_column_of_the_schema_has_a_comment() {
    for statement in SCHEMA.split(";\n") {
        let Some((head, body)) = statement.split_once("(\n") else { continue };
        if !head.contains("CREATE TABLE") {
            continue;
        }
        assert!(body.trim_start().starts_with("-- "), "{head} has no comment");
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert!(line.starts_with(')') || line.contains("-- "), "{head}: {line}");
        }
    }
}
