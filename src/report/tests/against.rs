use super::*;
use crate::analysis::compare::{BaselineRuns, Check, compare};
use crate::run::cache::CacheState;

/// A run of `smallfiles` on four file systems that took so many times as long.
fn lasting(times: f64, id: &str) -> Book {
    let mut book = fixture::made::book();
    (book.run.id, book.host.kernel) = (id.into(), format!("Linux 6.{id}"));
    for m in &mut book.measurements {
        let wave = 1.0 + 0.01 * f64::from((m.cell.repeat * 5) % 4);
        m.seconds *= if m.phase == "rewrite" { times * wave } else { wave };
    }
    book
}

pub(super) fn compared_text(a: &Book, b: &Book, details: bool) -> String {
    let mut out = Vec::new();
    let comparison = compare(&Analysis::of(a), &Analysis::of(b));
    write_comparison([a, b], &comparison, details, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn checked_text(run: &Book, history: &[&Book]) -> String {
    let history: Vec<Analysis<'_>> = history.iter().map(|book| Analysis::of(book)).collect();
    let baseline = match history.as_slice() {
        [one] => BaselineRuns::Run(one),
        many => BaselineRuns::History(many),
    };
    let check = Check::of_runs(&[&Analysis::of(run)], baseline, &[], 0.05);
    let mut out = Vec::new();
    write_check(run, baseline, &check, true, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_comparison_is_shown_as_was_agreed_on() {
    let (a, mut b) = (lasting(1.0, "18"), lasting(1.6, "19"));
    b.measurements.iter_mut().filter(|m| m.phase == "delete").for_each(|m| {
        m.cache.found = CacheState::Warm;
    });
    assert_golden("compare.txt", &compared_text(&a, &b, true));
    let own = fixture::book();
    let debian = find_reference("smallfiles-debian8-ext4").unwrap();
    assert_golden("compare-reference.txt", &compared_text(&own, &debian, false));
}

#[test]
fn a_check_is_shown_as_was_agreed_on() {
    let mut history: Vec<Book> = (0..8).map(|at| lasting(1.0, &format!("{at}"))).collect();
    for book in history.iter_mut().chain([&mut lasting(1.0, "9")]) {
        book.measurements.retain(|m| m.cell.variant == "ext4");
        book.filesystems.retain(|made| made.variant == "ext4");
        book.measurements.iter_mut().for_each(|m| m.histogram.clear());
    }
    for (at, book) in history.iter_mut().enumerate() {
        let more = if at < 4 { 1.0 } else { 1.2 } + 0.01 * ((at * 3) % 4) as f64;
        book.measurements.iter_mut().for_each(|m| m.seconds *= more);
        book.run.started = format!("2026-10-{:02}T08:00:00Z", at + 1);
    }
    let mut run = history[7].clone();
    run.run.id = "now".into();
    for m in run.measurements.iter_mut().filter(|m| m.phase == "rewrite") {
        m.seconds *= 1.6;
    }
    let history: Vec<&Book> = history.iter().collect();
    assert_golden("check-history.txt", &checked_text(&run, &history));
    for m in run.measurements.iter_mut().filter(|m| m.phase == "delete") {
        (m.operations, m.cache.found) = (20_000, CacheState::Warm);
    }
    run.run.job += "threads = 2\n";
    assert_golden("check.txt", &checked_text(&run, &history[7..]));
}

#[test]
fn comparisons_and_checks_fit_whatever_is_in_them() {
    for seed in 0..20 {
        let books: Vec<_> = (0..3).map(|at| fixture::Odd::new(seed * 10 + at).book()).collect();
        let [a, b, c] = books.as_slice() else { panic!() };
        let text = compared_text(a, b, true) + &checked_text(a, &[b, c]);
        assert_fits(&text, &format!("seed {seed}"));
        assert!(!text.contains("NaN"), "seed {seed}:\n{text}");
    }
}
