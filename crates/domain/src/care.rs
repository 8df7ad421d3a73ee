//! Care: signs of self-harm or danger in what the user writes, and whom to call.
//!
//! The rules are local phrases in twelve languages. They err towards showing a quiet card; known
//! figures of speech are taken out first. Nothing here is a diagnosis, and nothing is recorded.

use crate::phrase::{Phrases, Words};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

mod asian;
mod english;
mod french;
mod german;
mod helpline;
mod region;
mod romance;
mod rules;
mod slavic;

pub use helpline::{CareCard, Contact, Helpline, HelplineKind, helplines};
pub use region::region_of;

/// What the user's words are a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum CareSign {
    /// Thoughts of suicide or of harming oneself.
    SelfHarm,
    /// Violence or abuse towards or by the user, or an acute medical emergency.
    Danger,
}

/// The compiled rules of all languages.
struct Rules {
    idioms: Phrases<()>,
    signs: Phrases<CareSign>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let marked = |sign: CareSign, rows: &'static [&'static str]| rows.iter().map(move |row| (sign, *row));
    let signs = rules::ALL
        .iter()
        .flat_map(|language| marked(CareSign::SelfHarm, language.self_harm).chain(marked(CareSign::Danger, language.danger)));
    let idioms = rules::ALL.iter().flat_map(|language| language.idioms.iter().map(|row| ((), *row)));
    Rules { idioms: Phrases::new(idioms, rules::NAMES), signs: Phrases::new(signs, rules::NAMES) }
});

/// The sign in a text, if there is one; self-harm comes before danger where both are.
///
/// The work grows with the length of the text and with nothing else.
#[must_use]
pub fn signs(text: &str) -> Option<CareSign> {
    signs_and_work(text).0
}

/// The sign, and the number of comparisons made for it.
fn signs_and_work(text: &str) -> (Option<CareSign>, usize) {
    let mut words = Words::read(text);
    let mut work = 0;
    let mut at = 0;
    while at < words.len() {
        match RULES.idioms.at(&words, at, &mut work) {
            Some(found) => {
                words.mask(found.from, found.to);
                at = found.to;
            }
            None => at += 1,
        }
    }
    let (mut sign, mut at) = (None, 0);
    while at < words.len() {
        let found = RULES.signs.at(&words, at, &mut work);
        if found.is_some_and(|found| found.tag == CareSign::SelfHarm) {
            return (Some(CareSign::SelfHarm), work);
        }
        sign = sign.or(found.map(|found| found.tag));
        // In many languages "he threatens to kill me" ends in the words for killing oneself.
        at = found.map_or(at + 1, |found| found.to);
    }
    (sign, work)
}

#[cfg(test)]
mod tests;
