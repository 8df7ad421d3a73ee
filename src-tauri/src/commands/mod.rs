//! The commands of the window. Each parses, calls one service method and maps the error.

pub mod archive;
pub mod backup;
pub mod care;
pub mod chat;
pub mod connection;
pub mod context;
pub mod conversation;
pub mod data;
pub mod diagnosis;
mod dialog;
pub mod job;
pub mod memory;
pub mod message;
pub mod network;
pub mod operation;
pub mod plugin;
pub mod preset;
pub mod private;
pub mod provider;
pub mod receipt;
pub mod rescue;
pub mod settings;
pub mod slot;
pub mod tool;
pub mod trash;
pub mod vault;

use evenkeel_domain::ErrorBody;

/// What every command gives: its value, or the one error shape.
pub type Answer<T> = Result<T, ErrorBody>;
