//! How much of each prompt the engine's cache serves, from the usage that it reports itself: 400
//! turns through the real service on the built-in model, beside a window that drops the oldest
//! exchange at every turn.

use crate::app::App;
use crate::engine::calm::built_in;
use crate::engine::exchange::Server;
use crate::error::BenchError;
use crate::report::{Progress, Report, Row};
use crate::store::chance::Chance;
use evenkeel_domain::{
    Context, ContextPatch, ConversationId, MemorySettings, ModelChoice, RecallSettings, Role, SUMMARIZATION, SendRequest,
    StrategyChoice, Usage,
};
use evenkeel_engine::{Supervisor, SupervisorOptions, default_model};
use evenkeel_provider::ChatMessage;
use evenkeel_service::PresetOverrides;
use std::collections::VecDeque;

const PRESET: &str = "preset-rational-advisor";
/// Turns of a conversation.
const TURNS: usize = 400;
/// Tokens of history.
const BUDGET: u32 = 4_000;
/// Tokens of a reply: the prompt is what is measured.
const REPLY_TOKENS: u32 = 24;
/// Words of what the user writes.
const USER_WORDS: (usize, usize) = (12, 24);
/// Turns of the peer that are counted, once its window is full: each computes nearly all of it anew.
const PEER_TURNS: usize = 24;
/// Turns of what is only reported.
const FEWER: usize = 100;
const OF_CACHE: &str = "prompt tokens from the engine's cache";
/// Share of the prompt that comes from the cache (figure 7), and how full the budget is.
const LEAST_PLAIN: f64 = 0.95;
const LEAST_RECALL: f64 = 0.85;
const LEAST_FILL: f64 = 0.65;

/// What the turns of a conversation cost.
#[derive(Debug, Default)]
struct Sums {
    prompt: u64,
    cached: u64,
    fill: f64,
    turns: u32,
}

impl Sums {
    fn add(&mut self, usage: Usage) {
        self.prompt += u64::from(usage.prompt_tokens);
        self.cached += u64::from(usage.cached_tokens.unwrap_or_default());
        self.fill += f64::from(usage.prompt_tokens) / f64::from(BUDGET);
        self.turns += 1;
    }

    fn reuse(&self) -> f64 {
        self.cached as f64 / self.prompt.max(1) as f64
    }
}

/// A conversation and how it goes on.
struct Script {
    turns: usize,
    /// The user takes the time that the engine needs to read ahead, as everybody does who types.
    pauses: bool,
}

/// Measures without recall, with it, with other work beside it, and the peer.
pub async fn measure(progress: Progress) -> Result<Report, BenchError> {
    let app = App::open().await?;
    let model = built_in(&app).await?;
    let mut rows = Vec::new();
    for (recall, least) in [(false, LEAST_PLAIN), (true, LEAST_RECALL)] {
        let name = if recall { "with recall" } else { "plain" };
        progress.say(&format!("prefix reuse over {TURNS} turns, {name} …"));
        let context = companion(&app, model.clone(), recall).await?;
        let (sums, _) = converse(&app, &context, Script { turns: TURNS, pauses: true }, progress).await?;
        let fill = sums.fill / f64::from(sums.turns);
        rows.push(Row::at_least(format!("{OF_CACHE} over {TURNS} turns, {name} (share)"), sums.reuse(), least));
        rows.push(Row::at_least(format!("mean fill of the budget, {name} (share)"), fill, LEAST_FILL));
    }
    progress.say(&format!("the same over {FEWER} turns, each sent at once …"));
    let context = companion(&app, model.clone(), false).await?;
    let (sums, _) = converse(&app, &context, Script { turns: FEWER, pauses: false }, progress).await?;
    rows.push(Row::reported(format!("{OF_CACHE} over {FEWER} turns, each sent at once (share)"), sums.reuse()));
    progress.say(&format!("the same over {FEWER} turns, with summaries made beside them …"));
    rows.extend(beside_summaries(&app, model, progress).await?);
    app.service.shutdown().await;
    progress.say("the same with a window that moves at every turn …");
    rows.push(Row::reported(format!("{OF_CACHE}, sliding at every turn (share)"), per_turn().await?.reuse()));
    Ok(Report { rows, preface: String::new() })
}

/// The engine makes summaries in a memory of its own between the turns; only one that is taken changes what
/// the chat sends.
async fn beside_summaries(app: &App, model: ModelChoice, progress: Progress) -> Result<Vec<Row>, BenchError> {
    let context = companion(app, model, false).await?;
    let strategy = StrategyChoice { plugin_id: SUMMARIZATION.into(), ..StrategyChoice::default() };
    let patch = ContextPatch { strategy: Some(strategy), ..ContextPatch::default() };
    let context = app.service.context_update(context.id, patch).await?;
    let (sums, conversation) = converse(app, &context, Script { turns: FEWER, pauses: true }, progress).await?;
    let made = app.service.summary_list(conversation).await?.len();
    let what = format!("{OF_CACHE} over {FEWER} turns, summaries made beside them (share)");
    Ok(vec![Row::reported(what, sums.reuse()), Row::reported("summaries that were taken meanwhile", made as f64)])
}

async fn converse(
    app: &App,
    context: &Context,
    script: Script,
    progress: Progress,
) -> Result<(Sums, ConversationId), BenchError> {
    let (mut chance, mut sums) = (Chance::new(11), Sums::default());
    let mut conversation: Option<ConversationId> = None;
    for turn in 0..script.turns {
        let text = line(&mut chance);
        let request = SendRequest::New { context_id: context.id, conversation_id: conversation, text, agent_id: None };
        let message = app.ask(request).await?.message;
        conversation = Some(message.conversation_id);
        let usage = message.usage.ok_or_else(|| BenchError::Worthless("a reply has no usage".to_owned()))?;
        // The first request has nothing to find in the cache.
        if turn > 0 {
            sums.add(usage);
        }
        if (turn + 1) % 50 == 0 {
            progress.say(&format!("  {} turns: {:.3}", turn + 1, sums.reuse()));
        }
        if script.pauses {
            app.service.has_read_ahead().await;
        }
    }
    let conversation = conversation.ok_or_else(|| BenchError::Worthless("nothing was said".to_owned()))?;
    Ok((sums, conversation))
}

async fn companion(app: &App, model: ModelChoice, recall: bool) -> Result<Context, BenchError> {
    let overrides =
        PresetOverrides { max_tokens: Some(REPLY_TOKENS), max_history_tokens: Some(BUDGET), ..PresetOverrides::default() };
    let context = app.companion(PRESET, overrides, model, true).await?;
    let recall = RecallSettings { on: recall, ..RecallSettings::default() };
    let memory = MemorySettings { recall, ..MemorySettings::default() };
    Ok(app.service.context_update(context.id, ContextPatch { memory: Some(memory), ..ContextPatch::default() }).await?)
}

fn line(chance: &mut Chance) -> String {
    let (least, more) = USER_WORDS;
    let words = least + chance.below(more);
    chance.text(words)
}

/// A window that drops its oldest exchange whenever it is full, as most apps do, asked of the engine itself.
async fn per_turn() -> Result<Sums, BenchError> {
    let program = std::env::current_exe().map_err(|source| BenchError::system("finding the benchmark's own program", source))?;
    let mut options = SupervisorOptions::new(program);
    options.args = vec![crate::arguments::ENGINE_CHILD.to_owned()];
    let supervisor = Supervisor::new(options);
    let endpoint = supervisor.endpoint(&default_model::locate(None)?, Some(crate::engine::WINDOW * 2)).await?;
    let server = Server::new(&endpoint.base_url, Some(endpoint.token.clone()), &endpoint.model);
    let (mut chance, mut sums) = (Chance::new(11), Sums::default());
    let mut history: VecDeque<(String, String)> = VecDeque::new();
    let (mut is_full, mut counted) = (false, 0);
    while counted < PEER_TURNS {
        let text = line(&mut chance);
        // The window fills without asking: only what follows is measured.
        let usage = if is_full {
            let exchange = server.ask(messages(&history, &text), REPLY_TOKENS).await?;
            history.push_back((text, exchange.text));
            Some(exchange.usage)
        } else {
            let reply = line(&mut chance);
            history.push_back((text, reply));
            None
        };
        while words(&history) * 3 > BUDGET as usize {
            is_full = true;
            history.pop_front();
        }
        if let Some(usage) = usage {
            sums.add(usage);
            counted += 1;
        }
    }
    drop(endpoint);
    supervisor.shutdown().await;
    Ok(sums)
}

fn messages(history: &VecDeque<(String, String)>, text: &str) -> Vec<ChatMessage> {
    let mut messages = vec![ChatMessage::new(Role::System, "A calm companion with a stance of its own.")];
    for (user, reply) in history {
        messages.push(ChatMessage::new(Role::User, user.clone()));
        messages.push(ChatMessage::new(Role::Assistant, reply.clone()));
    }
    messages.push(ChatMessage::new(Role::User, text));
    messages
}

/// Words of the history; those of the seeded texts have about three tokens each.
fn words(history: &VecDeque<(String, String)>) -> usize {
    history.iter().map(|(user, reply)| user.split(' ').count() + reply.split(' ').count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_all_tokens() {
        let mut sums = Sums::default();
        for (prompt_tokens, cached_tokens) in [(1_000, Some(900)), (3_000, Some(3_000)), (1_000, None)] {
            sums.add(Usage { prompt_tokens, completion_tokens: 1, cached_tokens });
        }
        assert!((sums.reuse() - 0.78).abs() < 1e-9);
        assert!((sums.fill / f64::from(sums.turns) - 5.0 / 12.0).abs() < 1e-9);
    }
}
