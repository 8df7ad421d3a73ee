//! One file for each noun: its columns, what reads it and what writes it.

pub(crate) mod app_state;
mod climb;
mod clock;
mod composer;
mod connection;
mod context;
mod context_list;
mod conversation;
mod conversation_batch;
mod conversation_list;
mod deleted_message;
pub(crate) mod draft;
mod feedback;
mod filter;
mod job;
pub(crate) mod lifetime;
mod message;
pub(crate) mod message_page;
pub(crate) mod model_file;
mod operation;
pub(crate) mod portion;
mod preset;
mod provider;
mod purge;
mod recall;
mod receipt;
mod search;
mod session;
mod settings;
pub(crate) mod state;
mod statistics;
mod strategy_state;
pub(crate) mod summary;
mod tag;
mod tool;
mod trash;
pub(crate) mod tree;
mod vector;
mod walk;

#[cfg(test)]
mod tests;
