//! What the disk did, of books whose requests are known.

use crate::Analysis;
use crate::finding::Finding;
use boatload_results::book::Book;
use boatload_results::fixture;

fn sentences(book: &Book) -> Vec<String> {
    let analysis = Analysis::of(book);
    let found = analysis.findings().iter();
    found.filter(|one| matches!(one, Finding::Disk(_))).map(Finding::sentence).collect()
}

#[test]
fn phases_that_the_disk_limits_say_what_it_did_for_each_operation_and_others_do_not() {
    let mut book = fixture::made::modelled_book();
    book.measurements.retain(|m| m.cell.variant == "ext4" || m.cell.variant == "btrfs");
    let all = sentences(&book);
    assert_eq!(all.len(), 2, "{all:#?}");
    let random = &all[1];
    let all_of_it = "read-random: ext4 takes 0.56 requests to the disk for each operation, 95% of them \
                     with a seek; btrfs takes 0.33, 95%.";
    assert_eq!(random, all_of_it);
    let analysis = Analysis::of(&book);
    let most = analysis.most_seeks().map(Finding::sentence);
    assert_eq!(most.as_deref(), Some(all_of_it), "all reads at random seek, half of the others");
}

#[test]
fn a_disk_without_a_head_has_requests_that_are_not_in_sequence() {
    let mut book = fixture::made::modelled_book();
    book.measurements.retain(|m| m.cell.variant == "ext4");
    for m in &mut book.measurements {
        let disk = m.disk.as_mut().unwrap();
        (disk.seek_seconds, disk.rotation_seconds) = (Some(0.0), Some(0.0));
        m.device_busy_seconds = m.seconds;
    }
    let random = sentences(&book).into_iter().find(|one| one.starts_with("read-random")).unwrap();
    assert!(random.ends_with(" for each operation, 95% of them not in sequence."), "{random}");
}

#[test]
fn without_a_watch_on_its_requests_nothing_is_said_of_the_disk() {
    assert_eq!(sentences(&fixture::made::book()), [""; 0]);
    let mut book = fixture::made::modelled_book();
    book.measurements[0].disk = None;
    assert!(sentences(&book).iter().all(|one| !one.contains("create")));
}

#[test]
fn odd_books_give_numbers_or_nothing() {
    for seed in 0..200 {
        let book = fixture::Odd::new(seed).book();
        for finding in Analysis::of(&book).findings() {
            let Finding::Disk(found) = finding else { continue };
            let are_numbers = found
                .variants
                .iter()
                .all(|one| one.requests_per_operation.is_finite() && one.seek_share <= 1.0);
            assert!(are_numbers, "{found:?}");
        }
    }
}
