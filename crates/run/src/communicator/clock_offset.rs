//! Measures how far the clocks of the ranks are from the clock of rank 0, by messages there and back (Cristian,
//! "Probabilistic clock synchronization", 1989): the quickest of several exchanges gives the offset, and half the time it
//! took is its error. Rank 0 asks one rank after the other, so that n ranks take n times as long.

use std::time::Duration;

use super::collectives::{Collectives, RankResult};
use crate::clock::{Clock, RealClock};

/// Messages there and back for each rank; the quickest counts.
const PINGS: u32 = 8;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(60);

/// The message about a rank that sends something else than eight bytes.
const NO_TIME: &str = "it sent no time of its clock: is its boatload the same version?";

/// How far a rank's clock is before the clock of rank 0, at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// When it was measured, in nanoseconds of rank 0's clock.
    pub at_ns: i64,
    /// How far it is ahead, in nanoseconds.
    pub ahead_ns: i64,
    /// How far that may be off.
    pub error_ns: u64,
}

impl ClockOffset {
    /// A time of the rank's clock by the clock of rank 0, from an offset before and one after: between them the clocks
    /// drift evenly.
    pub fn common(before: Self, after: Self, own_ns: i64) -> i64 {
        let own = |offset: Self| (offset.at_ns + offset.ahead_ns) as f64;
        let (from, to) = (own(before), own(after));
        let share =
            if to > from { ((own_ns as f64 - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        let drift = (after.ahead_ns - before.ahead_ns) as f64 * share;
        own_ns - before.ahead_ns - drift as i64
    }
}

/// The time now, in nanoseconds since the clock began.
fn now_ns(clock: &RealClock) -> i64 {
    clock.nanoseconds(0, clock.now()).cast_signed()
}

/// The offsets of all ranks, by rank, at rank 0; nothing elsewhere. All ranks call it at the same point.
///
/// # Errors
/// The rank that did not answer, and why.
pub fn measure_offsets(
    collectives: &Collectives<'_>,
    clock: &RealClock,
) -> RankResult<Vec<ClockOffset>> {
    if collectives.rank() > 0 {
        for _ in 0..PINGS {
            collectives.receive(0, WITHIN)?;
            collectives.send(0, &now_ns(clock).to_be_bytes())?;
        }
        return Ok(Vec::new());
    }
    let mut offsets = vec![ClockOffset::default()];
    for rank in 1..collectives.size() {
        let mut best: Option<ClockOffset> = None;
        for _ in 0..PINGS {
            let sent = now_ns(clock);
            collectives.send(rank, &[])?;
            let answer = collectives.receive(rank, WITHIN)?;
            let came = now_ns(clock);
            let theirs = <[u8; 8]>::try_from(answer).map(i64::from_be_bytes);
            let theirs = theirs.map_err(|_| collectives.refuse(rank, NO_TIME))?;
            let error_ns = (came - sent).unsigned_abs() / 2;
            let at_ns = sent.midpoint(came);
            if best.is_none_or(|best| error_ns < best.error_ns) {
                best = Some(ClockOffset { at_ns, ahead_ns: theirs - at_ns, error_ns });
            }
        }
        offsets.push(best.unwrap_or_default());
    }
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::Communicator;
    use super::super::fixture::with_ranks;
    use super::*;
    use boatload_host::process::host_name;

    /// What ends each rank, when they compare their clocks and then meet.
    fn ends(size: u32, stopped: u32, compare: impl Fn(&Collectives<'_>) + Sync) -> Vec<String> {
        with_ranks(size, |communicator| {
            let stop = AtomicBool::new(communicator.rank() == stopped);
            let collectives = Collectives::new(communicator, &stop);
            compare(&collectives);
            collectives.barrier(Ok(()), WITHIN).unwrap_err().failure(&[]).sentence
        })
    }

    fn offsets(collectives: &Collectives<'_>) {
        let _ = measure_offsets(collectives, &RealClock::new());
    }

    #[test]
    fn all_hear_of_a_rank_that_is_asked_to_end_while_it_waits_for_its_turn() {
        let is_gone = AtomicBool::new(false);
        let heard = ends(8, 5, |collectives| {
            while collectives.rank() == 0 && !is_gone.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            offsets(collectives);
            is_gone.fetch_or(collectives.rank() == 5, Ordering::Relaxed);
        });
        assert_eq!(heard, vec![format!("rank 5 on {}: it was asked to end", host_name()); 8]);
    }

    #[test]
    fn all_hear_that_rank_0_is_asked_to_end_and_that_one_is_silent() {
        let heard = ends(8, 0, |collectives| match collectives.rank() {
            // It says nothing until the others have ended: rank 4 then waits for it, not for rank 0.
            5 => while collectives.receive(0, WITHIN).is_ok() {},
            _ => offsets(collectives),
        });
        let sentence = "it was asked to end, and rank 5 did not answer then";
        assert!(heard.iter().all(|heard| heard.ends_with(sentence)), "{heard:?}");
    }

    #[test]
    fn what_is_no_time_is_refused_with_the_name_of_the_rank() {
        let heard = ends(3, 3, |collectives| match collectives.rank() {
            2 => {
                collectives.receive(0, WITHIN).unwrap();
                collectives.send(0, b"noon or so").unwrap();
            }
            _ => offsets(collectives),
        });
        assert_eq!(heard, vec![format!("rank 2: {NO_TIME}"); 3]);
    }

    #[test]
    fn a_clock_that_is_ahead_and_drifts_is_brought_back_to_the_common_one() {
        let before = ClockOffset { at_ns: 1_000, ahead_ns: 500, error_ns: 0 };
        let after = ClockOffset { at_ns: 2_000, ahead_ns: 700, error_ns: 0 };
        let common = |own_ns| ClockOffset::common(before, after, own_ns);
        assert_eq!(common(1_500), 1_000);
        assert_eq!(common(2_700), 2_000);
        assert!((common(2_100) - 1_500).abs() <= 10, "{}", common(2_100));
    }
}
