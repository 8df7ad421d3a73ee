//! Long runs of letters and digits that no one wrote by hand.
//!
//! Forty hexadecimal digits are taken for the hash of a commit and stay, as do UUIDs, checksums that
//! are called so, public keys, and runs over 512 characters, which are files rather than keys.

use super::Hit;
use super::character::{before, is_edge, reach_back, runs};
use evenkeel_domain::RedactionKind;
use std::ops::Range;

/// Lengths of a run that can be a key: 128 bits in hexadecimal up to a 384-byte secret in base64.
const LEAST: usize = 32;
const MOST: usize = 512;
/// Hexadecimal digits of a SHA-1 hash, the name of a commit.
const COMMIT: usize = 40;

/// Words before a run that say that it is no secret.
const OPEN: &str = "sha1|sha2|sha3|sha5|sha-|md5|checksum|hash|commit|digest|etag|integrity|fingerprint|base64,|revision|prüfsumme|blake|\
     rsa ";

pub(super) fn find(text: &str, blocks: &[Range<usize>], hits: &mut Vec<Hit>) {
    let mut blocks = blocks.iter().peekable();
    for run in runs(text, |c| c.is_ascii_alphanumeric() || "+/_-".contains(c)) {
        while blocks.peek().is_some_and(|block| block.end <= run.start) {
            blocks.next();
        }
        if blocks.peek().is_some_and(|block| block.start <= run.start) || run.len() < LEAST || !is_edge(before(text, run.start)) {
            continue;
        }
        // A path is looked at by its parts; a key may have slashes in it.
        if !push(text, run.clone(), hits) && text[run.clone()].contains('/') {
            for part in runs(&text[run.clone()], |c| c != '/') {
                push(text, run.start + part.start..run.start + part.end, hits);
            }
        }
    }
}

/// Takes the run if it is random, without the marks around it.
fn push(text: &str, run: Range<usize>, hits: &mut Vec<Hit>) -> bool {
    let word = text[run.clone()].trim_start_matches(['-', '_', '/', '+']);
    let from = run.end - word.len();
    let key = word.trim_end_matches(['-', '_', '/', '+']);
    let is_hit = (LEAST..=MOST).contains(&key.len()) && is_random(key) && !is_open(text, from, key);
    if is_hit {
        // Base64 is filled up with `=`.
        let to = from + key.len();
        let filling = text[to..].bytes().take(2).take_while(|byte| *byte == b'=').count();
        hits.push(Hit::new(from, to + filling, RedactionKind::Key));
    }
    is_hit
}

/// Whether the run is something public, by what it begins with or what stands before it.
fn is_open(text: &str, from: usize, key: &str) -> bool {
    // `AAAA` begins every public key of SSH (a length that starts with three zero bytes).
    if key.starts_with("AAAA") || ["sha256-", "sha384-", "sha512-"].iter().any(|name| key.starts_with(name)) {
        return true;
    }
    let said = reach_back(text, from, 24).to_lowercase();
    OPEN.split('|').any(|word| said.contains(word))
}

fn is_random(key: &str) -> bool {
    let hex = key.strip_prefix("0x").unwrap_or(key);
    if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return is_random_hex(hex);
    }
    !is_uuid(key) && (is_random_mixed(key) || is_random_single(key))
}

fn share(key: &str, of: impl Fn(u8) -> bool) -> usize {
    key.bytes().filter(|byte| of(*byte)).count()
}

/// 32 random hexadecimal digits have 3.6 bits a digit on average, and 3.0 in one case of ten thousand.
fn is_random_hex(key: &str) -> bool {
    let one_case = share(key, |byte| byte.is_ascii_uppercase()) == 0 || share(key, |byte| byte.is_ascii_lowercase()) == 0;
    let digits = share(key, |byte| byte.is_ascii_digit());
    key.len() != COMMIT && one_case && digits >= key.len() / 4 && digits < key.len() * 9 / 10 && entropy(key) >= 3.0
}

/// Both cases and digits, mixed as chance mixes them: in base64 six of ten neighbours are of another
/// sort, in names made of words three. 32 such characters have 4.6 bits each on average.
fn is_random_mixed(key: &str) -> bool {
    let sorts =
        [share(key, |b| b.is_ascii_uppercase()), share(key, |b| b.is_ascii_lowercase()), share(key, |b| b.is_ascii_digit())];
    let longest_word = runs(key, |c| c.is_ascii_lowercase()).map(|run| run.len()).max().unwrap_or(0);
    sorts.iter().all(|count| *count >= 2) && changes(key) * 5 >= key.len() * 2 && longest_word <= 9 && entropy(key) >= 4.0
}

/// Letters of one case and digits, in one piece: base32 and the like.
fn is_random_single(key: &str) -> bool {
    let digits = share(key, |byte| byte.is_ascii_digit());
    let capitals = share(key, |byte| byte.is_ascii_uppercase());
    let pure = key.bytes().all(|byte| byte.is_ascii_alphanumeric()) && (capitals == 0 || capitals + digits == key.len());
    pure && digits * 10 >= key.len() && digits * 2 < key.len() && changes(key) * 6 >= key.len() && entropy(key) >= 3.2
}

/// Neighbours of different sorts.
fn changes(key: &str) -> usize {
    let sort = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    key.as_bytes().windows(2).filter(|pair| sort(pair[0]) != sort(pair[1])).count()
}

/// Bits a character, by how often each occurs in the run (Shannon).
#[allow(clippy::cast_precision_loss)] // at most 512 characters
fn entropy(key: &str) -> f64 {
    let mut counts = [0_u32; 128];
    for byte in key.bytes() {
        counts[usize::from(byte & 127)] += 1;
    }
    let all = key.len().max(1) as f64;
    let bits = |count: u32| f64::from(count) / all * (all / f64::from(count)).log2();
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}

/// 8-4-4-4-12 hexadecimal digits (RFC 9562).
fn is_uuid(key: &str) -> bool {
    let mut parts = key.split('-');
    let fits =
        |length: &usize| parts.next().is_some_and(|part| part.len() == *length && part.bytes().all(|b| b.is_ascii_hexdigit()));
    [8, 4, 4, 4, 12].iter().all(fits) && parts.next().is_none()
}
