//! Who and what is in the seeded vault: companions, threads, and messages in the order in which a
//! person writes them, a sitting at a time.

use super::chance::Chance;
use crate::error::BenchError;
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{
    Context, ContextId, Conversation, ConversationId, MemorySettings, Message, MessageId, MessageStatus, ModelChoice, ProviderId,
    Revision, RevisionId, Role, StrategyChoice, TitleSource, TokenCount, Usage,
};
use evenkeel_store::{Store, StoreError, WriteHandle};
use uuid::Uuid;

/// Changes with what is seeded, so that an older cached vault is not taken for it.
pub const EDITION: u32 = 1;
/// Messages that are written to one conversation before the person turns to another.
const SITTING: usize = 20;
const MESSAGES_A_CONVERSATION: usize = 200;
const CONVERSATIONS_A_CONTEXT: usize = 10;
/// Sittings in one transaction: fewer pay for more commits, more outgrow the page cache.
const SITTINGS_A_BATCH: usize = 500;
/// 2025-06-01T00:00:00Z.
const BEGIN_SECONDS: i64 = 1_748_736_000;
/// Seconds between two messages; a million of them last 231 days.
const SECONDS_A_MESSAGE: i64 = 20;
/// Words of a message: at least so many, and so many more at most.
const USER_WORDS: (usize, usize) = (6, 25);
const ASSISTANT_WORDS: (usize, usize) = (20, 85);

/// How much of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Messages in all conversations.
    pub messages: usize,
    /// Threads.
    pub conversations: usize,
    /// Companions.
    pub contexts: usize,
}

impl Counts {
    /// A conversation for 200 messages and a context for 10 conversations, at least one of each.
    pub fn of(messages: usize) -> Self {
        let conversations = messages.div_ceil(MESSAGES_A_CONVERSATION).max(1);
        Self { messages, conversations, contexts: conversations.div_ceil(CONVERSATIONS_A_CONTEXT).max(1) }
    }

    /// When the last message was written; what is measured happens later.
    pub fn end(self) -> DateTime<Utc> {
        at(self.messages)
    }
}

/// When the n-th message is written.
pub fn at(number: usize) -> DateTime<Utc> {
    let begin = DateTime::from_timestamp(BEGIN_SECONDS, 0).unwrap_or_default();
    begin + TimeDelta::seconds(SECONDS_A_MESSAGE * i64::try_from(number).unwrap_or(0))
}

/// A conversation as far as it has come.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Its id.
    pub id: ConversationId,
    /// The context that answers in it.
    pub context_id: ContextId,
    /// The wording it answers under.
    pub revision_id: RevisionId,
    /// Its newest message.
    pub leaf: Option<MessageId>,
    /// Its messages.
    pub length: usize,
}

impl Thread {
    /// The conversation as it begins.
    fn conversation(&self) -> Conversation {
        Conversation {
            id: self.id,
            context_id: self.context_id,
            title: "A long one".to_owned(),
            title_source: TitleSource::Model,
            active_leaf_id: None,
            message_count: 0,
            is_pinned: false,
            is_archived: false,
            tags: Vec::new(),
            created_at: at(0),
            last_activity_at: at(0),
            deleted_at: None,
        }
    }

    /// The next message, of the user and of the context by turns, written at a time.
    pub fn next(&mut self, time: DateTime<Utc>, chance: &mut Chance) -> Message {
        let role = if self.length.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let (least, more) = if role == Role::User { USER_WORDS } else { ASSISTANT_WORDS };
        let words = least + chance.below(more);
        let tokens = u32::try_from(words * 2).unwrap_or(0);
        let is_reply = role == Role::Assistant;
        let message = Message {
            id: MessageId::from_parts(time, chance.id_bits()),
            conversation_id: self.id,
            context_id: self.context_id,
            parent_id: self.leaf,
            role,
            content: chance.text(words),
            reasoning: None,
            status: MessageStatus::Complete,
            token_count: Some(TokenCount { tokens, tokenizer: "o200k".to_owned() }),
            revision_id: is_reply.then(|| self.revision_id.clone()),
            model: is_reply.then(model),
            usage: is_reply.then_some(Usage { prompt_tokens: 2_000, completion_tokens: tokens, cached_tokens: None }),
            created_at: time,
            sibling_ids: Vec::new(),
            vote: None,
            citations: Vec::new(),
            source: None,
        };
        (self.leaf, self.length) = (Some(message.id), self.length + 1);
        message
    }
}

fn model() -> ModelChoice {
    ModelChoice { provider_id: ProviderId::from(Uuid::from_bytes([7; 16])), model: "a-model-of-some-size".to_owned() }
}

/// Fills an empty vault through the store; `said` hears after each batch how many messages there are.
pub fn seed(store: &Store, counts: Counts, said: &mut dyn FnMut(usize)) -> Result<(), BenchError> {
    let mut seeding = Seeding::new(counts);
    store.write(|write| seeding.settle(write))?;
    while seeding.messages < counts.messages {
        store.write(|write| (0..SITTINGS_A_BATCH).try_for_each(|_| seeding.sit(write)))?;
        said(seeding.messages);
    }
    Ok(())
}

/// Messages of the long conversations.
pub const LONG: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Messages in one transaction.
const BATCH: usize = 10_000;

/// Fills an empty vault with one conversation of each of the [`LONG`] lengths, all with one context.
pub fn seed_long(store: &Store, said: &mut dyn FnMut(usize)) -> Result<(), BenchError> {
    let mut chance = Chance::new(5);
    let (context, revision) = companion(0, &mut chance);
    store.write(|write| write.insert_context(&context, &revision))?;
    let mut messages = 0;
    for length in LONG {
        let mut thread = begun(&context, &revision, at(messages), &mut chance);
        store.write(|write| write.insert_conversation(&thread.conversation()))?;
        while thread.length < length {
            store.write(|write| {
                for _ in 0..BATCH.min(length - thread.length) {
                    messages += 1;
                    write.insert_message(thread.next(at(messages), &mut chance))?;
                }
                Ok::<_, StoreError>(())
            })?;
            said(messages);
        }
    }
    Ok(())
}

fn begun(context: &Context, revision: &Revision, now: DateTime<Utc>, chance: &mut Chance) -> Thread {
    let id = ConversationId::from_parts(now, chance.id_bits());
    Thread { id, context_id: context.id, revision_id: revision.id.clone(), leaf: None, length: 0 }
}

struct Seeding {
    counts: Counts,
    chance: Chance,
    contexts: Vec<(Context, Revision)>,
    threads: Vec<Thread>,
    sittings: usize,
    messages: usize,
}

impl Seeding {
    fn new(counts: Counts) -> Self {
        let mut chance = Chance::new(2);
        let contexts = (0..counts.contexts).map(|number| companion(number, &mut chance)).collect();
        Self { counts, chance, contexts, threads: Vec::new(), sittings: 0, messages: 0 }
    }

    fn settle(&self, write: &mut WriteHandle<'_>) -> Result<(), StoreError> {
        self.contexts.iter().try_for_each(|(context, revision)| write.insert_context(context, revision))
    }

    /// Writes to one conversation for a while.
    fn sit(&mut self, write: &mut WriteHandle<'_>) -> Result<(), StoreError> {
        let length = SITTING.min(self.counts.messages - self.messages);
        if length == 0 {
            return Ok(());
        }
        let place = self.place(write)?;
        for _ in 0..length {
            self.messages += 1;
            write.insert_message(self.threads[place].next(at(self.messages), &mut self.chance))?;
        }
        self.sittings += 1;
        write.touch_context(self.threads[place].context_id, at(self.messages))
    }

    /// A new conversation when its time has come, otherwise an old one, rather a young than a very old one.
    fn place(&mut self, write: &mut WriteHandle<'_>) -> Result<usize, StoreError> {
        let sittings = self.counts.messages.div_ceil(SITTING);
        let begun = self.threads.len();
        if begun < self.counts.conversations && begun * sittings <= self.sittings * self.counts.conversations {
            self.begin(write)?;
            return Ok(begun);
        }
        let back = (self.chance.share().powi(3) * begun as f64) as usize;
        Ok(begun - 1 - back)
    }

    fn begin(&mut self, write: &mut WriteHandle<'_>) -> Result<(), StoreError> {
        let number = self.threads.len();
        // Each context has its share of the conversations, at times all over the vault.
        let (context, revision) = &self.contexts[number % self.contexts.len()];
        let now = at(self.messages);
        let conversation = Conversation {
            id: ConversationId::from_parts(now, self.chance.id_bits()),
            context_id: context.id,
            title: self.chance.text(6),
            title_source: TitleSource::Model,
            active_leaf_id: None,
            message_count: 0,
            is_pinned: number.is_multiple_of(100),
            is_archived: number % 20 == 7,
            tags: if number.is_multiple_of(3) { vec![self.chance.word()] } else { Vec::new() },
            created_at: now,
            last_activity_at: now,
            deleted_at: (number % 50 == 13).then_some(now),
        };
        write.insert_conversation(&conversation)?;
        let (context_id, revision_id) = (context.id, revision.id.clone());
        self.threads.push(Thread { id: conversation.id, context_id, revision_id, leaf: None, length: 0 });
        Ok(())
    }
}

/// One in ten rests, one in fifty lies in the trash, and half of the others never expire.
fn companion(number: usize, chance: &mut Chance) -> (Context, Revision) {
    let now = at(0);
    let (name, prompt, personality) = (chance.text(2), chance.text(250), chance.text(40));
    let revision = Revision::new(&name, &prompt, &personality, None, now);
    let deleted_at = (number % 50 == 31).then_some(now);
    let context = Context {
        id: ContextId::from_parts(now, chance.id_bits()),
        name,
        system_prompt: prompt,
        personality,
        anchor: None,
        revision_id: revision.id.clone(),
        temperature: 0.6,
        max_tokens: 1_000,
        max_history_tokens: 15_000,
        expiry_days: (number % 2 == 1).then_some(3_650),
        model: None,
        local_only: false,
        maintain_personality: true,
        preset_id: None,
        created_at: now,
        updated_at: now,
        last_interaction_at: now,
        expires_at: None,
        is_active: number % 10 != 9 && deleted_at.is_none(),
        deleted_at,
        tags: vec![chance.word(), chance.word()],
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    (context, revision)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use evenkeel_domain::{ContextQuery, ConversationQuery};

    const KEY: [u8; 32] = [3; 32];

    #[test]
    fn a_million_messages_are_in_five_thousand_conversations_of_five_hundred_contexts() {
        assert_eq!(Counts::of(1_000_000), Counts { messages: 1_000_000, conversations: 5_000, contexts: 500 });
        assert_eq!(Counts::of(1), Counts { messages: 1, conversations: 1, contexts: 1 });
    }

    #[test]
    fn the_seeded_vault_has_what_was_asked_for_and_is_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let counts = Counts::of(2_010);
        let seeded = |name: &str| {
            let store = Store::create(&folder.path().join(name), &KEY, at(0)).unwrap();
            let mut last = 0;
            seed(&store, counts, &mut |messages| last = messages).unwrap();
            assert_eq!(last, counts.messages);
            let every = ConversationQuery { include_archived: true, limit: 500, ..ConversationQuery::default() };
            store.read(|read| Ok((read.conversations_page(&every)?.0, read.contexts(true, 100, 0)?))).unwrap()
        };
        let (conversations, contexts) = seeded("a.db");
        assert_eq!((conversations.len(), contexts.len()), (counts.conversations, counts.contexts));
        let messages: u32 = conversations.iter().map(|conversation| conversation.message_count).sum();
        assert_eq!(messages as usize, counts.messages);
        assert!(conversations.iter().all(|conversation| conversation.active_leaf_id.is_some()));
        assert_eq!(seeded("b.db"), (conversations, contexts));
    }

    #[test]
    fn the_lists_have_something_to_leave_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("vault.db"), &KEY, at(0)).unwrap();
        let counts = Counts { messages: 1_200, conversations: 60, contexts: 40 };
        seed(&store, counts, &mut |_| ()).unwrap();
        let (contexts, conversations) = store
            .read(|read| {
                let contexts = read.contexts_page(&ContextQuery::default(), counts.end())?.1;
                Ok((contexts, read.conversations_page(&ConversationQuery::default())?.1))
            })
            .unwrap();
        // 4 of 40 rest and one is in the trash; 3 of 60 are archived, one is in the trash, one of the context there.
        assert_eq!((contexts, conversations), (35, 55));
    }
}
