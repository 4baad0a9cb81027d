//! Judges how far the answer of a run can be trusted. METHODOLOGY.md has the table of the rules.

use super::Reliability;
use crate::figures::RunFigures;
use crate::finding::Finding;
use crate::findings::say;
use crate::warnings::table::WarningCode;
use boatload_base::distinct::each_once;
use boatload_base::units::{counted, grouped};
use boatload_results::book::{CacheAsked, CacheState, Measurement};
use boatload_results::content::{leaves_unwritten, writes_content};
use boatload_results::order::phase_cells;
use boatload_run::cache::Doubt;

/// With more of its measurements disturbed than this share an answer has a low reliability.
const DISTURBED_SHARE_MAX: f64 = 0.25;

/// With fewer repeats a reliability is not high: their spread is known too badly.
const REPEATS_HIGH: usize = 5;

/// A rate whose 95% interval reaches further than by this share of it is uncertain.
const UNCERTAIN_MIN: f64 = 0.25;

/// The most words of a reason.
const REASON_WORDS_MAX: usize = 28;

/// How far an answer can be trusted, and what that is judged by.
pub(super) struct Trust {
    pub(super) reliability: Reliability,
    pub(super) reason: String,
    /// The fewest repeats of any figure.
    pub(super) repeats: usize,
    /// Whether other load could have changed the verdict.
    pub(super) is_disturbed: bool,
    /// Whether file systems were compared on a place so small that it may decide.
    pub(super) is_small: bool,
    /// Whether levels were measured in the order of the axis, so that time may be what decides.
    pub(super) has_levels_in_order: bool,
    /// Whether caches were not found as requested, because only root may drop them.
    pub(super) wants_root: bool,
    /// Whether the file system has no journal, so that repeats depend on what was deleted before.
    pub(super) has_no_journal: bool,
}

/// Of a run with all its warnings.
pub(super) fn trust(analysis: &RunFigures<'_>, findings: &[Finding]) -> Trust {
    let valid: Vec<&Measurement> =
        analysis.book.measurements.iter().filter(|m| m.valid()).collect();
    let is_disturbed = |m: &&&Measurement| analysis.disturbed(m) || m.idle == Some(false);
    let disturbed = valid.iter().filter(is_disturbed).count();
    let repeats = fewest_repeats(analysis);
    let mut codes: Vec<WarningCode> = findings.iter().filter_map(code).collect();
    // What is simulated has no caches.
    if valid.iter().all(|m| m.is_simulated()) {
        codes.retain(|code| *code != WarningCode::CacheNotAsAsked);
    }
    let mut reservations = Vec::new();
    let many = match repeats {
        0 => "no valid measurement".into(),
        _ => counted(repeats as u64, "repeat"),
    };
    if repeats < 2 {
        reservations.push((Reliability::Low, many.clone()));
    }
    let mostly_disturbed = disturbed as f64 > DISTURBED_SHARE_MAX * valid.len() as f64;
    if disturbed > 0 {
        let grade = if mostly_disturbed { Reliability::Low } else { Reliability::Medium };
        let share = share_of(disturbed, valid.len());
        reservations.push((grade, format!("{share} measurements disturbed by other load")));
    }
    let written = valid.iter().filter(|m| writes_content(m)).count();
    let unwritten = valid.iter().filter(|m| leaves_unwritten(m)).count();
    if unwritten > 0 {
        let why =
            format!("{} writes ended before the device had them", share_of(unwritten, written));
        reservations.push((Reliability::Low, why));
    }
    let all = &analysis.book.measurements;
    let limited = all.iter().filter(|m| m.reached_limit()).count();
    let invalid = all.len() - valid.len() - limited;
    for (grade, part, why) in [
        // Slow ones are missing then.
        (Reliability::Low, limited, "reached the limit"),
        (Reliability::Medium, invalid, "invalid"),
    ] {
        if part > 0 {
            reservations.push((grade, format!("{} measurements {why}", share_of(part, all.len()))));
        }
    }
    for code in each_once(codes.iter().copied()) {
        let reservation = code.reliability().map(|grade| match grade {
            Reliability::Low => (grade, format!("{}: {}", code.short_name(), code.meaning())),
            _ => (grade, code.short_name().to_string()),
        });
        reservations.extend(reservation);
    }
    if (2..REPEATS_HIGH).contains(&repeats) && !analysis.book.run.stopping.is_decided() {
        reservations.push((Reliability::Medium, many.clone()));
    }
    reservations.extend(uncertain_rate(analysis).map(|why| (Reliability::Medium, why)));
    let reliability = reservations.iter().map(|one| one.0).max().unwrap_or(Reliability::High);
    let own = reservations.iter().filter(|one| one.0 == reliability);
    let against: Vec<String> = own.map(|one| one.1.clone()).collect();
    let mut in_favour = vec![many];
    if disturbed == 0 && valid.iter().any(|m| m.disturbance.is_some()) {
        in_favour.push("quiet machine".into());
    }
    in_favour.extend(caches(&valid).map(String::from));
    Trust {
        reliability,
        reason: joined(if against.is_empty() { &in_favour } else { &against }),
        repeats,
        is_disturbed: mostly_disturbed,
        is_small: codes.contains(&WarningCode::SmallVolume),
        has_levels_in_order: codes.contains(&WarningCode::LevelsInOrder),
        wants_root: findings.iter().any(wants_root),
        has_no_journal: codes.contains(&WarningCode::NoJournal),
    }
}

/// The most uncertain rate of a run that is answered by its rates, if it is uncertain by much.
fn uncertain_rate(analysis: &RunFigures<'_>) -> Option<String> {
    let rows = analysis.summary().rows().filter(|row| row.has_own_rate());
    let rows = rows.filter(|_| analysis.book.run.conclude.is_empty());
    let known = rows.filter_map(|row| Some((row, row.rate?.known_within()?)));
    let (row, share) = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let known_to = match share {
        ..UNCERTAIN_MIN => return None,
        ..1.0 => format!("uncertain by {}", say::percent(share)),
        _ => "hardly known".to_string(),
    };
    Some(format!("{} {known_to}", row.phase))
}

fn wants_root(finding: &Finding) -> bool {
    let Finding::Warning(warning) = finding else { return false };
    matches!(warning.reason, Some(Doubt::NoRights | Doubt::CachedLoop))
}

fn code(finding: &Finding) -> Option<WarningCode> {
    match finding {
        Finding::Warning(warning) => Some(warning.code),
        _ => None,
    }
}

/// `1,005 of 1,680`
fn share_of(part: usize, all: usize) -> String {
    format!("{} of {}", grouped(part as u64), grouped(all as u64))
}

/// As many parts of a reason as it has room for, the first ones.
fn joined(parts: &[String]) -> String {
    let has_room = |text: &str| text.split_whitespace().count() <= REASON_WORDS_MAX;
    let shown = (2..=parts.len()).take_while(|number| has_room(&parts[..*number].join("; ")));
    parts[..shown.last().unwrap_or(parts.len().min(1))].join("; ")
}

/// The repeats of the cell with the fewest.
pub(super) fn fewest_repeats(analysis: &RunFigures<'_>) -> usize {
    let valid = analysis.book.measurements.iter().filter(|m| m.valid());
    let cells = phase_cells(valid);
    let repeats =
        cells.iter().map(|cell| each_once(cell.measurements.iter().map(|m| m.cell.repeat)).len());
    repeats.min().unwrap_or(0)
}

/// What was found of caches that were to be cold; none where none were, or not all are.
fn caches(valid: &[&Measurement]) -> Option<&'static str> {
    let mut asked = valid.iter().filter(|m| m.cache.asked == CacheAsked::Cold).peekable();
    asked.peek()?;
    let is_cold = |m: &&Measurement| m.cache.found == CacheState::ColdVerified;
    asked.all(is_cold).then_some("caches proven cold")
}
