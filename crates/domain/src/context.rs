//! Contexts: named companions, and the immutable revisions of their personas.

use crate::limits::{characters, number, page};
use crate::{ContextId, FieldError, MemorySettings, ModelChoice, PresetId, RevisionId, StrategyChoice, checked_tags};
use chrono::{DateTime, Duration, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

/// A companion: persona, settings, lifetime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The context's id.
    pub id: ContextId,
    /// Shown name, 1–120 characters.
    pub name: String,
    /// Instructions to the model, 1–32,000 characters.
    pub system_prompt: String,
    /// The personality in words, at most 8,000 characters.
    pub personality: String,
    /// Own anchor text of the revision, 1–2,000 characters; `None` = made from name and personality.
    pub anchor: Option<String>,
    /// The current persona revision.
    pub revision_id: RevisionId,
    /// Sampling temperature, 0–1.
    pub temperature: f32,
    /// Tokens of a reply, 1–131,072.
    pub max_tokens: u32,
    /// Tokens of history in a request, 500–2,000,000.
    pub max_history_tokens: u32,
    /// Days after the last interaction, 1–3,650; `None` = never.
    pub expiry_days: Option<u32>,
    /// The model that answers; `None` = the default of the settings.
    pub model: Option<ModelChoice>,
    /// Only models on this machine may answer.
    pub local_only: bool,
    /// The anchor is sent near the end of each request.
    pub maintain_personality: bool,
    /// The preset it was made from.
    pub preset_id: Option<PresetId>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last edited.
    pub updated_at: DateTime<Utc>,
    /// When a message was last sent or a reply ended.
    pub last_interaction_at: DateTime<Utc>,
    /// When it expires; `None` = never.
    pub expires_at: Option<DateTime<Utc>>,
    /// False once expired or deleted.
    pub is_active: bool,
    /// Since when it lies in the trash; `None` = it does not.
    pub deleted_at: Option<DateTime<Utc>>,
    /// The user's tags, at most 20.
    pub tags: Vec<String>,
    /// How its history is kept.
    pub strategy: StrategyChoice,
    /// What it remembers beside that.
    pub memory: MemorySettings,
}

impl Context {
    /// The end of a lifetime that began with the last interaction.
    #[must_use]
    pub fn expiry(last_interaction: DateTime<Utc>, days: Option<u32>) -> Option<DateTime<Utc>> {
        last_interaction.checked_add_signed(Duration::days(i64::from(days?)))
    }

    /// Whether the lifetime is over at `now`.
    #[must_use]
    pub fn is_expired(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}

/// One immutable wording of a persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// SHA-256 of name, system prompt, personality and anchor.
    pub id: RevisionId,
    /// The companion's name under this revision; the persona speaks of itself by it.
    pub name: String,
    /// Instructions to the model.
    pub system_prompt: String,
    /// The personality in words.
    pub personality: String,
    /// Own anchor text; `None` = made from name and personality.
    pub anchor: Option<String>,
    /// When it was first used.
    pub created_at: DateTime<Utc>,
}

impl Revision {
    /// Makes a revision; its id follows from its content alone.
    #[must_use]
    pub fn new(name: &str, system_prompt: &str, personality: &str, anchor: Option<&str>, created_at: DateTime<Utc>) -> Self {
        let mut hash = Sha256::new();
        for part in [name, system_prompt, personality, anchor.unwrap_or("\u{0}")] {
            // A length before each part keeps ("ab","c") and ("a","bc") apart.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let id = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Self {
            id: RevisionId::new(id),
            name: name.to_owned(),
            system_prompt: system_prompt.to_owned(),
            personality: personality.to_owned(),
            anchor: anchor.map(str::to_owned),
            created_at,
        }
    }
}

/// A revision as one context used it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct RevisionUse {
    /// The wording; its `created_at` is its first use by any context.
    pub revision: Revision,
    /// When this context first used it.
    pub used_at: DateTime<Utc>,
    /// Messages of this context that were answered under it.
    pub message_count: u32,
}

/// Everything needed for a new context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ContextDraft {
    /// 1–120 characters.
    pub name: String,
    /// 1–32,000 characters.
    pub system_prompt: String,
    /// At most 8,000 characters.
    pub personality: String,
    /// 0–1.
    pub temperature: f32,
    /// 1–131,072 tokens.
    pub max_tokens: u32,
    /// 500–2,000,000 tokens.
    pub max_history_tokens: u32,
    /// 1–3,650 days; `None` = never.
    pub expiry_days: Option<u32>,
    /// `None` = the default of the settings.
    pub model: Option<ModelChoice>,
    /// Only models on this machine may answer.
    pub local_only: bool,
    /// Send the anchor.
    pub maintain_personality: bool,
    /// The preset it is made from.
    pub preset_id: Option<PresetId>,
    /// Own anchor text, 1–2,000 characters; `None` = made from name and personality.
    #[serde(default)]
    pub anchor: Option<String>,
    /// At most 20 tags of 1–40 characters, no two the same in lower case.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How its history is kept.
    #[serde(default)]
    pub strategy: StrategyChoice,
    /// What it remembers beside that.
    #[serde(default)]
    pub memory: MemorySettings,
}

impl ContextDraft {
    /// Checks every field against its range.
    ///
    /// # Errors
    /// The first field that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        characters("name", &self.name, 1, 120)?;
        characters("systemPrompt", &self.system_prompt, 1, 32_000)?;
        characters("personality", &self.personality, 0, 8_000)?;
        number("temperature", self.temperature, 0.0, 1.0)?;
        number("maxTokens", self.max_tokens, 1, 131_072)?;
        number("maxHistoryTokens", self.max_history_tokens, 500, 2_000_000)?;
        self.anchor.as_deref().map_or(Ok(()), |anchor| characters("anchor", anchor, 1, 2_000))?;
        checked_tags(&self.tags)?;
        self.strategy.check()?;
        self.memory.check()?;
        self.expiry_days.map_or(Ok(()), |days| number("expiryDays", days, 1, 3_650))
    }
}

/// What to change of a context; a field that is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ContextPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// 1–32,000 characters.
    pub system_prompt: Option<String>,
    /// At most 8,000 characters.
    pub personality: Option<String>,
    /// 0–1.
    pub temperature: Option<f32>,
    /// 1–131,072 tokens.
    pub max_tokens: Option<u32>,
    /// 500–2,000,000 tokens.
    pub max_history_tokens: Option<u32>,
    /// Days, or 0 for never.
    pub expiry_days: Option<u32>,
    /// The model that answers; `null` = back to the default of the settings.
    #[serde(default, deserialize_with = "named", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "specta", specta(type = Option<ModelChoice>))]
    pub model: Option<Option<ModelChoice>>,
    /// Only models on this machine may answer.
    pub local_only: Option<bool>,
    /// Send the anchor.
    pub maintain_personality: Option<bool>,
    /// Own anchor text, at most 2,000 characters; a blank one = made from name and personality.
    #[serde(default)]
    pub anchor: Option<String>,
    /// All tags from now on.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// How the history is kept, with all settings.
    #[serde(default)]
    pub strategy: Option<StrategyChoice>,
    /// What is remembered beside that, with all settings.
    #[serde(default)]
    pub memory: Option<MemorySettings>,
}

/// A field that was named, even as `null`, is told from one that was left out.
fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl ContextPatch {
    /// The draft that results from applying the patch to a context.
    #[must_use]
    pub fn onto(self, context: &Context) -> ContextDraft {
        ContextDraft {
            name: self.name.unwrap_or_else(|| context.name.clone()),
            system_prompt: self.system_prompt.unwrap_or_else(|| context.system_prompt.clone()),
            personality: self.personality.unwrap_or_else(|| context.personality.clone()),
            temperature: self.temperature.unwrap_or(context.temperature),
            max_tokens: self.max_tokens.unwrap_or(context.max_tokens),
            max_history_tokens: self.max_history_tokens.unwrap_or(context.max_history_tokens),
            expiry_days: match self.expiry_days {
                Some(0) => None,
                Some(days) => Some(days),
                None => context.expiry_days,
            },
            model: self.model.unwrap_or_else(|| context.model.clone()),
            local_only: self.local_only.unwrap_or(context.local_only),
            maintain_personality: self.maintain_personality.unwrap_or(context.maintain_personality),
            preset_id: context.preset_id.clone(),
            anchor: match self.anchor {
                Some(anchor) => Some(anchor).filter(|anchor| !anchor.trim().is_empty()),
                None => context.anchor.clone(),
            },
            tags: self.tags.unwrap_or_else(|| context.tags.clone()),
            strategy: self.strategy.unwrap_or_else(|| context.strategy.clone()),
            memory: self.memory.unwrap_or_else(|| context.memory.clone()),
        }
    }
}

/// In which order contexts are listed; those that are equal in it, by id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ContextSort {
    /// The one talked to last first.
    #[default]
    LastInteraction,
    /// By name, letters of either case alike.
    Name,
    /// The newest first.
    Created,
    /// The one that expires next first, those that never do last.
    ExpiresSoon,
}

/// A place in a list of contexts, whatever its order, which stays where it is when others come and
/// go, and when the context that stood there has gone itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ContextPlace {
    /// That context's id.
    pub id: ContextId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last talked to.
    pub last_interaction_at: DateTime<Utc>,
    /// When its lifetime ends; `None` = never.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Context {
    /// Where it stands in lists.
    #[must_use]
    pub fn place(&self) -> ContextPlace {
        ContextPlace {
            id: self.id,
            name: self.name.clone(),
            created_at: self.created_at,
            last_interaction_at: self.last_interaction_at,
            expires_at: self.expires_at,
        }
    }
}

/// Which contexts to list, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct ContextQuery {
    /// Lists expired ones too.
    pub include_expired: bool,
    /// Lists what is in the trash, and nothing else.
    pub only_deleted: bool,
    /// Only those with this tag; letters of either case are alike.
    pub tag: Option<String>,
    /// Only those with this text in name, personality or a tag; letters of either case are alike.
    pub text: Option<String>,
    /// The order.
    pub sort: ContextSort,
    /// The page, from 1.
    pub page: u32,
    /// Contexts a page, 1–500.
    pub page_size: u32,
    /// Counts pages from after this place, such as that of the last one of the page before: none comes
    /// twice or is passed over when others come and go meanwhile, as it does with the number of a page.
    pub after: Option<ContextPlace>,
}

impl Default for ContextQuery {
    fn default() -> Self {
        Self {
            include_expired: false,
            only_deleted: false,
            tag: None,
            text: None,
            sort: ContextSort::default(),
            page: 1,
            page_size: 10,
            after: None,
        }
    }
}

impl ContextQuery {
    /// Checks page and page size.
    ///
    /// # Errors
    /// The first that is outside, with value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        page(self.page, self.page_size)
    }
}
