//! How the machine was set: what a reader needs to repeat a run.

use std::io::{self, Write};

use super::Report;
use super::text::{number, write_wrapped};
use crate::base::failure::shown;
use crate::base::units::{bytes, counted};
use crate::host::facts::{DeviceFacts, HostFacts};
use crate::host::settings::MachineSettings;
use crate::measure::analysis::Analysis;

/// Longest name of a line, and a blank.
const NAME_WIDTH: usize = 13;

/// The host of a run: the file system, the devices beneath it, the kernel, the processors.
pub(super) struct Host;

impl Report for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "host:")?;
        let lines = host_lines(&analysis.book.host);
        if lines.is_empty() {
            return writeln!(out, "nothing more is known of it");
        }
        for (name, text) in lines {
            write_wrapped(&format!("{name:NAME_WIDTH$}"), &text, out)?;
        }
        Ok(())
    }
}

/// Facts in lines, each with its name; those of which nothing is known are left out.
pub fn host_lines(host: &HostFacts) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let on = &host.filesystem;
    if !on.kind.is_empty() {
        let text = format!("{} with {}", shown(on.about()), shown(&on.options));
        lines.push(("mounted", text));
    }
    for device in host.device.iter().flat_map(chain) {
        lines.push(("device", about_device(device)));
    }
    let Some(settings) = &host.settings else { return lines };
    let parts = [
        ("kernel", kernel(host, settings)),
        ("processors", processors(settings)),
        ("machine", machine(settings)),
        ("memory", memory(settings)),
        ("writing", writing(settings)),
        ("limits", limits(settings)),
    ];
    lines.extend(parts.into_iter().filter(|(_, facts)| !facts.is_empty()).map(joined));
    lines
}

fn joined((name, facts): (&'static str, Vec<String>)) -> (&'static str, String) {
    (name, facts.join(", "))
}

/// A device and those beneath it, each once, from above.
fn chain(device: &DeviceFacts) -> Vec<&DeviceFacts> {
    let mut all: Vec<&DeviceFacts> = vec![device];
    for below in device.stack.iter().flat_map(chain) {
        if !all.iter().any(|known| known.name == below.name) {
            all.push(below);
        }
    }
    all
}

fn about_device(device: &DeviceFacts) -> String {
    let mut facts = vec![shown(&device.name)];
    facts.extend(device.model.as_deref().map(shown));
    facts.extend(device.total_bytes.map(bytes));
    let turns = |turns| if turns { "rotating" } else { "not rotating" };
    facts.extend(device.rotational.map(|yes| turns(yes).into()));
    let sectors = device.sector_bytes.map(|logical| match device.physical_sector_bytes {
        Some(physical) => format!("sectors of {logical} on {physical} bytes"),
        None => format!("sectors of {logical} bytes"),
    });
    facts.extend(sectors);
    facts.extend(device.scheduler.as_deref().map(|name| format!("scheduler {}", shown(name))));
    facts.extend(device.requests_max.map(|many| format!("queue of {many}")));
    facts.extend(device.read_ahead_bytes.map(|far| format!("reads {} ahead", bytes(far))));
    facts.extend(device.write_cache.as_deref().map(|kind| format!("cache {}", shown(kind))));
    facts.extend(device.discards.map(|yes| if yes { "discards" } else { "no discards" }.into()));
    facts.extend(device.loop_direct_io.map(|direct| {
        if direct { "direct I/O" } else { "through the cache of the file system beneath" }.into()
    }));
    facts.join(", ")
}

fn named(name: &str, value: Option<impl ToString>) -> Option<String> {
    value.map(|value| format!("{name} {}", shown(value.to_string())))
}

fn kept(facts: impl IntoIterator<Item = Option<String>>) -> Vec<String> {
    facts.into_iter().flatten().collect()
}

fn kernel(host: &HostFacts, of: &MachineSettings) -> Vec<String> {
    kept([
        Some(shown(&host.kernel)).filter(|text| !text.is_empty()),
        of.kernel_version.as_deref().map(shown),
        named("clock source", of.clock_source.as_ref()),
        named("mitigations", of.mitigations.as_ref()),
    ])
}

fn processors(of: &MachineSettings) -> Vec<String> {
    let smt = |on| if on { "cores shared by threads" } else { "a thread for each core" };
    kept([
        of.cpus_online.map(|many| format!("{} online", counted(many, "processor"))),
        of.smt.map(|on| smt(on).to_string()),
        named("governor", of.governor.as_ref()),
        named("driver", of.frequency_driver.as_ref()),
    ])
}

fn machine(of: &MachineSettings) -> Vec<String> {
    let kind = |virtual_one| if virtual_one { "virtual" } else { "not virtual" };
    kept([
        of.product.as_deref().map(shown),
        of.virtual_machine.map(|yes| kind(yes).to_string()),
        named("hypervisor", of.hypervisor.as_ref()),
    ])
}

fn memory(of: &MachineSettings) -> Vec<String> {
    kept([
        of.swap_bytes.map(|swap| match swap {
            0 => "no swap".to_string(),
            swap => format!("{} of swap", bytes(swap)),
        }),
        named("swappiness", of.swappiness),
        named("vfs_cache_pressure", of.vfs_cache_pressure),
        named("transparent_hugepage", of.transparent_hugepage.as_ref()),
    ])
}

/// What is set in bytes is 0 where a ratio counts, and the other way round.
fn writing(of: &MachineSettings) -> Vec<String> {
    let either = |name: &str, size: Option<u64>, ratio: Option<u64>| match (size, ratio) {
        (Some(size), _) if size > 0 => Some(format!("{name}_bytes {}", bytes(size))),
        (_, ratio) => ratio.map(|ratio| format!("{name}_ratio {ratio}%")),
    };
    let seconds = |name: &str, hundredths: Option<u64>| {
        hundredths.map(|hundredths| format!("{name} {} s", number(hundredths as f64 / 100.0, 3)))
    };
    kept([
        either("dirty", of.dirty_bytes, of.dirty_ratio),
        either("dirty_background", of.dirty_background_bytes, of.dirty_background_ratio),
        seconds("dirty_expire", of.dirty_expire_centiseconds),
        seconds("dirty_writeback", of.dirty_writeback_centiseconds),
    ])
}

fn limits(of: &MachineSettings) -> Vec<String> {
    kept([
        of.group_cpus_max.map(|many| format!("{} processors", number(many, 3))),
        of.group_memory_max_bytes.map(|most| format!("{} of memory", bytes(most))),
    ])
}
