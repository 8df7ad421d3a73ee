//! Embeddings on a BERT of one layer that is written here, since no real one is at hand: it shows
//! the whole path, not the quality.

use crate::support::{Engine, computing, user};
use serde_json::{Value, json};
use std::path::PathBuf;

const WIDTH: u64 = 32;
const WINDOW: u64 = 64;
const VOCABULARY: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁calm", "▁sea", "▁storm", "▁night"];

#[derive(Default)]
struct Gguf {
    entries: Vec<u8>,
    count: u64,
    infos: Vec<u8>,
    data: Vec<u8>,
    tensors: u64,
}

impl Gguf {
    fn key(&mut self, key: &str, kind: u32) {
        push_text(&mut self.entries, key);
        self.entries.extend(kind.to_le_bytes());
        self.count += 1;
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key, 4);
        self.entries.extend((value as u32).to_le_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key, 8);
        push_text(&mut self.entries, value);
    }

    fn tensor(&mut self, name: &str, shape: &[u64]) {
        push_text(&mut self.infos, name);
        self.infos.extend((shape.len() as u32).to_le_bytes());
        shape.iter().for_each(|side| self.infos.extend(side.to_le_bytes()));
        self.infos.extend(0_u32.to_le_bytes());
        self.infos.extend((self.data.len() as u64).to_le_bytes());
        let values: u64 = shape.iter().product();
        let seed = name.bytes().fold(17_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        for n in 0..values as u32 {
            let noise = (seed.wrapping_add(n).wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0 - 0.5;
            let value = if name.contains("norm.weight") { 1.0 } else { noise };
            self.data.extend(value.to_le_bytes());
        }
        self.tensors += 1;
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(self.tensors.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.entries);
        bytes.extend(self.infos);
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(self.data);
        bytes
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn tiny_bert() -> Vec<u8> {
    let mut file = Gguf::default();
    file.text("general.architecture", "bert");
    file.text("general.name", "Tiny");
    for (key, value) in [
        ("context_length", WINDOW),
        ("embedding_length", WIDTH),
        ("block_count", 1),
        ("feed_forward_length", 64),
        ("attention.head_count", 4),
        ("pooling_type", 1),
    ] {
        file.number(&format!("bert.{key}"), value);
    }
    file.key("bert.attention.layer_norm_epsilon", 6);
    file.entries.extend(1e-12_f32.to_le_bytes());
    file.key("bert.attention.causal", 7);
    file.entries.push(0);
    file.text("tokenizer.ggml.model", "bert");
    for (key, value) in [
        ("token_type_count", 2),
        ("padding_token_id", 0),
        ("unknown_token_id", 1),
        ("cls_token_id", 2),
        ("bos_token_id", 2),
        ("eos_token_id", 3),
        ("seperator_token_id", 3),
        ("mask_token_id", 1),
    ] {
        file.number(&format!("tokenizer.ggml.{key}"), value);
    }
    file.key("tokenizer.ggml.tokens", 9);
    file.entries.extend(8_u32.to_le_bytes());
    file.entries.extend((VOCABULARY.len() as u64).to_le_bytes());
    VOCABULARY.iter().for_each(|token| push_text(&mut file.entries, token));
    file.key("tokenizer.ggml.token_type", 9);
    file.entries.extend(5_u32.to_le_bytes());
    file.entries.extend((VOCABULARY.len() as u64).to_le_bytes());
    for token in VOCABULARY {
        file.entries.extend(if token.starts_with('[') { 3_i32 } else { 1 }.to_le_bytes());
    }
    file.tensor("token_embd.weight", &[WIDTH, VOCABULARY.len() as u64]);
    file.tensor("token_types.weight", &[WIDTH, 2]);
    file.tensor("position_embd.weight", &[WIDTH, WINDOW]);
    for name in ["token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"] {
        file.tensor(&format!("{name}.weight"), &[WIDTH]);
        file.tensor(&format!("{name}.bias"), &[WIDTH]);
    }
    for (name, from, to) in [
        ("attn_q", WIDTH, WIDTH),
        ("attn_k", WIDTH, WIDTH),
        ("attn_v", WIDTH, WIDTH),
        ("attn_output", WIDTH, WIDTH),
        ("ffn_up", WIDTH, 64),
        ("ffn_down", 64, WIDTH),
    ] {
        file.tensor(&format!("blk.0.{name}.weight"), &[from, to]);
        file.tensor(&format!("blk.0.{name}.bias"), &[to]);
    }
    file.bytes()
}

fn start() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("tiny.gguf");
    std::fs::write(&path, tiny_bert()).unwrap();
    let engine = Engine::start(&path);
    assert_eq!(engine.first_line["event"], "ready", "{}", engine.first_line);
    (folder, engine)
}

fn vectors(answer: &Value) -> Vec<Vec<f64>> {
    let vector = |entry: &Value| entry["embedding"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    answer["data"].as_array().unwrap_or_else(|| panic!("{answer}")).iter().map(vector).collect()
}

fn likeness(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn texts_become_unit_vectors_that_do_not_depend_on_their_neighbours() {
    let _computing = computing();
    let (_folder, engine) = start();
    assert_eq!(
        (engine.first_line["embedding"].as_bool(), engine.first_line["chatTemplate"].as_bool()),
        (Some(true), Some(false))
    );
    let answer = engine.post("/v1/embeddings", &json!({"input": ["calm sea", "storm night", "calm sea"]})).json();
    let found = vectors(&answer);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [WIDTH as usize; 3]);
    assert!(found.iter().all(|vector| (likeness(vector, vector) - 1.0).abs() < 1e-5), "{found:?}");
    assert!(likeness(&found[0], &found[2]) > 0.99999 && likeness(&found[0], &found[1]) < 0.999, "{found:?}");
    // Four tokens each: the two words between the model's own first and last.
    assert_eq!(answer["usage"]["prompt_tokens"], 12);
    let alone = vectors(&engine.post("/v1/embeddings", &json!({"input": "storm night"})).json());
    assert!(likeness(&alone[0], &found[1]) > 0.99999);
}

#[test]
fn an_embedding_model_says_what_it_cannot_do() {
    let _computing = computing();
    let (_folder, engine) = start();
    let chat = engine.post("/v1/chat/completions", &json!({"messages": [user("Hi")]}));
    assert!(chat.status == 400 && chat.text().contains("cannot chat"), "{}", chat.text());
    let long = engine.post("/v1/embeddings", &json!({"input": "sea ".repeat(100)}));
    assert_eq!(long.error().1, "context_length_exceeded");
    assert_eq!(engine.post("/v1/embeddings", &json!({"input": []})).status, 400);
}
