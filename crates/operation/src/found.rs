//! What extractors have found: each thing once, and of each kind so many at most.

use crate::key::Deed;
use evenkeel_domain::{FoundAnswer, FoundCount, FoundFile, FoundId, FoundValue, OperationMetadata, StatusChange};
use serde_json::Value;
use std::collections::HashSet;

/// Most ids.
const MOST_IDS: usize = 200;
/// Most of any other kind.
const MOST: usize = 100;
/// Most characters of a text that was found.
const TEXT: usize = 500;
/// Most characters of a value of a rule as JSON.
const VALUE: usize = 2_000;

/// Collects what was found.
#[derive(Default)]
pub(crate) struct Found {
    metadata: OperationMetadata,
    ids: HashSet<String>,
    seen: HashSet<String>,
}

impl Found {
    pub(crate) fn finish(self) -> OperationMetadata {
        self.metadata
    }

    /// Notes that there was more than could be looked at.
    pub(crate) fn cut(&mut self) {
        self.metadata.is_cut = true;
    }

    /// Whether something is new; `place` tells kinds apart.
    fn is_new(&mut self, place: &str, what: &str, count: usize, most: usize) -> bool {
        let mark = format!("{place}\u{0}{what}");
        if self.seen.contains(&mark) {
            return false;
        }
        if count >= most {
            self.metadata.is_cut = true;
            return false;
        }
        self.seen.insert(mark);
        true
    }

    /// An id under a key; the same one under another key is another find.
    pub(crate) fn id(&mut self, key: &str, id: String) {
        let key = shortened(key);
        if self.is_new("id", &format!("{key}\u{0}{id}"), self.metadata.ids.len(), MOST_IDS) {
            self.ids.insert(id.clone());
            self.metadata.ids.push(FoundId { key, id });
        }
    }

    /// An id in a text, unless it is known already.
    pub(crate) fn id_in_text(&mut self, id: String) {
        if !self.ids.contains(&id) {
            self.id("text", id);
        }
    }

    pub(crate) fn deed(&mut self, deed: Deed, id: String) {
        let (place, count) = match deed {
            Deed::Created => ("created", self.metadata.created.len()),
            Deed::Updated => ("updated", self.metadata.updated.len()),
            Deed::Deleted => ("deleted", self.metadata.deleted.len()),
        };
        if self.is_new(place, &id, count, MOST) {
            match deed {
                Deed::Created => self.metadata.created.push(id),
                Deed::Updated => self.metadata.updated.push(id),
                Deed::Deleted => self.metadata.deleted.push(id),
            }
        }
    }

    /// A change of a status. One that knows more takes the place of one that knows less.
    pub(crate) fn status(&mut self, change: StatusChange) {
        if change.from.as_ref() == Some(&change.to) {
            return;
        }
        let fits = |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
        let same = self
            .metadata
            .status_changes
            .iter_mut()
            .find(|known| known.to == change.to && fits(&known.id, &change.id) && fits(&known.from, &change.from));
        if let Some(known) = same {
            known.id = known.id.take().or(change.id);
            known.from = known.from.take().or(change.from);
        } else if self.metadata.status_changes.len() < MOST {
            self.metadata.status_changes.push(change);
        } else {
            self.cut();
        }
    }

    pub(crate) fn count(&mut self, name: &str, count: u64) {
        let name = shortened(name);
        if self.is_new("count", &format!("{name}\u{0}{count}"), self.metadata.counts.len(), MOST) {
            self.metadata.counts.push(FoundCount { name, count });
        }
    }

    pub(crate) fn error(&mut self, text: &str) {
        let text = shortened(text.trim());
        if !text.is_empty() && self.is_new("error", &text, self.metadata.errors.len(), MOST) {
            self.metadata.errors.push(text);
        }
    }

    pub(crate) fn answer(&mut self, is_selected: bool, answer: FoundAnswer) {
        let answer = FoundAnswer { text: answer.text.as_deref().map(shortened), ..answer };
        let (place, list) =
            if is_selected { ("selected", &self.metadata.selected) } else { ("deselected", &self.metadata.deselected) };
        let count = list.len();
        if (answer.id.is_some() || answer.text.is_some()) && self.is_new(place, &format!("{answer:?}"), count, MOST) {
            if is_selected { &mut self.metadata.selected } else { &mut self.metadata.deselected }.push(answer);
        }
    }

    /// A file. Its size counts wherever it is told.
    pub(crate) fn file(&mut self, path: &str, bytes: Option<u64>) {
        let path = shortened(path.trim());
        if path.is_empty() {
            return;
        }
        if let Some(known) = self.metadata.files.iter_mut().find(|known| known.path == path) {
            known.bytes = bytes.or(known.bytes);
        } else if self.metadata.files.len() < MOST {
            self.metadata.files.push(FoundFile { path, bytes });
        } else {
            self.cut();
        }
    }

    /// A value of a rule; one that is long becomes the beginning of its text.
    pub(crate) fn value(&mut self, rule: &str, value: &Value) {
        if self.metadata.values.len() >= MOST {
            self.cut();
            return;
        }
        let value = crate::wording::shortened(value, VALUE);
        self.metadata.values.push(FoundValue { rule: rule.to_owned(), value });
    }
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
