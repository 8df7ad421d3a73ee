//! Making and opening a vault: keys first, then the database. Blocks; runs in its own thread.

use crate::scheduler::pulse::put_state;
use crate::{
    LostTail, ServiceError, ServiceOptions, VaultOptions, model::find_moved_files, session::Session, whereabouts::Whereabouts,
};
use evenkeel_domain::{Provider, ProviderId, ProviderKind, ProviderLocality};
use evenkeel_store::backup::{
    BackupId, BackupKind, BackupRequest, PendingRestore, finish_pending_restore, keep_copy, make, restore_is_pending,
};
use evenkeel_store::{Change, SCHEMA_VERSION, Store, StoreError, Subscription, state_key};
use evenkeel_vault::{
    CreateOptions, KeyFile, PassphraseCost, Place, Profile, RecoveryCode, RootKey, SlotKind, Use, VaultError, VaultLock,
    add_keychain_slot, create, erasure_is_pending, finish_erasure, keep_reserve, mark_recovery_confirmed, renew_recovery_code,
    unlock_keychain, unlock_passphrase, unlock_recovery,
};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio::sync::broadcast;

/// An open vault with what is needed to change its key slots.
#[derive(Clone)]
pub(crate) struct Opened {
    pub session: Arc<Session>,
    pub key_file: KeyFile,
    pub root: Arc<RootKey>,
    _changes: Arc<Subscription>,
}

/// Makes and opens vaults.
pub(crate) struct Opener {
    pub options: ServiceOptions,
    pub changes: broadcast::Sender<Change>,
    pub whereabouts: Arc<Whereabouts>,
}

impl Opener {
    /// Makes a vault; whatever fails, nothing of it is left behind.
    pub fn create(&self, options: VaultOptions) -> Result<(Opened, RecoveryCode), ServiceError> {
        let place = self.whereabouts.look()?;
        let profile = place.profile();
        profile.prepare()?;
        let lock = VaultLock::exclusive(profile)?;
        finish_move(&place, Some(&lock));
        self.finish_interrupted(&lock)?;
        let made = create(
            profile,
            CreateOptions {
                keychain: options.use_keychain.then_some(&*self.options.patient_keychain),
                passphrase: options.passphrase.map(SecretString::from),
                passphrase_cost: PassphraseCost::default(),
                recovery_only: false,
                now: Some(self.options.clock.now()),
            },
            &lock,
        )?;
        let opened = self.open_store(made.key_file, Arc::new(made.root), lock)?;
        Ok((opened, made.recovery_code))
    }

    /// Opens by keychain; `None` where there is no vault yet.
    pub fn by_keychain(&self) -> Result<Option<Opened>, ServiceError> {
        self.settle()?;
        if !self.whereabouts.profile().traces().any() {
            return Ok(None);
        }
        let key_file = KeyFile::read(&self.whereabouts.profile())?;
        let root = unlock_keychain(&key_file, &*self.options.keychain)?;
        self.open(key_file, root).map(Some)
    }

    /// Opens by recovery code, and lets the keychain open it again where it used to.
    pub fn by_recovery(&self, code: &str) -> Result<Opened, ServiceError> {
        self.settle()?;
        let key_file = KeyFile::read(&self.whereabouts.profile())?;
        let root = unlock_recovery(&key_file, code)?;
        self.open_and_mend(key_file, root)
    }

    /// Opens by passphrase, and lets the keychain open it again where it used to.
    pub fn by_passphrase(&self, passphrase: SecretString) -> Result<Opened, ServiceError> {
        self.settle()?;
        let key_file = KeyFile::read(&self.whereabouts.profile())?;
        let root = unlock_passphrase(&key_file, passphrase)?;
        self.open_and_mend(key_file, root)
    }

    /// Notes that the recovery code was typed back.
    pub fn confirm(&self, mut opened: Opened) -> Result<Opened, ServiceError> {
        mark_recovery_confirmed(&self.whereabouts.profile(), &mut opened.key_file)?;
        Ok(opened)
    }

    /// Makes a new recovery code.
    pub fn renew(&self, mut opened: Opened) -> Result<(Opened, RecoveryCode), ServiceError> {
        let code =
            renew_recovery_code(&self.whereabouts.profile(), &mut opened.key_file, &opened.root, self.options.clock.now())?;
        Ok((opened, code))
    }

    /// Opens again what this process has closed for a change, whose exclusive lock it still has.
    pub fn again(&self, key_file: KeyFile, root: Arc<RootKey>, lock: VaultLock) -> Result<Opened, ServiceError> {
        self.finish_interrupted(&lock)?;
        self.open_store(key_file, root, lock)
    }

    /// Opens again what this process has closed in vain for a change, since others use it.
    pub fn beside_others(&self, key_file: KeyFile, root: Arc<RootKey>) -> Result<Opened, ServiceError> {
        let lock = VaultLock::shared(&self.whereabouts.profile())?;
        self.open_store(key_file, root, lock)
    }

    /// Finds where the data is, and finishes a move, a restore or an erasure that was cut off. Before
    /// that nothing may look for a vault: neither its database nor its key slots need be in their places.
    fn settle(&self) -> Result<(), ServiceError> {
        let place = self.whereabouts.look()?;
        finish_move(&place, None);
        let profile = place.profile();
        if restore_is_pending(profile) || erasure_is_pending(profile) {
            self.finish_interrupted(&VaultLock::exclusive(profile)?)?;
        }
        Ok(())
    }

    pub(super) fn finish_interrupted(&self, lock: &VaultLock) -> Result<(), ServiceError> {
        let profile = &self.whereabouts.profile();
        if finish_erasure(profile, &*self.options.keychain, lock)? {
            tracing::warn!("an erasure that was cut off has been finished");
        }
        match finish_pending_restore(profile, lock)? {
            PendingRestore::None => {}
            outcome => tracing::warn!(?outcome, "a restore that was cut off has come to its end"),
        }
        Ok(())
    }

    fn open_and_mend(&self, mut key_file: KeyFile, root: RootKey) -> Result<Opened, ServiceError> {
        self.mend(&mut key_file, &root);
        self.open(key_file, root)
    }

    /// Lets the keychain open the vault again, where it used to and now can.
    pub(super) fn mend(&self, key_file: &mut KeyFile, root: &RootKey) {
        if !key_file.has(SlotKind::Keychain) {
            return;
        }
        let now = self.options.clock.now();
        let mended = add_keychain_slot(&self.whereabouts.profile(), key_file, root, &*self.options.keychain, now);
        if let Err(error) = mended {
            tracing::warn!(code = error.code().as_str(), %error, "the keychain does not open this vault yet");
        }
    }

    fn open(&self, key_file: KeyFile, root: RootKey) -> Result<Opened, ServiceError> {
        // Exclusive where it can be had, since opening may migrate; beside another process it cannot.
        let profile = &self.whereabouts.profile();
        let lock = match VaultLock::exclusive(profile) {
            Err(evenkeel_vault::VaultError::InUse) => VaultLock::shared(profile)?,
            lock => lock?,
        };
        self.open_store(key_file, Arc::new(root), lock)
    }

    fn open_store(&self, key_file: KeyFile, root: Arc<RootKey>, lock: VaultLock) -> Result<Opened, ServiceError> {
        let profile = &self.whereabouts.profile();
        self.whereabouts.check(profile)?;
        let vault_id = key_file.vault_id();
        let key = root.subkey(vault_id, Use::Database);
        let now = self.options.clock.now();
        // Whoever opens it folds that log in.
        let was_left_open = lock.is_exclusive() && Store::was_left_open(&profile.database());
        // Keys without a database, never confirmed: the making was cut off between the two.
        let cut_off = !key_file.recovery_confirmed() && !profile.database().exists();
        if !cut_off {
            self.back_up_before_migration(&key_file, &root, &lock)?;
        }
        let store = if cut_off { Store::create(&profile.database(), &key, now)? } else { self.open_whole(profile, &key, &lock)? };
        let alone = lock.is_exclusive();
        let lock = if alone { lock.downgrade()? } else { lock };
        let changes = self.changes.clone();
        let subscription = store.subscribe(move |change| {
            let _ = changes.send(change.clone());
        });
        self.furnish(&store, alone)?;
        if let Err(error) = keep_reserve(profile) {
            tracing::warn!(code = error.code().as_str(), %error, "no room could be set aside for deleting on a full disk");
        }
        let secrets = root.subkey(vault_id, Use::Secrets);
        let session = Session::new(store, secrets, vault_id, lock, self.changes.clone())?;
        if was_left_open {
            tracing::info!("the vault was not closed the last time; it is checked completely");
            // In the vault: this process may have no scheduler, and whoever opens it next sees a log that was folded in.
            if session.store().write(|w| w.plan_job("check", Some(now))).is_err() {
                session.doubt.raise();
            }
        }
        Ok(Opened { session: Arc::new(session), key_file, root, _changes: Arc::new(subscription) })
    }

    /// Opens the database. Where its log has lost its end, what is there is kept as it is before it is opened without
    /// the messages that are missing.
    fn open_whole(&self, profile: &Profile, key: &[u8; 32], lock: &VaultLock) -> Result<Store, ServiceError> {
        let now = self.options.clock.now();
        match Store::open(&profile.database(), key, now) {
            Err(error @ StoreError::TailLost { acknowledged, found }) if lock.is_exclusive() => {
                let kept = keep_copy(profile, now)?;
                tracing::error!(code = error.code().as_str(), %error, kept = %kept.display(), "the database is kept as it was and opened without them");
                let store = Store::open_short(&profile.database(), key, now)?;
                let lost = LostTail { at: now, messages: acknowledged.abs_diff(found), kept: kept.display().to_string() };
                store.write(|w| put_state(w, state_key::TAIL_LOST, &lost))?;
                Ok(store)
            }
            opened => Ok(opened?),
        }
    }

    /// A vault of an older version is only changed behind a backup that was checked, and by one
    /// process alone. Where no backup can be made it stays as it is, and closed.
    fn back_up_before_migration(&self, key_file: &KeyFile, root: &RootKey, lock: &VaultLock) -> Result<(), ServiceError> {
        let profile = &self.whereabouts.profile();
        let key = root.subkey(key_file.vault_id(), Use::Database);
        if Store::schema(&profile.database(), &key)? >= SCHEMA_VERSION {
            return Ok(());
        }
        if !lock.is_exclusive() {
            return Err(VaultError::InUse.into());
        }
        profile.prepare()?;
        let (now, folder) = (self.options.clock.now(), profile.backups());
        let id = BackupId::from_parts(now, self.options.clock.random());
        let request = BackupRequest {
            folder: &folder,
            kind: BackupKind::BeforeMigration,
            id,
            root,
            key_file,
            app_version: env!("CARGO_PKG_VERSION"),
            now,
            keep: None,
        };
        let made = make(profile, &request, &mut |_| ControlFlow::Continue(()))?;
        tracing::info!(bytes = made.size_bytes, "the vault is backed up before its schema changes");
        Ok(())
    }

    /// Puts in what every vault has, finds model files again that were moved with it, and keeps replies whose process is gone: all that are left,
    /// where no other process had the vault open.
    fn furnish(&self, store: &Store, alone: bool) -> Result<(), ServiceError> {
        let now = self.options.clock.now();
        let engine = ProviderId::from_parts(now, self.options.clock.random());
        store.write(move |w| {
            w.seed_presets(now)?;
            if !w.providers()?.iter().any(|provider| provider.kind == ProviderKind::Engine) {
                w.upsert_provider(&engine_provider(engine))?;
            }
            Ok(())
        })?;
        if let Err(error) = find_moved_files(store, &self.whereabouts.profile().models()) {
            tracing::warn!(code = error.code().as_str(), %error, "model files that were moved with the vault are not found again");
        }
        let recovered = store.write(|w| w.recover_drafts(now, |_| alone))?;
        if !recovered.is_empty() {
            tracing::info!(count = recovered.len(), "replies that were cut off are kept as interrupted");
        }
        Ok(())
    }
}

/// Finishes a move as far as it can be done now; the data is in its place in any case.
pub(super) fn finish_move(place: &Place, lock: Option<&VaultLock>) {
    match place.finish(lock) {
        Ok(()) => {}
        Err(VaultError::InUse) => tracing::info!("what a move of the data has left is removed once no other process uses it"),
        Err(error) => {
            tracing::warn!(code = error.code().as_str(), %error, "what a move of the data has left could not be removed yet")
        }
    }
}

fn engine_provider(id: ProviderId) -> Provider {
    Provider {
        id,
        kind: ProviderKind::Engine,
        name: "On this computer".into(),
        base_url: String::new(),
        locality: ProviderLocality::Local,
        key_hint: None,
        extra_headers: BTreeMap::new(),
        manual_models: Vec::new(),
        window_override: None,
        timeout_seconds: 300,
    }
}
