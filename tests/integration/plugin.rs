//! Strategies of other people in real conversations: chosen, told of turns, and replaced by the sliding
//! window when they fail.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "newest-and-first";

async fn world() -> (World, Context) {
    let world = World::new().await;
    let provider = world.scripted_provider().await;
    world.use_model(provider.id, "scripted").await;
    let context = world.counselor().await;
    (world, context)
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/plugins").join(EXAMPLE)
}

async fn choose(world: &World, context: &Context, id: &str) {
    // Little is quoted, so that it has its place in a small budget.
    let config = Map::from_iter([("quoteBytes".to_owned(), json!(60))]);
    let strategy = StrategyChoice { plugin_id: id.into(), config, ..StrategyChoice::default() };
    let patch = ContextPatch { strategy: Some(strategy), max_history_tokens: Some(500), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
}

/// Sends and gives what the receipt says of the strategy, the request, and the conversation.
async fn said(
    world: &World,
    context: &Context,
    conversation: Option<ConversationId>,
    text: &str,
) -> (Receipt, String, ConversationId) {
    world.server.push(Answer::reply(&[&"Noted. ".repeat(60)]));
    let request = SendRequest::New { context_id: context.id, conversation_id: conversation, text: text.into(), agent_id: None };
    let events = world.send(request).await.unwrap();
    let reply = ended(&events).0.expect("the reply comes whatever the strategy does");
    let receipt = world.service.receipt_get(reply.id).await.unwrap().unwrap();
    let body = String::from_utf8(world.server.bodies().last().unwrap().to_vec()).unwrap();
    assert!(world.service.receipt_request(reply.id).await.unwrap().matches, "the request can be put together again");
    (receipt, body, started(&events).0.id)
}

/// A folder with a strategy whose `ek_compose` does this.
fn strategy(id: &str, body: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        r#"(module (memory (export "memory") 1) (func (export "ek_abi") (result i32) (i32.const 1))
            (func (export "ek_alloc") (param i32) (result i32) (i32.const 1024))
            (func (export "ek_compose") (param i32 i32) (result i64) {body}))"#
    );
    let manifest = json!({ "id": id, "name": id, "version": "1.0.0", "abi": 1 });
    std::fs::write(folder.path().join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.path().join("plugin.wasm"), wat::parse_str(text).unwrap()).unwrap();
    folder
}

#[tokio::test]
async fn the_example_composes_from_installation_to_receipt() {
    let (world, context) = world().await;
    let made = world.service.plugin_install(example(), false).await.unwrap();
    assert_eq!((made.id.as_str(), made.error.is_none()), (EXAMPLE, true));
    assert_eq!(world.service.plugin_list().await.unwrap(), [made]);
    choose(&world, &context, EXAMPLE).await;

    let mut conversation = None;
    let mut last = None;
    for turn in 0..8 {
        let text = if turn == 0 { "My sister Ada lends me her boat.".to_owned() } else { format!("Turn {turn}") };
        let (receipt, body, id) = said(&world, &context, conversation, &text).await;
        assert_eq!((receipt.strategy.id.as_str(), receipt.strategy.instead_of.as_deref()), (EXAMPLE, None));
        conversation = Some(id);
        last = Some((receipt, body));
    }
    let (receipt, body) = last.unwrap();
    let is_memory = |block: &&ReceiptBlock| block.kind == BlockKind::Memory && block.included;
    let memory = receipt.blocks.iter().find(is_memory).expect("how the conversation began is told");
    assert_eq!(memory.origin, Origin::Provider { name: EXAMPLE.into() });
    assert!(receipt.meter.left_out > 0 && body.contains("lends me her boat"), "{body}");

    let known = |world: &World| {
        let (leaf, context) = (receipt.reply_id, context.id);
        world.store().read(move |r| r.strategy_state(leaf, context, EXAMPLE)).unwrap()
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while known(&world).is_none() {
        assert!(std::time::Instant::now() < end, "the strategy was not told of the turn");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    world.service.plugin_remove(EXAMPLE.into()).await.unwrap();
    assert_eq!(known(&world), None, "what it knew goes with it");
    assert_eq!(world.service.plugin_list().await.unwrap(), []);
    let (receipt, _, _) = said(&world, &context, conversation, "And without it?").await;
    assert_eq!(receipt.strategy.id, SLIDING_WINDOW);
    assert!(receipt.strategy.instead_of.unwrap().contains(EXAMPLE));
}

#[tokio::test]
async fn one_that_loops_allocates_or_traps_is_stopped_and_the_reply_still_comes() {
    let (world, context) = world().await;
    for (id, body) in [
        ("loops", "(loop $on (br $on)) (i64.const 0)"),
        ("allocates", "(drop (memory.grow (i32.const 65535))) (unreachable)"),
        ("traps", "(unreachable)"),
        ("lies", "(i64.const -1)"),
    ] {
        let folder = strategy(id, body);
        world.service.plugin_install(folder.path().to_owned(), false).await.unwrap();
        choose(&world, &context, id).await;
        let (receipt, _, _) = said(&world, &context, None, "Hello").await;
        assert_eq!((receipt.strategy.id.as_str(), receipt.strategy.version.as_str()), (SLIDING_WINDOW, "1"), "{id}");
        let reason = receipt.strategy.instead_of.unwrap();
        assert!(reason.contains(id), "{reason}");
    }
}

#[tokio::test]
async fn what_is_no_strategy_is_refused_and_nothing_is_left_of_it() {
    let world = World::new().await;
    let wrong = tempfile::tempdir().unwrap();
    let refused = world.service.plugin_install(wrong.path().to_owned(), false).await.unwrap_err();
    assert!(refused.to_string().contains("plugin"), "{refused}");
    let manifest = json!({ "id": "from-the-future", "name": "x", "version": "1", "abi": 2 });
    std::fs::write(wrong.path().join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(wrong.path().join("plugin.wasm"), b"\0asm").unwrap();
    let refused = world.service.plugin_install(wrong.path().to_owned(), false).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidParameter);
    assert!(refused.to_string().contains("version 2") && refused.to_string().contains("version 1"), "{refused}");
    assert_eq!(world.service.plugin_list().await.unwrap(), []);

    let (first, second) = (strategy("twice", "(unreachable)"), strategy("twice", "(i64.const 0)"));
    world.service.plugin_install(first.path().to_owned(), false).await.unwrap();
    let taken = world.service.plugin_install(second.path().to_owned(), false).await.unwrap_err().to_body();
    assert_eq!((taken.details["installed"].as_str(), taken.details["offered"].as_str()), ("1.0.0", "1.0.0"));
    world.service.plugin_install(second.path().to_owned(), true).await.unwrap();
    let unknown = world.service.plugin_remove("nobody".into()).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::NotFound);
}
