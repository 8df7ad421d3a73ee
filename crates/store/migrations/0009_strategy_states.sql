-- What an installed strategy wants to know again in a conversation.

CREATE TABLE strategy_states (
    conversation_id BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    plugin_id       TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (json_valid (state)),
    PRIMARY KEY (conversation_id, plugin_id)
) STRICT, WITHOUT ROWID;
