//! Properties of the service: paging gives each item exactly once, and no edit touches an old wording.

use crate::support::World;
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;

/// Random cases on one world, each in its own step of the runtime.
fn cases<S: Strategy>(number: u32, strategy: &S, mut case: impl FnMut(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: number, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..Config::default() };
    // The runner wants a closure that can be called through a shared reference.
    let case = std::cell::RefCell::new(&mut case);
    TestRunner::new(config).run(strategy, |value| (case.borrow_mut())(value)).unwrap();
}

/// What somebody else does between two pages of a list.
#[derive(Debug, Clone, Copy)]
enum Elsewhere {
    Begins,
    Deletes(Index),
    Restores(Index),
}

fn elsewhere() -> impl Strategy<Value = Vec<Elsewhere>> {
    let step = prop_oneof![
        Just(Elsewhere::Begins),
        any::<Index>().prop_map(Elsewhere::Deletes),
        any::<Index>().prop_map(Elsewhere::Restores),
    ];
    prop::collection::vec(step, 0..6)
}

/// What a reader of pages got, and what it had to get.
struct Roll<T> {
    /// There from the first page to the last.
    steady: BTreeSet<T>,
    came: Vec<T>,
}

impl<T: Ord + Copy + std::fmt::Debug> Roll<T> {
    fn check(&self) -> Result<(), TestCaseError> {
        let once: BTreeSet<T> = self.came.iter().copied().collect();
        prop_assert_eq!(once.len(), self.came.len(), "something came twice: {:?}", &self.came);
        prop_assert!(self.steady.is_subset(&once), "of {:?} only {:?} came", &self.steady, once);
        Ok(())
    }
}

fn picked<T: Copy>(from: &[T], index: Index) -> Option<T> {
    (!from.is_empty()).then(|| *index.get(from))
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
        world
    });
    let sorts = prop::sample::select(vec![
        ContextSort::LastInteraction,
        ContextSort::Name,
        ContextSort::Created,
        ContextSort::ExpiresSoon,
    ]);
    cases(32, &(sorts, 1_u32..14, elsewhere()), |(sort, page_size, steps)| {
        runtime.block_on(contexts_by_page(&world, sort, page_size, steps))?.check()
    });
    let home = runtime.block_on(async {
        let home = world.counselor().await.id;
        for number in 0..13 {
            world.exchange(home, None, &format!("heron {number}"), "Yes.").await;
        }
        home
    });
    cases(32, &(1_u32..14, any::<bool>(), elsewhere()), |(limit, oldest_first, steps)| {
        let query = ConversationQuery { limit, oldest_first, ..ConversationQuery::default() };
        runtime.block_on(conversations_by_page(&world, home, query, &steps)).check()?;
        runtime.block_on(hits_by_page(&world, home, limit, &steps)).check()
    });
}

async fn contexts_by_page(
    world: &World,
    sort: ContextSort,
    page_size: u32,
    steps: Vec<Elsewhere>,
) -> Result<Roll<ContextId>, TestCaseError> {
    let all: Vec<ContextId> = world.contexts().await.into_iter().map(|context| context.id).collect();
    let mut roll = Roll { steady: all.iter().copied().collect(), came: Vec::new() };
    let (mut query, mut steps) = (ContextQuery { sort, page_size, ..ContextQuery::default() }, steps.into_iter());
    loop {
        let found = world.service.context_list(query.clone()).await.unwrap().contexts;
        prop_assert!(found.len() <= page_size as usize);
        let Some(last) = found.last() else { return Ok(roll) };
        query.after = Some(last.place());
        roll.came.extend(found.iter().map(|context| context.id));
        match steps.next() {
            Some(Elsewhere::Begins) => drop(world.counselor().await),
            Some(Elsewhere::Deletes(index)) => {
                if let Some(id) = picked(&all, index).filter(|id| roll.steady.remove(id)) {
                    world.service.context_delete(id).await.unwrap();
                }
            }
            Some(Elsewhere::Restores(index)) => {
                let trash = ContextQuery { only_deleted: true, page_size: 500, ..ContextQuery::default() };
                let gone: Vec<_> = world.service.context_list(trash).await.unwrap().contexts;
                if let Some(id) = picked(&gone.iter().map(|context| context.id).collect::<Vec<_>>(), index) {
                    world.service.context_restore(id).await.unwrap();
                    // A lifetime begins anew, and with it another place in that order.
                    roll.came.retain(|came| *came != id);
                }
            }
            None => {}
        }
    }
}

async fn conversations_by_page(
    world: &World,
    home: ContextId,
    mut query: ConversationQuery,
    steps: &[Elsewhere],
) -> Roll<ConversationId> {
    let whole = ConversationQuery { limit: 500, ..query.clone() };
    let all: Vec<_> = world.service.conversation_list(whole).await.unwrap().items.iter().map(|one| one.id).collect();
    let mut roll = Roll { steady: all.into_iter().collect(), came: Vec::new() };
    let mut steps = steps.iter();
    loop {
        let found = world.service.conversation_list(query.clone()).await.unwrap().items;
        let Some(last) = found.last() else { return roll };
        query.after = Some(last.place());
        roll.came.extend(found.iter().map(|one| one.id));
        if let Some(gone) = conversations_change(world, home, steps.next()).await {
            roll.steady.remove(&gone);
        }
    }
}

async fn hits_by_page(world: &World, home: ContextId, limit: u32, steps: &[Elsewhere]) -> Roll<MessageId> {
    let query = |limit, before| SearchQuery { text: "heron".into(), limit, before, ..SearchQuery::default() };
    let mut there = world.service.search_messages(query(100, None)).await.unwrap();
    let (mut came, mut before, mut steps) = (Vec::new(), None, steps.iter());
    loop {
        let found = world.service.search_messages(query(limit, before)).await.unwrap();
        before = found.last().map(|hit| hit.cursor.clone());
        came.extend(found.iter().map(|hit| hit.message_id));
        if before.is_none() {
            let newest = there.iter().take(99).map(|hit| hit.message_id);
            return Roll { steady: newest.collect(), came };
        }
        let gone = conversations_change(world, home, steps.next()).await;
        there.retain(|hit| Some(hit.conversation_id) != gone);
    }
}

/// Takes a step and names the conversation that went into the trash by it.
async fn conversations_change(world: &World, home: ContextId, step: Option<&Elsewhere>) -> Option<ConversationId> {
    let listed = |only_deleted| {
        let query = ConversationQuery { context_id: Some(home), only_deleted, limit: 500, ..ConversationQuery::default() };
        async { world.service.conversation_list(query).await.unwrap().items.iter().map(|one| one.id).collect::<Vec<_>>() }
    };
    match step {
        Some(Elsewhere::Begins) => {
            world.exchange(home, None, "another heron", "Yes.").await;
            None
        }
        Some(Elsewhere::Deletes(index)) => {
            let gone = picked(&listed(false).await, *index)?;
            assert_eq!(world.service.conversation_delete(vec![gone]).await.unwrap(), [gone]);
            Some(gone)
        }
        Some(Elsewhere::Restores(index)) => {
            let back = picked(&listed(true).await, *index)?;
            assert_eq!(world.service.conversation_restore(vec![back]).await.unwrap(), [back]);
            None
        }
        None => None,
    }
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
