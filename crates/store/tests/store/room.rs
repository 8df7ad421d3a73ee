//! A temporary vault and seeded values to put in it.

use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, MemorySettings, Message, MessageId, MessageStatus, ModelChoice, ProviderId,
    Revision, Role, StrategyChoice, TitleSource, TokenCount, Usage,
};
use evenkeel_store::{DraftOwner, ReadHandle, ReplyDraft, Store, StoreError, WriteHandle};
use std::path::PathBuf;

pub const KEY: [u8; 32] = *b"\x93\x0f an unguessable key, 32 \xf1\x00\x7f\xe2!\x01";

/// Milliseconds after an arbitrary beginning.
pub fn at(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_790_000_000_000 + millis).unwrap()
}

fn random(number: u64) -> [u8; 10] {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    random
}

pub fn context_id(number: u64) -> ContextId {
    ContextId::from_parts(at(0), random(number))
}
pub fn conversation_id(number: u64) -> ConversationId {
    ConversationId::from_parts(at(0), random(number))
}
pub fn message_id(number: u64) -> MessageId {
    MessageId::from_parts(at(0), random(number))
}
pub fn provider_id(number: u64) -> ProviderId {
    ProviderId::from_parts(at(0), random(number))
}

pub struct Room {
    pub folder: tempfile::TempDir,
    pub store: Store,
}

impl Room {
    /// An empty vault.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("vault.db"), &KEY, at(0)).unwrap();
        Self { folder, store }
    }

    /// A vault with context 1 and conversation 1.
    pub fn furnished() -> Self {
        let room = Self::new();
        furnish(&room.store);
        room
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("vault.db")
    }

    /// Closes the vault and opens it again.
    pub fn reopened(self) -> Self {
        let path = self.path();
        drop(self.store);
        Self { folder: self.folder, store: Store::open(&path, &KEY, at(0)).unwrap() }
    }

    /// Writes, and panics where that fails.
    pub fn write<T>(&self, work: impl FnOnce(&mut WriteHandle<'_>) -> Result<T, StoreError>) -> T {
        self.store.write(work).unwrap()
    }

    /// Reads, and panics where that fails.
    pub fn read<T>(&self, work: impl FnOnce(&ReadHandle<'_>) -> Result<T, StoreError>) -> T {
        self.store.read(work).unwrap()
    }

    pub fn conversation(&self, number: u64) -> Conversation {
        self.store.read(|read| read.conversation(conversation_id(number))).unwrap().unwrap()
    }
}

pub fn furnish(store: &Store) {
    let (context, revision) = context(1, "Calm Counselor");
    store
        .write(|write| {
            write.insert_context(&context, &revision)?;
            write.insert_conversation(&conversation(1, 1))
        })
        .unwrap();
}

pub fn context(number: u64, name: &str) -> (Context, Revision) {
    let revision = Revision::new(name, "Answers calmly.", "patient, warm", None, at(1));
    let context = Context {
        id: context_id(number),
        name: name.into(),
        system_prompt: "Answers calmly.".into(),
        personality: "patient, warm".into(),
        revision_id: revision.id.clone(),
        temperature: 0.7,
        max_tokens: 1_000,
        max_history_tokens: 8_000,
        expiry_days: Some(90),
        model: Some(model(1)),
        local_only: true,
        maintain_personality: true,
        preset_id: None,
        created_at: at(1),
        updated_at: at(1),
        last_interaction_at: at(i64::try_from(number).unwrap()),
        expires_at: Some(at(9_000_000)),
        is_active: true,
        anchor: None,
        deleted_at: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    (context, revision)
}

pub fn model(number: u64) -> ModelChoice {
    ModelChoice { provider_id: provider_id(number), model: "smollm2".into() }
}

pub fn conversation(number: u64, context: u64) -> Conversation {
    Conversation {
        id: conversation_id(number),
        context_id: context_id(context),
        title: format!("Thread {number}"),
        title_source: TitleSource::Beginning,
        is_pinned: false,
        is_archived: false,
        tags: Vec::new(),
        deleted_at: None,
        active_leaf_id: None,
        message_count: 0,
        created_at: at(2),
        last_activity_at: at(i64::try_from(number).unwrap()),
    }
}

/// A plain message of conversation 1.
pub fn message(number: u64, parent: Option<u64>) -> Message {
    Message {
        id: message_id(number),
        conversation_id: conversation_id(1),
        context_id: context_id(1),
        parent_id: parent.map(message_id),
        role: if number % 2 == 1 { Role::User } else { Role::Assistant },
        content: format!("message {number}"),
        reasoning: None,
        status: MessageStatus::Complete,
        token_count: None,
        revision_id: None,
        model: None,
        usage: None,
        created_at: at(10 + i64::try_from(number).unwrap()),
        sibling_ids: vec![message_id(number)],
        vote: None,
        citations: Vec::new(),
        source: None,
    }
}

/// A reply with everything that a message can have.
pub fn full_reply(number: u64, parent: u64, revision: &Revision) -> Message {
    Message {
        role: Role::Assistant,
        content: "Grüße 🌊 مرحبا \u{202e}\n\tend".into(),
        reasoning: Some("first think".into()),
        status: MessageStatus::Truncated,
        token_count: Some(TokenCount { tokens: 17, tokenizer: "o200k".into() }),
        revision_id: Some(revision.id.clone()),
        model: Some(model(1)),
        usage: Some(Usage { prompt_tokens: 900, completion_tokens: 17, cached_tokens: Some(800) }),
        ..message(number, Some(parent))
    }
}

pub fn draft(reply: u64, parent: u64, text: &str, pid: u32) -> ReplyDraft {
    ReplyDraft {
        reply_id: message_id(reply),
        conversation_id: conversation_id(1),
        parent_id: Some(message_id(parent)),
        context_id: context_id(1),
        revision_id: None,
        model: Some(model(1)),
        content: text.into(),
        reasoning: None,
        owner: DraftOwner { pid, token: "boot 7, tick 12345".into() },
        updated_at: at(500),
    }
}
