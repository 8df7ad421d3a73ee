//! Strategies that remember: summaries in the background, values before a reply.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

const NONE: &str = "\n\n## Open threads\n- none\n\n## Commitments made\n- none";

/// Notes with these facts.
fn notes(facts: &[&str]) -> String {
    let lines: Vec<String> = facts.iter().map(|fact| format!("- {fact}")).collect();
    format!("## Facts about the user\n{}{NONE}", lines.join("\n"))
}

fn strategy(id: &str, config: Value) -> StrategyChoice {
    let Value::Object(config) = config else { panic!("{config}") };
    StrategyChoice { config, ..StrategyChoice::standard(id) }
}

async fn choose(world: &World, context: ContextId, choice: StrategyChoice) {
    let patch = ContextPatch { strategy: Some(choice), ..ContextPatch::default() };
    world.service.context_update(context, patch).await.unwrap();
}

/// A context that summarises one exchange as soon as three are not summarised.
async fn summarising(config: Value) -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    choose(&world, context.id, strategy(SUMMARIZATION, config)).await;
    (world, context)
}

fn small() -> Value {
    json!({ "threshold": 2, "turns": 1 })
}

/// Says three things; the model's third answer is followed by these notes.
async fn three(world: &World, context: ContextId, notes: &str) -> (Conversation, Vec<Message>) {
    let (begun, first, _) = world.exchange(context, None, "my boss is Ida", "Noted.").await;
    let (_, second, _) = world.exchange(context, Some(begun.id), "she shouts", "I see.").await;
    world.server.push(Answer::reply(&["Yes."]));
    world.server.push(Answer::reply(&[notes]));
    let third = started(&world.say(context, Some(begun.id), "still there?").await).1;
    asked(world, 4).await;
    (begun, vec![first, second, third])
}

/// Waits until the server was asked so often.
async fn asked(world: &World, times: usize) {
    until("the server to be asked", async || world.server.requests().len() >= times).await;
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    // The built-in model reads beside everything else that runs here.
    let end = Instant::now() + Duration::from_secs(300);
    while !is_so().await {
        assert!(Instant::now() < end, "waited for {what} in vain; the log says:\n{}", log());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn summaries(world: &World, conversation: ConversationId) -> Vec<Summary> {
    world.service.summary_list(conversation).await.unwrap()
}

async fn summarised(world: &World, conversation: ConversationId, times: usize) -> Summary {
    until("a summary", async || summaries(world, conversation).await.len() >= times).await;
    summaries(world, conversation).await.remove(0)
}

fn text(request: &Value) -> String {
    request["messages"].to_string()
}

#[tokio::test]
async fn a_summary_takes_the_place_of_what_it_covers() {
    let (world, context) = summarising(small()).await;
    let (begun, said) = three(&world, context.id, &notes(&["Has a boss, Ida. [m1]"])).await;
    let summary = summarised(&world, begun.id, 1).await;
    assert_eq!((summary.round, summary.is_edited, summary.is_stale, summary.message_ids.len()), (1, false, false, 2));
    assert_eq!(summary.evidence, [Evidence { label: "m1".into(), message_id: said[0].id }]);
    assert_eq!(summary.model.map(|model| model.model).as_deref(), Some("scripted"));
    let task = text(&world.server.requests()[3]);
    assert!(task.contains("[m1] User: my boss is Ida") && task.contains("[m2] Calm Counselor: Noted."), "{task}");
    assert!(!task.contains("she shouts"), "only the oldest exchange");
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&["nothing of use"]));
    world.say(context.id, Some(begun.id), "and now?").await;
    let request = text(&world.server.requests()[4]);
    assert!(request.contains("- Has a boss, Ida.\\n") && !request.contains("[m1]"), "{request}");
    assert!(!request.contains("my boss is Ida") && request.contains("she shouts"), "{request}");
    let view = world.service.conversation_open(begun.id).await.unwrap();
    assert_eq!(view.messages[0].content, "my boss is Ida", "what it covers is still there");
}

#[tokio::test]
async fn a_summary_that_loses_what_the_user_wrote_is_rejected() {
    log();
    let (world, context) = summarising(small()).await;
    let (begun, _) = three(&world, context.id, &notes(&["Has a boss, Ida. [m1]"])).await;
    let first = summarised(&world, begun.id, 1).await;
    let mine = notes(&["Has a boss, Ida. [m1]", "Takes 20 mg of propranolol."]);
    let edited = world.service.summary_edit(first.id, mine.clone()).await.unwrap();
    assert_eq!(edited.pinned, ["Takes 20 mg of propranolol."]);
    assert!(edited.is_edited && edited.model.is_none() && edited.message_ids.len() == 2);
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&[&notes(&["Has a boss, Ida. [m1]", "She shouts. [m3]"])]));
    world.say(context.id, Some(begun.id), "and now?").await;
    until("a rejection", async || rejections(begun.id) == 1).await;
    assert!(log().contains("a line that has to stay is missing"));
    assert!(text(&world.server.requests()[5]).contains("stay word for word:\\n- Takes 20 mg of propranolol."));
    world.server.push(Answer::reply(&["Well."]));
    world.server.push(Answer::reply(&[&notes(&["Has a boss, Ida, who shouts. [m1, m3]", "Takes 20 mg of propranolol."])]));
    world.say(context.id, Some(begun.id), "well?").await;
    assert!(text(&world.server.requests()[6]).contains("propranolol"), "the edited one was still in use");
    let next = summarised(&world, begun.id, 2).await;
    assert!(next.text.contains("who shouts. [m1, m3]\n- Takes 20 mg") && next.round == 2, "{next:?}");
    assert_eq!(next.pinned, ["Takes 20 mg of propranolol."]);
    assert_eq!(summaries(&world, begun.id).await[1].text, mine, "each edit is one of its own");
}

#[tokio::test]
async fn a_deleted_message_makes_the_summary_stale_and_brings_the_others_back() {
    let (world, context) = summarising(small()).await;
    let (begun, said) = three(&world, context.id, &notes(&["Has a boss, Ida. [m1]"])).await;
    let summary = summarised(&world, begun.id, 1).await;
    world.service.message_delete(said[0].id).await.unwrap();
    assert!(summaries(&world, begun.id).await[0].is_stale);
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&["nothing of use"]));
    world.say(context.id, Some(begun.id), "and now?").await;
    let request = text(&world.server.requests()[4]);
    assert!(!request.contains("Ida") && request.contains("she shouts"), "{request}");
    let refused = world.service.summary_edit(summary.id, "x".into()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn a_summary_applies_to_its_branch_and_goes_when_it_is_removed() {
    let (world, context) = summarising(small()).await;
    let (begun, said) = three(&world, context.id, &notes(&["Has a boss, Ida. [m1]"])).await;
    let summary = summarised(&world, begun.id, 1).await;
    world.server.push(Answer::reply(&["Another beginning."]));
    world.send(SendRequest::Edit { message_id: said[0].id, text: "my aunt is Ada".into() }).await.unwrap();
    let request = text(&world.server.requests()[4]);
    assert!(!request.contains("Ida") && request.contains("my aunt is Ada"), "{request}");
    world.service.conversation_select_branch(said[2].id).await.unwrap();
    world.service.summary_remove(summary.id).await.unwrap();
    assert!(summaries(&world, begun.id).await.is_empty());
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&["nothing of use"]));
    world.say(context.id, Some(begun.id), "and now?").await;
    let request = text(&world.server.requests()[5]);
    assert!(request.contains("my boss is Ida") && !request.contains("Has a boss"), "{request}");
    assert_eq!(world.service.summary_remove(summary.id).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn a_summary_gives_way_to_the_next_message_and_is_made_after_it() {
    let (world, context) = summarising(small()).await;
    let (begun, _, _) = world.exchange(context.id, None, "one", "first").await;
    world.exchange(context.id, Some(begun.id), "two", "second").await;
    world.server.push(Answer::reply(&["third"]));
    world.server.push(Answer::stream(vec![Piece::Gate, Piece::Text("Never heard".into()), Piece::Done]));
    world.say(context.id, Some(begun.id), "three").await;
    asked(&world, 4).await;
    // The model is held by the summary, and the message is answered all the same.
    world.server.push(Answer::reply(&["fourth"]));
    world.server.push(Answer::reply(&[&notes(&["Counts. [m1, m3]"])]));
    let reply = ended(&world.say(context.id, Some(begun.id), "four").await).0.unwrap();
    assert_eq!(reply.content, "fourth");
    let summary = summarised(&world, begun.id, 1).await;
    assert_eq!(summary.message_ids.len(), 4, "two exchanges are too many by now");
}

#[tokio::test]
async fn every_so_many_summaries_the_messages_themselves_are_read_again() {
    let (world, context) = summarising(json!({ "threshold": 2, "turns": 1, "rebuildEvery": 2 })).await;
    let (begun, _) = three(&world, context.id, &notes(&["Has a boss, Ina. [m1]"])).await;
    summarised(&world, begun.id, 1).await;
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&[&notes(&["Has a boss, Ida, who shouts. [m1, m3]"])]));
    world.say(context.id, Some(begun.id), "and now?").await;
    let second = summarised(&world, begun.id, 2).await;
    let task = text(&world.server.requests()[5]);
    assert!(task.contains("Earlier notes:\\nnone") && task.contains("[m1] User: my boss is Ida"), "{task}");
    assert!(task.contains("[m3] User: she shouts") && !task.contains("still there?"), "{task}");
    assert_eq!((second.round, second.message_ids.len()), (2, 4));
}

#[tokio::test]
async fn a_model_that_makes_no_summaries_is_not_asked_for_ever() {
    log();
    let (world, context) = summarising(small()).await;
    let (begun, _) = three(&world, context.id, "I'm sorry, I can't help with that.").await;
    until("a refusal", async || rejections(begun.id) == 1).await;
    for (times, answer) in [(2, "## Facts about the user\n- Something."), (3, &notes(&["Something. [m99]"]))] {
        world.server.push(Answer::reply(&["Go on."]));
        world.server.push(Answer::reply(&[answer]));
        world.say(context.id, Some(begun.id), "more").await;
        until("a rejection", async || rejections(begun.id) == times).await;
    }
    world.server.push(Answer::reply(&["Go on."]));
    world.server.push(Answer::reply(&["left over"]));
    world.say(context.id, Some(begun.id), "more").await;
    let reply = ended(&world.say(context.id, Some(begun.id), "more").await).0.unwrap();
    assert_eq!(reply.content, "left over", "no fourth summary was asked for");
    assert!(summaries(&world, begun.id).await.is_empty());
}

fn trip() -> Value {
    json!({ "schema": { "type": "object", "properties": {
        "destination": { "type": "string" }, "nights": { "type": "integer" } } } })
}

async fn extracting(config: Value) -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    choose(&world, context.id, strategy(EXTRACTION, config)).await;
    (world, context)
}

/// Says something that the model reads `values` in.
async fn tell(
    world: &World,
    context: ContextId,
    conversation: Option<ConversationId>,
    text: &str,
    values: &str,
) -> (Conversation, Message) {
    world.server.push(Answer::reply(&[values]));
    world.server.push(Answer::reply(&["Noted."]));
    started(&world.say(context, conversation, text).await)
}

async fn state(world: &World, conversation: ConversationId) -> Vec<(String, String)> {
    let held = world.service.state_get(conversation, false).await.unwrap();
    held.into_iter().map(|value| (value.name, value.value)).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[tokio::test]
async fn what_is_told_is_known_before_it_is_answered() {
    let (world, context) = extracting(trip()).await;
    let (begun, first) = tell(&world, context.id, None, "We go to Faro", r#"{"destination":"Faro"}"#).await;
    let (_, second) = tell(&world, context.id, Some(begun.id), "For three nights", "```json\n{\"nights\":3}\n```").await;
    let requests = world.server.requests();
    assert_eq!(requests[0]["response_format"]["json_schema"]["schema"]["additionalProperties"], false);
    assert!(requests[1].get("response_format").is_none());
    let answered = text(&requests[1]);
    assert!(answered.contains(r#"{\"destination\":\"Faro\",\"nights\":null}"#), "{answered}");
    assert!(!text(&requests[2]).contains("Noted."), "what a model said is not read");
    let answered = text(&requests[3]);
    assert!(answered.contains(r#"{\"destination\":\"Faro\",\"nights\":3}"#), "{answered}");
    assert!(!answered.contains("We go to Faro") && answered.contains("For three nights"), "no history: {answered}");
    let held = world.service.state_get(begun.id, false).await.unwrap();
    assert_eq!(held.iter().map(|value| value.evidence_id).collect::<Vec<_>>(), [Some(first.id), Some(second.id)]);
    // The same question, answered anew, is not read again.
    world.server.push(Answer::reply(&["Noted again."]));
    world.send(SendRequest::Regenerate { message_id: second.id }).await.unwrap();
    assert!(text(&world.server.requests()[4]).contains(r#"\"nights\":3}"#));
    assert_eq!(world.server.requests().len(), 5);
}

#[tokio::test]
async fn a_model_that_takes_too_long_leaves_the_state_as_it_was() {
    let mut config = trip();
    config["timeLimitMs"] = json!(1_500);
    let (world, context) = extracting(config).await;
    let (begun, _) = tell(&world, context.id, None, "We go to Faro", r#"{"destination":"Faro"}"#).await;
    world.server.push(Answer::stream(vec![Piece::Gate, Piece::Text("{}".into()), Piece::Done]));
    world.server.push(Answer::reply(&["Noted."]));
    let began = Instant::now();
    let (reply, error) = ended(&world.say(context.id, Some(begun.id), "No, to Porto").await);
    assert_eq!((reply.unwrap().content.as_str(), error), ("Noted.", None));
    assert!(began.elapsed() >= Duration::from_millis(1_500));
    assert!(text(&world.server.requests()[3]).contains(r#"\"destination\":\"Faro\""#));
    // What was missed is read with the next message.
    tell(&world, context.id, Some(begun.id), "For two nights", r#"{"destination":"Porto","nights":2}"#).await;
    let task = text(&world.server.requests()[4]);
    assert!(task.contains("User: No, to Porto\\nUser: For two nights"), "{task}");
    let held = world.service.state_get(begun.id, false).await.unwrap();
    assert_eq!(held[0].value, "\"Porto\"");
    let porto = world.service.conversation_open(begun.id).await.unwrap().messages[2].id;
    assert_eq!(held[0].evidence_id, Some(porto), "the message that names it");
}

#[tokio::test]
async fn values_supersede_each_other_but_not_the_users() {
    let (world, context) = extracting(trip()).await;
    let (begun, _) = tell(&world, context.id, None, "Faro, two nights", r#"{"destination":"Faro","nights":2}"#).await;
    tell(&world, context.id, Some(begun.id), "No, Porto", r#"{"destination":"Porto"}"#).await;
    assert_eq!(state(&world, begun.id).await, [pair("destination", "\"Porto\""), pair("nights", "2")]);
    let all = world.service.state_get(begun.id, true).await.unwrap();
    let (porto, faro) = (&all[0], all.iter().find(|value| value.value == "\"Faro\"").unwrap());
    assert_eq!((porto.conflicts_with_id, faro.valid_to), (Some(faro.id), Some(porto.valid_from)));
    let pinned = world.service.state_pin(porto.id, true).await.unwrap();
    assert!(pinned.is_pinned);
    assert_eq!(world.service.state_pin(faro.id, true).await.unwrap_err().code(), ErrorCode::InvalidParameter);
    tell(&world, context.id, Some(begun.id), "Or Lagos?", r#"{"destination":"Lagos"}"#).await;
    assert_eq!(state(&world, begun.id).await[0], pair("destination", "\"Porto\""));
    let all = world.service.state_get(begun.id, true).await.unwrap();
    assert!(all[0].is_suggestion && all[0].conflicts_with_id == Some(porto.id), "{all:?}");
    let set = world.service.state_set(begun.id, "nights".into(), " 5 ".into()).await.unwrap();
    assert_eq!((set.value.as_str(), set.is_edited, set.source), ("5", true, StateSource::User));
    tell(&world, context.id, Some(begun.id), "nine nights", r#"{"nights":9}"#).await;
    assert_eq!(state(&world, begun.id).await[1], pair("nights", "5"));
    world.service.state_forget(porto.id).await.unwrap();
    assert_eq!(state(&world, begun.id).await, [pair("nights", "5")]);
    for (name, value) in [("nights", "\"five\""), ("mood", "1"), ("nights", "five"), ("", "1")] {
        let refused = world.service.state_set(begun.id, name.into(), value.into()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidParameter, "{name} {value}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    let (world, context) = extracting(trip()).await;
    world.server.push(Answer::reply(&["Sure! The destination is Faro."]));
    let (begun, _) = tell(&world, context.id, None, "Faro", r#"{"destination":"Faro"}"#).await;
    assert!(text(&world.server.requests()[1]).contains("That does not fit: the answer is no JSON object"));
    assert_eq!(state(&world, begun.id).await, [pair("destination", "\"Faro\"")]);
    // Of a second one, what fits is taken; a server that refuses the schema is asked without it.
    world.server.push(Answer::error(400, "response_format is not supported"));
    world.server.push(Answer::reply(&[r#"{"nights":"two"}"#]));
    tell(&world, context.id, Some(begun.id), "Porto", r#"{"nights":"two","destination":"Porto"}"#).await;
    let requests = world.server.requests();
    assert!(requests[3].get("response_format").is_some() && requests[4].get("response_format").is_none());
    assert_eq!(state(&world, begun.id).await, [pair("destination", "\"Porto\"")]);
}

#[tokio::test]
async fn what_is_no_schema_is_refused_when_it_is_chosen() {
    let world = World::new().await;
    let context = world.counselor().await;
    for (schema, says) in
        [(json!("a trip"), "no object"), (json!({ "type": "object", "properties": { "date": { "type": "date" } } }), "\"date\"")]
    {
        let choice = strategy(EXTRACTION, json!({ "schema": schema }));
        let patch = ContextPatch { strategy: Some(choice), ..ContextPatch::default() };
        let refused = world.service.context_update(context.id, patch).await.unwrap_err().to_body();
        assert_eq!(refused.code, ErrorCode::InvalidParameter);
        assert_eq!(refused.details["field"], "strategy.config.schema");
        assert!(refused.message.contains(says), "{}", refused.message);
    }
    assert_eq!(world.service.context_get(context.id).await.unwrap().strategy, StrategyChoice::default());
}

#[tokio::test]
async fn a_private_conversation_keeps_its_memory_to_itself() {
    let (world, context) = extracting(trip()).await;
    let private = world.service.private_begin(context.id, "Secret".into()).await.unwrap();
    tell(&world, context.id, Some(private.id), "We go to Faro", r#"{"destination":"Faro"}"#).await;
    assert_eq!(state(&world, private.id).await, [pair("destination", "\"Faro\"")]);
    assert_eq!(world.store().read(|r| r.state_history(private.id)).unwrap(), []);
    let id = world.service.state_get(private.id, false).await.unwrap()[0].id;
    world.service.state_forget(id).await.unwrap();
    assert!(state(&world, private.id).await.is_empty());
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// What the app wrote to its log since the first call.
fn log() -> String {
    static STARTED: Once = Once::new();
    struct Kept;
    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            LOG.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    STARTED.call_once(|| {
        let logged = tracing_subscriber::fmt().with_writer(|| Kept).with_max_level(tracing::Level::INFO).try_init();
        logged.expect("no other test logs");
    });
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

/// Summaries of a conversation that were not taken.
fn rejections(conversation: ConversationId) -> usize {
    let of = conversation.to_string();
    log().lines().filter(|line| line.contains("a summary was rejected") && line.contains(&of)).count()
}

/// The small model writes what it can; a summary of its is taken or rejected, and the chat goes on.
#[tokio::test]
async fn the_built_in_model_is_asked_for_a_summary_beside_the_chat() {
    log();
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let config = json!({ "threshold": 2, "turns": 1, "maxTokens": 100 });
    let patch = ContextPatch { max_tokens: Some(24), strategy: Some(strategy(SUMMARIZATION, config)), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let (begun, _) = started(&world.say(context.id, None, "My boss is Ida.").await);
    for text in ["She shouts.", "What do I do?"] {
        world.say(context.id, Some(begun.id), text).await;
    }
    until("the model to be asked", async || !summaries(&world, begun.id).await.is_empty() || rejections(begun.id) > 0).await;
    let (reply, error) = ended(&world.say(context.id, Some(begun.id), "And now?").await);
    let usage = reply.unwrap().usage.unwrap();
    assert!(error.is_none());
    if summaries(&world, begun.id).await.is_empty() {
        assert!(usage.cached_tokens.unwrap() > usage.prompt_tokens / 2, "the chat's memory was kept: {usage:?}");
    }
    world.service.shutdown().await;
}

/// Another model of the engine does such work in a process of its own: what the one that replies has
/// read already stays in its memory.
#[tokio::test]
async fn work_by_another_engine_model_costs_the_chat_nothing() {
    log();
    let world = World::new().await;
    world.use_engine().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Another.gguf");
    std::fs::copy(default_model::locate(None).expect("the model is missing: run ./scripts/setup"), &path).unwrap();
    let other = world.service.model_file_add(path).await.unwrap();
    let context = world.counselor().await;
    let engine = world.service.settings_get().await.unwrap().default_model.unwrap().provider_id;
    let config = json!({ "threshold": 2, "turns": 1, "maxTokens": 100,
        "compressionModel": { "providerId": engine, "model": other.name } });
    let patch = ContextPatch { max_tokens: Some(24), strategy: Some(strategy(SUMMARIZATION, config)), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let (begun, _) = started(&world.say(context.id, None, "My boss is Ida.").await);
    for text in ["She shouts.", "What do I do?"] {
        world.say(context.id, Some(begun.id), text).await;
    }
    let mut notices = world.service.engine_notices();
    until("the model to be asked", async || !summaries(&world, begun.id).await.is_empty() || rejections(begun.id) > 0).await;
    let reply = ended(&world.say(context.id, Some(begun.id), "And now?").await).0;
    assert!(!reply.unwrap().content.is_empty());
    let heard = notices.try_recv().ok().map(|notice| notice.kind);
    assert_eq!(heard, None, "the model that replies stays loaded, with what it has read");
    world.service.shutdown().await;
}

#[tokio::test]
async fn the_built_in_model_fills_a_form_and_nothing_else() {
    let world = World::new().await;
    world.use_engine().await;
    let context = world.counselor().await;
    let schema =
        json!({ "type": "object", "properties": { "mood": { "enum": ["calm", "angry"] }, "urgent": { "type": "boolean" } } });
    let config = json!({ "schema": schema, "timeLimitMs": 60_000 });
    let patch = ContextPatch { max_tokens: Some(24), strategy: Some(strategy(EXTRACTION, config)), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let events = world.say(context.id, None, "I am angry, and this is urgent!").await;
    let (begun, message) = started(&events);
    let (reply, error) = ended(&events);
    assert!(error.is_none() && !reply.unwrap().content.is_empty());
    assert!(world.store().read(|r| r.is_read_for_state(message.id)).unwrap(), "its answer was JSON that fits the form");
    for (name, value) in state(&world, begun.id).await {
        assert!(
            matches!((name.as_str(), value.as_str()), ("mood", "\"calm\"" | "\"angry\"") | ("urgent", "true" | "false")),
            "{name} {value}"
        );
    }
    world.service.shutdown().await;
}
