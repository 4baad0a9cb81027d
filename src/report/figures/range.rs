//! From where to where an axis goes, so that everything drawn on it is in sight.

use super::{Axis, Figure, Look, Quantity, Rectangle, Scale, Series};

/// Numbers beyond this are drawn at it.
const NUMBER_MAX: f64 = 1e300;

/// A span below this share of its numbers is none.
const SPAN_MIN: f64 = 1e-9;

/// How much of the span is left free at an end that nothing marks.
const FREE_SHARE: f64 = 0.04;

/// How far below the highest number a logarithmic axis goes for numbers that have no logarithm.
const DEPTH: f64 = 1e3;

/// Where two directions differ.
struct Direction<'a> {
    axis: &'a Axis,
    /// Bars stand on 0.
    from_zero: bool,
    /// An axis whose lowest number is below this share of its highest goes from 0.
    zero_share: f64,
    /// Nothing is free around rectangles.
    is_tight: bool,
}

impl Figure {
    /// The ends of the x axis.
    pub(crate) fn range_x(&self) -> [f64; 2] {
        let points = self.series.iter().flat_map(|series| {
            let ends = series.points.iter().map(|point| point.x);
            ends.chain(self.far_ends(series, |one| one.x[1]))
        });
        let mark_ends = self.marks.iter().flat_map(|mark| mark.interval.into_iter().flatten());
        let marks = self.marks.iter().map(|mark| mark.x).chain(mark_ends);
        let is_tight = self.is_tight();
        let way = Direction { axis: &self.x, from_zero: false, zero_share: 0.1, is_tight };
        way.range(points.chain(marks))
    }

    /// The ends of the y axis.
    pub(crate) fn range_y(&self) -> [f64; 2] {
        let numbers = self.series.iter().flat_map(|series| {
            let ends = series.points.iter().flat_map(|point| {
                [point.y].into_iter().chain(point.interval.into_iter().flatten())
            });
            ends.chain(self.far_ends(series, |one| one.y[1]))
        });
        let from_zero = self.series.iter().any(|series| series.look == Look::Bars);
        let is_tight = self.is_tight();
        let way = Direction { axis: &self.y, from_zero, zero_share: 0.65, is_tight };
        way.range(numbers)
    }

    /// Where rectangles end that begin at their points.
    fn far_ends(&self, series: &Series, end: fn(&Rectangle) -> f64) -> Vec<f64> {
        if series.look != Look::Cells {
            return Vec::new();
        }
        self.rectangles(series).iter().map(end).collect()
    }

    fn is_tight(&self) -> bool {
        self.series.iter().any(|series| series.look == Look::Cells)
    }
}

impl Axis {
    /// Whether a number has a place on it.
    pub(crate) fn has(&self, value: f64) -> bool {
        value.is_finite() && (self.scale != Scale::Logarithmic || value > 0.0)
    }

    /// Two ends with something between them, whatever was given.
    pub(crate) fn widened(&self, low: f64, high: f64) -> [f64; 2] {
        let (low, high) = if low > high { (high, low) } else { (low, high) };
        let (low, high) = match (self.has(low), self.has(high)) {
            (true, true) => (low, high),
            (true, false) => (low, low),
            (false, true) if self.scale == Scale::Logarithmic => (high / DEPTH, high),
            (false, true) => (high, high),
            (false, false) if self.scale == Scale::Logarithmic => (1.0, 10.0),
            (false, false) => (0.0, 1.0),
        };
        let [low, high] = [low, high].map(|end| end.clamp(-NUMBER_MAX, NUMBER_MAX));
        let size = low.abs().max(high.abs());
        if high - low > size * SPAN_MIN && size > 1.0 / NUMBER_MAX {
            return [low, high];
        }
        match self.scale {
            Scale::Logarithmic => {
                [low.max(1.0 / NUMBER_MAX) / 2.0, high.max(1.0 / NUMBER_MAX) * 2.0]
            }
            _ if size <= 1.0 / NUMBER_MAX => [0.0, 1.0],
            _ => [low - size / 2.0, high + size / 2.0],
        }
    }
}

impl Direction<'_> {
    fn range(&self, numbers: impl Iterator<Item = f64>) -> [f64; 2] {
        if let Scale::Named(names) = &self.axis.scale {
            return [-0.5, names.len().max(1) as f64 - 0.5];
        }
        let numbers = numbers.filter(|number| self.axis.has(*number));
        let ends = numbers.fold(None, |ends: Option<[f64; 2]>, number| {
            let [low, high] = ends.unwrap_or([number; 2]);
            Some([low.min(number), high.max(number)])
        });
        let [low, high] = ends.unwrap_or([f64::NAN; 2]);
        if self.axis.scale == Scale::Logarithmic {
            return self.spaced_by_factor(low, high);
        }
        self.spaced(low, high)
    }

    fn spaced_by_factor(&self, low: f64, high: f64) -> [f64; 2] {
        let [low, high] = self.axis.widened(low, high);
        if self.is_tight {
            return [low, high];
        }
        let factor = (high / low).powf(FREE_SHARE).clamp(1.05, 2.0);
        [low / factor, high * factor]
    }

    fn spaced(&self, low: f64, high: f64) -> [f64; 2] {
        // A course that is low beside its height is seen as such only from 0.
        let is_near_zero = low > 0.0 && low < high * self.zero_share && !self.is_tight;
        let low = if (self.from_zero && low > 0.0) || is_near_zero { 0.0 } else { low };
        let high = if self.from_zero { high.max(0.0) } else { high };
        let [first, last] = self.axis.widened(low, high);
        if self.is_tight {
            return [first, last];
        }
        let free = (last - first) * FREE_SHARE;
        // No room for what cannot be: below nothing, above all.
        let first = if first >= 0.0 { (first - free).max(0.0) } else { first - free };
        let is_share = self.axis.quantity == Quantity::Percent && high <= 100.0;
        let last = if is_share { (last + free).min(100.0) } else { last + free };
        [first, last]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Point;
    use super::*;

    fn axis(quantity: Quantity, scale: Scale) -> Axis {
        Axis { label: "a".into(), quantity, scale }
    }

    fn figure(look: Look, y: Axis, points: &[(f64, f64)]) -> Figure {
        let points = points.iter().map(|(x, y)| Point::at(*x, *y)).collect();
        let series =
            vec![Series { name: "s".into(), colour: 0, look, what: "mean".into(), points }];
        Figure {
            key: "k".into(),
            title: "t".into(),
            question: "q?".into(),
            x: axis(Quantity::Count, Scale::Linear),
            y,
            shade: None,
            series,
            marks: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn linear() -> Axis {
        axis(Quantity::Operations, Scale::Linear)
    }

    #[test]
    fn bars_stand_on_zero_and_leave_room_above() {
        let [low, high] = figure(Look::Bars, linear(), &[(0.0, 90.0), (1.0, 100.0)]).range_y();
        assert_eq!(low, 0.0);
        assert!(high > 100.0 && high < 110.0, "{high}");
    }

    #[test]
    fn an_interval_and_a_mark_are_in_sight() {
        let mut figure = figure(Look::Line, linear(), &[(10.0, 90.0), (20.0, 100.0)]);
        figure.series[0].points[0].interval = Some([80.0, 120.0]);
        figure.marks.push(super::super::Mark {
            x: 25.0,
            interval: Some([22.0, 30.0]),
            label: "knee".into(),
            colour: None,
        });
        let ([left, right], [low, high]) = (figure.range_x(), figure.range_y());
        assert!(left <= 10.0 && right >= 30.0, "{left} {right}");
        assert!(low <= 80.0 && low > 0.0 && high >= 120.0, "{low} {high}");
    }

    #[test]
    fn a_logarithmic_axis_passes_over_what_has_no_logarithm() {
        let log = axis(Quantity::Seconds, Scale::Logarithmic);
        let points = [(0.0, 0.0), (1.0, 1e-3), (2.0, f64::NAN), (3.0, 1e-1)];
        let [low, high] = figure(Look::Line, log, &points).range_y();
        assert!(low > 0.0 && low < 1e-3 && high > 1e-1 && high < 1.0, "{low} {high}");
    }

    #[test]
    fn whatever_is_drawn_an_axis_goes_somewhere() {
        let odd: [&[(f64, f64)]; 6] = [
            &[],
            &[(0.0, 0.0)],
            &[(5.0, 5.0), (5.0, 5.0)],
            &[(f64::NAN, f64::INFINITY)],
            &[(-3.0, -3.0)],
            &[(1e308, 1e308), (-1e308, 1e-320)],
        ];
        for scale in [Scale::Linear, Scale::Logarithmic, Scale::Named(Vec::new())] {
            for look in [Look::Bars, Look::Line, Look::Cells] {
                for points in odd {
                    let y = axis(Quantity::Count, scale.clone());
                    let figure = figure(look, y, points);
                    for [low, high] in [figure.range_x(), figure.range_y()] {
                        assert!(low < high && (high - low).is_finite(), "{low} {high}: {points:?}");
                    }
                    if scale == Scale::Logarithmic {
                        assert!(figure.range_y()[0] > 0.0, "{points:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_percentage_does_not_go_above_all() {
        let percent = axis(Quantity::Percent, Scale::Linear);
        let range = figure(Look::Line, percent, &[(0.0, 30.0), (1.0, 98.0)]).range_y();
        assert_eq!(range, [0.0, 100.0]);
    }
}
