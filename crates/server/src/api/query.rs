//! Questions: answered at once, or as they grow by Server-Sent Events.

use super::asker::{Asker, is_called};
use super::exchange::{Exchange, Place, Reply};
use super::input::{Json, misfit};
use super::record::{AgentAnswer, AgentWish, ErrorRecord, QueryAnswer, QueryWish};
use super::session::citations;
use crate::http::refusal::Refusal;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use evenkeel_domain::{Context, ErrorBody};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;
use tokio::sync::mpsc;

/// Most contexts that a question may name.
const AGENTS: usize = 20;

/// Says something to a context.
pub(super) async fn query(asker: Asker, headers: HeaderMap, Json(wish): Json<QueryWish>) -> Result<Response, Refusal> {
    check(&wish.query)?;
    let place = Place {
        session: wish.session_id.as_deref(),
        context: wish.context_id.as_deref(),
        agent: None,
        is_transient: wish.transient,
    };
    let exchange = Exchange::prepared(asker, place, wish.query).await?;
    if is_streamed(&headers) {
        return Ok(streamed(exchange));
    }
    let reply = exchange.held(|_| {}).await?;
    Ok(axum::Json(answer(reply)).into_response())
}

/// Says something to one of several contexts.
pub(super) async fn query_agents(asker: Asker, Json(wish): Json<AgentWish>) -> Result<Response, Refusal> {
    check(&wish.query)?;
    let agent = match &wish.agents {
        Some(agents) => Some(chosen(&asker, agents, &wish.query).await?),
        None => None,
    };
    let place = Place { session: wish.session_id.as_deref(), context: None, agent, is_transient: false };
    let reply = Exchange::prepared(asker.clone(), place, wish.query).await?.held(|_| {}).await?;
    let answer = AgentAnswer {
        success: reply.error.is_none(),
        citations: citations(&asker, &reply.citations).await?,
        session_id: reply.session_id,
        content: reply.text,
        agent_name: reply.agent_name,
        care: reply.care,
        tool_name: reply.tool_name,
        error: reply.error,
    };
    Ok(axum::Json(answer).into_response())
}

fn check(query: &str) -> Result<(), ErrorBody> {
    if query.trim().is_empty() { Err(misfit("query", "empty", "some text")) } else { Ok(()) }
}

fn answer(reply: Reply) -> QueryAnswer {
    QueryAnswer {
        response: reply.text,
        success: reply.error.is_none(),
        session_id: reply.session_id,
        agent_name: reply.agent_name,
        care: reply.care,
        tool_name: reply.tool_name,
        error: reply.error,
    }
}

/// The first of the named contexts whose name stands in the question, else the first.
async fn chosen(asker: &Asker, agents: &[String], query: &str) -> Result<Context, ErrorBody> {
    if !(1..=AGENTS).contains(&agents.len()) {
        return Err(misfit("agents", agents.len(), "1 to 20 names or ids of contexts"));
    }
    let contexts = asker.caller.contexts(true).await?;
    let mut found = Vec::with_capacity(agents.len());
    for agent in agents {
        match contexts.iter().find(|context| is_called(context, agent)) {
            Some(context) => found.push(context.clone()),
            None => found.push(asker.caller.context(agent).await?),
        }
    }
    let query = query.to_lowercase();
    let at = found.iter().position(|context| query.contains(&context.name.to_lowercase())).unwrap_or(0);
    Ok(found.swap_remove(at))
}

fn is_streamed(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/event-stream"))
}

/// The reply as it grows: `text` with what has come, and at last `end` with the whole, or `error`.
fn streamed(exchange: Exchange) -> Response {
    let (send, received) = mpsc::unbounded_channel();
    let closed = exchange.asker.desk.closed.clone();
    tokio::spawn(async move {
        let told = |delta: &str| drop(send.send(event("text", &json!({ "delta": delta }))));
        let last = tokio::select! {
            // Nobody waits any more: the reply is stopped.
            () = send.closed() => return,
            () = closed.cancelled() => return,
            outcome = exchange.held(told) => match outcome {
                Ok(reply) => event("end", &answer(reply)),
                Err(error) => event("error", &ErrorRecord::from(error)),
            },
        };
        let _ = send.send(last);
    });
    let events = futures::stream::unfold(received, |mut received| async move {
        received.recv().await.map(|event| (Ok::<_, Infallible>(event), received))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
