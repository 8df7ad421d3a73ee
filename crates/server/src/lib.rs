//! The running app as a server on this machine: a socket for processes of the same user, and HTTP on the loopback address.
//!
//! It knows the ways in, who may use them and how answers look there, and nothing of how the app does things: those it asks
//! of [`App`].

mod accept;
mod api;
mod app;
mod error;
mod http;
pub mod local;

pub use api::openapi;
pub use app::{App, AppVault, Happened};
pub use error::ServerError;
pub use http::{HttpDoor, HttpOptions, TokenDigest};
