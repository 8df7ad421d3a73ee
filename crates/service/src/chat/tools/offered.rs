//! Which tools a model is told of, under which names.

use crate::model::Chosen;
use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ConversationId, OperationQuery, ProviderLocality, RECENT_CONTEXT, RoundCall, Tool, ToolChoice, ToolRule, ToolSchema,
    ToolServer, wire_names,
};
use evenkeel_provider::ToolCall;
use evenkeel_store::StoreError;
use serde_json::json;

/// In the place of a description that has changed since something was decided of it.
const REWORDED: &str = "This tool has changed. The user is asked before it runs.";

/// The tools that a model is told of, each with what is behind its name.
#[derive(Default)]
pub(in crate::chat) struct Offered {
    pub schemas: Vec<ToolSchema>,
    behind: Vec<Behind>,
}

/// What is behind a tool's name.
pub(super) enum Behind {
    /// What tools did last in this conversation.
    Recent,
    /// A tool of a server.
    Server(Box<ToolServer>, String),
}

impl Service {
    /// The tools that a context has in a conversation, by a model that can call some. One elsewhere is not offered where
    /// everything has to stay here.
    pub(in crate::chat) async fn offered(
        &self,
        session: &Session,
        chosen: &Chosen,
        context: &Context,
        conversation: ConversationId,
    ) -> Result<Offered, ServiceError> {
        if !chosen.calls_tools() {
            return Ok(Offered::default());
        }
        let (id, local_only) = (context.id, context.local_only);
        let read = session.records(conversation).read_beside(move |vault, r| {
            let choices = vault.context_tools(id)?;
            let servers = if choices.is_empty() { Vec::new() } else { vault.tool_servers()? };
            let decided = choices.into_iter().map(|choice| Ok((vault.tool_decision(&choice)?, choice)));
            let choices = decided.collect::<Result<Vec<_>, StoreError>>()?;
            Ok((choices, servers, r.has_operations(conversation)?))
        });
        let (choices, servers, has_operations) = read.await?;
        let mut found = Vec::new();
        for (decided, ToolChoice { server_id, tool }) in choices {
            let server = servers.iter().find(|server| server.id == server_id);
            let server = server.filter(|server| !local_only || server.locality == ProviderLocality::Local);
            let Some((server, tool)) = server.and_then(|server| Some((server, server.tool(&tool)?.clone()))) else { continue };
            let fingerprint = server.fingerprint(&tool);
            match decided {
                Some((of, ToolRule::Denied)) if of == fingerprint => {}
                // What a server says anew is read by nobody before the user has seen it.
                Some((of, _)) if of != fingerprint => {
                    found.push((
                        server.clone(),
                        Tool { description: REWORDED.to_owned(), input_schema: json!({"type": "object"}), ..tool },
                    ));
                }
                _ => found.push((server.clone(), tool)),
            }
        }
        // Where nothing is recorded, there is nothing to ask for.
        Ok(Offered::of(found, has_operations))
    }
}

impl Offered {
    fn of(found: Vec<(ToolServer, Tool)>, has_operations: bool) -> Self {
        let names = wire_names(found.iter().map(|(_, tool)| tool.name.as_str()));
        let mut offered = Self::default();
        if has_operations {
            offered.schemas.push(recent_schema());
            offered.behind.push(Behind::Recent);
        }
        for (name, (server, Tool { name: tool, description, input_schema })) in names.into_iter().zip(found) {
            offered.schemas.push(ToolSchema { name, description, parameters: input_schema });
            offered.behind.push(Behind::Server(Box::new(server), tool));
        }
        offered
    }

    pub(super) fn behind(&self, name: &str) -> Option<&Behind> {
        let at = self.schemas.iter().position(|schema| schema.name == name)?;
        self.behind.get(at)
    }

    /// A call with what is behind its name.
    pub(super) fn called(&self, call: &ToolCall) -> RoundCall {
        let (server, tool) = match self.behind(&call.name) {
            Some(Behind::Server(server, tool)) => (server.name.clone(), tool.clone()),
            _ => (String::new(), call.name.clone()),
        };
        RoundCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.clone(), server, tool }
    }

    /// What a model is told that has asked for a name which it was not told.
    pub(super) fn no_such(&self, name: &str) -> String {
        let known: Vec<&str> = self.schemas.iter().map(|schema| schema.name.as_str()).collect();
        let name: String = name.chars().take(80).collect();
        format!("There is no tool {name}. There are: {}.", known.join(", "))
    }
}

fn recent_schema() -> ToolSchema {
    ToolSchema {
        name: RECENT_CONTEXT.to_owned(),
        description: "Tells what tools did last in this conversation, the newest first: names, arguments, results, ids, files, \
                      changes, errors. Use it for questions about what was just done, changed or written."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": OperationQuery::MOST, "default": OperationQuery::DEFAULT_LIMIT,
                    "description": "Most operations."},
                "tool_filter": {"type": "string", "description": "Only of tools whose name has this in it."},
            },
        }),
    }
}
