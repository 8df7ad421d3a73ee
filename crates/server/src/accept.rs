//! Listening, whatever it is listened on.

use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Rest after a connection could not be had: out of handles, for example, trying again at once would not help.
const REST: Duration = Duration::from_millis(50);

/// Where connections come in.
pub(crate) trait Incoming: Send {
    /// A connection.
    type Stream: Send + 'static;

    /// The next one.
    fn next(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Incoming for TcpListener {
    type Stream = TcpStream;

    async fn next(&mut self) -> io::Result<TcpStream> {
        self.accept().await.map(|(stream, _)| stream)
    }
}

/// Converses with whoever connects until it is stopped; what is under way ends then too. Of more than `most` at the same
/// time the further ones wait.
pub(crate) async fn listen<I: Incoming, F: Future<Output = ()> + Send + 'static>(
    mut incoming: I,
    most: usize,
    stop: CancellationToken,
    converse: impl Fn(I::Stream) -> F + Send,
) {
    let room = Arc::new(Semaphore::new(most));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let come = tokio::select! {
            () = stop.cancelled() => return,
            come = async {
                let place = room.clone().acquire_owned().await.ok();
                (place, incoming.next().await)
            } => come,
        };
        match come {
            (Some(place), Ok(stream)) => {
                let conversation = converse(stream);
                connections.spawn(async move {
                    conversation.await;
                    drop(place);
                });
            }
            (None, _) => return,
            (_, Err(error)) => {
                tracing::warn!(%error, "a connection of a program was refused");
                tokio::time::sleep(REST).await;
            }
        }
    }
}
