//! Properties of the service: paging gives each item exactly once, and no edit touches an old wording.

use crate::support::World;
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;

/// Random cases on one world, each in its own step of the runtime.
fn cases<S: Strategy>(number: u32, strategy: &S, mut case: impl FnMut(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: number, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..Config::default() };
    // The runner wants a closure that can be called through a shared reference.
    let case = std::cell::RefCell::new(&mut case);
    TestRunner::new(config).run(strategy, |value| (case.borrow_mut())(value)).unwrap();
}

#[test]
fn every_list_gives_each_item_exactly_once() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(async {
        let world = World::new().await;
        world.scripted_provider().await;
        for _ in 0..11 {
            world.counselor().await;
        }
        let context = world.contexts().await[0].id;
        for number in 0..13 {
            world.exchange(context, None, &format!("heron {number}"), "Yes.").await;
        }
        world
    });
    let sorts = prop::sample::select(vec![
        ContextSort::LastInteraction,
        ContextSort::Name,
        ContextSort::Created,
        ContextSort::ExpiresSoon,
    ]);
    cases(32, &(sorts, 1_u32..14, any::<bool>()), |(sort, size, oldest_first)| {
        runtime.block_on(async {
            let (mut contexts, mut page) = (Vec::new(), 1);
            loop {
                let query = ContextQuery { sort, page, page_size: size, ..ContextQuery::default() };
                let found = world.service.context_list(query).await.unwrap();
                prop_assert_eq!(found.total_count, 11);
                prop_assert!(found.contexts.len() <= size as usize);
                if found.contexts.is_empty() {
                    break;
                }
                contexts.extend(found.contexts.into_iter().map(|context| context.id));
                page += 1;
            }
            prop_assert_eq!((contexts.len(), contexts.iter().collect::<BTreeSet<_>>().len()), (11, 11));

            let mut conversations = BTreeSet::new();
            for offset in (0..13).step_by(size as usize) {
                let query = ConversationQuery { limit: size, offset, oldest_first, ..ConversationQuery::default() };
                for found in world.service.conversation_list(query).await.unwrap().items {
                    prop_assert!(conversations.insert(found.id), "{} came twice", found.id);
                }
            }
            prop_assert_eq!(conversations.len(), 13);

            let (mut hits, mut before) = (BTreeSet::new(), None);
            loop {
                let query = SearchQuery { text: "heron".into(), limit: size, before, ..SearchQuery::default() };
                let found = world.service.search_messages(query).await.unwrap();
                before = found.last().map(|hit| hit.cursor.clone());
                for hit in &found {
                    prop_assert!(hits.insert(hit.message_id), "{} came twice", hit.message_id);
                }
                if before.is_none() {
                    break;
                }
            }
            prop_assert_eq!(hits.len(), 13);
            Ok(())
        })
    });
}

/// One step of somebody else while a page is read.
#[derive(Debug, Clone)]
enum Meanwhile {
    Nothing,
    Says,
    DeletesAndUndoes,
}

#[test]
fn messages_are_paged_from_either_end_while_others_come_and_go() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, context, conversation) = runtime.block_on(async {
        let world = World::new().await;
        world.scripted_provider().await;
        let context = world.counselor().await.id;
        let conversation = world.exchange(context, None, "0", "reply").await.0.id;
        for number in 1..12 {
            world.exchange(context, Some(conversation), &number.to_string(), "reply").await;
        }
        (world, context, conversation)
    });
    let meanwhile = prop::sample::select(vec![Meanwhile::Nothing, Meanwhile::Says, Meanwhile::DeletesAndUndoes]);
    let steps = (1_u32..9, 0_usize..24, prop::collection::vec(meanwhile, 4));
    cases(24, &steps, |(limit, at, others)| {
        runtime.block_on(async {
            let first = world.service.conversation_open(conversation).await.unwrap();
            let all = whole(&world, &first.messages).await;
            let from = &all[at];
            let (mut seen, mut cursor, mut others) = (Vec::new(), from.id, others.into_iter());
            loop {
                let page = world.service.conversation_earlier(cursor, limit).await.unwrap();
                seen.splice(0..0, page.messages.iter().map(|message| message.id));
                if !page.has_earlier {
                    break;
                }
                cursor = page.messages[0].id;
                happen(&world, context, conversation, &all, others.next()).await;
            }
            prop_assert_eq!(&seen, &all[..at].iter().map(|message| message.id).collect::<Vec<_>>());
            let (mut later, mut cursor) = (Vec::new(), from.id);
            loop {
                let page = world.service.message_after(cursor, limit).await.unwrap();
                later.extend(page.messages.iter().map(|message| message.id));
                if !page.has_later {
                    break;
                }
                cursor = *later.last().unwrap();
                happen(&world, context, conversation, &all, others.next()).await;
            }
            prop_assert_eq!(later.iter().collect::<BTreeSet<_>>().len(), later.len());
            let known: Vec<MessageId> = all[at + 1..].iter().map(|message| message.id).collect();
            prop_assert_eq!(&later[..known.len()], &known[..]);
            Ok(())
        })
    });
}

/// The branch from its beginning.
async fn whole(world: &World, newest: &[Message]) -> Vec<Message> {
    let mut all = world.service.conversation_earlier(newest[0].id, 500).await.unwrap().messages;
    all.extend_from_slice(newest);
    all
}

async fn happen(world: &World, context: ContextId, conversation: ConversationId, all: &[Message], what: Option<Meanwhile>) {
    match what {
        Some(Meanwhile::Says) => {
            world.exchange(context, Some(conversation), "meanwhile", "reply").await;
        }
        Some(Meanwhile::DeletesAndUndoes) => {
            let last = all[all.len() - 1].id;
            world.service.message_delete(last).await.unwrap();
            world.service.message_restore(last).await.unwrap();
        }
        Some(Meanwhile::Nothing) | None => {}
    }
}

#[test]
fn no_edit_touches_an_old_wording() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, context) = runtime.block_on(async {
        let world = World::new().await;
        world.scripted_provider().await;
        let context = world.counselor().await.id;
        (world, context)
    });
    let text = || prop::option::of("[a-zäß 🫠]{1,12}".prop_filter("visible", |text: &String| !text.trim().is_empty()));
    let patches = (text(), text(), text(), prop::option::of("[a-z ]{0,8}"), prop::option::of(0_u32..40), any::<bool>());
    cases(24, &patches, |(name, system_prompt, personality, anchor, expiry_days, says)| {
        runtime.block_on(async {
            let before = world.service.context_revisions(context).await.unwrap();
            let patch = ContextPatch { name, system_prompt, personality, anchor, expiry_days, ..ContextPatch::default() };
            let edited = world.service.context_update(context, patch).await.unwrap();
            if says {
                world.server.push(Answer::reply(&["reply"]));
                world.say(context, None, "Hello").await;
            }
            let after = world.service.context_revisions(context).await.unwrap();
            for old in &before {
                let now = after.iter().find(|used| used.revision.id == old.revision.id).unwrap();
                prop_assert_eq!((&now.revision, now.used_at), (&old.revision, old.used_at));
            }
            let current = after.iter().find(|used| used.revision.id == edited.revision_id).unwrap();
            prop_assert_eq!(&current.revision.system_prompt, &edited.system_prompt);
            let again = Revision::new(
                &edited.name,
                &edited.system_prompt,
                &edited.personality,
                edited.anchor.as_deref(),
                chrono::DateTime::UNIX_EPOCH,
            );
            prop_assert_eq!(&again.id, &edited.revision_id, "a revision's id is its content");
            Ok(())
        })
    });
}
