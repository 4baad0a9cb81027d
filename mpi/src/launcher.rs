//! Reads what a launcher tells a process: which rank it is, before MPI is started, and whether the launcher is of another MPI
//! than this program. Each process would then be a job of its own.

/// What launchers tell a process: how many there are, and which one it is.
const TOLD: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// Whether this is the process that prints what all would print: rank 0, or one that no launcher has started.
pub(crate) fn is_first() -> bool {
    TOLD.iter().find_map(|(_, rank)| told(rank)).is_none_or(|rank| rank == 0)
}

/// A number that the launcher tells.
fn told(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// Whether the launcher and MPI agree on how many processes there are.
///
/// # Errors
/// If MPI knows of one and the launcher started more. Only the first of these gets an error; the others end.
pub(crate) fn check(size: u32) -> Result<(), String> {
    let several = TOLD.iter().find(|(sizes, _)| told(sizes).is_some_and(|told| told > 1));
    let Some((sizes, ranks)) = several.filter(|_| size == 1) else { return Ok(()) };
    if told(ranks) != Some(0) {
        std::process::exit(0);
    }
    Err(refusal(told(sizes).unwrap_or(0), &library()))
}

fn refusal(started: u32, library: &str) -> String {
    format!(
        "the launcher started {started} processes, but each is alone for {library}, which this boatload-mpi was built with. \
         Start it with the launcher of that library, with the srun --mpi that it supports, or build it with the MPI of the launcher"
    )
}

/// The name and version of the MPI library.
fn library() -> String {
    let text = mpi::environment::library_version().unwrap_or_default();
    let first = text.split([',', '\n']).next().unwrap_or_default();
    match first.trim() {
        "" => "the MPI library".into(),
        name => name.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_library_and_says_what_to_do() {
        let sentence = refusal(8, "Open MPI v4.1.4");
        assert!(sentence.starts_with("the launcher started 8 processes"), "{sentence}");
        assert!(sentence.contains("alone for Open MPI v4.1.4"), "{sentence}");
    }
}
