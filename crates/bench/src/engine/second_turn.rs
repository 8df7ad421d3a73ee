//! The second turn of a long chat pays only the new tokens.

use super::exchange::{Exchange, Server};
use super::prompt;
use crate::error::BenchError;
use crate::report::{Report, Row};
use evenkeel_domain::Role;
use evenkeel_provider::ChatMessage;

/// Tokens of a reply.
const REPLY_TOKENS: u32 = 64;

/// Asks twice in one chat and compares what was computed.
pub async fn measure(engine: &Server) -> Result<Report, BenchError> {
    let mut messages = prompt::long_chat();
    let first = engine.ask(messages.clone(), REPLY_TOKENS).await?;
    messages.push(ChatMessage::new(Role::Assistant, first.text.clone()));
    messages.push(ChatMessage::new(Role::User, "Please say that again in one sentence."));
    let second = engine.ask(messages, REPLY_TOKENS).await?;
    Ok(Report { rows: rows(&first, &second), preface: String::new() })
}

fn rows(first: &Exchange, second: &Exchange) -> Vec<Row> {
    let cached = f64::from(second.usage.cached_tokens.unwrap_or_default());
    let added = second.usage.prompt_tokens.saturating_sub(first.usage.prompt_tokens);
    vec![
        Row::reported("second turn: prompt of the first turn (tokens)", f64::from(first.usage.prompt_tokens)),
        Row::at_least("second turn: of that, taken from the cache (share)", cached / f64::from(first.usage.prompt_tokens), 1.0),
        Row::at_most(
            format!("second turn: tokens computed, of {added} that are new"),
            f64::from(second.computed()),
            f64::from(added),
        ),
        Row::reported(
            "second turn: time to first text / that of the first turn",
            second.first_text.as_secs_f64() / first.first_text.as_secs_f64(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_domain::Usage;
    use std::time::Duration;

    fn exchange(prompt_tokens: u32, cached_tokens: u32, milliseconds: u64) -> Exchange {
        let usage = Usage { prompt_tokens, completion_tokens: 64, cached_tokens: Some(cached_tokens) };
        Exchange { text: String::new(), first_text: Duration::from_millis(milliseconds), writing: Duration::from_secs(1), usage }
    }

    #[test]
    fn a_lost_cache_misses_both_targets() {
        let rows = rows(&exchange(3_000, 0, 9_000), &exchange(3_100, 2_990, 450));
        assert_eq!(rows.iter().map(|row| row.ok).collect::<Vec<_>>(), [true, false, false, true]);
        assert_eq!((rows[2].value, rows[3].value), (110.0, 0.05));
    }

    #[test]
    fn a_kept_cache_reaches_them() {
        assert!(rows(&exchange(3_000, 0, 9_000), &exchange(3_100, 3_060, 200)).iter().all(|row| row.ok));
    }
}
