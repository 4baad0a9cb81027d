//! Texts that were agreed on, kept in tests/golden.

use std::path::Path;

/// Compares with the kept text; BOATLOAD_BLESS=1 keeps the new one.
#[track_caller]
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{name} differs; BOATLOAD_BLESS=1 keeps the new text");
}
