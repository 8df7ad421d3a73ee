//! SIGKILL in the middle of changes of the passphrase: the code and one passphrase always open the vault.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use chrono::DateTime;
use evenkeel_vault::{
    CreateOptions, KeyFile, PassphraseCost, Profile, Use, VaultError, VaultLock, add_passphrase_slot, create, unlock_passphrase,
    unlock_recovery,
};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROFILE: &str = "EVENKEEL_SLOT_CHILD_PROFILE";
const CODE: &str = "EVENKEEL_SLOT_CHILD_CODE";
const PASSPHRASES: [&str; 2] = ["the one passphrase", "the other passphrase"];
/// More with `EVENKEEL_ROUNDS`.
const ROUNDS: u32 = 12;

#[test]
#[ignore = "the other process of the test in this file; does nothing by itself"]
fn child() {
    let Some(profile) = std::env::var_os(PROFILE) else { return };
    let profile = Profile::new(profile.into());
    let mut key_file = KeyFile::read(&profile).unwrap();
    let root = unlock_recovery(&key_file, &std::env::var(CODE).unwrap()).unwrap();
    println!("\nBEGUN");
    for passphrase in PASSPHRASES.into_iter().cycle() {
        let (cost, now) = (PassphraseCost::FLOOR, DateTime::UNIX_EPOCH);
        add_passphrase_slot(&profile, &mut key_file, &root, passphrase.into(), cost, now).unwrap();
    }
}

#[test]
fn whenever_it_is_killed_the_vault_opens() {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile::new(dir.path().join("profile"));
    let options = CreateOptions {
        passphrase: Some(PASSPHRASES[0].into()),
        passphrase_cost: PassphraseCost::FLOOR,
        ..CreateOptions::default()
    };
    let lock = VaultLock::exclusive(&profile).unwrap();
    let made = create(&profile, options, &lock).unwrap();
    let key = |root: evenkeel_vault::RootKey| *root.subkey(made.key_file.vault_id(), Use::Database);
    let (code, wanted) = (made.recovery_code.text(), key(unlock_recovery(&made.key_file, &made.recovery_code.text()).unwrap()));
    let rounds = std::env::var("EVENKEEL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let begun = Instant::now();
    for round in 0..rounds {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture"]).env(PROFILE, profile.dir()).env(CODE, code.as_str());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "BEGUN"));
        std::thread::sleep(Duration::from_millis(u64::from(round * 137 % 500)));
        child.kill().unwrap();
        child.wait().unwrap();
        let file = KeyFile::read(&profile).unwrap();
        assert_eq!(key(unlock_recovery(&file, &code).unwrap()), wanted, "round {round}");
        let opened = PASSPHRASES.map(|passphrase| match unlock_passphrase(&file, passphrase.into()) {
            Ok(root) => {
                assert_eq!(key(root), wanted, "round {round}");
                true
            }
            Err(VaultError::WrongKey(_)) => false,
            Err(error) => panic!("round {round}: {error}"),
        });
        assert!(opened[0] ^ opened[1], "round {round}: {opened:?}");
        assert!(!KeyFile::read(&profile).unwrap().repaired(), "round {round}: one reading has settled it");
    }
    println!("{rounds} rounds of SIGKILL in {:.1} s, each opened", begun.elapsed().as_secs_f64());
}
