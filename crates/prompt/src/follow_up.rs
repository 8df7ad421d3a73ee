//! Whether a message goes on with the last exchange, told from its words.
//!
//! What is known of six languages (English, German, Spanish, French, Arabic, Japanese) is in lists of
//! words; in others only length, time, and words in common speak. `follow_up/pairs.txt` is what it is
//! measured on; the test `pairs` prints precision, recall and F1. No model is asked, and nothing but
//! the three texts and the time is looked at.

use chrono::Duration;
use evenkeel_domain::{FollowUp, FollowUpSignal, HistoryNeed};

mod arabic;
mod english;
mod french;
mod german;
mod japanese;
mod lexicon;
mod signal;
mod spanish;
mod wording;

use FollowUpSignal::{
    Answer, Connective, Demonstrative, Ellipsis, FirstMessage, LongPause, NewTopic, NothingNew, Pronoun, Recent, Reference,
    Response, Rework, SelfContained, SharedWords, Short,
};

/// A message and what came before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FollowUpInput<'a> {
    /// The message.
    pub text: &'a str,
    /// The user's message before it.
    pub previous_user: Option<&'a str>,
    /// The reply to that.
    pub previous_reply: Option<&'a str>,
    /// The time since the last message, whoever wrote it; `None` = not known.
    pub since: Option<Duration>,
}

/// Most characters that are read of each text. What makes a follow-up stands at the beginning; a
/// message longer than a page is understood by itself.
const READ: usize = 4_000;
/// A message that comes within this time was written with the reply in view. Chosen on the open part
/// of the pairs, as is [`PAUSE`].
const SOON: Duration = Duration::minutes(3);
/// After this time the user has done something else in between.
const PAUSE: Duration = Duration::hours(1);
/// From this score on a message is a follow-up. Under one half, since a follow-up that is missed costs
/// a reply that does not know what it is about, and a fresh subject taken for one costs some tokens.
const LEAST: f32 = 0.4;
/// Score of a message without any signal, before it is brought into 0–1.
const BASE: f32 = -1.9;

/// What each signal adds. [`BASE`] and these come from a logistic regression (L2 of 0.5) on the open
/// pairs, rounded, and [`SharedWords`] lowered: in a real conversation fresh subjects share more words
/// than in made-up pairs. [`NewTopic`] is stronger than its few examples ask for, since it is said outright.
fn weight(signal: FollowUpSignal) -> f32 {
    match signal {
        FirstMessage => -20.0,
        Connective => 2.0,
        Pronoun => 2.6,
        Demonstrative => 1.8,
        Reference => 1.5,
        Ellipsis => 2.0,
        Rework => 2.6,
        Response => 2.6,
        Answer => 2.2,
        SharedWords => 2.2,
        NothingNew => 1.3,
        Short => 0.6,
        Recent => 0.8,
        LongPause => -0.7,
        NewTopic => -2.0,
        SelfContained => -2.3,
    }
}

/// Whether a message needs the last exchange to be understood, and what speaks for and against it.
///
/// The score is the logistic function of the sum of what the signals add, so that the signals are the
/// whole reason for it. The same input gives the same result.
#[must_use]
pub fn follow_up(input: &FollowUpInput<'_>) -> FollowUp {
    let has = |text: Option<&str>| text.is_some_and(|text| !text.trim().is_empty());
    let mut signals = if has(input.previous_user) || has(input.previous_reply) {
        let read = |text| beginning(text, READ);
        let exchange = [input.previous_user.unwrap_or_default(), input.previous_reply.unwrap_or_default()].map(read);
        let mut signals = signal::of_words(read(input.text), exchange);
        signals.extend(input.since.and_then(of_time));
        signals
    } else {
        vec![FirstMessage]
    };
    signals.sort_unstable();
    signals.dedup();
    let sum: f32 = BASE + signals.iter().copied().map(weight).sum::<f32>();
    let score = 1.0 / (1.0 + (-sum).exp());
    FollowUp { is_follow_up: score >= LEAST, score, signals }
}

fn of_time(since: Duration) -> Option<FollowUpSignal> {
    match since {
        _ if since >= PAUSE => Some(LongPause),
        _ if since < SOON => Some(Recent),
        _ => None,
    }
}

/// The first characters of a text, on a border of characters.
fn beginning(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// How much of the history a message is worth.
///
/// [`HistoryNeed::More`]: it is a follow-up. At least the last exchanges must be in the request, whole
/// and verbatim; where space is short, recalled messages give way to them.
/// [`HistoryNeed::Little`]: it is a fresh subject after an hour and more, or the first message. What
/// was said last has little to do with it; what was said about its subject at any time has, so recall
/// is worth more than verbatim history.
/// [`HistoryNeed::Usual`]: a fresh subject in the middle of a conversation, where the words may
/// deceive. The settings decide.
#[must_use]
pub fn wanted(decision: &FollowUp) -> HistoryNeed {
    let away = decision.signals.iter().any(|signal| matches!(signal, LongPause | FirstMessage));
    match (decision.is_follow_up, away) {
        (true, _) => HistoryNeed::More,
        (false, true) => HistoryNeed::Little,
        (false, false) => HistoryNeed::Usual,
    }
}

#[cfg(test)]
mod tests;
