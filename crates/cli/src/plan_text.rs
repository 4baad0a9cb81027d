//! Writes a plan as text, with what cells have in common once.

use std::fmt::Write;
use std::path::Path;

use boatload_base::failure::shown;
use boatload_base::units::{bytes, counted, duration, grouped, span};
use boatload_host::facts::HostFacts;
use boatload_host::space::{Space, UNSTATED};
use boatload_op::{Effect, Subject};
use boatload_plan::filesystem::{Volume, VolumeSize, is_small, mount_options, shown_command};
use boatload_plan::mix::{Pace, Work, WorkFiles};
use boatload_plan::phase::PhaseEnd;
use boatload_plan::repetition::{REPEATS_MAX, REPEATS_MIN, Repetition};
use boatload_plan::{CellPlan, FileSystem, FillMethod, Phase, Plan, Prepare};
use boatload_report::text::wrap;
use boatload_session::HostSurvey;
use boatload_session::images::KeptImages;
use boatload_session::memory::room_words;
use boatload_session::room;

/// What would be done; on file systems with this room, where they are made.
pub(super) fn outline(plan: &Plan, room: Option<VolumeSize>) -> String {
    let question = if plan.question.is_empty() {
        String::new()
    } else {
        format!(": {}", shown(&plan.question))
    };
    let mut text = format!("{}{question}\n", shown(&plan.name));
    let _ = writeln!(
        text,
        "scale {}, seed {}, {}",
        plan.scale.as_str(),
        plan.seed,
        counted(plan.cells.len() as u64, "cell")
    );
    text.push_str(&wrapped(&repeats_words(plan), 2));
    if let Some(axis) = &plan.axis {
        let levels: Vec<String> = axis.levels.iter().map(ToString::to_string).collect();
        let line = format!("levels of {}: {}", shown(&axis.name), levels.join(", "));
        text.push_str(&wrapped(&line, 2));
    }
    text.push('\n');
    let variants: Vec<VariantText> =
        plan.variants().iter().map(|name| VariantText::new(plan, name)).collect();
    for (at, variant) in variants.iter().enumerate() {
        text.push_str(&variant.lines);
        let before = at.checked_sub(1).map(|before| &variants[before]);
        if let Some(room) = room.filter(|_| before.is_none_or(|b| b.made != variant.made)) {
            text.push_str(&made_lines(variant.made, &room));
        }
        if variants.get(at + 1).is_none_or(|next| next.phases != variant.phases) {
            text.push_str(&variant.phases);
        }
    }
    text
}

/// What ends the repeats of a plan, and why their number is fixed where nobody said so.
fn repeats_words(plan: &Plan) -> String {
    match (plan.repetition(), plan.repeats) {
        (Repetition::UntilDecided(limit), _) => format!(
            "{REPEATS_MIN} to {REPEATS_MAX} repeats until the answer is decided, for at most {}",
            span(limit.seconds)
        ),
        (Repetition::Fixed(repeats), Repetition::Fixed(_)) => counted(u64::from(repeats), "repeat"),
        (Repetition::Fixed(repeats), Repetition::UntilDecided(_)) => {
            let why = match plan.reads_device() {
                true => "a device is only read",
                false => "a prepared place cannot be restored between them",
            };
            format!("{}: {why}", counted(u64::from(repeats), "repeat"))
        }
    }
}

/// What a plan says of one variant. Equal phases are said once, after the last variant that has them.
struct VariantText<'a> {
    lines: String,
    phases: String,
    made: Option<&'a FileSystem>,
}

impl<'a> VariantText<'a> {
    fn new(plan: &'a Plan, name: &str) -> Self {
        let cells: Vec<_> = plan.cells.iter().filter(|cell| cell.variant == name).collect();
        Self {
            lines: variant_lines(name, &cells),
            phases: phase_lines(&cells),
            made: cells.first().and_then(|cell| cell.filesystem.as_ref()),
        }
    }
}

/// What a variant's cells work on, and what the place is brought to before.
fn variant_lines(variant: &str, cells: &[&CellPlan]) -> String {
    let level = |cell: &CellPlan| cell.level.map_or_else(String::new, |level| level.to_string());
    let mut trees: Vec<_> = cells.iter().map(|cell| (level(cell), tree_words(cell))).collect();
    trees.dedup_by(|next, before| next.1 == before.1);
    let mut text = String::new();
    match trees.as_slice() {
        [(_, tree)] => text.push_str(&wrapped(&format!("{}: {tree}", shown(variant)), 4)),
        several => {
            let _ = writeln!(text, "{}:", shown(variant));
            for (level, tree) in several.first().into_iter().chain(several.last()) {
                text.push_str(&wrapped(&format!("  at {level}: {tree}"), 6));
            }
        }
    }
    if let Some(prepare) = cells.first().and_then(|cell| cell.prepare.as_ref()) {
        text.push_str(&wrapped(&format!("  {}", prepare_words(prepare)), 4));
    }
    text
}

/// The file system that a variant runs on, where the variant before it runs on another one.
fn made_lines(made: Option<&FileSystem>, room: &VolumeSize) -> String {
    let Some(made) = made else { return "  on the file system of --dir\n".into() };
    let options = match mount_options(made, room) {
        options if options.is_empty() => "the kernel's defaults".to_string(),
        options => shown(options),
    };
    let by = shown_command(made, room).map(|command| format!("made by {}", shown(command)));
    let by = by.unwrap_or_else(|| made.kind.name.to_string());
    let disk = made.disk.as_ref().map(|disk| format!(", on {}", shown(&disk.name)));
    wrapped(&format!("  {by}, mounted with {options}{}", disk.unwrap_or_default()), 4)
}

/// Where file systems are made for a plan, and how large.
pub(super) fn place_lines(
    plan: &Plan,
    place: &Volume,
    room: &VolumeSize,
    space: &Space,
    dir: &Path,
) -> String {
    let size = bytes(room.bytes);
    let mut made = plan.cells.iter().filter_map(|cell| cell.filesystem.as_ref());
    let needs_device = made.any(|made| made.kind.maker.is_some());
    let other = |bytes: &Option<u64>| match bytes {
        _ if is_small(plan, room) => {
            "; some file systems are slower on so small a place: --size sets another size"
        }
        None => "; --size sets another size",
        Some(_) => "",
    };
    let disks = plan.disks().iter().map(|disk| shown(&disk.name)).collect::<Vec<_>>().join(", ");
    let on = match plan.disks().len() {
        0 => String::new(),
        1 => format!("{disks}, a modelled disk: "),
        _ => format!("modelled disks ({disks}): "),
    };
    let line = match place {
        _ if !needs_device => format!("file systems of {size} are made in memory"),
        Volume::Device { path, .. } => {
            let path = shown(path);
            format!("file systems are made on {path} ({size}), which loses all it holds")
        }
        Volume::Memory { bytes } => {
            format!("file systems are made on {on}an image of {size} in memory{}", other(bytes))
        }
        Volume::Image { bytes: size_asked } => format!(
            "file systems are made on {on}an image of {size} in {}, with {}{}",
            shown(dir),
            free_words(space),
            other(size_asked),
        ),
    };
    format!("\n{}", wrapped(&line, 2))
}

fn tree_words(cell: &CellPlan) -> String {
    if cell.reads_device() {
        return "blocks of the device".into();
    }
    let tree = &cell.tree;
    let makes = |phase: &&Phase| {
        phase.operation.effect == Effect::AddsEntry && phase.operation.subject != Subject::Directory
    };
    // Some of those that were there are only made again.
    let is_new = |phase: &&Phase| phase.selection.count == phase.selection.population;
    let made = cell.phases.iter().filter(makes).filter(is_new);
    let made = made.map(|phase| (phase.selection.entries(), phase));
    let made: Vec<(u64, &Phase)> = made.collect();
    let files: u64 = made.iter().map(|(files, _)| files).sum();
    let all = made.iter().map(|(files, phase)| phase.sizes(tree).mean() * *files as f64);
    let size = bytes((all.sum::<f64>() / files.max(1) as f64) as u64);
    let sizes = match tree.chunks {
        Some(chunks) => format!("of {} of {size}", counted(chunks.count, "chunk")),
        None if files == 1 => format!("of {size}"),
        None => format!("of {size} on average"),
    };
    let shared = if tree.part.is_some() { " that all ranks share" } else { "" };
    let place = format!("{}{shared}", counted(tree.holders(), "directory"));
    match files {
        0 => place,
        _ => format!("{} {sizes}, in {place}", counted(files, "file")),
    }
}

fn prepare_words(prepare: &Prepare) -> String {
    let files = format!("files of {} on average", bytes(prepare.ballast.tree.sizes.mean() as u64));
    match prepare.ballast.method {
        FillMethod::Fill => format!("before each level: filled up to it with {files}"),
        FillMethod::Age { delete_every, empty_from, .. } => {
            let deleted = format!("{files}, one deleted after every {}", grouped(delete_every));
            match empty_from {
                None => format!("before each level: aged up to it with {deleted}"),
                Some(from) => {
                    format!("aged up to {from}% with {deleted}; then emptied down to each level")
                }
            }
        }
    }
}

/// One line for each phase, with what differs from cell to cell as a range.
fn phase_lines(cells: &[&CellPlan]) -> String {
    let Some(first) = cells.first() else { return String::new() };
    let phases = first_passes(first).enumerate();
    phases
        .map(|(at, phase)| {
            let of_cells = || cells.iter().filter_map(|cell| first_passes(cell).nth(at));
            let amounts = range_text(of_cells().map(|phase| phase.selection.count));
            let threads = range_text(of_cells().map(|phase| u64::from(phase.threads)));
            let plural = if threads == "1" { "" } else { "s" };
            let passes = first.phases.iter().filter(|other| other.name == phase.name).count();
            let times = if passes > 1 { format!(", {passes} passes") } else { String::new() };
            let order = phase.on_ballast.map_or(phase.selection.order, |on| on.order);
            let order = if phase.mix.is_none() { format!(" {order}") } else { String::new() };
            format!(
                "  {:<18} {:>14} {}{order}, {} cache, {threads} thread{plural}{times}\n{}",
                shown(&phase.name),
                amount(phase, &amounts),
                phase.operation.name,
                phase.cache.as_str(),
                work_lines(phase),
            )
        })
        .collect()
}

/// The works of a mix, a line for each, and the rate that it keeps; nothing of one operation.
fn work_lines(phase: &Phase) -> String {
    let Some(mix) = &phase.mix else { return String::new() };
    let line = |work: &Work| {
        let which = match work.takes_file() {
            true => {
                let whose = if work.of == WorkFiles::Any { " of any worker" } else { "" };
                format!(", {} file{whose}", work.order)
            }
            false => String::new(),
        };
        let steps: Vec<&str> = work.steps.iter().map(|step| &*step.name).collect();
        let name = format!("  {}", shown(phase.work_name(work)));
        let share = mix.share_words(work);
        format!("  {name:<18} {share:>14} {}{which}\n", steps.join(", "))
    };
    let pace = mix.pace.map(|Pace { turns_per_second, spacing }| {
        let rate = grouped_rate(turns_per_second);
        format!("    at {rate} turns a second, {spacing}\n")
    });
    mix.works.iter().map(line).chain(pace).collect()
}

/// A rate without digits that say nothing.
fn grouped_rate(per_second: f64) -> String {
    match per_second.fract() == 0.0 {
        true => grouped(per_second as u64),
        false => per_second.to_string(),
    }
}

fn first_passes(cell: &CellPlan) -> impl Iterator<Item = &Phase> {
    cell.phases.iter().filter(|phase| phase.pass == 1)
}

/// How much a phase does: operations, or for how long.
fn amount(phase: &Phase, amounts: &str) -> String {
    match phase.end {
        PhaseEnd::After(ns) => return duration(ns as f64),
        PhaseEnd::Operations(turns) => return grouped(turns),
        PhaseEnd::Targets => {}
    }
    if let Some(on) = phase.on_ballast {
        return if on.most == u64::MAX {
            "all".into()
        } else {
            format!("up to {}", grouped(on.most))
        };
    }
    amounts.into()
}

/// One number, or the range of the levels: `1-8`.
fn range_text(values: impl Iterator<Item = u64> + Clone) -> String {
    let least = values.clone().min().unwrap_or(0);
    let most = values.max().unwrap_or(0);
    if least == most { grouped(most) } else { format!("{}-{}", grouped(least), grouped(most)) }
}

/// In which order the levels of prepared places come, and why; nothing where none is prepared.
pub(super) fn level_lines(plan: &Plan, images: Option<&KeptImages>) -> String {
    let line = match (plan.has_levels_in_order(), images) {
        (true, images) => {
            let why = images.and_then(|images| images.lack.as_deref());
            let why = why.unwrap_or("what was there before cannot be restored");
            format!(
                "levels come in the order in which the place is prepared for them, not at random, so \
                 that changes of the machine look like effects of the level: {why}"
            )
        }
        (false, Some(KeptImages { bytes: kept, lack: None })) => format!(
            "prepared file systems are kept as images, {} at most, and restored before each cell",
            bytes(*kept)
        ),
        _ => return String::new(),
    };
    format!("\n{}", wrapped(&line, 2))
}

/// How much is free.
fn free_words(space: &Space) -> String {
    match space.is_stated() {
        true => format!("{} free", bytes(space.available_bytes)),
        false => UNSTATED.into(),
    }
}

/// What it needs, against what there is.
pub(super) fn space_lines(plan: &Plan, space: &Space, host: &HostFacts, dir: &Path) -> String {
    let need = room::need(plan, space.block_bytes);
    let inodes = match space.available_inodes {
        Some(free) => format!("of {} free", grouped(free)),
        None => "(made as needed)".into(),
    };
    let filled = match room::fills_to(plan) {
        Some(percent) => {
            let used = space.used_fraction();
            let used = used.map(|share| format!(" ({:.0}% are in use)", share * 100.0));
            format!("fills the file system to {percent}%{}\n", used.unwrap_or_default())
        }
        None => String::new(),
    };
    let line = format!(
        "needs {} of {} and {} inodes {inodes} on {} ({})",
        bytes(need.bytes),
        free_words(space),
        grouped(need.inodes),
        shown(dir),
        shown(&host.filesystem.kind),
    );
    format!("\n{}{filled}", wrapped(&line, 2))
}

/// What it takes of memory, against what there is.
pub(super) fn memory_line(survey: &HostSurvey) -> String {
    let room = survey.memory_room.as_ref();
    let room = room.map_or(String::new(), |room| format!("; {}", room_words(room)));
    let beside = if survey.writes_to_memory() { ", without the files it writes there" } else { "" };
    wrapped(&format!("takes at most {}{beside}{room}", survey.memory_need.words()), 2)
}

/// Broken between words where it is too long; the first line keeps its blanks, others are indented.
fn wrapped(line: &str, indent: usize) -> String {
    let lead = " ".repeat(line.len() - line.trim_start().len());
    let lines = wrap(&" ".repeat(indent), line).join("\n");
    format!("{lead}{}\n", lines.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_of_levels_are_a_range() {
        assert_eq!(range_text([1, 1].into_iter()), "1");
        assert_eq!(range_text([1, 4, 16].into_iter()), "1-16");
    }

    #[test]
    fn a_long_line_is_broken_between_words() {
        let text = wrapped(&"word ".repeat(40), 4);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
