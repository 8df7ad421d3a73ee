//! Whatever lies in the files or comes out of a module, the host answers with an error or a choice.

use crate::{FIRST, ask, composing, folder, load, manifest};
use evenkeel_plugin::Host;
use proptest::prelude::*;
use std::sync::LazyLock;

static HOST: LazyLock<Host> = LazyLock::new(|| Host::new().unwrap());

/// A module that answers with these bytes.
fn answering(bytes: &[u8]) -> String {
    let data: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    composing(&format!("(i64.const {})", 16u64 << 32 | bytes.len() as u64)).replace("{\\\"first\\\":0}", &data)
}

/// JSON that is an answer nearly always, and means one sometimes.
fn json() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        (-2i64..6).prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number}")),
        any::<String>().prop_map(|text| serde_json::json!(text).to_string()),
        any::<String>().prop_map(|text| serde_json::json!([{ "text": text }]).to_string()),
        Just("null".to_owned()),
        (1usize..300).prop_map(|deep| format!("{}{}", "[".repeat(deep), "]".repeat(deep))),
    ];
    (prop::collection::vec((prop_oneof![Just("first"), Just("memory"), Just("reason"), Just("other")], value), 0..5)).prop_map(
        |fields| {
            let fields: Vec<_> = fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bytes_are_no_plug_in(bytes in prop::collection::vec(any::<u8>(), 0..2_000), with_header in any::<bool>()) {
        let bytes = if with_header { [b"\0asm\x01\0\0\0", &bytes[..]].concat() } else { bytes };
        prop_assert!(HOST.load(folder(&manifest(), &bytes).path()).is_err());
    }

    #[test]
    fn random_manifests_are_refused_or_read(json in any::<Vec<u8>>()) {
        let folder = folder(&manifest(), b"");
        std::fs::write(folder.path().join("plugin.json"), json).unwrap();
        prop_assert!(HOST.load(folder.path()).is_err());
    }

    #[test]
    fn damaged_modules_are_refused_or_run(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = wat::parse_str(composing(FIRST)).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(plugin) = HOST.load(folder(&manifest(), &bytes).path())
            && let Ok(output) = ask(&plugin, 3)
        {
            prop_assert!(output.first <= 3);
        }
    }

    #[test]
    fn random_places_are_refused_or_read(packed in any::<i64>()) {
        let plugin = load(&HOST, &composing(&format!("(i64.const {packed})"))).unwrap();
        prop_assert!(ask(&plugin, 3).is_err());
    }

    #[test]
    fn random_answers_choose_within_the_history(json in json()) {
        if let Ok(output) = ask(&load(&HOST, &answering(json.as_bytes())).unwrap(), 3) {
            prop_assert!(output.first <= 3);
            prop_assert!(output.memory.iter().all(|memory| !memory.text.trim().is_empty()));
        }
    }

    #[test]
    fn random_bytes_choose_nothing(bytes in prop::collection::vec(any::<u8>(), 0..1_000)) {
        prop_assert!(ask(&load(&HOST, &answering(&bytes)).unwrap(), 3).is_err());
    }
}
