//! Reads what dd(1) writes to standard error: GNU and busybox in any language, and BSD. Its lines are known by their
//! numbers and units, not by their words. The command lines between are those that a shell shows (`set -x`, or copied
//! with their prompt).

use std::collections::HashSet;

use super::result::{
    COMMAND_BYTES_MAX, MEASUREMENTS_MAX, MEMORY_PLACES, ToolMeasurement, ToolName, ToolResult,
    ToolWork, above_zero, binary_bytes, count_runs, setup,
};

/// A longer line is none of dd's.
const LINE_BYTES_MAX: usize = 400;

/// Commands that wait for their figures, at most about so many.
const COMMANDS_MAX: usize = 100;

/// What dd was asked to do.
#[derive(Clone, Default, PartialEq)]
struct DdCommand {
    input: String,
    output: String,
    block: Option<u64>,
    input_flags: String,
    output_flags: String,
    conversions: String,
    /// `status=none` or `2>/dev/null`: it writes no figures.
    is_quiet: bool,
}

/// Bytes as dd takes them: `64k`, `1M`, `1MB` in steps of 1000, `8b` in blocks of 512.
fn dd_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let each = match unit {
        "c" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return binary_bytes(text),
    };
    number.parse::<u64>().ok()?.checked_mul(each)
}

impl DdCommand {
    /// All dd in a line, in whatever way a shell joins them, also behind `ssh HOST`.
    fn all_of(line: &str) -> Vec<Self> {
        if line.len() > COMMAND_BYTES_MAX || !line.contains("dd") {
            return Vec::new();
        }
        let is_border = |c: char| c.is_whitespace() || "'\"();|&".contains(c);
        let words: Vec<&str> = line.split(is_border).filter(|word| !word.is_empty()).collect();
        let is_dd = |word: &&str| *word == "dd" || word.ends_with("/dd");
        // What stands before the first dd is none of its operands.
        let parts = words.split(is_dd).skip(1);
        let all = parts.map(Self::of_operands);
        all.filter(|one| !one.input.is_empty() || !one.output.is_empty()).collect()
    }

    fn of_operands(words: &[&str]) -> Self {
        let mut command = Self::default();
        for word in words {
            command.is_quiet |= *word == "2>/dev/null";
            let Some((key, value)) = word.split_once('=') else { continue };
            match key {
                "if" => command.input = value.into(),
                "of" => command.output = value.into(),
                "bs" | "obs" | "ibs" => command.block = dd_bytes(value),
                "iflag" => command.input_flags = value.into(),
                "oflag" => command.output_flags = value.into(),
                "conv" => command.conversions = value.into(),
                "status" => command.is_quiet |= value == "none" || value == "noxfer",
                _ => {}
            }
        }
        command
    }

    fn reads(&self) -> bool {
        self.output == "/dev/null"
    }

    fn name(&self) -> String {
        match self.reads() || self.output.is_empty() {
            true => format!("dd if={}", self.input),
            false => format!("dd of={}", self.output),
        }
    }

    /// Whether it takes a file out of the page cache.
    fn evicts(&self) -> bool {
        has_flag(&self.input_flags, &["nocache"]) || has_flag(&self.output_flags, &["nocache"])
    }

    fn is_direct(&self) -> bool {
        has_flag(if self.reads() { &self.input_flags } else { &self.output_flags }, &["direct"])
    }

    fn is_synced(&self) -> bool {
        let syncs = has_flag(&self.output_flags, &["direct", "sync", "dsync"]);
        !self.reads() && (syncs || has_flag(&self.conversions, &["fsync", "fdatasync"]))
    }

    fn describe(&self, measurement: &mut ToolMeasurement) {
        let reads = self.reads();
        measurement.name = self.name();
        measurement.block_bytes = self.block;
        measurement.tasks = Some(1);
        // To a pipe, or from one.
        if self.output.is_empty() || (reads && self.input.is_empty()) {
            return;
        }
        measurement.work = if reads { ToolWork::Read } else { ToolWork::Write };
        measurement.direct = Some(self.is_direct());
        measurement.synced = (!reads).then_some(self.is_synced());
        measurement.zeros = !reads && self.input == "/dev/zero";
        let place = if reads { &self.input } else { &self.output };
        let makers = ["/dev/zero", "/dev/urandom", "/dev/random"];
        if reads && makers.contains(&self.input.as_str()) {
            measurement.no_device = Some(format!("it copies from {} to /dev/null", self.input));
        } else if MEMORY_PLACES.iter().any(|memory| place.starts_with(memory)) {
            measurement.no_device = Some(format!("{place} is in memory"));
        }
    }
}

fn has_flag(list: &str, flags: &[&str]) -> bool {
    list.split(',').any(|one| flags.contains(&one))
}

/// Whether a line with `drop_caches` says that the page cache was emptied. The shell shows no redirection (`+ echo 3`), so
/// there the line names nothing and does not count. A program that complains begins with its name.
fn drops_caches(line: &str) -> bool {
    let is_kept = ["=2", "= 2", "echo 2"].iter().any(|word| line.contains(word));
    let is_complaint = line.split_whitespace().take(2).any(|word| word.ends_with(':'));
    !is_kept && !is_complaint
}

/// The error in `dd: error writing 'f': No space left on device`: a file, then the error, in any language. `None` if the
/// line is no complaint, or one that leaves the figures as they are.
fn complaint(line: &str) -> Option<String> {
    let (program, said) = line.trim().split_once(": ")?;
    let (what, error) = said.rsplit_once(": ")?;
    let begins = |all: &[&str]| all.iter().any(|begin| what.starts_with(begin));
    // Warnings of short reads and of multipliers that are zero.
    let is_warning = said.contains("fullblock") || said.contains("00x");
    let is_of_dd = program == "dd" || program.ends_with("/dd");
    if !is_of_dd || is_warning || begins(&["warning", "failed to discard cache"]) {
        return None;
    }
    let is_plain =
        begins(&["error writing", "error reading", "fsync failed", "fdatasync failed", "closing"]);
    Some(if is_plain { error.into() } else { said.into() })
}

/// What was read until now.
#[derive(Default)]
struct DdReader {
    /// Figures, and whether they are those at the end of a copy.
    found: Vec<(ToolMeasurement, bool)>,
    /// Commands whose figures did not come yet.
    waiting: Vec<DdCommand>,
    /// Whether figures came since the last of them was added.
    has_begun: bool,
    error: Option<String>,
    /// Lines of records since the last figures, and all of them.
    is_at_end: bool,
    records: u64,
    /// Files that were written.
    written: HashSet<String>,
    /// What was read or written since all caches were dropped, if they were.
    touched: Option<HashSet<String>>,
    /// Whether a command took some file out of the page cache.
    has_evicted: bool,
}

impl DdReader {
    fn add(&mut self, commands: Vec<DdCommand>) {
        // Of what failed or ended, nothing more comes.
        if self.has_begun || self.error.is_some() {
            self.waiting.clear();
        }
        (self.has_begun, self.error, self.is_at_end) = (false, None, false);
        for command in commands.into_iter().take(COMMANDS_MAX.saturating_sub(self.waiting.len())) {
            self.has_evicted |= command.evicts();
            // What a prompt shows, `set -x` shows again.
            match command.is_quiet {
                true => self.copied(&command),
                false if self.waiting.contains(&command) => {}
                false => self.waiting.push(command),
            }
        }
    }

    fn copied(&mut self, command: &DdCommand) {
        if let Some(touched) = &mut self.touched {
            touched.extend([command.input.clone(), command.output.clone()]);
        }
        self.written.insert(command.output.clone());
    }

    fn take(&mut self, mut measurement: ToolMeasurement) {
        let is_at_end = std::mem::take(&mut self.is_at_end);
        measurement.error = self.error.take().filter(|_| is_at_end);
        self.has_begun |= is_at_end;
        match &self.waiting[..] {
            [] => {}
            [command] => {
                let command = command.clone();
                command.describe(&mut measurement);
                measurement.just_written = self.written.contains(&command.input);
                measurement.cold = self.is_cold(&command);
                if is_at_end {
                    self.copied(&command);
                    self.waiting.clear();
                }
            }
            // Nothing says which figures belong to which, and none repeats the others.
            [first, .., last] => {
                measurement.name = format!("{} or {}", first.name(), last.name());
                measurement.tasks = Some(self.waiting.len() as u64);
                measurement.setup = setup(self.found.len());
            }
        }
        // The last figures of a progress are on a line of their own.
        if is_at_end && self.found.last().is_some_and(|(_, was_at_end)| !was_at_end) {
            self.found.pop();
        }
        // What only takes a file out of the page cache copies nothing.
        if measurement.bytes > Some(0) || measurement.error.is_some() {
            self.found.push((measurement, is_at_end));
        }
    }

    /// Whether what a command reads was not in memory; `None` if it does not only read, or it is not known.
    fn is_cold(&self, command: &DdCommand) -> Option<bool> {
        let is_dropped = self.touched.as_ref().is_some_and(|all| !all.contains(&command.input));
        let is_known = is_dropped || !self.has_evicted;
        (command.reads() && !command.input.is_empty() && is_known).then_some(is_dropped)
    }

    fn read(&mut self, line: &str) {
        if line.contains("drop_caches") {
            self.touched = drops_caches(line).then(HashSet::new);
            return;
        }
        let commands = DdCommand::all_of(line);
        if !commands.is_empty() {
            self.add(commands);
        } else if let Some(said) = complaint(line) {
            self.error = Some(said);
        } else if is_records(line) {
            self.is_at_end = true;
            self.records += 1;
        } else if let Some(measurement) = transfer(line) {
            self.take(measurement);
        }
    }
}

/// `None` if the text is none of dd's.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let mut reader = DdReader::default();
    // With status=progress, lines that end in a carriage return come before the end.
    let lines = text.split_inclusive(['\n', '\r']).filter(|line| !line.ends_with('\r'));
    for line in lines {
        if reader.found.len() > MEASUREMENTS_MAX {
            break;
        }
        reader.read(line);
    }
    if reader.found.is_empty() {
        let why = "it is of dd, but has no line with bytes and time: it was cut, or dd did not end";
        return (!reader.waiting.is_empty() || reader.records > 1).then(|| Err(why.into()));
    }
    let mut measurements: Vec<_> =
        reader.found.into_iter().map(|(measurement, _)| measurement).collect();
    // The same transfer several times is a repetition.
    let key =
        |one: &ToolMeasurement| (one.name.clone(), one.bytes, one.direct, one.synced, one.setup);
    let keys: Vec<_> = measurements.iter().map(key).collect();
    count_runs(&mut measurements, &keys);
    Some(Ok(ToolResult::new(ToolName::Dd, None, measurements)))
}

/// A line of records, whole and partial: `1024+0 records out`, in any language.
fn is_records(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_pair = |at: &usize| *at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let is_short = line.len() <= LINE_BYTES_MAX && line.split_whitespace().count() <= 6;
    let pairs = || line.match_indices('+').map(|(at, _)| at).filter(is_pair).count();
    is_short && !line.contains(':') && pairs() == 1
}

/// The line that ends a transfer, in any language: a whole number of bytes, then a time and a rate in the same unit:
/// `900 bytes (900 B) copied, 9 s, 100 B/s`, `1024 bytes transferred in 0.5 secs (2048 bytes/sec)`.
fn transfer(line: &str) -> Option<ToolMeasurement> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    // The commas of Chinese and Japanese.
    let line = line.trim().replace(['，', '、'], ", ");
    let (head, unit) = line.rsplit_once('/')?;
    let unit = unit.trim_end_matches(')');
    if unit.is_empty() || !unit.chars().all(char::is_alphabetic) {
        return None;
    }
    let words: Vec<&str> = head.split_whitespace().collect();
    // The rate is one word or two.
    let ends = [3, 2].into_iter().filter_map(|back| words.len().checked_sub(back));
    let mut times = ends
        .filter(|at| *at > 1 && words[*at].starts_with(unit))
        .filter_map(|at| Some((at - 1, words[at - 1].replace(',', ".").parse::<f64>().ok()?)));
    let (at, seconds) = times.next()?;
    let bytes = words[..at].iter().find(|word| word.contains(|c: char| c.is_ascii_digit()))?;
    let bytes = whole_number(bytes)?;
    let seconds = above_zero(seconds);
    let mut measurement = ToolMeasurement::new("dd", ToolWork::Unknown);
    measurement.bytes = Some(bytes);
    measurement.file_bytes = Some(bytes);
    measurement.seconds = seconds;
    measurement.bytes_per_second = seconds.and_then(|s| above_zero(bytes as f64 / s));
    Some(measurement)
}

/// The whole number in a word, which others may stand around: `104857600字节`.
fn whole_number(word: &str) -> Option<u64> {
    let number = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let is_whole = !number[end..].starts_with(['.', ',', '+', '-']);
    number[..end].parse().ok().filter(|_| is_whole)
}
