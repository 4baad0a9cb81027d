//! Represents the error numbers of the operating system as results that can be counted.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

/// An error number, as errno(3) lists them. Documents have its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct Errno(pub i32);

/// The standard library writes the number of an error of the system behind this.
const OS_ERROR: &str = " (os error ";

/// What stands before the number of an error without a name.
const UNNAMED: &str = "errno ";

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

    /// What the C library says of it, with what it means where that is not all: "No space left on device".
    pub fn about(self) -> String {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(OS_ERROR).next().unwrap_or_default();
        self.meaning().map_or_else(|| text.to_string(), |meaning| format!("{text}: {meaning}"))
    }

    /// What an error means for the user; `None` where its text says all. `ENOSPC` depends on the place:
    /// `host::space::Space::lack`.
    pub fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::EPERM => "a right is missing, or a filter of system calls forbids it",
            Self::ENOSYS => "the kernel lacks this call, or a filter of system calls hides it",
            Self::EIO => "the device or the server below failed, and the kernel's log may say why",
            Self::EMFILE => "the limit of open files is too low (ulimit -n)",
            Self::ESTALE => "the server does not know this file any more",
            _ => return None,
        })
    }

    /// The same of an error of the standard library or of a system call, by its text; other texts stay as they are.
    pub fn explained(error: impl fmt::Display) -> String {
        let text = error.to_string();
        let code =
            text.split_once(OS_ERROR).and_then(|(_, code)| code.strip_suffix(')')?.parse().ok());
        code.map_or(text, |code| Self(code).about())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{UNNAMED}{}", self.0),
        }
    }
}

impl Serialize for Errno {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Errno {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(from)?;
        let number = || name.strip_prefix(UNNAMED)?.parse().ok().map(Self);
        Self::from_name(&name)
            .or_else(number)
            .ok_or_else(|| D::Error::custom(format!("unknown error `{name}`")))
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

    #[test]
    fn an_error_is_read_as_it_was_written() {
        for error in [Errno::ENOSPC, Errno(4095)] {
            let text = serde_json::to_string(&error).unwrap();
            assert_eq!(text, format!("\"{error}\""));
            assert_eq!(serde_json::from_str::<Errno>(&text).unwrap(), error);
        }
        assert!(serde_json::from_str::<Errno>("\"ENOSPACE\"").is_err());
    }

    #[test]
    fn an_error_says_what_it_means_whoever_gives_it() {
        let filtered =
            "Operation not permitted: a right is missing, or a filter of system calls forbids it";
        assert_eq!(Errno::EPERM.about(), filtered);
        assert_eq!(Errno::explained(std::io::Error::from_raw_os_error(libc::EPERM)), filtered);
        assert_eq!(Errno::explained(rustix::io::Errno::PERM), filtered);
        assert_eq!(Errno::explained("no such thing (os error)"), "no such thing (os error)");
    }
}
