//! Building a prompt: what a message costs between the send button and the request.
//!
//! Our side reads the messages of the window from the encrypted vault and builds the whole prompt from
//! them; the peer trims a list that it holds in memory.

use super::trimmer::Trimmer;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::statistics::median;
use crate::store::population::LONG;
use crate::store::vault::{LongThread, Vault};
use evenkeel_domain::{MessageId, Revision};
use evenkeel_prompt::{BuildInput, Builder, HistoryMessage, O200k, Prompt};
use evenkeel_store::{ReadHandle, Store, StoreError};
use std::time::Instant;

/// Tokens of history.
pub const BUDGETS: [u32; 2] = [4_000, 32_000];
/// Milliseconds of one build at the smaller budget.
const MOST: f64 = 2.0;
/// How many times slower the peer is, at [`JUDGED`] messages and the smaller budget.
const LEAST_RATIO: f64 = 100.0;
const JUDGED: usize = 100_000;
/// Builds of ours beside each of the peer's.
const BLOCK: usize = 20;
/// Runs of the peer on conversations that take it seconds.
const FEW: usize = 3;
/// Messages that are read at first, as the app does.
const FIRST_READ: u32 = 256;
const USER_TEXT: &str = "And now?";

/// Measures each length and each budget.
pub fn measure(vault: &Vault, runs: usize, progress: Progress) -> Result<Report, BenchError> {
    let (store, mut peer) = (vault.store()?, Trimmer::start()?);
    let threads = vault.long_threads(&store)?;
    let mut rows = Vec::new();
    for budget in BUDGETS {
        let mut growth = Vec::new();
        for (thread, length) in threads.iter().zip(LONG) {
            progress.say(&format!("prompt build: {length} messages, {budget} tokens of history …"));
            let place = Place::new(&store, thread, budget)?;
            let few = if length > JUDGED { runs.min(FEW) } else { runs };
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for run in 0..=few {
                // A B B A; the first run warms both sides.
                let times = [place.times()?, vec![peer.trim(length, budget)?, peer.trim(length, budget)?], place.times()?];
                if run > 0 {
                    let [first, peer, second] = times;
                    ours.extend(first.into_iter().chain(second));
                    theirs.extend(peer);
                }
            }
            growth.push(median(&ours));
            rows.extend(rows_of(length, budget, median(&ours), median(&theirs)));
        }
        if let (Some(first), Some(last)) = (growth.first(), growth.last()) {
            let what = format!("prompt build, {budget} tokens: 1,000,000 messages / 1,000 messages");
            rows.push(Row::reported(what, last / first));
        }
    }
    Ok(Report { rows, preface: String::new() })
}

fn rows_of(length: usize, budget: u32, ours: f64, theirs: f64) -> Vec<Row> {
    let what = format!("prompt build, {length} messages, {budget} tokens");
    let small = budget == BUDGETS[0];
    let time = format!("{what}: median (ms)");
    let ratio = format!("{what}: LangChain's trim_messages / ours");
    vec![
        if small { Row::at_most(time, ours, MOST) } else { Row::reported(time, ours) },
        Row::reported(format!("{what}: LangChain's trim_messages, median (ms)"), theirs),
        if small && length == JUDGED {
            Row::at_least(ratio, theirs / ours, LEAST_RATIO)
        } else {
            Row::reported(ratio, theirs / ours)
        },
    ]
}

/// A conversation with the window that its last request had.
pub struct Place<'a> {
    store: &'a Store,
    revision: &'a Revision,
    leaf: MessageId,
    budget: u32,
    start: Option<MessageId>,
}

impl<'a> Place<'a> {
    /// Ready once a build begins where the one before did.
    pub fn new(store: &'a Store, thread: &'a LongThread, budget: u32) -> Result<Self, BenchError> {
        let mut place = Self { store, revision: &thread.revision, leaf: thread.leaf, budget, start: None };
        place.start = place.build()?.window_start;
        let prompt = place.build()?;
        if prompt.window_start != place.start || prompt.meter.history_tokens == 0 {
            return Err(BenchError::Worthless("the window of a conversation does not stay".to_owned()));
        }
        Ok(place)
    }

    /// Milliseconds of each build of a block.
    fn times(&self) -> Result<Vec<f64>, BenchError> {
        (0..BLOCK)
            .map(|_| {
                let began = Instant::now();
                let prompt = self.build()?;
                let time = began.elapsed().as_secs_f64() * 1_000.0;
                drop(prompt);
                Ok(time)
            })
            .collect()
    }

    /// Reads and builds as the app does.
    pub fn build(&self) -> Result<Prompt, BenchError> {
        let (texts, earlier) = self.store.read(|read| self.texts(read))?;
        let history: Vec<HistoryMessage<'_>> = texts
            .iter()
            .map(|text| HistoryMessage {
                id: text.id,
                role: text.role,
                content: &text.content,
                tokens: text.tokens.unwrap_or_default(),
                prefix: "",
                edits: &[],
            })
            .collect();
        let built = Builder::new(BuildInput {
            revision: self.revision,
            history: &history,
            earlier,
            user_text: USER_TEXT,
            user_edits: &[],
            follow_up: None,
            now: chrono::DateTime::UNIX_EPOCH,
            zone: "Europe/Berlin",
            maintain_personality: true,
            anchor_from_turn: 3,
            turn: 1_000,
            window: 128_000,
            max_tokens: 1_000,
            max_history_tokens: self.budget,
            evicted_before: self.start,
            counter: &O200k,
            counts_are_estimates: false,
        })
        .build();
        built.map_err(|error| BenchError::Worthless(format!("the prompt cannot be built: {error}")))
    }

    /// Reads what the app reads.
    fn texts(&self, read: &ReadHandle<'_>) -> Result<(Vec<evenkeel_store::BranchText>, u32), StoreError> {
        let depth = read.branch_length(self.leaf)?;
        let mut limit = FIRST_READ;
        loop {
            let texts = read.branch_texts(self.leaf, self.start, limit)?;
            let tokens: u64 = texts.iter().filter_map(|text| text.tokens).map(u64::from).sum();
            let found = u32::try_from(texts.len()).unwrap_or(u32::MAX);
            if found < limit || tokens > u64::from(self.budget) * 2 {
                return Ok((texts, depth.saturating_sub(found)));
            }
            limit = limit.saturating_mul(4);
        }
    }
}
