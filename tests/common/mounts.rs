//! Small file systems in memory and directories mounted a second time, for tests that run as root.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something mounted; dropping it unmounts it.
pub struct Mounted(PathBuf);

impl Mounted {
    /// A file system in memory at an existing directory. Only root can; the reason otherwise.
    pub fn tmpfs(at: &Path, options: &str) -> Result<Self, String> {
        mount(&["-t", "tmpfs", "-o", options, "tmpfs"].map(OsStr::new), at)
    }

    /// The same without any limit, which states no size.
    pub fn ramfs(at: &Path) -> Result<Self, String> {
        mount(&["-t", "ramfs", "ramfs"].map(OsStr::new), at)
    }

    /// An existing file or directory a second time, at another one.
    pub fn bind(what: &Path, at: &Path) -> Result<Self, String> {
        mount(&[OsStr::new("--bind"), what.as_os_str()], at)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// From now on nothing can be written to it.
    pub fn make_read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(done.unwrap().success());
    }
}

fn mount(arguments: &[&OsStr], at: &Path) -> Result<Mounted, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("needs root to mount".into());
    }
    let mut command = Command::new("mount");
    let done = command.args(arguments).arg(at).stdin(Stdio::null()).output();
    let done = done.map_err(|error| format!("mount: {error}"))?;
    if done.status.success() {
        return Ok(Mounted(at.into()));
    }
    Err(String::from_utf8_lossy(&done.stderr).trim().replace('\n', " "))
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let umount = |lazy: &[&str]| {
            let mut command = Command::new("umount");
            command.args(lazy).arg(&self.0).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !umount(&[]) {
            umount(&["--lazy"]);
        }
    }
}
