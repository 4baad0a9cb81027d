//! Writes the first lines of a report: the run, its file system and machine, or the source of published
//! figures.

use std::io::{self, Write};

use super::names::{cell_and_repeat, level_value};
use super::phases::about_n;
use super::text::{time, write_wrapped};
use boatload_analysis::Analysis;
use boatload_analysis::findings::say::{self, listed};
use boatload_base::distinct::each_once;
use boatload_base::shell;
use boatload_base::units::{self, byte_step, counted, figures, span};
use boatload_host::facts::{DeviceFacts, FilesystemFacts, HostFacts};
use boatload_op::{Effect, Subject};
use boatload_plan::FileSystem;
use boatload_plan::filesystem::read_list;
use boatload_plan::repetition::REPEATS_MAX;
use boatload_results::book::{
    Book, MadeFileSystem, MadeOn, Measurement, Provenance, Resumption, RunFacts, Stopping,
    TraceFacts,
};
use boatload_results::order::made;
use boatload_results::reference::PREFIX;

pub(super) const NOT_PUBLISHED: &str = "not published";

/// Writes the first lines. Fails only if `out` does.
pub(super) fn write_head(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (book, run) = (analysis.book, &analysis.book.run);
    write_wrapped("", &format!("{}: {}", run.scenario, run.question), out)?;
    if let Some(reference) = &run.reference {
        return write_published(reference, &book.host, out);
    }
    write_wrapped("", &about_run(run), out)?;
    write_wrapped("", &about_place(book), out)?;
    write_wrapped("", &about_machine(&book.host), out)?;
    let repeats = about_n(analysis.summary()).map(|n| n + "; ").unwrap_or_default();
    write_wrapped("", &format!("{repeats}{}", about_cost(run)), out)?;
    write_wrapped("", &about_trace(run).unwrap_or_default(), out)?;
    write_wrapped("resumed: ", &about_resumptions(run).unwrap_or_default(), out)?;
    write_wrapped("INCOMPLETE: ", &about_lack(run).unwrap_or_default(), out)
}

fn write_published(
    reference: &Provenance,
    host: &HostFacts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = format!("{PREFIX}{}: {}", reference.name, reference.origin());
    write_wrapped("", &name, out)?;
    let mut facts = published_facts(reference, host).into_iter();
    facts.try_for_each(|(name, text)| write_wrapped(&format!("{name:6}"), &text, out))
}

/// Where published figures come from, on what they were measured, and how often; each fact with its name.
pub(super) fn published_facts(
    reference: &Provenance,
    host: &HostFacts,
) -> Vec<(&'static str, String)> {
    let Provenance { title, publisher, published, url, .. } = reference;
    let mut facts = vec![("from:", format!("{title}; {publisher}; {published}"))];
    facts.extend(url.clone().map(|url| ("at:", url)));
    facts.push(("on:", about_system(reference, host)));
    facts.push(("n:", reference.repeated.clone()));
    facts
}

pub(super) fn about_run(run: &RunFacts) -> String {
    if run.traced.is_some() {
        return format!("run {} of {}, traced, boatload {}", run.id, run.started, run.boatload);
    }
    let seed = run.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
    format!(
        "run {} of {}, {} scale{seed}, boatload {}",
        run.id, run.started, run.scale, run.boatload
    )
}

/// Measurement overhead of an operation.
pub(super) fn about_cost(run: &RunFacts) -> String {
    let cost = time(run.overhead_ns);
    format!("measurement overhead: {cost} per operation")
}

/// Who traced whose calls, and what that cost; `None` when nothing was traced.
pub(super) fn about_trace(run: &RunFacts) -> Option<String> {
    let traced = run.traced.as_ref()?;
    let TraceFacts { target, tracer, .. } = traced;
    let below = traced.path.as_ref().map(|path| format!(" below {path}")).unwrap_or_default();
    let [own, others] = [run.overhead_ns, Some(traced.bystander_ns)].map(time);
    Some(format!(
        "System calls of {target}{below}, by {tracer}. It costs {own} of each traced call and {others} of any other."
    ))
}

/// When and where a run went on after it had ended early; `None` when it never had.
pub(super) fn about_resumptions(run: &RunFacts) -> Option<String> {
    let one = |resumed: &Resumption| match &resumed.cell {
        Some(cell) => format!("{} at {}", resumed.at, cell_and_repeat(cell)),
        None => resumed.at.clone(),
    };
    let all: Vec<String> = run.resumed.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Why a run is not complete; `None` when it is.
pub(super) fn about_lack(run: &RunFacts) -> Option<String> {
    let why = match run.finished {
        Some(_) => "it ended early",
        None => "it was killed, or is still running",
    };
    (!run.complete).then(|| format!("not every cell was done; {why}"))
}

/// How the repeats of a run ended that looked at its answer: `decided after 4 repeats in 45 s`, or what is open after the
/// last; none of another run, and before its end.
pub(super) fn about_stopping(analysis: &Analysis<'_>) -> Option<String> {
    let run = &analysis.book.run;
    let Stopping::Looks { decided, time_limit_seconds, .. } = run.stopping else { return None };
    let seconds = run.seconds().map(|seconds| format!(" in {}", span(seconds)));
    let made = counted(u64::from(run.repeats), "repeat") + &seconds.unwrap_or_default();
    let limit = format!(", since another would end after {}", span(time_limit_seconds));
    let ending = if run.repeats < REPEATS_MAX { limit } else { String::new() };
    let open = analysis.open_parts().map(|open| format!(": {open}")).unwrap_or_default();
    run.complete.then(|| match decided {
        true => format!("decided after {made}"),
        false => format!("open after {made}{ending}{open}"),
    })
}

pub(super) fn about_machine(host: &HostFacts) -> String {
    let processors = counted(u64::from(host.cpus), "processor");
    let memory = units::bytes(host.memory_bytes);
    format!("{}, {processors}, {memory} of memory, {}", host.cpu, host.kernel)
}

/// The system of published figures, as far as it is known.
pub(super) fn about_system(reference: &Provenance, host: &HostFacts) -> String {
    let kind = match host.filesystem.kind.as_str() {
        "" => "an unknown file system",
        kind => kind,
    };
    let disk = reference.disk.as_ref().map(|disk| format!(" on {disk}")).unwrap_or_default();
    let memory =
        (host.memory_bytes > 0).then(|| format!("{} of memory", units::bytes(host.memory_bytes)));
    let system = reference.system.clone().unwrap_or_default();
    let mut known = vec![format!("{kind}{disk}"), system, host.kernel.clone(), host.cpu.clone()];
    known.extend(memory);
    known.retain(|fact| !fact.is_empty());
    known.join("; ")
}

pub(super) fn about_place(book: &Book) -> String {
    if is_simulated(book) {
        return SIMULATED.into();
    }
    if !book.filesystems.is_empty() {
        return about_made(book);
    }
    if is_anywhere(book) {
        return ANYWHERE.into();
    }
    let FilesystemFacts { available_bytes, total_bytes, .. } = &book.host.filesystem;
    let about = about_existing(&book.host);
    match available_bytes.zip(*total_bytes) {
        Some((free, total)) => {
            format!("{about}, {} of {} free", units::bytes(free), units::bytes(total))
        }
        None => about,
    }
}

const ANYWHERE: &str = "any file system";

/// Whether it is a trace of whatever file system was used.
fn is_anywhere(book: &Book) -> bool {
    book.run.traced.is_some() && book.host.filesystem.kind.is_empty()
}

const SIMULATED: &str = "the simulated file system";

fn is_simulated(book: &Book) -> bool {
    !book.measurements.is_empty() && book.measurements.iter().all(Measurement::is_simulated)
}

/// The file system of the run's directory: `ext4 on vda`.
fn about_existing(host: &HostFacts) -> String {
    format!("{} on {}", host.filesystem.about(), device_of(host))
}

/// On what a run was measured, with how much work, how often and how long, in a line; none of what was published or traced.
pub(super) fn about_measured(analysis: &Analysis<'_>) -> Option<String> {
    let (book, run) = (analysis.book, &analysis.book.run);
    if run.reference.is_some() || run.traced.is_some() || book.measurements.is_empty() {
        return None;
    }
    let repeats = book.measurements.iter().map(|m| m.cell.repeat).max().unwrap_or(0);
    let repeats = counted(u64::from(repeats), "repeat");
    let often = match run.stopping {
        Stopping::Looks { decided: true, .. } if run.complete => format!("decided after {repeats}"),
        _ => repeats,
    };
    let seconds = run.seconds().filter(|seconds| *seconds >= 1.0);
    let time = seconds.map(|seconds| format!(" in {}", span(seconds))).unwrap_or_default();
    let work = about_work(book).map(|work| format!("{work}, ")).unwrap_or_default();
    Some(format!("{}: {work}{often}{time}", short_place(book)))
}

/// `10,000 files of 1 KiB`, `1,000 to 1,000,000 files`, `chunks of 1 KiB to 128 KiB`
fn about_work(book: &Book) -> Option<String> {
    if let (Some(low), Some(high)) = (book.levels.first(), book.levels.last()) {
        let low = if low.value == high.value { String::new() } else { level_value(low) + " to " };
        return Some(match say::behind_value(&high.axis, high.unit) {
            Some(noun) => format!("{low}{} {noun}", level_value(high)),
            None => format!("{} {low}{}", say::before_value(&high.axis), level_value(high)),
        });
    }
    let makes_files = |m: &&Measurement| {
        let made = m.job_operation().map(|made| (made.effect, made.subject));
        m.valid() && made == Some((Effect::AddsEntry, Subject::File))
    };
    let made = book.measurements.iter().find(makes_files)?;
    let size = made.bytes? as f64 / made.operations as f64;
    let (step, word) = byte_step(size);
    let number = figures(size / step, 2);
    let size = format!("{} {word}", number.strip_suffix(".0").unwrap_or(&number));
    Some(format!("{} of {size}", counted(made.operations, "file")))
}

/// All values of an option in a command.
fn values_of(option: &str, command: &str) -> Vec<String> {
    let mut words = shell::words(command).unwrap_or_default().into_iter();
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        if word == option {
            values.extend(words.next());
        } else {
            let value = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
            values.extend(value.map(String::from));
        }
    }
    values
}

/// `ext4 and xfs on hdd-7200 (modelled)`
pub(super) fn short_place(book: &Book) -> String {
    if is_simulated(book) {
        return SIMULATED.into();
    }
    let made = made(book);
    let kinds = listed(&each_once(made.iter().map(|made| kind_of(made, &book.run.command))));
    match each_once(made.iter().map(|made| short_ground(made))).as_slice() {
        [] if is_anywhere(book) => ANYWHERE.into(),
        [] => about_existing(&book.host),
        [ground] => format!("{kinds} on {ground}"),
        grounds => format!("{kinds} on {}", listed(grounds)),
    }
}

/// Its type; with its options and its name, where it was given one: `ext3 -O ^dir_index (unindexed)`.
fn kind_of(made: &MadeFileSystem, command: &str) -> String {
    let label = made.variant.split('/').next();
    let lists = values_of("--filesystem", command);
    let mut asked = lists.iter().flat_map(|list| read_list(list).unwrap_or_default());
    match asked.find(|asked| asked.name.is_some() && asked.name.as_deref() == label) {
        Some(asked) => {
            format!("{} ({})", FileSystem { name: None, ..asked.clone() }.label(), asked.label())
        }
        None => made.kind.clone(),
    }
}

fn short_ground(made: &MadeFileSystem) -> String {
    if let Some(disk) = &made.disk {
        return format!("{} (modelled)", disk.name);
    }
    match made.place {
        _ if made.is_in_memory() => "memory".into(),
        MadeOn::Memory => "an image in memory".into(),
        MadeOn::Device => "a device".into(),
        MadeOn::Image => "an image".into(),
    }
}

/// The device of the run's directory, with its maker's name for it.
fn device_of(host: &HostFacts) -> String {
    match &host.device {
        Some(DeviceFacts { name, model: Some(model), .. }) => format!("{name} ({model})"),
        Some(device) => device.name.clone(),
        None => host.filesystem.source.clone(),
    }
}

fn about_made(book: &Book) -> String {
    let grounds: Vec<String> = made(book).into_iter().map(|made| ground(made, book)).collect();
    let many = counted(book.filesystems.len() as u64, "file system");
    if let [ground] = each_once(grounds.iter()).as_slice() {
        return format!("{many} made {ground}");
    }
    let count = |ground: &String| grounds.iter().filter(|other| *other == ground).count();
    let each = each_once(grounds.iter()).into_iter().map(|one| format!("{} {one}", count(one)));
    format!("{many} made: {}", each.collect::<Vec<_>>().join(", "))
}

/// On what one was made. A device is named where all that were made on the same kind of place have it.
pub(super) fn ground(made: &MadeFileSystem, book: &Book) -> String {
    let size = units::bytes(made.device_bytes);
    let name = |of: &MadeFileSystem| of.device.as_ref().map(|device| device.name.clone());
    let mut alike =
        book.filesystems.iter().filter(|other| other.place == made.place && !other.is_in_memory());
    let same = alike.all(|other| name(other) == name(made));
    let direct = made.device.as_ref().and_then(|device| device.loop_direct_io);
    let direct = direct.map(|yes| if yes { "direct I/O" } else { "through the host's cache" });
    let facts = [name(made).filter(|_| same), direct.map(String::from)];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
    let in_directory =
        format!("in a directory of {} on {}", book.host.filesystem.kind, device_of(&book.host));
    let lies = if made.place == MadeOn::Memory { "in memory" } else { in_directory.as_str() };
    if let Some(disk) = &made.disk {
        return format!("on {}, modelled, with its image of {size} {lies}", disk.name);
    }
    match made.place {
        _ if made.is_in_memory() => format!("in memory ({size})"),
        MadeOn::Memory => format!("on an image of {size} in memory"),
        MadeOn::Device => format!("on a device of {size}{facts}"),
        MadeOn::Image => format!("on an image of {size}{facts} {in_directory}"),
    }
}
