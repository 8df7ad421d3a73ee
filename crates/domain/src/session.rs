//! Conversations as other programs list them over HTTP, where they are called sessions.

use crate::{ContextId, Conversation, ConversationId, Message};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Which sessions a program sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsShown {
    /// The contexts that are there for it, in the trash none.
    pub contexts: Vec<ContextId>,
    /// The contexts that may have spoken there beside them; `None` = all that are not local only.
    pub among: Option<Vec<ContextId>>,
    /// At most so many.
    pub limit: u32,
    /// So many are left out at the beginning.
    pub offset: u32,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The conversation.
    pub conversation: Conversation,
    /// What it began with.
    pub query: String,
    /// The contexts that replied there, in the order of their first replies.
    pub agents: Vec<ContextId>,
}

/// A page of sessions, and figures of all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sessions {
    /// The page, the one in which something was said last first.
    pub page: Vec<SessionSummary>,
    /// How many there are on all pages.
    pub total: u32,
    /// Their messages, together.
    pub messages: u64,
}

/// Which part of a session a program reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    /// The session.
    pub id: ConversationId,
    /// As in [`SessionsShown`].
    pub contexts: Vec<ContextId>,
    /// As in [`SessionsShown`].
    pub among: Option<Vec<ContextId>>,
    /// The newest messages first.
    pub newest_first: bool,
    /// At most so many messages.
    pub limit: u32,
    /// So many are left out at the beginning.
    pub offset: u32,
}

/// A part of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPart {
    /// The conversation.
    pub conversation: Conversation,
    /// Its messages on all branches, in order of birth or the newest first, without their siblings.
    pub messages: Vec<Message>,
    /// How many there are in all.
    pub total: u32,
    /// The contexts that replied there, in the order of their first replies.
    pub agents: Vec<ContextId>,
    /// Of the conversations that the messages cite, those that are there for the program.
    pub cited: Vec<ConversationId>,
}

/// A session that a program named itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedSession {
    /// Its name, 1–128 letters, digits and `_-.:`.
    pub name: String,
    /// The program that named it: another one does not find it by that name.
    pub client: String,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// It goes to the trash once nothing was said in it for a day.
    pub is_transient: bool,
    /// When it was named.
    pub since: DateTime<Utc>,
}

impl NamedSession {
    /// Most characters of a name.
    const NAME: usize = 128;

    /// Whether a program may give a session this name.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        !name.is_empty() && name.len() <= Self::NAME && name.bytes().all(is_plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for name in ["session_1753700000000_k3j9x2", "a", "A.b:c-d_1", &"x".repeat(128)] {
            assert!(NamedSession::is_name(name), "{name}");
        }
        for name in ["", "with blank", "ü", "a/b", "a\n", &"x".repeat(129)] {
            assert!(!NamedSession::is_name(name), "{name}");
        }
    }
}
