-- The first schema. Never edited once released: its checksum is recorded in every vault.
--
-- Ids are 16-byte UUIDs unless noted, times are UTC in integer milliseconds since 1970,
-- lists and maps are JSON text.

-- One immutable wording of a persona; the id is the hex SHA-256 of its content.
CREATE TABLE revisions (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL,
    system_prompt TEXT    NOT NULL,
    personality   TEXT    NOT NULL,
    anchor        TEXT,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TRIGGER revisions_are_never_changed BEFORE UPDATE ON revisions
BEGIN
    SELECT RAISE (ABORT, 'a persona revision is immutable');
END;

CREATE TRIGGER revisions_are_never_deleted BEFORE DELETE ON revisions
BEGIN
    SELECT RAISE (ABORT, 'a persona revision is immutable');
END;

-- INSERT OR REPLACE fires no delete trigger, so it is caught on the way in.
CREATE TRIGGER revisions_are_never_replaced BEFORE INSERT ON revisions
WHEN EXISTS (
    SELECT 1 FROM revisions r
    WHERE r.id = NEW.id
      AND (r.name, r.system_prompt, r.personality, r.anchor)
          IS NOT (NEW.name, NEW.system_prompt, NEW.personality, NEW.anchor)
)
BEGIN
    SELECT RAISE (ABORT, 'a persona revision is immutable');
END;

-- Name, system prompt and personality of a context are those of its revision.
CREATE TABLE contexts (
    id                   BLOB    NOT NULL PRIMARY KEY CHECK (length (id) = 16),
    revision_id          TEXT    NOT NULL REFERENCES revisions (id),
    temperature          REAL    NOT NULL,
    max_tokens           INTEGER NOT NULL,
    max_history_tokens   INTEGER NOT NULL,
    expiry_days          INTEGER,
    provider_id          BLOB    CHECK (length (provider_id) = 16),
    model                TEXT,
    local_only           INTEGER NOT NULL CHECK (local_only IN (0, 1)),
    maintain_personality INTEGER NOT NULL CHECK (maintain_personality IN (0, 1)),
    preset_id            TEXT,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    last_interaction_at  INTEGER NOT NULL,
    expires_at           INTEGER,
    is_active            INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    CHECK ((provider_id IS NULL) = (model IS NULL))
) STRICT;

CREATE INDEX contexts_by_interaction ON contexts (last_interaction_at, id);

-- Which revisions a context has had, in the order of their first use.
CREATE TABLE context_revisions (
    key         INTEGER NOT NULL PRIMARY KEY,
    context_id  BLOB    NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    revision_id TEXT    NOT NULL REFERENCES revisions (id),
    used_at     INTEGER NOT NULL,
    UNIQUE (context_id, revision_id)
) STRICT;

CREATE TABLE presets (
    id                  TEXT    NOT NULL PRIMARY KEY,
    name                TEXT    NOT NULL,
    description         TEXT    NOT NULL,
    system_prompt       TEXT    NOT NULL,
    default_personality TEXT    NOT NULL,
    temperature         REAL    NOT NULL,
    max_tokens          INTEGER NOT NULL,
    max_history_tokens  INTEGER NOT NULL,
    expiry_days         INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    is_active           INTEGER NOT NULL CHECK (is_active IN (0, 1)),
    metadata            TEXT    NOT NULL CHECK (json_valid (metadata)),
    -- 0 only while the row is exactly as the app seeded it.
    is_edited           INTEGER NOT NULL CHECK (is_edited IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
    id               BLOB    NOT NULL PRIMARY KEY CHECK (length (id) = 16),
    context_id       BLOB    NOT NULL REFERENCES contexts (id),
    title            TEXT    NOT NULL,
    active_leaf_id   BLOB,
    message_count    INTEGER NOT NULL CHECK (message_count >= 0),
    created_at       INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    FOREIGN KEY (id, active_leaf_id) REFERENCES messages (conversation_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_context ON conversations (context_id, last_activity_at, id);
CREATE INDEX conversations_by_activity ON conversations (last_activity_at, id);

-- The nodes of each conversation's tree. `key` grows with each insertion, so a parent's key is
-- always smaller than its child's; walks rely on it to be safe from cycles.
CREATE TABLE messages (
    key               INTEGER NOT NULL PRIMARY KEY,
    id                BLOB    NOT NULL UNIQUE CHECK (length (id) = 16),
    conversation_id   BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    context_id        BLOB    NOT NULL REFERENCES contexts (id),
    parent_id         BLOB,
    -- Number of messages before it on its branch.
    depth             INTEGER NOT NULL CHECK (depth >= 0),
    role              TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    content           TEXT    NOT NULL,
    reasoning         TEXT,
    status            TEXT    NOT NULL CHECK (status IN ('complete', 'stopped', 'interrupted', 'truncated')),
    tokens            INTEGER,
    tokenizer         TEXT,
    revision_id       TEXT    REFERENCES revisions (id),
    provider_id       BLOB    CHECK (length (provider_id) = 16),
    model             TEXT,
    prompt_tokens     INTEGER,
    completion_tokens INTEGER,
    cached_tokens     INTEGER,
    created_at        INTEGER NOT NULL,
    metadata          TEXT    CHECK (json_valid (metadata)),
    UNIQUE (conversation_id, id),
    FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id),
    CHECK ((tokens IS NULL) = (tokenizer IS NULL)),
    CHECK ((provider_id IS NULL) = (model IS NULL)),
    CHECK ((prompt_tokens IS NULL) = (completion_tokens IS NULL))
) STRICT;

CREATE INDEX messages_by_parent ON messages (conversation_id, parent_id);

-- Replies that are being written, so that what had arrived survives the end of the process.
CREATE TABLE reply_drafts (
    reply_id        BLOB    NOT NULL PRIMARY KEY CHECK (length (reply_id) = 16),
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent_id       BLOB,
    context_id      BLOB    NOT NULL REFERENCES contexts (id),
    revision_id     TEXT    REFERENCES revisions (id),
    provider_id     BLOB    CHECK (length (provider_id) = 16),
    model           TEXT,
    content         TEXT    NOT NULL,
    reasoning       TEXT,
    owner_pid       INTEGER NOT NULL,
    owner_token     TEXT    NOT NULL,
    updated_at      INTEGER NOT NULL,
    FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id),
    CHECK ((provider_id IS NULL) = (model IS NULL))
) STRICT;

CREATE INDEX reply_drafts_by_parent ON reply_drafts (conversation_id, parent_id);

-- One row: all settings as one JSON object.
CREATE TABLE settings (
    key   INTEGER NOT NULL PRIMARY KEY CHECK (key = 1),
    value TEXT    NOT NULL CHECK (json_valid (value))
) STRICT;

CREATE TABLE providers (
    id              BLOB    NOT NULL PRIMARY KEY CHECK (length (id) = 16),
    kind            TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    base_url        TEXT    NOT NULL,
    locality        TEXT    NOT NULL CHECK (locality IN ('local', 'remote')),
    -- The key, sealed with a subkey of its own before it comes here.
    sealed_key      BLOB,
    key_hint        TEXT,
    extra_headers   TEXT    NOT NULL CHECK (json_type (extra_headers) = 'object'),
    manual_models   TEXT    NOT NULL CHECK (json_type (manual_models) = 'array'),
    window_override INTEGER,
    timeout_seconds INTEGER NOT NULL,
    CHECK ((sealed_key IS NULL) = (key_hint IS NULL))
) STRICT;

-- GGUF files of the engine; the id is the hex SHA-256 of the canonical path.
CREATE TABLE model_files (
    id         TEXT    NOT NULL PRIMARY KEY,
    path       TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    window     INTEGER,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    added_at   INTEGER NOT NULL
) STRICT;
