//! Bringing a database to the schema of this build: one SQL file each, in one transaction, with the
//! checksum of each recorded in the vault.

use crate::StoreError;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// One step of the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// All steps; number n is at place n − 1. A released one is never edited, only followed.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_first", sql: include_str!("../migrations/0001_first.sql") },
    Migration { name: "0002_life", sql: include_str!("../migrations/0002_life.sql") },
    Migration { name: "0003_counts", sql: include_str!("../migrations/0003_counts.sql") },
    Migration { name: "0004_message_counts", sql: include_str!("../migrations/0004_message_counts.sql") },
    Migration { name: "0005_strategies", sql: include_str!("../migrations/0005_strategies.sql") },
    Migration { name: "0006_receipts", sql: include_str!("../migrations/0006_receipts.sql") },
    Migration { name: "0007_memory", sql: include_str!("../migrations/0007_memory.sql") },
    Migration { name: "0008_recall", sql: include_str!("../migrations/0008_recall.sql") },
    Migration { name: "0009_strategy_states", sql: include_str!("../migrations/0009_strategy_states.sql") },
    Migration { name: "0010_forgetting", sql: include_str!("../migrations/0010_forgetting.sql") },
    Migration { name: "0011_connections", sql: include_str!("../migrations/0011_connections.sql") },
    Migration { name: "0012_operations", sql: include_str!("../migrations/0012_operations.sql") },
    Migration { name: "0013_tools", sql: include_str!("../migrations/0013_tools.sql") },
    Migration { name: "0014_sampling", sql: include_str!("../migrations/0014_sampling.sql") },
];

/// The schema this build reads and writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Kept apart from the migrations, since they are recorded in it.
const RECORD: &str = "CREATE TABLE IF NOT EXISTS migrations (
    version    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT";

/// Refuses a newer or edited schema without writing, then applies what is missing.
pub(crate) fn migrate(connection: &mut Connection, steps: &[Migration], now: DateTime<Utc>) -> Result<(), StoreError> {
    if verify(connection, steps)? == steps.len() {
        return Ok(());
    }
    // A table can only be rebuilt while foreign keys are off; they are checked before COMMIT.
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited.
    let done = verify(&transaction, steps)?;
    transaction.execute_batch(RECORD)?;
    for (version, step) in (1_i64..).zip(steps).skip(done) {
        transaction.execute_batch(step.sql)?;
        transaction.execute(
            "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
            (version, step.name, checksum(step.sql), now.timestamp_millis()),
        )?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    let orphan: Option<String> = transaction.query_row("PRAGMA foreign_key_check", [], |row| row.get(0)).optional()?;
    if let Some(table) = orphan {
        return Err(StoreError::defect(format!("a migration would leave rows of table {table} without their parents")));
    }
    transaction.commit()?;
    Ok(())
}

/// The number of steps that the database has, each compared with this build's.
fn verify(connection: &Connection, steps: &[Migration]) -> Result<usize, StoreError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > known {
        return Err(StoreError::TooNew { found, known });
    }
    if found == 0 {
        return Ok(0);
    }
    let mut statement = connection.prepare("SELECT version, checksum FROM migrations ORDER BY version")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let recorded = rows.collect::<Result<Vec<_>, _>>()?;
    for ((version, step), row) in (1..=found).zip(steps).zip(recorded.iter().map(Some).chain(std::iter::repeat(None))) {
        if row != Some(&(version, checksum(step.sql))) {
            return Err(StoreError::MigrationEdited { version });
        }
    }
    Ok(usize::try_from(found).unwrap_or(0))
}

/// SHA-256 of the SQL in hex; line ends do not count, since a checkout may change them.
fn checksum(sql: &str) -> String {
    Sha256::digest(sql.replace("\r\n", "\n")).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "migration/tests.rs"]
mod tests;
