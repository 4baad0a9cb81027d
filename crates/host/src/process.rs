//! Tells whether a process that left its mark is still running, and the limits of this one.

use serde::{Deserialize, Serialize};

use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use boatload_base::failure::shown;
use boatload_base::files::{names_in, read_bytes, read_text};

/// The most that this process may have now of what a line of `/proc/self/limits` begins with, such as `Max open files`; none
/// if it is unlimited or not told (proc_pid_limits(5)). getrlimit(2) would fail where a filter does not know it.
pub fn limit(resource: &str) -> Option<u64> {
    limit_in(&read_text("/proc/self/limits").ok()?, resource)
}

fn limit_in(limits: &str, resource: &str) -> Option<u64> {
    let values = limits.lines().find_map(|line| line.strip_prefix(resource))?;
    values.split_whitespace().next()?.parse().ok()
}

/// One process of this machine: its number is given again, but not with the same start in the same boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// The kernel's boot.
    pub boot: String,
    /// Its number.
    pub process: u32,
    /// When it began, in clock ticks since the boot; 0 if that is not known.
    pub started: u64,
}

impl ProcessMark {
    /// The mark of this process.
    pub fn this_process() -> Self {
        let process = std::process::id();
        Self { boot: boot_id(), process, started: started(process).unwrap_or_default() }
    }

    /// The identity of another process; `None` if no such process runs.
    pub fn of_process(process: u32) -> Option<Self> {
        Some(Self { boot: boot_id(), process, started: started(process)? })
    }

    /// Whether it is another process than this one, and still there.
    pub fn is_running_elsewhere(&self) -> bool {
        let is_own = self.process == std::process::id();
        !is_own && self.boot == boot_id() && started(self.process) == Some(self.started)
    }
}

/// Whether this process is root's; the answer of the first call is kept.
pub fn is_root() -> bool {
    static IS_ROOT: OnceLock<bool> = OnceLock::new();
    *IS_ROOT.get_or_init(|| rustix::process::geteuid().is_root())
}

/// The kernel's boot: a word that no other has.
pub fn boot_id() -> String {
    let text = read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_string()
}

/// The name of this machine in its network.
pub fn host_name() -> String {
    shown(std::ffi::OsStr::from_bytes(rustix::system::uname().nodename().to_bytes()))
}

/// The processes that run and descend from this one.
pub fn descendants(process: u32) -> Vec<u32> {
    let names = names_in("/proc").unwrap_or_default();
    let numbers = names.into_iter().filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = numbers.filter_map(|one| Some((one, field(one, 1)?))).collect();
    let mut found = vec![process];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent).map(|(one, _)| *one);
        let new: Vec<u32> = children.filter(|one| !found.contains(one)).collect();
        found.extend(new);
        at += 1;
    }
    found.split_off(1)
}

/// When a process began (proc_pid_stat(5), `starttime`); `None` if there is none that runs.
fn started(process: u32) -> Option<u64> {
    field(process, 19)
}

/// A field of a process that runs, from its state on, which is the third of all (proc_pid_stat(5)).
fn field<T: std::str::FromStr>(process: u32, at: usize) -> Option<T> {
    let text =
        String::from_utf8_lossy(&read_bytes(format!("/proc/{process}/stat")).ok()?).into_owned();
    let is_dead = matches!(stat_field(&text, 0), Some('Z' | 'X'));
    stat_field(&text, at).filter(|_| !is_dead)
}

/// A field in the text of a `stat` file, from the state on. The name before it, in brackets, may hold anything.
pub(super) fn stat_field<T: std::str::FromStr>(text: &str, at: usize) -> Option<T> {
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_and_none_is_unlimited_or_not_told() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         unlimited            unlimited            bytes\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(limit_in(limits, "Max open files"), Some(1024));
        assert_eq!(limit_in(limits, "Max address space"), None);
        assert_eq!(limit_in("", "Max open files"), None);
        assert!(limit("Max open files").is_some_and(|files| files > 0));
    }

    #[test]
    fn a_process_runs_until_it_ends_and_another_with_its_number_is_not_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = child.id();
        let mark = ProcessMark {
            process,
            started: started(process).unwrap(),
            ..ProcessMark::this_process()
        };
        assert!(mark.is_running_elsewhere());
        assert!(!ProcessMark { started: mark.started - 1, ..mark.clone() }.is_running_elsewhere());
        assert!(!ProcessMark { boot: "another".into(), ..mark.clone() }.is_running_elsewhere());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!mark.is_running_elsewhere());
        assert!(!ProcessMark::this_process().is_running_elsewhere());
    }

    #[test]
    fn children_of_children_descend_from_a_process() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(shell.stdout.take().unwrap()),
            &mut line,
        )
        .unwrap();
        let sleep: u32 = line.trim().parse().unwrap();
        assert_eq!(descendants(shell.id()), [sleep]);
        assert!(descendants(std::process::id()).contains(&sleep));
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(sleep.cast_signed()).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        shell.wait().unwrap();
    }
}
