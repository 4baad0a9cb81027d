//! Warnings of disturbances: one sentence and one hint for each kind.

use crate::analysis::disturbances::DisturbanceKind;
use crate::analysis::finding::{WarningCode, WarningFinding};
use crate::base::units::{bytes, counted};
use crate::results::book::{Book, Measurement};

use super::{about_phases, phases_of};

impl DisturbanceKind {
    fn code(self) -> WarningCode {
        match self {
            Self::OthersIo => WarningCode::OthersIo,
            Self::OthersCpu => WarningCode::OthersCpu,
            Self::MemoryPressure => WarningCode::MemoryPressure,
            Self::Steal => WarningCode::Steal,
            Self::Throttled => WarningCode::Throttled,
            Self::ClockJumped => WarningCode::ClockJumped,
            Self::Straggler => WarningCode::Straggler,
            Self::Trend => WarningCode::Trend,
            Self::TwoModes => WarningCode::TwoModes,
            Self::Compressed => WarningCode::Compressed,
        }
    }

    /// What to do about it.
    fn hint(self) -> &'static str {
        match self {
            Self::OthersIo => {
                "Stop what else uses the disk (backups, indexing, builds), and run again. It is in \
                 the device's bytes too; nothing was subtracted."
            }
            Self::OthersCpu => "Stop what else is running, and run again.",
            Self::MemoryPressure => "Stop what else takes memory, or take fewer or smaller files.",
            Self::Steal => "The host of this virtual machine is busy: run again when it is not.",
            Self::Throttled => {
                "Cool the machine, or give its control group more of the processors."
            }
            Self::ClockJumped => {
                "Look at the kernel's log for its clock source; trust no latency of these."
            }
            Self::Straggler => {
                "The rate counts until the last one's end. More operations for each worker make it \
                 matter less."
            }
            Self::Trend => {
                "The mean depends on how long the phase is. `windows = 100` in the job file and \
                 `boatload show RUN --windows` show its course."
            }
            Self::TwoModes => {
                "A mean lies between them, where nothing was. `windows = 100` in the job file and \
                 `boatload show RUN --windows` show when."
            }
            Self::Compressed => {
                "Take random content, or mount without compression, to measure the disk."
            }
        }
    }

    /// What happened in measurements, to stand behind the names of their phases. `most` is the
    /// largest of their amounts.
    fn sentence(self, many: &str, most: f64) -> String {
        let percent = format!("{:.0}%", most * 100.0);
        match self {
            Self::OthersIo => format!(
                "other processes moved up to {} on the disk during {many}",
                bytes(most as u64)
            ),
            Self::OthersCpu => {
                format!("other processes used up to {percent} of the CPU time during {many}")
            }
            Self::MemoryPressure => {
                format!("memory was short for up to {percent} of the time in {many}")
            }
            Self::Steal => {
                format!("CPU steal up to {percent} in {many}")
            }
            Self::Throttled => format!("CPUs were throttled in {many}"),
            Self::ClockJumped => format!("the clock was not steady in {many}"),
            Self::Straggler => {
                format!(
                    "one worker finished up to {percent} of the phase after the others in {many}"
                )
            }
            Self::Trend if most < 0.0 => {
                format!("latency fell by up to {:.0}% from start to end of {many}", -most * 100.0)
            }
            Self::Trend => {
                format!("latency rose by up to {percent} from start to end of {many}")
            }
            Self::TwoModes => {
                format!("latency had two modes, up to {most:.1} times apart, in {many}")
            }
            Self::Compressed => {
                format!(
                    "the device wrote only {percent} of the content in {many}: the file \
                         system compresses"
                )
            }
        }
    }
}

/// Each kind that was found, once for all its phases.
pub(super) fn disturbed(book: &Book) -> Vec<WarningFinding> {
    DisturbanceKind::ALL.into_iter().filter_map(|kind| of_kind(kind, book)).collect()
}

fn of_kind(kind: DisturbanceKind, book: &Book) -> Option<WarningFinding> {
    let judged = book.measurements.iter().filter_map(|m| Some((m, kind.judge(book, m)?)));
    let judged: Vec<(&Measurement, Option<f64>)> = judged.collect();
    let amounts = judged.iter().filter_map(|(_, amount)| *amount);
    let most = match kind {
        DisturbanceKind::Compressed => amounts.reduce(f64::min)?,
        _ => {
            amounts.reduce(|most, amount| if amount.abs() > most.abs() { amount } else { most })?
        }
    };
    let disturbed = || judged.iter().filter(|(_, amount)| amount.is_some()).map(|(m, _)| *m);
    let phases = phases_of(disturbed())?;
    let known = judged.iter().filter(|(m, _)| phases.contains(&m.phase)).count();
    let many = match (disturbed().count(), known) {
        (1, 1) => "its measurement".to_string(),
        (disturbed, known) => format!("{disturbed} of {}", counted(known as u64, "measurement")),
    };
    let sentence = format!("{}: {}.", phases.join(", "), kind.sentence(&many, most));
    Some(about_phases(kind.code(), phases, sentence, kind.hint()))
}

#[cfg(test)]
mod tests;
