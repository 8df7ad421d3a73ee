//! `evenkeel backup`, `restore`, `doctor`.

use super::{Home, Model, keys};
use evenkeel_testkit::scripted_server::Answer;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn finding<'a>(report: &'a Value, check: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|one| one["check"] == check).unwrap_or_else(|| panic!("no {check}: {report}"))
}

#[test]
fn a_backup_is_made_checked_and_restored() {
    let (model, home) = (Model::start(), Home::new());
    let place = home.with_vault(Some(&model.url()));
    let made = place.run(&["backup", "now", "--json"]).json();
    let path = made["path"].as_str().unwrap();
    assert_eq!((&made["kind"], &made["problem"], &made["isNewest"]), (&json!("manual"), &Value::Null, &json!(true)));
    model.server.push(Answer::reply(&["Yes."]));
    place.run(&["chat", "Calm Counselor", "After the backup"]).well();

    // From another folder, by a path of there.
    let elsewhere = place.dir.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::copy(path, elsewhere.join("copy.ekbackup")).unwrap();
    let mut command = place.command(&["backup", "check", "copy.ekbackup"]);
    assert!(super::said(command.current_dir(&elsewhere).spawn().unwrap()).well().starts_with("Whole: "));
    assert!(place.run(&["backup", "list"]).well().contains(path));
    let saved = place.run(&["backup", "now", "--to", elsewhere.to_str().unwrap(), "--json"]).json();
    assert!(saved["path"].as_str().unwrap().starts_with(elsewhere.to_str().unwrap()), "{saved}");
    let listed = place.run(&["backup", "list", "--to", elsewhere.to_str().unwrap(), "--json"]).json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["path"]), (2, &saved["path"]));

    let nowhere = place.run(&["backup", "now", "--to", "/nowhere", "--json"]).refused(1);
    assert!(nowhere["details"]["advice"].as_str().unwrap().contains("make the folder"), "{nowhere}");

    let unasked = place.run(&["restore", path, "--json"]).refused(1);
    assert_eq!(unasked["details"]["field"], json!("yes"));
    assert!(unasked["details"]["advice"].as_str().unwrap().contains("--yes"), "{unasked}");
    assert_eq!(place.run(&["conversations", "list", "--json"]).json()["totalCount"], json!(1));
    let restored = place.run(&["restore", path, "--yes", "--json"]).json();
    assert_eq!((keys(&restored), &restored["withoutBackup"]), (vec!["setAside", "withoutBackup"], &json!(false)));
    assert_eq!(place.run(&["conversations", "list", "--json"]).json()["totalCount"], json!(0));

    // A damaged backup is told, and is not restored.
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(elsewhere.join("copy.ekbackup"), bytes).unwrap();
    let copy = elsewhere.join("copy.ekbackup").to_str().unwrap().to_owned();
    let checked = place.run(&["backup", "check", &copy]);
    assert_eq!((checked.code, checked.out.contains("damaged")), (1, true), "{checked:?}");
    assert_ne!(place.run(&["restore", &copy, "--yes"]).code, 0);
    assert_eq!(place.run(&["conversations", "list", "--json"]).json()["totalCount"], json!(0));
}

#[test]
fn a_lost_vault_comes_back_from_its_backup_by_the_recovery_code() {
    let home = Home::new();
    let place = home.with_vault(None);
    let made = place.run(&["backup", "now", "--json"]).json();
    let kept = place.dir.join("kept.ekbackup");
    std::fs::copy(made["path"].as_str().unwrap(), &kept).unwrap();
    std::fs::remove_dir_all(place.profile()).unwrap();
    let kept = kept.to_str().unwrap();
    let without = place.run(&["restore", kept, "--yes", "--json"]).refused(3);
    assert!(without["message"].as_str().unwrap().contains("--passphrase-file"), "{without}");
    let restored = place.run(&["restore", kept, "--yes", "--json", "--passphrase-file", &place.recovery_file()]).json();
    assert_eq!(restored["status"]["state"], json!("open"));
    assert_eq!(place.run(&["contexts", "list", "--json"]).json()["contexts"][0]["name"], json!("Calm Counselor"));
}

#[test]
fn the_doctor_finds_what_is_well_and_what_is_not() {
    let model = Model::start();
    let home = Home::new();
    let place = home.with_vault(Some(&model.url()));
    let report = place.run(&["doctor", "--json"]).json();
    assert_eq!((keys(&report), &report["isHealthy"]), (vec!["findings", "isHealthy", "profileDir"], &json!(true)), "{report}");
    assert_eq!(keys(&report["findings"][0]), ["advice", "check", "level", "message"]);
    for check in ["profile", "processes", "keySlots", "keychain", "engine", "builtInModel", "vault", "model", "provider"] {
        assert_eq!(finding(&report, check)["level"], json!("ok"), "{report}");
    }
    assert_eq!(finding(&report, "backups")["level"], json!("warning"));
    assert!(
        model.server.requests().is_empty() && finding(&report, "provider")["message"].as_str().unwrap().contains("not asked")
    );
    let asked = place.run(&["doctor", "--network", "--json"]).json();
    assert!(finding(&asked, "provider")["message"].as_str().unwrap().contains("lists 1 models"), "{asked}");

    place.run(&["backup", "now"]).well();
    let table = place.run(&["doctor"]).well();
    assert!(table.lines().any(|line| line.starts_with("ok") && line.contains("backups")), "{table}");

    // A provider that has gone, a profile that others may read, a damaged database.
    drop(model);
    std::fs::set_permissions(place.profile(), PermissionsExt::from_mode(0o755)).unwrap();
    let gone = place.run(&["doctor", "--network", "--json"]);
    assert_eq!((gone.code, gone.err.as_str()), (1, ""));
    let gone: Value = serde_json::from_str(&gone.out).unwrap();
    assert_eq!((&gone["isHealthy"], &finding(&gone, "provider")["level"]), (&json!(false), &json!("failed")));
    assert_eq!(finding(&gone, "profile")["level"], json!("warning"));
    let mut bytes = std::fs::read(place.profile().join("vault.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0);
    std::fs::write(place.profile().join("vault.db"), bytes).unwrap();
    let damaged = place.run(&["doctor", "--json"]);
    assert_eq!(damaged.code, 1, "{damaged:?}");
    let damaged: Value = serde_json::from_str(&damaged.out).unwrap();
    assert_eq!(finding(&damaged, "vault")["level"], json!("failed"));
}
