//! Personas: their revisions, advice on their wording, and the history that suits a model.

use crate::missing::{missing, named};
use crate::{PersonaAdvice, PersonaDraft, RecommendedHistory, Service, ServiceError};
use evenkeel_domain::{
    Advice, AdviceKind, Context, ContextId, ContextPatch, ModelChoice, RevisionId, RevisionUse, advise, advise_reply,
    recommended_max_history_tokens,
};
use evenkeel_prompt::{O200k, TokenCounter};
use std::collections::BTreeMap;

impl Service {
    /// The wordings that a context's persona has had, the newest first.
    ///
    /// # Errors
    /// There is no such context.
    pub async fn context_revisions(&self, id: ContextId) -> Result<Vec<RevisionUse>, ServiceError> {
        self.context_get(id).await?;
        self.session()?.read(move |r| r.revisions(id)).await
    }

    /// Makes an old wording the current one again; the one it replaces stays among the revisions.
    ///
    /// # Errors
    /// There is no such context, or it never had this revision; the error lists those it had.
    pub async fn context_restore_revision(&self, id: ContextId, revision_id: RevisionId) -> Result<Context, ServiceError> {
        let known = self.context_revisions(id).await?;
        let Some(found) = known.iter().find(|used| used.revision.id == revision_id) else {
            let known: Vec<String> = known.iter().map(|used| named(&used.revision.name, &used.revision.id)).collect();
            return Err(missing("revision", &revision_id, &known));
        };
        let revision = found.revision.clone();
        let patch = ContextPatch {
            name: Some(revision.name),
            system_prompt: Some(revision.system_prompt),
            personality: Some(revision.personality),
            anchor: Some(revision.anchor.unwrap_or_default()),
            ..ContextPatch::default()
        };
        self.context_update(id, patch).await
    }

    /// What could be better about a persona that is being written, for the window of a model or of
    /// the default one; a window that nobody knows yet is left out of it.
    ///
    /// # Errors
    /// A text is longer than it may be, or the vault is locked.
    pub async fn context_advice(
        &self,
        draft: PersonaDraft,
        model: Option<ModelChoice>,
    ) -> Result<Vec<PersonaAdvice>, ServiceError> {
        draft.check()?;
        self.session()?;
        // Without a model there is still everything to say that needs none.
        let chosen = self.chosen_for(model).await.ok().filter(|chosen| !chosen.window_is_guess);
        let window = chosen.map(|chosen| chosen.window);
        let advice = tokio::task::spawn_blocking(move || {
            let mut advice = advise(&draft.name, &draft.system_prompt, &draft.personality, window, |text| O200k.count(text));
            advice.extend(draft.max_tokens.zip(window).and_then(|(most, window)| advise_reply(most, window)));
            advice
        });
        let advice = advice.await.map_err(|error| ServiceError::internal("reading a persona", &error))?;
        Ok(advice.into_iter().map(said).collect())
    }

    /// The history budget that suits a model, or the default one.
    ///
    /// # Errors
    /// No model is chosen, or its provider or file is gone.
    pub async fn context_recommended_history(&self, model: Option<ModelChoice>) -> Result<RecommendedHistory, ServiceError> {
        let mut chosen = self.chosen_for(model).await?;
        self.window_told(&mut chosen).await;
        let window = chosen.window;
        Ok(RecommendedHistory { window, max_history_tokens: recommended_max_history_tokens(window) })
    }
}

fn said(advice: Advice) -> PersonaAdvice {
    let message = advice.message();
    let details = match advice.kind {
        AdviceKind::TooLongForWindow { tokens, window } | AdviceKind::ReplyTooLong { tokens, window } => {
            BTreeMap::from([("tokens".to_owned(), tokens.to_string()), ("window".to_owned(), window.to_string())])
        }
        _ => BTreeMap::new(),
    };
    PersonaAdvice { code: advice.kind.code().to_owned(), field: advice.field, quote: advice.quote, message, details }
}
