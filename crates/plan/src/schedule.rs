//! Determines the repeats and the order of a run: which cell is measured when, and on which history of its place.

use super::phase::OnBallast;
use super::prepare::{FillMethod, HISTORIES_MAX};
use super::repetition::{REPEATS_MAX, REPEATS_MIN, REPEATS_WITHOUT_TURNS, Repetition, TimeLimit};
use super::{CellPlan, Plan, Prepare};
use boatload_base::random::{Stream, draw, shuffle};

/// Cells that keep together in the random order of a repeat.
struct ScheduleBlock {
    cells: Vec<usize>,
    /// Whether its place is brought from level to level and cannot be restored.
    is_one_way: bool,
}

impl CellPlan {
    /// Whether its prepared place can be kept and restored: a file system that boatload makes on an
    /// image, or a simulated one.
    pub fn can_be_restored(&self) -> bool {
        let has_image = self.filesystem.as_ref().is_some_and(|made| made.kind.maker.is_some());
        self.prepare.is_some() && (self.engine.is_simulated() || has_image)
    }

    /// Histories of its place, at least one.
    fn histories(&self) -> u32 {
        self.prepare.as_ref().map_or(1, |prepare| prepare.histories.max(1))
    }
}

impl Plan {
    /// What ends its repeats: what was asked for; a fixed number where that is nothing and cells cannot come in turns.
    pub fn repetition(&self) -> Repetition {
        let has_turns = !self.has_one_way_places() && !self.reads_device();
        match self.repeats {
            Repetition::UntilDecided(limit) if !limit.is_named && !has_turns => {
                Repetition::Fixed(REPEATS_WITHOUT_TURNS)
            }
            asked => asked,
        }
    }

    /// The same where several processes run it, which cannot look at its answer together.
    #[must_use]
    pub fn for_ranks(mut self) -> Self {
        if let Repetition::UntilDecided(TimeLimit { is_named: false, .. }) = self.repeats {
            self.repeats = Repetition::Fixed(REPEATS_WITHOUT_TURNS);
        }
        self
    }

    /// The time limit that somebody named, in seconds.
    pub fn named_limit_seconds(&self) -> Option<f64> {
        match self.repeats {
            Repetition::UntilDecided(limit) => limit.is_named.then_some(limit.seconds),
            Repetition::Fixed(_) => None,
        }
    }

    /// Fewest repeats that the run makes.
    pub fn repeats_min(&self) -> u32 {
        self.repetition().number_or(REPEATS_MIN)
    }

    /// Most repeats that the run makes.
    pub fn repeats_max(&self) -> u32 {
        self.repetition().number_or(REPEATS_MAX)
    }

    /// Repeats that a place bears which is not restored between them.
    pub fn repeats_on_one_place(&self) -> u32 {
        self.repeats.number_or(REPEATS_WITHOUT_TURNS)
    }
}

impl Plan {
    /// The plan for a place where there is room for the images of prepared file systems, or not.
    #[must_use]
    pub fn keeping_images(self, keeps_images: bool) -> Self {
        Self { keeps_images, ..self }
    }

    /// Whether the place of a cell is restored before each of its measurements.
    pub fn restores(&self, cell: &CellPlan) -> bool {
        cell.can_be_restored() && (cell.engine.is_simulated() || self.keeps_images)
    }

    /// Whether the place of a cell is brought from level to level and cannot be restored.
    fn is_one_way(&self, cell: &CellPlan) -> bool {
        cell.prepare.is_some() && !self.restores(cell)
    }

    /// Whether some place is prepared and cannot be restored.
    pub fn has_one_way_places(&self) -> bool {
        self.cells.iter().any(|cell| self.is_one_way(cell))
    }

    /// Whether the levels of some place come in the order in which it is prepared, not at random.
    pub fn has_levels_in_order(&self) -> bool {
        let levels = self.axis.as_ref().map_or(0, |axis| axis.levels.len());
        levels > 1 && self.has_one_way_places()
    }

    /// The histories of its place that repeats take in turn. Where it cannot be restored, and each repeat is to have one of
    /// its own, there is one: with another the lowest level would follow the deletion of the highest.
    fn histories(&self, cell: &CellPlan) -> u32 {
        let is_one = cell.histories() == HISTORIES_MAX && self.is_one_way(cell);
        if is_one { 1 } else { cell.histories() }
    }

    /// The history of its place that a cell is measured on in a repeat, from 0.
    pub fn history(&self, cell: &CellPlan, repeat: u32) -> u32 {
        (repeat - 1) % self.histories(cell)
    }

    /// Which files of its ballast the phases of a cell read; `None` if they cannot be told from the rest on some file system of
    /// the run: what is left out of one is left out of all, so that each begins after as much was written.
    pub fn ballast_reads(&self, cell: &CellPlan) -> Option<Vec<OnBallast>> {
        let made = self.cells.iter().filter_map(|cell| cell.filesystem.as_ref());
        let mut kinds = made.map(|made| made.kind).filter(|kind| kind.maker.is_some());
        let reads = || cell.phases.iter().filter_map(|phase| phase.on_ballast).collect();
        kinds.all(|kind| kind.fiemap_is_device_offset).then(reads)
    }

    /// Whether each repeat has a history of its own.
    pub fn has_history_for_each_repeat(&self, cell: &CellPlan) -> bool {
        self.histories(cell) >= self.repeats_max()
    }

    /// The last repeat that a history is needed in.
    pub fn last_repeat(&self, cell: &CellPlan, history: u32) -> u32 {
        let needs = |repeat: &u32| self.history(cell, *repeat) == history;
        (1..=self.repeats_max()).rev().find(needs).unwrap_or(0)
    }

    /// How many histories of a cell's place are made in all repeats.
    pub fn histories_made(&self, cell: &CellPlan) -> u32 {
        self.histories(cell).min(self.repeats_max())
    }

    /// Histories of a cell's place that are kept at one time if it can be restored.
    pub fn histories_kept(&self, cell: &CellPlan) -> u32 {
        let repeats = self.repeats.number_or(REPEATS_MAX);
        if cell.histories() >= repeats { 1 } else { cell.histories() }
    }

    /// A variant's cells in the order in which its place is brought from level to level: those that
    /// are reached by emptying begin with the highest.
    pub fn levels_of(&self, variant: &str) -> Vec<usize> {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| cell.variant == variant);
        let mut levels: Vec<usize> = cells.map(|(at, _)| at).collect();
        let prepare = levels.first().and_then(|at| self.cells[*at].prepare.as_ref());
        let method = prepare.map(|prepare| prepare.ballast.method);
        if matches!(method, Some(FillMethod::Age { empty_from: Some(_), .. })) {
            levels.reverse();
        }
        levels
    }

    /// The cells of one repeat in a seeded random order, which follows from the repeat's number.
    fn blocks(&self, repeat: u32) -> Vec<ScheduleBlock> {
        let mut blocks = Vec::with_capacity(self.cells.len());
        for variant in self.variants() {
            let levels = self.levels_of(variant);
            if levels.iter().any(|at| self.is_one_way(&self.cells[*at])) {
                blocks.push(ScheduleBlock { cells: levels, is_one_way: true });
            } else {
                let alone = |at| ScheduleBlock { cells: vec![at], is_one_way: false };
                blocks.extend(levels.into_iter().map(alone));
            }
        }
        shuffle(&mut blocks, self.seed, Stream::Schedule, u64::from(repeat));
        blocks
    }

    /// The order of the run, as (repeat from 1, index into `cells`): in every repeat variants and
    /// levels come in another seeded random order, so that drift hits all alike. Where the place is
    /// brought from level to level and cannot be restored, the repeats of a level follow each
    /// other, once for each history.
    pub fn schedule(&self) -> Vec<(u32, usize)> {
        let mut order = Vec::new();
        for repeat in 1..=self.repeats_max() {
            for ScheduleBlock { cells, is_one_way } in self.blocks(repeat) {
                match (is_one_way, repeat) {
                    (false, _) => order.extend(cells.iter().map(|at| (repeat, *at))),
                    (true, 1) => order.extend(self.one_way(&cells)),
                    (true, _) => {}
                }
            }
        }
        order
    }

    /// All repeats of the levels of a variant whose place cannot be restored.
    fn one_way(&self, levels: &[usize]) -> Vec<(u32, usize)> {
        let histories = levels.first().map_or(1, |at| self.histories_made(&self.cells[*at]));
        let mut order = Vec::new();
        for history in 0..histories {
            for at in levels {
                let on_it = |repeat: &u32| self.history(&self.cells[*at], *repeat) == history;
                order.extend((1..=self.repeats_max()).filter(on_it).map(|repeat| (repeat, *at)));
            }
        }
        order
    }

    /// The cells of one repeat, as indices into `cells`, in its seeded random order.
    pub fn order_of(&self, repeat: u32) -> Vec<usize> {
        self.blocks(repeat).into_iter().flat_map(|block| block.cells).collect()
    }
}

impl Prepare {
    /// The same with another history: other files, made and deleted in another order. The first, 0,
    /// follows from the job's seed.
    #[must_use]
    pub fn of_history(&self, history: u32) -> Self {
        let mut other = self.clone();
        if history > 0 {
            let seed = &mut other.ballast.tree.seed;
            *seed = draw(*seed, Stream::History, u64::from(history));
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::read_list;
    use crate::{Settings, read_job};

    /// Two variants that are prepared for five levels, on file systems that boatload makes.
    fn plan(histories: u32, repeats: u32) -> Plan {
        let age = |more: &str| {
            format!("prepare = {{ age = {{ sizes = 4096, histories = {histories}{more} }} }}")
        };
        let text = format!(
            "name = 'x'\n[tree]\nfiles = 9\n[axis]\nname = 'used'\nvalues = [10, 20, 30, 40, 50]\n\
             [[variant]]\nname = 'aged'\n{}\n[[variant]]\nname = 'emptied'\n{}\n\
             [[phase]]\noperation = 'create'\n",
            age(""),
            age(", emptied = true")
        );
        let (filesystems, repeats) = (read_list("ext4").unwrap(), Some(repeats));
        let settings = Settings { filesystems, repeats, ..Settings::default() };
        read_job(&text, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    fn levels(plan: &Plan, order: &[(u32, usize)], repeat: u32) -> Vec<f64> {
        let of_repeat = order.iter().filter(|(other, _)| *other == repeat);
        of_repeat.map(|(_, at)| plan.cells[*at].level.unwrap().value).collect()
    }

    #[test]
    fn levels_of_places_that_are_kept_come_in_a_random_order_that_follows_from_the_seed() {
        let kept = plan(1, 4).keeping_images(true);
        let order = kept.schedule();
        assert!(!kept.has_levels_in_order());
        assert!(order.is_sorted_by_key(|(repeat, _)| *repeat), "{order:?}");
        for repeat in 1..=4 {
            let levels = levels(&kept, &order, repeat);
            assert!(levels.len() == 10 && !levels[..5].is_sorted(), "{levels:?}");
            let variants = order.iter().filter(|(other, _)| *other == repeat);
            let variants: Vec<bool> =
                variants.map(|(_, at)| kept.cells[*at].job_variant == "aged").collect();
            assert!(variants[..5].contains(&true) && variants[..5].contains(&false));
        }
        assert_ne!(levels(&kept, &order, 1), levels(&kept, &order, 2));
        assert_eq!(order, kept.schedule());
        assert_ne!(order, Plan { seed: 2, ..kept.clone() }.schedule());
        let third = order.iter().filter(|(repeat, _)| *repeat == 3).map(|(_, at)| *at);
        assert_eq!(kept.order_of(3), third.collect::<Vec<_>>());
    }

    #[test]
    fn without_room_for_images_levels_come_as_the_place_is_prepared_for_them() {
        let plan = plan(2, 3);
        let order = plan.schedule();
        assert!(plan.has_levels_in_order());
        let of = |name: &str| -> Vec<(u32, f64)> {
            let own = order.iter().filter(|(_, at)| plan.cells[*at].job_variant == name);
            own.map(|(repeat, at)| (*repeat, plan.cells[*at].level.unwrap().value)).collect()
        };
        let up = [10.0, 20.0, 30.0, 40.0, 50.0];
        let first = up.iter().flat_map(|level| [(1, *level), (3, *level)]);
        let expected: Vec<_> = first.chain(up.iter().map(|level| (2, *level))).collect();
        assert_eq!(of("aged"), expected, "one history after the other");
        assert_eq!(of("emptied")[..2], [(1, 50.0), (3, 50.0)]);
    }

    #[test]
    fn repeats_take_the_histories_in_turn_and_no_more_are_kept_than_are_needed() {
        let plan = plan(2, 5).keeping_images(true);
        let cell = &plan.cells[0];
        let histories: Vec<u32> = (1..=5).map(|repeat| plan.history(cell, repeat)).collect();
        assert_eq!(histories, [0, 1, 0, 1, 0]);
        assert_eq!((plan.last_repeat(cell, 0), plan.last_repeat(cell, 1)), (5, 4));
        assert_eq!((plan.histories_kept(cell), plan.histories_made(cell)), (2, 2));
        let each_once = self::plan(7, 5).keeping_images(true);
        let cell = &each_once.cells[0];
        assert_eq!((each_once.histories_kept(cell), each_once.histories_made(cell)), (1, 5));
        let own = self::plan(HISTORIES_MAX, 3).keeping_images(true);
        let cell = &own.cells[0];
        assert_eq!((own.histories_kept(cell), own.last_repeat(cell, 1)), (1, 2));
        let one_way = Plan { keeps_images: false, ..own };
        let cell = &one_way.cells[0];
        assert_eq!((one_way.history(cell, 3), one_way.histories_made(cell)), (0, 1));
    }

    #[test]
    fn histories_are_kept_for_as_many_repeats_as_a_run_with_a_time_limit_may_make() {
        let limited = |histories| {
            let repeats = Repetition::UntilDecided(TimeLimit { seconds: 60.0, is_named: true });
            Plan { repeats, ..plan(histories, 3) }.keeping_images(true)
        };
        let (few, own) = (limited(7), limited(REPEATS_MAX));
        let cell = &few.cells[0];
        assert_eq!((few.histories_kept(cell), few.last_repeat(cell, 0)), (7, 8));
        let cell = &own.cells[0];
        assert_eq!((own.histories_kept(cell), own.last_repeat(cell, 6)), (1, 7));
    }

    #[test]
    fn what_is_read_of_a_ballast_is_known_unless_a_file_system_does_not_report_where_it_lies() {
        let text = "name = 'x'\n[tree]\nfiles = 9\n[axis]\nname = 'used'\nvalues = [10, 20]\n\
                    prepare = { fill = { sizes = 4096 } }\n[[phase]]\noperation = 'create'\n\
                    [[phase]]\noperation = 'read'\non = 'ballast'\ncount = 5\npasses = 2\n";
        let reads = |list: &str| {
            let filesystems = read_list(list).unwrap();
            let settings = Settings { filesystems, ..Settings::default() };
            let plan = read_job(text, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")));
            plan.ballast_reads(&plan.cells[0]).map(|reads| reads.iter().map(|on| on.most).collect())
        };
        assert_eq!(reads("ext4,xfs"), Some(vec![5, 5]));
        assert_eq!(reads("ext4,btrfs"), None);
    }

    #[test]
    fn the_first_history_is_that_of_the_seed_and_others_differ() {
        let plan = plan(3, 1);
        let prepare = plan.cells[0].prepare.as_ref().unwrap();
        let seed = |history| prepare.of_history(history).ballast.tree.seed;
        assert_eq!(seed(0), plan.seed);
        assert!(seed(1) != seed(0) && seed(1) != seed(2));
    }
}
