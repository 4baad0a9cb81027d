//! Writes how a tree lies on its device.

use std::io::{self, Write};

use super::table::{Table, TableColumn};
use super::text::write_wrapped;
use crate::analysis::layout::{LayoutSurvey, SMALL_BYTES, SampledShare, SizeClass};
use crate::base::units::{Quantity, Unit, counted, figures, grouped, percent_text};
use crate::host::layout::LayoutSample;

/// Writes the verdict, a table by size, and what was seen.
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
    if !survey.classes.is_empty() {
        let mut table = Table::of_columns(&COLUMNS);
        let mut rows: Vec<_> = survey.classes.iter().collect();
        rows.push(&survey.all);
        let last = rows.len() - 1;
        for (at, class) in rows.into_iter().enumerate() {
            let mut cells: Vec<_> = COLUMNS.iter().map(|column| (column.cell)(class)).collect();
            if at == last {
                cells[0] = "all".into();
            } else if class.most_bytes.is_none() {
                cells[0] = "larger".into();
            }
            table.row(cells);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    lines(sample, survey).iter().try_for_each(|line| write_wrapped("", line, out))
}

const COLUMNS: [TableColumn<SizeClass>; 7] = [
    TableColumn::words("size", |class| {
        class.most_bytes.map_or(String::new(), |most| format!("to {}", exact(most)))
    }),
    TableColumn::numbers("files", |class| percent(class.files_share)),
    TableColumn::numbers("space", |class| percent(class.allocated_share)),
    TableColumn::numbers("one piece", |class| percent(class.one_piece)),
    TableColumn::numbers("pieces", |class| {
        class.pieces_mean.map_or("-".into(), |mean| figures(mean, 3))
    }),
    TableColumn::numbers("most", |class| match class.pieces_max {
        0 => "-".into(),
        most => grouped(most),
    }),
    TableColumn::numbers("score (95%)", |class| score(class.score)),
];

fn verdict(sample: &LayoutSample, survey: &LayoutSurvey) -> String {
    if survey.classes.is_empty() {
        return "No regular file was seen.".into();
    }
    if !sample.tells_places {
        return "Fragments are not known: this file system does not say where files lie.".into();
    }
    let one_piece = survey
        .all
        .one_piece
        .map(|share| format!("{} of files lie in one piece{}", percent(Some(share)), span(share)));
    match (one_piece, survey.all.score.zip(survey.fragmentation())) {
        (None, _) => "No file that was seen has blocks of its own.".into(),
        (Some(pieces), None) => {
            format!("{pieces}; none has two blocks, so there is no layout score.")
        }
        (Some(pieces), Some((found, word))) => {
            format!("{word}: layout score {}; {pieces}.", score(Some(found)))
        }
    }
}

fn lines(sample: &LayoutSample, survey: &LayoutSurvey) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(small) = survey.small {
        let most = exact(SMALL_BYTES);
        lines.push(format!("small files (to {most}): {}{}", percent(Some(small)), span(small)));
    }
    if let Some(slack) = survey.slack {
        let share = percent(Some(slack));
        let text = "taken beyond the size of the files";
        lines.push(format!("slack: {share} of the space{}, {text}", span(slack)));
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
    let (looked, files) = (grouped(survey.all.files), counted(sample.files, "file"));
    let listed = counted(sample.directory_entries.len() as u64, "directory");
    let is_all = survey.all.files == sample.files;
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

fn percent(share: Option<SampledShare>) -> String {
    share.map_or("-".into(), |share| percent_of(share.value))
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

fn score(share: Option<SampledShare>) -> String {
    let Some(SampledShare { value, interval, .. }) = share else { return "-".into() };
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
    fn a_screen_has_the_verdict_a_line_for_each_size_and_what_was_seen() {
        let all = vec![file(1_000, 1), file(8_192, 1), file(40_960, 1), file(409_600, 25)];
        let text = "\
Heavily fragmented: layout score 0.780; 75% of files lie in one piece.

size       files   space  one piece  pieces  most  score (95%)
to 4 KiB     25%   0.88%       100%    1.00     1            -
to 64 KiB    50%  10.62%       100%    1.00     1            1
to 1 MiB     25%   88.5%         0%    25.0    25        0.758
all         100%    100%        75%    7.00    25        0.780

small files (to 16 KiB): 50%
slack: 0.67% of the space, taken beyond the size of the files
directories: half have up to 4 entries, 9 of 10 up to 4, the largest 4
looked at all 4 files in 1 directory
";
        assert_eq!(written(&sample(all)), text);
    }

    #[test]
    fn the_longest_screen_has_24_lines_of_80_columns() {
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
        assert!(text.lines().count() <= 24, "{} lines\n{text}", text.lines().count());
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
