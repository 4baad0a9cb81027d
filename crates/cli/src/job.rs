//! Parses the arguments that commands which run a job share: the job, its changes, and where it runs.

use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};

use super::common::{DIRECTORY_VARIABLE, command_line_in};
use super::completion;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::{Quantity, Unit, bytes};
use boatload_host::erase::check_named_twice;
use boatload_host::memory::memory_bytes;
use boatload_plan::disk::DiskModel;
use boatload_plan::filesystem::{FileSystem, Volume, disk_named, read_list};
use boatload_plan::repetition::TIME_LIMIT_SECONDS;
use boatload_plan::scenarios::{find_scenario, nearest_scenario};
use boatload_plan::{CacheAsked, EngineName, Plan, Scale, Settings, read_job};
use boatload_results::book::Book;
use boatload_session::RunOrder;

/// What is run when nothing is named.
const DEFAULT_SCENARIO: &str = "smallfiles";

#[derive(Args, Default)]
pub(super) struct Job {
    /// A built-in scenario, or a job file [default: smallfiles]
    #[arg(value_name = "SCENARIO|FILE", hide_short_help = true, add = completion::jobs())]
    pub(super) scenario: Option<PathBuf>,
    /// Directory to work in
    #[arg(long, default_value = ".", value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(env = DIRECTORY_VARIABLE, hide_env_values = true)]
    pub(super) dir: PathBuf,
    /// File systems to make and compare, such as ext4,xfs
    #[arg(long, value_name = "LIST", value_parser = file_systems, add = completion::file_systems())]
    pub(super) filesystem: Vec<FileSystems>,
    /// quick, standard or original
    #[arg(long, default_value = Scale::Quick.as_str(), hide_possible_values = true, value_parser = words(&Scale::ALL, Scale::as_str))]
    pub(super) scale: Scale,
    /// Change a parameter, such as files=50k
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, String)>,
    /// Number of repeats [default: until decided]
    ///
    /// Without it, and without `repeats` in the job file, boatload looks at the answer after 3, 4, 5, 6, 8, 10 and 12
    /// repeats, and ends when it is decided. Where repeats cannot take turns, as on a place that is filled once, it does 5.
    #[arg(long, value_name = "N")]
    pub(super) repeats: Option<u32>,
    /// Repeat until decided within this time [default: 30m]
    ///
    /// No repeat after the third begins that would end later than the limit. Where it is named, `repeats` of the job
    /// does not count, and a system call that does not return by then ends the run.
    #[arg(long, value_name = "TIME", value_parser = time_limit, conflicts_with = "repeats")]
    pub(super) time_limit: Option<f64>,
    /// End a phase after this time, as invalid
    #[arg(long, value_name = "TIME", value_parser = time_limit, hide_short_help = true)]
    pub(super) phase_limit: Option<f64>,
    /// Seed of everything drawn at random
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(super) seed: Option<u64>,
    /// I/O engine
    #[arg(long, value_name = "NAME", hide_short_help = true, value_parser = words(&EngineName::ALL, EngineName::as_str))]
    pub(super) engine: Option<EngineName>,
    /// Threads of every phase
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<u32>,
    /// Caches before every phase: cold, warm or as-is
    #[arg(long, value_name = "STATE", hide_possible_values = true, value_parser = words(&CacheAsked::ALL, CacheAsked::as_str))]
    pub(super) cache: Option<CacheAsked>,
    /// Make them on this device, which is erased
    #[arg(long, value_name = "DEV", hide_short_help = true, requires = "erase", conflicts_with_all = ["in_memory", "size"])]
    pub(super) device: Option<PathBuf>,
    /// The same device again, to say that it may be erased
    #[arg(long, value_name = "DEV", hide_short_help = true, requires = "device")]
    pub(super) erase: Option<PathBuf>,
    /// Make them in memory
    #[arg(long, hide_short_help = true)]
    pub(super) in_memory: bool,
    /// Make them on a modelled disk, such as hdd-7200
    #[arg(long, value_name = "MODEL|FILE", value_parser = disk, conflicts_with_all = ["device", "in_memory"])]
    #[arg(add = completion::disks())]
    pub(super) disk: Option<Arc<DiskModel>>,
    /// Size of the image [default: 10GiB if there is room]
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = size)]
    pub(super) size: Option<u64>,
}

impl Job {
    /// Reads and checks the job.
    pub(super) fn plan(&self) -> Result<Plan> {
        self.plan_of(self.read()?, memory_bytes(), self.seed)
    }

    /// The same with this seed.
    pub(super) fn plan_with_seed(&self, seed: u64) -> Result<Plan> {
        self.plan_of(self.read()?, memory_bytes(), Some(seed))
    }

    /// The plan that a stored run had, on a machine with so much memory.
    ///
    /// # Errors
    /// If its job cannot be read any more.
    pub(super) fn stored_plan(&self, book: &Book, memory_bytes: u64) -> Result<Plan> {
        let source = format!("the job of run {}", book.run.id);
        let job = JobText { source, text: book.run.job.clone(), directory: self.directory() };
        self.plan_of(job, memory_bytes, self.seed)
    }

    /// Whether its job file or scenario is there and says something else than the job of a stored run.
    pub(super) fn is_other_than(&self, book: &Book) -> bool {
        self.read().is_ok_and(|job| job.text != book.run.job)
    }

    fn plan_of(&self, job: JobText, memory_bytes: u64, seed: Option<u64>) -> Result<Plan> {
        let JobText { source, text, directory } = job;
        let settings = Settings {
            scale: self.scale,
            seed,
            repeats: self.repeats,
            time_limit_seconds: self.time_limit,
            phase_limit_ns: self.phase_limit.map(|seconds| (seconds * 1e9) as u64),
            threads: self.threads,
            cache: self.cache,
            engine: self.engine,
            filesystems: self.filesystem.iter().flat_map(|list| list.0.clone()).collect(),
            disk: self.disk.clone(),
            directory,
            set: self.set.clone(),
            memory_bytes,
        };
        read_job(&text, &settings).map_err(|problems| Failure::usage(problems.report(&source)))
    }

    /// The device that loses all it holds, if one is named.
    pub(super) fn erases(&self) -> Option<&Path> {
        self.device.as_deref()
    }

    /// The order to run this plan of it.
    ///
    /// # Errors
    /// If the device is not named twice in the same words.
    pub(super) fn order<'a>(&self, plan: &'a Plan, fill_real: bool) -> Result<RunOrder<'a>> {
        let (directory, command) = (self.dir.clone(), command_line_in(&self.dir));
        Ok(RunOrder {
            plan,
            directory,
            command,
            fill_real,
            place: self.place(plan)?,
            tag: None,
            group: None,
        })
    }

    /// Where the file systems of a plan are made.
    ///
    /// # Errors
    /// If the device is not named twice in the same words, or they lie on modelled disks and a place is
    /// named for them.
    pub(super) fn place(&self, plan: &Plan) -> Result<Volume> {
        let bytes = self.size;
        let option = if self.in_memory { "--in-memory" } else { "--device" };
        if let Some(disk) = plan.disks().first().filter(|_| self.in_memory || self.device.is_some())
        {
            return Err(Failure::usage(format!(
                "{option} says where file systems are made, and this job makes them on a modelled disk ({}), \
                 whose image boatload places itself. Nothing was written. Leave out {option}, or `disk`",
                shown(&disk.name)
            )));
        }
        match (&self.device, &self.erase) {
            (Some(path), Some(erase)) => {
                check_named_twice(path, erase)?;
                Ok(Volume::Device { path: path.clone(), erase: erase.clone() })
            }
            _ if self.in_memory => Ok(Volume::Memory { bytes }),
            _ => Ok(Volume::Image { bytes }),
        }
    }

    fn read(&self) -> Result<JobText> {
        let (name, directory) = (self.name(), self.directory());
        if let Some(scenario) = name.to_str().and_then(find_scenario) {
            let (source, text) = (format!("scenario {}", scenario.name), scenario.text.to_string());
            return Ok(JobText { source, text, directory });
        }
        let text = read_bounded(name).map_err(|error| Failure::usage(unreadable(name, &error)))?;
        Ok(JobText { source: shown(name), text, directory })
    }

    fn name(&self) -> &Path {
        self.scenario.as_deref().unwrap_or(Path::new(DEFAULT_SCENARIO))
    }

    /// The directory of the job file; empty for a scenario.
    fn directory(&self) -> PathBuf {
        let name = self.name();
        let is_scenario = name.to_str().and_then(find_scenario).is_some();
        let parent = name.parent().filter(|_| !is_scenario);
        parent.map(Path::to_path_buf).unwrap_or_default()
    }
}

/// The text of a job file, with its source.
struct JobText {
    /// Its name for people.
    source: String,
    text: String,
    /// Where paths in it begin; empty for the working directory.
    directory: PathBuf,
}

/// Most bytes of a job file: what is larger, or has no end, is none.
const JOB_BYTES_MAX: u64 = 1 << 20;

fn read_bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(JOB_BYTES_MAX + 1).read_to_string(&mut text)?;
    match text.len() as u64 {
        ..=JOB_BYTES_MAX => Ok(text),
        _ => Err(std::io::Error::other(format!("it is larger than {}", bytes(JOB_BYTES_MAX)))),
    }
}

fn unreadable(name: &Path, error: &std::io::Error) -> String {
    let looks_like_a_path = name.extension().is_some() || name.components().count() > 1;
    if error.kind() != std::io::ErrorKind::NotFound || looks_like_a_path {
        return format!(
            "cannot read the job file {}: {error}. `boatload scenarios show smallfiles > mine.toml` makes one to begin with",
            shown(name)
        );
    }
    format!("there is no scenario and no file named {}. {}", shown(name), scenario_hint(name))
}

/// What to type instead of a name that no scenario has.
pub(super) fn scenario_hint(name: &Path) -> String {
    match name.to_str().and_then(nearest_scenario) {
        Some(near) => format!("Did you mean {near}? `boatload scenarios` lists them all."),
        None => "`boatload scenarios` lists them.".into(),
    }
}

/// The file systems of one list.
#[derive(Clone)]
pub(super) struct FileSystems(Vec<FileSystem>);

pub(super) fn file_systems(text: &str) -> std::result::Result<FileSystems, String> {
    read_list(text).map(FileSystems)
}

pub(super) fn disk(text: &str) -> std::result::Result<Arc<DiskModel>, String> {
    disk_named(text, Path::new("")).map_err(|problem| problem.sentence())
}

pub(super) fn setting(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write it as KEY=VALUE, such as files=50k".into()),
    }
}

/// A parser of words that each stand for one of `all`.
pub(super) fn words<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|one| word(*one))).try_map(move |text| {
        all.iter().copied().find(|one| word(*one) == text).ok_or("not one of the possible values")
    })
}

/// A parser of shares that are written in percent, within these bounds.
pub(super) fn percent_within(
    percent: RangeInclusive<f64>,
) -> impl Fn(&str) -> std::result::Result<f64, String> + Clone {
    move |text| match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Percent }) if percent.contains(&value) => {
            Ok(value / 100.0)
        }
        _ => Err(format!(
            "write it in percent, from {}% to {}%, such as 3%",
            percent.start(),
            percent.end()
        )),
    }
}

/// Seconds, of a text with a unit of time.
pub(super) fn time_limit(text: &str) -> std::result::Result<f64, String> {
    let time = Quantity::parse(text).filter(|quantity| quantity.unit == Unit::Nanoseconds);
    let seconds = time.map(|time| time.value / 1e9);
    let seconds = seconds.filter(|seconds| TIME_LIMIT_SECONDS.contains(seconds));
    seconds.ok_or_else(|| {
        "write it as a time from one second to 30 days, such as 90s, 30m or 2h".into()
    })
}

/// A number of bytes that is not 0.
pub(super) fn size(text: &str) -> std::result::Result<u64, String> {
    let quantity = Quantity::parse(text).filter(|q| matches!(q.unit, Unit::Bytes | Unit::Count));
    let bytes = quantity.and_then(Quantity::whole).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "write it as a size, such as 4GiB".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        job: Job,
    }

    fn asked(line: &str) -> Option<Volume> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        let job = Line::try_parse_from(words).ok()?.job;
        job.place(&job.plan().ok()?).ok()
    }

    #[test]
    fn a_modelled_disk_takes_a_size_and_no_other_place_also_where_the_list_names_it() {
        let small = Volume::Image { bytes: Some(4 << 30) };
        for on in ["--filesystem ext4 --disk hdd-7200", "--filesystem ext4:disk=hdd-7200"] {
            assert_eq!(asked(&format!("{on} --size 4GiB")), Some(small.clone()), "{on}");
            for place in ["--in-memory", "--device /dev/x --erase /dev/x"] {
                assert_eq!(asked(&format!("{on} {place}")), None, "{on} {place}");
            }
        }
        assert_eq!(asked("--disk hdd-7200"), None, "no file system is made");
        assert_eq!(asked("--filesystem ext4 --disk hdd-7000"), None);
    }

    #[test]
    fn without_a_word_it_is_an_image_of_the_size_that_is_needed() {
        assert_eq!(asked(""), Some(Volume::default()));
        assert_eq!(asked("--size 4GiB"), Some(Volume::Image { bytes: Some(4 << 30) }));
        assert_eq!(asked("--in-memory"), Some(Volume::Memory { bytes: None }));
        let small = Volume::Memory { bytes: Some(1_000_000_000) };
        assert_eq!(asked("--in-memory --size 1GB"), Some(small));
    }

    #[test]
    fn a_device_is_taken_only_when_it_is_named_twice() {
        let device = Volume::Device { path: "/dev/x".into(), erase: "/dev/x".into() };
        assert_eq!(asked("--device /dev/x --erase /dev/x"), Some(device));
        for line in ["--device /dev/x", "--erase /dev/x", "--device /dev/x --erase /dev/y"] {
            assert_eq!(asked(line), None, "{line}");
        }
    }

    #[test]
    fn places_that_exclude_each_other_are_refused() {
        for also in ["--in-memory", "--size 1GiB"] {
            assert_eq!(asked(&format!("--device /dev/x --erase /dev/x {also}")), None, "{also}");
        }
        for size in ["0", "-1", "much", "5%", "3s"] {
            assert_eq!(asked(&format!("--size={size}")), None, "{size}");
        }
    }
}
