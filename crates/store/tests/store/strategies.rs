//! What installed strategies want to know again: by branch and context, a few of the newest, and gone with what it was made of.

use crate::room::{Room, at, context, full_reply, message, message_id};
use evenkeel_domain::{ContextId, Message};
use serde_json::{Value, json};

const PLUGIN: &str = "example";

/// Messages 1 to `count` of one branch; every second is a reply.
fn branch(count: u64) -> (Room, ContextId) {
    let room = Room::furnished();
    let (one, revision) = context(1, "Calm Counselor");
    let made = (1..=count).map(|number| {
        if number % 2 == 0 {
            full_reply(number, number - 1, &revision)
        } else {
            message(number, (number > 1).then(|| number - 1))
        }
    });
    room.write(|write| made.into_iter().try_for_each(|message: Message| write.insert_message(message).map(drop)));
    (room, one.id)
}

fn put(room: &Room, reply: u64) {
    room.write(|write| write.put_strategy_state((message_id(reply - 1), message_id(reply)), PLUGIN, &json!(reply)));
}

fn left(room: &Room, leaf: u64, context: ContextId) -> Option<Value> {
    room.read(|read| read.strategy_state(message_id(leaf), context, PLUGIN))
}

#[test]
fn a_state_belongs_to_the_branch_and_the_context_it_was_told_of() {
    let (room, one) = branch(4);
    put(&room, 2);
    put(&room, 4);
    room.write(|write| write.insert_message(message(5, Some(2))).map(drop));
    assert_eq!(left(&room, 4, one), Some(json!(4)));
    assert_eq!(left(&room, 5, one), Some(json!(2)), "another branch goes on with what was known where it left");
    assert_eq!(left(&room, 1, one), None);
    assert_eq!(left(&room, 4, crate::room::context_id(2)), None);
    assert_eq!(room.read(|read| read.strategy_state(message_id(4), one, "another")), None);
    room.write(|write| write.put_strategy_state((message_id(98), message_id(99)), PLUGIN, &json!(1)));
    room.write(|write| write.delete_strategy_states(PLUGIN));
    assert_eq!(left(&room, 4, one), None);
}

#[test]
fn the_newest_few_are_kept() {
    let (room, one) = branch(60);
    (1..=30).for_each(|turn| put(&room, turn * 2));
    assert_eq!(left(&room, 60, one), Some(json!(60)));
    assert_eq!(left(&room, 30, one), Some(json!(30)));
    assert_eq!(left(&room, 28, one), None, "16 are kept");
}

#[test]
fn all_of_a_conversation_go_with_a_message_of_it() {
    let (room, one) = branch(4);
    put(&room, 2);
    room.write(|write| write.delete_message(message_id(4), at(900)));
    assert_eq!(left(&room, 2, one), None);
    // A strategy that was told of the message before it went leaves nothing afterwards.
    room.write(|write| write.delete_message(message_id(1), at(901)));
    put(&room, 2);
    assert_eq!(left(&room, 2, one), None);
}
