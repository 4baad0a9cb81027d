//! Points to all values of a JSON document, for tests that change them one by one.

use serde_json::Value;

/// The pointers to all values of a document, itself among them; of a list that is longer than `most` only to some
/// entries, evenly.
pub(crate) fn json_places(document: &Value, most: usize) -> Vec<String> {
    let mut places = Vec::new();
    collect(document, String::new(), most, &mut places);
    places
}

fn collect(value: &Value, path: String, most: usize, places: &mut Vec<String>) {
    match value {
        Value::Object(all) => all.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            collect(value, format!("{path}/{key}"), most, places);
        }),
        Value::Array(all) => {
            let some = all.iter().enumerate().step_by(all.len().div_ceil(most).max(1));
            some.for_each(|(at, value)| collect(value, format!("{path}/{at}"), most, places));
        }
        _ => {}
    }
    places.push(path);
}
