//! A real keyring that fails, in each of its ways: the right state at once, nothing of the vault touched, and another try in
//! the same process opens it. The keyring is found by environment variables, so the service runs in a process of its own.

#![cfg(target_os = "linux")]

use crate::support::{TestClock, engine_program};
use evenkeel_domain::Limits;
use evenkeel_service::*;
use evenkeel_testkit::clock::FixedClock;
use evenkeel_testkit::keyring::{KeyringHome, KeyringSession, KeyringState, PASSWORD};
use evenkeel_vault::{Keychain, Profile};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOME: &str = "EVENKEEL_KEYRING_CHILD_PROFILE";

/// A process with the service, which does what it is told line by line.
struct Process {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(session: &KeyringSession<'_>, home: &KeyringHome) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "keyring::child", "--ignored", "--nocapture"]).env(HOME, home.path().join("profile"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = session.apply(&mut command).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut process = Self { child, said };
        process.ask("hello");
        process
    }

    fn ask(&mut self, what: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
        let answer = self.said.find_map(|line| line.unwrap().strip_prefix("SAYS ").map(str::to_owned));
        answer.unwrap_or_else(|| panic!("no answer to {what}"))
    }

    /// The state, and how long it took to be known.
    fn state(&mut self, what: &str) -> (String, Duration) {
        let answer = self.ask(what);
        let (state, millis) = answer.split_once(' ').unwrap();
        (state.to_owned(), Duration::from_millis(millis.parse().unwrap()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
fn child() {
    let Some(profile) = std::env::var_os(HOME) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let service = Service::new(options(profile.into())).unwrap();
        for line in std::io::stdin().lines() {
            let line = line.unwrap();
            let begun = Instant::now();
            let answer = match line.as_str() {
                "hello" => "hello".to_owned(),
                "make" => {
                    service.vault_status().await;
                    let sheet = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await.unwrap();
                    let answers = crate::key_slots::answers(&sheet);
                    service.vault_confirm_recovery(answers).await.unwrap();
                    service.shutdown().await;
                    sheet.groups.join("-")
                }
                "make over it" => {
                    let made = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await;
                    made.map(drop).unwrap_err().code().as_str().to_owned()
                }
                "status" => format!("{:?} {}", service.vault_status().await.state, begun.elapsed().as_millis()),
                "retry" => {
                    let status = service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
                    format!("{:?} {}", status.state, begun.elapsed().as_millis())
                }
                "cancel" => format!("{:?} {}", service.vault_cancel_waiting().await.state, begun.elapsed().as_millis()),
                typed => {
                    let method = UnlockMethod::RecoveryCode { code: typed.to_owned() };
                    format!("{:?} 0", service.vault_unlock(method).await.unwrap().state)
                }
            };
            println!("\nSAYS {answer}");
        }
    });
}

fn options(profile: std::path::PathBuf) -> ServiceOptions {
    ServiceOptions {
        profile: Profile::new(profile),
        resources: None,
        engine_program: engine_program(),
        engine_args: vec!["engine".into()],
        engine_idle: Duration::from_secs(300),
        // As in the app.
        keychain: Arc::new(Keychain::new()),
        patient_keychain: Arc::new(Keychain::with_limit(Duration::from_secs(20))),
        clock: Arc::new(TestClock(FixedClock::at(chrono::Utc::now()))),
        limits: Limits::default(),
        job_interval: None,
    }
}

/// A home with a vault that its keyring opens, and the recovery code of it.
fn made() -> (KeyringHome, String) {
    let home = KeyringHome::new().unwrap();
    let session = home.start(KeyringState::Unlocked).unwrap();
    let code = Process::start(&session, &home).ask("make");
    drop(session);
    (home, code)
}

/// The files by which the vault opens, with their bytes.
fn files(home: &KeyringHome) -> BTreeMap<String, Vec<u8>> {
    let names = ["vault.db", "vault.keys", "vault.keys.2"];
    names.into_iter().map(|name| (name.to_owned(), std::fs::read(home.path().join("profile").join(name)).unwrap())).collect()
}

/// The state of a start, known within a second, with nothing of the vault touched and no vault made over it.
fn fails(process: &mut Process, home: &KeyringHome, expected: &str) {
    let before = files(home);
    let (state, took) = process.state("status");
    assert_eq!(state, expected);
    assert!(took < Duration::from_millis(1_500), "{expected} took {took:?}");
    println!("{expected}: known after {} ms", took.as_millis());
    assert_eq!(process.ask("make over it"), "vault_exists");
    assert!(files(home) == before, "{expected}: a file of the vault was changed");
}

#[test]
fn without_a_bus_the_code_opens_it() {
    let (home, code) = made();
    let session = home.start(KeyringState::NoBus).unwrap();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Unavailable");
    assert_eq!(process.state("retry").0, "Unavailable");
    assert_eq!(process.state(&code).0, "Open");
}

#[test]
fn a_service_that_comes_later_opens_it_at_the_next_try() {
    let (home, _) = made();
    let mut session = home.start(KeyringState::NoService).unwrap();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Unavailable");
    session.start_keyring().unwrap();
    assert_eq!(process.state("retry").0, "Open");
}

#[test]
fn a_daemon_that_was_killed_is_unavailable_and_opens_it_when_it_is_back() {
    let (home, _) = made();
    let mut session = home.start(KeyringState::Unlocked).unwrap();
    session.kill_keyring();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Unavailable");
    session.start_keyring().unwrap();
    assert_eq!(process.state("retry").0, "Open");
}

#[test]
fn a_locked_keyring_that_cannot_ask_is_locked_and_the_code_opens_it() {
    let (home, code) = made();
    let session = home.start(KeyringState::Locked).unwrap();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Locked");
    assert_eq!(process.state(&code).0, "Open");
}

#[test]
fn a_prompt_that_nobody_answers_waits_can_be_left_and_opens_it_once_answered() {
    let (home, _) = made();
    let session = home.start(KeyringState::LockedWithPrompter).unwrap();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Waiting");
    let waits = Instant::now();
    while waits.elapsed() < Duration::from_secs(3) {
        let (state, took) = process.state("status");
        assert!(state == "Waiting" && took < Duration::from_millis(1_500), "{state} {took:?}");
    }
    assert_eq!(process.state("cancel").0, "Locked");
    session.answer_prompt(PASSWORD).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let mut state = process.state("retry").0;
    while state != "Open" && Instant::now() < until {
        state = process.state("retry").0;
    }
    assert_eq!(state, "Open");
}

#[test]
fn a_truncated_keyring_has_lost_the_key_and_the_code_puts_it_back() {
    let (home, code) = made();
    let path = home.login_keyring();
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let session = home.start(KeyringState::Unlocked).unwrap();
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "Missing");
    assert_eq!(process.state("retry").0, "Missing");
    assert_eq!(process.state(&code).0, "Open");
    drop(process);
    assert_eq!(Process::start(&session, &home).state("status").0, "Open", "the keyring has the key again");
}

#[test]
fn another_key_in_the_keyring_is_a_wrong_key_and_stays_there() {
    let (home, code) = made();
    let session = home.start(KeyringState::Unlocked).unwrap();
    let vault_id = evenkeel_vault::KeyFile::read(&Profile::new(home.path().join("profile"))).unwrap().vault_id().to_string();
    let mut tool = Command::new("secret-tool");
    tool.args(["store", "--label=test", "service", "evenkeel", "username", &vault_id]).stdin(Stdio::piped());
    let mut tool = session.apply(&mut tool).spawn().unwrap();
    tool.stdin.take().unwrap().write_all(b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
    assert!(tool.wait().unwrap().success());
    let mut process = Process::start(&session, &home);
    fails(&mut process, &home, "WrongKey");
    assert_eq!(process.state(&code).0, "Open");
}
