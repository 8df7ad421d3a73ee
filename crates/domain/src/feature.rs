//! Feature flags: what can be turned on and off while it is rolled out.

use crate::FieldError;
use crate::limits::{characters, number};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a feature has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum FeatureStage {
    /// May change or go again.
    Experimental,
    /// Will stay; is still being watched.
    Beta,
    /// Done; the flag is there to turn it off.
    Stable,
}

/// A part of the app that has a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Conversations that are never written to disk.
    PrivateConversations,
    /// Titles of conversations written by the model.
    AutomaticTitles,
    /// The card with helplines beside the chat.
    CareCard,
}

impl Feature {
    /// Every feature, in the order shown.
    pub const ALL: &'static [Self] = &[Self::PrivateConversations, Self::AutomaticTitles, Self::CareCard];

    /// Its name in the settings.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::PrivateConversations => "private-conversations",
            Self::AutomaticTitles => "automatic-titles",
            Self::CareCard => "care-card",
        }
    }

    /// The feature of a name, if this version has it.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|feature| feature.id() == id)
    }

    /// How far it has come.
    #[must_use]
    pub fn stage(self) -> FeatureStage {
        match self {
            Self::PrivateConversations | Self::AutomaticTitles => FeatureStage::Beta,
            Self::CareCard => FeatureStage::Stable,
        }
    }

    /// Whether it is on where the user has said nothing.
    #[must_use]
    pub fn is_on_by_default(self) -> bool {
        match self {
            Self::PrivateConversations | Self::AutomaticTitles | Self::CareCard => true,
        }
    }

    /// Key of the sentence that says what it does, in the texts of the pages.
    #[must_use]
    pub fn description_key(self) -> &'static str {
        match self {
            Self::PrivateConversations => "feature.private_conversations",
            Self::AutomaticTitles => "feature.automatic_titles",
            Self::CareCard => "feature.care_card",
        }
    }
}

/// What the user has turned on or off, by id.
///
/// Ids that this version does not know stay as they are, so that a setting made by a newer or an
/// older version is still there when that version runs again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(transparent)]
pub struct FeatureFlags(BTreeMap<String, bool>);

impl FeatureFlags {
    /// Whether a feature is on.
    #[must_use]
    pub fn is_on(&self, feature: Feature) -> bool {
        self.0.get(feature.id()).copied().unwrap_or(feature.is_on_by_default())
    }

    /// Whether the user has decided about it.
    #[must_use]
    pub fn is_set(&self, feature: Feature) -> bool {
        self.0.contains_key(feature.id())
    }

    /// Turns a feature on or off.
    pub fn set(&mut self, feature: Feature, on: bool) {
        self.0.insert(feature.id().to_owned(), on);
    }

    /// Checks what came from outside: at most 200 ids of 1–64 characters.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), FieldError> {
        number("features", self.0.len(), 0, 200)?;
        self.0.keys().try_for_each(|id| characters("features", id, 1, 64))
    }

    /// Goes back to the default.
    pub fn reset(&mut self, feature: Feature) {
        self.0.remove(feature.id());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_those_in_json_and_unlike() {
        for feature in Feature::ALL {
            assert_eq!(serde_json::to_value(feature).unwrap(), feature.id());
            assert_eq!(Feature::of_id(feature.id()), Some(*feature));
            assert_eq!(feature.description_key(), format!("feature.{}", feature.id().replace('-', "_")));
        }
        assert_eq!(Feature::of_id("time-travel"), None);
    }

    #[test]
    fn a_flag_overrides_the_default_until_reset() {
        let mut flags = FeatureFlags::default();
        for feature in Feature::ALL.iter().copied() {
            assert_eq!((flags.is_on(feature), flags.is_set(feature)), (feature.is_on_by_default(), false));
            flags.set(feature, !feature.is_on_by_default());
            assert_eq!((flags.is_on(feature), flags.is_set(feature)), (!feature.is_on_by_default(), true));
            flags.reset(feature);
            assert_eq!(flags, FeatureFlags::default());
        }
    }

    #[test]
    fn ids_have_a_length_and_a_number() {
        let of = |count: usize, id: &str| FeatureFlags((0..count).map(|n| (format!("{id}{n}"), true)).collect());
        assert_eq!((of(200, "a").check(), of(1, &"a".repeat(63)).check()), (Ok(()), Ok(())));
        assert!(of(201, "a").check().is_err() && of(1, &"a".repeat(64)).check().is_err());
    }

    proptest! {
        #[test]
        fn unknown_ids_survive_every_change(own in prop::collection::btree_map("[a-z-]{1,12}", any::<bool>(), 0..6), on: bool) {
            let text = serde_json::to_string(&own).unwrap();
            let mut flags: FeatureFlags = serde_json::from_str(&text).unwrap();
            flags.set(Feature::CareCard, on);
            flags.reset(Feature::AutomaticTitles);
            let back: BTreeMap<String, bool> = serde_json::from_str(&serde_json::to_string(&flags).unwrap()).unwrap();
            for (id, value) in own.iter().filter(|(id, _)| Feature::of_id(id).is_none()) {
                prop_assert_eq!(back.get(id), Some(value));
            }
            prop_assert_eq!(back.get("care-card"), Some(&on));
        }
    }
}
