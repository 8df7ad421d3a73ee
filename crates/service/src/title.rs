//! Titles that a model gives to conversations, in the background.
//!
//! A title is asked of the model that answers the conversation anyway, so that no text goes
//! anywhere it has not been; it gives way to every reply, and never replaces a title of the user's.

use crate::background::{Wish, answer_of};
use crate::model::{Chosen, Ready};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Conversation, ConversationId, Feature, Message, Provider, ProviderLocality, RequestPurpose, Role, TitleSource,
};
use std::time::Duration;

/// Replies that a conversation has before it gets a title: one alone says too little.
const REPLIES: usize = 2;
/// Messages that a title is made from, and characters of each.
const MESSAGES: u32 = 6;
const EXCERPT: usize = 400;
/// Tokens of the model's answer.
const TOKENS: u32 = 48;
/// The most characters of a title; a longer answer is no title.
const LONGEST: usize = 80;
/// Time for the answer.
const PATIENCE: Duration = Duration::from_secs(60);

const TASK: &str = "Give the conversation below a title of two to six words, in the language that the user writes. \
                    Answer with the title alone, without quotation marks and without a full stop.";

/// How asking ended.
enum Asked {
    Title(String),
    /// The answer was no title.
    Nothing,
    /// A reply began, or the app closes.
    GaveWay,
}

/// What became of a conversation's title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Titled {
    /// It has one now.
    Given,
    /// The model's answer was no title.
    Nothing,
    /// A reply began, or the app closes.
    GaveWay,
    /// It needs none, may have none, or somebody asks for it.
    NotDue,
}

impl Service {
    /// Gives a conversation a title, if it is due for one.
    pub(crate) async fn give_title(&self, id: ConversationId) {
        if let Err(error) = self.title_conversation(id).await {
            tracing::info!(code = error.code().as_str(), "a conversation got no title");
        }
    }

    /// Whether conversations get titles by themselves.
    pub(crate) fn gives_titles(&self) -> bool {
        let wished = self.session().is_ok_and(|session| session.settings().automatic_titles);
        wished && self.is_on(Feature::AutomaticTitles)
    }

    /// Asks the model that answers a conversation for its title. It is not due where titles are
    /// turned off, the conversation has one or has fewer than two replies, or the model is small or
    /// elsewhere and has not seen the conversation.
    ///
    /// # Errors
    /// There is no such conversation, or the model cannot be reached.
    pub(crate) async fn title_conversation(&self, id: ConversationId) -> Result<Titled, ServiceError> {
        if !self.gives_titles() {
            return Ok(Titled::NotDue);
        }
        let Some(mut turn) = self.titles().begin(id) else { return Ok(Titled::NotDue) };
        let asked = self.ask_for_title(id).await;
        turn.has_failed = matches!(asked, Err(_) | Ok(Some(Asked::Nothing)));
        Ok(match asked? {
            Some(Asked::Title(title)) => {
                let is_new = self.session()?.records(id).write(move |w| w.title_conversation(id, &title)).await?;
                if is_new { Titled::Given } else { Titled::NotDue }
            }
            Some(Asked::Nothing) => Titled::Nothing,
            Some(Asked::GaveWay) => Titled::GaveWay,
            None => Titled::NotDue,
        })
    }

    async fn ask_for_title(&self, id: ConversationId) -> Result<Option<Asked>, ServiceError> {
        let give_way = self.replies().give_way();
        tokio::pin!(give_way);
        // What is told from here on is heard, also before it is waited for.
        give_way.as_mut().enable();
        if !self.replies().is_empty() {
            return Ok(Some(Asked::GaveWay));
        }
        let conversation = self.conversation_get(id).await?;
        let Some(leaf) = conversation.active_leaf_id.filter(|_| is_due(&conversation)) else { return Ok(None) };
        let messages = self.session()?.records(id).read(move |r| r.path_from_start(leaf, MESSAGES)).await?;
        let context = self.context_get(conversation.context_id).await?;
        let chosen = self.chosen_model(&context).await?;
        if self.check_lifetime(&context).is_err() || !has_replies(&messages) || !may_read(&chosen, &messages) {
            return Ok(None);
        }
        let asking = async {
            let ready = self.ready_beside(&chosen, &context, RequestPurpose::Title).await?;
            Ok::<_, ServiceError>(Some(title_by(&ready, &chosen, &messages).await?))
        };
        tokio::select! {
            asked = tokio::time::timeout(PATIENCE, asking) => asked.unwrap_or(Ok(Some(Asked::Nothing))),
            () = give_way => Ok(Some(Asked::GaveWay)),
        }
    }
}

fn is_due(conversation: &Conversation) -> bool {
    conversation.title_source == TitleSource::Beginning && conversation.deleted_at.is_none()
}

fn has_replies(messages: &[Message]) -> bool {
    messages.iter().filter(|message| message.role == Role::Assistant).count() >= REPLIES
}

/// A small model's title says less than the user's own words; one elsewhere may read only what it
/// was sent before.
fn may_read(chosen: &Chosen, messages: &[Message]) -> bool {
    !chosen.is_small && (chosen.is_local() || has_seen(&chosen.provider, messages))
}

/// Whether the newest reply came from a model of this provider that runs elsewhere, which then was
/// sent what stands before it.
fn has_seen(provider: &Provider, messages: &[Message]) -> bool {
    let newest = messages.iter().rfind(|message| message.role == Role::Assistant).and_then(|reply| reply.model.as_ref());
    let elsewhere = |model: &str| provider.locality_of(model) == ProviderLocality::Remote;
    newest.is_some_and(|choice| choice.provider_id == provider.id && elsewhere(&choice.model))
}

async fn title_by(ready: &Ready, chosen: &Chosen, messages: &[Message]) -> Result<Asked, ServiceError> {
    let wish = Wish {
        messages: vec![(Role::System, TASK.to_owned()), (Role::User, excerpt(messages))],
        temperature: 0.2,
        max_tokens: TOKENS,
        response_schema: None,
    };
    let answer = answer_of(ready, chosen, wish).await?;
    Ok(title_in(&answer.text).map_or(Asked::Nothing, Asked::Title))
}

/// The beginning of each message, as data.
fn excerpt(messages: &[Message]) -> String {
    let line = |message: &Message| {
        let speaker = if message.role == Role::User { "User" } else { "Companion" };
        let words: Vec<&str> = message.content.split_whitespace().collect();
        format!("{speaker}: {}", words.join(" ").chars().take(EXCERPT).collect::<String>())
    };
    messages.iter().filter(|message| message.role != Role::System).map(line).collect::<Vec<_>>().join("\n")
}

/// The title in a model's answer, without what models put around it; `None` if it is none.
fn title_in(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let plain: String =
        line.replace("**", "").chars().filter(|character| !(character.is_control() || *character == '`')).collect();
    let around = |character: char| character.is_whitespace() || "\"'`*_#.“”„‟«»‹›「」『』".contains(character);
    let bare = plain.trim_matches(around);
    let bare = match bare.split_once(':') {
        Some((label, rest)) if label.eq_ignore_ascii_case("title") => rest.trim_matches(around),
        _ => bare,
    };
    let title = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    (1..=LONGEST).contains(&title.chars().count()).then_some(title)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_lose_what_models_put_around_them() {
        for (answer, title) in [
            ("Trouble at Work", Some("Trouble at Work")),
            ("\n\n  **Title: \"Trouble at   Work.\"**\nIt is about work.", Some("Trouble at Work")),
            ("„Ärger bei der Arbeit“", Some("Ärger bei der Arbeit")),
            ("مشكلة في العمل", Some("مشكلة في العمل")),
            ("A **boat** and a `chart`", Some("A boat and a chart")),
            ("Plan: the next week", Some("Plan: the next week")),
            ("", None),
            (" \n\"\"\n", None),
        ] {
            assert_eq!(title_in(answer).as_deref(), title, "{answer:?}");
        }
        assert_eq!(title_in(&"word ".repeat(40)), None, "an essay is no title");
    }

    proptest! {
        #[test]
        fn a_title_is_one_line_of_its_length(answer in "\\PC*(\\n\\PC*){0,3}") {
            if let Some(title) = title_in(&answer) {
                prop_assert!((1..=LONGEST).contains(&title.chars().count()));
                prop_assert!(!title.chars().any(char::is_control));
            }
        }
    }
}
