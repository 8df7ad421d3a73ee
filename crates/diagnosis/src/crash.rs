//! Reports of crashes: what can be said of them without content.

use crate::{DiagnosisError, Process, folder};
use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::backtrace::Backtrace;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::panic::{self, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const FORMAT: u32 = 1;
/// How the names of reports begin and end.
const NAME: (&str, &str) = ("crash-", ".json");
/// Reports that are kept; a newer one takes the place of the oldest.
const KEPT: usize = 10;
/// Reports of one process: what panics again and again tells nothing new.
const FROM_ONE: usize = 5;
/// Calls of the stack that are named.
const FRAMES: usize = 48;
/// Threads that are named in the program's source; what another is called could hold anything.
const THREADS: [&str; 8] =
    ["main", "keychain", "model", "parent", "plugin-clock", "sleep", "tokio-rt-worker", "tokio-runtime-worker"];
/// Far more than any report has.
const MOST_BYTES: u64 = 64 << 10;

/// How a process or a part of it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Ending {
    /// A panic. Its message may hold anything and is not kept.
    Panic {
        /// `fixed text`, `text` or `other`.
        payload: String,
        /// File, line and column in the source.
        location: Option<String>,
        /// The functions that had called each other, the innermost first.
        frames: Vec<String>,
    },
    /// A signal of the system (Unix).
    Signal {
        /// Its number.
        number: i32,
    },
    /// It exited by itself where it should not have.
    Exit {
        /// Its status, where there is one.
        status: Option<i32>,
    },
}

/// A report: everything that is kept of a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashReport {
    format: u32,
    /// When.
    pub at: DateTime<Utc>,
    /// The app's version.
    pub version: String,
    /// System and kind of machine.
    pub system: String,
    /// `window`, `mcp`, `cli` or `engine`.
    pub process: String,
    /// The thread's name, where it has one out of the program's source.
    pub thread: Option<String>,
    /// How it ended.
    pub ending: Ending,
}

impl CrashReport {
    /// A report of this version on this machine.
    #[must_use]
    pub fn new(at: DateTime<Utc>, process: Process, ending: Ending) -> Self {
        Self {
            format: FORMAT,
            at,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            process: process.name().to_owned(),
            thread: None,
            ending,
        }
    }

    /// The report as people read it, and as it is saved.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// The reports of a profile.
#[derive(Debug, Clone)]
pub struct CrashReports {
    folder: PathBuf,
}

impl CrashReports {
    /// The reports in a folder; nothing is made before the first.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Writes a report, and deletes the oldest where there are too many. Gives its id.
    ///
    /// # Errors
    /// The folder above is missing, or the report cannot be written.
    pub fn write(&self, report: &CrashReport) -> Result<String, DiagnosisError> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let at = report.at.to_rfc3339_opts(SecondsFormat::Millis, true).replace([':', '.'], "-");
        let id = format!("{}{at}-{}-{number}{}", NAME.0, std::process::id(), NAME.1);
        let path = self.folder.join(&id);
        let failed = |error| DiagnosisError::io("Writing", &path, error);
        let mut file = folder::open(&path, OpenOptions::new().write(true).create_new(true)).map_err(failed)?;
        file.write_all(report.text().as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        for old in self.ids()?.iter().skip(KEPT) {
            self.delete(old)?;
        }
        Ok(id)
    }

    /// Every report with its id, the newest first. What cannot be read is left out.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn list(&self) -> Result<Vec<(String, CrashReport)>, DiagnosisError> {
        let found = self.ids()?.into_iter().filter_map(|id| self.get(&id).ok().map(|report| (id, report)));
        Ok(found.collect())
    }

    /// One report.
    ///
    /// # Errors
    /// There is none of this id, or it cannot be read.
    pub fn get(&self, id: &str) -> Result<CrashReport, DiagnosisError> {
        let path = self.path(id)?;
        let about = fs::metadata(&path).map_err(|error| missing(id, "Reading", &path, error))?;
        if about.len() > MOST_BYTES {
            return Err(DiagnosisError::io("Reading", &path, ErrorKind::FileTooLarge.into()));
        }
        let bytes = fs::read(&path).map_err(|error| missing(id, "Reading", &path, error))?;
        serde_json::from_slice(&bytes).map_err(|error| DiagnosisError::io("Reading", &path, error.into()))
    }

    /// Deletes a report.
    ///
    /// # Errors
    /// There is none of this id, or it cannot be deleted.
    pub fn delete(&self, id: &str) -> Result<(), DiagnosisError> {
        let path = self.path(id)?;
        fs::remove_file(&path).map_err(|error| missing(id, "Deleting", &path, error))
    }

    /// Names of the files, the newest first: they begin with the time.
    fn ids(&self) -> Result<Vec<String>, DiagnosisError> {
        let failed = |error| DiagnosisError::io("Listing", &self.folder, error);
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if is_id(&name) {
                ids.push(name);
            }
        }
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    fn path(&self, id: &str) -> Result<PathBuf, DiagnosisError> {
        if is_id(id) { Ok(self.folder.join(id)) } else { Err(DiagnosisError::NoReport(id.chars().take(80).collect())) }
    }
}

fn missing(id: &str, what: &'static str, path: &Path, error: std::io::Error) -> DiagnosisError {
    match error.kind() {
        ErrorKind::NotFound => DiagnosisError::NoReport(id.to_owned()),
        _ => DiagnosisError::io(what, path, error),
    }
}

/// Whether a name is that of a report, and so leads nowhere out of the folder.
fn is_id(name: &str) -> bool {
    let middle = name.strip_prefix(NAME.0).and_then(|rest| rest.strip_suffix(NAME.1));
    middle.is_some_and(|middle| {
        (1..=60).contains(&middle.len()) && middle.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// From now on each panic leaves a report, the first few of this process at least. Its message goes nowhere, unless
/// `tell` is set: then it is written to standard error as usual, for whoever works on the program.
pub fn catch_panics(reports: CrashReports, process: Process, tell: bool) {
    let usual = panic::take_hook();
    let count = AtomicUsize::new(0);
    panic::set_hook(Box::new(move |info| {
        let ending = ending(info);
        if tell {
            usual(info);
        } else if let Ending::Panic { location, .. } = &ending {
            // A panic in a panic ends the process, and standard error may be closed: hence no eprintln.
            let place = location.as_deref().unwrap_or("an unknown place");
            drop(writeln!(std::io::stderr(), "A part of Evenkeel stopped at {place}."));
        }
        if count.fetch_add(1, Ordering::Relaxed) < FROM_ONE {
            let mut report = CrashReport::new(Utc::now(), process, ending);
            report.thread = std::thread::current().name().filter(|name| THREADS.contains(name)).map(str::to_owned);
            drop(reports.write(&report));
        }
    }));
}

fn ending(info: &PanicHookInfo<'_>) -> Ending {
    let location = info.location().map(|place| format!("{}:{}:{}", shortened(place.file()), place.line(), place.column()));
    Ending::Panic {
        payload: payload(info.payload()).to_owned(),
        location,
        frames: frames(&Backtrace::force_capture().to_string()),
    }
}

fn payload(payload: &(dyn Any + Send)) -> &'static str {
    if payload.is::<&'static str>() {
        "fixed text"
    } else if payload.is::<String>() {
        "text"
    } else {
        "other"
    }
}

/// A file of the source without the folders of whoever built the program.
fn shortened(file: &str) -> String {
    let file = file.replace('\\', "/");
    if let Some((_, rest)) = file.split_once("/registry/src/") {
        return rest.split_once('/').map_or(rest, |(_, path)| path).to_owned();
    }
    if let Some((_, rest)) = file.split_once("/library/") {
        return format!("library/{rest}");
    }
    if file.starts_with('/') || file.contains(':') { file.rsplit('/').next().unwrap_or_default().to_owned() } else { file }
}

/// The names of functions out of a backtrace: lines such as `12: name`, without the places between them.
fn frames(backtrace: &str) -> Vec<String> {
    let named = backtrace.lines().filter_map(|line| {
        let (number, name) = line.trim().split_once(": ")?;
        number.parse::<u32>().ok()?;
        Some(name.trim().chars().take(200).collect())
    });
    named.take(FRAMES).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::process::Command;

    const FOLDER: &str = "EVENKEEL_PANICKING_CHILD";
    const MARKER: &str = "Zwetschgenknödel";

    fn report(number: i64) -> CrashReport {
        let at = DateTime::from_timestamp_millis(1_700_000_000_000 + number).unwrap();
        CrashReport::new(at, Process::Engine, Ending::Signal { number: 11 })
    }

    #[test]
    #[ignore = "the other process of the test below; does nothing by itself"]
    fn panicking_child() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        catch_panics(CrashReports::new(folder.into()), Process::Window, false);
        for number in 0..2 * FROM_ONE {
            let named = std::thread::Builder::new().name(if number == 0 { "model".into() } else { format!("of {MARKER}") });
            let secret = MARKER.to_owned();
            let thread = named.spawn(move || assert_eq!(secret, "nothing", "{secret} was said in chat {number}")).unwrap();
            assert!(thread.join().is_err());
        }
    }

    #[test]
    fn a_process_that_panics_leaves_reports_without_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("logs");
        let ended = Command::new(std::env::current_exe().unwrap())
            .args(["crash::tests::panicking_child", "--exact", "--ignored", "--nocapture"])
            .env(FOLDER, &folder)
            .output()
            .unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let reports = CrashReports::new(folder.clone()).list().unwrap();
        assert_eq!(reports.len(), FROM_ONE);
        let (_, first) = reports.last().unwrap();
        assert_eq!((first.process.as_str(), first.thread.as_deref()), ("window", Some("model")));
        let Ending::Panic { payload, location, frames } = &first.ending else { panic!("{first:?}") };
        assert_eq!(payload, "text");
        assert!(location.as_deref().unwrap().starts_with("crates/diagnosis/src/crash.rs:"), "{location:?}");
        assert!(!frames.is_empty());
        assert!(reports.iter().skip(1).any(|(_, later)| later.thread.is_none()));
        let told = [ended.stdout, ended.stderr].concat();
        let files = fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        for bytes in files.chain([told]) {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(MARKER) && !text.contains("was said"), "{text}");
        }
    }

    #[test]
    fn the_newest_reports_are_kept_and_one_can_be_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let reports = CrashReports::new(dir.path().join("logs"));
        assert!(reports.list().unwrap().is_empty());
        for number in 0..15 {
            reports.write(&report(number)).unwrap();
        }
        let listed = reports.list().unwrap();
        assert_eq!(listed.len(), KEPT);
        assert_eq!((listed[0].1.clone(), listed[9].1.clone()), (report(14), report(5)));
        reports.delete(&listed[0].0).unwrap();
        assert_eq!(reports.list().unwrap().len(), KEPT - 1);
        assert!(matches!(reports.get(&listed[0].0), Err(DiagnosisError::NoReport(_))));
    }

    #[test]
    fn an_id_leads_nowhere_else_and_damage_hides_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let reports = CrashReports::new(dir.path().join("logs"));
        let id = reports.write(&report(1)).unwrap();
        fs::write(dir.path().join("logs/crash-2.json"), b"{").unwrap();
        fs::write(dir.path().join("letter.json"), b"{}").unwrap();
        for wrong in ["../letter.json", "crash-/../letter.json", "crash-.json", "evenkeel.log", "crash-1", ""] {
            assert!(matches!(reports.delete(wrong), Err(DiagnosisError::NoReport(_))), "{wrong}");
        }
        let listed = reports.list().unwrap();
        assert_eq!(listed.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), [id]);
    }

    #[test]
    fn places_name_no_folder_of_the_builder() {
        for (file, expected) in [
            ("crates/service/src/chat.rs", "crates/service/src/chat.rs"),
            ("/home/ada/.cargo/registry/src/index.crates.io-1/tokio-1.54.0/src/task.rs", "tokio-1.54.0/src/task.rs"),
            ("/rustc/abc/library/core/src/option.rs", "library/core/src/option.rs"),
            ("/home/ada/evenkeel/src/x.rs", "x.rs"),
            (r"C:\Users\ada\x.rs", "x.rs"),
        ] {
            assert_eq!(shortened(file), expected);
        }
    }

    #[test]
    fn of_a_backtrace_the_names_are_kept() {
        let text = "   0: evenkeel::one\n             at /home/ada/x.rs:3:4\n  11: <T as core::fmt::Debug>::fmt\n";
        assert_eq!(frames(text), ["evenkeel::one", "<T as core::fmt::Debug>::fmt"]);
    }
}
