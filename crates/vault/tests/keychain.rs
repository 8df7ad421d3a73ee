//! The keychain in every state that a desktop can be in, with real daemons.
//!
//! The keychain is found by environment variables. So each case runs this test program again as
//! a child with the environment of a private session, and reads what the child prints.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../testkit/src/keyring.rs"]
#[allow(dead_code, reason = "shared with tests that use the rest")]
mod keyring;

use evenkeel_vault::{
    CreateOptions, KeyFile, Keychain, KeychainError, KeychainState, Profile, SecretStore, SlotKind, Use, VaultError, VaultLock,
    add_keychain_slot, create, unlock_keychain, unlock_recovery,
};
use keyring::{KeyringHome, KeyringSession, KeyringState, PASSWORD};
use secrecy::{ExposeSecret, SecretString};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use uuid::Uuid;

const CASE: &str = "EVENKEEL_TEST_CASE";
const PROFILE: &str = "EVENKEEL_TEST_PROFILE";
const VAULT: Uuid = Uuid::from_u128(0x00c0_ffee);
const PATIENT: Duration = Duration::from_secs(20);

/// A child that runs `case`; the profile, if it needs one, is in the session's home.
fn start(session: &KeyringSession<'_>, home: &KeyringHome, case: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env(CASE, case);
    command.env(PROFILE, home.path().join("profile")).stdin(Stdio::piped()).stdout(Stdio::piped());
    session.apply(&mut command).spawn().unwrap()
}

/// What the child says, line by line, without the words of the test harness.
fn run(session: &KeyringSession<'_>, home: &KeyringHome, case: &str) -> Vec<String> {
    let mut child = start(session, home, case);
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(child.wait().unwrap().success(), "{case}: {output}");
    output.lines().filter_map(|line| line.strip_prefix("SAYS ").map(str::to_owned)).collect()
}

fn say(what: impl std::fmt::Display) {
    println!("\nSAYS {what}");
}

fn answer(result: &Result<SecretString, KeychainError>) -> String {
    match result {
        Ok(secret) => format!("secret {}", secret.expose_secret()),
        Err(KeychainError::Unavailable { .. }) => "unavailable".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

#[test]
#[ignore = "the child of the other tests; does nothing by itself"]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    let profile = Profile::new(std::env::var_os(PROFILE).unwrap().into());
    match case.as_str() {
        "look" => say(match Keychain::with_limit(PATIENT).state(VAULT) {
            Ok(state) => format!("{state:?}"),
            Err(KeychainError::Unavailable { .. }) => "unavailable".to_owned(),
            Err(error) => format!("{error:?}"),
        }),
        "get" => say(answer(&Keychain::with_limit(PATIENT).get(VAULT))),
        "get without prompt" => say(answer(&Keychain::with_limit(PATIENT).without_prompt().get(VAULT))),
        "round trip" => round_trip(),
        "inside tokio" => inside_tokio(),
        "prompted" => prompted(),
        "create" => make_vault(&profile),
        "open" => open_vault(&profile),
        "recover" => recover_vault(&profile),
        other => panic!("unknown case {other}"),
    }
}

fn round_trip() {
    let keychain = Keychain::with_limit(PATIENT);
    say(answer(&keychain.get(VAULT)));
    for text in ["first", "second"] {
        keychain.set(VAULT, &SecretString::from(text)).unwrap();
        say(answer(&keychain.get(VAULT)));
    }
    say(answer(&keychain.get(Uuid::from_u128(1))));
    assert_eq!(keychain.state(VAULT), Ok(KeychainState::Present));
    keychain.delete(VAULT).unwrap();
    keychain.delete(VAULT).unwrap();
    say(answer(&keychain.get(VAULT)));
}

fn inside_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let worker = runtime.spawn(async { answer(&Keychain::with_limit(PATIENT).get(VAULT)) });
    say(runtime.block_on(worker).unwrap());
}

/// Says Waiting while the prompt is open, then what the answer to it brings.
fn prompted() {
    let keychain = Keychain::with_limit(Duration::from_millis(300));
    let asked = Instant::now();
    say(answer(&keychain.get(VAULT)));
    assert!(asked.elapsed() < Duration::from_secs(5), "a limit of 0.3 s took {:?}", asked.elapsed());
    assert_eq!(keychain.without_prompt_state(), Ok(KeychainState::Locked));
    let deadline = Instant::now() + PATIENT;
    loop {
        let result = keychain.get(VAULT);
        if !matches!(result, Err(KeychainError::Waiting)) || Instant::now() > deadline {
            return say(answer(&result));
        }
    }
}

trait StateOfVault {
    fn without_prompt_state(&self) -> Result<KeychainState, KeychainError>;
}

impl StateOfVault for Keychain {
    fn without_prompt_state(&self) -> Result<KeychainState, KeychainError> {
        // A state is asked for while the prompt is open: it must not wait behind it.
        Keychain::with_limit(PATIENT).state(VAULT)
    }
}

fn code(result: Result<impl Sized, VaultError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.code().as_str(),
    }
}

fn make_vault(profile: &Profile) {
    let lock = VaultLock::exclusive(profile).unwrap();
    let keychain = Keychain::with_limit(PATIENT);
    let made = create(profile, CreateOptions { keychain: Some(&keychain), ..CreateOptions::default() }, &lock);
    match made {
        Ok(made) => {
            say("ok");
            say(hex(&made.root.subkey(made.key_file.vault_id(), Use::Database)[..]));
            say(made.recovery_code.text().as_str());
        }
        Err(error) => say(error.code().as_str()),
    }
}

fn open_vault(profile: &Profile) {
    let key_file = KeyFile::read(profile).unwrap();
    match unlock_keychain(&key_file, &Keychain::with_limit(PATIENT)) {
        Ok(root) => {
            say("ok");
            say(hex(&root.subkey(key_file.vault_id(), Use::Database)[..]));
        }
        Err(error) => say(error.code().as_str()),
    }
}

fn recover_vault(profile: &Profile) {
    let mut key_file = KeyFile::read(profile).unwrap();
    let typed = fs::read_to_string(profile.dir().join("typed")).unwrap();
    let root = unlock_recovery(&key_file, &typed).ok().unwrap();
    say(code(add_keychain_slot(profile, &mut key_file, &root, &Keychain::with_limit(PATIENT), chrono::DateTime::UNIX_EPOCH)));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A home whose keyring holds a secret for [`VAULT`].
fn home_with_secret() -> KeyringHome {
    let home = KeyringHome::new().unwrap();
    let session = home.start(KeyringState::Unlocked).unwrap();
    let mut tool = Command::new("secret-tool");
    tool.args(["store", "--label=test", "service", "evenkeel", "username", &VAULT.to_string()]).stdin(Stdio::piped());
    let mut tool = session.apply(&mut tool).spawn().unwrap();
    std::io::Write::write_all(&mut tool.stdin.take().unwrap(), b"kept").unwrap();
    assert!(tool.wait().unwrap().success());
    drop(session);
    home
}

fn make_in(home: &KeyringHome) -> Vec<String> {
    let said = run(&home.start(KeyringState::Unlocked).unwrap(), home, "create");
    assert_eq!(said[0], "ok");
    said
}

#[test]
fn an_open_keyring_stores_replaces_and_removes() {
    let home = KeyringHome::new().unwrap();
    let session = home.start(KeyringState::Unlocked).unwrap();
    assert_eq!(run(&session, &home, "round trip"), ["Missing", "secret first", "secret second", "Missing", "Missing"]);
    assert_eq!(run(&session, &home, "look"), ["Missing"]);
}

#[test]
fn a_worker_of_an_async_runtime_may_ask() {
    let home = home_with_secret();
    let session = home.start(KeyringState::Unlocked).unwrap();
    assert_eq!(run(&session, &home, "inside tokio"), ["secret kept"]);
}

#[test]
fn a_locked_keyring_that_cannot_ask_is_locked() {
    let home = home_with_secret();
    let session = home.start(KeyringState::Locked).unwrap();
    assert_eq!(run(&session, &home, "look"), ["Locked"]);
    assert_eq!(run(&session, &home, "get without prompt"), ["Locked"]);
    assert_eq!(run(&session, &home, "get"), ["Locked"]);
}

#[test]
fn an_item_that_is_not_in_a_locked_keyring_is_not_called_missing() {
    let home = KeyringHome::new().unwrap();
    let session = home.start(KeyringState::Locked).unwrap();
    assert_eq!(run(&session, &home, "look"), ["Locked"]);
    assert_eq!(run(&session, &home, "get"), ["Locked"]);
}

#[test]
fn without_service_or_bus_the_keychain_is_unavailable() {
    let home = KeyringHome::new().unwrap();
    for state in [KeyringState::NoService, KeyringState::NoBus] {
        let session = home.start(state).unwrap();
        for case in ["look", "get", "get without prompt"] {
            assert_eq!(run(&session, &home, case), ["unavailable"], "{state:?} {case}");
        }
        assert_eq!(run(&session, &home, "create"), ["keychain_unavailable"], "{state:?}");
        assert!(!Profile::new(home.path().join("profile")).traces().any());
    }
}

#[test]
fn a_keyring_that_asks_is_waited_for_and_its_late_answer_arrives() {
    let home = home_with_secret();
    let session = home.start(KeyringState::LockedWithPrompter).unwrap();
    let mut child = start(&session, &home, "prompted");
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = || said.by_ref().find_map(|line| line.strip_prefix("SAYS ").map(str::to_owned));
    assert_eq!(next().as_deref(), Some("Waiting"));
    session.answer_prompt(PASSWORD).unwrap();
    assert_eq!(next().as_deref(), Some("secret kept"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_vault_made_with_the_keyring_opens_in_the_next_session() {
    let home = KeyringHome::new().unwrap();
    let made = make_in(&home);
    let session = home.start(KeyringState::Unlocked).unwrap();
    assert_eq!(run(&session, &home, "open"), ["ok", made[1].as_str()]);
    assert_eq!(run(&session, &home, "create"), ["vault_exists"]);
    drop(session);
    assert_eq!(run(&home.start(KeyringState::Locked).unwrap(), &home, "open"), ["keychain_locked"]);
    assert_eq!(run(&home.start(KeyringState::NoService).unwrap(), &home, "open"), ["keychain_unavailable"]);
}

#[test]
fn a_keyring_that_lost_its_file_never_leads_to_a_new_key() {
    let home = KeyringHome::new().unwrap();
    let made = make_in(&home);
    let slots = fs::read(Profile::new(home.path().join("profile")).key_slots()).unwrap();
    truncate(&home.login_keyring());
    let session = home.start(KeyringState::Unlocked).unwrap();
    assert_eq!(run(&session, &home, "open"), ["keychain_missing"]);
    assert_eq!(run(&session, &home, "create"), ["vault_exists"]);
    let profile = Profile::new(home.path().join("profile"));
    assert_eq!(fs::read(profile.key_slots()).unwrap(), slots, "no slot changed");

    fs::write(profile.dir().join("typed"), made[2].to_lowercase()).unwrap();
    assert_eq!(run(&session, &home, "recover"), ["ok"]);
    assert_eq!(run(&session, &home, "open"), ["ok", made[1].as_str()]);
    assert!(KeyFile::read(&profile).unwrap().has(SlotKind::Recovery));
}

#[test]
fn the_secret_is_text_and_not_on_disk_in_the_profile() {
    let home = KeyringHome::new().unwrap();
    make_in(&home);
    let profile = Profile::new(home.path().join("profile"));
    let vault_id = KeyFile::read(&profile).unwrap().vault_id().to_string();
    let session = home.start(KeyringState::Unlocked).unwrap();
    let mut tool = Command::new("secret-tool");
    let found = session.apply(tool.args(["lookup", "service", "evenkeel", "username", &vault_id])).output().unwrap();
    let secret = String::from_utf8(found.stdout).unwrap();
    assert_eq!(secret.len(), 44, "32 bytes in base64");
    for copy in [profile.key_slots(), profile.key_slots_copy()] {
        assert!(!fs::read_to_string(copy).unwrap().contains(&secret));
    }
}

fn truncate(path: &Path) {
    let length = fs::metadata(path).unwrap().len();
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length / 2).unwrap();
}
