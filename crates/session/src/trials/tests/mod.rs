mod simulated;

use super::*;
use boatload_analysis::effects::decide::Decision;
use boatload_plan::filesystem::Volume;
use boatload_plan::{Settings, read_job};

/// Two variants with these times of an operation and with noise, on the simulated file system.
fn job(one: &str, other: &str) -> String {
    let variant = |name: &str, time: &str| {
        format!("[[variant]]\nname = '{name}'\nsim = {{ metadata = '{time}', noise = 'skewed' }}\n")
    };
    let (one, other) = (variant("one", one), variant("other", other));
    format!(
        "name = 'two'\nengine = 'sim'\nrepeats = 3\nconclude = ['ranking']\n{one}{other}[tree]\nfiles = 500\n\
         [[phase]]\noperation = 'create'\n"
    )
}

fn order(plan: &Plan) -> RunOrder<'_> {
    RunOrder {
        plan,
        directory: std::env::temp_dir(),
        command: "a test".into(),
        fill_real: false,
        place: Volume::default(),
        tag: None,
        group: None,
    }
}

#[test]
fn simulated_twins_are_told_apart_in_few_runs_though_none_is_like_the_other() {
    let plan = read_job(&job("20us", "30us"), &Settings::default()).unwrap();
    let begun = std::cell::Cell::new(0);
    let begins = |at| begun.set(at);
    let found = twins(&order(&plan), 200, &begins, &Interrupt::default()).unwrap();
    assert_eq!((found.runs, begun.get(), found.kinds.len()), (200, 200, 1));
    let ranking = &found.kinds[0];
    assert_eq!(ranking.runs.of, 200);
    // One in twenty, and chance.
    assert!(ranking.runs.times <= 18, "{ranking:?}");
    // That one and other differ is found.
    assert!(ranking.claims >= 175, "{ranking:?}");
    assert_eq!(found.kinds_above(0.05), [""; 0]);
}

#[test]
fn a_difference_planted_between_simulated_twins_is_found_the_right_way_round() {
    let plan = read_job(&job("20us", "25us"), &Settings::default()).unwrap();
    let pairs = [["one".to_string(), "other".to_string()]];
    let mut trials = TwinTrials::default();
    let mut found = Vec::new();
    let mut add = |book: &Book| {
        let analysis = Analysis::of(book);
        trials.add(analysis.findings(), &pairs);
        found.extend(analysis.effects().map(|effect| {
            let is_other = effect.to.variant.as_deref() == Some("other");
            let seen = effect.headline();
            if is_other { seen.decision } else { seen.reversed().decision }
        }));
    };
    let interrupt = Interrupt::default();
    each_run(&order(&plan), &plan, 20, &|_| (), &interrupt, &mut add).unwrap();
    let longer = found.iter().filter(|decision| **decision == Decision::Longer).count();
    assert!(found.len() == 20 && longer >= 18, "{found:?}");
    assert!(!found.contains(&Decision::Shorter), "{found:?}");
    assert!(!trials.kinds_above(0.05).is_empty());
}

#[test]
fn twins_stand_beside_each_other_under_names_that_no_variant_has() {
    let text = job("20us", "25us").replace("'other'", "'one-again'");
    let plan = read_job(&text, &Settings::default()).unwrap();
    let (both, pairs) = with_twins(&plan, &plan.variants(), "-again", 0.0);
    let names = ["one", "one-again-again", "one-again", "one-again-again-again"];
    assert_eq!(both.variants(), names);
    assert_eq!(pairs, [[names[0], names[1]], [names[2], names[3]]]);
    let (one, pairs) = with_twins(&plan, &["one"], "-slowed", 0.2);
    assert_eq!((one.variants(), pairs.len()), (vec!["one", "one-slowed", "one-again"], 1));
    assert!(both.cells.iter().all(|cell| cell.delay == 0.0));
}
