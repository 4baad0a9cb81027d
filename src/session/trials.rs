//! boatload tried on itself: pairs of runs whose truth is known, on a real file system and on the
//! simulated one.

mod simulated;

use std::sync::Arc;

use super::{Order, Standing, Watcher};
use crate::base::failure::Result;
use crate::base::random::{Stream, draw};
use crate::measure::book::{Measurement, ResultBook};
use crate::measure::compare::compare;
use crate::measure::trials::Trials;
use crate::plan::Plan;
use crate::run::drive::DoneCount;
use crate::run::interrupt::Interrupt;
use crate::store::Store;

pub use simulated::{Simulated, simulated};

/// Nobody watches the single runs.
struct Nobody;

impl Watcher for Nobody {
    fn says(&self, _: &str) {}
    fn phase_begins(&self, _: &Standing<'_>, _: Arc<[DoneCount]>) {}
    fn phase_ends(&self, _: &Standing<'_>, _: &Measurement) {}
}

/// Does the order in pairs of runs, of which the second has this slowdown planted, as a share. Which
/// of a pair is run first changes at random. `told` hears the number of each pair from 1. Ends early
/// when it is interrupted, with the pairs that are whole.
///
/// # Errors
/// If a run fails.
pub fn pairs(
    order: &Order<'_>,
    (number, delay): (u32, f64),
    told: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0 / (1.0 + delay));
    let slowed = slowed(order.plan, delay);
    for at in 1..=number {
        told(at);
        let a = || alone(order, interrupt);
        let b = || alone(&Order { plan: &slowed, ..order.clone() }, interrupt);
        let b_first = draw(order.plan.seed, Stream::Schedule, u64::from(at)) & 1 == 1;
        let (a, b) = if b_first {
            let b = b()?;
            (a()?, b)
        } else {
            (a()?, b()?)
        };
        if interrupt.is_set() {
            break;
        }
        trials.add(&compare(&a, &b));
    }
    Ok(trials)
}

/// A run whose results nobody keeps.
fn alone(order: &Order<'_>, interrupt: &Interrupt) -> Result<ResultBook> {
    super::run(order, &mut Store::in_memory()?, &Nobody, interrupt)
}

/// The plan with a slowdown in all of its cells, on top of what they have.
fn slowed(plan: &Plan, delay: f64) -> Plan {
    let mut plan = plan.clone();
    for cell in &mut plan.cells {
        cell.delay = (1.0 + cell.delay) * (1.0 + delay) - 1.0;
    }
    plan
}
