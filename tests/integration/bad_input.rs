//! Bad input gives a clear error, and nothing is lost or half stored.

use crate::support::{World, ended};
use evenkeel_domain::*;
use evenkeel_service::PresetOverrides;
use evenkeel_testkit::scripted_server::Answer;

async fn refused(world: &World, context: ContextId, text: String) -> ErrorBody {
    let request = SendRequest::New { context_id: context, conversation_id: None, text, agent_id: None };
    let error = world.send(request).await.unwrap_err().to_body();
    assert_eq!(world.conversations(context).await.total_count, 0);
    error
}

#[tokio::test]
async fn messages_that_cannot_be_sent() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    for (text, value, code) in [
        (String::new(), "empty", ErrorCode::InvalidParameter),
        ("  \n\t ".into(), "empty", ErrorCode::InvalidParameter),
        ("x".repeat((1 << 20) + 1), "1048577 bytes", ErrorCode::LimitReached),
        ("a\0b".into(), "a NUL character at byte 1", ErrorCode::InvalidParameter),
    ] {
        let error = refused(&world, context, text).await;
        assert_eq!((error.code, error.details["value"].as_str()), (code, value));
    }
}

#[tokio::test]
async fn a_message_larger_than_the_window_names_the_numbers() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    let error = refused(&world, context, "word ".repeat(200_000)).await;
    assert_eq!(error.code, ErrorCode::PromptTooLarge);
    assert!(error.message.chars().filter(char::is_ascii_digit).count() > 6, "{}", error.message);
}

#[tokio::test]
async fn right_to_left_and_emoji_come_back_as_they_were_sent() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    for text in ["أنا غاضب جدًا!", "👩‍👩‍👧‍👦 🏳️‍🌈 e\u{301}", "\u{202e}reversed\u{202c}", "\u{fffd} was a lone surrogate"]
    {
        world.server.push(Answer::reply(&[text]));
        let reply = ended(&world.say(context, None, text).await).0.unwrap();
        let sent = world.server.requests().last().unwrap().clone();
        assert_eq!(reply.content, text);
        assert!(sent["messages"].as_array().unwrap().iter().any(|m| m["content"].as_str().unwrap().contains(text)));
    }
}

#[tokio::test]
async fn a_temperature_out_of_range_names_field_value_and_range() {
    let world = World::new().await;
    let context = world.counselor().await;
    for temperature in [-0.1, 1.1, f32::NAN] {
        let patch = ContextPatch { temperature: Some(temperature), ..ContextPatch::default() };
        let error = world.service.context_update(context.id, patch).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "temperature"));
        assert_eq!(error.details["range"], "0 to 1");
    }
    assert_eq!(world.contexts().await[0].temperature, context.temperature);
}

#[tokio::test]
async fn an_unknown_preset_lists_those_that_exist() {
    let world = World::new().await;
    let made = world.service.context_create_from_preset(PresetId::new("preset-nobody"), PresetOverrides::default()).await;
    let error = made.unwrap_err().to_body();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.details["existing"].contains("preset-calm-counselor"));
}

#[tokio::test]
async fn files_that_are_no_models() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let model = evenkeel_engine::default_model::locate(None).expect("the model is missing: run ./scripts/setup");
    let whole = std::fs::read(model).unwrap();
    let truncated = dir.path().join("truncated.gguf");
    std::fs::write(&truncated, &whole[..5_000]).unwrap();
    let noise = dir.path().join("noise.gguf");
    std::fs::write(&noise, [7; 4_096]).unwrap();
    for path in [dir.path().to_owned(), truncated, noise] {
        let error = world.service.model_file_add(path.clone()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ModelFileInvalid, "{}: {error}", path.display());
    }
    let missing = world.service.model_file_add(dir.path().join("none.gguf")).await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::ModelFileMissing);
    assert_eq!(world.service.provider_list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn addresses_that_may_not_be_called() {
    let world = World::new().await;
    for (base_url, is_address) in [
        ("http://models.example", true),
        ("https://169.254.169.254/v1", true),
        ("https://a:b@models.example", true),
        ("ftp://models.example", false),
        ("not a url", false),
        ("https://", false),
    ] {
        let draft = evenkeel_service::ProviderDraft {
            id: None,
            kind: ProviderKind::OpenaiCompatible,
            name: "Bad".into(),
            base_url: base_url.into(),
            key: None,
            extra_headers: std::collections::BTreeMap::new(),
            manual_models: vec![],
            window_override: None,
            timeout_seconds: 30,
        };
        let error = world.service.provider_save(draft).await.unwrap_err();
        let expected = if is_address { ErrorCode::ProviderAddressRefused } else { ErrorCode::InvalidParameter };
        assert_eq!(error.code(), expected, "{base_url}: {error}");
        assert!(is_address || error.to_body().details["field"] == "baseUrl", "{error}");
    }
}

#[tokio::test]
async fn a_provider_may_not_change_silently() {
    let world = World::new().await;
    let provider = world.scripted_provider().await;
    let draft = |base_url: &str, key: Option<&str>, kind| evenkeel_service::ProviderDraft {
        id: Some(provider.id),
        kind,
        name: "Scripted".into(),
        base_url: base_url.into(),
        key: key.map(str::to_owned),
        extra_headers: std::collections::BTreeMap::new(),
        manual_models: vec![],
        window_override: None,
        timeout_seconds: 30,
    };
    let compatible = ProviderKind::OpenaiCompatible;
    for (refused, field) in [
        (draft("http://127.0.0.1:9/v1", None, compatible), "baseUrl"),
        (draft("https://models.example", Some("new"), compatible), "baseUrl"),
        (draft(&provider.base_url, None, ProviderKind::Engine), "kind"),
    ] {
        let error = world.service.provider_save(refused).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, field), "{error}");
    }
    let stored = world.service.provider_list().await.unwrap();
    assert!(stored.iter().any(|known| known == &provider), "{stored:?}");
}
