//! The full check of the vault, and the drill with its newest backup.

use super::Started;
use super::job::JobKind;
use super::pulse::put_state;
use super::run::Run;
use crate::backup::{blocking, hopeful, keys, until};
use crate::health::{BackupDrill, Checked};
use crate::session::Session;
use crate::{BackupInfo, Service, ServiceError};
use evenkeel_domain::ErrorCode;
use evenkeel_store::backup;
use evenkeel_store::state_key;
use evenkeel_vault::JobLock;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Service {
    /// Checks a vault that is too damaged to say when its jobs are due: without the job's row, and not again and again.
    pub(super) async fn check_at_once(&self, started: &Started, session: &Arc<Session>) {
        let _work = started.work.clone().read_owned().await;
        let is_known = self.0.health.is_fresh(self.0.options.clock.monotonic());
        if is_known || started.stop.is_cancelled() {
            return;
        }
        let Ok(Some(_right)) = JobLock::take(&self.profile(), JobKind::Check.name()) else { return };
        if let Err(error) = self.check_vault(session, &started.stop).await {
            tracing::warn!(code = error.code().as_str(), %error, "a damaged vault could not be checked");
        }
    }

    /// Checks every page of the vault, and keeps what was found: in the vault, and here for one that cannot.
    pub(super) async fn check_vault(
        &self,
        session: &Arc<Session>,
        stop: &CancellationToken,
    ) -> Result<Option<String>, ServiceError> {
        session.doubt.settle();
        let (store, stop) = (session.store(), stop.clone());
        let task = tokio::task::spawn_blocking(move || store.full_check_while(move || !stop.is_cancelled()));
        let found = match task.await.map_err(|error| ServiceError::internal("checking the vault", &error))? {
            Ok(Some(found)) => found,
            // Stopped: the vault is to be closed, and the check is made up for.
            Ok(None) => return Err(backup::BackupError::Cancelled.into()),
            Err(error) if error.code() == ErrorCode::VaultDamaged => vec![error.to_string()],
            Err(error) => return Err(error.into()),
        };
        let checked = Checked::new(self.now(), &found);
        self.0.health.put(checked.clone(), self.0.options.clock.monotonic());
        if let Err(error) = session.write(move |w| put_state(w, state_key::CHECKED, &checked)).await {
            tracing::warn!(%error, "what the check of the vault has found could not be kept in it");
            self.tell_of_check();
        }
        if found.is_empty() {
            return Ok(None);
        }
        tracing::error!(count = found.len(), first = found.first(), "the vault is damaged");
        Ok(Some(format!("{} places damaged", found.len())))
    }

    /// Opens the newest backup again by its keys and checks all of it, as a restore would; where it is not whole, those
    /// before it, and a new one is planned at once.
    pub(super) async fn drill(&self, run: &Run) -> Result<Option<String>, ServiceError> {
        let (opened, profile, now, stop) = (self.0.gate.opened()?, self.profile(), self.now(), run.stop.clone());
        let drill = blocking("opening the newest backup again", move || {
            profile.prepare()?;
            let listed = backup::list(&profile.backups(), Some(keys(&opened)))?;
            let mut unusable = 0;
            for info in hopeful(&listed) {
                match backup::verify(&info.path, keys(&opened), &profile, now, &mut until(stop.clone())) {
                    Ok(whole) => {
                        let about = whole.about.as_ref();
                        let messages = about.and_then(|about| about.counts).map(|counts| counts.messages);
                        let made_at = about.map(|about| about.made_at);
                        return Ok(Some(BackupDrill { at: now, made_at, messages, unusable }));
                    }
                    Err(error) if BackupInfo::problem_of(&error).is_some() => unusable += 1,
                    Err(error) => return Err(error.into()),
                }
            }
            Ok((!listed.is_empty()).then_some(BackupDrill { at: now, made_at: None, messages: None, unusable }))
        });
        let Some(drill) = drill.await? else { return Ok(None) };
        let unusable = drill.unusable;
        let is_in_need = unusable > 0 || drill.made_at.is_none();
        let keep = move |w: &mut evenkeel_store::WriteHandle<'_>| {
            if is_in_need {
                w.plan_job("backup", Some(now))?;
            }
            put_state(w, state_key::DRILLED, &drill)
        };
        run.session.write(keep).await?;
        Ok((unusable > 0).then(|| format!("{unusable} backups not whole")))
    }
}
