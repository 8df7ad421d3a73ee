//! Settings.

use crate::{Service, ServiceError};
use evenkeel_domain::{FieldError, Settings};

impl Service {
    /// The settings.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn settings_get(&self) -> Result<Settings, ServiceError> {
        Ok(self.session()?.settings())
    }

    /// Writes all settings.
    ///
    /// # Errors
    /// A value is outside its range, or the vault cannot be written.
    pub async fn settings_save(&self, settings: Settings) -> Result<Settings, ServiceError> {
        if !(1..=1_440).contains(&settings.engine_idle_minutes) {
            let value = settings.engine_idle_minutes.to_string();
            return Err(FieldError { field: "engineIdleMinutes", value, range: "1 to 1440".into() }.into());
        }
        let session = self.session()?;
        let written = settings.clone();
        session.write(move |w| w.put_settings(&written)).await?;
        session.set_settings(settings.clone());
        Ok(settings)
    }

    /// Whether closing the window keeps the app in the tray; a locked vault does.
    #[must_use]
    pub fn keeps_in_tray(&self) -> bool {
        self.session().map_or(true, |session| session.settings().keep_in_tray)
    }
}
