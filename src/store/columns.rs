//! Values on their way into and out of columns. Names of columns are constants of this program;
//! values are always bound, never written into the text of a statement.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A column's name and the value for it.
pub(super) type Column<'a> = (&'static str, &'a dyn ToSql);

/// Inserts one row and returns its number.
pub(super) fn insert(connection: &Connection, table: &str, columns: &[Column]) -> Result<i64> {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let marks = vec!["?"; columns.len()].join(", ");
    let statement = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
    let values = rusqlite::params_from_iter(columns.iter().map(|(_, value)| *value));
    connection.prepare_cached(&statement)?.insert(values)
}

/// A whole number without a sign. SQLite's integers have 63 bits; a larger one is an error rather
/// than another number.
pub(super) struct Whole(pub(super) u64);

impl ToSql for Whole {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let value = i64::try_from(self.0)
            .map_err(|_| failure(format!("{} does not fit SQLite's 63 bits", self.0)))?;
        Ok(value.into())
    }
}

impl FromSql for Whole {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let value = value.as_i64()?;
        u64::try_from(value).map(Self).map_err(|_| FromSqlError::OutOfRange(value))
    }
}

/// A number that SQLite keeps as NULL when it is not one.
pub(super) struct Real(pub(super) f64);

impl ToSql for Real {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let value = if self.0.is_nan() { Value::Null } else { Value::Real(self.0) };
        Ok(ToSqlOutput::Owned(value))
    }
}

impl FromSql for Real {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(Self(f64::NAN)),
            value => value.as_f64().map(Self),
        }
    }
}

/// A value of an enum, by its word.
pub(super) struct Word<T>(pub(super) T);

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = serde_json::Value::from(value.as_str()?);
        let read = serde_json::from_value(word).map(Self);
        read.map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A value of a column that came with a later schema; none in a store that has not got it.
pub(super) fn later<T: FromSql>(row: &Row, name: &str) -> Result<Option<T>> {
    match row.get::<_, Option<T>>(name) {
        Err(Error::InvalidColumnName(_)) => Ok(None),
        value => value,
    }
}

/// The JSON text of a list or object.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

/// Reads JSON text back.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}

fn failure(sentence: String) -> Error {
    Error::ToSqlConversionFailure(sentence.into())
}
