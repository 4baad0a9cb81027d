//! Runs `boatload scenarios`: lists the built-in job files.

use clap::{Args, Subcommand};

use super::job::scenario_hint;
use super::{completion, out};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_plan::job_schema;
use boatload_plan::scenarios::{SCENARIOS, find_scenario};

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
        #[arg(add = completion::scenarios())]
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
                None => {
                    let (shown, hint) = (shown(name), scenario_hint(name.as_ref()));
                    let sentence = format!("there is no scenario named {shown}. {hint}");
                    return Err(Failure::usage(sentence));
                }
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
