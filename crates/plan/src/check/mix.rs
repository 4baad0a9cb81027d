//! Checks a mix: its works, how they share its turns, and the tree that they work on.

use std::ops::RangeInclusive;

use super::cell::{CellCheck, PhaseOutline};
use super::chain::Chain;
use super::keys::{KeyReader, check_part_title};
use super::limits::{BLOCK, BYTES_MAX, COUNT, RATE, THREADS, THREADS_MAX, WEIGHT};
use super::phases::phase_name;
use super::tree::sizes;
use crate::mix::{CHAIN, MIX, Mix, Pace, Step, Work, WorkOrder, WorkShare};
use crate::phase::{BLOCK_DEFAULT, PhaseEnd};
use crate::report::{below, element};
use crate::tree::{Sizes, Tree};
use crate::wire::{Directories, Trees, WirePhase, WireQuantity, WireStep, WireWork};
use boatload_base::units::{Unit, bytes, counted, grouped};
use boatload_op::Change;

/// How the works of a mix share its turns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    ByWeight,
    ByThreads,
}

impl<'a> CellCheck<'a> {
    /// What a mix says of itself, as [`CellCheck::outline`] does of other phases.
    pub(super) fn mix_outline(
        &mut self,
        wire: &'a WirePhase,
        place: String,
    ) -> Option<PhaseOutline<'a>> {
        let before = self.report.count();
        self.check_mix_keys(wire, &place);
        let sharing = self.sharing(wire, &place);
        let works = self.works(wire, &place, sharing?);
        self.check_work_names(wire, &place);
        let pace = self.pace(wire, &place);
        let end = self.mix_end(wire, &place);
        let threads = match sharing? {
            Sharing::ByWeight => self.threads(wire, &place),
            Sharing::ByThreads => self.threads_of(works.as_ref()?, wire, &place),
        };
        let cache = self.cache_of(wire);
        let block =
            self.keys(&place).whole_or(BLOCK_DEFAULT, "block", &wire.block, Unit::Bytes, BLOCK);
        let mix = Mix { works: works?, pace, salt: 0 };
        if sharing == Some(Sharing::ByWeight) && mix.weights() == 0 {
            let expected = "a work with a `weight` of 1 or more";
            self.keys(&place).problem("work", "no weight but 0", expected);
        }
        let (threads, block, end) = (threads?, block?, end?);
        (self.report.count() == before).then_some(PhaseOutline {
            wire,
            place,
            operation: &MIX,
            mix: Some(mix),
            threads,
            passes: 1,
            windows: 0,
            block,
            cache,
            rank_offset: 0,
            end,
            sizes: None,
        })
    }

    /// Keys of a phase with one operation, or with a list of files.
    fn check_mix_keys(&mut self, wire: &WirePhase, place: &str) {
        let in_work = "it in a `[[phase.work]]`";
        let keys = [
            ("operation", wire.operation.is_some(), "`operation` or `work`, not both"),
            ("order", wire.order.is_some(), in_work),
            ("size", wire.size.is_some(), in_work),
            ("on", wire.on.is_some(), "none: a mix works on the files of the tree"),
            ("windows", wire.windows.is_some(), "none: they divide a list of operations"),
            ("passes", wire.passes.is_some(), "none: `repeats` do the whole cell again"),
            ("rank_offset", wire.rank_offset.is_some(), "none: a mix works on its own files"),
        ];
        for (key, _, expected) in keys.into_iter().filter(|(_, is_there, _)| *is_there) {
            self.keys(place).problem(key, format!("`{key}` of a mix"), expected);
        }
    }

    fn sharing(&mut self, wire: &WirePhase, place: &str) -> Option<Sharing> {
        let has = |is: fn(&WireWork) -> bool| wire.work.iter().filter(|work| is(work)).count();
        let (weights, threads) = (has(|w| w.weight.is_some()), has(|w| w.threads.is_some()));
        let all = wire.work.len();
        match (weights, threads) {
            (some, 0) if some == all => return Some(Sharing::ByWeight),
            (0, some) if some == all => return Some(Sharing::ByThreads),
            _ => {}
        }
        let works = below(place, "work");
        if self.report.is_broken_inside(&works) {
            return None;
        }
        let expected = "a `weight` in all of them, or `threads` in all of them";
        let found = match (weights, threads) {
            (0, _) | (_, 0) => {
                let has_none = |w: &WireWork| w.weight.is_none() && w.threads.is_none();
                let at = wire.work.iter().position(has_none).unwrap_or(0);
                let hint = "add `weight = 1`";
                let (found, place) = ("a work without a `weight`", element(&works, at));
                self.report.add_with_hint(&place, found, expected, hint);
                return None;
            }
            _ => "works with a `weight` and works with `threads`",
        };
        self.report.add(&works, found, expected);
        None
    }

    fn works(&mut self, wire: &WirePhase, place: &str, sharing: Sharing) -> Option<Vec<Work>> {
        let places = (0..).map(|at| element(&below(place, "work"), at));
        // Each is read, so that every problem is reported.
        let works: Vec<_> =
            wire.work.iter().zip(places).map(|(work, at)| self.work(work, &at, sharing)).collect();
        works.into_iter().collect()
    }

    fn work(&mut self, wire: &WireWork, place: &str, sharing: Sharing) -> Option<Work> {
        let mut keys = self.keys(place);
        let share = match sharing {
            Sharing::ByWeight => keys.small("weight", &wire.weight, WEIGHT).map(WorkShare::Weight),
            Sharing::ByThreads => {
                keys.small("threads", &wire.threads, THREADS).map(WorkShare::Threads)
            }
        };
        let law = wire.size.as_ref().map(|size| sizes(Some(size), keys.table("size")));
        let names = self.directory_names();
        let mut keys = self.keys(place);
        let directory = match &wire.directory {
            Some(name) => Some(keys.directory("directory", name, names)?),
            None => None,
        };
        let Chain { steps, leaves } = match (&wire.operation, &wire.chain) {
            (Some(name), None) => {
                let only = [WireStep::Here(name.clone())];
                Chain::read(&only, directory, names, keys.table("operation"))?
            }
            (None, Some(chain)) => Chain::read(chain, directory, names, keys.table("chain"))?,
            (Some(_), Some(_)) => {
                keys.problem("chain", "`chain` beside `operation`", "one of them");
                return None;
            }
            (None, None) => {
                let chain = below(place, "chain");
                let is_broken = keys.is_broken("operation") || keys.report.is_broken_inside(&chain);
                if !is_broken {
                    keys.problem("", "a work without an `operation`", "it, or a `chain` of some");
                }
                return None;
            }
        };
        let sizes = match law {
            Some(law) => Some(law?),
            None => None,
        };
        let work = Work {
            name: work_title(wire)?.to_string(),
            steps,
            leaves,
            share: share?,
            order: wire.order.unwrap_or_default(),
            of: wire.of.unwrap_or_default(),
            directory,
            sizes,
        };
        check_fit(wire, &work, keys);
        Some(work)
    }

    /// The names of the tree's directories.
    fn directory_names(&self) -> &'a [String] {
        let tree = self.variant.wire.tree.as_ref().or(self.job.tree.as_ref());
        match tree.and_then(|tree| tree.directories.as_ref()) {
            Some(Directories::Named(names)) => names,
            _ => &[],
        }
    }

    fn check_work_names(&mut self, wire: &WirePhase, place: &str) {
        let works = below(place, "work");
        for (at, work) in wire.work.iter().enumerate() {
            let Some(name) = work_title(work) else { continue };
            let key = match (&work.name, &work.chain) {
                (Some(_), _) => "name",
                (None, Some(_)) => "chain",
                (None, None) => "operation",
            };
            let place = below(&element(&works, at), key);
            check_part_title(name, &place, self.report);
            if wire.work[..at].iter().any(|other| work_title(other) == Some(name)) {
                let hint = format!("add `name = \"{name}-{}\"`", at + 1);
                let found = format!("a second work called `{name}`");
                self.report.add_with_hint(&place, found, "a name that no other work has", hint);
            }
        }
    }

    /// The workers of all works together. Nothing else can say how many there are.
    fn threads_of(&mut self, works: &[Work], wire: &WirePhase, place: &str) -> Option<u32> {
        let threads = |work: &Work| match work.share {
            WorkShare::Threads(threads) => threads,
            WorkShare::Weight(_) => 0,
        };
        let all: u32 = works.iter().map(threads).sum();
        let expected = "none: each work has threads of its own";
        if wire.threads.is_some() {
            self.keys(place).problem("threads", "threads of the whole mix", expected);
        }
        if self.settings.threads.is_some() {
            self.report.add("--threads", "threads of the whole mix", expected);
        }
        if all > THREADS_MAX {
            let found = counted(u64::from(all), "thread");
            let most = format!("at most {} in all", grouped(u64::from(THREADS_MAX)));
            self.keys(place).problem("work", found, most);
            return None;
        }
        Some(all)
    }

    fn pace(&mut self, wire: &WirePhase, place: &str) -> Option<Pace> {
        let mut keys = self.keys(place);
        if wire.pace.is_some() && wire.rate.is_none() && !keys.is_broken("rate") {
            let hint = "add `rate = 1_000`";
            keys.problem_with_hint("pace", "a pace without a rate", "a `rate` too", hint);
        }
        let turns_per_second = keys.number("rate", &wire.rate, Unit::Count, RATE)?;
        // A parameter of a scenario that is not set.
        if turns_per_second == 0.0 {
            return None;
        }
        Some(Pace { turns_per_second, spacing: wire.pace.unwrap_or_default() })
    }

    /// A mix has no list of files that could end it.
    fn mix_end(&mut self, wire: &WirePhase, place: &str) -> Option<PhaseEnd> {
        const SOME: RangeInclusive<u64> = 1..=*COUNT.end();
        let mut keys = self.keys(place);
        match (&wire.duration, &wire.count) {
            (Some(_), Some(_)) => {
                keys.problem("count", "`count` beside `duration`", "one of them");
                None
            }
            (None, Some(count)) => {
                keys.whole("count", count, Unit::Count, SOME).map(PhaseEnd::Operations)
            }
            (Some(_), None) => keys.phase_end(wire.duration.as_ref()),
            (None, None) if keys.is_broken("count") || keys.is_broken("duration") => None,
            (None, None) => {
                let hint = "add `duration = \"30s\"`";
                let expected = "`duration`, or `count` for its turns";
                keys.problem_with_hint("", "a mix without an end", expected, hint);
                None
            }
        }
    }

    /// What a mix needs of the tree, and of the phases around it.
    pub(super) fn check_mix(&mut self, outlines: &[PhaseOutline<'_>], at: usize, tree: &Tree) {
        let outline = &outlines[at];
        let Some(mix) = &outline.mix else { return };
        let own_trees = self.variant.wire.tree.as_ref().or(self.job.tree.as_ref());
        let own_trees = own_trees.and_then(|tree| tree.trees);
        let mut keys = self.keys(&outline.place);
        if tree.chunks.is_some() {
            let hint = "give the tree `files` instead of `chunks`";
            keys.problem_with_hint("", "a mix in a tree of chunks", "a tree of files", hint);
        }
        if let Some(Trees::Own | Trees::SharedByRanks) = own_trees {
            let expected = "`trees = \"shared\"`: each worker has files of its own anyway";
            keys.problem("", "a mix in a tree that is not shared by workers alone", expected);
        }
        let workers = u64::from(outline.threads);
        if tree.files < workers {
            let expected = format!("at least {}, one for each worker", grouped(workers));
            keys.problem("", format!("a mix on {}", counted(tree.files, "file")), expected);
        }
        let fewest = workers * (workers + 1);
        if mix.is_shared() && tree.capacity() < fewest {
            let found = format!("`files_max` of {} for files of all workers", tree.capacity());
            let expected =
                format!("at least {}: each worker may have one in hand", grouped(fewest));
            keys.problem("", found, expected);
        }
        let laws = mix.works.iter().filter_map(|work| work.sizes).chain([tree.sizes]);
        let largest = laws.clone().map(Sizes::max).max().unwrap_or(0);
        let capacity = tree.capacity();
        if capacity.checked_mul(largest).is_none_or(|all| all > BYTES_MAX) {
            let found = format!("{} of up to {}", counted(capacity, "file"), bytes(largest));
            keys.problem("", found, format!("at most {} in all", bytes(BYTES_MAX)));
        }
        let overwrites =
            |work: &Work| work.steps.iter().any(|step| step.operation.change == Change::SameSize);
        let is_one_size = laws.clone().all(|law| matches!(law, Sizes::Fixed(n) if n == largest));
        if let Some(at) = mix.works.iter().position(overwrites).filter(|_| !is_one_size) {
            let expected = "one `size` for all files, which then need not be remembered";
            let place = format!("work[{}]", at + 1);
            let hint = "take `rewrite` instead";
            keys.problem_with_hint(&place, "`overwrite` of unlike sizes", expected, hint);
        }
        self.check_around(outlines, at, mix);
    }

    /// After a mix nobody knows which files there are, and before it they must have their first names.
    fn check_around(&mut self, outlines: &[PhaseOutline<'_>], at: usize, mix: &Mix) {
        let outline = &outlines[at];
        let renames = |before: &&PhaseOutline<'_>| before.operation.change == Change::Renames;
        if let Some(before) = outlines[..at].iter().find(renames) {
            let found = format!("a mix after `{}`", before.operation.name);
            self.keys(&outline.place).problem("", found, "files that keep their names");
        }
        if let Some(after) = outlines.get(at + 1).filter(|_| !mix.only_looks()) {
            let name = phase_name(outline.wire).unwrap_or_default();
            let found = format!("a phase after the mix `{name}`, which changes files");
            let expected = "the mix as the last phase";
            let hint = "move it behind the mix into a job of its own, or in front of it";
            self.report.add_with_hint(&after.place, found, expected, hint);
        }
    }
}

impl KeyReader<'_> {
    fn small(
        &mut self,
        key: &str,
        wire: &Option<WireQuantity>,
        range: RangeInclusive<u64>,
    ) -> Option<u32> {
        u32::try_from(self.whole(key, wire, Unit::Count, range)?).ok()
    }
}

/// Keys of a work that its operations have no use for.
fn check_fit(wire: &WireWork, work: &Work, mut keys: KeyReader<'_>) {
    let name = format!("`{}`", work.operation().name);
    let mut problem = |key: &str, is_wrong: bool, expected| {
        if is_wrong {
            keys.problem(key, format!("`{key}` for {name}"), expected);
        }
    };
    let gives_size = |step: &Step| matches!(step.operation.change, Change::NewSize | Change::Grows);
    let removes = work.takes_file() && work.leaves.is_none();
    let is_oldest = wire.order == Some(WorkOrder::Oldest) && !removes;
    let makes = !work.takes_file();
    let in_turn = "none: it makes a file in turn";
    problem("order", makes && wire.order.is_some(), in_turn);
    problem("order", is_oldest && !makes, "`random`: oldest is for delete");
    problem("of", makes && wire.of.is_some(), "none: it makes files of its own");
    problem("directory", makes && wire.directory.is_some(), "`{ create = \"tmp\" }` in a chain");
    let expected = "it for an operation that gives files a size, such as `create`";
    problem("size", wire.size.is_some() && !work.steps.iter().any(gives_size), expected);
}

/// A work's name: its operation's if it has none of its own.
fn work_title(work: &WireWork) -> Option<&str> {
    let of_chain = work.chain.as_ref().map(|_| CHAIN.name);
    work.name.as_deref().or(work.operation.as_deref()).or(of_chain)
}

#[cfg(test)]
mod tests {
    use crate::mix::{Spacing, WorkOrder, WorkShare};
    use crate::phase::PhaseEnd;
    use crate::space::Need;
    use crate::{Plan, Settings, read_job};
    use boatload_base::problem::Problems;

    const READ: &str = "[[phase.work]]\noperation = 'read'\nweight = 70\n";
    const CREATE: &str = "[[phase.work]]\noperation = 'create'\nweight = 20\n";
    const DELETE: &str = "[[phase.work]]\noperation = 'delete'\nweight = 10\norder = 'oldest'\n";

    fn read(tree: &str, phases: &str) -> Result<Plan, Problems> {
        let job = format!(
            "name = 'x'\n[tree]\n{tree}\n[[phase]]\noperation = 'create'\n[[phase]]\n{phases}"
        );
        read_job(&job, &Settings::default())
    }

    fn mix(keys: &str, works: &[&str]) -> String {
        format!("name = 'serve'\n{keys}\n{}", works.concat())
    }

    fn plan(tree: &str, phases: &str) -> Plan {
        read(tree, phases).unwrap_or_else(|problems| panic!("{}", problems.report("x")))
    }

    #[test]
    fn a_mix_has_its_works_in_order_and_room_for_more_files_than_it_begins_with() {
        let keys = "duration = '30s'\nthreads = 8\nrate = 2_000\npace = 'poisson'";
        let plan = plan("files = 10_000\nsize = 4_096", &mix(keys, &[READ, CREATE, DELETE]));
        let cell = &plan.cells[0];
        let phase = &cell.phases[1];
        let works = &phase.mix.as_ref().unwrap().works;
        let seen: Vec<_> = works.iter().map(|w| (&*w.name, w.share, w.order)).collect();
        let expected = [
            ("read", WorkShare::Weight(70), WorkOrder::Random),
            ("create", WorkShare::Weight(20), WorkOrder::Random),
            ("delete", WorkShare::Weight(10), WorkOrder::Oldest),
        ];
        assert_eq!(seen, expected);
        let pace = phase.mix.as_ref().unwrap().pace.unwrap();
        assert_eq!((pace.turns_per_second, pace.spacing), (2_000.0, Spacing::Poisson));
        assert_eq!((phase.end, phase.threads), (PhaseEnd::After(30_000_000_000), 8));
        assert_eq!((phase.selection.count, phase.entries_after), (10_000, 10_000));
        assert_eq!((cell.tree.files, cell.tree.capacity()), (10_000, 12_500));
        let need = Need::of(cell, 4_096);
        assert!(need.inodes > 12_500 && need.bytes > 12_500 * 4_096, "{need:?}");
    }

    #[test]
    fn a_few_files_leave_room_for_each_thread() {
        let works = mix("count = 100\nthreads = 4", &[READ, CREATE]);
        assert_eq!(plan("files = 100", &works).cells[0].tree.capacity(), 100 + 4 * 64);
        let own = plan("files = 100\nfiles_max = 120", &works);
        assert_eq!(own.cells[0].tree.capacity(), 120);
        assert_eq!(own.cells[0].phases[1].turns(3), Some(25));
    }

    #[test]
    fn works_with_workers_of_their_own_make_the_threads_of_the_mix() {
        let works = ["read", "append"].map(|operation| {
            format!(
                "[[phase.work]]\noperation = '{operation}'\nthreads = 3\nname = 'a-{operation}'\n"
            )
        });
        let plan = plan("files = 100", &mix("count = 10", &[&works[0], &works[1]]));
        let phase = &plan.cells[0].phases[1];
        let mix = phase.mix.as_ref().unwrap();
        assert_eq!(phase.threads, 6);
        let of: Vec<_> = (0..7).map(|worker| mix.work_of(worker)).collect();
        assert_eq!(of, [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), None]);
    }

    #[test]
    fn what_cannot_be_mixed_is_a_problem_with_what_to_do() {
        let threads = "[[phase.work]]\noperation = 'stat'\nthreads = 2\n";
        let bare = "[[phase.work]]\noperation = 'stat'\n";
        let zero = "[[phase.work]]\noperation = 'stat'\nweight = 0\n";
        let oldest = "[[phase.work]]\noperation = 'read'\nweight = 1\norder = 'oldest'\n";
        let sized = "[[phase.work]]\noperation = 'stat'\nweight = 1\nsize = 5\n";
        let rename = "[[phase.work]]\noperation = 'rename'\nweight = 1\n";
        let count = "count = 100";
        for (tree, keys, works, place, words) in [
            ("", count, &[READ, threads][..], "phase[2].work", "a `weight` in all of them"),
            ("", count, &[READ, bare], "phase[2].work[2]", "add `weight = 1`"),
            ("", count, &[zero, zero], "phase[2].work[2].operation", "a second work called"),
            ("", count, &[zero], "phase[2].work", "a work with a `weight` of 1 or more"),
            ("", count, &[oldest], "phase[2].work[1].order", "oldest is for delete"),
            ("", count, &[sized], "phase[2].work[1].size", "gives files a size"),
            ("", count, &[rename], "phase[2].work[1].operation", "one of `append`, `chmod`"),
            ("", "", &[READ], "phase[2]", "add `duration = \"30s\"`"),
            ("", "count = 5\nduration = 3", &[READ], "phase[2].count", "one of them"),
            ("", "count = 5\npasses = 3", &[READ], "phase[2].passes", "`passes` of a mix"),
            ("", "count = 5\nwindows = 3", &[READ], "phase[2].windows", "`windows` of a mix"),
            ("", "count = 5\noperation = 'read'", &[READ], "phase[2].operation", "not both"),
            ("", "count = 5\npace = 'poisson'", &[READ], "phase[2].pace", "add `rate = 1_000`"),
            ("", "count = 5\nthreads = 200", &[READ], "phase[2]", "at least 200, one for each"),
            ("trees = 'own'", count, &[READ], "phase[2]", "`trees = \"shared\"`"),
            ("files_max = 50", count, &[READ], "tree.files_max", "from 100 to"),
        ] {
            let text = mix(keys, works);
            let problems = read(&format!("files = 100\n{tree}"), &text);
            let report = problems.map(|_| ()).unwrap_err().report("x");
            assert!(report.contains(&format!("{place}: ")), "{place} in {report}");
            assert!(report.contains(words), "{words} in {report}");
        }
    }

    #[test]
    fn keys_of_a_mix_need_one_and_a_phase_needs_something_to_do() {
        for (tree, phase, words) in [
            ("files_max = 200", "operation = 'read'", "`files_max` without a mix"),
            ("", "operation = 'read'\nrate = 5", "`rate` of one operation"),
            ("", "name = 'x'", "or `[[phase.work]]`"),
        ] {
            let problems = read(&format!("files = 100\n{tree}"), phase);
            let report = problems.map(|_| ()).unwrap_err().report("x");
            assert!(report.contains(words), "{words} in {report}");
        }
    }

    #[test]
    fn a_mix_that_changes_files_is_the_last_phase_and_one_that_looks_may_be_followed() {
        let after = "[[phase]]\noperation = 'stat'\n";
        let unnamed = plan("files = 100", &format!("count = 5\n{READ}"));
        assert_eq!(unnamed.cells[0].phases[1].measured_names(), ["mix", "mix/read"]);
        let changes = mix("count = 5", &[READ, CREATE, after]);
        let report = read("files = 100", &changes).map(|_| ()).unwrap_err().report("x");
        assert!(report.contains("phase[3]: found a phase after the mix `serve`"), "{report}");
        assert_eq!(plan("files = 100", &mix("count = 5", &[READ, after])).cells[0].phases.len(), 3);
    }

    #[test]
    fn files_of_unlike_sizes_are_not_overwritten_for_nobody_remembers_their_sizes() {
        let overwrite = "[[phase.work]]\noperation = 'overwrite'\nweight = 1\n";
        let works = mix("count = 5", &[READ, overwrite]);
        let drawn = "files = 100\nsize = { uniform = { min = 1, max = 5 } }";
        let report = read(drawn, &works).map(|_| ()).unwrap_err().report("x");
        assert!(report.contains("take `rewrite` instead"), "{report}");
        plan("files = 100\nsize = 5", &works);
    }

    #[test]
    fn links_are_refused_outside_of_chains() {
        let problems = read("files = 100", "operation = 'link'");
        let report = problems.map(|_| ()).unwrap_err().report("x");
        assert!(report.contains("it as a step of a chain in a mix"), "{report}");
    }

    #[test]
    fn a_slash_in_the_name_of_a_phase_is_refused() {
        let problems = read("files = 100", "name = 'a/b'\noperation = 'read'");
        let report = problems.map(|_| ()).unwrap_err().report("x");
        assert!(report.contains("a name without `/`"), "{report}");
    }
}
