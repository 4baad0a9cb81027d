//! Makes the table that shows the answer of a run: one for each way in which a job is answered.

use super::names::level_value;
use super::table::{Align, Table};
use super::text::{about_ranges, in_units, low_to_high, number, ratio_span, short_time, time};
use crate::analysis::Analysis;
use crate::analysis::answer::task;
use crate::analysis::effect::{ComparedRatio, EffectFinding, Reading};
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::growth::GrowthCourse;
use crate::analysis::findings::say;
use crate::analysis::ranked::{RankedVariant, RankedVariants};
use crate::analysis::summary::{PhaseSummary, Summary};
use crate::base::distinct::each_once;
use crate::base::units::{Unit, byte_step, grouped};
use crate::plan::{Conclusion, DEFAULT_VARIANT};
use crate::results::book::Level;
use crate::results::content::{constant_operations, lists};

/// The figures of an answer and how to read them.
#[derive(Default)]
pub(super) struct AnswerTable {
    /// The most telling first.
    pub(super) tables: Vec<Table>,
    pub(super) captions: Vec<String>,
    /// The same in fewer lines.
    pub(super) short: Option<Box<AnswerTable>>,
}

/// The table that shows what the answer is made of.
pub(super) fn answer_table(analysis: &Analysis<'_>) -> AnswerTable {
    let summary = analysis.summary();
    if summary.groups.is_empty() {
        let captions = vec!["Nothing was measured.".into()];
        return AnswerTable { captions, ..AnswerTable::default() };
    }
    let conclude = analysis.book.run.conclude.first().copied();
    let shown = match analysis.answered_by().or(conclude) {
        Some(Conclusion::Growth) => growth_table(analysis),
        Some(Conclusion::Levels) => change_table(analysis),
        Some(Conclusion::Ranking) => ranking_table(analysis),
        _ => None,
    };
    shown.or_else(|| levels_table(analysis)).unwrap_or_else(|| rates_table(summary, None))
}

// --- rates ---------------------------------------------------------------------------------------

/// The unit in which rates stand below each other.
struct RateScale {
    size: f64,
    /// `thousand operations a second`; none where some are of bytes and others of operations: then each has its own unit
    /// beside it.
    words: Option<String>,
}

impl RateScale {
    fn of<'a>(rows: impl Iterator<Item = &'a PhaseSummary>) -> Self {
        let rows: Vec<&PhaseSummary> = rows.collect();
        let rates = rows.iter().filter_map(|row| row.rate).map(|rate| rate.mean);
        let least = rates.filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        let of_bytes = rows.iter().filter(|row| row.rate_unit == Unit::Bytes).count();
        if of_bytes == rows.len() {
            let (size, word) = byte_step(least);
            return Self { size, words: Some(format!("{word} a second")) };
        }
        if of_bytes > 0 {
            return Self { size: 1.0, words: None };
        }
        if least >= THOUSANDS_MIN {
            return Self { size: 1e3, words: Some("thousand operations a second".into()) };
        }
        Self { size: 1.0, words: Some("operations a second".into()) }
    }

    fn cell(&self, row: Option<&PhaseSummary>) -> String {
        rate_cell(row, |row| {
            let (size, unit) = match self.words {
                None => own_step(row),
                Some(_) => (self.size, String::new()),
            };
            row.rate.map(|rate| number(rate.mean / size, rate.figures.min(FIGURES_MAX)) + &unit)
        })
    }

    /// With as many figures as the interval beside it, so that it lies within.
    fn cell_beside_interval(&self, row: Option<&PhaseSummary>) -> String {
        rate_cell(row, |row| row.rate.map(|rate| number(rate.mean / self.size, rate.figures)))
    }

    /// With whether these rows include a sync; none where there is nothing to say.
    fn caption<'a>(&self, rows: impl Iterator<Item = &'a PhaseSummary>) -> Option<String> {
        let parts: Vec<&str> = self.words.as_deref().into_iter().chain(about_sync(rows)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Which of these rates include a sync; none if none do.
fn about_sync<'a>(rows: impl Iterator<Item = &'a PhaseSummary>) -> Option<&'static str> {
    let rows: Vec<&PhaseSummary> = rows.filter(|row| row.rate.is_some()).collect();
    match rows.iter().filter(|row| row.sync_seconds.is_some()).count() {
        0 => None,
        synced if synced == rows.len() => Some("sync included"),
        _ => Some("sync of writes included"),
    }
}

/// Rates from here on are written in thousands.
const THOUSANDS_MIN: f64 = 100.0;
/// Enough to see what matters.
const FIGURES_MAX: u32 = 3;

fn rate_cell(row: Option<&PhaseSummary>, cell: impl Fn(&PhaseSummary) -> Option<String>) -> String {
    let Some(row) = row else { return "-".into() };
    let missing = if row.invalid.is_empty() { "-" } else { "invalid" };
    cell(row).unwrap_or_else(|| missing.into())
}

/// The unit of one rate, where rates of several kinds stand below each other.
fn own_step(row: &PhaseSummary) -> (f64, String) {
    match (row.rate_unit, row.rate) {
        (Unit::Bytes, Some(rate)) => {
            let (size, word) = byte_step(rate.mean);
            (size, format!(" {word}/s"))
        }
        _ => (1.0, "/s".into()),
    }
}

fn own_rate(row: &PhaseSummary) -> Option<String> {
    let (size, word) = own_step(row);
    row.rate.map(|rate| number(rate.mean / size, rate.figures) + &word)
}

fn own_range(row: &PhaseSummary) -> Option<String> {
    row.rate.map(|rate| low_to_high(&rate, in_units(own_step(row).0)))
}

/// The rows of phases that the job has.
fn measured_rows(summary: &Summary) -> impl Iterator<Item = &PhaseSummary> {
    summary.rows().filter(|row| !row.is_settle())
}

/// Of a job in which nothing is compared and nothing grows, or at one level: a row for each phase.
fn rates_table(summary: &Summary, level: Option<&Level>) -> AnswerTable {
    let (phases, variants) = (summary.rated_phases(), summary.variants());
    let names = phases.iter().map(ToString::to_string);
    let mut table = Table::of_names("phase", Align::Left, names);
    for variant in &variants {
        let cells = |cell: &dyn Fn(&PhaseSummary) -> Option<String>| -> Vec<String> {
            let row = |phase| summary.row(variant, level, phase).filter(|row| row.rate.is_some());
            phases.iter().map(|phase| row(phase).and_then(cell).unwrap_or_default()).collect()
        };
        let rates: Vec<String> = phases
            .iter()
            .map(|phase| rate_cell(summary.row(variant, level, phase), own_rate))
            .collect();
        if let [_] = variants.as_slice() {
            let of_tail = |ns: Option<u64>| ns.map(|ns| short_time(Some(ns as f64)));
            table.column_apart("rate", rates);
            table.column_apart("low to high", cells(&own_range));
            table.column_apart("p50", cells(&|row| of_tail(row.tail?.p50_ns)));
            table.column_apart("p99", cells(&|row| of_tail(row.tail?.p99_ns)));
        } else {
            table.group(variant);
            table.column("rate", rates);
            table.column("low to high", cells(&own_range));
        }
    }
    let at = level.map(|level| format!("{} {}", level.axis, level_value(level)));
    let shown = || {
        let of_variant =
            |variant| phases.iter().filter_map(move |phase| summary.row(variant, level, phase));
        variants.iter().copied().flat_map(of_variant)
    };
    let caption: Vec<String> =
        at.into_iter().chain(about_sync(shown()).map(String::from)).collect();
    let captions = Vec::from_iter(Some(caption.join(": ")).filter(|caption| !caption.is_empty()));
    AnswerTable { tables: vec![table], captions, ..AnswerTable::default() }.with_ranges(shown())
}

impl AnswerTable {
    /// With what says how the ranges in its cells are to be read, which are of these rows.
    fn with_ranges<'a>(mut self, rows: impl Iterator<Item = &'a PhaseSummary>) -> Self {
        let rates = rows.filter_map(|row| row.rate);
        self.captions.extend(about_ranges(rates).into_iter().map(String::from));
        self
    }
}

// --- levels --------------------------------------------------------------------------------------

/// More levels than these do not stand beside each other.
const LEVELS_BESIDE_MAX: usize = 6;
/// More phases than these do not stand beside each other with their intervals.
const PHASES_BESIDE_MAX: usize = 3;

/// A row for each level; of several variants one for each of these. None without levels.
fn levels_table(analysis: &Analysis<'_>) -> Option<AnswerTable> {
    let summary = analysis.summary();
    let (levels, phases, variants) = (summary.levels(), summary.rated_phases(), summary.variants());
    let last = levels.last()?;
    let mut table = match (variants.as_slice(), phases.as_slice()) {
        ([variant], _) => by_level(summary, variant, &phases),
        (_, [phase]) if levels.len() <= LEVELS_BESIDE_MAX => by_variant(analysis, phase),
        (_, [phase]) => by_level_of_variants(summary, phase),
        _ => rates_table(summary, Some(last)),
    };
    table.captions.extend(about_lists(analysis));
    Some(table)
}

/// What stands below the rates of listings, which count whole directories, or bytes.
fn about_lists(analysis: &Analysis<'_>) -> Option<String> {
    let rows: Vec<&PhaseSummary> =
        analysis.summary().rows().filter(|row| lists(analysis.book, &row.phase)).collect();
    let counted = match rows.iter().all(|row| row.rate_unit == Unit::Bytes) {
        true => "bytes",
        false => "directories",
    };
    (!rows.is_empty()).then(|| format!("findings count the entries of a list, not the {counted}"))
}

fn level_names(summary: &Summary) -> Table {
    let levels = summary.levels();
    let axis = levels.first().map_or("", |level| level.axis.as_str());
    Table::of_names(axis, Align::Right, levels.iter().map(|level| level_value(level)))
}

/// A row for each level of one variant, with its phases beside each other.
fn by_level(summary: &Summary, variant: &str, phases: &[&str]) -> AnswerTable {
    let mut table = level_names(summary);
    let mut captions = Vec::new();
    let has_ranges = phases.len() <= PHASES_BESIDE_MAX;
    let is_in = |row: &&PhaseSummary, phase: &str| row.phase == phase;
    let shown = || summary.rows().filter(|row| phases.iter().any(|phase| is_in(row, phase)));
    let all_bytes = shown().all(|row| row.rate_unit == Unit::Bytes);
    for phase in phases {
        let scale = match all_bytes {
            true => RateScale::of(shown()),
            false => RateScale::of(summary.rows().filter(|row| is_in(row, phase))),
        };
        let rows: Vec<_> =
            summary.levels().iter().map(|level| summary.row(variant, Some(level), phase)).collect();
        table.group(phase);
        if !has_ranges {
            table.column("rate", rows.iter().map(|row| scale.cell(*row)));
        } else {
            table.column("rate", rows.iter().map(|row| scale.cell_beside_interval(*row)));
            let range =
                |row: &PhaseSummary| row.rate.map(|rate| low_to_high(&rate, in_units(scale.size)));
            table.column(
                "low to high",
                rows.iter().map(|row| row.and_then(range).unwrap_or_default()),
            );
        }
        captions.push((*phase, scale.words.unwrap_or_default()));
    }
    let units = each_once(captions.iter().map(|(_, words)| words.as_str()));
    let caption = match units.as_slice() {
        [only] => (*only).to_string(),
        _ => {
            let each = captions.iter().map(|(phase, words)| format!("{phase}: {words}"));
            each.collect::<Vec<_>>().join("; ")
        }
    };
    let sync = about_sync(shown()).map(|sync| format!("; {sync}")).unwrap_or_default();
    let caption = caption + &sync;
    AnswerTable { tables: vec![table], captions: vec![caption], ..AnswerTable::default() }
        .with_ranges(shown().filter(|_| has_ranges))
}

/// A row for each variant in one phase, with the levels beside each other.
fn by_variant(analysis: &Analysis<'_>, phase: &str) -> AnswerTable {
    let (summary, levels) = (analysis.summary(), analysis.summary().levels());
    let variants = summary.variants();
    let scale = RateScale::of(summary.rows().filter(|row| row.phase == phase));
    let axis = levels.first().map_or("", |level| level.axis.as_str());
    let names = variants.iter().map(ToString::to_string);
    let mut table = Table::of_names(axis, Align::Left, names);
    let mut marks = Vec::new();
    for level in &levels {
        let order = order_at(analysis, phase, level);
        let mark = |variant: &&str| order.map_or("", |order| mark_beside(order, variant));
        marks.extend(variants.iter().map(mark));
        let cell = |variant: &&str| {
            mark(variant).to_string() + &scale.cell(summary.row(variant, Some(level), phase))
        };
        table.column_apart(&level_value(level), variants.iter().map(cell));
    }
    let rows = summary.rows().filter(|row| row.phase == phase);
    let mut captions = vec![format!("{phase}: {}", scale.caption(rows).unwrap_or_default())];
    captions.extend(about_marks(&marks, "the fastest of the column"));
    AnswerTable { tables: vec![table], captions, ..AnswerTable::default() }
}

/// The order of a phase at a level.
fn order_at<'a>(
    analysis: &'a Analysis<'_>,
    phase: &str,
    level: &Level,
) -> Option<&'a RankedVariants> {
    let all = analysis.ranked().iter();
    let is_it = |order: &&RankedVariants| {
        order.phase.as_deref() == Some(phase) && order.level.as_ref() == Some(level)
    };
    { all }.find(is_it)
}

/// Stands beside what takes as long as another within 10%.
const ALIKE: &str = "=";
/// Stands beside what is not told from another.
const OPEN: &str = "?";

/// What stands before the rate of a variant; nothing of the fastest where none is as fast.
fn mark_beside(order: &RankedVariants, variant: &str) -> &'static str {
    match order.others.iter().find(|other| other.name == variant) {
        Some(other) => mark_of(&other.stated),
        None if order.others.iter().any(|other| mark_of(&other.stated) == ALIKE) => ALIKE,
        None => "",
    }
}

fn mark_of(compared: &ComparedRatio) -> &'static str {
    match compared.decision {
        Decision::Within => ALIKE,
        Decision::Open => OPEN,
        Decision::Longer | Decision::Shorter => "",
    }
}

/// What the marks mean that stand beside some; none where none does.
fn about_marks(marks: &[&str], other: &str) -> Option<String> {
    let alike = format!("{ALIKE} as long as {other} within 10%");
    let open = format!("{OPEN} not told from {other}");
    match [ALIKE, OPEN].map(|mark| marks.contains(&mark)) {
        [true, true] => Some(format!("{alike}; {open}")),
        [true, false] => Some(alike),
        [false, true] => Some(open),
        [false, false] => None,
    }
}

fn by_level_of_variants(summary: &Summary, phase: &str) -> AnswerTable {
    let mut table = level_names(summary);
    let scale = RateScale::of(summary.rows().filter(|row| row.phase == phase));
    for variant in summary.variants() {
        let rows =
            summary.levels().into_iter().map(|level| summary.row(variant, Some(level), phase));
        table.column_apart(variant, rows.map(|row| scale.cell(row)));
    }
    let rows = summary.rows().filter(|row| row.phase == phase);
    let captions = vec![format!("{phase}: {}", scale.caption(rows).unwrap_or_default())];
    AnswerTable { tables: vec![table], captions, ..AnswerTable::default() }
}

// --- ranking -------------------------------------------------------------------------------------

/// The variants from the fastest on, and below them their rates. None with levels, and without two variants.
fn ranking_table(analysis: &Analysis<'_>) -> Option<AnswerTable> {
    let summary = analysis.summary();
    let order = analysis.ranked().iter().find(|order| order.level.is_none())?;
    let name = if analysis.book.filesystems.is_empty() { "variant" } else { "file system" };
    let names = names_of(order);
    let mut table = Table::of_names(name, Align::Left, names.iter().cloned());
    let times = names.iter().map(|variant| ranked_time(analysis, order, variant));
    table.column_apart(order.phase.as_deref().unwrap_or(WHOLE_JOB), times);
    let stated = || order.others.iter().map(|other| &other.stated);
    let ratios = stated().map(|compared| say::times(compared.ratio));
    table.column_apart("x fastest", ["1".to_string()].into_iter().chain(ratios));
    let mut marks = Vec::new();
    if stated().any(|compared| compared.interval.is_some()) {
        marks.extend(stated().map(mark_of));
        let spans = stated().map(about_ratio);
        table.column_apart("interval", [String::new()].into_iter().chain(spans));
        table.column_apart("", [""].iter().chain(&marks).map(ToString::to_string));
    }
    let scale = RateScale::of(measured_rows(summary));
    let caption = scale.caption(measured_rows(summary));
    let about = about_marks(&marks, "the fastest");
    let captions: Vec<String> =
        caption.into_iter().chain(about).chain(about_lists(analysis)).collect();
    let captions = (!captions.is_empty()).then(|| captions.join("; ")).into_iter().collect();
    let rates = rates_by_phase(summary, &names, name, &scale);
    let short = short_ranking(analysis, order, &scale);
    Some(AnswerTable { tables: vec![table, rates], captions, short: Some(short) })
}

fn names_of(order: &RankedVariants) -> Vec<String> {
    let others = order.others.iter().map(|other| &other.name);
    std::iter::once(&order.first).chain(others).cloned().collect()
}

/// Times, ratios and rates in one table, with a line for each of them and a column for each variant.
fn short_ranking(
    analysis: &Analysis<'_>,
    order: &RankedVariants,
    scale: &RateScale,
) -> Box<AnswerTable> {
    let what = order.phase.as_deref().unwrap_or(WHOLE_JOB);
    let ratio = |other: &RankedVariant| say::times(other.stated.ratio);
    let ratios = ["1".to_string()].into_iter().chain(order.others.iter().map(ratio));
    let phases = analysis.summary().rated_phases();
    let names = [what, "x fastest"].into_iter().chain(phases.iter().copied()).map(String::from);
    let mut table = Table::of_names("", Align::Left, names);
    for (variant, ratio) in names_of(order).iter().zip(ratios) {
        let rate = |phase: &&str| scale.cell(analysis.summary().row(variant, None, phase));
        let time = ranked_time(analysis, order, variant);
        table.column_apart(variant, [time, ratio].into_iter().chain(phases.iter().map(rate)));
    }
    let caption = scale.caption(measured_rows(analysis.summary()));
    let captions = caption.into_iter().chain(about_lists(analysis)).collect();
    Box::new(AnswerTable { tables: vec![table], captions, short: None })
}

const WHOLE_JOB: &str = "whole job";

/// What a variant is ranked by.
fn ranked_time(analysis: &Analysis<'_>, order: &RankedVariants, variant: &str) -> String {
    match order.phase.as_deref() {
        None => analysis
            .job_seconds(variant)
            .map_or_else(|| "-".into(), |seconds| format!("{} s", number(seconds, 3))),
        Some(phase) => rate_cell(analysis.summary().row(variant, None, phase), own_rate),
    }
}

/// The rates of ranked variants in as few lines as fit: a line for each variant, with long names of phases in two
/// lines, or else a line for each phase.
fn rates_by_phase(summary: &Summary, order: &[String], corner: &str, scale: &RateScale) -> Table {
    let phases = summary.rated_phases();
    let cell = |variant: &str, phase: &str| scale.cell(summary.row(variant, None, phase));
    let variants = || order.iter().cloned();
    let mut whole = Table::of_names(corner, Align::Left, variants());
    let mut split = Table::of_names("", Align::Left, variants());
    for phase in &phases {
        let cells: Vec<String> = order.iter().map(|variant| cell(variant, phase)).collect();
        whole.column_apart(phase, cells.clone());
        let (above, below) = phase.split_once('-').unwrap_or(("", phase));
        split.group(above);
        split.column(below, cells);
    }
    let names = phases.iter().map(ToString::to_string);
    let mut turned = Table::of_names("phase", Align::Left, names);
    for variant in order {
        turned.column_apart(variant, phases.iter().map(|phase| cell(variant, phase)));
    }
    let fits = |table: &Table| table.fits() && !table.cuts_heads();
    [whole, split].into_iter().find(fits).unwrap_or(turned)
}

fn about_ratio(compared: &ComparedRatio) -> String {
    compared.interval.map(ratio_span).unwrap_or_default()
}

// --- what grows ----------------------------------------------------------------------------------

/// A growth with its course.
type Grown<'a> = (&'a EffectFinding, &'a GrowthCourse);

/// A row for each variant: the latency in the second tenth of a phase and in its last. None without a growth.
fn growth_table(analysis: &Analysis<'_>) -> Option<AnswerTable> {
    let all = analysis.effects().filter_map(|effect| Some((effect, effect.course.as_ref()?)));
    let all: Vec<Grown<'_>> = all.collect();
    let height = |effect: &EffectFinding| effect.to.level.as_ref().map_or(0.0, |level| level.value);
    let highest = all.iter().map(|one| height(one.0)).fold(f64::NEG_INFINITY, f64::max);
    let shown: Vec<Grown<'_>> = all.into_iter().filter(|one| height(one.0) >= highest).collect();
    let phases = each_once(shown.iter().filter_map(|one| one.0.phase.as_deref()));
    let (first, _) = *shown.first()?;
    let name = |effect: &EffectFinding| {
        let (variant, phase) = (effect.to.variant.as_deref(), effect.phase.as_deref());
        match phases.as_slice() {
            [_] => variant.unwrap_or_default().to_string(),
            _ => task(variant.unwrap_or_default(), phase.unwrap_or_default()),
        }
    };
    let head = if phases.len() > 1 { "task" } else { "layout" };
    let mut table = Table::of_names(head, Align::Left, shown.iter().map(|one| name(one.0)));
    let sizes = shown.iter().map(|one| (one.1.operations_of_tenth, one.1.operations));
    let sizes: Vec<[String; 2]> =
        sizes.map(|(part, whole)| [grouped(part), grouped(whole)]).collect();
    let distinct = each_once(sizes.iter());
    let part = if let [[part, _]] = distinct.as_slice() { part.as_str() } else { "tenth" };
    for (which, ns) in [
        ("first", (|course| course.first_ns) as fn(&GrowthCourse) -> f64),
        ("second", |course| course.second_ns),
        ("last", |course| course.last_ns),
    ] {
        let cells = shown.iter().map(|one| time(Some(ns(one.1))));
        table.column_apart(&format!("{which} {part}"), cells);
    }
    if distinct.len() > 1 {
        let texts = sizes.iter().map(|[part, whole]| format!("{part} of {whole}"));
        table.column_apart("tenth", texts);
    }
    table.column_apart("x", shown.iter().map(|one| say::times(one.0.ratio)));
    table.column_apart("interval", shown.iter().map(|one| about_ratio(&one.0.stated())));
    table.column_apart("law", shown.iter().map(|one| law(one.0, one.1)));
    let mut caption = format!("mean time of one {}", phases.join(" or "));
    if let [[_, whole]] = distinct.as_slice() {
        caption += &format!(" of {whole}");
    }
    // Where as many operations are done as the level says, that is said already.
    let is_said = |level: &Level| shown.iter().all(|one| one.1.operations as f64 == level.value);
    if let Some(level) = first.to.level.as_ref().filter(|level| !is_said(level)) {
        caption += &format!(" at {} of {}", level.axis, level_value(level));
    }
    let is_synced =
        |row: &PhaseSummary| row.sync_seconds.is_some() && phases.contains(&&*row.phase);
    if analysis.summary().rows().any(is_synced) {
        caption += "; without sync";
    }
    caption += "; x: last over second, for the first is the start-up";
    Some(AnswerTable { tables: vec![table], captions: vec![caption], ..AnswerTable::default() })
}

fn law(effect: &EffectFinding, course: &GrowthCourse) -> String {
    match (effect.stated.decision, course.law) {
        (Decision::Open, _) => "?".into(),
        (_, Some(law)) => law.as_str().into(),
        (Decision::Shorter, None) => "falls".into(),
        (_, None) => "rises".into(),
    }
}

/// A row for each phase: its time at each level over that at the lowest, of several variants at the highest alone. None without
/// that.
fn change_table(analysis: &Analysis<'_>) -> Option<AnswerTable> {
    let all = analysis.effects().filter(|effect| effect.reading == Reading::Levels);
    let all: Vec<&EffectFinding> = all.filter(|effect| effect.phase.is_some()).collect();
    let first = all.first()?;
    let phases = each_once(all.iter().filter_map(|one| one.phase.as_deref()));
    let mut table = Table::of_names("phase", Align::Left, phases.iter().map(ToString::to_string));
    for variant in each_once(all.iter().filter_map(|one| one.to.variant.as_deref())) {
        let of = |phase: &&str| {
            all.iter().find(|one| {
                (one.to.variant.as_deref(), one.phase.as_deref()) == (Some(variant), Some(*phase))
            })
        };
        let stated: Vec<Option<ComparedRatio>> =
            phases.iter().map(|phase| of(phase).map(|one| one.stated())).collect();
        let cell = |of: &dyn Fn(&ComparedRatio) -> String| -> Vec<String> {
            stated.iter().map(|one| one.as_ref().map_or_else(|| "-".into(), of)).collect()
        };
        table.group(if variant == DEFAULT_VARIANT { "" } else { variant });
        table.column("x", cell(&|one| say::times(one.ratio)));
        table.column("interval", cell(&|one| about_ratio(one) + proven_mark(one)));
        let since = |phase: &&str| {
            let one = of(phase)?;
            let level = one.to.level.clone()?;
            Some(level_value(&Level { value: one.stated.since?, ..level }))
        };
        table.column("from", phases.iter().map(|phase| since(phase).unwrap_or_default()));
    }
    let captions = vec![about_change(analysis, first, &all, &phases)];
    Some(AnswerTable { tables: vec![table], captions, ..AnswerTable::default() })
}

/// Stands behind what is proven to take longer, or shorter.
const PROVEN: &str = " *";

fn proven_mark(one: &ComparedRatio) -> &'static str {
    if one.decision.is_difference() { PROVEN } else { "" }
}

fn about_change(
    analysis: &Analysis<'_>,
    first: &EffectFinding,
    all: &[&EffectFinding],
    phases: &[&str],
) -> String {
    let ends = each_once(all.iter().map(|one| (&one.from.level, &one.to.level)));
    let mut caption = match (ends.as_slice(), &first.from.level, &first.to.level) {
        ([_], Some(low), Some(high)) => {
            let (axis, low, high) = (&high.axis, level_value(low), level_value(high));
            format!("x: time at {axis} of {high} over the time at {low}")
        }
        _ => "x: time at the highest level over the time at the lowest".to_string(),
    };
    if all.iter().any(|one| one.stated.decision.is_difference()) {
        caption += "; * proven, and from which level on";
    }
    caption += &about_amounts(analysis, phases);
    caption += &about_constant(analysis, phases);
    caption
}

/// Which of these phases do as many operations at each level: a part of what they find there. Nothing where all do.
fn about_constant(analysis: &Analysis<'_>, phases: &[&str]) -> String {
    let number = |phase: &str| constant_operations(analysis.book, phase);
    let constant: Vec<_> =
        phases.iter().filter_map(|phase| Some((*phase, number(phase)?))).collect();
    if constant.len() == phases.len() {
        return String::new();
    }
    let part = |number: u64| {
        let own = constant.iter().filter(|one| one.1 == number).map(|one| one.0);
        format!("; {}: {} at each level", own.collect::<Vec<_>>().join(", "), grouped(number))
    };
    each_once(constant.iter().map(|one| one.1)).into_iter().map(part).collect()
}

/// What findings count in these phases where it is not operations; nothing where it is.
fn about_amounts(analysis: &Analysis<'_>, phases: &[&str]) -> String {
    let lists = |phase: &str| lists(analysis.book, phase);
    let in_bytes = |row: &PhaseSummary| row.rate_unit == Unit::Bytes && !lists(&row.phase);
    let bulk = analysis.summary().rows().filter(|row| in_bytes(row)).map(|row| &*row.phase);
    let bulk: Vec<&str> = each_once(bulk.filter(|phase| phases.contains(phase)));
    let mut about = String::new();
    if phases.iter().any(|phase| lists(phase)) {
        about += "; lists: time of an entry";
    }
    if !bulk.is_empty() {
        about += &format!("; {}: time of a byte", bulk.join(", "));
    }
    about
}
