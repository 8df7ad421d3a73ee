//! A program that asks, with what it may do. Everything that it sees of contexts passes here.

use crate::Companions;
use evenkeel_domain::{
    Access, AccessKind, ConnectionGrant, Context, ContextId, ContextQuery, Conversation, ConversationId, ConversationsShown,
    ErrorBody, ErrorCode,
};
use rmcp::model::Implementation;
use std::sync::Arc;

/// How many of those that exist a refusal lists.
const LISTED: usize = 20;
/// Contexts that are read at once.
const PAGE: u32 = 500;

/// A program that asks.
#[derive(Clone)]
pub struct Caller {
    /// The app.
    pub companions: Arc<dyn Companions>,
    name: String,
    grant: ConnectionGrant,
}

impl Caller {
    /// Looks up what the program may do.
    pub(crate) async fn of(companions: Arc<dyn Companions>, client: Option<Implementation>) -> Result<Self, ErrorBody> {
        let (name, version) = client.map(|client| (client.name, client.version)).unwrap_or_default();
        Self::named(companions, &name, &version).await
    }

    /// Looks up what the program may do that gives itself this name and version.
    ///
    /// # Errors
    /// The vault is not open, or the user has blocked the program.
    pub async fn named(companions: Arc<dyn Companions>, name: &str, version: &str) -> Result<Self, ErrorBody> {
        let (name, version) = named(name, version);
        let grant = companions.grant(&name, &version).await?;
        if grant.is_blocked {
            let blocked = Self { companions, name, grant };
            blocked.companions.note(blocked.access(AccessKind::ReadContexts, None, 0, true)).await;
            let name = blocked.name;
            let message = format!("{name} is blocked; allow it in Evenkeel, Settings, Connections");
            return Err(ErrorBody::new(ErrorCode::NotPermitted, message).with("client", name));
        }
        Ok(Self { companions, name, grant })
    }

    /// The name that the program gives itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its own model is to reply.
    pub(crate) fn lends_model(&self) -> bool {
        self.grant.uses_sampling
    }

    /// Refuses to change anything where that was not allowed.
    ///
    /// # Errors
    /// It was not allowed.
    pub async fn check_change(&self, kind: AccessKind, context: Option<ContextId>) -> Result<(), ErrorBody> {
        self.check(self.grant.may_change, "change anything", kind, context).await
    }

    /// Refuses to make a context where only certain ones were allowed: it could not see what it made.
    pub(crate) async fn check_create(&self) -> Result<(), ErrorBody> {
        self.check_change(AccessKind::ChangeContext, None).await?;
        let may = self.grant.contexts.is_none();
        self.check(may, "use other contexts than those chosen for it, so it cannot make any", AccessKind::ChangeContext, None)
            .await
    }

    /// Refuses to send a message where that was not allowed.
    ///
    /// # Errors
    /// It was not allowed.
    pub async fn check_chat(&self, context: ContextId) -> Result<(), ErrorBody> {
        self.check(self.grant.may_chat, "send messages", AccessKind::Chat, Some(context)).await
    }

    async fn check(&self, may: bool, what: &str, kind: AccessKind, context: Option<ContextId>) -> Result<(), ErrorBody> {
        if may {
            return Ok(());
        }
        self.companions.note(self.access(kind, context, 0, true)).await;
        let message = format!("{} may not {what}; allow it in Evenkeel, Settings, Connections", self.name);
        Err(ErrorBody::new(ErrorCode::NotPermitted, message).with("client", &self.name))
    }

    /// Writes into the log what was done.
    pub async fn note(&self, kind: AccessKind, context: Option<ContextId>, count: usize) {
        self.companions.note(self.access(kind, context, count, false)).await;
    }

    /// Writes into the log that a message was answered, and for how many tools that was the reason.
    pub async fn note_chat(&self, context: ContextId, tools: usize) {
        self.note(AccessKind::Chat, Some(context), 1).await;
        if tools > 0 {
            self.note(AccessKind::RunTools, Some(context), tools).await;
        }
    }

    fn access(&self, kind: AccessKind, context_id: Option<ContextId>, count: usize, is_refused: bool) -> Access {
        Access {
            client: self.name.clone(),
            kind,
            context_id,
            context_name: None,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            is_refused,
            at: self.companions.now(),
        }
    }

    /// All contexts that are there for the program, the one talked to last first.
    ///
    /// # Errors
    /// The vault cannot be read.
    pub async fn contexts(&self, include_expired: bool) -> Result<Vec<Context>, ErrorBody> {
        let mut shown = Vec::new();
        let mut query = ContextQuery { include_expired, page_size: PAGE, ..ContextQuery::default() };
        loop {
            let (page, _) = self.companions.contexts(query.clone()).await?;
            let is_last = page.len() < PAGE as usize;
            query.after = page.last().map(Context::place);
            shown.extend(page.into_iter().filter(|context| self.grant.shows(context)));
            if is_last {
                return Ok(shown);
            }
        }
    }

    /// One of them; the refusal lists those that there are, and no other.
    ///
    /// # Errors
    /// There is no such context for it.
    pub async fn context(&self, id: &str) -> Result<Context, ErrorBody> {
        let mut all = self.contexts(true).await?;
        let wanted = id.trim().parse::<ContextId>().ok();
        match all.iter().position(|context| Some(context.id) == wanted) {
            Some(at) => Ok(all.swap_remove(at)),
            None => Err(missing("context", id, all.iter().map(|context| format!("{} ({})", context.name, context.id)))),
        }
    }

    /// What of a context's conversations the program sees: where a context spoke that is not there for it, it sees
    /// nothing of the conversation, since the others' words were made from that context's.
    #[must_use]
    pub fn sight(&self, context: ContextId, limit: u32) -> ConversationsShown {
        ConversationsShown { context_id: context, only: None, among: self.among(), archived: true, limit }
    }

    /// The contexts that are there for the program; `None` = all that are not local only.
    #[must_use]
    pub fn among(&self) -> Option<Vec<ContextId>> {
        self.grant.contexts.clone()
    }

    /// The conversation of a context in which something was said last.
    pub(crate) async fn newest(&self, context: ContextId) -> Result<Option<Conversation>, ErrorBody> {
        let query = ConversationsShown { archived: false, ..self.sight(context, 1) };
        Ok(self.companions.conversations(query).await?.pop())
    }

    /// A conversation of a context, by what is called its session, where it is there for the program.
    pub(crate) async fn session_there(&self, context: &Context, id: &str) -> Result<Option<Conversation>, ErrorBody> {
        let Ok(id) = id.trim().parse::<ConversationId>() else { return Ok(None) };
        let only = ConversationsShown { only: Some(id), ..self.sight(context.id, 1) };
        Ok(self.companions.conversations(only).await?.pop())
    }

    /// A conversation of a context, by what is called its session; the refusal lists those that there are.
    ///
    /// # Errors
    /// There is no such conversation for it.
    pub async fn session(&self, context: &Context, id: &str) -> Result<Conversation, ErrorBody> {
        if let Some(found) = self.session_there(context, id).await? {
            return Ok(found);
        }
        let others = self.companions.conversations(self.sight(context.id, LISTED as u32)).await?;
        let what = format!("session of {}", context.name);
        Err(missing(&what, id, others.iter().map(|other| format!("{} ({})", other.title, other.id))))
    }
}

/// Name and version as they are kept: on one line, and not too long.
fn named(name: &str, version: &str) -> (String, String) {
    let line = |text: &str, most: usize| {
        text.chars().filter(|character| !character.is_control()).take(most).collect::<String>().trim().to_owned()
    };
    let name = line(name, 120);
    (if name.is_empty() { "unknown".to_owned() } else { name }, line(version, 60))
}

/// There is no such thing, but there are these; the first of them are named.
pub(crate) fn missing(noun: &str, id: &str, existing: impl Iterator<Item = String>) -> ErrorBody {
    let known: Vec<String> = existing.take(LISTED).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let id: String = id.chars().take(64).collect();
    ErrorBody::new(ErrorCode::NotFound, format!("there is no {noun} {id}; there are: {known}"))
        .with("id", id)
        .with("existing", known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_of_at_most_120_characters_and_never_empty() {
        let of = |name: &str| named(name, "1.0\n").0;
        assert_eq!(of("Claude\n Desktop\u{7}"), "Claude Desktop");
        assert_eq!(of(&"x".repeat(500)).len(), 120);
        assert_eq!([of(" \n "), of("")], ["unknown", "unknown"]);
        assert_eq!(named("a", "1.0\n").1, "1.0");
    }

    #[test]
    fn a_refusal_lists_at_most_twenty_and_not_all_of_a_long_id() {
        let error = missing("context", &"x".repeat(500), (0..50).map(|at| format!("Mara {at}")));
        assert_eq!((error.details["existing"].matches("Mara").count(), error.details["id"].len()), (LISTED, 64));
        assert!(missing("context", "x", std::iter::empty()).message.ends_with("there are: none"));
    }
}
