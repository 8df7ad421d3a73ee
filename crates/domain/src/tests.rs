#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::*;
use chrono::{DateTime, Duration, TimeZone, Utc};
use std::collections::BTreeSet;

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

fn draft() -> ContextDraft {
    ContextDraft {
        name: "Anna".into(),
        system_prompt: "Anna is calm.".into(),
        personality: String::new(),
        temperature: 0.7,
        max_tokens: 1_000,
        max_history_tokens: 15_000,
        expiry_days: Some(7),
        model: None,
        local_only: false,
        maintain_personality: true,
        preset_id: None,
        anchor: None,
        tags: Vec::new(),
        strategy: StrategyChoice::default(),
        memory: MemorySettings::default(),
    }
}

/// The error of a draft after one change, as (field, value, range).
fn refused(change: impl FnOnce(&mut ContextDraft)) -> (&'static str, String, String) {
    let mut draft = draft();
    change(&mut draft);
    let error = draft.check().expect_err("must be refused");
    (error.field, error.value, error.range)
}

mod presets {
    use super::*;

    #[test]
    fn are_those_of_the_design() {
        let table = [
            ("preset-calm-counselor", "Calm Counselor", 0.6, 1_200, 14, false),
            ("preset-rational-advisor", "Rational Advisor", 0.5, 1_000, 7, false),
            ("preset-supportive-guide", "Supportive Guide", 0.8, 1_500, 10, false),
            ("preset-professional-assistant", "Professional Assistant", 0.7, 1_000, 7, false),
            ("preset-decision-making-supporter", "Decision Making Supporter", 0.4, 1_500, 14, true),
            ("preset-search-key-advisor", "Search Key Advisor", 0.6, 1_200, 10, true),
        ];
        let own = BUILT_IN_PRESETS.map(|p| (p.id, p.name, p.temperature, p.max_tokens, p.expiry_days, p.experimental));
        assert_eq!(own, table);
        assert!(BUILT_IN_PRESETS.iter().all(|preset| preset.max_history_tokens == 15_000));
    }

    #[test]
    fn speak_of_the_companion_by_name_with_a_stance_of_its_own() {
        for preset in &BUILT_IN_PRESETS {
            let prompt = preset.system_prompt;
            assert!(prompt.starts_with(&format!("{} is an AI companion who ", preset.name)), "{}", preset.id);
            for needed in [
                "does not take over the user's stance or mood",
                "professional boundaries",
                "length and depth",
                "not the user's mood",
            ] {
                assert!(prompt.contains(needed), "{} lacks {needed:?}", preset.id);
            }
            for needed in ["danger", "local emergency number", "local helpline", "therapist"] {
                assert!(prompt.contains(needed), "{} lacks {needed:?}", preset.id);
            }
            let words: BTreeSet<&str> = prompt.split(|c: char| !c.is_alphanumeric()).collect();
            assert!(
                ["I", "you", "You", "your", "my"].iter().all(|word| !words.contains(word)),
                "{} leaves the third person",
                preset.id
            );
            let count = prompt.split_whitespace().count();
            assert!((150..=300).contains(&count), "{} has {count} words", preset.id);
        }
    }

    #[test]
    fn experimental_ones_have_every_element_of_the_design() {
        let holds = |id: &str, needed: &[&str]| {
            let preset = BUILT_IN_PRESETS.iter().find(|preset| preset.id == id).unwrap();
            for text in needed {
                assert!(preset.system_prompt.contains(text), "{id} lacks {text:?}");
            }
        };
        let steps = ["1. Gather", "2. Analyse", "3. Evaluate", "4. Select", "lists and organises the options"];
        let judging = ["merits, demerits, risks and returns", "SWOT", "decision matrix", "no emotional or intuitive shortcut"];
        holds("preset-decision-making-supporter", &[&steps[..], &judging].concat());
        holds("preset-decision-making-supporter", &["asks for information that is missing", "evaluates again"]);
        let where_to = [
            "purpose and the field",
            "keywords",
            "strategy",
            "each platform",
            "web search, academic databases",
            "engines of an industry",
        ];
        holds("preset-search-key-advisor", &where_to);
        holds(
            "preset-search-key-advisor",
            &["improve results", "reliability and relevance", "specialised sources", "the right era"],
        );
    }

    #[test]
    fn become_valid_records() {
        for preset in &BUILT_IN_PRESETS {
            let record = preset.to_preset(noon());
            let metadata: serde_json::Value = serde_json::from_str(&record.metadata).unwrap();
            assert_eq!(metadata["builtIn"], true);
            assert_eq!(metadata.get("experimental").is_some(), preset.experimental, "{}", record.metadata);
            assert_eq!((record.created_at, record.updated_at, record.is_active), (noon(), noon(), true));
            let settings = record.default_settings;
            let made = ContextDraft {
                name: record.name,
                system_prompt: record.system_prompt,
                personality: record.default_personality,
                temperature: settings.temperature,
                max_tokens: settings.max_tokens,
                max_history_tokens: settings.max_history_tokens,
                expiry_days: settings.expiry_days,
                preset_id: Some(record.id),
                ..draft()
            };
            assert_eq!(made.check(), Ok(()));
        }
    }
}

mod revision {
    use super::*;

    fn id(name: &str, prompt: &str, personality: &str, anchor: Option<&str>) -> String {
        Revision::new(name, prompt, personality, anchor, noon()).id.to_string()
    }

    #[test]
    fn id_is_the_documented_hash() {
        // SHA-256 over each part with its length before it, computed by another program.
        assert_eq!(id("Anna", "Anna is calm.", "Dry.", None), "10efabd8fb8b39fc01437fc74b612b0de208d8bd5ab84056bb0add263fffb7f0");
    }

    #[test]
    fn id_follows_from_the_content_alone() {
        let later = Revision::new("Anna", "p", "x", None, noon() + Duration::days(9));
        assert_eq!(later.id.as_str(), id("Anna", "p", "x", None));
    }

    #[test]
    fn every_part_counts_and_none_runs_into_the_next() {
        let ids = [
            id("ab", "c", "", None),
            id("a", "bc", "", None),
            id("", "abc", "", None),
            id("ab", "", "c", None),
            id("ab", "c", "", Some("")),
            id("ab", "", "", Some("c")),
            id("ab", "c ", "", None),
            id("Ab", "c", "", None),
        ];
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert!(ids.iter().all(|id| id.len() == 64 && id.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))));
    }
}

mod message_text {
    use super::*;

    #[test]
    fn blank_ones_are_refused() {
        for text in ["", " ", "\n\t ", "\u{3000}"] {
            let error = Limits::default().check_message(text).unwrap_err();
            assert_eq!((error.field, error.value.as_str()), ("text", "empty"), "{text:?}");
        }
    }

    #[test]
    fn the_limit_is_one_mebibyte_to_the_byte() {
        let limits = Limits::default();
        let whole = "x".repeat(1 << 20);
        assert_eq!(limits.check_message(&whole), Ok(()));
        let error = limits.check_message(&format!("{whole}x")).unwrap_err();
        assert_eq!((error.value.as_str(), error.range.as_str()), ("1048577 bytes", "at most 1048576 bytes"));
        // Bytes count here, not characters: 262,144 of four bytes are the limit.
        assert_eq!(limits.check_message(&"🫠".repeat(262_144)), Ok(()));
        assert!(limits.check_message(&"🫠".repeat(262_145)).is_err());
    }

    #[test]
    fn nul_is_refused_and_every_other_text_passes() {
        let error = Limits::default().check_message("ab\0c").unwrap_err();
        assert_eq!(error.value, "a NUL character at byte 2");
        for text in ["שלום עולם", "\u{202e}abc\u{202c}", "👩‍👩‍👧‍👦", "\u{fffd}", "\u{1b}[31m", "a\r\nb"]
        {
            assert_eq!(Limits::default().check_message(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn limits_are_configurable() {
        let limits = Limits { message_bytes: 3, ..Limits::default() };
        assert_eq!(limits.check_message("abc"), Ok(()));
        assert!(limits.check_message("äb c").is_err());
    }
}

mod draft_ranges {
    use super::*;

    #[test]
    fn temperature() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.01, -0.01] {
            let (field, _, range) = refused(|draft| draft.temperature = value);
            assert_eq!((field, range.as_str()), ("temperature", "0 to 1"), "{value}");
        }
        assert_eq!(refused(|draft| draft.temperature = 1.01).1, "1.01");
        for value in [0.0, 1.0, 0.7] {
            assert_eq!(ContextDraft { temperature: value, ..draft() }.check(), Ok(()));
        }
    }

    #[test]
    fn names_count_characters_not_bytes() {
        assert_eq!(ContextDraft { name: "🫠".repeat(120), ..draft() }.check(), Ok(()));
        assert_eq!(refused(|draft| draft.name = "🫠".repeat(121)).1, "121 characters");
        for name in ["", "   ", "a\0b"] {
            assert_eq!(refused(|draft| draft.name = name.into()).0, "name", "{name:?}");
        }
    }

    #[test]
    fn texts() {
        assert_eq!(ContextDraft { system_prompt: "é".repeat(32_000), personality: "é".repeat(8_000), ..draft() }.check(), Ok(()));
        assert_eq!(refused(|draft| draft.system_prompt = "é".repeat(32_001)).0, "systemPrompt");
        assert_eq!(refused(|draft| draft.system_prompt.clear()).0, "systemPrompt");
        assert_eq!(refused(|draft| draft.personality = "é".repeat(8_001)).0, "personality");
        assert_eq!(refused(|draft| draft.personality = "\0".into()).1, "text with a NUL character");
    }

    #[test]
    fn numbers_at_both_ends() {
        assert_eq!(refused(|draft| draft.max_tokens = 0).0, "maxTokens");
        assert_eq!(refused(|draft| draft.max_tokens = 131_073).2, "1 to 131072");
        assert_eq!(refused(|draft| draft.max_history_tokens = 499).0, "maxHistoryTokens");
        assert_eq!(refused(|draft| draft.max_history_tokens = 2_000_001).0, "maxHistoryTokens");
        assert_eq!(refused(|draft| draft.expiry_days = Some(0)).0, "expiryDays");
        assert_eq!(refused(|draft| draft.expiry_days = Some(3_651)).2, "1 to 3650");
        for days in [None, Some(1), Some(3_650)] {
            let edge = ContextDraft { max_tokens: 131_072, max_history_tokens: 500, expiry_days: days, ..draft() };
            assert_eq!(edge.check(), Ok(()));
        }
    }

    #[test]
    fn errors_name_field_value_and_range_on_every_face() {
        let error = ContextDraft { max_tokens: 0, ..draft() }.check().unwrap_err();
        let body = ErrorBody::from(error);
        assert_eq!(body.code, ErrorCode::InvalidParameter);
        assert_eq!(body.message, "maxTokens is 0; it must be 1 to 131072");
        assert_eq!(
            (&*body.details["field"], &*body.details["value"], &*body.details["range"]),
            ("maxTokens", "0", "1 to 131072")
        );
    }
}

mod ids {
    use super::*;

    #[test]
    fn only_uuids_are_ids() {
        let long = "x".repeat(5_000);
        for text in [
            "",
            "1",
            "../../etc/passwd",
            "01890a5d-ac96-774b-bcce-b302099a805",
            "01890a5d-ac96-774b-bcce-b302099a805g",
            "ａ",
            &long,
        ] {
            let error = text.parse::<MessageId>().expect_err(text);
            assert_eq!(error.kind, "message");
            assert!(error.value.chars().count() <= 64);
            assert!(error.to_string().contains("not a valid message id"));
        }
        assert_eq!("x".parse::<ContextId>().unwrap_err().kind, "context");
        assert_eq!("x".parse::<ConversationId>().unwrap_err().kind, "conversation");
        assert_eq!("x".parse::<ProviderId>().unwrap_err().kind, "provider");
    }

    #[test]
    fn text_and_json_go_both_ways() {
        let id = MessageId::from_parts(noon(), [7; 10]);
        assert_eq!(id.to_string().parse::<MessageId>(), Ok(id));
        assert_eq!(serde_json::from_str::<MessageId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        assert!(serde_json::from_str::<MessageId>("\"../x\"").is_err());
        assert_eq!(id.uuid().get_version_num(), 7);
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let early = MessageId::from_parts(noon(), [255; 10]);
        let late = MessageId::from_parts(noon() + Duration::milliseconds(1), [0; 10]);
        assert!(early < late);
    }
}

mod lifetime {
    use super::*;

    #[test]
    fn ends_days_after_the_last_interaction() {
        assert_eq!(Context::expiry(noon(), Some(7)), Some(noon() + Duration::days(7)));
        assert_eq!(Context::expiry(noon(), None), None);
        assert_eq!(Context::expiry(DateTime::<Utc>::MAX_UTC, Some(1)), None, "beyond the calendar means never");
    }
}

mod tags {
    use super::*;

    fn tags(of: &[&str]) -> Vec<String> {
        of.iter().map(|&tag| tag.to_owned()).collect()
    }

    #[test]
    fn are_trimmed_and_each_is_there_once() {
        assert_eq!(checked_tags(&tags(&[" Work ", "Über"])), Ok(tags(&["Work", "Über"])));
        let twice = checked_tags(&tags(&["Über", "ÜBER "])).unwrap_err();
        assert_eq!((twice.field, twice.value.as_str()), ("tags", "\"ÜBER\" twice"));
    }

    #[test]
    fn have_a_length_and_a_number() {
        assert_eq!(checked_tags(&[]), Ok(Vec::new()));
        assert!(checked_tags(&["🫠".repeat(40)]).is_ok());
        for bad in ["", "  ", "a\0b", &"x".repeat(41)] {
            assert_eq!(checked_tags(&tags(&[bad])).unwrap_err().field, "tags", "{bad:?}");
        }
        let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
        assert!(checked_tags(&many[..20]).is_ok());
        assert_eq!(checked_tags(&many).unwrap_err().range, "0 to 20");
        assert_eq!(refused(|draft| draft.tags = tags(&["a", "A"])).0, "tags");
    }
}

mod patch {
    use super::*;

    fn context() -> Context {
        Context {
            id: ContextId::from_parts(noon(), [1; 10]),
            name: "Anna".into(),
            system_prompt: "Anna is calm.".into(),
            personality: String::new(),
            anchor: Some("Stay Anna.".into()),
            revision_id: RevisionId::new("r"),
            temperature: 0.7,
            max_tokens: 1_000,
            max_history_tokens: 15_000,
            expiry_days: Some(7),
            model: Some(ModelChoice { provider_id: ProviderId::from_parts(noon(), [2; 10]), model: "small".into() }),
            local_only: false,
            maintain_personality: true,
            preset_id: None,
            created_at: noon(),
            updated_at: noon(),
            last_interaction_at: noon(),
            expires_at: None,
            is_active: true,
            deleted_at: None,
            tags: vec!["work".into()],
            strategy: StrategyChoice::standard(SUMMARIZATION),
            memory: MemorySettings { anchor_from_turn: 1, ..MemorySettings::default() },
        }
    }

    fn applied(json: &str) -> ContextDraft {
        serde_json::from_str::<ContextPatch>(json).unwrap().onto(&context())
    }

    #[test]
    fn what_is_absent_stays() {
        let draft = applied("{}");
        assert_eq!((draft.model, draft.anchor, draft.tags), (context().model, context().anchor, context().tags));
        assert_eq!(serde_json::to_value(ContextPatch::default()).unwrap().get("model"), None);
    }

    #[test]
    fn null_brings_the_default_model_back() {
        assert_eq!(applied(r#"{"model":null}"#).model, None);
        let chosen = r#"{"model":{"providerId":"01890a5d-ac96-774b-bcce-b302099a8057","model":"large"}}"#;
        assert_eq!(applied(chosen).model.unwrap().model, "large");
        for json in ["{}", r#"{"model":null}"#, chosen] {
            let patch: ContextPatch = serde_json::from_str(json).unwrap();
            let again = serde_json::from_str(&serde_json::to_string(&patch).unwrap()).unwrap();
            assert_eq!(patch, again, "{json}");
        }
    }

    #[test]
    fn a_blank_anchor_is_none_and_tags_are_replaced() {
        assert_eq!(applied(r#"{"anchor":" "}"#).anchor, None);
        assert_eq!(applied(r#"{"anchor":"New."}"#).anchor.as_deref(), Some("New."));
        assert_eq!(applied(r#"{"tags":[]}"#).tags, Vec::<String>::new());
        assert_eq!(refused(|draft| draft.anchor = Some("x".repeat(2_001))).0, "anchor");
        assert_eq!(refused(|draft| draft.anchor = Some(" ".into())).0, "anchor");
    }
}

mod queries {
    use super::*;

    #[test]
    fn have_ranges() {
        let contexts = |page, page_size| ContextQuery { page, page_size, ..ContextQuery::default() }.check();
        assert_eq!((contexts(1, 1), contexts(9, 500)), (Ok(()), Ok(())));
        assert_eq!(contexts(0, 10).unwrap_err().field, "page");
        assert_eq!(contexts(1, 501).unwrap_err().range, "1 to 500");
        assert_eq!(PresetQuery { page_size: 0, ..PresetQuery::default() }.check().unwrap_err().field, "pageSize");
        assert_eq!(ConversationQuery { limit: 501, ..ConversationQuery::default() }.check().unwrap_err().field, "limit");
        let search = |text: &str, limit, before: Option<&str>| {
            let query = SearchQuery { text: text.into(), limit, before: before.map(str::to_owned), ..SearchQuery::default() };
            query.check().map_err(|error| error.field)
        };
        assert_eq!(search("calm", 100, Some("12")), Ok(()));
        assert_eq!(
            (search("", 1, None), search("a", 101, None), search("a", 1, Some("x"))),
            (Err("text"), Err("limit"), Err("before"))
        );
        assert_eq!(search(&"x".repeat(1_001), 1, None), Err("text"));
    }

    #[test]
    fn are_read_from_what_is_named_alone() {
        let query: ContextQuery = serde_json::from_str(r#"{"includeExpired":true,"sort":"expiresSoon"}"#).unwrap();
        assert_eq!(query, ContextQuery { include_expired: true, sort: ContextSort::ExpiresSoon, ..ContextQuery::default() });
        assert_eq!((query.page, query.page_size), (1, 10));
    }
}
