//! The recovery code: 130 random bits that a person can write down and type back.
//!
//! 26 symbols of 5 bits and 6 check symbols, in 8 groups of 4, in Crockford's base 32 alphabet
//! (no I, L, O, U). The check symbols are the BCH code of BIP-350 (bech32m) without a prefix:
//! it finds every mistake in up to 4 symbols, and any other with probability 1 - 2⁻³⁰. So a
//! typing mistake is told apart from the code of another vault.

use crate::{VaultError, seal};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SECRET: usize = 26;
const CHECK: usize = 6;
const SYMBOLS: usize = SECRET + CHECK;
const GROUP: usize = 4;

/// A recovery code. Wiped from memory when dropped; it has no `Debug` and no `Display`.
pub struct RecoveryCode(Zeroizing<[u8; SYMBOLS]>);

/// How a typed text fails to be a recovery code at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeMistake {
    /// Too few or too many symbols, spaces and hyphens apart.
    #[error("it has {found} letters and digits instead of 32")]
    Length {
        /// Symbols found.
        found: usize,
    },
    /// A character that no recovery code has.
    #[error("the character at place {position} never occurs in a recovery code")]
    Character {
        /// Place among the symbols, from 1, spaces and hyphens not counted.
        position: usize,
    },
    /// The check symbols do not fit the rest.
    #[error("its check letters do not fit")]
    Checksum,
}

impl RecoveryCode {
    /// A new random code.
    pub(crate) fn generate() -> Result<Self, VaultError> {
        let mut symbols = Zeroizing::new([0; SYMBOLS]);
        seal::fill_random(&mut symbols[..SECRET])?;
        for symbol in &mut symbols[..SECRET] {
            *symbol &= 31;
        }
        let check = checksum(&symbols[..SECRET]);
        symbols[SECRET..].copy_from_slice(&check);
        Ok(Self(symbols))
    }

    /// Reads a typed code: case, spaces, hyphens and dashes do not matter; O is read as 0, I and
    /// L as 1.
    ///
    /// # Errors
    /// [`CodeMistake`], the first that is found: a foreign character, the length, the checksum.
    pub fn parse(typed: &str) -> Result<Self, CodeMistake> {
        let mut symbols = Zeroizing::new([0; SYMBOLS]);
        let mut found = 0;
        for character in typed.chars().filter(|c| !is_separator(*c)) {
            let symbol = symbol(character).ok_or(CodeMistake::Character { position: found + 1 })?;
            if let Some(place) = symbols.get_mut(found) {
                *place = symbol;
            }
            found += 1;
        }
        if found != SYMBOLS {
            return Err(CodeMistake::Length { found });
        }
        if !bool::from(checksum(&symbols[..SECRET]).ct_eq(&symbols[SECRET..])) {
            return Err(CodeMistake::Checksum);
        }
        Ok(Self(symbols))
    }

    /// The code as it is shown: 8 groups of 4 characters.
    #[must_use]
    pub fn groups(&self) -> Vec<String> {
        self.0.chunks(GROUP).map(|group| group.iter().map(|s| char::from(ALPHABET[usize::from(*s)])).collect()).collect()
    }

    /// The groups joined by hyphens, as one would print or copy it.
    #[must_use]
    pub fn text(&self) -> Zeroizing<String> {
        let mut groups = self.groups();
        let text = Zeroizing::new(groups.join("-"));
        groups.zeroize();
        text
    }

    /// Whether `typed` is the group at `index` (0 to 7), read as tolerantly as by
    /// [`RecoveryCode::parse`]; for asking part of the code back.
    #[must_use]
    pub fn group_matches(&self, index: usize, typed: &str) -> bool {
        let typed: Zeroizing<Vec<Option<u8>>> = Zeroizing::new(typed.chars().filter(|c| !is_separator(*c)).map(symbol).collect());
        let Some(group) = self.0.chunks(GROUP).nth(index) else { return false };
        typed.len() == group.len() && typed.iter().zip(group).all(|(typed, symbol)| *typed == Some(*symbol))
    }

    /// The secret part, for key derivation.
    pub(crate) fn secret(&self) -> &[u8] {
        &self.0[..SECRET]
    }
}

/// Blanks of any kind, and what keyboards and word processors make of a hyphen.
fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, '-' | '_' | '.' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{200b}')
}

fn symbol(character: char) -> Option<u8> {
    let upper = match character.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    ALPHABET.iter().position(|known| char::from(*known) == upper).and_then(|at| u8::try_from(at).ok())
}

/// The BCH check symbols of BIP-173 with the final constant of BIP-350.
fn checksum(secret: &[u8]) -> [u8; CHECK] {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    const FINAL: u32 = 0x2bc8_30a3;
    let mut remainder: u32 = 1;
    for symbol in secret.iter().chain(&[0; CHECK]) {
        let top = remainder >> 25;
        remainder = (remainder & 0x01ff_ffff) << 5 ^ u32::from(*symbol);
        for (bit, generator) in GENERATOR.iter().enumerate() {
            if top >> bit & 1 == 1 {
                remainder ^= generator;
            }
        }
    }
    let check = remainder ^ FINAL;
    std::array::from_fn(|i| ((check >> (5 * (CHECK - 1 - i))) & 31) as u8)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn text_with(code: &RecoveryCode, changed: &[(usize, u8)]) -> String {
        let mut symbols = *code.0;
        for (at, by) in changed {
            symbols[*at] = (symbols[*at] + by) % 32;
        }
        symbols.iter().map(|s| char::from(ALPHABET[usize::from(*s)])).collect()
    }

    #[test]
    fn a_code_has_eight_groups_of_four_and_reads_back() {
        let code = RecoveryCode::generate().unwrap();
        assert_eq!(code.groups().len(), 8);
        assert!(code.groups().iter().all(|group| group.len() == 4));
        assert_eq!(RecoveryCode::parse(&code.text()).ok().unwrap().secret(), code.secret());
        assert_ne!(RecoveryCode::generate().unwrap().secret(), code.secret());
    }

    #[test]
    fn typing_is_read_tolerantly() {
        let code = RecoveryCode::generate().unwrap();
        let sloppy = code.text().to_lowercase().replace('0', "o").replace('1', "l").replace('-', " \u{2013}\n");
        assert_eq!(RecoveryCode::parse(&sloppy).ok().unwrap().secret(), code.secret());
        let sloppy = code.text().replace('0', "O").replace('1', "I").replace('-', "");
        assert_eq!(RecoveryCode::parse(&sloppy).ok().unwrap().secret(), code.secret());
    }

    #[test]
    fn each_kind_of_mistake_is_named() {
        let text = RecoveryCode::generate().unwrap().text();
        assert_eq!(RecoveryCode::parse("").err(), Some(CodeMistake::Length { found: 0 }));
        assert_eq!(RecoveryCode::parse(&text[1..]).err(), Some(CodeMistake::Length { found: 31 }));
        assert_eq!(RecoveryCode::parse(&format!("{}7", *text)).err(), Some(CodeMistake::Length { found: 33 }));
        assert_eq!(RecoveryCode::parse(&format!("u{}", &text[1..])).err(), Some(CodeMistake::Character { position: 1 }));
        assert_eq!(RecoveryCode::parse(&format!("{}ß", &text[..2])).err(), Some(CodeMistake::Character { position: 3 }));
    }

    #[test]
    fn every_single_mistake_and_swap_is_found() {
        let code = RecoveryCode::generate().unwrap();
        for at in 0..SYMBOLS {
            for by in 1..32 {
                assert_eq!(RecoveryCode::parse(&text_with(&code, &[(at, by)])).err(), Some(CodeMistake::Checksum));
            }
        }
        for at in 1..SYMBOLS {
            let mut swapped = code.text().replace('-', "").into_bytes();
            swapped.swap(at - 1, at);
            let same = swapped[at - 1] == swapped[at];
            assert_eq!(RecoveryCode::parse(&String::from_utf8(swapped).unwrap()).is_ok(), same);
        }
    }

    #[test]
    fn a_group_is_recognised_and_no_other_text_is() {
        let code = RecoveryCode::generate().unwrap();
        let groups = code.groups();
        assert!(code.group_matches(3, &format!(" {} ", groups[3].to_lowercase())));
        assert!(!code.group_matches(8, &groups[3]));
        assert!(!code.group_matches(3, &groups[3][..3]));
        assert!(!code.group_matches(3, "u!u!"));
        let other: String = groups[3].chars().map(|c| if c == '7' { '8' } else { '7' }).collect();
        assert!(!code.group_matches(3, &other));
    }

    proptest! {
        #[test]
        fn up_to_four_mistakes_are_always_found(places in prop::collection::btree_set(0..SYMBOLS, 1..=4), by in 1u8..32) {
            let places: BTreeSet<usize> = places;
            let code = RecoveryCode::generate().unwrap();
            let changed: Vec<_> = places.into_iter().enumerate().map(|(i, at)| (at, (by + i as u8 * 7) % 31 + 1)).collect();
            prop_assert_eq!(RecoveryCode::parse(&text_with(&code, &changed)).err(), Some(CodeMistake::Checksum));
        }

        #[test]
        fn any_text_is_read_without_a_crash(text: String) {
            let _ = RecoveryCode::parse(&text);
        }
    }
}
