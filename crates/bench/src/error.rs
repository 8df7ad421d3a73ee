//! Why something could not be measured.

use evenkeel_domain::ErrorBody;

/// Why a workload ended without its figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The command line was wrong.
    #[error("{0}")]
    Usage(String),
    /// The system refused something.
    #[error("The benchmark failed while {doing}: {source}. Check free disk space and permissions, and try again.")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The peer did not start.
    #[error(
        "The peer server did not start: {0}. Run ./scripts/setup, or name a Python environment that holds xllamacpp in EVENKEEL_VENV."
    )]
    Peer(String),
    /// The engine did not start.
    #[error(transparent)]
    Engine(#[from] evenkeel_engine::EngineError),
    /// The model is not there.
    #[error(transparent)]
    ModelFile(#[from] evenkeel_engine::ModelFileError),
    /// A server did not answer as it should.
    #[error(transparent)]
    Provider(#[from] evenkeel_provider::ProviderError),
    /// The app refused something.
    #[error(transparent)]
    Service(#[from] evenkeel_service::ServiceError),
    /// The vault's keys refused something.
    #[error(transparent)]
    Vault(#[from] evenkeel_vault::VaultError),
    /// The store refused something.
    #[error(transparent)]
    Store(#[from] evenkeel_store::StoreError),
    /// Faults could not be made, or something failed where nothing was wrong.
    #[error(transparent)]
    Faults(#[from] evenkeel_store_faults::FaultError),
    /// A raw statement failed.
    #[error("A raw statement failed: {0}. Delete the folder 'bench' in the cache folder, and try again.")]
    Raw(#[from] rusqlite::Error),
    /// A reply broke off inside the app.
    #[error("A reply broke off: {}. Nothing was measured; try again.", .0.message)]
    BrokenOff(ErrorBody),
    /// An answer lacks what is measured.
    #[error("The measurement is worthless: {0}. Try again; if it stays, the workload is wrong.")]
    Worthless(String),
    /// A data file is not what it should be.
    #[error("The file {path} holds no questions about conversations: {reason}. Give a file of LoCoMo's form.")]
    DataFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The result has no JSON form.
    #[error("The result could not be written as JSON: {0}. Run without --json.")]
    Json(#[from] serde_json::Error),
}

impl BenchError {
    /// The system refused something.
    pub fn system(doing: &'static str, source: std::io::Error) -> Self {
        Self::System { doing, source }
    }
}
