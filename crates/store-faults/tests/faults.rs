//! The short form of `./scripts/bench faults`: every promise of the vault, with fewer rounds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use evenkeel_store_faults::bytes::{Reader, feed};
use evenkeel_store_faults::damage::{Tally, Target, damage};
use evenkeel_store_faults::secrecy::{self, Searched};
use evenkeel_store_faults::sweep::{Work, sweep};
use evenkeel_store_faults::{full, image, kill, recovery};
use std::process::Command;
use std::time::Duration;

/// Calls that fail for each work and kind of failure; `EVENKEEL_FAULT_POINTS=all` takes every one.
fn points() -> Option<u64> {
    match std::env::var("EVENKEEL_FAULT_POINTS").as_deref() {
        Ok("all") => None,
        Ok(number) => Some(number.parse().unwrap()),
        Err(_) => Some(24),
    }
}

fn swept(work: Work) {
    let swept = sweep(work, points()).unwrap();
    println!("{}: {} calls, {} runs, {} refused", work.name(), swept.calls, swept.runs, swept.refused);
    assert!(swept.calls >= 10, "{swept:?}");
    // A layer that nothing passes through would let everything succeed.
    assert!(swept.refused * 4 >= swept.runs, "{swept:?}");
}

#[test]
fn any_failing_call_while_a_message_is_saved_leaves_a_clean_vault() {
    swept(Work::Save);
}

#[test]
fn any_failing_call_while_the_schema_changes_leaves_the_old_or_the_new_one() {
    swept(Work::Migrate);
}

#[test]
fn any_failing_call_while_purging_leaves_what_stays() {
    swept(Work::Purge);
}

#[test]
fn any_failing_call_during_a_backup_leaves_whole_ones() {
    swept(Work::Backup);
}

#[test]
fn any_failing_call_during_a_restore_leaves_the_old_or_the_new_vault() {
    swept(Work::Restore);
}

#[test]
fn what_was_acknowledged_is_in_every_image_of_a_power_cut() {
    let images = image::power_cuts(60, 60, 11).unwrap();
    println!("{images:?}");
    assert_eq!((images.images, images.lost, images.corrupt), (60, 0, 0));
    assert!(images.acknowledged > 600, "{images:?}");
}

#[test]
fn a_power_cut_takes_what_was_never_synced() {
    let images = image::without_syncs(40, 60, 11).unwrap();
    assert!(images.lost + images.corrupt > 0, "the images would not show a loss: {images:?}");
}

fn damaged(target: Target) {
    let faults = std::env::var("EVENKEEL_DAMAGE_FAULTS").map_or(10, |faults| faults.parse().unwrap());
    let tally = damage(target, faults, 5).unwrap();
    println!("{}: {tally:?}", target.name());
    let expected = Tally { faults, found: faults, rescued: tally.rescued, ..Tally::default() };
    assert_eq!(tally, expected);
    assert_eq!(tally.rescued > 0, target == Target::Database);
}

#[test]
fn damage_to_the_database_is_found_and_what_it_holds_is_rescued() {
    damaged(Target::Database);
}

#[test]
fn damage_to_the_log_is_found() {
    damaged(Target::Log);
}

#[test]
fn damage_to_the_key_slots_is_found() {
    damaged(Target::KeySlots);
}

#[test]
fn damage_to_a_backup_is_found() {
    damaged(Target::Backup);
}

#[test]
fn the_recovery_code_opens_the_newest_backup_on_a_new_profile() {
    assert_eq!(recovery::on_new_profiles(3).unwrap(), 3);
}

#[test]
fn a_backup_that_is_timed_is_of_the_size_that_was_asked_for() {
    let (bytes, took) = recovery::timed_backup(2).unwrap();
    println!("{bytes} bytes in {took:?}");
    assert!((2_000_000..20_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn no_word_and_no_key_stands_in_any_file() {
    let searched = secrecy::scan().unwrap();
    println!("{searched:?}");
    assert_eq!(searched, Searched { found: 0, ..searched });
    assert!(searched.files >= 20 && searched.bytes > 100_000, "{searched:?}");
}

#[test]
fn what_was_forgotten_is_in_no_page() {
    let searched = secrecy::forget().unwrap();
    println!("{searched:?}");
    assert_eq!((searched.files, searched.found), (3, 0));
}

#[test]
fn hostile_bytes_are_refused_in_words() {
    let seconds = std::env::var("EVENKEEL_HOSTILE_SECONDS").map_or(2, |seconds| seconds.parse().unwrap());
    for reader in Reader::ALL {
        let fed = feed(reader, Duration::from_secs(seconds), 3).unwrap();
        println!("{}: {fed:?}", reader.name());
        assert!(fed.inputs > 20, "{reader:?}: {fed:?}");
        // Behind the checksum too: a flipped bit in a salt is no damage that could be seen.
        assert!(reader == Reader::RecoveryCode || fed.taken > 0, "{reader:?}: {fed:?}");
    }
}

const ROLE: &str = "EVENKEEL_FAULTS_ROLE";

fn this_program(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env(ROLE, role);
    command
}

#[test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = std::env::var(kill::FOLDER).unwrap();
    match role.as_str() {
        "write" => kill::writing_child(folder.as_ref()).unwrap(),
        _ => full::small_disk_child(folder.as_ref()).unwrap(),
    }
}

#[test]
fn nothing_acknowledged_is_lost_to_sigkill() {
    let rounds = std::env::var("EVENKEEL_KILL_ROUNDS").map_or(5, |rounds| rounds.parse().unwrap());
    let killed = kill::rounds(rounds, &|| this_program("write")).unwrap();
    println!("{killed:?}");
    assert!(killed.rounds == rounds && killed.acknowledged >= rounds, "{killed:?}");
}

#[test]
fn a_full_disk_loses_nothing_and_lets_delete() {
    for megabytes in [6, 24] {
        match full::on_small_disk(megabytes, &this_program("full")).unwrap() {
            Some(said) => assert!(said.contains("test result: ok. 1 passed"), "{said}"),
            None => println!("skipped: no small file system can be made here"),
        }
    }
}
