//! Simulates a volume behind a network: a limit of operations, a limit of bytes, and a round trip that
//! differs from request to request.

use super::request::{
    Answers, BusyTimes, DiskRequest, DiskRequestKind, Mechanism, NS_MAX, transfer_ns,
};
use boatload_base::normal::normal_quantile;
use boatload_base::random::{Stream, draw, unit};
use boatload_plan::disk::NetworkModel;

/// The number of standard deviations below which 99 of 100 normal numbers lie.
const P99_DEVIATIONS: f64 = 2.326_347_874_040_841;

pub(super) struct Network {
    model: NetworkModel,
    seed: u64,
    /// Standard deviation of the logarithm of the round trip.
    spread: f64,
    requests: u64,
    /// When the next operation is let through.
    next_operation_ns: u64,
    line_free_ns: u64,
    times: BusyTimes,
}

impl Network {
    pub(super) fn new(model: &NetworkModel, seed: u64) -> Self {
        let ratio = model.round_trip_p99_ns as f64 / (model.round_trip_ns as f64).max(1.0);
        Self {
            model: model.clone(),
            seed,
            spread: ratio.max(1.0).ln() / P99_DEVIATIONS,
            requests: 0,
            next_operation_ns: 0,
            line_free_ns: 0,
            times: BusyTimes::default(),
        }
    }

    /// The round trip of the next request, which follows from the seed and its number.
    fn round_trip_ns(&mut self) -> u64 {
        let chance = unit(draw(self.seed, Stream::Disk, self.requests));
        self.requests += 1;
        self.round_trip_at(chance)
    }

    /// The time that this share of the round trips stay below.
    fn round_trip_at(&self, share: f64) -> u64 {
        let deviations = normal_quantile(share.max(f64::EPSILON));
        let ns = self.model.round_trip_ns as f64 * (self.spread * deviations).exp();
        (ns as u64).min(NS_MAX)
    }
}

impl Mechanism for Network {
    fn submit(&mut self, now_ns: u64, request: DiskRequest, done: &mut Answers) {
        let round_trip_ns = self.round_trip_ns();
        let moves = matches!(request.kind, DiskRequestKind::Read | DiskRequestKind::Write);
        if !moves {
            done.add(request.ticket, now_ns, now_ns + round_trip_ns);
            return;
        }
        let begun_ns = now_ns.max(self.next_operation_ns);
        self.next_operation_ns = begun_ns + 1_000_000_000 / self.model.operations_per_second;
        let transfer_ns = transfer_ns(request.bytes, self.model.bandwidth);
        let begun_ns = self.line_free_ns.max(begun_ns);
        self.line_free_ns = begun_ns.saturating_add(transfer_ns);
        self.times.transfer_ns = self.times.transfer_ns.saturating_add(transfer_ns);
        done.add(request.ticket, begun_ns, self.line_free_ns.saturating_add(round_trip_ns));
    }

    fn times(&self) -> BusyTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::DiskSimulator;
    use super::*;
    use boatload_plan::disk::{DiskMechanism, DiskModel};

    fn disk(round_trip_p99_ns: u64) -> DiskSimulator {
        let mechanism = DiskMechanism::Network(NetworkModel {
            round_trip_ns: 1_000_000,
            round_trip_p99_ns,
            // 100 us for 4 KiB.
            bandwidth: 40_960_000,
            operations_per_second: 1_000,
        });
        DiskSimulator::new(&DiskModel::of(mechanism), 1)
    }

    fn request(ticket: u64, kind: DiskRequestKind) -> DiskRequest {
        DiskRequest { ticket, kind, offset: 0, bytes: 4_096 }
    }

    #[test]
    fn operations_are_let_through_at_their_rate_and_take_bytes_and_a_round_trip() {
        let (mut disk, mut all) = (disk(1_000_000), Vec::new());
        disk.submit(0, request(0, DiskRequestKind::Read));
        disk.submit(0, request(1, DiskRequestKind::Write));
        disk.submit(0, request(2, DiskRequestKind::Flush));
        disk.advance(u64::MAX / 8, &mut all);
        let due: Vec<_> = all.iter().map(|one| (one.ticket, one.due_ns / 1_000)).collect();
        assert_eq!(due, [(2, 1_000), (0, 1_100), (1, 2_100)]);
    }

    #[test]
    fn round_trips_are_spread_as_the_model_says_and_follow_from_the_seed() {
        let times = || {
            let (mut disk, mut all) = (disk(4_000_000), Vec::new());
            for i in 0..20_000 {
                disk.submit(i * 10_000_000, request(i, DiskRequestKind::Flush));
            }
            disk.advance(u64::MAX / 8, &mut all);
            let mut times: Vec<u64> = all.iter().map(|one| one.service_ns).collect();
            times.sort_unstable();
            times
        };
        let sorted = times();
        let near = |found: u64, expected: f64| (found as f64 / expected - 1.0).abs() < 0.05;
        assert!(near(sorted[10_000], 1e6), "{}", sorted[10_000]);
        assert!(near(sorted[19_800], 4e6), "{}", sorted[19_800]);
        assert_eq!(times(), sorted);
    }

    #[test]
    fn the_longest_round_trip_of_the_widest_spread_is_bounded() {
        let widest = NetworkModel {
            round_trip_ns: 1_000,
            round_trip_p99_ns: 10_000_000_000,
            bandwidth: 1_000,
            operations_per_second: 1,
        };
        let network = Network::new(&widest, 1);
        assert_eq!(network.round_trip_at(1.0 - f64::EPSILON), NS_MAX);
        assert_eq!(network.round_trip_at(0.0), 0);
    }
}
