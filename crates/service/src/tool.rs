//! Servers of tools: which there are, what they offer, what was decided of it, and which companion uses what.

mod question;
mod reach;

pub(crate) use question::{Questions, Sink};
pub(crate) use reach::reseal_secrets;

use crate::missing::{missing, named};
use crate::provider::reachable;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    ContextId, ErrorBody, ErrorCode, FieldError, ProviderLocality, ToolAnswer, ToolChoice, ToolRule, ToolServer, ToolServerId,
    ToolTransport,
};
use evenkeel_provider::locality;
use evenkeel_store::ReadHandle;
use evenkeel_tools::{Listing, ToolRoom};
use reach::Secrets;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Most servers.
const MOST_SERVERS: usize = 50;

/// A server of tools to add or to change. Nothing is started by adding it.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolServerDraft {
    /// `None` adds one.
    pub id: Option<ToolServerId>,
    /// 1–120 characters.
    pub name: String,
    /// How it is reached.
    pub transport: ToolTransport,
    /// All variables that its environment has beside the few that each has; `None` keeps those that are stored.
    pub env: Option<BTreeMap<String, String>>,
    /// Its bearer token; `None` keeps the stored one, an empty text removes it.
    pub token: Option<String>,
}

/// A server of tools, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolServerView {
    /// The server.
    pub server: ToolServer,
    /// The whole command, or the address.
    pub place: String,
    /// What was decided of each of its tools, in their order.
    pub rules: Vec<ToolRule>,
}

/// A server of tools that answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolServerTest {
    /// The server with its tools.
    pub view: ToolServerView,
    /// Tools that were left out, because they are too many or too large.
    pub left_out: u32,
    /// Milliseconds until it had answered.
    pub millis: u32,
}

impl ToolServerView {
    fn read(r: &ReadHandle<'_>, server: ToolServer) -> Result<Self, evenkeel_store::StoreError> {
        let rules = server.tools.iter().map(|tool| r.tool_rule(&server.fingerprint(tool))).collect::<Result<_, _>>()?;
        Ok(Self { place: server.transport.shown(), rules, server })
    }
}

impl Service {
    /// All servers of tools.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn tool_server_list(&self) -> Result<Vec<ToolServerView>, ServiceError> {
        let session = self.session()?;
        session.read(|r| r.tool_servers()?.into_iter().map(|server| ToolServerView::read(r, server)).collect()).await
    }

    /// Adds or changes a server of tools. What is secret of it is taken and never given back; one that is reached in another
    /// way from now on is ended, with the calls that are under way.
    ///
    /// # Errors
    /// A field is outside its range, the address is refused, what is secret would go to another place, or a part of it is
    /// to be kept that does not open.
    pub async fn tool_server_save(&self, draft: ToolServerDraft) -> Result<ToolServerView, ServiceError> {
        check(&draft)?;
        let session = self.session()?;
        let before = match draft.id {
            Some(id) => Some(self.tool_server_get(id).await?),
            None => None,
        };
        if let Some(old) = &before {
            check_change(old, &draft)?;
        } else if session.read(|r| r.tool_servers()).await?.len() >= MOST_SERVERS {
            let message = format!("there are {MOST_SERVERS} servers of tools; remove one first");
            return Err(ErrorBody::new(ErrorCode::LimitReached, message).with("limit", MOST_SERVERS).into());
        }
        let server = self.tool_server_of(&draft, before.as_ref());
        let is_reached_as_before =
            before.as_ref().is_some_and(|old| old.transport == draft.transport) && draft.env.is_none() && draft.token.is_none();
        if is_reached_as_before {
            let written = server.clone();
            session.write(move |w| w.upsert_tool_server(&written)).await?;
            return self.tool_server_view(server.id).await;
        }
        let known = match &before {
            Some(old) if keeps_secrets(old, &draft) => reach::secrets(&session, old).await?,
            _ => Secrets::default(),
        };
        let secrets = known.changed(draft.env, draft.token);
        let sealed = secrets.sealed(&session, &server)?;
        let written = server.clone();
        let saved = session.write(move |w| {
            w.upsert_tool_server(&written)?;
            w.set_tool_secrets(written.id, sealed.as_deref(), &secrets.env_names(), secrets.token_hint().as_deref())
        });
        saved.await?;
        self.tool_room().stop(server.id);
        self.tool_server_view(server.id).await
    }

    /// Removes a server of tools with all that was decided of it, and ends it with the calls that are under way.
    ///
    /// # Errors
    /// There is no such server.
    pub async fn tool_server_delete(&self, id: ToolServerId) -> Result<(), ServiceError> {
        self.tool_server_get(id).await?;
        self.session()?.write(move |w| w.delete_tool_server(id)).await?;
        self.tool_room().stop(id);
        Ok(())
    }

    /// Starts a server of tools, or calls its address, and asks what it has.
    ///
    /// # Errors
    /// There is no such server, or it cannot be started or reached, or does not answer as it should.
    pub async fn tool_server_test(&self, id: ToolServerId) -> Result<ToolServerTest, ServiceError> {
        let began = Instant::now();
        let server = self.tool_server_get(id).await?;
        let listing = self.tools_listed(&server, None).await?;
        Ok(ToolServerTest {
            view: self.tool_server_view(id).await?,
            left_out: u32::try_from(listing.left_out).unwrap_or(u32::MAX),
            millis: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX),
        })
    }

    /// Decides of a tool for good, as it was listed last: allowed, denied, or asked about each time.
    ///
    /// # Errors
    /// There is no such server, or it listed no such tool.
    pub async fn tool_rule_set(&self, choice: ToolChoice, rule: ToolRule) -> Result<ToolServerView, ServiceError> {
        let server = self.tool_server_get(choice.server_id).await?;
        let Some(tool) = server.tool(&choice.tool) else {
            let known: Vec<String> = server.tools.iter().map(|tool| tool.name.clone()).collect();
            return Err(missing("tool", choice.tool, &known));
        };
        let (fingerprint, now) = (server.fingerprint(tool), self.now());
        self.session()?.write(move |w| w.put_tool_rule(&choice, &fingerprint, rule, now)).await?;
        self.tool_server_view(server.id).await
    }

    /// The tools that a context uses.
    ///
    /// # Errors
    /// There is no such context.
    pub async fn context_tools(&self, context: ContextId) -> Result<Vec<ToolChoice>, ServiceError> {
        self.context_get(context).await?;
        self.session()?.read(move |r| r.context_tools(context)).await
    }

    /// Sets the tools that a context uses, from its next message on. Whether one may run is asked all the same.
    ///
    /// # Errors
    /// There is no such context or server, or more than 100 tools are named.
    pub async fn context_tools_set(&self, context: ContextId, chosen: Vec<ToolChoice>) -> Result<Vec<ToolChoice>, ServiceError> {
        ToolChoice::check(&chosen)?;
        self.context_get(context).await?;
        for choice in &chosen {
            self.tool_server_get(choice.server_id).await?;
        }
        self.session()?.write(move |w| w.set_context_tools(context, &chosen)).await?;
        self.context_tools(context).await
    }

    /// Answers the question whether a tool may run.
    ///
    /// # Errors
    /// Nobody waits for this answer: the question was answered or closed.
    pub async fn tool_answer(&self, id: String, answer: ToolAnswer) -> Result<(), ServiceError> {
        self.session()?;
        if self.questions().answer(&id, answer) {
            return Ok(());
        }
        let message = "nobody waits for this answer any more: the question was answered elsewhere, or the reply was stopped";
        Err(ErrorBody::new(ErrorCode::NotFound, message).with("id", id).into())
    }

    pub(crate) fn tool_room(&self) -> &ToolRoom {
        &self.0.tools
    }

    pub(crate) fn questions(&self) -> &Questions {
        &self.0.questions
    }

    /// Asks a server for its tools, on behalf of a context where there is one, and notes them where they have changed.
    pub(crate) async fn tools_listed(&self, server: &ToolServer, context: Option<ContextId>) -> Result<Listing, ServiceError> {
        let reached = self.tool_server_reached(server, context).await?;
        let listing = self.tool_room().tools(&reached).await?;
        if listing.tools != server.tools || server.listed_at.is_none() {
            let (id, tools, now) = (server.id, listing.tools.clone(), self.now());
            self.session()?.write(move |w| w.set_tools_listed(id, &tools, now)).await?;
        }
        Ok(listing)
    }

    pub(crate) async fn tool_server_get(&self, id: ToolServerId) -> Result<ToolServer, ServiceError> {
        let (found, others) = self.session()?.read(move |r| Ok((r.tool_server(id)?, r.tool_servers()?))).await?;
        found.ok_or_else(|| {
            let known: Vec<String> = others.iter().map(|other| named(&other.name, other.id)).collect();
            missing("server of tools", id, &known)
        })
    }

    async fn tool_server_view(&self, id: ToolServerId) -> Result<ToolServerView, ServiceError> {
        let server = self.tool_server_get(id).await?;
        self.session()?.read(move |r| ToolServerView::read(r, server)).await
    }

    fn tool_server_of(&self, draft: &ToolServerDraft, before: Option<&ToolServer>) -> ToolServer {
        let place = match &draft.transport {
            ToolTransport::Stdio { .. } => ProviderLocality::Local,
            ToolTransport::Http { url } => locality(url),
        };
        ToolServer {
            id: draft.id.unwrap_or_else(|| ToolServerId::from_parts(self.now(), self.random())),
            name: draft.name.trim().to_owned(),
            transport: draft.transport.clone(),
            env_names: Vec::new(),
            token_hint: None,
            locality: place,
            tools: Vec::new(),
            listed_at: None,
            created_at: before.map_or_else(|| self.now(), |old| old.created_at),
        }
    }
}

/// Whether a part of what is stored as secret stays.
fn keeps_secrets(old: &ToolServer, draft: &ToolServerDraft) -> bool {
    (draft.env.is_none() && !old.env_names.is_empty()) || (draft.token.is_none() && old.token_hint.is_some())
}

/// What is secret of a server belongs to where it goes: to another command or address it goes only when entered again.
fn check_change(old: &ToolServer, draft: &ToolServerDraft) -> Result<(), ServiceError> {
    if old.transport == draft.transport || !keeps_secrets(old, draft) {
        return Ok(());
    }
    let range = "as it was, since stored secrets belong to it; to use another one, enter them again";
    Err(FieldError { field: "transport", value: draft.transport.shown().chars().take(80).collect(), range: range.into() }.into())
}

fn check(draft: &ToolServerDraft) -> Result<(), ServiceError> {
    let refuse = |field, value: &str, range: &str| -> Result<(), ServiceError> {
        Err(FieldError { field, value: value.chars().take(80).collect(), range: range.into() }.into())
    };
    let name = draft.name.trim().chars().count();
    if !(1..=120).contains(&name) {
        return refuse("name", &format!("{name} characters"), "1 to 120 characters");
    }
    match &draft.transport {
        ToolTransport::Http { url } => reachable("url", url)?,
        ToolTransport::Stdio { command, args } => {
            if command.trim().is_empty() || command.len() > 4_096 || command.contains('\0') {
                return refuse("command", command, "a program, 1 to 4096 bytes");
            }
            if args.len() > 100 || args.iter().any(|arg| arg.len() > 8_192 || arg.contains('\0')) {
                return refuse("args", &format!("{} arguments", args.len()), "at most 100 arguments of at most 8192 bytes");
            }
        }
    }
    for (name, value) in draft.env.iter().flatten() {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']) && name.len() <= 120;
        if !is_name || value.contains('\0') || value.len() > 16_384 {
            return refuse("env", name, "names without = and values of at most 16384 bytes");
        }
    }
    let is_token = |token: &str| token.len() <= 16_384 && token.chars().all(|letter| letter.is_ascii_graphic());
    if draft.token.as_deref().is_some_and(|token| !is_token(token)) {
        return refuse("token", "what was entered", "letters, digits and signs without spaces");
    }
    Ok(())
}
