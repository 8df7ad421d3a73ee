//! What is taken out of a text before it is stored or sent, and the record of what was.

use crate::FieldError;
use crate::limits::{characters, number};
use serde::{Deserialize, Serialize};

/// What the user wants to have taken out of texts. Everything is off until the user says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct RedactionSettings {
    /// Mail addresses.
    pub emails: bool,
    /// Phone numbers.
    pub phones: bool,
    /// Numbers of payment cards, and IBANs.
    pub cards: bool,
    /// Passwords, keys and tokens.
    pub keys: bool,
    /// The user's own words, at most 200 of 2–200 characters; found as whole words in either case.
    pub own: Vec<String>,
    /// What the user writes is stored without them; the original is then nowhere.
    pub before_storing: bool,
    /// Requests are sent without them; what is stored stays whole.
    pub before_sending: bool,
}

impl RedactionSettings {
    /// Most words of one's own.
    pub const MOST_OWN: usize = 200;

    /// Checks the user's own words: at most 200, each of 2–200 characters around which there is no
    /// blank. One character would be found in nearly every sentence of a language without blanks.
    ///
    /// # Errors
    /// The first rule that is broken, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("redaction.own", self.own.len(), 0, Self::MOST_OWN)?;
        self.own.iter().try_for_each(|entry| characters("redaction.own", entry.trim(), 2, 200))
    }

    /// Whether nothing would be looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.emails || self.phones || self.cards || self.keys) && self.own.is_empty()
    }
}

/// What was taken out of a text. Of two that fit a place equally well, the one named first here wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum RedactionKind {
    /// A password, key or token.
    Key,
    /// The number of a payment card.
    Card,
    /// An international bank account number.
    Iban,
    /// A mail address.
    Email,
    /// A phone number.
    Phone,
    /// A word of the user's own list.
    Own,
}

impl RedactionKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Key, Self::Card, Self::Iban, Self::Email, Self::Phone, Self::Own];

    /// The text that stands in its place. A text that already holds one is left as it is there.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Key => "[key]",
            Self::Card => "[card]",
            Self::Iban => "[iban]",
            Self::Email => "[email]",
            Self::Phone => "[phone]",
            Self::Own => "[redacted]",
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn own(entries: &[&str]) -> RedactionSettings {
        RedactionSettings { own: entries.iter().map(|entry| (*entry).to_owned()).collect(), ..RedactionSettings::default() }
    }

    #[test]
    fn nothing_is_on_by_default() {
        let settings = RedactionSettings::default();
        assert!(settings.is_empty() && !settings.before_storing && !settings.before_sending);
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(serde_json::from_str::<RedactionSettings>("{}").unwrap(), settings);
        assert!(!RedactionSettings { keys: true, ..settings }.is_empty());
        assert!(!own(&["Marlene"]).is_empty());
    }

    #[test]
    fn own_words_have_a_number_and_a_length() {
        let longest = "x".repeat(200);
        assert_eq!(own(&["ab", &longest, "田中", " Vogt "]).check(), Ok(()));
        for wrong in ["", "a", " a ", "  ", "a\0b", &"x".repeat(201)] {
            assert_eq!(own(&["fine", wrong]).check().unwrap_err().field, "redaction.own", "{wrong:?}");
        }
        assert_eq!(own(&["ab"; 200]).check(), Ok(()));
        assert_eq!(own(&["ab"; 201]).check().unwrap_err().range, "0 to 200");
    }

    #[test]
    fn is_written_in_camel_case() {
        let settings = RedactionSettings { before_sending: true, ..own(&["Vogt"]) };
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(json["beforeSending"], true);
        assert_eq!(json["own"][0], "Vogt");
    }
}
