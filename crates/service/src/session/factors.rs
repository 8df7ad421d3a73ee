//! How many tokens each model counts for one of o200k, learnt from what its provider reports.

use evenkeel_domain::ModelChoice;
use evenkeel_store::{ReadHandle, StoreError, WriteHandle};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Smallest and largest factor that is believed; text in a script that a small model's tokenizer
/// does not know is counted byte by byte there.
const RANGE: (f64, f64) = (0.5, 16.0);
/// Requests of fewer tokens say more about a template's frame than about text.
const LEAST_REQUEST: u32 = 200;
/// Weight of a new report against what was learnt before.
const WEIGHT: f64 = 0.5;
/// After a refusal, when nothing is known but that the count was too low.
const AFTER_REFUSAL: f64 = 2.0;

/// Under which key it is remembered from start to start.
const KEY: &str = "token_factors";

/// A smaller change of a factor is not worth a write.
const LEAST_CHANGE: f64 = 0.001;
/// Models that are remembered.
const MOST: usize = 200;

/// What was learnt so far.
#[derive(Default)]
pub(crate) struct Factors(Mutex<Learnt>);

#[derive(Default)]
struct Learnt {
    factors: HashMap<ModelChoice, f64>,
    /// The models that are not in the vault as they are here.
    unkept: HashSet<ModelChoice>,
}

/// How the tokens of a prompt are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counting {
    /// Tokens of the model for one of o200k.
    pub factor: f64,
    /// They are the model's own, and need no greater margin.
    pub is_exact: bool,
}

/// What was learnt of one model, as it is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    model: ModelChoice,
    factor: f64,
}

impl Factors {
    /// What is remembered of the models whose provider is still there.
    ///
    /// # Errors
    /// The vault cannot be read.
    pub fn load(r: &ReadHandle<'_>) -> Result<Self, StoreError> {
        let providers = r.providers()?;
        let is_there = |kept: &Kept| providers.iter().any(|provider| provider.id == kept.model.provider_id);
        let kept = remembered(r)?.into_iter().filter(is_there);
        let factors = kept.map(|kept| (kept.model, believed(kept.factor))).collect();
        Ok(Self(Mutex::new(Learnt { factors, unkept: HashSet::new() })))
    }

    /// Takes what is to be kept; `None` where nothing was learnt since the last time.
    pub fn unkept(&self) -> Option<Vec<Kept>> {
        let mut learnt = self.locked();
        let models = std::mem::take(&mut learnt.unkept);
        let kept: Vec<Kept> =
            models.into_iter().filter_map(|model| Some(Kept { factor: *learnt.factors.get(&model)?, model })).collect();
        (!kept.is_empty()).then_some(kept)
    }

    /// Tokens of the model for one of o200k.
    pub fn of(&self, model: &ModelChoice) -> f64 {
        self.locked().factors.get(model).copied().unwrap_or_else(|| expected(&model.model))
    }

    /// How to count for a model; `counts_exactly` where o200k is its own tokenizer. That is believed
    /// until it refuses a prompt that should have fitted: then something else takes room too.
    pub fn counting(&self, model: &ModelChoice, counts_exactly: bool) -> Counting {
        let factor = self.of(model);
        let is_exact = counts_exactly && factor <= 1.0 + LEAST_CHANGE;
        Counting { factor: if is_exact { 1.0 } else { factor }, is_exact }
    }

    /// Takes in that a request counted as `counted` had `reported` tokens.
    pub fn report(&self, model: &ModelChoice, counted: u32, reported: u32) {
        if counted < LEAST_REQUEST || reported == 0 {
            return;
        }
        let now = self.of(model);
        let measured = now * f64::from(reported) / f64::from(counted);
        // Some providers leave out of their report what a cache served.
        if !(RANGE.0..=RANGE.1).contains(&measured) {
            return;
        }
        self.put(model, now + (measured - now) * WEIGHT);
    }

    /// Takes in that a prompt was refused as too long. False once nothing more can be gained by
    /// asking again.
    pub fn refused(&self, model: &ModelChoice) -> bool {
        let now = self.of(model);
        self.put(model, now * AFTER_REFUSAL);
        now < RANGE.1
    }

    fn put(&self, model: &ModelChoice, factor: f64) {
        let mut learnt = self.locked();
        let factor = believed(factor);
        // What changes nothing that counts costs no write.
        let before = learnt.factors.insert(model.clone(), factor);
        if before.is_none_or(|before| (before - factor).abs() > LEAST_CHANGE) {
            learnt.unkept.insert(model.clone());
        }
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Learnt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what was learnt beside what is remembered already, by this process or another.
///
/// # Errors
/// `Storage`, `DiskFull`.
pub(crate) fn keep(w: &mut WriteHandle<'_>, learnt: Vec<Kept>) -> Result<(), StoreError> {
    let mut all = remembered(w)?;
    all.retain(|old| !learnt.iter().any(|new| new.model == old.model));
    all.extend(learnt);
    // The newest are the last.
    let all = all.get(all.len().saturating_sub(MOST)..).unwrap_or(&all);
    match serde_json::to_string(all) {
        Ok(text) => w.put_app_state(KEY, &text),
        Err(_) => Err(StoreError::DamagedValue { what: format!("app_state.{KEY}") }),
    }
}

/// What this version cannot read is learnt again.
fn remembered(r: &ReadHandle<'_>) -> Result<Vec<Kept>, StoreError> {
    Ok(r.app_state(KEY)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn believed(factor: f64) -> f64 {
    if factor.is_finite() { factor.clamp(RANGE.0, RANGE.1) } else { 1.0 }
}

/// The factor before anything was reported; measured over 38,527 messages.
fn expected(model: &str) -> f64 {
    let name = model.to_ascii_lowercase();
    if name.contains("claude") {
        1.25
    } else if name.contains("mistral") || name.contains("mixtral") {
        1.04
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, clippy::unwrap_used)]
    use super::*;
    use evenkeel_domain::ProviderId;

    fn model(name: &str) -> ModelChoice {
        ModelChoice { provider_id: ProviderId::from_parts(chrono::DateTime::UNIX_EPOCH, [0; 10]), model: name.to_owned() }
    }

    #[test]
    fn approaches_what_is_reported_and_stays_there() {
        let (factors, model) = (Factors::default(), model("some"));
        for _ in 0..12 {
            let counted = (1_000.0 * factors.of(&model)) as u32;
            factors.report(&model, counted, 1_700);
        }
        assert!((factors.of(&model) - 1.7).abs() < 0.01, "{}", factors.of(&model));
    }

    #[test]
    fn short_requests_and_reports_that_cannot_be_teach_nothing() {
        let (factors, model) = (Factors::default(), model("claude-x"));
        factors.report(&model, 100, 900);
        factors.report(&model, 1_000, 0);
        factors.report(&model, 1_000, 40);
        assert_eq!(factors.of(&model), 1.25);
    }

    #[test]
    fn what_was_learnt_is_to_be_kept_once() {
        let (factors, model) = (Factors::default(), model("some"));
        assert_eq!(factors.unkept(), None);
        factors.report(&model, 1_000, 1_500);
        assert_eq!(factors.unkept(), Some(vec![Kept { model: model.clone(), factor: 1.25 }]));
        assert_eq!(factors.unkept(), None);
        factors.report(&model, 1_250, 1_250);
        assert_eq!(factors.unkept(), None, "it counts as was expected");
    }

    #[test]
    fn the_models_used_last_are_remembered_and_damaged_notes_are_not_believed() {
        let store = evenkeel_store::Store::in_memory("factors", chrono::DateTime::UNIX_EPOCH).unwrap();
        for at in 0..=MOST {
            let kept = vec![Kept { model: model(&at.to_string()), factor: 2.0 }];
            store.write(|w| keep(w, kept)).unwrap();
        }
        let known = store.read(remembered).unwrap();
        assert_eq!((known.len(), known[0].model.model.as_str()), (MOST, "1"));
        store.write(|w| w.put_app_state(KEY, "[{\"model\":7}]")).unwrap();
        assert_eq!(store.read(remembered).unwrap(), []);
        assert_eq!((believed(f64::NAN), believed(-3.0), believed(1e9)), (1.0, 0.5, 16.0));
    }

    #[test]
    fn an_exact_count_is_believed_until_it_is_refused_and_again_when_it_has_proven_right() {
        let (factors, model) = (Factors::default(), model("gpt-4o"));
        assert_eq!(factors.counting(&model, true), Counting { factor: 1.0, is_exact: true });
        assert!(!factors.counting(&model, false).is_exact);
        assert!(factors.refused(&model));
        assert_eq!(factors.counting(&model, true), Counting { factor: 2.0, is_exact: false });
        for _ in 0..20 {
            let counted = (1_000.0 * factors.of(&model)) as u32;
            factors.report(&model, counted, 990);
        }
        assert_eq!(factors.counting(&model, true), Counting { factor: 1.0, is_exact: true });
    }

    #[test]
    fn refusals_raise_it_until_it_ends() {
        let (factors, model) = (Factors::default(), model("some"));
        let asked = (0..20).take_while(|_| factors.refused(&model)).count();
        assert_eq!((asked, factors.of(&model)), (4, 16.0));
    }
}
