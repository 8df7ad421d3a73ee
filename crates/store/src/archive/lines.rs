//! The text inside an archive, line by line: written with its digest, read with its limits.

use super::check::Checks;
use super::error::{ArchiveError, Unfit};
use super::record::{Counts, End, FORMAT, Header, Record, VERSION};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes of one line at most: four times what the largest message may have.
const LINE_MOST: u64 = 64 << 20;
/// Bytes of the first line at most.
const HEADER_MOST: u64 = 1 << 20;
/// Bytes that are taken from the file at a time.
const BUFFER: usize = 1 << 17;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct First {
    header: Header,
}

/// As much of the first line as every version has.
#[derive(Deserialize)]
struct Front {
    header: FrontHeader,
}

#[derive(Deserialize)]
struct FrontHeader {
    format: String,
    version: u32,
}

/// Writes the lines.
pub(super) struct LineWriter<W: Write> {
    out: W,
    hash: Sha256,
    counts: Counts,
    line: Vec<u8>,
}

impl<W: Write> LineWriter<W> {
    /// Writes the first line.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let mut line = serde_json::to_vec(&First { header: header.clone() })?;
        line.push(b'\n');
        out.write_all(&line)?;
        Ok(Self { out, hash: Sha256::new(), counts: Counts::default(), line })
    }

    /// Writes a record and gives the bytes of its line.
    pub fn record(&mut self, record: &Record) -> io::Result<usize> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, record)?;
        self.line.push(b'\n');
        self.hash.update(&self.line);
        if let Some(kind) = record.kind() {
            self.counts.add(kind);
        }
        self.out.write_all(&self.line)?;
        Ok(self.line.len())
    }

    /// Writes the last line; gives what was written to, and the digest.
    pub fn end(mut self) -> io::Result<(W, Counts, String)> {
        let sha256 = hex(&self.hash.finalize());
        let end = Record::End(End { records: self.counts.total(), sha256: sha256.clone() });
        serde_json::to_writer(&mut self.out, &end)?;
        self.out.write_all(b"\n")?;
        Ok((self.out, self.counts, sha256))
    }
}

/// Reads the lines, and refuses what no archive has. What is read before the end has come is not proved yet.
pub(super) struct LineReader<R: Read> {
    input: BufReader<R>,
    path: PathBuf,
    header: Header,
    checks: Checks,
    hash: Sha256,
    counts: Counts,
    number: u64,
    line: Vec<u8>,
    sha256: Option<String>,
}

impl<R: Read> LineReader<R> {
    /// Reads the first line.
    pub fn new(input: R, path: &Path) -> Result<Self, ArchiveError> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut line = Vec::new();
        read_line(&mut input, &mut line, HEADER_MOST, path)?;
        let foreign = |_| ArchiveError::invalid("it is an age file, but no archive of Evenkeel");
        let front: Front = serde_json::from_slice(&line).map_err(foreign)?;
        if front.header.format != FORMAT {
            return Err(ArchiveError::invalid("it is an age file, but no archive of Evenkeel"));
        }
        if front.header.version > VERSION {
            return Err(ArchiveError::TooNew { found: front.header.version, known: VERSION });
        }
        let first: First = serde_json::from_slice(&line).map_err(|error| unreadable(1, &error))?;
        let (hash, counts, checks) = (Sha256::new(), Counts::default(), Checks::default());
        Ok(Self { input, path: path.to_owned(), header: first.header, checks, hash, counts, number: 1, line, sha256: None })
    }

    /// What the first line says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The digest, once the end has come.
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// Records read until now.
    pub fn done(&self) -> u64 {
        self.counts.total()
    }

    /// The next record with the bytes of its line; `None` after the last, when all of them are proved.
    pub fn next(&mut self) -> Result<Option<(Record, usize)>, ArchiveError> {
        if self.sha256.is_some() {
            return Ok(None);
        }
        read_line(&mut self.input, &mut self.line, LINE_MOST, &self.path)?;
        self.number += 1;
        let number = self.number;
        let record: Record = serde_json::from_slice(&self.line).map_err(|error| unreadable(number, &error))?;
        let Some(kind) = record.kind() else {
            let Record::End(end) = record else { return Err(ArchiveError::invalid("its end is missing")) };
            self.finish(&end)?;
            return Ok(None);
        };
        self.hash.update(&self.line);
        self.counts.add(kind);
        let refused = |unfit: Unfit| ArchiveError::invalid(format!("line {number}: {unfit}"));
        self.checks.take(&record).map_err(refused)?;
        if self.counts.of(kind) > self.header.counts.of(kind) {
            return Err(refused(format!("there are more records of the kind {} than the first line says", kind.as_str()).into()));
        }
        Ok(Some((record, self.line.len())))
    }

    /// Compares the last line with what came before it, and looks that nothing follows.
    fn finish(&mut self, end: &End) -> Result<(), ArchiveError> {
        let sha256 = hex(&std::mem::take(&mut self.hash).finalize());
        if end.records != self.counts.total() || self.counts != self.header.counts {
            return Err(ArchiveError::invalid("records are missing"));
        }
        if end.sha256 != sha256 {
            return Err(ArchiveError::invalid("its records are not those that were written"));
        }
        let more = self.input.read(&mut [0]).map_err(|error| ArchiveError::reading(error, &self.path))?;
        if more > 0 {
            return Err(ArchiveError::invalid("something follows after its end"));
        }
        self.sha256 = Some(sha256);
        Ok(())
    }
}

/// Reads a whole line with its end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: u64, path: &Path) -> Result<(), ArchiveError> {
    line.clear();
    input.take(most).read_until(b'\n', line).map_err(|error| ArchiveError::reading(error, path))?;
    match line.last() {
        Some(b'\n') => Ok(()),
        _ if line.len() as u64 == most => Err(ArchiveError::invalid(format!("a line is longer than {most} bytes"))),
        _ => Err(ArchiveError::invalid("its end is missing")),
    }
}

/// What serde says names fields and places, and no text of the user but a value of the wrong kind: that is cut away.
fn unreadable(number: u64, error: &serde_json::Error) -> ArchiveError {
    let what = match error.classify() {
        serde_json::error::Category::Data => "is no record of this format",
        _ => "is no JSON",
    };
    ArchiveError::invalid(format!("line {number}, column {} {what}", error.column()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
