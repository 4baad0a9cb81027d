//! Runs the `boatload` command; all of it is in the library.

fn main() -> std::process::ExitCode {
    boatload::cli::main()
}
