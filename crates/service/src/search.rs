//! Searching what was said.

use crate::{Service, ServiceError};
use evenkeel_domain::{SearchHit, SearchQuery};

impl Service {
    /// Messages that have all words of a query, the newest first; nothing from the trash.
    ///
    /// # Errors
    /// A field of the query is outside its range, or the vault is locked or cannot be read.
    pub async fn search_messages(&self, query: SearchQuery) -> Result<Vec<SearchHit>, ServiceError> {
        query.check()?;
        self.session()?.read(move |r| r.search_messages(&query)).await
    }
}
