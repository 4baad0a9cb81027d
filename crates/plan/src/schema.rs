//! Generates the JSON Schema of job files from the wire structs, for editors and the structural check.

use schemars::JsonSchema;
use serde_json::Value;

use super::wire::WireJob;

/// The schema (draft 2020-12) of a job file, with every key's unit and default as its description.
pub fn job_schema() -> Value {
    toml_schema::<WireJob>()
}

/// The schema of a TOML file that is read into `T`.
pub(super) fn toml_schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
    }
    without_null(&mut schema);
    schema
}

/// TOML has no null: an optional key is left out. Rust's integer widths say nothing to a reader.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            // A string is the schema's own word; a key of that name would be a schema, an object.
            if keys.get("format").is_some_and(Value::is_string) {
                keys.remove("format");
            }
            if keys.get("default").is_some_and(Value::is_null) {
                keys.remove("default");
            }
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keys.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(forms)) = keys.get_mut("anyOf") {
                forms.retain(|form| form.get("type").is_none_or(|t| t != "null"));
                if let [Value::Object(only)] = forms.as_slice() {
                    let only = only.clone();
                    keys.remove("anyOf");
                    keys.extend(only);
                }
            }
            keys.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
