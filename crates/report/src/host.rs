//! Writes the settings of the machine that a reader needs to repeat a run.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::text::write_wrapped;
use boatload_analysis::Analysis;
use boatload_base::failure::shown;
use boatload_base::units::bytes;
use boatload_host::block_device::DeviceFacts;
use boatload_host::facts::HostFacts;

/// Longest name of a line, and a blank.
const NAME_WIDTH: usize = 13;

/// Writes the host of a run: the file system, the devices beneath it, the kernel, and how it is set. Fails only if `out`
/// does.
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

/// Facts in lines, each with its name; unknown facts are left out.
pub fn host_lines(host: &HostFacts) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let on = &host.filesystem;
    if !on.kind.is_empty() {
        lines.push(("mounted", format!("{} with {}", shown(on.about()), shown(&on.options))));
    }
    for device in host.device.iter().flat_map(chain) {
        lines.push(("device", format!("{}: {}", shown(&device.name), facts(device))));
    }
    lines.push(("kernel", shown(&host.kernel)));
    lines.extend(host.settings.iter().map(|settings| ("settings", facts(settings))));
    lines.retain(|(_, text)| !text.is_empty());
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

/// What is known beside the name, under the keys of the run document: `rotational no, scheduler none, total 40.0 GiB`.
fn facts(of: &impl Serialize) -> String {
    let facts = serde_json::to_value(of).unwrap_or_default();
    let fact = |(name, value): (&String, &Value)| match value {
        _ if name == "name" => None,
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::Bool(is) => Some(format!("{name} {}", if *is { "yes" } else { "no" })),
        Value::String(text) => Some(format!("{name} {}", shown(text))),
        Value::Number(number) => Some(match (name.strip_suffix("_bytes"), number.as_u64()) {
            (Some(noun), Some(size)) if size > 0 => format!("{noun} {}", bytes(size)),
            _ => format!("{name} {number}"),
        }),
    };
    let all = facts.as_object().into_iter().flatten().filter_map(fact);
    all.collect::<Vec<_>>().join(", ")
}
