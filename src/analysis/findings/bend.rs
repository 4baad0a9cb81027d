//! Models of a series over levels: even ones, and those with a knee.

use super::fit::{StraightLine, mean};
use crate::base::random::{Stream, draw, shuffle};

/// Residuals below this mean nothing: a rate is not known better.
const RESOLUTION: f64 = 0.003;

/// Logarithms of seconds: one row for each repeat, one column for each level, every row around
/// zero.
pub(super) struct Grid {
    pub(super) levels: Vec<f64>,
    pub(super) rows: Vec<Vec<f64>>,
}

/// To the scale on which a model is straight, or back.
type ScaleFunction = fn(f64) -> f64;

/// What there is without a knee: the same everywhere, or an even change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Even {
    Flat,
    /// Straight in the logarithm of seconds.
    Exponential,
    /// Straight in seconds.
    Seconds,
    /// Straight in the rate.
    Rate,
}

/// Where a knee is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BendShape {
    /// Between the level of this number and the next, all at once.
    Step(usize),
    /// From here on, more with every bit.
    Hinge(f64),
}

/// A knee as it fits best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub(super) shape: BendShape,
    /// How much the logarithm rises from the knee to the last level.
    pub(super) rise: f64,
    /// Variance of the rise for points of variance one.
    pub(super) spread: f64,
    /// Squares of the level's means that are left.
    pub(super) squares: f64,
}

impl Even {
    const CHANGES: [Even; 3] = [Even::Exponential, Even::Seconds, Even::Rate];

    /// From the logarithm of seconds to where the model is straight, and back.
    fn scale(self) -> (ScaleFunction, ScaleFunction) {
        match self {
            Even::Flat | Even::Exponential => (|y| y, |y| y),
            Even::Seconds => (f64::exp, |y| y.max(1e-9).ln()),
            Even::Rate => (|y| (-y).exp(), |y| -y.max(1e-9).ln()),
        }
    }
}

impl Grid {
    /// Rows around zero.
    pub(super) fn new(levels: Vec<f64>, rows: Vec<Vec<f64>>) -> Self {
        let centred = |row: Vec<f64>| {
            let middle = mean(&row);
            row.into_iter().map(|value| value - middle).collect()
        };
        Self { levels, rows: rows.into_iter().map(centred).collect() }
    }

    pub(super) fn means(&self) -> Vec<f64> {
        let of = |at: usize| mean(&self.rows.iter().map(|row| row[at]).collect::<Vec<_>>());
        (0..self.levels.len()).map(of).collect()
    }

    pub(super) fn repeats(&self) -> f64 {
        self.rows.len() as f64
    }

    pub(super) fn points(&self) -> f64 {
        self.repeats() * self.levels.len() as f64
    }

    /// Squares around the means of levels: what no model of the levels can explain, and what the
    /// resolution leaves.
    pub(super) fn within(&self) -> f64 {
        let means = self.means();
        let of = |row: &Vec<f64>| -> f64 {
            row.iter().zip(&means).map(|(value, mean)| (value - mean).powi(2)).sum()
        };
        self.rows.iter().map(of).sum::<f64>() + self.points() * RESOLUTION * RESOLUTION
    }

    /// The even model that fits best; a change of any kind must be worth its parameter (BIC,
    /// Schwarz, Annals of Statistics 6, 1978). With its heights and the squares it leaves.
    pub(super) fn even(&self) -> (Even, Vec<f64>, f64) {
        let (means, within, n) = (self.means(), self.within(), self.points());
        let score = |(even, _, squares): &(Even, Vec<f64>, f64)| {
            let parameters = if *even == Even::Flat { 0.0 } else { n.ln() };
            n * (within + self.repeats() * squares).ln() + parameters
        };
        Even::CHANGES.into_iter().filter_map(|even| self.with(even, &means)).fold(
            self.flat(&means),
            |best, one| if score(&one) < score(&best) { one } else { best },
        )
    }

    /// The same everywhere.
    pub(super) fn flat(&self, means: &[f64]) -> (Even, Vec<f64>, f64) {
        let heights = vec![mean(means); means.len()];
        let left = squares(means, &heights);
        (Even::Flat, heights, left)
    }

    fn with(&self, even: Even, means: &[f64]) -> Option<(Even, Vec<f64>, f64)> {
        let (there, back) = even.scale();
        let points = self.levels.iter().zip(means).map(|(x, y)| (*x, there(*y), 1.0));
        let line = StraightLine::through(points)?;
        let heights: Vec<f64> = self.levels.iter().map(|x| back(line.at(*x))).collect();
        let left = squares(means, &heights);
        Some((even, heights, left))
    }

    /// All knees towards slower, hinges at so many places in each gap.
    pub(super) fn bends(&self, places: usize) -> Vec<Bend> {
        let means = self.means();
        let gaps = self.levels.len() - 1;
        let steps = (0..gaps).map(|gap| (BendShape::Step(gap), Even::Flat));
        // A hinge in the first gap is an even change, one in the last a step.
        let hinges = (1..gaps.saturating_sub(1)).flat_map(|gap| {
            let (low, high) = (self.levels[gap], self.levels[gap + 1]);
            (0..places).map(move |n| low + (high - low) * n as f64 / places as f64)
        });
        let hinges =
            hinges.flat_map(|from| Even::CHANGES.map(|change| (BendShape::Hinge(from), change)));
        steps.chain(hinges).filter_map(|(shape, change)| self.bend(shape, change, &means)).collect()
    }

    /// The knee of this shape; a hinge is straight on the scale of the change.
    fn bend(&self, shape: BendShape, change: Even, means: &[f64]) -> Option<Bend> {
        let (line, back) = self.line(shape, change, means)?;
        let rise = back(line.at(1.0)) - back(line.at(0.0));
        let height = |at: usize| back(line.at(self.basis(shape, at)));
        let squares = means.iter().enumerate().map(|(at, y)| (y - height(at)).powi(2)).sum();
        let spread = line.spread[2];
        (rise > 0.0).then_some(Bend { shape, rise, spread, squares })
    }

    /// A line through the means, and the way back from its scale.
    fn line(
        &self,
        shape: BendShape,
        change: Even,
        means: &[f64],
    ) -> Option<(StraightLine, ScaleFunction)> {
        let (there, back) = change.scale();
        let points = means.iter().enumerate();
        let points = points.map(|(at, y)| (self.basis(shape, at), there(*y), 1.0));
        Some((StraightLine::through(points)?, back))
    }

    /// 0 before a knee, 1 at the last level.
    fn basis(&self, shape: BendShape, at: usize) -> f64 {
        match shape {
            BendShape::Step(gap) => f64::from(u8::from(at > gap)),
            BendShape::Hinge(from) => {
                let last = self.levels.last().copied().unwrap_or(from);
                (self.levels[at] - from).max(0.0) / (last - from)
            }
        }
    }

    /// How much better the best knee explains all points than the even model, as a share of what
    /// is left.
    pub(super) fn gain(&self, places: usize) -> f64 {
        let (within, repeats) = (self.within(), self.repeats());
        let left = |squares: f64| within + repeats * squares;
        let best = self.bends(places).iter().map(|bend| bend.squares).fold(f64::INFINITY, f64::min);
        left(self.even().2) / left(best) - 1.0
    }

    /// The grid with each row's deviations from the even model in another order (Freedman and
    /// Lane, "A nonstochastic interpretation of reported significance levels", 1983).
    pub(super) fn shuffled(&self, heights: &[f64], number: u64) -> Self {
        let row = |(at, row): (usize, &Vec<f64>)| {
            let mut off: Vec<f64> = row.iter().zip(heights).map(|(y, h)| y - h).collect();
            shuffle(&mut off, draw(number, Stream::Noise, at as u64), Stream::Noise, number);
            off.iter().zip(heights).map(|(off, height)| off + height).collect()
        };
        Self::new(self.levels.clone(), self.rows.iter().enumerate().map(row).collect())
    }
}

fn squares(values: &[f64], heights: &[f64]) -> f64 {
    values.iter().zip(heights).map(|(value, height)| (value - height).powi(2)).sum()
}
