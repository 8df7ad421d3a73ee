-- What was made of messages goes with them wherever it is kept, and what a strategy remembers belongs to
-- a branch.

-- ── Receipts ────────────────────────────────────────────────────────────────────────────────
-- Another context's receipt in the same conversation may hold a text that was made from a forgotten message.

ALTER TABLE receipts ADD COLUMN conversation_id BLOB CHECK (length (conversation_id) = 16);

UPDATE receipts SET conversation_id = coalesce (
    (SELECT conversation_id FROM messages WHERE id = reply_id),
    (SELECT conversation_id FROM deleted_messages WHERE id = reply_id),
    (SELECT d.conversation_id FROM reply_drafts d WHERE d.reply_id = receipts.reply_id));

CREATE INDEX receipts_with_texts_by_conversation ON receipts (conversation_id, is_derived) WHERE texts IS NOT NULL;

CREATE TRIGGER derived_texts_go_with_a_message AFTER DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    UPDATE receipts SET texts = NULL
    WHERE conversation_id = OLD.conversation_id AND is_derived = 1 AND texts IS NOT NULL;
END;

CREATE TRIGGER derived_texts_go_with_a_deleted_message AFTER DELETE ON deleted_messages
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    UPDATE receipts SET texts = NULL
    WHERE conversation_id = OLD.conversation_id AND is_derived = 1 AND texts IS NOT NULL;
END;

-- ── What installed strategies remember ──────────────────────────────────────────────────────
-- One state of a conversation did not know which branch it came from. Strategies begin anew.

DROP TABLE strategy_states;

CREATE TABLE strategy_states (
    -- Newer states have higher keys.
    key             INTEGER NOT NULL PRIMARY KEY,
    plugin_id       TEXT    NOT NULL,
    -- The reply that it was told of. No foreign key: with a deleted message all states of its conversation go.
    reply_id        BLOB    NOT NULL CHECK (length (reply_id) = 16),
    conversation_id BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The context that answered.
    context_id      BLOB    NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    state           TEXT    NOT NULL CHECK (json_valid (state)),
    UNIQUE (plugin_id, reply_id)
) STRICT;

CREATE INDEX strategy_states_by_conversation ON strategy_states (conversation_id, context_id, plugin_id);
CREATE INDEX strategy_states_by_context ON strategy_states (context_id);

-- A state may hold what any message said: with one that is forgotten it goes, and the strategy begins anew.
CREATE TRIGGER strategy_states_go_with_a_message AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM strategy_states WHERE conversation_id = OLD.conversation_id)
BEGIN
    DELETE FROM strategy_states WHERE conversation_id = OLD.conversation_id;
END;

CREATE TRIGGER strategy_states_go_with_a_deleted_message AFTER DELETE ON deleted_messages
WHEN EXISTS (SELECT 1 FROM strategy_states WHERE conversation_id = OLD.conversation_id)
  AND NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    DELETE FROM strategy_states WHERE conversation_id = OLD.conversation_id;
END;
