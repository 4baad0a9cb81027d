//! `--precision` and `--time-limit`: how sure the figures are to be, and in which time.

use clap::Args;

use crate::base::units::{Quantity, Unit};
use crate::plan::Effort;

#[derive(Args)]
pub(super) struct Precision {
    /// How sure each rate is to be, such as 3%; a pilot finds the repeats
    ///
    /// Half of the 95% interval of each phase's rate, of every variant and level. A pilot of three
    /// repeats tells what differs between operations, passes and repeats and what each costs; then
    /// repeats, and passes of phases that can be done again, are made where they help most. 3% with
    /// --time-limit alone.
    #[arg(long, value_name = "PERCENT", value_parser = precision, conflicts_with = "repeats")]
    precision: Option<f64>,
    /// What the run is to take at most, such as 30m
    ///
    /// No repeat begins that would end later; only the pilot is always finished. 30 minutes with
    /// --precision alone.
    #[arg(long, value_name = "TIME", value_parser = time_limit, conflicts_with = "repeats")]
    time_limit: Option<f64>,
}

impl Precision {
    /// What is asked for, if anything is.
    pub(super) fn asked(&self) -> Option<Effort> {
        let otherwise = Effort::default();
        (self.precision.is_some() || self.time_limit.is_some()).then(|| Effort {
            precision: self.precision.unwrap_or(otherwise.precision),
            time_limit_seconds: self.time_limit.unwrap_or(otherwise.time_limit_seconds),
        })
    }
}

/// A share, of a text in percent.
fn precision(text: &str) -> Result<f64, String> {
    let percent = match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Percent }) => value,
        Some(Quantity { unit: Unit::Count, .. }) => {
            return Err(format!("write it in percent: {}%", text.trim()));
        }
        _ => return Err("write it in percent, such as 3%".into()),
    };
    let (least, most) = Effort::PERCENT.into_inner();
    match Effort::PERCENT.contains(&percent) {
        true => Ok(percent / 100.0),
        false => Err(format!("take {least}% to {most}%, such as 3%")),
    }
}

/// Seconds, of a text with a unit of time.
fn time_limit(text: &str) -> Result<f64, String> {
    let seconds = match Quantity::parse(text) {
        Some(Quantity { value, unit: Unit::Nanoseconds }) => value / 1e9,
        Some(Quantity { unit: Unit::Count, .. }) => {
            return Err(format!("write it with its unit: {0}s, {0}m or {0}h", text.trim()));
        }
        _ => return Err("write it as a time, such as 90s, 30m or 2h".into()),
    };
    match Effort::SECONDS.contains(&seconds) {
        true => Ok(seconds),
        false => Err("take one second to 30 days, such as 30m".into()),
    }
}
