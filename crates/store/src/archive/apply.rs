//! Putting a record of an archive into the vault, with its id.

use super::error::ArchiveError;
use super::merge::Place;
use super::record::{
    ContextRecord, ConversationRecord, ENGINE, Json, MessageRecord, ModelFileRecord, PresetRecord, ProviderRecord, ReceiptRecord,
    Record, StateValueRecord, SummaryRecord,
};
use super::rows::engine_of;
use crate::column::{bytes, of_json, of_time};
use crate::{Noun, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use data_encoding::BASE64;
use evenkeel_domain::{ContextId, ModelFileId, PresetId, ProviderId, Revision, RevisionId, Settings, StrategyChoice, folded};
use rusqlite::params;
use uuid::Uuid;

/// Writes records.
pub(super) struct Apply<'w, 'c> {
    write: &'w mut WriteHandle<'c>,
    engine: Uuid,
}

impl<'w, 'c> Apply<'w, 'c> {
    pub fn new(write: &'w mut WriteHandle<'c>) -> Result<Self, StoreError> {
        let engine = engine_of(write)?.unwrap_or(ENGINE);
        Ok(Self { write, engine })
    }

    /// Adds a record, or puts it in the place of what the app itself has put there.
    pub fn add(&mut self, record: &Record, place: Place, now: DateTime<Utc>) -> Result<(), ArchiveError> {
        let added = match record {
            Record::Settings(one) => self.settings(one),
            Record::Preset(one) => self.preset(one),
            Record::Provider(one) => self.provider(one),
            Record::ModelFile(one) => self.model_file(one),
            Record::Revision(one) => {
                let (id, anchor, made) = (one.id.as_str(), one.anchor.as_deref(), one.created_at.timestamp_millis());
                self.run(
                    "INSERT INTO revisions (id, name, system_prompt, personality, anchor, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                    params![id, one.name, one.system_prompt, one.personality, anchor, made],
                )
            }
            Record::Context(one) => self.context(one),
            Record::FormerContext(one) => self.former_context(one.id, now),
            Record::Conversation(one) => self.conversation(one),
            Record::Message(one) => self.message(one, place),
            Record::Receipt(one) => self.receipt(one),
            Record::Summary(one) => self.summary(one),
            Record::StateValue(one) => self.state_value(one),
            Record::End(_) => Ok(()),
        };
        // What the checks let through and the schema refuses is the archive's fault, not the vault's.
        added.map_err(|error| match error {
            StoreError::Defect { what } => ArchiveError::invalid(format!("the vault refuses a record: {what}")),
            error => error.into(),
        })
    }

    fn run(&mut self, sql: &str, params: impl rusqlite::Params) -> Result<(), StoreError> {
        self.write.execute(sql, params).map(drop)
    }

    /// A provider's id in this vault.
    fn provider_id(&self, id: Option<ProviderId>) -> Option<[u8; 16]> {
        id.map(|id| bytes(if id.uuid() == ENGINE { self.engine } else { id.uuid() }))
    }

    fn json(&self, json: &Json) -> Json {
        json.renamed(ENGINE, self.engine)
    }

    fn settings(&mut self, one: &Json) -> Result<(), StoreError> {
        let settings: Settings =
            serde_json::from_str(self.json(one).text()).map_err(|_| StoreError::defect("the settings cannot be read"))?;
        self.write.put_settings(&settings)
    }

    fn preset(&mut self, one: &PresetRecord) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO presets (id, name, description, system_prompt, default_personality, temperature, max_tokens,
                 max_history_tokens, expiry_days, created_at, updated_at, is_active, metadata, is_edited)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 1)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
                 system_prompt = excluded.system_prompt, default_personality = excluded.default_personality,
                 temperature = excluded.temperature, max_tokens = excluded.max_tokens,
                 max_history_tokens = excluded.max_history_tokens, expiry_days = excluded.expiry_days,
                 created_at = excluded.created_at, updated_at = excluded.updated_at, is_active = excluded.is_active,
                 metadata = excluded.metadata, is_edited = 1",
            params![
                one.id.as_str(),
                one.name,
                one.description,
                one.system_prompt,
                one.personality,
                one.temperature,
                one.max_tokens,
                one.max_history_tokens,
                one.expiry_days,
                one.created_at.timestamp_millis(),
                one.updated_at.timestamp_millis(),
                one.is_active,
                one.metadata,
            ],
        )?;
        self.write.changed(Noun::Preset, &one.id);
        Ok(())
    }

    fn provider(&mut self, one: &ProviderRecord) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO providers (id, kind, name, base_url, locality, extra_headers, manual_models, window_override, timeout_seconds)
             VALUES (?1, ?2, ?3, ?4, ?5, '{}', ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, manual_models = excluded.manual_models,
                 window_override = excluded.window_override, timeout_seconds = excluded.timeout_seconds",
            params![
                self.provider_id(Some(one.id)),
                one.kind,
                one.name,
                one.base_url,
                one.locality,
                of_json(&one.manual_models)?,
                one.window_override,
                one.timeout_seconds,
            ],
        )?;
        self.write.changed(Noun::Provider, one.id);
        Ok(())
    }

    fn model_file(&mut self, one: &ModelFileRecord) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO model_files (id, path, name, window, size_bytes, added_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![one.id, one.path, one.name, one.window, one.size_bytes.cast_signed(), one.added_at.timestamp_millis()],
        )?;
        self.write.changed(Noun::ModelFile, ModelFileId::new(&one.id));
        Ok(())
    }

    fn context(&mut self, one: &ContextRecord) -> Result<(), StoreError> {
        let id = bytes(one.id.uuid());
        self.run(
            "INSERT INTO contexts (id, revision_id, temperature, max_tokens, max_history_tokens, expiry_days, provider_id, model,
                 local_only, maintain_personality, preset_id, created_at, updated_at, last_interaction_at, expires_at, is_active,
                 strategy, memory)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
             ON CONFLICT (id) DO UPDATE SET revision_id = excluded.revision_id, temperature = excluded.temperature,
                 max_tokens = excluded.max_tokens, max_history_tokens = excluded.max_history_tokens,
                 expiry_days = excluded.expiry_days, provider_id = excluded.provider_id, model = excluded.model,
                 local_only = excluded.local_only, maintain_personality = excluded.maintain_personality,
                 preset_id = excluded.preset_id, created_at = excluded.created_at, updated_at = excluded.updated_at,
                 last_interaction_at = excluded.last_interaction_at, expires_at = excluded.expires_at,
                 is_active = excluded.is_active, strategy = excluded.strategy, memory = excluded.memory, purged_at = NULL",
            params![
                id,
                one.revision_id.as_str(),
                one.temperature,
                one.max_tokens,
                one.max_history_tokens,
                one.expiry_days,
                self.provider_id(one.provider_id),
                one.model,
                one.local_only,
                one.maintain_personality,
                one.preset_id.as_ref().map(PresetId::as_str),
                one.created_at.timestamp_millis(),
                one.updated_at.timestamp_millis(),
                one.last_interaction_at.timestamp_millis(),
                of_time(one.expires_at),
                one.is_active,
                self.json(&one.strategy).text(),
                self.json(&one.memory).text(),
            ],
        )?;
        for used in &one.revisions {
            self.run(
                "INSERT INTO context_revisions (context_id, revision_id, used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![id, used.id.as_str(), used.used_at.timestamp_millis()],
            )?;
        }
        let tag = "INSERT INTO context_tags (context_id, folded, tag, place) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        self.tags(tag, id, &one.tags)?;
        if let Some(preset) = &one.preset_id {
            self.count_preset(preset, "contexts_made", 1)?;
        }
        self.write.changed(Noun::Context, one.id);
        Ok(())
    }

    fn tags(&mut self, sql: &str, id: [u8; 16], tags: &[String]) -> Result<(), StoreError> {
        (0_i64..).zip(tags).try_for_each(|(place, tag)| self.run(sql, params![id, folded(tag), tag, place]))
    }

    /// Adds to a counter of a preset; one that is not there counts nothing.
    pub fn count_preset(&mut self, preset: &PresetId, counter: &str, by: i64) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO preset_use (preset_id, {counter}) SELECT id, max (0, ?2) FROM presets WHERE id = ?1
             ON CONFLICT (preset_id) DO UPDATE SET {counter} = max (0, {counter} + ?2)"
        );
        self.run(&sql, params![preset.as_str(), by])?;
        self.write.changed(Noun::Preset, preset);
        Ok(())
    }

    /// The nameless place of a context that is gone, as purging leaves it.
    fn former_context(&mut self, id: ContextId, now: DateTime<Utc>) -> Result<(), StoreError> {
        let nameless = Revision::new("", "", "", None, DateTime::UNIX_EPOCH);
        self.run(
            "INSERT INTO revisions (id, name, system_prompt, personality, anchor, created_at) VALUES (?1, '', '', '', NULL, 0)
             ON CONFLICT DO NOTHING",
            [nameless.id.as_str()],
        )?;
        self.run(
            "INSERT INTO contexts (id, revision_id, temperature, max_tokens, max_history_tokens, local_only, maintain_personality,
                 created_at, updated_at, last_interaction_at, is_active, strategy, purged_at)
             VALUES (?1, ?2, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?3, ?4)",
            params![bytes(id.uuid()), nameless.id.as_str(), of_json(&StrategyChoice::default())?, now.timestamp_millis()],
        )
    }

    fn conversation(&mut self, one: &ConversationRecord) -> Result<(), StoreError> {
        let id = bytes(one.id.uuid());
        self.run(
            "INSERT INTO conversations (id, context_id, title, title_source, active_leaf_id, message_count, is_pinned, is_archived,
                 created_at, last_activity_at)
             VALUES (?1, ?2, ?3, ?4, NULL, 0, ?5, ?6, ?7, ?8)",
            params![
                id,
                bytes(one.context_id.uuid()),
                one.title,
                one.title_source,
                one.is_pinned,
                one.is_archived,
                one.created_at.timestamp_millis(),
                one.last_activity_at.timestamp_millis(),
            ],
        )?;
        let tag = "INSERT INTO conversation_tags (conversation_id, folded, tag, place) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING";
        self.tags(tag, id, &one.tags)?;
        self.write.changed(Noun::Conversation, one.id);
        Ok(())
    }

    fn message(&mut self, one: &MessageRecord, place: Place) -> Result<(), StoreError> {
        let (id, conversation) = (bytes(one.id.uuid()), bytes(one.conversation_id.uuid()));
        self.run(
            "INSERT INTO messages (key, id, conversation_id, context_id, parent_id, depth, role, content, reasoning, status, tokens,
                 tokenizer, revision_id, provider_id, model, prompt_tokens, completion_tokens, cached_tokens, created_at, metadata)
             VALUES (
                 max (coalesce((SELECT max (key) FROM messages), 0), coalesce((SELECT max (key) FROM deleted_messages), 0)) + 1,
                 ?1, ?2, ?3, ?4,
                 coalesce((SELECT depth + 1 FROM messages WHERE conversation_id = ?2 AND id = ?4), 0),
                 ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            params![
                id,
                conversation,
                bytes(one.context_id.uuid()),
                one.parent_id.map(|parent| bytes(parent.uuid())),
                one.role,
                one.content,
                one.reasoning,
                one.status,
                one.tokens,
                one.tokenizer,
                one.revision_id.as_ref().map(RevisionId::as_str),
                self.provider_id(one.provider_id),
                one.model,
                one.prompt_tokens,
                one.completion_tokens,
                one.cached_tokens,
                one.created_at.timestamp_millis(),
                one.metadata.as_ref().map(|metadata| self.json(metadata).text().to_owned()),
            ],
        )?;
        self.run("UPDATE conversations SET message_count = message_count + 1 WHERE id = ?1", [conversation])?;
        // Of a conversation that comes in parts a branch is shown all the time; the last one is said at its end.
        if place == Place::Ours {
            self.run("UPDATE conversations SET active_leaf_id = ?2 WHERE id = ?1", [conversation, id])?;
        }
        if one.is_read {
            self.run(
                "INSERT INTO state_reads (message_id, conversation_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [id, conversation],
            )?;
        }
        if let Some(vote) = one.vote {
            let preset = one.vote_preset_id.as_ref();
            let sql = "INSERT INTO feedback (message_id, vote, preset_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            self.run(sql, params![id, vote, preset.map(PresetId::as_str)])?;
            if let Some(preset) = preset {
                self.count_preset(preset, if vote > 0 { "thumbs_up" } else { "thumbs_down" }, 1)?;
            }
        }
        self.write.changed(Noun::Conversation, one.conversation_id);
        Ok(())
    }

    fn receipt(&mut self, one: &ReceiptRecord) -> Result<(), StoreError> {
        let history = BASE64.decode(one.history.as_bytes()).map_err(|_| StoreError::defect("a receipt's history"))?;
        self.run(
            "INSERT INTO receipts (reply_id, context_id, body, history, texts, is_derived, conversation_id)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, conversation_id FROM messages WHERE id = ?1",
            params![
                bytes(one.id.uuid()),
                bytes(one.context_id.uuid()),
                self.json(&one.body).text(),
                history,
                one.texts.as_ref().map(|texts| self.json(texts).text().to_owned()),
                one.is_derived,
            ],
        )
    }

    fn summary(&mut self, one: &SummaryRecord) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO summaries (id, conversation_id, up_to_id, up_to_key, text, pinned, tokens, tokenizer, provider_id, model,
                 round, is_edited, state, created_at)
             SELECT ?1, ?2, ?3, key, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM messages WHERE id = ?3",
            params![
                bytes(one.id.uuid()),
                bytes(one.conversation_id.uuid()),
                bytes(one.up_to_id.uuid()),
                one.text,
                of_json(&one.pinned)?,
                one.tokens,
                one.tokenizer,
                self.provider_id(one.provider_id),
                one.model,
                one.round,
                one.is_edited,
                one.state,
                one.created_at.timestamp_millis(),
            ],
        )?;
        let id = bytes(one.id.uuid());
        for (place, message) in &one.messages {
            self.run(
                "INSERT INTO summary_messages (summary_key, place, message_id) SELECT key, ?2, ?3 FROM summaries WHERE id = ?1",
                params![id, place, bytes(message.uuid())],
            )?;
        }
        for source in &one.sources {
            self.run(
                "INSERT INTO summary_sources (summary_key, source_key)
                 SELECT s.key, o.key FROM summaries s, summaries o WHERE s.id = ?1 AND o.id = ?2 ON CONFLICT DO NOTHING",
                [id, bytes(source.uuid())],
            )?;
        }
        self.write.changed(Noun::Summary, one.conversation_id);
        Ok(())
    }

    fn state_value(&mut self, one: &StateValueRecord) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO state_values (id, context_id, conversation_id, name, value, evidence_id, valid_from, valid_to, is_pinned,
                 is_edited, source, conflicts_with, is_suggestion)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                bytes(one.id.uuid()),
                bytes(one.context_id.uuid()),
                bytes(one.conversation_id.uuid()),
                one.name,
                self.json(&one.value).text(),
                one.evidence_id.map(|id| bytes(id.uuid())),
                one.valid_from.timestamp_millis(),
                of_time(one.valid_to),
                one.is_pinned,
                one.is_edited,
                one.source,
                one.conflicts_with_id.map(|id| bytes(id.uuid())),
                one.is_suggestion,
            ],
        )?;
        self.write.changed(Noun::State, one.conversation_id);
        Ok(())
    }
}
