//! What programs share: a version, colours, defaults from the environment, documents.

use crate::command::{Bench, Ran, SMALL};

#[test]
fn alone_it_shows_how_to_begin_and_is_wrong_usage() {
    let bench = Bench::default();
    let ran = Ran::of(&mut bench.bare());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    for command in
        ["  boatload run\n", "  sudo boatload run --filesystem", "  sudo boatload trace --"]
    {
        assert!(ran.stderr.contains(command), "no `{command}` in {}", ran.stderr);
    }
    assert!(
        ran.stderr.lines().count() <= 14 && ran.stderr.contains("boatload -h"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_verbose_version_has_what_the_build_can_do() {
    let bench = Bench::default();
    for words in [["--version", "--verbose"], ["--verbose", "-V"]] {
        let ran = Ran::of(bench.bare().args(words));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for line in ["boatload ", "target", "features", "engines       sync", "SQLite        3."] {
            assert!(ran.stdout.lines().any(|one| one.starts_with(line)), "{line}: {}", ran.stdout);
        }
    }
    assert_eq!(Ran::of(bench.bare().arg("--verbose")).code, Some(2));
}

#[test]
fn an_option_or_the_environment_says_whether_there_are_colours() {
    let bench = Bench::default();
    let has_colours = |words: &[&str], environment: &[(&str, &str)]| {
        let mut command = bench.bare();
        let ran = Ran::of(command.args(words).envs(environment.iter().copied()));
        format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}')
    };
    let (forced, none) = (("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1"));
    for wrong in [["run", "--no-such"], ["run", "-h"]] {
        assert!(!has_colours(&wrong, &[]), "a pipe");
        assert!(has_colours(&wrong, &[forced]));
        assert!(!has_colours(&wrong, &[forced, none]));
        let with = |when| [wrong[0], wrong[1], "--color", when];
        let before = |when| ["--color", when, wrong[0], wrong[1]];
        assert!(
            has_colours(&before("always"), &[none]) && !has_colours(&before("never"), &[forced])
        );
        assert!(has_colours(&with("always"), &[]), "{wrong:?}");
    }
    assert_eq!(Ran::of(bench.bare().args(["runs", "--color", "sometimes"])).code, Some(2));
}

#[test]
fn the_environment_names_a_store_and_a_directory() {
    let bench = Bench::default();
    let named = |words: &[&str]| {
        let mut command = bench.bare();
        command
            .args(words)
            .env("BOATLOAD_STORE", bench.store())
            .env("BOATLOAD_DIR", bench.beside(""));
        command
    };
    let run = Ran::of(named(&SMALL).args(["--color", "never"]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let command = bench.run(["show", "last", "--json", "-"]).json()["run"]["command"].clone();
    let command = command.as_str().unwrap();
    assert!(command.contains("--dir") && command.contains("elsewhere"), "{command}");
    let inspected =
        Ran::of(named(&["inspect", "--json", "-"]).env("BOATLOAD_DIR", bench.work())).json();
    assert_eq!(inspected["directory"], bench.work().to_str().unwrap());
    // What is typed comes first.
    let elsewhere = Ran::of(named(&["runs", "--store"]).arg(bench.beside("other.db")));
    assert!(elsewhere.stdout.starts_with("No runs yet"), "{}", elsewhere.stdout);
}

#[test]
fn plans_lists_and_facts_are_documents_too() {
    let bench = Bench::default();
    bench.small_run();
    let plan = bench.run(["plan", "directory", "--json", "-"]).json();
    assert_eq!((&plan["format"], &plan["version"]), (&"boatload-plan".into(), &1.into()));
    assert_eq!(plan["variants"].as_array().unwrap().len(), 3, "{plan}");
    assert!(plan["need"]["bytes"].as_u64().unwrap() > 0 && plan["obstacle"].is_null(), "{plan}");
    let lacking = bench.run([
        "plan", "--set", "files=1M", "--set", "size_min=1GiB", "--set", "size_max=1GiB", "--json",
        "-",
    ]);
    assert_eq!(lacking.code, Some(1), "{}", lacking.stderr);
    assert!(lacking.json()["obstacle"].is_string());

    let runs = bench.run(["runs", "--json", "-"]).json();
    assert_eq!(runs["format"], "boatload-runs");
    assert_eq!(runs["runs"][0]["run"]["id"], bench.last_id().as_str());
    let facts = Ran::of(bench.bare().args(["inspect", "--json", "-"])).json();
    assert_eq!(facts["format"], "boatload-inspect");
    assert!(facts["host"]["kernel"].is_string(), "{facts}");
    let file = bench.beside("plan.json");
    let both = bench.run(["plan", "--json", file.to_str().unwrap()]);
    assert!(both.stdout.contains("smallfiles") && file.exists(), "{}", both.stdout);
}
