//! Computes how fragmented a tree is from a sample of its files, with intervals from the sampling.

use super::statistics::describe::mean;
use super::statistics::distributions::student_t;
use super::statistics::{Interval, share_interval};
use super::thresholds::INTERVAL_ALPHA;
use crate::host::layout::{LayoutSample, SampledFile};

/// Files up to this size are small.
pub const SMALL_BYTES: u64 = 16 << 10;

/// A share with its 95% interval: `None` where all was seen, or where the sample is too small for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledShare {
    /// From 0 to 1.
    pub value: f64,
    /// From the sampling alone.
    pub interval: Option<Interval>,
}

/// Entries of the directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectorySizes {
    /// Half have at most so many.
    pub p50: u64,
    /// 9 of 10 have at most so many.
    pub p90: u64,
    /// The largest.
    pub max: u64,
}

/// What a sample says of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutSurvey {
    /// Files of the sample.
    pub files: u64,
    /// The share of those with blocks of their own that lie in one piece.
    pub one_piece: Option<SampledShare>,
    /// Pieces of a file with blocks, on average.
    pub pieces_mean: Option<f64>,
    /// The most pieces of a file in the sample.
    pub pieces_max: u64,
    /// The share of blocks that lie right after the block before.
    pub score: Option<SampledShare>,
    /// None without a directory.
    pub directories: Option<DirectorySizes>,
    /// The share of files that are small.
    pub small: Option<SampledShare>,
    /// Files of the sample that take less than their size: sparse, compressed, or not yet written.
    pub sparse: u64,
    /// Files of the sample that could not be opened or asked.
    pub unreadable: u64,
    /// Files of the sample that are not placed yet.
    pub delayed: u64,
    /// Files of the sample among metadata, or without data.
    pub without_blocks: u64,
}

/// A figure of a file as a part of another one.
#[derive(Clone, Copy)]
struct RatioTerm {
    part: f64,
    whole: f64,
}

/// The file's pieces on the device; none without blocks of its own, or where it is not placed or not told.
fn pieces(file: &SampledFile) -> Option<u64> {
    let layout = file.layout.filter(|layout| !layout.delayed && layout.extents > 0)?;
    Some(1 + layout.pairs.saturating_sub(layout.followed))
}

impl LayoutSurvey {
    /// What the tree is called by its layout score; none without one.
    pub fn fragmentation(&self) -> Option<&'static str> {
        self.score.map(|score| match score.value {
            0.99.. => "Hardly fragmented",
            0.95.. => "Slightly fragmented",
            0.8.. => "Fragmented",
            _ => "Heavily fragmented",
        })
    }

    /// Of a sample.
    pub fn of(sample: &LayoutSample) -> Self {
        let files = &sample.sampled;
        // Where listing was cut, what was not seen has no bound.
        let population = if sample.is_listing_cut { u64::MAX } else { sample.files };
        // Of these as large a part was seen as of all.
        let seen = files.len() as f64 / population.max(1) as f64;
        let members_of = |n: usize| {
            if population == files.len() as u64 { n as u64 } else { (n as f64 / seen) as u64 }
        };
        let count =
            |is: &dyn Fn(&SampledFile) -> bool| files.iter().filter(|f| is(f)).count() as u64;
        let placed: Vec<u64> = files.iter().filter_map(pieces).collect();
        let blocks = files.iter().filter_map(|file| {
            let layout = file.layout.filter(|layout| layout.left_out().is_none())?;
            Some(RatioTerm { part: layout.followed as f64, whole: layout.pairs as f64 })
        });
        let blocks: Vec<_> = blocks.collect();
        Self {
            files: files.len() as u64,
            one_piece: share(placed.iter().map(|pieces| *pieces == 1), members_of(placed.len())),
            pieces_mean: (!placed.is_empty())
                .then(|| placed.iter().sum::<u64>() as f64 / placed.len() as f64),
            pieces_max: placed.iter().copied().max().unwrap_or(0),
            score: ratio(&blocks, members_of(blocks.len())),
            directories: directory_sizes(&sample.directory_entries),
            small: share(files.iter().map(|file| file.size_bytes <= SMALL_BYTES), population),
            sparse: count(&|file| file.allocated_bytes < file.size_bytes),
            unreadable: count(&|file| file.layout.is_none()),
            delayed: count(&|f| f.layout.is_some_and(|layout| layout.delayed)),
            without_blocks: count(&|f| f.layout.is_some_and(|l| !l.delayed && l.extents == 0)),
        }
    }
}

fn directory_sizes(entries: &[u64]) -> Option<DirectorySizes> {
    let mut sorted = entries.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| {
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    };
    Some(DirectorySizes { p50: at(0.5)?, p90: at(0.9)?, max: *sorted.last()? })
}

/// The remaining variance where a part of all was seen without putting back (Cochran, "Sampling Techniques",
/// 1977, section 2.6).
fn unseen(n: f64, population: u64) -> f64 {
    (1.0 - n / population as f64).max(0.0)
}

/// The share of those that are; Wilson's interval, with the sample as large as it is worth.
fn share(all: impl Iterator<Item = bool>, population: u64) -> Option<SampledShare> {
    let all: Vec<f64> = all.map(|is| f64::from(u8::from(is))).collect();
    let (value, n) = (mean(&all), all.len() as f64);
    let left = unseen(n, population);
    let interval = (left > 0.0).then(|| share_interval(value, n / left, INTERVAL_ALPHA)).flatten();
    (n > 0.0).then_some(SampledShare { value, interval })
}

/// The sum of parts over the sum of wholes; its error by linearization (Cochran, section 6.4).
fn ratio(terms: &[RatioTerm], population: u64) -> Option<SampledShare> {
    let n = terms.len() as f64;
    let whole: f64 = terms.iter().map(|term| term.whole).sum();
    let value = terms.iter().map(|term| term.part).sum::<f64>() / whole;
    if whole <= 0.0 || !value.is_finite() {
        return None;
    }
    let left = unseen(n, population);
    let squares: f64 = terms.iter().map(|term| (term.part - value * term.whole).powi(2)).sum();
    let error = (left * n * squares / (n - 1.0)).sqrt() / whole;
    // Where all are alike, the sample says nothing of others.
    let known = n >= 2.0 && error > 0.0;
    let t = student_t(INTERVAL_ALPHA, n - 1.0).filter(|_| known);
    let within = |t: f64| Interval::new((value - t * error).max(0.0), (value + t * error).min(1.0));
    let interval = t.and_then(within);
    Some(SampledShare { value, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, draw, unit};
    use crate::host::layout::FileLayout;

    fn file(size_bytes: u64, pieces: u64) -> SampledFile {
        let blocks = size_bytes.div_ceil(4096);
        let pairs = blocks.saturating_sub(1);
        let followed = pairs.saturating_sub(pieces - 1);
        let layout = FileLayout { followed, pairs, extents: pieces, ..FileLayout::default() };
        SampledFile { size_bytes, allocated_bytes: blocks * 4096, layout: Some(layout) }
    }

    fn survey(files: u64, sampled: Vec<SampledFile>) -> LayoutSurvey {
        let sample = LayoutSample { files, sampled, tells_places: true, ..LayoutSample::default() };
        LayoutSurvey::of(&sample)
    }

    #[test]
    fn where_all_was_seen_figures_are_exact_and_have_no_interval() {
        let found = survey(3, vec![file(1, 1), file(40_960, 1), file(40_960, 10)]);
        assert_eq!((found.files, found.pieces_max), (3, 10));
        assert_eq!(found.one_piece, Some(SampledShare { value: 2.0 / 3.0, interval: None }));
        assert_eq!(found.pieces_mean, Some(4.0));
        let score = found.score.unwrap();
        assert_eq!((score.value, score.interval.is_none()), (9.0 / 18.0, true));
    }

    #[test]
    fn intervals_hold_the_truth_in_about_95_of_100_samples() {
        // Of 10,000 files, one in eight has two pieces, and sizes range from 8 KiB to 8 MiB.
        let tree: Vec<_> = (0..10_000u64)
            .map(|n| {
                let size = 8192 << below_11(n);
                file(size, if n % 8 == 0 { 2 } else { 1 })
            })
            .collect();
        let truth = survey(10_000, tree.clone());
        let held = |of: fn(&LayoutSurvey) -> Option<SampledShare>| {
            let truth = of(&truth).unwrap().value;
            let trials = (0..400u64).filter(|trial| {
                let mut order: Vec<usize> = (0..tree.len()).collect();
                crate::base::random::shuffle(&mut order, *trial, Stream::TreeSample, 0);
                let sampled = order[..500].iter().map(|at| tree[*at]).collect();
                let found = of(&survey(10_000, sampled)).unwrap();
                found.interval.is_some_and(|interval| interval.contains(truth))
            });
            trials.count()
        };
        for (of, name) in [
            (one_piece as fn(&LayoutSurvey) -> Option<SampledShare>, "one piece"),
            (score, "score"),
            (small, "small"),
        ] {
            let held = held(of);
            assert!((365..=395).contains(&held), "{name}: {held} of 400");
        }
    }

    fn below_11(n: u64) -> u64 {
        (unit(draw(9, Stream::TreeSample, n)) * 11.0) as u64
    }

    fn one_piece(survey: &LayoutSurvey) -> Option<SampledShare> {
        survey.one_piece
    }

    fn score(survey: &LayoutSurvey) -> Option<SampledShare> {
        survey.score
    }

    fn small(survey: &LayoutSurvey) -> Option<SampledShare> {
        survey.small
    }

    #[test]
    fn files_without_blocks_or_rights_are_counted_apart() {
        let inline = FileLayout { inline: true, ..FileLayout::default() };
        let delayed = FileLayout { delayed: true, pairs: 9, extents: 1, ..FileLayout::default() };
        let with = |layout| SampledFile { layout, ..file(40_960, 1) };
        let all = vec![with(Some(inline)), with(Some(delayed)), with(None)];
        let found = survey(3, all);
        assert_eq!((found.without_blocks, found.delayed, found.unreadable), (1, 1, 1));
        assert_eq!((found.one_piece, found.score), (None, None));
        let empty = survey(0, Vec::new());
        assert_eq!((empty.files, empty.small), (0, None));
    }

    #[test]
    fn directories_are_told_by_their_middle_their_upper_tenth_and_their_largest() {
        let sizes = directory_sizes(&[5, 1, 2, 3, 4, 6, 7, 8, 9, 1_000]).unwrap();
        assert_eq!((sizes.p50, sizes.p90, sizes.max), (5, 9, 1_000));
        assert_eq!(directory_sizes(&[]), None);
    }
}
