//! A job file's text read into wire structs, with the line of every key.

use toml::de::{DeTable, DeValue, Error};

use super::report::ProblemList;
use super::schema::job_schema;
use super::structure;
use super::wire::WireJob;
use crate::base::problem::{Problem, Problems};

/// The text, for lines and quotes.
pub(super) struct JobSource<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> JobSource<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line, from 1, of a byte.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// What stands in a range of bytes.
    pub(super) fn quote(&self, span: std::ops::Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }
}

/// Reads the text as far as it is what the schema says; everything else is in the report.
///
/// # Errors
/// The first problem, if the text is not TOML.
pub(super) fn read(text: &str) -> Result<(WireJob, ProblemList), Problems> {
    let source = JobSource::new(text);
    let document = DeTable::parse(text).map_err(|error| not_toml(&source, &error))?;
    let mut report = ProblemList::default();
    let schema = job_schema();
    let value = structure::check(&schema, &source, document.get_ref(), &mut report);
    let job = serde_json::from_value(value).unwrap_or_else(|error| {
        // The structural check leaves nothing that serde could object to; if it ever does, its
        // message is better than none.
        report.add("", error.to_string(), "a job file as the schema says", None);
        WireJob::default()
    });
    Ok((job, report))
}

/// Names of the variants in a job file's text, in their order; none of a text that is no job.
pub fn variant_names(text: &str) -> Vec<String> {
    let Ok(document) = DeTable::parse(text) else { return Vec::new() };
    let Some(DeValue::Array(variants)) = document.get_ref().get("variant").map(|v| v.get_ref())
    else {
        return Vec::new();
    };
    let name = |variant: &DeValue<'_>| match variant.get("name").map(|name| name.get_ref()) {
        Some(DeValue::String(name)) => Some(name.to_string()),
        _ => None,
    };
    variants.iter().filter_map(|variant| name(variant.get_ref())).collect()
}

fn not_toml(source: &JobSource<'_>, error: &Error) -> Problems {
    let span = error.span().unwrap_or_default();
    let line = source.line(span.start);
    let start = source.line_starts.get(line - 1).copied().unwrap_or_default();
    let written = source.quote(start..source.text.len()).lines().next().unwrap_or_default();
    let mut problems = Problems::default();
    problems.add(Problem {
        line: Some(line),
        place: "TOML".into(),
        found: format!("`{}`", super::report::short(written.trim())),
        expected: "a line of TOML".into(),
        hint: Some(error.message().replace('\n', ", ")),
    });
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_toml_is_one_problem_with_its_line() {
        let problems = read("name = \"x\"\n\nfiles = = 3\n").map(|_| ()).expect_err("not TOML");
        let all = problems.sorted();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].line, all[0].found.as_str()), (Some(3), "`files = = 3`"));
    }

    #[test]
    fn variants_are_named_in_the_order_they_are_written_and_odd_texts_have_none() {
        let job = "[[variant]]\nname = \"zfs\"\n[[variant]]\nthreads = 2\n[[variant]]\nname = 'a'";
        assert_eq!(variant_names(job), ["zfs", "a"]);
        for odd in ["", "x = = 1", "variant = 3", "variant = [1, \"a\"]", "[variant]\nname=\"a\""] {
            assert_eq!(variant_names(odd), [""; 0], "{odd}");
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = JobSource::new("a\nbc\n");
        assert_eq!([0, 1, 2, 4, 5].map(|at| source.line(at)), [1, 1, 2, 2, 3]);
    }
}
