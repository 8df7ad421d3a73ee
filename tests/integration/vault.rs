//! The vault under the service: nothing in clear, nothing made over what exists.

use crate::support::{World, options};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use std::path::Path;

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[tokio::test]
async fn no_file_holds_a_marker_or_a_key() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.server.push(Answer::reply(&["REPLYMARKER-4711"]));
    world.say(context.id, None, "USERMARKER-0815").await;
    let mut markers: Vec<String> =
        ["USERMARKER-0815", "REPLYMARKER-4711", "sk-secret-0123456789", "Calm Counselor"].map(String::from).to_vec();
    markers.extend(world.keychain.secrets());
    markers.push(world.recovery.join("-"));
    markers.push(world.recovery.join(""));
    let files = files(world.dir.path());
    assert!(files.iter().any(|(name, _)| name.ends_with("vault.db")) && files.len() >= 4, "{}", files.len());
    for (name, bytes) in files {
        for marker in &markers {
            assert!(!bytes.windows(marker.len()).any(|part| part == marker.as_bytes()), "{name} holds {marker}");
        }
    }
}

#[tokio::test]
async fn a_keychain_without_the_key_is_no_first_run() {
    let mut world = World::new().await;
    let context = world.counselor().await;
    world.service.shutdown().await;
    world.keychain.forget_all();
    let before: Vec<_> =
        ["vault.keys", "vault.db"].map(|name| std::fs::read(world.dir.path().join("profile").join(name)).unwrap()).to_vec();
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Missing);
    let made = world.service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await;
    assert_eq!(made.err().unwrap().code(), ErrorCode::VaultExists);
    let after: Vec<_> =
        ["vault.keys", "vault.db"].map(|name| std::fs::read(world.dir.path().join("profile").join(name)).unwrap()).to_vec();
    assert!(before == after, "a file of the vault was changed");

    let mistyped = UnlockMethod::RecoveryCode { code: "ABCD".into() };
    assert_eq!(world.service.vault_unlock(mistyped).await.unwrap_err().code(), ErrorCode::InvalidParameter);
    let right = UnlockMethod::RecoveryCode { code: world.recovery.join(" ").to_lowercase() };
    assert_eq!(world.service.vault_unlock(right).await.unwrap().state, VaultState::Open);
    assert_eq!(world.contexts().await[0].id, context.id);
    // The keychain opens it again from now on.
    world.restart().await;
}

#[tokio::test]
async fn an_app_that_was_closed_before_the_code_was_typed_back_makes_a_new_one() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let make = || Service::new(options(dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    let service = make();
    service.vault_status().await;
    let lost = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await.unwrap();
    service.shutdown().await;
    let service = make();
    assert_eq!(service.vault_status().await.state, VaultState::ConfirmRecovery);
    assert_eq!(service.context_list(ContextQuery::default()).await.unwrap_err().code(), ErrorCode::VaultLocked);
    let sheet = service.vault_renew_recovery().await.unwrap();
    assert!(sheet.groups != lost.groups);
    let wrong = vec!["AAAA".to_owned(); sheet.ask_groups.len()];
    assert_eq!(service.vault_confirm_recovery(wrong).await.unwrap_err().code(), ErrorCode::InvalidParameter);
    let right = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    assert_eq!(service.vault_confirm_recovery(right).await.unwrap().state, VaultState::Open);
}

#[tokio::test]
async fn a_vault_without_a_keychain_slot_waits_for_its_passphrase_and_nothing_is_wrong() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let make = || Service::new(options(dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    let service = make();
    service.vault_status().await;
    let wish = VaultOptions { use_keychain: false, passphrase: Some("correct horse battery".into()) };
    let sheet = service.vault_create(wish).await.unwrap();
    let answers = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    service.vault_confirm_recovery(answers).await.unwrap();
    service.shutdown().await;
    let service = make();
    let status = service.vault_status().await;
    assert_eq!((status.state, status.error.is_none(), status.has_passphrase), (VaultState::LockedByUser, true, true));
    let by = UnlockMethod::Passphrase { passphrase: "correct horse battery".into() };
    assert_eq!(service.vault_unlock(by).await.unwrap().state, VaultState::Open);
}

#[tokio::test]
async fn locking_closes_and_the_keychain_opens_again() {
    let world = World::new().await;
    let context = world.counselor().await;
    assert_eq!(world.service.vault_lock().await.state, VaultState::LockedByUser);
    assert_eq!(world.service.context_list(ContextQuery::default()).await.unwrap_err().code(), ErrorCode::VaultLocked);
    let status = world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    assert_eq!(status.state, VaultState::Open);
    assert_eq!(world.contexts().await[0].id, context.id);
}

#[tokio::test]
async fn the_recovery_code_goes_into_a_file_while_it_is_shown_and_never_beside_the_vault() {
    let world = World::new().await;
    let dir = tempfile::tempdir().unwrap();
    let service = Service::new(options(dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    service.vault_status().await;
    let sheet = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await.unwrap();
    let words = RecoveryWords { title: "Code of 12 May".into(), notes: vec!["Keep it.".into(), "احفظه".into()] };
    let inside = dir.path().join("profile/code.txt");
    let refused = service.vault_save_recovery(inside.clone(), words.clone()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::PlaceRefused);
    assert!(refused.to_body().message.contains("profile folder") && !inside.exists(), "{refused}");
    let endless = RecoveryWords { title: "x".repeat(4_097), notes: vec![] };
    let outside = dir.path().join("code.txt");
    assert_eq!(service.vault_save_recovery(outside.clone(), endless).await.unwrap_err().code(), ErrorCode::InvalidParameter);
    service.vault_save_recovery(outside.clone(), words.clone()).await.unwrap();
    let code = sheet.groups.join("-");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), format!("Code of 12 May\n\n{code}\n\nKeep it.\nاحفظه\n"));
    let right = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    service.vault_confirm_recovery(right).await.unwrap();
    assert_eq!(service.vault_save_recovery(outside, words).await.unwrap_err().code(), ErrorCode::InvalidParameter);
}
