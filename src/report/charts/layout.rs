//! Places series that share a level beside each other, and gives them the patterns and legends that tell
//! them apart.

use std::collections::BTreeMap;

use super::colours::lap;
use super::{AxisScale, Chart, ChartSeries, SeriesLook};
use crate::base::distinct::each_of_many_once;

/// The share of a name's room that its bars take; the rest keeps it from the next name.
const FILLED: f64 = 0.8;

/// The share of its own part that a bar takes.
const BAR: f64 = 0.92;

/// Lines whose points share an x stand aside by at most this share of the way to the next x, and of
/// the whole axis, so that their intervals do not cover each other.
const ASIDE_OF_GAP: f64 = 0.12;
const ASIDE_OF_ALL: f64 = 0.007;

/// A number whose multiples lie evenly and never meet: the golden ratio.
const SPREAD: f64 = 0.618_033_988_749_895;

/// Where the points of a series stand, in the numbers of the x axis, and how they look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeriesSlot {
    /// How far to the right of their x.
    pub(crate) shift: f64,
    /// How wide a bar is; 0 for what stands on none.
    pub(crate) width: f64,
    /// Which of the dashes or shapes tells it from others of its look and colour, from 0: p50, then
    /// p99, then the same of names whose colour another has had before.
    pub(crate) pattern: usize,
}

/// Names of series that stand beside each other where any x has points of two of them.
struct Neighbours<'a> {
    order: BTreeMap<&'a str, usize>,
    share_places: bool,
}

/// How far aside a single value stands of others at its place, in widths of a bar.
pub(crate) fn aside(at: usize) -> f64 {
    (((at as f64 + 1.0) * SPREAD).fract() - 0.5) / 2.0
}

impl<'a> Neighbours<'a> {
    fn new(all: &[&'a ChartSeries]) -> Self {
        let names = each_of_many_once(all.iter().map(|one| one.name.as_str()));
        let mut owners = BTreeMap::new();
        let mut points = all
            .iter()
            .flat_map(|one| one.points.iter().map(|point| (point.x.to_bits(), &one.name)));
        Self {
            order: names.into_iter().enumerate().map(|(at, name)| (name, at)).collect(),
            share_places: points.any(|(x, name)| *owners.entry(x).or_insert(name) != name),
        }
    }

    /// How far right of the middle a name stands, as the distance of two neighbours is 1.
    fn place(&self, name: &str) -> Option<f64> {
        let at = *self.order.get(name)?;
        Some(if self.share_places { at as f64 - (self.order.len() - 1) as f64 / 2.0 } else { 0.0 })
    }

    fn number(&self) -> usize {
        if self.share_places { self.order.len() } else { 1 }
    }
}

impl Chart {
    /// The slot of each series, in their order.
    pub(crate) fn slots(&self) -> Vec<SeriesSlot> {
        let is_beside = |look: SeriesLook| self.x.is_named() && look == SeriesLook::Bars;
        let bars: Vec<_> = self.series.iter().filter(|one| is_beside(one.look)).collect();
        let bars = Neighbours::new(&bars);
        let lines = self.series.iter().filter(|one| one.look == SeriesLook::Line);
        let lines: Vec<_> =
            lines.filter(|one| one.points.iter().any(|point| point.interval.is_some())).collect();
        let mut places: Vec<f64> =
            lines.iter().flat_map(|one| &one.points).map(|point| point.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let gaps = places.windows(2).map(|two| two[1] - two[0]);
        let gap = gaps.min_by(f64::total_cmp).unwrap_or(1.0);
        let all = places.last().zip(places.first()).map_or(0.0, |(last, first)| last - first);
        let lines = Neighbours::new(&lines);
        let has_lanes = lines.share_places && self.x.scale == AxisScale::Linear;
        let slot = |(one, pattern): (&ChartSeries, usize)| {
            let mut slot = SeriesSlot { shift: 0.0, width: 0.0, pattern };
            let is_line = matches!(one.look, SeriesLook::Line | SeriesLook::Raw);
            if let Some(place) = bars.place(&one.name) {
                let pitch = FILLED / bars.number() as f64;
                let is_shifted = is_beside(one.look) || one.look == SeriesLook::Raw;
                slot.width = pitch * BAR;
                slot.shift = if is_shifted { place * pitch } else { 0.0 };
            } else if let Some(place) = lines.place(&one.name).filter(|_| has_lanes && is_line) {
                let share = ASIDE_OF_GAP / lines.number() as f64;
                slot.shift = place * (gap * share).min(all * ASIDE_OF_ALL);
            }
            slot
        };
        self.series.iter().zip(self.patterns()).map(slot).collect()
    }

    /// Of each series the number of its thing among those of its look, and as many more for each
    /// time that all colours were given before its own.
    fn patterns(&self) -> Vec<usize> {
        let whats = self.whats();
        let pattern = |series: &ChartSeries| {
            let mut same = whats.iter().filter(|(look, _)| *look == series.look);
            let things = same.clone().count();
            let turn = same.position(|(_, what)| *what == series.what).unwrap_or_default();
            turn + things * lap(series.colour)
        };
        self.series.iter().map(pattern).collect()
    }

    /// Series with their numbers and slots, from back to front.
    pub(crate) fn back_to_front(&self) -> Vec<(usize, &ChartSeries, SeriesSlot)> {
        let slots = self.slots();
        let numbered = self.series.iter().zip(slots).enumerate();
        let mut all: Vec<_> = numbered.map(|(at, (series, slot))| (at, series, slot)).collect();
        all.sort_by_key(|(_, series, _)| series.look);
        all
    }

    /// Names of a legend with the numbers of their colours, each once.
    pub(crate) fn names(&self) -> Vec<(&str, usize)> {
        each_of_many_once(self.series.iter().map(|series| (&*series.name, series.colour)))
    }

    /// What points are and how they are drawn, each once.
    pub(crate) fn whats(&self) -> Vec<(SeriesLook, &str)> {
        each_of_many_once(self.series.iter().map(|series| (series.look, &*series.what)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{AxisQuantity, ChartAxis, ChartContent, ChartFamily, ChartPoint, colour};
    use super::*;

    fn series(name: &str, look: SeriesLook, what: &str) -> ChartSeries {
        let points = vec![ChartPoint::at(0.0, 1.0), ChartPoint::at(1.0, 2.0)];
        ChartSeries { name: name.into(), colour: 0, look, what: what.into(), points }
    }

    fn chart(scale: AxisScale, series: Vec<ChartSeries>) -> Chart {
        let axis = |scale| ChartAxis::new("a", AxisQuantity::Count, scale);
        let (x, y) = (axis(scale), axis(AxisScale::Linear));
        Chart { series, ..Chart::new(ChartContent::new(ChartFamily::Rates), "t".into(), x, y) }
    }

    fn named() -> AxisScale {
        AxisScale::Named(vec!["create".into(), "read".into()])
    }

    #[test]
    fn bars_of_one_place_touch_neither_each_other_nor_the_next_place() {
        let all = ["a", "b", "c"].map(|name| series(name, SeriesLook::Bars, "mean")).to_vec();
        let chart = chart(named(), all);
        let ends = chart
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
            series("a", SeriesLook::Bars, "mean"),
            series("b", SeriesLook::Bars, "mean"),
            series("b", SeriesLook::Raw, "repeat"),
            series("b", SeriesLook::Line, "limit"),
        ];
        let chart = chart(named(), all);
        let slots = chart.slots();
        let shift = |at: usize| slots[at].shift;
        assert_eq!(shift(1), shift(2));
        assert!(shift(1) > 0.0);
        assert_eq!(shift(3), 0.0);
    }

    #[test]
    fn names_with_places_of_their_own_stand_in_the_middle_of_them() {
        let mut all =
            vec![series("a", SeriesLook::Markers, "p50"), series("b", SeriesLook::Markers, "p50")];
        all[0].points.truncate(1);
        all[1].points.remove(0);
        let chart = chart(named(), all);
        assert!(chart.slots().iter().all(|slot| slot.shift == 0.0));
    }

    #[test]
    fn lines_with_intervals_at_the_same_numbers_stand_a_little_aside() {
        let mut all = vec![
            series("a", SeriesLook::Line, "mean"),
            series("b", SeriesLook::Line, "mean"),
            series("b", SeriesLook::Raw, "repeat"),
            series("b", SeriesLook::Law, "law"),
        ];
        let chart = chart(AxisScale::Linear, all.clone());
        assert!(chart.slots().iter().all(|slot| slot.shift == 0.0), "no intervals");
        all.iter_mut().for_each(|one| one.points[0].interval = Some([0.5, 1.5]));
        let chart = self::chart(AxisScale::Linear, all);
        let shifts: Vec<f64> = chart.slots().iter().map(|slot| slot.shift).collect();
        assert!(shifts[0] < 0.0 && shifts[1] > 0.0 && shifts[1] < 0.01, "{shifts:?}");
        assert_eq!((shifts[2], shifts[3]), (shifts[1], 0.0));
    }

    #[test]
    fn a_legend_has_each_name_and_each_thing_once() {
        let all = vec![
            series("a", SeriesLook::Line, "p50"),
            series("a", SeriesLook::Line, "p99"),
            series("b", SeriesLook::Line, "p50"),
            series("b", SeriesLook::Law, "law"),
        ];
        let chart = chart(AxisScale::Linear, all);
        assert_eq!(chart.names(), [("a", 0), ("b", 0)]);
        let whats =
            [(SeriesLook::Line, "p50"), (SeriesLook::Line, "p99"), (SeriesLook::Law, "law")];
        assert_eq!(chart.whats(), whats);
        let patterns: Vec<usize> = chart.slots().iter().map(|slot| slot.pattern).collect();
        assert_eq!(patterns, [0, 1, 0, 0]);
    }

    #[test]
    fn names_of_one_colour_have_other_patterns() {
        let all = (0..20).flat_map(|number| {
            let name = format!("v{number}");
            let of = |what| ChartSeries { colour: number, ..series(&name, SeriesLook::Line, what) };
            [of("p50"), of("p99")]
        });
        let chart = chart(AxisScale::Linear, all.collect());
        let slots = chart.slots();
        let looks = chart.series.iter().zip(&slots);
        let looks: BTreeSet<_> =
            looks.map(|(one, slot)| (colour(one.colour).light, slot.pattern)).collect();
        assert_eq!(looks.len(), 40, "each has its own");
        assert_eq!(slots[2 * 8].pattern, 2, "the ninth name has the first colour again");
    }

    #[test]
    fn thousands_of_names_have_their_places() {
        let all = (0..4_000).flat_map(|number| {
            let name = format!("v{number}");
            [series(&name, SeriesLook::Bars, "mean"), series(&name, SeriesLook::Raw, "repeat")]
        });
        let chart = chart(named(), all.collect());
        let slots = chart.slots();
        assert!(slots.chunks(2).all(|pair| pair[0].shift == pair[1].shift));
        assert!(
            slots.chunks(2).collect::<Vec<_>>().windows(2).all(|w| w[0][0].shift < w[1][0].shift)
        );
        assert_eq!((chart.names().len(), chart.whats().len()), (4_000, 2));
    }
}
