//! Writes the settings of the machine that a reader needs to repeat a run.

use std::io::{self, Write};

use super::text::{number, write_wrapped};
use crate::analysis::Analysis;
use crate::base::failure::shown;
use crate::base::units::{bytes, counted};
use crate::host::facts::{DeviceFacts, HostFacts};
use crate::host::settings::MachineSettings;

/// Longest name of a line, and a blank.
const NAME_WIDTH: usize = 13;

/// Writes the host of a run: the file system, the devices beneath it, the kernel, the processors. Fails only if
/// `out` does.
pub(super) fn write_host(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
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
    lines.extend(setting_lines(host, settings));
    lines.retain(|(_, facts)| !facts.is_empty());
    lines
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
    let sectors = device.sector_bytes.map(|logical| match device.physical_sector_bytes {
        Some(physical) => format!("sectors of {logical} on {physical} bytes"),
        None => format!("sectors of {logical} bytes"),
    });
    known([
        Some(shown(&device.name)),
        device.model.as_deref().map(shown),
        device.total_bytes.map(bytes),
        either(device.rotational, "rotating", "not rotating"),
        sectors,
        named("scheduler", device.scheduler.as_ref()),
        named("queue of", device.requests_max),
        device.read_ahead_bytes.map(|far| format!("reads {} ahead", bytes(far))),
        named("cache", device.write_cache.as_ref()),
        either(device.discards, "discards", "no discards"),
        either(device.loop_direct_io, "direct I/O", "through the cache of the file system beneath"),
    ])
}

fn either(fact: Option<bool>, yes: &str, no: &str) -> Option<String> {
    fact.map(|is| if is { yes } else { no }.into())
}

fn named(name: &str, value: Option<impl ToString>) -> Option<String> {
    value.map(|value| format!("{name} {}", shown(value.to_string())))
}

fn known(facts: impl IntoIterator<Item = Option<String>>) -> String {
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn setting_lines(host: &HostFacts, of: &MachineSettings) -> [(&'static str, String); 6] {
    [
        (
            "kernel",
            known([
                Some(shown(&host.kernel)).filter(|text| !text.is_empty()),
                of.kernel_version.as_deref().map(shown),
                named("clock source", of.clock_source.as_ref()),
                named("mitigations", of.mitigations.as_ref()),
            ]),
        ),
        (
            "processors",
            known([
                of.cpus_online.map(|many| format!("{} online", counted(many, "processor"))),
                either(of.smt, "cores shared by threads", "a thread for each core"),
                named("governor", of.governor.as_ref()),
                named("driver", of.frequency_driver.as_ref()),
            ]),
        ),
        (
            "machine",
            known([
                of.product.as_deref().map(shown),
                either(of.virtual_machine, "virtual", "not virtual"),
                named("hypervisor", of.hypervisor.as_ref()),
            ]),
        ),
        (
            "memory",
            known([
                of.swap_bytes.map(|swap| match swap {
                    0 => "no swap".to_string(),
                    swap => format!("{} of swap", bytes(swap)),
                }),
                named("swappiness", of.swappiness),
                named("vfs_cache_pressure", of.vfs_cache_pressure),
                named("transparent_hugepage", of.transparent_hugepage.as_ref()),
                of.free_page_reporting
                    .filter(|is_so| *is_so)
                    .map(|_| "taken back by the host where free".to_string()),
            ]),
        ),
        (
            "writing",
            known([
                threshold("dirty", of.dirty_bytes, of.dirty_ratio),
                threshold("dirty_background", of.dirty_background_bytes, of.dirty_background_ratio),
                seconds("dirty_expire", of.dirty_expire_centiseconds),
                seconds("dirty_writeback", of.dirty_writeback_centiseconds),
            ]),
        ),
        (
            "limits",
            known([
                of.group_cpus_max.map(|many| format!("{} processors", number(many, 3))),
                of.group_memory_max_bytes.map(|most| format!("{} of memory", bytes(most))),
            ]),
        ),
    ]
}

/// What is set in bytes is 0 where a ratio counts, and the other way round.
fn threshold(name: &str, size: Option<u64>, ratio: Option<u64>) -> Option<String> {
    match size.filter(|size| *size > 0) {
        Some(size) => Some(format!("{name}_bytes {}", bytes(size))),
        None => ratio.map(|ratio| format!("{name}_ratio {ratio}%")),
    }
}

fn seconds(name: &str, hundredths: Option<u64>) -> Option<String> {
    hundredths.map(|hundredths| format!("{name} {} s", number(hundredths as f64 / 100.0, 3)))
}
