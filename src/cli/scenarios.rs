//! `boatload scenarios`: the built-in job files.

use clap::{Args, Subcommand};

use super::out;
use crate::base::failure::{Exit, Failure, Result};
use crate::plan::job_schema;
use crate::plan::scenarios::{SCENARIOS, find_scenario, nearest_scenario};

const EXAMPLES: &str = "\
Examples:
  boatload scenarios
  boatload scenarios show smallfiles > my-job.toml     a start for one of your own
  boatload scenarios schema > job.schema.json          for your editor";

/// List the built-in scenarios, or print one
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Scenarios {
    #[command(subcommand)]
    command: Option<ScenarioAction>,
}

#[derive(Subcommand)]
enum ScenarioAction {
    /// Print a scenario's job file, which runs unchanged as one of your own
    Show {
        /// The scenario
        name: String,
    },
    /// Print the JSON Schema of job files
    Schema,
}

impl Scenarios {
    pub(super) fn run(&self) -> Result<Exit> {
        match &self.command {
            None => out::print(&list())?,
            Some(ScenarioAction::Show { name }) => match find_scenario(name) {
                Some(scenario) => out::print(scenario.text)?,
                None => return Err(Failure::usage(unknown(name))),
            },
            Some(ScenarioAction::Schema) => {
                let text = serde_json::to_string_pretty(&job_schema())
                    .map_err(|error| Failure::from_system("write the schema", error))?;
                out::print(&format!("{text}\n"))?;
            }
        }
        Ok(Exit::Good)
    }
}

fn list() -> String {
    SCENARIOS.iter().map(|s| format!("{:<12} {}\n", s.name, s.question())).collect()
}

fn unknown(name: &str) -> String {
    let hint = match nearest_scenario(name) {
        Some(near) => format!("Did you mean {near}?"),
        None => "`boatload scenarios` lists them.".into(),
    };
    format!("there is no scenario named {}. {hint}", crate::base::failure::shown(name))
}
