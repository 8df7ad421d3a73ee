//! What the detectors ask of single characters.

/// The character that ends at a place.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// The character that begins at a place.
pub(super) fn after(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

/// Whether a character belongs to a word: letters and digits of any script, underscores, and marks
/// on the letter before.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_mark(c)
}

/// Accents on their own, vowel signs of Hebrew and Arabic.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{94d}')
}

/// Whether a character belongs to a script that writes words without blanks between them, or, as
/// Korean does, ties particles to them.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' // Burmese, Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' // Kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' // Han
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' // Hangul
    )
}

/// Whether something may begin or end beside this character: it is none, or no part of the same word.
pub(super) fn is_edge(beside: Option<char>) -> bool {
    beside.is_none_or(|c| !is_word(c) || is_unspaced(c))
}

/// The digit that a character stands for: ASCII, Arabic, Persian, Devanagari, full width.
pub(super) fn digit(c: char) -> Option<u8> {
    let zero = match c {
        '0'..='9' => '0',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        '\u{966}'..='\u{96f}' => '\u{966}',
        '\u{ff10}'..='\u{ff19}' => '\u{ff10}',
        _ => return None,
    };
    u8::try_from(u32::from(c) - u32::from(zero)).ok()
}

/// A blank within a line.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' | '\u{3000}')
}

/// Hyphens and dashes as they stand in numbers.
pub(super) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2014}' | '\u{2212}' | '\u{ff0d}')
}

/// The longest runs of characters of a kind, as places in the text.
pub(super) fn runs(text: &str, of: impl Fn(char) -> bool) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + text[at..].find(&of)?;
        at = text[from..].find(|c| !of(c)).map_or(text.len(), |length| from + length);
        Some(from..at)
    })
}

/// At most the last `most` bytes before a place, on borders of characters.
pub(super) fn reach_back(text: &str, at: usize, most: usize) -> &str {
    let mut from = at.saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..at]
}

/// At most the next `most` bytes from a place, on borders of characters.
pub(super) fn reach_on(text: &str, at: usize, most: usize) -> &str {
    let mut to = text.len().min(at.saturating_add(most));
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[at..to]
}
