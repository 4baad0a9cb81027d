//! Starts programs as the ranks of a job, with the launcher of the MPI library that they were built with.

use std::path::Path;
use std::process::Command;

/// The launcher that starts so many ranks of a program on this machine, whatever its number of processors.
pub(crate) fn launch(ranks: u32, program: &Path) -> Command {
    let library = mpi::environment::library_version().unwrap();
    let is_open_mpi = library.contains("Open MPI");
    let names =
        if is_open_mpi { ["mpirun.openmpi", "mpirun"] } else { ["mpiexec.hydra", "mpiexec"] };
    let has = |name: &&&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let name = names.iter().find(has).unwrap_or_else(|| panic!("no launcher for {library}"));
    let mut command = Command::new(name);
    if is_open_mpi {
        command.arg("--oversubscribe");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // mpirun 4 may take a rank that has ended MPI for one that has not, and fail (open-mpi/ompi#7833). One that is
        // killed, or ends with a code of its own, still ends the job.
        command.env("OMPI_MCA_orte_allowed_exit_without_sync", "1");
    }
    command.arg("-n").arg(ranks.to_string()).arg(program);
    command
}
