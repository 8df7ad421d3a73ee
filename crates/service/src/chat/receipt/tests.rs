#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use chrono::{DateTime, TimeZone, Utc};
use evenkeel_domain::{
    BUILT_IN_PRESETS, BlockKind, ModelChoice, ProviderId, ProviderKind, Revision, Role, StateSchema, SummaryId, SummarySettings,
    TextEdit, WindowSettings,
};
use evenkeel_prompt::{
    BuildInput, Builder, Calibrated, Extraction, Full, Goals, HistoryMessage, O200k, Origin, PromptError, SlidingWindow,
    Summarization, SummaryText,
};
use evenkeel_prompt::{ContextProvider, Strategy as Composer, TokenCounter, edited, rebuilt, system_text, whole_anchor};
use evenkeel_provider::body;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const FAMILIES: [(ProviderKind, &str); 4] = [
    (ProviderKind::OpenaiCompatible, "https://api.openai.com/v1/chat/completions"),
    (ProviderKind::Anthropic, "https://api.anthropic.com/v1/messages"),
    (ProviderKind::Ollama, "http://127.0.0.1:11434/api/chat"),
    (ProviderKind::Engine, "http://127.0.0.1:4321/v1/chat/completions"),
];

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

fn id(number: u32) -> MessageId {
    let mut random = [0; 10];
    random[6..].copy_from_slice(&number.to_be_bytes());
    MessageId::from_parts(DateTime::UNIX_EPOCH, random)
}

/// A message as it is stored, and what is done to it before it is sent.
#[derive(Debug, Clone)]
struct Told {
    role: Role,
    stored: String,
    prefix: String,
    edits: Vec<TextEdit>,
}

impl Told {
    fn plain(role: Role, text: &str) -> Self {
        Self { role, stored: text.to_owned(), prefix: String::new(), edits: Vec::new() }
    }

    fn sent(&self) -> String {
        format!("{}{}", self.prefix, edited(&self.stored, &self.edits).unwrap())
    }
}

/// What a prompt is built of.
struct Scene<'a> {
    revision: &'a Revision,
    past: &'a [Told],
    user: &'a Told,
    goals: &'a [String],
    counter: &'a dyn TokenCounter,
    window: u32,
    max_history: u32,
    earlier: u32,
}

impl Scene<'_> {
    fn prompt(&self, strategy: &dyn Composer) -> Result<Prompt, PromptError> {
        let sent: Vec<String> = self.past.iter().map(Told::sent).collect();
        let history: Vec<HistoryMessage<'_>> = (0..)
            .zip(self.past.iter().zip(&sent))
            .map(|(at, (told, content))| HistoryMessage {
                id: id(at),
                role: told.role,
                content,
                tokens: self.counter.count(content),
                prefix: &told.prefix,
                edits: &told.edits,
            })
            .collect();
        let goals = Goals(self.goals);
        let providers: [&dyn ContextProvider; 1] = [&goals];
        Builder::new(BuildInput {
            revision: self.revision,
            history: &history,
            earlier: self.earlier,
            user_text: &self.user.sent(),
            user_edits: &self.user.edits,
            follow_up: None,
            now: noon(),
            zone: "Europe/Berlin",
            maintain_personality: true,
            anchor_from_turn: 1,
            turn: 3,
            window: self.window,
            max_tokens: 300,
            max_history_tokens: self.max_history,
            evicted_before: None,
            counter: self.counter,
            counts_are_estimates: self.counter.is_estimate(),
        })
        .strategy(strategy)
        .providers(&providers)
        .build()
    }

    /// What the vault would give for the blocks of a receipt.
    fn stored(&self, receipt: &Receipt) -> Vec<Option<String>> {
        let message = |wanted: MessageId| {
            let found = (0..).zip(self.past).find(|(at, _)| id(*at) == wanted).map(|(_, told)| told.stored.clone());
            if wanted == receipt.user_message_id { Some(self.user.stored.clone()) } else { found }
        };
        let text = |block: &evenkeel_domain::ReceiptBlock| match block.origin {
            Origin::Revision { .. } => Some(system_text(self.revision)),
            Origin::Anchor { .. } => Some(whole_anchor(self.revision)),
            _ => block.message(receipt.user_message_id).and_then(message),
        };
        receipt.blocks.iter().map(text).collect()
    }
}

/// A request, its body, and the receipt that is kept of it.
fn sent(prompt: &Prompt, family: (ProviderKind, &str), form: PromptForm, temperature: f32) -> (Vec<u8>, Receipt) {
    let request = ChatRequest {
        model: "model".into(),
        messages: chat_messages(prompt, form),
        temperature: Some(temperature),
        max_tokens: Some(300),
        window: Some(prompt.meter.window_tokens),
        ..ChatRequest::default()
    };
    let bytes = body(family.0, family.1, &request).unwrap();
    let receipt = Receipt {
        version: RECEIPT_VERSION,
        reply_id: id(9_001),
        user_message_id: id(9_000),
        created_at: prompt.built_at,
        revision_id: evenkeel_domain::RevisionId::new("r"),
        speaker: prompt.speaker.clone(),
        model: ModelChoice { provider_id: ProviderId::from_parts(noon(), [7; 10]), model: "model".into() },
        model_name: request.model,
        provider_name: "P".into(),
        provider_kind: family.0,
        address: family.1.into(),
        temperature,
        max_tokens: 300,
        window: prompt.meter.window_tokens,
        strategy: prompt.strategy.clone(),
        form,
        blocks: prompt.blocks.iter().map(Block::for_receipt).collect(),
        meter: prompt.meter.clone(),
        follow_up: None,
        request_hash: sha256_hex(&bytes),
        request_bytes: bytes.len() as u32,
        usage: None,
        rounds: Vec::new(),
    };
    (bytes, receipt)
}

fn told() -> impl Strategy<Value = Told> {
    let role = prop_oneof![5 => Just(Role::User), 5 => Just(Role::Assistant), 1 => Just(Role::System)];
    let text = "[a-zäé日🫠 \n\"\\\\\u{0}-\u{8}\u{202e}</>]{1,80}";
    (role, text, prop_oneof![3 => Just(String::new()), 1 => "[A-Z][a-zé]{0,9}: "], "[a-z\\[\\]]{0,9}", any::<(u16, u16)>())
        .prop_map(|(role, stored, prefix, with, (from, length))| {
            let places: Vec<usize> = stored.char_indices().map(|(at, _)| at).chain([stored.len()]).collect();
            let start = usize::from(from) % places.len();
            let end = (start + usize::from(length) % 9).min(places.len() - 1);
            let edit = TextEdit { start: places[start] as u32, end: places[end] as u32, with };
            let edits = if from % 3 == 0 { vec![edit] } else { Vec::new() };
            Told { role, stored, prefix, edits }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(20_261_122), ..ProptestConfig::default() })]

    #[test]
    fn the_rebuilt_request_is_the_sent_one_byte_for_byte(
        past in proptest::collection::vec(told(), 0..40),
        mut user in told(),
        goals in proptest::collection::vec("[a-z \"]{1,20}", 0..3),
        personality in "[A-Za-z. 日]{0,80}|([a-z]{2,9} ){150,180}",
        (factor, exact) in (0.5f64..3.0, any::<bool>()),
        (window, max_history) in (600u32..8_000, 20u32..3_000),
        (temperature, small, full) in (0.0f32..=1.0, any::<bool>(), any::<bool>()),
    ) {
        user.prefix.clear();
        let revision = Revision::new("Anna", "Anna is \"patient\".", &personality, None, noon());
        let scaled = Calibrated::new(O200k, factor);
        let counter: &dyn TokenCounter = if exact { &O200k } else { &scaled };
        let scene = Scene { revision: &revision, past: &past, user: &user, goals: &goals, counter, window, max_history, earlier: 0 };
        let strategy: &dyn Composer = if full { &Full::default() } else { &SlidingWindow::default() };
        let Ok(prompt) = scene.prompt(strategy) else { return Ok(()) };
        let form = if small { PromptForm::UserLast } else { PromptForm::Messages };
        for family in FAMILIES {
            let (bytes, receipt) = sent(&prompt, family, form, temperature);
            // As a receipt comes out of the vault: through its JSON.
            let receipt: Receipt = serde_json::from_str(&serde_json::to_string(&receipt).unwrap()).unwrap();
            let again = rebuilt(&receipt, &scene.stored(&receipt)).prompt.expect("nothing is missing");
            let request = asked_then(&receipt, &again);
            let rebuilt = body(receipt.provider_kind, &receipt.address, &request).unwrap();
            prop_assert_eq!(String::from_utf8(rebuilt).unwrap(), String::from_utf8(bytes).unwrap(), "{:?}", family.0);
        }
    }
}

/// The exact body for each family of providers, when all is sent and when a part has left the window.
#[test]
fn bodies_of_each_family_and_strategy() {
    let preset = &BUILT_IN_PRESETS[0];
    let revision = Revision::new(preset.name, preset.system_prompt, preset.default_personality, None, noon());
    let texts = [
        "They cancelled my shift AGAIN!!!",
        "Your shift was cancelled at short notice. Which matters more today, the evening or the pay?",
        "the pay. obviously.",
        "The pay, then. A first step is to read what the contract says about cancelled shifts.",
        "Clause 7 says \"two days' notice\".",
        "Then they owe you an answer. One short mail that names clause 7 is enough.",
    ];
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let mut past: Vec<Told> = roles.zip(texts).map(|(role, text)| Told::plain(role, text)).collect();
    past[5].prefix = "Rational Advisor: ".into();
    past[4].edits = vec![TextEdit { start: 7, end: 8, with: "[number]".into() }];
    let user = Told::plain(Role::User, "What do I write? 🫠");
    let goals = ["Be paid for cancelled shifts".to_owned()];
    let sliding = SlidingWindow::from(WindowSettings { keep_percent: 60, keep_exchanges: 1 });
    let summary = SummaryText {
        id: SummaryId::from_parts(noon(), [1; 10]),
        up_to: id(3),
        text: "## Facts about the user\n- [m1] Their shift was cancelled again.\n- [m3] The pay matters most to them.".into(),
    };
    let summarised = Summarization::new(&SummarySettings::default(), Some(summary));
    let schema = StateSchema::parse(&serde_json::json!({ "type": "object", "properties": { "clause": { "type": "integer" } } }));
    let extracted = Extraction::new(schema.unwrap(), vec![("clause".into(), "7".into())], 1);
    let strategies: [(&str, &dyn Composer); 4] =
        [("full", &Full::default()), ("sliding_window", &sliding), ("summarization", &summarised), ("extraction", &extracted)];
    for (name, strategy) in strategies {
        let (counter, earlier) = (&O200k, 0);
        let scene = Scene {
            revision: &revision,
            past: &past,
            user: &user,
            goals: &goals,
            counter,
            window: 8_192,
            max_history: 90,
            earlier,
        };
        let prompt = scene.prompt(strategy).unwrap();
        let is_whole =
            prompt.blocks.iter().filter(|block| block.included && block.kind == BlockKind::History).count() == past.len();
        assert_eq!(is_whole, name == "full", "{:?}", prompt.meter);
        for (kind, address) in FAMILIES {
            let (bytes, _) = sent(&prompt, (kind, address), PromptForm::Messages, 0.7);
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let shown = format!("{}\n\n{}", String::from_utf8(bytes).unwrap(), serde_json::to_string_pretty(&value).unwrap());
            insta::assert_snapshot!(format!("{name}_{}", kind.as_str().replace('-', "_")), shown);
        }
    }
}
