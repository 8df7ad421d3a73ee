-- Receipts: what was sent for each reply. They name messages and revisions and repeat none of their text.

CREATE TABLE receipts (
    -- The reply, or the draft of one. No foreign key: it outlives a deletion of the reply that can be undone.
    reply_id   BLOB    NOT NULL PRIMARY KEY CHECK (length (reply_id) = 16),
    -- The context that answered.
    context_id BLOB    NOT NULL CHECK (length (context_id) = 16),
    body       TEXT    NOT NULL CHECK (json_type (body) = 'object'),
    -- The messages that were sent as they stand in the vault, 53 bytes each: id, SHA-256 of the text, tokens
    -- (little-endian), who spoke (0 user, 1 assistant, 2 system).
    history    BLOB    NOT NULL CHECK (length (history) % 53 = 0),
    -- Texts that nothing else holds, each with the place of its block; NULL once they are forgotten.
    texts      TEXT    CHECK (json_type (texts) = 'array'),
    -- Some of those texts were made from what was said.
    is_derived INTEGER NOT NULL CHECK (is_derived IN (0, 1))
) STRICT;

CREATE INDEX receipts_with_texts ON receipts (context_id, is_derived) WHERE texts IS NOT NULL;

CREATE TRIGGER receipts_go_with_their_message AFTER DELETE ON messages
WHEN NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.id)
BEGIN
    DELETE FROM receipts WHERE reply_id = OLD.id;
    -- What was made from a text is forgotten with it; from which ones it was made is not known here.
    UPDATE receipts SET texts = NULL WHERE context_id = OLD.context_id AND is_derived = 1 AND texts IS NOT NULL;
END;

CREATE TRIGGER receipts_go_with_their_deleted_message AFTER DELETE ON deleted_messages
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.id)
BEGIN
    DELETE FROM receipts WHERE reply_id = OLD.id;
    UPDATE receipts SET texts = NULL WHERE context_id = OLD.context_id AND is_derived = 1 AND texts IS NOT NULL;
END;

CREATE TRIGGER receipts_go_with_their_draft AFTER DELETE ON reply_drafts
WHEN NOT EXISTS (SELECT 1 FROM messages WHERE id = OLD.reply_id)
  AND NOT EXISTS (SELECT 1 FROM deleted_messages WHERE id = OLD.reply_id)
BEGIN
    DELETE FROM receipts WHERE reply_id = OLD.reply_id;
END;
