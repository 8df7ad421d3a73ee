//! What is told of a rescue.

use chrono::{DateTime, Utc};
use evenkeel_store::backup::Rescued;
use serde::{Deserialize, Serialize};

/// What a rescue would bring or has brought, beside what the newest backup alone would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RescueOffer {
    /// Whether the damaged database opens at all; if not, everything is from the backup.
    pub opens: bool,
    /// Messages in the rescued vault.
    pub messages: u64,
    /// When the newest of them was written.
    pub newest_at: Option<DateTime<Utc>>,
    /// Rows of all kinds that the backup filled in.
    pub from_backup: u64,
    /// Whether something could be read neither in the vault nor, as far as it was there, in the backup.
    pub has_gaps: bool,
    /// Messages in the rescued vault that restoring the newest backup alone would lose; all of them without a backup.
    pub messages_lost_by_backup: u64,
    /// When that backup was made; `None` where none is whole.
    pub backup_at: Option<DateTime<Utc>>,
    /// Minutes of what was said that restoring the backup alone would lose against the rescue, rounded up.
    pub minutes_lost_by_backup: Option<u32>,
    /// Where the damaged database lies now, as it was; `None` before the rescue.
    pub set_aside: Option<String>,
}

impl RescueOffer {
    pub(crate) fn of(rescued: &Rescued) -> Self {
        Self {
            opens: rescued.opens,
            messages: rescued.counts.messages,
            newest_at: rescued.newest,
            from_backup: rescued.tables.iter().map(|table| table.from_backup).sum(),
            messages_lost_by_backup: rescued.beyond_backup,
            has_gaps: rescued.has_gaps(),
            backup_at: rescued.backup.as_ref().map(|about| about.made_at),
            minutes_lost_by_backup: rescued.minutes_lost_by_backup().map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)),
            set_aside: rescued.set_aside.as_ref().map(|path| path.display().to_string()),
        }
    }
}
