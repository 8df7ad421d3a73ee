//! Every conversation of a context as one text, and the file that such a text is written to.

use super::check_outside;
use crate::backup::blocking;
use crate::{ExportFormat, Service, ServiceError};
use evenkeel_domain::{ContextId, ConversationId, ConversationPlace, ConversationQuery, ErrorBody, ErrorCode};
use evenkeel_vault::VaultError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Conversations in one part of the list.
const PART: u32 = 500;

impl Service {
    /// Every conversation of a context as one text, those in the archive too: one after the other, as JSON an array.
    ///
    /// # Errors
    /// There is no such context.
    pub async fn context_export(&self, id: ContextId, format: ExportFormat) -> Result<String, ServiceError> {
        self.context_get(id).await?;
        let mut texts = Vec::new();
        for conversation in self.conversations_of(id).await? {
            texts.push(self.conversation_export(conversation, format).await?.trim_end().to_owned());
        }
        Ok(match format {
            ExportFormat::Json => format!("[{}]\n", texts.join(",\n")),
            ExportFormat::Markdown | ExportFormat::Text if texts.is_empty() => String::new(),
            ExportFormat::Markdown => format!("{}\n", texts.join("\n\n---\n\n")),
            ExportFormat::Text => format!("{}\n", texts.join("\n\n\n")),
        })
    }

    /// Writes what was exported into a file that only its owner may read.
    ///
    /// # Errors
    /// A file is there and is not to be replaced, it would lie in the profile folder, or it cannot be written.
    pub async fn export_write(&self, text: String, path: PathBuf, replace: bool) -> Result<(), ServiceError> {
        let profile = self.profile_dir();
        blocking("saving an export", move || {
            check_outside(&path, &profile)?;
            let write = if replace { evenkeel_vault::write_durably } else { evenkeel_vault::write_new };
            write(&path, text.as_bytes()).map_err(|error| not_written(error, &path))
        })
        .await
    }

    async fn conversations_of(&self, context: ContextId) -> Result<Vec<ConversationId>, ServiceError> {
        let (mut ids, mut after): (Vec<ConversationId>, Option<ConversationPlace>) = (Vec::new(), None);
        loop {
            let query = ConversationQuery {
                context_id: Some(context),
                include_archived: true,
                limit: PART,
                after,
                ..ConversationQuery::default()
            };
            let part = self.conversation_list(query).await?.items;
            let is_last = part.len() < PART as usize;
            after = part.last().map(evenkeel_domain::Conversation::place);
            ids.extend(part.iter().map(|conversation| conversation.id));
            if is_last {
                return Ok(ids);
            }
        }
    }
}

fn not_written(error: VaultError, path: &Path) -> ServiceError {
    let VaultError::Io { source, .. } = &error else { return error.into() };
    match source.kind() {
        ErrorKind::AlreadyExists => {
            let message = format!("{} exists already, and is not replaced unless you say so", path.display());
            ErrorBody::new(ErrorCode::FileExists, message).with("path", path.display()).into()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => no_folder(path.parent().unwrap_or(path)).into(),
        _ => error.into(),
    }
}

fn no_folder(folder: &Path) -> ErrorBody {
    let message = format!("{} cannot be found, or is no folder; nothing was written", folder.display());
    let body = ErrorBody::new(ErrorCode::NotFound, message).with("folder", folder.display());
    body.advised(crate::error::NO_FOLDER)
}
