//! Deleting and bringing back messages, in any order; reading a branch from either end.

use crate::room::{Room, at, conversation, conversation_id, draft, message, message_id};
use evenkeel_domain::{ErrorCode, Message, MessageId};
use evenkeel_store::StoreError;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

fn config(seed: u64) -> Config {
    Config { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Config::default() }
}

fn ids(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().map(|&number| message_id(number)).collect()
}

fn path(room: &Room, leaf: u64) -> Vec<MessageId> {
    room.read(|read| read.path(message_id(leaf), 50)).into_iter().map(|message| message.id).collect()
}

fn delete(room: &Room, number: u64) {
    room.write(|write| write.delete_message(message_id(number), at(900)));
}

fn restore(room: &Room, number: u64) -> Message {
    room.write(|write| write.restore_message(message_id(number)))
}

/// 1 ← 2 ← 3 ← 4, and 5 beside 3.
fn chain() -> Room {
    let room = Room::furnished();
    room.write(|write| {
        for (number, parent) in [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(2))] {
            write.insert_message(message(number, parent))?;
        }
        write.set_active_leaf(conversation_id(1), message_id(4))
    });
    room
}

#[test]
fn a_deletion_is_undone_with_everything_below_it() {
    let room = chain();
    let before = room.read(|read| read.path(message_id(4), 9));
    delete(&room, 2);
    assert_eq!((path(&room, 4), path(&room, 5)), (ids(&[1, 3, 4]), ids(&[1, 5])));
    let deleted = room.read(|read| read.deleted_messages(conversation_id(1)));
    assert_eq!((deleted.len(), deleted[0].id, deleted[0].content.as_str()), (1, message_id(2), "message 2"));
    let back = restore(&room, 2);
    assert_eq!((back.parent_id, back.sibling_ids), (Some(message_id(1)), ids(&[2])));
    assert_eq!(room.read(|read| read.path(message_id(4), 9)), before);
    assert_eq!(room.conversation(1).message_count, 5);
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(4)), "what is shown goes over it already");
    assert_eq!(room.read(|read| read.deleted_messages(conversation_id(1))), []);
}

#[test]
fn the_order_of_undoing_does_not_matter() {
    for order in [[2, 3], [3, 2]] {
        for back in [[2, 3], [3, 2]] {
            let room = chain();
            order.iter().for_each(|&number| delete(&room, number));
            assert_eq!((path(&room, 4), path(&room, 5)), (ids(&[1, 4]), ids(&[1, 5])));
            back.iter().for_each(|&number| drop(restore(&room, number)));
            assert_eq!((path(&room, 4), path(&room, 5)), (ids(&[1, 2, 3, 4]), ids(&[1, 2, 5])), "{order:?} {back:?}");
        }
    }
}

#[test]
fn an_undone_leaf_is_shown_again() {
    let room = chain();
    delete(&room, 4);
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(3)));
    restore(&room, 4);
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(4)));
    [5, 4, 3, 2, 1].iter().for_each(|&number| delete(&room, number));
    assert_eq!(room.conversation(1).active_leaf_id, None);
    assert_eq!(restore(&room, 3).parent_id, None);
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(3)));
}

#[test]
fn a_deleted_messages_place_is_not_given_away() {
    let room = chain();
    delete(&room, 5);
    room.write(|write| write.insert_message(message(9, Some(2))));
    assert_eq!(restore(&room, 5).sibling_ids, ids(&[3, 5, 9]), "in order of birth");
}

#[test]
fn what_is_forgotten_cannot_be_undone_and_those_below_find_the_next() {
    let room = chain();
    room.write(|write| {
        write.delete_message(message_id(2), at(100))?;
        write.delete_message(message_id(3), at(200))?;
        write.forget_deleted_messages(at(150))
    });
    let code = |result: Result<Message, StoreError>| result.unwrap_err().code();
    assert_eq!(code(room.store.write(|write| write.restore_message(message_id(2)))), ErrorCode::NotFound);
    assert_eq!(code(room.store.write(|write| write.restore_message(message_id(1)))), ErrorCode::NotFound);
    assert_eq!(restore(&room, 3).parent_id, Some(message_id(1)));
    assert_eq!(path(&room, 4), ids(&[1, 3, 4]));
    assert_eq!(room.write(|write| write.forget_deleted_messages(at(9_000))), 0);
}

#[test]
fn a_message_is_not_reworded_even_from_outside() {
    let room = chain();
    let outside = crate::sharing::raw(&room.path());
    outside.execute("UPDATE messages SET content = 'x'", []).expect_err("content");
    outside.execute("UPDATE messages SET role = 'user'", []).expect_err("role");
    outside.execute("UPDATE messages SET metadata = '{}'", []).unwrap();
    assert_eq!(room.read(|read| read.message(message_id(1))).unwrap().content, "message 1");
}

#[test]
fn a_draft_below_a_deleted_message_stays_whole() {
    let room = chain();
    room.write(|write| write.put_draft(&draft(8, 4, "half", 1)));
    delete(&room, 4);
    restore(&room, 4);
    let recovered = room.write(|write| write.recover_drafts(at(950), |_| true));
    assert_eq!(recovered[0].id, message_id(8));
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[derive(Debug, Clone)]
enum Step {
    Add(Index),
    Root,
    Delete(Index),
    Restore(Index),
    Forget,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => any::<Index>().prop_map(Step::Add),
        1 => Just(Step::Root),
        5 => any::<Index>().prop_map(Step::Delete),
        4 => any::<Index>().prop_map(Step::Restore),
        1 => Just(Step::Forget),
    ];
    prop::collection::vec(step, 1..70)
}

/// The tree of birth, and what of it is deleted.
#[derive(Default)]
struct Model {
    births: BTreeMap<MessageId, Option<MessageId>>,
    deleted: BTreeSet<MessageId>,
}

impl Model {
    fn there(&self) -> Vec<MessageId> {
        self.births.keys().filter(|id| !self.deleted.contains(id)).copied().collect()
    }
    /// The nearest ancestor of birth that is there.
    fn parent(&self, id: MessageId) -> Option<MessageId> {
        let mut at = self.births[&id];
        while let Some(parent) = at.filter(|parent| self.deleted.contains(parent)) {
            at = self.births[&parent];
        }
        at
    }
    fn path(&self, id: MessageId) -> Vec<MessageId> {
        let mut path: Vec<_> = std::iter::successors(Some(id), |&id| self.parent(id)).collect();
        path.reverse();
        path
    }
    fn forget(&mut self) {
        for id in std::mem::take(&mut self.deleted) {
            let parent = self.births.remove(&id).unwrap();
            self.births.values_mut().filter(|birth| **birth == Some(id)).for_each(|birth| *birth = parent);
        }
    }
}

fn run(room: &Room, steps: &[Step], number: u64) -> Model {
    let mut model = Model::default();
    room.write(|write| {
        write.insert_conversation(&conversation(number, 1))?;
        for (step, born) in steps.iter().zip(number * 1_000..) {
            let (there, gone) = (model.there(), model.deleted.iter().copied().collect::<Vec<_>>());
            let pick = |index: &Index, from: &[MessageId]| (!from.is_empty()).then(|| *index.get(from));
            match step {
                Step::Add(_) | Step::Root => {
                    let parent = if let Step::Add(index) = step { pick(index, &there) } else { None };
                    let mut one = message(born, None);
                    (one.conversation_id, one.parent_id) = (conversation_id(number), parent);
                    write.insert_message(one)?;
                    model.births.insert(message_id(born), parent);
                }
                Step::Delete(index) => {
                    if let Some(id) = pick(index, &there) {
                        write.delete_message(id, at(900))?;
                        model.deleted.insert(id);
                    }
                }
                Step::Restore(index) => {
                    if let Some(id) = pick(index, &gone) {
                        write.restore_message(id)?;
                        model.deleted.remove(&id);
                    }
                }
                Step::Forget => {
                    write.forget_deleted_messages(at(901))?;
                    model.forget();
                }
            }
        }
        Ok(())
    });
    model
}

fn compare(room: &Room, model: &Model, number: u64) {
    let there = model.there();
    let shown = room.conversation(number);
    assert_eq!(shown.message_count as usize, there.len());
    assert!(shown.active_leaf_id.map_or(there.is_empty(), |leaf| there.contains(&leaf)));
    room.read(|read| {
        for &id in &there {
            let expected = model.path(id);
            let path: Vec<_> = read.path(id, 1_000)?.into_iter().map(|one| one.id).collect();
            assert_eq!(path, expected);
            assert_eq!(read.branch_length(id)? as usize, expected.len(), "the depth is right");
            let siblings: Vec<_> = there.iter().copied().filter(|&one| model.parent(one) == model.parent(id)).collect();
            assert_eq!(read.siblings(id)?, siblings, "ids here grow with birth");
            let start: Vec<_> = read.path_from_start(id, 3)?.into_iter().map(|one| one.id).collect();
            assert_eq!(start, expected[..expected.len().min(3)]);
        }
        for id in &model.deleted {
            assert_eq!(read.message(*id)?, None);
        }
        Ok(())
    });
}

/// The index against the messages, by the index's own check.
fn index_is_sound(room: &Room) {
    let outside = crate::sharing::raw(&room.path());
    outside.execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)", []).unwrap();
}

#[test]
fn any_order_of_deleting_and_bringing_back_gives_the_tree_of_birth_without_the_deleted() {
    let room = Room::furnished();
    let number = AtomicU64::new(2);
    proptest!(config(21), |(steps in steps())| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let model = run(&room, &steps, number);
        compare(&room, &model, number);
    });
    index_is_sound(&room);
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_branch_is_read_from_either_end() {
    let room = chain();
    let after = |number, limit| {
        room.read(|read| read.path_after(message_id(number), limit)).into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    assert_eq!((after(1, 9), after(1, 2), after(4, 9)), (ids(&[2, 3, 4]), ids(&[2, 3]), vec![]));
    room.write(|write| write.set_active_leaf(conversation_id(1), message_id(5)));
    assert_eq!((after(1, 9), after(3, 9)), (ids(&[2, 5]), ids(&[4])));
    let start = room.read(|read| read.path_from_start(message_id(3), 9));
    assert_eq!(start.iter().map(|one| one.id).collect::<Vec<_>>(), ids(&[1, 2, 3]), "no further than its end");
    assert_eq!(start[2].sibling_ids, ids(&[3, 5]));
    assert_eq!(room.store.read(|read| read.path_after(message_id(99), 1)).unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(room.store.read(|read| read.path_from_start(message_id(99), 1)).unwrap_err().code(), ErrorCode::NotFound);
}

#[derive(Debug, Clone)]
struct Meanwhile {
    adds: u64,
    delete: Index,
}

fn meanwhile() -> impl Strategy<Value = Vec<Meanwhile>> {
    prop::collection::vec((0..3_u64, any::<Index>()).prop_map(|(adds, delete)| Meanwhile { adds, delete }), 60)
}

/// Between two pages something is added at the end and something is deleted, other than the message
/// that the next page goes on from.
fn change(room: &Room, meanwhile: &Meanwhile, cursor: MessageId, next: &mut u64, gone: &mut BTreeSet<MessageId>) {
    let leaf = room.conversation(1).active_leaf_id;
    let whole = room.read(|read| read.path(leaf.unwrap(), 1_000));
    room.write(|write| {
        let victim = meanwhile.delete.get(&whole).id;
        if victim != cursor {
            write.delete_message(victim, at(900))?;
            gone.insert(victim);
        }
        Ok(())
    });
    for _ in 0..meanwhile.adds {
        *next += 1;
        let parent = room.conversation(1).active_leaf_id;
        let mut one = message(*next, None);
        one.parent_id = parent;
        room.write(|write| write.insert_message(one.clone()));
    }
}

proptest! {
    #![proptest_config(Config { cases: 16, ..config(31) })]

    #[test]
    fn pages_hold_each_message_once_whatever_happens_meanwhile(changes in meanwhile(), page in 1..9_u32, down in any::<bool>()) {
        let room = Room::furnished();
        room.write(|write| {
            for n in 1..=60 {
                write.insert_message(message(n, (n > 1).then(|| n - 1)))?;
            }
            Ok(())
        });
        let (mut next, mut gone, mut seen) = (60, BTreeSet::new(), Vec::new());
        let first = if down { message_id(1) } else { message_id(60) };
        let mut cursor = first;
        for meanwhile in &changes {
            let found = room.read(|read| if down { read.path_after(cursor, page) } else { read.path_before(cursor, page) });
            let Some(end) = (if down { found.last() } else { found.first() }) else { break };
            cursor = end.id;
            seen.extend(found.iter().map(|one| one.id));
            change(&room, meanwhile, cursor, &mut next, &mut gone);
        }
        prop_assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "none twice");
        let original: Vec<_> = (1..=60).map(message_id).filter(|id| *id != first && !gone.contains(id)).collect();
        let finished = if down { !seen.is_empty() && seen.contains(original.last().unwrap_or(&first)) } else { true };
        if finished {
            prop_assert!(original.iter().all(|id| seen.contains(id)), "all that stayed were seen");
        }
    }
}

#[test]
fn which_program_wrote_a_message_stays_known() {
    let room = Room::furnished();
    let said = Message { source: Some("A \"program\"".into()), ..message(1, None) };
    room.write(|write| write.insert_message(said.clone()));
    let source = || room.read(|read| read.message(message_id(1))).and_then(|message| message.source);
    assert_eq!(source(), said.source);
    room.write(|write| write.delete_message(message_id(1), at(100)));
    assert_eq!(room.read(|read| read.deleted_messages(conversation_id(1)))[0].source, said.source);
    room.write(|write| write.restore_message(message_id(1)));
    assert_eq!(source(), said.source);
}
