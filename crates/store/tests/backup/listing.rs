//! What a folder of backups is said to hold.

use crate::vault::{Vault, day, on};
use evenkeel_store::backup::{self, BackupError, BackupId, BackupResult, BackupStamp};
use std::fs;

#[test]
fn without_the_index_everything_is_found_again_and_counts_as_not_checked() {
    let vault = Vault::with(2);
    let (first, second) = (vault.back_up(1), vault.back_up(2));
    fs::remove_file(vault.profile.backups().join("backups.json")).unwrap();
    let found = vault.list();
    assert_eq!(found.iter().map(|info| &info.path).collect::<Vec<_>>(), [&second.path, &first.path]);
    assert!(found.iter().all(|info| info.result == BackupResult::Unverified && info.verified_at.is_none()));
    assert_eq!(found[1].about, first.about);
    fs::write(vault.profile.backups().join("backups.json"), b"[\"nonsense\"").unwrap();
    vault.verify(&first.path).unwrap();
    let results: Vec<_> = vault.list().into_iter().map(|info| info.result).collect();
    assert_eq!(results, [BackupResult::Unverified, BackupResult::Verified]);
}

#[test]
fn without_the_key_the_counts_are_not_shown() {
    let vault = Vault::with(2);
    vault.back_up(1);
    let found = backup::list(&vault.profile.backups(), None).unwrap();
    let about = found[0].about.as_ref().unwrap();
    assert_eq!((about.made_at, about.counts), (day(1), None));
}

#[test]
fn another_key_another_vault_and_other_files_are_told_apart() {
    let (vault, other) = (Vault::with(2), Vault::with(2));
    let ours = vault.back_up(1);
    let folder = vault.profile.backups();
    fs::write(folder.join("holiday.ekbackup"), b"pictures").unwrap();
    fs::write(folder.join("notes.txt"), b"not listed").unwrap();
    let wrong = backup::VaultKeys { root: &other.root, ..vault.keys() };
    let of = |keys| backup::list(&folder, Some(keys)).unwrap().into_iter().map(|info| info.result).collect::<Vec<_>>();
    assert_eq!(of(vault.keys()), [BackupResult::Verified, BackupResult::Foreign]);
    assert_eq!(of(wrong), [BackupResult::WrongKey, BackupResult::Foreign]);
    assert_eq!(of(other.keys()), [BackupResult::OtherVault, BackupResult::Foreign]);
    let error = backup::verify(&ours.path, wrong, &vault.profile, day(5), &mut crate::vault::on).unwrap_err();
    assert!(matches!(error, BackupError::WrongKey { .. }), "{error}");
    let error = backup::key_slots(&folder.join("holiday.ekbackup")).unwrap_err();
    assert!(matches!(error, BackupError::Foreign { .. }), "{error}");
}

#[test]
fn a_file_that_was_exchanged_does_not_inherit_the_check() {
    let vault = Vault::with(2);
    let (first, second) = (vault.back_up(1), vault.back_up(2));
    fs::copy(&second.path, &first.path).unwrap();
    let exchanged = vault.list().into_iter().find(|info| info.path == first.path).unwrap();
    assert_eq!((exchanged.result, exchanged.verified_at), (BackupResult::Unverified, None));
}

#[test]
fn checks_that_end_at_once_are_all_noted() {
    let vault = Vault::with(2);
    let made: Vec<_> = (1..=6).map(|number| vault.back_up(number)).collect();
    for _ in 0..3 {
        fs::remove_file(vault.profile.backups().join("backups.json")).unwrap();
        std::thread::scope(|scope| {
            for info in &made {
                scope.spawn(|| vault.verify(&info.path).unwrap());
            }
        });
        let checked = vault.list().into_iter().filter(|info| info.result == BackupResult::Verified).count();
        assert_eq!(checked, made.len());
    }
}

#[test]
fn a_lost_index_costs_no_backup_and_the_checks_are_made_again() {
    let vault = Vault::with(2);
    let newest_two = |stamps: &[BackupStamp]| {
        let verified = stamps.iter().filter(|stamp| stamp.verified).map(|stamp| stamp.id);
        verified.take(2).collect::<Vec<BackupId>>()
    };
    for number in 1..=5 {
        vault.back_up(number);
    }
    for damage in [None, Some(b"[\"nonsense\"")] {
        let index = vault.profile.backups().join("backups.json");
        match damage {
            None => fs::remove_file(&index).unwrap(),
            Some(bytes) => fs::write(&index, bytes).unwrap(),
        }
        assert_eq!(vault.list().len(), 5);
        // Three of the five are checked again, and fall under the rule then; two were not looked at.
        let (number, folder) = (if damage.is_none() { 6 } else { 8 }, vault.profile.backups());
        vault.store().backup_to(&vault.request(&folder, number, Some(&newest_two)), &mut on).unwrap();
        let results: Vec<_> = vault.list().into_iter().map(|info| info.result).collect();
        let (verified, unverified) = (BackupResult::Verified, BackupResult::Unverified);
        assert_eq!(results, [verified.clone(), verified, unverified.clone(), unverified], "{damage:?}");
        vault.back_up(number + 1);
    }
}
