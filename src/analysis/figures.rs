//! Computes what follows from the results of a run before anything is answered, each part once, when it is first needed.

use std::cell::OnceCell;

use super::amplification::{PhaseAmplification, SpaceTaken, phase_amplifications, spaces_taken};
use super::conditions::{Conditions, conditions};
use super::disk_use::{DiskUse, disk_uses};
use super::disturbances::{DisturbanceAmounts, is_disturbed, is_io_of_others};
use super::effect::{EffectFinding, Reading};
use super::effects::decide::ALPHA;
use super::finding::Finding;
use super::findings::disk::disk;
use super::findings::slow_class::slow_classes;
use super::findings::source::{destination, lower_cache, source};
use super::latencies::{Distribution, distributions};
use super::observations::Observations;
use super::ranked::{PlacedEffect, RankedVariants, ranked};
use super::ranks::{RankRates, rank_rates};
use super::readings::effects_of;
use super::readings::reading::RunView;
use super::summary::{Summary, summarize};
use crate::plan::Conclusion;
use crate::results::book::{Book, Measurement};
use crate::results::order::variants;

/// A book and what follows from it, but for its answer and its warnings.
#[derive(Debug)]
pub struct RunFigures<'a> {
    /// What was measured.
    pub book: &'a Book,
    disturbed: OnceCell<DisturbanceAmounts>,
    summary: OnceCell<Summary>,
    conditions: OnceCell<Conditions>,
    distributions: OnceCell<Vec<Distribution>>,
    spaces_taken: OnceCell<Vec<SpaceTaken>>,
    phase_amplifications: OnceCell<Vec<PhaseAmplification>>,
    disk_uses: OnceCell<Vec<DiskUse>>,
    rank_rates: OnceCell<Vec<RankRates>>,
    concluded: OnceCell<Vec<Finding>>,
    ranked: OnceCell<Vec<RankedVariants>>,
}

impl<'a> RunFigures<'a> {
    /// Of this book. Nothing is computed yet.
    pub fn of(book: &'a Book) -> Self {
        Self {
            book,
            disturbed: OnceCell::new(),
            summary: OnceCell::new(),
            conditions: OnceCell::new(),
            distributions: OnceCell::new(),
            spaces_taken: OnceCell::new(),
            phase_amplifications: OnceCell::new(),
            disk_uses: OnceCell::new(),
            rank_rates: OnceCell::new(),
            concluded: OnceCell::new(),
            ranked: OnceCell::new(),
        }
    }

    /// How much each kind of disturbance was in each measurement.
    pub(in crate::analysis) fn disturbance_amounts(&self) -> &DisturbanceAmounts {
        self.disturbed.get_or_init(|| DisturbanceAmounts::new(self.book))
    }

    /// Whether this measurement of the book was made under background load, or disturbed from outside
    /// in another way.
    pub fn disturbed(&self, m: &Measurement) -> bool {
        is_disturbed(self.book, m)
    }

    /// One row for each phase of each variant at each level.
    pub fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| summarize(self.book))
    }

    /// The conditions at each level.
    pub fn conditions(&self) -> &Conditions {
        self.conditions.get_or_init(|| conditions(self.book))
    }

    /// The distribution of latencies of each row of the summary whose latencies were kept.
    pub fn distributions(&self) -> &[Distribution] {
        self.distributions.get_or_init(|| distributions(self.book, self.summary()))
    }

    /// The space that each variant took for each file.
    pub fn spaces_taken(&self) -> &[SpaceTaken] {
        self.spaces_taken.get_or_init(|| spaces_taken(self.book))
    }

    /// The amplification of each phase of each variant.
    pub fn phase_amplifications(&self) -> &[PhaseAmplification] {
        self.phase_amplifications.get_or_init(|| phase_amplifications(self.book))
    }

    /// What the disk did in each phase of each variant, where its requests were watched.
    pub fn disk_uses(&self) -> &[DiskUse] {
        let is_shared = |m: &Measurement| is_io_of_others(self.book, m);
        self.disk_uses.get_or_init(|| disk_uses(self.book, &is_shared))
    }

    /// How fast the ranks were in each phase; nothing for a run of one process.
    pub fn rank_rates(&self) -> &[RankRates] {
        self.rank_rates.get_or_init(|| rank_rates(self.book))
    }

    /// The findings without the answer and the warnings.
    pub(in crate::analysis) fn concluded(&self) -> &[Finding] {
        self.concluded.get_or_init(|| {
            let run = &self.book.run;
            let mut all = conclude(self.book, &run.conclude, alpha(self.book));
            all.extend(slow_classes(self.book).into_iter().map(Finding::SlowClass));
            all.extend(disk(self.disk_uses()).into_iter().map(Finding::Disk));
            all
        })
    }

    /// The orders of the variants that the job asks for: of the whole job first, then of each phase, at each level.
    pub fn ranked(&self) -> &[RankedVariants] {
        let is_wanted =
            |kind: &Conclusion| matches!(kind, Conclusion::Ranking | Conclusion::Crossing);
        self.ranked.get_or_init(|| match self.book.run.conclude.iter().any(is_wanted) {
            true => ranked(self.book, &self.placed_effects()),
            false => Vec::new(),
        })
    }

    /// What a reading sees of the run.
    pub(in crate::analysis) fn view(&self) -> RunView<'_> {
        RunView {
            book: self.book,
            summary: self.summary(),
            effects: self.placed_effects(),
            orders: self.ranked(),
        }
    }

    fn placed_effects(&self) -> Vec<PlacedEffect<'_>> {
        let all =
            self.concluded().iter().enumerate().filter_map(|(place, finding)| match finding {
                Finding::Effect(effect) => Some(PlacedEffect { place, effect }),
                _ => None,
            });
        all.collect()
    }

    /// The effects that the job asks for.
    pub fn effects(&self) -> impl Iterator<Item = &EffectFinding> {
        self.concluded().iter().filter_map(|finding| match finding {
            Finding::Effect(effect) => Some(&**effect),
            _ => None,
        })
    }

    /// What is concluded, in sentences: pairs of variants by their orders, the disk by the phase whose operations seek most.
    pub fn statements(&self) -> Vec<String> {
        let mut orders = Some(self.ranked().iter().map(RankedVariants::sentence));
        let of_disk = self.most_seeks();
        let mut all = Vec::new();
        for finding in self.concluded() {
            match finding {
                Finding::Effect(effect) if effect.reading == Reading::Ranking => {
                    all.extend(orders.take().into_iter().flatten());
                }
                Finding::Disk(_) if Some(finding) != of_disk => {}
                other => all.push(other.sentence()),
            }
        }
        all
    }

    /// What the disk did in the phase whose operations seek most; `None` without a finding on the disk.
    pub fn most_seeks(&self) -> Option<&Finding> {
        let seeks = |one: &Finding| match one {
            Finding::Disk(found) => Some(found.seeks_per_operation()),
            _ => None,
        };
        let disks = self.concluded().iter().filter_map(|one| Some((one, seeks(one)?)));
        disks.max_by(|one, other| one.1.total_cmp(&other.1)).map(|most| most.0)
    }

    /// How long a variant took for the whole job, in seconds, the geometric mean of its whole repeats; none where that is not
    /// known, and where there are levels.
    pub fn job_seconds(&self, variant: &str) -> Option<f64> {
        let jobs = Observations::new(self.book, &variants(self.book)).jobs();
        let [job] = jobs.as_slice() else { return None };
        let row = job.rows.iter().find(|row| row.variant == variant);
        row.filter(|_| job.level.is_none()).map(|row| row.mean().exp())
    }
}

/// The chance of an error that each family of claims of a run may have: that of its last look, where it looked at its answer.
pub(in crate::analysis) fn alpha(book: &Book) -> f64 {
    book.run.stopping.last_alpha().unwrap_or(ALPHA)
}

/// What these conclusions are of a run, in this order; each family of effects is decided at this alpha.
pub(in crate::analysis) fn conclude(
    book: &Book,
    wanted: &[Conclusion],
    alpha: f64,
) -> Vec<Finding> {
    let observations = Observations::new(book, &variants(book));
    let effects = effects_of(wanted, &observations, alpha).into_iter();
    let mut all: Vec<Finding> = effects.map(|effect| Finding::Effect(Box::new(effect))).collect();
    if wanted.contains(&Conclusion::Source) {
        all.extend(source(book).into_iter().map(Finding::Source));
        all.extend(destination(book).into_iter().map(Finding::Destination));
        all.extend(lower_cache(book).into_iter().map(Finding::LowerCache));
    }
    all
}
