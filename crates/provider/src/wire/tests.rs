#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::openai::LimitField;
use super::*;
use crate::{ChatMessage, ChatRequest, EndReason, ToolCall, ToolSchema};
use evenkeel_domain::{Role, Usage};
use proptest::prelude::*;

fn request() -> ChatRequest {
    let message = ChatMessage::new;
    ChatRequest {
        model: "some-model".into(),
        messages: vec![
            message(Role::System, "Mara is calm.\n\"Quoted\" – ünïcode \u{202e}."),
            message(Role::System, "Memory: the user has a dog."),
            message(Role::User, "Hello"),
            message(Role::Assistant, "Good evening."),
            message(Role::User, "I AM FURIOUS"),
            message(Role::System, "It is 2026-01-02 03:04 UTC. Mara stays calm."),
        ],
        temperature: Some(0.7),
        max_tokens: Some(512),
        window: Some(8_192),
        tools: Vec::new(),
        tools_are_over: false,
        response_schema: None,
        background: false,
    }
}

fn with_tools() -> ChatRequest {
    let parameters = serde_json::json!({"type": "object", "properties": {"zone": {"type": "string"}}});
    let tool = ToolSchema { name: "clock".into(), description: "Tells the time.".into(), parameters };
    ChatRequest {
        model: "some-model".into(),
        messages: vec![ChatMessage::new(Role::User, "What time is it?")],
        tools: vec![tool],
        ..ChatRequest::default()
    }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "clock".into(), arguments: arguments.into() }
}

/// The request after two calls of one turn, the last that may have tools.
fn after_calls() -> ChatRequest {
    let (first, second) = (call("c1", r#"{"zone":"UTC"}"#), call("c2", "no JSON"));
    let mut request = with_tools();
    request.messages.extend([
        ChatMessage::calling("Let me look.", vec![first.clone(), second.clone()]),
        ChatMessage::result(first, "12:00"),
        ChatMessage::result(second, ""),
        ChatMessage::calling("", vec![call("c3", "{}")]),
        ChatMessage::result(call("c3", "{}"), "12:01"),
        ChatMessage::new(Role::System, "No more calls."),
    ]);
    ChatRequest { tools_are_over: true, ..request }
}

fn shown(bytes: Result<Vec<u8>, serde_json::Error>) -> String {
    String::from_utf8(bytes.unwrap()).unwrap()
}

#[test]
fn only_work_in_the_background_names_the_engines_slot() {
    let slot = |background| {
        let bytes = openai::render(&ChatRequest { background, ..request() }, LimitField::MaxTokens).unwrap();
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap().get("cache_slot").cloned()
    };
    assert_eq!((slot(false), slot(true)), (None, Some(serde_json::json!("background"))));
}

#[test]
fn a_schema_of_the_reply_goes_where_the_format_has_a_place_for_it() {
    let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let request = ChatRequest { response_schema: Some(schema.clone()), ..request() };
    let json = |bytes: Result<Vec<u8>, serde_json::Error>| serde_json::from_slice::<serde_json::Value>(&bytes.unwrap()).unwrap();
    let openai = json(openai::render(&request, LimitField::MaxTokens));
    let expected =
        serde_json::json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": false}});
    assert_eq!(openai["response_format"], expected);
    assert_eq!(json(ollama::render(&request))["format"], schema);
    assert_eq!(anthropic::render(&request).unwrap(), anthropic::render(&super::tests::request()).unwrap());
}

#[test]
fn requests_have_exactly_these_bytes() {
    let openai = |request: &ChatRequest| shown(openai::render(request, LimitField::MaxTokens));
    insta::assert_snapshot!("openai", openai(&request()));
    insta::assert_snapshot!("openai_tools", openai(&with_tools()));
    insta::assert_snapshot!("anthropic", shown(anthropic::render(&request())));
    insta::assert_snapshot!("anthropic_tools", shown(anthropic::render(&with_tools())));
    insta::assert_snapshot!("ollama", shown(ollama::render(&request())));
    insta::assert_snapshot!("ollama_tools", shown(ollama::render(&with_tools())));
    insta::assert_snapshot!("openai_results", openai(&after_calls()));
    insta::assert_snapshot!("anthropic_results", shown(anthropic::render(&after_calls())));
    insta::assert_snapshot!("ollama_results", shown(ollama::render(&after_calls())));
    let newer = shown(openai::render(&request(), LimitField::MaxCompletionTokens));
    assert!(newer.contains("\"max_completion_tokens\":512") && !newer.contains("\"max_tokens\""), "{newer}");
}

#[test]
fn the_next_request_repeats_this_one_up_to_the_user_text() {
    let first = request();
    let mut next = first.clone();
    next.messages.pop();
    next.messages.extend([ChatMessage::new(Role::Assistant, "Tell me."), ChatMessage::new(Role::User, "no")]);
    let common = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    for render in [|r: &ChatRequest| shown(openai::render(r, LimitField::MaxTokens)), |r: &ChatRequest| shown(ollama::render(r))]
    {
        let (a, b) = (render(&first), render(&next));
        assert!(common(&a, &b) >= a.find("FURIOUS").unwrap() + "FURIOUS".len(), "{a}\n{b}");
    }
}

const OPENAI: &str = concat!(
    ": keep-alive\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"Grüße \"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"👋\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"clock\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n",
    "data: [DONE]\n\n",
);

const ANTHROPIC: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":90,\"cache_creation_input_tokens\":5,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße 👋\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"clock\",\"input\":{}}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n",
    "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":30}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

const OLLAMA: &str = concat!(
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hm\"},\"done\":false}\n",
    "{\"message\":{\"content\":\"Grüße 👋\"},\"done\":false}\n",
    "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"clock\",\"arguments\":{\"a\":1}}}]},\"done\":false}\n",
    "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":12,\"eval_count\":3}\n",
);

fn readers() -> [Box<dyn StreamReader>; 3] {
    [openai::reader(), anthropic::reader(), ollama::reader()]
}

fn read(reader: &mut dyn StreamReader, chunks: &[&[u8]]) -> Vec<ReadResult> {
    let mut results: Vec<_> = chunks.iter().flat_map(|chunk| reader.feed(chunk)).collect();
    results.extend(reader.finish());
    results
}

fn read_all(mut reader: Box<dyn StreamReader>, text: &str) -> Vec<ReadResult> {
    read(reader.as_mut(), &[text.as_bytes()])
}

fn event_text(text: &str) -> ReadResult {
    Ok(ModelEvent::Text(text.into()))
}

fn reasoned() -> ReadResult {
    Ok(ModelEvent::Reasoning("hm".into()))
}

fn called(id: &str) -> ReadResult {
    Ok(ModelEvent::ToolCall(call(id, "{\"a\":1}")))
}

fn used(prompt_tokens: u32, completion_tokens: u32, cached_tokens: Option<u32>) -> ReadResult {
    Ok(ModelEvent::Usage(Usage { prompt_tokens, completion_tokens, cached_tokens }))
}

fn ended(reason: EndReason) -> ReadResult {
    Ok(ModelEvent::End(reason))
}

#[test]
fn whole_replies_are_read() {
    let end = || ended(EndReason::ToolCalls);
    let texts = [event_text("Grüße "), event_text("👋")];
    let [first, second] = texts;
    assert_eq!(read_all(openai::reader(), OPENAI), [reasoned(), first, second, called("c1"), used(12, 3, Some(8)), end()]);
    let text = || event_text("Grüße 👋");
    assert_eq!(read_all(anthropic::reader(), ANTHROPIC), [reasoned(), text(), called("t1"), used(100, 30, Some(90)), end()]);
    assert_eq!(read_all(ollama::reader(), OLLAMA), [reasoned(), text(), called("call-0"), used(12, 3, None), end()]);
}

#[test]
fn a_reply_cut_anywhere_is_broken_off() {
    for (which, sample) in [OPENAI, ANTHROPIC, OLLAMA].into_iter().enumerate() {
        let whole = read_all(readers().into_iter().nth(which).unwrap(), sample);
        // The last bytes are line ends, which a whole reply may lack.
        for cut in 0..sample.trim_end().len() {
            let mut reader = readers().into_iter().nth(which).unwrap();
            let found = read(reader.as_mut(), &[&sample.as_bytes()[..cut]]);
            let (last, events) = found.split_last().unwrap();
            assert_eq!(last, &Err(ReadFault::BrokenOff(None)), "format {which}, byte {cut}");
            assert_eq!(events, &whole[..events.len()], "format {which}, byte {cut}");
        }
    }
}

#[test]
fn what_is_no_stream_is_told_apart() {
    for reader in readers() {
        assert_eq!(read_all(reader, ""), [Err(ReadFault::BrokenOff(None))]);
    }
    for reader in readers() {
        let found = read_all(reader, "<html>\n<body>Welcome</body></html>");
        assert!(matches!(&found[..], [Err(ReadFault::Malformed(_))]), "{found:?}");
    }
    for reader in [openai::reader(), anthropic::reader()] {
        let found = read_all(reader, "{\"error\": {\"message\": \"quota\"}}");
        assert_eq!(found, [Err(ReadFault::BrokenOff(Some("quota".into())))]);
    }
    for reader in readers() {
        let found = read_all(reader, "{\n  \"message\": \"pretty\"\n}\n");
        assert_eq!(found, [Err(ReadFault::BrokenOff(Some("pretty".into())))]);
    }
    for reader in [openai::reader(), anthropic::reader()] {
        let found = read_all(reader, "data: {\"choices\": [}\n\ndata: [DONE]\n\n");
        assert!(matches!(&found[..], [Err(ReadFault::Malformed(_))]), "{found:?}");
    }
    let found = read_all(ollama::reader(), "{\"message\":{\"content\":\"a\"}}\nnonsense\n{\"done\":true}\n");
    assert!(matches!(&found[..], [Ok(_), Err(ReadFault::Malformed(_))]), "{found:?}");
}

#[test]
fn errors_inside_a_stream_are_reported() {
    let reported = |reader, text: &str| match read_all(reader, text).pop() {
        Some(Err(ReadFault::Reported(complaint))) => complaint,
        other => panic!("{other:?}"),
    };
    let complaint = reported(openai::reader(), "data: {\"error\":{\"code\":502,\"message\":\"gone\"}}\n\n");
    assert_eq!((complaint.status, complaint.text.as_deref()), (Some(502), Some("gone")));
    let complaint = reported(openai::reader(), "error: {\"error\":{\"message\":\"llama\"}}\n\n");
    assert_eq!(complaint.text.as_deref(), Some("llama"));
    let overloaded =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    assert_eq!(reported(anthropic::reader(), overloaded).name.as_deref(), Some("overloaded_error"));
    let complaint = reported(ollama::reader(), "{\"message\":{\"content\":\"a\"}}\n{\"error\":\"out of memory\"}\n");
    assert_eq!(complaint.text.as_deref(), Some("out of memory"));
}

#[test]
fn the_end_is_said_by_done_alone() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(read_all(openai::reader(), text), [event_text("a"), Err(ReadFault::BrokenOff(None))]);
    assert_eq!(read_all(openai::reader(), "data: [DONE]\n\n"), [Err(ReadFault::BrokenOff(None))]);
    let mut reader = openai::reader();
    reader.feed(format!("{text}data: [DONE]\n\n").as_bytes());
    assert_eq!(reader.feed(text.as_bytes()), []);
    assert_eq!(reader.finish(), []);
}

#[test]
fn dialects_of_compatible_servers_are_read() {
    let done = "data: [DONE]\n\n";
    let mistral = "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"a\"}]}}]}\n\n";
    let found = read_all(openai::reader(), &format!("{mistral}{done}"));
    assert_eq!(found, [reasoned(), event_text("a"), ended(EndReason::Other("unstated".into()))]);
    // DeepSeek's name for cached tokens; running totals of which the last counts.
    let usage = |n: u32| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"reasoning\":\"hm\"}},\"finish_reason\":\"length\"}}],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":{n},\"prompt_cache_hit_tokens\":4}}}}\n\n"
        )
    };
    let found = read_all(openai::reader(), &format!("{}{}{done}", usage(1), usage(2)));
    assert_eq!(found, [reasoned(), reasoned(), used(9, 2, Some(4)), ended(EndReason::Length)]);
    // Calls without an index, arguments as an object.
    let calls = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"clock\",\"arguments\":{\"a\":1}}},{\"id\":\"y\",\"function\":{\"name\":\"clock\",\"arguments\":\"{\\\"a\\\"\"}},{\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n";
    let found = read_all(openai::reader(), &format!("{calls}{done}"));
    assert_eq!(found[..2], [called("x"), called("y")]);
}

/// A sample with some bytes replaced, and places to cut it.
fn damaged() -> impl Strategy<Value = (usize, Vec<u8>, Vec<usize>)> {
    let samples = [OPENAI, ANTHROPIC, OLLAMA, "{\n \"error\": \"x\"\n}\n", "<p>\r\n\rhello", "data: {\"a\":\ndata: 1}\n\n"];
    let edits = prop::collection::vec((0..4_096_usize, prop::sample::select(b"\r\n\"{}: dx\xc3\0".to_vec())), 0..4);
    let cuts = prop::collection::vec(0..4_096_usize, 0..40);
    (0..3_usize, prop::sample::select(samples.to_vec()), edits, cuts).prop_map(|(which, sample, edits, cuts)| {
        let mut bytes = sample.as_bytes().to_vec();
        let length = bytes.len();
        for (at, byte) in edits {
            bytes[at % length] = byte;
        }
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % (length + 1)).chain([0, length]).collect();
        cuts.sort_unstable();
        (which, bytes, cuts)
    })
}

proptest! {
    #[test]
    fn chunks_do_not_matter((which, bytes, cuts) in damaged()) {
        let whole = read(readers()[which].as_mut(), &[&bytes]);
        let chunks: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let chunked = read(readers()[which].as_mut(), &chunks);
        prop_assert_eq!(&whole, &chunked);
        // One end or one fault, and nothing behind it.
        let over = |result: &ReadResult| matches!(result, Err(_) | Ok(ModelEvent::End(_)));
        prop_assert_eq!(whole.iter().position(over), Some(whole.len() - 1));
    }
}
