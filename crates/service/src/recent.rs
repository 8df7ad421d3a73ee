//! A map that keeps what was used last.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, at most `limit` of them: a new one takes the place of the one not used for longest.
pub(crate) struct Recent<K, V> {
    limit: usize,
    uses: u64,
    entries: HashMap<K, (u64, V)>,
}

impl<K: Eq + Hash + Clone, V> Recent<K, V> {
    pub fn new(limit: usize) -> Self {
        Self { limit, uses: 0, entries: HashMap::new() }
    }

    /// The value of a key, which counts as used now.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.0 = self.uses;
        Some(&entry.1)
    }

    pub fn insert(&mut self, key: K, value: V) {
        self.uses += 1;
        self.entries.insert(key, (self.uses, value));
        if self.entries.len() > self.limit {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            if let Some(key) = oldest {
                self.entries.remove(&key);
            }
        }
    }

    pub fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list ordered by use, cut at the limit.
        #[test]
        fn what_was_used_last_is_kept_and_nothing_else(steps in prop::collection::vec((0u8..3, 0u8..12), 0..200)) {
            let mut recent = Recent::new(5);
            let mut model: Vec<(u8, usize)> = Vec::new();
            for (at, (kind, key)) in steps.into_iter().enumerate() {
                let place = model.iter().position(|(known, _)| *known == key);
                let old = place.map(|place| model.remove(place));
                match kind {
                    0 => {
                        recent.insert(key, at);
                        model.push((key, at));
                        if model.len() > 5 {
                            model.remove(0);
                        }
                    }
                    1 => {
                        prop_assert_eq!(recent.get(&key).copied(), old.map(|(_, value)| value));
                        model.extend(old);
                    }
                    _ => recent.remove(&key),
                }
                prop_assert_eq!(recent.entries.len(), model.len());
                prop_assert!(model.iter().all(|(key, value)| recent.entries.get(key).is_some_and(|(_, kept)| kept == value)));
            }
        }
    }
}
