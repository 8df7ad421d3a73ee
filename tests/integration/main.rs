//! The service on a real vault, with a scripted model server over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod agent;
mod app_lock;
mod archive;
mod backup;
mod bad_input;
mod chat;
mod context;
mod conversation;
mod data;
mod data_move;
mod engine;
mod independent;
mod ipc_body;
mod job_processes;
mod jobs;
mod key_slots;
mod keyring;
mod lifetime;
mod mcp;
mod mcp_process;
mod memory;
mod model_files;
mod network;
mod package;
mod paging;
mod plugin;
mod preset;
mod private;
mod provider_errors;
mod read_only;
mod recall;
mod receipts;
mod redaction;
mod rescue;
mod restore_closed;
mod root_key;
mod secrecy;
mod sharing;
mod support;
mod title;
mod trash;
mod vault;
mod window;
