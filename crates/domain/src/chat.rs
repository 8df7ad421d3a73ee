//! What passes between the window and the chat service.

use crate::{CareCard, ContextId, Conversation, ConversationId, ErrorBody, Message, MessageId, ToolEnd, ToolUse};
use serde::{Deserialize, Serialize};

/// A wish to have an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SendRequest {
    /// A new message at the end of the shown branch. Without a conversation a new one begins.
    New {
        /// Who is to answer.
        context_id: ContextId,
        /// The conversation to go on with.
        conversation_id: Option<ConversationId>,
        /// What the user wrote, 1 byte to the configured limit (1 MiB).
        text: String,
        /// Another context that answers this message under its own persona, model and settings; the
        /// conversation stays with its own context. `None` = that one answers.
        #[serde(default)]
        agent_id: Option<ContextId>,
    },
    /// Another wording of a user message: a sibling of it, and a reply to that.
    Edit {
        /// The user message that is replaced in the shown branch.
        message_id: MessageId,
        /// The new wording.
        text: String,
    },
    /// Another reply to the same user message: a sibling of the given assistant message, or
    /// the first reply where `message_id` is a user message that has none.
    Regenerate {
        /// The assistant message to replace, or the unanswered user message.
        message_id: MessageId,
    },
}

/// What the chat service tells while a reply grows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChatEvent {
    /// The user's message is on disk and the model is being called.
    Started {
        /// The conversation, new or known.
        conversation: Conversation,
        /// The user message that is being answered.
        user_message: Message,
        /// The id the reply will be stored under.
        reply_id: MessageId,
        /// How full the history budget is.
        meter: TokenMeter,
    },
    /// What the user wrote is a sign of danger; it is stored and sent all the same, if it can be.
    Care {
        /// Whom to call.
        card: CareCard,
    },
    /// More text of the reply.
    Text {
        /// What to append.
        delta: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// What to append.
        delta: String,
    },
    /// The engine restarted or a wait is longer than usual.
    Notice {
        /// Key of the sentence to show, with an error's code where one stands behind it.
        error: ErrorBody,
    },
    /// A tool may run only if the user says so; the model waits for the answer.
    ToolQuestion {
        /// What is to be run; its id names the question.
        call: ToolUse,
        /// What the tool does, in its server's words.
        description: String,
        /// The whole command or the address of the server.
        place: String,
        /// Which call of the model's answer it is, counted from 1.
        number: u32,
        /// How many calls of that answer are run, one after the other.
        count: u32,
    },
    /// A tool has begun to run.
    ToolBegan {
        /// What runs.
        call: ToolUse,
    },
    /// A call of a tool is over, and with it the question about it.
    ToolEnded {
        /// The call.
        call: ToolUse,
        /// How it ended.
        end: ToolEnd,
        /// What it gave, or why it did not run.
        result: String,
    },
    /// The reply is on disk. `message.status` tells whether it is whole; `error` why it is not.
    Ended {
        /// The stored reply; `None` if nothing had arrived.
        message: Option<Message>,
        /// Why the reply broke off.
        error: Option<ErrorBody>,
    },
}

/// How full the history budget is, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct TokenMeter {
    /// Tokens of the history in the window.
    pub history_tokens: u32,
    /// Budget of the history: the smaller of `maxHistoryTokens` and what the model's window leaves.
    pub budget_tokens: u32,
    /// Tokens of the whole request.
    pub request_tokens: u32,
    /// The model's window.
    pub window_tokens: u32,
    /// Messages of the branch that are outside the window.
    pub left_out: u32,
    /// True from 80 % of the budget.
    pub warning: bool,
    /// True while counts are estimates.
    pub estimated: bool,
    /// What goes when the window next moves; `None` while nothing in it would have to.
    pub leaving: Option<Leaving>,
}

/// The oldest messages in the window, which leave it when it next moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Leaving {
    /// So many go at the least; what is said until then decides whether more go with them.
    pub messages: u32,
    /// The first of them.
    pub first_id: MessageId,
    /// How that one begins, on one line of at most 80 characters.
    pub beginning: String,
}
