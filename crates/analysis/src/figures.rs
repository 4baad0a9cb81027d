//! Computes what follows from the results of a run before anything is answered, each part once, when it is first needed.

use std::cell::OnceCell;

use super::amplification::{PhaseAmplification, SpaceTaken, phase_amplifications, spaces_taken};
use super::conditions::{Conditions, conditions};
use super::disturbances::is_disturbed;
use super::effect_finding::EffectFinding;
use super::effects::decide::ALPHA;
use super::finding::Finding;
use super::findings::bytes_moved::{destination, lower_cache, source};
use super::findings::disk::disk;
use super::latencies::{Distribution, distributions};
use super::observations::Observations;
use super::ranks::{RankRates, rank_rates};
use super::readings::effects_of;
use super::readings::reading::RunView;
use super::summary::{Summary, summarize};
use super::variant_order::{PlacedEffect, RankedVariants, ranked};
use boatload_plan::Conclusion;
use boatload_results::book::{Book, Measurement};
use boatload_results::order::variants;

/// Figures, each computed once, when it is first needed: its name, its type, and how it is made of the others.
macro_rules! figures {
    ($($(#[$about:meta])* $visibility:vis fn $name:ident($own:ident) -> $figure:ty $made:block)*) => {
        /// A book and what follows from it, but for its answer and its warnings.
        #[derive(Debug)]
        pub struct RunFigures<'a> {
            /// What was measured.
            pub book: &'a Book,
            $($name: OnceCell<$figure>,)*
        }

        impl<'a> RunFigures<'a> {
            /// Of this book. Nothing is computed yet.
            pub fn of(book: &'a Book) -> Self {
                Self { book, $($name: OnceCell::new(),)* }
            }

            $($(#[$about])* $visibility fn $name(&self) -> &$figure {
                let $own = self;
                self.$name.get_or_init(|| $made)
            })*
        }
    };
}

figures! {
    /// One row for each phase of each variant at each level.
    pub fn summary(run) -> Summary { summarize(run.book) }

    /// The conditions at each level.
    pub fn conditions(run) -> Conditions { conditions(run.book) }

    /// The distribution of latencies of each row of the summary whose latencies were kept.
    pub fn distributions(run) -> Vec<Distribution> { distributions(run.book, run.summary()) }

    /// The space that each variant took for each file.
    pub fn spaces_taken(run) -> Vec<SpaceTaken> { spaces_taken(run.book) }

    /// The amplification of each phase of each variant.
    pub fn phase_amplifications(run) -> Vec<PhaseAmplification> { phase_amplifications(run.book) }

    /// How fast the ranks were in each phase; nothing for a run of one process.
    pub fn rank_rates(run) -> Vec<RankRates> { rank_rates(run.book) }

    /// The findings without the answer and the warnings.
    pub fn concluded(run) -> Vec<Finding> {
        let mut all = conclude(run.book, &run.book.run.conclude, alpha(run.book));
        all.extend(disk(run.book).into_iter().map(Finding::Disk));
        all
    }

    /// The orders of the variants that the job asks for: of the whole job first, then of each phase, at each level.
    pub fn ranked(run) -> Vec<RankedVariants> {
        match run.book.run.conclude.iter().any(|one| matches!(one, Conclusion::Ranking | Conclusion::Crossing)) {
            true => ranked(run.book, &run.placed_effects()),
            false => Vec::new(),
        }
    }
}

impl RunFigures<'_> {
    /// Whether this measurement of the book was made under background load, or disturbed from outside
    /// in another way.
    pub fn disturbed(&self, m: &Measurement) -> bool {
        is_disturbed(self.book, m)
    }

    /// What a reading sees of the run.
    pub fn view(&self) -> RunView<'_> {
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
        self.placed_effects().into_iter().map(|one| one.effect)
    }

    /// What is concluded, in sentences: pairs of variants by their orders, the disk by the phase whose operations seek most.
    pub fn statements(&self) -> Vec<String> {
        let mut orders = Some(self.ranked().iter().map(RankedVariants::sentence));
        let of_disk = self.most_seeks();
        let mut all = Vec::new();
        for finding in self.concluded() {
            match finding {
                Finding::Effect(effect) if effect.reading == Conclusion::Ranking => {
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
}

/// The chance of an error that each family of claims of a run may have: the alpha of its last look, where it looked at its answer.
pub fn alpha(book: &Book) -> f64 {
    book.run.stopping.last_alpha().unwrap_or(ALPHA)
}

/// What these conclusions are of a run, in this order; each family of effects is decided at this alpha.
pub fn conclude(book: &Book, wanted: &[Conclusion], alpha: f64) -> Vec<Finding> {
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
