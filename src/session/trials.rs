//! boatload tried on itself: runs whose truth is known, on a real file system and on the
//! simulated one.

mod simulated;

use super::{RunOrder, Watcher};
use crate::analysis::Analysis;
use crate::analysis::compare::compare_among;
use crate::analysis::history::HISTORY_RUNS;
use crate::analysis::trials::Trials;
use crate::base::failure::Result;
use crate::plan::{CellPlan, Plan};
use crate::results::book::Book;
use crate::results::store::Store;
use crate::run::interrupt::Interrupt;

pub(crate) use simulated::simulated;

/// Nobody watches the single runs.
struct Nobody;

impl Watcher for Nobody {}

/// Does the order in pairs of runs that do the same, each compared as if the pairs before it were in
/// the store. `begins` is called with the number of each pair from 1.
/// Ends early when it is interrupted, with the pairs that are whole.
pub(crate) fn same(
    order: &RunOrder<'_>,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0);
    let mut before: Vec<Book> = Vec::new();
    for at in 1..=number {
        begins(at);
        let a = alone(order, interrupt)?;
        if interrupt.is_set() {
            break;
        }
        let b = alone(order, interrupt)?;
        if interrupt.is_set() {
            break;
        }
        let known = before.len().saturating_sub(HISTORY_RUNS as usize);
        let known: Vec<Analysis<'_>> = before[known..].iter().map(Analysis::of).collect();
        trials.add(&compare_among(&Analysis::of(&a), &Analysis::of(&b), &known));
        before.extend([a, b]);
    }
    Ok(trials)
}

/// Does the order in runs in which each variant takes turns with one that has this slowdown planted,
/// as a share. `begins` is called with the number of each run from 1. Ends early when it is interrupted.
pub(crate) fn slower(
    order: &RunOrder<'_>,
    number: u32,
    delay: f64,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0 / (1.0 + delay));
    let (plan, pairs) = with_slowed(order.plan, delay);
    for at in 1..=number {
        begins(at);
        // Another seed is another order of turns.
        let plan = Plan { seed: plan.seed.wrapping_add(u64::from(at)), ..plan.clone() };
        let book = alone(&RunOrder { plan: &plan, ..order.clone() }, interrupt)?;
        if interrupt.is_set() {
            break;
        }
        for [a, b] in &pairs {
            trials.add_turns(&book, [a, b]);
        }
    }
    Ok(trials)
}

/// A run whose results nobody keeps.
fn alone(order: &RunOrder<'_>, interrupt: &Interrupt) -> Result<Book> {
    super::run(order, &mut Store::in_memory()?, &Nobody, interrupt)
}

/// The plan with a slowed copy of each variant, on top of what slows it down already, and the names of
/// both.
fn with_slowed(plan: &Plan, delay: f64) -> (Plan, Vec<[String; 2]>) {
    let names: Vec<String> = plan.variants().into_iter().map(str::to_string).collect();
    let slowed = |name: &str| format!("{name}, slowed");
    let mut both = Plan { cells: Vec::new(), ..plan.clone() };
    for name in &names {
        let cells = plan.cells.iter().filter(|cell| cell.variant == *name);
        both.cells.extend(cells.clone().cloned());
        both.cells.extend(cells.map(|cell| CellPlan {
            variant: slowed(name),
            delay: (1.0 + cell.delay) * (1.0 + delay) - 1.0,
            ..cell.clone()
        }));
    }
    let free = plan.free.iter().map(|((name, phase), n)| ((slowed(name), phase.clone()), *n));
    both.free.extend(free);
    let pairs = names.into_iter().map(|name| [name.clone(), slowed(&name)]);
    (both, pairs.collect())
}
