//! Brings the ballast to a level: fills, ages and empties it. What is made and deleted, and in which
//! order, follows from the seed alone: one worker and many leave the same files. Only how far it goes
//! depends on the file system.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::drive::DoneCount;
use boatload_base::failure::{Failure, Result};
use boatload_base::live_set::LiveSet;
use boatload_base::random::{Stream, below, draw, unit};
use boatload_base::units::counted;
use boatload_host::space::Space;
use boatload_op::Change;
use boatload_plan::Phase;
use boatload_plan::phase::{OnBallast, PastChange};
use boatload_plan::prepare::{Ballast, BallastGoal, FillMethod, ROUND_PERCENT, USED_TOLERANCE};
use boatload_plan::selection::{EntryRange, Order, Selection};

/// A site that makes and deletes the files of a ballast.
pub trait BallastFileSystem {
    /// Makes the files with these numbers.
    fn create(&mut self, ballast: &Ballast, files: Range<u64>) -> Result<()>;

    /// Makes them side by side, so many bytes of each at a time; one after the other where it makes
    /// no difference.
    fn grow(&mut self, ballast: &Ballast, files: Range<u64>, _piece_bytes: u32) -> Result<()> {
        self.create(ballast, files)
    }

    /// Deletes files.
    fn delete(&mut self, ballast: &Ballast, files: LiveSet) -> Result<()>;

    /// Writes out what is in memory: before that, some file systems do not count it.
    fn sync(&mut self) -> Result<()>;

    /// The room there is.
    fn space(&self) -> Result<Space>;

    /// The layout score of the files; `None` if the file system does not say where their blocks are.
    fn layout_score(&self) -> Option<f64> {
        None
    }

    /// Told between steps: what share of the way is done, 0 to 1.
    fn progress(&self, _share: f64) {}
}

/// The progress of a ballast, for listeners.
#[derive(Clone, Debug)]
pub enum Headway {
    /// What share of the way is done, 0 to 1.
    Share(f64),
    /// Files are being made.
    Making {
        /// How many in all.
        files: u64,
        /// Those that are there already.
        before: u64,
        /// What each worker has made since.
        done: Arc<[DoneCount]>,
    },
    /// What was made is being removed again.
    CleaningUp,
}

/// Hears how far it is.
pub type HeadwayListener<'a> = &'a dyn Fn(&Headway);

/// The files of a ballast until now.
#[derive(Clone, Debug)]
pub struct BallastState {
    ballast: Ballast,
    live: LiveSet,
    /// Draws for victims until now.
    draws: u64,
    /// Files made since the last deletion.
    since_deletion: u64,
    /// Whether it has been aged to where it is emptied from.
    aged: bool,
    /// Rounds in which part of the space was freed and filled again.
    rounds: u32,
}

/// A level is reached this far below it, in percentage points: no file is small enough for less.
const NEAR: f64 = 0.1;

/// How far above a level the last file may end, in percentage points.
const BEYOND: f64 = USED_TOLERANCE / 2.0;

/// How many files are passed over in search for one that is small enough.
const TOO_LARGE_MAX: u64 = 100_000;

/// Most files made before the space is asked again.
const BATCH_FILES_MAX: u64 = 20_000;

/// Most files that are made by growing before the space is asked again.
const GROWN_FILES_MAX: u64 = 256;

/// Files in a row that may leave the used space unchanged.
const IDLE_FILES_MAX: u64 = 5 * BATCH_FILES_MAX;

/// Draws for a victim before the next file that is there is taken.
const VICTIM_DRAWS_MAX: u32 = 64;

impl BallastState {
    /// A phase on the files that there are now.
    pub(super) fn resolved(&self, phase: &Phase, on: OnBallast) -> Phase {
        let seed = self.ballast().tree.seed;
        let ranked = Arc::new(self.sample(on.most, on.salt).ranked());
        let length = self.live().length();
        let made = Selection::new(EntryRange::whole(0, length), Order::Sequential, 1, seed, 0);
        let change = Change::NewSize;
        Phase {
            selection: Selection::of_live(ranked, on.most, on.order, seed, on.salt),
            history: vec![PastChange { change, selection: made, sizes: None }],
            ..phase.clone()
        }
    }

    /// None of the ballast's files yet.
    pub fn new(ballast: Ballast) -> Self {
        Self {
            ballast,
            live: LiveSet::default(),
            draws: 0,
            since_deletion: 0,
            aged: false,
            rounds: 0,
        }
    }

    /// The law it is made by.
    pub fn ballast(&self) -> &Ballast {
        &self.ballast
    }

    /// At most so many of its files, at equal distances in the order of their sizes: random samples of
    /// few would differ by how many large files are in each.
    pub fn sample(&self, most: u64, salt: u64) -> LiveSet {
        let count = self.live.count();
        if most == 0 || count <= most {
            return self.live.clone();
        }
        let tree = &self.ballast.tree;
        let mut numbers: Vec<u64> =
            (0..self.live.length()).filter(|number| self.live.contains(*number)).collect();
        numbers.sort_unstable_by_key(|number| (tree.size(*number, 0), *number));
        let distance = count as f64 / most as f64;
        let start = unit(draw(tree.seed, Stream::Order, salt));
        let chosen = (0..most).map(|at| ((start + at as f64) * distance) as usize);
        LiveSet::of(chosen.filter_map(|place| numbers.get(place).copied()))
    }

    /// Which files there are.
    pub fn live(&self) -> &LiveSet {
        &self.live
    }

    /// How many rounds freed part of the space and filled it again.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Brings the same ballast to another level; ends early, with what is done, when `stop` is
    /// set.
    pub fn reach(
        &mut self,
        goal: BallastGoal,
        place: &mut dyn BallastFileSystem,
        stop: &AtomicBool,
    ) -> Result<()> {
        match (goal, self.ballast.method) {
            (BallastGoal::Files(files), _) => self.fill_to(files, place),
            (BallastGoal::Used(percent), FillMethod::Age { empty_from: Some(from), .. }) => {
                if !self.aged {
                    self.use_up_to(from, place, stop)?;
                    self.churn(from, place, stop)?;
                    self.aged = true;
                }
                self.empty_down_to(percent, place, stop)
            }
            (BallastGoal::Used(percent), _) => {
                self.use_up_to(percent, place, stop)?;
                self.churn(percent, place, stop)
            }
        }
    }

    /// Frees a tenth of the used space and fills it again, round by round.
    fn churn(
        &mut self,
        percent: f64,
        place: &mut dyn BallastFileSystem,
        stop: &AtomicBool,
    ) -> Result<()> {
        let FillMethod::Age { churn, .. } = self.ballast.method else { return Ok(()) };
        let broken_up = |place: &dyn BallastFileSystem| {
            let score = || place.layout_score();
            churn.layout_score.is_some_and(|wanted| score().is_some_and(|score| score <= wanted))
        };
        for _ in 0..churn.rounds {
            if stop.load(Ordering::Relaxed) || broken_up(place) {
                break;
            }
            let distance = Distance::of(&place.space()?, percent);
            let freed = (distance.used_bytes as f64 * ROUND_PERCENT / 100.0) as u64;
            // Half of what is asked for is what the files drawn hold.
            let victims = self.victims(freed.saturating_mul(2), &distance);
            place.delete(&self.ballast, LiveSet::of(victims))?;
            self.use_up_to(percent, place, stop)?;
            self.rounds += 1;
        }
        Ok(())
    }

    fn fill_to(&mut self, files: u64, place: &mut dyn BallastFileSystem) -> Result<()> {
        let there = self.live.length();
        if files < there {
            return Err(Failure::failed(format!(
                "{} lie there already, and {} were wanted: files are only added",
                counted(there, "file"),
                counted(files, "file")
            )));
        }
        if files > there {
            // What a failure leaves half made is removed with the rest.
            self.live.grow(files);
            place.create(&self.ballast, there..files)?;
        }
        place.sync()
    }

    /// Makes files, and where it ages deletes some, until so much of the space is used.
    fn use_up_to(
        &mut self,
        percent: f64,
        place: &mut dyn BallastFileSystem,
        stop: &AtomicBool,
    ) -> Result<()> {
        let (mut idle, mut step_files) = (Idle::default(), 0);
        loop {
            place.sync()?;
            let distance = Distance::of(&place.space()?, percent);
            place.progress(distance.share());
            if distance.wanted_bytes <= distance.near_bytes || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            idle.check(&distance, step_files)?;
            let Some(batch) = self.next_batch(&distance) else { return distance.too_large() };
            step_files = batch.end - batch.start;
            let made = match self.piece_bytes() {
                Some(piece_bytes) => place.grow(&self.ballast, batch, piece_bytes),
                None => place.create(&self.ballast, batch),
            };
            made.map_err(|failure| distance.explained(&failure))?;
            // Not all of the step may be there then to be deleted.
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.since_deletion += step_files;
            self.delete_due(place)?;
        }
    }

    /// The next files that fit, in the order of their numbers; `None` if no file is small enough.
    fn next_batch(&mut self, distance: &Distance) -> Option<Range<u64>> {
        let tree = &self.ballast.tree;
        let (most_files, most_bytes) = match self.ballast.method {
            FillMethod::Age { delete_every, .. } if self.piece_bytes().is_none() => {
                (delete_every - self.since_deletion, distance.wanted_bytes)
            }
            // What a file takes beside its content is not known: half of the way at a time.
            method => {
                let grown = method != FillMethod::Fill;
                let most_files = if grown { GROWN_FILES_MAX } else { BATCH_FILES_MAX };
                (most_files, (distance.wanted_bytes / 2).max(distance.beyond_bytes))
            }
        };
        let room = |bytes: u64| bytes <= most_bytes.saturating_add(distance.beyond_bytes / 2);
        let size = |number| distance.in_blocks(tree.size(number, 0));
        let mut first = self.live.length();
        // What does not fit is passed over: it is counted as made and gone.
        let last = first.saturating_add(TOO_LARGE_MAX).min(tree.files);
        first = (first..last).find(|number| room(size(*number)))?;
        for passed in self.live.length()..first {
            self.live.grow(passed + 1);
            self.live.remove(passed);
        }
        let (mut end, mut bytes) = (first, 0u64);
        while end < tree.files && end - first < most_files {
            bytes = bytes.saturating_add(size(end));
            if !room(bytes) {
                break;
            }
            end += 1;
        }
        self.live.grow(end);
        Some(first..end)
    }

    /// Deletes a file at random after every `delete_every` that were made.
    fn delete_due(&mut self, place: &mut dyn BallastFileSystem) -> Result<()> {
        let FillMethod::Age { delete_every, .. } = self.ballast.method else { return Ok(()) };
        while self.since_deletion >= delete_every {
            self.since_deletion -= delete_every;
            place.sync()?;
            let Some(victim) = self.victim() else { return Ok(()) };
            place.delete(&self.ballast, LiveSet::of([victim]))?;
        }
        Ok(())
    }

    /// By how many bytes files grow side by side; `None` if each is written as a whole.
    fn piece_bytes(&self) -> Option<u32> {
        match self.ballast.method {
            FillMethod::Age { churn, .. } => churn.piece_bytes,
            FillMethod::Fill => None,
        }
    }

    /// A file at random out of those that are there, which it no longer is.
    fn victim(&mut self) -> Option<u64> {
        if self.live.count() == 0 {
            return None;
        }
        let mut number = 0;
        for _ in 0..VICTIM_DRAWS_MAX {
            let bits = draw(self.ballast.tree.seed, Stream::Victim, self.draws);
            self.draws += 1;
            number = below(bits, self.live.length());
            if self.live.remove(number) {
                return Some(number);
            }
        }
        let length = self.live.length();
        let next = (0..length).map(|step| (number + step) % length);
        let found = next.into_iter().find(|number| self.live.contains(*number))?;
        self.live.remove(found);
        Some(found)
    }

    /// Deletes files at random until no more than so much of the space is used.
    fn empty_down_to(
        &mut self,
        percent: f64,
        place: &mut dyn BallastFileSystem,
        stop: &AtomicBool,
    ) -> Result<()> {
        let (mut idle, mut step_files) = (Idle::default(), 0);
        loop {
            place.sync()?;
            let distance = Distance::of(&place.space()?, percent);
            place.progress(distance.share());
            let excess_bytes = distance.used_bytes.saturating_sub(distance.goal_bytes);
            if excess_bytes <= distance.near_bytes || stop.load(Ordering::Relaxed) {
                // A large victim may have led too far down.
                return self.use_up_to(percent, place, stop);
            }
            idle.check(&distance, step_files)?;
            let victims = self.victims(excess_bytes, &distance);
            if victims.is_empty() {
                return distance.too_large();
            }
            step_files = victims.len() as u64;
            place.delete(&self.ballast, LiveSet::of(victims))?;
        }
    }

    /// Files at random that together hold about half of `excess_bytes`, at least one of them.
    fn victims(&mut self, excess_bytes: u64, distance: &Distance) -> Vec<u64> {
        let (mut victims, mut bytes) = (Vec::new(), 0);
        while bytes <= excess_bytes / 2 {
            let Some(victim) = self.victim() else { break };
            bytes += distance.in_blocks(self.ballast.tree.size(victim, 0));
            victims.push(victim);
        }
        victims
    }
}

/// From where the space is to where it shall be.
#[derive(Clone, Copy, Debug)]
struct Distance {
    percent: f64,
    block_bytes: u64,
    /// Used and available together: what df takes for the whole.
    all_bytes: u64,
    used_bytes: u64,
    goal_bytes: u64,
    wanted_bytes: u64,
    near_bytes: u64,
    beyond_bytes: u64,
}

impl Distance {
    fn of(space: &Space, percent: f64) -> Self {
        let (used_bytes, all_bytes) = (space.used_bytes(), space.reachable_bytes());
        let share = |percent: f64| (all_bytes as f64 * percent / 100.0) as u64;
        let goal_bytes = share(percent);
        Self {
            percent,
            block_bytes: space.block_bytes.max(1),
            all_bytes,
            used_bytes,
            goal_bytes,
            wanted_bytes: goal_bytes.saturating_sub(used_bytes),
            near_bytes: share(NEAR),
            beyond_bytes: share(BEYOND),
        }
    }

    fn in_blocks(&self, bytes: u64) -> u64 {
        bytes.checked_next_multiple_of(self.block_bytes).unwrap_or(u64::MAX)
    }

    fn used_percent(&self) -> f64 {
        self.used_bytes as f64 / self.all_bytes.max(1) as f64 * 100.0
    }

    fn share(&self) -> f64 {
        let (less, more) =
            (self.used_bytes.min(self.goal_bytes), self.used_bytes.max(self.goal_bytes));
        less as f64 / more.max(1) as f64
    }

    /// What becomes of it when no file is left that could bring it nearer.
    fn too_large(&self) -> Result<()> {
        if (self.used_percent() - self.percent).abs() <= USED_TOLERANCE {
            return Ok(());
        }
        Err(self.stuck("no file is small enough to come nearer: take smaller `sizes`"))
    }

    fn stuck(&self, why: &str) -> Failure {
        Failure::failed(format!(
            "cannot bring the used space to {}%, it is at {:.1}%: {why}",
            self.percent,
            self.used_percent()
        ))
    }

    fn explained(&self, failure: &Failure) -> Failure {
        Failure { sentence: self.stuck(&failure.sentence).sentence, exit: failure.exit }
    }
}

/// Notices when steps change nothing any more.
#[derive(Default)]
struct Idle {
    used_bytes: u64,
    files: u64,
}

impl Idle {
    /// `files` were made or deleted since the last step.
    fn check(&mut self, distance: &Distance, files: u64) -> Result<()> {
        self.files = if self.used_bytes == distance.used_bytes { self.files + files } else { 0 };
        self.used_bytes = distance.used_bytes;
        if self.files < IDLE_FILES_MAX {
            return Ok(());
        }
        Err(distance.stuck("what is written takes no space (is it compressed?)"))
    }
}

#[cfg(test)]
mod tests;
