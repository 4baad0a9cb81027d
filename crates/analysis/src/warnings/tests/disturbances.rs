//! Each kind is told above its threshold and not below, and never of a quiet machine.

use super::*;
use crate::disturbances::DISTURBANCES;
use boatload_results::book::Disturbance;
use boatload_results::fixture::{self, quiet};

fn disturbed(book: &Book) -> Vec<WarningFinding> {
    DISTURBANCES.iter().filter_map(|kind| super::super::disturbed_by(kind, book)).collect()
}

/// Two measurements of a phase of ten seconds, of which `change` disturbs the second.
fn disturbed_by(change: impl Fn(&mut Measurement)) -> Vec<WarningFinding> {
    disturbed(&book_with(change))
}

fn book_with(change: impl Fn(&mut Measurement)) -> Book {
    let mut calm = fixture::measurement("create", 1, 1_000, 10_000);
    calm.seconds = Some(10.0);
    calm.disturbance = Some(quiet(10.0));
    (calm.device_read_bytes, calm.device_write_bytes) = (Some(50 << 20), Some(50 << 20));
    let mut other = calm.clone();
    change(&mut other);
    let measurements = vec![calm, other];
    Book { host: fixture::host(), measurements, ..Book::default() }
}

fn seen(change: impl Fn(&mut Disturbance)) -> Vec<WarningFinding> {
    disturbed_by(|m| m.disturbance.as_mut().into_iter().for_each(&change))
}

#[track_caller]
fn is(found: &[WarningFinding], code: WarningCode, words: &str) {
    let [one] = found else { panic!("{found:?}") };
    assert_eq!(one.code, code);
    assert!(one.sentence.contains("1 of 2 measurements"), "{}", one.sentence);
    assert!(one.sentence.contains(words), "{}", one.sentence);
}

#[test]
fn a_quiet_machine_is_told_nothing() {
    assert_eq!(seen(|_| ()), []);
    assert_eq!(disturbed(&fixture::book()), []);
    assert_eq!(disturbed(&fixture::made::book()), []);
}

#[test]
fn what_others_move_is_told_from_a_twentieth_of_what_the_device_moved() {
    is(
        &seen(|d| d.others_write_bytes = Some(6 << 20)),
        WarningCode::OthersIo,
        "create: other processes moved up to 6.00 MiB on the disk during 1 of 2 measurements.",
    );
    assert_eq!(seen(|d| d.others_write_bytes = Some(4 << 20)), []);
    let little = |m: &mut Measurement| m.device_write_bytes = Some(1_000);
    assert_eq!(disturbed_by(little), [], "a few bytes of others are nothing");
}

#[test]
fn others_count_for_no_more_than_the_device_moved() {
    let elsewhere = |m: &mut Measurement| {
        (m.device_read_bytes, m.device_write_bytes) = (Some(50 << 20), Some(0));
        m.disturbance.as_mut().unwrap().others_write_bytes = Some(5 << 30);
    };
    assert_eq!(disturbed_by(elsewhere), [], "it wrote to another disk, or to memory");
    let no_device = |m: &mut Measurement| {
        elsewhere(m);
        m.device_write_bytes = None;
    };
    assert_eq!(disturbed_by(no_device), []);
}

#[test]
fn traffic_beneath_counts_when_it_is_more_than_a_file_system_makes_for_itself() {
    let beneath = |bytes: u64| {
        seen(move |d| {
            (d.others_read_bytes, d.others_write_bytes) = (None, None);
            (d.beneath_read_bytes, d.beneath_write_bytes) = (Some(0), Some(bytes));
        })
    };
    is(&beneath(60 << 20), WarningCode::OthersIo, "60.0 MiB");
    assert_eq!(beneath(40 << 20), []);
}

#[test]
fn processors_that_others_use_are_told_and_kernel_threads_for_the_device_are_not() {
    let others = |user: f64| seen(move |d| d.others_user_seconds = Some(user));
    is(&others(2.5), WarningCode::OthersCpu, "up to 12% of the CPU time");
    assert_eq!(others(1.5), []);
    assert_eq!(seen(|d| d.others_cpu_seconds = Some(15.0)), [], "kernel threads were not counted");
    let in_kernel = |kernel: f64| {
        seen(move |d| {
            (d.others_cpu_seconds, d.kernel_threads_seconds) = (Some(15.0), Some(kernel));
        })
    };
    assert_eq!(in_kernel(14.5), [], "they worked for the device");
    is(&in_kernel(5.0), WarningCode::OthersCpu, "up to 50% of the CPU time");
    let waiting = |d: &mut Disturbance| {
        (d.cpu_pressure_seconds, d.others_user_seconds) = (Some(3.0), Some(1.0));
    };
    is(&seen(waiting), WarningCode::OthersCpu, "5%");
    let crowded = |m: &mut Measurement| {
        m.threads = Some(2);
        waiting(m.disturbance.as_mut().unwrap());
    };
    assert_eq!(disturbed_by(crowded), [], "two workers on two processors wait for each other");
}

#[test]
fn memory_steal_throttling_and_clocks_are_told_with_their_phases() {
    is(&seen(|d| d.memory_pressure_seconds = Some(1.0)), WarningCode::MemoryPressure, "10%");
    is(&seen(|d| d.steal_seconds = Some(0.6)), WarningCode::Steal, "3%");
    assert_eq!(seen(|d| d.steal_seconds = Some(0.3)), []);
    is(&seen(|d| d.core_throttles = Some(1)), WarningCode::Throttled, "throttled");
    is(&seen(|d| d.group_throttles = Some(1)), WarningCode::Throttled, "throttled");
    is(&seen(|d| d.clock_changed = Some(true)), WarningCode::ClockJumped, "not steady");
    is(&seen(|d| d.clock_error = Some(-0.002)), WarningCode::ClockJumped, "not steady");
}

#[test]
fn codes_are_all_different() {
    let codes: BTreeSet<_> = DISTURBANCES.iter().map(|kind| kind.code).collect();
    assert_eq!(codes.len(), DISTURBANCES.len());
}

#[test]
fn others_do_not_disturb_what_waits_for_a_modelled_disk_unless_it_is_late() {
    let told = |change: fn(&mut Measurement)| {
        let mut book = fixture::made::modelled_book();
        for m in &mut book.measurements {
            let Some(seen) = m.disturbance.as_mut() else { continue };
            (seen.seconds, seen.cpu_seconds) = (Some(10.0), Some(20.0));
            (seen.others_user_seconds, seen.steal_seconds) = (Some(9.0), Some(3.0));
            (seen.others_read_bytes, seen.others_write_bytes) = (Some(1 << 30), Some(1 << 30));
            change(m);
        }
        let all = disturbed(&book).into_iter();
        all.map(|one| (one.code, one.phases.concat())).collect::<Vec<_>>()
    };
    let busy = [WarningCode::OthersCpu, WarningCode::Steal];
    let codes = |all: &[(WarningCode, String)]| all.iter().map(|one| one.0).collect::<Vec<_>>();
    let punctual = told(|_| ());
    assert_eq!(codes(&punctual), busy);
    assert!(punctual.iter().all(|(_, phases)| !phases.contains("read")), "{punctual:?}");
    let late = told(|m| m.disk.as_mut().unwrap().late = Some(1 << 40));
    assert!(late.iter().all(|(_, phases)| phases.contains("read-random")), "{late:?}");
}

#[test]
fn on_a_loop_device_of_its_own_only_the_disk_beneath_can_be_shared() {
    let told = |beneath: u64| {
        let mut book = fixture::made::book();
        for m in &mut book.measurements {
            (m.device_read_bytes, m.device_write_bytes) = (Some(0), Some(60 << 20));
            // What is written until the unmount is not watched.
            let Some(seen) = m.disturbance.as_mut() else { continue };
            seen.others_write_bytes = Some(50 << 20);
            (seen.beneath_read_bytes, seen.beneath_write_bytes) = (Some(0), Some(beneath));
        }
        disturbed(&book).len()
    };
    assert_eq!((told(2 << 20), told(10 << 20)), (0, 1));
}
