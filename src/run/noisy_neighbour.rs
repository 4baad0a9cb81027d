//! Creates background load, to test conclusions that are drawn under it: a process of its own, so that
//! its work is counted as the work of any other process.

use std::io::{Read, Result as IoResult};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::content::AlignedBuffer;
use super::run_directory::open_parent;
use crate::base::failure::{Failure, Result, shown};
use crate::base::random::{Stream, below, draw, mix, unit};
use crate::host::programs::command;

/// Bytes of the file that it reads and writes.
const SCRATCH_BYTES: u64 = 64 << 20;

/// Bytes of each read and write.
const BLOCK_BYTES: u64 = 64 << 10;

/// Threads that read and write; one more computes.
const DISK_THREADS: u64 = 2;

/// The shortest and the longest time in seconds that it is at work or rests, from less than a phase to
/// more than a repeat of a scenario at quick scale: one that never rests slows everything down alike.
const TURN_S: (f64, f64) = (0.05, 5.0);

/// Numbers that are computed before a look at whether to rest.
const COMPUTED_AT_ONCE: u32 = 1 << 16;

/// One that is at work until it is stopped, or dropped.
pub struct NoisyNeighbour(Child);

impl NoisyNeighbour {
    /// Starts one in a directory: this program with these arguments and a path, which calls [`make_noise`]. Returns when
    /// it is at work.
    ///
    /// # Errors
    /// If it cannot begin.
    pub fn start(directory: &Path, arguments: &[&str]) -> Result<Self> {
        let fail = |error| Failure::from_system("start the noisy neighbour", error);
        let open = open_parent(directory)?;
        let mut command = command(&std::env::current_exe().map_err(fail)?);
        command
            .args(arguments)
            .arg(".")
            .current_dir(format!("/proc/self/fd/{}", open.as_raw_fd()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // A Ctrl-C in the terminal is meant for boatload, which then stops it.
        let mut neighbour = Self(command.process_group(0).spawn().map_err(fail)?);
        let output = neighbour.0.stdout.as_mut();
        match output.map(|output| output.read_exact(&mut [0])) {
            Some(Ok(())) => Ok(neighbour),
            // It states the reason itself.
            _ => Err(Failure::failed("the noisy neighbour could not begin")),
        }
    }

    /// Stops it.
    ///
    /// # Errors
    /// If it had ended before.
    pub fn stop(mut self) -> Result<()> {
        drop(self.0.stdin.take());
        match self.0.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Failure::failed("the noisy neighbour ended before the runs did")),
        }
    }
}

impl Drop for NoisyNeighbour {
    fn drop(&mut self) {
        // Nobody is left to hear what fails here.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Reads and writes a file without a name in this directory, at random places past the page cache,
/// and keeps a processor busy, with rests, until `parent` ends, as it does with the process that holds
/// its other end. Calls `begins` once it is at work.
///
/// # Errors
/// If the file cannot be made, read or written.
pub fn make_noise(
    directory: &Path,
    mut parent: impl Read + Send + 'static,
    begins: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let fail = |error: std::io::Error| {
        let place = std::path::absolute(directory).unwrap_or_else(|_| directory.into());
        let what = format!("make noise with direct I/O in {}", shown(place));
        Failure::from_system(what, error)
    };
    let scratch = Arc::new(scratch_file(directory).map_err(fail)?);
    let turns = Arc::new(Turns::default());
    let (ends, ended) = channel::<IoResult<()>>();
    for thread in 1..=DISK_THREADS {
        let (scratch, turns, ends) = (Arc::clone(&scratch), Arc::clone(&turns), ends.clone());
        std::thread::spawn(move || {
            let _ = ends.send(move_blocks(&scratch, thread, &turns));
        });
    }
    let computes = Arc::clone(&turns);
    std::thread::spawn(move || compute(&computes));
    std::thread::spawn(move || turns.take());
    std::thread::spawn(move || {
        let _ = ends.send(parent.read_to_end(&mut Vec::new()).map(|_| ()));
    });
    begins()?;
    ended.recv().unwrap_or(Ok(())).map_err(fail)
}

/// It has no name, so the kernel removes it with the process, however that ends.
fn scratch_file(directory: &Path) -> IoResult<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    let mut block = noise_block(0);
    for at in 0..SCRATCH_BYTES / BLOCK_BYTES {
        rustix::io::pwrite(&file, &block, at * BLOCK_BYTES)?;
        block[0] = at as u8;
    }
    Ok(file)
}

/// Times of work and of rest, for all threads at once.
#[derive(Default)]
struct Turns {
    is_resting: Mutex<bool>,
    changed: Condvar,
}

impl Turns {
    /// Works and rests in turns, for times whose logarithms are spread evenly.
    fn take(&self) {
        for turn in 0.. {
            *self.is_resting.lock().unwrap_or_else(PoisonError::into_inner) = turn % 2 == 1;
            self.changed.notify_all();
            let (shortest, longest) = TURN_S;
            let share = unit(draw(0, Stream::Noise, turn));
            crate::base::patience::pause(Duration::from_secs_f64(
                shortest * (longest / shortest).powf(share),
            ));
        }
    }

    /// Returns as soon as it is a time of work.
    fn wait(&self) {
        let is_resting = self.is_resting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is_resting, |is_resting| *is_resting));
    }
}

/// Reads and writes blocks in turns until that fails.
fn move_blocks(scratch: &OwnedFd, thread: u64, turns: &Turns) -> IoResult<()> {
    let mut block = noise_block(thread);
    for n in 0.. {
        turns.wait();
        let number = draw(thread, Stream::Noise, n);
        let offset = below(number, SCRATCH_BYTES / BLOCK_BYTES) * BLOCK_BYTES;
        match n % 2 {
            0 => rustix::io::pread(scratch, &mut block[..], offset)?,
            _ => rustix::io::pwrite(scratch, &block, offset)?,
        };
    }
    Ok(())
}

fn compute(turns: &Turns) {
    let mut number = 1;
    loop {
        turns.wait();
        for _ in 0..COMPUTED_AT_ONCE {
            number = std::hint::black_box(mix(number));
        }
    }
}

/// Bytes that no file system compresses.
fn noise_block(seed: u64) -> AlignedBuffer {
    let mut block = AlignedBuffer::new(BLOCK_BYTES as usize);
    for (at, word) in (0..).zip(block.chunks_exact_mut(8)) {
        word.copy_from_slice(&draw(seed, Stream::Noise, at).to_le_bytes());
    }
    block
}
