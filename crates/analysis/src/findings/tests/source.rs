use super::*;
use boatload_results::fixture::measurement;
use boatload_results::operation::MeasuredOperation;
use boatload_run::cache::CacheState;

/// A phase that read `read` of its 100 MiB from the device, at so many MiB a second.
fn read(phase: &str, (repeat, pass): (u32, u32), share: f64, rate: f64) -> Measurement {
    Measurement {
        operation: MeasuredOperation::find("read-device"),
        phase: phase.into(),
        pass,
        bytes: Some(100 << 20),
        device_read_bytes: Some((share * f64::from(100 << 20)) as u64),
        seconds: Some(100.0 / rate),
        ..measurement("read", repeat, 50, 1_000)
    }
}

fn of(measurements: Vec<Measurement>) -> Vec<Finding> {
    concluded(&book(measurements), Conclusion::Source)
}

/// The finding as documents have it.
fn figures(finding: &Finding) -> serde_json::Value {
    serde_json::to_value(finding).unwrap()
}

fn kinds(findings: &[Finding], kind: &str) -> Vec<String> {
    findings.iter().filter(|f| figures(f)["kind"] == kind).map(|f| f.sentence()).collect()
}

#[test]
fn what_was_read_came_from_where_the_device_says() {
    for (share, from, said) in [
        (0.0, "memory", "came from memory: the device delivered 0.0% of 100 MiB"),
        (0.43, "both", "came from memory and the device: the device delivered 43% of 100 MiB"),
        (1.01, "device", "came from the device: the device delivered 101% of 100 MiB"),
    ] {
        let found = of(vec![read("look", (1, 1), share, 100.0)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(figures(&found[0])["from"], from);
        assert_eq!(found[0].sentence(), format!("look {said}."));
    }
}

#[test]
fn without_a_device_what_is_resident_speaks_and_else_nobody_knows() {
    let mut m = Measurement { device_read_bytes: None, ..read("look", (1, 1), 0.0, 1.0) };
    m.cache.resident_fraction = Some(1.0);
    assert_eq!(figures(&of(vec![m.clone()])[0])["from"], "memory");
    m.cache.resident_fraction = Some(0.5);
    let found = of(vec![m]);
    assert_eq!(figures(&found[0])["from"], "unknown");
    assert!(found[0].sentence().starts_with("cannot tell where look"), "{found:?}");
}

#[test]
fn zeros_that_never_reached_the_device_are_told_from_random_bytes_that_did() {
    let write = |variant: &str, written| {
        let mut m = measurement("create", 1, 1, 1_000);
        (m.bytes, m.device_write_bytes, m.sync_seconds) =
            (Some(100 << 20), Some(written), Some(0.5));
        m.cell.variant = variant.into();
        m
    };
    let found = of(vec![write("zeros", 3 << 20), write("random", 101 << 20)]);
    let sentences = kinds(&found, "destination");
    assert_eq!(
        sentences,
        [
            "random: create: the device had written 101% of 100 MiB by the end of the sync.",
            "zeros: create: the device had written 3.0% of 100 MiB by the end of the sync, although \
             it was synced: the file system compresses it or leaves it out.",
        ]
    );
}

#[test]
fn a_cache_beneath_is_seen_by_a_second_pass_that_is_surely_faster() {
    // The second repeat finds in that cache what the first has read: it is no first time.
    let rates =
        [((1, 1), 100.0), ((1, 2), 310.0), ((2, 1), 300.0), ((2, 2), 305.0), ((3, 2), 315.0)];
    let found = of(rates.map(|(at, rate)| read("uncached", at, 1.0, rate)).into());
    let beneath: Vec<_> = found.iter().filter(|f| figures(f)["kind"] == "lower-cache").collect();
    assert_eq!(beneath.len(), 1, "{found:?}");
    let ratio = figures(beneath[0])["ratio"].as_f64().unwrap();
    assert!((ratio - 3.1).abs() < 0.01, "{ratio}");
    let said = &beneath[0].sentence();
    assert!(said.contains("(a hypervisor, a controller) caches"), "{said}");
    assert!(said.contains("3.10 times as fast (3.02 to 3.19)"), "{said}");
}

#[test]
fn no_cache_beneath_is_called_where_passes_hardly_differ() {
    // That the device was slower a repeat later is no matter of its caches.
    let rates = [((1, 1), 100.0), ((1, 2), 108.0), ((2, 1), 50.0), ((2, 2), 70.0)];
    let found = of(rates.map(|(at, rate)| read("uncached", at, 1.0, rate)).into());
    let said = kinds(&found, "lower-cache");
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("no large cache below the kernel was seen"), "{said:?}");
    assert!(said[0].contains("1.08 times as fast (1.05 to 1.11)"), "1% of error in each: {said:?}");
}

#[test]
fn passes_that_differ_wildly_or_are_too_short_tell_nothing() {
    let unsure =
        |pass, rate| Measurement { rate_error: Some(0.4), ..read("a", (1, pass), 1.0, rate) };
    let found = of(vec![unsure(1, 100.0), unsure(2, 150.0)]);
    assert!(kinds(&found, "lower-cache")[0].contains("cannot tell"), "{found:?}");
    let few = |pass| Measurement { rate_error: None, ..read("a", (1, pass), 1.0, 100.0) };
    let found = of(vec![few(1), few(2)]);
    assert!(kinds(&found, "lower-cache")[0].contains("too few measurements"), "{found:?}");
}

#[test]
fn new_files_in_each_repeat_are_each_read_for_the_first_time() {
    let rates = [((1, 1), 100.0), ((1, 2), 200.0), ((2, 1), 101.0), ((2, 2), 203.0)];
    let file = |(at, rate)| Measurement {
        operation: MeasuredOperation::find("read"),
        ..read("r", at, 1.0, rate)
    };
    let found = of(rates.map(file).into());
    assert!(kinds(&found, "lower-cache")[0].contains("caches: "), "{found:?}");
}

#[test]
fn nothing_is_said_of_a_cache_beneath_without_proof_of_a_cold_one_above_or_a_second_pass() {
    let mut unproved = read("a", (1, 2), 1.0, 300.0);
    unproved.cache.found = CacheState::Unverified;
    assert!(kinds(&of(vec![read("a", (1, 1), 1.0, 100.0), unproved]), "lower-cache").is_empty());
    assert!(kinds(&of(vec![read("a", (1, 1), 1.0, 100.0)]), "lower-cache").is_empty());
}
