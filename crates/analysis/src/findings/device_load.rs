//! Tells whether the device itself was slower: whether it took longer for the same requests.

use boatload_results::book::Measurement;

/// Requests are the same if their numbers and bytes, together and each kind for itself, differ by no more than this share of
/// all: journals do not commit at the same moments each time.
const REQUESTS_ALIKE: f64 = 0.02;

/// At least this share of a difference is time in which the device was busy, and none of it the processors' alone.
const DEVICE_SHARE_MIN: f64 = 0.75;

/// What the device was requested for an operation, and what that took.
struct DeviceLoad {
    /// Reads, writes, and where known those that began where the one before ended.
    requests: [f64; 3],
    /// Bytes read and written.
    bytes: [f64; 2],
    seconds: f64,
    busy_seconds: f64,
    computed_seconds: f64,
}

impl DeviceLoad {
    /// The means of a cell. None where it is not known, is of several machines, or is of a disk that is modelled, whose speed
    /// does not change by itself.
    fn of(cell: &[&Measurement]) -> Option<Self> {
        let mut sums = [0.0; 8];
        for m in cell {
            let is_modelled = m.disk.as_ref().is_some_and(|disk| disk.late.is_some());
            if is_modelled || m.is_simulated() || m.ranks.is_some() {
                return None;
            }
            let sequential = m.disk.as_ref().map_or(0, |disk| disk.sequential);
            let counts = [m.device_reads?, m.device_writes?, sequential];
            let bytes = [m.device_read_bytes?, m.device_write_bytes?];
            let counted = counts.into_iter().chain(bytes).map(|count| count as f64);
            let computed =
                m.cpu_user_seconds.unwrap_or_default() + m.cpu_system_seconds.unwrap_or_default();
            let timed = [m.durable_seconds(), m.device_busy_seconds?, computed];
            for (sum, value) in sums.iter_mut().zip(counted.chain(timed)) {
                *sum += value;
            }
        }
        let operations = cell.iter().map(|m| m.operations as f64).sum::<f64>();
        let means = sums.map(|sum| sum / operations);
        let [reads, writes, sequential, read, written, seconds, busy_seconds, computed_seconds] =
            means;
        Some(Self {
            requests: [reads, writes, sequential],
            bytes: [read, written],
            seconds,
            busy_seconds,
            computed_seconds,
        })
    }

    fn has_same_requests(&self, other: &Self) -> bool {
        let [reads, writes, _] = self.requests;
        reads + writes > 0.0
            && are_alike(&self.requests, &other.requests, reads + writes)
            && are_alike(&self.bytes, &other.bytes, self.bytes.iter().sum())
    }

    /// Whether what it took longer, or shorter, than another is time of the device.
    fn differs_by_device(&self, other: &Self) -> bool {
        let by = self.seconds - other.seconds;
        let busy = self.busy_seconds - other.busy_seconds;
        let computed = self.computed_seconds - other.computed_seconds;
        by != 0.0 && busy / by >= DEVICE_SHARE_MIN && 1.0 - computed / by >= DEVICE_SHARE_MIN
    }
}

fn are_alike(one: &[f64], other: &[f64], all: f64) -> bool {
    one.iter().zip(other).all(|(one, other)| (one - other).abs() <= REQUESTS_ALIKE * all)
}

/// Whether the device had the same requests at all levels, and took longer, or shorter, for them at the highest than at the
/// lowest: then that may be an effect of the device itself, and not of the level. `levels`: the measurements of each, lowest
/// first.
pub(crate) fn differs_by_device_itself(levels: &[Vec<&Measurement>]) -> bool {
    let loads = levels.iter().map(|cell| DeviceLoad::of(cell));
    let Some(loads) = loads.collect::<Option<Vec<DeviceLoad>>>() else { return false };
    let (Some(lowest), Some(highest)) = (loads.first(), loads.last()) else { return false };
    loads.iter().all(|load| lowest.has_same_requests(load)) && highest.differs_by_device(lowest)
}
