//! Stores of older schemas: read as they are, brought up to date with all they have.

use super::*;
use crate::host::facts::DeviceFacts;
use crate::run::site::ConditionName;
use crate::store::migrations::STEPS;

/// Without what a schema has no place for.
fn known_to(version: usize, mut book: Book) -> Book {
    if version < 2 {
        book.conditions.clear();
    }
    if version < 3 {
        book.filesystems.clear();
    }
    if version < 5 {
        (book.run.precision, book.run.time_limit_seconds) = (None, None);
    }
    book.host.filesystem.journal = None;
    if version < 4 {
        without_schema_4(version, &mut book);
    }
    book
}

fn without_schema_4(version: usize, book: &mut Book) {
    book.host.settings = None;
    book.host.device = book.host.device.as_ref().map(known_to_all);
    for made in &mut book.filesystems {
        made.device = made.device.as_ref().map(known_to_all);
    }
    for m in &mut book.measurements {
        if version < 3 {
            (m.space_bytes, m.inodes, m.idle) = (None, None, None);
        }
        (m.device_reads, m.device_writes, m.device_flushes) = (None, None, None);
        (m.device_discard_bytes, m.worker_spread, m.disturbance) = (None, None, None);
        m.slices_ns.clear();
    }
}

fn known_to_all(device: &DeviceFacts) -> DeviceFacts {
    DeviceFacts {
        name: device.name.clone(),
        model: device.model.clone(),
        rotational: device.rotational,
        scheduler: device.scheduler.clone(),
        write_cache: device.write_cache.clone(),
        sector_bytes: device.sector_bytes,
        total_bytes: device.total_bytes,
        loop_direct_io: device.loop_direct_io,
        ..DeviceFacts::default()
    }
}

/// A store with one run as a boatload that knew only this schema left it.
fn store_of_schema(version: usize, directory: &Path) -> (PathBuf, Book) {
    let (path, now) = (directory.join("old.db"), directory.join("now.db"));
    let book = known_to(version, fixture::book());
    save(&mut Store::open(&now).unwrap(), &book);
    let connection = Connection::open(&path).unwrap();
    for step in &STEPS[..version] {
        connection.execute_batch(step).unwrap();
    }
    connection.pragma_update(None, "user_version", version as i64).unwrap();
    connection.pragma_update(None, "application_id", migrations::APPLICATION_ID).unwrap();
    connection.execute("ATTACH ?1 AS now", [now.to_str().unwrap()]).unwrap();
    let tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table' \
                  AND name NOT LIKE 'sqlite%' ORDER BY rootpage";
    for table in texts(&connection, tables) {
        let query = format!("SELECT name FROM pragma_table_info('{table}', 'main')");
        let columns = texts(&connection, &query).join(", ");
        let copy =
            format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}");
        connection.execute(&copy, ()).unwrap();
    }
    (path, book)
}

fn texts(connection: &Connection, query: &str) -> Vec<String> {
    let mut statement = connection.prepare(query).unwrap();
    statement.query_map((), |row| row.get(0)).unwrap().map(|row| row.unwrap()).collect()
}

#[test]
fn a_store_of_an_older_schema_is_read_as_it_is_and_left_so() {
    for version in 1..STEPS.len() {
        let directory = tempfile::tempdir().unwrap();
        let (path, book) = store_of_schema(version, directory.path());
        let before = fs::read(&path).unwrap();
        let reader = Store::open_to_read(&path).unwrap();
        assert_eq!(reader.load(&book.run.id).unwrap(), book, "schema {version}");
        let runs = reader.runs().unwrap();
        assert_eq!((runs.len(), runs[0].made.len()), (1, 0), "schema {version}");
        let rates = reader.phase_rates("smallfiles", "ext4", Some("vda")).unwrap();
        assert_eq!(rates.len(), 5, "schema {version}");
        assert!(fs::read(&path).unwrap() == before, "reading changed the file");
    }
}

#[test]
fn a_store_of_an_older_schema_is_brought_up_to_date_with_all_it_has() {
    for version in 1..STEPS.len() {
        let directory = tempfile::tempdir().unwrap();
        let (path, mut book) = store_of_schema(version, directory.path());
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.load(&book.run.id).unwrap(), book, "schema {version}");
        let all = "SELECT name || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let (_directory, new) = empty();
        assert_eq!(texts(&store.connection, all), texts(&new.connection, all), "as a new one");
        let key = CellKey { variant: "default".into(), level: None, repeat: 3 };
        let cell = store.begin_cell(&book.run.id, &key).unwrap();
        let condition = Condition { cell: key, name: ConditionName::SpaceUsed, ..<_>::default() };
        store.add_condition(cell, &condition).unwrap();
        book.conditions.push(condition);
        book.filesystems = fixture::made::book().filesystems;
        for made in &book.filesystems {
            store.add_filesystem(&book.run.id, made).unwrap();
        }
        drop(store);
        assert_eq!(Store::open(&path).unwrap().load(&book.run.id).unwrap(), book);
    }
}
