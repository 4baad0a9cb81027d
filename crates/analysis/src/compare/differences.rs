//! Lists the facts in which runs differ: each may explain different figures.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use boatload_base::distinct::each_once;
use boatload_base::units::{self, counted, grouped};
use boatload_host::facts::FilesystemFacts;
use boatload_results::book::{Book, MadeFileSystem, MadeOn, Measurement};
use boatload_results::order::{made, made_kinds};

/// A fact that is not the same in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// What it is: `kernel`, `scale`.
    pub name: &'static str,
    /// As it stands in each run; `None` where it is not known. Of lists, such as mount options, what
    /// not all of the runs have.
    pub values: Vec<Option<String>>,
}

/// How a fact is read from a run.
enum Fact {
    /// A word or two, empty if it is not known.
    One(fn(&Book) -> String),
    /// A word or two that published figures do not come with.
    Own(fn(&Book) -> String),
    /// A list, and what joins its items. Published figures have none.
    Many(fn(&Book) -> Vec<String>, &'static str),
    /// Lines: only their number is stated.
    Lines(fn(&Book) -> Vec<String>),
}

use Fact::{Lines, Many, One, Own};

const FACTS: [(&str, Fact); 24] = [
    ("measured", Own(calls)),
    ("scenario", One(|book| book.run.scenario.clone())),
    ("scale", One(|book| book.run.scale.to_string())),
    ("parameters", Many(parameters, ", ")),
    ("job text", Lines(job_lines)),
    ("seed", Own(|book| book.run.seed.unwrap_or_default().to_string())),
    ("repeats (no cause)", Own(|book| book.run.repeats.to_string())),
    ("most operations", One(most_operations)),
    ("engine", Own(engine)),
    (
        "threads",
        Own(|book| {
            words(book.measurements.iter().map(|m| m.threads.unwrap_or_default().to_string()))
        }),
    ),
    ("ranks", Own(|book| book.run.hosts.len().max(1).to_string())),
    ("date", One(date)),
    ("file system", One(filesystem)),
    ("mount options", Many(options, ",")),
    ("made by", Many(mkfs_words, " ")),
    ("device", Own(device)),
    ("disk model", Lines(model_lines)),
    ("kernel", One(|book| book.host.kernel.clone())),
    ("processor", One(|book| book.host.cpu.clone())),
    ("processors", Own(|book| book.host.cpus.to_string())),
    (
        "memory",
        One(|book| match book.host.memory_bytes {
            0 => String::new(),
            known => units::bytes(known),
        }),
    ),
    ("root", Own(|book| if book.host.rights.root { "yes" } else { "no" }.into())),
    ("caches", One(caches)),
    ("boatload", Own(|book| book.run.boatload.clone())),
];

/// The facts in which the runs differ, in a fixed order.
pub fn differences(books: &[&Book]) -> Vec<Difference> {
    let published = books.iter().any(|book| book.run.reference.is_some());
    let one = |fact: &fn(&Book) -> String| -> Vec<Option<String>> {
        books.iter().map(|book| Some(fact(book)).filter(|text| !text.is_empty())).collect()
    };
    let lists = |fact: &fn(&Book) -> Vec<String>| -> Vec<Vec<String>> {
        books.iter().map(|book| fact(book)).collect()
    };
    let of = |(name, fact): &(&'static str, Fact)| {
        let values = match fact {
            One(fact) => one(fact),
            _ if published => return None,
            Own(fact) => one(fact),
            Many(fact, joint) => joined(&apart(&lists(fact)), joint),
            Lines(fact) => {
                let lists = lists(fact);
                let differ = lists.iter().any(|list| *list != lists[0]);
                return differ.then(|| Difference { name, values: counted_lines(&lists) });
            }
        };
        let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then_some(Difference { name, values })
    };
    FACTS.iter().filter_map(of).collect()
}

fn engine(book: &Book) -> String {
    if book.run.traced.is_some() {
        return "the program's own".into();
    }
    let engine = |m: &Measurement| m.engine.map_or_else(String::new, |engine| engine.to_string());
    words(book.measurements.iter().map(engine))
}

/// Whose calls the latencies are of.
fn calls(book: &Book) -> String {
    match &book.run.traced {
        Some(traced) => format!("single system calls of {}", traced.target),
        None => "boatload's own operations, of one call or several".into(),
    }
}

/// What each run's list has that not all have, or not as often.
fn apart(lists: &[Vec<String>]) -> Vec<Vec<String>> {
    let count = |list: &[String], item: &String| list.iter().filter(|own| *own == item).count();
    let common = |item: &String| lists.iter().map(|list| count(list, item)).min();
    let mut all = Vec::new();
    for list in lists {
        let is_own = |at: &usize| Some(count(&list[..*at], &list[*at])) >= common(&list[*at]);
        all.push((0..list.len()).filter(is_own).map(|at| list[at].clone()).collect());
    }
    all
}

fn joined(lists: &[Vec<String>], joint: &str) -> Vec<Option<String>> {
    let any = lists.iter().any(|list| !list.is_empty());
    let text = |list: &Vec<String>| if list.is_empty() { "-".into() } else { list.join(joint) };
    lists.iter().map(|list| any.then(|| text(list))).collect()
}

/// How many lines each run has, and how many of these not all have, or that only the order differs.
fn counted_lines(lists: &[Vec<String>]) -> Vec<Option<String>> {
    let own: Vec<usize> = apart(lists).into_iter().map(|own| own.len()).collect();
    let is_order = own.iter().all(|own| *own == 0);
    let text = |(list, own): (&Vec<String>, &usize)| {
        let lines = counted(list.len() as u64, "line");
        Some(match own {
            0 if is_order => format!("{lines}, in another order"),
            0 => lines,
            1 => format!("{lines}, 1 differs"),
            own => format!("{lines}, {own} differ"),
        })
    };
    lists.iter().zip(&own).map(text).collect()
}

/// The letter that a run is called by beside others.
pub fn letter(at: usize) -> char {
    u8::try_from(at).ok().and_then(|at| b'A'.checked_add(at)).map_or('?', char::from)
}

/// The states in which phases found the caches. `settle` does not look at them.
fn caches(book: &Book) -> String {
    let phases = book.measurements.iter().filter(|m| !m.is_settle());
    words(phases.map(|m| m.cache.found.to_string()))
}

/// Each word once, in alphabetical order.
fn words(all: impl Iterator<Item = String>) -> String {
    Vec::from_iter(all.collect::<BTreeSet<String>>()).join(", ")
}

fn parameters(book: &Book) -> Vec<String> {
    book.run.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// The job without what does nothing: comments and empty lines.
pub(crate) fn job_lines(book: &Book) -> Vec<String> {
    told_lines(&book.run.job).collect()
}

/// The lines of a TOML text that say something, without comments.
fn told_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    let lines = text.lines().map(|line| without_comment(line).trim());
    lines.filter(|line| !line.is_empty()).map(String::from)
}

/// A `#` in a string begins no comment.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote == Some('"') && character == '\\' && !is_escaped;
    }
    line
}

fn most_operations(book: &Book) -> String {
    book.measurements.iter().map(|m| m.operations).max().map(grouped).unwrap_or_default()
}

fn date(book: &Book) -> String {
    match &book.run.reference {
        Some(reference) => reference.published.clone(),
        None => book.run.started.get(..10).unwrap_or_default().into(),
    }
}

/// With the lack of a journal in what was there; nobody looks for one in what was made.
fn filesystem(book: &Book) -> String {
    let FilesystemFacts { kind, journal, .. } = &book.host.filesystem;
    match made_kinds(book).as_slice() {
        [] if *journal == Some(false) => format!("{kind} without a journal"),
        [] => kind.clone(),
        made => made.join(","),
    }
}

fn options(book: &Book) -> Vec<String> {
    let of = |options: &str| options.split(',').map(String::from).collect::<Vec<_>>();
    match made(book).as_slice() {
        [] => of(&book.host.filesystem.options),
        made => each_once(made.iter().flat_map(|made| of(&made.options))),
    }
}

fn mkfs_words(book: &Book) -> Vec<String> {
    let commands = made(book).into_iter().filter_map(|made: &MadeFileSystem| made.mkfs.as_ref());
    each_once(commands.flat_map(|command| command.split(' ')).map(String::from))
}

fn device(book: &Book) -> String {
    let made = each_once(made(book).into_iter().map(|made| {
        let size = units::bytes(made.device_bytes);
        let device = made.device.as_ref().filter(|_| made.place == MadeOn::Device);
        match (&made.disk, device) {
            (Some(disk), _) => format!("{}, modelled, of {size}", disk.name),
            (None, Some(device)) => format!("{} of {size}", device.model_or_name()),
            (None, None) => format!("{} of {size}", made.place),
        }
    }));
    if !made.is_empty() {
        return made.join(", ");
    }
    let Some(device) = &book.host.device else { return book.host.filesystem.source.clone() };
    let size = device.total_bytes.map(|bytes| format!(" of {}", units::bytes(bytes)));
    format!("{}{}", device.model_or_name(), size.unwrap_or_default())
}

/// The figures of modelled disks.
fn model_lines(book: &Book) -> Vec<String> {
    let disks = made(book).into_iter().filter_map(|made| made.disk.as_ref());
    each_once(disks).into_iter().flat_map(|disk| told_lines(&disk.model)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_results::book::DiskFacts;
    use boatload_results::fixture;

    #[test]
    fn the_lack_of_a_journal_is_a_difference_where_it_is_known() {
        let told = |journals: [Option<bool>; 2]| {
            let books = journals.map(|journal| {
                let mut book = fixture::book();
                book.host.filesystem.journal = journal;
                book
            });
            differences(&[&books[0], &books[1]]).into_iter().next()
        };
        let found = told([Some(true), Some(false)]).unwrap();
        let both = ["ext4", "ext4 without a journal"].map(|word| Some(word.to_string()));
        assert_eq!((found.name, found.values), ("file system", both.to_vec()));
        assert_eq!(told([Some(true), None]), None);
        assert_eq!(told([Some(true); 2]), None);
    }

    #[test]
    fn of_lists_only_what_not_all_have_is_told() {
        let mut b = fixture::book();
        let a = fixture::book();
        assert_eq!(differences(&[&a, &b]), []);
        b.host.filesystem.options = "rw,noatime".into();
        b.run.parameters.insert("selected".into(), "50".into());
        b.run.job += "# a word\n\n[[phase]]\noperation = \"stat\"\n";
        let found = differences(&[&a, &b]);
        let told: Vec<_> = found.iter().map(|d| (d.name, d.values.clone())).collect();
        let both = |a: &str, b: &str| vec![Some(a.to_string()), Some(b.to_string())];
        assert_eq!(
            told,
            [
                ("parameters", both("selected=3000", "selected=50")),
                ("job text", both("1 line", "3 lines, 2 differ")),
                ("mount options", both("relatime", "noatime")),
            ]
        );
    }

    fn told_of_jobs(jobs: &[&str]) -> Vec<Option<String>> {
        let of = |job: &&str| {
            let mut book = fixture::book();
            book.run.job = job.to_string();
            book
        };
        let books: Vec<Book> = jobs.iter().map(of).collect();
        let found = differences(&books.iter().collect::<Vec<_>>()).pop();
        found.map(|found| found.values).unwrap_or_default()
    }

    #[test]
    fn lines_that_are_swapped_or_repeated_differ() {
        let texts = |texts: &[&str]| texts.iter().map(|t| Some(t.to_string())).collect::<Vec<_>>();
        let swapped = told_of_jobs(&["a = 1\nb = 2", "b = 2\na = 1", "a = 1\n\nb = 2 # a word"]);
        assert_eq!(swapped, texts(&["2 lines, in another order"; 3]));
        let repeated = told_of_jobs(&["[[phase]]\na = 1", "[[phase]]\na = 1\n[[phase]]\na = 1"]);
        assert_eq!(repeated, texts(&["2 lines", "4 lines, 2 differ"]));
        assert_eq!(told_of_jobs(&["a = 1", "a = 1"]), []);
    }

    #[test]
    fn a_line_that_two_of_three_runs_have_is_counted_as_not_in_all() {
        let texts = |texts: [&str; 3]| texts.map(|text| Some(text.to_string())).to_vec();
        let found = told_of_jobs(&["a = 1\nb = 2", "a = 1\nb = 2", "a = 1"]);
        assert_eq!(found, texts(["2 lines, 1 differs", "2 lines, 1 differs", "1 line"]));
        let found = told_of_jobs(&["a = 1", "a = 2", "a = 3"]);
        assert_eq!(found, texts(["1 line, 1 differs"; 3]), "as many in each");
    }

    #[test]
    fn a_comment_behind_a_value_is_none_of_a_string() {
        for (line, told) in [
            ("a = 1 # one", "a = 1 "),
            (r##"a = "#\"#" # two"##, r##"a = "#\"#" "##),
            (r"a = '#\' # three", r"a = '#\' "),
            ("a = '#'", "a = '#'"),
        ] {
            assert_eq!(without_comment(line), told);
        }
    }

    #[test]
    fn of_a_file_system_that_was_made_on_a_device_that_is_the_device() {
        let on = |model: &str| {
            let mut book = fixture::made::book();
            for made in &mut book.filesystems {
                made.place = MadeOn::Device;
                made.device.as_mut().unwrap().model = Some(model.into());
            }
            book
        };
        let found = differences(&[&on("ACME 9"), &on("ACME 10")]).pop().unwrap();
        let both = ["ACME 9 of 10.0 GiB", "ACME 10 of 10.0 GiB"].map(|text| Some(text.into()));
        assert_eq!((found.name, found.values), ("device", both.to_vec()));
    }

    #[test]
    fn a_modelled_disk_is_the_device_and_figures_that_differ_are_counted() {
        let book = |name: &str, model: &str| {
            let mut book = fixture::made::book();
            let disk = DiskFacts { name: name.into(), model: model.into() };
            book.filesystems.iter_mut().for_each(|made| made.disk = Some(disk.clone()));
            book
        };
        let told = |a: &Book, b: &Book| {
            differences(&[a, b]).iter().map(|d| (d.name, d.values.clone())).collect::<Vec<_>>()
        };
        let both = |a: &str, b: &str| vec![Some(a.to_string()), Some(b.to_string())];
        let (slow, fast) =
            (book("mine", "rpm = 1\n# a word\n"), book("mine", "rpm = 2\nheads = 3\n"));
        let lines = both("1 line, 1 differs", "2 lines, 2 differ");
        assert_eq!(told(&slow, &fast), [("disk model", lines)]);
        let real = fixture::made::book();
        let found = told(&real, &slow);
        assert_eq!(found[0], ("device", both("image of 10.0 GiB", "mine, modelled, of 10.0 GiB")));
    }

    #[test]
    fn nothing_is_told_of_published_figures_that_does_not_come_with_them() {
        let reference = boatload_results::reference::find_reference("clutter-xen").unwrap();
        let names: Vec<_> =
            differences(&[&fixture::book(), &reference]).iter().map(|d| d.name).collect();
        for own in ["seed", "job text", "parameters", "boatload", "engine"] {
            assert!(!names.contains(&own), "{names:?}");
        }
        assert!(names.contains(&"kernel"), "{names:?}");
    }
}
