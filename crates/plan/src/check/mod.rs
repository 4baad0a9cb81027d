//! Turns a job file into a checked plan: every problem is reported, and only a file without any becomes a
//! plan.

mod cell;
mod chain;
mod filesystem;
mod keys;
mod limits;
mod mix;
mod phases;
mod settings;
mod tree;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use self::cell::CellCheck;
use self::filesystem::CrossedVariant;
use self::keys::{KeyReader, Scope, check_name, check_title, described};
use self::limits::{
    LEVELS_MAX, MEMORY_USUAL, PHASE_LIMIT_NS, PHASES_MAX, SEED_DEFAULT, VARIANTS_MAX,
};
use super::repetition::{Repetition, TimeLimit};
use super::report::{ProblemList, below, element};
use super::source;
use super::wire::{self, WireJob};
use super::{Axis, CellPlan, Conclusion, DEFAULT_VARIANT, Plan, Scale};
use boatload_base::problem::Problems;
use boatload_base::text_limits::TEXT_BYTES_MAX;
use boatload_base::units::{Quantity, Unit, bytes, counted, grouped};

pub use self::limits::THREADS_MAX;
pub use self::settings::Settings;

const REPEATS: RangeInclusive<u64> = 1..=1_000;

/// Reads a job file into a plan.
///
/// # Errors
/// All problems of the file and of `settings`, each with its line, what was found there and what
/// was expected. Text that is not TOML has one.
pub fn read_job(text: &str, settings: &Settings) -> Result<Plan, Problems> {
    let (job, mut report) = source::read::<WireJob>(text)?;
    let mut as_read = report.clone();
    let report = &mut report;
    if let Some(name) = &job.name {
        check_title(name, "name", report);
    }
    if let Some(length) = job.question.as_ref().map(String::len).filter(|n| *n > TEXT_BYTES_MAX) {
        let most = format!("at most {}", bytes(TEXT_BYTES_MAX as u64));
        report.add("question", format!("{} bytes", grouped(length as u64)), most);
    }
    if job.phases().is_empty() && !report.is_broken_inside("phase") {
        report.add("phase", "no phase", "at least one `[[phase]]`");
    }
    let is_here = |variant: &wire::WireVariant| variant.is_at(settings.scale);
    let ScaledJob { scope, axis, seed, several, mut cells } =
        at_scale(&job, settings, &is_here, report);
    let repeats = repeats(&job, settings, &scope, report);
    let limit_ns = phase_limit_ns(&job, &scope, report);
    let limit_ns = settings.phase_limit_ns.or(limit_ns);
    for phase in cells.iter_mut().flat_map(|cell| &mut cell.phases) {
        phase.limit_ns = limit_ns;
    }
    let conclude = conclude(&job, axis.is_some(), several, report);
    check_absent(&job, settings, &mut as_read, report);
    std::mem::take(report).finish()?;
    Ok(Plan {
        name: job.name.unwrap_or_default(),
        question: job.question.unwrap_or_default(),
        scale: settings.scale,
        seed,
        repeats,
        parameters: scope.written(),
        axis,
        keeps_images: false,
        conclude,
        cells,
        job: text.to_string(),
    })
}

/// What a job is at one scale.
struct ScaledJob {
    scope: Scope,
    axis: Option<Axis>,
    seed: u64,
    /// Whether several variants are compared.
    several: bool,
    cells: Vec<CellPlan>,
}

/// The job at the scale of the settings, with the variants that are wanted.
fn at_scale(
    job: &WireJob,
    settings: &Settings,
    is_wanted: &dyn Fn(&wire::WireVariant) -> bool,
    report: &mut ProblemList,
) -> ScaledJob {
    let scope = Scope::read(job, settings, report);
    let axis = job.axis.as_ref().map(|axis| read_axis(axis, &prepares(job), &scope, report));
    let with = job.axis.as_ref().zip(axis.as_ref());
    let with = with.map(|(wire, axis)| companions(wire, axis, &scope, report)).unwrap_or_default();
    let levels = levels(job, axis.as_ref(), &with, &scope, report);
    let seed = settings.seed.or(job.seed).unwrap_or(SEED_DEFAULT);
    let default = [wire::WireVariant { name: Some(DEFAULT_VARIANT.into()), ..Default::default() }];
    let crossed = filesystem::crossed(job, &default, settings, is_wanted, report);
    let several = crossed.len() > 1;
    let cells = cells(job, settings, seed, &crossed, &levels, report);
    ScaledJob { scope, axis, seed, several, cells }
}

/// Checks the variants that are not there at the scale of the settings, at each scale at which they are: as the file has
/// them, whatever the command line says, and as on a machine of 16 GiB. `as_read` is what was wrong before
/// any check.
fn check_absent(
    job: &WireJob,
    settings: &Settings,
    as_read: &mut ProblemList,
    report: &mut ProblemList,
) {
    for scale in Scale::ALL {
        let is_absent =
            |variant: &wire::WireVariant| !variant.is_at(settings.scale) && variant.is_at(scale);
        if job.variant.iter().any(is_absent) {
            let (directory, memory_bytes) = (settings.directory.clone(), MEMORY_USUAL);
            let file = Settings { scale, directory, memory_bytes, ..Settings::default() };
            let known = as_read.problems().len();
            at_scale(job, &file, &is_absent, as_read);
            report.add_found(&as_read.problems()[known..], &format!(" at scale {scale}"));
        }
    }
}

/// What ends its repeats: what the command line says, else the number that the job has, else its answer.
fn repeats(
    job: &WireJob,
    settings: &Settings,
    scope: &Scope,
    report: &mut ProblemList,
) -> Repetition {
    let until_decided = match settings.time_limit_seconds {
        Some(seconds) => Repetition::UntilDecided(TimeLimit { seconds, is_named: true }),
        None => Repetition::UntilDecided(TimeLimit::DEFAULT),
    };
    let (wire, place) = match (settings.repeats, &job.repeats) {
        (Some(asked), _) => (wire::WireQuantity::Number(f64::from(asked)), "--repeats".to_string()),
        (None, Some(scaled)) => {
            let (wire, scale) = scaled.at(settings.scale);
            (wire.clone(), scale.map_or("repeats".into(), |scale| below("repeats", scale)))
        }
        (None, None) => return until_decided,
    };
    let repeats = KeyReader::new(place, scope, report).whole("", &wire, Unit::Count, REPEATS);
    let fixed = repeats.and_then(|n| u32::try_from(n).ok()).map(Repetition::Fixed);
    fixed.filter(|_| settings.time_limit_seconds.is_none()).unwrap_or(until_decided)
}

fn phase_limit_ns(job: &WireJob, scope: &Scope, report: &mut ProblemList) -> Option<u64> {
    let wire = job.phase_limit.as_ref()?;
    let expected = "seconds, or a time with its unit, from 1 ms to 30 days";
    let mut keys = KeyReader::new(String::new(), scope, report);
    keys.time_ns("phase_limit", wire, PHASE_LIMIT_NS, expected)
}

/// The findings that the job asks for; it must have what each of them needs.
fn conclude(
    job: &WireJob,
    has_axis: bool,
    several: bool,
    report: &mut ProblemList,
) -> Vec<Conclusion> {
    let Some(asked) = &job.conclude else {
        return if several { vec![Conclusion::Ranking] } else { Vec::new() };
    };
    let has_windows = job.phases().iter().any(|phase| phase.windows.is_some());
    for (at, one) in asked.iter().enumerate() {
        let (possible, needed) = match one {
            Conclusion::Growth => (has_windows, "a phase with `windows`"),
            Conclusion::Levels => (has_axis, "an `[axis]`"),
            Conclusion::Crossing => (has_axis && several, "an `[axis]` and two variants"),
            Conclusion::Ranking | Conclusion::Tails => (several, "two variants"),
            Conclusion::Source => (true, ""),
        };
        if !possible {
            let found = "a finding that nothing could be concluded for";
            report.add(&element("conclude", at), found, needed);
        }
    }
    asked.clone()
}

/// All that is prepared for the levels, by the axis or by variants.
fn prepares(job: &WireJob) -> Vec<&wire::WirePrepare> {
    let of_axis = job.axis.iter().filter_map(|axis| axis.prepare.as_ref());
    let of_variants = job.variant.iter().filter_map(|variant| variant.prepare.as_ref());
    of_axis.chain(of_variants).collect()
}

/// The axis; without levels if anything is wrong with them. Where anything ages, plain numbers are
/// percents.
fn read_axis(
    axis: &wire::WireAxis,
    prepares: &[&wire::WirePrepare],
    scope: &Scope,
    report: &mut ProblemList,
) -> Axis {
    let in_percent = prepares.iter().any(|prepare| matches!(prepare, wire::WirePrepare::Age(_)));
    let name = axis.name.clone().unwrap_or_default();
    if axis.name.is_some() {
        check_name(&name, "axis.name", report);
        if scope.has(&name) {
            report.add("axis.name", format!("`{name}`"), "a name that no parameter has");
        }
    }
    let place = "axis.values";
    let values = axis.values.as_ref();
    let mut keys = KeyReader::new(place, scope, report);
    let levels = values.and_then(|values| keys.list("", values)).unwrap_or_default();
    let with_unit = |level: Quantity| match level.unit {
        Unit::Count if in_percent => Quantity { unit: Unit::Percent, ..level },
        _ => level,
    };
    let levels: Vec<Quantity> = levels.into_iter().map(with_unit).collect();
    let mut good = true;
    if levels.is_empty() && !report.is_broken_inside(place) && !scope.is_broken_list(values) {
        report.add(place, "an empty list", "at least one level");
    }
    if levels.len() > LEVELS_MAX {
        let most = format!("at most {}", grouped(LEVELS_MAX as u64));
        report.add(place, counted(levels.len() as u64, "level"), most);
        good = false;
    }
    for (at, level) in levels.iter().enumerate() {
        let written = match values {
            Some(wire::OneOrMany::Many(list)) => described(&list[at], *level),
            _ => level.to_string(),
        };
        if level.unit != levels[0].unit {
            let expected = format!("{}, the unit of the first level", levels[0].unit.as_str());
            report.add(&element(place, at), written, expected);
            good = false;
        } else if levels[..at.min(LEVELS_MAX)].contains(level) {
            report.add(&element(place, at), written, "each level once");
            good = false;
        }
    }
    if good && !prepares.is_empty() {
        good = levels_go_up(&levels, report);
    }
    Axis { name, levels: if good { levels } else { Vec::new() } }
}

/// What is prepared for one level stays for the next, so levels can only go up.
fn levels_go_up(levels: &[Quantity], report: &mut ProblemList) -> bool {
    let down = levels.windows(2).position(|pair| pair[0].value > pair[1].value);
    match down {
        Some(at) => {
            let expected =
                format!("more than {}: `prepare` goes up from level to level", levels[at]);
            report.add(&element("axis.values", at + 1), levels[at + 1].to_string(), expected);
            false
        }
        None => true,
    }
}

/// Quantities that go along with the level, by name: one for each level, or `None` if anything is
/// wrong with them.
type Companions = BTreeMap<String, Vec<Quantity>>;

fn companions(
    wire: &wire::WireAxis,
    axis: &Axis,
    scope: &Scope,
    report: &mut ProblemList,
) -> Companions {
    let mut all = Companions::new();
    for (name, values) in &wire.with {
        let place = below("axis.with", name);
        check_name(name, &place, report);
        if scope.has(name) || *name == axis.name {
            let expected = "a name that no parameter has, nor the axis";
            report.add(&place, format!("`{name}`"), expected);
        }
        let levels = axis.levels.len();
        let values = match KeyReader::new(&place, scope, report).one_or_many("", values) {
            Some(values) if values.len() == 1 => vec![values[0]; levels],
            Some(values) if values.len() != levels && levels > 0 => {
                let found = format!("{} quantities", grouped(values.len() as u64));
                let each = counted(levels as u64, "level");
                let expected = format!("one, or one for each of the {each} of `{}`", axis.name);
                report.add(&place, found, expected);
                Vec::new()
            }
            values => values.unwrap_or_default(),
        };
        all.insert(name.clone(), values);
    }
    // What has a problem of its own was left out; its name is still known.
    for name in report.keys_below("axis.with") {
        all.entry(name).or_default();
    }
    all
}

/// The levels, each with the names that are known at it. One without a level if there is no axis
/// or nothing is known of it, so that the rest is checked all the same.
fn levels(
    job: &WireJob,
    axis: Option<&Axis>,
    companions: &Companions,
    scope: &Scope,
    report: &ProblemList,
) -> Vec<(Option<Quantity>, Scope)> {
    let name = job.axis.as_ref().and_then(|axis| axis.name.as_deref());
    match axis {
        Some(axis) if axis.levels.is_empty() => {
            let names = companions.keys();
            let all = names.fold(scope.with(name, None), |all, name| all.with(Some(name), None));
            vec![(None, all)]
        }
        Some(axis) => {
            let at = |(at, level): (usize, &Quantity)| {
                let mut all = scope.with(name, Some(*level));
                for (name, values) in companions {
                    all = all.with(Some(name), values.get(at).copied());
                }
                (Some(*level), all)
            };
            axis.levels.iter().enumerate().map(at).collect()
        }
        None if report.is_broken("axis") => vec![(None, scope.with(None, None))],
        None => vec![(None, scope.clone())],
    }
}

/// Every variant at every level.
fn cells(
    job: &WireJob,
    settings: &Settings,
    seed: u64,
    crossed: &[CrossedVariant<'_>],
    levels: &[(Option<Quantity>, Scope)],
    report: &mut ProblemList,
) -> Vec<CellPlan> {
    if crossed.len() > VARIANTS_MAX {
        let found = counted(crossed.len() as u64, "variant");
        report.add("variant", found, format!("at most {VARIANTS_MAX}"));
        return Vec::new();
    }
    let highest = levels.iter().filter_map(|(level, _)| Some(level.as_ref()?.value));
    let highest = highest.fold(0.0, f64::max);
    let mut cells: Vec<CellPlan> = Vec::new();
    let mut phases = 0;
    for variant in crossed {
        for (level, scope) in levels {
            let (before, level) = (report.count(), *level);
            let check = CellCheck {
                job,
                settings,
                variant,
                seed,
                highest,
                level,
                scope,
                report: &mut *report,
            };
            cells.extend(check.cell());
            // What is wrong at one level is wrong at most others: said once is enough.
            if report.count() > before {
                break;
            }
            phases += cells.last().map_or(0, |cell| cell.phases.len());
            if phases > PHASES_MAX {
                let found = format!("more than {} phases", grouped(PHASES_MAX as u64));
                let expected = "fewer, passes, levels and variants multiplied";
                report.add("phase", found, expected);
                return Vec::new();
            }
        }
    }
    cells
}
