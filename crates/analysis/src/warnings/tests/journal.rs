use super::*;
use boatload_results::operation::MeasuredOperation;

fn of(operation: &str, engine: EngineName) -> Measurement {
    Measurement {
        phase: operation.into(),
        operation: MeasuredOperation::find(operation),
        engine: Some(engine),
        operations: 1000,
        ..Measurement::default()
    }
}

fn stated(journal: Option<bool>, measurements: Vec<Measurement>) -> Vec<WarningFinding> {
    let mut book = Book { measurements, ..Book::default() };
    book.host.filesystem.journal = journal;
    of_book(&book)
}

#[test]
fn what_was_deleted_before_is_stated_of_new_entries_without_a_journal() {
    let all = || ["create", "read", "mkdir"].map(|name| of(name, EngineName::Sync)).to_vec();
    let without = stated(Some(false), all());
    let [one] = without.as_slice() else { panic!("{without:?}") };
    assert_eq!(one.code, WarningCode::NoJournal);
    assert_eq!(one.phases, ["create", "mkdir"]);
    assert_eq!(stated(Some(true), all()), []);
    let mut traced = Book { measurements: all(), ..Book::default() };
    traced.host.filesystem.journal = Some(false);
    traced.run.traced = Some(boatload_results::book::TraceFacts::default());
    let warnings = of_book(&traced);
    assert!(warnings.iter().all(|one| one.code != WarningCode::NoJournal), "{warnings:?}");
    assert_eq!(stated(None, all()), []);
    assert_eq!(
        stated(Some(false), vec![of("create", EngineName::Sim), of("read", EngineName::Sync)]),
        []
    );
}
