//! Says which boatload this is and what it was built with.

use boatload_plan::EngineName;
use boatload_plan::disk::BUILT_IN_DISKS;
use boatload_plan::filesystem::KINDS;
use boatload_report::EXPORTS;
use boatload_results::store::sqlite_version;

/// `boatload 0.1.0`; `verbose` adds a line for each thing that a build may have or lack.
pub(super) fn version_text(verbose: bool) -> String {
    let version = format!("boatload {}\n", env!("CARGO_PKG_VERSION"));
    if !verbose {
        return version;
    }
    let target = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
    let lines = [
        ("target", target),
        ("features", joined(features().into_iter())),
        ("engines", joined(EngineName::ALL.iter().map(|engine| engine.as_str()))),
        ("file systems", joined(KINDS.iter().map(|kind| kind.name))),
        ("disk models", joined(BUILT_IN_DISKS.iter().map(|disk| disk.name))),
        ("exports", joined(EXPORTS.iter().map(|export| export.name))),
        ("SQLite", sqlite_version().to_string()),
    ];
    lines.iter().fold(version, |all, (name, text)| all + &format!("{name:14}{text}\n"))
}

/// How this build differs from others of the same version.
fn features() -> Vec<&'static str> {
    let linked = if cfg!(target_feature = "crt-static") { "static" } else { "dynamic" };
    let checked = cfg!(debug_assertions).then_some("debug-assertions");
    [linked].into_iter().chain(checked).collect()
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
