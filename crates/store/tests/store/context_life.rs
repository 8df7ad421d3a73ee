//! Contexts: lists, tags, revisions, trash, and the end.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, full_reply, message, message_id};
use evenkeel_domain::{Context, ContextQuery, ContextSort, DraftKey, ErrorCode, Message, Revision, SearchQuery, TrashId, Vote};
use evenkeel_store::{Change, Noun};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::sync::{Arc, Mutex};

fn named(number: u64, name: &str, tags: &[&str]) -> (Context, Revision) {
    let (mut one, revision) = context(number, name);
    one.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    one.created_at = at(i64::try_from(number).unwrap());
    (one, revision)
}

/// Anna (1), bert (2), Ärger (3), 100% (4), Zoe (5, expired), Old (6, switched off), Gone (7, in the trash).
fn peopled() -> Room {
    let room = Room::new();
    let all = [
        named(1, "Anna", &["Work", "Ärzte"]),
        named(2, "bert", &["work"]),
        named(3, "Ärger", &[]),
        named(4, "100%", &["a_b"]),
        named(5, "Zoe", &["Work"]),
        named(6, "Old", &[]),
        named(7, "Gone", &["Work"]),
    ];
    room.write(|write| {
        for (mut one, revision) in all {
            one.expires_at = match one.name.as_str() {
                "Zoe" => Some(at(500)),
                "Anna" => None,
                _ => Some(at(10_000 - i64::try_from(revision.name.len()).unwrap())),
            };
            write.insert_context(&one, &revision)?;
        }
        write.set_context_active(context_id(6), false, at(10))?;
        write.trash_context(context_id(7), at(20))
    });
    room
}

fn names(room: &Room, query: &ContextQuery) -> (Vec<String>, u64) {
    let (page, total) = room.read(|read| read.contexts_page(query, at(1_000)));
    (page.into_iter().map(|one| one.name).collect(), total)
}

fn whole() -> ContextQuery {
    ContextQuery { page_size: 100, ..ContextQuery::default() }
}

#[test]
fn lists_leave_out_what_is_expired_or_in_the_trash_unless_asked() {
    let room = peopled();
    let list = |query| names(&room, &query).0;
    assert_eq!(list(whole()), ["100%", "Ärger", "bert", "Anna"]);
    assert_eq!(list(ContextQuery { include_expired: true, ..whole() }), ["Old", "Zoe", "100%", "Ärger", "bert", "Anna"]);
    assert_eq!(list(ContextQuery { only_deleted: true, ..whole() }), ["Gone"]);
    let gone = room.read(|read| read.context(context_id(7))).unwrap();
    assert_eq!((gone.is_active, gone.deleted_at, gone.tags), (false, Some(at(20)), vec!["Work".to_owned()]));
}

#[test]
fn every_sort_has_its_order_and_pages_fit_together() {
    let room = peopled();
    let sorted = |sort| names(&room, &ContextQuery { sort, ..whole() }).0;
    assert_eq!(sorted(ContextSort::Name), ["100%", "Anna", "bert", "Ärger"]);
    assert_eq!(sorted(ContextSort::Created), ["100%", "Ärger", "bert", "Anna"]);
    assert_eq!(sorted(ContextSort::ExpiresSoon), ["Ärger", "bert", "100%", "Anna"], "those that never expire are last");
    for sort in [ContextSort::LastInteraction, ContextSort::Name, ContextSort::Created, ContextSort::ExpiresSoon] {
        let query = |page| ContextQuery { sort, page, page_size: 3, ..ContextQuery::default() };
        let pages: Vec<_> = (1..=3).map(|page| names(&room, &query(page))).collect();
        assert!(pages.iter().all(|(_, total)| *total == 4));
        assert_eq!(pages.into_iter().flat_map(|page| page.0).collect::<Vec<_>>(), sorted(sort), "{sort:?}");
    }
}

#[test]
fn filters_know_letters_of_either_case_and_no_wildcards() {
    let room = peopled();
    let tagged = |tag: &str| names(&room, &ContextQuery { tag: Some(tag.into()), ..whole() }).0;
    let with = |text: &str| names(&room, &ContextQuery { text: Some(text.into()), ..whole() }).0;
    assert_eq!(tagged("WORK"), ["bert", "Anna"]);
    assert_eq!(tagged("ärzte"), ["Anna"]);
    assert_eq!(tagged("wor"), Vec::<String>::new());
    assert_eq!(with("ÄR"), ["Ärger", "Anna"], "in a name and in a tag");
    assert_eq!(with("PATIENT").len(), 4, "in the personality");
    assert_eq!((with("%"), with("a_b"), with("a%b")), (vec!["100%".to_owned()], vec!["100%".to_owned()], vec![]));
    assert_eq!(with("  ").len(), 4, "a blank filter is none");
}

#[test]
fn revisions_say_when_and_how_often_they_were_used() {
    let room = Room::furnished();
    let (mut one, first) = context(1, "Calm Counselor");
    let second = Revision::new("Calm Counselor", "Answers briefly.", "patient, warm", None, at(50));
    (one.system_prompt, one.revision_id, one.updated_at) = ("Answers briefly.".into(), second.id.clone(), at(60));
    room.write(|write| {
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &first))?;
        write.insert_message(full_reply(4, 1, &first))?;
        write.update_context(&one, &second)
    });
    let used = room.read(|read| read.revisions(context_id(1)));
    let used: Vec<_> = used.into_iter().map(|used| (used.revision.id, used.used_at, used.message_count)).collect();
    assert_eq!(used, [(second.id, at(60), 0), (first.id, at(1), 2)]);
}

#[test]
fn what_lies_in_the_trash_comes_back_whole() {
    let room = peopled();
    room.write(|write| {
        write.mark_trash_shown(at(30))?;
        write.mark_trash_shown(at(40))?;
        write.set_purge_due(TrashId::Context(context_id(7)), Some(5_000))?;
        write.trash_context(context_id(7), at(50))
    });
    let item = room.read(|read| read.trash()).remove(0);
    assert_eq!((item.id, item.deleted_at, item.shown_at), (TrashId::Context(context_id(7)), at(20), Some(at(30))));
    assert_eq!(item.purge_due_running_ms, Some(5_000));
    // Nothing switches it on by the way.
    let (mut edited, revision) = named(7, "Gone", &["Work"]);
    edited.is_active = true;
    room.write(|write| {
        write.update_context(&edited, &revision)?;
        write.set_context_active(context_id(7), true, at(60))
    });
    assert!(!room.read(|read| read.context(context_id(7))).unwrap().is_active);
    room.write(|write| write.restore_context(context_id(7), at(70), Some(at(9_000))));
    let back = room.read(|read| read.context(context_id(7))).unwrap();
    assert_eq!((back.is_active, back.deleted_at, back.expires_at), (true, None, Some(at(9_000))));
    assert_eq!(back.tags, ["Work"]);
    room.write(|write| write.trash_context(context_id(7), at(80)));
    assert_eq!(room.read(|read| read.trash())[0].shown_at, None, "its time in the trash begins anew");
}

#[test]
fn what_does_not_lie_in_the_trash_is_not_restored_or_due() {
    let room = peopled();
    let code = |result: Result<(), evenkeel_store::StoreError>| result.unwrap_err().code();
    assert_eq!(code(room.store.write(|write| write.restore_context(context_id(1), at(1), None))), ErrorCode::NotFound);
    let due = TrashId::Context(context_id(1));
    assert_eq!(code(room.store.write(|write| write.set_purge_due(due, Some(1)))), ErrorCode::NotFound);
    assert_eq!(code(room.store.write(|write| write.trash_context(context_id(99), at(1)))), ErrorCode::NotFound);
    assert_eq!(code(room.store.write(|write| write.purge_context(context_id(99), at(1)))), ErrorCode::NotFound);
}

/// Context 1 with a conversation, and context 2 in whose conversation context 1 answered once.
fn shared() -> (Room, Revision, Message) {
    let room = Room::furnished();
    let (_, own) = context(1, "Calm Counselor");
    let (other, revision) = context(2, "Other");
    let mut question = message(11, None);
    (question.conversation_id, question.context_id) = (conversation_id(2), context_id(2));
    let mut guest = full_reply(12, 11, &own);
    guest.conversation_id = conversation_id(2);
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_conversation(&conversation(2, 2))?;
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &own))?;
        write.set_feedback(message_id(2), Some(Vote::Down))?;
        write.put_composer_draft(DraftKey::Context(context_id(1)), "typed", at(3))?;
        write.put_composer_draft(DraftKey::Conversation(conversation_id(1)), "typed", at(3))?;
        write.insert_message(question)?;
        guest = write.insert_message(guest.clone())?;
        Ok(())
    });
    (room, own, guest)
}

#[test]
fn a_purged_context_leaves_only_what_it_said_elsewhere() {
    let (room, own, guest) = shared();
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let _subscription = room.store.subscribe(move |change: &Change| kept.lock().unwrap().push((change.noun, change.id.clone())));
    room.write(|write| write.purge_context(context_id(1), at(900)));
    let told = told.lock().unwrap().clone();
    assert!(told.contains(&(Noun::Context, context_id(1).to_string())));
    assert!(told.contains(&(Noun::Conversation, conversation_id(1).to_string())));

    room.store
        .read(|read| {
            assert_eq!(read.context(context_id(1))?, None);
            assert_eq!(read.contexts(true, 9, 0)?.len(), 1);
            assert_eq!(read.context_count(true)?, 1);
            assert_eq!(read.contexts_page(&ContextQuery { include_expired: true, ..whole() }, at(1))?.1, 1);
            assert_eq!(read.contexts_page(&ContextQuery { only_deleted: true, ..whole() }, at(1))?.1, 0);
            assert_eq!(read.trash()?, []);
            assert_eq!(read.conversation(conversation_id(1))?, None);
            assert_eq!(read.message(message_id(2))?, None);
            assert_eq!(read.revisions(context_id(1))?, []);
            assert_eq!(read.composer_draft(DraftKey::Context(context_id(1)))?, None);
            assert_eq!(read.composer_draft(DraftKey::Conversation(conversation_id(1)))?, None);
            // What it said in another's conversation is that one's.
            assert_eq!(read.message(guest.id)?, Some(guest.clone()));
            assert_eq!(read.revision(&own.id)?.as_ref(), Some(&own));
            let agents = read.conversation_statistics(conversation_id(2))?.agents;
            assert_eq!((agents[0].name.as_str(), agents[0].context_id), ("Calm Counselor", context_id(1)));
            let query = SearchQuery { text: "message".into(), ..SearchQuery::default() };
            assert_eq!(read.search_messages(&query)?.len(), 1);
            Ok(())
        })
        .unwrap();
    for write in [
        room.store.write(|write| write.touch_context(context_id(1), at(1))),
        room.store.write(|write| write.set_context_active(context_id(1), true, at(1))),
        room.store.write(|write| write.trash_context(context_id(1), at(1))),
        room.store.write(|write| write.insert_conversation(&conversation(9, 1))),
    ] {
        assert_eq!(write.unwrap_err().code(), ErrorCode::NotFound);
    }
    // With the last message of it, its tombstone and its revision go.
    room.write(|write| {
        write.trash_conversations(&[conversation_id(2)], at(901))?;
        write.purge_conversations(&[conversation_id(2)])
    });
    assert_eq!(room.read(|read| read.revision(&own.id)), None);
    let left: i64 = crate::sharing::raw(&room.path()).query_row("SELECT count(*) FROM contexts", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_revision_that_another_context_has_outlives_a_purge() {
    let room = Room::furnished();
    let (twin, revision) = context(2, "Calm Counselor");
    room.write(|write| {
        write.insert_context(&twin, &revision)?;
        write.purge_context(context_id(1), at(9))
    });
    assert_eq!(room.read(|read| read.context(context_id(2))).unwrap().system_prompt, "Answers calmly.");
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..Config::default() })]

    #[test]
    fn an_update_never_changes_an_old_revision(texts in prop::collection::vec((0..4_u8, 0..4_u8, prop::option::of(0..3_u8)), 1..20)) {
        let room = Room::furnished();
        let (mut one, first) = context(1, "Calm Counselor");
        let mut known = vec![first];
        for (step, (prompt, personality, anchor)) in (100_i64..).zip(texts) {
            one.system_prompt = format!("Prompt {prompt}.");
            one.personality = format!("personality {personality}");
            one.anchor = anchor.map(|anchor| format!("anchor {anchor}"));
            let revision = Revision::new(&one.name, &one.system_prompt, &one.personality, one.anchor.as_deref(), at(step));
            (one.revision_id, one.updated_at) = (revision.id.clone(), at(step));
            room.write(|write| write.update_context(&one, &revision));
            if known.iter().all(|old| old.id != revision.id) {
                known.push(revision);
            }
            prop_assert_eq!(room.read(|read| read.context(one.id)), Some(one.clone()));
            for old in &known {
                prop_assert_eq!(room.read(|read| read.revision(&old.id)), Some(old.clone()));
            }
        }
        let used: Vec<_> = room.read(|read| read.revisions(one.id)).into_iter().map(|used| used.revision).rev().collect();
        prop_assert_eq!(used, known);
    }
}
