//! One file for each noun: its columns, what reads it and what writes it.

mod context;
mod conversation;
pub(crate) mod draft;
mod message;
pub(crate) mod model_file;
mod preset;
mod provider;
mod settings;
mod tree;

#[cfg(test)]
mod tests;
