//! How a server is reached.

use crate::{Exchange, ToolError};
use evenkeel_domain::{ContextId, ToolServerId};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A server, ready to be reached.
#[derive(Clone)]
pub struct Server {
    /// Which one.
    pub id: ToolServerId,
    /// The user's name for it, for messages.
    pub name: String,
    /// For whom it is called, where each context has a connection of its own; a program is one for all.
    pub behalf: Option<ContextId>,
    /// How it is reached.
    pub way: Way,
    /// Cancelled when it is stopped: [`ToolRoom::stopping`](crate::ToolRoom::stopping), from before its way was read.
    pub stopped: CancellationToken,
}

/// The way to a server.
#[derive(Clone)]
pub enum Way {
    /// A program of this machine.
    Process(Program),
    /// An address.
    Http {
        /// The address; who makes the requests decides whether it may be called.
        url: String,
        /// Goes with each request as bearer token.
        token: Option<SecretString>,
        /// Makes the requests.
        exchange: Arc<dyn Exchange>,
    },
}

/// A program to start. No shell reads its command.
#[derive(Clone)]
pub struct Program {
    /// A path, or a name that is looked up in the `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has beside the few variables that each program gets.
    pub env: BTreeMap<String, SecretString>,
}

impl Way {
    /// The command, or the address; for messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Process(program) => program.command.clone(),
            Self::Http { url, .. } => url.clone(),
        }
    }
}

impl Server {
    /// What it is asked, for as long as it is not stopped.
    pub(crate) async fn asked<T>(&self, work: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        tokio::select! {
            biased;
            () = self.stopped.cancelled() => Err(ToolError::Stopped { server: self.name.clone() }),
            answer = work => answer,
        }
    }

    /// Whether a server that was started as `other` serves for this one as well.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.way, &other.way) {
            (Way::Process(one), Way::Process(two)) => {
                let same = |a: &SecretString, b: &SecretString| a.expose_secret() == b.expose_secret();
                let names = one.env.keys().eq(two.env.keys());
                let values = one.env.values().zip(two.env.values()).all(|(a, b)| same(a, b));
                one.command == two.command && one.args == two.args && names && values
            }
            (Way::Http { url: one, token: a, .. }, Way::Http { url: two, token: b, .. }) => {
                let shown = |token: &Option<SecretString>| token.as_ref().map(|token| token.expose_secret().to_owned());
                one == two && shown(a) == shown(b)
            }
            _ => false,
        }
    }
}
