//! The tools: their names, what they take and give, and the way from a call to its answer.

pub(crate) mod chat;
mod context;
mod conversation;
mod preset;
mod recent;

use crate::caller::Caller;
use crate::record::ErrorRecord;
use crate::schema;
use chat::Watch;
use evenkeel_domain::ErrorBody;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};

/// A tool of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Context,
    Preset,
    Chat,
    Conversation,
    Recent,
}

impl Named {
    const ALL: [Self; 5] = [Self::Context, Self::Preset, Self::Chat, Self::Conversation, Self::Recent];

    fn name(self) -> &'static str {
        match self {
            Self::Context => "context-manage",
            Self::Preset => "personality-preset-manage",
            Self::Chat => "context-chat",
            Self::Conversation => "conversation-manage",
            Self::Recent => "get_recent_context",
        }
    }

    /// The tool of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// All names, as a refusal lists them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Does what the tool is for.
    pub async fn call(self, caller: &Caller, arguments: Option<JsonObject>, watch: Watch) -> Result<Given, ErrorBody> {
        match self {
            Self::Context => Ok(Given::of(&context::manage(caller, schema::read(arguments)?).await?)),
            Self::Preset => Ok(Given::of(&preset::manage(caller, schema::read(arguments)?).await?)),
            Self::Conversation => Ok(Given::of(&conversation::manage(caller, schema::read(arguments)?).await?)),
            Self::Recent => Ok(Given::of(&recent::get(caller, schema::read(arguments)?).await?)),
            Self::Chat => {
                let answer = chat::chat(caller, schema::read(arguments)?, watch).await?;
                Ok(Given { text: answer.spoken(), ..Given::of(&answer) })
            }
        }
    }

    /// The tool as it is listed.
    pub fn listed(self) -> Tool {
        let (title, description, input, output) = match self {
            Self::Context => (
                "Manage contexts",
                "Creates, lists, reads, changes and deletes contexts: named companions with a stable personality, their \
                 settings and their lifetime. A deleted context goes to the trash of Evenkeel, from where it can be restored.",
                schema::input::<context::ContextManage>(),
                schema::output::<context::ContextManaged>(),
            ),
            Self::Preset => (
                "Manage personality presets",
                "Creates, lists, reads, changes and deletes presets: templates that contexts are made from. Contexts that \
                 were made from a preset stay as they are. A preset that ships with Evenkeel is hidden instead of deleted.",
                schema::input::<preset::PresetManage>(),
                schema::output::<preset::PresetManaged>(),
            ),
            Self::Chat => (
                "Talk to a context",
                "Sends a message to a context and gives its reply, with the conversation so far as its memory. Goes on in \
                 the context's most recent conversation, or in the one that sessionId names. The reply comes from the \
                 model that the user chose in Evenkeel, or from the program's own by sampling where the user wants that. Progress is told while it grows, and cancelling stops it; what had \
                 arrived is kept.",
                schema::input::<chat::ContextChat>(),
                schema::output::<chat::ContextChatted>(),
            ),
            Self::Conversation => (
                "Manage conversation records",
                "Lists and deletes the messages of a context. conversationIds are the ids of messages; sessionId names one \
                 conversation of the context. Deleted messages can be brought back in Evenkeel for a while.",
                schema::input::<conversation::ConversationManage>(),
                schema::output::<conversation::ConversationManaged>(),
            ),
            Self::Recent => (
                "What tools did",
                "Gives what tools did last in a conversation, with arguments, results and what matters of them: ids, status \
                 changes, counts, answers that were selected or deselected, files. Answers such as: what did you just change?",
                schema::input::<recent::GetRecentContext>(),
                schema::output::<recent::RecentContext>(),
            ),
        };
        let mut tool = Tool::new(self.name(), description, input).with_title(title).with_raw_output_schema(output);
        tool.annotations = Some(self.annotations(title));
        tool
    }

    /// Most tools also change something, so all but one are not read-only. A call of a tool that deletes is not the same twice: it may make
    /// something.
    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title).read_only(false);
        match self {
            Self::Recent => hints.read_only(true).destructive(false).idempotent(true).open_world(false),
            // A reply may come from a provider elsewhere.
            Self::Chat => hints.destructive(false).idempotent(false).open_world(true),
            Self::Conversation => hints.destructive(true).idempotent(true).open_world(false),
            Self::Context | Self::Preset => hints.destructive(true).idempotent(false).open_world(false),
        }
    }
}

/// All tools, as they are listed.
pub(crate) fn listed() -> Vec<Tool> {
    Named::ALL.into_iter().map(Named::listed).collect()
}

/// What a tool gives.
pub(crate) struct Given {
    structured: Value,
    /// For who reads no structure.
    text: Vec<String>,
}

impl Given {
    fn of(answer: &impl Serialize) -> Self {
        let structured = serde_json::to_value(answer).unwrap_or_default();
        Self { text: vec![structured.to_string()], structured }
    }
}

/// The answer to a call, whether it went well or not.
pub(crate) fn answered(outcome: Result<Given, ErrorBody>) -> CallToolResult {
    match outcome {
        Ok(given) => {
            let mut result = CallToolResult::success(given.text.into_iter().map(ContentBlock::text).collect());
            result.structured_content = Some(given.structured);
            result
        }
        Err(error) => {
            let error = ErrorRecord::from(error);
            let text = serde_json::to_string(&error).unwrap_or_default();
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            // What every output schema allows: some clients check it here too.
            result.structured_content = Some(json!({ "success": false, "message": &error.message, "error": error }));
            result
        }
    }
}
