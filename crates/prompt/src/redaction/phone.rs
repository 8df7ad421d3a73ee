//! Phone numbers: international ones, those with an area code in parentheses or after a zero, and the
//! shapes in use in North America, Russia and China. Shapes that other numbers have as well count
//! only near a word such as "call".

use super::Hit;
use super::character::{after, before, digit, is_blank, is_dash, is_edge, is_word};
use super::phone_cue::{Cue, cue, is_named_after};
use evenkeel_domain::RedactionKind;

/// Most digits of a number with its country code, and of one with `00` before it (ITU-T E.164: 15).
const MOST: usize = 15;
const MOST_DIALLED: usize = 17;
/// Fewest digits: local numbers with seven are the shortest that are asked for.
const LEAST: usize = 7;
/// Most groups that a number is written in: +49 (0)30 23 12 58 01.
const GROUPS: usize = 8;
/// Most characters between two groups: ") - ".
const BETWEEN: usize = 3;

/// Digits in a row, with what stands before them.
struct Group {
    /// Where it begins, with a plus sign or a parenthesis before it.
    start: usize,
    from: usize,
    to: usize,
    digits: Vec<u8>,
    /// What divides it from the group before; nothing at the first.
    between: String,
    plus: bool,
    open: bool,
}

/// How sure a shape is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Always a phone number.
    Sure,
    /// One unless something before it says otherwise.
    Likely,
    /// One only where something says so.
    Possible,
    /// Never one.
    None,
}

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let mut chain: Vec<Group> = Vec::new();
    for group in groups(text) {
        if group.between.is_empty() || group.plus {
            numbers(text, &chain, hits);
            chain.clear();
        }
        chain.push(group);
    }
    numbers(text, &chain, hits);
}

/// All groups of digits; one that may go on with the number before it has something in `between`.
fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, c) in text.char_indices() {
        let Some(value) = digit(c) else { continue };
        let to = at + c.len_utf8();
        match groups.last_mut() {
            Some(last) if last.to == at => {
                if last.digits.len() <= MOST_DIALLED {
                    last.digits.push(value);
                }
                last.to = to;
            }
            last => {
                let end = last.map_or(0, |last| last.to);
                let (start, plus, open) = lead(text, end, at);
                let between = &text[end..at];
                let joins = end > 0 && between.chars().all(is_divider) && between.chars().nth(BETWEEN).is_none();
                let between = if joins { between.to_owned() } else { String::new() };
                groups.push(Group { start, from: at, to, digits: vec![value], between, plus, open });
            }
        }
    }
    groups
}

fn is_divider(c: char) -> bool {
    is_blank(c) || is_dash(c) || matches!(c, '.' | '/' | '(' | ')' | '（' | '）')
}

/// Where a group begins with the `+` and `(` before it, and which of them are there.
fn lead(text: &str, end: usize, at: usize) -> (usize, bool, bool) {
    let (mut start, mut plus, mut open) = (at, false, false);
    for c in text[end..at].chars().rev().take(2) {
        match c {
            '+' | '＋' if !plus => plus = true,
            '(' | '（' if !open => open = true,
            _ => break,
        }
        start -= c.len_utf8();
    }
    (start, plus, open)
}

/// The numbers in a row of groups: at each place the longest one.
fn numbers(text: &str, chain: &[Group], hits: &mut Vec<Hit>) {
    let mut first = 0;
    while first < chain.len() {
        let most = chain.len().min(first + GROUPS);
        let own_start = first == 0 || chain[first].between.contains(is_blank);
        let found = (first + 1..=most).rev().find(|end| {
            let own_end = *end == chain.len() || chain[*end].between.contains(is_blank);
            own_start && own_end && is_number(text, &chain[first..*end])
        });
        if let Some(end) = found {
            let start =
                if chain[first].open && !closes(&chain[first..end], text) { chain[first].from } else { chain[first].start };
            hits.push(Hit::new(start, chain[end - 1].to, RedactionKind::Phone));
        }
        first = found.unwrap_or(first + 1);
    }
}

/// Whether the parenthesis before the first group is closed within the number.
fn closes(groups: &[Group], text: &str) -> bool {
    groups.first().zip(groups.last()).is_some_and(|(first, last)| text[first.from..last.to].contains([')', '）']))
}

fn is_number(text: &str, groups: &[Group]) -> bool {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return false };
    let digits: usize = groups.iter().map(|group| group.digits.len()).sum();
    if !(LEAST..=MOST_DIALLED).contains(&digits) || !is_free_before(text, first) || !is_free_after(text, last.to) {
        return false;
    }
    match shape(groups, digits, closes(groups, text)) {
        Shape::Sure => true,
        Shape::Likely => cue(text, first.start) != Cue::Other,
        Shape::Possible => match cue(text, first.start) {
            Cue::Phone => true,
            Cue::Nothing => is_named_after(text, last.to),
            Cue::Other => false,
        },
        Shape::None => false,
    }
}

/// Whether a number may begin here: not within a word, an amount, a path, a time.
fn is_free_before(text: &str, first: &Group) -> bool {
    let Some(c) = before(text, first.start) else { return true };
    let further = before(text, first.start - c.len_utf8());
    let within = match c {
        '-' | '/' | '\\' => further.is_some_and(is_word),
        ',' | ':' | '.' => further.is_some_and(|c| digit(c).is_some()),
        '#' | '@' | '$' | '€' | '£' | '¥' | '₹' | '+' | '^' => true,
        _ => false,
    };
    is_edge(Some(c)) && !within
}

/// Whether a number may end here: not before a unit, decimals, a word.
fn is_free_after(text: &str, to: usize) -> bool {
    let Some(c) = after(text, to) else { return true };
    let mut further = text[to + c.len_utf8()..].chars();
    let next = further.next();
    let within = match c {
        '%' | '°' | '€' | '$' | '£' | '@' | '^' => true,
        '-' => next.is_some_and(is_word),
        ',' | ':' | '.' | '/' => next.is_some_and(|c| digit(c).is_some()),
        _ if is_blank(c) => next.is_some_and(|c| matches!(c, '€' | '$' | '£' | '%' | '°')),
        _ => false,
    };
    is_edge(Some(c)) && !within
}

fn shape(groups: &[Group], digits: usize, closed: bool) -> Shape {
    let lengths: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
    let dots = groups.iter().filter(|group| group.between.contains('.')).count();
    let head = &groups[0].digits;
    let decimal = dots == 1 && groups.len() == 2;
    if decimal || is_date(&lengths, groups) || is_address(&lengths, dots) || is_even(groups) {
        return Shape::None;
    }
    if groups[0].plus {
        return international(groups, digits, 0);
    }
    if head.starts_with(&[0, 0]) && !groups[0].open {
        return international(groups, digits, 2);
    }
    if digits > MOST {
        return Shape::None;
    }
    let area = groups[0].open && closed && (2..=5).contains(&head.len());
    let trunk = groups.len() > 2 && groups[1].open && closed && matches!(head.as_slice(), [1 | 7 | 8]);
    if area || trunk {
        return Shape::Sure;
    }
    if head[0] == 0 { after_zero(groups, &lengths, digits, dots) } else { national(groups, &lengths, dots) }
}

/// A number with its country code, `skipped` digits of which are the `00` before that.
fn international(groups: &[Group], digits: usize, skipped: usize) -> Shape {
    let mut all = groups.iter().flat_map(|group| group.digits.iter().copied()).skip(skipped);
    let (first, second) = (all.next().unwrap_or(0), all.next().unwrap_or(0));
    let digits = digits - skipped;
    if !is_country(first, second) || digits > MOST {
        return Shape::None;
    }
    match (groups.len(), skipped) {
        (1, 0) if digits >= 10 => Shape::Sure,
        (1, 2) if digits >= 10 => Shape::Likely,
        (1, _) => Shape::Possible,
        _ if digits >= 8 => Shape::Sure,
        _ => Shape::Possible,
    }
}

/// Whether country codes begin so (ITU-T E.164 list of assigned codes): 1 and 7 by themselves, all
/// pairs but those kept free.
fn is_country(first: u8, second: u8) -> bool {
    match first {
        0 => false,
        2 | 8 => !matches!((first, second), (2, 8) | (8, 3 | 9)),
        _ => true,
    }
}

/// An area code after the zero that is dialled within a country.
fn after_zero(groups: &[Group], lengths: &[usize], digits: usize, dots: usize) -> Shape {
    // One slash, behind the area code: 0171/3920012.
    let slashes = groups.iter().skip(2).any(|group| group.between.contains('/'));
    let pairs = lengths.iter().all(|length| *length <= 2);
    if lengths.len() == 1 {
        let own = (10..=11).contains(&digits) && groups[0].digits[1] != 0;
        return if own { Shape::Likely } else { Shape::Possible };
    }
    if slashes || lengths[0] < 2 || (dots > 0 && dots + 1 < groups.len()) || (pairs && lengths.len() != 5) {
        return Shape::None;
    }
    if (8..=12).contains(&digits) && lengths[0] <= 6 { Shape::Likely } else { Shape::Possible }
}

/// The shapes of single countries.
fn national(groups: &[Group], lengths: &[usize], dots: usize) -> Shape {
    let digit = |group: usize, at: usize| groups[group].digits[at];
    let nanp = |area: usize| digit(area, 0) >= 2 && digit(area + 1, 0) >= 2;
    match lengths {
        // North American Numbering Plan: area code and exchange begin with 2–9.
        [3, 3, 4] if nanp(0) => Shape::Likely,
        [1, 3, 3, 4] if digit(0, 0) == 1 && nanp(1) => Shape::Likely,
        // Russia with its 8, China's mobiles, India's mobiles.
        [1, 3, 3, 2, 2] if digit(0, 0) == 8 => Shape::Likely,
        [3, 4, 4] if digit(0, 0) == 1 && digit(0, 1) >= 3 => Shape::Likely,
        [5, 5] if digit(0, 0) >= 6 => Shape::Likely,
        [_] if dots == 0 => Shape::Possible,
        // Thousands are divided by dots; by blanks too, but then no word for a phone is near.
        _ if dots > 0 => Shape::None,
        _ => Shape::Possible,
    }
}

/// Whether the groups begin or end with a date, or are years.
fn is_date(lengths: &[usize], groups: &[Group]) -> bool {
    let value =
        |at: usize| groups[at].digits.iter().fold(0_u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(*digit)));
    let small = |at: usize, most: u32| lengths[at] <= 2 && (1..=most).contains(&value(at));
    let year = |at: usize| lengths[at] == 4 && (1900..2100).contains(&value(at));
    let dated = |at: usize| {
        let alike = groups[at + 1].between == groups[at + 2].between && groups[at + 1].between.chars().nth(1).is_none();
        let day_first = small(at, 31) && small(at + 1, 31) && (year(at + 2) || lengths[at + 2] == 2 && lengths.len() == 3);
        alike && (day_first || (year(at) && small(at + 1, 12) && small(at + 2, 31)))
    };
    let years = lengths.len() == 2 && year(0) && year(1);
    years || (0..lengths.len().saturating_sub(2)).any(dated)
}

/// Four groups of at most three digits between dots: an address of the internet.
fn is_address(lengths: &[usize], dots: usize) -> bool {
    lengths.len() == 4 && dots == 3 && lengths.iter().all(|length| *length <= 3)
}

/// A round number: it ends in six zeros, or all its digits are the same.
fn is_even(groups: &[Group]) -> bool {
    let digits = || groups.iter().flat_map(|group| group.digits.iter());
    let zeros = groups.iter().rev().flat_map(|group| group.digits.iter().rev()).take_while(|digit| **digit == 0).count();
    let first = digits().next();
    zeros > 5 || digits().all(|digit| Some(digit) == first)
}
