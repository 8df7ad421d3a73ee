//! The signals in the words of a message.

use super::lexicon::{Lexicon, lexicon_of};
use super::wording::Wording;
use evenkeel_domain::FollowUpSignal::{
    self, Answer, Connective, Demonstrative, Ellipsis, NewTopic, NothingNew, Pronoun, Reference, Response, Rework, SelfContained,
    SharedWords, Short,
};
use std::collections::HashSet;

/// Most words, and most characters of a language without blanks, of a short message.
const SHORT_WORDS: usize = 4;
const SHORT_CHARACTERS: usize = 8;
/// The same of a scrap of a sentence.
const SCRAP_WORDS: usize = 2;
const SCRAP_CHARACTERS: usize = 4;
/// Fewest new words for things with which a message stands by itself.
const OWN_WORDS: usize = 3;
/// Fewest letters before an ending that is a pronoun.
const ENDED: usize = 2;
/// Fewest words behind a colon, or within quotes, that are the thing itself of which a message speaks.
const ENCLOSED: usize = 3;

pub(super) fn of_words(text: &str, exchange: [&str; 2]) -> Vec<FollowUpSignal> {
    let lexicon = lexicon_of(text, exchange);
    let wording = Wording::new(text, lexicon);
    let mut signals = of_phrases(text, &wording, lexicon);
    let before = exchange.map(|part| Wording::new(part, lexicon));
    if is_answer(text, exchange[1], &wording, lexicon) {
        signals.push(Answer);
    }
    let known = before.iter().flat_map(|part| part.stems(lexicon)).collect::<HashSet<_>>();
    let own = wording.stems(lexicon);
    let new = own.difference(&known).count();
    if new < own.len() {
        signals.push(SharedWords);
    }
    if new == 0 {
        signals.push(NothingNew);
    } else if new >= OWN_WORDS {
        signals.push(SelfContained);
    }
    let (short, scrap) = if lexicon.is_spaced { (SHORT_WORDS, SCRAP_WORDS) } else { (SHORT_CHARACTERS, SCRAP_CHARACTERS) };
    let size = if lexicon.is_spaced { wording.words.len() } else { wording.words.iter().map(|word| word.chars().count()).sum() };
    if size <= short {
        signals.push(Short);
    }
    // No whole request has so little; a greeting may.
    if size <= scrap && !signals.contains(&NewTopic) {
        signals.push(Ellipsis);
    }
    signals
}

fn of_phrases(text: &str, wording: &Wording, lexicon: &Lexicon) -> Vec<FollowUpSignal> {
    let mut signals = Vec::new();
    // What "this" stands for comes with the message.
    let encloses = encloses(text, lexicon);
    let lists = [
        (Connective, &lexicon.connectives, false),
        (Demonstrative, &lexicon.demonstratives, true),
        (Reference, &lexicon.references, true),
        (Ellipsis, &lexicon.ellipses, true),
        (Rework, &lexicon.reworks, true),
        (Response, &lexicon.responses, false),
        (NewTopic, &lexicon.new_topics, false),
    ];
    for (signal, phrases, outside) in lists {
        if !(outside && encloses) && wording.has_any(phrases) {
            signals.push(signal);
        }
    }
    if !encloses && has_loose_pronoun(wording, lexicon) {
        signals.push(Pronoun);
    }
    signals
}

/// Whether a colon or a quote is followed by what the message is about.
fn encloses(text: &str, lexicon: &Lexicon) -> bool {
    let parts = text.split([':', '：', '"', '“', '«', '»', '„', '「', '」']).skip(1);
    parts.into_iter().any(|part| Wording::new(part, lexicon).words.len() >= ENCLOSED)
}

/// Whether a pronoun has nothing before it in the message that it could stand for.
fn has_loose_pronoun(wording: &Wording, lexicon: &Lexicon) -> bool {
    if !lexicon.is_spaced {
        return wording.has_any(&lexicon.pronouns);
    }
    let is_ending = |word: &str| {
        let ends = |end: &&str| word.ends_with(*end) && word.chars().count() >= ENDED + end.chars().count();
        lexicon.endings.iter().any(ends) && !lexicon.stop.contains(word)
    };
    let first = wording.words.iter().position(|word| lexicon.pronouns.contains(&word.as_str()) || is_ending(word));
    first.is_some_and(|first| !wording.has_any(&lexicon.empty_pronouns) && !wording.names_before(first, lexicon))
}

/// Whether the reply asked something that this may answer.
fn is_answer(text: &str, reply: &str, wording: &Wording, lexicon: &Lexicon) -> bool {
    let asks = |text: &str| text.trim_end().ends_with(['?', '？', '؟']);
    let requests = wording.words.first().is_some_and(|word| lexicon.requests.contains(word.as_str()));
    asks(reply) && !asks(text) && !requests
}
