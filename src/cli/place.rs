//! The arguments that say where file systems are made.

use std::path::PathBuf;

use clap::Args;

use crate::base::failure::Result;
use crate::base::units::{Quantity, Unit};
use crate::host::erase::check_named_twice;
use crate::plan::filesystem::Volume;

#[derive(Args)]
pub(super) struct Place {
    /// Make file systems on this block device, which loses all it holds
    ///
    /// It must be named again with --erase. A device that is mounted, in use, or bears a known
    /// signature is not touched. Without it they are made on an image file in --dir.
    #[arg(long, value_name = "DEV", requires = "erase", conflicts_with_all = ["in_memory", "size"])]
    device: Option<PathBuf>,
    /// The same device again, to say that it may be erased
    #[arg(long, value_name = "DEV", requires = "device")]
    erase: Option<PathBuf>,
    /// Make file systems on an image in memory instead of --dir
    ///
    /// The device then costs next to nothing, and what is left is the file system itself.
    #[arg(long)]
    in_memory: bool,
    /// Size of the image, such as 4GiB [default: what the job needs]
    ///
    /// The same for all file systems. The file is sparse: it takes what is written to it.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<u64>,
}

impl Place {
    /// The place that was asked for.
    ///
    /// # Errors
    /// If the device is not named twice in the same words.
    pub(super) fn asked(&self) -> Result<Volume> {
        let bytes = self.size;
        match (&self.device, &self.erase) {
            (Some(path), Some(erase)) => {
                check_named_twice(path, erase)?;
                Ok(Volume::Device { path: path.clone(), erase: erase.clone() })
            }
            _ if self.in_memory => Ok(Volume::Memory { bytes }),
            _ => Ok(Volume::Image { bytes }),
        }
    }
}

fn size(text: &str) -> std::result::Result<u64, String> {
    let quantity = Quantity::parse(text).filter(|q| matches!(q.unit, Unit::Bytes | Unit::Count));
    let bytes = quantity.and_then(Quantity::whole).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "write it as a size, such as 4GiB".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        place: Place,
    }

    fn asked(line: &str) -> Option<Volume> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Line::try_parse_from(words).ok()?.place.asked().ok()
    }

    #[test]
    fn without_a_word_it_is_an_image_of_the_size_that_is_needed() {
        assert_eq!(asked(""), Some(Volume::default()));
        assert_eq!(asked("--size 4GiB"), Some(Volume::Image { bytes: Some(4 << 30) }));
        assert_eq!(asked("--in-memory"), Some(Volume::Memory { bytes: None }));
        let small = Volume::Memory { bytes: Some(1_000_000_000) };
        assert_eq!(asked("--in-memory --size 1GB"), Some(small));
    }

    #[test]
    fn a_device_is_taken_only_when_it_is_named_twice() {
        let device = Volume::Device { path: "/dev/x".into(), erase: "/dev/x".into() };
        assert_eq!(asked("--device /dev/x --erase /dev/x"), Some(device));
        for line in ["--device /dev/x", "--erase /dev/x", "--device /dev/x --erase /dev/y"] {
            assert_eq!(asked(line), None, "{line}");
        }
    }

    #[test]
    fn places_that_exclude_each_other_are_refused() {
        for also in ["--in-memory", "--size 1GiB"] {
            assert_eq!(asked(&format!("--device /dev/x --erase /dev/x {also}")), None, "{also}");
        }
        for size in ["0", "-1", "much", "5%", "3s"] {
            assert_eq!(asked(&format!("--size={size}")), None, "{size}");
        }
    }
}
