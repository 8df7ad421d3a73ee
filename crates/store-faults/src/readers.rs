//! Whoever reads bytes that may come from elsewhere, each with what it promises of any bytes: it answers, with an error
//! of the kinds that are meant for bad files or with something that it gives back the same.

use crate::bytes::{Reader, hex};
use crate::error::{FaultError, promise};
use crate::scene::{Scene, at};
use evenkeel_domain::Limits;
use evenkeel_store::Store;
use evenkeel_store::archive::{self, ArchiveError, ArchiveProgress, ExportRequest, ImportReport, ImportRequest};
use evenkeel_store::backup::{self, BackupError};
use evenkeel_vault::{
    AgeError, AgeReader, AgeSecret, AgeWriter, EnvelopeError, KeyFile, RecoveryCode, VaultError, age_lock, open_envelope,
    seal_envelope,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

/// What opens the age files that are fed: it has to be the same on every run, or kept inputs would tell nothing.
const IDENTITY: &str = "AGE-SECRET-KEY-1CHQKGLVZMRW6HEQP6G7D7PVPJZMG7D3E2XNV8NT6904C6YVR3X4QFMYMMA";
/// What opens the envelopes and databases that are fed.
const KEY: [u8; 32] = [7; 32];
/// Databases are made as small as they can be, once; each input that has to be written gets a copy.
const DATABASE: &str = "vault.db";

/// The readers, with the files and keys that they need.
pub struct Readers {
    scene: Scene,
    identity: AgeSecret,
    limits: Limits,
    /// A vault with nothing in it, open, for those who only look.
    empty: Store,
    /// Its files.
    template: Vec<(String, Vec<u8>)>,
}

impl Readers {
    /// Makes ready.
    ///
    /// # Errors
    /// The disk or the store fails.
    pub fn new() -> Result<Self, FaultError> {
        let scene = Scene::with(3)?;
        let folder = scene.folder().join("empty");
        fs::create_dir(&folder)?;
        drop(Store::create(&folder.join(DATABASE), &KEY, at(0))?);
        let mut template = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            template.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
        }
        let empty = Store::open(&folder.join(DATABASE), &KEY, at(0))?;
        let identity = AgeSecret::of_key_file(IDENTITY).map_err(unexpected)?;
        Ok(Self { scene, identity, limits: Limits::default(), empty, template })
    }

    /// The bytes of a good file, or as much of one as is looked at.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn good(&self, reader: Reader) -> Result<Vec<u8>, FaultError> {
        Ok(match reader {
            Reader::KeySlots => fs::read(self.scene.profile.key_slots())?,
            Reader::BackupFront => {
                let mut file = fs::read(self.scene.back_up(&self.scene.open()?, 1)?.path)?;
                file.truncate(front_of(&file));
                file
            }
            Reader::RecoveryCode => self.scene.code.text().as_bytes().to_vec(),
            Reader::Envelope => {
                let record = br#"{"role":"user","content":"Calm, please.","timestampUtc":"2026-11-22T01:00:00Z","metadata":{}}"#;
                seal_envelope(&KEY, record)?.into_bytes()
            }
            Reader::AgeFile => self.sealed(b"what a user takes out of the vault")?,
            Reader::Archive => {
                let path = self.scene.folder().join("good.evenkeel.age");
                self.export(&self.scene.open()?, &path)?;
                self.lines(&path)?.into_bytes()
            }
        })
    }

    /// Reads an input, and says whether it was taken as good. With `mends`, what says of the input itself whether it is
    /// whole, such as a checksum, is made to fit first.
    ///
    /// # Errors
    /// `Broken` where the reader did not keep what it promises.
    pub fn read(&self, reader: Reader, input: &[u8], mends: bool) -> Result<bool, FaultError> {
        match (reader, mends) {
            (Reader::KeySlots, false) => read_key_slots(input),
            (Reader::KeySlots, true) => read_key_slots(&mended_key_slots(input)),
            (Reader::BackupFront, false) => self.read_front(input),
            (Reader::BackupFront, true) => self.read_front(&mended_front(input)),
            (Reader::RecoveryCode, _) => read_code(input),
            (Reader::Envelope, false) => read_envelope(input),
            (Reader::Envelope, true) => read_sealed_envelope(input),
            (Reader::AgeFile, false) => self.read_age(input),
            (Reader::AgeFile, true) => self.read_cut_age(input),
            (Reader::Archive, false) => self.read_archive(input),
            (Reader::Archive, true) => self.read_archive(&mended_archive(input)),
        }
    }

    /// What is in an archive.
    fn lines(&self, path: &Path) -> Result<String, FaultError> {
        let mut lines = String::new();
        AgeReader::new(&fs::read(path)?[..], &self.identity).map_err(unexpected)?.read_to_string(&mut lines)?;
        Ok(lines)
    }

    fn read_front(&self, input: &[u8]) -> Result<bool, FaultError> {
        let file = self.scene.folder().join("evenkeel-hostile.ekbackup");
        fs::write(&file, input)?;
        match backup::key_slots(&file) {
            Ok(_) => Ok(true),
            Err(BackupError::Damaged { .. } | BackupError::Foreign { .. } | BackupError::TooNew { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn sealed(&self, plain: &[u8]) -> Result<Vec<u8>, FaultError> {
        let mut sealed = AgeWriter::new(Vec::new(), &self.identity).map_err(unexpected)?;
        sealed.write_all(plain)?;
        Ok(sealed.finish()?)
    }

    /// Takes the input for a file as it lies on a disk.
    fn read_age(&self, input: &[u8]) -> Result<bool, FaultError> {
        let lock = age_lock(input);
        promise(!matches!(lock, Err(AgeError::Io(_))), || "bytes in memory fail to be read".to_owned())?;
        let mut plain = Vec::new();
        match AgeReader::new(input, &self.identity) {
            Ok(mut reader) => Ok(reader.read_to_end(&mut plain).is_ok()),
            Err(AgeError::Io(error)) => Err(FaultError::Broken(format!("bytes in memory fail to be read: {error}"))),
            Err(_) => Ok(false),
        }
    }

    /// Seals what follows the first four bytes, and changes or cuts the file where those say.
    fn read_cut_age(&self, input: &[u8]) -> Result<bool, FaultError> {
        let Some(([first, second, bit, rest @ ..], plain)) = input.split_first_chunk::<4>() else { return Ok(false) };
        let mut sealed = self.sealed(plain)?;
        let place = usize::from(u16::from_le_bytes([*first, *second])) % sealed.len();
        match rest {
            [255] => {}
            [254] => sealed.truncate(place),
            _ => sealed[place] ^= 1 << (bit % 8),
        }
        let mut read = Vec::new();
        let taken = match AgeReader::new(&sealed[..], &self.identity) {
            Ok(mut reader) => reader.read_to_end(&mut read).is_ok(),
            Err(_) => false,
        };
        promise(!taken || read == plain, || "what was read is not what was sealed".to_owned())?;
        promise(taken || *rest != [255], || "what nobody touched was refused".to_owned())?;
        Ok(taken)
    }

    fn request<'a>(&'a self, path: &'a Path) -> ImportRequest<'a> {
        let (secret, limits) = (&self.identity, &self.limits);
        ImportRequest { path, secret, take_settings: true, examine: &|_| Ok(()), limits, now: at(99) }
    }

    fn export(&self, store: &Store, path: &Path) -> Result<archive::Exported, FaultError> {
        let (secret, now) = (&self.identity, at(77));
        let request = ExportRequest { path, secret, replace: true, app_version: "0.1.0", plugins: Vec::new(), now };
        archive::export(store, &request, &mut go_on).map_err(unexpected)
    }

    fn read_archive(&self, lines: &[u8]) -> Result<bool, FaultError> {
        let path = self.scene.folder().join("hostile.evenkeel.age");
        fs::write(&path, self.sealed(lines)?)?;
        match archive::preview_import(&self.empty, &self.request(&path), &mut go_on) {
            Ok(preview) => self.take_archive(&path, &preview).map(|()| true),
            Err(ArchiveError::Invalid { .. } | ArchiveError::TooNew { .. } | ArchiveError::Limit { .. }) => Ok(false),
            Err(error) => Err(unexpected(error)),
        }
    }

    /// What was announced as whole has to be taken in whole, and to come out of the vault as it went in.
    fn take_archive(&self, path: &Path, preview: &ImportReport) -> Result<(), FaultError> {
        let (first, second) = (self.copy()?, self.copy()?);
        let report = match archive::import(&first.store, &self.request(path), &mut go_on) {
            Ok(report) => report,
            Err(ArchiveError::Limit { .. }) => return Ok(()),
            Err(error) => return Err(unexpected(error)),
        };
        promise(report == *preview, || format!("announced {preview:?}, done {report:?}"))?;
        let found = first.store.full_check()?;
        promise(found.is_empty(), || format!("the vault is not whole afterwards: {found:?}"))?;
        let (once, twice) = (first.folder.path().join("once"), second.folder.path().join("twice"));
        let exported = self.export(&first.store, &once)?;
        archive::import(&second.store, &self.request(&once), &mut go_on).map_err(unexpected)?;
        let again = self.export(&second.store, &twice)?;
        if exported.sha256 == again.sha256 {
            return Ok(());
        }
        let (before, after) = (self.lines(&once)?, self.lines(&twice)?);
        let differs = before.lines().skip(1).zip(after.lines().skip(1)).find(|(before, after)| before != after);
        Err(FaultError::Broken(format!("an archive of an archive is another one: {differs:?}")))
    }

    fn copy(&self) -> Result<Vault, FaultError> {
        let folder = tempfile::tempdir_in(self.scene.folder())?;
        for (name, bytes) in &self.template {
            fs::write(folder.path().join(name), bytes)?;
        }
        let store = Store::open(&folder.path().join(DATABASE), &KEY, at(0))?;
        Ok(Vault { store, folder })
    }
}

/// A vault of its own. The database is closed before its folder goes.
struct Vault {
    store: Store,
    folder: tempfile::TempDir,
}

fn go_on(_: ArchiveProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn unexpected(error: impl std::fmt::Display) -> FaultError {
    FaultError::Broken(format!("an error that is not meant for bad files: {error}"))
}

fn read_key_slots(input: &[u8]) -> Result<bool, FaultError> {
    match KeyFile::from_bytes(input, "hostile bytes") {
        Ok(file) => {
            let again = KeyFile::from_bytes(&file.to_bytes()?, "the same bytes")?;
            promise(again == file, || "it does not give back what it took".to_owned())?;
            Ok(true)
        }
        Err(VaultError::Damaged { .. } | VaultError::TooNew { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn read_code(input: &[u8]) -> Result<bool, FaultError> {
    let Ok(code) = RecoveryCode::parse(&String::from_utf8_lossy(input)) else { return Ok(false) };
    let again = RecoveryCode::parse(&code.text()).map_err(|error| FaultError::Broken(error.to_string()))?;
    promise(again.groups() == code.groups(), || "it does not give back what it took".to_owned())?;
    Ok(true)
}

fn read_envelope(input: &[u8]) -> Result<bool, FaultError> {
    match open_envelope(&KEY, input) {
        Ok(plain) => read_sealed_envelope(&plain),
        Err(EnvelopeError::Malformed { .. } | EnvelopeError::WrongKey) => Ok(false),
    }
}

/// Takes the input for what is inside.
fn read_sealed_envelope(plain: &[u8]) -> Result<bool, FaultError> {
    let envelope = seal_envelope(&KEY, plain)?;
    let opened = open_envelope(&KEY, envelope.as_bytes()).map_err(unexpected)?;
    promise(*opened == *plain, || "what comes out is not what was put in".to_owned())?;
    Ok(true)
}

/// Bytes of a backup that are looked at without a key.
fn front_of(good: &[u8]) -> usize {
    let line = line_of(good);
    let length = good.get(line + 32..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    (line + 36 + usize::try_from(length).unwrap_or(0)).min(good.len())
}

fn line_of(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn mended_key_slots(input: &[u8]) -> Vec<u8> {
    let line = line_of(input);
    let Some(end) = input.get(line..).map(line_of).filter(|end| *end > 0) else { return input.to_vec() };
    let mut hash = Sha256::new();
    hash.update(&input[..line]);
    hash.update(&input[line + end..]);
    [&input[..line], hex(&hash.finalize()).as_bytes(), b"\n", &input[line + end..]].concat()
}

fn mended_front(input: &[u8]) -> Vec<u8> {
    let line = line_of(input);
    let Some(sections) = input.get(line + 36..) else { return input.to_vec() };
    let length = u32::try_from(sections.len()).unwrap_or(0).to_le_bytes();
    let mut hash = Sha256::new();
    hash.update(&input[..line]);
    hash.update(length);
    hash.update(sections);
    [&input[..line], &hash.finalize()[..], &length, sections].concat()
}

/// The records that are in the lines, with a first and a last line that fit them.
fn mended_archive(input: &[u8]) -> Vec<u8> {
    let mut counts: BTreeMap<&str, u64> = archive::Kind::ALL.iter().map(|kind| (kind.as_str(), 0)).collect();
    let mut records = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        if line.is_empty() || line.starts_with(br#"{"header""#) || line.starts_with(br#"{"end""#) {
            continue;
        }
        if let Some(count) = kind_of(line).and_then(|kind| counts.get_mut(kind)) {
            *count += 1;
        }
        records.push(line);
    }
    let text: Vec<u8> = records.iter().flat_map(|line| line.iter().chain(b"\n")).copied().collect();
    let listed: Vec<String> = counts.iter().map(|(kind, count)| format!(r#""{}":{count}"#, plural_of(kind))).collect();
    let header = format!(
        r#"{{"header":{{"format":"evenkeel-archive","version":1,"appVersion":"0.1.0","exportedAt":"2026-11-22T01:00:00Z","counts":{{{}}},"plugins":[]}}}}"#,
        listed.join(",")
    );
    let end = format!(r#"{{"end":{{"records":{},"sha256":"{}"}}}}"#, records.len(), hex(&Sha256::digest(&text)));
    [header.as_bytes(), b"\n", &text, end.as_bytes(), b"\n"].concat()
}

/// The kind of a record, where it stands as we write it.
fn kind_of(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(br#"{""#)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// How the first line names the number of a kind.
fn plural_of(kind: &str) -> String {
    match (kind, kind.strip_suffix('y')) {
        ("settings", _) => kind.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        _ => format!("{kind}s"),
    }
}
