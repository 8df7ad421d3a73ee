//! Summaries and state: what applies on which branch, what becomes of it when messages go.

use crate::room::{Room, at, context_id, conversation, conversation_id, message, message_id};
use crate::sharing::raw;
use evenkeel_domain::{ErrorCode, MessageId, StateSource, StateValue, StateValueId, Summary, SummaryId, TokenCount};
use evenkeel_store::{NewSummary, StatePlace, StoreError, SummarySource, ToldValue};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed};
use std::collections::{BTreeMap, BTreeSet};

fn random(number: u64) -> [u8; 10] {
    let mut random = [7; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    random
}

fn summary_id(number: u64) -> SummaryId {
    SummaryId::from_parts(at(0), random(number))
}

fn value_id(number: u64) -> StateValueId {
    StateValueId::from_parts(at(0), random(number))
}

/// Reads the numbers in a text as labels.
fn labels(text: &str) -> Vec<u32> {
    text.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn text(number: u64, up_to: u64) -> Summary {
    Summary {
        id: summary_id(number),
        conversation_id: conversation_id(1),
        up_to_id: message_id(up_to),
        message_ids: Vec::new(),
        evidence: Vec::new(),
        text: format!("Notes m1 and m{up_to}"),
        pinned: vec!["a line".into()],
        tokens: TokenCount { tokens: 5, tokenizer: "o200k".into() },
        model: None,
        round: 1,
        created_at: at(5),
        is_edited: false,
        is_stale: false,
    }
}

fn source(at: u64) -> SummarySource {
    SummarySource { place: u32::try_from(at).unwrap(), message_id: message_id(at) }
}

/// Summary `number` of messages `from` to `up_to` and of `previous`.
fn notes(number: u64, from: u64, up_to: u64, previous: Option<u64>) -> NewSummary {
    let messages = (from..=up_to).map(source).collect();
    NewSummary { summary: text(number, up_to), messages, beside: Vec::new(), previous: previous.map(summary_id) }
}

/// Twelve messages in a row; summaries 1 of 1–2, 2 of 3–4 and of 1, 3 of 5–6 and of 2.
fn summarised() -> Room {
    let room = Room::furnished();
    room.write(|write| {
        for number in 1..=12 {
            write.insert_message(message(number, (number > 1).then(|| number - 1)))?;
        }
        assert!(write.insert_summary(&notes(1, 1, 2, None))?);
        assert!(write.insert_summary(&notes(2, 3, 4, Some(1)))?);
        assert!(write.insert_summary(&notes(3, 5, 6, Some(2)))?);
        Ok(())
    });
    room
}

fn applicable(room: &Room, leaf: u64) -> Option<SummaryId> {
    room.read(|read| read.applicable_summary(message_id(leaf))).map(|summary| summary.id)
}

fn standing(room: &Room) -> Vec<(SummaryId, bool)> {
    let all = room.read(|read| read.summaries(conversation_id(1), labels));
    all.into_iter().map(|summary| (summary.id, summary.is_stale)).collect()
}

#[test]
fn the_newest_summary_of_the_branch_applies() {
    let room = summarised();
    for (leaf, expected) in [(12, Some(3)), (6, Some(3)), (5, Some(2)), (3, Some(1)), (1, None)] {
        assert_eq!(applicable(&room, leaf), expected.map(summary_id), "leaf {leaf}");
    }
    // An edit of message 5 makes another branch, which the third does not apply to.
    room.write(|write| write.insert_message(message(13, Some(4))).map(drop));
    assert_eq!((applicable(&room, 13), applicable(&room, 12)), (Some(summary_id(2)), Some(summary_id(3))));
    let third = &room.read(|read| read.summaries(conversation_id(1), labels))[0];
    assert_eq!(third.message_ids, [message_id(5), message_id(6)]);
    let evidence: Vec<_> = third.evidence.iter().map(|evidence| (evidence.label.as_str(), evidence.message_id)).collect();
    assert_eq!(evidence, [("m1", message_id(1)), ("m6", message_id(6))], "also of summaries before it");
    let chain = room.read(|read| read.summary_chain(summary_id(3), labels));
    assert_eq!(chain.iter().map(|summary| summary.id).collect::<Vec<_>>(), [3, 2, 1].map(summary_id));
    assert_eq!(room.read(|read| read.ancestor(message_id(12), 3)), message_id(9));
    assert_eq!(room.read(|read| read.ancestor(message_id(12), 99)), message_id(1));
}

#[test]
fn a_deleted_message_makes_all_that_rests_on_it_stale() {
    let room = summarised();
    room.write(|write| write.delete_message(message_id(3), at(50)));
    assert_eq!(applicable(&room, 12), Some(summary_id(1)));
    assert_eq!(standing(&room), [(summary_id(3), true), (summary_id(2), true), (summary_id(1), false)]);
    room.write(|write| write.restore_message(message_id(3)).map(drop));
    assert_eq!(applicable(&room, 12), Some(summary_id(1)), "what was stale stays so");
    // Forgotten for good, its words go from the summaries too.
    room.write(|write| write.delete_message(message_id(3), at(60)));
    room.write(|write| write.forget_deleted_messages(at(61)).map(drop));
    assert_eq!(standing(&room), [(summary_id(1), false)]);
    let left: String = raw(&room.path())
        .query_row("SELECT group_concat(state || length (text) || pinned, ' ' ORDER BY key) FROM summaries", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, "valid15[\"a line\"] removed0[] removed0[]");
}

#[test]
fn a_summary_is_not_stored_once_its_ground_has_changed() {
    let room = summarised();
    let stored = |new: NewSummary| room.write(|write| write.insert_summary(&new));
    assert!(!stored(notes(8, 5, 6, Some(2))), "its last message has one");
    room.write(|write| write.delete_message(message_id(8), at(50)));
    assert!(!stored(notes(8, 7, 9, Some(3))), "a message was deleted meanwhile");
    room.write(|write| write.delete_message(message_id(5), at(50)));
    assert!(!stored(notes(8, 7, 7, Some(3))), "the one before it is stale");
    assert!(!stored(notes(8, 7, 7, Some(77))), "the one before it is gone");
    assert!(stored(notes(8, 6, 7, Some(2))));
    assert_eq!(applicable(&room, 12), Some(summary_id(8)));
}

#[test]
fn an_edit_takes_the_place_of_what_it_edits() {
    let room = summarised();
    let edited = Summary { text: "Mine".into(), is_edited: true, ..text(9, 4) };
    room.write(|write| write.replace_summary(summary_id(2), &edited));
    assert_eq!((applicable(&room, 5), applicable(&room, 12)), (Some(summary_id(9)), Some(summary_id(9))));
    assert_eq!(standing(&room), [(summary_id(9), false), (summary_id(3), true), (summary_id(1), false)]);
    let again = room.store.write(|write| write.replace_summary(summary_id(2), &text(10, 4))).unwrap_err();
    assert_eq!(again.code(), ErrorCode::NotFound, "it was replaced already");
    // It rests on what the other rested on.
    room.write(|write| write.delete_message(message_id(1), at(50)));
    assert_eq!(applicable(&room, 12), None);
}

#[test]
fn a_removed_summary_takes_along_what_rests_on_it_and_what_it_replaced() {
    let room = summarised();
    room.write(|write| write.replace_summary(summary_id(2), &text(9, 4)));
    assert!(room.write(|write| write.insert_summary(&notes(10, 5, 6, Some(9)))));
    room.write(|write| write.remove_summary(summary_id(9)));
    assert_eq!(standing(&room), [(summary_id(1), false)]);
    assert_eq!(applicable(&room, 12), Some(summary_id(1)));
    let with_text: i64 =
        raw(&room.path()).query_row("SELECT count(*) FROM summaries WHERE text <> ''", [], |row| row.get(0)).unwrap();
    assert_eq!(with_text, 1);
    assert!(room.read(|read| read.summary(summary_id(9), labels)).is_none());
    let again = room.store.write(|write| write.remove_summary(summary_id(9))).unwrap_err();
    assert_eq!(again.code(), ErrorCode::NotFound);
}

#[test]
fn nothing_rewords_a_summary_and_a_conversation_takes_all_along() {
    let room = summarised();
    room.write(|write| tell(write, 12, &[(1, "city", "\"Faro\"", Some(11))]));
    let reword = raw(&room.path()).execute("UPDATE summaries SET text = 'other' WHERE key = 1", []).unwrap_err();
    assert!(reword.to_string().contains("immutable"), "{reword}");
    room.write(|write| write.delete_conversation(conversation_id(1)));
    for table in ["summaries", "summary_messages", "summary_sources", "state_values", "state_reads"] {
        let left: i64 = raw(&room.path()).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

fn place(leaf: u64) -> StatePlace {
    let now = at(100 + i64::try_from(leaf).unwrap());
    StatePlace { context_id: context_id(1), conversation_id: conversation_id(1), leaf: Some(message_id(leaf)), now }
}

fn told(number: u64, name: &str, value: &str, evidence: Option<u64>) -> ToldValue {
    ToldValue { id: value_id(number), name: name.into(), value: value.into(), evidence_id: evidence.map(message_id) }
}

fn tell(
    write: &mut evenkeel_store::WriteHandle<'_>,
    leaf: u64,
    values: &[(u64, &str, &str, Option<u64>)],
) -> Result<(), StoreError> {
    let told: Vec<_> = values.iter().map(|(number, name, value, evidence)| told(*number, name, value, *evidence)).collect();
    write.tell_state(place(leaf), &told, &[message_id(leaf)])
}

fn state(room: &Room, leaf: u64) -> Vec<(String, String)> {
    let state = room.read(|read| read.state(conversation_id(1), Some(message_id(leaf))));
    state.into_iter().map(|value| (value.name, value.value)).collect()
}

fn by_id(room: &Room, number: u64) -> StateValue {
    room.read(|read| read.state_value(value_id(number))).unwrap()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn another_value_supersedes_and_keeps_the_one_before() {
    let room = summarised();
    room.write(|write| tell(write, 3, &[(1, "city", "\"Faro\"", Some(3)), (2, "nights", "3", Some(3))]));
    room.write(|write| tell(write, 5, &[(3, "city", "\"Porto\"", Some(5)), (4, "nights", "3", Some(5))]));
    assert_eq!(state(&room, 5), [pair("city", "\"Porto\""), pair("nights", "3")]);
    let (old, new) = (by_id(&room, 1), by_id(&room, 3));
    assert_eq!((old.valid_to, new.valid_from, new.conflicts_with_id), (Some(at(105)), at(105), Some(value_id(1))));
    assert_eq!(room.read(|read| read.state_history(conversation_id(1))).len(), 3, "the same value is not told twice");
    assert!(room.read(|read| read.is_read_for_state(message_id(5))) && !room.read(|read| read.is_read_for_state(message_id(4))));
    // Before message 5 the older one held, and it does on a branch that message 5 is not on.
    room.write(|write| write.insert_message(message(13, Some(4))).map(drop));
    assert_eq!(state(&room, 13)[0], pair("city", "\"Faro\""));
    assert_eq!(state(&room, 12)[0], pair("city", "\"Porto\""));
}

#[test]
fn a_model_does_not_supersede_what_is_pinned_or_the_users_own() {
    let room = summarised();
    room.write(|write| tell(write, 3, &[(1, "city", "\"Faro\"", Some(3))]));
    room.write(|write| write.pin_state(value_id(1), true));
    room.write(|write| tell(write, 5, &[(2, "city", "\"Porto\"", Some(5))]));
    room.write(|write| tell(write, 7, &[(3, "city", "\"Porto\"", Some(7))]));
    assert_eq!(state(&room, 12), [pair("city", "\"Faro\"")]);
    let suggestion = by_id(&room, 2);
    assert!(suggestion.is_suggestion && suggestion.conflicts_with_id == Some(value_id(1)));
    assert!(room.read(|read| read.state_value(value_id(3))).is_none(), "the same suggestion is made once");
    room.write(|write| write.set_state(place(9), &told(4, "city", "\"Lagos\"", None)));
    room.write(|write| tell(write, 11, &[(5, "city", "\"Evora\"", Some(11))]));
    let own = by_id(&room, 4);
    assert_eq!(
        (own.source, own.is_edited, own.is_pinned, own.conflicts_with_id),
        (StateSource::User, true, true, Some(value_id(1)))
    );
    assert_eq!(state(&room, 12), [pair("city", "\"Lagos\"")]);
    assert!(by_id(&room, 5).is_suggestion);
    room.write(|write| write.set_state(place(12), &told(6, "mood", "true", None)));
    assert!(!by_id(&room, 6).is_edited, "there was nothing to edit");
}

#[test]
fn forgetting_reaches_the_value_and_what_was_before_it() {
    let room = summarised();
    room.write(|write| tell(write, 3, &[(1, "city", "\"Faro\"", Some(3))]));
    room.write(|write| tell(write, 5, &[(2, "city", "\"Porto\"", Some(5)), (3, "nights", "2", Some(5))]));
    room.write(|write| write.forget_state(value_id(2)));
    assert_eq!(state(&room, 12), [pair("nights", "2")]);
    room.write(|write| write.pin_state(value_id(3), true));
    room.write(|write| tell(write, 7, &[(4, "nights", "9", Some(7))]));
    room.write(|write| write.forget_state(value_id(4)));
    assert_eq!(state(&room, 12), [pair("nights", "2")], "a suggestion goes alone");
    assert_eq!(room.store.write(|write| write.forget_state(value_id(4))).unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn a_value_goes_with_the_message_it_was_taken_from() {
    let room = summarised();
    room.write(|write| tell(write, 3, &[(1, "city", "\"Faro\"", Some(3))]));
    room.write(|write| tell(write, 5, &[(2, "city", "\"Porto\"", Some(5))]));
    room.write(|write| write.delete_message(message_id(5), at(50)));
    assert_eq!(state(&room, 12), [pair("city", "\"Faro\"")], "it does not hold while its message is deleted");
    room.write(|write| write.restore_message(message_id(5)).map(drop));
    assert_eq!(state(&room, 12), [pair("city", "\"Porto\"")]);
    room.write(|write| write.delete_message(message_id(5), at(60)));
    room.write(|write| write.forget_deleted_messages(at(61)).map(drop));
    assert!(room.read(|read| read.state_value(value_id(2))).is_none());
    room.write(|write| write.insert_conversation(&conversation(2, 1)));
    assert_eq!(room.read(|read| read.state(conversation_id(2), None)), []);
}

/// What is done to a conversation.
#[derive(Debug, Clone)]
enum Step {
    Say(Index),
    Delete(Index),
    Restore(Index),
    Summarise(Index),
    Edit(Index),
    Remove(Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => any::<Index>().prop_map(Step::Say),
        2 => any::<Index>().prop_map(Step::Delete),
        1 => any::<Index>().prop_map(Step::Restore),
        5 => any::<Index>().prop_map(Step::Summarise),
        1 => any::<Index>().prop_map(Step::Edit),
        1 => any::<Index>().prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the summaries should be, told apart from how the store keeps them.
#[derive(Default)]
struct Model {
    alive: Vec<u64>,
    deleted: Vec<u64>,
    next: u64,
    /// Summary → its last message and all the messages that it rests on.
    grounds: BTreeMap<u64, (MessageId, BTreeSet<MessageId>)>,
    gone: BTreeSet<u64>,
}

impl Model {
    fn some(&self, index: Index) -> Option<u64> {
        (!self.alive.is_empty()).then(|| self.alive[index.index(self.alive.len())])
    }

    fn take(&mut self, room: &Room, step: Step) {
        match step {
            Step::Say(index) => {
                self.next += 1;
                let parent = self.some(index);
                room.write(|write| write.insert_message(message(self.next, parent)).map(drop));
                self.alive.push(self.next);
            }
            Step::Delete(index) => {
                let Some(number) = self.some(index) else { return };
                room.write(|write| write.delete_message(message_id(number), at(50)));
                self.alive.retain(|alive| *alive != number);
                self.deleted.push(number);
                let lost = |(_, ground): &(MessageId, BTreeSet<MessageId>)| ground.contains(&message_id(number));
                self.gone.extend(self.grounds.iter().filter(|(_, entry)| lost(entry)).map(|(number, _)| *number));
            }
            Step::Restore(index) => {
                if self.deleted.is_empty() {
                    return;
                }
                let number = self.deleted.remove(index.index(self.deleted.len()));
                room.write(|write| write.restore_message(message_id(number)).map(drop));
                self.alive.push(number);
                self.doubt(room, message_id(number));
            }
            Step::Summarise(index) => self.summarise(room, index),
            Step::Edit(index) => self.edit(room, index),
            Step::Remove(index) => self.remove(room, index),
        }
    }

    /// What was made without a message and covers its place does not count once that is back.
    fn doubt(&mut self, room: &Room, back: MessageId) {
        for (number, (end, ground)) in &self.grounds {
            if self.gone.contains(number) || ground.contains(&back) {
                continue;
            }
            if room.read(|read| read.path(*end, 99)).iter().any(|message| message.id == back) {
                self.gone.insert(*number);
            }
        }
    }

    /// The newest messages of a branch after its summary, as the service would.
    fn summarise(&mut self, room: &Room, index: Index) {
        let Some(leaf) = self.some(index) else { return };
        let previous = room.read(|read| read.applicable_summary(message_id(leaf)));
        let path: Vec<MessageId> = room.read(|read| read.path(message_id(leaf), 99)).into_iter().map(|one| one.id).collect();
        let after = previous.as_ref().and_then(|known| path.iter().position(|id| *id == known.up_to_id)).map_or(0, |at| at + 1);
        if after == path.len() {
            return;
        }
        let place = |(at, id): (usize, &MessageId)| SummarySource { place: u32::try_from(at + 1).unwrap(), message_id: *id };
        let messages: Vec<SummarySource> = path.iter().enumerate().skip(after).map(place).collect();
        let number = u64::try_from(self.grounds.len()).unwrap() + 1;
        let summary = Summary { up_to_id: message_id(leaf), ..text(number, leaf) };
        let new = NewSummary { summary, messages, beside: Vec::new(), previous: previous.as_ref().map(|known| known.id) };
        assert!(room.write(|write| write.insert_summary(&new)));
        self.grounds.insert(number, (message_id(leaf), path.into_iter().collect()));
    }

    fn standing(&self, index: Index) -> Option<u64> {
        let all: Vec<u64> = self.grounds.keys().copied().filter(|number| !self.gone.contains(number)).collect();
        (!all.is_empty()).then(|| all[index.index(all.len())])
    }

    /// What rests on one: all that were made after it over its last message, and it itself.
    fn resting_on(&self, number: u64) -> Vec<u64> {
        let end = self.grounds[&number].0;
        let rests = |(other, (_, ground)): &(&u64, &(MessageId, BTreeSet<MessageId>))| **other > number && ground.contains(&end);
        self.grounds.iter().filter(rests).map(|(other, _)| *other).chain([number]).collect()
    }

    fn edit(&mut self, room: &Room, index: Index) {
        let Some(number) = self.standing(index) else { return };
        let new = u64::try_from(self.grounds.len()).unwrap() + 1;
        let (end, ground) = self.grounds[&number].clone();
        let edited = Summary { up_to_id: end, is_edited: true, ..text(new, 1) };
        room.write(|write| write.replace_summary(summary_id(number), &edited));
        self.gone.extend(self.resting_on(number));
        self.grounds.insert(new, (end, ground));
    }

    fn remove(&mut self, room: &Room, index: Index) {
        let Some(number) = self.standing(index) else { return };
        room.write(|write| write.remove_summary(summary_id(number)));
        self.gone.extend(self.resting_on(number));
    }
}

proptest! {
    #![proptest_config(Config { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(407), ..Config::default() })]

    /// Whatever is said, deleted, undone, edited and removed on whatever branches: a summary that
    /// applies rests on nothing but messages of that branch, and it is the one that reaches furthest.
    #[test]
    fn no_stale_summary_ever_applies(steps in steps()) {
        let room = Room::furnished();
        let mut model = Model::default();
        for step in steps {
            model.take(&room, step);
            for leaf in &model.alive {
                let path: Vec<MessageId> = room.read(|read| read.path(message_id(*leaf), 99)).into_iter().map(|one| one.id).collect();
                let applies = |(number, (end, _)): &(&u64, &(MessageId, BTreeSet<MessageId>))| {
                    !model.gone.contains(number) && path.contains(end)
                };
                let reach = |(number, (end, _)): &(&u64, &(MessageId, BTreeSet<MessageId>))| {
                    (path.iter().position(|id| id == end), **number)
                };
                let expected = model.grounds.iter().filter(applies).max_by_key(reach);
                let found = room.read(|read| read.applicable_summary(message_id(*leaf)));
                prop_assert_eq!(found.map(|summary| summary.id), expected.map(|(number, _)| summary_id(*number)));
            }
        }
    }
}

#[test]
fn a_message_that_comes_back_below_a_summary_made_without_it_makes_it_stale() {
    let room = Room::furnished();
    room.write(|write| {
        for number in 1..=4 {
            write.insert_message(message(number, (number > 1).then(|| number - 1)))?;
        }
        write.delete_message(message_id(2), at(900))
    });
    let without = NewSummary { messages: [1, 3, 4].map(source).to_vec(), ..notes(1, 1, 4, None) };
    assert!(room.write(|write| write.insert_summary(&without)));
    room.write(|write| write.restore_message(message_id(2)));
    assert_eq!(room.read(|read| read.applicable_summary(message_id(4))), None);
}

#[test]
fn a_summary_goes_with_the_message_that_a_pinned_value_in_it_comes_from() {
    let room = summarised();
    let new = NewSummary { beside: vec![source(11)], ..notes(4, 7, 8, Some(3)) };
    assert!(room.write(|write| write.insert_summary(&new)));
    let stored = room.read(|read| read.summary(summary_id(4), |_| Vec::new())).unwrap();
    assert_eq!(stored.message_ids, [message_id(7), message_id(8)], "it covers what it covered");
    room.write(|write| write.delete_message(message_id(11), at(900)));
    let left = room.read(|read| read.applicable_summary(message_id(12))).unwrap();
    assert_eq!(left.id, summary_id(3));
}
