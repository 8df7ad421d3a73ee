//! Settings.

use crate::{Service, ServiceError};
use evenkeel_domain::{Feature, Settings};
use std::time::Duration;

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
        settings.check()?;
        crate::operation::check_rules(&settings.operations)?;
        let session = self.session()?;
        let operations = session.settings().operations;
        let saved = session
            .write(move |w| {
                // The context last used is the chat's to write: the page's copy of it may be old.
                let settings = Settings { last_context_id: w.settings()?.last_context_id, ..settings };
                w.put_settings(&settings)?;
                Ok(settings)
            })
            .await?;
        session.set_settings(saved.clone());
        if saved.operations != operations {
            self.keep_fewer_operations(&saved.operations).await?;
        }
        self.engines().set_idle(idle_time(&saved));
        Ok(saved)
    }

    /// Whether a part of the app is turned on.
    pub(crate) fn is_on(&self, feature: Feature) -> bool {
        self.session().is_ok_and(|session| session.settings().features.is_on(feature))
    }

    /// Whether closing the window keeps the app in the tray; a locked vault does.
    #[must_use]
    pub fn keeps_in_tray(&self) -> bool {
        self.session().map_or(true, |session| session.settings().keep_in_tray)
    }
}

/// How long the engine keeps a model that nobody asks.
pub(crate) fn idle_time(settings: &Settings) -> Duration {
    Duration::from_secs(u64::from(settings.engine_idle_minutes) * 60)
}
