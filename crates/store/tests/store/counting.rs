//! How many messages there are with a context is kept beside it, through all that happens to them.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, draft, message, message_id};
use evenkeel_domain::{Message, MessageId, TrashId};
use evenkeel_store::StoreError;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed};

/// The contexts and conversations that the steps go round among.
const CONTEXTS: u64 = 2;
const CONVERSATIONS: u64 = 5;

#[derive(Debug, Clone)]
enum Step {
    Begin,
    Say,
    Draft,
    Recover,
    Delete(Index),
    Undo(Index),
    Forget,
    Trash,
    Restore,
    Purge,
    PurgeTrashed,
    PurgeInPortions,
    PurgeContext,
    RolledBack,
}

fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    use Step::*;
    let step = prop_oneof![
        4 => Just(Begin),
        12 => Just(Say),
        1 => Just(Draft),
        1 => Just(Recover),
        4 => any::<Index>().prop_map(Delete),
        3 => any::<Index>().prop_map(Undo),
        1 => Just(Forget),
        3 => Just(Trash),
        2 => Just(Restore),
        1 => Just(Purge),
        1 => Just(PurgeTrashed),
        1 => Just(PurgeInPortions),
        1 => Just(PurgeContext),
        1 => Just(RolledBack),
    ];
    proptest::collection::vec((step, 0..CONVERSATIONS), 1..60)
}

/// Does one step with conversation `number`; one that is not possible at present does nothing.
fn take(room: &Room, step: &Step, number: u64, next: &mut u64) {
    let (id, of) = (conversation_id(number), number % CONTEXTS);
    let shown = room.read(|read| read.conversation(id));
    *next += 1;
    let said = || Message {
        conversation_id: id,
        context_id: context_id(of),
        parent_id: shown.as_ref().and_then(|shown| shown.active_leaf_id),
        ..message(*next, None)
    };
    let picked = |ids: Vec<MessageId>, index: &Index| (!ids.is_empty()).then(|| *index.get(&ids));
    match step {
        Step::Begin => drop(room.store.write(|write| {
            if write.context(context_id(of))?.is_none() {
                let (context, revision) = context(of, "Calm");
                write.insert_context(&context, &revision)?;
            }
            write.insert_conversation(&conversation(number, of))
        })),
        Step::Say => drop(room.store.write(|write| write.insert_message(said()))),
        Step::Draft => {
            let mut draft = draft(*next, 0, "half", 7);
            (draft.conversation_id, draft.context_id, draft.parent_id) = (id, context_id(of), said().parent_id);
            drop(room.store.write(|write| write.put_draft(&draft)));
        }
        Step::Recover => drop(room.write(|write| write.recover_drafts(at(900), |_| true))),
        Step::Delete(index) => {
            let there = room.read(|read| read.messages(id)).into_iter().map(|message| message.id).collect();
            if let Some(message) = picked(there, index) {
                room.write(|write| write.delete_message(message, at(900)));
            }
        }
        Step::Undo(index) => {
            let gone = room.read(|read| read.deleted_messages(id)).into_iter().map(|message| message.id).collect();
            if let Some(message) = picked(gone, index) {
                room.write(|write| write.restore_message(message));
            }
        }
        Step::Forget => drop(room.write(|write| write.forget_deleted_messages(at(9_000)))),
        Step::Trash => drop(room.write(|write| write.trash_conversations(&[id], at(30)))),
        Step::Restore => drop(room.write(|write| write.restore_conversations(&[id]))),
        Step::Purge => drop(room.store.write(|write| write.delete_conversation(id))),
        Step::PurgeTrashed => drop(room.write(|write| write.purge_conversations(&[id]))),
        Step::PurgeInPortions => {
            let item = room.read(|read| read.trash()).into_iter().find(|item| item.id == TrashId::Conversation(id));
            if let Some(item) = item {
                room.store.purge(&item, at(50), &mut || true).unwrap();
            }
        }
        Step::PurgeContext => drop(room.store.write(|write| write.purge_context(context_id(of), at(60)))),
        Step::RolledBack => {
            let failed: Result<(), StoreError> = room.store.write(|write| {
                write.insert_message(said())?;
                Err(StoreError::NotFound { noun: evenkeel_store::Noun::Message, id: message_id(*next).to_string() })
            });
            failed.unwrap_err();
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..Config::default() })]

    #[test]
    fn the_count_of_a_context_is_the_sum_over_its_messages(steps in steps()) {
        let (room, mut next) = (Room::new(), 0);
        for (step, number) in &steps {
            take(&room, step, *number, &mut next);
            for of in 0..CONTEXTS {
                let rows: usize = (0..CONVERSATIONS)
                    .filter(|number| number % CONTEXTS == of)
                    .map(|number| room.read(|read| read.messages(conversation_id(number))).len())
                    .sum();
                let counted = room.read(|read| read.message_count(context_id(of)));
                prop_assert_eq!(counted, rows as u64, "context {} after {:?} of {}", of, step, number);
            }
        }
    }
}
