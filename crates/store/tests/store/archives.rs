//! Archives: what goes in comes out, on a new vault and in one that has something already; what is no archive
//! changes nothing.

use crate::receipts::{blocks, receipt};
use crate::room::{Room, at, context, context_id, conversation, conversation_id, full_reply, message, message_id, provider_id};
use crate::tables::provider;
use evenkeel_domain::*;
use evenkeel_store::archive::{
    ArchiveError, ArchiveProgress, ArchiveStep, Counts, ExportRequest, Exported, ImportReport, ImportRequest, PluginReference,
    Reason, export, import, keep_import, lock_of, pending_import, preview_import, undo_import,
};
use evenkeel_store::{NewSummary, StatePlace, Store, SummarySource, ToldValue};
use evenkeel_vault::{AgeError, AgeLock, AgeReader, AgeSecret, AgeWriter};
use proptest::prelude::*;
use proptest::sample::Index;
use secrecy::SecretString;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn on(_: ArchiveProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A folder for archives, with a key.
struct Desk {
    folder: tempfile::TempDir,
    secret: AgeSecret,
    limits: Limits,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), secret: AgeSecret::generate(), limits: Limits::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self, store: &Store, name: &str) -> Exported {
        let path = self.path(name);
        let plugins = vec![PluginReference { id: "newest-and-first".into(), version: "1.0.0".into() }];
        let request =
            ExportRequest { path: &path, secret: &self.secret, replace: false, app_version: "0.1.0", plugins, now: at(77) };
        export(store, &request, &mut on).unwrap()
    }

    fn request<'a>(&'a self, path: &'a Path, take_settings: bool) -> ImportRequest<'a> {
        ImportRequest { path, secret: &self.secret, take_settings, examine: &|_| Ok(()), limits: &self.limits, now: at(99) }
    }

    fn preview(&self, store: &Store, name: &str) -> Result<ImportReport, ArchiveError> {
        preview_import(store, &self.request(&self.path(name), true), &mut on)
    }

    fn import(&self, store: &Store, name: &str) -> Result<ImportReport, ArchiveError> {
        import(store, &self.request(&self.path(name), true), &mut on)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let file = std::fs::read(self.path(name)).unwrap();
        let mut text = String::new();
        AgeReader::new(&file[..], &self.secret).unwrap().read_to_string(&mut text).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Writes lines as they are.
    fn write(&self, name: &str, lines: &[String]) {
        let mut text = lines.join("\n");
        text.push('\n');
        self.seal(name, text.as_bytes());
    }

    fn seal(&self, name: &str, bytes: &[u8]) {
        let mut sealed = AgeWriter::new(Vec::new(), &self.secret).unwrap();
        sealed.write_all(bytes).unwrap();
        std::fs::write(self.path(name), sealed.finish().unwrap()).unwrap();
    }

    /// The same archive with other records, and the digest and counts that belong to them.
    fn forged(&self, name: &str, lines: &[String], counts: Option<&str>) {
        let records = &lines[1..lines.len() - 1];
        let text: String = records.iter().map(|line| format!("{line}\n")).collect();
        let mut forged = vec![counts.map_or_else(|| lines[0].clone(), |counts| with_counts(&lines[0], counts))];
        forged.extend(records.iter().cloned());
        let end = serde_json::json!({"end": {"records": records.len(), "sha256": sha256_hex(text.as_bytes())}});
        forged.push(end.to_string());
        self.write(name, &forged);
    }
}

fn with_counts(header: &str, counts: &str) -> String {
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    for (kind, count) in serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(counts).unwrap() {
        header["header"]["counts"][kind] = count;
    }
    header.to_string()
}

fn engine(number: u64) -> Provider {
    Provider {
        id: provider_id(number),
        kind: ProviderKind::Engine,
        name: "On this computer".into(),
        base_url: String::new(),
        locality: ProviderLocality::Local,
        key_hint: None,
        extra_headers: Default::default(),
        ..provider(number)
    }
}

/// A vault as the app makes it: with the presets that ship and a built-in provider of its own.
fn new_vault(engine_number: u64) -> Room {
    let room = Room::new();
    room.write(|write| {
        write.seed_presets(at(0))?;
        write.upsert_provider(&engine(engine_number))
    });
    room
}

fn summary_id(number: u64) -> SummaryId {
    SummaryId::from(uuid_of(0x5000 + number))
}

fn uuid_of(number: u64) -> uuid::Uuid {
    uuid::Uuid::from_u128(u128::from(number) | 0x0190_0000_0000_7000_8000_0000_0000_0000)
}

fn summary(number: u64, messages: &[u64], previous: Option<u64>) -> NewSummary {
    let source = |at: &u64| SummarySource { place: u32::try_from(*at).unwrap(), message_id: message_id(*at) };
    NewSummary {
        summary: Summary {
            id: summary_id(number),
            conversation_id: conversation_id(1),
            up_to_id: message_id(*messages.last().unwrap()),
            message_ids: Vec::new(),
            evidence: Vec::new(),
            text: format!("Notes \u{2028} {number}"),
            pinned: vec!["a \"pinned\" line".into()],
            tokens: TokenCount { tokens: 5, tokenizer: "o200k".into() },
            model: Some(ModelChoice { provider_id: provider_id(90), model: "m".into() }),
            round: 1,
            created_at: at(5),
            is_edited: false,
            is_stale: false,
        },
        messages: messages.iter().map(source).collect(),
        beside: Vec::new(),
        previous: previous.map(summary_id),
    }
}

/// A vault with something of every kind, and of every kind something that lies in the trash.
fn furnished() -> Room {
    let room = new_vault(90);
    room.write(|write| {
        let mut own = BUILT_IN_PRESETS[0].to_preset(at(3));
        own.id = PresetId::new("preset-own");
        own.metadata = "{\n  \"any\": [1.5, \"JSON\"]\n}".into();
        write.upsert_preset(&own)?;
        write.delete_preset(&PresetId::new(BUILT_IN_PRESETS[1].id))?;
        let mut remote = provider(7);
        remote.extra_headers.insert("x-api-key".into(), "sk-header-secret".into());
        write.upsert_provider(&remote)?;
        write.upsert_provider(&Provider { timeout_seconds: 999, ..engine(90) })?;
        write.set_provider_key(remote.id, Some((b"sealed-secret", "wxyz")))?;
        write.upsert_model_file(&evenkeel_store::ModelFile {
            id: ModelFileId::of_path("/models/a.gguf"),
            path: "/models/a.gguf".into(),
            name: "a".into(),
            window: Some(4_096),
            size_bytes: 5 << 30,
            added_at: at(4),
        })?;
        let settings = Settings {
            language: "ar".into(),
            default_model: Some(ModelChoice { provider_id: provider_id(90), model: "built-in".into() }),
            ..Settings::default()
        };
        write.put_settings(&settings)?;

        let (mut first, revision) = context(1, "Calm Counselor");
        first.model = Some(ModelChoice { provider_id: provider_id(90), model: "built-in".into() });
        first.tags = vec!["Ruhe".into(), "عمل".into()];
        first.preset_id = Some(own.id.clone());
        write.insert_context(&first, &revision)?;
        let later = Revision::new("Calmer", "Answers\ncalmly.", "", Some("Anchor"), at(6));
        first.name.clone_from(&later.name);
        first.system_prompt.clone_from(&later.system_prompt);
        first.personality.clone_from(&later.personality);
        first.anchor.clone_from(&later.anchor);
        first.revision_id = later.id.clone();
        write.update_context(&first, &later)?;
        for (number, name) in [(2, "Guest"), (3, "Trashed guest"), (4, "Trashed owner"), (5, "Purged guest")] {
            let (context, revision) = context(number, name);
            write.insert_context(&context, &revision)?;
        }
        for (number, owner) in [(1, 1), (2, 1), (3, 4), (4, 2)] {
            write.insert_conversation(&Conversation { is_pinned: number == 2, ..conversation(number, owner) })?;
        }
        write.set_conversation_tags(conversation_id(2), &["Tag".into()])?;
        tree(write, &revision)?;
        write.trash_conversations(&[conversation_id(4)], at(50))?;
        write.trash_context(context_id(3), at(50))?;
        write.trash_context(context_id(4), at(50))?;
        write.purge_context(context_id(5), at(51))
    });
    room
}

/// Conversation 1 with branches, everything that hangs on messages, and messages that were deleted.
fn tree(write: &mut evenkeel_store::WriteHandle<'_>, revision: &Revision) -> Result<(), evenkeel_store::StoreError> {
    for number in 1..=8 {
        write.insert_message(message(number, (number > 1).then(|| number - 1)))?;
    }
    write.insert_message(full_reply(9, 3, revision))?;
    write.insert_message(Message { context_id: context_id(3), ..message(10, Some(9)) })?;
    write.insert_message(Message { context_id: context_id(5), ..message(12, Some(9)) })?;
    write.insert_message(Message { content: "deleted-marker".into(), ..message(11, Some(8)) })?;
    for (number, of) in [(20, 3), (21, 4)] {
        let content = format!("trashed-marker {number}");
        write.insert_message(Message { conversation_id: conversation_id(of), content, ..message(number, None) })?;
    }
    write.put_receipt(context_id(1), &receipt(9, revision, blocks(&[1, 2, 3])))?;
    write.set_feedback(message_id(9), Some(Vote::Up))?;
    write.set_feedback(message_id(4), Some(Vote::Down))?;
    write.set_message_metadata(message_id(2), Some(r#"{"source":"test","n":[1.0,2.50]}"#))?;
    assert!(write.insert_summary(&summary(1, &[1, 2], None))?);
    assert!(write.insert_summary(&summary(2, &[3, 4], Some(1)))?);
    let mut stale = summary(3, &[11], None);
    stale.summary.text = "deleted-marker in notes".into();
    assert!(write.insert_summary(&stale)?);
    for (number, evidence, value) in [(1, 1, "\"Rome\""), (2, 5, "\"Oslo\""), (3, 11, "\"deleted-marker\"")] {
        let place =
            StatePlace { context_id: context_id(1), conversation_id: conversation_id(1), leaf: Some(message_id(8)), now: at(60) };
        let told = ToldValue {
            id: StateValueId::from(uuid_of(0x6000 + number)),
            name: if number == 3 { "other".into() } else { "destination".into() },
            value: value.into(),
            evidence_id: Some(message_id(evidence)),
        };
        write.tell_state(place, &[told], &[message_id(evidence)])?;
    }
    write.delete_message(message_id(11), at(70))?;
    write.set_active_leaf(conversation_id(1), message_id(9))
}

fn code(error: &ArchiveError) -> &'static str {
    error.code().as_str()
}

#[test]
fn everything_comes_back_in_a_new_vault_and_is_exported_the_same() {
    let (room, desk, fresh) = (furnished(), Desk::new(), new_vault(91));
    let first = desk.export(&room.store, "a");
    let counts = Counts {
        settings: 1,
        presets: 2,
        providers: 2,
        model_files: 1,
        revisions: 3,
        contexts: 2,
        former_contexts: 2,
        conversations: 2,
        messages: 11,
        receipts: 1,
        summaries: 2,
        state_values: 2,
    };
    assert_eq!(first.counts, counts);

    let preview = desk.preview(&fresh.store, "a").unwrap();
    assert_eq!((preview.added, preview.same.total(), preview.kept.len()), (counts, 0, 0));
    assert_eq!(pending_import(&fresh.store).unwrap(), None, "a preview writes nothing");
    let report = desk.import(&fresh.store, "a").unwrap();
    assert_eq!(report, preview, "what was announced is what was done");
    assert_eq!(pending_import(&fresh.store).unwrap(), None);
    assert_eq!(fresh.store.full_check().unwrap(), Vec::<String>::new());

    let second = desk.export(&fresh.store, "b");
    assert_eq!(desk.lines("a")[1..], desk.lines("b")[1..]);
    assert_eq!((first.sha256, first.counts), (second.sha256, second.counts));
    // The built-in provider of the new vault answers where that of the old one did.
    let calm = fresh.read(|read| read.context(context_id(1))).unwrap();
    assert_eq!(calm.model.unwrap().provider_id, provider_id(91));
    assert_eq!(fresh.read(|read| read.settings()).default_model.unwrap().provider_id, provider_id(91));
    assert_eq!(fresh.conversation(1).active_leaf_id, Some(message_id(9)));
    assert_eq!(fresh.conversation(1).message_count, 11);
    let own = fresh.read(|read| read.preset(&PresetId::new("preset-own"))).unwrap();
    assert_eq!((own.use_count, own.thumbs_up, own.thumbs_down), (1, 1, 1));
    let query = SearchQuery { text: "message 4".into(), context_id: None, from: None, until: None, limit: 10, before: None };
    let found = fresh.read(|read| read.search_messages(&query));
    assert!(!found.is_empty(), "the search index has them too");
    // Once more nothing is new.
    let again = desk.import(&fresh.store, "a").unwrap();
    assert_eq!((again.added.total(), again.same, again.kept.len()), (0, counts, 0));
}

#[test]
fn what_is_deleted_or_secret_is_not_in_it() {
    let (room, desk) = (furnished(), Desk::new());
    desk.export(&room.store, "a");
    let text = desk.lines("a").join("\n");
    for marker in ["deleted-marker", "trashed-marker", "sk-header-secret", "sealed-secret", "wxyz", "Trashed owner"] {
        assert!(!text.contains(marker), "{marker}");
    }
    assert!(text.contains("newest-and-first") && text.contains("/models/a.gguf"), "plug-ins and model files by reference");
    let file = std::fs::read(desk.path("a")).unwrap();
    assert!(!file.windows(9).any(|part| part == b"message 1"), "sealed");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(desk.path("a")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn nothing_in_the_vault_is_overwritten() {
    let (room, desk, other) = (furnished(), Desk::new(), new_vault(91));
    desk.export(&room.store, "a");
    desk.import(&other.store, "a").unwrap();
    other.write(|write| {
        write.rename_conversation(conversation_id(1), "My own title")?;
        write.set_conversation_archived(conversation_id(2), true)?;
        write.delete_message(message_id(8), at(80))?;
        write.put_settings(&Settings { language: "de".into(), ..Settings::default() })?;
        let (mut guest, revision) = context(2, "Guest");
        guest.temperature = 0.1;
        write.update_context(&guest, &revision)
    });
    // And here the conversation went on.
    room.write(|write| write.insert_message(message(30, Some(8))).and_then(|_| write.insert_message(message(31, Some(9)))));
    desk.export(&room.store, "b");

    let report = import(&other.store, &desk.request(&desk.path("b"), false), &mut on).unwrap();
    assert_eq!((report.added.messages, report.added.total()), (1, 1), "only message 31 hangs on something that is there");
    let kept = |reason| report.kept.get(&reason).copied().unwrap_or_default();
    assert_eq!((kept(Reason::Different).settings, kept(Reason::Different).contexts), (1, 1));
    assert_eq!(kept(Reason::Different).conversations, 2);
    assert_eq!((kept(Reason::InTrash).messages, kept(Reason::Hangs).messages), (1, 1), "8 was deleted, 30 hangs on it");
    let conversation = other.conversation(1);
    assert_eq!((conversation.title.as_str(), conversation.message_count), ("My own title", 11));
    assert_eq!(conversation.active_leaf_id, Some(message_id(9)), "what is shown stays");
    assert_eq!(other.read(|read| read.context(context_id(2))).unwrap().temperature, 0.1);
    assert_eq!(other.read(|read| read.settings()).language, "de");
    // What lies in the trash comes back from there, not from an archive.
    other.write(|write| write.trash_context(context_id(1), at(81)));
    let report = desk.preview(&other.store, "b").unwrap();
    let kept = report.kept[&Reason::InTrash];
    assert_eq!((kept.contexts, kept.conversations, kept.messages), (1, 2, 13));
    // What was purged is gone, and an archive brings it again.
    other.write(|write| write.purge_context(context_id(1), at(82)));
    desk.import(&other.store, "b").unwrap();
    assert_eq!(other.read(|read| read.message_count(context_id(1))), 13);
}

#[test]
fn an_import_that_was_stopped_goes_on_or_is_undone() {
    let (room, desk) = (furnished(), Desk::new());
    room.write(|write| {
        for number in 100..2_500 {
            let parent = (number > 100).then(|| number - 1);
            write.insert_message(Message { conversation_id: conversation_id(2), ..message(number, parent) })?;
        }
        Ok(())
    });
    let path = desk.path("stopped");
    let request = ExportRequest {
        path: &path,
        secret: &desk.secret,
        replace: false,
        app_version: "0.1.0",
        plugins: Vec::new(),
        now: at(1),
    };
    for step in [ArchiveStep::Writing, ArchiveStep::Proving] {
        let mut watch = |progress: ArchiveProgress| match progress.step == step {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        assert!(matches!(export(&room.store, &request, &mut watch), Err(ArchiveError::Cancelled)));
        assert_eq!(std::fs::read_dir(desk.folder.path()).unwrap().count(), 0, "nothing unfinished is left");
    }
    let whole = desk.export(&room.store, "a");
    for go_on in [true, false] {
        let fresh = new_vault(91);
        let before = desk.export(&fresh.store, &format!("before-{go_on}"));
        let mut portions = 0;
        let mut watch = |progress: ArchiveProgress| {
            portions += u32::from(progress.step == ArchiveStep::Importing);
            if portions == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = import(&fresh.store, &desk.request(&desk.path("a"), true), &mut watch);
        assert!(matches!(stopped, Err(ArchiveError::Cancelled)), "{stopped:?}");
        let pending = pending_import(&fresh.store).unwrap().unwrap();
        assert_eq!((pending.sha256.as_str(), pending.take_settings), (whole.sha256.as_str(), true));
        assert!(fresh.read(|read| read.context(context_id(1))).is_some(), "a part is there");
        // Another archive has to wait.
        let other = desk.import(&fresh.store, &format!("before-{go_on}"));
        assert!(matches!(other, Err(ArchiveError::Pending)), "{other:?}");
        if go_on {
            let report = desk.import(&fresh.store, "a").unwrap();
            assert_eq!(report.added, whole.counts, "with what was there already");
            assert_eq!(desk.export(&fresh.store, "after").sha256, whole.sha256);
        } else {
            let undone = undo_import(&fresh.store, at(100), &mut || true).unwrap();
            assert_eq!(undone.kept, 0, "{undone:?}");
            assert_eq!(desk.export(&fresh.store, "undone").sha256, before.sha256);
            assert_eq!(fresh.read(|read| read.context_count(true)), 0);
            assert!(fresh.read(|read| read.trash()).is_empty());
            let first = fresh.read(|read| read.preset(&PresetId::new(BUILT_IN_PRESETS[1].id))).unwrap();
            assert!(first.is_active && !first.is_edited, "as it ships");
        }
        assert_eq!(pending_import(&fresh.store).unwrap(), None);
        assert_eq!(fresh.store.full_check().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn undoing_leaves_what_the_user_has_used_since() {
    let (room, desk, fresh) = (furnished(), Desk::new(), new_vault(91));
    desk.export(&room.store, "a");
    let mut watch = |progress: ArchiveProgress| {
        if progress.step == ArchiveStep::Importing { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(import(&fresh.store, &desk.request(&desk.path("a"), true), &mut watch).is_err());
    fresh.write(|write| write.insert_message(message(40, Some(9))).map(drop));
    let undone = undo_import(&fresh.store, at(100), &mut || true).unwrap();
    assert!(undone.kept >= 2 && undone.removed > 0, "the conversation and its companion stay: {undone:?}");
    assert_eq!(fresh.conversation(1).active_leaf_id, Some(message_id(40)));
    assert!(fresh.read(|read| read.conversation(conversation_id(2))).is_none());
    // Or everything stays as it is.
    assert!(import(&fresh.store, &desk.request(&desk.path("a"), true), &mut watch).is_err());
    keep_import(&fresh.store).unwrap();
    assert_eq!(pending_import(&fresh.store).unwrap(), None);
}

#[test]
fn an_archive_is_never_written_over_a_file_without_the_word() {
    let (room, desk) = (furnished(), Desk::new());
    std::fs::write(desk.path("a"), "precious").unwrap();
    let path = desk.path("a");
    let mut request = ExportRequest {
        path: &path,
        secret: &desk.secret,
        replace: false,
        app_version: "0.1.0",
        plugins: Vec::new(),
        now: at(1),
    };
    let error = export(&room.store, &request, &mut on).unwrap_err();
    assert_eq!((code(&error), std::fs::read(&path).unwrap()), ("file_exists", b"precious".to_vec()));
    request.replace = true;
    export(&room.store, &request, &mut on).unwrap();
    assert_eq!(lock_of(&path).unwrap(), AgeLock::Key);
    assert_eq!(std::fs::read_dir(desk.folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    let nowhere = desk.path("missing/b");
    let error = export(&room.store, &ExportRequest { path: &nowhere, ..request }, &mut on).unwrap_err();
    assert!(matches!(code(&error), "not_found" | "storage"), "{error}");
}

/// What has to be refused, by its name; each leaves the vault as it is.
fn hostile(desk: &Desk) -> Vec<(&'static str, &'static str)> {
    let lines = desk.lines("good");
    let names = [hostile_files(desk, &lines), hostile_lines(desk, &lines), hostile_fields(desk, &lines)].concat();
    let mut all: Vec<_> = names.into_iter().map(|name| (name, "archive_invalid")).collect();
    let newer = lines[0].replace("\"version\":1", "\"version\":2").replace("appVersion", "fromTheFuture");
    desk.write("newer", &[vec![newer], lines[1..].to_vec()].concat());
    all.push(("newer", "archive_too_new"));
    all
}

/// Files that are no whole archive, or hold no lines of one.
fn hostile_files(desk: &Desk, lines: &[String]) -> Vec<&'static str> {
    let file = std::fs::read(desk.path("good")).unwrap();
    std::fs::write(desk.path("cut"), &file[..file.len() - 9]).unwrap();
    let mut flipped = file.clone();
    flipped[file.len() / 2] ^= 4;
    std::fs::write(desk.path("flipped"), flipped).unwrap();
    std::fs::write(desk.path("foreign"), "PK\u{3}\u{4} a zip").unwrap();
    std::fs::write(desk.path("empty"), "").unwrap();
    desk.seal("no lines", b"hello");
    desk.seal("other json", b"{\"a\":1}\n");
    desk.seal("long header", &vec![b'x'; 3 << 20]);
    let head = format!("{}\n", lines[0]).into_bytes();
    desk.seal("long line", &[head.clone(), vec![b' '; (64 << 20) + 1]].concat());
    let nested = [b"{\"settings\":".to_vec(), vec![b'['; 200_000], vec![b']'; 200_000], b"}\n".to_vec()].concat();
    desk.seal("deep", &[head.clone(), nested].concat());
    desk.seal("no utf-8", &[head, b"{\"settings\":\"\xff\"}\n".to_vec()].concat());
    vec!["cut", "flipped", "foreign", "empty", "no lines", "other json", "long header", "long line", "deep", "no utf-8"]
}

/// Lines that are missing, too many, changed or in another order.
fn hostile_lines(desk: &Desk, lines: &[String]) -> Vec<&'static str> {
    desk.write("no end", &lines[..lines.len() - 1]);
    desk.write("after the end", &[lines.to_vec(), vec!["{}".into()]].concat());
    let last = lines.iter().rposition(|line| line.starts_with("{\"stateValue\"")).unwrap();
    assert!(lines[last].contains("destination"));
    let mut swapped = lines.to_vec();
    swapped[last] = swapped[last].replace("destination", "destinatiom");
    desk.write("digest", &swapped);
    let mut missing = lines.to_vec();
    missing.remove(last);
    desk.forged("missing", &missing, None);
    let mut twice = lines.to_vec();
    twice.insert(3, lines[2].clone());
    desk.forged("twice", &twice, Some("{\"presets\":3}"));
    let mut order = lines.to_vec();
    order.swap(1, 2);
    desk.forged("order", &order, None);
    vec!["no end", "after the end", "digest", "missing", "twice", "order"]
}

/// Single fields that say what cannot be; digests and counts are made to fit.
fn hostile_fields(desk: &Desk, lines: &[String]) -> Vec<&'static str> {
    let changes = [
        ("role", "\"role\":\"user\"", "\"role\":\"root\"", "{\"message\""),
        ("no parent", "\"parentId\":null", "\"parentId\":\"01900000-0000-7000-8000-000000000001\"", "{\"message\""),
        ("unknown field", "\"role\"", "\"rôle\":1,\"role\"", "{\"message\""),
        ("revision", "Answers", "Shouts", "{\"revision\""),
        ("strategy", "\"pluginId\"", "\"plugin\"", "{\"context\""),
        ("temperature", "\"temperature\":0.7", "\"temperature\":7", "{\"context\""),
        ("engine", "\"kind\":\"engine\"", "\"kind\":\"ollama\"", "{\"provider\""),
        ("history", "\"history\":\"", "\"history\":\"AAAA", "{\"receipt\""),
        ("settings", "\"engineIdleMinutes\":15", "\"engineIdleMinutes\":0", "{\"settings\""),
        ("kind", "{\"conversation\":", "{\"trick\":", "{\"conversation\""),
    ];
    for (name, from, to, at) in changes {
        let index = lines.iter().position(|line| line.starts_with(at)).unwrap();
        assert!(lines[index].contains(from), "{from} in {}", lines[index]);
        let mut changed = lines.to_vec();
        changed[index] = changed[index].replacen(from, to, 1);
        desk.forged(name, &changed, None);
    }
    changes.map(|(name, ..)| name).to_vec()
}

#[test]
fn what_is_no_whole_archive_changes_nothing() {
    let (room, mut desk, fresh) = (furnished(), Desk::new(), new_vault(91));
    desk.export(&room.store, "good");
    let before = desk.export(&fresh.store, "before").sha256;
    for (name, expected) in hostile(&desk) {
        for outcome in [desk.preview(&fresh.store, name), desk.import(&fresh.store, name)] {
            let error = outcome.map(|report| report.added).expect_err(name);
            assert_eq!(code(&error), expected, "{name}: {error}");
        }
        assert_eq!(pending_import(&fresh.store).unwrap(), None, "{name}");
    }
    let (secret, path) = (AgeSecret::generate(), desk.path("good"));
    let request = ImportRequest { secret: &secret, ..desk.request(&path, true) };
    let error = import(&fresh.store, &request, &mut on).unwrap_err();
    assert!(matches!(error, ArchiveError::Secret(AgeError::WrongSecret)) && code(&error) == "archive_locked");
    assert_eq!(code(&desk.preview(&fresh.store, "not there").unwrap_err()), "not_found");
    desk.limits.contexts = 1;
    assert_eq!(code(&desk.import(&fresh.store, "good").unwrap_err()), "limit_reached");
    desk.limits = Limits { vault_bytes: 1, ..Limits::default() };
    assert_eq!(code(&desk.import(&fresh.store, "good").unwrap_err()), "limit_reached");
    desk.limits = Limits::default();
    let examine = |provider: &evenkeel_store::archive::ProviderRecord| Err(format!("{} is refused", provider.name).into());
    let refused = import(&fresh.store, &ImportRequest { examine: &examine, ..desk.request(&path, true) }, &mut on);
    assert_eq!(code(&refused.unwrap_err()), "archive_invalid");
    assert_eq!(desk.export(&fresh.store, "after").sha256, before);
}

#[test]
fn a_passphrase_does_as_well() {
    let (room, mut desk) = (furnished(), Desk::new());
    desk.secret = AgeSecret::new_passphrase(SecretString::from("correct horse battery")).ok().unwrap();
    let whole = desk.export(&room.store, "a");
    assert_eq!(lock_of(&desk.path("a")).unwrap(), AgeLock::Passphrase);
    let fresh = new_vault(91);
    assert_eq!(desk.import(&fresh.store, "a").unwrap().sha256, whole.sha256);
}

/// What a random vault is made of.
#[derive(Debug, Clone)]
struct Said {
    conversation: u64,
    context: u64,
    parent: Option<Index>,
    text: String,
    role: usize,
    extras: u8,
}

prop_compose! {
    fn said()(
        conversation in 1..5_u64, context in 1..4_u64, parent in proptest::option::weighted(0.8, any::<Index>()),
        text in "\\PC{0,40}|[\\x01-\\x1f\"\\\\/\u{2028}\u{1f30a}]{0,12}", role in 0..3_usize, extras: u8,
    ) -> Said {
        Said { conversation, context, parent, text, role, extras }
    }
}

fn random_vault(all: &[Said], deleted: &[Index], trashed: &[u64]) -> Room {
    let room = new_vault(90);
    room.write(|write| {
        for number in 1..4 {
            let (context, revision) = context(number, &format!("Companion {number}"));
            write.insert_context(&context, &revision)?;
        }
        for number in 1..5 {
            write.insert_conversation(&conversation(number, 1 + number % 3))?;
        }
        let (_, revision) = context(1, "Companion 1");
        for (number, one) in (1_u64..).zip(all) {
            let before: Vec<u64> = (1_u64..)
                .zip(all)
                .take_while(|(n, _)| *n < number)
                .filter(|(_, o)| o.conversation == one.conversation)
                .map(|(n, _)| n)
                .collect();
            let parent = one.parent.filter(|_| !before.is_empty()).map(|index| *index.get(&before));
            let plain = if one.extras & 1 == 0 { message(number, parent) } else { full_reply(number, 0, &revision) };
            write.insert_message(Message {
                conversation_id: conversation_id(one.conversation),
                context_id: context_id(one.context),
                parent_id: parent.map(message_id),
                role: [Role::User, Role::Assistant, Role::System][one.role],
                content: one.text.clone(),
                ..plain
            })?;
            if one.extras & 2 != 0 {
                write.put_receipt(context_id(one.context), &receipt(number, &revision, blocks(&before)))?;
            }
            if one.extras & 4 != 0 {
                write.set_feedback(message_id(number), Some(if one.extras & 8 == 0 { Vote::Up } else { Vote::Down }))?;
            }
        }
        for index in deleted.iter().filter(|_| !all.is_empty()) {
            let number = index.index(all.len()) as u64 + 1;
            if write.message(message_id(number))?.is_some() {
                write.delete_message(message_id(number), at(70))?;
            }
        }
        for number in trashed {
            match number {
                1..4 => write.trash_context(context_id(*number), at(71))?,
                other => drop(write.trash_conversations(&[conversation_id(other - 3)], at(71))?),
            }
        }
        Ok(())
    });
    room
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn of_any_vault_an_archive_of_its_archive_is_the_same(
        all in proptest::collection::vec(said(), 0..30),
        deleted in proptest::collection::vec(any::<Index>(), 0..4),
        trashed in proptest::collection::vec(1..8_u64, 0..3),
    ) {
        let (room, desk, fresh) = (random_vault(&all, &deleted, &trashed), Desk::new(), new_vault(91));
        let first = desk.export(&room.store, "a");
        let report = desk.import(&fresh.store, "a").unwrap();
        prop_assert_eq!((report.added.total(), report.kept.len()), (first.counts.total() - report.same.total(), 0));
        let second = desk.export(&fresh.store, "b");
        prop_assert_eq!(&desk.lines("a")[1..], &desk.lines("b")[1..]);
        prop_assert_eq!(first.sha256, second.sha256);
        prop_assert_eq!(fresh.store.full_check().unwrap(), Vec::<String>::new());
    }
}

/// The program that others have written opens it too: Debian's `age`, which `scripts/setup` installs.
#[cfg(target_os = "linux")]
#[test]
fn the_age_program_opens_it() {
    let (room, desk) = (furnished(), Desk::new());
    let whole = desk.export(&room.store, "a");
    let key = desk.path("key.txt");
    evenkeel_vault::write_key_file(&key, &desk.secret, "2026-11-21T00:00:00Z").unwrap();
    let opened = std::process::Command::new("age").arg("-d").arg("-i").arg(&key).arg(desk.path("a")).output().unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
    let text = String::from_utf8(opened.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as u64, whole.counts.total() + 2);
    assert_eq!(lines[0]["header"]["format"], "evenkeel-archive");
    let messages: Vec<_> = lines.iter().filter_map(|line| line.get("message")).collect();
    assert_eq!(messages.len() as u64, whole.counts.messages);
    assert!(messages.iter().any(|message| message["content"] == "Grüße 🌊 مرحبا \u{202e}\n\tend"));
    // The digest is over the lines between the first and the last.
    let between: String = text.lines().skip(1).take(lines.len() - 2).map(|line| format!("{line}\n")).collect();
    assert_eq!(lines.last().unwrap()["end"]["sha256"], sha256_hex(between.as_bytes()));
    assert_eq!(whole.sha256, sha256_hex(between.as_bytes()));
}

/// And by a passphrase, which it reads from a terminal alone: Python's `pty` is one.
#[cfg(target_os = "linux")]
#[test]
fn the_age_program_opens_it_by_passphrase_and_its_own_files_are_read() {
    const TYPE: &str = "import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b''
asked = 0
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    while seen.count(b'passphrase') > asked:
        asked += 1
        os.write(fd, b'correct horse battery\\n')
sys.stderr.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";
    let (room, mut desk) = (furnished(), Desk::new());
    desk.secret = AgeSecret::new_passphrase(SecretString::from("correct horse battery")).ok().unwrap();
    let whole = desk.export(&room.store, "a");
    let plain = desk.path("plain");
    let run = |arguments: &[&std::ffi::OsStr]| {
        let run = std::process::Command::new("python3").arg("-c").arg(TYPE).arg("age").args(arguments).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    run(&["-d".as_ref(), "-o".as_ref(), plain.as_os_str(), desk.path("a").as_os_str()]);
    let text = std::fs::read_to_string(&plain).unwrap();
    assert_eq!(text.lines().count() as u64, whole.counts.total() + 2);
    // What the program seals from that is an archive again.
    run(&["-p".as_ref(), "-o".as_ref(), desk.path("again").as_os_str(), plain.as_os_str()]);
    assert_eq!(desk.import(&new_vault(91).store, "again").unwrap().sha256, whole.sha256);
}

/// The most memory that this process has had, in bytes, since the last call; `None` where the system does not say.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}

/// `cargo test -p evenkeel-store --test store -- --ignored --nocapture figures_of_archives`
#[cfg(target_os = "linux")]
#[test]
#[ignore = "measures; several minutes"]
fn figures_of_archives() {
    for messages in [10_000_u64, 100_000] {
        let (room, desk, fresh) = (Room::furnished(), Desk::new(), new_vault(91));
        room.write(|write| {
            for number in 2..=messages / 500 {
                write.insert_conversation(&conversation(number, 1))?;
            }
            Ok(())
        });
        for first in (1..=messages).step_by(500) {
            room.write(|write| {
                for number in first..first + 500 {
                    let parent = (number > first).then(|| number - 1);
                    let content = format!("{} {number}", "words of a message that is of a usual length ".repeat(12));
                    let conversation_id = conversation_id(1 + first / 500);
                    write.insert_message(Message { conversation_id, content, ..message(number, parent) })?;
                }
                Ok(())
            });
        }
        peak();
        let began = std::time::Instant::now();
        let whole = desk.export(&room.store, "a");
        let (exported, most) = (began.elapsed(), peak());
        println!(
            "{messages} messages, {} MB: exported and read back in {exported:.1?}, peak {} MB",
            whole.size_bytes >> 20,
            most >> 20
        );
        let began = std::time::Instant::now();
        desk.preview(&fresh.store, "a").unwrap();
        println!("  looked through in {:.1?}, peak {} MB", began.elapsed(), peak() >> 20);
        let began = std::time::Instant::now();
        assert_eq!(desk.import(&fresh.store, "a").unwrap().added.messages, messages);
        println!("  imported in {:.1?}, peak {} MB", began.elapsed(), peak() >> 20);
        assert_eq!(desk.export(&fresh.store, "b").sha256, whole.sha256);
    }
}
