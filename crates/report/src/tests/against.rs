use super::*;
use boatload_analysis::compare::{BaselineRuns, Check, compare, compare_beside};
use boatload_analysis::figures::RunFigures;
use boatload_results::book::Disturbance;
use boatload_results::fixture::at_limit;
use boatload_run::cache::CacheState;

/// A run of `smallfiles` on four file systems that took so many times as long.
fn lasting(times: f64, id: &str) -> Book {
    let mut book = fixture::made::book();
    (book.run.id, book.host.kernel) = (id.into(), format!("Linux 6.{id}"));
    for m in &mut book.measurements {
        let wave = 1.0 + 0.01 * f64::from((m.cell.repeat * 5) % 4);
        m.seconds =
            m.seconds.map(|all| all * (if m.phase == "rewrite" { times * wave } else { wave }));
    }
    book
}

pub(super) fn compared_text(a: &Book, b: &Book, details: bool) -> String {
    let mut out = Vec::new();
    let comparison = compare(&RunFigures::of(a), &RunFigures::of(b));
    write_comparison(&[a, b], &[comparison], details, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn checked_text(run: &Book, history: &[&Book], details: bool) -> String {
    let history: Vec<RunFigures<'_>> = history.iter().map(|book| RunFigures::of(book)).collect();
    let baseline = match history.as_slice() {
        [one] => BaselineRuns::Run(one),
        many => BaselineRuns::History(many),
    };
    let check = Check::of_runs(&[&RunFigures::of(run)], baseline, &[], 0.05);
    let mut out = Vec::new();
    write_check(run, baseline, &check, details, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_comparison_is_shown_as_was_agreed_on() {
    let (a, mut b) = (lasting(1.0, "18"), lasting(1.6, "19"));
    b.measurements.iter_mut().filter(|m| m.phase == "delete").for_each(|m| {
        m.cache.found = CacheState::Warm;
    });
    assert_golden("compare.txt", &compared_text(&a, &b, false));
    assert_golden("compare-details.txt", &compared_text(&a, &b, true));
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
        book.measurements.iter_mut().for_each(|m| m.seconds = m.seconds.map(|all| all * more));
        book.run.started = format!("2026-10-{:02}T08:00:00Z", at + 1);
    }
    let mut run = history[7].clone();
    run.run.id = "now".into();
    for m in run.measurements.iter_mut().filter(|m| m.phase == "rewrite") {
        m.seconds = m.seconds.map(|all| all * 1.6);
    }
    let history: Vec<&Book> = history.iter().collect();
    assert_golden("check-history.txt", &checked_text(&run, &history, true));
    for m in run.measurements.iter_mut().filter(|m| m.phase == "delete") {
        (m.operations, m.cache.found) = (20_000, CacheState::Warm);
    }
    run.run.job += "threads = 2\n";
    assert_golden("check.txt", &checked_text(&run, &history[7..], false));
}

/// In one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn of_published_figures_no_repeats_are_asked_for() {
    let [a, b] = ["smallfiles-suse12-btrfs", "smallfiles-debian8-ext3"]
        .map(|name| find_reference(name).unwrap());
    let text = words(&compared_text(&a, &b, false));
    assert!(text.contains("A was published without an error"), "{text}");
    assert!(!text.contains("--repeats") && !text.contains("one repeat"), "{text}");
}

#[test]
fn rows_of_several_variants_are_not_called_phases() {
    let text = words(&compared_text(&lasting(1.0, "18"), &lasting(1.6, "19"), false));
    assert!(text.contains("Likely slower in 4 of 20 rows: rewrite of"), "{text}");
    let [mut a, mut b] = [lasting(1.0, "18"), lasting(1.6, "19")];
    for book in [&mut a, &mut b] {
        book.measurements.retain(|m| m.cell.variant == "ext4" || m.phase == "rewrite");
    }
    let text = words(&compared_text(&a, &b, false));
    assert!(text.contains(" of 8 rows: "), "rewrite is among them four times: {text}");
}

#[test]
fn what_is_said_of_the_between_run_variance_is_what_the_rows_rest_on() {
    let (a, b) = (lasting(1.0, "18"), lasting(1.0, "19"));
    let others: Vec<Book> = (0..7).map(|at| lasting(1.0, &format!("{at}"))).collect();
    let text = |others: &[Book]| {
        let others: Vec<RunFigures<'_>> = others.iter().map(RunFigures::of).collect();
        let comparison = compare_beside(&RunFigures::of(&a), &RunFigures::of(&b), &others, &[]);
        let mut out = Vec::new();
        write_comparison(&[&a, &b], &[comparison], false, &mut out).unwrap();
        words(&String::from_utf8(out).unwrap())
    };
    let few =
        "How much equal runs differ is taken from other machines, until more runs are stored here.";
    assert!(text(&[]).contains(few), "{}", text(&[]));
    assert!(text(&others[..1]).contains(few), "{}", text(&others[..1]));
    let all = "How much equal runs differ is known from 7 other runs.";
    assert!(text(&others).contains(all), "{}", text(&others));
    assert!(text(&others).contains("Within 10% in all 20 rows: "), "{}", text(&others));
}

#[test]
fn a_check_against_a_run_knows_earlier_runs_and_one_run_is_no_variance() {
    let (run, baseline) = (lasting(1.0, "now"), lasting(1.0, "1"));
    let text = words(&checked_text(&run, &[&baseline], true));
    assert!(text.contains("How much equal runs differ is taken from other machines"), "{text}");
    let baseline = RunFigures::of(&baseline);
    let history = BaselineRuns::History(std::slice::from_ref(&baseline));
    let check = Check::of_runs(&[&RunFigures::of(&run)], history, &[], 0.8);
    let mut out = Vec::new();
    write_check(&run, history, &check, false, &mut out).unwrap();
    let text = words(&String::from_utf8(out).unwrap());
    assert!(text.contains("How much equal runs differ is taken from other machines"), "{text}");
    assert!(text.contains("OK: nothing is more than 80% slower (a slowdown of "), "{text}");
}

#[test]
fn it_is_said_where_a_repeat_reached_its_limit() {
    let one = |id| {
        let mut book = lasting(1.0, id);
        book.measurements.retain(|m| m.cell.variant == "ext4");
        book
    };
    let (quick, mut slow) = (one("18"), one("19"));
    let last = slow.measurements.iter_mut().rfind(|m| m.phase == "delete").unwrap();
    last.invalid.push(at_limit());
    for (text, said) in [
        (compared_text(&quick, &slow, false), "Not compared, a repeat of B reached its limit: "),
        (compared_text(&slow, &quick, false), "Not compared, a repeat of A reached its limit: "),
        (checked_text(&slow, &[&quick], true), "INVALID: delete."),
        (
            checked_text(&slow, &[&quick], true),
            "Not compared, a repeat of B reached its limit: delete",
        ),
        (
            checked_text(&quick, &[&slow], true),
            "Not compared, a repeat of A reached its limit: delete",
        ),
    ] {
        let text = words(&text);
        assert!(text.contains(said), "{text}");
    }
}

/// A run of one file system on a machine that is quiet in all phases but these, which took so many times as long.
fn beside_load(phases: &[&str], times: f64, id: &str) -> Book {
    let mut book = lasting(1.0, id);
    book.measurements.retain(|m| m.cell.variant == "ext4" && !m.is_settle());
    for m in &mut book.measurements {
        let is_loaded = phases.contains(&m.phase.as_str());
        m.seconds = m.seconds.map(|all| all * (if is_loaded { times } else { 1.0 }));
        let seen = fixture::quiet(m.seconds.unwrap());
        let others_user_seconds = seen.cpu_seconds.filter(|_| is_loaded).map(|all| all / 2.0);
        m.disturbance = Some(Disturbance { others_user_seconds, ..seen });
    }
    book
}

#[test]
fn load_of_one_side_alone_is_said_to_be_why_a_gap_is_not_proven() {
    let quiet = beside_load(&[], 1.0, "18");
    let loaded = beside_load(&["delete", "rewrite"], 9.0, "19");
    let says = |text: String, all: &[&str]| {
        let text = words(&text);
        all.iter().for_each(|said| assert!(text.contains(said), "{said}\n{text}"));
    };
    let load = "where one side alone was, only what load cannot cause is decided";
    let of_b = "Not proven in 2 of 5 phases: rewrite takes 9";
    let says_b = "Only B was measured under background load.";
    says(compared_text(&quiet, &loaded, false), &[of_b, says_b, load]);
    let of_a = "Not proven in 2 of 5 phases: rewrite takes 0.1";
    let says_a = "Only A was measured under background load.";
    says(compared_text(&loaded, &quiet, false), &[of_a, says_a, load]);
    assert!(!words(&compared_text(&quiet, &quiet, false)).contains("load"));
    let why = "UNSURE: only B was measured under background load, so 5% cannot be checked";
    says(checked_text(&loaded, &[&quiet], true), &[why, load]);
    let why = "UNSURE: only A was measured under background load, so 5% cannot be checked";
    says(checked_text(&quiet, &[&loaded], true), &[why, load]);
    assert!(!words(&checked_text(&quiet, &[&quiet], true)).contains("load"));
    let also_loaded = beside_load(&["delete", "rewrite"], 1.0, "20");
    let mut history = [&quiet; 8];
    history[7] = &also_loaded;
    let why = "UNSURE: B was measured under background load, but few runs of A, so 5%";
    says(checked_text(&loaded, &history, true), &[why, load]);
}

#[test]
fn comparisons_and_checks_fit_whatever_is_in_them() {
    for seed in 0..20 {
        let books: Vec<_> = (0..3).map(|at| fixture::Odd::new(seed * 10 + at).book()).collect();
        let [a, b, c] = books.as_slice() else { panic!() };
        let text = compared_text(a, b, true) + &checked_text(a, &[b, c], true);
        assert_fits(&text, &format!("seed {seed}"));
        assert!(!text.contains("NaN"), "seed {seed}:\n{text}");
    }
}
