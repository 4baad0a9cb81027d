//! Hashes a value to a number that identifies it.

use serde::Serialize;
use serde_json::Value;

/// A number that follows from the names and values of all fields. A field that is zero, false, empty or absent does not
/// count, so that a new field with such a default changes no number, nor does the order of fields.
pub fn fingerprint(of: &impl Serialize) -> u64 {
    let mut hash = Fnv(Fnv::EMPTY);
    // What is no JSON has a number too.
    hash.add("", &serde_json::to_value(of).unwrap_or_default());
    hash.0
}

/// FNV-1a.
struct Fnv(u64);

impl Fnv {
    const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

    fn add(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Number(number) if number.as_f64() == Some(0.0) => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(all) => {
                self.add(&format!("{name}.length"), &all.len().into());
                let items = all.iter().enumerate();
                items.for_each(|(at, one)| self.add(&format!("{name}.{at}"), one));
            }
            Value::Object(all) => {
                all.iter().for_each(|(key, one)| self.add(&format!("{name}.{key}"), one));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                for byte in format!("{name}={value}\n").bytes() {
                    self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn new_fields_with_a_default_and_another_order_change_no_number() {
        let old = json!({"files": 3, "name": "a"});
        for new in [
            json!({"name": "a", "files": 3}),
            json!({"files": 3, "name": "a", "delay": 0.0, "direct": false, "disk": null}),
            json!({"files": 3, "name": "a", "mount": "", "history": [], "tree": {"part": null}}),
        ] {
            assert_eq!(fingerprint(&new), fingerprint(&old), "{new}");
        }
        for other in [
            json!({"files": 4, "name": "a"}),
            json!({"files": 3, "title": "a"}),
            json!({"files": "3", "name": "a"}),
            json!({"files": 3, "name": "a", "history": [0]}),
        ] {
            assert_ne!(fingerprint(&other), fingerprint(&old), "{other}");
        }
        assert_ne!(fingerprint(&json!([0, 0])), fingerprint(&json!([0])));
    }
}
