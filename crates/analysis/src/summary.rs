//! Summarises a run in one row for each phase, which reports print. Every figure carries its n and its
//! interval; invalid measurements stand apart and are never averaged in.

use super::disturbances::is_disturbed;
use super::effects::rates::rates;
use super::limit::Limit;
use super::tails::{LatencySummary, tail};
use super::uncertainty::{
    Estimate, coefficient_of_variation, independent, log_rates, mean_if_any, rate_estimate,
};
use boatload_base::distinct::{counter, each_once};
use boatload_base::units::Unit;
use boatload_plan::DEFAULT_VARIANT;
use boatload_plan::mix::mix_of;
use boatload_results::book::{Book, Level, Measurement, SETTLE};
use boatload_results::content::{bulk_phases, writes_less};
use boatload_results::order::{PhaseCell, level_position, phase_cells, variants};

/// A run by variant and level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Variants in the job file's order; levels as they were measured.
    pub groups: Vec<VariantSummary>,
}

/// The results of one variant at one level, over all its repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariantSummary {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// One for each phase, in the order they were measured.
    pub rows: Vec<PhaseSummary>,
}

/// The results of one phase over all its repeats and passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseSummary {
    /// The phase's name.
    pub phase: String,
    /// Whether the run is about it: not a part of a mix whose works take turns, and no other phase beside a mix.
    pub leads: bool,
    /// What is done each second with the sync, in `rate_unit`; none without a valid
    /// measurement.
    pub rate: Option<Estimate>,
    /// What the rate counts: operations, or bytes in a phase whose operations each move much. All
    /// rows of a phase have the same.
    pub rate_unit: Unit,
    /// Mean duration without the sync, in seconds; none without a valid measurement.
    pub seconds: Option<f64>,
    /// Normalised population standard deviation of the seconds over what the rate is averaged
    /// from; none for fewer than two.
    pub deviation: Option<f64>,
    /// Mean duration of the sync, in seconds; `None` if nothing was synced.
    pub sync_seconds: Option<f64>,
    /// Latencies of all operations of the valid measurements; `None` if there are none.
    pub tail: Option<LatencySummary>,
    /// What was found of the caches: one word if all valid measurements agree, else `mixed`.
    pub cache: String,
    /// What limited the valid measurements; `None` if that is not known.
    pub limit: Option<Limit>,
    /// How many of the valid measurements were made under background load; a warning says more.
    pub disturbed: u64,
    /// Of how many of them the device wrote less content than they did.
    pub unwritten: u64,
    /// The measurements that are not averaged in.
    pub invalid: Vec<InvalidMeasurement>,
}

impl PhaseSummary {
    /// Whether it is of what was still written until file systems were unmounted: a time, no rate.
    pub fn is_settle(&self) -> bool {
        self.phase == SETTLE
    }

    /// Whether it has a rate that the run is about.
    pub fn has_own_rate(&self) -> bool {
        !self.is_settle() && self.leads && self.rate.is_some()
    }
}

/// A measurement that is not averaged in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InvalidMeasurement {
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Its pass, from 1.
    pub pass: u32,
    /// Why.
    pub reasons: Vec<String>,
}

impl Summary {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &PhaseSummary> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// Names of the variants, in the job file's order.
    pub fn variants(&self) -> Vec<&str> {
        each_once(self.groups.iter().map(|group| group.variant.as_str()))
    }

    /// Whether variants have names that say something: there are several, or one that was named.
    pub fn has_variants(&self) -> bool {
        self.groups.iter().any(|group| group.variant != DEFAULT_VARIANT)
    }

    /// The levels, in the job file's order; empty without an axis.
    pub fn levels(&self) -> Vec<&Level> {
        each_once(self.groups.iter().filter_map(|group| group.level.as_ref()))
    }

    /// Names of the phases, in the order they were measured.
    pub fn phases(&self) -> Vec<&str> {
        each_once(self.rows().map(|row| row.phase.as_str()))
    }

    /// Names of the phases that have a rate, in the same order.
    pub fn rated_phases(&self) -> Vec<&str> {
        self.phases().into_iter().filter(|phase| *phase != SETTLE).collect()
    }

    /// The row of a phase of a variant at a level, or without one; `None` if it was not measured.
    pub fn row(&self, variant: &str, level: Option<&Level>, phase: &str) -> Option<&PhaseSummary> {
        let here = |g: &&VariantSummary| g.variant == variant && g.level.as_ref() == level;
        self.groups.iter().find(here)?.rows.iter().find(|row| row.phase == phase)
    }

    /// What was found of the caches in all rows of a phase: one word if they agree, else `mixed`;
    /// empty if nothing of it is valid.
    pub fn cache(&self, phase: &str) -> String {
        let measured = self.rows().filter(|row| row.phase == phase && row.rate.is_some());
        agreed(measured.map(|row| row.cache.as_str()))
    }

    /// The number of measurements that are not averaged in.
    pub fn invalid(&self) -> u64 {
        self.rows().map(|row| row.invalid.len() as u64).sum()
    }
}

/// The summary of a book.
pub(crate) fn summarize(book: &Book) -> Summary {
    let order = variants(book);
    let mut cells = phase_cells(book.measurements.iter());
    // Variants and levels were measured in a random order.
    cells.sort_by_key(|cell| {
        let variant = order.iter().position(|name| *name == cell.variant);
        (variant, level_position(book, cell.level))
    });
    let bulk = bulk_phases(book.measurements.iter());
    let unit = |cell: &PhaseCell<'_>| match bulk.contains(cell.phase) {
        true => Unit::Bytes,
        false => Unit::Count,
    };
    let mut rows: Vec<_> = cells.iter().map(|cell| row(book, cell, unit(cell))).collect();
    moderate_rates(&mut rows, &cells);
    let mut groups: Vec<VariantSummary> = Vec::new();
    for (PhaseCell { variant, level, .. }, row) in cells.into_iter().zip(rows) {
        let new =
            || VariantSummary { variant: variant.into(), level: level.cloned(), rows: Vec::new() };
        let is_it =
            |group: &VariantSummary| (&*group.variant, group.level.as_ref()) == (variant, level);
        counter(&mut groups, is_it, new).rows.push(row);
    }
    Summary { groups }
}

/// Whether a run is about a measurement: where there is a mix, about it and no other phase; where its works have
/// workers of their own, about the first of them, since the whole is made of another part of each where one is slower.
pub(crate) fn leads(book: &Book, m: &Measurement) -> bool {
    let mut mixes = book.measurements.iter().filter(|m| m.is_mix()).peekable();
    if mixes.peek().is_none() {
        return true;
    }
    let mix = mix_of(&m.phase).unwrap_or(&m.phase);
    let Some(whole) = mixes.find(|other| other.phase == mix) else { return false };
    let is_of = |part: &&Measurement| part.part_of.as_ref() == Some(&whole.phase);
    let first = book.measurements.iter().find(is_of);
    let leading = first.filter(|part| part.threads != whole.threads).unwrap_or(whole);
    m.phase == leading.phase
}

/// Gives rates of several repeats their intervals: each by the variance of its own repeats, drawn towards what the
/// variances of the others predict.
fn moderate_rates(rows: &mut [PhaseSummary], cells: &[PhaseCell<'_>]) {
    let phases = each_once(cells.iter().map(|cell| cell.phase));
    let (mut repeated, mut values, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (row, cell) in rows.iter_mut().zip(cells) {
        let valid: Vec<_> = cell.measurements.iter().copied().filter(|m| m.valid()).collect();
        let logs = log_rates(&valid, row.rate_unit, Measurement::durable_seconds);
        if let (Some(rate), Some(logs)) = (row.rate.as_mut(), logs) {
            repeated.push(rate);
            values.push(logs);
            places.push(phases.iter().position(|phase| *phase == cell.phase).unwrap_or_default());
        }
    }
    for (rate, contrast) in repeated.into_iter().zip(rates(&values, &places)) {
        *rate = rate.with_interval_of(&contrast);
    }
}

fn row(book: &Book, cell: &PhaseCell<'_>, rate_unit: Unit) -> PhaseSummary {
    let (valid, invalid): (Vec<&Measurement>, Vec<&Measurement>) =
        cell.measurements.iter().partition(|m| m.valid());
    let sync_seconds =
        mean_if_any(valid.iter().map(|m| m.sync_seconds.unwrap_or(f64::NAN))).filter(|s| *s > 0.0);
    // How the time of the sync varies a single measurement does not show.
    let own_error =
        valid.first().and_then(|only| only.rate_error).filter(|_| sync_seconds.is_none());
    let reasons = |m: &Measurement| InvalidMeasurement {
        repeat: m.cell.repeat,
        pass: m.pass,
        reasons: m.invalid_sentences(),
    };
    PhaseSummary {
        phase: cell.phase.into(),
        leads: cell.measurements.first().is_none_or(|first| leads(book, first)),
        rate: rate_estimate(&valid, rate_unit, Measurement::durable_seconds, own_error),
        rate_unit,
        seconds: mean_if_any(valid.iter().map(|m| m.seconds.unwrap_or(f64::NAN)))
            .filter(|s| *s > 0.0),
        deviation: coefficient_of_variation(
            &independent(&valid, |m| m.seconds.unwrap_or(f64::NAN)).0,
        ),
        sync_seconds,
        tail: tail(&valid),
        cache: cache(&valid),
        limit: Limit::of_measurements(&valid, book.host.cpus),
        disturbed: valid.iter().filter(|m| is_disturbed(book, m)).count() as u64,
        unwritten: valid.iter().filter(|m| writes_less(m)).count() as u64,
        invalid: invalid.into_iter().map(reasons).collect(),
    }
}

fn cache(valid: &[&Measurement]) -> String {
    if !valid.is_empty() && valid.iter().all(|m| m.is_settle()) {
        return "-".into();
    }
    agreed(valid.iter().map(|m| m.cache.found.as_str()))
}

/// The word if all are the same, else `mixed`; empty if there is none.
fn agreed<'a>(mut words: impl Iterator<Item = &'a str>) -> String {
    let first = words.next().unwrap_or_default();
    if words.all(|word| word == first) { first.into() } else { "mixed".into() }
}

#[cfg(test)]
mod tests;
