-- What messages mean to an embedding model, so that those are found that say the same in other words.
--
-- It goes with its message, also when that is only deleted and can be brought back: then it is made
-- again. One for each message, by the model that its context has chosen last.

CREATE TABLE message_vectors (
    message_key INTEGER NOT NULL PRIMARY KEY REFERENCES messages (key) ON DELETE CASCADE,
    provider_id BLOB    NOT NULL CHECK (length (provider_id) = 16),
    model       TEXT    NOT NULL,
    dims        INTEGER NOT NULL CHECK (dims > 0),
    -- What each value is multiplied with; one byte a value, of a vector of length 1.
    scale       REAL    NOT NULL,
    vector      BLOB    NOT NULL CHECK (length (vector) = dims)
) STRICT;
