//! `evenkeel restore`.

use super::Caller;
use super::backup::whole_path;
use super::failure::Failure;
use super::opening::needs_the_user;
use super::print::{asked, when};
use crate::options::RestoreWish;
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::{ClosedRestore, RestorePreview, RestoreReport, VaultState};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// What has to be typed.
const WORD: &str = "restore";

pub(super) async fn restore(caller: &Caller, wish: &RestoreWish) -> Result<(), Failure> {
    let path = whole_path(&wish.file)?;
    let state = caller.service.vault_status().await.state;
    if state == VaultState::Open {
        return restore_open(caller, path, wish.yes).await;
    }
    let secret = caller.secret()?.ok_or_else(no_secret)?;
    if needs_the_user(state) {
        // A vault that opens is compared with the backup first, and kept behind a backup of its own.
        match caller.service.vault_unlock_typed(secret.clone()).await {
            Ok(status) if status.state == VaultState::Open => return restore_open(caller, path, wish.yes).await,
            Err(error) if state == VaultState::LockedByUser && error.code() != ErrorCode::VaultDamaged => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    restore_closed(caller, path, secret, wish.yes).await
}

async fn restore_open(caller: &Caller, path: PathBuf, yes: bool) -> Result<(), Failure> {
    caller.service.backup_choose(path.clone()).await?;
    let preview = caller.service.backup_preview(path.clone()).await?;
    confirmed(caller, yes, &change(&preview))?;
    let report = caller.service.backup_restore(path).await?;
    caller.print.value(&report, |report: &RestoreReport| done(report.set_aside.as_deref()))
}

async fn restore_closed(caller: &Caller, path: PathBuf, secret: Zeroizing<String>, yes: bool) -> Result<(), Failure> {
    let info = caller.service.backup_choose_closed(path.clone()).await?;
    let made = info.made_at.map_or_else(String::new, |made| format!(" of {}", when(made)));
    confirmed(caller, yes, &format!("The backup{made} takes the place of a vault that does not open."))?;
    let report = caller.service.backup_restore_closed(path, secret.to_string(), |_| {}).await?;
    caller.print.value(&report, |report: &ClosedRestore| match report.kept_database {
        true => "The vault had only lost its keys: it is as it was, and opens again.".to_owned(),
        false => done(report.set_aside.as_deref()),
    })
}

fn change(preview: &RestorePreview) -> String {
    if preview.is_vault_damaged {
        return format!("The backup of {} takes the place of a damaged vault.", when(preview.made_at));
    }
    let names = |contexts: &[evenkeel_service::NamedContext]| {
        contexts.iter().map(|context| context.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "The backup of {} takes the place of the vault: {} messages instead of {}.",
        when(preview.made_at),
        preview.then.messages,
        preview.now.messages
    );
    if preview.newer_messages > 0 {
        text.push_str(&format!(" {} newer messages disappear.", preview.newer_messages));
    }
    if !preview.disappear.is_empty() {
        text.push_str(&format!(" These contexts disappear: {}.", names(&preview.disappear)));
    }
    if !preview.come_back.is_empty() {
        text.push_str(&format!(" These come back: {}.", names(&preview.come_back)));
    }
    text
}

/// Goes on only by the user's word.
fn confirmed(caller: &Caller, yes: bool, change: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let refused = |message: &str, advice: &str| {
        let body = ErrorBody::new(ErrorCode::InvalidParameter, message).with("field", "yes");
        Err(body.advised(advice).into())
    };
    if !io::stdin().is_terminal() {
        return refused(
            "nobody can be asked here whether the vault is to be replaced",
            "Add --yes to restore without being asked, or run the command on a terminal.",
        );
    }
    caller.print.note(change);
    match asked(&format!("Type {WORD} to go on: "))? {
        Some(word) if word == WORD => Ok(()),
        _ => {
            refused("nothing was restored, since the word was not typed", "Run the command again and type restore, or add --yes.")
        }
    }
}

fn done(set_aside: Option<&str>) -> String {
    match set_aside {
        Some(path) => format!("Restored. The database from before is kept for a week: {path}"),
        None => "Restored.".to_owned(),
    }
}

fn no_secret() -> Failure {
    let message = "the vault is not open; restoring needs the recovery code or passphrase of the backup: run the command on a \
                   terminal, or give it by --passphrase-file";
    let body = ErrorBody::new(ErrorCode::VaultLocked, message);
    body.advised("Name a file with the recovery code by --passphrase-file, or run the command on a terminal.").into()
}
