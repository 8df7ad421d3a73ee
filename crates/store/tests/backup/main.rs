//! Backups from outside: real vaults, real files, real processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod damage;
mod figures;
mod killed;
mod listing;
mod making;
mod rekeying;
mod rescuing;
mod restoring;
#[allow(dead_code, reason = "shared with the tests of the store, which use the rest")]
#[path = "../store/room.rs"]
mod room;
mod vault;
