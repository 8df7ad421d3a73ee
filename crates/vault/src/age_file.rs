//! Files in the `age` format (<https://age-encryption.org/v1>), which other programs open too: sealed to a
//! passphrase, or to the key in a key file. For what a user takes out of the vault; nothing inside it uses them.

use crate::VaultError;
use age::secrecy::SecretString as AgeSecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt, stream, x25519};
use secrecy::{ExposeSecret, SecretString};
use std::io::{self, BufRead, Read, Write};
use std::str::FromStr;
use zeroize::Zeroizing;

/// Scrypt's work factor, as a power of two: that of the `age` program. It takes 256 MiB and about a second.
const WORK_FACTOR: u8 = 18;
/// Characters of a passphrase, at least.
const PASSPHRASE_LEAST: usize = 8;
/// Bytes of a key file that are looked at.
const KEY_FILE_MOST: usize = 1 << 16;
/// Keys in a key file that are tried.
const KEYS_MOST: usize = 64;
/// Bytes of a header that are read before the file counts as no `age` file: far more than 64 recipients take.
const HEADER_MOST: u64 = 1 << 16;

/// An error of a file in the `age` format.
#[derive(Debug, thiserror::Error)]
pub enum AgeError {
    /// The file is in another format.
    #[error("it is no age file")]
    Foreign,
    /// The passphrase or key does not open it.
    #[error("the passphrase or key does not open it")]
    WrongSecret,
    /// It was sealed to a key, and a passphrase was given.
    #[error("it was sealed to a key file, not to a passphrase")]
    NeedsKey,
    /// It was sealed to a passphrase, and a key was given.
    #[error("it was sealed to a passphrase, not to a key file")]
    NeedsPassphrase,
    /// Opening it would take more memory and time than any honest file asks for.
    #[error("its passphrase would take 2^{required} units of work, and 2^{WORK_FACTOR} is the most that is done")]
    TooMuchWork {
        /// The power of two in the file.
        required: u8,
    },
    /// Its beginning is not what was written.
    #[error("its header is damaged")]
    Damaged,
    /// The key file holds no key of a kind that is known here.
    #[error("the key file holds no key that begins with AGE-SECRET-KEY-1")]
    NoKey,
    /// The passphrase is too short.
    #[error("a passphrase has at least {PASSPHRASE_LEAST} characters")]
    ShortPassphrase,
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What a file is sealed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgeLock {
    /// A passphrase.
    Passphrase,
    /// The key in a key file.
    Key,
}

/// What seals and opens a file. It has no `Debug`.
#[derive(Clone)]
pub enum AgeSecret {
    /// A passphrase.
    Passphrase(SecretString),
    /// Keys; the first one seals, any of them opens.
    Keys(Vec<x25519::Identity>),
}

impl AgeSecret {
    /// A passphrase to seal a new file with.
    ///
    /// # Errors
    /// [`AgeError::ShortPassphrase`] below 8 characters.
    pub fn new_passphrase(passphrase: SecretString) -> Result<Self, AgeError> {
        if passphrase.expose_secret().chars().count() < PASSPHRASE_LEAST {
            return Err(AgeError::ShortPassphrase);
        }
        Ok(Self::Passphrase(passphrase))
    }

    /// A new key.
    #[must_use]
    pub fn generate() -> Self {
        Self::Keys(vec![x25519::Identity::generate()])
    }

    /// The keys in a key file.
    ///
    /// # Errors
    /// [`AgeError::NoKey`].
    pub fn of_key_file(text: &str) -> Result<Self, AgeError> {
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with("AGE-SECRET-KEY-1"));
        let keys: Vec<_> = lines.take(KEYS_MOST).filter_map(|line| x25519::Identity::from_str(line).ok()).collect();
        if keys.is_empty() { Err(AgeError::NoKey) } else { Ok(Self::Keys(keys)) }
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// [`AgeError::NoKey`], [`AgeError::Io`].
    pub fn read_key_file(path: &std::path::Path) -> Result<Self, AgeError> {
        let mut text = Zeroizing::new(String::new());
        let mut file = std::fs::File::open(path)?.take(KEY_FILE_MOST as u64);
        match file.read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(AgeError::NoKey),
            read => read.map_err(AgeError::from).and_then(|_| Self::of_key_file(&text)),
        }
    }

    /// A key file's text, as `age-keygen` writes it; `None` of a passphrase. `created` goes into a comment.
    #[must_use]
    pub fn key_file(&self, created: &str) -> Option<Zeroizing<String>> {
        let Self::Keys(keys) = self else { return None };
        let key = keys.first()?;
        let secret = key.to_string();
        let text = format!("# created: {created}\n# public key: {}\n{}\n", key.to_public(), secret.expose_secret());
        Some(Zeroizing::new(text))
    }

    fn encryptor(&self) -> Result<Encryptor, AgeError> {
        let made = match self {
            Self::Passphrase(passphrase) => {
                let mut recipient = scrypt::Recipient::new(of_age(passphrase));
                recipient.set_work_factor(WORK_FACTOR);
                Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
            }
            Self::Keys(keys) => {
                let recipient = keys.first().ok_or(AgeError::NoKey)?.to_public();
                Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
            }
        };
        made.map_err(|error| AgeError::Io(io::Error::other(error.to_string())))
    }
}

fn of_age(passphrase: &SecretString) -> AgeSecretString {
    AgeSecretString::from(passphrase.expose_secret().to_owned())
}

/// Encrypts what is written to it. Without [`AgeWriter::finish`] the file is cut, and does not open.
pub struct AgeWriter<W: Write>(stream::StreamWriter<W>);

impl<W: Write> AgeWriter<W> {
    /// Writes the header to `out`; with a passphrase that takes about a second.
    ///
    /// # Errors
    /// [`AgeError::Io`].
    pub fn new(out: W, secret: &AgeSecret) -> Result<Self, AgeError> {
        Ok(Self(secret.encryptor()?.wrap_output(out)?))
    }

    /// Writes the last piece and gives the file back.
    ///
    /// # Errors
    /// What the file answered.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Write for AgeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Decrypts what is read from it, piece by piece. Damage is told where it is met, as `InvalidData` or
/// `UnexpectedEof`: what was read before is then a part of a file and no more.
pub struct AgeReader<R: Read>(stream::StreamReader<R>);

impl<R: BufRead> AgeReader<R> {
    /// Reads the header; with a passphrase that takes about a second.
    ///
    /// # Errors
    /// Every variant of [`AgeError`].
    pub fn new(input: R, secret: &AgeSecret) -> Result<Self, AgeError> {
        let decryptor = Decryptor::new_buffered(input).map_err(of_decrypting)?;
        let by_passphrase = decryptor.is_scrypt();
        let opened = match secret {
            AgeSecret::Passphrase(passphrase) => {
                if !by_passphrase {
                    return Err(AgeError::NeedsKey);
                }
                let mut identity = scrypt::Identity::new(of_age(passphrase));
                identity.set_max_work_factor(WORK_FACTOR);
                decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity))
            }
            AgeSecret::Keys(_) if by_passphrase => return Err(AgeError::NeedsPassphrase),
            AgeSecret::Keys(keys) => decryptor.decrypt(keys.iter().map(|key| key as &dyn age::Identity)),
        };
        opened.map(Self).map_err(of_decrypting)
    }
}

impl<R: Read> Read for AgeReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

/// What a file is sealed to, from its header alone.
///
/// # Errors
/// [`AgeError::Foreign`], [`AgeError::Damaged`], [`AgeError::Io`].
pub fn age_lock(input: impl BufRead) -> Result<AgeLock, AgeError> {
    let decryptor = Decryptor::new_buffered(input.take(HEADER_MOST)).map_err(of_decrypting)?;
    Ok(if decryptor.is_scrypt() { AgeLock::Passphrase } else { AgeLock::Key })
}

fn of_decrypting(error: DecryptError) -> AgeError {
    match error {
        DecryptError::NoMatchingKeys | DecryptError::KeyDecryptionFailed | DecryptError::DecryptionFailed => {
            AgeError::WrongSecret
        }
        DecryptError::ExcessiveWork { required, .. } => AgeError::TooMuchWork { required },
        DecryptError::InvalidHeader | DecryptError::UnknownFormat => AgeError::Foreign,
        DecryptError::InvalidMac => AgeError::Damaged,
        DecryptError::Io(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData) => {
            AgeError::Foreign
        }
        DecryptError::Io(error) => AgeError::Io(error),
        _ => AgeError::Foreign,
    }
}

/// Writes a new key file that only its owner may read, and never over another file.
///
/// # Errors
/// [`VaultError::Io`] if something stands there, or the disk refuses; [`VaultError::Damaged`] of a secret without a key.
pub fn write_key_file(path: &std::path::Path, secret: &AgeSecret, created: &str) -> Result<(), VaultError> {
    let text = secret.key_file(created).ok_or_else(|| VaultError::damaged("The key", "it is a passphrase"))?;
    let failed = |error| VaultError::io("Writing", path, error);
    let mut file =
        crate::durable::private_file(std::fs::OpenOptions::new().write(true).create_new(true), path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    crate::durable::sync_folder(path)
}

#[cfg(test)]
#[path = "age_file/tests.rs"]
mod tests;
