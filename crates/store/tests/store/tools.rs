//! Servers of tools: what is decided holds for one wording, a conversation's permits end with it, and a purged context
//! uses nothing.

use crate::room::{Room, at, context, context_id, conversation_id};
use evenkeel_domain::{
    ErrorCode, ProviderLocality, Tool, ToolChoice, ToolPermit, ToolRule, ToolServer, ToolServerId, ToolTransport,
};
use evenkeel_store::Noun;
use serde_json::json;

fn server(number: u8) -> ToolServer {
    ToolServer {
        id: ToolServerId::from_parts(at(i64::from(number)), [number; 10]),
        name: "Notes".into(),
        transport: ToolTransport::Stdio { command: "notes".into(), args: vec!["--folder".into(), "/home/me".into()] },
        env_names: Vec::new(),
        token_hint: None,
        locality: ProviderLocality::Local,
        tools: Vec::new(),
        listed_at: None,
        created_at: at(1),
    }
}

fn tool(description: &str) -> Tool {
    Tool { name: "write".into(), description: description.into(), input_schema: json!({"type": "object"}) }
}

fn choice(server: &ToolServer) -> ToolChoice {
    ToolChoice { server_id: server.id, tool: "write".into() }
}

#[test]
fn a_server_keeps_its_tools_and_its_sealed_secrets_when_it_is_edited() {
    let room = Room::furnished();
    let plain = server(1);
    room.write(|write| write.upsert_tool_server(&plain));
    room.write(|write| write.set_tool_secrets(plain.id, Some(b"sealed"), &["KEY".to_owned()], Some("1234")));
    room.write(|write| write.set_tools_listed(plain.id, &[tool("Writes.")], at(5)));
    let renamed = ToolServer { name: "My notes".into(), ..plain.clone() };
    room.write(|write| write.upsert_tool_server(&renamed));
    let room = room.reopened();
    let kept = room.read(|read| read.tool_server(plain.id)).unwrap();
    assert_eq!((kept.name.as_str(), kept.tools.len(), kept.listed_at), ("My notes", 1, Some(at(5))));
    assert_eq!((kept.env_names, kept.token_hint.as_deref()), (vec!["KEY".to_owned()], Some("1234")));
    assert_eq!(room.read(|read| read.sealed_tool_secrets(plain.id)).as_deref(), Some(&b"sealed"[..]));
    room.write(|write| write.delete_tool_server(plain.id));
    assert_eq!(room.read(|read| read.tool_servers()), []);
    let gone = room.store.write(|write| write.delete_tool_server(plain.id)).unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
}

#[test]
fn what_is_decided_holds_for_one_wording_and_goes_with_its_server() {
    let room = Room::furnished();
    let notes = server(1);
    room.write(|write| write.upsert_tool_server(&notes));
    let (before, after) = (notes.fingerprint(&tool("Writes.")), notes.fingerprint(&tool("Writes, and sends it on.")));
    let permit = |fingerprint: &str| {
        let fingerprint = fingerprint.to_owned();
        room.read(move |read| read.tool_permit(conversation_id(1), &fingerprint))
    };
    assert_eq!(permit(&before), ToolPermit::default());
    room.write(|write| write.put_tool_rule(&choice(&notes), &before, ToolRule::Allowed, at(2)));
    room.write(|write| write.permit_tool(conversation_id(1), &before));
    assert_eq!(permit(&before), ToolPermit { rule: ToolRule::Allowed, in_conversation: true });
    assert_eq!(permit(&after), ToolPermit::default(), "another wording is another tool");
    room.write(|write| write.put_tool_rule(&choice(&notes), &after, ToolRule::Denied, at(3)));
    assert_eq!(permit(&before).rule, ToolRule::Ask, "one wording has one word");
    room.write(|write| write.delete_tool_server(notes.id));
    assert_eq!(permit(&after).rule, ToolRule::Ask);
}

#[test]
fn permits_of_a_conversation_end_with_it() {
    let room = Room::furnished();
    room.write(|write| write.permit_tool(conversation_id(1), "fingerprint"));
    assert!(room.read(|read| read.is_tool_permitted(conversation_id(1), "fingerprint")));
    room.write(|write| write.delete_conversation(conversation_id(1)));
    assert!(!room.read(|read| read.is_tool_permitted(conversation_id(1), "fingerprint")));
}

#[test]
fn a_context_uses_what_was_chosen_until_it_or_the_server_is_gone() {
    let room = Room::furnished();
    let (two, revision) = context(2, "Gone");
    room.write(|write| write.insert_context(&two, &revision));
    let (notes, other) = (server(1), server(2));
    room.write(|write| write.upsert_tool_server(&notes));
    room.write(|write| write.upsert_tool_server(&other));
    let both = [choice(&notes), choice(&other)];
    for id in [context_id(1), two.id] {
        room.write(|write| write.set_context_tools(id, &both));
    }
    assert_eq!(room.read(|read| read.context_tools(two.id)), both);
    room.write(|write| write.delete_tool_server(other.id));
    assert_eq!(room.read(|read| read.context_tools(two.id)), both[..1]);
    room.write(|write| write.purge_context(two.id, at(9)));
    assert_eq!(room.read(|read| read.context_tools(two.id)), []);
    assert_eq!(room.read(|read| read.context_tools(context_id(1))), both[..1]);
    assert!(Noun::ALL.contains(&Noun::Tool));
}
