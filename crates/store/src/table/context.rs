//! Contexts and the immutable revisions of their personas.

use super::tag::Tagged;
use crate::column::{bytes, id, json, maybe_time, model, of_json, of_model, of_time, time};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Context, ContextId, PresetId, Revision, RevisionId, RevisionUse};
use rusqlite::{Row, params};

/// The texts come from the revision, so that the two cannot disagree.
macro_rules! select_contexts {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, r.name, r.system_prompt, r.personality, c.revision_id, c.temperature, c.max_tokens,
                    c.max_history_tokens, c.expiry_days, c.provider_id, c.model, c.local_only, c.maintain_personality,
                    c.preset_id, c.created_at, c.updated_at, c.last_interaction_at, c.expires_at, c.is_active,
                    r.anchor, c.deleted_at,
                    (SELECT json_group_array (t.tag ORDER BY t.place) FROM context_tags t WHERE t.context_id = c.id),
                    c.strategy, c.memory
             FROM contexts c JOIN revisions r ON r.id = c.revision_id ",
            $rest
        )
    };
}
pub(super) use select_contexts;

pub(super) fn context(row: &Row<'_>) -> Result<Context, StoreError> {
    Ok(Context {
        id: id(row, 0)?,
        name: row.get(1)?,
        system_prompt: row.get(2)?,
        personality: row.get(3)?,
        revision_id: RevisionId::new(row.get::<_, String>(4)?),
        temperature: row.get(5)?,
        max_tokens: row.get(6)?,
        max_history_tokens: row.get(7)?,
        expiry_days: row.get(8)?,
        model: model(row, 9)?,
        local_only: row.get(11)?,
        maintain_personality: row.get(12)?,
        preset_id: row.get::<_, Option<String>>(13)?.map(PresetId::new),
        created_at: time(row, 14)?,
        updated_at: time(row, 15)?,
        last_interaction_at: time(row, 16)?,
        expires_at: maybe_time(row, 17)?,
        is_active: row.get(18)?,
        anchor: row.get(19)?,
        deleted_at: maybe_time(row, 20)?,
        tags: json(row, 21)?,
        strategy: json(row, 22)?,
        memory: json(row, 23)?,
    })
}

fn revision(row: &Row<'_>) -> Result<Revision, StoreError> {
    Ok(Revision {
        id: RevisionId::new(row.get::<_, String>(0)?),
        name: row.get(1)?,
        system_prompt: row.get(2)?,
        personality: row.get(3)?,
        anchor: row.get(4)?,
        created_at: time(row, 5)?,
    })
}

impl ReadHandle<'_> {
    /// One context, active or not, in the trash or not.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn context(&self, context_id: ContextId) -> Result<Option<Context>, StoreError> {
        self.one(select_contexts!("WHERE c.id = ?1 AND c.purged_at IS NULL"), [bytes(context_id.uuid())], context)
    }

    /// Contexts, the one talked to last first; the inactive ones are the expired and the deleted.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn contexts(&self, include_inactive: bool, limit: u32, offset: u32) -> Result<Vec<Context>, StoreError> {
        self.all(
            select_contexts!(
                "WHERE (c.is_active OR ?1) AND c.purged_at IS NULL
                 ORDER BY c.last_interaction_at DESC, c.id DESC LIMIT ?2 OFFSET ?3"
            ),
            (include_inactive, limit, offset),
            context,
        )
    }

    /// Number of contexts.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn context_count(&self, include_inactive: bool) -> Result<u64, StoreError> {
        self.number("SELECT count(*) FROM contexts WHERE (is_active OR ?1) AND purged_at IS NULL", [include_inactive])
    }

    /// One revision; `created_at` is its first use by any context.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn revision(&self, revision_id: &RevisionId) -> Result<Option<Revision>, StoreError> {
        let sql = "SELECT id, name, system_prompt, personality, anchor, created_at FROM revisions WHERE id = ?1";
        self.one(sql, [revision_id.as_str()], revision)
    }

    /// The revisions a context has had, the newest first, each with the number of the context's
    /// messages that were answered under it.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn revisions(&self, context_id: ContextId) -> Result<Vec<RevisionUse>, StoreError> {
        self.all(
            "SELECT r.id, r.name, r.system_prompt, r.personality, r.anchor, r.created_at, u.used_at,
                    (SELECT count(*) FROM messages m WHERE m.revision_id = r.id AND m.context_id = u.context_id)
             FROM context_revisions u JOIN revisions r ON r.id = u.revision_id
             WHERE u.context_id = ?1 ORDER BY u.key DESC",
            [bytes(context_id.uuid())],
            |row| Ok(RevisionUse { revision: revision(row)?, used_at: time(row, 6)?, message_count: row.get(7)? }),
        )
    }
}

impl WriteHandle<'_> {
    /// Stores a new context with its first revision, and counts it to its preset.
    ///
    /// # Errors
    /// `Defect` if context and revision disagree or the id is taken; `Storage`, `DiskFull`.
    pub fn insert_context(&mut self, context: &Context, revision: &Revision) -> Result<(), StoreError> {
        self.keep_revision(context, revision)?;
        let (provider, model) = of_model(context.model.as_ref());
        self.execute(
            "INSERT INTO contexts (id, revision_id, temperature, max_tokens, max_history_tokens, expiry_days, provider_id, model,
                 local_only, maintain_personality, preset_id, created_at, updated_at, last_interaction_at, expires_at, is_active,
                 deleted_at, strategy, memory)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            params![
                bytes(context.id.uuid()),
                context.revision_id.as_str(),
                context.temperature,
                context.max_tokens,
                context.max_history_tokens,
                context.expiry_days,
                provider,
                model,
                context.local_only,
                context.maintain_personality,
                context.preset_id.as_ref().map(PresetId::as_str),
                context.created_at.timestamp_millis(),
                context.updated_at.timestamp_millis(),
                context.last_interaction_at.timestamp_millis(),
                of_time(context.expires_at),
                context.is_active,
                of_time(context.deleted_at),
                of_json(&context.strategy)?,
                of_json(&context.memory)?,
            ],
        )?;
        self.use_revision(context, revision)?;
        self.put_tags(Tagged::Context, bytes(context.id.uuid()), &context.tags)?;
        if let Some(preset_id) = &context.preset_id {
            self.count_preset_use(preset_id)?;
        }
        self.changed(Noun::Context, context.id);
        Ok(())
    }

    /// Replaces everything of a context except id, birth and what puts it into the trash, where it
    /// stays inactive; the revision may be the present one.
    ///
    /// # Errors
    /// `NotFound`; `Defect` if context and revision disagree; `Storage`, `DiskFull`.
    pub fn update_context(&mut self, context: &Context, revision: &Revision) -> Result<(), StoreError> {
        self.keep_revision(context, revision)?;
        let (provider, model) = of_model(context.model.as_ref());
        self.execute_on(
            Noun::Context,
            &context.id,
            "UPDATE contexts SET revision_id = ?2, temperature = ?3, max_tokens = ?4, max_history_tokens = ?5, expiry_days = ?6,
                 provider_id = ?7, model = ?8, local_only = ?9, maintain_personality = ?10, preset_id = ?11, updated_at = ?12,
                 last_interaction_at = ?13, expires_at = ?14, is_active = (?15 AND deleted_at IS NULL),
                 strategy = ?16, memory = ?17
             WHERE id = ?1 AND purged_at IS NULL",
            params![
                bytes(context.id.uuid()),
                context.revision_id.as_str(),
                context.temperature,
                context.max_tokens,
                context.max_history_tokens,
                context.expiry_days,
                provider,
                model,
                context.local_only,
                context.maintain_personality,
                context.preset_id.as_ref().map(PresetId::as_str),
                context.updated_at.timestamp_millis(),
                context.last_interaction_at.timestamp_millis(),
                of_time(context.expires_at),
                context.is_active,
                of_json(&context.strategy)?,
                of_json(&context.memory)?,
            ],
        )?;
        self.put_tags(Tagged::Context, bytes(context.id.uuid()), &context.tags)?;
        self.use_revision(context, revision)
    }

    /// Notes that the context was talked to: its lifetime, as long as it is set now, begins anew.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn touch_context(&mut self, id: ContextId, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Context,
            &id,
            "UPDATE contexts SET last_interaction_at = ?2, expires_at = ?2 + expiry_days * 86400000
             WHERE id = ?1 AND purged_at IS NULL",
            (bytes(id.uuid()), now.timestamp_millis()),
        )
    }

    /// Switches a context on, or off as expiry does; everything of it stays. In the trash it stays off.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_context_active(&mut self, id: ContextId, is_active: bool, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Context,
            &id,
            "UPDATE contexts SET is_active = (?2 AND deleted_at IS NULL), updated_at = ?3 WHERE id = ?1 AND purged_at IS NULL",
            (bytes(id.uuid()), is_active, now.timestamp_millis()),
        )
    }

    fn keep_revision(&mut self, context: &Context, revision: &Revision) -> Result<(), StoreError> {
        let of_context = (&context.revision_id, &context.name, &context.system_prompt, &context.personality, &context.anchor);
        if of_context != (&revision.id, &revision.name, &revision.system_prompt, &revision.personality, &revision.anchor) {
            return Err(StoreError::defect(format!("context {} does not have the texts of its revision", context.id)));
        }
        self.put_revision(revision)
    }

    pub(super) fn put_revision(&mut self, revision: &Revision) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO revisions (id, name, system_prompt, personality, anchor, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            params![
                revision.id.as_str(),
                revision.name,
                revision.system_prompt,
                revision.personality,
                revision.anchor,
                revision.created_at.timestamp_millis()
            ],
        )?;
        Ok(())
    }

    fn use_revision(&mut self, context: &Context, revision: &Revision) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO context_revisions (context_id, revision_id, used_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            (bytes(context.id.uuid()), revision.id.as_str(), context.updated_at.timestamp_millis()),
        )?;
        Ok(())
    }
}
