//! Processors that were slowed down, or kept from this process.

use std::path::{Path, PathBuf};

use crate::host::group::OwnGroup;
use crate::host::sysfs::{number_after, number_in};

const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Where it is told, found once.
#[derive(Debug, Default)]
pub(super) struct Throttling {
    /// `core_throttle_count` of each processor that has one.
    cores: Vec<PathBuf>,
    /// `cpu.stat` of this process's control group.
    group: Option<PathBuf>,
    /// The frequency of each processor now, and the highest it can have.
    frequencies: Vec<(PathBuf, u64)>,
}

/// Counts since the machine started; none where nothing tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Throttles {
    pub(super) core: Option<u64>,
    pub(super) group: Option<u64>,
    /// The highest frequency now over the highest there can be.
    pub(super) frequency_share: Option<f64>,
}

impl Throttling {
    pub(super) fn find() -> Self {
        let group = OwnGroup::find().and_then(|group| group.processor_statistics());
        Self { group, ..Self::below(Path::new(PROCESSORS)) }
    }

    fn below(processors: &Path) -> Self {
        let mut found = Self::default();
        for entry in std::fs::read_dir(processors).into_iter().flatten().flatten() {
            let directory = entry.path();
            let count = directory.join("thermal_throttle/core_throttle_count");
            found.cores.extend(number_in(&count).map(|_| count));
            let now = directory.join("cpufreq/scaling_cur_freq");
            let highest = number_in(&directory.join("cpufreq/cpuinfo_max_freq"));
            found.frequencies.extend(highest.filter(|most| *most > 0).map(|most| (now, most)));
        }
        found
    }

    pub(super) fn now(&self) -> Throttles {
        let group = self.group.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let shares = self
            .frequencies
            .iter()
            .filter_map(|(now, highest)| Some(number_in(now)? as f64 / *highest as f64));
        Throttles {
            core: self.cores.iter().filter_map(|path| number_in(path)).reduce(u64::wrapping_add),
            group: group.and_then(|text| throttled(&text)),
            frequency_share: shares.reduce(f64::max),
        }
    }
}

impl Throttles {
    pub(super) fn since(self, earlier: Self) -> Self {
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            core: more(self.core, earlier.core),
            group: more(self.group, earlier.group),
            frequency_share: self.frequency_share,
        }
    }
}

/// Both versions of control groups have this line in `cpu.stat`.
fn throttled(text: &str) -> Option<u64> {
    number_after(text, "nr_throttled ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::put;

    #[test]
    fn counts_of_all_processors_are_added_and_the_fastest_one_speaks() {
        let sys = tempfile::tempdir().unwrap();
        for (cpu, count, now) in [("cpu0", "3\n", "800000\n"), ("cpu1", "4\n", "2400000\n")] {
            put(sys.path(), &format!("{cpu}/thermal_throttle/core_throttle_count"), count);
            put(sys.path(), &format!("{cpu}/cpufreq/scaling_cur_freq"), now);
            put(sys.path(), &format!("{cpu}/cpufreq/cpuinfo_max_freq"), "3200000\n");
        }
        put(sys.path(), "cpufreq/boost", "1\n");
        let throttling = Throttling::below(sys.path());
        let before = throttling.now();
        assert_eq!((before.core, before.frequency_share), (Some(7), Some(0.75)));
        put(sys.path(), "cpu1/thermal_throttle/core_throttle_count", "6\n");
        assert_eq!(throttling.now().since(before).core, Some(2));
    }

    #[test]
    fn a_machine_that_tells_nothing_gives_nothing() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Throttling::below(empty.path()).now(), Throttles::default());
        assert_eq!(throttled("nr_periods 5\nnr_throttled 2\nthrottled_usec 9\n"), Some(2));
        assert_eq!(throttled("usage_usec 5\n"), None);
    }
}
