//! Defines the colours of series, which every reader can tell apart, and those of the heat map.

/// A colour on a light and on a dark ground, as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour {
    /// On white; at least 3 to 1 against it (WCAG 2.2, 1.4.11).
    pub(crate) light: &'static str,
    /// On a dark ground, with as much contrast.
    pub(crate) dark: &'static str,
}

/// After Okabe and Ito, "Color Universal Design" (2008), darkened for white and lightened for black.
pub(crate) const COLOURS: [Colour; 8] = [
    Colour { light: "#0072b2", dark: "#56b4e9" },
    Colour { light: "#c44e00", dark: "#ff9a4d" },
    Colour { light: "#00805d", dark: "#2ed1a2" },
    Colour { light: "#b03a82", dark: "#e79ac6" },
    Colour { light: "#8a6d00", dark: "#f0d43a" },
    Colour { light: "#5a4fcf", dark: "#a9a1ff" },
    Colour { light: "#3f3f3f", dark: "#d6d6d6" },
    Colour { light: "#0b8a9e", dark: "#6fe3f2" },
];

/// The colour of the series with this number, from 0; they repeat after the last.
pub(crate) fn colour(number: usize) -> Colour {
    COLOURS[number % COLOURS.len()]
}

/// How often all colours were used before this number: series of one colour differ by it.
pub(super) fn lap(number: usize) -> usize {
    number / COLOURS.len()
}

/// "YlGnBu" of ColorBrewer (Brewer and Harrower, <https://colorbrewer2.org>), without its lightest,
/// which is lost on white: light for little and dark for much, in print and to every eye.
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

/// The colour at a share of the heat map's scale, from 0 to 1, as `#rrggbb`.
pub(crate) fn heat(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let at = (place as usize).min(HEAT.len() - 2);
    let (from, to, part) = (HEAT[at], HEAT[at + 1], place - at as f64);
    let [r, g, b] = [0, 1, 2].map(|channel| {
        let [from, to] = [from[channel], to[channel]].map(f64::from);
        (from + (to - from) * part).round() as u8
    });
    format!("#{r:02x}{g:02x}{b:02x}")
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
