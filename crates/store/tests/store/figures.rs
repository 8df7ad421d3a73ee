//! The work that grows with the history must not: counted in steps of SQLite's machine, which are
//! the same on every run, and, on request, in time.

use crate::room::{KEY, Room, at, conversation, conversation_id, message, message_id};
use evenkeel_domain::{ConversationQuery, SearchQuery};
use evenkeel_store::Store;
use std::time::{Duration, Instant};

/// About 40 words: common ones often, rare ones seldom, one that only this message has.
fn words(n: u64) -> String {
    let mut seed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = format!("unique{n}");
    for _ in 0..40 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // The fourth power makes a few of the 20,000 words common, as in a language.
        let share = (seed % 10_000) as f64 / 10_000.0;
        text.push(' ');
        text.push_str(&word((share.powi(4) * 20_000.0) as u64));
    }
    text
}

/// Letters for a number, the lowest digit first, so that words begin with all letters.
fn word(number: u64) -> String {
    let mut rest = number + 676;
    std::iter::from_fn(|| {
        let letter = (rest > 0).then(|| char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        letter
    })
    .collect()
}

fn chain(store: &Store, from: u64, to: u64) {
    store
        .write(|write| {
            for n in from..=to {
                let mut one = message(n, (n > 1).then(|| n - 1));
                one.content = words(n);
                write.insert_message(one)?;
            }
            Ok(())
        })
        .unwrap();
}

/// Time of `work`: the median and the 95th percentile of 200 runs.
fn timed(work: impl FnMut(u64)) -> (Duration, Duration) {
    timed_for(200, work)
}

fn timed_for(runs: u64, mut work: impl FnMut(u64)) -> (Duration, Duration) {
    let mut times: Vec<_> = (0..runs)
        .map(|n| {
            let start = Instant::now();
            work(n);
            start.elapsed()
        })
        .collect();
    times.sort();
    (times[times.len() / 2], times[times.len() * 19 / 20])
}

#[test]
#[ignore = "prints times; run with EVENKEEL_FIGURES_N=1000000 --nocapture"]
fn measure() {
    let most: u64 = std::env::var("EVENKEEL_FIGURES_N").map_or(100_000, |n| n.parse().unwrap());
    let room = Room::furnished();
    let mut have = 0;
    for n in [1_000, most / 10, most] {
        let start = Instant::now();
        chain(&room.store, have + 1, n);
        println!("{n} messages: {} inserted in {:?}", n - have, start.elapsed());
        have = n;
        let open = timed(|_| assert_eq!(room.store.read(|read| read.path(message_id(have), 50)).unwrap().len(), 50));
        let page = timed(|_| assert_eq!(room.store.read(|read| read.path_before(message_id(have / 2), 50)).unwrap().len(), 50));
        let append = timed(|_| {
            have += 1;
            chain(&room.store, have, have);
        });
        let draft = timed(|n| {
            room.store
                .write(|write| write.put_draft(&crate::room::draft(1 << 40, have, &"x".repeat(20 * n as usize), 1)))
                .unwrap()
        });
        let key = timed(|_| {
            let store = Store::open(&room.path(), &KEY, at(0)).unwrap();
            assert_eq!(store.read(|read| read.path(message_id(have), 50)).unwrap().len(), 50);
        });
        let list = timed(|_| drop(room.read(|read| read.conversations_page(&ConversationQuery::default()))));
        let search = |text: &str| {
            let query = SearchQuery { text: text.into(), limit: 20, ..SearchQuery::default() };
            timed_for(20, |_| drop(room.read(|read| read.search_messages(&query))))
        };
        let (one, two) = (word(0), word(1));
        let (common, rare, both) = (search(&one), search("unique77"), search(&format!("{one} {two}")));
        let (letter, unspaced) = (search("a"), search("海"));
        println!(
            "  list page {list:?}  search: common {common:?} rare {rare:?} two {both:?} one letter {letter:?} scan {unspaced:?}"
        );
        println!(
            "  newest 50 {open:?}  page above the middle {page:?}  append {append:?}  draft {draft:?}  key to first page {key:?}"
        );
    }
    beyond_one_conversation(&room, have);
}

fn beyond_one_conversation(room: &Room, have: u64) {
    let start = Instant::now();
    room.store.read(|read| read.deepest_leaf(message_id(1))).unwrap();
    println!("branch switch at the first of {have} messages: {:?}", start.elapsed());
    room.write(|write| {
        for number in 2..5_000 {
            write.insert_conversation(&conversation(number, 1))?;
        }
        Ok(())
    });
    let list = timed(|_| drop(room.read(|read| read.conversations_page(&ConversationQuery::default()))));
    println!("list page of 5,000 conversations: {list:?}");
    let start = Instant::now();
    println!("{:?} in {:?}", room.read(|read| read.vault_statistics()), start.elapsed());
    room.write(|write| {
        for n in 1..=200 {
            let mut one = message(1_000_000_000 + n, None);
            (one.conversation_id, one.content) = (conversation_id(2), words(n));
            write.insert_message(one)?;
        }
        Ok(())
    });
    let start = Instant::now();
    room.write(|write| write.delete_conversation(conversation_id(2)));
    println!("deletion of 200 of {have} messages: {:?}", start.elapsed());
    let start = Instant::now();
    crate::sharing::raw(&room.path()).execute("INSERT INTO message_index (message_index) VALUES ('rebuild')", []).unwrap();
    println!("index of {have} messages anew, as in the migration: {:?}", start.elapsed());
    let start = Instant::now();
    room.store.write(|write| write.delete_conversation(conversation_id(1))).unwrap();
    println!("deletion of {have} messages: {:?}", start.elapsed());
}
