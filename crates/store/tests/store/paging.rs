//! Lists read part by part while others come and go.

use crate::room::{Room, at, context, context_id, conversation, conversation_id};
use evenkeel_domain::{ContextQuery, ContextSort, ConversationQuery};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::collections::BTreeSet;

/// Items that are there at the beginning.
const FIRST: u64 = 12;
/// Items that a step can be about.
const ALL: u64 = 20;

/// What somebody else does between two parts, to item `.1`.
type Step = (Does, u64);

#[derive(Debug, Clone, Copy)]
enum Does {
    Add,
    Trash,
    Restore,
    Purge,
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let does = prop::sample::select(vec![Does::Add, Does::Trash, Does::Restore, Does::Purge]);
    prop::collection::vec(prop::collection::vec((does, 0..ALL), 0..4), 0..14)
}

fn conversations_step(room: &Room, (does, number): Step) {
    let (id, some_time) = (conversation_id(number), i64::try_from(number % 4).unwrap());
    let done = room.store.write(|write| match does {
        Does::Add => {
            let mut one = conversation(number, 1 + number % 2);
            // Many share a time: then the id decides.
            (one.is_pinned, one.last_activity_at) = (number % 5 == 0, at(some_time));
            write.insert_conversation(&one)
        }
        Does::Trash => write.trash_conversations(&[id], at(50)).map(drop),
        Does::Restore => write.restore_conversations(&[id]).map(drop),
        Does::Purge => write.delete_conversation(id),
    });
    // One that is there already, or gone, stays as it is.
    drop(done);
}

fn contexts_step(room: &Room, (does, number): Step) {
    let id = context_id(number);
    let some_time = i64::try_from(number % 4).unwrap();
    let (mut one, revision) = context(number, ["Anna", "bert", "Ärger", "anna"][usize::try_from(number % 4).unwrap()]);
    (one.created_at, one.last_interaction_at) = (at(some_time), at(some_time));
    one.expires_at = (number % 3 > 0).then(|| at(5_000 + some_time));
    let done = room.store.write(|write| match does {
        Does::Add => write.insert_context(&one, &revision),
        Does::Trash => write.trash_context(id, at(50)),
        Does::Restore => write.restore_context(id, at(51), one.expires_at),
        Does::Purge => write.purge_context(id, at(52)),
    });
    drop(done);
}

/// What came, against what was there all the time.
fn check<T: Ord + std::fmt::Debug>(came: &[T], steady: &BTreeSet<T>) -> Result<(), TestCaseError> {
    let once: BTreeSet<&T> = came.iter().collect();
    prop_assert_eq!(once.len(), came.len(), "something came twice: {:?}", came);
    let missed: Vec<_> = steady.iter().filter(|item| !once.contains(item)).collect();
    prop_assert!(missed.is_empty(), "passed over: {:?}", missed);
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(8), ..Config::default() })]

    #[test]
    fn conversations_come_exactly_once_while_others_come_and_go(
        limit in 1_u32..6, oldest_first in any::<bool>(), of_one in any::<bool>(), steps in steps(),
    ) {
        let room = Room::new();
        for number in [1, 2] {
            contexts_step(&room, (Does::Add, number));
        }
        (0..FIRST).for_each(|number| conversations_step(&room, (Does::Add, number)));
        let context_id = of_one.then(|| context_id(1));
        let mut query = ConversationQuery { context_id, limit, oldest_first, ..ConversationQuery::default() };
        let whole = ConversationQuery { limit: 500, ..query.clone() };
        let all = || room.read(|read| read.conversations_page(&whole)).0.into_iter().map(|one| one.id).collect::<BTreeSet<_>>();
        let (mut steady, mut came, mut steps) = (all(), Vec::new(), steps.into_iter());
        loop {
            let page = room.read(|read| read.conversations_page(&query)).0;
            prop_assert!(page.len() <= limit as usize);
            let Some(last) = page.last() else { break };
            query.after = Some(last.place());
            came.extend(page.iter().map(|one| one.id));
            for step in steps.next().unwrap_or_default() {
                conversations_step(&room, step);
                let now = all();
                steady.retain(|id| now.contains(id));
            }
        }
        check(&came, &steady)?;
    }

    #[test]
    fn contexts_come_exactly_once_while_others_come_and_go(
        page_size in 1_u32..6,
        sort in prop::sample::select(vec![
            ContextSort::LastInteraction, ContextSort::Name, ContextSort::Created, ContextSort::ExpiresSoon,
        ]),
        steps in steps(),
    ) {
        let room = Room::new();
        (0..FIRST).for_each(|number| contexts_step(&room, (Does::Add, number)));
        let mut query = ContextQuery { page_size, sort, ..ContextQuery::default() };
        let whole = ContextQuery { page_size: 500, ..query.clone() };
        let listed = |query: &ContextQuery| room.read(|read| read.contexts_page(query, at(100))).0;
        let all = || listed(&whole).into_iter().map(|one| one.id).collect::<BTreeSet<_>>();
        let (mut steady, mut came, mut steps) = (all(), Vec::new(), steps.into_iter());
        loop {
            let page = listed(&query);
            let Some(last) = page.last() else { break };
            query.after = Some(last.place());
            came.extend(page.iter().map(|one| one.id));
            for step in steps.next().unwrap_or_default() {
                contexts_step(&room, step);
                let now = all();
                steady.retain(|id| now.contains(id));
            }
        }
        check(&came, &steady)?;
    }

    #[test]
    fn parts_after_places_are_the_parts_of_the_whole_list(limit in 1_u32..6, oldest_first in any::<bool>()) {
        let room = Room::new();
        for number in [1, 2] {
            contexts_step(&room, (Does::Add, number));
        }
        (0..FIRST).for_each(|number| conversations_step(&room, (Does::Add, number)));
        let list = |query: &ConversationQuery| room.read(|read| read.conversations_page(query)).0;
        let whole = list(&ConversationQuery { limit: 500, oldest_first, ..ConversationQuery::default() });
        for (at, one) in whole.iter().enumerate() {
            let query = ConversationQuery { limit, oldest_first, after: Some(one.place()), ..ConversationQuery::default() };
            let rest = &whole[at + 1..];
            let part = list(&query);
            prop_assert_eq!(&part[..], &rest[..rest.len().min(limit as usize)]);
            let further = ConversationQuery { offset: 2, ..query };
            let further = list(&further);
            prop_assert_eq!(further.first(), rest.get(2));
        }
    }
}
