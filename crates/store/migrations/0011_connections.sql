-- Other programs that use the companions: what each may do, and what it did.

CREATE TABLE mcp_clients (
    -- The name that it gives itself.
    name          TEXT    NOT NULL PRIMARY KEY CHECK (length (name) BETWEEN 1 AND 120),
    version       TEXT    NOT NULL,
    is_blocked    INTEGER NOT NULL CHECK (is_blocked IN (0, 1)),
    may_change    INTEGER NOT NULL CHECK (may_change IN (0, 1)),
    may_chat      INTEGER NOT NULL CHECK (may_chat IN (0, 1)),
    -- 1 = only the contexts of mcp_client_contexts, also where none of them is left.
    is_limited    INTEGER NOT NULL CHECK (is_limited IN (0, 1)),
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE mcp_client_contexts (
    client     TEXT NOT NULL REFERENCES mcp_clients (name) ON DELETE CASCADE,
    context_id BLOB NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    PRIMARY KEY (client, context_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX mcp_client_contexts_by_context ON mcp_client_contexts (context_id);

-- Outlives the client's row: what was done stays known. No name of a context is kept here, so that none
-- is left when a context is purged.
CREATE TABLE mcp_access (
    -- Newer entries have higher keys.
    key        INTEGER NOT NULL PRIMARY KEY,
    client     TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    context_id BLOB    REFERENCES contexts (id) ON DELETE SET NULL,
    count      INTEGER NOT NULL CHECK (count >= 0),
    is_refused INTEGER NOT NULL CHECK (is_refused IN (0, 1)),
    at         INTEGER NOT NULL
) STRICT;

CREATE INDEX mcp_access_by_context ON mcp_access (context_id) WHERE context_id IS NOT NULL;
