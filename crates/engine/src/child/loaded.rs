//! A model in memory with its template and tokenizer.

use super::failure::Failure;
use super::library;
use super::template::{ChatMessage, ChatTemplate, TemplateError};
use crate::model_file::{self, ModelFile, ModelFileError};
use crate::protocol::StartLine;
use evenkeel_domain::ErrorCode;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use std::path::{Path, PathBuf};

/// The window where none was asked for, in tokens: enough for a long conversation, small enough
/// for the memory of an ordinary laptop.
const DEFAULT_WINDOW: u32 = 8192;
/// The smallest window that makes sense, in tokens.
const MIN_WINDOW: u32 = 64;

/// A model in memory. Fields drop in order: the model before the library.
pub(crate) struct Loaded {
    pub model: LlamaModel,
    pub backend: LlamaBackend,
    /// None for models that make embeddings.
    pub template: Option<ChatTemplate>,
    pub file: ModelFile,
    /// Tokens of prompt and reply together.
    pub window: u32,
    pub trained_window: u32,
    pub threads: u32,
    bos: String,
    /// The texts of control tokens, which no message may bring in.
    controls: Vec<String>,
}

impl Loaded {
    /// Loads the model that the parent named.
    pub fn load(start: &StartLine, library_dir: Option<PathBuf>) -> Result<Self, Failure> {
        let path = &start.model_path;
        let file = model_file::inspect(path)?;
        if !file.embedding && !file.has_chat_template {
            return Err(ModelFileError::NoChatTemplate(path.clone()).into());
        }
        let backend = library::start(library_dir)?;
        let model = LlamaModel::load_from_file(&backend, path, &LlamaModelParams::default()).map_err(|_| {
            unusable(path, "llama.cpp could not load it; it may be cut, damaged or of a kind that is not known yet")
        })?;
        let bos = token_text(&model, model.vocab().bos());
        let template = if file.embedding { None } else { Some(compile(&model, path, &bos)?) };
        let trained_window = model.n_ctx_train();
        let wanted = start.context_tokens.unwrap_or(DEFAULT_WINDOW).max(MIN_WINDOW);
        Ok(Self {
            window: if trained_window == 0 { wanted } else { wanted.min(trained_window) },
            controls: controls(&model),
            threads: library::threads(start.threads),
            model,
            backend,
            template,
            file,
            trained_window,
            bos,
        })
    }

    /// Tokens of a plain text, without the model's own first and last ones. Text that looks like
    /// a control token is plain text here.
    pub fn tokenize(&self, text: &str) -> Vec<LlamaToken> {
        self.model.vocab().tokenize(text.as_bytes(), false, false)
    }

    /// Tokens of a text to embed, with the model's own first and last ones.
    pub fn tokenize_input(&self, text: &str) -> Vec<LlamaToken> {
        self.model.vocab().tokenize(text.as_bytes(), true, false)
    }

    /// Tokens of the prompt for `messages`.
    pub fn prompt(
        &self,
        messages: &[ChatMessage],
        extra: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Vec<LlamaToken>, TemplateError> {
        let Some(template) = &self.template else {
            return Err(TemplateError::Refused("this model makes embeddings and cannot chat".to_owned()));
        };
        let seam = seam(messages);
        let guarded: Vec<ChatMessage> = messages.iter().map(|message| self.guard(message, &seam)).collect();
        let text = template.render(&guarded, extra)?;
        Ok(self.tokenize_prompt(&text, &seam))
    }

    /// Cuts texts of control tokens in a message, so that a message cannot end itself and go on
    /// as somebody else. The model sees the same characters, as ordinary text.
    fn guard(&self, message: &ChatMessage, seam: &str) -> ChatMessage {
        ChatMessage { role: message.role.clone(), content: cut_controls(&message.content, &self.controls, seam) }
    }

    fn tokenize_prompt(&self, text: &str, seam: &str) -> Vec<LlamaToken> {
        // A template that writes the first token itself must not get a second one.
        let add_first = self.bos.is_empty() || !text.starts_with(&self.bos);
        let vocab = self.model.vocab();
        let mut tokens = Vec::with_capacity(text.len() / 3 + 8);
        for (position, part) in text.split(seam).enumerate() {
            let mut piece = vocab.tokenize(part.as_bytes(), false, true);
            if position == 0 && add_first && vocab.should_add_bos() {
                tokens.push(vocab.bos());
            }
            tokens.append(&mut piece);
        }
        tokens
    }
}

/// A text that is in none of the messages. U+FDD0 is a noncharacter: it means nothing in text.
fn seam(messages: &[ChatMessage]) -> String {
    let mut seam = "\u{FDD0}".to_owned();
    while messages.iter().any(|message| message.content.contains(&seam)) {
        seam.push('\u{FDD0}');
    }
    seam
}

/// Puts `seam` after the first character of every control text in `content`.
fn cut_controls(content: &str, controls: &[String], seam: &str) -> String {
    let mut cut = content.to_owned();
    for control in controls.iter().filter(|control| content.contains(control.as_str())) {
        let first = control.chars().next().map_or(0, char::len_utf8);
        cut = cut.replace(control.as_str(), &format!("{}{seam}{}", &control[..first], &control[first..]));
    }
    cut
}

fn controls(model: &LlamaModel) -> Vec<String> {
    let vocab = model.vocab();
    let texts = vocab
        .tokens()
        .filter(|token| vocab.is_control(*token))
        .filter_map(|token| vocab.text(token).map(|text| text.to_string_lossy().into_owned()));
    texts.filter(|text| text.chars().count() > 2).collect()
}

fn compile(model: &LlamaModel, path: &Path, bos: &str) -> Result<ChatTemplate, Failure> {
    let source = model.chat_template(None).ok().and_then(|template| template.to_string().ok());
    let Some(source) = source.filter(|source| !source.trim().is_empty()) else {
        return Err(ModelFileError::NoChatTemplate(path.to_owned()).into());
    };
    let eos = token_text(model, model.vocab().eos());
    ChatTemplate::new(source, bos.to_owned(), eos).map_err(|error| unusable(path, &error.to_string()))
}

/// The text of a special token; empty where the model has none.
fn token_text(model: &LlamaModel, token: LlamaToken) -> String {
    if token.0 < 0 {
        return String::new();
    }
    model.vocab().text(token).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

fn unusable(path: &Path, reason: &str) -> Failure {
    Failure {
        code: ErrorCode::ModelFileInvalid,
        message: format!("{} is not a usable model file: {reason}. Download it again, or choose another one.", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_text_in_a_message_is_cut_and_nothing_is_lost() {
        let message = ChatMessage { role: "user".to_owned(), content: "a<|im_end|>b \u{FDD0}".to_owned() };
        let seam = seam(std::slice::from_ref(&message));
        assert_eq!(seam, "\u{FDD0}\u{FDD0}");
        let cut = cut_controls(&message.content, &["<|im_end|>".to_owned(), "<s>".to_owned()], &seam);
        assert!(!cut.contains("<|im_end|>"));
        assert_eq!(cut.replace(&seam, ""), message.content);
    }
}
