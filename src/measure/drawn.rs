//! What findings say of a picture: the curve of a law, the line of a slope, the places of knees and
//! crossovers.

use serde_json::Value;

use super::book::{Book, Finding, Level};
use super::conclusions::conclude;
use super::order::variants;
use super::uncertainty::Estimate;
use crate::base::units::Unit;
use crate::plan::Conclusion;

/// The course that a `growth` finding tells of.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The variant's name.
    pub variant: String,
    /// The phase's name.
    pub phase: String,
    /// The level; none without an axis.
    pub level: Option<f64>,
    /// What the course is, in a few words: `linear law`.
    pub what: String,
    /// Operations done and the latency that is told for them, in nanoseconds; empty if no law,
    /// threshold or course is told.
    pub curve: Vec<(f64, f64)>,
    /// From how many operations on it takes longer, where that is what is told.
    pub threshold: Option<Place>,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What is there: `knee`, `crossover`, `step`, `bend`.
    pub what: &'static str,
    /// Of which variants.
    pub variants: Vec<String>,
    /// Where, in the unit's base.
    pub at: f64,
    /// The ends of its 95% interval; none if unknown.
    pub interval: Option<[f64; 2]>,
}

fn number(finding: &Finding, key: &str) -> Option<f64> {
    finding.figures.get(key)?.as_f64().filter(|number| number.is_finite())
}

fn text<'a>(finding: &'a Finding, key: &str) -> Option<&'a str> {
    finding.figures.get(key)?.as_str()
}

fn pair(finding: &Finding, key: &str) -> Option<[f64; 2]> {
    let ends = finding.figures.get(key)?.as_array()?;
    let [low, high] = ends.as_slice() else { return None };
    let ends = [low.as_f64()?, high.as_f64()?];
    (ends.iter().all(|end| end.is_finite()) && ends[0] <= ends[1]).then_some(ends)
}

fn of_kind<'a>(findings: &'a [Finding], kind: &'a str) -> impl Iterator<Item = &'a Finding> {
    findings.iter().filter(move |finding| finding.kind == kind)
}

/// The courses that the book's findings tell of. Findings of an earlier boatload have no curve: then
/// that of the law they name is made anew, if the same one is found.
pub fn growths(book: &Book) -> Vec<Growth> {
    let lacks = |finding: &Finding| !finding.figures.contains_key("blocks");
    let anew = match of_kind(&book.findings, "growth").any(lacks) {
        true => conclude(book, &[Conclusion::Growth], &variants(book)),
        false => Vec::new(),
    };
    let whole = |finding: &Finding| {
        let same = |other: &&Finding| {
            ["law", "phase", "variant", "level"]
                .iter()
                .all(|key| other.figures.get(*key) == finding.figures.get(*key))
        };
        match lacks(finding) {
            true => growth(anew.iter().find(same)?, true),
            false => growth(finding, false),
        }
    };
    of_kind(&book.findings, "growth").filter_map(whole).collect()
}

/// `by_law`: whether the law counts, and not the shape.
fn growth(finding: &Finding, by_law: bool) -> Option<Growth> {
    let shape = if by_law { "law" } else { text(finding, "shape")? };
    let law = text(finding, "law");
    let what = match shape {
        "law" => format!("{} law", law?),
        "threshold" => "threshold".into(),
        "monotone" => "monotone course".into(),
        _ => return None,
    };
    let point = |block: &Value| {
        let of = |key: &str| block.get(key)?.as_f64().filter(|number| number.is_finite());
        Some((of("operations")?, of("fitted_ns").filter(|ns| *ns > 0.0)?))
    };
    let blocks = finding.figures.get("blocks")?.as_array()?;
    let place = |at| Place {
        what: if text(finding, "threshold_shape") == Some("step") { "step" } else { "bend" },
        variants: text(finding, "variant").map(String::from).into_iter().collect(),
        at,
        interval: pair(finding, "threshold_interval"),
    };
    Some(Growth {
        variant: text(finding, "variant")?.into(),
        phase: text(finding, "phase")?.into(),
        level: finding.figures.get("level").and_then(|level| level.get("value")?.as_f64()),
        what,
        curve: blocks.iter().filter_map(point).collect(),
        threshold: number(finding, "threshold_at").filter(|_| shape == "threshold").map(place),
    })
}

/// Where knees of a phase are, and where its variants meet without their syncs.
pub fn places(book: &Book, phase: &str, axis: &str) -> Vec<Place> {
    let here = |finding: &&Finding| {
        text(finding, "phase") == Some(phase) && text(finding, "axis") == Some(axis)
    };
    let knee = |finding: &Finding| {
        Some(Place {
            what: "knee",
            variants: vec![text(finding, "variant")?.into()],
            at: number(finding, "at")?,
            interval: pair(finding, "interval"),
        })
    };
    let meeting = |finding: &Finding| {
        let names = finding.figures.get("variants")?.as_array()?;
        Some(Place {
            what: "crossover",
            variants: names
                .iter()
                .map(|name| Some(name.as_str()?.into()))
                .collect::<Option<_>>()?,
            at: number(finding, "at")?,
            interval: pair(finding, "interval"),
        })
    };
    let synced = |finding: &&Finding| finding.figures.get("sync") == Some(&Value::Bool(true));
    let knees = of_kind(&book.findings, "knee").filter(here).filter_map(knee);
    let meetings = of_kind(&book.findings, "crossover").filter(here);
    knees.chain(meetings.filter(|one| !synced(one)).filter_map(meeting)).collect()
}

/// Places of the line of a slope: it may be drawn where no place is even.
const LINE_PLACES: usize = 32;

/// The line that a `slope` finding tells of the rates of a phase of a variant at its levels, with
/// its height in the rates' own unit: it goes through their mean. Empty where no effect is told.
pub fn slope_line(
    book: &Book,
    (variant, phase): (&str, &str),
    (unit, rates): (Unit, &[(&Level, Estimate)]),
) -> Vec<(f64, f64)> {
    let word = if unit == Unit::Bytes { "bytes" } else { "operations" };
    let own = |finding: &&Finding| {
        let axis = rates.first().map(|(level, _)| level.axis.as_str());
        let told = [("variant", variant), ("phase", phase), ("rate", word)];
        told.iter().all(|(key, value)| text(finding, key) == Some(*value))
            && text(finding, "axis") == axis
            && finding.figures.get("effect") == Some(&Value::Bool(true))
    };
    let line = || {
        let finding = of_kind(&book.findings, "slope").find(own)?;
        let share = number(finding, "change")? / number(finding, "per").filter(|per| *per > 0.0)?;
        let ends = |with: fn(f64, f64) -> f64| rates.iter().map(|(l, _)| l.value).reduce(with);
        let (lowest, highest) = (ends(f64::min)?, ends(f64::max)?);
        let beyond = |level: f64| 1.0 + share * (level - lowest);
        let sum = |of: &dyn Fn(&Level, &Estimate) -> f64| -> f64 {
            rates.iter().map(|(level, rate)| of(level, rate) * f64::from(rate.n)).sum()
        };
        let height = sum(&|_, rate| rate.mean) / sum(&|level, _| beyond(level.value));
        let place = |n: usize| lowest + (highest - lowest) * n as f64 / LINE_PLACES as f64;
        let line = (0..=LINE_PLACES).map(|n| (place(n), height * beyond(place(n))));
        Some(line.filter(|(_, rate)| rate.is_finite() && *rate > 0.0).collect())
    };
    line().unwrap_or_default()
}

#[cfg(test)]
mod tests;
