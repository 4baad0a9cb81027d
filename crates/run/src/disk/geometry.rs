//! Computes where the sectors of a hard disk are: on which cylinder, under which head, at which angle. An
//! angle is told as the time, from the begin of a turn, at which it passes under the heads.

use boatload_plan::disk::HardDiskModel;

pub(super) const SECTOR_BYTES: u64 = 512;

/// Tracks, sectors and turns of a disk.
#[derive(Debug)]
pub(super) struct Geometry {
    zones: Vec<DiskZone>,
    heads: u64,
    sectors: u64,
    turn_ns: u64,
    head_skew_ns: u64,
    cylinder_skew_ns: u64,
    seek: SeekCurve,
}

#[derive(Debug)]
struct DiskZone {
    first_sector: u64,
    first_cylinder: u64,
    sectors_per_track: u64,
}

/// A sector's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectorPosition {
    pub(super) cylinder: u64,
    pub(super) head: u64,
    /// Its number on the track.
    on_track: u64,
    sectors_per_track: u64,
}

/// Time of a seek by its distance: with its square root up to a third of the cylinders, evenly from there
/// on (Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994).
#[derive(Debug)]
struct SeekCurve {
    third: f64,
    short_constant: f64,
    short_root: f64,
    long_constant: f64,
    long_slope: f64,
}

impl SeekCurve {
    fn new(model: &HardDiskModel, cylinders: u64) -> Self {
        let [first, average, full] =
            [model.track_to_track_ns, model.average_seek_ns, model.full_seek_ns]
                .map(|ns| ns as f64);
        let farthest = cylinders.saturating_sub(1) as f64;
        let third = cylinders as f64 / 3.0;
        let root = third.sqrt() - 1.0;
        let short_root = if root > 0.0 { (average - first) / root } else { 0.0 };
        let rest = farthest - third;
        let long_slope = if rest > 0.0 { (full - average) / rest } else { 0.0 };
        Self {
            third,
            short_constant: first - short_root,
            short_root,
            long_constant: average - long_slope * third,
            long_slope,
        }
    }

    fn ns(&self, distance: u64) -> u64 {
        let distance = distance as f64;
        if distance <= self.third {
            (self.short_constant + self.short_root * distance.sqrt()) as u64
        } else {
            (self.long_constant + self.long_slope * distance) as u64
        }
    }
}

impl Geometry {
    pub(super) fn new(model: &HardDiskModel) -> Self {
        let sectors = (model.capacity / SECTOR_BYTES).max(1);
        let cylinder_of_each: u64 = model.sectors_per_track.iter().map(|n| n * model.heads).sum();
        let cylinders_each = sectors.div_ceil(cylinder_of_each.max(1)).max(1);
        let mut zones = Vec::with_capacity(model.sectors_per_track.len());
        let (mut first_sector, mut first_cylinder) = (0, 0);
        for sectors_per_track in model.sectors_per_track.iter().copied() {
            zones.push(DiskZone { first_sector, first_cylinder, sectors_per_track });
            first_sector += cylinders_each * model.heads * sectors_per_track;
            first_cylinder += cylinders_each;
        }
        Self {
            zones,
            heads: model.heads,
            sectors,
            turn_ns: model.turn_ns,
            // Just long enough that a write that continues from track to track loses no turn.
            head_skew_ns: model.head_switch_ns + model.write_settle_ns,
            cylinder_skew_ns: model.track_to_track_ns + model.write_settle_ns,
            seek: SeekCurve::new(model, first_cylinder),
        }
    }

    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    pub(super) fn place(&self, sector: u64) -> SectorPosition {
        let after = self.zones.partition_point(|zone| zone.first_sector <= sector);
        let zone = &self.zones[after - 1];
        let (inside, sectors_per_track) = (sector - zone.first_sector, zone.sectors_per_track);
        let (track, on_track) = (inside / sectors_per_track, inside % sectors_per_track);
        let cylinder = zone.first_cylinder + track / self.heads;
        SectorPosition { cylinder, head: track % self.heads, on_track, sectors_per_track }
    }

    /// The time in a turn at which the first byte of a sector passes under its head.
    pub(super) fn angle_ns(&self, place: &SectorPosition) -> u64 {
        let by_cylinder = (self.heads - 1) * self.head_skew_ns + self.cylinder_skew_ns;
        // Taken by parts of a turn, so that no number of cylinders is too many.
        let turned_ns = (place.cylinder % self.turn_ns) * (by_cylinder % self.turn_ns);
        let skew_ns = turned_ns + place.head * self.head_skew_ns;
        (skew_ns + self.on_track_ns(place.on_track, place)) % self.turn_ns
    }

    /// From the begin of a track to the begin of one of its sectors.
    fn on_track_ns(&self, sector: u64, place: &SectorPosition) -> u64 {
        sector * self.turn_ns / place.sectors_per_track
    }

    /// From a moment to the next at which an angle passes.
    pub(super) fn wait_ns(&self, from_ns: u64, angle_ns: u64) -> u64 {
        (angle_ns + self.turn_ns - from_ns % self.turn_ns) % self.turn_ns
    }

    /// Time of a seek over so many cylinders, at least one.
    pub(super) fn seek_ns(&self, distance: u64) -> u64 {
        self.seek.ns(distance)
    }

    /// Time to move all sectors from one to before another under the heads, without a stop.
    pub(super) fn transfer_ns(&self, from: u64, to: u64) -> u64 {
        let (mut at, mut ns) = (from, 0);
        while at < to {
            let run = self.run(at, to);
            ns += run.ns + if run.end < to { run.skew_ns } else { 0 };
            at = run.end;
        }
        ns
    }

    /// What of a range lies on the track where it begins.
    fn run(&self, from: u64, to: u64) -> TrackRun {
        let place = self.place(from);
        let count = (place.sectors_per_track - place.on_track).min(to - from);
        let ends = self.on_track_ns(place.on_track + count, &place);
        let ns = ends - self.on_track_ns(place.on_track, &place);
        let is_last = place.head + 1 == self.heads;
        let skew_ns = if is_last { self.cylinder_skew_ns } else { self.head_skew_ns };
        let track_ends = place.on_track + count == place.sectors_per_track;
        TrackRun { end: from + count, ns, skew_ns: if track_ends { skew_ns } else { 0 } }
    }

    /// How far a head that moves on from a sector gets in a time: to which sector, and what time it took.
    pub(super) fn reach(&self, from: u64, to: u64, mut ns: u64) -> Reach {
        let mut reached = Reach { sector: from, ns: 0 };
        while reached.sector < to {
            let run = self.run(reached.sector, to);
            if run.ns > ns {
                let place = self.place(reached.sector);
                let begin = self.on_track_ns(place.on_track, &place);
                let passed = (begin + ns) * place.sectors_per_track / self.turn_ns;
                let on_track = passed.max(place.on_track);
                reached.sector += on_track - place.on_track;
                reached.ns += self.on_track_ns(on_track, &place) - begin;
                break;
            }
            // The head may be changing to the next track: then it has read the one before.
            let spent = run.ns + if run.end < to { run.skew_ns } else { 0 };
            reached = Reach { sector: run.end, ns: reached.ns + spent };
            if spent >= ns {
                break;
            }
            ns -= spent;
        }
        reached
    }
}

struct TrackRun {
    end: u64,
    ns: u64,
    /// Time to the begin of the next track, if the track ends here.
    skew_ns: u64,
}

/// The sector that a head has reached, and the time. That time may lie ahead by the change of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) sector: u64,
    pub(super) ns: u64,
}

#[cfg(test)]
mod tests {
    use super::super::hard_disk::tests::model;
    use super::*;

    /// Two zones of ten cylinders with two heads, 100 and 50 sectors a track: 3,000 sectors.
    fn geometry() -> Geometry {
        Geometry::new(&model())
    }

    #[test]
    fn sectors_fill_track_after_track_and_zone_after_zone() {
        let geometry = geometry();
        let place = |sector| {
            let place = geometry.place(sector);
            [place.cylinder, place.head, place.on_track, place.sectors_per_track]
        };
        assert_eq!(place(0), [0, 0, 0, 100]);
        assert_eq!(place(199), [0, 1, 99, 100]);
        assert_eq!(place(200), [1, 0, 0, 100]);
        assert_eq!(place(2_000), [10, 0, 0, 50]);
        assert_eq!(place(2_999), [19, 1, 49, 50]);
    }

    #[test]
    fn tracks_are_skewed_by_the_time_to_come_to_them() {
        let geometry = geometry();
        let angle = |sector| geometry.angle_ns(&geometry.place(sector));
        // A turn of 10 ms: 100 us for each sector outside, 200 us inside.
        assert_eq!((angle(0), angle(1), angle(99)), (0, 100_000, 9_900_000));
        // Head switch 0.5 ms and 0.5 ms to settle; 1 ms and 0.5 ms to the next cylinder.
        assert_eq!((angle(100), angle(200)), (1_000_000, 2_500_000));
        assert_eq!(angle(2_001), 25_000_000 % 10_000_000 + 200_000);
        assert_eq!(
            (geometry.wait_ns(9_000_000, 1_000_000), geometry.wait_ns(5, 5)),
            (2_000_000, 0)
        );
    }

    #[test]
    fn seeks_pass_through_the_figures_of_the_model() {
        let seek = SeekCurve::new(&model(), 30_000);
        let near = |distance, ns: u64| seek.ns(distance).abs_diff(ns) < 1_000;
        assert!(near(1, 1_000_000), "{}", seek.ns(1));
        assert!(near(10_000, 8_000_000), "{}", seek.ns(10_000));
        assert!(near(29_999, 15_000_000), "{}", seek.ns(29_999));
        // A quarter of the distance takes half of what the root adds.
        assert!(near(2_500, 1_000_000 + 7_000_000 * 49 / 99), "{}", seek.ns(2_500));
    }

    #[test]
    fn a_transfer_over_tracks_takes_turns_and_skews() {
        let geometry = geometry();
        assert_eq!(geometry.transfer_ns(0, 8), 800_000);
        assert_eq!(geometry.transfer_ns(0, 100), 10_000_000, "the change of track comes after");
        assert_eq!(geometry.transfer_ns(0, 101), 11_100_000);
        assert_eq!(geometry.transfer_ns(150, 201), 5_000_000 + 1_500_000 + 100_000);
        let parts = geometry.transfer_ns(0, 1_234) + geometry.transfer_ns(1_234, 2_999);
        assert_eq!(parts, geometry.transfer_ns(0, 2_999), "parts take as long as the whole");
    }

    #[test]
    fn a_head_comes_as_far_as_the_transfer_of_the_same_sectors() {
        let geometry = geometry();
        for sector in [1, 50, 99, 101, 350, 2_110] {
            let ns = geometry.transfer_ns(0, sector);
            assert_eq!(geometry.reach(0, 3_000, ns), Reach { sector, ns }, "{sector}");
            assert!(geometry.reach(0, 3_000, ns - 1).sector < sector, "{sector}");
        }
        let over = geometry.reach(0, 3_000, 10_500_000);
        assert_eq!(over, Reach { sector: 100, ns: 11_000_000 }, "changing to the next track");
        assert_eq!(geometry.reach(0, 64, u64::MAX / 8), Reach { sector: 64, ns: 6_400_000 });
    }
}
