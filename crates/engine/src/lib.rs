//! The built-in provider: llama.cpp in a process of its own.
//!
//! A model file comes from anywhere, so nothing of it is read by native code in the app itself:
//! [`inspect`] reads its header in safe Rust, and the model runs in a child process
//! ([`child::run`], the subcommand `evenkeel engine`) that serves an OpenAI-compatible endpoint on
//! loopback under a random port and token. [`Supervisor`] starts, watches, switches and stops it.
//!
//! ```text
//! service → Supervisor::endpoint → EngineEndpoint {base_url, token} → provider (HTTP)
//!              │ starts, watches
//!              ▼
//!           child::run: axum → one model thread → llama.cpp
//! ```

pub mod child;
pub mod default_model;
mod error;
mod gguf;
mod model_file;
mod protocol;
mod supervisor;

pub use error::EngineError;
pub use model_file::{ModelFile, ModelFileError, inspect};
pub use supervisor::{EngineEndpoint, EngineEvent, EngineUse, Supervisor, SupervisorOptions};
