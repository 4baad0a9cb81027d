//! The order of the variants, by rate; where growth is asked about, by latency at the end.

use serde_json::{Value, json};

use crate::base::units::grouped;
use crate::measure::book::{Finding, Level, Measurement, Window};

use super::fit::scale;
use super::growth::{middle_ns, noun, tellable};
use super::ratio::{Family, Rate, Ratio};
use super::sample::{Sample, Values, log_rate};
use super::say;

/// One for each phase that two variants or more have; with an axis, one for all neighbouring
/// levels that have the same order.
pub(super) fn ranking(sample: &Sample<'_>, at_the_end: bool) -> Vec<Finding> {
    let phases = sample.phases();
    let mut findings = Vec::new();
    for phase in &phases {
        let fields = fields(sample, phase, at_the_end);
        let Some(most) = fields.iter().map(|field| field.runners.len() - 1).max() else { continue };
        let family = Family::of(fields.iter().flat_map(|f| f.runners.iter().map(|r| &r.rate)));
        let judge = Judge { family, comparisons: most * fields.len() * phases.len() };
        let mut from = 0;
        while from < fields.len() {
            let order = judge.order(&fields[from..=from]);
            let alike =
                fields[from + 1..].iter().take_while(|field| judge.same(&order, field)).count();
            let group = &fields[from..=from + alike];
            findings.push(judge.finding(phase, group));
            from += alike + 1;
        }
    }
    findings
}

/// All variants at one level.
struct Field<'a> {
    level: Option<&'a Level>,
    runners: Vec<Runner<'a>>,
    /// Operations done and their noun, where the latency at the end decides.
    end: Option<(u64, &'static str)>,
}

#[derive(Clone, Copy)]
struct Runner<'a> {
    variant: &'a str,
    rate: Rate,
}

/// Two neighbours of the order.
struct Step<'a> {
    faster: &'a str,
    slower: &'a str,
    ratio: Ratio,
}

struct Judge {
    family: Family,
    comparisons: usize,
}

fn fields<'a>(sample: &Sample<'a>, phase: &str, at_the_end: bool) -> Vec<Field<'a>> {
    let field = |level: Option<&'a Level>| {
        let cell = |variant: &&'a str| (*variant, sample.cell(phase, variant, level));
        let cells: Vec<_> =
            sample.variants().iter().map(cell).filter(|(_, cell)| !cell.is_empty()).collect();
        let all = cells.iter().flat_map(|(_, cell)| cell.iter());
        let windows = at_the_end && all.clone().all(|m| tellable(m));
        let operations = all.clone().map(|m| m.operations).max();
        let end = operations.zip(all.clone().next()).filter(|_| windows);
        let runners = cells.iter().filter_map(|(variant, cell)| {
            let values = if windows { values_at_the_end(cell) } else { values(cell) };
            Some(Runner { variant, rate: Rate::of(&values)? })
        });
        let runners: Vec<_> = runners.collect();
        let end = end.map(|(operations, m)| (operations, noun(m)));
        (runners.len() > 1).then_some(Field { level, runners, end })
    };
    sample.levels(phase).into_iter().filter_map(field).collect()
}

fn values(cell: &[&Measurement]) -> Values {
    Values::of(cell, |m| log_rate(m, false))
}

/// The last tenth of the windows, by its middle latency.
fn values_at_the_end(cell: &[&Measurement]) -> Values {
    let last = |m: &Measurement| -> Vec<Window> {
        let number = (m.windows.len() / 10).max(5).min(m.windows.len());
        m.windows[m.windows.len() - number..].to_vec()
    };
    let mut values = Values::of(cell, |m| Some(-middle_ns(&last(m)).ln()));
    // A median's standard error is 1.2533 times a mean's.
    values.own_error = cell.first().filter(|_| values.all.len() == 1).map(|m| {
        let (windows, middle) = (last(m), middle_ns(&last(m)).ln());
        let off: Vec<f64> = windows.iter().map(|w| (w.p50_ns as f64).ln() - middle).collect();
        1.2533 * scale(&off) / (off.len() as f64).sqrt()
    });
    values
}

impl Judge {
    /// The variants from the fastest, and the steps between neighbours, over all these levels.
    fn order<'a>(&self, fields: &[Field<'a>]) -> Vec<Step<'a>> {
        let of = |variant: &str| -> Vec<Rate> {
            let runner = |field: &Field<'_>| {
                field.runners.iter().find(|r| r.variant == variant).map(|r| r.rate)
            };
            fields.iter().filter_map(runner).collect()
        };
        let Some(first) = fields.first() else { return Vec::new() };
        let mean = |variant: &str| of(variant).iter().map(|rate| rate.log).sum::<f64>();
        let mut names: Vec<&str> = first.runners.iter().map(|runner| runner.variant).collect();
        names.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let step = |pair: &[&'a str]| {
            let pairs: Vec<_> = of(pair[0]).into_iter().zip(of(pair[1])).collect();
            let ratio = self.family.ratio(&pairs, self.comparisons);
            Step { faster: pair[0], slower: pair[1], ratio }
        };
        names.windows(2).map(step).collect()
    }

    /// Whether a level has the same order, but for those that tie.
    fn same(&self, order: &[Step<'_>], field: &Field<'_>) -> bool {
        groups(order) == groups(&self.order(std::slice::from_ref(field)))
    }

    fn finding(&self, phase: &str, fields: &[Field<'_>]) -> Finding {
        let steps = self.order(fields);
        let levels: Vec<&Level> = fields.iter().filter_map(|field| field.level).collect();
        let end = fields.first().and_then(|field| field.end);
        let mut place = match levels.as_slice() {
            [] => String::new(),
            [one] => format!(" at {}", say::level(one)),
            [first, .., last] => format!(" from {} to {}", say::level(first), say::level(last)),
        };
        if let Some((operations, noun)) = end {
            place = format!("{place} at {} {noun}", grouped(operations));
        }
        let told: Vec<String> = steps.iter().map(sentence).collect();
        let mut figures = json!({
            "phase": phase,
            "order": order_of(&steps),
            "steps": steps.iter().map(figures_of).collect::<Vec<_>>(),
            "by": if end.is_some() { "latency at the end" } else { "rate" },
            "at": end.map(|(operations, _)| operations),
        });
        if let Some(first) = levels.first() {
            figures["axis"] = json!(first.axis);
            figures["levels"] = json!(levels.iter().map(|level| level.value).collect::<Vec<_>>());
        }
        say::finding("ranking", format!("{phase}{place}: {}.", told.join("; ")), figures)
    }
}

fn order_of<'a>(steps: &[Step<'a>]) -> Vec<&'a str> {
    let first = steps.first().map(|step| step.faster);
    first.into_iter().chain(steps.iter().map(|step| step.slower)).collect()
}

/// The order with those that tie together, sorted by name.
fn groups<'a>(steps: &[Step<'a>]) -> Vec<Vec<&'a str>> {
    let mut groups: Vec<Vec<&str>> =
        steps.first().map(|step| vec![step.faster]).into_iter().collect();
    for step in steps {
        match groups.last_mut() {
            Some(last) if step.ratio.tie() => last.push(step.slower),
            _ => groups.push(vec![step.slower]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

fn figures_of(step: &Step<'_>) -> Value {
    json!({
        "faster": step.faster, "slower": step.slower, "ratio": step.ratio.times(),
        "interval": step.ratio.interval(), "tie": step.ratio.tie(),
    })
}

fn sentence(step: &Step<'_>) -> String {
    let Step { faster, slower, ratio } = step;
    let times = say::times(ratio.times());
    match ratio.interval() {
        None => {
            format!("{faster} and {slower} were measured too seldom to compare ({times} times)")
        }
        Some(interval) if ratio.tie() => {
            let span = say::span(interval);
            format!("no difference seen between {faster} and {slower} ({times} times, {span})")
        }
        Some(interval) => {
            format!("{faster} is {times} times as fast as {slower} ({})", say::span(interval))
        }
    }
}
