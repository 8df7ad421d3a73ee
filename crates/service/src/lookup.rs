//! Things by what people call them: an id, or a name that only one of them has.

use crate::missing::{missing, named};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    Context, ContextId, ContextPlace, ContextQuery, Conversation, ConversationQuery, FieldError, Preset, PresetId,
};

/// Contexts or conversations in one answer.
const PAGE: u32 = 500;

impl Service {
    /// The context with this id, or with this name where only one has it; of names that differ in case alone, the one that
    /// is written so. Names are looked for among those that are not in the trash.
    ///
    /// # Errors
    /// There is none (the error lists those that exist), or several have the name (it lists them).
    pub async fn context_named(&self, text: &str) -> Result<Context, ServiceError> {
        if let Ok(id) = text.parse::<ContextId>() {
            return self.context_get(id).await;
        }
        let all = self.every_context().await?;
        let known = all.iter().map(|context| (context.name.clone(), context.id.to_string())).collect();
        let at = place("context", text, known)?;
        all.into_iter().nth(at).ok_or_else(|| missing("context", text, &[]))
    }

    /// The preset with this id or name, hidden or not.
    ///
    /// # Errors
    /// As for [`Service::context_named`].
    pub async fn preset_named(&self, text: &str) -> Result<Preset, ServiceError> {
        let all = self.session()?.read(|r| r.presets(true)).await?;
        let known = all.iter().map(|preset| (preset.name.clone(), preset.id.to_string())).collect();
        match all.iter().find(|preset| preset.id == PresetId::new(text)) {
            Some(preset) => Ok(preset.clone()),
            None => {
                let at = place("preset", text, known)?;
                all.into_iter().nth(at).ok_or_else(|| missing("preset", text, &[]))
            }
        }
    }

    /// The conversation of a context in which something was said last; those in the archive do not count.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn conversation_latest(&self, context: ContextId) -> Result<Option<Conversation>, ServiceError> {
        // Pinned ones come first, however old, so that the first alone would not do.
        let query = ConversationQuery { context_id: Some(context), limit: PAGE, ..ConversationQuery::default() };
        let found = self.conversation_list(query).await?.items;
        Ok(found.into_iter().max_by_key(|conversation| (conversation.last_activity_at, conversation.id)))
    }

    async fn every_context(&self) -> Result<Vec<Context>, ServiceError> {
        let mut all: Vec<Context> = Vec::new();
        loop {
            let after: Option<ContextPlace> = all.last().map(Context::place);
            let query = ContextQuery { include_expired: true, page_size: PAGE, after, ..ContextQuery::default() };
            let page = self.context_list(query).await?.contexts;
            let is_last = page.len() < PAGE as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }
}

/// Where in the list of names and ids the one thing stands that is called so.
fn place(noun: &'static str, text: &str, known: Vec<(String, String)>) -> Result<usize, ServiceError> {
    let folded = text.to_lowercase();
    let of = |is_it: &dyn Fn(&str) -> bool| -> Vec<usize> {
        known.iter().enumerate().filter(|(_, (name, _))| is_it(name)).map(|(at, _)| at).collect()
    };
    let exactly = of(&|name| name == text);
    let found = if exactly.is_empty() { of(&|name| name.to_lowercase() == folded) } else { exactly };
    let listed = |at: &usize| known.get(*at).map(|(name, id)| named(name, id)).unwrap_or_default();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let existing: Vec<String> = known.iter().map(|(name, id)| named(name, id)).collect();
            Err(missing(noun, text.chars().take(120).collect::<String>(), &existing))
        }
        several => {
            let range = format!("the id of one of them: {}", several.iter().map(listed).collect::<Vec<_>>().join(", "));
            Err(FieldError { field: noun, value: text.chars().take(120).collect(), range }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_domain::ErrorCode;

    fn known() -> Vec<(String, String)> {
        [("Mara", "1"), ("mara", "2"), ("Otto", "3"), ("Otto", "4"), ("Ines", "5")]
            .map(|(name, id)| (name.to_owned(), id.to_owned()))
            .into()
    }

    #[test]
    fn a_name_is_found_as_it_is_written_or_in_another_case() {
        for (text, expected) in [("Mara", 0), ("mara", 1), ("INES", 4)] {
            assert_eq!(place("context", text, known()).ok(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_name_of_several_or_of_none_lists_what_there_is() {
        let Err(several) = place("context", "Otto", known()) else { panic!("one of two was chosen") };
        let body = several.to_body();
        assert_eq!(body.code, ErrorCode::InvalidParameter);
        assert!(body.details["range"].contains("Otto (3), Otto (4)"), "{body:?}");
        let Err(several) = place("context", "MARA", known()) else { panic!("one of two was chosen") };
        assert!(several.to_body().details["range"].contains("Mara (1), mara (2)"));
        let Err(none) = place("context", "Nobody", known()) else { panic!("nobody was found") };
        assert_eq!(none.code(), ErrorCode::NotFound);
        assert!(none.to_body().details["existing"].contains("Ines (5)"));
    }
}
