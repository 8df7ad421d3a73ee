use super::*;
use chrono::DateTime;
use evenkeel_domain::{ProviderId, ProviderKind, TokenCount};
use std::collections::BTreeMap;

fn id(number: u8) -> MessageId {
    MessageId::from_parts(DateTime::UNIX_EPOCH, [number; 10])
}

fn provider(number: u8) -> Provider {
    Provider {
        id: ProviderId::from_parts(DateTime::UNIX_EPOCH, [number; 10]),
        kind: ProviderKind::OpenaiCompatible,
        name: "P".into(),
        base_url: "https://example.com".into(),
        locality: ProviderLocality::Remote,
        key_hint: None,
        extra_headers: BTreeMap::new(),
        manual_models: Vec::new(),
        window_override: None,
        timeout_seconds: 30,
    }
}

fn model(number: u8) -> ModelChoice {
    ModelChoice { provider_id: provider(number).id, model: "m".into() }
}

/// A question and its answer by a model of that provider.
fn exchange(first: u8, by: u8) -> Vec<Line> {
    let line = |number: u8, role, model| Line {
        place: number.into(),
        id: id(number),
        context_id: ContextId::from_parts(DateTime::UNIX_EPOCH, [9; 10]),
        role,
        speaker: String::new(),
        text: "x".into(),
        tokens: 1,
        model,
    };
    vec![line(first, Role::User, None), line(first + 1, Role::Assistant, Some(model(by)))]
}

fn summary(by: Option<u8>) -> Summary {
    Summary {
        id: SummaryId::from_parts(DateTime::UNIX_EPOCH, [1; 10]),
        conversation_id: ConversationId::from_parts(DateTime::UNIX_EPOCH, [1; 10]),
        up_to_id: id(1),
        message_ids: Vec::new(),
        evidence: Vec::new(),
        text: String::new(),
        pinned: Vec::new(),
        tokens: TokenCount { tokens: 0, tokenizer: "o200k".into() },
        model: by.map(model),
        round: 1,
        created_at: DateTime::UNIX_EPOCH,
        is_edited: by.is_none(),
        is_stale: false,
    }
}

#[test]
fn words_go_to_no_provider_that_has_not_seen_them() {
    let mixed: Vec<Line> = exchange(1, 1).into_iter().chain(exchange(3, 2)).collect();
    let nothing = HashSet::new();
    let all: HashSet<MessageId> = (1..=4).map(id).collect();
    let (one, two) = (model(1), model(2));
    let seen = |model, messages, summary, base: Option<&Summary>, lines: &[Line]| {
        has_seen(&provider(1), &Last { model, messages, summary }, base, lines)
    };
    assert!(seen(&two, &nothing, None, None, &exchange(1, 1)), "it answered them itself");
    assert!(!seen(&one, &nothing, None, None, &mixed), "another answered a part");
    assert!(seen(&one, &all, None, None, &mixed), "all of it went with the last request");
    assert!(!seen(&two, &all, None, None, &mixed), "which went to another");
    assert!(seen(&two, &nothing, None, Some(&summary(Some(1))), &exchange(1, 1)));
    assert!(!seen(&one, &all, None, Some(&summary(Some(2))), &exchange(1, 1)));
    let own = summary(None);
    assert!(!seen(&one, &all, None, Some(&own), &exchange(1, 1)), "what the user wrote was not sent yet");
    assert!(seen(&one, &all, Some(own.id), Some(&own), &exchange(1, 1)));
}
