//! Renders the chat template of the model file. It is a Jinja program from a stranger: it gets no
//! files, no network, a bounded amount of work and a bounded size of output.

use chrono::Local;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value};
use minijinja::{Environment, Error, ErrorKind, context};
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::fmt::Write as _;
use std::io;

/// Instructions that one rendering may execute; a prompt of a thousand messages needs some 100,000.
const FUEL: u64 = 20_000_000;
/// Largest prompt text, in bytes.
const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// One message as the template sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChatMessage {
    /// `system`, `user`, `assistant`, …
    pub role: String,
    /// The text.
    pub content: String,
}

/// Why a template gave no prompt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TemplateError {
    /// The template itself is not valid Jinja.
    #[error("the model's chat template is broken: {0}")]
    Broken(String),
    /// The template refused the messages.
    #[error("the model's chat template refused the messages: {0}")]
    Refused(String),
}

/// A compiled chat template.
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    bos: String,
    eos: String,
}

const NAME: &str = "chat";

impl ChatTemplate {
    /// Compiles `source`; `bos` and `eos` are the texts of the model's first and last token.
    pub fn new(source: String, bos: String, eos: String) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        // As Hugging Face's transformers set up Jinja for chat templates.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| TemplateError::Broken(plain(&error)))?);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.set_fuel(Some(FUEL));
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        environment.add_filter("tojson", to_json);
        environment.add_template_owned(NAME, source).map_err(|error| TemplateError::Broken(plain(&error)))?;
        Ok(Self { environment, bos, eos })
    }

    /// The prompt for `messages`, ending where the assistant's reply begins.
    ///
    /// Some templates refuse or silently drop a system message that is not the first, and some
    /// refuse system messages altogether. The reminder of a persona must not be lost to that:
    /// such messages are then folded into the user message beside them and rendered once more.
    pub fn render(
        &self,
        messages: &[ChatMessage],
        extra: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<String, TemplateError> {
        let first = self.render_once(messages, extra);
        let refused = match first {
            Ok(text) if keeps_system_messages(&text, messages) => return Ok(text),
            other => other,
        };
        for from in [1, 0] {
            let folded = fold_system_messages(messages, from);
            if folded == messages {
                continue;
            }
            if let Ok(text) = self.render_once(&folded, extra) {
                return Ok(text);
            }
        }
        refused
    }

    fn render_once(
        &self,
        messages: &[ChatMessage],
        extra: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<String, TemplateError> {
        let refused = |error: Error| TemplateError::Refused(plain(&error));
        let template = self.environment.get_template(NAME).map_err(refused)?;
        let own = context! {
            messages => Serde(messages), add_generation_prompt => true, bos_token => self.bos.as_str(), eos_token => self.eos.as_str(),
        };
        let values = minijinja::value::merge_maps([own, Value::from(Serde(extra))]);
        let mut output = Bounded(Vec::new());
        template.render_captured_to(values, &mut output).map_err(refused)?;
        String::from_utf8(output.0).map_err(|_| TemplateError::Refused("it wrote broken text".to_owned()))
    }
}

/// Whether every system message's text arrived in the prompt.
fn keeps_system_messages(text: &str, messages: &[ChatMessage]) -> bool {
    messages.iter().filter(|message| message.role == "system").all(|message| text.contains(message.content.trim()))
}

/// Puts the system messages from position `from` on into the user message before them, or after
/// them where an assistant's stands before, or makes them a user message where neither is there.
fn fold_system_messages(messages: &[ChatMessage], from: usize) -> Vec<ChatMessage> {
    let mut folded: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut waiting = String::new();
    for (position, message) in messages.iter().enumerate() {
        if message.role == "system" && position >= from {
            match folded.last_mut().filter(|last| last.role == "user") {
                Some(last) => join(&mut last.content, &message.content),
                None => join(&mut waiting, &message.content),
            }
            continue;
        }
        let mut message = message.clone();
        if !waiting.is_empty() {
            let text = std::mem::take(&mut waiting);
            if message.role == "user" {
                message.content = format!("{text}\n\n{}", message.content);
            } else {
                folded.push(ChatMessage { role: "user".to_owned(), content: text });
            }
        }
        folded.push(message);
    }
    if !waiting.is_empty() {
        folded.push(ChatMessage { role: "user".to_owned(), content: waiting });
    }
    folded
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The error without the template's source, which says nothing to a user.
fn plain(error: &Error) -> String {
    match (error.detail(), error.line()) {
        (Some(detail), Some(line)) => format!("{detail} (line {line})"),
        (Some(detail), None) => detail.to_owned(),
        _ => error.to_string(),
    }
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::Error::other("the prompt is larger than 64 MB"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn raise_exception(message: String) -> Result<String, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

/// The local date and time in a form that the template chooses.
fn strftime_now(form: String) -> Result<String, Error> {
    let mut text = String::new();
    // `to_string` would panic on a form that chrono does not know.
    write!(text, "{}", Local::now().format(&form))
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, format!("strftime_now knows no form '{form}'")))?;
    Ok(text)
}

/// JSON as Python's `json.dumps` writes it, which is what models were trained on.
fn to_json(value: Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let _ascii: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut bytes = Vec::new();
    let written = match indent {
        Some(width) => {
            let spaces = " ".repeat(width.min(16));
            value.serialize(&mut Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(spaces.as_bytes())))
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut bytes, PythonFormatter)),
    };
    written.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
#[path = "template/tests.rs"]
mod tests;
