//! Opening the vault by what was typed where nothing says whether it is the passphrase or the recovery code.

use crate::{Service, ServiceError, UnlockMethod, VaultStatus};
use evenkeel_domain::{ErrorBody, ErrorCode};
use zeroize::Zeroizing;

impl Service {
    /// Opens the vault by its recovery code or its passphrase, whichever this is.
    ///
    /// # Errors
    /// It is neither, or the vault cannot be opened for another reason.
    pub async fn vault_unlock_typed(&self, secret: Zeroizing<String>) -> Result<VaultStatus, ServiceError> {
        let code = UnlockMethod::RecoveryCode { code: secret.to_string() };
        let refused = match self.vault_unlock(code).await {
            Err(error) if matches!(error.code(), ErrorCode::WrongKey | ErrorCode::InvalidParameter) => error,
            opened => return opened,
        };
        if !self.status().has_passphrase {
            return Err(refused);
        }
        let opened = self.vault_unlock(UnlockMethod::Passphrase { passphrase: secret.to_string() }).await;
        opened.map_err(|error| match error.code() {
            ErrorCode::WrongKey => {
                ErrorBody::new(ErrorCode::WrongKey, "this is neither the passphrase nor the recovery code of this vault").into()
            }
            _ => error,
        })
    }
}
