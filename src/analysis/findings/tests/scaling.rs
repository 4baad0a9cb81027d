use super::*;
use crate::analysis::findings::scaling::ScalingFinding;

const FILES: [f64; 4] = [1e3, 1e4, 1e5, 1e6];

/// Two phases over the levels, with seconds for 1,000 operations by a law each and so much noise.
fn over(
    laws: [fn(f64) -> f64; 2],
    repeats: u32,
    spread: f64,
    noise: &mut Noise,
) -> Vec<Measurement> {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        for files in FILES {
            for (phase, law) in ["stat", "delete"].into_iter().zip(laws) {
                let at = Some(level("file-count", files, Unit::Count));
                let seconds = law(files) * (spread * noise.normal()).exp();
                let m = measured("a", at, repeat, seconds);
                all.push(Measurement { phase: phase.into(), operation: phase.into(), ..m });
            }
        }
    }
    all
}

fn scaling(all: Vec<Measurement>) -> Finding {
    only(&book(all), Conclusion::Scaling, &["a"])
}

const FLAT: fn(f64) -> f64 = |_| 1.0;
const STEEP: fn(f64) -> f64 = |files| 1.0 + files / 1e4;
const RISING: fn(f64) -> f64 = |files| 1.0 + files / 4e5;

#[test]
fn the_sentence_says_how_far_nothing_is_slower_and_what_is_beyond() {
    let of = |laws, repeats, spread| scaling(over(laws, repeats, spread, &mut Noise::new(1)));
    assert_eq!(
        of([FLAT, FLAT], 3, 0.001).sentence(),
        "a: up to 1,000,000 files nothing takes more than 10% longer than with 1,000 files."
    );
    let rising = of([FLAT, RISING], 3, 0.001);
    assert_eq!(figures(&rising)["phases"][1]["slower_from"], 1e5);
    assert_eq!(
        rising.sentence(),
        "a: up to 10,000 files nothing takes more than 10% longer than with 1,000 files; delete does from \
         100,000 on (3.49 times with 1,000,000 files, 3.46 to 3.53)."
    );
    let steep = of([FLAT, STEEP], 3, 0.001).sentence();
    assert!(
        steep.starts_with(
            "a: delete takes more than 10% longer than with 1,000 files from 10,000 on ("
        ) && steep.ends_with("; up to 1,000,000 files at most 10% longer: stat."),
        "{steep}"
    );
    let noisy = of([FLAT, RISING], 3, 0.2).sentence();
    assert!(noisy.contains("; cannot tell for stat (0."), "{noisy}");
    assert_eq!(
        of([FLAT, RISING], 1, 0.0).sentence(),
        "a: cannot tell from where on anything takes more than 10% longer than with 1,000 files: stat and \
         delete."
    );
    let near = of([FLAT, |files| if files < 1e5 { 1.0 } else { 1.1 }], 3, 0.01).sentence();
    assert!(near.contains("; delete takes longer from 100,000 on (1."), "{near}");
}

/// Whether a finding says what the true ratios of the two phases contradict.
fn is_false(found: &ScalingFinding, truth: [[f64; 3]; 2]) -> bool {
    let levels = || FILES[1..].iter().enumerate();
    found.phases.iter().zip(truth).any(|(phase, ratios)| {
        let within = |up_to: f64| levels().all(|(at, files)| *files > up_to || ratios[at] <= 1.1);
        let longer = |from: f64| levels().all(|(at, files)| *files < from || ratios[at] > 1.0);
        let slower = |from: f64| levels().all(|(at, files)| *files < from || ratios[at] > 1.1);
        phase.up_to.is_some_and(|up_to| !within(up_to))
            || phase.slower_from.is_some_and(|from| !slower(from))
            || phase.longer_from.is_some_and(|from| !longer(from))
    })
}

/// Many lie close to the margin, on either side, where a claim is easily false. Levels rise and fall.
#[test]
fn at_most_one_in_twenty_random_tables_is_told_what_it_contradicts() {
    const RATIOS: [f64; 7] = [0.8, 1.0, 1.09, 1.0999, 1.1001, 1.11, 1.5];
    let mut wrong = 0;
    for seed in 0..2_000 {
        let mut noise = Noise::new(seed);
        let mut ratio = || RATIOS[(noise.uniform() * RATIOS.len() as f64) as usize];
        let truth = [(); 2].map(|()| [(); 3].map(|()| ratio()));
        let spread = 0.003 + 0.1 * noise.uniform();
        let repeats = 3 + (seed % 3) as u32;
        let mut all = over([FLAT, FLAT], repeats, spread, &mut noise);
        for m in &mut all {
            let phase = usize::from(m.phase == "delete");
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            let at = FILES[1..].iter().position(|level| *level == files);
            m.seconds *= at.map_or(1.0, |at| truth[phase][at]);
        }
        let Finding::Scaling(found) = scaling(all) else { panic!("seed {seed}") };
        wrong += u32::from(is_false(&found, truth));
    }
    assert!(wrong <= 100, "{wrong} of 2,000 tables are told what is false");
}

/// In one directory, and in forty, each of which lists `.` and `..` too.
#[test]
fn a_listing_is_counted_by_its_entries() {
    for directories in [1, 40] {
        let mut all = over([FLAT, FLAT], 3, 0.001, &mut Noise::new(3));
        all.retain(|m| m.phase == "stat");
        for m in &mut all {
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            (m.phase, m.operation, m.operations) = ("list".into(), "list".into(), directories);
            (m.bytes, m.seconds) = (48 * directories + 32 * files as u64, m.seconds * files * 1e-6);
        }
        let found = scaling(all);
        assert_eq!(
            found.sentence(),
            "a: up to 1,000,000 files nothing takes more than 10% longer than with 1,000 files."
        );
        let farthest = figures(&found)["phases"][0]["levels"][2]["ratio"].as_f64().unwrap();
        assert!((farthest - 1.0).abs() < 0.005, "{farthest} with {directories} directories");
    }
}

#[test]
fn what_is_counted_is_what_tables_count() {
    let of = |bytes: fn(f64) -> u64| {
        let mut all = over([FLAT, FLAT], 3, 0.001, &mut Noise::new(1));
        for m in &mut all {
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            m.bytes = m.operations * bytes(files);
        }
        scaling(all).sentence()
    };
    // As many operations a second, of which tables count bytes only where each moves many at all levels.
    let same = "a: up to 1,000,000 files nothing takes more than 10% longer than with 1,000 files.";
    assert_eq!(of(|files| files as u64 * 1_024), same);
    let fewer = of(|files| (1 << 40) / files as u64);
    assert!(fewer.contains("stat takes more than 10% longer"), "{fewer}");
}

#[test]
fn a_phase_with_windows_or_without_some_level_is_left_out_and_named() {
    let mut all = over([FLAT, STEEP], 3, 0.001, &mut Noise::new(4));
    for m in all.iter_mut().filter(|m| m.phase == "delete") {
        m.windows = vec![Window::default()];
    }
    let expected = "a: apart from delete, up to 1,000,000 files nothing takes more than 10% longer than \
                    with 1,000 files.";
    assert_eq!(scaling(all).sentence(), expected);
    let mut all = over([FLAT, FLAT], 3, 0.001, &mut Noise::new(4));
    let of_delete = all.iter_mut().filter(|m| m.phase == "delete");
    of_delete.for_each(|m| m.invalid = vec!["EIO x 1".into()]);
    assert_eq!(scaling(all).sentence(), expected, "nothing of it is valid");
    for missing in FILES {
        let mut all = over([FLAT, FLAT], 3, 0.001, &mut Noise::new(4));
        let is_missing = |m: &Measurement| {
            m.phase == "delete" && m.cell.level.as_ref().is_some_and(|level| level.value == missing)
        };
        all.retain(|m| !is_missing(m));
        assert_eq!(scaling(all).sentence(), expected, "without {missing}");
    }
}
