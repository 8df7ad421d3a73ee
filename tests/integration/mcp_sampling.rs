//! Replies by the model of the program that asks (MCP sampling), with the protocol library's own client of the older era.
#![expect(deprecated, reason = "newer revisions of the protocol have no sampling")]

use crate::mcp::eras;
use crate::recall::{FACT, QUESTION, asked, other, set};
use crate::support::World;
use evenkeel_domain::*;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ErrorData,
    Implementation, SamplingMessage,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const NAME: &str = "Lender";

/// A program that lends its model, where it offers that.
#[derive(Clone, Default)]
struct Lender {
    offers: bool,
    asked: Arc<Mutex<Vec<CreateMessageRequestParams>>>,
    /// Text and reason of the end; without one more the program's user declines.
    answers: Arc<Mutex<VecDeque<(&'static str, &'static str)>>>,
}

impl ClientHandler for Lender {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.offers {
            true => ClientCapabilities::builder().enable_sampling().build(),
            false => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new(NAME, "1"))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.asked.lock().unwrap().push(params);
        let Some((text, reason)) = self.answers.lock().unwrap().pop_front() else {
            return Err(ErrorData::invalid_request("the user declined", None));
        };
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), "lent-model-1".into()).with_stop_reason(reason))
    }
}

impl Lender {
    fn offering() -> Self {
        Self { offers: true, ..Self::default() }
    }

    /// Connects, has been there before, and is to reply with its own model.
    async fn connected(&self, world: &World, era: ClientLifecycleMode, contexts: Option<Vec<ContextId>>) -> Connected {
        let (near, far) = tokio::io::duplex(1 << 16);
        let served = world.service.clone();
        tokio::spawn(async move {
            let (read, write) = tokio::io::split(near);
            served.serve_mcp(read, write).await.unwrap();
        });
        let client = Connected(self.clone().serve_with_lifecycle(far, era).await.unwrap());
        client.called("context-manage", json!({ "action": "list" })).await;
        let grant = ConnectionGrant { may_chat: true, uses_sampling: true, contexts, ..ConnectionGrant::default() };
        world.service.connection_set_grant(NAME.into(), grant).await.unwrap();
        client
    }
}

struct Connected(RunningService<RoleClient, Lender>);

impl Connected {
    async fn called(&self, tool: &'static str, arguments: Value) -> Value {
        let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap());
        self.0.peer().call_tool(params).await.unwrap().structured_content.unwrap()
    }

    async fn chat(&self, context: &Context, message: &str) -> Value {
        self.called("context-chat", json!({ "contextId": context.id, "message": message })).await
    }
}

#[tokio::test]
async fn a_program_of_the_older_era_replies_with_its_own_model_and_the_reply_is_kept_like_any_other() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let lender = Lender::offering();
    let client = lender.connected(&world, ClientLifecycleMode::Initialize, None).await;
    lender.answers.lock().unwrap().extend([("I hear you.", "endTurn"), ("It was a", "maxTokens")]);
    let given = client.chat(&context, "Good morning.").await;
    assert_eq!((&given["success"], &given["response"]), (&json!(true), &json!("I hear you.")), "{given}");
    let cut = client.chat(&context, "How was it?").await;
    assert!(cut["message"].as_str().unwrap().contains("was cut"), "{cut}");

    let asked = lender.asked.lock().unwrap().clone();
    let [first, second] = &asked[..] else { panic!("{asked:?}") };
    assert!(first.system_prompt.as_ref().unwrap().contains(context.system_prompt.trim()));
    assert_eq!((first.max_tokens, first.temperature), (context.max_tokens, Some(context.temperature)));
    let texts = |params: &CreateMessageRequestParams| -> Vec<String> {
        params.messages.iter().map(|message| message.content.first().unwrap().as_text().unwrap().text.clone()).collect()
    };
    assert!(texts(first)[0].contains("Good morning."), "{first:?}");
    let [said, reply, next] = &texts(second)[..] else { panic!("{second:?}") };
    assert!(said.contains("Good morning.") && reply == "I hear you." && next.contains("How was it?"), "{second:?}");
    assert_eq!(world.server.requests(), Vec::<Value>::new(), "no model of the app was asked");

    let conversation = world.conversations(context.id).await.items.remove(0);
    let messages = world.service.conversation_open(conversation.id).await.unwrap().messages;
    assert_eq!(messages[1].model.as_ref().unwrap().model, "lent-model-1");
    let receipt = world.service.receipt_get(messages[1].id).await.unwrap().unwrap();
    assert_eq!((receipt.provider_name.as_str(), receipt.address.as_str()), ("MCP sampling: Lender", "mcp-sampling:Lender"));
    assert_eq!(receipt.model.model, "lent-model-1");
    let request = world.service.receipt_request(messages[1].id).await.unwrap();
    assert!(request.matches && request.curl.is_empty(), "{request:?}");
    let mut sent = first.clone();
    sent.meta = None;
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(read(&request.body), read(&serde_json::to_string(&sent).unwrap()));

    let refused = client.chat(&context, "And now?").await["error"].clone();
    assert_eq!(refused["code"], json!("provider_rejected"));
    assert!(refused["message"].as_str().unwrap().contains("the user declined"), "{refused}");
    assert!(!refused["details"]["userMessageId"].is_null(), "what was said is stored: {refused}");
    // The user decides otherwise, and the app's model replies.
    let grant = ConnectionGrant { may_chat: true, ..ConnectionGrant::default() };
    world.service.connection_set_grant(NAME.into(), grant).await.unwrap();
    world.server.push(evenkeel_testkit::scripted_server::Answer::reply(&["Of Evenkeel."]));
    assert_eq!(client.chat(&context, "And now?").await["response"], json!("Of Evenkeel."));
    assert_eq!(lender.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn what_stays_on_this_machine_is_in_no_request_for_sampling() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    let patch = ContextPatch { local_only: Some(true), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    let lender = Lender::offering();
    let client = lender.connected(&world, ClientLifecycleMode::Initialize, Some(vec![context.id])).await;
    let refused = client.chat(&context, "Good morning.").await["error"].clone();
    assert_eq!(refused["code"], json!("local_only"), "{refused}");
    assert!(lender.asked.lock().unwrap().is_empty());
    assert_eq!(world.conversations(context.id).await.total_count, 0, "nothing was stored");
}

#[tokio::test]
async fn a_program_that_offers_no_sampling_is_told_what_to_do() {
    let [legacy, modern] = eras();
    for (lender, era) in [(Lender::default(), legacy), (Lender::offering(), modern)] {
        let world = World::new().await;
        world.scripted_provider().await;
        let context = world.counselor().await;
        let client = lender.connected(&world, era, None).await;
        let refused = client.chat(&context, "Good morning.").await["error"].clone();
        assert_eq!(refused["code"], json!("no_model"), "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("Settings, Connections"), "{refused}");
        assert_eq!(world.conversations(context.id).await.total_count, 0, "nothing was stored");
        assert!(lender.asked.lock().unwrap().is_empty() && world.server.requests().is_empty());
    }
}

#[tokio::test]
async fn nothing_is_recalled_for_a_model_that_a_program_lends() {
    let world = World::new().await;
    world.scripted_provider().await;
    let (context, hidden) = (world.counselor().await, other(&world).await);
    world.exchange(hidden.id, None, FACT, "Noted.").await;
    let linked = vec![hidden.id];
    let context = set(&world, &context, |recall| recall.linked = linked).await;
    assert!(asked(&world, &context, QUESTION).await.0.contains("greyhound"), "the app's own model is told");
    let lender = Lender::offering();
    let client = lender.connected(&world, ClientLifecycleMode::Initialize, Some(vec![context.id])).await;
    lender.answers.lock().unwrap().push_back(("I do not know.", "endTurn"));
    client.chat(&context, QUESTION).await;
    let sent = serde_json::to_string(&*lender.asked.lock().unwrap()).unwrap();
    assert!(sent.contains("adopting") && !sent.contains("greyhound"), "{sent}");
}
