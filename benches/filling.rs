//! What `fill` costs beside the files it makes: it against a bare loop of the same system calls
//! (openat, write, close) without any bookkeeping, with the same names, sizes and shares of the
//! workers, in turns within one run; and against a shell loop of dd(1), which is how such files are
//! often made. Prints ratios of rates (1 is as fast as the bare loop). Writing out is not counted.
//!
//! `cargo bench --bench filling` on /dev/shm. BOATLOAD_BENCH_DIR names another directory,
//! BOATLOAD_BENCH_FILES and BOATLOAD_BENCH_ROUNDS other numbers.

#![allow(missing_docs, unsafe_code, clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use boatload::plan::prepare::tree_of;
use boatload::plan::{Prepare, Scale, Settings, Tree, find_scenario, read_job};
use boatload::run::clock::RealClock;
use boatload::run::interrupt::Interrupt;
use boatload::session::ballast::make_ballast;

const FILES: u64 = 50_000;
const ROUNDS: usize = 11;
const SHELL_FILES: u64 = 2_000;
const SHELL_ROUNDS: usize = 3;
const POOL_BYTES: usize = 256 << 10;

fn main() {
    let directory = std::env::var_os("BOATLOAD_BENCH_DIR").map_or("/dev/shm".into(), PathBuf::from);
    let place = directory.join(format!("boatload-filling-{}", std::process::id()));
    std::fs::create_dir(&place).expect("the directory can be written");
    let files = number("BOATLOAD_BENCH_FILES").unwrap_or(FILES);
    let rounds = number("BOATLOAD_BENCH_ROUNDS").map_or(ROUNDS, |rounds| rounds.max(1) as usize);
    println!("{files} files in {}, {rounds} rounds", directory.display());
    println!("rate of fill over rate of another way: median (lower to upper quartile)");
    let clock = RealClock::new();
    for threads in [1, 2] {
        let list = List::of(files, threads);
        let bare = |at: &Path| clock.time(|| bare_fill(at, &list, threads)).1;
        against("bare loop", &place, &list, rounds, bare);
    }
    let list = List::of(SHELL_FILES, 1);
    let shell = |at: &Path| clock.time(|| shell_fill(at, &list)).1;
    against("dd", &place, &list, SHELL_ROUNDS, shell);
    std::fs::remove_dir(&place).unwrap();
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// The files that are to be made, known beforehand.
struct List {
    prepare: Prepare,
    tree: Tree,
    /// Of each file the directory, the size, and where in the pool its content begins.
    files: Vec<(u32, u16, u32)>,
}

impl List {
    fn of(files: u64, threads: u32) -> Self {
        let settings = Settings {
            scale: Scale::Original,
            memory_bytes: 1 << 30,
            set: vec![("files_present".into(), files.to_string())],
            ..Settings::default()
        };
        let job = find_scenario("clutter").expect("it is built in").text;
        let plan = read_job(job, &settings).expect("the scenario is right");
        let mut prepare = plan.cells.into_iter().find_map(|cell| cell.prepare).unwrap();
        prepare.ballast.threads = threads;
        let tree = tree_of(&prepare.ballast, files);
        let one = |number| {
            let begin = tree.content_key(number, 0) as usize % (POOL_BYTES / 64) * 64;
            (tree.holder_of(number) as u32, tree.size(number, 0) as u16, begin as u32)
        };
        let files = (0..files).map(one).collect();
        Self { prepare, tree, files }
    }
}

/// Who goes first changes from round to round; the first round touches memory for the first time
/// and is not counted.
fn against(name: &str, place: &Path, list: &List, rounds: usize, theirs: impl Fn(&Path) -> f64) {
    let mut ratios = Vec::new();
    let mut seconds = Vec::new();
    for round in 0..=rounds {
        let mut pair = [0.0; 2];
        for mine in [round % 2 == 0, round % 2 != 0] {
            let at = place.join(if mine { "ours" } else { "theirs" });
            std::fs::create_dir(&at).unwrap();
            pair[usize::from(mine)] = match mine {
                true => our_fill(&at, list),
                false => theirs(&at),
            };
            sync(&at);
            std::fs::remove_dir_all(&at).unwrap();
            sync(place);
        }
        if round > 0 {
            ratios.push(pair[0] / pair[1]);
            seconds.push(pair[1]);
        }
    }
    let quantile = |values: &mut Vec<f64>, share: f64| {
        values.sort_by(f64::total_cmp);
        values[(share * (values.len() - 1) as f64) as usize]
    };
    println!(
        "{} thread(s)  {name:<10} {:.3}  ({:.3} to {:.3}), {:.0} files a second",
        list.prepare.ballast.threads,
        quantile(&mut ratios, 0.5),
        quantile(&mut ratios, 0.25),
        quantile(&mut ratios, 0.75),
        list.files.len() as f64 / quantile(&mut seconds, 0.5)
    );
}

fn our_fill(at: &Path, list: &List) -> f64 {
    let made = make_ballast(at, &list.prepare, &Interrupt::default(), &|_| ()).expect("it fits");
    assert_eq!(made.files, list.files.len() as u64);
    made.seconds
}

/// Writes out what is in memory, so that nobody pays for another.
fn sync(at: &Path) {
    let file = std::fs::File::open(at).unwrap();
    // SAFETY: the descriptor is open.
    assert_eq!(unsafe { libc::syncfs(file.as_raw_fd()) }, 0);
}

fn bare_fill(at: &Path, list: &List, threads: u32) {
    let pool: Vec<u8> = {
        let mut state = 1u64;
        let word = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.rotate_right(32).to_le_bytes()
        };
        (0..(POOL_BYTES + (8 << 10)) / 8).flat_map(word).collect()
    };
    // As deep as the directories of fill: some file systems place them by their parents.
    let at = &at.join("boatload-bare").join("b0000000001");
    std::fs::create_dir_all(at).unwrap();
    let holders: Vec<_> = (0..list.tree.holders()).map(|number| holder(at, number)).collect();
    for path in &holders {
        std::fs::create_dir(path).unwrap();
    }
    let part = list.files.len().div_ceil(threads as usize);
    let work = |(worker, files): (usize, &[_])| {
        let open = |path| std::fs::File::open(path).unwrap();
        let open: Vec<_> = holders.iter().map(open).collect();
        let open: Vec<RawFd> = open.iter().map(AsRawFd::as_raw_fd).collect();
        bare_worker(&open, files, worker * part, &pool);
    };
    // A single worker needs no thread of its own.
    let mut workers = list.files.chunks(part).enumerate();
    match threads {
        1 => workers.for_each(work),
        _ => std::thread::scope(|scope| {
            let work = &work;
            workers.by_ref().for_each(|worker| drop(scope.spawn(move || work(worker))));
        }),
    }
}

fn holder(at: &Path, number: u64) -> PathBuf {
    at.join(format!("h{number:010}"))
}

fn bare_worker(holders: &[RawFd], files: &[(u32, u16, u32)], first: usize, pool: &[u8]) {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let mut name: [u8; 12] = format!("f{first:010}\0").into_bytes().try_into().unwrap();
    for (holder, size, begin) in files {
        let content = &pool[*begin as usize..][..usize::from(*size)];
        // SAFETY: the name ends in NUL, and the content is as long as the call is told.
        unsafe {
            let file = libc::openat(holders[*holder as usize], name.as_ptr().cast(), flags, 0o600);
            assert!(file >= 0, "{}", std::io::Error::last_os_error());
            if *size > 0 {
                let written = libc::write(file, content.as_ptr().cast(), content.len());
                assert_eq!(written, content.len() as isize);
            }
            libc::close(file);
        }
        count_up(&mut name);
    }
}

/// Counts up in the digits of a name: the cheapest way to the next one.
fn count_up(name: &mut [u8; 12]) {
    for digit in name[1..11].iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}

/// A dd(1) for each file, as a script would do it.
fn shell_fill(at: &Path, list: &List) {
    const SCRIPT: &str = "while read -r holder name blocks; do
        dd bs=8 count=$blocks if=/dev/urandom of=$holder/$name > /dev/null 2>&1; done";
    for number in 0..list.tree.holders() {
        std::fs::create_dir(holder(at, number)).unwrap();
    }
    let mut script = Command::new("sh");
    script.args(["-c", SCRIPT]).current_dir(at).stdin(Stdio::piped());
    let mut shell = script.spawn().expect("there is a shell");
    let mut input = std::io::BufWriter::new(shell.stdin.take().unwrap());
    for (number, (holder, size, _)) in list.files.iter().enumerate() {
        writeln!(input, "h{holder:010} f{number:010} {}", size / 8).unwrap();
    }
    drop(input);
    assert!(shell.wait().unwrap().success());
}
