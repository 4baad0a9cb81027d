//! Which command an answer advises, and where none would help.

use super::*;
use crate::results::book::{MadeOn, TraceFacts};
use crate::results::fixture::made;

#[test]
fn what_was_traced_is_no_job_to_run_again() {
    let mut book = clutter(0.0, Noise::Spread(40), 1);
    assert!(answer(&book).next.is_some());
    book.run.command = "boatload trace -- npm run build".into();
    book.run.traced = Some(TraceFacts::default());
    assert_eq!(answer(&book).next, None);
}

#[test]
fn no_repeats_are_advised_where_a_level_in_the_middle_forbids_either_answer() {
    let mut all = Vec::new();
    for repeat in 1..=5 {
        for (number, files) in [100.0, 200.0, 400.0, 800.0].into_iter().enumerate() {
            let level = Level { axis: "files-present".into(), value: files, unit: Unit::Count };
            let longer = if number == 1 { 1.5 } else { 1.0 };
            let seconds = longer * Noise::Spread(1).of(3, repeat, number as u64);
            all.push(measured("default", "stat", Some(level), repeat, seconds));
        }
    }
    let found = answer(&book(Conclusion::Scaling, "Up to how many files is it fast?", all));
    assert_eq!((found.verdict, &found.next), (Verdict::CannotTell, &None), "{found:?}");
}

#[test]
fn more_repeats_are_not_called_vain_where_other_load_was_in_the_way() {
    let vain = |found: &AnswerFinding| {
        found.evidence.iter().any(|one| one.starts_with("More repeats will "))
    };
    let mut books = (0..40).map(|seed| filesystems(0.0, Noise::Spread(80), seed));
    let mut book = books.find(|book| vain(&answer(book))).unwrap();
    assert_eq!(answer(&book).next, None);
    book.measurements.iter_mut().step_by(3).for_each(|m| m.idle = Some(false));
    let found = answer(&book);
    assert!(!vain(&found) && found.next.is_some(), "{found:?}");
}

#[test]
fn root_is_advised_only_where_root_alone_may_drop_caches() {
    let next = |doubt| {
        let mut book = filesystems(0.5, Noise::Spread(2), 1);
        book.host.rights.root = false;
        for m in &mut book.measurements {
            (m.cache.asked, m.cache.reason) = (CacheAsked::Cold, Some(doubt));
        }
        answer(&book).next.unwrap()
    };
    assert!(next(Doubt::NoRights).starts_with("sudo boatload run"));
    assert!(next(Doubt::MemoryFileSystem).starts_with("boatload run"));
}

#[test]
fn a_device_is_never_given_a_size() {
    let all = filesystems(0.5, Noise::Spread(2), 1);
    let mut book = Book { filesystems: made::book().filesystems, ..all };
    book.run.command = "boatload run small --device /dev/sdb1 --erase /dev/sdb1".into();
    for made in &mut book.filesystems {
        (made.device_bytes, made.place) = (1 << 30, MadeOn::Device);
    }
    let analysis = Analysis::of(&book);
    let hints = analysis.findings().iter().filter_map(|finding| match finding {
        Finding::Warning(warning) => Some(warning.hint.clone()),
        _ => None,
    });
    let hints: Vec<String> = hints.collect();
    assert!(hints.contains(&"Take a device of 10 GiB or more.".into()), "{hints:?}");
    let next = answer(&book).next;
    assert!(next.as_ref().is_none_or(|next| !next.contains("--size")), "{next:?}");
}
