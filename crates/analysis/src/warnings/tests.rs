#[cfg(test)]
mod disturbances;
#[cfg(test)]
mod journal;

use super::*;
use boatload_base::errno::Errno;
use boatload_plan::{CacheAsked, EngineName};
use boatload_results::book::{CacheReport, Latency, Level, LevelOrder};
use boatload_results::fixture::failing;
use boatload_run::cache::{CacheState, Doubt};

fn measurement(phase: &str) -> Measurement {
    Measurement { phase: phase.into(), operations: 1000, ..Measurement::default() }
}

fn doubtful(phase: &str, doubt: Doubt) -> Measurement {
    let cache = CacheReport {
        asked: CacheAsked::Cold,
        found: CacheState::Unverified,
        resident_fraction: None,
        reason: Some(doubt),
    };
    Measurement { cache, ..measurement(phase) }
}

/// Of a run that came to its end, or was interrupted.
fn of_book(book: &Book) -> Vec<WarningFinding> {
    let mut book = book.clone();
    book.run.complete |= book.run.finished.is_none();
    warnings(&book)
}

fn of(measurements: Vec<Measurement>) -> Vec<WarningFinding> {
    of_book(&Book { measurements, ..Book::default() })
}

fn codes(all: &[WarningFinding]) -> Vec<WarningCode> {
    all.iter().map(|one| one.code).collect()
}

#[test]
fn a_reason_is_given_once_for_all_its_phases() {
    let all = of(vec![
        doubtful("create", Doubt::NoRights),
        doubtful("read", Doubt::NoRights),
        doubtful("read", Doubt::NoRights),
    ]);
    let [one] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(one.code, WarningCode::CacheNotAsAsked);
    assert_eq!(one.phases, ["create", "read"]);
}

#[test]
fn nothing_is_said_of_a_clean_run() {
    assert_eq!(of(vec![measurement("create")]), []);
}

#[test]
fn an_invalid_measurement_is_named_with_its_reasons() {
    let mut m = measurement("create");
    m.invalid = vec![failing(Errno::ENOSPC, 3)];
    let all = of(vec![m.clone(), m]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].sentence.contains("ENOSPC x 3"));
}

#[test]
fn one_operation_that_takes_most_of_the_time_of_its_phase_is_said() {
    let with = |longest_seconds: f64, seconds: f64| {
        let m = measurement("create");
        let latency = Latency { max: (longest_seconds * 1e9) as u64, ..Latency::default() };
        of(vec![Measurement {
            operations: 1_000,
            seconds: Some(seconds),
            latency: Some(latency),
            ..m
        }])
    };
    let all = with(20.0, 25.0);
    assert_eq!(codes(&all), [WarningCode::LongOperation]);
    let said = "create: one operation took 20 s, more than half of the time of its phase.";
    assert_eq!(all[0].sentence, said);
    assert_eq!(with(20.0, 41.0), []);
    assert_eq!(with(0.9, 1.0), [], "a hiccup of a short phase is not rare");
}

#[test]
fn a_machine_that_gets_slower_between_two_repeats_is_told_with_the_repeat() {
    let of_repeat = |repeat: u32| {
        let wave = 1.0 + 0.01 * f64::from(repeat % 3);
        let seconds = if repeat < 5 { 10.0 } else { 18.0 } * wave;
        let mut m = Measurement { seconds: Some(seconds), ..measurement("create") };
        m.cell.repeat = repeat;
        m
    };
    let all = of((1..=8).map(of_repeat).collect());
    let step = all.iter().find(|one| one.code == WarningCode::Step).unwrap();
    assert!(step.sentence.starts_with("from repeat 5 on everything takes 1.8"), "{step:?}");
    assert!(codes(&of((5..=12).map(of_repeat).collect())).is_empty());
}

#[test]
fn a_device_that_was_busy_is_said_with_the_phases_and_how_often() {
    let with = |phase, idle| Measurement { idle, ..measurement(phase) };
    let all = of(vec![
        with("create", Some(true)),
        with("read", Some(false)),
        with("read", Some(false)),
        with("delete", None),
    ]);
    assert_eq!(codes(&all), [WarningCode::DeviceBusy]);
    assert!(all[0].sentence.starts_with("read: "), "{}", all[0].sentence);
    assert!(all[0].sentence.contains("2 of 4 measurements"), "{}", all[0].sentence);
    assert_eq!(all[0].measurements, Some(2));
    assert_eq!(of(vec![with("create", Some(true)), with("read", None)]), []);
}

#[test]
fn a_loop_device_through_the_cache_is_said_and_one_around_it_is_not() {
    let mut book = boatload_results::fixture::made::book();
    assert_eq!(of_book(&book), []);
    for made in &mut book.filesystems[1..3] {
        made.device.as_mut().unwrap().loop_direct_io = Some(false);
    }
    let all = of_book(&book);
    assert_eq!(codes(&all), [WarningCode::HostCache]);
    assert!(all[0].sentence.starts_with("ext3, xfs: "), "{}", all[0].sentence);
}

#[test]
fn a_modelled_disk_that_was_late_is_told_with_its_phases_and_one_that_was_not_causes_no_warning() {
    let mut book = boatload_results::fixture::made::modelled_book();
    for made in &mut book.filesystems {
        made.device.as_mut().unwrap().loop_direct_io = Some(false);
    }
    assert_eq!(of_book(&book), [], "what lies below it adds no time");
    let requests = |book: &Book| -> u64 {
        book.measurements.iter().filter_map(|m| m.disk.as_ref()).map(DiskActivity::requests).sum()
    };
    let all_requests = requests(&book);
    let first = book.measurements.iter_mut().find(|m| m.phase == "read-random").unwrap();
    first.disk.as_mut().unwrap().late = Some(all_requests / 200);
    assert_eq!(of_book(&book), [], "half a percent of the run's requests");
    let first = book.measurements.iter_mut().find(|m| m.phase == "read-random").unwrap();
    first.disk.as_mut().unwrap().late = Some(all_requests / 50);
    let all = of_book(&book);
    assert_eq!(codes(&all), [WarningCode::DiskLate]);
    assert!(all[0].sentence.starts_with("read-random: the modelled disk"), "{}", all[0].sentence);
    assert!(all[0].sentence.contains("2.0% of the run's requests"), "{}", all[0].sentence);
}

#[test]
fn slow_processors_are_stated_once() {
    let mut book = boatload_results::fixture::book();
    let stated = |book: &Book| {
        let all = of_book(book).into_iter();
        all.filter(|one| one.code == WarningCode::Frequency).collect::<Vec<_>>()
    };
    assert_eq!(stated(&book), []);
    let settings = book.host.settings.as_mut().unwrap();
    settings.governor = Some("powersave".into());
    assert_eq!(stated(&book).len(), 1);
    book.host.settings.as_mut().unwrap().frequency_driver = Some("intel_pstate".into());
    assert_eq!(stated(&book), [], "there it is the name of the usual one");
    for m in &mut book.measurements {
        m.disturbance.as_mut().unwrap().frequency_share = Some(0.4);
    }
    assert!(stated(&book)[0].sentence.contains("40% of their highest frequency"));
}

#[test]
fn levels_that_came_as_they_were_prepared_are_told_and_random_ones_are_not() {
    let mut book = Book::default();
    let mut codes_with = |order| {
        book.run.level_order = order;
        codes(&of_book(&book))
    };
    assert_eq!(codes_with(Some(LevelOrder::AsPrepared)), [WarningCode::LevelsInOrder]);
    assert_eq!(codes_with(Some(LevelOrder::Random)), []);
    assert_eq!(codes_with(None), []);
}

#[test]
fn file_systems_on_a_small_place_are_warned_of_and_a_single_one_that_is_filled_is_not() {
    let mut book = boatload_results::fixture::made::book();
    book.filesystems.iter_mut().for_each(|made| made.device_bytes = 1 << 30);
    let all = of_book(&book);
    assert_eq!(codes(&all), [WarningCode::SmallVolume]);
    assert!(all[0].hint.contains("--size 10GiB"), "{}", all[0].hint);
    book.filesystems.truncate(1);
    let alone = of_book(&book);
    assert_eq!(codes(&alone), [WarningCode::SmallVolume]);
    assert!(alone[0].sentence.contains("was measured on 1.00 GiB"), "{}", alone[0].sentence);
    let full = Level { axis: "space-used".into(), value: 50.0, unit: Unit::Percent };
    book.measurements.iter_mut().for_each(|m| m.cell.level = Some(full.clone()));
    assert!(!codes(&of_book(&book)).contains(&WarningCode::SmallVolume));
}
