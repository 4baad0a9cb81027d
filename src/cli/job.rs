//! The arguments that `run` and `plan` share: which job, at which scale, with which changes.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::effort::Precision;
use crate::base::failure::{Failure, Result, shown};
use crate::host::facts::memory_bytes;
use crate::plan::filesystem::{FileSystem, read_list};
use crate::plan::scenarios::{find_scenario, nearest_scenario};
use crate::plan::{CacheAsked, EngineName, Plan, Scale, Settings, read_job};

/// What is run when nothing is named.
const DEFAULT_SCENARIO: &str = "smallfiles";

#[derive(Args)]
pub(super) struct Job {
    /// A built-in scenario, or a job file [default: smallfiles]
    #[arg(value_name = "SCENARIO|FILE")]
    scenario: Option<PathBuf>,
    /// Directory to work in
    ///
    /// boatload makes a directory of its own in it, and removes it when it is done.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(super) dir: PathBuf,
    /// File systems to make, run on and compare, such as ext4,xfs
    ///
    /// Each is made fresh, mounted, and taken down again, and each variant of the job runs on each
    /// of them. It takes root. A list of TYPE[:mkfs=WORDS][:mount=OPTIONS][:name=NAME], such as
    /// 'ext3,ext3:mkfs=-O ^dir_index:name=unindexed,xfs:mount=noatime'. A comma inside options belongs
    /// to them unless a type follows. May be given several times.
    #[arg(long, value_name = "LIST", value_parser = file_systems)]
    filesystem: Vec<FileSystems>,
    /// How much to do
    ///
    /// quick takes well under a minute on a common disk, standard takes minutes, original keeps
    /// the numbers of the document that first asked the question.
    #[arg(long, default_value = Scale::Quick.word(), value_parser = scales())]
    scale: Scale,
    /// Change a parameter, such as --set files=50k
    ///
    /// `boatload scenarios show NAME` prints a scenario with its parameters. May be given several
    /// times. A list is written KEY=30,50,70.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// How often to do the whole
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    #[command(flatten)]
    precision: Precision,
    /// Seed of everything drawn at random
    ///
    /// The same seed and job file give the same operations in the same order on any machine.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What carries requests out
    ///
    /// sync makes one blocking system call for each request; sim is a simulated file system,
    /// which measures boatload itself unless the job file has a [sim] table.
    #[arg(long, value_name = "NAME", value_parser = engines())]
    engine: Option<EngineName>,
    /// Workers of every phase
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// What to ask of the caches before every phase
    ///
    /// cold drops them, which needs root; warm reads everything first; as-is does nothing.
    #[arg(long, value_name = "STATE", value_parser = caches())]
    cache: Option<CacheAsked>,
}

impl Job {
    /// Reads and checks the job.
    pub(super) fn plan(&self) -> Result<Plan> {
        let (source, text) = self.read()?;
        let settings = Settings {
            scale: self.scale,
            seed: self.seed,
            repeats: self.repeats,
            effort: self.precision.asked(),
            threads: self.threads,
            cache: self.cache,
            engine: self.engine,
            filesystems: self.filesystem.iter().flat_map(|list| list.0.clone()).collect(),
            set: self.set.clone(),
            memory_bytes: memory_bytes(),
        };
        read_job(&text, &settings).map_err(|problems| Failure::usage(problems.report(&source)))
    }

    /// The job file's name for people, and its text.
    fn read(&self) -> Result<(String, String)> {
        let name = self.scenario.as_deref().unwrap_or(Path::new(DEFAULT_SCENARIO));
        if let Some(scenario) = name.to_str().and_then(find_scenario) {
            return Ok((format!("scenario {}", scenario.name), scenario.text.to_string()));
        }
        match read_bounded(name) {
            Ok(text) => Ok((shown(name), text)),
            Err(error) => Err(Failure::usage(unreadable(name, &error))),
        }
    }
}

/// Most bytes of a job file: what is larger, or has no end, is none.
const JOB_BYTES_MAX: u64 = 1 << 20;

fn read_bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(JOB_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn unreadable(name: &Path, error: &std::io::Error) -> String {
    let looks_like_a_path = name.extension().is_some() || name.components().count() > 1;
    if error.kind() != std::io::ErrorKind::NotFound || looks_like_a_path {
        return format!("cannot read the job file {}: {error}", shown(name));
    }
    let hint = match name.to_str().and_then(nearest_scenario) {
        Some(near) => format!("Did you mean {near}?"),
        None => "`boatload scenarios` lists them.".to_string(),
    };
    format!("there is no scenario and no file named {}. {hint}", shown(name))
}

/// The file systems of one list.
#[derive(Clone)]
struct FileSystems(Vec<FileSystem>);

fn file_systems(text: &str) -> std::result::Result<FileSystems, String> {
    read_list(text).map(FileSystems)
}

fn setting(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write it as KEY=VALUE, such as files=50k".into()),
    }
}

/// A parser of words that each stand for one of `all`.
fn words<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|one| word(*one))).try_map(move |text| {
        all.iter().copied().find(|one| word(*one) == text).ok_or("not one of the possible values")
    })
}

fn scales() -> impl TypedValueParser<Value = Scale> {
    words(&Scale::ALL, Scale::word)
}

fn engines() -> impl TypedValueParser<Value = EngineName> {
    words(&EngineName::ALL, EngineName::word)
}

fn caches() -> impl TypedValueParser<Value = CacheAsked> {
    words(&CacheAsked::ALL, CacheAsked::word)
}
