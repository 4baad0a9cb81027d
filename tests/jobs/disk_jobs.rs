//! Modelled disks that a job file or the command line asks for: which file system lies on which, what
//! variants are called, and what is wrong with them, each with its line.
#![allow(
    missing_docs,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test panics when it cannot continue"
)]

use std::path::Path;

use boatload::base::problem::{Problem, Problems};
use boatload::plan::filesystem::{disk_named, fair_volume_size, read_list, written_at_most};
use boatload::plan::{Plan, Settings, read_job};

fn job(top: &str, rest: &str) -> String {
    format!(
        "name = 'x'\n{top}\n[tree]\nfiles = 100\nsize = 4_096\n[[phase]]\noperation = 'create'\n{rest}"
    )
}

/// `--filesystem` and `--disk`; neither where they are empty.
fn on(list: &str, disk: &str) -> Settings {
    let given = |text: &str| !text.is_empty();
    let filesystems = Some(list)
        .filter(|list| given(list))
        .map_or_else(Vec::new, |list| read_list(list).unwrap_or_else(|error| panic!("{error}")));
    let disk = Some(disk).filter(|disk| given(disk));
    let disk = disk.map(|disk| disk_named(disk, Path::new("")).unwrap_or_else(|p| panic!("{p}")));
    Settings { filesystems, disk, ..Settings::default() }
}

#[track_caller]
fn plan(text: &str, settings: &Settings) -> Plan {
    read_job(text, settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
}

#[track_caller]
fn one_problem(text: &str, settings: &Settings) -> Problem {
    let problems = read_job(text, settings).map_or_else(Problems::sorted, |_| Vec::new());
    let [problem] = problems.as_slice() else { panic!("{problems:#?}\n{text}") };
    problem.clone()
}

/// The disk of each cell's file system.
fn disks(plan: &Plan) -> Vec<Option<&str>> {
    let made = plan.cells.iter().map(|cell| cell.filesystem.as_ref());
    made.map(|made| Some(made?.disk.as_ref()?.name.as_str())).collect()
}

#[test]
fn a_disk_of_the_job_file_is_that_of_its_file_system() {
    let rest = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n\
                filesystem = { type = 'xfs', disk = 'nvme' }\n";
    let top = "filesystem = { type = 'ext4', disk = 'hdd-7200' }";
    let plan = plan(&job(top, rest), &Settings::default());
    assert_eq!(disks(&plan), [Some("hdd-7200"), Some("nvme")]);
    assert_eq!(plan.variants(), ["a", "b"], "variants of a job have names of their own");
}

#[test]
fn a_disk_for_all_is_that_of_those_without_one_wherever_they_are_asked_for() {
    let own = job("filesystem = { type = 'ext4' }", "");
    assert_eq!(disks(&plan(&own, &on("", "ram"))), [Some("ram")]);
    let listed = plan(&job("", ""), &on("ext4,xfs:disk=nvme", "ram"));
    assert_eq!(disks(&listed), [Some("ram"), Some("nvme")]);
}

#[test]
fn a_variant_is_named_by_its_disk_where_disks_differ_and_only_there() {
    let names = |list: &str, disk: &str| {
        let plan = plan(&job("", ""), &on(list, disk));
        plan.variants().into_iter().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(names("ext4,xfs", "hdd-7200"), ["ext4", "xfs"]);
    let both = names("ext4:disk=hdd-7200,ext4:disk=nvme", "");
    assert_eq!(both, ["ext4 hdd-7200", "ext4 nvme"]);
    assert_eq!(names("ext4,ext4:disk=nvme:name=fast", "ram"), ["ext4 ram", "fast"]);
    let twice = one_problem(&job("", ""), &on("ext4:disk=nvme,ext4", "nvme"));
    assert_eq!((twice.place.as_str(), twice.found.as_str()), ("--filesystem", "`ext4` twice"));
}

#[test]
fn a_disk_that_is_not_known_is_a_problem_with_its_line_and_the_nearest() {
    let top = "filesystem = { type = 'ext4', disk = 'hdd-7300' }";
    let problem = one_problem(&job(top, ""), &Settings::default());
    assert_eq!((problem.place.as_str(), problem.line), ("filesystem.disk", Some(2)), "{problem}");
    let hint = problem.hint.unwrap_or_default();
    assert!(hint.contains("`hdd-7200`") && hint.contains("`boatload disks`"), "{hint}");
}

#[test]
fn a_disk_in_a_file_begins_at_the_job_file() {
    let directory = tempfile::tempdir().unwrap();
    let text = &disk_named("sata-ssd", Path::new("")).unwrap().text;
    std::fs::write(directory.path().join("mine.toml"), text).unwrap();
    let top = "filesystem = { type = 'ext4', disk = 'mine.toml' }";
    let settings = Settings { directory: directory.path().into(), ..Settings::default() };
    assert_eq!(disks(&plan(&job(top, ""), &settings)), [Some("sata-ssd")]);
    let missing = one_problem(&job(top, ""), &Settings::default());
    assert_eq!((missing.place.as_str(), missing.line), ("filesystem.disk", Some(2)), "{missing}");
    std::fs::write(directory.path().join("mine.toml"), "nmae = 'x'\n").unwrap();
    let broken = one_problem(&job(top, ""), &settings);
    assert!(broken.found.contains("problem"), "{broken}");
}

#[test]
fn all_file_systems_of_a_job_lie_on_modelled_disks_or_none() {
    let rest = "[[variant]]\nname = 'a'\nfilesystem = { type = 'ext4', disk = 'ram' }\n\
                [[variant]]\nname = 'b'\nfilesystem = { type = 'xfs' }\n";
    let problem = one_problem(&job("", rest), &Settings::default());
    assert_eq!(problem.place, "variant[2].filesystem", "{problem}");
    assert!(problem.found.contains("`xfs`") && problem.found.contains("`ext4`"), "{problem}");
    let listed = one_problem(&job("", ""), &on("ext4:disk=ram,xfs", ""));
    assert_eq!((listed.place.as_str(), listed.line), ("--filesystem", None), "{listed}");
    assert!(listed.hint.is_some_and(|hint| hint.contains("--disk")));
}

#[test]
fn what_lies_in_memory_has_no_disk() {
    for (text, settings, place) in [
        (job("filesystem = { type = 'tmpfs', disk = 'ram' }", ""), on("", ""), "filesystem.disk"),
        (job("filesystem = { type = 'tmpfs' }", ""), on("", "ram"), "filesystem.disk"),
        (job("", ""), on("ext4,tmpfs", "ram"), "--filesystem disk"),
    ] {
        let problem = one_problem(&text, &settings);
        assert_eq!(problem.place, place, "{problem}");
        assert!(problem.found.contains("`tmpfs`"), "{problem}");
    }
}

#[test]
fn a_disk_for_a_job_that_makes_no_file_system_is_told_with_the_next_command() {
    for text in [job("", ""), job("engine = 'sim'", "")] {
        let problem = one_problem(&text, &on("", "hdd-7200"));
        assert_eq!((problem.place.as_str(), problem.line), ("--disk", None), "{problem}");
        let hint = problem.hint.unwrap_or_default();
        assert!(
            hint.contains("boatload run smallfiles --disk hdd-7200 --filesystem ext4"),
            "{hint}"
        );
    }
}

#[test]
fn an_image_that_is_as_large_as_fair_takes_no_more_than_what_is_written() {
    let plan = plan(&job("", ""), &on("ext4", "ram"));
    let fair = fair_volume_size(&plan, u64::MAX).unwrap();
    assert_eq!((fair.bytes, written_at_most(&plan, &fair)), (10 << 30, 1 << 30));
}
