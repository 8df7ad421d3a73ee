//! What is well and what is not, with what to do: the keychain, the vault, its backups, models and providers.
//!
//! Nothing is changed and nothing leaves the machine, but that the vault is opened where that goes without a question,
//! and that providers are asked where that was wished.

mod closed;
mod open;

use crate::Service;
use serde::Serialize;
use zeroize::Zeroizing;

/// How well one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckLevel {
    /// As it should be.
    Ok,
    /// It works, and something should be done.
    Warning,
    /// It does not work.
    Failed,
}

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The check's stable name, such as `keychain`; of providers and model files there is one each.
    pub check: &'static str,
    /// How well it is.
    pub level: CheckLevel,
    /// What was found, in English.
    pub message: String,
    /// What to do about it; `None` where nothing has to be done.
    pub advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, level: CheckLevel::Ok, message: message.into(), advice: None }
    }

    fn warning(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, level: CheckLevel::Warning, message: message.into(), advice: Some(advice.into()) }
    }

    fn failed(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, level: CheckLevel::Failed, message: message.into(), advice: Some(advice.into()) }
    }
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// Nothing has failed.
    pub is_healthy: bool,
    /// The profile folder.
    pub profile_dir: String,
    /// In the order of the checks.
    pub findings: Vec<Finding>,
}

/// What the doctor may do.
#[derive(Default)]
pub struct DoctorWish {
    /// Ask the providers whether they answer.
    pub network: bool,
    /// The passphrase or recovery code, for a vault that the keychain does not open.
    pub secret: Option<Zeroizing<String>>,
}

impl Service {
    /// Looks after everything that Evenkeel rests on. What the vault itself says is left out where it does not open.
    pub async fn doctor(&self, wish: DoctorWish) -> DoctorReport {
        let mut findings = self.without_vault().await;
        if self.profile().traces().any() {
            findings.push(self.vault_finding(wish.secret).await);
            findings.extend(self.vault_contents(wish.network).await);
        }
        let is_healthy = findings.iter().all(|finding| finding.level != CheckLevel::Failed);
        DoctorReport { is_healthy, profile_dir: self.profile_dir().display().to_string(), findings }
    }
}
