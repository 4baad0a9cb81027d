//! Reads what dd(1) writes to standard error: GNU, busybox and BSD. The command lines between are those that a
//! shell shows (`set -x`, or copied with their prompt).

use std::collections::HashSet;

use super::{
    MEASUREMENTS_MAX, MEMORY_PLACES, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero,
    binary_bytes, command_words, count_runs,
};

/// What dd was asked to do.
#[derive(Default)]
struct DdCommand {
    input: String,
    output: String,
    block: Option<u64>,
    input_flags: String,
    output_flags: String,
    conversions: String,
    count: String,
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
    /// None if the line is none.
    fn parse(line: &str) -> Option<Self> {
        // The prompt of root begins a comment to a shell, which many another line is.
        let behind = line.trim_start().strip_prefix("# ").map(str::trim_start);
        let is_command =
            |text: &&str| ["dd ", "sudo dd ", "time dd "].iter().any(|c| text.starts_with(c));
        let words = command_words(behind.filter(is_command).unwrap_or(line));
        let at = words.iter().position(|word| word == "dd" || word.ends_with("/dd"))?;
        let mut command = Self::default();
        for word in &words[at + 1..] {
            let Some((key, value)) = word.split_once('=') else { continue };
            match key {
                "if" => command.input = value.into(),
                "of" => command.output = value.into(),
                "bs" | "obs" | "ibs" => command.block = dd_bytes(value),
                "iflag" => command.input_flags = value.into(),
                "oflag" => command.output_flags = value.into(),
                "conv" => command.conversions = value.into(),
                "count" => command.count = value.into(),
                _ => {}
            }
        }
        (!command.input.is_empty() || !command.output.is_empty()).then_some(command)
    }

    fn makes_content(&self) -> bool {
        ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&self.input.as_str())
    }

    /// Whether the line says that the page cache was emptied. The shell shows no redirection (`+ echo 3`), so there the
    /// line names nothing and does not count.
    fn drops_caches(line: &str) -> bool {
        let is_kept = ["=2", "= 2", "echo 2", "denied", "Read-only"];
        line.contains("drop_caches") && !is_kept.iter().any(|word| line.contains(word))
    }

    /// The file that it only takes out of the page cache: `dd of=f oflag=nocache conv=notrunc,fdatasync count=0`.
    fn evicted(&self) -> Option<&str> {
        let flags = [(&self.input_flags, &self.input), (&self.output_flags, &self.output)];
        let has = |flags: &str| flags.split(',').any(|flag| flag == "nocache");
        let found = flags.into_iter().find(|(flags, file)| has(flags) && !file.is_empty());
        found.filter(|_| self.count == "0").map(|(_, file)| file.as_str())
    }

    fn describe(&self, measurement: &mut ToolMeasurement) {
        let has = |list: &str, flags: &[&str]| list.split(',').any(|one| flags.contains(&one));
        let reads = self.output == "/dev/null";
        let place = if reads { &self.input } else { &self.output };
        measurement.name = format!("dd {}={place}", if reads { "if" } else { "of" });
        measurement.block_bytes = self.block;
        // The shell that shows the command does not show where its standard input and output lead.
        if self.output.is_empty() || (reads && self.input.is_empty()) {
            measurement.name = format!("dd if={}", self.input);
            return;
        }
        measurement.work = if reads { ToolWork::Read } else { ToolWork::Write };
        let flags = if reads { &self.input_flags } else { &self.output_flags };
        let direct = has(flags, &["direct"]);
        measurement.direct = Some(direct);
        if reads {
            measurement.cold = Some(false);
        } else {
            let synced = has(flags, &["sync", "dsync"]);
            let synced = synced || has(&self.conversions, &["fsync", "fdatasync"]);
            measurement.synced = Some(direct || synced);
            measurement.zeros = self.input == "/dev/zero";
        }
        if reads && self.makes_content() {
            measurement.no_device = Some(format!("it copies from {} to /dev/null", self.input));
        } else if MEMORY_PLACES.iter().any(|memory| place.starts_with(memory)) {
            measurement.no_device = Some(format!("{place} is in memory"));
        }
    }
}

/// What is known of the page cache.
#[derive(Default)]
struct DdCaches {
    /// Files that were written.
    written: HashSet<String>,
    /// Those of them that are not all on the device: their pages stay.
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
    fn copied(&mut self, command: DdCommand, synced: bool) {
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

/// None if the text is none of dd's.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let (mut found, mut caches) = (Vec::new(), DdCaches::default());
    let (mut command, mut error, mut ended) = (None::<DdCommand>, None, false);
    // With status=progress, lines that end in a carriage return come before the end.
    let lines = text.split_inclusive(['\n', '\r']).filter(|line| !line.ends_with('\r'));
    for line in lines {
        if found.len() > MEASUREMENTS_MAX {
            break;
        }
        if line.contains("drop_caches") {
            caches.touched = DdCommand::drops_caches(line).then(HashSet::new);
        } else if let Some(next) = DdCommand::parse(line) {
            (command, error) = (Some(next), None);
        } else if let Some(said) = failure(line) {
            error = Some(said);
        } else if line.contains("records out") {
            ended = true;
        } else if let Some(mut measurement) = transfer(line) {
            measurement.error = error.take().filter(|_| ended);
            let is_nothing = measurement.bytes == Some(0) && measurement.error.is_none();
            if let Some(command) = command.take_if(|_| ended && is_nothing) {
                caches.evict(&command);
                ended = false;
                continue;
            }
            if let Some(known) = &command {
                known.describe(&mut measurement);
                measurement.just_written = caches.written.contains(&known.input);
                measurement.cold = measurement.cold.map(|_| caches.is_cold(&known.input));
            }
            // So does the last of them, with a line of its own.
            if ended && found.last().is_some_and(|(_, ended)| !ended) {
                found.pop();
            }
            let synced = measurement.synced == Some(true);
            found.push((measurement, ended));
            if let Some(command) = command.take_if(|_| ended) {
                caches.copied(command, synced);
            }
            ended = false;
        }
    }
    let mut measurements: Vec<_> = found.into_iter().map(|(measurement, _)| measurement).collect();
    if measurements.is_empty() {
        let why = "it is of dd, but has no line with bytes and time: it was cut, or dd did not end";
        return (command.is_some() || ended).then(|| Err(why.into()));
    }
    // The same transfer several times is a repetition.
    let key = |one: &ToolMeasurement| (one.name.clone(), one.bytes, one.direct, one.synced);
    let keys: Vec<_> = measurements.iter().map(key).collect();
    count_runs(&mut measurements, &keys);
    Some(Ok(ToolResult {
        tool: ToolName::Dd,
        version: None,
        nodes: None,
        requests: None,
        measurements,
        is_cut: false,
    }))
}

/// What dd says of an error in the midst of a transfer: `dd: error writing 'f': No space left on device`.
fn failure(line: &str) -> Option<String> {
    let (what, said) = line.trim().strip_prefix("dd: ")?.rsplit_once(": ")?;
    let is_transfer =
        ["error writing", "error reading", "fsync failed", "fdatasync failed", "closing"];
    is_transfer.iter().any(|begin| what.starts_with(begin)).then(|| said.into())
}

/// The line that ends a transfer.
fn transfer(line: &str) -> Option<ToolMeasurement> {
    let line = line.trim();
    let (bytes, rest) = line.split_once(' ')?;
    let bytes: u64 = bytes.parse().ok()?;
    if !rest.starts_with("bytes") && !rest.starts_with("byte ") {
        return None;
    }
    let timed = rest.split_once("copied, ").or_else(|| rest.split_once("transferred in "))?.1;
    let (seconds, unit) = timed.split_once(' ')?;
    if !unit.starts_with('s') {
        return None;
    }
    let seconds = seconds.replace(',', ".").parse().ok().and_then(above_zero);
    let mut measurement = ToolMeasurement::new("dd", ToolWork::Unknown);
    measurement.bytes = Some(bytes);
    measurement.file_bytes = Some(bytes);
    measurement.seconds = seconds;
    measurement.bytes_per_second = seconds.and_then(|s| above_zero(bytes as f64 / s));
    Some(measurement)
}
