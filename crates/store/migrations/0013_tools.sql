-- Servers of tools, what was decided of their tools, and which of them a context uses.

CREATE TABLE tool_servers (
    id             BLOB    NOT NULL PRIMARY KEY CHECK (length (id) = 16),
    name           TEXT    NOT NULL CHECK (length (name) BETWEEN 1 AND 120),
    -- How it is reached, as JSON, without what is secret.
    transport      TEXT    NOT NULL,
    env_names      TEXT    NOT NULL,
    token_hint     TEXT,
    -- Token and values of the environment, sealed once more and bound to the server and its transport.
    sealed_secrets BLOB,
    locality       TEXT    NOT NULL,
    -- The tools that it listed last, as JSON.
    tools          TEXT    NOT NULL,
    listed_at      INTEGER,
    created_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What holds for good. It holds for one wording of the tool: the fingerprint names that.
CREATE TABLE tool_rules (
    server_id   BLOB    NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
    tool        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    rule        TEXT    NOT NULL,
    decided_at  INTEGER NOT NULL,
    PRIMARY KEY (server_id, tool)
) STRICT, WITHOUT ROWID;

-- What may run in a conversation. A private one has its own beside it, in memory, where there are no servers.
CREATE TABLE tool_permits (
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    fingerprint     TEXT NOT NULL,
    PRIMARY KEY (conversation_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE TABLE context_tools (
    context_id BLOB NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    server_id  BLOB NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
    tool       TEXT NOT NULL,
    PRIMARY KEY (context_id, server_id, tool)
) STRICT, WITHOUT ROWID;

CREATE INDEX context_tools_by_server ON context_tools (server_id);
