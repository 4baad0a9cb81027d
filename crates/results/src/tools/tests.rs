use super::result::binary_bytes;
use std::path::Path;

use super::*;

/// A kept result: tests/audit/README.md says how each was made.
fn sample(name: &str) -> ToolResult {
    let path =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit").join(name);
    read_tool_result(&std::fs::read(path).unwrap()).unwrap()
}

fn named<'a>(result: &'a ToolResult, name: &str) -> &'a ToolMeasurement {
    let names: Vec<_> = result.measurements.iter().map(|one| &one.name).collect();
    let found = result.measurements.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

fn read(text: &str) -> Result<ToolResult, String> {
    read_tool_result(text.as_bytes())
}

#[test]
fn a_result_of_fio_gives_its_rates_options_and_device_counters() {
    let result = sample("fio-direct.json");
    assert_eq!((result.tool, result.version.as_deref()), (ToolName::Fio, Some("3.33")));
    assert_eq!(result.requests.map(|requests| requests.reads), Some(328_221));
    let one = named(&result, "randread (read)");
    assert_eq!((one.random, one.direct, one.block_bytes), (true, Some(true), Some(4096)));
    assert_eq!((one.bytes, one.file_bytes), (Some(1_365_667_840), Some(512 << 20)));
    assert_eq!((one.latency_p50_ns, one.samples), (Some(244_736.0), 15));
    let cached = sample("fio-cached.json");
    assert_eq!(named(&cached, "cached (read)").cold, Some(false));
    let (without, with) = (sample("fio-write-nosync.json"), sample("fio-write-synced.json"));
    let synced = [without, with].map(|result| named(&result, "write (write)").synced);
    assert_eq!(synced, [Some(false), Some(true)]);
}

#[test]
fn options_of_all_jobs_of_fio_count_where_a_job_has_none_of_its_own() {
    let result = sample("fio-written-then-read.json");
    let one = named(&result, "read (read)");
    assert_eq!((one.file_bytes, one.block_bytes), (Some(256 << 20), Some(1 << 20)));
    assert!(one.just_written, "the job before wrote the same file");
}

#[test]
fn of_several_documents_of_fio_the_last_counts_and_what_stands_before_is_passed_over() {
    let job = |bytes: u64| {
        format!(
            "{{\"fio version\":\"fio-3.36\",\"jobs\":[{{\"jobname\":\"a\",\"read\":{{\"io_bytes\":{bytes}}}}}]}}\n"
        )
    };
    let result = read(&format!("note: both iodepth\n{}{}", job(1), job(2))).unwrap();
    assert_eq!(result.measurements[0].bytes, Some(2));
    let cut = read("{\"fio version\":\"fio-3.36\",\"jobs\":[").unwrap_err();
    assert!(cut.starts_with("it is a result of fio that cannot be read"), "{cut}");
}

#[test]
fn mdtest_gives_the_mean_of_each_phase_that_ran_with_how_it_was_run() {
    let result = sample("mdtest-client-cache.txt");
    assert_eq!(result.version.as_deref(), Some("4.0.0"));
    let names: Vec<_> = result.measurements.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["File creation", "File stat", "File read", "File removal"]);
    let stat = named(&result, "File stat");
    assert_eq!((stat.operations_per_second, stat.cold), (Some(903_412.117), Some(false)));
    assert_eq!((stat.runs, stat.has_spread, stat.operations), (1, false, Some(20_000)));
    assert_eq!((stat.tasks, stat.nodes), (Some(4), Some(1)));
    let shifted = sample("mdtest-shifted.txt");
    let stat = named(&shifted, "File stat");
    assert_eq!((stat.operations_per_second, stat.cold), (Some(20_563.34), Some(true)));
    assert_eq!((stat.runs, stat.has_spread), (5, true));
    assert_eq!(named(&shifted, "File creation").synced, Some(true), "-Y");
}

#[test]
fn a_shift_of_mdtest_on_one_machine_reads_its_own_cache_all_the_same() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-shifted.txt");
    let text = std::fs::read_to_string(path).unwrap().replace("on 2 node(s)", "on 1 node(s)");
    let result = read(&text).unwrap();
    assert_eq!(named(&result, "File stat").cold, Some(false));
}

#[test]
fn elbencho_gives_each_phase_and_whether_caches_were_dropped_before_it() {
    let result = sample("elbencho-buffered.csv");
    assert_eq!(result.version.as_deref(), Some("3.0-1"));
    let read_back = named(&result, "READ");
    assert_eq!((read_back.direct, read_back.cold), (Some(false), Some(false)));
    assert_eq!(read_back.file_bytes, Some(4 << 30), "4 threads of 8 files of 128 MiB");
    let row = |phase: &str| format!("{phase},1000,100,1");
    let all = ["operation,time ms [last],MiB/s [last],hosts".to_string()].into_iter();
    let text = |phases: &[&str]| {
        let rows = phases.iter().map(|phase| row(phase));
        read(&all.clone().chain(rows).collect::<Vec<_>>().join("\n")).unwrap()
    };
    let dropped = text(&["WRITE", "SYNC", "DROPCACHE", "READ"]);
    assert_eq!(named(&dropped, "READ").cold, Some(true));
    let again = text(&["WRITE", "DROPCACHE", "READ", "READ"]);
    assert_eq!(again.measurements[2].cold, Some(false), "the second reads from memory");
    assert_eq!(again.measurements[2].runs, 2);
}

#[test]
fn elbencho_syncs_content_alone_and_another_command_begins_anew() {
    let direct = sample("elbencho-direct.csv");
    let write = named(&direct, "WRITE");
    assert_eq!((write.direct, write.synced), (Some(true), Some(true)));
    let head = "operation,time ms [last],MiB/s [last],path type,command";
    let text = format!(
        "{head}\nMKDIRS,9,,dir,a\nWRITE,9,1,dir,a\nREAD,9,1,dir,b\nRWMIX30,9,1,dir,b\nWRITE,9,1,bucket,c\n"
    );
    let result = read(&text).unwrap();
    assert_eq!(named(&result, "MKDIRS").synced, None);
    let after = named(&result, "READ");
    assert_eq!((after.just_written, after.cold), (false, None));
    assert_eq!(named(&result, "RWMIX30").work, ToolWork::Unknown);
    assert_eq!(result.measurements.len(), 4, "S3 is left out");
}

#[test]
fn a_result_of_windows_reads_as_any() {
    let text = std::fs::read_to_string(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit/dd-nosync.txt"),
    );
    let windows = format!("\u{feff}{}", text.unwrap().replace('\n', "\r\n"));
    assert_eq!(read(&windows).unwrap(), sample("dd-nosync.txt"));
}

#[test]
fn the_files_of_a_job_of_fio_are_as_large_as_its_options_say_and_unknown_where_they_do_not() {
    let bytes = |options: &str| {
        let job = format!(
            "{{\"jobname\":\"a\",\"job options\":{{{options}}},\"read\":{{\"io_bytes\":1}}}}"
        );
        let text = format!("{{\"fio version\":\"fio-3.36\",\"jobs\":[{job}]}}");
        let one = read(&text).unwrap().measurements.remove(0);
        (one.file_bytes, one.direct)
    };
    let known = |bytes: u64| (Some(bytes), Some(false));
    assert_eq!(bytes("\"filesize\":\"1m\",\"nrfiles\":\"8\",\"size\":\"4m\""), known(8 << 20));
    assert_eq!(bytes("\"size\":\"4m\",\"nrfiles\":\"8\",\"numjobs\":\"2\""), known(8 << 20));
    let unknown = (None, Some(false));
    assert_eq!(bytes("\"size\":\"50%\""), unknown);
    assert_eq!(bytes("\"size\":\"4m\",\"offset_increment\":\"1g\""), unknown);
    assert_eq!(bytes("\"size\":\"4m\",\"filename\":\"/dev/sda:/dev/sdb\""), unknown);
    assert_eq!(bytes(""), (None, None), "the sum of several clients has no options");
    let old = read("{\"fio version\":\"fio-2.21\",\"jobs\":[]}").unwrap_err();
    assert!(old.ends_with("expected fio 3"), "{old}");
}

#[test]
fn each_launch_of_mdtest_is_a_run_and_old_versions_name_their_summary_otherwise() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-client-cache.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let twice = read(&text.repeat(2)).unwrap();
    assert_eq!(twice.measurements.len(), 8);
    assert_eq!(named(&twice, "File stat").runs, 2);
    let old = read(&text.replace("SUMMARY rate (in ops/sec):", "SUMMARY:")).unwrap();
    assert_eq!(old, read(&text).unwrap());
}

#[test]
fn a_file_with_results_of_two_benchmarks_is_refused_and_a_long_one_is_cut() {
    let dd = "9+0 records out\n900 bytes copied, 9 s, 1 B/s\n";
    let mdtest = "mdtest-3.4 was launched\nSUMMARY rate: (of 1 iterations)\nOperation Max Min Mean Std Dev\nFile read : 1 1 7 0\n";
    let both = read(&format!("{mdtest}{dd}")).unwrap_err();
    assert_eq!(both, "it has results of mdtest and of dd: expected one");
    let long = read(&dd.repeat(60_000)).unwrap();
    assert_eq!((long.measurements.len(), long.is_cut), (MEASUREMENTS_MAX, true));
    assert!(!read(dd).unwrap().is_cut);
}

/// The two lines of bonnie++; the second has other files.
fn result_of_two_sizes() -> ToolResult {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/bonnie-twice.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let (first, second) = text.trim_end().rsplit_once('\n').unwrap();
    let other = second.replacen(",3g,", ",6g,", 1).replacen(",3G,", ",6G,", 1);
    assert_ne!(other, second);
    read(&format!("{first}\n{other}\n")).unwrap()
}

#[test]
fn bonnie_gives_the_mean_of_its_lines_and_what_was_too_short() {
    let result = sample("bonnie-twice.csv");
    let apart = result_of_two_sizes();
    assert_eq!(apart.measurements.iter().filter(|one| one.name == "write by block").count(), 2);
    assert_eq!(named(&apart, "write by block").runs, 1, "another size is no repetition");
    let block = named(&result, "write by block");
    let mean = (439_779.0 + 356_977.0) / 2.0 * 1024.0;
    assert_eq!((block.bytes_per_second, block.runs), (Some(mean), 2));
    assert_eq!(block.file_bytes, Some(3 << 30));
    assert!(named(&result, "sequential stat").was_too_short);
    let first = "1.96,1.96,host,1,1,256M,,545,45,435171,34,1,1,1384,68,2,2,3,3,4,,,,,5,5,6,6,7,7,8,8,9,9,10,10,,,,,,,,,,,,";
    let old = read(first).unwrap();
    let long = read(&format!("{first}\n").repeat(MEASUREMENTS_MAX + 1)).unwrap();
    assert_eq!((old.is_cut, long.is_cut), (false, true));
    let rate = |name: &str| named(&old, name).operations_per_second;
    assert_eq!(
        (rate("random seeks"), rate("sequential create"), rate("random delete")),
        (Some(3.0), Some(5.0), Some(10.0))
    );
}

#[test]
fn dd_is_read_in_each_dialect_and_its_command_says_what_was_copied() {
    let synced = |name: &str| {
        let result = sample(name);
        let one = &result.measurements[0];
        (one.work, one.direct, one.synced, one.zeros)
    };
    assert_eq!(synced("dd-nosync.txt"), (ToolWork::Write, Some(false), Some(false), true));
    assert_eq!(synced("dd-fdatasync.txt"), (ToolWork::Write, Some(false), Some(true), false));
    assert_eq!(synced("dd-direct.txt"), (ToolWork::Write, Some(true), Some(true), true));
    assert_eq!(synced("dd-without-command.txt"), (ToolWork::Unknown, None, None, false));
    assert_eq!(synced("dd-read-cached.txt").0, ToolWork::Read);
    let busybox = "1+0 records out\n1048576 bytes (1.0MB) copied, 0.500000 seconds, 2.0MB/s\n";
    let bsd = "1048576 bytes transferred in 0.5 secs (2097152 bytes/sec)\n";
    for text in [busybox, bsd] {
        assert_eq!(read(text).unwrap().measurements[0].seconds, Some(0.5), "{text}");
    }
}

#[test]
fn of_the_progress_of_dd_only_the_end_counts_and_a_file_it_wrote_is_known_when_it_reads_it() {
    let text = "$ dd if=/dev/urandom of=f bs=1M status=progress\n\
        100 bytes (100 B) copied, 1 s, 100 B/s\r300 bytes (300 B) copied, 2 s, 150 B/s\n\
        4+0 records in\n4+0 records out\n400 bytes (400 B) copied, 3 s, 133 B/s\n\
        $ dd if=f of=/dev/null\n4+0 records out\n400 bytes copied, 1 s, 400 B/s\n";
    let result = read(text).unwrap();
    let all: Vec<_> = result.measurements.iter().map(|one| (one.bytes, one.just_written)).collect();
    assert_eq!(all, [(Some(400), false), (Some(400), true)]);
}

#[test]
fn what_is_no_result_is_refused_in_one_sentence_that_names_what_was_expected() {
    let deep = format!("{{\"fio version\":{}", "[".repeat(100_000));
    let texts =
        ["", "hello", "{}", "[1,2]", "a,b,c\n1,2,3\n", "1.98,2.00a\n", "\0\u{1}\u{2}", &deep];
    for text in texts {
        let why = read(text).unwrap_err();
        assert!(why.starts_with("expected a result of fio") || why.contains("of fio"), "{why}");
        assert!(!why.contains('\n') && why.len() < 200, "{why}");
    }
    let empty = read("{\"fio version\":\"fio-3.33\",\"jobs\":[]}").unwrap_err();
    assert_eq!(empty, "it is of fio, but has no figures");
    let times = read("mdtest-4.0.0 was launched\nSUMMARY time (in ms/op): (of 1 iterations)\n");
    assert!(times.unwrap_err().contains("leave out -Z"));
}

#[test]
fn figures_that_are_no_numbers_are_left_out() {
    let text = "mdtest-3.4 was launched with 1 total task(s) on 1 node(s)\nSUMMARY rate: (of 1 iterations)\n\
        Operation Max Min Mean Std Dev\nFile creation : nan nan nan nan\nFile stat : inf inf inf inf\nFile removal : 1 1 -5 0\nFile read : 1 1 7 -nan\n";
    let result = read(text).unwrap();
    assert_eq!(result.measurements.len(), 1, "{result:?}");
    assert_eq!(result.measurements[0].name, "File read");
}

#[test]
fn sizes_are_read_as_fio_and_dd_write_them() {
    let all = ["4k", "1M", "3G", "512", "4KiB", "64kb", "1x", "99999999999G"].map(binary_bytes);
    let expected = [4096, 1 << 20, 3 << 30, 512, 4096, 65_536].map(Some);
    assert_eq!((&all[..6], &all[6..]), (&expected[..], &[None, None][..]));
}

#[test]
fn a_command_of_dd_is_read_behind_the_prompt_of_root_and_its_units_are_dds() {
    let block = |bs: &str| {
        let end = "1+0 records out\n512 bytes (512 B) copied, 0.5 s, 1.0 kB/s\n";
        read(&format!("# dd if=/dev/zero of=f bs={bs}\n{end}")).unwrap().measurements[0].block_bytes
    };
    let all = ["1M", "1MB", "64kB", "8b", "512"].map(block);
    assert_eq!(all, [1 << 20, 1_000_000, 64_000, 4_096, 512].map(Some));
}

#[test]
fn direct_io_of_mdtest_is_that_of_its_reads_alone() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-client-cache.txt");
    let buffered = std::fs::read_to_string(path).unwrap();
    let direct = buffered.replace("'-F'", "'-F' '--posix.odirect'");
    assert_ne!(direct, buffered);
    let of = |text: &str| {
        let result = read(text).unwrap();
        let one = |name| (named(&result, name).direct, named(&result, name).synced);
        [one("File creation"), one("File read"), one("File stat")]
    };
    assert_eq!(of(&buffered), [(None, Some(false)), (Some(false), None), (None, None)]);
    assert_eq!(of(&direct), [(None, Some(false)), (Some(true), None), (None, None)]);
}

#[test]
fn several_runs_of_elbencho_in_one_file_are_repetitions_and_another_size_is_not() {
    let head = "operation,time ms [last],MiB/s [last],path type,file size,command\n";
    let run = |size: u64, command: &str| format!("WRITE,2000,100,file,{size},{command}\n");
    let text = format!("{head}{}{}{}{}", run(9, "a"), run(9, "b"), run(9, "c"), run(8, "d"));
    let result = read(&text).unwrap();
    let runs: Vec<_> = result.measurements.iter().map(|one| one.runs).collect();
    assert_eq!(runs, [3, 3, 3, 1]);
}

#[test]
fn flags_of_dd_count_where_they_have_an_effect() {
    let of = |command: &str| {
        let text = format!("+ dd {command}\n9+0 records out\n9000000 bytes copied, 2 s, 1 B/s\n");
        let one = read(&text).unwrap().measurements.remove(0);
        (one.direct == Some(true), one.synced)
    };
    assert_eq!(of("if=f of=g oflag=direct"), (true, Some(true)));
    assert_eq!(of("if=f of=g iflag=direct"), (false, Some(false)), "it reads around the cache");
    assert_eq!(of("if=f of=g conv=fdatasync"), (false, Some(true)));
    assert_eq!(of("if=f of=g conv=notrunc,fsync"), (false, Some(true)));
    assert_eq!(of("if=f of=g oflag=append,dsync"), (false, Some(true)));
    assert_eq!(of("if=f of=g conv=sync"), (false, Some(false)), "it fills blocks with zeros");
    assert_eq!(of("if=f of=/dev/null iflag=direct"), (true, None));
    assert_eq!(of("if=f of=/dev/null oflag=direct"), (false, None));
}

#[test]
fn files_that_are_empty_or_were_cut_are_refused_or_read_as_far_as_they_go() {
    for empty in ["", " \n\r\n\t"] {
        assert!(read(empty).unwrap_err().starts_with("it is empty; expected a result of fio"));
    }
    for name in ["fio-direct.json", "fio-written-then-read.json"] {
        let path =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let cut = read(&text[..text.len() / 2]).unwrap_err();
        assert!(cut.starts_with("it is a result of fio that cannot be read: EOF"), "{cut}");
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-client-cache.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let cut = read(&text[..text.find("SUMMARY").unwrap()]).unwrap_err();
    assert_eq!(
        cut,
        "it is of mdtest, but has no summary of rates: it was cut, or mdtest did not end"
    );
    for cut in
        ["+ dd if=/dev/zero of=f bs=1M\n", "+ dd if=a of=b\n9+0 records in\n9+0 records out\n"]
    {
        let why = read(cut).unwrap_err();
        assert_eq!(
            why,
            "it is of dd, but has no line with bytes and time: it was cut, or dd did not end"
        );
    }
    let elbencho = "operation,time ms [last],MiB/s [last],hosts\nWRITE,1000,100,1\nREAD,10";
    let names: Vec<_> = read(elbencho).unwrap().measurements.into_iter().map(|m| m.name).collect();
    assert_eq!(names, ["WRITE"], "the time of the line that was cut is not known");
}

#[test]
fn every_sample_reads_the_same_with_line_ends_of_windows_and_bytes_that_are_no_utf8_harm_nothing() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/audit");
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        let Ok(result) = read_tool_result(&bytes) else { continue };
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(read(&text.replace('\n', "\r\n")).as_ref(), Ok(&result), "{file:?}");
        let before = [b"\xff\xfe\x80\n".as_slice(), text.as_bytes()].concat();
        assert_eq!(read_tool_result(&before).as_ref(), Ok(&result), "{file:?}");
    }
}

#[test]
fn results_of_other_programs_are_refused_in_a_sentence() {
    for text in [
        "fio: (g=0): rw=read, bs=(R) 4096B-4096B\n  read: IOPS=26.2k, BW=102MiB/s (107MB/s)(1024MiB/10001msec)\n",
        "3;fio-3.33;job;0;0;1048576;104857;26214\n",
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nMax Write: 1234.56 MiB/sec\n",
        "        Run began: Mon Nov 23 2026\n              KB  reclen   write rewrite    read\n           65536       4  123456   234567  345678\n",
        "{\"tests\":[{\"Command line\":\"ior -a POSIX\"}]}",
        "/dev/sda:\n Timing cached reads:   20000 MB in  2.00 seconds = 10000.00 MB/sec\n",
    ] {
        let why = read(text).unwrap_err();
        assert!(why.starts_with("expected a result of fio (--output-format=json)"), "{why}");
    }
}

fn dd_end(bytes: u64) -> String {
    format!("9+0 records in\n9+0 records out\n{bytes} bytes copied, 2 s, 1 B/s\n")
}

#[test]
fn dd_is_read_in_any_language_by_its_numbers_and_units() {
    let all = sample("dd-languages.txt").measurements;
    assert_eq!(all.len(), 11);
    for one in &all {
        assert_eq!((one.name.as_str(), one.work), ("dd of=x", ToolWork::Write));
        assert_eq!((one.bytes, one.runs, &one.error), (Some(6_553_600), 11, &None), "{one:?}");
        assert!(one.seconds.is_some_and(|s| (0.001..0.02).contains(&s)), "{one:?}");
    }
    let before_coreutils_9 = [
        "скопировано 104857600 байт (105 MB), 0,5 c, 210 MB/c",
        "104857600字节(105 MB)已复制，0.5 秒，210 MB/秒",
        "104857600 バイト (105 MB) コピーされました、 0.5 秒、 210 MB/秒",
        "104857600 bytes (105 MB) copied, 0,5 seconds, 210 MB/s",
    ];
    for line in before_coreutils_9 {
        let text = format!("记录了100+0 的读入\n记录了100+0 的写出\n{line}\n");
        let one = read(&text).unwrap().measurements.remove(0);
        assert_eq!((one.bytes, one.seconds), (Some(104_857_600), Some(0.5)), "{line}");
    }
}

#[test]
fn an_error_of_dd_counts_in_any_language_and_a_warning_does_not() {
    let error = |said: &str| {
        let text = format!("+ dd if=/dev/zero of=d\n{said}\n{}", dd_end(9));
        read(&text).unwrap().measurements.remove(0).error
    };
    let german =
        "Fehler beim Schreiben von 'd': Auf dem Gerät ist kein Speicherplatz mehr verfügbar";
    assert_eq!(error(&format!("dd: {german}")).as_deref(), Some(german));
    assert_eq!(
        error("dd: 写入 'd' 时出错: 设备上没有空间").as_deref(),
        Some("写入 'd' 时出错: 设备上没有空间")
    );
    let english = error("/bin/dd: error writing 'd': No space left on device");
    assert_eq!(english.as_deref(), Some("No space left on device"));
    for warning in [
        "dd: Warnung: unvollständiges Lesen (9 Bytes); iflag=fullblock wird empfohlen",
        "dd: warning: partial read (9 bytes); suggest iflag=fullblock",
        "dd: failed to discard cache for: d: Invalid argument",
    ] {
        assert_eq!(error(warning), None, "{warning}");
    }
}

#[test]
fn caches_are_not_taken_for_emptied_where_a_program_complains_in_another_language() {
    let cold = |line: &str| {
        let text = format!(
            "$ echo 3 > /proc/sys/vm/drop_caches\n{line}+ dd if=f of=/dev/null\n{}",
            dd_end(9)
        );
        read(&text).unwrap().measurements.remove(0).cold
    };
    assert_eq!(cold(""), Some(true));
    assert_eq!(cold("bash: /proc/sys/vm/drop_caches: Keine Berechtigung\n"), Some(false));
    assert_eq!(cold("sysctl: Zugriff verweigert auf Schlüssel \"vm.drop_caches\"\n"), Some(false));
}

/// Names and works of all figures of dd.
fn dd_figures(text: &str) -> Vec<(String, ToolWork)> {
    let all = read(text).unwrap().measurements.into_iter();
    all.map(|one| (one.name, one.work)).collect()
}

#[test]
fn of_several_dd_in_one_line_no_figure_is_taken_for_that_of_another() {
    let piped = sample("dd-piped.txt");
    let all: Vec<_> =
        piped.measurements.iter().map(|one| (one.work, one.tasks, one.runs)).collect();
    assert_eq!(all, [(ToolWork::Unknown, Some(2), 1); 2], "neither repeats the other");
    assert_eq!(piped.measurements[0].name, "dd if=a or dd of=b");
    for commands in [
        "+ dd if=a bs=1M\n+ ssh host dd of=b\n",
        "+ ssh host dd of=b\n+ dd if=a bs=1M\n",
        "$ ssh host 'dd if=a bs=1M' | pv | dd of=b conv=fsync\n",
        "$ dd if=a of=c & dd if=b of=d &\n",
        "$ dd if=a of=b bs=1M && dd if=b of=/dev/null\n",
        "$ (dd if=a) | (dd of=b)\n+ dd if=a\n+ dd of=b\n",
    ] {
        let all = dd_figures(&format!("{commands}{}{}", dd_end(9), dd_end(9)));
        assert_eq!(all.len(), 2, "{commands}");
        assert!(all.iter().all(|(_, work)| *work == ToolWork::Unknown), "{commands}: {all:?}");
    }
    let text =
        format!("$ dd if=a | dd of=b\n{}{}+ dd if=c of=d\n{}", dd_end(9), dd_end(9), dd_end(9));
    assert_eq!(dd_figures(&text)[2], ("dd of=d".into(), ToolWork::Write), "the next is alone");
    for alone in ["$ dd if=a of=b | gzip; echo 1\n", "+ dd if=x of=y status=none\n$ dd if=a of=b\n"]
    {
        let text = format!("{alone}{}", dd_end(9));
        assert_eq!(dd_figures(&text), [("dd of=b".into(), ToolWork::Write)], "{alone}");
    }
}

#[test]
fn fio_without_a_rate_in_bytes_has_that_of_its_bytes_and_time() {
    let one = sample("fio-without-bw_bytes.json").measurements.remove(0);
    let rate = one.bytes_per_second.unwrap();
    assert!((rate / 46_684_427_130.4 - 1.0).abs() < 1e-6, "{rate}");
}

/// A job of fio that wrote, with these options.
fn fio_write(options: &str) -> ToolResult {
    let text = format!(
        "{{\"fio version\":\"fio-3.42\",\"jobs\":[{{\"jobname\":\"w\",\"job options\":{{{options}}},\
         \"write\":{{\"io_bytes\":4096,\"runtime\":9000,\"total_ios\":1}}}}]}}"
    );
    read(&text).unwrap()
}

#[test]
fn what_fio_may_sync_by_an_option_or_an_engine_that_is_not_known_is_not_judged() {
    let synced = |options: &str| {
        let mut result = fio_write(options);
        (result.measurements.remove(0).synced, result.notes)
    };
    assert_eq!(synced("\"end_syncfs\":\"1\""), (Some(true), vec![]));
    assert_eq!(synced("\"create_fsync\":\"1\",\"resync_all\":\"0\""), (Some(false), vec![]));
    let note = "The option resync_all of fio is not known: it may sync what job w writes.";
    assert_eq!(synced("\"resync_all\":\"1\""), (None, vec![note.into()]));
    let (engine, notes) = synced("\"ioengine\":\"rbd\"");
    assert_eq!(engine, None);
    assert_eq!(notes, ["fio used rbd: what it caches and what it syncs is not known."]);
    assert_eq!(synced("\"ioengine\":\"pvsync2\"").0, Some(false));
}

#[test]
fn parts_of_a_job_of_fio_that_are_not_read_are_named() {
    let text = "{\"fio version\":\"fio-3.36\",\"jobs\":[{\"jobname\":\"a\",\"mixed\":{\"io_bytes\":9}},\
        {\"jobname\":\"b\",\"read\":{\"io_bytes\":9}}]}";
    let notes = read(text).unwrap().notes;
    assert_eq!(notes, ["The reads and writes that fio counts as one of job a were not read."]);
}

#[test]
fn a_version_that_is_newer_than_what_is_known_is_named() {
    let notes = |version: &str| {
        let text = format!(
            "{{\"fio version\":\"{version}\",\"jobs\":[{{\"jobname\":\"a\",\"read\":{{\"io_bytes\":9}}}}]}}"
        );
        read(&text).unwrap().notes
    };
    for known in ["fio-3.0", "fio-3.42", "fio-3.42-17-gabcd", "fio-3.9"] {
        assert_eq!(notes(known), [""; 0], "{known}");
    }
    for newer in ["fio-3.43", "fio-4.0"] {
        assert!(notes(newer)[0].contains("is newer than 3.42"), "{:?}", notes(newer));
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-shifted.txt");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&text).unwrap().notes, [""; 0]);
    let newer = read(&text.replace("mdtest-3.4.0+dev", "mdtest-5.0.0")).unwrap().notes;
    assert!(newer[0].starts_with("mdtest 5.0.0 is newer than 4.1"), "{newer:?}");
}

#[test]
fn launches_of_mdtest_in_one_file_keep_their_own_tasks_machines_and_options() {
    let result = sample("mdtest-launches.txt");
    assert_eq!(result.version.as_deref(), Some("3.4.0, 4.0.0"));
    let stats: Vec<_> =
        result.measurements.iter().filter(|one| one.work == ToolWork::Stat).collect();
    let of = |one: &&ToolMeasurement| (one.tasks, one.nodes, one.runs, one.operations);
    let found: Vec<_> = stats.iter().map(of).collect();
    let (alone, eight) = ((Some(1), Some(1), 2, Some(1000)), (Some(8), Some(2), 1, Some(8000)));
    let one_of_two = (Some(1), None, 1, Some(1000));
    assert_eq!(found, [alone, alone, one_of_two, eight, eight]);
    let dfs = stats[4];
    assert_eq!((dfs.interface.as_deref(), dfs.cold, dfs.just_written), (Some("DFS"), None, false));
    assert_eq!(stats[0].cold, Some(false));
    let notes = [
        "Launches of mdtest without a summary of rates, which were cut or did not end: 1 of 5.",
        "mdtest used DFS: what it caches and what it syncs is not known.",
    ];
    assert_eq!(result.notes, notes);
}

#[test]
fn the_mean_of_mdtest_is_that_of_its_heading_and_other_columns_are_not_guessed() {
    let text = |heading: &str, row: &str| {
        format!(
            "mdtest-4.0.0 was launched with 1 total task(s) on 1 node(s)\n\
                 SUMMARY rate (in ops/sec): (of 3 iterations)\n{heading}\n   File read {row}\n"
        )
    };
    let mean = |heading: &str, row: &str| {
        let one = read(&text(heading, row)).unwrap().measurements.remove(0);
        (one.operations_per_second, one.has_spread)
    };
    let four = "   Operation        Max       Min      Mean     Std Dev";
    assert_eq!(mean(four, "9.0 5.0 7.0 1.5"), (Some(7.0), true));
    assert_eq!(mean("   Operation    Max   Min   Mean", ": 9.0 5.0 7.0"), (Some(7.0), false));
    assert_eq!(mean("   Operation    Mean   Median   Max", "7.0 6.0 9.0"), (Some(7.0), false));
    let ranks = "   Operation   per Rank: Max Min Mean   per Iteration: Max Min Mean Std Dev";
    assert_eq!(mean(ranks, "3.0 1.0 2.0 9.0 5.0 7.0 1.5"), (Some(7.0), true));
    for heading in ["", "   Operation    Max   Min   Median"] {
        let why = read(&text(heading, "9.0 5.0 7.0 1.5")).unwrap_err();
        assert_eq!(
            why,
            "it is of mdtest, but its summary has no heading with a column Mean, so its columns are not known"
        );
    }
    let other = text(four, "9.0 5.0 7.0 1.5\n   File stat 9.0 5.0 7.0");
    let notes = read(&other).unwrap().notes;
    assert_eq!(notes, ["1 row of a summary with other columns than its heading was not read."]);
    let unit = text(four, "9.0 5.0 7.0 1.5").replace("ops/sec", "kops/sec");
    assert!(read(&unit).unwrap_err().ends_with("has another unit than ops/sec"));
}

#[test]
fn options_of_mdtest_are_read_as_it_reads_them() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/audit/mdtest-client-cache.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let of = |options: &str| {
        let result = read(&text.replace("'-F'", options)).unwrap();
        let one = |name| named(&result, name).clone();
        (one("File creation"), one("File stat"))
    };
    for interface in ["-a DFS", "-aDFS", "-a=DFS", "-F -a LIBNFS", "'-a' 'LIBNFS'"] {
        let (create, stat) = of(interface);
        assert!(create.interface.is_some(), "{interface}");
        assert_eq!(
            (create.synced, stat.cold, stat.just_written),
            (None, None, false),
            "{interface}"
        );
    }
    for files in ["-a POSIX", "-a=posix", "-aMMAP", "-uF"] {
        assert_eq!(of(files).0.interface, None, "{files}");
    }
    assert_eq!(of("-FY").0.synced, Some(true), "flags may stand together");
    assert_eq!(of("-F -w 3901 -V 1").0.synced, Some(false));
    assert!(of("-a DUMMY").0.no_device.is_some());
    assert_eq!(of("-F --run-cmd-before-phase=drop").1.cold, None);
}
