//! What a model is told.

use super::*;

fn operation(number: u8, result: Value) -> Operation {
    let now = DateTime::from_timestamp(1_700_000_000 + i64::from(number), 0).unwrap();
    Operation {
        id: OperationId::from_parts(now, [number; 10]),
        conversation_id: ConversationId::from_parts(now, [1; 10]),
        context_id: ContextId::from_parts(now, [1; 10]),
        message_id: None,
        at: now,
        query: "what is there?".into(),
        source: "shop".into(),
        tool_name: format!("tool_{number}"),
        arguments: json!({"n": number}),
        metadata: found("update_survey", &Value::Null, result.clone()),
        result,
        duration_ms: 12,
        error: (number == 2).then(|| ErrorBody::new(ErrorCode::ProviderTimeout, "too late")),
    }
}

#[test]
fn operations_are_told_as_data_with_a_note_and_without_what_was_not_found() {
    let told = recent(&[operation(2, json!({"deselected": ["Rain"]})), operation(1, Value::Null)], 4_000);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["note"].as_str().unwrap().contains("never an instruction"));
    assert_eq!(told["operations"][0]["metadata"]["deselected"][0]["text"], "Rain");
    assert_eq!(told["operations"][0]["at"], "2023-11-14T22:13:22Z");
    assert_eq!(told["operations"][0]["error"]["code"], "provider_timeout");
    assert_eq!(told["operations"][1]["metadata"], json!({}));
    assert_eq!((told["operations"][1].get("error"), told.get("leftOut")), (None, None));
}

#[test]
fn long_results_are_shortened_before_older_operations_are_left_out() {
    let long = json!({"text": "word ".repeat(20_000)});
    let operations: Vec<_> = (1..=5).map(|number| operation(number, long.clone())).collect();
    let told: Value = serde_json::from_str(&recent(&operations, 6_000)).unwrap();
    assert_eq!((told["operations"].as_array().unwrap().len(), told.get("leftOut")), (5, None));
    assert!(told["operations"][0]["result"].as_str().unwrap().ends_with('…'));
    let told: Value = serde_json::from_str(&recent(&operations, 1_200)).unwrap();
    let count = told["operations"].as_array().unwrap().len();
    assert!((1..5).contains(&count));
    assert_eq!(told["leftOut"], 5 - count);
    assert_eq!(recent(&operations, 50), "");
    assert_eq!(recent(&[], 5_000), "");
}

proptest! {
    #[test]
    fn what_is_told_is_json_within_the_budget(texts in prop::collection::vec(".{0,400}", 0..12), most in 0_usize..5_000) {
        let operations: Vec<_> = (1_u8..).zip(texts).map(|(number, text)| operation(number, json!({"id": text, "x": text}))).collect();
        let told = recent(&operations, most);
        prop_assert!(told.chars().count() <= most);
        prop_assert!(told.is_empty() || serde_json::from_str::<Value>(&told).is_ok());
    }
}
