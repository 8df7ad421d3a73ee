//! A small vault in a folder of its own, whose state can be kept and put back.

use crate::error::FaultError;
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, MemorySettings, Message, MessageId, MessageStatus, Revision, Role,
    StrategyChoice, TitleSource,
};
use evenkeel_store::Store;
use evenkeel_store::backup::{self, BackupId, BackupInfo, BackupKind, BackupRequest, Progress, RestoreRequest, VaultKeys};
use evenkeel_vault::{CreateOptions, KeyFile, Profile, RecoveryCode, RootKey, Use, VaultLock, create};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Files of a folder and what is in them, by their paths below it.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The conversation that everything is said in.
pub const TALK: u64 = 1;
/// The conversation that is thrown away.
pub const THROWN_AWAY: u64 = 2;

/// Milliseconds after an arbitrary beginning.
#[must_use]
pub fn at(millis: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds(1_790_000_000_000 + millis)
}

fn random(number: u64) -> [u8; 10] {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    random
}

/// The only context.
#[must_use]
pub fn context_id() -> ContextId {
    ContextId::from_parts(at(0), random(1))
}

/// A conversation by its number.
#[must_use]
pub fn conversation_id(number: u64) -> ConversationId {
    ConversationId::from_parts(at(0), random(number))
}

/// A message by its number.
#[must_use]
pub fn message_id(number: u64) -> MessageId {
    MessageId::from_parts(at(0), random(number))
}

/// A message of a conversation behind another one, with about `words` times 30 bytes of text.
#[must_use]
pub fn message(number: u64, parent: Option<u64>, conversation: u64, words: usize) -> Message {
    Message {
        id: message_id(number),
        conversation_id: conversation_id(conversation),
        context_id: context_id(),
        parent_id: parent.map(message_id),
        role: if number % 2 == 1 { Role::User } else { Role::Assistant },
        content: format!("{} {number}", "what was said, in some words ".repeat(words)),
        reasoning: None,
        status: MessageStatus::Complete,
        token_count: None,
        revision_id: None,
        model: None,
        usage: None,
        created_at: at(10 + i64::try_from(number).unwrap_or(0)),
        sibling_ids: vec![message_id(number)],
        vote: None,
        citations: Vec::new(),
        source: None,
    }
}

/// Makes the context and both conversations.
///
/// # Errors
/// The store fails.
pub fn furnish(store: &Store) -> Result<(), FaultError> {
    let revision = Revision::new("Calm Counselor", "Answers calmly.", "patient, warm", None, at(1));
    let context = Context {
        id: context_id(),
        name: "Calm Counselor".into(),
        system_prompt: "Answers calmly.".into(),
        personality: "patient, warm".into(),
        revision_id: revision.id.clone(),
        temperature: 0.7,
        max_tokens: 1_000,
        max_history_tokens: 8_000,
        expiry_days: None,
        model: None,
        local_only: true,
        maintain_personality: true,
        preset_id: None,
        created_at: at(1),
        updated_at: at(1),
        last_interaction_at: at(1),
        expires_at: None,
        is_active: true,
        anchor: None,
        deleted_at: None,
        tags: vec!["Calm".into()],
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    store.write(|write| {
        write.insert_context(&context, &revision)?;
        write.insert_conversation(&conversation(TALK))?;
        write.insert_conversation(&conversation(THROWN_AWAY))
    })?;
    Ok(())
}

fn conversation(number: u64) -> Conversation {
    Conversation {
        id: conversation_id(number),
        context_id: context_id(),
        title: format!("Thread {number}"),
        title_source: TitleSource::Beginning,
        is_pinned: false,
        is_archived: false,
        tags: Vec::new(),
        deleted_at: None,
        active_leaf_id: None,
        message_count: 0,
        created_at: at(2),
        last_activity_at: at(2),
    }
}

/// Appends the messages `from` to `to` to a conversation, in a transaction each; the first follows the one
/// before it unless it is `root`.
///
/// # Errors
/// The store fails.
pub fn say(store: &Store, (from, to): (u64, u64), root: u64, conversation: u64, words: usize) -> Result<(), FaultError> {
    for number in from..=to {
        let parent = (number > root).then(|| number - 1);
        store.write(|write| write.insert_message(message(number, parent, conversation, words)))?;
    }
    Ok(())
}

/// Lets a work go on.
pub fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A vault with its keys.
pub struct Scene {
    folder: tempfile::TempDir,
    /// Its profile.
    pub profile: Profile,
    /// Its root key.
    pub root: RootKey,
    /// Its key slots.
    pub key_file: KeyFile,
    /// Its recovery code.
    pub code: RecoveryCode,
}

impl Scene {
    /// A vault with the messages 1 to `messages` in [`TALK`].
    ///
    /// # Errors
    /// The disk or the store fails.
    pub fn with(messages: u64) -> Result<Self, FaultError> {
        let scene = Self::empty()?;
        let store = scene.create()?;
        furnish(&store)?;
        say(&store, (1, messages), 1, TALK, 40)?;
        Ok(scene)
    }

    /// Keys without a database.
    ///
    /// # Errors
    /// The disk fails.
    pub fn empty() -> Result<Self, FaultError> {
        // In memory where that is possible: what counts is which call fails, not how long a healthy one takes.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        Self::in_folder(folder)
    }

    /// Keys without a database, in a folder below `place`.
    ///
    /// # Errors
    /// The disk fails.
    pub fn on(place: &Path) -> Result<Self, FaultError> {
        Self::in_folder(tempfile::tempdir_in(place)?)
    }

    fn in_folder(folder: tempfile::TempDir) -> Result<Self, FaultError> {
        let profile = Profile::new(folder.path().canonicalize()?.join("profile"));
        let lock = VaultLock::exclusive(&profile)?;
        let made = create(&profile, CreateOptions { recovery_only: true, ..CreateOptions::default() }, &lock)?;
        Ok(Self { folder, profile, root: made.root, key_file: made.key_file, code: made.recovery_code })
    }

    /// The folder that all of it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The keys of its backups.
    #[must_use]
    pub fn keys(&self) -> VaultKeys<'_> {
        VaultKeys { root: &self.root, vault_id: self.key_file.vault_id() }
    }

    /// Makes the database.
    ///
    /// # Errors
    /// The store fails.
    pub fn create(&self) -> Result<Store, FaultError> {
        let key = self.root.subkey(self.key_file.vault_id(), Use::Database);
        Ok(Store::create(&self.profile.database(), &key, at(0))?)
    }

    /// Opens the database.
    ///
    /// # Errors
    /// The store fails.
    pub fn open(&self) -> Result<Store, FaultError> {
        let key = self.root.subkey(self.key_file.vault_id(), Use::Database);
        Ok(Store::open(&self.profile.database(), &key, at(0))?)
    }

    /// Makes backup number `number` in the profile.
    ///
    /// # Errors
    /// The backup cannot be made.
    pub fn back_up(&self, store: &Store, number: u8) -> Result<BackupInfo, FaultError> {
        let folder = self.profile.backups();
        let now = at(0) + TimeDelta::days(number.into());
        let request = BackupRequest {
            folder: &folder,
            kind: BackupKind::Daily,
            id: BackupId::from_parts(now, [number; 10]),
            root: &self.root,
            key_file: &self.key_file,
            app_version: "0.1.0",
            now,
            keep: None,
        };
        Ok(store.backup_to(&request, &mut on)?)
    }

    /// Restores a backup.
    ///
    /// # Errors
    /// It cannot be restored.
    pub fn restore(&self, path: &Path) -> Result<(), FaultError> {
        let lock = VaultLock::exclusive(&self.profile)?;
        let request = RestoreRequest { path, root: &self.root, profile: &self.profile, lock: &lock, now: at(99_000) };
        backup::restore(&request, &mut on)?;
        Ok(())
    }

    /// All files of the profile.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn files(&self) -> Result<Files, FaultError> {
        let mut files = Files::new();
        read_folder(self.profile.dir(), Path::new(""), &mut files)?;
        Ok(files)
    }

    /// Puts the profile back into a state from [`Scene::files`]; whoever used it has closed it.
    ///
    /// # Errors
    /// A file cannot be removed or written.
    pub fn put_back(&self, files: &Files) -> Result<(), FaultError> {
        let mut there = Files::new();
        list_folder(self.profile.dir(), Path::new(""), &mut there)?;
        for path in there.keys().filter(|path| !files.contains_key(*path)) {
            fs::remove_file(self.profile.dir().join(path))?;
        }
        for (path, bytes) in files {
            let path = self.profile.dir().join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, bytes)?;
        }
        Ok(())
    }
}

/// The numbers out of `1..=most` of the messages that can be read.
///
/// # Errors
/// The store fails.
pub fn found(store: &Store, most: u64) -> Result<Vec<u64>, FaultError> {
    Ok(store.read(|read| {
        let mut found = Vec::new();
        for number in 1..=most {
            if read.message(message_id(number))?.is_some() {
                found.push(number);
            }
        }
        Ok(found)
    })?)
}

fn read_folder(root: &Path, below: &Path, files: &mut Files) -> Result<(), FaultError> {
    list_folder(root, below, files)?;
    for (path, bytes) in files.iter_mut() {
        *bytes = fs::read(root.join(path))?;
    }
    Ok(())
}

fn list_folder(root: &Path, below: &Path, files: &mut Files) -> Result<(), FaultError> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list_folder(root, &path, files)?;
        } else {
            files.insert(path, Vec::new());
        }
    }
    Ok(())
}
