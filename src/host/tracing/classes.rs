//! Groups calls by the directory, the size or the depth of the file that they name: the parts of the script for that.

use super::output::{MapRow, MapValue};
use crate::base::named_enum::named_enum;

/// Bits of a key for the bucket; those for the operation are above it.
pub const BUCKET_BITS: u32 = 11;

named_enum! {
    /// What calls are grouped by, in addition to their operation.
    pub enum TraceBy {
        /// The directory that has the file's name.
        Directory = "directory",
        /// The file's size when the call begins.
        Size = "size",
        /// How many directories are above the file, the root not counted.
        PathDepth = "path-depth",
    }
}

impl TraceBy {
    /// What the calls are named whose class is not known, or is one of many that are summed up.
    pub fn rest(self) -> &'static str {
        match self {
            Self::Directory => "other directories",
            Self::Size => "size not known",
            Self::PathDepth => "depth not known",
        }
    }

    /// Whether the script counts by directory: a depth follows from a directory's path.
    pub fn is_by_directory(self) -> bool {
        self != Self::Size
    }
}

/// The class of a call: what its numbers mean depends on what calls are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassKey {
    /// A directory's inode, the number of a path's text, or a size's number of hexadecimal digits.
    pub number: u64,
    /// The file system of the directory, as the kernel numbers devices; 0 of other classes.
    pub device: u64,
    /// Whether it is the number of a path's text.
    pub is_path: bool,
}

/// Calls of a class in one bucket of latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCount {
    /// Which class.
    pub class: ClassKey,
    /// The number of the operation.
    pub operation: u64,
    /// The bucket.
    pub bucket: u16,
    /// How many.
    pub calls: u64,
}

/// Calls of a class that followed each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSlice {
    /// Which class.
    pub class: ClassKey,
    /// The number of the operation.
    pub operation: u64,
    /// Which slice, from 0.
    pub at: u64,
    /// How many calls.
    pub calls: u64,
    /// The time that they took together, in nanoseconds.
    pub total_ns: u64,
}

/// Bytes that calls of a class moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassBytes {
    /// Which class.
    pub class: ClassKey,
    /// The number of the operation.
    pub operation: u64,
    /// How many.
    pub bytes: u64,
}

/// Bits of a class's key below its device: operation, bucket, and whether the class is the text of a path.
const DEVICE_SHIFT: u32 = 17;
/// This bit of a class's key says that its number stands for the text of a path.
const IS_PATH: u64 = 1 << 16;

impl ClassKey {
    /// The smallest size of this class, in bytes; `None` if unknown.
    pub fn size_min(self) -> Option<u64> {
        match self.number {
            0 => Some(0),
            digits => 16_u64.checked_pow(u32::try_from(digits).ok()? - 1),
        }
    }

    /// Of the first two parts of a key of the script.
    fn of_parts(number: u64, cell: u64) -> Self {
        Self { number, device: cell >> DEVICE_SHIFT, is_path: cell & IS_PATH != 0 }
    }
}

fn operation_of(cell: u64) -> u64 {
    (cell & (IS_PATH - 1)) >> BUCKET_BITS
}

impl ClassCount {
    pub(super) fn of_row(row: &MapRow) -> Option<Self> {
        let [number, cell, _] = row.key;
        let MapValue::Number(calls) = row.value else { return None };
        let bucket = (cell & ((1 << BUCKET_BITS) - 1)) as u16;
        let class = ClassKey::of_parts(number, cell);
        Some(Self { class, operation: operation_of(cell), bucket, calls })
    }
}

impl ClassBytes {
    pub(super) fn of_row(row: &MapRow) -> Option<Self> {
        let [number, cell, _] = row.key;
        let MapValue::Number(bytes) = row.value else { return None };
        let class = ClassKey::of_parts(number, cell);
        Some(Self { class, operation: operation_of(cell), bytes })
    }
}

impl ClassSlice {
    pub(super) fn of_row(row: &MapRow) -> Option<Self> {
        let [number, cell, at] = row.key;
        let MapValue::Sum { count: calls, total: total_ns } = row.value else { return None };
        let class = ClassKey::of_parts(number, cell);
        Some(Self { class, operation: operation_of(cell), at, calls, total_ns })
    }
}

/// Each map has its types before the first read of it.
pub(super) const SIZE_BEGIN: &str =
    "  @n[(uint64)0, (uint64)0] = (uint64)0; @sizes[(uint64)0] = (uint64)0;
";

pub(super) const DIRECTORY_BEGIN: &str = "  @n[(uint64)0, (uint64)0] = (uint64)0;
  @k1[(uint64)0] = (uint64)0; @k2[(uint64)0] = (uint64)0; @known[(uint64)0, (uint64)0] = (uint64)0;
  @base[(uint64)0] = (uint64)0; @device[(uint64)0] = (uint64)0;
";

pub(super) const PRINT: &str = "        if ($value == 0) { print(@ca); clear(@ca); print(@wa); clear(@wa); print(@xa); clear(@xa); }
        else { print(@cb); clear(@cb); print(@wb); clear(@wb); print(@xb); clear(@xb); }
";

pub(super) const PRINT_NAMES: &str = "      if ($command == %NAMES%) {
        print(@known); print(@name); print(@path); print(@base); print(@device); printf(\"tick\\n\");
      }
";

/// Keeps the names of the directory `$place` and of those above it, and gives its number and its device. A map ends the
/// verifier's search: what is read of it may be anything.
pub(super) const WALK: &str =
    "$dev = (uint64)$place->d_sb->s_dev; $number = (uint64)$place->d_inode->i_ino;
        $level = (uint64)0;
        while ($level < 64) {
          $ino = (uint64)$place->d_inode->i_ino;
          if (@known[$ino, $dev] != 0) { $level = (uint64)64; } else {
            $parent = $place->d_parent;
            @known[$ino, $dev] = (uint64)$parent->d_inode->i_ino;
            @name[$ino, $dev] = str($place->d_name.name);
            $place = $parent;
            $level = $level + 1;
          }
        }
";

/// What is there of a thread goes with it.
pub(super) const SIZE_THREAD_END: &str = "  delete(@sizes[tid]);\n";

pub(super) const DIRECTORY_THREAD_END: &str = "  delete(@k1[tid]); delete(@k2[tid]);\n";

/// By descriptor a directory is known while the call runs; by path when it has found the file.
pub(super) const DIRECTORY_ENTRY: &str = "      if ($path != 0) {
        @k1[tid] = $path; @k2[tid] = ((uint64)1 << 40) | $fd;
      } else {
        $place = (struct dentry *)$file->f_path.dentry;
        if ($op != %LIST%) { $place = $place->d_parent; }
        %WALK%        @k1[tid] = $number; @k2[tid] = $dev;
      }
";

/// The directory of a file that was opened is known by its descriptor. The text of other paths is cut at its last slash;
/// boatload finds out what it means.
pub(super) const DIRECTORY_EXIT: &str =
    "        $number = @k1[tid]; $dev = @k2[tid]; $is_path = (uint64)0;
        if (($dev >> 40) != 0) {
          $task = (struct task_struct *)curtask;
          $table = $task->files->fdt;
          $path = $number; $fd = $dev & 0xffffffff;
          $first = (uint64)1;
          if ($op == %CREATE% || $op == %OPEN%) {
            $fd = (uint64)args->ret; $first = (uint64)0;
          } else {
            $first = (uint64)*(uint8 *)uptr($path);
          }
          $place = (struct dentry *)(uint64)$task->fs->pwd.dentry;
          if ($fd != %CWD%) {
            $file = (struct file *)*(uint64 *)((uint64)$table->fd + $fd * 8);
            $place = (struct dentry *)(uint64)$file->f_path.dentry;
            if ($first == 0) { $place = $place->d_parent; }
          }
          %WALK%
          if ($first != 0) {
            $hash = $number * 31 + $dev; $c = $first; $i = (uint64)0; $directory = (uint64)0;
            if ($first == 47) { $hash = (uint64)7; }
            while ($i < 255 && $c != 0) {
              $c = (uint64)*(uint8 *)uptr($path + $i);
              $hash = ($hash ^ $c) * 1099511628211;
              if ($c == 47) { $directory = $hash; }
              $i = $i + 1;
            }
            if ($directory != 0) {
              if (@device[$directory] == 0) {
                @path[$directory] = str(uptr($path));
                if ($first != 47) { @base[$directory] = $number; }
                @device[$directory] = $dev;
              }
              $number = $directory; $dev = (uint64)0; $is_path = (uint64)65536;
            }
          }
        }
        $class = ($dev << 17) | $is_path;
";

/// The size is that before the call, of what a descriptor names.
pub(super) const SIZE_ENTRY: &str = "      @sizes[tid] = (uint64)0x4000000000000000;
      if ($path == 0) { @sizes[tid] = (uint64)$file->f_inode->i_size; }
";

/// The class of a size is its number of hexadecimal digits; 31 stands for an unknown size.
pub(super) const SIZE_EXIT: &str =
    "        $size = @sizes[tid]; $number = (uint64)0; $class = (uint64)0;
        if ($op == %CREATE% || $op == %OPEN%) {
          $table = ((struct task_struct *)curtask)->files->fdt;
          $file = (struct file *)*(uint64 *)((uint64)$table->fd + (uint64)args->ret * 8);
          $size = (uint64)$file->f_inode->i_size;
        }
        if ($size == 0x4000000000000000) { $number = (uint64)31; } else {
          if ($size >= 4294967296) { $size = $size >> 32; $number = $number + 8; }
          if ($size >= 65536) { $size = $size >> 16; $number = $number + 4; }
          if ($size >= 256) { $size = $size >> 8; $number = $number + 2; }
          if ($size >= 16) { $size = $size >> 4; $number = $number + 1; }
          if ($size >= 1) { $number = $number + 1; }
        }
";

/// Counts into a class, and into slices of 32 calls each, whose spread shows how far a mean can be trusted.
pub(super) const COUNT: &str = "        $kind = $class | ($op << 11);
        $n = @n[$number, $kind]; @n[$number, $kind] = $n + 1;
        $cell = $class + $k + $v;
        if ($set == 0) {
          @ca[$number, $cell] = count(); @wa[$number, $kind, $n >> 5] = stats($ns);
          if ($op == %READ% || $op == %WRITE%) { @xa[$number, $kind] = sum((uint64)args->ret); }
        } else {
          @cb[$number, $cell] = count(); @wb[$number, $kind, $n >> 5] = stats($ns);
          if ($op == %READ% || $op == %WRITE%) { @xb[$number, $kind] = sum((uint64)args->ret); }
        }
";
