//! A clock that jumps by years, under the app without a window: what lies in the trash or has not expired may not go.

use crate::app::{create_vault, remember_in_memory};
use crate::error::BenchError;
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{ContextId, ContextQuery, PresetId, TrashId};
use evenkeel_service::{Clock, PresetOverrides, Service, ServiceOptions};
use evenkeel_testkit::clock::FixedClock;
use std::sync::Arc;
use std::time::Duration;

/// Days that the clock jumps by.
const JUMP: i64 = 3 * 365;
/// Companions in use.
const USED: usize = 5;
/// Companions in the trash: more would be too many to go without the user's word.
const GONE: usize = 1;

struct MovedClock(FixedClock);

impl Clock for MovedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0.now()
    }

    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }

    fn random(&self) -> [u8; 10] {
        self.0.random()
    }

    fn zone(&self) -> String {
        "+00:00".to_owned()
    }
}

/// How many companions were laid to rest or deleted wrongly over `jumps` jumps of the clock, forwards and backwards.
///
/// # Errors
/// The service fails, or deletes nothing even when its time has come, which would make the figure worthless.
pub async fn wrong_deletions(jumps: usize) -> Result<u64, BenchError> {
    let profile = tempfile::tempdir().map_err(|source| BenchError::system("making a temporary profile", source))?;
    let clock = Arc::new(MovedClock(FixedClock::at(Utc::now())));
    let mut options = ServiceOptions::new(profile.path().join("profile"), None)?;
    options.clock = clock.clone();
    options.job_interval = None;
    remember_in_memory(&mut options);
    let service = Service::new(options)?;
    create_vault(&service).await?;
    let used = companions(&service, USED).await?;
    let gone = companions(&service, GONE).await?;
    for id in &gone {
        service.context_delete(*id).await?;
    }
    service.run_due_jobs().await?;
    service.trash_list().await?;
    let mut wrong = 0;
    for jump in 0..jumps {
        clock.0.advance(TimeDelta::days(if jump % 2 == 0 { JUMP } else { -JUMP }));
        // Longer than the scheduler waits; all of it together is shorter than a deletion rests.
        for hours in [0, 2, 3] {
            clock.0.pass(TimeDelta::hours(hours));
            service.run_due_jobs().await?;
        }
        wrong += missing(&service, &used, &gone).await?;
    }
    // As a control, the time does pass: what lies in the trash goes then.
    for time in [TimeDelta::days(8), TimeDelta::hours(25), TimeDelta::hours(25), TimeDelta::days(30), TimeDelta::hours(25)] {
        clock.0.pass(time);
        service.run_due_jobs().await?;
    }
    // Those in use have expired meanwhile, and may have come to the trash after all.
    let trash: Vec<_> = service.trash_list().await?.into_iter().map(|item| item.id).collect();
    if gone.iter().any(|id| trash.contains(&TrashId::Context(*id))) {
        return Err(BenchError::Worthless("nothing leaves the trash in its time, whatever the clock says".to_owned()));
    }
    service.shutdown().await;
    Ok(wrong)
}

async fn companions(service: &Service, count: usize) -> Result<Vec<ContextId>, BenchError> {
    let mut made = Vec::new();
    for _ in 0..count {
        let preset = PresetId::new("preset-calm-counselor");
        made.push(service.context_create_from_preset(preset, PresetOverrides::default()).await?.id);
    }
    Ok(made)
}

async fn missing(service: &Service, used: &[ContextId], gone: &[ContextId]) -> Result<u64, BenchError> {
    let trash: Vec<_> = service.trash_list().await?.into_iter().map(|item| item.id).collect();
    // Expiry may follow the clock; what has expired is still there.
    let query = ContextQuery { include_expired: true, page_size: 500, ..ContextQuery::default() };
    let there: Vec<_> = service.context_list(query).await?.contexts.into_iter().map(|context| context.id).collect();
    let lost = gone.iter().filter(|id| !trash.contains(&TrashId::Context(**id))).count();
    Ok((lost + used.iter().filter(|id| !there.contains(id)).count()) as u64)
}
