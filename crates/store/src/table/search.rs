//! Searching what was said: by the index where words stand apart, by looking at each text where
//! they do not. Both walk from the newest message down and stop at the limit.

mod words;

use super::message::ROLES;
use crate::column::{bytes, id, of_json, of_time, time, variant};
use crate::{ReadHandle, StoreError};
use evenkeel_domain::{Role, SearchHit, SearchQuery, SnippetPart};
use rusqlite::{Row, named_params};
use words::{CLOSE, OPEN, Words};

/// Where hits may come from, and how many: nothing from the trash.
macro_rules! hits_of {
    ($text:literal, $from:literal, $walk:literal) => {
        concat!(
            "SELECT m.key, m.id, m.conversation_id, m.context_id, v.title, m.role, m.created_at, ",
            $text,
            " FROM ",
            $from,
            " CROSS JOIN conversations v ON v.id = m.conversation_id
              CROSS JOIN contexts c ON c.id = v.context_id
              WHERE v.deleted_at IS NULL AND c.deleted_at IS NULL
                AND (:context IS NULL OR v.context_id = :context)
                AND (:from IS NULL OR m.created_at >= :from)
                AND (:until IS NULL OR m.created_at < :until)
                AND ",
            $walk,
            " LIMIT :limit"
        )
    };
}

impl ReadHandle<'_> {
    /// Messages of users and contexts that have all words of a query, the newest first. No text is
    /// an error; one without anything to look for finds nothing. Words of a writing that puts no
    /// space between them are found anywhere, others at their beginning and to their end, except
    /// the last one, which may go on if it has three letters.
    ///
    /// # Errors
    /// `Defect` if `before` is no cursor of a hit; `Storage`, `Damaged` or `DamagedValue`.
    pub fn search_messages(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError> {
        let before = match query.before.as_deref() {
            Some(cursor) => cursor.parse().map_err(|_| StoreError::defect("a search goes on from what is no cursor"))?,
            None => i64::MAX,
        };
        match Words::of(&query.text) {
            Words::None => Ok(Vec::new()),
            Words::Apart(expression) => self.search_index(query, &expression, before),
            Words::Run(terms) => self.scan(query, &terms, before),
        }
    }

    fn search_index(&self, query: &SearchQuery, expression: &str, before: i64) -> Result<Vec<SearchHit>, StoreError> {
        self.all(
            hits_of!(
                "snippet (message_index, -1, :open, :close, '…', 24)",
                "message_index i CROSS JOIN messages m ON m.key = i.rowid",
                "message_index MATCH :words AND i.rowid < :before ORDER BY i.rowid DESC"
            ),
            named_params! {
                ":words": expression, ":open": OPEN.to_string(), ":close": CLOSE.to_string(), ":before": before,
                ":context": query.context_id.map(|id| bytes(id.uuid())), ":from": of_time(query.from),
                ":until": of_time(query.until), ":limit": query.limit,
            },
            |row| hit(row, words::parts(row.get_ref(7)?.as_str().unwrap_or_default())),
        )
    }

    fn scan(&self, query: &SearchQuery, terms: &[String], before: i64) -> Result<Vec<SearchHit>, StoreError> {
        // Most unspaced writings have no case, and then each text can be looked at as it is.
        let sql = if terms.iter().all(|term| words::has_no_case(term)) {
            hits_of!(
                "m.content",
                "messages m",
                "m.key < :before AND m.role <> 'system'
                 AND NOT EXISTS (SELECT 1 FROM json_each (:words) t WHERE instr (m.content, t.value) = 0) ORDER BY m.key DESC"
            )
        } else {
            hits_of!(
                "m.content",
                "messages m",
                "m.key < :before AND m.role <> 'system'
                 AND NOT EXISTS (SELECT 1 FROM json_each (:words) t WHERE instr (folded (m.content), t.value) = 0)
                 ORDER BY m.key DESC"
            )
        };
        self.all(
            sql,
            named_params! {
                ":words": of_json(&terms)?, ":before": before, ":context": query.context_id.map(|id| bytes(id.uuid())),
                ":from": of_time(query.from), ":until": of_time(query.until), ":limit": query.limit,
            },
            |row| hit(row, words::around(row.get_ref(7)?.as_str().unwrap_or_default(), terms)),
        )
    }
}

fn hit(row: &Row<'_>, snippet: Vec<SnippetPart>) -> Result<SearchHit, StoreError> {
    Ok(SearchHit {
        message_id: id(row, 1)?,
        conversation_id: id(row, 2)?,
        context_id: id(row, 3)?,
        conversation_title: row.get(4)?,
        role: variant(row, 5, &ROLES, Role::as_str)?,
        snippet,
        created_at: time(row, 6)?,
        cursor: row.get::<_, i64>(0)?.to_string(),
    })
}
