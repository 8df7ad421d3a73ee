//! What a caller holds inside one read or one write.

use crate::{Change, Deed, Noun, StoreError};
use rusqlite::{CachedStatement, Connection, Params, Row};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;

/// So many of a noun are told one by one; whoever shows them reads a larger number anew in one go.
const NAMED: usize = 8;

/// One consistent view of the database; it sees nothing that is committed after it began.
pub struct ReadHandle<'a> {
    connection: &'a Connection,
}

impl<'a> ReadHandle<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// A statement that is prepared once for each connection.
    pub(crate) fn statement(&self, sql: &str) -> Result<CachedStatement<'a>, StoreError> {
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// The first row, if there is one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(map).transpose()
    }

    /// The first rows in order that `map` takes, at most so many; no further row is read.
    pub(crate) fn some<T>(
        &self,
        sql: &str,
        params: impl Params,
        most: usize,
        mut map: impl FnMut(&Row<'_>) -> Result<Option<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while found.len() < most {
            let Some(row) = rows.next()? else { break };
            found.extend(map(row)?);
        }
        Ok(found)
    }

    /// All rows, in order.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut map: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(map(row)?);
        }
        Ok(found)
    }

    /// Gives each row, in order; none but the present one is in memory.
    pub(crate) fn each<E: From<StoreError>>(
        &self,
        sql: &str,
        params: impl Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            visit(row)?;
        }
        Ok(())
    }

    /// One number, such as a count.
    pub(crate) fn number(&self, sql: &str, params: impl Params) -> Result<u64, StoreError> {
        let number = self.one(sql, params, |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0);
        Ok(u64::try_from(number).unwrap_or(0))
    }
}

/// One transaction: either everything in it is on disk when the call returns, or nothing.
/// It reads what it wrote.
pub struct WriteHandle<'a> {
    read: ReadHandle<'a>,
    changes: Vec<Change>,
    noted: HashSet<(Noun, String)>,
}

impl<'a> WriteHandle<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { read: ReadHandle::new(connection), changes: Vec::new(), noted: HashSet::new() }
    }

    /// Runs one statement and returns the number of rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        Ok(self.try_execute(sql, params)?)
    }

    /// Like `execute`, but leaves the error as it came, for a caller that explains constraints.
    pub(crate) fn try_execute(&mut self, sql: &str, params: impl Params) -> Result<usize, rusqlite::Error> {
        self.read.connection.prepare_cached(sql)?.execute(params)
    }

    /// Runs a statement that has to change one row, or says that there is none.
    pub(crate) fn execute_on(&mut self, noun: Noun, id: &dyn ToString, sql: &str, params: impl Params) -> Result<(), StoreError> {
        if self.execute(sql, params)? == 0 {
            return Err(StoreError::not_found(noun, id.to_string()));
        }
        self.changed(noun, id.to_string());
        Ok(())
    }

    /// Notes a change, to be told after COMMIT; each is told once.
    pub(crate) fn changed(&mut self, noun: Noun, id: impl ToString) {
        self.became(noun, id, Deed::Changed);
    }

    /// Notes what became of a thing; what was noted of it first is told.
    pub(crate) fn became(&mut self, noun: Noun, id: impl ToString, deed: Deed) {
        let change = Change { deed, ..Change::of(noun, id) };
        if self.noted.insert((noun, change.id.clone())) {
            self.changes.push(change);
        }
    }

    /// What to tell after COMMIT: each thing that changed or, where more than a few of a noun did,
    /// that any of them may have.
    pub(crate) fn into_changes(self) -> Vec<Change> {
        let mut counts: HashMap<Noun, usize> = HashMap::new();
        for change in &self.changes {
            *counts.entry(change.noun).or_default() += 1;
        }
        let mut told = HashSet::new();
        let changes = self.changes.into_iter().filter_map(|change| {
            if counts[&change.noun] <= NAMED {
                return Some(change);
            }
            told.insert(change.noun).then(|| Change::of(change.noun, ""))
        });
        changes.collect()
    }
}

impl<'a> Deref for WriteHandle<'a> {
    type Target = ReadHandle<'a>;
    fn deref(&self) -> &ReadHandle<'a> {
        &self.read
    }
}
