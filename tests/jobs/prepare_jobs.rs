//! Mistakes in what prepares a place for its levels, and in what findings are asked for: each is one
//! problem, with its line.
#![allow(missing_docs, clippy::panic, reason = "a test panics when it cannot continue")]

use boatload::base::problem::Problem;
use boatload::plan::{Settings, find_scenario, read_job};

fn problems_of(text: &str, settings: &Settings) -> Vec<Problem> {
    match read_job(text, settings) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.sorted(),
    }
}

/// A job whose place is prepared: levels, how, and further phases after a `create`.
fn prepared(levels: &str, prepare: &str, phases: &str) -> String {
    format!(
        "name = 'x'\n[tree]\nfiles = 100\n[axis]\nname = 'a'\nvalues = {levels}\n\
         prepare = {prepare}\n[[phase]]\noperation = 'create'\n{phases}"
    )
}

/// The same where a variant prepares it.
fn of_variant(levels: &str, prepare: &str) -> String {
    format!(
        "name = 'x'\n[tree]\nfiles = 100\n[axis]\nname = 'a'\nvalues = {levels}\n\
         [[variant]]\nname = 'v'\nprepare = {prepare}\n[[phase]]\noperation = 'create'\n"
    )
}

const PERCENTS: &str = "['30%', '60%']";
const COUNTS: &str = "[10, 20]";
const FILL: &str = "{ fill = { sizes = 8 } }";
const AGE: &str = "{ age = { sizes = 8 } }";

/// A file, the place of its mistake, its line, and a part of what is expected there.
type Mistake = (String, &'static str, usize, &'static str);

#[track_caller]
fn one_problem_each(mistakes: Vec<Mistake>) {
    for (text, place, line, expected) in mistakes {
        let problems = problems_of(&text, &Settings::default());
        let [problem] = problems.as_slice() else { panic!("{problems:#?}\n{text}") };
        assert_eq!(
            (problem.place.as_str(), problem.line),
            (place, Some(line)),
            "{problem}\n{text}"
        );
        assert!(problem.expected.contains(expected), "{problem}\n{text}");
        assert!(!problem.found.is_empty(), "{problem}\n{text}");
    }
}

#[test]
fn what_is_right_has_no_problem() {
    for text in [
        prepared(PERCENTS, FILL, ""),
        prepared(COUNTS, FILL, "[[phase]]\noperation = 'read'\non = 'ballast'\ncount = 5\n"),
        prepared("[30, 60]", AGE, ""),
        prepared("[30, 60]", "{ age = { sizes = 8, emptied = true, delete_every = 3 } }", ""),
        of_variant(
            COUNTS,
            "{ fill = { sizes = 8, files_each = { uniform = { min = 0, max = 9 } } } }",
        ),
        of_variant(PERCENTS, AGE),
    ] {
        assert_eq!(problems_of(&text, &Settings::default()), [], "{text}");
    }
}

#[test]
fn mistakes_in_prepare_are_one_problem_each() {
    let axis = |prepare: &str| prepared(PERCENTS, prepare, "");
    one_problem_each(vec![
        (axis("{ fil = { sizes = 8 } }"), "axis.prepare.fil", 7, "`fill`"),
        (axis("{ fill = { } }"), "axis.prepare.fill.sizes", 7, "a number"),
        (axis("{ fill = { size = 8, sizes = 8 } }"), "axis.prepare.fill.size", 7, "`sizes`"),
        (axis("{ fill = { sizes = '3%' } }"), "axis.prepare.fill.sizes", 7, "bytes"),
        (
            axis("{ fill = { sizes = 8, emptied = true } }"),
            "axis.prepare.fill.emptied",
            7,
            "`files_each`",
        ),
        (axis("{ age = { sizes = 8, emptied = 3 } }"), "axis.prepare.age.emptied", 7, "true"),
        (
            axis("{ age = { sizes = 8, delete_every = 0 } }"),
            "axis.prepare.age.delete_every",
            7,
            "from 1",
        ),
        (
            axis("{ fill = { sizes = 8, files_each = 0 } }"),
            "axis.prepare.fill.files_each",
            7,
            "from 1",
        ),
        (
            axis("{ fill = { sizes = 8, files_each = { uniform = { min = 9, max = 3 } } } }"),
            "axis.prepare.fill.files_each.uniform.max",
            7,
            "9",
        ),
        (
            axis("{ fill = { sizes = { uniform = { min = 0, max = 90, step = 0 } } } }"),
            "axis.prepare.fill.sizes.uniform.step",
            7,
            "1",
        ),
        (axis("{ fill = { sizes = 8, threads = 0 } }"), "axis.prepare.fill.threads", 7, "from 1"),
    ]);
}

#[test]
fn mistakes_in_levels_that_are_prepared_are_one_problem_each() {
    let alone = "name = 'x'\nprepare = { fill = { sizes = 8 } }\n[tree]\nfiles = 100\n\
                 [[phase]]\noperation = 'create'\n";
    let without_axis = format!(
        "name = 'x'\n[tree]\nfiles = 1\n[[variant]]\nname = 'v'\nprepare = {FILL}\n\
         [[phase]]\noperation = 'create'\n"
    );
    one_problem_each(vec![
        (alone.into(), "prepare", 2, "`repeats`"),
        (without_axis, "variant[1].prepare", 6, "an `[axis]`"),
        (prepared("['60%', '30%']", FILL, ""), "axis.values[2]", 6, "more than 60%"),
        (of_variant("['60%', '30%']", FILL), "axis.values[2]", 6, "more than 60%"),
        (of_variant("[30, 90, 60]", AGE), "axis.values[3]", 6, "more than 90%"),
        (prepared("[10, 200_000]", AGE, ""), "axis.prepare.age", 7, "percents"),
        (prepared("['1KiB', '2KiB']", FILL, ""), "axis.prepare.fill", 7, "counts of files"),
        (prepared("['30%', '101%']", FILL, ""), "axis.prepare.fill", 7, "percents of the space"),
    ]);
}

#[test]
fn mistakes_in_phases_on_the_ballast_are_one_problem_each() {
    let on = |operation: &str, on: &str| {
        let phase = format!("[[phase]]\nname = 'b'\noperation = '{operation}'\non = '{on}'\n");
        prepared(COUNTS, FILL, &phase)
    };
    let nothing = "name = 'x'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n\
                   [[phase]]\noperation = 'read'\non = 'ballast'\n";
    one_problem_each(vec![
        (on("read", "balast"), "phase[2].on", 13, "`ballast`"),
        (on("delete", "ballast"), "phase[2].on", 13, "only looks at files"),
        (nothing.into(), "phase[2].on", 8, "`prepare`"),
    ]);
}

#[test]
fn mistakes_in_multiples_of_the_memory_and_in_conclusions_are_one_problem_each() {
    let size = |size: &str| {
        format!("name = 'x'\n[tree]\nfiles = 1\nsize = {size}\n[[phase]]\noperation = 'create'\n")
    };
    let asks = |what: &str| {
        format!(
            "name = 'x'\nconclude = [{what}]\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n"
        )
    };
    one_problem_each(vec![
        (size("'2x memory'"), "tree.size", 4, "a quantity"),
        (size("'2x memories'"), "tree.size", 4, "a quantity"),
        (size("'-1x memory'"), "tree.size", 4, "a quantity"),
        (asks("'grwth'"), "conclude[1]", 2, "`growth`"),
        (asks("'source', 'growth'"), "conclude[2]", 2, "`windows`"),
        (asks("'levels'"), "conclude[1]", 2, "an `[axis]`"),
        (asks("'crossing'"), "conclude[1]", 2, "an `[axis]` and two variants"),
        (asks("'ranking'"), "conclude[1]", 2, "two variants"),
    ]);
}

#[test]
fn levels_that_go_down_by_the_command_line_are_a_problem_of_fullness_and_of_clutter() {
    for (scenario, key, value) in
        [("fullness", "levels", "60,30"), ("clutter", "files_present", "10,0")]
    {
        let text = find_scenario(scenario).map_or("", |scenario| scenario.text);
        let set = vec![(key.to_string(), value.to_string())];
        let problems = problems_of(text, &Settings { set, ..Settings::default() });
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].expected.contains("goes up"), "{problems:#?}");
    }
}
