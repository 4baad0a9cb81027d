//! Rules about how files and items hang together: circles between the files of a stage, types of
//! one name, parameters that are tuples, public functions that nothing in the product calls.
//! Each is a function from sources to complaints.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, first_word, words};

/// Files of one stage that import each other in a circle, one complaint for each such file.
pub(crate) fn circles(all: &[Source]) -> Vec<String> {
    let modules: BTreeMap<Vec<String>, usize> =
        all.iter().enumerate().map(|(at, source)| (owned(&source.module()), at)).collect();
    let reexports: Vec<_> = all.iter().map(|source| reexported(source, &modules)).collect();
    let arrows: Vec<BTreeSet<usize>> =
        (0..all.len()).map(|from| imported(all, from, &modules, &reexports)).collect();
    let reached: Vec<_> = (0..all.len()).map(|from| reachable(&arrows, from)).collect();
    let mut complaints = Vec::new();
    for (from, source) in all.iter().enumerate() {
        let back = |to: &&usize| reached[**to].contains(&from);
        let others: Vec<&str> =
            arrows[from].iter().filter(back).map(|to| all[*to].path.as_str()).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            complaints.push(format!("{}: in a circle through {others}", source.path));
        }
    }
    complaints
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_string()).collect()
}

fn reachable(arrows: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        open.extend(arrows[at].iter().copied().filter(|to| reached.insert(*to)));
    }
    reached
}

type Modules = BTreeMap<Vec<String>, usize>;

/// Files that may still import the parts that import them.
const OVER_THEIR_PARTS: &[&str] = &["crates/session/src/lib.rs"];

/// The files of its own stage that a file imports.
fn imported(
    all: &[Source],
    from: usize,
    modules: &Modules,
    reexports: &[BTreeMap<String, Vec<String>>],
) -> BTreeSet<usize> {
    let source = &all[from];
    let mut found = BTreeSet::new();
    for path in paths(source, modules, &without_reexports(&source.live)) {
        let target = file_of(&path, modules, reexports);
        let same_stage = |to: &usize| all[*to].module().first() == source.module().first();
        let is_exempt = OVER_THEIR_PARTS.iter().any(|path| source.path.starts_with(path));
        let below = |to: &usize| is_exempt && all[*to].module().starts_with(&source.module());
        found.extend(target.filter(|to| *to != from && !below(to)).filter(same_stage));
    }
    found
}

/// The file that defines what a path from the crate's root names, through `pub use`.
fn file_of(
    path: &[String],
    modules: &Modules,
    reexports: &[BTreeMap<String, Vec<String>>],
) -> Option<usize> {
    const HOPS_MAX: usize = 8;
    let mut path = path.to_vec();
    for _ in 0..HOPS_MAX {
        let length = (1..=path.len()).rev().find(|n| modules.contains_key(&path[..*n]))?;
        let file = modules[&path[..length]];
        let further = path.get(length).and_then(|name| reexports[file].get(name));
        let Some(further) = further else { return Some(file) };
        path = further.iter().chain(&path[length + 1..]).cloned().collect();
    }
    None
}

/// What a file passes on with `pub use`: names, and the paths that they stand for.
fn reexported(source: &Source, modules: &Modules) -> BTreeMap<String, Vec<String>> {
    let only_reexports = reexports_only(&source.live);
    let paths = paths(source, modules, &only_reexports);
    paths.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
}

/// The ranges of `pub use ...;`.
fn pub_uses(code: &str) -> Vec<std::ops::Range<usize>> {
    let uses = words(code, "use").filter(|at| {
        let line = code[..*at].rfind('\n').map_or(0, |end| end + 1);
        code[line..*at].trim_start().starts_with("pub")
    });
    uses.map(|at| at..code[at..].find(';').map_or(code.len(), |end| at + end)).collect()
}

fn blanked(code: &str, keep: impl Fn(usize) -> bool) -> String {
    let bytes = code.bytes().enumerate();
    let kept = bytes.map(|(at, byte)| if keep(at) || byte == b'\n' { byte } else { b' ' });
    String::from_utf8_lossy(&kept.collect::<Vec<_>>()).into_owned()
}

fn without_reexports(code: &str) -> String {
    let ranges = pub_uses(code);
    blanked(code, |at| !ranges.iter().any(|range| range.contains(&at)))
}

fn reexports_only(code: &str) -> String {
    let ranges = pub_uses(code);
    blanked(code, |at| ranges.iter().any(|range| range.contains(&at)))
}

/// Every path in code that leads into the crate, from its root.
fn paths(source: &Source, modules: &Modules, code: &str) -> Vec<Vec<String>> {
    let own = owned(&source.module());
    let mut found = Vec::new();
    let heads = modules.keys().filter(|module| module.len() == own.len() + 1);
    let children: BTreeSet<&str> = heads
        .filter(|module| module.starts_with(&own))
        .map(|module| module[own.len()].as_str())
        .collect();
    let stages: BTreeSet<String> = modules
        .keys()
        .filter_map(|module| module.first())
        .map(|stage| format!("boatload_{stage}"))
        .collect();
    let heads = ["crate", "super", "self"].into_iter().chain(children);
    for head in heads.chain(stages.iter().map(String::as_str)) {
        for at in words(code, head) {
            let before = code[..at].trim_end();
            let inside = before.ends_with("::") || before.ends_with("super");
            // Who may see something is no import.
            let is_visibility = before.ends_with("pub(in");
            if inside || is_visibility || !code[at + head.len()..].starts_with("::") {
                continue;
            }
            let (mut base, mut rest) = (own.clone(), &code[at..]);
            match head {
                stage if stages.contains(stage) => {
                    base = vec![stage["boatload_".len()..].to_string()]
                }
                "crate" => base.truncate(1),
                "self" => {}
                "super" => {
                    base.pop();
                }
                child => base.push(child.to_string()),
            }
            rest = &rest[head.len() + "::".len()..];
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
            expand(&base, rest, &mut found);
        }
    }
    found
}

/// The paths that a tree of `a::{b, c::d}` stands for; where it ends.
fn expand(base: &[String], code: &str, found: &mut Vec<Vec<String>>) -> usize {
    let mut path = base.to_vec();
    let mut at = 0;
    loop {
        let blank = code[at..].len() - code[at..].trim_start().len();
        at += blank;
        if code[at..].starts_with('{') {
            at += 1;
            while at < code.len() && !code[at..].starts_with('}') {
                at += expand(&path, &code[at..], found);
                at += code[at..].find([',', '}']).unwrap_or(code.len() - at);
                if code[at..].starts_with(',') {
                    at += 1;
                }
                at += code[at..].len() - code[at..].trim_start().len();
            }
            return (at + 1).min(code.len());
        }
        let name = first_word(&code[at..]);
        if name.is_empty() {
            found.push(path);
            return at;
        }
        at += name.len();
        if name != "self" {
            path.push(name.to_string());
        }
        if !code[at..].starts_with("::") {
            found.push(path);
            return at;
        }
        at += "::".len();
    }
}

/// Types that have the name of another one.
pub(crate) fn twice_named(all: &[Source]) -> Vec<String> {
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in all {
        for kind in ["struct", "enum", "union", "trait", "type"] {
            for at in words(&source.live, kind) {
                let line = source.live[..at].rfind('\n').map_or(0, |end| end + 1);
                // A `type` further in belongs to a trait.
                let begins_at_margin = !source.live[line..at].starts_with(' ');
                let name = first_word(&source.live[at + kind.len()..]);
                if !name.is_empty() && (kind != "type" || begins_at_margin) {
                    let place = source.complain(at, name);
                    named.entry(name.to_string()).or_default().push(place);
                }
            }
        }
    }
    named.retain(|_, places| places.len() > 1);
    named.into_iter().map(|(name, places)| format!("`{name}`: {}", places.join("  "))).collect()
}

/// Parameters of functions that are tuples or take one apart.
pub(crate) fn tuple_parameters(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    for at in words(&source.live, "fn") {
        let name = first_word(&source.live[at + "fn".len()..]);
        if name.is_empty() {
            continue;
        }
        for parameter in parameters(&source.live[at..]) {
            let (pattern, kind) = parameter.split_once(':').unwrap_or((parameter, ""));
            if is_tuple(pattern) || is_tuple(kind) {
                let parameter = parameter.split_whitespace().collect::<Vec<_>>().join(" ");
                complaints.push(source.complain(at, &format!("fn {name}: `{parameter}`")));
            }
        }
    }
    complaints
}

fn is_tuple(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let lifetime = rest.strip_prefix('\'').map(|rest| &rest[first_word(rest).len()..]);
        let less = rest.strip_prefix('&').or(lifetime).or_else(|| rest.strip_prefix("mut "));
        match less {
            Some(less) => rest = less.trim_start(),
            None => return rest.starts_with('(') && parameters(rest).len() > 1,
        }
    }
}

/// The parameters of the function that code begins with.
fn parameters(code: &str) -> Vec<&str> {
    let (mut depth, mut angle, mut start) = (0, 0, None);
    let mut found = Vec::new();
    let bytes = code.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => angle += 1,
            b'>' if at > 0 && bytes[at - 1] != b'-' => angle -= 1,
            b'(' | b'[' | b'{' if start.is_some() => depth += 1,
            b'(' if angle == 0 => start = Some(at + 1),
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            b')' if start.is_some() => {
                found.extend(start.map(|start| &code[start..at]));
                break;
            }
            b',' if depth == 0 && angle == 0 => {
                found.extend(start.map(|start| &code[start..at]));
                start = start.map(|_| at + 1);
            }
            _ => {}
        }
    }
    found
}

/// Functions that are public, if only within the crate, and whose name stands nowhere else in the
/// product: only tests call them, or nobody.
pub(crate) fn without_callers(all: &[Source]) -> Vec<String> {
    let mut mentions: BTreeMap<&str, usize> = BTreeMap::new();
    let codes: Vec<String> = all.iter().map(|source| without_reexports(&source.live)).collect();
    for code in &codes {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for word in code.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
            *mentions.entry(word).or_default() += 1;
        }
    }
    let mut complaints = Vec::new();
    let mut defined: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (source, code) in all.iter().zip(&codes) {
        for at in words(code, "fn") {
            let name = first_word(&code[at + "fn".len()..]);
            let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
            let public = code[line..at].trim_start().starts_with("pub");
            let place = source.complain(at, &format!("fn {name}"));
            defined.entry(name).or_default().push(if public { place } else { String::new() });
        }
    }
    for (name, places) in defined {
        if !name.is_empty() && name != "main" && mentions[name] == places.len() {
            complaints.extend(places.into_iter().filter(|place| !place.is_empty()));
        }
    }
    complaints
}
