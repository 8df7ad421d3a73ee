//! Cuts a byte stream into payloads: server-sent events, or one JSON value a line.

/// Longest line in bytes; a longer one is no reply of a model.
pub(super) const LINE_LIMIT: usize = 16 << 20;
/// Bytes kept of what belongs to no payload, to tell afterwards what the answer was.
pub(super) const STRAY_LIMIT: usize = 64 << 10;
/// Field names of server-sent events; `error` is llama.cpp's own.
const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];

/// A line grew over [`LINE_LIMIT`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// How payloads lie in the byte stream.
pub(super) trait Framing: Send {
    /// True if a bare JSON answer over several lines looks like payloads that are malformed.
    const BARE_ANSWERS: bool;
    /// Takes bytes; hands each payload that is whole to `payload`.
    fn push(&mut self, bytes: &[u8], payload: &mut dyn FnMut(&[u8])) -> Result<(), TooLong>;
    /// At the end of the stream: hands over a payload that only lacks its end mark.
    fn finish(&mut self, payload: &mut dyn FnMut(&[u8]));
    /// What belonged to no payload, at most [`STRAY_LIMIT`] bytes.
    fn stray(&self) -> &[u8];
}

/// Splits at LF, CR and CR LF.
#[derive(Default)]
struct Lines {
    pending: Vec<u8>,
    after_cr: bool,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8], line: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        while let Some(first) = bytes.first() {
            // The LF of a CR LF may come in a later chunk than its CR.
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.pending.len() + part.len() > LINE_LIMIT {
                return Err(TooLong);
            }
            self.pending.extend_from_slice(part);
            bytes = rest;
            if let Some((mark, rest)) = rest.split_first() {
                self.after_cr = *mark == b'\r';
                line(&self.pending);
                self.pending.clear();
                bytes = rest;
            }
        }
        Ok(())
    }
}

fn keep_stray(stray: &mut Vec<u8>, line: &[u8]) {
    let room = STRAY_LIMIT.saturating_sub(stray.len() + 1);
    stray.extend_from_slice(&line[..line.len().min(room)]);
    stray.push(b'\n');
}

/// Server-sent events (WHATWG HTML, section 9.2.6). Payload = the data of an event.
#[derive(Default)]
pub(super) struct Sse {
    lines: Lines,
    event: SseEvent,
}

#[derive(Default)]
struct SseEvent {
    begun: bool,
    data: Option<Vec<u8>>,
    stray: Vec<u8>,
}

impl SseEvent {
    fn line(&mut self, line: &[u8], payload: &mut dyn FnMut(&[u8])) {
        let line =
            if std::mem::replace(&mut self.begun, true) { line } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) };
        if line.is_empty() {
            if let Some(data) = self.data.take() {
                payload(&data);
            }
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" | b"error" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"" => {}
            name if FIELDS.contains(&name) => {}
            _ => keep_stray(&mut self.stray, line),
        }
    }
}

impl Framing for Sse {
    const BARE_ANSWERS: bool = false;

    fn push(&mut self, bytes: &[u8], payload: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        let Self { lines, event } = self;
        lines.push(bytes, &mut |line| event.line(line, payload))
    }

    fn finish(&mut self, payload: &mut dyn FnMut(&[u8])) {
        let last = std::mem::take(&mut self.lines.pending);
        // A cut field name is no sign of another format.
        if !last.is_empty() && !FIELDS.iter().any(|field| field.starts_with(&last)) {
            self.event.line(&last, payload);
        }
        self.event.line(b"", payload);
    }

    fn stray(&self) -> &[u8] {
        &self.event.stray
    }
}

/// One JSON value a line. Payload = a line that is not blank.
#[derive(Default)]
pub(super) struct JsonLines {
    lines: Lines,
}

impl Framing for JsonLines {
    const BARE_ANSWERS: bool = true;

    fn push(&mut self, bytes: &[u8], payload: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        self.lines.push(bytes, &mut |line| {
            if !line.trim_ascii().is_empty() {
                payload(line);
            }
        })
    }

    fn finish(&mut self, payload: &mut dyn FnMut(&[u8])) {
        let last = std::mem::take(&mut self.lines.pending);
        if !last.trim_ascii().is_empty() {
            payload(&last);
        }
    }

    fn stray(&self) -> &[u8] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn payloads(chunks: &[&[u8]]) -> (Vec<String>, String) {
        let mut sse = Sse::default();
        let mut found = Vec::new();
        let mut keep = |payload: &[u8]| found.push(String::from_utf8_lossy(payload).into_owned());
        for chunk in chunks {
            sse.push(chunk, &mut keep).unwrap();
        }
        sse.finish(&mut keep);
        (found, String::from_utf8_lossy(sse.stray()).into_owned())
    }

    #[test]
    fn events_are_read_by_the_letter_of_the_standard() {
        let (found, stray) =
            payloads(&[b"\xef\xbb\xbfevent: x\r", b"\ndata: a\r\rdata:b\ndata: c\n\n: note\nid: 7\n\ndata\n\ndata: last"]);
        assert_eq!(found, ["a", "b\nc", "", "last"]);
        assert_eq!(stray, "");
    }

    #[test]
    fn what_is_no_event_is_kept_within_bounds() {
        let (found, stray) = payloads(&[b"{\"error\":\n \"no\"}\n"]);
        assert!(found.is_empty());
        assert_eq!(stray, "{\"error\":\n \"no\"}\n");
        let junk = [b'x'; 1_000].as_slice();
        let (_, stray) = payloads(&[junk, b"\n", junk, b"\n", &[b'y'; STRAY_LIMIT], b"\nzz\n"]);
        assert!(stray.len() <= STRAY_LIMIT + 4, "{}", stray.len());
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut sse = Sse::default();
        let chunk = vec![b'a'; LINE_LIMIT];
        assert_eq!(sse.push(&chunk, &mut |_| {}), Ok(()));
        assert_eq!(sse.push(b"a", &mut |_| {}), Err(TooLong));
    }
}
