//! Evenkeel for other programs: a server of the Model Context Protocol (MCP), in both of its eras (2026-07-28 with
//! `server/discover`; 2025-11-25 and older with `initialize`).
//!
//! It knows the protocol, and nothing of how the app does things: those it asks of [`Companions`]. What a program may do is
//! looked up for each call, so that a change of the user's mind holds at once; of contexts that a program may not see,
//! nothing is in any answer, not even in the list of a refusal.

mod caller;
mod companions;
mod completion;
mod cursor;
mod error;
mod http;
mod prompt;
mod record;
mod resource;
mod sampling;
mod schema;
mod server;
mod tool;
mod wire;

pub use caller::Caller;
pub use companions::{Companions, PresetOverrides, Turn};
pub use error::McpError;
pub use http::{HTTP_BODY_BYTES, Sessions, over_http};
pub use record::OperationRecord;
pub use sampling::{Sampled, Sampler};
pub use server::{serve, turn_away};
pub use tool::chat::places as care_places;
