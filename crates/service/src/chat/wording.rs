//! What of a text is stored and sent: without what the user wants to have taken out.

use super::found::{Past, Said};
use crate::session::Session;
use chrono::{DateTime, Utc};
use evenkeel_domain::{FollowUp, HistoryNeed, RedactionSettings, Role, TextEdit};
use evenkeel_prompt::{BlockKind, FollowUpInput, Origin, Prompt, Redactor, follow_up, wanted};

/// A text as it is sent, and what was replaced in the stored one.
#[derive(Debug, Default)]
pub(crate) struct Worded {
    pub text: String,
    pub edits: Vec<TextEdit>,
}

/// What looks through texts before they are sent; `None` where nothing is taken out.
pub(crate) fn before_sending(session: &Session) -> Option<Redactor> {
    redactor(session.settings().redaction.clone(), |settings| settings.before_sending)
}

/// What looks through the user's texts before they are stored; `None` where nothing is taken out.
pub(crate) fn before_storing(session: &Session) -> Option<Redactor> {
    redactor(session.settings().redaction.clone(), |settings| settings.before_storing)
}

fn redactor(settings: RedactionSettings, is_wanted: fn(&RedactionSettings) -> bool) -> Option<Redactor> {
    (is_wanted(&settings) && !settings.is_empty()).then(|| Redactor::new(&settings))
}

/// A text as it is sent.
pub(crate) fn worded(text: &str, redactor: Option<&Redactor>) -> Worded {
    let Some(redactor) = redactor else { return Worded { text: text.to_owned(), edits: Vec::new() } };
    let redacted = redactor.redact(text);
    Worded { text: redacted.text, edits: redacted.edits }
}

/// Takes out of what was said what is not to be sent.
pub(crate) fn redact(past: &mut Past, redactor: &Redactor) {
    for Said { text, prefix, edits } in &mut past.texts {
        let stored = text.content.get(prefix.len()..).unwrap_or_default();
        let sent = worded(stored, Some(redactor));
        if !sent.edits.is_empty() {
            text.content = format!("{prefix}{}", sent.text);
            text.tokens = None;
            *edits = sent.edits;
        }
    }
}

/// The same for what a prompt remembers beside the history.
pub(crate) fn redact_memory(prompt: &mut Prompt, redactor: &Redactor) {
    for block in prompt.blocks.iter_mut().filter(|block| block.included && block.kind == BlockKind::Memory) {
        let sent = worded(block.text.get(block.prefix.len()..).unwrap_or_default(), Some(redactor));
        if sent.edits.is_empty() {
            continue;
        }
        block.text = format!("{}{}", block.prefix, sent.text);
        // Of other memory the receipt keeps the text as it was sent.
        if matches!(block.origin, Origin::Summary { .. }) {
            block.edits = sent.edits;
        }
    }
}

/// Whether a text goes on with what was said last.
pub(crate) fn followed(past: &Past, text: &str, now: DateTime<Utc>) -> FollowUp {
    let newest = |role| past.texts.iter().rfind(|said| said.text.role == role).map(|said| said.text.content.as_str());
    let since = past.texts.last().and_then(|said| said.text.id.born_at()).map(|then| now.signed_duration_since(then));
    follow_up(&FollowUpInput { text, previous_user: newest(Role::User), previous_reply: newest(Role::Assistant), since })
}

/// Most messages to bring back for a text: what goes on with the last exchange needs fewer of the others.
pub(crate) fn recall_count(follow_up: &FollowUp, most: u32) -> u32 {
    if wanted(follow_up) == HistoryNeed::More { most.div_ceil(2) } else { most }
}
