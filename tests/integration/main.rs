//! The service on a real vault, with a scripted model server over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod backup;
mod bad_input;
mod chat;
mod data;
mod engine;
mod independent;
mod ipc_body;
mod job_processes;
mod jobs;
mod lifetime;
mod model_files;
mod package;
mod provider_errors;
mod support;
mod vault;
mod window;
