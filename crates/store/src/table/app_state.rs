//! What the app remembers of itself from start to start.

use crate::{Noun, ReadHandle, StoreError, WriteHandle};

/// Milliseconds that the app has run since the vault was made.
const RUNNING_MS: &str = "running_ms";

/// The key of the last look at deleted messages and drafts, by which they are forgotten later. A
/// restore takes it away: what comes back is looked at anew.
pub const SWEPT: &str = "swept";

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
