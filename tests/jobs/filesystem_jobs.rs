//! File systems that a job file or the command line asks for: what they make of the variants, and
//! what is wrong with them, each with its line.
#![allow(missing_docs, clippy::panic, reason = "a test panics when it cannot continue")]

use crate::script::script;
use boatload::base::problem::Problem;
use boatload::plan::filesystem::{VolumeSize, fair_volume_size, mount_options, read_list};
use boatload::plan::{
    CellPlan, Conclusion, FileSystem, Plan, SCENARIOS, Settings, find_scenario, read_job,
};

/// A job with these keys at the top, and further tables or phases at the end.
fn job(top: &str, rest: &str) -> String {
    format!(
        "name = 'x'\n{top}\n[tree]\nfiles = 100\nsize = {{ uniform = {{ min = 1, max = 9000 }} }}\n\
         [[phase]]\noperation = 'create'\n[[phase]]\noperation = 'read'\norder = 'random'\n{rest}"
    )
}

const TWO_VARIANTS: &str = "[[variant]]\nname = 'aged'\n[[variant]]\nname = 'fresh'\n";

fn on(list: &str) -> Settings {
    let filesystems = read_list(list).unwrap_or_else(|error| panic!("{error}"));
    Settings { filesystems, memory_bytes: 1 << 33, ..Settings::default() }
}

#[track_caller]
fn plan(text: &str, settings: &Settings) -> Plan {
    read_job(text, settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
}

fn problems(text: &str, settings: &Settings) -> Vec<Problem> {
    read_job(text, settings).map_or_else(boatload::base::problem::Problems::sorted, |_| Vec::new())
}

#[track_caller]
fn one_problem(text: &str, settings: &Settings) -> Problem {
    let problems = problems(text, settings);
    let [problem] = problems.as_slice() else { panic!("{problems:#?}\n{text}") };
    problem.clone()
}

fn made(cell: &CellPlan) -> &FileSystem {
    cell.filesystem.as_ref().unwrap_or_else(|| panic!("nothing is made for {}", cell.variant))
}

#[test]
fn a_job_that_says_nothing_runs_on_what_is_there() {
    let plan = plan(&job("", TWO_VARIANTS), &Settings::default());
    assert!(plan.cells.iter().all(|cell| cell.filesystem.is_none()));
    assert_eq!(fair_volume_size(&plan, 0), None);
}

#[test]
fn a_file_system_at_the_top_is_made_for_all_variants_but_those_with_their_own() {
    let rest = "[[variant]]\nname = 'plain'\n[[variant]]\nname = 'old'\n\
                filesystem = { type = 'ext3', mkfs = ['-O', '^dir_index'], mount = 'noatime' }\n";
    let plan = plan(&job("filesystem = { type = 'xfs' }", rest), &Settings::default());
    let [plain, old] = plan.cells.as_slice() else { panic!("{} cells", plan.cells.len()) };
    assert_eq!((plain.variant.as_str(), made(plain).label().as_str()), ("plain", "xfs"));
    assert_eq!((old.variant.as_str(), made(old).kind.name), ("old", "ext3"));
    assert_eq!(made(old).mkfs, ["-O", "^dir_index"]);
    assert_eq!(made(old).mount, "noatime");
}

#[test]
fn a_job_without_variants_has_one_for_each_file_system() {
    let plan = plan(&job("", ""), &on("ext4,ext3:mkfs=-O ^dir_index,xfs:name=big"));
    assert_eq!(plan.variants(), ["ext4", "ext3 -O ^dir_index", "big"]);
    assert_eq!(plan.conclude, [Conclusion::Ranking]);
    assert_eq!(made(&plan.cells[2]).kind.name, "xfs");
}

#[test]
fn variants_are_done_on_each_file_system_one_file_system_after_the_other() {
    let plan = plan(&job("", TWO_VARIANTS), &on("xfs,ext4"));
    assert_eq!(plan.variants(), ["xfs/aged", "xfs/fresh", "ext4/aged", "ext4/fresh"]);
    for cell in &plan.cells {
        assert!(cell.variant.starts_with(made(cell).kind.name), "{}", cell.variant);
    }
}

#[test]
fn the_command_line_takes_the_place_of_the_file_system_at_the_top() {
    let plan = plan(&job("filesystem = { type = 'jfs' }", ""), &on("xfs"));
    assert_eq!(plan.variants(), ["xfs"]);
    assert_eq!(made(&plan.cells[0]).kind.name, "xfs");
    assert!(plan.conclude.is_empty(), "one alone is not ranked");
}

#[test]
fn what_needs_two_variants_has_them_with_two_file_systems() {
    let text = job("conclude = ['ranking']", "");
    assert_eq!(one_problem(&text, &on("ext4")).place, "conclude[1]");
    assert_eq!(plan(&text, &on("ext4,xfs")).conclude, [Conclusion::Ranking]);
}

#[test]
fn all_file_systems_get_the_same_files_and_operations() {
    let plan = plan(&job("", TWO_VARIANTS), &on("ext4,xfs,btrfs"));
    let lines = |cell: &CellPlan| script(cell, 0).collect::<Vec<_>>();
    for variant in [0, 1] {
        let first = &plan.cells[variant];
        for other in plan.cells.iter().skip(variant).step_by(2) {
            assert_eq!(other.tree, first.tree, "{}", other.variant);
            assert_eq!(lines(other), lines(first), "{}", other.variant);
            assert!((0..100).all(|n| other.tree.content_key(n, 0) == first.tree.content_key(n, 0)));
        }
    }
}

#[test]
fn every_scenario_on_files_can_be_done_on_several_file_systems() {
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name != "device") {
        let alone = plan(scenario.text, &Settings { memory_bytes: 1 << 33, ..Settings::default() });
        let both = plan(scenario.text, &on("ext4,xfs"));
        assert_eq!(both.cells.len(), 2 * alone.cells.len(), "{}", scenario.name);
        assert_eq!(both.job, alone.job, "{}", scenario.name);
        assert!(both.cells.iter().all(|cell| cell.filesystem.is_some()), "{}", scenario.name);
    }
}

#[test]
fn access_times_that_are_off_in_all_phases_are_off_in_the_mount() {
    let mount = |top: &str, rest: &str, list: &str| {
        let room = VolumeSize { bytes: 1 << 30, inodes: 1 };
        mount_options(made(&plan(&job(top, rest), &on(list)).cells[0]), &room)
    };
    let off = "";
    assert_eq!(mount(off, "", "ext4"), "noatime");
    assert_eq!(mount(off, "", "ext4:mount=data=journal"), "data=journal,noatime");
    for said in ["noatime", "strictatime", "relatime,data=journal"] {
        assert_eq!(mount(off, "", &format!("ext4:mount={said}")), said);
    }
    assert_eq!(mount(off, "", "ext4:mount=nodiratime"), "nodiratime,noatime");
    assert_eq!(mount("atime = 'as-mounted'", "", "ext4"), "");
    let but_one = "[[phase]]\nname = 'last'\noperation = 'read'\natime = 'as-mounted'\n";
    assert_eq!(mount(off, but_one, "ext4"), "", "one phase is to see access times");
}

#[test]
fn the_name_of_a_variant_stays_when_access_times_are_off() {
    let plan = plan(&job("atime = 'off'", ""), &on("ext4"));
    assert_eq!(plan.variants(), ["ext4"]);
}

#[test]
fn a_type_that_is_not_known_is_a_problem_with_its_line_and_the_nearest() {
    let problem = one_problem(&job("filesystem = { type = 'ext5' }", ""), &Settings::default());
    assert_eq!((problem.place.as_str(), problem.line), ("filesystem.type", Some(2)));
    assert!(
        problem.expected.contains("`btrfs`") && problem.expected.contains("`xfs`"),
        "{problem}"
    );
    assert!(problem.hint.is_some_and(|hint| hint.contains("did you mean `ext")));
}

#[test]
fn what_would_break_a_mkfs_or_a_mount_is_a_problem_with_its_line() {
    for (keys, place, expected) in [
        ("type = 'ext4', mkfs = ['-L', '']", "filesystem.mkfs[2]", "not empty"),
        ("type = 'ext4', mkfs = [\"a\\nb\"]", "filesystem.mkfs[1]", "on one line"),
        ("type = 'ext4', mkfs = [\"a\\u0000\"]", "filesystem.mkfs[1]", "on one line"),
        ("type = 'ext4', mkfs = ['/dev/sda']", "filesystem.mkfs[1]", "no path"),
        ("type = 'ext4', mkfs = ['-J', 'device=/dev/sda']", "filesystem.mkfs[2]", "no path"),
        ("type = 'ext4', mkfs = ['-qzundo']", "filesystem.mkfs[1]", "beyond the device"),
        ("type = 'btrfs', mkfs = ['keep.img']", "filesystem.mkfs[1]", "another device"),
        ("type = 'xfs', mkfs = ['-l', 'name=keep']", "filesystem.mkfs[2]", "another device"),
        ("type = 'xfs', mount = 'noatime,ro'", "filesystem.mount", "boatload writes to it"),
        ("type = 'ext4', mount = \"a\\nb\"", "filesystem.mount", "on one line"),
        ("type = 'tmpfs', mkfs = ['-q']", "filesystem.mkfs", "`mount`"),
        ("type = 'ext4', mkfs = '-q'", "filesystem.mkfs", "a list"),
        ("type = 'ext4', options = '-q'", "filesystem.options", "`mount`"),
        ("mount = 'noatime'", "filesystem.type", "`ext4`"),
    ] {
        let text = job(&format!("filesystem = {{ {keys} }}"), "");
        let problem = one_problem(&text, &Settings::default());
        assert_eq!((problem.place.as_str(), problem.line), (place, Some(2)), "{problem}");
        assert!(problem.expected.contains(expected), "{problem}");
    }
    let problem = one_problem(&job("", ""), &on("ext4:mkfs=-L /etc"));
    assert_eq!((problem.place.as_str(), problem.line), ("--filesystem mkfs[2]", None));
}

#[test]
fn the_simulation_and_the_device_have_nothing_made_for_them() {
    let sim = "engine = 'sim'\nfilesystem = { type = 'ext4' }";
    let problem = one_problem(&job(sim, ""), &Settings::default());
    assert_eq!((problem.place.as_str(), problem.line), ("filesystem", Some(3)), "{problem}");
    assert!(problem.hint.is_some_and(|hint| hint.contains("engine = \"sync\"")));
    let problem = one_problem(&job("engine = 'sim'", TWO_VARIANTS), &on("xfs"));
    assert_eq!((problem.place.as_str(), problem.line), ("--filesystem", None), "{problem}");
    let device =
        "name = 'x'\nfilesystem = { type = 'ext4' }\n[[phase]]\noperation = 'read-device'\n";
    let problem = one_problem(device, &Settings::default());
    assert_eq!((problem.place.as_str(), problem.line), ("filesystem", Some(2)), "{problem}");
    let scenario = find_scenario("device").map(|scenario| scenario.text).unwrap_or_default();
    assert_eq!(one_problem(scenario, &on("ext4,xfs")).place, "--filesystem");
}

#[test]
fn a_variant_with_its_own_file_system_cannot_be_done_on_others() {
    let rest =
        "[[variant]]\nname = 'old'\nfilesystem = { type = 'ext3' }\n[[variant]]\nname = 'new'\n";
    let problem = one_problem(&job("", rest), &on("ext4,xfs"));
    assert_eq!((problem.place.as_str(), problem.line), ("variant[1].filesystem", Some(13)));
    assert!(problem.found.contains("`old`"), "{problem}");
    assert!(problem.expected.contains("--filesystem"), "{problem}");
}

#[test]
fn the_same_file_system_twice_needs_names_to_be_told_apart() {
    let problem = one_problem(&job("", ""), &on("ext4:mkfs=-m 0,xfs,ext4:mkfs=-m 0"));
    assert_eq!((problem.place.as_str(), problem.line), ("--filesystem", None));
    assert!(problem.hint.is_some_and(|hint| hint.contains("other options")));
    let plan = plan(&job("", ""), &on("ext4:name=a,ext4:name=b"));
    assert_eq!(plan.variants(), ["a", "b"], "the same against itself");
}

#[test]
fn a_name_that_gets_too_long_asks_for_a_short_one() {
    let long = format!("ext4:mkfs=-O {}", "a".repeat(60));
    let problem = one_problem(&job("", ""), &on(&long));
    assert_eq!(problem.place, "--filesystem");
    assert!(problem.hint.is_some_and(|hint| hint.contains(":name=NAME")));
    assert!(problems(&job("", ""), &on(&format!("{long}:name=short"))).is_empty());
    let variant = format!("[[variant]]\nname = '{}'\n", "v".repeat(57));
    assert!(problems(&job("", &variant), &Settings::default()).is_empty());
    assert!(one_problem(&job("", &variant), &on("xfs,btrfs:name=b")).found.contains("61 bytes"));
    assert!(problems(&job("", &variant), &on("xfs")).is_empty(), "one has the variant's own name");
}

#[test]
fn variants_that_get_the_same_name_are_a_problem() {
    let rest = "[[variant]]\nname = 'b/c'\n[[variant]]\nname = 'c'\n";
    let problem = one_problem(&job("", rest), &on("ext4:name=a,xfs:name=a/b"));
    assert_eq!(problem.place, "--filesystem");
    assert!(problem.found.contains("`a/b/c`"), "{problem}");
}

#[test]
fn variants_are_counted_with_their_file_systems() {
    let variants =
        |n: usize| (0..n).map(|n| format!("[[variant]]\nname = 'v{n}'\n")).collect::<String>();
    assert!(problems(&job("", &variants(50)), &on("ext4,xfs")).is_empty());
    let problem = one_problem(&job("", &variants(51)), &on("ext4,xfs"));
    assert_eq!((problem.place.as_str(), problem.found.as_str()), ("variant", "102 variants"));
}

#[test]
fn nothing_of_a_plan_on_file_systems_that_are_made_is_done_in_place() {
    assert!(plan(&job("", TWO_VARIANTS), &on("ext4,xfs,btrfs")).in_place().cells.is_empty());
}
