//! Repeats cells until the answer is as precise as requested or the time is over: a pilot, then more.

use std::collections::BTreeMap;

use super::{Session, cell_key};
use crate::analysis::Analysis;
use crate::analysis::repetition::{
    PassCost, PrecisionGoal, RepetitionChoice, RepetitionCosts, RepetitionDecision,
    choose_repetition, decision_text, precision_goals, rate_forecasts, repeat_seconds,
};
use crate::base::failure::Result;
use crate::base::units::{counted, span};
use crate::plan::repetition::Passes;
use crate::plan::schedule::CellSeries;
use crate::plan::{Effort, Plan};
use crate::results::book::{CellKey, Measurement, RepetitionNeed};
use crate::results::store::FinishedCell;
use crate::run::clock::{Clock, RealClock};

/// The time a run takes. Where everything is simulated, it is the time that is simulated: so the
/// seed decides what is done, on any machine.
pub(super) struct RunCosts {
    clock: RealClock,
    begun: u64,
    simulated: Option<f64>,
    /// Seconds of the run that were over when the clock was begun: those before it was resumed.
    before: f64,
    /// When the last cell ended, in seconds since the run began. What is decided depends on that, not on what
    /// the clock says when it is decided: so it can be decided again.
    ended: f64,
    /// Passes of the cells since costs were last begun: seconds, passes, and first passes among them.
    passes: BTreeMap<(String, String), (f64, u32, u32)>,
    /// Seconds of those cells.
    cells: f64,
}

impl RunCosts {
    pub(super) fn new(plan: &Plan, clock: &RealClock) -> Self {
        let simulated = plan.cells.iter().all(|cell| cell.engine.is_simulated());
        Self {
            clock: clock.clone(),
            begun: clock.now(),
            simulated: simulated.then_some(0.0),
            before: 0.0,
            ended: 0.0,
            passes: BTreeMap::new(),
            cells: 0.0,
        }
    }

    /// Seconds since the run began.
    pub(super) fn seconds(&self) -> f64 {
        self.simulated.unwrap_or_else(|| self.before + self.clock_seconds())
    }

    fn clock_seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// Costs are counted anew.
    pub(super) fn begin_costs(&mut self) {
        self.passes.clear();
        self.cells = 0.0;
    }

    /// A pass that began at this time is over; what it took.
    pub(super) fn pass(&mut self, m: &Measurement, begun: f64) -> f64 {
        if let Some(simulated) = &mut self.simulated {
            *simulated += m.seconds + m.sync_seconds;
        }
        let seconds = self.seconds() - begun;
        self.add_pass(m, seconds);
        seconds
    }

    fn add_pass(&mut self, m: &Measurement, seconds: f64) {
        let key = (m.cell.variant.clone(), m.phase.clone());
        let pass = self.passes.entry(key).or_default();
        *pass = (pass.0 + seconds, pass.1 + 1, pass.2 + u32::from(m.pass == 1));
    }

    /// A cell that began at this time is over; when it ended.
    pub(super) fn cell(&mut self, begun: f64) -> f64 {
        self.ended = self.seconds();
        self.cells += self.ended - begun;
        self.ended
    }

    /// A cell was done before the run was resumed.
    pub(super) fn pass_over(&mut self, done: &FinishedCell, measurements: &[Measurement]) {
        let passes = measurements.iter().filter(|m| !m.is_settle());
        passes.zip(&done.passes).for_each(|(m, seconds)| self.add_pass(m, *seconds));
        self.cells += done.ended - done.begun;
        self.ended = done.ended;
        match &mut self.simulated {
            Some(simulated) => *simulated = done.ended,
            None => self.before = done.ended - self.clock_seconds(),
        }
    }

    /// What a repeat costs, of the means of so many.
    pub(super) fn costs(&self, free: &Passes, repeats: u32) -> RepetitionCosts {
        let repeats = f64::from(repeats.max(1));
        let of_free = self.passes.iter().filter(|(key, _)| free.contains_key(*key));
        let mut costs =
            RepetitionCosts { repeat_seconds: self.cells / repeats, phases: Vec::new() };
        for (key, (seconds, passes, first)) in of_free {
            costs.repeat_seconds -= seconds / repeats;
            let each = seconds / f64::from((*passes).max(1)) * f64::from(*first) / repeats;
            costs.phases.push(PassCost { key: key.clone(), seconds: each });
        }
        costs.repeat_seconds = costs.repeat_seconds.max(0.0);
        costs
    }
}

/// A series under way.
struct SeriesUnderWay<'a> {
    series: &'a CellSeries,
    /// Whether there is no other.
    is_whole_run: bool,
    precision: f64,
    /// When it is to be over, in seconds since the run began.
    until: f64,
    /// Repeats so far.
    done: u32,
}

impl Session<'_> {
    /// All cells, as often as the precision takes and the time allows.
    pub(super) fn cells_until_sure(&mut self, effort: Effort) -> Result<()> {
        let all = self.plan.series();
        for (at, series) in all.iter().enumerate() {
            let begun = self.spent.ended;
            let share = (effort.time_limit_seconds - begun).max(0.0) / (all.len() - at) as f64;
            let (precision, until) = (effort.precision, begun + share);
            let is_whole_run = all.len() == 1;
            let mut part = SeriesUnderWay { series, is_whole_run, precision, until, done: 0 };
            let takes = self.series(&mut part)?;
            self.book.run.repeats = self.book.run.repeats.max(part.done);
            self.record.update(&self.book, self.watcher);
            if self.interrupt.is_set() {
                return Ok(());
            }
            if let Some(takes) = takes {
                let known = &mut self.book.run.precision_needs;
                let known = known.get_or_insert(RepetitionNeed { repeats: 0, seconds: 0.0 });
                known.repeats = known.repeats.max(takes.repeats);
                known.seconds += takes.seconds;
            }
        }
        Ok(())
    }

    /// One series, until it is sure or its time is over; what it would have taken where it is not.
    fn series(&mut self, part: &mut SeriesUnderWay<'_>) -> Result<Option<RepetitionNeed>> {
        self.spent.begin_costs();
        let begun = self.spent.ended;
        self.repeats(self.plan, part, self.plan.repeats, None)?;
        let (took, given) = (self.spent.ended - begun, part.until - begun);
        let long = match took > given {
            true => format!(", longer than the {} that were given", span(given)),
            false => String::new(),
        };
        let repeats = counted(u64::from(part.done), "repeat");
        let mut lead = format!("pilot: {repeats} in {}{long}", span(took));
        while !self.interrupt.is_set() {
            let costs = self.spent.costs(&self.plan.free, part.done);
            let left = part.until - self.spent.ended;
            let decision = self.decided(part, &costs, left);
            if self.known.cells.is_empty() {
                let decision = decision_text(&decision, part.precision);
                self.watcher.notice(&format!("{lead}; {decision}"));
            }
            let RepetitionChoice { more, passes, .. } = &decision.taken;
            if *more == 0 {
                let takes = decision.wanted.filter(|wanted| wanted.more > 0);
                return Ok(takes.map(|w| RepetitionNeed { repeats: w.repeats, seconds: w.seconds }));
            }
            let plan = self.plan.with_passes(passes);
            let last = decision.taken.looks_again_after();
            let each = repeat_seconds(&costs, passes);
            self.repeats(&plan, part, part.done + more, Some((last, each)))?;
            lead = format!("after {}", counted(u64::from(part.done), "repeat"));
        }
        Ok(None)
    }

    /// Repeats up to this number, as far as is known; of them those up to `stop`: a number, and what
    /// each takes in seconds, for which there must be time.
    fn repeats(
        &mut self,
        plan: &Plan,
        part: &mut SeriesUnderWay<'_>,
        known: u32,
        stop: Option<(u32, f64)>,
    ) -> Result<()> {
        self.repeats = known;
        while part.done < stop.map_or(known, |(last, _)| last) {
            let ends = stop.map(|(_, each)| self.spent.ended + each);
            if self.interrupt.is_set() || ends.is_some_and(|ends| ends > part.until) {
                return Ok(());
            }
            part.done += 1;
            for at in plan.order_in(part.series, part.done) {
                if !self.interrupt.is_set() {
                    self.one(plan, at, part.done)?;
                }
            }
        }
        Ok(())
    }

    /// The measurements of a series.
    fn measured_in(&self, series: &CellSeries) -> Vec<&Measurement> {
        let key = |at: &usize| cell_key(self.plan, &self.plan.cells[*at], 1);
        let keys: Vec<_> = series.cells.iter().map(key).collect();
        let of_series = |m: &&Measurement| {
            let same =
                |key: &CellKey| (&key.variant, &key.level) == (&m.cell.variant, &m.cell.level);
            keys.iter().any(same)
        };
        self.book.measurements.iter().filter(of_series).collect()
    }

    /// What is to be done next, by the measurements of the series.
    fn decided(
        &self,
        part: &SeriesUnderWay<'_>,
        costs: &RepetitionCosts,
        seconds: f64,
    ) -> RepetitionDecision {
        let rows = match part.is_whole_run {
            true => precision_goals(&Analysis::of(&self.book), &self.plan.free),
            // The answer takes the levels that follow, too.
            false => rate_forecasts(&self.measured_in(part.series), &self.plan.free),
        };
        if rows.is_empty() {
            let taken = RepetitionChoice { repeats: part.done, ..RepetitionChoice::default() };
            return RepetitionDecision { wanted: None, taken };
        }
        let goal = PrecisionGoal { precision: part.precision, seconds };
        choose_repetition(&rows, costs, part.done, goal)
    }
}
