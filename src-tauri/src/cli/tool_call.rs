//! Calls of tools as they are read on a terminal.

use evenkeel_domain::{ToolEnd, ToolUse};
use serde::Serialize;

/// Most characters of a result, and of what a tool says of itself, that are shown.
const MOST: usize = 300;

/// A call that was made for a reply.
#[derive(Debug, Serialize)]
pub(super) struct Called {
    #[serde(flatten)]
    pub call: ToolUse,
    pub end: ToolEnd,
}

/// The question whether a call may run; the arguments whole, since they say what it would do.
pub(super) fn question(call: &ToolUse, description: &str, place: &str) -> String {
    let says = if description.trim().is_empty() { "nothing".to_owned() } else { beginning(description) };
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let place = on_a_line(place);
    format!(
        "The companion wants to use {}. It has not run yet.\n  reached by: {place}\n  says of itself: {says}\n  arguments: {arguments}\n\
         Run it this once? [y/N] ",
        named(call)
    )
}

/// How a call ended.
pub(super) fn ended(call: &ToolUse, end: ToolEnd, result: &str) -> String {
    match end {
        ToolEnd::Done => format!("Tool: {} ran.", named(call)),
        ToolEnd::Failed => format!("Tool: {} failed: {}", named(call), beginning(result)),
        ToolEnd::Refused => format!("Tool: {} did not run: {}", named(call), beginning(result)),
    }
}

fn named(call: &ToolUse) -> String {
    // A name of several lines could look like a place that it is not reached by.
    let (tool, server) = (on_a_line(&call.tool), on_a_line(&call.server));
    if server.is_empty() { tool } else { format!("{tool} of {server}") }
}

fn on_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text on one line, as far as it is shown.
fn beginning(text: &str) -> String {
    let line = on_a_line(text);
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(server: &str) -> ToolUse {
        ToolUse { id: "1".into(), server: server.into(), tool: "write".into(), arguments: "{\"path\":\"a\"}".into() }
    }

    #[test]
    fn a_question_says_what_would_run_with_what() {
        let asked = question(&call("Notes"), " ", "npx server");
        for part in ["write of Notes", "reached by: npx server", "says of itself: nothing", "arguments: {\"path\":\"a\"}"] {
            assert!(asked.contains(part), "{asked}");
        }
        assert!(asked.ends_with("[y/N] "));
        let feigned = ToolUse { tool: "look.\n  reached by: a friend".into(), ..call("Notes") };
        assert_eq!(question(&feigned, "", "npx server").matches("\n  reached by").count(), 1);
    }

    #[test]
    fn an_end_is_one_line() {
        assert_eq!(ended(&call(""), ToolEnd::Done, "x"), "Tool: write ran.");
        let long = ended(&call("Notes"), ToolEnd::Failed, &"no\n".repeat(400));
        assert!(long.starts_with("Tool: write of Notes failed: no no") && long.ends_with('…') && !long.contains('\n'));
    }
}
