use crate::support::{Engine, PROGRAM, TOKEN, computing, model, user};
use evenkeel_domain::ErrorCode;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn line(model: &Path) -> Value {
    json!({"token": TOKEN, "modelPath": model, "idleMinutes": 0})
}

/// What the child says about a file that it cannot run.
fn refusal(path: &Path) -> (String, String) {
    let mut engine = Engine::start(path);
    let text = |key: &str| engine.first_line[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("event"), "failed", "{}", engine.first_line);
    let said = (text("code"), text("message"));
    // It ends by itself or with its input, whichever comes first; it must not stay.
    engine.child.wait().unwrap();
    said
}

#[test]
fn the_small_model_is_the_expected_file() {
    evenkeel_engine::default_model::verify(&model()).unwrap();
    let file = evenkeel_engine::inspect(&model()).unwrap();
    assert_eq!((file.architecture.as_str(), file.window, file.size_bytes), ("llama", 8192, 98_362_432));
    assert!(file.has_chat_template && !file.embedding);
}

#[test]
fn files_that_are_no_models_are_refused_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let noise: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let (code, message) = refusal(&write("noise.gguf", &noise));
    assert!(code == "model_file_invalid" && message.contains("does not begin as a GGUF file"), "{message}");
    let (code, message) = refusal(folder.path());
    assert!(code == "model_file_invalid" && message.contains("not a regular file"), "{message}");
    assert_eq!(refusal(&folder.path().join("none.gguf")).0, "model_file_missing");
    let mut hostile = b"GGUF\x03\0\0\0".to_vec();
    hostile.extend([0xff; 64]);
    assert_eq!(refusal(&write("hostile.gguf", &hostile)).0, "model_file_invalid");
}

#[test]
fn a_model_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(model()).unwrap();
    for part in [1000, 1_000_000, whole.len() / 2, whole.len() - 1000] {
        let path = folder.path().join(format!("cut-{part}.gguf"));
        std::fs::write(&path, &whole[..part]).unwrap();
        let (code, message) = refusal(&path);
        assert!(code == "model_file_invalid" && message.contains("cut"), "{part}: {message}");
    }
}

#[test]
fn a_model_cut_in_its_last_tensor_is_refused_before_a_process_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.gguf");
    let whole = std::fs::read(model()).unwrap();
    // The last tensor is a row of 576 numbers of 32 bits, and the file ends with it.
    let last = 576 * 4;
    for missing in [1, 8, last / 2, last - 1] {
        std::fs::write(&path, &whole[..whole.len() - missing]).unwrap();
        let error = evenkeel_engine::inspect(&path).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ModelFileInvalid);
        assert!(error.to_string().contains("ends before its contents do"), "{missing}: {error}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(evenkeel_engine::inspect(&path).unwrap().size_bytes, whole.len() as u64);
}

#[test]
fn a_model_without_a_chat_template_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(model()).unwrap();
    let key = b"tokenizer.chat_template";
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[at + key.len() - 1] = b'X';
    let path = folder.path().join("base.gguf");
    std::fs::write(&path, &bytes).unwrap();
    let (code, message) = refusal(&path);
    assert!(code == "model_file_invalid" && message.contains("chat template"), "{message}");
}

#[test]
fn without_its_libraries_the_engine_is_unavailable_and_looks_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    // What ggml would find and load in the current folder if it were left to search.
    let planted = folder.path().join("libggml-cpu-x64.so");
    std::fs::copy(Path::new(PROGRAM).parent().unwrap().join("lib").join("libggml-cpu-x64.so"), &planted).unwrap();
    for missing in [folder.path().join("none"), Path::new(".").to_owned()] {
        let mut command = Command::new(PROGRAM);
        command.current_dir(folder.path()).arg("--library-dir").arg(missing);
        let engine = Engine::start_with(command, &line(&model()));
        assert_eq!(engine.first_line["code"], "engine_unavailable", "{}", engine.first_line);
    }
}

#[test]
fn a_foreign_backend_in_the_environment_is_refused() {
    let mut command = Command::new("/usr/bin/env");
    command.arg("GGML_BACKEND_PATH=/tmp/evil.so").arg(PROGRAM);
    let engine = Engine::start_with(command, &line(&model()));
    assert_eq!(engine.first_line["code"], "engine_unavailable", "{}", engine.first_line);
}

#[test]
fn a_window_can_be_asked_for_within_the_models_own() {
    let _computing = computing();
    let window = |tokens: u32| {
        let mut start = line(&model());
        start["contextTokens"] = json!(tokens);
        Engine::start_with(Command::new(PROGRAM), &start).first_line["window"].as_u64().unwrap()
    };
    assert_eq!(window(1000), 1000);
    assert_eq!(window(100_000), 8192);
}

#[test]
fn the_reply_ends_where_the_window_ends() {
    let _computing = computing();
    let mut start = line(&model());
    start["contextTokens"] = json!(64);
    let engine = Engine::start_with(Command::new(PROGRAM), &start);
    let reply = engine.chat(&json!({"messages": [user("Write a long story about a river.")], "temperature": 0}));
    assert_eq!(reply["choices"][0]["finish_reason"], "length", "{reply}");
    assert_eq!(reply["usage"]["total_tokens"], 64);
}

fn waits_at_most(engine: &mut Engine, limit: Duration) {
    let begin = Instant::now();
    while engine.child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < limit, "the child outlived its parent");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_child_goes_when_its_parent_has_gone() {
    let _computing = computing();
    let mut engine = Engine::start(&model());
    engine.child.stdin.take();
    waits_at_most(&mut engine, Duration::from_secs(1));
}

#[test]
fn the_child_goes_in_the_middle_of_a_reply_too() {
    let _computing = computing();
    let mut engine = Engine::start(&model());
    let mut stream = engine
        .send("/v1/chat/completions", &json!({"messages": [user("Count from 1 to 2000.")], "temperature": 0, "stream": true}));
    stream.read_exact(&mut [0; 400]).unwrap();
    engine.child.stdin.take();
    waits_at_most(&mut engine, Duration::from_secs(1));
}

#[test]
fn orders_that_are_none_end_the_child_at_once() {
    for order in ["\n", "{}\n", "rm -rf\n", "{\"token\": \"\", \"modelPath\": \"/x\"}\n", ""] {
        let mut child = Command::new(PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(order.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(64), 0), "{order}");
    }
}

#[test]
fn the_library_writes_nothing_on_its_own() {
    let _computing = computing();
    let mut command = Command::new(PROGRAM);
    command.stderr(Stdio::piped());
    let mut engine = Engine::start_with(command, &line(&model()));
    engine.chat(&json!({"messages": [user("Hi")], "max_tokens": 2}));
    engine.child.stdin.take();
    let mut said = String::new();
    engine.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}
