//! The whole job: the time of all phases with their syncs, repeat by repeat. That is what a user
//! waits for.

use super::{Field, LeftOutVariant, Runner};
use crate::analysis::findings::sample::{Values, counts, in_turns};
use crate::base::distinct::each_once;
use crate::results::book::{Book, Level, Measurement};
use crate::results::content::gives_content;

/// Where syncs take more of the time than this, a single repeat does not know its own error: how
/// long another sync would take is not told by slices of a phase.
pub(in crate::analysis) const SYNC_SHARE_MAX: f64 = 0.05;

/// Whether the phase gave files content that the device did not get until its end.
fn is_left_unwritten(m: &Measurement) -> bool {
    gives_content(m) && m.sync_seconds == 0.0 && m.device_write_bytes.is_some_and(|w| w < m.bytes)
}

/// One repeat of a variant with all its phases valid.
pub(in crate::analysis) struct Whole {
    repeat: u32,
    pub(in crate::analysis) seconds: f64,
    /// Relative standard error of the seconds; none if it is unknown.
    error: Option<f64>,
    /// Operations of each phase, in the mean of its passes.
    pub(in crate::analysis) operations: Vec<u64>,
}

/// One for each level, lowest first, at which two variants or more did the same work in two phases
/// or more.
pub(super) fn fields<'a>(book: &'a Book, variants: &[&'a str]) -> Vec<Field<'a>> {
    let level = |m: &&'a Measurement| m.cell.level.as_ref().is_none_or(|l| l.value.is_finite());
    let all: Vec<&Measurement> = book.measurements.iter().filter(level).collect();
    let mut levels = each_once(all.iter().map(|m| m.cell.level.as_ref()));
    let height = |level: &Option<&Level>| level.map_or(f64::NEG_INFINITY, |level| level.value);
    levels.sort_by(|a, b| height(a).total_cmp(&height(b)));
    levels.into_iter().filter_map(|level| field(&all, variants, level, in_turns(book))).collect()
}

fn field<'a>(
    all: &[&'a Measurement],
    variants: &[&'a str],
    level: Option<&'a Level>,
    in_turns: bool,
) -> Option<Field<'a>> {
    let here: Vec<&Measurement> =
        all.iter().copied().filter(|m| m.cell.level.as_ref() == level).collect();
    let phases = each_once(here.iter().map(|m| m.phase.as_str()));
    if phases.len() < 2 {
        return None;
    }
    let (mut cells, mut left_out, mut work) = (Vec::new(), Vec::new(), Vec::new());
    for variant in each_once(variants.iter().copied()) {
        let of_variant: Vec<_> =
            here.iter().copied().filter(|m| m.cell.variant == variant).collect();
        let wholes = wholes(&of_variant, &phases);
        match wholes.is_empty() {
            false => cells.push((variant, of_variant, values(&wholes))),
            true => {
                left_out.push(LeftOutVariant { variant: variant.into(), reason: why(&of_variant) });
            }
        }
        work.extend(wholes.into_iter().map(|whole| whole.operations));
    }
    let runners = Runner::all(cells, in_turns);
    // In phases that end after a time, or on what a history left, a slow one has less to do.
    let alike = each_once(work.into_iter()).len() == 1;
    let unwritten = here.iter().any(|m| is_left_unwritten(m));
    let field = Field { level, in_turns, runners, end: None, left_out, unwritten };
    (field.runners.len() > 1 && alike).then_some(field)
}

/// The repeats of a cell of which every phase is valid.
pub(in crate::analysis) fn wholes(cell: &[&Measurement], phases: &[&str]) -> Vec<Whole> {
    let repeats = each_once(cell.iter().map(|m| m.cell.repeat));
    repeats.into_iter().filter_map(|repeat| whole(cell, phases, repeat)).collect()
}

/// Each phase by the mean of its passes, of which repeats may have unlike numbers; none unless all
/// are valid.
fn whole(cell: &[&Measurement], phases: &[&str], repeat: u32) -> Option<Whole> {
    let (mut work, mut syncs, mut operations) = (0.0, 0.0, Vec::new());
    let mut squares = Some(0.0);
    for phase in phases {
        let is = |m: &&&Measurement| m.cell.repeat == repeat && m.phase == *phase;
        let passes: Vec<&Measurement> = cell.iter().filter(is).copied().collect();
        if passes.is_empty() || !passes.iter().all(|m| counts(m)) {
            return None;
        }
        let n = passes.len() as f64;
        work += passes.iter().map(|m| m.seconds).sum::<f64>() / n;
        syncs += passes.iter().map(|m| m.sync_seconds).sum::<f64>() / n;
        let own = |m: &&Measurement| {
            let error = m.rate_error.filter(|error| error.is_finite() && *error >= 0.0);
            error.map(|error| (error * m.seconds / n).powi(2))
        };
        let of_passes: Option<f64> = passes.iter().map(own).sum();
        squares = squares.zip(of_passes).map(|(all, here)| all + here);
        operations.push(passes.iter().map(|m| m.operations).sum::<u64>() / passes.len() as u64);
    }
    let seconds = work + syncs;
    let error = squares.filter(|_| syncs <= SYNC_SHARE_MAX * seconds).map(|s| s.sqrt() / seconds);
    Some(Whole { repeat, seconds, error, operations })
}

/// Logarithms of jobs per second.
pub(in crate::analysis) fn values(wholes: &[Whole]) -> Values {
    Values {
        all: wholes.iter().map(|whole| (whole.repeat, -whole.seconds.ln())).collect(),
        repeated: wholes.len() > 1,
        own_error: wholes.first().and_then(|whole| whole.error).filter(|_| wholes.len() == 1),
    }
}

/// Why a variant has no whole repeat.
fn why(cell: &[&Measurement]) -> String {
    let invalid = cell.iter().filter(|m| !m.valid()).map(|m| m.phase.as_str());
    let invalid = each_once(invalid);
    match invalid.as_slice() {
        [] => "not all phases were measured".into(),
        [one] => format!("{one} is invalid"),
        many => format!("{} are invalid", many.join(", ")),
    }
}
