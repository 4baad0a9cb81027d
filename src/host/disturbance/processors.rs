//! What all processors did, from `/proc/stat` (proc_stat(5)).

/// Times of all processors together since the machine started, in seconds. The kernel counts them in
/// ticks, mostly of 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessorTimes {
    /// Busy or not.
    pub all_seconds: f64,
    /// In user mode, guests included.
    pub user_seconds: f64,
    /// In user mode, in the kernel, in interrupts.
    pub busy_seconds: f64,
    /// What the hypervisor gave to others.
    pub steal_seconds: f64,
}

impl ProcessorTimes {
    /// What they did so far; none if the kernel does not tell.
    pub fn now() -> Option<Self> {
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?, ticks as f64)
    }

    /// The first line: user, nice, system, idle, iowait, irq, softirq, steal. Time of guests is in
    /// that of user and nice already.
    fn parse(text: &str, ticks_per_second: f64) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<u64> =
            line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = fields.as_slice() else {
            return None;
        };
        let seconds = |ticks: u64| ticks as f64 / ticks_per_second;
        let busy = user + nice + system + irq + softirq;
        Some(Self {
            all_seconds: seconds(busy + idle + iowait + steal),
            user_seconds: seconds(user + nice),
            busy_seconds: seconds(busy),
            steal_seconds: seconds(*steal),
        })
    }

    /// What passed since an earlier reading. Some counters may go back a little (proc_stat(5)).
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let passed = |now: f64, then: f64| (now - then).max(0.0);
        Self {
            all_seconds: passed(self.all_seconds, earlier.all_seconds),
            user_seconds: passed(self.user_seconds, earlier.user_seconds),
            busy_seconds: passed(self.busy_seconds, earlier.busy_seconds),
            steal_seconds: passed(self.steal_seconds, earlier.steal_seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_counted_once_and_waiting_is_not_busy() {
        let text = "cpu  100 10 50 800 40 5 5 20 30 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let times = ProcessorTimes::parse(text, 100.0).unwrap();
        assert_eq!((times.user_seconds, times.busy_seconds), (1.1, 1.7));
        assert_eq!((times.all_seconds, times.steal_seconds), (10.3, 0.2));
    }

    #[test]
    fn a_text_that_is_something_else_tells_nothing() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8", "cpu  1 2 3", "cpu  1 2 3 4 x 6 7 8"] {
            assert_eq!(ProcessorTimes::parse(text, 100.0), None, "{text}");
        }
    }

    #[test]
    fn a_counter_that_goes_back_counts_as_standing_still() {
        let then = ProcessorTimes { steal_seconds: 2.0, ..ProcessorTimes::default() };
        assert_eq!(ProcessorTimes::default().since(then), ProcessorTimes::default());
    }
}
