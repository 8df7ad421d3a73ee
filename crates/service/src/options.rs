//! What a service is made with.

use crate::{Clock, ServiceError, SystemClock};
use evenkeel_domain::Limits;
use evenkeel_vault::{Keychain, Profile, SecretStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a service is made with; tests replace single parts.
#[derive(Clone)]
pub struct ServiceOptions {
    /// Where the vault is.
    pub profile: Profile,
    /// Where the app's own files are, the shipped model among them.
    pub resources: Option<PathBuf>,
    /// The program that is the engine.
    pub engine_program: PathBuf,
    /// Its arguments.
    pub engine_args: Vec<String>,
    /// Time without a request after which the engine frees its model.
    pub engine_idle: Duration,
    /// The system's keychain.
    pub keychain: Arc<dyn SecretStore>,
    /// The same keychain with the patience to wait until a person has answered its question, for
    /// making a vault.
    pub patient_keychain: Arc<dyn SecretStore>,
    /// Time and chance.
    pub clock: Arc<dyn Clock>,
    /// Sizes and numbers, until the user has set others.
    pub limits: Limits,
    /// How often the scheduler looks for jobs that are due; `None` = only when it is told to.
    pub job_interval: Option<Duration>,
}

impl ServiceOptions {
    /// The options of the installed app.
    ///
    /// # Errors
    /// The running program's own path cannot be read.
    pub fn new(profile: PathBuf, resources: Option<PathBuf>) -> Result<Self, ServiceError> {
        let program = std::env::current_exe().map_err(|error| ServiceError::internal("finding the app's own program", &error))?;
        // The engine learns the profile for its log alone.
        let engine_args = vec!["engine".into(), "--profile".into(), profile.display().to_string()];
        Ok(Self {
            profile: Profile::new(profile),
            resources,
            engine_program: program,
            engine_args,
            engine_idle: Duration::from_secs(15 * 60),
            keychain: Arc::new(Keychain::new()),
            patient_keychain: Arc::new(Keychain::with_limit(Duration::from_secs(120))),
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            job_interval: Some(Duration::from_secs(60)),
        })
    }
}
