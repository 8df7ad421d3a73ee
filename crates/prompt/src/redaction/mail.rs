//! Mail addresses.

use super::Hit;
use super::character::{after, before, is_mark, is_unspaced, is_word, reach_back};
use evenkeel_domain::RedactionKind;

/// Most characters before the `@`, and most in the domain (RFC 5321, 4.5.3.1, in octets there).
const LOCAL: usize = 64;
const DOMAIN: usize = 255;
/// Most characters of a part of the domain (RFC 1035, 2.3.4).
const LABEL: usize = 63;

/// Ends of file names that follow the `@2x` of a picture.
const FILES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "webp", "svg", "pdf", "avif"];

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    for (at, sign) in text.match_indices(['@', '＠']) {
        let Some(from) = local_start(text, at) else { continue };
        let Some(to) = domain_end(text, at + sign.len()) else { continue };
        if !is_other(text, from, at, to) {
            hits.push(Hit::new(from, to, RedactionKind::Email));
        }
    }
}

/// Letters and digits of any script, and the marks that are in use; RFC 5322 allows more, such as
/// `/` and `=`, which in running text belong to what stands around the address.
fn is_local(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c) || "._%+-'&#!$~".contains(c)
}

/// Where the part before the `@` begins.
fn local_start(text: &str, at: usize) -> Option<usize> {
    let last = before(text, at).filter(|c| is_local(*c) && *c != '.')?;
    // "メールはtaro@…" has no blank before the address.
    let unspaced = is_unspaced(last);
    let mut from = at;
    for (start, c) in text[..at].char_indices().rev().take(LOCAL) {
        if !is_local(c) || (is_unspaced(c) && !unspaced) {
            break;
        }
        from = start;
    }
    text[from..at].find(|c: char| c.is_alphanumeric() || c == '_').map(|skipped| from + skipped)
}

/// Where the domain ends that begins at a place: at least two parts, of which the last has letters only.
fn domain_end(text: &str, at: usize) -> Option<usize> {
    let unspaced = is_unspaced(after(text, at).filter(|c| c.is_alphanumeric())?);
    let mut end = at;
    let mut previous = ' ';
    for (start, c) in text[at..].char_indices().take(DOMAIN) {
        let belongs = c.is_alphanumeric() || is_mark(c) || c == '-' || (c == '.' && previous != '.');
        if !belongs || (is_unspaced(c) && !unspaced) {
            break;
        }
        previous = c;
        end = at + start + c.len_utf8();
    }
    let mut domain = text[at..end].trim_end_matches(['.', '-']);
    loop {
        let (rest, last) = domain.rsplit_once('.')?;
        if is_top(last) && !(rest.contains('.') && is_next_sentence(rest, last)) {
            return is_domain(domain, last).then_some(at + domain.len());
        }
        domain = rest.trim_end_matches(['.', '-']);
    }
}

fn is_top(label: &str) -> bool {
    let letters = label.chars().all(|c| c.is_alphabetic() || is_mark(c)) && label.chars().nth(1).is_some();
    letters || label.starts_with("xn--")
}

/// "Write to anna@example.org.Thanks": a sentence that begins without a blank.
fn is_next_sentence(rest: &str, last: &str) -> bool {
    let own = rest.rsplit('.').next().unwrap_or(rest);
    last.starts_with(char::is_uppercase) && own.starts_with(char::is_lowercase)
}

fn is_domain(domain: &str, top: &str) -> bool {
    let mut labels = domain.split('.');
    let first = labels.next().unwrap_or_default();
    // "package@1.2.beta"; "user@163.com" is an address.
    let version = labels.next().is_some_and(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()));
    let scale =
        first.strip_suffix('x').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let picture = scale && FILES.contains(&top.to_ascii_lowercase().as_str());
    !version && !picture && domain.split('.').all(|label| label.chars().nth(LABEL).is_none())
}

/// Whether what looks like an address is something else: the handle `@name@server` of a social
/// network, `git@host:path`, or a name and password in a link.
fn is_other(text: &str, from: usize, at: usize, to: usize) -> bool {
    let beside = before(text, from);
    let handle = matches!(beside, Some('@' | '＠'));
    let git = &text[from..at] == "git" && matches!(after(text, to), Some(':' | '/'));
    let link = beside == Some(':') && {
        let line = reach_back(text, from, 96);
        line.rfind("://").is_some_and(|scheme| !line[scheme + 3..].contains(|c: char| c == '/' || c.is_whitespace()))
    };
    let glued = beside.is_some_and(|c| is_word(c) && !is_unspaced(c) && !is_local(c));
    handle || git || link || glued
}
