//! Which of the candidates bear most on the question.

use super::question::Question;
use super::stem::stem;
use super::words::pieces;
use evenkeel_domain::{ConversationId, MessageId, RecallCandidate, RecallFound, Role, plain_word};
use std::collections::{HashMap, HashSet};

/// How candidates are scored; where the parameters come from is in `docs/adr/0020-recall.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// BM25: how fast a word that comes again stops counting (Robertson and Zaragoza 2009).
    pub k1: f32,
    /// BM25: how much a long message has to say more to count the same.
    pub b: f32,
    /// What a message of the user counts: what is asked about later is mostly what the user said.
    pub user: f32,
    /// What a reply counts. Long replies repeat everybody's words and would drown the rest: any@5 on
    /// BEAM-100K is 0.685 over user messages alone and 0.493 over all.
    pub assistant: f32,
    /// What the messages before and after it add: an answer is found by its question.
    pub neighbours: f32,
    /// What its conversation adds.
    pub conversation: f32,
    /// Reciprocal rank fusion of words and meanings (Cormack, Clarke and Büttcher 2009).
    pub fusion: f32,
    /// A message below this share of the best one's score is not worth its tokens.
    pub least: f32,
}

/// The parameters in use.
pub const RANKING: Ranking =
    Ranking { k1: 1.2, b: 0.75, user: 1.0, assistant: 0.7, neighbours: 0.5, conversation: 0.4, fusion: 60.0, least: 0.3 };

/// Characters of a message that are looked at: what bears on a question seldom stands so far in.
const REACH: usize = 20_000;
/// Messages of a conversation that make its score: the sum of all of them would favour long ones.
const OF_A_CONVERSATION: usize = 3;

/// The candidates in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranked {
    /// Positions among the candidates with their scores, the best first.
    pub messages: Vec<(usize, f32)>,
    /// Conversations with theirs, the best first.
    pub conversations: Vec<(ConversationId, f32)>,
}

/// Orders candidates: score = message + 0.5 × neighbours + 0.4 × conversation, each as a share of the
/// best one's; with `nearest`, messages in the order of a comparison of meanings, both orders are
/// fused.
#[must_use]
pub fn ranked(question: &Question, found: &RecallFound, nearest: &[MessageId], ranking: &Ranking) -> Ranked {
    let candidates = &found.candidates;
    let own = shares(&message_scores(question, found, ranking));
    let around = neighbour_scores(candidates, &own);
    let conversations = conversation_scores(candidates, &own);
    let of = |at: usize| conversations.get(&candidates[at].conversation_id).copied().unwrap_or(0.0);
    let total = |at: usize| own[at] + ranking.neighbours * around[at] + ranking.conversation * of(at);
    let mut messages: Vec<(usize, f32)> =
        (0..candidates.len()).filter(|at| own[*at] > 0.0 || around[*at] > 0.0).map(|at| (at, total(at))).collect();
    order(&mut messages, candidates);
    if !nearest.is_empty() {
        messages = fused(&messages, candidates, nearest, ranking.fusion);
    }
    let mut conversations: Vec<_> = conversations.into_iter().collect();
    conversations.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
    Ranked { messages, conversations }
}

/// The best `count` of them that are worth their tokens, the best first. What says nothing but the
/// question itself is passed over: it is what was asked before, not an answer.
#[must_use]
pub fn best(ranked: &Ranked, found: &RecallFound, asked: &str, count: usize, ranking: &Ranking) -> Vec<RecallCandidate> {
    let top = ranked.messages.first().map_or(0.0, |(_, score)| *score);
    let asked = asked.trim();
    let worth = ranked.messages.iter().filter(|(_, score)| *score >= top * ranking.least);
    let messages = worth.map(|(at, _)| &found.candidates[*at]).filter(|candidate| candidate.text.trim() != asked);
    let mut chosen: Vec<RecallCandidate> = Vec::new();
    for message in messages {
        // The same thing said twice says no more than once.
        if chosen.len() < count && !chosen.iter().any(|other| other.text == message.text && other.role == message.role) {
            chosen.push(message.clone());
        }
    }
    chosen
}

/// The best first, of equal ones the newest, and always the same order.
fn order(messages: &mut [(usize, f32)], candidates: &[RecallCandidate]) {
    messages.sort_by(|one, two| {
        let (first, second) = (&candidates[one.0], &candidates[two.0]);
        let newest = second.created_at.cmp(&first.created_at).then(second.message_id.cmp(&first.message_id));
        two.1.total_cmp(&one.1).then(newest)
    });
}

/// BM25 with the user's messages and the replies as fields of their own: each is measured by the length
/// of its kind.
#[allow(clippy::cast_precision_loss)]
fn message_scores(question: &Question, found: &RecallFound, ranking: &Ranking) -> Vec<f32> {
    let wanted = Wanted::of(question);
    let counted: Vec<(f32, Vec<f32>)> = found.candidates.iter().map(|candidate| wanted.counts(&candidate.text)).collect();
    let mean = |role: Role| {
        let of: Vec<f32> =
            counted.iter().zip(&found.candidates).filter(|(_, one)| one.role == role).map(|((length, _), _)| *length).collect();
        (of.iter().sum::<f32>() / of.len().max(1) as f32).max(1.0)
    };
    let (users, replies) = (mean(Role::User), mean(Role::Assistant));
    let rarity: Vec<f32> = (0..question.words.len())
        .map(|at| {
            let frequency = found.frequencies.get(at).copied().unwrap_or(0) as f32;
            let messages = (found.messages as f32).max(frequency);
            ((messages - frequency + 0.5) / (frequency + 0.5)).ln_1p() * question.words[at].weight
        })
        .collect();
    let score = |(candidate, (length, counts)): (&RecallCandidate, &(f32, Vec<f32>))| {
        let (field, mean) = if candidate.role == Role::User { (ranking.user, users) } else { (ranking.assistant, replies) };
        let norm = ranking.k1 * (1.0 - ranking.b + ranking.b * length / mean);
        field
            * counts.iter().zip(&rarity).map(|(count, rarity)| rarity * count * (ranking.k1 + 1.0) / (count + norm)).sum::<f32>()
    };
    found.candidates.iter().zip(&counted).map(score).collect()
}

/// What is counted in the texts.
struct Wanted<'a> {
    /// Places of the words by their stems.
    places: HashMap<&'a str, usize>,
    /// The letters that their inflections begin with: most words of a text begin with others, and need
    /// no stem.
    beginnings: HashSet<char>,
}

impl<'a> Wanted<'a> {
    fn of(question: &'a Question) -> Self {
        let first = |text: &str| plain_word(text).chars().next();
        let words = &question.words;
        Self {
            places: words.iter().enumerate().map(|(at, word)| (word.stem.as_str(), at)).collect(),
            beginnings: words.iter().flat_map(|word| word.forms.iter().filter_map(|form| first(form))).collect(),
        }
    }

    /// How many words a text has, and how often each that is looked for.
    #[allow(clippy::cast_precision_loss)]
    fn counts(&self, text: &str) -> (f32, Vec<f32>) {
        let reach = text.char_indices().nth(REACH).map_or(text.len(), |(at, _)| at);
        let text = &text[..reach];
        let mut counts = vec![0.0; self.places.len()];
        let pieces = pieces(text);
        for piece in &pieces {
            let word = &text[piece.place.clone()];
            let at = match word.chars().next() {
                _ if piece.is_unspaced => self.places.get(word.to_lowercase().as_str()),
                Some(c) if c.is_ascii() && !self.beginnings.contains(&c.to_ascii_lowercase()) => None,
                _ => self.places.get(stem(&plain_word(word)).as_str()),
            };
            if let Some(at) = at {
                counts[*at] += 1.0;
            }
        }
        (pieces.len() as f32, counts)
    }
}

/// Each as a share of the largest.
fn shares(scores: &[f32]) -> Vec<f32> {
    let largest = scores.iter().copied().fold(0.0, f32::max);
    scores.iter().map(|score| if largest > 0.0 { score / largest } else { 0.0 }).collect()
}

/// The better of what stands before a message and what follows it.
fn neighbour_scores(candidates: &[RecallCandidate], own: &[f32]) -> Vec<f32> {
    let places: HashMap<MessageId, usize> = candidates.iter().enumerate().map(|(at, one)| (one.message_id, at)).collect();
    let mut around = vec![0.0_f32; candidates.len()];
    for (at, candidate) in candidates.iter().enumerate() {
        let Some(parent) = candidate.parent_id.and_then(|parent| places.get(&parent).copied()) else { continue };
        around[at] = around[at].max(own[parent]);
        around[parent] = around[parent].max(own[at]);
    }
    around
}

/// What the best messages of a conversation score together, as a share of the best conversation's.
fn conversation_scores(candidates: &[RecallCandidate], own: &[f32]) -> HashMap<ConversationId, f32> {
    let mut of: HashMap<ConversationId, Vec<f32>> = HashMap::new();
    for (candidate, score) in candidates.iter().zip(own) {
        of.entry(candidate.conversation_id).or_default().push(*score);
    }
    let sum = |mut scores: Vec<f32>| {
        scores.sort_by(|one, two| two.total_cmp(one));
        scores.iter().take(OF_A_CONVERSATION).sum::<f32>()
    };
    let sums: HashMap<ConversationId, f32> = of.into_iter().map(|(id, scores)| (id, sum(scores))).collect();
    let largest = sums.values().copied().fold(0.0, f32::max);
    sums.into_iter().map(|(id, sum)| (id, if largest > 0.0 { sum / largest } else { 0.0 })).collect()
}

/// Reciprocal rank fusion: 1 / (k + rank) in each order, added up.
#[allow(clippy::cast_precision_loss)]
fn fused(by_words: &[(usize, f32)], candidates: &[RecallCandidate], nearest: &[MessageId], k: f32) -> Vec<(usize, f32)> {
    let places: HashMap<MessageId, usize> = candidates.iter().enumerate().map(|(at, one)| (one.message_id, at)).collect();
    let by_meaning = nearest.iter().filter_map(|id| places.get(id).copied());
    let mut sums: HashMap<usize, f32> = HashMap::new();
    for (rank, at) in by_words.iter().map(|(at, _)| *at).enumerate().chain(by_meaning.enumerate()) {
        *sums.entry(at).or_default() += 1.0 / (k + rank as f32 + 1.0);
    }
    let mut messages: Vec<(usize, f32)> = sums.into_iter().collect();
    order(&mut messages, candidates);
    messages
}
