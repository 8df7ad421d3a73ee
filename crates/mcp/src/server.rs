//! The server: what each request of the protocol is answered with.

use crate::caller::Caller;
use crate::record::ErrorRecord;
use crate::tool::chat::Watch;
use crate::{Companions, McpError, completion, cursor, prompt, resource, tool, wire};
use evenkeel_domain::{ErrorBody, ErrorCode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, JsonRpcMessage, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// Time in which answers under way may still be given once the input has ended.
const GRACE: Duration = Duration::from_millis(250);
/// Changes of the lists are told together that come so soon after each other.
const TOGETHER: Duration = Duration::from_millis(200);

const INSTRUCTIONS: &str = "Evenkeel keeps companions (contexts) with a stable personality, their conversations and their \
    settings in an encrypted vault on the user's machine. context-manage lists them; context-chat talks to one, with the \
    conversation so far as its memory; conversation-manage reads and deletes messages. What this program may do is decided by \
    the user in Evenkeel, Settings, Connections: a call that is not allowed says so.";

/// Serves one program until its input ends. Replies under way are stopped then; what had arrived is kept.
///
/// # Errors
/// The connection could not be begun: the first message was none of the protocol, or nothing could be written.
pub async fn serve<R, W>(companions: Arc<dyn Companions>, read: R, write: W) -> Result<(), McpError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let closed = CancellationToken::new();
    // Also where the one who serves is given up in the middle.
    let _ended = closed.clone().drop_guard();
    let lines = wire::Lines::new(read, write, closed.clone());
    let server = Server::new(companions, closed.clone());
    match server.serve(lines).await {
        Ok(running) => tokio::select! {
            ended = running.waiting() => ended.map(|_| ()).map_err(McpError::Task),
            // Answers that nobody reads are not waited for long: the one who started this may be waiting for its end.
            () = async { closed.cancelled().await; tokio::time::sleep(GRACE).await } => Ok(()),
        },
        // Nobody had anything to ask.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(McpError::Begin(Box::new(error))),
    }
}

/// Answers the first request of a program that is not served with the reason, and ends.
pub async fn turn_away<R, W>(reason: ErrorBody, read: R, write: W)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut lines = wire::Lines::new(read, write, CancellationToken::new());
    while let Some(message) = lines.receive().await {
        if let JsonRpcMessage::Request(request) = message {
            let answer = TxJsonRpcMessage::<RoleServer>::error(refused(reason), Some(request.id));
            if let Err(error) = lines.send(answer).await {
                tracing::debug!(%error, "a program that was turned away did not read why");
            }
            break;
        }
    }
    let _ = lines.close().await;
}

/// What answers a program.
pub(crate) struct Server {
    companions: Arc<dyn Companions>,
    /// Cancelled once nobody listens any more.
    closed: CancellationToken,
}

impl Server {
    pub fn new(companions: Arc<dyn Companions>, closed: CancellationToken) -> Self {
        Self { companions, closed }
    }

    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorBody> {
        Caller::of(self.companions.clone(), context.client_info()).await
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_completions()
            .build();
        let identity = Implementation::new("evenkeel", env!("CARGO_PKG_VERSION")).with_title("Evenkeel");
        ServerConfig::new(capabilities).with_server_info(identity).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        cursor::only_page(request)?;
        Ok(ListToolsResult::with_all_items(tool::listed()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(named) = tool::Named::of(&request.name) else {
            let message = format!("there is no tool {}; there are: {}", request.name, tool::Named::names());
            return Err(ErrorData::invalid_params(message, None));
        };
        let token = context.meta.get_progress_token();
        let watch = Watch::new(context.peer.clone(), token, context.ct.clone(), self.closed.clone());
        let outcome = match self.caller(&context).await {
            Ok(caller) => named.call(&caller, request.arguments, watch).await,
            Err(error) => Err(error),
        };
        Ok(tool::answered(outcome).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // A list is given also where the vault is not open: it has what is always there.
        let caller = self.caller(&context).await.ok();
        resource::list(caller.as_ref(), cursor::of(request)).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        cursor::only_page(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(resource::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context).await.map_err(refused)?;
        resource::read(&caller, &request.uri).await.map(Into::into).map_err(refused)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        cursor::only_page(request)?;
        Ok(ListPromptsResult::with_all_items(prompt::listed()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompt::get(&request.name, request.arguments.as_ref()).map(Into::into).map_err(refused)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context).await.ok();
        completion::complete(caller.as_ref(), &request).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(wire::unreadable(&request.method))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut changes, closed, peer) = (self.companions.lists_changed(), self.closed.clone(), context.peer);
        tokio::spawn(async move {
            while changed(&mut changes, &closed).await {
                if peer.notify_resource_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().resources_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.companions.lists_changed();
        let mut goes_on = true;
        // Told once at the beginning: the list may have changed since the request was accepted.
        while goes_on && context.sink().notify_resource_list_changed().await.is_ok() {
            goes_on = tokio::select! {
                () = context.cancelled() => false,
                goes_on = changed(&mut changes, &self.closed) => goes_on,
            };
        }
        Ok(())
    }
}

/// Waits for a change, and for those that come with it; false once nobody listens any more.
async fn changed(changes: &mut broadcast::Receiver<()>, closed: &CancellationToken) -> bool {
    let next = async {
        if let Err(broadcast::error::RecvError::Closed) = changes.recv().await {
            return false;
        }
        tokio::time::sleep(TOGETHER).await;
        while !matches!(changes.try_recv(), Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed)) {
        }
        true
    };
    tokio::select! {
        () = closed.cancelled() => false,
        goes_on = next => goes_on,
    }
}

/// An error of ours as one of the protocol, for what has no answer of its own to say it with.
pub(crate) fn refused(error: ErrorBody) -> ErrorData {
    let code = error.code;
    let message = error.message.clone();
    let data = serde_json::to_value(ErrorRecord::from(error)).ok();
    match code {
        ErrorCode::NotFound => ErrorData::resource_not_found(message, data),
        ErrorCode::InvalidParameter => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
