//! What the tests on real file systems share.
#![allow(
    dead_code, unreachable_pub, clippy::print_stderr, clippy::unwrap_used, clippy::expect_used
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says aloud that something was not tested, and why: on stderr, and in the file that
/// `BOATLOAD_SKIPS` names, so that a green run can tell what it left out.
pub fn skip(what: &str, why: &str) {
    let line = format!("SKIP: {what} : {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("BOATLOAD_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}

/// What a program prints on stdout, without the blanks around it; `None` if it is missing or fails.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let done = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_string())
}

/// A file system in an image file, mounted through a loop device. Dropping it unmounts it, which
/// frees the loop device, and removes the image.
pub struct LoopMount {
    // The directory goes last, after the mount below it is gone.
    mount_point: PathBuf,
    directory: Option<tempfile::TempDir>,
}

impl LoopMount {
    /// Makes a file system (`ext4`, `xfs`, `btrfs`, ...) of this many mebibytes and mounts it. None,
    /// with the reason spoken, where that cannot be done: not root, no mkfs, no loop devices, a
    /// kernel without it, or an image too small for it (xfs wants 300, btrfs 110).
    pub fn new(fs: &str, megabytes: u64) -> Option<Self> {
        Self::with(fs, megabytes, &[], "loop")
    }

    /// The same with arguments for mkfs and mount options, `loop` among them.
    pub fn with(fs: &str, megabytes: u64, mkfs: &[&str], options: &str) -> Option<Self> {
        Self::told(fs, megabytes, Self::try_new(fs, megabytes, mkfs, options, tempfile::tempdir()))
    }

    /// The same with an image in memory.
    pub fn in_memory(fs: &str, megabytes: u64) -> Option<Self> {
        let directory = tempfile::tempdir_in("/dev/shm");
        Self::told(fs, megabytes, Self::try_new(fs, megabytes, &[], "loop", directory))
    }

    fn told(fs: &str, megabytes: u64, made: Result<Self, String>) -> Option<Self> {
        match made {
            Ok(mount) => Some(mount),
            Err(why) => {
                skip(&format!("{fs} of {megabytes} MiB on a loop device"), &why);
                None
            }
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// The loop device below it: `/dev/loop3`.
    pub fn device(&self) -> String {
        let point = self.mount_point.to_str().unwrap();
        output("findmnt", &["-no", "SOURCE", "--mountpoint", point]).expect("findmnt finds it")
    }

    /// Whether the loop device goes around the page cache from now on; false if it cannot be had.
    pub fn switch_direct_io(&self, on: bool) -> bool {
        let option = if on { "--direct-io=on" } else { "--direct-io=off" };
        output("losetup", &[option, &self.device()]).is_some()
    }

    /// The file behind it.
    pub fn image(&self) -> PathBuf {
        self.mount_point.with_file_name("image")
    }

    fn try_new(
        fs: &str,
        megabytes: u64,
        mkfs: &[&str],
        options: &str,
        directory: std::io::Result<tempfile::TempDir>,
    ) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root to mount".into());
        }
        let directory = directory.map_err(|error| error.to_string())?;
        let image = directory.path().join("image");
        let mount_point = directory.path().join("mounted");
        let file = std::fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(megabytes << 20).map_err(|error| error.to_string())?;
        std::fs::create_dir(&mount_point).map_err(|error| error.to_string())?;

        let force = if fs.starts_with("ext") { "-F" } else { "-f" };
        run(Command::new(format!("mkfs.{fs}")).args(["-q", force]).args(mkfs).arg(&image))?;
        mount_image(fs, options, &image, &mount_point)?;
        let mounted = Self { mount_point, directory: Some(directory) };
        // Around the page cache of the file system below, where that can be had.
        let _ = mounted.switch_direct_io(true);
        Ok(mounted)
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        let mut umount = Command::new("umount");
        umount.arg(&self.mount_point);
        // A scanner or a process that is just ending may hold it for a moment.
        let gone = (0..50).any(|_| {
            let done = run(&mut umount).is_ok();
            if !done {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            done
        });
        if !gone {
            let _ = run(Command::new("umount").arg("--lazy").arg(&self.mount_point));
            // The rest of the tree must not be removed through a mount that may still stand.
            if let Some(directory) = self.directory.take() {
                eprintln!(
                    "{} could not be unmounted at once; left as it is",
                    directory.keep().display()
                );
            }
        }
    }
}

/// Runs a command silently; an error says what it said.
/// Mounts a file system in an image file through a loop device; `options` has `loop`. Other tests take and give
/// back loop devices at the same time, so it is tried for a second.
pub fn mount_image(fs: &str, options: &str, image: &Path, point: &Path) -> Result<(), String> {
    let mut mount = Command::new("mount");
    mount.args(["-o", options, "-t", fs]).arg(image).arg(point);
    let mut done = run(&mut mount);
    for _ in 0..10 {
        if done.is_err() {
            std::thread::sleep(std::time::Duration::from_millis(100));
            done = run(&mut mount);
        }
    }
    done
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().replace('\n', " ");
    Err(format!("{program}: {said}"))
}
