//! Forecasts how long a plan takes from an earlier run of the same work.

use std::collections::BTreeSet;
use std::path::Path;

use boatload_plan::filesystem::{Volume, VolumeSize, mount_options, shown_command};
use boatload_plan::{FileSystem, Plan};
use boatload_results::book::{Book, MadeFileSystem, MadeOn};
use boatload_results::store::FinishedCell;

/// How long a run of a plan takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunForecast {
    /// Seconds of what is done once.
    pub once_seconds: f64,
    /// Seconds of a repeat.
    pub repeat_seconds: f64,
}

impl RunForecast {
    /// Seconds of this number of repeats.
    #[must_use]
    pub fn seconds(&self, repeats: u32) -> f64 {
        self.once_seconds + self.repeat_seconds * f64::from(repeats)
    }

    /// By a complete run, and its cells if the store knows when they began and ended.
    #[must_use]
    pub fn of(book: &Book, cells: &[FinishedCell]) -> Option<Self> {
        let run = &book.run;
        let repeats = f64::from(run.repeats.max(1));
        let in_cells: f64 = cells.iter().map(|cell| cell.ended - cell.begun).sum();
        // A run that was resumed stood still in between.
        let seconds = if run.resumed.is_empty() { run.seconds()? } else { in_cells };
        let repeated = if in_cells > 0.0 { in_cells.min(seconds) } else { seconds };
        let is_known = run.complete && seconds > 0.0;
        is_known.then_some(Self {
            once_seconds: seconds - repeated,
            repeat_seconds: repeated / repeats,
        })
    }
}

/// Whether a complete run did the same work, however often. Where it ran is not looked at.
pub fn same_work(plan: &Plan, book: &Book) -> bool {
    let run = &book.run;
    let is_same_job = run.complete
        && run.hosts.is_empty()
        && (&run.job, run.scale, &run.parameters) == (&plan.job, plan.scale, &plan.parameters);
    let phases = plan.cells.iter().flat_map(|cell| cell.phases.iter().map(move |p| (cell, p)));
    let planned =
        phases.map(|(cell, p)| (&*cell.variant, &*p.name, (Some(cell.engine), p.threads, p.cache)));
    let measured = book.measurements.iter().filter(|m| !m.is_settle() && !m.is_part());
    let done = measured.map(|m| {
        (&*m.cell.variant, &*m.phase, (m.engine, m.threads.unwrap_or_default(), m.cache.asked))
    });
    is_same_job && planned.collect::<BTreeSet<_>>() == done.collect()
}

/// Whether a run's file systems were made as the plan's are on the place that is asked for: by the
/// same commands, with the same mount options, of the same size and on the same modelled disk; or whether
/// neither made any.
pub fn made_alike(plan: &Plan, volume: &Volume, size: Option<VolumeSize>, book: &Book) -> bool {
    plan.cells.iter().all(|cell| {
        let made = book.filesystems.iter().find(|made| made.variant == cell.variant);
        match (&cell.filesystem, size, made) {
            (Some(wanted), Some(room), Some(made)) => is_alike(wanted, volume, &room, made),
            (None, _, None) => true,
            _ => false,
        }
    })
}

fn is_alike(
    wanted: &FileSystem,
    volume: &Volume,
    size: &VolumeSize,
    made: &MadeFileSystem,
) -> bool {
    let is_there = match volume {
        // What has no mkfs is made on no place, and where the image of a modelled disk lies adds no time to it.
        _ if wanted.kind.maker.is_none() || wanted.disk.is_some() => true,
        Volume::Image { .. } => made.place == MadeOn::Image,
        Volume::Memory { .. } => made.place == MadeOn::Memory,
        Volume::Device { path, .. } => {
            let name = made.device.as_ref().map(|device| Path::new(&device.name));
            made.place == MadeOn::Device && name.and_then(Path::file_name) == path.file_name()
        }
    };
    let model = made.disk.as_ref().map(|disk| &disk.model);
    is_there
        && wanted.disk.as_ref().map(|disk| &disk.text) == model
        && (made.kind.as_str(), made.device_bytes) == (wanted.kind.name, size.bytes)
        && (&made.mkfs, &made.mount_asked)
            == (&shown_command(wanted, size), &mount_options(wanted, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::{Settings, read_job};
    use boatload_results::book::{DiskFacts, Measurement, SETTLE};
    use boatload_results::operation::MeasuredOperation;

    fn plan(rest: &str) -> Plan {
        let text = format!("name = \"x\"\nrepeats = 2\n{rest}");
        read_job(&text, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    const CREATE: &str = "[tree]\nfiles = 1_000\nsize = 2_000\n[[phase]]\noperation = \"create\"\n";

    #[test]
    fn an_earlier_run_did_the_same_work_also_where_it_was_settled_behind_it() {
        let plan = plan(CREATE);
        let mut book = Book::default();
        (book.run.job, book.run.scale) = (plan.job.clone(), plan.scale);
        book.run.complete = true;
        book.run.started = "2026-11-01T10:00:00Z".into();
        book.run.finished = Some("2026-11-01T10:00:07Z".into());
        let cell = &plan.cells[0];
        let mut create = Measurement {
            phase: "create".into(),
            engine: Some(cell.engine),
            threads: Some(1),
            ..Measurement::default()
        };
        create.cell.variant = cell.variant.clone();
        let settle = Measurement {
            phase: SETTLE.into(),
            operation: Some(MeasuredOperation::Settle),
            ..create.clone()
        };
        book.measurements = vec![create, settle];
        assert!(same_work(&plan, &book));
        book.run.repeats = 7;
        assert_eq!(RunForecast::of(&book, &[]).unwrap().seconds(2), 2.0);
        book.measurements[1].operation = MeasuredOperation::find("read");
        assert!(!same_work(&plan, &book), "another phase is other work");
    }

    fn filesystem(list: &str) -> FileSystem {
        boatload_plan::filesystem::read_list(list).unwrap().remove(0)
    }

    /// What a book has of a file system of 2 GiB on an image.
    fn made(list: &str) -> MadeFileSystem {
        let (of, room) = (filesystem(list), VolumeSize { bytes: 2 << 30, inodes: 9 });
        MadeFileSystem {
            mkfs: shown_command(&of, &room),
            mount_asked: mount_options(&of, &room),
            device_bytes: room.bytes,
            place: MadeOn::Image,
            ..boatload_results::fixture::made::filesystem("any", of.kind.name)
        }
    }

    #[test]
    fn file_systems_are_alike_if_they_were_made_by_the_same_words_in_the_same_size_and_place() {
        let asked = Volume::default();
        let alike = |list: &str, bytes| {
            let room = VolumeSize { bytes, inodes: 9 };
            is_alike(&filesystem(list), &asked, &room, &made("ext4:mkfs=-m 0:name=x"))
        };
        assert!(alike("ext4:mkfs=-m 0:name=x", 2 << 30));
        for other in ["ext4:name=x", "ext4:mkfs=-m 5:name=x", "ext4:mkfs=-m 0:mount=noatime:name=x"]
        {
            assert!(!alike(other, 2 << 30), "{other}");
        }
        assert!(!alike("ext4:mkfs=-m 0:name=x", 3 << 30));
    }

    #[test]
    fn a_file_system_on_another_modelled_disk_is_not_the_same_wherever_its_image_lies() {
        let room = VolumeSize { bytes: 2 << 30, inodes: 9 };
        let on = |disk: &str| {
            let wanted = filesystem(&format!("ext4:disk={disk}:name=x"));
            let disk = wanted.disk.clone().unwrap();
            let facts = DiskFacts { name: disk.name.clone(), model: disk.text.clone() };
            (wanted, MadeFileSystem { disk: Some(facts), ..made("ext4:name=x") })
        };
        let ((slow, on_slow), (fast, on_fast)) = (on("hdd-7200"), on("nvme"));
        for place in [Volume::Image { bytes: None }, Volume::Memory { bytes: None }] {
            let alike =
                |wanted: &FileSystem, made: &MadeFileSystem| is_alike(wanted, &place, &room, made);
            assert!(alike(&slow, &on_slow) && alike(&fast, &on_fast));
            assert!(!alike(&slow, &on_fast) && !alike(&filesystem("ext4:name=x"), &on_slow));
            assert!(!alike(&slow, &made("ext4:name=x")));
        }
    }

    #[test]
    fn a_file_system_elsewhere_is_not_the_same_unless_it_has_no_place() {
        let room = VolumeSize { bytes: 2 << 30, inodes: 9 };
        let device = |name: &str| Volume::Device { path: name.into(), erase: name.into() };
        let on_image =
            |list: &str, asked: &Volume| is_alike(&filesystem(list), asked, &room, &made(list));
        let elsewhere = [Volume::Memory { bytes: None }, device("/dev/sdz")];
        assert!(elsewhere.iter().all(|asked| !on_image("ext4", asked) && on_image("tmpfs", asked)));
        let mut on_device = made("ext4");
        on_device.place = MadeOn::Device;
        let name = on_device.device.as_ref().map(|device| device.name.clone()).unwrap();
        let same = |name: &str| {
            is_alike(&filesystem("ext4"), &device(&format!("/dev/{name}")), &room, &on_device)
        };
        assert!(same(&name) && !same("sdz"));
    }
}
