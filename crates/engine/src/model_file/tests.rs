#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use std::path::PathBuf;

/// Writes GGUF headers as files from elsewhere might have them.
struct Writer(Vec<u8>);

impl Writer {
    fn new(tensors: u64, entries: u64) -> Self {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        Self(bytes)
    }

    fn text(mut self, text: &str) -> Self {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn text_entry(self, key: &str, value: &str) -> Self {
        self.text(key).u32(8).text(value)
    }

    fn number_entry(self, key: &str, value: u32) -> Self {
        self.text(key).u32(4).u32(value)
    }

    fn tensor(self, name: &str, offset: u64) -> Self {
        self.text(name).u32(1).u64(4).u32(0).u64(offset)
    }

    fn padded(mut self, data: usize) -> Self {
        let length = self.0.len().next_multiple_of(32) + data;
        self.0.resize(length, 0);
        self
    }

    fn inspect(&self) -> Result<ModelFile, ModelFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some-model.gguf");
        std::fs::write(&path, &self.0).unwrap();
        inspect(&path)
    }
}

fn reason(result: Result<ModelFile, ModelFileError>) -> String {
    match result.unwrap_err() {
        ModelFileError::Invalid { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

fn whole() -> Writer {
    Writer::new(1, 5)
        .number_entry("llama.context_length", 4096)
        .text_entry("general.architecture", "llama")
        .text_entry("general.name", "A\u{7}\u{1b}[31m Model ")
        .text("tokenizer.ggml.tokens")
        .u32(9)
        .u32(8)
        .u64(2)
        .text("a")
        .text("bc")
        .text_entry("tokenizer.chat_template", "{{ messages }}")
        .tensor("w", 0)
        .padded(16)
}

#[test]
fn a_whole_header_is_read_and_its_name_made_presentable() {
    let file = whole().inspect().unwrap();
    assert_eq!((file.name.as_str(), file.architecture.as_str(), file.window), ("A[31m Model", "llama", 4096));
    assert!(file.has_chat_template && !file.embedding);
}

#[test]
fn every_cut_of_a_whole_file_is_an_error() {
    let bytes = whole().0;
    for length in 0..bytes.len() {
        let result = Writer(bytes[..length].to_vec()).inspect();
        assert!(matches!(result, Err(ModelFileError::Invalid { .. })), "{length} of {} bytes were accepted", bytes.len());
    }
}

#[test]
fn every_single_byte_changed_never_panics_nor_takes_much_memory() {
    let bytes = whole().0;
    for at in 0..bytes.len() {
        for value in [0x00, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = Writer(changed).inspect();
        }
    }
}

#[test]
fn an_unnamed_file_is_called_by_its_file_name_and_bert_makes_embeddings() {
    let file = Writer::new(1, 1).text_entry("general.architecture", "bert").tensor("w", 0).padded(16).inspect().unwrap();
    assert_eq!(file.name, "some-model");
    assert!(file.embedding && !file.has_chat_template);
}

#[test]
fn rerankers_are_not_embedding_models() {
    let header = |pooling| {
        Writer::new(1, 2)
            .text_entry("general.architecture", "qwen3")
            .number_entry("qwen3.pooling_type", pooling)
            .tensor("w", 0)
            .padded(16)
    };
    assert!(header(3).inspect().unwrap().embedding);
    assert!(!header(4).inspect().unwrap().embedding);
}

#[test]
fn lies_about_lengths_are_found_before_anything_is_reserved() {
    assert!(reason(Writer::new(1, u64::MAX).inspect()).contains("too many entries"));
    assert!(reason(Writer::new(u64::MAX, 0).inspect()).contains("too many tensors"));
    assert!(reason(Writer::new(1, 1).u64(u64::MAX).inspect()).contains("cut"));
    let list = |kind: u32, count: u64| Writer::new(1, 1).text("k").u32(9).u32(kind).u64(count).padded(64).inspect();
    assert!(reason(list(4, u64::MAX / 2)).contains("cut"));
    assert!(reason(list(10, 40)).contains("cut"));
    assert!(reason(list(99, 1)).contains("unknown type"));
}

#[test]
fn lists_in_lists_have_a_bottom() {
    let deep = (0..200).fold(Writer::new(1, 1).text("k").u32(9), |writer, _| writer.u32(9).u64(1));
    assert!(reason(deep.padded(64).inspect()).contains("lists in lists"));
}

#[test]
fn other_files_are_refused_with_a_reason() {
    assert!(reason(Writer(b"PK\x03\x04 not a model at all".to_vec()).inspect()).contains("does not begin"));
    assert!(reason(Writer(vec![]).inspect()).contains("does not begin"));
    assert!(reason(Writer(b"GGUF\x09\0\0\0".to_vec()).inspect()).contains("version 9"));
    assert!(reason(Writer::new(1, 0).tensor("w", 0).padded(16).inspect()).contains("architecture"));
    assert!(reason(Writer::new(0, 1).text_entry("general.architecture", "llama").inspect()).contains("no weights"));
}

#[test]
fn folders_devices_and_nothing_at_all_are_told_apart() {
    assert!(matches!(inspect(Path::new("/")), Err(ModelFileError::NotAFile(_))));
    #[cfg(unix)]
    assert!(matches!(inspect(Path::new("/dev/zero")), Err(ModelFileError::NotAFile(_))));
    let missing = inspect(&PathBuf::from("/nowhere/model.gguf")).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::ModelFileMissing);
}

#[test]
fn a_type_of_weights_that_is_not_known_is_left_to_the_library() {
    let file = |kind: u32, data: usize| {
        let header = Writer::new(1, 1).text_entry("general.architecture", "llama");
        header.text("w").u32(1).u64(4).u32(kind).u64(0).padded(data).inspect()
    };
    assert!(file(999, 1).is_ok());
    assert!(reason(file(0, 15)).contains("cut") && file(0, 16).is_ok());
    assert!(reason(file(12, 16)).contains("shape"));
}
