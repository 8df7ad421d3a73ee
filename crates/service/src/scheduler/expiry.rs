//! Expiry: a warning within the last day, then rest, and after a month the trash.

use super::pulse::{Moment, put_state, state};
use super::run::Run;
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ContextId, expire_due, trash_due, warning_due};
use evenkeel_store::{Lifetime, StoreError, WriteHandle};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The ends of lifetimes that were warned about, in milliseconds, by context.
const WARNED: &str = "expiry_warned";

/// A context that expires within a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ExpiringContext {
    /// The context.
    pub context_id: ContextId,
    /// Its name.
    pub name: String,
    /// When it expires, if nobody talks to it before.
    pub expires_at: DateTime<Utc>,
}

type Warned = BTreeMap<ContextId, i64>;

/// What is to be done about a context.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Its lifetime is over: it is read-only from now on.
    Rest(ContextId),
    /// It rests, and its lifetime is not over: the clock was wrong.
    Wake(ContextId),
    /// It has rested for a month.
    Trash(ContextId),
    /// It will expire within a day.
    Warn(ExpiringContext),
}

impl Service {
    pub(super) async fn expire(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        let moment = run.moment;
        let is_idle = run
            .session
            .read(move |r| Ok(steps(&r.lifetimes()?, &state(r, WARNED)?.unwrap_or_default(), moment).is_empty()))
            .await?;
        if is_idle {
            return Ok(None);
        }
        // Looked at again in the transaction: a reply that has ended meanwhile begins a lifetime anew.
        let done = run.session.write(move |w| take_steps(w, moment)).await?;
        let said = summary(&done);
        for step in done {
            if let Step::Warn(news) = step {
                // Without a window nobody listens; the badge on the context says it too.
                let _ = self.0.scheduler.expiring.send(news);
            }
        }
        Ok(said)
    }
}

/// What is to be done about each of the contexts.
fn steps(lifetimes: &[Lifetime], warned: &Warned, moment: Moment) -> Vec<Step> {
    let now = moment.reading.wall;
    let rests = moment.hold.is_active(moment.reading.running);
    lifetimes.iter().filter_map(|lifetime| step(lifetime, warned, now, rests)).collect()
}

fn step(lifetime: &Lifetime, warned: &Warned, now: DateTime<Utc>, deletions_rest: bool) -> Option<Step> {
    let (id, end) = (lifetime.context_id, lifetime.expires_at);
    match (lifetime.is_active, expire_due(end, now)) {
        (true, true) => Some(Step::Rest(id)),
        (true, false) => warning(lifetime, warned, now),
        (false, false) => Some(Step::Wake(id)),
        (false, true) => (!deletions_rest && trash_due(end, now)).then_some(Step::Trash(id)),
    }
}

fn warning(lifetime: &Lifetime, warned: &Warned, now: DateTime<Utc>) -> Option<Step> {
    let expires_at = lifetime.expires_at?;
    let is_new = warned.get(&lifetime.context_id) != Some(&expires_at.timestamp_millis());
    // A lifetime of one day lies whole in its last day; it is warned about in the second half.
    let passed = now.signed_duration_since(lifetime.last_interaction_at);
    let left = expires_at.signed_duration_since(now);
    (is_new && passed >= left && warning_due(Some(expires_at), now))
        .then(|| Step::Warn(ExpiringContext { context_id: lifetime.context_id, name: lifetime.name.clone(), expires_at }))
}

fn take_steps(w: &mut WriteHandle<'_>, moment: Moment) -> Result<Vec<Step>, StoreError> {
    let now = moment.reading.wall;
    let lifetimes = w.lifetimes()?;
    let mut warned: Warned = state(w, WARNED)?.unwrap_or_default();
    let steps = steps(&lifetimes, &warned, moment);
    for step in &steps {
        match step {
            Step::Rest(id) => w.set_context_active(*id, false, now)?,
            Step::Wake(id) => w.set_context_active(*id, true, now)?,
            Step::Trash(id) => w.trash_context(*id, now)?,
            Step::Warn(news) => {
                warned.insert(news.context_id, news.expires_at.timestamp_millis());
            }
        }
    }
    // What was warned about and has another end by now needs no memory.
    let ends = |id: &ContextId, end: &i64| {
        let of = lifetimes.iter().find(|lifetime| lifetime.context_id == *id).and_then(|lifetime| lifetime.expires_at);
        of.is_some_and(|expires_at| expires_at.timestamp_millis() == *end)
    };
    warned.retain(|id, end| ends(id, end));
    put_state(w, WARNED, &warned)?;
    Ok(steps)
}

fn summary(steps: &[Step]) -> Option<String> {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let parts = [
        (count(|step| matches!(step, Step::Warn(_))), "warned about"),
        (count(|step| matches!(step, Step::Rest(_))), "expired"),
        (count(|step| matches!(step, Step::Wake(_))), "woken"),
        (count(|step| matches!(step, Step::Trash(_))), "to the trash"),
    ];
    let said: Vec<_> = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

#[cfg(test)]
mod tests;
