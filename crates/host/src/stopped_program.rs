//! Starts a program that waits before its first instruction until it is released.
#![expect(
    unsafe_code,
    reason = "a process that waits between fork and exec, which no safe wrapper makes"
)]

use std::ffi::{CString, OsString, c_char};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, WaitOptions, waitpid};

use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::read_all;

/// What a shell gives for a program that cannot be started.
const CANNOT_START: i32 = 127;

/// A program that has not begun, or runs.
pub struct StoppedProgram {
    process: Pid,
    name: OsString,
    /// A byte in it lets the program begin; without one its end lets it end.
    gate: Option<OwnedFd>,
    /// The number of the error, if it cannot be started.
    trouble: Option<OwnedFd>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl StoppedProgram {
    /// Makes its process, with all rights that this one has now. To be called before there is a second thread.
    ///
    /// # Errors
    /// If there is no room for a process, or a word has a zero byte.
    pub fn new(words: &[OsString]) -> Result<Self> {
        let zero = |_| Failure::usage("a word with a zero byte cannot be passed to a program");
        let texts: std::result::Result<Vec<CString>, _> =
            words.iter().map(|word| CString::new(word.as_bytes())).collect();
        let texts = texts.map_err(zero)?;
        let name = words.first().cloned().unwrap_or_default();
        let mut pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let piped = || std::io::pipe().map_err(|error| Failure::from_system("make a pipe", error));
        let ((open, gate), (trouble, report)) = (piped()?, piped()?);
        // SAFETY: there is one thread, so the child may do whatever this process may; it allocates nothing, and ends
        // or becomes another program below.
        let forked = unsafe { libc::fork() };
        if forked == 0 {
            drop(gate);
            let mut go = [0];
            let begins = matches!(rustix::io::read(&open, &mut go), Ok(1));
            if begins {
                // SAFETY: the pointers are of texts that live until the end of this function, and end with null.
                // A program expects the usual reaction to a closed pipe, which Rust's start has switched off.
                unsafe {
                    libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                    libc::execvp(pointers[0], pointers.as_ptr());
                }
                let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
                let _ = rustix::io::write(&report, &error.to_ne_bytes());
            }
            // SAFETY: it ends the process, without what this program does at its end.
            unsafe { libc::_exit(CANNOT_START) }
        }
        let process = Pid::from_raw(forked).filter(|_| forked > 0);
        let process = process.ok_or_else(|| {
            Failure::from_system("make a process", std::io::Error::last_os_error())
        })?;
        Ok(Self { process, name, gate: Some(gate.into()), trouble: Some(trouble.into()) })
    }

    /// Its number.
    pub fn process(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// Lets it begin.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn release(&mut self) -> Result<()> {
        if let Some(gate) = self.gate.take() {
            let _ = rustix::io::write(gate, b"x");
        }
        let Some(trouble) = self.trouble.take() else { return Ok(()) };
        let said = read_all(&trouble).unwrap_or_default();
        match said.first_chunk::<4>() {
            None => Ok(()),
            Some(number) => {
                let error = Errno(i32::from_ne_bytes(*number));
                let doing = format!("start {}", shown(&self.name));
                Err(Failure::from_system(doing, error.about()))
            }
        }
    }

    /// How it ended; none while it runs.
    pub fn ended(&self) -> Option<ProgramEnd> {
        let (_, status) = waitpid(Some(self.process), WaitOptions::NOHANG).ok()??;
        status
            .exit_status()
            .map(ProgramEnd::Status)
            .or_else(|| status.terminating_signal().map(ProgramEnd::Signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(words: &[&str], release: bool) -> (Result<()>, ProgramEnd) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut program = StoppedProgram::new(&words).unwrap();
        assert_eq!(program.ended(), None, "it waits");
        program.gate = program.gate.filter(|_| release);
        let released = program.release();
        loop {
            if let Some(end) = program.ended() {
                return (released, end);
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_program_begins_when_it_is_let_go_and_tells_how_it_ended() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("made");
        let script = format!(": > '{}'; exit 3", file.display());
        assert_eq!(end_of(&["sh", "-c", &script], false).1, ProgramEnd::Status(CANNOT_START));
        assert!(!file.exists(), "it never began");
        assert_eq!(end_of(&["sh", "-c", &script], true), (Ok(()), ProgramEnd::Status(3)));
        assert!(file.exists());
        assert_eq!(end_of(&["sh", "-c", "kill -9 $$"], true).1, ProgramEnd::Signal(9));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let (released, end) = end_of(&["no such program"], true);
        let sentence = released.unwrap_err().sentence;
        assert_eq!(sentence, "cannot start no such program: No such file or directory");
        assert_eq!(end, ProgramEnd::Status(CANNOT_START));
    }
}
