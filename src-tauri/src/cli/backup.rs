//! `evenkeel backup`.

use super::Caller;
use super::failure::{FAILED, Failure};
use super::print::{table, when};
use crate::options::BackupWish;
use evenkeel_domain::{ErrorBody, ErrorCode};
use evenkeel_service::BackupInfo;
use std::path::{Path, PathBuf};

pub(super) async fn backup(caller: &Caller, wish: &BackupWish) -> Result<(), Failure> {
    match wish {
        BackupWish::Now { to } => {
            caller.open().await?;
            let made = match to {
                Some(folder) => caller.service.backup_save(whole_path(folder)?).await?,
                None => caller.service.backup_make().await?,
            };
            caller.print.value(&made, |made| format!("Made and checked: {}", made.path))
        }
        BackupWish::List { to } => {
            let found = match to {
                Some(folder) => elsewhere(caller, folder).await?,
                None => all(caller).await?,
            };
            caller.print.value(&found, |infos| listed(infos))
        }
        BackupWish::Check { file } => check(caller, file.as_deref()).await,
    }
}

/// The backups in the profile; of a vault that does not open, what can be said without its key.
async fn all(caller: &Caller) -> Result<Vec<BackupInfo>, Failure> {
    match caller.open().await {
        Ok(()) => Ok(caller.service.backup_list().await?),
        Err(closed) => caller.service.backup_list_closed().await.map_err(|_| closed),
    }
}

/// The backups in a folder, which may be all that is left of a vault.
async fn elsewhere(caller: &Caller, folder: &Path) -> Result<Vec<BackupInfo>, Failure> {
    // Without the key something can be said all the same; that the user wants to stop is another matter.
    if let Err(stopped @ Failure::Ended(_)) = caller.open().await {
        return Err(stopped);
    }
    Ok(caller.service.backup_list_in(whole_path(folder)?).await?)
}

async fn check(caller: &Caller, file: Option<&Path>) -> Result<(), Failure> {
    caller.open().await?;
    let path = match file {
        Some(file) => {
            let path = whole_path(file)?;
            caller.service.backup_choose(path.clone()).await?;
            path
        }
        None => newest(&caller.service.backup_list().await?)?,
    };
    let checked = caller.service.backup_verify(path).await?;
    caller.print.value(&checked, |checked| match &checked.problem {
        None => format!("Whole: {}", checked.path),
        Some(problem) => format!("Not to be relied on ({problem}): {}", checked.path),
    })?;
    if checked.problem.is_some() { Err(Failure::Ended(FAILED)) } else { Ok(()) }
}

fn newest(listed: &[BackupInfo]) -> Result<PathBuf, Failure> {
    let none = || {
        let none = ErrorBody::new(ErrorCode::NotFound, "there is no backup in the profile");
        none.advised("Make one with evenkeel backup now, or name the file of another one.")
    };
    Ok(listed.first().map(|info| PathBuf::from(&info.path)).ok_or_else(none)?)
}

/// The service knows files by their whole paths.
pub(super) fn whole_path(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::of_file("Finding", path, &error))
}

fn listed(infos: &[BackupInfo]) -> String {
    let row = |info: &BackupInfo| {
        let made = info.made_at.map(when).unwrap_or_default();
        let state = match (&info.problem, info.verified_at) {
            (Some(problem), _) => problem.clone(),
            (None, Some(at)) => format!("checked {}", when(at)),
            (None, None) => "not checked here".to_owned(),
        };
        let messages = info.messages.map(|messages| messages.to_string()).unwrap_or_default();
        [made, state, messages, format!("{} KB", info.size_bytes.div_ceil(1_000)), info.path.clone()]
    };
    table(["MADE", "STATE", "MESSAGES", "SIZE", "FILE"], infos.iter().map(row))
}
