//! Candidates for recall: found whatever their endings, and only where they may be found.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, message, message_id, model};
use evenkeel_domain::{Citation, Meaning, Message, MessageId, RecallFound, RecallWish, RecallWord};

/// A word with a few endings.
fn word(stem: &str) -> RecallWord {
    let forms = ["", "s", "ed", "ing"].map(|ending| format!("{stem}{ending}")).to_vec();
    RecallWord { stem: stem.into(), forms, weight: 1.0 }
}

fn wish(stems: &[&str]) -> RecallWish {
    RecallWish {
        words: stems.iter().map(|stem| word(stem)).collect(),
        contexts: vec![context_id(1)],
        with_local_only: true,
        ..RecallWish::default()
    }
}

fn said(number: u64, parent: Option<u64>, text: &str) -> Message {
    Message { content: text.into(), ..message(number, parent) }
}

/// The same in another conversation of another context.
fn elsewhere(number: u64, conversation: u64, context: u64, text: &str) -> Message {
    Message { conversation_id: conversation_id(conversation), context_id: context_id(context), ..said(number, None, text) }
}

fn found(room: &Room, wish: &RecallWish) -> RecallFound {
    room.read(|read| read.recall_candidates(wish))
}

fn ids(found: &RecallFound) -> Vec<MessageId> {
    found.candidates.iter().map(|one| one.message_id).collect()
}

fn numbers(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().map(|&number| message_id(number)).collect()
}

fn add(room: &Room, messages: impl IntoIterator<Item = Message>) {
    room.write(|write| messages.into_iter().try_for_each(|one| write.insert_message(one).map(drop)));
}

/// Contexts 1 and 2, the second not local only, with conversations 1 and 2.
fn two() -> Room {
    let room = Room::furnished();
    let (other, revision) = context(2, "Other");
    let other = evenkeel_domain::Context { local_only: false, ..other };
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_conversation(&conversation(2, 2))
    });
    room
}

#[test]
fn words_are_found_whatever_their_ending_and_neighbours_come_along() {
    let room = Room::furnished();
    add(
        &room,
        [
            said(1, None, "before"),
            said(2, Some(1), "where did you camp?"),
            said(3, Some(2), "by the lake"),
            said(4, Some(3), "nothing of it"),
            said(5, Some(4), "the campaign"),
            said(6, Some(5), "we CAMPED again"),
        ],
    );
    let all = found(&room, &wish(&["camp"]));
    assert_eq!((ids(&all), all.messages, all.frequencies.clone()), (numbers(&[1, 2, 3, 5, 6]), 6, vec![2]));
    let reply = &all.candidates[1];
    assert_eq!((reply.parent_id, reply.conversation_id, reply.created_at), (Some(message_id(1)), conversation_id(1), at(12)));
    assert_eq!(ids(&found(&room, &wish(&["nowhere"]))), []);
    assert_eq!(found(&room, &RecallWish { contexts: vec![context_id(9)], ..wish(&["camp"]) }), RecallFound::default());
}

#[test]
fn nothing_in_a_word_is_an_operator() {
    let room = Room::furnished();
    add(&room, [said(1, None, "a camp")]);
    let mut odd = wish(&["camp"]);
    odd.words.push(RecallWord { stem: "x".into(), forms: vec!["\" OR *".into(), "NEAR(a".into(), "\0".into()], weight: 1.0 });
    assert_eq!(ids(&found(&room, &odd)), numbers(&[1]));
}

#[test]
fn writings_without_spaces_are_found_in_the_texts() {
    let room = Room::furnished();
    add(&room, [said(1, None, "東京の海は静かです"), said(2, Some(1), "はい"), said(3, Some(2), "京都")]);
    let piece = RecallWord { stem: "東京".into(), forms: Vec::new(), weight: 1.0 };
    let all = found(&room, &RecallWish { words: vec![piece], ..wish(&[]) });
    assert_eq!((ids(&all), all.frequencies), (numbers(&[1, 2]), vec![1]));
}

#[test]
fn other_contexts_are_looked_through_only_where_they_are_linked() {
    let room = two();
    add(&room, [said(1, None, "a camp"), elsewhere(2, 2, 2, "a camp")]);
    assert_eq!(ids(&found(&room, &wish(&["camp"]))), numbers(&[1]));
    let linked = RecallWish { contexts: vec![context_id(1), context_id(2)], ..wish(&["camp"]) };
    assert_eq!(ids(&found(&room, &linked)), numbers(&[1, 2]));
    // Where the model runs elsewhere, the words of a context that is local only are left out.
    assert_eq!(ids(&found(&room, &RecallWish { with_local_only: false, ..linked })), numbers(&[2]));
    // The conversation that the question stands in is looked through, whosever it is.
    let here = RecallWish { here: Some((conversation_id(2), Some(message_id(2)))), ..wish(&["camp"]) };
    assert_eq!(ids(&found(&room, &here)), numbers(&[1, 2]));
}

#[test]
fn nothing_is_found_in_the_trash_deleted_or_sent_anyway() {
    let room = two();
    add(
        &room,
        [said(1, None, "a camp"), said(2, Some(1), "two camps"), said(3, Some(2), "the camping"), elsewhere(4, 2, 2, "camp")],
    );
    let both = RecallWish { contexts: vec![context_id(1), context_id(2)], ..wish(&["camp"]) };
    assert_eq!(ids(&found(&room, &RecallWish { without: numbers(&[1, 3]), ..both.clone() })), numbers(&[2, 4]));
    room.write(|write| write.delete_message(message_id(2), at(900)));
    assert_eq!(ids(&found(&room, &both)), numbers(&[1, 3, 4]));
    room.write(|write| write.trash_conversations(&[conversation_id(1)], at(900)));
    assert_eq!(ids(&found(&room, &both)), numbers(&[4]));
    room.write(|write| write.trash_context(context_id(2), at(900)));
    assert_eq!(ids(&found(&room, &both)), []);
}

#[test]
fn only_branches_that_are_shown_are_looked_through() {
    let room = Room::furnished();
    // 1 – 2 – 3, and 1 – 4 – 5, which is shown.
    add(
        &room,
        [
            said(1, None, "camp 1"),
            said(2, Some(1), "camp 2"),
            said(3, Some(2), "camp 3"),
            said(4, Some(1), "camp 4"),
            said(5, Some(4), "camp 5"),
        ],
    );
    assert_eq!(ids(&found(&room, &wish(&["camp"]))), numbers(&[1, 4, 5]));
    room.write(|write| write.set_active_leaf(conversation_id(1), message_id(3)));
    assert_eq!(ids(&found(&room, &wish(&["camp"]))), numbers(&[1, 2, 3]));
    // An edit follows another message than the shown one: its branch counts.
    let at_fork = |leaf| RecallWish { here: Some((conversation_id(1), leaf)), ..wish(&["camp"]) };
    assert_eq!(ids(&found(&room, &at_fork(Some(message_id(1))))), numbers(&[1]));
    assert_eq!(ids(&found(&room, &at_fork(None))), []);
}

#[test]
fn what_was_found_by_its_meaning_is_a_candidate_under_the_same_rules() {
    let room = two();
    add(&room, [said(1, None, "a tent"), elsewhere(2, 2, 2, "a tent")]);
    let near = RecallWish { nearest: numbers(&[2, 1, 77]), ..wish(&["camp"]) };
    assert_eq!(ids(&found(&room, &near)), numbers(&[1]));
}

#[test]
fn meanings_go_with_their_messages() {
    let room = two();
    add(&room, [said(1, None, "a tent"), said(2, Some(1), " \n"), said(3, Some(2), "a boat"), elsewhere(4, 2, 2, "a car")]);
    let one = model(1);
    let missing = |elsewhere| room.read(|read| read.messages_without_meaning(context_id(1), &one, elsewhere, 9));
    assert_eq!(missing(false), [(message_id(3), "a boat".to_owned()), (message_id(1), "a tent".to_owned())]);
    assert_eq!(missing(true), [], "context 1 is local only");
    let meaning = |value| Meaning::of(&[1.0, value]).unwrap();
    let learnt = [(message_id(1), meaning(0.5)), (message_id(3), meaning(-1.0)), (message_id(77), meaning(0.0))];
    room.write(|write| write.put_meanings(&one, &learnt));
    let kept = |number| room.read(|read| read.meanings(context_id(1), &model(number), 9));
    assert_eq!(kept(1), [learnt[1].clone(), learnt[0].clone()]);
    assert_eq!((kept(2), missing(false)), (vec![], vec![]));
    room.write(|write| write.delete_message(message_id(3), at(900)));
    assert_eq!(kept(1), [learnt[0].clone()]);
    room.write(|write| write.restore_message(message_id(3)).map(drop));
    assert_eq!(missing(false), [(message_id(3), "a boat".to_owned())]);
    // Another model takes the place.
    room.write(|write| write.put_meanings(&model(2), &[(message_id(1), meaning(2.0))]));
    assert_eq!((kept(1), kept(2).len()), (vec![], 1), "the name of both models is the same, the provider is not");
}

#[test]
fn a_reply_keeps_what_it_had_before_it_as_long_as_that_is_there() {
    let room = two();
    add(&room, [said(1, None, "my sister\nlives in Bergen"), elsewhere(2, 2, 2, "a camp")]);
    let cite = |number, conversation, text: &str, millis| {
        Citation::of(message_id(number), conversation_id(conversation), text, at(millis))
    };
    let cited = vec![cite(2, 2, "a camp", 12), cite(1, 1, "my sister lives in Bergen", 11)];
    let reply = Message { citations: cited.clone(), ..said(4, Some(1), "In Bergen.") };
    assert_eq!(room.write(|write| write.insert_message(reply)).citations, cited);
    let shown = || {
        room.read(|read| {
            Ok((read.message(message_id(4))?.unwrap().citations, read.path(message_id(4), 9)?.pop().unwrap().citations))
        })
    };
    assert_eq!(shown(), (cited.clone(), cited.clone()));
    let json = room.read(|read| read.message_metadata(message_id(4))).unwrap();
    assert!(json.starts_with("{\"citations\":[{\"conversationId\":\""), "{json}");
    room.write(|write| write.trash_conversations(&[conversation_id(2)], at(900)));
    assert_eq!(shown().0, cited[1..]);
    room.write(|write| write.delete_message(message_id(1), at(901)));
    assert_eq!(shown().0, []);
}

#[test]
fn what_others_say_of_a_word_does_not_hide_what_was_said_here() {
    let room = two();
    add(&room, [said(1, None, "the old camp")]);
    // More of them, and newer, than are read of the index for one word.
    add(&room, (2..5_002).map(|number| elsewhere(number, 2, 2, "a camp")));
    add(&room, [said(6_000, Some(1), "the end of it")]);
    assert!(ids(&found(&room, &wish(&["camp"]))).contains(&message_id(1)));
}
