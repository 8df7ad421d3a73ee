//! Secrets that are named: `password=…`, "my password is …", `Authorization: Bearer …`, and the
//! password in a link. What is taken out is the value; the name stays, so that the sentence can be read.

use super::Hit;
use super::character::{after, is_blank, is_unspaced, reach_back, reach_on, runs};
use evenkeel_domain::RedactionKind;
use std::ops::Range;

/// Longest value that is looked for, in bytes. Longer ones are web tokens, which are known by their shape.
const VALUE: usize = 1_024;
/// Longest name of a variable that is read.
const NAME: usize = 64;

/// Words, and letters of one, that may stand between a name and what joins it to its value.
const BETWEEN: usize = 5;
const WORD: usize = 20;

/// Names of passwords: the last word of a variable, or a word of a sentence.
const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passcode",
    "passphrase",
    "pwd",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "senha",
    "hasło",
    "wachtwoord",
    "пароль",
    "şifre",
    "parola",
    "lösenord",
];
/// Names of keys. Sentences speak of tokens and secrets that are none, so their values must look like keys.
const KEYS: &[&str] = &[
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "clientsecret",
    "token",
    "secret",
    "accesskeyid",
    "authkey",
    "clave",
    "apitoken",
];
/// Names of two words and more: their ends, and what must stand before.
const PHRASES: &[(&str, &[&str])] = &[
    ("key", &["api", "secret", "access", "private", "encryption"]),
    ("passe", &["mot de"]),
    ("المرور", &["كلمة"]),
    ("السر", &["كلمة"]),
    ("key", &["wallet"]),
];
/// Names in scripts without blanks, where no word has an end.
const UNSPACED: [&str; 6] = ["パスワード", "暗証番号", "密码", "密碼", "비밀번호", "รหัสผ่าน"];

/// Signs between a name and its value; the longer first.
const SIGNS: [(&str, Join); 7] = [
    ("=>", Join::Equals),
    (":=", Join::Equals),
    ("==", Join::Equals),
    ("=", Join::Equals),
    ("＝", Join::Equals),
    (":", Join::Colon),
    ("：", Join::Colon),
];
/// Words between a name and its value.
const VERBS: &[&str] =
    &["is", "ist", "lautet", "war", "was", "est", "es", "è", "é", "to", "jest", "هي", "هو", "это", "は", "是", "는", "은", "คือ"];
/// Values that say that there is none.
const NOT_VALUES: &[&str] = &[
    "none",
    "null",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "string",
    "empty",
    "unknown",
    "missing",
    "invalid",
    "incorrect",
    "wrong",
    "forgotten",
    "forgot",
    "expired",
    "changed",
    "hidden",
    "vergessen",
    "falsch",
    "geändert",
    "unbekannt",
    "oublié",
    "incorrecta",
    "olvidada",
    "sbagliata",
    "dimenticata",
    "esquecida",
    "забыл",
    "забыла",
    "password",
    "passwort",
    "changeme",
    "secret",
    "redacted",
    "removed",
    "nothing",
    "something",
    "whatever",
    "default",
];

/// How a name and its value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    Equals,
    Colon,
    Verb,
    /// Nothing but a blank.
    Blank,
}

struct Value<'a> {
    text: &'a str,
    range: Range<usize>,
    quoted: bool,
    ends_line: bool,
}

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let mut push = |range: Range<usize>| hits.push(Hit::new(range.start, range.end, RedactionKind::Key));
    let mut until = 0;
    for word in runs(text, |c| c.is_alphanumeric() || c == '_' || c == '-') {
        // A value holds no names.
        if word.start < until || !(2..=NAME).contains(&word.len()) {
            continue;
        }
        let said = text[word.clone()].to_lowercase();
        let value = match name(text, word.start, &said) {
            Some(strict) => value_of(text, word.end, strict),
            None => scheme_value(text, word, &said),
        };
        if let Some(value) = value {
            until = value.end;
            push(value);
        }
    }
    for own in UNSPACED {
        text.match_indices(own).filter_map(|(at, _)| value_of(text, at + own.len(), false)).for_each(&mut push);
    }
    text.match_indices("://").filter_map(|(at, _)| link_password(text, at + "://".len())).for_each(&mut push);
}

/// Whether a word is the name of a secret; true inside if its value must look like a key.
fn name(text: &str, from: usize, said: &str) -> Option<bool> {
    let plain: String = said.chars().filter(|c| *c != '_' && *c != '-').collect();
    if PASSWORDS.iter().any(|own| plain.ends_with(own)) {
        return Some(false);
    }
    if KEYS.iter().any(|own| plain.ends_with(own)) {
        return Some(true);
    }
    let (_, heads) = PHRASES.iter().find(|(last, heads)| *last == plain && heads.iter().any(|head| ends_in(text, from, head)))?;
    Some(!heads.contains(&"mot de") && !heads.contains(&"كلمة"))
}

/// Whether the text before a place ends in a word and a blank or hyphen.
fn ends_in(text: &str, at: usize, word: &str) -> bool {
    let said = reach_back(text, at, 24).to_lowercase();
    said.strip_suffix([' ', '-', '_', '\u{a0}']).is_some_and(|said| said.ends_with(word))
}

/// Steps over at most `most` characters of a kind.
fn skip(text: &str, at: usize, most: usize, of: impl Fn(char) -> bool) -> usize {
    at + text[at..].chars().take(most).take_while(|c| of(*c)).map(char::len_utf8).sum::<usize>()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '「' | '」' | '*')
}

/// How the name that ends at a place is joined to a value, and where that begins. "The password of
/// the router is …" has words in between.
fn joined(text: &str, at: usize) -> Option<(Join, usize)> {
    let at = skip(text, at, 3, |c| is_quote(c) || c == ']');
    let mut blank = skip(text, at, 4, is_blank);
    for _ in 0..BETWEEN {
        let rest = &text[blank..];
        if let Some((sign, join)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            // "token == other" compares.
            let next = skip(text, blank + sign.len(), 4, is_blank);
            return (*sign != "==").then_some((*join, next));
        }
        if let Some(next) = behind_verb(text, blank) {
            return Some((Join::Verb, next));
        }
        let word = skip(text, blank, WORD, char::is_alphanumeric);
        let next = skip(text, word, 2, is_blank);
        // A sign may follow the word at once, a verb may not.
        if word == blank || (next == word && !text[word..].starts_with([':', '：', '='])) {
            break;
        }
        blank = next;
    }
    let blank = skip(text, at, 4, is_blank);
    (blank > at).then_some((Join::Blank, blank))
}

/// Where the value begins behind a verb at a place.
fn behind_verb(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let verb = VERBS.iter().find(|verb| {
        let end = rest.get(verb.len()..).and_then(|rest| rest.chars().next());
        begins_like(rest, verb) && (end.is_none_or(|c| is_blank(c) || c == ':') || verb.chars().all(is_unspaced))
    })?;
    let next = skip(text, at + verb.len(), 4, is_blank);
    let colon = skip(text, next, 1, |c| c == ':');
    Some(skip(text, colon, 4, is_blank))
}

/// Whether a text begins with a word in lower case, its own letters in either.
fn begins_like(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.to_lowercase() == word)
}

fn value_of(text: &str, at: usize, strict: bool) -> Option<Range<usize>> {
    let (join, at) = joined(text, at)?;
    let value = read(text, at)?;
    is_secret(&value, join, strict).then_some(value.range)
}

/// The value that begins at a place: up to the closing quote, or up to a blank.
fn read(text: &str, at: usize) -> Option<Value<'_>> {
    let first = after(text, at)?;
    let rest = reach_on(text, at, VALUE);
    if is_quote(first) && first != '*' {
        let close = match first {
            '“' | '„' => '”',
            '«' => '»',
            '‘' => '’',
            '「' => '」',
            same => same,
        };
        let body = &rest[first.len_utf8()..];
        let closed = body.find([close, '\n']).filter(|end| body[*end..].starts_with(close));
        if let Some(end) = closed {
            let from = at + first.len_utf8();
            let range = from..from + end;
            return Some(Value { text: &text[range.clone()], range, quoted: true, ends_line: false });
        }
    }
    let start = skip(text, at, 2, is_quote);
    let rest = reach_on(text, start, VALUE);
    let stop = |c: char| c.is_whitespace() || is_unspaced(c) || is_quote(c) && c != '*' || ",;<>|()[]{}，、。".contains(c);
    let end = rest.find(stop).unwrap_or(rest.len());
    // A call, not a value.
    if rest[end..].starts_with(['(', '[']) {
        return None;
    }
    let parameter = rest[..end].match_indices('&').find(|(at, _)| is_parameter(&rest[at + 1..end]));
    let end = parameter.map_or(end, |(at, _)| at);
    let value = rest[..end].trim_end_matches(['.', ':', '?', '…', '*']);
    let line = reach_on(text, start + value.len(), 8).trim_start_matches(['.', ':', ' ', '\r']);
    let ends_line = line.is_empty() || line.starts_with('\n');
    (!value.is_empty()).then(|| Value { text: value, range: start..start + value.len(), quoted: false, ends_line })
}

/// Whether a text begins as the next parameter of a link does: `name=`.
fn is_parameter(text: &str) -> bool {
    let length = text.chars().take(32).take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    length > 0 && text[length..].starts_with('=')
}

fn is_secret(value: &Value<'_>, join: Join, strict: bool) -> bool {
    let text = value.text;
    let length = text.chars().count();
    let lower = text.to_lowercase();
    let blank = text.chars().all(|c| matches!(c, '*' | '•' | '.' | 'x' | 'X' | '…' | '_' | '-' | '?'));
    let variable = text.starts_with(['$', '%', '<', '{']) || text.contains("env.") || text.contains("environ");
    if length < 4 || blank || variable || NOT_VALUES.contains(&lower.as_str()) {
        return false;
    }
    let digit = text.chars().any(char::is_numeric);
    let letter = text.chars().any(char::is_alphabetic);
    let sign = text.chars().any(|c| !c.is_alphanumeric() && !"-.'’/,!".contains(c))
        || (letter && text.trim_end_matches('!').contains('!'));
    // A value that no one would take for a word.
    let odd = (digit && letter) || sign;
    match join {
        _ if strict => length >= 8 && letter && (digit || (sign && value.quoted)) && (join != Join::Blank || length >= 16),
        _ if value.quoted => join != Join::Blank || odd,
        Join::Equals => odd || !text.contains('.'),
        Join::Colon => length >= 6 && (odd || value.ends_line),
        Join::Verb | Join::Blank => length >= 6 && odd,
    }
}

/// The value behind `Bearer` and, in a header, `Basic` (RFC 6750 and RFC 7617).
fn scheme_value(text: &str, word: Range<usize>, said: &str) -> Option<Range<usize>> {
    let bearer = said == "bearer";
    let basic = said == "basic" && reach_back(text, word.start, 24).to_lowercase().contains("authorization");
    if !bearer && !basic {
        return None;
    }
    let from = skip(text, word.end, 4, is_blank);
    let rest = reach_on(text, from, VALUE);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._~+/=-".contains(c))).unwrap_or(rest.len());
    let value = rest[..end].trim_end_matches('.');
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    (from > word.end && letter && (digit || basic) && value.len() >= if bearer { 12 } else { 8 })
        .then(|| from..from + value.len())
}

/// The password of `scheme://name:password@host` (RFC 3986, 3.2.1).
fn link_password(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = reach_on(text, at, 256);
    let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).unwrap_or(rest.len());
    let (user, _host) = rest[..end].rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let from = at + name.len() + 1;
    (!password.is_empty()).then(|| from..from + password.len())
}
