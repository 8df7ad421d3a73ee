//! International bank account numbers (ISO 13616).

use super::Hit;
use super::character::{after, before, is_blank, is_dash, is_edge};
use evenkeel_domain::RedactionKind;

/// Countries and the length of their numbers, from the registry of SWIFT.
const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let begins =
        |at: usize| bytes[at..at + 2].iter().all(u8::is_ascii_alphabetic) && bytes[at + 2..at + 4].iter().all(u8::is_ascii_digit);
    for from in 0..bytes.len().saturating_sub(4) {
        let to = if begins(from) && is_edge(before(text, from)) { end(text, from) } else { None };
        hits.extend(to.map(|to| Hit::new(from, to, RedactionKind::Iban)));
    }
}

/// Where the number ends that begins at a place, if its length and check digits fit.
fn end(text: &str, from: usize) -> Option<usize> {
    let country = text[from..from + 2].to_ascii_uppercase();
    let place = LENGTHS.binary_search_by(|(own, _)| (*own).cmp(country.as_str())).ok()?;
    let mut digits: Vec<u32> = Vec::with_capacity(LENGTHS[place].1);
    let mut to = from;
    let mut divided = false;
    for (at, c) in text[from..].char_indices() {
        if let Some(value) = c.to_digit(36) {
            digits.push(value);
            divided = false;
            to = from + at + 1;
            if digits.len() == LENGTHS[place].1 {
                break;
            }
        } else if (is_blank(c) || is_dash(c)) && !divided {
            divided = true;
        } else {
            return None;
        }
    }
    let whole = digits.len() == LENGTHS[place].1 && is_edge(after(text, to));
    (whole && remainder(&digits) == 1).then_some(to)
}

/// ISO 7064 MOD 97-10: the first four characters go to the end, letters count from A = 10.
fn remainder(digits: &[u32]) -> u32 {
    let (head, tail) = digits.split_at(4);
    tail.iter().chain(head).fold(0, |rest, value| (rest * if *value > 9 { 100 } else { 10 } + value) % 97)
}
