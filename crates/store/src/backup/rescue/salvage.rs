//! Reading what can be read: each table from both ends towards the damage, and then into the gap.
//!
//! SQLCipher refuses everything on a connection that has met a page which does not decrypt. So each such
//! meeting costs a new connection, and the number of them is bounded.

use crate::StoreError;
use crate::connection::{self, Key, refuse_broken};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};
use std::path::Path;

/// Times that one table is tried anew behind a page that cannot be read, at about a millisecond each. A leaf holds some
/// ten rows, so this is enough for a hundred damaged leaves; a damaged inner page stands for hundreds of leaves, which
/// are then given up.
const MOST_TRIES: usize = 2_000;
/// Rows that are read together; where one of them cannot be read, they are read again one by one.
const BATCH: usize = 32;

/// What became of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRescue {
    /// Its name.
    pub name: String,
    /// Rows that were read from the damaged vault.
    pub read: u64,
    /// Rows that the backup filled in.
    pub from_backup: u64,
    /// First and last number of each range that could not be read; empty for a table that has no numbers.
    pub unread: Vec<(i64, i64)>,
    /// Whether it was read to its end.
    complete: bool,
}

impl TableRescue {
    /// Whether all of its rows could be read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// A table of the new database, with the columns that the damaged one has too.
struct Table {
    name: String,
    columns: Vec<String>,
    /// The columns of the primary key of a table without row numbers.
    key: Vec<String>,
    /// The name of the row number, where the table has one.
    number: Option<String>,
    /// Whether the damaged database says that it has it.
    is_there: bool,
}

/// Opens the copy of the damaged database to read it. Its log stays where it is.
pub(super) fn open(path: &Path, key: &Key) -> Result<Connection, StoreError> {
    let connection = connection::open(path, key)?;
    connection.execute_batch(
        "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;",
    )?;
    Ok(connection)
}

/// Moves every table but those that are rebuilt.
pub(super) fn all(target: &Transaction<'_>, damaged: &Path, key: &Key) -> Result<Vec<TableRescue>, StoreError> {
    let mut reader = Reader { path: damaged, key, connection: None, tries: 0 };
    let mut rescued = Vec::new();
    for name in names(target)? {
        let there = reader.try_with(|source| columns(source, &name)).unwrap_or_default();
        let table = Table::of(target, name, &there)?;
        reader.tries = 0;
        rescued.push(table.rescue(target, &mut reader)?);
    }
    // Written again from the messages, by the next embedding.
    target.execute("DELETE FROM message_vectors", [])?;
    Ok(rescued)
}

/// The tables of the vault's own that hold rows: neither the search index nor what is only derived.
fn names(target: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT name FROM pragma_table_list
               WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                 AND name NOT IN ('migrations', 'message_vectors') ORDER BY name";
    let mut statement = target.prepare(sql)?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info (?1)")?;
    Ok(statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// A connection to the damaged database that is renewed after each error.
struct Reader<'a> {
    path: &'a Path,
    key: &'a Key,
    connection: Option<Connection>,
    tries: usize,
}

impl Reader<'_> {
    fn try_with<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open(self.path, self.key)?,
        };
        let result = work(&connection);
        if result.is_ok() {
            self.connection = Some(connection);
        } else {
            self.tries += 1;
        }
        result
    }

    /// All rows of a statement, or none where one of them lies on a page that does not decrypt.
    fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, StoreError> {
        self.try_with(|source| {
            let mut statement = source.prepare(sql)?;
            let width = statement.column_count();
            let read = statement.query_map([], |row| {
                (0..width).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<Value>>>()
            })?;
            let rows = read.collect::<Result<Vec<Vec<Value>>, _>>()?;
            refuse_broken(source)?;
            Ok(rows)
        })
    }

    fn is_exhausted(&self) -> bool {
        self.tries >= MOST_TRIES
    }
}

/// What one pass over a range came to.
enum Pass {
    /// Everything in it was read.
    Done,
    /// It broke off behind this row number, or before the first row.
    Broken(Option<i64>),
}

impl Table {
    fn of(target: &Connection, name: String, there: &[String]) -> Result<Self, StoreError> {
        let without_rowid: bool =
            target
                .query_row("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1", [&name], |row| row.get(0))?;
        let sql = "SELECT name FROM pragma_table_info (?1) WHERE pk > 0 ORDER BY pk";
        let mut statement = target.prepare(sql)?;
        let key: Vec<String> = statement.query_map([&name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut columns: Vec<String> = columns(target, &name)?.into_iter().filter(|column| there.contains(column)).collect();
        let alias = "SELECT count(*) FROM pragma_table_info (?1) WHERE pk = 1 AND type = 'INTEGER'";
        let has_alias = target.query_row(alias, [&name], |row| row.get::<_, i64>(0))? == 1 && key.len() == 1;
        let number = match (without_rowid, has_alias) {
            (true, _) => None,
            (false, true) => key.first().cloned(),
            (false, false) => {
                columns.push("rowid".to_owned());
                Some("rowid".to_owned())
            }
        };
        Ok(Self { name, columns, key, number, is_there: !there.is_empty() })
    }

    fn rescue(&self, target: &Transaction<'_>, reader: &mut Reader<'_>) -> Result<TableRescue, StoreError> {
        // What is read goes into a table beside it: what the backup has is dropped only where the vault is known. It lies
        // in the new database itself, since everything else that SQLite writes is not encrypted.
        let (list, name) = (self.list(), self.quoted());
        target.execute_batch(&format!("CREATE TABLE main.rescue_read AS SELECT {list} FROM {name} LIMIT 0"))?;
        let (unread, complete) = match &self.number {
            _ if !self.is_there => (vec![(1, i64::MAX)], false),
            Some(number) => self.by_number(target, reader, number)?,
            None => (Vec::new(), self.by_key(target, reader)?),
        };
        let read = count(target, "rescue_read")?;
        self.settle(target, &unread, complete)?;
        target.execute_batch("DROP TABLE main.rescue_read")?;
        let from_backup = count(target, &self.name)?.saturating_sub(read);
        Ok(TableRescue { name: self.name.clone(), read, from_backup, unread, complete })
    }

    /// Puts what was read in the place of what the backup has.
    fn settle(&self, target: &Transaction<'_>, unread: &[(i64, i64)], complete: bool) -> Result<(), StoreError> {
        let name = self.quoted();
        if complete {
            target.execute(&format!("DELETE FROM {name}"), [])?;
        } else if let Some(number) = &self.number {
            // A row that the backup has and the vault has not was deleted, unless it lies where nothing could be read.
            target.execute_batch("CREATE TABLE main.rescue_gaps (first INTEGER, last INTEGER)")?;
            for (first, last) in unread {
                target.execute("INSERT INTO main.rescue_gaps VALUES (?1, ?2)", [first, last])?;
            }
            let sql = format!(
                "DELETE FROM {name} WHERE NOT EXISTS
                   (SELECT 1 FROM main.rescue_gaps AS gaps WHERE {name}.\"{number}\" BETWEEN gaps.first AND gaps.last)"
            );
            target.execute(&sql, [])?;
            target.execute_batch("DROP TABLE main.rescue_gaps")?;
        }
        let list = self.list();
        target.execute(&format!("INSERT OR REPLACE INTO {name} ({list}) SELECT {list} FROM main.rescue_read"), [])?;
        Ok(())
    }

    /// Reads by row number: from both ends, and then between the damaged places.
    fn by_number(
        &self,
        target: &Transaction<'_>,
        reader: &mut Reader<'_>,
        number: &str,
    ) -> Result<(Vec<(i64, i64)>, bool), StoreError> {
        let whole = (1, i64::MAX);
        let Some(gap) = self.narrow(target, reader, number, whole)? else { return Ok((Vec::new(), true)) };
        // An index that can be read says which rows there are in between.
        let Some(known) = self.numbers(reader, number) else { return Ok((vec![gap], false)) };
        let (mut slices, mut unread) = (vec![within(&known, gap)], Vec::new());
        while let Some(slice) = slices.pop() {
            let (Some(first), Some(last)) = (slice.first(), slice.last()) else { continue };
            if reader.is_exhausted() {
                unread.push((*first, *last));
                continue;
            }
            let Some(gap) = self.narrow(target, reader, number, (*first, *last))? else { continue };
            let left = within(slice, gap);
            match left {
                [] => {}
                [one] => unread.push((*one, *one)),
                _ if left.len() < slice.len() => slices.push(left),
                _ => {
                    let (low, high) = left.split_at(left.len() / 2);
                    slices.extend([low, high]);
                }
            }
        }
        unread.sort_unstable();
        let is_complete = unread.is_empty();
        Ok((join(unread), is_complete))
    }

    /// Reads a range from both ends; what is left in the middle, if it was not read whole.
    fn narrow(
        &self,
        target: &Transaction<'_>,
        reader: &mut Reader<'_>,
        number: &str,
        (first, last): (i64, i64),
    ) -> Result<Option<(i64, i64)>, StoreError> {
        let Pass::Broken(up) = self.pass(target, reader, number, (first, last), "ASC")? else { return Ok(None) };
        let low = up.map_or(first, |up| up.saturating_add(1));
        if low > last {
            return Ok(None);
        }
        let Pass::Broken(down) = self.pass(target, reader, number, (low, last), "DESC")? else { return Ok(None) };
        let high = down.map_or(last, |down| down - 1);
        Ok((low <= high).then_some((low, high)))
    }

    /// The row numbers of the table, in order, by an index that can be read.
    fn numbers(&self, reader: &mut Reader<'_>, number: &str) -> Option<Vec<i64>> {
        let sql = "SELECT name FROM pragma_index_list (?1) WHERE partial = 0";
        let indexes: Vec<String> = reader
            .try_with(|source| {
                let mut statement = source.prepare(sql)?;
                Ok(statement.query_map([&self.name], |row| row.get(0))?.collect::<Result<_, _>>()?)
            })
            .ok()?;
        let mut numbers: Vec<i64> = indexes.iter().find_map(|index| {
            let sql = format!("SELECT \"{number}\" FROM {} INDEXED BY \"{index}\"", self.quoted());
            let rows = reader.rows(&sql).ok()?;
            Some(
                rows.iter()
                    .filter_map(|row| if let Some(Value::Integer(number)) = row.first() { Some(*number) } else { None })
                    .collect(),
            )
        })?;
        numbers.sort_unstable();
        Some(numbers)
    }

    /// Reads a range in one direction until it ends or breaks off.
    fn pass(
        &self,
        target: &Transaction<'_>,
        reader: &mut Reader<'_>,
        number: &str,
        (mut first, mut last): (i64, i64),
        direction: &str,
    ) -> Result<Pass, StoreError> {
        let (mut reached, mut singly) = (None, 0);
        while first <= last {
            let most = if singly > 0 { 1 } else { BATCH };
            let sql = format!(
                "SELECT {}, \"{number}\" FROM {} NOT INDEXED WHERE \"{number}\" BETWEEN {first} AND {last}
                 ORDER BY \"{number}\" {direction} LIMIT {most}",
                self.list(),
                self.quoted()
            );
            let rows = match reader.rows(&sql) {
                Ok(rows) => rows,
                // One of them cannot be read: the next ones are asked for one by one.
                Err(_) if most > 1 => {
                    singly = BATCH;
                    continue;
                }
                Err(_) => return Ok(Pass::Broken(reached)),
            };
            singly = singly.saturating_sub(1);
            self.keep(target, &rows)?;
            match rows.last().and_then(|row| row.last()) {
                Some(Value::Integer(at)) if rows.len() == most => {
                    reached = Some(*at);
                    let past = if direction == "ASC" { at.checked_add(1) } else { at.checked_sub(1) };
                    let Some(past) = past else { return Ok(Pass::Done) };
                    if direction == "ASC" { first = past } else { last = past }
                }
                _ => return Ok(Pass::Done),
            }
        }
        Ok(Pass::Done)
    }

    /// Reads by the primary key, from both ends; answers whether one of them led to the other.
    fn by_key(&self, target: &Transaction<'_>, reader: &mut Reader<'_>) -> Result<bool, StoreError> {
        for direction in ["ASC", "DESC"] {
            let order: Vec<_> = self.key.iter().map(|column| format!("\"{column}\" {direction}")).collect();
            let all = format!("SELECT {}, 0 FROM {} NOT INDEXED ORDER BY {}", self.list(), self.quoted(), order.join(", "));
            let (mut read, mut singly) = (0, 0_usize);
            loop {
                let most = if singly > 0 { 1 } else { BATCH };
                match reader.rows(&format!("{all} LIMIT {most} OFFSET {read}")) {
                    Ok(rows) => {
                        singly = singly.saturating_sub(1);
                        self.keep(target, &rows)?;
                        read += rows.len();
                        if rows.len() < most {
                            // What an earlier pass had read stands in it twice, and replaces itself.
                            return Ok(true);
                        }
                    }
                    Err(_) if most > 1 => singly = BATCH,
                    Err(_) => break,
                }
            }
        }
        Ok(false)
    }

    /// Keeps rows that were read; the last of their values is none of the table's.
    fn keep(&self, target: &Transaction<'_>, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let places = vec!["?"; self.columns.len()].join(", ");
        let mut insert = target.prepare_cached(&format!("INSERT INTO main.rescue_read VALUES ({places})"))?;
        for row in rows {
            insert.execute(params_from_iter(row.iter().take(self.columns.len())))?;
        }
        Ok(())
    }

    fn list(&self) -> String {
        self.columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
    }

    fn quoted(&self) -> String {
        format!("main.\"{}\"", self.name)
    }
}

fn count(connection: &Connection, table: &str) -> Result<u64, StoreError> {
    let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0))?;
    Ok(u64::try_from(rows).unwrap_or(0))
}

/// The part of sorted numbers that lies in a range.
fn within(numbers: &[i64], (first, last): (i64, i64)) -> &[i64] {
    let from = numbers.partition_point(|number| *number < first);
    let to = numbers.partition_point(|number| *number <= last);
    numbers.get(from..to).unwrap_or_default()
}

/// Ranges that touch become one.
fn join(sorted: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (first, last) in sorted {
        match joined.last_mut() {
            Some((_, end)) if end.saturating_add(1) >= first => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(join(vec![(1, 1), (2, 5), (7, 9), (9, 12)]), [(1, 5), (7, 12)]);
        assert_eq!(join(Vec::new()), []);
        assert_eq!(within(&[1, 4, 6, 9], (2, 6)), [4, 6]);
        assert_eq!(within(&[1, 4], (7, 3)), [0_i64; 0]);
    }
}
