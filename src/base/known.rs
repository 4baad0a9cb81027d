//! Serializes facts that may be unknown: null stands for the default value of their type.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Null where nothing is known.
pub(crate) fn serialize<T: Serialize + Default + PartialEq, S: Serializer>(
    fact: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    Some(fact).filter(|fact| **fact != T::default()).serialize(to)
}

pub(crate) fn deserialize<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
