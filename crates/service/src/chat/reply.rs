//! A reply while it grows: text joined for about a frame, a draft on disk about once a second.

use evenkeel_domain::{ChatEvent, ErrorBody, MessageStatus, Receipt, Usage};
use evenkeel_provider::{EndReason, EventStream, ModelEvent, ProviderError, Report, ToolCall};
use futures::StreamExt;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Text is joined for this long before it goes to the window: a frame at 60 Hz.
const FRAME: Duration = Duration::from_millis(16);
/// What has arrived is written to disk with the first text, and then this often.
const DRAFT: Duration = Duration::from_secs(1);

/// What has arrived of a reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grown {
    pub text: String,
    pub reasoning: String,
    /// What the provider counted, of all rounds together.
    pub usage: Option<Usage>,
}

/// How a reply ended.
pub(crate) struct Ending {
    pub grown: Grown,
    pub status: MessageStatus,
    pub error: Option<ErrorBody>,
    /// What was sent, where it was.
    pub receipt: Option<Receipt>,
    /// The tools that the model asked for, and waits for.
    pub calls: Vec<ToolCall>,
}

impl Ending {
    pub fn new(grown: Grown, status: MessageStatus, error: Option<ErrorBody>) -> Self {
        Self { grown, status, error, receipt: None, calls: Vec::new() }
    }
}

/// Text that the window has not seen yet.
#[derive(Default)]
struct Unseen {
    text: String,
    reasoning: String,
    /// What the model has asked for.
    calls: Vec<ToolCall>,
    /// The next text begins a paragraph: what stands before it was said before a tool ran.
    is_further_round: bool,
}

impl Unseen {
    fn flush(&mut self, sink: &(impl Fn(ChatEvent) + ?Sized)) {
        if !self.reasoning.is_empty() {
            sink(ChatEvent::Reasoning { delta: std::mem::take(&mut self.reasoning) });
        }
        if !self.text.is_empty() {
            sink(ChatEvent::Text { delta: std::mem::take(&mut self.text) });
        }
    }
}

/// Follows a stream to its end, to `stop`, or to its break, after what has grown of the reply in the rounds before. `draft`
/// is called with what has arrived.
pub(crate) async fn follow(
    mut stream: EventStream,
    mut grown: Grown,
    stop: &CancellationToken,
    sink: &(impl Fn(ChatEvent) + ?Sized),
    mut draft: impl FnMut(Grown),
) -> Ending {
    let mut unseen = Unseen { is_further_round: !grown.text.is_empty(), ..Unseen::default() };
    let mut frame = interval(FRAME);
    frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drafted: Option<Instant> = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => {
                unseen.flush(sink);
                return Ending::new(grown, MessageStatus::Stopped, None);
            }
            event = stream.next() => {
                let first = grown.text.is_empty() && grown.reasoning.is_empty();
                if let Some((status, error)) = take(event, &mut grown, &mut unseen) {
                    unseen.flush(sink);
                    return Ending { calls: unseen.calls, ..Ending::new(grown, status, error) };
                }
                if first {
                    unseen.flush(sink);
                }
            }
            _ = frame.tick() => {
                unseen.flush(sink);
                let due = drafted.is_none_or(|at| at.elapsed() >= DRAFT);
                if due && !(grown.text.is_empty() && grown.reasoning.is_empty()) {
                    drafted = Some(Instant::now());
                    draft(grown.clone());
                }
            }
        }
    }
}

/// Takes one event in; gives the ending where it is one.
fn take(
    event: Option<Result<ModelEvent, ProviderError>>,
    grown: &mut Grown,
    unseen: &mut Unseen,
) -> Option<(MessageStatus, Option<ErrorBody>)> {
    match event {
        Some(Ok(ModelEvent::Text(delta))) => {
            let gap = if std::mem::take(&mut unseen.is_further_round) { "\n\n" } else { "" };
            for text in [&mut grown.text, &mut unseen.text] {
                text.push_str(gap);
                text.push_str(&delta);
            }
            None
        }
        Some(Ok(ModelEvent::Reasoning(delta))) => {
            grown.reasoning.push_str(&delta);
            unseen.reasoning.push_str(&delta);
            None
        }
        Some(Ok(ModelEvent::Usage(usage))) => {
            grown.usage = Some(grown.usage.map_or(usage, |before| summed(before, usage)));
            None
        }
        Some(Ok(ModelEvent::ToolCall(call))) => {
            unseen.calls.push(call);
            None
        }
        Some(Ok(ModelEvent::End(EndReason::Length))) => Some((MessageStatus::Truncated, None)),
        Some(Ok(ModelEvent::End(_))) => Some((MessageStatus::Complete, None)),
        Some(Err(error)) => Some((MessageStatus::Interrupted, Some(error.to_body()))),
        None => Some((MessageStatus::Interrupted, Some(ProviderError::BrokenOff { at: Report::default() }.to_body()))),
    }
}

fn summed(one: Usage, other: Usage) -> Usage {
    let cached = [one.cached_tokens, other.cached_tokens].into_iter().flatten().reduce(u32::saturating_add);
    Usage {
        prompt_tokens: one.prompt_tokens.saturating_add(other.prompt_tokens),
        completion_tokens: one.completion_tokens.saturating_add(other.completion_tokens),
        cached_tokens: cached,
    }
}
