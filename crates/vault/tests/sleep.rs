//! A machine that is about to sleep, with a real bus on which this test plays logind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../testkit/src/keyring.rs"]
#[allow(dead_code, reason = "only the bus of it is used here")]
mod keyring;

use evenkeel_vault::watch_sleep;
use keyring::{KeyringHome, KeyringState};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use zbus::blocking::connection::Builder;
use zbus::zvariant::OwnedFd;

const CHILD: &str = "EVENKEEL_TEST_SLEEP";
const PATIENCE: Duration = Duration::from_secs(20);
const NO_BUS: &str = "unix:path=/nonexistent/bus";
const PATH: &str = "/org/freedesktop/login1";

/// The part of logind that is asked; it tells what was asked for, and keeps the other end of each lock.
struct Logind(Sender<(String, UnixStream)>);

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl Logind {
    fn inhibit(&self, what: &str, who: &str, _why: &str, mode: &str) -> OwnedFd {
        let (ours, theirs) = UnixStream::pair().unwrap();
        self.0.send((format!("{what} {who} {mode}"), ours)).unwrap();
        OwnedFd::from(std::os::fd::OwnedFd::from(theirs))
    }
}

#[test]
#[ignore = "the child of the other test; does nothing by itself"]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let watch = watch_sleep(|| {
        std::thread::sleep(Duration::from_millis(200));
        println!("\nSAYS locked");
    });
    let until = Instant::now() + PATIENCE;
    while !watch.is_watching() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("\nSAYS watching {}", watch.is_watching());
    std::thread::sleep(PATIENCE);
}

#[test]
fn the_machine_sleeps_only_once_the_vault_is_locked_and_the_next_time_too() {
    let home = KeyringHome::new().unwrap();
    let session = home.start(KeyringState::NoService).unwrap();
    let address = session.environment().into_iter().find(|(name, _)| *name == "DBUS_SESSION_BUS_ADDRESS").unwrap().1;
    let (asked, locks) = channel();
    let bus = Builder::address(address.to_str().unwrap()).unwrap();
    let bus = bus.name("org.freedesktop.login1").unwrap().serve_at(PATH, Logind(asked)).unwrap().build().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env(CHILD, "1").env("DBUS_SYSTEM_BUS_ADDRESS", &address);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut says = || lines.find_map(|line| line.strip_prefix("SAYS ").map(str::to_owned)).unwrap();
    assert_eq!(says(), "watching true");
    for _ in 0..2 {
        let (what, mut lock) = locks.recv_timeout(PATIENCE).unwrap();
        assert_eq!(what, "sleep Evenkeel delay");
        lock.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(lock.read(&mut [0]).is_err(), "the lock is held while nothing happens");
        let tell = |begins: bool| {
            bus.emit_signal(None::<&str>, PATH, "org.freedesktop.login1.Manager", "PrepareForSleep", &begins).unwrap();
        };
        tell(true);
        assert_eq!(says(), "locked");
        lock.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(lock.read(&mut [0]).unwrap(), 0, "the machine may sleep now");
        tell(false);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_a_system_bus_nothing_is_watched_and_nobody_is_kept_waiting() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "without_a_bus", "--ignored"]).env("DBUS_SYSTEM_BUS_ADDRESS", NO_BUS);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

#[test]
#[ignore = "runs in a process whose system bus is not there"]
fn without_a_bus() {
    if std::env::var("DBUS_SYSTEM_BUS_ADDRESS").is_ok_and(|address| address == NO_BUS) {
        nothing_is_heard();
    }
}

fn nothing_is_heard() {
    let begun = Instant::now();
    let watch = watch_sleep(|| panic!("nothing can be heard"));
    assert!(begun.elapsed() < Duration::from_secs(1));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!watch.is_watching());
}
