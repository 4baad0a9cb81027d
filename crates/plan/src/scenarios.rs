//! Lists the built-in scenarios: job files like any user's, compiled in.

use super::source;
use super::wire::WireJob;
use boatload_base::problem::nearest;

/// A scenario that comes with boatload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its job file.
    pub text: &'static str,
}

/// All of them, by name.
pub const SCENARIOS: &[Scenario] = &[
    Scenario { name: "chunks", text: include_str!("../scenarios/chunks.toml") },
    Scenario { name: "clutter", text: include_str!("../scenarios/clutter.toml") },
    Scenario { name: "device", text: include_str!("../scenarios/device.toml") },
    Scenario { name: "directory", text: include_str!("../scenarios/directory.toml") },
    Scenario { name: "fileserver", text: include_str!("../scenarios/fileserver.toml") },
    Scenario { name: "fullness", text: include_str!("../scenarios/fullness.toml") },
    Scenario { name: "io500", text: include_str!("../scenarios/io500.toml") },
    Scenario { name: "maildir", text: include_str!("../scenarios/maildir.toml") },
    Scenario { name: "postmark", text: include_str!("../scenarios/postmark.toml") },
    Scenario { name: "sequential", text: include_str!("../scenarios/sequential.toml") },
    Scenario { name: "smallfiles", text: include_str!("../scenarios/smallfiles.toml") },
    Scenario { name: "varmail", text: include_str!("../scenarios/varmail.toml") },
    Scenario { name: "webserver", text: include_str!("../scenarios/webserver.toml") },
];

/// The scenario with this name.
pub fn find_scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

/// The scenario whose name is nearest to `name`, if one is near enough to be what was meant.
pub fn nearest_scenario(name: &str) -> Option<&'static str> {
    nearest(name, SCENARIOS.iter().map(|scenario| scenario.name))
}

impl Scenario {
    /// The question it asks, as its job file says it.
    pub fn question(&self) -> String {
        let job = source::read::<WireJob>(self.text).map(|(job, _)| job);
        job.ok().and_then(|job| job.question).unwrap_or_default()
    }
}

/// What variants and phases of the same names stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesAbout {
    /// The names.
    pub names: Vec<String>,
    /// What they stand for, in a few words.
    pub about: String,
}

/// What names stand for by a job file, and by the scenario of its name where that is built in.
pub fn names_about(job: &str, scenario: &str) -> Vec<NamesAbout> {
    let mut all: Vec<NamesAbout> = Vec::new();
    for text in [Some(job), find_scenario(scenario).map(|one| one.text)].into_iter().flatten() {
        let Ok((job, _)) = source::read::<WireJob>(text) else { continue };
        let variants = job.variant.iter().map(|one| (&one.name, &one.about));
        let phases = job
            .phases()
            .iter()
            .map(|one| (one.name.as_ref().map_or(&one.operation, |_| &one.name), &one.about));
        for (name, about) in variants.chain(phases) {
            let Some((name, about)) = name.clone().zip(about.clone()) else { continue };
            if all.iter().any(|one| one.names.contains(&name)) {
                continue;
            }
            match all.iter_mut().find(|one| one.about == about) {
                Some(one) => one.names.push(name),
                None => all.push(NamesAbout { names: vec![name], about }),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_found_by_their_names_and_ask_a_question() {
        for scenario in SCENARIOS {
            assert_eq!(find_scenario(scenario.name), Some(scenario));
            assert!(scenario.question().ends_with('?'), "{}", scenario.name);
        }
        assert!(SCENARIOS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn a_slip_in_a_scenarios_name_finds_the_nearest() {
        assert_eq!(find_scenario("smalfiles"), None);
        assert_eq!(nearest_scenario("smalfiles"), Some("smallfiles"));
    }
}
