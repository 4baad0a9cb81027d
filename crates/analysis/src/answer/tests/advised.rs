//! Which command an answer advises, and where none would help.

use super::*;
use boatload_results::book::{MadeOn, Stopping, TraceFacts};
use boatload_results::fixture::made;

#[test]
fn what_was_traced_is_no_job_to_run_again() {
    let mut book = clutter(0.0, Noise::Spread(40), 1);
    assert!(answer(&book).next.is_some());
    book.run.command = "boatload trace -- npm run build".into();
    book.run.traced = Some(TraceFacts::default());
    assert_eq!(answer(&book).next, None);
}

#[test]
fn so_many_repeats_are_advised_as_would_decide_or_the_time_for_them() {
    let advised = |book: &Book, option: &str, why: &str| {
        let found = answer(book);
        let next = found.next.filter(|_| found.verdict == Verdict::CannotTell)?;
        let (number, behind) = next.rsplit_once(option)?.1.split_once("   # ")?;
        assert!(behind.starts_with(why), "{next}");
        number.trim_end_matches('m').parse::<u32>().ok()
    };
    let mut books = (0..40).map(|seed| filesystems(0.0, Noise::Spread(6), seed));
    let found = books.find_map(|book| {
        let few = advised(&book, " --repeats ", "would decide it")?;
        Some((book, few))
    });
    let (mut book, few) = found.unwrap();
    assert!((6..=40).contains(&few), "{few}");
    book.run.started = "2026-10-05T08:00:00Z".into();
    book.run.finished = Some("2026-10-05T08:05:00Z".into());
    book.run.repeats = 5;
    let (looks, alpha) = (vec![5], vec![0.05]);
    book.run.stopping = Stopping::Looks { looks, alpha, decided: false, time_limit_seconds: 300.0 };
    let minutes = advised(&book, " --time-limit ", "long enough to decide it (");
    assert!(minutes.unwrap() >= few, "a minute for each repeat, and some more: {minutes:?}");
}

#[test]
fn a_command_stands_in_one_line_with_the_time_that_its_repeats_take() {
    let mut book = clutter(0.5, Noise::Spread(2), 1);
    book.run.started = "2026-10-05T08:00:00Z".into();
    book.run.finished = Some("2026-10-05T08:05:00Z".into());
    book.measurements.iter_mut().step_by(3).for_each(|m| m.idle = Some(false));
    let next = answer(&book).next.unwrap();
    assert!(next.ends_with(" --repeats 20   # best while nothing else runs (10 min)"), "{next}");
    assert_eq!(next.lines().count(), 1);
}

#[test]
fn root_is_advised_only_where_root_alone_may_drop_caches() {
    let next = |doubt| {
        let mut book = filesystems(0.5, Noise::Spread(2), 1);
        book.host.rights.root = false;
        for m in &mut book.measurements {
            (m.cache.asked, m.cache.reason) = (CacheAsked::Cold, Some(doubt));
        }
        answer(&book).next
    };
    assert!(next(Doubt::NoRights).unwrap().starts_with("sudo boatload run"));
    assert!(next(Doubt::MemoryFileSystem).is_none_or(|next| next.starts_with("boatload run")));
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
