//! Computes everything that follows from the results of a run, each part once, when it is first needed.
//! Reports write an analysis and compute nothing.

pub mod amplification;
pub mod answer;
pub mod audit;
pub mod change;
pub mod compare;
pub mod conditions;
pub(crate) mod course;
pub mod disk_use;
mod disturbances;
pub mod effects;
pub mod estimate;
pub mod finding;
pub mod findings;
pub mod history;
mod job_time;
pub mod latencies;
pub mod layout;
pub mod limit;
pub mod power;
pub mod ranks;
pub mod repetition;
pub mod statistics;
pub mod summary;
pub mod tails;
pub mod thresholds;
pub(crate) mod trials;
pub(crate) mod twins;
pub mod uncertainty;
pub mod warnings;

use std::cell::OnceCell;

use crate::plan::Conclusion;
use crate::results::book::{Book, Measurement};
use crate::results::order::variants;
use amplification::{PhaseAmplification, SpaceTaken, phase_amplifications, spaces_taken};
use answer::AnswerFinding;
use answer::compose::{answer, draft};
use answer::draft::AnswerDraft;
use conditions::{Conditions, conditions};
use disk_use::{DiskUse, disk_uses};
use disturbances::{DisturbanceAmounts, is_disturbed, is_io_of_others};
use finding::Finding;
use findings::slow_class::slow_classes;
use findings::{conclude, disk::disk};
use job_time::job_seconds;
use latencies::{Distribution, distributions};
use ranks::{RankRates, rank_rates};
use repetition::{
    VarianceComponents, imprecise_numbers, precision_is_of_answer, variance_components,
};
use summary::{Summary, summarize};
use warnings::warnings;

/// A book and what follows from it.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// What was measured.
    pub book: &'a Book,
    disturbed: OnceCell<DisturbanceAmounts>,
    summary: OnceCell<Summary>,
    conditions: OnceCell<Conditions>,
    distributions: OnceCell<Vec<Distribution>>,
    spaces_taken: OnceCell<Vec<SpaceTaken>>,
    phase_amplifications: OnceCell<Vec<PhaseAmplification>>,
    disk_uses: OnceCell<Vec<DiskUse>>,
    variance: OnceCell<Vec<VarianceComponents>>,
    rank_rates: OnceCell<Vec<RankRates>>,
    concluded: OnceCell<Vec<Finding>>,
    draft: OnceCell<AnswerDraft>,
    findings: OnceCell<Vec<Finding>>,
}

impl<'a> Analysis<'a> {
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
            variance: OnceCell::new(),
            rank_rates: OnceCell::new(),
            concluded: OnceCell::new(),
            draft: OnceCell::new(),
            findings: OnceCell::new(),
        }
    }

    /// How much each kind of disturbance was in each measurement.
    fn disturbance_amounts(&self) -> &DisturbanceAmounts {
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

    /// The variance of each phase by its source.
    pub fn variance(&self) -> &[VarianceComponents] {
        self.variance.get_or_init(|| variance_components(self.book.measurements.iter()))
    }

    /// How fast the ranks were in each phase; nothing for a run of one process.
    pub fn rank_rates(&self) -> &[RankRates] {
        self.rank_rates.get_or_init(|| rank_rates(self.book))
    }

    /// What is concluded: the answer, the findings that the job wants, what the disk did in the phases that
    /// it limits, then the warnings. Of published figures nothing is concluded.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            if self.book.run.reference.is_some() {
                return Vec::new();
            }
            let mut all = self.concluded().to_vec();
            let warned = warnings(self, &all);
            all.extend(warned.into_iter().map(Finding::Warning));
            let answer = answer(self, &all).map(Finding::Answer);
            answer.into_iter().chain(all).collect()
        })
    }

    /// The findings without the answer and the warnings.
    fn concluded(&self) -> &[Finding] {
        self.concluded.get_or_init(|| {
            let run = &self.book.run;
            let mut all = conclude(self.book, &run.conclude, &variants(self.book));
            all.extend(slow_classes(self.book).into_iter().map(Finding::SlowClass));
            all.extend(disk(self.disk_uses()).into_iter().map(Finding::Disk));
            all
        })
    }

    /// What the measurements so far say together, before it is known how far to trust it.
    fn draft(&self) -> &AnswerDraft {
        self.draft.get_or_init(|| draft(self, self.concluded()))
    }

    /// The kind of the findings that the answer is made of; none where it is made of rates.
    pub(crate) fn answered_by(&self) -> Option<Conclusion> {
        self.draft().kind
    }

    /// What the run answers to its question; none where nothing was measured, and of published figures.
    pub fn answer(&self) -> Option<&AnswerFinding> {
        match self.findings().first() {
            Some(Finding::Answer(answer)) => Some(answer),
            _ => None,
        }
    }

    /// What the disk did in the phase whose operations seek most; none where nothing was found of it.
    pub fn most_seeks(&self) -> Option<&Finding> {
        let seeks = |one: &Finding| match one {
            Finding::Disk(found) => Some(found.seeks_per_operation()),
            _ => None,
        };
        let disks = self.findings().iter().filter_map(|one| Some((one, seeks(one)?)));
        disks.max_by(|one, other| one.1.total_cmp(&other.1)).map(|most| most.0)
    }

    /// The precision that was requested, if all that was to be precise reached it.
    pub fn precision_reached(&self) -> Option<f64> {
        let measured = self.book.run.complete && !self.book.measurements.is_empty();
        let reached = imprecise_numbers(self).is_some_and(|numbers| numbers.is_empty());
        self.book.run.precision.filter(|_| measured && reached)
    }

    /// Whether the precision that is requested is that of the figures of the answer, not of every rate.
    pub fn precision_is_of_answer(&self) -> bool {
        precision_is_of_answer(self)
    }

    /// How long a variant took for the whole job, in seconds; none where that is not known.
    pub fn job_seconds(&self, variant: &str) -> Option<f64> {
        job_seconds(self.book, variant)
    }
}
