use std::path::Path;

use super::*;
use boatload_results::tools::read_tool_result;

const SAMPLES: [&str; 15] = [
    "bonnie-small.csv",
    "bonnie-twice.csv",
    "dd-direct.txt",
    "dd-fdatasync.txt",
    "dd-nosync.txt",
    "dd-read-cached.txt",
    "dd-without-command.txt",
    "elbencho-buffered.csv",
    "elbencho-direct.csv",
    "fio-cached.json",
    "fio-direct.json",
    "fio-write-nosync.json",
    "fio-write-synced.json",
    "fio-written-then-read.json",
    "mdtest-client-cache.txt",
];

fn sample_text(name: &str) -> String {
    let path =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn of_text(text: &str, bounds: &AuditBounds) -> Audit {
    let result = read_tool_result(text.as_bytes()).unwrap();
    audit(vec![("file".into(), result)], bounds).remove(0)
}

fn sample(name: &str) -> Audit {
    of_text(&sample_text(name), &AuditBounds::default())
}

/// Each finding as `check grade`, once.
fn found(audit: &Audit) -> Vec<String> {
    let all = audit.findings.iter().map(|one| format!("{} {}", one.check, one.grade));
    boatload_base::distinct::each_once(all)
}

fn with_memory(name: &str, gibibytes: u64) -> Vec<String> {
    let bounds = AuditBounds { memory_bytes: Some(gibibytes << 30), ..AuditBounds::default() };
    found(&of_text(&sample_text(name), &bounds))
}

#[test]
fn nothing_speaks_against_a_clean_direct_run_of_fio() {
    let audit = sample("fio-direct.json");
    assert_eq!(found(&audit), [""; 0]);
    assert_eq!(audit.sentence(), "Nothing speaks against it.");
    assert_eq!(with_memory("fio-direct.json", 16), [""; 0]);
}

#[test]
fn nothing_speaks_against_repeated_results_that_no_cache_served() {
    for name in ["mdtest-shifted.txt", "elbencho-direct.csv"] {
        assert_eq!(found(&sample(name)), [""; 0], "{name}");
    }
}

#[test]
fn reads_that_the_device_did_not_serve_are_certainly_from_memory() {
    let audit = sample("fio-cached.json");
    assert_eq!(
        found(&audit),
        [
            "device-idle certain",
            "latency likely",
            "not-invalidated possible",
            "read-again possible",
            "one-run imprecise"
        ]
    );
    assert_eq!(audit.sentence(), "The figure cannot be the speed of the device.");
    let known = with_memory("fio-cached.json", 16);
    assert!(known.contains(&"fits-in-memory possible".into()), "{known:?}");
}

#[test]
fn writes_that_are_not_synced_are_found_in_every_tool() {
    for name in [
        "fio-write-nosync.json",
        "dd-nosync.txt",
        "elbencho-buffered.csv",
        "mdtest-client-cache.txt",
    ] {
        let all = found(&sample(name));
        assert!(all.contains(&"not-synced possible".into()), "{name}: {all:?}");
    }
    for name in ["fio-write-synced.json", "dd-fdatasync.txt", "dd-direct.txt", "mdtest-shifted.txt"]
    {
        let all = found(&sample(name));
        assert!(!all.iter().any(|one| one.starts_with("not-synced")), "{name}: {all:?}");
    }
    assert_eq!(with_memory("dd-nosync.txt", 16)[0], "not-synced likely");
}

#[test]
fn the_verdict_counts_figures_not_their_names() {
    let one = "+ dd if=/dev/urandom of=f\n9+0 records out\n900 bytes copied, 9 s, 1 B/s\n";
    let audit = of_text(&one.repeat(3), &AuditBounds::default());
    let sentence = audit.sentence();
    assert!(sentence.starts_with("All 3 figures may be"), "{sentence}");
}

#[test]
fn what_a_file_cannot_say_is_no_fact() {
    let bonnie = sample("bonnie-small.csv");
    let of_create = bonnie.findings.iter().filter(|one| one.measurement == "sequential create");
    let checks: Vec<_> = of_create.map(|one| (one.check, one.reason.as_str())).collect();
    assert_eq!(checks[0], ("not-stated", "the file does not say whether it was synced"), "no -b");
    let reads = bonnie.findings.iter().filter(|one| one.measurement == "read by block");
    assert!(reads.into_iter().all(|one| one.grade >= AuditGrade::Possible), "no -D");
    let posix = sample_text("mdtest-client-cache.txt");
    let dfs = found(&of_text(&posix.replace("'-F'", "'-F' '-a' 'DFS'"), &AuditBounds::default()));
    let of_caches = ["not-synced", "client-cache", "not-invalidated"];
    let is_of_caches = |one: &String| of_caches.iter().any(|check| one.starts_with(check));
    assert!(!dfs.iter().any(is_of_caches), "{dfs:?}");
    assert!(dfs.contains(&"not-stated possible".into()), "{dfs:?}");
    let piped = of_text(
        "+ dd if=f bs=1M\n9+0 records out\n900 bytes copied, 9 s, 1 B/s\n",
        &AuditBounds::default(),
    );
    assert_eq!(
        piped.findings[0].reason,
        "nothing says where it was written, or whether it was synced"
    );
}

#[test]
fn a_read_after_the_caches_were_dropped_is_from_the_device_and_the_next_of_the_file_is_not() {
    let read = "+ dd if=f of=/dev/null bs=1M\n9+0 records out\n9000000 bytes copied, 2 s, 1 B/s\n";
    let bounds = AuditBounds { memory_bytes: Some(1 << 30), ..AuditBounds::default() };
    let checks = |before: &str| {
        let audit = of_text(&format!("{before}{read}"), &bounds);
        let last = audit.result.measurements.last().unwrap().cold;
        (last, found(&audit))
    };
    let clean = |before: &str| checks(before) == (Some(true), vec!["no-spread imprecise".into()]);
    assert!(clean("+ sysctl vm.drop_caches=3\nvm.drop_caches = 3\n"));
    assert!(clean("$ echo 3 > /proc/sys/vm/drop_caches\n"));
    assert_eq!(checks("").1[0], "fits-in-memory possible");
    assert_eq!(checks("$ echo 2 > /proc/sys/vm/drop_caches\n").0, Some(false));
    let denied =
        "$ echo 3 > /proc/sys/vm/drop_caches\nsh: /proc/sys/vm/drop_caches: Permission denied\n";
    assert_eq!(checks(denied).0, Some(false));
    assert_eq!(checks(&format!("+ sysctl vm.drop_caches=3\n{read}")).0, Some(false));
}

#[test]
fn attributes_from_the_cache_of_the_client_are_found_unless_another_machine_reads_them() {
    let all = found(&sample("mdtest-client-cache.txt"));
    assert_eq!(all[0], "client-cache likely");
    let shifted = sample_text("mdtest-client-cache.txt").replace("'-i' '1'", "'-i' '1' '-N' '1'");
    let two = shifted.replace("on 1 node(s)", "on 2 node(s)");
    let has = |text: &str| {
        found(&of_text(text, &AuditBounds::default())).contains(&"client-cache likely".into())
    };
    assert_eq!((has(&shifted), has(&two)), (true, false), "-N needs a second machine");
}

#[test]
fn files_of_twice_the_memory_are_not_said_to_come_from_it() {
    let all = with_memory("bonnie-twice.csv", 1);
    let of_blocks = |audit: &Audit| {
        let of_read = audit.findings.iter().filter(|one| one.measurement == "read by block");
        of_read.map(|one| one.check).collect::<Vec<_>>()
    };
    let bounds = AuditBounds { memory_bytes: Some(1 << 30), ..AuditBounds::default() };
    let audit = of_text(&sample_text("bonnie-twice.csv"), &bounds);
    assert_eq!(of_blocks(&audit), ["no-spread"], "{all:?}");
    assert_eq!(of_blocks(&sample("bonnie-twice.csv")), ["not-invalidated", "no-spread"]);
}

#[test]
fn rates_above_the_device_are_found() {
    let rate = 170_687_144.0;
    let checks = |bounds: AuditBounds| found(&of_text(&sample_text("fio-direct.json"), &bounds));
    let device =
        |most| AuditBounds { device_bytes_per_second: Some(most), ..AuditBounds::default() };
    assert_eq!(checks(device(rate / 1.2)), ["device-rate certain"]);
    assert_eq!(checks(device(rate / 1.05)), [""; 0], "within what rounding explains");
}

#[test]
fn a_kind_of_device_speaks_only_against_what_no_counter_and_no_array_explains() {
    let audited = |text: &str, bounds: &AuditBounds| found(&of_text(text, bounds));
    let uncounted = sample_text("fio-direct.json").replace("\"disk_util\"", "\"other\"");
    let fast = |rate: u64| {
        uncounted.replace("\"bw_bytes\" : 170687144", &format!("\"bw_bytes\" : {rate}"))
    };
    let unknown = AuditBounds::default();
    assert_eq!(audited(&fast(28_000_000_000), &unknown), [""; 0], "drives of PCIe 6.0 do that");
    assert_eq!(audited(&fast(40_000_000_000), &unknown), ["class-rate possible"]);
    let about = CHECKS.iter().find(|check| check.name == "class-rate").map(|check| check.about);
    let most = format!("{} GB/s", checks::DEVICE_RATE_MAX / 1e9);
    assert!(about.is_some_and(|about| about.contains(&most)), "the list says {most}, too");
    let array = AuditBounds { directory: Some("/mnt/array".into()), ..unknown };
    assert_eq!(audited(&fast(40_000_000_000), &array), [""; 0]);
}

#[test]
fn counters_that_are_not_those_of_the_files_or_do_not_count_condemn_nothing() {
    let cached = sample_text("fio-cached.json");
    let is_idle = |text: &str| {
        let all = found(&of_text(text, &AuditBounds::default()));
        all.into_iter().find(|one| one.starts_with("device-idle"))
    };
    let certain = Some("device-idle certain".to_string());
    assert_eq!(is_idle(&cached), certain);
    let mut document: serde_json::Value = serde_json::from_str(&cached).unwrap();
    let mut on_nfs = document["jobs"][0].clone();
    on_nfs["job options"]["filename"] = "/mnt/nfs/f".into();
    document["jobs"].as_array_mut().unwrap().push(on_nfs);
    assert_eq!(is_idle(&document.to_string()), None, "one of two jobs is on NFS");
    document["jobs"].as_array_mut().unwrap().pop();
    document["jobs"][0]["job options"]["direct"] = "1".into();
    assert_eq!(is_idle(&document.to_string()), Some("device-idle likely".to_string()));
    for (_, count) in document["disk_util"][0].as_object_mut().unwrap() {
        if count.is_number() {
            *count = 0.into();
        }
    }
    assert_eq!(is_idle(&document.to_string()), None, "queue/iostats is 0");
}

#[test]
fn what_touches_no_device_is_certain() {
    let null = sample_text("fio-direct.json").replace("\"libaio\"", "\"null\"");
    assert_eq!(found(&of_text(&null, &AuditBounds::default()))[0], "no-device certain");
    let stick = "$ dd if=/dev/urandom of=/run/media/me/stick/f conv=fsync\n9+0 records out\n900 bytes copied, 9 s, 1 B/s\n";
    assert_eq!(found(&of_text(stick, &AuditBounds::default())), ["no-spread imprecise"]);
    for command in ["dd if=/dev/zero of=/dev/null", "dd if=/dev/urandom of=/dev/shm/f conv=fsync"] {
        let text = format!("$ {command}\n9+0 records out\n900 bytes copied, 9 s, 100 B/s\n");
        assert_eq!(
            found(&of_text(&text, &AuditBounds::default()))[0],
            "no-device certain",
            "{command}"
        );
    }
}

#[test]
fn the_same_measurement_in_several_files_is_repeated_and_another_is_not() {
    let text = sample_text("dd-fdatasync.txt");
    let result =
        |seconds: &str| read_tool_result(text.replace("1.37712 s", seconds).as_bytes()).unwrap();
    let other = || read_tool_result(sample_text("dd-direct.txt").as_bytes()).unwrap();
    let all = |results: Vec<ToolResult>| {
        let named = results.into_iter().map(|result| ("file".into(), result)).collect();
        found(&audit(named, &AuditBounds::default())[0])
    };
    assert_eq!(all(vec![result("2 s"), other(), other()]), ["no-spread imprecise"]);
    assert_eq!(all(vec![result("2 s"), result("3 s"), result("4 s")]), [""; 0]);
    let same_file = vec![result("2 s"), result("2 s"), result("2 s")];
    assert_eq!(all(same_file), ["no-spread imprecise"]);
}

#[test]
fn figures_beyond_all_measure_are_weighed_without_overflow() {
    let most = u64::MAX;
    let text = format!(
        "$ dd if=f of=/dev/null bs={most}\n9+0 records out\n{most} bytes copied, 1e-300 s, 1 B/s\n"
    );
    let bounds = AuditBounds { memory_bytes: Some(most), ..AuditBounds::default() };
    assert!(found(&of_text(&text, &bounds)).contains(&"too-short imprecise".into()));
    let fio = sample_text("fio-cached.json")
        .replace(": 1419120640", &format!(": {most}"))
        .replace("128m", "16383p");
    assert!(found(&of_text(&fio, &bounds)).contains(&"device-idle certain".into()));
}

#[test]
fn an_error_and_zeros_are_told() {
    let failed = sample_text("fio-direct.json").replacen("\"error\" : 0", "\"error\" : 28", 1);
    let audit = of_text(&failed, &AuditBounds::default());
    assert_eq!(
        audit.findings[0].reason,
        "it ended with an error (28): the figure is not of all its work"
    );
    assert_eq!(audit.sentence(), "The figure is not of all its work: it ended with an error.");
    assert!(found(&sample("dd-direct.txt")).contains(&"zeros possible".into()));
    assert!(!found(&sample("dd-fdatasync.txt")).contains(&"zeros possible".into()));
}

#[test]
fn every_check_is_found_in_a_kept_sample_or_a_test_above_and_named_once() {
    let bounds = AuditBounds { memory_bytes: Some(16 << 30), ..AuditBounds::default() };
    let of_samples = SAMPLES.iter().flat_map(|name| {
        let all = [sample(name), of_text(&sample_text(name), &bounds)];
        all.into_iter().flat_map(|audit| audit.findings.into_iter().map(|one| one.check))
    });
    let seen: BTreeSet<_> = of_samples.collect();
    let above = ["no-device", "device-rate", "class-rate", "error"];
    for check in CHECKS {
        assert!(
            seen.contains(check.name) || above.contains(&check.name),
            "{}: never found",
            check.name
        );
        assert_eq!(CHECKS.iter().filter(|other| other.name == check.name).count(), 1);
    }
}

/// A result of one job of fio, with these options and values.
fn of_job(options: &str, part: &str, values: &str, devices: &str) -> Audit {
    let job = format!(
        "{{\"jobname\":\"a\",\"job options\":{{{options}}},\"{part}\":{{{values},\"bw_samples\":20,\
         \"clat_ns\":{{\"percentile\":{{\"50.000000\":90000}}}}}}}}"
    );
    let text =
        format!("{{\"fio version\":\"fio-3.33\",\"jobs\":[{job}],\"disk_util\":[{{{devices}}}]}}");
    of_text(&text, &AuditBounds::default())
}

const TEN_SECONDS: &str =
    "\"io_bytes\":1073741824,\"bw_bytes\":107374182,\"runtime\":10000,\"total_ios\":262144";

#[test]
fn counters_that_fio_reads_too_late_condemn_no_short_job() {
    let idle = "\"read_ios\":0,\"write_ios\":3";
    let has = |part: &str, options: &str, values: &str| {
        let all = found(&of_job(options, part, values, idle));
        all.iter().any(|one| one.starts_with("device-idle"))
    };
    let short = "\"io_bytes\":104857600,\"bw_bytes\":419430400,\"runtime\":249,\"total_ios\":1600";
    assert!(!has("write", "\"sync\":\"1\"", short), "all of it came after the last look");
    assert!(!has("read", "\"rw\":\"read\"", short));
    assert!(has("read", "\"rw\":\"read\"", TEN_SECONDS));
    assert!(has("write", "\"rw\":\"write\"", TEN_SECONDS), "it is in memory");
    assert!(!has("write", "\"end_fsync\":\"1\"", TEN_SECONDS), "the sync may be what came after");
}

#[test]
fn each_option_of_fio_that_syncs_counts_and_one_that_is_never_reached_does_not() {
    let unsynced = |options: &str| {
        let all = found(&of_job(options, "write", TEN_SECONDS, ""));
        all.contains(&"not-synced possible".into())
    };
    for options in [
        "fsync=1", "fsync=262144", "fdatasync=64", "end_fsync=1", "sync=1", "sync=dsync",
        "fsync_on_close=1", "direct=1", "buffered=0",
    ] {
        let (key, value) = options.split_once('=').unwrap();
        assert!(!unsynced(&format!("\"{key}\":\"{value}\"")), "{options}");
    }
    for options in
        ["fsync=0", "fsync=262145", "end_fsync=0", "sync=none", "sync=0", "direct=0", "rw=write"]
    {
        let (key, value) = options.split_once('=').unwrap();
        assert!(unsynced(&format!("\"{key}\":\"{value}\"")), "{options}");
    }
}

#[test]
fn an_io_engine_that_maps_files_reads_through_the_page_cache_whatever_direct_says() {
    let options = "\"rw\":\"randread\",\"size\":\"128m\",\"direct\":\"1\"";
    let mapped = of_job(&format!("{options},\"ioengine\":\"mmap\""), "read", TEN_SECONDS, "");
    assert!(found(&mapped).contains(&"read-again possible".into()), "{:?}", found(&mapped));
    let around = of_job(&format!("{options},\"ioengine\":\"psync\""), "read", TEN_SECONDS, "");
    assert_eq!(found(&around), [""; 0]);
    let msync = of_job("\"direct\":\"1\",\"ioengine\":\"mmap\"", "write", TEN_SECONDS, "");
    assert!(!found(&msync).contains(&"not-synced possible".into()), "each write has its msync");
}

#[test]
fn io_engines_that_make_files_move_no_bytes() {
    let of = |engine: &str, part: &str| {
        of_job(
            &format!("\"ioengine\":\"{engine}\""),
            part,
            TEN_SECONDS,
            "\"read_ios\":0,\"write_ios\":1",
        )
    };
    for (engine, part, check) in [
        ("filecreate", "write", "not-synced"),
        ("filedelete", "read", "not-synced"),
        ("filestat", "read", "not-invalidated"),
    ] {
        let audit = of(engine, part);
        let one = &audit.result.measurements[0];
        assert_eq!((one.bytes, one.bytes_per_second), (None, None), "{engine}");
        let checks: Vec<_> = audit.findings.iter().map(|one| one.check).collect();
        assert_eq!(checks, [check], "{engine}");
    }
    assert_eq!(
        of("filecreate", "write").findings[0].reason,
        "the time ends before the data is on the device (no sync: the I/O engine has none)"
    );
    assert_eq!(of("falloc", "write").findings[0].reason, "the I/O engine falloc moves no content");
}

#[test]
fn files_in_memory_are_known_by_their_directory_too() {
    let first = |options: &str| {
        let audit = of_job(options, "read", TEN_SECONDS, "");
        audit.findings.first().map(|one| one.reason.clone())
    };
    assert_eq!(first("\"directory\":\"/dev/shm\"").unwrap(), "/dev/shm is in memory");
    let file = first("\"directory\":\"/dev/shm\",\"filename\":\"f\"");
    assert_eq!(file.unwrap(), "f is in memory");
    assert_eq!(first("\"filename\":\"/dev/shm/f\"").unwrap(), "/dev/shm/f is in memory");
    assert_eq!(first("\"directory\":\"/dev/shm:/mnt/x\""), None, "one of two is on a disk");
}

#[test]
fn caches_that_fio_left_alone_are_named() {
    let audit = of_job("\"rw\":\"read\",\"invalidate\":\"0\"", "read", TEN_SECONDS, "");
    assert_eq!(audit.findings[0].reason, "invalidate=0 left what was in the page cache");
    let emptied = of_job("\"rw\":\"read\"", "read", TEN_SECONDS, "");
    assert_eq!(found(&emptied), [""; 0], "fio empties it of the file by itself");
}

#[test]
fn an_error_of_dd_counts() {
    let text = "+ dd if=/dev/urandom of=d2 bs=1M conv=fdatasync\n\
        dd: error writing 'd2': No space left on device\n230+0 records in\n229+0 records out\n\
        240123904 bytes (240 MB, 229 MiB) copied, 3.04655 s, 78.8 MB/s\n";
    let audit = of_text(text, &AuditBounds::default());
    assert_eq!(
        audit.findings[0].reason,
        "it ended with an error (No space left on device): the figure is not of all its work"
    );
}

#[test]
fn of_reads_after_dd_took_a_file_out_of_the_page_cache_nothing_is_claimed() {
    let read = "+ dd if=f of=/dev/null bs=1M\n9+0 records out\n9000000 bytes copied, 2 s, 1 B/s\n";
    let evict = "+ dd if=f iflag=nocache count=0\n0+0 records in\n0+0 records out\n0 bytes copied, 3e-05 s, 0.0 kB/s\n";
    let cold = |text: String| {
        let audit = of_text(&text, &AuditBounds::default());
        audit.result.measurements.iter().map(|one| one.cold).collect::<Vec<_>>()
    };
    assert_eq!(cold(format!("{evict}{read}{read}")), [None, None]);
    assert_eq!(cold(read.into()), [Some(false)]);
}

#[test]
fn attributes_that_take_a_round_trip_each_are_not_said_to_come_from_a_cache() {
    let slow = found(&sample("mdtest-slow-stats.txt"));
    assert_eq!(slow, ["not-synced possible", "not-invalidated possible"], "2.5 ms each");
    let launched = |tasks: u64| {
        let text = sample_text("mdtest-client-cache.txt").replace("4 t", &format!("{tasks} t"));
        let all = found(&of_text(&text, &AuditBounds::default()));
        all.contains(&"client-cache likely".into())
    };
    assert!(launched(4), "4.4 us each");
    assert!(!launched(40), "44 us each");
}

#[test]
fn a_cache_is_claimed_of_no_launch_by_the_creates_of_another() {
    let audit = sample("mdtest-launches.txt");
    let all = audit.findings.iter().filter(|one| one.check == "client-cache");
    let tasks: Vec<_> = all.map(|one| audit.result.measurements[one.figure].tasks).collect();
    assert_eq!(tasks, [Some(1), Some(1), Some(1), Some(8)], "not of DFS");
}

#[test]
fn reads_slower_than_memory_are_not_probably_from_it() {
    let bounds = AuditBounds { memory_bytes: Some(16 << 30), ..AuditBounds::default() };
    let read_back = |seconds: &str| {
        let copy = |files: &str| {
            format!(
                "+ dd {files} bs=1M\n9+0 records out\n1000000000 bytes copied, {seconds} s, 1 B/s\n"
            )
        };
        let text = copy("if=/dev/urandom of=f conv=fsync") + &copy("if=f of=/dev/null");
        found(&of_text(&text, &bounds)).into_iter().find(|one| one.starts_with("fits-in-memory"))
    };
    assert_eq!(read_back("1").as_deref(), Some("fits-in-memory likely"));
    assert_eq!(read_back("20").as_deref(), Some("fits-in-memory possible"), "50 MB/s");
}

#[test]
fn a_field_that_a_version_of_fio_lacks_or_has_new_does_not_change_the_verdict() {
    let device = AuditBounds { device_bytes_per_second: Some(500e6), ..AuditBounds::default() };
    let old =
        |bounds: &AuditBounds| found(&of_text(&sample_text("fio-without-bw_bytes.json"), bounds));
    assert!(old(&device).contains(&"device-rate certain".into()), "{:?}", old(&device));
    let any = AuditBounds::default();
    assert!(old(&any).contains(&"class-rate possible".into()), "{:?}", old(&any));
    let synced = found(&sample("fio-end_syncfs.json"));
    assert!(!synced.iter().any(|one| one.starts_with("not-synced")), "{synced:?}");
}

#[test]
fn an_engine_of_fio_beside_the_kernel_is_not_judged_by_the_page_cache() {
    let options = "\"rw\":\"randread\",\"size\":\"128m\",\"ioengine\":\"rbd\"";
    assert_eq!(found(&of_job(options, "read", TEN_SECONDS, "\"read_ios\":3")), [""; 0]);
    let audit = of_job("\"ioengine\":\"rbd\"", "write", TEN_SECONDS, "\"write_ios\":3");
    assert_eq!(found(&audit), ["not-stated possible"]);
    assert_eq!(audit.findings[0].reason, "what its interface syncs is not known");
}

#[test]
fn halves_of_a_pipe_of_dd_are_not_judged() {
    let audit = sample("dd-piped.txt");
    assert_eq!(audit.findings[0].reason, "several dd ran here: nothing says which of them this is");
    assert!(!found(&audit).iter().any(|one| one.starts_with("not-synced")), "{:?}", found(&audit));
}
