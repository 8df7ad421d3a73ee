//! Archives and envelopes through the service: from one vault into another, by the paths that were chosen alone.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const PASSPHRASE: &str = "correct horse battery";

fn passphrase(text: &str) -> ArchiveSecret {
    ArchiveSecret::Passphrase { passphrase: text.into() }
}

fn quiet(_: ArchiveProgress) {}

async fn place(world: &World, name: &str) -> PathBuf {
    let path = world.dir.path().join(name);
    assert!(!world.service.archive_place(path.clone()).await.unwrap().exists);
    path
}

/// A world with a provider, a companion with a key-file worth of talk, and settings of its own.
async fn talked() -> (World, ContextId, ConversationId) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (conversation, message, _) = world.exchange(context.id, None, "Good morning.", "Good morning to you.").await;
    world.exchange(context.id, Some(conversation.id), "How are you? Grüße 🌊", "Even.").await;
    // Another reply to the first message is another branch.
    world.server.push(Answer::reply(&["Morning."]));
    world.send(SendRequest::Edit { message_id: message.id, text: "Good evening.".into() }).await.unwrap();
    let settings = Settings { language: "de".into(), ..world.service.settings_get().await.unwrap() };
    world.service.settings_save(settings).await.unwrap();
    (world, context.id, conversation.id)
}

async fn exported(world: &World, name: &str, protection: ArchiveProtection) -> ArchiveExport {
    let path = place(world, name).await;
    world.service.archive_export(path, protection, false, quiet).await.unwrap()
}

#[tokio::test]
async fn everything_goes_into_another_vault_by_a_passphrase() {
    let (old, context, conversation) = talked().await;
    let protection = ArchiveProtection::Passphrase { passphrase: PASSPHRASE.into() };
    let made = exported(&old, "all.age", protection).await;
    assert_eq!((made.counts.contexts, made.counts.conversations, made.counts.messages), (1, 1, 6));
    assert_eq!(std::fs::metadata(&made.path).unwrap().len(), made.size_bytes);

    let new = World::new().await;
    let file = new.service.archive_choose(PathBuf::from(&made.path)).await.unwrap();
    assert_eq!((file.lock, file.size_bytes), (ArchiveLock::Passphrase, made.size_bytes));
    let path = PathBuf::from(&file.path);
    let wrong = new.service.archive_preview(path.clone(), passphrase("wrong horse"), true, quiet).await.unwrap_err();
    assert_eq!(wrong.code(), ErrorCode::ArchiveLocked);
    let preview = new.service.archive_preview(path.clone(), passphrase(PASSPHRASE), true, quiet).await.unwrap();
    assert_eq!((preview.added.contexts, preview.added.messages, preview.added.settings), (1, 6, 1));
    assert!(new.contexts().await.is_empty(), "a preview changes nothing");

    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = steps.clone();
    let watch = move |progress: ArchiveProgress| heard.lock().unwrap().push(progress.step);
    let report = new.service.archive_import(path, passphrase(PASSPHRASE), true, watch).await.unwrap();
    assert_eq!(report, preview);
    assert!(steps.lock().unwrap().contains(&ArchiveStep::Importing));
    assert_eq!(new.service.archive_pending().await.unwrap(), None);
    assert_eq!(new.service.settings_get().await.unwrap().language, "de", "they count at once");
    let view = new.service.conversation_open(conversation).await.unwrap();
    let texts: Vec<_> = view.messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["Good evening.", "Morning."], "the branch that was shown");
    assert_eq!(new.service.context_get(context).await.unwrap().name, "Calm Counselor");
    // Providers come without their keys.
    let providers = new.service.provider_list().await.unwrap();
    let scripted = providers.iter().find(|provider| provider.name == "Scripted").unwrap();
    assert_eq!((scripted.key_hint.as_deref(), scripted.locality), (None, ProviderLocality::Local));
    // The conversation goes on here.
    old.server.push(Answer::reply(&["Here too."]));
    let events = new.say(context, Some(conversation), "Still there?").await;
    assert_eq!(crate::support::ended(&events).0.unwrap().content, "Here too.");
}

#[tokio::test]
async fn a_key_file_is_written_first_and_opens_it() {
    let (old, ..) = talked().await;
    let key = place(&old, "key.txt").await;
    let protection = ArchiveProtection::NewKey { key_path: key.display().to_string() };
    let made = exported(&old, "all.age", protection.clone()).await;
    assert_eq!(made.key_path.as_deref(), Some(&*key.display().to_string()));
    let new = World::new().await;
    let file = new.service.archive_choose(PathBuf::from(&made.path)).await.unwrap();
    assert_eq!(file.lock, ArchiveLock::KeyFile);
    assert!(new.service.archive_place(key.clone()).await.unwrap().exists);
    let secret = ArchiveSecret::KeyFile { key_path: key.display().to_string() };
    let report = new.service.archive_import(PathBuf::from(&file.path), secret, false, quiet).await.unwrap();
    assert_eq!((report.added.messages, report.added.settings), (6, 0));
    assert_ne!(new.service.settings_get().await.unwrap().language, "de", "they were not asked for");
    // Neither the key nor the archive takes the place of a file.
    let again = place(&old, "again.age").await;
    let error = old.service.archive_export(again.clone(), protection, false, quiet).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileExists);
    let before = std::fs::read(&made.path).unwrap();
    let same = ArchiveProtection::KeyFile { key_path: key.display().to_string() };
    let error = old.service.archive_export(made.path.clone().into(), same.clone(), false, quiet).await.unwrap_err();
    assert_eq!((error.code(), std::fs::read(&made.path).unwrap()), (ErrorCode::FileExists, before));
    // A file there may be replaced by the user's word, with a key that is there already.
    old.service.archive_export(made.path.clone().into(), same, true, quiet).await.unwrap();
}

#[tokio::test]
async fn no_path_counts_but_those_that_were_chosen_and_none_in_the_profile() {
    let (world, context, conversation) = talked().await;
    let elsewhere = world.dir.path().join("not-chosen.age");
    let service = &world.service;
    let protection = ArchiveProtection::Passphrase { passphrase: PASSPHRASE.into() };
    let refused = [
        service.archive_export(elsewhere.clone(), protection.clone(), false, quiet).await.unwrap_err(),
        service.archive_preview(elsewhere.clone(), passphrase(PASSPHRASE), false, quiet).await.unwrap_err(),
        service.archive_import(elsewhere.clone(), passphrase(PASSPHRASE), false, quiet).await.unwrap_err(),
        service.envelope_export(conversation, elsewhere.clone()).await.unwrap_err(),
        service.envelope_import(elsewhere.clone(), EnvelopeKey::Vault, context).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.code(), ErrorCode::InvalidParameter, "{error}");
    }
    for inside in [service.profile_dir().join("all.age"), service.profile_dir().join("backups/../all.age")] {
        assert_eq!(service.archive_place(inside).await.unwrap_err().code(), ErrorCode::PlaceRefused);
    }
    let path = place(&world, "short.age").await;
    let short = ArchiveProtection::Passphrase { passphrase: "7 chars".into() };
    let error = service.archive_export(path.clone(), short, false, quiet).await.unwrap_err().to_body();
    assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "passphrase"));
    assert!(!path.exists());
    let locked = Service::new(options(&world.dir.path().join("other"), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(locked.archive_pending().await.unwrap_err().code(), ErrorCode::VaultLocked);
}

#[tokio::test]
async fn a_provider_that_only_says_it_is_local_is_refused() {
    let (old, ..) = talked().await;
    let key = place(&old, "key.txt").await;
    let made = exported(&old, "all.age", ArchiveProtection::NewKey { key_path: key.display().to_string() }).await;
    // Someone with the key writes another address into it.
    let secret = evenkeel_vault::AgeSecret::read_key_file(&key).ok().unwrap();
    let forged = old.dir.path().join("forged.age");
    forge(Path::new(&made.path), &forged, &secret, |line| line.replace(&old.server.base_url(), "https://models.example/v1"));
    let new = World::new().await;
    let file = new.service.archive_choose(forged).await.unwrap();
    new.service.archive_place(key.clone()).await.unwrap();
    let secret = ArchiveSecret::KeyFile { key_path: key.display().to_string() };
    let error = new.service.archive_import(PathBuf::from(&file.path), secret, true, quiet).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ArchiveInvalid);
    assert!(new.contexts().await.is_empty());
}

/// The same archive with other lines and the digest that belongs to them.
fn forge(from: &Path, to: &Path, secret: &evenkeel_vault::AgeSecret, change: impl Fn(&str) -> String) {
    use std::io::{Read, Write};
    let file = std::fs::read(from).unwrap();
    let mut text = String::new();
    evenkeel_vault::AgeReader::new(&file[..], secret).unwrap().read_to_string(&mut text).unwrap();
    let lines: Vec<_> = text.lines().map(change).collect();
    let records: String = lines[1..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect();
    let end = format!(r#"{{"end":{{"records":{},"sha256":"{}"}}}}"#, lines.len() - 2, sha256_hex(records.as_bytes()));
    let mut sealed = evenkeel_vault::AgeWriter::new(Vec::new(), secret).unwrap();
    sealed.write_all(format!("{}\n{records}{end}\n", lines[0]).as_bytes()).unwrap();
    std::fs::write(to, sealed.finish().unwrap()).unwrap();
}

#[tokio::test]
async fn stopping_leaves_an_import_that_can_be_undone_or_kept() {
    let (old, context, _) = talked().await;
    let made = exported(&old, "all.age", ArchiveProtection::Passphrase { passphrase: PASSPHRASE.into() }).await;
    let new = World::new().await;
    let file = new.service.archive_choose(PathBuf::from(&made.path)).await.unwrap();
    for undo in [true, false] {
        let service = new.service.clone();
        let watch = move |progress: ArchiveProgress| {
            if progress.step == ArchiveStep::Importing {
                service.archive_stop();
            }
        };
        let stopped = new.service.archive_import(PathBuf::from(&file.path), passphrase(PASSPHRASE), true, watch).await;
        assert_eq!(stopped.unwrap_err().code(), ErrorCode::Storage);
        let pending = new.service.archive_pending().await.unwrap().unwrap();
        assert_eq!((pending.path.as_str(), pending.is_undoing), (&*file.path, false));
        assert_eq!(new.service.settings_get().await.unwrap().language, "de");
        if undo {
            assert_eq!(new.service.archive_undo().await.unwrap().kept, 0);
            assert!(new.contexts().await.is_empty());
            assert_ne!(new.service.settings_get().await.unwrap().language, "de", "as it was");
        } else {
            new.service.archive_keep().await.unwrap();
            assert_eq!(new.service.context_get(context).await.unwrap().id, context);
        }
        assert_eq!(new.service.archive_pending().await.unwrap(), None);
    }
}

/// Names of what is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_conversation_goes_out_and_in_as_envelopes() {
    let (world, context, conversation) = talked().await;
    let folder = world.dir.path().join("envelopes");
    std::fs::create_dir(&folder).unwrap();
    world.service.archive_place(folder.clone()).await.unwrap();
    let made = world.service.envelope_export(conversation, folder.clone()).await.unwrap();
    let target = PathBuf::from(&made.path);
    let files = names(&target);
    assert_eq!((made.files, files.len(), names(&folder).len()), (6, 6, 1), "nothing unfinished is left");
    for (number, name) in (1..).zip(&files) {
        assert!(name.contains(&format!("Z_{number:04}_")) && name.len() >= 33, "{name}");
        let text = std::fs::read_to_string(target.join(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["alg"], "AES-256-GCM");
        assert!(!text.contains("morning"), "sealed");
    }
    let again = world.service.envelope_export(conversation, folder).await.unwrap_err();
    assert_eq!(again.code(), ErrorCode::FileExists);

    std::fs::write(target.join("notes.txt"), "mine").unwrap();
    world.service.archive_place(target.clone()).await.unwrap();
    let taken = world.service.envelope_import(target.clone(), EnvelopeKey::Vault, context).await.unwrap();
    assert_eq!((taken.messages, taken.skipped.as_slice()), (6, &["notes.txt".to_owned()][..]));
    assert_ne!(taken.conversation.id, conversation);
    let format = ExportFormat::Json;
    let shape = |text: String| {
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let messages = file["messages"].as_array().unwrap().clone();
        let place = |id: &serde_json::Value| messages.iter().position(|message| &message["id"] == id);
        messages
            .iter()
            .map(|one| (one["role"].clone(), one["content"].clone(), one["createdAt"].clone(), place(&one["parentId"])))
            .collect::<Vec<_>>()
    };
    let before = shape(world.service.conversation_export(conversation, format).await.unwrap());
    let after = shape(world.service.conversation_export(taken.conversation.id, format).await.unwrap());
    assert_eq!(before, after, "the same tree");
    let by_text = EnvelopeKey::Text { text: "another".into() };
    let error = world.service.envelope_import(target.clone(), by_text, context).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ArchiveLocked);
    // One file that was changed, and nothing is taken in.
    let count = world.conversations(context).await.total_count;
    let path = target.join(&files[2]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"tag\":\"", "\"tag\":\"AAAA")).unwrap();
    let error = world.service.envelope_import(target, EnvelopeKey::Vault, context).await.unwrap_err();
    assert_eq!((error.code(), world.conversations(context).await.total_count), (ErrorCode::ArchiveInvalid, count));
}

#[tokio::test]
async fn envelopes_of_other_programs_come_in_by_their_string() {
    let (world, context, _) = talked().await;
    let folder = world.dir.path().join("theirs");
    std::fs::create_dir(&folder).unwrap();
    let key = evenkeel_vault::envelope_key_of("a configured string");
    let write = |name: &str, inside: &str| {
        std::fs::write(folder.join(name), evenkeel_vault::seal_envelope(&key, inside.as_bytes()).unwrap()).unwrap();
    };
    let asked =
        r#"{"role":"user","content":"Wie geht es?","timestampUtc":"2025-01-02T03:04:05.678Z","metadata":{"source":"cli"}}"#;
    write("20250102T030405678Z_0001_user.json", asked);
    write("20250102T030406000Z_0002_assistant.json", r#"{"Role":"assistant","Content":"Gut.","Metadata":null}"#);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.join("20250102T030407000Z_0003_user.json")).unwrap();
    world.service.archive_place(folder.clone()).await.unwrap();
    let key = EnvelopeKey::Text { text: "a configured string".into() };
    let taken = world.service.envelope_import(folder.clone(), key.clone(), context).await.unwrap();
    assert_eq!((taken.messages, taken.skipped.len()), (2, usize::from(cfg!(unix))), "a link is no file");
    assert_eq!(taken.conversation.title, "Wie geht es?");
    let view = world.service.conversation_open(taken.conversation.id).await.unwrap();
    assert_eq!(view.messages[0].created_at.to_rfc3339(), "2025-01-02T03:04:05.678+00:00");
    assert_eq!((view.messages[1].content.as_str(), view.messages[1].parent_id), ("Gut.", Some(view.messages[0].id)));
    for (inside, expected) in [
        (r#"{"role":"assistant","content":"x"}"#, ErrorCode::ArchiveInvalid),
        (r#"{"role":"user"}"#, ErrorCode::ArchiveInvalid),
        (r#"{"role":"user","content":"  "}"#, ErrorCode::InvalidParameter),
        ("no json", ErrorCode::ArchiveInvalid),
    ] {
        write("20250102T030408000Z_0004_user.json", inside);
        let error = world.service.envelope_import(folder.clone(), key.clone(), context).await.unwrap_err();
        assert_eq!(error.code(), expected, "{inside}");
    }
    let empty = world.dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    world.service.archive_place(empty.clone()).await.unwrap();
    let error = world.service.envelope_import(empty, key, context).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ArchiveInvalid);
}
