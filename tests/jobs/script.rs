//! Lists all operations and requests of a cell, as text: what a run does if nothing fails. Kept for small
//! plans as golden files, so that no change of it goes unseen.

use boatload::base::units::counted;
use boatload::op::{Durability, NextRequest, OperationProgress, Request, Target};
use boatload::plan::phase::Phase;
use boatload::plan::{CellPlan, Tree};
use boatload::run::mixed_files::MixedFiles;
use boatload::run::mixed_turns::MixedTurns;
use boatload::run::turns::TurnSource;

/// What worker `worker` does in all phases of a cell, a line each: the phase, then its requests.
/// A listed directory is taken to fit one buffer.
pub(crate) fn script(cell: &CellPlan, worker: u32) -> impl Iterator<Item = String> + '_ {
    cell.phases.iter().flat_map(move |phase| {
        let share = phase.selection.share(worker, phase.threads);
        let operations = counted(share.count, "operation");
        let head = format!(
            "phase {} pass {}: {operations}, cache {}",
            phase.name,
            phase.pass,
            phase.cache.as_str()
        );
        let requests = (0..share.count)
            .flat_map(move |turn| requests(phase, &cell.tree, share.number(turn)))
            .map(|request| format!("  {request}"));
        let syncs = phase.durability == Durability::Syncfs;
        std::iter::once(head).chain(requests).chain(syncs.then(|| "  syncfs".to_string()))
    })
}

/// The requests of one operation when each does all it was asked.
fn requests(phase: &Phase, tree: &Tree, number: u64) -> Vec<Request> {
    let target = phase.targets(tree).target(number);
    let content = match phase.operation.reads_content {
        true => phase.state_before(tree, number).size,
        false => 0,
    };
    let (mut progress, mut all) = (OperationProgress::default(), Vec::new());
    while let NextRequest::Submit(request) | NextRequest::Last(request) =
        (phase.operation.step)(&target, &progress)
    {
        progress.complete(&request, Ok(moved(&request, &target, content, &progress)));
        all.push(request);
    }
    all
}

/// Bytes a request moves.
fn moved(request: &Request, target: &Target, content: u64, so_far: &OperationProgress) -> u64 {
    const LISTING: u64 = 1;
    match request {
        Request::Write { bytes, .. } | Request::WriteAt { bytes, .. } => u64::from(*bytes),
        Request::Read { .. } => (content - so_far.bytes).min(u64::from(target.block)),
        Request::ReadDirectory => LISTING - so_far.bytes,
        _ => 0,
    }
}

/// What worker `worker` does in the mixes of a cell, a line for each turn, if all goes well.
pub(crate) fn script_of_mixes(cell: &CellPlan, worker: u32) -> Vec<String> {
    let mut lines = Vec::new();
    for (phase, mix) in cell.phases.iter().filter_map(|phase| Some((phase, phase.mix.as_ref()?))) {
        lines.push(format!("mix {} of worker {worker}", phase.name));
        let files = MixedFiles::new(phase, mix, &cell.tree);
        let mut turns = MixedTurns::new(phase, mix, &cell.tree, &files, worker);
        while let Some(turn) = turns.next() {
            turns.ended(&turn, &OperationProgress::default());
            let name = turn.work.map_or("evict", |work| &mix.works[work].name);
            let Target { place, size, version, .. } = turn.target;
            let content = match turn.work.filter(|_| size > 0) {
                None => String::new(),
                Some(_) => format!(", {size} bytes of version {version}"),
            };
            lines.push(format!("  {name} {place}{content}"));
        }
    }
    lines
}
