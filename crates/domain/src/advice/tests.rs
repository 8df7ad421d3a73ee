#![allow(clippy::unwrap_used)]

use super::*;
use crate::BUILT_IN_PRESETS;
use proptest::prelude::*;

mod prompts;
use prompts::{BAD, GOOD};

/// Four characters a token, the estimate of last resort.
fn estimate(text: &str) -> u32 {
    u32::try_from(text.chars().count().div_ceil(4)).unwrap()
}

fn codes(name: &str, prompt: &str, personality: &str, window: Option<u32>) -> Vec<&'static str> {
    advise(name, prompt, personality, window, estimate).into_iter().map(|advice| advice.kind.code()).collect()
}

#[test]
fn each_bad_prompt_gets_exactly_its_advice() {
    assert!(BAD.len() >= 20);
    let wrong: Vec<_> = BAD
        .iter()
        .map(|(name, prompt, personality, expected)| (prompt, *expected, codes(name, prompt, personality, Some(4_096))))
        .filter(|(_, expected, found)| found.join(" ") != *expected)
        .collect();
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn good_prompts_get_none() {
    assert!(GOOD.len() >= 20);
    let wrong: Vec<_> = GOOD
        .iter()
        .map(|(name, prompt, personality)| (prompt, advise(name, prompt, personality, Some(4_096), estimate)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn the_built_in_presets_get_none() {
    for preset in &BUILT_IN_PRESETS {
        let found = advise(preset.name, preset.system_prompt, preset.default_personality, Some(4_096), estimate);
        assert_eq!(found, [], "{}", preset.id);
    }
}

#[test]
fn a_persona_may_fill_a_quarter_of_the_window() {
    let prompt = "Anna is calm and keeps her own view. ".repeat(30);
    let tokens = estimate(&prompt);
    assert_eq!(codes("Anna", &prompt, "", Some(tokens * 4)), [] as [&str; 0]);
    let found = advise("Anna", &prompt, "", Some(tokens * 4 - 4), estimate);
    assert_eq!(found[0].kind, AdviceKind::TooLongForWindow { tokens, window: tokens * 4 - 4 });
    assert!(found[0].message().contains(&tokens.to_string()));
    assert_eq!(codes("Anna", &prompt, "", None), [] as [&str; 0]);
    // The personality counts too.
    assert_eq!(codes("Anna", &prompt, &prompt, Some(tokens * 4)), ["too_long_for_window"]);
}

#[test]
fn without_rules_only_what_needs_no_language_is_said() {
    let french = "Sylvie est une compagne qui répond dans la bonne humeur et insulte les gens. Tu es toujours brève.";
    assert_eq!(codes("Sylvie", french, "", Some(1_000)), [] as [&str; 0]);
    assert_eq!(codes("Marc", french, "", Some(40)), ["too_long_for_window", "name_missing"]);
    assert_eq!(codes("ハナ", "ハナは落ち着いた相談相手です。", "", None), [] as [&str; 0]);
}

#[test]
fn quotes_show_the_passage() {
    let found = advise("Rex", "Rex keeps his own view. He  insults the\nuser daily. He naps.", "", None, estimate);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].quote.as_deref(), Some("He insults the user daily"));
    assert_eq!(found[0].field, PersonaField::SystemPrompt);
    let found = advise("Rex", "Rex is always brief and keeps his own view.", "Writes at great length.", None, estimate);
    assert_eq!(found[0].quote.as_deref(), Some("Rex is always brief and keeps his own view / Writes at great length"));
    assert_eq!((found[0].kind, found[0].field), (AdviceKind::Contradictory, PersonaField::Personality));
    let long = format!("Rex keeps his own view. {} he insults the user {}", "and".repeat(90), "so ".repeat(90));
    let found = advise("Rex", &long, "", None, estimate);
    let quote = found[0].quote.clone().unwrap();
    assert!(quote.starts_with("insults the user so") && quote.ends_with('…') && quote.chars().count() == 120, "{quote}");
}

#[test]
fn every_kind_has_a_code_and_a_message() {
    let kinds = [
        AdviceKind::TooLongForWindow { tokens: 9, window: 10 },
        AdviceKind::NameMissing,
        AdviceKind::SecondPerson,
        AdviceKind::NoStance,
        AdviceKind::Contradictory,
        AdviceKind::InstructsHostility,
    ];
    for kind in kinds {
        assert_eq!(serde_json::to_value(kind).unwrap()["code"], kind.code());
        let advice = Advice { kind, quote: None, field: PersonaField::SystemPrompt };
        assert!(advice.message().ends_with(['.', '"']), "{}", advice.message());
        let back: Advice = serde_json::from_str(&serde_json::to_string(&advice).unwrap()).unwrap();
        assert_eq!(back, advice);
    }
}

#[test]
fn every_phrase_can_be_found() {
    for (list, unreachable) in rules::unreachable() {
        assert_eq!(unreachable, [] as [usize; 0], "{list}");
    }
}

proptest! {
    #[test]
    fn any_persona_is_read_without_a_crash(name: String, prompt: String, personality: String, window: Option<u32>) {
        for advice in advise(&name, &prompt, &personality, window, estimate) {
            prop_assert!(advice.quote.is_none_or(|quote| quote.chars().count() <= QUOTE));
        }
    }

    #[test]
    fn quotes_stay_short(words in prop::collection::vec("you|insult|the|user|never|always|brief|at great length|[.,\n\"]|é{1,40}", 0..80)) {
        for advice in advise("Rex", &words.join(" "), &words.concat(), Some(100), estimate) {
            prop_assert!(advice.quote.is_none_or(|quote| quote.chars().count() <= QUOTE));
        }
    }
}
