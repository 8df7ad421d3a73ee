//! The tree of messages against a plain model of it.

use crate::room::{Room, at, conversation, conversation_id, message, message_id};
use evenkeel_domain::MessageId;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::sync::atomic::{AtomicU64, Ordering};

fn ids(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().map(|&number| message_id(number)).collect()
}

/// 1 ← 2 ← 3 ← 4, and 5 beside 2 with 6 below it.
fn branched() -> Room {
    let room = Room::furnished();
    room.store
        .write(|write| {
            for (number, parent) in [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(1)), (6, Some(5))] {
                write.insert_message(message(number, parent))?;
            }
            Ok(())
        })
        .unwrap();
    room
}

fn path(room: &Room, leaf: u64, limit: u32) -> Vec<MessageId> {
    room.store.read(|read| read.path(message_id(leaf), limit)).unwrap().into_iter().map(|message| message.id).collect()
}

#[test]
fn a_path_is_the_newest_of_its_branch_oldest_first() {
    let room = branched();
    assert_eq!(path(&room, 4, 50), ids(&[1, 2, 3, 4]));
    assert_eq!(path(&room, 4, 2), ids(&[3, 4]));
    assert_eq!(path(&room, 6, 50), ids(&[1, 5, 6]));
    assert_eq!(path(&room, 6, 0), []);
    let above = room.store.read(|read| read.path_before(message_id(3), 1)).unwrap();
    assert_eq!(above[0].id, message_id(2));
    assert_eq!(above[0].sibling_ids, ids(&[2, 5]));
    assert_eq!(room.store.read(|read| read.path_before(message_id(1), 5)).unwrap(), []);
    assert_eq!(room.store.read(|read| read.branch_length(message_id(4))).unwrap(), 4);
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(6)));
}

#[test]
fn a_branch_switch_leads_to_the_newest_end() {
    let room = branched();
    let leaf = |number| room.store.read(|read| read.deepest_leaf(message_id(number))).unwrap();
    assert_eq!((leaf(1), leaf(2), leaf(4)), (message_id(6), message_id(4), message_id(4)));
    assert_eq!(room.store.read(|read| read.siblings(message_id(5))).unwrap(), ids(&[2, 5]));
    room.store.write(|write| write.set_active_leaf(conversation_id(1), message_id(4))).unwrap();
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(4)));
}

#[test]
fn deleting_the_shown_leaf_shows_the_nearest_branch() {
    let room = branched();
    let delete = |number| room.store.write(|write| write.delete_message(message_id(number), at(700))).unwrap();
    let shown = || room.conversation(1).active_leaf_id;
    delete(6);
    assert_eq!(shown(), Some(message_id(5)));
    delete(5);
    assert_eq!(shown(), Some(message_id(4)), "the branch of its sibling");
    delete(1);
    assert_eq!((path(&room, 4, 9), shown()), (ids(&[2, 3, 4]), Some(message_id(4))));
    for number in [2, 3, 4] {
        delete(number);
    }
    assert_eq!((shown(), room.conversation(1).message_count), (None, 0));
}

#[test]
fn deleting_a_first_message_leaves_a_draft_below_it_whole() {
    let room = Room::furnished();
    room.store
        .write(|write| {
            write.insert_message(message(1, None))?;
            write.put_draft(&crate::room::draft(2, 1, "half", 1))?;
            write.delete_message(message_id(1), at(700))?;
            write.recover_drafts(crate::room::at(900), |_| true)
        })
        .unwrap();
    assert_eq!(path(&room, 2, 9), ids(&[2]));
    assert_eq!(room.conversation(1).active_leaf_id, Some(message_id(2)));
}

#[test]
fn a_ring_of_parents_in_a_damaged_file_ends_every_walk() {
    let room = branched();
    let outside = crate::sharing::raw(&room.path());
    let bytes = |number| message_id(number).uuid().into_bytes();
    outside.execute("UPDATE messages SET parent_id = ?1 WHERE id = ?2", (bytes(4), bytes(1))).unwrap();
    assert_eq!(path(&room, 4, 1_000_000), ids(&[1, 2, 3, 4]));
    assert_eq!(room.store.read(|read| read.deepest_leaf(message_id(4))).unwrap(), message_id(4));
    room.store.write(|write| write.delete_message(message_id(3), at(700))).unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    Add(prop::sample::Index),
    Root,
    Delete(prop::sample::Index),
    Show(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => any::<prop::sample::Index>().prop_map(Step::Add),
        1 => Just(Step::Root),
        3 => any::<prop::sample::Index>().prop_map(Step::Delete),
        1 => any::<prop::sample::Index>().prop_map(Step::Show),
    ];
    prop::collection::vec(step, 1..60)
}

/// The tree as a list in order of birth.
#[derive(Default)]
struct Model {
    nodes: Vec<(MessageId, Option<MessageId>)>,
}

impl Model {
    fn parent(&self, id: MessageId) -> Option<MessageId> {
        self.nodes.iter().find(|node| node.0 == id).unwrap().1
    }
    fn children(&self, parent: Option<MessageId>) -> Vec<MessageId> {
        self.nodes.iter().filter(|node| node.1 == parent).map(|node| node.0).collect()
    }
    fn path(&self, leaf: MessageId) -> Vec<MessageId> {
        let mut path: Vec<_> = std::iter::successors(Some(leaf), |&id| self.parent(id)).collect();
        path.reverse();
        path
    }
    fn deepest(&self, id: MessageId) -> MessageId {
        self.children(Some(id)).last().map_or(id, |&child| self.deepest(child))
    }
    fn delete(&mut self, id: MessageId) {
        let parent = self.parent(id);
        self.nodes.retain(|node| node.0 != id);
        for node in &mut self.nodes {
            if node.1 == Some(id) {
                node.1 = parent;
            }
        }
    }
}

fn run(room: &Room, steps: &[Step], number: u64) -> Model {
    let mut model = Model::default();
    room.store
        .write(|write| {
            write.insert_conversation(&conversation(number, 1))?;
            for (step, place) in steps.iter().zip(0..) {
                // Ids that a machine with a wrong clock made are in any order; here in that of birth or the other way round.
                let born = number * 1_000 + if number.is_multiple_of(2) { place } else { 999 - place };
                let pick = |index: &prop::sample::Index| (!model.nodes.is_empty()).then(|| index.get(&model.nodes).0);
                match step {
                    Step::Add(_) | Step::Root => {
                        let parent = if let Step::Add(index) = step { pick(index) } else { None };
                        let mut message = message(born, None);
                        (message.conversation_id, message.parent_id) = (conversation_id(number), parent);
                        let siblings = write.insert_message(message)?.sibling_ids;
                        model.nodes.push((message_id(born), parent));
                        assert_eq!(siblings, model.children(parent));
                    }
                    Step::Delete(index) => {
                        if let Some(id) = pick(index) {
                            write.delete_message(id, at(700))?;
                            model.delete(id);
                        }
                    }
                    Step::Show(index) => {
                        if let Some(id) = pick(index) {
                            write.set_active_leaf(conversation_id(number), id)?;
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    model
}

fn compare(room: &Room, model: &Model, number: u64) {
    let conversation = room.conversation(number);
    assert_eq!(conversation.message_count as usize, model.nodes.len());
    let opened = room.store.read(|read| read.conversation_at_newest(conversation.id, 4)).unwrap().unwrap();
    let page = conversation.active_leaf_id.map(|leaf| room.store.read(|read| read.path(leaf, 4)).unwrap());
    assert_eq!(opened, (conversation.clone(), page.unwrap_or_default()));
    let shown = conversation.active_leaf_id;
    assert!(shown.map_or(model.nodes.is_empty(), |leaf| model.nodes.iter().any(|node| node.0 == leaf)), "{shown:?}");
    room.store
        .read(|read| {
            for &(id, parent) in &model.nodes {
                let expected = model.path(id);
                let whole = read.path(id, 1_000)?;
                assert_eq!(whole.iter().map(|one| one.id).collect::<Vec<_>>(), expected);
                for one in &whole {
                    assert_eq!(one.sibling_ids, model.children(model.parent(one.id)));
                }
                let short = read.path(id, 3)?;
                assert_eq!(short, whole[whole.len() - short.len()..]);
                assert_eq!(short.len(), whole.len().min(3));
                assert_eq!(read.branch_length(id)? as usize, expected.len());
                assert_eq!(read.path_before(id, 1_000)?, whole[..whole.len() - 1]);
                for (from, limit) in [(None, 1_000), (None, 3), (Some(expected[expected.len() / 2]), 1_000)] {
                    let texts = read.branch_texts(id, from, limit)?;
                    let begin = from.map_or(0, |_| expected.len() / 2).max(expected.len().saturating_sub(limit as usize));
                    assert_eq!(texts.iter().map(|text| text.id).collect::<Vec<_>>(), expected[begin..]);
                }
                assert_eq!(read.siblings(id)?, model.children(parent));
                assert_eq!(read.deepest_leaf(id)?, model.deepest(id));
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_order_of_branching_and_deleting_gives_the_modelled_tree() {
    let room = Room::furnished();
    let number = AtomicU64::new(2);
    let config = Config { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..Config::default() };
    proptest!(config, |(steps in steps())| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let model = run(&room, &steps, number);
        compare(&room, &model, number);
    });
    assert_eq!(room.store.full_check().unwrap(), Vec::<String>::new());
}
