//! Faults on purpose, for tests and for `./scripts/bench faults`: a disk whose n-th call fails, images of
//! power cuts, damage to files, kills. Each module breaks something in its own way and then holds the
//! vault against its promises; what it finds broken is an error, what it counts is the answer.
//!
//! No shipped code depends on this crate. It is the only one of the project with `unsafe` code of its
//! own: SQLite's file system layer is a table of C functions (see [`disk`]).

pub mod bytes;
mod chance;
pub mod damage;
pub mod disk;
mod error;
pub mod full;
pub mod image;
pub mod kill;
pub mod readers;
pub mod recovery;
pub mod scene;
pub mod secrecy;
pub mod sweep;

pub use error::FaultError;
