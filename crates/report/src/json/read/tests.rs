use serde_json::{Value, json};

use super::*;
use crate::find_report;
use crate::tests::kept_runs::{kept_documents, kept_runs};
use boatload_analysis::Analysis;
use boatload_base::fixture::json_places::json_places;
use boatload_base::random::{Stream, below, draw};
use boatload_results::book::{Doubt, Window};
use boatload_results::fixture::{self, growing};
use boatload_results::histogram::decoded;

fn document(book: &Book) -> String {
    let mut out = Vec::new();
    (find_report("json").unwrap().render)(&Analysis::of(book), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn whole_book() -> Book {
    let mut book = fixture::made::book();
    book.conditions = fixture::book().conditions;
    book.measurements[0] = fixture::book().measurements[0].clone();
    book.measurements[1] = fixture::book().measurements[6].clone();
    book.measurements[2].cache.reason = Some(Doubt::NoRights);
    book
}

fn refusal(document: &Value) -> String {
    read_document(document.to_string().as_bytes()).unwrap_err()
}

#[test]
fn a_book_reads_back_as_it_was() {
    for book in [whole_book(), fixture::book(), growing::fullness(&["a", "b"]), growing::chunks()] {
        assert_eq!(read_document(document(&book).as_bytes()).unwrap(), book);
    }
}

#[test]
fn a_book_of_anything_gives_the_same_document_again() {
    for seed in 0..60 {
        let mut book = fixture::Odd::new(seed).book();
        // What is no histogram is not taken back.
        for m in book.measurements.iter_mut().filter(|m| decoded(&m.histogram).is_none()) {
            m.histogram.clear();
        }
        let first = document(&book);
        let read = read_document(first.as_bytes()).unwrap_or_else(|why| panic!("{seed}: {why}"));
        assert_eq!(document(&read), first, "seed {seed}");
    }
}

#[test]
fn what_is_no_run_document_is_refused_in_a_sentence() {
    for (text, part) in [
        ("", "no JSON document"),
        ("\u{1b}[31m", "no JSON document"),
        ("[1, 2]", "has no \"format\""),
        ("{\"format\": \"boatload-compare\"}", "is \"boatload-compare\""),
        ("{\"format\": \"a\\nb\"}", "a\\nb"),
        ("{\"format\": \"boatload-run\"}", "no \"version\""),
        ("{\"format\": \"boatload-run\", \"version\": 2}", "version 2"),
        ("{\"format\": \"boatload-run\", \"version\": 1}", "missing field `run`"),
        (&"[".repeat(100_000), "recursion limit"),
        (&document(&fixture::book()).repeat(2), "follows the first document"),
    ] {
        let why = read_document(text.as_bytes()).unwrap_err();
        assert!(why.contains(part) && !why.contains(char::is_control), "{why}");
    }
    let large = vec![b' '; DOCUMENT_BYTES_MAX as usize + 1];
    assert!(read_document(&large).unwrap_err().contains("256 MiB"));
}

#[test]
fn a_run_of_a_million_windows_may_be_imported() {
    let written = |windows: u64| {
        let mut book = fixture::book();
        let window = |n: u64| Window {
            first: (1_000_000 + n) * 1_000,
            operations: 1_000,
            mean_ns: 123_456.789_012_3,
            p50_ns: 123_456,
            p99_ns: 1_234_567,
            max_ns: 12_345_678,
        };
        book.measurements[0].windows = (0..windows).map(window).collect();
        document(&book)
    };
    let (few, many) = (written(1_000), written(2_000));
    assert_eq!(read_document(many.as_bytes()).unwrap().measurements[0].windows.len(), 2_000);
    let values = |text: &str| text.matches(['{', '[', ',']).count();
    let (bytes, values) = (many.len() - few.len(), values(&many) - values(&few));
    assert!(1_000 * bytes as u64 * 10 / 9 < DOCUMENT_BYTES_MAX, "{bytes} for 1,000 windows");
    assert!(1_000 * values * 10 / 9 < VALUES_MAX, "{values} for 1,000 windows");
}

#[test]
fn a_document_that_no_boatload_writes_is_refused() {
    let good: Value = serde_json::from_str(&document(&fixture::book())).unwrap();
    for (place, value, part) in [
        ("/conditions/0/unit", json!("furlongs"), "unknown variant `furlongs`"),
        ("/measurements/0/histogram", json!("HISTFAAA"), "measurements[0] cannot be read"),
        ("/measurements/0/bytes", json!(u64::MAX), "63 bits"),
        ("/measurements/0/bytes", json!(-1), "invalid value"),
        ("/measurements/0/pass", Value::Null, "invalid type: null"),
        ("/run/id", json!("../../x"), "eight small letters"),
        ("/run/started", json!("yesterday"), "no time of day"),
        ("/run/reference", json!({"name": "x"}), "published figures"),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        let why = refusal(&bad);
        assert!(why.contains(part), "{place}: {why}");
    }
}

#[test]
fn keys_of_a_later_boatload_and_figures_that_follow_from_others_are_left_out() {
    let mut later: Value = serde_json::from_str(&document(&fixture::book())).unwrap();
    for m in later["measurements"].as_array_mut().unwrap() {
        m["colour"] = json!("red");
        m["operations_per_second"] = json!(1e9);
    }
    assert_eq!(read_document(later.to_string().as_bytes()).unwrap(), fixture::book());
}

#[test]
fn no_document_however_it_was_spoilt_makes_it_panic() {
    let good = document(&whole_book()).into_bytes();
    let (mut taken, mut drawn) = (0, 0);
    let mut random = |bound: usize| {
        drawn += 1;
        below(draw(7, Stream::Noise, drawn), bound as u64) as usize
    };
    for _ in 0..100 {
        let mut bad = good.clone();
        for _ in 0..=random(3) {
            let (at, to) = (random(bad.len()), random(bad.len()));
            match random(4) {
                0 => bad[at] = random(256) as u8,
                1 => bad.truncate(at.max(1)),
                2 => drop(bad.drain(at.min(to)..(at.min(to) + 40).min(at.max(to)))),
                _ => bad[at] = b"0-9e{}[]\",:"[random(11)],
            }
        }
        match read_document(&bad) {
            Ok(_) => taken += 1,
            Err(why) => assert!(!why.contains(char::is_control), "{why:?}"),
        }
    }
    assert!(taken < 100, "nothing was spoilt");
}

#[test]
fn any_value_in_any_place_is_taken_or_refused() {
    let mut good = whole_book();
    good.measurements.truncate(2);
    let good: Value = serde_json::from_str(&document(&good)).unwrap();
    let places = json_places(&good, usize::MAX);
    assert!(places.len() > 150, "{}", places.len());
    let values = [json!(null), json!(-1), json!(1e300), json!(""), json!([]), json!({})];
    for (at, place) in places.iter().enumerate() {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = values[(at + at / 6) % 6].clone();
        if let Ok(read) = read_document(bad.to_string().as_bytes()) {
            assert!(read_document(document(&read).as_bytes()).is_ok(), "{place}");
        }
    }
}

/// Keys that follow from the rest.
const FOLLOWING: [&str; 4] = ["findings", "limit", "operations_per_second_before_sync", "sentence"];

/// Whether all that a document says is also in another; what only the other has must be unknown.
fn holds(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            new.iter().all(|(key, value)| match old.get(key) {
                Some(old) => holds(old, value),
                None if FOLLOWING.contains(&key.as_str()) => true,
                None => *value == Value::Null || *value == json!([]) || *value == json!(false),
            })
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| holds(old, new))
        }
        (old, new) => old == new,
    }
}

#[test]
fn the_kept_runs_come_back_with_all_that_they_had() {
    for (_, path) in kept_documents() {
        let packed = std::fs::read(&path).unwrap();
        let read = read_document(&packed).unwrap_or_else(|why| panic!("{path:?}: {why}"));
        let again = document(&read);
        let old: Value = serde_json::from_reader(GzDecoder::new(&packed[..])).unwrap();
        assert!(holds(&old, &serde_json::from_str(&again).unwrap()), "{path:?}");
        let twice = read_document(again.as_bytes()).unwrap();
        assert_eq!(document(&twice), again, "{path:?}");
    }
}

/// `cargo test --lib -- every_kept_run_has_an_answer --nocapture` prints them.
#[test]
#[expect(clippy::print_stdout, reason = "a reader judges the answers")]
fn every_kept_run_has_an_answer_of_few_words() {
    for (name, book) in kept_runs() {
        let analysis = Analysis::of(book);
        let answer = analysis.answer().unwrap_or_else(|| panic!("{name} has no answer"));
        println!("{name}\n{answer:#?}\n");
        assert!(answer.fitted().words() <= 80, "{name}: {answer:?}");
        assert!(answer.reason.split_whitespace().count() <= 30, "{name}: {answer:?}");
    }
}

#[test]
fn a_compressed_document_that_is_cut_off_is_refused_and_says_so() {
    let packed = std::fs::read(&kept_documents()[0].1).unwrap();
    let why = read_document(&packed[..packed.len() / 2]).unwrap_err();
    assert!(why.starts_with("it is compressed, and cannot be unpacked: "), "{why}");
}
