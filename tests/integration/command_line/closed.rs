//! Vaults that do not open, and lines that are not understood.

use super::{Home, keys};
use evenkeel_testkit::keyring::KeyringState;
use serde_json::{Value, json};

#[test]
fn where_there_is_no_vault_none_is_made() {
    let home = Home::new();
    let place = home.session(KeyringState::Unlocked);
    for line in [&["contexts", "list", "--json"][..], &["backup", "now", "--json"], &["chat", "Mara", "Hello", "--json"]] {
        let refused = place.run(line).refused(3);
        assert_eq!((keys(&refused), &refused["code"]), (vec!["code", "details", "message"], &json!("vault_locked")));
        assert!(refused["message"].as_str().unwrap().contains("open Evenkeel once"), "{refused}");
    }
    let told = place.run(&["contexts", "list"]).err;
    assert!(told.contains("first screen makes the vault") && !told.contains("Unlock the vault"), "{told}");
    let report = place.run(&["doctor", "--json"]);
    assert_eq!(report.code, 1, "{report:?}");
    let report: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!((&report["findings"][0]["check"], &report["findings"][0]["level"]), (&json!("profile"), &json!("failed")));
    assert!(!place.profile().join("vault.db").exists() && !place.profile().join("vault.keys").exists());
}

#[test]
fn a_vault_without_keychain_opens_by_the_passphrase_or_the_recovery_code_in_a_file() {
    let home = Home::new();
    let place = home.session(KeyringState::Unlocked);
    place.make(None, Some("correct horse battery"));
    let refused = place.run(&["contexts", "list", "--json"]).refused(3);
    assert!(refused["message"].as_str().unwrap().contains("--passphrase-file"), "{refused}");
    let wrong = place.secret_file("battery horse correct\n");
    let refused = place.run(&["contexts", "list", "--json", "--passphrase-file", &wrong]).refused(3);
    assert_eq!(refused["code"], json!("wrong_key"));
    let right = place.secret_file("correct horse battery\n");
    for file in [right.as_str(), &place.recovery_file()] {
        let listed = place.run(&["contexts", "--passphrase-file", file, "list", "--json"]).json();
        assert_eq!(listed["totalCount"], json!(1));
    }
    let absent = place.run(&["contexts", "list", "--json", "--passphrase-file", "/nowhere/at/all"]).refused(1);
    assert_eq!(absent["details"]["path"], json!("/nowhere/at/all"));
    // The doctor says what it can without a key.
    let report = place.run(&["doctor", "--json"]).json();
    let levels: Vec<_> = report["findings"].as_array().unwrap().iter().filter(|one| one["check"] == "vault").collect();
    assert_eq!(levels[0]["level"], json!("warning"), "{report}");
}

#[test]
fn a_locked_keychain_says_so_and_the_recovery_code_opens_the_vault() {
    let home = Home::new();
    drop(home.with_vault(None));
    let place = home.session(KeyringState::Locked);
    let refused = place.run(&["contexts", "list", "--json"]).refused(3);
    assert_eq!(refused["code"], json!("keychain_locked"));
    assert!(refused["message"].as_str().unwrap().contains("--passphrase-file"), "{refused}");
    let listed = place.run(&["contexts", "list", "--json", "--passphrase-file", &place.recovery_file()]).json();
    assert_eq!(listed["totalCount"], json!(1));
    let report = place.run(&["doctor"]);
    assert_eq!(report.code, 1, "{report:?}");
    let line = report.out.lines().find(|line| line.contains("keychain is locked")).unwrap();
    assert!(line.starts_with("failed"), "{line}");
}

#[test]
fn a_line_that_is_not_understood_ends_with_two_and_help_with_nothing_wrong() {
    let home = Home::new();
    let place = home.session(KeyringState::NoBus);
    for line in [&["contexts", "nonsense"][..], &["export"], &["conversations", "show", "no-id"], &["chat"]] {
        let told = place.run(line);
        assert_eq!((told.code, told.out.as_str()), (2, ""), "{told:?}");
        assert!(told.err.contains("error:") && told.err.contains("--help"), "{}", told.err);
    }
    let refused = place.run(&["contexts", "nonsense", "--json"]).refused(2);
    assert_eq!((keys(&refused), &refused["code"]), (vec!["code", "details", "message"], &json!("invalid_parameter")));
    let help = place.run(&["--help"]).well();
    for word in ["chat", "contexts", "doctor", "completions", "Exit codes"] {
        assert!(help.contains(word), "{help}");
    }
    assert!(!help.contains("engine"), "{help}");
    assert!(place.run(&["completions", "bash"]).well().contains("complete -F _evenkeel"));
    assert!(place.run(&["completions", "zsh"]).well().starts_with("#compdef evenkeel"));
    assert!(!place.profile().exists(), "nothing is made for that");
}
