//! Reads the text of mdtest: 1.9.3 of LANL to 4.1 of IOR. The line of its command says how it was run, and the
//! heading of each summary which column is the mean.

use super::result::{
    MEASUREMENTS_MAX, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero, amount,
    command_words, count_runs, setup,
};
use boatload_base::units::counted;

/// A longer line is no row of a summary.
const ROW_BYTES_MAX: usize = 1_000;

/// Versions of one file that are named.
const VERSIONS_MAX: usize = 8;

/// Short options that take a value, attached or as the next word.
const VALUED: &str = "abdefGiIlnNpsVwWxz";

/// Interfaces that are files of the kernel.
const KERNEL_INTERFACES: [&str; 2] = ["POSIX", "MMAP"];

/// The interface of IOR that does nothing.
const NO_INTERFACE: &str = "DUMMY";

/// What the options of mdtest say that matters here.
#[derive(Clone, Default)]
struct MdtestOptions {
    /// `-N`: ranks by which the one that reads is shifted against the one that wrote.
    shift: u64,
    /// `-y` or `-Y`.
    synced: bool,
    /// `--posix.odirect`.
    direct: bool,
    /// `-a` names another interface than the kernel's, such as DFS: the page cache has no part in it.
    interface: Option<String>,
    /// A command before each phase, which may drop caches.
    prologue: bool,
    /// `-C`, `-T` or `-E`: only some phases, so that caches can be dropped between.
    has_phases: bool,
}

impl MdtestOptions {
    fn parse(command: &str) -> Self {
        let words = command_words(command);
        let mut options = Self::default();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').unwrap_or((long, ""));
                options.direct |= name == "posix.odirect" && value != "0";
                options.prologue |= name.contains("run-cmd-before-phase");
                continue;
            }
            let Some(letters) = word.strip_prefix('-') else { continue };
            // As in IOR: letters without a value may stand together.
            match letters.chars().next().filter(|first| VALUED.contains(*first)) {
                Some(letter) => {
                    let attached = letters[1..].trim_start_matches('=');
                    let value =
                        if attached.is_empty() { words.next().unwrap_or("") } else { attached };
                    options.take_value(letter, value);
                }
                None => {
                    options.synced |= letters.contains(['y', 'Y']);
                    options.has_phases |= letters.contains(['C', 'T', 'E']);
                }
            }
        }
        options
    }

    fn take_value(&mut self, letter: char, value: &str) {
        let is_kernel = || KERNEL_INTERFACES.iter().any(|name| name.eq_ignore_ascii_case(value));
        match letter {
            'N' => self.shift = value.parse().unwrap_or(0),
            'a' => self.interface = (!is_kernel()).then(|| value.to_string()),
            _ => {}
        }
    }
}

/// The number before a word: `4` of `4 total task(s)`.
fn before(line: &str, word: &str) -> Option<u64> {
    line.split_once(word)?.0.trim().rsplit(' ').next()?.parse().ok()
}

/// What stands before a summary and says how it was measured: of the launch, and of its last number of tasks (`-f`, `-l`).
#[derive(Clone, Default)]
struct MdtestSetup {
    tasks_of_launch: Option<u64>,
    nodes: Option<u64>,
    command: Option<String>,
    options: Option<MdtestOptions>,
    tasks: Option<u64>,
    items: Option<u64>,
}

impl MdtestSetup {
    fn begin(line: &str) -> Self {
        let tasks = before(line, " total task(s)");
        Self { tasks_of_launch: tasks, nodes: before(line, " node(s)"), tasks, ..Self::default() }
    }

    /// Takes what a line says: `Command line used: ...` or `4 tasks, 20000 files`.
    fn take(&mut self, line: &str) {
        if let Some(command) = line.trim().strip_prefix("Command line used:") {
            self.options = Some(MdtestOptions::parse(command));
            self.command = Some(command.trim().to_string());
        }
        if let Some((_, rest)) = line.split_once(" tasks, ") {
            self.items = rest.split(' ').next().and_then(|items| items.parse().ok());
            self.tasks = before(line, " tasks, ").or(self.tasks);
        }
    }

    /// Machines: with fewer tasks than were launched, some may have had none.
    fn nodes(&self) -> Option<u64> {
        let nodes = self.nodes?;
        (nodes == 1 || self.tasks == self.tasks_of_launch).then_some(nodes)
    }

    /// Whether another machine read than the one that wrote.
    fn is_shifted(&self) -> Option<bool> {
        match self.options.as_ref()?.shift {
            0 => Some(false),
            _ => self.nodes().map(|nodes| nodes > 1),
        }
    }

    fn describe(&self, one: &mut ToolMeasurement, wrote: bool) {
        (one.tasks, one.nodes) = (self.tasks, self.nodes());
        one.setup = setup((&self.command, self.tasks, self.nodes));
        one.operations = self.items;
        let rate = one.operations_per_second;
        one.seconds = self.items.zip(rate).map(|(items, rate)| items as f64 / rate);
        let Some(options) = &self.options else {
            one.just_written = wrote && matches!(one.work, ToolWork::Read | ToolWork::Stat);
            return;
        };
        if options.interface.as_deref() == Some(NO_INTERFACE) {
            one.no_device = Some("the interface DUMMY does nothing".into());
        }
        one.interface.clone_from(&options.interface);
        if options.interface.is_some() {
            return;
        }
        if matches!(one.work, ToolWork::Create | ToolWork::Remove) {
            one.synced = Some(options.synced);
            return;
        }
        one.just_written = wrote;
        one.direct = (one.work == ToolWork::Read).then_some(options.direct);
        // Phases by themselves: what happened between is not told.
        let is_whole = wrote || !options.has_phases;
        let shifted = self.is_shifted();
        one.cold = shifted.filter(|shifted| !options.prologue && (*shifted || is_whole));
    }
}

/// The columns of a summary, as its heading names them.
struct MdtestColumns {
    number: usize,
    mean: usize,
    deviation: Option<usize>,
}

impl MdtestColumns {
    /// `Operation  Max  Min  Mean  Std Dev`; with figures of each rank before the figures of each iteration.
    fn parse(heading: &str) -> Option<Self> {
        let names = heading.trim().strip_prefix("Operation")?.replace("Std Dev", "Deviation");
        let names = names.replace("per Rank:", "").replace("per Iteration:", "");
        let names: Vec<&str> = names.split_whitespace().collect();
        let last = |name: &str| names.iter().rposition(|one| *one == name);
        Some(Self { number: names.len(), mean: last("Mean")?, deviation: last("Deviation") })
    }

    /// A row: its name, then as many numbers as there are columns. Phases that did not run have zeros.
    ///
    /// # Errors
    /// If it has other columns.
    fn row(&self, line: &str) -> Result<Option<ToolMeasurement>, ()> {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != ":").collect();
        let numbers = words.iter().rev().map_while(|word| word.parse::<f64>().ok()).count();
        let (name, numbers) = words.split_at(words.len() - numbers);
        let name = name.join(" ");
        let name = name.trim_end_matches(':').trim().to_string();
        let work = match name.split(' ').nth(1) {
            Some("creation") => ToolWork::Create,
            Some("stat") => ToolWork::Stat,
            Some("read") => ToolWork::Read,
            Some("removal") => ToolWork::Remove,
            _ => return Ok(None),
        };
        // One directory more or less is no measurement.
        if name.starts_with("Tree") {
            return Ok(None);
        }
        if numbers.len() != self.number {
            return Err(());
        }
        let number = |at: usize| numbers.get(at)?.parse::<f64>().ok();
        let mut one = ToolMeasurement::new(name, work);
        one.operations_per_second = number(self.mean).and_then(above_zero);
        one.has_spread = self.deviation.and_then(number).and_then(amount).is_some();
        Ok(one.operations_per_second.is_some().then_some(one))
    }
}

/// Whether a line begins the rates: `SUMMARY rate:`, and `SUMMARY:` before mdtest 3.
fn begins_rates(line: &str) -> bool {
    line.contains("SUMMARY rate") || line.contains("SUMMARY:")
}

/// What was read until now.
#[derive(Default)]
struct MdtestReader {
    setup: MdtestSetup,
    versions: Vec<String>,
    /// Launches, and launches with a summary of rates.
    launches: u64,
    summed: u64,
    is_summed: bool,
    has_times: bool,
    other_rows: u64,
    measurements: Vec<ToolMeasurement>,
}

impl MdtestReader {
    fn begin(&mut self, line: &str) {
        self.setup = MdtestSetup::begin(line);
        self.launches += 1;
        self.is_summed = false;
        let version = line["mdtest-".len()..].split(' ').next().map(String::from);
        let is_new = |version: &String| !self.versions.contains(version);
        self.versions.extend(version.filter(is_new).filter(|_| self.versions.len() < VERSIONS_MAX));
    }

    /// Reads a summary, up to the next line that is none of it.
    fn summary(
        &mut self,
        line: &str,
        lines: &mut std::iter::Peekable<std::str::Lines<'_>>,
    ) -> Result<(), String> {
        if line.contains("(in ") && !line.contains("(in ops/sec)") {
            return Err("its summary of rates has another unit than ops/sec".into());
        }
        let iterations = before(line, " iterations)");
        let mut columns = None;
        let mut rows = Vec::new();
        let ends = |line: &&str| {
            let begins = ["-- ", "mdtest-"].iter().any(|begin| line.starts_with(begin));
            begins || line.contains("SUMMARY") || line.contains(" tasks, ")
        };
        while let Some(line) = lines.next_if(|line| !ends(line)) {
            if line.len() > ROW_BYTES_MAX || rows.len() > MEASUREMENTS_MAX {
                continue;
            }
            columns = columns.or_else(|| MdtestColumns::parse(line));
            let Some(columns) = &columns else { continue };
            match columns.row(line) {
                Ok(one) => rows.extend(one),
                Err(()) => self.other_rows += 1,
            }
        }
        if columns.is_none() {
            return Err(
                "its summary has no heading with a column Mean, so its columns are not known"
                    .into(),
            );
        }
        self.summed += u64::from(!self.is_summed);
        self.is_summed = true;
        let wrote = rows.iter().any(|one| one.work == ToolWork::Create);
        for mut one in rows {
            one.runs = iterations.unwrap_or(1);
            one.samples = one.runs;
            one.has_spread &= one.runs > 1;
            self.setup.describe(&mut one, wrote);
            self.measurements.push(one);
        }
        Ok(())
    }

    fn result(mut self) -> ToolResult {
        let notes = self.notes();
        let key = |one: &ToolMeasurement| {
            (one.name.clone(), one.setup, one.operations, one.cold, one.just_written)
        };
        let keys: Vec<_> = self.measurements.iter().map(key).collect();
        count_runs(&mut self.measurements, &keys);
        let version = (!self.versions.is_empty()).then(|| self.versions.join(", "));
        let result = ToolResult::new(ToolName::Mdtest, version, self.measurements);
        ToolResult { notes, ..result }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(cut) = self.launches.checked_sub(self.summed).filter(|cut| *cut > 0) {
            let all = self.launches;
            notes.push(format!(
                "Launches of mdtest without a summary of rates, which were cut or did not end: {cut} of {all}."
            ));
        }
        if self.other_rows > 0 {
            let (rows, were) = (
                counted(self.other_rows, "row"),
                if self.other_rows == 1 { "was" } else { "were" },
            );
            notes.push(format!(
                "{rows} of a summary with other columns than its heading {were} not read."
            ));
        }
        notes
    }
}

/// `None` if the text is not mdtest's. Each launch has its own command, and a summary for each number of tasks.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let mut reader = MdtestReader::default();
    let is_of_mdtest =
        text.lines().any(|line| line.starts_with("mdtest-")) || text.contains("File creation");
    if !is_of_mdtest {
        return None;
    }
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if reader.measurements.len() > MEASUREMENTS_MAX {
            break;
        }
        if line.starts_with("mdtest-") && line.contains(" launched") {
            reader.begin(line);
        } else if begins_rates(line) {
            if let Err(why) = reader.summary(line, &mut lines) {
                return Some(Err(format!("it is of mdtest, but {why}")));
            }
        } else {
            reader.has_times |= line.contains("SUMMARY");
            reader.setup.take(line);
        }
    }
    if reader.summed == 0 {
        let why = match (reader.has_times, reader.launches) {
            (true, _) => "mdtest wrote times instead of rates: leave out -Z",
            (false, 0) => return None,
            _ => "it is of mdtest, but has no summary of rates: it was cut, or mdtest did not end",
        };
        return Some(Err(why.into()));
    }
    Some(Ok(reader.result()))
}
