//! Names the classes that a trace told calls apart by.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use boatload_base::failure::shown;
use boatload_base::units::Unit;
use boatload_host::tracing::{ClassKey, DirectoryNames, KnownDirectory};
use boatload_results::book::{CellKey, Condition};
use boatload_results::trace_classes::{ClassTally, NamedClasses};
use boatload_run::site::ConditionName;

/// The classes of a trace, with what is known of their directories.
pub struct TracedClasses {
    /// The classes with their names.
    pub named: NamedClasses,
    /// How many entries each directory has.
    pub conditions: Vec<Condition>,
}

/// Names all classes; directories are looked at now, and their entries counted until `stop` is set.
pub fn name_classes(tally: ClassTally, names: &DirectoryNames, stop: &AtomicBool) -> TracedClasses {
    let mut directories: BTreeMap<String, KnownDirectory> = BTreeMap::new();
    let mut name_of = |class: ClassKey| {
        let directory = names.find(class)?;
        let name = shown(&directory.path);
        directories.insert(name.clone(), directory);
        Some(name)
    };
    let named = tally.named(&mut name_of);
    let condition = |variant: &str| {
        let entries = directories.get(variant)?.entries(stop)?;
        Some(Condition {
            cell: CellKey { variant: variant.into(), level: None, repeat: 1 },
            name: ConditionName::DirectoryEntries,
            value: entries as f64,
            unit: Unit::Count,
        })
    };
    let conditions = named.classes.iter().filter_map(|class| condition(&class.name)).collect();
    TracedClasses { named, conditions }
}
