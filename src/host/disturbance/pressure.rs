//! Pressure: how long some process had to wait, from `/proc/pressure` (Documentation/accounting/psi.rst
//! of Linux). Missing where the kernel was built or booted without it.

/// Time in which some process waited, in seconds since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pressure {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) io_seconds: Option<f64>,
    pub(super) memory_seconds: Option<f64>,
}

impl Pressure {
    pub(super) fn now() -> Self {
        let of = |what: &str| {
            some_seconds(&std::fs::read_to_string(format!("/proc/pressure/{what}")).ok()?)
        };
        Self { cpu_seconds: of("cpu"), io_seconds: of("io"), memory_seconds: of("memory") }
    }

    pub(super) fn since(self, earlier: Self) -> Self {
        let passed = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        Self {
            cpu_seconds: passed(self.cpu_seconds, earlier.cpu_seconds),
            io_seconds: passed(self.io_seconds, earlier.io_seconds),
            memory_seconds: passed(self.memory_seconds, earlier.memory_seconds),
        }
    }
}

/// The total of the line `some`, which is in microseconds.
fn some_seconds(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_some_is_read_and_not_that_of_full() {
        let text = "some avg10=3.96 avg60=17.14 avg300=25.02 total=7475116430\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n";
        assert_eq!(some_seconds(text), Some(7475.11643));
        assert_eq!(some_seconds("full avg10=0.00 total=12\n"), None);
        assert_eq!(some_seconds("some total=x\n"), None);
    }

    #[test]
    fn what_is_missing_at_either_end_is_unknown() {
        let now = Pressure { cpu_seconds: Some(2.5), io_seconds: Some(1.0), memory_seconds: None };
        let then = Pressure { cpu_seconds: Some(2.0), ..Pressure::default() };
        let passed = Pressure { cpu_seconds: Some(0.5), ..Pressure::default() };
        assert_eq!(now.since(then), passed);
    }
}
