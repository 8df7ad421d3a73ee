//! The user's data in another folder: everything works there, nothing of it stays behind, and without
//! its drive nothing new is made.

use crate::support::{World, ended, options};
use evenkeel_domain::*;
use evenkeel_engine::default_model;
use evenkeel_service::*;
use std::path::{Path, PathBuf};

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

/// A service on the old path, as the next start makes it.
fn begun_again(world: &World) -> Service {
    Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap()
}

async fn move_to(world: &mut World, folder: &Path) -> PathBuf {
    let place = world.service.data_move(folder.to_owned()).await.unwrap();
    world.service.shutdown().await;
    world.service = begun_again(world);
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(world.service.profile_dir(), place);
    place
}

async fn all_messages(world: &World, context: ContextId) -> Vec<String> {
    let conversation = world.conversations(context).await.items.remove(0);
    let view = world.service.conversation_open(conversation.id).await.unwrap();
    view.messages.into_iter().map(|message| message.content).collect()
}

#[tokio::test]
async fn everything_works_at_the_new_place_and_nothing_of_the_vault_stays_in_the_old_one() {
    let mut world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.exchange(context.id, None, "Do you remember?", "Yes, all of it.").await;
    let backup = world.service.backup_make().await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let place = move_to(&mut world, &elsewhere.path().join("mine")).await;
    assert_eq!(place, real(elsewhere.path()).join("mine"));
    let old = world.dir.path().join("profile");
    assert_eq!(names(&old), ["place.json", "vault.lock"]);

    assert_eq!(all_messages(&world, context.id).await, ["Do you remember?", "Yes, all of it."]);
    let listed = world.service.backup_list().await.unwrap();
    assert_eq!((listed.len(), listed[0].id.clone()), (1, backup.id.clone()));
    let path = PathBuf::from(&listed[0].path);
    assert_eq!(path.parent(), Some(&*place.join("backups")));
    assert_eq!(world.service.backup_verify(path.clone()).await.unwrap().problem, None);
    world.exchange(context.id, None, "And here?", "Here too.").await;
    let summary = world.service.data_summary().await.unwrap();
    assert_eq!(summary.profile_dir, place.display().to_string());
    let inside = world.service.backup_save(place.join("models")).await.unwrap_err();
    assert_eq!(inside.code(), ErrorCode::InvalidParameter, "the new folder is the profile now");
    world.service.backup_restore(path).await.unwrap();
    assert_eq!(all_messages(&world, context.id).await.len(), 2);
    assert_eq!(names(&old), ["place.json", "vault.lock"], "nothing is written there any more");
    assert_eq!(world.keychain.secrets().len(), 1);

    // Erased at the new place, a new vault is made there and not in the old folder.
    world.service.data_erase("ERASE".into(), true).await.unwrap();
    assert_eq!(names(&place), ["place.json", "vault.lock"]);
    crate::support::open_new(&world.service).await;
    assert!(place.join("vault.db").exists());
    assert_eq!(names(&old), ["place.json", "vault.lock"]);
}

#[tokio::test]
async fn what_a_restore_has_set_aside_is_cleaned_up_at_the_new_place_too() {
    let mut world = World::new().await;
    world.counselor().await;
    world.service.run_due_jobs().await.unwrap();
    let made = world.service.backup_make().await.unwrap();
    world.service.backup_restore(made.path.into()).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let place = move_to(&mut world, &elsewhere.path().join("mine")).await;
    let set_aside = || names(&place).iter().filter(|name| name.contains("pre-restore")).count();
    assert!(set_aside() > 0, "a move takes it along");
    // Planned, seen for the first time, a week later, and behind a newer backup.
    for time in [0, 7, 8 * 24, 26, 26] {
        world.run_after(chrono::TimeDelta::hours(time)).await;
    }
    assert_eq!(set_aside(), 0, "{:?}", names(&place));
}

#[tokio::test]
async fn an_own_model_file_answers_at_the_new_place_also_from_a_backup_of_the_old_one() {
    let mut world = World::new().await;
    let own = world.dir.path().join("profile/models/own.gguf");
    std::fs::copy(default_model::locate(None).expect("the model is missing: run ./scripts/setup"), &own).unwrap();
    world.service.model_file_add(own.clone()).await.unwrap();
    let engine = world.service.provider_list().await.unwrap().remove(0);
    let context = world.counselor().await;
    let model = Some(ModelChoice { provider_id: engine.id, model: "own".into() });
    let patch = ContextPatch { max_tokens: Some(4), model: Some(model.clone()), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    world.service.backup_make().await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("thesis.txt"), b"mine").unwrap();
    let place = move_to(&mut world, elsewhere.path()).await;
    assert_eq!(place, real(elsewhere.path()).join("evenkeel"));
    assert!(!own.exists());

    let backup = world.service.backup_list().await.unwrap().remove(0);
    for from_backup in [false, true] {
        if from_backup {
            world.service.backup_restore(backup.path.clone().into()).await.unwrap();
        }
        let about = world.service.model_file_removal("own".into()).await.unwrap();
        assert_eq!((Path::new(&about.path), about.deletes_file), (&*place.join("models/own.gguf"), true), "{from_backup}");
        assert_eq!(world.contexts().await[0].model, model);
        assert_eq!(ended(&world.say(context.id, None, "Hello.").await).1, None, "{from_backup}");
    }
    world.service.shutdown().await;
}

#[tokio::test]
async fn without_its_drive_nothing_new_is_made_and_with_it_everything_is_back() {
    let mut world = World::new().await;
    let context = world.counselor().await;
    let drives = tempfile::tempdir().unwrap();
    let drive = drives.path().join("drive");
    std::fs::create_dir(&drive).unwrap();
    let place = move_to(&mut world, &drive.join("evenkeel")).await;
    world.service.shutdown().await;
    std::fs::rename(&drive, drives.path().join("unplugged")).unwrap();

    world.service = begun_again(&world);
    for mount_point in [false, true] {
        if mount_point {
            std::fs::create_dir_all(&place).unwrap();
        }
        let status = world.service.vault_status().await;
        let error = status.error.unwrap();
        assert_eq!((status.state, error.code), (VaultState::Unavailable, ErrorCode::VaultAway));
        assert_eq!(error.details["path"], place.display().to_string());
        assert!(error.message.contains("connect its drive"), "{}", error.message);
        let made = world.service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await;
        assert_eq!(made.err().unwrap().code(), ErrorCode::VaultAway);
        let typed = UnlockMethod::RecoveryCode { code: world.recovery.join("-") };
        assert_eq!(world.service.vault_unlock(typed).await.unwrap_err().code(), ErrorCode::VaultAway);
        assert_eq!(world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap().state, VaultState::Unavailable);
    }
    assert_eq!(names(&world.dir.path().join("profile")), ["place.json", "vault.lock"]);
    assert_eq!(names(&place), Vec::<String>::new(), "the mount point is left alone");

    std::fs::remove_dir_all(&drive).unwrap();
    std::fs::rename(drives.path().join("unplugged"), &drive).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(world.contexts().await[0].id, context.id);
}

#[tokio::test]
async fn a_folder_that_does_not_do_is_refused_without_closing_the_vault() {
    let world = World::new().await;
    let context = world.counselor().await;
    let profile = world.dir.path().join("profile");
    let mut states = world.service.vault_states();
    std::fs::write(world.dir.path().join("file"), b"x").unwrap();
    for folder in ["profile", "profile/models/deeper", "file", "missing/new"] {
        let error = world.service.data_move(world.dir.path().join(folder)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::MoveRefused, "{folder}: {error}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(world.dir.path().join("file"), profile.join("models/link.gguf")).unwrap();
        let error = world.service.data_move(world.dir.path().join("new")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::MoveRefused);
        assert!(error.to_string().contains("link.gguf"), "{error}");
        std::fs::remove_file(profile.join("models/link.gguf")).unwrap();
    }
    assert!(states.try_recv().is_err(), "the vault was open all the time");
    // What is found out only once it is closed opens it again.
    let other = begun_again(&world);
    assert_eq!(other.vault_status().await.state, VaultState::Open);
    let error = world.service.data_move(world.dir.path().join("new")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultInUse);
    for service in [&world.service, &other] {
        assert_eq!(service.context_list(ContextQuery::default()).await.unwrap().contexts[0].id, context.id);
    }
    assert!(!world.dir.path().join("new").exists() && !profile.join("place.json").exists());
    world.service.vault_lock().await;
    let error = world.service.data_move(world.dir.path().join("new")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::VaultLocked);
}

#[tokio::test]
async fn a_copy_that_was_cut_off_is_gone_after_the_next_start_and_does_not_outlive_an_erasure() {
    let mut world = World::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let old = world.dir.path().join("profile");
    let slots = std::fs::read(old.join("vault.keys")).unwrap();
    let place = move_to(&mut world, &elsewhere.path().join("mine")).await;
    // As it is left when the old key slots could not be removed yet.
    std::fs::write(old.join("vault.keys"), &slots).unwrap();
    world.service.data_erase("ERASE".into(), false).await.unwrap();
    assert_eq!(names(&old), ["place.json", "vault.lock"]);
    assert_eq!(names(&place), ["models", "place.json", "vault.lock"]);
    crate::support::open_new(&world.service).await;
    // As it is left when the machine stopped while the next copy was made.
    world.service.shutdown().await;
    let note = std::fs::read_to_string(place.join("place.json")).unwrap();
    let next = real(elsewhere.path()).join("next");
    let mut leaving: serde_json::Value = serde_json::from_str(&note).unwrap();
    leaving["stand"] = serde_json::json!({ "kind": "leaving", "to": next, "madeFolder": true });
    std::fs::write(place.join("place.json"), leaving.to_string()).unwrap();
    std::fs::create_dir(&next).unwrap();
    let mut arriving = leaving.clone();
    arriving["number"] = 2.into();
    arriving["stand"] = serde_json::json!({ "kind": "arriving", "from": place, "before": null, "entries": ["vault.db"] });
    std::fs::write(next.join("place.json"), arriving.to_string()).unwrap();
    std::fs::copy(place.join("vault.db"), next.join("vault.db")).unwrap();
    world.service = begun_again(&world);
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    assert_eq!(world.service.profile_dir(), place);
    assert!(!next.exists());
}
