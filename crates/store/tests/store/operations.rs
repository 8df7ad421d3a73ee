//! Operations: by conversation and by nothing else, the newest of them, and gone with what they may repeat.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, message, message_id};
use evenkeel_domain::{ErrorBody, ErrorCode, FoundId, Operation, OperationId, OperationMetadata};
use evenkeel_store::{Noun, StoreError};
use serde_json::json;

/// Operation `number` of a conversation, with a word of its own.
pub fn operation(number: u64, conversation: u64, tool: &str) -> Operation {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    Operation {
        id: OperationId::from_parts(at(0), random),
        conversation_id: conversation_id(conversation),
        context_id: context_id(1),
        message_id: None,
        at: at(i64::try_from(number).unwrap()),
        query: format!("word{number}"),
        source: "shop".into(),
        tool_name: tool.into(),
        arguments: json!({"n": number}),
        result: json!([{"id": number, "text": "grün \u{0} \"quoted\""}]),
        metadata: OperationMetadata {
            ids: vec![FoundId { key: "id".into(), id: number.to_string() }],
            ..OperationMetadata::default()
        },
        duration_ms: 17,
        error: number.is_multiple_of(2).then(|| ErrorBody::new(ErrorCode::ProviderTimeout, "late").with("seconds", 3)),
    }
}

fn put(room: &Room, operation: &Operation) {
    room.write(|write| write.insert_operation(operation, 50));
}

fn numbers(room: &Room, conversation: u64) -> Vec<i64> {
    let found = room.read(|read| read.operations(conversation_id(conversation), (0, 2_000), |_| true));
    found.iter().map(|one| one.at.timestamp_millis() - at(0).timestamp_millis()).collect()
}

#[test]
fn what_is_read_is_what_was_kept_and_no_other_conversation_has_it() {
    let room = Room::furnished();
    room.write(|write| write.insert_conversation(&conversation(2, 1)));
    let (one, two) = (operation(1, 1, "look"), operation(2, 2, "look"));
    put(&room, &one);
    put(&room, &two);
    let room = room.reopened();
    let read = |number| room.read(|read| read.operations(conversation_id(number), (0, 9), |_| true));
    assert_eq!((read(1), read(2), read(3)), (vec![one.clone()], vec![two], vec![]));
    assert_eq!(room.read(|read| read.operation(conversation_id(1), one.id)), Some(one.clone()));
    assert_eq!(room.read(|read| read.operation(conversation_id(2), one.id)), None, "the id alone opens nothing");
}

#[test]
fn the_newest_come_first_by_page_and_by_tool() {
    let room = Room::furnished();
    (1..=9).for_each(|number| put(&room, &operation(number, 1, if number % 3 == 0 { "write" } else { "read" })));
    let read = |skipped, most, tool: &'static str| {
        let found = room.read(|read| read.operations(conversation_id(1), (skipped, most), |name| name.contains(tool)));
        found.iter().map(|one| one.query.clone()).collect::<Vec<_>>()
    };
    assert_eq!(read(0, 2, ""), ["word9", "word8"]);
    assert_eq!(read(1, 5, "write"), ["word6", "word3"]);
    assert_eq!(room.read(|read| read.operation_tools(conversation_id(1))), [("read".to_owned(), 6), ("write".to_owned(), 3)]);
}

#[test]
fn only_the_newest_are_kept_and_fewer_once_fewer_are_wanted() {
    let room = Room::furnished();
    room.write(|write| write.insert_conversation(&conversation(2, 1)));
    put(&room, &operation(100, 2, "look"));
    (1..=60).for_each(|number| put(&room, &operation(number, 1, "look")));
    assert_eq!(numbers(&room, 1), (11..=60).rev().collect::<Vec<_>>());
    room.write(|write| write.keep_newest_operations(3));
    assert_eq!((numbers(&room, 1), numbers(&room, 2)), (vec![60, 59, 58], vec![100]));
    assert_eq!(room.write(|write| write.clear_operations(conversation_id(1))), 3);
    assert_eq!((numbers(&room, 1), numbers(&room, 2)), (vec![], vec![100]));
}

#[test]
fn transient_sessions_end_by_disuse_and_by_number_and_others_stay() {
    let room = Room::furnished();
    for number in 1..=6_u64 {
        if number > 1 {
            room.write(|write| write.insert_conversation(&conversation(number, 1)));
        }
        put(&room, &operation(number, number, "look"));
        let used = at(i64::try_from(number).unwrap() * 1_000);
        room.write(|write| write.use_operations(conversation_id(number), (number > 1).then_some(true), used));
    }
    let ended = room.write(|write| write.end_transient_operations(9, Some(at(2_500))));
    assert_eq!(ended, [conversation_id(2)], "the first is older and does not end by itself");
    room.write(|write| write.use_operations(conversation_id(3), None, at(9_000)));
    let ended = room.write(|write| write.end_transient_operations(2, None));
    assert_eq!(ended, [conversation_id(5), conversation_id(4)]);
    assert_eq!((1..=6).map(|number| numbers(&room, number).len()).collect::<Vec<_>>(), [1, 0, 1, 0, 0, 1]);
    assert_eq!(room.read(|read| read.operation_session(conversation_id(3))), Some((true, at(9_000))));
    put(&room, &operation(7, 2, "look"));
    assert_eq!(
        room.read(|read| read.operation_session(conversation_id(2))),
        Some((true, at(7))),
        "one that comes back is what it was"
    );
    assert_eq!(room.write(|write| write.end_transient_operations(9, Some(at(8)))), [conversation_id(2)]);
}

#[test]
fn a_conversation_that_is_not_there_keeps_nothing() {
    let room = Room::furnished();
    let refused = room.store.write(|write| write.insert_operation(&operation(1, 7, "look"), 50)).unwrap_err();
    assert_eq!((refused.code(), refused.to_string().contains("conversation")), (ErrorCode::NotFound, true));
}

#[test]
fn operations_go_with_their_conversation_and_their_context() {
    let room = Room::furnished();
    let (two, revision) = context(2, "Guest");
    room.write(|write| {
        write.insert_context(&two, &revision)?;
        write.insert_conversation(&conversation(2, 1))
    });
    put(&room, &operation(1, 1, "look"));
    put(&room, &operation(2, 2, "look"));
    put(&room, &Operation { context_id: two.id, ..operation(3, 2, "look") });
    room.write(|write| write.delete_conversation(conversation_id(1)));
    assert_eq!((numbers(&room, 1), numbers(&room, 2)), (vec![], vec![3, 2]));
    room.write(|write| write.purge_context(two.id, at(9)));
    assert_eq!(numbers(&room, 2), [2]);
}

#[test]
fn with_a_forgotten_message_goes_what_came_after_it_and_what_came_before_stays() {
    let room = Room::furnished();
    let say = |number, parent| room.write(|write| write.insert_message(message(number, parent)).map(drop));
    say(1, None);
    put(&room, &operation(1, 1, "before"));
    say(2, Some(1));
    // Recorded before its reply is stored, as in a chat.
    put(&room, &Operation { message_id: Some(message_id(3)), ..operation(2, 1, "between") });
    say(3, Some(2));
    put(&room, &operation(3, 1, "after"));

    room.write(|write| write.delete_message(message_id(2), at(100)));
    assert_eq!(numbers(&room, 1), [3, 1], "what answers it is hidden while that can be undone");
    room.write(|write| write.restore_message(message_id(2)).map(drop));
    assert_eq!(numbers(&room, 1), [3, 2, 1]);

    room.write(|write| write.delete_message(message_id(3), at(101)));
    room.write(|write| write.forget_deleted_messages(at(200)).map(drop));
    assert_eq!(numbers(&room, 1), [1], "its own, and the one after it");
    room.write(|write| write.delete_message(message_id(1), at(201)));
    room.write(|write| write.forget_deleted_messages(at(300)).map(drop));
    assert_eq!(numbers(&room, 1), [0_i64; 0]);
}

#[test]
fn what_rests_on_a_deleted_message_is_read_nowhere_until_it_is_back() {
    let room = Room::furnished();
    room.write(|write| write.insert_message(message(1, None)));
    let done = Operation { message_id: Some(message_id(2)), ..operation(1, 1, "look") };
    put(&room, &done);
    // The reply that this one is of was never stored, and of a long question the record has the beginning alone.
    put(&room, &Operation { message_id: Some(message_id(9)), query: "mess".to_owned(), ..operation(2, 1, "write") });
    room.write(|write| write.insert_message(message(2, Some(1))));
    let everywhere = || {
        let mut exported = 0;
        room.read(|read| {
            read.each_operation(None, |_| {
                exported += 1;
                Ok::<_, StoreError>(())
            })
        });
        let tools = room.read(|read| read.operation_tools(conversation_id(1))).len();
        let has_some = room.read(|read| read.has_operations(conversation_id(1)));
        let one = room.read(|read| read.operation(conversation_id(1), done.id)).is_some();
        (numbers(&room, 1).len(), exported, tools, has_some, one)
    };
    let (all, none) = ((2, 2, 2, true, true), (0, 0, 0, false, false));
    assert_eq!(everywhere(), all);
    for (gone, left) in [(1, none), (2, (1, 1, 1, true, false))] {
        room.write(|write| write.delete_message(message_id(gone), at(100)));
        assert_eq!(everywhere(), left, "without message {gone}");
        room.write(|write| write.restore_message(message_id(gone)).map(drop));
        assert_eq!(everywhere(), all, "with message {gone} again");
    }
    room.write(|write| write.trash_conversations(&[conversation_id(1)], at(101)));
    assert_eq!(everywhere(), none, "in the trash");
    room.write(|write| write.restore_conversations(&[conversation_id(1)]));
    assert_eq!(everywhere(), all);
}

#[test]
fn an_export_gives_each_once_the_oldest_first() {
    let room = Room::furnished();
    room.write(|write| write.insert_conversation(&conversation(2, 1)));
    for (number, conversation) in [(1, 2), (2, 1), (3, 2)] {
        put(&room, &operation(number, conversation, "look"));
    }
    let given = |conversation: Option<u64>| {
        let mut given = Vec::new();
        room.read(|read| {
            read.each_operation(conversation.map(conversation_id), |one| {
                given.push(one.query);
                Ok::<_, StoreError>(())
            })
        });
        given
    };
    assert_eq!(
        (given(Some(2)), given(None)),
        (vec!["word1".into(), "word3".into()], vec!["word2".into(), "word1".into(), "word3".into()])
    );
}

#[test]
fn who_shows_operations_is_told_of_each_change() {
    let room = Room::furnished();
    let (send, heard) = std::sync::mpsc::channel();
    let _subscription = room.store.subscribe(move |change| send.send(change.clone()).unwrap());
    put(&room, &operation(1, 1, "look"));
    room.write(|write| write.clear_operations(conversation_id(1)));
    let told: Vec<_> = heard.try_iter().map(|change| (change.noun, change.id)).collect();
    assert_eq!(told, vec![(Noun::Operation, conversation_id(1).to_string()); 2]);
}
