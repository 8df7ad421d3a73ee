//! The user's own words: names, places, projects.

use super::Hit;
use super::character::{after, before, is_edge, is_word};
use evenkeel_domain::RedactionKind;
use std::collections::HashMap;

/// The words as a tree of their letters, so that a text is read once whatever their number.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnWords {
    steps: HashMap<(u32, char), u32>,
    /// Nodes at which a word ends.
    ends: Vec<bool>,
}

impl OwnWords {
    pub(super) fn new(entries: &[String]) -> Self {
        let mut words = Self { steps: HashMap::new(), ends: vec![false] };
        for entry in entries {
            let letters = letters(entry.trim());
            let mut node = 0_u32;
            for letter in &letters {
                let next = u32::try_from(words.ends.len()).unwrap_or(u32::MAX);
                node = *words.steps.entry((node, letter.folded)).or_insert(next);
                if node == next {
                    words.ends.push(false);
                }
            }
            if let (false, Some(end)) = (letters.is_empty(), words.ends.get_mut(node as usize)) {
                *end = true;
            }
        }
        words
    }

    /// Finds the longest word that begins at each place: at most as many steps a place as the longest word has letters.
    pub(super) fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        if self.steps.is_empty() {
            return;
        }
        let letters = letters(text);
        for (at, first) in letters.iter().enumerate() {
            if !may_begin(text, first) {
                continue;
            }
            let mut node = 0;
            let mut to = None;
            for letter in &letters[at..] {
                let Some(next) = self.steps.get(&(node, letter.folded)) else { break };
                node = *next;
                if self.ends.get(node as usize) == Some(&true) && may_end(text, letter) {
                    to = Some(letter.to);
                }
            }
            hits.extend(to.map(|to| Hit::new(first.from, to, RedactionKind::Own)));
        }
    }
}

/// A character as it is compared, and where it stands.
struct Letter {
    folded: char,
    from: usize,
    to: usize,
}

/// The characters of a text in lower case; blanks in a row are one, what cannot be seen is none.
fn letters(text: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
    for (from, c) in text.char_indices() {
        let to = from + c.len_utf8();
        match c {
            // Soft hyphen, joiners, marks of direction.
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            _ if c.is_whitespace() => match letters.last_mut() {
                Some(last) if last.folded == ' ' => last.to = to,
                _ => letters.push(Letter { folded: ' ', from, to }),
            },
            _ => {
                for folded in c.to_lowercase().filter(|folded| *folded != '\u{307}') {
                    // Σ has two small forms; the lower case of İ has a dot of its own.
                    let folded = if folded == 'ς' { 'σ' } else { folded };
                    letters.push(Letter { folded, from, to });
                }
            }
        }
    }
    letters
}

/// Whether a word may begin with this letter: it is no letter, or none stands right before it.
fn may_begin(text: &str, letter: &Letter) -> bool {
    let own = after(text, letter.from);
    !own.is_some_and(is_word) || is_edge(own) || is_edge(before(text, letter.from))
}

/// Whether a word may end with this letter.
fn may_end(text: &str, letter: &Letter) -> bool {
    let own = before(text, letter.to);
    !own.is_some_and(is_word) || is_edge(own) || is_edge(after(text, letter.to))
}
