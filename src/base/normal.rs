//! Computes quantiles of the normal distribution.

/// The value below which a standard normal number lies with the chance `chance`, to 16 digits (Wichura,
/// "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37, 1988).
pub fn normal_quantile(chance: f64) -> f64 {
    if chance <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if chance >= 1.0 {
        return f64::INFINITY;
    }
    let middle = chance - 0.5;
    if middle.abs() <= 0.425 {
        return middle * NEAR.at(0.180_625 - middle * middle);
    }
    let far = (-chance.min(1.0 - chance).ln()).sqrt();
    let size = if far <= 5.0 { FAR.at(far - 1.6) } else { FARTHEST.at(far - 5.0) };
    size.copysign(middle)
}

/// The chance of a standard normal number below `value`: what [`normal_quantile`] takes to it.
pub fn normal_chance(value: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if normal_quantile(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// A polynomial over a polynomial, coefficients from the constant on.
struct RationalFunction {
    above: [f64; 8],
    below: [f64; 8],
}

impl RationalFunction {
    fn at(&self, x: f64) -> f64 {
        let [above, below] = [&self.above, &self.below]
            .map(|all| all.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient));
        above / below
    }
}

const NEAR: RationalFunction = RationalFunction {
    above: [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    below: [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
};

const FAR: RationalFunction = RationalFunction {
    above: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        0.000_774_545_014_278_341_4,
    ],
    below: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        0.000_547_593_808_499_534_5,
        1.050_750_071_644_416_9e-9,
    ],
};

const FARTHEST: RationalFunction = RationalFunction {
    above: [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    below: [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        0.000_786_869_131_145_613_3,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_7e-15,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Python: `statistics.NormalDist().inv_cdf(p)`; `scipy.stats.norm.ppf` gives the same.
    const QUANTILES: [(f64, f64); 6] = [
        (1e-12, -7.034_483_825_301_132),
        (0.001, -3.090_232_306_167_813),
        (0.05, -1.644_853_626_951_472_6),
        (0.3, -0.524_400_512_708_040_7),
        (0.8, 0.841_621_233_572_914_4),
        (0.999_9, 3.719_016_485_455_708_4),
    ];

    #[test]
    fn quantiles_are_those_of_scipy_and_lead_back_to_their_chances() {
        for (chance, expected) in QUANTILES {
            let found = normal_quantile(chance);
            assert!((found - expected).abs() < 1e-12, "{chance}: {found}, {expected}");
            assert!((normal_chance(found) / chance - 1.0).abs() < 1e-9, "{chance}");
        }
        assert!(normal_quantile(0.0) == f64::NEG_INFINITY && normal_quantile(1.0) == f64::INFINITY);
        assert!(normal_chance(f64::NEG_INFINITY) < 1e-30 && normal_chance(f64::INFINITY) == 1.0);
    }
}
