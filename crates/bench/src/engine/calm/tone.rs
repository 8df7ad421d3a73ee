//! Simple figures of tone. They count words and signs; they do not understand anything.

use crate::statistics::{mean, slope};
use vader_sentimental::SentimentIntensityAnalyzer;

/// What one side said in one turn and what the other answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The user's words.
    pub user: String,
    /// The reply.
    pub reply: String,
}

/// The tone of a conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tone {
    /// Mean valence of the user's messages in the first and in the last quarter, −1 to 1.
    pub user_first_and_last: (f64, f64),
    /// Mean valence of the replies, −1 (bad) to 1 (good).
    pub reply_valence: f64,
    /// Words in capitals among all words of the replies, 0–1.
    pub capitals: f64,
    /// Exclamation marks of a reply, on average.
    pub exclamations: f64,
    /// Slope of reply valence on user valence; 0 = the replies do not follow the user's mood.
    pub coupling: f64,
}

/// Measures the replies of a conversation against the user's messages.
pub fn tone(turns: &[Turn]) -> Tone {
    let users: Vec<_> = turns.iter().map(|turn| valence(&turn.user)).collect();
    let replies: Vec<_> = turns.iter().map(|turn| valence(&turn.reply)).collect();
    let points: Vec<_> = users.iter().copied().zip(replies.iter().copied()).collect();
    let quarter = (turns.len() / 4).max(1).min(turns.len());
    let all_replies = turns.iter().map(|turn| turn.reply.as_str()).collect::<Vec<_>>().join("\n");
    Tone {
        user_first_and_last: (mean(&users[..quarter]), mean(&users[users.len() - quarter..])),
        reply_valence: mean(&replies),
        capitals: capitals(&all_replies),
        exclamations: all_replies.matches('!').count() as f64 / turns.len() as f64,
        coupling: slope(&points),
    }
}

/// Mean of VADER's compound score (Hutto & Gilbert 2014) over the sentences, −1 to 1. VADER was
/// made for sentences: over a whole reply its score runs to one of the ends.
pub fn valence(text: &str) -> f64 {
    let analyzer = SentimentIntensityAnalyzer::new();
    let scores: Vec<_> = sentences(text).iter().map(|sentence| analyzer.polarity_scores(sentence).compound).collect();
    if scores.is_empty() { 0.0 } else { mean(&scores) }
}

/// Share of words in capitals. `I` and other single letters are not counted among them.
fn capitals(text: &str) -> f64 {
    let letters = |word: &str| word.chars().filter(|sign| sign.is_alphabetic()).collect::<Vec<_>>();
    let words: Vec<_> = text.split_whitespace().map(letters).filter(|word| !word.is_empty()).collect();
    let loud = words.iter().filter(|word| word.len() > 1 && word.iter().all(|sign| sign.is_uppercase()));
    if words.is_empty() { 0.0 } else { loud.count() as f64 / words.len() as f64 }
}

/// Cuts after closing signs and at line ends; the signs stay, because VADER weighs them.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut begin = 0;
        let mut signs = line.char_indices().peekable();
        while let Some((position, sign)) = signs.next() {
            let more = signs.peek().is_some_and(|(_, next)| !next.is_whitespace());
            if matches!(sign, '.' | '!' | '?' | '…') && !more {
                let end = position + sign.len_utf8();
                found.push(line[begin..end].trim());
                begin = end;
            }
        }
        found.push(line[begin..].trim());
    }
    found.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    found
}

#[cfg(test)]
mod tests {
    use super::super::script::TURNS;
    use super::*;

    #[test]
    fn sentences_end_at_their_signs_and_at_lines() {
        let text = "It cost 1.50 euros. Really?! Yes…\n- a point\n\n...";
        assert_eq!(sentences(text), ["It cost 1.50 euros.", "Really?!", "Yes…", "- a point"]);
    }

    #[test]
    fn valence_has_the_sign_of_the_words() {
        assert!(valence("I love this. It is wonderful.") > 0.4);
        assert!(valence("I hate this. It is horrible.") < -0.4);
        assert!(valence("This is not good.") < 0.0);
        assert!(valence("The table has four legs.").abs() < 0.05);
        assert!(valence("THIS IS HORRIBLE and bad!!!") < valence("this is horrible and bad"));
        assert_eq!(valence(""), 0.0);
        // The figure of VADER's own README, so that the crate is known to be the algorithm.
        assert!((valence("VADER is smart, handsome, and funny.") - 0.8316).abs() < 1e-3);
    }

    #[test]
    fn capitals_are_words_of_more_than_one_letter() {
        assert_eq!(capitals("I am SO very, VERY late"), 2.0 / 6.0);
        assert_eq!(capitals("I A 12 !!"), 0.0);
        assert_eq!(capitals(""), 0.0);
    }

    #[test]
    fn the_scripted_user_gets_angrier() {
        let turns: Vec<_> = TURNS.iter().map(|user| Turn { user: (*user).to_owned(), reply: "Fine.".to_owned() }).collect();
        let Tone { user_first_and_last: (first, last), coupling, .. } = tone(&turns);
        assert!(first > -0.1 && last < first - 0.2, "{first} → {last}");
        assert!(coupling.abs() < 1e-12);
    }

    #[test]
    fn replies_that_mirror_the_user_are_coupled() {
        let mirrored: Vec<_> = TURNS.iter().map(|user| Turn { user: (*user).to_owned(), reply: (*user).to_owned() }).collect();
        let tone = tone(&mirrored);
        assert!((tone.coupling - 1.0).abs() < 1e-9, "{tone:?}");
        assert!(tone.capitals > 0.03 && tone.exclamations > 0.5, "{tone:?}");
    }
}
