#![allow(clippy::unwrap_used)]
//! What needs no daemon; the states of a real keyring are in `tests/keychain.rs`.
use super::*;
use std::sync::mpsc::channel;

const SOON: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_task_waits_then_gives_its_answer_once() {
    let (release, gate) = channel::<()>();
    let mut task = KeychainTask::start(move || {
        gate.recv().unwrap();
        Ok(7)
    })
    .unwrap();
    assert_eq!(task.wait(SOON), Err(KeychainError::Waiting));
    release.send(()).unwrap();
    assert_eq!(task.wait(LONG), Ok(7));
    assert!(matches!(task.wait(LONG), Err(KeychainError::Failed { .. })));
}

#[test]
fn a_dropped_task_lets_its_question_end() {
    let (release, gate) = channel::<()>();
    let (done, ended) = channel();
    let task = KeychainTask::start(move || {
        gate.recv().unwrap();
        done.send(()).unwrap();
        Ok(7)
    })
    .unwrap();
    drop(task);
    release.send(()).unwrap();
    ended.recv_timeout(LONG).unwrap();
}

#[test]
fn a_get_that_waits_is_joined_by_the_next_and_forgotten_by_cancel() {
    let keychain = Keychain::with_limit(SOON);
    let vault_id = Uuid::from_u128(1);
    let (release, gate) = channel::<()>();
    let question = KeychainTask::start(move || {
        gate.recv().unwrap();
        Ok(SecretString::from("late"))
    });
    keychain.pending.lock().unwrap().insert(vault_id, question.unwrap());
    assert_eq!(keychain.get(vault_id).err(), Some(KeychainError::Waiting));
    assert_eq!(keychain.get(vault_id).err(), Some(KeychainError::Waiting));
    release.send(()).unwrap();
    let patient = Keychain { limit: LONG, ..keychain };
    assert_eq!(patient.get(vault_id).unwrap().expose_secret(), "late");
    assert!(patient.pending.lock().unwrap().is_empty());

    let (_never, gate) = channel::<()>();
    let question = KeychainTask::start(move || gate.recv().map(|()| SecretString::from("x")).map_err(|_| stopped()));
    patient.pending.lock().unwrap().insert(vault_id, question.unwrap());
    patient.cancel(vault_id);
    assert!(patient.pending.lock().unwrap().is_empty());
}

#[test]
fn a_question_that_panics_is_an_error() {
    let mut task: KeychainTask<()> = KeychainTask::start(|| panic!("on purpose")).unwrap();
    assert!(matches!(task.wait(LONG), Err(KeychainError::Failed { .. })));
}

#[test]
fn answers_of_the_store_become_states() {
    use keyring_core::Error;
    let refused = || Box::new(std::io::Error::other("dismissed"));
    assert_eq!(translate(&Error::NoEntry, false), KeychainError::Missing);
    assert_eq!(translate(&Error::NoEntry, true), KeychainError::Locked);
    assert_eq!(translate(&Error::NoStorageAccess(refused()), false), KeychainError::Locked);
    assert_eq!(translate(&Error::PlatformFailure(refused()), true), KeychainError::Locked);
    assert!(matches!(translate(&Error::PlatformFailure(refused()), false), KeychainError::Failed { .. }));
    let secret = b"hunter2\xff".to_vec();
    for error in [Error::BadEncoding(secret.clone()), Error::BadDataFormat(secret, refused())] {
        assert!(!format!("{:?}", translate(&error, false)).contains("hunter2"));
    }
}
