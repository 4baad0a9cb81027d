//! Who stands where: series that share a place stand beside each other, and a legend names each once.

use super::{Figure, Look, Scale, Series};

/// The share of a place that its bars take; the rest keeps it from the next.
const FILLED: f64 = 0.8;

/// The share of its own part that a bar takes.
const BAR: f64 = 0.92;

/// Where the points of a series stand, in the numbers of the x axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slot {
    /// How far to the right of their x.
    pub(crate) shift: f64,
    /// How wide a bar is; 0 where nothing tells.
    pub(crate) width: f64,
}

/// A number whose multiples lie evenly and never meet: the golden ratio.
const SPREAD: f64 = 0.618_033_988_749_895;

/// How far aside a single value stands of others at its place, in widths of a bar.
pub(crate) fn aside(at: usize) -> f64 {
    (((at as f64 + 1.0) * SPREAD).fract() - 0.5) / 2.0
}

impl Figure {
    /// The place of a series among those beside it.
    pub(crate) fn slot(&self, series: &Series) -> Slot {
        let beside =
            |look: Look| look == Look::Bars || (look == Look::Markers && self.x.is_named());
        let standing: Vec<&Series> = self.series.iter().filter(|one| beside(one.look)).collect();
        let names = once(standing.iter().map(|one| &*one.name));
        // Where each has places of its own, each stands in their middle.
        let names = if share_places(&standing) { names } else { vec![&*series.name] };
        let Some(at) = names.iter().position(|name| *name == series.name) else {
            return Slot { shift: 0.0, width: 0.0 };
        };
        let has_own = beside(series.look) || series.look == Look::Raw;
        let pitch = self.place_width() * FILLED / names.len() as f64;
        let shift = (at as f64 - (names.len() - 1) as f64 / 2.0) * pitch;
        Slot { shift: if has_own { shift } else { 0.0 }, width: pitch * BAR }
    }

    /// From a place to the next, in the numbers of the x axis.
    fn place_width(&self) -> f64 {
        match self.x.scale {
            Scale::Named(_) => 1.0,
            // Numbers beside each other are not as far apart to the left as to the right.
            Scale::Logarithmic => 0.0,
            Scale::Linear => {
                let bars = self.series.iter().filter(|series| series.look == Look::Bars);
                let points = bars.flat_map(|series| &series.points).map(|point| point.x);
                let mut places: Vec<f64> = points.filter(|x| x.is_finite()).collect();
                places.sort_by(f64::total_cmp);
                places.dedup();
                let gaps = places.windows(2).map(|two| two[1] - two[0]);
                gaps.min_by(f64::total_cmp).unwrap_or(1.0)
            }
        }
    }

    /// Names of a legend with the numbers of their colours, each once.
    pub(crate) fn names(&self) -> Vec<(&str, usize)> {
        once(self.series.iter().map(|series| (&*series.name, series.colour)))
    }

    /// What points are and how they are drawn, each once; but for rectangles, which a scale tells of.
    pub(crate) fn whats(&self) -> Vec<(Look, &str)> {
        let drawn = self.series.iter().filter(|series| series.look != Look::Cells);
        once(drawn.map(|series| (series.look, &*series.what)))
    }

    /// Which among the things drawn in the same way this series tells, from 0: p50, then p99.
    pub(crate) fn turn(&self, series: &Series) -> usize {
        let whats = self.whats();
        let same = whats.iter().filter(|(look, _)| *look == series.look);
        same.map(|(_, what)| *what).position(|what| what == series.what).unwrap_or_default()
    }
}

impl super::Axis {
    /// Whether its places have names.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self.scale, Scale::Named(_))
    }
}

/// Whether series of different names have a point at the same place.
fn share_places(all: &[&Series]) -> bool {
    let meets = |a: &Series, b: &Series| {
        a.name != b.name && a.points.iter().any(|one| b.points.iter().any(|other| one.x == other.x))
    };
    all.iter().enumerate().any(|(at, a)| all[at + 1..].iter().any(|b| meets(a, b)))
}

fn once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Point, Quantity};
    use super::*;

    fn series(name: &str, look: Look, what: &str) -> Series {
        let points = vec![Point::at(0.0, 1.0), Point::at(1.0, 2.0)];
        Series { name: name.into(), colour: 0, look, what: what.into(), points }
    }

    fn figure(scale: Scale, series: Vec<Series>) -> Figure {
        let axis = |scale| Axis { label: "a".into(), quantity: Quantity::Count, scale };
        Figure {
            key: "k".into(),
            title: "t".into(),
            question: "q?".into(),
            x: axis(scale),
            y: axis(Scale::Linear),
            shade: None,
            series,
            marks: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn named() -> Scale {
        Scale::Named(vec!["create".into(), "read".into()])
    }

    #[test]
    fn bars_of_one_place_touch_neither_each_other_nor_the_next_place() {
        let all = ["a", "b", "c"].map(|name| series(name, Look::Bars, "mean")).to_vec();
        let figure = figure(named(), all);
        let ends = figure.series.iter().map(|one| {
            let slot = figure.slot(one);
            [slot.shift - slot.width / 2.0, slot.shift + slot.width / 2.0]
        });
        let ends: Vec<f64> = ends.flatten().collect();
        assert!(ends.windows(2).all(|two| two[0] < two[1]), "{ends:?}");
        assert!(ends[0] > -0.5 && ends[5] < 0.5, "{ends:?}");
    }

    #[test]
    fn raw_points_stand_on_the_bar_of_their_name_and_a_line_stays_at_its_place() {
        let all = vec![
            series("a", Look::Bars, "mean"),
            series("b", Look::Bars, "mean"),
            series("b", Look::Raw, "repeat"),
            series("b", Look::Line, "limit"),
        ];
        let figure = figure(named(), all);
        let shift = |at: usize| figure.slot(&figure.series[at]).shift;
        assert_eq!(shift(1), shift(2));
        assert!(shift(1) > 0.0);
        assert_eq!(shift(3), 0.0);
    }

    #[test]
    fn names_with_places_of_their_own_stand_in_their_middle() {
        let at = |name: &str, x: f64| Series {
            points: vec![Point::at(x, 1.0)],
            ..series(name, Look::Markers, "p50")
        };
        let figure = figure(named(), vec![at("a", 0.0), at("b", 1.0), at("b", 1.0)]);
        assert!(figure.series.iter().all(|one| figure.slot(one).shift == 0.0));
    }

    #[test]
    fn bars_at_numbers_are_as_wide_as_the_numbers_allow() {
        let figure = figure(Scale::Linear, vec![series("a", Look::Bars, "mean")]);
        let slot = figure.slot(&figure.series[0]);
        assert!(slot.width > 0.5 && slot.width < 1.0 && slot.shift == 0.0, "{slot:?}");
    }

    #[test]
    fn a_legend_has_each_name_and_each_thing_once() {
        let all = vec![
            series("a", Look::Line, "p50"),
            series("a", Look::Line, "p99"),
            series("b", Look::Line, "p50"),
            series("b", Look::Law, "law"),
        ];
        let figure = figure(Scale::Linear, all);
        assert_eq!(figure.names(), [("a", 0), ("b", 0)]);
        let whats = [(Look::Line, "p50"), (Look::Line, "p99"), (Look::Law, "law")];
        assert_eq!(figure.whats(), whats);
        let turns: Vec<usize> = figure.series.iter().map(|one| figure.turn(one)).collect();
        assert_eq!(turns, [0, 1, 0, 0]);
    }
}
