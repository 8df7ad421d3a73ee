//! The workload `writes`: the app and `evenkeel mcp` write to one vault at the same time, by both ways that there are.
//! Whatever was acknowledged has to be there afterwards, and each of them has to see all of it.

mod app;
mod program;

use crate::app::create_vault;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use app::AppSide;
use evenkeel_domain::{ConnectionGrant, ContextId, ModelChoice, PresetId, ProviderKind, Settings};
use evenkeel_service::{PresetOverrides, ProviderDraft, Service, ServiceOptions, VaultState};
use evenkeel_store::Store;
use evenkeel_testkit::keyring::{KeyringHome, KeyringState};
use evenkeel_testkit::scripted_server::ScriptedServer;
use evenkeel_vault::{KeyFile, Keychain, Profile, Use, unlock_keychain};
use program::{NAME, Program, ProgramSide};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// What can be shown alone: the program goes through the running app, or each process has opened the vault itself.
pub const PARTS: [&str; 2] = ["socket", "files"];
/// First argument of the child that writes, in a session with a keychain of its own.
const WRITING_CHILD: &str = "writes-child";
/// Acknowledged writes of each part, at least.
const WRITES: u32 = 10_000;
/// Writes of one side in a round.
const OF_A_ROUND: u32 = 5;
/// Rounds that a side stays with one context, so that its conversation is read at once.
const ROUNDS_EACH: u32 = 20;

/// What somebody was acknowledged, or sees: of each thing its wording.
type Seen = BTreeMap<String, String>;

/// What a part has shown.
#[derive(Serialize, Deserialize)]
struct Figures {
    writes: u64,
    /// How often a write of one side came right after one of the other.
    turns: u64,
    seconds: f64,
    lost: u64,
    unseen: u64,
    damage: u64,
}

/// Counts what was acknowledged, in the order in which it was.
#[derive(Default)]
struct Tally {
    last: AtomicU8,
    turns: AtomicU64,
    writes: AtomicU64,
}

impl Tally {
    fn wrote(&self, side: u8, writes: u64) {
        self.writes.fetch_add(writes, Ordering::Relaxed);
        if self.last.swap(side, Ordering::Relaxed) != side {
            self.turns.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Shows both ways, or one of [`PARTS`].
pub fn run(part: Option<&str>, progress: Progress) -> Result<Report, BenchError> {
    let failed = |source| BenchError::system("starting the processes that write", source);
    let program = std::env::current_exe().map_err(failed)?;
    let home = KeyringHome::new().map_err(failed)?;
    let mut report = Report::default();
    for name in PARTS.into_iter().filter(|name| part.is_none_or(|part| part == *name)) {
        progress.say(&format!("{name}: {WRITES} writes …"));
        let session = home.start(KeyringState::Unlocked).map_err(failed)?;
        let mut command = Command::new(&program);
        command.args([WRITING_CHILD, name]).stderr(Stdio::inherit());
        let output = session.apply(&mut command).output().map_err(failed)?;
        if !output.status.success() {
            return Err(BenchError::Worthless(format!("the part {name} ended with {}", output.status)));
        }
        report.rows.extend(rows(name, &serde_json::from_slice(&output.stdout)?));
    }
    Ok(report)
}

fn rows(way: &str, figures: &Figures) -> Vec<Row> {
    let of = |what: &str| format!("writes by {way}: {what}");
    vec![
        Row::at_least(of("acknowledged"), figures.writes as f64, f64::from(WRITES)),
        Row::reported(of("seconds"), figures.seconds),
        Row::reported(of("times that the other side wrote next"), figures.turns as f64),
        Row::at_most(of("lost"), figures.lost as f64, 0.0),
        Row::at_most(of("not seen by one of the two"), figures.unseen as f64, 0.0),
        Row::at_most(of("findings of the full check"), figures.damage as f64, 0.0),
    ]
}

/// The part that a child of this workload shows; `None` if this is none.
pub fn child(given: &[String]) -> Option<&'static str> {
    match given {
        [first, way] if first == WRITING_CHILD => PARTS.into_iter().find(|known| known == way),
        _ => None,
    }
}

/// Writes from both sides and gives the figures as JSON; what the child does.
pub async fn write(way: &str) -> Result<String, BenchError> {
    let folder = tempfile::tempdir().map_err(|source| BenchError::system("making a temporary profile", source))?;
    let options = ServiceOptions::new(folder.path().join("profile"), None)?;
    let model = ScriptedServer::start().await.map_err(|source| BenchError::system("starting the scripted model", source))?;
    let service = Service::new(options.clone())?;
    create_vault(&service).await?;
    let shared = furnish(&service, &model).await?;
    if way == "socket" {
        let listening = service.listen_to_programs().await;
        listening.map_err(|error| BenchError::Worthless(format!("the app cannot listen: {error}")))?;
    }
    let program = known_program(&service, &options.profile).await?;

    let (tally, rounds, began) = (Tally::default(), WRITES / (2 * OF_A_ROUND), Instant::now());
    let mut app = AppSide::new(&service, &model, shared, &tally);
    let mut other = ProgramSide::new(program, &model, shared, &tally);
    let (ours, theirs) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| other.write(rounds));
        // The service has threads of its own; this one only waits for them.
        let ours = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(app.write(rounds)));
        (ours, theirs.join())
    });
    ours?;
    theirs.map_err(|_| BenchError::Worthless("the program's side ended early".to_owned()))??;
    let seconds = began.elapsed().as_secs_f64();

    let views = [app.sees().await?, other.sees()?];
    let acknowledged: Seen = app.acknowledged.into_iter().chain(other.acknowledged).collect();
    other.program.end()?;
    service.shutdown().await;
    let unseen = views.iter().map(|view| missing(&acknowledged, view)).sum();
    let lost = lost(&options, shared, &acknowledged, rounds, &model).await?;
    let damage = findings(options.profile).await?;
    let figures = Figures { writes: tally.writes.into_inner(), turns: tally.turns.into_inner(), seconds, lost, unseen, damage };
    Ok(serde_json::to_string(&figures)?)
}

/// Chooses the scripted model, and makes the context that both sides change.
async fn furnish(service: &Service, model: &ScriptedServer) -> Result<ContextId, BenchError> {
    let draft = ProviderDraft {
        id: None,
        kind: ProviderKind::OpenaiCompatible,
        name: "Scripted".to_owned(),
        base_url: model.base_url(),
        key: None,
        extra_headers: BTreeMap::new(),
        manual_models: Vec::new(),
        window_override: Some(8_192),
        timeout_seconds: 30,
    };
    let provider_id = service.provider_save(draft).await?.id;
    let default_model = Some(ModelChoice { provider_id, model: "scripted".to_owned() });
    let settings = service.settings_get().await?;
    service.settings_save(Settings { automatic_titles: false, default_model, ..settings }).await?;
    let overrides = PresetOverrides { name: Some("Shared".to_owned()), ..PresetOverrides::default() };
    Ok(service.context_create_from_preset(PresetId::new("preset-calm-counselor"), overrides).await?.id)
}

/// Starts a program that has been there before, and may do everything.
async fn known_program(service: &Service, profile: &Profile) -> Result<Program, BenchError> {
    let mut program = Program::start(profile.dir())?;
    program.ask("context-manage", &serde_json::json!({ "action": "list" }))?;
    let grant = ConnectionGrant { may_change: true, may_chat: true, ..ConnectionGrant::default() };
    service.connection_set_grant(NAME.to_owned(), grant).await?;
    Ok(program)
}

/// How much of what was acknowledged is not in a view, or is otherwise there.
fn missing(acknowledged: &Seen, view: &Seen) -> u64 {
    acknowledged.iter().filter(|(thing, wording)| view.get(*thing) != Some(*wording)).count() as u64
}

/// What is not there once the vault is opened anew, wordings of the shared persona that nobody sees any more among it.
async fn lost(
    options: &ServiceOptions,
    shared: ContextId,
    acknowledged: &Seen,
    rounds: u32,
    model: &ScriptedServer,
) -> Result<u64, BenchError> {
    let service = Service::new(options.clone())?;
    let status = service.vault_status().await;
    if status.state != VaultState::Open {
        return Err(BenchError::Worthless(format!("the vault does not open again, it is {:?}", status.state)));
    }
    let view = AppSide::new(&service, model, shared, &Tally::default()).sees().await?;
    // The first wording, and one of each side in each round.
    let wordings = 1 + 2 * u64::from(rounds);
    let kept = service.context_revisions(shared).await?.len() as u64;
    service.shutdown().await;
    Ok(missing(acknowledged, &view) + wordings.saturating_sub(kept))
}

/// What the full check of the closed vault finds.
async fn findings(profile: Profile) -> Result<u64, BenchError> {
    let checked = tokio::task::spawn_blocking(move || {
        let key_file = KeyFile::read(&profile)?;
        let root = unlock_keychain(&key_file, &Keychain::new())?;
        let key = root.subkey(key_file.vault_id(), Use::Database);
        let found = Store::open(&profile.database(), &key, chrono::Utc::now())?.full_check()?;
        Ok(found.len() as u64)
    });
    checked.await.unwrap_or_else(|error| Err(BenchError::Worthless(format!("the check ended early: {error}"))))
}
