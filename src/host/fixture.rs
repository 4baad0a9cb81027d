//! Makes files as the kernel shows them, for tests.

use std::path::Path;

/// Writes a file below a directory, with the directories above it.
pub(in crate::host) fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
