//! Operations: what tools did, recorded and asked for.

use crate::{Service, ServiceError};
use evenkeel_domain::{ErrorBody, ErrorCode, Operation, OperationDraft, OperationQuery};

impl Service {
    /// Records what a tool did, with what matters of it.
    ///
    /// # Errors
    /// There is no such conversation, or the vault cannot be written.
    pub async fn operation_record(&self, draft: OperationDraft) -> Result<Operation, ServiceError> {
        Err(not_kept(&draft.tool_name))
    }

    /// What tools did last in a conversation, the newest first.
    ///
    /// # Errors
    /// The limit is not 1–50, or there is no such conversation.
    pub async fn operation_recent(&self, query: OperationQuery) -> Result<Vec<Operation>, ServiceError> {
        query.check()?;
        Err(not_kept("any tool"))
    }
}

fn not_kept(tool: &str) -> ServiceError {
    ErrorBody::new(ErrorCode::Internal, format!("operations of {tool} are not kept yet")).into()
}
