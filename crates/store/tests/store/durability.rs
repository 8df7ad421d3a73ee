//! What was acknowledged survives SIGKILL.

use crate::room::{KEY, Room, at, context_id, conversation_id, draft, message};
use crate::sharing::raw;
use evenkeel_domain::{MessageId, MessageStatus};
use evenkeel_store::Store;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PATH: &str = "EVENKEEL_STORE_CHILD_PATH";
const CONVERSATION: &str = "EVENKEEL_STORE_CHILD_CONVERSATION";
const COUNT: &str = "EVENKEEL_STORE_CHILD_COUNT";

/// Starts this test binary again as a process that writes `count` messages (0: for ever) to a
/// conversation and prints the id of each once it is committed.
pub fn child(path: &Path, conversation: u64, count: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durability::writing_child", "--ignored", "--nocapture"])
        .env(PATH, path)
        .env(CONVERSATION, conversation.to_string())
        .env(COUNT, count.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the other process of the tests in this file; does nothing by itself"]
fn writing_child() {
    let Ok(path) = std::env::var(PATH) else { return };
    let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (conversation, count) = (conversation_id(number(CONVERSATION)), number(COUNT));
    let store = Store::open(path.as_ref(), &KEY, at(0)).unwrap();
    let owner = std::process::id();
    let mut parent = store.read(|read| read.conversation(conversation)).unwrap().unwrap().active_leaf_id;
    let mut written = store.read(|read| read.message_count(context_id(1))).unwrap();
    for n in 0_u64.. {
        if count > 0 && n == count {
            break;
        }
        written += 1;
        // Ids have to differ between the rounds and between the processes.
        let id = MessageId::from_parts(at(0), unique(owner, n));
        let mut one = message(written, None);
        (one.id, one.conversation_id, one.parent_id) = (id, conversation, parent);
        one.content = format!("message {n} of process {owner} ").repeat(1 + usize::try_from(n % 90).unwrap());
        store.write(|write| write.insert_message(one)).unwrap();
        say("SAVED", id);
        parent = Some(id);
        let mut reply = draft(1, 1, &format!("draft {n}"), owner);
        (reply.reply_id, reply.conversation_id, reply.parent_id) =
            (MessageId::from_parts(at(1), unique(owner, 0)), conversation, parent);
        if count == 0 {
            store.write(|write| write.put_draft(&reply)).unwrap();
            say("DRAFT", n);
        }
    }
}

fn unique(process: u32, n: u64) -> [u8; 10] {
    let mut random = [0; 10];
    random[..4].copy_from_slice(&process.to_be_bytes());
    random[4..].copy_from_slice(&n.to_be_bytes()[2..]);
    random
}

fn say(word: &str, what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{word} {what}").unwrap();
    out.flush().unwrap();
}

/// What a child said before it was killed.
struct Acknowledged {
    saved: Vec<MessageId>,
    drafts: Option<u64>,
}

fn kill_after(path: &Path, delay: Duration) -> Acknowledged {
    let mut process = child(path, 1, 0);
    let mut reader = BufReader::new(process.stdout.take().unwrap());
    let mut text = String::new();
    // The time runs from the first acknowledgement, so that each round writes something.
    while !text.contains("SAVED") {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "the child ended by itself: {text}");
    }
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| std::io::read_to_string(reader).unwrap());
        std::thread::sleep(delay);
        process.kill().unwrap();
        text.push_str(&rest.join().unwrap());
    });
    process.wait().unwrap();
    // A line without its end was cut off by the signal and promises nothing.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let said = |word: &'static str| whole.lines().filter_map(move |line| line.strip_prefix(word)?.strip_prefix(' '));
    Acknowledged {
        saved: said("SAVED").map(|id| id.parse().unwrap()).collect(),
        drafts: said("DRAFT").next_back().map(|n| n.parse().unwrap()),
    }
}

#[test]
fn nothing_acknowledged_is_lost_to_sigkill() {
    let rounds: u64 = std::env::var("EVENKEEL_KILL_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    let room = Room::furnished();
    let (path, folder) = (room.path(), room.folder);
    drop(room.store);
    let mut total = 0;
    for round in 0..rounds {
        // 20–200 ms, spread evenly by a multiplicative sequence.
        let delay = Duration::from_millis(20 + (round * 73) % 181);
        let acknowledged = kill_after(&path, delay);
        let store = Store::open(&path, &KEY, at(0)).unwrap();
        total += acknowledged.saved.len();
        for id in &acknowledged.saved {
            assert!(store.read(|read| read.message(*id)).unwrap().is_some(), "round {round}: {id} is lost");
        }
        let recovered = store.write(|write| write.recover_drafts(at(1_000), |_| true)).unwrap();
        if let Some(n) = acknowledged.drafts {
            let reply = &recovered[0];
            let kept: u64 = reply.content.strip_prefix("draft ").unwrap().parse().unwrap();
            assert!(kept >= n && reply.status == MessageStatus::Interrupted, "round {round}: draft {n} became {}", reply.content);
        }
        assert_eq!(store.full_check().unwrap(), Vec::<String>::new(), "round {round}");
        let newest = *acknowledged.saved.last().unwrap();
        let branch = store.read(|read| read.path(newest, u32::MAX)).unwrap();
        assert!(acknowledged.saved.iter().all(|id| branch.iter().any(|one| one.id == *id)), "round {round}: the chain is broken");
        let conversation = store.read(|read| read.conversation(conversation_id(1))).unwrap().unwrap();
        let rows: u32 = raw(&path).query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, conversation.message_count, "round {round}: a message and its count are one transaction");
    }
    println!("{rounds} rounds, {total} acknowledged messages, 0 lost");
    drop(folder);
}
