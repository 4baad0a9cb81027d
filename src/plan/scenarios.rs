//! Lists the built-in scenarios: job files like any user's, compiled in.

use super::source;
use super::wire::WireJob;
use crate::base::problem::nearest;

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
    Scenario { name: "chunks", text: include_str!("../../scenarios/chunks.toml") },
    Scenario { name: "clutter", text: include_str!("../../scenarios/clutter.toml") },
    Scenario { name: "device", text: include_str!("../../scenarios/device.toml") },
    Scenario { name: "directory", text: include_str!("../../scenarios/directory.toml") },
    Scenario { name: "fullness", text: include_str!("../../scenarios/fullness.toml") },
    Scenario { name: "io500", text: include_str!("../../scenarios/io500.toml") },
    Scenario { name: "sequential", text: include_str!("../../scenarios/sequential.toml") },
    Scenario { name: "smallfiles", text: include_str!("../../scenarios/smallfiles.toml") },
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
