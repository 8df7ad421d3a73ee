//! Forgetting everywhere: what was deleted for good is taken out of the older backups too, by deleting them.

use super::{ForgetReport, blocking, keys};
use crate::{Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_store::backup::{self, BackupKind};

/// Deleted messages that one transaction forgets: whoever saves one waits no longer than for that.
const PORTION: u32 = 200;

impl Service {
    /// Makes a backup of the vault as it is now, then deletes every older one in the profile and every database that a
    /// restore has set aside. Deleted messages cannot be brought back from then on; what lies in the trash stays there.
    /// Backups and archives in other folders are out of reach.
    ///
    /// # Errors
    /// As for [`Service::backup_make`]: then no backup was deleted.
    pub async fn backup_forget(&self) -> Result<ForgetReport, ServiceError> {
        let session = self.session()?;
        let _work = self.work().await;
        // Whatever the clock said when they were deleted.
        let ever = DateTime::<Utc>::MAX_UTC;
        while session.write(move |w| w.forget_some_deleted_messages(ever, PORTION)).await? > 0 {}
        let made = self.make_backup(BackupKind::Manual, None).await?;
        let kept = made.about.as_ref().map(|about| about.id);
        let (opened, profile) = (self.0.gate.opened()?, self.profile());
        let forgotten = blocking("deleting the older backups", move || {
            let kept = kept.ok_or_else(|| backup::BackupError::NotProved { reason: "it cannot be read again".to_owned() })?;
            Ok(backup::forget_others(&profile, keys(&opened), kept)?)
        });
        Ok(ForgetReport::of(&made, &forgotten.await?))
    }
}
