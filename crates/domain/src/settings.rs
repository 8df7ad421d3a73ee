//! The user's settings.

use crate::limits::number;
use crate::{ContextId, FeatureFlags, FieldError, Limits, ModelChoice, OperationSettings, RedactionSettings};
use serde::{Deserialize, Serialize};

/// Light, dark, or what the system says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// All settings; each has a default, and the whole is written at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// BCP 47 language tag, or `system`.
    pub language: String,
    /// Model of contexts that name none; `None` until one is chosen.
    pub default_model: Option<ModelChoice>,
    /// Global shortcut of quick chat, such as `CommandOrControl+Shift+Space`; empty = none.
    pub quick_chat_shortcut: String,
    /// Closing the window keeps the app in the tray.
    pub keep_in_tray: bool,
    /// Minutes without a request after which the engine frees the model, 1–1,440.
    pub engine_idle_minutes: u32,
    /// Context that quick chat talks to: the one last used.
    pub last_context_id: Option<ContextId>,
    /// The user has seen that this is an AI and no therapist.
    pub ai_notice_accepted: bool,
    /// What is turned on or off of the features that have a flag.
    pub features: FeatureFlags,
    /// Region of the helplines that are shown: an ISO 3166 code of two letters; empty = the system's.
    pub helpline_region: String,
    /// The desktop says when a context is about to expire.
    pub notifications: bool,
    /// What it says may hold names and text, which can then be read on a locked screen.
    pub notification_content: bool,
    /// Conversations get their titles from the model.
    pub automatic_titles: bool,
    /// How much a vault may hold.
    pub limits: Limits,
    /// What is taken out of texts before they are stored or sent.
    pub redaction: RedactionSettings,
    /// Minutes without a key or a pointer in any window after which the vault is locked, 0–1,440; 0 = never.
    pub lock_after_minutes: u32,
    /// The vault is locked before the machine sleeps.
    pub lock_on_sleep: bool,
    /// The vault is locked when the main window is hidden or minimised.
    pub lock_when_hidden: bool,
    /// How often a model may ask for tools before it has to answer a message, 1–32.
    #[serde(default = "tool_rounds")]
    pub tool_rounds: u32,
    /// How long operations are kept, and what is taken out of them. Absent in archives of earlier versions.
    #[serde(default)]
    pub operations: OperationSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::System,
            language: "system".into(),
            default_model: None,
            quick_chat_shortcut: "CommandOrControl+Shift+Space".into(),
            keep_in_tray: true,
            engine_idle_minutes: 15,
            last_context_id: None,
            ai_notice_accepted: false,
            features: FeatureFlags::default(),
            helpline_region: String::new(),
            notifications: true,
            notification_content: false,
            automatic_titles: true,
            limits: Limits::default(),
            redaction: RedactionSettings::default(),
            lock_after_minutes: 0,
            lock_on_sleep: false,
            lock_when_hidden: false,
            tool_rounds: 8,
            operations: OperationSettings::default(),
        }
    }
}

fn tool_rounds() -> u32 {
    Settings::default().tool_rounds
}

impl Settings {
    /// Checks every value that has a range.
    ///
    /// # Errors
    /// The first that is outside, with field, value and range.
    pub fn check(&self) -> Result<(), FieldError> {
        number("engineIdleMinutes", self.engine_idle_minutes, 1, 1_440)?;
        number("lockAfterMinutes", self.lock_after_minutes, 0, 1_440)?;
        number("toolRounds", self.tool_rounds, 1, 32)?;
        let region = &self.helpline_region;
        if !region.is_empty() && (region.len() != 2 || !region.bytes().all(|letter| letter.is_ascii_uppercase())) {
            let value = region.chars().take(80).collect();
            return Err(FieldError { field: "helplineRegion", value, range: "two capital letters such as DE, or empty".into() });
        }
        self.features.check()?;
        self.redaction.check()?;
        self.operations.check()?;
        self.limits.check()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refused(change: impl FnOnce(&mut Settings)) -> &'static str {
        let mut settings = Settings::default();
        change(&mut settings);
        settings.check().unwrap_err().field
    }

    #[test]
    fn the_defaults_and_both_ends_of_every_range_pass() {
        Settings::default().check().unwrap();
        let least = Limits { contexts: 1, messages_per_context: 100, message_bytes: 1_024, vault_bytes: 64 << 20 };
        let most = Limits { contexts: 100_000, messages_per_context: 10_000_000, message_bytes: 16 << 20, vault_bytes: 1 << 40 };
        for (limits, engine_idle_minutes, region) in [(least, 1, "DE"), (most, 1_440, "")] {
            let settings = Settings { limits, engine_idle_minutes, helpline_region: region.into(), ..Settings::default() };
            assert_eq!(settings.check(), Ok(()));
        }
    }

    #[test]
    fn what_lies_outside_is_named() {
        for (field, expected) in [
            (refused(|s| s.engine_idle_minutes = 0), "engineIdleMinutes"),
            (refused(|s| s.engine_idle_minutes = 1_441), "engineIdleMinutes"),
            (refused(|s| s.lock_after_minutes = 1_441), "lockAfterMinutes"),
            (refused(|s| s.tool_rounds = 0), "toolRounds"),
            (refused(|s| s.tool_rounds = 33), "toolRounds"),
            (refused(|s| s.helpline_region = "de".into()), "helplineRegion"),
            (refused(|s| s.helpline_region = "DEU".into()), "helplineRegion"),
            (refused(|s| s.helpline_region = "Ä".into()), "helplineRegion"),
            (refused(|s| s.limits.contexts = 0), "limits.contexts"),
            (refused(|s| s.limits.contexts = 100_001), "limits.contexts"),
            (refused(|s| s.limits.messages_per_context = 99), "limits.messagesPerContext"),
            (refused(|s| s.limits.message_bytes = 1_023), "limits.messageBytes"),
            (refused(|s| s.limits.message_bytes = (16 << 20) + 1), "limits.messageBytes"),
            (refused(|s| s.limits.vault_bytes = (64 << 20) - 1), "limits.vaultBytes"),
            (refused(|s| s.limits.vault_bytes = (1 << 40) + 1), "limits.vaultBytes"),
        ] {
            assert_eq!(field, expected);
        }
    }
}
