//! A model behind HTTP.

use crate::endpoint::Endpoint;
use crate::error::Site;
use crate::http::{Answer, HttpClient, Purpose};
use crate::outgoing::path;
use crate::wire::{ReadFault, ReadResult, StreamReader, anthropic, ollama, openai};
use crate::{ChatRequest, EventStream, LanguageModel, ModelEvent, Outgoing, ProviderError, refusal};
use async_trait::async_trait;
use chrono::Utc;
use evenkeel_domain::{ProviderKind, runs_in_cloud};
use futures::{StreamExt, stream};
use reqwest::Method;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The models of a provider. Nothing is sent before the first request; an address that cannot
/// be used shows then.
#[must_use]
pub fn connect(endpoint: Endpoint, client: HttpClient) -> Arc<dyn LanguageModel> {
    Arc::new(RemoteModel { endpoint, client })
}

struct RemoteModel {
    endpoint: Endpoint,
    client: HttpClient,
}

#[async_trait]
impl LanguageModel for RemoteModel {
    fn outgoing(&self, request: &ChatRequest) -> Result<Outgoing, ProviderError> {
        self.endpoint.outgoing(request)
    }

    async fn stream(&self, request: ChatRequest) -> Result<EventStream, ProviderError> {
        let kind = self.endpoint.kind;
        let mut call = self.endpoint.call(Method::POST, path(kind), Purpose::Chat)?;
        call.model = Some(request.model.clone());
        if self.endpoint.local_only && kind != ProviderKind::Engine && runs_in_cloud(&request.model) {
            return Err(self.client.refuse_elsewhere(&call));
        }
        call.body = self.outgoing(&request)?.body;
        let url = call.url.clone();
        let answer = self.client.send(call).await?;
        if !(200..300).contains(&answer.status()) {
            return Err(refusal::read(answer, &url, Utc::now()).await);
        }
        Ok(events(answer, reader(kind)))
    }
}

fn reader(kind: ProviderKind) -> Box<dyn StreamReader> {
    match kind {
        ProviderKind::OpenaiCompatible | ProviderKind::Engine => openai::reader(),
        ProviderKind::Anthropic => anthropic::reader(),
        ProviderKind::Ollama => ollama::reader(),
    }
}

/// Longest wait for the end of a body whose reply is over.
const LAST_BYTES: Duration = Duration::from_secs(1);

/// A reply that is being read.
struct Reply {
    /// Gone once the reply is over.
    answer: Option<Answer>,
    reader: Box<dyn StreamReader>,
    ready: VecDeque<ReadResult>,
}

/// The events of an answer. The answer lives in the stream, so dropping it closes the
/// connection.
fn events(answer: Answer, reader: Box<dyn StreamReader>) -> EventStream {
    let reply = Reply { answer: Some(answer), reader, ready: VecDeque::new() };
    stream::unfold(reply, |mut reply| async move { reply.next().await.map(|item| (item, reply)) }).boxed()
}

impl Reply {
    async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        let answer = self.answer.as_mut()?;
        let item = loop {
            if let Some(item) = self.ready.pop_front() {
                break item.map_err(|fault| error(answer.site(), answer.status(), fault));
            }
            match answer.chunk().await {
                Ok(Some(bytes)) => self.ready.extend(self.reader.feed(&bytes)),
                Ok(None) => self.ready.extend(self.reader.finish()),
                Err(error) => break Err(error),
            }
        };
        match item {
            Err(_) => self.answer = None,
            Ok(ModelEvent::End(_)) => self.answer.take().into_iter().for_each(read_to_end),
            Ok(_) => {}
        }
        Some(item)
    }
}

/// Reads what follows the end of a reply, most often nothing: a connection whose answer was not read to
/// its end cannot serve the next message, which would wait for a new one.
fn read_to_end(mut answer: Answer) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = answer.chunk().await {} };
        // A server that keeps the connection open without a word is left.
        let _ = timeout(LAST_BYTES, rest).await;
    });
}

fn error(site: &Site, status: u16, fault: ReadFault) -> ProviderError {
    match fault {
        ReadFault::Malformed(reason) => {
            ProviderError::Malformed { at: site.report(Some(status), None), reason: site.clean(&reason) }
        }
        ReadFault::BrokenOff(said) => ProviderError::BrokenOff { at: site.report(Some(status), said.as_deref()) },
        ReadFault::Reported(complaint) => complaint.into_error(site),
    }
}
