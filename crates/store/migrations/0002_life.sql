-- The life of contexts and conversations: trash, tags, undo, jobs, votes, and the search index.
--
-- A column is added where the rule fits one; a table is never rebuilt, so that a large vault
-- migrates in the time it takes to index its messages.

-- ── Contexts ────────────────────────────────────────────────────────────────────────────────

ALTER TABLE contexts ADD COLUMN deleted_at INTEGER CHECK (deleted_at IS NULL OR is_active = 0);
-- The first start that showed it in the trash.
ALTER TABLE contexts ADD COLUMN trash_shown_at INTEGER;
-- The app's running time when a run of the scheduler first found it due.
ALTER TABLE contexts ADD COLUMN purge_due_running_ms INTEGER;
-- Set on a tombstone: the nameless row of a context that was purged while messages of it stand in
-- the conversations of others. It keeps their agent apart from every other; nothing lists it.
ALTER TABLE contexts ADD COLUMN purged_at INTEGER CHECK (purged_at IS NULL OR is_active = 0);

-- Until now "inactive" came from the user's delete alone.
UPDATE contexts SET deleted_at = updated_at WHERE is_active = 0;

CREATE TABLE context_tags (
    context_id BLOB    NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    -- The tag in lower case, by which two are the same.
    folded     TEXT    NOT NULL,
    tag        TEXT    NOT NULL,
    place      INTEGER NOT NULL,
    PRIMARY KEY (context_id, folded)
) STRICT, WITHOUT ROWID;

CREATE INDEX context_tags_by_tag ON context_tags (folded, context_id);

-- ── Revisions: immutable as before, but one that nothing refers to any more can be forgotten ──

CREATE INDEX messages_by_context ON messages (context_id);
CREATE INDEX messages_by_revision ON messages (revision_id, context_id) WHERE revision_id IS NOT NULL;

-- ── Deleted messages: whole, so that a deletion can be undone ───────────────────────────────

-- The parent a message was born under, once a deletion moved it to another; NULL as long as that
-- is its `parent_id`. The tree that is shown is always the tree of birth without what is deleted.
ALTER TABLE messages ADD COLUMN first_parent_id BLOB;

CREATE INDEX messages_by_first_parent ON messages (first_parent_id) WHERE first_parent_id IS NOT NULL;

CREATE TABLE deleted_messages (
    -- Kept, and not given to another message meanwhile: order of birth is order of keys.
    key               INTEGER NOT NULL PRIMARY KEY,
    id                BLOB    NOT NULL UNIQUE CHECK (length (id) = 16),
    conversation_id   BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    context_id        BLOB    NOT NULL REFERENCES contexts (id),
    -- The parent it was born under, which may be deleted too.
    parent_id         BLOB,
    role              TEXT    NOT NULL,
    content           TEXT    NOT NULL,
    reasoning         TEXT,
    status            TEXT    NOT NULL,
    tokens            INTEGER,
    tokenizer         TEXT,
    revision_id       TEXT    REFERENCES revisions (id),
    provider_id       BLOB,
    model             TEXT,
    prompt_tokens     INTEGER,
    completion_tokens INTEGER,
    cached_tokens     INTEGER,
    created_at        INTEGER NOT NULL,
    metadata          TEXT,
    deleted_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX deleted_messages_by_conversation ON deleted_messages (conversation_id);
CREATE INDEX deleted_messages_by_time ON deleted_messages (deleted_at);
CREATE INDEX deleted_messages_by_context ON deleted_messages (context_id);

DROP TRIGGER revisions_are_never_deleted;

CREATE TRIGGER revisions_in_use_are_never_deleted BEFORE DELETE ON revisions
WHEN EXISTS (SELECT 1 FROM contexts WHERE revision_id = OLD.id)
  OR EXISTS (SELECT 1 FROM context_revisions WHERE revision_id = OLD.id)
  OR EXISTS (SELECT 1 FROM messages WHERE revision_id = OLD.id)
  OR EXISTS (SELECT 1 FROM deleted_messages WHERE revision_id = OLD.id)
  OR EXISTS (SELECT 1 FROM reply_drafts WHERE revision_id = OLD.id)
BEGIN
    SELECT RAISE (ABORT, 'a persona revision in use is immutable');
END;

-- ── Presets: how often each was used, and how its contexts' replies were judged ─────────────

CREATE TABLE preset_use (
    preset_id     TEXT    NOT NULL PRIMARY KEY REFERENCES presets (id) ON DELETE CASCADE,
    contexts_made INTEGER NOT NULL DEFAULT 0 CHECK (contexts_made >= 0),
    thumbs_up     INTEGER NOT NULL DEFAULT 0 CHECK (thumbs_up >= 0),
    thumbs_down   INTEGER NOT NULL DEFAULT 0 CHECK (thumbs_down >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO preset_use (preset_id, contexts_made)
SELECT c.preset_id, count(*) FROM contexts c JOIN presets p ON p.id = c.preset_id GROUP BY c.preset_id;

-- One vote a message. It outlives the deletion of its message for as long as that can be undone.
CREATE TABLE feedback (
    message_id BLOB    NOT NULL PRIMARY KEY CHECK (length (message_id) = 16),
    vote       INTEGER NOT NULL CHECK (vote IN (-1, 1)),
    -- The preset whose counters hold the vote, so that taking it back takes it from there.
    preset_id  TEXT
) STRICT, WITHOUT ROWID;

CREATE TRIGGER feedback_goes_with_its_message AFTER DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    DELETE FROM feedback WHERE message_id = OLD.id;
END;

CREATE TRIGGER feedback_goes_with_its_deleted_message AFTER DELETE ON deleted_messages
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    DELETE FROM feedback WHERE message_id = OLD.id;
END;

-- ── Conversations ───────────────────────────────────────────────────────────────────────────

ALTER TABLE conversations ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0 CHECK (is_pinned IN (0, 1));
ALTER TABLE conversations ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0 CHECK (is_archived IN (0, 1));
ALTER TABLE conversations ADD COLUMN title_source TEXT NOT NULL DEFAULT 'beginning'
    CHECK (title_source IN ('beginning', 'model', 'user'));
ALTER TABLE conversations ADD COLUMN deleted_at INTEGER;
ALTER TABLE conversations ADD COLUMN trash_shown_at INTEGER;
ALTER TABLE conversations ADD COLUMN purge_due_running_ms INTEGER;

-- A title that is not how some first message begins was given by the user and stays theirs.
UPDATE conversations SET title_source = 'user'
WHERE NOT EXISTS (
    SELECT 1 FROM messages m
    WHERE m.conversation_id = conversations.id AND m.parent_id IS NULL
      AND instr (ltrim (m.content, char (9, 10, 11, 12, 13, 32)), conversations.title) = 1
);

DROP INDEX conversations_by_context;
DROP INDEX conversations_by_activity;
CREATE INDEX conversations_by_context ON conversations (context_id, is_pinned, last_activity_at, id);
CREATE INDEX conversations_by_activity ON conversations (is_pinned, last_activity_at, id);
CREATE INDEX conversations_in_trash ON conversations (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE conversation_tags (
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    folded          TEXT    NOT NULL,
    tag             TEXT    NOT NULL,
    place           INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, folded)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversation_tags_by_tag ON conversation_tags (folded, conversation_id);

-- What is typed and not sent, for a conversation or for the one that is yet to be begun.
CREATE TABLE composer_drafts (
    key             INTEGER NOT NULL PRIMARY KEY,
    conversation_id BLOB    UNIQUE REFERENCES conversations (id) ON DELETE CASCADE,
    context_id      BLOB    UNIQUE REFERENCES contexts (id) ON DELETE CASCADE,
    text            TEXT    NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK ((conversation_id IS NULL) <> (context_id IS NULL))
) STRICT;

-- ── Full-text index ─────────────────────────────────────────────────────────────────────────
-- It holds no second copy of the texts, only words and places; the view tells them by role.
-- No stemming: it knows English alone, and a half-typed word would no longer find the whole one.
-- Text without spaces between words (Chinese, Japanese, Thai) is one word to this tokenizer; the
-- store scans for it instead, since a second index of all three-letter runs would cost three times
-- this one and still not find the two-letter words that are most common there.

CREATE VIEW message_text (key, user_text, assistant_text) AS
SELECT key, CASE role WHEN 'user' THEN content END, CASE role WHEN 'assistant' THEN content END
FROM messages WHERE role <> 'system';

CREATE VIRTUAL TABLE message_index USING fts5 (
    user_text,
    assistant_text,
    content = 'message_text',
    content_rowid = 'key',
    tokenize = 'unicode61 remove_diacritics 2',
    columnsize = 0
);

-- Without it a deleted word stays in its segment until that happens to be merged.
INSERT INTO message_index (message_index, rank) VALUES ('secure-delete', 1);
INSERT INTO message_index (message_index) VALUES ('rebuild');

CREATE TRIGGER messages_enter_the_index AFTER INSERT ON messages WHEN NEW.role <> 'system'
BEGIN
    INSERT INTO message_index (rowid, user_text, assistant_text)
    VALUES (NEW.key, CASE NEW.role WHEN 'user' THEN NEW.content END, CASE NEW.role WHEN 'assistant' THEN NEW.content END);
END;

CREATE TRIGGER messages_leave_the_index AFTER DELETE ON messages WHEN OLD.role <> 'system'
BEGIN
    INSERT INTO message_index (message_index, rowid, user_text, assistant_text)
    VALUES ('delete', OLD.key, CASE OLD.role WHEN 'user' THEN OLD.content END,
            CASE OLD.role WHEN 'assistant' THEN OLD.content END);
END;

-- What a message says never changes, and so neither does what the index holds of it.
CREATE TRIGGER messages_are_never_reworded BEFORE UPDATE OF key, id, conversation_id, role, content ON messages
BEGIN
    SELECT RAISE (ABORT, 'a message is immutable');
END;

-- ── Jobs and the state of the app ───────────────────────────────────────────────────────────

CREATE TABLE jobs (
    name            TEXT    NOT NULL PRIMARY KEY,
    last_started_at INTEGER,
    last_ended_at   INTEGER,
    next_run_at     INTEGER,
    -- NULL before the first run and during each.
    result          TEXT    CHECK (result IN ('ok', 'failed', 'interrupted')),
    message         TEXT,
    duration_ms     INTEGER CHECK (duration_ms >= 0),
    runs            INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE app_state (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
