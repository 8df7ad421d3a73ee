//! Feature flags as they stand.

use crate::{Service, ServiceError};
use evenkeel_domain::{Feature, FeatureStage};
use serde::{Deserialize, Serialize};

/// A part of the app that can be turned on and off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FeatureInfo {
    /// Its name in the settings.
    pub id: String,
    /// How far it has come.
    pub stage: FeatureStage,
    /// Whether it is on.
    pub is_on: bool,
    /// The user has not decided about it.
    pub is_default: bool,
}

impl Service {
    /// Every feature that has a flag, in the order shown.
    ///
    /// # Errors
    /// The vault is locked.
    pub async fn feature_list(&self) -> Result<Vec<FeatureInfo>, ServiceError> {
        let flags = self.session()?.settings().features;
        let info = |feature: Feature| FeatureInfo {
            id: feature.id().to_owned(),
            stage: feature.stage(),
            is_on: flags.is_on(feature),
            is_default: !flags.is_set(feature),
        };
        Ok(Feature::ALL.iter().copied().map(info).collect())
    }
}
