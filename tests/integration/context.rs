//! The life of contexts on a real vault: each operation, each error.

use crate::support::{World, options};
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;

pub fn draft(name: &str) -> ContextDraft {
    ContextDraft {
        name: name.into(),
        system_prompt: format!("{name} has a view of its own and does not take over the user's mood."),
        personality: "Calm and plain.".into(),
        temperature: 0.3,
        max_tokens: 500,
        max_history_tokens: 4_000,
        expiry_days: Some(7),
        model: None,
        local_only: true,
        maintain_personality: false,
        preset_id: None,
        anchor: Some(format!("{name} stays calm.")),
        tags: vec![" Work ".into(), "home".into()],
        strategy: StrategyChoice::standard(SUMMARIZATION),
        memory: MemorySettings { goals: vec!["Sleep better".into()], ..MemorySettings::default() },
    }
}

fn field_of(error: ServiceError) -> (ErrorCode, String) {
    let body = error.to_body();
    (body.code, body.details.get("field").cloned().unwrap_or_default())
}

fn missing_id() -> ContextId {
    ContextId::from_parts(chrono::DateTime::UNIX_EPOCH, [7; 10])
}

#[tokio::test]
async fn a_context_is_made_listed_filtered_and_sorted() {
    let world = World::new().await;
    let mara = world.service.context_create(draft("Mara")).await.unwrap();
    assert_eq!(mara.tags, ["Work", "home"], "tags are trimmed");
    assert_eq!(world.service.context_get(mara.id).await.unwrap().name, "Mara");
    let otto = world.service.context_create(ContextDraft { tags: vec![], expiry_days: None, ..draft("Otto") }).await.unwrap();
    let query = ContextQuery::default();
    for (query, expected) in [
        (ContextQuery { tag: Some("WORK".into()), ..query.clone() }, vec![mara.id]),
        (ContextQuery { text: Some("ott".into()), ..query.clone() }, vec![otto.id]),
        (ContextQuery { sort: ContextSort::Name, ..query.clone() }, vec![mara.id, otto.id]),
        (ContextQuery { sort: ContextSort::Created, ..query.clone() }, vec![otto.id, mara.id]),
        (ContextQuery { sort: ContextSort::ExpiresSoon, ..query.clone() }, vec![mara.id, otto.id]),
    ] {
        let page = world.service.context_list(query.clone()).await.unwrap();
        assert_eq!(page.contexts.iter().map(|c| c.id).collect::<Vec<_>>(), expected, "{query:?}");
        assert_eq!(page.total_count as usize, expected.len());
    }
    for (query, field) in [
        (ContextQuery { page: 0, ..query.clone() }, "page"),
        (ContextQuery { page_size: 0, ..query.clone() }, "pageSize"),
        (ContextQuery { page_size: 501, ..query }, "pageSize"),
    ] {
        let error = world.service.context_list(query).await.unwrap_err();
        assert_eq!(field_of(error), (ErrorCode::InvalidParameter, field.to_owned()));
    }
}

#[tokio::test]
async fn fields_outside_their_ranges_are_named() {
    let world = World::new().await;
    for (bad, field) in [
        (ContextDraft { name: String::new(), ..draft("Mara") }, "name"),
        (ContextDraft { system_prompt: " ".into(), ..draft("Mara") }, "systemPrompt"),
        (ContextDraft { personality: "x".repeat(8_001), ..draft("Mara") }, "personality"),
        (ContextDraft { max_tokens: 0, ..draft("Mara") }, "maxTokens"),
        (ContextDraft { max_history_tokens: 499, ..draft("Mara") }, "maxHistoryTokens"),
        (ContextDraft { expiry_days: Some(3_651), ..draft("Mara") }, "expiryDays"),
        (ContextDraft { anchor: Some(String::new()), ..draft("Mara") }, "anchor"),
        (ContextDraft { tags: vec!["a".into(), "A".into()], ..draft("Mara") }, "tags"),
    ] {
        let error = world.service.context_create(bad).await.unwrap_err();
        assert_eq!(field_of(error), (ErrorCode::InvalidParameter, field.to_owned()));
    }
    assert_eq!(world.contexts().await, []);
}

#[tokio::test]
async fn a_copy_has_persona_settings_and_tags_and_a_name_of_its_own() {
    let world = World::new().await;
    let mara = world.service.context_create(draft("Mara")).await.unwrap();
    let copy = world.service.context_duplicate(mara.id).await.unwrap();
    let again = world.service.context_duplicate(copy.id).await.unwrap();
    assert_eq!([copy.name.as_str(), again.name.as_str()], ["Mara (2)", "Mara (3)"]);
    assert!(copy.id != mara.id && copy.revision_id != mara.revision_id);
    let of = |context: &Context| {
        (
            context.system_prompt.clone(),
            context.personality.clone(),
            context.anchor.clone(),
            context.tags.clone(),
            context.max_tokens,
        )
    };
    assert_eq!(of(&copy), of(&mara));
    assert_eq!((copy.local_only, copy.maintain_personality, copy.expiry_days), (true, false, Some(7)));
    assert_eq!(world.conversations(copy.id).await.total_count, 0);
}

#[tokio::test]
async fn old_wordings_stay_can_be_seen_and_come_back() {
    let world = World::new().await;
    world.scripted_provider().await;
    let mara = world.service.context_create(ContextDraft { local_only: false, ..draft("Mara") }).await.unwrap();
    let (_, _, reply) = world.exchange(mara.id, None, "Hello", "Good day.").await;
    let patch = ContextPatch { personality: Some("Brisk.".into()), anchor: Some(String::new()), ..ContextPatch::default() };
    let edited = world.service.context_update(mara.id, patch).await.unwrap();
    assert!(edited.revision_id != mara.revision_id && edited.anchor.is_none());
    let revisions = world.service.context_revisions(mara.id).await.unwrap();
    let seen: Vec<_> = revisions.iter().map(|used| (used.revision.id.clone(), used.message_count)).collect();
    assert_eq!(seen, [(edited.revision_id.clone(), 0), (mara.revision_id.clone(), 1)]);
    assert_eq!(reply.revision_id, Some(mara.revision_id.clone()), "the message keeps the wording it was answered under");

    let back = world.service.context_restore_revision(mara.id, mara.revision_id.clone()).await.unwrap();
    assert_eq!((back.revision_id, back.personality, back.anchor), (mara.revision_id, mara.personality, mara.anchor));
    assert_eq!(world.service.context_revisions(mara.id).await.unwrap().len(), 2);
    let unknown = world.service.context_restore_revision(mara.id, RevisionId::new("0".repeat(64))).await.unwrap_err().to_body();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    assert!(unknown.details["existing"].contains(edited.revision_id.as_str()));
}

#[tokio::test]
async fn extending_begins_the_lifetime_anew_and_an_edit_leaves_it() {
    let world = World::new().await;
    world.scripted_provider().await;
    let mara = world.service.context_create(ContextDraft { local_only: false, ..draft("Mara") }).await.unwrap();
    world.clock.0.advance(TimeDelta::days(8));
    assert_eq!(world.contexts().await, [], "it has expired");
    let all = ContextQuery { include_expired: true, ..ContextQuery::default() };
    assert_eq!(world.service.context_list(all).await.unwrap().total_count, 1);
    let request = SendRequest::New { context_id: mara.id, conversation_id: None, text: "Hello".into(), agent_id: None };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::ContextExpired);

    let extended = world.service.context_extend(mara.id).await.unwrap();
    assert!(extended.is_active && extended.expires_at > mara.expires_at);
    assert_eq!((extended.last_interaction_at, extended.updated_at), (mara.last_interaction_at, mara.updated_at));
    let renamed = ContextPatch { name: Some("Maren".into()), ..ContextPatch::default() };
    let renamed = world.service.context_update(mara.id, renamed).await.unwrap();
    assert_eq!(renamed.expires_at.unwrap().timestamp_millis(), extended.expires_at.unwrap().timestamp_millis());
    world.exchange(mara.id, None, "Hello", "Good day.").await;

    let never = ContextPatch { expiry_days: Some(0), ..ContextPatch::default() };
    assert_eq!(world.service.context_update(mara.id, never).await.unwrap().expires_at, None);
    assert_eq!(world.service.context_extend(mara.id).await.unwrap().expires_at, None);
    assert_eq!(world.service.context_extend(missing_id()).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn what_does_not_exist_is_refused_with_what_does() {
    let world = World::new().await;
    for number in 0..25 {
        world.service.context_create(draft(&format!("Companion {number}"))).await.unwrap();
    }
    let id = missing_id();
    let service = &world.service;
    for error in [
        service.context_get(id).await.unwrap_err(),
        service.context_update(id, ContextPatch::default()).await.unwrap_err(),
        service.context_duplicate(id).await.unwrap_err(),
        service.context_delete(id).await.unwrap_err(),
        service.context_extend(id).await.unwrap_err(),
        service.context_revisions(id).await.unwrap_err(),
        service.conversation_clear(id).await.unwrap_err(),
        service.conversation_delete_older(Some(id), chrono::Utc::now()).await.unwrap_err(),
        service.preset_from_context(id, "Mine".into()).await.unwrap_err(),
        service.draft_put(DraftKey::Context(id), "typed".into()).await.unwrap_err(),
    ] {
        let body = error.to_body();
        assert_eq!(body.code, ErrorCode::NotFound, "{body}");
        assert_eq!(body.details["existing"].matches("Companion ").count(), 20, "{body}");
        assert!(body.message.contains(&id.to_string()));
    }
    for error in [service.context_restore(id).await.unwrap_err(), service.context_purge(id).await.unwrap_err()] {
        let body = error.to_body();
        assert_eq!((body.code, body.details["existing"].as_str()), (ErrorCode::NotFound, "none"), "{body}");
    }
}

#[tokio::test]
async fn the_number_of_contexts_has_its_limit_and_the_trash_does_not_count() {
    let mut world = World::new().await;
    world.service.shutdown().await;
    let limits = Limits { contexts: 2, ..Limits::default() };
    let few = ServiceOptions { limits, ..options(world.dir.path(), world.keychain.clone(), world.clock.clone()) };
    world.service = Service::new(few).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    let first = world.service.context_create(draft("One")).await.unwrap();
    world.service.context_create(draft("Two")).await.unwrap();
    let refused = world.service.context_create(draft("Three")).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["limit"].as_str()), (ErrorCode::LimitReached, "2"));
    assert_eq!(world.service.context_duplicate(first.id).await.unwrap_err().code(), ErrorCode::LimitReached);
    world.service.context_delete(first.id).await.unwrap();
    world.service.context_create(draft("Three")).await.unwrap();
    assert_eq!(world.service.context_restore(first.id).await.unwrap_err().code(), ErrorCode::LimitReached);
    assert_eq!(world.service.trash_list().await.unwrap().len(), 1, "what could not come back is still there");
}

#[tokio::test]
async fn advice_and_history_follow_the_model() {
    let world = World::new().await;
    let persona = |text: &str| PersonaDraft {
        name: "Mara".into(),
        system_prompt: text.into(),
        personality: String::new(),
        max_tokens: Some(2_001),
    };
    let codes = |advice: &[PersonaAdvice]| advice.iter().map(|one| one.code.clone()).collect::<Vec<_>>();
    let good = "Mara has a view of its own and does not take over the user's mood.";
    assert_eq!(world.service.context_advice(persona(good), None).await.unwrap(), []);
    let advice = world.service.context_advice(persona("You are a helpful assistant."), None).await.unwrap();
    assert!(codes(&advice).contains(&"second_person".to_owned()), "{advice:?}");
    assert!(advice.iter().all(|one| !one.message.is_empty()));
    assert_eq!(world.service.context_recommended_history(None).await.unwrap_err().code(), ErrorCode::NoModel);

    let provider = world.provider_with(&world.server.base_url(), 30, Some(4_000)).await;
    let recommended = world.service.context_recommended_history(None).await.unwrap();
    assert_eq!(recommended, RecommendedHistory { window: 4_000, max_history_tokens: 3_000 });
    let advice = world.service.context_advice(persona(good), None).await.unwrap();
    assert_eq!((codes(&advice), advice[0].details["tokens"].as_str()), (vec!["reply_too_long".to_owned()], "2000"));
    let model = ModelChoice { provider_id: provider.id, model: "scripted".into() };
    let long = format!("{good} {}", "Mara listens. ".repeat(600));
    let advice = world.service.context_advice(persona(&long), Some(model)).await.unwrap();
    let too_long = advice.iter().find(|one| one.code == "too_long_for_window").unwrap();
    assert_eq!(too_long.details["window"], "4000");
    let error = world.service.context_advice(persona(&"x".repeat(32_001)), None).await.unwrap_err();
    assert_eq!(field_of(error), (ErrorCode::InvalidParameter, "systemPrompt".to_owned()));
}

#[tokio::test]
async fn a_reply_takes_at_most_half_of_a_window_that_is_known() {
    let world = World::new().await;
    let long = |most: u32| ContextDraft { max_tokens: most, local_only: false, ..draft("Mara") };
    let old = world.service.context_create(long(9_000)).await.unwrap();
    let provider = world.provider_with(&world.server.base_url(), 30, Some(2_048)).await;
    let refused = world.service.context_create(long(1_025)).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["field"].as_str()), (ErrorCode::InvalidParameter, "maxTokens"));
    assert_eq!((refused.details["value"].as_str(), &refused.details["range"][..9]), ("1025", "1 to 1024"));
    let fits = world.service.context_create(long(1_024)).await.unwrap();

    let patch = |max_tokens| ContextPatch { max_tokens, tags: Some(vec!["one".into()]), ..ContextPatch::default() };
    assert_eq!(world.service.context_update(old.id, patch(None)).await.unwrap().max_tokens, 9_000, "it may stay as it was");
    assert_eq!(world.service.context_update(old.id, patch(Some(9_000))).await.unwrap().tags, ["one"]);
    let error = world.service.context_update(fits.id, patch(Some(1_500))).await.unwrap_err();
    assert_eq!(field_of(error), (ErrorCode::InvalidParameter, "maxTokens".into()));
    assert_eq!(world.service.context_get(fits.id).await.unwrap().tags.len(), 2, "nothing of it was written");

    // What nobody has chosen is held to what fits; what was chosen is refused.
    assert_eq!(world.counselor().await.max_tokens, 1_024);
    let overrides = PresetOverrides { max_tokens: Some(1_200), ..PresetOverrides::default() };
    let preset = PresetId::new("preset-calm-counselor");
    let error = world.service.context_create_from_preset(preset, overrides).await.unwrap_err();
    assert_eq!(field_of(error), (ErrorCode::InvalidParameter, "maxTokens".into()));
    assert_eq!(world.service.context_duplicate(old.id).await.unwrap().max_tokens, 9_000);

    // Another model with another window: what it takes counts.
    world.server.set_models(65_536, std::time::Duration::ZERO);
    let draft = ProviderDraft {
        id: Some(provider.id),
        kind: provider.kind,
        name: provider.name,
        base_url: provider.base_url,
        key: None,
        extra_headers: provider.extra_headers,
        manual_models: vec![],
        window_override: None,
        timeout_seconds: 30,
    };
    world.service.provider_save(draft).await.unwrap();
    world.service.context_create(long(9_000)).await.unwrap();
    assert_eq!(world.service.context_recommended_history(None).await.unwrap().window, 65_536);
    let error = world.service.context_create(long(32_769)).await.unwrap_err();
    assert_eq!(field_of(error), (ErrorCode::InvalidParameter, "maxTokens".into()));
}
