//! Names the classes that a trace told calls apart by.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::host::tracing::{ClassKey, DirectoryNames, KnownDirectory};
use crate::results::book::{CellKey, Condition};
use crate::results::trace_classes::{ClassTally, NamedClasses};
use crate::run::site::ConditionName;

/// The classes of a trace, with what is known of their directories.
pub(crate) struct TracedClasses {
    pub(crate) named: NamedClasses,
    /// How many entries each directory has.
    pub(crate) conditions: Vec<Condition>,
}

/// Names all classes; directories are looked at now, and their entries counted until `stop` is set.
pub(crate) fn name_classes(
    tally: ClassTally,
    names: &DirectoryNames,
    stop: &AtomicBool,
) -> TracedClasses {
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
