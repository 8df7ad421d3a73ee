//! What tools a server has, within bounds.

use evenkeel_domain::Tool;
use serde_json::Value;

/// Most tools that are taken over of a server.
const MOST_TOOLS: usize = 200;
/// Most bytes of a tool's description.
const MOST_DESCRIPTION: usize = 8 * 1_024;
/// Most bytes of a tool's schema.
const MOST_SCHEMA: usize = 64 * 1_024;
/// Most characters of a tool's name.
const MOST_NAME: usize = 128;

/// The tools of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Those that can be used, in the server's order.
    pub tools: Vec<Tool>,
    /// How many were left out: beyond the bounds, or of a name that was there before.
    pub left_out: usize,
}

impl Listing {
    /// Takes a tool over, unless it is beyond the bounds.
    pub(crate) fn take(&mut self, tool: rmcp::model::Tool) {
        let known = Tool {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
        };
        let is_fine = (1..=MOST_NAME).contains(&known.name.chars().count())
            && known.description.len() <= MOST_DESCRIPTION
            && known.input_schema.to_string().len() <= MOST_SCHEMA
            && self.tools.len() < MOST_TOOLS
            && self.tools.iter().all(|other| other.name != known.name);
        if is_fine {
            self.tools.push(known);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether further pages can add anything.
    pub(crate) fn is_full(&self) -> bool {
        self.tools.len() >= MOST_TOOLS
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn offered(name: &str, description: &str, schema: &Value) -> rmcp::model::Tool {
        serde_json::from_value(json!({"name": name, "description": description, "inputSchema": schema})).unwrap()
    }

    #[test]
    fn tools_beyond_the_bounds_are_left_out_and_counted() {
        let mut listing = Listing::default();
        let plain = json!({"type": "object"});
        let huge = json!({"type": "object", "description": "x".repeat(MOST_SCHEMA)});
        for tool in [
            offered("read", "Reads.", &plain),
            offered("read", "Reads otherwise.", &plain),
            offered("", "Has no name.", &plain),
            offered(&"n".repeat(129), "Has a long name.", &plain),
            offered("long", &"x".repeat(MOST_DESCRIPTION + 1), &plain),
            offered("huge", "Has a huge schema.", &huge),
        ] {
            listing.take(tool);
        }
        assert_eq!((listing.tools.len(), listing.left_out), (1, 5));
        assert_eq!(listing.tools[0].description, "Reads.");
        (0..MOST_TOOLS).for_each(|number| listing.take(offered(&format!("tool-{number}"), "", &plain)));
        assert!(listing.is_full());
        assert_eq!(listing.left_out, 6);
    }
}
