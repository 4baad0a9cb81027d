//! Each test starts this program again, as the ranks of a job: those run `a_rank_of_a_job` and print what they found.
#![allow(clippy::print_stdout, reason = "ranks print what they found")]

use std::process::{Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use boatload::run::communicator::collectives::Collectives;

use super::*;

#[path = "../../tests/launch/mod.rs"]
mod launch;

/// What ranks are to do.
const EXERCISE: &str = "BOATLOAD_EXERCISE";

const SOON: Duration = Duration::from_secs(60);

/// What `ranks` ranks say when they do an exercise, each a line, sorted.
fn said(ranks: u32, exercise: &str) -> Vec<String> {
    let output = ended(ranks, exercise);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once("rank "))
        .map(|(_, line)| line.into())
        .collect();
    lines.sort();
    assert!(output.status.success(), "{output:?}");
    lines
}

fn ended(ranks: u32, exercise: &str) -> Output {
    let mut command = launch::launch(ranks, &std::env::current_exe().unwrap());
    command.args([
        "--ignored",
        "--exact",
        "communicator::tests::a_rank_of_a_job",
        "--nocapture",
        "-q",
    ]);
    command.env(EXERCISE, exercise).stdin(Stdio::null()).output().unwrap()
}

#[test]
#[ignore = "other tests start it"]
fn a_rank_of_a_job() {
    let job = MpiJob::start().unwrap();
    let communicator = job.communicator();
    let exercise = std::env::var(EXERCISE).unwrap_or_default();
    let found = match exercise.as_str() {
        "exchange" => exchange(&communicator),
        "long" => long_messages(&communicator),
        "late" => late_message(&communicator),
        "silent" => silent(&communicator),
        "killed" => killed(&communicator),
        "release" => release(&communicator),
        "slow" => slow_end(&communicator),
        other => panic!("no exercise {other}"),
    };
    println!("\nrank {}: {found}", communicator.rank());
    let _ = job.end(ExitCode::SUCCESS);
}

fn exchange(communicator: &MpiCommunicator) -> String {
    let never = AtomicBool::new(false);
    let collectives = Collectives::new(communicator, &never);
    let mut all = Vec::new();
    for _ in 0..100 {
        let mine = Ok(vec![b'0' + u8::try_from(communicator.rank()).unwrap()]);
        all = collectives
            .reduce_and_broadcast(mine, &|one, other| Ok([one, other].concat()), SOON, Ok)
            .unwrap();
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn ranks_say_something_and_all_hear_all_of_it_in_their_order() {
    for ranks in [1, 3, 8] {
        let all = &"01234567"[..ranks];
        let expected: Vec<_> = (0..ranks).map(|rank| format!("{rank}: {all}")).collect();
        assert_eq!(said(u32::try_from(ranks).unwrap(), "exchange"), expected);
    }
}

/// Bytes in which a part that is lost, doubled or out of order shows.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// From nothing to more than MPI sends at once.
const LENGTHS: [usize; 4] = [0, 1, 1 << 16, (1 << 25) + 7];

fn long_messages(communicator: &MpiCommunicator) -> String {
    if communicator.rank() == 1 {
        LENGTHS.iter().for_each(|bytes| communicator.send(0, &pattern(*bytes), SOON).unwrap());
        return "sent".into();
    }
    // In slices, as the library waits.
    let receive = || loop {
        match communicator.receive(1, Duration::from_millis(1)) {
            Err(MessageError::TimedOut) => {}
            other => return other.unwrap(),
        }
    };
    let all_good = LENGTHS.iter().all(|bytes| receive() == pattern(*bytes));
    format!("all good: {all_good}")
}

#[test]
fn a_long_message_arrives_whole_however_it_is_waited_for() {
    assert_eq!(said(2, "long"), ["0: all good: true", "1: sent"]);
}

fn late_message(communicator: &MpiCommunicator) -> String {
    let short = Duration::from_millis(20);
    if communicator.rank() == 1 {
        let before = communicator.receive(0, short);
        communicator.send(0, b"continue", SOON).unwrap();
        let after = communicator.receive(0, SOON).unwrap();
        return format!("{before:?}, then {}", String::from_utf8(after).unwrap());
    }
    communicator.receive(1, SOON).unwrap();
    communicator.send(1, b"late", SOON).unwrap();
    "sent".into()
}

#[test]
fn a_wait_ends_with_its_time_and_a_later_one_gets_the_message() {
    assert_eq!(said(2, "late"), ["0: sent", "1: Err(TimedOut), then late"]);
}

fn silent(communicator: &MpiCommunicator) -> String {
    let never = AtomicBool::new(false);
    let collectives = Collectives::new(communicator, &never);
    if communicator.rank() == 3 {
        return "says nothing".into();
    }
    let failure = collectives.barrier(Ok(()), Duration::from_millis(200)).unwrap_err();
    let sentence = failure.failure(&vec!["node".to_string(); 4]).sentence;
    sentence.split(" within").next().unwrap().into()
}

#[test]
fn a_rank_that_does_not_answer_is_named_by_all_others() {
    let others = said(4, "silent");
    let expected = "rank 3 on node: it did not answer";
    assert_eq!(others[..3], [0, 1, 2].map(|rank| format!("{rank}: {expected}")));
}

fn killed(communicator: &MpiCommunicator) -> String {
    if communicator.rank() == 2 {
        let _ = std::process::Command::new("kill")
            .args(["-9", &std::process::id().to_string()])
            .status();
    }
    let gone = communicator.receive(2, SOON);
    format!("{gone:?}")
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    let output = ended(4, "killed");
    assert!(!output.status.success(), "{output:?}");
}

/// Rank 0 reaches the end three times as late as the others wait for a sign of it.
fn slow_end(communicator: &MpiCommunicator) -> String {
    const PATIENCE: Duration = Duration::from_secs(2);
    let end = communicator.at_the_end();
    let heartbeat = Heartbeat::start(end.clone(), PATIENCE / 10);
    if communicator.rank() == 0 {
        std::thread::sleep(3 * PATIENCE);
    }
    drop(heartbeat);
    format!("{:?}", finalize(&end, PATIENCE, SOON))
}

#[test]
fn the_others_wait_for_rank_0_as_long_as_it_lives() {
    assert_eq!(said(3, "slow"), [0, 1, 2].map(|rank| format!("{rank}: Ok(())")));
}

/// How far apart ranks of one machine leave the second of two barriers, to which one of them came late.
fn release(communicator: &MpiCommunicator) -> String {
    let never = AtomicBool::new(false);
    let collectives = Collectives::new(communicator, &never);
    let mut micros: Vec<u128> = Vec::new();
    for round in 0..200u32 {
        if round % communicator.size() == communicator.rank() {
            std::thread::sleep(Duration::from_millis(20));
        }
        collectives.barrier(Ok(()), SOON).unwrap();
        collectives.barrier(Ok(()), SOON).unwrap();
        let left = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let mine = Ok(left.to_be_bytes().to_vec());
        let all = collectives
            .reduce_and_broadcast(mine, &|one, other| Ok([one, other].concat()), SOON, Ok)
            .unwrap();
        let all = all.chunks_exact(16).map(|time| u128::from_be_bytes(time.try_into().unwrap()));
        micros.push(all.clone().max().unwrap() - all.min().unwrap());
    }
    micros.sort_unstable();
    format!("median {} us, p95 {} us, most {} us", micros[100], micros[190], micros[199])
}

#[test]
#[ignore = "it prints times, which depend on the machine"]
fn barriers_release_soon() {
    for ranks in [2, 4, 8] {
        println!("{ranks} ranks leave within {}", &said(ranks, "release")[0][3..]);
    }
}
