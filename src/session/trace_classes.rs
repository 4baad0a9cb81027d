//! Names the classes that a trace told calls apart by.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::base::failure::shown;
use crate::base::units::{Unit, bytes, counted};
use crate::host::tracing::{ClassKey, DirectoryNames, KnownDirectory, TraceBy};
use crate::results::book::{CellKey, Condition};
use crate::results::trace_classes::{ClassName, ClassTally, NamedClasses};
use crate::run::site::ConditionName;

/// The classes of a trace, with what is known of their directories.
pub(crate) struct TracedClasses {
    pub(crate) named: NamedClasses,
    /// How many entries each directory has.
    pub(crate) conditions: Vec<Condition>,
}

/// Names all classes; directories are looked at now, and their entries counted until `stop` is set.
pub(crate) fn name_classes(
    by: TraceBy,
    tally: ClassTally,
    names: &DirectoryNames,
    stop: &AtomicBool,
) -> TracedClasses {
    let mut directories: BTreeMap<String, KnownDirectory> = BTreeMap::new();
    let mut name_of = |class: ClassKey| match by {
        TraceBy::Size => size(class),
        TraceBy::PathDepth => names.find(class).map(|directory| depth(&directory)),
        TraceBy::Directory => {
            let directory = names.find(class)?;
            let name = shown(&directory.path);
            directories.insert(name.clone(), directory);
            Some(ClassName { rank: 0, name })
        }
    };
    let named = tally.named(by, &mut name_of);
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

fn depth(directory: &KnownDirectory) -> ClassName {
    let depth = directory.depth();
    ClassName { rank: depth, name: format!("below {}", counted(depth, "directory")) }
}

/// `4 KiB to 64 KiB`, without the end of it.
fn size(class: ClassKey) -> Option<ClassName> {
    let low = class.size_min()?;
    let next = ClassKey { number: class.number.checked_add(1)?, ..class };
    let name = match (class.number, next.size_min()) {
        (0, _) => "empty".into(),
        (1, _) => "1 B to 16 B".into(),
        (_, Some(high)) => format!("{} to {}", bytes(low), bytes(high)),
        (_, None) => format!("from {}", bytes(low)),
    };
    Some(ClassName { rank: low, name })
}
