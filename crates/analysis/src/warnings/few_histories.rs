//! Warns where several repeats were measured beside the same files: their spread does not show what other files change.

use super::table::{WarningCode, WarningFinding};
use boatload_base::distinct::each_once;
use boatload_base::units::{counted, grouped};
use boatload_results::book::{Book, Condition, LevelOrder};
use boatload_run::site::ConditionName;

/// Of places that were prepared, the one whose repeats had the fewest histories; `None` where each repeat had its own.
pub(super) fn few_histories(book: &Book) -> Option<WarningFinding> {
    // A simulated place counts the files, and does not look at them.
    let simulated = book.measurements.iter().filter(|m| m.is_simulated());
    let simulated = each_once(simulated.map(|m| m.cell.variant.as_str()));
    let is_history = |c: &&Condition| {
        c.name == ConditionName::History && !simulated.contains(&c.cell.variant.as_str())
    };
    let all: Vec<&Condition> = book.conditions.iter().filter(is_history).collect();
    let of_variant = |variant: &str| {
        let own = all.iter().filter(|c| c.cell.variant == variant);
        let histories = each_once(own.clone().map(|c| c.value)).len();
        (each_once(own.map(|c| c.cell.repeat)).len(), histories)
    };
    let variants = each_once(all.iter().map(|c| c.cell.variant.as_str()));
    let shared =
        variants.into_iter().map(of_variant).filter(|(repeats, histories)| histories < repeats);
    let (repeats, histories) = shared.min_by_key(|(_, histories)| *histories)?;
    let files = match histories {
        1 => "the same files".into(),
        several => format!("files that were made {} times", grouped(several as u64)),
    };
    let repeats = counted(repeats as u64, "repeat");
    let sentence = format!(
        "{repeats} were measured beside {files}: intervals do not say what other files would change."
    );
    let hint = match book.run.level_order {
        Some(LevelOrder::AsPrepared) => {
            "With --filesystem, on an image with enough free space, each repeat can have files of its own."
        }
        _ => "`histories` in the job makes other files for each repeat: see docs/AGEING.md.",
    };
    Some(WarningFinding::of_run(WarningCode::FewHistories, &sentence, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::units::Unit;
    use boatload_results::book::CellKey;

    fn sentence(histories: &[f64]) -> Option<String> {
        let condition = |(at, history): (usize, &f64)| Condition {
            cell: CellKey { repeat: at as u32 + 1, ..CellKey::default() },
            name: ConditionName::History,
            value: *history,
            unit: Unit::Count,
        };
        let conditions = histories.iter().enumerate().map(condition).collect();
        few_histories(&Book { conditions, ..Book::default() }).map(|warning| warning.sentence)
    }

    #[test]
    fn repeats_beside_the_same_files_are_told_and_those_with_files_of_their_own_are_not() {
        assert_eq!(sentence(&[]), None);
        assert_eq!(sentence(&[1.0]), None);
        assert_eq!(sentence(&[1.0, 2.0, 3.0]), None);
        let one = sentence(&[1.0; 3]).unwrap();
        assert!(one.starts_with("3 repeats were measured beside the same files:"), "{one}");
        let two = sentence(&[1.0, 2.0, 1.0, 2.0]).unwrap();
        assert!(two.contains("beside files that were made 2 times"), "{two}");
    }
}
