//! What other processes write into the vault: noticed, and told like every change.

use super::Started;
use crate::settings::idle_time;
use crate::{Change, Inner, Service, ServiceError};
use evenkeel_store::Noun;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often it is looked for; one look reads a counter.
const EVERY: Duration = Duration::from_secs(2);

impl Service {
    /// Looks whether another process has written since the last look, takes over the settings that
    /// it wrote, and tells everybody that anything may have changed. The scheduler does it by itself.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn notice_others(&self) -> Result<bool, ServiceError> {
        let session = self.session()?;
        let store = session.store();
        let look = tokio::task::spawn_blocking(move || store.notice_other_processes());
        let wrote = look.await.map_err(|error| ServiceError::internal("looking for other processes", &error))??;
        if !wrote {
            return Ok(false);
        }
        let before = session.settings();
        let stored = session.read(|r| r.settings()).await?;
        if stored != before && session.swap_settings(&before, stored) {
            self.engines().set_idle(idle_time(&session.settings()));
            // Who has read them at the first news has read the old ones.
            let _ = self.0.changes.send(Change::of(Noun::Settings, "settings"));
        }
        Ok(true)
    }
}

/// Looks for what others write until the vault is closed or the service is gone.
pub(super) async fn listen(service: Weak<Inner>, started: Arc<Started>, interval: Duration) {
    loop {
        tokio::select! {
            () = started.stop.cancelled() => return,
            () = tokio::time::sleep(interval.min(EVERY)) => {}
        }
        let Some(inner) = service.upgrade() else { return };
        if let Err(error) = Service(inner).notice_others().await {
            tracing::warn!(code = error.code().as_str(), %error, "what other processes write could not be looked for");
        }
    }
}
