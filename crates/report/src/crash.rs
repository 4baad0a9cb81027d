//! Writes what power cuts left of files that were promised.

use std::io::{self, Write};

use super::comparison::write_document;
use super::table::{Table, TableColumn};
use super::text::write_wrapped;
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::{counted, duration, grouped};
use boatload_op::Durability;
use boatload_results::crash::{BrokenPromise, CrashBook, PromiseRow};

/// Rises when a field of the document changes its meaning or goes.
const VERSION: u32 = 1;

/// Broken promises that the terminal shows one by one.
const BROKEN_SHOWN: usize = 10;

/// Writes the verdict on each variant, then a table with a line for each durability.
///
/// # Errors
/// If `out` does.
pub fn write_crash(book: &CrashBook, out: &mut dyn Write) -> io::Result<()> {
    for sentence in sentences(book) {
        write_wrapped("* ", &sentence, out)?;
    }
    writeln!(out)?;
    let mut table = Table::of_columns(&COLUMNS);
    for variant in variants(book) {
        table.heading(variant);
        let rows = book.rows.iter().filter(|row| row.cuts > 0 && row.variant == variant);
        rows.for_each(|row| table.row(COLUMNS.iter().map(|column| (column.cell)(row)).collect()));
    }
    table.write(out)?;
    if !book.broken.is_empty() {
        writeln!(out)?;
    }
    for broken in book.broken.iter().take(BROKEN_SHOWN) {
        write_wrapped("* ", &about(broken), out)?;
    }
    Ok(())
}

/// Writes the document.
///
/// # Errors
/// If `out` does.
pub fn write_crash_json(book: &CrashBook, out: &mut dyn Write) -> io::Result<()> {
    write_document("boatload-crash", VERSION, sentences(book), book, out)
}

const COLUMNS: [TableColumn<PromiseRow>; 9] = [
    TableColumn::words("durability", |row| row.durability.to_string()),
    TableColumn::numbers("cuts", |row| grouped(row.cuts)),
    TableColumn::numbers("promised", |row| grouped(row.promised)),
    TableColumn::numbers("kept", |row| grouped(row.kept)),
    TableColumn::numbers("lost", |row| grouped(row.lost())),
    TableColumn::numbers("torn", |row| grouped(row.torn)),
    TableColumn::numbers("back", |row| grouped(row.came_back)),
    TableColumn::numbers("others there", |row| {
        format!("{}/{}", grouped(row.unpromised_kept), grouped(row.unpromised))
    }),
    TableColumn::words("check", |row| match row.checked {
        _ if row.not_mounted > 0 => format!("unusable {}", grouped(row.not_mounted)),
        0 => "-".into(),
        _ if row.damaged > 0 => format!("damaged {}", grouped(row.damaged)),
        _ => "clean".into(),
    }),
];

fn variants(book: &CrashBook) -> Vec<&str> {
    each_once(book.rows.iter().map(|row| row.variant.as_str()))
}

/// The verdict on each variant.
fn sentences(book: &CrashBook) -> Vec<String> {
    let all = variants(book)
        .into_iter()
        .filter_map(|variant| Some(sentence(&book.total(variant)?, &book.broken_with(variant))));
    all.collect()
}

fn sentence(total: &PromiseRow, broken_with: &[Durability]) -> String {
    let name = shown(&total.variant);
    if total.cuts == 0 {
        return format!("{name}: no power was cut.");
    }
    let cuts = counted(total.cuts, "power cut");
    let mut said = match total.broken() {
        0 => {
            format!("{name} kept all {} it had promised in {cuts}", counted(total.promised, "file"))
        }
        broken => {
            let lost =
                |what: &str, count: u64| (count > 0).then(|| format!("{} {what}", grouped(count)));
            let how = [
                lost("lost", total.missing),
                lost("with their old content", total.old),
                lost("torn", total.torn),
                lost("came back", total.came_back),
            ];
            let how: Vec<String> = how.into_iter().flatten().collect();
            let with: Vec<&str> = broken_with.iter().map(|one| one.as_str()).collect();
            format!(
                "{name} broke {} of {} in {cuts}: {} (with {})",
                counted(broken, "promise"),
                grouped(total.promised),
                how.join(", "),
                with.join(", ")
            )
        }
    };
    if total.not_mounted > 0 {
        said += &format!("; after {} it could not be mounted", counted(total.not_mounted, "cut"));
    }
    match (total.checked, total.damaged) {
        (0, _) => {}
        (_, 0) => said += "; its check found nothing wrong",
        (checked, damaged) => {
            said +=
                &format!("; its check found damage after {damaged} of {} cuts", grouped(checked));
        }
    }
    if let Some(oldest) = total.oldest_lost_seconds.filter(|seconds| *seconds > 0.0) {
        let age = duration(oldest * 1e9);
        said += &format!(". Of what was not promised, changes up to {age} old were lost");
    }
    said + "."
}

/// A broken promise in a sentence.
fn about(broken: &BrokenPromise) -> String {
    let BrokenPromise { variant, cut, durability, phase, file, fate, reason } = broken;
    let where_it_was =
        format!("{}, cut {cut}, {durability} in phase {}", shown(variant), shown(phase));
    let what = match (file, fate, reason) {
        (Some(file), Some(fate), _) => format!("file {file} is {fate}"),
        (_, _, Some(reason)) => shown(reason),
        _ => "a promise was broken".into(),
    };
    format!("{where_it_was}: {what}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::comparison::SentencedDocument;
    use boatload_run::crash::FileFate;

    fn row(durability: Durability, fates: &[(FileFate, u32)]) -> PromiseRow {
        let mut row = PromiseRow::new("ext4", "ram", durability);
        (row.cuts, row.checked) = (2, 2);
        for (fate, times) in fates {
            (0..*times).for_each(|_| row.add(*fate));
        }
        row
    }

    fn book(rows: Vec<PromiseRow>) -> CrashBook {
        CrashBook {
            scenario: "smallfiles".into(),
            seed: 1,
            started: "2026-01-01T00:00:00Z".into(),
            command: "boatload crash".into(),
            boatload: "0.1.0".into(),
            kernel: "6.18".into(),
            complete: true,
            rows,
            broken: Vec::new(),
        }
    }

    #[test]
    fn a_file_system_that_kept_everything_is_told_so_in_a_sentence() {
        let mut none = row(Durability::None, &[(FileFate::Kept, 1_200)]);
        none.add_unpromised(false, Some(0.5));
        none.add_unpromised(false, Some(0.25));
        none.add_unpromised(true, Some(9.0));
        let rows = vec![row(Durability::Fsync, &[(FileFate::Kept, 10)]), none];
        assert!(rows.iter().all(PromiseRow::is_good));
        assert_eq!(
            sentences(&book(rows)),
            [
                "ext4 kept all 1,210 files it had promised in 4 power cuts; its check found nothing wrong. \
              Of what was not promised, changes up to 500 ms old were lost."
            ]
        );
    }

    #[test]
    fn broken_promises_are_told_by_what_became_of_the_files_and_with_which_durability() {
        let fates = [(FileFate::Kept, 5), (FileFate::Missing, 2), (FileFate::Torn, 1)];
        let mut rows = vec![
            row(Durability::Fsync, &fates),
            row(Durability::Dsync, &[(FileFate::Kept, 3)]),
            row(Durability::FsyncDirectory, &[(FileFate::Old, 1), (FileFate::CameBack, 4)]),
        ];
        (rows[0].damaged, rows[2].not_mounted) = (1, 1);
        assert_eq!(rows.iter().map(PromiseRow::is_good).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(
            sentences(&book(rows)),
            [
                "ext4 broke 8 promises of 16 in 6 power cuts: 2 lost, 1 with their old content, 1 torn, 4 came \
              back (with fsync, fsync-directory); after 1 cut it could not be mounted; its check found \
              damage after 1 of 6 cuts."
            ]
        );
    }

    #[test]
    fn the_table_has_a_line_for_each_durability_and_broken_promises_stand_below() {
        let mut book = book(vec![row(Durability::Fsync, &[(FileFate::Torn, 1)])]);
        book.add_broken(BrokenPromise {
            variant: "ext4".into(),
            cut: 2,
            durability: Durability::Fsync,
            phase: "create".into(),
            file: Some(7),
            fate: Some(FileFate::Torn),
            reason: None,
        });
        let mut out = Vec::new();
        write_crash(&book, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("fsync          2         1     0     0     1"), "{text}");
        assert!(text.ends_with("* ext4, cut 2, fsync in phase create: file 7 is torn\n"), "{text}");
    }

    #[test]
    fn the_schema_of_the_document_is_the_one_that_is_published_and_every_key_is_explained() {
        let path =
            |name| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs").join(name);
        let schema = schemars::schema_for!(SentencedDocument<'_, CrashBook>);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("BOATLOAD_BLESS").is_some() {
            std::fs::write(path("crash.schema.json"), &text).unwrap();
        }
        let kept = std::fs::read_to_string(path("crash.schema.json")).unwrap_or_default();
        assert!(text == kept, "docs/crash.schema.json differs; BOATLOAD_BLESS=1 writes it anew");
        let about = std::fs::read_to_string(path("CRASH.md")).unwrap();
        let mut document = Vec::new();
        write_crash_json(&book(vec![row(Durability::Fsync, &[])]), &mut document).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        let keys = document.as_object().unwrap().keys();
        for key in keys.chain(document["rows"][0].as_object().unwrap().keys()) {
            assert!(about.contains(&format!("`{key}`")), "{key} is missing in docs/CRASH.md");
        }
    }
}
