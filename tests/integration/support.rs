//! A service on a temporary profile.

use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_store::Store;
use evenkeel_testkit::{
    clock::FixedClock,
    scripted_server::{Answer, ScriptedServer},
};
use evenkeel_vault::{KeyFile, KeychainError, Profile, SecretStore, Use, unlock_keychain};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

/// A keychain in memory: these tests are about what stands above it; `crates/vault` tests the real one.
#[derive(Default)]
pub struct MemoryKeychain {
    secrets: Mutex<HashMap<Uuid, String>>,
    /// It does not let go of anything.
    pub keeps: AtomicBool,
}

impl SecretStore for MemoryKeychain {
    fn get(&self, vault: Uuid) -> Result<SecretString, KeychainError> {
        let found = self.secrets.lock().unwrap().get(&vault).cloned();
        found.map(SecretString::from).ok_or(KeychainError::Missing)
    }

    fn set(&self, vault: Uuid, secret: &SecretString) -> Result<(), KeychainError> {
        self.secrets.lock().unwrap().insert(vault, secret.expose_secret().to_owned());
        Ok(())
    }

    fn delete(&self, vault: Uuid) -> Result<(), KeychainError> {
        if self.keeps.load(Ordering::SeqCst) {
            return Err(KeychainError::Locked);
        }
        self.secrets.lock().unwrap().remove(&vault);
        Ok(())
    }
}

impl MemoryKeychain {
    pub fn forget_all(&self) {
        self.secrets.lock().unwrap().clear();
    }

    pub fn secrets(&self) -> Vec<String> {
        self.secrets.lock().unwrap().values().cloned().collect()
    }
}

pub struct TestClock(pub FixedClock);

impl Clock for TestClock {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.0.now()
    }
    fn monotonic(&self) -> Duration {
        self.0.monotonic()
    }
    fn random(&self) -> [u8; 10] {
        self.0.random()
    }
    fn zone(&self) -> String {
        "+00:00".into()
    }
}

/// Everything a test needs; the profile goes with it.
pub struct World {
    pub service: Service,
    pub server: ScriptedServer,
    pub keychain: Arc<MemoryKeychain>,
    pub clock: Arc<TestClock>,
    pub dir: tempfile::TempDir,
    pub recovery: Vec<String>,
}

pub fn options(dir: &Path, keychain: Arc<MemoryKeychain>, clock: Arc<TestClock>) -> ServiceOptions {
    ServiceOptions {
        profile: Profile::new(dir.join("profile")),
        resources: None,
        engine_program: engine_program(),
        engine_args: vec!["engine".into()],
        engine_idle: Duration::from_secs(300),
        patient_keychain: keychain.clone(),
        keychain,
        clock,
        limits: Limits::default(),
        job_interval: None,
    }
}

/// The app's own binary, which is the engine too.
pub fn engine_program() -> PathBuf {
    env!("CARGO_BIN_EXE_evenkeel").into()
}

pub async fn open_new(service: &Service) -> Vec<String> {
    assert_eq!(service.vault_status().await.state, VaultState::New);
    let sheet = service.vault_create(VaultOptions { use_keychain: true, passphrase: None }).await.unwrap();
    let answers = sheet.ask_groups.iter().map(|group| sheet.groups[*group as usize].clone()).collect();
    assert_eq!(service.vault_confirm_recovery(answers).await.unwrap().state, VaultState::Open);
    sheet.groups
}

impl World {
    pub async fn new() -> Self {
        Self::within(&std::env::temp_dir()).await
    }

    /// The same with its profile on the disk of a folder.
    pub async fn within(folder: &Path) -> Self {
        let dir = tempfile::tempdir_in(folder).unwrap();
        let keychain = Arc::new(MemoryKeychain::default());
        let clock = Arc::new(TestClock(FixedClock::at(chrono::Utc::now())));
        let service = Service::new(options(dir.path(), keychain.clone(), clock.clone())).unwrap();
        let recovery = open_new(&service).await;
        // The scripted server answers what a test asks; those of titles ask for them.
        let settings = Settings { automatic_titles: false, ..service.settings_get().await.unwrap() };
        service.settings_save(settings).await.unwrap();
        let server = ScriptedServer::start().await.unwrap();
        Self { service, server, keychain, clock, dir, recovery }
    }

    /// Closes the service and opens another one on the same profile.
    pub async fn restart(&mut self) {
        self.service.shutdown().await;
        self.service = Service::new(options(self.dir.path(), self.keychain.clone(), self.clock.clone())).unwrap();
        assert_eq!(self.service.vault_status().await.state, VaultState::Open);
    }

    /// The vault's database, opened beside the service.
    pub fn store(&self) -> Store {
        let profile = Profile::new(self.dir.path().join("profile"));
        let key_file = KeyFile::read(&profile).unwrap();
        let root = unlock_keychain(&key_file, &*self.keychain).unwrap();
        Store::open(&profile.database(), &root.subkey(key_file.vault_id(), Use::Database), self.clock.0.now()).unwrap()
    }

    /// Lets time pass by both clocks and runs what is due then; each job has to go well.
    pub async fn run_after(&self, time: chrono::TimeDelta) -> Vec<JobStatus> {
        self.clock.0.pass(time);
        let ran = self.service.run_due_jobs().await.unwrap();
        for job in &ran {
            assert_eq!(job.result, Some(JobResult::Ok), "{job:?}");
        }
        ran
    }

    /// Adds a provider at an address, makes its model `scripted` the default one.
    pub async fn provider_at(&self, base_url: &str, timeout_seconds: u32) -> Provider {
        self.provider_with(base_url, timeout_seconds, Some(8_192)).await
    }

    /// The same, with a stated window or with the one that the server tells.
    pub async fn provider_with(&self, base_url: &str, timeout_seconds: u32, window: Option<u32>) -> Provider {
        let draft = ProviderDraft {
            id: None,
            kind: ProviderKind::OpenaiCompatible,
            name: "Scripted".into(),
            base_url: base_url.into(),
            key: Some("sk-secret-0123456789".into()),
            extra_headers: BTreeMap::new(),
            manual_models: vec![],
            window_override: window,
            timeout_seconds,
        };
        let provider = self.service.provider_save(draft).await.unwrap();
        self.use_model(provider.id, "scripted").await;
        provider
    }

    pub async fn scripted_provider(&self) -> Provider {
        self.provider_at(&self.server.base_url(), 30).await
    }

    pub async fn use_model(&self, provider_id: ProviderId, model: &str) {
        let mut settings = self.service.settings_get().await.unwrap();
        settings.default_model = Some(ModelChoice { provider_id, model: model.into() });
        self.service.settings_save(settings).await.unwrap();
    }

    pub async fn use_engine(&self) {
        let engine = self.service.provider_list().await.unwrap().remove(0);
        self.use_model(engine.id, "SmolLM2-135M-Instruct").await;
    }

    pub async fn counselor(&self) -> Context {
        let preset = PresetId::new("preset-calm-counselor");
        self.service.context_create_from_preset(preset, PresetOverrides::default()).await.unwrap()
    }

    /// All contexts that are neither expired nor in the trash.
    pub async fn contexts(&self) -> Vec<Context> {
        self.service.context_list(ContextQuery { page_size: 500, ..ContextQuery::default() }).await.unwrap().contexts
    }

    /// The conversations of a context.
    pub async fn conversations(&self, context: ContextId) -> ConversationPage {
        let query = ConversationQuery { context_id: Some(context), ..ConversationQuery::default() };
        self.service.conversation_list(query).await.unwrap()
    }

    /// Says something and gives the conversation, the message and the reply.
    pub async fn exchange(
        &self,
        context: ContextId,
        conversation: Option<ConversationId>,
        text: &str,
        reply: &str,
    ) -> (Conversation, Message, Message) {
        self.server.push(Answer::reply(&[reply]));
        let events = self.say(context, conversation, text).await;
        let (conversation, message) = started(&events);
        (conversation, message, ended(&events).0.unwrap())
    }

    /// Sends and collects what the window would hear.
    pub async fn send(&self, request: SendRequest) -> Result<Vec<ChatEvent>, ServiceError> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        self.service.chat_send(request, move |event| heard.lock().unwrap().push(event)).await?;
        Ok(Arc::try_unwrap(events).unwrap().into_inner().unwrap())
    }

    pub async fn say(&self, context: ContextId, conversation: Option<ConversationId>, text: &str) -> Vec<ChatEvent> {
        let request = SendRequest::New { context_id: context, conversation_id: conversation, text: text.into(), agent_id: None };
        self.send(request).await.unwrap()
    }
}

pub fn started(events: &[ChatEvent]) -> (Conversation, Message) {
    let found = events.iter().find_map(|event| match event {
        ChatEvent::Started { conversation, user_message, .. } => Some((conversation.clone(), user_message.clone())),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("nothing started: {events:?}"))
}

pub fn ended(events: &[ChatEvent]) -> (Option<Message>, Option<ErrorBody>) {
    match events.last() {
        Some(ChatEvent::Ended { message, error }) => (message.clone(), error.clone()),
        other => panic!("the last event is {other:?}"),
    }
}
