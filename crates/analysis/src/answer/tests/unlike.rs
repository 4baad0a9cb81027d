//! Answers about runs whose levels or phases are unlike each other, so that what is said of all may be false of one.

use super::*;

/// Whose times a made-up run over levels is drawn from: of a variant and a phase at a level, by its number.
type TimeAt<'a> = &'a dyn Fn(&str, &str, usize) -> f64;

/// Five repeats of phases at levels of files, each with 1% of noise.
fn over_levels(
    conclude: Conclusion,
    [variants, phases]: [&[&str]; 2],
    levels: &[f64],
    time: TimeAt<'_>,
) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        for (at, files) in levels.iter().enumerate() {
            for (nth, variant) in variants.iter().enumerate() {
                for (which, phase) in phases.iter().enumerate() {
                    let unit = Unit::Count;
                    let level = Level { axis: "files-present".into(), value: *files, unit };
                    let number = (at * 100 + nth * 10 + which) as u64;
                    let seconds = time(variant, phase, at) * Noise::Spread(1).of(7, repeat, number);
                    all.push(measured(variant, phase, Some(level), repeat, seconds));
                }
            }
        }
    }
    book(conclude, "Does it get slower?", all)
}

const SEVEN: [f64; 7] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

#[test]
fn a_slowdown_that_ends_again_is_no_change_from_end_to_end() {
    let bump = |_: &str, _: &str, at: usize| if at == 1 { 2.0 } else { 1.0 };
    let found =
        answer(&over_levels(Conclusion::Levels, [&["default"], &["create"]], &SEVEN, &bump));
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
}

#[test]
fn one_task_that_gets_slower_is_not_hidden_by_another_that_gets_faster() {
    let apart = |_: &str, phase: &str, at: usize| match phase {
        "create" => 1.0 + 0.06 * at as f64,
        _ => 1e-3 / (1.0 + 0.06 * at as f64),
    };
    let of = [&["default"][..], &["create", "stat"]];
    let found = answer(&over_levels(Conclusion::Levels, of, &SEVEN, &apart));
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(found.sentence().starts_with("create takes 1.3"), "{found:?}");
    assert!(found.sentence().contains(" All 2 tasks together take "), "{found:?}");
}

#[test]
fn a_change_is_told_by_the_highest_level_whatever_its_shape() {
    let levels = |time: TimeAt<'_>| {
        let of = [&["default"][..], &["create"]];
        answer(&over_levels(Conclusion::Levels, of, &[0.0, 100.0, 200.0, 400.0, 700.0], time))
    };
    let found = levels(&|_, _, at| if at == 0 { 1.0 } else { 8.0 });
    assert!(found.sentence().starts_with("create takes 8.0"), "{found:?}");
    assert!(found.sentence().ends_with("), from 100 on."), "{found:?}");
    let found = levels(&|_, _, at| if at < 3 { 1.0 } else { 2.0 });
    assert!(found.sentence().starts_with("create takes 2.0"), "{found:?}");
    assert!(found.sentence().ends_with("), from 400 on."), "{found:?}");
    let found = levels(&|_, _, at| if at == 0 { 1.0 } else { 500.0 });
    assert!(found.sentence().starts_with("create takes 5"), "{found:?}");
    // What falls and has risen again at the highest level takes no longer there.
    let found = levels(&|_, _, at| [1.0, 1.5, 2.0, 2.5, 1.0][at]);
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
}

#[test]
fn rates_at_several_levels_are_those_of_levels_and_not_of_variants() {
    let mut book = over_levels(
        Conclusion::Source,
        [&["zeros", "random"], &["read"]],
        &[1.0, 4.0],
        &|_, _, at| [1.0, 3.0][at],
    );
    for m in &mut book.measurements {
        m.bytes = Some(1 << 20);
        m.device_read_bytes = Some(1 << 20);
        m.operation = MeasuredOperation::find("read");
    }
    let text = answer(&book).sentence();
    assert!(text.contains(", 4 small files) to ") && text.contains(", 1 small file)"), "{text}");
}

#[test]
fn one_level_compares_nothing() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let of = [&["default"][..], &["create"]];
    let found = answer(&over_levels(Conclusion::Levels, of, &[1.0], &flat));
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(found.sentence().contains("oo few measurements or levels"), "{found:?}");
}

#[test]
fn other_variants_in_which_the_same_phase_gets_slower_are_counted_and_told() {
    let of = |slow: &[&str]| {
        let time = |variant: &str, phase: &str, at: usize| match (phase, slow.contains(&variant)) {
            ("stat", true) if at > 0 => 3.0,
            _ => 1.0,
        };
        let of = [&["a", "b", "c", "d"][..], &["stat", "list"]];
        answer(&over_levels(Conclusion::Levels, of, &[100.0, 200.0, 400.0, 800.0], &time))
    };
    let found = of(&["a"]);
    assert!(found.sentence().starts_with("stat (a) takes "), "{found:?}");
    let found = of(&["a", "c"]);
    assert!(
        found.sentence().contains(" One of the 7 others takes longer too: stat ("),
        "{found:?}"
    );
}

/// The same run where a measurement at its highest level took as long as a phase may.
fn limited(mut book: Book, is_it: impl Fn(&Measurement) -> bool) -> Book {
    let is_one = |m: &&mut Measurement| m.cell.repeat == 5 && is_it(m);
    for m in book.measurements.iter_mut().filter(is_one) {
        m.invalid = vec![at_limit()];
    }
    book
}

#[test]
fn nothing_is_denied_of_a_level_that_does_not_count() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    for (conclude, variants) in
        [(Conclusion::Levels, &["default"][..]), (Conclusion::Crossing, &["a", "b"])]
    {
        let run = || over_levels(conclude, [variants, &["create"]], &SEVEN, &flat);
        assert_eq!(answer(&run()).verdict, Verdict::No, "{conclude:?}");
        let lost = |m: &Measurement| is_at(m, 7.0) && m.cell.variant == variants[0];
        let found = answer(&limited(run(), lost));
        assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
        let name = if variants.len() > 1 { "create (a)" } else { "create" };
        let lead = "create is missing in part: reached its limit in ";
        let lead = format!("{lead}{name} at 7 small files from the 5th repeat on. Of the others: ");
        assert!(found.sentence().starts_with(&lead), "{found:?}");
    }
}

#[test]
fn an_answer_without_a_finding_names_what_does_not_count() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let run = over_levels(Conclusion::Levels, [&["default"], &["create"]], &SEVEN[..2], &flat);
    let found = answer(&limited(run, |m| is_at(m, 2.0)));
    let lead = "create is missing in part: reached its limit in create at 2 small files ";
    assert!(found.sentence().starts_with(lead), "{found:?}");
    assert_eq!(found.next, None, "repeats end no phase before its limit");
}

#[test]
fn a_phase_that_reached_its_limit_in_all_variants_is_named_beside_a_ranking() {
    let time = |variant: &str, _: &str, _: usize| if variant == "a" { 1.0 } else { 2.0 };
    let of = [&["a", "b"][..], &["create", "read"]];
    let run = over_levels(Conclusion::Ranking, of, &[1.0], &time);
    let mut run = limited(run, |m| m.phase == "create");
    run.measurements.iter_mut().for_each(|m| m.cell.level = None);
    let found = answer(&run);
    assert!(found.sentence().contains("read"), "{found:?}");
    let lead = "create is missing: reached its limit in create (";
    assert!(found.sentence().starts_with(lead), "{found:?}");
}

#[test]
fn a_crossing_takes_two_levels() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let run = over_levels(Conclusion::Crossing, [&["a", "b"], &["create"]], &[4.0], &flat);
    let found = answer(&run);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
}

/// The run, with reads for which the device had the same requests at all levels and was busy all the time.
fn on_device_itself(mut book: Book) -> Book {
    for m in book.measurements.iter_mut().filter(|m| m.phase == "read") {
        (m.device_reads, m.device_read_bytes) = (Some(1_000), Some(1 << 30));
        (m.device_writes, m.device_write_bytes) = (Some(0), Some(0));
        m.device_busy_seconds = m.seconds;
    }
    book
}

#[test]
fn whether_files_slow_down_a_device_that_differs_for_the_same_requests_cannot_be_told() {
    let own = "but the device had the same requests: it may be the device itself.";
    let mut book = on_device_itself(clutter(0.3, Noise::Spread(2), 1));
    let found = answer(&book);
    assert!(found.sentence().starts_with("write takes 1."), "{found:?}");
    book.measurements.iter_mut().filter(|m| m.phase == "write").for_each(fail);
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell);
    assert!(found.sentence().contains(" Not proven: read takes 1."), "{found:?}");
    assert!(found.sentence().ends_with(own), "{found:?}");
}
