//! Makes inputs from examples: bytes, numbers, words and lines are changed, and JSON documents by their values.

use serde_json::Value;

use boatload_base::fixture::json_places::json_places;
use boatload_base::random::{Stream, below, draw};

/// Entries of a list in a document that are changed at most.
const LIST_MAX: usize = 12;

/// Draws that follow from a seed and the number of an input.
pub(super) struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    pub(super) fn new(seed: u64, case: u64) -> Self {
        Self { seed: draw(seed, Stream::Noise, case), drawn: 0 }
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        below(draw(self.seed, Stream::Noise, self.drawn), bound.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.below(choices.len()))
    }
}

/// Numbers at which something begins or ends.
const NUMBERS: [&str; 26] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "63",
    "64",
    "255",
    "256",
    "4096",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e300",
    "-1e300",
    "1e-300",
    "0.1",
    "nan",
    "inf",
    "99999999999999999999999999",
];

/// Words that mean something somewhere.
const WORDS: [&str; 30] = [
    "\"\"", "\"2x memory\"", "\"0B\"", "\"16EiB\"", "\"1ns\"", "\"1000000h\"", "\"100%\"",
    "\"$files\"", "\"$level\"", "\"random\"", "true", "false", "null", "[]", "{}", "[[]]",
    "{ quick = 1 }", "'sim'", "'sync'", "max", "\u{1b}[31m", "\u{202e}", "目录", "../../etc",
    "%s%n", "a b", "\n", "\0", "name = 'x'", "[0, 0]",
];

pub(super) struct Mutator {
    examples: Vec<Vec<u8>>,
    /// How many of them were there first, and stay.
    first: usize,
}

impl Mutator {
    pub(super) fn new(examples: Vec<Vec<u8>>) -> Self {
        let first = examples.len();
        Self { examples, first }
    }

    /// Keeps an input that was taken, to change it further.
    pub(super) fn keep(&mut self, input: Vec<u8>, most: usize, random: &mut Random) {
        // An input that grows without bound would take the time of every other one.
        if input.len() > 2 * self.examples[..self.first].iter().map(Vec::len).max().unwrap_or(0) {
            return;
        }
        if self.examples.len() < self.first + most {
            self.examples.push(input);
        } else {
            let at = self.first + random.below(most);
            self.examples[at] = input;
        }
    }

    /// The next input: an example, changed in one to six places, mostly in few.
    pub(super) fn input(&mut self, random: &mut Random) -> Vec<u8> {
        let mut input = random.of(&self.examples).cloned().unwrap_or_default();
        let most = 1 + random.below(6);
        for _ in 0..=random.below(most) {
            let json =
                if random.below(10) < 7 { serde_json::from_slice(&input).ok() } else { None };
            match json {
                Some(value) => input = self.changed_json(value, random),
                None => self.change_text(&mut input, random),
            }
        }
        input
    }

    fn change_text(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() + 1);
        let to = (at + 1 + random.below(64)).min(input.len());
        match random.below(12) {
            0 if at < input.len() => input[at] = random.below(256) as u8,
            1 if at < input.len() => input[at] ^= 1 << random.below(8),
            2 => input.truncate(at),
            3 => drop(input.drain(at..to)),
            4 => drop(input.splice(at..at, vec![random.below(256) as u8; 1 + random.below(40)])),
            5 => {
                let part = input[at..to].to_vec();
                let place = random.below(input.len() + 1);
                drop(input.splice(place..place, part));
            }
            6 | 7 => replace_number(input, random),
            8 => replace_word(input, random),
            9 => self.take_lines(input, random),
            10 => move_line(input, random),
            _ => {
                let word = random.of(&WORDS).copied().unwrap_or_default();
                drop(input.splice(at..at, word.bytes()));
            }
        }
    }

    /// Inserts lines of another example into the input.
    fn take_lines(&self, input: &mut Vec<u8>, random: &mut Random) {
        let other = random.of(&self.examples).map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
        let first = random.below(lines.len());
        let last = (first + 1 + random.below(5)).min(lines.len());
        let starts: Vec<usize> = line_starts(input);
        let place = random.of(&starts).copied().unwrap_or(0);
        drop(input.splice(place..place, lines[first.min(last)..last].concat()));
    }

    fn changed_json(&self, mut value: Value, random: &mut Random) -> Vec<u8> {
        let places = json_places(&value, LIST_MAX);
        let place = random.of(&places).cloned().unwrap_or_default();
        let donor = random.of(&places).and_then(|place| value.pointer(place)).cloned();
        let Some(found) = value.pointer_mut(&place) else { return value.to_string().into_bytes() };
        match random.below(9) {
            0 => *found = donor.unwrap_or_default(),
            1 => remove_one(found, random),
            2 => repeat_one(found, random),
            3 => {
                let text = random.of(&WORDS).copied().unwrap_or_default();
                *found = Value::String(text.repeat(1 + random.below(3)));
            }
            4 => *found = Value::Null,
            5 => {
                *found = if found.is_array() { Value::Array(Vec::new()) } else { Value::from(-0.0) }
            }
            6 => swap_two(found, random),
            _ => {
                let number = random.of(&NUMBERS).copied().unwrap_or_default();
                *found = serde_json::from_str(number).unwrap_or_default();
            }
        }
        value.to_string().into_bytes()
    }
}

fn remove_one(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(all) if !all.is_empty() => drop(all.remove(random.below(all.len()))),
        Value::Object(all) => {
            let keys: Vec<String> = all.keys().cloned().collect();
            random.of(&keys).and_then(|key| all.remove(key));
        }
        _ => {}
    }
}

fn repeat_one(value: &mut Value, random: &mut Random) {
    if let Value::Array(all) = value
        && let Some(one) = random.of(all).cloned()
    {
        all.extend(vec![one; 1 + random.below(20)]);
    }
}

fn swap_two(value: &mut Value, random: &mut Random) {
    if let Value::Array(all) = value
        && !all.is_empty()
    {
        let (a, b) = (random.below(all.len()), random.below(all.len()));
        all.swap(a, b);
    }
}

fn replace_number(input: &mut Vec<u8>, random: &mut Random) {
    let is_digit = |at: usize| input.get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> =
        (0..input.len()).filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1))).collect();
    let Some(&start) = random.of(&starts) else { return };
    let end = (start..input.len()).find(|at| !is_digit(*at)).unwrap_or(input.len());
    let number = random.of(&NUMBERS).copied().unwrap_or_default();
    drop(input.splice(start..end, number.bytes()));
}

/// Puts one word in the place of another: both come from the input, or the new one from the list.
fn replace_word(input: &mut Vec<u8>, random: &mut Random) {
    let is_word = |at: usize| {
        input.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-')
    };
    let starts: Vec<usize> =
        (0..input.len()).filter(|at| is_word(*at) && (*at == 0 || !is_word(at - 1))).collect();
    let end = |start: usize| (start..input.len()).find(|at| !is_word(*at)).unwrap_or(input.len());
    let (Some(&old), Some(&new)) = (random.of(&starts), random.of(&starts)) else { return };
    let word = match random.below(3) {
        0 => random.of(&WORDS).copied().unwrap_or_default().as_bytes().to_vec(),
        _ => input[new..end(new)].to_vec(),
    };
    let range = old..end(old);
    drop(input.splice(range, word));
}

fn move_line(input: &mut Vec<u8>, random: &mut Random) {
    let starts = line_starts(input);
    let (Some(&from), Some(&to)) = (random.of(&starts), random.of(&starts)) else { return };
    let end = starts.iter().copied().find(|start| *start > from).unwrap_or(input.len());
    let line: Vec<u8> = match random.below(2) {
        0 => input.drain(from..end).collect(),
        _ => input[from..end].to_vec(),
    };
    let to = to.min(input.len());
    drop(input.splice(to..to, line));
}

fn line_starts(input: &[u8]) -> Vec<usize> {
    let after = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}
