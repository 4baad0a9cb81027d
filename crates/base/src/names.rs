//! Writes and parses the names of everything boatload makes below its directory. Removal deletes nothing
//! whose name [`Name::parse`] does not know.

/// The longest path, relative to a tree's root, that a name buffer holds, in bytes.
pub const PATH_MAX_BYTES: usize = 255;

/// Digits of a file's number: fixed, so that name order is creation order.
const DIGITS: usize = 10;

/// What a name is of, with the letter it begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NameKind {
    /// A regular file of the tree, `f0000000042`.
    File = b'f',
    /// A directory that a phase makes as an entry of the tree, `d0000000042`.
    Directory = b'd',
    /// A directory of the layout, that holds entries, `h0000000003`.
    Holder = b'h',
    /// The tree of one worker, `w0000000001`.
    Worker = b'w',
    /// The tree of one cell, `c0000000005`.
    Cell = b'c',
    /// Files beside the trees of the cells, `b0000000001`.
    Ballast = b'b',
    /// A kept state of the image, `i0000000007`.
    Image = b'i',
    /// What one rank of a run works in, `r0000000003`.
    Rank = b'r',
}

impl NameKind {
    const ALL: [NameKind; 8] = [
        NameKind::File,
        NameKind::Directory,
        NameKind::Holder,
        NameKind::Worker,
        NameKind::Cell,
        NameKind::Ballast,
        NameKind::Image,
        NameKind::Rank,
    ];

    /// Whether a thing of this kind is in a run's directory itself.
    pub fn is_at_top(self) -> bool {
        matches!(self, NameKind::Cell | NameKind::Ballast | NameKind::Image | NameKind::Rank)
    }

    /// Whether a thing of this kind is a directory on disk.
    pub fn is_directory(self) -> bool {
        !matches!(self, NameKind::File | NameKind::Image)
    }
}

/// A name read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it is the name of.
    pub kind: NameKind,
    /// Its number.
    pub number: u64,
    /// How often it was renamed.
    pub generation: u32,
}

impl Name {
    /// Reads a name that [`NameBuffer::push`] wrote; `None` for any other.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = *NameKind::ALL.iter().find(|kind| Some(&(**kind as u8)) == bytes.first())?;
        let text = std::str::from_utf8(&bytes[1..]).ok()?;
        let (number, generation) = match text.split_once('.') {
            Some((number, generation)) => (number, generation.parse().ok().filter(|g| *g > 0)?),
            None => (text, 0),
        };
        let name = Self { kind, number: number.parse().ok()?, generation };
        let mut again = NameBuffer::default();
        again.push(name);
        (again.as_bytes() == bytes).then_some(name)
    }
}

/// Whether a file that was deleted while it was open has such a name until it is closed: `.nfs` on NFS, `.fuse_hidden`
/// with libfuse, then hexadecimal digits.
pub fn is_silly_name(bytes: &[u8]) -> bool {
    let digits = |prefix: &[u8], count| {
        let digits = bytes.strip_prefix(prefix)?;
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == count && digits.iter().all(is_digit)).then_some(())
    };
    digits(b".nfs", 24).or_else(|| digits(b".fuse_hidden", 16)).is_some()
}

/// The name of what one rank works in.
pub fn rank_name(rank: u32) -> String {
    let name = NameBuffer::of(NameKind::Rank, u64::from(rank));
    String::from_utf8_lossy(name.as_bytes()).into_owned()
}

/// A relative path with its closing NUL, built in place so that the hot loop allocates nothing.
#[derive(Clone)]
pub struct NameBuffer {
    bytes: [u8; PATH_MAX_BYTES + 1],
    len: usize,
}

impl Default for NameBuffer {
    fn default() -> Self {
        Self { bytes: [0; PATH_MAX_BYTES + 1], len: 0 }
    }
}

impl NameBuffer {
    /// A name that no rename has changed.
    pub fn of(kind: NameKind, number: u64) -> Self {
        let mut name = Self::default();
        name.push(Name { kind, number, generation: 0 });
        name
    }

    /// Empties the path.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds one name, after a slash if it is not the first. The plan limits depth so that a path
    /// always fits; what would not fit is cut off rather than written past the end.
    #[inline]
    pub fn push(&mut self, name: Name) {
        if self.len > 0 {
            self.put(b'/');
        }
        self.put(name.kind as u8);
        match self.bytes[self.len..PATH_MAX_BYTES].first_chunk_mut::<DIGITS>() {
            Some(place) if name.number < 10u64.pow(DIGITS as u32) => {
                write_digits(place, name.number);
                self.len += DIGITS;
            }
            _ => self.put_number(name.number),
        }
        if name.generation > 0 {
            self.put(b'.');
            self.put_number(u64::from(name.generation));
        }
    }

    /// Adds a dot: the directory itself.
    pub fn push_here(&mut self) {
        self.put(b'.');
    }

    /// The path without its NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The path as the system calls want it.
    #[inline]
    #[expect(unsafe_code, reason = "the check took a tenth of the hot loop's instructions")]
    pub fn as_c_str(&mut self) -> &std::ffi::CStr {
        self.bytes[self.len] = 0;
        let path = &self.bytes[..=self.len];
        debug_assert!(!path[..self.len].contains(&0));
        // SAFETY: it ends in NUL, and none stands earlier: only letters, digits, dots and slashes were put in.
        unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(path) }
    }

    #[inline]
    fn put(&mut self, byte: u8) {
        if self.len < PATH_MAX_BYTES {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    #[cold]
    fn put_number(&mut self, number: u64) {
        if number >= 10 {
            self.put_number(number / 10);
        }
        self.put(b'0' + (number % 10) as u8);
    }
}

/// Writes a number below 10^10 with leading zeros.
#[inline]
fn write_digits(out: &mut [u8; DIGITS], number: u64) {
    let (first, others) = (number / 100_000_000, number % 100_000_000);
    out[0] = b'0' + (first / 10) as u8;
    out[1] = b'0' + (first % 10) as u8;
    // Eight digits side by side in one word, halved three times. The products divide by 100 and by 10: exact for
    // less than 10,000 and less than 100.
    let fours = (others / 10_000) | ((others % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - tens * 10) << 8);
    out[2..].copy_from_slice(&(ones | u64::from_le_bytes([b'0'; 8])).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: Name) -> String {
        let mut buffer = NameBuffer::default();
        buffer.push(name);
        String::from_utf8(buffer.as_bytes().to_vec()).unwrap_or_default()
    }

    #[test]
    fn a_name_reads_back_as_what_it_was() {
        for number in [0, 42, 9_999_999_999, 10_000_000_000, u64::MAX] {
            for generation in [0, 1, 12] {
                for kind in NameKind::ALL {
                    let name = Name { kind, number, generation };
                    assert_eq!(Name::parse(written(name).as_bytes()), Some(name));
                }
            }
        }
    }

    #[test]
    fn names_have_a_fixed_width_up_to_ten_thousand_million() {
        assert_eq!(
            written(Name { kind: NameKind::File, number: 42, generation: 0 }),
            "f0000000042"
        );
        assert_eq!(
            written(Name { kind: NameKind::File, number: 42, generation: 2 }),
            "f0000000042.2"
        );
    }

    #[test]
    fn each_digit_of_a_number_is_right() {
        let spread = (0..10_000u64).map(|at| at * 999_983);
        for number in (0..=10_000).chain(spread).chain(9_999_990_000..10_000_000_000) {
            let name = NameBuffer::of(NameKind::File, number);
            assert_eq!(name.as_bytes(), format!("f{number:010}").as_bytes());
        }
    }

    #[test]
    fn a_name_boatload_never_writes_is_not_known() {
        for foreign in [
            "", "f", "f42", "x0000000042", "f0000000042.0", "f0000000042.01", "f0000000042~",
            "f+000000042",
        ] {
            assert_eq!(Name::parse(foreign.as_bytes()), None, "{foreign}");
        }
        assert_eq!(Name::parse(b"f00000000\xff2"), None);
    }

    #[test]
    fn a_path_has_slashes_between_its_names() {
        let mut path = NameBuffer::default();
        path.push(Name { kind: NameKind::Holder, number: 1, generation: 0 });
        path.push(Name { kind: NameKind::File, number: 2, generation: 0 });
        assert_eq!(path.as_c_str().to_bytes(), b"h0000000001/f0000000002");
    }
}
