//! Serializes facts that may be unknown: null stands for the default value of their type.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Null where nothing is known.
pub fn serialize<T: Serialize + Default + PartialEq, S: Serializer>(
    fact: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    Some(fact).filter(|fact| **fact != T::default()).serialize(to)
}

/// What is null is the default, which stands for what is not known.
///
/// # Errors
/// If the value is of another type.
pub fn deserialize<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
