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
    Map(String, Vec<MapEntry>),
}

/// An entry of a map of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapEntry {
    /// Its key.
    pub key: u64,
    /// Its value.
    pub value: u64,
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
    Entries(BTreeMap<String, u64>),
    Other(serde::de::IgnoredAny),
}

/// What a line says; none where it is of no interest, or is none that bpftrace prints.
pub(super) fn parse_line(line: &[u8]) -> Option<TracerLine> {
    let wire: WireLine = serde_json::from_slice(line).ok()?;
    match wire.data {
        WireData::Text(text) if text == "ready\n" => Some(TracerLine::Ready),
        WireData::Text(text) if text == "tick\n" => Some(TracerLine::Tick),
        WireData::Maps(maps) => maps.into_iter().find_map(|(name, map)| {
            let WireMap::Entries(entries) = map else { return None };
            let entry =
                |(key, value): (String, u64)| Some(MapEntry { key: key.parse().ok()?, value });
            Some(TracerLine::Map(name, entries.into_iter().filter_map(entry).collect()))
        }),
        _ => None,
    }
}
