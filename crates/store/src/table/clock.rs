//! What was noted by a clock, once that clock jumped or the vault was restored.

use super::app_state::state_key;
use crate::{StoreError, WriteHandle};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ClockReading, DeletionHold, moved};
use std::collections::BTreeMap;
use std::time::Duration;

impl WriteHandle<'_> {
    /// Moves the times that deletions wait by, after the clock jumped by `by` to `now`, so that the
    /// jump counts for nothing; see [`moved`]. Call it once for a jump, from the one process that
    /// counts the running time.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `Damaged`.
    pub fn move_times(&mut self, by: TimeDelta, now: DateTime<Utc>) -> Result<(), StoreError> {
        let earliest = DateTime::<Utc>::MIN_UTC.timestamp_millis();
        let numbers = (by.num_milliseconds(), now.timestamp_millis(), earliest);
        let shift = |table: &str, column: &str| {
            format!(
                "UPDATE {table} SET {column} = min (?2, max (?3, {column} + ?1)) WHERE {column} IS NOT NULL AND (?1 > 0 OR {column} > ?2)"
            )
        };
        for (table, column) in
            [("contexts", "trash_shown_at"), ("conversations", "trash_shown_at"), ("deleted_messages", "deleted_at")]
        {
            self.execute(&shift(table, column), numbers)?;
        }
        if by < TimeDelta::zero() {
            // Forward they say rightly when something was deleted; in the future nothing was.
            for table in ["contexts", "conversations"] {
                self.execute(&shift(table, "deleted_at"), numbers)?;
            }
        }
        self.move_readings(by, now)
    }

    fn move_readings(&mut self, by: TimeDelta, now: DateTime<Utc>) -> Result<(), StoreError> {
        let anew = |reading: ClockReading| ClockReading { wall: moved(reading.wall, by, now), ..reading };
        if let Some(swept) = self.app_state(state_key::SWEPT)?.and_then(|text| serde_json::from_str(&text).ok()) {
            self.put_json(state_key::SWEPT, &anew(swept))?;
        }
        for key in [state_key::RESTED, state_key::SET_ASIDE] {
            let readings =
                self.app_state(key)?.and_then(|text| serde_json::from_str::<BTreeMap<String, ClockReading>>(&text).ok());
            if let Some(readings) = readings {
                self.put_json(key, &readings.into_iter().map(|(of, reading)| (of, anew(reading))).collect::<BTreeMap<_, _>>())?;
            }
        }
        Ok(())
    }

    fn put_json(&mut self, key: &str, value: &impl serde::Serialize) -> Result<(), StoreError> {
        let text = serde_json::to_string(value).map_err(|_| StoreError::DamagedValue { what: format!("app_state.{key}") })?;
        self.put_app_state(key, &text)
    }

    /// Begins every wait anew in a vault that was restored: its marks, runs and clocks are those of
    /// another time. Deletions rest as after a jump of the clock.
    pub(crate) fn begin_waits_anew(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        for sql in [
            "UPDATE contexts SET trash_shown_at = NULL, purge_due_running_ms = NULL WHERE deleted_at IS NOT NULL",
            "UPDATE conversations SET trash_shown_at = NULL, purge_due_running_ms = NULL WHERE deleted_at IS NOT NULL",
            // A run of the vault that is gone did not end in this one.
            "UPDATE jobs SET next_run_at = NULL, result = CASE WHEN last_started_at IS NULL THEN NULL
                 ELSE coalesce (result, 'interrupted') END",
        ] {
            self.execute(sql, [])?;
        }
        self.execute("UPDATE deleted_messages SET deleted_at = ?1", [now.timestamp_millis()])?;
        for key in [
            state_key::SWEPT,
            state_key::RESTED,
            state_key::SET_ASIDE,
            state_key::PURGING,
            state_key::CHECKED,
            state_key::DRILLED,
        ] {
            self.execute("DELETE FROM app_state WHERE key = ?1", [key])?;
        }
        let running = Duration::from_millis(self.running_ms()?);
        self.put_json(state_key::DELETION_HOLD, &DeletionHold::default().after_jump(running))?;
        self.put_app_state(state_key::CLOCK_SEEN, &now.timestamp_millis().to_string())
    }
}
