//! What it takes to do a run again.

use super::escape::escape;
use crate::measure::analysis::Analysis;

/// The command, the parameters and the job file of a run, each to be copied. Empty for published
/// figures, of which nothing like it is known.
pub(super) fn repeat(analysis: &Analysis<'_>) -> String {
    let run = &analysis.book.run;
    if run.reference.is_some() {
        return "<p class=\"none\">Published figures; what made them is not at hand.</p>\n".into();
    }
    let mut html = copied("The command", &run.command, "");
    let parameters = run.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
    let parameters: Vec<String> = parameters.collect();
    if !parameters.is_empty() {
        let said = format!("with {}; seed {}", parameters.join(", "), run.seed);
        html += &format!("<p class=\"note\">{}</p>\n", escape(&said));
    }
    if !run.job.is_empty() {
        let job = copied("The job file", &run.job, " class=\"job\"");
        html += &format!(
            "<details class=\"printed\"><summary>The job file</summary>\n{job}</details>\n"
        );
    }
    html
}

/// A text with a button that copies it; the script shows the button.
fn copied(what: &str, text: &str, class: &str) -> String {
    let text = escape(text);
    format!(
        "<div class=\"copied\"><button type=\"button\" class=\"copy\" hidden>Copy</button>\
         <pre{class} tabindex=\"0\" aria-label=\"{what}\"><code>{text}</code></pre></div>\n"
    )
}
