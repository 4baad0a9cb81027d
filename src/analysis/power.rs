//! Judges what a run can find before it is made: the smallest slowdown that it finds in nine of ten runs, and
//! whether that makes it no more than a smoke test.

use super::findings::knee::{LEVELS_MIN, is_enough_for_knee, smallest_step};
use super::findings::phase_parts::WINDOWS_MIN;
use super::findings::ranking::comparisons;
use super::findings::ratio::pooled_degrees;
use super::findings::sample::counted_levels;
use super::findings::say::percent;
use super::statistics::student::{errors_found, student_t};
use super::thresholds::INTERVAL_ALPHA;
use crate::base::distinct::each_once;
use crate::base::units::counted;
use crate::plan::repetition::PILOT_REPEATS;
use crate::plan::{Conclusion, Plan};
use crate::results::book::Book;

/// What the rates of equal repeats are taken to differ by before any is measured: one standard deviation.
const DEVIATION_TAKEN: f64 = 0.10;

/// A run that finds larger slowdowns only than by this share is a smoke test.
const SMOKE_TEST_FINDS: f64 = 0.50;

/// From so large a difference on its size is of no use.
const TENFOLD: f64 = 9.0;

/// The repeats that are advised find a slowdown by this share.
const ADVISED_FINDS: f64 = 0.20;

/// More repeats than these are not counted on.
const REPEATS_COUNTED_MAX: u32 = 10_000;

/// Degrees of freedom that the windows of a growth leave at least.
const WINDOWS_DEGREES: f64 = 3.0;

/// Repeats beyond which none are advised.
const REPEATS_ADVISED_MAX: u32 = 200;

/// The part of a job that decides what it can find.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDesign {
    /// What its answer is made of; none where nothing is compared.
    kind: Option<Conclusion>,
    repeats: u32,
    levels: usize,
    variants: usize,
    /// Phases of all variants.
    tasks: usize,
    /// Windows of the phase with the most.
    windows: usize,
}

impl RunDesign {
    /// Of a job that is to be run.
    pub fn of_plan(plan: &Plan) -> Self {
        let levels = plan.axis.as_ref().map_or(0, |axis| axis.levels.len());
        let phases = || plan.cells.iter().flat_map(|cell| &cell.phases);
        let variants = plan.variants().len();
        Self {
            kind: answered_by(&plan.conclude, levels),
            repeats: plan.repeats,
            levels,
            variants,
            tasks: variants * each_once(phases().map(|phase| phase.name.as_str())).len(),
            windows: phases().map(|phase| phase.windows as usize).max().unwrap_or(0),
        }
    }

    /// Of rates by themselves.
    pub(super) fn of_rates() -> Self {
        Self { kind: None, repeats: 0, levels: 0, variants: 1, tasks: 1, windows: 0 }
    }

    /// The same where the answer is made of findings of this kind.
    pub(super) fn answered_by(self, kind: Option<Conclusion>) -> Self {
        Self { kind: kind.or(self.kind), ..self }
    }

    /// Of a run whose figures have so many repeats at least.
    pub(super) fn of_book(book: &Book, repeats: usize) -> Self {
        let windows = book.measurements.iter().map(|m| m.windows.len()).max();
        let levels = counted_levels(book);
        Self {
            kind: answered_by(&book.run.conclude, levels),
            repeats: repeats as u32,
            levels,
            variants: book.variants.len(),
            tasks: book.variants.len() * book.phases.len(),
            windows: windows.unwrap_or(0),
        }
    }

    /// What it can find, in one sentence without a full stop; none where it tests nothing.
    pub fn sentence(&self) -> Option<String> {
        if let Some(why) = self.smoke_test() {
            return Some(format!("a smoke test: {why}"));
        }
        let finds = percent(self.finds()?);
        Some(format!("finds a difference of {finds} in 9 of 10 runs, {TAKEN}"))
    }

    /// Why it is no more than a smoke test; none where it is more, or tests nothing.
    pub(super) fn smoke_test(&self) -> Option<String> {
        let kind = self.kind.filter(|kind| *kind != Conclusion::Source)?;
        let repeats = counted(u64::from(self.repeats), "repeat");
        if let Some(needed) = self.levels_needed() {
            let levels = counted(self.levels as u64, "level");
            let are = if self.levels == 1 { "is" } else { "are" };
            return Some(format!(
                "{levels} {are} too few, whatever the repeats: it takes {needed}"
            ));
        }
        if self.repeats < 2 {
            return Some(format!("of {repeats} nothing is known beyond this run"));
        }
        if kind == Conclusion::Knee && !is_enough_for_knee(self.levels, self.repeats as usize) {
            let levels = counted(self.levels as u64, "level");
            return Some(format!(
                "{levels} with {repeats} are too few to tell a sudden slowdown from chance"
            ));
        }
        if kind == Conclusion::Growth && self.windows < WINDOWS_MIN {
            return Some(format!("growth takes {WINDOWS_MIN} windows"));
        }
        let finds = self.finds().filter(|finds| *finds > SMOKE_TEST_FINDS)?;
        let more = self.advised_repeats().map_or(String::new(), |repeats| {
            format!("; --repeats {repeats} finds one of {}", percent(ADVISED_FINDS))
        });
        let found = match finds < TENFOLD {
            true => format!("a difference only from {} on", percent(finds)),
            false => "no difference below tenfold".into(),
        };
        Some(format!("{repeats} find {found}, {TAKEN}{more}"))
    }

    /// The levels that its answer takes, where it has fewer.
    pub(super) fn levels_needed(&self) -> Option<usize> {
        let needed = match self.kind? {
            Conclusion::Knee => LEVELS_MIN,
            Conclusion::Scaling | Conclusion::Slope => 2,
            Conclusion::Crossover => 1,
            _ => 0,
        };
        (self.levels < needed).then_some(needed)
    }

    /// The repeats that find a difference of a fifth; none where too many do not, or nothing is tested.
    pub(super) fn advised_repeats(&self) -> Option<u32> {
        let is_enough = |repeats: &u32| {
            self.with_repeats(*repeats).finds().is_some_and(|finds| finds <= ADVISED_FINDS)
        };
        (2..=REPEATS_ADVISED_MAX).find(is_enough)
    }

    /// The smallest difference, as a share, that it finds in nine of ten runs; none where nothing is tested.
    fn finds(&self) -> Option<f64> {
        let error = match self.kind? {
            Conclusion::Knee => {
                let variance = DEVIATION_TAKEN * DEVIATION_TAKEN;
                return Some(smallest_step(self.levels, self.repeats as usize, variance));
            }
            Conclusion::Growth | Conclusion::Source => return None,
            _ => self.error(),
        };
        let errors = errors_found(error.alpha, error.degrees)?;
        Some((errors * error.of_one * DEVIATION_TAKEN).exp_m1())
    }

    /// The same with other repeats.
    pub(super) fn with_repeats(&self, repeats: u32) -> Self {
        Self { repeats, ..self.clone() }
    }

    /// The error of what its answer is made of.
    pub(super) fn error(&self) -> DesignError {
        let pairs = comparisons(self.variants, self.levels);
        let [n, levels, variants, tasks, pairs] =
            [self.repeats as usize, self.levels, self.variants, self.tasks, pairs]
                .map(|of| of as f64);
        let of_two = (2.0 / n).sqrt();
        let (of_one, degrees, comparisons) = match self.kind {
            // The whole job has one half of the chance.
            Some(Conclusion::Ranking) => (of_two, pooled_degrees(n, variants), 2.0 * pairs),
            Some(Conclusion::Crossover) => {
                let phases = tasks / variants.max(1.0);
                (of_two, pooled_degrees(n, 2.0), (variants - 1.0) * levels * phases)
            }
            Some(Conclusion::Scaling) => (of_two, (n - 1.0) * (levels - 1.0), tasks),
            Some(Conclusion::Slope) => {
                let places = 12.0 * (levels - 1.0) / (levels * (levels + 1.0));
                // The line has one half of the chance, the levels the other.
                ((places / n).sqrt(), n - 1.0, 2.0 * tasks)
            }
            Some(Conclusion::Knee) => ((4.0 / levels / n).sqrt(), (n - 1.0) * (levels - 1.0), 1.0),
            // Windows add degrees of freedom to those of repeats.
            Some(Conclusion::Growth) => (n.recip().sqrt(), (n - 1.0).max(WINDOWS_DEGREES), tasks),
            Some(Conclusion::Source) | None => (n.recip().sqrt(), n - 1.0, 1.0),
        };
        DesignError { of_one, degrees, alpha: INTERVAL_ALPHA / comparisons.max(1.0) }
    }

    /// The repeats after which the interval of its answer's figures reaches so far, as a share; none for more than
    /// [`REPEATS_ADVISED_MAX`].
    fn repeats_within(&self, precision: f64) -> Option<u32> {
        let reaches = |repeats: u32| {
            let error = self.with_repeats(repeats).error();
            Some(student_t(error.alpha, error.degrees)? * error.of_one * DEVIATION_TAKEN)
        };
        (PILOT_REPEATS..=REPEATS_ADVISED_MAX)
            .find(|repeats| reaches(*repeats).is_some_and(|reaches| reaches <= precision))
    }

    /// The repeats after which its intervals are this share as wide as now, one more than now at least; none for more than
    /// [`REPEATS_COUNTED_MAX`].
    pub(super) fn repeats_to_narrow(&self, share: f64) -> Option<u32> {
        let width = |repeats: u32| {
            let error = self.with_repeats(repeats).error();
            student_t(error.alpha, error.degrees).map_or(f64::INFINITY, |t| t * error.of_one)
        };
        let wanted = share * width(self.repeats);
        let (mut low, mut high) = (self.repeats + 1, REPEATS_COUNTED_MAX);
        if width(high) > wanted {
            return None;
        }
        while low < high {
            let middle = u32::midpoint(low, high);
            (low, high) = if width(middle) <= wanted { (low, middle) } else { (middle + 1, high) };
        }
        Some(high)
    }

    /// What so much precision takes, in a few words: `about 12 repeats where repeats differ by 10%`.
    pub fn precision_takes(&self, precision: f64) -> String {
        let repeats = match self.repeats_within(precision) {
            Some(repeats) => format!("about {}", counted(u64::from(repeats), "repeat")),
            None => format!("more than {REPEATS_ADVISED_MAX} repeats"),
        };
        format!("{repeats} {TAKEN}")
    }

    /// Whether its answer compares something, and does not only say how fast it is.
    pub fn compares(&self) -> bool {
        self.kind.is_some_and(|kind| kind != Conclusion::Source)
    }
}

/// The error of a figure, for repeats with a standard deviation of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DesignError {
    /// One standard error.
    pub(super) of_one: f64,
    /// Its degrees of freedom.
    pub(super) degrees: f64,
    /// The chance that its interval does not hold the truth.
    pub(super) alpha: f64,
}

/// What the shares are computed for.
const TAKEN: &str = "where repeats differ by 10%";

/// The kind that an answer is made of: the first one that there can be findings of, or else the first.
fn answered_by(conclude: &[Conclusion], levels: usize) -> Option<Conclusion> {
    let can_be_found = |kind: &Conclusion| match kind {
        Conclusion::Slope | Conclusion::Scaling | Conclusion::Knee => levels > 1,
        Conclusion::Crossover => levels > 0,
        Conclusion::Growth | Conclusion::Ranking | Conclusion::Source => true,
    };
    conclude.iter().copied().find(can_be_found).or(conclude.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, draw, unit};
    use crate::plan::{Scale, Settings, find_scenario, read_job};

    fn design(kind: Conclusion, repeats: u32, levels: usize) -> RunDesign {
        RunDesign { kind: Some(kind), repeats, levels, variants: 2, tasks: 2, windows: 400 }
    }

    #[test]
    fn what_a_built_in_scenario_can_find_is_known_of_each_scale() {
        let of = |name: &str, scale| {
            let settings = Settings { scale, ..Settings::default() };
            RunDesign::of_plan(&read_job(find_scenario(name).unwrap().text, &settings).unwrap())
        };
        for name in ["chunks", "clutter", "directory"] {
            let said = of(name, Scale::Quick).sentence().unwrap();
            assert!(said.starts_with("finds a difference of "), "{name}: {said}");
        }
        for name in ["smallfiles", "sequential", "device"] {
            assert_eq!(of(name, Scale::Quick).sentence(), None, "{name} tests nothing by itself");
        }
        assert!(of("fullness", Scale::Original).sentence().unwrap().starts_with("finds"));
    }

    #[test]
    fn what_cannot_answer_is_a_smoke_test_and_says_what_would() {
        let said = |design: RunDesign| design.sentence().unwrap();
        let once = said(design(Conclusion::Ranking, 1, 0));
        assert_eq!(once, "a smoke test: of 1 repeat nothing is known beyond this run");
        let few = said(design(Conclusion::Knee, 2, 5));
        assert!(few.starts_with("a smoke test: 5 levels with 2 repeats are too few"), "{few}");
        let two = said(design(Conclusion::Ranking, 2, 0));
        assert!(two.contains("2 repeats find a difference only from"), "{two}");
        assert!(two.contains("; --repeats ") && two.ends_with(" finds one of 20%"), "{two}");
        let windows = RunDesign { windows: 4, ..design(Conclusion::Growth, 3, 0) };
        assert!(said(windows).contains("growth takes 8 windows"));
    }

    #[test]
    fn more_repeats_find_less_and_the_advised_ones_find_a_fifth() {
        use Conclusion::{Crossover, Knee, Ranking, Scaling, Slope};
        for kind in [Crossover, Knee, Ranking, Scaling, Slope] {
            let finds = |repeats| design(kind, repeats, 6).finds().unwrap();
            assert!(finds(20) < finds(5), "{kind:?}");
            let advised = design(kind, 3, 6).advised_repeats().unwrap();
            assert!(finds(advised) <= 0.20 && finds(advised - 1) > 0.20, "{kind:?}: {advised}");
        }
    }

    /// By draws of the t test itself: two means of so many normal logarithms that lie as far apart.
    #[test]
    fn what_is_said_to_be_found_is_found_in_nine_of_ten() {
        let repeats = 8;
        let asked = design(Conclusion::Crossover, repeats, 1);
        let apart = asked.finds().unwrap().ln_1p();
        let normal = |at: u64| {
            let uniform = |n| unit(draw(7, Stream::Noise, n)).max(1e-12);
            (-2.0 * uniform(2 * at).ln()).sqrt()
                * (std::f64::consts::TAU * uniform(2 * at + 1)).cos()
        };
        let t = student_t(0.05, f64::from(repeats) - 1.0).unwrap();
        let is_found = |run: &u64| {
            let number = u64::from(repeats);
            let differences: Vec<f64> = (0..number)
                .map(|at| {
                    let pair = 2 * (run * number + at);
                    apart + DEVIATION_TAKEN * (normal(pair) - normal(pair + 1))
                })
                .collect();
            let mean = differences.iter().sum::<f64>() / number as f64;
            let squares: f64 = differences.iter().map(|one| (one - mean).powi(2)).sum();
            let error = (squares / (number - 1) as f64 / number as f64).sqrt();
            mean > t * error
        };
        let found = (0..1_000).filter(is_found).count();
        assert!((850..=950).contains(&found), "{found} of 1,000");
    }
}
