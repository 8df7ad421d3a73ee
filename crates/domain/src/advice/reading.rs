//! A field of a persona as the rules see it: its words, what is quoted, what is negated.

use super::PersonaField;
use super::rules::RULES;
use crate::phrase::{Found, Phrases, Words};
use std::ops::Range;

/// One field, read once.
pub(super) struct Part<'a> {
    pub(super) field: PersonaField,
    pub(super) text: &'a str,
    pub(super) words: Words,
    /// What stands in quotation marks, in bytes.
    quoted: Vec<Range<usize>>,
    negators: Vec<Range<usize>>,
    /// Negated words that themselves negate ("never hesitates to"), so that the sentence affirms.
    affirmed: Vec<Range<usize>>,
}

impl<'a> Part<'a> {
    pub(super) fn read(field: PersonaField, text: &'a str) -> Self {
        let words = Words::read(text);
        let ranges = |phrases: &Phrases<()>| phrases.all(&words).into_iter().map(|found| found.from..found.to).collect();
        let (negators, affirmed) = (ranges(&RULES.negators), ranges(&RULES.affirmed));
        Self { field, text, quoted: quoted(text), negators, affirmed, words }
    }

    /// Every place of a phrase outside quotation marks.
    pub(super) fn all<T: Copy>(&self, phrases: &Phrases<T>) -> Vec<Found<T>> {
        let mut found = phrases.all(&self.words);
        found.retain(|found| !self.is_quoted(found.from));
        found
    }

    pub(super) fn first<T: Copy>(&self, phrases: &Phrases<T>) -> Option<Found<T>> {
        self.all(phrases).into_iter().next()
    }

    /// The first phrase that begins a sentence.
    pub(super) fn first_of_sentence<T: Copy>(&self, phrases: &Phrases<T>) -> Option<Found<T>> {
        let begins = |at: usize| at == 0 || self.words.word(at - 1).is_empty();
        self.all(phrases).into_iter().find(|found| begins(found.from))
    }

    fn is_quoted(&self, at: usize) -> bool {
        let start = self.words.bytes(at, at + 1).start;
        self.quoted.iter().any(|range| range.contains(&start))
    }

    /// Whether a negating word begins within a range of words.
    pub(super) fn has_negator(&self, range: Range<usize>) -> bool {
        self.negators.iter().any(|negator| range.contains(&negator.start))
    }

    /// Whether the words from one place to another are negated: by a word before them in the
    /// sentence, with no "but" between, or as in German after them in the clause.
    pub(super) fn is_negated(&self, from: usize, to: usize, may_affirm: bool) -> bool {
        let sentence = self.words.sentence(from);
        let binds = |negator: &Range<usize>| {
            let is_affirmed = may_affirm && self.affirmed.iter().any(|range| range.contains(&negator.start));
            !is_affirmed && sentence.contains(&negator.start)
        };
        let is_turn = |at: usize| matches!(self.words.word(at), "but" | "sondern" | "aber" | "however" | "doch" | "then" | "dan");
        let before = |negator: &Range<usize>| negator.start < from && !(negator.start..from).any(is_turn);
        let is_whole = |at: usize| matches!(self.words.word(at), "niemand" | "niemanden" | "niemandem");
        let clause_ends = |at: usize| self.words.is_after_comma(at);
        let is_german =
            |at: usize| matches!(self.words.word(at), "nicht" | "nie" | "niemals" | "keinen" | "keine" | "keinem" | "keinesfals");
        let after = |negator: &Range<usize>| {
            let at = negator.start;
            at >= from && (is_whole(at) || (is_german(at) && !(to..=at).any(clause_ends)))
        };
        self.negators.iter().any(|negator| binds(negator) && (before(negator) || after(negator)))
    }

    /// Whether the sentence around a word says when it holds.
    pub(super) fn is_conditional(&self, at: usize) -> bool {
        let words = [
            "when", "whenever", "if", "unles", "only", "where", "for", "once", "until", "wen", "fals", "bei", "nur", "sobald",
            "fur", "auf", "on",
        ];
        self.words.sentence(at).any(|place| words.contains(&self.words.word(place)))
    }

    /// Whether a word names the user, or what the talk is like.
    pub(super) fn is_user(&self, at: usize) -> bool {
        let words = "user users someone somebody anyone anybody others they people conversation discusion tone situation things nutzer nutzerin \
                     anwender jemand man menschen gesprach ton";
        !self.words.word(at).is_empty() && words.split_ascii_whitespace().any(|word| word == self.words.word(at))
    }

    /// Whether the subject of a verb is the user: the word before it, the one before an adverb,
    /// or that of a condition which goes on with "and" or "or".
    pub(super) fn is_done_by_user(&self, verb: usize) -> bool {
        let Some(before) = verb.checked_sub(1) else { return false };
        if self.words.is_after_comma(verb) {
            return false;
        }
        // "de-escalates" is two words, the first of which turns the second round.
        if self.words.word(before) == "de" || self.is_user(before) {
            return true;
        }
        match self.words.word(before) {
            "" => false,
            "and" | "or" | "to" | "und" | "oder" | "zu" | "that" => self.is_in_users_condition(before),
            _ => before >= 1 && !self.words.is_after_comma(before) && self.is_user(before - 1),
        }
    }

    /// Whether a condition on the user ("when the user …") reaches up to a word without a comma.
    fn is_in_users_condition(&self, at: usize) -> bool {
        let clause = (self.words.sentence(at).start..at).rev().take_while(|place| !self.words.is_after_comma(place + 1));
        let is_condition = |place: usize| matches!(self.words.word(place), "when" | "whenever" | "if" | "wen" | "fals");
        clause.into_iter().any(|place| is_condition(place) && (self.is_user(place + 1) || self.is_user(place + 2)))
    }
}

/// Whether the persona is in a language that has rules.
///
/// Small words tell languages apart well; those of five languages without rules are counted too,
/// so that a name or a borrowed word does not make their texts English.
pub(super) fn has_rules(parts: &[Part]) -> bool {
    let count = |list: &str| {
        let list: Vec<&str> = list.split_ascii_whitespace().collect();
        let of = |part: &Part| (0..part.words.len()).filter(|at| list.contains(&part.words.word(*at))).count();
        parts.iter().map(of).sum::<usize>()
    };
    let own = count("the and is are to of it with not you your user users who be an answers never always speaks")
        + count("der die das und ist nicht ein eine mit den du dein sie er auf nutzer wer bist imer nie spricht antwortet");
    let others = [
        "le la les et est une des qui pas",
        "el los las y es una con que no del",
        "il gli e di che non una",
        "het een en van niet met dat",
    ];
    own > 0 && others.iter().all(|list| count(list) < own)
}

/// Text in quotation marks on one line, in bytes.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, &[char])> = None;
    for (at, c) in text.char_indices() {
        match open {
            Some((from, ends)) if ends.contains(&c) => {
                ranges.push(from..at);
                open = None;
            }
            // A mark that is not closed on its line was none.
            Some(_) if c == '\n' => open = None,
            Some(_) => {}
            None => {
                let ends: &[char] = match c {
                    '"' => &['"'],
                    '“' => &['”', '"'],
                    '„' => &['“', '”', '"'],
                    '«' => &['»'],
                    '»' => &['«'],
                    _ => continue,
                };
                open = Some((at, ends));
            }
        }
    }
    ranges
}

/// The sentence around a word, or what fits of it from that word on; blanks are single.
pub(super) fn excerpt(part: &Part, at: usize, characters: usize) -> String {
    let sentence = part.words.sentence(at);
    let shown = |range: Range<usize>| part.text.get(range).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = shown(part.words.bytes(sentence.start, sentence.end));
    if whole.chars().count() <= characters {
        return whole;
    }
    let rest = shown(part.words.bytes(at, sentence.end));
    if rest.chars().count() <= characters {
        return rest;
    }
    rest.chars().take(characters - 1).chain(['…']).collect()
}
