//! Rectangles of [`super::Look::Cells`]: from where to where each goes.

use super::{Axis, Figure, Point, Scale, Series};

/// One rectangle, in the numbers of the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rectangle {
    /// From left to right.
    pub(crate) x: [f64; 2],
    /// From bottom to top.
    pub(crate) y: [f64; 2],
    /// What its colour tells.
    pub(crate) shade: f64,
    /// How many values it is made of.
    pub(crate) n: u64,
    /// Which point of its series it stands for.
    pub(crate) point: usize,
}

/// A point with its place in the series.
type Numbered<'a> = (usize, &'a Point);

impl Figure {
    /// The rectangles of a series; points without a place or a colour have none.
    pub(crate) fn rectangles(&self, series: &Series) -> Vec<Rectangle> {
        let rows = steps(series, &self.y, |point| point.y);
        let has_place = |(_, point): &Numbered<'_>| self.x.has(point.x) && self.y.has(point.y);
        let mut points: Vec<Numbered<'_>> =
            series.points.iter().enumerate().filter(has_place).collect();
        points.sort_by(|(_, a), (_, b)| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        let of_row = |row: &[Numbered<'_>]| {
            let places: Vec<f64> = row.iter().map(|(_, point)| point.x).collect();
            let columns = self.x.with_end(places);
            let rectangle = |(number, point): &Numbered<'_>| {
                let shade = point.shade.filter(|shade| self.has_shade(*shade))?;
                let (x, y) = (self.x.ends(point.x, &columns)?, self.y.ends(point.y, &rows)?);
                Some(Rectangle { x, y, shade, n: point.n, point: *number })
            };
            row.iter().filter_map(rectangle).collect::<Vec<_>>()
        };
        points.chunk_by(|(_, a), (_, b)| a.y == b.y).flat_map(of_row).collect()
    }

    fn has_shade(&self, shade: f64) -> bool {
        self.shade.as_ref().is_some_and(|axis| axis.has(shade))
    }
}

impl Axis {
    /// Around a name, or from a number to the next.
    fn ends(&self, place: f64, steps: &[f64]) -> Option<[f64; 2]> {
        let at = steps.binary_search_by(|step| step.total_cmp(&place)).ok()?;
        let next = *steps.get(at + 1)?;
        Some(if self.is_named() { [place - 0.5, place + 0.5] } else { [place, next] })
    }

    /// Places in order, with where the last one ends: it is as wide as the one before.
    fn with_end(&self, mut places: Vec<f64>) -> Vec<f64> {
        places.dedup();
        let end = match (places.as_slice(), &self.scale) {
            ([.., last], Scale::Named(_)) => last + 1.0,
            ([.., before, last], Scale::Logarithmic) => last * (last / before),
            ([.., before, last], Scale::Linear) => last + (last - before),
            ([last], Scale::Logarithmic) => last * 2.0,
            ([last], Scale::Linear) => last + 1.0,
            ([], _) => return places,
        };
        places.push(end);
        places
    }
}

/// The places of rectangles in one direction, in order, each once, and where the last one ends.
fn steps(series: &Series, axis: &Axis, place: fn(&Point) -> f64) -> Vec<f64> {
    let mut places: Vec<f64> = series.points.iter().map(place).filter(|x| axis.has(*x)).collect();
    places.sort_by(f64::total_cmp);
    axis.with_end(places)
}

#[cfg(test)]
mod tests {
    use super::super::{Look, Quantity};
    use super::*;

    fn figure(y: Scale, points: &[(f64, f64)]) -> Figure {
        let axis = |scale| Axis { label: "a".into(), quantity: Quantity::Count, scale };
        let point = |(x, y): &(f64, f64)| Point { shade: Some(1.0), ..Point::at(*x, *y) };
        let series = Series {
            name: "s".into(),
            colour: 0,
            look: Look::Cells,
            what: "operations".into(),
            points: points.iter().map(point).collect(),
        };
        Figure {
            key: "k".into(),
            title: "t".into(),
            question: "q?".into(),
            x: axis(Scale::Linear),
            y: axis(y),
            shade: Some(axis(Scale::Linear)),
            series: vec![series],
            marks: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_rectangle_ends_where_the_next_begins_and_the_last_is_as_wide() {
        let figure =
            figure(Scale::Logarithmic, &[(0.0, 1.0), (10.0, 1.0), (0.0, 2.0), (10.0, 2.0)]);
        let all = figure.rectangles(&figure.series[0]);
        let ends: Vec<_> = all.iter().map(|one| (one.x, one.y)).collect();
        let expected = [
            ([0.0, 10.0], [1.0, 2.0]),
            ([10.0, 20.0], [1.0, 2.0]),
            ([0.0, 10.0], [2.0, 4.0]),
            ([10.0, 20.0], [2.0, 4.0]),
        ];
        assert_eq!(ends, expected);
        assert_eq!((figure.range_x(), figure.range_y()), ([0.0, 20.0], [1.0, 4.0]));
    }

    #[test]
    fn rows_may_have_steps_of_their_own() {
        let figure = figure(Scale::Linear, &[(0.0, 0.0), (50.0, 0.0), (0.0, 1.0), (25.0, 1.0)]);
        let all = figure.rectangles(&figure.series[0]);
        let ends: Vec<_> = all.iter().map(|one| one.x).collect();
        assert_eq!(ends, [[0.0, 50.0], [50.0, 100.0], [0.0, 25.0], [25.0, 50.0]]);
        assert_eq!(figure.range_x(), [0.0, 100.0]);
    }

    #[test]
    fn a_rectangle_of_a_name_stands_around_it() {
        let names = Scale::Named(vec!["a".into(), "b".into()]);
        let figure = figure(names, &[(0.0, 0.0), (0.0, 1.0)]);
        let all = figure.rectangles(&figure.series[0]);
        assert_eq!((all[0].point, all[1].point), (0, 1));
        assert_eq!((all[0].y, all[1].y), ([-0.5, 0.5], [0.5, 1.5]));
        assert_eq!(all[0].x, [0.0, 1.0]);
    }

    #[test]
    fn a_point_without_a_colour_or_a_place_has_no_rectangle() {
        let mut figure = figure(Scale::Linear, &[(0.0, 0.0), (f64::NAN, 1.0), (1.0, 1.0)]);
        figure.series[0].points[0].shade = None;
        let all = figure.rectangles(&figure.series[0]);
        assert_eq!(all.iter().map(|one| one.point).collect::<Vec<_>>(), [2]);
    }
}
