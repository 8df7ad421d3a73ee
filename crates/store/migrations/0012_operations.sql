-- Operations: what tools did in a conversation.

-- When operations of a conversation were last used, and whether they go by themselves.
CREATE TABLE operation_sessions (
    conversation_id BLOB    NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    -- 1 = a session of another program, which nobody may come back to.
    is_transient    INTEGER NOT NULL CHECK (is_transient IN (0, 1)),
    last_used_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX operation_sessions_that_go ON operation_sessions (last_used_at) WHERE is_transient = 1;

CREATE TABLE operations (
    -- Newer operations have higher keys.
    key             INTEGER NOT NULL PRIMARY KEY,
    id              BLOB    NOT NULL UNIQUE CHECK (length (id) = 16),
    conversation_id BLOB    NOT NULL REFERENCES operation_sessions (conversation_id) ON DELETE CASCADE,
    -- The context that used the tool.
    context_id      BLOB    NOT NULL CHECK (length (context_id) = 16),
    -- The reply that it belongs to. No foreign key: it is stored after the operation.
    message_id      BLOB    CHECK (length (message_id) = 16),
    -- The newest message when it was recorded: nothing newer can be in it.
    after_key       INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    query           TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    tool_name       TEXT    NOT NULL,
    arguments       TEXT    NOT NULL CHECK (json_valid (arguments)),
    result          TEXT    NOT NULL CHECK (json_valid (result)),
    metadata        TEXT    NOT NULL CHECK (json_type (metadata) = 'object'),
    duration_ms     INTEGER NOT NULL CHECK (duration_ms >= 0),
    error           TEXT    CHECK (json_type (error) = 'object')
) STRICT;

CREATE INDEX operations_by_conversation ON operations (conversation_id, key);
CREATE INDEX operations_by_context ON operations (context_id);

-- Arguments were written by a model that read the conversation: with a message that is forgotten goes whatever may
-- repeat it, which is what its reply did and what came after it.
CREATE TRIGGER operations_go_with_a_message AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM operations WHERE conversation_id = OLD.conversation_id)
  AND NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    DELETE FROM operations
    WHERE conversation_id = OLD.conversation_id AND (after_key >= OLD.key OR message_id = OLD.id);
END;

CREATE TRIGGER operations_go_with_a_deleted_message AFTER DELETE ON deleted_messages
WHEN EXISTS (SELECT 1 FROM operations WHERE conversation_id = OLD.conversation_id)
  AND NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    DELETE FROM operations
    WHERE conversation_id = OLD.conversation_id AND (after_key >= OLD.key OR message_id = OLD.id);
END;
