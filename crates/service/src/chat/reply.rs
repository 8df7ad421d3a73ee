//! A reply while it grows: text joined for about a frame, a draft on disk about once a second.

use evenkeel_domain::{ChatEvent, ErrorBody, MessageStatus, Receipt, Usage};
use evenkeel_provider::{EndReason, EventStream, ModelEvent, ProviderError, Report};
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
    pub usage: Option<Usage>,
}

/// How a reply ended.
pub(crate) struct Ending {
    pub grown: Grown,
    pub status: MessageStatus,
    pub error: Option<ErrorBody>,
    /// What was sent, where it was.
    pub receipt: Option<Receipt>,
}

impl Ending {
    pub fn new(grown: Grown, status: MessageStatus, error: Option<ErrorBody>) -> Self {
        Self { grown, status, error, receipt: None }
    }
}

/// Text that the window has not seen yet.
#[derive(Default)]
struct Unseen {
    text: String,
    reasoning: String,
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

/// Follows a stream to its end, to `stop`, or to its break. `draft` is called with what has arrived.
pub(crate) async fn follow(
    mut stream: EventStream,
    stop: &CancellationToken,
    sink: &(impl Fn(ChatEvent) + ?Sized),
    mut draft: impl FnMut(Grown),
) -> Ending {
    let mut grown = Grown::default();
    let mut unseen = Unseen::default();
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
                    return Ending::new(grown, status, error);
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
            grown.text.push_str(&delta);
            unseen.text.push_str(&delta);
            None
        }
        Some(Ok(ModelEvent::Reasoning(delta))) => {
            grown.reasoning.push_str(&delta);
            unseen.reasoning.push_str(&delta);
            None
        }
        Some(Ok(ModelEvent::Usage(usage))) => {
            grown.usage = Some(usage);
            None
        }
        // No tools are offered yet, so a call cannot be answered; the text around it stands.
        Some(Ok(ModelEvent::ToolCall { .. })) => None,
        Some(Ok(ModelEvent::End(EndReason::Length))) => Some((MessageStatus::Truncated, None)),
        Some(Ok(ModelEvent::End(_))) => Some((MessageStatus::Complete, None)),
        Some(Err(error)) => Some((MessageStatus::Interrupted, Some(error.to_body()))),
        None => Some((MessageStatus::Interrupted, Some(ProviderError::BrokenOff { at: Report::default() }.to_body()))),
    }
}
