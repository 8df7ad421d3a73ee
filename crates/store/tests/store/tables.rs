//! Each table: what goes in comes out, and what is not there is said.

use crate::room::{
    Room, at, context, context_id, conversation, conversation_id, draft, full_reply, message, message_id, model, provider_id,
};
use evenkeel_domain::{
    BUILT_IN_PRESETS, ErrorCode, MessageStatus, ModelFileId, PresetId, Provider, ProviderKind, ProviderLocality, Revision,
    Settings, Theme,
};
use evenkeel_store::{ModelFile, Noun, StoreError};

fn code<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ErrorCode {
    result.expect_err("this has to fail").code()
}

#[test]
fn a_context_keeps_every_field_and_its_revisions() {
    let room = Room::new();
    let (mut one, first) = context(1, "Calm Counselor");
    room.store.write(|write| write.insert_context(&one, &first)).unwrap();
    let room = room.reopened();
    assert_eq!(room.store.read(|read| read.context(one.id)).unwrap().as_ref(), Some(&one));

    let second = Revision::new("Calm Counselor", "Answers briefly.", "patient, warm", Some("stay calm"), at(50));
    (one.system_prompt, one.revision_id) = ("Answers briefly.".into(), second.id.clone());
    (one.anchor, one.tags) = (Some("stay calm".into()), vec!["Work".into(), "übung".into()]);
    (one.model, one.expiry_days, one.expires_at, one.updated_at, one.local_only) = (None, None, None, at(50), false);
    room.store.write(|write| write.update_context(&one, &second)).unwrap();
    // Back to the first wording: it is not a third revision.
    (one.system_prompt, one.revision_id, one.updated_at) = (first.system_prompt.clone(), first.id.clone(), at(60));
    one.anchor = None;
    room.store.write(|write| write.update_context(&one, &first)).unwrap();
    assert_eq!(room.store.read(|read| read.context(one.id)).unwrap().as_ref(), Some(&one));
    let used: Vec<_> = room.read(|read| read.revisions(one.id)).into_iter().map(|used| (used.revision, used.used_at)).collect();
    assert_eq!(used, [(second.clone(), at(50)), (first, at(1))]);
    assert_eq!(room.store.read(|read| read.revision(&second.id)).unwrap(), Some(second));
}

#[test]
fn contexts_are_listed_by_last_interaction_and_hidden_when_inactive() {
    let room = Room::new();
    for number in 1..=3 {
        let (context, revision) = context(number, "Same persona");
        room.store.write(|write| write.insert_context(&context, &revision)).unwrap();
    }
    room.store
        .write(|write| {
            write.touch_context(context_id(1), at(100))?;
            write.set_context_active(context_id(3), false, at(101))
        })
        .unwrap();
    let listed = |all| {
        room.store.read(|read| read.contexts(all, 10, 0)).unwrap().into_iter().map(|context| context.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(false), [context_id(1), context_id(2)]);
    assert_eq!(listed(true), [context_id(1), context_id(3), context_id(2)]);
    assert_eq!(room.store.read(|read| Ok((read.context_count(false)?, read.context_count(true)?))).unwrap(), (2, 3));
    let second_page = room.store.read(|read| read.contexts(true, 1, 1)).unwrap();
    assert_eq!(second_page[0].id, context_id(3));
    let touched = room.store.read(|read| read.context(context_id(1))).unwrap().unwrap();
    assert_eq!((touched.last_interaction_at, touched.expires_at), (at(100), Some(at(100) + chrono::TimeDelta::days(90))));
}

#[test]
fn a_context_must_have_the_texts_of_its_revision() {
    let room = Room::new();
    let (context, _) = context(1, "A");
    let other = Revision::new("B", "x", "y", None, at(0));
    assert_eq!(code(room.store.write(|write| write.insert_context(&context, &other))), ErrorCode::Internal);
    assert_eq!(room.store.read(|read| read.revision(&other.id)).unwrap(), None);
}

#[test]
fn presets_are_seeded_once_and_edits_survive() {
    let room = Room::new();
    let seed = |time| room.store.write(|write| write.seed_presets(at(time))).unwrap();
    seed(5);
    let shipped = room.store.read(|read| read.presets(false)).unwrap();
    assert_eq!(shipped, BUILT_IN_PRESETS.iter().map(|built_in| built_in.to_preset(at(5))).collect::<Vec<_>>());

    let mut edited = shipped[0].clone();
    (edited.system_prompt, edited.updated_at, edited.is_edited) = ("Mine.".into(), at(7), true);
    let mut own = shipped[1].clone();
    (own.id, own.created_at, own.is_built_in) = (PresetId::new("preset-own"), at(8), false);
    let deleted = shipped[2].id.clone();
    room.store
        .write(|write| {
            write.upsert_preset(&edited)?;
            write.upsert_preset(&own)?;
            write.delete_preset(&deleted)
        })
        .unwrap();
    seed(9);
    let after = room.store.read(|read| read.presets(false)).unwrap();
    assert_eq!(after.len(), shipped.len());
    assert_eq!((&after[0], after.last()), (&edited, Some(&own)));
    assert!(after.iter().all(|preset| preset.id != deleted));

    room.store.write(|write| write.delete_preset(&own.id)).unwrap();
    assert_eq!(room.store.read(|read| read.preset(&own.id)).unwrap(), None);
    assert_eq!(code(room.store.write(|write| write.delete_preset(&own.id))), ErrorCode::NotFound);
}

#[test]
fn a_shipped_preset_that_was_never_edited_follows_the_app() {
    let room = Room::new();
    room.store.write(|write| write.seed_presets(at(5))).unwrap();
    let outside = crate::sharing::raw(&room.path());
    outside.execute("UPDATE presets SET system_prompt = 'of an older version' WHERE id = ?1", [BUILT_IN_PRESETS[0].id]).unwrap();
    room.store.write(|write| write.seed_presets(at(6))).unwrap();
    let preset = room.store.read(|read| read.preset(&PresetId::new(BUILT_IN_PRESETS[0].id))).unwrap().unwrap();
    assert_eq!(preset.system_prompt, BUILT_IN_PRESETS[0].system_prompt);
    assert_eq!((preset.created_at, preset.updated_at), (at(5), at(6)));
}

#[test]
fn conversations_are_listed_by_activity() {
    let room = Room::furnished();
    let (other, revision) = context(2, "Other");
    room.store
        .write(|write| {
            write.insert_context(&other, &revision)?;
            write.insert_conversation(&conversation(2, 1))?;
            write.insert_conversation(&conversation(3, 2))?;
            write.insert_message(message(1, None))?;
            write.rename_conversation(conversation_id(2), "Renamed")
        })
        .unwrap();
    let listed = |context| room.store.read(|read| read.conversations(context, 10, 0)).unwrap();
    assert_eq!(listed(None).iter().map(|one| one.id).collect::<Vec<_>>(), [1, 3, 2].map(conversation_id));
    let of_first = listed(Some(context_id(1)));
    assert_eq!(of_first.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(), ["Thread 1", "Renamed"]);
    assert_eq!(
        (of_first[0].message_count, of_first[0].active_leaf_id, of_first[0].last_activity_at),
        (1, Some(message_id(1)), at(11))
    );
    let counts = room.store.read(|read| {
        Ok((read.conversation_count(Some(context_id(1)))?, read.conversation_count(None)?, read.message_count(context_id(1))?))
    });
    assert_eq!(counts.unwrap(), (2, 3, 1));
    assert_eq!(room.store.read(|read| read.conversations(None, 1, 2)).unwrap()[0].id, conversation_id(2));
}

#[test]
fn deleting_a_conversation_takes_its_messages_and_drafts() {
    let room = Room::furnished();
    room.store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.insert_message(message(2, Some(1)))?;
            write.insert_message(message(3, Some(1)))?;
            write.put_draft(&draft(9, 3, "half", 1))?;
            write.delete_conversation(conversation_id(1))
        })
        .unwrap();
    let left =
        room.store.read(|read| Ok((read.message(message_id(1))?, read.message(message_id(3))?, read.draft(message_id(9))?)));
    assert_eq!(left.unwrap(), (None, None, None));
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_message_keeps_every_field() {
    let room = Room::furnished();
    let (_, revision) = context(1, "Calm Counselor");
    let reply = full_reply(2, 1, &revision);
    let returned = room
        .store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.set_message_metadata(message_id(1), Some(r#"{"source":"test"}"#))?;
            write.insert_message(reply.clone())
        })
        .unwrap();
    let room = room.reopened();
    assert_eq!(returned, reply);
    assert_eq!(room.store.read(|read| read.message(reply.id)).unwrap(), Some(reply));
    let first = evenkeel_domain::Message { source: Some("test".to_owned()), ..message(1, None) };
    assert_eq!(room.store.read(|read| read.message(message_id(1))).unwrap(), Some(first));
    assert_eq!(room.store.read(|read| read.message_metadata(message_id(1))).unwrap().as_deref(), Some(r#"{"source":"test"}"#));
    assert_eq!(code(room.store.write(|write| write.set_message_metadata(message_id(1), Some("{")))), ErrorCode::Internal);
}

#[test]
fn a_message_needs_its_conversation_context_and_parent() {
    let room = Room::furnished();
    let insert = |message| room.store.write(|write| write.insert_message(message)).map(|_| ());
    room.store.write(|write| write.insert_conversation(&conversation(2, 1))).unwrap();
    insert(message(1, None)).unwrap();
    let missing = |error: StoreError| match error {
        StoreError::NotFound { noun, .. } => noun,
        other => panic!("{other}"),
    };
    let mut stray = message(2, Some(1));
    stray.conversation_id = conversation_id(7);
    assert_eq!(missing(insert(stray).unwrap_err()), Noun::Conversation);
    let mut stray = message(2, Some(1));
    stray.context_id = context_id(7);
    assert_eq!(missing(insert(stray).unwrap_err()), Noun::Context);
    assert_eq!(missing(insert(message(2, Some(7))).unwrap_err()), Noun::Message);
    // A parent in another conversation is no parent.
    let mut stray = message(2, Some(1));
    stray.conversation_id = conversation_id(2);
    assert_eq!(missing(insert(stray).unwrap_err()), Noun::Message);
    assert_eq!(code(insert(message(1, None))), ErrorCode::Internal);
    assert_eq!(room.conversation(1).message_count, 1);
    assert_eq!(code(room.store.write(|write| write.set_active_leaf(conversation_id(2), message_id(1)))), ErrorCode::NotFound);
}

#[test]
fn a_draft_grows_and_becomes_the_reply() {
    let room = Room::furnished();
    let mut growing = draft(2, 1, "He", 42);
    room.store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.put_draft(&growing)
        })
        .unwrap();
    (growing.content, growing.reasoning, growing.updated_at) = ("Hello".into(), Some("so".into()), at(600));
    room.store.write(|write| write.put_draft(&growing)).unwrap();
    assert_eq!(room.store.read(|read| read.drafts()).unwrap(), [growing.clone()]);
    room.store.write(|write| write.insert_message(message(2, Some(1)))).unwrap();
    // A late flush must not bring it back.
    room.store.write(|write| write.put_draft(&growing)).unwrap();
    assert_eq!(room.store.read(|read| read.draft(message_id(2))).unwrap(), None);
    assert_eq!(code(room.store.write(|write| write.put_draft(&draft(5, 77, "x", 1)))), ErrorCode::NotFound);
}

#[test]
fn only_drafts_of_dead_processes_are_recovered() {
    let room = Room::furnished();
    room.store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.insert_message(message(3, Some(1)))?;
            write.put_draft(&draft(4, 3, "half a sen", 10))?;
            write.put_draft(&draft(6, 1, "of another branch", 10))?;
            write.put_draft(&draft(8, 3, "still alive", 20))?;
            write.put_draft(&draft(10, 3, "", 10))
        })
        .unwrap();
    let room = room.reopened();
    let recovered = room.store.write(|write| write.recover_drafts(at(400), |owner| owner.pid == 10)).unwrap();
    assert_eq!(recovered.iter().map(|one| one.id).collect::<Vec<_>>(), [message_id(4), message_id(6)]);
    let reply = room.store.read(|read| read.message(message_id(4))).unwrap().unwrap();
    assert_eq!(
        (reply.status, reply.content.as_str(), reply.model.clone()),
        (MessageStatus::Interrupted, "half a sen", Some(model(1)))
    );
    // The clock ran ahead when it was written: it may not lie in the future.
    assert_eq!(reply.created_at, at(400));
    let conversation = room.conversation(1);
    assert_eq!((conversation.message_count, conversation.active_leaf_id), (4, Some(message_id(4))));
    assert_eq!(room.store.read(|read| read.drafts()).unwrap().len(), 1);
    assert!(room.store.write(|write| write.recover_drafts(at(401), |owner| owner.pid == 10)).unwrap().is_empty());
}

#[test]
fn settings_have_defaults_and_are_written_whole() {
    let room = Room::new();
    assert_eq!(room.store.read(|read| read.settings()).unwrap(), Settings::default());
    let mine = Settings {
        theme: Theme::Dark,
        default_model: Some(model(3)),
        last_context_id: Some(context_id(4)),
        keep_in_tray: false,
        ..Settings::default()
    };
    room.store.write(|write| write.put_settings(&Settings { engine_idle_minutes: 1, ..Settings::default() })).unwrap();
    room.store.write(|write| write.put_settings(&mine)).unwrap();
    assert_eq!(room.reopened().store.read(|read| read.settings()).unwrap(), mine);
}

pub fn provider(number: u64) -> Provider {
    Provider {
        id: provider_id(number),
        kind: ProviderKind::OpenaiCompatible,
        name: "Cloud".into(),
        base_url: "https://api.example.org/v1".into(),
        locality: ProviderLocality::Remote,
        key_hint: None,
        extra_headers: [("X-Team".to_owned(), "blue".to_owned())].into(),
        manual_models: vec!["large".into(), "small".into()],
        window_override: Some(128_000),
        timeout_seconds: 120,
    }
}

#[test]
fn a_provider_keeps_its_key_apart() {
    let room = Room::new();
    let mut cloud = provider(1);
    let local = Provider { kind: ProviderKind::Ollama, locality: ProviderLocality::Local, ..provider(2) };
    room.store
        .write(|write| {
            write.upsert_provider(&local)?;
            write.upsert_provider(&cloud)?;
            write.set_provider_key(cloud.id, Some((b"\x00sealed\xff", "wxyz")))
        })
        .unwrap();
    cloud.name = "Renamed".into();
    room.store.write(|write| write.upsert_provider(&cloud)).unwrap();
    cloud.key_hint = Some("wxyz".into());
    assert_eq!(room.store.read(|read| read.providers()).unwrap(), [cloud.clone(), local.clone()]);
    assert_eq!(room.store.read(|read| read.sealed_provider_key(cloud.id)).unwrap().as_deref(), Some(&b"\x00sealed\xff"[..]));
    room.store.write(|write| write.set_provider_key(cloud.id, None)).unwrap();
    assert_eq!(room.store.read(|read| read.provider(cloud.id)).unwrap().unwrap().key_hint, None);
    assert_eq!(room.store.read(|read| read.sealed_provider_key(cloud.id)).unwrap(), None);
    room.store.write(|write| write.delete_provider(local.id)).unwrap();
    assert_eq!(code(room.store.write(|write| write.set_provider_key(local.id, Some((b"k", "k"))))), ErrorCode::NotFound);
}

#[test]
fn model_files_are_kept_by_path() {
    let room = Room::new();
    let mut file = ModelFile {
        id: ModelFileId::new("aa"),
        path: "/models/ä model.gguf".into(),
        name: "Ä".into(),
        window: Some(8_192),
        size_bytes: 5_000_000_000,
        added_at: at(3),
    };
    room.store.write(|write| write.upsert_model_file(&file)).unwrap();
    (file.window, file.name) = (None, "B".into());
    room.store.write(|write| write.upsert_model_file(&ModelFile { added_at: at(9), ..file.clone() })).unwrap();
    assert_eq!(room.store.read(|read| read.model_files()).unwrap(), [file.clone()]);
    let twin = ModelFile { id: ModelFileId::new("bb"), ..file.clone() };
    assert_eq!(code(room.store.write(|write| write.upsert_model_file(&twin))), ErrorCode::Internal);
    let (old, new) = (file.id.clone(), ModelFileId::new("cc"));
    room.store.write(|write| write.move_model_file(&old, &new, "/new/ä model.gguf")).unwrap();
    (file.id, file.path) = (new, "/new/ä model.gguf".into());
    assert_eq!(room.store.read(|read| read.model_files()).unwrap(), [file.clone()]);
    let gone = room.store.write(|write| write.move_model_file(&old, &old, "/elsewhere.gguf"));
    assert_eq!(code(gone), ErrorCode::NotFound);
    room.store.write(|write| write.delete_model_file(&file.id)).unwrap();
    assert_eq!(room.store.read(|read| read.model_file(&file.id)).unwrap(), None);
}

#[test]
fn writes_to_what_is_gone_say_so() {
    let room = Room::new();
    let (gone, revision) = context(5, "Gone");
    let write = |work: &dyn Fn(&mut evenkeel_store::WriteHandle<'_>) -> Result<(), StoreError>| {
        code(room.store.write(|write| work(write)))
    };
    assert_eq!(write(&|w| w.update_context(&gone, &revision)), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.touch_context(context_id(5), at(0))), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.insert_conversation(&conversation(1, 5))), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.rename_conversation(conversation_id(5), "x")), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.delete_conversation(conversation_id(5))), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.delete_message(message_id(5), at(700))), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.delete_provider(provider_id(5))), ErrorCode::NotFound);
    assert_eq!(write(&|w| w.delete_model_file(&ModelFileId::new("none"))), ErrorCode::NotFound);
    assert_eq!(code(room.store.read(|r| r.path(message_id(5), 5))), ErrorCode::NotFound);
}
