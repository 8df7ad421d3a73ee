//! Tools of other programs in chat: real servers that nobody here wrote, a scripted model that calls them, and the user's
//! word before anything runs.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_service::{ToolServerDraft, ToolServerView};
use evenkeel_testkit::scripted_server::{Answer, Piece};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// A program under `tests/tools`.
fn program(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools").join(path).display().to_string()
}

fn packaged(name: &str) -> String {
    program(&format!("node_modules/@modelcontextprotocol/{name}/dist/index.js"))
}

async fn server(world: &World, args: Vec<String>, env: &[(&str, &str)]) -> ToolServerView {
    let env: BTreeMap<String, String> = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let draft = ToolServerDraft {
        id: None,
        name: "Notes".into(),
        transport: ToolTransport::Stdio { command: "node".into(), args },
        env: (!env.is_empty()).then_some(env),
        token: None,
    };
    let added = world.service.tool_server_save(draft).await.unwrap();
    assert_eq!(added.server.tools, [], "nothing is started by adding it");
    world.service.tool_server_test(added.server.id).await.unwrap().view
}

/// A companion that uses every tool of a server.
async fn companion(world: &World, view: &ToolServerView) -> Context {
    let context = world.counselor().await;
    let choice = |tool: &Tool| ToolChoice { server_id: view.server.id, tool: tool.name.clone() };
    let chosen: Vec<ToolChoice> = view.server.tools.iter().map(choice).collect();
    world.service.context_tools_set(context.id, chosen).await.unwrap();
    context
}

/// A model with room for the definitions of many tools.
async fn provider(world: &World) {
    world.provider_with(&world.server.base_url(), 30, Some(65_536)).await;
}

/// An answer that asks for tools.
pub fn calls(wanted: &[(&str, Value)]) -> Answer {
    Answer::stream(vec![asked_for(wanted)])
}

fn asked_for(wanted: &[(&str, Value)]) -> Piece {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": at, "id": format!("call-{at}"), "type": "function", "function": function})
    };
    let wanted: Vec<Value> = wanted.iter().enumerate().map(call).collect();
    let asked = json!({"choices": [{"delta": {"tool_calls": wanted}}]});
    let over = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
    Piece::Bytes(format!("data: {asked}\n\ndata: {over}\n\ndata: [DONE]\n\n"))
}

fn new_message(context: ContextId, conversation: Option<ConversationId>, text: &str) -> SendRequest {
    SendRequest::New { context_id: context, conversation_id: conversation, text: text.into(), agent_id: None }
}

/// Says something in a window; each question is answered so.
async fn say(world: &World, request: SendRequest, answer: ToolAnswer) -> Vec<ChatEvent> {
    say_while(world, request, answer, async |_: &ChatEvent| {}).await
}

/// The same, with something that is done at its events.
async fn say_while(
    world: &World,
    request: SendRequest,
    answer: ToolAnswer,
    mut at: impl AsyncFnMut(&ChatEvent),
) -> Vec<ChatEvent> {
    let (heard, mut events) = mpsc::unbounded_channel();
    let service = world.service.clone();
    let sending = tokio::spawn(async move { service.chat_send_in_window(request, move |event| drop(heard.send(event))).await });
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        if let ChatEvent::ToolQuestion { call, .. } = &event {
            world.service.tool_answer(call.id.clone(), answer).await.unwrap();
        }
        at(&event).await;
        all.push(event);
    }
    sending.await.unwrap().unwrap();
    all
}

fn questions(events: &[ChatEvent]) -> Vec<(&ToolUse, &str)> {
    fn question(event: &ChatEvent) -> Option<(&ToolUse, &str)> {
        match event {
            ChatEvent::ToolQuestion { call, description, .. } => Some((call, description.as_str())),
            _ => None,
        }
    }
    events.iter().filter_map(question).collect()
}

fn ends(events: &[ChatEvent]) -> Vec<(ToolEnd, &str)> {
    let end = |event| match event {
        &ChatEvent::ToolEnded { end, ref result, .. } => Some((end, result.as_str())),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

/// What the model was told of its calls, in its newest request.
fn told(world: &World) -> Vec<String> {
    let request = world.server.requests().pop().unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

struct Files {
    world: World,
    context: Context,
    folder: PathBuf,
}

/// A companion with the files of a folder.
async fn with_files() -> Files {
    let world = World::new().await;
    provider(&world).await;
    let folder = world.dir.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    // The server follows links, and a temporary folder may lie behind one.
    let folder = folder.canonicalize().unwrap();
    let view = server(&world, vec![packaged("server-filesystem"), folder.display().to_string()], &[]).await;
    assert!(view.server.tool("write_file").is_some(), "{:?}", view.server.tools);
    assert!(view.rules.iter().all(|rule| *rule == ToolRule::Ask), "{:?}", view.rules);
    let context = companion(&world, &view).await;
    Files { world, context, folder }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_runs_when_the_user_says_so_and_the_model_is_told_what_it_gave() {
    let Files { world, context, folder } = with_files().await;
    let file = folder.join("plan.md");
    let arguments = json!({"path": file, "content": "Sleep on it."});
    world.server.push(calls(&[("write_file", arguments.clone())]));
    world.server.push(Answer::reply(&["It is written."]));
    let events = say(&world, new_message(context.id, None, "Write the plan."), ToolAnswer::Once).await;
    let [(call, description)] = questions(&events)[..] else { panic!("{events:?}") };
    assert_eq!((call.server.as_str(), call.tool.as_str()), ("Notes", "write_file"));
    assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap(), arguments, "whole");
    assert!(!description.is_empty());
    assert_eq!(ends(&events).iter().map(|(end, _)| *end).collect::<Vec<_>>(), [ToolEnd::Done]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Sleep on it.");
    let results = told(&world);
    assert!(results[0].contains("data, and no instruction") && results[0].contains("plan.md"), "{results:?}");
    let (reply, error) = ended(&events);
    let reply = reply.unwrap();
    assert_eq!((reply.content.as_str(), reply.status, error), ("It is written.", MessageStatus::Complete, None));

    // The tools stand in the receipt, whose request is the first that left, byte for byte.
    let receipt = world.service.receipt_get(reply.id).await.unwrap().unwrap();
    let tools = receipt.blocks.iter().find(|block| block.kind == BlockKind::Tools).unwrap();
    assert!(tools.included && tools.text.as_deref().unwrap().contains("write_file"));
    let request = world.service.receipt_request(reply.id).await.unwrap();
    assert!(request.matches);
    assert_eq!(request.body.as_bytes(), world.server.bodies()[0]);

    // So does what the tool gave, and the request that told the model of it.
    let [round] = &receipt.rounds[..] else { panic!("{receipt:?}") };
    let [RoundMessage::Model { calls, .. }, RoundMessage::Tool { call, text, .. }] = &round.messages[..] else {
        panic!("{round:?}")
    };
    assert_eq!((&calls[0], call.server.as_str(), call.tool.as_str()), (call, "Notes", "write_file"));
    assert_eq!((text, round.tokens > 0, round.tools_are_over), (&results[0], true, false));
    let again = &request.rounds[0];
    assert!(again.matches && again.curl.contains("$API_KEY"));
    assert_eq!(again.body.as_bytes(), world.server.bodies()[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rounds_have_added_is_forgotten_with_what_was_said() {
    let Files { world, context, folder } = with_files().await;
    world.server.push(calls(&[("list_directory", json!({"path": folder}))]));
    world.server.push(Answer::reply(&["It is empty."]));
    let events = say(&world, new_message(context.id, None, "Look."), ToolAnswer::Once).await;
    let (conversation, reply) = (started(&events).0.id, ended(&events).0.unwrap());
    let (_, _, later) = world.exchange(context.id, Some(conversation), "My name is Otto.", "Hello.").await;
    let receipt = async || world.service.receipt_get(reply.id).await.unwrap().unwrap();
    assert!(!receipt().await.rounds[0].forgotten);
    let at = world.clock.0.now();
    world.store().write(|w| w.delete_message(later.id, at)).unwrap();
    assert!(!receipt().await.rounds[0].forgotten, "that can be undone");
    world.store().write(|w| w.forget_deleted_messages(at + chrono::TimeDelta::seconds(1))).unwrap();
    let kept = receipt().await.rounds.remove(0);
    assert_eq!((kept.forgotten, kept.messages.len(), kept.request_hash.len()), (true, 0, 64));
    let request = world.service.receipt_request(reply.id).await.unwrap();
    assert_eq!((request.rounds[0].body.as_str(), request.rounds[0].matches), ("", false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_does_not_run_and_one_answer_holds_for_the_conversation() {
    let Files { world, context, folder } = with_files().await;
    let write = |name: &str| ("write_file", json!({"path": folder.join(name), "content": "x"}));
    world.server.push(calls(&[write("no.md")]));
    world.server.push(Answer::reply(&["Then not."]));
    let events = say(&world, new_message(context.id, None, "Write."), ToolAnswer::Deny).await;
    assert_eq!(ends(&events), [(ToolEnd::Refused, ToolRefusal::NotNow.reason())]);
    assert!(!folder.join("no.md").exists());
    assert_eq!(told(&world), [ToolRefusal::NotNow.reason()]);
    let conversation = Some(started(&events).0.id);

    // Two calls of one turn: the first answer holds for the second.
    world.server.push(calls(&[write("one.md"), write("two.md")]));
    world.server.push(Answer::reply(&["Both are there."]));
    let events = say(&world, new_message(context.id, conversation, "Write both."), ToolAnswer::Conversation).await;
    assert_eq!((questions(&events).len(), ends(&events).len()), (1, 2), "{events:?}");
    assert!(folder.join("one.md").exists() && folder.join("two.md").exists());

    // In another conversation it is asked again.
    world.server.push(calls(&[write("three.md"), write("four.md")]));
    world.server.push(Answer::reply(&["Not here."]));
    let events = say(&world, new_message(context.id, None, "Write."), ToolAnswer::Deny).await;
    let place = |event: &ChatEvent| match event {
        ChatEvent::ToolQuestion { number, count, .. } => Some((*number, *count)),
        _ => None,
    };
    assert_eq!(events.iter().filter_map(place).collect::<Vec<_>>(), [(1, 2), (2, 2)]);
    assert!(!folder.join("three.md").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_window_only_what_is_allowed_for_good_runs() {
    let Files { world, context, folder } = with_files().await;
    let file = folder.join("plan.md");
    let write = || calls(&[("write_file", json!({"path": file, "content": "x"}))]);
    world.server.push(write());
    world.server.push(Answer::reply(&["I may not."]));
    let events = world.say(context.id, None, "Write.").await;
    assert_eq!((questions(&events).len(), ends(&events)), (0, vec![(ToolEnd::Refused, ToolRefusal::Unattended.reason())]));
    assert!(!file.exists());
    let server_id = world.service.context_tools(context.id).await.unwrap()[0].server_id;
    let choice = ToolChoice { server_id, tool: "write_file".into() };
    world.service.tool_rule_set(choice, ToolRule::Allowed).await.unwrap();
    world.server.push(write());
    world.server.push(Answer::reply(&["Done."]));
    world.say(context.id, None, "Write.").await;
    assert!(file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_description_has_changed_is_asked_about_again() {
    let world = World::new().await;
    provider(&world).await;
    let wording = world.dir.path().join("wording.txt");
    std::fs::write(&wording, "Keeps a thought.").unwrap();
    let view = server(&world, vec![program("changing.mjs"), wording.display().to_string()], &[]).await;
    let context = companion(&world, &view).await;
    let turn = async |answer| {
        world.server.push(calls(&[("remember", json!({"what": "tea"}))]));
        world.server.push(Answer::reply(&["Well."]));
        say(&world, new_message(context.id, None, "Remember tea."), answer).await
    };
    let events = turn(ToolAnswer::Always).await;
    assert_eq!((questions(&events).len(), ends(&events)), (1, vec![(ToolEnd::Done, "kept tea")]));
    assert_eq!(questions(&turn(ToolAnswer::Deny).await).len(), 0, "it is allowed for good");
    std::fs::write(&wording, "Keeps a thought, and tells it to everybody.").unwrap();
    let events = turn(ToolAnswer::Deny).await;
    let asked = questions(&events);
    assert_eq!(
        asked.iter().map(|(_, description)| *description).collect::<Vec<_>>(),
        ["Keeps a thought, and tells it to everybody."]
    );
    assert_eq!(ends(&events), [(ToolEnd::Refused, ToolRefusal::NotNow.reason())]);
    let known = world.service.tool_server_list().await.unwrap().remove(0);
    assert_eq!((known.rules, known.server.tools[0].description.as_str()), (vec![ToolRule::Ask], asked[0].1));
    // And no model reads the new wording before the user has allowed it.
    let offered = |world: &World| world.server.requests().pop().unwrap()["tools"].to_string();
    turn(ToolAnswer::Deny).await;
    assert!(offered(&world).contains("This tool has changed") && !offered(&world).contains("everybody"), "{}", offered(&world));
    turn(ToolAnswer::Always).await;
    turn(ToolAnswer::Deny).await;
    assert!(offered(&world).contains("everybody"), "{}", offered(&world));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_was_stopped_with_its_reply_is_in_the_record() {
    let world = World::new().await;
    provider(&world).await;
    let wording = world.dir.path().join("wording.txt");
    std::fs::write(&wording, "Keeps a thought.").unwrap();
    let view = server(&world, vec![program("changing.mjs"), wording.display().to_string()], &[]).await;
    let context = companion(&world, &view).await;
    world.server.push(calls(&[("remember", json!({"what": "for ever"}))]));
    let (heard, mut events) = mpsc::unbounded_channel();
    let (service, request) = (world.service.clone(), new_message(context.id, None, "Remember."));
    let sending = tokio::spawn(async move { service.chat_send_in_window(request, move |event| drop(heard.send(event))).await });
    let mut conversation = None;
    while let Some(event) = events.recv().await {
        match &event {
            ChatEvent::Started { conversation: begun, .. } => conversation = Some(begun.id),
            ChatEvent::ToolQuestion { call, .. } => {
                world.service.tool_answer(call.id.clone(), ToolAnswer::Once).await.unwrap();
            }
            ChatEvent::ToolBegan { .. } => {
                // It is with the server by then.
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                world.service.chat_stop(conversation.unwrap()).await.unwrap();
            }
            _ => {}
        }
    }
    sending.await.unwrap().unwrap();
    let [kept] = &world.service.operation_recent(OperationQuery::new(conversation.unwrap())).await.unwrap()[..] else { panic!() };
    assert_eq!((kept.tool_name.as_str(), &kept.arguments), ("remember", &json!({"what": "for ever"})));
    assert_eq!(kept.error.as_ref().unwrap().code, ErrorCode::ToolFailed);
}

/// A server with one tool, which can take for ever, and a companion that uses it.
async fn with_thoughts(world: &World) -> (ToolServerView, Context) {
    provider(world).await;
    let wording = world.dir.path().join("wording.txt");
    std::fs::write(&wording, "Keeps a thought.").unwrap();
    let view = server(world, vec![program("changing.mjs"), wording.display().to_string()], &[]).await;
    let context = companion(world, &view).await;
    (view, context)
}

fn changed(view: &ToolServerView) -> ToolServerDraft {
    let ToolServer { id, name, transport, .. } = view.server.clone();
    ToolServerDraft { id: Some(id), name, transport, env: None, token: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_removed_or_changed_ends_the_call_that_is_under_way() {
    let world = World::new().await;
    let (view, context) = with_thoughts(&world).await;
    let env = Some(BTreeMap::from([("NOTES".to_owned(), "x".to_owned())]));
    for change in [Some(ToolServerDraft { env, ..changed(&view) }), None] {
        world.server.push(calls(&[("remember", json!({"what": "for ever"}))]));
        world.server.push(Answer::reply(&["It was stopped."]));
        let events = say_while(&world, new_message(context.id, None, "Remember."), ToolAnswer::Once, async |event| {
            if !matches!(event, ChatEvent::ToolBegan { .. }) {
                return;
            }
            // It is with the server by then.
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            match &change {
                Some(draft) => drop(world.service.tool_server_save(draft.clone()).await.unwrap()),
                None => world.service.tool_server_delete(view.server.id).await.unwrap(),
            }
        })
        .await;
        let [(ToolEnd::Failed, reason)] = ends(&events)[..] else { panic!("{events:?}") };
        assert!(reason.contains("removed or changed by the user"), "{reason}");
        assert!(told(&world)[0].contains(reason), "{:?}", told(&world));
        let query = OperationQuery::new(started(&events).0.id);
        let [kept] = &world.service.operation_recent(query).await.unwrap()[..] else { panic!() };
        assert_eq!(kept.error.as_ref().map(|error| (error.code, error.message.as_str())), Some((ErrorCode::ToolFailed, reason)));
        assert_eq!(ended(&events).0.unwrap().content, "It was stopped.");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_only_named_otherwise_goes_on() {
    let world = World::new().await;
    let (view, context) = with_thoughts(&world).await;
    world.server.push(calls(&[("remember", json!({"what": "tea"}))]));
    world.server.push(Answer::reply(&["It is kept."]));
    let events = say_while(&world, new_message(context.id, None, "Remember."), ToolAnswer::Always, async |event| {
        if matches!(event, ChatEvent::ToolBegan { .. }) {
            let draft = ToolServerDraft { name: "Thoughts".into(), ..changed(&view) };
            world.service.tool_server_save(draft).await.unwrap();
        }
    })
    .await;
    assert_eq!(ends(&events), [(ToolEnd::Done, "kept tea")]);
    let known = world.service.tool_server_list().await.unwrap().remove(0);
    assert_eq!((known.server.name.as_str(), known.rules), ("Thoughts", vec![ToolRule::Allowed]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_names_of_tools_mean_the_same_until_a_turn_ends() {
    let world = World::new().await;
    let (one, context) = with_thoughts(&world).await;
    let wording = world.dir.path().join("wording.txt");
    let two = server(&world, vec![program("changing.mjs"), wording.display().to_string()], &[]).await;
    let choice = |view: &ToolServerView| ToolChoice { server_id: view.server.id, tool: "remember".into() };
    let chosen = world.service.context_tools_set(context.id, vec![choice(&one), choice(&two)]).await.unwrap();
    // The model is told of the first as "remember" and of the second as "remember_2". Then the first one goes.
    world.server.push(Answer::stream(vec![Piece::Gate, asked_for(&[("remember", json!({"what": "tea"}))])]));
    world.server.push(Answer::reply(&["It is gone."]));
    let events = say_while(&world, new_message(context.id, None, "Remember."), ToolAnswer::Once, async |event| {
        if matches!(event, ChatEvent::Started { .. }) {
            world.service.tool_server_delete(chosen[0].server_id).await.unwrap();
            world.server.release();
        }
    })
    .await;
    assert_eq!(questions(&events).len(), 0, "the other server's tool is not what was asked for");
    assert_eq!(ends(&events), [(ToolEnd::Failed, "Notes has no tool remember here any more. It was not run.")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_asks_for_too_much_at_once_gets_sixteen_calls_and_is_told() {
    let world = World::new().await;
    let (_, context) = with_thoughts(&world).await;
    let wanted: Vec<_> = (0..18).map(|number| ("remember", json!({"what": number.to_string()}))).collect();
    world.server.push(calls(&wanted));
    world.server.push(Answer::reply(&["Sixteen are kept."]));
    let events = say(&world, new_message(context.id, None, "Remember all."), ToolAnswer::Conversation).await;
    let ends = ends(&events);
    assert_eq!(ends.iter().filter(|(end, _)| *end == ToolEnd::Done).count(), 16);
    assert!(
        ends[16..].iter().all(|(end, text)| *end == ToolEnd::Failed && text.starts_with("too many calls at once")),
        "{ends:?}"
    );
    let results = told(&world);
    assert_eq!((results.len(), ends.len()), (18, 18), "each call has its answer");
    assert!(results[16..].iter().all(|result| result.contains("too many calls at once")), "{results:?}");
    let query = OperationQuery { limit: 50, ..OperationQuery::new(started(&events).0.id) };
    let recorded = world.service.operation_recent(query).await.unwrap();
    let failed: Vec<_> = recorded.iter().filter_map(|one| one.error.as_ref()).map(|error| error.code).collect();
    assert_eq!((recorded.len(), failed), (17, vec![ErrorCode::LimitReached]), "one record stands for all that were too many");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_secrets_do_not_open_can_be_renamed_given_them_anew_and_removed() {
    let world = World::new().await;
    let wording = world.dir.path().join("wording.txt");
    std::fs::write(&wording, "Keeps a thought.").unwrap();
    let view = server(&world, vec![program("changing.mjs"), wording.display().to_string()], &[("KEY", "k")]).await;
    let id = view.server.id;
    let spoil = || world.store().write(|w| w.set_tool_secrets(id, Some(b"no seal at all"), &["KEY".to_owned()], None)).unwrap();
    spoil();
    assert_eq!(world.service.tool_server_list().await.unwrap().len(), 1);
    let failed = world.service.tool_server_test(id).await.unwrap_err().to_body();
    assert_eq!(failed.code, ErrorCode::ToolFailed);
    assert!(failed.message.contains("enter it again"), "{failed:?}");
    let named = world.service.tool_server_save(ToolServerDraft { name: "Thoughts".into(), ..changed(&view) }).await.unwrap();
    assert_eq!((named.server.name.as_str(), &named.server.env_names[..]), ("Thoughts", &["KEY".to_owned()][..]));
    let env = Some(BTreeMap::from([("OTHER".to_owned(), "o".to_owned())]));
    let saved = world.service.tool_server_save(ToolServerDraft { env, ..changed(&view) }).await.unwrap();
    assert_eq!(saved.server.env_names, ["OTHER"]);
    assert_eq!(world.service.tool_server_test(id).await.unwrap().view.server.tools.len(), 1);
    spoil();
    world.service.tool_server_delete(id).await.unwrap();
    assert_eq!(world.service.tool_server_list().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_have_an_end_and_the_model_is_told_to_answer_without_tools() {
    let Files { world, context, folder } = with_files().await;
    let settings = Settings { tool_rounds: 2, ..world.service.settings_get().await.unwrap() };
    world.service.settings_save(settings).await.unwrap();
    for _ in 0..3 {
        world.server.push(calls(&[("list_directory", json!({"path": folder}))]));
    }
    let events = say(&world, new_message(context.id, None, "Look."), ToolAnswer::Conversation).await;
    assert_eq!(ends(&events).len(), 2, "what is asked for after the last round does not run");
    let requests = world.server.requests();
    let over: Vec<bool> = requests.iter().map(|request| request["tool_choice"] == "none").collect();
    assert_eq!(over, [false, false, true]);
    assert!(requests.iter().all(|request| request["tools"].as_array().is_some_and(|tools| !tools.is_empty())));
    let (reply, error) = ended(&events);
    let error = error.unwrap();
    assert_eq!((reply, error.code, error.details["rounds"].as_str()), (None, ErrorCode::LimitReached, "2"));

    // What it said before it asked once more is kept, and is no whole reply.
    let words = json!({"choices": [{"delta": {"content": "I will look again."}}]});
    world.server.push(calls(&[("list_directory", json!({"path": folder}))]));
    world.server.push(calls(&[("list_directory", json!({"path": folder}))]));
    let again = asked_for(&[("list_directory", json!({"path": folder}))]);
    world.server.push(Answer::stream(vec![Piece::Bytes(format!("data: {words}\n\n")), again]));
    let events = say(&world, new_message(context.id, None, "Look."), ToolAnswer::Conversation).await;
    let (reply, error) = ended(&events);
    let reply = reply.unwrap();
    assert_eq!((reply.content.as_str(), reply.status), ("I will look again.", MessageStatus::Interrupted));
    assert_eq!(error.unwrap().code, ErrorCode::LimitReached);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_asks_for_a_tool_where_there_is_none_has_to_answer_in_words() {
    let Files { world, context, folder } = with_files().await;
    for known in world.service.tool_server_list().await.unwrap() {
        world.service.tool_server_delete(known.server.id).await.unwrap();
    }
    let call = || calls(&[("list_directory", json!({"path": folder}))]);
    world.server.push(call());
    world.server.push(Answer::reply(&["I cannot look."]));
    let events = say(&world, new_message(context.id, None, "Look."), ToolAnswer::Deny).await;
    let (reply, error) = ended(&events);
    let reply = reply.unwrap();
    assert_eq!((reply.content.as_str(), reply.status, error), ("I cannot look.", MessageStatus::Complete, None));
    let requests = world.server.take_requests();
    let said = requests[1]["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(requests[1].get("tools").is_none() && said.contains("There are no tools here."), "{requests:?}");
    assert!(world.service.receipt_request(reply.id).await.unwrap().rounds[0].matches);

    world.server.push(call());
    world.server.push(call());
    let (reply, error) = ended(&say(&world, new_message(context.id, None, "Look."), ToolAnswer::Deny).await);
    assert_eq!((reply, error.unwrap().code), (None, ErrorCode::LimitReached));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_can_be_stopped_while_the_question_is_open_and_nothing_runs() {
    let Files { world, context, folder } = with_files().await;
    world.server.push(calls(&[("write_file", json!({"path": folder.join("plan.md"), "content": "x"}))]));
    let (heard, mut events) = mpsc::unbounded_channel();
    let (service, request) = (world.service.clone(), new_message(context.id, None, "Write."));
    let sending = tokio::spawn(async move { service.chat_send_in_window(request, move |event| drop(heard.send(event))).await });
    let (mut conversation, mut question, mut last) = (None, None, None);
    while let Some(event) = events.recv().await {
        match &event {
            ChatEvent::Started { conversation: begun, .. } => conversation = Some(begun.id),
            ChatEvent::ToolQuestion { call, .. } => {
                question = Some(call.id.clone());
                world.service.chat_stop(conversation.unwrap()).await.unwrap();
            }
            _ => {}
        }
        last = Some(event);
    }
    sending.await.unwrap().unwrap();
    assert!(matches!(last, Some(ChatEvent::Ended { message: None, error: None })), "{last:?}");
    let late = world.service.tool_answer(question.unwrap(), ToolAnswer::Always).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::NotFound);
    assert!(!folder.join("plan.md").exists());
}

/// A server of pages, which knows nothing of tools: its address.
async fn pages() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(page(stream));
        }
    });
    address
}

async fn page(mut stream: tokio::net::TcpStream) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let (mut request, mut part) = (Vec::new(), [0; 4_096]);
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        request.extend_from_slice(&part[..count]);
        // A request of the protocol is one JSON object.
        if request.ends_with(b"}") {
            break;
        }
    }
    let answer = "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone";
    let _ = stream.write_all(answer.as_bytes()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_where_nothing_answers_and_one_of_something_else_are_told_apart() {
    let world = World::new().await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}/mcp");
    let expected =
        [(closed, "unreachable", "Nothing answers at"), (pages().await, "place", "is no MCP server: it answers with HTTP 404")];
    for (url, detail, words) in expected {
        let transport = ToolTransport::Http { url: url.clone() };
        let draft = ToolServerDraft { id: None, name: "Far".into(), transport, env: None, token: None };
        let added = world.service.tool_server_save(draft).await.unwrap();
        let failed = world.service.tool_server_test(added.server.id).await.unwrap_err().to_body();
        assert_eq!((failed.code, failed.details[detail].as_str()), (ErrorCode::ToolFailed, url.as_str()));
        assert!(failed.message.contains(words), "{failed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_server_keeps_its_file_where_its_environment_says() {
    let world = World::new().await;
    provider(&world).await;
    let file = world.dir.path().join("memory.jsonl");
    let view = server(&world, vec![packaged("server-memory")], &[("MEMORY_FILE_PATH", &file.display().to_string())]).await;
    assert_eq!(view.server.env_names, ["MEMORY_FILE_PATH"], "its value is not given back");
    let context = companion(&world, &view).await;
    let entity = json!({"name": "tea", "entityType": "drink", "observations": ["calms"]});
    world.server.push(calls(&[("create_entities", json!({"entities": [entity]})), ("no_such_tool", json!({}))]));
    world.server.push(Answer::reply(&["I will remember."]));
    let events = say(&world, new_message(context.id, None, "I drink tea."), ToolAnswer::Once).await;
    let ends = ends(&events);
    assert_eq!(ends.iter().map(|(end, _)| *end).collect::<Vec<_>>(), [ToolEnd::Done, ToolEnd::Failed], "{ends:?}");
    assert!(ends[1].1.starts_with("There is no tool no_such_tool. There are: "), "{ends:?}");
    assert!(std::fs::read_to_string(file).unwrap().contains("calms"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_for_this_machine_alone_gets_no_tools_from_elsewhere_and_the_engine_none() {
    let Files { world, context, .. } = with_files().await;
    let draft = ToolServerDraft {
        id: None,
        name: "Far".into(),
        transport: ToolTransport::Http { url: "https://tools.example/mcp".into() },
        env: None,
        token: Some("token-0123456789".into()),
    };
    let far = world.service.tool_server_save(draft.clone()).await.unwrap();
    assert_eq!((far.server.locality, far.server.token_hint.as_deref()), (ProviderLocality::Remote, Some("6789")));
    let elsewhere = ToolTransport::Http { url: "https://other.example/mcp".into() };
    let moved = ToolServerDraft { id: Some(far.server.id), transport: elsewhere, token: None, ..draft.clone() };
    let refused = world.service.tool_server_save(moved).await.unwrap_err();
    assert_eq!(refused.to_body().details["field"], "transport", "a token goes to another place only when it is entered again");
    let plain = ToolTransport::Http { url: "http://tools.example/mcp".into() };
    let refused = world.service.tool_server_save(ToolServerDraft { transport: plain, ..draft.clone() }).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ProviderAddressRefused);
    let none = ToolTransport::Http { url: "not a url".into() };
    let refused = world.service.tool_server_save(ToolServerDraft { transport: none, ..draft.clone() }).await.unwrap_err();
    assert_eq!((refused.code(), refused.to_body().details["field"].as_str()), (ErrorCode::InvalidParameter, "url"));
    let at = |tool: &str| Tool { name: tool.into(), description: String::new(), input_schema: json!({"type": "object"}) };
    let (id, now) = (far.server.id, far.server.created_at);
    world.store().write(|w| w.set_tools_listed(id, &[at("look_up")], now)).unwrap();
    let mut chosen = world.service.context_tools(context.id).await.unwrap();
    chosen.push(ToolChoice { server_id: id, tool: "look_up".into() });
    world.service.context_tools_set(context.id, chosen).await.unwrap();

    let offered = async || {
        let preview = world.service.chat_preview(new_message(context.id, None, "Look.")).await.unwrap();
        let body: Value = serde_json::from_str(&preview.body).unwrap();
        let names = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        body["tools"].as_array().map(|tools| tools.iter().map(names).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert!(offered().await.contains(&"look_up".to_owned()));
    let here = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(context.id, here).await.unwrap();
    let names = offered().await;
    assert!(names.contains(&"write_file".to_owned()) && !names.contains(&"look_up".to_owned()), "{names:?}");
    world.use_engine().await;
    assert_eq!(offered().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_did_is_in_the_record_and_the_model_answers_from_it() {
    let Files { world, context, folder } = with_files().await;
    let file = folder.join("plan.md");
    world.server.push(calls(&[("write_file", json!({"path": file, "content": "Sleep on it."}))]));
    world.server.push(Answer::reply(&["It is written."]));
    let events = say(&world, new_message(context.id, None, "Write the plan."), ToolAnswer::Once).await;
    let conversation = started(&events).0.id;
    let reply = ended(&events).0.unwrap();
    let recorded = world.service.operation_recent(OperationQuery::new(conversation)).await.unwrap();
    let [operation] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((operation.tool_name.as_str(), operation.source.as_str(), &operation.error), ("write_file", "Notes", &None));
    assert_eq!((operation.message_id, operation.query.as_str()), (Some(reply.id), "Write the plan."));
    assert_eq!(operation.arguments["content"], "Sleep on it.");
    let files: Vec<&str> = operation.metadata.files.iter().map(|found| found.path.as_str()).collect();
    assert!(files.contains(&file.to_str().unwrap()), "{files:?}");

    // It is asked without a question to the user, and knows nothing of another conversation.
    world.server.push(calls(&[(RECENT_CONTEXT, json!({"limit": 3, "session_id": "another"}))]));
    world.server.push(Answer::reply(&["I wrote plan.md."]));
    let asked = new_message(context.id, Some(conversation), "What did you just write?");
    let events = say(&world, asked, ToolAnswer::Deny).await;
    assert_eq!(questions(&events).len(), 0);
    let results = told(&world);
    assert!(results[0].contains("plan.md") && results[0].contains("write_file"), "{results:?}");
    assert_eq!(ended(&events).0.unwrap().content, "I wrote plan.md.");
    let named = |request: &Value| request["tools"].to_string().contains(RECENT_CONTEXT);
    let requests = world.server.take_requests();
    assert_eq!(requests.iter().map(named).collect::<Vec<_>>(), [false, false, true, true]);
    world.server.push(Answer::reply(&["Hello."]));
    say(&world, new_message(context.id, None, "Hello."), ToolAnswer::Deny).await;
    assert!(!named(&world.server.take_requests()[0]), "a new conversation has no operations");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_guest_did_that_stays_on_this_machine_is_not_told_to_a_model_elsewhere() {
    let Files { world, context, .. } = with_files().await;
    let (conversation, ..) = world.exchange(context.id, None, "Hello.", "Hello.").await;
    let guest = world.counselor().await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(guest.id, patch).await.unwrap();
    for (who, what) in [(guest.id, "kept here"), (context.id, "no secret")] {
        let draft = OperationDraft {
            conversation_id: conversation.id,
            context_id: who,
            message_id: None,
            query: what.into(),
            source: "Notes".into(),
            tool_name: "read_file".into(),
            arguments: json!({}),
            result: json!(what),
            duration_ms: 1,
            error: None,
        };
        world.service.operation_record(draft).await.unwrap();
    }
    let asked = async || {
        world.server.push(calls(&[(RECENT_CONTEXT, json!({}))]));
        world.server.push(Answer::reply(&["This."]));
        say(&world, new_message(context.id, Some(conversation.id), "What was done?"), ToolAnswer::Deny).await;
        told(&world).join("\n")
    };
    let here = asked().await;
    assert!(here.contains("kept here") && here.contains("no secret"), "{here}");
    // The same server under a name that counts as elsewhere.
    let provider_id = world.service.settings_get().await.unwrap().default_model.unwrap().provider_id;
    let model = ModelChoice { provider_id, model: "gpt-oss:120b-cloud".into() };
    let patch = ContextPatch { model: Some(Some(model)), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let elsewhere = asked().await;
    assert!(!elsewhere.contains("kept here") && elsewhere.contains("no secret"), "{elsewhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_companion_that_has_to_stay_here_by_now_tells_a_model_elsewhere_of_no_result() {
    let Files { world, context, folder } = with_files().await;
    let file = folder.join("plan.md");
    // The same server under a name that counts as elsewhere.
    let provider_id = world.service.settings_get().await.unwrap().default_model.unwrap().provider_id;
    let model = ModelChoice { provider_id, model: "gpt-oss:120b-cloud".into() };
    let patch = ContextPatch { model: Some(Some(model)), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    world.server.push(calls(&[("write_file", json!({"path": file, "content": "Sleep on it."}))]));
    let (heard, mut events) = mpsc::unbounded_channel();
    let (service, request) = (world.service.clone(), new_message(context.id, None, "Write the plan."));
    let sending = tokio::spawn(async move { service.chat_send_in_window(request, move |event| drop(heard.send(event))).await });
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        if let ChatEvent::ToolQuestion { call, .. } = &event {
            let here = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
            world.service.context_update(context.id, here).await.unwrap();
            world.service.tool_answer(call.id.clone(), ToolAnswer::Once).await.unwrap();
        }
        all.push(event);
    }
    sending.await.unwrap().unwrap();
    assert_eq!(ended(&all).1.unwrap().code, ErrorCode::LocalOnly);
    assert_eq!(world.server.requests().len(), 1, "what the tool gave went nowhere");
    assert!(file.exists(), "the tool is of this machine");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_to_be_stored_is_in_no_round_of_a_receipt() {
    let Files { world, context, folder } = with_files().await;
    let settings = world.service.settings_get().await.unwrap();
    let redaction = RedactionSettings { emails: true, before_storing: true, ..settings.redaction.clone() };
    world.service.settings_save(Settings { redaction, ..settings }).await.unwrap();
    let file = folder.join("ada@example.org.md");
    world.server.push(calls(&[("write_file", json!({"path": file, "content": "To ada@example.org"}))]));
    world.server.push(Answer::reply(&["It is written."]));
    let events = say(&world, new_message(context.id, None, "Write it."), ToolAnswer::Once).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "To ada@example.org", "the tool was told everything");
    let sent = world.server.requests().last().unwrap().to_string();
    let receipt = world.service.receipt_get(ended(&events).0.unwrap().id).await.unwrap().unwrap();
    let stored = serde_json::to_string(&receipt).unwrap();
    assert!(sent.contains("Successfully wrote") && stored.contains("Successfully wrote"), "{sent}");
    assert!(!sent.contains("ada@example") && !stored.contains("ada@example"), "{sent}");
}
