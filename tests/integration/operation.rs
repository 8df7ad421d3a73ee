//! What tools did: recorded with what matters of it, by conversation alone, as long as the user wants.

use crate::support::World;
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::{ExportFormat, OperationPage};
use proptest::prelude::*;
use serde_json::{Value, json};

const ADDRESS: &str = "anna.keel@example.org";

async fn talk(world: &World, context: &Context) -> ConversationId {
    world.exchange(context.id, None, "write it down", "Done.").await.0.id
}

/// A world with a context and a conversation.
async fn begun() -> (World, Context, ConversationId) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let conversation = talk(&world, &context).await;
    (world, context, conversation)
}

fn draft(context: &Context, conversation: ConversationId, tool: &str, arguments: Value, result: Value) -> OperationDraft {
    OperationDraft {
        conversation_id: conversation,
        context_id: context.id,
        message_id: None,
        query: "write it down".into(),
        source: "files".into(),
        tool_name: tool.into(),
        arguments,
        result,
        duration_ms: 12,
        error: None,
    }
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

async fn record(world: &World, draft: OperationDraft) -> Operation {
    world.service.operation_record(draft).await.unwrap()
}

async fn recent(world: &World, conversation: ConversationId) -> Vec<Operation> {
    let query = OperationQuery { limit: 50, ..OperationQuery::new(conversation) };
    world.service.operation_recent(query).await.unwrap()
}

async fn change_settings(world: &World, change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = world.service.settings_get().await.unwrap();
    change(&mut settings);
    world.service.settings_save(settings).await.unwrap()
}

fn page(conversation_id: ConversationId, page: u32, tool_name: Option<&str>) -> OperationPageQuery {
    OperationPageQuery { conversation_id, page, page_size: 2, tool_name: tool_name.map(str::to_owned) }
}

#[tokio::test]
async fn what_a_tool_wrote_is_known_afterwards_and_after_a_restart() {
    let (mut world, context, conversation) = begun().await;
    let arguments = json!({"path": "/a/list.txt", "content": "milk"});
    let written = record(&world, draft(&context, conversation, "write_file", arguments.clone(), said("Wrote /a/list.txt"))).await;
    assert_eq!(written.result, json!("Wrote /a/list.txt"));
    assert_eq!(written.metadata.files, [FoundFile { path: "/a/list.txt".into(), bytes: Some(4) }]);
    record(&world, draft(&context, conversation, "create_task", json!({}), said("{\"id\": \"t-1\"}"))).await;
    world.restart().await;
    let found = recent(&world, conversation).await;
    assert_eq!(found.iter().map(|one| one.tool_name.as_str()).collect::<Vec<_>>(), ["create_task", "write_file"]);
    assert_eq!((found[0].result.clone(), found[0].metadata.created.clone()), (json!({"id": "t-1"}), vec!["t-1".to_owned()]));
    assert_eq!((&found[1].arguments, &found[1].query), (&arguments, &"write it down".to_owned()));

    let filtered = OperationQuery { tool_filter: Some("WRITE".into()), ..OperationQuery::new(conversation) };
    assert_eq!(world.service.operation_recent(filtered.clone()).await.unwrap().len(), 1);
    let told = world.service.operation_text(filtered, 4_000).await.unwrap();
    assert!(told.contains("/a/list.txt") && told.contains("never an instruction"), "{told}");
}

#[tokio::test]
async fn a_conversation_that_is_not_there_and_limits_are_refused_with_what_there_is() {
    let (world, context, conversation) = begun().await;
    let unknown: ConversationId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    let refused = world.service.operation_record(draft(&context, unknown, "look", json!({}), json!({}))).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound);
    assert!(refused.to_body().details["existing"].contains(&conversation.to_string()));
    let many = OperationQuery { limit: 51, ..OperationQuery::new(conversation) };
    assert_eq!(world.service.operation_recent(many).await.unwrap_err().to_body().details["field"], "limit");
}

#[tokio::test]
async fn a_result_of_ten_megabytes_and_one_of_ten_thousand_levels_are_kept_in_bounds() {
    let (world, context, conversation) = begun().await;
    let deep = (0..10_000).fold(Value::Null, |value, _| Value::Array(vec![value]));
    let kept = record(&world, draft(&context, conversation, "create_deep_project_file", json!({}), deep)).await;
    assert!(kept.metadata.is_cut);
    let long = "grün ".repeat(3 << 20);
    let kept = record(&world, draft(&context, conversation, "read_file", json!({}), said(&long))).await;
    assert!(kept.metadata.is_cut && kept.result.as_str().unwrap().len() <= (10 << 20) + 3);
    assert_eq!(recent(&world, conversation).await[0], kept, "what is kept is read again");

    let shown = world.service.operation_list(page(conversation, 1, None)).await.unwrap();
    assert_eq!(shown.shortened, [kept.id]);
    assert!(shown.operations[0].result.as_str().unwrap().len() < 10_000);
    let whole = world.service.operation_get(conversation, kept.id).await.unwrap();
    assert_eq!(whole, kept);
    assert!(world.service.operation_text(OperationQuery::new(conversation), 2_000).await.unwrap().chars().count() <= 2_000);
}

#[tokio::test]
async fn a_timeline_is_paged_and_tells_which_tools_there_were() {
    let (world, context, conversation) = begun().await;
    for tool in ["read_a", "write_b", "read_a", "read_a"] {
        record(&world, draft(&context, conversation, tool, json!({}), json!({}))).await;
    }
    let tools = |page: &OperationPage| page.tools.iter().map(|tool| (tool.name.clone(), tool.count)).collect::<Vec<_>>();
    let first = world.service.operation_list(page(conversation, 1, Some("read_a"))).await.unwrap();
    assert_eq!((first.operations.len(), first.total_count), (2, 3));
    assert_eq!(tools(&first), [("read_a".to_owned(), 3), ("write_b".to_owned(), 1)]);
    let second = world.service.operation_list(page(conversation, 2, Some("read_a"))).await.unwrap();
    assert_eq!(second.operations.len(), 1);
    assert_eq!(world.service.operation_clear(conversation).await.unwrap(), 4);
    assert_eq!(world.service.operation_list(page(conversation, 1, None)).await.unwrap().total_count, 0);
    let gone = world.service.operation_get(conversation, first.operations[0].id).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn what_is_taken_out_before_storing_is_in_no_part_of_a_record() {
    let (world, context, conversation) = begun().await;
    change_settings(&world, |settings| {
        settings.redaction = RedactionSettings { emails: true, before_storing: true, ..RedactionSettings::default() };
    })
    .await;
    let result = said(&format!("{{\"{ADDRESS}\": \"{ADDRESS}\", \"errors\": [\"no {ADDRESS}\"]}}"));
    let mut wish = draft(&context, conversation, "look", json!({"to": ADDRESS}), result);
    wish.query = format!("write to {ADDRESS}");
    wish.error = Some(ErrorBody::new(ErrorCode::ProviderFailed, format!("{ADDRESS} bounced")).with("to", ADDRESS));
    let kept = record(&world, wish).await;
    let text = serde_json::to_string(&kept).unwrap();
    assert!(!text.contains(ADDRESS) && text.contains("[email]"), "{text}");
    assert_eq!(recent(&world, conversation).await, [kept]);
}

#[tokio::test]
async fn what_is_taken_out_before_sending_stays_in_the_record_and_is_not_told_to_a_model() {
    let (world, context, conversation) = begun().await;
    change_settings(&world, |settings| {
        settings.redaction = RedactionSettings { emails: true, before_sending: true, ..RedactionSettings::default() };
    })
    .await;
    let kept = record(&world, draft(&context, conversation, "look", json!({}), json!({"errors": [ADDRESS]}))).await;
    assert!(serde_json::to_string(&kept).unwrap().contains(ADDRESS));
    let told = world.service.operation_text(OperationQuery::new(conversation), 4_000).await.unwrap();
    assert!(!told.contains(ADDRESS) && told.contains("[email]"), "{told}");
}

#[tokio::test]
async fn own_rules_are_checked_when_they_are_saved_and_take_values_out_of_results() {
    let (world, context, conversation) = begun().await;
    let rule = |path: &str| OperationRule { name: "price".into(), tool_pattern: "shop_*".into(), path: path.into() };
    let mut settings = world.service.settings_get().await.unwrap();
    settings.operations.rules = vec![rule("$..*..*")];
    let refused = world.service.settings_save(settings.clone()).await.unwrap_err();
    assert_eq!(refused.to_body().details["field"], "operations.rules.path");
    settings.operations.rules = vec![rule("$.items[*].price")];
    world.service.settings_save(settings).await.unwrap();
    let kept = record(&world, draft(&context, conversation, "shop_list", json!({}), said("{\"items\":[{\"price\":3}]}"))).await;
    assert_eq!(kept.metadata.values, [FoundValue { rule: "price".into(), value: json!(3) }]);
    let tried = world.service.operation_try_rule(rule("$.a"), "{\"a\": [1]}".into()).await.unwrap();
    assert_eq!(tried, ["[1]"]);
    assert!(world.service.operation_try_rule(rule("a"), "{}".into()).await.is_err());
    assert!(world.service.operation_try_rule(rule("$.a"), "{}".into()).await.unwrap().is_empty());
    let refused = world.service.operation_try_rule(rule("$.a"), "a: 1".into()).await.unwrap_err().to_body();
    assert_eq!((refused.details["field"].as_str(), refused.details.contains_key("sample")), ("result", true), "{refused}");
    assert_eq!(world.service.operation_try_rule(rule("$"), "a: 1".into()).await.unwrap(), ["\"a: 1\""]);
}

#[tokio::test]
async fn fewer_are_kept_once_the_user_wants_fewer() {
    let (world, context, conversation) = begun().await;
    for number in 0..60 {
        record(&world, draft(&context, conversation, &format!("tool_{number}"), json!({}), json!({}))).await;
    }
    let count = async || world.service.operation_list(page(conversation, 1, None)).await.unwrap().total_count;
    assert_eq!(count().await, 50);
    change_settings(&world, |settings| settings.operations.kept = 3).await;
    assert_eq!(count().await, 3);
    assert_eq!(recent(&world, conversation).await[0].tool_name, "tool_59");
}

#[tokio::test]
async fn transient_sessions_end_an_hour_after_their_last_use_and_others_never() {
    let (world, context, lasting) = begun().await;
    assert_eq!(world.run_after(TimeDelta::zero()).await, [], "jobs are planned first");
    let transient = talk(&world, &context).await;
    record(&world, draft(&context, lasting, "look", json!({}), json!({}))).await;
    record(&world, draft(&context, transient, "look", json!({}), json!({}))).await;
    world.service.operation_set_transient(transient, true).await.unwrap();
    world.clock.0.pass(TimeDelta::minutes(50));
    assert_eq!(recent(&world, transient).await.len(), 1, "asking for it is a use");
    world.clock.0.pass(TimeDelta::minutes(50));
    assert_eq!(recent(&world, transient).await.len(), 1);
    world.run_after(TimeDelta::minutes(70)).await;
    assert_eq!(world.service.operation_list(page(transient, 1, None)).await.unwrap().total_count, 0, "a job ends it");
    assert_eq!(recent(&world, lasting).await.len(), 1);
    record(&world, draft(&context, transient, "look", json!({}), json!({}))).await;
    world.clock.0.pass(TimeDelta::minutes(61));
    assert_eq!(recent(&world, transient).await, [], "and so does the next question");
}

#[tokio::test]
async fn of_many_transient_sessions_those_used_longest_ago_end() {
    let (world, context, _) = begun().await;
    change_settings(&world, |settings| settings.operations.transient_sessions = 3).await;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        let one = talk(&world, &context).await;
        world.service.operation_set_transient(one, true).await.unwrap();
        sessions.push(one);
        record(&world, draft(&context, one, "look", json!({}), json!({}))).await;
        world.clock.0.pass(TimeDelta::minutes(2));
        // The first one is asked for again and again.
        recent(&world, sessions[0]).await;
    }
    let mut left = Vec::new();
    for session in &sessions {
        left.push(recent(&world, *session).await.len());
    }
    assert_eq!(left, [1, 0, 0, 1, 1]);
}

#[tokio::test]
async fn a_private_conversation_keeps_its_operations_to_itself_and_takes_them_along() {
    let (world, context, conversation) = begun().await;
    let private = world.service.private_begin(context.id, "Between us".into()).await.unwrap();
    record(&world, draft(&context, private.id, "look", json!({}), json!({"secret": "tourmaline"}))).await;
    assert_eq!((recent(&world, private.id).await.len(), recent(&world, conversation).await.len()), (1, 0));
    let path = world.dir.path().join("all.jsonl");
    assert_eq!(world.service.operation_save(None, path.clone()).await.unwrap(), 0);
    assert_eq!(world.service.operation_save(Some(private.id), path).await.unwrap(), 1);
    let mut stored = Vec::new();
    world
        .store()
        .read(|r| {
            r.each_operation(None, |one| {
                stored.push(one);
                Ok::<_, evenkeel_store::StoreError>(())
            })
        })
        .unwrap();
    assert!(stored.is_empty(), "the vault has none of it");
    world.service.private_end(private.id).await.unwrap();
    assert!(world.service.operation_recent(OperationQuery::new(private.id)).await.is_err());
}

#[tokio::test]
async fn an_export_is_json_lines_that_can_be_read_again_and_never_lies_in_the_profile() {
    let (world, context, conversation) = begun().await;
    let other = talk(&world, &context).await;
    let first = record(&world, draft(&context, conversation, "look", json!({"a": "line\nbreak"}), json!([1]))).await;
    let second = record(&world, draft(&context, other, "look", json!({}), json!([2]))).await;
    let path = world.dir.path().join("audit.jsonl");
    let lines = |path: &std::path::Path| -> Vec<Operation> {
        std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(world.service.operation_save(Some(conversation), path.clone()).await.unwrap(), 1);
    assert_eq!(lines(&path), std::slice::from_ref(&first));
    assert_eq!(world.service.operation_save(None, path.clone()).await.unwrap(), 2);
    let mut all = lines(&path);
    all.sort_by_key(|one| one.at);
    assert_eq!(all, [first, second]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let inside = world.service.operation_save(None, world.service.profile_dir().join("x.jsonl")).await.unwrap_err();
    assert_eq!(inside.code(), ErrorCode::PlaceRefused);
    assert!(!world.service.profile_dir().join("x.jsonl").exists());
}

#[tokio::test]
async fn an_exported_conversation_has_what_tools_did_but_not_for_a_message_that_is_deleted() {
    let (world, context, conversation) = begun().await;
    let (.., reply) = world.exchange(context.id, Some(conversation), "and again", "Done.").await;
    let done = OperationDraft { message_id: Some(reply.id), ..draft(&context, conversation, "look", json!({}), json!([1])) };
    record(&world, done).await;
    let exported = async || -> Value {
        let text = world.service.conversation_export(conversation, ExportFormat::Json).await.unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let json = exported().await;
    let operation = &json["operations"][0];
    assert_eq!((&operation["messageId"], &operation["tool"]), (&json!(reply.id), &json!("look")), "{json}");
    assert_eq!(operation["result"], json!([1]));
    let markdown = world.service.conversation_export(conversation, ExportFormat::Markdown).await.unwrap();
    assert!(markdown.contains("> Tool `files · look`, 12 ms\n"), "{markdown}");
    let name = world.service.operation_file_name(Some(conversation)).await.unwrap();
    assert!(name.starts_with(&context.name) && name.ends_with(" operations.jsonl"), "{name}");
    world.service.message_delete(reply.id).await.unwrap();
    assert_eq!(exported().await["operations"], json!([]));
}

#[tokio::test]
async fn what_is_forgotten_in_a_conversation_is_forgotten_of_its_operations() {
    let (world, context, conversation) = begun().await;
    record(&world, draft(&context, conversation, "look", json!({}), json!({"said": "tourmaline"}))).await;
    world.service.conversation_delete(vec![conversation]).await.unwrap();
    world.service.conversation_purge(vec![conversation]).await.unwrap();
    let mut stored = 0;
    world
        .store()
        .read(|r| {
            r.each_operation(None, |_| {
                stored += 1;
                Ok::<_, evenkeel_store::StoreError>(())
            })
        })
        .unwrap();
    assert_eq!(stored, 0);
}

/// A step of two sessions: which one, which tool, and what it answers.
fn steps() -> impl Strategy<Value = Vec<(bool, u8, String)>> {
    prop::collection::vec((any::<bool>(), 0_u8..5, ".{0,12}"), 2_000)
}

/// Two sessions with about a thousand random operations each.
#[test]
fn two_sessions_never_see_what_the_other_did() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { max_shrink_iters: 0, ..ProptestConfig::with_cases(1) });
    runner
        .run(&steps(), |steps| {
            runtime.block_on(async {
                let (world, context, one) = begun().await;
                let other = talk(&world, &context).await;
                change_settings(&world, |settings| settings.operations.kept = 1_000).await;
                let session = |is_one: bool| if is_one { one } else { other };
                let mut recorded: [Vec<OperationId>; 2] = [Vec::new(), Vec::new()];
                for (number, (is_one, tool, text)) in steps.iter().enumerate() {
                    let result = json!({"id": number, "text": text, "session": session(*is_one)});
                    let wish = draft(&context, session(*is_one), &format!("tool_{tool}"), json!({"n": number}), result);
                    recorded[usize::from(*is_one)].push(record(&world, wish).await.id);
                    if number % 250 == 0 {
                        check(&world, session(true), &recorded[1]).await;
                        check(&world, session(false), &recorded[0]).await;
                    }
                }
                check(&world, one, &recorded[1]).await;
                check(&world, other, &recorded[0]).await;
            });
            Ok(())
        })
        .unwrap();
}

/// A session has its own newest thousand in every way to ask, and nothing else.
async fn check(world: &World, session: ConversationId, recorded: &[OperationId]) {
    let expected: Vec<OperationId> = recorded.iter().rev().take(1_000).copied().collect();
    let mut seen = Vec::new();
    for page in 1..=21 {
        let query = OperationPageQuery { conversation_id: session, page, page_size: 50, tool_name: None };
        let shown = world.service.operation_list(query).await.unwrap();
        seen.extend(shown.operations);
    }
    assert!(seen.iter().all(|one| one.conversation_id == session && one.result["session"] == session.to_string()));
    assert_eq!(seen.iter().map(|one| one.id).collect::<Vec<_>>(), expected);
    let newest: Vec<OperationId> = recent(world, session).await.into_iter().map(|one| one.id).collect();
    assert_eq!(newest, expected[..expected.len().min(50)]);
    let told = world.service.operation_text(OperationQuery { limit: 50, ..OperationQuery::new(session) }, 1 << 20).await.unwrap();
    let told: Value = if told.is_empty() { json!({"operations": []}) } else { serde_json::from_str(&told).unwrap() };
    let own = |one: &Value| one["result"]["session"] == session.to_string();
    assert!(told["operations"].as_array().unwrap().iter().all(own), "{told}");
}
