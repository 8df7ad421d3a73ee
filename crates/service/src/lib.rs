//! What Evenkeel does, one file a noun. Every face (window, later HTTP, MCP and command line)
//! parses, calls one method of [`Service`] and maps the error.

mod archive;
mod background;
mod backup;
mod care;
mod chat;
mod clock;
mod composer;
mod connection;
mod context;
mod conversation;
mod data;
mod diagnosis;
mod doctor;
mod error;
mod extraction;
mod feature;
mod health;
mod lookup;
mod memory;
mod message;
mod missing;
mod model;
mod naming;
mod network;
mod operation;
mod options;
mod persona;
mod plugin;
mod preset;
mod private;
mod provider;
mod read_only;
mod recall;
mod receipt;
mod recent;
mod scheduler;
mod search;
mod session;
mod settings;
mod summary;
mod title;
mod tool;
mod transfer;
mod trash;
mod vault;
mod view;
mod whereabouts;

pub use archive::{
    ArchiveCounts, ArchiveExport, ArchiveFile, ArchiveKept, ArchiveLock, ArchivePlace, ArchiveProgress, ArchiveProtection,
    ArchiveReport, ArchiveSecret, ArchiveStep, ArchiveUndo, EnvelopeExport, EnvelopeImport, EnvelopeKey, PendingArchive,
};
pub use backup::{
    BackupInfo, ClosedRestore, ForgetReport, NamedContext, RescueOffer, RestorePreview, RestoreProgress, RestoreReport,
    RestoreStep, VaultCounts,
};
pub use clock::{Clock, SystemClock};
pub use connection::{ConnectionSetup, ServerStatus, app_of, app_vault};
pub use data::{DataSummary, KindUse};
pub use diagnosis::{CrashInfo, LogPage, log_folder};
pub use doctor::{CheckLevel, DoctorReport, DoctorWish, Finding};
pub use error::ServiceError;
pub use evenkeel_diagnosis::{LogLevel, LogLine};
pub use evenkeel_mcp::McpError;
pub use evenkeel_server::{AppVault, local::AppStream};
pub use evenkeel_store::Change;
pub use evenkeel_vault::harden_process;
pub use feature::FeatureInfo;
pub use health::{BackupDrill, LostTail, VaultHealth};
pub use network::{NetworkPage, NetworkRequest};
pub use operation::{LongOperationStatus, OperationPage, OperationTool};
pub use options::ServiceOptions;
pub use plugin::PluginInfo;
pub use scheduler::{ExpiringContext, JobStatus};
pub use tool::{ToolServerDraft, ToolServerTest, ToolServerView};
pub use view::{
    ContextPage, ConversationPage, ConversationView, DetectedServer, EarlierMessages, EngineNotice, EngineNoticeKind,
    ExportFormat, KeyChange, LaterMessages, LockKind, ModelFileRemoval, ModelOffer, OfferKind, PersonaAdvice, PersonaDraft,
    PresetOverrides, PresetPage, ProviderDraft, ProviderTest, Recommendation, RecommendedHistory, RecoverySheet, RecoveryWords,
    RootSecrets, SlotInfo, SlotName, UnlockMethod, VaultOptions, VaultSlots, VaultState, VaultStatus,
};

use chat::replies::Replies;
use chrono::{DateTime, Utc};
use evenkeel_domain::{FinishedOperation, Limits};
use evenkeel_engine::SupervisorOptions;
use evenkeel_provider::HttpClient;
use evenkeel_vault::Profile;
use session::Session;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::broadcast;
use whereabouts::Whereabouts;

/// The one service behind every face. Cloning it is cheap; all clones are the same service.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    options: ServiceOptions,
    http: HttpClient,
    network: Arc<network::Journal>,
    engines: model::Engines,
    replies: Replies,
    gate: vault::Gate,
    keys: vault::KeyWork,
    health: health::Known,
    vault_states: broadcast::Sender<VaultState>,
    changes: broadcast::Sender<Change>,
    operations: broadcast::Sender<Arc<FinishedOperation>>,
    long: operation::Long,
    notices: broadcast::Sender<EngineNotice>,
    scheduler: scheduler::Scheduler,
    chosen_backups: backup::Chosen,
    archives: archive::Archives,
    windows: model::Windows,
    titles: background::Attempts,
    summaries: background::Attempts,
    reading: chat::read_ahead::Reading,
    plugins: plugin::Plugins,
    tools: evenkeel_tools::ToolRoom,
    questions: tool::Questions,
    known_files: model::KnownFiles,
    whereabouts: Arc<Whereabouts>,
    ways_in: connection::WaysIn,
}

impl Service {
    /// Makes the service; the vault is opened by the first [`Service::vault_status`].
    /// Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// No HTTP client could be made (the system's certificates cannot be read).
    pub fn new(options: ServiceOptions) -> Result<Self, ServiceError> {
        let engines = model::Engines::new(&SupervisorOptions {
            args: options.engine_args.clone(),
            idle: options.engine_idle,
            ..SupervisorOptions::new(options.engine_program.clone())
        });
        let (notices, _) = broadcast::channel(64);
        let (changes, _) = broadcast::channel(1_024);
        let (operations, _) = broadcast::channel(256);
        let (vault_states, _) = broadcast::channel(64);
        let heard = notices.clone();
        let mut events = engines.chat.events();
        tokio::spawn(async move {
            while let Some(event) = next(&mut events).await {
                let _ = heard.send(model::notice(&event));
            }
        });
        let whereabouts = Arc::new(Whereabouts::new(options.profile.clone()));
        diagnosis::report_crashes(&engines, &whereabouts, &options.clock);
        let network = Arc::new(network::Journal::new(options.clock.clone()));
        Ok(Self(Arc::new(Inner {
            http: HttpClient::new(Some(network.clone())),
            network,
            engines,
            replies: Replies::default(),
            gate: vault::Gate::new(vault_states.clone()),
            keys: vault::KeyWork::default(),
            health: health::Known::default(),
            vault_states,
            changes,
            operations,
            long: operation::Long::default(),
            notices,
            scheduler: scheduler::Scheduler::default(),
            chosen_backups: backup::Chosen::default(),
            archives: archive::Archives::default(),
            windows: model::Windows::default(),
            titles: background::Attempts::default(),
            summaries: background::Attempts::default(),
            reading: chat::read_ahead::Reading::default(),
            plugins: plugin::Plugins::default(),
            tools: evenkeel_tools::ToolRoom::default(),
            questions: tool::Questions::default(),
            known_files: model::KnownFiles::default(),
            whereabouts,
            ways_in: connection::WaysIn::default(),
            options,
        })))
    }

    /// Every change of the vault, by this process or another.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.changes.subscribe()
    }

    /// Each execution of a tool by this process, once it is recorded.
    #[must_use]
    pub fn operations_recorded(&self) -> broadcast::Receiver<Arc<FinishedOperation>> {
        self.0.operations.subscribe()
    }

    /// Where the vault stands, each time that changes.
    #[must_use]
    pub fn vault_states(&self) -> broadcast::Receiver<VaultState> {
        self.0.vault_states.subscribe()
    }

    /// What happens to the engine.
    #[must_use]
    pub fn engine_notices(&self) -> broadcast::Receiver<EngineNotice> {
        self.0.notices.subscribe()
    }

    /// The profile folder: the one that the service was made with, or the one that its data was moved to.
    #[must_use]
    pub fn profile_dir(&self) -> PathBuf {
        self.profile().dir().to_owned()
    }

    /// Closes the ways in for other programs, stops jobs, replies and the engine and closes the vault; replies under way are
    /// kept as stopped.
    pub async fn shutdown(&self) {
        self.0.ways_in.close().await;
        self.stop_jobs().await;
        self.finish_replies().await;
        self.engines().shutdown().await;
        self.0.gate.close();
    }

    /// Ends the servers of tools at once, for a process that cannot wait for the end of [`Service::shutdown`].
    pub fn end_tool_servers(&self) {
        self.tool_room().stop_all();
    }

    /// Stops every reply and waits until what had arrived is on disk, five seconds at most; then ends the servers of tools.
    pub(crate) async fn finish_replies(&self) {
        self.replies().stop_all();
        for _ in 0..250 {
            if self.replies().is_empty() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        // A closed vault has no companions, whose tools they are.
        self.tool_room().stop_all();
        // What the last reply has taught of its model's tokens.
        if let Ok(session) = self.session() {
            session.keep_factors().await;
        }
    }

    pub(crate) fn profile(&self) -> Profile {
        self.0.whereabouts.profile()
    }

    pub(crate) fn session(&self) -> Result<Arc<Session>, ServiceError> {
        self.0.gate.session()
    }

    /// The limits that the user has set, else those that the service was made with.
    pub(crate) fn limits(&self) -> Limits {
        let set = self.session().map(|session| session.settings().limits).unwrap_or_default();
        if set == Limits::default() { self.0.options.limits.clone() } else { set }
    }

    pub(crate) fn replies(&self) -> &Replies {
        &self.0.replies
    }

    pub(crate) fn http(&self) -> &HttpClient {
        &self.0.http
    }

    pub(crate) fn network(&self) -> &network::Journal {
        &self.0.network
    }

    pub(crate) fn engines(&self) -> &model::Engines {
        &self.0.engines
    }

    pub(crate) fn known_files(&self) -> &model::KnownFiles {
        &self.0.known_files
    }

    pub(crate) fn resources(&self) -> Option<&Path> {
        self.0.options.resources.as_deref()
    }

    /// The profile's own folder of model files.
    pub(crate) fn own_models(&self) -> PathBuf {
        self.profile().models()
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.0.options.clock.now()
    }

    pub(crate) fn random(&self) -> [u8; 10] {
        self.0.options.clock.random()
    }

    pub(crate) fn zone(&self) -> String {
        self.0.options.clock.zone()
    }

    pub(crate) fn windows(&self) -> &model::Windows {
        &self.0.windows
    }

    pub(crate) fn titles(&self) -> &background::Attempts {
        &self.0.titles
    }

    pub(crate) fn plugins(&self) -> &plugin::Plugins {
        &self.0.plugins
    }

    pub(crate) fn reading(&self) -> &chat::read_ahead::Reading {
        &self.0.reading
    }

    pub(crate) fn summaries(&self) -> &background::Attempts {
        &self.0.summaries
    }
}

/// The next value of a broadcast; a listener that was too slow skips what it missed.
pub async fn next<T: Clone>(receiver: &mut broadcast::Receiver<T>) -> Option<T> {
    loop {
        match receiver.recv().await {
            Ok(value) => return Some(value),
            Err(broadcast::error::RecvError::Lagged(missed)) => tracing::warn!(missed, "a listener missed events"),
            Err(broadcast::error::RecvError::Closed) => return None,
        }
    }
}
