//! Operations as a timeline shows them.

use evenkeel_domain::{Operation, OperationId, OperationPageQuery};
use evenkeel_operation::shortened;
use evenkeel_store::{ReadHandle, StoreError};
use serde::{Deserialize, Serialize};

/// Characters of arguments and of a result that a list shows.
const SHOWN: usize = 4_000;

/// A page of operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OperationPage {
    /// The operations, the newest first.
    pub operations: Vec<Operation>,
    /// Those of them whose arguments or result are longer than shown here.
    pub shortened: Vec<OperationId>,
    /// How many there are on all pages.
    pub total_count: u32,
    /// All tools of the conversation, whichever is asked for.
    pub tools: Vec<OperationTool>,
}

/// A tool that was used in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct OperationTool {
    /// Its name.
    pub name: String,
    /// How often it was used, as far as that is kept.
    pub count: u32,
}

impl OperationPage {
    pub(super) fn read(r: &ReadHandle<'_>, query: &OperationPageQuery) -> Result<Self, StoreError> {
        let fits = |tool: &str| query.tool_name.as_deref().is_none_or(|wanted| wanted == tool);
        let skipped = u64::from(query.page.saturating_sub(1)) * u64::from(query.page_size);
        let mut operations = r.operations(query.conversation_id, (skipped, query.page_size), fits)?;
        let used = r.operation_tools(query.conversation_id)?;
        let tools: Vec<_> = used
            .into_iter()
            .map(|(name, count)| OperationTool { name, count: u32::try_from(count).unwrap_or(u32::MAX) })
            .collect();
        let total_count = tools.iter().filter(|tool| fits(&tool.name)).map(|tool| tool.count).sum();
        let long = operations.iter_mut().filter_map(shorten).collect();
        Ok(Self { operations, shortened: long, total_count, tools })
    }
}

/// Cuts what is long; gives the id where something was.
fn shorten(operation: &mut Operation) -> Option<OperationId> {
    let (arguments, result) = (shortened(&operation.arguments, SHOWN), shortened(&operation.result, SHOWN));
    let is_long = arguments != operation.arguments || result != operation.result;
    (operation.arguments, operation.result) = (arguments, result);
    is_long.then_some(operation.id)
}
