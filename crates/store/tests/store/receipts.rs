//! Receipts: kept with a reply, by reference, and forgotten with it.

use crate::room::{Room, at, context, context_id, conversation, draft, full_reply, message, message_id, model};
use crate::sharing::raw;
use evenkeel_domain::{
    BlockKind, ErrorCode, Leaving, Origin, PromptForm, ProviderKind, RECEIPT_VERSION, Receipt, ReceiptBlock, ReceiptRound,
    Revision, Role, RoundCall, RoundMessage, StrategyUsed, TextEdit, TokenMeter, Usage, sha256_hex,
};
use evenkeel_store::StoreError;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn block(kind: BlockKind, origin: Origin, text: &str) -> ReceiptBlock {
    ReceiptBlock {
        kind,
        role: if kind == BlockKind::History { Role::Assistant } else { Role::System },
        tokens: 12,
        included: true,
        reason: None,
        text: None,
        prefix: String::new(),
        edits: Vec::new(),
        hash: if text.is_empty() { String::new() } else { sha256_hex(text.as_bytes()) },
        date: match origin {
            Origin::Message { id } | Origin::Recalled { id } => id.born_at(),
            _ => None,
        },
        forgotten: false,
        origin,
    }
}

fn held(origin: Origin, text: &str) -> ReceiptBlock {
    ReceiptBlock { text: Some(text.to_owned()), ..block(BlockKind::Trailing, origin, text) }
}

/// Goals, the messages as they stand in the vault, and the time.
pub fn blocks(messages: &[u64]) -> Vec<ReceiptBlock> {
    let said = |&number: &u64| {
        let text = format!("message {number}");
        block(BlockKind::History, Origin::Message { id: message_id(number) }, &text)
    };
    let goals = held(Origin::Goals, "Goals: none");
    [goals].into_iter().chain(messages.iter().map(said)).chain([held(Origin::Clock, "It is noon.")]).collect()
}

pub fn receipt(reply: u64, revision: &Revision, blocks: Vec<ReceiptBlock>) -> Receipt {
    Receipt {
        version: RECEIPT_VERSION,
        reply_id: message_id(reply),
        user_message_id: message_id(1),
        created_at: at(7),
        revision_id: revision.id.clone(),
        speaker: revision.name.clone(),
        model: model(1),
        model_name: "m".into(),
        provider_name: "Scripted".into(),
        provider_kind: ProviderKind::Anthropic,
        address: "https://models.example/v1/messages".into(),
        temperature: 0.7,
        max_tokens: 500,
        window: 8_192,
        strategy: StrategyUsed { id: "std-full-strategy".into(), version: "1".into(), instead_of: None },
        form: PromptForm::Messages,
        blocks,
        meter: TokenMeter { history_tokens: 12, ..TokenMeter::default() },
        follow_up: None,
        request_hash: sha256_hex(b"body"),
        request_bytes: 4,
        usage: Some(Usage { prompt_tokens: 40, completion_tokens: 5, cached_tokens: Some(30) }),
        rounds: Vec::new(),
    }
}

/// Message 1, and reply 2 to it with a receipt.
fn answered(blocks: Vec<ReceiptBlock>) -> (Room, Receipt) {
    let room = Room::furnished();
    let (_, revision) = context(1, "Calm Counselor");
    let receipt = receipt(2, &revision, blocks);
    room.write(|write| {
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &revision))?;
        write.put_receipt(context_id(1), &receipt)
    });
    (room, receipt)
}

fn read(room: &Room) -> Option<Receipt> {
    room.read(|read| read.receipt(message_id(2)))
}

fn rows(room: &Room) -> i64 {
    raw(&room.path()).query_row("SELECT count(*) FROM receipts", [], |row| row.get(0)).unwrap()
}

fn any_block() -> impl Strategy<Value = ReceiptBlock> {
    let origin = (0usize..8, 0u64..9).prop_map(|(kind, number)| match kind {
        0 => Origin::Revision { id: context(1, "Calm Counselor").1.id },
        1 => Origin::Earlier { messages: 7 },
        2 => Origin::Clock,
        3 => Origin::State,
        4 => Origin::Recalled { id: message_id(number) },
        _ => Origin::Message { id: message_id(number) },
    });
    let edit = TextEdit { start: 1, end: 2, with: "…".into() };
    let change = (0usize..9, any::<u32>(), 0usize..3, any::<bool>());
    (origin, change, "[a-z]{0,9}").prop_map(move |(origin, (change, tokens, role, included), text)| {
        let lies_here = matches!(origin, Origin::State | Origin::Clock);
        let mut block = block(BlockKind::History, origin, &text);
        (block.tokens, block.role, block.included) = (tokens, [Role::User, Role::Assistant, Role::System][role], included);
        block.text = (lies_here && !text.is_empty()).then_some(text);
        match change {
            0 => block.prefix = "Anna: ".into(),
            1 => block.edits = vec![edit.clone()],
            2 => block.reason = Some("why".into()),
            3 => block.kind = BlockKind::Memory,
            _ => {}
        }
        block
    })
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..Config::default() })]

    #[test]
    fn a_receipt_is_read_as_it_was_written(blocks in proptest::collection::vec(any_block(), 0..40)) {
        let (room, receipt) = answered(blocks);
        prop_assert_eq!(read(&room), Some(receipt));
    }
}

#[test]
fn there_is_none_without_its_reply_and_a_second_one_takes_its_place() {
    let (room, receipt) = answered(blocks(&[1]));
    let missing = Receipt { reply_id: message_id(99), ..receipt.clone() };
    let error = room.store.write(|write| write.put_receipt(context_id(1), &missing)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert_eq!(room.read(|read| read.receipt(message_id(1))), None);
    let again = Receipt { usage: None, ..receipt };
    room.write(|write| write.put_receipt(context_id(1), &again));
    assert_eq!(read(&room), Some(again));
}

#[test]
fn it_comes_back_with_its_reply_and_goes_with_it_for_good() {
    let (room, receipt) = answered(blocks(&[1]));
    room.write(|write| write.delete_message(message_id(2), at(900)));
    assert_eq!(rows(&room), 1, "the deletion can be undone");
    room.write(|write| write.restore_message(message_id(2)));
    assert_eq!(read(&room), Some(receipt));
    room.write(|write| write.delete_message(message_id(2), at(900)));
    room.write(|write| write.forget_deleted_messages(at(901)));
    assert_eq!(rows(&room), 0);

    let (room, _) = answered(blocks(&[1]));
    room.write(|write| write.delete_conversation(conversation(1, 1).id));
    assert_eq!(rows(&room), 0);
}

#[test]
fn a_receipt_of_a_reply_that_was_cut_off_is_kept_with_its_draft() {
    let room = Room::furnished();
    let (_, revision) = context(1, "Calm Counselor");
    let receipt = Receipt { usage: None, ..receipt(2, &revision, blocks(&[1])) };
    let keep = |write: &mut evenkeel_store::WriteHandle<'_>| write.put_draft_receipt(context_id(1), &receipt);
    room.write(|write| write.insert_message(message(1, None)));
    room.write(keep);
    assert_eq!(rows(&room), 0, "there is no draft");
    room.write(|write| {
        write.put_draft(&draft(2, 1, "half", 1))?;
        keep(write)
    });
    room.write(|write| write.delete_draft(message_id(2)));
    assert_eq!(rows(&room), 0, "nothing came of it");
    room.write(|write| {
        write.put_draft(&draft(2, 1, "half", 1))?;
        keep(write)
    });
    let recovered = room.write(|write| write.recover_drafts(at(900), |_| true));
    assert_eq!((recovered[0].id, read(&room)), (message_id(2), Some(receipt.clone())));

    // A draft that is late changes nothing of what is stored.
    let whole = Receipt { usage: Some(Usage::default()), ..receipt.clone() };
    room.write(|write| write.put_receipt(context_id(1), &whole));
    room.write(keep);
    assert_eq!(read(&room), Some(whole));
}

/// A round in which a model asked for a tool.
fn round(result: &str) -> ReceiptRound {
    let call = RoundCall {
        id: "call-1".into(),
        name: "look".into(),
        arguments: "{}".into(),
        server: "Notes".into(),
        tool: "look".into(),
    };
    let messages = vec![
        RoundMessage::Model { text: String::new(), calls: vec![call.clone()], tokens: 1 },
        RoundMessage::Tool { call, text: result.to_owned(), tokens: 9 },
    ];
    let request_hash = sha256_hex(result.as_bytes());
    ReceiptRound { messages, tokens: 10, tools_are_over: false, request_hash, request_bytes: 8, forgotten: false }
}

#[test]
fn rounds_are_kept_with_the_draft_then_with_the_reply_and_forgotten_with_what_was_said() {
    let room = Room::furnished();
    let (_, revision) = context(1, "Calm Counselor");
    let first = receipt(2, &revision, blocks(&[1]));
    let with = |rounds: &[ReceiptRound]| Receipt { rounds: rounds.to_vec(), ..first.clone() };
    let (one, two) = (with(&[round("noon")]), with(&[round("noon"), round("one")]));
    room.write(|write| write.insert_message(message(1, None)));
    room.write(|write| write.put_draft(&draft(2, 1, "half", 1)));
    for (kept, expected) in [(&first, &first), (&one, &one), (&first, &one), (&two, &two)] {
        room.write(|write| write.put_draft_receipt(context_id(1), kept));
        assert_eq!(read(&room).as_ref(), Some(expected), "one that is late takes no round away");
    }
    room.write(|write| {
        write.delete_draft(message_id(2))?;
        write.insert_message(full_reply(2, 1, &revision))?;
        write.put_receipt(context_id(1), &two)
    });
    assert_eq!(read(&room), Some(two));
    room.write(|write| write.insert_message(message(3, Some(2))));
    room.write(|write| write.delete_message(message_id(3), at(900)));
    room.write(|write| write.forget_deleted_messages(at(901)));
    let lost: Vec<_> = read(&room).unwrap().rounds.iter().map(|round| (round.forgotten, round.messages.len())).collect();
    assert_eq!(lost, [(true, 0), (true, 0)]);
}

#[test]
fn texts_that_lie_there_alone_are_forgotten_with_what_they_were_made_from() {
    let state = |text: &str| vec![held(Origin::Goals, "goal"), held(Origin::State, text), held(Origin::Clock, "noon")];
    let (room, _) = answered(state("name: Otto"));
    room.write(|write| write.insert_message(message(3, Some(2))));
    room.write(|write| write.delete_message(message_id(3), at(900)));
    assert!(read(&room).unwrap().blocks.iter().all(|block| !block.forgotten), "that can be undone");
    room.write(|write| write.forget_deleted_messages(at(901)));
    let kept = read(&room).unwrap();
    let lost: Vec<_> = kept.blocks.iter().map(|block| (block.forgotten, block.text.as_deref(), block.hash.len())).collect();
    assert_eq!(lost, [(true, None, 64), (true, None, 64), (false, Some("noon"), 64)]);

    // Goals alone are not made from what was said.
    let (room, receipt) = answered(vec![held(Origin::Goals, "goal")]);
    room.write(|write| write.insert_message(message(3, Some(2))));
    room.write(|write| write.delete_message(message_id(3), at(900)));
    room.write(|write| write.forget_deleted_messages(at(901)));
    assert_eq!(read(&room), Some(receipt));
}

#[test]
fn what_another_context_made_of_a_forgotten_message_goes_too() {
    let (room, _) = answered(blocks(&[]));
    let (guest, revision) = context(2, "Guest");
    let mut reply = full_reply(3, 1, &revision);
    (reply.context_id, reply.revision_id) = (guest.id, Some(revision.id.clone()));
    let of_guest = receipt(3, &revision, vec![held(Origin::State, "name: Otto"), held(Origin::Goals, "goal")]);
    room.write(|write| {
        write.insert_context(&guest, &revision)?;
        write.insert_message(reply)?;
        write.put_receipt(guest.id, &of_guest)?;
        write.insert_message(message(4, Some(3)))?;
        write.delete_message(message_id(4), at(900))
    });
    room.write(|write| write.forget_deleted_messages(at(901)));
    let kept = room.read(|read| read.receipt(message_id(3))).unwrap();
    assert!(kept.blocks.iter().all(|block| block.forgotten && block.text.is_none()), "{:?}", kept.blocks);
}

#[test]
fn a_purged_context_leaves_no_goals_in_the_receipts_of_others_conversations() {
    let (room, _) = answered(blocks(&[]));
    let (guest, revision) = context(2, "Guest");
    let mut reply = full_reply(3, 1, &revision);
    (reply.context_id, reply.revision_id) = (guest.id, Some(revision.id.clone()));
    let of_guest = receipt(3, &revision, vec![held(Origin::Goals, "MARKERgoal")]);
    room.write(|write| {
        write.insert_context(&guest, &revision)?;
        write.insert_message(reply)?;
        write.put_receipt(guest.id, &of_guest)?;
        write.trash_context(guest.id, at(3))
    });
    room.write(|write| write.purge_context(guest.id, at(4)));
    let kept = room.read(|read| read.receipt(message_id(3))).unwrap();
    assert!(kept.blocks[0].forgotten && kept.blocks[0].text.is_none());
    assert_eq!(kept.speaker, "Guest", "the reply stays with the name it was given under");
    assert!(!read(&room).unwrap().blocks[0].forgotten, "the others' stay");
}

#[test]
fn nothing_of_a_message_or_a_persona_lies_in_the_table() {
    let room = Room::furnished();
    let (one, revision) = context(1, "MARKERname");
    let mut receipt = receipt(2, &revision, blocks(&[1]));
    let beginning = "MARKERtext".to_owned();
    receipt.meter.leaving = Some(Leaving { messages: 1, first_id: message_id(1), beginning });
    room.write(|write| {
        write.update_context(&one, &revision)?;
        write.insert_message(message(1, None))?;
        write.insert_message(full_reply(2, 1, &revision))?;
        write.put_receipt(one.id, &receipt)
    });
    let sql = "SELECT body || coalesce (texts, '') FROM receipts";
    let row: String = raw(&room.path()).query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(!row.contains("MARKER") && !row.contains("message 1"), "{row}");
    let kept = read(&room).unwrap();
    assert_eq!((kept.speaker.as_str(), kept.meter.leaving), ("MARKERname", None));
}

#[test]
fn a_message_takes_little_room_in_a_receipt() {
    let size = |messages: u64| {
        let (room, _) = answered(blocks(&(1..=messages).collect::<Vec<_>>()));
        let sql = "SELECT length (CAST (body AS BLOB)) + length (history) FROM receipts";
        let bytes: i64 = raw(&room.path()).query_row(sql, [], |row| row.get(0)).unwrap();
        bytes
    };
    let (few, many) = (size(10), size(210));
    println!("a receipt of 10 messages takes {few} bytes, one of 210 takes {many}");
    assert!((many - few) / 200 <= 54, "{few} {many}");
}

#[test]
fn a_damaged_receipt_is_an_error_and_not_a_guess() {
    let (room, _) = answered(blocks(&[1]));
    for sql in [
        "UPDATE receipts SET history = zeroblob (0)",
        "UPDATE receipts SET history = zeroblob (53), texts = '[[99,\"x\"]]'",
        "UPDATE receipts SET body = '{}'",
    ] {
        raw(&room.path()).execute(sql, []).unwrap();
        let error = room.store.read(|read| read.receipt(message_id(2))).unwrap_err();
        assert!(matches!(error, StoreError::DamagedValue { .. }), "{error}");
    }
}
