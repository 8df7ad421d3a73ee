//! The words of a text, by their stems.

use super::stem::stem;
use evenkeel_domain::plain_word;
use std::ops::Range;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// As it stands.
    pub text: &'a str,
    /// Where, in bytes.
    pub place: Range<usize>,
    /// What it has in common with its inflections.
    pub stem: String,
    /// Two characters of a writing that puts no space between words, or one that stands alone.
    pub is_unspaced: bool,
}

/// Writings that put no space between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

impl<'a> Word<'a> {
    fn of(text: &'a str, piece: Piece) -> Self {
        let word = &text[piece.place.clone()];
        let stem = if piece.is_unspaced { word.to_lowercase() } else { stem(&plain_word(word)) };
        Self { text: word, place: piece.place, stem, is_unspaced: piece.is_unspaced }
    }
}

/// Where a word stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// In bytes.
    pub place: Range<usize>,
    /// As in [`Word`].
    pub is_unspaced: bool,
}

/// The words with their stems.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    pieces(text).into_iter().map(|piece| Word::of(text, piece)).collect()
}

/// Runs of letters and digits; an apostrophe divides words, as it does in the index.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if !belongs(first) {
            continue;
        }
        let unspaced = is_unspaced(first);
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| belongs(*c) && is_unspaced(*c) == unspaced) {
            end = at + c.len_utf8();
        }
        if unspaced {
            pairs(text, start..end, &mut found);
        } else {
            found.push(Piece { place: start..end, is_unspaced: false });
        }
    }
    found
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || is_unspaced(c) || matches!(c, '\u{300}'..='\u{36f}')
}

/// Each two characters that stand side by side.
fn pairs(text: &str, run: Range<usize>, found: &mut Vec<Piece>) {
    let ends: Vec<usize> = text[run.clone()].char_indices().map(|(at, c)| run.start + at + c.len_utf8()).collect();
    let mut start = run.start;
    for (at, end) in ends.iter().enumerate() {
        let next = ends.get(at + 1).copied();
        if at > 0 && next.is_none() {
            break;
        }
        found.push(Piece { place: start..next.unwrap_or(*end), is_unspaced: true });
        start = *end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_runs_of_letters_and_pairs_where_there_are_no_spaces() {
        assert_eq!(texts("Don't go, Zoë: 3.5 km!"), ["Don", "t", "go", "Zoë", "3", "5", "km"]);
        assert_eq!(texts("東京の海 is 海"), ["東京", "京の", "の海", "is", "海"]);
        assert_eq!(texts(""), Vec::<&str>::new());
    }

    #[test]
    fn places_are_those_in_the_text() {
        let text = "é, naïve 東京都";
        for word in words(text) {
            assert_eq!(&text[word.place.clone()], word.text);
        }
    }
}
