//! What came from memory, what from the device, and how fast each was.

use super::answer_draft::{AnswerDraft, Lack};
use super::disk_kinds;
use super::rates::AnswerRate;
use super::reading::{ChartFamily, Picture, Reading, RunView};
use crate::findings::bytes_moved::{
    ByteSource, DestinationFinding, LowerCacheFinding, SourceFinding, destination, lower_cache,
    source,
};
use crate::findings::say;
use crate::statement::{Part, Sentence, Statement, parts};
use crate::summary::{Summary, VariantSummary};
use boatload_base::distinct::each_once;
use boatload_results::book::Measurement;

/// The reading.
#[derive(Debug)]
pub(super) struct Source;

impl Reading for Source {
    fn answer(&self, run: &RunView<'_>) -> Option<AnswerDraft> {
        let found = ByteFindings {
            sources: source(run.book),
            destinations: destination(run.book),
            lower_caches: lower_cache(run.book),
        };
        let phases: Vec<&str> =
            run.summary.phases().into_iter().filter(|phase| found.has(phase)).collect();
        let rates = phases.iter().filter_map(|phase| Some((*phase, rate_of(run.summary, phase)?)));
        let rates: Vec<(&str, AnswerRate)> = rates.collect();
        let mut sentence = Sentence::default();
        for (at, (phase, rate)) in rates.iter().enumerate() {
            let [value, interval] = rate.parts(extremes(run.summary, phase).as_ref());
            let before = if at == 0 { Vec::new() } else { parts![", "] };
            let name = Part::Phase((*phase).into());
            let told = parts![before, name, " ", found.place(phase), "at ", value];
            sentence = sentence.with(0, told).with(3, interval);
        }
        rates.first()?;
        let is_real = |m: &Measurement| !m.is_simulated() && !run.book.is_on_model(m);
        let is_real = run.book.measurements.iter().all(is_real);
        let of_device = rates.iter().find(|(phase, _)| found.is_from_device(phase));
        let judged = of_device.filter(|_| is_real).and_then(|(phase, rate)| {
            let judgement = disk_kinds::beside_data_sheets(rate.bytes()?);
            let phase = Part::Phase((*phase).into());
            Some(Sentence::ranked(1, parts![phase, " is ", judgement, ", by their data sheets"]))
        });
        let statement = Statement::new(sentence).and(judged).and(found.more());
        let unknown = found.sources.iter().find(|one| one.from == ByteSource::Unknown);
        if let Some(one) = unknown {
            let name = Part::Phase(one.phase.clone());
            let why = parts!["the device's reads could not be counted in ", name];
            let statement = statement.behind(Sentence::new(why));
            return Some(AnswerDraft::measured(statement, Lack::Design));
        }
        let lacks_interval = rates.iter().any(|(_, rate)| rate.interval.is_none());
        let lacks = if lacks_interval { Lack::Repeats } else { Lack::Nothing };
        Some(AnswerDraft::measured(statement, lacks))
    }

    fn picture(&self, _run: &RunView<'_>) -> Option<Picture> {
        Some(Picture::new(ChartFamily::Bytes))
    }
}

/// What a run found of where its bytes were.
struct ByteFindings {
    sources: Vec<SourceFinding>,
    destinations: Vec<DestinationFinding>,
    lower_caches: Vec<LowerCacheFinding>,
}

/// The rate of a phase, over all variants and levels.
fn rate_of(summary: &Summary, phase: &str) -> Option<AnswerRate> {
    let own = summary.rows().filter(|row| row.phase == phase);
    let own: Option<Vec<AnswerRate>> = own.map(AnswerRate::of).collect();
    AnswerRate::range(&own?)
}

/// Which variant has the lowest rate of a phase and which the highest, or at which levels these are where it has several;
/// none for fewer than two.
fn extremes(summary: &Summary, phase: &str) -> Option<[String; 2]> {
    let has_variants = summary.has_variants();
    let of_group = |group: &'_ VariantSummary| {
        let rate = group.rows.iter().find(|row| row.phase == phase)?.rate?.mean;
        let name = match &group.level {
            None => group.variant.clone(),
            Some(level) if has_variants => {
                format!("{}, {}", group.variant, say::level_in_words(level))
            }
            Some(level) => say::level_in_words(level),
        };
        Some((rate, name))
    };
    let rates: Vec<(f64, String)> = summary.groups.iter().filter_map(of_group).collect();
    let least = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = rates.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = least.zip(most)?;
    (least.1 != most.1).then(|| [least.1.clone(), most.1.clone()])
}

impl ByteFindings {
    fn has(&self, phase: &str) -> bool {
        self.sources.iter().any(|one| one.phase == phase)
            || self.destinations.iter().any(|one| one.phase == phase)
    }

    /// Where the bytes of a phase were, as it stands before a rate: `from memory `.
    fn place(&self, phase: &str) -> &'static str {
        let own = self.sources.iter().filter(|one| one.phase == phase);
        match each_once(own.map(|one| one.from)).as_slice() {
            [ByteSource::Memory] => "from memory ",
            [ByteSource::Device] => "from the device ",
            some if some.is_empty() || some.contains(&ByteSource::Unknown) => "",
            _ => "from memory and the device ",
        }
    }

    /// Whether a phase read the device alone.
    fn is_from_device(&self, phase: &str) -> bool {
        let mut own = self.sources.iter().filter(|one| one.phase == phase).peekable();
        own.peek().is_some() && own.all(|one| one.from == ByteSource::Device)
    }

    /// What was not on the device when a phase ended, then caches below the kernel.
    fn more(&self) -> Vec<Sentence> {
        let late = self.destinations.iter().filter(|one| !one.is_written());
        let late = late.map(|one| Sentence::ranked(1, parts![one.sentence()]));
        let caches = self.lower_caches.iter();
        late.chain(caches.map(|one| Sentence::ranked(2, parts![one.sentence()]))).collect()
    }
}
