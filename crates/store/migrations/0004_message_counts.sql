-- How many messages there are with a context, those in the trash too: asked before each message
-- that is sent, and until now summed over all its conversations.

ALTER TABLE contexts ADD COLUMN message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0);

UPDATE contexts SET message_count =
    (SELECT coalesce(sum(v.message_count), 0) FROM conversations v WHERE v.context_id = contexts.id);

-- One place keeps it, whatever is done to a conversation: said, deleted, undone, purged in portions
-- or all at once.
CREATE TRIGGER contexts_count_a_new_conversation AFTER INSERT ON conversations WHEN NEW.message_count <> 0
BEGIN
    UPDATE contexts SET message_count = message_count + NEW.message_count WHERE id = NEW.context_id;
END;

CREATE TRIGGER contexts_count_what_is_said AFTER UPDATE OF message_count ON conversations
WHEN NEW.message_count <> OLD.message_count AND NEW.context_id = OLD.context_id
BEGIN
    UPDATE contexts SET message_count = message_count + NEW.message_count - OLD.message_count WHERE id = NEW.context_id;
END;

CREATE TRIGGER contexts_count_a_conversation_that_moved AFTER UPDATE OF context_id ON conversations
WHEN NEW.context_id <> OLD.context_id
BEGIN
    UPDATE contexts SET message_count = message_count - OLD.message_count WHERE id = OLD.context_id;
    UPDATE contexts SET message_count = message_count + NEW.message_count WHERE id = NEW.context_id;
END;

CREATE TRIGGER contexts_forget_a_conversation AFTER DELETE ON conversations WHEN OLD.message_count <> 0
BEGIN
    UPDATE contexts SET message_count = message_count - OLD.message_count WHERE id = OLD.context_id;
END;
