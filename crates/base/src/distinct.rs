//! Removes repetitions from lists, keeping their order.

use std::collections::BTreeSet;

/// All of them in the order they first come in.
pub fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// The same of many, without looking at each of the others for each.
pub fn each_of_many_once<T: Ord + Copy>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(*one)).collect()
}

/// The counter that this holds for; a new one at the end if there is none.
pub fn counter<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    });
    &mut all[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_come_once_each_in_the_order_of_few() {
        let all = [3, 1, 3, 2, 1, 3];
        assert_eq!(each_of_many_once(all.into_iter()), [3, 1, 2]);
        assert_eq!(each_once(all.into_iter()), [3, 1, 2]);
    }
}
