-- How a context keeps its history, and what it remembers beside that, as JSON; the defaults are those
-- of every context until now.

ALTER TABLE contexts ADD COLUMN strategy TEXT NOT NULL
    DEFAULT '{"type":"plugin","pluginId":"std-sliding-window-strategy","config":{}}' CHECK (json_type (strategy) = 'object');
ALTER TABLE contexts ADD COLUMN memory TEXT NOT NULL DEFAULT '{}' CHECK (json_type (memory) = 'object');
