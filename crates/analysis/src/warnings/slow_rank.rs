//! Warns that a rank or a host is slower than the others, if repeats agree on it.

use super::table::{WarningCode, WarningFinding};
use crate::findings::say;
use crate::ranks::{SlowRank, slow_ranks};
use boatload_base::distinct::each_once;
use boatload_base::units::counted;
use boatload_results::book::Book;

/// One warning for each rank or host that is slow.
pub(super) fn slow(book: &Book) -> Vec<WarningFinding> {
    slow_ranks(book).iter().filter_map(|phases| warning(phases)).collect()
}

/// Of one, with its phases, the worst first.
fn warning(phases: &[SlowRank]) -> Option<WarningFinding> {
    let worst = phases.first()?;
    let names = each_once(phases.iter().map(|one| one.phase.clone()));
    let sentence = format!(
        "{} is slower than the others in {}: in {} {} times their rate (95% interval {}, {}).",
        worst.name,
        say::listed(&names),
        worst.phase,
        say::times(worst.ratio),
        say::span(worst.interval),
        counted(worst.measurements as u64, "measurement")
    );
    let hint = "All ranks wait for it at the end of each phase. Look at its processors, memory and network, or leave \
                it out.";
    Some(WarningFinding::about_phases(WarningCode::SlowRank, names, sentence, hint))
}
