//! How much history suits a model's window.

/// What a request needs besides history: 200–400 tokens of system text, 400–600 of reply and
/// 200–400 of protocol.
const OVERHEAD: u32 = 1_000;

/// The least and the most a context may be given, in tokens.
const RANGE: std::ops::RangeInclusive<u32> = 500..=2_000_000;

/// The history budget to offer for a model whose window has `window` tokens: what is left of it
/// after 1,000 tokens of overhead, within 500–2,000,000.
#[must_use]
pub fn recommended_max_history_tokens(window: u32) -> u32 {
    window.saturating_sub(OVERHEAD).clamp(*RANGE.start(), *RANGE.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_tokens_of_the_window_are_left_over() {
        let examples = [(32_000, 31_000), (16_000, 15_000), (8_000, 7_000), (4_000, 3_000), (1_500, 500)];
        for (window, history) in examples {
            assert_eq!(recommended_max_history_tokens(window), history);
        }
    }

    #[test]
    fn the_range_of_the_field_is_kept() {
        for (window, history) in [(0, 500), (999, 500), (1_499, 500), (2_001_000, 2_000_000), (u32::MAX, 2_000_000)] {
            assert_eq!(recommended_max_history_tokens(window), history);
        }
    }
}
