//! The store from outside: real files, real processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod archives;
mod connections;
mod context_life;
mod conversation_life;
mod counting;
mod durability;
mod figures;
mod memory;
mod notes;
mod opening;
mod paging;
mod portions;
mod recalling;
mod receipts;
mod room;
mod searching;
mod secrecy;
mod sharing;
mod strategies;
mod tables;
mod tail;
mod tools;
mod tree;
mod undo;
mod upkeep;
