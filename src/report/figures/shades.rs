//! Colours for how much, and from where to where they go: light for little, dark for much, which
//! every eye and every printer orders. Every rendering has the same.

use super::{Axis, Figure, Scale};

/// "YlGnBu" of ColorBrewer (Brewer and Harrower, <https://colorbrewer2.org>), without its lightest,
/// which is lost on white.
pub(crate) const HEAT: [[u8; 3]; 8] = [
    [0xed, 0xf8, 0xb1],
    [0xc7, 0xe9, 0xb4],
    [0x7f, 0xcd, 0xbb],
    [0x41, 0xb6, 0xc4],
    [0x1d, 0x91, 0xc0],
    [0x22, 0x5e, 0xa8],
    [0x25, 0x34, 0x94],
    [0x08, 0x1d, 0x58],
];

/// The colour at a share of the scale, from 0 to 1, as `#rrggbb`.
pub(crate) fn heat(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let at = (place as usize).min(HEAT.len() - 2);
    let part = place - at as f64;
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8
    };
    let (from, to) = (HEAT[at], HEAT[at + 1]);
    let [r, g, b] = [0, 1, 2].map(|part| mix(from[part], to[part]));
    format!("#{r:02x}{g:02x}{b:02x}")
}

impl Figure {
    /// The axis of the colours and its ends; none if nothing has a colour.
    pub(crate) fn shades(&self) -> Option<(&Axis, [f64; 2])> {
        let axis = self.shade.as_ref()?;
        let points = self.series.iter().flat_map(|series| &series.points);
        let found = points.filter_map(|point| point.shade).filter(|shade| axis.has(*shade));
        let ends = found.fold(None, |ends: Option<[f64; 2]>, shade| {
            let [low, high] = ends.unwrap_or([shade; 2]);
            Some([low.min(shade), high.max(shade)])
        });
        let [low, high] = ends?;
        let low = if axis.scale == Scale::Linear && low > 0.0 { 0.0 } else { low };
        Some((axis, axis.widened(low, high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_darker_all_the_way() {
        let sum = |share: f64| {
            let colour = u32::from_str_radix(&heat(share)[1..], 16).unwrap();
            colour.to_be_bytes().iter().map(|part| u32::from(*part)).sum::<u32>()
        };
        let sums: Vec<u32> = (0..=100).map(|share| sum(f64::from(share) / 100.0)).collect();
        assert!(sums.windows(2).all(|two| two[0] >= two[1]), "{sums:?}");
        assert_eq!((heat(-1.0), heat(2.0)), ("#edf8b1".into(), "#081d58".into()));
    }
}
