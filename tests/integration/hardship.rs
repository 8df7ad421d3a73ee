//! A full disk, a folder that allows no writing, a drive that is taken away, another process: each is a state of its own
//! with a way out, and none touches the vault.

use crate::support::{MemoryKeychain, TestClock, World, options};
use chrono::Utc;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::clock::FixedClock;
use evenkeel_vault::{Profile, VaultLock};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const DIR: &str = "EVENKEEL_HARDSHIP_DIR";
const CODE: &str = "EVENKEEL_HARDSHIP_CODE";
const BEGAN: &str = "the child has begun";
const ENDED: &str = "the child has seen what it should";

fn profile(dir: &Path) -> Profile {
    Profile::new(dir.join("profile"))
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// A service of another process, whose keychain knows nothing.
fn elsewhere(dir: &Path) -> Service {
    let clock = Arc::new(TestClock(FixedClock::at(Utc::now())));
    Service::new(options(dir, Arc::new(MemoryKeychain::default()), clock)).unwrap()
}

fn given(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// This program once more, as one of the children below.
fn child(name: &str, dir: &Path, code: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("hardship::{name}"), "--ignored", "--nocapture"]).env(DIR, dir).env(CODE, code);
    command
}

/// Runs a child behind a line of shell in which it may mount; `None` where this machine allows no name spaces.
fn mounted(mount: &str, place: &Path, child: &Command) -> Option<String> {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]).arg(format!("{mount} && exec \"$@\"")).arg(place);
    command.arg(child.get_program()).args(child.get_args()).stdin(Stdio::null());
    for (name, value) in child.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    let output = command.output().ok()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !said.contains(BEGAN) {
        println!("skipped, since no name space can be made here: {said}");
        return None;
    }
    Some(said)
}

#[tokio::test]
#[ignore = "a process of the test below; does nothing by itself"]
async fn read_only_child() {
    let (Some(dir), Some(code)) = (given(DIR), given(CODE)) else { return };
    println!("\n{BEGAN}");
    let service = elsewhere(Path::new(&dir));
    assert_eq!(service.vault_status().await.state, VaultState::Missing, "reading goes on");
    let refused = service.vault_unlock(UnlockMethod::RecoveryCode { code }).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotWritable, "{refused}");
    let status = service.vault_status().await;
    assert_eq!((status.state, status.error.unwrap().code), (VaultState::Unavailable, ErrorCode::NotWritable));
    println!("{ENDED}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_that_allows_no_writing_is_named_and_left_as_it_is() {
    let mut world = World::new().await;
    world.service.shutdown().await;
    let folder = profile(world.dir.path()).dir().to_owned();
    let before = files(&folder);
    let child = child("read_only_child", world.dir.path(), &world.recovery.join("-"));
    let read_only = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
    if let Some(said) = mounted(read_only, &folder, &child) {
        assert!(said.contains(ENDED), "{said}");
        assert!(files(&folder) == before);
    }
    // Writing is allowed again: nothing else is needed.
    world.restart().await;
}

#[tokio::test]
#[ignore = "a process of the test below; does nothing by itself"]
async fn full_disk_child() {
    let Some(dir) = given(DIR) else { return };
    println!("\n{BEGAN}");
    let world = World::within(Path::new(&dir)).await;
    let context = world.counselor().await;
    let filler = Path::new(&dir).join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    for part in [1 << 16, 1 << 10, 1] {
        while file.write_all(&vec![7; part]).is_ok() {}
    }
    let mut refused = None;
    for number in 0..2_000 {
        let draft = ContextDraft { name: format!("More {number}"), ..long() };
        if let Err(error) = world.service.context_create(draft).await {
            refused = Some(error.code());
            break;
        }
    }
    assert_eq!(refused, Some(ErrorCode::DiskFull));
    assert_eq!(world.service.vault_status().await.state, VaultState::Open, "reading goes on");
    world.service.context_delete(context.id).await.expect("deleting works on a full disk");
    drop(file);
    std::fs::remove_file(filler).unwrap();
    world.service.context_create(long()).await.expect("there is room again");
    world.service.shutdown().await;
    println!("{ENDED}");
}

fn long() -> ContextDraft {
    ContextDraft { system_prompt: "You listen. ".repeat(300), ..crate::context::draft("One more") }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_deleting_makes_room() {
    let place = tempfile::tempdir().unwrap();
    let child = child("full_disk_child", place.path(), "");
    if let Some(said) = mounted("mount -t tmpfs -o size=16m none \"$0\"", place.path(), &child) {
        assert!(said.contains(ENDED), "{said}");
    }
}

#[tokio::test]
async fn a_drive_that_is_taken_away_is_no_first_run_and_may_come_back() {
    let world = World::new().await;
    let context = world.counselor().await;
    world.service.vault_lock().await;
    let (folder, away) = (profile(world.dir.path()).dir().to_owned(), world.dir.path().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    let before = files(&away);
    for method in [UnlockMethod::Keychain, UnlockMethod::RecoveryCode { code: world.recovery.join("-") }] {
        let _ = world.service.vault_unlock(method).await;
        let status = world.service.vault_status().await;
        let error = status.error.unwrap();
        assert_eq!((status.state, error.code), (VaultState::Unavailable, ErrorCode::VaultAway));
        assert_eq!(error.details["path"], folder.display().to_string());
    }
    let made = world.service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await;
    assert_eq!(made.err().map(|error| error.code()), Some(ErrorCode::VaultAway), "nothing new is made in its place");
    assert!(!folder.join("vault.db").exists() && files(&away) == before);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open, "without a new start");
    assert_eq!(world.service.context_get(context.id).await.unwrap().name, context.name);
}

#[tokio::test]
#[ignore = "a process of the tests below; does nothing by itself"]
async fn holding_child() {
    let (Some(dir), Some(code)) = (given(DIR), given(CODE)) else { return };
    let dir = PathBuf::from(dir);
    let service = elsewhere(&dir);
    let lock = (code == "alone").then(|| VaultLock::exclusive(&profile(&dir)).unwrap());
    if lock.is_none() {
        service.vault_unlock(UnlockMethod::RecoveryCode { code }).await.unwrap();
    }
    println!("\n{BEGAN}");
    std::future::pending::<()>().await;
}

/// Another process that has the vault; it ends with the test.
struct Holder(Child);

impl Holder {
    fn start(dir: &Path, code: &str) -> Self {
        let mut command = child("holding_child", dir, code);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let holder = Self(child);
        assert!(lines.map_while(Result::ok).any(|line| line.contains(BEGAN)), "the other process did not get the vault");
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_another_process_keeps_for_itself_opens_once_that_is_gone() {
    let mut world = World::new().await;
    world.service.shutdown().await;
    let holder = Holder::start(world.dir.path(), "alone");
    world.service = Service::new(options(world.dir.path(), world.keychain.clone(), world.clock.clone())).unwrap();
    let status = world.service.vault_status().await;
    assert_eq!((status.state, status.error.unwrap().code), (VaultState::Unavailable, ErrorCode::VaultInUse));
    drop(holder);
    let status = world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    assert_eq!((status.state, status.error), (VaultState::Open, None), "without a new start");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_vault_is_rescued_under_another_process() {
    let world = World::new().await;
    let context = world.counselor().await;
    let holder = Holder::start(world.dir.path(), &world.recovery.join("-"));
    let refused = world.service.vault_rescue(None, |_| {}).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::VaultInUse);
    assert_eq!(world.service.vault_status().await.state, VaultState::Open, "and it is open as before");
    assert_eq!(world.service.context_get(context.id).await.unwrap().name, context.name);
    drop(holder);
    assert!(world.service.vault_rescue(None, |_| {}).await.unwrap().set_aside.is_some());
}
