//! Resolves the values of a job file's keys: parameters, and quantities with their unit and range.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use super::Settings;
use crate::report::{ProblemList, below, element, short};
use crate::wire::{OneOrMany, WireJob, WireQuantity};
use boatload_base::text_limits::NAME_BYTES_MAX;
use boatload_base::units::{Quantity, Unit, bytes, duration, grouped};

/// The value of a name.
#[derive(Clone, Debug)]
enum ParameterValue {
    One(Quantity),
    Many(Vec<Quantity>),
    /// Something is wrong with it, and has been reported.
    Broken,
}

/// What names stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    values: BTreeMap<String, ParameterValue>,
    /// Some names could not be read, so that an unknown one may be none of the user's mistakes.
    incomplete: bool,
    /// Memory of the machine, in bytes; 0 if unknown.
    memory_bytes: u64,
}

const TOP: &str = "parameters";
const QUANTITY: &str = "a quantity such as 1_000, \"16MiB\", \"80%\" or \"20us\"";

/// How a multiple of the machine's memory ends: `"2x memory"`.
const MEMORY: &str = "x memory";

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
            let mut keys = KeyReader { place, scope: &scope, report };
            let value = keys.parameter(scale.unwrap_or_default(), value);
            scope.values.insert(name.clone(), value.unwrap_or(ParameterValue::Broken));
        }
        // What has a problem of its own was left out; its name is still known.
        for name in report.keys_below(TOP) {
            scope.values.entry(name).or_insert(ParameterValue::Broken);
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
            let valid = self.values.keys().map(String::as_str);
            report.add_unknown_word(&place, "the parameter", name, valid);
            return;
        };
        *old = match (parts, &*old) {
            (Some(many), ParameterValue::Many(_)) => ParameterValue::Many(many),
            (Some(one), _) if one.len() == 1 => ParameterValue::One(one[0]),
            (Some(_), ParameterValue::One(_)) => {
                let hint = "a number is written without commas";
                report.add_with_hint(&place, short(text), "one quantity", hint);
                ParameterValue::Broken
            }
            (Some(many), _) => ParameterValue::Many(many),
            (None, _) => {
                report.add(&place, format!("`{}`", short(text)), QUANTITY);
                ParameterValue::Broken
            }
        };
    }

    /// The same with the axis and its level, as far as they are known.
    pub(super) fn with(&self, name: Option<&str>, level: Option<Quantity>) -> Self {
        let mut more = self.clone();
        match name {
            Some(name) => {
                more.values
                    .insert(name.into(), level.map_or(ParameterValue::Broken, ParameterValue::One));
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
        let Some(OneOrMany::One(one)) = wire else { return false };
        let value = one.parameter().and_then(|name| self.values.get(name));
        matches!(value, Some(ParameterValue::Broken))
    }

    /// All parameters by name, their values as text for people.
    pub(super) fn written(&self) -> BTreeMap<String, String> {
        let text = |value: &ParameterValue| match value {
            ParameterValue::One(one) => one.to_string(),
            ParameterValue::Many(many) => {
                many.iter().map(Quantity::to_string).collect::<Vec<_>>().join(", ")
            }
            ParameterValue::Broken => String::new(),
        };
        self.values.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// A number with its unit or without; bytes for a multiple of the memory.
    fn read_text(&self, text: &str) -> Option<Quantity> {
        let Some(times) = text.trim().strip_suffix(MEMORY) else { return Quantity::parse(text) };
        let times = Quantity::parse(times).filter(|times| times.unit == Unit::Count)?;
        let value = (times.value * self.memory_bytes as f64).floor();
        (self.memory_bytes > 0).then_some(Quantity { value, unit: Unit::Bytes })
    }
}

/// Reads the keys below one place of a job file, and reports what is wrong with them under their
/// paths. The empty key is the place itself.
pub(super) struct KeyReader<'a> {
    place: String,
    scope: &'a Scope,
    pub(super) report: &'a mut ProblemList,
}

impl<'a> KeyReader<'a> {
    pub(super) fn new(
        place: impl Into<String>,
        scope: &'a Scope,
        report: &'a mut ProblemList,
    ) -> Self {
        Self { place: place.into(), scope, report }
    }

    /// The keys below one of the keys.
    pub(super) fn table(&mut self, key: &str) -> KeyReader<'_> {
        KeyReader { place: self.path(key), scope: self.scope, report: self.report }
    }

    pub(super) fn path(&self, key: &str) -> String {
        match key {
            "" => self.place.clone(),
            element if element.starts_with('[') => format!("{}{element}", self.place),
            key => below(&self.place, key),
        }
    }

    pub(super) fn is_broken(&self, key: &str) -> bool {
        self.report.is_broken(&self.path(key))
    }

    pub(super) fn is_broken_inside(&self, key: &str) -> bool {
        self.report.is_broken_inside(&self.path(key))
    }

    pub(super) fn problem(
        &mut self,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.report.add(&self.path(key), found, expected);
    }

    pub(super) fn problem_with_hint(
        &mut self,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.report.add_with_hint(&self.path(key), found, expected, hint);
    }

    /// A whole number in a unit and a range; a plain number takes the unit, except for times. None
    /// if the key is absent or wrong.
    pub(super) fn whole<'w>(
        &mut self,
        key: &str,
        wire: impl Into<Option<&'w WireQuantity>>,
        unit: Unit,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let wire = wire.into()?;
        let quantity = self.quantity(key, wire)?;
        let whole = quantity.whole().filter(|n| range.contains(n) && fits(quantity, unit));
        if whole.is_none() {
            let expected = format!("{} {}", kind_of(unit), written_range(unit, &range));
            self.problem(key, described(wire, quantity), expected);
        }
        whole
    }

    /// The same below 2^32; the default where the key is absent.
    pub(super) fn whole_or(
        &mut self,
        default: u32,
        key: &str,
        wire: &Option<WireQuantity>,
        unit: Unit,
        range: RangeInclusive<u64>,
    ) -> Option<u32> {
        match wire {
            None => Some(default),
            Some(wire) => self.whole(key, wire, unit, range).and_then(|n| u32::try_from(n).ok()),
        }
    }

    /// A number in a unit and a range; `None` if the key is absent or wrong.
    pub(super) fn number<'w>(
        &mut self,
        key: &str,
        wire: impl Into<Option<&'w WireQuantity>>,
        unit: Unit,
        range: RangeInclusive<f64>,
    ) -> Option<f64> {
        let wire = wire.into()?;
        let quantity = self.quantity(key, wire)?;
        let is_good = range.contains(&quantity.value) && fits(quantity, unit);
        if !is_good {
            let what = if unit == Unit::Percent { "a percentage" } else { "a number" };
            let expected = format!("{what} {}", from_to(range.start(), range.end()));
            self.problem(key, described(wire, quantity), expected);
        }
        is_good.then_some(quantity.value)
    }

    /// A quantity in whatever unit it has.
    pub(super) fn quantity(&mut self, key: &str, wire: &WireQuantity) -> Option<Quantity> {
        let Some(name) = wire.parameter() else { return self.literal(key, wire) };
        match self.named(key, name)? {
            ParameterValue::One(quantity) => Some(*quantity),
            ParameterValue::Many(_) => {
                let found = format!("`${}`, which is a list", short(name));
                self.problem(key, found, "one quantity");
                None
            }
            ParameterValue::Broken => None,
        }
    }

    /// A list of quantities, or the name of one; `None` if anything is wrong with it.
    pub(super) fn list(&mut self, key: &str, wire: &OneOrMany) -> Option<Vec<Quantity>> {
        let found = match wire {
            OneOrMany::Many(list) => return self.each(key, list, Self::quantity),
            OneOrMany::One(one) => match one.parameter() {
                Some(name) => match self.named(key, name)? {
                    ParameterValue::Many(many) => return Some(many.clone()),
                    ParameterValue::One(_) => format!("`${}`, which is no list", short(name)),
                    ParameterValue::Broken => return None,
                },
                None => "one quantity".into(),
            },
        };
        self.problem(key, found, "a list of quantities");
        None
    }

    /// One quantity or several, or the name of either; `None` if anything is wrong with it.
    pub(super) fn one_or_many(&mut self, key: &str, wire: &OneOrMany) -> Option<Vec<Quantity>> {
        let OneOrMany::One(one) = wire else { return self.list(key, wire) };
        if let Some(ParameterValue::Many(many)) =
            one.parameter().and_then(|n| self.scope.values.get(n))
        {
            return Some(many.clone());
        }
        self.quantity(key, one).map(|one| vec![one])
    }

    /// A parameter's value. It names no other, so that no two can name each other.
    fn parameter(&mut self, key: &str, value: &OneOrMany) -> Option<ParameterValue> {
        match value {
            OneOrMany::One(one) => self.literal(key, one).map(ParameterValue::One),
            OneOrMany::Many(many) => self.each(key, many, Self::literal).map(ParameterValue::Many),
        }
    }

    /// All elements of a list, each of them read, so that every problem is reported.
    fn each(
        &mut self,
        key: &str,
        list: &[WireQuantity],
        read: fn(&mut Self, &str, &WireQuantity) -> Option<Quantity>,
    ) -> Option<Vec<Quantity>> {
        let all = list.iter().enumerate();
        let all: Vec<_> = all.map(|(at, one)| read(self, &element(key, at), one)).collect();
        all.into_iter().collect()
    }

    fn named(&mut self, key: &str, name: &str) -> Option<&'a ParameterValue> {
        let scope = self.scope;
        let found = scope.values.get(name);
        if found.is_none() && !scope.incomplete {
            let known: Vec<String> = scope.values.keys().map(|key| format!("${key}")).collect();
            let words = known.iter().map(String::as_str);
            self.report.add_unknown_word(&self.path(key), "", &format!("${name}"), words);
        }
        found
    }

    fn literal(&mut self, key: &str, wire: &WireQuantity) -> Option<Quantity> {
        let text = match wire {
            WireQuantity::Number(number) => return Some(Quantity::count(*number)),
            WireQuantity::Text(text) => text,
        };
        // Digits enough make a number that is infinite.
        let read = self.scope.read_text(text).filter(|quantity| quantity.value.is_finite());
        if read.is_none() {
            self.problem(key, format!("`{}`", short(text)), QUANTITY);
        }
        read
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

/// The value as the job file has it, and the quantity that it means.
pub(super) fn described(wire: &WireQuantity, quantity: Quantity) -> String {
    match wire {
        WireQuantity::Number(number) => number.to_string(),
        WireQuantity::Text(text) if text.starts_with('$') => {
            format!("`{}`, which is {quantity}", short(text))
        }
        WireQuantity::Text(text) => short(text),
    }
}

/// Names that `"$name"` and `--set name=value` can be written with.
pub(super) fn check_name(name: &str, place: &str, report: &mut ProblemList) {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(good) {
        let expected = format!("a name of up to {NAME_BYTES_MAX} letters, digits, `_` and `-`");
        report.add(place, format!("`{}`", short(name)), expected);
    }
}

/// Names that appear in results, between slashes.
pub(super) fn check_part_title(name: &str, place: &str, report: &mut ProblemList) {
    check_title(name, place, report);
    if name.contains('/') {
        let expected = "a name without `/`, which stands between a mix, its works and their steps";
        report.add(place, format!("`{name}`"), expected);
    }
}

/// Names that appear in results.
pub(super) fn check_title(name: &str, place: &str, report: &mut ProblemList) {
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        let expected = format!("a name of up to {NAME_BYTES_MAX} bytes, not empty, on one line");
        report.add(place, format!("`{}`", short(name)), expected);
    }
}
