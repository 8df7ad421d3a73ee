//! Other programs: what each may do outlives the app, what it did is kept in bounds, and a purged context is nowhere in it.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, message, message_id};
use evenkeel_domain::{
    Access, AccessKind, ConnectionGrant, ContextId, Conversation, ConversationsShown, ErrorCode, MessageId, MessageQuery,
    MessageSelection,
};
use evenkeel_store::{Noun, WriteHandle};

fn see(room: &Room, name: &str, millis: i64) {
    room.write(|write| write.see_connection(name, "1.0", at(millis)));
}

fn access(client: &str, context: Option<ContextId>, count: u32) -> Access {
    Access {
        client: client.into(),
        kind: AccessKind::ReadMessages,
        context_id: context,
        context_name: None,
        count,
        is_refused: false,
        at: at(i64::from(count)),
    }
}

#[test]
fn a_new_program_may_only_read_and_what_is_decided_stays_when_it_comes_back() {
    let room = Room::furnished();
    see(&room, "Client", 1);
    let new = room.read(|read| read.connection("Client")).unwrap();
    assert_eq!((new.grant, new.first_seen_at, new.last_seen_at), (ConnectionGrant::default(), at(1), at(1)));
    let grant = ConnectionGrant {
        is_blocked: false,
        may_change: true,
        may_chat: true,
        uses_sampling: true,
        contexts: Some(vec![context_id(1)]),
    };
    room.write(|write| write.set_connection_grant("Client", &grant));
    room.write(|write| write.see_connection("Client", "2.0", at(9)));
    let room = room.reopened();
    let known = room.read(|read| read.connections()).remove(0);
    assert_eq!((known.grant, known.version.as_str()), (grant, "2.0"));
    assert_eq!((known.first_seen_at, known.last_seen_at), (at(1), at(9)));

    let unknown = ConnectionGrant { contexts: Some(vec![context_id(77)]), ..ConnectionGrant::default() };
    let refused = room.store.write(|write| write.set_connection_grant("Client", &unknown)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotFound);
    assert!(room.read(|read| read.connection("Client")).unwrap().grant.may_chat, "nothing was changed");
    room.write(|write| write.forget_connection("Client"));
    assert_eq!(room.read(|read| read.connections()), []);
    let gone = room.store.write(|write| write.forget_connection("Client")).unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
}

#[test]
fn a_limit_to_contexts_that_are_gone_does_not_become_none() {
    let room = Room::furnished();
    let (two, revision) = context(2, "Gone");
    room.write(|write| write.insert_context(&two, &revision));
    see(&room, "Client", 1);
    let grant = ConnectionGrant { contexts: Some(vec![two.id]), ..ConnectionGrant::default() };
    room.write(|write| write.set_connection_grant("Client", &grant));
    room.write(|write| write.note_access(&access("Client", Some(two.id), 3)));
    assert_eq!(room.read(|read| read.accesses(None, 9))[0].context_name.as_deref(), Some("Gone"));
    room.write(|write| write.purge_context(two.id, at(9)));
    let known = room.read(|read| read.connection("Client")).unwrap();
    assert_eq!(known.grant.contexts, Some(Vec::new()), "not even one, and not all of them");
    let log = room.read(|read| read.accesses(None, 9));
    assert_eq!((log.len(), log[0].context_id, &log[0].context_name, log[0].count), (1, None, &None, 3));
}

#[test]
fn the_log_keeps_the_newest_and_programs_that_nothing_was_decided_about_go_first() {
    let room = Room::furnished();
    see(&room, "Trusted", 0);
    let grant = ConnectionGrant { may_chat: true, ..ConnectionGrant::default() };
    room.write(|write| write.set_connection_grant("Trusted", &grant));
    let all = |write: &mut WriteHandle<'_>| {
        for number in 0..250_u32 {
            write.see_connection(&format!("Program {number}"), "1", at(i64::from(number) + 1))?;
        }
        for number in 0..10_040_u32 {
            let client = if number % 2 == 0 { "Even" } else { "Odd" };
            write.note_access(&access(client, Some(context_id(1)), number))?;
        }
        Ok(())
    };
    room.write(all);
    let known = room.read(|read| read.connections());
    assert_eq!(known.len(), 201);
    assert!(known.iter().any(|one| one.name == "Trusted") && !known.iter().any(|one| one.name == "Program 0"));
    let log = room.read(|read| read.accesses(None, 20_000));
    assert_eq!((log.len(), log[0].count, log[9_999].count), (10_000, 10_039, 40));
    let even = room.read(|read| read.accesses(Some("Even"), 3));
    assert_eq!(even.iter().map(|one| one.count).collect::<Vec<_>>(), [10_038, 10_036, 10_034]);
    room.write(|write| write.clear_accesses());
    assert_eq!(room.read(|read| read.accesses(None, 9)), []);
}

#[test]
fn who_shows_the_programs_is_told_of_each_change() {
    let room = Room::furnished();
    let (send, heard) = std::sync::mpsc::channel();
    let _subscription = room.store.subscribe(move |change| send.send(change.clone()).unwrap());
    see(&room, "Client", 1);
    room.write(|write| write.note_access(&access("Client", None, 1)));
    let told: Vec<_> = heard.try_iter().map(|change| (change.noun, change.id)).collect();
    assert_eq!(told, [(Noun::Connection, "Client".to_owned()), (Noun::Connection, "Client".to_owned())]);
}

/// Context 1 with messages 1–3 in conversation 1 and 4–5 in conversation 2, and message 6 of context 2 in conversation 1.
fn talked(is_local_only: bool) -> Room {
    let room = Room::furnished();
    let (mut two, revision) = context(2, "Guest");
    two.local_only = is_local_only;
    room.write(|write| {
        write.insert_context(&two, &revision)?;
        write.insert_conversation(&conversation(2, 1))?;
        for number in 1..=6_u64 {
            let mut said = message(number, None);
            said.conversation_id = conversation_id(if number == 4 || number == 5 { 2 } else { 1 });
            said.context_id = context_id(if number == 6 { 2 } else { 1 });
            write.insert_message(said)?;
        }
        Ok(())
    });
    room
}

fn seen(context: u64) -> ConversationsShown {
    ConversationsShown { context_id: context_id(context), only: None, among: None, archived: false, limit: 10 }
}

fn numbers(room: &Room, query: &MessageQuery) -> (Vec<MessageId>, u64) {
    let (page, total) = room.read(|read| read.messages_page(query));
    (page.into_iter().map(|message| message.id).collect(), total)
}

#[test]
fn messages_of_a_context_are_listed_by_page_without_conversations_in_which_a_guest_spoke_that_is_not_shown() {
    let query = |newest_first, page, page_size| MessageQuery {
        context_id: context_id(1),
        conversation_id: None,
        among: None,
        newest_first,
        page,
        page_size,
    };
    let ids = |numbers: &[u64]| numbers.iter().map(|number| message_id(*number)).collect::<Vec<_>>();
    let room = talked(false);
    assert_eq!(numbers(&room, &query(true, 1, 10)), (ids(&[6, 5, 4, 3, 2, 1]), 6));
    assert_eq!(numbers(&room, &query(false, 2, 4)), (ids(&[5, 6]), 6));
    let one = MessageQuery { conversation_id: Some(conversation_id(2)), ..query(false, 1, 10) };
    assert_eq!(numbers(&room, &one), (ids(&[4, 5]), 2));
    let among = |contexts: &[u64]| Some(contexts.iter().map(|number| context_id(*number)).collect::<Vec<_>>());
    assert_eq!(numbers(&room, &MessageQuery { among: among(&[1]), ..query(true, 1, 10) }), (ids(&[5, 4]), 2));
    let room = talked(true);
    assert_eq!(numbers(&room, &query(true, 1, 1)), (ids(&[5]), 2));
    assert_eq!(numbers(&room, &MessageQuery { among: among(&[1, 2]), ..query(true, 1, 10) }).1, 6);
    let shown = |among| room.read(|read| read.conversations_shown(&ConversationsShown { among, ..seen(1) }));
    assert_eq!(shown(None).iter().map(|one| one.id).collect::<Vec<_>>(), [conversation_id(2)]);
    assert_eq!(shown(among(&[1, 2])).len(), 2);
    let selection = MessageSelection {
        context_id: context_id(1),
        conversation_id: None,
        among: None,
        ids: Some(vec![message_id(1), message_id(4)]),
        older_than: None,
    };
    let found = room.read(|read| read.selected_messages(&selection));
    assert_eq!(found.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [message_id(4)], "nor deleted");
    room.write(|write| write.trash_conversations(&[conversation_id(2)], at(9)).map(drop));
    assert_eq!(numbers(&room, &query(true, 1, 10)), (ids(&[]), 0));
}

#[test]
fn a_selection_finds_what_it_names_and_nothing_of_another_context() {
    let room = talked(false);
    let selected = |ids: Option<Vec<MessageId>>, context: u64, older_than| {
        let selection = MessageSelection { context_id: context_id(context), conversation_id: None, among: None, ids, older_than };
        let found = room.read(|read| read.selected_messages(&selection));
        found.into_iter().map(|(id, ..)| id).collect::<Vec<_>>()
    };
    let wish = vec![message_id(2), message_id(4), message_id(99), message_id(2)];
    assert_eq!(selected(Some(wish.clone()), 1, None), [message_id(4), message_id(2)]);
    assert_eq!(selected(Some(wish), 2, None), []);
    assert_eq!(selected(None, 1, None).len(), 6);
    assert_eq!(selected(None, 1, Some(at(-1))), []);
}

#[test]
fn the_newest_conversation_is_the_one_talked_in_last_pinned_or_not() {
    let room = Room::furnished();
    let pinned = Conversation { is_pinned: true, last_activity_at: at(1), ..conversation(2, 1) };
    let newest = Conversation { last_activity_at: at(500_000), ..conversation(3, 1) };
    let archived = Conversation { is_archived: true, last_activity_at: at(900_000), ..conversation(4, 1) };
    room.write(|write| [pinned, newest, archived].iter().try_for_each(|one| write.insert_conversation(one)));
    let newest = |context| room.read(|read| read.conversations_shown(&seen(context))).first().map(|one| one.id);
    assert_eq!((newest(1), newest(9)), (Some(conversation_id(3)), None));
    let all = room.read(|read| read.conversations_shown(&ConversationsShown { archived: true, limit: 1, ..seen(1) }));
    assert_eq!((all.len(), all[0].id), (1, conversation_id(4)));
}
