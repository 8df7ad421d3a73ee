//! Operations: what tools did, recorded and asked for.

mod long;
mod record;
mod view;

pub(crate) use long::Long;
pub use long::LongOperationStatus;
pub(crate) use record::clean;
pub use view::{OperationPage, OperationTool};

use crate::backup::blocking;
use crate::chat::wording::{before_sending, before_storing};
use crate::transfer::file_stem;
use crate::{Service, ServiceError};
use chrono::{DateTime, TimeDelta, Utc};
use evenkeel_domain::{
    ContextId, ConversationId, ErrorBody, ErrorCode, FieldError, FinishedOperation, Operation, OperationDraft, OperationId,
    OperationPageQuery, OperationQuery, OperationRule, OperationSettings, tool_fits,
};
use evenkeel_operation::{Rules, recent};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle};
use record::Opened;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of a result that a rule is tried on.
const SAMPLE: usize = 1 << 20;
/// That a transient session is used is noted again once the last time lies back so far.
const USED: TimeDelta = TimeDelta::minutes(1);

impl Service {
    /// Records what a tool did, with what matters of it. Where the user wants something taken out of texts before they
    /// are stored, it is taken out of this too.
    ///
    /// # Errors
    /// There is no such conversation, the vault is as large as it may be, or it cannot be written.
    pub async fn operation_record(&self, draft: OperationDraft) -> Result<Operation, ServiceError> {
        // First of all: until it is in bounds, even dropping a result can use up the stack.
        let opened = blocking("opening a result", move || Ok(Opened::of(draft))).await?;
        self.conversation_get(opened.conversation_id()).await?;
        self.check_vault_size().await?;
        let (session, now) = (self.session()?, self.now());
        let settings = session.settings().operations;
        let is_success = opened.is_success();
        let (redactor, id) = (before_storing(&session), OperationId::from_parts(now, self.random()));
        let rules = settings.rules.clone();
        let operation = blocking("looking through a result", move || {
            Ok(opened.redacted(redactor.as_ref()).recorded(id, now, &Rules::saved(&rules)))
        })
        .await?;
        let kept = operation.clone();
        let write = move |w: &mut WriteHandle<'_>| {
            w.insert_operation(&kept, settings.kept)?;
            w.end_transient_operations(settings.transient_sessions, unused_since(&settings, now)).map(drop)
        };
        session.records(operation.conversation_id).write(write).await?;
        let done = Arc::new(FinishedOperation { operation: operation.clone(), is_success });
        // An error says that nobody listens.
        let _ = self.0.operations.send(done.clone());
        self.tell_if_long(done);
        Ok(operation)
    }

    /// What tools did last in a conversation, the newest first. A transient session counts as used by it.
    ///
    /// # Errors
    /// The limit is not 1–50, or there is no such conversation (the error lists those that are there).
    pub async fn operation_recent(&self, query: OperationQuery) -> Result<Vec<Operation>, ServiceError> {
        query.check()?;
        let id = query.conversation_id;
        self.conversation_get(id).await?;
        self.use_transient(id).await?;
        let filter = query.tool_filter.unwrap_or_default();
        let read = move |r: &ReadHandle<'_>| r.operations(id, (0, query.limit), |tool| tool_fits(&filter, tool));
        self.session()?.records(id).read(read).await
    }

    /// What tools did last in a conversation, in words for a model: JSON of at most so many characters that says of
    /// itself that it is data. Empty where nothing was done. What the user takes out before sending is taken out.
    ///
    /// # Errors
    /// As [`Service::operation_recent`].
    pub async fn operation_text(&self, query: OperationQuery, most_characters: usize) -> Result<String, ServiceError> {
        self.operation_words(query, most_characters, false).await
    }

    /// The same; for a model `elsewhere` without what companions did that stay on this machine.
    pub(crate) async fn operation_words(
        &self,
        query: OperationQuery,
        most_characters: usize,
        elsewhere: bool,
    ) -> Result<String, ServiceError> {
        let mut operations = self.operation_told(query).await?;
        if elsewhere {
            let who: BTreeSet<ContextId> = operations.iter().map(|one| one.context_id).collect();
            let goes = move |r: &ReadHandle<'_>| {
                let mut goes = BTreeSet::new();
                for id in who {
                    goes.extend(r.context(id)?.filter(|context| !context.local_only).map(|context| context.id));
                }
                Ok(goes)
            };
            let goes = self.session()?.read(goes).await?;
            operations.retain(|one| goes.contains(&one.context_id));
        }
        blocking("wording operations", move || Ok(recent(&operations, most_characters))).await
    }

    /// What tools did last in a conversation, the newest first, without what the user takes out before sending.
    ///
    /// # Errors
    /// As [`Service::operation_recent`].
    pub async fn operation_told(&self, query: OperationQuery) -> Result<Vec<Operation>, ServiceError> {
        let operations = self.operation_recent(query).await?;
        let redactor = before_sending(&*self.session()?);
        let told = move || Ok(operations.into_iter().map(|one| record::told(one, redactor.as_ref())).collect());
        blocking("taking out of operations what is not told", told).await
    }

    /// A page of what tools did in a conversation, the newest first; long results come as their beginnings.
    ///
    /// # Errors
    /// Page or filter is outside its range, or there is no such conversation.
    pub async fn operation_list(&self, query: OperationPageQuery) -> Result<OperationPage, ServiceError> {
        query.check()?;
        self.conversation_get(query.conversation_id).await?;
        self.session()?.records(query.conversation_id).read(move |r| OperationPage::read(r, &query)).await
    }

    /// One operation of a conversation, whole.
    ///
    /// # Errors
    /// There is no such conversation, or no such operation in it.
    pub async fn operation_get(&self, conversation_id: ConversationId, id: OperationId) -> Result<Operation, ServiceError> {
        self.conversation_get(conversation_id).await?;
        let found = self.session()?.records(conversation_id).read(move |r| r.operation(conversation_id, id)).await?;
        found.ok_or_else(|| {
            let message = format!("there is no operation {id} in this conversation; older ones go once there are newer ones");
            ErrorBody::new(ErrorCode::NotFound, message).with("id", id).into()
        })
    }

    /// Forgets what tools did in a conversation, and says how many operations those were. The messages stay.
    ///
    /// # Errors
    /// There is no such conversation, or the vault cannot be written.
    pub async fn operation_clear(&self, conversation_id: ConversationId) -> Result<u64, ServiceError> {
        self.conversation_get(conversation_id).await?;
        self.session()?.records(conversation_id).write(move |w| w.clear_operations(conversation_id)).await
    }

    /// Says whether the operations of a conversation go by themselves: those of a session of another program do.
    ///
    /// # Errors
    /// There is no such conversation, or the vault cannot be written.
    pub async fn operation_set_transient(&self, conversation_id: ConversationId, is_transient: bool) -> Result<(), ServiceError> {
        self.conversation_get(conversation_id).await?;
        let now = self.now();
        let write = move |w: &mut WriteHandle<'_>| w.use_operations(conversation_id, Some(is_transient), now);
        self.session()?.records(conversation_id).write(write).await
    }

    /// Writes the operations of a conversation, or all of the vault's, as JSON Lines into a file that only its owner
    /// may read; gives their number. Private conversations are not among all.
    ///
    /// # Errors
    /// There is no such conversation, the file would lie in the profile folder, or it cannot be written.
    pub async fn operation_save(&self, conversation_id: Option<ConversationId>, path: PathBuf) -> Result<u64, ServiceError> {
        let session = self.session()?;
        let profile = self.profile_dir();
        let read = move |r: &ReadHandle<'_>| match written(r, conversation_id, &path, &profile) {
            // Only the store's own errors tell of its damage.
            Err(ServiceError::Store(error)) => Err(error),
            other => Ok(other),
        };
        match conversation_id {
            Some(id) => {
                self.conversation_get(id).await?;
                session.records(id).read(read).await?
            }
            None => session.read(read).await?,
        }
    }

    /// The file name to offer for the operations of a conversation, or of all.
    ///
    /// # Errors
    /// There is no such conversation.
    pub async fn operation_file_name(&self, conversation_id: Option<ConversationId>) -> Result<String, ServiceError> {
        let Some(id) = conversation_id else { return Ok("operations.jsonl".to_owned()) };
        let conversation = self.conversation_get(id).await?;
        let companion = self.context_get(conversation.context_id).await?.name;
        Ok(format!("{} operations.jsonl", file_stem(&format!("{companion} {}", conversation.title))))
    }

    /// What a rule finds in a result, each value as JSON.
    ///
    /// # Errors
    /// The rule cannot be read, the result has more than 1 MiB, or nothing is found in it since it is no JSON.
    pub async fn operation_try_rule(&self, rule: OperationRule, result: String) -> Result<Vec<String>, ServiceError> {
        rule.check()?;
        if result.len() > SAMPLE {
            let value = format!("{} bytes", result.len());
            return Err(FieldError { field: "result", value, range: format!("at most {SAMPLE} bytes") }.into());
        }
        let rules = Rules::read(&[OperationRule { tool_pattern: "*".into(), ..rule }])?;
        blocking("trying a rule", move || {
            let is_json = serde_json::from_str::<IgnoredAny>(&result).is_ok();
            let found = rules.values("", &evenkeel_operation::parsed(result.into()).value);
            if found.is_empty() && !is_json { Err(no_json().into()) } else { Ok(found) }
        })
        .await
    }

    /// Ends the transient sessions whose time is over, and says how many those were.
    pub(crate) async fn end_transient(&self) -> Result<usize, ServiceError> {
        let (session, now) = (self.session()?, self.now());
        let settings = session.settings().operations;
        let end =
            move |w: &mut WriteHandle<'_>| w.end_transient_operations(settings.transient_sessions, unused_since(&settings, now));
        Ok(session.write(end).await?.len())
    }

    /// Deletes what is kept beyond settings that have become smaller.
    pub(crate) async fn keep_fewer_operations(&self, settings: &OperationSettings) -> Result<(), ServiceError> {
        let kept = settings.kept;
        self.session()?.write(move |w| w.keep_newest_operations(kept)).await?;
        self.end_transient().await.map(drop)
    }

    /// Notes that a session is used, where it is transient; its operations are gone where its time is over.
    async fn use_transient(&self, id: ConversationId) -> Result<(), ServiceError> {
        let (session, now) = (self.session()?, self.now());
        let known = session.records(id).read(move |r| r.operation_session(id)).await?;
        let is_due = known.is_some_and(|(is_transient, last)| is_transient && (now - last).abs() >= USED);
        if !is_due {
            return Ok(());
        }
        let settings = session.settings().operations;
        let write = move |w: &mut WriteHandle<'_>| {
            w.end_transient_operations(settings.transient_sessions, unused_since(&settings, now))?;
            w.use_operations(id, None, now)
        };
        session.records(id).write(write).await
    }
}

/// Refuses rules that cannot be evaluated.
pub(crate) fn check_rules(settings: &OperationSettings) -> Result<(), FieldError> {
    Rules::read(&settings.rules).map(drop)
}

fn no_json() -> ErrorBody {
    let range = "JSON, as a tool answers it; of plain text $ takes the whole".to_owned();
    let error = FieldError { field: "result", value: "text that is no JSON".to_owned(), range };
    ErrorBody::from(error).with("sample", "text")
}

/// Transient sessions that were last used before this have ended.
fn unused_since(settings: &OperationSettings, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let minutes = i64::from(settings.transient_minutes);
    (minutes > 0).then(|| now.checked_sub_signed(TimeDelta::minutes(minutes))).flatten()
}

fn written(r: &ReadHandle<'_>, id: Option<ConversationId>, path: &Path, profile: &Path) -> Result<u64, ServiceError> {
    crate::transfer::check_outside(path, profile)?;
    let mut count = 0;
    evenkeel_vault::write_streamed(path, |write| {
        r.each_operation(id, |operation| {
            let mut line =
                serde_json::to_vec(&operation).map_err(|_| StoreError::DamagedValue { what: "an operation".to_owned() })?;
            line.push(b'\n');
            write(&line)?;
            count += 1;
            Ok::<_, ServiceError>(())
        })
    })?;
    Ok(count)
}
