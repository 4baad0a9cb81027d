//! Represents the error numbers of the operating system as results that can be counted.

use std::fmt;

/// An error number, as errno(3) lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Errno(pub i32);

/// A result whose error is a number alone.
pub type ErrnoResult<T> = Result<T, Errno>;

macro_rules! errors {
    ($($name:ident)*) => {
        const NAMED: &[(i32, &str)] = &[$((libc::$name, stringify!($name))),*];
        impl Errno { $(#[doc = concat!("`", stringify!($name), "` of errno(3).")] pub const $name: Errno = Errno(libc::$name);)* }
    };
}

errors! {
    EPERM ENOENT EINTR EIO EBADF EAGAIN ENOMEM EACCES EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR
    EINVAL ENFILE EMFILE EFBIG ENOSPC EROFS EMLINK ERANGE ENAMETOOLONG ENOSYS ENOTEMPTY ELOOP
    EOPNOTSUPP EDQUOT ESTALE ETIMEDOUT
}

impl Errno {
    /// The error with this name: `ENOSPC`.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMED.iter().find(|(_, n)| *n == name).map(|(code, _)| Self(*code))
    }

    /// The names that [`Errno::from_name`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(_, name)| *name)
    }

    /// What the C library says of it: "No space left on device".
    pub fn about(self) -> String {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        text.split(" (os error").next().unwrap_or_default().to_string()
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "errno {}", self.0),
        }
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Self {
        Self(error.raw_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_name_and_its_text() {
        assert_eq!(Errno::ENOSPC.to_string(), "ENOSPC");
        assert_eq!(Errno::ENOSPC.about(), "No space left on device");
        assert_eq!(Errno::from_name("EEXIST"), Some(Errno::EEXIST));
        assert_eq!(Errno(4095).to_string(), "errno 4095");
    }
}
