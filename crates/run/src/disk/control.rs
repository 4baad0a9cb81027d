//! Carries commands to the process that serves a modelled disk, and its answers: one JSON text for each,
//! over a socket that keeps messages apart (unix(7), `SOCK_SEQPACKET`).

use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    sockopt,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::power::{CutOrder, PowerCut};
use boatload_base::files::uninterrupted;
use boatload_host::disk_activity::DiskActivity;

/// More than a message has; the longest holds the text of a model, whose characters are up to twice as long
/// in JSON.
const MESSAGE_BYTES_MAX: usize = 256 << 10;

/// Descriptors that one message may bring.
const DESCRIPTORS_MAX: usize = 2;

/// What is wanted of the server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ServerCommand {
    /// To get ready; brings the FUSE connection and the image.
    Begin {
        /// The model as TOML.
        model: String,
        /// Decides what the model leaves to chance.
        seed: u64,
        /// The size of the disk.
        bytes: u64,
    },
    /// To serve: the connection is mounted.
    Serve,
    /// To behave like this disk, as TOML, from now on.
    UseModel(String),
    /// How long requests take from now on.
    SetTiming(Timing),
    /// To say what the disk saw while requests took their time.
    TellActivity,
    /// To say whether it gets on with its image.
    TellProgress,
    /// To follow the write cache, so that the power can be cut.
    FollowCache,
    /// To cut the power.
    CutPower(CutOrder),
    /// To say whether the power is cut.
    TellCut,
    /// To give the power again.
    RestorePower,
}

/// How long requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Timing {
    /// As long as the machine needs.
    Untimed,
    /// [`PROBE_NS`] from their arrival; the simulated disk does not see them.
    Probed,
    /// As long as the disk takes, the way to it and back included.
    Timed {
        /// What that way takes.
        path_ns: u64,
    },
}

/// What a request takes that probes the way to the disk: as little as a hard disk's answer from its buffer.
pub(super) const PROBE_NS: u64 = 200_000;

/// What the server answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ServerAnswer {
    /// It is done.
    Done,
    /// What the disk saw.
    Activity(Box<DiskActivity>),
    /// How it gets on.
    Progress {
        /// For how long the oldest of its reads and writes of the image has been under way.
        longest: Duration,
        /// Whether the kernel may not have it write to its own disk to get memory.
        is_io_flusher: bool,
        /// Whether there was no room for something that was written to the image.
        is_full: bool,
    },
    /// The power cut, once it has happened.
    Cut(Option<PowerCut>),
    /// It could not be done, in a sentence.
    Refused(String),
}

/// What a socket brought.
pub(super) enum Incoming<T> {
    /// A message with its descriptors.
    Message(T, Vec<OwnedFd>),
    /// Nothing within the time.
    Nothing,
    /// The other end is closed.
    End,
}

/// One end of the connection.
pub(super) struct ControlSocket {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl ControlSocket {
    /// Both ends.
    pub(super) fn pair() -> Result<(Self, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC;
        let (own, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Self::new(own), other))
    }

    /// The end in a descriptor that was passed on; `None` if it is something else.
    pub(super) fn passed_on(socket: OwnedFd) -> Option<Self> {
        let is_one = sockopt::socket_type(&socket) == Ok(SocketType::SEQPACKET);
        is_one.then(|| Self::new(socket))
    }

    fn new(socket: OwnedFd) -> Self {
        // A message must fit whole; the usual limit is a little less.
        let _ = sockopt::set_socket_send_buffer_size(&socket, MESSAGE_BYTES_MAX);
        Self { socket, buffer: vec![0; MESSAGE_BYTES_MAX] }
    }

    /// Sends a message with descriptors.
    pub(super) fn send(
        &self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<()> {
        let text = serde_json::to_vec(message)?;
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(Error::new(ErrorKind::InvalidInput, "the message is too long"));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Error::new(ErrorKind::InvalidInput, "too many descriptors"));
        }
        // A server that is gone is an error to be told, not a signal.
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, flags)?;
        Ok(())
    }

    /// Waits for a message, this long at most.
    pub(super) fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<Incoming<T>> {
        if !self.has_something(limit)? {
            return Ok(Incoming::Nothing);
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.socket, &mut parts, &mut control, flags) {
            Ok(received) => received,
            Err(rustix::io::Errno::CONNRESET) => return Ok(Incoming::End),
            Err(error) => return Err(error.into()),
        };
        if received.bytes == 0 {
            return Ok(Incoming::End);
        }
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(passed_on) = message {
                descriptors.extend(passed_on);
            }
        }
        let message = serde_json::from_slice(&self.buffer[..received.bytes])?;
        Ok(Incoming::Message(message, descriptors))
    }

    fn has_something(&self, limit: Duration) -> Result<bool> {
        let limit = Timespec::try_from(limit).map_err(Error::other)?;
        let mut descriptors = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        // A signal of the user's may come; there are few.
        Ok(uninterrupted(|| poll(&mut descriptors, Some(&limit)))? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn messages_arrive_whole_with_their_descriptors_and_the_end_is_seen() {
        let (parent, other) = ControlSocket::pair().unwrap();
        let mut server = ControlSocket::passed_on(other).unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        let long = "\n".repeat(100_000);
        parent.send(&ServerCommand::UseModel(long.clone()), &[file.as_fd()]).unwrap();
        parent.send(&ServerCommand::SetTiming(Timing::Untimed), &[]).unwrap();
        let Ok(Incoming::Message(ServerCommand::UseModel(text), passed_on)) = server.receive(SOON)
        else {
            panic!("another message")
        };
        assert_eq!((text == long, passed_on.len()), (true, 1));
        let next = server.receive(SOON);
        assert!(
            matches!(next, Ok(Incoming::Message(ServerCommand::SetTiming(_), none)) if none.is_empty())
        );
        assert!(matches!(server.receive::<ServerCommand>(Duration::ZERO), Ok(Incoming::Nothing)));
        drop(parent);
        assert!(matches!(server.receive::<ServerCommand>(SOON), Ok(Incoming::End)));
    }

    #[test]
    fn what_is_no_such_socket_is_not_taken_for_one() {
        assert!(
            ControlSocket::passed_on(std::fs::File::open("/dev/null").unwrap().into()).is_none()
        );
    }
}
