//! Clean-up: what has been long enough in the trash is purged, behind a backup that was checked.

use super::pulse::{Moment, millis, put_state, state};
use super::run::Run;
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    PURGE_CONFIRMATION, PurgeStep, TRASH_BEFORE_PURGE, TrashEntry, TrashId, TrashItem, purge_allowance, purge_step,
};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// When a run last looked at what has no mark of its own.
const SWEPT: &str = "swept";

/// Both clocks when a run looked at deleted messages. What is older at that time may be
/// forgotten a day of running time later: the two looks that everything in the trash gets too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    wall: DateTime<Utc>,
    running_ms: u64,
}

/// What a run of the clean-up has to do.
#[derive(Debug, Default)]
struct Work {
    /// Marks to be set in the trash, or cleared.
    marks: Vec<(TrashId, Option<u64>)>,
    /// What is purged now, deleted first before the others.
    due: Vec<TrashItem>,
    /// Deleted messages of before this look are forgotten now.
    sweep: Option<Look>,
    /// The look is noted anew.
    looks_again: bool,
}

impl Service {
    pub(super) async fn clean_up(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        let moment = run.moment;
        let Work { marks, due, sweep, looks_again } = run.session.read(move |r| work(r, moment)).await?;
        if !marks.is_empty() {
            run.session.write(move |w| set_marks(w, marks)).await?;
        }
        let destroys = !due.is_empty() || sweep.is_some();
        if destroys {
            self.back_up_before_purge().await?;
            if run.stop.is_cancelled() {
                return Ok(None);
            }
        }
        if !destroys && !looks_again {
            return Ok(None);
        }
        let counts = run
            .session
            .write(move |w| {
                let counts = purge(w, &due, sweep, moment)?;
                if looks_again {
                    let look = Look { wall: moment.reading.wall, running_ms: millis(moment.reading.running) };
                    put_state(w, SWEPT, &look)?;
                }
                Ok(counts)
            })
            .await?;
        let said: Vec<_> = counts.into_iter().filter(|(count, _)| *count > 0).map(|(n, what)| format!("{n} {what}")).collect();
        Ok((!said.is_empty()).then(|| said.join(", ")))
    }
}

/// What is to be done now; reads alone.
fn work(r: &ReadHandle<'_>, moment: Moment) -> Result<Work, StoreError> {
    let (marks, mut due) = judged(r.trash()?, moment);
    due.sort_by_key(|item| item.deleted_at);
    let total = usize::try_from(r.item_count()?).unwrap_or(usize::MAX);
    due.truncate(purge_allowance(total, due.len(), false));
    let (ripe, looks_again) = swept(state(r, SWEPT)?, moment);
    let sweep = match ripe {
        Some(look) => (r.deleted_message_count(limit(look))? > 0).then_some(look),
        None => None,
    };
    Ok(Work { marks, due, sweep, looks_again })
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

/// The look by which may be forgotten now, and whether the look is noted anew.
fn swept(look: Option<Look>, moment: Moment) -> (Option<Look>, bool) {
    let Moment { reading, hold } = moment;
    let Some(look) = look else { return (None, true) };
    let since = Duration::from_millis(look.running_ms);
    // A look from the future was had by a clock that was ahead; a counter that was lost begins anew.
    if look.wall > reading.wall || since > reading.running {
        return (None, true);
    }
    let is_ripe = reading.running.saturating_sub(since) >= PURGE_CONFIRMATION && !hold.is_active(reading.running);
    (is_ripe.then_some(look), is_ripe)
}

/// Before which time deleted messages are forgotten.
fn limit(look: Look) -> DateTime<Utc> {
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

/// Purges what is still in the trash as it was when the backup was made.
fn purge(
    w: &mut WriteHandle<'_>,
    due: &[TrashItem],
    sweep: Option<Look>,
    moment: Moment,
) -> Result<[(usize, &'static str); 3], StoreError> {
    let (mut contexts, mut conversations) = (0, Vec::new());
    let trash = w.trash()?;
    for item in due.iter().filter(|item| trash.contains(item)) {
        match item.id {
            TrashId::Context(id) => {
                w.purge_context(id, moment.reading.wall)?;
                contexts += 1;
            }
            TrashId::Conversation(id) => conversations.push(id),
        }
    }
    let conversations = w.purge_conversations(&conversations)?.len();
    let messages = match sweep.map(limit) {
        Some(before) => w.forget_deleted_messages(before)?,
        None => 0,
    };
    let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    Ok([(contexts, "contexts purged"), (conversations, "conversations purged"), (number(messages), "messages forgotten")])
}

#[cfg(test)]
mod tests;
