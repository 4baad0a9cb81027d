use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use boatload_plan::prepare::Churn;
use boatload_plan::tree::{Content, DirectoryLayout, FilesEach, Placement, Sizes, Tree};

const MIB: u64 = 1 << 20;

fn ballast(way: FillMethod, sizes: Sizes) -> Ballast {
    let files_each = FilesEach::Fixed(100);
    let tree = Tree {
        files: 1 << 32,
        files_max: None,
        layout: DirectoryLayout { fan_out: 1 << 32, depth: 1 },
        placement: Placement::Fill,
        files_each,
        roots: 1,
        part: None,
        sizes,
        chunks: None,
        content: Content::Random,
        seed: 3,
    };
    Ballast { tree, method: way, threads: 1 }
}

const AGE: FillMethod = FillMethod::Age { delete_every: 10, empty_from: None, churn: WHOLE };
const WHOLE: Churn = Churn { piece_bytes: None, rounds: 0, layout_score: None };
const SMALL: Sizes = Sizes::Exponential { min: 4096, max: MIB, k: 10.0 };

/// A file system in which a file takes whole blocks and an eighth more.
struct Paper {
    files: BTreeMap<u64, u64>,
    all_bytes: u64,
    history: Vec<String>,
    /// After this many steps someone wants to stop, and half of the step is done.
    stops_in: Option<(u32, Arc<AtomicBool>)>,
}

impl Paper {
    fn new(all_bytes: u64) -> Self {
        Self { files: BTreeMap::new(), all_bytes, history: Vec::new(), stops_in: None }
    }

    fn used_percent(&self) -> f64 {
        self.files.values().sum::<u64>() as f64 / self.all_bytes as f64 * 100.0
    }
}

impl BallastFileSystem for Paper {
    fn create(&mut self, ballast: &Ballast, files: Range<u64>) -> Result<()> {
        let mut made = files.clone();
        if let Some((steps, stop)) = &mut self.stops_in {
            *steps -= 1;
            if *steps == 0 {
                stop.store(true, Ordering::Relaxed);
                made.end = files.start + (files.end - files.start) / 2;
            }
        }
        for number in made {
            let bytes = ballast.tree.size(number, 0).next_multiple_of(4096) / 8 * 9;
            assert!(self.files.insert(number, bytes).is_none(), "file {number} made twice");
            self.history.push(format!("make {number}"));
        }
        if self.used_percent() > 100.0 { Err(Failure::failed("full")) } else { Ok(()) }
    }

    fn grow(&mut self, ballast: &Ballast, files: Range<u64>, piece_bytes: u32) -> Result<()> {
        self.history.push(format!("grow {} by {piece_bytes}", files.end - files.start));
        self.create(ballast, files)
    }

    /// Each file that was deleted leaves a hole.
    fn layout_score(&self) -> Option<f64> {
        let deleted = self.history.iter().filter(|step| step.starts_with("delete")).count();
        Some(1.0 - deleted as f64 / self.files.len().max(1) as f64)
    }

    fn delete(&mut self, _: &Ballast, files: LiveSet) -> Result<()> {
        let files = files.ranked();
        for number in (0..files.set().count()).map(|n| files.nth(n)) {
            assert!(self.files.remove(&number).is_some(), "file {number} is not there");
            self.history.push(format!("delete {number}"));
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn space(&self) -> Result<Space> {
        let used = self.files.values().sum::<u64>();
        let free_bytes = self.all_bytes - used;
        Ok(Space {
            block_bytes: 4096,
            total_bytes: self.all_bytes,
            free_bytes,
            available_bytes: free_bytes,
            ..Space::default()
        })
    }
}

fn reached(stock: &mut BallastState, place: &mut Paper, percent: f64) {
    stock.reach(BallastGoal::Used(percent), place, &AtomicBool::new(false)).unwrap();
    let used = place.used_percent();
    assert!((used - percent).abs() < USED_TOLERANCE, "{used}% instead of {percent}%");
    assert_eq!(stock.live().count(), place.files.len() as u64);
    assert!(place.files.keys().all(|number| stock.live().contains(*number)));
}

#[test]
fn a_sample_has_small_and_large_files_as_there_are_of_each() {
    let mut state = BallastState::new(ballast(AGE, SMALL));
    state.live.grow(3_000);
    state.live.remove(7);
    let bytes = |files: &LiveSet| -> f64 {
        let there = (0..files.length()).filter(|number| files.contains(*number));
        let sizes = there.map(|number| state.ballast.tree.size(number, 0) as f64);
        sizes.sum::<f64>() / files.count() as f64
    };
    for salt in 0..20 {
        let sample = state.sample(200, salt);
        assert_eq!((sample.count(), sample.contains(7)), (200, false));
        let off = bytes(&sample) / bytes(&state.live) - 1.0;
        assert!(off.abs() < 0.03, "200 at random are off by 14% (one standard deviation): {off}");
    }
    assert_eq!(state.sample(200, 1).length().max(3_000), 3_000);
    assert_eq!(state.sample(5_000, 1), state.live, "of fewer files all");
}

#[test]
fn each_level_is_reached_to_within_one_percent_by_filling_and_by_ageing() {
    for way in [FillMethod::Fill, AGE] {
        for (sizes, all_bytes) in [
            (SMALL, 500 * MIB),
            (Sizes::Exponential { min: 4096, max: 16 * MIB, k: 10.0 }, 400 * MIB),
        ] {
            let (mut stock, mut place) =
                (BallastState::new(ballast(way, sizes)), Paper::new(all_bytes));
            for percent in [30.0, 50.0, 75.0, 94.0, 98.0] {
                reached(&mut stock, &mut place, percent);
            }
        }
    }
}

#[test]
fn ageing_deletes_one_random_file_after_every_ten() {
    let (mut stock, mut place) = (BallastState::new(ballast(AGE, SMALL)), Paper::new(500 * MIB));
    reached(&mut stock, &mut place, 60.0);
    let made = place.history.iter().filter(|step| step.starts_with("make")).count();
    let deleted: Vec<_> = place.history.iter().filter(|step| step.starts_with("delete")).collect();
    assert_eq!(deleted.len(), made / 10);
    assert!(deleted.windows(2).any(|pair| pair[0] > pair[1]), "victims come in no order");
}

#[test]
fn the_same_seed_has_the_same_history_as_far_as_it_goes_and_another_has_another() {
    let history = |seed, percent| {
        let mut ballast = ballast(AGE, SMALL);
        ballast.tree.seed = seed;
        let (mut stock, mut place) = (BallastState::new(ballast), Paper::new(500 * MIB));
        reached(&mut stock, &mut place, percent);
        place.history
    };
    let (short, long) = (history(1, 30.0), history(1, 60.0));
    assert_eq!(history(1, 30.0), short);
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    assert!(short.len() - same < 20, "only the last step of the way may differ: {same}");
    assert_ne!(history(2, 30.0), short);
}

#[test]
fn of_a_step_that_was_cut_short_nothing_is_deleted() {
    for steps in 1..50 {
        let (mut stock, mut place) =
            (BallastState::new(ballast(AGE, SMALL)), Paper::new(500 * MIB));
        let stop = Arc::new(AtomicBool::new(false));
        place.stops_in = Some((steps, Arc::clone(&stop)));
        stock.reach(BallastGoal::Used(60.0), &mut place, &stop).unwrap();
        assert!(place.history.last().is_none_or(|last| last.starts_with("make")), "{steps}");
    }
}

#[test]
fn an_aged_place_is_emptied_from_its_highest_level_down() {
    let way = FillMethod::Age { delete_every: 10, empty_from: Some(95.0), churn: WHOLE };
    let large = Sizes::Exponential { min: 4096, max: 16 * MIB, k: 10.0 };
    let (mut stock, mut place) = (BallastState::new(ballast(way, large)), Paper::new(400 * MIB));
    for percent in [80.0, 50.0, 30.0, 1.0] {
        reached(&mut stock, &mut place, percent);
    }
}

#[test]
fn a_place_where_no_file_fits_says_so_and_one_without_change_ends() {
    let huge = ballast(FillMethod::Fill, Sizes::Fixed(100 * MIB));
    let mut place = Paper::new(400 * MIB);
    let stop = AtomicBool::new(false);
    let failure =
        BallastState::new(huge).reach(BallastGoal::Used(90.0), &mut place, &stop).unwrap_err();
    assert!(failure.sentence.contains("no file is small enough"), "{failure}");
    let empty = ballast(FillMethod::Fill, Sizes::Fixed(0));
    let mut place = Paper::new(400 * MIB);
    let failure =
        BallastState::new(empty).reach(BallastGoal::Used(0.5), &mut place, &stop).unwrap_err();
    assert!(failure.sentence.contains("takes no space"), "{failure}");
}

#[test]
fn files_are_added_up_to_a_count_and_never_taken_back() {
    let mut law = ballast(FillMethod::Fill, Sizes::Fixed(4096));
    law.tree.files = 3_000;
    let (mut stock, mut place) = (BallastState::new(law), Paper::new(400 * MIB));
    let stop = AtomicBool::new(false);
    for files in [0, 1_000, 3_000] {
        stock.reach(BallastGoal::Files(files), &mut place, &stop).unwrap();
        assert_eq!(place.files.len() as u64, files);
    }
    let failure = stock.reach(BallastGoal::Files(10), &mut place, &stop).unwrap_err();
    assert!(failure.sentence.contains("3,000 files lie there already"), "{failure}");
}

#[test]
fn files_that_grow_by_pieces_lose_as_many_as_those_written_whole() {
    let churn = Churn { piece_bytes: Some(16 << 10), ..WHOLE };
    let way = FillMethod::Age { delete_every: 10, empty_from: None, churn };
    let (mut stock, mut place) = (BallastState::new(ballast(way, SMALL)), Paper::new(400 * MIB));
    reached(&mut stock, &mut place, 80.0);
    let steps = |kind: &str| place.history.iter().filter(|step| step.starts_with(kind)).count();
    assert_eq!(steps("delete"), steps("make") / 10);
    assert!(place.history.iter().any(|step| step == "grow 256 by 16384"), "many at a time");
}

#[test]
fn rounds_replace_a_tenth_of_the_space_until_the_layout_is_as_broken_up_as_wanted() {
    let deleted = |churn| {
        let way = FillMethod::Age { delete_every: 1 << 30, empty_from: None, churn };
        let (mut stock, mut place) =
            (BallastState::new(ballast(way, SMALL)), Paper::new(400 * MIB));
        reached(&mut stock, &mut place, 80.0);
        let deleted = place.history.iter().filter(|step| step.starts_with("delete")).count();
        (deleted as f64 / place.files.len() as f64, stock.rounds())
    };
    let none = Churn { piece_bytes: Some(4096), ..WHOLE };
    assert_eq!(deleted(none), (0.0, 0));
    let rounds = Churn { rounds: 5, ..none };
    let (all, done) = deleted(rounds);
    assert!((0.4..0.7).contains(&all) && done == 5, "{done} rounds of a tenth: {all}");
    let (until, done) = deleted(Churn { layout_score: Some(0.75), ..rounds });
    assert!(
        done < 5 && (0.25..0.4).contains(&until),
        "it ends with the round that reaches it: {until}"
    );
}
