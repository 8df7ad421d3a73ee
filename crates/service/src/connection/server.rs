//! HTTP for other programs: whether it is on, where, and the token that they show.

use super::ways_in::Http;
use crate::{Service, ServiceError, VaultState, next, session::Session};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use evenkeel_domain::{ErrorBody, ErrorCode, ServerSettings};
use evenkeel_server::{HttpDoor, HttpOptions, ServerError, TokenDigest};
use evenkeel_store::{ReadHandle, StoreError, WriteHandle, state_key};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;
use zeroize::Zeroizing;

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// How a token begins, so that one that was left lying about is recognised.
const MARK: &str = "evenkeel_";

/// The server over HTTP, as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// What is turned on.
    pub settings: ServerSettings,
    /// Where it listens, such as `http://127.0.0.1:28472`; `None` while it does not.
    pub address: Option<String>,
    /// Why it does not, although it is on.
    pub error: Option<ErrorBody>,
}

impl Service {
    /// Whether the server over HTTP is on, and where it listens.
    ///
    /// # Errors
    /// The vault is locked or cannot be read.
    pub async fn server_status(&self) -> Result<ServerStatus, ServiceError> {
        let settings = self.session()?.read(settings).await?;
        let http = self.0.ways_in.http().await;
        Ok(ServerStatus {
            settings,
            address: http.door.as_ref().map(|door| format!("http://127.0.0.1:{}", door.port())),
            error: http.error.clone(),
        })
    }

    /// Turns the server on or off, or moves it to another port; connections end with that.
    ///
    /// # Errors
    /// The vault is locked or cannot be written, or it is turned on and its token does not open. That a port is taken is
    /// told by the status.
    pub async fn server_save(&self, settings: ServerSettings) -> Result<ServerStatus, ServiceError> {
        if settings.enabled {
            self.server_token().await?;
        }
        let text = serde_json::to_string(&settings).map_err(|error| ServiceError::internal("keeping the settings", &error))?;
        self.session()?.write(move |w| w.put_app_state(state_key::SERVER, &text)).await?;
        self.serve_as_set().await?;
        self.server_status().await
    }

    /// The token that programs show; made when it is first asked for.
    ///
    /// # Errors
    /// The vault is locked or cannot be read or written.
    pub async fn server_token(&self) -> Result<Zeroizing<String>, ServiceError> {
        let session = self.session()?;
        match session.read(|r| r.app_state(state_key::SERVER_TOKEN)).await? {
            Some(sealed) => opened(&session, &sealed),
            None => self.new_token(&session).await,
        }
    }

    /// Makes another token; the one before is worth nothing from then on, and connections end.
    ///
    /// # Errors
    /// The vault is locked or cannot be written.
    pub async fn server_renew_token(&self) -> Result<Zeroizing<String>, ServiceError> {
        let session = self.session()?;
        let token = self.new_token(&session).await?;
        self.serve_as_set().await?;
        Ok(token)
    }

    async fn new_token(&self, session: &Session) -> Result<Zeroizing<String>, ServiceError> {
        let mut bytes = Zeroizing::new([0_u8; TOKEN_BYTES]);
        getrandom::fill(&mut *bytes).map_err(|error| ServiceError::internal("making a token", &error))?;
        let token = Zeroizing::new(format!("{MARK}{}", BASE64URL_NOPAD.encode(&*bytes)));
        let sealed = evenkeel_vault::seal(&session.secrets, &bound(session.vault_id), token.as_bytes())?;
        session.write(move |w| w.put_app_state(state_key::SERVER_TOKEN, &HEXLOWER.encode(&sealed))).await?;
        Ok(token)
    }

    /// Follows the vault: what is served is known once it is open. A locked one keeps the door, so that programs are told
    /// what to do; one that is gone closes it.
    pub(super) async fn follow_vault(self) {
        let mut states = self.vault_states();
        let mut state = Some(self.0.gate.state().0);
        while let Some(now) = state {
            match now {
                VaultState::Open => {
                    if let Err(error) = self.serve_as_set().await {
                        tracing::error!(code = error.code().as_str(), %error, "the server over HTTP could not be begun");
                    }
                }
                VaultState::New => self.0.ways_in.close_http().await,
                _ => {}
            }
            state = next(&mut states).await;
        }
    }

    /// Brings what listens in line with what is set; only in the running app, whose vault no program opens.
    async fn serve_as_set(&self) -> Result<(), ServiceError> {
        if !self.0.ways_in.is_app() {
            return Ok(());
        }
        // Read in turn: what was read before another change would undo it.
        let mut http = self.0.ways_in.http().await;
        let set = self.session()?.read(settings).await?;
        // One that is off needs no token, also where the stored one does not open.
        let token = if set.enabled { Some(TokenDigest::of(&self.server_token().await?)) } else { None };
        let is_as_set = token.as_ref().map_or(http.door.is_none(), |token| http.serves(set, token));
        if self.0.ways_in.is_ended() || is_as_set {
            return Ok(());
        }
        if let Some(door) = http.door.take() {
            door.close().await;
        }
        *http = Http::default();
        let Some(token) = token else { return Ok(()) };
        match HttpDoor::open(Arc::new(self.clone()), HttpOptions { port: set.port, token: token.clone() }).await {
            Ok(door) => *http = Http { door: Some(door), set: Some((set, token)), error: None },
            Err(error) => http.error = Some(told(&error, set.port)),
        }
        Ok(())
    }
}

fn told(error: &ServerError, port: u16) -> ErrorBody {
    match error {
        ServerError::PortTaken(_) => ErrorBody::new(ErrorCode::InvalidParameter, error.to_string())
            .with("field", "port")
            .with("value", port)
            .with("range", "a port that no other program has; 0 = any free one"),
        _ => ErrorBody::new(ErrorCode::Internal, error.to_string()),
    }
}

/// What was set; what cannot be read counts as nothing, which is off.
fn settings(r: &ReadHandle<'_>) -> Result<ServerSettings, StoreError> {
    let text = r.app_state(state_key::SERVER)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// What the wrapped token is bound to: it opens in this vault only.
fn bound(vault_id: Uuid) -> Vec<u8> {
    format!("evenkeel/server-token/v1\n{vault_id}").into_bytes()
}

fn opened(session: &Session, sealed: &str) -> Result<Zeroizing<String>, ServiceError> {
    let damaged = || StoreError::DamagedValue { what: "the token of the server".to_owned() };
    let sealed = HEXLOWER.decode(sealed.as_bytes()).map_err(|_| damaged())?;
    let token = evenkeel_vault::open(&session.secrets, &bound(session.vault_id), &sealed).map_err(|_| damaged())?;
    let token = std::str::from_utf8(&token).map_err(|_| damaged())?;
    Ok(Zeroizing::new(token.to_owned()))
}

/// Wraps the token anew, for a vault that gets another root key. One that does not open is left as it is; the user renews it.
pub(crate) fn reseal_token(w: &mut WriteHandle<'_>, vault_id: Uuid, old: &[u8; 32], new: &[u8; 32]) -> Result<(), StoreError> {
    let Some(sealed) = w.app_state(state_key::SERVER_TOKEN)? else { return Ok(()) };
    let token = HEXLOWER.decode(sealed.as_bytes()).ok();
    let Some(token) = token.and_then(|sealed| evenkeel_vault::open(old, &bound(vault_id), &sealed).ok()) else {
        tracing::warn!("the token of the server does not open and is left as it is");
        return Ok(());
    };
    let unsealed = |_| StoreError::DamagedValue { what: "the token of the server".to_owned() };
    let anew = evenkeel_vault::seal(new, &bound(vault_id), &token).map_err(unsealed)?;
    w.put_app_state(state_key::SERVER_TOKEN, &HEXLOWER.encode(&anew))
}
