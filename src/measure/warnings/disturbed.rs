//! Warnings of disturbances: one sentence and one hint for each kind.

use crate::base::units::{bytes, counted};
use crate::measure::book::{Book, Measurement};
use crate::measure::disturbances::DisturbanceKind;

impl DisturbanceKind {
    /// Its word in results.
    pub fn code(self) -> &'static str {
        match self {
            Self::OthersIo => "others-io",
            Self::OthersCpu => "others-cpu",
            Self::MemoryPressure => "memory-pressure",
            Self::Steal => "steal",
            Self::Throttled => "throttled",
            Self::ClockJumped => "clock-jumped",
            Self::Straggler => "straggler",
            Self::Trend => "trend",
            Self::TwoModes => "two-modes",
            Self::Compressed => "compressed",
        }
    }

    /// What to do about it.
    pub(super) fn hint(self) -> &'static str {
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
    pub(super) fn sentence(self, many: &str, most: f64) -> String {
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

/// What disturbed the measurements of a book in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundDisturbance {
    /// In which way.
    pub kind: DisturbanceKind,
    /// The phases.
    pub phases: Vec<String>,
    /// How many measurements.
    pub disturbed: usize,
    /// Of how many of these phases of which it is known.
    pub known: usize,
    /// The largest amount: a share, bytes or a count, as the kind has it.
    pub most: f64,
}

impl FoundDisturbance {
    pub(super) fn sentence(&self) -> String {
        let many = match (self.disturbed, self.known) {
            (1, 1) => "its measurement".to_string(),
            (disturbed, known) => {
                format!("{disturbed} of {}", counted(known as u64, "measurement"))
            }
        };
        format!("{}: {}.", self.phases.join(", "), self.kind.sentence(&many, self.most))
    }
}

/// Each kind that was found, once for all its phases.
pub(super) fn disturbed(book: &Book) -> Vec<FoundDisturbance> {
    let of = |kind: DisturbanceKind| {
        let judged = book.measurements.iter().filter_map(|m| Some((m, kind.judge(book, m)?)));
        let judged: Vec<(&Measurement, Option<f64>)> = judged.collect();
        let (mut phases, mut disturbed, mut most) = (Vec::new(), 0, None::<f64>);
        for (m, amount) in &judged {
            let Some(amount) = *amount else { continue };
            super::add_once(&mut phases, &m.phase);
            disturbed += 1;
            let larger = |most: f64| match kind {
                DisturbanceKind::Compressed => amount < most,
                _ => amount.abs() > most.abs(),
            };
            most = if most.is_none_or(larger) { Some(amount) } else { most };
        }
        let known = judged.iter().filter(|(m, _)| phases.contains(&m.phase)).count();
        most.map(|most| FoundDisturbance { kind, phases, disturbed, known, most })
    };
    DisturbanceKind::ALL.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;
