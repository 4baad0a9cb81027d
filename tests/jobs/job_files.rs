//! Job files as users write them, right and wrong.

#![allow(clippy::panic, clippy::expect_used, reason = "a test panics when it cannot continue")]

use crate::script::script;
use boatload::base::problem::{Problem, Problems};
use boatload::base::random::{Stream, below, draw};
use boatload::op::{Durability, ItemId};
use boatload::plan::repetition::{Repetition, TimeLimit};
use boatload::plan::selection::Order;
use boatload::plan::space::Need;
use boatload::plan::tree::{Content, DirectoryLayout, LognormalSizes, Placement, Sizes};
use boatload::plan::{
    CacheAsked, EngineName, Plan, SCENARIOS, Scale, Settings, find_scenario, job_schema, read_job,
};

const RICH: &str = r#"
name = "rich"
question = "Does everything work?"
repeats = { quick = 2, standard = "$many", original = 1 }
seed = 7
threads = 2
cache = "warm"
durability = "fsync"
[parameters]
many = 5
files = { quick = 100, standard = 1_000, original = "1M" }
levels = [10, 20]
[tree]
files = "$files"
directories = { fan_out = 2, depth = 2 }
placement = "stripe"
size = { exponential = { min = "1KiB", max = "64KiB", k = 10 } }
content = { compressible = "50%" }
trees = "own"
[[variant]]
name = "first"
[[variant]]
name = "second"
threads = 3
engine = "sim"
atime = "as-mounted"
tree = { files = 200, directories = 4, size = 0 }
[axis]
name = "chosen"
values = "$levels"
[[phase]]
operation = "create"
windows = 4
[[phase]]
operation = "rename"
count = "$chosen"
order = "random"
[[phase]]
operation = "overwrite"
passes = 2
block = "4KiB"
cache = "cold"
[[phase]]
operation = "mkdir"
count = 8
[[phase]]
operation = "list"
[[phase]]
operation = "find"
[[phase]]
operation = "rmdir"
count = 4
[[phase]]
operation = "delete"
count = "$chosen"
[[phase]]
name = "delete-rest"
operation = "delete"
durability = "syncfs"
[sim]
metadata = "5us"
transfer = "2us"
cold = "1ms"
directory = "logarithmic"
directory_cost = "1us"
noise = "bimodal"
drift = "3%"
stall = { every = 1_000, time = "50ms" }
capacity = "1GiB"
knee = { at = "80%", factor = 3 }
fault = { operation = 5, outcome = "ENOSPC" }
"#;

fn plan_of(text: &str) -> Plan {
    read_job(text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("the file")))
}

fn problems_with(text: &str, settings: &Settings) -> Vec<Problem> {
    match read_job(text, settings) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.sorted(),
    }
}

fn problems_of(text: &str) -> Vec<Problem> {
    problems_with(text, &Settings::default())
}

fn set(pairs: &[(&str, &str)]) -> Settings {
    let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Settings { set, ..Settings::default() }
}

fn chunks() -> &'static str {
    find_scenario("chunks").expect("chunks is built in").text
}

fn smallfiles() -> &'static str {
    find_scenario("smallfiles").expect("smallfiles is built in").text
}

/// A job file with a tree of 100 files and these phases.
fn with_phases(phases: &str) -> String {
    format!("name = \"x\"\n[tree]\nfiles = 100\n{phases}")
}

fn phase(operation: &str, rest: &str) -> String {
    format!("[[phase]]\noperation = \"{operation}\"\n{rest}\n")
}

#[test]
fn smallfiles_asks_what_its_document_asked() {
    for (scale, files, selected) in [
        (Scale::Quick, 10_000, 1_000),
        (Scale::Standard, 100_000, 10_000),
        (Scale::Original, 300_000, 30_000),
    ] {
        let plan = read_job(smallfiles(), &Settings { scale, ..Settings::default() });
        let plan = plan.unwrap_or_else(|p| panic!("{}", p.report("smallfiles")));
        let [cell] = plan.cells.as_slice() else { panic!("one variant without an axis") };
        let until_decided = Repetition::UntilDecided(TimeLimit::DEFAULT);
        assert_eq!((&*cell.variant, cell.level, plan.repeats), ("default", None, until_decided));
        let named: Vec<_> =
            cell.phases.iter().map(|p| (p.name.as_str(), p.selection.count)).collect();
        assert_eq!(
            named,
            [
                ("create", files),
                ("rewrite", selected),
                ("read-sequential", selected),
                ("read-random", selected),
                ("delete", files),
                ("create-typical", selected),
                ("read-typical", selected),
                ("delete-typical", selected)
            ]
        );
        assert!(cell.phases.iter().all(|p| p.cache == CacheAsked::Cold));
        let synced = cell.phases.iter().filter(|p| p.durability == Durability::Syncfs);
        let synced: Vec<_> = synced.map(|p| p.name.as_str()).collect();
        let changing = ["create", "rewrite", "delete", "create-typical", "delete-typical"];
        assert_eq!(synced, changing);
        assert_eq!(cell.tree.sizes, Sizes::Uniform { min: 512, max: 1536, step: 1 });
        let after: Vec<_> = cell.phases.iter().map(|p| p.entries_after).collect();
        assert_eq!(after, [files, files, files, files, 0, selected, selected, 0]);
        let typical = Sizes::Lognormal(LognormalSizes::new(9.48, 2.46, 0, 1 << 20));
        assert_eq!(cell.phases[5].sizes(&cell.tree), typical);
        assert_eq!(cell.phases[6].sizes(&cell.tree), typical, "as they were written");
        assert_eq!(cell.phases[3].sizes(&cell.tree), cell.tree.sizes);
    }
}

#[test]
fn a_phase_may_write_sizes_of_its_own() {
    let own = "size = { uniform = { min = 5, max = 9 } }";
    let text = with_phases(
        &[
            phase("create", "count = 50"),
            phase("rewrite", &format!("count = 10\n{own}")),
            phase("append", "size = 1000"),
            phase("delete", ""),
            phase("create", &format!("name = \"again\"\n{own}")),
        ]
        .concat(),
    );
    let plan = plan_of(&text);
    let cell = &plan.cells[0];
    let size =
        |phase: usize, number: u64| cell.phases[phase].targets(&cell.tree).target(number).size;
    assert!((0..10).all(|number| (5..=9).contains(&size(1, number))));
    assert_eq!((size(0, 3), size(2, 3)), (0, 1000));
    let before = |number| cell.phases[3].state_before(&cell.tree, number).size;
    assert!((1005..=1009).contains(&before(3)) && before(20) == 1000);
    let again = &cell.phases[4];
    assert_eq!((again.selection.first, again.selection.count), (0, 100), "there is room again");
    assert!((0..100).all(|number| (5..=9).contains(&size(4, number))));
    assert_eq!(again.targets(&cell.tree).target(3).version, 3, "its content is new");
}

#[test]
fn sizes_of_a_phase_are_for_operations_that_give_files_a_size() {
    for (rest, expected) in [
        ("operation = \"stat\"\nsize = 5", "phase[2].size: found `size` for `stat`, expected it"),
        ("operation = \"rewrite\"\nsize = \"5us\"", "phase[2].size: found 5us, expected whole"),
        ("operation = \"append\"\nsize = \"8192TiB\"", "phase[2].size: found 100 files of up to"),
        ("operation = \"read\"\ndirect = true", "phase[2].direct: found direct I/O of files of"),
    ] {
        let text = with_phases(&format!(
            "[[phase]]\noperation = \"create\"\nsize = 100\n[[phase]]\n{rest}\n"
        ));
        let problems = problems_of(&text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().contains(expected), "{}", problems[0]);
    }
}

#[test]
fn each_slip_in_a_lognormal_law_is_one_problem() {
    for (law, expected) in [
        ("mu = 9, sigma = 1, min = 0", "lognormal.max: found nothing"),
        ("mu = 37, sigma = 1, min = 0, max = 9", "mu: found 37, expected a number from 0 to 36"),
        ("mu = 9, sigma = 0, min = 0, max = 9", "sigma: found 0, expected a number from 0.01"),
        ("mu = 9, sigma = 1, min = 9, max = 8", "max: found 8 B, expected at least 9 B"),
        ("mu = 9, sigma = 1, min = 0, max = 9", "a range that 1% of the law lies in"),
    ] {
        let text = format!(
            "name = \"x\"\n[tree]\nfiles = 9\nsize = {{ lognormal = {{ {law} }} }}\n{}",
            phase("create", "")
        );
        let problems = problems_of(&text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().contains(expected), "{}", problems[0]);
    }
}

#[test]
fn a_scenario_run_as_a_users_file_gives_the_identical_plan() {
    for scenario in SCENARIOS {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), scenario.text).expect("it can be written");
        let read_back = std::fs::read_to_string(file.path()).expect("and read");
        assert_eq!(format!("{:?}", plan_of(&read_back)), format!("{:?}", plan_of(scenario.text)));
    }
}

#[test]
fn every_key_of_a_job_file_reaches_the_plan() {
    let plan = plan_of(RICH);
    assert_eq!((&*plan.name, plan.seed, plan.repeats), ("rich", 7, Repetition::Fixed(2)));
    assert_eq!(plan.variants(), ["first", "second"]);
    let levels: Vec<_> = plan.cells.iter().map(|c| c.level.map(|l| l.value)).collect();
    assert_eq!(levels, [Some(10.0), Some(20.0), Some(10.0), Some(20.0)]);
    let (first, second) = (&plan.cells[0], &plan.cells[2]);
    assert_eq!((first.engine, second.engine), (EngineName::Sync, EngineName::Sim));
    assert_eq!((first.threads(), second.threads()), (2, 3));
    assert_eq!((first.tree.roots, second.tree.roots), (2, 1));
    assert_eq!(first.tree.layout, DirectoryLayout { fan_out: 2, depth: 2 });
    assert_eq!(first.tree.placement, Placement::Stripe);
    assert_eq!(first.tree.content, Content::Compressible(50));
    let sizes = Sizes::Exponential { min: 1024, max: 65_536, k: 10.0 };
    assert_eq!((first.tree.sizes, second.tree.sizes), (sizes, Sizes::Fixed(0)));
    let create = &first.phases[0];
    assert_eq!((create.windows, create.cache), (4, CacheAsked::Warm));
    assert_eq!((create.durability, create.block), (Durability::Fsync, 1 << 20));
    assert!(create.keep_atime && !second.phases[0].keep_atime);
    let overwrite = &first.phases[3];
    assert_eq!((overwrite.pass, overwrite.block, overwrite.cache), (2, 4096, CacheAsked::Cold));
    assert_eq!(overwrite.history.len(), 3, "create, rename and the first pass went before");
    let sim = plan.cells[0].sim;
    assert_eq!((sim.metadata_ns, sim.cold_ns, sim.stall_ns), (5_000, 1_000_000, 50_000_000));
    assert_eq!((sim.stall_every, sim.capacity), (1_000, Some(1 << 30)));
    assert!(sim.knee.is_some() && sim.fault.is_some() && sim.drift_percent == 3.0);
}

#[test]
fn phases_work_on_what_the_earlier_ones_left() {
    let plan = plan_of(RICH);
    let of = |name: &str| {
        let phase = plan.cells[1].phases.iter().find(|p| p.name == name);
        let phase = phase.unwrap_or_else(|| panic!("no phase {name}"));
        let s = &phase.selection;
        (s.first, s.population, s.count, phase.entries_after)
    };
    assert_eq!(of("create"), (0, 100, 100, 100));
    assert_eq!(of("rename"), (0, 100, 20, 100));
    assert_eq!(of("mkdir"), (0, 8, 8, 108));
    // Four holders in each of two workers' trees; 7 directories in each, one above, 8 entries.
    assert_eq!(of("list"), (0, 8, 8, 108));
    assert_eq!(of("find"), (0, 23, 23, 108));
    assert_eq!(of("rmdir"), (0, 8, 4, 104));
    assert_eq!(of("delete"), (0, 100, 20, 84));
    assert_eq!(of("delete-rest"), (20, 80, 80, 4));
}

#[test]
fn the_first_files_that_were_removed_are_made_again_where_the_tree_is_full() {
    let jobs = [
        (phase("delete", "count = 10"), 10),
        (phase("delete", "count = 10") + &phase("delete", "name = \"more\"\ncount = 5"), 15),
    ];
    for (deletes, removed) in jobs {
        let all = phase("create", "") + &deletes + &phase("create", "name = \"again\"");
        let cell = plan_of(&with_phases(&(all + &phase("read", "")))).cells.swap_remove(0);
        let [.., again, read] = cell.phases.as_slice() else {
            panic!("{} phases", cell.phases.len())
        };
        assert_eq!((again.selection.first, again.selection.count), (0, removed));
        assert_eq!((again.entries_after, read.selection.count), (100, 100));
        let writes = |number| read.state_before(&cell.tree, number).writes;
        assert!((0..removed).all(|number| writes(number) == 2), "made twice");
        assert!((removed..100).all(|number| writes(number) == 1));
    }
    let text = with_phases(
        &(phase("create", "")
            + &phase("delete", "count = 10")
            + &phase("create", "name = \"again\"\ncount = 5")),
    );
    let found = problems_of(&text);
    let expected = "all of its 100 files were made before, or `count = 10`: the deleted ones again";
    assert!(found[0].expected.contains(expected), "{found:?}");
}

#[test]
fn files_added_later_continue_the_numbers() {
    let text = with_phases(
        &(phase("create", "count = 60")
            + &phase("delete", "count = 10")
            + &phase("create", "name = \"more\"")
            + &phase("read", "")),
    );
    let plan = plan_of(&text);
    let all: Vec<_> = plan.cells[0]
        .phases
        .iter()
        .map(|p| (p.selection.first, p.selection.count, p.entries_after))
        .collect();
    assert_eq!(all, [(0, 60, 60), (0, 10, 50), (60, 40, 90), (10, 90, 90)]);
    let read = &plan.cells[0].phases[3];
    let (tree, files) = (&plan.cells[0].tree, read.selection.numbers());
    assert!(files.into_iter().all(|n| read.state_before(tree, n).writes == 1));
}

#[test]
fn an_axis_may_begin_at_nothing() {
    let text = "name = \"x\"\n[axis]\nname = \"present\"\nvalues = [0, 10]\n[tree]\n\
                files = \"$present\"\n[[phase]]\noperation = \"create\"\nwindows = 5\n\
                [[phase]]\noperation = \"delete\"\n";
    let plan = plan_of(text);
    let counts: Vec<_> = plan.cells.iter().map(|c| c.phases[1].selection.count).collect();
    assert_eq!(counts, [0, 10]);
}

#[test]
fn each_worker_with_its_own_tree_lists_only_that() {
    let plan = plan_of(RICH);
    let cell = &plan.cells[0];
    let list = cell.phases.iter().find(|p| p.name == "list").expect("there is a list");
    let each = cell.tree.layout.directories();
    for worker in 0..2 {
        let share = list.selection.share(worker, 2);
        for number in (0..share.count).map(|turn| share.number(turn)) {
            let ItemId::Layout(number) = list.targets(&cell.tree).target(number).place else {
                panic!("a list visits directories of the layout")
            };
            assert_eq!((number - 1) / each, u64::from(worker));
        }
    }
}

#[test]
fn a_variant_with_scales_is_there_at_these_alone() {
    let text = format!(
        "{}[[variant]]\nname = 'always'\n[[variant]]\nname = 'long'\nscales = ['standard', 'original']\n",
        with_phases(&phase("create", ""))
    );
    let variants = |text: &str, scale| {
        let settings = Settings { scale, ..Settings::default() };
        let plan = read_job(text, &settings).map_err(Problems::sorted);
        plan.map(|plan| plan.variants().into_iter().map(String::from).collect::<Vec<_>>())
    };
    assert_eq!(variants(&text, Scale::Quick), Ok(vec!["always".to_string()]));
    assert_eq!(variants(&text, Scale::Original), Ok(vec!["always".into(), "long".into()]));
    let none = text.replace("name = 'always'", "name = 'always'\nscales = ['original']");
    let problems = variants(&none, Scale::Quick).unwrap_err();
    let found: Vec<&str> = problems.iter().map(|problem| problem.found.as_str()).collect();
    assert_eq!(found, ["no variant at scale quick"]);
}

#[test]
fn a_mistake_in_a_variant_of_another_scale_is_found_at_each_scale_and_once() {
    let text = "name = 'x'\n[parameters]\nfiles = { quick = 10, standard = 100, original = 1_000 }\n\
        [tree]\nfiles = '$files'\n[[phase]]\noperation = 'create'\ncount = 5\n\
        [[variant]]\nname = 'always'\n[[variant]]\nname = 'long'\nscales = ['standard', 'original']\n\
        tree = { files = '$files', directories = '$directories' }\n";
    let found = |text: &str, scale, set: &[(&str, &str)]| {
        let set = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let plan = read_job(text, &Settings { scale, set, ..Settings::default() });
        let problems = plan.err().map(Problems::sorted).unwrap_or_default();
        let told = |one: &Problem| format!("{}: {}", one.place, one.found);
        problems.iter().map(told).collect::<Vec<_>>()
    };
    let place = "variant[2].tree.directories: `$directories`";
    assert_eq!(found(text, Scale::Quick, &[]), [format!("{place} at scale standard")]);
    assert_eq!(found(text, Scale::Original, &[]), [place]);
    let good = text.replace("$directories", "200");
    assert_eq!(found(&good, Scale::Quick, &[]), Vec::<String>::new());
    assert_eq!(found(&good, Scale::Quick, &[("files", "7")]), Vec::<String>::new());
}

#[test]
fn the_command_line_wins_over_the_file() {
    let settings = Settings {
        scale: Scale::Standard,
        seed: Some(9),
        repeats: Some(1),
        time_limit_seconds: None,
        phase_limit_ns: Some(5_000_000_000),
        threads: Some(4),
        cache: Some(CacheAsked::AsIs),
        engine: Some(EngineName::Sim),
        filesystems: Vec::new(),
        disk: None,
        directory: std::path::PathBuf::new(),
        memory_bytes: 0,
        set: vec![("files".into(), "50".into()), ("levels".into(), "5,6,7".into())],
    };
    let plan = read_job(RICH, &settings).unwrap_or_else(|p| panic!("{}", p.report("rich")));
    assert_eq!((plan.seed, plan.repeats, plan.cells.len()), (9, Repetition::Fixed(1), 6));
    assert!(plan.cells.iter().all(|c| c.engine == EngineName::Sim));
    assert!(plan.cells.iter().flat_map(|c| &c.phases).all(|p| p.threads == 4));
    let limits = |plan: &Plan| plan.cells[0].phases[0].limit_ns;
    assert_eq!(limits(&plan), Some(5_000_000_000));
    let limited = format!("phase_limit = \"2m\"\n{RICH}");
    let limited = read_job(&limited, &Settings { phase_limit_ns: None, ..settings.clone() });
    assert_eq!(limited.map(|plan| limits(&plan)).ok(), Some(Some(120_000_000_000)));
    assert!(plan.cells.iter().flat_map(|c| &c.phases).all(|p| p.cache == CacheAsked::AsIs));
    assert_eq!((plan.cells[0].tree.files, plan.cells[0].tree.roots), (50, 4));
    let standard = Settings { scale: Scale::Standard, ..Settings::default() };
    let five = read_job(&RICH.replace("\"$many\"", "5"), &standard).map(|p| p.repeats);
    assert_eq!(five.ok(), Some(Repetition::Fixed(5)));
}

#[test]
fn five_mistakes_are_five_problems_with_their_lines_and_the_fix() {
    let text = r#"name = "mistaken"
[tree]
files = "1MiB"
size = { uniform = { min = 10, max = 5 } }
[[phase]]
operation = "creat"
[[phase]]
operation = "read"
ordr = "random"
threads = 0
"#;
    let problems = problems_of(text);
    let found: Vec<_> = problems.iter().map(|p| (p.line, p.place.as_str())).collect();
    assert_eq!(
        found,
        [
            (Some(3), "tree.files"),
            (Some(4), "tree.size.uniform.max"),
            (Some(6), "phase[1].operation"),
            (Some(9), "phase[2].ordr"),
            (Some(10), "phase[2].threads"),
        ],
        "{problems:#?}"
    );
    assert_eq!(problems[2].hint.as_deref(), Some("did you mean `create`?"));
    assert_eq!(problems[3].hint.as_deref(), Some("did you mean `order`?"));
    assert!(problems.iter().all(|p| !p.expected.is_empty() && !p.found.is_empty()));
}

#[test]
fn no_mistake_of_a_phase_hides_those_behind_it() {
    let wrong = "rank_offset = -1\nduration = \"0s\"\nsize = { uniform = { min = 10, max = 5 } }";
    let problems = problems_of(&with_phases(&phase("creat", wrong)));
    let found: Vec<_> = problems.iter().map(|problem| problem.place.as_str()).collect();
    let expected = ["operation", "rank_offset", "duration", "size.uniform.max"];
    assert_eq!(found, expected.map(|key| format!("phase[1].{key}")), "{problems:#?}");
}

/// Each mistake alone gives one problem, at its place, whose text says what is expected.
#[test]
fn every_kind_of_mistake_is_one_problem() {
    for (text, place, expected) in mistakes_in_tables().into_iter().chain(mistakes_in_phases()) {
        let problems = problems_of(&text);
        let [problem] = problems.as_slice() else { panic!("{problems:#?}\n{text}") };
        assert_eq!(problem.place, place, "{problem}\n{text}");
        assert!(problem.expected.contains(expected), "{problem}\n{text}");
        assert!(problem.line.is_some(), "{problem}\n{text}");
    }
}

/// A file, the place of its mistake, and a part of what is expected there.
type Mistake = (String, &'static str, &'static str);

/// A file of one phase with more keys for its tree.
fn with_tree(keys: &str) -> String {
    format!("name = \"x\"\n[tree]\nfiles = 100\n{keys}\n{}", phase("create", ""))
}

fn mistakes_in_tables() -> Vec<Mistake> {
    let create = phase("create", "");
    let top = |extra: &str| format!("{extra}\n{}", with_phases(&create));
    let tree = with_tree;
    vec![
        (format!("[tree]\nfiles = 1\n{create}"), "name", "a text"),
        ("name = \"x\"\n[tree]\nfiles = 1\n".into(), "phase", "a list"),
        (format!("name = \"x\"\n{create}"), "tree", "for all variants"),
        (top("thread = 1"), "thread", "`threads`"),
        (top("seed = -1"), "seed", "a whole number"),
        (top("seed = 1.5"), "seed", "a whole number"),
        (top("cache = \"hot\""), "cache", "`cold`"),
        (top("engine = 3"), "engine", "`sim`"),
        (top("repeats = 0"), "repeats", "from 1 to 1,000"),
        (top("repeats = { quick = 1, standard = 2 }"), "repeats.original", "a number"),
        (top("repeats = inf"), "repeats", "a number"),
        (top("threads = \"$workers\""), "threads", "nothing there"),
        (top("threads = 1025"), "threads", "from 1 to 1,024"),
        (top("question = 1979-05-27"), "question", "a text"),
        (top("parameters = { a = \"ten\" }"), "parameters.a", "a quantity"),
        (top("parameters = { \"a b\" = 1 }"), "parameters.a b", "letters"),
        (top("axis = { name = \"a\", values = [] }"), "axis.values", "at least one level"),
        (top("axis = { name = \"a\", values = [1, 1] }"), "axis.values[2]", "each level once"),
        (top("axis = { name = \"a\", values = [1, \"2%\"] }"), "axis.values[2]", "count"),
        (top("axis = { name = \"a\", values = 3 }"), "axis.values", "a list"),
        (top("axis = { name = \"a\", values = [true] }"), "axis.values[1]", "a number"),
        (top("axis = { values = [1] }"), "axis.name", "a text"),
        (top("variant = [{ name = \"a\" }, { name = \"a\" }]"), "variant[2].name", "no other"),
        (top("variant = [{ }]"), "variant[1].name", "a text"),
        (top("variant = [{ name = \"\" }]"), "variant[1].name", "not empty"),
        (tree("placement = \"full\""), "tree.placement", "`fill` or `stripe`"),
        (tree("directories = 0"), "tree.directories", "from 1"),
        (tree("directories = { fan_out = 10, depth = 17 }"), "tree.directories.depth", "16"),
        (tree("directories = { fan_out = 10, depth = 9 }"), "tree.directories", "10,000,000"),
        (tree("directories = { fan_out = 10 }"), "tree.directories.depth", "a number"),
        (tree("size = { normal = 3 }"), "tree.size.normal", "`uniform`"),
        (tree("size = {}"), "tree.size", "`uniform`"),
        (tree("size = \"8PiB\""), "tree.size", "a quantity"),
        (tree("size = \"1000TiB\""), "tree.size", "in all"),
        (tree("size = 0.5"), "tree.size", "whole bytes"),
        (tree("size = { uniform = { min = 1 } }"), "tree.size.uniform.max", "a number"),
        (tree("content = \"text\""), "tree.content", "`zeros`"),
        (tree("content = { compressible = 101 }"), "tree.content.compressible", "100%"),
        (tree("trees = \"mine\""), "tree.trees", "`own`"),
        (
            tree(
                "trees = \"shared-by-ranks\"\n\
                 directories = { files_each = { uniform = { min = 1, max = 9 } } }",
            ),
            "tree.directories.files_each",
            "a count",
        ),
    ]
}

fn mistakes_in_phases() -> Vec<Mistake> {
    let create = phase("create", "");
    let tree = with_tree;
    let then =
        |operation: &str, rest: &str| with_phases(&(create.clone() + &phase(operation, rest)));
    let sim = |keys: &str| format!("{}[sim]\n{keys}", with_phases(&create));
    vec![
        (then("create", "name = \"again\""), "phase[2].operation", "all of its 100 files"),
        (then("read", "") + &phase("read", ""), "phase[3].operation", "a name that no other"),
        (then("read", "count = 101"), "phase[2].count", "there are 100 files"),
        (then("rmdir", ""), "phase[2].operation", "there are 0"),
        (then("read", "windows = 101"), "phase[2].windows", "at most 100"),
        (then("delete", "passes = 2"), "phase[2].passes", "removes entries"),
        (then("read", "passes = 201"), "phase[2].passes", "from 1 to 200"),
        (then("read", "block = \"17MiB\""), "phase[2].block", "16.0 MiB"),
        (then("read", "name = \"a\\nb\""), "phase[2].name", "on one line"),
        (then("read", "name = \"settle\""), "phase[2].name", "boatload adds a phase of this"),
        (with_phases(&phase("read", "")), "phase[1].operation", "no earlier phase makes any"),
        (
            then("delete", "count = 5\norder = \"random\"") + &phase("read", ""),
            "phase[3].operation",
            "before any other phase on files",
        ),
        (
            then("delete", "count = 5\norder = \"random\"")
                + &phase("create", "name = \"again\"\norder = \"sequential\""),
            "phase[3].order",
            "the order of the removal",
        ),
        (tree("trees = \"own\"") + &phase("read", "threads = 2"), "phase[2].threads", "own tree"),
        (sim("metadata = 20"), "sim.metadata", "unit"),
        (sim("knee = { at = 50, factor = 2 }"), "sim.knee", "capacity"),
        (sim("fault = { operation = 1, outcome = \"ENOSPACE\" }"), "sim.fault.outcome", "ENOSPC"),
        (sim("stall = { every = 0, time = \"1ms\" }"), "sim.stall.every", "from 1"),
    ]
}

#[test]
fn a_plan_too_large_to_hold_is_a_problem_and_not_a_crash() {
    let levels: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let axis = format!("[axis]\nname = \"a\"\nvalues = [{}]\n", levels.join(", "));
    let reads: String = (0..20).map(|n| phase("read", &format!("name = \"r{n}\""))).collect();
    let text = with_phases(&(phase("create", "") + &reads)) + &axis;
    let problems = problems_of(&text);
    assert!(problems[0].found.contains("more than 10,000 phases"), "{problems:#?}");
    let passes = with_phases(&(phase("create", "") + &phase("read", "passes = 200")));
    let problems = problems_of(&passes);
    assert!(problems[0].expected.contains("at most 200"), "{problems:#?}");
}

#[test]
fn one_wrong_part_does_not_make_right_ones_look_wrong() {
    for (was, is) in [
        ("files = { quick = 100, standard = 1_000, original = \"1M\" }", "files = true"),
        ("name = \"chosen\"", "nam = \"chosen\""),
        ("values = \"$levels\"", "values = 3"),
        ("count = 8", "count = []"),
        ("operation = \"create\"", "operation = \"make\""),
        ("directories = { fan_out = 2, depth = 2 }", "directories = \"two\""),
        ("size = 0 }", "size = 0, shape = 3 }"),
        ("levels = [10, 20]", "levels = [10, \"x\"]"),
    ] {
        assert!(RICH.contains(was), "{was}");
        let text = RICH.replacen(was, is, 1);
        let problems = problems_of(&text);
        // A key under a wrong name is unknown there and missing under its own.
        let expected = 1 + usize::from(is.starts_with("nam "));
        assert_eq!(problems.len(), expected, "{is}: {problems:#?}");
    }
}

#[test]
fn a_mistake_is_said_once_for_all_levels_and_variants() {
    let text = RICH.replace("count = \"$chosen\"\norder", "count = \"$chosn\"\norder");
    let problems = problems_of(&text);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].hint.as_deref(), Some("did you mean `$chosen`?"));
}

#[test]
fn what_is_set_on_the_command_line_is_checked_with_the_file() {
    let text = smallfiles().replace("order     = \"random\"", "ordre     = \"random\"");
    let settings = Settings { repeats: Some(0), ..set(&[("fils", "3"), ("selected", "1,2")]) };
    let problems = problems_with(&text, &settings);
    let found: Vec<_> = problems.iter().map(|p| (p.line.is_some(), p.place.as_str())).collect();
    assert_eq!(
        found,
        [
            (true, "phase[2].ordre"),
            (true, "phase[4].ordre"),
            (true, "phase[7].ordre"),
            (false, "--set fils"),
            (false, "--set selected"),
            (false, "--repeats")
        ],
        "{problems:#?}"
    );
    assert_eq!(problems[3].hint.as_deref(), Some("did you mean `files`?"));
}

#[test]
fn a_set_value_of_the_wrong_size_is_a_problem_where_it_is_used() {
    let problems = problems_with(smallfiles(), &set(&[("selected", "30_000")]));
    assert!(problems[0].to_string().contains("there are 10,000 files"), "{problems:#?}");
}

/// The golden list of what a small `smallfiles` does. A difference means that the same seed and
/// job file no longer give the same run: results before and after cannot be compared.
/// `BOATLOAD_BLESS=1 cargo test` writes it anew.
#[test]
fn the_same_seed_and_job_file_give_the_same_operations_for_ever() {
    let plan = read_job(smallfiles(), &set(&[("files", "6"), ("selected", "2")]));
    let plan = plan.unwrap_or_else(|p| panic!("{}", p.report("smallfiles")));
    let text: String = script(&plan.cells[0], 0).map(|line| line + "\n").collect();
    compare_with_kept("tests/golden/smallfiles.script", &text);
}

#[test]
fn the_published_schema_is_the_one_the_program_checks_by() {
    let text = serde_json::to_string_pretty(&job_schema()).expect("a schema is JSON") + "\n";
    compare_with_kept("docs/job.schema.json", &text);
}

pub(crate) fn compare_with_kept(path: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(&path, text).expect("the kept file can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} differs; BOATLOAD_BLESS=1 cargo test writes it anew", path.display());
}

#[test]
fn every_key_in_the_schema_says_what_it_is() {
    let schema = job_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["required"], serde_json::json!(["name", "phase"]));
    let tables = schema["$defs"].as_object().expect("tables have definitions").values();
    for table in tables.chain([&schema]) {
        for (key, value) in table["properties"].as_object().into_iter().flatten() {
            assert!(value["description"].is_string(), "{key} has no description");
        }
    }
}

/// Valid files with random damage: whatever comes out, it is a plan or problems, never a panic,
/// and a plan can be walked through.
#[test]
fn damaged_files_give_problems_and_never_panic() {
    let pieces = [
        "0",
        "-1",
        "1e308",
        "99999999999999999999",
        "9007199254740992",
        "\"$files\"",
        "\"$chosen\"",
        "[]",
        "{}",
        "true",
        "\"1TiB\"",
        "\"random\"",
        "\"own\"",
        "1024",
        "\n",
        "[[phase]]\n",
        "\"",
        "\"\u{1f6a2}\"",
        "=",
        "nan",
        "1979-05-27",
        "{ fan_out = 16, depth = 16 }",
        "\"200%\"",
        "17592186044416",
    ];
    let (mut plans, mut wrong) = (0, 0);
    for round in 0..4_000u64 {
        let base = [RICH, smallfiles(), chunks()][(round / 3 % 3) as usize];
        let mut text = base.to_string();
        for damage in 0..=round % 3 {
            let pick = |salt, bound: usize| {
                let bits = draw(round, Stream::Noise, damage * 16 + salt);
                below(bits, bound as u64) as usize
            };
            damage_once(&mut text, &pieces, &pick);
        }
        match read_job(&text, &Settings::default()) {
            Ok(plan) => {
                plans += 1;
                walk_through(&plan);
            }
            Err(problems) => {
                wrong += 1;
                let all = problems.sorted();
                assert!(!all.is_empty() && all.iter().all(|p| p.line.is_some()), "{all:?}\n{text}");
            }
        }
    }
    assert!(plans > 50 && wrong > 500, "{plans} plans, {wrong} with problems");
}

fn damage_once(text: &mut String, pieces: &[&str], pick: &dyn Fn(u64, usize) -> usize) {
    let lines: Vec<&str> = text.lines().collect();
    let at = pick(0, lines.len());
    let piece = pieces[pick(1, pieces.len())];
    let mut lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
    match pick(2, 6) {
        // Another value.
        0..=2 => {
            let key = lines[at].split('=').next().unwrap_or_default().to_string();
            lines[at] = format!("{key} = {piece}");
        }
        3 => drop(lines.remove(at)),
        4 => lines.insert(at, lines[pick(3, lines.len())].clone()),
        // One character less.
        _ => {
            let line = &mut lines[at];
            let place = line.char_indices().map(|(i, _)| i).nth(pick(4, line.len().max(1)));
            if let Some(place) = place {
                line.remove(place);
            }
        }
    }
    *text = lines.join("\n");
}

fn walk_through(plan: &Plan) {
    for cell in &plan.cells {
        let need = Need::of(cell, 4096);
        assert!(need.bytes > 0 && need.inodes > 0);
        let operations: u64 = cell.phases.iter().filter_map(|phase| phase.operations()).sum();
        assert!(operations < u64::MAX);
        for phase in &cell.phases {
            let share = phase.selection.share(0, phase.threads);
            for turn in (0..share.count).take(3).chain(share.count.checked_sub(1)) {
                let target = phase.targets(&cell.tree).target(share.number(turn));
                let mut path = boatload::base::names::NameBuffer::default();
                cell.tree.push_name(target.place, &mut path);
            }
            if phase.selection.order == Order::Random && phase.selection.count > 0 {
                assert!(phase.selection.contains(share.number(0)));
            }
        }
    }
    assert_eq!(plan.schedule().len(), plan.cells.len() * plan.repeats_max() as usize);
}
