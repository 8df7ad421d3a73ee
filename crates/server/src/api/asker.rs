//! The program that asks: it names itself in a header, and nothing proves that name.

use super::Desk;
use crate::http::refusal::Refusal;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use evenkeel_domain::{Context, ContextId, Conversation, ConversationId, ConversationsShown, ErrorBody, SessionsShown};
use evenkeel_mcp::Caller;
use std::collections::HashMap;

/// Names the program where its `User-Agent` does not: `name` or `name/version`.
pub(super) const CLIENT: &str = "x-evenkeel-client";

/// The program that asks, with what it may do.
#[derive(Clone)]
pub(super) struct Asker {
    pub desk: Desk,
    pub caller: Caller,
    version: String,
}

impl FromRequestParts<Desk> for Asker {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, desk: &Desk) -> Result<Self, Refusal> {
        let (name, version) = named(&parts.headers);
        Ok(Self::of(desk, &name, version).await?)
    }
}

impl Asker {
    async fn of(desk: &Desk, name: &str, version: String) -> Result<Self, ErrorBody> {
        let caller = Caller::named(desk.companions.clone(), name, &version).await?;
        Ok(Self { desk: desk.clone(), caller, version })
    }

    /// The same program, with what it may do by now.
    pub async fn anew(&self) -> Result<Self, ErrorBody> {
        Self::of(&self.desk, self.caller.name(), self.version.clone()).await
    }

    /// A conversation with its context, where both are there for the program.
    pub async fn seen(&self, id: ConversationId) -> Result<Option<(Context, Conversation)>, ErrorBody> {
        let Some(found) = self.desk.app.conversation(id).await? else { return Ok(None) };
        let contexts = self.caller.contexts(true).await?;
        let Some(context) = contexts.into_iter().find(|context| context.id == found.context_id) else { return Ok(None) };
        let one = ConversationsShown { only: Some(id), ..self.caller.sight(context.id, 1) };
        Ok(self.desk.companions.conversations(one).await?.pop().map(|conversation| (context, conversation)))
    }

    /// A context that is there for the program, by its id or its name; of several of that name, the one talked to last.
    pub async fn context(&self, wished: &str) -> Result<Context, ErrorBody> {
        let found = self.caller.contexts(true).await?.into_iter().find(|context| is_called(context, wished));
        match found {
            Some(context) => Ok(context),
            None => self.caller.context(wished).await,
        }
    }

    /// Which sessions the program sees, given the contexts that are there for it.
    pub fn sessions(&self, contexts: Vec<ContextId>) -> SessionsShown {
        SessionsShown { contexts, among: self.caller.among(), limit: 0, offset: 0 }
    }

    /// What the program calls its sessions.
    pub async fn session_names(&self) -> Result<SessionNames, ErrorBody> {
        self.desk.app.session_names(self.caller.name()).await.map(SessionNames)
    }

    /// The names of the contexts that are there for the program.
    pub async fn names(&self) -> Result<HashMap<ContextId, String>, ErrorBody> {
        Ok(self.caller.contexts(true).await?.into_iter().map(|context| (context.id, context.name)).collect())
    }
}

/// Whether a context has that name.
pub(super) fn is_called(context: &Context, name: &str) -> bool {
    context.name.to_lowercase() == name.trim().to_lowercase()
}

/// The names that a program gave its sessions.
pub(super) struct SessionNames(HashMap<ConversationId, String>);

impl SessionNames {
    /// Whether the program named a session.
    pub fn has(&self, id: ConversationId) -> bool {
        self.0.contains_key(&id)
    }

    /// What the program calls a session: the name that it gave it, else the id.
    pub fn of(&self, id: ConversationId) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// Name and version: of the first product in `User-Agent`, or as the header of our own says.
fn named(headers: &HeaderMap) -> (String, String) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let said = text(CLIENT).or_else(|| text(USER_AGENT.as_str()).and_then(|agent| agent.split_whitespace().next()));
    let (name, version) = said.map(|said| said.split_once('/').unwrap_or((said, ""))).unwrap_or_default();
    (name.to_owned(), version.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(pairs: &[(&'static str, &str)]) -> (String, String) {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        named(&headers)
    }

    #[test]
    fn a_program_is_named_by_its_own_header_or_by_the_first_product_of_its_agent() {
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(of(&[("user-agent", "curl/8.5.0 libz/1")]), pair("curl", "8.5.0"));
        assert_eq!(of(&[("user-agent", "curl/8.5.0"), (CLIENT, "My script")]), pair("My script", ""));
        assert_eq!(of(&[]), pair("", ""));
    }
}
