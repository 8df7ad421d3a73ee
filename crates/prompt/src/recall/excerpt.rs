//! The part of a long message that the words stand in.

use super::words::words;
use crate::TokenCounter;
use std::collections::HashSet;
use std::ops::Range;

/// More of a message is not looked at.
const REACH: usize = 100_000;
/// What stands where something was left out.
pub(super) const CUT: &str = "…";

/// The part of a text around the words of these stems, in at most so many tokens; the beginning where
/// it has none of them. Marked where something was left out.
pub(super) fn excerpt(text: &str, stems: &[String], most: u32, counter: &dyn TokenCounter) -> String {
    let text = text.trim();
    let reach = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= REACH).last().unwrap_or(0);
    let wanted: HashSet<&str> = stems.iter().map(String::as_str).collect();
    let found = words(&text[..reach]);
    let places: Vec<Range<usize>> =
        found.iter().filter(|word| wanted.contains(word.stem.as_str())).map(|word| word.place.clone()).collect();
    // Between blanks only, where there are any.
    let mut cuts: Vec<usize> = vec![0];
    cuts.extend(text[..reach].char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8()));
    if cuts.len() * 30 < reach {
        cuts = text[..reach].char_indices().map(|(at, _)| at).collect();
    }
    cuts.push(text.len());
    let fits = |from: usize, to: usize| counter.count(&marked(text, cuts[from]..cuts[to])) <= most;
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
    if to > from { marked(text, cuts[from]..cuts[to]) } else { String::new() }
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

fn marked(text: &str, part: Range<usize>) -> String {
    let before = if part.start > 0 { CUT } else { "" };
    let after = if part.end < text.len() { CUT } else { "" };
    format!("{before}{}{after}", text[part].trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Words;
    use crate::{Characters, O200k};
    use proptest::prelude::*;

    #[test]
    fn an_excerpt_holds_the_words_that_were_looked_for() {
        let text = format!("{} the lighthouse keeper was Marit {}", "hay ".repeat(300), "straw ".repeat(300));
        let found = excerpt(&text, &["lighthous".into(), "keep".into()], 12, &Words);
        assert!(found.starts_with('…') && found.ends_with('…') && found.contains("lighthouse keeper"), "{found}");
        assert!(Words.count(&found) <= 12);
        let beginning = excerpt(&text, &["nowhere".into()], 5, &Words);
        assert_eq!(beginning, "hay hay hay hay hay…");
        assert_eq!(excerpt("short enough", &[], 5, &Words), "short enough");
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_its_room(text in "[a-zäé日🫠 \n]{0,400}", most in 0u32..60, stem in "[a-z]{1,3}") {
            for counter in [&Words as &dyn TokenCounter, &O200k, &Characters] {
                let found = excerpt(&text, std::slice::from_ref(&stem), most, counter);
                prop_assert!(found.is_empty() || counter.count(&found) <= most);
            }
        }
    }
}
