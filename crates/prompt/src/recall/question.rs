//! What is looked for: the words of what the user says.

use super::stem::forms;
use super::stop::is_stop;
use super::words::{Word, words};
use evenkeel_domain::{RecallWord, plain_word};
use std::collections::HashSet;

/// More words than this are a text, not a question: the longest of them are looked for.
const MOST_WORDS: usize = 24;
/// What a word of the message before counts beside one of the message itself.
const BEFORE: f32 = 0.5;
/// More of a text is not looked at.
const MOST_CHARACTERS: usize = 8_000;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// The words, none where the user said nothing that could be looked for.
    pub words: Vec<RecallWord>,
}

impl Question {
    /// The stems of the words.
    #[must_use]
    pub fn stems(&self) -> Vec<String> {
        self.words.iter().map(|word| word.stem.clone()).collect()
    }
}

/// The words of a message that say what it is about. `before` is the user's message before it, where
/// this one cannot be understood without that; its words count half.
#[must_use]
pub fn question(text: &str, before: Option<&str>) -> Question {
    let mut found = content_words(text, 1.0);
    if let Some(before) = before {
        let known: HashSet<String> = found.iter().map(|word| word.stem.clone()).collect();
        found.extend(content_words(before, BEFORE).into_iter().filter(|word| !known.contains(&word.stem)));
    }
    Question { words: found }
}

fn content_words(text: &str, weight: f32) -> Vec<RecallWord> {
    let reach = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut seen = HashSet::new();
    let mut found: Vec<Word<'_>> = words(&text[..reach]);
    found.retain(|word| (word.is_unspaced || !says_nothing(word.text)) && seen.insert(word.stem.clone()));
    if found.len() > MOST_WORDS {
        // Long words are rare ones. Stable, so that of equally long ones the first stay.
        found.sort_by_key(|word| std::cmp::Reverse(word.text.chars().count()));
        found.truncate(MOST_WORDS);
        found.sort_by_key(|word| word.place.start);
    }
    let word = |word: Word<'_>| {
        let forms = if word.is_unspaced { Vec::new() } else { forms(word.text) };
        RecallWord { stem: word.stem, forms, weight }
    };
    found.into_iter().map(word).collect()
}

fn says_nothing(word: &str) -> bool {
    let plain = plain_word(word);
    is_stop(&plain) || (plain.chars().count() == 1 && !plain.chars().all(char::is_numeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str, before: Option<&str>) -> Vec<String> {
        question(text, before).stems()
    }

    #[test]
    fn only_what_says_something_is_looked_for_and_each_once() {
        assert_eq!(
            stems("Do you remember where we went camping with my sister's dogs, the dogs?", None),
            ["go", "camp", "sist", "dog"]
        );
        assert_eq!(stems("Wie heißt der Hund von meiner Schwester?", None), ["heißt", "hund", "schwest"]);
        assert_eq!(stems("and what was it?", None), Vec::<String>::new());
        assert_eq!(stems("東京は", None), ["東京", "京は"]);
    }

    #[test]
    fn a_follow_up_takes_the_words_before_it_along() {
        let words = question("And her dog?", Some("Where does my sister live now?")).words;
        let weighed: Vec<_> = words.iter().map(|word| (word.stem.as_str(), word.weight)).collect();
        assert_eq!(weighed, [("dog", 1.0), ("sist", 0.5), ("liv", 0.5)]);
        assert_eq!(stems("Which colour has the garden fence?", None), ["colour", "gard", "fenc"]);
    }

    #[test]
    fn a_long_text_is_asked_by_its_longest_words() {
        let text: String = (0..200).map(|n| format!("w{n} ")).collect::<String>() + "extraordinary";
        let words = question(&text, None).words;
        assert_eq!((words.len(), words[MOST_WORDS - 1].stem.as_str()), (MOST_WORDS, "extraordinari"));
    }
}
