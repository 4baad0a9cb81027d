//! Runs `boatload audit`: weighs results of other benchmarks.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use clap::Args;

use super::common::read_input;
use super::job::size;
use super::out;
use boatload_analysis::audit::{Audit, AuditBounds, audit};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::units::bytes_per_second;
use boatload_host::facts::HostFacts;
use boatload_report::{write_audits, write_audits_json};
use boatload_results::tools::{TOOL_RESULT_BYTES_MAX, ToolResult, read_tool_result};
use boatload_run::run_directory::open_parent;

const EXAMPLES: &str = "\
Examples:
  fio job.fio --output-format=json | boatload audit -
  boatload audit fio.json mdtest.txt --memory 16GiB --device-rate 200MB/s
  (set -x; dd if=/dev/zero of=f bs=1M count=1k) 2>dd.txt; boatload audit dd.txt
  boatload audit elbencho.csv bonnie.csv --dir /mnt/x --json audit.json";

const LONG: &str = "\
Says what in a result cannot have come from the device, or what nothing in it shows: rates above what a device \
does, files that fit into memory, writes without a sync, reads without emptied caches, means without \
spread, one run. Each finding has its reason, a grade (certain, likely, possible, imprecise) and the run of \
boatload that measures it.

Of the machine only what is named counts: --dir gives the memory of this machine, --memory the memory of another, \
--device-rate what the device does. Without them only what the file itself tells counts, \
and what holds for any device.

Several files with the same measurement are repetitions. The exit code is 3 if something speaks against a result, \
0 if nothing does.";

/// Say what results of fio, mdtest, elbencho, bonnie++ or dd cannot have measured
#[derive(Args)]
#[command(name = "audit", before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct AuditCommand {
    /// Results: fio's JSON, mdtest's text, elbencho's or bonnie++'s CSV, dd's standard error; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Directory that was measured, on this machine
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Most that the device can do, such as 200MB/s
    #[arg(long, value_name = "RATE", value_parser = device_rate)]
    device_rate: Option<f64>,
    /// Memory of the machine that was measured, such as 16GiB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    memory: Option<u64>,
    /// Also write the result (JSON) to FILE; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn device_rate(text: &str) -> std::result::Result<f64, String> {
    let rate = bytes_per_second(text).filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "expected bytes in a second, such as 200MB/s".into())
}

impl AuditCommand {
    pub(super) fn run(&self) -> Result<Exit> {
        let bounds = self.bounds()?;
        let read = |file: &PathBuf| Ok((shown(file), read_result(file)?));
        let results = self.files.iter().map(read).collect::<Result<Vec<_>>>()?;
        let audits = audit(results, &bounds);
        let text = out::written("write what was found", |out| write_audits(&audits, out))?;
        out::print_and_keep(&text, self.json.as_deref(), || {
            out::written("write the result", |out| write_audits_json(&audits, &bounds, out))
        })?;
        let is_good = audits.iter().all(|audit: &Audit| audit.findings.is_empty());
        Ok(if is_good { Exit::Good } else { Exit::Regression })
    }

    fn bounds(&self) -> Result<AuditBounds> {
        let mut bounds = AuditBounds {
            device_bytes_per_second: self.device_rate,
            memory_bytes: self.memory,
            ..AuditBounds::default()
        };
        let Some(dir) = &self.dir else { return Ok(bounds) };
        let parent = open_parent(dir)?;
        let host = HostFacts::gather(parent.as_fd())?;
        bounds.memory_bytes = bounds.memory_bytes.or(Some(host.memory_bytes));
        bounds.directory = Some(shown(dir));
        Ok(bounds)
    }
}

fn read_result(path: &Path) -> Result<ToolResult> {
    let bytes = read_input(path, TOOL_RESULT_BYTES_MAX)?;
    read_tool_result(&bytes)
        .map_err(|why| Failure::failed(format!("cannot audit {}: {why}", shown(path))))
}
