//! Strategies that other people wrote, run as WebAssembly modules in a sandbox.
//!
//! A plug-in is a folder with a `plugin.json` and one core module. The module is given one JSON
//! text and answers with another, through the interface that `docs/plugins.md` describes. It has no
//! imports, so it reaches no file, no network, no clock and no randomness: the same input gives the
//! same answer. Each call runs in an instance of its own with limits on memory, stack, instructions
//! and time. Whatever a plug-in does comes back as a [`PluginError`], and the caller then chooses
//! the history by the sliding window.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod abi;
mod call;
mod error;
mod folder;
mod host;
mod install;
mod manifest;
mod plugin;
mod size;
mod ticker;

pub use abi::{
    ABI, ComposeInput, ComposeOutput, ExchangeInput, MAX_INPUT, MAX_MEMORY_TEXTS, MAX_OUTPUT, MAX_REASON, MAX_STATE, MemoryText,
    MessageInput, TurnInput, TurnOutput,
};
pub use error::{Fault, PluginError};
pub use folder::{MANIFEST_FILE, MAX_MANIFEST, MAX_WASM};
pub use host::{Host, Limits};
pub use manifest::{IdMistake, Manifest, PluginId};
pub use plugin::Plugin;
pub use size::{MAX_CODE, MAX_FUNCTION, MAX_FUNCTIONS};
