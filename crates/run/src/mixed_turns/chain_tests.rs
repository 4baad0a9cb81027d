//! Plays mixes with chains against a model of the disk, the steps of several workers between each other.

use super::tests::{cell, failed, files, turns};
use super::*;
use boatload_op::request::{Access, NextRequest, Request, RequestOutcome};
use boatload_plan::CellPlan;
use std::collections::{BTreeMap, BTreeSet};

/// Where files are that were not moved: `new`.
const HOME: u8 = 1;
const TREE: &str =
    "files = 300\nfiles_max = 420\ndirectories = ['tmp', 'new', 'cur']\nfiles_in = 'new'";
const DELIVER: &str = "name = 'deliver'\nchain = [{ create = 'tmp' }, 'fsync', { rename = 'new' }, 'fsync-directory']";
const TAKE: &str = "name = 'take'\nof = 'any'\nchain = [{ list = 'new' }, { rename = 'cur' }, 'read', \
                    'rename', 'delete']";
const LOOK: &str = "name = 'look'\nof = 'any'\nchain = ['stat', 'read']";

/// The names of files: number, directory and generation.
type Names = BTreeSet<(u64, u8, u32)>;

/// A disk that knows which names there are.
struct Disk {
    names: Names,
    /// One request in this number fails; 0 for none.
    fails_every: u64,
    requests: u64,
    /// Renames over a file that was there.
    overwritten: u64,
}

impl Disk {
    fn of(cell: &CellPlan, fails_every: u64) -> Self {
        let names = (0..cell.tree.files).map(|number| (number, HOME, 0)).collect();
        Self { names, fails_every, requests: 0, overwritten: 0 }
    }

    fn found(&self, place: ItemId) -> RequestOutcome {
        name(place).is_none_or(|name| self.names.contains(&name)).then_some(0).ok_or(Errno::ENOENT)
    }

    fn serve(&mut self, request: &Request) -> RequestOutcome {
        self.requests += 1;
        let drawn = mix(self.requests ^ 77);
        if self.fails_every > 0 && below(drawn, self.fails_every) == 0 {
            let all = [Errno::EIO, Errno::ENOSPC, Errno::EROFS, Errno::EACCES];
            return Err(all[below(mix(drawn), 4) as usize]);
        }
        match *request {
            Request::Open { place, access: Access::CreateNew, .. } => {
                let is_new = name(place).is_some_and(|name| self.names.insert(name));
                is_new.then_some(0).ok_or(Errno::EEXIST)
            }
            Request::Open { place, .. } | Request::Stat(place) | Request::SetMode(place) => {
                self.found(place)
            }
            Request::Unlink(place) => {
                self.found(place)?;
                self.names.remove(&name(place).unwrap());
                Ok(0)
            }
            Request::Rename { from, to } => {
                self.found(from)?;
                let (from, to) = (name(from).unwrap(), name(to).unwrap());
                self.names.remove(&from);
                // What was written to take the place of a file has the name after it.
                let is_over = !self.names.insert(to) && from.2 != to.2 + 1;
                self.overwritten += u64::from(is_over);
                Ok(0)
            }
            Request::Link { from, to } => {
                self.found(from)?;
                self.names.insert(name(to).unwrap()).then_some(0).ok_or(Errno::EEXIST)
            }
            Request::Write { bytes, .. } => Ok(u64::from(bytes)),
            _ => Ok(0),
        }
    }
}

fn name(place: ItemId) -> Option<(u64, u8, u32)> {
    match place {
        ItemId::File { number, generation, directory } => {
            Some((number, directory.unwrap_or(HOME), generation))
        }
        _ => None,
    }
}

/// One worker, between two steps.
struct Player<'a> {
    turns: MixedTurns<'a>,
    going: Option<(Turn, &'static Operation)>,
}

/// All workers on one disk.
struct Game<'a> {
    disk: Disk,
    players: Vec<Player<'a>>,
    /// Files in the hand of some turn.
    hands: BTreeSet<u64>,
    /// How turns of works ended: well, because a file was gone, by an error.
    ended: [u64; 3],
}

impl<'a> Game<'a> {
    fn new(cell: &'a CellPlan, files: &'a MixedFiles, fails_every: u64) -> Self {
        let player = |worker| Player { turns: turns(cell, files, worker), going: None };
        let players = (0..cell.phases[1].threads).map(player).collect();
        let disk = Disk::of(cell, fails_every);
        Self { disk, players, hands: BTreeSet::new(), ended: [0; 3] }
    }

    /// Plays all turns, a step of a random worker at a time.
    fn play(&mut self) {
        let mut busy: Vec<usize> = (0..self.players.len()).collect();
        for number in 0u64.. {
            if busy.is_empty() {
                break;
            }
            let at = below(mix(number ^ 5), busy.len() as u64) as usize;
            if !self.advance(busy[at]) {
                busy.remove(at);
            }
        }
        assert!(self.hands.is_empty(), "{:?} in no turn's hand", self.hands);
    }

    /// Begins a turn or does its next step; whether there was one.
    fn advance(&mut self, at: usize) -> bool {
        let player = &mut self.players[at];
        let Some((mut turn, operation)) = player.going.take() else {
            let Some(turn) = player.turns.next() else { return false };
            let file = player.turns.in_turn.number();
            assert!(!self.hands.contains(&file), "{file} is in the hand of another turn");
            if is_claimed(&player.turns, &turn) {
                self.hands.insert(file);
            }
            player.going = Some((turn, player.turns.operation(&turn)));
            return true;
        };
        let progress = operate(operation, &turn.target, &mut self.disk);
        if player.turns.is_chain(&turn)
            && let Some((operation, target)) = player.turns.step_ended(&turn, &progress)
        {
            turn.target = target;
            player.going = Some((turn, operation));
            return true;
        }
        if is_claimed(&player.turns, &turn) {
            self.hands.remove(&player.turns.in_turn.number());
            let is_missing = progress.failed.is_some_and(|error| error.errno == Errno::ENOENT);
            assert!(!is_missing, "{} was in hand: {progress:?}", player.turns.in_turn);
        }
        let counts = player.turns.ended(&turn, &progress);
        if turn.work.is_some() {
            let how = if counts { 2 * usize::from(progress.failed.is_some()) } else { 1 };
            self.ended[how] += 1;
        }
        true
    }

    /// The turns of the worker that a file belongs to.
    fn owner(&mut self, number: u64) -> &mut MixedTurns<'a> {
        let workers = self.players.len() as u64;
        &mut self.players[(number % workers) as usize].turns
    }

    /// Where the workers think that files are.
    fn known(&mut self, capacity: u64) -> Names {
        let of = |number: u64| {
            let file = ItemId::file(number);
            self.owner(number).with(number, |files| files.known(file)).and_then(name)
        };
        (0..capacity).filter_map(of).collect()
    }

    fn tally(self) -> MixTally {
        let tallies = self.players.into_iter().map(|player| player.turns.into_tally());
        tallies.fold(MixTally::default(), |all, one| all.plus(&one))
    }
}

fn is_claimed(turns: &MixedTurns<'_>, turn: &Turn) -> bool {
    let Some(work) = turn.work else { return true };
    let work = turns.works[work].work;
    turns.in_turn != turns.none && (work.moves_file() || !work.takes_file())
}

fn operate(operation: &Operation, target: &Target, disk: &mut Disk) -> OperationProgress {
    let mut progress = OperationProgress::before(target);
    loop {
        match (operation.step)(target, &progress) {
            NextRequest::Submit(request) => progress.complete(&request, disk.serve(&request)),
            NextRequest::Last(request) => {
                progress.complete(&request, disk.serve(&request));
                return progress;
            }
            NextRequest::Done => return progress,
        }
    }
}

/// Six workers.
fn mailbox() -> CellPlan {
    let works = [(DELIVER, 3), (TAKE, 2), (LOOK, 1)];
    let works = works.map(|(work, threads)| format!("{work}\nthreads = {threads}"));
    cell(TREE, "count = 20_000", &works.each_ref().map(|work| &**work))
}

#[test]
fn a_mailbox_of_three_directories_has_each_mail_once_where_the_workers_know_it() {
    let cell = mailbox();
    let files = files(&cell);
    let mut game = Game::new(&cell, &files, 0);
    game.play();
    let [well, gone, failed] = game.ended;
    assert_eq!((well + gone, failed, game.disk.overwritten), (20_000, 0, 0));
    assert!(gone > 10, "mails are taken while others look at them: {gone}");
    assert_eq!(game.known(cell.tree.capacity()), game.disk.names);
    let there = game.disk.names.len() as i64;
    let tally = game.tally();
    assert_eq!(300 + tally.entries_change, there);
    assert_eq!(tally.works.iter().map(|(work, _)| work.gone).sum::<u64>(), gone);
    assert!(tally.evictions > 500, "three deliver for two that take: {}", tally.evictions);
    let steps = |work: usize| tally.works[work].1.iter().map(|step| step.operations);
    assert!(steps(0).all(|operations| operations == tally.works[0].0.operations));
    let (reached, done) = (steps(1).next().unwrap(), tally.works[1].0.operations);
    assert_eq!(steps(1).collect::<Vec<_>>(), [reached, done, done, done, done]);
}

#[test]
fn a_file_whose_chain_failed_in_the_middle_is_neither_lost_nor_found_twice() {
    for fails_every in [7, 50, 1_000] {
        let cell = mailbox();
        let files = files(&cell);
        let mut game = Game::new(&cell, &files, fails_every);
        game.play();
        assert!(game.ended[2] > 20, "{fails_every}: {:?}", game.ended);
        assert_eq!(game.disk.overwritten, 0, "{fails_every}");
        let known = game.known(cell.tree.capacity());
        let names = std::mem::take(&mut game.disk.names);
        let lost: Vec<_> = known.difference(&names).collect();
        assert!(lost.is_empty(), "{fails_every}: {lost:?} are not there");
        let numbers: BTreeSet<u64> = names.iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers.len(), names.len(), "{fails_every}: a file is there twice");
        for (number, ..) in names.difference(&known) {
            let file = ItemId::file(*number);
            let is_free = game.owner(*number).with(*number, |files| files.is_free(file));
            assert!(!is_free, "{fails_every}: {file} is there, and its number is given away");
        }
        let tally = game.tally();
        assert_eq!(300 + tally.entries_change, names.len() as i64, "{fails_every}");
    }
}

#[test]
fn works_on_files_of_all_workers_that_link_replace_and_remove_keep_the_count() {
    let works = [
        "operation = 'create'\nweight = 4",
        "operation = 'delete'\nweight = 1\nof = 'any'",
        "operation = 'replace'\nweight = 2\nof = 'any'",
        "operation = 'append'\nweight = 1\nof = 'any'",
        "name = 'move'\nchain = [{ link = 'cur' }, { delete = 'new' }]\nof = 'any'\n\
         directory = 'new'\nweight = 2",
        "name = 'twice'\nchain = ['link', 'read', 'delete']\nof = 'any'\nweight = 1",
        "name = 'log'\nchain = ['append', 'fsync']\nweight = 1",
        "name = 'out'\nchain = ['rename', 'delete']\nweight = 1",
    ];
    for (fails_every, files_at_first) in [(0, 300), (500, 300), (0, 42)] {
        let tree = TREE.replace("files = 300", &format!("files = {files_at_first}"));
        let cell = cell(&tree, "count = 20_000\nthreads = 6", &works);
        let files = files(&cell);
        let mut game = Game::new(&cell, &files, fails_every);
        game.play();
        let there = game.disk.names.len() as i64;
        if fails_every == 0 {
            assert_eq!(game.known(cell.tree.capacity()), game.disk.names);
            assert_eq!((game.ended[2], game.disk.overwritten), (0, 0));
        }
        let ended = game.ended;
        let tally = game.tally();
        let counted = files_at_first + tally.entries_change;
        assert_eq!((counted, ended.iter().sum::<u64>()), (there, 20_000), "{fails_every}");
    }
}

#[test]
fn a_file_in_hand_is_taken_by_nobody_else_and_where_none_is_left_there_is_nothing_to_do() {
    let take = format!("{TAKE}\nthreads = 2");
    let cell = cell(TREE, "count = 700", &[&take]);
    let files = files(&cell);
    let mut workers = [turns(&cell, &files, 0), turns(&cell, &files, 1)];
    let mut taken = BTreeSet::new();
    for number in 0..300 {
        let worker = &mut workers[number % 2];
        worker.next().unwrap();
        assert!(taken.insert(worker.in_turn.number()), "{} is in hand", worker.in_turn);
    }
    let turn = workers[0].next().unwrap();
    assert_eq!(workers[0].in_turn, workers[0].none);
    assert!(!workers[0].ended(&turn, &failed(RequestKind::Rename, Errno::ENOENT)));
    assert_eq!(workers[0].next().map(|_| workers[0].in_turn), Some(workers[0].none));
}

#[test]
fn a_replacement_makes_no_file_where_none_is_left() {
    let works =
        ["operation = 'replace'\nof = 'any'\nweight = 1", "operation = 'create'\nweight = 1"];
    let cell = cell("files = 2\nfiles_max = 20", "count = 10", &works);
    let files = files(&cell);
    let mut turns = turns(&cell, &files, 0);
    turns.with(0, |files| (0..2).for_each(|number| files.remove(ItemId::file(number))));
    for _ in 0..10 {
        let turn = turns.next().unwrap();
        assert_ne!(turn.target.place, turns.none, "{turn:?}");
        turns.ended(&turn, &OperationProgress::default());
    }
}

#[test]
fn what_a_step_failed_on_is_named_where_it_was_then() {
    let deliver = format!("{DELIVER}\nthreads = 1");
    let cell = cell(TREE, "count = 9", &[&deliver]);
    let files = files(&cell);
    let mut turns = turns(&cell, &files, 0);
    let mut turn = turns.next().unwrap();
    let mut places = BTreeMap::new();
    let mut operation = turns.operation(&turn);
    while let Some((next, target)) = turns.step_ended(&turn, &OperationProgress::default()) {
        places.insert(operation.name, turn.target.place);
        (turn.target, operation) = (target, next);
    }
    assert_eq!(name(places["create"]).map(|(_, directory, _)| directory), Some(0));
    assert_eq!(turn.target.place, ItemId::Layout(cell.tree.layout_of_holder(u64::from(HOME))));
}
