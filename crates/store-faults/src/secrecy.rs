//! What must not be found: words and keys in any file of the profile, and what was forgotten in any page of the database,
//! those included that nothing uses any more.

use crate::bytes::hex;
use crate::error::{FaultError, promise};
use crate::scene::{Scene, TALK, context_id, conversation_id, message, message_id};
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD};
use evenkeel_domain::{DraftKey, Operation, OperationId, OperationMetadata};
use evenkeel_store::{Store, StoreError};
use evenkeel_vault::Use;
use rusqlite::Connection;
use serde_json::Value;

/// Stands in every text that is searched for.
const MARKER: &str = "MARKERtourmaline";
/// A word of what stays.
const STAYS: &str = "what was said";
/// Messages with the marker.
const MARKED: u64 = 200;

/// What was searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Searched {
    /// Files.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Markers and keys that were found.
    pub found: u64,
}

/// Searches all files of a profile, while it is in use and afterwards, for a marker and for its keys: as they are, in hex
/// and in base64.
///
/// # Errors
/// `Broken` where the search does not find what was planted; the store fails.
pub fn scan() -> Result<Searched, FaultError> {
    let scene = Scene::with(3)?;
    let needles = needles(&scene);
    let mut searched = Searched::default();
    let store = scene.open()?;
    mark(&store)?;
    let backup = scene.back_up(&store, 1)?;
    search(&scene, &needles, &mut searched)?;
    // A change that is taken back leaves traces of its own.
    let undone = store.write(|write| {
        write.insert_message(message(900, None, TALK, 10))?;
        write.delete_message(message_id(901), crate::scene::at(500))
    });
    promise(undone.is_err(), || "a message that is not there was deleted".to_owned())?;
    search(&scene, &needles, &mut searched)?;
    drop(store);
    scene.restore(&backup.path)?;
    drop(scene.open()?);
    search(&scene, &needles, &mut searched)?;
    let mut control = Searched::default();
    std::fs::write(scene.profile.dir().join("planted"), needles.concat())?;
    search(&scene, &needles, &mut control)?;
    promise(control.found >= needles.len() as u64, || format!("the search finds {} of what was planted", control.found))?;
    Ok(searched)
}

fn needles(scene: &Scene) -> Vec<Vec<u8>> {
    let mut needles = vec![MARKER.into(), "Calm Counselor".into(), STAYS.into(), "CREATE TABLE".into()];
    needles.push(scene.code.text().as_bytes().to_vec());
    needles.push(scene.code.groups().concat().into_bytes());
    for purpose in [Use::Database, Use::Secrets, Use::Backup, Use::BackupContents, Use::Envelope] {
        let key = scene.root.subkey(scene.key_file.vault_id(), purpose);
        let text = hex(&*key);
        needles.push(key.to_vec());
        needles.push(text.to_uppercase().into_bytes());
        needles.push(text.into_bytes());
        needles.extend([BASE64, BASE64_NOPAD, BASE64URL_NOPAD].map(|base| base.encode(&*key).into_bytes()));
    }
    needles
}

fn search(scene: &Scene, needles: &[Vec<u8>], searched: &mut Searched) -> Result<(), FaultError> {
    for bytes in scene.files()?.values() {
        searched.files += 1;
        searched.bytes += bytes.len() as u64;
        searched.found += needles.iter().filter(|needle| holds(bytes, needle)).count() as u64;
    }
    Ok(())
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return false };
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        from += at;
        if bytes[from..].starts_with(needle) {
            return true;
        }
        from += 1;
    }
    false
}

/// Puts the marker into what is said, typed and noted in the first conversation.
fn mark(store: &Store) -> Result<(), FaultError> {
    store.write(|write| {
        for number in 100..100 + MARKED {
            let mut one = message(number, (number > 100).then(|| number - 1), TALK, 3);
            one.content = format!("{} {MARKER} {number}", one.content);
            one.reasoning = Some(MARKER.to_owned());
            write.insert_message(one)?;
        }
        write.insert_operation(&operation(), 50)?;
        write.set_message_metadata(message_id(100), Some(&format!("{{\"{MARKER}\":1}}")))?;
        write.put_composer_draft(DraftKey::Conversation(conversation_id(TALK)), MARKER, crate::scene::at(5))?;
        write.put_composer_draft(DraftKey::Context(context_id()), MARKER, crate::scene::at(5))
    })?;
    Ok(())
}

/// What a tool did with the marker; it belongs to no message that could be named.
fn operation() -> Operation {
    let marked = || Value::String(MARKER.to_owned());
    Operation {
        id: OperationId::from(message_id(100).uuid()),
        conversation_id: conversation_id(TALK),
        context_id: context_id(),
        message_id: None,
        at: crate::scene::at(5),
        query: MARKER.to_owned(),
        source: MARKER.to_owned(),
        tool_name: MARKER.to_owned(),
        arguments: marked(),
        result: marked(),
        metadata: OperationMetadata { errors: vec![MARKER.to_owned()], ..OperationMetadata::default() },
        duration_ms: 1,
        error: None,
    }
}

/// One way to forget.
type Forgetting = fn(&Store) -> Result<(), StoreError>;

/// Forgets messages with a marker in each of the ways that there are, and counts the markers that are then left in the
/// decrypted pages of the database, those included that nothing uses any more.
///
/// # Errors
/// `Broken` where the search does not find what is there; the store fails.
pub fn forget() -> Result<Searched, FaultError> {
    let mut searched = Searched::default();
    let forgetting: [Forgetting; 3] = [
        |store| {
            store.write(|write| {
                (100..100 + MARKED).try_for_each(|n| write.delete_message(message_id(n), crate::scene::at(700)))
            })?;
            store.write(|write| {
                write.put_composer_draft(DraftKey::Conversation(conversation_id(TALK)), "", crate::scene::at(6))?;
                write.put_composer_draft(DraftKey::Context(context_id()), "", crate::scene::at(6))?;
                write.forget_deleted_messages(crate::scene::at(701)).map(drop)
            })
        },
        |store| {
            store.write(|write| {
                write.delete_conversation(conversation_id(TALK))?;
                write.put_composer_draft(DraftKey::Context(context_id()), "", crate::scene::at(6))
            })
        },
        |store| store.write(|write| write.purge_context(context_id(), crate::scene::at(800))),
    ];
    for forget in forgetting {
        let scene = Scene::with(3)?;
        let store = scene.open()?;
        mark(&store)?;
        promise(holds(&pages(&scene)?, MARKER.as_bytes()), || "the search does not find what is there".to_owned())?;
        forget(&store)?;
        let pages = pages(&scene)?;
        searched.files += 1;
        searched.bytes += pages.len() as u64;
        searched.found += u64::from(holds(&pages, MARKER.as_bytes()));
    }
    Ok(searched)
}

/// All pages of the database, decrypted, with what the log holds.
fn pages(scene: &Scene) -> Result<Vec<u8>, FaultError> {
    let key = scene.root.subkey(scene.key_file.vault_id(), Use::Database);
    let mut connection = Connection::open(scene.profile.database())?;
    connection.execute_batch(&format!("PRAGMA key = \"x'{}'\"", hex(&*key)))?;
    connection.query_row("PRAGMA wal_checkpoint (TRUNCATE)", [], |_| Ok(()))?;
    Ok(connection.serialize("main")?.to_vec())
}
