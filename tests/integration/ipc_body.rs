//! What a page sends arrives as JSON text. A lone half of a surrogate pair is no text: it is refused there with its
//! reason, before a command runs, and nothing is stored or lost.

use crate::support::{World, ended, started};
use evenkeel_domain::*;
use evenkeel_testkit::scripted_server::Answer;
use serde_json::Value;

/// The arguments of `chat_send` as the page writes them, with a text that is JSON already.
fn body(context: ContextId, text: &str) -> String {
    format!(r#"{{"request":{{"kind":"new","contextId":"{context}","conversationId":null,"text":"{text}"}}}}"#)
}

/// What stands between the page and a command: the body becomes a value, the value the command's argument.
fn received(body: &str) -> Result<SendRequest, serde_json::Error> {
    let mut arguments: Value = serde_json::from_slice(body.as_bytes())?;
    serde_json::from_value(arguments["request"].take())
}

#[tokio::test]
async fn a_lone_surrogate_is_refused_with_its_place_and_the_conversation_goes_on() {
    let world = World::new().await;
    world.scripted_provider().await;
    let context = world.counselor().await.id;
    world.server.push(Answer::reply(&["Hello."]));
    let before = world.send(received(&body(context, "Good morning.")).unwrap()).await.unwrap();
    let conversation = started(&before).0.id;

    for text in [r"\ud800", r"\udc00", r"before \ud83d after", r"\ude00\ud83d", r"\ud800\ud800", r"\ud83d"] {
        let error = received(&body(context, text)).expect_err(text).to_string();
        assert!(error.contains("surrogate") || error.contains("hex escape"), "{text}: {error}");
        assert!(error.contains("line 1 column"), "{text}: {error}");
    }

    let view = world.service.conversation_open(conversation).await.unwrap();
    assert_eq!(view.messages.len(), 2, "nothing was half stored");
    // A whole pair is a character, and what the page puts in place of a half arrives as it is.
    for (text, expected) in [(r"\ud83d\ude00", "😀"), (r"a\ufffdb", "a\u{fffd}b")] {
        world.server.push(Answer::reply(&["Seen."]));
        let events = world.send(received(&body(context, text)).unwrap()).await.unwrap();
        assert_eq!((started(&events).1.content.as_str(), ended(&events).1), (expected, None));
    }
}
