//! Nothing in clear: after a whole journey every file of the profile is searched for what was said and for every key.

use crate::support::{World, ended};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use evenkeel_diagnosis::{CrashReports, Lines, LogFile, Process, catch_panics};
use evenkeel_domain::*;
use evenkeel_service::*;
use evenkeel_testkit::scripted_server::Answer;
use evenkeel_vault::{KeyFile, Profile, Use, unlock_keychain};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

const CHILD: &str = "EVENKEEL_SECRECY_CHILD";
/// What the journey hands to the search; it is deleted before that.
const SECRETS: &str = "secrets.json";
const KEY: &str = "sk-Zwetschge-0123456789abcdef";
const ADDRESS_KEY: &str = "Mirabelle0123456789";
const PASSPHRASE: &str = "Reineclaude horse battery";
/// Said, named, answered, and told by a server that fails.
const MARKERS: [&str; 6] = [
    "Zwetschgenknödelgeheimnis",
    "Marillenknödelantwort",
    "Powidltascherlname",
    "Germknödelpersona",
    "Nockerlfehler",
    "Krapfenentwurf",
];

async fn talk(world: &World) -> ContextId {
    let draft = ProviderDraft {
        id: None,
        kind: ProviderKind::OpenaiCompatible,
        name: format!("Server of {}", MARKERS[2]),
        base_url: format!("{}?key={ADDRESS_KEY}", world.server.base_url()),
        key: Some(KEY.into()),
        extra_headers: BTreeMap::from([("x-team".to_owned(), KEY.to_owned())]),
        manual_models: vec![],
        window_override: Some(8_192),
        timeout_seconds: 30,
    };
    let provider = world.service.provider_save(draft).await.unwrap();
    world.use_model(provider.id, "scripted").await;
    let context = world.counselor().await;
    let patch = ContextPatch {
        name: Some(MARKERS[2].into()),
        system_prompt: Some(format!("You keep {} to yourself.", MARKERS[3])),
        ..ContextPatch::default()
    };
    world.service.context_update(context.id, patch).await.unwrap();
    let (conversation, ..) = world.exchange(context.id, None, &format!("Keep {}.", MARKERS[0]), MARKERS[1]).await;
    world.server.push(Answer::error(500, MARKERS[4]));
    assert!(ended(&world.say(context.id, Some(conversation.id), MARKERS[0]).await).1.is_some());
    world.service.draft_put(DraftKey::Context(context.id), MARKERS[5].into()).await.unwrap();
    let journal = world.service.network_list(None, 1_000).await.unwrap();
    assert!(!journal.requests.is_empty());
    no_text_in("the network journal", &serde_json::to_vec(&journal).unwrap());
    context.id
}

/// Backups, an archive, locking, a wrong and the right code, a restore.
async fn keep_and_restore(world: &World) {
    let service = &world.service;
    let backup = service.backup_make().await.unwrap();
    let archive = service.archive_place(world.dir.path().join("all.age")).await.unwrap();
    let protection = ArchiveProtection::Passphrase { passphrase: PASSPHRASE.into() };
    service.archive_export(PathBuf::from(archive.path), protection, false, |_| ()).await.unwrap();
    service.vault_set_passphrase(PASSPHRASE.into()).await.unwrap();
    service.vault_lock().await;
    let wrong = UnlockMethod::Passphrase { passphrase: format!("{PASSPHRASE} {}", MARKERS[0]) };
    assert!(service.vault_unlock(wrong).await.is_err());
    let right = UnlockMethod::RecoveryCode { code: world.recovery.join("-") };
    assert_eq!(service.vault_unlock(right).await.unwrap().state, VaultState::Open);
    service.backup_restore(PathBuf::from(&backup.path)).await.unwrap();
    assert_eq!(world.contexts().await.len(), 1);
}

/// A crash and events that name what they must not.
fn crash_and_complain() {
    let thread = std::thread::Builder::new().name(MARKERS[2].into());
    let thread = thread.spawn(|| panic!("{} {KEY}", MARKERS[0])).unwrap();
    assert!(thread.join().is_err());
    let address = format!("http://x/?key={ADDRESS_KEY}");
    tracing::error!(target: "evenkeel_service::job", error = MARKERS[4], code = KEY, %address, "a job failed");
    tracing::warn!(target: "hyper::client", "{} was sent to {ADDRESS_KEY}", MARKERS[0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other process of the test below; does nothing by itself"]
async fn journey_child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let world = World::new().await;
    let logs = log_folder(&world.service.profile_dir());
    tracing_subscriber::registry().with(Lines::to_file(Arc::new(LogFile::new(logs.clone())), Process::Window)).init();
    catch_panics(CrashReports::new(logs), Process::Window, false);
    talk(&world).await;
    keep_and_restore(&world).await;
    crash_and_complain();
    assert_eq!(world.service.crash_list().await.unwrap().len(), 1);
    let log = world.service.log_read(LogLevel::Warn, 100).await.unwrap();
    assert!(log.lines.iter().any(|line| line.text.starts_with("a job failed error=…")), "{log:?}");
    let secrets = serde_json::json!({
        "profile": world.service.profile_dir(),
        "keychain": world.keychain.secrets(),
        "recovery": world.recovery,
    });
    std::fs::write(Path::new(&folder).join(SECRETS), secrets.to_string()).unwrap();
    // As a kill does: what would be tidied up at the end stays where it is.
    std::process::exit(0);
}

/// A text or key, in each form that it could have in a file.
type Needle = (String, Vec<u8>);

fn of_text(text: &str) -> Vec<Needle> {
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut forms = vec![("UTF-8", text.as_bytes().to_vec()), ("UTF-16", utf16), ("hex", hex(text.as_bytes()).into_bytes())];
    for offset in 0..3 {
        // Of a longer text's base64 the edges depend on what stands around; the part between them does not.
        let encoded = STANDARD.encode([vec![b' '; offset], text.as_bytes().to_vec()].concat());
        forms.push(("base64", encoded.as_bytes()[if offset == 0 { 0 } else { 4 }..encoded.len() - 4].to_vec()));
    }
    forms.into_iter().map(|(form, bytes)| (format!("{text} ({form})"), bytes)).collect()
}

fn of_key(name: &str, key: &[u8]) -> Vec<Needle> {
    let forms = [
        ("raw", key.to_vec()),
        ("hex", hex(key).into_bytes()),
        ("HEX", hex(key).to_uppercase().into_bytes()),
        ("base64", STANDARD.encode(key).trim_end_matches('=').as_bytes().to_vec()),
        ("base64url", URL_SAFE_NO_PAD.encode(key).into_bytes()),
    ];
    forms.into_iter().map(|(form, bytes)| (format!("{name} ({form})"), bytes)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn texts() -> Vec<Needle> {
    MARKERS.iter().chain([&KEY, &ADDRESS_KEY, &PASSPHRASE]).flat_map(|text| of_text(text)).collect()
}

fn found(bytes: &[u8], needles: &[Needle]) -> Vec<String> {
    // By their first byte: there are many needles, and a reserve of megabytes.
    let mut by_first: Vec<Vec<usize>> = vec![Vec::new(); 256];
    needles.iter().enumerate().for_each(|(number, (_, needle))| by_first[usize::from(needle[0])].push(number));
    let mut is_found = vec![false; needles.len()];
    for (at, first) in bytes.iter().enumerate() {
        for number in &by_first[usize::from(*first)] {
            is_found[*number] = is_found[*number] || bytes[at..].starts_with(&needles[*number].1);
        }
    }
    needles.iter().zip(is_found).filter(|(_, is_found)| *is_found).map(|((what, _), _)| what.clone()).collect()
}

fn no_text_in(place: &str, bytes: &[u8]) {
    assert_eq!(found(bytes, &texts()), Vec::<String>::new(), "in {place}");
}

/// The keys of the vault: the root as the documented format wraps it, and what is derived from it.
fn keys(profile: &Path, secret: &[u8; 32]) -> Vec<Needle> {
    let text = std::fs::read(profile.join("vault.keys")).unwrap();
    let start = text.iter().position(|byte| *byte == b'{').unwrap();
    let body: Value = serde_json::from_slice(&text[start..]).unwrap();
    let slot = body["slots"].as_array().unwrap().iter().find(|slot| slot["kind"] == "keychain").unwrap();
    let wrapped = STANDARD.decode(slot["wrapped"].as_str().unwrap()).unwrap();
    let id: uuid::Uuid = body["vaultId"].as_str().unwrap().parse().unwrap();
    // Magic, format, vault, slot type 1 (keychain), key derivation 0 (none).
    let bound = [b"EVENKEEL KEY SLOTS".as_slice(), &1_u32.to_le_bytes(), id.as_bytes(), &[1, 0]].concat();
    let root = evenkeel_vault::open(secret, &bound, &wrapped).unwrap();
    let mut needles = [of_key("root", &root), of_key("keychain secret", secret)].concat();
    let key_file = KeyFile::read(&Profile::new(profile.to_owned())).unwrap();
    let keychain = crate::support::MemoryKeychain::default();
    evenkeel_vault::SecretStore::set(&keychain, id, &STANDARD.encode(secret).into()).unwrap();
    let opened = unlock_keychain(&key_file, &keychain).unwrap();
    for (name, derived) in [("database", Use::Database), ("secrets", Use::Secrets), ("backup", Use::Backup)] {
        needles.extend(of_key(name, opened.subkey(id, derived).as_slice()));
    }
    needles
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn after_a_whole_journey_nothing_stands_in_clear() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrecy::journey_child", "--ignored", "--nocapture"])
        .env(CHILD, folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{out}\n{err}");
    let note = folder.path().join(SECRETS);
    let secrets: Value = serde_json::from_slice(&std::fs::read(&note).unwrap()).unwrap();
    std::fs::remove_file(&note).unwrap();
    let profile = PathBuf::from(secrets["profile"].as_str().unwrap());
    let secret: [u8; 32] = STANDARD.decode(secrets["keychain"][0].as_str().unwrap()).unwrap().try_into().unwrap();
    let groups: Vec<&str> = secrets["recovery"].as_array().unwrap().iter().map(|group| group.as_str().unwrap()).collect();
    let codes = ["", " ", "-"].map(|between| of_text(&groups.join(between))).concat();
    let needles = [texts(), codes, keys(&profile, &secret)].concat();

    // The search finds what is there.
    let planted = [b"x".to_vec(), MARKERS[0].encode_utf16().flat_map(u16::to_le_bytes).collect(), hex(&secret).into_bytes()];
    assert_eq!(found(&planted.concat(), &needles).len(), 2);

    let searched = files(folder.path());
    for name in ["vault.db", "vault.db-wal", "vault.keys", "evenkeel.log", "all.age"] {
        assert!(searched.iter().any(|path| path.file_name().unwrap() == name), "{name} in {searched:?}");
    }
    for start in ["crash-", "vault.db.pre-restore"] {
        let is_there = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(start);
        assert!(searched.iter().any(is_there), "{start} in {searched:?}");
    }
    for path in &searched {
        assert_eq!(found(&std::fs::read(path).unwrap(), &needles), Vec::<String>::new(), "in {}", path.display());
    }
    assert_eq!(found(&[ended.stdout, ended.stderr].concat(), &needles), Vec::<String>::new(), "in what it printed");
}

/// A sentence of the log is what the source says; whatever varies stands in a field, which is looked at.
#[test]
fn no_sentence_of_the_log_is_put_together() {
    let mut seen = 0;
    for path in ["crates", "src-tauri"].iter().flat_map(|folder| files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))) {
        if path.extension().is_none_or(|ending| ending != "rs") || !path.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // The tests of the log itself say what must not be said.
        let text = text.split("#[cfg(test)]").next().unwrap();
        for level in ["debug", "info", "warn", "error"] {
            for call in text.split(&format!("tracing::{level}!(")).skip(1) {
                let sentence = call.split('"').nth(1).unwrap_or_default();
                assert!(!sentence.contains('{'), "{}: {sentence}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} sentences were found");
}
