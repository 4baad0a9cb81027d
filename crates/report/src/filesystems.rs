//! Writes tables about file systems: how they were made, their amplification, and the conditions of
//! phases.

use super::head::ground;
use super::names::{cell_name, level_value};
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::{known, number, short_time};
use boatload_analysis::Analysis;
use boatload_analysis::amplification::{
    PhaseAmplification, SpaceTaken, devices_counted, repeats_behind,
};
use boatload_analysis::conditions::Conditions;
use boatload_analysis::uncertainty::Estimate;
use boatload_base::distinct::each_once;
use boatload_base::units::{self, Unit, counted, grouped};
use boatload_results::book::{Book, MadeFileSystem};
use boatload_results::order::made;

pub(super) fn made_table(book: &Book) -> TitledTable {
    let mut table = Table::new(&[("type", Align::Left), ("made by", Align::Left)]);
    let all = made(book);
    for how in each_once(all.iter().map(|made| how_made(made, book))) {
        let alike = all.iter().filter(|made| how_made(made, book) == how);
        let (kinds, names): (Vec<&str>, Vec<&str>) =
            alike.map(|made| (&*made.kind, &*made.variant)).unzip();
        let names = if kinds == names { String::new() } else { names.join(", ") + "; " };
        table.note(kinds[0], &format!("{names}{how}"));
    }
    let title =
        "file systems, made anew for each cell, or for all levels of a variant that are prepared";
    TitledTable { title: title.into(), table }
}

/// The command, the options, the size and the place.
fn how_made(made: &MadeFileSystem, book: &Book) -> String {
    let mkfs = made.mkfs.clone().unwrap_or_else(|| "no mkfs".into());
    let requested = match made.mount_asked.as_str() {
        "" => "the defaults",
        requested => requested,
    };
    let mounted = format!("mounted with {requested}, which the kernel shows as {}", made.options);
    let inodes = match made.inodes {
        Some(inodes) => format!("{} inodes", grouped(inodes)),
        None => "inodes as needed".into(),
    };
    let room = match made.available_bytes {
        Some(room) => format!("{} free", units::bytes(room)),
        None => "free space not known".into(),
    };
    let place = ground(made, book);
    let size = format!("{place}, {room}, {inodes}");
    // Where nothing was made there was nothing to trim for it.
    let stale = !made.is_in_memory() && !made.trimmed;
    let stale = stale.then(|| "the device cannot be trimmed".to_string());
    let parts = [Some(mkfs), made.mkfs_version.clone(), Some(mounted), Some(size), stale];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}

type TrafficColumn = TableColumn<PhaseAmplification>;

const MOVED: [TrafficColumn; 2] = [
    TrafficColumn::numbers("write amplification", |one| mean(one.written, 3)),
    TrafficColumn::numbers("read amplification", |one| mean(one.read, 3)),
];

type SpaceColumn = TableColumn<SpaceTaken>;

const TAKEN: [SpaceColumn; 3] = [
    SpaceColumn::numbers("bytes/file", |one| mean(one.bytes_per_file, 4)),
    SpaceColumn::numbers("content/file", |one| mean(one.asked_per_file, 4)),
    SpaceColumn::numbers("inodes/file", |one| mean(one.inodes_per_file, 3)),
];

fn mean(mean: Option<Estimate>, figures: u32) -> String {
    known(mean, |mean| number(mean.mean, figures))
}

/// What the device moved and the file system took for what was written and read, where that is known.
pub(super) fn amplification_tables(analysis: &Analysis<'_>) -> Vec<TitledTable> {
    traffic_table(analysis).into_iter().chain(space_table(analysis)).collect()
}

/// A line for each variant in each phase; `None` where nothing is known.
fn traffic_table(analysis: &Analysis<'_>) -> Option<TitledTable> {
    let all = analysis.phase_amplifications();
    let table = Table::by_phase(all, |one| &one.phase, |one| &one.variant, &MOVED);
    let counters = match devices_counted(analysis.book).as_str() {
        "" => String::new(),
        counters => format!(", by the counters of {counters}"),
    };
    let level = all.iter().filter(|one| one.other_levels).find_map(|one| one.level.as_ref());
    let level = level.map(|level| format!(" at {}", level_value(level))).unwrap_or_default();
    let title = format!(
        "what the device did{level}: bytes that it moved for each byte of content written or read cold{counters}, \
         mean over {}",
        repeats(all.iter().flat_map(PhaseAmplification::estimates))
    );
    table.has_rows().then_some(TitledTable { title, table })
}

/// A line for each variant; `None` where nothing is known.
fn space_table(analysis: &Analysis<'_>) -> Option<TitledTable> {
    let all = analysis.spaces_taken();
    let names = all.iter().map(|one| one.variant.clone());
    let mut table = Table::of_names("variant", Align::Left, names);
    for column in TAKEN.iter().filter(|column| column.is_known(all)) {
        table.column(column.head, all.iter().map(column.cell));
    }
    let levels = if analysis.summary().levels().is_empty() { "" } else { "all levels, " };
    let repeats = repeats(all.iter().flat_map(SpaceTaken::estimates));
    let title = format!("what each new file took, mean over {levels}{repeats}");
    table.has_rows().then_some(TitledTable { title, table })
}

/// "3 to 5 repeats"
fn repeats(all: impl Iterator<Item = Estimate>) -> String {
    let range = repeats_behind(all);
    let (least, most) = (range.start(), range.end());
    let least = if least == most { String::new() } else { format!("{least} to ") };
    format!("{least}{}", counted(u64::from(*most), "repeat"))
}

/// The conditions that phases found: a column for each, a row for each variant at each level; `None` where nothing is
/// known.
pub(super) fn conditions_table(conditions: &Conditions) -> Option<TitledTable> {
    let places = &conditions.places;
    let names = places.iter().map(|place| cell_name(&place.variant, place.level.as_ref()));
    let mut table = Table::of_names("variant", Align::Left, names);
    for (at, (name, unit)) in conditions.names.iter().enumerate() {
        let cells = places.iter().map(|place| condition(place.means[at], *unit));
        table.column_apart(name.as_str(), cells);
    }
    let title = "found before the phases, mean over the repeats".into();
    (!conditions.names.is_empty()).then_some(TitledTable { title, table })
}

fn condition(mean: Option<f64>, unit: Unit) -> String {
    let Some(mean) = mean else { return "-".into() };
    match unit {
        // Small whole numbers may be shares that happen to be one.
        Unit::Count if mean > 1.0 && mean < 1e15 => grouped(mean.round() as u64),
        Unit::Count => number(mean, 3),
        Unit::Bytes => units::bytes(mean.max(0.0) as u64).replace(' ', ""),
        Unit::Percent => format!("{}%", number(mean, 3)),
        Unit::Nanoseconds => short_time(Some(mean)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::about_place;
    use boatload_results::book::MadeOn;
    use boatload_results::fixture::made::filesystem;

    #[test]
    fn what_has_no_device_is_in_memory_wherever_the_others_are() {
        let mut bare = filesystem("tmpfs", "tmpfs");
        (bare.mkfs, bare.device, bare.place) = (None, None, MadeOn::Image);
        let filesystems = vec![filesystem("ext4", "ext4"), bare.clone(), filesystem("xfs", "xfs")];
        let book = Book { filesystems, ..Book::default() };
        let said = about_place(&book);
        assert!(said.starts_with("3 file systems made: 2 on an image of"), "{said}");
        assert!(said.contains("loop0") && said.contains(", 1 in memory ("), "{said}");
        let about = how_made(&bare, &book);
        assert!(about.contains("; in memory (") && about.contains(" free, "), "{about}");
    }

    #[test]
    fn variants_on_file_systems_that_were_made_alike_share_a_row() {
        let names = ["ext4/aged", "ext4/fresh", "xfs"];
        let kinds = ["ext4", "ext4", "xfs"];
        let filesystems = names.iter().zip(kinds).map(|(name, kind)| filesystem(name, kind));
        let mut out = Vec::new();
        let book = Book { filesystems: filesystems.collect(), ..Book::default() };
        made_table(&book).write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\next4  ext4/aged, ext4/fresh; mkfs.ext4 -q"), "{text}");
        assert_eq!(text.matches(" -q -").count(), 2, "each command once: {text}");
    }

    #[test]
    fn the_conditions_of_variants_stand_below_each_other() {
        let mut book = boatload_results::fixture::growing::fullness(&["a", "b", "c"]);
        book.conditions.retain(|c| c.cell.level.as_ref().is_some_and(|level| level.value < 50.0));
        let analysis = Analysis::of(&book);
        let mut out = Vec::new();
        conditions_table(analysis.conditions()).unwrap().write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(lines[1].starts_with("variant") && lines[1].ends_with("layout-score"), "{text}");
        assert_eq!(lines.len(), 2 + 3 * 2, "{text}");
        assert!(lines[2].starts_with("a, space-used 30%"), "{text}");
    }
}
