//! Pictures that `export` writes, read by programs that boatload's authors did not write.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::common;

use crate::command;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use command::Bench;
use common::{output, skip};

/// Names that mean something to XML, to gnuplot and to a shell.
const JOB: &str = "name = \"x\"\nengine = \"sim\"\nrepeats = 2\n\
    [sim]\nmetadata = \"20us\"\n\
    [[variant]]\nname = \"<script>alert(1)</script> & `touch hacked`\"\n\
    tree = { files = 400, size = 0 }\n\
    [[variant]]\nname = \"it's $(touch hacked) a_{b}^c@d 50%s \\\\\"\n\
    tree = { files = 400, size = 10 }\n\
    [[phase]]\noperation = \"create\"\nwindows = 4\n\
    [[phase]]\noperation = \"read\"\n";

fn evil() -> Bench {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    bench.document([Path::new("run"), &job]);
    bench
}

/// A store with a run of `docs/results`.
fn kept(name: &str) -> Bench {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/results/{name}.json.gz"));
    let bench = Bench::default();
    let ran = bench.run([Path::new("import"), &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    bench
}

/// The files of a format, sorted.
fn exported(bench: &Bench, format: &str) -> Vec<PathBuf> {
    let folder = bench.beside(format);
    let ran = bench.run(["export", "last", "--format", format, "-o", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.as_str()), (Some(0), "", ""));
    command::names_in(&folder).iter().map(|name| folder.join(name)).collect()
}

/// Runs all scripts as the papers say, and gives what gnuplot said.
fn plotted(scripts: &[PathBuf]) -> String {
    let folder = scripts[0].parent().unwrap();
    let mut command = Command::new("gnuplot");
    command.args(scripts.iter().map(|path| path.file_name().unwrap()));
    // In a locale of ASCII it complains that it has no sign for degrees.
    command.env("LC_ALL", "C.UTF-8");
    let done = command.current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

fn scripts(bench: &Bench) -> Vec<PathBuf> {
    let all = exported(bench, "gnuplot");
    all.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "gp")).collect()
}

#[test]
fn gnuplot_makes_a_picture_of_every_script_and_complains_of_nothing() {
    if output("gnuplot", &["--version"]).is_none() {
        return skip("scripts run by gnuplot", "gnuplot is missing");
    }
    let benches = ["directory", "fullness", "smallfiles-filesystems"].map(kept);
    for bench in benches.into_iter().chain([evil()]) {
        let scripts = scripts(&bench);
        assert!(!scripts.is_empty());
        assert_eq!(plotted(&scripts), "");
        for script in scripts {
            let picture = std::fs::read(script.with_extension("png")).unwrap();
            assert!(picture.starts_with(b"\x89PNG"), "{script:?}");
            assert!(picture.len() > 5_000, "{script:?}: {} bytes", picture.len());
        }
        let left = command::names_in(&bench.beside("gnuplot"));
        let known =
            |name: &String| [".gp", ".dat", ".png"].iter().any(|ending| name.ends_with(ending));
        assert!(left.iter().all(known), "a name was run: {left:?}");
    }
}

#[test]
fn pictures_of_kept_runs_are_xml_and_the_same_each_time() {
    for name in ["clutter", "device", "sequential", "smallfiles"] {
        let bench = kept(name);
        let files = exported(&bench, "svg");
        let read = || files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let first: Vec<String> = read();
        assert!(!first.is_empty());
        for text in &first {
            let document = roxmltree::Document::parse(text).unwrap();
            assert!(document.root_element().has_tag_name("svg"));
        }
        exported(&bench, "svg");
        assert_eq!(first, read(), "{name}");
    }
}

#[test]
fn a_variant_called_like_markup_is_shown_as_such() {
    let bench = evil();
    for path in exported(&bench, "svg") {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("<script"), "{text}");
        let document = roxmltree::Document::parse(&text).unwrap();
        let texts = document.descendants().filter_map(|node| node.text());
        assert!(texts.clone().any(|text| text.contains("<script>")), "{path:?}");
    }
}
