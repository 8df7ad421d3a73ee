//! Blocks between `-----BEGIN …-----` and `-----END …-----`.

use super::Hit;
use super::character::reach_on;
use evenkeel_domain::RedactionKind;
use std::ops::Range;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// Longest name of a block; that of PGP's private keys has 21 characters (RFC 7468 and RFC 4880 name them).
const NAME: usize = 64;
/// Shortest line that is taken for one of a key; whole ones have 64 characters.
const LINE: usize = 16;

/// Finds private keys, and returns the places of all blocks: within those of public keys and
/// certificates nothing is looked for.
pub(super) fn find(text: &str, hits: &mut Vec<Hit>) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(begin) = text[from..].find(BEGIN).map(|at| from + at) {
        let head = reach_on(text, begin + BEGIN.len(), NAME);
        let Some(name) = head.find("-----").map(|end| &head[..end]) else {
            from = begin + BEGIN.len();
            continue;
        };
        let body = begin + BEGIN.len() + name.len() + "-----".len();
        let end = end_of(text, body);
        if name.contains("PRIVATE KEY") {
            hits.push(Hit::new(begin, end, RedactionKind::Key));
        }
        blocks.push(begin..end);
        from = end;
    }
    blocks
}

/// Where a block ends whose lines begin at a place.
fn end_of(text: &str, body: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = body;
    while at < bytes.len() {
        if bytes[at..].starts_with(END.as_bytes()) {
            let foot = reach_on(text, at + END.len(), NAME + "-----".len());
            return foot.find("-----").map_or(at, |end| at + END.len() + end + "-----".len());
        }
        let dash_within = bytes[at] == b'-' && bytes.get(at + 1) != Some(&b'-') && bytes[at - 1] != b'-';
        if !is_of_body(bytes[at]) && !dash_within {
            break;
        }
        at += 1;
    }
    unclosed_end(&text[body..at]).map_or(body, |length| body + length)
}

/// What is left of a key whose last line was not pasted: as many words as look like lines of it.
fn unclosed_end(text: &str) -> Option<usize> {
    let words = text.split_inclusive(char::is_whitespace);
    let mut length = 0;
    let mut end = None;
    for word in words {
        let line = word.trim_end();
        if !line.is_empty() && line.len() < LINE && !line.ends_with('=') {
            break;
        }
        length += word.len();
        end = if line.is_empty() { end } else { Some(length - (word.len() - line.len())) };
    }
    end
}

/// Base64, blanks, `\n` of JSON, headers such as `Proc-Type: 4,ENCRYPTED`.
fn is_of_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=:,.\\".contains(&byte)
}
