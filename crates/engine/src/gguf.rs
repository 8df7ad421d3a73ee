//! Reads the header of a GGUF file (versions 2 and 3) without trusting anything in it: every
//! length is checked against what is left of the file before anything is read or reserved.
//!
//! Source of the layout: the GGUF specification in the ggml repository, `docs/gguf.md`.

mod tensor;

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Seek};

/// Most metadata entries that are read; real files have fewer than a hundred.
const MAX_ENTRIES: u64 = 65_536;
/// Most tensors that are read; the largest real models have some thousands.
const MAX_TENSORS: u64 = 1_000_000;
/// Longest key, in bytes; the specification's own limit.
const MAX_KEY: u64 = 65_535;
/// Longest text value that is kept, in bytes; chat templates take up to some tens of kilobytes.
const MAX_TEXT: u64 = 1024 * 1024;
/// Most text that is kept from one file, in bytes.
const MAX_KEPT: u64 = 16 * 1024 * 1024;
/// How deep lists may lie in lists.
const MAX_DEPTH: u32 = 4;
/// `general.alignment` where the file has none.
const DEFAULT_ALIGNMENT: u64 = 32;

/// Why a header cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GgufError {
    /// The first four bytes are not `GGUF`.
    #[error("it does not begin as a GGUF file does")]
    NotGguf,
    /// A version of the format that is not known.
    #[error("it is of GGUF version {0}, and only versions 2 and 3 are known")]
    Version(u32),
    /// Something points past the end of the file.
    #[error("it ends before its contents do, so it is cut or damaged")]
    Cut,
    /// A number is outside what any real file has.
    #[error("its header is damaged ({0})")]
    Damaged(&'static str),
    /// Reading failed.
    #[error("reading it failed: {0}")]
    Io(std::io::Error),
}

impl From<std::io::Error> for GgufError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::UnexpectedEof { Self::Cut } else { Self::Io(error) }
    }
}

/// A metadata value that is kept; lists and huge texts are stepped over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Any integer that is not negative, or a truth value as 0 or 1.
    Number(u64),
    /// A text of at most one megabyte.
    Text(String),
}

/// The header's entries by key.
#[derive(Debug, Default)]
pub(crate) struct Header {
    entries: BTreeMap<String, Value>,
    /// Tensors that the file announces.
    pub tensors: u64,
}

impl Header {
    /// The text under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.entries.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number under `key`.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.entries.get(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Reads the header of a file of `size` bytes and checks that all tensors end inside it.
    pub fn read(reader: impl BufRead + Seek, size: u64) -> Result<Self, GgufError> {
        let mut source = Source { reader, position: 0, size, kept: 0 };
        if size < 4 || source.bytes::<4>()? != *b"GGUF" {
            return Err(GgufError::NotGguf);
        }
        let version = source.u32()?;
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version(version));
        }
        let tensors = source.u64()?;
        let count = source.u64()?;
        if count > MAX_ENTRIES {
            return Err(GgufError::Damaged("too many entries"));
        }
        if tensors > MAX_TENSORS {
            return Err(GgufError::Damaged("too many tensors"));
        }
        let mut entries = BTreeMap::new();
        for _ in 0..count {
            let key = source.key()?;
            let kind = source.u32()?;
            if let Some(value) = source.value(kind, 0)? {
                entries.insert(key, value);
            }
        }
        let header = Self { entries, tensors };
        source.check_tensors(tensors, header.number("general.alignment").unwrap_or(DEFAULT_ALIGNMENT))?;
        Ok(header)
    }
}

struct Source<R> {
    reader: R,
    position: u64,
    size: u64,
    kept: u64,
}

impl<R: BufRead + Seek> Source<R> {
    fn left(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.position += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, GgufError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn skip(&mut self, count: u64) -> Result<(), GgufError> {
        if count > self.left() {
            return Err(GgufError::Cut);
        }
        let step = i64::try_from(count).map_err(|_| GgufError::Damaged("a length"))?;
        self.reader.seek_relative(step)?;
        self.position += count;
        Ok(())
    }

    /// Bytes of a text whose length has been checked against the file and against a limit.
    fn take(&mut self, length: u64) -> Result<Vec<u8>, GgufError> {
        self.kept += length;
        if self.kept > MAX_KEPT {
            return Err(GgufError::Damaged("too much text"));
        }
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(length).read_to_end(&mut bytes)? as u64;
        self.position += read;
        if read == length { Ok(bytes) } else { Err(GgufError::Cut) }
    }

    fn length(&mut self) -> Result<u64, GgufError> {
        let length = self.u64()?;
        if length > self.left() { Err(GgufError::Cut) } else { Ok(length) }
    }

    fn key(&mut self) -> Result<String, GgufError> {
        let length = self.length()?;
        if length > MAX_KEY {
            return Err(GgufError::Damaged("a key"));
        }
        String::from_utf8(self.take(length)?).map_err(|_| GgufError::Damaged("a key"))
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Option<Value>, GgufError> {
        Ok(match kind {
            0 | 7 => Some(Value::Number(u64::from(self.bytes::<1>()?[0]))),
            2 => Some(Value::Number(u64::from(u16::from_le_bytes(self.bytes()?)))),
            4 => Some(Value::Number(u64::from(self.u32()?))),
            5 => u64::try_from(i32::from_le_bytes(self.bytes()?)).ok().map(Value::Number),
            10 => Some(Value::Number(self.u64()?)),
            11 => u64::try_from(i64::from_le_bytes(self.bytes()?)).ok().map(Value::Number),
            8 => self.text()?,
            9 => {
                self.list(depth)?;
                None
            }
            other => {
                self.skip(width(other)?)?;
                None
            }
        })
    }

    fn text(&mut self) -> Result<Option<Value>, GgufError> {
        let length = self.length()?;
        if length > MAX_TEXT {
            self.skip(length)?;
            return Ok(None);
        }
        let bytes = self.take(length)?;
        Ok(Some(Value::Text(String::from_utf8_lossy(&bytes).into_owned())))
    }

    fn list(&mut self, depth: u32) -> Result<(), GgufError> {
        if depth >= MAX_DEPTH {
            return Err(GgufError::Damaged("lists in lists"));
        }
        let kind = self.u32()?;
        let count = self.u64()?;
        // The smallest element takes a byte, so a count beyond what is left is a lie.
        if count > self.left() {
            return Err(GgufError::Cut);
        }
        match kind {
            8 => (0..count).try_for_each(|_| {
                let length = self.length()?;
                self.skip(length)
            }),
            9 => (0..count).try_for_each(|_| self.list(depth + 1)),
            _ => self.skip(count.saturating_mul(width(kind)?)),
        }
    }

    fn check_tensors(&mut self, count: u64, alignment: u64) -> Result<(), GgufError> {
        if alignment == 0 || alignment > 1 << 20 {
            return Err(GgufError::Damaged("the alignment"));
        }
        let mut end = 0;
        for _ in 0..count {
            let length = self.length()?;
            if length > MAX_KEY {
                return Err(GgufError::Damaged("a tensor's name"));
            }
            self.skip(length)?;
            let dimensions = self.u32()?;
            if dimensions > 4 {
                return Err(GgufError::Damaged("a tensor's shape"));
            }
            let shape = (0..dimensions).map(|_| self.u64()).collect::<Result<Vec<_>, _>>()?;
            let size = tensor::size(self.u32()?, &shape).map_err(|_| GgufError::Damaged("a tensor's shape"))?;
            end = end.max(self.u64()?.saturating_add(size));
        }
        let data = self.position.next_multiple_of(alignment);
        let fits = data.checked_add(end).is_some_and(|end| end <= self.size);
        if count == 0 || fits { Ok(()) } else { Err(GgufError::Cut) }
    }
}

/// Bytes of one value of a type of fixed size.
fn width(kind: u32) -> Result<u64, GgufError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(GgufError::Damaged("a value of unknown type")),
    }
}
