//! Counting tokens: exact for o200k, scaled for relatives of it, estimated for the rest.

/// Tokens that a chat template puts around one message: role, markers, line ends (ChatML and
/// Llama 3 take five, OpenAI four).
pub const FRAME_TOKENS: u32 = 5;

/// Counts the tokens of a text, always with the same result for the same text.
pub trait TokenCounter {
    /// Tokens of the text without any framing; saturates at `u32::MAX`.
    fn count(&self, text: &str) -> u32;

    /// The tokenizer's name as it is kept beside a count; an estimate's name ends in `~`.
    fn name(&self) -> &str;

    /// Whether counts may be off; the budget then keeps 10 % free instead of 2 %.
    fn is_estimate(&self) -> bool;
}

/// The tokenizer of OpenAI's models since GPT-4o; exact for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(bpe_openai::o200k_base().count(text)).unwrap_or(u32::MAX)
    }

    fn name(&self) -> &str {
        "o200k"
    }

    fn is_estimate(&self) -> bool {
        false
    }
}

/// The last resort: an estimate from the number and kind of characters.
///
/// Four ASCII characters make a token, as do two of another alphabet; characters of scripts
/// without spaces and symbols take one each, emoji three. The usual four characters a token
/// for every script are 47 % short on non-Latin text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Characters;

impl Characters {
    /// Quarters of a token that one character takes.
    fn quarters(character: char) -> u64 {
        match character {
            '\0'..='\u{7f}' => 1,
            '\u{80}'..='\u{10ff}' | '\u{1e00}'..='\u{1fff}' => 2,
            '\u{1f000}'.. => 12,
            _ => 4,
        }
    }
}

impl TokenCounter for Characters {
    fn count(&self, text: &str) -> u32 {
        let quarters: u64 = text.chars().map(Self::quarters).sum();
        u32::try_from(quarters.div_ceil(4)).unwrap_or(u32::MAX)
    }

    fn name(&self) -> &str {
        "characters~"
    }

    fn is_estimate(&self) -> bool {
        true
    }
}

/// Another counter's result times a factor learnt from the usage that a provider reports.
#[derive(Debug, Clone)]
pub struct Calibrated<C> {
    inner: C,
    factor: f64,
    name: String,
}

impl<C: TokenCounter> Calibrated<C> {
    /// Scales `inner` by `factor`: 1.02 for Qwen on o200k, 1.25 for recent Claude models. A
    /// factor that is not a number counts as 1; others are held between 0.25 and 16, which text in
    /// a script that the model never learnt comes close to.
    pub fn new(inner: C, factor: f64) -> Self {
        let factor = if factor.is_nan() { 1.0 } else { factor.clamp(0.25, 16.0) };
        let name = format!("{}×{factor:.2}~", inner.name().trim_end_matches('~'));
        Self { inner, factor, name }
    }

    /// Tokens of a text for which the inner counter gave `count`; saturates at `u32::MAX`.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and `as` saturates
    pub fn scaled(&self, count: u32) -> u32 {
        (f64::from(count) * self.factor).ceil() as u32
    }

    /// The factor in use, 0.25–16.
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

impl<C: TokenCounter> TokenCounter for Calibrated<C> {
    fn count(&self, text: &str) -> u32 {
        self.scaled(self.inner.count(text))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_estimate(&self) -> bool {
        true
    }
}
