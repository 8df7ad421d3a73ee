//! Receipts: what was sent for a reply can be put together again, byte for byte, and what would be sent is
//! known before.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_service::{PresetOverrides, ProviderDraft};
use evenkeel_testkit::scripted_server::{Answer, Piece};
use evenkeel_vault::{KeyFile, Profile, Use, unlock_keychain};
use std::collections::BTreeMap;
use std::time::Duration;

const KEY: &str = "sk-secret-0123456789";

/// A world whose default model is that of a scripted provider of a kind.
async fn world(kind: ProviderKind) -> (World, Context) {
    let world = World::new().await;
    let draft = ProviderDraft {
        id: None,
        kind,
        name: "Scripted".into(),
        base_url: world.server.base_url(),
        key: Some(KEY.into()),
        extra_headers: BTreeMap::new(),
        manual_models: vec![],
        window_override: Some(8_192),
        timeout_seconds: 30,
    };
    let provider = world.service.provider_save(draft).await.unwrap();
    world.use_model(provider.id, "scripted").await;
    let context = world.counselor().await;
    (world, context)
}

async fn open_ai() -> (World, Context) {
    world(ProviderKind::OpenaiCompatible).await
}

fn new(context: &Context, conversation: Option<ConversationId>, text: &str) -> SendRequest {
    SendRequest::New { context_id: context.id, conversation_id: conversation, text: text.into(), agent_id: None }
}

async fn receipt(world: &World, reply: &Message) -> Receipt {
    world.service.receipt_get(reply.id).await.unwrap().expect("a receipt")
}

/// The body of the last request that the server got.
fn last_body(world: &World) -> String {
    String::from_utf8(world.server.bodies().last().unwrap().to_vec()).unwrap()
}

/// Sends, and holds the receipt against what the server really got.
async fn checked(world: &World, request: SendRequest) -> (Conversation, Message, Receipt) {
    world.server.push(Answer::reply(&["I hear ", "you."]));
    let events = world.send(request).await.unwrap();
    let reply = ended(&events).0.unwrap();
    let kept = rebuilds(world, &reply).await;
    (started(&events).0, reply, kept)
}

/// The request of a receipt is what the server got last.
async fn rebuilds(world: &World, reply: &Message) -> Receipt {
    let kept = receipt(world, reply).await;
    let again = world.service.receipt_request(reply.id).await.unwrap();
    let sent = last_body(world);
    assert_eq!(again.body, sent);
    assert!(again.matches && again.missing.is_empty());
    assert_eq!((kept.request_hash.as_str(), kept.request_bytes as usize), (&*sha256_hex(sent.as_bytes()), sent.len()));
    assert_eq!(again.texts.len(), kept.blocks.len());
    for (block, text) in kept.blocks.iter().zip(&again.texts).filter(|(block, _)| block.included) {
        assert_eq!(block.hash, sha256_hex(text.as_bytes()), "{block:?}");
    }
    kept
}

fn origins(receipt: &Receipt) -> Vec<&'static str> {
    let name = |block: &ReceiptBlock| match block.origin {
        Origin::Revision { .. } => "persona",
        Origin::Anchor { .. } => "anchor",
        Origin::Message { .. } => "message",
        Origin::Earlier { .. } => "earlier",
        Origin::UserText => "user",
        Origin::Clock => "clock",
        Origin::Goals => "goals",
        _ => "other",
    };
    receipt.blocks.iter().map(name).collect()
}

#[tokio::test]
async fn every_family_of_providers_gets_what_its_receipt_says() {
    let families = [
        (ProviderKind::OpenaiCompatible, "/v1/chat/completions", Some(30)),
        (ProviderKind::Anthropic, "/v1/messages", Some(30)),
        (ProviderKind::Ollama, "/api/chat", None),
    ];
    for (kind, path, cached_tokens) in families {
        let (world, context) = world(kind).await;
        let (conversation, _, first) = checked(&world, new(&context, None, "I am \"furious\"! 🫠\n")).await;
        assert_eq!(origins(&first), ["persona", "user", "clock"]);
        let (_, reply, second) = checked(&world, new(&context, Some(conversation.id), "And now?")).await;
        assert_eq!(origins(&second), ["persona", "message", "message", "user", "clock"]);
        assert_eq!(second.usage, Some(Usage { prompt_tokens: 40, completion_tokens: 5, cached_tokens }));
        assert_eq!((second.provider_kind, second.provider_name.as_str(), second.reply_id), (kind, "Scripted", reply.id));
        assert!(second.address.ends_with(path), "{}", second.address);
        assert_eq!((&second.revision_id, second.speaker.as_str()), (&context.revision_id, "Calm Counselor"));
        assert_eq!((second.strategy.id.as_str(), &second.strategy.instead_of), (SLIDING_WINDOW, &None));
        assert_eq!((second.temperature, second.max_tokens), (context.temperature, context.max_tokens));
        let curl = world.service.receipt_request(reply.id).await.unwrap().curl;
        assert!(curl.contains(&second.address) && curl.contains("$API_KEY") && !curl.contains(KEY), "{curl}");
    }
}

#[tokio::test]
async fn the_engine_gets_what_its_receipt_says() {
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let patch = ContextPatch { max_tokens: Some(16), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let request = new(&context, None, "Hello, who are you?");
    let preview = world.service.chat_preview(request.clone()).await.unwrap();
    let reply = ended(&world.send(request).await.unwrap()).0.unwrap();
    let kept = receipt(&world, &reply).await;
    let again = world.service.receipt_request(reply.id).await.unwrap();
    assert!(again.matches, "{}", again.body);
    assert_eq!(preview.body, again.body, "the engine was not started for the preview");
    assert_eq!((kept.form, kept.provider_kind), (PromptForm::UserLast, ProviderKind::Engine));
    assert_eq!(kept.usage, reply.usage);
    assert!(again.curl.contains("$API_KEY"));
    world.service.shutdown().await;
}

#[tokio::test]
async fn after_regenerating_editing_and_another_agent() {
    let (world, context) = open_ai().await;
    let (conversation, reply, first) = checked(&world, new(&context, None, "Everything is ruined")).await;
    let (_, again, _) = checked(&world, SendRequest::Regenerate { message_id: reply.id }).await;
    assert_eq!(receipt(&world, &again).await.user_message_id, first.user_message_id);
    let edit = SendRequest::Edit { message_id: first.user_message_id, text: "Nearly everything is ruined".into() };
    let (_, edited, kept) = checked(&world, edit).await;
    assert_ne!(kept.user_message_id, first.user_message_id);

    let preset = PresetId::new("preset-rational-advisor");
    let agent = world.service.context_create_from_preset(preset, PresetOverrides::default()).await.unwrap();
    let request = SendRequest::New {
        context_id: context.id,
        conversation_id: Some(conversation.id),
        text: "What do you think?".into(),
        agent_id: Some(agent.id),
    };
    let (_, _, kept) = checked(&world, request).await;
    let prefixed: Vec<&str> = kept.blocks.iter().map(|block| block.prefix.as_str()).filter(|prefix| !prefix.is_empty()).collect();
    assert_eq!((prefixed, kept.speaker.as_str()), (vec!["Calm Counselor: "], "Rational Advisor"));
    // What was sent then stays what it was, also after persona and settings have changed.
    let body = world.service.receipt_request(edited.id).await.unwrap().body;
    let patch = ContextPatch { system_prompt: Some("Something else.".into()), temperature: Some(0.1), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let later = world.service.receipt_request(edited.id).await.unwrap();
    assert!(later.matches && later.body == body);
}

#[tokio::test]
async fn after_messages_have_left_the_window_with_an_anchor_and_goals() {
    let (world, context) = open_ai().await;
    let memory = MemorySettings { goals: vec!["Sleep \"well\"".into()], anchor_from_turn: 1, ..MemorySettings::default() };
    let patch = ContextPatch { max_history_tokens: Some(500), memory: Some(memory), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let mut conversation = None;
    let mut left_out = 0;
    for turn in 0..12 {
        let text = format!("{turn}: {}", "so much to say ".repeat(12));
        let (known, _, kept) = checked(&world, new(&context, conversation, &text)).await;
        (conversation, left_out) = (Some(known.id), kept.meter.left_out);
        assert!(origins(&kept).ends_with(&["user", "goals", "clock", "anchor"]), "{:?}", origins(&kept));
        let earlier = kept.blocks.iter().find(|block| matches!(block.origin, Origin::Earlier { .. }));
        assert_eq!(earlier.is_some_and(|block| !block.included && block.reason.is_some()), left_out > 0);
    }
    assert!(left_out > 0);
}

#[tokio::test]
async fn a_prompt_that_was_sent_again_with_less_has_the_receipt_of_the_second() {
    let (world, context) = open_ai().await;
    let mut conversation = None;
    for turn in 0..8 {
        let text = format!("{turn}: {}", "a longer sentence about nothing ".repeat(20));
        conversation = Some(checked(&world, new(&context, conversation, &text)).await.0.id);
    }
    let refusal = "This model's maximum context length is 1000 tokens. Your messages resulted in more.";
    world.server.push(Answer::error(400, refusal));
    let before = world.server.bodies().len();
    let (_, _, kept) = checked(&world, new(&context, conversation, "And now?")).await;
    assert_eq!(world.server.bodies().len(), before + 2);
    assert!(world.server.bodies()[before].len() > kept.request_bytes as usize);
    assert!(kept.meter.left_out > 0);
}

#[tokio::test]
async fn a_reply_that_broke_off_has_its_receipt_and_one_that_never_came_has_none() {
    let (world, context) = open_ai().await;
    world.server.push(Answer::stream(vec![Piece::Text("Half".into()), Piece::Wait(Duration::from_millis(50)), Piece::Cut]));
    let events = world.say(context.id, None, "Hello").await;
    let reply = ended(&events).0.unwrap();
    assert_eq!(reply.status, MessageStatus::Interrupted);
    let kept = rebuilds(&world, &reply).await;
    assert_eq!(kept.usage, None);

    world.server.push(Answer::error(500, "broken"));
    let events = world.say(context.id, Some(started(&events).0.id), "Hello?").await;
    assert_eq!(ended(&events).0, None);
    let receipts: i64 = raw(&world).query_row("SELECT count(*) FROM receipts", [], |row| row.get(0)).unwrap();
    assert_eq!(receipts, 1);
}

/// The vault's database, opened beside the service without the store.
fn raw(world: &World) -> rusqlite::Connection {
    let profile = Profile::new(world.dir.path().join("profile"));
    let key_file = KeyFile::read(&profile).unwrap();
    let key = unlock_keychain(&key_file, &*world.keychain).unwrap().subkey(key_file.vault_id(), Use::Database);
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let database = rusqlite::Connection::open(profile.database()).unwrap();
    database.execute_batch(&format!("PRAGMA key = \"x'{hex}'\";")).unwrap();
    database
}

/// Everything that the vault holds, decrypted.
fn dump(world: &World) -> Vec<u8> {
    let plain = world.dir.path().join("plain.db");
    let attach = format!("ATTACH DATABASE '{}' AS plain KEY ''; SELECT sqlcipher_export ('plain');", plain.display());
    let database = raw(world);
    let (attach, export) = attach.split_once("; ").unwrap();
    database.execute_batch(attach).unwrap();
    database.query_row(export, [], |_| Ok(())).unwrap();
    std::fs::read(plain).unwrap()
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[tokio::test]
async fn a_preview_is_what_is_sent_then_and_stores_nothing() {
    for kind in [ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Ollama] {
        let (world, context) = world(kind).await;
        let (conversation, reply, _) = checked(&world, new(&context, None, "I am furious")).await;
        let (user_id, id) = (receipt(&world, &reply).await.user_message_id, Some(conversation.id));
        let requests = [
            new(&context, None, "Somewhere else"),
            new(&context, id, "What now? \"\u{1f620}\""),
            SendRequest::Edit { message_id: user_id, text: "I am calm".into() },
            SendRequest::Regenerate { message_id: reply.id },
        ];
        for request in requests {
            // The time is sent to the second: both have to fall into the same one.
            let millis = i64::from(world.clock.0.now().timestamp_subsec_millis());
            world.clock.0.advance(chrono::TimeDelta::milliseconds(1_000 - millis));
            let (asked, stored) = (world.server.bodies().len(), world.conversations(context.id).await);
            let preview = world.service.chat_preview(request.clone()).await.unwrap();
            assert_eq!(world.server.bodies().len(), asked, "no model is called");
            assert_eq!(world.conversations(context.id).await, stored);
            let (_, _, kept) = checked(&world, request).await;
            assert_eq!(preview.body, last_body(&world));
            assert_eq!((preview.strategy, preview.provider_name, preview.model), (kept.strategy, kept.provider_name, kept.model));
            let hashes = |blocks: &[ReceiptBlock]| blocks.iter().map(|block| block.hash.clone()).collect::<Vec<_>>();
            assert_eq!(hashes(&preview.blocks), hashes(&kept.blocks));
            let shown = preview.texts.iter().map(|text| sha256_hex(text.as_bytes()));
            assert_eq!(shown.collect::<Vec<_>>(), hashes(&kept.blocks), "all are included here");
        }
    }
}

#[tokio::test]
async fn strategies_are_compared_for_a_message() {
    let (world, context) = open_ai().await;
    let patch = ContextPatch { max_history_tokens: Some(500), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let mut conversation = None;
    for turn in 0..10 {
        let text = format!("{turn}: {}", "so much to say ".repeat(15));
        conversation = Some(checked(&world, new(&context, conversation, &text)).await.0.id);
    }
    let request = new(&context, conversation, "And now?");
    let wrong = StrategyChoice { plugin_id: "std-nothing-strategy".into(), ..StrategyChoice::default() };
    let missing = StrategyChoice { plugin_id: "somebody-elses".into(), ..StrategyChoice::default() };
    let strategies = vec![StrategyChoice::standard(FULL), StrategyChoice::default(), wrong, missing];
    let compared = world.service.chat_compare(request.clone(), strategies.clone()).await.unwrap();
    assert_eq!(compared.iter().map(|one| one.strategy.clone()).collect::<Vec<_>>(), strategies);
    let previews: Vec<_> = compared.iter().map(|one| one.preview.clone()).collect();
    let (full, sliding) = (previews[0].clone().unwrap(), previews[1].clone().unwrap());
    assert_eq!((full.strategy.id.as_str(), sliding.strategy.id.as_str()), (FULL, SLIDING_WINDOW));
    assert_eq!(full.meter.left_out, 0);
    assert!(sliding.meter.left_out > 0 && sliding.body.len() < full.body.len());
    assert_eq!(compared[2].error.as_ref().unwrap().details["field"], "strategy.pluginId");
    let other = previews[3].clone().unwrap();
    assert_eq!(other.strategy.id, SLIDING_WINDOW);
    assert!(other.strategy.instead_of.unwrap().contains("somebody-elses"));

    // Comparing has changed nothing: what is sent is what the context's own strategy makes.
    checked(&world, request.clone()).await;
    assert_eq!(last_body(&world), sliding.body);
    for strategies in [Vec::new(), vec![StrategyChoice::default(); 9]] {
        let error = world.service.chat_compare(request.clone(), strategies).await.unwrap_err().to_body();
        assert_eq!((error.code, error.details["field"].as_str()), (ErrorCode::InvalidParameter, "strategies"));
    }
}

#[tokio::test]
async fn what_is_deleted_is_forgotten_and_what_is_purged_is_gone() {
    const MARKER: &str = "MARKERaquamarine";
    let (mut world, context) = open_ai().await;
    let conversation = checked(&world, new(&context, None, "Hello")).await.0;
    let (_, _, first) = checked(&world, new(&context, Some(conversation.id), &format!("My name is {MARKER}"))).await;
    let (_, reply, _) = checked(&world, new(&context, Some(conversation.id), "And now?")).await;
    world.service.message_delete(first.user_message_id).await.unwrap();
    let kept = receipt(&world, &reply).await;
    let lost: Vec<&ReceiptBlock> = kept.blocks.iter().filter(|block| block.forgotten).collect();
    assert_eq!((lost.len(), &lost[0].origin), (1, &Origin::Message { id: first.user_message_id }));
    assert_eq!(lost[0].hash, sha256_hex(format!("My name is {MARKER}").as_bytes()));
    assert_eq!(lost[0].date, first.user_message_id.born_at());
    let again = world.service.receipt_request(reply.id).await.unwrap();
    assert!(!again.matches && again.body.is_empty() && again.curl.is_empty());
    assert_eq!(again.missing.iter().collect::<Vec<_>>(), lost);

    world.service.message_restore(first.user_message_id).await.unwrap();
    assert!(world.service.receipt_request(reply.id).await.unwrap().matches, "an undone deletion costs nothing");

    world.service.message_delete(first.user_message_id).await.unwrap();
    let before = world.clock.0.now() + chrono::TimeDelta::days(1);
    world.store().write(|w| w.forget_deleted_messages(before)).unwrap();
    world.restart().await;
    let kept = receipt(&world, &reply).await;
    assert_eq!(kept.blocks.iter().filter(|block| block.forgotten).count(), 1);
    assert!(!serde_json::to_string(&kept).unwrap().contains(MARKER));
    let vault = dump(&world);
    assert!(holds(&vault, "And now?"), "the vault can be read");
    assert!(!holds(&vault, MARKER), "nothing of it is left");
}

#[tokio::test]
async fn a_private_conversation_keeps_its_receipts_to_itself() {
    let (world, context) = open_ai().await;
    let private = world.service.private_begin(context.id, "Between us".into()).await.unwrap();
    let (_, reply, _) = checked(&world, new(&context, Some(private.id), "A secret")).await;
    assert_eq!(world.store().read(|r| r.receipt(reply.id)).unwrap(), None);
    world.service.private_end(private.id).await.unwrap();
    let gone = world.service.receipt_get(reply.id).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn a_provider_that_is_gone_takes_no_receipt_with_it() {
    let (world, context) = open_ai().await;
    let (_, reply, kept) = checked(&world, new(&context, None, "Hello")).await;
    world.service.provider_delete(kept.model.provider_id).await.unwrap();
    let again = world.service.receipt_request(reply.id).await.unwrap();
    assert!(again.matches && again.curl.contains("$API_KEY"), "{}", again.curl);
    assert_eq!(receipt(&world, &reply).await.provider_name, "Scripted");
}

#[tokio::test]
async fn bad_input_says_what_exists() {
    let (world, context) = open_ai().await;
    let (conversation, reply, kept) = checked(&world, new(&context, None, "Hello there")).await;
    let unknown = MessageId::from_parts(world.clock.0.now(), [9; 10]);
    for error in [
        world.service.receipt_get(unknown).await.unwrap_err().to_body(),
        world.service.receipt_request(unknown).await.unwrap_err().to_body(),
        world.service.chat_preview(SendRequest::Regenerate { message_id: unknown }).await.unwrap_err().to_body(),
    ] {
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(error.details["existing"].contains(&conversation.id.to_string()), "{}", error.message);
    }
    let of_user = world.service.receipt_get(kept.user_message_id).await.unwrap_err().to_body();
    assert_eq!((of_user.code, of_user.details["field"].as_str()), (ErrorCode::InvalidParameter, "messageId"));
    let empty = world.service.chat_preview(new(&context, None, " ")).await.unwrap_err();
    assert_eq!(empty.code(), ErrorCode::InvalidParameter);

    // A reply from before there were receipts.
    let old = Message { id: unknown, parent_id: Some(kept.user_message_id), ..reply };
    world.store().write(|w| w.insert_message(old)).unwrap();
    assert_eq!(world.service.receipt_get(unknown).await.unwrap(), None);
    let error = world.service.receipt_request(unknown).await.unwrap_err().to_body();
    assert!(error.code == ErrorCode::NotFound && error.message.contains("no receipt"), "{}", error.message);
}
