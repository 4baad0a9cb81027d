//! Tests boatload by runs whose truth is known.

use super::{Nobody, RunOrder};
use boatload_analysis::Analysis;
use boatload_analysis::compare::compare_beside;
use boatload_analysis::figures::RunFigures;
use boatload_analysis::history::HISTORY_RUNS;
use boatload_analysis::trials::Trials;
use boatload_analysis::twins::TwinTrials;
use boatload_base::failure::Result;
use boatload_plan::{CellPlan, Conclusion, Plan};
use boatload_results::book::Book;
use boatload_results::store::Store;
use boatload_run::interrupt::Interrupt;

/// Does the order in pairs of runs that do the same, each compared as if the pairs before it were in
/// the store. `begins` is called with the number of each pair from 1.
/// Ends early when it is interrupted, with the pairs that are whole.
pub fn same(
    order: &RunOrder<'_>,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0);
    let mut before: Vec<Book> = Vec::new();
    for at in 1..=number {
        begins(at);
        let Some(a) = alone(order, interrupt)? else { break };
        let Some(b) = alone(order, interrupt)? else { break };
        let known = before.len().saturating_sub(HISTORY_RUNS as usize);
        let known: Vec<RunFigures<'_>> = before[known..].iter().map(RunFigures::of).collect();
        trials.add(&compare_beside(&RunFigures::of(&a), &RunFigures::of(&b), &known, &[]));
        before.extend([a, b]);
    }
    Ok(trials)
}

/// Does the order in runs in which each variant takes turns with one that has this slowdown planted,
/// as a share. `begins` is called with the number of each run from 1. Ends early when it is interrupted.
pub fn slower(
    order: &RunOrder<'_>,
    number: u32,
    delay: f64,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0 + delay);
    let (plan, pairs) = with_twins(order.plan, &order.plan.variants(), ", slowed", delay);
    each_run(order, &plan, number, begins, interrupt, &mut |book| {
        for [a, b] in &pairs {
            trials.add_turns(book, [a, b]);
        }
    })?;
    Ok(trials)
}

/// Does the order in runs in which each variant has a twin under another name, which does the same. Variants are ranked,
/// whatever else the job concludes, for a job with one variant has two. `begins` is called with the number of each run
/// from 1. Ends early when it is interrupted.
pub fn twins(
    order: &RunOrder<'_>,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<TwinTrials> {
    let mut trials = TwinTrials::default();
    let (mut plan, pairs) = with_twins(order.plan, &order.plan.variants(), "-again", 0.0);
    if !plan.conclude.contains(&Conclusion::Ranking) {
        plan.conclude.push(Conclusion::Ranking);
    }
    each_run(order, &plan, number, begins, interrupt, &mut |book| {
        trials.add(Analysis::of(book).findings(), &pairs);
    })?;
    Ok(trials)
}

/// Runs the plan instead of the order's own so often, each time with another seed, which is another
/// order of turns.
fn each_run(
    order: &RunOrder<'_>,
    plan: &Plan,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
    add: &mut dyn FnMut(&Book),
) -> Result<()> {
    for at in 1..=number {
        begins(at);
        let plan = Plan { seed: plan.seed.wrapping_add(u64::from(at)), ..plan.clone() };
        let order = RunOrder { plan: &plan, ..order.clone() };
        let Some(book) = alone(&order, interrupt)? else { break };
        add(&book);
    }
    Ok(())
}

/// A run whose results nobody keeps; `None` when it was interrupted, or is not to begin.
fn alone(order: &RunOrder<'_>, interrupt: &Interrupt) -> Result<Option<Book>> {
    if interrupt.is_set() {
        return Ok(None);
    }
    let book = super::run(order, &mut Store::in_memory()?, &Nobody, interrupt)?.whole()?;
    Ok(Some(book).filter(|_| !interrupt.is_set()))
}

/// The plan with a copy of each of these variants, whose name has this ending and which is slowed down
/// by this share on top of what slows it down already; and the names of both.
fn with_twins(plan: &Plan, doubled: &[&str], ending: &str, delay: f64) -> (Plan, Vec<[String; 2]>) {
    let names = plan.variants();
    let mut ending = ending.to_string();
    while names.iter().any(|name| names.contains(&format!("{name}{ending}").as_str())) {
        ending += &ending.clone();
    }
    let twin = |name: &str| format!("{name}{ending}");
    let mut both = Plan { cells: Vec::new(), ..plan.clone() };
    for name in &names {
        let cells = plan.cells.iter().filter(|cell| cell.variant == *name);
        both.cells.extend(cells.clone().cloned());
        let copied = cells.filter(|_| doubled.contains(name));
        both.cells.extend(copied.map(|cell| CellPlan {
            variant: twin(name),
            delay: (1.0 + cell.delay) * (1.0 + delay) - 1.0,
            ..cell.clone()
        }));
    }
    let pairs = doubled.iter().map(|name| [name.to_string(), twin(name)]).collect();
    (both, pairs)
}

#[cfg(test)]
mod tests;
