//! The main goal in words: a companion in a conversation whose user gets angrier, with the persona
//! anchor on and off, through the real service on the built-in model.
//!
//! One sampled conversation a setting proves nothing about the difference between them: the
//! transcripts are there to be read, and no figure has a target.

mod script;
mod tone;

use crate::app::App;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use evenkeel_domain::{ModelChoice, ProviderKind, SendRequest, Usage};
use evenkeel_service::PresetOverrides;
use std::fmt::Write;
use tone::{Tone, Turn};

/// The companion.
const PRESET: &str = "preset-calm-counselor";
/// Tokens of a reply: enough to show its tone, and twenty turns stay within two minutes.
const REPLY_TOKENS: u32 = 200;

/// Both conversations.
pub async fn measure(app: &App, progress: Progress) -> Result<Report, BenchError> {
    let model = built_in(app).await?;
    let mut report = Report::default();
    for maintained in [true, false] {
        let setting = if maintained { "maintainPersonality on" } else { "maintainPersonality off" };
        progress.say(&format!("calm conversation, {setting} …"));
        let (turns, usages) = converse(app, model.clone(), maintained).await?;
        let tone = tone::tone(&turns);
        report.append(Report { rows: rows(setting, &tone, &usages), preface: transcript(setting, &model.model, &turns, &tone) });
    }
    Ok(report)
}

/// The model that ships with the app.
pub async fn built_in(app: &App) -> Result<ModelChoice, BenchError> {
    let missing = || BenchError::Worthless("the app does not list its built-in model".to_owned());
    let providers = app.service.provider_list().await?;
    let engine = providers.iter().find(|provider| provider.kind == ProviderKind::Engine).ok_or_else(missing)?;
    let models = app.service.provider_models(engine.id).await?;
    let model = models.into_iter().find(|model| model.for_trying_out).ok_or_else(missing)?;
    Ok(ModelChoice { provider_id: engine.id, model: model.name })
}

async fn converse(app: &App, model: ModelChoice, maintained: bool) -> Result<(Vec<Turn>, Vec<Usage>), BenchError> {
    let overrides = PresetOverrides { max_tokens: Some(REPLY_TOKENS), ..PresetOverrides::default() };
    let context = app.companion(PRESET, overrides, model, maintained).await?;
    let (mut conversation, mut turns, mut usages) = (None, Vec::new(), Vec::new());
    for user in script::TURNS {
        let request =
            SendRequest::New { context_id: context.id, conversation_id: conversation, text: user.to_owned(), agent_id: None };
        let message = app.ask(request).await?.message;
        conversation = Some(message.conversation_id);
        usages.extend(message.usage);
        turns.push(Turn { user: user.to_owned(), reply: message.content });
    }
    Ok((turns, usages))
}

fn rows(setting: &str, tone: &Tone, usages: &[Usage]) -> Vec<Row> {
    vec![
        Row::reported(format!("calm, {setting}: reply valence, mean (−1 to 1)"), tone.reply_valence),
        Row::reported(format!("calm, {setting}: words in capitals (share)"), tone.capitals),
        Row::reported(format!("calm, {setting}: exclamation marks a reply"), tone.exclamations),
        Row::reported(format!("calm, {setting}: coupling to the user's valence (slope)"), tone.coupling),
        Row::reported(format!("calm, {setting}: prompt tokens from the cache after the first turn (share)"), reused(usages)),
    ]
}

/// Share of the prompt tokens that was not computed again, after the first turn.
fn reused(usages: &[Usage]) -> f64 {
    let later = usages.get(1..).unwrap_or_default();
    let prompt: u32 = later.iter().map(|usage| usage.prompt_tokens).sum();
    let cached: u32 = later.iter().filter_map(|usage| usage.cached_tokens).sum();
    if prompt == 0 { 0.0 } else { f64::from(cached) / f64::from(prompt) }
}

fn transcript(setting: &str, model: &str, turns: &[Turn], tone: &Tone) -> String {
    let (first, last) = tone.user_first_and_last;
    let mut text = format!("=== Calm Counselor on {model}, {setting}, one sampled conversation ===\n");
    for (number, turn) in turns.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n[{}] user {:+.2}  {}\n     reply {:+.2}  {}\n",
            number + 1,
            tone::valence(&turn.user),
            turn.user,
            tone::valence(&turn.reply),
            turn.reply.trim().replace('\n', "\n     ")
        );
    }
    let _ = writeln!(text, "\nUser valence: first quarter {first:+.2}, last quarter {last:+.2}.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_turn_does_not_count_as_reuse() {
        let usage = |prompt_tokens, cached| Usage { prompt_tokens, completion_tokens: 9, cached_tokens: cached };
        assert_eq!(reused(&[usage(500, None), usage(600, Some(450)), usage(400, Some(300))]), 0.75);
        assert_eq!(reused(&[usage(500, None)]), 0.0);
        assert_eq!(reused(&[]), 0.0);
    }

    #[test]
    fn a_transcript_shows_every_word() {
        let turns = [Turn { user: "I hate it!".to_owned(), reply: "One.\nTwo.".to_owned() }];
        let text = transcript("on", "m", &turns, &tone::tone(&turns));
        assert!(text.contains("I hate it!") && text.contains("One.\n     Two."), "{text}");
    }
}
