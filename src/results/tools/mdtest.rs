//! Reads the text of mdtest: 1.9.3 of LANL to 4.1 of IOR. The line of its command says how it was run.

use super::{
    MEASUREMENTS_MAX, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero, amount,
    command_words, count_runs,
};

/// A longer line is no row of a summary.
const ROW_BYTES_MAX: usize = 1_000;

/// What the options of mdtest say that matters here.
#[derive(Default)]
struct MdtestOptions {
    /// `-N`: ranks by which the one that reads is shifted against the one that wrote.
    shift: u64,
    /// `-y` or `-Y`.
    synced: bool,
    /// `--posix.odirect`.
    direct: bool,
    /// `-a` names another interface than POSIX, such as DFS: the page cache has no part in it.
    other_interface: bool,
    /// A command before each phase, which may drop caches.
    prologue: bool,
    /// `-C`, `-T`, `-E` or `-r`: only some phases, so that caches can be dropped between.
    phases: usize,
}

impl MdtestOptions {
    fn parse(command: &str) -> Self {
        let words = command_words(command);
        let mut options = Self::default();
        for (at, word) in words.iter().enumerate() {
            let next = || words.get(at + 1).and_then(|next| next.parse().ok());
            match word.as_str() {
                "-N" => options.shift = next().unwrap_or(0),
                "-y" | "-Y" => options.synced = true,
                "-C" | "-T" | "-E" => options.phases += 1,
                "-a" => options.other_interface = words.get(at + 1).is_some_and(|to| to != "POSIX"),
                "--posix.odirect" => options.direct = true,
                word if word.contains("run-cmd-before-phase") => options.prologue = true,
                word => {
                    let attached = word.strip_prefix("-N").map(|n| n.trim_start_matches('='));
                    options.shift = attached.and_then(|n| n.parse().ok()).unwrap_or(options.shift);
                }
            }
        }
        options
    }
}

/// The number before a word: `4` of `4 total task(s)`.
fn before(line: &str, word: &str) -> Option<u64> {
    line.split_once(word)?.0.trim().rsplit(' ').next()?.parse().ok()
}

/// Whether a line begins the rates: `SUMMARY rate:`, and `SUMMARY:` before mdtest 3.
fn begins_rates(line: &str) -> bool {
    line.contains("SUMMARY rate") || line.contains("SUMMARY:")
}

/// None if the text is not mdtest's. Each launch has its own summary.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let mut begins: Vec<usize> = text.match_indices("\nmdtest-").map(|(at, _)| at + 1).collect();
    begins.truncate(MEASUREMENTS_MAX);
    // What stands before the first launch belongs to it.
    let first = usize::from(!text.starts_with("mdtest-")).min(begins.len());
    let mut parts = vec![0];
    parts.extend(&begins[first..]);
    let ends = parts[1..].iter().copied().chain([text.len()]);
    let launches = parts.iter().zip(ends).filter_map(|(begin, end)| launch(&text[*begin..end]));
    let launches: Result<Vec<_>, String> = launches.collect();
    let mut launches = match launches {
        Ok(launches) => launches.into_iter(),
        Err(why) => return Some(Err(why)),
    };
    let Some(mut all) = launches.next() else {
        let is_cut =
            text.lines().any(|line| line.starts_with("mdtest-") && line.contains("launched"));
        let why = "it is of mdtest, but has no summary of rates: it was cut, or mdtest did not end";
        return is_cut.then(|| Err(why.into()));
    };
    for launch in launches {
        all.nodes = all.nodes.max(launch.nodes);
        let room = (MEASUREMENTS_MAX + 1).saturating_sub(all.measurements.len());
        all.measurements.extend(launch.measurements.into_iter().take(room));
    }
    let key = |one: &ToolMeasurement| {
        (one.name.clone(), one.operations, one.synced, one.cold, one.direct, one.just_written)
    };
    let keys: Vec<_> = all.measurements.iter().map(key).collect();
    count_runs(&mut all.measurements, &keys);
    Some(Ok(all))
}

/// One launch.
fn launch(text: &str) -> Option<Result<ToolResult, String>> {
    let begin = text.lines().find(|line| line.starts_with("mdtest-"));
    if begin.is_none() && !text.contains("File creation") {
        return None;
    }
    let summaries = || text.lines().filter(|line| line.contains("SUMMARY"));
    let summary = summaries().find(|line| begins_rates(line));
    let Some(summary) = summary else {
        let times = summaries().next().is_some();
        return times.then(|| Err("mdtest wrote times instead of rates: leave out -Z".into()));
    };
    let version = begin.and_then(|line| line["mdtest-".len()..].split(' ').next());
    let nodes = begin.and_then(|line| before(line, " node(s)"));
    let command = text.lines().find_map(|line| line.trim().strip_prefix("Command line used:"));
    let options = command.map(MdtestOptions::parse);
    let iterations = before(summary, " iterations)");
    let items = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(" tasks, ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    });
    let after = text.lines().skip_while(|line| !begins_rates(line)).skip(1);
    let rows = after.take_while(|line| !line.contains("SUMMARY") && !line.starts_with("-- "));
    let rows = rows.filter(|line| line.len() <= ROW_BYTES_MAX);
    let rows = rows.filter_map(|line| row(line, iterations, items));
    let mut measurements: Vec<_> = rows.take(MEASUREMENTS_MAX + 1).collect();
    let wrote = measurements.iter().any(|one| one.work == ToolWork::Create);
    for one in &mut measurements {
        describe(one, options.as_ref(), nodes, wrote);
    }
    let version = version.map(String::from);
    Some(Ok(ToolResult {
        tool: ToolName::Mdtest,
        version,
        nodes,
        requests: None,
        measurements,
        is_cut: false,
    }))
}

/// A row of the summary: its name, then highest, lowest, mean and deviation. Phases that did not run have zeros.
fn row(line: &str, iterations: Option<u64>, items: Option<u64>) -> Option<ToolMeasurement> {
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != ":").collect();
    let numbers = words.iter().rev().map_while(|word| word.parse::<f64>().ok()).count();
    let (name, numbers) = words.split_at(words.len() - numbers.min(words.len()));
    let [.., mean, deviation] = numbers else { return None };
    let rate = mean.parse().ok().and_then(above_zero)?;
    let deviation = deviation.parse().ok().and_then(amount);
    let name = name.join(" ");
    let name = name.trim_end_matches(':').trim().to_string();
    let work = match name.split(' ').nth(1)? {
        "creation" => ToolWork::Create,
        "stat" => ToolWork::Stat,
        "read" => ToolWork::Read,
        "removal" => ToolWork::Remove,
        _ => return None,
    };
    // One directory more or less is no measurement.
    if name.starts_with("Tree") {
        return None;
    }
    let mut one = ToolMeasurement::new(name, work);
    one.operations_per_second = Some(rate);
    one.operations = items;
    one.seconds = items.map(|items| items as f64 / rate);
    one.runs = iterations.unwrap_or(1);
    one.samples = one.runs;
    one.has_spread = one.runs > 1 && deviation.is_some();
    Some(one)
}

fn describe(
    one: &mut ToolMeasurement,
    options: Option<&MdtestOptions>,
    nodes: Option<u64>,
    wrote: bool,
) {
    let other_interface = options.is_some_and(|options| options.other_interface);
    if matches!(one.work, ToolWork::Create | ToolWork::Remove) {
        let synced = options.map(|options| options.synced);
        one.synced = synced.filter(|_| !other_interface);
        return;
    }
    one.just_written = wrote;
    if one.work == ToolWork::Read {
        one.direct = options.map(|options| options.direct || options.other_interface);
    }
    if other_interface {
        return;
    }
    // A shift helps only if another machine reads.
    let shifted = options.map(|o| o.shift > 0 && nodes.is_some_and(|nodes| nodes > 1));
    let emptied = options.is_some_and(|options| options.prologue);
    one.cold = match shifted {
        _ if emptied => None,
        Some(true) => Some(true),
        // Phases by themselves: what happened between is not told.
        _ if !wrote && options.is_some_and(|options| options.phases > 0) => None,
        Some(false) => Some(false),
        None => None,
    };
}
