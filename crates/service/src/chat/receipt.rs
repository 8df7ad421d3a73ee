//! What is kept of a request: its receipt.

use super::plan::Plan;
use crate::model::{Chosen, Ready};
use evenkeel_domain::{
    Context, MessageId, PromptForm, RECEIPT_VERSION, Receipt, ReceiptRound, Role, RoundCall, RoundMessage, sha256_hex,
};
use evenkeel_prompt::{Block, Prompt};
use evenkeel_provider::{ChatMessage, ChatRequest, ProviderError, ToolCall};

/// How a model is asked: a small one answers whatever comes last.
fn form(chosen: &Chosen) -> PromptForm {
    if chosen.is_small { PromptForm::UserLast } else { PromptForm::Messages }
}

/// The request for a prompt.
pub(super) fn asked(context: &Context, chosen: &Chosen, model_name: &str, prompt: &Prompt) -> ChatRequest {
    ChatRequest {
        model: model_name.to_owned(),
        messages: chat_messages(prompt, form(chosen)),
        temperature: Some(context.temperature),
        max_tokens: Some(context.max_tokens.min(chosen.window / 2)),
        window: Some(chosen.window),
        tools: prompt.tools(),
        ..ChatRequest::default()
    }
}

fn chat_messages(prompt: &Prompt, form: PromptForm) -> Vec<ChatMessage> {
    prompt.written(form).into_iter().map(|(role, content)| ChatMessage::new(role, content)).collect()
}

/// A request with what its further rounds have added.
pub(crate) fn continued(mut request: ChatRequest, rounds: &[ReceiptRound]) -> ChatRequest {
    request.messages.extend(rounds.iter().flat_map(|round| &round.messages).map(chat_message));
    request.tools_are_over = rounds.last().is_some_and(|round| round.tools_are_over);
    request
}

fn chat_message(message: &RoundMessage) -> ChatMessage {
    match message {
        RoundMessage::Model { text, calls, .. } => ChatMessage::calling(text, calls.iter().map(tool_call).collect()),
        RoundMessage::Tool { call, text, .. } => ChatMessage::result(tool_call(call), text),
        RoundMessage::App { text, .. } => ChatMessage::new(Role::User, text),
    }
}

fn tool_call(call: &RoundCall) -> ToolCall {
    ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone() }
}

/// The request that a receipt tells of, with the prompt that was rebuilt of it.
pub(crate) fn asked_then(receipt: &Receipt, prompt: &Prompt) -> ChatRequest {
    ChatRequest {
        model: receipt.model_name.clone(),
        messages: chat_messages(prompt, receipt.form),
        temperature: Some(receipt.temperature),
        max_tokens: Some(receipt.max_tokens),
        window: Some(receipt.window),
        tools: prompt.tools(),
        ..ChatRequest::default()
    }
}

/// The receipt of a request that was accepted.
///
/// # Errors
/// The provider's address cannot be read, which it was when the request left.
pub(super) fn receipt(plan: &Plan, ready: &Ready, prompt: &Prompt, reply_id: MessageId) -> Result<Receipt, ProviderError> {
    let (context, chosen) = (&plan.context, &plan.chosen);
    let request = asked(context, chosen, &ready.model_name, prompt);
    let outgoing = ready.model.outgoing(&request)?;
    let mut meter = prompt.meter.clone();
    // It quotes a message, and says nothing of what was sent.
    meter.leaving = None;
    Ok(Receipt {
        version: RECEIPT_VERSION,
        reply_id,
        user_message_id: plan.user_message.id,
        created_at: prompt.built_at,
        revision_id: plan.revision.id.clone(),
        speaker: prompt.speaker.clone(),
        model: chosen.answering(),
        model_name: request.model,
        provider_name: chosen.provider.name.clone(),
        provider_kind: chosen.provider.kind,
        address: outgoing.address,
        temperature: context.temperature,
        max_tokens: request.max_tokens.unwrap_or_default(),
        window: chosen.window,
        strategy: prompt.strategy.clone(),
        form: form(chosen),
        blocks: prompt.blocks.iter().map(Block::for_receipt).collect(),
        meter,
        // The place for what is found out of the message before its prompt is built.
        follow_up: prompt.follow_up.clone(),
        request_hash: sha256_hex(&outgoing.body),
        request_bytes: u32::try_from(outgoing.body.len()).unwrap_or(u32::MAX),
        // Known once the reply has ended.
        usage: None,
        rounds: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
