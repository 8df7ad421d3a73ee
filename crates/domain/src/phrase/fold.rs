//! What a character is to a phrase, and the letter it is compared as.

/// What a character does to the word being read.
pub(super) enum Class {
    /// Belongs to the word.
    Letter,
    /// Is a word by itself (Chinese, Japanese).
    Single,
    /// Is not there: apostrophes, accents on their own, invisible characters.
    Nothing,
    /// Divides words.
    Blank,
    /// Divides words and parts of a sentence.
    Comma,
    /// Ends a line.
    Line,
    /// Ends a sentence.
    End,
}

pub(super) fn class(c: char) -> Class {
    match c {
        '.' | '!' | '?' | ';' | '؟' | '؛' | '۔' | '。' | '！' | '？' | '；' => Class::End,
        ',' | '،' | '、' | '，' => Class::Comma,
        '\n' => Class::Line,
        '\'' | '\u{2018}' | '\u{2019}' | '\u{2bc}' | '`' | '´' | '\u{ff07}' => Class::Nothing,
        // Soft hyphen, joiners, marks of direction, variation selectors, byte order mark.
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => Class::Nothing,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{34f}' | '\u{61c}' => Class::Nothing,
        // Accents after their letter; vowel signs of Arabic and Hebrew; the Arabic stretching mark.
        '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{591}'..='\u{5c7}' | '\u{640}' => Class::Nothing,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Single,
        _ if c.is_alphanumeric() => Class::Letter,
        _ => Class::Blank,
    }
}

/// Gives the letters that a character is compared as to `push`.
pub(super) fn fold(c: char, mut push: impl FnMut(char)) {
    let narrow = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    for lower in narrow.to_lowercase() {
        match lower {
            'ß' => push('s'),
            'æ' => ['a', 'e'].into_iter().for_each(&mut push),
            'œ' => ['o', 'e'].into_iter().for_each(&mut push),
            'þ' => ['t', 'h'].into_iter().for_each(&mut push),
            // Left over from the lower case of a dotted capital I.
            '\u{300}'..='\u{36f}' => {}
            _ => push(base(lower)),
        }
    }
}

/// The letter without its mark.
fn base(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | '\u{1ea0}'..='\u{1eb7}' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ð' | 'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | '\u{1eb8}'..='\u{1ec7}' => 'e',
        'ğ' | 'ĝ' | 'ġ' | 'ģ' => 'g',
        'ĥ' | 'ħ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | '\u{1ec8}'..='\u{1ecb}' => 'i',
        'ĵ' => 'j',
        'ķ' => 'k',
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | '\u{1ecc}'..='\u{1ee3}' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => 's',
        'ţ' | 'ť' | 'ŧ' | 'ț' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | '\u{1ee4}'..='\u{1ef1}' => 'u',
        'ŵ' => 'w',
        'ý' | 'ÿ' | 'ŷ' | '\u{1ef2}'..='\u{1ef9}' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ё' => 'е',
        'й' => 'и',
        'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
        'ى' | 'ئ' | 'ی' => 'ي',
        'ة' => 'ه',
        'ؤ' => 'و',
        'ک' => 'ك',
        other => other,
    }
}
