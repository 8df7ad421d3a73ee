//! From the warning to the purge, by an injected clock.

use crate::support::World;
use chrono::TimeDelta;
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::backup::BackupKind;
use evenkeel_testkit::scripted_server::Answer;

fn days(count: i64) -> TimeDelta {
    TimeDelta::days(count)
}

fn hours(count: i64) -> TimeDelta {
    TimeDelta::hours(count)
}

/// A world whose jobs are planned and have run once, with a context that lives for 14 days.
async fn world() -> (World, Context) {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await;
    world.service.run_due_jobs().await.unwrap();
    assert_eq!(world.run_after(hours(2)).await.len(), 5);
    (world, context)
}

fn stored(world: &World, id: ContextId) -> Context {
    world.store().read(|r| r.context(id)).unwrap().expect("the context is in the vault")
}

fn trash(world: &World) -> Vec<TrashItem> {
    world.store().read(|r| r.trash()).unwrap()
}

#[tokio::test]
async fn a_context_is_warned_about_once_extended_laid_to_rest_and_purged_behind_a_backup() {
    let (world, context) = world().await;
    world.server.push(Answer::reply(&["I am here."]));
    world.say(context.id, None, "Remember this.").await;
    let mut heard = world.service.context_expirings();

    world.run_after(days(13) - hours(1)).await;
    assert!(heard.try_recv().is_err(), "more than a day is left");
    world.run_after(hours(2)).await;
    let news = heard.try_recv().unwrap();
    let expires_at = stored(&world, context.id).expires_at.unwrap();
    assert_eq!((news.context_id, news.name.as_str(), news.expires_at), (context.id, context.name.as_str(), expires_at));
    world.run_after(hours(3)).await;
    assert!(heard.try_recv().is_err(), "one end is told once");

    world.service.context_extend(context.id).await.unwrap();
    world.run_after(hours(23)).await;
    assert!(stored(&world, context.id).is_active && heard.try_recv().is_err());

    world.run_after(days(14)).await;
    assert!(!stored(&world, context.id).is_active, "its lifetime is over");
    let request = SendRequest::New { context_id: context.id, conversation_id: None, agent_id: None, text: "Still there?".into() };
    assert_eq!(world.send(request).await.unwrap_err().code(), ErrorCode::ContextExpired);
    world.run_after(days(29)).await;
    assert_eq!(trash(&world), []);
    world.run_after(days(2)).await;
    assert_eq!(trash(&world)[0].id, TrashId::Context(context.id));

    world.run_after(days(20)).await;
    world.run_after(days(20)).await;
    assert_eq!((trash(&world).len(), trash(&world)[0].shown_at), (1, None), "what nobody was shown stays");
    purge_in_time(&world, context.id).await;
    bring_back(&world, context.id).await;
}

#[tokio::test]
async fn what_is_too_much_for_one_run_waits_for_the_users_word() {
    let (world, context) = world().await;
    for turn in 0..11 {
        world.exchange(context.id, None, &format!("Turn {turn}"), "I am here.").await;
    }
    let small = world.counselor().await;
    for id in [context.id, small.id] {
        world.service.context_delete(id).await.unwrap();
    }
    let listed = world.service.trash_list().await.unwrap();
    let waits = |id| listed.iter().find(|item| item.id == TrashId::Context(id)).map(|item| (item.weight, item.waits));
    assert_eq!((waits(context.id), waits(small.id)), (Some((34, true)), Some((1, false))));
    for time in [days(8), hours(25), hours(25), days(30)] {
        world.run_after(time).await;
    }
    assert_eq!(trash(&world).iter().map(|item| item.id).collect::<Vec<_>>(), [TrashId::Context(context.id)]);
    let jobs = world.service.job_list().await.unwrap();
    let said = jobs.iter().find(|job| job.name == "cleanup").and_then(|job| job.message.clone());
    assert_eq!(said.as_deref(), Some("1 too much to go without being asked"));
    world.service.context_purge(context.id).await.unwrap();
    assert_eq!(trash(&world), []);
}

/// Shows the trash; a week and two runs a day of running time apart purge.
async fn purge_in_time(world: &World, id: ContextId) {
    let now = world.clock.0.now();
    world.store().write(|w| w.mark_trash_shown(now)).unwrap();
    world.run_after(days(7) - hours(1)).await;
    assert_eq!(trash(world)[0].purge_due_running_ms, None);
    world.run_after(hours(6)).await;
    assert!(trash(world)[0].purge_due_running_ms.is_some(), "found due for the first time");
    world.run_after(hours(23)).await;
    assert_eq!(trash(world).len(), 1);
    world.run_after(hours(7)).await;
    assert_eq!((trash(world), world.store().read(|r| r.context(id)).unwrap()), (vec![], None));
}

/// The backup from before the purge opens, and restoring it brings the context back.
async fn bring_back(world: &World, id: ContextId) {
    let backups = world.service.backup_list().await.unwrap();
    let before = backups.iter().find(|one| one.kind == Some(BackupKind::BeforePurge)).expect("a backup from before the purge");
    let checked = world.service.backup_verify(before.path.clone().into()).await.unwrap();
    assert_eq!((checked.problem, checked.contexts, checked.messages), (None, Some(1), Some(2)));
    let preview = world.service.backup_preview(before.path.clone().into()).await.unwrap();
    assert_eq!(preview.come_back.iter().map(|context| context.id).collect::<Vec<_>>(), [id]);
    assert_eq!((preview.now.messages, preview.then.messages, preview.newer_messages), (0, 2, 0));
    world.service.backup_restore(before.path.clone().into()).await.unwrap();
    assert_eq!(world.service.vault_status().await.state, VaultState::Open);
    for time in [TimeDelta::zero(), hours(7), days(9), hours(25)] {
        world.run_after(time).await;
        assert_eq!(trash(world).iter().map(|item| (item.id, item.shown_at)).collect::<Vec<_>>(), [(TrashId::Context(id), None)]);
    }
    let now = world.clock.0.now();
    world.store().write(|w| w.restore_context(id, now, None)).unwrap();
    assert!(stored(world, id).is_active);
    assert_eq!(world.store().read(|r| r.message_count(id)).unwrap(), 2);
}

#[tokio::test]
async fn a_clock_that_is_three_years_off_purges_nothing_and_keeps_nobody_asleep() {
    let (mut world, context) = world().await;
    world.server.push(Answer::reply(&["Yes."]));
    world.say(context.id, None, "Are you there?").await;
    let gone = world.counselor().await.id;
    let message = world.store().read(|r| r.conversations(Some(context.id), 1, 0)).unwrap()[0].active_leaf_id.unwrap();
    let now = world.clock.0.now();
    world.store().write(|w| w.delete_message(message, now)).unwrap();
    world.store().write(|w| w.trash_context(gone, now)).unwrap();
    world.store().write(|w| w.mark_trash_shown(now)).unwrap();

    for jump in [days(3 * 365), days(-6 * 365), days(3 * 365)] {
        world.clock.0.advance(jump);
        for time in [TimeDelta::zero(), hours(7), hours(7), hours(7)] {
            world.run_after(time).await;
            assert_eq!(trash(&world).len(), 1, "{jump} {time}");
        }
        world.restart().await;
        world.run_after(hours(2)).await;
        assert_eq!(trash(&world)[0].id, TrashId::Context(gone), "{jump}");
    }
    assert!(stored(&world, context.id).is_active, "its 14 days are not over");
    assert_eq!(world.store().write(|w| w.restore_message(message)).unwrap().id, message);
}

#[tokio::test]
async fn a_sleeping_machine_and_a_closed_app_catch_up() {
    let (mut world, context) = world().await;
    let mut heard = world.service.context_expirings();
    world.clock.0.advance(days(13));
    let ran: Vec<_> = world.run_after(TimeDelta::zero()).await.into_iter().map(|job| job.name).collect();
    assert_eq!(ran, ["expiry", "drill", "backup", "cleanup", "vacuum", "title", "check"]);
    assert_eq!(heard.try_recv().unwrap().context_id, context.id);
    world.service.shutdown().await;
    world.clock.0.advance(days(2));
    world.restart().await;
    world.run_after(TimeDelta::zero()).await;
    assert!(!stored(&world, context.id).is_active);
    // An edit that names the lifetime it has is refused; another lifetime wakes it.
    let patch = |days| ContextPatch { expiry_days: days, tags: Some(vec!["work".into()]), ..ContextPatch::default() };
    let refused = world.service.context_update(context.id, patch(context.expiry_days)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ContextExpired);
    assert!(!stored(&world, context.id).is_active);
    world.service.context_update(context.id, patch(Some(3))).await.unwrap();
    assert!(stored(&world, context.id).is_active);
}

#[tokio::test]
async fn deleted_messages_are_forgotten_after_two_looks_and_drafts_stay_as_typed() {
    let (world, context) = world().await;
    let patch = ContextPatch { expiry_days: Some(3_650), ..ContextPatch::default() };
    world.service.context_update(context.id, patch).await.unwrap();
    world.server.push(Answer::reply(&["Noted."]));
    world.say(context.id, None, "Forget this.").await;
    let (key, now) = (DraftKey::Context(context.id), world.clock.0.now());
    let message = world.store().read(|r| r.conversations(Some(context.id), 1, 0)).unwrap()[0].active_leaf_id.unwrap();
    world.store().write(|w| w.put_composer_draft(key, "half a thought", now)).unwrap();
    world.store().write(|w| w.delete_message(message, now)).unwrap();
    let left = |world: &World| {
        let end = world.clock.0.now() + days(1);
        world.store().read(|r| r.deleted_message_count(end)).unwrap()
    };
    for _ in 0..4 {
        world.run_after(days(2)).await;
        assert_eq!(left(&world), 1);
    }
    world.run_after(days(2)).await;
    assert_eq!(left(&world), 0, "it was a week old at the look before");
    for _ in 0..4 {
        world.run_after(days(40)).await;
    }
    assert_eq!(world.service.draft_get(key).await.unwrap(), "half a thought");
    let purges = world.service.backup_list().await.unwrap();
    assert!(purges.iter().any(|one| one.kind == Some(BackupKind::BeforePurge)));
}
