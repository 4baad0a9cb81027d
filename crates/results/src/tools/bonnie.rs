//! Reads the CSV lines of bonnie++(8), formats 1.96 to 1.98. Its source says what the lines do not: bulk writes end
//! with an fsync of each file, and files are read right after they were written. The options `-b` (sync of each file)
//! and `-D` (direct I/O) leave no trace in the lines.

use super::csv::fields;
use super::result::{
    MEASUREMENTS_MAX, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero, binary_bytes,
};
use boatload_base::distinct::each_once;

/// What the columns of a line are, two for each: the rate and its share of the processor.
const BULK: [(&str, ToolWork); 6] = [
    ("write by character", ToolWork::Write),
    ("write by block", ToolWork::Write),
    ("rewrite", ToolWork::Write),
    ("read by character", ToolWork::Read),
    ("read by block", ToolWork::Read),
    ("random seeks", ToolWork::Read),
];
const FILES: [(&str, ToolWork); 6] = [
    ("sequential create", ToolWork::Create),
    ("sequential stat", ToolWork::Stat),
    ("sequential delete", ToolWork::Remove),
    ("random create", ToolWork::Create),
    ("random stat", ToolWork::Stat),
    ("random delete", ToolWork::Remove),
];

/// Columns from the rates of bulk work to the rates of files: 6 times two, and the kind of files.
const FILES_AFTER: usize = 17;

/// bonnie++ counts files in this unit.
const FILES_UNIT: u64 = 1024;

/// `None` if no line is one of bonnie++.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let mut lines = text.lines().filter_map(BonnieLine::parse);
    let (lines, rest) = (lines.by_ref().take(MEASUREMENTS_MAX).collect::<Vec<_>>(), lines.next());
    let first = lines.first()?;
    let version = Some(first.fields[1].clone());
    let mut measurements = Vec::new();
    for setup in each_once(lines.iter().map(BonnieLine::setup)) {
        let alike: Vec<_> = lines.iter().filter(|line| line.setup() == setup).collect();
        for (place, (name, work)) in BULK.iter().enumerate() {
            measurements.extend(combined(&alike, |line| line.bulk(place, name, *work)));
        }
        for (place, (name, work)) in FILES.iter().enumerate() {
            measurements.extend(combined(&alike, |line| line.files(place, name, *work)));
        }
    }
    let result = ToolResult::new(ToolName::Bonnie, version, measurements);
    Some(Ok(ToolResult { is_cut: rest.is_some(), ..result }))
}

struct BonnieLine {
    fields: Vec<String>,
    /// Column of the first rate.
    rates: usize,
}

impl BonnieLine {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        // Format 1.98 has the number of seeks and of seekers before the rates.
        let rates = match line.split(',').next()? {
            "1.96" | "1.97" => 7,
            "1.98" => 9,
            _ => return None,
        };
        let fields = fields(line);
        (fields.len() >= rates + FILES_AFTER + 12).then_some(Self { fields, rates })
    }

    /// Machine, concurrency, sizes and files: lines that have the same are repetitions. Between them is the seed.
    fn setup(&self) -> [&[String]; 3] {
        let files = self.rates + 12;
        [&self.fields[2..4], &self.fields[5..self.rates], &self.fields[files..files + 5]]
    }

    fn file_bytes(&self) -> Option<u64> {
        // A bare number counts mebibytes.
        let size = self.fields[5].as_str();
        match size.parse::<u64>() {
            Ok(megabytes) => megabytes.checked_mul(1 << 20),
            Err(_) => binary_bytes(size),
        }
    }

    /// The rate in a column: `None` if it was not measured, without a number if it was too short.
    fn rate(&self, column: usize, name: &str, work: ToolWork) -> Option<ToolMeasurement> {
        let field = self.fields[column].as_str();
        let mut one = ToolMeasurement::new(name, work);
        one.was_too_short = field.starts_with("++");
        one.operations_per_second = field.parse().ok().and_then(above_zero);
        one.just_written = matches!(work, ToolWork::Read | ToolWork::Stat);
        // Concurrency (`-c`).
        one.tasks = self.fields[3].parse().ok();
        (one.was_too_short || one.operations_per_second.is_some()).then_some(one)
    }

    fn bulk(&self, place: usize, name: &str, work: ToolWork) -> Option<ToolMeasurement> {
        let mut one = self.rate(self.rates + 2 * place, name, work)?;
        one.file_bytes = self.file_bytes();
        one.synced = (work == ToolWork::Write).then_some(true);
        one.random = name == "random seeks";
        if !one.random {
            // By character it works on less, and does not say on how much.
            one.bytes = one.file_bytes.filter(|_| !name.ends_with("by character"));
            one.bytes_per_second = one.operations_per_second.take().map(|kib| kib * 1024.0);
            let rate = one.bytes_per_second;
            one.seconds = one.bytes.zip(rate).map(|(bytes, rate)| bytes as f64 / rate);
        }
        Some(one)
    }

    fn files(&self, place: usize, name: &str, work: ToolWork) -> Option<ToolMeasurement> {
        let mut one = self.rate(self.rates + FILES_AFTER + 2 * place, name, work)?;
        let files = self.fields[self.rates + 12].parse::<u64>().ok();
        one.operations = files.and_then(|files| files.checked_mul(FILES_UNIT));
        one.random = name.starts_with("random");
        Some(one)
    }
}

/// The mean over all lines that have it.
fn combined(
    lines: &[&BonnieLine],
    of: impl Fn(&BonnieLine) -> Option<ToolMeasurement>,
) -> Option<ToolMeasurement> {
    let all: Vec<_> = lines.iter().copied().filter_map(of).collect();
    let mean = |rate: fn(&ToolMeasurement) -> Option<f64>| {
        let known: Vec<f64> = all.iter().filter_map(rate).collect();
        above_zero(known.iter().sum::<f64>() / known.len() as f64)
    };
    let mut one = all.first()?.clone();
    one.operations_per_second = mean(|one| one.operations_per_second);
    one.bytes_per_second = mean(|one| one.bytes_per_second);
    one.was_too_short = one.operations_per_second.is_none() && one.bytes_per_second.is_none();
    one.runs = all.len() as u64;
    Some(one)
}
