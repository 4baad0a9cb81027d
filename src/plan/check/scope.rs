//! Parameters and the axis by name, and quantities checked for their unit and range.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use super::Settings;
use crate::base::units::{Quantity, Unit, bytes, duration, grouped};
use crate::plan::report::{ProblemList, below, element, short};
use crate::plan::wire::{OneOrMany, WireJob, WireQuantity};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    One(Quantity),
    Many(Vec<Quantity>),
    /// Something is wrong with it, and has been reported.
    Broken,
}

/// What names stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    values: BTreeMap<String, Value>,
    /// Some names could not be read, so that an unknown one may be none of the user's mistakes.
    incomplete: bool,
    /// Memory of the machine, in bytes; 0 if unknown.
    memory_bytes: u64,
}

const TOP: &str = "parameters";
const QUANTITY: &str = "a quantity such as 1_000, \"16MiB\", \"80%\" or \"20us\"";

impl Scope {
    /// The parameters at the settings' scale, with those that `--set` changes.
    pub(super) fn read(job: &WireJob, settings: &Settings, report: &mut ProblemList) -> Self {
        let incomplete = report.is_broken(TOP);
        let memory_bytes = settings.memory_bytes;
        let mut scope = Self { incomplete, memory_bytes, ..Self::default() };
        for (name, value) in &job.parameters {
            let place = below(TOP, name);
            check_name(name, &place, report);
            let (value, scale) = value.at(settings.scale);
            let place = scale.map_or(place.clone(), |scale| below(&place, scale));
            let value = scope.parameter(value, &place, report);
            scope.values.insert(name.clone(), value);
        }
        // What has a problem of its own was left out; its name is still known.
        for name in report.keys_below(TOP) {
            scope.values.entry(name).or_insert(Value::Broken);
        }
        for (name, text) in &settings.set {
            scope.set(name, text, report);
        }
        scope
    }

    fn set(&mut self, name: &str, text: &str, report: &mut ProblemList) {
        let place = format!("--set {name}");
        let parts: Option<Vec<Quantity>> =
            text.split(',').map(|part| self.read_text(part)).collect();
        let Some(old) = self.values.get_mut(name) else {
            report.add_word(&place, "the parameter", name, self.values.keys().map(String::as_str));
            return;
        };
        let new = match (parts, &*old) {
            (Some(many), Value::Many(_)) => Value::Many(many),
            (Some(one), _) if one.len() == 1 => Value::One(one[0]),
            (Some(_), Value::One(_)) => {
                let hint = "a number is written without commas".to_string();
                report.add(&place, short(text), "one quantity", Some(hint));
                Value::Broken
            }
            (Some(many), _) => Value::Many(many),
            (None, _) => {
                report.add(&place, format!("`{}`", short(text)), QUANTITY, None);
                Value::Broken
            }
        };
        *old = new;
    }

    /// The same with the axis and its level, as far as they are known.
    pub(super) fn with(&self, name: Option<&str>, level: Option<Quantity>) -> Self {
        let mut more = self.clone();
        match name {
            Some(name) => {
                more.values.insert(name.into(), level.map_or(Value::Broken, Value::One));
            }
            None => more.incomplete = true,
        }
        more
    }

    /// Whether a name is taken.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Whether a list is the name of something already reported.
    pub(super) fn is_broken_list(&self, wire: Option<&OneOrMany>) -> bool {
        let Some(OneOrMany::One(WireQuantity::Text(text))) = wire else { return false };
        let named = text.strip_prefix('$').and_then(|name| self.values.get(name));
        matches!(named, Some(Value::Broken))
    }

    /// All that is known, as text for people.
    pub(super) fn written(&self) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::One(one) => one.to_string(),
            Value::Many(many) => {
                many.iter().map(Quantity::to_string).collect::<Vec<_>>().join(", ")
            }
            Value::Broken => String::new(),
        };
        self.values.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    fn named(&self, name: &str, place: &str, report: &mut ProblemList) -> Option<&Value> {
        let found = self.values.get(name);
        if found.is_none() && !self.incomplete {
            let known: Vec<String> = self.values.keys().map(|key| format!("${key}")).collect();
            let words = known.iter().map(String::as_str);
            report.add_word(place, "", &format!("${name}"), words);
        }
        found
    }

    /// A quantity in whatever unit it has.
    pub(super) fn quantity(
        &self,
        wire: &WireQuantity,
        place: &str,
        report: &mut ProblemList,
    ) -> Option<Quantity> {
        let WireQuantity::Text(text) = wire else {
            return self.literal(wire, place, report);
        };
        let Some(name) = text.strip_prefix('$') else {
            return self.literal(wire, place, report);
        };
        match self.named(name, place, report)? {
            Value::One(quantity) => Some(*quantity),
            Value::Many(_) => {
                let found = format!("`${}`, which is a list", short(name));
                report.add(place, found, "one quantity", None);
                None
            }
            Value::Broken => None,
        }
    }

    /// A list of quantities, or the name of one; none if anything is wrong with it.
    pub(super) fn list(
        &self,
        wire: &OneOrMany,
        place: &str,
        report: &mut ProblemList,
    ) -> Option<Vec<Quantity>> {
        match wire {
            OneOrMany::Many(list) => {
                let each = list.iter().enumerate();
                let found = each.map(|(at, one)| self.quantity(one, &element(place, at), report));
                found.collect::<Vec<_>>().into_iter().collect()
            }
            OneOrMany::One(WireQuantity::Text(text)) if text.starts_with('$') => {
                match self.named(&text[1..], place, report)? {
                    Value::Many(many) => Some(many.clone()),
                    Value::One(_) => {
                        let found = format!("`{}`, which is no list", short(text));
                        report.add(place, found, "a list of quantities", None);
                        None
                    }
                    Value::Broken => None,
                }
            }
            OneOrMany::One(_) => {
                report.add(place, "one quantity", "a list of quantities", None);
                None
            }
        }
    }

    /// One quantity or several, or the name of either; none if anything is wrong with it.
    pub(super) fn one_or_many(
        &self,
        wire: &OneOrMany,
        place: &str,
        report: &mut ProblemList,
    ) -> Option<Vec<Quantity>> {
        let OneOrMany::One(one) = wire else { return self.list(wire, place, report) };
        if let WireQuantity::Text(text) = one
            && let Some(Value::Many(many)) = text.strip_prefix('$').and_then(|n| self.values.get(n))
        {
            return Some(many.clone());
        }
        self.quantity(one, place, report).map(|one| vec![one])
    }

    /// A whole number in a unit and a range; a plain number takes the unit, except for times.
    pub(super) fn whole(
        &self,
        wire: &WireQuantity,
        place: &str,
        (unit, range): (Unit, RangeInclusive<u64>),
        report: &mut ProblemList,
    ) -> Option<u64> {
        let quantity = self.quantity(wire, place, report)?;
        let whole = quantity.whole().filter(|n| range.contains(n) && fits(quantity, unit));
        if whole.is_none() {
            let wanted = format!("{} {}", kind_of(unit), written_range(unit, &range));
            report.add(place, described(wire, quantity), wanted, None);
        }
        whole
    }

    /// A number in a unit and a range.
    pub(super) fn number(
        &self,
        wire: &WireQuantity,
        place: &str,
        (unit, range): (Unit, RangeInclusive<f64>),
        report: &mut ProblemList,
    ) -> Option<f64> {
        let quantity = self.quantity(wire, place, report)?;
        let fits = range.contains(&quantity.value) && fits(quantity, unit);
        if !fits {
            let what = if unit == Unit::Percent { "a percentage" } else { "a number" };
            let wanted = format!("{what} {}", from_to(range.start(), range.end()));
            report.add(place, described(wire, quantity), wanted, None);
        }
        fits.then_some(quantity.value)
    }
}

fn fits(quantity: Quantity, unit: Unit) -> bool {
    let plain =
        quantity.unit == Unit::Count && (unit != Unit::Nanoseconds || quantity.value == 0.0);
    quantity.unit == unit || plain
}

fn kind_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "a whole number",
        Unit::Bytes => "whole bytes",
        Unit::Percent => "a whole percentage",
        Unit::Nanoseconds => "a time with its unit, such as \"20us\",",
    }
}

fn written_range(unit: Unit, range: &RangeInclusive<u64>) -> String {
    let write = |n: u64| match unit {
        Unit::Count => grouped(n),
        Unit::Percent => format!("{n}%"),
        Unit::Bytes => bytes(n),
        Unit::Nanoseconds => duration(n as f64),
    };
    from_to(write(*range.start()), write(*range.end()))
}

fn from_to(least: impl Display, most: impl Display) -> String {
    format!("from {least} to {most}")
}

/// What stands there, and what it stands for.
pub(super) fn described(wire: &WireQuantity, quantity: Quantity) -> String {
    match wire {
        WireQuantity::Number(number) => number.to_string(),
        WireQuantity::Text(text) if text.starts_with('$') => {
            format!("`{}`, which is {quantity}", short(text))
        }
        WireQuantity::Text(text) => short(text),
    }
}

/// How a multiple of the machine's memory ends: `"2x memory"`.
const MEMORY: &str = "x memory";

impl Scope {
    /// What is written, without its unit or with it; bytes for a multiple of the memory.
    fn read_text(&self, text: &str) -> Option<Quantity> {
        let Some(times) = text.trim().strip_suffix(MEMORY) else { return Quantity::parse(text) };
        let times = Quantity::parse(times).filter(|times| times.unit == Unit::Count)?;
        let value = (times.value * self.memory_bytes as f64).floor();
        (self.memory_bytes > 0).then_some(Quantity { value, unit: Unit::Bytes })
    }

    fn literal(
        &self,
        wire: &WireQuantity,
        place: &str,
        report: &mut ProblemList,
    ) -> Option<Quantity> {
        match wire {
            WireQuantity::Number(number) => Some(Quantity::count(*number)),
            WireQuantity::Text(text) => {
                // Digits enough make a number that is infinite.
                let read = self.read_text(text).filter(|quantity| quantity.value.is_finite());
                if read.is_none() {
                    report.add(place, format!("`{}`", short(text)), QUANTITY, None);
                }
                read
            }
        }
    }

    /// A parameter's value. It names no other, so that no two can name each other.
    fn parameter(&self, value: &OneOrMany, place: &str, report: &mut ProblemList) -> Value {
        match value {
            OneOrMany::One(one) => {
                self.literal(one, place, report).map_or(Value::Broken, Value::One)
            }
            OneOrMany::Many(many) => {
                let each = many.iter().enumerate();
                let read: Vec<_> =
                    each.map(|(at, one)| self.literal(one, &element(place, at), report)).collect();
                let read: Option<Vec<_>> = read.into_iter().collect();
                read.map_or(Value::Broken, Value::Many)
            }
        }
    }
}

/// Names that `"$name"` and `--set name=value` can be written with.
pub(super) fn check_name(name: &str, place: &str, report: &mut ProblemList) {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 60 || !name.chars().all(good) {
        let expected = "a name of up to 60 letters, digits, `_` and `-`";
        report.add(place, format!("`{}`", short(name)), expected, None);
    }
}

/// Names that appear in results.
pub(super) fn check_title(name: &str, place: &str, report: &mut ProblemList) {
    if name.trim().is_empty() || name.len() > 60 || name.chars().any(char::is_control) {
        let expected = "a name of up to 60 bytes, not empty, on one line";
        report.add(place, format!("`{}`", short(name)), expected, None);
    }
}
