//! Reads what elbencho writes with `--csvfile`: a line of names, then one for each phase. Versions add columns, so
//! each is found by its name.

use super::csv::fields;
use super::result::{ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero, count_runs};

/// Columns by which phases are the same measurement.
const SAME: [&str; 12] = [
    "operation", "path type", "paths", "hosts", "threads", "dirs", "files", "file size",
    "block size", "direct io", "random", "io depth",
];

struct ElbenchoRow<'a> {
    names: &'a [String],
    fields: Vec<String>,
}

impl ElbenchoRow<'_> {
    fn text(&self, name: &str) -> &str {
        let at = self.names.iter().position(|one| one == name);
        at.and_then(|at| self.fields.get(at)).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).trim().parse().ok().and_then(above_zero)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.text(name).trim().parse().ok()
    }

    fn is(&self, name: &str) -> bool {
        self.count(name) == Some(1)
    }

    fn key(&self) -> Vec<&str> {
        SAME.iter().map(|name| self.text(name)).collect()
    }

    fn file_bytes(&self) -> Option<u64> {
        let parts: &[&str] = match self.text("path type") {
            "dir" => &["threads", "hosts", "dirs", "files"],
            _ => &["paths"],
        };
        let each = self.count("file size").filter(|size| *size > 0)?;
        // Without directories files lie in the one that was named.
        let number = |part: &&str| self.count(part).unwrap_or(1).max(1);
        parts.iter().try_fold(each, |all, part| all.checked_mul(number(part)))
    }

    fn measurement(&self) -> Option<ToolMeasurement> {
        let operation = self.text("operation");
        // Objects of S3 and files of HDFS have neither direct I/O nor a page cache here.
        if ["bucket", "object", "hdfs"].contains(&self.text("path type")) {
            return None;
        }
        let work = match operation {
            // Reads and writes at once: a rate of both, and no rate of either.
            name if name.starts_with("RWMIX") || name.starts_with("MIX-T") => ToolWork::Unknown,
            name if name.starts_with("WRITE") => ToolWork::Write,
            name if name.starts_with("READ") => ToolWork::Read,
            name if name.starts_with("STAT") => ToolWork::Stat,
            "MKDIRS" => ToolWork::Create,
            "RMFILES" | "RMDIRS" => ToolWork::Remove,
            _ => return None,
        };
        let mut one = ToolMeasurement::new(operation, work);
        let moves = matches!(work, ToolWork::Read | ToolWork::Write | ToolWork::Unknown);
        one.random = self.is("random");
        one.nodes = self.count("hosts");
        one.tasks = self.count("threads").map(|each| each.saturating_mul(one.nodes.unwrap_or(1)));
        // A version without the column does not tell.
        one.direct = self.count("direct io").map(|on| on == 1).filter(|_| moves);
        one.block_bytes = self.count("block size").filter(|_| moves);
        one.file_bytes = self.file_bytes().filter(|_| moves);
        let mebibytes = |name| self.number(name).map(|number| number * 1_048_576.0);
        one.bytes = mebibytes("mib [last]").map(|bytes| bytes as u64);
        one.bytes_per_second = mebibytes("mib/s [last]");
        one.seconds = self.number("time ms [last]").map(|ms| ms / 1e3);
        let rate = if moves { "iops [last]" } else { "entries/s [last]" };
        one.operations_per_second = self.number(rate).or(self.number("entries/s [last]"));
        let counted = if moves { "i/os [last]" } else { "entries [last]" };
        one.operations = self.count(counted);
        one.has_spread =
            self.number("io lat us [max]").or(self.number("ent lat us [max]")).is_some();
        one.was_too_short = one.seconds.is_none();
        // What makes and removes files has no option that syncs it.
        one.synced = one.direct.filter(|_| work == ToolWork::Write);
        Some(one)
    }
}

/// `None` if the first line of names is missing.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let mut lines = text.lines();
    let head = lines.by_ref().find_map(|line| {
        if !line.to_ascii_lowercase().contains("mib/s [last]") {
            return None;
        }
        let names: Vec<_> = fields(line).iter().map(|n| n.trim().to_ascii_lowercase()).collect();
        let has = |name: &str| names.iter().any(|one| one == name);
        (has("operation") && has("mib/s [last]")).then_some(names)
    })?;
    let rows = lines.map(|line| ElbenchoRow { names: &head, fields: fields(line) });
    // A line that was cut would seem to have no time.
    let rows = rows.filter(|row| row.fields.len() >= head.len());
    let rows: Vec<_> = rows.take(super::result::MEASUREMENTS_MAX + 1).collect();
    let (mut measurements, mut written, mut dropped) = (Vec::new(), false, false);
    let (mut command, mut keys) = (None, Vec::new());
    for row in &rows {
        // The file is appended to: what another command did tells nothing of this one.
        if command.replace(row.text("command")) != Some(row.text("command")) {
            (written, dropped) = (false, false);
        }
        match row.text("operation") {
            "DROPCACHE" => dropped = true,
            name if name.starts_with("WRITE") => (written, dropped) = (true, false),
            _ => {}
        }
        let Some(mut one) = row.measurement() else { continue };
        if matches!(one.work, ToolWork::Read | ToolWork::Stat) {
            one.just_written = written;
            one.cold = if dropped { Some(true) } else { written.then_some(false) };
            // What was read once is in memory.
            dropped = false;
        }
        keys.push(row.key());
        measurements.push(one);
    }
    count_runs(&mut measurements, &keys);
    let version = rows.first().map(|row| row.text("version").to_string());
    let version = version.filter(|version| !version.is_empty());
    let has_column = |name: &&str| head.iter().any(|one| one == name);
    let missing =
        ["direct io", "random", "block size"].into_iter().filter(|name| !has_column(name));
    let notes = missing.map(|name| format!("The file has no column `{name}`: it is not known."));
    let result = ToolResult::new(ToolName::Elbencho, version, measurements);
    Some(Ok(ToolResult { notes: notes.collect(), ..result }))
}
