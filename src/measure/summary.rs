//! A run in one row for each phase: what reports print. Every figure carries its n and its
//! interval; invalid measurements stand apart and are never averaged in.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::book::{Level, Measurement, ResultBook};

/// A run by variant and level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// By the variant's name; levels as they were measured.
    pub groups: Vec<Group>,
}

/// One variant at one level, over all its repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// One for each phase, in the order they were measured.
    pub rows: Vec<Row>,
}

/// One phase over all its repeats and passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The phase's name.
    pub phase: String,
    /// Operations per second without the sync; none without a valid measurement.
    pub rate: Option<Estimate>,
    /// Bytes of content per second without the sync, where each operation of this phase moves
    /// [`MUCH_BYTES`] or more in all groups; else none.
    pub byte_rate: Option<Estimate>,
    /// Mean duration without the sync, in seconds; none without a valid measurement.
    pub seconds: Option<f64>,
    /// Mean duration of the sync, in seconds; none if nothing was synced.
    pub sync_seconds: Option<f64>,
    /// Latencies of all operations of the valid measurements; none if there are none.
    pub tail: Option<Tail>,
    /// What was found of the caches: one word if all valid measurements agree, else `mixed`.
    pub cache: String,
    /// The measurements that are not averaged in.
    pub invalid: Vec<Invalid>,
}

/// A measurement that is not averaged in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invalid {
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Its pass, from 1.
    pub pass: u32,
    /// Why.
    pub reasons: Vec<String>,
}

/// A mean with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95% confidence interval; none if the error is unknown.
    pub half_width: Option<f64>,
    /// How many values were averaged.
    pub n: u32,
    /// Where those values and the interval come from.
    pub basis: Basis,
    /// Significant figures that the interval allows.
    pub figures: u32,
}

/// What an interval tells about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The spread between repeats, each the mean of its passes.
    Repeats,
    /// The spread between the passes of the only valid repeat.
    Passes,
    /// The spread between slices of the only valid measurement.
    Slices,
}

/// Latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Half are shorter; none if the histograms of several measurements cannot be added.
    pub p50_ns: Option<u64>,
    /// 99 in 100 are shorter; none if the histograms of several measurements cannot be added.
    pub p99_ns: Option<u64>,
    /// The longest that occurred.
    pub max_ns: u64,
}

impl Estimate {
    /// The mean of `values` with the interval of Student's t; of a single value with the interval
    /// that its own relative standard error gives. None for no values or values that are no
    /// numbers.
    pub fn of(values: &[f64], relative_error: Option<f64>, basis: Basis) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half_width = match values {
            [_] => relative_error.map(|error| NORMAL_975 * error * mean),
            _ => {
                let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                let deviation = (squares / (n - 1.0)).sqrt();
                Some(student_t_975(values.len().saturating_sub(1) as u32) * deviation / n.sqrt())
            }
        };
        let half_width = half_width.filter(|half| half.is_finite() && *half >= 0.0);
        let figures = figures_allowed(mean, half_width);
        let estimate = Self { mean, half_width, n: values.len() as u32, basis, figures };
        mean.is_finite().then_some(estimate)
    }

    /// Half the width of the interval as a share of the mean; none if unknown.
    pub fn relative(&self) -> Option<f64> {
        self.half_width.filter(|_| self.mean > 0.0).map(|half| half / self.mean)
    }
}

/// No interval is so narrow that more figures of a rate would mean anything.
const MOST_FIGURES: i32 = 5;
/// Figures for a mean whose error is unknown.
const FIGURES_WITHOUT_ERROR: u32 = 2;

/// Figures down to the second one of the uncertainty, as the GUM rounds (JCGM 100:2008, 7.2.6).
fn figures_allowed(mean: f64, half_width: Option<f64>) -> u32 {
    let order = |value: f64| value.abs().log10().floor() as i32;
    match half_width {
        None => FIGURES_WITHOUT_ERROR,
        Some(_) if mean == 0.0 => 1,
        Some(0.0) => MOST_FIGURES as u32,
        Some(half) => (order(mean) - order(half) + 2).clamp(1, MOST_FIGURES) as u32,
    }
}

/// The 97.5% quantile of the normal distribution.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// The 97.5% quantile of Student's t distribution, which a two-sided 95% interval needs. Up to 30
/// degrees of freedom from the table in the NIST/SEMATECH e-Handbook, 1.3.6.7.2; beyond that the
/// expansion of Abramowitz and Stegun, 26.7.5, right to all three decimals there.
pub fn student_t_975(degrees: u32) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    let z = NORMAL_975;
    let n = f64::from(degrees);
    match degrees {
        0 => f64::NAN,
        1..=30 => TABLE[degrees as usize - 1],
        _ => {
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            z + first / n + second / (n * n)
        }
    }
}

/// From this much content in each operation on, bytes tell more than operations.
pub const MUCH_BYTES: u64 = 1 << 20;

/// A run in rows.
pub fn summarize(book: &ResultBook) -> Summary {
    let mut groups: Vec<(Group, Vec<&Measurement>)> = Vec::new();
    for measurement in &book.measurements {
        let cell = &measurement.cell;
        let same = |g: &Group| g.variant == cell.variant && g.level == cell.level;
        match groups.iter_mut().find(|(group, _)| same(group)) {
            Some((_, members)) => members.push(measurement),
            None => {
                let (variant, level) = (cell.variant.clone(), cell.level.clone());
                groups.push((Group { variant, level, rows: vec![] }, vec![measurement]));
            }
        }
    }
    // Variants were measured in a random order; levels went up.
    groups.sort_by(|(a, _), (b, _)| a.variant.cmp(&b.variant));
    let filled = groups.into_iter().map(|(group, m)| Group { rows: rows(&m), ..group });
    let mut groups: Vec<Group> = filled.collect();
    keep_alike(&mut groups);
    Summary { groups }
}

/// A phase has the same unit in all groups, so that its rates can be told against each other.
fn keep_alike(groups: &mut [Group]) {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let small = rows.filter(|row| row.rate.is_some() && row.byte_rate.is_none());
    let phases: Vec<String> = small.map(|row| row.phase.clone()).collect();
    for row in groups.iter_mut().flat_map(|group| &mut group.rows) {
        row.byte_rate = row.byte_rate.filter(|_| !phases.contains(&row.phase));
    }
}

fn rows(measurements: &[&Measurement]) -> Vec<Row> {
    let mut phases: Vec<&str> = Vec::new();
    for measurement in measurements {
        if !phases.contains(&measurement.phase.as_str()) {
            phases.push(&measurement.phase);
        }
    }
    let of = |phase: &str| measurements.iter().filter(|m| m.phase == phase).copied().collect();
    phases.into_iter().map(|phase| row(phase, of(phase))).collect()
}

fn row(phase: &str, measurements: Vec<&Measurement>) -> Row {
    let (valid, invalid): (Vec<_>, Vec<_>) = measurements.into_iter().partition(|m| m.valid());
    let reasons = |m: &Measurement| Invalid {
        repeat: m.cell.repeat,
        pass: m.pass,
        reasons: m.invalid.clone(),
    };
    Row {
        phase: phase.into(),
        rate: rate(&valid, Measurement::operations_per_second),
        byte_rate: rate(&valid, bytes_per_second).filter(|_| valid.iter().all(|m| moves_much(m))),
        seconds: mean(valid.iter().map(|m| m.seconds)),
        sync_seconds: mean(valid.iter().map(|m| m.sync_seconds)).filter(|seconds| *seconds > 0.0),
        tail: tail(&valid),
        cache: cache(&valid),
        invalid: invalid.into_iter().map(reasons).collect(),
    }
}

/// Passes of one repeat share its tree and its drift, so repeats are what is independent; passes
/// and slices stand in for them where there is only one.
/// None without a measurement whose time is known.
fn rate(valid: &[&Measurement], of: fn(&Measurement) -> f64) -> Option<Estimate> {
    let valid: Vec<_> = valid.iter().filter(|m| !m.seconds.is_nan()).collect();
    let mut repeats: Vec<u32> = valid.iter().map(|m| m.cell.repeat).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let rates = |repeat: u32| {
        let of_repeat = valid.iter().filter(move |m| m.cell.repeat == repeat);
        of_repeat.map(|m| of(m))
    };
    match (repeats.as_slice(), valid.as_slice()) {
        (_, [only]) => Estimate::of(&[of(only)], only.rate_error, Basis::Slices),
        ([only], _) => Estimate::of(&rates(*only).collect::<Vec<_>>(), None, Basis::Passes),
        (repeats, _) => {
            let means: Vec<f64> = repeats.iter().filter_map(|r| mean(rates(*r))).collect();
            Estimate::of(&means, None, Basis::Repeats)
        }
    }
}

fn bytes_per_second(m: &Measurement) -> f64 {
    if m.seconds > 0.0 { m.bytes as f64 / m.seconds } else { 0.0 }
}

fn moves_much(m: &Measurement) -> bool {
    m.operations > 0 && m.bytes / m.operations >= MUCH_BYTES
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    Some(sum / f64::from(n)).filter(|mean| mean.is_finite())
}

fn tail(valid: &[&Measurement]) -> Option<Tail> {
    let measured: Vec<_> = valid.iter().filter(|m| m.operations > 0 && has_latencies(m)).collect();
    // A histogram rounds; the longest of each measurement was kept exactly.
    let max_ns = measured.iter().map(|m| m.latency.max).max()?;
    if let [only] = measured.as_slice() {
        let at = |quantile: u64| Some(quantile.min(max_ns));
        let (p50_ns, p99_ns) = (at(only.latency.p50), at(only.latency.p99));
        return Some(Tail { p50_ns, p99_ns, max_ns });
    }
    let merged = merge(measured.iter().map(|m| m.histogram.as_slice()));
    let at = |share| merged.as_ref().map(|all| all.value_at_quantile(share).min(max_ns));
    Some(Tail { p50_ns: at(0.5), p99_ns: at(0.99), max_ns })
}

/// Whether any latency is known: published figures mostly have none.
fn has_latencies(m: &Measurement) -> bool {
    m.latency.max > 0 || !m.histogram.is_empty()
}

/// All latencies together; none if one of the histograms cannot be read, for quantiles of only a
/// part would pass for those of the whole.
fn merge<'a>(encoded: impl Iterator<Item = &'a [u8]>) -> Option<Histogram<u64>> {
    let mut reader = Deserializer::new();
    let mut all: Option<Histogram<u64>> = None;
    for mut bytes in encoded {
        let one: Histogram<u64> = reader.deserialize(&mut bytes).ok()?;
        match &mut all {
            None => {
                all = Some(one);
            }
            Some(all) => {
                all.auto(true);
                all.add(one).ok()?;
            }
        }
    }
    all.filter(|all| !all.is_empty())
}

fn cache(valid: &[&Measurement]) -> String {
    let Some(first) = valid.first() else {
        return String::new();
    };
    let agree = valid.iter().all(|m| m.cache.found == first.cache.found);
    if agree { first.cache.found.clone() } else { "mixed".into() }
}

#[cfg(test)]
mod tests;
