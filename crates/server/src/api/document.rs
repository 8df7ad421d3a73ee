//! The OpenAPI document, made from the types that requests are read into and answers are made of.

use super::asker::CLIENT;
use super::record::{
    AgentAnswer, AgentWish, Deleted, ErrorRecord, EventRecord, Health, OperationList, QueryAnswer, QueryWish, SessionList,
    SessionRecord, Statistics,
};
use axum::Json;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// What every address may answer, whatever it is for.
const ALWAYS: &[u16] = &[401, 403];
/// What every question to the vault may answer besides.
const VAULT: &[u16] = &[400, 423, 500];

/// The document.
pub(super) async fn served() -> Json<Value> {
    Json(openapi())
}

/// The OpenAPI 3.1 document of the HTTP API.
#[must_use]
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut schemas = settings.into_generator();
    let paths = paths(&mut schemas);
    let definitions: Map<String, Value> = schemas.take_definitions(true);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Evenkeel",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Companions with a stable personality, on this machine. Off until the user turns it on in Settings, \
                            Connections; what a program may do is decided there.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" }
        },
        "servers": [{ "url": "http://127.0.0.1:28472" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": definitions
        }
    });
    // The same whichever way the library keeps objects.
    document.sort_all_objects();
    document
}

/// One address with one method.
struct Operation {
    path: &'static str,
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    /// The answer's kinds with their schemas.
    answer: Value,
    status: u16,
    refusals: Vec<u16>,
}

impl Operation {
    fn get(path: &'static str, id: &'static str, summary: &'static str, answer: Value) -> Self {
        let refusals = [ALWAYS, VAULT].concat();
        Self { path, method: "get", id, summary, parameters: vec![client()], body: None, answer, status: 200, refusals }
    }

    fn refusing(mut self, more: &[u16]) -> Self {
        self.refusals.extend(more);
        self.refusals.sort_unstable();
        self
    }

    fn with(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    fn taking(self, body: Value) -> Self {
        Self { method: "post", body: Some(body), ..self }.refusing(&[404, 408, 409, 413, 502])
    }

    fn described(self, error: &Value) -> Value {
        let mut answers = Map::new();
        let content = if self.answer.is_null() { json!({}) } else { self.answer };
        answers.insert(self.status.to_string(), json!({ "description": "What was asked for", "content": content }));
        for status in self.refusals {
            let answer = json!({ "description": meaning(status), "content": { "application/json": { "schema": error } } });
            answers.insert(status.to_string(), answer);
        }
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": self.parameters,
            "responses": answers
        });
        if let Some(body) = self.body {
            operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": body } } });
        }
        operation
    }
}

fn paths(schemas: &mut SchemaGenerator) -> Value {
    let error = schema::<ErrorRecord>(schemas);
    let mut paths = json!({});
    for operation in operations(schemas) {
        let (path, method) = (operation.path, operation.method);
        paths[path][method] = operation.described(&error);
    }
    paths
}

fn operations(schemas: &mut SchemaGenerator) -> Vec<Operation> {
    let id = parameter("session_id", "path", true, &json!({ "type": "string" }));
    let newest_first = parameter("newest_first", "query", false, &json!({ "type": "boolean", "default": false }));
    let most = parameter("limit", "query", false, &json!({ "type": "integer", "minimum": 1, "maximum": 50, "default": 5 }));
    let filter = parameter("tool_filter", "query", false, &json!({ "type": "string", "maxLength": 120 }));
    let json = |schema: Value| json!({ "application/json": { "schema": schema } });
    let health = json(schema::<Health>(schemas));
    let mut document = Operation::get("/api/openapi.json", "document", "This document", json(json!({ "type": "object" })));
    document.refusals = ALWAYS.to_vec();
    let mut health = Operation::get("/api/v1/health", "health", "Whether the app is there and its vault open", health);
    health.refusals = ALWAYS.to_vec();
    let session = "/api/conversation/{session_id}";
    let deleted = json(schema::<Deleted>(schemas));
    let event = json(schema::<EventRecord>(schemas));
    let mut events = Operation::get("/api/v1/events", "events", "What happens, by WebSocket: one of these a message", event);
    events.status = 101;
    let query = json!({
        "application/json": { "schema": schema::<QueryAnswer>(schemas) },
        "text/event-stream": { "schema": { "type": "string" } }
    });
    vec![
        document,
        health,
        Operation::get("/api/v1/statistics", "statistics", "Figures", json(schema::<Statistics>(schemas))),
        events.refusing(&[426]),
        Operation::get("/api/conversations", "listConversations", "A page of sessions", json(schema::<SessionList>(schemas)))
            .with(page(50)),
        Operation::get(
            session,
            "readConversation",
            "A session with a page of its messages",
            json(schema::<SessionRecord>(schemas)),
        )
        .with([id.clone(), newest_first])
        .with(page(100))
        .refusing(&[404]),
        Operation::get(
            "/api/v1/sessions/{session_id}/context",
            "recentContext",
            "What tools did last in a session",
            json(schema::<OperationList>(schemas)),
        )
        .with([id.clone(), most, filter])
        .refusing(&[404]),
        Operation { method: "delete", ..Operation::get(session, "deleteConversation", "Puts a session into the trash", deleted) }
            .with([id])
            .refusing(&[404, 409, 413]),
        Operation::get("/api/v1/query", "query", "Says something to a context", query).taking(schema::<QueryWish>(schemas)),
        Operation::get(
            "/api/multi-agent/query",
            "queryAgents",
            "Says something to one of several contexts",
            json(schema::<AgentAnswer>(schemas)),
        )
        .taking(schema::<AgentWish>(schemas)),
    ]
}

fn schema<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schemas.subschema_for::<T>().to_value()
}

fn parameter(name: &str, place: &str, required: bool, schema: &Value) -> Value {
    json!({ "name": name, "in": place, "required": required, "schema": schema })
}

/// Which page, with so many on it where nobody says.
fn page(most: u32) -> [Value; 2] {
    [
        parameter("limit", "query", false, &json!({ "type": "integer", "minimum": 1, "maximum": 500, "default": most })),
        parameter("offset", "query", false, &json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX, "default": 0 })),
    ]
}

fn client() -> Value {
    let mut client = parameter(CLIENT, "header", false, &json!({ "type": "string" }));
    client["description"] = json!("What the program calls itself, where its User-Agent does not say it: name or name/version");
    client
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "A parameter or the body does not fit",
        401 => "The token is missing or wrong",
        403 => "Host or origin is foreign, or the user has not allowed this",
        404 => "There is no such thing for this program",
        408 => "The body did not come in time",
        409 => "Not now: a reply is being written, the context has expired, or no model may answer",
        413 => "Too large, or a limit of the vault is reached",
        423 => "The vault is not open; the user opens it in Evenkeel",
        426 => "This address speaks WebSocket",
        502 => "The model or its provider failed",
        _ => "An error of Evenkeel",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::path::Path;

    /// `EVENKEEL_WRITE_DOCS=1` writes it.
    #[test]
    fn the_document_in_the_repository_is_the_one_that_is_served() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let made = format!("{}\n", serde_json::to_string_pretty(&openapi()).unwrap());
        if std::env::var_os("EVENKEEL_WRITE_DOCS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), made, "run this test with EVENKEEL_WRITE_DOCS=1");
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        let document = openapi();
        let text = document.to_string();
        let references: Vec<_> = text.split("\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(references.len() > 10);
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
