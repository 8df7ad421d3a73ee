//! What the app says about itself: a log and crash reports, both without content and both on this machine alone.
//!
//! Nothing that a person or a model wrote, no name, no key and no address can get into them, since what goes in is
//! not chosen by leaving things out but by letting few things in: sentences of the program's own source, numbers, and
//! words of a few named fields that have the form of a code or an id. See ADR 27.

mod crash;
mod error;
mod folder;
mod lines;
mod log;

pub use crash::{CrashReport, CrashReports, Ending, catch_panics};
pub use error::DiagnosisError;
pub use lines::{Lines, Process};
pub use log::{LogFile, LogLevel, LogLine};
