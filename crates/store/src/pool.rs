//! The few connections that read.

use crate::StoreError;
use crate::connection::Purpose;
use crate::store::Place;
use rusqlite::Connection;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Readers at the same time; more wait. Each holds up to 8 MB of pages.
const READERS: usize = 4;

/// Connections to lend out; opened when first needed.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    lent: usize,
}

impl Pool {
    /// Lends a connection, waiting while all are in use.
    pub(crate) fn lend(&self, place: &Place) -> Result<Lent<'_>, StoreError> {
        let mut state = self.lock();
        while state.lent >= READERS {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lent += 1;
        let idle = state.idle.pop();
        drop(state);
        // From here on the place is given back by dropping, also when opening fails.
        let mut lent = Lent { pool: self, connection: idle };
        if lent.connection.is_none() {
            lent.connection = Some(place.connect(Purpose::Read)?);
        }
        Ok(lent)
    }

    /// Closes the connections that nobody uses.
    pub(crate) fn shrink(&self) {
        let idle = std::mem::take(&mut self.lock().idle);
        drop(idle);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A borrowed connection; goes back when dropped.
pub(crate) struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

impl Lent<'_> {
    pub(crate) fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| StoreError::defect("a reader was lent without a connection"))
    }

    /// Closes the connection instead of giving it back.
    pub(crate) fn discard(&mut self) {
        self.connection = None;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.lent -= 1;
        // One that is still in a transaction would show an old state for ever: close it instead.
        state.idle.extend(self.connection.take().filter(Connection::is_autocommit));
        drop(state);
        self.pool.returned.notify_one();
    }
}
