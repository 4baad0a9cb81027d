//! Collective operations of all ranks. There is only one: the data of each rank go up a binomial tree, merged on the
//! way (a reduction), to rank 0, and its answer goes down to all (a broadcast). So n ranks need 2 log2 n messages one
//! after the other, and a rank that fails, wherever, says so in place of its next message, and every other rank hears of it. A
//! rank that ends while it waits for an answer says so at once, to the rank above it and to rank 0: whichever listens to
//! it next.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Communicator, MessageError};
use boatload_base::failure::{Exit, Failure, Result};
use boatload_base::units::span;
use boatload_host::process::host_name;

/// One wait for a message; between two of them the user may have asked to stop.
const SLICE: Duration = Duration::from_millis(100);

/// After that the other ranks are not waited for any longer: a launcher that ends a job gives it a second or two.
const AFTER_INTERRUPT: Duration = Duration::from_millis(400);

/// And so much longer for each level between, so that the rank next to a silent one names it.
const AFTER_INTERRUPT_LEVEL: Duration = Duration::from_millis(250);

/// A rank further up waits so much longer for each level below it, so that it hears from the rank that noticed.
const EACH_LEVEL: Duration = Duration::from_secs(1);

/// How long a message may take to be sent.
const SENT_WITHIN: Duration = Duration::from_secs(60);

/// How long that may take where the others are told that this rank ends.
const REPORTED_WITHIN: Duration = Duration::from_secs(1);

/// The message about a rank that sends what belongs to no operation, or to another one.
const OUT_OF_STEP: &str = "it does something other than the rest: is the command the same on all?";

/// Bytes before the text of a message: what it is, and the number of its operation.
const HEAD_BYTES: usize = 9;

/// How two parts of what ranks send become one: the part of the lower ranks is the first argument.
pub type Merge<'a> = &'a dyn Fn(Vec<u8>, Vec<u8>) -> Result<Vec<u8>>;

/// The ranks of a communicator, which do everything in the same order.
pub struct Collectives<'a> {
    communicator: &'a dyn Communicator,
    /// Set when the user wants to stop.
    stop: &'a AtomicBool,
    /// Collective operations until now.
    done: AtomicU64,
    /// Why there are no more; none while all goes well.
    ended: Mutex<Option<RankFailure>>,
    /// Whether nothing comes any more.
    is_ending: AtomicBool,
}

/// Why a rank ends all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankFailure {
    /// Which one it was.
    pub rank: u32,
    /// Its host; `None` where another rank noticed.
    host: Option<String>,
    /// The exit code.
    exit: u8,
    /// What happened.
    pub sentence: String,
    /// Ranks that did not answer when it was asked to end.
    silent: Vec<u32>,
}

/// What came of the messages of ranks, or why all end.
pub type RankResult<T> = std::result::Result<T, RankFailure>;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum MessageKind {
    /// A part of a reduction, or what is broadcast.
    Word = b'w',
    /// What clocks are compared by, after a collective operation.
    Clock = b'c',
    /// Why all end, in place of whatever else the rank would say.
    Failure = b'f',
    /// Nothing comes any more.
    End = b'e',
}

/// Why a rank does not hear what it waits for.
enum NoAnswer {
    /// A rank has failed, and the one that is waited for says so.
    Reported(RankFailure),
    /// The same, and one above this rank says so while this rank waits for one below it.
    ReportedFromAbove(RankFailure),
    /// This one has noticed something that others do not know yet.
    Noticed(RankFailure),
}

impl NoAnswer {
    fn failure(self) -> RankFailure {
        match self {
            Self::Reported(failure) | Self::ReportedFromAbove(failure) | Self::Noticed(failure) => {
                failure
            }
        }
    }
}

/// The failure of whatever was asked to end.
pub fn asked_to_end() -> Failure {
    Failure::interrupted("it was asked to end")
}

impl RankFailure {
    /// What this rank failed with itself.
    fn of_this_rank(rank: u32, failure: Failure) -> Self {
        let Failure { exit, sentence } = failure;
        Self { rank, host: Some(host_name()), exit: exit as u8, sentence, silent: Vec::new() }
    }

    /// What is wrong with another rank.
    fn other(rank: u32, sentence: String) -> Self {
        Self { rank, host: None, exit: Exit::Failed as u8, sentence, silent: Vec::new() }
    }

    fn silent(rank: u32, waited: Duration) -> Self {
        let sentence = format!("it did not answer within {}", span(waited.as_secs_f64()));
        Self::other(rank, sentence)
    }

    fn lost(rank: u32, why: &MessageError) -> Self {
        Self::other(rank, format!("it cannot be reached: {why}"))
    }

    /// This rank was asked to end, and these did not answer then.
    fn stopped(rank: u32, silent: Vec<u32>) -> Self {
        Self { silent, ..Self::of_this_rank(rank, asked_to_end()) }
    }

    fn is_stop(&self) -> bool {
        self.exit == Exit::Interrupted as u8
    }

    /// Of two failures: an own failure outranks one that followed from a request to end.
    fn and(self, other: Self) -> Self {
        match (self.is_stop(), other.is_stop()) {
            (true, true) => Self { silent: [self.silent, other.silent].concat(), ..self },
            (true, false) => other,
            _ => self,
        }
    }

    /// The failure with the rank's name before it, and the name of its host, if it is known; not of rank 0, which says it.
    pub fn failure(&self, hosts: &[String]) -> Failure {
        const ALL: [Exit; 3] = [Exit::Usage, Exit::Interrupted, Exit::Invalid];
        let exit = ALL.into_iter().find(|exit| *exit as u8 == self.exit).unwrap_or(Exit::Failed);
        let named = |rank: u32, host: Option<&String>| match host {
            Some(host) => format!("rank {rank} on {host}"),
            None => format!("rank {rank}"),
        };
        let host_of = |rank: u32| hosts.get(rank as usize);
        let own = self.host.as_ref().or_else(|| host_of(self.rank));
        let of = match self.rank {
            0 if !self.is_stop() => String::new(),
            rank => format!("{}: ", named(rank, own)),
        };
        let silent = self.silent.iter().map(|rank| named(*rank, host_of(*rank)));
        let silent = silent.collect::<Vec<_>>().join(", ");
        let also =
            if silent.is_empty() { silent } else { format!(", and {silent} did not answer then") };
        Failure { exit, sentence: format!("{of}{}{also}", self.sentence) }
    }
}

impl<'a> Collectives<'a> {
    /// The ranks of a communicator before their first message. `stop` is set when the user wants to stop.
    pub fn new(communicator: &'a dyn Communicator, stop: &'a AtomicBool) -> Self {
        Self {
            communicator,
            stop,
            done: AtomicU64::new(0),
            ended: Mutex::default(),
            is_ending: AtomicBool::new(false),
        }
    }

    /// Which rank this is.
    pub fn rank(&self) -> u32 {
        self.communicator.rank()
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.communicator.size()
    }

    /// Sends bytes to one rank, between two collective operations.
    ///
    /// # Errors
    /// If they cannot be sent; then all ranks end.
    pub(super) fn send(&self, to: u32, what: &[u8]) -> RankResult<()> {
        let sent = self.post(to, MessageKind::Clock, what, SENT_WITHIN);
        sent.map_err(|failure| self.fail_between(NoAnswer::Noticed(failure)))
    }

    /// What one rank told this one, between two collective operations.
    ///
    /// # Errors
    /// If it told nothing in time, or a rank has failed; then all ranks end.
    pub(super) fn receive(&self, from: u32, within: Duration) -> RankResult<Vec<u8>> {
        let heard = self.wait_for(from, MessageKind::Clock, within, &mut Duration::default());
        heard.map_err(|why| self.fail_between(why))
    }

    /// Ends all ranks, between two collective operations, for what is wrong with a rank.
    pub(super) fn refuse(&self, rank: u32, sentence: &str) -> RankFailure {
        self.fail_between(NoAnswer::Noticed(RankFailure::other(rank, sentence.into())))
    }

    /// Ends all ranks, between two collective operations: some may wait for rank 0, and some for the ranks of the next one.
    fn fail_between(&self, why: NoAnswer) -> RankFailure {
        if let NoAnswer::Noticed(failure) = &why {
            self.report_up(failure);
        }
        let failure = why.failure();
        if self.rank() == 0 {
            (1..self.size()).for_each(|rank| self.report(rank, &failure));
        }
        *self.lock() = Some(failure.clone());
        failure
    }

    /// Tells the rank above this one and rank 0 why all end.
    fn report_up(&self, failure: &RankFailure) {
        let Some(up) = parent(self.rank()) else { return };
        self.report(up, failure);
        if up > 0 {
            self.report(0, failure);
        }
    }

    /// Tells a rank why all end; one that cannot be reached notices that alone.
    fn report(&self, to: u32, failure: &RankFailure) {
        let _ = self.send_word(to, &Err(failure.clone()), REPORTED_WITHIN);
    }

    /// The number of the last collective operation.
    fn number(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Why there are no more of them; none while all goes well.
    pub fn ended(&self) -> Option<RankFailure> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<RankFailure>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all ranks have to say, merged, becomes rank 0's answer to all. `within` is how long the slowest may take
    /// longer than this one.
    ///
    /// # Errors
    /// What any rank failed with, or that one did not answer: the same at all ranks that can be reached, now and
    /// in every later one.
    pub fn reduce_and_broadcast(
        &self,
        mine: Result<Vec<u8>>,
        merge: Merge<'_>,
        within: Duration,
        answer: impl FnOnce(Vec<u8>) -> Result<Vec<u8>>,
    ) -> RankResult<Vec<u8>> {
        if let Some(ended) = self.ended() {
            return Err(ended);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        let own = |failure| RankFailure::of_this_rank(self.rank(), failure);
        let said = self.reduce(mine.map_err(own), merge, within);
        let answer = match (said, parent(self.rank())) {
            (Err(NoAnswer::ReportedFromAbove(failure)), _) => Err(failure),
            (said, None) => {
                said.map_err(NoAnswer::failure).and_then(|said| answer(said).map_err(own))
            }
            (said, Some(up)) => self.broadcast_from(up, &said.map_err(NoAnswer::failure), within),
        };
        for child in children(self.rank(), self.size()) {
            // One that cannot be reached notices that alone.
            let _ = self.send_word(child, &answer, SENT_WITHIN);
        }
        if let Err(failure) = &answer {
            *self.lock() = Some(failure.clone());
        }
        answer
    }

    /// What the rank above this one answers to what is said here.
    fn broadcast_from(
        &self,
        up: u32,
        said: &RankResult<Vec<u8>>,
        within: Duration,
    ) -> RankResult<Vec<u8>> {
        // Above it each level may wait for one that is silent.
        let within = within + EACH_LEVEL * (levels(self.size()) + 1);
        let sent = self.send_word(up, said, SENT_WITHIN).map_err(NoAnswer::Noticed);
        let wait = || self.wait_for(up, MessageKind::Word, within, &mut Duration::default());
        let heard = sent.and_then(|()| wait());
        heard.map_err(|why| {
            // That all is well here was said, and is no longer so.
            if let (NoAnswer::Noticed(failure), Ok(_)) = (&why, said) {
                self.report_up(failure);
            }
            why.failure()
        })
    }

    /// A barrier: nobody has more to say than that it is there.
    ///
    /// # Errors
    /// As [`Self::reduce_and_broadcast`].
    pub fn barrier(&self, mine: Result<()>, within: Duration) -> RankResult<()> {
        let nothing = mine.map(|()| Vec::new());
        self.reduce_and_broadcast(nothing, &|one, _| Ok(one), within, Ok).map(drop)
    }

    /// Whether this rank only waits until those below it have ended, which hurries nobody: they may still have to hear why
    /// it has. Rank 0 has still to remove what is left.
    fn is_ending(&self) -> bool {
        self.rank() > 0 && self.is_ending.load(Ordering::Relaxed)
    }

    /// The last of all, whatever happened: rank 0 waits until the others have ended, but not for long.
    pub fn wait_for_end(&self, within: Duration) {
        self.is_ending.store(true, Ordering::Relaxed);
        let mut waited = Duration::ZERO;
        for child in children(self.rank(), self.size()) {
            // What else it said came too late.
            while let Ok(message) = self.message(child, within, &mut waited)
                && message.first() != Some(&(MessageKind::End as u8))
            {}
        }
        if let Some(up) = parent(self.rank()) {
            let _ = self.post(up, MessageKind::End, &[], SENT_WITHIN);
        }
    }

    /// What this rank and those below it have to say.
    fn reduce(
        &self,
        mine: RankResult<Vec<u8>>,
        merge: Merge<'_>,
        within: Duration,
    ) -> std::result::Result<Vec<u8>, NoAnswer> {
        // An own failure is reported at once: nobody below can add to it.
        if let Err(failure) = &mine
            && !failure.is_stop()
        {
            return mine.map_err(NoAnswer::Noticed);
        }
        let (mut all, mut waited) = (mine, Duration::ZERO);
        for child in children(self.rank(), self.size()) {
            let below = levels(subtree(child, self.size()));
            let within = match &all {
                Ok(_) => within + EACH_LEVEL * below,
                Err(_) => self.after_interrupt(child).saturating_sub(waited),
            };
            let mut took = Duration::ZERO;
            let said = self.wait_for(child, MessageKind::Word, within, &mut took);
            waited += took;
            if let Err(NoAnswer::ReportedFromAbove(_)) = said {
                return said;
            }
            all = match (all, said.map_err(NoAnswer::failure)) {
                (Ok(all), Ok(said)) => merge(all, said)
                    .map_err(|failure| RankFailure::of_this_rank(self.rank(), failure)),
                (Err(one), Err(other)) => Err(one.and(other)),
                (Err(one), Ok(_)) | (Ok(_), Err(one)) => Err(one),
            };
        }
        all.map_err(NoAnswer::Noticed)
    }

    /// Sends a word, or why there is none.
    fn send_word(&self, to: u32, what: &RankResult<Vec<u8>>, within: Duration) -> RankResult<()> {
        match what {
            Ok(word) => self.post(to, MessageKind::Word, word, within),
            Err(failure) => {
                let failure = serde_json::to_vec(failure).unwrap_or_default();
                self.post(to, MessageKind::Failure, &failure, within)
            }
        }
    }

    fn post(&self, to: u32, kind: MessageKind, body: &[u8], within: Duration) -> RankResult<()> {
        let mut message = Vec::with_capacity(HEAD_BYTES + body.len());
        message.push(kind as u8);
        message.extend(self.number().to_be_bytes());
        message.extend(body);
        self.communicator.send(to, &message, within).map_err(|why| RankFailure::lost(to, &why))
    }

    /// What a rank says in the last collective operation, or after it; adds to `waited` how long it was waited for.
    fn wait_for(
        &self,
        from: u32,
        kind: MessageKind,
        within: Duration,
        waited: &mut Duration,
    ) -> std::result::Result<Vec<u8>, NoAnswer> {
        loop {
            let message = self.message(from, within, waited)?;
            // Otherwise it is of a collective operation that this rank has given up.
            if let Some(said) = parsed(&message, kind, self.number()) {
                return said.map_err(|failure| match failure {
                    Some(failure) => NoAnswer::Reported(failure),
                    None => NoAnswer::Noticed(RankFailure::other(from, OUT_OF_STEP.into())),
                });
            }
        }
    }

    /// The next message of a rank, which is waited for from `waited` on until `within`.
    fn message(
        &self,
        from: u32,
        within: Duration,
        waited: &mut Duration,
    ) -> std::result::Result<Vec<u8>, NoAnswer> {
        let (mut limit, mut is_stopped) = (within, false);
        loop {
            if !is_stopped && !self.is_ending() && self.stop.load(Ordering::Relaxed) {
                is_stopped = true;
                limit = limit.min(*waited + self.after_interrupt(from));
            }
            let slice = SLICE.min(limit.saturating_sub(*waited));
            match self.communicator.receive(from, slice) {
                Ok(message) => return Ok(message),
                Err(MessageError::TimedOut) => *waited += slice,
                Err(why) => return Err(NoAnswer::Noticed(RankFailure::lost(from, &why))),
            }
            if let Some(failure) = self.failure_above(from) {
                return Err(NoAnswer::ReportedFromAbove(failure));
            }
            if *waited >= limit {
                return Err(NoAnswer::Noticed(match is_stopped {
                    // A rank above this one may only wait for others.
                    true if from < self.rank() => RankFailure::stopped(self.rank(), Vec::new()),
                    true => RankFailure::stopped(self.rank(), vec![from]),
                    false => RankFailure::silent(from, *waited),
                }));
            }
        }
    }

    /// Why all end, if a rank above this one says so while this one waits for one below it; until this one has said its word,
    /// they have nothing else to say to it.
    fn failure_above(&self, from: u32) -> Option<RankFailure> {
        if from < self.rank() || self.is_ending.load(Ordering::Relaxed) {
            return None;
        }
        let up = parent(self.rank())?;
        [up, 0].into_iter().find_map(|above| {
            let message = self.communicator.receive(above, Duration::ZERO).ok()?;
            parsed(&message, MessageKind::Failure, self.number())?.err()?
        })
    }

    /// How long another rank is waited for once this one was asked to end.
    fn after_interrupt(&self, from: u32) -> Duration {
        let between = match from > self.rank() {
            true => levels(subtree(from, self.size())),
            false => levels(self.size()) + 1,
        };
        AFTER_INTERRUPT + AFTER_INTERRUPT_LEVEL * between
    }
}

/// What a message of a kind says in operation `number`, or after it: nothing if it is of an earlier one; a failure that is
/// `None` if it is of another kind or a later one. After a failure nothing else comes, so it is never of an earlier one.
fn parsed(
    message: &[u8],
    kind: MessageKind,
    number: u64,
) -> Option<std::result::Result<Vec<u8>, Option<RankFailure>>> {
    let Some((head, body)) = message.split_at_checked(HEAD_BYTES) else { return Some(Err(None)) };
    let of = head[1..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    match head[0] {
        is if is == MessageKind::Failure as u8 => Some(Err(serde_json::from_slice(body).ok())),
        _ if of < number => None,
        is if is == kind as u8 && of == number => Some(Ok(body.to_vec())),
        _ => Some(Err(None)),
    }
}

/// The rank above one in the tree; none above rank 0. Of a rank's number the lowest bit that is set is cleared.
fn parent(rank: u32) -> Option<u32> {
    (rank > 0).then(|| rank & (rank - 1))
}

/// The ranks right below one, the lowest first.
fn children(rank: u32, size: u32) -> impl Iterator<Item = u32> {
    let most = if rank == 0 { u32::BITS } else { rank.trailing_zeros() };
    (0..most)
        .map(move |bit| u64::from(rank) + (1 << bit))
        .take_while(move |child| *child < u64::from(size))
        .filter_map(|child| u32::try_from(child).ok())
}

/// How many ranks one and those below it are.
fn subtree(rank: u32, size: u32) -> u32 {
    (size - rank).min(1 << rank.trailing_zeros().min(u32::BITS - 1))
}

/// Levels of a tree of `ranks` ranks below its top.
fn levels(ranks: u32) -> u32 {
    u32::BITS - ranks.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::with_ranks;
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    /// The ranks' numbers, as the tree brings them together, at rank 0.
    fn numbers(size: u32) -> Vec<Vec<u8>> {
        with_ranks(size, |communicator| {
            let stop = AtomicBool::new(false);
            let collectives = Collectives::new(communicator, &stop);
            let mine = Ok(vec![communicator.rank() as u8]);
            collectives
                .reduce_and_broadcast(mine, &|one, other| Ok([one, other].concat()), SOON, Ok)
                .unwrap()
        })
    }

    #[test]
    fn what_ranks_say_comes_together_in_their_order_and_the_answer_goes_to_all() {
        for size in [1, 2, 3, 7, 8, 13] {
            let all: Vec<u8> = (0..size as u8).collect();
            assert_eq!(numbers(size), vec![all; size as usize], "{size} ranks");
        }
    }

    #[test]
    fn each_rank_but_the_first_has_one_above_it_and_is_counted_once() {
        for size in [1, 2, 5, 64, 1000] {
            let below: Vec<u32> = (0..size).flat_map(|rank| children(rank, size)).collect();
            assert_eq!(below.len() as u32, size - 1);
            for rank in 0..size {
                assert!(children(rank, size).all(|child| parent(child) == Some(rank)));
                let parts: u32 = children(rank, size).map(|child| subtree(child, size)).sum();
                assert!(rank == 0 || parts + 1 == subtree(rank, size), "{rank} of {size}");
            }
        }
        assert_eq!([1, 2, 3, 4, 5, 10_000].map(levels), [0, 1, 2, 2, 3, 14]);
    }

    #[test]
    fn a_rank_that_fails_ends_all_with_its_sentence_now_and_later() {
        let heard = with_ranks(6, |communicator| {
            let stop = AtomicBool::new(false);
            let collectives = Collectives::new(communicator, &stop);
            collectives.barrier(Ok(()), SOON).unwrap();
            let fails = communicator.rank() == 3;
            let mine = if fails { Err(Failure::failed("no room")) } else { Ok(()) };
            let now = collectives.barrier(mine, SOON).unwrap_err();
            assert_eq!(collectives.barrier(Ok(()), SOON).unwrap_err(), now);
            now.failure(&[]).sentence
        });
        assert_eq!(heard, vec![format!("rank 3 on {}: no room", host_name()); 6]);
    }

    #[test]
    fn a_rank_that_is_gone_is_named_and_nobody_waits_for_ever() {
        let heard = with_ranks(5, |communicator| {
            let stop = AtomicBool::new(false);
            let collectives = Collectives::new(communicator, &stop);
            if communicator.rank() == 4 {
                return String::new();
            }
            let gone = collectives.barrier(Ok(()), Duration::from_millis(400)).unwrap_err();
            gone.failure(&[]).sentence
        });
        assert!(heard[0].starts_with("rank 4: it did not answer within"), "{heard:?}");
        assert!(heard[..4].iter().all(|sentence| *sentence == heard[0]), "{heard:?}");
    }

    #[test]
    fn a_rank_that_is_asked_to_end_while_it_waits_for_the_answer_tells_the_others() {
        let is_gone = AtomicBool::new(false);
        let heard = with_ranks(4, |communicator| {
            let stop = AtomicBool::new(communicator.rank() == 3);
            let collectives = Collectives::new(communicator, &stop);
            // The last to come, when rank 3 has given up what all but it have done.
            while communicator.rank() == 1 && !is_gone.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let first = collectives.barrier(Ok(()), SOON);
            assert_eq!(first.is_ok(), communicator.rank() != 3);
            is_gone.fetch_or(communicator.rank() == 3, Ordering::Relaxed);
            let next = collectives.barrier(Ok(()), SOON).unwrap_err();
            assert_eq!(collectives.ended(), Some(next.clone()));
            next.failure(&[])
        });
        let sentence = format!("rank 3 on {}: it was asked to end", host_name());
        assert_eq!(heard, vec![Failure::interrupted(sentence); 4]);
    }

    #[test]
    fn a_rank_that_waits_for_one_below_it_hears_that_one_above_it_ends() {
        let heard = with_ranks(8, |communicator| {
            let stop = AtomicBool::new(communicator.rank() == 0);
            let collectives = Collectives::new(communicator, &stop);
            // Rank 6 waits for 7, and 4 for 6.
            (communicator.rank() != 7)
                .then(|| collectives.barrier(Ok(()), SOON).unwrap_err().is_stop())
        });
        assert_eq!(heard[..7], [Some(true); 7]);
    }

    #[test]
    fn an_interrupt_ends_the_wait_for_others() {
        let heard = with_ranks(2, |communicator| {
            let stop = AtomicBool::new(true);
            let collectives = Collectives::new(communicator, &stop);
            let hosts = [String::from("a"), "b".into()];
            let meet = || {
                collectives.barrier(Ok(()), Duration::from_secs(3600)).unwrap_err().failure(&hosts)
            };
            (communicator.rank() == 0).then(meet)
        });
        let Failure { exit, sentence } = heard[0].clone().unwrap();
        assert_eq!(exit, Exit::Interrupted);
        assert!(
            sentence.ends_with("it was asked to end, and rank 1 on b did not answer then"),
            "{sentence}"
        );
    }

    #[test]
    fn where_all_are_asked_to_end_the_one_that_is_gone_is_named_and_not_who_waits_for_it() {
        let heard = with_ranks(4, |communicator| {
            let stop = AtomicBool::new(true);
            let collectives = Collectives::new(communicator, &stop);
            let stopped = || Err(Failure::interrupted("it was asked to end"));
            (communicator.rank() != 3)
                .then(|| collectives.barrier(stopped(), SOON).unwrap_err().silent)
        });
        assert_eq!(heard[0], Some(vec![3]));
    }

    #[test]
    fn a_late_word_of_an_operation_that_was_given_up_is_passed_over() {
        let said = |message: &[u8]| parsed(message, MessageKind::Word, 2);
        assert_eq!(said(b"w\0\0\0\0\0\0\0\x01late"), None);
        assert_eq!(said(b"w\0\0\0\0\0\0\0\x02now"), Some(Ok(b"now".to_vec())));
        assert_eq!(said(b"w\0\0\0\0\0\0\0\x03early"), Some(Err(None)));
        assert_eq!(said(b"c\0\0\0\0\0\0\0\x02other"), Some(Err(None)));
        assert_eq!(said(b"?"), Some(Err(None)));
        assert_eq!(said(b"f\0\0\0\0\0\0\0\x02{"), Some(Err(None)));
    }
}
