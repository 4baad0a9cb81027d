//! The report a person reads in a terminal.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::{byte_rate, number, time, uncertainty, wrap};
use super::{Report, provenance};
use crate::base::units::{self, Quantity};
use crate::host::facts::{FilesystemFacts, HostFacts};
use crate::measure::book::{CellKey, Finding, Level, ResultBook, RunFacts};
use crate::measure::next::{Next, next};
use crate::measure::summary::{Basis, Estimate, Group, Invalid, Row, Summary, summarize};
use crate::plan::EngineName;

/// One row for each phase, what boatload concludes, and what to look at next.
pub(super) struct Terminal;

impl Report for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn render(&self, book: &ResultBook, out: &mut dyn Write) -> io::Result<()> {
        let summary = summarize(book);
        write_head(book, &summary, out)?;
        writeln!(out)?;
        if summary.groups.is_empty() {
            writeln!(out, "Nothing was measured.")?;
        } else if provenance::is_latencies_only(book, &summary) {
            provenance::latencies(book).write(out)?;
        } else {
            phases(&summary).write(out)?;
            write_wrapped("", about_interval(&summary), out)?;
        }
        write_findings(&book.findings, out)?;
        if let Some(reference) = &book.run.reference {
            provenance::write_notes(reference, out)?;
        }
        writeln!(out)?;
        for one in next(book, &summary) {
            write_wrapped("- ", &next_sentence(&one, &summary), out)?;
        }
        Ok(())
    }
}

fn write_head(book: &ResultBook, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let run = &book.run;
    write_wrapped("", &format!("{}: {}", run.scenario, run.question), out)?;
    if let Some(reference) = &run.reference {
        return provenance::write_head(reference, &book.host, out);
    }
    write_wrapped("", &about_run(run), out)?;
    write_wrapped("", &about_place(book), out)?;
    write_wrapped("", &about_machine(&book.host), out)?;
    let cost = time(Some(run.harness_ns).filter(|ns| ns.is_finite()));
    let harness = format!("boatload's own cost: {cost} per operation");
    let figures = [about_n(summary), Some(harness)].into_iter().flatten();
    write_wrapped("", &figures.collect::<Vec<_>>().join("; "), out)?;
    if !run.complete {
        let why = match run.finished {
            Some(_) => "it was interrupted",
            None => "it was killed, or is still running",
        };
        write_wrapped("INCOMPLETE: ", &format!("not every cell was done; {why}"), out)?;
    }
    Ok(())
}

fn about_run(run: &RunFacts) -> String {
    format!(
        "run {} of {}, {} scale, seed {}, boatload {}",
        run.id, run.started, run.scale, run.seed, run.boatload
    )
}

pub(super) fn about_place(book: &ResultBook) -> String {
    let measurements = &book.measurements;
    if !measurements.is_empty() && measurements.iter().all(|m| m.engine == EngineName::Sim.word()) {
        return "the simulated file system".into();
    }
    let host = &book.host;
    let FilesystemFacts { kind, source, available_bytes, total_bytes, .. } = &host.filesystem;
    let place = match &host.device {
        Some(device) => match &device.model {
            Some(model) => format!("{} ({model})", device.name),
            None => device.name.clone(),
        },
        None => source.clone(),
    };
    let (free, total) = (units::bytes(*available_bytes), units::bytes(*total_bytes));
    format!("{kind} on {place}, {free} of {total} free")
}

pub(super) fn about_machine(host: &HostFacts) -> String {
    let processors = units::counted(u64::from(host.cpus), "processor");
    let memory = units::bytes(host.memory_bytes);
    format!("{}, {processors}, {memory} of memory, {}", host.cpu, host.kernel)
}

fn estimates(summary: &Summary) -> impl Iterator<Item = Estimate> {
    rows(summary).filter_map(|row| row.rate)
}

/// Whether as many values stand behind each rate.
fn same_n(summary: &Summary) -> bool {
    let mut all = estimates(summary).map(|rate| rate.n);
    let first = all.next();
    all.all(|n| Some(n) == first)
}

fn about_n(summary: &Summary) -> Option<String> {
    let least = estimates(summary).min_by_key(|rate| rate.n)?;
    let most = estimates(summary).max_by_key(|rate| rate.n)?;
    let noun = if most.basis == Basis::Passes { "pass" } else { "repeat" };
    let plural = match (most.n, most.basis) {
        (1, _) => "",
        (_, Basis::Passes) => "es",
        _ => "s",
    };
    let range = if least.n == most.n { String::new() } else { format!("{} to ", least.n) };
    Some(format!("n = {range}{} {noun}{plural}", most.n))
}

fn about_interval(summary: &Summary) -> &'static str {
    let known = |rate: &Estimate| rate.relative().is_some();
    let has = |basis| estimates(summary).any(|rate| rate.basis == basis && known(&rate));
    match (has(Basis::Repeats), has(Basis::Passes), has(Basis::Slices)) {
        (false, false, false) => "",
        (true, false, false) => "± is a 95% interval over the repeats",
        (false, true, false) => "± is a 95% interval over the passes of one repeat",
        (false, false, true) => "± is a 95% interval from slices of the phase",
        _ => "± is a 95% interval over repeats, or passes or slices of a single one",
    }
}

fn rows(summary: &Summary) -> impl Iterator<Item = &Row> {
    summary.groups.iter().flat_map(|group| &group.rows)
}

/// Which columns have anything to show.
struct Columns {
    bytes: bool,
    interval: bool,
    n: bool,
    tail: bool,
}

impl Columns {
    fn of(summary: &Summary) -> Self {
        let has = |is: fn(&Row) -> bool| rows(summary).any(is);
        // Without any rate all columns stay, as heads of nothing.
        let bare = !has(|row| row.rate.is_some());
        Self {
            bytes: has(|row| row.byte_rate.is_some()),
            interval: bare || estimates(summary).any(|rate| rate.relative().is_some()),
            n: !same_n(summary),
            tail: bare || has(|row| row.tail.is_some()),
        }
    }

    fn heads(&self) -> Vec<(&'static str, Align)> {
        use Align::{Left, Right};
        let mut heads = vec![("phase", Left)];
        heads.push((if self.bytes { "rate" } else { "ops/s" }, Right));
        heads.extend(self.interval.then_some(("±", Right)));
        heads.extend(self.n.then_some(("n", Right)));
        heads.extend([("seconds", Right), ("sync", Right)]);
        if self.tail {
            heads.extend(["p50", "p99", "max"].map(|head| (head, Right)));
        }
        heads.push(("cache", Left));
        heads
    }

    fn rate(&self, row: &Row, rate: &Estimate) -> String {
        match row.byte_rate {
            Some(bytes) => byte_rate(bytes.mean, bytes.figures),
            None if self.bytes => format!("{}/s", number(rate.mean, rate.figures)),
            None => number(rate.mean, rate.figures),
        }
    }
}

fn phases(summary: &Summary) -> Table {
    let columns = Columns::of(summary);
    let mut table = Table::new(&columns.heads());
    for group in &summary.groups {
        if summary.groups.len() > 1 {
            table.heading(&format!("{}:", group_name(group)));
        }
        for row in &group.rows {
            add_row(&mut table, row, &columns);
        }
    }
    table
}

fn add_row(table: &mut Table, row: &Row, columns: &Columns) {
    if let Some(rate) = row.rate {
        let mut cells = vec![row.phase.clone(), columns.rate(row, &rate)];
        cells.extend(columns.interval.then(|| uncertainty(rate.relative())));
        cells.extend(columns.n.then(|| rate.n.to_string()));
        // Number and unit together, so that the columns of a common run fit without shortening.
        let narrow = |ns: Option<f64>| time(ns).replace(' ', "");
        let seconds = |seconds: Option<f64>| narrow(seconds.map(|seconds| seconds * 1e9));
        let whole = |ns: Option<u64>| narrow(ns.map(|ns| ns as f64));
        cells.extend([seconds(row.seconds), seconds(row.sync_seconds)]);
        let tail = row.tail;
        if columns.tail {
            cells.push(whole(tail.and_then(|tail| tail.p50_ns)));
            cells.push(whole(tail.and_then(|tail| tail.p99_ns)));
            cells.push(whole(tail.map(|tail| tail.max_ns)));
        }
        cells.push(row.cache.clone());
        table.row(cells);
    }
    for invalid in &row.invalid {
        let Invalid { repeat, pass, reasons } = invalid;
        let pass = if *pass > 1 { format!(", pass {pass}") } else { String::new() };
        let text = format!("invalid (repeat {repeat}{pass}): {}", reasons.join("; "));
        table.note(&row.phase, &text);
    }
}

fn group_name(group: &Group) -> String {
    cell_name(&group.variant, group.level.as_ref())
}

/// A variant and its level, for a heading.
pub(super) fn cell_name(variant: &str, level: Option<&Level>) -> String {
    match level {
        None => variant.to_string(),
        Some(level) => format!("{variant}, {} {}", level.axis, level_value(level)),
    }
}

/// A cell with its repeat, for a heading.
pub(super) fn cell_and_repeat(cell: &CellKey) -> String {
    format!("{}, repeat {}", cell_name(&cell.variant, cell.level.as_ref()), cell.repeat)
}

pub(super) fn level_value(level: &Level) -> String {
    let Level { value, unit, .. } = level;
    let fits = *value >= 0.0 && *value < 1e15;
    if fits { Quantity { value: *value, unit: *unit }.to_string() } else { number(*value, 3) }
}

fn write_findings(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    if !findings.is_empty() {
        writeln!(out)?;
    }
    for finding in findings {
        let warns = finding.kind == "warning";
        let lead = if warns { "warning: " } else { "" };
        write_wrapped(lead, &finding.sentence, out)?;
        let hint = finding.figures.get("hint").and_then(|hint| hint.as_str());
        write_wrapped(&" ".repeat(lead.len()), hint.unwrap_or_default(), out)?;
    }
    Ok(())
}

fn next_sentence(next: &Next, summary: &Summary) -> String {
    match next {
        Next::SlowestPhase { phase, group, p50_ns, p99_ns, ratio } => {
            let of = group.and_then(|at| summary.groups.get(at)).map(group_name);
            let of = of.map(|name| format!(" ({name})")).unwrap_or_default();
            format!(
                "{phase}{of} is the slowest: its p99 of {} is {} times its p50 of {}",
                time(Some(*p99_ns as f64)),
                number(*ratio, 2),
                time(Some(*p50_ns as f64))
            )
        }
        Next::LargerScale { scale } => {
            format!("the same command with --scale {scale} tells more about tails and growth")
        }
        Next::Beside { scenario, run } => format!(
            "boatload run {scenario} --scale original, then boatload show last {run}, puts a run \
             of your own beside it"
        ),
        Next::Show { run, windows } => {
            let more = if *windows { "; with --windows, slice by slice" } else { "" };
            format!("boatload show {run} prints this again{more}")
        }
    }
}

pub(super) fn write_wrapped(lead: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    wrap(lead, text).iter().try_for_each(|line| writeln!(out, "{line}"))
}
