//! Facts of the machine: what stays the same from run to run in a row that runs share, what
//! changes (free space, rights) with the run.

use rusqlite::{Connection, OptionalExtension, Result, Row};

use super::columns::{Column, Whole, from_json, insert, json, later};
use crate::host::facts::{DeviceFacts, FilesystemFacts, HostFacts, Rights};

/// The row with these facts, made if there is none.
pub(super) fn find_or_insert(connection: &Connection, host: &HostFacts) -> Result<i64> {
    let fingerprint = fingerprint(host)?;
    let found = connection
        .prepare_cached("SELECT id FROM hosts WHERE fingerprint = ?1")?
        .query_row((&fingerprint,), |row| row.get(0))
        .optional()?;
    match found {
        Some(id) => Ok(id),
        None => write(connection, host, &fingerprint),
    }
}

fn write(connection: &Connection, host: &HostFacts, fingerprint: &str) -> Result<i64> {
    let filesystem = &host.filesystem;
    let settings = host.settings.as_ref().map(json).transpose()?;
    let columns: &[Column] = &[
        ("fingerprint", &fingerprint),
        ("kernel", &host.kernel),
        ("cpu", &host.cpu),
        ("cpus", &host.cpus),
        ("memory_bytes", &Whole(host.memory_bytes)),
        ("filesystem_type", &filesystem.kind),
        ("filesystem_source", &filesystem.source),
        ("filesystem_options", &filesystem.options),
        ("filesystem_block_bytes", &Whole(filesystem.block_bytes)),
        ("filesystem_total_bytes", &Whole(filesystem.total_bytes)),
        ("settings", &settings),
        ("filesystem_journal", &filesystem.journal),
    ];
    insert_with_device(connection, "hosts", columns, host.device.as_ref())
}

/// Inserts one row with these columns and those of a block device, and returns its number.
pub(super) fn insert_with_device(
    connection: &Connection,
    table: &str,
    columns: &[Column],
    device: Option<&DeviceFacts>,
) -> Result<i64> {
    let sector = device.and_then(|d| d.sector_bytes).map(Whole);
    let total = device.and_then(|d| d.total_bytes).map(Whole);
    let whole = |of: fn(&DeviceFacts) -> Option<u64>| device.and_then(of).map(Whole);
    let (physical, requests) = (whole(|d| d.physical_sector_bytes), whole(|d| d.requests_max));
    let read_ahead = whole(|d| d.read_ahead_bytes);
    let beneath = device.map(|d| json(&d.beneath)).transpose()?;
    let stack = device.map(|d| json(&d.stack)).transpose()?;
    let of_device: &[Column] = &[
        ("device", &device.map(|d| &d.name)),
        ("device_model", &device.and_then(|d| d.model.as_ref())),
        ("device_rotational", &device.and_then(|d| d.rotational)),
        ("device_scheduler", &device.and_then(|d| d.scheduler.as_ref())),
        ("device_write_cache", &device.and_then(|d| d.write_cache.as_ref())),
        ("device_sector_bytes", &sector),
        ("device_total_bytes", &total),
        ("device_loop_direct_io", &device.and_then(|d| d.loop_direct_io)),
        ("device_physical_sector_bytes", &physical),
        ("device_discards", &device.and_then(|d| d.discards)),
        ("device_requests_max", &requests),
        ("device_read_ahead_bytes", &read_ahead),
        ("device_beneath", &beneath),
        ("device_stack", &stack),
    ];
    insert(connection, table, &[columns, of_device].concat())
}

/// Reads the facts from a row of `runs` joined with `hosts`.
pub(super) fn read(row: &Row) -> Result<HostFacts> {
    let whole = |name| row.get::<_, Whole>(name).map(|w| w.0);
    Ok(HostFacts {
        kernel: row.get("kernel")?,
        cpu: row.get("cpu")?,
        cpus: row.get("cpus")?,
        memory_bytes: whole("memory_bytes")?,
        filesystem: FilesystemFacts {
            kind: row.get("filesystem_type")?,
            source: row.get("filesystem_source")?,
            options: row.get("filesystem_options")?,
            block_bytes: whole("filesystem_block_bytes")?,
            total_bytes: whole("filesystem_total_bytes")?,
            available_bytes: whole("available_bytes")?,
            available_inodes: row.get::<_, Option<Whole>>("available_inodes")?.map(|w| w.0),
            journal: later(row, "filesystem_journal")?,
        },
        device: read_device(row)?,
        rights: Rights {
            root: row.get("root")?,
            drop_caches: row.get("drop_caches")?,
            cache_probe: row.get("cache_probe")?,
        },
        settings: later::<String>(row, "settings")?.as_deref().map(from_json).transpose()?,
    })
}

/// Reads the block device of a row that has its columns.
pub(super) fn read_device(row: &Row) -> Result<Option<DeviceFacts>> {
    let Some(name) = row.get("device")? else {
        return Ok(None);
    };
    let list = |name| later::<String>(row, name).map(|text| text.unwrap_or_else(|| "[]".into()));
    Ok(Some(DeviceFacts {
        name,
        model: row.get("device_model")?,
        rotational: row.get("device_rotational")?,
        scheduler: row.get("device_scheduler")?,
        write_cache: row.get("device_write_cache")?,
        sector_bytes: row.get::<_, Option<Whole>>("device_sector_bytes")?.map(|w| w.0),
        total_bytes: row.get::<_, Option<Whole>>("device_total_bytes")?.map(|w| w.0),
        loop_direct_io: row.get("device_loop_direct_io")?,
        physical_sector_bytes: later(row, "device_physical_sector_bytes")?.map(|w: Whole| w.0),
        discards: later(row, "device_discards")?,
        requests_max: later(row, "device_requests_max")?.map(|w: Whole| w.0),
        read_ahead_bytes: later(row, "device_read_ahead_bytes")?.map(|w: Whole| w.0),
        beneath: from_json(&list("device_beneath")?)?,
        stack: from_json(&list("device_stack")?)?,
    }))
}

/// The same for two hosts only if all that does not change from run to run is the same.
fn fingerprint(host: &HostFacts) -> Result<String> {
    let mut lasting = host.clone();
    lasting.rights = Rights::default();
    lasting.filesystem.available_bytes = 0;
    lasting.filesystem.available_inodes = None;
    Ok(format!("{:032x}", fnv1a(json(&lasting)?.as_bytes())))
}

/// FNV-1a with 128 bits, with the constants of RFC 9923 ("The FNV Non-Cryptographic Hash
/// Algorithm").
fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv1a(b"foobar"), 0x343e1662793c64bf6f0d3597ba446f18);
    }
}
