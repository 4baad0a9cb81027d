//! Reads what dd(1) writes to standard error: GNU and busybox in any language, and BSD. Its lines are known by their
//! numbers and units, not by their words. The command lines between are those that a shell shows (`set -x`, or copied
//! with their prompt).

use std::collections::{HashSet, VecDeque};

use super::result::{
    MEASUREMENTS_MAX, MEMORY_PLACES, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero,
    binary_bytes, command_words, count_runs, setup,
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
    count: String,
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
    /// The first dd among the words of a command, also one behind `ssh HOST`; `None` if there is none.
    fn of_words(words: &[String]) -> Option<Self> {
        let at = words.iter().position(|word| word == "dd" || word.ends_with("/dd"))?;
        let mut command = Self::default();
        for word in &words[at + 1..] {
            command.is_quiet |= word == "2>/dev/null";
            let Some((key, value)) = word.split_once('=') else { continue };
            match key {
                "if" => command.input = value.into(),
                "of" => command.output = value.into(),
                "bs" | "obs" | "ibs" => command.block = dd_bytes(value),
                "iflag" => command.input_flags = value.into(),
                "oflag" => command.output_flags = value.into(),
                "conv" => command.conversions = value.into(),
                "count" => command.count = value.into(),
                "status" => command.is_quiet |= value == "none" || value == "noxfer",
                _ => {}
            }
        }
        (!command.input.is_empty() || !command.output.is_empty()).then_some(command)
    }

    fn makes_content(&self) -> bool {
        ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&self.input.as_str())
    }

    /// Whether the line says that the page cache was emptied. The shell shows no redirection (`+ echo 3`), so there the
    /// line names nothing and does not count. A program that complains begins with its name.
    fn drops_caches(line: &str) -> bool {
        let is_kept = ["=2", "= 2", "echo 2"].iter().any(|word| line.contains(word));
        let mut words = line.split_whitespace().take(2);
        let is_complaint = words.any(|word| word.ends_with(':'));
        line.contains("drop_caches") && !is_kept && !is_complaint
    }

    /// The file that it only takes out of the page cache: `dd of=f oflag=nocache conv=notrunc,fdatasync count=0`.
    fn evicted(&self) -> Option<&str> {
        let flags = [(&self.input_flags, &self.input), (&self.output_flags, &self.output)];
        let has = |flags: &str| flags.split(',').any(|flag| flag == "nocache");
        let found = flags.into_iter().find(|(flags, file)| has(flags) && !file.is_empty());
        found.filter(|_| self.count == "0").map(|(_, file)| file.as_str())
    }

    fn reads(&self) -> bool {
        self.output == "/dev/null"
    }

    /// Whether its data moves where the shell that shows the command does not show: to a pipe, or from one.
    fn is_open_ended(&self) -> bool {
        self.output.is_empty() || (self.reads() && self.input.is_empty())
    }

    fn name(&self) -> String {
        match self.reads() || self.output.is_empty() {
            true => format!("dd if={}", self.input),
            false => format!("dd of={}", self.output),
        }
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
        if self.is_open_ended() {
            return;
        }
        measurement.work = if reads { ToolWork::Read } else { ToolWork::Write };
        measurement.direct = Some(self.is_direct());
        measurement.cold = reads.then_some(false);
        measurement.synced = (!reads).then_some(self.is_synced());
        measurement.zeros = !reads && self.input == "/dev/zero";
        let place = if reads { &self.input } else { &self.output };
        if reads && self.makes_content() {
            measurement.no_device = Some(format!("it copies from {} to /dev/null", self.input));
        } else if MEMORY_PLACES.iter().any(|memory| place.starts_with(memory)) {
            measurement.no_device = Some(format!("{place} is in memory"));
        }
    }
}

fn has_flag(list: &str, flags: &[&str]) -> bool {
    list.split(',').any(|one| flags.contains(&one))
}

/// Commands that run at the same time, as in a pipe: nothing says which figures belong to which.
struct DdGroup {
    commands: Vec<DdCommand>,
    /// Figures that came of them.
    ended: usize,
}

impl DdGroup {
    fn describe(&self, measurement: &mut ToolMeasurement) {
        let all = self.commands.len();
        let [first, .., last] = &self.commands[..] else {
            return self.commands.iter().for_each(|only| only.describe(measurement));
        };
        measurement.name = format!("{} or {}", first.name(), last.name());
        measurement.tasks = Some(all as u64);
        // Not a repetition of the others.
        measurement.setup = setup((all, self.ended));
    }
}

/// A part of a command line up to a `|`, `&`, `;`, `&&`, `||` or a parenthesis.
struct ShellPart<'a> {
    text: &'a str,
    /// Whether the next runs at the same time.
    has_company: bool,
}

fn shell_parts(line: &str) -> Vec<ShellPart<'_>> {
    let (mut parts, mut begin, mut quote, mut before) = (Vec::new(), 0, None, ' ');
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quote, c) {
            (None | Some('"'), '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            // `2>&1` and `&>file` redirect.
            (None, '&') if before == '>' || next == Some('>') => {}
            (None, '|' | '&' | ';' | '(' | ')') => {
                let is_apart = c == ';' || (matches!(c, '|' | '&') && next == Some(c));
                parts.push(ShellPart { text: &line[begin..at], has_company: !is_apart });
                chars.next_if(|(_, next)| *next == c);
                begin = chars.peek().map_or(line.len(), |(at, _)| *at);
            }
            _ => {}
        }
        before = c;
    }
    parts.push(ShellPart { text: &line[begin..], has_company: false });
    parts
}

/// The commands of dd in a line, in the order in which they run.
fn commands(line: &str) -> Vec<Vec<DdCommand>> {
    // The prompt of root begins a comment to a shell, which many another line is.
    let behind = line.trim_start().strip_prefix("# ").map(str::trim_start);
    let is_command =
        |text: &&str| ["dd ", "sudo dd ", "time dd "].iter().any(|c| text.starts_with(c));
    let line = behind.filter(is_command).unwrap_or(line);
    if line.len() > super::result::COMMAND_BYTES_MAX || !line.contains("dd") {
        return Vec::new();
    }
    let (mut groups, mut has_company) = (Vec::<Vec<DdCommand>>::new(), false);
    for part in shell_parts(line) {
        let words = command_words(part.text);
        let quoted = words
            .iter()
            .filter(|word| word.contains("dd "))
            .flat_map(|word| shell_parts(word).into_iter().map(|part| command_words(part.text)));
        let own = DdCommand::of_words(&words);
        let found = own.into_iter().chain(quoted.filter_map(|words| DdCommand::of_words(&words)));
        match groups.last_mut().filter(|_| has_company) {
            Some(group) => group.extend(found),
            None => groups.push(found.collect()),
        }
        has_company = part.has_company;
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// What is known of the page cache.
#[derive(Default)]
struct DdCaches {
    /// Files that were written.
    written: HashSet<String>,
    /// Files among them that are not all on the device: their pages stay.
    unsynced: HashSet<String>,
    /// What was read or written since all caches were dropped, if they were.
    touched: Option<HashSet<String>>,
    /// Files that were taken out of it.
    evicted: HashSet<String>,
}

impl DdCaches {
    fn is_cold(&self, file: &str) -> bool {
        let is_dropped = self.touched.as_ref().is_some_and(|all| !all.contains(file));
        is_dropped || self.evicted.contains(file)
    }

    /// A command that copied nothing, on purpose.
    fn evict(&mut self, command: &DdCommand) {
        let file = command.evicted().filter(|file| !self.unsynced.contains(*file));
        self.evicted.extend(file.map(String::from));
    }

    /// A command that copied something.
    fn copied(&mut self, command: DdCommand) {
        let synced = command.is_synced();
        let DdCommand { input, output, .. } = command;
        if let Some(touched) = &mut self.touched {
            touched.extend([input.clone(), output.clone()]);
        }
        self.evicted.remove(&input);
        self.evicted.remove(&output);
        match synced {
            true => drop(self.unsynced.remove(&output)),
            false => drop(self.unsynced.insert(output.clone())),
        }
        self.written.insert(output);
    }
}

/// What dd says of an error.
enum DdComplaint {
    /// A file could not be opened: no figures follow.
    NotOpened,
    /// Of what it copied.
    Copying(String),
}

impl DdComplaint {
    /// `dd: error writing 'f': No space left on device`: a file, then the error, in any language. `None` if the line is no
    /// complaint, or one that leaves the figures as they are.
    fn parse(line: &str) -> Option<Self> {
        let (program, said) = line.trim().split_once(": ")?;
        let (what, error) = said.rsplit_once(": ")?;
        let begins = |all: &[&str]| all.iter().any(|begin| what.starts_with(begin));
        // Warnings of short reads and of multipliers that are zero.
        let is_warning = said.contains("fullblock") || said.contains("00x");
        let is_of_dd = program == "dd" || program.ends_with("/dd");
        if !is_of_dd || is_warning || begins(&["warning", "failed to discard cache"]) {
            return None;
        }
        if begins(&["failed to open", "can't open", "opening"]) {
            return Some(Self::NotOpened);
        }
        let is_plain = begins(&[
            "error writing",
            "error reading",
            "fsync failed",
            "fdatasync failed",
            "closing",
        ]);
        Some(Self::Copying(if is_plain { error.into() } else { said.into() }))
    }
}

/// What was read until now.
#[derive(Default)]
struct DdReader {
    /// Figures, and whether they are those at the end of a copy.
    found: Vec<(ToolMeasurement, bool)>,
    caches: DdCaches,
    /// Commands whose figures did not come yet.
    waiting: VecDeque<DdGroup>,
    /// Whether figures came since the last of them was added.
    has_begun: bool,
    error: Option<String>,
    /// Lines of records since the last figures, and all of them.
    is_at_end: bool,
    records: u64,
}

impl DdReader {
    fn add(&mut self, groups: Vec<Vec<DdCommand>>) {
        // Of what failed or ended, nothing more comes.
        if self.has_begun || self.error.is_some() {
            self.waiting.clear();
        }
        (self.has_begun, self.error, self.is_at_end) = (false, None, false);
        let before = self.waiting.len();
        let known: usize = self.waiting.iter().map(|group| group.commands.len()).sum();
        for group in groups.into_iter().take(COMMANDS_MAX.saturating_sub(known)) {
            let (quiet, loud): (Vec<_>, Vec<_>) = group.into_iter().partition(|one| one.is_quiet);
            for command in quiet {
                match command.count == "0" {
                    true => self.caches.evict(&command),
                    false => self.caches.copied(command),
                }
            }
            // What a prompt shows, `set -x` shows again.
            let is_waiting =
                |one: &DdCommand| self.waiting.iter().any(|group| group.commands.contains(one));
            let commands: Vec<_> = loud.into_iter().filter(|one| !is_waiting(one)).collect();
            if !commands.is_empty() {
                self.waiting.push_back(DdGroup { commands, ended: 0 });
            }
        }
        // Without figures between, all run at the same time.
        if before > 0 && self.waiting.len() > before {
            self.join();
        }
    }

    /// Nothing says which of the waiting commands runs next.
    fn join(&mut self) {
        let groups = std::mem::take(&mut self.waiting);
        let ended = groups.front().map_or(0, |group| group.ended);
        let commands: Vec<_> = groups.into_iter().flat_map(|group| group.commands).collect();
        if !commands.is_empty() {
            self.waiting.push_back(DdGroup { commands, ended });
        }
    }

    fn complain(&mut self, complaint: DdComplaint) {
        match complaint {
            DdComplaint::NotOpened
                if self.waiting.front().is_none_or(|group| group.commands.len() > 1) => {}
            DdComplaint::NotOpened => drop(self.waiting.pop_front()),
            DdComplaint::Copying(said) => {
                self.error = Some(said);
                if self.waiting.len() > 1 {
                    self.join();
                }
            }
        }
    }

    fn take(&mut self, mut measurement: ToolMeasurement) {
        let is_at_end = std::mem::take(&mut self.is_at_end);
        measurement.error = self.error.take().filter(|_| is_at_end);
        if let Some(group) = self.waiting.front_mut() {
            self.has_begun = true;
            let is_nothing = measurement.bytes == Some(0) && measurement.error.is_none();
            if is_at_end && is_nothing && group.commands.len() == 1 {
                self.waiting
                    .pop_front()
                    .iter()
                    .for_each(|group| self.caches.evict(&group.commands[0]));
                return;
            }
            group.describe(&mut measurement);
            if let [known] = &group.commands[..] {
                measurement.just_written = self.caches.written.contains(&known.input);
                measurement.cold = measurement.cold.map(|_| self.caches.is_cold(&known.input));
            }
            group.ended += usize::from(is_at_end);
            if group.ended >= group.commands.len() {
                let ended = self.waiting.pop_front().into_iter().flat_map(|group| group.commands);
                ended.for_each(|command| self.caches.copied(command));
            }
        }
        // The last figures of a progress are on a line of their own.
        if is_at_end && self.found.last().is_some_and(|(_, was_at_end)| !was_at_end) {
            self.found.pop();
        }
        self.found.push((measurement, is_at_end));
    }

    fn read(&mut self, line: &str) {
        if line.contains("drop_caches") {
            self.caches.touched = DdCommand::drops_caches(line).then(HashSet::new);
            return;
        }
        let groups = commands(line);
        if !groups.is_empty() {
            self.add(groups);
        } else if let Some(complaint) = DdComplaint::parse(line) {
            self.complain(complaint);
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
    Some(Ok(ToolResult {
        tool: ToolName::Dd,
        version: None,
        requests: None,
        measurements,
        notes: Vec::new(),
        is_cut: false,
    }))
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
