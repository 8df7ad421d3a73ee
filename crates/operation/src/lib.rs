//! What matters of what tools did: results brought into one form, ids, status changes and the like taken out of
//! them, and the words that tell a model of them. No IO, no clock, no randomness; every step has a bound, since
//! results come from programs of other people.

mod countermeasure;
mod extractor;
mod file;
mod found;
mod generic;
mod key;
mod parsed;
mod project;
mod rule;
mod status;
mod survey;
mod text;
mod walk;
mod wording;

pub use extractor::{Execution, Extractor, extractors, metadata};
pub use parsed::{Parsed, bounded, parsed};
pub use rule::Rules;
pub use wording::{recent, shortened};

#[cfg(test)]
mod tests;
