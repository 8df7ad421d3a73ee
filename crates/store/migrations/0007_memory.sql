-- What is remembered of a conversation beside its messages: summaries, and values that the user told.

-- ── Summaries ───────────────────────────────────────────────────────────────────────────────
-- A row is never reworded: an edit is another one for the same last message. A summary applies to the
-- branches that its last message is on; the newest that is valid counts.

CREATE TABLE summaries (
    key             INTEGER NOT NULL PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE CHECK (length (id) = 16),
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The last message that it covers. Its key stays its own while it is deleted.
    up_to_id        BLOB    NOT NULL CHECK (length (up_to_id) = 16),
    up_to_key       INTEGER NOT NULL,
    text            TEXT    NOT NULL,
    -- Lines that have to stand in every later one.
    pinned          TEXT    NOT NULL CHECK (json_type (pinned) = 'array'),
    tokens          INTEGER NOT NULL,
    tokenizer       TEXT    NOT NULL,
    provider_id     BLOB    CHECK (length (provider_id) = 16),
    model           TEXT,
    round           INTEGER NOT NULL CHECK (round >= 1),
    is_edited       INTEGER NOT NULL CHECK (is_edited IN (0, 1)),
    -- stale: a message that it rests on was deleted. replaced: the user wrote another in its place.
    -- removed: nothing of its text is left; receipts still name it.
    state           TEXT    NOT NULL CHECK (state IN ('valid', 'stale', 'replaced', 'removed')),
    created_at      INTEGER NOT NULL,
    CHECK ((provider_id IS NULL) = (model IS NULL)),
    CHECK (state <> 'removed' OR (text = '' AND pinned = '[]'))
) STRICT;

CREATE INDEX summaries_by_end ON summaries (conversation_id, state, up_to_key);

-- The messages that a summary was made from. They are not referred to by a foreign key, since a deleted
-- one is still among those that can be brought back.
CREATE TABLE summary_messages (
    summary_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    -- Its place on the branch, counted from 1: the number of its label in the text.
    place       INTEGER NOT NULL CHECK (place >= 1),
    message_id  BLOB    NOT NULL CHECK (length (message_id) = 16),
    PRIMARY KEY (summary_key, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX summary_messages_by_message ON summary_messages (message_id);

-- All summaries that a summary rests on, not only the one before it.
CREATE TABLE summary_sources (
    summary_key INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    source_key  INTEGER NOT NULL REFERENCES summaries (key) ON DELETE CASCADE,
    PRIMARY KEY (summary_key, source_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX summary_sources_by_source ON summary_sources (source_key);

CREATE TRIGGER summaries_are_never_moved
BEFORE UPDATE OF id, conversation_id, up_to_id, up_to_key, round, is_edited, created_at ON summaries
BEGIN
    SELECT RAISE (ABORT, 'a summary is immutable');
END;

CREATE TRIGGER summaries_are_never_reworded BEFORE UPDATE OF text, pinned ON summaries WHEN NEW.state <> 'removed'
BEGIN
    SELECT RAISE (ABORT, 'a summary is immutable');
END;

CREATE TRIGGER summaries_lose_their_ground AFTER DELETE ON messages
BEGIN
    UPDATE summaries SET state = 'stale' WHERE state = 'valid' AND key IN (
        SELECT summary_key FROM summary_messages WHERE message_id = OLD.id
        UNION ALL
        SELECT s.summary_key FROM summary_messages m JOIN summary_sources s ON s.source_key = m.summary_key
        WHERE m.message_id = OLD.id);
END;

-- A message that is forgotten for good takes along what was made of it.
CREATE TRIGGER summaries_go_with_their_message AFTER DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    UPDATE summaries SET state = 'removed', text = '', pinned = '[]' WHERE state <> 'removed' AND key IN (
        SELECT summary_key FROM summary_messages WHERE message_id = OLD.id
        UNION ALL
        SELECT s.summary_key FROM summary_messages m JOIN summary_sources s ON s.source_key = m.summary_key
        WHERE m.message_id = OLD.id);
END;

CREATE TRIGGER summaries_go_with_their_deleted_message AFTER DELETE ON deleted_messages
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    UPDATE summaries SET state = 'removed', text = '', pinned = '[]' WHERE state <> 'removed' AND key IN (
        SELECT summary_key FROM summary_messages WHERE message_id = OLD.id
        UNION ALL
        SELECT s.summary_key FROM summary_messages m JOIN summary_sources s ON s.source_key = m.summary_key
        WHERE m.message_id = OLD.id);
END;

-- ── State ───────────────────────────────────────────────────────────────────────────────────
-- The values of a conversation with their history. On a branch holds, for each name, the newest that no
-- message or one of the branch is evidence for.

CREATE TABLE state_values (
    key             INTEGER NOT NULL PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE CHECK (length (id) = 16),
    context_id      BLOB    NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    value           TEXT    NOT NULL CHECK (json_valid (value)),
    evidence_id     BLOB    CHECK (length (evidence_id) = 16),
    valid_from      INTEGER NOT NULL,
    valid_to        INTEGER,
    is_pinned       INTEGER NOT NULL CHECK (is_pinned IN (0, 1)),
    is_edited       INTEGER NOT NULL CHECK (is_edited IN (0, 1)),
    source          TEXT    NOT NULL CHECK (source IN ('extraction', 'user')),
    conflicts_with  BLOB    CHECK (length (conflicts_with) = 16),
    -- It never held, since one that is pinned or the user's own stands against it.
    is_suggestion   INTEGER NOT NULL CHECK (is_suggestion IN (0, 1))
) STRICT;

CREATE INDEX state_values_by_conversation ON state_values (conversation_id, name, key);
CREATE INDEX state_values_by_context ON state_values (context_id);
CREATE INDEX state_values_by_evidence ON state_values (evidence_id) WHERE evidence_id IS NOT NULL;

-- Messages of the user that values were taken from already.
CREATE TABLE state_reads (
    message_id      BLOB    NOT NULL PRIMARY KEY CHECK (length (message_id) = 16),
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX state_reads_by_conversation ON state_reads (conversation_id);

CREATE TRIGGER state_goes_with_its_message AFTER DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    DELETE FROM state_values WHERE evidence_id = OLD.id;
    DELETE FROM state_reads WHERE message_id = OLD.id;
END;

CREATE TRIGGER state_goes_with_its_deleted_message AFTER DELETE ON deleted_messages
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    DELETE FROM state_values WHERE evidence_id = OLD.id;
    DELETE FROM state_reads WHERE message_id = OLD.id;
END;
