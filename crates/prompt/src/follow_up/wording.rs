//! A text as words in lower case.

use super::lexicon::Lexicon;
use std::collections::HashSet;

/// Letters by which words are compared: "prize" and "prizes", "kochen" and "kocht".
const STEM: usize = 5;

/// A text ready for looking for phrases.
pub(super) struct Wording {
    /// Its words in order; in a language without blanks, runs of characters of one script.
    pub(super) words: Vec<String>,
    /// Which of them are written with a capital.
    capitals: Vec<bool>,
    /// The words with blanks between and around them; without blanks where the language has none.
    flat: String,
    is_spaced: bool,
}

impl Wording {
    pub(super) fn new(text: &str, lexicon: &Lexicon) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut capitals = Vec::new();
        let mut previous = Sort::Other;
        for c in text.chars() {
            let sort = sort(c, lexicon);
            match sort {
                Sort::Silent => continue,
                Sort::Other => {}
                _ if sort == previous => {
                    if let Some(word) = words.last_mut() {
                        word.extend(c.to_lowercase());
                    }
                }
                _ => {
                    words.push(c.to_lowercase().collect());
                    capitals.push(c.is_uppercase());
                }
            }
            previous = sort;
        }
        let flat = if lexicon.is_spaced { format!(" {} ", words.join(" ")) } else { words.concat() };
        Self { words, capitals, flat, is_spaced: lexicon.is_spaced }
    }

    /// Whether the text has a phrase, written as [`Lexicon`] says.
    pub(super) fn has(&self, phrase: &str) -> bool {
        let (phrase, begins) = phrase.strip_prefix('^').map_or((phrase, false), |phrase| (phrase, true));
        let (phrase, ends) = phrase.strip_suffix('$').map_or((phrase, false), |phrase| (phrase, true));
        let wanted = if self.is_spaced { format!(" {phrase} ") } else { phrase.to_owned() };
        match (begins, ends) {
            (true, true) => self.flat == wanted,
            (true, false) => self.flat.starts_with(&wanted),
            (false, true) => self.flat.ends_with(&wanted),
            (false, false) => self.flat.contains(&wanted),
        }
    }

    pub(super) fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// Whether a thing is named before a place: a word behind an article and the like, or, within the
    /// text, one with a capital.
    pub(super) fn names_before(&self, at: usize, lexicon: &Lexicon) -> bool {
        let is_common = |word: &String| lexicon.stop.contains(word.as_str()) || lexicon.requests.contains(word.as_str());
        (1..at).any(|place| {
            let behind_article = lexicon.determiners.contains(self.words[place - 1].as_str());
            (behind_article || self.capitals[place]) && !is_common(&self.words[place])
        })
    }

    /// The words for things: those that are neither in the list of common words nor too short to be one.
    pub(super) fn content<'a>(&'a self, lexicon: &'a Lexicon) -> impl Iterator<Item = &'a str> {
        let is_thing = |word: &&str| {
            let long = !lexicon.is_spaced || word.chars().nth(2).is_some() || word.chars().all(char::is_numeric);
            let kana = !lexicon.is_spaced && word.chars().all(|c| matches!(c, '\u{3040}'..='\u{309f}'));
            long && !kana && !lexicon.stop.contains(*word) && !lexicon.requests.contains(*word)
        };
        self.words.iter().map(String::as_str).filter(is_thing)
    }

    /// The stems of its words for things.
    pub(super) fn stems(&self, lexicon: &Lexicon) -> HashSet<String> {
        self.content(lexicon).map(stem).collect()
    }
}

/// What a character does to a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Letter,
    Hiragana,
    Katakana,
    Han,
    Silent,
    Other,
}

fn sort(c: char, lexicon: &Lexicon) -> Sort {
    match c {
        '\'' | '\u{2019}' if lexicon.divides_at_apostrophe => Sort::Other,
        // Apostrophes, Arabic vowel signs and the stretching mark, soft hyphen, marks of direction.
        '\'' | '\u{2019}' | '\u{64b}'..='\u{65f}' | '\u{640}' | '\u{ad}' | '\u{200b}'..='\u{200f}' => Sort::Silent,
        '\u{3041}'..='\u{309f}' => Sort::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Sort::Katakana,
        '\u{3400}'..='\u{9fff}' | '\u{3005}' => Sort::Han,
        _ if c.is_alphanumeric() => Sort::Letter,
        _ => Sort::Other,
    }
}

/// The first letters of a word, without an Arabic article and the "and" before it.
pub(super) fn stem(word: &str) -> String {
    let word = ["وال", "بال", "كال", "فال", "لل", "ال"].iter().find_map(|article| word.strip_prefix(article)).unwrap_or(word);
    word.chars().take(STEM).collect()
}
