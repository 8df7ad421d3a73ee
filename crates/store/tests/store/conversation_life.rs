//! Conversations: lists, tags, titles, batches, trash, figures.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, full_reply, message, message_id};
use evenkeel_domain::{Conversation, ConversationId, ConversationQuery, ErrorCode, Role, TitleSource, TrashId};
use evenkeel_store::StoreError;

/// Context 1 with conversations 1–6 of rising activity, of which 2 is pinned, 3 archived, 4 in the
/// trash; context 2 with conversation 7, context 3 in the trash with conversation 8.
fn threads() -> Room {
    let room = Room::furnished();
    room.write(|write| {
        for (number, name) in [(2, "Other"), (3, "Gone")] {
            let (one, revision) = context(number, name);
            write.insert_context(&one, &revision)?;
        }
        for (number, context) in [(2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 2), (8, 3)] {
            write.insert_conversation(&conversation(number, context))?;
        }
        write.set_conversation_pinned(conversation_id(2), true)?;
        write.set_conversation_archived(conversation_id(3), true)?;
        write.trash_conversations(&[conversation_id(4)], at(20))?;
        write.trash_context(context_id(3), at(20))
    });
    room
}

fn list(room: &Room, query: &ConversationQuery) -> Vec<ConversationId> {
    let (page, total) = room.read(|read| read.conversations_page(query));
    if query.offset == 0 && page.len() < query.limit as usize {
        assert_eq!(page.len() as u64, total);
    }
    page.into_iter().map(|one| one.id).collect()
}

fn ids<const N: usize>(numbers: [u64; N]) -> Vec<ConversationId> {
    numbers.map(conversation_id).to_vec()
}

#[test]
fn lists_put_the_pinned_first_and_leave_out_archive_and_trash() {
    let room = threads();
    let of_first = ConversationQuery { context_id: Some(context_id(1)), ..ConversationQuery::default() };
    assert_eq!(list(&room, &of_first), ids([2, 6, 5, 1]));
    assert_eq!(list(&room, &ConversationQuery { oldest_first: true, ..of_first.clone() }), ids([2, 1, 5, 6]));
    assert_eq!(list(&room, &ConversationQuery { include_archived: true, ..of_first.clone() }), ids([2, 6, 5, 3, 1]));
    assert_eq!(list(&room, &ConversationQuery { only_deleted: true, ..of_first.clone() }), ids([4]));
    assert_eq!(list(&room, &ConversationQuery::default()), ids([2, 7, 6, 5, 1]), "none of a context in the trash");
    let page = ConversationQuery { limit: 2, offset: 2, ..of_first };
    assert_eq!((list(&room, &page), room.read(|read| read.conversations_page(&page)).1), (ids([5, 1]), 4));
}

#[test]
fn filters_by_tag_and_title_know_letters_of_either_case() {
    let room = threads();
    room.write(|write| {
        write.set_conversation_tags(conversation_id(5), &["Über".into(), "b".into(), "ÜBER".into()])?;
        write.rename_conversation(conversation_id(6), "50% Übung_1")
    });
    assert_eq!(room.conversation(5).tags, ["Über", "b"], "the first of two alike");
    let tagged = |tag: &str| list(&room, &ConversationQuery { tag: Some(tag.into()), ..ConversationQuery::default() });
    let titled = |text: &str| list(&room, &ConversationQuery { text: Some(text.into()), ..ConversationQuery::default() });
    assert_eq!((tagged("über"), tagged("c")), (ids([5]), vec![]));
    assert_eq!((titled("übung"), titled("0% Ü"), titled("%1"), titled("thread 7")), (ids([6]), ids([6]), vec![], ids([7])));
    room.write(|write| write.set_conversation_tags(conversation_id(5), &[]));
    assert_eq!(tagged("über"), []);
}

#[test]
fn the_users_title_is_never_replaced_by_a_models() {
    let room = threads();
    let title = |number, text: &str| room.write(|write| write.title_conversation(conversation_id(number), text));
    assert!(title(1, "By a model") && title(1, "By a better model"));
    assert_eq!(
        (room.conversation(1).title.as_str(), room.conversation(1).title_source),
        ("By a better model", TitleSource::Model)
    );
    room.write(|write| write.rename_conversation(conversation_id(1), "Mine"));
    assert!(!title(1, "By a model"));
    assert_eq!((room.conversation(1).title.as_str(), room.conversation(1).title_source), ("Mine", TitleSource::User));
    let missing = room.store.write(|write| write.title_conversation(conversation_id(99), "x"));
    assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn a_conversation_keeps_every_field() {
    let room = Room::furnished();
    let full = Conversation {
        is_pinned: true,
        is_archived: true,
        tags: vec!["b".into(), "A".into()],
        title_source: TitleSource::Model,
        ..conversation(9, 1)
    };
    room.write(|write| write.insert_conversation(&full));
    assert_eq!(room.reopened().conversation(9), full);
}

#[test]
fn batches_return_what_they_changed_and_can_be_undone() {
    let room = threads();
    let trashed = room.write(|write| write.trash_conversations(&ids([1, 4, 5, 99]), at(30)));
    assert_eq!(trashed, ids([1, 5]), "what lies there already and what is not there are passed over");
    assert_eq!(room.write(|write| write.restore_conversations(&ids([1, 5, 6, 99]))), ids([1, 5]));
    let old = |of, before, keep| room.read(|read| read.conversations_older_than(of, at(before), keep));
    let of_first = Some(context_id(1));
    assert_eq!(old(of_first, 6, true), ids([1, 3, 5]), "archived ones too, not the pinned one, and not that of the same time");
    assert_eq!(old(of_first, 6, false), ids([1, 2, 3, 5]), "none from the trash");
    assert_eq!(old(None, 100, false), ids([1, 2, 3, 5, 6, 7, 8]), "without a context, those of all");
    let all = room.read(|read| read.conversations_of_context(context_id(1)));
    assert_eq!(all, ids([1, 2, 3, 5, 6]));
    assert_eq!(room.write(|write| write.trash_conversations(&all, at(32))), all);
    assert_eq!(room.read(|read| read.conversation_count(of_first)), 0);
    assert_eq!(room.read(|read| read.conversation_count(None)), 1);
}

#[test]
fn a_batch_is_all_or_nothing() {
    let room = threads();
    let result: Result<(), StoreError> = room.store.write(|write| {
        write.trash_conversations(&ids([1, 5]), at(30))?;
        write.rename_conversation(conversation_id(99), "x")
    });
    assert_eq!(result.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(room.conversation(1).deleted_at, None);
}

#[test]
fn only_what_lies_in_the_trash_and_was_seen_there_is_purged() {
    let room = threads();
    assert_eq!(room.write(|write| write.purge_conversations(&ids([1, 5]))), []);
    assert_eq!(room.write(|write| write.purge_conversations_trashed_before(at(1_000_000))), [], "nobody saw it there yet");
    room.write(|write| write.mark_trash_shown(at(40)));
    room.write(|write| write.set_purge_due(TrashId::Conversation(conversation_id(4)), Some(7)));
    let item = room.read(|read| read.trash()).into_iter().find(|item| item.id == TrashId::Conversation(conversation_id(4)));
    assert_eq!(item.map(|item| (item.shown_at, item.purge_due_running_ms)), Some((Some(at(40)), Some(7))));
    assert_eq!(room.write(|write| write.purge_conversations_trashed_before(at(40))), []);
    assert_eq!(room.write(|write| write.purge_conversations_trashed_before(at(41))), ids([4]));
    assert_eq!(room.read(|read| read.conversation(conversation_id(4))), None);
    let due = room.store.write(|write| write.set_purge_due(TrashId::Conversation(conversation_id(1)), None));
    assert_eq!(due.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn purging_takes_messages_index_and_undo_with_it() {
    let room = Room::furnished();
    room.write(|write| {
        for n in 1..=40 {
            write.insert_message(message(n, (n > 1).then(|| n - 1)))?;
        }
        write.delete_message(message_id(7), at(60))?;
        write.trash_conversations(&ids([1]), at(61))?;
        write.purge_conversations(&ids([1]))
    });
    let left: i64 = crate::sharing::raw(&room.path())
        .query_row(
            "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM deleted_messages)
                  + (SELECT count(*) FROM message_index ('message'))",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn figures_count_every_branch_and_agent() {
    let room = Room::furnished();
    let (other, revision) = context(2, "Other");
    let mut guest = full_reply(4, 3, &revision);
    guest.context_id = context_id(2);
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &context(1, "Calm Counselor").1))?;
        write.insert_message(message(3, Some(2)))?;
        write.insert_message(guest)?;
        write.insert_message(full_reply(6, 1, &context(1, "Calm Counselor").1)).map(drop)
    });
    let figures = room.read(|read| read.conversation_statistics(conversation_id(1)));
    assert_eq!((figures.messages, figures.user_messages, figures.assistant_messages), (5, 2, 3));
    assert_eq!((figures.started_at, figures.last_activity_at, figures.duration_ms), (Some(at(11)), Some(at(16)), 5));
    assert_eq!((figures.tokens, figures.prompt_tokens, figures.completion_tokens), (51, 2_700, 51));
    let agents: Vec<_> = figures.agents.iter().map(|agent| (agent.name.as_str(), agent.messages)).collect();
    assert_eq!(agents, [("Calm Counselor", 2), ("Other", 1)]);
    room.write(|write| write.insert_conversation(&conversation(2, 1)));
    let empty = room.read(|read| read.conversation_statistics(conversation_id(2)));
    assert_eq!((empty.messages, empty.started_at, empty.agents.len()), (0, None, 0));
    let missing = room.store.read(|read| read.conversation_statistics(conversation_id(9)));
    assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn those_without_a_title_have_two_replies_and_lie_nowhere_else() {
    let room = threads();
    room.write(|write| {
        write.insert_conversation(&conversation(9, 1))?;
        // Every conversation has two replies, but for the sixth, which has one.
        for (at, number) in [1, 2, 3, 4, 5, 6, 7, 8, 9].into_iter().enumerate() {
            let first = at as u64 * 10 + 100;
            for step in 0..(if number == 6 { 2 } else { 4 }) {
                let mut one = message(first + step, (step > 0).then(|| first + step - 1));
                one.conversation_id = conversation_id(number);
                one.role = if step % 2 == 0 { Role::User } else { Role::Assistant };
                write.insert_message(one)?;
            }
        }
        write.title_conversation(conversation_id(5), "By the model")?;
        write.rename_conversation(conversation_id(9), "By the user")
    });
    assert_eq!(room.read(|read| read.untitled_conversations(10)), ids([7, 3, 2, 1]));
    assert_eq!(room.read(|read| read.untitled_conversations(2)), ids([7, 3]));
}
