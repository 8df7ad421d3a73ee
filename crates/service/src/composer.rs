//! What is typed and not sent.

use crate::session::private::{Item, Records};
use crate::{Service, ServiceError};
use evenkeel_domain::{DraftKey, ErrorCode, FieldError};

impl Service {
    /// Where what is typed for a private conversation stays in memory, too.
    fn typed_at(&self, key: DraftKey) -> Result<Records, ServiceError> {
        let session = self.session()?;
        Ok(match key {
            DraftKey::Conversation(id) => session.records(id),
            DraftKey::Context(_) => session.records(Item::Vault),
        })
    }

    /// What is typed for a conversation, or for a new one with a context; empty if nothing is.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn draft_get(&self, key: DraftKey) -> Result<String, ServiceError> {
        let draft = self.typed_at(key)?.read(move |r| r.composer_draft(key)).await?;
        Ok(draft.map(|draft| draft.text).unwrap_or_default())
    }

    /// Keeps what is typed; an empty text is forgotten.
    ///
    /// # Errors
    /// The text is larger than a message may be or has a NUL, the conversation or context is gone, or
    /// the vault is as large as it may be.
    pub async fn draft_put(&self, key: DraftKey, text: String) -> Result<(), ServiceError> {
        self.check_size(&text)?;
        if text.contains('\0') {
            let value = "text with a NUL character".to_owned();
            return Err(FieldError { field: "text", value, range: "text without NUL characters".into() }.into());
        }
        if !text.is_empty() {
            self.check_vault_size().await?;
        }
        let now = self.now();
        match self.typed_at(key)?.write(move |w| w.put_composer_draft(key, &text, now)).await {
            // Says what there is instead.
            Err(error) if error.code() == ErrorCode::NotFound => {
                match key {
                    DraftKey::Conversation(id) => self.conversation_get(id).await.map(drop)?,
                    DraftKey::Context(id) => self.context_get(id).await.map(drop)?,
                }
                Err(error)
            }
            kept => kept,
        }
    }
}
