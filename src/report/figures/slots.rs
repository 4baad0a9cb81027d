//! Who stands where: series that share a place stand beside each other, and a legend names each once.

use std::collections::BTreeMap;

use super::palette::lap;
use super::{Figure, Look, Scale, Series};
use crate::measure::order::each_of_many_once;

/// The share of a place that its bars take; the rest keeps it from the next.
const FILLED: f64 = 0.8;

/// Lines whose points share their places stand aside by at most this share of the way to the next
/// place, and of all places, so that their intervals do not cover each other.
const ASIDE_OF_GAP: f64 = 0.12;
const ASIDE_OF_ALL: f64 = 0.007;

/// The share of its own part that a bar takes.
const BAR: f64 = 0.92;

/// Where the points of a series stand, in the numbers of the x axis, and how they look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slot {
    /// How far to the right of their x.
    pub(crate) shift: f64,
    /// How wide a bar is; 0 where nothing tells.
    pub(crate) width: f64,
    /// Which of the dashes or shapes tells it from others of its look and colour, from 0: p50, then
    /// p99, then the same of names whose colour another has had before.
    pub(crate) pattern: usize,
}

/// A line beside others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lane {
    /// Which it is, from 0 at the left.
    at: usize,
    /// How many they are.
    pub(crate) number: usize,
    /// From one of their places to the nearest, in the numbers of the x axis.
    pub(crate) gap: f64,
}

impl Lane {
    /// How far right of the middle of all it stands, as the distance of two neighbours is 1.
    pub(crate) fn place(&self) -> f64 {
        self.at as f64 - (self.number - 1) as f64 / 2.0
    }
}

/// A number whose multiples lie evenly and never meet: the golden ratio.
const SPREAD: f64 = 0.618_033_988_749_895;

/// How far aside a single value stands of others at its place, in widths of a bar.
pub(crate) fn aside(at: usize) -> f64 {
    (((at as f64 + 1.0) * SPREAD).fract() - 0.5) / 2.0
}

/// Names whose bars, or markers at places with names, stand beside each other.
struct Beside<'a> {
    places: BTreeMap<&'a str, usize>,
    /// From one of them to the next.
    pitch: f64,
    /// Names that each have places of their own need no room beside each other.
    shares: bool,
}

/// Names whose lines with intervals stand at the same numbers.
struct Lanes<'a> {
    places: BTreeMap<&'a str, usize>,
    gap: f64,
    /// The most that two neighbours are apart.
    step_max: f64,
    shares: bool,
}

impl Beside<'_> {
    /// The shift and the width of a name's bars; none if it has none.
    fn place(&self, name: &str) -> Option<(f64, f64)> {
        let at = *self.places.get(name)?;
        let (at, number) = if self.shares { (at, self.places.len()) } else { (0, 1) };
        let pitch = self.pitch / number as f64;
        Some(((at as f64 - (number - 1) as f64 / 2.0) * pitch, pitch * BAR))
    }
}

impl Lanes<'_> {
    fn lane(&self, series: &Series) -> Option<Lane> {
        let is_shifted = self.shares && matches!(series.look, Look::Line | Look::Raw);
        let at = self.places.get(&*series.name).filter(|_| is_shifted)?;
        Some(Lane { at: *at, number: self.places.len(), gap: self.gap })
    }

    fn shift(&self, series: &Series) -> f64 {
        let shift = |lane: Lane| {
            lane.place() * (lane.gap * ASIDE_OF_GAP / lane.number as f64).min(self.step_max)
        };
        self.lane(series).map_or(0.0, shift)
    }
}

impl Figure {
    /// The place of each series among those beside it, in the order of the series.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let (beside, lanes) = (self.beside(), self.lanes());
        let of = |(series, pattern): (&Series, usize)| match beside.place(&series.name) {
            Some((shift, width)) => {
                let is_shifted = self.is_beside(series.look) || series.look == Look::Raw;
                Slot { shift: if is_shifted { shift } else { 0.0 }, width, pattern }
            }
            None => Slot { shift: lanes.shift(series), width: 0.0, pattern },
        };
        self.series.iter().zip(self.patterns()).map(of).collect()
    }

    /// Which of several lines with intervals at the same numbers a series is, or is of the name of;
    /// none if it stands where it is.
    pub(crate) fn lane(&self, series: &Series) -> Option<Lane> {
        self.lanes().lane(series)
    }

    fn is_beside(&self, look: Look) -> bool {
        look == Look::Bars || (look == Look::Markers && self.x.is_named())
    }

    fn beside(&self) -> Beside<'_> {
        let all = self.series.iter().filter(|one| self.is_beside(one.look));
        let places = places_of_names(all.clone());
        Beside { places, pitch: self.place_width() * FILLED, shares: shares_places(all) }
    }

    /// Lines with intervals, and what is of their names, stand a little aside of others.
    fn lanes(&self) -> Lanes<'_> {
        let is_whiskered = |one: &&Series| {
            one.look == Look::Line && one.points.iter().any(|point| point.interval.is_some())
        };
        let lines = self.series.iter().filter(is_whiskered);
        let places = self.places_of(Look::Line);
        let all = places.last().zip(places.first()).map_or(0.0, |(last, first)| last - first);
        Lanes {
            places: places_of_names(lines.clone()),
            gap: gap(&places),
            step_max: all * ASIDE_OF_ALL,
            shares: self.x.scale == Scale::Linear && shares_places(lines),
        }
    }

    /// Of each series the number of its thing among those of its look, and as many more for each
    /// time that all colours were given before its own.
    fn patterns(&self) -> Vec<usize> {
        let whats = self.whats();
        let of = |series: &Series| {
            let mut same = whats.iter().filter(|(look, _)| *look == series.look);
            let things = same.clone().count();
            let turn = same.position(|(_, what)| *what == series.what).unwrap_or_default();
            turn + things * lap(series.colour)
        };
        self.series.iter().map(of).collect()
    }

    /// From a place to the next, in the numbers of the x axis.
    fn place_width(&self) -> f64 {
        match self.x.scale {
            Scale::Named(_) => 1.0,
            // Numbers beside each other are not as far apart to the left as to the right.
            Scale::Logarithmic => 0.0,
            Scale::Linear => gap(&self.places_of(Look::Bars)),
        }
    }

    /// Where points of a look are, from left to right, each place once.
    fn places_of(&self, look: Look) -> Vec<f64> {
        let drawn = self.series.iter().filter(|series| series.look == look);
        let points = drawn.flat_map(|series| &series.points).map(|point| point.x);
        let mut places: Vec<f64> = points.filter(|x| x.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// Names of a legend with the numbers of their colours, each once.
    pub(crate) fn names(&self) -> Vec<(&str, usize)> {
        each_of_many_once(self.series.iter().map(|series| (&*series.name, series.colour)))
    }

    /// What points are and how they are drawn, each once; but for rectangles, which a scale tells of.
    pub(crate) fn whats(&self) -> Vec<(Look, &str)> {
        let drawn = self.series.iter().filter(|series| series.look != Look::Cells);
        each_of_many_once(drawn.map(|series| (series.look, &*series.what)))
    }
}

impl super::Axis {
    /// Whether its places have names.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self.scale, Scale::Named(_))
    }
}

/// From a place to the nearest.
fn gap(places: &[f64]) -> f64 {
    let gaps = places.windows(2).map(|two| two[1] - two[0]);
    gaps.min_by(f64::total_cmp).unwrap_or(1.0)
}

/// Whether any place has points of two names.
fn shares_places<'a>(all: impl Iterator<Item = &'a Series>) -> bool {
    let mut owners = BTreeMap::new();
    let mut points =
        all.flat_map(|one| one.points.iter().map(move |point| (point.x.to_bits(), &one.name)));
    points.any(|(place, name)| *owners.entry(place).or_insert(name) != name)
}

/// Names in their order, each once, with their places.
fn places_of_names<'a>(all: impl Iterator<Item = &'a Series>) -> BTreeMap<&'a str, usize> {
    let names = each_of_many_once(all.map(|one| &*one.name));
    names.into_iter().enumerate().map(|(at, name)| (name, at)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Axis, Point, Quantity, colour};
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
        let ends = figure
            .slots()
            .into_iter()
            .map(|slot| [slot.shift - slot.width / 2.0, slot.shift + slot.width / 2.0]);
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
        let slots = figure.slots();
        let shift = |at: usize| slots[at].shift;
        assert_eq!(shift(1), shift(2));
        assert!(shift(1) > 0.0);
        assert_eq!(shift(3), 0.0);
    }

    #[test]
    fn names_with_places_of_their_own_stand_in_the_middle_of_them() {
        let mut all = vec![series("a", Look::Markers, "p50"), series("b", Look::Markers, "p50")];
        all[0].points.truncate(1);
        all[1].points.remove(0);
        let figure = figure(named(), all);
        assert!(figure.slots().iter().all(|slot| slot.shift == 0.0));
    }

    #[test]
    fn lines_with_intervals_at_the_same_numbers_stand_a_little_aside() {
        let mut all = vec![
            series("a", Look::Line, "mean"),
            series("b", Look::Line, "mean"),
            series("b", Look::Raw, "repeat"),
            series("b", Look::Law, "law"),
        ];
        let figure = figure(Scale::Linear, all.clone());
        assert!(figure.slots().iter().all(|slot| slot.shift == 0.0), "no intervals");
        all.iter_mut().for_each(|one| one.points[0].interval = Some([0.5, 1.5]));
        let figure = self::figure(Scale::Linear, all);
        let shifts: Vec<f64> = figure.slots().iter().map(|slot| slot.shift).collect();
        assert!(shifts[0] < 0.0 && shifts[1] > 0.0 && shifts[1] < 0.01, "{shifts:?}");
        assert_eq!((shifts[2], shifts[3]), (shifts[1], 0.0));
    }

    #[test]
    fn bars_at_numbers_are_as_wide_as_the_numbers_allow() {
        let figure = figure(Scale::Linear, vec![series("a", Look::Bars, "mean")]);
        let slot = figure.slots()[0];
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
        let patterns: Vec<usize> = figure.slots().iter().map(|slot| slot.pattern).collect();
        assert_eq!(patterns, [0, 1, 0, 0]);
    }

    #[test]
    fn names_of_one_colour_have_other_patterns() {
        let all = (0..20).flat_map(|number| {
            let name = format!("v{number}");
            let of = |what| Series { colour: number, ..series(&name, Look::Line, what) };
            [of("p50"), of("p99")]
        });
        let figure = figure(Scale::Linear, all.collect());
        let slots = figure.slots();
        let looks = figure.series.iter().zip(&slots);
        let looks: BTreeSet<_> =
            looks.map(|(one, slot)| (colour(one.colour).light, slot.pattern)).collect();
        assert_eq!(looks.len(), 40, "each has its own");
        assert_eq!(slots[2 * 8].pattern, 2, "the ninth name has the first colour again");
    }

    #[test]
    fn thousands_of_names_have_their_places() {
        let all = (0..4_000).flat_map(|number| {
            let name = format!("v{number}");
            [series(&name, Look::Bars, "mean"), series(&name, Look::Raw, "repeat")]
        });
        let figure = figure(named(), all.collect());
        let slots = figure.slots();
        assert!(slots.chunks(2).all(|pair| pair[0].shift == pair[1].shift));
        assert!(
            slots.chunks(2).collect::<Vec<_>>().windows(2).all(|w| w[0][0].shift < w[1][0].shift)
        );
        assert_eq!((figure.names().len(), figure.whats().len()), (4_000, 2));
    }
}
