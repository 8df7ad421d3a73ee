//! Rows of the vault as records of an archive: all that go into one, or the one with an id.
//!
//! What lies in the trash, and messages that were deleted and can be brought back, are in none of them, and
//! neither is what was made from such messages.

use super::journal::id_of;
use super::record::{
    ContextRecord, ConversationRecord, Counts, ENGINE, FormerContextRecord, Json, Kind, MessageRecord, ModelFileRecord,
    PresetRecord, ProviderRecord, ReceiptRecord, Record, RevisionRecord, RevisionUseRecord, StateValueRecord, SummaryRecord,
};
use crate::column::{bytes, id, json, maybe_id, maybe_revision, maybe_time, of_json, time};
use crate::{ReadHandle, StoreError};
use data_encoding::BASE64;
use evenkeel_domain::{ConversationId, MessageId, PresetId, ProviderId, RevisionId};
use rusqlite::{Row, params};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A context that neither lies in the trash nor is gone.
macro_rules! live_context {
    ($id:literal) => {
        concat!("EXISTS (SELECT 1 FROM contexts lc WHERE lc.id = ", $id, " AND lc.deleted_at IS NULL AND lc.purged_at IS NULL)")
    };
}

/// A conversation `v` of such a context that does not lie in the trash itself.
macro_rules! live_conversation {
    () => {
        concat!("v.deleted_at IS NULL AND ", live_context!("v.context_id"))
    };
}

/// Summaries `s` that rest on nothing that was deleted.
macro_rules! live_summary {
    () => {
        "s.state IN ('valid', 'replaced') AND EXISTS (SELECT 1 FROM messages m WHERE m.id = s.up_to_id)
         AND NOT EXISTS (SELECT 1 FROM summary_messages q WHERE q.summary_key = s.key
             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = q.message_id))
         AND NOT EXISTS (SELECT 1 FROM summary_sources o JOIN summary_messages q ON q.summary_key = o.source_key
             WHERE o.summary_key = s.key AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = q.message_id))"
    };
}

/// Values `s` of the state that were not taken from something that was deleted.
macro_rules! live_value {
    () => {
        concat!(
            "(s.evidence_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = s.evidence_id)) AND ",
            live_context!("s.context_id")
        )
    };
}

/// What follows `SELECT … ` for all records of a kind that stand by themselves.
macro_rules! from_all {
    (preset) => {
        " FROM presets WHERE is_edited = 1"
    };
    (provider) => {
        " FROM providers"
    };
    (model_file) => {
        " FROM model_files"
    };
    (revision) => {
        concat!(
            " FROM revisions r WHERE EXISTS (SELECT 1 FROM contexts c WHERE c.revision_id = r.id AND ",
            live_context!("c.id"),
            ") OR EXISTS (SELECT 1 FROM context_revisions u WHERE u.revision_id = r.id AND ",
            live_context!("u.context_id"),
            ") OR EXISTS (SELECT 1 FROM messages m JOIN conversations v ON v.id = m.conversation_id WHERE m.revision_id = r.id AND ",
            live_conversation!(),
            ")"
        )
    };
    (context) => {
        " FROM contexts c WHERE c.deleted_at IS NULL AND c.purged_at IS NULL"
    };
    (former_context) => {
        concat!(
            " FROM contexts c WHERE (c.deleted_at IS NOT NULL OR c.purged_at IS NOT NULL) AND EXISTS (
                SELECT 1 FROM messages m JOIN conversations v ON v.id = m.conversation_id WHERE m.context_id = c.id AND ",
            live_conversation!(),
            ")"
        )
    };
    (conversation) => {
        concat!(" FROM conversations v WHERE ", live_conversation!())
    };
}

const PRESET: &str = "SELECT id, name, description, system_prompt, default_personality, temperature, max_tokens,
    max_history_tokens, expiry_days, created_at, updated_at, is_active, metadata";
const PROVIDER: &str =
    "SELECT id, kind, name, base_url, locality, manual_models, window_override, timeout_seconds FROM providers";
const CONTEXT: &str =
    "SELECT c.id, c.revision_id, c.temperature, c.max_tokens, c.max_history_tokens, c.expiry_days, c.provider_id,
    c.model, c.local_only, c.maintain_personality, c.preset_id, c.created_at, c.updated_at, c.last_interaction_at, c.expires_at,
    c.is_active, (SELECT json_group_array (t.tag ORDER BY t.place) FROM context_tags t WHERE t.context_id = c.id), c.strategy,
    c.memory";
const CONVERSATION: &str = "SELECT v.id, v.context_id, v.title, v.title_source, v.active_leaf_id, v.is_pinned, v.is_archived,
    (SELECT json_group_array (t.tag ORDER BY t.place) FROM conversation_tags t WHERE t.conversation_id = v.id), v.created_at,
    v.last_activity_at";
const MESSAGE: &str = "SELECT m.id, m.conversation_id, m.context_id, m.parent_id, m.role, m.content, m.reasoning, m.status,
    m.tokens, m.tokenizer, m.revision_id, m.provider_id, m.model, m.prompt_tokens, m.completion_tokens, m.cached_tokens,
    m.created_at, m.metadata, (SELECT f.vote FROM feedback f WHERE f.message_id = m.id),
    (SELECT f.preset_id FROM feedback f WHERE f.message_id = m.id),
    EXISTS (SELECT 1 FROM state_reads q WHERE q.message_id = m.id) FROM messages m";
/// A text that was made from others is left out where a message of its conversation is deleted: it may rest on that.
const RECEIPT: &str = "SELECT r.reply_id, r.context_id, r.body, r.history,
    CASE WHEN r.is_derived = 0 OR NOT EXISTS (SELECT 1 FROM deleted_messages d WHERE d.conversation_id = r.conversation_id)
        THEN r.texts END, r.is_derived
    FROM receipts r";
const SUMMARY: &str = "SELECT s.id, s.conversation_id, s.up_to_id, s.text, s.pinned, s.tokens, s.tokenizer, s.provider_id,
    s.model, s.round, s.is_edited, s.state, s.created_at, s.key FROM summaries s";
const STATE_VALUE: &str =
    "SELECT s.id, s.context_id, s.conversation_id, s.name, s.value, s.evidence_id, s.valid_from, s.valid_to,
    s.is_pinned, s.is_edited, s.source, s.conflicts_with, s.is_suggestion FROM state_values s";

/// Reads rows as records.
pub(super) struct Rows<'r, 'c> {
    read: &'r ReadHandle<'c>,
    /// The built-in provider's id in this vault.
    engine: Option<Uuid>,
}

impl<'r, 'c> Rows<'r, 'c> {
    pub fn new(read: &'r ReadHandle<'c>) -> Result<Self, StoreError> {
        Ok(Self { read, engine: engine_of(read)? })
    }

    /// How many records of each kind an archive would have.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let of = |sql: &str| self.read.number(sql, []);
        let within = |table: &str, more: &str| {
            let live = concat!("IN (SELECT v.id FROM conversations v WHERE ", live_conversation!(), ")");
            self.read.number(&format!("SELECT count(*) FROM {table} s WHERE s.conversation_id {live} AND {more}"), [])
        };
        Ok(Counts {
            settings: 1,
            presets: of(concat!("SELECT count(*)", from_all!(preset)))?,
            providers: of(concat!("SELECT count(*)", from_all!(provider)))?,
            model_files: of(concat!("SELECT count(*)", from_all!(model_file)))?,
            revisions: of(concat!("SELECT count(*)", from_all!(revision)))?,
            contexts: of(concat!("SELECT count(*)", from_all!(context)))?,
            former_contexts: of(concat!("SELECT count(*)", from_all!(former_context)))?,
            conversations: of(concat!("SELECT count(*)", from_all!(conversation)))?,
            messages: within("messages", "1")?,
            receipts: within("messages", "EXISTS (SELECT 1 FROM receipts r WHERE r.reply_id = s.id)")?,
            summaries: within("summaries", live_summary!())?,
            state_values: within("state_values", live_value!())?,
        })
    }

    /// Gives every record in the order of an archive; of a conversation's rows one at a time is in memory.
    pub fn each<E: From<StoreError>>(&self, visit: &mut dyn FnMut(Record) -> Result<(), E>) -> Result<(), E> {
        visit(Record::Settings(self.settings()?))?;
        let of =
            |sql: String,
             map: &dyn Fn(&Row<'_>) -> Result<Record, StoreError>,
             visit: &mut dyn FnMut(Record) -> Result<(), E>| { self.read.each(&sql, [], |row| visit(map(row)?)) };
        of(format!("{PRESET}{} ORDER BY id", from_all!(preset)), &|row| preset(row).map(Record::Preset), visit)?;
        of(format!("{PROVIDER} ORDER BY kind = 'engine' DESC, id"), &|row| self.provider(row).map(Record::Provider), visit)?;
        of(format!("{MODEL_FILE} ORDER BY id"), &|row| model_file(row).map(Record::ModelFile), visit)?;
        let revisions = format!("{REVISION}{} ORDER BY r.id", from_all!(revision));
        of(revisions, &|row| revision(row).map(Record::Revision), visit)?;
        let contexts = format!("{CONTEXT}{} ORDER BY c.id", from_all!(context));
        of(contexts, &|row| self.context(row).map(|context| Record::Context(Box::new(context))), visit)?;
        let former = format!("SELECT c.id{} ORDER BY c.id", from_all!(former_context));
        of(former, &|row| Ok(Record::FormerContext(FormerContextRecord { id: id(row, 0)? })), visit)?;
        self.read.each(&format!("{CONVERSATION}{} ORDER BY v.id", from_all!(conversation)), [], |row| {
            let found = conversation(row)?;
            let conversation = found.id;
            visit(Record::Conversation(found))?;
            self.each_of(conversation, visit)
        })
    }

    /// Gives what belongs to a conversation.
    fn each_of<E: From<StoreError>>(
        &self,
        conversation: ConversationId,
        visit: &mut dyn FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let of = [bytes(conversation.uuid())];
        // Sorted with their texts they would all be in memory at once.
        let keys: Vec<i64> =
            self.read.all("SELECT key FROM messages WHERE conversation_id = ?1 ORDER BY key", of, |row| Ok(row.get(0)?))?;
        let message_at = format!("{MESSAGE} WHERE m.key = ?1");
        for key in &keys {
            let found = self.read.one(&message_at, [key], |row| self.message(row))?;
            visit(Record::Message(Box::new(found.ok_or_else(|| StoreError::defect("a message went while it was read"))?)))?;
        }
        let receipt_of = format!("{RECEIPT} WHERE r.reply_id = (SELECT m.id FROM messages m WHERE m.key = ?1)");
        for key in &keys {
            if let Some(found) = self.read.one(&receipt_of, [key], |row| self.receipt(row))? {
                visit(Record::Receipt(found))?;
            }
        }
        let summaries = format!("{SUMMARY} WHERE s.conversation_id = ?1 AND {} ORDER BY s.key", live_summary!());
        self.read.each(&summaries, of, |row| visit(Record::Summary(Box::new(self.summary(row)?))))?;
        let values = format!("{STATE_VALUE} WHERE s.conversation_id = ?1 AND {} ORDER BY s.key", live_value!());
        self.read.each(&values, of, |row| visit(Record::StateValue(self.state_value(row)?)))
    }

    /// The vault's record with the id of another, or of a model file with its path; `None` if there is none.
    pub fn like(&self, record: &Record) -> Result<Option<Record>, StoreError> {
        let Some((kind, id)) = record.kind().zip(id_of(record)) else { return Ok(None) };
        match record {
            Record::ModelFile(one) => {
                self.read.one(&format!("{MODEL_FILE} WHERE id = ?1 OR path = ?2"), [&one.id, &one.path], |row| {
                    model_file(row).map(Record::ModelFile)
                })
            }
            _ => self.find(kind, &id),
        }
    }

    /// The vault's record of a kind with an id.
    pub fn find(&self, kind: Kind, id: &str) -> Result<Option<Record>, StoreError> {
        let one = |sql: &str, map: &dyn Fn(&Row<'_>) -> Result<Record, StoreError>| {
            let uuid = Uuid::parse_str(id).map(|id| if id == ENGINE { self.engine.unwrap_or(ENGINE) } else { id });
            match uuid {
                Ok(uuid) if !matches!(kind, Kind::Preset | Kind::ModelFile | Kind::Revision) => {
                    self.read.one(sql, [bytes(uuid)], map)
                }
                _ => self.read.one(sql, [id], map),
            }
        };
        match kind {
            Kind::Settings => Ok(Some(Record::Settings(self.settings()?))),
            Kind::Preset => one(&format!("{PRESET} FROM presets WHERE id = ?1"), &|row| preset(row).map(Record::Preset)),
            Kind::Provider => one(&format!("{PROVIDER} WHERE id = ?1"), &|row| self.provider(row).map(Record::Provider)),
            Kind::ModelFile => one(&format!("{MODEL_FILE} WHERE id = ?1"), &|row| model_file(row).map(Record::ModelFile)),
            Kind::Revision => {
                one(&format!("{REVISION} FROM revisions r WHERE r.id = ?1"), &|row| revision(row).map(Record::Revision))
            }
            Kind::Context => one(&format!("{CONTEXT} FROM contexts c WHERE c.id = ?1"), &|row| {
                self.context(row).map(|context| Record::Context(Box::new(context)))
            }),
            Kind::FormerContext => one("SELECT id FROM contexts WHERE id = ?1", &|row| {
                Ok(Record::FormerContext(FormerContextRecord { id: crate::column::id(row, 0)? }))
            }),
            Kind::Conversation => one(&format!("{CONVERSATION} FROM conversations v WHERE v.id = ?1"), &|row| {
                conversation(row).map(Record::Conversation)
            }),
            Kind::Message => one(&format!("{MESSAGE} WHERE m.id = ?1"), &|row| {
                self.message(row).map(|message| Record::Message(Box::new(message)))
            }),
            Kind::Receipt => one(&format!("{RECEIPT} WHERE r.reply_id = ?1"), &|row| self.receipt(row).map(Record::Receipt)),
            Kind::Summary => one(&format!("{SUMMARY} WHERE s.id = ?1"), &|row| {
                self.summary(row).map(|summary| Record::Summary(Box::new(summary)))
            }),
            Kind::StateValue => {
                one(&format!("{STATE_VALUE} WHERE s.id = ?1"), &|row| self.state_value(row).map(Record::StateValue))
            }
        }
    }

    pub fn settings(&self) -> Result<Json, StoreError> {
        let text = of_json(&self.read.settings()?)?;
        self.of_text(&text, "settings")
    }

    /// A provider's id, the built-in one's by its name for every vault.
    fn provider_id(&self, row: &Row<'_>, column: usize) -> Result<Option<ProviderId>, StoreError> {
        let found: Option<ProviderId> = maybe_id(row, column)?;
        Ok(found.map(|id| if Some(id.uuid()) == self.engine { ENGINE.into() } else { id }))
    }

    fn of_text(&self, text: &str, what: &str) -> Result<Json, StoreError> {
        let json = Json::new(text).ok_or_else(|| StoreError::DamagedValue { what: format!("the JSON of {what}") })?;
        Ok(self.engine.map_or_else(|| json.clone(), |engine| json.renamed(engine, ENGINE)))
    }

    fn json(&self, row: &Row<'_>, column: usize) -> Result<Json, StoreError> {
        self.of_text(&row.get::<_, String>(column)?, &format!("column {column}"))
    }

    fn maybe_json(&self, row: &Row<'_>, column: usize) -> Result<Option<Json>, StoreError> {
        row.get::<_, Option<String>>(column)?.map(|text| self.of_text(&text, &format!("column {column}"))).transpose()
    }

    fn provider(&self, row: &Row<'_>) -> Result<ProviderRecord, StoreError> {
        Ok(ProviderRecord {
            id: self.provider_id(row, 0)?.unwrap_or(ENGINE.into()),
            kind: row.get(1)?,
            name: row.get(2)?,
            base_url: row.get(3)?,
            locality: row.get(4)?,
            manual_models: json(row, 5)?,
            window_override: row.get(6)?,
            timeout_seconds: row.get(7)?,
        })
    }

    fn context(&self, row: &Row<'_>) -> Result<ContextRecord, StoreError> {
        let used = "SELECT revision_id, used_at FROM context_revisions WHERE context_id = ?1 ORDER BY key";
        let revisions = self.read.all(used, [row.get::<_, [u8; 16]>(0)?], |row| {
            Ok(RevisionUseRecord { id: RevisionId::new(row.get::<_, String>(0)?), used_at: time(row, 1)? })
        })?;
        Ok(ContextRecord {
            id: id(row, 0)?,
            revision_id: RevisionId::new(row.get::<_, String>(1)?),
            revisions,
            temperature: row.get(2)?,
            max_tokens: row.get(3)?,
            max_history_tokens: row.get(4)?,
            expiry_days: row.get(5)?,
            provider_id: self.provider_id(row, 6)?,
            model: row.get(7)?,
            local_only: row.get(8)?,
            maintain_personality: row.get(9)?,
            preset_id: row.get::<_, Option<String>>(10)?.map(PresetId::new),
            created_at: time(row, 11)?,
            updated_at: time(row, 12)?,
            last_interaction_at: time(row, 13)?,
            expires_at: maybe_time(row, 14)?,
            is_active: row.get(15)?,
            tags: json(row, 16)?,
            strategy: self.json(row, 17)?,
            memory: self.json(row, 18)?,
        })
    }

    fn message(&self, row: &Row<'_>) -> Result<MessageRecord, StoreError> {
        Ok(MessageRecord {
            id: id(row, 0)?,
            conversation_id: id(row, 1)?,
            context_id: id(row, 2)?,
            parent_id: maybe_id(row, 3)?,
            role: row.get(4)?,
            content: row.get(5)?,
            reasoning: row.get(6)?,
            status: row.get(7)?,
            tokens: row.get(8)?,
            tokenizer: row.get(9)?,
            revision_id: maybe_revision(row, 10)?,
            provider_id: self.provider_id(row, 11)?,
            model: row.get(12)?,
            prompt_tokens: row.get(13)?,
            completion_tokens: row.get(14)?,
            cached_tokens: row.get(15)?,
            created_at: time(row, 16)?,
            metadata: self.maybe_json(row, 17)?,
            vote: row.get(18)?,
            vote_preset_id: row.get::<_, Option<String>>(19)?.map(PresetId::new),
            is_read: row.get(20)?,
        })
    }

    fn receipt(&self, row: &Row<'_>) -> Result<ReceiptRecord, StoreError> {
        Ok(ReceiptRecord {
            id: id(row, 0)?,
            context_id: id(row, 1)?,
            body: self.json(row, 2)?,
            history: BASE64.encode(&row.get::<_, Vec<u8>>(3)?),
            texts: self.maybe_json(row, 4)?,
            is_derived: row.get(5)?,
        })
    }

    fn summary(&self, row: &Row<'_>) -> Result<SummaryRecord, StoreError> {
        let key: i64 = row.get(13)?;
        let made_from = "SELECT place, message_id FROM summary_messages WHERE summary_key = ?1 ORDER BY place";
        let messages = self.read.all(made_from, [key], |row| Ok((row.get::<_, u32>(0)?, id::<MessageId>(row, 1)?)))?;
        let rests_on = "SELECT o.id FROM summary_sources q JOIN summaries o ON o.key = q.source_key
            WHERE q.summary_key = ?1 AND o.state IN ('valid', 'replaced') ORDER BY o.key";
        Ok(SummaryRecord {
            id: id(row, 0)?,
            conversation_id: id(row, 1)?,
            up_to_id: id(row, 2)?,
            text: row.get(3)?,
            pinned: json(row, 4)?,
            tokens: row.get(5)?,
            tokenizer: row.get(6)?,
            provider_id: self.provider_id(row, 7)?,
            model: row.get(8)?,
            round: row.get(9)?,
            is_edited: row.get(10)?,
            state: row.get(11)?,
            created_at: time(row, 12)?,
            messages: messages.into_iter().collect::<BTreeMap<_, _>>(),
            sources: self.read.all(rests_on, [key], |row| id(row, 0))?,
        })
    }

    fn state_value(&self, row: &Row<'_>) -> Result<StateValueRecord, StoreError> {
        Ok(StateValueRecord {
            id: id(row, 0)?,
            context_id: id(row, 1)?,
            conversation_id: id(row, 2)?,
            name: row.get(3)?,
            value: self.json(row, 4)?,
            evidence_id: maybe_id(row, 5)?,
            valid_from: time(row, 6)?,
            valid_to: maybe_time(row, 7)?,
            is_pinned: row.get(8)?,
            is_edited: row.get(9)?,
            source: row.get(10)?,
            conflicts_with_id: maybe_id(row, 11)?,
            is_suggestion: row.get(12)?,
        })
    }
}

const MODEL_FILE: &str = "SELECT id, path, name, window, size_bytes, added_at FROM model_files";
const REVISION: &str = "SELECT r.id, r.name, r.system_prompt, r.personality, r.anchor, r.created_at";

/// The built-in provider's id in a vault.
pub(super) fn engine_of(read: &ReadHandle<'_>) -> Result<Option<Uuid>, StoreError> {
    read.one("SELECT id FROM providers WHERE kind = 'engine' ORDER BY id LIMIT 1", params![], |row| id(row, 0))
}

fn preset(row: &Row<'_>) -> Result<PresetRecord, StoreError> {
    Ok(PresetRecord {
        id: PresetId::new(row.get::<_, String>(0)?),
        name: row.get(1)?,
        description: row.get(2)?,
        system_prompt: row.get(3)?,
        personality: row.get(4)?,
        temperature: row.get(5)?,
        max_tokens: row.get(6)?,
        max_history_tokens: row.get(7)?,
        expiry_days: row.get(8)?,
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
        is_active: row.get(11)?,
        metadata: row.get(12)?,
    })
}

fn model_file(row: &Row<'_>) -> Result<ModelFileRecord, StoreError> {
    Ok(ModelFileRecord {
        id: row.get(0)?,
        path: row.get(1)?,
        name: row.get(2)?,
        window: row.get(3)?,
        size_bytes: crate::column::count(row, 4)?,
        added_at: time(row, 5)?,
    })
}

fn revision(row: &Row<'_>) -> Result<RevisionRecord, StoreError> {
    Ok(RevisionRecord {
        id: RevisionId::new(row.get::<_, String>(0)?),
        name: row.get(1)?,
        system_prompt: row.get(2)?,
        personality: row.get(3)?,
        anchor: row.get(4)?,
        created_at: time(row, 5)?,
    })
}

fn conversation(row: &Row<'_>) -> Result<ConversationRecord, StoreError> {
    Ok(ConversationRecord {
        id: id(row, 0)?,
        context_id: id(row, 1)?,
        title: row.get(2)?,
        title_source: row.get(3)?,
        shown_message_id: maybe_id(row, 4)?,
        is_pinned: row.get(5)?,
        is_archived: row.get(6)?,
        tags: json(row, 7)?,
        created_at: time(row, 8)?,
        last_activity_at: time(row, 9)?,
    })
}
