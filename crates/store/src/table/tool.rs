//! Servers of tools, what was decided of their tools, and which of them a context uses.

use crate::column::{bytes, id, json, maybe_time, of_json, of_time, time, variant};
use crate::{Noun, ReadHandle, StoreError, WriteHandle};
use chrono::{DateTime, Utc};
use evenkeel_domain::{
    ContextId, ConversationId, ProviderLocality, Tool, ToolChoice, ToolPermit, ToolRule, ToolServer, ToolServerId,
};
use rusqlite::{Row, params};

const LOCALITIES: [ProviderLocality; 2] = [ProviderLocality::Local, ProviderLocality::Remote];
const SELECT: &str =
    "SELECT id, name, transport, env_names, token_hint, locality, tools, listed_at, created_at FROM tool_servers";

fn locality_name(locality: ProviderLocality) -> &'static str {
    match locality {
        ProviderLocality::Local => "local",
        ProviderLocality::Remote => "remote",
    }
}

fn server(row: &Row<'_>) -> Result<ToolServer, StoreError> {
    Ok(ToolServer {
        id: id(row, 0)?,
        name: row.get(1)?,
        transport: json(row, 2)?,
        env_names: json(row, 3)?,
        token_hint: row.get(4)?,
        locality: variant(row, 5, &LOCALITIES, locality_name)?,
        tools: json(row, 6)?,
        listed_at: maybe_time(row, 7)?,
        created_at: time(row, 8)?,
    })
}

impl ReadHandle<'_> {
    /// Every server, in the order of their making.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn tool_servers(&self) -> Result<Vec<ToolServer>, StoreError> {
        self.all(&format!("{SELECT} ORDER BY id"), [], server)
    }

    /// One server.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn tool_server(&self, server_id: ToolServerId) -> Result<Option<ToolServer>, StoreError> {
        self.one(&format!("{SELECT} WHERE id = ?1"), [bytes(server_id.uuid())], server)
    }

    /// What is secret of a server, as it was sealed; `None` if there is nothing.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn sealed_tool_secrets(&self, server_id: ToolServerId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed_secrets FROM tool_servers WHERE id = ?1";
        Ok(self.one(sql, [bytes(server_id.uuid())], |row| Ok(row.get::<_, Option<Vec<u8>>>(0)?))?.flatten())
    }

    /// What was decided for good of the tool with this fingerprint.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn tool_rule(&self, fingerprint: &str) -> Result<ToolRule, StoreError> {
        let sql = "SELECT rule FROM tool_rules WHERE fingerprint = ?1";
        Ok(self.one(sql, [fingerprint], |row| variant(row, 0, &ToolRule::ALL, ToolRule::as_str))?.unwrap_or_default())
    }

    /// What was decided of a tool, and of which wording of it.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn tool_decision(&self, choice: &ToolChoice) -> Result<Option<(String, ToolRule)>, StoreError> {
        let sql = "SELECT fingerprint, rule FROM tool_rules WHERE server_id = ?1 AND tool = ?2";
        self.one(sql, params![bytes(choice.server_id.uuid()), choice.tool], |row| {
            Ok((row.get(0)?, variant(row, 1, &ToolRule::ALL, ToolRule::as_str)?))
        })
    }

    /// Whether the tool with this fingerprint may run in a conversation, beside what holds for good.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn is_tool_permitted(&self, conversation: ConversationId, fingerprint: &str) -> Result<bool, StoreError> {
        let sql = "SELECT count(*) FROM tool_permits WHERE conversation_id = ?1 AND fingerprint = ?2";
        Ok(self.number(sql, params![bytes(conversation.uuid()), fingerprint])? > 0)
    }

    /// What was decided of a tool, where all of it is kept in one place.
    ///
    /// # Errors
    /// `Storage`, `Damaged` or `DamagedValue`.
    pub fn tool_permit(&self, conversation: ConversationId, fingerprint: &str) -> Result<ToolPermit, StoreError> {
        let in_conversation = self.is_tool_permitted(conversation, fingerprint)?;
        Ok(ToolPermit { rule: self.tool_rule(fingerprint)?, in_conversation })
    }

    /// The tools that a context uses.
    ///
    /// # Errors
    /// `Storage` or `Damaged`.
    pub fn context_tools(&self, context: ContextId) -> Result<Vec<ToolChoice>, StoreError> {
        let sql = "SELECT server_id, tool FROM context_tools WHERE context_id = ?1 ORDER BY server_id, tool";
        self.all(sql, [bytes(context.uuid())], |row| Ok(ToolChoice { server_id: id(row, 0)?, tool: row.get(1)? }))
    }
}

impl WriteHandle<'_> {
    /// Stores a server, new or edited. What is secret of it stays as it is, and so do the tools that it listed:
    /// [`WriteHandle::set_tool_secrets`], [`WriteHandle::set_tools_listed`].
    ///
    /// # Errors
    /// `Storage`, `DiskFull`.
    pub fn upsert_tool_server(&mut self, server: &ToolServer) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO tool_servers (id, name, transport, env_names, token_hint, locality, tools, created_at)
             VALUES (?1, ?2, ?3, '[]', NULL, ?4, '[]', ?5)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, transport = excluded.transport, locality = excluded.locality",
            params![
                bytes(server.id.uuid()),
                server.name,
                of_json(&server.transport)?,
                locality_name(server.locality),
                of_time(Some(server.created_at)),
            ],
        )?;
        self.changed(Noun::Tool, server.id);
        Ok(())
    }

    /// Sets what is secret of a server, sealed, with what may be shown of it: the names of variables, and the last four
    /// characters of the token.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_tool_secrets(
        &mut self,
        server: ToolServerId,
        sealed: Option<&[u8]>,
        env_names: &[String],
        token_hint: Option<&str>,
    ) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Tool,
            &server,
            "UPDATE tool_servers SET sealed_secrets = ?2, env_names = ?3, token_hint = ?4 WHERE id = ?1",
            params![bytes(server.uuid()), sealed, of_json(&env_names)?, token_hint],
        )
    }

    /// Notes which tools a server has.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn set_tools_listed(&mut self, server: ToolServerId, tools: &[Tool], at: DateTime<Utc>) -> Result<(), StoreError> {
        self.execute_on(
            Noun::Tool,
            &server,
            "UPDATE tool_servers SET tools = ?2, listed_at = ?3 WHERE id = ?1",
            params![bytes(server.uuid()), of_json(&tools)?, of_time(Some(at))],
        )
    }

    /// Deletes a server with all that was decided of it; contexts no longer use its tools.
    ///
    /// # Errors
    /// `NotFound`, `Storage`, `DiskFull`.
    pub fn delete_tool_server(&mut self, server: ToolServerId) -> Result<(), StoreError> {
        self.execute_on(Noun::Tool, &server, "DELETE FROM tool_servers WHERE id = ?1", [bytes(server.uuid())])
    }

    /// Decides of a tool for good, in the place of what was decided of it under any wording.
    ///
    /// # Errors
    /// There is no such server, `Storage`, `DiskFull`.
    pub fn put_tool_rule(
        &mut self,
        choice: &ToolChoice,
        fingerprint: &str,
        rule: ToolRule,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO tool_rules (server_id, tool, fingerprint, rule, decided_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (server_id, tool) DO UPDATE SET fingerprint = excluded.fingerprint, rule = excluded.rule,
                 decided_at = excluded.decided_at",
            params![bytes(choice.server_id.uuid()), choice.tool, fingerprint, rule.as_str(), of_time(Some(now))],
        )?;
        self.changed(Noun::Tool, choice.server_id);
        Ok(())
    }

    /// Lets a tool run in a conversation.
    ///
    /// # Errors
    /// There is no such conversation, `Storage`, `DiskFull`.
    pub fn permit_tool(&mut self, conversation: ConversationId, fingerprint: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO tool_permits (conversation_id, fingerprint) VALUES (?1, ?2)";
        self.execute(sql, params![bytes(conversation.uuid()), fingerprint]).map(drop)
    }

    /// Sets the tools that a context uses.
    ///
    /// # Errors
    /// There is no such context or server, `Storage`, `DiskFull`.
    pub fn set_context_tools(&mut self, context: ContextId, chosen: &[ToolChoice]) -> Result<(), StoreError> {
        self.execute("DELETE FROM context_tools WHERE context_id = ?1", [bytes(context.uuid())])?;
        for choice in chosen {
            let sql = "INSERT OR IGNORE INTO context_tools (context_id, server_id, tool) VALUES (?1, ?2, ?3)";
            self.execute(sql, params![bytes(context.uuid()), bytes(choice.server_id.uuid()), choice.tool])?;
        }
        self.changed(Noun::Context, context);
        Ok(())
    }
}
