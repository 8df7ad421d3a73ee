//! The part of a long message that the words stand in.

use super::words::words;
use crate::TokenCounter;
use std::collections::HashSet;
use std::ops::Range;

/// More of a message is not looked at.
const REACH: usize = 100_000;
/// What stands where something was left out.
const CUT: &str = "…";

/// The part of a text around the words of these stems, in at most so many tokens with the marks of what
/// was left out; the beginning where it has none of them.
pub(super) fn excerpt(text: &str, stems: &[String], most: u32, counter: &dyn TokenCounter) -> Range<usize> {
    let all = trimmed(text, 0..text.len());
    let reach = text[all.clone()].char_indices().map(|(at, _)| all.start + at).take_while(|at| *at <= REACH).last();
    let reach = reach.unwrap_or(all.start);
    let wanted: HashSet<&str> = stems.iter().map(String::as_str).collect();
    let found = words(&text[..reach]);
    let places: Vec<Range<usize>> =
        found.iter().filter(|word| wanted.contains(word.stem.as_str())).map(|word| word.place.clone()).collect();
    // Between blanks only, where there are any.
    let inside = || text[all.start..reach].char_indices().map(|(at, c)| (all.start + at, c));
    let mut cuts: Vec<usize> = vec![all.start];
    cuts.extend(inside().filter(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8()));
    if cuts.len() * 30 < reach - all.start {
        cuts = inside().map(|(at, _)| at).collect();
    }
    cuts.push(all.end);
    let part = |from: usize, to: usize| trimmed(text, cuts[from]..cuts[to]);
    let fits = |from: usize, to: usize| {
        let part = part(from, to);
        let (before, after) = marks(text, &part);
        counter.count(&format!("{before}{}{after}", &text[part])) <= most
    };
    let (mut from, mut to) = centre(&cuts, &places, most);
    while to > from && !fits(from, to) {
        to -= (to - from).div_ceil(4);
    }
    // Grows by halving steps, on both sides alike as far as both have something left.
    for both in [true, false] {
        let mut step = cuts.len().next_power_of_two();
        while step > 0 {
            let (earlier, later) = (from.saturating_sub(step), (to + step).min(cuts.len() - 1));
            if both && fits(earlier, later) {
                (from, to) = (earlier, later);
            } else if !both && fits(from, later) {
                to = later;
            } else if !both && fits(earlier, to) {
                from = earlier;
            }
            step /= 2;
        }
    }
    part(from, to)
}

/// A part without the blanks around it.
pub(super) fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let start = part.end - text[part.clone()].trim_start().len();
    start..start + text[start..part.end].trim_end().len()
}

/// What marks that something stands before a part, and after it.
pub(super) fn marks(text: &str, part: &Range<usize>) -> (&'static str, &'static str) {
    let mark = |rest: &str| if rest.trim().is_empty() { "" } else { CUT };
    (mark(&text[..part.start]), mark(&text[part.end..]))
}

/// Where most of the words stand close together: positions of cuts around them.
fn centre(cuts: &[usize], places: &[Range<usize>], most: u32) -> (usize, usize) {
    // A token is about four letters; half of the room is for what stands around.
    let width = most as usize * 2;
    let best = (0..places.len()).max_by_key(|first| {
        let within = places[*first..].iter().take_while(|place| place.end <= places[*first].start + width).count();
        (within, std::cmp::Reverse(*first))
    });
    let Some(best) = best else { return (0, 0) };
    let last = places[best..].iter().take_while(|place| place.end <= places[best].start + width).last().unwrap_or(&places[best]);
    let from = cuts.partition_point(|cut| *cut <= places[best].start).saturating_sub(1);
    (from, cuts.partition_point(|cut| *cut < last.end).min(cuts.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Words;
    use crate::{Characters, O200k};
    use proptest::prelude::*;

    fn shown(text: &str, stems: &[String], most: u32, counter: &dyn TokenCounter) -> String {
        let part = excerpt(text, stems, most, counter);
        let (before, after) = marks(text, &part);
        format!("{before}{}{after}", &text[part])
    }

    #[test]
    fn an_excerpt_holds_the_words_that_were_looked_for() {
        let text = format!("{} the lighthouse keeper was Marit {}", "hay ".repeat(300), "straw ".repeat(300));
        let found = shown(&text, &["lighthous".into(), "keep".into()], 12, &Words);
        assert!(found.starts_with('…') && found.ends_with('…') && found.contains("the lighthouse keeper was"), "{found}");
        assert!(Words.count(&found) <= 12);
        assert_eq!(shown(&text, &["nowhere".into()], 5, &Words), "hay hay hay hay hay…");
        assert_eq!(shown(" short enough\n", &[], 5, &Words), "short enough");
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_its_room(text in "[a-zäé日🫠 \n]{0,400}", most in 1u32..60, stem in "[a-z]{1,3}") {
            for counter in [&Words as &dyn TokenCounter, &O200k, &Characters] {
                let part = excerpt(&text, std::slice::from_ref(&stem), most, counter);
                let (before, after) = marks(&text, &part);
                let shown = format!("{before}{}{after}", &text[part.clone()]);
                prop_assert!(part.is_empty() || counter.count(&shown) <= most);
            }
        }
    }
}
