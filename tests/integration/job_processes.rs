//! Real processes on one profile: a job is never run by two at once, whoever is killed or stopped.

use crate::support::{MemoryKeychain, TestClock, options};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::Job;
use evenkeel_service::*;
use evenkeel_store::Store;
use evenkeel_testkit::clock::FixedClock;
use evenkeel_vault::{KeyFile, Profile, Use, unlock_recovery};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

const DIR: &str = "EVENKEEL_JOB_CHILD_DIR";
const CODE: &str = "EVENKEEL_JOB_CHILD_CODE";
/// Milliseconds that pass by the clock of these processes in one: a day in a second.
const SPEED: i64 = 86_400;

/// A clock that runs fast. Making a backup takes an id from it in the middle of the job, which it
/// writes down, and is slow about.
struct FastClock {
    log: PathBuf,
    is_open: AtomicBool,
}

fn fast() -> TimeDelta {
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    // From a moment of this year on, or the time would leave the calendar.
    TimeDelta::milliseconds((i64::try_from(real).unwrap() - 1_790_000_000_000).rem_euclid(10_000_000) * SPEED)
}

impl Clock for FastClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + fast()
    }

    fn monotonic(&self) -> Duration {
        fast().to_std().unwrap()
    }

    fn random(&self) -> [u8; 10] {
        if self.is_open.load(Ordering::SeqCst) {
            note(&self.log, "IN", std::process::id());
            std::thread::sleep(Duration::from_millis(400));
            note(&self.log, "OUT", std::process::id());
        }
        let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let mut bytes = [0; 10];
        bytes.copy_from_slice(&nanos.to_le_bytes()[..10]);
        bytes[8..].copy_from_slice(&u16::try_from(std::process::id() % 65_536).unwrap().to_le_bytes());
        bytes
    }

    fn zone(&self) -> String {
        "+00:00".into()
    }
}

fn note(log: &Path, what: &str, pid: u32) {
    let mut file = OpenOptions::new().create(true).append(true).open(log).unwrap();
    file.write_all(format!("{what} {pid}\n").as_bytes()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other process of the test in this file; does nothing by itself"]
async fn working_child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let clock = Arc::new(FastClock { log: dir.join("log"), is_open: AtomicBool::new(false) });
    let unused = Arc::new(TestClock(FixedClock::at(Utc::now())));
    let options = ServiceOptions {
        clock: clock.clone(),
        job_interval: Some(Duration::from_millis(20)),
        ..options(&dir, Arc::new(MemoryKeychain::default()), unused)
    };
    let service = Service::new(options).unwrap();
    let code = std::env::var(CODE).unwrap();
    // The other process may be in the middle of opening.
    while service.vault_unlock(UnlockMethod::RecoveryCode { code: code.clone() }).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    clock.is_open.store(true, Ordering::SeqCst);
    std::future::pending::<()>().await;
}

/// A process that works on the profile; it ends with the test.
struct Worker(Child);

impl Worker {
    fn start(dir: &Path, code: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "job_processes::working_child", "--ignored", "--nocapture"])
            .env(DIR, dir)
            .env(CODE, code)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The lines of the log: what, and which process.
fn lines(dir: &Path) -> Vec<(String, u32)> {
    let text = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| line.trim().split_once(' ').map(|(what, pid)| (what.to_owned(), pid.parse().unwrap())).unwrap()).collect()
}

/// Waits for something, a minute at most.
fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process that is in the middle of the job, once one has begun after line `from`.
fn inside(dir: &Path, from: usize) -> u32 {
    wait("a job in its middle", || {
        let lines = lines(dir);
        lines.get(from..)?.last().filter(|(what, _)| what == "IN").map(|(_, pid)| *pid)
    })
}

/// Makes a vault that no keychain knows; answers its recovery code.
fn made(dir: &Path) -> String {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let clock = Arc::new(TestClock(FixedClock::at(DateTime::UNIX_EPOCH + TimeDelta::days(19_000))));
        let service = Service::new(options(dir, Arc::new(MemoryKeychain::default()), clock)).unwrap();
        service.vault_status().await;
        let passphrase = Some("a long enough passphrase".to_owned());
        let sheet = service.vault_create(VaultOptions { use_keychain: false, passphrase }).await.unwrap();
        let answers = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
        service.vault_confirm_recovery(answers).await.unwrap();
        service.shutdown().await;
        sheet.groups.join("-")
    })
}

fn backup_job(store: &Store) -> Option<Job> {
    store.read(|r| r.job("backup")).unwrap()
}

#[cfg(unix)]
#[test]
fn killed_and_stopped_processes_never_meet_in_a_job_and_it_is_done_in_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let code = made(dir);
    let profile = Profile::new(dir.join("profile"));
    let key_file = KeyFile::read(&profile).unwrap();
    let root = unlock_recovery(&key_file, &code).unwrap();
    let key = root.subkey(key_file.vault_id(), Use::Database);
    let store = Store::open(&profile.database(), &key, Utc::now()).unwrap();
    let mut workers = vec![Worker::start(dir, &code), Worker::start(dir, &code)];

    // Killed in the middle.
    let pid = inside(dir, 0);
    let victim = workers.iter().position(|worker| worker.pid() == pid).unwrap();
    let mut victim = workers.swap_remove(victim);
    victim.kill();
    note(&dir.join("log"), "KILLED", pid);
    wait("the note that a run was cut off", || backup_job(&store)?.message.filter(|message| message.contains("was cut off")));
    wait("a backup after that", || (!backups(&profile).is_empty()).then_some(()));

    // Stopped in the middle, for what is two days to the others.
    workers.push(Worker::start(dir, &code));
    let stopped = wait("a process that is stopped in its middle", || {
        let pid = inside(dir, lines(dir).len());
        let worker = workers.iter().find(|worker| worker.pid() == pid)?;
        worker.signal("STOP");
        let is_inside = lines(dir).last() == Some(&("IN".to_owned(), pid));
        if !is_inside {
            worker.signal("CONT");
        }
        is_inside.then_some(worker)
    });
    let before = lines(dir);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(lines(dir), before, "another process went in beside a stopped one");
    stopped.signal("CONT");
    let runs = backup_job(&store).unwrap().runs;
    wait("runs by whoever is there", || (backup_job(&store)?.runs >= runs + 2).then_some(()));
    workers.clear();
    note(&dir.join("log"), "KILLED", 0);

    let mut within: Option<u32> = None;
    for (what, pid) in lines(dir) {
        match (what.as_str(), within) {
            ("IN", None) => within = Some(pid),
            ("OUT", Some(inside)) if inside == pid => within = None,
            ("KILLED", Some(inside)) if inside == pid || pid == 0 => within = None,
            ("KILLED", _) => {}
            (what, within) => panic!("{what} of {pid} while {within:?} was inside: {:?}", lines(dir)),
        }
    }
}

fn backups(profile: &Profile) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(profile.backups()).unwrap();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "ekbackup")).collect()
}
