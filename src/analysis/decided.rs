//! Decides whether a run that repeats until its answer is decided can end, and names what is open.

use super::effect::{EffectCell, EffectFinding};
use super::effects::decide::Decision;
use super::figures::{RunFigures, alpha, conclude};
use super::finding::Finding;
use super::findings::say::level_in_words;
use super::readings::reading_of;
use super::statement::text_of;
use crate::base::units::counted;
use crate::plan::{Conclusion, DEFAULT_VARIANT};
use crate::results::book::{Book, Level};

/// A rate that is known to within this share is precise enough where nothing is compared.
const RATE_WITHIN: f64 = 0.10;

/// Open parts that are named.
const NAMES_MAX: usize = 3;

/// A part of what a run asks.
struct AskedPart {
    name: String,
    is_open: bool,
}

/// Whether what was measured decides the first question of a job that can be answered, if each family of claims may have a
/// false one with a chance of `alpha`, from 0 to 1.
pub fn is_decided(book: &Book, alpha: f64) -> bool {
    let asked = asked(book, alpha);
    !asked.is_empty() && asked.iter().all(|part| !part.is_open)
}

impl RunFigures<'_> {
    /// What is open of that question in a run that repeated until it was decided: `2 of 6 parts (xfs against ext4, create:
    /// btrfs against ext4 at 30%)`; `None` where nothing is, or nothing can be asked.
    pub fn open_parts(&self) -> Option<String> {
        let stopping = &self.book.run.stopping;
        stopping.last_alpha().filter(|_| !stopping.is_decided())?;
        let asked = asked(self.book, alpha(self.book));
        let open: Vec<&str> =
            asked.iter().filter(|part| part.is_open).map(|part| part.name.as_str()).collect();
        let names = match open.len() {
            0 => return None,
            1..=NAMES_MAX => format!(" ({})", open.join(", ")),
            _ => String::new(),
        };
        Some(format!("{} of {}{names}", open.len(), counted(asked.len() as u64, "part")))
    }
}

/// The parts of the first conclusion of the job that has effects; the rates where there is none.
fn asked(book: &Book, alpha: f64) -> Vec<AskedPart> {
    let compared = book.run.conclude.iter().take_while(|kind| **kind != Conclusion::Source);
    let asked = compared.map(|kind| asked_of(book, *kind, alpha)).find(|asked| !asked.is_empty());
    asked.unwrap_or_else(|| rates(book))
}

/// The parts of a conclusion. Ranking: all pairs of the whole job; where there is none, since there is one phase or some end
/// after a time, those of each phase. Levels: all phases together, and the one that the answer names. Growth: each course.
/// Crossing: all pairs at both end levels.
fn asked_of(book: &Book, kind: Conclusion, alpha: f64) -> Vec<AskedPart> {
    let findings = conclude(book, &[kind], alpha);
    let effects = findings.iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(&**effect),
        _ => None,
    });
    reading_of(kind).asked(effects.collect()).into_iter().map(part).collect()
}

fn part(effect: &EffectFinding) -> AskedPart {
    let is_open = effect.headline.decision == Decision::Open;
    let at = at(effect.to.level.as_ref());
    let task = text_of(&effect.task());
    let name = match effect.reading {
        Conclusion::Ranking | Conclusion::Crossing => {
            let name = |cell: &EffectCell| cell.variant.clone().unwrap_or_default();
            let pair = format!("{} against {}", name(&effect.to), name(&effect.from));
            let phase = effect.phase.as_ref().map(|phase| format!("{phase}: "));
            format!("{}{pair}{at}", phase.unwrap_or_default())
        }
        Conclusion::Growth => format!("{task}{at}"),
        _ => task,
    };
    AskedPart { name, is_open }
}

fn at(level: Option<&Level>) -> String {
    level.map(|level| format!(" at {}", level_in_words(level))).unwrap_or_default()
}

/// Each rate, which is open until its interval reaches no further than by a share of it.
fn rates(book: &Book) -> Vec<AskedPart> {
    let figures = RunFigures::of(book);
    let groups = figures.summary().groups.iter();
    let rows = groups.flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    let known = rows.filter(|(_, row)| !row.is_settle()).filter_map(|(group, row)| {
        let is_open = row.rate?.relative().is_none_or(|share| share > RATE_WITHIN);
        let variant = Some(&group.variant).filter(|name| *name != DEFAULT_VARIANT);
        let variant = variant.map(|name| format!(" ({name})")).unwrap_or_default();
        let at = at(group.level.as_ref());
        Some(AskedPart { name: format!("{}{variant}{at}", row.phase), is_open })
    });
    known.collect()
}
