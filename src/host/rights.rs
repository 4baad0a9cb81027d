//! What this process may do, as tried out.

use super::cache;
use super::facts::Rights;
use super::residency::CacheProbe;

impl Rights {
    /// Tries them out, changing nothing.
    pub fn probe() -> Self {
        Self {
            root: rustix::process::geteuid().is_root(),
            drop_caches: cache::can_drop(),
            cache_probe: CacheProbe::detect().word().to_string(),
        }
    }
}
