//! Takes mail addresses, phone and card numbers, keys and the user's own words out of a text.
//!
//! A hook for two places: before a text is stored and before a request is sent. It is off until the
//! user turns it on. What it finds it finds by shape, without knowing what a text means, so it misses
//! some and takes some wrongly; `redaction/corpus.txt` is what it is measured on, and the test
//! `corpus` prints how often it does either. The work grows with the length of the text and with nothing else.

use crate::edited;
use evenkeel_domain::{RedactionKind, RedactionSettings, TextEdit};
use std::cmp::Reverse;
use std::ops::Range;

mod assignment;
mod card;
mod character;
mod iban;
mod mail;
mod own;
mod pem;
mod phone;
mod phone_cue;
mod random;
mod token;

use own::OwnWords;

/// How often what is left of a text is looked at again after something was taken out of it. Text that
/// people write is done after the second look; only text made for it needs more than a few.
const LOOKS: usize = 8;

/// Something found in a piece of text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    from: usize,
    to: usize,
    kind: RedactionKind,
}

impl Hit {
    fn new(from: usize, to: usize, kind: RedactionKind) -> Self {
        Self { from, to, kind }
    }
}

/// A text without what was found in it, and what makes it of the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text with placeholders such as `[email]`.
    pub text: String,
    /// The replaced places in order; none overlaps another, and all lie on borders of characters.
    pub edits: Vec<TextEdit>,
}

/// Settings made ready for looking through texts.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    settings: RedactionSettings,
    own: OwnWords,
}

impl Redactor {
    /// Looks for what the settings name. Their `before_storing` and `before_sending` are for the
    /// caller, who decides at which of the two places it stands. Own words beyond the first 200 are
    /// looked for as well; [`RedactionSettings::check`] refuses them.
    #[must_use]
    pub fn new(settings: &RedactionSettings) -> Self {
        Self { settings: settings.clone(), own: OwnWords::new(&settings.own) }
    }

    /// The text with everything replaced that was found.
    ///
    /// The same text gives the same result, and the result gives itself: placeholders that stand in a
    /// text are passed over, whoever wrote them. Where two findings overlap, one edit covers both and
    /// has the name of the longer. Texts over 4 GiB, which no message can be, stay as they are.
    #[must_use]
    pub fn redact(&self, text: &str) -> Redacted {
        if self.settings.is_empty() || u32::try_from(text.len()).is_err() {
            return Redacted { text: text.to_owned(), edits: Vec::new() };
        }
        let edits: Vec<TextEdit> = self.all_hits(text).into_iter().map(edit_of).collect();
        let redacted = edited(text, &edits).unwrap_or_else(|| text.to_owned());
        Redacted { text: redacted, edits }
    }

    /// Every hit of a text in order. Each piece between placeholders is looked at by itself until
    /// nothing is found in it, so that the result holds nothing that another run would find.
    fn all_hits(&self, text: &str) -> Vec<Hit> {
        let mut all = Vec::new();
        let mut open = pieces(text);
        for _ in 0..LOOKS {
            let mut left = Vec::new();
            for piece in open {
                let hits = self.hits(&text[piece.clone()]);
                let mut from = piece.start;
                for hit in hits.iter().map(|hit| Hit::new(hit.from + piece.start, hit.to + piece.start, hit.kind)) {
                    left.push(from..hit.from);
                    from = hit.to;
                    all.push(hit);
                }
                if !hits.is_empty() {
                    left.push(from..piece.end);
                }
            }
            open = left;
        }
        // A text in which every look uncovers something new is made to do so: what is left of it goes whole.
        for piece in open {
            if let Some(hit) = self.hits(&text[piece.clone()]).first() {
                all.push(Hit::new(piece.start, piece.end, hit.kind));
            }
        }
        all.sort_unstable_by_key(|hit| hit.from);
        all
    }

    /// What one look finds, in order and without overlaps.
    fn hits(&self, piece: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        if piece.is_empty() {
            return hits;
        }
        if self.settings.keys {
            let blocks = pem::find(piece, &mut hits);
            token::find(piece, &mut hits);
            random::find(piece, &blocks, &mut hits);
            assignment::find(piece, &mut hits);
        }
        if self.settings.cards {
            card::find(piece, &mut hits);
            iban::find(piece, &mut hits);
        }
        if self.settings.emails {
            mail::find(piece, &mut hits);
        }
        if self.settings.phones {
            phone::find(piece, &mut hits);
        }
        self.own.find(piece, &mut hits);
        merged(hits)
    }
}

fn edit_of(hit: Hit) -> TextEdit {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    TextEdit { start: place(hit.from), end: place(hit.to), with: hit.kind.placeholder().to_owned() }
}

/// The parts of a text that lie before, between and behind its placeholders.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('[') {
        if let Some(kind) = RedactionKind::ALL.iter().find(|kind| text[at..].starts_with(kind.placeholder())) {
            pieces.push(from..at);
            from = at + kind.placeholder().len();
        }
    }
    pieces.push(from..text.len());
    pieces
}

/// One hit for each group of overlapping ones; it has the kind of its longest.
fn merged(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_unstable_by_key(|hit| (hit.from, Reverse(hit.to), hit.kind));
    let mut merged: Vec<(Hit, usize)> = Vec::with_capacity(hits.len());
    for hit in hits {
        let length = hit.to - hit.from;
        match merged.last_mut() {
            Some((last, longest)) if hit.from < last.to => {
                last.to = last.to.max(hit.to);
                if (Reverse(length), hit.kind) < (Reverse(*longest), last.kind) {
                    (last.kind, *longest) = (hit.kind, length);
                }
            }
            _ => merged.push((hit, length)),
        }
    }
    merged.into_iter().map(|(hit, _)| hit).collect()
}

#[cfg(test)]
mod tests;
