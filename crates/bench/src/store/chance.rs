//! Numbers that look random and are the same in every run, and texts made of them.

/// Different words; a person's messages over years have about as many.
const VOCABULARY: f64 = 20_000.0;
const CONSONANTS: [char; 20] =
    ['b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'w', 'x', 'y', 'z'];
const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];
const SYLLABLES: usize = CONSONANTS.len() * VOWELS.len();

/// A sequence of numbers that follows from its seed (SplitMix64: Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of 0 ≤ x < 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// What makes an id unlike others.
    pub fn id_bits(&mut self) -> [u8; 10] {
        let (high, low) = (self.next().to_be_bytes(), self.next().to_be_bytes());
        let mut bits = [0; 10];
        bits[..8].copy_from_slice(&high);
        bits[8..].copy_from_slice(&low[..2]);
        bits
    }

    /// A word: few of them are frequent and most are rare, the n-th one 1/n as frequent as the first.
    pub fn word(&mut self) -> String {
        word(VOCABULARY.powf(self.share()) as usize - 1)
    }

    /// So many words.
    pub fn text(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 7);
        for place in 0..words {
            if place > 0 {
                text.push(' ');
            }
            text.push_str(&self.word());
        }
        text
    }
}

/// The word of a rank; frequent ones are short.
fn word(rank: usize) -> String {
    let (mut word, mut rest) = (String::with_capacity(6), rank);
    loop {
        let syllable = rest % SYLLABLES;
        word.push(CONSONANTS[syllable % CONSONANTS.len()]);
        word.push(VOWELS[syllable / CONSONANTS.len()]);
        rest /= SYLLABLES;
        if rest == 0 {
            return word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn a_seed_gives_the_same_text_and_another_one_another() {
        assert_eq!(Chance::new(7).text(30), Chance::new(7).text(30));
        assert_ne!(Chance::new(7).text(30), Chance::new(8).text(30));
        assert_eq!(Chance::new(7).text(30).split(' ').count(), 30);
    }

    #[test]
    fn every_rank_has_a_word_of_its_own() {
        let words: HashSet<_> = (0..20_000).map(word).collect();
        assert_eq!(words.len(), 20_000);
        assert_eq!((word(0).as_str(), word(25).as_str(), word(100).as_str()), ("ba", "he", "baca"));
    }

    #[test]
    fn frequency_falls_with_the_rank() {
        let mut chance = Chance::new(1);
        let mut seen: HashMap<String, usize> = HashMap::new();
        for _ in 0..100_000 {
            *seen.entry(chance.word()).or_default() += 1;
        }
        // ln(2)/ln(20,000) of all words are the first one.
        let first = seen[&word(0)] as f64 / 100_000.0;
        assert!((first - 0.07).abs() < 0.005, "{first}");
        assert!(seen.len() > 8_000, "{} different words", seen.len());
    }

    #[test]
    fn shares_stay_below_one() {
        let mut chance = Chance::new(3);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&chance.share())));
        assert!((0..10_000).all(|_| chance.below(3) < 3));
    }
}
