//! Checks the file systems that are made for variants, and makes a variant on each of them.

use super::Settings;
use super::keys::check_title;
use crate::filesystem::{FileSystem, disk_named, find_kind};
use crate::report::{ProblemList, below, element, short};
use crate::wire::{self, WireFileSystem, WireJob};
use boatload_base::distinct::each_once;
use boatload_base::problem::Problem;
use boatload_base::text_limits::NAME_BYTES_MAX;

/// Where the command line's file systems stand.
const OPTION: &str = "--filesystem";

/// Where the command line's disk stands.
const DISK_OPTION: &str = "--disk";

/// A variant of the job file on one file system.
pub(super) struct CrossedVariant<'a> {
    /// The variant.
    pub(super) wire: &'a wire::WireVariant,
    /// Its place in the job file.
    pub(super) place: String,
    /// Its name in the plan; `None` if anything is wrong with it.
    pub(super) name: Option<String>,
    /// What is made for it, and where that is asked for; `None` if it runs on what is there.
    pub(super) made: Option<(FileSystem, String)>,
}

/// The variants of the job file that are wanted, or `default` where it has none, each on each file system of the
/// settings, file systems outermost; or on its own where there are none.
pub(super) fn crossed<'a>(
    job: &'a WireJob,
    default: &'a [wire::WireVariant],
    settings: &Settings,
    is_wanted: &dyn Fn(&wire::WireVariant) -> bool,
    report: &mut ProblemList,
) -> Vec<CrossedVariant<'a>> {
    let variants = if job.variant.is_empty() { default } else { &job.variant };
    let of_all =
        job.filesystem.as_ref().and_then(|wire| read(wire, "filesystem", settings, report));
    let mut own = Vec::with_capacity(variants.len());
    for (at, wire) in variants.iter().enumerate() {
        let place = element("variant", at);
        check_variant_name(&variants[..at], wire, &place, report);
        if wire.scales.as_ref().is_some_and(Vec::is_empty) {
            report.add(
                &below(&place, "scales"),
                "no scale",
                "at least one, or no `scales` for all",
            );
        }
        if !is_wanted(wire) {
            continue;
        }
        let here = below(&place, "filesystem");
        let made = match &wire.filesystem {
            Some(wire) => read(wire, &here, settings, report).map(|made| (made, here)),
            None => of_all.clone().map(|made| (made, "filesystem".to_string())),
        };
        own.push(CrossedVariant { wire, place, name: wire.name.clone(), made });
    }
    if own.is_empty() {
        let found = format!("no variant at scale {}", settings.scale);
        report.add("variant", found, "`scales` of at least one variant that name it");
    }
    let asked: Vec<FileSystem> =
        settings.filesystems.iter().map(|asked| with_disk(asked.clone(), settings)).collect();
    if asked.is_empty() {
        check_disks(&own, settings, report);
        return own;
    }
    check_asked(&asked, &own, report);
    let labels = labels(&asked);
    let on = |at: usize, filesystem: &FileSystem| {
        let variant = |one: &CrossedVariant<'a>| {
            let label = labels[at].clone();
            let name = match one.name.as_ref().filter(|_| !job.variant.is_empty()) {
                // Of one file system alone there is nothing to tell apart.
                Some(name) if asked.len() == 1 => name.clone(),
                Some(name) => format!("{label}/{name}"),
                None => label,
            };
            let made = Some((filesystem.clone(), OPTION.to_string()));
            CrossedVariant { wire: one.wire, place: one.place.clone(), name: Some(name), made }
        };
        own.iter().map(variant).collect::<Vec<_>>()
    };
    let crossed = asked.iter().enumerate().flat_map(|(at, filesystem)| on(at, filesystem));
    let crossed: Vec<CrossedVariant<'a>> = crossed.collect();
    for (at, one) in crossed.iter().enumerate() {
        check_crossed_name(&crossed[..at], one, report);
    }
    check_disks(&crossed, settings, report);
    crossed
}

/// What each of the file systems is called; by its disk too, where disks differ.
fn labels(all: &[FileSystem]) -> Vec<String> {
    let differ = each_once(all.iter().map(|filesystem| &filesystem.disk)).len() > 1;
    let label = |one: &FileSystem| if differ { one.label_with_disk() } else { one.label() };
    all.iter().map(label).collect()
}

/// The file system; `None` if its kind or its disk is not known, which was reported.
fn read(
    wire: &WireFileSystem,
    place: &str,
    settings: &Settings,
    report: &mut ProblemList,
) -> Option<FileSystem> {
    let named = wire.disk.as_deref().map(|word| disk_named(word, &settings.directory));
    let disk = named.transpose().map_err(|Problem { found, expected, hint, .. }| {
        report.add_with_hint(&below(place, "disk"), found, expected, hint.unwrap_or_default());
    });
    let filesystem = FileSystem {
        kind: find_kind(wire.kind.as_ref()?)?,
        mkfs: wire.mkfs.clone().unwrap_or_default(),
        mount: wire.mount.clone().unwrap_or_default(),
        noatime: false,
        disk: disk.clone().unwrap_or_default(),
        name: None,
    };
    let filesystem = with_disk(filesystem, settings);
    for fault in filesystem.faults() {
        report.add(&below(place, &fault.key), fault.found, fault.expected);
    }
    disk.is_ok().then_some(filesystem)
}

/// On the disk of `--disk`, if it has none of its own.
fn with_disk(filesystem: FileSystem, settings: &Settings) -> FileSystem {
    FileSystem { disk: filesystem.disk.clone().or_else(|| settings.disk.clone()), ..filesystem }
}

/// Whether all file systems that are made lie on modelled disks, or none, and `--disk` is one of some.
fn check_disks(all: &[CrossedVariant<'_>], settings: &Settings, report: &mut ProblemList) {
    let made: Vec<_> = all.iter().filter_map(|one| one.made.as_ref()).collect();
    if let Some(disk) = settings.disk.as_ref().filter(|_| made.is_empty() && report.count() == 0) {
        let hint = format!(
            "add {OPTION}, such as: boatload run smallfiles {DISK_OPTION} {} {OPTION} ext4",
            disk.name
        );
        let expected = "a job that makes file systems, to lie on it";
        report.add_with_hint(DISK_OPTION, format!("`{}`", short(&disk.name)), expected, hint);
    }
    let Some((on_disk, _)) = made.iter().find(|(filesystem, _)| filesystem.disk.is_some()) else {
        return;
    };
    for (other, place) in made.iter().filter(|(filesystem, _)| filesystem.disk.is_none()) {
        let found = format!("no disk for `{}`, and one for `{}`", other.label(), on_disk.label());
        let expected = "modelled disks for all file systems of a job, or for none";
        let hint = match other.kind.maker {
            Some(_) => {
                format!("give it one of its own with `disk`, or all the same with {DISK_OPTION}")
            }
            None => "leave it out: it lies in memory, and has no device".into(),
        };
        report.add_with_hint(place, found, expected, hint);
    }
}

/// What the command line asks for, against itself and the job file.
fn check_asked(all: &[FileSystem], variants: &[CrossedVariant<'_>], report: &mut ProblemList) {
    let labels = labels(all);
    for (at, filesystem) in all.iter().enumerate() {
        for fault in filesystem.faults() {
            let place = format!("{OPTION} {}", fault.key);
            report.add(&place, fault.found, fault.expected);
        }
        if labels[..at].contains(&labels[at]) {
            let hint = "give one of them other options, or a `name=` of its own";
            let found = format!("`{}` twice", short(&labels[at]));
            report.add_with_hint(OPTION, found, "each once", hint);
        }
    }
    for one in variants.iter().filter(|one| one.wire.filesystem.is_some()) {
        let name = one.name.as_deref().unwrap_or_default();
        let found = format!("a file system of its own for `{}`", short(name));
        let expected = format!("none with {OPTION}, which does each variant on each of its own");
        let hint = format!("leave out {OPTION}, or this");
        report.add_with_hint(&below(&one.place, "filesystem"), found, expected, hint);
    }
}

fn check_variant_name(
    before: &[wire::WireVariant],
    wire: &wire::WireVariant,
    place: &str,
    report: &mut ProblemList,
) {
    let Some(name) = &wire.name else { return };
    let place = below(place, "name");
    check_title(name, &place, report);
    if before.iter().any(|other| other.name.as_ref() == Some(name)) {
        report.add(&place, format!("`{name}` again"), "a name that no other variant has");
    }
}

/// Names that file systems give to variants are titles like any other.
fn check_crossed_name(
    before: &[CrossedVariant<'_>],
    one: &CrossedVariant<'_>,
    report: &mut ProblemList,
) {
    let Some(name) = &one.name else { return };
    let is_other = |other: &CrossedVariant<'_>| other.place != one.place;
    if before.iter().any(|other| other.name.as_ref() == Some(name) && is_other(other)) {
        let expected = "names that differ with a variant's name after them";
        report.add(OPTION, format!("`{}` twice", short(name)), expected);
    } else if name.len() > NAME_BYTES_MAX {
        let found = format!("the name `{}` of {} bytes", short(name), name.len());
        let expected = format!("at most {NAME_BYTES_MAX} bytes, the variant's name included");
        let hint = "give the file system a short name: `:name=NAME`";
        report.add_with_hint(OPTION, found, expected, hint);
    } else {
        check_title(name, OPTION, report);
    }
}
