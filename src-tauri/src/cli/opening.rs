//! Opening the vault without a window: by the keychain, or by what the user types or keeps in a file.

use super::Caller;
use super::failure::{Failure, STOPPED};
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::{AppVault, ServiceError, VaultState, VaultStatus, app_vault};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// The longest passphrase in a file, in bytes.
const LONGEST: u64 = 4_096;
/// How often the terminal asks.
const TRIES: usize = 3;

impl Caller {
    /// Opens the vault, or says what has to be done.
    pub async fn open(&self) -> Result<(), Failure> {
        // A locked app is locked for everyone, whatever the keychain would open.
        match app_vault(&self.profile).await {
            Some(AppVault::Locked) => {
                let message = "Evenkeel is running and its vault is not open; open it in its window, then do this again";
                return Err(ErrorBody::new(ErrorCode::VaultLocked, message).into());
            }
            Some(AppVault::Opening) => {
                let message = "Evenkeel is running and opening its vault; answer what it asks, then do this again";
                return Err(ErrorBody::new(ErrorCode::KeychainWaiting, message).into());
            }
            Some(AppVault::Open) | None => {}
        }
        let status = self.service.vault_status().await;
        if !needs_the_user(status.state) {
            return opened(status);
        }
        if let Some(secret) = self.secret_of_file()? {
            return opened(self.service.vault_unlock_typed(secret).await?);
        }
        if !may_ask() {
            return opened(status);
        }
        let mut tries_left = TRIES;
        loop {
            tries_left -= 1;
            match self.service.vault_unlock_typed(asked()?).await {
                Ok(status) => return opened(status),
                Err(error) if tries_left > 0 && is_mistake(&error) => self.print.note(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The passphrase or recovery code, from the file that was named or else from the terminal; `None` where neither is.
    pub fn secret(&self) -> Result<Option<Zeroizing<String>>, Failure> {
        match self.secret_of_file()? {
            None if may_ask() => asked().map(Some),
            secret => Ok(secret),
        }
    }

    /// The passphrase or recovery code in the file that was named.
    pub fn secret_of_file(&self) -> Result<Option<Zeroizing<String>>, Failure> {
        let read = |path: &Path| read_secret(path).map_err(|error| Failure::of_file("Reading", path, &error));
        self.manner.passphrase_file.as_deref().map(read).transpose()
    }
}

/// Whether the vault is there and its key is not.
pub(super) fn needs_the_user(state: VaultState) -> bool {
    use VaultState::{Locked, LockedByUser, Missing, Unavailable, Waiting, WrongKey};
    matches!(state, Locked | LockedByUser | Missing | Unavailable | Waiting | WrongKey)
}

fn is_mistake(error: &ServiceError) -> bool {
    matches!(error.code(), ErrorCode::WrongKey | ErrorCode::InvalidParameter)
}

/// Only a person at a terminal can be asked. What is said may come by a pipe meanwhile.
fn may_ask() -> bool {
    io::stderr().is_terminal()
}

fn asked() -> Result<Zeroizing<String>, Failure> {
    let typed = rpassword::prompt_password("Passphrase or recovery code: ");
    typed.map(Zeroizing::new).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => Failure::Ended(STOPPED),
        _ => Failure::internal("asking on the terminal", &error),
    })
}

fn read_secret(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    File::open(path)?.take(LONGEST).read_to_string(&mut text)?;
    // An editor ends the line; a passphrase may end with a blank.
    Ok(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Refuses a vault that is not open, with what to do.
fn opened(status: VaultStatus) -> Result<(), Failure> {
    const KEY: &str =
        "run the command on a terminal to be asked for the passphrase or recovery code, or give it by --passphrase-file";
    let locked = |message: String| ErrorBody::new(ErrorCode::VaultLocked, message);
    let body = match (status.state, status.error) {
        (VaultState::Open, _) => return Ok(()),
        (VaultState::New, _) => {
            locked(format!("there is no vault in {} yet; open Evenkeel once and make one", status.profile_dir))
                .advised("Start Evenkeel without a command: its first screen makes the vault.")
        }
        (VaultState::ConfirmRecovery, _) => {
            locked("the vault waits for its recovery code to be typed back; open Evenkeel and do it".to_owned())
                .advised("Start Evenkeel without a command and type the code, then do this again.")
        }
        (state, Some(error)) if needs_the_user(state) => ErrorBody { message: format!("{}; {KEY}", error.message), ..error },
        (_, Some(error)) => error,
        (state, None) if needs_the_user(state) => {
            locked(format!("the vault opens only with its passphrase or recovery code; {KEY}"))
        }
        (_, None) => locked("the vault is being opened; try again".to_owned()),
    };
    Err(body.into())
}
