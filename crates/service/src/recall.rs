//! Recall: older messages that bear on what is being said, found before a prompt is put together.
//!
//! A reply never fails or waits long because of it: what takes too long is left out, and the prompt says
//! so. Nothing is brought back from private conversations or into them.

mod meaning;

pub(crate) use meaning::Meanings;

use crate::session::Session;
use crate::{Service, ServiceError};
use evenkeel_domain::{Citation, Context, ContextId, ConversationId, MessageId, RecallCandidate, RecallWish};
use evenkeel_prompt::{Block, Origin, Prompt, RANKING, Recall, Redactor, best, question, ranked};
use evenkeel_store::{ReadHandle, StoreError};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a reply waits for everything that is recalled.
const PATIENCE: Duration = Duration::from_millis(150);
/// How long of that for the comparison of meanings.
const FOR_MEANINGS: Duration = Duration::from_millis(100);

/// What was found for a question.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    messages: Vec<RecallCandidate>,
    stems: Vec<String>,
    share_percent: u32,
    /// Why there is nothing, or less than there could be.
    note: Option<String>,
}

impl Recalled {
    /// Whether it changes nothing in a prompt.
    pub fn is_nothing(&self) -> bool {
        self.messages.is_empty() && self.note.is_none()
    }

    /// What puts it into a prompt.
    pub fn provider(&self) -> Recall<'_> {
        let Self { messages, stems, share_percent, note } = self;
        Recall { messages, stems, share_percent: *share_percent, note: note.as_deref() }
    }
}

/// What is asked, and where.
pub(crate) struct Asked<'a> {
    /// The one that answers.
    pub context: &'a Context,
    /// Whether its model runs on this machine.
    pub is_local: bool,
    pub conversation: ConversationId,
    /// What the question follows.
    pub parent: Option<MessageId>,
    pub text: &'a str,
    /// What the user said before it, where it goes on with that.
    pub before: Option<&'a str>,
    /// Most messages that are brought back.
    pub count: u32,
    /// Whether a model that compares meanings may be asked.
    pub asks_embedder: bool,
    /// What finds texts that are not to be sent.
    pub unwanted: Option<&'a Redactor>,
    /// What is sent anyway.
    pub sent: Vec<MessageId>,
}

impl Service {
    /// Finds what bears on a question, in at most [`PATIENCE`].
    pub(crate) async fn recalled(&self, session: &Session, asked: Asked<'_>) -> Recalled {
        let settings = &asked.context.memory.recall;
        if !settings.on || session.is_private(asked.conversation) {
            return Recalled::default();
        }
        let until = Instant::now() + PATIENCE;
        let question = question(asked.text, asked.before);
        let mut recalled = Recalled { stems: question.stems(), share_percent: settings.share_percent, ..Recalled::default() };
        let contexts = contexts(asked.context);
        let nearest = match self.nearest_in_time(&asked, &contexts).await {
            Ok(nearest) => nearest,
            Err(reason) => {
                recalled.note = Some(format!("words alone were compared: {reason}"));
                Vec::new()
            }
        };
        if question.words.is_empty() && nearest.is_empty() {
            return recalled;
        }
        let wish = RecallWish {
            words: question.words.clone(),
            contexts,
            here: Some((asked.conversation, asked.parent)),
            without: asked.sent,
            with_local_only: asked.is_local,
            nearest: nearest.clone(),
        };
        let found = match timeout_at(until, session.read(move |r| r.recall_candidates(&wish))).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(code = error.code().as_str(), "nothing was recalled");
                recalled.note = Some(format!("nothing was recalled: {}", error.to_body().message));
                return recalled;
            }
            Err(_) => {
                recalled.note = Some(format!("nothing was recalled: looking took more than {} ms", PATIENCE.as_millis()));
                return recalled;
            }
        };
        let order = ranked(&question, &found, &nearest, &RANKING);
        recalled.messages = best(&order, &found, asked.text, asked.count as usize, &RANKING);
        if let Some(unwanted) = asked.unwanted {
            let found = recalled.messages.len();
            recalled.messages.retain(|message| unwanted.redact(&message.text).edits.is_empty());
            let kept_back = found - recalled.messages.len();
            if kept_back > 0 {
                recalled.note =
                    Some(format!("{kept_back} recalled messages hold what is taken out before sending, and stay here"));
            }
        }
        recalled
    }

    /// The messages nearest in meaning, where meanings are compared; else the reason why they are not.
    async fn nearest_in_time(&self, asked: &Asked<'_>, contexts: &[ContextId]) -> Result<Vec<MessageId>, String> {
        let Some(choice) = asked.context.memory.recall.embedder.clone() else { return Ok(Vec::new()) };
        if !asked.asks_embedder {
            return Err("no model is asked before the message is sent".to_owned());
        }
        let (service, contexts) = (self.clone(), contexts.to_vec());
        let (text, local_only, asking) = (asked.text.to_owned(), asked.context.local_only, asked.context.id);
        // A task of its own: a model that has to be loaded first goes on loading, for the next question.
        let task = tokio::spawn(async move { service.nearest(&contexts, &choice, text, local_only, asking).await });
        match tokio::time::timeout(FOR_MEANINGS, task).await {
            Ok(Ok(Ok(nearest))) => Ok(nearest),
            Ok(Ok(Err(error))) => Err(error.to_body().message),
            Ok(Err(_)) => Err("the comparison of meanings failed".to_owned()),
            Err(_) => Err(format!("the model that compares meanings took more than {} ms", FOR_MEANINGS.as_millis())),
        }
    }
}

/// The contexts whose conversations are looked through.
fn contexts(context: &Context) -> Vec<ContextId> {
    let mut all = vec![context.id];
    all.extend(&context.memory.recall.linked);
    all.sort_unstable();
    all.dedup();
    all
}

/// The messages of the history that a prompt sends.
pub(crate) fn sent(prompt: &Prompt) -> Vec<MessageId> {
    included(prompt, |origin| match origin {
        Origin::Message { id } => Some(*id),
        _ => None,
    })
}

/// The recalled messages that a prompt sends.
pub(crate) fn recalled_in(prompt: &Prompt) -> Vec<MessageId> {
    included(prompt, |origin| match origin {
        Origin::Recalled { id } => Some(*id),
        _ => None,
    })
}

fn included(prompt: &Prompt, id: impl Fn(&Origin) -> Option<MessageId>) -> Vec<MessageId> {
    let found = |block: &Block| id(&block.origin).filter(|_| block.included);
    prompt.blocks.iter().filter_map(found).collect()
}

/// What a reply keeps of the recalled messages; one that is gone meanwhile is passed over.
pub(crate) fn citations(r: &ReadHandle<'_>, ids: &[MessageId]) -> Result<Vec<Citation>, StoreError> {
    let found = ids.iter().map(|id| r.message(*id));
    let cite = |message: evenkeel_domain::Message| {
        Citation::of(message.id, message.conversation_id, &message.content, message.created_at)
    };
    found.filter_map(Result::transpose).map(|message| message.map(cite)).collect()
}

impl Service {
    /// Makes it known what the new messages of a context mean, in the background; nobody waits for it.
    pub(crate) fn compare_later(&self, id: ContextId) {
        let service = self.clone();
        tokio::spawn(async move {
            if let Err(error) = service.learn_meanings(id).await {
                tracing::info!(code = error.code().as_str(), "what messages mean was not learnt");
            }
        });
    }

    async fn learn_meanings(&self, id: ContextId) -> Result<(), ServiceError> {
        let give_way = self.replies().give_way();
        tokio::pin!(give_way);
        // What is told from here on is heard, also before it is waited for.
        give_way.as_mut().enable();
        let context = self.context_get(id).await?;
        let settings = context.memory.recall.clone();
        let Some(choice) = settings.embedder.filter(|_| settings.on && self.replies().is_empty()) else { return Ok(()) };
        let session = self.session()?;
        let Some(_turn) = session.meanings.begin(id) else { return Ok(()) };
        tokio::select! {
            learnt = self.learn_all(&session, &context, &choice) => learnt,
            () = give_way => Ok(()),
        }
    }
}
