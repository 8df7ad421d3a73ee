//! The one HTTP client: all traffic of the app leaves through [`HttpClient::send`].

use crate::egress::{self, Barred, ForbiddenName, GuardedResolver, Lane};
use crate::endpoint::shown;
use crate::error::Site;
use crate::{ProviderError, Report};
use bytes::Bytes;
pub use evenkeel_domain::RequestPurpose as Purpose;
use evenkeel_domain::{ContextId, ErrorCode, ProviderLocality, runs_in_cloud};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, redirect};
use secrecy::{ExposeSecret, SecretString};
use std::error::Error as _;
use std::sync::{Arc, Once, OnceLock};
use std::time::{Duration, Instant};
use url::Url;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept. Shorter than the 5 seconds after which local servers (llama.cpp,
/// uvicorn, Node) close it: a message sent at that moment would break off.
const IDLE_LOCAL: Duration = Duration::from_secs(3);
/// The same for servers elsewhere, which keep connections for a minute and more.
const IDLE_REMOTE: Duration = Duration::from_secs(50);
/// What every request is named by.
const USER_AGENT: &str = concat!("Evenkeel/", env!("CARGO_PKG_VERSION"));

/// On whose behalf a client sends; the journal notes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behalf {
    /// The context, if there is one.
    pub context: Option<ContextId>,
    /// Why, in place of what the request alone says.
    pub purpose: Option<Purpose>,
}

/// One request as the network journal records it. No content, no path, no header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// `GET`, `POST`, …
    pub method: String,
    /// Scheme, host and port.
    pub origin: String,
    /// Whether it stays on this machine, as far as address and model tell.
    pub locality: ProviderLocality,
    /// Why.
    pub purpose: Purpose,
    /// The context that it is made for, if there is one.
    pub context: Option<ContextId>,
    /// The HTTP status; `None` if no answer came.
    pub status: Option<u16>,
    /// Why no whole answer came, where none did.
    pub failure: Option<ErrorCode>,
    /// The rule that kept the request from leaving, in English.
    pub rule: Option<&'static str>,
    /// Bytes of the request's body; 0 if the request was refused or no connection came about.
    pub bytes_out: u64,
    /// Bytes of the answer's body that were read.
    pub bytes_in: u64,
    /// From the call to the end of the answer, or to its being dropped.
    pub duration: Duration,
    /// True if a rule kept the request from leaving.
    pub refused: bool,
}

/// Where requests are recorded. Called once per request, when it is over.
pub trait Journal: Send + Sync {
    /// Takes one entry; must not block. The time of the end is now.
    fn record(&self, entry: JournalEntry);
}

/// One request.
pub struct Call {
    /// The method.
    pub method: Method,
    /// Where to; checked before anything is sent.
    pub url: Url,
    /// Headers, with credentials marked as sensitive.
    pub headers: HeaderMap,
    /// The body; empty = none.
    pub body: Bytes,
    /// Longest time without a byte.
    pub timeout: Duration,
    /// Refuses everything that is not on this machine.
    pub local_only: bool,
    /// Why.
    pub purpose: Purpose,
    /// The model that is asked for; named in errors.
    pub model: Option<String>,
    /// The built-in engine answers.
    pub is_engine: bool,
    /// What must not appear in an error, such as the key.
    pub secrets: Vec<SecretString>,
}

impl Call {
    /// A request without headers and body.
    #[must_use]
    pub fn new(method: Method, url: Url, purpose: Purpose, timeout: Duration) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeout,
            local_only: false,
            purpose,
            model: None,
            is_engine: false,
            secrets: Vec::new(),
        }
    }

    /// A request to an address as users type it.
    ///
    /// # Errors
    /// `AddressRefused` if it is no address.
    pub fn to(method: &str, address: &str, purpose: Purpose, timeout: Duration) -> Result<Self, ProviderError> {
        let refused = |reason: String| ProviderError::AddressRefused { at: Report::at(shown(address)), reason };
        let url = egress::parse(address).map_err(|error| refused(format!("it is no address ({error})")))?;
        let method = method.parse().map_err(|_| refused(format!("{method} is no method")))?;
        Ok(Self::new(method, url, purpose, timeout))
    }

    /// Lets a bearer token go with it, which no error repeats.
    ///
    /// # Errors
    /// `Unauthorized` if it holds characters that no token has.
    pub fn bear(&mut self, token: SecretString) -> Result<(), ProviderError> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret())).map_err(|_| {
            let said = "the stored token holds characters that no token has; it was not sent";
            ProviderError::Unauthorized { at: self.site().report(None, Some(said)) }
        })?;
        value.set_sensitive(true);
        self.headers.insert(AUTHORIZATION, value);
        self.secrets.push(token);
        Ok(())
    }

    /// Lets JSON go with it.
    pub fn carry_json(&mut self, body: Vec<u8>) {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.body = body.into();
    }

    pub(crate) fn site(&self) -> Site {
        Site { address: address(&self.url), model: self.model.clone(), secrets: self.secrets.clone() }
    }
}

/// Origin and path: user name, password and query may hold secrets.
pub(crate) fn address(url: &Url) -> String {
    format!("{}{}", origin(url), url.path().trim_end_matches('/'))
}

fn origin(url: &Url) -> String {
    let host = url.host_str().unwrap_or("");
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}", url.scheme())
}

/// The client. Cheap to clone; connections are shared by the clones.
///
/// Redirects are off, so a key never leaves the origin it was entered for. Plain http goes to
/// this machine only, past any proxy; the rest goes over TLS with the system's certificates
/// and through the system's proxy.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
    behalf: Behalf,
}

/// Why no client could be made, such as certificates that cannot be read.
#[derive(Clone)]
struct Unbuilt(String);

struct Inner {
    // Made at first use: reading the system's certificates takes milliseconds, which a user
    // of local models need not pay.
    lanes: [OnceLock<Result<Client, Unbuilt>>; 3],
    journal: Option<Arc<dyn Journal>>,
}

impl HttpClient {
    /// A client that records each request in the journal, if there is one.
    #[must_use]
    pub fn new(journal: Option<Arc<dyn Journal>>) -> Self {
        Self { inner: Arc::new(Inner { lanes: [const { OnceLock::new() }; 3], journal }), behalf: Behalf::default() }
    }

    /// The same client, whose requests are noted as sent on someone's behalf.
    #[must_use]
    pub fn on_behalf(&self, behalf: Behalf) -> Self {
        Self { inner: Arc::clone(&self.inner), behalf }
    }

    /// Sends a request and returns when status and headers of the answer are there, whatever
    /// the status.
    ///
    /// # Errors
    /// `AddressRefused`, `LocalOnly`, `Unreachable`, `Timeout`, or `BrokenOff` when the server
    /// closes the connection without an answer.
    pub async fn send(&self, call: Call) -> Result<Answer, ProviderError> {
        let (site, timeout) = (call.site(), call.timeout);
        let mut record = Record::begin(&call, self);
        let sent = self.answer(call, &site, &mut record).await;
        match sent {
            Ok(response) => {
                record.entry.status = Some(response.status().as_u16());
                Ok(Answer { response, site, timeout, record })
            }
            Err(error) => {
                record.entry.failure = Some(error.code());
                Err(error)
            }
        }
    }

    async fn answer(&self, call: Call, site: &Site, record: &mut Record) -> Result<reqwest::Response, ProviderError> {
        let lane = egress::check(&call.url, call.local_only).map_err(|barred| {
            record.refuse(barred.rule());
            barred_error(site, &barred)
        })?;
        let client = self.lane(lane).map_err(|Unbuilt(reason)| {
            record.entry.bytes_out = 0;
            ProviderError::Unreachable { at: site.bare(), reason }
        })?;
        let mut request = client.request(call.method, call.url).headers(call.headers);
        if !call.body.is_empty() {
            request = request.body(call.body);
        }
        tokio::time::timeout(call.timeout, request.send())
            .await
            .map_err(|_| ProviderError::Timeout { at: site.bare(), limit: call.timeout })?
            .map_err(|error| {
                if let Some(rule) = forbidden(&error) {
                    record.refuse(rule);
                } else if error.is_connect() {
                    record.entry.bytes_out = 0;
                }
                send_error(site, &error)
            })
    }

    /// Notes a request that was kept from leaving before it was sent: a model that is elsewhere, asked for where only
    /// this machine may answer. Gives the refusal.
    pub(crate) fn refuse_elsewhere(&self, call: &Call) -> ProviderError {
        let mut record = Record::begin(call, self);
        record.refuse(Barred::NotLocal.rule());
        record.entry.failure = Some(ErrorCode::LocalOnly);
        ProviderError::LocalOnly { at: call.site().bare() }
    }

    fn lane(&self, lane: Lane) -> Result<Client, Unbuilt> {
        let slot = &self.inner.lanes[lane as usize];
        slot.get_or_init(|| build(lane).map_err(|error| Unbuilt(chain(&error)))).clone()
    }
}

fn build(lane: Lane) -> Result<Client, reqwest::Error> {
    static RING: Once = Once::new();
    RING.call_once(|| {
        // An error says that a provider is installed already, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .dns_resolver(Arc::new(GuardedResolver { loopback_only: lane != Lane::Remote }));
    let builder = builder.pool_idle_timeout(match lane {
        Lane::Loopback | Lane::LoopbackTls => IDLE_LOCAL,
        Lane::Remote => IDLE_REMOTE,
    });
    match lane {
        Lane::Loopback => builder.no_proxy().tls_certs_only([]),
        Lane::LoopbackTls => builder.no_proxy().https_only(true),
        Lane::Remote => builder.https_only(true),
    }
    .build()
}

fn barred_error(site: &Site, barred: &Barred) -> ProviderError {
    match barred {
        Barred::NotLocal => ProviderError::LocalOnly { at: site.bare() },
        Barred::Forbidden(reason) => ProviderError::AddressRefused { at: site.bare(), reason: (*reason).to_owned() },
    }
}

/// The rule that a name was refused by, once it was known where it leads.
fn forbidden(error: &reqwest::Error) -> Option<&'static str> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(ForbiddenName(reason)) = cause.downcast_ref() {
            return Some(reason);
        }
        source = cause.source();
    }
    None
}

fn send_error(site: &Site, error: &reqwest::Error) -> ProviderError {
    if let Some(reason) = forbidden(error) {
        return ProviderError::AddressRefused { at: site.bare(), reason: reason.to_owned() };
    }
    if error.is_connect() || error.is_builder() {
        return ProviderError::Unreachable { at: site.bare(), reason: site.clean(&chain(error)) };
    }
    ProviderError::BrokenOff { at: site.report(None, None) }
}

/// The innermost cause: the outer ones repeat the address, query included.
fn chain(error: &reqwest::Error) -> String {
    let mut innermost: Option<&dyn std::error::Error> = error.source();
    while let Some(deeper) = innermost.and_then(std::error::Error::source) {
        innermost = Some(deeper);
    }
    innermost.map_or_else(|| "no connection".to_owned(), ToString::to_string)
}

/// Writes the journal entry when the request is over, however it ends.
struct Record {
    entry: JournalEntry,
    begun: Instant,
    journal: Option<Arc<dyn Journal>>,
}

impl Record {
    fn begin(call: &Call, client: &HttpClient) -> Self {
        // The engine hands nothing on, however its model's file is called.
        let handed_on = !call.is_engine && call.model.as_deref().is_some_and(runs_in_cloud);
        let is_here = egress::is_loopback(&call.url) && !handed_on;
        let entry = JournalEntry {
            method: call.method.to_string(),
            origin: origin(&call.url),
            locality: if is_here { ProviderLocality::Local } else { ProviderLocality::Remote },
            purpose: client.behalf.purpose.unwrap_or(call.purpose),
            context: client.behalf.context,
            status: None,
            failure: None,
            rule: None,
            bytes_out: call.body.len() as u64,
            bytes_in: 0,
            duration: Duration::ZERO,
            refused: false,
        };
        Self { entry, begun: Instant::now(), journal: client.inner.journal.clone() }
    }

    fn refuse(&mut self, rule: &'static str) {
        self.entry.refused = true;
        self.entry.rule = Some(rule);
        self.entry.bytes_out = 0;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(journal) = self.journal.take() {
            self.entry.duration = self.begun.elapsed();
            journal.record(self.entry.clone());
        }
    }
}

/// An answer whose body is still to be read. Dropping it closes the connection.
pub struct Answer {
    response: reqwest::Response,
    site: Site,
    timeout: Duration,
    record: Record,
}

impl Answer {
    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// A header, if it is there and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The next bytes of the body; `None` at its end.
    ///
    /// # Errors
    /// `Timeout` if nothing comes for the call's time limit, `BrokenOff` if the connection ends
    /// in the middle.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let chunk = match tokio::time::timeout(self.timeout, self.response.chunk()).await {
            Ok(Ok(chunk)) => chunk,
            outcome => {
                let (at, limit) = (self.report(), self.timeout);
                let error = if outcome.is_err() { ProviderError::Timeout { at, limit } } else { ProviderError::BrokenOff { at } };
                self.record.entry.failure = Some(error.code());
                return Err(error);
            }
        };
        self.record.entry.bytes_in += chunk.as_ref().map_or(0, |bytes| bytes.len() as u64);
        Ok(chunk)
    }

    /// The whole body.
    ///
    /// # Errors
    /// As [`Answer::chunk`], and `Malformed` when it is longer than `limit` bytes.
    pub async fn body(&mut self, limit: usize) -> Result<Vec<u8>, ProviderError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                let reason = format!("the answer is longer than {limit} bytes");
                return Err(ProviderError::Malformed { at: self.report(), reason });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// As much of the body as comes, up to `limit` bytes: what has arrived of an error's text
    /// is better than a second error.
    pub(crate) async fn some_body(&mut self, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() >= limit {
                body.truncate(limit);
                break;
            }
        }
        body
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn report(&self) -> Report {
        self.site.report(Some(self.status()), None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use reqwest::dns::{Addrs, Name, Resolve, Resolving};

    struct LeadsAstray;

    impl Resolve for LeadsAstray {
        fn resolve(&self, _: Name) -> Resolving {
            let refusal: Result<Addrs, Box<dyn std::error::Error + Send + Sync>> =
                Err(Box::new(ForbiddenName("it is a link-local address")));
            Box::pin(async move { refusal })
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_astray_is_an_address_refused() {
        drop(build(Lane::Loopback));
        let client = Client::builder().no_proxy().tls_certs_only([]).dns_resolver(Arc::new(LeadsAstray)).build().unwrap();
        let error = client.get("http://astray.example/?token=secret").send().await.unwrap_err();
        let error = send_error(&Site { address: "http://astray.example".into(), ..Site::default() }, &error);
        let ProviderError::AddressRefused { reason, .. } = &error else { panic!("{error:?}") };
        assert_eq!(reason, "it is a link-local address");
    }

    #[test]
    fn every_lane_can_be_built() {
        for lane in [Lane::Loopback, Lane::LoopbackTls, Lane::Remote] {
            assert!(build(lane).is_ok(), "{lane:?}");
        }
    }
}
