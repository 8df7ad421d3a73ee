//! Expiry: a warning within the last day, then rest, and after a month the trash.

use super::pulse::{Moment, put_state, state};
use super::run::Run;
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ClockReading, ContextId, expire_due, trash_due, warning_due};
use evenkeel_store::{Lifetime, ReadHandle, StoreError, WriteHandle, state_key};
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
/// When each context was laid to rest, or was first found resting.
type Rested = BTreeMap<ContextId, ClockReading>;

/// What earlier runs have noted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Notes {
    warned: Warned,
    rested: Rested,
}

impl Notes {
    fn read(r: &ReadHandle<'_>) -> Result<Self, StoreError> {
        let warned = state(r, WARNED)?.unwrap_or_default();
        Ok(Self { warned, rested: state(r, state_key::RESTED)?.unwrap_or_default() })
    }
}

/// What is to be done about a context.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Its lifetime is over: it is read-only from now on.
    Rest(ContextId),
    /// It rests, and nobody noted since when: its month begins now.
    NoteRest(ContextId),
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
        self.end_transient().await?;
        let is_idle = run.session.read(move |r| Ok(steps(&r.lifetimes()?, &Notes::read(r)?, moment).is_empty())).await?;
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
fn steps(lifetimes: &[Lifetime], notes: &Notes, moment: Moment) -> Vec<Step> {
    lifetimes.iter().filter_map(|lifetime| step(lifetime, notes, moment)).collect()
}

fn step(lifetime: &Lifetime, notes: &Notes, moment: Moment) -> Option<Step> {
    let (id, end, now) = (lifetime.context_id, lifetime.expires_at, moment.reading);
    match (lifetime.is_active, expire_due(end, now.wall)) {
        (true, true) => Some(Step::Rest(id)),
        (true, false) => warning(lifetime, &notes.warned, now.wall),
        (false, false) => Some(Step::Wake(id)),
        // A rest from the future was noted by a clock that was ahead, or the counter was lost.
        (false, true) => match notes.rested.get(&id).filter(|rested| now.since(**rested).is_some()) {
            None => Some(Step::NoteRest(id)),
            Some(rested) => {
                let is_due = trash_due(*rested, now) && !moment.hold.is_active(now.running);
                is_due.then_some(Step::Trash(id))
            }
        },
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
    let mut notes = Notes::read(w)?;
    let steps = steps(&lifetimes, &notes, moment);
    for step in &steps {
        match step {
            Step::Rest(id) => {
                w.set_context_active(*id, false, now)?;
                notes.rested.insert(*id, moment.reading);
            }
            Step::NoteRest(id) => {
                notes.rested.insert(*id, moment.reading);
            }
            Step::Wake(id) => w.set_context_active(*id, true, now)?,
            Step::Trash(id) => w.trash_context(*id, now)?,
            Step::Warn(news) => {
                notes.warned.insert(news.context_id, news.expires_at.timestamp_millis());
            }
        }
    }
    forget_old(&mut notes, &lifetimes, now);
    put_state(w, WARNED, &notes.warned)?;
    put_state(w, state_key::RESTED, &notes.rested)?;
    Ok(steps)
}

/// What was warned about and has another end by now needs no memory, nor does a rest that is over.
fn forget_old(notes: &mut Notes, lifetimes: &[Lifetime], now: DateTime<Utc>) {
    let of = |id: &ContextId| lifetimes.iter().find(|lifetime| lifetime.context_id == *id);
    let ends = |id: &ContextId| of(id).and_then(|lifetime| lifetime.expires_at);
    notes.warned.retain(|id, end| ends(id).is_some_and(|expires_at| expires_at.timestamp_millis() == *end));
    notes.rested.retain(|id, _| expire_due(ends(id), now));
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
