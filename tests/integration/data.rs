//! The user's data: its size, its limits, its settings, and its end.

use crate::support::{World, open_new, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

async fn with_a_message(world: &World) -> Context {
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::reply(&["Yes."]));
    world.say(context.id, None, "Do you remember?").await;
    context
}

#[tokio::test]
async fn the_summary_says_where_and_how_large() {
    let world = World::new().await;
    with_a_message(&world).await;
    world.service.backup_make().await.unwrap();
    let profile = world.dir.path().join("profile");
    std::fs::write(profile.join("models/own.gguf"), [0; 5_000]).unwrap();
    let summary = world.service.data_summary().await.unwrap();
    assert_eq!(summary.profile_dir, profile.display().to_string());
    assert_eq!(summary.backups_dir, profile.join("backups").display().to_string());
    let kinds: Vec<_> = summary.kinds.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["messages", "index", "contexts", "others", "free"]);
    assert_eq!((summary.kinds[0].rows, summary.models_bytes), (2, 5_000));
    assert!(summary.kinds.iter().map(|one| one.bytes).sum::<u64>() > 100_000 && summary.database_bytes > 100_000);
    let listed: u64 = world.service.backup_list().await.unwrap().iter().map(|one| one.size_bytes).sum();
    assert!(summary.backups_bytes > listed, "with the note of the checks");
}

#[tokio::test]
async fn erasing_wants_the_word_and_then_leaves_nothing() {
    let world = World::new().await;
    with_a_message(&world).await;
    let profile = world.dir.path().join("profile");
    let made = world.service.backup_make().await.unwrap();
    world.service.backup_restore(made.path.into()).await.unwrap();
    std::fs::write(profile.join("models/own.gguf"), b"GGUF").unwrap();
    std::fs::write(profile.join("letter.txt"), b"mine").unwrap();
    for word in ["", "erase", "ERASE ", "yes"] {
        let error = world.service.data_erase(word.into(), true).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "confirmation"));
    }
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap().contexts.len(), 1);

    assert!(world.service.data_erase("ERASE".into(), false).await.unwrap(), "the key is gone too");
    assert_eq!(world.service.vault_status().await.state, VaultState::New);
    assert_eq!(names(&profile), ["letter.txt", "models", "vault.lock"]);
    assert_eq!((names(&profile.join("models")), world.keychain.secrets().len()), (vec!["own.gguf".to_owned()], 0));
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap_err().code(), ErrorCode::VaultLocked);

    open_new(&world.service).await;
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap().contexts, []);
    world.service.data_erase("ERASE".into(), true).await.unwrap();
    assert_eq!(names(&profile), ["letter.txt", "vault.lock"]);
}

#[tokio::test]
async fn an_erasure_that_was_cut_off_is_finished_at_the_next_start() {
    let mut world = World::new().await;
    with_a_message(&world).await;
    world.service.shutdown().await;
    let profile = world.dir.path().join("profile");
    // As it is left after the key slots are gone.
    std::fs::write(profile.join("erasing.json"), r#"{"vaultId":null,"models":false}"#).unwrap();
    std::fs::remove_file(profile.join("vault.keys")).unwrap();
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::New);
    assert_eq!(names(&profile), ["models", "vault.lock"]);
    open_new(&world.service).await;
}

#[tokio::test]
async fn a_key_in_a_locked_keychain_is_told_and_removed_by_a_later_start() {
    let mut world = World::new().await;
    let profile = world.dir.path().join("profile");
    for name in ["vault.keys", "vault.keys.2"] {
        std::fs::write(profile.join(name), b"damaged meanwhile").unwrap();
    }
    world.keychain.keeps.store(true, Ordering::SeqCst);
    assert!(!world.service.data_erase("ERASE".into(), false).await.unwrap());
    assert_eq!((world.service.vault_status().await.state, world.keychain.secrets().len()), (VaultState::New, 1));
    assert_eq!(names(&profile), ["forgetting.json", "models", "vault.lock"]);
    open_new(&world.service).await;
    assert_eq!(world.keychain.secrets().len(), 2);
    world.keychain.keeps.store(false, Ordering::SeqCst);
    world.restart().await;
    let until = Instant::now() + Duration::from_secs(20);
    while profile.join("forgetting.json").exists() {
        assert!(Instant::now() < until, "the old key was never removed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(world.keychain.secrets().len(), 1);
    world.restart().await;
}

#[tokio::test]
async fn a_vault_that_another_process_uses_is_not_erased() {
    let world = World::new().await;
    let context = world.counselor().await;
    let other = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(other.vault_status().await.state, VaultState::Open);
    assert_eq!(world.service.data_erase("ERASE".into(), true).await.unwrap_err().code(), ErrorCode::VaultInUse);
    for service in [&world.service, &other] {
        assert_eq!(service.context_list(ContextQuery::default()).await.unwrap().contexts[0].id, context.id);
    }
    other.shutdown().await;
    world.service.data_erase("ERASE".into(), true).await.unwrap();
}

#[tokio::test]
async fn settings_outside_their_range_are_refused_and_the_rest_is_kept() {
    let mut world = World::new().await;
    let settings = world.service.settings_get().await.unwrap();
    let mut wrong = settings.clone();
    wrong.limits.message_bytes = 1;
    let error = world.service.settings_save(wrong).await.unwrap_err().to_body();
    assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "limits.messageBytes"));
    assert_eq!(error.details["range"], "1024 to 16777216");
    let mut mine = settings.clone();
    mine.features.set(Feature::CareCard, false);
    (mine.notifications, mine.notification_content, mine.helpline_region) = (false, true, "AT".into());
    mine.limits = Limits { contexts: 1, message_bytes: 2_048, ..Limits::default() };
    world.service.settings_save(mine.clone()).await.unwrap();
    world.restart().await;
    assert_eq!(world.service.settings_get().await.unwrap(), mine);

    let card = world.service.feature_list().await.unwrap().into_iter().find(|one| one.id == "care-card").unwrap();
    assert_eq!((card.is_on, card.is_default, card.stage), (false, false, FeatureStage::Stable));
    let context = world.counselor().await;
    let preset = PresetId::new("preset-calm-counselor");
    let second = world.service.context_create_from_preset(preset, PresetOverrides::default()).await;
    assert_eq!(second.unwrap_err().code(), ErrorCode::LimitReached);
    world.scripted_provider().await;
    let request = SendRequest::New { context_id: context.id, conversation_id: None, agent_id: None, text: "a".repeat(2_049) };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::LimitReached);
}

#[tokio::test]
async fn a_full_vault_takes_no_message_and_says_so() {
    let mut world = World::new().await;
    let context = with_a_message(&world).await;
    world.service.shutdown().await;
    let mut small = options(world.dir.path(), world.keychain.clone(), world.clock.clone());
    small.limits.vault_bytes = 64 << 10;
    world.service = Service::new(small).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    let request = SendRequest::New { context_id: context.id, conversation_id: None, agent_id: None, text: "One more.".into() };
    let error = world.send(request).await.unwrap_err().to_body();
    assert_eq!((error.code, error.details["limit"].as_str()), (ErrorCode::LimitReached, "65536"));
    assert_eq!(world.store().read(|r| r.message_count(context.id)).unwrap(), 2);
}

#[tokio::test]
async fn a_full_vault_takes_nothing_new_until_something_is_deleted() {
    let mut world = World::new().await;
    let context = with_a_message(&world).await;
    let preset = PresetId::new("preset-calm-counselor");
    let mine = world.service.preset_duplicate(preset.clone()).await.unwrap();
    let (large, key) = ("large ".repeat(150_000), DraftKey::Context(context.id));
    let used = |world: &World| world.store().read(|r| r.used_bytes()).unwrap();
    let before = used(&world);
    world.service.draft_put(key, large.clone()).await.unwrap();
    assert!(used(&world) > before + 800_000);
    world.service.shutdown().await;
    let mut small = options(world.dir.path(), world.keychain.clone(), world.clock.clone());
    small.limits.vault_bytes = before + 400_000;
    world.service = Service::new(small).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);

    let service = &world.service;
    for refused in [
        service.context_create_from_preset(preset.clone(), PresetOverrides::default()).await.err(),
        service.context_duplicate(context.id).await.err(),
        service.preset_duplicate(mine.id.clone()).await.err(),
        service.preset_from_context(context.id, "Mine".into()).await.err(),
        service.draft_put(key, "more".into()).await.err(),
    ] {
        let error = refused.unwrap().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::LimitReached, "limits.vaultBytes"));
    }
    assert_eq!(service.draft_get(key).await.unwrap(), large, "what was typed before is still there");
    // Deleting lifts it at once, before the disk has its room back.
    service.draft_put(key, String::new()).await.unwrap();
    let file = std::fs::metadata(world.dir.path().join("profile/vault.db")).unwrap().len();
    assert!(used(&world) < before + 100_000, "{} of a file of {file}", used(&world));
    service.preset_duplicate(mine.id).await.unwrap();
    service.context_duplicate(context.id).await.unwrap();
    service.draft_put(key, "more".into()).await.unwrap();
    world.server.push(Answer::reply(&["Yes."]));
    world.say(context.id, None, "And now?").await;
}
