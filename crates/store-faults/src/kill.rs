//! SIGKILL in the middle of writing: what was acknowledged is there afterwards, in an unbroken chain.

use crate::error::{FaultError, promise};
use crate::scene::{TALK, at, conversation_id, furnish, message, message_id};
use evenkeel_store::Store;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Names the folder of the vault to a child.
pub const FOLDER: &str = "EVENKEEL_FAULTS_FOLDER";
const KEY: [u8; 32] = *b"a key, and a constant of tests. ";
const FILE: &str = "vault.db";
/// Rounds in one vault: looking takes time in proportion to what is in it.
const OF_A_VAULT: u64 = 40;

/// How the rounds went; they went well, or it would have been an error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Killed {
    /// Children that were killed.
    pub rounds: u64,
    /// Messages that they said were saved.
    pub acknowledged: u64,
}

/// Kills a writing child so many times, 20–200 ms after its first acknowledgement, and looks each time.
/// `child` starts a process that calls [`writing_child`].
///
/// # Errors
/// `Broken` if an acknowledged message is gone or the vault is not clean.
pub fn rounds(rounds: u64, child: &dyn Fn() -> Command) -> Result<Killed, FaultError> {
    let mut killed = Killed::default();
    while killed.rounds < rounds {
        in_one_vault(rounds.min(killed.rounds + OF_A_VAULT), child, &mut killed)?;
    }
    Ok(killed)
}

fn in_one_vault(until: u64, child: &dyn Fn() -> Command, killed: &mut Killed) -> Result<(), FaultError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join(FILE);
    furnish(&Store::create(&path, &KEY, at(0))?)?;
    let mut before = 0;
    while killed.rounds < until {
        let round = killed.rounds;
        let mut command = child();
        command.env(FOLDER, folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Spread evenly by a multiplicative sequence.
        let said = kill_after(command.spawn()?, Duration::from_millis(20 + round * 73 % 181))?;
        let store = Store::open(&path, &KEY, at(0))?;
        let newest = said.max(before);
        let branch = store.read(|read| if newest == 0 { Ok(Vec::new()) } else { read.path(message_id(newest), u32::MAX) })?;
        promise(branch.len() as u64 == newest, || format!("round {round}: {} of {newest} messages are there", branch.len()))?;
        let findings = store.full_check()?;
        promise(findings.is_empty(), || format!("round {round}: {findings:?}"))?;
        killed.rounds += 1;
        killed.acknowledged += newest - before;
        // Saved, though nobody was told any more.
        before = store.read(|read| read.conversation(conversation_id(TALK)))?.map_or(0, |found| found.message_count.into());
    }
    Ok(())
}

/// Lets a child write for a while, kills it, and answers the last number that it said.
fn kill_after(mut process: Child, delay: Duration) -> Result<u64, FaultError> {
    let broken = || FaultError::Broken("the child that writes said nothing".to_owned());
    let mut reader = BufReader::new(process.stdout.take().ok_or_else(broken)?);
    let mut text = String::new();
    // The time runs from the first acknowledgement, so that each round writes something.
    while !text.contains("SAVED ") {
        if reader.read_line(&mut text)? == 0 {
            return Err(FaultError::Broken(format!("the child that writes ended by itself: {text}")));
        }
    }
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| std::io::read_to_string(reader));
        std::thread::sleep(delay);
        process.kill()?;
        text.push_str(&rest.join().map_err(|_| broken())??);
        process.wait()?;
        // A line without its end was cut off by the signal and promises nothing.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let last = whole.lines().rev().find_map(|line| line.strip_prefix("SAVED ")?.parse().ok());
        last.ok_or_else(broken)
    })
}

/// The child: writes messages for ever and prints the number of each once it is committed.
///
/// # Errors
/// The vault cannot be opened or written, or nobody listens.
pub fn writing_child(folder: &Path) -> Result<(), FaultError> {
    let store = Store::open(&folder.join(FILE), &KEY, at(0))?;
    let said = store.read(|read| read.conversation(conversation_id(TALK)))?.map_or(0, |found| found.message_count);
    for number in u64::from(said) + 1.. {
        let parent = (number > 1).then(|| number - 1);
        let words = 1 + usize::try_from(number % 90).unwrap_or(0);
        store.write(|write| write.insert_message(message(number, parent, TALK, words)))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nSAVED {number}")?;
        out.flush()?;
    }
    Ok(())
}
