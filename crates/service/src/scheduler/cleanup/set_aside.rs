//! Databases that restores have set aside: kept for a while as one more way back, then removed, or
//! what is deleted for good would lie in them for ever.

use crate::backup::{SET_ASIDE_KEPT, blocking};
use crate::scheduler::pulse::{Moment, put_state, state};
use crate::scheduler::run::Run;
use crate::{LostTail, Service, ServiceError};
use chrono::{DateTime, Utc};
use evenkeel_domain::{ClockReading, PURGE_CONFIRMATION};
use evenkeel_store::backup::{self, BackupResult};
use evenkeel_store::state_key;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// When each was first seen, by its file name.
type Seen = BTreeMap<String, ClockReading>;

impl Service {
    /// Removes those whose time is over, behind a backup that was made and verified after they were
    /// first seen; says how many.
    pub(super) async fn remove_old_set_aside(&self, run: &Run) -> Result<usize, ServiceError> {
        let profile = self.profile();
        let listed = blocking("listing what restores have set aside", move || Ok(backup::set_aside_databases(&profile)?));
        let found = listed.await?;
        let known: Seen = run.session.read(|r| state(r, state_key::SET_ASIDE)).await?.unwrap_or_default();
        if found.is_empty() && known.is_empty() {
            return Ok(0);
        }
        let seen = seen_since(&found, &known, run.moment);
        if seen != known {
            let noted = seen.clone();
            run.session.write(move |w| put_state(w, state_key::SET_ASIDE, &noted)).await?;
        }
        let newest = self.newest_verified().await?;
        // What was lost lies in one of them, and the user does not know of it yet.
        let needed = run.session.read(|r| state::<LostTail>(r, state_key::TAIL_LOST)).await?.map(|lost| PathBuf::from(lost.kept));
        let is_needed = |path: &PathBuf| needed.as_ref().is_some_and(|kept| kept.file_name() == path.file_name());
        let is_over = |path: &PathBuf| !is_needed(path) && is_over(&seen, path, newest, run.moment);
        let over: Vec<PathBuf> = found.into_iter().filter(is_over).collect();
        let (profile, count) = (self.profile(), over.len());
        blocking("removing what restores have set aside", move || {
            Ok(over.iter().try_for_each(|path| backup::remove_set_aside(&profile, path))?)
        })
        .await?;
        Ok(count)
    }

    /// When the newest verified backup of the profile was made.
    async fn newest_verified(&self) -> Result<Option<DateTime<Utc>>, ServiceError> {
        let (opened, profile) = (self.0.gate.opened()?, self.profile());
        let listed = blocking("listing the backups", move || {
            profile.prepare()?;
            Ok(backup::list(&profile.backups(), Some(crate::backup::keys(&opened)))?)
        });
        let verified = listed.await?.into_iter().filter(|info| info.result == BackupResult::Verified);
        Ok(verified.filter_map(|info| info.about).map(|about| about.made_at).max())
    }
}

/// Since when each is known; anew where a clock went back or its counter was lost.
fn seen_since(found: &[PathBuf], known: &Seen, moment: Moment) -> Seen {
    let since = |name: &str| known.get(name).copied().filter(|seen| moment.reading.since(*seen).is_some());
    found.iter().map(|path| name_of(path)).map(|name| (name.clone(), since(&name).unwrap_or(moment.reading))).collect()
}

/// It was kept as long as the backup from before its restore, by both clocks.
fn is_over(seen: &Seen, path: &Path, newest: Option<DateTime<Utc>>, moment: Moment) -> bool {
    let Some(seen) = seen.get(&name_of(path)) else { return false };
    let Some((wall, running)) = moment.reading.since(*seen) else { return false };
    let has_newer = newest.is_some_and(|made_at| made_at > seen.wall);
    has_newer && wall >= SET_ASIDE_KEPT && running >= PURGE_CONFIRMATION && !moment.hold.is_active(moment.reading.running)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;
    use evenkeel_domain::DeletionHold;
    use std::time::Duration;

    fn moment(days: i64, hours: u64) -> Moment {
        let wall = DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + days);
        let reading = ClockReading { wall, running: Duration::from_secs(hours * 3_600) };
        Moment { reading, hold: DeletionHold::default() }
    }

    #[test]
    fn it_goes_after_a_week_and_a_day_of_running_time_behind_a_newer_backup() {
        let path = PathBuf::from("/profile/vault.db.pre-restore-20261110T141320Z");
        let seen = seen_since(std::slice::from_ref(&path), &Seen::new(), moment(0, 10));
        let newer = Some(moment(1, 0).reading.wall);
        let over = |newest, moment| is_over(&seen, &path, newest, moment);
        assert!(over(newer, moment(7, 34)));
        assert!(!over(newer, moment(6, 900)) && !over(newer, moment(7, 33)));
        assert!(!over(None, moment(70, 900)) && !over(Some(moment(0, 0).reading.wall), moment(70, 900)));
        let held = Moment { hold: DeletionHold::default().after_jump(Duration::from_secs(11 * 3_600)), ..moment(7, 34) };
        assert!(!over(newer, held));
        assert_eq!(seen_since(std::slice::from_ref(&path), &seen, moment(3, 20)), seen);
        let anew = seen_since(std::slice::from_ref(&path), &seen, moment(-3, 20));
        assert_eq!(anew.values().collect::<Vec<_>>(), [&moment(-3, 20).reading], "a clock that went back");
        assert_eq!(seen_since(&[], &seen, moment(9, 90)), Seen::new());
    }
}
