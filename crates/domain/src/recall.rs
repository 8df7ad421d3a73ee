//! Recall: bringing back older messages that bear on what is being said.

use crate::{ContextId, ConversationId, MessageId, Role};
use chrono::{DateTime, Utc};

/// A word that is looked for, whatever its ending.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallWord {
    /// What is common to its inflections; texts are compared by it.
    pub stem: String,
    /// Inflections as they may stand in the index. None for a piece of writing without spaces, which
    /// is looked for in the texts instead.
    pub forms: Vec<String>,
    /// How much it counts beside the others, above 0; 1 for a word of the message itself.
    pub weight: f32,
}

/// Which messages may be brought back, and by what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallWish {
    /// The words.
    pub words: Vec<RecallWord>,
    /// Contexts whose conversations are looked through.
    pub contexts: Vec<ContextId>,
    /// The conversation that the question stands in, which is looked through too, and the message
    /// that it follows: only the branch above that counts. `None` as the message = it begins there.
    pub here: Option<(ConversationId, Option<MessageId>)>,
    /// Messages that are sent anyway.
    pub without: Vec<MessageId>,
    /// Whether the words of contexts that are local only may be among them.
    pub with_local_only: bool,
    /// Messages that a comparison of meanings found, the nearest first.
    pub nearest: Vec<MessageId>,
}

/// A message that may be brought back, or stands beside one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallCandidate {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// What it follows.
    pub parent_id: Option<MessageId>,
    /// Who wrote it.
    pub role: Role,
    /// The name of the companion that wrote it; empty for the user's.
    pub speaker: String,
    /// The text.
    pub text: String,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

/// What was found by a [`RecallWish`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallFound {
    /// The candidates, in no order.
    pub candidates: Vec<RecallCandidate>,
    /// How many messages were looked through.
    pub messages: u64,
    /// In how many of them each word is, as far as was counted.
    pub frequencies: Vec<u64>,
}

/// What a text means to an embedding model: a direction, kept in one byte a dimension.
///
/// Cosines of vectors cut to bytes differ from those of the floats in the third decimal, and take a
/// quarter of the room.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    scale: f32,
    values: Vec<i8>,
}

impl Meaning {
    /// Most dimensions.
    pub const MOST_DIMENSIONS: usize = 8_192;

    /// The direction of a vector; `None` where it has none: no values, too many, zeros alone, or
    /// something that is no number.
    #[must_use]
    pub fn of(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if vector.len() > Self::MOST_DIMENSIONS || !length.is_finite() || length <= 0.0 || largest <= 0.0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // between -127 and 127
        let values = vector.iter().map(|value| (value / largest * 127.0).round() as i8).collect();
        #[allow(clippy::cast_possible_truncation)] // at most 1/127
        let scale = (f64::from(largest) / 127.0 / length) as f32;
        Some(Self { scale, values })
    }

    /// Puts one together from how it is stored.
    #[must_use]
    pub fn from_stored(scale: f32, values: Vec<i8>) -> Option<Self> {
        (scale.is_finite() && !values.is_empty()).then_some(Self { scale, values })
    }

    /// How it is stored: what each value is multiplied with, and the values.
    #[must_use]
    pub fn stored(&self) -> (f32, &[i8]) {
        (self.scale, &self.values)
    }

    /// The cosine of the angle to another one, -1 to 1; `None` where they are of different models.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> Option<f32> {
        if self.values.len() != other.values.len() {
            return None;
        }
        let products = self.values.iter().zip(&other.values).map(|(one, two)| i32::from(*one) * i32::from(*two));
        // 8,192 products of at most 127² stay below 2^28; rounding may put a parallel pair past 1.
        #[allow(clippy::cast_precision_loss)]
        let sum = products.sum::<i32>() as f32;
        Some((sum * self.scale * other.scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn similar_directions_have_cosines_near_one() {
        let of = |vector: &[f32]| Meaning::of(vector).unwrap();
        let same = of(&[3.0, 4.0]).similarity(&of(&[0.3, 0.4])).unwrap();
        assert!((same - 1.0).abs() < 0.01, "{same}");
        let apart = of(&[1.0, 0.0]).similarity(&of(&[0.0, -2.0])).unwrap();
        assert!(apart.abs() < 0.01, "{apart}");
        let exact = 11.0 / (5.0_f32.sqrt() * 25.0_f32.sqrt());
        let near = of(&[1.0, 2.0]).similarity(&of(&[3.0, 4.0])).unwrap();
        assert!((near - exact).abs() < 0.01, "{near} {exact}");
        assert_eq!(of(&[1.0]).similarity(&of(&[1.0, 1.0])), None);
    }

    #[test]
    fn what_is_no_direction_is_no_meaning() {
        let long = vec![1.0; Meaning::MOST_DIMENSIONS + 1];
        for vector in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &long] {
            assert_eq!(Meaning::of(vector), None);
        }
    }

    #[test]
    fn it_comes_back_as_it_was_stored() {
        let meaning = Meaning::of(&[0.5, -0.25, 0.0]).unwrap();
        let (scale, values) = meaning.stored();
        assert_eq!(Meaning::from_stored(scale, values.to_vec()), Some(meaning.clone()));
        assert_eq!(Meaning::from_stored(f32::NAN, vec![1]), None);
    }
}
