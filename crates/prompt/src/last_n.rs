//! The newest messages as one short text.

use crate::exchange::is_blank;
use crate::{Block, BlockKind, ContextProvider, HistoryMessage, Origin, Wanted};
use evenkeel_domain::Role;

/// Gives the newest messages as one text, for requests that have no other history: replies shortened,
/// the whole held to a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastN {
    /// How many messages.
    pub count: usize,
    /// Most characters of a reply; what the user said stays whole.
    pub reply_characters: usize,
    /// Most characters of the text; what is oldest goes first.
    pub characters: usize,
}

impl Default for LastN {
    fn default() -> Self {
        Self { count: 6, reply_characters: 200, characters: 2_000 }
    }
}

impl LastN {
    /// The text; empty if nothing was said.
    #[must_use]
    pub fn text(&self, history: &[HistoryMessage<'_>]) -> String {
        let said: Vec<&HistoryMessage<'_>> = history.iter().filter(|message| !is_blank(message)).collect();
        let newest = &said[said.len().saturating_sub(self.count)..];
        let text = newest.iter().map(|message| self.line(message)).collect::<Vec<_>>().join("\n");
        let over = text.chars().count().saturating_sub(self.characters);
        if over == 0 {
            return text;
        }
        // The mark takes the place of one more character.
        let kept: String = text.chars().skip(over + 1).collect();
        if self.characters == 0 { kept } else { format!("…{kept}") }
    }

    fn line(&self, message: &HistoryMessage<'_>) -> String {
        let text = message.content.trim();
        let speaker = match message.role {
            Role::User => "User",
            Role::Assistant => "Companion",
            Role::System => "Note",
        };
        if message.role != Role::Assistant || text.chars().count() <= self.reply_characters {
            return format!("{speaker}: {text}");
        }
        let begun: String = text.chars().take(self.reply_characters.saturating_sub(1)).collect();
        format!("{speaker}: {}…", begun.trim_end())
    }
}

impl ContextProvider for LastN {
    fn compose(&self, wanted: &Wanted<'_>) -> Vec<Block> {
        let text = self.text(wanted.history);
        if text.is_empty() {
            return Vec::new();
        }
        let origin = Origin::Provider { name: "last-n".into() };
        vec![Block::new(BlockKind::Memory, origin, Role::System, format!("The newest messages:\n{text}"), wanted.counter)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Words, branch, counted};
    use proptest::prelude::*;

    #[test]
    fn replies_are_shortened_and_the_oldest_text_goes_first() {
        let mut texts = branch("uauaua_u", 1);
        texts[5].2 = "r".repeat(300);
        texts[7].2 = "the newest".into();
        let history = counted(&texts, &Words);
        let text = LastN::default().text(&history);
        assert_eq!(text.lines().count(), 6);
        assert!(text.starts_with("Companion: a1\nUser: u2") && text.ends_with("…\nUser: the newest"), "{text}");
        assert!(text.contains(&"r".repeat(199)) && !text.contains(&"r".repeat(200)));
        let short = LastN { characters: 12, ..LastN::default() }.text(&history);
        assert_eq!(short, "… the newest");
        assert_eq!(LastN::default().text(&[]), "");
    }

    proptest! {
        #[test]
        fn is_never_longer_than_allowed(words in 1usize..40, count in 0usize..9, characters in 0usize..300) {
            let texts = branch("uauauauaua", words);
            let text = LastN { count, characters, reply_characters: 50 }.text(&counted(&texts, &Words));
            prop_assert!(text.chars().count() <= characters);
            prop_assert!(text.lines().count() <= count.max(1));
        }
    }
}
