//! The network journal: every request of this process, without its content.

use crate::{Clock, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, ErrorCode, FieldError, ProviderLocality, RequestPurpose};
use evenkeel_provider::{Behalf, HttpClient, JournalEntry};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests that are kept; the oldest goes first.
const KEPT: usize = 1_000;

/// One request: no content, no path, no header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct NetworkRequest {
    /// When it was over.
    pub at: DateTime<Utc>,
    /// `GET`, `POST`, …
    pub method: String,
    /// Scheme, host and port.
    pub origin: String,
    /// Whether it stayed on this machine, as far as address and model tell.
    pub locality: ProviderLocality,
    /// Why.
    pub purpose: RequestPurpose,
    /// The context that it was made for, if there is one.
    pub context_id: Option<ContextId>,
    /// The HTTP status; `None` if no answer came.
    pub status: Option<u16>,
    /// Why no whole answer came, where none did.
    pub failure: Option<ErrorCode>,
    /// The rule that kept it from leaving, in English; nothing was sent then.
    pub rule: Option<String>,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the answer's body that were read.
    pub bytes_in: u64,
    /// From the call to the end of the answer.
    pub millis: u32,
}

/// What the journal holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct NetworkPage {
    /// The newest first.
    pub requests: Vec<NetworkRequest>,
    /// Since when requests are noted: the start of the app.
    pub since: DateTime<Utc>,
    /// Requests since then of the context that was asked for, or of all, those that are no longer kept included.
    pub total: u64,
    /// How many of them went beyond this machine.
    pub left: u64,
}

/// Requests of this process, in memory alone; see ADR 27.
pub(crate) struct Journal {
    clock: Arc<dyn Clock>,
    since: DateTime<Utc>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    requests: VecDeque<NetworkRequest>,
    /// Of those that are no longer kept: whose they were, how many, and how many of them left.
    gone: Vec<(Option<ContextId>, u64, u64)>,
}

impl Journal {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let since = clock.now();
        Self { clock, since, kept: Mutex::default() }
    }

    fn page(&self, context: Option<ContextId>, limit: usize) -> NetworkPage {
        let kept = self.lock();
        let is_meant = |id: Option<ContextId>| context.is_none() || id == context;
        let mut page = NetworkPage { requests: Vec::new(), since: self.since, total: 0, left: 0 };
        for (_, total, left) in kept.gone.iter().filter(|(id, ..)| is_meant(*id)) {
            page.total += total;
            page.left += left;
        }
        for request in kept.requests.iter().rev().filter(|request| is_meant(request.context_id)) {
            page.total += 1;
            page.left += u64::from(has_left(request));
            if page.requests.len() < limit {
                page.requests.push(request.clone());
            }
        }
        page
    }

    /// Forgets all of it.
    pub fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl evenkeel_provider::Journal for Journal {
    fn record(&self, entry: JournalEntry) {
        let request = NetworkRequest {
            at: self.clock.now(),
            method: entry.method,
            origin: entry.origin,
            locality: entry.locality,
            purpose: entry.purpose,
            context_id: entry.context,
            status: entry.status,
            failure: entry.failure,
            rule: entry.rule.map(str::to_owned),
            bytes_out: entry.bytes_out,
            bytes_in: entry.bytes_in,
            millis: u32::try_from(entry.duration.as_millis()).unwrap_or(u32::MAX),
        };
        let mut kept = self.lock();
        kept.requests.push_back(request);
        if kept.requests.len() > KEPT
            && let Some(oldest) = kept.requests.pop_front()
        {
            kept.count(&oldest);
        }
    }
}

impl Kept {
    fn count(&mut self, oldest: &NetworkRequest) {
        let known = self.gone.iter().position(|(id, ..)| *id == oldest.context_id);
        let known = known.unwrap_or_else(|| {
            self.gone.push((oldest.context_id, 0, 0));
            self.gone.len() - 1
        });
        if let Some((_, total, left)) = self.gone.get_mut(known) {
            *total += 1;
            *left += u64::from(has_left(oldest));
        }
    }
}

/// Whether something was sent beyond this machine. A request whose connection failed may have told a name server which
/// host it was for, so it counts.
fn has_left(request: &NetworkRequest) -> bool {
    request.locality == ProviderLocality::Remote && request.rule.is_none()
}

impl Service {
    /// The newest requests, the newest first, of one context or of all.
    ///
    /// # Errors
    /// The limit is not 1–1,000, or the vault is locked.
    pub async fn network_list(&self, context: Option<ContextId>, limit: u32) -> Result<NetworkPage, ServiceError> {
        self.session()?;
        if !(1..=KEPT).contains(&(limit as usize)) {
            return Err(FieldError { field: "limit", value: limit.to_string(), range: format!("1 to {KEPT}") }.into());
        }
        Ok(self.network().page(context, limit as usize))
    }

    /// The client for work of a context.
    pub(crate) fn http_for(&self, context: Option<ContextId>, purpose: Option<RequestPurpose>) -> HttpClient {
        self.http().on_behalf(Behalf { context, purpose })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::SystemClock;
    use evenkeel_provider::Journal as _;
    use std::time::Duration;

    fn entry(context: Option<ContextId>, locality: ProviderLocality, rule: Option<&'static str>) -> JournalEntry {
        JournalEntry {
            method: "POST".into(),
            origin: "https://example.com".into(),
            locality,
            purpose: RequestPurpose::Chat,
            context,
            status: Some(200),
            failure: None,
            rule,
            bytes_out: 1,
            bytes_in: 2,
            duration: Duration::from_millis(3),
            refused: rule.is_some(),
        }
    }

    #[test]
    fn what_is_no_longer_kept_still_counts() {
        let journal = Journal::new(Arc::new(SystemClock));
        let [ada, bob] = [1, 2].map(|byte| ContextId::from_parts(DateTime::UNIX_EPOCH, [byte; 10]));
        journal.record(entry(Some(ada), ProviderLocality::Remote, None));
        journal.record(entry(Some(bob), ProviderLocality::Remote, Some("a rule")));
        assert_eq!(journal.page(None, 10).left, 1, "what a rule refused has not left");
        for _ in 0..KEPT {
            journal.record(entry(Some(bob), ProviderLocality::Local, None));
        }
        let (all, of_ada) = (journal.page(None, 5), journal.page(Some(ada), 5));
        assert_eq!((all.requests.len(), all.total, all.left), (5, KEPT as u64 + 2, 1));
        assert_eq!((of_ada.requests.len(), of_ada.total, of_ada.left), (0, 1, 1));
        assert_eq!(journal.lock().requests.len(), KEPT);
        journal.clear();
        assert_eq!(journal.page(None, 5).total, 0);
    }
}
