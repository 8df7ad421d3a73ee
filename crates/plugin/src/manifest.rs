//! `plugin.json`: what a plug-in says of itself.

use crate::{ABI, Fault};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// Ids of the strategies that come with the app begin so.
const OWN: &str = "std-";
/// Windows takes files of these names for devices; a vault may be carried there.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];
/// Most characters of a name.
const NAME: usize = 120;
/// Most characters of a version.
const VERSION: usize = 40;
/// Most characters of a description.
const DESCRIPTION: usize = 2_000;
/// Most characters of the module's file name.
const FILE_NAME: usize = 64;

/// Names a plug-in: 3–64 of `a-z`, `0-9` and `-`, not beginning with `std-`. Safe as a folder's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginId(String);

/// A text that is no id of a plug-in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id; ids have 3 to 64 of a-z, 0-9 and -, do not begin with std-, and are no name of a device")]
pub struct IdMistake(String);

impl PluginId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PluginId {
    type Err = IdMistake;

    fn from_str(text: &str) -> Result<Self, IdMistake> {
        let letters = text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if letters && (3..=64).contains(&text.len()) && !text.starts_with(OWN) && !is_device(text) {
            return Ok(Self(text.to_owned()));
        }
        Err(IdMistake(text.chars().take(FILE_NAME).collect()))
    }
}

fn is_device(text: &str) -> bool {
    let numbered =
        text.len() == 4 && (text.starts_with("com") || text.starts_with("lpt")) && text.ends_with(|c: char| c.is_ascii_digit());
    numbered || DEVICES.contains(&text)
}

impl TryFrom<String> for PluginId {
    type Error = IdMistake;

    fn try_from(text: String) -> Result<Self, IdMistake> {
        text.parse()
    }
}

impl From<PluginId> for String {
    fn from(id: PluginId) -> Self {
        id.0
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a plug-in says of itself. Fields that are not known are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Its id.
    pub id: PluginId,
    /// Its name for people, 1–120 characters.
    pub name: String,
    /// Its version, 1–40 characters; shown and kept in receipts, never compared by size.
    pub version: String,
    /// The version of the interface it was made for; [`ABI`].
    pub abi: u32,
    /// What it does, at most 2,000 characters.
    #[serde(default)]
    pub description: String,
    /// The module's file name within the folder.
    #[serde(default = "standard_file")]
    pub wasm: String,
    /// A JSON Schema of its configuration, for a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_schema: Option<Value>,
}

fn standard_file() -> String {
    "plugin.wasm".to_owned()
}

impl Manifest {
    /// Reads the text of a `plugin.json`.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Fault> {
        let bad = |e: serde_json::Error| Fault::Manifest(e.to_string());
        let value: Value = serde_json::from_slice(json).map_err(bad)?;
        // First of all: in another version the other fields may mean something else.
        let abi = value.get("abi").and_then(Value::as_i64);
        if let Some(found) = abi.filter(|abi| *abi != i64::from(ABI)) {
            return Err(Fault::Abi { found, place: "plugin.json", wanted: ABI.into() });
        }
        if !value.is_object() {
            return Err(Fault::Manifest("it is no JSON object".to_owned()));
        }
        let manifest: Self = serde_json::from_value(value).map_err(bad)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), Fault> {
        line("name", &self.name, NAME)?;
        line("version", &self.version, VERSION)?;
        let characters = self.description.chars().count();
        if characters > DESCRIPTION {
            return Err(Fault::Manifest(format!("description has {characters} characters, at most {DESCRIPTION} are allowed")));
        }
        if !is_bare(&self.wasm) {
            let why = "it has to be the bare name of a .wasm file in the same folder";
            return Err(Fault::Manifest(format!("wasm is {:?}; {why}", self.wasm)));
        }
        match &self.config_schema {
            None | Some(Value::Object(_)) => Ok(()),
            Some(_) => Err(Fault::Manifest("configSchema is not a JSON object".to_owned())),
        }
    }
}

/// One line that is not blank.
fn line(field: &str, text: &str, most: usize) -> Result<(), Fault> {
    let characters = text.chars().count();
    if text.trim().is_empty() || characters > most || text.chars().any(char::is_control) {
        return Err(Fault::Manifest(format!("{field} has to be one line of 1 to {most} characters")));
    }
    Ok(())
}

/// Whether a name can only be a file of the folder itself, on every system.
fn is_bare(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.len() <= FILE_NAME && name.ends_with(".wasm") && !name.starts_with('.') && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(field: &str, value: Value) -> Result<Manifest, Fault> {
        let mut json = serde_json::json!({ "id": "a-plugin", "name": "A", "version": "1", "abi": 1 });
        json[field] = value;
        Manifest::parse(json.to_string().as_bytes())
    }

    #[test]
    fn only_plain_ids_are_ids() {
        for good in ["abc", "newest-and-first", "007", "standard", &"x".repeat(64)] {
            assert_eq!(good.parse::<PluginId>().unwrap().as_str(), good);
        }
        let long = "x".repeat(65);
        for bad in ["", "ab", "std-mine", "Abc", "a_b", "../up", "a/b", "a.b", "ünlaut", "con", "com1", long.as_str()] {
            assert!(bad.parse::<PluginId>().is_err(), "{bad:?}");
            assert!(with("id", bad.into()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_module_is_a_file_of_the_folder() {
        assert_eq!(with("wasm", "code-2.wasm".into()).unwrap().wasm, "code-2.wasm");
        assert_eq!(with("description", "x".into()).unwrap().wasm, "plugin.wasm");
        for bad in ["", ".wasm", "../plugin.wasm", "a/b.wasm", "a\\b.wasm", "/etc/passwd", "c:x.wasm", "x.wasm:y", "plugin.so"] {
            assert!(matches!(with("wasm", bad.into()), Err(Fault::Manifest(_))), "{bad:?}");
        }
    }

    #[test]
    fn another_interface_is_named_before_anything_else() {
        let json = br#"{"abi": 2, "somethingElse": true}"#;
        assert!(matches!(Manifest::parse(json), Err(Fault::Abi { found: 2, wanted: 1, .. })));
        assert!(matches!(with("abi", "one".into()), Err(Fault::Manifest(_))));
        assert!(matches!(with("abi", Value::Null), Err(Fault::Manifest(_))));
    }

    #[test]
    fn fields_have_their_ranges() {
        assert!(with("name", " ".into()).is_err());
        assert!(with("name", "two\nlines".into()).is_err());
        assert!(with("version", "1".repeat(41).into()).is_err());
        assert!(with("description", "x".repeat(2_001).into()).is_err());
        assert!(with("configSchema", true.into()).is_err());
        assert!(with("configSchema", serde_json::json!({ "type": "object" })).is_ok());
        assert!(with("unknown", 7.into()).is_ok());
        assert!(matches!(Manifest::parse(br#"["abc", "A", "1", 1]"#), Err(Fault::Manifest(_))));
    }
}
