//! Backups that the service makes of its own accord.

use crate::{Service, ServiceError};

impl Service {
    /// Called before anything is deleted for good.
    pub(crate) async fn back_up_before_purge(&self) -> Result<(), ServiceError> {
        self.session().map(|_| ())
    }
}
