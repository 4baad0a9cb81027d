//! Answers what came from memory, what from the device, and how fast each was.

use super::draft::{AnswerDraft, Lack};
use super::rates::AnswerRate;
use super::words::{AxisWords, WORDS_MAX, begun, number_of_words};
use crate::analysis::findings::source::{
    ByteSource, DestinationFinding, LowerCacheFinding, SourceFinding,
};
use crate::analysis::summary::{Summary, VariantSummary};
use crate::base::distinct::each_once;

/// What a run found of where its bytes were.
pub(super) struct ByteFindings<'a> {
    pub(super) sources: Vec<&'a SourceFinding>,
    pub(super) destinations: Vec<&'a DestinationFinding>,
    pub(super) lower_caches: Vec<&'a LowerCacheFinding>,
}

/// From all of them and the rates of their phases; none if there is none.
pub(super) fn source(summary: &Summary, found: &ByteFindings<'_>) -> Option<AnswerDraft> {
    let is_told = |phase: &&str| {
        found.sources.iter().any(|one| one.phase == *phase)
            || found.destinations.iter().any(|one| one.phase == *phase)
    };
    let phases: Vec<&str> = summary.phases().into_iter().filter(is_told).collect();
    let rates: Vec<Option<AnswerRate>> =
        phases.iter().map(|phase| rate_of(summary, phase)).collect();
    let parts: Vec<String> = phases
        .iter()
        .zip(&rates)
        .filter_map(|(phase, rate)| {
            let rate = rate.as_ref()?.in_words_of(extremes(summary, phase).as_ref());
            Some(format!("{phase} {}at {rate}", found.place(phase)))
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let unknown: Vec<&SourceFinding> =
        found.sources.iter().copied().filter(|one| one.from == ByteSource::Unknown).collect();
    let evidence = found.evidence();
    let mut text = parts.join(", ");
    if number_of_words(&text) >= WORDS_MAX {
        let shorter = phases.iter().zip(&rates).filter_map(|(phase, rate)| {
            let rate = rate.as_ref()?.without_interval();
            Some(format!("{phase} {}at {rate}", found.place(phase)))
        });
        text = shorter.collect::<Vec<_>>().join(", ");
    }
    if let Some(one) = unknown.first() {
        let text =
            format!("the device's reads could not be counted in {}; {}", one.phase, parts[0]);
        let draft = AnswerDraft::cannot_tell(Lack::Design, text, evidence);
        return Some(draft);
    }
    let lacks_interval = rates.iter().flatten().any(|rate| rate.interval.is_none());
    let lacks = if lacks_interval { Lack::Repeats } else { Lack::Nothing };
    Some(AnswerDraft::measured(text, evidence, lacks))
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
            Some(level) => {
                let level = AxisWords { name: &level.axis, unit: level.unit }.level(level.value);
                if has_variants { format!("{}, {level}", group.variant) } else { level }
            }
        };
        Some((rate, name))
    };
    let rates: Vec<(f64, String)> = summary.groups.iter().filter_map(of_group).collect();
    let least = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = rates.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = least.zip(most)?;
    (least.1 != most.1).then(|| [least.1.clone(), most.1.clone()])
}

impl ByteFindings<'_> {
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

    /// What was not on the device when a phase ended, then caches below the kernel.
    fn evidence(&self) -> Vec<String> {
        let late = self.destinations.iter().filter(|one| !one.is_written());
        let late = late.map(|one| begun(&one.sentence()));
        late.chain(self.lower_caches.iter().map(|one| begun(&one.sentence()))).collect()
    }
}
