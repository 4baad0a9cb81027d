//! A chroot whose root is no mount point: mounts of a run are seen by it alone there too. Needs root.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::command::{Bench, Running, names_in, run_directories};
use crate::common::{output, skip};

/// A root with this boatload, mkfs.ext4 and what they link to, on a mount that all processes share; what is mounted in it goes
/// when it is dropped.
struct Root {
    bench: Bench,
}

impl Root {
    fn new(what: &str) -> Option<Self> {
        let needs = ["mkfs.ext4", "ldd", "mount"];
        let why = match needs.iter().find(|name| output("which", &[name]).is_none()) {
            _ if !rustix::process::geteuid().is_root() => "not root".into(),
            Some(missing) => format!("{missing} is missing"),
            None if !Path::new("/dev/loop-control").exists() => "no loop devices".into(),
            None => {
                let root = Self { bench: Bench::default() };
                root.furnish();
                return Some(root);
            }
        };
        skip(what, &why);
        None
    }

    /// It is a directory of the mount, not its root.
    fn path(&self) -> PathBuf {
        self.bench.work().join("root")
    }

    fn furnish(&self) {
        let mount = |arguments: &[&str], at: &Path| {
            assert!(Command::new("mount").args(arguments).arg(at).status().unwrap().success());
        };
        mount(&["-t", "tmpfs", "-o", "size=1g", "tmpfs"], &self.bench.work());
        mount(&["--make-shared"], &self.bench.work());
        // What is mounted on a mount that is shared is shared.
        let root = self.path();
        for name in ["proc", "dev", "sys", "sbin", "work", "tmp"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["proc", "dev", "sys"] {
            mount(&["--rbind", &format!("/{name}")], &root.join(name));
            mount(&["--make-rslave"], &root.join(name));
        }
        // Only what is mounted in a chroot has a line in its list of mounts.
        mount(&["-t", "tmpfs", "-o", "size=1g", "tmpfs"], &root.join("work"));
        let mkfs = output("which", &["mkfs.ext4"]).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_boatload"), root.join("sbin/boatload")).unwrap();
        std::fs::copy(&mkfs, root.join("sbin/mkfs.ext4")).unwrap();
        for program in [env!("CARGO_BIN_EXE_boatload"), &mkfs] {
            let linked = output("ldd", &[program]).unwrap();
            for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
                let copy = root.join(library.trim_start_matches('/'));
                std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
                std::fs::copy(library, copy).unwrap();
            }
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(self.path()).args(["/sbin/boatload"]).args(arguments);
        command.env_clear().env("PATH", "/sbin").env("HOME", "/tmp").stdin(Stdio::null());
        command
    }

    /// What is mounted in the directory that runs take place in, as other processes see it.
    fn mounted(&self) -> Vec<String> {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let of_runs = format!("{}/boatload-", self.path().join("work").display());
        text.lines().filter(|line| line.contains(&of_runs)).map(String::from).collect()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let umount = |at: &Path| {
            let _ = Command::new("umount").args(["--lazy", "--recursive"]).arg(at).status();
        };
        ["proc", "dev", "sys", "work"].iter().for_each(|name| umount(&self.path().join(name)));
        umount(&self.bench.work());
    }
}

#[test]
fn in_a_chroot_whose_root_is_no_mount_point_a_run_alone_sees_what_it_mounts() {
    let Some(root) = Root::new("mounts in a chroot") else { return };
    let job = "name = 'made'\n[tree]\nfiles = 30_000\n[[phase]]\noperation = 'create'\n\
               [[phase]]\noperation = 'stat'\npasses = 150\n";
    std::fs::write(root.path().join("tmp/long.toml"), job).unwrap();
    let (work, size) = (root.path().join("work"), ["--size", "300MiB", "--store", "/tmp/store.db"]);
    let first = ["run", "/tmp/long.toml", "--filesystem", "ext4", "--dir", "/work"];
    let running = Running::start_on_made(root.command(&[&first[..], &size].concat()), &work);
    assert_eq!(root.mounted(), Vec::<String>::new());
    running.signal(Signal::KILL);
    running.ended();
    assert_eq!(run_directories(&work).len(), 1);
    assert_eq!(root.mounted(), Vec::<String>::new());
    let cleaned = root.command(&["clean", "/work", "--yes"]).output().unwrap();
    assert!(cleaned.status.success(), "{}", String::from_utf8_lossy(&cleaned.stderr));
    assert_eq!(names_in(&work), Vec::<String>::new());
}
