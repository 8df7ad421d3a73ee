#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};

fn line(text: &[u8]) -> Line {
    let mut line = Line::default();
    text.chunks(8_192).for_each(|chunk| line.take(chunk));
    line
}

fn refusal(text: &[u8]) -> (ErrorCode, Option<RequestId>) {
    match incoming(&line(text)) {
        Incoming::Refused(error, id) => (error.code, id),
        other => panic!("{other:?}"),
    }
}

#[test]
fn garbage_is_no_json_and_other_json_no_message() {
    assert_eq!(refusal(b"hello\n"), (ErrorCode::PARSE_ERROR, None));
    assert_eq!(refusal(b"\xff\xfe\n"), (ErrorCode::PARSE_ERROR, None));
    assert_eq!(refusal(b"[1,2]\n"), (ErrorCode::INVALID_REQUEST, None));
    assert_eq!(refusal(b"{\"id\":7}\n"), (ErrorCode::INVALID_REQUEST, Some(RequestId::Number(7))));
    assert!(matches!(incoming(&line(b" \r\n")), Incoming::Nothing));
    let foreign = b"{\"jsonrpc\":\"2.0\",\"method\":\"$/progress\",\"params\":3}\n";
    assert!(!matches!(incoming(&line(foreign)), Incoming::Refused(..)));
    let ping = b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n";
    assert!(matches!(incoming(&line(ping)), Incoming::Message(_)));
}

#[test]
fn a_line_that_is_too_long_is_refused_by_its_id_and_not_kept() {
    let long = "x".repeat(LINE_BYTES);
    for (text, id) in [
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":42,\"method\":\"tools/call\",\"params\":\"{long}\"}}"),
            Some(RequestId::Number(42)),
        ),
        (format!("{{\"method\":\"tools/call\",\"params\":\"{long}\",\"id\":\"a-1\"}}"), Some(RequestId::String("a-1".into()))),
        (format!("{long}x"), None),
    ] {
        let line = line(text.as_bytes());
        assert!(line.kept.capacity() + line.tail.capacity() < 64 << 10, "{} {}", line.kept.capacity(), line.tail.capacity());
        let Incoming::Refused(error, found) = incoming(&line) else { panic!("it was taken") };
        assert_eq!((error.code, found), (ErrorCode::INVALID_REQUEST, id));
    }
}

proptest! {
    #[test]
    fn whatever_comes_is_answered_or_passed_on(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = incoming(&line(&text));
    }

    #[test]
    fn a_line_is_the_same_in_whatever_pieces_it_comes(text in "[ -~]{0,300}", at in 0_usize..300) {
        let at = at.min(text.len());
        let mut line = Line::default();
        line.take(&text.as_bytes()[..at]);
        line.take(&text.as_bytes()[at..]);
        prop_assert_eq!(line.kept, text.into_bytes());
    }
}

type Pipe = (Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>, DuplexStream, CancellationToken);

fn pipe() -> Pipe {
    let (near, far) = duplex(1 << 16);
    let (read, write) = split(near);
    let closed = CancellationToken::new();
    (Lines::new(read, write, closed.clone()), far, closed)
}

#[tokio::test]
async fn what_comes_before_the_first_request_does_not_end_the_session() {
    let (mut lines, mut far, closed) = pipe();
    let stray = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n";
    let first = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    far.write_all(format!("nonsense\n{stray}{first}{stray}").as_bytes()).await.unwrap();
    assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Request(_))));
    assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Notification(_))));
    let (read, mut write) = split(far);
    let mut answers = BufReader::new(read).lines();
    let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!((answer["error"]["code"].as_i64(), answer["id"].is_null()), (Some(-32700), true));
    assert!(!closed.is_cancelled());
    write.shutdown().await.unwrap();
    assert!(lines.receive().await.is_none());
    assert!(closed.is_cancelled(), "the end of input is told");
}
