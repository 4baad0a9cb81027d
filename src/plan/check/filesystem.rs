//! Checks the file systems that are made for variants, and makes a variant on each of them.

use super::Settings;
use super::keys::check_title;
use crate::plan::filesystem::{FileSystem, find_kind};
use crate::plan::report::{ProblemList, below, element, short};
use crate::plan::wire::{self, WireFileSystem, WireJob};

/// Where the command line's file systems stand.
const OPTION: &str = "--filesystem";

/// Most bytes of a variant's name.
const NAME_BYTES_MAX: usize = 60;

/// A variant of the job file on one file system.
pub(super) struct CrossedVariant<'a> {
    /// The variant.
    pub(super) wire: &'a wire::WireVariant,
    /// Its place in the job file.
    pub(super) place: String,
    /// Its name in the plan; none if anything is wrong with it.
    pub(super) name: Option<String>,
    /// What is made for it, and where that is asked for; none if it runs on what is there.
    pub(super) made: Option<(FileSystem, String)>,
}

/// The variants of the job file, or `default` where it has none, each on each file system of the
/// settings, file systems outermost; or on its own where there are none.
pub(super) fn crossed<'a>(
    job: &'a WireJob,
    default: &'a [wire::WireVariant],
    settings: &Settings,
    report: &mut ProblemList,
) -> Vec<CrossedVariant<'a>> {
    let variants = if job.variant.is_empty() { default } else { &job.variant };
    let of_all = job.filesystem.as_ref().and_then(|wire| read(wire, "filesystem", report));
    let mut own = Vec::with_capacity(variants.len());
    for (at, wire) in variants.iter().enumerate() {
        let place = element("variant", at);
        check_variant_name(&variants[..at], wire, &place, report);
        let here = below(&place, "filesystem");
        let made = match &wire.filesystem {
            Some(wire) => read(wire, &here, report).map(|made| (made, here)),
            None => of_all.clone().map(|made| (made, "filesystem".to_string())),
        };
        own.push(CrossedVariant { wire, place, name: wire.name.clone(), made });
    }
    if settings.filesystems.is_empty() {
        return own;
    }
    check_asked(settings, &own, report);
    let on = |filesystem: &FileSystem| {
        let variant = |one: &CrossedVariant<'a>| {
            let label = filesystem.label();
            let name = match one.name.as_ref().filter(|_| !job.variant.is_empty()) {
                Some(name) => format!("{label}/{name}"),
                None => label,
            };
            let made = Some((filesystem.clone(), OPTION.to_string()));
            CrossedVariant { wire: one.wire, place: one.place.clone(), name: Some(name), made }
        };
        own.iter().map(variant).collect::<Vec<_>>()
    };
    let crossed: Vec<CrossedVariant<'a>> = settings.filesystems.iter().flat_map(on).collect();
    for (at, one) in crossed.iter().enumerate() {
        check_crossed_name(&crossed[..at], one, report);
    }
    crossed
}

/// The file system; none if its kind is not known, which was reported.
fn read(wire: &WireFileSystem, place: &str, report: &mut ProblemList) -> Option<FileSystem> {
    let filesystem = FileSystem {
        kind: find_kind(wire.kind.as_ref()?)?,
        mkfs: wire.mkfs.clone().unwrap_or_default(),
        mount: wire.mount.clone().unwrap_or_default(),
        noatime: false,
        name: None,
    };
    for fault in filesystem.faults() {
        report.add(&below(place, &fault.key), fault.found, fault.expected);
    }
    Some(filesystem)
}

/// What the command line asks for, against itself and the job file.
fn check_asked(settings: &Settings, variants: &[CrossedVariant<'_>], report: &mut ProblemList) {
    let all = &settings.filesystems;
    for (at, filesystem) in all.iter().enumerate() {
        for fault in filesystem.faults() {
            let place = format!("{OPTION} {}", fault.key);
            report.add(&place, fault.found, fault.expected);
        }
        let label = filesystem.label();
        if all[..at].iter().any(|other| other.label() == label) {
            let hint = "give one of them other options, or a `name=` of its own";
            let found = format!("`{}` twice", short(&label));
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
