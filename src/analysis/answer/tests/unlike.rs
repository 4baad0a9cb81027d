//! Answers about runs whose levels or phases are unlike each other, so that what is said of all may be false of one.

use super::super::draft::{AnswerDraft, Lack};
use super::super::uncounted::UncountedParts;
use super::*;
use crate::analysis::findings::ranking::FastestVariants;
use crate::results::book::Window;

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
fn a_slowdown_at_one_level_is_told_although_it_ends_again() {
    let bump = |_: &str, _: &str, at: usize| if at == 1 { 2.0 } else { 1.0 };
    let found = answer(&over_levels(Conclusion::Knee, [&["default"], &["create"]], &SEVEN, &bump));
    assert_eq!(found.verdict, Verdict::Yes);
    assert!(found.text.starts_with("Yes: at 2 files create takes 2.0"), "{found:?}");
    assert!(found.text.ends_with(" as at 1; from there on no slowdown is proven."), "{found:?}");
}

#[test]
fn one_task_that_gets_slower_is_not_hidden_by_another_that_gets_faster() {
    let apart = |_: &str, phase: &str, at: usize| match phase {
        "create" => 1.0 + 0.06 * at as f64,
        _ => 1e-3 / (1.0 + 0.06 * at as f64),
    };
    let of = [&["default"][..], &["create", "stat"]];
    let found = answer(&over_levels(Conclusion::Knee, of, &SEVEN, &apart));
    assert_eq!(found.verdict, Verdict::Yes);
    let expected = "1 of 2 tasks gets slower without a proven step; most in create: 1.2";
    assert!(found.text.contains(expected), "{found:?}");
}

#[test]
fn a_fall_that_is_no_line_is_told_by_the_highest_level() {
    let steep = |_: &str, _: &str, at: usize| if at == 0 { 1.0 } else { 8.0 };
    let slope = |time: TimeAt<'_>| {
        let of = [&["default"][..], &["create"]];
        over_levels(Conclusion::Slope, of, &[0.0, 100.0, 200.0, 400.0, 700.0], time)
    };
    let found = answer(&slope(&steep));
    assert!(found.text.starts_with("Yes: with 700 more files create is 88% slower ("), "{found:?}");
    let figure = &found.figures[0];
    assert!((figure.value + 0.875).abs() < 0.02, "{figure:?}");
    assert!(figure.interval.unwrap().low > -1.0, "{figure:?}");
    // A step is no line either, though the line that fits it best ends near the highest level.
    let step = |_: &str, _: &str, at: usize| if at < 3 { 1.0 } else { 2.0 };
    let found = answer(&slope(&step));
    assert!(found.text.starts_with("Yes: with 700 more files create is 51% slower ("), "{found:?}");
    // Of a loss near all of it percents say little.
    let steeper = |_: &str, _: &str, at: usize| if at == 0 { 1.0 } else { 500.0 };
    let found = answer(&slope(&steeper));
    let expected = "Yes: with 700 more files create takes 5";
    assert!(
        found.text.starts_with(expected) && found.text.contains(" times as long ("),
        "{found:?}"
    );
    // What falls and has risen again at the highest level has no slope.
    let again = |_: &str, _: &str, at: usize| [1.0, 1.5, 2.0, 2.5, 1.0][at];
    let found = answer(&slope(&again));
    assert_ne!(found.verdict, Verdict::Yes, "{found:?}");
}

#[test]
fn the_fastest_on_average_is_not_called_the_fastest_at_every_level() {
    let said = |alike: &[&str]| {
        let interval = Some([1.01, 1.2].into());
        let compared = ComparedRatio { ratio: 1.1, interval, tie: false };
        let (faster, slower) = ("a".to_string(), "b".to_string());
        let step = RankingStep { faster, slower, compared, behind_first: compared };
        let alike = alike.iter().map(ToString::to_string).collect();
        let at = FastestVariants { alike, unclear: Vec::new() };
        let of = |phase: &str| RankingFinding {
            phase: Some(phase.into()),
            axis: Some("n".into()),
            unit: Some(Unit::Count),
            levels: vec![1.0, 2.0],
            fastest: vec![at.clone(), at.clone()],
            ..whole_job(["a", "b"].map(String::from).to_vec(), vec![step.clone()])
        };
        ranking::ranking(&[&of("create"), &of("read")]).unwrap().text
    };
    assert_eq!(said(&["a"]), "fastest at every level compared: a in create and read");
    assert_eq!(said(&["a", "b"]), "fastest on average over the levels: a in create and read");
}

#[test]
fn levels_at_which_two_were_not_compared_are_in_no_statement_on_them() {
    let mut found = even_pair();
    let missing = found.levels.pop().unwrap();
    found.uncompared = vec![missing.value];
    let told = |found: &CrossoverFinding| {
        let draft = crossover::crossover(&[found], &[]).unwrap();
        draft.text
    };
    found.levels.iter_mut().for_each(|level| level.interval = Some([0.99, 1.01].into()));
    let text = told(&found);
    assert!(text.ends_with(" is larger than 2% at any level compared"), "{text}");
    for level in &mut found.levels[1..] {
        let (interval, winner) = (Some([1.8, 2.2].into()), Some("b".into()));
        *level = LevelWinner { ratio: 2.0, interval, winner, ..level.clone() };
    }
    let text = told(&found);
    assert!(text.contains("; from 8 KiB to 32 KiB b is faster than a: "), "{text}");
    let first = found.levels[0].clone();
    found.levels[0] = LevelWinner { value: first.value, ..found.levels[1].clone() };
    let text = told(&found);
    assert!(text.starts_with("up to 32 KiB b is faster than a: "), "{text}");
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
        m.bytes = 1 << 20;
        m.device_read_bytes = Some(1 << 20);
        m.operation = "read".into();
    }
    let text = answer(&book).text;
    assert!(text.contains(", 4 files) to ") && text.contains(", 1 file)"), "{text}");
}

#[test]
fn levels_that_are_missing_are_no_want_of_repeats() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    for (conclude, levels, needed) in [
        (
            Conclusion::Knee,
            &[1.0, 2.0, 3.0, 4.0][..],
            "4 levels are too few, whatever the repeats: it takes 5",
        ),
        (Conclusion::Slope, &[1.0], "1 level is too few, whatever the repeats: it takes 2"),
    ] {
        let found = answer(&over_levels(conclude, [&["default"], &["create"]], levels, &flat));
        assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
        assert!(found.evidence.iter().any(|text| text.contains(needed)), "{found:?}");
    }
}

#[test]
fn a_crossover_of_one_of_several_phases_names_the_phase() {
    let mut stat = even_pair();
    stat.phase = "stat".into();
    for level in &mut stat.levels {
        let (interval, winner) = (Some([3.8, 4.2].into()), Some("b".into()));
        *level = LevelWinner { ratio: 4.0, interval, winner, ..level.clone() };
    }
    let text = crossover::crossover(&[&stat, &even_pair()], &[]).unwrap().text;
    assert!(text.starts_with("in stat b is faster than a: 4.00 times"), "{text}");
    let text = crossover::crossover(&[&stat], &[]).unwrap().text;
    assert!(text.starts_with("b is faster than a: 4.00 times"), "{text}");
}

#[test]
fn of_many_variants_all_others_are_counted() {
    let step = |slower: &str, low: f64, high: f64| {
        let interval = Some([low, high].into());
        let compared = ComparedRatio { ratio: (low * high).sqrt(), interval, tie: low <= 1.0 };
        RankingStep { faster: "v0".into(), slower: slower.into(), compared, behind_first: compared }
    };
    let mut steps = vec![step("a-long-name-1", 0.95, 1.08), step("a-long-name-2", 0.95, 1.10)];
    steps.extend((3..12).map(|n| step(&format!("a-long-name-{n}"), 1.2, 1.4)));
    steps.push(step("v12", 0.4, 9.0));
    let order = std::iter::once("v0".into()).chain(steps.iter().map(|one| one.slower.clone()));
    let whole = whole_job(order.collect(), steps);
    let text = ranking::ranking(&[&whole]).unwrap().text;
    let expected =
        "over the whole job v0 is faster than 9 of 12 others; 2 do not differ, 1 cannot be placed";
    assert_eq!(text, expected);
}

#[test]
fn without_a_fastest_variant_the_one_that_is_slower_is_told() {
    let mut all = Vec::new();
    for repeat in 1..=6 {
        for (nth, (variant, seconds)) in [("a", 1.0), ("b", 1.001), ("c", 1.3)].iter().enumerate() {
            for (which, phase) in ["create", "read"].into_iter().enumerate() {
                let number = (nth * 10 + which) as u64;
                let mut m = measured(variant, phase, None, repeat, *seconds);
                m.seconds *= Noise::Spread(2).of(5, repeat, number);
                // They ended after a time, so there is no whole job.
                m.operations += number;
                all.push(m);
            }
        }
    }
    let found = answer(&book(Conclusion::Ranking, "Which is best?", all));
    assert_eq!(found.verdict, Verdict::Yes, "{found:?}");
    assert!(found.text.contains("c takes 1.2"), "{found:?}");
}

#[test]
fn no_phase_is_the_slowest_beside_one_whose_rate_counts_bytes() {
    let cells =
        (1..=5).flat_map(|repeat| [("create", 40.0), ("delete", 0.3)].map(|of| (repeat, of)));
    let measured = cells.map(|(repeat, (phase, seconds))| {
        let m =
            measured("default", phase, None, repeat, seconds * (1.0 + f64::from(repeat) / 100.0));
        let bytes = if phase == "create" { 4 << 32 } else { 0 };
        Measurement { bytes, ..m }
    });
    let mut book = book(Conclusion::Ranking, "How fast?", measured.collect());
    book.run.conclude = Vec::new();
    let found = answer(&book);
    assert!(!found.text.contains("slowest") && !found.text.contains("last"), "{found:?}");
}

#[test]
fn levels_below_a_tenth_keep_their_figures() {
    for (value, stated) in [(0.01, 0.01), (0.0123, 0.0123), (83.27, 83.3), (2.5, 2.5), (1e6, 1e6)] {
        assert_eq!(say::rounded(value), stated);
    }
}

#[test]
fn the_level_that_keeps_a_scaling_open_is_the_one_that_is_named() {
    let bump = |_: &str, _: &str, at: usize| if at == 1 { 1.5 } else { 1.0 };
    let of = [&["default"][..], &["stat", "list"]];
    let found = answer(&over_levels(Conclusion::Scaling, of, &[100.0, 200.0, 400.0, 800.0], &bump));
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(found.text.contains(" times as long at 200, compared with 100 "), "{found:?}");
}

#[test]
fn other_variants_in_which_the_same_phase_gets_slower_are_named() {
    let text = |slow: &[&str]| {
        let time = |variant: &str, phase: &str, at: usize| match (phase, slow.contains(&variant)) {
            ("stat", true) if at > 0 => 3.0,
            _ => 1.0,
        };
        let of = [&["a", "b", "c", "d"][..], &["stat", "list"]];
        answer(&over_levels(Conclusion::Scaling, of, &[100.0, 200.0, 400.0, 800.0], &time)).text
    };
    let own = "compared with 100 files";
    for (slow, end) in [
        (&["a"][..], format!("{own}.")),
        (&["a", "c"], format!("{own}; it gets slower in c too.")),
        (&["a", "b", "c"], format!("{own}; it gets slower in b and c too.")),
        (&["a", "b", "c", "d"], format!("{own}; it gets slower in all others too.")),
    ] {
        assert!(text(slow).ends_with(&end), "{}", text(slow));
    }
}

/// The same run where a measurement at its highest level took as long as a phase may.
fn limited(mut book: Book, is_it: impl Fn(&Measurement) -> bool) -> Book {
    let is_one = |m: &&mut Measurement| m.cell.repeat == 5 && is_it(m);
    for m in book.measurements.iter_mut().filter(is_one) {
        m.invalid = vec![format!("{REACHED_LIMIT} of 100 s")];
    }
    book
}

fn is_at(m: &Measurement, value: f64) -> bool {
    m.cell.level.as_ref().is_some_and(|level| level.value == value)
}

#[test]
fn nothing_is_denied_of_a_level_that_does_not_count() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    for (conclude, variants) in [
        (Conclusion::Slope, &["default"][..]),
        (Conclusion::Scaling, &["default"]),
        (Conclusion::Knee, &["default"]),
        (Conclusion::Crossover, &["a", "b"]),
    ] {
        let run = || over_levels(conclude, [variants, &["create"]], &SEVEN, &flat);
        assert_eq!(answer(&run()).verdict, Verdict::No, "{conclude:?}");
        let lost = |m: &Measurement| is_at(m, 7.0) && m.cell.variant == variants[0];
        let found = answer(&limited(run(), lost));
        assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
        let name = if variants.len() > 1 { "create (a)" } else { "create" };
        let lead = format!("Cannot tell: at 7 files {name} does not count ({REACHED_LIMIT}); ");
        assert!(found.text.starts_with(&lead), "{found:?}");
        let named = format!("Not counted: {name} at 7 files ({REACHED_LIMIT}).");
        assert!(found.evidence.contains(&named), "{found:?}");
    }
}

#[test]
fn more_repeats_are_not_advised_for_a_level_that_does_not_count() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let of = [&["default"][..], &["create"]];
    let run = limited(over_levels(Conclusion::Slope, of, &SEVEN, &flat), |m| is_at(m, 7.0));
    let uncounted = UncountedParts::of(&run, Conclusion::Slope);
    let open = |lacks| AnswerDraft::cannot_tell(lacks, "it may be slower".into(), Vec::new());
    let found = open(Lack::Precision).apart_from(uncounted.as_ref());
    assert_eq!(found.lacks, Lack::CountedLevels);
    assert!(found.text.starts_with("at 7 files create does not count "), "{found:?}");
    assert!(found.text.ends_with("; it may be slower"), "{found:?}");
    let found = open(Lack::Repeats).apart_from(uncounted.as_ref());
    assert_eq!((found.lacks, &*found.text), (Lack::Repeats, "it may be slower"));
}

#[test]
fn an_answer_without_a_finding_names_what_does_not_count() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let run = over_levels(Conclusion::Scaling, [&["default"], &["create"]], &SEVEN[..2], &flat);
    let found = answer(&limited(run, |m| is_at(m, 2.0)));
    assert!(found.text.starts_with("Cannot tell: too few valid measurements "), "{found:?}");
    let uncounted = format!("Not counted: create at 2 files ({REACHED_LIMIT}).");
    assert!(found.evidence.contains(&uncounted), "{found:?}");
    assert_eq!(found.next, None, "repeats end no phase before its limit");
}

#[test]
fn an_answer_over_levels_says_that_growth_tells_of_phases_with_windows() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let of = [&["default"][..], &["create", "read"]];
    let mut run = over_levels(Conclusion::Scaling, of, &SEVEN, &flat);
    let created = run.measurements.iter_mut().filter(|m| m.phase == "create");
    created.for_each(|m| m.windows = vec![Window::default()]);
    let found = answer(&run);
    assert!(found.text.starts_with("No: apart from create, up to "), "{found:?}");
    assert!(found.evidence.contains(&"Left out (see its growth): create.".into()), "{found:?}");
}

#[test]
fn a_phase_that_reached_its_limit_in_all_variants_is_named_beside_a_ranking() {
    let time = |variant: &str, _: &str, _: usize| if variant == "a" { 1.0 } else { 2.0 };
    let of = [&["a", "b"][..], &["create", "read"]];
    let run = over_levels(Conclusion::Ranking, of, &[1.0], &time);
    let mut run = limited(run, |m| m.phase == "create");
    run.measurements.iter_mut().for_each(|m| m.cell.level = None);
    let found = answer(&run);
    assert!(found.text.contains("read"), "{found:?}");
    assert_eq!(found.evidence[0], format!("Not counted: create ({REACHED_LIMIT})."));
}

#[test]
fn a_crossover_takes_one_level() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let run = over_levels(Conclusion::Crossover, [&["a", "b"], &["create"]], &[4.0], &flat);
    let found = answer(&run);
    assert_eq!(found.verdict, Verdict::No, "{found:?}");
    assert!(!found.evidence.iter().any(|text| text.contains("too few")), "{found:?}");
}

#[test]
fn levels_that_do_not_count_are_no_levels_of_a_knee() {
    let flat = |_: &str, _: &str, _: usize| 1.0;
    let run = over_levels(Conclusion::Knee, [&["default"], &["create"]], &SEVEN[..5], &flat);
    let found = answer(&limited(run, |m| is_at(m, 5.0)));
    assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
    let needed = "4 levels are too few, whatever the repeats: it takes 5";
    assert!(found.evidence.iter().any(|text| text.contains(needed)), "{found:?}");
}

#[test]
fn a_loss_near_all_of_it_is_told_by_the_highest_level_also_where_a_line_misses_it_by_little() {
    let rates = [1_000.0, 485.0, 10.0];
    let time = |_: &str, _: &str, at: usize| 1_000.0 / rates[at];
    let run = over_levels(
        Conclusion::Slope,
        [&["default"], &["create"]],
        &[0.0, 1_000.0, 2_000.0],
        &time,
    );
    let found = answer(&run);
    let (times, figure) = (1_000.0 / 10.0, found.figures[0].clone());
    assert_eq!(figure.measure, FigureMeasure::Ratio, "{found:?}");
    assert!((figure.value / times - 1.0).abs() < 0.05, "{found:?}");
    assert!(figure.interval.unwrap().contains(times), "{found:?}");
}

#[test]
fn slower_phases_of_several_variants_are_counted_as_series() {
    // A phase of each gets slower, and not the other's.
    let course = |variant: &str, phase: &str, operation: f64| {
        let is_slower = (variant, phase) == ("a", "open") || (variant, phase) == ("b", "read");
        if is_slower { 1_000.0 + operation } else { 1_000.0 }
    };
    let mut all = Vec::new();
    for repeat in 1..=3 {
        for variant in ["a", "b"] {
            for phase in ["open", "read"] {
                let window = |n: u64| {
                    let noise = Noise::Spread(1).of(3, repeat, n);
                    let mean_ns = course(variant, phase, n as f64 * 100.0) * noise;
                    Window { first: n * 100, operations: 100, mean_ns, ..Window::default() }
                };
                let windows: Vec<Window> = (0..100).map(window).collect();
                let m = measured(variant, phase, None, repeat, 1.0);
                all.push(Measurement { operations: 10_000, windows, ..m });
            }
        }
    }
    let found = answer(&book(Conclusion::Growth, "Does it get slower?", all));
    assert!(found.text.contains("open and read"), "{found:?}");
    assert!(found.text.contains(" in 2 of 4 series"), "{found:?}");
}

#[test]
fn nothing_is_said_of_levels_between_which_one_was_not_compared() {
    let mut found = even_pair();
    for level in &mut found.levels {
        let (interval, winner) = (Some([1.8, 2.2].into()), Some("b".into()));
        *level = LevelWinner { ratio: 2.0, interval, winner, ..level.clone() };
    }
    found.uncompared = vec![found.levels.remove(1).value];
    let text = crossover::crossover(&[&found], &[]).unwrap().text;
    assert!(text.starts_with("at 1 KiB b is faster than a: "), "{text}");
    assert!(text.contains("; from 32 KiB on b is faster: "), "{text}");
    let sentence = found.sentence();
    let parts = ["at 1 KiB (2.00 times", "from 32 KiB to 128 KiB (2.00 to 2.00 times)"];
    assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");
}

/// The run, with reads for which the device had the same requests at all levels and was busy all the time.
fn on_device_itself(mut book: Book) -> Book {
    for m in book.measurements.iter_mut().filter(|m| m.phase == "read") {
        (m.device_reads, m.device_read_bytes) = (Some(1_000), Some(1 << 30));
        (m.device_writes, m.device_write_bytes) = (Some(0), Some(0));
        m.device_busy_seconds = Some(m.seconds);
    }
    book
}

#[test]
fn whether_files_slow_down_a_device_that_differs_for_the_same_requests_cannot_be_told() {
    let book = on_device_itself(clutter(-0.3, Noise::Spread(2), 1));
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    assert!(found.text.contains(" with 2,000,000 more files read is "), "{found:?}");
    assert!(found.text.contains(" faster ("), "{found:?}");
    let mut book = on_device_itself(clutter(0.3, Noise::Spread(2), 1));
    let found = answer(&book);
    assert!(found.text.contains("es: with 2,000,000 more files write is "), "{found:?}");
    let own = "but the device had the same requests: it may be the device itself.";
    assert!(found.evidence[0].ends_with(own), "{found:?}");
    book.measurements.iter_mut().filter(|m| m.phase == "write").for_each(fail);
    let found = answer(&book);
    assert_eq!(found.verdict, Verdict::CannotTell);
    assert!(found.text.contains(" with 2,000,000 more files read is "), "{found:?}");
    assert!(found.text.contains(&own[..own.len() - 1]), "{found:?}");
}
