//! Presets on a real vault: each operation, each error.

use crate::support::World;
use evenkeel_domain::*;
use evenkeel_service::*;

fn draft(name: &str) -> PresetDraft {
    PresetDraft {
        name: name.into(),
        description: "For trying out.".into(),
        system_prompt: "Mara has a view of its own.".into(),
        default_personality: "Calm.".into(),
        default_settings: DefaultSettings { temperature: 0.5, max_tokens: 700, max_history_tokens: 5_000, expiry_days: None },
        metadata: r#"{"source":"me"}"#.into(),
    }
}

fn all() -> PresetQuery {
    PresetQuery { include_inactive: true, page_size: 500, ..PresetQuery::default() }
}

async fn listed(world: &World, query: PresetQuery) -> Vec<String> {
    world.service.preset_list(query).await.unwrap().presets.into_iter().map(|preset| preset.id.as_str().to_owned()).collect()
}

#[tokio::test]
async fn the_six_presets_are_those_of_the_design_experimental_ones_first() {
    let world = World::new().await;
    let page = world.service.preset_list(PresetQuery::default()).await.unwrap();
    let row = |preset: &Preset| {
        let settings = preset.default_settings;
        let temperature = format!("{:.1}", settings.temperature);
        (preset.id.as_str().to_owned(), preset.name.clone(), temperature, settings.max_tokens, settings.expiry_days.unwrap())
    };
    let expected = [
        ("preset-decision-making-supporter", "Decision Making Supporter", "0.4", 1_500, 14),
        ("preset-search-key-advisor", "Search Key Advisor", "0.6", 1_200, 10),
        ("preset-calm-counselor", "Calm Counselor", "0.6", 1_200, 14),
        ("preset-rational-advisor", "Rational Advisor", "0.5", 1_000, 7),
        ("preset-supportive-guide", "Supportive Guide", "0.8", 1_500, 10),
        ("preset-professional-assistant", "Professional Assistant", "0.7", 1_000, 7),
    ]
    .map(|(id, name, temperature, tokens, days)| (id.to_owned(), name.to_owned(), temperature.to_owned(), tokens, days));
    assert_eq!(page.presets.iter().map(row).collect::<Vec<_>>(), expected);
    assert!(page.presets.iter().all(|preset| preset.default_settings.max_history_tokens == 15_000 && preset.is_built_in));
    assert_eq!(page.presets.iter().filter(|preset| preset.is_experimental()).count(), 2);
    assert_eq!(page.total_count, 6);
}

#[tokio::test]
async fn a_preset_is_made_changed_copied_hidden_and_deleted() {
    let world = World::new().await;
    let made = world.service.preset_create(draft("Mine")).await.unwrap();
    assert!(made.id.as_str().starts_with("preset-") && made.is_active && !made.is_built_in);
    assert_eq!(world.service.preset_get(made.id.clone()).await.unwrap(), made);
    let changed = PresetDraft { metadata: "  ".into(), ..draft("Ours") };
    let changed = world.service.preset_update(made.id.clone(), changed).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.metadata.as_str(), changed.created_at), ("Ours", "{}", made.created_at));
    assert!(changed.updated_at > made.updated_at);
    let copy = world.service.preset_duplicate(made.id.clone()).await.unwrap();
    assert_eq!((copy.name.as_str(), &copy.system_prompt), ("Ours (2)", &made.system_prompt));

    let hidden = world.service.preset_set_active(made.id.clone(), false).await.unwrap();
    assert!(!hidden.is_active);
    assert!(!listed(&world, PresetQuery::default()).await.contains(&made.id.as_str().to_owned()));
    assert!(listed(&world, all()).await.contains(&made.id.as_str().to_owned()));
    assert!(world.service.preset_set_active(made.id.clone(), true).await.unwrap().is_active);
    world.service.preset_delete(made.id.clone()).await.unwrap();
    assert_eq!(world.service.preset_get(made.id).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn a_built_in_preset_is_edited_hidden_and_reset() {
    let world = World::new().await;
    let id = PresetId::new("preset-calm-counselor");
    let shipped = world.service.preset_get(id.clone()).await.unwrap();
    let edited = world.service.preset_update(id.clone(), draft("My counselor")).await.unwrap();
    assert!(edited.is_built_in && edited.is_edited);
    world.service.preset_delete(id.clone()).await.unwrap();
    assert!(!world.service.preset_get(id.clone()).await.unwrap().is_active, "it is only hidden");
    let reset = world.service.preset_reset(id.clone()).await.unwrap();
    assert_eq!((reset.name, reset.system_prompt), (shipped.name, shipped.system_prompt));
    assert!(reset.is_active && !reset.is_edited);
    // One that was hidden and shown again is as it was shipped.
    assert!(world.service.preset_set_active(id.clone(), false).await.unwrap().is_edited);
    assert!(!world.service.preset_set_active(id.clone(), true).await.unwrap().is_edited);
    let copy = world.service.preset_duplicate(id).await.unwrap();
    assert!(!copy.is_built_in && !copy.metadata.contains("builtIn"), "{}", copy.metadata);
    let refused = world.service.preset_reset(copy.id).await.unwrap_err().to_body();
    assert_eq!((refused.code, refused.details["field"].as_str()), (ErrorCode::InvalidParameter, "id"));
}

#[tokio::test]
async fn use_and_judgement_of_a_preset_are_counted() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let (_, question, reply) = world.exchange(context.id, None, "Hello", "Good day.").await;
    let counted = || async {
        let preset = world.service.preset_get(PresetId::new("preset-calm-counselor")).await.unwrap();
        (preset.use_count, preset.thumbs_up, preset.thumbs_down)
    };
    assert_eq!(counted().await, (1, 0, 0));
    assert_eq!(world.service.message_vote(reply.id, Some(Vote::Up)).await.unwrap().vote, Some(Vote::Up));
    assert_eq!(counted().await, (1, 1, 0));
    world.service.message_vote(reply.id, Some(Vote::Down)).await.unwrap();
    assert_eq!(counted().await, (1, 0, 1));
    assert_eq!(world.service.message_vote(reply.id, None).await.unwrap().vote, None);
    assert_eq!(counted().await, (1, 0, 0));
    let refused = world.service.message_vote(question.id, Some(Vote::Up)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidParameter);
}

#[tokio::test]
async fn a_context_becomes_a_preset_and_a_preset_a_context() {
    let world = World::new().await;
    let context = world.counselor().await;
    let patch = ContextPatch { expiry_days: Some(0), temperature: Some(0.25), ..ContextPatch::default() };
    let context = world.service.context_update(context.id, patch).await.unwrap();
    let preset = world.service.preset_from_context(context.id, "Template".into()).await.unwrap();
    assert_eq!((preset.name.as_str(), &preset.system_prompt), ("Template", &context.system_prompt));
    let made = world.service.context_create_from_preset(preset.id.clone(), PresetOverrides::default()).await.unwrap();
    assert_eq!((made.personality, made.temperature, made.expires_at), (context.personality, 0.25, None));
    assert_eq!(world.service.preset_get(preset.id).await.unwrap().use_count, 1);
    let unnamed = world.service.preset_from_context(context.id, " ".into()).await.unwrap_err().to_body();
    assert_eq!(unnamed.details["field"], "name");
}

#[tokio::test]
async fn bad_fields_and_unknown_presets_are_named() {
    let world = World::new().await;
    let settings = draft("Mine").default_settings;
    for (bad, field) in [
        (draft(""), "name"),
        (PresetDraft { description: "x".repeat(2_001), ..draft("Mine") }, "description"),
        (PresetDraft { system_prompt: String::new(), ..draft("Mine") }, "systemPrompt"),
        (PresetDraft { default_personality: "x".repeat(8_001), ..draft("Mine") }, "defaultPersonality"),
        (PresetDraft { default_settings: DefaultSettings { temperature: 1.5, ..settings }, ..draft("Mine") }, "temperature"),
        (PresetDraft { default_settings: DefaultSettings { expiry_days: Some(0), ..settings }, ..draft("Mine") }, "expiryDays"),
        (PresetDraft { metadata: "{not json".into(), ..draft("Mine") }, "metadata"),
        (PresetDraft { metadata: "[".repeat(2_000), ..draft("Mine") }, "metadata"),
        (PresetDraft { metadata: format!("\"{}\"", "x".repeat(70_000)), ..draft("Mine") }, "metadata"),
    ] {
        let error = world.service.preset_create(bad).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, field), "{error}");
    }
    let id = || PresetId::new("preset-nobody");
    let service = &world.service;
    for error in [
        service.preset_get(id()).await.unwrap_err(),
        service.preset_update(id(), draft("Mine")).await.unwrap_err(),
        service.preset_set_active(id(), false).await.unwrap_err(),
        service.preset_delete(id()).await.unwrap_err(),
        service.preset_duplicate(id()).await.unwrap_err(),
        service.preset_reset(id()).await.unwrap_err(),
    ] {
        let body = error.to_body();
        assert_eq!(body.code, ErrorCode::NotFound);
        assert!(body.details["existing"].contains("Calm Counselor (preset-calm-counselor)"), "{body}");
    }
    assert_eq!(
        world.service.preset_list(PresetQuery { page: 0, ..all() }).await.unwrap_err().code(),
        ErrorCode::InvalidParameter
    );
}
