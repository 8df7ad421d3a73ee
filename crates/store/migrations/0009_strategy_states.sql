-- What an installed strategy wants to know again in a conversation.

CREATE TABLE strategy_states (
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    plugin_id       TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (json_valid (state)),
    PRIMARY KEY (conversation_id, plugin_id)
) STRICT, WITHOUT ROWID;

-- A state may hold what any message said: with one that is forgotten it goes, and the strategy begins anew.
CREATE TRIGGER strategy_states_go_with_a_message AFTER DELETE ON messages
WHEN EXISTS (SELECT 1 FROM strategy_states WHERE conversation_id = OLD.conversation_id)
BEGIN
    DELETE FROM strategy_states WHERE conversation_id = OLD.conversation_id;
END;
