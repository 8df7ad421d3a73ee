//! How a context keeps its history: a strategy by id, with its settings as JSON.

use crate::limits::{characters, number};
use crate::{ContextId, FieldError, ModelChoice, StateSchema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Sends the whole branch as long as the model's window takes it.
pub const FULL: &str = "std-full-strategy";
/// Sends the newest exchanges; the standard.
pub const SLIDING_WINDOW: &str = "std-sliding-window-strategy";
/// Sends a summary of older exchanges and the newest ones verbatim.
pub const SUMMARIZATION: &str = "std-summarization-strategy";
/// Sends values taken from what the user said, and the newest messages only where wanted.
pub const EXTRACTION: &str = "std-extraction-strategy";

/// Most bytes of a strategy's settings as JSON.
const CONFIG_BYTES: usize = 65_536;

/// Where a strategy comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum StrategySource {
    /// A standard strategy (`std-…`) or an installed one, by its id.
    #[default]
    Plugin,
}

/// The strategy of a context: `{"type":"plugin","pluginId":"std-summarization-strategy","config":{"threshold":20}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct StrategyChoice {
    /// Where it comes from.
    #[serde(rename = "type", default)]
    pub source: StrategySource,
    /// The strategy's id.
    pub plugin_id: String,
    /// Its settings; what is absent has the strategy's default.
    #[serde(default)]
    #[cfg_attr(feature = "specta", specta(type = std::collections::BTreeMap<String, specta_typescript::Unknown>))]
    pub config: Map<String, Value>,
}

impl Default for StrategyChoice {
    fn default() -> Self {
        Self::standard(SLIDING_WINDOW)
    }
}

impl StrategyChoice {
    /// A strategy with the settings it comes with.
    #[must_use]
    pub fn standard(id: &str) -> Self {
        Self { source: StrategySource::Plugin, plugin_id: id.to_owned(), config: Map::new() }
    }

    /// The standard strategy that is meant, with its settings; `None` for one that was installed.
    ///
    /// # Errors
    /// A setting is unknown, of the wrong type or outside its range.
    pub fn settings(&self) -> Result<Option<StandardStrategy>, FieldError> {
        Ok(Some(match self.plugin_id.as_str() {
            FULL => StandardStrategy::Full(self.read::<FullSettings>()?),
            SLIDING_WINDOW => StandardStrategy::SlidingWindow(self.read::<WindowSettings>()?.checked()?),
            SUMMARIZATION => StandardStrategy::Summarization(self.read::<SummarySettings>()?.checked()?),
            EXTRACTION => StandardStrategy::Extraction(self.read::<ExtractionSettings>()?.checked()?),
            id if id.starts_with("std-") => {
                let range =
                    format!("{FULL}, {SLIDING_WINDOW}, {SUMMARIZATION}, {EXTRACTION}, or the id of an installed strategy");
                return Err(FieldError { field: "strategy.pluginId", value: shortened(id), range });
            }
            _ => return Ok(None),
        }))
    }

    /// Checks id and settings, as far as they can be checked without the strategy itself.
    ///
    /// # Errors
    /// The first value that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        let is_id = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
        if !(3..=64).contains(&self.plugin_id.len()) || !self.plugin_id.chars().all(is_id) {
            let range = "3 to 64 of the characters a–z, 0–9 and -".to_owned();
            return Err(FieldError { field: "strategy.pluginId", value: shortened(&self.plugin_id), range });
        }
        let bytes = serde_json::to_string(&self.config).map_or(usize::MAX, |text| text.len());
        number("strategy.config", bytes, 0, CONFIG_BYTES)?;
        self.settings().map(|_| ())
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, FieldError> {
        serde_json::from_value(Value::Object(self.config.clone())).map_err(|error| FieldError {
            field: "strategy.config",
            value: shortened(&Value::Object(self.config.clone()).to_string()),
            range: format!("the settings of {} ({error})", self.plugin_id),
        })
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// A standard strategy with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum StandardStrategy {
    /// [`FULL`].
    Full(FullSettings),
    /// [`SLIDING_WINDOW`].
    SlidingWindow(WindowSettings),
    /// [`SUMMARIZATION`].
    Summarization(SummarySettings),
    /// [`EXTRACTION`].
    Extraction(ExtractionSettings),
}

/// Settings of [`FULL`]: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct FullSettings {}

/// Settings of [`SLIDING_WINDOW`]. The defaults keep 0.955 of the prompt in the cache over 400 turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct WindowSettings {
    /// Per cent of the history's budget that stay after an eviction, 10–95.
    pub keep_percent: u32,
    /// Newest exchanges that stay even if they are more than that, 1–100.
    pub keep_exchanges: u32,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self { keep_percent: 60, keep_exchanges: 5 }
    }
}

impl WindowSettings {
    fn checked(self) -> Result<Self, FieldError> {
        number("strategy.config.keepPercent", self.keep_percent, 10, 95)?;
        number("strategy.config.keepExchanges", self.keep_exchanges, 1, 100)?;
        Ok(self)
    }
}

/// A model for background work: a name at the context's own provider, or a model with its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WorkModel {
    /// A model of the provider that answers.
    Name(String),
    /// Any model.
    Choice(ModelChoice),
}

/// Settings of [`SUMMARIZATION`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct SummarySettings {
    /// A summary is made once more turns than this are not yet summarised, 2–500.
    pub threshold: u32,
    /// So many of the oldest of them go into it, 1 to `threshold`.
    pub turns: u32,
    /// The model that summarises; absent = the one that answers.
    pub compression_model: Option<WorkModel>,
    /// Most tokens of a summary, 100–4,000; it never takes more than a tenth of the request.
    pub max_tokens: u32,
    /// Each so manyth summary is made from the messages themselves instead of from the summary before, 1–100.
    pub rebuild_every: u32,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self { threshold: 10, turns: 5, compression_model: None, max_tokens: 800, rebuild_every: 5 }
    }
}

impl SummarySettings {
    fn checked(self) -> Result<Self, FieldError> {
        number("strategy.config.threshold", self.threshold, 2, 500)?;
        number("strategy.config.turns", self.turns, 1, self.threshold)?;
        number("strategy.config.maxTokens", self.max_tokens, 100, 4_000)?;
        number("strategy.config.rebuildEvery", self.rebuild_every, 1, 100)?;
        Ok(self)
    }
}

/// Settings of [`EXTRACTION`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ExtractionSettings {
    /// JSON Schema of the state, an object with `properties`.
    pub schema: Value,
    /// Newest messages that are sent beside the state, 0–200.
    pub last_n: u32,
    /// Milliseconds that a reply waits for the state to be updated, 100–60,000; then the last one is used.
    pub time_limit_ms: u32,
    /// The model that fills the state; absent = the one that answers.
    pub model: Option<WorkModel>,
}

impl Default for ExtractionSettings {
    fn default() -> Self {
        let schema = serde_json::json!({ "type": "object", "properties": {} });
        Self { schema, last_n: 0, time_limit_ms: 5_000, model: None }
    }
}

impl ExtractionSettings {
    fn checked(self) -> Result<Self, FieldError> {
        number("strategy.config.lastN", self.last_n, 0, 200)?;
        number("strategy.config.timeLimitMs", self.time_limit_ms, 100, 60_000)?;
        StateSchema::parse(&self.schema).map(|_| self)
    }
}

/// What a context remembers beside its history, whatever its strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct MemorySettings {
    /// Older messages of the context that bear on the question.
    pub recall: RecallSettings,
    /// What the user wants to reach with it, in their words: at most 20 of 1–500 characters.
    pub goals: Vec<String>,
    /// The turn from which the anchor is sent, 1–1,000. Personas hold by themselves for about two turns.
    pub anchor_from_turn: u32,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { recall: RecallSettings::default(), goals: Vec::new(), anchor_from_turn: 3 }
    }
}

impl MemorySettings {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("memory.goals", self.goals.len(), 0, 20)?;
        for goal in &self.goals {
            characters("memory.goals", goal, 1, 500)?;
        }
        number("memory.anchorFromTurn", self.anchor_from_turn, 1, 1_000)?;
        number("memory.recall.count", self.recall.count, 1, 12)?;
        number("memory.recall.sharePercent", self.recall.share_percent, 1, 50)?;
        number("memory.recall.linked", self.recall.linked.len(), 0, 20)
    }
}

/// How older messages are brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(default, rename_all = "camelCase")]
pub struct RecallSettings {
    /// Whether they are.
    pub on: bool,
    /// Most messages that are brought back, 1–12.
    pub count: u32,
    /// Per cent of the request that they may take, 1–50.
    pub share_percent: u32,
    /// The model that compares meanings; absent = words alone are compared.
    pub embedder: Option<ModelChoice>,
    /// Other contexts whose messages may be brought back too, at most 20.
    pub linked: Vec<ContextId>,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self { on: false, count: 5, share_percent: 15, embedder: None, linked: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn choice(json: &str) -> StrategyChoice {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn is_read_as_it_is_written() {
        let text = r#"{"type":"plugin","pluginId":"std-summarization-strategy","config":{"compressionModel":"qwen3:4b","threshold":20}}"#;
        let read = choice(text);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let Some(StandardStrategy::Summarization(settings)) = read.settings().unwrap() else { panic!("{read:?}") };
        assert_eq!((settings.threshold, settings.turns, settings.rebuild_every), (20, 5, 5));
        assert_eq!(settings.compression_model, Some(WorkModel::Name("qwen3:4b".into())));
        assert_eq!(choice(r#"{"pluginId":"std-sliding-window-strategy"}"#), StrategyChoice::default());
    }

    #[test]
    fn installed_strategies_keep_settings_of_their_own() {
        let own = choice(r#"{"type":"plugin","pluginId":"newest-and-first","config":{"anything":[1]}}"#);
        assert_eq!((own.check(), own.settings()), (Ok(()), Ok(None)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let schema = r#"{"pluginId":"std-extraction-strategy","config":{"schema":[1]}}"#;
        for (json, field) in [
            (r#"{"pluginId":"std-nothing-strategy"}"#, "strategy.pluginId"),
            (r#"{"pluginId":"../../etc"}"#, "strategy.pluginId"),
            (r#"{"pluginId":"std-sliding-window-strategy","config":{"keepPercent":5}}"#, "strategy.config.keepPercent"),
            (r#"{"pluginId":"std-sliding-window-strategy","config":{"keepPersent":50}}"#, "strategy.config"),
            (r#"{"pluginId":"std-summarization-strategy","config":{"threshold":3,"turns":4}}"#, "strategy.config.turns"),
            (schema, "strategy.config.schema"),
        ] {
            assert_eq!(choice(json).check().unwrap_err().field, field, "{json}");
        }
        let mut large = StrategyChoice::standard("another-one");
        large.config.insert("text".into(), Value::String("x".repeat(CONFIG_BYTES)));
        assert_eq!(large.check().unwrap_err().field, "strategy.config");
    }

    #[test]
    fn memory_has_ranges() {
        MemorySettings::default().check().unwrap();
        let goals = MemorySettings { goals: vec![" ".into()], ..MemorySettings::default() };
        assert_eq!(goals.check().unwrap_err().field, "memory.goals");
        let recall = RecallSettings { count: 13, ..RecallSettings::default() };
        assert_eq!(MemorySettings { recall, ..MemorySettings::default() }.check().unwrap_err().field, "memory.recall.count");
    }
}
