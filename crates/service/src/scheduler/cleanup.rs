//! Clean-up: what has been long enough in the trash is purged, behind a backup that was checked.

mod set_aside;

use super::pulse::{Moment, millis, put_state, state};
use super::run::Run;
use crate::backup::blocking;
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ClockReading, PURGE_CONFIRMATION, PurgeStep, TRASH_BEFORE_PURGE, TrashEntry, TrashId, TrashItem, purge_allowance, purge_step,
    within_allowance,
};
use evenkeel_store::{Purge, ReadHandle, Store, StoreError, WriteHandle, state_key};
use std::sync::Arc;
use std::time::Duration;

/// Deleted messages that are forgotten in one transaction.
const PORTION: u32 = 200;

/// What a run of the clean-up has to do.
#[derive(Debug, Default)]
struct Work {
    /// Marks to be set in the trash, or cleared.
    marks: Vec<(TrashId, Option<u64>)>,
    /// What an earlier purge has begun with and not ended.
    begun: Vec<TrashItem>,
    /// What is purged now, deleted first before the others.
    due: Vec<TrashItem>,
    /// How many are due and too much to go without being asked.
    waiting: usize,
    /// Deleted messages of before this look are forgotten now.
    sweep: Option<ClockReading>,
    /// How many of them, at most.
    forgets: u32,
    /// The look is noted anew.
    looks_again: bool,
}

impl Service {
    pub(super) async fn clean_up(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        let moment = run.moment;
        let mut work = run.session.read(move |r| work(r, moment)).await?;
        let marks = std::mem::take(&mut work.marks);
        if !marks.is_empty() {
            run.session.write(move |w| set_marks(w, marks)).await?;
        }
        if !work.due.is_empty() || work.sweep.is_some() {
            self.back_up_before_purge().await?;
        }
        let (store, stop, looks_again) = (run.session.store(), run.stop.clone(), work.looks_again);
        let mut counts = blocking("purging", move || Ok(work.carry_out(&store, moment, &mut || !stop.is_cancelled())?)).await?;
        if looks_again {
            run.session.write(move |w| put_state(w, state_key::SWEPT, &moment.reading)).await?;
        }
        counts.push((self.remove_old_set_aside(run).await?, "databases from before a restore removed"));
        counts.push((self.clean_up_sessions().await?, "transient sessions put into the trash"));
        let said: Vec<_> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(n, what)| format!("{n} {what}")).collect();
        Ok((!said.is_empty()).then(|| said.join(", ")))
    }

    /// Deletes these for good, as far as they lie in the trash since then, without keeping others
    /// waiting; gives those that are gone.
    pub(crate) async fn purge_items(&self, store: Arc<Store>, items: Vec<TrashItem>) -> Result<Vec<TrashId>, ServiceError> {
        let (stop, now) = (self.stop_of_jobs(), self.now());
        blocking("purging", move || {
            let mut gone = Vec::new();
            for item in items {
                if store.purge(&item, now, &mut || !stop.is_cancelled())? == Purge::Gone {
                    gone.push(item.id);
                }
            }
            Ok(gone)
        })
        .await
    }
}

impl Work {
    /// Deletes what is due; what changed in the trash meanwhile stays. Gives how much of what.
    fn carry_out(
        &self,
        store: &Store,
        moment: Moment,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(usize, &'static str)>, StoreError> {
        let (mut contexts, mut conversations) = (0, 0);
        for item in self.begun.iter().chain(&self.due) {
            if store.purge(item, moment.reading.wall, go_on)? == Purge::Gone {
                match item.id {
                    TrashId::Context(_) => contexts += 1,
                    TrashId::Conversation(_) => conversations += 1,
                }
            }
        }
        let mut messages = 0;
        if let Some(before) = self.sweep.map(limit) {
            while messages < self.forgets && go_on() {
                let most = PORTION.min(self.forgets - messages);
                let forgotten = store.write(|w| w.forget_some_deleted_messages(before, most))?;
                messages += forgotten;
                if forgotten < most {
                    break;
                }
            }
        }
        let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        Ok(vec![
            (contexts, "contexts purged"),
            (conversations, "conversations purged"),
            (number(messages), "messages forgotten"),
            (self.waiting, "too much to go without being asked"),
        ])
    }
}

/// What is to be done now; reads alone.
fn work(r: &ReadHandle<'_>, moment: Moment) -> Result<Work, StoreError> {
    let (marks, mut due) = judged(r.trash()?, moment);
    due.sort_by_key(|item| item.deleted_at);
    let allowance = purge_allowance(r.vault_weight()?);
    let waiting = due.iter().filter(|item| item.waits).count();
    let weights: Vec<_> = due.iter().map(|item| item.weight).collect();
    let goes = within_allowance(&weights, allowance);
    let taken: u64 = weights.iter().zip(&goes).filter(|(_, goes)| **goes).map(|(weight, _)| weight).sum();
    let mut goes = goes.into_iter();
    due.retain(|_| goes.next() == Some(true));
    let forgets = u32::try_from(allowance.saturating_sub(taken)).unwrap_or(u32::MAX);
    let (ripe, looks_again) = swept(state(r, state_key::SWEPT)?, moment);
    let sweep = match ripe {
        Some(look) => (r.deleted_message_count(limit(look))? > 0).then_some(look),
        None => None,
    };
    Ok(Work { marks, begun: r.unfinished_purges()?, due, waiting, sweep, forgets, looks_again })
}

/// The marks to be set or cleared, and what may be purged.
fn judged(trash: Vec<TrashItem>, moment: Moment) -> (Vec<(TrashId, Option<u64>)>, Vec<TrashItem>) {
    let (mut marks, mut due) = (Vec::new(), Vec::new());
    for item in trash {
        let entry = TrashEntry {
            deleted_at: item.deleted_at,
            shown_at: item.shown_at,
            due_since_running: item.purge_due_running_ms.map(Duration::from_millis),
        };
        match purge_step(&entry, moment.reading, moment.hold) {
            PurgeStep::NotShown | PurgeStep::Wait { .. } => {}
            PurgeStep::MarkDue => marks.push((item.id, Some(millis(moment.reading.running)))),
            PurgeStep::Unmark => marks.push((item.id, None)),
            PurgeStep::Purge => due.push(item),
        }
    }
    (marks, due)
}

/// The look by which may be forgotten now, and whether the look is noted anew: what has no mark of
/// its own gets the two looks, a day of running time apart, that everything in the trash gets.
fn swept(look: Option<ClockReading>, moment: Moment) -> (Option<ClockReading>, bool) {
    let Moment { reading, hold } = moment;
    // A look from the future was had by a clock that was ahead; a counter that was lost begins anew.
    let Some((look, (_, since))) = look.and_then(|look| Some((look, reading.since(look)?))) else { return (None, true) };
    let is_ripe = since >= PURGE_CONFIRMATION && !hold.is_active(reading.running);
    (is_ripe.then_some(look), is_ripe)
}

/// Before which time deleted messages are forgotten.
fn limit(look: ClockReading) -> DateTime<Utc> {
    look.wall.checked_sub_signed(TRASH_BEFORE_PURGE).unwrap_or(DateTime::<Utc>::MIN_UTC)
}

fn set_marks(w: &mut WriteHandle<'_>, marks: Vec<(TrashId, Option<u64>)>) -> Result<(), StoreError> {
    let trash = w.trash()?;
    for (id, running_ms) in marks {
        // One that was restored meanwhile needs none.
        if trash.iter().any(|item| item.id == id) {
            w.set_purge_due(id, running_ms)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
