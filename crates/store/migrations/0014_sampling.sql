-- Programs whose own model replies, in place of the context's (MCP sampling).

ALTER TABLE mcp_clients ADD COLUMN uses_sampling INTEGER NOT NULL DEFAULT 0 CHECK (uses_sampling IN (0, 1));
