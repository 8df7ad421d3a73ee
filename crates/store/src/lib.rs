//! The encrypted database: connection settings, migrations, one writer, a few readers, and one
//! file for each table's noun.
//!
//! Everything is synchronous; an async caller uses a blocking thread. Times and ids are passed in.
//! Times are kept in whole milliseconds: what is read back is the stored time cut to that.
//!
//! ```no_run
//! # fn main() -> Result<(), evenkeel_store::StoreError> {
//! use evenkeel_store::Store;
//! let store = Store::open("vault.db".as_ref(), &[7; 32], chrono::Utc::now())?;
//! let _subscription = store.subscribe(|change| println!("{:?} {}", change.noun, change.id));
//! let (contexts, count) = store.read(|read| Ok((read.contexts(true, 50, 0)?, read.context_count(true)?)))?;
//! # let _ = (contexts, count);
//! # Ok(())
//! # }
//! ```

pub mod archive;
pub mod backup;
mod change;
mod column;
mod connection;
mod error;
mod file;
mod handle;
mod mark;
mod migration;
mod pool;
mod store;
mod table;

pub use change::{Change, Deed, Noun, Subscription};
pub use error::StoreError;
pub use handle::{ReadHandle, WriteHandle};
pub use migration::SCHEMA_VERSION;
pub use store::Store;
pub use table::app_state::state_key;
pub use table::draft::{DraftOwner, ReplyDraft};
pub use table::lifetime::Lifetime;
pub use table::message_page::SelectedMessage;
pub use table::model_file::ModelFile;
pub use table::portion::Purge;
pub use table::state::{StatePlace, ToldValue};
pub use table::summary::{NewSummary, SummarySource};
pub use table::tree::BranchText;
