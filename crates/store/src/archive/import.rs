//! Taking an archive into a vault: looked through whole before anything is written, then in portions, each a
//! transaction that leaves a whole vault and says in the journal what it has added.

use super::apply::Apply;
use super::error::{ArchiveError, Unfit};
use super::file::open;
use super::journal::{Journal, PendingImport, id_of};
use super::lines::LineReader;
use super::merge::{Fate, Merge, Place, Reason};
use super::record::{ConversationRecord, Counts, Header, Kind, ProviderRecord, Record};
use super::rows::Rows;
use super::{ArchiveStep, Watch, tell};
use crate::column::bytes;
use crate::{ReadHandle, Store, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::Limits;
use evenkeel_vault::AgeSecret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// Records in one transaction at most.
const MOST: usize = 400;
/// Bytes of lines in one transaction at most, about.
const MOST_BYTES: usize = 4 << 20;
/// How long one transaction takes at most, about.
const LONGEST: Duration = Duration::from_millis(150);
/// The shortest and the longest time in which others may write between two of them.
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));
/// After so many records those who watch are told.
const TOLD_EACH: u64 = 256;

/// What an archive holds, and what taking it in would do, or has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// The first line.
    pub header: Header,
    /// The digest of its records: archives with the same one hold the same.
    pub sha256: String,
    /// What is added.
    pub added: Counts,
    /// What the vault has just so.
    pub same: Counts,
    /// What is not taken over, by the reason.
    pub kept: BTreeMap<Reason, Counts>,
}

impl ImportReport {
    fn new(header: &Header) -> Self {
        let (added, same, kept) = (Counts::default(), Counts::default(), BTreeMap::new());
        Self { header: header.clone(), sha256: String::new(), added, same, kept }
    }

    fn count(&mut self, kind: Kind, fate: Fate) {
        match fate {
            Fate::Add => self.added.add(kind),
            Fate::Same => self.same.add(kind),
            Fate::Keep(reason) => self.kept.entry(reason).or_default().add(kind),
        }
    }
}

/// What to import, and how.
pub struct ImportRequest<'a> {
    /// The archive.
    pub path: &'a Path,
    /// What opens it.
    pub secret: &'a AgeSecret,
    /// Its settings replace those of the vault.
    pub take_settings: bool,
    /// Says whether a provider may be taken in as it stands, or what is wrong with it.
    pub examine: &'a dyn Fn(&ProviderRecord) -> Result<(), Unfit>,
    /// What the vault may hold.
    pub limits: &'a Limits,
    /// When.
    pub now: DateTime<Utc>,
}

/// Looks through an archive and says what importing it would do. Nothing is written.
///
/// # Errors
/// Every variant of [`ArchiveError`] but those of writing.
pub fn preview_import(store: &Store, request: &ImportRequest<'_>, watch: &mut Watch<'_>) -> Result<ImportReport, ArchiveError> {
    look_through(store, request, open(request.path, request.secret)?.lines()?, watch)
}

/// Takes an archive in. One that was cut off goes on with what is still missing.
///
/// # Errors
/// Every variant of [`ArchiveError`]. After `Invalid` the vault is as before; after an error of the disk, and where
/// `watch` stopped it, what was added is noted, and the import can go on or be undone.
pub fn import(store: &Store, request: &ImportRequest<'_>, watch: &mut Watch<'_>) -> Result<ImportReport, ArchiveError> {
    let source = open(request.path, request.secret)?;
    let proved = look_through(store, request, source.lines()?, watch)?;
    check_limits(store, request, &proved)?;
    let again = source.lines()?;
    let head = begin(store, request, &proved.sha256)?;
    let done = take_in(store, request, &head, again, watch).and_then(|report| {
        if report.sha256 == proved.sha256 { Ok(report) } else { Err(ArchiveError::invalid("it was changed meanwhile")) }
    });
    match done {
        Ok(report) => {
            store.write(Journal::end)?;
            Ok(report)
        }
        Err(error @ ArchiveError::Invalid { .. }) => {
            super::undo::undo_import(store, request.now, &mut || true)?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

/// The import that was begun and has not ended.
///
/// # Errors
/// `Store`.
pub fn pending_import(store: &Store) -> Result<Option<PendingImport>, ArchiveError> {
    Ok(store.read(Journal::head)?)
}

/// Leaves what an import that was cut off has added as it is.
///
/// # Errors
/// `Store`.
pub fn keep_import(store: &Store) -> Result<(), ArchiveError> {
    Ok(store.write(Journal::end)?)
}

/// Refuses what would not fit the limits of the vault.
fn check_limits(store: &Store, request: &ImportRequest<'_>, proved: &ImportReport) -> Result<(), ArchiveError> {
    let (contexts, bytes) = store.read(|read| Ok((read.context_count(true)?, read.used_bytes()?)))?;
    let contexts = contexts + proved.added.contexts;
    if proved.added.contexts > 0 && contexts > u64::from(request.limits.contexts) {
        return Err(ArchiveError::Limit { field: "limits.contexts", would_be: contexts, limit: request.limits.contexts.into() });
    }
    // Texts and their index take about one and a half times the room of their lines.
    let size = std::fs::metadata(request.path).map(|file| file.len()).map_err(ArchiveError::file("read", request.path))?;
    let bytes = bytes.saturating_add(size.saturating_mul(3) / 2);
    if proved.added.messages > 0 && bytes > request.limits.vault_bytes {
        return Err(ArchiveError::Limit { field: "limits.vaultBytes", would_be: bytes, limit: request.limits.vault_bytes });
    }
    Ok(())
}

/// Notes the beginning; gives the notes of an import of the same archive that was cut off.
fn begin(store: &Store, request: &ImportRequest<'_>, sha256: &str) -> Result<PendingImport, ArchiveError> {
    store.try_write(|write| {
        if let Some(head) = Journal::head(write)? {
            return if head.sha256 == sha256 && !head.is_undoing { Ok(head) } else { Err(ArchiveError::Pending) };
        }
        let head = PendingImport {
            path: request.path.display().to_string(),
            sha256: sha256.to_owned(),
            started_at: request.now,
            take_settings: request.take_settings,
            is_new_vault: is_new(write)?,
            is_undoing: false,
        };
        Journal::put_head(write, &head)?;
        Ok(head)
    })
}

/// Whether there is no companion yet.
fn is_new(read: &ReadHandle<'_>) -> Result<bool, crate::StoreError> {
    Ok(read.number("SELECT count(*) FROM contexts", [])? == 0)
}

/// Reads the whole archive against one state of the vault.
fn look_through<R: Read>(
    store: &Store,
    request: &ImportRequest<'_>,
    mut lines: LineReader<R>,
    watch: &mut Watch<'_>,
) -> Result<ImportReport, ArchiveError> {
    let mut report = ImportReport::new(lines.header());
    let total = lines.header().counts.total();
    store.try_read(|read| {
        let rows = Rows::new(read)?;
        let mut merge = match Journal::head(read)? {
            Some(head) => Merge::new(head.take_settings, head.is_new_vault),
            None => Merge::new(request.take_settings, is_new(read)?),
        };
        while let Some((record, _)) = lines.next()? {
            let Some(kind) = record.kind() else { break };
            if let Record::Provider(one) = &record {
                (request.examine)(one).map_err(|unfit| ArchiveError::invalid(unfit.to_string()))?;
            }
            let fate = merge.fate(read, &rows, &record)?;
            report.count(kind, fate);
            if lines.done().is_multiple_of(TOLD_EACH) {
                tell(watch, ArchiveStep::Checking, lines.done(), total)?;
            }
        }
        Ok::<(), ArchiveError>(())
    })?;
    report.sha256 = lines.sha256().unwrap_or_default().to_owned();
    Ok(report)
}

/// Reads it again and adds what is missing.
fn take_in<R: Read>(
    store: &Store,
    request: &ImportRequest<'_>,
    head: &PendingImport,
    mut lines: LineReader<R>,
    watch: &mut Watch<'_>,
) -> Result<ImportReport, ArchiveError> {
    let total = lines.header().counts.total();
    let mut taking = Taking {
        merge: Merge::new(head.take_settings, head.is_new_vault),
        report: ImportReport::new(lines.header()),
        open: None,
        now: request.now,
    };
    loop {
        let began = Instant::now();
        let ended = store.try_write(|write| taking.portion(write, &mut lines, began))?;
        tell(watch, ArchiveStep::Importing, lines.done(), total)?;
        if ended {
            taking.report.sha256 = lines.sha256().unwrap_or_default().to_owned();
            return Ok(taking.report);
        }
        // The writer's lock is not fair: who waits for it gets as much time as was taken.
        std::thread::sleep(began.elapsed().clamp(PAUSE.0, PAUSE.1));
    }
}

/// An import under way.
struct Taking {
    merge: Merge,
    report: ImportReport,
    /// The conversation whose parts come now, if this import adds it.
    open: Option<ConversationRecord>,
    now: DateTime<Utc>,
}

impl Taking {
    /// One transaction; true after the last record.
    fn portion<R: Read>(
        &mut self,
        write: &mut WriteHandle<'_>,
        lines: &mut LineReader<R>,
        began: Instant,
    ) -> Result<bool, ArchiveError> {
        let mut taken = 0;
        for _ in 0..MOST {
            let Some((record, length)) = lines.next()? else {
                self.close(write)?;
                return Ok(true);
            };
            self.take(write, &record)?;
            taken += length;
            if taken > MOST_BYTES || began.elapsed() > LONGEST {
                break;
            }
        }
        Ok(false)
    }

    fn take(&mut self, write: &mut WriteHandle<'_>, record: &Record) -> Result<(), ArchiveError> {
        let Some((kind, id)) = record.kind().zip(id_of(record)) else { return Ok(()) };
        if kind == Kind::Conversation {
            self.close(write)?;
        }
        let rows = Rows::new(write)?;
        let mut fate = self.merge.fate(write, &rows, record)?;
        // Of a conversation that this import adds, its parts need no notes of their own.
        let is_noted = !kind.is_part() || self.merge.place == Place::Theirs;
        if fate == Fate::Add {
            let before = if is_noted && is_replaced(kind) { rows.like(record)? } else { None };
            Apply::new(write)?.add(record, self.merge.place, self.now)?;
            if is_noted {
                let added = Rows::new(write)?.find(kind, &id)?;
                Journal::note(write, added.as_ref().unwrap_or(record), before)?;
            }
        } else if fate == Fate::Same {
            let ours = if is_noted { Journal::has(write, kind, &id)? } else { true };
            fate = if ours { Fate::Add } else { Fate::Same };
        }
        self.report.count(kind, fate);
        if let (Record::Conversation(one), Place::Ours) = (record, self.merge.place) {
            self.open = Some(one.clone());
        }
        Ok(())
    }

    /// Shows the branch that was shown, once all of its messages are there.
    fn close(&mut self, write: &mut WriteHandle<'_>) -> Result<(), ArchiveError> {
        let Some(one) = self.open.take() else { return Ok(()) };
        let sql = "UPDATE conversations SET active_leaf_id = ?2 WHERE id = ?1
            AND (?2 IS NULL OR EXISTS (SELECT 1 FROM messages WHERE conversation_id = ?1 AND id = ?2))";
        write.execute(sql, (bytes(one.id.uuid()), one.shown_message_id.map(|id| bytes(id.uuid()))))?;
        Ok(())
    }
}

/// Whether something of the app's own may stand in its place.
fn is_replaced(kind: Kind) -> bool {
    matches!(kind, Kind::Settings | Kind::Preset | Kind::Provider)
}
