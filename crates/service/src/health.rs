//! How the vault is: what its last full check has found, and whether its newest backup opens.

use crate::scheduler::pulse::state;
use crate::{Change, JobStatus, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{DeletionHold, ErrorCode};
use evenkeel_store::{Noun, ReadHandle, StoreError, state_key};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Findings that are kept word for word; their number is kept too.
const KEPT_FINDINGS: usize = 5;
/// An error that goes on must not have the vault checked again and again: how long it is left alone after a check that
/// found damage, and after one that found none, which the next would not find either.
const REST_AFTER_CHECK: [Duration; 2] = [Duration::from_secs(3_600), Duration::from_secs(6 * 3_600)];

/// What a full check has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checked {
    at: DateTime<Utc>,
    /// How much is wrong.
    damage: u32,
    /// The first of it, in the words of the database, which name tables and pages and no content.
    findings: Vec<String>,
}

impl Checked {
    pub fn new(at: DateTime<Utc>, findings: &[String]) -> Self {
        let damage = u32::try_from(findings.len()).unwrap_or(u32::MAX);
        Self { at, damage, findings: findings.iter().take(KEPT_FINDINGS).cloned().collect() }
    }
}

/// A backup that was opened again by itself, as it would be for a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct BackupDrill {
    /// When.
    pub at: DateTime<Utc>,
    /// When the newest backup that opened and is whole was made; `None` where none was.
    pub made_at: Option<DateTime<Utc>>,
    /// Messages in it.
    pub messages: Option<u64>,
    /// Newer ones that were found not to be whole.
    pub unusable: u32,
}

/// Messages that were saved and that the database had lost when it was opened, as after a disk that lied. The vault was opened
/// without them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LostTail {
    /// When that was found.
    pub at: DateTime<Utc>,
    /// How many.
    pub messages: u64,
    /// The copy of the database as it was found; it stays until the user has seen this.
    pub kept: String,
}

/// How the open vault is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct VaultHealth {
    /// When it was last checked completely; `None` before the first time.
    pub checked_at: Option<DateTime<Utc>>,
    /// How much that check found to be wrong; 0 = everything is whole.
    pub damage: u32,
    /// The first of it, in the words of the database; no content is in them.
    pub findings: Vec<String>,
    /// A check goes on, here or in another process.
    pub is_checking: bool,
    /// The last time that the newest backup was opened again by itself.
    pub drill: Option<BackupDrill>,
    /// The clock of the machine jumped: nothing is deleted for good by itself until Evenkeel has run for another day.
    pub deletions_rest: bool,
    /// What was lost, until the user has seen it.
    pub lost: Option<LostTail>,
}

/// What this process knows of it, for a vault that is too damaged to keep it.
#[derive(Default)]
pub(crate) struct Known(Mutex<Option<(Checked, Duration)>>);

impl Known {
    pub fn put(&self, checked: Checked, monotonic: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((checked, monotonic));
    }

    /// Another database is in the vault's place.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn get(&self) -> Option<Checked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(checked, _)| checked.clone())
    }

    /// Whether this process has checked the vault so shortly ago that doing it again would tell nothing new.
    pub fn is_fresh(&self, monotonic: Duration) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .as_ref()
            .is_some_and(|(checked, at)| monotonic.saturating_sub(*at) < REST_AFTER_CHECK[usize::from(checked.damage == 0)])
    }
}

/// What the vault itself remembers.
#[derive(Default)]
struct Kept {
    checked: Option<Checked>,
    drill: Option<BackupDrill>,
    deletions_rest: bool,
    lost: Option<LostTail>,
}

impl Service {
    /// What the last full check of the vault has found, and whether its newest backup opens. A check is begun by
    /// the job `check`, a drill by the job `drill`.
    ///
    /// # Errors
    /// The vault is locked, or cannot be read for another reason than damage.
    pub async fn vault_health(&self) -> Result<VaultHealth, ServiceError> {
        let kept = or_default(self.session()?.read(kept).await)?;
        let job = or_default(self.job_list().await)?.into_iter().find(|job: &JobStatus| job.name == "check");
        let checked = kept.checked.into_iter().chain(self.0.health.get()).max_by_key(|checked| checked.at);
        let (damage, findings) = checked.as_ref().map(|one| (one.damage, one.findings.clone())).unwrap_or_default();
        Ok(VaultHealth {
            checked_at: checked.map(|one| one.at),
            damage,
            findings,
            is_checking: job.is_some_and(|job| job.is_running),
            drill: kept.drill,
            deletions_rest: kept.deletions_rest,
            lost: kept.lost,
        })
    }

    /// The user has seen what was lost: the copy from before goes in its time.
    ///
    /// # Errors
    /// The vault is locked or cannot be written.
    pub async fn vault_loss_seen(&self) -> Result<(), ServiceError> {
        self.session()?.write(|w| w.remove_app_state(state_key::TAIL_LOST)).await
    }

    /// Tells the windows that a check has ended, where the vault itself could not keep what it found.
    pub(crate) fn tell_of_check(&self) {
        let _ = self.0.changes.send(Change::of(Noun::AppState, state_key::CHECKED));
    }
}

fn kept(r: &ReadHandle<'_>) -> Result<Kept, StoreError> {
    let hold: DeletionHold = state(r, state_key::DELETION_HOLD)?.unwrap_or_default();
    Ok(Kept {
        checked: state(r, state_key::CHECKED)?,
        drill: state(r, state_key::DRILLED)?,
        deletions_rest: hold.is_active(Duration::from_millis(r.running_ms()?)),
        lost: state(r, state_key::TAIL_LOST)?,
    })
}

/// What can be read; of a damaged vault that is less.
fn or_default<T: Default>(read: Result<T, ServiceError>) -> Result<T, ServiceError> {
    match read {
        Err(error) if error.code() == ErrorCode::VaultDamaged => Ok(T::default()),
        read => read,
    }
}
