//! What the user typed, made into what is looked for; and what was found, made into pieces.

use evenkeel_domain::{SnippetPart, folded};

/// Marks where a match begins; a noncharacter, which no text that people exchange holds.
pub(super) const OPEN: char = '\u{fdd0}';
/// Marks where a match ends.
pub(super) const CLOSE: char = '\u{fdd1}';
/// Characters shown before and after the beginning of the first match.
const BEFORE: usize = 30;
const AFTER: usize = 120;
/// Letters of a word that may go on; see `may_go_on`.
const GOES_ON: usize = 3;

/// What to look for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Nothing.
    None,
    /// An expression for the index.
    Apart(String),
    /// Texts, in lower case, to look for in each message.
    Run(Vec<String>),
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        // SQLite ends a text at NUL; the marks would be taken for the ends of a match.
        let unfit = |c: char| c.is_whitespace() || c.is_control() || c == OPEN || c == CLOSE;
        let terms: Vec<&str> = text.split(unfit).filter(|term| !term.is_empty()).collect();
        let is_word = |term: &&&str| term.chars().any(char::is_alphanumeric);
        let words: Vec<&str> = terms.iter().filter(is_word).copied().collect();
        if terms.is_empty() {
            return Self::None;
        }
        // The index knows no signs, so where there is nothing else the texts are looked at.
        if words.is_empty() || terms.iter().any(|term| term.chars().any(is_unspaced)) {
            return Self::Run(terms.into_iter().map(folded).collect());
        }
        // Quoted, nothing is an operator; side by side, all have to match.
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
        let goes_on = words.last().is_some_and(|last| may_go_on(last));
        Self::Apart(quoted.join(" ") + if goes_on { " *" } else { "" })
    }
}

/// Whether a word may be the beginning of a longer one. For the beginnings of words the index puts
/// the places of all words together that begin so, however few are asked for: for one or two letters
/// that is a great part of the vault.
fn may_go_on(word: &str) -> bool {
    // The index ends words at signs, and it is the last of those that goes on.
    let last = word.split(|c: char| !c.is_alphanumeric()).rfind(|part| !part.is_empty()).unwrap_or_default();
    let letters = last.chars().count();
    // Two syllables of Hangul are a word.
    letters >= GOES_ON || (letters == 2 && !last.is_ascii())
}

/// Writings that put no space between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether lower and upper case of a text are the same, and so no other text is alike to it.
pub(super) fn has_no_case(text: &str) -> bool {
    text.chars().all(|c| c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]))
}

/// A text with marks as its pieces.
pub(super) fn parts(marked: &str) -> Vec<SnippetPart> {
    let (mut parts, mut is_match) = (Vec::new(), false);
    for piece in marked.split_inclusive([OPEN, CLOSE]) {
        push(&mut parts, piece.trim_end_matches([OPEN, CLOSE]), is_match);
        is_match = piece.ends_with(OPEN);
    }
    parts
}

/// The text around the first match of any of the terms, with every match in it.
pub(super) fn around(text: &str, terms: &[String]) -> Vec<SnippetPart> {
    let chars: Vec<char> = text.chars().collect();
    // One character may be several in lower case; each of those knows where it comes from.
    let lower: Vec<(char, usize)> =
        chars.iter().enumerate().flat_map(|(at, c)| c.to_lowercase().map(move |lower| (lower, at))).collect();
    let terms: Vec<Vec<char>> = terms.iter().map(|term| term.chars().collect()).collect();
    let length_at = |place: usize| {
        let fits =
            |term: &&Vec<char>| lower[place..].len() >= term.len() && lower[place..].iter().zip(*term).all(|(a, b)| a.0 == *b);
        terms.iter().filter(fits).map(Vec::len).max().filter(|&length| length > 0)
    };
    let first = (0..lower.len()).find(|&place| length_at(place).is_some()).map_or(0, |place| lower[place].1);
    let (from, to) = (first.saturating_sub(BEFORE), (first + AFTER).min(chars.len()));
    let mut matched = vec![false; chars.len()];
    for place in lower.iter().position(|one| one.1 >= first).unwrap_or(0)..lower.len() {
        if lower[place].1 >= to {
            break;
        }
        if let Some(length) = length_at(place) {
            lower[place..place + length].iter().for_each(|one| matched[one.1] = true);
        }
    }
    let mut parts = Vec::new();
    if from > 0 {
        push(&mut parts, "…", false);
    }
    for at in from..to {
        push(&mut parts, chars[at].encode_utf8(&mut [0; 4]), matched[at]);
    }
    if to < chars.len() {
        push(&mut parts, "…", false);
    }
    parts
}

/// Adds a piece, to the one before it where both are of a kind.
fn push(parts: &mut Vec<SnippetPart>, text: &str, is_match: bool) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.is_match == is_match => last.text.push_str(text),
        _ => parts.push(SnippetPart { text: text.to_owned(), is_match }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[SnippetPart]) -> String {
        parts.iter().map(|part| if part.is_match { format!("[{}]", part.text) } else { part.text.clone() }).collect()
    }

    #[test]
    fn words_are_quoted_and_the_last_may_go_on() {
        assert_eq!(Words::of(" calm  sea "), Words::Apart("\"calm\" \"sea\" *".into()));
        assert_eq!(Words::of("a\" OR b* NEAR(calm)"), Words::Apart("\"a\"\"\" \"OR\" \"b*\" \"NEAR(calm)\" *".into()));
        assert_eq!(Words::of("-- calm\0sea ^"), Words::Apart("\"calm\" \"sea\" *".into()));
        assert_eq!(Words::of(" \n\u{fdd0}\0"), Words::None);
    }

    #[test]
    fn one_or_two_letters_are_a_whole_word() {
        for whole in ["ca", "calm ca", "long-c", "x!", "c."] {
            assert!(matches!(Words::of(whole), Words::Apart(expression) if expression.ends_with('"')), "{whole}");
        }
        for beginning in ["cal", "c cal", "a-cal", "cal!", "été", "né", "나라"] {
            assert!(matches!(Words::of(beginning), Words::Apart(expression) if expression.ends_with(" *")), "{beginning}");
        }
    }

    #[test]
    fn signs_alone_and_unspaced_writings_are_looked_for_in_the_texts() {
        assert_eq!(Words::of("🌊"), Words::Run(vec!["🌊".into()]));
        assert_eq!(Words::of("東京 Hotel"), Words::Run(vec!["東京".into(), "hotel".into()]));
        assert_eq!(Words::of("서울"), Words::Apart("\"서울\" *".into()), "Korean puts spaces");
    }

    #[test]
    fn letters_have_case_and_characters_have_none() {
        assert!(has_no_case("東京") && has_no_case("🌊ไทย") && has_no_case(""));
        assert!(!has_no_case("東a") && !has_no_case("ß") && !has_no_case("Ω"));
    }

    #[test]
    fn marks_become_pieces() {
        let marked = format!("a {OPEN}calm{CLOSE} and {OPEN}calmer{CLOSE}");
        assert_eq!(shown(&parts(&marked)), "a [calm] and [calmer]");
        assert_eq!(parts(""), []);
    }

    #[test]
    fn the_text_around_a_match_is_cut_on_both_sides() {
        let text = format!("{}東京の海{}", "あ".repeat(50), "い".repeat(200));
        let found = shown(&around(&text, &["東京".into(), "海".into()]));
        assert!(found.starts_with(&format!("…{}[東京]の[海]い", "あ".repeat(30))), "{found}");
        assert!(found.ends_with("い…"));
        assert_eq!(shown(&around("İstanbul", &["stan".into()])), "İ[stan]bul");
        assert_eq!(shown(&around("ab", &["x".into()])), "ab");
    }
}
