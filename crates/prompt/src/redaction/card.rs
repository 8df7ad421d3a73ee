//! Numbers of payment cards (ISO/IEC 7812): 13–19 digits, the prefix of a network, the check digit.

use super::Hit;
use super::character::{after, before, digit, is_blank, is_dash, is_edge};
use evenkeel_domain::RedactionKind;

/// Fewest and most digits.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// Prefixes as ranges of the first four digits, and the lengths of their numbers, as the networks publish them.
const NETWORKS: &[(u32, u32, &[usize])] = &[
    (2200, 2204, &[16, 17, 18, 19]),             // Mir
    (2221, 2720, &[16]),                         // Mastercard
    (3000, 3059, &[14, 16, 17, 18, 19]),         // Diners Club
    (3095, 3095, &[14, 16, 17, 18, 19]),         // Diners Club
    (3400, 3499, &[15]),                         // American Express
    (3528, 3589, &[16, 17, 18, 19]),             // JCB
    (3600, 3699, &[14, 15, 16, 17, 18, 19]),     // Diners Club
    (3700, 3799, &[15]),                         // American Express
    (3800, 3999, &[14, 16, 17, 18, 19]),         // Diners Club
    (4000, 4999, &[13, 16, 19]),                 // Visa
    (5018, 5018, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (5019, 5019, &[16]),                         // Dankort
    (5020, 5020, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (5038, 5038, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (5080, 5089, &[16]),                         // RuPay
    (5100, 5599, &[16]),                         // Mastercard
    (5612, 5612, &[16]),                         // Maestro
    (5893, 5893, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (6011, 6011, &[16, 17, 18, 19]),             // Discover
    (6060, 6089, &[16]),                         // RuPay, Hipercard
    (6200, 6299, &[16, 17, 18, 19]),             // UnionPay
    (6304, 6304, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (6440, 6599, &[16, 17, 18, 19]),             // Discover
    (6759, 6763, &[13, 14, 15, 16, 17, 18, 19]), // Maestro
    (8171, 8171, &[16, 17, 18, 19]),             // UnionPay
    (9792, 9792, &[16]),                         // Troy
];

/// How the digits of a number are grouped on cards and in forms.
const GROUPS: &[&[usize]] = &[
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4, 2],
    &[4, 4, 4, 1],
    &[4, 4, 5],
    &[8, 8],
    &[6, 13],
    &[6, 10],
    &[4, 4, 4, 3],
    &[4, 4, 4, 2],
    &[4, 5, 6],
];

/// Digits in a row.
struct Group {
    from: usize,
    to: usize,
    digits: Vec<u8>,
    /// The one character between it and the group before it.
    divider: Option<char>,
}

pub(super) fn find(text: &str, hits: &mut Vec<Hit>) {
    let mut groups: Vec<Group> = Vec::new();
    for group in all_groups(text) {
        if group.divider.is_none() {
            numbers(text, &groups, hits);
            groups.clear();
        }
        groups.push(group);
    }
    numbers(text, &groups, hits);
}

/// All groups of digits; one that stands a single divider behind another names that.
fn all_groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, c) in text.char_indices() {
        let Some(value) = digit(c) else { continue };
        let end = at + c.len_utf8();
        match groups.last_mut() {
            Some(last) if last.to == at => {
                // Twenty digits are as good as any more.
                if last.digits.len() <= *DIGITS.end() {
                    last.digits.push(value);
                }
                last.to = end;
            }
            last => {
                let between = last.map(|last| &text[last.to..at]).unwrap_or_default();
                let mut between = between.chars();
                let single = between.next().filter(|c| between.next().is_none() && (is_blank(*c) || is_dash(*c) || *c == '.'));
                groups.push(Group { from: at, to: end, digits: vec![value], divider: single });
            }
        }
    }
    groups
}

/// The numbers among groups that stand one divider apart.
fn numbers(text: &str, groups: &[Group], hits: &mut Vec<Hit>) {
    let mut first = 0;
    while first < groups.len() {
        let lengths: Vec<usize> = groups[first..].iter().take(5).map(|group| group.digits.len()).collect();
        let longest = (1..=lengths.len()).rev().find(|count| {
            let shape = &lengths[..*count];
            (*count == 1 || GROUPS.contains(&shape)) && is_number(text, &groups[first..first + count])
        });
        if let Some(count) = longest {
            hits.push(Hit::new(groups[first].from, groups[first + count - 1].to, RedactionKind::Card));
        }
        first += longest.unwrap_or(1);
    }
}

fn is_number(text: &str, groups: &[Group]) -> bool {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return false };
    let digits: Vec<u8> = groups.iter().flat_map(|group| group.digits.iter().copied()).collect();
    let mut dividers = groups[1..].iter().filter_map(|group| group.divider);
    let one = dividers.next();
    let alike = dividers.all(|divider| Some(divider) == one);
    let free = is_edge(before(text, first.from)) && is_edge(after(text, last.to));
    alike && free && DIGITS.contains(&digits.len()) && is_of_network(&digits) && luhn(&digits)
}

fn is_of_network(digits: &[u8]) -> bool {
    let head = digits.iter().take(4).fold(0, |head, digit| head * 10 + u32::from(*digit));
    NETWORKS.iter().any(|(from, to, lengths)| (*from..=*to).contains(&head) && lengths.contains(&digits.len()))
}

/// The check digit (ISO/IEC 7812-1, annex B): every second digit from the right is doubled, the sum divides by ten.
fn luhn(digits: &[u8]) -> bool {
    let doubled = |(at, digit): (usize, &u8)| {
        let value = u32::from(*digit) * if at % 2 == 1 { 2 } else { 1 };
        if value > 9 { value - 9 } else { value }
    };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}
