//! Reads a TOML file into wire structs, with the line of every key. The document is held against the
//! schema: every difference is reported, and what fits is kept. serde alone would stop at the first
//! difference and know no lines.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue, Error};

use super::report::{ProblemList, below, element, one_of, short};
use super::schema::toml_schema;
use boatload_base::problem::{Problem, Problems};

/// The text, for lines and quotes.
struct TomlSource<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> TomlSource<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line, from 1, of a byte.
    fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// The text in a range of bytes.
    fn quote(&self, span: std::ops::Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }
}

/// Reads the text as far as it is what the schema says; everything else is in the report.
///
/// # Errors
/// The first problem, if the text is not TOML.
pub(super) fn read<T>(text: &str) -> Result<(T, ProblemList), Problems>
where
    T: JsonSchema + DeserializeOwned + Default,
{
    let source = TomlSource::new(text);
    let document = DeTable::parse(text).map_err(|error| not_toml(&source, &error))?;
    let mut report = ProblemList::default();
    let schema = toml_schema::<T>();
    let value = fitting(&schema, &source, document.get_ref(), &mut report);
    let wire = serde_json::from_value(value).unwrap_or_else(|error| {
        // The structural check leaves nothing that serde could object to; if it ever does, its
        // message is better than none.
        report.add("", error.to_string(), "a file as the schema says");
        T::default()
    });
    Ok((wire, report))
}

fn not_toml(source: &TomlSource<'_>, error: &Error) -> Problems {
    let span = error.span().unwrap_or_default();
    let line = source.line(span.start);
    let start = source.line_starts.get(line - 1).copied().unwrap_or_default();
    let written = source.quote(start..source.text.len()).lines().next().unwrap_or_default();
    let mut problems = Problems::default();
    problems.add(Problem {
        line: Some(line),
        place: "TOML".into(),
        found: format!("`{}`", short(written.trim())),
        expected: "a line of TOML".into(),
        hint: Some(error.message().replace('\n', ", ")),
    });
    problems
}

/// What of the document fits the schema; the rest is left out and in the report.
fn fitting(
    schema: &Value,
    source: &TomlSource<'_>,
    document: &DeTable<'_>,
    report: &mut ProblemList,
) -> Value {
    let mut walker = Walker { root: schema, source, report };
    walker.fields(schema, document, "").0
}

struct Walker<'a> {
    root: &'a Value,
    source: &'a TomlSource<'a>,
    report: &'a mut ProblemList,
}

type TomlValue<'i> = Spanned<DeValue<'i>>;

impl<'a> Walker<'a> {
    /// The forms a schema allows: references followed, alternatives laid side by side.
    fn forms(&self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = self.root.pointer(target.trim_start_matches('#'));
            return found.map_or_else(Vec::new, |found| self.forms(found));
        }
        let several = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        match several.and_then(Value::as_array) {
            Some(several) => several.iter().flat_map(|one| self.forms(one)).collect(),
            None => vec![schema],
        }
    }

    /// The value as far as it fits; `None` if it does not at all.
    fn value(&mut self, schema: &'a Value, value: &TomlValue<'_>, place: &str) -> Option<Value> {
        let forms = self.forms(schema);
        let kept = match value.get_ref() {
            DeValue::Table(table) => self.table(&forms, table, place),
            DeValue::Array(list) => self.list(&forms, list, place),
            DeValue::String(text) => self.text(&forms, text, place),
            DeValue::Integer(number) => {
                let number = i128::from_str_radix(number.as_str(), number.radix()).ok();
                number.and_then(|number| integer(&forms, number))
            }
            DeValue::Float(number) if forms.iter().any(|form| allows(form, "number")) => {
                // Not a number, and none that is infinite, has a place in JSON.
                number
                    .as_str()
                    .parse()
                    .ok()
                    .and_then(serde_json::Number::from_f64)
                    .map(Value::Number)
            }
            DeValue::Boolean(is) if forms.iter().any(|form| allows(form, "boolean")) => {
                Some(Value::Bool(*is))
            }
            DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => None,
        };
        if kept.is_none() && !self.report.is_broken_inside(place) {
            let found = short(self.source.quote(value.span()));
            self.report.add(place, found, expected(&forms));
        }
        kept
    }

    fn text(&mut self, forms: &[&'a Value], text: &str, place: &str) -> Option<Value> {
        let forms: Vec<_> = forms.iter().filter(|form| allows(form, "string")).collect();
        let words: Option<Vec<_>> = forms.iter().map(|form| words(form)).collect();
        let words = words?.concat();
        // A form without words takes any text.
        let free = forms.iter().any(|form| self::words(form).is_some_and(|list| list.is_empty()));
        if free || words.contains(&text) {
            return Some(Value::String(text.to_string()));
        }
        if !words.is_empty() {
            self.report.add_unknown_word(place, "", text, words);
        }
        None
    }

    fn list(&mut self, forms: &[&'a Value], list: &DeArray<'_>, place: &str) -> Option<Value> {
        let form = forms.iter().find(|form| allows(form, "array"))?;
        let items = form.get("items")?;
        let mut kept = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            let place = element(place, index);
            self.report.set_line(&place, self.source.line(item.span().start));
            kept.push(self.value(items, item, &place));
        }
        // Without an element the places of those after it would be wrong, so the list goes as one.
        kept.into_iter().collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn table(&mut self, forms: &[&'a Value], table: &DeTable<'_>, place: &str) -> Option<Value> {
        let tables: Vec<&'a Value> =
            forms.iter().filter(|form| allows(form, "object")).copied().collect();
        let is_known = |form: &Value, key: &str| schema_of(form, key).is_some();
        let shared = |form: &Value| table.keys().filter(|k| is_known(form, k.get_ref())).count();
        let best = tables.iter().copied().rev().max_by_key(|form| shared(form))?;
        if tables.len() > 1 && shared(best) == 0 {
            let valid: Vec<&str> = tables.iter().flat_map(|form| keys(form)).collect();
            match table.keys().next() {
                Some(key) => self.unknown_key(key, &below(place, key.get_ref()), valid),
                None => self.report.add(place, "an empty table", one_of(&valid)),
            }
            return None;
        }
        let (kept, complete) = self.fields(best, table, place);
        // Which of several forms is meant is known by its required keys: half of one is none.
        (complete || forms.len() == 1).then_some(kept)
    }

    /// The keys of a table that fit, and whether no required one is missing among them.
    fn fields(&mut self, form: &'a Value, table: &DeTable<'_>, place: &str) -> (Value, bool) {
        let mut kept = Map::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            let place = below(place, name);
            self.report.set_line(&place, self.source.line(key.span().start));
            match schema_of(form, name) {
                Some(schema) => {
                    let value = self.value(schema, value, &place);
                    kept.extend(value.map(|value| (name.to_string(), value)));
                }
                None => self.unknown_key(key, &place, keys(form)),
            }
        }
        let required = form.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        for name in required.iter().filter(|name| !table.contains_key(**name)) {
            let schema = schema_of(form, name);
            let forms = schema.map(|schema| self.forms(schema)).unwrap_or_default();
            // A key with an example of its own has one; a type that many keys share has several.
            let own = schema.and_then(|schema| schema.get("examples")?.as_array());
            let own = own.filter(|own| own.len() == 1).and_then(|own| own.first());
            let wanted =
                own.map_or_else(|| expected(&forms), |own| format!("a value such as {own}"));
            self.report.add(&below(place, name), "nothing", wanted);
        }
        let complete = required.iter().all(|name| kept.contains_key(*name));
        (Value::Object(kept), complete)
    }

    fn unknown_key(&mut self, key: &Spanned<DeString<'_>>, place: &str, valid: Vec<&str>) {
        self.report.set_line(place, self.source.line(key.span().start));
        self.report.add_unknown_word(place, "the key", key.get_ref(), valid);
    }
}

/// An integer, if a form takes it.
fn integer(forms: &[&Value], number: i128) -> Option<Value> {
    if forms.iter().any(|form| allows(form, "number")) {
        return serde_json::Number::from_f64(number as f64).map(Value::Number);
    }
    let form = forms.iter().find(|form| allows(form, "integer"))?;
    let least = form.get("minimum").and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY);
    let number = u64::try_from(number).ok().filter(|n| *n as f64 >= least)?;
    Some(Value::Number(number.into()))
}

fn allows(form: &Value, kind: &str) -> bool {
    match form.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|k| k == kind),
        _ => false,
    }
}

/// The words a text form lists; empty if any text will do.
fn words(form: &Value) -> Option<Vec<&str>> {
    if let Some(word) = form.get("const") {
        return Some(vec![word.as_str()?]);
    }
    match form.get("enum").and_then(Value::as_array) {
        Some(list) => list.iter().map(Value::as_str).collect(),
        None => Some(Vec::new()),
    }
}

fn keys(form: &Value) -> Vec<&str> {
    let properties = form.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// What may stand under a key; `None` if the key is unknown.
fn schema_of<'a>(form: &'a Value, key: &str) -> Option<&'a Value> {
    let known = form.get("properties").and_then(|properties| properties.get(key));
    known.or_else(|| form.get("additionalProperties").filter(|any| any.is_object()))
}

/// What forms ask for, in words.
fn expected(forms: &[&Value]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let listed: Vec<&str> = forms.iter().filter_map(|form| words(form)).flatten().collect();
    if !listed.is_empty() {
        parts.push(one_of(&listed));
    }
    for form in forms {
        let example = form.get("examples").and_then(|examples| examples.get(0));
        let example = example.and_then(Value::as_str);
        let text = example.map_or("a text".into(), |text| format!("a text such as \"{text}\""));
        let of_kinds = [
            ("integer", "a whole number from 0".to_string()),
            ("number", "a number".into()),
            ("string", text),
            ("boolean", "true or false".into()),
            ("array", "a list".into()),
            ("object", table_of(form)),
        ];
        for (kind, part) in of_kinds {
            let is_word = kind == "string" && words(form).is_none_or(|list| !list.is_empty());
            if allows(form, kind) && !is_word && !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts.join(" or ")
}

fn table_of(form: &Value) -> String {
    match keys(form).as_slice() {
        [] => "a table".into(),
        some => format!("a table with {}", one_of(some)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::WireJob;
    use super::*;

    #[test]
    fn text_that_is_not_toml_is_one_problem_with_its_line() {
        let problems =
            read::<WireJob>("name = \"x\"\n\nfiles = = 3\n").map(|_| ()).expect_err("not TOML");
        let all = problems.sorted();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].line, all[0].found.as_str()), (Some(3), "`files = = 3`"));
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = TomlSource::new("a\nbc\n");
        assert_eq!([0, 1, 2, 4, 5].map(|at| source.line(at)), [1, 1, 2, 2, 3]);
    }
}
