//! File systems that were made for a run.

use rusqlite::{Connection, Result, Row};

use super::columns::{Column, Whole, Word};
use super::hosts;
use crate::measure::book::MadeFileSystem;

pub(super) fn write(connection: &Connection, run_id: &str, made: &MadeFileSystem) -> Result<()> {
    let columns: &[Column] = &[
        ("run_id", &run_id),
        ("variant", &made.variant),
        ("type", &made.kind),
        ("mkfs", &made.mkfs),
        ("mkfs_version", &made.mkfs_version),
        ("mount_asked", &made.mount_asked),
        ("options", &made.options),
        ("place", &made.place.word()),
        ("device_bytes", &Whole(made.device_bytes)),
        ("block_bytes", &Whole(made.block_bytes)),
        ("total_bytes", &Whole(made.total_bytes)),
        ("available_bytes", &Whole(made.available_bytes)),
        ("inodes", &made.inodes.map(Whole)),
        ("trimmed", &made.trimmed),
    ];
    hosts::insert_with_device(connection, "filesystems", columns, made.device.as_ref())?;
    Ok(())
}

pub(super) fn read(row: &Row) -> Result<MadeFileSystem> {
    let whole = |name| row.get::<_, Whole>(name).map(|w| w.0);
    Ok(MadeFileSystem {
        variant: row.get("variant")?,
        kind: row.get("type")?,
        mkfs: row.get("mkfs")?,
        mkfs_version: row.get("mkfs_version")?,
        mount_asked: row.get("mount_asked")?,
        options: row.get("options")?,
        place: row.get::<_, Word<_>>("place")?.0,
        device: hosts::read_device(row)?,
        device_bytes: whole("device_bytes")?,
        block_bytes: whole("block_bytes")?,
        total_bytes: whole("total_bytes")?,
        available_bytes: whole("available_bytes")?,
        inodes: row.get::<_, Option<Whole>>("inodes")?.map(|w| w.0),
        trimmed: row.get("trimmed")?,
    })
}
