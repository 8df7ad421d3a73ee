//! The engine as real processes on the real small model. Without the model these tests fail:
//! `./scripts/setup` fetches it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod chat;
mod embedding;
mod hostile;
mod process;
mod supervisor;
mod support;
