#![allow(clippy::unwrap_used)]

use super::*;
use chrono::TimeDelta;
use evenkeel_domain::{
    MessageStatus, ModelChoice, OperationId, OperationMetadata, ProviderId, TitleSource, TokenCount, Usage, Vote,
};
use serde_json::json;

fn at(minutes: i64) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-01T09:00:00Z").unwrap().to_utc() + TimeDelta::minutes(minutes)
}

fn message_id(number: u8) -> MessageId {
    MessageId::from_parts(at(0), [number; 10])
}

fn context_id(number: u8) -> ContextId {
    ContextId::from_parts(at(0), [number; 10])
}

fn message(number: u8, parent: Option<u8>, role: Role, content: &str) -> Message {
    Message {
        id: message_id(number),
        conversation_id: ConversationId::from_parts(at(0), [9; 10]),
        context_id: context_id(1),
        parent_id: parent.map(message_id),
        role,
        content: content.into(),
        reasoning: None,
        status: MessageStatus::Complete,
        token_count: Some(TokenCount { tokens: 3, tokenizer: "o200k".into() }),
        revision_id: None,
        model: None,
        usage: None,
        created_at: at(i64::from(number)),
        sibling_ids: vec![message_id(number)],
        vote: None,
        citations: Vec::new(),
        source: None,
    }
}

fn reply(number: u8, parent: u8, revision: &Revision, content: &str) -> Message {
    Message {
        revision_id: Some(revision.id.clone()),
        model: Some(ModelChoice { provider_id: ProviderId::from_parts(at(0), [7; 10]), model: "some-model".into() }),
        usage: Some(Usage { prompt_tokens: 40, completion_tokens: 5, cached_tokens: None }),
        ..message(number, Some(parent), Role::Assistant, content)
    }
}

/// Two companions, a branch that is not shown, and a reply that was stopped.
fn record() -> Record {
    let mara = Revision::new("Mara", "Mara is calm.", "Mara listens.", None, at(0));
    let otto = Revision::new("Otto", "Otto counts.", "", Some("Otto counts on."), at(0));
    let mut stopped = reply(4, 3, &mara, "# Not a title of the file\n\nBut a heading.  \n");
    (stopped.status, stopped.vote) = (MessageStatus::Stopped, Some(Vote::Up));
    let mut by_otto = reply(6, 5, &otto, "Two.");
    (by_otto.context_id, by_otto.reasoning) = (context_id(2), Some("One and one.".into()));
    let conversation = Conversation {
        id: ConversationId::from_parts(at(0), [9; 10]),
        context_id: context_id(1),
        title: "A \"bad\" day\nand more".into(),
        title_source: TitleSource::User,
        active_leaf_id: Some(message_id(6)),
        message_count: 6,
        is_pinned: true,
        is_archived: false,
        tags: vec!["work".into(), "فكرة".into()],
        created_at: at(0),
        last_activity_at: at(6),
        deleted_at: None,
    };
    Record {
        conversation,
        companion: Some("Mara".into()),
        messages: vec![
            message(1, None, Role::User, "EVERYTHING is ruined!!!"),
            reply(2, 1, &mara, "Another answer."),
            message(3, None, Role::User, "Everything is <b>ruined</b>."),
            stopped,
            message(5, Some(4), Role::User, "What is 1 + 1?"),
            by_otto,
        ],
        operations: Vec::new(),
        revisions: [mara, otto].map(|revision| (revision.id.clone(), revision)).into(),
        names: HashMap::new(),
        exported_at: at(60),
    }
}

#[test]
fn markdown_has_the_shown_branch() {
    insta::assert_snapshot!(markdown::written(&record()));
}

#[test]
fn json_has_every_branch() {
    insta::assert_snapshot!(json::written(&record()).unwrap());
}

#[test]
fn text_has_the_shown_branch_without_marks() {
    let text = text::written(&record());
    assert!(text.starts_with("A \"bad\" day and more\nWith Mara\n2026-03-01 09:00 UTC to 2026-03-01 09:06 UTC\n"), "{text}");
    assert!(text.contains("\nYou, 2026-03-01 09:03 UTC:\nEverything is <b>ruined</b>.\n"), "{text}");
    assert!(text.contains("\n[Stopped here.]\n\nYou,") && text.ends_with("\nOtto, 2026-03-01 09:06 UTC:\nTwo.\n"), "{text}");
    assert!(!text.contains("EVERYTHING"), "another branch: {text}");
}

/// The same, with a tool that was used for the last reply and one that was used for none.
fn record_with_tools() -> Record {
    let operation = |number: u8, message_id, result| Operation {
        id: OperationId::from_parts(at(0), [number; 10]),
        conversation_id: ConversationId::from_parts(at(0), [9; 10]),
        context_id: context_id(2),
        message_id,
        at: at(6),
        query: "What is 1 + 1?".into(),
        source: "Sums\n# and more".into(),
        tool_name: "add".into(),
        arguments: json!({ "numbers": [1, 1] }),
        result,
        metadata: OperationMetadata::default(),
        duration_ms: 7,
        error: None,
    };
    let long = format!("# No title\n```\n{}", "x".repeat(5_000));
    Record { operations: vec![operation(1, Some(message_id(6)), json!(long)), operation(2, None, json!(2))], ..record() }
}

#[test]
fn what_tools_did_stands_with_the_reply_shortened_where_it_is_read_and_whole_in_json() {
    let record = record_with_tools();
    let markdown = markdown::written(&record);
    let reply = markdown.split("## Otto").nth(1).unwrap();
    assert!(
        reply.contains("> Tool `Sums # and more · add`, 7 ms\n>\n> Called with:\n>\n>     {\n") && reply.contains("\nTwo.\n"),
        "{reply}"
    );
    assert!(reply.contains("\n>     # No title\n>     ```\n>     xxx") && reply.contains("x…\n"), "{reply}");
    assert!(reply.ends_with("> Answered:\n>\n>     2\n"), "{reply}");
    let text = text::written(&record);
    assert!(text.contains(":\n[Tool Sums # and more · add, 7 ms]\n  Called with:\n    {\n"), "{text}");
    assert!(text.contains("x…\nTwo.\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json::written(&record).unwrap()).unwrap();
    let done = &json["operations"][0];
    assert_eq!((&done["messageId"], &done["tool"]), (&json["messages"][5]["id"], &json!("add")));
    assert_eq!((&done["result"], &json["operations"][1]["messageId"]), (&record.operations[0].result, &json!(null)));
}

#[test]
fn what_tools_did_for_a_reply_that_was_never_stored_is_there() {
    let mut record = record_with_tools();
    record.operations[1].message_id = Some(message_id(9));
    assert!(markdown::written(&record).ends_with("> Answered:\n>\n>     2\n"));
    // Of another branch it is not.
    record.operations[1].message_id = Some(message_id(2));
    assert!(!markdown::written(&record).ends_with("> Answered:\n>\n>     2\n"));
}

#[test]
fn a_ring_of_parents_ends() {
    let mut damaged = record();
    damaged.messages[2].parent_id = Some(message_id(6));
    assert_eq!(damaged.shown().len(), damaged.messages.len());
}

#[test]
fn file_names_are_names_on_every_system() {
    for (title, stem) in [
        ("Trouble at work", "Trouble at work"),
        ("../../etc/passwd", "etc passwd"),
        ("a/b\\c:d*e?f\"g<h>i|j\0k\n", "a b c d e f g h i j k"),
        ("...", "conversation"),
        ("", "conversation"),
    ] {
        assert_eq!(file_stem(title), stem);
    }
    assert_eq!(file_stem(&"ü".repeat(200)).chars().count(), 60);
}
