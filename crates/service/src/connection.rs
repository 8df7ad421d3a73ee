//! Other programs that use the companions: what each may do, what it did, and the way in for them.

mod companions;
mod lent;
mod server;
mod session;
mod ways_in;

pub(crate) use lent::Lent;
pub use server::ServerStatus;
pub(crate) use server::reseal_token;
pub(crate) use ways_in::WaysIn;
pub use ways_in::{app_of, app_vault};

use crate::{Service, ServiceError, VaultState};
use companions::{Desk, Face};
use evenkeel_domain::{Access, Connection, ConnectionGrant, ErrorBody, ErrorCode, FieldError};
use evenkeel_mcp::McpError;
use evenkeel_server::AppVault;
use evenkeel_vault::{KeyFile, SlotKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// Most entries of the log in one answer.
const MOST: u32 = 1_000;

/// What a program is told while the user has locked the app.
const LOCKED: &str = "Evenkeel is locked; unlock it in its window, then ask again";

/// What a program is told while the app is opening the vault.
const OPENING: &str = "Evenkeel is opening its vault; answer what it asks, then ask again";

/// How another program starts the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ConnectionSetup {
    /// The program to start.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Service {
    /// How another program starts the server for this profile.
    #[must_use]
    pub fn connection_setup(&self) -> ConnectionSetup {
        // The program in an AppImage lies at another place each time; the image itself stays.
        let image = std::env::var_os("APPIMAGE").map(std::path::PathBuf::from);
        let program = image.unwrap_or_else(|| self.0.options.engine_program.clone());
        let profile = self.0.options.profile.dir().display().to_string();
        ConnectionSetup { command: program.display().to_string(), args: vec!["mcp".to_owned(), "--profile".to_owned(), profile] }
    }

    /// Serves a program that speaks MCP until its input ends. The vault is opened by its first question, and by each
    /// further one while it is not open.
    ///
    /// # Errors
    /// The connection could not be begun.
    pub async fn serve_mcp<R, W>(&self, read: R, write: W) -> Result<(), McpError>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        evenkeel_mcp::serve(Arc::new(Desk::new(self.clone(), Face::Own)), read, write).await
    }

    /// Every program that has used the companions, the one that was there last first.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn connection_list(&self) -> Result<Vec<Connection>, ServiceError> {
        self.session()?.read(|r| r.connections()).await
    }

    /// Decides what a program may do; it holds from its next question on.
    ///
    /// # Errors
    /// There is no such program (the error lists those that are known) or context, or more than 1,000 contexts are named.
    pub async fn connection_set_grant(&self, name: String, grant: ConnectionGrant) -> Result<Connection, ServiceError> {
        grant.check()?;
        for context in grant.contexts.iter().flatten() {
            self.context_get(*context).await?;
        }
        self.connection_get(name.clone()).await?;
        let decided = name.clone();
        self.session()?.write(move |w| w.set_connection_grant(&decided, &grant)).await?;
        self.connection_get(name).await
    }

    /// Forgets a program and what was decided about it. When it comes back, it begins anew; what it did stays in the log.
    ///
    /// # Errors
    /// There is no such program.
    pub async fn connection_forget(&self, name: String) -> Result<(), ServiceError> {
        self.connection_get(name.clone()).await?;
        self.session()?.write(move |w| w.forget_connection(&name)).await
    }

    /// What programs did, the newest first, of one of them or of all.
    ///
    /// # Errors
    /// The limit is not 1–1,000, or the vault is locked or cannot be read.
    pub async fn connection_log(&self, name: Option<String>, limit: u32) -> Result<Vec<Access>, ServiceError> {
        if !(1..=MOST).contains(&limit) {
            return Err(FieldError { field: "limit", value: limit.to_string(), range: format!("1 to {MOST}") }.into());
        }
        self.session()?.read(move |r| r.accesses(name.as_deref(), limit)).await
    }

    /// Empties the log.
    ///
    /// # Errors
    /// The vault is locked or cannot be written.
    pub async fn connection_clear_log(&self) -> Result<(), ServiceError> {
        self.session()?.write(|w| w.clear_accesses()).await
    }

    async fn connection_get(&self, name: String) -> Result<Connection, ServiceError> {
        let wanted = name.clone();
        let (found, others) = self.session()?.read(move |r| Ok((r.connection(&wanted)?, r.connections()?))).await?;
        found.ok_or_else(|| {
            let known: Vec<String> = others.into_iter().map(|other| other.name).collect();
            crate::missing::missing("program", name, &known)
        })
    }

    /// What a program may do. It is remembered; that it was there is noted again once the last time lies back so far.
    pub(crate) async fn connection_seen(
        &self,
        name: &str,
        version: &str,
        every: chrono::TimeDelta,
    ) -> Result<ConnectionGrant, ServiceError> {
        let (session, now, wanted) = (self.session()?, self.now(), name.to_owned());
        let known = session.read(move |r| r.connection(&wanted)).await?;
        if let Some(known) = known.filter(|known| known.version == version && (now - known.last_seen_at).abs() < every) {
            return Ok(known.grant);
        }
        let (name, version) = (name.to_owned(), version.to_owned());
        let seen = session.write(move |w| {
            w.see_connection(&name, &version, now)?;
            w.connection(&name)
        });
        Ok(seen.await?.map(|seen| seen.grant).unwrap_or_default())
    }

    /// Whether the vault still has a slot that opens it without the user: one who took it away wants it closed for
    /// every program, also for one that had opened it before.
    fn is_open_to_others(&self) -> bool {
        let slots = KeyFile::read(&self.profile());
        // Slots that cannot be read now close nothing; the vault is open.
        slots.map_or(true, |file| file.slots().iter().any(|slot| slot.kind() == SlotKind::Keychain))
    }

    /// Refuses while the vault of the running app is not open: there nobody but the user opens it.
    ///
    /// # Errors
    /// It is not open: the message says what the user has to do.
    pub(crate) fn open_in_app(&self) -> Result<(), ServiceError> {
        let (state, error) = self.0.gate.state();
        let closed = |code, message: &str| Err(ErrorBody::new(code, message).into());
        match state {
            VaultState::Open => Ok(()),
            VaultState::New => {
                closed(ErrorCode::VaultLocked, "there is no vault yet; make one in the window of Evenkeel, then ask again")
            }
            VaultState::ConfirmRecovery => closed(
                ErrorCode::VaultLocked,
                "the vault waits for its recovery code to be typed back; do it in the window of Evenkeel, then ask again",
            ),
            VaultState::Opening | VaultState::Waiting => closed(ErrorCode::KeychainWaiting, OPENING),
            _ => match error {
                Some(error) => {
                    let message = format!("{}; open the window of Evenkeel for the ways out, then ask again", error.message);
                    Err(ErrorBody { message, ..error }.into())
                }
                None => closed(ErrorCode::VaultLocked, LOCKED),
            },
        }
    }

    /// Locks the vault that this process has opened itself, where the app, which was started meanwhile, has it locked;
    /// gives where it stands there, `None` where no app runs.
    pub(crate) async fn follow_app(&self) -> Option<AppVault> {
        let stands = app_vault(self.0.options.profile.dir()).await;
        if stands == Some(AppVault::Locked) && self.session().is_ok() {
            tracing::info!("the vault is locked here too, as it is in the app");
            self.vault_lock().await;
        }
        stands
    }

    /// Opens the vault by keychain where it is not open yet, and closes it where the keychain opens it no longer, or where
    /// the app, which was started meanwhile, has it locked.
    ///
    /// # Errors
    /// It cannot be opened: the message says what the user has to do.
    pub(crate) async fn opened_for_others(&self) -> Result<(), ServiceError> {
        match self.follow_app().await {
            Some(AppVault::Locked) => return Err(ErrorBody::new(ErrorCode::VaultLocked, LOCKED).into()),
            // What is open stays so: nobody has locked it.
            Some(AppVault::Opening) if self.session().is_err() => {
                return Err(ErrorBody::new(ErrorCode::KeychainWaiting, OPENING).into());
            }
            _ => {}
        }
        if self.session().is_ok() {
            if self.is_open_to_others() {
                return Ok(());
            }
            self.vault_lock().await;
        }
        let mut status = self.vault_status().await;
        if !matches!(status.state, VaultState::Open | VaultState::New | VaultState::ConfirmRecovery) {
            // What stood against it may be over: the keychain unlocked, the other process done.
            status = match self.vault_unlock(crate::UnlockMethod::Keychain).await {
                Ok(status) => status,
                Err(error) if error.code() == ErrorCode::Busy => return Err(error),
                Err(_) => self.vault_status().await,
            };
        }
        let closed = |code, message: &str| ErrorBody::new(code, message);
        Err(match status.state {
            VaultState::Open => return Ok(()),
            VaultState::New => {
                closed(ErrorCode::VaultLocked, "there is no vault yet; open Evenkeel once and make one, then ask again")
            }
            VaultState::ConfirmRecovery => closed(
                ErrorCode::VaultLocked,
                "the vault waits for its recovery code to be typed back; open Evenkeel and do it, then ask again",
            ),
            VaultState::LockedByUser => closed(
                ErrorCode::VaultLocked,
                "the vault opens only with its passphrase or recovery code, which other programs cannot give; add the system's \
                 keychain in Evenkeel, Settings, Security, if it is to be open for them",
            ),
            VaultState::Opening | VaultState::Waiting => {
                closed(ErrorCode::KeychainWaiting, "the system's keychain waits for your answer; unlock it, then ask again")
            }
            _ => {
                let fallback = || closed(ErrorCode::VaultLocked, "the vault could not be opened; open Evenkeel to see why");
                let error = status.error.unwrap_or_else(fallback);
                ErrorBody { message: format!("{}; open Evenkeel for the ways out, then ask again", error.message), ..error }
            }
        }
        .into())
    }
}
