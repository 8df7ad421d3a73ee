//! Presets: the built-in ones and the user's own.

use crate::column::time;
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{BUILT_IN_PRESETS, DefaultSettings, Preset, PresetId, PresetQuery};
use rusqlite::{Row, params};

macro_rules! select_presets {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, description, system_prompt, default_personality, temperature, max_tokens, max_history_tokens,
                    expiry_days, created_at, updated_at, is_active, metadata, coalesce(contexts_made, 0),
                    coalesce(thumbs_up, 0), coalesce(thumbs_down, 0), is_edited
             FROM presets LEFT JOIN preset_use ON preset_id = id ",
            $rest
        )
    };
}

/// One row; what to do where the id is known already is the caller's.
macro_rules! insert_preset {
    ($conflict:literal) => {
        concat!(
            "INSERT INTO presets (id, name, description, system_prompt, default_personality, temperature, max_tokens,
                 max_history_tokens, expiry_days, created_at, updated_at, is_active, metadata, is_edited)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
                 system_prompt = excluded.system_prompt, default_personality = excluded.default_personality,
                 temperature = excluded.temperature, max_tokens = excluded.max_tokens,
                 max_history_tokens = excluded.max_history_tokens, expiry_days = excluded.expiry_days,
                 updated_at = excluded.updated_at, is_active = excluded.is_active, metadata = excluded.metadata,
                 is_edited = excluded.is_edited ",
            $conflict
        )
    };
}

fn preset(row: &Row<'_>) -> Result<Preset, StoreError> {
    let id = PresetId::new(row.get::<_, String>(0)?);
    let is_built_in = built_in_place(&id) < BUILT_IN_PRESETS.len();
    Ok(Preset {
        id,
        name: row.get(1)?,
        description: row.get(2)?,
        system_prompt: row.get(3)?,
        default_personality: row.get(4)?,
        default_settings: DefaultSettings {
            temperature: row.get(5)?,
            max_tokens: row.get(6)?,
            max_history_tokens: row.get(7)?,
            expiry_days: row.get(8)?,
        },
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
        is_active: row.get(11)?,
        metadata: row.get(12)?,
        use_count: row.get(13)?,
        thumbs_up: row.get(14)?,
        thumbs_down: row.get(15)?,
        is_built_in,
        is_edited: is_built_in && row.get(16)?,
    })
}

impl ReadHandle<'_> {
    /// One preset, hidden or not.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn preset(&self, id: &PresetId) -> Result<Option<Preset>, StoreError> {
        self.one(select_presets!("WHERE id = ?1"), [id.as_str()], preset)
    }

    /// All presets by age, the oldest first; built-in ones of the same age in the order of the app.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn presets(&self, include_inactive: bool) -> Result<Vec<Preset>, StoreError> {
        let sql = select_presets!("WHERE is_active OR ?1 ORDER BY created_at, id");
        let mut presets = self.all(sql, [include_inactive], preset)?;
        presets.sort_by_key(|preset| (preset.created_at, built_in_place(&preset.id)));
        Ok(presets)
    }

    /// One page of presets, and how many there are on all pages: experimental ones first, since
    /// those are asked to be judged, then as in [`ReadHandle::presets`].
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn presets_page(&self, query: &PresetQuery) -> Result<(Vec<Preset>, u64), StoreError> {
        let mut presets = self.presets(query.include_inactive)?;
        presets.sort_by_key(|preset| !preset.is_experimental());
        let total = presets.len() as u64;
        let start = u64::from(query.page.saturating_sub(1)) * u64::from(query.page_size);
        let page = presets.into_iter().skip(usize::try_from(start).unwrap_or(usize::MAX)).take(query.page_size as usize);
        Ok((page.collect(), total))
    }
}

impl WriteHandle<'_> {
    /// Puts the built-in presets in, and refreshes those that the user never edited. Running it
    /// again changes nothing; one that was edited, hidden or deleted by the user stays so.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn seed_presets(&mut self, now: DateTime<Utc>) -> Result<(), StoreError> {
        for built_in in BUILT_IN_PRESETS {
            let preset = built_in.to_preset(now);
            let sql = insert_preset!(
                "WHERE is_edited = 0
                   AND (name, description, system_prompt, default_personality, temperature, max_tokens, max_history_tokens,
                        expiry_days, metadata)
                       IS NOT (excluded.name, excluded.description, excluded.system_prompt, excluded.default_personality,
                        excluded.temperature, excluded.max_tokens, excluded.max_history_tokens, excluded.expiry_days,
                        excluded.metadata)"
            );
            if self.put_preset(sql, &preset, false)? > 0 {
                self.changed(Noun::Preset, &preset.id);
            }
        }
        Ok(())
    }

    /// Stores a preset, new or edited; the birth and the counters of a known one stay.
    ///
    /// # Errors
    /// `Defect` if `metadata` is no JSON; `Storage`, `DiskFull`.
    pub fn upsert_preset(&mut self, preset: &Preset) -> Result<(), StoreError> {
        self.put_preset(insert_preset!(""), preset, true)?;
        self.changed(Noun::Preset, &preset.id);
        Ok(())
    }

    /// Gives a built-in preset its shipped text and settings again, and shows it.
    ///
    /// # Errors
    /// `NotFound` if none of that id ships with the app; `Storage`, `DiskFull`.
    pub fn reset_preset(&mut self, id: &PresetId, now: DateTime<Utc>) -> Result<(), StoreError> {
        let shipped = BUILT_IN_PRESETS.get(built_in_place(id)).ok_or_else(|| StoreError::not_found(Noun::Preset, id))?;
        self.put_preset(insert_preset!(""), &shipped.to_preset(now), false)?;
        self.changed(Noun::Preset, id);
        Ok(())
    }

    /// Counts a context that was made from a preset; one that is gone is not counted.
    pub(super) fn count_preset_use(&mut self, id: &PresetId) -> Result<(), StoreError> {
        let sql = "INSERT INTO preset_use (preset_id, contexts_made) SELECT id, 1 FROM presets WHERE id = ?1
                   ON CONFLICT (preset_id) DO UPDATE SET contexts_made = contexts_made + 1";
        if self.execute(sql, [id.as_str()])? > 0 {
            self.changed(Noun::Preset, id);
        }
        Ok(())
    }

    /// Deletes a preset. A built-in one is only hidden, or the next start would bring it back.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_preset(&mut self, id: &PresetId) -> Result<(), StoreError> {
        let sql = if built_in_place(id) < BUILT_IN_PRESETS.len() {
            "UPDATE presets SET is_active = 0, is_edited = 1 WHERE id = ?1"
        } else {
            "DELETE FROM presets WHERE id = ?1"
        };
        self.execute_on(Noun::Preset, id, sql, [id.as_str()])
    }

    fn put_preset(&mut self, sql: &str, preset: &Preset, is_edited: bool) -> Result<usize, StoreError> {
        let settings = &preset.default_settings;
        self.execute(
            sql,
            params![
                preset.id.as_str(),
                preset.name,
                preset.description,
                preset.system_prompt,
                preset.default_personality,
                settings.temperature,
                settings.max_tokens,
                settings.max_history_tokens,
                settings.expiry_days,
                preset.created_at.timestamp_millis(),
                preset.updated_at.timestamp_millis(),
                preset.is_active,
                preset.metadata,
                is_edited,
            ],
        )
    }
}

/// The place among the built-in presets; their number for one of the user's own.
fn built_in_place(id: &PresetId) -> usize {
    BUILT_IN_PRESETS.iter().position(|built_in| built_in.id == id.as_str()).unwrap_or(BUILT_IN_PRESETS.len())
}
