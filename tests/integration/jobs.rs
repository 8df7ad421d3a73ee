//! Jobs within one process: listed, run on demand, failing, cut off.

use crate::support::World;
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_vault::{JobLock, Profile};
use std::time::{Duration, Instant};

async fn job(world: &World, name: &str) -> JobStatus {
    world.service.job_list().await.unwrap().into_iter().find(|job| job.name == name).unwrap()
}

/// The job once its run has ended.
async fn ended(world: &World, name: &str) -> JobStatus {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let job = job(world, name).await;
        if !job.is_running && job.result.is_some() && job.result != Some(JobResult::Interrupted) {
            return job;
        }
        assert!(Instant::now() < until, "{job:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn each_job_is_listed_planned_and_run_once_when_due() {
    let world = World::new().await;
    let listed = world.service.job_list().await.unwrap();
    assert!(listed.iter().all(|job| job.next_run_at.is_some()), "also before the first look: {listed:?}");
    let names: Vec<_> = listed.into_iter().map(|job| (job.name, job.runs)).collect();
    let expected = ["expiry", "drill", "backup", "cleanup", "vacuum", "title", "check"].map(|name| (name.to_owned(), 0));
    assert_eq!(names, expected);
    let expected = expected.into_iter().filter(|(name, _)| !["drill", "check"].contains(&name.as_str()));
    assert_eq!(world.run_after(TimeDelta::zero()).await, [], "planned first");
    let ran = world.run_after(TimeDelta::hours(2)).await;
    assert_eq!(
        ran.iter().map(|job| (job.name.clone(), job.runs)).collect::<Vec<_>>(),
        expected.map(|(name, _)| (name, 1)).collect::<Vec<_>>()
    );
    assert_eq!(world.run_after(TimeDelta::zero()).await, []);
    let backup = job(&world, "backup").await;
    let (ended, next) = (backup.last_ended_at.unwrap(), backup.next_run_at.unwrap());
    assert_eq!((next - ended, backup.is_running), (TimeDelta::hours(24), false));
    assert_eq!(world.service.backup_list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_job_runs_when_asked_for() {
    let world = World::new().await;
    let begun = world.service.job_run("backup".into()).await.unwrap();
    assert_eq!((begun.name.as_str(), begun.runs), ("backup", 1));
    assert_eq!(ended(&world, "backup").await.result, Some(JobResult::Ok));
    let error = world.service.job_run("espresso".into()).await.unwrap_err().to_body();
    assert_eq!(
        (error.code, error.details["existing"].as_str()),
        (ErrorCode::NotFound, "expiry, drill, backup, cleanup, vacuum, title, check")
    );
    world.service.vault_lock().await;
    for refused in [world.service.job_run("backup".into()).await.err(), world.service.job_list().await.err()] {
        assert_eq!(refused.unwrap().code(), ErrorCode::VaultLocked);
    }
    assert_eq!(world.service.run_due_jobs().await.unwrap_err().code(), ErrorCode::VaultLocked);
}

#[tokio::test]
async fn a_failed_job_says_why_and_is_tried_again_within_the_hour() {
    let world = World::new().await;
    let backups = world.dir.path().join("profile/backups");
    std::fs::remove_dir_all(&backups).unwrap();
    std::fs::write(&backups, b"in the way").unwrap();
    world.service.job_run("backup".into()).await.unwrap();
    let failed = ended(&world, "backup").await;
    let message = failed.message.unwrap();
    assert!(failed.result == Some(JobResult::Failed) && message.starts_with("storage: "), "{message}");
    assert_eq!(failed.next_run_at.unwrap() - failed.last_ended_at.unwrap(), TimeDelta::hours(1));
    std::fs::remove_file(&backups).unwrap();
    let ran = world.run_after(TimeDelta::hours(2)).await;
    assert!(ran.iter().any(|job| job.name == "backup" && job.runs == 2 && job.message.is_none()), "{ran:?}");
}

#[tokio::test]
async fn a_run_that_was_cut_off_shows_and_is_made_up_for() {
    let world = World::new().await;
    let now = world.clock.0.now();
    world.store().write(|w| w.begin_job("backup", now)).unwrap();
    assert_eq!(job(&world, "backup").await.result, Some(JobResult::Interrupted));
    let profile = Profile::new(world.dir.path().join("profile"));
    let lock = JobLock::take(&profile, "backup").unwrap().unwrap();
    let held = job(&world, "backup").await;
    assert_eq!((held.result, held.is_running), (None, true), "its process may only be slow");
    assert_eq!(world.run_after(TimeDelta::zero()).await, []);
    drop(lock);
    let ran = world.run_after(TimeDelta::zero()).await;
    let backup = ran.iter().find(|job| job.name == "backup").unwrap();
    assert!(backup.message.as_ref().unwrap().contains("was cut off"), "{backup:?}");
    assert_eq!(backup.runs, 2);
}

#[tokio::test]
async fn running_time_grows_with_the_monotonic_clock_alone() {
    let mut world = World::new().await;
    let running = |world: &World| world.store().read(|r| r.running_ms()).unwrap();
    world.run_after(TimeDelta::zero()).await;
    world.run_after(TimeDelta::minutes(10)).await;
    assert_eq!(running(&world), 600_000);
    world.clock.0.advance(TimeDelta::days(400));
    world.run_after(TimeDelta::zero()).await;
    assert_eq!(running(&world), 600_000);
    world.clock.0.pass(TimeDelta::minutes(1));
    world.restart().await;
    assert_eq!(running(&world), 660_000, "kept at the end");
    world.clock.0.pass(TimeDelta::minutes(3));
    world.service.vault_lock().await;
    world.clock.0.pass(TimeDelta::minutes(30));
    world.service.vault_unlock(UnlockMethod::Keychain).await.unwrap();
    world.run_after(TimeDelta::minutes(6)).await;
    assert_eq!(running(&world), 1_200_000, "locked time does not count");
}
