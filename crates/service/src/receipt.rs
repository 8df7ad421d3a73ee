//! Receipts: what was sent for a reply, shown and put together again.

use crate::chat::{asked_then, continued};
use crate::{Service, ServiceError};
use evenkeel_domain::{
    ErrorBody, ErrorCode, MessageId, Origin, Provider, ProviderKind, Receipt, ReceiptBlock, RequestText, Role, RoundText,
    sha256_hex,
};
use evenkeel_prompt::{Rebuilt, labels_in, rebuilt, system_text, whole_anchor, without_labels};
use evenkeel_provider::{ChatRequest, Endpoint, body, wire::sampling::SCHEME};
use evenkeel_store::{ReadHandle, StoreError};

/// A receipt with what became of the texts that it names.
struct Looked {
    receipt: Receipt,
    /// For each block the text that its origin names, where there is one.
    stored: Vec<Option<String>>,
    /// The provider, if it is still there.
    provider: Option<Provider>,
}

impl Service {
    /// What was sent for a reply; `None` for a reply from before there were receipts. Blocks whose text was deleted
    /// since are marked.
    ///
    /// # Errors
    /// There is no such message, or it is no reply.
    pub async fn receipt_get(&self, message_id: MessageId) -> Result<Option<Receipt>, ServiceError> {
        Ok(self.looked(message_id).await?.map(|looked| looked.receipt))
    }

    /// The request of a reply, put together again from what is stored and compared with the hash of what was sent.
    ///
    /// # Errors
    /// There is no such message, it is no reply, or it has no receipt.
    pub async fn receipt_request(&self, message_id: MessageId) -> Result<RequestText, ServiceError> {
        let looked = self.looked(message_id).await?.ok_or_else(|| {
            let message = "this reply has no receipt: it was written before Evenkeel kept any";
            ErrorBody::new(ErrorCode::NotFound, message).with("id", message_id)
        })?;
        looked.request()
    }

    async fn looked(&self, message_id: MessageId) -> Result<Option<Looked>, ServiceError> {
        if self.message_get(message_id).await?.role != Role::Assistant {
            let message = "only replies have receipts: they tell what was sent for them";
            return Err(ErrorBody::new(ErrorCode::InvalidParameter, message)
                .with("field", "messageId")
                .with("value", message_id)
                .with("range", "the id of a reply")
                .into());
        }
        // What was recalled for a private conversation lies in the vault.
        let records = self.session()?.records(message_id);
        records.read_beside(move |vault, r| Looked::read(vault, r, message_id)).await
    }
}

impl Looked {
    fn read(vault: &ReadHandle<'_>, r: &ReadHandle<'_>, reply: MessageId) -> Result<Option<Self>, StoreError> {
        let Some(mut receipt) = r.receipt(reply)? else { return Ok(None) };
        let answered = receipt.user_message_id;
        let mut stored = Vec::with_capacity(receipt.blocks.len());
        for block in &mut receipt.blocks {
            let text = stored_text(vault, r, block, answered)?;
            block.forgotten |= text.is_none() && names_a_text(block);
            if block.origin == Origin::UserText {
                block.date = answered.born_at();
            }
            stored.push(text);
        }
        let provider = vault.provider(receipt.model.provider_id)?;
        Ok(Some(Self { receipt, stored, provider }))
    }

    fn request(self) -> Result<RequestText, ServiceError> {
        let receipt = &self.receipt;
        let Rebuilt { texts, missing, prompt } = rebuilt(receipt, &self.stored);
        let mut request = RequestText {
            body: String::new(),
            curl: String::new(),
            address: receipt.address.clone(),
            matches: false,
            missing: missing.into_iter().filter_map(|at| receipt.blocks.get(at).cloned()).collect(),
            texts,
            rounds: vec![RoundText { body: String::new(), curl: String::new(), matches: false }; receipt.rounds.len()],
        };
        for block in &mut request.missing {
            block.forgotten = true;
        }
        if let Some(prompt) = prompt {
            let first = asked_then(receipt, &prompt);
            let RoundText { body, curl, matches } = self.written(&first, &receipt.request_hash)?;
            (request.body, request.curl, request.matches) = (body, curl, matches);
            for (at, round) in receipt.rounds.iter().enumerate().take_while(|(_, round)| !round.forgotten) {
                let further = continued(first.clone(), &receipt.rounds[..=at]);
                request.rounds[at] = self.written(&further, &round.request_hash)?;
            }
        }
        Ok(request)
    }

    /// A request as its bytes, held against the hash of what was sent.
    fn written(&self, request: &ChatRequest, hash: &str) -> Result<RoundText, ServiceError> {
        let receipt = &self.receipt;
        let bytes = body(receipt.provider_kind, &receipt.address, request)
            .map_err(|error| ServiceError::internal("rendering a request", &error))?;
        let body = String::from_utf8_lossy(&bytes).into_owned();
        // What went over a program's connection cannot be sent by a command.
        let is_lent = receipt.address.starts_with(SCHEME);
        let curl = || endpoint(receipt, self.provider.as_ref()).curl(&receipt.address, &body);
        let curl = if is_lent { String::new() } else { curl() };
        Ok(RoundText { curl, matches: sha256_hex(&bytes) == hash, body })
    }
}

/// The provider as a command needs it: which headers it takes, and none of their values.
fn endpoint(receipt: &Receipt, provider: Option<&Provider>) -> Endpoint {
    let has_key = receipt.provider_kind == ProviderKind::Engine || provider.is_none_or(|provider| provider.key_hint.is_some());
    let base_url = provider.map_or(receipt.address.as_str(), |provider| provider.base_url.as_str());
    Endpoint {
        key: has_key.then(|| String::new().into()),
        extra_headers: provider.map(|provider| provider.extra_headers.clone()).unwrap_or_default(),
        ..Endpoint::new(receipt.provider_kind, base_url)
    }
}

/// Whether a block's text lies elsewhere.
fn names_a_text(block: &ReceiptBlock) -> bool {
    block.text.is_none() && !block.hash.is_empty()
}

/// The text that a block's origin names.
fn stored_text(
    vault: &ReadHandle<'_>,
    r: &ReadHandle<'_>,
    block: &ReceiptBlock,
    answered: MessageId,
) -> Result<Option<String>, StoreError> {
    Ok(match &block.origin {
        Origin::Revision { id } => r.revision(id)?.as_ref().map(system_text),
        Origin::Anchor { id } => r.revision(id)?.as_ref().map(whole_anchor),
        Origin::Summary { id } => r.summary(*id, labels_in)?.map(|summary| without_labels(&summary.text)),
        _ => match block.message(answered) {
            Some(id) => r.message_content(id)?.map_or_else(|| vault.message_content(id), |content| Ok(Some(content)))?,
            None => None,
        },
    })
}
