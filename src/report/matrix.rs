//! The phases of a run with an axis: levels against variants, or against phases where there is
//! one variant.

use std::io::{self, Write};

use super::grid::{Grid, Group};
use super::names::level_value;
use super::phases::{ABOUT_DEVIATION, about_interval, about_mark};
use super::table::Align;
use super::text::{number, short_seconds, uncertainty, write_wrapped};
use crate::base::units::{Unit, byte_step, counted};
use crate::measure::book::Level;
use crate::measure::summary::{PhaseSummary, Summary};
use crate::plan::DEFAULT_VARIANT;

/// The rows of a summary by level.
struct Matrix<'a> {
    summary: &'a Summary,
    levels: Vec<&'a Level>,
    variants: Vec<&'a str>,
}

/// Figures of a phase.
#[derive(Clone, Copy, PartialEq)]
enum Figures {
    Rates,
    Seconds,
    Both,
}

/// A grid for each phase with rates and seconds, the variants side by side; each with a title.
pub(super) fn phase_grids(summary: &Summary) -> Vec<(String, Grid)> {
    let matrix = Matrix { summary, levels: summary.levels(), variants: summary.variants() };
    let alone = matrix.variants.as_slice() == [DEFAULT_VARIANT];
    let grid = |phase: &str| {
        let mut grid = matrix.grid();
        for variant in &matrix.variants {
            let title = if alone { "" } else { variant };
            grid.add(matrix.group(title, variant, phase, Figures::Both));
        }
        grid
    };
    let title =
        |phase: &str| format!("{phase}, by {}; caches: {}", matrix.axis(), matrix.caches(&[phase]));
    summary.phases().into_iter().map(|phase| (title(phase), grid(phase))).collect()
}

/// Writes all phases. Fails only if `out` does.
pub(super) fn write_matrices(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let matrix = Matrix { summary, levels: summary.levels(), variants: summary.variants() };
    let mut seconds = false;
    match matrix.variants.as_slice() {
        [variant] => seconds = matrix.write_phases(variant, out)?,
        _ => {
            for phase in summary.phases() {
                seconds |= matrix.write_variants(phase, out)?;
                writeln!(out)?;
            }
        }
    }
    matrix.write_legend(seconds, out)
}

impl<'a> Matrix<'a> {
    fn axis(&self) -> &'a str {
        self.levels.first().map_or("", |level| &level.axis)
    }

    fn grid(&self) -> Grid {
        Grid::new(
            self.axis(),
            self.levels.iter().map(|level| level_value(level)).collect(),
            Align::Right,
        )
    }

    /// One variant: a group of columns for each phase. Gives whether seconds are among them.
    fn write_phases(&self, variant: &str, out: &mut dyn Write) -> io::Result<bool> {
        if variant != DEFAULT_VARIANT {
            write_wrapped("", &format!("{variant}:"), out)?;
        }
        let phases = self.summary.phases();
        let grid = |figures| {
            let mut grid = self.grid();
            phases.iter().for_each(|phase| grid.add(self.group(phase, variant, phase, figures)));
            grid
        };
        let seconds = self.has_spread();
        let (rates, durations) = (grid(Figures::Rates), grid(Figures::Seconds));
        let both = grid(Figures::Both);
        if !seconds || both.height() <= rates.height() + durations.height() {
            both.write(out)?;
        } else {
            rates.write(out)?;
            writeln!(out)?;
            durations.write(out)?;
        }
        writeln!(out)?;
        write_wrapped("", &format!("caches: {}", self.caches(&phases)), out)?;
        Ok(seconds)
    }

    fn has_spread(&self) -> bool {
        self.summary.rows().any(|row| row.deviation.is_some())
    }

    /// What was found of the caches: once, if it was the same in all phases.
    fn caches(&self, phases: &[&str]) -> String {
        let cache = |phase: &&str| found(self.summary.cache(phase));
        let first = phases.first().map(cache).unwrap_or_default();
        if phases.iter().all(|phase| cache(phase) == first) {
            return first;
        }
        let named = phases.iter().map(|phase| format!("{phase} {}", cache(phase)));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Several variants: a group of columns for each. They are compared, so they stand side by
    /// side if the seconds have to go for it. Gives whether they stayed.
    fn write_variants(&self, phase: &str, out: &mut dyn Write) -> io::Result<bool> {
        let caches = self.caches(&[phase]);
        write_wrapped("", &format!("{phase}, by {}; caches: {caches}", self.axis()), out)?;
        let grid = |figures| {
            let mut grid = self.grid();
            for variant in &self.variants {
                grid.add(self.group(variant, variant, phase, figures));
            }
            grid
        };
        let both = grid(Figures::Both);
        if both.height() == 1 {
            both.write(out)?;
            return Ok(self.has_spread());
        }
        grid(Figures::Rates).write(out)?;
        Ok(false)
    }

    /// The figures of a phase of a variant, level by level.
    fn group(&self, title: &str, variant: &str, phase: &str, figures: Figures) -> Group {
        let rows = self.levels.iter().map(|level| self.summary.row(variant, level, phase));
        let rows: Vec<Option<&PhaseSummary>> = rows.collect();
        let cells = |text: &dyn Fn(&PhaseSummary) -> String| -> Vec<String> {
            rows.iter().map(|row| row.map_or_else(|| "-".into(), text)).collect()
        };
        let (unit, size) = self.rate_step(phase);
        let spread =
            |row: &PhaseSummary| row.rate.map_or_else(String::new, |r| uncertainty(r.relative()));
        let synced = |row: &PhaseSummary| {
            row.rate_with_sync.map_or_else(|| "-".into(), |r| number(r.mean / size, r.figures))
        };
        let mut group = Group::new(title);
        if figures != Figures::Seconds {
            group = group.column(&unit, cells(&|row| rate(row, size)));
            group = group.column("±", cells(&spread));
            if self.rows(phase).any(|row| row.rate_with_sync.is_some()) {
                group = group.column("synced", cells(&synced));
            }
        }
        if figures != Figures::Rates && self.has_spread() {
            group = group.column("seconds", cells(&|row| short_seconds(row.seconds)));
            let deviation =
                |row: &PhaseSummary| row.deviation.map_or_else(|| "-".into(), deviation);
            group = group.column("CV", cells(&deviation));
        }
        group
    }

    fn rows(&self, phase: &str) -> impl Iterator<Item = &'a PhaseSummary> {
        self.summary.rows().filter(move |row| row.phase == phase)
    }

    /// The unit of all rates of a phase, and what is one of it.
    fn rate_step(&self, phase: &str) -> (String, f64) {
        if self.rows(phase).all(|row| row.rate_unit == Unit::Count) {
            return ("ops/s".into(), 1.0);
        }
        let rates = self.rows(phase).filter_map(|row| row.rate).map(|rate| rate.mean);
        let (size, word) = byte_step(rates.fold(f64::INFINITY, f64::min));
        (format!("{word}/s"), size)
    }

    fn write_legend(&self, seconds: bool, out: &mut dyn Write) -> io::Result<()> {
        write_wrapped("", about_interval(self.summary), out)?;
        write_wrapped("", about_mark(self.summary), out)?;
        if self.summary.rows().any(|row| row.rate_with_sync.is_some()) {
            write_wrapped("", "synced is the rate with the time of the sync", out)?;
        }
        match (self.has_spread(), seconds) {
            (false, _) => {}
            (true, true) => write_wrapped("", ABOUT_DEVIATION, out)?,
            (true, false) => write_wrapped("", "seconds and their spread: see --details", out)?,
        }
        match self.summary.invalid() {
            0 => Ok(()),
            1 => write_wrapped("", "1 measurement is invalid and left out; see --details", out),
            many => {
                let text = format!(
                    "{} are invalid and left out; see --details",
                    counted(many, "measurement")
                );
                write_wrapped("", &text, out)
            }
        }
    }
}

fn found(cache: String) -> String {
    if cache.is_empty() { "-".into() } else { cache }
}

fn rate(row: &PhaseSummary, size: f64) -> String {
    match row.rate {
        // In front, so that digits stay below each other.
        Some(rate) => {
            format!("{}{}", mark(row.disturbed > 0), number(rate.mean / size, rate.figures))
        }
        None if row.invalid.is_empty() => "-".into(),
        None => "invalid".into(),
    }
}

/// The mark of a rate that was measured under background load.
pub(super) fn mark(disturbed: bool) -> &'static str {
    if disturbed { "*" } else { "" }
}

/// A share of the mean, to hundredths: `0.15`.
pub(super) fn deviation(share: f64) -> String {
    if share < 1000.0 { format!("{share:.2}") } else { number(share, 2) }
}
