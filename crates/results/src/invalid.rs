//! Gives the reasons why a measurement is invalid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use boatload_base::errno::Errno;
use boatload_base::units::{counted, duration, grouped, span};
use boatload_host::space::SpaceLack;
use boatload_op::RequestKind;

/// What a measurement did that took as long as a phase may.
pub const REACHED_LIMIT: &str = "reached its limit";

/// A reason, with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum InvalidReason {
    /// Operations failed with this error.
    Failed {
        /// The error.
        error: Errno,
        /// Operations that failed with it.
        operations: u64,
        /// The request that met it first; null if unknown.
        first: Option<FirstFailure>,
        /// What the file system lacked after the phase; null for other errors than `ENOSPC`.
        lack: Option<SpaceLack>,
        /// Whether contents went around the page cache.
        direct: bool,
    },
    /// The user stopped it.
    Interrupted {
        /// Operations that were done.
        operations: u64,
    },
    /// It took as long as a phase may.
    Limit {
        /// How long, in nanoseconds.
        limit_ns: u64,
        /// Operations that were done.
        operations: u64,
        /// Operations that were asked for; null where time alone ends the phase.
        asked: Option<u64>,
    },
    /// It did fewer operations than were asked for, or more.
    Operations {
        /// Operations that were done.
        operations: u64,
        /// Operations that were asked for.
        asked: u64,
    },
    /// The tree holds other entries than it should.
    Entries {
        /// Entries that were counted.
        found: u64,
        /// Entries that should be there.
        expected: u64,
        /// Whether it is the tree of all ranks.
        of_all_ranks: bool,
    },
    /// It moved another number of bytes than its operations should.
    Bytes {
        /// Bytes that were moved.
        moved: u64,
        /// Bytes that should have been.
        expected: u64,
    },
    /// The sync at its end failed.
    Sync {
        /// The error.
        error: Errno,
    },
    /// The entries of the tree could not be counted.
    Count {
        /// The error.
        error: Errno,
    },
    /// A system call did not return, and the run was given up.
    Hung {
        /// Seconds since the end of the last operation.
        seconds: f64,
        /// The cell and the phase.
        place: String,
        /// Operations that were done.
        operations: u64,
        /// Operations that were asked for; null where time alone ends the phase.
        asked: Option<u64>,
        /// The call, and where it waits in the kernel.
        call: String,
    },
    /// It is one work of a mix that is invalid as a whole.
    Mix,
    /// One rank of many has a reason.
    Rank {
        /// Which rank.
        rank: u32,
        /// Its reason.
        why: Box<InvalidReason>,
    },
    /// Ranks have more reasons than are named.
    More {
        /// How many.
        reasons: u64,
    },
}

/// The first request that met an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstFailure {
    /// Which request.
    pub request: RequestKind,
    /// The entry that its operation worked on: `file 17`.
    pub entry: String,
}

impl InvalidReason {
    /// The reason in words.
    pub fn sentence(&self) -> String {
        match self {
            Self::Failed { error, operations, first, lack, direct } => {
                let first =
                    first.as_ref().map(|f| format!(" (first in {} of {})", f.request, f.entry));
                let meaning = match *error {
                    Errno::EINVAL if *direct => {
                        Some("direct I/O is not done here, or not in such blocks".into())
                    }
                    Errno::ENOSPC => lack.map(|lack| lack.to_string()),
                    error => error.meaning().map(String::from),
                };
                let meaning = meaning.map(|meaning| format!(": {meaning}"));
                let [first, meaning] = [first, meaning].map(Option::unwrap_or_default);
                format!("{error} x {}{first}{meaning}", grouped(*operations))
            }
            Self::Interrupted { operations } => {
                format!("interrupted after {}", counted(*operations, "operation"))
            }
            Self::Limit { limit_ns, operations, asked } => {
                let (limit, done) = (duration(*limit_ns as f64), counted(*operations, "operation"));
                let of = asked.map_or(String::new(), |asked| format!(" of {}", grouped(asked)));
                format!("{REACHED_LIMIT} of {limit} after {done}{of}")
            }
            Self::Operations { operations, asked } => {
                format!("did {}", done_of(*operations, Some(*asked)))
            }
            Self::Entries { found, expected, of_all_ranks } => {
                let whose = if *of_all_ranks { "the tree of all ranks" } else { "the tree" };
                let found = counted(*found, "entry");
                format!("{whose} holds {found} instead of {}", grouped(*expected))
            }
            Self::Bytes { moved, expected } => {
                format!("moved {} instead of {} bytes", grouped(*moved), grouped(*expected))
            }
            Self::Sync { error } => {
                format!("the sync at its end (syncfs) failed: {error}, {}", error.about())
            }
            Self::Count { error } => {
                format!("the tree could not be counted (getdents64): {error}, {}", error.about())
            }
            Self::Hung { seconds, place, operations, asked, call } => {
                let done = done_of(*operations, *asked);
                let seconds = span(*seconds);
                format!("no operation has ended for {seconds} in {place} ({done} done): {call}")
            }
            Self::Mix => "the mix that it is part of is invalid".into(),
            Self::Rank { rank, why } => format!("rank {rank}: {}", why.sentence()),
            Self::More { reasons } => format!("and {}", counted(*reasons, "more reason")),
        }
    }

    /// Whether it is the limit of a phase, of one rank or of all.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::Limit { .. } => true,
            Self::Rank { why, .. } => why.is_limit(),
            _ => false,
        }
    }
}

fn done_of(operations: u64, asked: Option<u64>) -> String {
    let of = |asked| format!("{} of {}", grouped(operations), counted(asked, "operation"));
    asked.map_or_else(|| counted(operations, "operation"), of)
}

/// A reason as it stands in documents. Its sentence follows from the rest, and is ignored when it is read.
#[derive(Serialize, JsonSchema)]
pub(super) struct StatedReason<'a> {
    #[serde(flatten)]
    reason: &'a InvalidReason,
    /// The reason in words.
    sentence: String,
}

pub(super) fn stated<S: Serializer>(all: &[InvalidReason], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|reason| StatedReason { reason, sentence: reason.sentence() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_as_it_was_written_whatever_its_sentence_says() {
        let short = InvalidReason::Operations { operations: 1, asked: 2 };
        let first = FirstFailure { request: RequestKind::Write, entry: "file 3".into() };
        let all = [
            InvalidReason::Failed {
                error: Errno::ENOSPC,
                operations: 1_200,
                first: Some(first),
                lack: None,
                direct: false,
            },
            InvalidReason::Rank { rank: 3, why: Box::new(short) },
            InvalidReason::Limit { limit_ns: 1, operations: 0, asked: Some(7) },
        ];
        let mut written =
            serde_json::to_value(stated(&all, serde_json::value::Serializer).unwrap());
        let written = written.as_mut().unwrap();
        assert_eq!(written[0]["reason"], "failed");
        assert_eq!(written[0]["error"], "ENOSPC");
        assert_eq!(written[0]["sentence"], "ENOSPC x 1,200 (first in write of file 3)");
        assert_eq!(written[1]["sentence"], "rank 3: did 1 of 2 operations");
        written[0]["sentence"] = "changed".into();
        let read: Vec<InvalidReason> = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(read, all);
    }
}
