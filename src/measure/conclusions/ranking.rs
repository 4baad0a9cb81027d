//! The order of the variants: over the whole job by the time of all phases, and in each phase by
//! rate; where growth is asked about, by latency at the end.

mod chain;
pub(in crate::measure) mod whole;

use serde_json::{Value, json};

use crate::base::units::grouped;
use crate::measure::book::{Book, Finding, Level, Measurement, Window};
use crate::measure::order::each_once;

use super::course::tellable;
use super::fit::scale;
use super::growth::{middle_ns, noun};
use super::ratio::{Family, Rate, Ratio};
use super::sample::{Sample, Values, log_rate};
use super::say;

/// First the whole job, if it has two phases or more; then one for each phase that two variants or
/// more have. With an axis, one for all neighbouring levels that have the same order.
pub(super) fn ranking(
    book: &Book,
    sample: &Sample<'_>,
    variants: &[&str],
    at_the_end: bool,
) -> Vec<Finding> {
    let mut findings = ranked(None, &whole::fields(book, variants), 1);
    let phases = sample.phases();
    for phase in &phases {
        findings.extend(ranked(Some(phase), &fields(sample, phase, at_the_end), phases.len()));
    }
    findings
}

/// Each variant over several levels, repeat by repeat: what a variant's turn was like is common to all
/// levels of it, so these are no independent measurements.
struct OverLevels<'a> {
    runners: Vec<(&'a str, Values, Rate)>,
    family: Family,
}

impl<'a> OverLevels<'a> {
    /// None unless all levels have the same repeats of the same variants.
    fn of(fields: &[Field<'a>]) -> Option<Self> {
        let first = fields.first()?;
        let in_turns = first.in_turns;
        let one = |runner: &Runner<'a>| -> Option<(&'a str, Values)> {
            let of_field = |field: &Field<'a>| -> Option<Values> {
                let found = field.runners.iter().find(|other| other.variant == runner.variant)?;
                Some(found.values.clone())
            };
            let all: Vec<Values> = fields.iter().map(of_field).collect::<Option<_>>()?;
            let repeats = |values: &Values| values.all.iter().map(|(r, _)| *r).collect::<Vec<_>>();
            let same =
                |values: &Values| values.repeated && repeats(values) == repeats(&runner.values);
            let mean = |at: usize| {
                all.iter().map(|values| values.all[at].1).sum::<f64>() / all.len() as f64
            };
            all.iter().all(same).then(|| {
                let merged =
                    runner.values.all.iter().enumerate().map(|(at, (r, _))| (*r, mean(at)));
                (runner.variant, Values { all: merged.collect(), ..runner.values.clone() })
            })
        };
        let all: Vec<_> = first.runners.iter().map(one).collect::<Option<_>>()?;
        let rates = rates(&all.iter().map(|(_, values)| values).collect::<Vec<_>>(), in_turns);
        let family = Family::of(&rates);
        let runners = all.into_iter().zip(rates).map(|((name, values), rate)| (name, values, rate));
        Some(Self { runners: runners.collect(), family })
    }

    fn ratio(&self, faster: &str, slower: &str, comparisons: usize) -> Ratio {
        let of = |name: &str| self.runners.iter().find(|(variant, ..)| *variant == name);
        match of(faster).zip(of(slower)) {
            Some(((_, a, of_a), (_, b, of_b))) => {
                self.family.ratio_in_turns((*of_a, *of_b), [a, b], comparisons)
            }
            None => self.family.ratio(&[], comparisons),
        }
    }
}

/// How many times as fast the second of two variants of a run was as the first: the whole job, if it
/// has two phases or more, then each phase, at each level. Each interval holds for itself.
pub(in crate::measure) fn between<'a>(
    book: &'a Book,
    [a, b]: [&'a str; 2],
) -> Vec<(Option<&'a str>, Option<&'a Level>, Ratio)> {
    let sample = Sample::of(book, &[a, b]);
    let phases = sample.phases();
    let of_phases = phases.iter().map(|phase| (Some(*phase), fields(&sample, phase, false)));
    let all = [(None, whole::fields(book, &[a, b]))].into_iter().chain(of_phases);
    let mut found = Vec::new();
    for (phase, fields) in all {
        let family = Family::of(fields.iter().flat_map(|f| f.runners.iter().map(|r| &r.rate)));
        for field in &fields {
            let of = |name| field.runners.iter().find(|r| r.variant == name);
            if let Some((b, a)) = of(b).zip(of(a)) {
                let values = [&b.values, &a.values];
                let ratio = family.ratio_in_turns((b.rate, a.rate), values, 1);
                found.push((phase, field.level, ratio));
            }
        }
    }
    found
}

/// The findings of a phase, or of all; `rankings` is how many there are beside each other.
fn ranked(phase: Option<&str>, fields: &[Field<'_>], rankings: usize) -> Vec<Finding> {
    let Some(most) = fields.iter().map(|field| field.runners.len() - 1).max() else {
        return Vec::new();
    };
    let family = Family::of(fields.iter().flat_map(|f| f.runners.iter().map(|r| &r.rate)));
    // Each is held against the one before it and against the first, which for one is the same.
    let judge = Judge { family, comparisons: (2 * most - 1) * fields.len() * rankings };
    let (mut findings, mut from) = (Vec::new(), 0);
    while from < fields.len() {
        let order = judge.order(&fields[from..=from]);
        let alike = fields[from + 1..].iter().take_while(|field| judge.same(&order, field)).count();
        findings.push(judge.finding(phase, &fields[from..=from + alike]));
        from += alike + 1;
    }
    findings
}

/// All variants at one level.
struct Field<'a> {
    level: Option<&'a Level>,
    /// Whether its runners took turns, repeat by repeat.
    in_turns: bool,
    runners: Vec<Runner<'a>>,
    /// Operations done and their noun, where the latency at the end decides.
    end: Option<(u64, &'static str)>,
    /// Variants that cannot take part, and why.
    left_out: Vec<(&'a str, String)>,
    /// Something that a reader must know of all of them.
    note: Option<&'static str>,
}

#[derive(Clone)]
struct Runner<'a> {
    variant: &'a str,
    rate: Rate,
    values: Values,
    /// What was found of the caches, each once.
    caches: Vec<&'a str>,
}

impl<'a> Runner<'a> {
    /// All that a rate can be made of, each with its measurements and their values.
    fn all(of: Vec<(&'a str, Vec<&'a Measurement>, Values)>, in_turns: bool) -> Vec<Self> {
        let all: Vec<_> = of.into_iter().filter(|(.., values)| !values.all.is_empty()).collect();
        let rates = rates(&all.iter().map(|(.., values)| values).collect::<Vec<_>>(), in_turns);
        let one = |((variant, cell, values), rate): ((&'a str, Vec<&'a Measurement>, _), Rate)| {
            let mut caches = each_once(cell.iter().map(|m| m.cache.found.word()));
            caches.sort_unstable();
            Self { variant, rate, values, caches }
        };
        all.into_iter().zip(rates).map(one).collect()
    }
}

fn rates(values: &[&Values], in_turns: bool) -> Vec<Rate> {
    if in_turns {
        return Rate::of_turns(values);
    }
    values.iter().filter_map(|values| Rate::of(values)).collect()
}

/// Two neighbours of the order.
struct Step<'a> {
    faster: &'a str,
    slower: &'a str,
    ratio: Ratio,
    /// How many times faster the first of the order is than the slower.
    behind_first: Ratio,
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
        let noun = all.clone().next().map(|m| noun(m));
        let with_values = |(variant, cell): (&'a str, Vec<&'a Measurement>)| {
            let values = if windows { values_at_the_end(&cell) } else { values(&cell) };
            (variant, cell, values)
        };
        let cells: Vec<_> = cells.into_iter().map(with_values).collect();
        let runners = Runner::all(cells, sample.in_turns());
        let end = operations.zip(noun).filter(|_| windows);
        let (in_turns, left_out) = (sample.in_turns(), Vec::new());
        let field = Field { level, in_turns, runners, end, left_out, note: None };
        (field.runners.len() > 1).then_some(field)
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
        let of = |variant: &str| -> Vec<&Runner<'a>> {
            let runner = |field: &'_ Field<'a>| -> Option<usize> {
                field.runners.iter().position(|r| r.variant == variant)
            };
            fields.iter().filter_map(|field| Some(&field.runners[runner(field)?])).collect()
        };
        let Some(first) = fields.first() else { return Vec::new() };
        let mean = |variant: &str| of(variant).iter().map(|r| r.rate.log).sum::<f64>();
        let mut names: Vec<&str> = first.runners.iter().map(|runner| runner.variant).collect();
        names.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let over_levels = if fields.len() > 1 { OverLevels::of(fields) } else { None };
        let ratio = |faster: &str, slower: &str| match (&over_levels, of(faster), of(slower)) {
            (Some(over), ..) => over.ratio(faster, slower, self.comparisons),
            (None, a, b) if a.len() == 1 && b.len() == 1 => {
                let (rates, values) = ((a[0].rate, b[0].rate), [&a[0].values, &b[0].values]);
                self.family.ratio_in_turns(rates, values, self.comparisons)
            }
            (None, a, b) => {
                let pairs: Vec<_> = a.into_iter().zip(b).map(|(a, b)| (a.rate, b.rate)).collect();
                self.family.ratio(&pairs, self.comparisons)
            }
        };
        let step = |pair: &[&'a str]| {
            let (faster, slower) = (pair[0], pair[1]);
            let behind_first = ratio(names[0], slower);
            Step { faster, slower, ratio: ratio(faster, slower), behind_first }
        };
        names.windows(2).map(step).collect()
    }

    /// Whether a level has the same order, but for those that tie.
    fn same(&self, order: &[Step<'_>], field: &Field<'_>) -> bool {
        groups(order) == groups(&self.order(std::slice::from_ref(field)))
    }

    fn finding(&self, phase: Option<&str>, fields: &[Field<'_>]) -> Finding {
        let steps = self.order(fields);
        let levels: Vec<&Level> = fields.iter().filter_map(|field| field.level).collect();
        let end = fields.first().and_then(|field| field.end);
        let left_out = each_once(fields.iter().flat_map(|field| field.left_out.iter()));
        let by = match (phase, end) {
            (None, _) => "time of all phases",
            (Some(_), Some(_)) => "latency at the end",
            (Some(_), None) => "rate",
        };
        let mut figures = json!({
            "phase": phase,
            "order": order_of(&steps),
            "steps": steps.iter().map(figures_of).collect::<Vec<_>>(),
            "by": by,
            "at": end.map(|(operations, _)| operations),
        });
        if phase.is_none() {
            let names = each_once(left_out.iter().map(|(variant, _)| *variant));
            figures["left_out"] = json!(names);
        }
        if let Some(first) = levels.first() {
            figures["axis"] = json!(first.axis);
            figures["levels"] = json!(levels.iter().map(|level| level.value).collect::<Vec<_>>());
        }
        let head = format!("{}{}", phase.unwrap_or("over all phases"), place(&levels, end));
        let mut sentence = format!("{head}: {}.", chain::told(&steps));
        if !left_out.is_empty() {
            let told = left_out.iter().map(|(variant, why)| format!("{variant} ({why})"));
            sentence += &format!(" Left out: {}.", told.collect::<Vec<_>>().join(", "));
        }
        sentence += &chain::caches(fields);
        let notes = each_once(fields.iter().filter_map(|field| field.note));
        notes.iter().for_each(|note| sentence += &format!(" {note}"));
        say::finding("ranking", sentence, figures)
    }
}

/// Where the order was found.
fn place(levels: &[&Level], end: Option<(u64, &'static str)>) -> String {
    let place = match levels {
        [] => String::new(),
        [one] => format!(" at {}", say::level(one)),
        [first, .., last] => format!(" from {} to {}", say::level(first), say::level(last)),
    };
    match end {
        Some((operations, noun)) => format!("{place} at {} {noun}", grouped(operations)),
        None => place,
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
        "behind_first": {
            "ratio": step.behind_first.times(), "interval": step.behind_first.interval(),
            "tie": step.behind_first.tie(),
        },
    })
}
