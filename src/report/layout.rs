//! Writes how a tree lies on its device.

use std::io::{self, Write};

use super::text::write_wrapped;
use crate::analysis::layout::{LayoutSurvey, SMALL_BYTES, SampledShare};
use crate::base::units::{Quantity, Unit, counted, figures, grouped, percent_text};
use crate::host::layout::LayoutSample;

/// Writes the verdict, and what was seen.
///
/// # Errors
/// If `out` does.
pub fn write_layout(
    sample: &LayoutSample,
    survey: &LayoutSurvey,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_wrapped("", &verdict(sample, survey), out)?;
    writeln!(out)?;
    lines(sample, survey).iter().try_for_each(|line| write_wrapped("", line, out))
}

fn verdict(sample: &LayoutSample, survey: &LayoutSurvey) -> String {
    if survey.files == 0 {
        return "No regular file was seen.".into();
    }
    if !sample.tells_places {
        return "Fragments are not known: this file system does not say where files lie.".into();
    }
    let one_piece = survey.one_piece.map(|share| {
        format!("{} of files lie in one piece{}", percent_of(share.value), span(share))
    });
    match (one_piece, survey.score.zip(survey.fragmentation())) {
        (None, _) => "No file that was seen has blocks of its own.".into(),
        (Some(pieces), None) => {
            format!("{pieces}; none has two blocks, so there is no layout score.")
        }
        (Some(pieces), Some((found, word))) => {
            format!("{word}: layout score {}; {pieces}.", score(found))
        }
    }
}

fn lines(sample: &LayoutSample, survey: &LayoutSurvey) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(mean) = survey.pieces_mean {
        let (mean, most) = (figures(mean, 3), grouped(survey.pieces_max));
        lines.push(format!("pieces of a file: {mean} on average, {most} at most"));
    }
    if let Some(small) = survey.small {
        let most = exact(SMALL_BYTES);
        lines.push(format!("small files (to {most}): {}{}", percent_of(small.value), span(small)));
    }
    if let Some(sizes) = survey.directories {
        lines.push(format!(
            "directories: half have up to {} entries, 9 of 10 up to {}, the largest {}",
            grouped(sizes.p50),
            grouped(sizes.p90),
            grouped(sizes.max)
        ));
    }
    lines.push(seen(sample, survey));
    if sample.is_listing_cut {
        lines.push(
            "The time was over before all directories were listed: intervals do not hold for the \
             others. A longer --time-limit sees more."
                .into(),
        );
    }
    let beside = [
        (survey.without_blocks, "file", "empty or among metadata"),
        (survey.delayed, "file", "not yet placed"),
        (survey.unreadable, "file", "that cannot be opened or asked"),
        (survey.sparse, "file", "that take less than their size"),
        (sample.unreadable_directories, "directory", "that cannot be listed"),
        (sample.mounts, "mount", "of other file systems"),
    ];
    let beside = beside.into_iter().filter(|(count, ..)| *count > 0);
    let beside = beside.map(|(count, noun, which)| format!("{} {which}", counted(count, noun)));
    let beside: Vec<String> = beside.collect();
    lines.extend((!beside.is_empty()).then(|| format!("also found: {}", beside.join(", "))));
    lines
}

/// Which files and directories the figures are of.
fn seen(sample: &LayoutSample, survey: &LayoutSurvey) -> String {
    let (looked, files) = (grouped(survey.files), counted(sample.files, "file"));
    let listed = counted(sample.directory_entries.len() as u64, "directory");
    let is_all = survey.files == sample.files;
    match sample.is_listing_cut {
        _ if sample.files == 0 => format!("listed {listed}"),
        true => format!("looked at {looked} of {files} in the first {listed}"),
        false if is_all => format!("looked at all {files} in {listed}"),
        false => format!("looked at {looked} of {files} in {listed}, drawn at random"),
    }
}

/// `4 KiB`
fn exact(bytes: u64) -> String {
    Quantity { value: bytes as f64, unit: Unit::Bytes }.to_string()
}

/// Neither none nor all where it is not quite that.
fn percent_of(share: f64) -> String {
    match percent_text(share).as_str() {
        "0%" if share > 0.0 => "<0.01%".into(),
        "100%" if share < 1.0 => ">99.99%".into(),
        text => text.into(),
    }
}

fn span(share: SampledShare) -> String {
    share.interval.map_or(String::new(), |interval| {
        format!(" ({} to {})", percent_of(interval.low), percent_of(interval.high))
    })
}

fn score(SampledShare { value, interval }: SampledShare) -> String {
    let ends = interval.map(|ends| format!(" ({} to {})", near_one(ends.low), near_one(ends.high)));
    near_one(value) + &ends.unwrap_or_default()
}

/// A score with enough digits, at most six, that its distance from 1 has two; 1 only if every file is in one piece.
fn near_one(value: f64) -> String {
    let missing = 1.0 - value;
    if missing <= 0.0 {
        return "1".into();
    }
    let decimals = (1.0 - missing.log10().floor()).clamp(3.0, 6.0) as usize;
    if missing < 1e-6 { ">0.999999".into() } else { format!("{value:.decimals$}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::layout::{FileLayout, SampledFile};
    use crate::report::text::{WIDTH, width};

    fn file(size_bytes: u64, pieces: u64) -> SampledFile {
        let blocks = size_bytes.div_ceil(4096);
        let extents = pieces.min(blocks);
        let pairs = blocks.saturating_sub(1);
        let layout =
            FileLayout { followed: pairs + 1 - extents, pairs, extents, ..FileLayout::default() };
        SampledFile { size_bytes, allocated_bytes: blocks * 4096, layout: Some(layout) }
    }

    fn written(sample: &LayoutSample) -> String {
        let mut out = Vec::new();
        write_layout(sample, &LayoutSurvey::of(sample), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sample(sampled: Vec<SampledFile>) -> LayoutSample {
        let (files, directory_entries) = (sampled.len() as u64, vec![sampled.len() as u64]);
        LayoutSample {
            files,
            directory_entries,
            sampled,
            tells_places: true,
            ..LayoutSample::default()
        }
    }

    #[test]
    fn a_screen_has_the_verdict_and_what_was_seen() {
        let all = vec![file(1_000, 1), file(8_192, 1), file(40_960, 1), file(409_600, 25)];
        let text = "\
Heavily fragmented: layout score 0.780; 75% of files lie in one piece.

pieces of a file: 7.00 on average, 25 at most
small files (to 16 KiB): 50%
directories: half have up to 4 entries, 9 of 10 up to 4, the largest 4
looked at all 4 files in 1 directory
";
        assert_eq!(written(&sample(all)), text);
    }

    #[test]
    fn the_longest_screen_has_16_lines_of_80_columns() {
        let sizes = [1, 9_000, 90_000, 9 << 20, 90 << 20, 900 << 20];
        let mut sampled: Vec<_> =
            (0..600).map(|n| file(sizes[n % 6], 1 + u64::from(n % 97 == 5))).collect();
        for (n, one) in sampled.iter_mut().enumerate().take(30) {
            match n % 3 {
                0 => one.layout = None,
                1 => one.allocated_bytes = 0,
                _ => one.layout = Some(FileLayout { delayed: n % 2 == 0, ..FileLayout::default() }),
            }
        }
        let mut all = sample(sampled);
        all.files = 123_456_789;
        all.directory_entries = vec![1_234_567_890; 9];
        (all.is_listing_cut, all.unreadable_directories, all.mounts) = (true, 12_345, 12);
        let text = written(&all);
        assert!(text.lines().count() <= 16, "{} lines\n{text}", text.lines().count());
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
        assert!(text.contains("A longer --time-limit sees more"), "{text}");
    }

    #[test]
    fn a_score_near_1_has_digits_enough_to_tell_it_from_1() {
        let all = [0.0, 0.5, 0.9876, 0.99987, 0.999_998_7, 0.999_999_99, 1.0].map(near_one);
        assert_eq!(all, ["0.000", "0.500", "0.988", "0.99987", "0.999999", ">0.999999", "1"]);
    }

    #[test]
    fn a_tree_without_files_or_places_says_so() {
        let text = written(&sample(Vec::new()));
        assert!(text.starts_with("No regular file was seen.\n"), "{text}");
        let mut nowhere = sample(vec![SampledFile { layout: None, ..file(9, 1) }]);
        nowhere.tells_places = false;
        let text = written(&nowhere);
        assert!(text.starts_with("Fragments are not known"), "{text}");
    }
}
