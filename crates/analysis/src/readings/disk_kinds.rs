//! Which kind of disk a directory is like: its cold reads of small files beside those on each built-in disk model.
//!
//! The figures are kept in `reference/disk-kinds.csv`: one quick run of `smallfiles` on ext4 for each model. The distance from
//! a kind is the root mean square of the logarithms of the ratios of rates, over the phases that read with proven cold caches.
//! A directory is like each kind within a distance of a factor of 1.5, the nearest first. Where there is none, it lies
//! between two kinds by the mean of the logarithms, or beyond all.

use crate::statistics::describe::mean;
use boatload_base::distinct::each_once;
use boatload_base::units::{byte_step, figures};
use boatload_plan::disk::{BUILT_IN_DISKS, find_disk};

const KEPT: &str = include_str!("../../reference/disk-kinds.csv");

/// As a factor, the distance up to which a directory is like a kind of disk.
const LIKE_MAX: f64 = 1.5;

/// The rates of a phase on a kind of disk, of all its repeats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KindRates {
    pub kind: String,
    pub phase: String,
    /// Operations a second, one for each repeat.
    pub rates: Vec<f64>,
}

impl KindRates {
    fn log(&self) -> f64 {
        mean(&self.rates.iter().map(|rate| rate.ln()).collect::<Vec<_>>())
    }
}

/// What a directory is like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Likeness {
    /// These, the nearest first.
    Like(Vec<String>),
    Between(String, String),
    /// Faster than all, the fastest of which this is.
    Faster(String),
    /// Slower than all, the slowest of which this is.
    Slower(String),
}

/// All that is kept.
pub(crate) fn kept() -> Vec<KindRates> {
    let mut all: Vec<KindRates> = Vec::new();
    for line in KEPT.lines().skip(1) {
        let [kind, phase, _, rate] = line.split(',').collect::<Vec<_>>()[..] else { continue };
        let Ok(rate) = rate.parse() else { continue };
        match all.iter_mut().find(|one| one.kind == kind && one.phase == phase) {
            Some(one) => one.rates.push(rate),
            None => {
                all.push(KindRates { kind: kind.into(), phase: phase.into(), rates: vec![rate] })
            }
        }
    }
    all
}

/// What these rates are like, each of a phase; none where no phase was measured on any kind.
pub(crate) fn likeness(own: &[(&str, f64)], kept: &[KindRates]) -> Option<Likeness> {
    let kinds = each_once(kept.iter().map(|one| one.kind.as_str()));
    // How many times as fast, as a logarithm, in each phase.
    let apart = |kind: &str| -> Vec<f64> {
        let of_phase = |phase: &str| kept.iter().find(|one| one.kind == kind && one.phase == phase);
        own.iter().filter_map(|(phase, rate)| Some(rate.ln() - of_phase(phase)?.log())).collect()
    };
    let mut known: Vec<(&str, Vec<f64>)> =
        kinds.into_iter().map(|kind| (kind, apart(kind))).collect();
    known.retain(|(_, apart)| !apart.is_empty() && apart.iter().all(|log| log.is_finite()));
    // From the slowest kind on.
    known.sort_by(|a, b| mean(&b.1).total_cmp(&mean(&a.1)));
    let distance =
        |apart: &[f64]| mean(&apart.iter().map(|log| log * log).collect::<Vec<_>>()).sqrt();
    let mut near: Vec<&(&str, Vec<f64>)> =
        known.iter().filter(|(_, apart)| distance(apart) <= LIKE_MAX.ln()).collect();
    near.sort_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    if !near.is_empty() {
        return Some(Likeness::Like(near.into_iter().map(|one| one.0.into()).collect()));
    }
    let slower = known.iter().rfind(|(_, apart)| mean(apart) > 0.0).map(|one| one.0.to_string());
    let faster = known.iter().find(|(_, apart)| mean(apart) <= 0.0).map(|one| one.0.to_string());
    Some(match (slower, faster) {
        (Some(slower), Some(faster)) => Likeness::Between(slower, faster),
        (Some(slower), None) => Likeness::Faster(slower),
        (None, Some(faster)) => Likeness::Slower(faster),
        (None, None) => return None,
    })
}

/// Between which kinds of disk a rate of sequential reads lies, in bytes a second, by their data sheets:
/// `faster than a SATA SSD (515 MiB/s) and slower than an NVMe SSD (3.26 GiB/s)`.
pub(crate) fn beside_data_sheets(rates: [f64; 2]) -> String {
    let rate = |name: &str| Some(find_disk(name)?.expected?.sequential_read as f64);
    let known = BUILT_IN_DISKS.iter().filter_map(|disk| Some((disk.name, rate(disk.name)?)));
    let mut known: Vec<(&str, f64)> = known.collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let named = |(name, rate): &(&str, f64)| {
        let (step, unit) = byte_step(*rate);
        format!("{} ({} {unit}/s)", in_words(name), figures(rate / step, 3))
    };
    let slower = known.iter().rfind(|one| one.1 < rates[0]);
    let faster = known.iter().find(|one| one.1 > rates[1]);
    let slower = slower.map(|one| format!("faster than {}", named(one)));
    let faster = faster.map(|one| format!("slower than {}", named(one)));
    slower.into_iter().chain(faster).collect::<Vec<_>>().join(" and ")
}

/// `a SATA SSD`
pub(crate) fn in_words(kind: &str) -> String {
    match kind {
        "hdd-7200" => "a hard disk of 7,200 rpm".into(),
        "hdd-5400" => "a hard disk of 5,400 rpm".into(),
        "sata-ssd" => "a SATA SSD".into(),
        "nvme" => "an NVMe SSD".into(),
        "network-block" => "a network disk".into(),
        "ram" => "a disk in memory".into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, sequential: f64, random: f64) -> [KindRates; 2] {
        [("read-sequential", sequential), ("read-random", random)].map(|(phase, rate)| KindRates {
            kind: kind.into(),
            phase: phase.into(),
            rates: vec![0.9 * rate, rate / 0.9],
        })
    }

    fn like(sequential: f64, random: f64) -> Option<Likeness> {
        let kept = [of("disk", 1_000.0, 200.0), of("ssd", 10_000.0, 8_000.0)].concat();
        likeness(&[("read-sequential", sequential), ("read-random", random), ("x", 1.0)], &kept)
    }

    #[test]
    fn a_directory_is_like_the_kind_within_a_factor_of_one_and_a_half() {
        let is = |kind: &str| Some(Likeness::Like(vec![kind.into()]));
        assert_eq!(like(1_000.0, 200.0), is("disk"));
        assert_eq!(like(1_490.0, 134.5), is("disk"));
        assert_eq!(like(10_000.0 * 1.49, 8_000.0 * 1.49), is("ssd"));
        assert_eq!(like(10_000.0 * 1.51, 8_000.0 * 1.51), Some(Likeness::Faster("ssd".into())));
        let between = Likeness::Between("disk".into(), "ssd".into());
        assert_eq!(like(3_000.0, 1_500.0), Some(between));
        assert_eq!(like(500.0, 100.0), Some(Likeness::Slower("disk".into())));
    }

    #[test]
    fn a_sequential_rate_lies_between_two_kinds_by_their_data_sheets() {
        let between = "faster than a SATA SSD (515 MiB/s) and slower than an NVMe SSD (3.26 GiB/s)";
        assert_eq!(beside_data_sheets([6e8, 7e8]), between);
        assert!(beside_data_sheets([1e6, 2e6]).starts_with("slower than a "));
        assert!(beside_data_sheets([1e12, 2e12]).starts_with("faster than a"));
    }

    #[test]
    fn without_a_phase_in_common_a_directory_is_like_nothing() {
        assert_eq!(likeness(&[("write", 1.0)], &of("disk", 1.0, 1.0)), None);
        assert_eq!(likeness(&[], &[]), None);
    }

    #[test]
    fn each_kept_kind_is_a_built_in_model_and_like_itself() {
        let kept = kept();
        let kinds = each_once(kept.iter().map(|one| one.kind.as_str()));
        assert!(kinds.len() >= 2, "{kinds:?}");
        for kind in kinds {
            assert!(BUILT_IN_DISKS.iter().any(|disk| disk.name == kind), "{kind}");
            let own = kept.iter().filter(|one| one.kind == kind && one.phase.starts_with("read"));
            let own: Vec<(&str, f64)> =
                own.map(|one| (one.phase.as_str(), one.log().exp())).collect();
            let Some(Likeness::Like(like)) = likeness(&own, &kept) else { panic!("{kind}") };
            assert_eq!(like[0], kind);
        }
    }
}
