//! Reads what bpftrace prints with `-f json`, a line for each map or message.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TracerLine {
    /// All probes are attached.
    Ready,
    /// All maps that were asked for have been printed.
    Tick,
    /// A map: its name and its entries.
    Map(String, Vec<MapRow>),
}

/// An entry of a map of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapEntry {
    /// Its key.
    pub key: u64,
    /// Its value.
    pub value: u64,
}

/// Calls, and the time that they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSum {
    /// How many.
    pub calls: u64,
    /// Their time, in nanoseconds.
    pub total_ns: u64,
}

impl CallSum {
    /// Adds others.
    pub fn add(&mut self, more: Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
    }
}

/// An entry of a map with a key of several parts, or a value of another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MapRow {
    /// The parts of its key; those that it lacks are 0.
    pub(super) key: [u64; 2],
    pub(super) value: MapValue,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MapValue {
    Number(u64),
    /// How many numbers there were, and their sum.
    Sum {
        count: u64,
        total: u64,
    },
    /// Bytes, as the kernel has them.
    Text(Vec<u8>),
}

#[derive(Deserialize)]
struct WireLine {
    data: WireData,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireData {
    Text(String),
    Maps(BTreeMap<String, WireMap>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireMap {
    Entries(BTreeMap<String, WireValue>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireValue {
    Number(u64),
    Signed(i64),
    Sum { count: u64, total: u64 },
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// What a line says; `None` where it is of no interest, or is none that bpftrace prints.
pub(super) fn parse_line(line: &[u8]) -> Option<TracerLine> {
    let wire: WireLine = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
    match wire.data {
        WireData::Text(text) if text == "ready\n" => Some(TracerLine::Ready),
        WireData::Text(text) if text == "tick\n" => Some(TracerLine::Tick),
        WireData::Maps(maps) => maps.into_iter().find_map(|(name, map)| {
            let WireMap::Entries(entries) = map else { return None };
            Some(TracerLine::Map(
                name,
                entries.into_iter().filter_map(|(key, value)| row(&key, value)).collect(),
            ))
        }),
        _ => None,
    }
}

fn row(key: &str, value: WireValue) -> Option<MapRow> {
    let mut parts = [0; 2];
    for (at, part) in key.split(',').enumerate() {
        *parts.get_mut(at)? = number(part)?;
    }
    let value = match value {
        WireValue::Number(number) => MapValue::Number(number),
        WireValue::Signed(number) => MapValue::Number(number.cast_unsigned()),
        WireValue::Sum { count, total } => MapValue::Sum { count, total },
        WireValue::Text(text) => MapValue::Text(bytes_of(&text)),
        WireValue::Other(_) => return None,
    };
    Some(MapRow { key: parts, value })
}

/// bpftrace prints parts of a key with a sign.
fn number(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().or_else(|| Some(text.parse::<i64>().ok()?.cast_unsigned()))
}

/// What bpftrace prints for a byte beyond ASCII begins so, as JSON has it, and ends with two hexadecimal digits.
const BYTE_MARK: &str = "\u{ffff}ff";

/// The bytes of a text of the kernel, which bpftrace prints as signed numbers where they are not ASCII.
fn bytes_of(text: &str) -> Vec<u8> {
    let mut parts = text.split(BYTE_MARK);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match digits {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(&part.as_bytes()[2..]);
            }
            None => bytes.extend(BYTE_MARK.bytes().chain(part.bytes())),
        }
    }
    bytes
}

impl MapRow {
    /// How many calls it counts, and their time.
    pub(super) fn calls(&self) -> Option<CallSum> {
        match self.value {
            MapValue::Sum { count, total } => Some(CallSum { calls: count, total_ns: total }),
            _ => None,
        }
    }
}

/// The number at a key; 0 where there is none.
pub(super) fn number_at(rows: &[MapRow], key: u64) -> u64 {
    let found = rows.iter().find(|row| row.key[0] == key);
    found.map_or(0, |row| if let MapValue::Number(value) = row.value { value } else { 0 })
}

/// The entries that are numbers by a number.
pub(super) fn entries(rows: Vec<MapRow>) -> Vec<MapEntry> {
    let entry = |row: MapRow| match row.value {
        MapValue::Number(value) => Some(MapEntry { key: row.key[0], value }),
        _ => None,
    };
    rows.into_iter().filter_map(entry).collect()
}
