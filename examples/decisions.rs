//! Decides about all pairs of variants of made-up runs, for `tests/effects/false_claims.py --program`, which has the
//! protocol: one case a line on the standard input, one answer a line on the standard output.

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use boatload::analysis::effects::decide::{ALPHA, Control, Decision, decide};
use boatload::analysis::effects::moderation::moderated;
use serde::{Deserialize, Serialize};

/// Natural logarithms of seconds, by phase, variant and repeat.
#[derive(Deserialize)]
struct Case {
    id: u64,
    times: Vec<Vec<Vec<f64>>>,
}

/// The decisions about all pairs of variants of each phase.
#[derive(Serialize)]
struct Answer {
    id: u64,
    holm: Vec<Decision>,
    benjamini_hochberg: Vec<Decision>,
}

fn answer(Case { id, times }: &Case) -> Answer {
    let (mut ratios, mut phase_of) = (Vec::new(), Vec::new());
    for (phase, variants) in times.iter().enumerate() {
        for (at, a) in variants.iter().enumerate() {
            for b in &variants[at + 1..] {
                ratios.push(a.iter().zip(b).map(|(a, b)| a - b).collect());
                phase_of.push(phase);
            }
        }
    }
    let independent: Vec<usize> =
        times.iter().map(|variants| variants.len().saturating_sub(1)).collect();
    let contrasts = moderated(&ratios, &phase_of, &independent);
    let decisions = |control| {
        let decided = decide(&contrasts, ALPHA, control);
        decided.into_iter().map(|one| one.decision).collect()
    };
    Answer {
        id: *id,
        holm: decisions(Control::Holm),
        benjamini_hochberg: decisions(Control::FalseDiscovery),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = stdout().lock();
    for line in stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        serde_json::to_writer(&mut output, &answer(&case))?;
        writeln!(output)?;
        output.flush()?;
    }
    Ok(())
}
