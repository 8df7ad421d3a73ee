//! The settings: one row that holds them all as JSON.

use crate::column::{json, of_json};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::Settings;
use serde_json::{Map, Value};

impl ReadHandle<'_> {
    /// The settings; what was never written, or what this version cannot read, has its default.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn settings(&self) -> Result<Settings, StoreError> {
        let sql = "SELECT value FROM settings WHERE key = 1";
        let stored = self.one(sql, [], |row| json::<Map<String, Value>>(row, 0))?;
        stored.map_or_else(|| Ok(Settings::default()), overlay)
    }
}

impl WriteHandle<'_> {
    /// Replaces the settings.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_settings(&mut self, settings: &Settings) -> Result<(), StoreError> {
        let sql = "INSERT INTO settings (key, value) VALUES (1, ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        let value = of_json(settings)?;
        self.execute(sql, [value])?;
        self.changed(Noun::Settings, "settings");
        Ok(())
    }
}

/// Lays stored fields over the defaults one by one: an older version knew fewer of them, a newer
/// one may have written a value that is unknown here, and neither may cost the other settings.
fn overlay(stored: Map<String, Value>) -> Result<Settings, StoreError> {
    let mut settings = Settings::default();
    for (name, value) in stored {
        let mut fields: Map<String, Value> = serde_json::from_str(&of_json(&settings)?)
            .map_err(|error| StoreError::defect(format!("the settings are no JSON object ({error})")))?;
        fields.insert(name.clone(), value);
        match serde_json::from_value(Value::Object(fields)) {
            Ok(next) => settings = next,
            Err(_) => tracing::warn!(setting = name, "a stored setting cannot be read; its default is used"),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use evenkeel_domain::Theme;

    #[test]
    fn an_unknown_value_costs_only_its_own_setting() {
        let stored = r#"{"theme":"sepia","keepInTray":false,"fromTheFuture":1,"engineIdleMinutes":30}"#;
        let settings = overlay(serde_json::from_str(stored).unwrap()).unwrap();
        assert_eq!(
            settings,
            Settings { theme: Theme::System, keep_in_tray: false, engine_idle_minutes: 30, ..Settings::default() }
        );
    }
}
