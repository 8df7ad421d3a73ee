//! Receipts, by reference: what a message or a revision holds is never repeated here.
//!
//! Most blocks of a receipt are messages as they stand in the vault. Written out, each would take more room than
//! its text; they lie in a column of their own, 53 bytes each.

use crate::column::{bytes, of_json};
use crate::{ReadHandle, StoreError, WriteHandle};
use evenkeel_domain::{BlockKind, ContextId, MessageId, Origin, Receipt, ReceiptBlock, Role, RoundMessage};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const ID: usize = 16;
const HASH: usize = 32;
const TOKENS: usize = 4;
/// Bytes of one message in the column `history`.
const RECORD: usize = ID + HASH + TOKENS + 1;
const ROLES: [Role; 3] = [Role::User, Role::Assistant, Role::System];

/// The column `body`.
#[derive(Serialize, Deserialize)]
struct Body {
    /// Without its blocks, and without what its revision and its messages say.
    receipt: Receipt,
    blocks: Vec<Part>,
}

/// Blocks of a receipt.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    /// So many of the column `history`.
    Messages(u32),
    /// Any other, without its text where nothing else holds that.
    Block(Box<ReceiptBlock>),
}

/// A receipt as it lies in its row.
struct Packed {
    body: Body,
    history: Vec<u8>,
    /// Place of a block, and its text; after all blocks come the rounds, each as JSON.
    texts: Vec<(usize, String)>,
    is_derived: bool,
}

impl Packed {
    fn of(receipt: &Receipt) -> Self {
        let mut bare = Receipt { blocks: Vec::new(), speaker: String::new(), ..receipt.clone() };
        // It quotes a message.
        bare.meter.leaving = None;
        let mut packed =
            Self { body: Body { receipt: bare, blocks: Vec::new() }, history: Vec::new(), texts: Vec::new(), is_derived: false };
        receipt.blocks.iter().enumerate().for_each(|(at, block)| packed.add(at, block));
        packed.take_rounds(receipt.blocks.len());
        packed
    }

    /// What rounds have added was made from what was said, and is forgotten with it.
    fn take_rounds(&mut self, blocks: usize) {
        for (at, round) in self.body.receipt.rounds.iter_mut().enumerate() {
            let messages = std::mem::take(&mut round.messages);
            round.forgotten = false;
            self.is_derived |= messages.iter().any(|message| !matches!(message, RoundMessage::App { .. }));
            // Plain data, which always has a JSON form.
            self.texts.push((blocks + at, serde_json::to_string(&messages).unwrap_or_default()));
        }
    }

    fn add(&mut self, at: usize, block: &ReceiptBlock) {
        if let Some(record) = record(block) {
            self.history.extend(record);
            match self.body.blocks.last_mut() {
                Some(Part::Messages(count)) => *count += 1,
                _ => self.body.blocks.push(Part::Messages(1)),
            }
            return;
        }
        // The time alone says nothing of anybody.
        let is_own = block.origin != Origin::Clock;
        let mut block = ReceiptBlock { date: None, forgotten: false, ..block.clone() };
        if let Some(text) = is_own.then(|| block.text.take()).flatten() {
            self.texts.push((at, text));
            self.is_derived |= !matches!(block.origin, Origin::Goals | Origin::Tools);
        }
        self.body.blocks.push(Part::Block(Box::new(block)));
    }

    fn unpacked(self) -> Option<Receipt> {
        let mut receipt = self.body.receipt;
        let mut records = self.history.chunks_exact(RECORD);
        for part in self.body.blocks {
            match part {
                Part::Messages(count) => {
                    for _ in 0..count {
                        receipt.blocks.push(block(records.next()?)?);
                    }
                }
                Part::Block(block) => receipt.blocks.push(*block),
            }
        }
        for round in &mut receipt.rounds {
            round.forgotten = true;
        }
        let blocks = receipt.blocks.len();
        for (at, text) in self.texts {
            match at.checked_sub(blocks) {
                None => receipt.blocks.get_mut(at)?.text = Some(text),
                Some(at) => {
                    let round = receipt.rounds.get_mut(at)?;
                    (round.messages, round.forgotten) = (serde_json::from_str(&text).ok()?, false);
                }
            }
        }
        for block in &mut receipt.blocks {
            if let Origin::Message { id } | Origin::Recalled { id } = block.origin {
                block.date = id.born_at();
            }
            block.forgotten = is_lost(block);
        }
        Some(receipt)
    }
}

/// Whether a block's text lay here alone and was forgotten.
fn is_lost(block: &ReceiptBlock) -> bool {
    let lay_here = matches!(block.origin, Origin::State | Origin::Goals | Origin::Tools | Origin::Provider { .. });
    lay_here && block.text.is_none() && !block.hash.is_empty()
}

/// A message that was sent just as it stands in the vault.
fn record(block: &ReceiptBlock) -> Option<[u8; RECORD]> {
    let Origin::Message { id } = block.origin else { return None };
    let is_plain = block.included && block.kind == BlockKind::History && block.reason.is_none() && block.text.is_none();
    if !is_plain || !block.prefix.is_empty() || !block.edits.is_empty() {
        return None;
    }
    let mut record = [0; RECORD];
    record[..ID].copy_from_slice(&bytes(id.uuid()));
    record[ID..ID + HASH].copy_from_slice(&unhex(&block.hash)?);
    record[ID + HASH..ID + HASH + TOKENS].copy_from_slice(&block.tokens.to_le_bytes());
    record[RECORD - 1] = u8::try_from(ROLES.iter().position(|role| *role == block.role)?).ok()?;
    Some(record)
}

fn block(record: &[u8]) -> Option<ReceiptBlock> {
    let id = Uuid::from_slice(record.get(..ID)?).ok()?;
    let tokens = record.get(ID + HASH..ID + HASH + TOKENS)?.try_into().ok()?;
    Some(ReceiptBlock {
        kind: BlockKind::History,
        origin: Origin::Message { id: MessageId::from(id) },
        role: *ROLES.get(usize::from(*record.get(RECORD - 1)?))?,
        tokens: u32::from_le_bytes(tokens),
        included: true,
        reason: None,
        text: None,
        prefix: String::new(),
        edits: Vec::new(),
        hash: record.get(ID..ID + HASH)?.iter().map(|byte| format!("{byte:02x}")).collect(),
        date: None,
        forgotten: false,
    })
}

/// A hash in hex as its bytes.
fn unhex(text: &str) -> Option<[u8; HASH]> {
    let mut hash = [0; HASH];
    let digits = text.as_bytes();
    if digits.len() != 2 * HASH {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

fn packed(row: &Row<'_>) -> Result<Packed, StoreError> {
    let damaged = |_| StoreError::DamagedValue { what: "a receipt".to_owned() };
    let body: String = row.get(0)?;
    let texts: Option<String> = row.get(2)?;
    Ok(Packed {
        body: serde_json::from_str(&body).map_err(damaged)?,
        history: row.get(1)?,
        texts: texts.map_or(Ok(Vec::new()), |texts| serde_json::from_str(&texts)).map_err(damaged)?,
        is_derived: row.get(3)?,
    })
}

impl ReadHandle<'_> {
    /// The receipt of a reply or of the draft of one; `None` where there is none, as for replies from before there
    /// were receipts. A block whose text lay in the receipt alone is marked where that is forgotten; what has become
    /// of messages is for the caller to look up.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn receipt(&self, reply_id: MessageId) -> Result<Option<Receipt>, StoreError> {
        let sql = "SELECT body, history, texts, is_derived FROM receipts WHERE reply_id = ?1";
        let Some(packed) = self.one(sql, [bytes(reply_id.uuid())], packed)? else { return Ok(None) };
        let damaged = || StoreError::DamagedValue { what: format!("the receipt of {reply_id}") };
        let mut receipt = packed.unpacked().ok_or_else(damaged)?;
        if let Some(revision) = self.revision(&receipt.revision_id)? {
            revision.name.trim().clone_into(&mut receipt.speaker);
        }
        Ok(Some(receipt))
    }

    /// What a message says; `None` where it is deleted, even if that can be undone.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn message_content(&self, id: MessageId) -> Result<Option<String>, StoreError> {
        self.one("SELECT content FROM messages WHERE id = ?1", [bytes(id.uuid())], |row| Ok(row.get(0)?))
    }
}

impl WriteHandle<'_> {
    /// Keeps the receipt of a reply that `context_id` gave, in place of the one that was kept with its draft.
    ///
    /// # Errors
    /// `NotFound` where the reply is not stored; `Storage`, `DiskFull`.
    pub fn put_receipt(&mut self, context_id: ContextId, receipt: &Receipt) -> Result<(), StoreError> {
        let stored = "EXISTS (SELECT 1 FROM messages WHERE id = ?1)";
        // What was forgotten since the draft stays so.
        let otherwise = "DO UPDATE SET body = excluded.body, is_derived = excluded.is_derived,
             texts = CASE WHEN texts IS NULL AND is_derived = 1 THEN NULL ELSE excluded.texts END";
        if self.insert_receipt(context_id, receipt, stored, otherwise)? {
            return Ok(());
        }
        Err(StoreError::not_found(crate::Noun::Message, receipt.reply_id))
    }

    /// Keeps a receipt with the draft of its reply, so that it is there if the process ends suddenly. Does nothing
    /// where there is no draft, such as once the reply is stored, or has its receipt already with as many rounds.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn put_draft_receipt(&mut self, context_id: ContextId, receipt: &Receipt) -> Result<(), StoreError> {
        let drafted = "EXISTS (SELECT 1 FROM reply_drafts WHERE reply_id = ?1)";
        let otherwise = "DO UPDATE SET body = excluded.body, texts = excluded.texts, is_derived = excluded.is_derived
             WHERE length (excluded.texts) > coalesce (length (texts), CASE is_derived WHEN 0 THEN 0 END)";
        self.insert_receipt(context_id, receipt, drafted, otherwise).map(drop)
    }

    /// True if a row was written.
    fn insert_receipt(
        &mut self,
        context_id: ContextId,
        receipt: &Receipt,
        condition: &str,
        otherwise: &str,
    ) -> Result<bool, StoreError> {
        let packed = Packed::of(receipt);
        let texts = (!packed.texts.is_empty()).then(|| of_json(&packed.texts)).transpose()?;
        let sql = format!(
            "INSERT INTO receipts (reply_id, context_id, body, history, texts, is_derived, conversation_id)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6,
                    coalesce ((SELECT conversation_id FROM messages WHERE id = ?1),
                              (SELECT conversation_id FROM reply_drafts WHERE reply_id = ?1))
             WHERE {condition} ON CONFLICT (reply_id) {otherwise}"
        );
        let values = params![
            bytes(receipt.reply_id.uuid()),
            bytes(context_id.uuid()),
            of_json(&packed.body)?,
            packed.history,
            texts,
            packed.is_derived
        ];
        Ok(self.execute(&sql, values)? > 0)
    }

    /// Forgets the texts that receipts of a context's replies alone hold.
    pub(super) fn forget_receipt_texts(&mut self, context_id: ContextId) -> Result<(), StoreError> {
        let sql = "UPDATE receipts SET texts = NULL WHERE context_id = ?1 AND texts IS NOT NULL";
        self.execute(sql, [bytes(context_id.uuid())]).map(drop)
    }
}
