//! Defines what a terminal can show.

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Its width; charts take from 40 to 160 of them.
    pub columns: usize,
    /// Whether it knows nothing but ASCII.
    pub ascii: bool,
    /// Its colours.
    pub colours: Colours,
}

/// Colours of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// None, or nobody wants them.
    None,
    /// Those of ANSI.
    Sixteen,
    /// 256 of them.
    Many,
}
