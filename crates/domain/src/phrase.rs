//! Words of any text and phrases of several words in them: what the rules of `advice` and
//! `care` are written in.
//!
//! A phrase is a row of slots divided by blanks:
//! `word`, `one|other` (either), `stem*` (any word that begins so), `?word` (may be absent),
//! `~3` (up to three words of any kind), `@name` (a list of words given by name).
//! Letters are compared without case, diacritics, apostrophes, doubled letters and invisible
//! characters; a phrase never crosses the end of a sentence. Each character of Chinese and
//! Japanese counts as a word.

use std::collections::HashMap;

mod fold;
use fold::{Class, class, fold};

/// A word in small letters without marks, as the full-text index compares it; letters that are two in
/// other writings, such as `ß`, stay as they are.
#[must_use]
pub fn plain_word(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'ß' | 'æ' | 'œ' | 'þ' => plain.push(c),
            '\u{300}'..='\u{36f}' => {}
            _ => fold(c, |letter| plain.push(letter)),
        }
    }
    plain
}

/// One word, or the end of a sentence (then `from == to`).
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Where the folded word lies in `Words::folded`.
    from: usize,
    to: usize,
    /// Where the word lies in the text, in bytes.
    start: usize,
    end: usize,
    after_comma: bool,
}

/// The words of a text in order, folded for comparison.
#[derive(Default)]
pub(crate) struct Words {
    folded: String,
    spans: Vec<Span>,
}

impl Words {
    /// Reads a text once, from front to back.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        let mut previous = ' ';
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            // Two dots and more are a pause in the middle of a sentence.
            let pause = c == '.' && (previous == '.' || rest.peek().is_some_and(|(_, next)| *next == '.'));
            reader.take(at, c, pause);
            previous = c;
        }
        reader.end_word();
        reader.words
    }

    /// Number of words and sentence ends.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The folded word at a place; empty at the end of a sentence and beyond the text.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.spans.get(at).map_or("", |span| &self.folded[span.from..span.to])
    }

    /// Whether a comma stands between a word and the one before it.
    pub(crate) fn is_after_comma(&self, at: usize) -> bool {
        self.spans.get(at).is_some_and(|span| span.after_comma)
    }

    /// Bytes of the text from one word up to, not including, another.
    pub(crate) fn bytes(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let first = self.spans.get(from);
        let last = self.spans.get(to.saturating_sub(1)).or(first);
        first.zip(last).map_or(0..0, |(first, last)| first.start..last.end)
    }

    /// The sentence around a word, as places of words; at most 200 words either way, so that a
    /// text without full stops is not read over and over.
    pub(crate) fn sentence(&self, at: usize) -> std::ops::Range<usize> {
        let (first, last) = (at.saturating_sub(200), self.len().min(at + 200));
        let from = (first..at).rev().find(|place| self.word(*place).is_empty()).map_or(first, |place| place + 1);
        let to = (at..last).find(|place| self.word(*place).is_empty()).unwrap_or(last);
        from..to
    }

    /// Takes words out, as if a sentence ended there.
    pub(crate) fn mask(&mut self, from: usize, to: usize) {
        for span in &mut self.spans[from..to] {
            span.to = span.from;
        }
    }
}

/// What is being read, besides the words that are whole.
#[derive(Default)]
struct Reader {
    words: Words,
    /// The word being read: its begin in the folded text and in the text.
    open: Option<(usize, usize)>,
    end: usize,
    comma: bool,
    line: bool,
}

impl Reader {
    fn take(&mut self, at: usize, c: char, pause: bool) {
        let kind = class(c);
        // A list item begins a sentence of its own, a wrapped line does not.
        if self.line && (matches!(c, '-' | '*' | '•' | '#') || c.is_ascii_digit()) {
            self.end_sentence(at);
        }
        self.line = self.line && c.is_whitespace();
        match kind {
            Class::Nothing => {}
            Class::Letter => self.letter(at, c),
            Class::Single => {
                self.end_word();
                self.letter(at, c);
                self.end_word();
            }
            Class::End if !pause => self.end_sentence(at),
            Class::Comma => {
                self.end_word();
                self.comma = true;
            }
            Class::Line if self.line => self.end_sentence(at),
            Class::Line => {
                self.end_word();
                self.line = true;
            }
            Class::End | Class::Blank => self.end_word(),
        }
    }

    fn letter(&mut self, at: usize, c: char) {
        let (from, _) = *self.open.get_or_insert((self.words.folded.len(), at));
        let folded = &mut self.words.folded;
        fold(c, |letter| {
            // "killll" is "kill", and both are "kil" here as in the phrases.
            if !(folded.len() > from && folded.ends_with(letter)) {
                folded.push(letter);
            }
        });
        self.end = at + c.len_utf8();
    }

    fn end_word(&mut self) {
        if let Some((from, start)) = self.open.take() {
            let to = self.words.folded.len();
            self.words.spans.push(Span { from, to, start, end: self.end, after_comma: self.comma });
            self.comma = false;
        }
    }

    fn end_sentence(&mut self, at: usize) {
        self.end_word();
        self.comma = false;
        if self.words.spans.last().is_some_and(|span| span.from < span.to) {
            let from = self.words.folded.len();
            self.words.spans.push(Span { from, to: from, start: at, end: at, after_comma: false });
        }
    }
}

#[derive(Debug)]
enum Slot {
    Words { exact: Vec<String>, stems: Vec<String>, optional: bool },
    Gap(usize),
}

/// A set of phrases, each with what it stands for.
pub(crate) struct Phrases<T> {
    list: Vec<(T, Vec<Slot>)>,
    exact: HashMap<String, Vec<usize>>,
    stems: HashMap<String, Vec<usize>>,
}

/// Where a phrase was found, as places of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<T> {
    pub(crate) tag: T,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Letters by which phrases that begin with a stem are found; a first stem has at least so many.
const STEM_KEY: usize = 3;

impl<T: Copy> Phrases<T> {
    /// Compiles phrases; `names` are the lists that `@name` stands for.
    pub(crate) fn new<'a>(rows: impl IntoIterator<Item = (T, &'a str)>, names: &[(&str, &str)]) -> Self {
        let mut phrases = Self { list: Vec::new(), exact: HashMap::new(), stems: HashMap::new() };
        for (tag, row) in rows {
            let slots: Vec<Slot> = row.split_whitespace().flat_map(|slot| slots_of(slot, names)).collect();
            let place = phrases.list.len();
            if let Some(Slot::Words { exact, stems, .. }) = slots.first() {
                for word in exact {
                    phrases.exact.entry(word.clone()).or_default().push(place);
                }
                for stem in stems {
                    let places = phrases.stems.entry(stem.chars().take(STEM_KEY).collect()).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            }
            phrases.list.push((tag, slots));
        }
        phrases
    }

    /// The first phrase of the set that begins at a word. `work` grows by the comparisons made.
    pub(crate) fn at(&self, words: &Words, at: usize, work: &mut usize) -> Option<Found<T>> {
        self.beginning(words, at, work).next()
    }

    /// Every phrase of the set that begins at a word; none at the end of a sentence.
    fn beginning(&self, words: &Words, at: usize, work: &mut usize) -> impl Iterator<Item = Found<T>> {
        let word = words.word(at);
        let key = word.char_indices().nth(STEM_KEY).map_or(word, |(end, _)| &word[..end]);
        *work += 1;
        [self.exact.get(word), self.stems.get(key)].into_iter().flatten().flatten().filter_map(move |place| {
            let (tag, slots) = &self.list[*place];
            ends_at(slots, words, at, work).map(|to| Found { tag: *tag, from: at, to })
        })
    }

    /// Every place where a phrase begins.
    pub(crate) fn all(&self, words: &Words) -> Vec<Found<T>> {
        let mut work = 0;
        let mut all = Vec::new();
        for at in 0..words.len() {
            all.extend(self.beginning(words, at, &mut work));
        }
        all
    }

    /// The most comparisons that one word can cause.
    #[cfg(test)]
    pub(crate) fn most_work(&self) -> usize {
        let of = |places: &Vec<usize>| places.iter().map(|place| work_of(&self.list[*place].1)).sum::<usize>();
        let most = |map: &HashMap<String, Vec<usize>>| map.values().map(of).max().unwrap_or(0);
        1 + most(&self.exact) + most(&self.stems)
    }

    /// Phrases that cannot be found because their first slot is no word, or a stem too short.
    #[cfg(test)]
    pub(crate) fn unreachable(&self) -> Vec<usize> {
        let short = |stem: &String| stem.chars().count() < STEM_KEY;
        let bad = |slots: &[Slot]| match slots.first() {
            Some(Slot::Words { exact, stems, optional }) => {
                *optional || exact.len() + stems.len() == 0 || stems.iter().any(short)
            }
            _ => true,
        };
        (0..self.list.len()).filter(|place| bad(&self.list[*place].1)).collect()
    }
}

fn slots_of(text: &str, names: &[(&str, &str)]) -> Vec<Slot> {
    if let Some(size) = text.strip_prefix('~') {
        return vec![Slot::Gap(size.parse().unwrap_or(0))];
    }
    let (text, optional) = text.strip_prefix('?').map_or((text, false), |text| (text, true));
    let named =
        |part: &str| names.iter().find(|(name, _)| part.strip_prefix('@') == Some(name)).map(|(_, list)| (*list).to_owned());
    let text: Vec<String> = text.split('|').map(|part| named(part).unwrap_or_else(|| part.to_owned())).collect();
    let text = text.join("|");
    // "self-harm" and each character of Japanese are words of their own.
    if !text.contains(['|', '*']) && !optional {
        let words = Words::read(&text);
        let single = |at| Slot::Words { exact: vec![words.word(at).to_owned()], stems: Vec::new(), optional };
        return (0..words.len()).map(single).collect();
    }
    let (mut exact, mut stems) = (Vec::new(), Vec::new());
    for part in text.split('|') {
        let folded = Words::read(part.trim_end_matches('*')).folded;
        if part.ends_with('*') { stems.push(folded) } else { exact.push(folded) }
    }
    exact.sort_unstable();
    vec![Slot::Words { exact, stems, optional }]
}

/// Where the slots end when they begin at a word; tries the shortest gaps first.
fn ends_at(slots: &[Slot], words: &Words, at: usize, work: &mut usize) -> Option<usize> {
    *work += 1;
    let Some((slot, others)) = slots.split_first() else { return Some(at) };
    match slot {
        Slot::Gap(size) => {
            for skipped in 0..=*size {
                if let Some(end) = ends_at(others, words, at + skipped, work) {
                    return Some(end);
                }
                if words.word(at + skipped).is_empty() {
                    return None;
                }
            }
            None
        }
        Slot::Words { exact, stems, optional } => {
            let word = words.word(at);
            let holds = !word.is_empty()
                && (exact.binary_search_by(|own| own.as_str().cmp(word)).is_ok()
                    || stems.iter().any(|stem| word.starts_with(stem.as_str())));
            let taken = if holds { ends_at(others, words, at + 1, work) } else { None };
            taken.or_else(|| if *optional { ends_at(others, words, at, work) } else { None })
        }
    }
}

#[cfg(test)]
fn work_of(slots: &[Slot]) -> usize {
    let Some((slot, others)) = slots.split_first() else { return 1 };
    let rest = work_of(others);
    1 + match slot {
        Slot::Gap(size) => (size + 1) * rest,
        Slot::Words { optional, .. } => rest * (1 + usize::from(*optional)),
    }
}

#[cfg(test)]
mod tests;
