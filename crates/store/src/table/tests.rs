//! The work that must not grow with the history, counted in steps of SQLite's virtual machine:
//! the same on every machine and in every run.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::filter::Filter;
use super::{context_list, conversation_list};
use crate::{ReadHandle, Store, StoreError, WriteHandle, connection};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    Context, ContextId, ContextQuery, Conversation, ConversationId, ConversationQuery, MemorySettings, Message, MessageId,
    MessageStatus, Revision, Role, StrategyChoice, TitleSource,
};
use rusqlite::Connection;
use secrecy::SecretBox;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const KEY: [u8; 32] = [5; 32];

fn at(millis: u64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(1_790_000_000_000 + i64::try_from(millis).unwrap()).unwrap()
}

fn random(number: u64) -> [u8; 10] {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&number.to_be_bytes());
    random
}

fn message_id(number: u64) -> MessageId {
    MessageId::from_parts(at(number), random(number))
}

fn conversation_id(number: u64) -> ConversationId {
    ConversationId::from_parts(at(number), random(number))
}

fn context_id() -> ContextId {
    ContextId::from_parts(at(0), random(0))
}

fn message(number: u64) -> Message {
    Message {
        id: message_id(number),
        conversation_id: conversation_id(0),
        context_id: context_id(),
        parent_id: (number > 0).then(|| message_id(number - 1)),
        role: Role::User,
        content: "said".into(),
        reasoning: None,
        status: MessageStatus::Complete,
        token_count: None,
        revision_id: None,
        model: None,
        usage: None,
        created_at: at(number),
        sibling_ids: Vec::new(),
        vote: None,
        citations: Vec::new(),
        source: None,
    }
}

fn conversation(number: u64) -> Conversation {
    Conversation {
        id: conversation_id(number),
        context_id: context_id(),
        title: "A thread".into(),
        title_source: TitleSource::Beginning,
        is_pinned: false,
        is_archived: false,
        tags: Vec::new(),
        deleted_at: None,
        active_leaf_id: None,
        message_count: 0,
        created_at: at(number),
        last_activity_at: at(number),
    }
}

fn context() -> (Context, Revision) {
    let revision = Revision::new("Calm", "Calm.", "", None, at(0));
    let context = Context {
        id: context_id(),
        name: "Calm".into(),
        system_prompt: "Calm.".into(),
        personality: String::new(),
        revision_id: revision.id.clone(),
        temperature: 0.5,
        max_tokens: 1,
        max_history_tokens: 500,
        expiry_days: None,
        model: None,
        local_only: false,
        maintain_personality: false,
        preset_id: None,
        created_at: at(0),
        updated_at: at(0),
        last_interaction_at: at(0),
        expires_at: None,
        is_active: true,
        anchor: None,
        deleted_at: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    };
    (context, revision)
}

/// A vault with one chain of `n` messages and `n` conversations.
fn vault_of(n: u64, folder: &std::path::Path) -> Connection {
    let path = folder.join("vault.db");
    let store = Store::create(&path, &KEY, at(0)).unwrap();
    store
        .write(|write| {
            let (context, revision) = context();
            write.insert_context(&context, &revision)?;
            for number in 0..n {
                write.insert_conversation(&conversation(number))?;
            }
            for number in 0..n {
                write.insert_message(message(number))?;
            }
            Ok(())
        })
        .unwrap();
    drop(store);
    let connection = connection::open(&path, &SecretBox::new(Box::new(KEY))).unwrap();
    connection::settle(&connection, connection::Purpose::Write, false).unwrap();
    connection
}

/// Steps that some work takes, once its statements are prepared.
fn steps(connection: &mut Connection, work: impl Fn(&Connection) -> Result<(), StoreError>) -> u64 {
    work(connection).unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let handler = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(handler)).unwrap();
    work(connection).unwrap();
    connection.progress_handler(1, None::<fn() -> bool>).unwrap();
    count.load(Ordering::Relaxed)
}

fn figures(n: u64) -> Vec<(&'static str, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = vault_of(n, folder.path());
    let connection = &mut connection;
    let next = AtomicU64::new(n);
    let of_context = Some(context_id());
    vec![
        (
            "open newest 50",
            steps(connection, |c| ReadHandle::new(c).path(message_id(n - 1), 50).map(|path| assert_eq!(path.len(), 50))),
        ),
        ("page of 50 above", steps(connection, |c| ReadHandle::new(c).path_before(message_id(n / 2), 50).map(drop))),
        ("page of 50 below", steps(connection, |c| ReadHandle::new(c).path_after(message_id(n / 2), 50).map(drop))),
        ("first 50", steps(connection, |c| ReadHandle::new(c).path_from_start(message_id(n - 1), 50).map(drop))),
        ("list of one context", steps(connection, |c| ReadHandle::new(c).conversations(of_context, 50, 0).map(drop))),
        ("list of all", steps(connection, |c| ReadHandle::new(c).conversations(None, 50, 0).map(drop))),
        ("messages of a context", steps(connection, |c| ReadHandle::new(c).message_count(context_id()).map(drop))),
        ("siblings", steps(connection, |c| ReadHandle::new(c).siblings(message_id(n / 2)).map(drop))),
        ("branch length", steps(connection, |c| ReadHandle::new(c).branch_length(message_id(n - 1)).map(drop))),
        (
            "append",
            steps(connection, |c| {
                let message = message(next.fetch_add(1, Ordering::Relaxed));
                WriteHandle::new(c).insert_message(message).map(drop)
            }),
        ),
    ]
}

#[test]
fn opening_listing_and_appending_cost_the_same_in_a_long_history() {
    for ((what, short), (_, long)) in figures(200).into_iter().zip(figures(5_000)) {
        assert!(short > 0 && long * 100 <= short * 110, "{what}: {short} steps at 200, {long} at 5,000");
    }
}

/// How SQLite goes about a list, one step a line.
fn plan(connection: &Connection, list: &Filter) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", list.sql())).unwrap();
    let steps = statement.query_map(list.values(), |row| row.get::<_, String>(3)).unwrap();
    steps.map(|step| step.unwrap() + "\n").collect()
}

#[test]
fn lists_are_read_in_order_from_an_index_and_counted_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let connection = vault_of(10, folder.path());
    let all = ConversationQuery::default();
    let of_one = ConversationQuery { context_id: Some(context_id()), ..ConversationQuery::default() };
    let after = Some(conversation(5).place());
    let (all_after, of_one_after) = (ConversationQuery { after, ..all.clone() }, ConversationQuery { after, ..of_one.clone() });
    let contexts_after = ContextQuery { after: Some(context().0.place()), ..ContextQuery::default() };
    let pages = [
        (
            conversation_list::page(&all_after),
            "SEARCH v USING INDEX conversations_by_activity ((is_pinned,last_activity_at,id)<(?,?,?))",
        ),
        (
            conversation_list::page(&of_one_after),
            "SEARCH v USING INDEX conversations_by_context (context_id=? AND (is_pinned,last_activity_at,id)<(?,?,?))",
        ),
        (
            context_list::page(&contexts_after, at(0)),
            "SEARCH c USING INDEX contexts_by_interaction ((last_interaction_at,id)<(?,?))",
        ),
        (conversation_list::page(&all), "SCAN v USING INDEX conversations_by_activity"),
        (conversation_list::page(&of_one), "SEARCH v USING INDEX conversations_by_context (context_id=?)"),
        (context_list::page(&ContextQuery::default(), at(0)), "SCAN c USING INDEX contexts_by_interaction"),
    ];
    for (page, expected) in pages {
        let plan = plan(&connection, &page);
        assert!(plan.contains(expected) && !plan.contains("TEMP B-TREE FOR ORDER BY"), "{}\n{plan}", page.sql());
    }
    let archived = |query: &ConversationQuery| ConversationQuery { include_archived: true, ..query.clone() };
    let in_trash = ConversationQuery { only_deleted: true, ..ConversationQuery::default() };
    for query in [&all, &of_one, &archived(&all), &in_trash] {
        let count = conversation_list::count(query);
        let plan = plan(&connection, &count);
        assert!(plan.contains("v USING COVERING INDEX conversations_by_state"), "{}\n{plan}", count.sql());
    }
    let contexts = plan(&connection, &context_list::count(&ContextQuery::default(), at(0)));
    assert!(!contexts.contains(" r "), "no texts are looked at where none is looked for: {contexts}");
}
