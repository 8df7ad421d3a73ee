//! Other programs that use the companions: what each of them may do, and what it did.

use crate::{Context, ContextId, FieldError};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What another program may do. As it begins, it reads what is not local only, and does nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConnectionGrant {
    /// It may do nothing at all.
    pub is_blocked: bool,
    /// It may make, change and delete contexts and presets, and delete messages.
    pub may_change: bool,
    /// It may send messages, which are answered by the context's own model.
    pub may_chat: bool,
    /// Its messages are answered by its own model instead (MCP sampling), where it lends one.
    pub uses_sampling: bool,
    /// Only these contexts, at most 1,000; `None` = every one that is not local only.
    pub contexts: Option<Vec<ContextId>>,
}

impl ConnectionGrant {
    /// Most contexts that can be named.
    const CONTEXTS: usize = 1_000;

    /// Whether a context is there for the program. One that is local only has to be named: what other
    /// programs read may leave the machine with them.
    #[must_use]
    pub fn shows(&self, context: &Context) -> bool {
        match &self.contexts {
            _ if self.is_blocked => false,
            Some(named) => named.contains(&context.id),
            None => !context.local_only,
        }
    }

    /// Checks the number of contexts.
    ///
    /// # Errors
    /// It is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        let count = self.contexts.as_ref().map_or(0, Vec::len);
        if count <= Self::CONTEXTS {
            return Ok(());
        }
        Err(FieldError { field: "contexts", value: count.to_string(), range: format!("at most {} contexts", Self::CONTEXTS) })
    }
}

/// A program that has used the companions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    /// The name that it gives itself, 1–120 characters; nothing proves it.
    pub name: String,
    /// The version that it named last.
    pub version: String,
    /// What it may do.
    pub grant: ConnectionGrant,
    /// When it was first there.
    pub first_seen_at: DateTime<Utc>,
    /// When it was last there, to the minute.
    pub last_seen_at: DateTime<Utc>,
}

/// What another program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum AccessKind {
    /// It read contexts.
    ReadContexts,
    /// It read presets.
    ReadPresets,
    /// It read messages.
    ReadMessages,
    /// It read what tools did.
    ReadOperations,
    /// It sent a message and had it answered.
    Chat,
    /// Tools ran for a reply that it asked for.
    RunTools,
    /// It made or changed a context.
    ChangeContext,
    /// It deleted a context.
    DeleteContext,
    /// It made or changed a preset.
    ChangePreset,
    /// It deleted or hid a preset.
    DeletePreset,
    /// It deleted messages.
    DeleteMessages,
}

impl AccessKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::ReadContexts,
        Self::ReadPresets,
        Self::ReadMessages,
        Self::ReadOperations,
        Self::Chat,
        Self::RunTools,
        Self::ChangeContext,
        Self::DeleteContext,
        Self::ChangePreset,
        Self::DeletePreset,
        Self::DeleteMessages,
    ];

    /// The kind's name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadContexts => "readContexts",
            Self::ReadPresets => "readPresets",
            Self::ReadMessages => "readMessages",
            Self::ReadOperations => "readOperations",
            Self::Chat => "chat",
            Self::RunTools => "runTools",
            Self::ChangeContext => "changeContext",
            Self::DeleteContext => "deleteContext",
            Self::ChangePreset => "changePreset",
            Self::DeletePreset => "deletePreset",
            Self::DeleteMessages => "deleteMessages",
        }
    }
}

/// One thing that another program did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The program's name.
    pub client: String,
    /// What it did.
    pub kind: AccessKind,
    /// The context that it was about, while that is there.
    pub context_id: Option<ContextId>,
    /// That context's name, as it is now.
    pub context_name: Option<String>,
    /// To how many of them.
    pub count: u32,
    /// It was not allowed to, and nothing was done.
    pub is_refused: bool,
    /// When.
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_names_of_kinds_are_those_of_json() {
        for kind in AccessKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_thousand_contexts_can_be_named_and_no_more() {
        let id = ContextId::from_parts(DateTime::UNIX_EPOCH, [1; 10]);
        let naming = |count| ConnectionGrant { contexts: Some(vec![id; count]), ..ConnectionGrant::default() };
        assert!(naming(1_000).check().is_ok());
        assert_eq!(naming(1_001).check().unwrap_err().field, "contexts");
    }
}
