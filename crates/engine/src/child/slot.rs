//! The memory (KV cache) of one line of work, and what of it can be used again.

use super::loaded::Loaded;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Most prompt tokens that are computed in one step.
const MAX_STEP: usize = 512;
/// Prompt tokens of the first step, and the fewest of any.
const MIN_STEP: usize = 64;
/// A step lasts about this long at most, so that a request nobody wants any more ends soon. Not
/// less: steps of 120 tokens read a prompt 0.8 times as fast as steps of 512.
const STEP_TIME: Duration = Duration::from_secs(2);
/// The one sequence of a context.
const SEQUENCE: i32 = 0;

/// Why a request to the model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SlotError {
    /// The memory for the window could not be had.
    #[error(
        "There is not enough memory for a window of {window} tokens. Close other programs, lower the context size, or choose a smaller model."
    )]
    NoMemory { window: u32 },
    /// llama.cpp failed.
    #[error("The model could not compute this request: {0}. Try again; if it happens again, choose another model.")]
    Compute(String),
    /// The reader has gone.
    #[error("the request was cancelled")]
    Unwanted,
    #[error("This model writes replies and makes no embeddings. Choose an embedding model.")]
    NotAnEmbeddingModel,
    #[error("This model makes embeddings and cannot chat. Choose a chat model.")]
    NotAChatModel,
}

/// A context with the tokens it holds. Each line of work has its own, since in a shared one every
/// token of one would pay for the memory of the other.
pub(crate) struct Slot<'m> {
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    /// The tokens whose state the context holds, in order.
    held: Vec<LlamaToken>,
    window: usize,
    /// Index in the last batch of the token whose successor is to be chosen.
    last: i32,
    step: usize,
}

impl<'m> Slot<'m> {
    /// Takes the memory for the whole window.
    pub fn new(loaded: &'m Loaded) -> Result<Self, SlotError> {
        let threads = i32::try_from(loaded.threads).unwrap_or(1);
        let step = u32::try_from(MAX_STEP).unwrap_or(512);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(loaded.window))
            .with_n_batch(step)
            .with_n_ubatch(step)
            .with_n_seq_max(1)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_no_perf(true);
        let context =
            loaded.model.new_context(&loaded.backend, params).map_err(|_| SlotError::NoMemory { window: loaded.window })?;
        let window = loaded.window as usize;
        Ok(Self {
            context,
            batch: LlamaBatch::new(MAX_STEP, 1),
            held: Vec::with_capacity(window),
            window,
            last: 0,
            step: MIN_STEP,
        })
    }

    /// Reads `prompt`, computing only what follows the part that is still held. Returns the
    /// length of that part. Stops between steps when `wanted` turns false.
    pub fn read(&mut self, prompt: &[LlamaToken], wanted: impl Fn() -> bool) -> Result<usize, SlotError> {
        let kept = self.keep(prompt)?;
        let mut at = kept;
        while at < prompt.len() {
            if !wanted() {
                return Err(SlotError::Unwanted);
            }
            let end = prompt.len().min(at + self.step);
            let begin = Instant::now();
            self.decode(&prompt[at..end], end == prompt.len())?;
            self.adapt(end - at, begin.elapsed());
            at = end;
        }
        Ok(kept)
    }

    /// Chooses the next token.
    pub fn sample(&self, sampler: &mut LlamaSampler) -> LlamaToken {
        sampler.sample(&self.context, self.last)
    }

    /// Adds a chosen token.
    pub fn append(&mut self, token: LlamaToken) -> Result<(), SlotError> {
        self.decode(&[token], true)
    }

    /// Whether no further token fits.
    pub fn is_full(&self) -> bool {
        self.held.len() >= self.window
    }

    fn keep(&mut self, prompt: &[LlamaToken]) -> Result<usize, SlotError> {
        let common = self.held.iter().zip(prompt).take_while(|(held, new)| held == new).count();
        // The last token is computed again at least, for what follows it.
        let kept = common.min(prompt.len().saturating_sub(1));
        let from = u32::try_from(kept).map_err(|error| SlotError::Compute(error.to_string()))?;
        // Recurrent models cannot forget a part; they read everything again.
        let removed = self.context.clear_kv_cache_seq(Some(0), Some(from), None).unwrap_or(false);
        let kept = if removed { kept } else { 0 };
        if !removed {
            self.context.clear_kv_cache();
        }
        self.held.truncate(kept);
        Ok(kept)
    }

    fn decode(&mut self, tokens: &[LlamaToken], choose_next: bool) -> Result<(), SlotError> {
        self.batch.clear();
        for (offset, token) in tokens.iter().enumerate() {
            let position = i32::try_from(self.held.len() + offset).map_err(|error| SlotError::Compute(error.to_string()))?;
            let is_last = choose_next && offset + 1 == tokens.len();
            self.batch.add(*token, position, &[SEQUENCE], is_last).map_err(|error| SlotError::Compute(error.to_string()))?;
        }
        if let Err(error) = self.context.decode(&mut self.batch) {
            // What the context holds after a failure is not known.
            self.context.clear_kv_cache();
            self.held.clear();
            return Err(SlotError::Compute(error.to_string()));
        }
        self.held.extend_from_slice(tokens);
        self.last = self.batch.n_tokens() - 1;
        Ok(())
    }

    fn adapt(&mut self, tokens: usize, took: Duration) {
        if tokens < MIN_STEP {
            return;
        }
        let fitting = tokens as f64 * STEP_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
        self.step = (fitting as usize).clamp(MIN_STEP, MAX_STEP);
    }
}
