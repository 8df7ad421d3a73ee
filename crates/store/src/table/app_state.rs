//! What the app remembers of itself from start to start.

use crate::{Noun, ReadHandle, StoreError, WriteHandle};

/// The keys of what the clock rules remember, which a restore and a jump of the clock change too.
pub mod state_key {
    /// The last time that the clock was seen at, in milliseconds.
    pub const CLOCK_SEEN: &str = "clock_seen";
    /// Until when deletions rest.
    pub const DELETION_HOLD: &str = "deletion_hold";
    /// The reading of the clocks at which a run last looked at what has no mark of its own.
    pub const SWEPT: &str = "swept";
    /// The readings at which contexts were laid to rest, by context.
    pub const RESTED: &str = "expiry_rested";
    /// What a purge has begun with and not ended.
    pub const PURGING: &str = "purging";
    /// When the vault was last checked completely, and what was found.
    pub const CHECKED: &str = "vault_checked";
    /// When the newest backup was last opened again by itself, and what came of it.
    pub const DRILLED: &str = "backup_drilled";
    /// The readings at which databases that restores had set aside were first seen, by file name.
    pub const SET_ASIDE: &str = "set_aside";
    /// Messages that the database's log has lost, until the user has seen that.
    pub const TAIL_LOST: &str = "tail_lost";
    /// Who is told of operations that took long.
    pub const LONG_OPERATIONS: &str = "long_operations";
    /// What is served over HTTP.
    pub const SERVER: &str = "server";
    /// The sessions that programs named themselves over HTTP.
    pub const NAMED_SESSIONS: &str = "named_sessions";
    /// The token of that server, wrapped with the key of secrets, in hexadecimal digits.
    pub const SERVER_TOKEN: &str = "server_token";
}

/// Milliseconds that the app has run since the vault was made.
const RUNNING_MS: &str = "running_ms";

impl ReadHandle<'_> {
    /// The text under a key.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn app_state(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.one("SELECT value FROM app_state WHERE key = ?1", [key], |row| Ok(row.get(0)?))
    }

    /// Milliseconds that the app has run since the vault was made. It never shrinks, whatever the
    /// clock does.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn running_ms(&self) -> Result<u64, StoreError> {
        let Some(text) = self.app_state(RUNNING_MS)? else { return Ok(0) };
        text.parse().map_err(|_| StoreError::DamagedValue { what: "app_state.running_ms".into() })
    }
}

impl WriteHandle<'_> {
    /// Keeps a text under a key.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_app_state(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO app_state (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        self.execute(sql, (key, value))?;
        self.changed(Noun::AppState, key);
        Ok(())
    }

    /// Forgets what is under a key.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn remove_app_state(&mut self, key: &str) -> Result<(), StoreError> {
        if self.execute("DELETE FROM app_state WHERE key = ?1", [key])? > 0 {
            self.changed(Noun::AppState, key);
        }
        Ok(())
    }

    /// Adds to the app's running time and returns it. Who adds measures with a clock that only
    /// runs forward.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`, `DamagedValue`.
    pub fn add_running_ms(&mut self, elapsed: u64) -> Result<u64, StoreError> {
        let total = self.running_ms()?.saturating_add(elapsed);
        self.put_app_state(RUNNING_MS, &total.to_string())?;
        Ok(total)
    }
}
