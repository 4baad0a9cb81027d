//! Several processes that run one plan together, each a rank. A communicator only carries messages from one rank to another;
//! whatever all of them do together is built on that, in [`collectives`].

pub mod clock_offset;
pub mod collectives;
#[cfg(any(test, feature = "fixtures"))]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "for tests only"
)]
pub mod fixture;

use std::fmt;
use std::time::Duration;

/// The processes that run one plan, as seen by one of them. One thread at a time calls it.
pub trait Communicator: Sync {
    /// Which of them this one is, from 0.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Sends a message to another rank. Messages from one rank to another arrive in order.
    ///
    /// # Errors
    /// If it could not be sent within that time.
    fn send(&self, to: u32, message: &[u8], within: Duration) -> Result<(), MessageError>;

    /// The next message of another rank.
    ///
    /// # Errors
    /// If none came within that time; one that comes later is given by a later call.
    fn receive(&self, from: u32, within: Duration) -> Result<Vec<u8>, MessageError>;
}

/// Why a message did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// The time was over.
    TimedOut,
    /// What the transport says, in a phrase.
    Broken(String),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no message came in time"),
            Self::Broken(why) => f.write_str(why),
        }
    }
}

/// The communicator of a process that is alone.
pub struct SelfCommunicator;

impl Communicator for SelfCommunicator {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        1
    }

    fn send(&self, _: u32, _: &[u8], _: Duration) -> Result<(), MessageError> {
        Err(MessageError::Broken("there is no other rank".into()))
    }

    fn receive(&self, _: u32, _: Duration) -> Result<Vec<u8>, MessageError> {
        Err(MessageError::Broken("there is no other rank".into()))
    }
}
