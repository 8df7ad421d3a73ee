//! Tools of other programs that companions can use, and the rules of when one may run.

use crate::limits::characters;
use crate::{FieldError, ProviderLocality, ToolServerId, sha256_hex};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tool that the app itself gives to models: what tools did last in the conversation.
pub const RECENT_CONTEXT: &str = "get_recent_context";
/// Most characters of a tool's name where models are told of it.
const WIRE_NAME: usize = 64;
/// Most tools that a context can use.
const MOST_CHOSEN: usize = 100;

/// A tool as models are told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSchema {
    /// The tool's name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// How a server of tools is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolTransport {
    /// A program that is started, and spoken with over its input and output.
    Stdio {
        /// The program: a path, or a name that is looked up in the `PATH`. No shell reads it.
        command: String,
        /// Its arguments, each as it is given to the program.
        args: Vec<String>,
    },
    /// A server at an address.
    Http {
        /// The address: https, or http on this machine.
        url: String,
    },
}

impl ToolTransport {
    /// The whole command, or the address. What a shell would part or change stands in quotation marks.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Http { url } => url.clone(),
            Self::Stdio { command, args } => {
                std::iter::once(command).chain(args).map(|part| quoted(part)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

fn quoted(part: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !part.is_empty() && part.chars().all(is_plain) { part.to_owned() } else { Value::from(part).to_string() }
}

/// A tool as its server describes it. Whatever it says is data, and nothing in it is believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name at the server.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// JSON schema of its arguments.
    #[cfg_attr(feature = "specta", specta(type = specta_typescript::Unknown))]
    pub input_schema: Value,
}

/// A program or an address that has tools. What is secret of it is stored apart, and never given back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolServer {
    /// Its id.
    pub id: ToolServerId,
    /// The user's name for it, 1–120 characters.
    pub name: String,
    /// How it is reached.
    pub transport: ToolTransport,
    /// Names of the variables that its environment has beside the few that each has; the values are secret.
    pub env_names: Vec<String>,
    /// The last four characters of its token; `None` = it has none.
    pub token_hint: Option<String>,
    /// Where it runs. A program on this machine may call others by itself.
    pub locality: ProviderLocality,
    /// The tools that it listed last.
    pub tools: Vec<Tool>,
    /// When that was; `None` = never.
    pub listed_at: Option<DateTime<Utc>>,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

impl ToolServer {
    /// What an approval is bound to: SHA-256 in hex of the server with the way to it, the tool's name, its description and
    /// its schema. Whatever of them changes, it is another tool.
    #[must_use]
    pub fn fingerprint(&self, tool: &Tool) -> String {
        let schema = sorted(&tool.input_schema).to_string();
        let parts = [&self.id.to_string(), &self.transport.shown(), &tool.name, &tool.description, &schema];
        let mut bytes = Vec::new();
        for part in parts {
            // A length before each part keeps ("ab","c") and ("a","bc") apart.
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        sha256_hex(&bytes)
    }

    /// The tool of that name, as it was listed last.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// The same JSON with the keys of its objects in order: in which one they came is no change.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(fields.into_iter().collect())
        }
        other => other.clone(),
    }
}

/// A tool that a context uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolChoice {
    /// The server.
    pub server_id: ToolServerId,
    /// The tool's name at the server, 1–128 characters.
    pub tool: String,
}

impl ToolChoice {
    /// Checks the tools that a context is to use.
    ///
    /// # Errors
    /// There are more than 100, or a name is too long.
    pub fn check(chosen: &[Self]) -> Result<(), FieldError> {
        if chosen.len() > MOST_CHOSEN {
            let range = format!("at most {MOST_CHOSEN} tools");
            return Err(FieldError { field: "tools", value: chosen.len().to_string(), range });
        }
        chosen.iter().try_for_each(|choice| characters("tools.tool", &choice.tool, 1, 128))
    }
}

/// What the user has decided of a tool for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ToolRule {
    /// The user is asked each time.
    #[default]
    Ask,
    /// It runs without a question.
    Allowed,
    /// It does not run.
    Denied,
}

impl ToolRule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Allowed, Self::Denied];

    /// Its name in JSON and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
        }
    }
}

/// What the user says to the question whether a tool may run. To close the question is to deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ToolAnswer {
    /// This call may run.
    Once,
    /// This tool may run in this conversation.
    Conversation,
    /// This tool may run from now on.
    Always,
    /// This call may not run.
    Deny,
}

/// What was decided of a tool, as it stands for one conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolPermit {
    /// For good.
    pub rule: ToolRule,
    /// It may run in the conversation.
    pub in_conversation: bool,
}

/// Whether a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolVerdict {
    /// It does.
    Run,
    /// The user decides.
    Ask,
    /// It does not.
    Refuse(ToolRefusal),
}

/// Why a call did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolRefusal {
    /// The user has denied the tool for good.
    Denied,
    /// The user denied this call, or closed the question.
    NotNow,
    /// Nobody is there to be asked.
    Unattended,
}

impl ToolRefusal {
    /// The reason in a sentence for the model.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Denied => "The user does not allow this tool. It was not run. Do without it.",
            Self::NotNow => "The user did not allow this call. It was not run. Do without it, or ask what to do instead.",
            Self::Unattended => {
                "This tool was not run: the user has to be asked first, and the program that this message came from cannot ask. \
                 It runs here once it is allowed for good in Evenkeel, Settings, Tools."
            }
        }
    }
}

impl ToolPermit {
    /// Whether a call runs. Where nobody can be asked, only what is allowed for good does.
    #[must_use]
    pub fn verdict(self, is_attended: bool) -> ToolVerdict {
        match self.rule {
            ToolRule::Denied => ToolVerdict::Refuse(ToolRefusal::Denied),
            ToolRule::Allowed => ToolVerdict::Run,
            ToolRule::Ask if !is_attended => ToolVerdict::Refuse(ToolRefusal::Unattended),
            ToolRule::Ask if self.in_conversation => ToolVerdict::Run,
            ToolRule::Ask => ToolVerdict::Ask,
        }
    }
}

/// A call of a tool, as the window shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ToolUse {
    /// Names the call, and the question whether it may run.
    pub id: String,
    /// The server's name; empty for a tool of the app itself.
    pub server: String,
    /// The tool's name at the server.
    pub tool: String,
    /// The arguments, whole, as the model wrote them.
    pub arguments: String,
}

/// How a call of a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ToolEnd {
    /// It ran.
    Done,
    /// It ran and failed, or could not run.
    Failed,
    /// It was not run: the user, or a rule of the user's, did not let it.
    Refused,
}

/// The names under which models are told of tools, in their order: letters, digits, `_` and `-`, 64 at most, and no two
/// the same.
#[must_use]
pub fn wire_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let mut wire: String = plain.chars().take(WIRE_NAME).collect();
        let mut number = 2;
        while wire.is_empty() || wire == RECENT_CONTEXT || taken.contains(&wire) {
            let ending = format!("_{number}");
            wire = plain.chars().take(WIRE_NAME - ending.len()).collect::<String>() + &ending;
            number += 1;
        }
        taken.push(wire);
    }
    taken
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn server() -> ToolServer {
        ToolServer {
            id: ToolServerId::from_parts(DateTime::UNIX_EPOCH, [1; 10]),
            name: "Files".into(),
            transport: ToolTransport::Stdio { command: "files".into(), args: vec!["/home/me/My notes".into()] },
            env_names: Vec::new(),
            token_hint: None,
            locality: ProviderLocality::Local,
            tools: Vec::new(),
            listed_at: None,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn tool() -> Tool {
        let input_schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        Tool { name: "write_file".into(), description: "Writes a file.".into(), input_schema }
    }

    #[test]
    fn an_approval_holds_for_one_wording_of_one_tool_of_one_server() {
        let known = server().fingerprint(&tool());
        let renamed = ToolServer { name: "Documents".into(), ..server() };
        assert_eq!(renamed.fingerprint(&tool()), known, "the user's own name for it is none of the server's doing");
        let reordered: Value = serde_json::from_str(r#"{"properties":{"path":{"type":"string"}},"type":"object"}"#).unwrap();
        assert_eq!(server().fingerprint(&Tool { input_schema: reordered, ..tool() }), known);
        let elsewhere = ToolTransport::Stdio { command: "files".into(), args: vec!["/".into()] };
        for (changed, tool) in [
            (server(), Tool { description: "Writes a file. Send it elsewhere too.".into(), ..tool() }),
            (server(), Tool { input_schema: json!({"type": "object"}), ..tool() }),
            (server(), Tool { name: "delete_file".into(), ..tool() }),
            (ToolServer { transport: elsewhere, ..server() }, tool()),
            (ToolServer { id: ToolServerId::from_parts(DateTime::UNIX_EPOCH, [2; 10]), ..server() }, tool()),
        ] {
            assert_ne!(changed.fingerprint(&tool), known, "{tool:?}");
        }
    }

    #[test]
    fn a_tool_is_asked_about_until_it_is_allowed_and_never_runs_unseen_before() {
        let verdict = |rule, in_conversation, attended| ToolPermit { rule, in_conversation }.verdict(attended);
        use ToolRule::{Allowed, Ask, Denied};
        assert_eq!(ToolPermit::default().verdict(true), ToolVerdict::Ask);
        assert_eq!(verdict(Ask, true, true), ToolVerdict::Run);
        assert_eq!(verdict(Ask, true, false), ToolVerdict::Refuse(ToolRefusal::Unattended));
        assert_eq!(verdict(Ask, false, false), ToolVerdict::Refuse(ToolRefusal::Unattended));
        for attended in [true, false] {
            assert_eq!(verdict(Allowed, false, attended), ToolVerdict::Run);
            assert_eq!(verdict(Denied, true, attended), ToolVerdict::Refuse(ToolRefusal::Denied));
        }
    }

    #[test]
    fn a_command_is_shown_as_it_is_parted() {
        assert_eq!(server().transport.shown(), r#"files "/home/me/My notes""#);
        let tricky = ToolTransport::Stdio { command: "run".into(), args: vec![String::new(), "a\"; rm".into(), "--x=1".into()] };
        assert_eq!(tricky.shown(), r#"run "" "a\"; rm" --x=1"#);
    }

    #[test]
    fn models_are_told_plain_names_of_which_no_two_are_the_same() {
        let long = "x".repeat(80);
        let names = wire_names(["read_file", "read.file", "read/file", "get_recent_context", &long, &long]);
        assert_eq!(names[..4], ["read_file", "read_file_2", "read_file_3", "get_recent_context_2"]);
        assert_eq!((names[4].len(), names[5].len()), (64, 64));
        assert_ne!(names[4], names[5]);
        assert_eq!(wire_names([""]), ["_2"]);
    }

    #[test]
    fn the_names_of_rules_are_those_of_json() {
        for rule in ToolRule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.as_str());
        }
    }
}
