//! Ids that stand in a text, known by their form.

/// Most bytes of a text that are looked through.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// The ids in a text: UUIDs, ULIDs, and numbers in hex of the usual lengths.
pub(crate) fn ids(text: &str) -> impl Iterator<Item = &str> {
    let end = if text.len() <= MOST_BYTES { text.len() } else { text.floor_char_boundary(MOST_BYTES) };
    let words = text[..end].split(|character: char| !(character.is_ascii_alphanumeric() || character == '-'));
    words.map(|word| word.trim_matches('-')).filter(|word| is_id(word))
}

/// Whether a word has the form of an id.
fn is_id(word: &str) -> bool {
    match word.len() {
        36 => is_uuid(word),
        26 => is_ulid(word),
        // Ids of documents, and SHA-1 and SHA-256.
        24 | 32 | 40 | 64 => is_hex(word),
        _ => false,
    }
}

fn is_uuid(word: &str) -> bool {
    word.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// 26 characters of Crockford's alphabet, of which the first fits into three bits.
fn is_ulid(word: &str) -> bool {
    let is_symbol = |byte: u8| byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(&byte));
    word.starts_with(|first: char| ('0'..='7').contains(&first)) && word.bytes().all(is_symbol)
}

/// Hex with both digits and letters: a number in words of one kind is as often an amount.
fn is_hex(word: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    word.bytes().all(|byte| byte.is_ascii_hexdigit()) && word.bytes().any(is_digit) && !word.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_known_by_their_form() {
        let text = "Made 01890a5d-ac96-774b-bcce-b302099a8057, (01ARZ3NDEKTSV4RRFFQ69G5FAV) and \
                    507f1f77bcf86cd799439011; not 123456789012345678901234, words-of-thirty-six-characters-here, naïve.";
        let found: Vec<_> = ids(text).collect();
        let expected = ["01890a5d-ac96-774b-bcce-b302099a8057", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "507f1f77bcf86cd799439011"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_long_text_is_read_to_a_bound_that_may_lie_within_a_character() {
        let text = format!("{}é 01890a5d-ac96-774b-bcce-b302099a8057", "x".repeat(MOST_BYTES - 1));
        assert_eq!(ids(&text).count(), 0);
    }
}
