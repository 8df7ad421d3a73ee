use super::helpline::ALL;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

mod sentences;
use sentences::{DANGER, HARMLESS, SELF_HARM};

#[test]
fn every_sentence_that_is_a_sign_is_one() {
    assert!(SELF_HARM.len() + DANGER.len() >= 60);
    let missed: Vec<_> = SELF_HARM.iter().filter(|text| signs(text) != Some(CareSign::SelfHarm)).collect();
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
    let missed: Vec<_> = DANGER.iter().filter(|text| signs(text) != Some(CareSign::Danger)).collect();
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

#[test]
fn at_most_one_harmless_sentence_in_twenty_is_taken_for_a_sign() {
    assert!(HARMLESS.len() >= 60);
    let wrong: Vec<_> = HARMLESS.iter().filter_map(|text| signs(text).map(|sign| (text, sign))).collect();
    assert!(wrong.len() * 20 <= HARMLESS.len(), "{} of {}: {wrong:#?}", wrong.len(), HARMLESS.len());
}

#[test]
fn disguises_are_seen_through() {
    for text in [
        "I WANT TO DIE",
        "i want to dieeee",
        "i wan\u{200b}t to d\u{ad}ie",
        "ich mo\u{308}chte sterben",
        "I want to... die",
        "ＫＩＬＬ myself",
    ] {
        assert_eq!(signs(text), Some(CareSign::SelfHarm), "{text}");
    }
    let padded = format!("{}I don’t want to live anymore.{}", "All is well. ".repeat(500), " And so on.".repeat(500));
    assert_eq!(signs(&padded), Some(CareSign::SelfHarm));
}

#[test]
fn self_harm_comes_before_danger() {
    assert_eq!(signs("My husband beats me. I want to die."), Some(CareSign::SelfHarm));
    assert_eq!(signs("My husband beats me."), Some(CareSign::Danger));
}

#[test]
fn every_phrase_can_be_found() {
    assert_eq!(RULES.idioms.unreachable(), [] as [usize; 0]);
    assert_eq!(RULES.signs.unreachable(), [] as [usize; 0]);
    for language in rules::ALL {
        for row in language.self_harm.iter().chain(language.danger).chain(language.idioms) {
            for slot in row.split_whitespace().filter(|slot| slot.contains(['|', '*']) || slot.starts_with('?')) {
                for part in slot.trim_start_matches('?').split('|').filter(|part| !part.starts_with('@')) {
                    assert_eq!(Words::read(part.trim_end_matches('*')).len(), 1, "{part:?} in {row:?} is not one word");
                }
            }
        }
    }
    let named = rules::ALL.iter().flat_map(|language| language.self_harm.iter().chain(language.danger).chain(language.idioms));
    for name in named.flat_map(|row| row.split([' ', '|', '?'])).filter_map(|part| part.strip_prefix('@')) {
        assert!(rules::NAMES.iter().any(|(own, _)| *own == name), "@{name} is no list");
    }
}

#[test]
fn work_grows_with_the_text_and_no_faster() {
    const MIB: usize = 1 << 20;
    let hostile = [
        "a ".to_owned(),
        "i want to ".to_owned(),
        "she will not ~ i was going to hurt my ".to_owned(),
        "don't want to be i wish i hope he is ".to_owned(),
        "er hat mich nicht mehr ich will ".to_owned(),
        "我不死に".to_owned(),
        "\u{200b}.\n'".to_owned(),
        "m".to_owned(),
        "أن لا أريد ".to_owned(),
    ];
    let most = RULES.idioms.most_work() + RULES.signs.most_work();
    for piece in hostile {
        let text = piece.repeat(MIB / piece.len());
        let half = piece.repeat(MIB / piece.len() / 2);
        let (sign, work) = signs_and_work(&text);
        let (_, half_work) = signs_and_work(&half);
        assert_eq!(sign, None, "{piece:?}");
        assert!(work <= Words::read(&text).len() * most, "{piece:?}: {work}");
        assert!(work <= 2 * half_work + 4 * most, "{piece:?}: {work} for the whole, {half_work} for the half");
        // Far below the bound: what a megabyte of it really costs.
        assert!(work <= 64 * MIB, "{piece:?}: {work}");
    }
}

#[test]
fn every_region_asked_for_has_an_emergency_number_and_a_crisis_line() {
    let wanted = "US CA GB IE AU NZ DE AT CH FR ES IT NL BE SE NO DK FI PL PT BR MX IN JP KR";
    for region in wanted.split(' ') {
        let list = helplines(region);
        assert!(list.iter().all(|line| line.region == region), "{region}");
        assert_eq!(list[0].kind, HelplineKind::Emergency, "{region}");
        assert!(list.iter().any(|line| line.kind == HelplineKind::Crisis), "{region}");
        assert_eq!(helplines(&region.to_lowercase()), list);
    }
    assert_eq!(ALL.len(), wanted.split(' ').count() + 1);
}

#[test]
fn an_unknown_region_has_the_worldwide_list() {
    for region in ["", "ZZ", "XK", "not a region"] {
        let list = helplines(region);
        assert_eq!(list[0].contact, Contact::Call { number: "112" }, "{region}");
        assert!(list.iter().any(|line| line.contact == Contact::Web { address: "https://findahelpline.com" }));
    }
}

#[test]
fn contacts_are_well_formed_and_stand_once() {
    for list in ALL {
        let mut seen = BTreeSet::new();
        for line in *list {
            let shown = match line.contact {
                Contact::Call { number } | Contact::CallOrText { number } => number.to_owned(),
                Contact::Text { number, keyword } => {
                    assert!(keyword.bytes().all(|byte| byte.is_ascii_uppercase()) && !keyword.is_empty());
                    number.to_owned()
                }
                Contact::Web { address } => {
                    assert!(address.starts_with("https://"));
                    continue;
                }
            };
            assert!(shown.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ' || byte == b'-'), "{shown}");
            assert!((2..=14).contains(&shown.bytes().filter(u8::is_ascii_digit).count()), "{shown}");
            assert!(seen.insert(shown), "{} twice in {}", line.name, line.region);
            assert!(!line.name.is_empty());
        }
    }
}

#[test]
fn known_numbers_are_right() {
    let has = |region: &str, number: &str| {
        helplines(region).iter().any(|line| match line.contact {
            Contact::Call { number: own } | Contact::CallOrText { number: own } | Contact::Text { number: own, .. } => {
                own == number
            }
            Contact::Web { .. } => false,
        })
    };
    let known = [
        ("US", "988"),
        ("CA", "988"),
        ("GB", "116 123"),
        ("IE", "116 123"),
        ("AU", "13 11 14"),
        ("NZ", "1737"),
        ("DE", "0800 1110111"),
    ];
    let more = [
        ("AT", "142"),
        ("CH", "143"),
        ("FR", "3114"),
        ("ES", "024"),
        ("NL", "113"),
        ("BE", "1813"),
        ("BR", "188"),
        ("KR", "109"),
    ];
    for (region, number) in known.into_iter().chain(more) {
        assert!(has(region, number), "{region} lacks {number}");
    }
}

#[test]
fn the_region_comes_from_the_locale_and_else_from_the_zone() {
    let table = [
        ("de-AT", "Europe/Berlin", "AT"),
        ("de_CH.UTF-8", "", "CH"),
        ("zh-Hant-TW", "", "TW"),
        ("en-gb", "", "GB"),
        ("ca_ES@valencia", "", "ES"),
        ("de", "Europe/Vienna", "AT"),
        ("en-001", "America/Chicago", "US"),
        ("C", "Australia/Sydney", "AU"),
        ("C.UTF-8", "Asia/Tokyo", "JP"),
        ("en-u-ca-gregory", "Europe/Dublin", "IE"),
        ("", "America/Toronto", "CA"),
        ("", "America/Indiana/Knox", "US"),
        ("", "Etc/UTC", ""),
        ("", "", ""),
        ("x-de", "", ""),
    ];
    for (locale, zone, region) in table {
        assert_eq!(region_of(locale, zone), region, "{locale:?} {zone:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_crash(text: String) {
        let (_, work) = signs_and_work(&text);
        prop_assert!(work <= (text.len() + 1) * (RULES.idioms.most_work() + RULES.signs.most_work()));
    }

    #[test]
    fn a_sign_is_seen_whatever_stands_around_it(before in "[a-z ]{0,40}", after in "[a-z ]{0,40}") {
        let text = format!("{before}. I want to kill myself. {after}");
        prop_assert_eq!(signs(&text), Some(CareSign::SelfHarm));
    }

    #[test]
    fn a_region_is_empty_or_two_capitals(locale in "\\PC{0,12}", zone in "\\PC{0,20}") {
        let region = region_of(&locale, &zone);
        prop_assert!(region.is_empty() || (region.len() == 2 && region.bytes().all(|byte| byte.is_ascii_uppercase())));
    }
}
