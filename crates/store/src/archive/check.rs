//! What holds for every archive: which records may follow which, what they may refer to, and what the vault can
//! hold. It is looked at while reading, also while reading back what was just written.

use super::error::Unfit;
use super::journal::id_of;
use super::record::{
    ContextRecord, ConversationRecord, Json, Kind, MessageRecord, ModelFileRecord, PresetRecord, ProviderRecord, ReceiptRecord,
    Record, RevisionRecord, StateValueRecord, SummaryRecord,
};
use data_encoding::BASE64;
use evenkeel_domain::{
    ContextDraft, ContextId, MemorySettings, PresetDraft, ProviderKind, Revision, RevisionId, Settings, StateSource,
    StrategyChoice, TitleSource,
};
use std::collections::HashSet;
use uuid::Uuid;

/// Bytes of one message that is sent as it stands, in a receipt.
const RECEIPT_ENTRY: usize = 53;
/// Bytes of a message's text at most, whatever the limits of the vault are.
const MESSAGE_MOST: usize = 16 << 20;

/// What was read until now, as far as later records refer to it. It holds ids alone; those of messages
/// of one conversation at a time.
#[derive(Default)]
pub(super) struct Checks {
    last: Option<Kind>,
    /// The id of the last record that was no part of a conversation. Those of a kind are in order, so that none comes twice.
    last_id: Option<(Kind, String)>,
    revisions: HashSet<RevisionId>,
    contexts: HashSet<ContextId>,
    former: HashSet<ContextId>,
    conversation: Option<Uuid>,
    messages: HashSet<Uuid>,
    summaries: HashSet<Uuid>,
}

type Checked = Result<(), Unfit>;

fn must(holds: bool, otherwise: &str) -> Checked {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

impl Checks {
    /// Looks at the next record.
    pub fn take(&mut self, record: &Record) -> Checked {
        let Some(kind) = record.kind() else { return Ok(()) };
        let in_order = match self.last {
            _ if kind.is_part() && self.conversation.is_none() => false,
            Some(last) if last.is_part() => kind >= last || kind == Kind::Conversation,
            Some(last) => kind >= last,
            None => true,
        };
        must(in_order, "it stands in the wrong place")?;
        self.last = Some(kind);
        if !kind.is_part() {
            let place = id_of(record).map(|id| (kind, id));
            must(self.last_id < place, "it comes twice, or in the wrong place")?;
            self.last_id = place;
        }
        match record {
            Record::Settings(one) => settings(one),
            Record::Preset(one) => preset(one),
            Record::Provider(one) => provider(one),
            Record::ModelFile(one) => model_file(one),
            Record::Revision(one) => self.revision(one),
            Record::Context(one) => self.context(one),
            Record::FormerContext(one) => {
                must(!self.contexts.contains(&one.id) && self.former.insert(one.id), "the context is both there and gone")
            }
            Record::Conversation(one) => self.begin(one),
            Record::Message(one) => self.message(one),
            Record::Receipt(one) => self.receipt(one),
            Record::Summary(one) => self.summary(one),
            Record::StateValue(one) => self.state_value(one),
            Record::End(_) => Ok(()),
        }
    }

    fn revision(&mut self, one: &RevisionRecord) -> Checked {
        let made = Revision::new(&one.name, &one.system_prompt, &one.personality, one.anchor.as_deref(), one.created_at);
        must(made.id == one.id, "the id of the revision does not fit its texts")?;
        self.revisions.insert(one.id.clone());
        Ok(())
    }

    fn context(&mut self, one: &ContextRecord) -> Checked {
        let known = |id: &RevisionId| self.revisions.contains(id);
        must(
            known(&one.revision_id) && one.revisions.iter().all(|used| known(&used.id)),
            "a revision of the context is missing",
        )?;
        let draft = ContextDraft {
            // The texts are those of the revision.
            name: "name".into(),
            system_prompt: "prompt".into(),
            personality: String::new(),
            temperature: one.temperature,
            max_tokens: one.max_tokens,
            max_history_tokens: one.max_history_tokens,
            expiry_days: one.expiry_days,
            model: None,
            local_only: one.local_only,
            maintain_personality: one.maintain_personality,
            preset_id: None,
            anchor: None,
            tags: one.tags.clone(),
            strategy: StrategyChoice::default(),
            memory: MemorySettings::default(),
        };
        draft.check().map_err(|error| Unfit::from(error.to_string()))?;
        must(one.provider_id.is_some() == one.model.is_some(), "the model of the context is half there")?;
        must(parses::<StrategyChoice>(&one.strategy), "the strategy of the context cannot be read")?;
        must(parses::<MemorySettings>(&one.memory), "the memory of the context cannot be read")?;
        self.contexts.insert(one.id);
        Ok(())
    }

    fn begin(&mut self, one: &ConversationRecord) -> Checked {
        must(self.contexts.contains(&one.context_id), "the context of the conversation is missing")?;
        let sources = [TitleSource::Beginning, TitleSource::Model, TitleSource::User];
        must(sources.iter().any(|source| source.as_str() == one.title_source), "the source of the title is unknown")?;
        self.conversation = Some(one.id.uuid());
        self.messages = HashSet::new();
        self.summaries = HashSet::new();
        Ok(())
    }

    fn is_here(&self, conversation: Uuid) -> Checked {
        must(self.conversation == Some(conversation), "it belongs to another conversation")
    }

    fn knows(&self, context: ContextId) -> Checked {
        must(self.contexts.contains(&context) || self.former.contains(&context), "its context is missing")
    }

    fn message(&mut self, one: &MessageRecord) -> Checked {
        self.is_here(one.conversation_id.uuid())?;
        self.knows(one.context_id)?;
        must(one.parent_id.is_none_or(|parent| self.messages.contains(&parent.uuid())), "its parent does not stand before it")?;
        must(one.revision_id.as_ref().is_none_or(|id| self.revisions.contains(id)), "its revision is missing")?;
        must(["user", "assistant", "system"].contains(&one.role.as_str()), "its role is unknown")?;
        must(["complete", "stopped", "interrupted", "truncated"].contains(&one.status.as_str()), "its status is unknown")?;
        let texts = one.content.len() + one.reasoning.as_ref().map_or(0, String::len);
        must(one.content.len() <= MESSAGE_MOST && texts <= 2 * MESSAGE_MOST, "its text is too long")?;
        must(one.tokens.is_some() == one.tokenizer.is_some(), "its count of tokens is half there")?;
        must(one.provider_id.is_some() == one.model.is_some(), "its model is half there")?;
        must(one.prompt_tokens.is_some() == one.completion_tokens.is_some(), "its use of tokens is half there")?;
        must(one.vote.is_none_or(|vote| vote == 1 || vote == -1), "its vote is neither 1 nor -1")?;
        must(one.vote.is_some() || one.vote_preset_id.is_none(), "its vote is half there")?;
        must(one.metadata.as_ref().is_none_or(|metadata| value(metadata).is_some()), "its metadata cannot be read")?;
        must(self.messages.insert(one.id.uuid()), "the message comes twice")
    }

    fn receipt(&self, one: &ReceiptRecord) -> Checked {
        must(self.messages.contains(&one.id.uuid()), "its reply is missing")?;
        must(value(&one.body).is_some_and(|body| body.is_object()), "its body is no object")?;
        must(one.texts.as_ref().is_none_or(|texts| value(texts).is_some_and(|texts| texts.is_array())), "its texts are no list")?;
        let history = BASE64.decode(one.history.as_bytes()).map_err(|_| "its history is no Base64")?;
        must(history.len().is_multiple_of(RECEIPT_ENTRY), "its history is cut")
    }

    fn summary(&mut self, one: &SummaryRecord) -> Checked {
        self.is_here(one.conversation_id.uuid())?;
        let mut messages = one.messages.values().chain([&one.up_to_id]);
        must(messages.all(|id| self.messages.contains(&id.uuid())), "a message that it rests on is missing")?;
        must(one.messages.keys().all(|place| *place >= 1) && one.round >= 1, "a number of it is 0")?;
        must(one.sources.iter().all(|id| self.summaries.contains(&id.uuid())), "a summary that it rests on is missing")?;
        must(["valid", "replaced"].contains(&one.state.as_str()), "its state is unknown")?;
        must(one.provider_id.is_some() == one.model.is_some(), "its model is half there")?;
        must(self.summaries.insert(one.id.uuid()), "the summary comes twice")
    }

    fn state_value(&self, one: &StateValueRecord) -> Checked {
        self.is_here(one.conversation_id.uuid())?;
        must(self.contexts.contains(&one.context_id), "its context is missing")?;
        must(
            one.evidence_id.is_none_or(|id| self.messages.contains(&id.uuid())),
            "the message that it was taken from is missing",
        )?;
        let sources = [StateSource::Extraction, StateSource::User];
        must(sources.iter().any(|source| source.as_str() == one.source), "its source is unknown")?;
        must(value(&one.value).is_some(), "its value cannot be read")
    }
}

/// The value, if it is not nested so deep that nothing else can read it.
fn value(json: &Json) -> Option<serde_json::Value> {
    serde_json::from_str(json.text()).ok()
}

/// As it is read later: by way of a value, a field that stands twice would pass.
fn parses<T: serde::de::DeserializeOwned>(json: &Json) -> bool {
    value(json).is_some_and(|value| value.is_object()) && serde_json::from_str::<T>(json.text()).is_ok()
}

fn settings(one: &Json) -> Checked {
    let settings = serde_json::from_str::<Settings>(one.text());
    settings.map_err(|_| "the settings cannot be read")?.check().map_err(|error| Unfit::from(error.to_string()))
}

fn preset(one: &PresetRecord) -> Checked {
    must((1..=200).contains(&one.id.as_str().len()), "the id of the preset is empty or too long")?;
    let draft = PresetDraft {
        name: one.name.clone(),
        description: one.description.clone(),
        system_prompt: one.system_prompt.clone(),
        default_personality: one.personality.clone(),
        default_settings: evenkeel_domain::DefaultSettings {
            temperature: one.temperature,
            max_tokens: one.max_tokens,
            max_history_tokens: one.max_history_tokens,
            expiry_days: one.expiry_days,
        },
        metadata: one.metadata.clone(),
    };
    draft.check().map_err(|error| Unfit::from(error.to_string()))?;
    must(!one.metadata.trim().is_empty(), "the metadata of the preset is empty")
}

fn provider(one: &ProviderRecord) -> Checked {
    let kinds = [ProviderKind::Engine, ProviderKind::OpenaiCompatible, ProviderKind::Anthropic, ProviderKind::Ollama];
    must(kinds.iter().any(|kind| kind.as_str() == one.kind), "the kind of the provider is unknown")?;
    let is_engine = one.id.uuid() == super::record::ENGINE;
    must((one.kind == ProviderKind::Engine.as_str()) == is_engine, "the built-in provider has another id")?;
    must(["local", "remote"].contains(&one.locality.as_str()), "where the provider is, is unknown")?;
    must(one.timeout_seconds >= 1, "the time limit of the provider is 0")
}

fn model_file(one: &ModelFileRecord) -> Checked {
    let is_id = one.id.len() == 64 && one.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    must(is_id && !one.path.is_empty() && !one.path.contains('\0'), "the model file has no path")?;
    must(i64::try_from(one.size_bytes).is_ok(), "the model file is too large")
}
