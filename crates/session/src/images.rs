//! Determines whether there is room to keep the prepared file systems of a run as images.

use std::path::Path;

use super::make_filesystems::{memory_of_image, no_room, room_asked};
use super::{HostSurvey, room};
use boatload_base::units::bytes as in_bytes;
use boatload_host::mounts::is_in_memory;
use boatload_plan::Plan;
use boatload_plan::filesystem::Volume;
use boatload_plan::space::{Need, state_bytes};

/// Where file systems are made: as asked. But the image of a modelled disk lies in memory if it fits there
/// with those that are kept, else in the directory if it does, and else where it fits without them.
pub(crate) fn settled_place(survey: &HostSurvey, asked: &Volume, directory: &Path) -> Volume {
    let Volume::Image { bytes } = asked else { return asked.clone() };
    if survey.plan.disks().is_empty() {
        return asked.clone();
    }
    let has_room = |place: &&Volume| {
        let room = room_asked(survey, place).0;
        room.is_some_and(|room| no_room(survey, place, &room, directory).is_empty())
    };
    let keeps = |place: &&Volume| {
        KeptImages::of(survey, place, directory).is_none_or(|images| images.lack.is_none())
    };
    let places = [Volume::Memory { bytes: *bytes }, Volume::Image { bytes: *bytes }];
    let with_room = || places.iter().filter(has_room);
    with_room().find(keeps).or_else(|| with_room().next()).unwrap_or(asked).clone()
}

/// The images of prepared file systems, all that exist at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptImages {
    /// What they may take, in bytes.
    pub bytes: u64,
    /// Why they cannot be kept; `None` when they can.
    pub lack: Option<String>,
}

impl KeptImages {
    /// What is to be kept where a plan is run; `None` when it prepares no file system that boatload makes.
    pub fn of(survey: &HostSurvey, asked: &Volume, directory: &Path) -> Option<Self> {
        let HostSurvey { plan, space, host, memory_free, .. } = survey;
        let volume = room_asked(survey, asked).0?;
        let bytes = kept_bytes(plan, volume.bytes)?;
        let all = bytes.saturating_add(volume.bytes);
        let in_memory = || {
            let all = bytes.saturating_add(memory_of_image(plan, &volume));
            !room::fits_memory(all, *memory_free)
        };
        let is_short = match asked {
            Volume::Device { .. } => {
                let lack = Some("there is no image of a file system on a device".into());
                return Some(Self { bytes, lack });
            }
            Volume::Memory { .. } => in_memory(),
            Volume::Image { .. } if is_in_memory(&host.filesystem.kind) => in_memory(),
            Volume::Image { .. } => {
                let beside = room::bytes_at_most(&plan.in_place(), space);
                let need = Need::of_image(all.saturating_add(beside));
                !space.is_stated()
                    || space.shortfall(need, space.reserve_bytes(), directory).is_some()
            }
        };
        let what = if space.is_stated() { "there is no room" } else { "no room is stated" };
        let lack = is_short
            .then(|| format!("{what} for images of them, up to {} in all", in_bytes(bytes)));
        Some(Self { bytes, lack })
    }

    /// Bytes that are kept for them.
    pub(crate) fn room_bytes(&self) -> u64 {
        if self.lack.is_none() { self.bytes } else { 0 }
    }
}

/// Bytes of all states of prepared file systems that exist at one time, on images of this many
/// bytes; `None` when there are none.
fn kept_bytes(plan: &Plan, image_bytes: u64) -> Option<u64> {
    let cells = plan.cells.iter().filter(|cell| cell.can_be_restored());
    let real = cells.filter(|cell| !cell.engine.is_simulated());
    let each =
        |cell| state_bytes(cell, image_bytes).saturating_mul(plan.histories_kept(cell).into());
    real.map(each).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_host::space::Space;
    use boatload_plan::filesystem::read_list;
    use boatload_plan::{Settings, read_job};

    const GIB: u64 = 1 << 30;

    fn survey(list: &str, available_bytes: u64) -> HostSurvey {
        survey_of(list, available_bytes, 1, None)
    }

    fn survey_of(
        list: &str,
        available_bytes: u64,
        histories: u32,
        time_limit_seconds: Option<f64>,
    ) -> HostSurvey {
        let job = format!(
            "name = 'x'\n[tree]\nfiles = 9\n[axis]\nname = 'used'\nvalues = [20, 40]\n\
             prepare = {{ age = {{ sizes = 4096, histories = {histories} }} }}\n\
             [[phase]]\noperation = 'create'\n"
        );
        let filesystems = read_list(list).unwrap();
        let settings = Settings { filesystems, time_limit_seconds, ..Settings::default() };
        let plan = read_job(&job, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")));
        let mut survey = HostSurvey::new(&plan, Path::new("/")).unwrap();
        survey.host.filesystem.kind = "ext4".into();
        survey.space =
            Space { available_bytes, total_bytes: available_bytes.max(1), ..survey.space };
        survey
    }

    fn images(survey: &HostSurvey, asked: &Volume) -> Option<KeptImages> {
        KeptImages::of(survey, asked, Path::new("/"))
    }

    #[test]
    fn images_take_the_used_space_of_all_levels_and_variants() {
        let asked = Volume::Image { bytes: Some(10 * GIB) };
        let kept = images(&survey("ext4,xfs", 99 * GIB), &asked).unwrap();
        assert_eq!(kept.lack, None);
        assert!(kept.bytes > 12 * GIB && kept.bytes < 14 * GIB, "{}", kept.bytes);
        assert_eq!(kept.room_bytes(), kept.bytes);
    }

    #[test]
    fn of_histories_there_is_room_for_those_that_are_kept_at_one_time() {
        let asked = Volume::Image { bytes: Some(10 * GIB) };
        let kept = |histories, limit| {
            images(&survey_of("ext4", 99 * GIB, histories, limit), &asked).unwrap().bytes
        };
        let (one, limit) = (kept(1, None), Some(60.0));
        assert_eq!([kept(2, None), kept(2, limit)], [2 * one; 2], "repeats take two in turn");
        assert_eq!(kept(11, None), 11 * one, "also a twelfth repeat may be made");
        assert_eq!([kept(12, None), kept(1_000, limit)], [one; 2], "each repeat has its own");
    }

    const FREE: u64 = 20 * GIB;

    /// Where the image of a modelled disk lies of a job that fills it, with so much room in the directory
    /// and `FREE` memory.
    fn place(bytes: u64, available_bytes: u64) -> Volume {
        let survey = HostSurvey {
            memory_free: Some(FREE),
            ..survey("ext4:disk=ram,xfs:disk=ram", available_bytes)
        };
        settled_place(&survey, &Volume::Image { bytes: Some(bytes) }, Path::new("/"))
    }

    #[test]
    fn the_image_of_a_modelled_disk_lies_in_memory_where_all_fits_and_else_where_there_is_room() {
        let (small, half, large) = (FREE / 16, FREE / 2, FREE * 2);
        let memory = |bytes| Volume::Memory { bytes: Some(bytes) };
        let image = |bytes| Volume::Image { bytes: Some(bytes) };
        assert_eq!(place(small, 0), memory(small));
        assert_eq!(place(large, FREE * 9), image(large), "too large");
        assert_eq!(place(half, FREE * 9), image(half), "with all states");
        assert_eq!(place(half, 0), memory(half), "without them");
        assert_eq!(place(large, 0), image(large), "which is refused");
        let real = settled_place(&survey("ext4", 0), &Volume::default(), Path::new("/"));
        assert_eq!(real, Volume::default());
    }

    #[test]
    fn memory_for_the_files_that_fill_a_file_system_is_that_of_its_image_not_of_the_directory() {
        let need = |bytes, there| {
            let asked = Volume::Image { bytes: Some(bytes) };
            survey("ext4", there).with_place(&asked, Path::new("/")).memory_need
        };
        let small = need(4 * GIB, 9000 * GIB);
        assert_eq!(small, need(4 * GIB, 9 * GIB));
        assert!(small.bytes < 64 << 20, "{small:?}");
        assert!(need(9000 * GIB, 4 * GIB).bytes > 512 << 20);
    }

    #[test]
    fn where_there_is_too_little_room_or_no_image_nothing_is_kept_and_it_says_why() {
        let asked = Volume::Image { bytes: Some(10 * GIB) };
        let short = images(&survey("ext4,xfs", 20 * GIB), &asked).unwrap();
        assert!(short.lack.as_ref().unwrap().contains("no room for images of them"), "{short:?}");
        assert_eq!(short.room_bytes(), 0);
        assert_eq!(images(&survey("tmpfs", 99 * GIB), &asked), None, "it has no image");
    }
}
