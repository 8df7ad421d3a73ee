//! From payloads to events: what all wire formats share.

use super::framing::{Framing, LINE_LIMIT, STRAY_LIMIT};
use crate::ModelEvent;
use crate::refusal::Complaint;

/// An event, or why there will be none any more.
pub type ReadResult = Result<ModelEvent, ReadFault>;

/// What can be wrong with the bytes of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadFault {
    /// They are not in the wire format; says how.
    Malformed(String),
    /// They ended before the end was said; the provider's words, where there were some.
    BrokenOff(Option<String>),
    /// The provider reports an error inside the stream.
    Reported(Complaint),
}

/// Reads a streamed reply.
pub trait StreamReader: Send {
    /// Takes bytes as they come and gives the events that they complete. After
    /// [`ModelEvent::End`] or a fault everything is ignored.
    fn feed(&mut self, bytes: &[u8]) -> Vec<ReadResult>;

    /// Says that no byte will follow. Without an end so far this gives a fault as its last item.
    fn finish(&mut self) -> Vec<ReadResult>;
}

/// What a wire format makes of a payload.
pub(super) trait Interpret: Send {
    /// Appends the payload's events; [`ModelEvent::End`] as the last one of a reply.
    fn payload(&mut self, payload: &[u8], events: &mut Vec<ModelEvent>) -> Result<(), ReadFault>;
}

/// A reader made of a framing and an interpreter.
#[derive(Default)]
pub(super) struct Reader<F, I> {
    framing: F,
    state: State<I>,
}

#[derive(Default)]
struct State<I> {
    interpreter: I,
    /// A payload has been understood.
    accepted: bool,
    over: bool,
    /// Payloads before the first understood one: another format, a page, a bare JSON answer.
    foreign: Vec<u8>,
    out: Vec<ReadResult>,
}

impl<I: Interpret> State<I> {
    fn payload(&mut self, payload: &[u8], last: bool, keep_foreign: bool) {
        if self.over {
            return;
        }
        let mut events = Vec::new();
        let result = self.interpreter.payload(payload, &mut events);
        self.over = events.iter().any(|event| matches!(event, ModelEvent::End(_)));
        self.out.extend(events.into_iter().map(Ok));
        match result {
            Ok(()) => self.accepted = true,
            // A bare answer instead of a stream; judged when it is whole.
            Err(ReadFault::Malformed(_)) if keep_foreign && !self.accepted && self.foreign.len() < STRAY_LIMIT => {
                self.foreign.extend_from_slice(payload);
                self.foreign.push(b'\n');
            }
            // Cut in the middle of a payload.
            Err(ReadFault::Malformed(_)) if last => {}
            Err(fault) => self.fail(fault),
        }
    }

    fn fail(&mut self, fault: ReadFault) {
        self.over = true;
        self.out.push(Err(fault));
    }
}

impl<F: Framing, I: Interpret> StreamReader for Reader<F, I> {
    fn feed(&mut self, bytes: &[u8]) -> Vec<ReadResult> {
        if self.state.over {
            return Vec::new();
        }
        let Self { framing, state } = self;
        if framing.push(bytes, &mut |payload| state.payload(payload, false, F::BARE_ANSWERS)).is_err() && !state.over {
            state.fail(ReadFault::Malformed(format!("a line is longer than {LINE_LIMIT} bytes")));
        }
        std::mem::take(&mut state.out)
    }

    fn finish(&mut self) -> Vec<ReadResult> {
        if self.state.over {
            return Vec::new();
        }
        let Self { framing, state } = self;
        framing.finish(&mut |payload| state.payload(payload, true, F::BARE_ANSWERS));
        if !state.over {
            let stray = if state.foreign.is_empty() { framing.stray() } else { &state.foreign };
            let fault = if state.accepted { ReadFault::BrokenOff(None) } else { judge(stray) };
            state.fail(fault);
        }
        std::mem::take(&mut state.out)
    }
}

/// What a reply was in which nothing could be understood.
fn judge(stray: &[u8]) -> ReadFault {
    let stray = stray.trim_ascii();
    match stray.first() {
        None => ReadFault::BrokenOff(None),
        // An answer instead of a stream, often an error. Cut JSON has no words to quote.
        Some(b'{' | b'[') => {
            let answer = serde_json::from_slice(stray).ok();
            ReadFault::BrokenOff(answer.and_then(|answer| Complaint::from_json(&answer).text))
        }
        Some(_) => ReadFault::Malformed("it is no stream of a model but a page or plain text".into()),
    }
}
