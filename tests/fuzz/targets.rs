//! What is fuzzed: each target has examples to begin with, reads an input and uses what it takes.

use super::mutation::Random;
use boatload_analysis::Analysis;
use boatload_analysis::compare::compare;
use boatload_report::{EXPORTS, REPORTS, page_text, write_comparison, write_runs};
use boatload_results::book::Book;
use boatload_results::fixture::{self, growing};
use boatload_results::store::{RunList, RunSummary};

/// Shows a run in every way there is.
fn show(book: &Book) {
    let analysis = Analysis::of(book);
    let mut out = Vec::new();
    for report in REPORTS {
        let _ = (report.render)(&analysis, &mut out);
    }
    for export in EXPORTS {
        let _ = (export.texts)(&analysis);
    }
    let other = fixture::book();
    let other = Analysis::of(&other);
    let comparison = compare(&other, &analysis);
    let comparisons = [comparison];
    let _ = write_comparison(&[other.book, book], &comparisons, true, &mut out);
    let _ = page_text(&[&other, &analysis], &comparisons);
    let book = book.without_measurements();
    let summary = RunSummary { book, measurements: 1, ..RunSummary::default() };
    let _ = write_runs(&RunList { runs: vec![summary], ..RunList::default() }, &mut out);
}

/// Runs of all kinds.
fn books() -> Vec<Book> {
    let mut books = vec![
        fixture::book(),
        fixture::made::book(),
        growing::chunks(),
        growing::fullness(&["a", "b"]),
    ];
    for book in &mut books {
        // A histogram as text is long, and one says as much as ten.
        book.measurements.truncate(12);
    }
    books
}

pub(super) mod job {
    use super::Random;
    use crate::plan_text;
    use boatload_base::names::NameBuffer;
    use boatload_op::ItemId;
    use boatload_plan::filesystem::Volume;
    use boatload_plan::phase::PhaseEnd;
    use boatload_plan::scenarios::SCENARIOS;
    use boatload_plan::{CellPlan, EngineName, Phase, Plan, Scale, Settings, read_job};
    use boatload_results::store::Store;
    use boatload_run::interrupt::Interrupt;
    use boatload_session::memory::MemoryNeed;
    use boatload_session::{self as session, Nobody, RunOrder, room};

    /// As many keys as a job may have that runs on the simulated file system.
    const SIMULATED: &str = r#"
name = "simulated"
question = "What?"
engine = "sim"
repeats = { quick = 2, standard = 3, original = 4 }
seed = 7
threads = 2
cache = "as-is"
durability = "syncfs"
atime = "off"
phase_limit = "10m"
conclude = ["levels", "growth", "ranking"]

[parameters]
files    = 40
selected = { quick = 5, standard = 7, original = 9 }

[axis]
name   = "file-count"
values = [10, 20, "$files"]
with   = { some = [2, 3, "$selected"] }

[tree]
files       = "$file-count"
directories = { fan_out = 3, depth = 2 }
placement   = "stripe"
size        = { lognormal = { mu = 7, sigma = 1.5, min = "1B", max = "64KiB" } }
content     = { compressible = "50%" }
trees       = "own"

[sim]
metadata         = "20us"
transfer         = "1us"
transfer_per_kib = "1us"
cold             = "1ms"
sync             = "2ms"
directory        = "linear"
directory_cost   = "1us"
noise            = "uniform"
spread           = { passes = "1%", repeats = "2%", runs = "3%" }
neighbour        = { share = "10%", factor = 2 }
drift            = "5%"
stall            = { every = 9, time = "5ms" }
capacity         = "1GiB"
clutter          = "1%"
knee             = { at = "50%", factor = 3 }
fault            = { operation = 50, request = "write", outcome = "EIO" }

[[variant]]
name = "as-above"

[[variant]]
name       = "other"
threads    = 3
cache      = "cold"
durability = "fsync"
atime      = "as-mounted"
tree       = { files = "$file-count", directories = { files_each = { uniform = { min = 1, max = 9 } } }, size = { uniform = { min = 0, max = "9KiB", step = 512 } } }
sim        = { metadata = "30us" }

[[variant]]
name = "others"
tree = { files = "$file-count", directories = { files_each = 4 }, trees = "shared-by-ranks", size = { exponential = { min = 1, max = "8KiB", k = 4 } }, content = "zeros" }

[[phase]]
operation = "create"
windows   = 4

[[phase]]
name      = "read-some"
operation = "read"
order     = "random"
count     = "$some"
passes    = 2
block     = "4KiB"
atime     = "as-mounted"

[[phase]]
operation = "stat"
cache     = "warm"
duration  = "1ms"

[[phase]]
operation  = "rewrite"
size       = { uniform = { min = 1, max = "8KiB" } }
durability = "dsync"

[[phase]]
operation = "rename"

[[phase]]
operation = "delete"
"#;

    /// As many more as it may have on file systems that boatload makes.
    const MADE: &str = r#"
name = "made"
filesystem = { type = "ext4", mkfs = ["-O", "^dir_index"], mount = "noatime", disk = "hdd-7200" }
delay = "5%"

[parameters]
levels = [20, 30]

[axis]
name   = "space-used"
values = "$levels"

[tree]
files   = 4
size    = "64KiB"
content = "random"

[[variant]]
name       = "aged"
engine     = "sync"
threads    = 2
filesystem = { type = "xfs", disk = "sata-ssd" }
delay      = 0

[variant.prepare.age]
sizes        = { exponential = { min = "4KiB", max = "1MiB", k = 10 } }
files_each   = { uniform = { min = 10, max = 90 } }
content      = "zeros"
threads      = 2
histories    = 2
delete_every = 5
pieces       = "16KiB"
rounds       = 3
layout_score = 0.8
emptied      = true

[[variant]]
name = "filled"

[variant.prepare.fill]
sizes      = "64KiB"
files_each = 100
content    = { compressible = "20%" }
threads    = 1
histories  = 2

[[phase]]
operation = "create"
block     = "8KiB"
direct    = true
threads   = 2

[[phase]]
operation = "read"
on        = "ballast"
count     = 3
order     = "random"
cache     = "cold"

[[phase]]
operation = "stat"
rank_offset = 1
"#;

    /// Several works at once.
    const MIXED: &str = r#"
name   = "mixed"
engine = "sim"

[tree]
files     = 20
files_max = 30
size      = "2KiB"

[sim]
metadata = "20us"

[[phase]]
operation = "create"

[[phase]]
name    = "serve"
count   = 90
threads = 2
rate    = 9_000
pace    = "poisson"

[[phase.work]]
operation = "read"
weight    = 3

[[phase.work]]
name      = "new"
operation = "create"
weight    = 2
size      = "3KiB"

[[phase.work]]
operation = "delete"
weight    = 1
order     = "oldest"
"#;

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        let built_in = SCENARIOS.iter().map(|scenario| scenario.text);
        built_in.chain([SIMULATED, MADE, MIXED]).map(|text| text.as_bytes().to_vec()).collect()
    }

    pub(in crate::fuzz) fn read(input: &[u8], random: &mut Random) -> bool {
        let text = String::from_utf8_lossy(input);
        let settings = Settings {
            scale: Scale::ALL[random.below(Scale::ALL.len())],
            engine: (random.below(2) == 0).then_some(EngineName::Sim),
            repeats: (random.below(3) == 0).then_some(1),
            memory_bytes: 1 << 34,
            ..Settings::default()
        };
        match read_job(&text, &settings) {
            Err(problems) => {
                let _ = problems.report("job.toml");
                false
            }
            Ok(plan) => {
                look_at(&plan, random);
                if is_small(&plan) {
                    run(&plan);
                }
                true
            }
        }
    }

    fn look_at(plan: &Plan, random: &mut Random) {
        plan_text::outline(plan, None);
        MemoryNeed::of(plan, |_| 1 << 40);
        room::need(plan, 4096);
        room::fills_to(plan);
        if plan.cells.len() * plan.repeats_max() as usize <= 10_000 {
            plan.schedule();
        }
        for cell in plan.cells.iter().take(20) {
            let tree = &cell.tree;
            let files = tree.files.max(1);
            let last = files - 1;
            for number in [0, last / 2, last, random.below(last as usize) as u64] {
                let holder = tree.holder_of(number);
                let mut path = NameBuffer::default();
                tree.push_layout(tree.layout_of_holder(holder), &mut path);
                tree.push_name(ItemId::file(number), &mut path);
                std::hint::black_box((tree.size(number, 0), tree.content_key(number, 1)));
            }
        }
    }

    /// Operations that a run may have to be run.
    const OPERATIONS_MAX: u64 = 20_000;

    fn is_small(plan: &Plan) -> bool {
        let simulated = |cell: &CellPlan| cell.engine.is_simulated() && cell.filesystem.is_none();
        let phases = || plan.cells.iter().flat_map(|cell| &cell.phases);
        // Where nothing takes time, the real clock runs until the time is over.
        let ends = |cell: &CellPlan| {
            let by_time = cell.phases.iter().any(|phase| matches!(phase.end, PhaseEnd::After(_)));
            !(by_time && cell.sim.takes_no_time())
        };
        let short = |end| match end {
            PhaseEnd::After(ns) => ns <= 20_000_000,
            PhaseEnd::Operations(operations) => operations <= OPERATIONS_MAX,
            PhaseEnd::Targets => true,
        };
        let of_cell = |cell: &CellPlan| {
            let parts = |p: &Phase| {
                let works = p.mix.iter().flat_map(|mix| &mix.works);
                let of_works = works.filter_map(|work| Some(work.sizes?.max())).max().unwrap_or(0);
                let largest = p.sizes(&cell.tree).max().max(cell.tree.file_bytes_max());
                largest.max(of_works) / u64::from(p.block.max(1))
            };
            let turns = |p: &Phase| p.selection.count.max(p.operations().unwrap_or(0));
            let all = cell.phases.iter();
            all.map(|p| turns(p).saturating_mul(1 + parts(p))).fold(0, u64::saturating_add)
        };
        let operations = plan.cells.iter().map(of_cell).fold(0, u64::saturating_add);
        let files =
            plan.cells.iter().map(|cell| cell.tree.capacity().max(cell.tree.holders())).max();
        plan.cells.iter().all(simulated)
            && plan.cells.iter().all(|cell| cell.prepare.is_none() && ends(cell))
            && phases().all(|phase| phase.threads <= 8 && short(phase.end))
            && operations.saturating_mul(plan.repeats_max().into()) <= OPERATIONS_MAX
            && files.is_some_and(|files| files <= 1_000_000)
    }

    fn run(plan: &Plan) {
        let order = RunOrder {
            plan,
            directory: std::env::temp_dir(),
            command: "fuzz".into(),
            fill_real: false,
            place: Volume::default(),
            tag: None,
            group: None,
        };
        let Ok(mut store) = Store::in_memory() else { return };
        if let Ok(outcome) = session::run(&order, &mut store, &Nobody, &Interrupt::default()) {
            super::show(&outcome.book);
        }
    }
}

pub(super) mod disk_model {
    use super::Random;
    use boatload_plan::disk::{BUILT_IN_DISKS, read_disk_model};
    use boatload_run::disk::simulator::{DiskRequest, DiskRequestKind, DiskSimulator};

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        BUILT_IN_DISKS.iter().map(|disk| disk.text.as_bytes().to_vec()).collect()
    }

    /// Events after which a disk that never ends is left.
    const EVENTS_MAX: u32 = 20_000;

    pub(in crate::fuzz) fn read(input: &[u8], random: &mut Random) -> bool {
        let model = match read_disk_model(&String::from_utf8_lossy(input)) {
            Ok(model) => model,
            Err(problems) => {
                let _ = problems.report("disk.toml");
                return false;
            }
        };
        let mut disk = DiskSimulator::new(&model, 1);
        let (mut now_ns, mut finished) = (0u64, Vec::new());
        let kinds = [
            DiskRequestKind::Read,
            DiskRequestKind::Write,
            DiskRequestKind::Flush,
            DiskRequestKind::Discard,
        ];
        for ticket in 0..60 {
            let kind = kinds[random.below(kinds.len())];
            let offset = (random.below(1 << 40) as u64) & !511;
            let bytes = 512 * (1 + random.below(2048) as u64);
            disk.submit(now_ns, DiskRequest { ticket, kind, offset, bytes });
            now_ns = now_ns.saturating_add(random.below(1_000_000) as u64);
            disk.advance(now_ns, &mut finished);
        }
        let mut events = 0;
        while let Some(next) = disk.next_event().filter(|_| finished.len() < 60) {
            disk.advance(next, &mut finished);
            events += 1;
            assert!(events < EVENTS_MAX, "{} of 60 requests are answered", finished.len());
        }
        let answered: std::collections::BTreeSet<u64> = finished.iter().map(|f| f.ticket).collect();
        assert_eq!(answered.len(), finished.len(), "a request was answered twice");
        disk.activity();
        true
    }
}

pub(super) mod run_document {
    use boatload_analysis::Analysis;
    use boatload_report::{find_report, read_document};

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        let Some(json) = find_report("json") else { return Vec::new() };
        let document = |book| {
            let mut out = Vec::new();
            let _ = (json.render)(&Analysis::of(&book), &mut out);
            out
        };
        super::books().into_iter().map(document).collect()
    }

    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        read_document(input).is_ok_and(|book| {
            super::show(&book);
            true
        })
    }
}

pub(super) mod stored_book {
    use boatload_results::book::Book;

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        super::books().iter().filter_map(|book| serde_json::to_vec(book).ok()).collect()
    }

    /// A store is not looked at as closely as a document of someone else.
    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        serde_json::from_slice::<Book>(input).is_ok_and(|book| {
            super::show(&book);
            true
        })
    }
}

pub(super) mod histogram {
    use boatload_results::histogram::{decoded, encoded, from_text, new_histogram, to_text};

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        let mut histogram = new_histogram();
        for turn in 0..2_000u64 {
            histogram.saturating_record(1_000 + turn * turn * 37);
        }
        let bytes = encoded(&histogram);
        let text = to_text(&bytes).unwrap_or_default().into_bytes();
        vec![bytes, encoded(&new_histogram()), text]
    }

    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        let of_text = from_text(&String::from_utf8_lossy(input));
        let Some(histogram) = decoded(of_text.as_deref().unwrap_or(input)) else { return false };
        let _ = histogram.value_at_quantiles([0.5, 0.99, 1.0]).count();
        let _ = (histogram.mean(), histogram.stdev(), histogram.max(), histogram.len());
        let counts = histogram
            .iter_recorded()
            .fold(0u64, |sum, value| sum.saturating_add(value.count_at_value()));
        let _ = counts;
        let mut sum = new_histogram();
        let _ = sum.add(&histogram);
        encoded(&sum);
        true
    }
}

pub(super) mod database {
    use boatload_results::store::Store;

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        let Ok(place) = tempfile::tempdir() else { return Vec::new() };
        let path = place.path().join("store.db");
        let Ok(mut store) = Store::open(&path) else { return Vec::new() };
        for book in super::books().iter().take(3) {
            let _ = store.import(book);
        }
        // Closing it brings all into one file.
        drop(store);
        vec![std::fs::read(&path).unwrap_or_default()]
    }

    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        let Ok(place) = tempfile::tempdir() else { return false };
        let path = place.path().join("store.db");
        if std::fs::write(&path, input).is_err() {
            return false;
        }
        let read = Store::open_to_read(&path);
        let taken = read.as_ref().is_ok_and(|store| {
            let ids = store.runs().map(|all| all.runs.into_iter().map(|run| run.book.run.id));
            let _ = store.find_run("last");
            let _ = store.phase_rates("smallfiles", "ext4", None);
            let books = ids.into_iter().flatten().filter_map(|id| store.load(&id).ok());
            books.map(|book| super::show(&book)).count() > 0
        });
        drop(read);
        if let Ok(mut store) = Store::open(&path) {
            let mut book = boatload_results::fixture::book();
            book.run.id = "zzzzzzzz".into();
            let _ = store.import(&book);
        }
        taken
    }
}

pub(super) mod kernel_text {
    use boatload_host::fixture::texts;

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        texts::examples()
    }

    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        texts::read_all(input);
        true
    }
}

pub(super) mod tracer_output {
    use boatload_host::tracing::{TraceBatch, read_output};
    use boatload_results::book::{Book, RunFacts, TraceFacts};
    use boatload_results::trace_tally::TraceTally;

    /// What bpftrace 0.17 prints.
    const EXAMPLES: [&str; 2] = [
        "{\"type\": \"printf\", \"data\": \"ready\\n\"}\n\
         {\"type\": \"map\", \"data\": {\"@ha\": {\"2200\": 14, \"65538200\": 1000, \"4611686018427390104\": 3}}}\n\
         {\"type\": \"map\", \"data\": {\"@t\": {\"1\": {\"count\": 1017, \"average\": 5, \"total\": 5085}}}}\n\
         {\"type\": \"map\", \"data\": {\"@e\": {\"65538\": 3}}}\n\
         {\"type\": \"map\", \"data\": {\"@b\": {\"4\": 70000}}}\n\
         {\"type\": \"map\", \"data\": {\"@busy\": {\"0\": 4000}}}\n\
         {\"type\": \"map\", \"data\": {\"@time\": {\"0\": 1000, \"1\": 90000}}}\n\
         {\"type\": \"printf\", \"data\": \"tick\\n\"}\n",
        "{\"type\": \"map\", \"data\": {\"@da\": {\"2,17045651457\": {\"count\": 9, \"average\": 5, \"total\": 47}, \
         \"-2330150480421685358,41\": {\"count\": 3, \"average\": 5, \"total\": 16}}}}\n\
         {\"type\": \"map\", \"data\": {\"@t\": {\"1\": {\"count\": 9, \"average\": 5, \"total\": 47}}}}\n\
         {\"type\": \"printf\", \"data\": \"tick\\n\"}\n\
         {\"type\": \"map\", \"data\": {\"@known\": {\"0,0\": 0, \"5,266338304\": 2, \"2,266338304\": 2}}}\n\
         {\"type\": \"map\", \"data\": {\"@name\": {\"2,266338304\": \"/\", \"5,266338304\": \"q\\uffffffc3\\uffffffa9\"}}}\n\
         {\"type\": \"map\", \"data\": {\"@path\": {\"-2330150480421685358\": \"/nowhere/aa/q\"}}}\n\
         {\"type\": \"map\", \"data\": {\"@base\": {\"7\": 5}}}\n\
         {\"type\": \"map\", \"data\": {\"@device\": {\"-2330150480421685358\": 266338304}}}\n\
         {\"type\": \"printf\", \"data\": \"tick\\n\"}\n",
    ];

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        EXAMPLES.map(|text| text.as_bytes().to_vec()).to_vec()
    }

    /// Counts of a trace, and what is made of them.
    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        let (batches, names) = read_output(input);
        let mut tally = TraceTally::default();
        batches.iter().for_each(|batch: &TraceBatch| tally.add(batch, 1000));
        let measurements = tally.measurements("x");
        let is_taken = !measurements.is_empty();
        let last = batches.iter().rfind(|batch| batch.ended_ns > 0);
        let time = last.map_or(0, |batch| batch.ended_ns.saturating_sub(batch.followed_ns));
        let traced = TraceFacts {
            lost: tally.lost(),
            is_whole: true,
            seconds: time as f64 / 1e9,
            in_calls_seconds: last.map_or(0.0, |batch| batch.in_calls_ns as f64 / 1e9),
            directories: tally.take_directories(&mut |one| names.find(one)),
            ..TraceFacts::default()
        };
        let run = RunFacts { traced: Some(traced), complete: true, ..RunFacts::default() };
        super::show(&Book { run, measurements, ..Book::default() }.ordered_as_measured());
        is_taken
    }
}

pub(super) mod command_line {
    use crate::run::run_of;

    const EXAMPLES: [&str; 4] = [
        "boatload run",
        "boatload run smallfiles --dir /mnt/x --scale original --set files=50k --threads 4 --json -",
        "boatload run 'my job.toml' --filesystem 'ext4,xfs:mkfs=-m crc=0' --disk hdd-7200 --size 10GiB --repeats 5",
        "boatload run fullness --device /dev/x --erase /dev/x --fill-real --time-limit 1h",
    ];

    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        EXAMPLES.map(|line| line.as_bytes().to_vec()).to_vec()
    }

    pub(in crate::fuzz) fn read(input: &[u8]) -> bool {
        run_of(&String::from_utf8_lossy(input)).is_ok()
    }
}

pub(super) mod audited {
    use std::path::Path;

    use super::Random;
    use crate::run::run_of;
    use boatload_analysis::audit::{AuditBounds, audit};
    use boatload_report::{write_audits, write_audits_json};
    use boatload_results::tools::read_tool_result;

    /// The kept results.
    pub(in crate::fuzz) fn examples() -> Vec<Vec<u8>> {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending != "md"));
        files.sort();
        files.iter().filter_map(|path| std::fs::read(path).ok()).collect()
    }

    pub(in crate::fuzz) fn read(input: &[u8], random: &mut Random) -> bool {
        let Ok(result) = read_tool_result(input) else { return false };
        let mut bounds = AuditBounds::default();
        if random.below(2) == 0 {
            bounds = AuditBounds {
                device_bytes_per_second: Some(1e8),
                memory_bytes: Some((random.below(1 << 40)) as u64),
                directory: Some("it's a place".into()),
            };
        }
        let twice = vec![("one".to_string(), result.clone()), ("two".to_string(), result)];
        let audits = audit(twice, &bounds);
        let mut out = Vec::new();
        let _ = write_audits(&audits, &mut out);
        let _ = write_audits_json(&audits, &bounds, &mut out);
        for finding in audits.iter().flat_map(|audit| &audit.findings) {
            let command = &finding.measure_with;
            assert!(run_of(command).is_ok(), "no command: {command}");
        }
        true
    }
}
