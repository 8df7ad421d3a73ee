//! Conversations that leave the vault as text.

mod envelope;
mod json;
mod markdown;
mod several;
#[cfg(test)]
mod tests;
mod text;
mod tools;

use crate::{ExportFormat, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ErrorBody, ErrorCode, Message, MessageId, Operation, Revision, RevisionId, Role,
};
use evenkeel_store::{ReadHandle, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Everything that is written out of one conversation.
struct Record {
    conversation: Conversation,
    /// The name of the context it was begun with; `None` where that is gone.
    companion: Option<String>,
    /// On every branch, in order of birth.
    messages: Vec<Message>,
    /// What tools did in it, the oldest first; without what they did for messages that are deleted.
    operations: Vec<Operation>,
    /// The personas that replies were given under.
    revisions: BTreeMap<RevisionId, Revision>,
    /// The names of contexts that answered without a revision.
    names: HashMap<ContextId, String>,
    exported_at: DateTime<Utc>,
}

impl Service {
    /// A conversation as text.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn conversation_export(&self, id: ConversationId, format: ExportFormat) -> Result<String, ServiceError> {
        self.conversation_get(id).await?;
        let now = self.now();
        let record = self.session()?.records(id).read(move |r| Record::read(r, id, now)).await?;
        let written = tokio::task::spawn_blocking(move || match format {
            ExportFormat::Markdown => Ok(markdown::written(&record)),
            ExportFormat::Json => json::written(&record),
            ExportFormat::Text => Ok(text::written(&record)),
        });
        let written = written.await.map_err(|error| ServiceError::internal("writing a conversation out", &error))?;
        written.map_err(|error| ServiceError::internal("writing a conversation out", &error))
    }

    /// The file name to offer for a conversation.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn conversation_file_name(&self, id: ConversationId, format: ExportFormat) -> Result<String, ServiceError> {
        let title = self.conversation_get(id).await?.title;
        Ok(format!("{}.{}", file_stem(&title), format.extension()))
    }

    /// Writes a conversation into a file that only its owner may read.
    ///
    /// # Errors
    /// There is no such conversation, the file would lie in the profile folder, or it cannot be written.
    pub async fn conversation_save(&self, id: ConversationId, format: ExportFormat, path: PathBuf) -> Result<(), ServiceError> {
        let text = self.conversation_export(id, format).await?;
        // The dialog has asked already whether a file there may be replaced.
        self.export_write(text, path, true).await
    }
}

impl Record {
    fn read(read: &ReadHandle<'_>, id: ConversationId, exported_at: DateTime<Utc>) -> Result<Self, StoreError> {
        let Some(conversation) = read.conversation(id)? else {
            return Err(StoreError::NotFound { noun: evenkeel_store::Noun::Conversation, id: id.to_string() });
        };
        let messages = read.messages(id)?;
        let mut operations = Vec::new();
        read.each_operation(Some(id), |operation| {
            operations.push(operation);
            Ok::<_, StoreError>(())
        })?;
        let (mut revisions, mut names) = (BTreeMap::new(), HashMap::new());
        for message in messages.iter().filter(|message| message.role == Role::Assistant) {
            if let Some(revision_id) = &message.revision_id
                && !revisions.contains_key(revision_id)
                && let Some(revision) = read.revision(revision_id)?
            {
                revisions.insert(revision_id.clone(), revision);
            }
            if message.revision_id.is_none() && !names.contains_key(&message.context_id) {
                let name = read.context(message.context_id)?.map(|context| context.name);
                names.insert(message.context_id, name.unwrap_or_default());
            }
        }
        let companion = read.context(conversation.context_id)?.map(|context| context.name);
        Ok(Self { conversation, companion, messages, operations, revisions, names, exported_at })
    }

    /// The name that a reply was given under; `None` of the user's messages and where nobody knows it.
    fn agent(&self, message: &Message) -> Option<&str> {
        if message.role != Role::Assistant {
            return None;
        }
        let revision = message.revision_id.as_ref().and_then(|id| self.revisions.get(id)).map(|revision| revision.name.as_str());
        revision.or_else(|| self.names.get(&message.context_id).map(String::as_str)).filter(|name| !name.is_empty())
    }

    /// The shown branch, the oldest message first.
    fn shown(&self) -> Vec<&Message> {
        let by_id: HashMap<MessageId, &Message> = self.messages.iter().map(|message| (message.id, message)).collect();
        let mut branch = Vec::new();
        let mut at = self.conversation.active_leaf_id;
        while let Some(message) = at.and_then(|id| by_id.get(&id).copied()) {
            // A ring of parents is no branch: the file is damaged.
            if branch.len() == self.messages.len() {
                break;
            }
            branch.push(message);
            at = message.parent_id;
        }
        branch.reverse();
        branch
    }
}

/// The title as part of a file name on any system.
pub(crate) fn file_stem(title: &str) -> String {
    let plain: String = title
        .chars()
        .map(|character| if character.is_control() || "/\\:*?\"<>|".contains(character) { ' ' } else { character })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let stem: String = words.join(" ").chars().take(60).collect();
    let stem = stem.trim_matches(['.', ' ']);
    if stem.is_empty() { "conversation".to_owned() } else { stem.to_owned() }
}

/// Refuses a place in the profile folder.
pub(crate) fn check_outside(path: &Path, profile: &Path) -> Result<(), ErrorBody> {
    if !is_inside(path, profile) {
        return Ok(());
    }
    let message = format!("{} is inside the profile folder, where the vault is; choose a place outside", path.display());
    Err(ErrorBody::new(ErrorCode::PlaceRefused, message).with("path", path.display()))
}

/// Whether a file would lie in a folder, whatever links lead there.
pub(crate) fn is_inside(path: &Path, folder: &Path) -> bool {
    let parent = std::path::absolute(path).ok().and_then(|path| path.parent()?.canonicalize().ok());
    parent.zip(folder.canonicalize().ok()).is_some_and(|(parent, folder)| parent.starts_with(folder))
}
