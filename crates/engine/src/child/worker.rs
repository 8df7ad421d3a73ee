//! The one thread that computes. Requests wait in a queue and are answered in order.

use super::loaded::Loaded;
use super::slot::{Slot, SlotError};
use super::text::{ReplyText, Step};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use std::num::NonZeroU32;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Longest text to embed, in tokens: an embedding model reads a text in one step.
const MAX_EMBED_TOKENS: u32 = 2048;
/// The same where the file names no window; BERT's own.
const UNKNOWN_EMBED_TOKENS: u32 = 512;
/// Candidates kept before anything else is computed; the rest of the vocabulary costs time and
/// is never chosen.
const TOP_K: i32 = 40;
/// Candidates less likely than this part of the best one are dropped.
const MIN_P: f32 = 0.05;
/// Tokens over which repetition is counted, where a request asks for a penalty.
const PENALTY_WINDOW: i32 = 256;

/// What keeps a small model ([`crate::ModelFile::is_small`]) on its way, found by reading its replies
/// over the conversation of the benchmark: without it the fifth reply is the fourth again, word by word.
/// Greedy choice and larger models are left alone.
mod small {
    /// Only the likeliest candidates count, or one odd word carries the rest of the reply away.
    pub(super) const TOP_K: i32 = 10;
    pub(super) const MIN_P: f32 = 0.3;
    /// How much less likely a token of the last `REPEAT_WINDOW` is made.
    pub(super) const REPEAT_PENALTY: f32 = 1.05;
    pub(super) const REPEAT_WINDOW: i32 = 64;
    /// "Don't repeat yourself": a token that would go on with a sequence of more than `SEQUENCE` tokens
    /// that was there before becomes less likely by `STRENGTH` × `GROWTH`^(its length beyond that). The
    /// method's own defaults but for a length of 3, which leaves common phrases free.
    pub(super) const STRENGTH: f32 = 0.8;
    pub(super) const GROWTH: f32 = 1.75;
    pub(super) const SEQUENCE: i32 = 3;
    /// Tokens looked back over, the conversation's among them.
    pub(super) const MEMORY: usize = 2048;
    /// A sequence ends here: lists and quotations may begin alike.
    pub(super) const BREAKERS: [&str; 4] = ["\n", ":", "\"", "*"];
}

/// How tokens are chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sampling {
    /// 0 = always the most likely token.
    pub temperature: f32,
    /// 0–1.
    pub top_p: f32,
    pub seed: u32,
    /// -2–2.
    pub frequency_penalty: f32,
    /// -2–2.
    pub presence_penalty: f32,
}

/// Which memory a request uses, so that background work does not push out the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SlotName {
    /// The conversation; kept from turn to turn.
    #[default]
    Chat,
    /// Summaries and the like. Its memory is taken at the first such request.
    Background,
}

/// A reply to write.
pub(crate) struct Generation {
    pub slot: SlotName,
    /// Not empty and shorter than the window.
    pub prompt: Vec<LlamaToken>,
    pub sampling: Sampling,
    pub max_tokens: usize,
    pub stops: Vec<String>,
    /// In llama.cpp's notation, with a rule `root`: nothing else can be written.
    pub grammar: Option<String>,
    /// Closed by the reader = nobody wants the reply any more.
    pub events: UnboundedSender<Generated>,
}

/// Texts to embed.
pub(crate) struct Embedding {
    pub inputs: Vec<Vec<LlamaToken>>,
    pub reply: oneshot::Sender<Result<Vec<Vec<f32>>, SlotError>>,
}

/// A request to the thread.
pub(crate) enum Work {
    Generate(Generation),
    Embed(Embedding),
}

/// What becomes of a reply.
#[derive(Debug)]
pub(crate) enum Generated {
    /// The prompt has been read; text follows.
    Started,
    /// More text, whole characters.
    Text(String),
    /// The end.
    Finished(Outcome),
    /// It broke off.
    Failed(SlotError),
}

/// The figures of a finished reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Ended by the token limit or the window, not by the model or a stop string.
    pub cut_short: bool,
    pub prompt_tokens: usize,
    /// Prompt tokens that were still in memory and cost nothing.
    pub cached_tokens: usize,
    pub completion_tokens: usize,
    pub prompt_time: Duration,
    pub completion_time: Duration,
}

/// Starts the thread. The first message on `ready` says whether the memory for the conversation
/// could be had.
pub(crate) fn start(loaded: Arc<Loaded>, ready: mpsc::Sender<Result<(), SlotError>>) -> std::io::Result<mpsc::Sender<Work>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().name("model".to_owned()).spawn(move || {
        let _guard = EndWithThread;
        if loaded.file.embedding {
            run_embedding(&loaded, &ready, &receiver);
        } else {
            run_chat(&loaded, &ready, &receiver);
        }
    })?;
    Ok(sender)
}

/// Without this thread the process is of no use; a defect that ends it must be seen as a crash.
struct EndWithThread;

impl Drop for EndWithThread {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

fn run_chat(loaded: &Loaded, ready: &mpsc::Sender<Result<(), SlotError>>, work: &mpsc::Receiver<Work>) {
    let mut chat = match Slot::new(loaded) {
        Ok(slot) => slot,
        Err(error) => return drop(ready.send(Err(error))),
    };
    let mut background = None;
    let _ = ready.send(Ok(()));
    while let Ok(work) = work.recv() {
        match work {
            Work::Generate(job) => {
                let events = job.events.clone();
                let result = match job.slot {
                    SlotName::Chat => generate(loaded, &mut chat, job),
                    SlotName::Background => background_slot(&mut background, loaded).and_then(|slot| generate(loaded, slot, job)),
                };
                // A reader that has gone needs no answer.
                let _ = match result {
                    Ok(outcome) => events.send(Generated::Finished(outcome)),
                    Err(error) => events.send(Generated::Failed(error)),
                };
            }
            Work::Embed(job) => drop(job.reply.send(Err(SlotError::NotAnEmbeddingModel))),
        }
    }
}

fn background_slot<'a, 'm>(slot: &'a mut Option<Slot<'m>>, loaded: &'m Loaded) -> Result<&'a mut Slot<'m>, SlotError> {
    match slot {
        Some(slot) => Ok(slot),
        None => Ok(slot.insert(Slot::new(loaded)?)),
    }
}

fn generate(loaded: &Loaded, slot: &mut Slot<'_>, job: Generation) -> Result<Outcome, SlotError> {
    let begin = Instant::now();
    let wanted = || !job.events.is_closed();
    let cached_tokens = slot.read(&job.prompt, wanted)?;
    let prompt_time = begin.elapsed();
    let _ = job.events.send(Generated::Started);
    let mut sampler = match &job.grammar {
        Some(grammar) => bound_sampler(loaded, &job.sampling, grammar)?,
        None => sampler(loaded, &job.sampling, &job.prompt),
    };
    let mut reply = ReplyText::new(job.stops);
    let vocab = loaded.model.vocab();
    let mut bytes = Vec::with_capacity(64);
    let mut completion_tokens = 0;
    let begin = Instant::now();
    let cut_short = loop {
        if completion_tokens == job.max_tokens {
            break true;
        }
        let token = slot.sample(&mut sampler);
        if vocab.is_eog(token) {
            break false;
        }
        completion_tokens += 1;
        bytes.clear();
        vocab.token_to_piece_into(token, &mut bytes, false, None);
        match reply.push(&bytes) {
            Step::Text(text) if text.is_empty() => {}
            Step::Text(text) => drop(job.events.send(Generated::Text(text))),
            Step::Stopped(text) => {
                let _ = job.events.send(Generated::Text(text));
                break false;
            }
        }
        if job.events.is_closed() {
            return Err(SlotError::Unwanted);
        }
        if slot.is_full() {
            break true;
        }
        if completion_tokens < job.max_tokens {
            slot.append(token)?;
        }
    };
    let rest = reply.finish();
    if !rest.is_empty() {
        let _ = job.events.send(Generated::Text(rest));
    }
    Ok(Outcome {
        cut_short,
        prompt_tokens: job.prompt.len(),
        cached_tokens,
        completion_tokens,
        prompt_time,
        completion_time: begin.elapsed(),
    })
}

fn sampler(loaded: &Loaded, sampling: &Sampling, prompt: &[LlamaToken]) -> LlamaSampler {
    let mut chain = Vec::with_capacity(8);
    if sampling.frequency_penalty != 0.0 || sampling.presence_penalty != 0.0 {
        chain.push(LlamaSampler::penalties(
            loaded.model.n_vocab(),
            PENALTY_WINDOW,
            1.0,
            sampling.frequency_penalty,
            sampling.presence_penalty,
        ));
    }
    if sampling.temperature <= 0.0 {
        chain.push(LlamaSampler::greedy());
        return LlamaSampler::chain(chain, true);
    }
    let is_small = loaded.file.is_small();
    let (top_k, min_p) = if is_small { (small::TOP_K, small::MIN_P) } else { (TOP_K, MIN_P) };
    // Cutting to the best candidates first makes every later step cheap.
    chain.push(LlamaSampler::top_k(top_k));
    if is_small {
        chain.extend(without_repetition(loaded));
    }
    chain.extend([
        LlamaSampler::temp(sampling.temperature),
        LlamaSampler::top_p(sampling.top_p, 1),
        LlamaSampler::min_p(min_p, 1),
        LlamaSampler::dist(sampling.seed),
    ]);
    let mut sampler = LlamaSampler::chain(chain, true);
    if is_small {
        sampler.accept_many(&prompt[prompt.len().saturating_sub(small::MEMORY)..]);
    }
    sampler
}

/// Chooses among what the grammar allows. It comes first, so that the candidates that are kept are allowed
/// ones, and nothing lowers repetitions: braces and quotation marks repeat.
fn bound_sampler(loaded: &Loaded, sampling: &Sampling, grammar: &str) -> Result<LlamaSampler, SlotError> {
    let bound = LlamaSampler::grammar(&loaded.model, grammar, "root")
        .map_err(|error| SlotError::Compute(format!("the grammar of the reply was refused: {error}")))?;
    if sampling.temperature <= 0.0 {
        return Ok(LlamaSampler::chain([bound, LlamaSampler::greedy()], true));
    }
    let chain = [
        bound,
        LlamaSampler::top_k(TOP_K),
        LlamaSampler::temp(sampling.temperature),
        LlamaSampler::top_p(sampling.top_p, 1),
        LlamaSampler::dist(sampling.seed),
    ];
    Ok(LlamaSampler::chain(chain, true))
}

fn without_repetition(loaded: &Loaded) -> [LlamaSampler; 2] {
    let memory = i32::try_from(small::MEMORY).unwrap_or(i32::MAX);
    [
        LlamaSampler::penalties(loaded.model.n_vocab(), small::REPEAT_WINDOW, small::REPEAT_PENALTY, 0.0, 0.0),
        LlamaSampler::dry(&loaded.model, small::STRENGTH, small::GROWTH, small::SEQUENCE, memory, small::BREAKERS),
    ]
}

fn run_embedding(loaded: &Loaded, ready: &mpsc::Sender<Result<(), SlotError>>, work: &mpsc::Receiver<Work>) {
    let limit = embedding_limit(loaded);
    let threads = i32::try_from(loaded.threads).unwrap_or(1);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(limit))
        .with_n_batch(limit)
        .with_n_ubatch(limit)
        .with_n_seq_max(1)
        .with_n_threads(threads)
        .with_n_threads_batch(threads)
        .with_embeddings(true)
        .with_no_perf(true);
    let mut context = match loaded.model.new_context(&loaded.backend, params) {
        Ok(context) => context,
        Err(_) => return drop(ready.send(Err(SlotError::NoMemory { window: limit }))),
    };
    let _ = ready.send(Ok(()));
    while let Ok(work) = work.recv() {
        match work {
            Work::Embed(job) => {
                let result =
                    job.inputs.iter().take_while(|_| !job.reply.is_closed()).map(|input| embed(&mut context, input)).collect();
                let _ = job.reply.send(result);
            }
            Work::Generate(job) => drop(job.events.send(Generated::Failed(SlotError::NotAChatModel))),
        }
    }
}

/// Most tokens of one text that this model embeds.
pub(crate) fn embedding_limit(loaded: &Loaded) -> u32 {
    match loaded.trained_window {
        0 => UNKNOWN_EMBED_TOKENS,
        window => window.min(MAX_EMBED_TOKENS),
    }
}

fn embed(context: &mut LlamaContext<'_>, input: &[LlamaToken]) -> Result<Vec<f32>, SlotError> {
    let mut batch = LlamaBatch::new(input.len().max(1), 1);
    batch.add_sequence(input, 0, true).map_err(|error| SlotError::Compute(error.to_string()))?;
    context.clear_kv_cache();
    context.decode(&mut batch).map_err(|error| SlotError::Compute(error.to_string()))?;
    let vector = context.embeddings_seq_ith(0).map_err(|_| SlotError::Compute("the model pools no embedding".to_owned()))?;
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    Ok(if length > 0.0 { vector.iter().map(|value| value / length).collect() } else { vector.to_vec() })
}
