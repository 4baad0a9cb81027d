//! Checks a chain: follows its file from step to step, so that each step knows where the file is and whether it is open.

use super::keys::KeyReader;
use crate::mix::{Spot, Step};
use crate::report::element;
use crate::wire::WireStep;
use boatload_op::{Change, Effect, Operation, Subject, find_operation};

/// The steps of a work, and where its file is at the end; `None` if there is none.
pub(super) struct Chain {
    pub(super) steps: Vec<Step>,
    pub(super) leaves: Option<Spot>,
}

/// What is known of the file between two steps.
struct Follower<'a> {
    /// The names of the tree's directories.
    directories: &'a [String],
    /// Where the file is, under each of its names; the last one is meant where a step says nothing.
    names: Vec<Spot>,
    /// Where listings look when there is no file, and new files are made.
    home: Spot,
    was_there: bool,
    steps: Vec<Step>,
}

/// Operations that end by closing the file they work on, and can leave it open for the next step.
const STAY_OPEN: [&str; 5] = ["append", "create", "fsync", "overwrite", "rewrite"];

impl Chain {
    /// The chain that a job file writes, or its only operation, on files that lie in `directory`, or in any; `None` if
    /// anything is wrong with it.
    pub(super) fn read(
        wire: &[WireStep],
        directory: Option<u8>,
        directories: &[String],
        mut keys: KeyReader<'_>,
    ) -> Option<Self> {
        let (names, steps) = (Vec::new(), Vec::new());
        let home = Spot::default();
        let mut follower = Follower { directories, names, home, was_there: false, steps };
        if wire.is_empty() {
            keys.problem("", "no steps", "one operation at least");
            return None;
        }
        let operations = wire.iter().filter_map(|step| find_operation(step.parts()?.0));
        let first = operations.into_iter().find(|operation| operation.subject == Subject::File);
        if first.is_none_or(|first| first.name != "create") {
            follower.names.push(Spot { directory, renames: 0 });
        }
        for (at, step) in wire.iter().enumerate() {
            let mut keys = keys.table(&element("", at));
            let Some((name, directory)) = step.parts() else {
                keys.problem("", "a table without one key", "one operation and its directory");
                return None;
            };
            let operation = find_operation(name)?;
            let directory = match directory {
                Some(name) => Some(keys.directory("", name, directories)?),
                None => None,
            };
            if let Err((found, expected)) = follower.follow(operation, directory) {
                keys.problem("", found, expected);
                return None;
            }
        }
        follower.leave_open();
        match &*follower.names {
            [] => Some(Self { steps: follower.steps, leaves: None }),
            [only] if only.renames == 0 => {
                Some(Self { steps: follower.steps, leaves: Some(*only) })
            }
            [_] => {
                let expected = "a `rename` to another directory, or a `delete` at the end";
                keys.problem("", "a chain after which a file has another name", expected);
                None
            }
            _ => {
                let expected = "a `delete` of one of them: nobody remembers second names";
                keys.problem("", "a chain after which a file has two names", expected);
                None
            }
        }
    }
}

impl WireStep {
    /// The operation and its directory; `None` of a table that has not just these.
    fn parts(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::Here(name) => Some((name, None)),
            Self::In(table) => {
                let (name, at) = table.iter().next().filter(|_| table.len() == 1)?;
                Some((name, Some(at)))
            }
        }
    }
}

/// What was found, and what was expected instead.
type StepProblem = (String, &'static str);

impl Follower<'_> {
    /// Takes the next step.
    fn follow(&mut self, operation: &'static Operation, at: Option<u8>) -> Result<(), StepProblem> {
        let file = self.names.last().copied();
        let here = file.unwrap_or(self.home);
        let in_directory = |spot: Spot| Spot { directory: at.or(spot.directory), ..spot };
        let problem = |found, expected| Err((format!("`{}` {found}", operation.name), expected));
        let (spot, mut new_directory) = (in_directory(here), None);
        if operation.subject == Subject::Holder {
            self.push(operation, spot, file.is_some(), None);
            return Ok(());
        }
        let Some(file) = file else {
            if operation.name != "create" || self.was_there {
                return problem("without a file", "`create` first, and nothing after `delete`");
            }
            self.names.push(Spot { directory: at, renames: 0 });
            self.was_there = true;
            self.push(operation, Spot { directory: at, renames: 0 }, false, None);
            return Ok(());
        };
        self.was_there = true;
        let mut spot = file;
        match (operation.effect, operation.change) {
            (Effect::RemovesEntry, _) => {
                let meant = |name: &Spot| at.is_none_or(|at| name.directory == Some(at));
                let Some(position) = self.names.iter().rposition(meant) else {
                    return problem("where the file is not", "the directory where it is");
                };
                spot = self.names.remove(position);
            }
            (Effect::AddsEntry, _) if operation.name == "create" => {
                return problem("of a second file", "one file in each turn");
            }
            (Effect::AddsEntry, _) | (Effect::KeepsTree, Change::Renames) => {
                let to = match at {
                    Some(_) => Spot { directory: at, ..file },
                    None => Spot { renames: file.renames + 1, ..file },
                };
                if operation.effect == Effect::KeepsTree {
                    self.names.pop();
                }
                self.names.push(to);
                new_directory = at;
            }
            (Effect::KeepsTree, _) => {}
        }
        self.push(operation, spot, true, new_directory);
        Ok(())
    }

    fn push(
        &mut self,
        operation: &'static Operation,
        spot: Spot,
        has_file: bool,
        new_directory: Option<u8>,
    ) {
        let same = |step: &&Step| step.operation == operation;
        let earlier = self.steps.iter().filter(same).count();
        let name = match (earlier, self.directory_in_name(operation, spot, new_directory)) {
            (0, _) => operation.name.to_owned(),
            (_, Some(directory)) => format!("{}-{directory}", operation.name),
            (_, None) => format!("{}-{}", operation.name, earlier + 1),
        };
        let is_taken = self.steps.iter().any(|step| step.name == name);
        let name = if is_taken { format!("{name}-{}", earlier + 1) } else { name };
        let (opens, closes) = (true, true);
        self.steps.push(Step { name, operation, spot, has_file, new_directory, opens, closes });
    }

    /// What tells a step from an earlier one of the same operation.
    fn directory_in_name(
        &self,
        operation: &Operation,
        spot: Spot,
        new_directory: Option<u8>,
    ) -> Option<&String> {
        let is_placed = operation.subject == Subject::Holder || new_directory.is_some();
        let directory = new_directory.or(spot.directory).filter(|_| is_placed)?;
        self.directories.get(usize::from(directory))
    }

    /// Leaves a file open for an fsync that follows at once.
    fn leave_open(&mut self) {
        for at in 1..self.steps.len() {
            let stays = STAY_OPEN.contains(&self.steps[at - 1].operation.name);
            if stays && self.steps[at].operation.name == "fsync" {
                self.steps[at - 1].closes = false;
                self.steps[at].opens = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::mix::{Spot, Step, Work};
    use crate::{Settings, read_job};

    /// The work with these keys on a tree with directories `tmp`, `new` and `cur`, or what is wrong with it.
    fn work(keys: &str) -> Result<Work, String> {
        let job = format!(
            "name = 'x'\n[tree]\nfiles = 100\ndirectories = ['tmp', 'new', 'cur']\nfiles_in = 'new'\n\
             [[phase]]\noperation = 'create'\n[[phase]]\ncount = 10\n[[phase.work]]\nweight = 1\n{keys}\n"
        );
        let plan = read_job(&job, &Settings::default()).map_err(|problems| problems.report("x"))?;
        Ok(plan.cells[0].phases[1].mix.as_ref().unwrap().works[0].clone())
    }

    fn chain(steps: &str) -> Work {
        work(&format!("chain = [{steps}]")).unwrap_or_else(|report| panic!("{report}"))
    }

    /// Where each step finds its file or makes it, and where it moves it.
    fn places(work: &Work) -> Vec<(Option<u8>, u32, Option<u8>)> {
        let of = |step: &Step| (step.spot.directory, step.spot.renames, step.new_directory);
        work.steps.iter().map(of).collect()
    }

    fn names(work: &Work) -> Vec<&str> {
        work.steps.iter().map(|step| &*step.name).collect()
    }

    const DELIVERY: &str = "{ create = 'tmp' }, 'fsync', { rename = 'new' }, 'fsync-directory'";
    const READING: &str = "{ list = 'new' }, { rename = 'cur' }, 'read', 'rename', 'delete'";

    #[test]
    fn each_step_finds_its_file_where_the_step_before_left_it() {
        let delivery = chain(DELIVERY);
        let (tmp, new, cur) = (Some(0), Some(1), Some(2));
        let expected = [(tmp, 0, None), (tmp, 0, None), (tmp, 0, new), (new, 0, None)];
        assert_eq!(places(&delivery), expected);
        assert_eq!(delivery.leaves, Some(Spot { directory: new, renames: 0 }));
        assert!(!delivery.takes_file() && delivery.makes_file());
        let reading = chain(READING);
        let expected =
            [(new, 0, None), (None, 0, cur), (cur, 0, None), (cur, 0, None), (cur, 1, None)];
        assert_eq!(places(&reading), expected);
        assert_eq!(reading.leaves, None);
        assert!(reading.takes_file() && reading.moves_file() && !reading.makes_file());
    }

    #[test]
    fn a_file_is_there_from_its_creation_to_its_removal() {
        let has_file = |steps| chain(steps).steps.iter().map(|s| s.has_file).collect::<Vec<_>>();
        assert_eq!(has_file("'list', 'create', 'read'"), [false, false, true]);
        assert_eq!(has_file("'create', 'delete', 'list'"), [false, true, false]);
        assert_eq!(has_file("'list', 'read'"), [true, true]);
        let gone = chain("'create', 'delete'");
        assert!(!gone.takes_file() && !gone.makes_file());
    }

    #[test]
    fn a_file_with_two_names_is_met_under_the_new_one_until_that_is_removed() {
        let (tmp, new) = (Some(0), Some(1));
        let moved = chain("{ create = 'tmp' }, { link = 'new' }, 'stat', { delete = 'tmp' }");
        assert_eq!(places(&moved)[2..], [(new, 0, None), (tmp, 0, None)]);
        assert_eq!(moved.leaves, Some(Spot { directory: new, renames: 0 }));
        let back = chain("'link', 'read', 'delete', 'read'");
        let expected = [(None, 0, None), (None, 1, None), (None, 1, None), (None, 0, None)];
        assert_eq!(places(&back), expected);
        assert_eq!(back.leaves, Some(Spot::default()));
        assert!(back.moves_file(), "a second turn would meet the second name");
    }

    #[test]
    fn the_directory_of_a_work_is_where_its_chain_begins() {
        let keys = "directory = 'cur'\nchain = ['stat', { link = 'tmp' }, { delete = 'cur' }]";
        let work = work(keys).unwrap();
        assert_eq!(work.steps[0].spot.directory, Some(2));
        assert_eq!(work.leaves, Some(Spot { directory: Some(0), renames: 0 }));
    }

    #[test]
    fn a_turn_has_its_file_to_itself_where_it_changes_names() {
        let moves = |steps| chain(steps).moves_file();
        for steps in ["'rename', 'delete'", "{ rename = 'cur' }", "'link', 'delete'", "'replace'"] {
            assert!(moves(steps), "{steps}");
        }
        assert!(!moves("'read', 'append', 'fsync', 'chmod'") && !moves("'create', 'fsync'"));
    }

    #[test]
    fn a_step_of_an_operation_that_came_before_is_called_by_its_directory_or_its_number() {
        assert_eq!(names(&chain(READING)), ["list", "rename", "read", "rename-2", "delete"]);
        let steps = "{ list = 'new' }, { list = 'cur' }, { list = 'cur' }, 'read', 'stat', 'read'";
        assert_eq!(
            names(&chain(steps)),
            ["list", "list-cur", "list-cur-3", "read", "stat", "read-2"]
        );
        let steps =
            "{ create = 'tmp' }, { rename = 'new' }, { rename = 'cur' }, { rename = 'new' }";
        assert_eq!(names(&chain(steps)), ["create", "rename", "rename-cur", "rename-new"]);
    }

    #[test]
    fn a_file_stays_open_for_an_fsync_that_follows_at_once_and_for_nothing_else() {
        let open = |steps| {
            let steps = chain(steps).steps;
            steps.iter().map(|step| (step.opens, step.closes)).collect::<Vec<_>>()
        };
        let (alone, left, found, both) =
            ((true, true), (true, false), (false, true), (false, false));
        assert_eq!(open("'create', 'fsync', 'read'"), [left, found, alone]);
        assert_eq!(open("'append', 'fsync', 'fsync'"), [left, both, found]);
        assert_eq!(open("'create', { rename = 'cur' }, 'fsync'"), [alone, alone, alone]);
        assert_eq!(open("'read', 'fsync', 'fsync-directory'"), [alone, alone, alone]);
    }

    #[test]
    fn a_chain_that_makes_no_sense_is_refused_with_words_about_its_step() {
        for (steps, place, words) in [
            ("", "chain", "no steps"),
            ("'create', 'create'", "chain[2]", "one file in each turn"),
            ("'read', 'create'", "chain[2]", "one file in each turn"),
            ("'delete', 'read'", "chain[2]", "nothing after `delete`"),
            ("'create', 'delete', 'create'", "chain[3]", "nothing after `delete`"),
            ("'rename'", "chain", "another name"),
            ("'create', 'rename'", "chain", "another name"),
            ("'link'", "chain", "nobody remembers second names"),
            ("{ rename = 'cur' }, { delete = 'tmp' }", "chain[2]", "the directory where it is"),
            ("{ rename = 'old' }", "chain[1]", "one of `tmp`, `new`, `cur`"),
            ("{ create = 'tmp', rename = 'new' }", "chain[1]", "one operation and its directory"),
            ("{}", "chain[1]", "one operation and its directory"),
            ("{ read = 'new' }", "chain[1]", "create"),
            ("{ rename = 3 }", "chain[1]", "3"),
            ("7", "chain[1]", "7"),
            ("'truncate'", "chain[1]", "append"),
            ("'mkdir'", "chain[1]", "append"),
        ] {
            let report = work(&format!("chain = [{steps}]")).map(|_| ()).expect_err(steps);
            assert!(report.contains(&format!("phase[2].work[1].{place}")), "{place} in {report}");
            assert!(report.contains(words), "{words} in {report}");
        }
    }

    #[test]
    fn keys_that_a_chain_has_no_use_for_are_refused() {
        for (keys, place, words) in [
            ("chain = ['read']\noperation = 'read'", "chain", "`chain` beside `operation`"),
            ("chain = ['create']\nof = 'any'", "of", "it makes files of its own"),
            ("operation = 'create'\nof = 'any'", "of", "it makes files of its own"),
            ("chain = ['create']\ndirectory = 'tmp'", "directory", "{ create = \"tmp\" }"),
            ("chain = ['create']\norder = 'oldest'", "order", "it makes a file in turn"),
            ("chain = ['read', 'stat']\norder = 'oldest'", "order", "oldest is for delete"),
            ("chain = ['read']\nsize = 5", "size", "gives files a size"),
            ("operation = 'read'\ndirectory = 'old'", "directory", "one of `tmp`"),
            ("", "work[1]", "or a `chain` of some"),
        ] {
            let report = work(keys).map(|_| ()).unwrap_err();
            assert!(report.contains(place) && report.contains(words), "{place}, {words}: {report}");
        }
    }

    #[test]
    fn directories_of_a_tree_have_names_of_their_own_and_are_not_many() {
        let many: Vec<String> = (0..17).map(|at| format!("'d{at}'")).collect();
        for (tree, place, words) in [
            ("directories = ['a', 'b', 'a']", "tree.directories", "a second `a`"),
            (&*format!("directories = [{}]", many.join(", ")), "tree.directories", "from 1 to 16"),
            ("directories = []", "tree.directories", "from 1 to 16"),
            ("directories = ['a/b']", "tree.directories", "a name without `/`"),
            ("directories = ['']", "tree.directories", "not empty"),
            ("directories = ['a', 'b']\nfiles_in = 'c'", "tree.files_in", "one of `a`, `b`"),
            ("directories = 3\nfiles_in = 'c'", "tree.files_in", "`directories` with names"),
            ("files_in = 'c'", "tree.files_in", "`directories` with names"),
        ] {
            let job =
                format!("name = 'x'\n[tree]\nfiles = 9\n{tree}\n[[phase]]\noperation = 'create'\n");
            let problems = read_job(&job, &Settings::default()).map(|_| ());
            let report = problems.expect_err(tree).report("x");
            assert!(report.contains(place) && report.contains(words), "{place}, {words}: {report}");
        }
    }
}
