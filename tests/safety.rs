//! What a run that was killed or interrupted leaves, and that clearing it up touches nothing else.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

mod common;

#[path = "common/command.rs"]
mod command;

use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use signal_hook::consts::SIGHUP;

use command::{Bench, Ran, Running, names_in, run_directories};

/// What a run that was killed in the middle leaves.
fn killed(bench: &Bench) -> PathBuf {
    let running = bench.long_run(&bench.work());
    let run_directory = running.run_directory().to_path_buf();
    running.signal(Signal::KILL);
    assert_eq!(running.ended().code, None, "it was killed");
    run_directory
}

/// Has commands hear that a terminal closes also if these tests ignore it, as under nohup(1): a signal
/// that is handled has its default action in a program that is started.
fn hear_hangups() {
    let ends_this = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_default(SIGHUP, ends_this).unwrap();
}

fn clean(bench: &Bench) -> Ran {
    bench.run(["clean", "--yes"])
}

/// A file whose loss would hurt.
fn precious(path: &Path) -> PathBuf {
    std::fs::write(path, "precious").unwrap();
    path.to_path_buf()
}

#[track_caller]
fn survives(path: &Path) {
    assert_eq!(
        std::fs::read_to_string(path).ok().as_deref(),
        Some("precious"),
        "{}",
        path.display()
    );
}

#[test]
fn after_kill_9_the_store_is_readable_and_clean_removes_all_and_nothing_else() {
    let bench = Bench::default();
    let beside = precious(&bench.work().join("beside"));
    let run_directory = killed(&bench);
    let mode = std::fs::metadata(&run_directory).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "nobody else can look into a run's directory");

    let runs = bench.run(["runs"]);
    assert_eq!(runs.code, Some(0), "{}", runs.stderr);
    assert!(runs.stdout.contains("unfinished"), "{}", runs.stdout);
    let shown = bench.run(["show", "last"]);
    assert!(shown.stdout.contains("Nothing was measured"), "{}", shown.stdout);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);

    let asked = bench.run(["clean"]);
    assert_eq!(asked.code, Some(1), "without --yes and without a terminal nothing is removed");
    assert!(run_directory.exists() && asked.stderr.contains("--yes"), "{}", asked.stderr);

    let cleaned = clean(&bench);
    assert_eq!((cleaned.code, cleaned.stderr.as_str()), (Some(0), ""));
    assert!(cleaned.stdout.contains("removed"), "{}", cleaned.stdout);
    assert_eq!(names_in(&bench.work()), ["beside"]);
    survives(&beside);
    assert_eq!(clean(&bench).code, Some(0), "with nothing to do all is well");
}

/// Changes what the marker of a run's directory says.
fn say_in(marker: &Path, key: &str, value: &str) {
    let text = std::fs::read_to_string(marker).unwrap();
    let mut said: serde_json::Value = serde_json::from_str(&text).unwrap();
    said[key] = value.into();
    std::fs::write(marker, said.to_string()).unwrap();
}

#[test]
fn what_another_host_may_be_at_work_in_stays_until_somebody_says_that_it_is_not() {
    let bench = Bench::default();
    let marker = killed(&bench).join(".boatload");
    say_in(&marker, "boot", "another");
    let refused = clean(&bench);
    assert_eq!(refused.code, Some(1), "of the same name, but not this one: {}", refused.stdout);
    assert!(refused.stderr.contains("another host called"), "{}", refused.stderr);
    say_in(&marker, "host", "node7");
    let refused = clean(&bench);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("host node7 gave a sign in it"), "{}", refused.stderr);
    let refused = bench.run(["resume", "last"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("host node7 gave a sign in it"), "{}", refused.stderr);
    assert!(marker.exists(), "nothing was removed");
    let removed = bench.run(["clean", "--yes", "--other-hosts"]);
    assert_eq!((removed.code, removed.stderr.as_str()), (Some(0), ""));
    assert!(!marker.exists());
}

#[test]
fn what_this_machine_left_on_a_local_disk_before_it_was_started_anew_is_removed() {
    let bench = Bench::default();
    let marker = killed(&bench).join(".boatload");
    say_in(&marker, "boot", "another");
    // Without a battery the clock says that this was after the start of the machine.
    let before = SystemTime::now() - Duration::from_secs(2 * 3600);
    File::options().write(true).open(&marker).unwrap().set_modified(before).unwrap();
    let cleaned = clean(&bench);
    assert_eq!((cleaned.code, cleaned.stderr.as_str()), (Some(0), ""));
    assert!(!marker.exists());
}

#[test]
fn an_interrupted_run_cleans_up_exits_with_130_and_keeps_what_it_has() {
    hear_hangups();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::USR1, Signal::ALARM] {
        let bench = Bench::default();
        let beside = precious(&bench.work().join("beside"));
        let running = bench.long_run(&bench.work());
        running.signal(signal);
        let ran = running.ended();
        assert_eq!(ran.code, Some(130), "{signal:?}: {}", ran.stderr);
        assert_eq!(names_in(&bench.work()), ["beside"], "{signal:?}");
        survives(&beside);
        assert!(ran.stdout.contains("The run was stopped before its end"), "{}", ran.stdout);
        assert!(ran.stderr.contains("interrupted; what was done is kept"), "{}", ran.stderr);
        let document = bench.run(["show", "last", "--json", "-"]).json();
        assert_eq!(document["run"]["complete"], false);
        let [create] = &document["measurements"].as_array().unwrap()[..] else {
            panic!("the phase that was cut short, and no other: {document}")
        };
        assert_eq!(create["valid"], false);
        assert!(create["operations"].as_u64().unwrap() >= 100);
    }
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_clean_removes_the_rest() {
    let bench = Bench::default();
    // Now and then the clean-up that the first one asks for is over before the second one comes.
    let is_gone_at_once = (0..20).any(|_| {
        let running = bench.long_run(&bench.work());
        // Both signals wait for the stopped process and meet it one right after the other.
        running.signal(Signal::STOP);
        running.waits_stopped();
        running.signal(Signal::INT);
        running.signal(Signal::QUIT);
        running.signal(Signal::CONT);
        assert_eq!(running.ended().code, Some(130));
        run_directories(&bench.work()).len() == 1
    });
    assert!(is_gone_at_once, "gone at once means that it did not clean up");
    assert_eq!(clean(&bench).code, Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_terminal_that_closes_and_timeout_may_signal_twice_and_it_cleans_up_all_the_same() {
    hear_hangups();
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    for signal in [Signal::STOP, Signal::HUP, Signal::TERM, Signal::CONT, Signal::TERM] {
        running.signal(signal);
    }
    assert_eq!(running.ended().code, Some(130));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn ctrl_c_again_and_again_never_does_more_than_end_it() {
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    let pid = running.id();
    for _ in 0..40 {
        // It may have ended in the meantime; its number stays its own until `wait`.
        let _ = rustix::process::kill_process(pid, Signal::INT);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(running.ended().code, Some(130));
    assert_eq!(clean(&bench).code, Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_directory_in_use_by_a_live_run_is_refused() {
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("is still running"), "{}", ran.stderr);
    assert!(running.run_directory().join("c0000000001").exists(), "removed below a live run");
    running.signal(Signal::INT);
    assert_eq!(running.ended().code, Some(130), "it went on undisturbed");
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn foreign_things_inside_a_leftover_tree_stay_and_are_named() {
    let bench = Bench::default();
    let outside = precious(&bench.beside("outside"));
    let outside_directory = bench.beside("directory");
    std::fs::create_dir(&outside_directory).unwrap();
    precious(&outside_directory.join("f0000000001"));
    let run_directory = killed(&bench);
    let cell = run_directory.join("c0000000001");

    let notes = precious(&cell.join("notes.txt"));
    let almost = precious(&cell.join("f00000000001"));
    symlink(&outside, cell.join("f9999999990")).unwrap();
    symlink(&outside_directory, cell.join("h0000000009")).unwrap();
    symlink(&outside_directory, run_directory.join("c0000000009")).unwrap();
    std::fs::create_dir(cell.join("f9999999991")).unwrap();
    let deep = precious(&cell.join("f9999999991/deep"));
    let in_run_directory = precious(&run_directory.join("f0000000001"));

    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1), "not all could be removed");
    for path in [&notes, &almost, &deep, &in_run_directory, &outside] {
        survives(path);
    }
    survives(&outside_directory.join("f0000000001"));
    for name in
        ["notes.txt", "f00000000001", "f9999999990", "h0000000009", "f9999999991", "c0000000009"]
    {
        assert!(ran.stderr.contains(name), "{name} is not named: {}", ran.stderr);
    }
    let left = ["f00000000001", "f9999999990", "f9999999991", "h0000000009", "notes.txt"];
    assert_eq!(names_in(&cell), left, "all that boatload made is gone, and nothing else");

    // When what is foreign is out of the way, clean finishes.
    for name in ["notes.txt", "f00000000001", "f9999999990", "h0000000009", "f9999999991/deep"] {
        std::fs::remove_file(cell.join(name)).unwrap();
    }
    std::fs::remove_dir(cell.join("f9999999991")).unwrap();
    std::fs::remove_file(run_directory.join("c0000000009")).unwrap();
    std::fs::remove_file(&in_run_directory).unwrap();
    assert_eq!(clean(&bench).code, Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_copy_of_a_leftover_directory_is_left_alone() {
    let bench = Bench::default();
    let run_directory = killed(&bench);
    let copies = [
        bench.work().join("boatload-copied22"),
        bench.beside("copies").join(run_directory.file_name().unwrap()),
    ];
    std::fs::create_dir(bench.beside("copies")).unwrap();
    for copy in &copies {
        let done = Command::new("cp").arg("-a").arg(&run_directory).arg(copy).status().unwrap();
        assert!(done.success());
    }
    let renamed = bench.work().join("boatload-renamed2");
    std::fs::rename(&run_directory, &renamed).unwrap();
    let files = |directory: &Path| names_in(&directory.join("c0000000001")).len();
    let before = files(&copies[0]);

    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1));
    for name in ["boatload-copied22", "boatload-renamed2"] {
        assert!(ran.stderr.contains(&format!("{name} is left alone")), "{}", ran.stderr);
    }
    let elsewhere = Ran::of(bench.bare().args(["clean", "--yes"]).arg(bench.beside("copies")));
    assert_eq!(elsewhere.code, Some(1), "the name is right and the directory is another");
    assert!([&copies[0], &copies[1], &renamed].iter().all(|copy| files(copy) == before));
}

/// A marker as boatload writes it for a directory.
fn marker(directory: &Path, run: &str, inode: u64) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let device = std::fs::metadata(directory).unwrap().dev();
    format!(
        "{{\"run\":\"{run}\",\"token\":\"aaaaaaaaaaaaaaaa\",\"device\":{device},\"inode\":{inode},\
         \"boot\":\"{}\",\"process\":4194304}}",
        boot.trim()
    )
}

#[test]
fn a_directory_made_by_hand_is_left_alone_whatever_its_marker_says() {
    let bench = Bench::default();
    let hand_made = |id: &str| {
        let directory = bench.work().join(format!("boatload-{id}"));
        std::fs::create_dir_all(directory.join("c0000000001")).unwrap();
        precious(&directory.join("c0000000001/f0000000001"));
        directory
    };
    hand_made("bare2222");
    let write =
        |id: &str, text: &[u8]| std::fs::write(hand_made(id).join(".boatload"), text).unwrap();
    write("empty222", b"");
    write("garbage2", &[0xff, 0, 1, 2]);
    write("prose222", b"boatload made this, honestly");
    write("longlong", &[b'x'; 100_000]);
    let elsewhere = marker(&bench.work(), "inode222", 1);
    write("inode222", elsewhere.as_bytes());
    let other = hand_made("othername");
    let inode = std::fs::metadata(&other).unwrap().ino();
    std::fs::write(other.join(".boatload"), marker(&other, "another", inode)).unwrap();
    let surplus = hand_made("surplus2");
    let inode = std::fs::metadata(&surplus).unwrap().ino();
    let text = marker(&surplus, "surplus2", inode).replace('}', ",\"more\":1}");
    std::fs::write(surplus.join(".boatload"), text).unwrap();
    let link = hand_made("link2222");
    let inode = std::fs::metadata(&link).unwrap().ino();
    std::fs::write(bench.beside("marker"), marker(&link, "link2222", inode)).unwrap();
    symlink(bench.beside("marker"), link.join(".boatload")).unwrap();
    let fifo = hand_made("fifo2222").join(".boatload");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::fs::create_dir_all(hand_made("direct22").join(".boatload")).unwrap();
    symlink(hand_made("target22"), bench.work().join("boatload-linked22")).unwrap();
    precious(&bench.work().join("boatload-isafile2"));

    let before = names_in(&bench.work());
    let ran = clean(&bench);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "nothing is boatload's");
    assert_eq!(names_in(&bench.work()), before);
    for name in before {
        assert!(ran.stderr.contains(&format!("{name} is left alone")), "{name}: {}", ran.stderr);
        match name.as_str() {
            "boatload-isafile2" => survives(&bench.work().join(name)),
            _ => survives(&bench.work().join(name).join("c0000000001/f0000000001")),
        }
    }
}

/// A directory of a run, with these permissions.
fn made_directory(bench: &Bench, id: &str, mode: u32) -> PathBuf {
    let directory = bench.work().join(format!("boatload-{id}"));
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(mode)).unwrap();
    directory
}

#[test]
fn what_a_kill_between_making_and_marking_leaves_is_removed_and_nothing_like_it() {
    let bench = Bench::default();
    made_directory(&bench, "empty222", 0o700);
    std::fs::write(made_directory(&bench, "begun222", 0o700).join(".boatload"), "").unwrap();
    made_directory(&bench, "unsafe22", 0o755);
    precious(&made_directory(&bench, "packed22", 0o700).join("f0000000001"));
    precious(&made_directory(&bench, "marked22", 0o700).join(".boatload"));
    made_directory(&bench, "main", 0o700);
    made_directory(&bench, "results2", 0o700);
    let beginning = made_directory(&bench, "busy2222", 0o700);
    let lock = File::open(&beginning).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockShared).unwrap();

    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1), "the others are named");
    let left = ["busy2222", "main", "marked22", "packed22", "results2", "unsafe22"]
        .map(|id| format!("boatload-{id}"));
    assert_eq!(names_in(&bench.work()), left, "{}", ran.stderr);
    assert!(ran.stdout.contains("removed") && ran.stdout.contains("empty222"), "{}", ran.stdout);
    assert!(ran.stderr.contains("a run has just begun in it"), "{}", ran.stderr);
    survives(&bench.work().join("boatload-packed22/f0000000001"));
    survives(&bench.work().join("boatload-marked22/.boatload"));
}

#[test]
fn a_marker_that_cannot_be_read_is_not_taken_for_none() {
    let bench = Bench::default();
    killed(&bench);
    let limited = |files: u32| {
        let mut command = Command::new("prlimit");
        let limit = format!("--nofile={files}");
        command.arg(limit).arg(env!("CARGO_BIN_EXE_boatload")).args(["clean", "--yes"]);
        Ran::of(command.current_dir(bench.work()).stdin(std::process::Stdio::null())).stderr
    };
    let told: Vec<String> = (4..10).map(limited).collect();
    assert!(!told.iter().any(|said| said.contains("it has no marker")), "{told:?}");
    let unread = "its marker cannot be read: Too many open files";
    assert!(told.iter().any(|said| said.contains(unread)), "{told:?}");
}

#[test]
fn directories_deeper_than_boatload_makes_them_are_left_and_named() {
    let bench = Bench::default();
    let run_directory = killed(&bench);
    let deep = std::iter::repeat_n("h0000000001", 100).collect::<PathBuf>();
    std::fs::create_dir_all(run_directory.join("c0000000001").join(deep)).unwrap();
    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("it is deeper than boatload makes directories"), "{}", ran.stderr);
    assert!(run_directory.exists());
}

#[test]
fn a_note_that_cannot_be_read_protects_what_it_stands_beside() {
    let bench = Bench::default();
    let filled = bench.run(["fill", ".", "--files", "10"]);
    assert_eq!(filled.code, Some(0), "{}", filled.stderr);
    let directory = run_directories(&bench.work()).remove(0);
    std::fs::remove_file(directory.join(".ballast")).unwrap();
    symlink(".ballast", directory.join(".ballast")).unwrap();
    let ran = clean(&bench);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("what is noted in it cannot be read"), "{}", ran.stderr);
    assert!(directory.exists());
}

#[test]
fn directories_of_other_names_are_not_even_looked_at() {
    let bench = Bench::default();
    for name in [
        "boatload", "boatload-", "boatload-A2", "boatload-a b", "Boatload-aaaaaaaa",
        "x-boatload-aaaaaaaa",
    ] {
        std::fs::create_dir(bench.work().join(name)).unwrap();
    }
    let before = names_in(&bench.work());
    let ran = clean(&bench);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("nothing of boatload's"), "{}", ran.stdout);
    assert_eq!(names_in(&bench.work()), before);
}

#[test]
fn something_foreign_planted_while_it_runs_stays_and_is_named() {
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    let cell = running.run_directory().join("c0000000001");
    let planted = precious(&cell.join("planted"));
    running.signal(Signal::INT);
    let ran = running.ended();
    assert!(matches!(ran.code, Some(1 | 130)), "{:?}", ran.code);
    survives(&planted);
    assert_eq!(names_in(&cell), ["planted"], "the rest is removed");
    assert!(ran.stderr.contains("planted"), "{}", ran.stderr);
}

#[test]
fn a_run_directory_taken_away_while_it_runs_is_an_error_and_no_panic() {
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    let away = bench.beside("away");
    std::fs::rename(running.run_directory(), &away).unwrap();
    running.signal(Signal::INT);
    let ran = running.ended();
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(matches!(ran.code, Some(1 | 130)), "{:?}", ran.code);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

/// The two ends of a pipe that takes nothing more.
fn full_pipe() -> (std::io::PipeReader, std::io::PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    while std::io::Write::write(&mut writer, &[b'.'; 4096]).is_ok() {}
    while std::io::Write::write(&mut writer, b".").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::empty()).unwrap();
    (reader, writer)
}

#[test]
fn a_standard_error_that_nobody_reads_stops_nothing() {
    let bench = Bench::default();
    let (_reader, writer) = full_pipe();
    let sets = ["--set", "files=20", "--set", "selected=5"];
    let mut command = bench.command(["run", "--cache", "as-is", "--repeats", "3"]);
    let ran = command.args(sets).stderr(writer).output().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_run_whose_standard_error_nobody_reads_ends_by_a_signal() {
    let bench = Bench::default();
    let (_reader, writer) = full_pipe();
    let running =
        Running::start_with_errors_to(bench.long_command(&bench.work()), &bench.work(), writer);
    running.signal(Signal::TERM);
    assert_eq!(running.ended().code, Some(130));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}
