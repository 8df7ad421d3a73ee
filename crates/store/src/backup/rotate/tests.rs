#![allow(clippy::unwrap_used)]
use super::*;
use crate::backup::{BackupAbout, BackupKind};
use chrono::{DateTime, Utc};
use proptest::prelude::*;

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000 + hours * 3_600, 0).unwrap()
}

fn info(number: u8, made: i64, verified: Option<i64>, result: BackupResult) -> BackupInfo {
    let id = BackupId::from_parts(at(made), [number; 10]);
    let about = BackupAbout {
        id,
        vault_id: uuid::Uuid::nil(),
        kind: BackupKind::Daily,
        made_at: at(made),
        app_version: String::new(),
        schema: 1,
        counts: None,
    };
    BackupInfo { path: format!("{number}").into(), size_bytes: 1, about: Some(about), verified_at: verified.map(at), result }
}

fn any_info(number: u8) -> impl Strategy<Value = BackupInfo> {
    (-9_999_i64..9_999, -99_i64..99, 0..7_u8).prop_map(move |(made, verified, kind)| match kind {
        0 => info(number, made, None, BackupResult::Unverified),
        1 => info(number, made, Some(verified), BackupResult::Damaged { reason: String::new() }),
        2 => info(number, made, None, BackupResult::Foreign),
        3 => info(number, made, None, BackupResult::OtherVault),
        _ => info(number, made, Some(verified), BackupResult::Verified),
    })
}

fn any_folder() -> impl Strategy<Value = Vec<BackupInfo>> {
    (0_u8..12).prop_flat_map(|count| (0..count).map(any_info).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn whatever_is_not_kept_the_newest_verified_stays(folder in any_folder(), wanted: u16) {
        let keep = |stamps: &[BackupStamp]| {
            stamps.iter().enumerate().filter(|(n, _)| wanted >> (n % 16) & 1 == 1).map(|(_, stamp)| stamp.id).collect()
        };
        let gone: Vec<_> = out_of_time(&folder, &keep).into_iter().map(|info| info.path.clone()).collect();
        let left: Vec<_> = folder.iter().filter(|info| !gone.contains(&info.path)).collect();
        let verified: Vec<_> = folder.iter().filter(|info| info.result == BackupResult::Verified).collect();
        match verified.iter().map(|info| info.made_at()).max() {
            None => prop_assert!(gone.is_empty()),
            Some(newest) => prop_assert!(left.iter().any(|i| i.result == BackupResult::Verified && i.made_at() == newest)),
        }
        let lasts = verified.iter().map(|info| info.verified_at).max();
        prop_assert!(lasts.is_none_or(|last| left.iter().any(|i| i.result == BackupResult::Verified && i.verified_at == last)));
        for info in &folder {
            let is_known = info.result == BackupResult::Verified;
            prop_assert!(is_known || !gone.contains(&info.path), "not ours to delete, or never looked at: {info:?}");
        }
    }
}

#[test]
fn a_backup_from_the_future_does_not_protect_itself_alone() {
    let folder = [info(1, 9_000, Some(1), BackupResult::Verified), info(2, 5, Some(5), BackupResult::Verified)];
    assert!(out_of_time(&folder, &|_| Vec::new()).is_empty(), "both the newest and the one verified last stay");
}

#[test]
fn what_is_kept_is_asked_newest_first() {
    let folder = [3, 2, 1].map(|n| info(n, n.into(), Some(n.into()), BackupResult::Verified));
    let gone = out_of_time(&folder, &|stamps| {
        assert!(stamps.is_sorted_by(|a, b| a.made_at > b.made_at) && stamps.len() == 3);
        vec![stamps[1].id]
    });
    assert_eq!(gone.iter().map(|info| info.path.clone()).collect::<Vec<_>>(), [PathBuf::from("1")]);
}
