//! Conversations as folders of encrypted files, one for each message, and back.
//!
//! Each file is an envelope that other programs can open. Files of other programs, whose key is the SHA-256 of a
//! configured string, are read with that string.

use super::{Record, file_stem, is_inside};
use crate::backup::blocking;
use crate::{EnvelopeExport, EnvelopeImport, EnvelopeKey, Service, ServiceError};
use chrono::{DateTime, NaiveDateTime, Utc};
use evenkeel_domain::{
    ContextId, Conversation, ConversationId, ErrorBody, ErrorCode, FieldError, Limits, Message, MessageId, MessageStatus, Role,
    beginning,
};
use evenkeel_vault::{EnvelopeError, Use, VaultError, envelope_key_of, open_envelope, seal_envelope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Files of one conversation at most.
const MOST_FILES: usize = 100_000;
/// Bytes of one file at most.
const FILE_MOST: u64 = 48 << 20;
/// Bytes of texts of one conversation at most: they are in memory at once.
const TEXT_MOST: usize = 256 << 20;
/// How the time stands in a file's name.
const NAME_TIME: &str = "%Y%m%dT%H%M%S%3fZ";
/// Names of files that are told when they were passed over.
const NAMED: usize = 20;

/// What is in an envelope.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inside {
    #[serde(alias = "Role")]
    role: String,
    #[serde(alias = "Content")]
    content: String,
    #[serde(default, alias = "TimestampUtc", alias = "timestamp")]
    timestamp_utc: Option<DateTime<Utc>>,
    #[serde(default, alias = "Metadata")]
    metadata: Option<Map<String, Value>>,
}

/// A file that was read.
struct Read {
    role: Role,
    content: String,
    at: DateTime<Utc>,
    id: Option<String>,
    parent: Option<String>,
}

/// What a file's name tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    at: DateTime<Utc>,
    number: u32,
    role: String,
}

impl Service {
    /// Writes a conversation into a new folder in `folder`: each message, on every branch, an encrypted file of its
    /// own. Their key is derived from the vault's.
    ///
    /// # Errors
    /// There is no such conversation; the folder was not chosen in a dialog or lies in the profile; a folder of that
    /// name is there already; the disk refuses.
    pub async fn envelope_export(&self, id: ConversationId, folder: PathBuf) -> Result<EnvelopeExport, ServiceError> {
        self.check_chosen(&folder)?;
        self.conversation_get(id).await?;
        let (opened, now, profile) = (self.0.gate.opened()?, self.now(), self.profile_dir());
        let record = self.session()?.records(id).read(move |r| Record::read(r, id, now)).await?;
        blocking("writing envelopes", move || {
            let target = folder.join(file_stem(&record.conversation.title));
            if is_inside(&target, &profile) {
                return Err(refused(ErrorCode::PlaceRefused, &target, "is inside the profile folder; choose a place outside"));
            }
            let key = opened.root.subkey(opened.key_file.vault_id(), Use::Envelope);
            let files = write_folder(&record, &key, &target)?;
            Ok(EnvelopeExport { path: target.display().to_string(), files })
        })
        .await
    }

    /// Reads a folder of envelopes as a new conversation of a context. All files have to open, or nothing is taken in;
    /// files with other names are passed over and told.
    ///
    /// # Errors
    /// The folder was not chosen in a dialog, cannot be read, or holds no envelope; a file is none, or the key does not
    /// open it; a text is too long; the context does not exist, has expired or is full.
    pub async fn envelope_import(
        &self,
        folder: PathBuf,
        key: EnvelopeKey,
        context: ContextId,
    ) -> Result<EnvelopeImport, ServiceError> {
        self.check_chosen(&folder)?;
        let context = self.context_get(context).await?;
        self.check_lifetime(&context)?;
        self.check_vault_size().await?;
        let (opened, limits) = (self.0.gate.opened()?, self.limits());
        let key = match key {
            EnvelopeKey::Vault => opened.root.subkey(opened.key_file.vault_id(), Use::Envelope),
            EnvelopeKey::Text { text } => envelope_key_of(&Zeroizing::new(text)),
        };
        let (all, skipped) = blocking("reading envelopes", move || read_folder(&folder, &key, &limits)).await?;
        let title = all.iter().find(|one| one.role == Role::User).map_or_else(String::new, |one| beginning(&one.content, 80));
        let conversation = Conversation { title, ..self.blank(context.id) };
        let messages = self.of_envelopes(all, &conversation);
        let (count, id, limit) = (messages.len(), conversation.id, self.limits().messages_per_context);
        let session = self.session()?;
        let stored = session.write(move |w| {
            let there = w.message_count(conversation.context_id)?;
            if there.saturating_add(messages.len() as u64) > u64::from(limit) {
                return Ok(false);
            }
            w.insert_conversation(&conversation)?;
            messages.into_iter().try_for_each(|message| w.insert_message(message).map(drop))?;
            Ok(true)
        });
        if !stored.await? {
            let message = format!("the context may have {limit} messages; raise the limit, or choose another context");
            let body = ErrorBody::new(ErrorCode::LimitReached, message);
            return Err(body.with("limit", limit).with("field", "limits.messagesPerContext").into());
        }
        let messages = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(EnvelopeImport { conversation: self.conversation_get(id).await?, messages, skipped })
    }

    /// Messages with new ids; each hangs on the one that its file names, else on the one before it.
    fn of_envelopes(&self, all: Vec<Read>, conversation: &Conversation) -> Vec<Message> {
        let mut known: HashMap<String, MessageId> = HashMap::new();
        let mut last = None;
        let mut messages = Vec::with_capacity(all.len());
        for one in all {
            let id = MessageId::from_parts(self.now(), self.random());
            let named = one.parent.as_ref().and_then(|parent| known.get(parent).copied());
            // A file that knows its own id and names no parent begins a branch.
            let begins = one.id.is_some() && one.parent.is_none();
            let parent_id = if begins { None } else { named.or(last) };
            if let Some(own) = one.id {
                known.insert(own, id);
            }
            last = Some(id);
            messages.push(Message {
                id,
                conversation_id: conversation.id,
                context_id: conversation.context_id,
                parent_id,
                role: one.role,
                content: one.content,
                reasoning: None,
                status: MessageStatus::Complete,
                token_count: None,
                revision_id: None,
                model: None,
                usage: None,
                created_at: one.at,
                sibling_ids: Vec::new(),
                vote: None,
                citations: Vec::new(),
                source: None,
            });
        }
        messages
    }
}

fn refused(code: ErrorCode, path: &Path, what: &str) -> ServiceError {
    ErrorBody::new(code, format!("{} {what}", path.display())).with("path", path.display()).into()
}

fn failed(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> ServiceError {
    let what = format!("{doing} {}", path.display());
    move |source| VaultError::Io { what, source }.into()
}

/// Writes the files beside the folder's place, and gives it its name when all are there.
fn write_folder(record: &Record, key: &[u8; 32], target: &Path) -> Result<u32, ServiceError> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(refused(ErrorCode::FileExists, target, "is there already; move it away, or choose another place"));
    }
    let work = target.with_file_name(format!(".evenkeel-envelopes.unfinished-{}", std::process::id()));
    let _ = fs::remove_dir_all(&work);
    let written = fs::create_dir(&work).map_err(failed("Making", &work)).and_then(|()| {
        let mut files = 0;
        for message in &record.messages {
            files += 1;
            let text = Zeroizing::new(inside(record, message)?);
            let sealed = seal_envelope(key, text.as_bytes())?;
            let path = work.join(file_name(message, files));
            private(&path)
                .and_then(|mut file| file.write_all(sealed.as_bytes()).and_then(|()| file.sync_all()))
                .map_err(failed("Writing", &path))?;
        }
        fs::rename(&work, target).map_err(failed("Naming", target))?;
        Ok(files)
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&work);
    }
    written
}

fn private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn file_name(message: &Message, number: u32) -> String {
    format!("{}_{number:04}_{}.json", message.created_at.format(NAME_TIME), message.role.as_str())
}

/// What goes into a message's envelope.
fn inside(record: &Record, message: &Message) -> Result<String, ServiceError> {
    let mut metadata = Map::new();
    metadata.insert("source".into(), "evenkeel".into());
    metadata.insert("messageId".into(), message.id.to_string().into());
    let others = [
        ("parentMessageId", message.parent_id.map(|parent| parent.to_string())),
        ("agent", record.agent(message).map(str::to_owned)),
        ("model", message.model.as_ref().map(|model| model.model.clone())),
    ];
    metadata.extend(others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    let inside = Inside {
        role: message.role.as_str().to_owned(),
        content: message.content.clone(),
        timestamp_utc: Some(message.created_at),
        metadata: Some(metadata),
    };
    serde_json::to_string(&inside).map_err(|error| ServiceError::internal("writing an envelope", &error))
}

/// What a file is called; `None` of a name that is none of an envelope. A name is never used as a path.
fn name_of(file: &str) -> Option<Name> {
    let mut parts = file.strip_suffix(".json")?.split('_');
    let (time, number, role) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = (1..=7).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_role = ["user", "assistant", "system"].contains(&role);
    if parts.next().is_some() || !is_number || !is_role || time.len() != 19 {
        return None;
    }
    // Without a point before its milliseconds a time cannot be read as one number each.
    let (seconds, millis) = time.strip_suffix('Z')?.split_at_checked(15)?;
    let at = NaiveDateTime::parse_from_str(&format!("{seconds}.{millis}"), "%Y%m%dT%H%M%S%.3f").ok()?.and_utc();
    Some(Name { at, number: number.parse().ok()?, role: role.to_owned() })
}

type Found = (Vec<Read>, Vec<String>);

/// Reads every envelope in a folder, in the order of their names.
fn read_folder(folder: &Path, key: &[u8; 32], limits: &Limits) -> Result<Found, ServiceError> {
    let (mut names, mut skipped) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(failed("Reading", folder))? {
        let entry = entry.map_err(failed("Reading", folder))?;
        let file = entry.file_name();
        // Links are no files: what they lead to is not in the folder.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        match file.to_str().and_then(name_of).filter(|_| is_file) {
            Some(name) => names.push((name, entry.path())),
            None if skipped.len() < NAMED => skipped.push(file.to_string_lossy().into_owned()),
            None => {}
        }
        if names.len() > MOST_FILES {
            return Err(refused(ErrorCode::LimitReached, folder, "holds more than 100,000 envelopes; import it in parts"));
        }
    }
    if names.is_empty() {
        return Err(refused(ErrorCode::ArchiveInvalid, folder, "holds no envelope; choose the folder of one conversation"));
    }
    names.sort();
    skipped.sort();
    let (mut all, mut bytes) = (Vec::with_capacity(names.len()), 0);
    for (name, path) in names {
        let one = read_file(&name, &path, key, limits)?;
        bytes += one.content.len();
        if bytes > TEXT_MOST {
            return Err(refused(ErrorCode::LimitReached, folder, "holds more than 256 MiB of text; import it in parts"));
        }
        all.push(one);
    }
    Ok((all, skipped))
}

fn read_file(name: &Name, path: &Path, key: &[u8; 32], limits: &Limits) -> Result<Read, ServiceError> {
    let size = fs::metadata(path).map_err(failed("Reading", path))?.len();
    if size > FILE_MOST {
        return Err(refused(ErrorCode::ArchiveInvalid, path, "is larger than 48 MiB; nothing was taken in"));
    }
    let json = fs::read(path).map_err(failed("Reading", path))?;
    let plain = open_envelope(key, &json).map_err(|error| {
        let code = match error {
            EnvelopeError::WrongKey => ErrorCode::ArchiveLocked,
            EnvelopeError::Malformed { .. } => ErrorCode::ArchiveInvalid,
        };
        refused(code, path, &format!("cannot be taken in: {error}"))
    })?;
    let unreadable = |what: &str| refused(ErrorCode::ArchiveInvalid, path, what);
    let inside: Inside = serde_json::from_slice(&plain)
        .map_err(|_| unreadable("has to hold role, content, timestampUtc and metadata; nothing was taken in"))?;
    let role =
        [Role::User, Role::Assistant, Role::System].into_iter().find(|role| inside.role.eq_ignore_ascii_case(role.as_str()));
    let role = role.filter(|role| role.as_str() == name.role);
    let role = role.ok_or_else(|| unreadable("has another role than its name says; nothing was taken in"))?;
    limits.check_message(&inside.content).map_err(|error| FieldError { field: "content", ..error })?;
    let said = |field: &str| inside.metadata.as_ref().and_then(|all| all.get(field)).and_then(Value::as_str).map(str::to_owned);
    let ours = said("source").as_deref() == Some("evenkeel");
    Ok(Read {
        role,
        at: inside.timestamp_utc.unwrap_or(name.at),
        id: said("messageId").filter(|_| ours),
        parent: said("parentMessageId").filter(|_| ours),
        content: inside.content,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use chrono::SecondsFormat;

    #[test]
    fn names_are_read_as_they_are_written_and_others_are_none() {
        let name = name_of("20261121T215646123Z_0007_assistant.json").unwrap();
        assert_eq!((name.number, name.role.as_str()), (7, "assistant"));
        assert_eq!(name.at.to_rfc3339_opts(SecondsFormat::Millis, true), "2026-11-21T21:56:46.123Z");
        for other in [
            "../20261121T215646123Z_0007_user.json",
            "20261121T215646123Z_0007_user.json.exe",
            "20261121T215646123Z_0007_root.json",
            "20261121T215646123Z_00070007_user.json",
            "20261121T215646123Z_-007_user.json",
            "20261321T215646123Z_0007_user.json",
            "20261121T215646123_0007_user.json",
            "20261121T21564612éZ_1_user.json",
            "20261121T215646123Z_0007_user_x.json",
            "20261121T215646123Z/_0007_user.json",
            "_0007_user.json",
            ".json",
            "",
        ] {
            assert_eq!(name_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_are_in_the_order_of_the_conversation() {
        let early = name_of("20261121T215646123Z_0002_user.json").unwrap();
        let late = name_of("20261121T215646123Z_0010_assistant.json").unwrap();
        let last = name_of("20261121T215646124Z_0001_user.json").unwrap();
        assert!(early < late && late < last);
    }
}
