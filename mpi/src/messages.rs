//! The calls of MPI that carry messages: none of them waits, and each says what went wrong.

#![expect(unsafe_code, reason = "only the C interface of MPI has calls that return errors")]

use std::ffi::{c_char, c_int};
use std::mem::{ManuallyDrop, MaybeUninit};

use mpi::ffi;

/// The result of a call, or what MPI says in a phrase.
pub(crate) type Called<T> = Result<T, String>;

/// Has calls return errors, for which MPI would otherwise end the process without a word of boatload's.
pub(crate) fn return_errors() -> Called<()> {
    // SAFETY: MPI is initialised, for `MpiCommunicator` calls this; both handles are constants of MPI.
    checked(unsafe {
        ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, ffi::RSMPI_ERRORS_RETURN)
    })
}

/// A message in transit, out or in.
pub(crate) struct Posted {
    /// MPI reads or writes it until the request is done. If that never comes, it is never freed.
    buffer: ManuallyDrop<Vec<u8>>,
    request: ffi::MPI_Request,
}

// SAFETY: a request may be tested by any thread, one at a time (MPI_THREAD_SERIALIZED), and the buffer is a `Vec`.
unsafe impl Send for Posted {}

impl Posted {
    /// Begins to send a message.
    pub(crate) fn send(message: Vec<u8>, to: c_int, tag: c_int) -> Called<Self> {
        let buffer = ManuallyDrop::new(message);
        let length = length(buffer.len())?;
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer has `length` bytes and lives until the request is done, or for ever.
        checked(unsafe {
            ffi::MPI_Isend(
                buffer.as_ptr().cast(),
                length,
                ffi::RSMPI_UINT8_T,
                to,
                tag,
                ffi::RSMPI_COMM_WORLD,
                request.as_mut_ptr(),
            )
        })?;
        // SAFETY: MPI_Isend succeeded, so it has set the request.
        Ok(Self { buffer, request: unsafe { request.assume_init() } })
    }

    /// Begins to receive the next message of a rank; `None` if none has arrived.
    pub(crate) fn receive(from: c_int, tag: c_int) -> Called<Option<Self>> {
        let (mut has_arrived, mut bytes) = (0, 0);
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::uninit();
        // SAFETY: all four point to room for what MPI writes.
        checked(unsafe {
            ffi::MPI_Improbe(
                from,
                tag,
                ffi::RSMPI_COMM_WORLD,
                &raw mut has_arrived,
                message.as_mut_ptr(),
                status.as_mut_ptr(),
            )
        })?;
        if has_arrived == 0 {
            return Ok(None);
        }
        // SAFETY: a message has arrived, so MPI_Improbe has set its status.
        checked(unsafe {
            ffi::MPI_Get_count(status.as_ptr(), ffi::RSMPI_UINT8_T, &raw mut bytes)
        })?;
        let room = usize::try_from(bytes).map_err(|_| "a message has no length".to_string())?;
        let mut buffer = ManuallyDrop::new(vec![0; room]);
        let mut request = MaybeUninit::uninit();
        // SAFETY: the message is the one found, the buffer has its length and lives until the request is done.
        checked(unsafe {
            ffi::MPI_Imrecv(
                buffer.as_mut_ptr().cast(),
                bytes,
                ffi::RSMPI_UINT8_T,
                message.as_mut_ptr(),
                request.as_mut_ptr(),
            )
        })?;
        // SAFETY: MPI_Imrecv succeeded, so it has set the request.
        Ok(Some(Self { buffer, request: unsafe { request.assume_init() } }))
    }

    /// Whether MPI is done with it.
    fn is_done(&mut self) -> Called<bool> {
        let mut done = 0;
        // SAFETY: the request is one that MPI gave, or the null request that MPI_Test made of it, which is done.
        checked(unsafe {
            ffi::MPI_Test(&raw mut self.request, &raw mut done, ffi::RSMPI_STATUS_IGNORE)
        })?;
        Ok(done != 0)
    }

    /// The message, if MPI is done with it; else this again.
    pub(crate) fn into_message(mut self) -> Called<Result<Vec<u8>, Self>> {
        Ok(if self.is_done()? { Ok(ManuallyDrop::into_inner(self.buffer)) } else { Err(self) })
    }
}

/// A length as MPI counts.
fn length(bytes: usize) -> Called<c_int> {
    c_int::try_from(bytes).map_err(|_| format!("a message of {bytes} bytes is too long for MPI"))
}

fn checked(code: c_int) -> Called<()> {
    if code == 0 { Ok(()) } else { Err(error_text(code)) }
}

/// What MPI says of an error.
fn error_text(code: c_int) -> String {
    const ROOM: usize = 4096;
    let mut text = [0u8; ROOM];
    let mut length = 0;
    // SAFETY: no MPI has texts of 4096 bytes (MPI_MAX_ERROR_STRING is 256 in Open MPI and 512 in MPICH).
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let length = usize::try_from(length).unwrap_or(0).min(ROOM);
    let text = String::from_utf8_lossy(&text[..length]);
    format!("MPI says: {}", text.lines().next().unwrap_or_default())
}
