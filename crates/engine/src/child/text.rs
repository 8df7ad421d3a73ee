//! Turns token bytes into text that may be sent: whole characters only, and nothing that might
//! yet become a stop string.

/// Collects the bytes of a reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyText {
    /// Bytes of a character that is not complete yet, at most three.
    bytes: Vec<u8>,
    /// Text held back because it may be the beginning of a stop string.
    held: String,
    stops: Vec<String>,
}

/// What became of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Text to send, possibly empty.
    Text(String),
    /// A stop string was met; the text before it.
    Stopped(String),
}

impl ReplyText {
    /// `stops` end the reply where they appear; empty ones are ignored.
    pub fn new(stops: Vec<String>) -> Self {
        Self { stops: stops.into_iter().filter(|stop| !stop.is_empty()).collect(), ..Self::default() }
    }

    /// Takes the bytes of one token.
    pub fn push(&mut self, bytes: &[u8]) -> Step {
        self.bytes.extend_from_slice(bytes);
        let text = self.whole_characters();
        self.held.push_str(&text);
        self.release()
    }

    /// The rest at the end of a reply; a character that never became whole is dropped.
    pub fn finish(&mut self) -> String {
        self.bytes.clear();
        std::mem::take(&mut self.held)
    }

    fn whole_characters(&mut self) -> String {
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.bytes) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.bytes.clear();
                    return text;
                }
                Err(error) => {
                    let (valid, _) = self.bytes.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(broken) = error.error_len() else {
                        self.bytes.drain(..error.valid_up_to());
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.bytes.drain(..error.valid_up_to() + broken);
                }
            }
        }
    }

    fn release(&mut self) -> Step {
        if let Some(at) = self.stops.iter().filter_map(|stop| self.held.find(stop.as_str())).min() {
            self.held.truncate(at);
            return Step::Stopped(std::mem::take(&mut self.held));
        }
        let keep = self.stops.iter().map(|stop| beginning_at_end(&self.held, stop)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        Step::Text(std::mem::replace(&mut self.held, rest))
    }
}

/// Length in bytes of the longest end of `text` that is a beginning of `stop`.
fn beginning_at_end(text: &str, stop: &str) -> usize {
    stop.char_indices().map(|(at, c)| at + c.len_utf8()).filter(|&length| text.ends_with(&stop[..length])).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(step: Step) -> String {
        match step {
            Step::Text(text) | Step::Stopped(text) => text,
        }
    }

    #[test]
    fn a_character_in_pieces_comes_out_whole() {
        let mut reply = ReplyText::new(vec![]);
        let bytes = "a🦀é".as_bytes();
        let pieces: Vec<String> = bytes.iter().map(|byte| text(reply.push(&[*byte]))).collect();
        assert_eq!(pieces, ["a", "", "", "", "🦀", "", "é"]);
    }

    #[test]
    fn broken_bytes_become_one_replacement_each_and_a_cut_end_is_dropped() {
        let mut reply = ReplyText::new(vec![]);
        assert_eq!(reply.push(b"x\xffy\xe2\x82"), Step::Text("x\u{fffd}y".to_owned()));
        assert_eq!(reply.finish(), "");
    }

    #[test]
    fn a_stop_string_over_two_tokens_is_never_sent() {
        let mut reply = ReplyText::new(vec!["</end>".to_owned(), String::new()]);
        assert_eq!(reply.push(b"good </e"), Step::Text("good ".to_owned()));
        assert_eq!(reply.push(b"nd> more"), Step::Stopped(String::new()));
    }

    #[test]
    fn what_only_looked_like_a_stop_is_sent() {
        let mut reply = ReplyText::new(vec!["###".to_owned()]);
        assert_eq!(reply.push(b"a #"), Step::Text("a ".to_owned()));
        assert_eq!(reply.push(b"b"), Step::Text("#b".to_owned()));
        assert_eq!(reply.push(b"##"), Step::Text(String::new()));
        assert_eq!(reply.finish(), "##");
    }
}
