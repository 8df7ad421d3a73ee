//! What stands beside contexts and conversations: votes, presets' counters, drafts, jobs, state, sizes.

use crate::room::{Room, at, context, context_id, conversation_id, full_reply, message, message_id};
use evenkeel_domain::{BUILT_IN_PRESETS, DraftKey, ErrorCode, Job, JobEnd, JobResult, Preset, PresetId, PresetQuery, Vote};
use evenkeel_store::{Change, Noun};
use std::sync::{Arc, Mutex};

fn preset_id() -> PresetId {
    PresetId::new(BUILT_IN_PRESETS[0].id)
}

/// A seeded vault with a context made from the first preset and a question with two replies.
fn judged() -> Room {
    let room = Room::new();
    let (mut one, revision) = context(1, "Calm Counselor");
    one.preset_id = Some(preset_id());
    room.write(|write| {
        write.seed_presets(at(1))?;
        write.insert_context(&one, &revision)?;
        write.insert_conversation(&crate::room::conversation(1, 1))?;
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &revision))?;
        write.insert_message(full_reply(4, 1, &revision)).map(drop)
    });
    room
}

fn counters(room: &Room) -> (u32, u32, u32) {
    let preset = room.read(|read| read.preset(&preset_id())).unwrap();
    (preset.use_count, preset.thumbs_up, preset.thumbs_down)
}

#[test]
fn votes_are_counted_to_the_preset_and_taken_back() {
    let room = judged();
    let vote = |number, vote| room.write(|write| write.set_feedback(message_id(number), vote));
    assert_eq!(counters(&room), (1, 0, 0));
    vote(2, Some(Vote::Up));
    vote(4, Some(Vote::Up));
    vote(4, Some(Vote::Up));
    assert_eq!(counters(&room), (1, 2, 0));
    vote(4, Some(Vote::Down));
    assert_eq!(counters(&room), (1, 1, 1));
    assert_eq!(room.read(|read| read.message(message_id(4))).unwrap().vote, Some(Vote::Down));
    assert_eq!(room.read(|read| read.path(message_id(4), 9))[1].vote, Some(Vote::Down));
    vote(4, None);
    vote(4, None);
    assert_eq!(counters(&room), (1, 1, 0));
    assert_eq!(room.read(|read| read.message(message_id(4))).unwrap().vote, None);
    let missing = room.store.write(|write| write.set_feedback(message_id(99), Some(Vote::Up)));
    assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn a_vote_outlives_the_deletion_that_is_undone_and_no_other() {
    let room = judged();
    let votes =
        || -> i64 { crate::sharing::raw(&room.path()).query_row("SELECT count(*) FROM feedback", [], |row| row.get(0)).unwrap() };
    room.write(|write| {
        write.set_feedback(message_id(2), Some(Vote::Up))?;
        write.set_feedback(message_id(4), Some(Vote::Down))?;
        write.delete_message(message_id(2), at(50))
    });
    assert_eq!(room.write(|write| write.restore_message(message_id(2))).vote, Some(Vote::Up));
    room.write(|write| write.delete_message(message_id(2), at(51)));
    room.write(|write| write.forget_deleted_messages(at(52)));
    assert_eq!(votes(), 1);
    room.write(|write| write.delete_conversation(conversation_id(1)));
    assert_eq!((votes(), counters(&room)), (0, (1, 1, 1)), "what was learned of the preset stays");
}

#[test]
fn presets_are_listed_in_pages_experimental_ones_first() {
    let room = judged();
    let page = |page, page_size, include_inactive| {
        let (presets, total) = room.read(|read| read.presets_page(&PresetQuery { include_inactive, page, page_size }));
        (presets.into_iter().map(|preset| preset.name).collect::<Vec<_>>(), total)
    };
    assert_eq!(
        page(1, 3, false),
        (vec!["Decision Making Supporter".into(), "Search Key Advisor".into(), "Calm Counselor".into()], 6)
    );
    assert_eq!(page(2, 3, false).0, ["Rational Advisor", "Supportive Guide", "Professional Assistant"]);
    assert_eq!(page(3, 3, false), (vec![], 6));
    room.write(|write| write.delete_preset(&preset_id()));
    assert_eq!((page(1, 10, false).1, page(1, 10, true).1), (5, 6));
}

#[test]
fn a_built_in_preset_goes_back_to_its_shipped_text() {
    let room = judged();
    let mut edited = room.read(|read| read.preset(&preset_id())).unwrap();
    assert!(edited.is_built_in && !edited.is_edited);
    edited.system_prompt = "Mine.".into();
    let own = Preset { id: PresetId::new("preset-own"), ..edited.clone() };
    room.write(|write| {
        write.upsert_preset(&edited)?;
        write.upsert_preset(&own)?;
        write.delete_preset(&preset_id())
    });
    let read = |id: &PresetId| room.read(|read| read.preset(id)).unwrap();
    assert!(read(&preset_id()).is_edited && !read(&preset_id()).is_active);
    assert!(!read(&own.id).is_built_in && !read(&own.id).is_edited);
    room.write(|write| write.reset_preset(&preset_id(), at(90)));
    let shipped = Preset { use_count: 1, created_at: at(1), ..BUILT_IN_PRESETS[0].to_preset(at(90)) };
    assert_eq!(read(&preset_id()), shipped);
    let missing = room.store.write(|write| write.reset_preset(&own.id, at(91)));
    assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn what_is_typed_is_kept_until_sent() {
    let room = Room::furnished();
    let (here, new) = (DraftKey::Conversation(conversation_id(1)), DraftKey::Context(context_id(1)));
    let typed = |key| room.read(|read| read.composer_draft(key)).map(|draft| (draft.key, draft.text, draft.updated_at));
    room.write(|write| {
        write.put_composer_draft(here, "Hel", at(5))?;
        write.put_composer_draft(here, "Hello", at(6))?;
        write.put_composer_draft(new, "new", at(7))
    });
    assert_eq!((typed(here), typed(new)), (Some((here, "Hello".into(), at(6))), Some((new, "new".into(), at(7)))));
    room.write(|write| {
        write.put_composer_draft(here, "", at(8))?;
        write.clear_composer_draft(here)
    });
    assert_eq!((typed(here), typed(new).is_some()), (None, true));
    let gone = [DraftKey::Conversation(conversation_id(9)), DraftKey::Context(context_id(9))];
    for key in gone {
        let missing = room.store.write(|write| write.put_composer_draft(key, "x", at(9)));
        assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
    }
    assert_eq!(here.to_string(), format!("conversation:{}", conversation_id(1)));
}

#[test]
fn jobs_remember_their_runs() {
    let room = Room::new();
    let end = |result, message: Option<&str>| JobEnd {
        ended_at: at(40),
        result,
        message: message.map(str::to_owned),
        duration_ms: 30,
        next_run_at: Some(at(90)),
    };
    let never = room.store.write(|write| write.end_job("backup", &end(JobResult::Ok, None)));
    assert_eq!(never.unwrap_err().code(), ErrorCode::NotFound);
    room.write(|write| write.plan_job("backup", Some(at(10))));
    let planned = room.store.write(|write| write.end_job("backup", &end(JobResult::Ok, None)));
    assert_eq!(planned.unwrap_err().code(), ErrorCode::NotFound, "it never began");
    room.write(|write| write.begin_job("backup", at(10)));
    let begun = room.read(|read| read.job("backup")).unwrap();
    assert!(begun.is_begun() && begun.runs == 1 && begun.next_run_at == Some(at(10)));
    room.write(|write| write.end_job("backup", &end(JobResult::Failed, Some("the disk is full"))));
    let expected = Job {
        name: "backup".into(),
        last_started_at: Some(at(10)),
        last_ended_at: Some(at(40)),
        next_run_at: Some(at(90)),
        result: Some(JobResult::Failed),
        message: Some("the disk is full".into()),
        duration_ms: Some(30),
        runs: 1,
    };
    assert_eq!(room.read(|read| read.jobs()), [expected]);
    // A process dies in a run; the next one finds it begun.
    room.write(|write| write.begin_job("backup", at(50)));
    let room = room.reopened();
    let found = room.read(|read| read.job("backup")).unwrap();
    assert!(found.is_begun() && found.message.is_none() && found.runs == 2);
    room.write(|write| write.end_job("backup", &end(JobResult::Interrupted, None)));
    assert_eq!(room.read(|read| read.job("backup")).unwrap().result, Some(JobResult::Interrupted));
}

#[test]
fn running_time_only_grows() {
    let room = Room::new();
    assert_eq!(room.read(|read| read.running_ms()), 0);
    assert_eq!(room.write(|write| write.add_running_ms(5_000)), 5_000);
    let room = room.reopened();
    assert_eq!(room.write(|write| write.add_running_ms(u64::MAX)), u64::MAX);
    assert_eq!(room.read(|read| read.running_ms()), u64::MAX);
    room.write(|write| write.put_app_state("first_start", "2026"));
    assert_eq!(room.read(|read| read.app_state("first_start")).as_deref(), Some("2026"));
    assert_eq!(room.read(|read| read.app_state("other")), None);
}

#[test]
fn every_write_is_told() {
    let room = judged();
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let _subscription = room.store.subscribe(move |change: &Change| kept.lock().unwrap().push(change.noun));
    let expect = |nouns: &[Noun]| {
        let mut told = std::mem::take(&mut *told.lock().unwrap());
        told.sort();
        assert_eq!(told, nouns);
    };
    room.write(|write| write.set_feedback(message_id(2), Some(Vote::Up)));
    expect(&[Noun::Preset, Noun::Message]);
    room.write(|write| write.put_composer_draft(DraftKey::Context(context_id(1)), "x", at(1)));
    expect(&[Noun::Draft]);
    room.write(|write| write.begin_job("expiry", at(1)));
    expect(&[Noun::Job]);
    room.write(|write| write.add_running_ms(1));
    expect(&[Noun::AppState]);
    room.write(|write| write.delete_message(message_id(4), at(2)));
    expect(&[Noun::Conversation, Noun::Message]);
    room.write(|write| write.restore_message(message_id(4)));
    expect(&[Noun::Conversation, Noun::Message]);
    room.write(|write| write.trash_context(context_id(1), at(3)));
    expect(&[Noun::Context]);
    room.write(|write| write.mark_trash_shown(at(3)));
    expect(&[Noun::Context]);
    room.write(|write| write.set_conversation_tags(conversation_id(1), &["a".into()]));
    expect(&[Noun::Conversation]);
    room.write(|write| write.reset_preset(&preset_id(), at(3)));
    expect(&[Noun::Preset]);
}

#[test]
fn sizes_add_up_to_the_database() {
    let room = judged();
    room.write(|write| {
        for n in 10..400 {
            let mut one = message(n, Some(if n == 10 { 4 } else { n - 1 }));
            one.content = format!("word{n} ").repeat(40);
            write.insert_message(one)?;
        }
        Ok(())
    });
    let sizes = room.read(|read| read.vault_statistics());
    assert_eq!((sizes.messages.rows, sizes.index.rows), (393, 393));
    assert!(sizes.contexts.rows >= 8, "{sizes:?}");
    let kinds = sizes.messages.bytes + sizes.index.bytes + sizes.contexts.bytes + sizes.others.bytes;
    assert_eq!(kinds + sizes.free_bytes, sizes.database_bytes, "{sizes:?}");
    assert!(sizes.messages.bytes > 393 * 280 && sizes.index.bytes > 0 && sizes.contexts.bytes > 0);
}
