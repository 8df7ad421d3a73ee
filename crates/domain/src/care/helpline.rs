//! Helplines by region, shipped with the app so that they are there without a network.
//!
//! Only numbers that the organisation named beside them publishes itself. Where its hours differ
//! by day or have changed often, they are left empty rather than guessed.

use super::CareSign;
use serde::Serialize;

/// How to reach a helpline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Contact {
    /// A number to call.
    Call {
        /// As one dials it within the region.
        number: &'static str,
    },
    /// A number that takes calls and text messages.
    CallOrText {
        /// As one dials it within the region.
        number: &'static str,
    },
    /// A number to send a word to as a text message.
    Text {
        /// The number.
        number: &'static str,
        /// The word.
        keyword: &'static str,
    },
    /// A page that lists helplines.
    Web {
        /// Its https address.
        address: &'static str,
    },
}

/// What a helpline is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum HelplineKind {
    /// Police, ambulance.
    Emergency,
    /// Crisis and thoughts of suicide.
    Crisis,
    /// Violence and abuse.
    Violence,
    /// Children and young people.
    Young,
    /// Finds a helpline elsewhere.
    Directory,
}

/// One place to turn to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Helpline {
    /// ISO 3166 code of the region, empty = everywhere.
    pub region: &'static str,
    /// Name, as the organisation writes it.
    pub name: &'static str,
    /// How to reach it.
    pub contact: Contact,
    /// Codes of the languages spoken there, divided by blanks; empty = not known.
    pub languages: &'static str,
    /// `24/7`, or hours of the day, local time; empty = see the organisation.
    pub hours: &'static str,
    /// What it is there for.
    pub kind: HelplineKind,
}

/// The quiet card beside the chat: what was noticed, and whom to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct CareCard {
    /// What the user's words are a sign of.
    pub sign: CareSign,
    /// ISO 3166 code of the region whose helplines these are; empty = the worldwide ones.
    pub region: String,
    /// The emergency number first.
    pub helplines: Vec<Helpline>,
}

impl CareCard {
    /// The card for a region; one without a list of its own gets the worldwide one.
    #[must_use]
    pub fn of(sign: CareSign, region: &str) -> Self {
        let helplines = helplines(region).to_vec();
        let region = helplines.first().map(|first| first.region.to_owned()).unwrap_or_default();
        Self { sign, region, helplines }
    }
}

/// A row of the table: what it is there for, name, contact, languages, hours.
type Row = (HelplineKind, &'static str, Contact, &'static str, &'static str);

const ALWAYS: &str = "24/7";

const fn call(number: &'static str) -> Contact {
    Contact::Call { number }
}

const fn both(number: &'static str) -> Contact {
    Contact::CallOrText { number }
}

const fn text(number: &'static str, keyword: &'static str) -> Contact {
    Contact::Text { number, keyword }
}

const fn web(address: &'static str) -> Contact {
    Contact::Web { address }
}

/// Turns the rows of a region into its list.
const fn of<const N: usize>(region: &'static str, rows: [Row; N]) -> [Helpline; N] {
    let empty = Helpline { region, name: "", contact: call(""), languages: "", hours: "", kind: HelplineKind::Crisis };
    let mut list = [empty; N];
    let mut at = 0;
    while at < N {
        let (kind, name, contact, languages, hours) = rows[at];
        list[at] = Helpline { region, name, contact, languages, hours, kind };
        at += 1;
    }
    list
}

/// The helplines of a region (ISO 3166 code in any case), or the worldwide ones where the region
/// is unknown or empty. The emergency number comes first.
#[must_use]
pub fn helplines(region: &str) -> &'static [Helpline] {
    table::ALL
        .iter()
        .find(|list| list.first().is_some_and(|first| first.region.eq_ignore_ascii_case(region.trim())))
        .copied()
        .unwrap_or(&table::WORLDWIDE)
}

mod table;
#[cfg(test)]
pub(super) use table::ALL;
