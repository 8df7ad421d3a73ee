//! Other programs that use the companions: what each may do, and what it did.

use crate::column::{bytes, id, maybe_id, time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{Access, AccessKind, Connection, ConnectionGrant, ContextId};
use rusqlite::{Row, params};

/// Programs that are remembered; of those beyond, the ones that nothing was decided about go.
const CLIENTS: u32 = 200;
/// Entries of the log that are kept.
const LOG: u32 = 10_000;

const SELECT: &str = "SELECT name, version, is_blocked, may_change, may_chat, is_limited, first_seen_at, last_seen_at, \
     uses_sampling FROM mcp_clients";

/// A row, and whether only named contexts are meant.
fn connection(row: &Row<'_>) -> Result<(Connection, bool), StoreError> {
    let grant = ConnectionGrant {
        is_blocked: row.get(2)?,
        may_change: row.get(3)?,
        may_chat: row.get(4)?,
        uses_sampling: row.get(8)?,
        contexts: None,
    };
    let connection =
        Connection { name: row.get(0)?, version: row.get(1)?, grant, first_seen_at: time(row, 6)?, last_seen_at: time(row, 7)? };
    Ok((connection, row.get(5)?))
}

fn access(row: &Row<'_>) -> Result<Access, StoreError> {
    Ok(Access {
        client: row.get(0)?,
        kind: variant(row, 1, &AccessKind::ALL, AccessKind::as_str)?,
        context_id: maybe_id(row, 2)?,
        context_name: row.get(3)?,
        count: row.get(4)?,
        is_refused: row.get(5)?,
        at: time(row, 6)?,
    })
}

impl ReadHandle<'_> {
    /// Every program that is remembered, the one that was there last first.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn connections(&self) -> Result<Vec<Connection>, StoreError> {
        let rows = self.all(&format!("{SELECT} ORDER BY last_seen_at DESC, name"), [], connection)?;
        rows.into_iter().map(|row| self.with_contexts(row)).collect()
    }

    /// One program.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn connection(&self, name: &str) -> Result<Option<Connection>, StoreError> {
        let row = self.one(&format!("{SELECT} WHERE name = ?1"), [name], connection)?;
        row.map(|row| self.with_contexts(row)).transpose()
    }

    fn with_contexts(&self, (mut connection, is_limited): (Connection, bool)) -> Result<Connection, StoreError> {
        if is_limited {
            let sql = "SELECT context_id FROM mcp_client_contexts WHERE client = ?1 ORDER BY context_id";
            connection.grant.contexts = Some(self.all(sql, [&connection.name], |row| id::<ContextId>(row, 0))?);
        }
        Ok(connection)
    }

    /// What was done, the newest first, of one program or of all.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn accesses(&self, client: Option<&str>, limit: u32) -> Result<Vec<Access>, StoreError> {
        self.all(
            "SELECT a.client, a.kind, a.context_id, r.name, a.count, a.is_refused, a.at
             FROM mcp_access a
             LEFT JOIN contexts c ON c.id = a.context_id AND c.purged_at IS NULL
             LEFT JOIN revisions r ON r.id = c.revision_id
             WHERE ?1 IS NULL OR a.client = ?1 ORDER BY a.key DESC LIMIT ?2",
            (client, limit),
            access,
        )
    }
}

impl WriteHandle<'_> {
    /// Notes that a program is there. One that is new may read, and nothing else.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn see_connection(&mut self, name: &str, version: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO mcp_clients (name, version, is_blocked, may_change, may_chat, is_limited, first_seen_at, last_seen_at)
             VALUES (?1, ?2, 0, 0, 0, 0, ?3, ?3)
             ON CONFLICT (name) DO UPDATE SET version = excluded.version, last_seen_at = excluded.last_seen_at",
            (name, version, now.timestamp_millis()),
        )?;
        self.execute(
            "DELETE FROM mcp_clients WHERE is_blocked = 0 AND may_change = 0 AND may_chat = 0 AND is_limited = 0 AND uses_sampling = 0
             AND name IN (
                 SELECT name FROM mcp_clients ORDER BY last_seen_at DESC, name LIMIT -1 OFFSET ?1)",
            [CLIENTS],
        )?;
        self.changed(Noun::Connection, name);
        Ok(())
    }

    /// Decides what a program may do.
    ///
    /// # Errors
    /// `NotFound` if the program or a context that is named does not exist; `Storage`, `DiskFull`.
    pub fn set_connection_grant(&mut self, name: &str, grant: &ConnectionGrant) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Connection,
            &name,
            "UPDATE mcp_clients SET is_blocked = ?2, may_change = ?3, may_chat = ?4, is_limited = ?5, uses_sampling = ?6
             WHERE name = ?1",
            (name, grant.is_blocked, grant.may_change, grant.may_chat, grant.contexts.is_some(), grant.uses_sampling),
        )?;
        self.execute("DELETE FROM mcp_client_contexts WHERE client = ?1", [name])?;
        for context in grant.contexts.iter().flatten() {
            if self.context(*context)?.is_none() {
                return Err(StoreError::not_found(Noun::Context, context.to_string()));
            }
            let sql = "INSERT OR IGNORE INTO mcp_client_contexts (client, context_id) VALUES (?1, ?2)";
            self.execute(sql, (name, bytes(context.uuid())))?;
        }
        Ok(())
    }

    /// Forgets a program and what was decided about it; what it did stays in the log.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn forget_connection(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute_on(Noun::Connection, &name, "DELETE FROM mcp_clients WHERE name = ?1", [name])
    }

    /// Writes into the log what a program did; the oldest entries beyond 10,000 go.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn note_access(&mut self, access: &Access) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO mcp_access (client, kind, context_id, count, is_refused, at)
             VALUES (?1, ?2, (SELECT id FROM contexts WHERE id = ?3), ?4, ?5, ?6)",
            params![
                access.client,
                access.kind.as_str(),
                access.context_id.map(|context| bytes(context.uuid())),
                access.count,
                access.is_refused,
                access.at.timestamp_millis(),
            ],
        )?;
        self.execute("DELETE FROM mcp_access WHERE key <= (SELECT max (key) FROM mcp_access) - ?1", [LOG])?;
        self.changed(Noun::Connection, &access.client);
        Ok(())
    }

    /// Empties the log.
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn clear_accesses(&mut self) -> Result<(), StoreError> {
        self.execute("DELETE FROM mcp_access", [])?;
        self.changed(Noun::Connection, "");
        Ok(())
    }
}
