//! Places bars that share a name side by side, and lists the names of a legend.

use std::collections::BTreeMap;

use super::{Chart, ChartSeries, SeriesLook};
use boatload_base::distinct::each_of_many_once;

/// The share of a name's room that its bars take; the rest keeps it from the next name.
const FILLED: f64 = 0.8;

/// The share of its own part that a bar takes.
const BAR: f64 = 0.92;

/// A number whose multiples lie evenly and never meet: the golden ratio.
const SPREAD: f64 = 0.618_033_988_749_895;

/// Where the points of a series stand, in the numbers of the x axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeriesSlot {
    /// How far to the right of their x.
    pub shift: f64,
    /// How wide a bar is; 0 for what stands on none.
    pub width: f64,
}

/// How far aside a single value stands of others at its place, in widths of a bar.
pub(crate) fn aside(at: usize) -> f64 {
    (((at as f64 + 1.0) * SPREAD).fract() - 0.5) / 2.0
}

impl Chart {
    /// The slot of each series, in their order: bars over one name stand side by side, and single values on the bars
    /// of their series.
    pub(crate) fn slots(&self) -> Vec<SeriesSlot> {
        let bars =
            self.series.iter().filter(|one| self.x.is_named() && one.look == SeriesLook::Bars);
        let names = each_of_many_once(bars.map(|one| one.name.as_str()));
        let pitch = FILLED / names.len().max(1) as f64;
        let middle = (names.len() as f64 - 1.0) / 2.0;
        let places: BTreeMap<&str, f64> = names.into_iter().zip((0..).map(f64::from)).collect();
        let slot = |one: &ChartSeries| match places.get(one.name.as_str()) {
            None => SeriesSlot { shift: 0.0, width: 0.0 },
            Some(place) => {
                let is_shifted = matches!(one.look, SeriesLook::Bars | SeriesLook::Raw);
                let shift = if is_shifted { (place - middle) * pitch } else { 0.0 };
                SeriesSlot { shift, width: pitch * BAR }
            }
        };
        self.series.iter().map(slot).collect()
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
}

#[cfg(test)]
mod tests {
    use super::super::{AxisQuantity, AxisScale, ChartAxis, ChartFamily, ChartPoint, Picture};
    use super::*;

    fn series(name: &str, look: SeriesLook, what: &str) -> ChartSeries {
        let points = vec![ChartPoint::at(0.0, 1.0), ChartPoint::at(1.0, 2.0)];
        ChartSeries { name: name.into(), colour: 0, look, what: what.into(), points }
    }

    fn chart(scale: AxisScale, series: Vec<ChartSeries>) -> Chart {
        let axis = |scale| ChartAxis::new("a", AxisQuantity::Count, scale);
        let (x, y) = (axis(scale), axis(AxisScale::Linear));
        Chart { series, ..Chart::new(Picture::new(ChartFamily::Rates), "t".into(), x, y) }
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
    fn a_legend_has_each_name_once() {
        let all = vec![
            series("a", SeriesLook::Line, "p50"),
            series("a", SeriesLook::Line, "p99"),
            series("b", SeriesLook::Line, "p50"),
            series("b", SeriesLook::Law, "law"),
        ];
        let chart = chart(AxisScale::Linear, all);
        assert_eq!(chart.names(), [("a", 0), ("b", 0)]);
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
        assert_eq!(chart.names().len(), 4_000);
    }
}
