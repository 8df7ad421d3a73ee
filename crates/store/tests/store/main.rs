//! The store from outside: real files, real processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod durability;
mod figures;
mod opening;
mod room;
mod secrecy;
mod sharing;
mod tables;
mod tree;
