//! Prompts that no cache knows: seeded, so that every run of the benchmark sends the same ones.

use evenkeel_domain::Role;
use evenkeel_provider::ChatMessage;

/// Ordinary English words, nearly all of one token in nearly every vocabulary.
const WORDS: [&str; 64] = [
    "river",
    "stone",
    "morning",
    "letter",
    "garden",
    "window",
    "captain",
    "bread",
    "music",
    "winter",
    "market",
    "child",
    "bridge",
    "forest",
    "paper",
    "silver",
    "engine",
    "doctor",
    "island",
    "summer",
    "village",
    "kitchen",
    "horse",
    "story",
    "walked",
    "opened",
    "carried",
    "found",
    "watched",
    "built",
    "painted",
    "followed",
    "remembered",
    "crossed",
    "sold",
    "answered",
    "quiet",
    "heavy",
    "bright",
    "narrow",
    "warm",
    "empty",
    "green",
    "distant",
    "early",
    "simple",
    "broken",
    "gentle",
    "under",
    "beside",
    "toward",
    "without",
    "around",
    "before",
    "after",
    "between",
    "slowly",
    "often",
    "again",
    "never",
    "always",
    "together",
    "almost",
    "alone",
];
/// Words of a sentence.
const SENTENCE: usize = 12;

/// A small generator (SplitMix64, Steele et al. 2014): the same numbers everywhere.
pub struct Seeded(u64);

impl Seeded {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A text of that many words.
    pub fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for position in 0..words {
            let ends = position % SENTENCE == SENTENCE - 1;
            text.push_str(WORDS[(self.next() % WORDS.len() as u64) as usize]);
            text.push_str(if ends { ".\n" } else { " " });
        }
        text
    }
}

/// A prompt of about 1,500 tokens that differs from every other from its first word on, and asks
/// for a long answer.
pub fn distinct(run: usize) -> Vec<ChatMessage> {
    let mut seeded = Seeded::new(run as u64 + 1);
    let system = seeded.text(SENTENCE);
    let notes = seeded.text(1_230);
    let task = "Write a long story in many paragraphs about the people in these notes. Begin now.";
    vec![ChatMessage::new(Role::System, system), ChatMessage::new(Role::User, format!("{notes}\n{task}"))]
}

/// A chat that ends with a message of the user and has about 3,000 tokens.
pub fn long_chat() -> Vec<ChatMessage> {
    let mut seeded = Seeded::new(0x5eed);
    let mut messages = vec![ChatMessage::new(Role::System, "Answer in a few plain sentences.")];
    for _ in 0..16 {
        messages.push(ChatMessage::new(Role::User, seeded.text(60)));
        messages.push(ChatMessage::new(Role::Assistant, seeded.text(100)));
    }
    messages.push(ChatMessage::new(Role::User, "What would you like to tell me about all this?"));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_the_same_each_time_and_differ_from_the_first_words() {
        assert_eq!(distinct(3), distinct(3));
        for run in 1..50 {
            let (before, now) = (&distinct(run - 1)[0].content, &distinct(run)[0].content);
            let shared = before.split(' ').zip(now.split(' ')).take_while(|(a, b)| a == b).count();
            assert!(shared < 4, "runs {} and {run} share {shared} words", run - 1);
        }
    }

    #[test]
    fn a_long_chat_alternates_and_ends_with_the_user() {
        let roles: Vec<_> = long_chat().iter().map(|message| message.role).collect();
        assert_eq!((roles[0], roles[roles.len() - 1]), (Role::System, Role::User));
        assert!(roles[1..].windows(2).all(|pair| pair[0] != pair[1]));
    }
}
