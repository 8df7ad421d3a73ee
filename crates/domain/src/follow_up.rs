//! Whether a message goes on with what was said before it.

use serde::{Deserialize, Serialize};

/// Something in a message, or around it, that speaks for or against a follow-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum FollowUpSignal {
    /// Against: nothing was said before it.
    FirstMessage,
    /// For: begins with a word that joins it to something, such as "and" or "but".
    Connective,
    /// For: a pronoun that stands for nothing in the message itself.
    Pronoun,
    /// For: "this" or "that" for something outside of the message.
    Demonstrative,
    /// For: names what was said before: "you said", "the list above", "the second one".
    Reference,
    /// For: leaves out what only the last exchange can fill in: "why?", "the same in blue".
    Ellipsis,
    /// For: asks for the last reply in another form, or for more of it: "shorter", "go on".
    Rework,
    /// For: answers or judges what was said: "yes", "thanks", "I tried it".
    Response,
    /// For: the last reply asked something, and this neither asks nor asks for anything.
    Answer,
    /// For: has words of its subject in common with the last exchange.
    SharedWords,
    /// For: has no word for a thing that the last exchange does not have.
    NothingNew,
    /// For: a few words only.
    Short,
    /// For: was sent soon after the last message.
    Recent,
    /// Against: comes after a long pause.
    LongPause,
    /// Against: says that something else begins: "by the way", "new question", a greeting.
    NewTopic,
    /// Against: has three and more words for things that the last exchange does not have.
    SelfContained,
}

/// The decision about one message, and what it rests on. A guess from words: right in most cases,
/// not in all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct FollowUp {
    /// Whether it needs the last exchange to be understood.
    pub is_follow_up: bool,
    /// How likely that is, 0–1.
    pub score: f32,
    /// What speaks for and against it, each once, in the order of [`FollowUpSignal`].
    pub signals: Vec<FollowUpSignal>,
}

/// How much of the verbatim history a message is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum HistoryNeed {
    /// A fresh subject after a long pause: recall of older messages is worth more than the last ones.
    Little,
    /// What the settings say.
    #[default]
    Usual,
    /// A follow-up: the last exchanges must be there, whole and verbatim, before anything is recalled.
    More,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn is_written_in_camel_case() {
        let decision = FollowUp { is_follow_up: true, score: 0.5, signals: vec![FollowUpSignal::SharedWords] };
        let json = r#"{"isFollowUp":true,"score":0.5,"signals":["sharedWords"]}"#;
        assert_eq!(serde_json::to_string(&decision).unwrap(), json);
        assert_eq!(serde_json::from_str::<FollowUp>(json).unwrap(), decision);
        assert_eq!(serde_json::to_string(&HistoryNeed::default()).unwrap(), r#""usual""#);
    }
}
