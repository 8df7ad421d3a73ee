//! The log's files: bounded, rotated, shared by every process of a profile.

use crate::{DiagnosisError, folder};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The newest file.
const NEWEST: &str = "evenkeel.log";
/// Files that are kept, the newest included.
const FILES: usize = 7;
/// Bytes after which a new file is begun: all together stay below five million.
const FILE_BYTES: u64 = 700_000;

/// How grave a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For whoever looks for a defect.
    Debug,
    /// Something happened.
    Info,
    /// Something did not work, and was made up for.
    Warn,
    /// Something did not work.
    Error,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// When, in UTC.
    pub at: String,
    /// How grave.
    pub level: LogLevel,
    /// Which process: `window`, `mcp`, `cli` or `engine`.
    pub process: String,
    /// The part of the program.
    pub source: String,
    /// What happened.
    pub text: String,
}

/// The log of a profile. A line is one write to a file that was opened for it, so that several processes share the
/// files, and none holds one that another has put aside.
#[derive(Debug)]
pub struct LogFile {
    folder: PathBuf,
    file_bytes: u64,
    turn: Mutex<()>,
}

impl LogFile {
    /// The log in a folder; nothing is made before the first line.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file_bytes: FILE_BYTES, turn: Mutex::new(()) }
    }

    /// The folder that it lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a line, which has to end with a line feed.
    ///
    /// # Errors
    /// The folder above is missing, or the file cannot be written.
    pub(crate) fn append(&self, line: &str) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = folder::open(&self.file(0), OpenOptions::new().append(true).create(true))?;
        file.write_all(line.as_bytes())?;
        if file.metadata()?.len() >= self.file_bytes { self.rotate() } else { Ok(()) }
    }

    /// The newest lines that are at least as grave, the newest first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn newest(&self, level: LogLevel, most: usize) -> Result<Vec<LogLine>, DiagnosisError> {
        let mut found = Vec::new();
        for number in 0..FILES {
            let path = self.file(number);
            let text = match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                read => read.map_err(|error| DiagnosisError::io("Reading", &path, error))?,
            };
            let text = String::from_utf8_lossy(&text);
            found.extend(text.lines().rev().filter_map(parse).filter(|line| line.level >= level).take(most - found.len()));
            if found.len() >= most {
                break;
            }
        }
        Ok(found)
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (0..FILES).filter_map(|number| fs::metadata(self.file(number)).ok()).map(|about| about.len()).sum()
    }

    /// Deletes every file of the log.
    ///
    /// # Errors
    /// A file cannot be deleted.
    pub fn clear(&self) -> Result<(), DiagnosisError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for path in (0..FILES).map(|number| self.file(number)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(DiagnosisError::io("Deleting", &path, error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&self, number: usize) -> PathBuf {
        if number == 0 { self.folder.join(NEWEST) } else { self.folder.join(format!("evenkeel.{number}.log")) }
    }

    /// Puts the newest file aside and drops the oldest. Whoever comes while another process does so leaves it to that one.
    fn rotate(&self) -> io::Result<()> {
        let lock = folder::open(&self.folder.join("lock"), OpenOptions::new().write(true).create(true).truncate(false))?;
        if File::try_lock(&lock).is_err() || fs::metadata(self.file(0))?.len() < self.file_bytes {
            return Ok(());
        }
        for number in (0..FILES - 1).rev() {
            match fs::rename(self.file(number), self.file(number + 1)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Reads `TIME LEVEL PROCESS SOURCE TEXT`; what is none of it, such as half a line, is passed over.
fn parse(line: &str) -> Option<LogLine> {
    let mut parts = line.splitn(5, ' ');
    let (at, level, process, source, text) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let level = match level {
        "ERROR" => LogLevel::Error,
        "WARN" => LogLevel::Warn,
        "INFO" => LogLevel::Info,
        "DEBUG" | "TRACE" => LogLevel::Debug,
        _ => return None,
    };
    Some(LogLine { at: at.to_owned(), level, process: process.to_owned(), source: source.to_owned(), text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn log(bytes: u64) -> (tempfile::TempDir, LogFile) {
        let dir = tempfile::tempdir().unwrap();
        let log = LogFile { file_bytes: bytes, ..LogFile::new(dir.path().join("logs")) };
        (dir, log)
    }

    fn line(level: &str, text: &str) -> String {
        format!("2026-01-02T03:04:05.678Z {level} window evenkeel_service::trash {text}\n")
    }

    #[test]
    fn the_newest_lines_come_first_by_gravity_and_over_several_files() {
        let (_dir, log) = log(300);
        for number in 0..20 {
            log.append(&line(if number % 2 == 0 { "WARN" } else { "INFO" }, &format!("number={number}"))).unwrap();
        }
        let texts = |level, most| log.newest(level, most).unwrap().into_iter().map(|line| line.text).collect::<Vec<_>>();
        assert_eq!(texts(LogLevel::Warn, 3), ["number=18", "number=16", "number=14"]);
        assert_eq!(texts(LogLevel::Debug, 2), ["number=19", "number=18"]);
        assert!(texts(LogLevel::Error, 9).is_empty());
        assert!(log.file(1).exists(), "these lines fill several files");
        log.clear().unwrap();
        assert_eq!((texts(LogLevel::Debug, 9).len(), log.bytes()), (0, 0));
    }

    #[test]
    fn files_stay_within_their_bound_and_belong_to_their_owner() {
        let (_dir, log) = log(1_000);
        for number in 0..400 {
            log.append(&line("WARN", &format!("number={number}"))).unwrap();
        }
        let names: Vec<_> = fs::read_dir(log.folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!((FILES..=FILES + 1).contains(&names.len()), "{names:?}");
        assert!(log.bytes() < 8_000, "{}", log.bytes());
        assert!(FILE_BYTES * (FILES as u64) < 5_000_000);
        #[cfg(unix)]
        for path in names.iter().map(PathBuf::as_path).chain([log.folder()]) {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
        }
    }

    #[test]
    fn several_processes_lose_no_line() {
        let (_dir, first) = log(2_000);
        let second = LogFile { file_bytes: 2_000, ..LogFile::new(first.folder().to_owned()) };
        std::thread::scope(|scope| {
            for log in [&first, &second] {
                scope.spawn(move || (0..50).for_each(|number| log.append(&line("INFO", &format!("number={number}"))).unwrap()));
            }
        });
        assert_eq!(first.newest(LogLevel::Debug, 1_000).unwrap().len(), 100);
    }

    #[test]
    fn nothing_begins_where_the_profile_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let log = LogFile::new(dir.path().join("removed drive/logs"));
        assert!(log.append(&line("WARN", "x")).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn half_a_line_is_passed_over() {
        for broken in ["", "2026", "2026 WARN window", "2026 LOUD window a b"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
