//! Tools of other programs: the client's side of the Model Context Protocol (MCP), in both of its eras.
//!
//! A server is a program that is started here, or one at an address. It is started when it is first needed, kept while it
//! is used, and ended after a while without use, with the app, and when it is asked for. What it says is data with bounds:
//! of tools that are too many or too large nothing is taken over. Whether a tool may run is decided elsewhere; and this
//! crate makes no request itself: whoever uses it hands in an [`Exchange`], which knows where requests may go.

mod error;
mod exchange;
mod fault;
mod listing;
mod outcome;
mod process;
mod room;
mod way;

pub use error::ToolError;
pub use exchange::{Asked, Exchange, Given, Method};
pub use listing::Listing;
pub use outcome::Outcome;
pub use room::ToolRoom;
pub use way::{Program, Server, Way};
