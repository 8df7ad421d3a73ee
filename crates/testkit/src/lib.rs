//! Real parts for tests: a keyring session, a scripted model server, a clock that stands still.

pub mod clock;
pub mod keyring;
pub mod scripted_server;
