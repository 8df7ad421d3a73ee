//! Advice on the wording of a persona: what makes companions lose their footing, found by plain
//! rules before the first message is sent.
//!
//! English and German have rules of their own. In other languages only what needs no language is
//! checked: the length, and whether the companion is called by its name.

use crate::phrase::Words;
use serde::{Deserialize, Serialize};

mod reading;
mod rules;
use reading::{Part, excerpt};
use rules::{PAIRS, RULES, Shape};

/// The share of the window that a persona may fill: one in so many.
///
/// The persona is in every request and never dropped. In the smallest usual window, 4,096 tokens,
/// a quarter leaves 3,000: a reply of 1,000, and room for the last five exchanges.
const WINDOW_SHARE: u32 = 4;

/// Characters of a quote.
const QUOTE: usize = 120;

/// Characters of each half of a quote that shows two passages.
const HALF_QUOTE: usize = 58;

/// A field of a persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum PersonaField {
    /// The instructions to the model.
    SystemPrompt,
    /// The personality in words.
    Personality,
    /// The length of replies.
    MaxTokens,
}

/// What could be better about a persona; `code` names it for the texts of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum AdviceKind {
    /// Persona and personality fill more than a quarter of the model's window.
    TooLongForWindow {
        /// Tokens of both together.
        tokens: u32,
        /// Tokens of the window.
        window: u32,
    },
    /// A reply may take more than half of the model's window, and will be cut there.
    ReplyTooLong {
        /// Tokens of that half.
        tokens: u32,
        /// Tokens of the window.
        window: u32,
    },
    /// The companion's name does not occur in the prompt.
    NameMissing,
    /// Speaks to the model as "you" instead of about the companion by name.
    SecondPerson,
    /// Nothing says what the companion holds to when the user's mood changes.
    NoStance,
    /// Two passages ask for opposite things.
    Contradictory,
    /// Asks for insults, threats, manipulation, escalation or encouragement to self-harm.
    InstructsHostility,
}

impl AdviceKind {
    /// The stable name, as in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::TooLongForWindow { .. } => "too_long_for_window",
            Self::ReplyTooLong { .. } => "reply_too_long",
            Self::NameMissing => "name_missing",
            Self::SecondPerson => "second_person",
            Self::NoStance => "no_stance",
            Self::Contradictory => "contradictory",
            Self::InstructsHostility => "instructs_hostility",
        }
    }
}

/// One piece of advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    /// What is meant.
    pub kind: AdviceKind,
    /// The passage meant, at most 120 characters; two halves divided by ` / ` for a contradiction.
    pub quote: Option<String>,
    /// Where it stands.
    pub field: PersonaField,
}

impl Advice {
    /// What is meant and what to do, in English.
    #[must_use]
    pub fn message(&self) -> String {
        match self.kind {
            AdviceKind::TooLongForWindow { tokens, window } => {
                let limit = window / WINDOW_SHARE;
                format!(
                    "The persona takes {tokens} of the model's {window} tokens and leaves too little for the conversation; \
                     shorten it to {limit} or choose a model with a larger window."
                )
            }
            AdviceKind::ReplyTooLong { tokens, window } => {
                format!(
                    "A reply may take half of the model's window of {window} tokens and no more; allow it at most {tokens}, or choose \
                     a model with a larger window."
                )
            }
            AdviceKind::NameMissing => "The prompt never calls the companion by its name; begin with \"NAME is …\", so that it stays itself.".into(),
            AdviceKind::SecondPerson => {
                "The prompt speaks to the model; write about the companion by name (\"NAME is …\"), which holds longer against pressure.".into()
            }
            AdviceKind::NoStance => {
                "Nothing says what the companion holds to; add a sentence such as \"NAME has a view of its own and does not take over the user's mood.\"".into()
            }
            AdviceKind::Contradictory => "Two passages ask for opposite things; keep one, or say when each holds.".into(),
            AdviceKind::InstructsHostility => {
                "This asks the companion to hurt people or to make quarrels worse; say instead how it stays fair and firm.".into()
            }
        }
    }
}

/// Reads a persona and says what could be better, in a fixed order; empty where nothing is.
///
/// `window_tokens` is the window of the chosen model, if it is known; `token_estimate` counts the
/// tokens of a text. Passages in quotation marks are examples and are left alone.
pub fn advise(
    name: &str,
    system_prompt: &str,
    personality: &str,
    window_tokens: Option<u32>,
    token_estimate: impl Fn(&str) -> u32,
) -> Vec<Advice> {
    let parts = [Part::read(PersonaField::SystemPrompt, system_prompt), Part::read(PersonaField::Personality, personality)];
    let mut advice = Vec::new();
    let tokens = token_estimate(system_prompt).saturating_add(token_estimate(personality));
    advice.extend(window_tokens.and_then(|window| too_long(tokens, window)));
    let has_rules = reading::has_rules(&parts);
    let second: Vec<Advice> = if has_rules { parts.iter().filter_map(second_person).collect() } else { Vec::new() };
    // Who is spoken to as "you" has no name yet; one piece of advice is enough for both.
    if second.iter().all(|own| own.field != PersonaField::SystemPrompt) && !is_named(name, &parts[0].words) {
        advice.push(Advice { kind: AdviceKind::NameMissing, quote: None, field: PersonaField::SystemPrompt });
    }
    advice.extend(second);
    if has_rules {
        if parts.iter().all(|part| part.first(&RULES.stance).is_none()) {
            advice.push(Advice { kind: AdviceKind::NoStance, quote: None, field: PersonaField::SystemPrompt });
        }
        advice.extend((0..PAIRS.len()).filter_map(|pair| contradiction(&parts, pair)));
        advice.extend(parts.iter().filter_map(hostility));
    }
    advice
}

/// Tokens that a reply may take of a model's window: half of it.
#[must_use]
pub fn longest_reply(window: u32) -> u32 {
    (window / 2).max(1)
}

/// Says where replies of `max_tokens` do not fit a model's window.
#[must_use]
pub fn advise_reply(max_tokens: u32, window: u32) -> Option<Advice> {
    let tokens = longest_reply(window);
    let kind = AdviceKind::ReplyTooLong { tokens, window };
    (max_tokens > tokens).then_some(Advice { kind, quote: None, field: PersonaField::MaxTokens })
}

fn too_long(tokens: u32, window: u32) -> Option<Advice> {
    let kind = AdviceKind::TooLongForWindow { tokens, window };
    (tokens > window / WINDOW_SHARE).then_some(Advice { kind, quote: None, field: PersonaField::SystemPrompt })
}

/// Whether a text has the name, or its first or last word of three letters and more.
fn is_named(name: &str, text: &Words) -> bool {
    let name = Words::read(name);
    let has = |from: usize, to: usize| {
        let wanted = || (from..to).map(|at| name.word(at));
        (0..text.len()).any(|at| wanted().enumerate().all(|(offset, word)| text.word(at + offset) == word))
    };
    let is_long = |at: usize| name.word(at).chars().count() >= 3;
    let last = name.len().saturating_sub(1);
    name.len() == 0 || has(0, name.len()) || (is_long(0) && has(0, 1)) || (is_long(last) && has(last, last + 1))
}

fn second_person(part: &Part) -> Option<Advice> {
    let spoken = part.first(&RULES.second);
    let found = spoken.or_else(|| part.first_of_sentence(&RULES.imperative))?;
    Some(Advice { kind: AdviceKind::SecondPerson, quote: Some(excerpt(part, found.from, QUOTE)), field: part.field })
}

fn hostility(part: &Part) -> Option<Advice> {
    let hits = part.all(&RULES.hostile).into_iter();
    let meant = |found: &crate::phrase::Found<Shape>| {
        let inside = found.from + 1..found.to;
        let is_of_user =
            part.is_done_by_user(found.from) || (found.tag == Shape::State && inside.clone().any(|at| part.is_user(at)));
        // A verb and an object with a comma between belong to different clauses.
        !is_of_user && !inside.clone().any(|at| part.words.is_after_comma(at)) && !part.is_negated(found.from, found.to, true)
    };
    let found = hits.into_iter().find(meant)?;
    Some(Advice { kind: AdviceKind::InstructsHostility, quote: Some(excerpt(part, found.from, QUOTE)), field: part.field })
}

/// The first passage for one side of a pair and the first for the other, in any field.
fn contradiction(parts: &[Part], pair: usize) -> Option<Advice> {
    let conditional = PAIRS[pair].conditional;
    let side = |opposite: bool| {
        parts.iter().find_map(|part| {
            let hits = part.all(&RULES.pairs).into_iter().filter(|found| found.tag == (pair, opposite));
            let stands = |found: &crate::phrase::Found<(usize, bool)>| {
                let inside = opposite && part.has_negator(found.from + 1..found.to);
                !(inside || part.is_negated(found.from, found.to, false) || conditional && part.is_conditional(found.from))
            };
            hits.into_iter().find(stands).map(|found| (part, found))
        })
    };
    let (one, other) = (side(false)?, side(true)?);
    let half = |(part, found): (&Part, crate::phrase::Found<(usize, bool)>)| excerpt(part, found.from, HALF_QUOTE);
    Some(Advice {
        kind: AdviceKind::Contradictory,
        quote: Some(format!("{} / {}", half(one), half(other))),
        field: other.0.field,
    })
}

#[cfg(test)]
mod tests;
