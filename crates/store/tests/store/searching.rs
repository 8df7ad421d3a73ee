//! Searching what was said.

use crate::room::{Room, at, context, context_id, conversation, conversation_id, message, message_id};
use evenkeel_domain::{ErrorCode, MessageId, Role, SearchHit, SearchQuery};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn config(seed: u64) -> Config {
    Config { cases: 64, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Config::default() }
}

fn query(text: &str) -> SearchQuery {
    SearchQuery { text: text.into(), limit: 100, ..SearchQuery::default() }
}

fn said(texts: &[&str]) -> Room {
    let room = Room::furnished();
    room.write(|write| {
        for (number, text) in (1..).zip(texts) {
            let mut one = message(number, None);
            one.content = (*text).to_owned();
            write.insert_message(one)?;
        }
        Ok(())
    });
    room
}

fn found(room: &Room, query: &SearchQuery) -> Vec<MessageId> {
    room.read(|read| read.search_messages(query)).into_iter().map(|hit| hit.message_id).collect()
}

fn ids(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().map(|&number| message_id(number)).collect()
}

fn shown(hit: &SearchHit) -> String {
    hit.snippet.iter().map(|part| if part.is_match { format!("[{}]", part.text) } else { part.text.clone() }).collect()
}

#[test]
fn all_words_have_to_be_there_and_the_last_may_go_on() {
    let room = said(&["the calm sea", "a calm counselor", "Sea, calming!", "nothing"]);
    let find = |text: &str| found(&room, &query(text));
    assert_eq!(find("calm"), ids(&[3, 2, 1]));
    assert_eq!(find("calm sea"), ids(&[1]), "the first word is whole");
    assert_eq!(find("sea calm"), ids(&[3, 1]));
    assert_eq!(find("CALM coun"), ids(&[2]));
    assert_eq!((find("alm"), find(""), find(" ")), (vec![], vec![], vec![]));
}

#[test]
fn writings_of_the_world_are_found() {
    let room =
        said(&["Grüße aus Köln", "東京の海は静かです", "สวัสดีครับ", "Привет, море", "서울에 왔어요", "high 🌊 tide", "naïve café"]);
    let find = |text: &str| found(&room, &query(text));
    assert_eq!(
        (find("grusse"), find("GRÜSSE"), find("grüße koln")),
        (vec![], vec![], ids(&[1])),
        "marks do not count, ß is its own"
    );
    assert_eq!((find("海"), find("静か"), find("東京 海"), find("海 京都")), (ids(&[2]), ids(&[2]), ids(&[2]), vec![]));
    assert_eq!(
        (find("ดีครับ"), find("МОРЕ"), find("서울"), find("🌊"), find("cafe naive")),
        (ids(&[3]), ids(&[4]), ids(&[5]), ids(&[6]), ids(&[7]))
    );
    let hit = room.read(|read| read.search_messages(&query("海"))).remove(0);
    assert_eq!(shown(&hit), "東京の[海]は静かです");
}

#[test]
fn a_hit_says_where_and_shows_what() {
    let room = said(&["before", "quite a calm sea it was, and calmer later"]);
    let hit = room.read(|read| read.search_messages(&query("it calm"))).remove(0);
    assert_eq!(shown(&hit), "quite a [calm] sea [it] was, and [calmer] later");
    assert_eq!((hit.message_id, hit.conversation_id, hit.context_id), (message_id(2), conversation_id(1), context_id(1)));
    assert_eq!((hit.conversation_title.as_str(), hit.role, hit.created_at), ("Thread 1", Role::Assistant, at(12)));
    let long = said(&[&format!("{} needle {}", "hay ".repeat(500), "hay ".repeat(500))]);
    let hit = long.read(|read| read.search_messages(&query("needle"))).remove(0);
    assert!(shown(&hit).contains("[needle]") && shown(&hit).chars().count() < 300);
}

#[test]
fn filters_and_pages_narrow_it_down() {
    let room = said(&["calm 1", "calm 2", "calm 3", "calm 4"]);
    let (other, revision) = context(2, "Other");
    let mut elsewhere = message(9, None);
    (elsewhere.conversation_id, elsewhere.context_id, elsewhere.content) = (conversation_id(2), context_id(2), "calm 海".into());
    room.write(|write| {
        write.insert_context(&other, &revision)?;
        write.insert_conversation(&conversation(2, 2))?;
        write.insert_message(elsewhere).map(drop)
    });
    let of = |context| SearchQuery { context_id: Some(context_id(context)), ..query("calm") };
    assert_eq!((found(&room, &of(2)), found(&room, &of(1)).len(), found(&room, &of(3))), (ids(&[9]), 4, vec![]));
    let between = SearchQuery { from: Some(at(12)), until: Some(at(14)), ..query("calm") };
    assert_eq!(found(&room, &between), ids(&[3, 2]));
    let first = room.read(|read| read.search_messages(&SearchQuery { limit: 2, ..query("calm") }));
    assert_eq!(first.iter().map(|hit| hit.message_id).collect::<Vec<_>>(), ids(&[9, 4]));
    // What the page ended with may be gone by then.
    room.write(|write| write.delete_message(message_id(4), at(900)));
    let rest = SearchQuery { before: Some(first[1].cursor.clone()), ..query("calm") };
    assert_eq!(found(&room, &rest), ids(&[3, 2, 1]));
    let bad = SearchQuery { before: Some("x".into()), ..query("calm") };
    assert_eq!(room.store.read(|read| read.search_messages(&bad)).unwrap_err().code(), ErrorCode::Internal);
}

#[test]
fn nothing_is_found_in_the_trash_or_after_deletion() {
    let room = said(&["calm 海", "calm 海"]);
    let both = || (found(&room, &query("calm")).len(), found(&room, &query("海")).len());
    room.write(|write| write.delete_message(message_id(2), at(900)));
    assert_eq!(both(), (1, 1));
    room.write(|write| write.restore_message(message_id(2)));
    assert_eq!(both(), (2, 2));
    room.write(|write| write.trash_conversations(&[conversation_id(1)], at(901)));
    assert_eq!(both(), (0, 0));
    room.write(|write| write.restore_conversations(&[conversation_id(1)]));
    room.write(|write| write.trash_context(context_id(1), at(902)));
    assert_eq!(both(), (0, 0));
    room.write(|write| write.restore_context(context_id(1), at(903), None));
    assert_eq!(both(), (2, 2));
}

/// Messages that have every word, the last one as a beginning if it has three letters: read one by one.
fn scanned(texts: &[Vec<&'static str>], words: &[String]) -> Vec<MessageId> {
    let has = |text: &[&str]| {
        let Some((last, rest)) = words.split_last() else { return false };
        let is_last = |one: &&str| if last.len() >= 3 { one.starts_with(last.as_str()) } else { *one == last.as_str() };
        rest.iter().all(|word| text.contains(&word.as_str())) && text.iter().any(is_last)
    };
    let mut found: Vec<_> = (1..).zip(texts).filter(|(_, text)| has(text)).map(|(number, _)| message_id(number)).collect();
    found.reverse();
    found
}

const WORDS: [&str; 9] = ["a", "an", "ant", "and", "or", "not", "near", "calm", "calmly"];

#[test]
fn a_search_finds_what_a_look_at_every_message_finds() {
    let text = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6);
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4);
    proptest!(Config { cases: 24, ..config(41) }, |(texts in prop::collection::vec(text, 1..30), asked in prop::collection::vec((words, 1..7_usize), 12), gone in prop::collection::vec(any::<prop::sample::Index>(), 0..6))| {
        let joined: Vec<String> = texts.iter().map(|text| text.join(", ").to_uppercase()).collect();
        let room = said(&joined.iter().map(String::as_str).collect::<Vec<_>>());
        let mut kept = texts.clone();
        for index in &gone {
            let at_place = index.index(kept.len());
            if !kept[at_place].contains(&"gone") {
                room.write(|write| write.delete_message(message_id(at_place as u64 + 1), at(900)));
                kept[at_place] = vec!["gone"];
            }
        }
        for (words, cut) in asked {
            let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let last = words.last_mut().unwrap();
            last.truncate(cut);
            let expected = scanned(&kept, &words);
            prop_assert_eq!(found(&room, &query(&words.join(" "))), expected, "{:?}", words);
        }
    });
}

#[test]
fn no_text_is_an_error() {
    let room = said(&["a calm \"sea\" AND more", "海の*", "-x:(y)^ NEAR"]);
    let nasty = prop_oneof![
        4 => any::<String>(),
        4 => "[ \"*^():+{}a-zA-Z0-9-]{0,40}",
        1 => Just("AND".to_owned()),
        1 => Just("NEAR(a b, 3)".to_owned()),
        1 => Just("user_text : a".to_owned()),
        1 => Just("a ".repeat(500)),
        1 => Just("\"".repeat(999)),
    ];
    proptest!(Config { cases: 400, ..config(51) }, |(text in nasty)| {
        prop_assert!(room.store.read(|read| read.search_messages(&query(&text))).is_ok(), "{:?}", text);
    });
    assert_eq!(found(&room, &query("\"sea\" AND")), ids(&[1]));
}

#[test]
fn pages_of_hits_hold_each_message_once_whatever_happens_meanwhile() {
    proptest!(Config { cases: 16, ..config(61) }, |(limit in 1..7_u32, gone in prop::collection::vec(1..40_u64, 40))| {
        let room = said(&["calm"; 40]);
        let (mut next, mut deleted, mut seen, mut before) = (40, Vec::new(), Vec::new(), None);
        for victim in gone {
            let page = room.read(|read| read.search_messages(&SearchQuery { limit, before: before.clone(), ..query("calm") }));
            let Some(last) = page.last() else { break };
            before = Some(last.cursor.clone());
            seen.extend(page.iter().map(|hit| hit.message_id));
            next += 1;
            let mut newer = message(next, None);
            newer.content = "calm".into();
            room.write(|write| write.insert_message(newer.clone()));
            if !deleted.contains(&message_id(victim)) {
                deleted.push(message_id(victim));
                room.write(|write| write.delete_message(message_id(victim), at(900)));
            }
        }
        let stayed: Vec<_> = (1..=40).map(message_id).filter(|id| !deleted.contains(id)).collect();
        prop_assert!(stayed.iter().all(|id| seen.iter().filter(|one| *one == id).count() == 1));
        prop_assert!(seen.windows(2).all(|pair| pair[0] > pair[1]), "newest first, none twice");
    });
}
